import io
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
from afterwit.errors import InputError, StreamError
from afterwit.streams.batch import Batch, Booleans, Numbers, Skipped, Texts, Times
from afterwit.streams.csv_text import CsvReader
from afterwit.streams.frames import FrameReader
from afterwit.streams.ordered import OrderedReader
from cells import cells_of, read_all
from naive_typed_tables import CELLS, expected, in_order, tables

#: Types whose cells have an order.
IN_ORDER = tuple(kind for kind in CELLS if expected(pa.table({"a": pa.array([None], kind)}))["a"][1] is not None)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


class Several:
    """A reader of several files, with lines or without, whose cells are as they are written until it is told more."""

    typed = False
    size = 100

    def __init__(self, files, name="a*.csv", lines=True, fail=None):
        self.name = name
        self.names = list(next(iter(files.values())))
        self.skipped = Skipped(1, ["one row"])
        self.files = files
        self.lines = lines
        self.fail = fail
        self.forms = None
        self.closed = False

    @property
    def position(self):
        return 7

    def batch(self, path, rows, forms):
        cells = {name: [self.files[path][name][row] for row in rows] for name in forms}
        columns = {name: column(found, forms[name]) for name, found in cells.items()}
        # Two lines each, below a header.
        lines = np.array([2 + 2 * row for row in rows]) if self.lines else None
        return Batch(path, len(rows), columns, rows[0] + 1, lines)

    def look(self, rows):
        path = next(iter(self.files))
        return self.batch(
            path, range(min(rows, len(self.files[path][self.names[0]]))), dict.fromkeys(self.names, "text")
        )

    def read_as(self, forms):
        self.forms = forms
        self.rest = self.all()

    def all(self):
        for path, columns in self.files.items():
            for first in range(0, len(columns[self.names[0]]), 3):
                yield self.batch(path, range(first, min(first + 3, len(columns[self.names[0]]))), self.forms)
        if self.fail is not None:
            raise self.fail

    def take(self, count):
        return next(self.rest, None)

    def close(self):
        self.closed = True


def column(cells, form):
    if form == "number":
        return Numbers(np.array([float(cell or "nan") for cell in cells]))
    if form == "boolean":
        return Booleans(np.array([float(cell or "nan") for cell in cells]))
    if form == "time":
        return Times(np.array([cell or "NaT" for cell in cells], dtype="datetime64[us]"))
    words = list(dict.fromkeys(cell for cell in cells if cell))
    return Texts(np.array([words.index(cell) if cell else -1 for cell in cells], dtype=np.int32), words)


@given(table=tables(kinds=IN_ORDER), others=tables(), count=st.sampled_from([1, 3, 1000]))
def test_every_row_in_its_place(table, others, count):
    rows = min(table.num_rows, others.num_rows)
    table = table.slice(0, rows)
    for i, name in enumerate(others.column_names):
        table = table.append_column(f"other {i}", others.slice(0, rows)[name])
    wanted = expected(table)
    by = "column 0"
    order = in_order(wanted[by][1])
    found, places = read_all(OrderedReader(FrameReader(table), by), count)
    assert places == [{"path": f"the DataFrame, row {i + 1:,}"} for i in order]
    assert found == (
        {name: (kind, cells and [cells[i] for i in order]) for name, (kind, cells) in wanted.items()} if rows else {}
    )


@given(cells=st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.5, None, 5e-324, 1e308])))
def test_equal_rows_keep_their_order(cells):
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=pl.Float64), "i": range(len(cells))})
    found, _ = read_all(OrderedReader(FrameReader(frame), "a"), 4)
    assert found.get("i", (0, []))[1] == in_order(cells)


def test_many_rows_need_no_more_memory_than_they_may():
    # More rows than go to the database at once.
    n = 150_000
    keys = np.random.default_rng(1).integers(0, 1000, n)
    frame = pl.DataFrame({"key": keys, "i": np.arange(n), "t": [f"word {i % 7}" for i in range(n)]})
    found, places = read_all(OrderedReader(FrameReader(frame), "key", megabytes=64), 40_000)
    order = np.argsort(keys, kind="stable")
    assert found["i"] == ("whole numbers", order.tolist())
    assert found["t"][1] == [f"word {i % 7}" for i in order.tolist()]
    assert places == [{"path": f"the DataFrame, row {i + 1:,}"} for i in order.tolist()]


FILES = {
    "a1.csv": {
        "n": ["10", "9", "", "2", "10"],
        "t": ["b", "B", "ä", "", "a"],
        "d": ["2020-02-01"] * 4 + ["2019-01-01"],
    },
    "a2.csv": {"n": ["10", "-1", "3"], "t": ["\U0001f600", "\uffff", "a"], "d": ["", "2020-01-31", "2020-02-01"]},
}


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(
    ("by", "forms", "order"),
    [
        ("n", {}, [6, 3, 7, 1, 0, 4, 5, 2]),
        # Days that are categories come in their order, too: 9 before 10.
        ("n", {"n": "text"}, [6, 3, 7, 1, 0, 4, 5, 2]),
        ("t", {}, [1, 4, 7, 0, 2, 6, 5, 3]),
        ("d", {}, [4, 6, 0, 1, 2, 3, 7, 5]),
    ],
)
def test_several_files(by, forms, order, lines):
    reader = OrderedReader(Several(FILES, lines=lines), by)
    looked = reader.look(2)
    assert (looked.count, cells_of(looked.columns["n"])) == (2, ["10", "9"])
    found, places = read_all(reader, 3, {"t": "text", **forms})
    rows = [(path, i) for path, columns in FILES.items() for i in range(len(columns["n"]))]
    words = [FILES[path]["t"][i] or None for path, i in rows]
    assert found["t"] == ("texts", [words[place] for place in order])
    assert set(found) == {"t", *forms}
    if lines:
        assert places == [{"path": rows[i][0], "line": 2 + 2 * rows[i][1]} for i in order]
    else:
        assert places == [{"path": f"{rows[i][0]}, row {rows[i][1] + 1}"} for i in order]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("files", [1, 3])
def test_files_of_every_format_are_sorted_together(tmp_path, kind, files):
    rows = [{"day": 7 * i % 23, "a": float(i), "y": i % 2} for i in range(40)]
    for part in range(files):
        table = pa.Table.from_pylist(rows[part * 40 // files : (part + 1) * 40 // files])
        path = tmp_path / f"part{part}.{kind}"
        if kind == "parquet":
            pyarrow.parquet.write_table(table, path)
        elif kind == "arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        elif kind == "csv":
            table.to_pandas().to_csv(path, index=False)
        else:
            table.to_pandas().to_json(path, orient="records", lines=True)
    in_order = sorted(rows, key=lambda row: row["day"])
    with aw.read(tmp_path, target="y", categorical=["day"], order_by="day") as stream:
        assert [x for x, _ in stream] == [{f"day={row['day']}": 1.0, "a": row["a"]} for row in in_order]
    with pytest.raises(StreamError, match="there is no column 'when' to sort by; there are day, a, y"):
        aw.read(tmp_path, target="y", order_by="when")


def test_text_like_weeks_of_a_year_is_sorted_as_text():
    """Python takes it for a date, but it is none of those that are times here."""
    content = b"week,y\n2024-W10-1,0\n2024-W09-1,1\n"
    with OrderedReader(CsvReader(io.BytesIO(content)), "week") as reader:
        reader.look(10)
        reader.read_as({"y": "number"})
        assert reader.take(10).columns["y"].values.tolist() == [1, 0]


def test_it_says_what_the_other_one_says():
    other = Several(FILES)
    with OrderedReader(other, "n") as reader:
        assert (reader.name, reader.names, reader.typed) == ("a*.csv", ["n", "t", "d"], False)
        assert (reader.size, reader.position, reader.skipped) == (100, 7, other.skipped)
        reader.read_as({"n": "number"})
        assert other.forms == {"n": "number"}
        assert reader.take(3).lines.tolist() == [4, 8, 6]
        assert not other.closed
    assert other.closed
    reader.close()


def test_a_table_without_rows():
    with OrderedReader(FrameReader(pl.DataFrame({"a": pl.Series([], dtype=pl.Int64)})), "a") as reader:
        assert reader.look(5).count == 0
        assert reader.take(5) is None
        assert reader.take(5) is None


@pytest.mark.parametrize("failure", [StreamError, KeyboardInterrupt])
def test_nothing_is_left_after_a_failure(failure):
    error = StreamError("is wrong", path="a2.csv", line=7) if failure is StreamError else KeyboardInterrupt()
    reader = OrderedReader(Several(FILES, fail=error), "n")
    reader.read_as({"t": "text"})
    with pytest.raises(failure):
        reader.take(5)
    assert list(Path(tempfile.gettempdir()).iterdir()) == []
    reader.close()


def test_what_is_refused():
    frame = pl.DataFrame({"a": [[1], [2]], "b": [1.0, np.inf]})
    with pytest.raises(StreamError, match=r"the DataFrame: there is no column 'c' to sort by; there are a, b"):
        OrderedReader(FrameReader(frame), "c")
    with pytest.raises(InputError, match="megabytes must be a whole number, at least 64; received 1"):
        OrderedReader(FrameReader(frame), "b", megabytes=1)
    refusals = {"a": "the DataFrame: column 'a' is of type list and has no order", "b": "row 2: column 'b'"}
    for by, sentence in refusals.items():
        with OrderedReader(FrameReader(frame[:, [by]]), by) as reader, pytest.raises(StreamError, match=sentence):
            reader.take(1)


def test_more_than_fits_is_one_sentence():
    # One cell cannot be larger than the memory.
    frame = pl.DataFrame({"a": [2, 1], "t": ["x" * (1 << 26), "y" * (1 << 26)]})
    with OrderedReader(FrameReader(frame), "a", megabytes=64) as reader, pytest.raises(StreamError) as caught:
        reader.take(1)
    assert str(caught.value).startswith("the DataFrame: its rows cannot be sorted with 64 MB of memory (")
    assert "\n" not in str(caught.value)


@given(count=st.integers(1, 2000))
def test_a_wide_table(count):
    frame = pl.DataFrame({f"c{i}": [3.0 * i, None, -1.0 * i] for i in range(count)})
    found, _ = read_all(OrderedReader(FrameReader(frame), f"c{count - 1}"), 10)
    order = [2, 0, 1] if count > 1 else [0, 2, 1]
    assert found == {f"c{i}": ("numbers", [[3.0 * i, None, -1.0 * i][place] for place in order]) for i in range(count)}
