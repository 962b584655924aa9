"""The format of a source is known by its content, from files and from standard input, however it arrives."""

import gzip
import io
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

import afterwit as aw
from afterwit.errors import InputError, StreamError
from afterwit.streams._bytes import Beginning
from afterwit.streams.formats import format_of, head_of
from afterwit.streams.table import read_table

HEADER = "x,c,y\n"
CSV = HEADER + "".join(f"{i / 7!r},{'red' if i % 3 else 'blue'},{i % 2}\n" for i in range(20_000))
JSON = "".join(f'{{"x": {i}, "y": {i % 2}}}\n' for i in range(20))
LIBSVM = "".join(f"{2 * (i % 2) - 1} 1:{i} 7:0.5\n" for i in range(20))
VW = "".join(f"{2 * (i % 2) - 1} |n x:{i} y\n" for i in range(20))
TEXTS = {"csv": CSV, "json": JSON, "libsvm": LIBSVM, "vw": VW}
NAMES = ["x.csv", "x.tsv", "x.json", "x.svm", "x.vw", "x.parquet", "x.arrow", "x.txt", "x"]
PACKERS = {
    "plain": bytes,
    "gzip": gzip.compress,
    # One block of zstd data is far longer than what a file object holds at a time.
    "zstd": zstandard.ZstdCompressor().compress,
}


def table():
    return pa.table({"x": [i / 7 for i in range(300)], "c": ["red", "blue", None] * 100, "y": [0, 1, 1] * 100})


def parquet_bytes():
    file = io.BytesIO()
    pa.parquet.write_table(table(), file)
    return file.getvalue()


def arrow_bytes(new):
    file = io.BytesIO()
    with new(file, table().schema) as writer:
        writer.write_table(table())
    return file.getvalue()


def examples(source, target=None):
    return [
        (x if isinstance(x, dict) else (x.columns.tolist(), x.values.tolist()), y) for x, y in aw.read(source, target)
    ]


def as_standard_input(monkeypatch, file):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))


class Dribble(io.RawIOBase):
    """A pipe through which so many bytes come at a time; it cannot go back."""

    def __init__(self, content, step):
        self._content, self._step = io.BytesIO(content), step

    def readable(self):
        return True

    def readinto(self, buffer):
        part = self._content.read(min(len(buffer), self._step))
        buffer[: len(part)] = part
        return len(part)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("packed", PACKERS)
def test_the_name_of_a_file_does_not_hide_its_content(tmp_path, name, kind, packed):
    path = tmp_path / (name + {"plain": "", "gzip": ".gz", "zstd": ".zst"}[packed])
    path.write_bytes(PACKERS[packed](TEXTS[kind].encode()))
    assert format_of(path) == kind


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        # The content leaves a doubt.
        ("x.svm", "1\n-1\n", "libsvm"),
        ("x.vw", "foo bar\n1 |f x\n", "vw"),
        ("x.json", '[\n{"a": 1, "b": 2},\n{"a": 1, "b": 2}]', "json"),
        ("x.json", "", "json"),
        ("x.svm", "1,2 3:0.5\n2,3 4:1\n", "libsvm"),
        ("x.svm", "a,b\n1,2,3\n", "libsvm"),
        ("x.parquet", "no table\n", "parquet"),
        ("x.txt", "a b\n1 2\n", "csv"),
    ],
)
def test_where_the_content_leaves_a_doubt_the_name_decides(tmp_path, name, content, kind):
    (tmp_path / name).write_text(content)
    assert format_of(tmp_path / name) == kind


@pytest.mark.parametrize("step", [1, 7, 8192, 1 << 20])
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("packed", PACKERS)
def test_standard_input_is_known_and_read_however_it_arrives(monkeypatch, tmp_path, kind, packed, step):
    content = PACKERS[packed]((TEXTS[kind][:3000].rpartition("\n")[0] + "\n").encode())
    (tmp_path / "x").write_bytes(content)
    target = "y" if kind in ("csv", "json") else None
    expected = examples(tmp_path / "x", target)
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(content, step)))
    assert format_of("-") == kind
    assert head_of("-") == head_of("-")
    assert examples("-", target) == expected


@pytest.mark.parametrize("packed", PACKERS)
def test_a_large_block_of_standard_input(monkeypatch, tmp_path, packed):
    content = PACKERS[packed](CSV.encode())
    (tmp_path / "x").write_bytes(content)
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(content, 1 << 16)))
    assert examples("-", "y") == examples(tmp_path / "x", "y")


def test_standard_input_that_is_a_file_can_be_looked_at_too(monkeypatch, tmp_path):
    (tmp_path / "x").write_bytes(PACKERS["zstd"](CSV.encode()))
    with open(tmp_path / "x", "rb") as file:
        as_standard_input(monkeypatch, file)
        assert len(list(aw.read("-", target="y"))) == 20_000


def test_what_is_little_and_unpacks_to_very_much_is_looked_at_in_pieces(monkeypatch):
    bomb = zstandard.ZstdCompressor().compress(b"0" * (1 << 28))
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(bomb, 1 << 20)))
    assert 1 << 16 <= len(head_of("-")) < 1 << 26


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b""), zstandard.ZstdCompressor().compress(b"")])
def test_nothing_on_standard_input(monkeypatch, content):
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(content, 1)))
    with pytest.raises(StreamError, match=r"^standard input: no examples were found$"):
        aw.read("-", target="y")


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
@pytest.mark.parametrize("length", [9, 60])
def test_packed_data_that_end_early_say_so(monkeypatch, packed, length):
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(PACKERS[packed](CSV.encode())[:length], 5)))
    with pytest.raises(StreamError, match=f"^standard input: the {packed} data is truncated or corrupt"):
        list(aw.read("-", target="y"))


def test_a_beginning_is_not_taken_and_its_end_is_its_end():
    pipe = Beginning(io.BufferedReader(Dribble(b"abcdefgh", 3)))
    assert pipe.seen(4)[:4] == b"abcd"
    assert pipe.read1(2) == b"ab"
    assert pipe.seen(1).startswith(b"c")
    assert pipe.read(100) == b"cdefgh"
    assert (pipe.seen(1), pipe.read1(5), pipe.read(5)) == (b"", b"", b"")


def test_what_follows_the_end_on_a_terminal_is_not_read():
    arriving = [b"ab", b"", b"more"]
    pipe = Beginning(SimpleNamespace(read=None, read1=lambda size: arriving.pop(0)))
    assert pipe.seen(4) == b"ab"
    assert (pipe.read(4), pipe.read1(4)) == (b"ab", b"")
    assert arriving == [b"more"]


def test_no_more_is_waited_for_than_one_line(monkeypatch):
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as file, os.fdopen(theirs, "wb", buffering=0) as pipe, ThreadPoolExecutor(1) as alone:
        as_standard_input(monkeypatch, file)
        try:
            pipe.write(b"1 ")
            found = alone.submit(format_of, "-")
            pipe.write(b"1:3\n")
            assert found.result(20) == "libsvm"
        finally:
            pipe.close()
        assert sys.stdin.buffer is file


BINARY = {
    "parquet": parquet_bytes,
    "stream": lambda: arrow_bytes(pa.ipc.new_stream),
    "file": lambda: arrow_bytes(pa.ipc.new_file),
}


@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("place", ["pipe", "file", "files"])
def test_parquet_and_arrow_packed_or_from_standard_input(monkeypatch, tmp_path, kind, packed, place):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    expected = list(aw.read(table(), target="y"))
    content = PACKERS[packed](BINARY[kind]())
    source = "-"
    if place == "pipe":
        as_standard_input(monkeypatch, io.BufferedReader(Dribble(content, 1000)))
    else:
        (tmp_path / "a").write_bytes(content)
        (tmp_path / "b").write_bytes(BINARY[kind]())
        source = [tmp_path / "a", tmp_path / "b"] if place == "files" else tmp_path / "a"
    stream = aw.read(source, target="y")
    assert stream.rereadable
    for _ in range(2):
        assert list(stream) == expected * (2 if place == "files" else 1)
    stream.close()
    del stream
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("kind", BINARY)
def test_tables_of_forecasts_packed(tmp_path, kind):
    (tmp_path / "a").write_bytes(gzip.compress(BINARY[kind]()))
    (tmp_path / "b").write_bytes(BINARY[kind]())
    found, expected = (read_table(tmp_path / name, ["x", "y"]).values for name in "ab")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", BINARY)
def test_what_is_copied_and_damaged_is_called_by_its_own_name(monkeypatch, tmp_path, kind):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    content = BINARY[kind]()
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(content[: len(content) // 2], 1000)))
    with pytest.raises(StreamError, match=r"^standard input: it cannot be read as "):
        list(aw.read("-", target="y"))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("where", ["nowhere", "full"])
def test_a_copy_for_which_there_is_no_room(monkeypatch, tmp_path, where):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere") if where == "nowhere" else str(tmp_path))
    if where == "full":
        monkeypatch.setattr(
            tempfile, "mkstemp", lambda prefix: (os.open("/dev/full", os.O_WRONLY), str(tmp_path / "x"))
        )
    as_standard_input(monkeypatch, io.BufferedReader(Dribble(parquet_bytes(), 1000)))
    with pytest.raises(StreamError, match=r"^standard input: it cannot be copied to a temporary file .*TMPDIR"):
        aw.read("-", target="y")


@pytest.mark.parametrize("name", ["README.md", "zebra.md"])
def test_a_file_that_is_in_a_folder_by_chance_is_named(tmp_path, name):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / name).write_text("# Notes\nof no use\n")
    with pytest.raises((InputError, StreamError), match=rf"{name}: .*'FOLDER/\*\.csv'"):
        list(aw.read(tmp_path, target="y"))
    assert len(list(aw.read(str(tmp_path / "*.csv"), target="y"))) == 2
