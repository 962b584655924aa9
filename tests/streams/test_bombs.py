"""A few kilobytes of gzip that unpack to gigabytes are refused in a sentence, in bounded time and memory."""

import gzip
import io
import subprocess
import sys

import numpy as np
import pytest

from afterwit.cli._matrix import read_matrix
from afterwit.errors import StreamError
from afterwit.streams import _csv
from afterwit.streams._bytes import ByteSource
from afterwit.streams.table import read_table
from conftest import environment

#: How much a process may hold while it refuses a bomb.
MOST = 700 << 20


def bomb(path, block, times, head=b""):
    """A gzip file that unpacks to ``block`` so many times."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(head)
        for _ in range(times):
            file.write(block)
    return path


BLOCKS = {
    "rows": (b"0," + b"0" * 61 + b"\n") * 2**14,
    "zeros": bytes(2**20),
    "commas": b"," * 2**20,
    "blank": b"\n" * 2**20,
}


@pytest.mark.parametrize("block", ["rows", "zeros"])
@pytest.mark.parametrize("command", [["game"], ["experts", "--target", "a"]], ids=["game", "experts"])
def test_commands_refuse_a_bomb(tmp_path, command, block):
    # Both used to end with a traceback, or with nothing for minutes.
    path = bomb(tmp_path / "bomb.gz", BLOCKS[block], 64, b"a,b\n" if command[0] == "experts" else b"")
    script = (
        f"import resource, sys\nresource.setrlimit(resource.RLIMIT_DATA, ({MOST}, {MOST}))\n"
        "from afterwit.cli import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *command, str(path)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
    )
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert f"{path}: the gzip data unpacks to more than 100 times its size; unpack the file first" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("read", [read_matrix, read_table])
def test_readers_refuse_a_bomb(tmp_path, monkeypatch, read, block):
    # What may be unpacked freely takes long to read, line by line.
    monkeypatch.setattr("afterwit.streams._bytes.FREELY_UNPACKED", 2**18)
    path = bomb(tmp_path / "bomb.gz", BLOCKS[block], 1, b"a,b\n" if read is read_table else b"")
    with pytest.raises(StreamError, match="the gzip data unpacks to more than 100 times its size") as caught:
        read(str(path))
    assert caught.value.path == str(path)


def test_a_file_that_compresses_as_data_do_is_read(tmp_path):
    rows = np.random.default_rng(0).integers(0, 10, (20_000, 3))
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()) + "\n"
    (tmp_path / "t.gz").write_bytes(gzip.compress(text.encode()))
    np.testing.assert_array_equal(read_table(str(tmp_path / "t.gz")).values, rows)


def test_little_is_read_whatever_it_unpacks_to():
    text = b"1,1\n" * 2**18
    assert read_matrix(io.BytesIO(gzip.compress(text))).payoffs.shape == (2**18, 2)


def test_a_stream_that_is_not_kept_may_unpack_to_anything():
    packed = gzip.compress(bytes(2**25))
    with ByteSource(io.BytesIO(packed)) as source:
        assert sum(len(source.read(2**20)) for _ in range(33)) == 2**25
    with ByteSource(io.BytesIO(packed), kept=True) as source, pytest.raises(StreamError, match="100 times"):
        for _ in range(33):
            source.read(2**20)


def test_a_line_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(_csv, "LONGEST_LINE", 1000)
    monkeypatch.setattr(_csv, "BLOCK", 100)
    with pytest.raises(StreamError, match="found a line longer than 1,000 bytes") as caught:
        read_matrix(io.BytesIO(b"1,2\n3,4\n" + b"1," * 600))
    assert caught.value.line == 3


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_may_end_anywhere(monkeypatch, size, end):
    monkeypatch.setattr(_csv, "BLOCK", size)
    text = f'\ufeff0;1{end}1;"2"{end}{end}3;4'
    assert read_matrix(io.BytesIO(text.encode())).payoffs.tolist() == [[0.0, 1.0], [1.0, 2.0], [3.0, 4.0]]
