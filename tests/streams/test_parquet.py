import gc
import os
import subprocess
import sys
import tempfile
import threading
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.errors import StreamError
from afterwit.streams.batch import Batch, Texts
from afterwit.streams.parquet import ParquetReader
from cells import plain, read_all
from conftest import environment
from naive_typed_tables import expected, tables

BLOCKS = (1, 3, 1000)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


def by_pyarrow(table, path):
    pq.write_table(table, path, row_group_size=7)


def by_polars(table, path):
    pl.from_arrow(table).write_parquet(path, row_group_size=7)


def by_duckdb(table, path):
    with duckdb.connect() as connection:
        connection.register("rows", table)
        connection.execute(f"COPY (SELECT * FROM rows) TO '{path}' (FORMAT parquet)")


def write(tmp_path, columns, name="a.parquet", **options):
    path = tmp_path / name
    pq.write_table(pa.table(columns), path, **options)
    return str(path)


@pytest.mark.parametrize("writer", [by_pyarrow, by_polars, by_duckdb])
@given(table=tables())
def test_every_cell_for_every_size_of_blocks(writer, table):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.parquet")
        writer(table, path)
        for count in BLOCKS:
            found, places = read_all(ParquetReader(path), count)
            if table.num_rows:
                assert found == expected(table)
            assert places == [{"path": f"{path}, row {i:,}"} for i in range(1, table.num_rows + 1)]


@given(table=tables(), rows=st.integers(1, 20), chosen=st.lists(st.integers(0, 5), unique=True))
def test_look_shows_the_first_rows_and_only_what_is_asked_for_is_read(table, rows, chosen):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.parquet")
        by_pyarrow(table, path)
        reader = ParquetReader(path)
        looked = reader.look(rows)
        assert looked.count == min(rows, table.num_rows)
        assert plain(looked) == expected(table.slice(0, rows))
        asked = [table.column_names[i] for i in chosen if i < table.num_columns]
        found, places = read_all(reader, 4, dict.fromkeys(asked, "number"))
        assert len(places) == table.num_rows
        assert found == ({name: expected(table)[name] for name in asked} if table.num_rows else {})


def test_it_says_what_it_is(tmp_path):
    path = write(tmp_path, {"b": [1, 2], "a": ["x", None]})
    with ParquetReader(path) as reader:
        assert (reader.name, reader.names, reader.typed, reader.skipped.count) == (path, ["b", "a"], True, 0)
        assert reader.size == os.path.getsize(path)
        assert reader.position == 0
        assert reader.take(1).count == 1
        assert reader.position == reader.size // 2
        assert reader.take(5).count == 1
        assert reader.position == reader.size
    reader.close()
    assert reader.take(5) is None


def test_names_that_differ_in_their_size_of_letters_and_names_with_quotes(tmp_path):
    columns = {"x": [1.0], "X": [2.0], "x_1": [3.0], 'a "b"': [4.0], "": [5.0], "s": [[{"x": 1}]], "y": [6.0]}
    path = write(tmp_path, columns, name="it's [a]*?.parquet")
    with ParquetReader(path) as reader:
        assert reader.names == list(columns)
    found, _ = read_all(ParquetReader(path), 9, dict.fromkeys(columns, "number"))
    assert {name: cells for name, (_, cells) in found.items() if name != "s"} == {
        name: cells for name, cells in columns.items() if name != "s"
    }


def test_a_folder_that_says_something_adds_no_column(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    with ParquetReader(write(folder, {"a": [1]})) as reader:
        assert reader.names == ["a"]


@pytest.mark.parametrize(
    ("kind", "cell", "found"),
    [
        (pa.int64(), 2**53 + 1, "9007199254740993"),
        (pa.int64(), -(2**63), "-9223372036854775808"),
        (pa.uint64(), 2**64 - 1, "18446744073709551615"),
        (pa.decimal128(20, 0), Decimal(2**53 + 1), "9007199254740993"),
        (pa.float64(), float("inf"), "infinity"),
        (pa.float32(), float("-inf"), "minus infinity"),
    ],
)
def test_a_cell_that_is_no_number_for_us(tmp_path, kind, cell, found):
    cells = [None, *[1] * 1998, cell, 1, cell]
    path = write(tmp_path, {"good": range(2002), "n": pa.array(cells, kind)})
    for count in (1, 7, 5000):
        reader = ParquetReader(path)
        # It can be looked at, and it can be left out.
        assert np.isnan(reader.look(2002).columns["n"].values[[0, 1999, 2001]]).all()
        taken = 0
        with pytest.raises(StreamError) as caught:
            while (batch := reader.take(count)) is not None:
                taken += batch.count
        assert taken == 1999
        assert str(caught.value).startswith(f"{path}, row 2,000: column 'n': ")
        assert f"{found} was found" in str(caught.value)
        with pytest.raises(StreamError, match="row 2,000"):
            reader.take(1)
        reader.close()
    assert len(read_all(ParquetReader(path), 100, {"good": "number"})[1]) == 2002


def test_the_largest_whole_numbers(tmp_path):
    cells = [2**53, -(2**53)]
    found, _ = read_all(ParquetReader(write(tmp_path, {"n": pa.array(cells, pa.int64())})), 9)
    assert found["n"] == ("whole numbers", [float(cell) for cell in cells])


def test_whole_numbers_of_any_size_are_text_if_that_is_asked_for(tmp_path):
    cells = [2**53 + 1, None, 0, 2**53 + 1, -(2**63), 2**63 - 1]
    path = write(tmp_path, {"n": pa.array(cells, pa.int64())})
    found, _ = read_all(ParquetReader(path), 2, {"n": "text"})
    assert found["n"] == ("texts", [None if cell is None else str(cell) for cell in cells])


def test_a_column_of_nothing(tmp_path):
    found, _ = read_all(ParquetReader(write(tmp_path, {"n": pa.nulls(3)})), 9)
    assert found["n"][1] == [None] * 3


def test_many_rows_and_many_words(tmp_path):
    # More rows than are read at once, and batches that do not fit into that.
    n = 150_000
    words = [f"word {i * 7919 % 10_007}" for i in range(n)]
    path = write(tmp_path, {"i": np.arange(n), "t": words}, row_group_size=40_000)
    reader = ParquetReader(path)
    at = 0
    while (batch := reader.take(31_111)) is not None:
        assert (batch.columns["i"].values == np.arange(at, at + batch.count)).all()
        texts = batch.columns["t"]
        assert [texts.words[code] for code in texts.codes] == words[at : at + batch.count]
        assert batch.first == at + 1
        at += batch.count
    assert at == n
    reader.close()


def test_texts_with_the_same_key_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("afterwit.streams._words.MIXER", np.uint64(0))
    words = ["one", "two", "one", None, "", "three", "one and a long one", "one and a long two"] * 3
    found, _ = read_all(ParquetReader(write(tmp_path, {"t": words})), 99)
    assert found["t"] == ("texts", [word or None for word in words])


def refused(path):
    with pytest.raises(StreamError) as caught, ParquetReader(path) as reader:
        reader.look(10)
        while reader.take(1000) is not None:
            pass
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_that_is_none(tmp_path):
    assert refused(str(tmp_path / "a.parquet")) == f"{tmp_path}/a.parquet: there is no such file"
    assert "this is a directory" in refused(str(tmp_path))
    assert "a pipe or a device" in refused("/dev/null")
    assert refused("") == "'': there is no such file"
    assert "null byte" in refused("a\0b")


def test_corrupt_and_truncated_files(tmp_path):
    path = Path(write(tmp_path, {"a": np.arange(5000.0), "b": [str(i) for i in range(5000)]}, compression="zstd"))
    whole = path.read_bytes()
    for content in (b"", b"PAR1", b"no Parquet at all", whole[:-1], whole[: len(whole) // 2], whole[100:]):
        path.write_bytes(content)
        assert "it cannot be read as a Parquet file (" in refused(str(path))
    path.write_bytes(whole[:4] + bytes(40) + whole[44:])
    assert "it cannot be read as a Parquet file (" in refused(str(path))


def test_a_file_that_changes(tmp_path):
    path = write(tmp_path, {"a": [1.0, 2.0]})
    reader = ParquetReader(path)
    reader.look(1)
    write(tmp_path, {"a": [1.0, 2.0, 3.0]})
    with pytest.raises(StreamError, match="the file has changed while it was read"):
        reader.take(10)
    reader.close()
    reader = ParquetReader(path)
    os.unlink(path)
    with pytest.raises(StreamError, match="there is no such file"):
        reader.take(10)
    reader.close()


def test_names_that_are_wrong(tmp_path):
    path = write(tmp_path, {"a": [1.0]})
    with ParquetReader(path) as reader, pytest.raises(StreamError, match="there is no column 'b'"):
        reader.read_as({"b": "number"})
    table = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(table, path)
    assert refused(path) == f"{path}: the column 'a' occurs twice; give it another name"


def test_two_at_once(tmp_path):
    paths = [write(tmp_path, {"a": np.arange(100_000) + shift}, name=f"{shift}.parquet") for shift in (0, 5)]
    found = {}

    def read(path):
        found[path] = read_all(ParquetReader(path), 999)[0]["a"][1]

    threads = [threading.Thread(target=read, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for shift, path in zip((0, 5), paths, strict=True):
        assert found[path] == list(range(shift, shift + 100_000))


WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "pandas", "polars"):
            raise ImportError(f"{name} is not to be imported")

sys.meta_path.insert(0, Blocked())
from afterwit.streams.arrow_ipc import ArrowReader
from afterwit.streams.frames import FrameReader
from afterwit.streams.ordered import OrderedReader
from afterwit.streams.parquet import ParquetReader
from afterwit.streams.sql import SqlReader
import duckdb

path, stream = sys.argv[1:]
with duckdb.connect() as connection:
    frame = FrameReader(connection.sql(f"SELECT * FROM '{path}'"))
    readers = [ParquetReader(path), SqlReader(f"FROM '{path}'"), ArrowReader(stream), frame]
    for reader in [*readers, OrderedReader(ParquetReader(path), "a")]:
        assert reader.look(2).count == 2
        reader.read_as({"a": "number", "t": "text"})
        batch = reader.take(10)
        assert batch.columns["a"].values.tolist() == [1, 2, 3], batch
        words = batch.columns["t"].words
        assert [words[code] for code in batch.columns["t"].codes] == ["x", "y", "x"], batch
        assert reader.take(10) is None
        reader.close()
assert not {"pyarrow", "pandas", "polars"} & set(sys.modules)
print("done")
"""


def test_nothing_needs_pyarrow_pandas_or_polars(tmp_path):
    columns = {"a": [1.0, 2.0, 3.0], "t": ["x", "y", "x"]}
    stream = tmp_path / "a.arrows"
    with pa.ipc.new_stream(str(stream), pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT, write(tmp_path, columns), str(stream)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_nothing_is_left_of_a_reader_that_nobody_has_closed(tmp_path):
    reader = ParquetReader(write(tmp_path, {"a": [1]}))
    assert len(list(Path(tempfile.gettempdir()).iterdir())) == 1
    del reader
    gc.collect()


def test_a_batch_is_one_that_the_schema_takes(tmp_path):
    with ParquetReader(write(tmp_path, {"t": ["a", "b", "a"]})) as reader:
        batch = reader.take(2)
    assert isinstance(batch, Batch)
    assert isinstance(batch.columns["t"], Texts)
    assert batch.lines is None
