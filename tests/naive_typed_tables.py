"""What tables of pyarrow hold, cell by cell, and random ones: imports nothing from afterwit."""

import math
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

LARGEST = 2**53
#: Type -> what a cell may be; None is missing.
CELLS = {
    **{kind: st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits, kind in ((8, pa.int8()), (16, pa.int16()))},
    **{kind: st.integers(0, 2**bits - 1) for bits, kind in ((8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()))},
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-LARGEST, LARGEST),
    pa.uint64(): st.integers(0, LARGEST),
    pa.float32(): st.floats(width=32, allow_infinity=False),
    pa.float64(): st.floats(allow_infinity=False),
    pa.decimal128(9, 2): st.decimals(-(10**6), 10**6, places=2),
    pa.decimal128(30, 11): st.decimals(-(10**18), 10**18, places=11),
    pa.decimal128(12, 0): st.integers(-(10**11), 10**11).map(Decimal),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    pa.large_string(): st.sampled_from(
        ["", "a", "ä", "aa", "eight...", "nine.....", "a text of twenty-one", "x" * 300]
    ),
    pa.dictionary(pa.int32(), pa.string()): st.sampled_from(["red", "green", "", "a longer name of a colour"]),
    pa.date32(): st.integers(-40_000, 80_000),
    **{
        pa.timestamp(unit, zone): st.integers(-(2**31), 2**32).map(lambda s, unit=unit: s * PER_SECOND[unit] + s % 1000)
        for unit, zone in (("ms", None), ("us", None), ("ns", None), ("us", "UTC"), ("ms", "Europe/Vienna"))
    },
    pa.time64("us"): st.integers(0, 86_399_999_999),
    pa.list_(pa.int32()): st.lists(st.integers(0, 9), max_size=3),
    pa.struct([("a", pa.int32())]): st.fixed_dictionaries({"a": st.integers(0, 9)}),
    pa.binary(): st.binary(max_size=3),
}
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@st.composite
def tables(draw, most_rows=30, kinds=tuple(CELLS)):
    """A table of pyarrow with missing cells."""
    rows = draw(st.integers(0, most_rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6))
    columns = {}
    for i, kind in enumerate(chosen):
        cells = st.one_of(st.none(), CELLS[kind])
        columns[f"column {i}"] = pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


def expected(table):
    """Name -> what kind of column it is, and its cells: None, a float, a text, or microseconds since 1970."""
    return {name: _column(column) for name, column in zip(table.column_names, table.columns, strict=True)}


def _column(column):
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind, column = kind.value_type, column.cast(kind.value_type)
    if pa.types.is_date32(kind):
        return "times", [_times(cell, 86_400_000_000, 1) for cell in column.cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(kind):
        cells = column.cast(pa.int64()).to_pylist()
        return "times", [_times(cell, 10**6, PER_SECOND[kind.unit]) for cell in cells]
    if pa.types.is_boolean(kind):
        return "booleans", [None if cell is None else float(cell) for cell in column.to_pylist()]
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return "whole numbers", [None if cell is None else float(cell) for cell in column.to_pylist()]
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numbers", [None if cell is None or math.isnan(cell) else float(cell) for cell in column.to_pylist()]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "texts", [cell or None for cell in column.to_pylist()]
    return {"list": "list", "struct": "struct", "binary": "binary"}.get(str(kind).split("<")[0], "time of day"), None


def _times(cell, times, by):
    return None if cell is None else cell * times // by


def in_order(cells):
    """The places of cells in ascending order: a stable sort that looks for the smallest again and again."""
    left = list(range(len(cells)))
    places = []
    while left:
        best = left[0]
        for i in left[1:]:
            if cells[i] is not None and (cells[best] is None or cells[i] < cells[best]):
                best = i
        left.remove(best)
        places.append(best)
    return places
