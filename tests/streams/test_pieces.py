"""Files in pieces are the whole file, row for row, and errors name its lines."""

import gzip
import pickle
from itertools import chain

import numpy as np
import pandas as pd
import pytest

import afterwit as aw
from afterwit.errors import StreamError
from afterwit.streams.parquet import ParquetReader, row_groups
from afterwit.streams.pieces import cut

COUNTS = (1, 2, 3, 8, 40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((500, 2)), columns=list("ab"))
    frame["town"] = random.choice(["x", "y", "a town"], 500)
    frame["y"] = np.where(frame.a > 0, "yes", "no")
    frame.to_csv(folder / "t.csv", index=False)
    frame[:40].to_csv(folder / "short.csv", index=False)
    frame.to_csv(folder / "bars.psv", index=False, sep="|", header=False)
    (folder / "marked.csv").write_bytes(b"\xef\xbb\xbf\r\n" + frame.to_csv(index=False, lineterminator="\r\n").encode())
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    frame.to_parquet(folder / "t.parquet", row_group_size=70)
    (folder / "packed.parquet.gz").write_bytes(gzip.compress((folder / "t.parquet").read_bytes()))
    frame.to_feather(folder / "t.arrow", compression="uncompressed")
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    rows = [f"{1 if a > 0 else -1} 1:{a} 7:{b}\n" for a, b in frame[["a", "b"]].to_numpy()]
    (folder / "t.svm").write_text("".join(rows))
    (folder / "t.vw").write_text(
        "".join(f"{1 if a > 0 else -1} |f a:{a} b:{b}\n" for a, b in frame[["a", "b"]].to_numpy())
    )
    return folder


def rows_of(stream):
    return [(str(x), y) for x, y in stream]


def joined(parts):
    return list(chain.from_iterable(rows_of(part.stream()) for part in parts))


def parts_of(stream, count):
    """As other processes get them."""
    return pickle.loads(pickle.dumps(cut(stream, count)))


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    "names",
    [
        *("t.csv", "marked.csv", "t.parquet", "t.jsonl", "t.svm", "t.vw", "t.csv.gz", "t.csv short.csv"),
        *("packed.parquet.gz", "t.arrow"),
    ],
)
def test_all_pieces_in_order_are_the_whole(folder, names, count):
    paths = [str(folder / name) for name in names.split()]
    how = {} if names in ("t.svm", "t.vw") else {"target": "y"}
    with aw.read(paths, **how) as stream:
        whole = rows_of(stream)
        parts = parts_of(stream, count)
    assert len(parts) == count
    found = [rows_of(part.stream()) for part in parts]
    assert list(chain.from_iterable(found)) == whole
    if count <= 8 and names not in ("t.csv.gz", "t.parquet", "packed.parquet.gz", "t.arrow"):
        assert min(map(len, found)) > 0.8 * len(whole) / count - 2


def test_columns_that_are_named_by_the_caller(folder):
    stream = aw.read(str(folder / "bars.psv"), target="y", names=["a", "b", "town", "y"])
    whole = rows_of(stream)
    assert joined(parts_of(stream, 5)) == whole


def test_a_few_lines_in_many_pieces(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,no\n2,yes")
    for count in (1, 2, 5, 30):
        stream = aw.read(str(path), target="y")
        whole = rows_of(stream)
        assert joined(parts_of(stream, count)) == whole == [("{'a': 1.0}", "no"), ("{'a': 2.0}", "yes")]


def test_pieces_depend_on_the_files_and_their_number_alone(folder):
    one, other = (cut(aw.read(str(folder / "t.csv"), target="y"), 6) for _ in range(2))
    assert [part.pieces for part in one] == [part.pieces for part in other]


@pytest.mark.parametrize("name", ["t.csv", "t.svm", "t.jsonl"])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_errors_name_the_line_of_the_file(folder, tmp_path, name, count):
    lines = (folder / name).read_text().split("\n")
    lines[399] = {"t.csv": "1,oops,x,yes", "t.svm": "1 1:oops", "t.jsonl": '{"a":"oops","b":1,"town":"x","y":"no"}'}[
        name
    ]
    path = tmp_path / name
    path.write_text("\n".join(lines))
    how = {} if name == "t.svm" else {"target": "y", "numeric": ["a", "b"]}
    with pytest.raises(StreamError) as failure:
        for part in parts_of(aw.read(str(path), **how), count):
            rows_of(part.stream())
    assert (failure.value.path, failure.value.line) == (str(path), 400)


@pytest.mark.parametrize("count", [1, 4])
def test_labels_that_may_not_come_are_named_with_their_line(folder, tmp_path, count):
    lines = (folder / "t.csv").read_text().split("\n")
    lines[450] = "1,2,x,maybe"
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(StreamError, match="found the label maybe") as failure:
        for part in parts_of(aw.read(str(path), target="y", labels=("no", "yes")), count):
            rows_of(part.stream())
    assert failure.value.line == 451


def test_a_border_inside_of_a_cell_is_an_error_and_never_passed_over(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "a,text,y\n" + "".join(f'{i},"one\ntwo\n3,four,yes\nfive",{"yes" if i % 2 else "no"}\n' for i in range(60))
    )
    whole = rows_of(aw.read(str(path), target="y"))
    assert len(whole) == 60
    wrong = 0
    for count in range(2, 25):
        try:
            found = joined(parts_of(aw.read(str(path), target="y"), count))
        except StreamError as error:
            wrong += "a piece ends inside of this cell" in str(error)
        else:
            assert found == whole
    assert wrong
    # Where bad rows are left out it is an error all the same.
    skipped = 0
    for count in range(2, 25):
        try:
            found = joined(parts_of(aw.read(str(path), target="y", on_error="skip"), count))
        except StreamError as error:
            skipped += "a piece ends inside of a cell" in str(error)
        else:
            assert found == whole
    assert skipped == wrong


def test_a_file_with_other_columns_is_refused(folder, tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,no\n2,yes\n")
    (tmp_path / "2.csv").write_text("a,more,y\n1,5,no\n")
    stream = aw.read([str(tmp_path / "1.csv"), str(tmp_path / "2.csv")], target="y")
    with pytest.raises(StreamError, match="1 column not in the first file: more"):
        for part in parts_of(stream, 2):
            rows_of(part.stream())


def test_row_groups(folder):
    path = str(folder / "t.parquet")
    assert row_groups(path) == [0, 70, 140, 210, 280, 350, 420, 490, 500]
    with ParquetReader(path, rows=(70, 75)) as reader:
        assert reader.look(10).count == 5
        reader.read_as({"a": "number"})
        assert reader.take(100).columns["a"].values.tolist() == pd.read_parquet(path).a[70:75].tolist()
        assert reader.take(1) is None
    (folder / "no.parquet").write_text("PAR1 no")
    with pytest.raises(StreamError, match="cannot be read as a Parquet file"):
        row_groups(str(folder / "no.parquet"))
