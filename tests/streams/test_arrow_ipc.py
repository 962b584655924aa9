import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.errors import StreamError
from afterwit.streams.arrow_ipc import ArrowReader
from afterwit.streams.frames import FrameReader
from cells import plain, read_all
from naive_typed_tables import expected, tables

WRITERS = {"stream": pa.ipc.new_stream, "file": pa.ipc.new_file}


def write(table, path, how="file", rows=7, **options):
    with WRITERS[how](str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return str(path)


def without_dictionaries(table):
    plain_types = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(list(zip(table.column_names, plain_types, strict=True))))


@given(table=tables(), how=st.sampled_from(list(WRITERS)), compression=st.sampled_from([None, "zstd", "lz4"]))
def test_every_cell_for_every_size_of_blocks(table, how, compression):
    table = without_dictionaries(table)
    with tempfile.TemporaryDirectory() as folder:
        path = write(table, Path(folder) / "a.arrow", how, compression=compression)
        for count in (1, 3, 1000):
            reader = ArrowReader(path)
            assert plain(reader.look(9)) == expected(table.slice(0, 9))
            found, places = read_all(reader, count)
            if table.num_rows:
                assert found == expected(table)
            assert places == [{"path": f"{path}, row {i:,}"} for i in range(1, table.num_rows + 1)]


def test_numbers_that_say_where_columns_are_are_checked(tmp_path):
    """A single bit there made nanoarrow read outside of its memory."""
    table = pa.table({"a": ["x", None, "z"], "b": [1.0, 2.0, 3.0]})
    whole = Path(write(table, tmp_path / "a.arrows", "stream")).read_bytes()
    begin = 8 + int.from_bytes(whole[4:8], "little")
    end = begin + 8 + int.from_bytes(whole[begin + 4 : begin + 8], "little")
    messages = set()
    for place in range(begin + 8, end):
        for bits in (0x80, 0x22, 0x01):
            broken = bytearray(whole)
            broken[place] ^= bits
            (tmp_path / "b.arrows").write_bytes(broken)
            try:
                with ArrowReader(tmp_path / "b.arrows") as reader:
                    read_all(reader, 10)
            except StreamError as error:
                messages.add(error.message)
    assert any("it is corrupt: a column is said to be where there is no data" in message for message in messages)


def test_a_file_that_ends_between_two_messages_is_truncated(tmp_path):
    """A stream may end there; a file has an index behind its rows."""
    table = pa.table({"a": range(30)})
    whole = Path(write(table, tmp_path / "a.arrow")).read_bytes()
    at, ends = 8, []
    while (size := int.from_bytes(whole[at + 4 : at + 8], "little")) != 0:
        at += 8 + size + len(pa.ipc.read_message(pa.BufferReader(whole[at:])).body)
        ends.append(at)
    for end in (*ends, len(whole) - 1):
        (tmp_path / "b.arrow").write_bytes(whole[:end])
        with pytest.raises(StreamError, match=r"b\.arrow: it cannot be read as Arrow data \(it is truncated\)"):
            ArrowReader(tmp_path / "b.arrow")


def test_it_says_what_it_is(tmp_path):
    path = write(pa.table({"b": range(10), "a": range(10)}), tmp_path / "a.arrow")
    with ArrowReader(path) as reader:
        assert (reader.name, reader.names, reader.typed, reader.size) == (path, ["b", "a"], True, os.path.getsize(path))
        before = reader.position
        reader.read_as({"a": "number"})
        assert list(reader.take(10).columns) == ["a"]
        assert before < reader.position <= reader.size
    reader.close()


def test_types_that_only_arrow_has(tmp_path):
    moments = pa.array([None, -1, 86_400_001], pa.int64())
    table = pa.table(
        {
            "half": pa.array([np.float16(1.5), None, np.float16(-2)]),
            "date64": moments.cast(pa.date64(), safe=False),
            "seconds": moments.cast(pa.timestamp("s")),
            "duration": moments.cast(pa.duration("s")),
            "time32": pa.array([0, 1, None], pa.time32("s")),
            "large binary": pa.array([b"a", None, b""], pa.large_binary()),
            "fixed": pa.array([b"a", None, b"b"], pa.binary(1)),
            "null": pa.nulls(3),
            "wide decimal": pa.array([None, 1, 10**30], pa.decimal256(60, 5)),
            "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 5, None], pa.int8())),
            "map": pa.array([None, [("a", 1)], []], pa.map_(pa.string(), pa.int32())),
            "numbers by codes": pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), pa.array([2.5, 7.5])),
            "twice": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.uint16()), pa.array(["a", "a", None])),
            "flags by codes": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int64()), pa.array([True, False])),
        }
    )
    expected_columns = {
        "half": ("numbers", [1.5, None, -2.0]),
        "date64": ("times", [None, -1000, 86_400_001_000]),
        "seconds": ("times", [None, -1_000_000, 86_400_001_000_000]),
        "duration": ("duration", None),
        "time32": ("time of day", None),
        "large binary": ("binary", None),
        "fixed": ("binary", None),
        "null": ("numbers", [None] * 3),
        "wide decimal": ("numbers", [None, 1.0, 1e30]),
        "bool8": ("booleans", [0.0, 1.0, None]),
        "map": ("map", None),
        "numbers by codes": ("numbers", [7.5, None, 2.5]),
        "twice": ("texts", ["a", "a", None]),
        "flags by codes": ("booleans", [0.0, 1.0, 0.0]),
    }
    assert read_all(FrameReader(table), 2)[0] == expected_columns
    without = table.drop_columns(["numbers by codes", "twice", "flags by codes"])
    found, _ = read_all(ArrowReader(write(without, tmp_path / "a.arrow", "stream", rows=2)), 2)
    assert found == {name: expected_columns[name] for name in without.column_names}


@given(unscaled=st.lists(st.integers(-(10**38) + 1, 10**38 - 1)), scale=st.integers(1, 38))
def test_decimals_are_rounded_once(unscaled, scale):
    raw = b"".join(number.to_bytes(16, "little", signed=True) for number in unscaled)
    column = pa.Array.from_buffers(pa.decimal128(38, scale), len(unscaled), [None, pa.py_buffer(raw)])
    with tempfile.TemporaryDirectory() as folder:
        path = write(pa.table({"a": column}), Path(folder) / "a.arrow")
        found, _ = read_all(ArrowReader(path), 100)
    # Python divides whole numbers of any size to the nearest float.
    assert found.get("a", ("numbers", [])) == ("numbers", [number / 10**scale for number in unscaled])


def test_a_decimal_with_zeros_before_the_point(tmp_path):
    column = pa.array([120_000, None], pa.decimal128(6, -3))
    found, _ = read_all(ArrowReader(write(pa.table({"a": column}), tmp_path / "a.arrow")), 5)
    assert found["a"] == ("whole numbers", [120_000.0, None])


def test_codes_whose_meaning_is_no_number_for_us():
    meaning = pa.array([float("inf"), 1.0, float("-inf")])
    for codes, row in (([1, 1, 2, 0], 3), ([1, None, 1], None)):
        column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), meaning)
        table = pa.table({"a": column})
        if row is None:
            assert read_all(FrameReader(table), 9)[0]["a"][1] == [1.0, None, 1.0]
            continue
        with (
            FrameReader(table) as reader,
            pytest.raises(StreamError, match=f"row {row}: column 'a': .* minus infinity"),
        ):
            while reader.take(9) is not None:
                pass


def test_text_that_is_not_utf8(tmp_path):
    cells = pa.array([b"good", None, b"", b"good", b"\xff", b"good", b"\xfe"]).view(pa.string())
    path = write(pa.table({"a": cells}), tmp_path / "a.arrow", rows=100)
    for count in (1, 100):
        rows = 0
        with ArrowReader(path) as reader, pytest.raises(StreamError) as caught:
            while (batch := reader.take(count)) is not None:
                rows += batch.count
        assert rows == 4
        assert str(caught.value) == f"{path}, row 5: column 'a': text in UTF-8 was expected, and b'\\xff' was found"


def test_moments_out_of_range(tmp_path):
    for kind, cell in ((pa.timestamp("s"), 2**62), (pa.timestamp("us"), 2**63 - 1), (pa.date32(), -(2**31))):
        path = write(pa.table({"a": pa.array([0, None, cell], kind)}), tmp_path / "a.arrow")
        with ArrowReader(path) as reader, pytest.raises(StreamError, match="row 3: column 'a': the moment"):
            while reader.take(5) is not None:
                pass


def refused(path):
    with pytest.raises(StreamError) as caught, ArrowReader(path) as reader:
        while reader.take(1000) is not None:
            pass
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("words", [[5, 6, 7, 7] * 100, ["x", "y", "a longer one", "x"] * 100])
@pytest.mark.parametrize("how", list(WRITERS))
def test_dictionaries_are_refused(tmp_path, compression, words, how):
    """nanoarrow takes compressed ones as they are, and crashes on corrupt ones."""
    table = pa.table({"a": pa.array(words).dictionary_encode()})
    path = write(table, tmp_path / "a.arrow", how, rows=100, compression=compression)
    assert "a dictionary, as columns of categories have" in refused(path)
    assert "write the table as Parquet" in refused(path)


def test_a_dictionary_that_is_not_there(tmp_path):
    path = tmp_path / "a.arrow"
    with pa.ipc.new_stream(str(path), pa.schema([("a", pa.dictionary(pa.int32(), pa.string()))])):
        pass
    assert "a dictionary, as columns of categories have" in refused(str(path))


def test_what_nanoarrow_does_not_know(tmp_path):
    path = str(tmp_path / "a.arrow")
    for column in (pa.array(["a"], pa.string_view()), pa.RunEndEncodedArray.from_arrays([1], [2])):
        message = refused(write(pa.table({"a": column}), path))
        assert "it cannot be read as Arrow data (" in message
        assert "write the table as Parquet" in message
    pl.DataFrame({"a": ["x"]}).write_ipc(path)
    assert "write the table as Parquet" in refused(path)


def test_corrupt_and_truncated_files(tmp_path):
    path = tmp_path / "a.arrow"
    for how in WRITERS:
        whole = Path(write(pa.table({"a": np.arange(500.0), "b": ["x"] * 500}), path, how, rows=100)).read_bytes()
        for size in (0, 3, 8, 11, 16, 40, 300, len(whole) // 2):
            path.write_bytes(whole[:size])
            assert "it cannot be read as Arrow data (" in refused(str(path))
    path.write_bytes(b"no Arrow data at all")
    assert "it cannot be read as Arrow data (it is not Arrow data" in refused(str(path))
    assert "this is a directory" in refused(str(tmp_path))
    assert "there is no such file" in refused(str(tmp_path / "other.arrow"))


@given(data=st.data())
def test_changed_bytes_never_do_harm(data):
    table = pa.table(
        {"a": [1.0, 2.0, None], "b": ["x", "yy", None], "c": pa.array(["u", "v", "u"]).dictionary_encode()}
    )
    how = data.draw(st.sampled_from(list(WRITERS)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(write(table, Path(folder) / "a.arrow", how))
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        messages = []
        try:
            with ArrowReader(str(path)) as reader:
                while (batch := reader.take(2)) is not None:
                    plain(batch)
        except StreamError as error:
            messages.append(str(error))
        assert [message for message in messages if "\n" in message] == []


def test_a_file_that_changes(tmp_path):
    path = write(pa.table({"a": range(10)}), tmp_path / "a.arrow", "stream")
    with ArrowReader(path) as reader:
        with open(path, "ab") as file:
            file.write(b"more")
        with pytest.raises(StreamError, match="the file has changed while it was read"):
            reader.take(20)
