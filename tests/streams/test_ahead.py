"""Readers of lines: threads, blocks, packed data and pipes change nothing, and no thread stays behind."""

import gc
import gzip
import io
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zstandard

from afterwit.errors import StreamError
from afterwit.streams import LibsvmStream, _bytes
from afterwit.streams._ahead import Ahead
from afterwit.streams._bytes import ByteSource
from afterwit.streams.libsvm import LibsvmReader
from afterwit.streams.vw import VwReader


def threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("afterwit")}


@pytest.fixture(autouse=True)
def no_thread_stays():
    yield
    assert not threads()


def text(rows, seed=0):
    random = np.random.default_rng(seed)
    out = []
    for _ in range(rows):
        ids = sorted(set(random.integers(0, 60, random.integers(0, 8)).tolist()))
        out.append(" ".join([f"{random.choice([-1, 1])}", *(f"{k}:{random.standard_normal():.3g}" for k in ids)]))
        out += ["# a comment"] * int(random.random() < 0.1)
    return "\n".join(out).encode()


def taken(reader, count):
    """Everything a reader says, block by block."""
    said = []
    with reader:
        while (block := reader.take(count)) is not None:
            X, y = block
            said.append((X.values.tolist(), X.columns.tolist(), X.starts.tolist(), X.width, np.asarray(y).tolist()))
            said.append((reader.row_lines.tolist(), reader.features, reader.position))
    return said


@pytest.mark.parametrize("block_size", [7, 50, 1000])
@pytest.mark.parametrize("kind", [LibsvmReader, VwReader])
def test_threads_hand_over_what_one_alone_does(tmp_path, block_size, kind):
    content = text(300)
    if kind is VwReader:
        content = b"\n".join(
            line.replace(b" ", b" |f ", 1) if b" " in line else line + b" |"
            for line in content.split(b"\n")
            if b"#" not in line
        )
    (tmp_path / "f").write_bytes(content)
    for count in (1, 5, 10**6):
        alone = taken(kind(tmp_path / "f", block_size=block_size, workers=0), count)
        assert sum(len(block[4]) for block in alone[::2]) == 300
        for workers in (1, 2, 3, 8):
            assert taken(kind(tmp_path / "f", block_size=block_size, workers=workers), count) == alone


def test_a_mistake_comes_after_the_rows_before_it(tmp_path):
    lines = text(400).split(b"\n")
    lines[250] = b"1 3:x"
    (tmp_path / "f").write_bytes(b"\n".join(lines))
    for workers in (0, 1, 2, 5):
        with LibsvmReader(tmp_path / "f", block_size=100, workers=workers) as reader:
            rows = 0
            with pytest.raises(StreamError, match=r"f, line 251: found '3:x' where") as first:
                while (block := reader.take(3)) is not None:
                    rows += len(block[1])
            assert rows == sum(not line.startswith(b"#") for line in lines[:250])
            # It has stopped: no thread, and the same again.
            assert not threads()
            with pytest.raises(StreamError) as again:
                reader.take(1)
            assert again.value is first.value


@pytest.mark.parametrize("workers", [0, 2])
def test_bad_lines_are_left_out_and_counted(tmp_path, workers):
    good = text(300).split(b"\n")
    lines = [line for k, each in enumerate(good) for line in ([b"bad %d" % k, each] if k % 10 == 0 else [each])]
    (tmp_path / "f").write_bytes(b"\n".join(lines))
    (tmp_path / "good").write_bytes(b"\n".join(good))
    reader = LibsvmReader(tmp_path / "f", on_error="skip", block_size=200, workers=workers)
    found = taken(reader, 7)
    expected = taken(LibsvmReader(tmp_path / "good", workers=0), 7)
    assert [x for block in found[::2] for x in block[0]] == [x for block in expected[::2] for x in block[0]]
    bad = [k for k, line in enumerate(lines, 1) if line.startswith(b"bad")]
    assert reader.skipped.count == len(bad) > 10
    assert len(reader.skipped.first) == 10
    for number, message in zip(bad, reader.skipped.first, strict=False):
        assert message.startswith(f"{tmp_path / 'f'}, line {number}: found 'bad' where a label (a number) was expected")


def test_no_thread_stays_however_it_ends(tmp_path):
    (tmp_path / "f").write_bytes(text(2000))
    options = {"block_size": 100, "workers": 3}
    with LibsvmReader(tmp_path / "f", **options) as reader:
        while reader.take(1) is not None:
            pass
        assert not threads()
    with LibsvmReader(tmp_path / "f", **options) as reader:
        for _ in range(30):
            reader.take(1)
        assert len(threads()) == 3
    assert not threads()
    with pytest.raises(ZeroDivisionError), LibsvmReader(tmp_path / "f", **options) as reader:
        for _ in range(30):
            reader.take(1)
        raise ZeroDivisionError
    assert not threads()
    # Nobody closes it.
    with (tmp_path / "f").open("rb") as file:
        reader = LibsvmReader(file, **options)
        for _ in range(30):
            reader.take(1)
        assert len(threads()) == 3
        del reader
        gc.collect()
        assert not threads()


def test_a_small_file_needs_no_thread(tmp_path):
    (tmp_path / "f").write_bytes(text(50))
    with LibsvmReader(tmp_path / "f", workers=2) as reader:
        assert reader.take(1) is not None
        assert not threads()
        while reader.take(10) is not None:
            assert not threads()


def test_few_blocks_are_in_memory():
    read, worked = [], []

    def blocks():
        read.append(len(read))
        return len(read)

    ahead = Ahead(blocks, [lambda block: worked.append(block) or block] * 2)
    try:
        for k in range(1, 20):
            assert ahead.take() == k
            assert len(read) <= k + 4
    finally:
        ahead.close()


def test_nothing_is_read_after_the_end():
    asked, held = [], threading.Event()

    def read():
        asked.append(len(asked))
        return len(asked) if len(asked) <= 5 else None

    # The end is not taken before every thread has had time to come back for more.
    ahead = Ahead(read, [lambda block: (block != 1 or held.wait()) and block] * 4)
    while len(asked) < 6:
        time.sleep(0.001)
    time.sleep(0.02)
    held.set()
    assert [ahead.take() for _ in range(6)] == [1, 2, 3, 4, 5, None]
    assert len(asked) == 6


def test_an_exception_comes_where_its_block_would_have_come():
    def work(block):
        if block == 7:
            raise ZeroDivisionError
        return block

    numbers = iter(range(1, 100))
    ahead = Ahead(lambda: next(numbers), [work] * 3)
    assert [ahead.take() for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ZeroDivisionError):
        ahead.take()
    assert not threads()

    def broken():
        raise OSError("gone")

    ahead = Ahead(broken, [work] * 3)
    with pytest.raises(OSError, match="gone"):
        ahead.take()
    assert not threads()


def test_an_interrupt_ends_the_waiting():
    # A process in the background may have been told to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    held = threading.Event()
    ahead = Ahead(lambda: 1, [lambda block: held.wait() and block])
    timer = threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ahead.take()
    signal.signal(signal.SIGINT, before)
    held.set()
    ahead.close()
    timer.join()
    assert not threads()


# ---------------------------------------------------------------------- packed data

PLAIN = text(300)


def zstd_flushed(parts):
    """One frame, of which each part can be read before the next one comes."""
    packer = zstandard.ZstdCompressor().compressobj()
    for part in parts:
        yield packer.compress(part) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    yield packer.flush()


PACKED = {
    "gzip": gzip.compress(PLAIN),
    "gzip members": gzip.compress(PLAIN[:1000]) + gzip.compress(PLAIN[1000:]),
    "zstd": zstandard.compress(PLAIN),
    "zstd frames": b"".join(zstandard.compress(PLAIN[k : k + 700]) for k in range(0, len(PLAIN), 700)),
    "zstd with an empty frame": zstandard.compress(b"") + zstandard.compress(PLAIN) + zstandard.compress(b""),
    "zstd with a frame to skip": zstandard.compress(PLAIN) + b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc",
    "zstd in blocks": b"".join(zstd_flushed([PLAIN[:500], PLAIN[500:]])),
}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize(("block_size", "workers"), [(1 << 20, 2), (7, 0), (300, 2)])
def test_packed_data_are_known_by_their_content(tmp_path, name, block_size, workers):
    (tmp_path / "f").write_bytes(PACKED[name])
    expected = [block[:5] for block in taken(LibsvmReader(io.BytesIO(PLAIN), workers=0), 1)[::2]]
    for source in (tmp_path / "f", io.BytesIO(PACKED[name])):
        found = taken(LibsvmReader(source, block_size=block_size, workers=workers), 1)
        assert [block[:5] for block in found[::2]] == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_zstd_that_is_truncated_or_corrupt_is_one_sentence(tmp_path, workers):
    whole = PACKED["zstd"]
    spoiled = bytearray(whole)
    spoiled[len(whole) // 2] ^= 255
    for content in (
        whole[:5],
        whole[:100],
        whole[:-1],
        whole + whole[:20],
        whole + b"garbage",
        whole[:30] + b"\xff" * 40,
    ):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(StreamError, match="f: the zstd data is truncated or corrupt") as caught:
            taken(LibsvmReader(tmp_path / "f", block_size=500, workers=workers), 10)
        assert "\n" not in str(caught.value)
    checked = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(PLAIN))
    checked[-1] ^= 1
    with pytest.raises(StreamError, match="the zstd data is truncated or corrupt"):
        taken(LibsvmReader(io.BytesIO(checked), workers=workers), 10)


def test_little_zstd_that_unpacks_to_very_much_is_refused_where_it_is_kept(monkeypatch):
    monkeypatch.setattr(_bytes, "FREELY_UNPACKED", 2**18)
    bomb = zstandard.compress(b"1 1:1\n" * 2**18)
    with ByteSource(io.BytesIO(bomb)) as source:
        assert sum(len(source.read(2**16)) for _ in range(25)) == 6 * 2**18
    with pytest.raises(
        StreamError, match="the zstd data unpacks to more than 100 times its size; unpack the file first"
    ):
        taken(LibsvmReader(io.BytesIO(bomb), kept=True), 10)


def test_not_much_of_zstd_is_unpacked_at_once(monkeypatch):
    bomb = zstandard.compress(bytes(2**26))
    assert len(bomb) > 2 * _bytes.PIECE
    source = ByteSource(io.BytesIO(bomb))
    assert len(source.read(10)) == 10
    assert len(source._file._ready) <= 2**25
    source.close()


# ---------------------------------------------------------------------- pipes


@pytest.mark.parametrize("packed", ["plain", "gzip", "zstd"])
def test_what_has_arrived_through_a_pipe_is_handed_over(packed):
    parts = [b"1 1:2\n-1 3:4\n", b"1 5:6\n1 7", b":8\n"]
    if packed == "zstd":
        sent = list(zstd_flushed(parts))
    elif packed == "gzip":
        packer = gzip.zlib.compressobj(wbits=31)
        sent = [packer.compress(part) + packer.flush(gzip.zlib.Z_SYNC_FLUSH) for part in parts] + [packer.flush()]
    else:
        sent = [*parts, b""]
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as file, os.fdopen(theirs, "wb", buffering=0) as pipe, ThreadPoolExecutor(1) as alone:
        try:
            pipe.write(sent[0])
            reader = alone.submit(LibsvmReader, file).result(20)
            labels = [alone.submit(reader.take, 100).result(20)[1].tolist()]
            for part in sent[1:3]:
                pipe.write(part)
                labels.append(alone.submit(reader.take, 100).result(20)[1].tolist())
            pipe.write(sent[3])
        finally:
            pipe.close()
        assert labels == [[1, -1], [1], [1]]
        assert reader.take(1) is None
        reader.close()


def test_standard_input_that_is_a_file_and_streams_that_skip(tmp_path):
    (tmp_path / "f").write_bytes(b"1 1:2\nbad\n-1 3:4\n")
    assert [y for _, y in LibsvmStream(tmp_path / "f", on_error="skip")] == [1, -1]
    with pytest.raises(StreamError, match="line 2"):
        list(LibsvmStream(tmp_path / "f"))
