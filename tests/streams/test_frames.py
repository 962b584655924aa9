import datetime as dt
import math
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from afterwit.errors import InputError, StreamError
from afterwit.streams.frames import FrameReader
from cells import plain, read_all
from naive_typed_tables import CELLS, expected, tables

BLOCKS = (1, 3, 1000)
#: What pandas has no type of its own for, it keeps as objects.
KINDS_OF_PANDAS = tuple(kind for kind in CELLS if kind != pa.decimal128(12, 0))


def places(count):
    return [{"path": f"the DataFrame, row {i:,}"} for i in range(1, count + 1)]


def check(frame, wanted, count):
    for block in BLOCKS:
        reader = FrameReader(frame)
        assert reader.look(4).count == min(4, count)
        assert {name: kind for name, (kind, _) in plain(reader.look(1)).items()} == {
            name: kind for name, (kind, _) in wanted.items()
        }
        found, rows = read_all(reader, block)
        assert found == (wanted if count else {})
        assert rows == places(count)


@given(table=tables())
def test_tables_of_pyarrow(table):
    check(table, expected(table), table.num_rows)


@given(table=tables())
def test_frames_of_polars(table):
    frame = pl.from_arrow(table)
    check(frame, expected(table), table.num_rows)
    check(frame.lazy(), expected(table), table.num_rows)


@given(table=tables())
def test_relations_of_duckdb(table):
    with duckdb.connect() as connection:
        connection.register("rows", table)
        # A relation is asked again by each reader.
        for count in BLOCKS:
            found, _ = read_all(FrameReader(connection.sql("SELECT * FROM rows")), count)
            assert found == (expected(table) if table.num_rows else {})


@given(table=tables())
def test_frames_of_pandas_with_types_of_arrow(table):
    check(table.to_pandas(types_mapper=pd.ArrowDtype), expected(table), table.num_rows)


@given(table=tables(kinds=KINDS_OF_PANDAS))
def test_frames_of_pandas(table):
    wanted = expected(table)
    found, rows = read_all(FrameReader(table.to_pandas()), 3)
    assert rows == places(table.num_rows)
    for name, (kind, cells) in found.items():
        wanted_kind, wanted_cells = wanted[name]
        # Without a type for it, pandas makes floats of whole numbers, and knows nothing of a column without cells.
        everything_is_missing = all(cell is None for cell in table[name].to_pylist())
        if not everything_is_missing:
            assert kind.removeprefix("whole ") == wanted_kind.removeprefix("whole ")
            assert cells == wanted_cells


def one(cells, **options):
    """The column of a frame of pandas with one column."""
    found, _ = read_all(FrameReader(pd.DataFrame({"a": pd.Series(cells, **options)})), 2)
    return found["a"]


NAN = float("nan")
VIENNA = dt.timezone(dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("cells", "options", "wanted"),
    [
        (["x", None, "", "y", NAN, "x"], {"dtype": object}, ("texts", ["x", None, None, "y", None, "x"])),
        (["x", None, "", "y"], {"dtype": "str"}, ("texts", ["x", None, None, "y"])),
        (["x", None, "", "y"], {"dtype": "string[python]"}, ("texts", ["x", None, None, "y"])),
        (["x", None, "", "y"], {"dtype": "category"}, ("texts", ["x", None, None, "y"])),
        ([2, None, 1, 2], {"dtype": pd.CategoricalDtype([1, 2])}, ("whole numbers", [2.0, None, 1.0, 2.0])),
        ([1, None, 3], {"dtype": "Int64"}, ("whole numbers", [1.0, None, 3.0])),
        ([1, None, 3], {"dtype": "UInt8"}, ("whole numbers", [1.0, None, 3.0])),
        ([1.5, None, NAN], {"dtype": "Float32"}, ("numbers", [1.5, None, None])),
        ([True, None, False], {"dtype": "boolean"}, ("booleans", [1.0, None, 0.0])),
        ([True, False], {}, ("booleans", [1.0, 0.0])),
        ([True, None, False], {"dtype": object}, ("booleans", [1.0, None, 0.0])),
        ([1, None, 3], {"dtype": object}, ("whole numbers", [1.0, None, 3.0])),
        ([1, 2.5, None, Decimal("0.1")], {"dtype": object}, ("texts", ["1", "2.5", None, "0.1"])),
        ([1, 2.5, None], {"dtype": object}, ("numbers", [1.0, 2.5, None])),
        ([Decimal("0.1"), None], {"dtype": object}, ("numbers", [0.1, None])),
        ([3, "x", 2.5, 3.0, None, NAN, pd.NA, ""], {"dtype": object}, ("texts", ["3", "x", "2.5", "3", *[None] * 4])),
        ([True, "x", np.int64(7), np.float64(1e300)], {"dtype": object}, ("texts", ["True", "x", "7", "1e+300"])),
        ([None, None], {"dtype": object}, ("numbers", [None, None])),
        ([[1], None], {"dtype": object}, ("list", None)),
        ([{"a": 1}, None], {"dtype": object}, ("struct", None)),
        ([b"a"], {"dtype": object}, ("binary", None)),
        (["x", b"a"], {"dtype": object}, ("binary", None)),
        (["x", object()], {"dtype": object}, ("objects", None)),
        ([dt.time(1)], {"dtype": object}, ("time of day", None)),
        ([dt.timedelta(1)], {}, ("duration", None)),
        ([1j], {}, ("complex", None)),
        (pd.period_range("2020", periods=2, freq="D"), {}, ("period", None)),
        ([0.0, 1.0, NAN], {"dtype": pd.SparseDtype(float)}, ("numbers", [0.0, 1.0, None])),
        (pd.to_datetime(["1970-01-02", None]), {}, ("times", [86_400_000_000, None])),
        (pd.to_datetime(["1970-01-01", None]).as_unit("s"), {}, ("times", [0, None])),
        (pd.to_datetime(["1970-01-02"]).tz_localize("Europe/Vienna"), {}, ("times", [82_800_000_000])),
        ([dt.date(1970, 1, 2), None], {"dtype": object}, ("times", [86_400_000_000, None])),
        ([dt.datetime(1970, 1, 1, 1, tzinfo=VIENNA), pd.NaT], {"dtype": object}, ("times", [0, None])),
        ([dt.datetime(9999, 1, 1), dt.datetime(1970, 1, 1)], {"dtype": object}, ("times", [253370764800000000, 0])),
        ([np.datetime64("1970-01-01"), None], {"dtype": object}, ("times", [0, None])),
        ([pd.Timestamp("1970-01-01 00:00:00.000001999")], {"dtype": object}, ("times", [1])),
    ],
)
def test_columns_of_pandas(cells, options, wanted):
    assert one(cells, **options) == wanted


@pytest.mark.parametrize(
    ("cells", "options", "found"),
    [
        ([1, 2**53 + 1], {}, "9007199254740993"),
        ([1, 2**53 + 1, None], {"dtype": "Int64"}, "9007199254740993"),
        ([1, 2**64 - 1], {"dtype": "uint64"}, "18446744073709551615"),
        ([1, 10**30, None], {"dtype": object}, str(10**30)),
        ([1.0, math.inf], {}, "infinity"),
        ([1, -math.inf, 10**30], {"dtype": object}, "minus infinity"),
        ([1, -math.inf], {"dtype": "category"}, "minus infinity"),
    ],
)
def test_cells_that_are_no_numbers_for_us(cells, options, found):
    for count in (1, 9):
        with FrameReader(pd.DataFrame({"a": pd.Series(cells, **options)})) as reader:
            assert reader.take(count).count == 1
            with pytest.raises(StreamError) as caught:
                reader.take(count)
        assert str(caught.value).startswith("the DataFrame, row 2: column 'a': ")
        assert f"{found} was found" in str(caught.value)


@pytest.mark.parametrize("kind", ["int64", "Int64", "object"])
def test_whole_numbers_of_any_size_are_text_if_that_is_asked_for(kind):
    frame = pd.DataFrame({"a": pd.Series([2**53 + 1, 0, 2**53 + 1], dtype=kind)})
    found, _ = read_all(FrameReader(frame), 2, {"a": "text"})
    assert found["a"] == ("texts", [str(2**53 + 1), "0", str(2**53 + 1)])


def test_the_index_is_no_column_and_names_are_text():
    frame = pd.DataFrame({0: [1.0, 2.0], "b": [3.0, 4.0]}, index=[7, 7])
    found, rows = read_all(FrameReader(frame), 1)
    assert {name: cells for name, (_, cells) in found.items()} == {"0": [1.0, 2.0], "b": [3.0, 4.0]}
    assert rows == places(2)


def test_many_rows_of_text():
    words = [f"word {i % 1009}" for i in range(150_000)]
    for frame in (pd.DataFrame({"a": words}), pl.DataFrame({"a": words})):
        found, _ = read_all(FrameReader(frame), 70_001)
        assert found["a"] == ("texts", words)


def test_text_of_polars_in_slices():
    # Long texts are in buffers of their own, which a slice shares with the whole.
    words = [
        None if i % 5 == 0 else f"a text that is longer than twelve bytes {i}" if i % 2 else str(i) for i in range(500)
    ]
    frame = pl.concat([pl.DataFrame({"a": words[:300]}), pl.DataFrame({"a": words[300:]})], rechunk=False)
    found, _ = read_all(FrameReader(frame[100:450]), 7)
    assert found["a"] == ("texts", words[100:450])


def test_categories_of_polars():
    frame = pl.DataFrame(
        {
            "a": pl.Series(["x", None, "y", ""], dtype=pl.Categorical),
            "b": pl.Series(["v", None, "u", "v"], dtype=pl.Enum(["u", "v"])),
            "c": pl.Series([object()] * 4, dtype=pl.Object),
            "d": pl.Series([1, 2, 3, None], dtype=pl.Int128),
        }
    )
    found, _ = read_all(FrameReader(frame), 3)
    assert found["a"] == ("texts", ["x", None, "y", None])
    assert found["b"] == ("texts", ["v", None, "u", "v"])
    assert (found["c"], found["d"]) == (("binary", None), ("unknown", None))


def test_it_says_what_it_is():
    with FrameReader(pl.DataFrame({"b": [1], "a": [2]})) as reader:
        assert (reader.name, reader.names, reader.typed) == ("the DataFrame", ["b", "a"], True)
        assert (reader.size, reader.position, reader.skipped.count) == (None, 0, 0)
        reader.read_as({"a": "number"})
        assert list(reader.take(5).columns) == ["a"]


def test_what_is_no_table():
    for value in (None, 3, [[1, 2]], np.zeros((2, 2)), pd.Series([1]), pl.Series([1])):
        with pytest.raises(InputError, match="the table must be a DataFrame"):
            FrameReader(value)
    with pytest.raises(StreamError, match="different names"):
        FrameReader(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(StreamError, match="the column '1' occurs twice"):
        FrameReader(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(StreamError, match="one level of names"):
        FrameReader(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])))
    with pytest.raises(StreamError, match="the DataFrame: it cannot be read"):
        FrameReader(pl.LazyFrame({"a": [1]}).select("b"))
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT error('so') FROM range(9)")
        with pytest.raises(StreamError, match="the DataFrame: it cannot be read"), FrameReader(relation) as reader:
            reader.take(1)


def test_text_of_polars_at_the_length_that_is_kept_elsewhere():
    words = ["x" * length + end for length in (10, 11, 12) for end in "ab"]
    found, _ = read_all(FrameReader(pl.DataFrame({"a": words})), 4)
    assert found["a"] == ("texts", words)
