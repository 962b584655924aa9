"""Columns from streams of Arrow record batches: whatever has ``__arrow_c_stream__``, by nanoarrow.

    integers, floats, decimals        numbers; NaN and null are missing
    truth values                      booleans
    strings, dictionaries of strings  text; null and "" are missing
    dates, timestamps                 times, in UTC if they have a zone

Everything else is `Other`. A float has no place for infinity as a feature, nor for a whole number beyond 2^53: such a
cell is an error. Only a column of whole numbers that is asked for as text may hold larger ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import nanoarrow
import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, shorten
from afterwit.streams._cells import LARGEST_WHOLE, TAKE_AS_NAMES
from afterwit.streams._parts import Wrong, joined, with_values
from afterwit.streams._words import encode, in_order_of_first
from afterwit.streams.batch import Booleans, Column, Form, Numbers, Other, Texts, Times

INTEGERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8"}
FLOATS = {"e": "f2", "f": "f4", "g": "f8"}
#: Format -> bytes of an offset.
STRINGS = {"u": 4, "U": 8}
BINARY = {"z": 4, "Z": 8}
#: Format, up to the zone -> unit of the moments and bytes of one.
MOMENTS = {
    "tdD": ("D", 4),
    "tdm": ("ms", 8),
    "tss": ("s", 8),
    "tsm": ("ms", 8),
    "tsu": ("us", 8),
    "tsn": ("ns", 8),
}
MICROSECONDS = {"D": 86_400_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
#: Beginning of a format -> what it is.
OTHERS = {
    "tt": "time of day",
    "tD": "duration",
    "ti": "interval",
    "+m": "map",
    "+s": "struct",
    "+u": "union",
    "+r": "runs",
    "+": "list",
    "z": "binary",
    "Z": "binary",
    "vz": "binary",
    "w": "binary",
}
TOO_LARGE = (
    f"a whole number beyond 2^53 ({LARGEST_WHOLE:,}) has no exact place among numbers, and {{}} was found; "
    f"{TAKE_AS_NAMES}"
)
INFINITE = "a finite number or nothing was expected, and {} was found; replace it or leave the column out"
OUTSIDE = "the moment {} is outside what 64 bits of microseconds hold; replace it or leave the column out"
NOT_UTF8 = "text in UTF-8 was expected, and {} was found"
#: What nanoarrow raises, and DuckDB behind it.
FAILURES = (RuntimeError, ValueError, TypeError, OSError, MemoryError, duckdb.Error)
NO_SUCH_PLACE = "the data is corrupt: a cell is said to be where the column has no data"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some rows of an Arrow array: what its buffers hold of them."""

    schema: Any
    array: Any
    start: int
    count: int

    @property
    def format(self) -> str:
        return str(self.schema.format)

    def bytes_of(self, buffer: int) -> npt.NDArray[np.uint8]:
        found = self.array.view().buffer(buffer)
        return np.frombuffer(found, dtype=np.uint8) if found.size_bytes else np.empty(0, dtype=np.uint8)

    def values(self, kind: str, buffer: int = 1, more: int = 0) -> npt.NDArray[Any]:
        """One number for each row and some more at the end, such as the last offset."""
        size = np.dtype(kind).itemsize
        start = (self.array.offset + self.start) * size
        stop = start + (self.count + more) * size
        content = self.bytes_of(buffer)
        return content[start:stop].view(kind) if len(content) >= stop else _corrupt()

    def bits(self, buffer: int) -> npt.NDArray[np.bool_]:
        first = self.array.offset + self.start
        content = self.bytes_of(buffer)[first // 8 : (first + self.count + 7) // 8]
        bits = np.unpackbits(content, bitorder="little")[first % 8 : first % 8 + self.count]
        return bits.view(np.bool_) if len(bits) == self.count else _corrupt()

    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Which rows are null; None if none is."""
        if self.array.null_count == 0 or not self.array.view().buffer(0).size_bytes:
            return None
        return ~self.bits(0)


class _CorruptError(Exception):
    """Offsets or codes that point nowhere."""


def _corrupt() -> Any:
    raise _CorruptError


def kind_of(schema: Any) -> Column:
    """The empty column that says what kind of column this is."""
    form = str(schema.format)
    if schema.dictionary is not None:
        return kind_of(schema.dictionary)
    if _is_flag(schema) or form == "b":
        return Booleans(np.empty(0))
    if form in INTEGERS or form in FLOATS or form.startswith("d:") or form == "n":
        return Numbers(np.empty(0), whole=form in INTEGERS or (form.startswith("d:") and _scale(form)[0] <= 0))
    if form in STRINGS or form == "vu":
        return Texts(np.empty(0, dtype=np.int32), [])
    if form[:3] in MOMENTS:
        return Times(np.empty(0, dtype="datetime64[us]"))
    return Other(next((word for beginning, word in OTHERS.items() if form.startswith(beginning)), "unknown"))


def _is_flag(schema: Any) -> bool:
    """Whether it is the extension type with a byte for each truth value."""
    return bool(schema.metadata) and dict(schema.metadata.items()).get(b"ARROW:extension:name") == b"arrow.bool8"


def read_stretch(stretch: Stretch, form: Form | None = None) -> tuple[Column, Wrong | None]:
    """The rows as a column, and the first cell that cannot be handed over, which is missing there."""
    kind = kind_of(stretch.schema)
    if isinstance(kind, Other):
        return kind, None
    if stretch.schema.dictionary is not None:
        return _dictionary(stretch, form)
    if isinstance(kind, Booleans):
        bits = stretch.values("i1") != 0 if _is_flag(stretch.schema) else stretch.bits(1)
        return Booleans(_without(stretch.missing(), bits.astype(np.float64))), None
    if isinstance(kind, Texts):
        return _texts(stretch)
    if isinstance(kind, Times):
        unit, size = MOMENTS[stretch.format[:3]]
        return moments(stretch.values(f"<i{size}").astype(np.int64), unit, stretch.missing())
    if stretch.format in INTEGERS:
        return whole_numbers(stretch.values("<" + INTEGERS[stretch.format]), stretch.missing(), form)
    if stretch.format in FLOATS:
        return numbers(_without(stretch.missing(), stretch.values("<" + FLOATS[stretch.format]).astype(np.float64)))
    if stretch.format == "n":
        return Numbers(np.full(stretch.count, np.nan)), None
    return _decimals(stretch)


def _without(missing: npt.NDArray[np.bool_] | None, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if missing is not None:
        values[missing] = np.nan
    return values


def _first(wrong: npt.NDArray[np.bool_], message: str, cell: Callable[[int], Any]) -> Wrong | None:
    """The first of the cells that are wrong; most columns have none."""
    if not wrong.any():
        return None
    row = int(np.argmax(wrong))
    return Wrong(row, message.format(cell(row)))


def whole_numbers(
    raw: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None, form: Form | None
) -> tuple[Column, Wrong | None]:
    """A column of integers of any width."""
    if form == "text":
        return _numerals(raw, missing), None
    values = _without(missing, raw.astype(np.float64))
    if raw.itemsize < 8:
        return Numbers(values, whole=True), None
    wrong = (raw > LARGEST_WHOLE) | (raw < -LARGEST_WHOLE if raw.dtype.kind == "i" else False)
    if missing is not None:
        wrong &= ~missing
    values[wrong] = np.nan
    return Numbers(values, whole=True), _first(wrong, TOO_LARGE, lambda row: int(raw[row]))


def _numerals(raw: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None) -> Texts:
    """Whole numbers as text: the names of things may have more digits than a float."""
    here = np.arange(len(raw)) if missing is None else np.flatnonzero(~missing)
    codes = np.full(len(raw), -1, dtype=np.int32)
    codes[here], first = in_order_of_first(raw[here])
    return Texts(codes, [str(value) for value in raw[here[first]].tolist()])


def numbers(values: npt.NDArray[np.float64]) -> tuple[Column, Wrong | None]:
    """A column of floats: an array that is the caller's no more."""
    wrong = np.isinf(values)
    found = _first(wrong, INFINITE, lambda row: "minus infinity" if values[row] < 0 else "infinity")
    values[wrong] = np.nan
    return Numbers(values), found


def _scale(form: str) -> tuple[int, int]:
    """How many digits of a decimal are behind the point, and how many bits it has."""
    numbers = [int(part) for part in form[2:].split(",")]
    return numbers[1], numbers[2] if len(numbers) > 2 else 128


def _decimals(stretch: Stretch) -> tuple[Column, Wrong | None]:
    scale, bits = _scale(stretch.format)
    size = bits // 8
    raw = stretch.values(f"V{size}")
    missing = stretch.missing()
    limbs = raw.view("<i4" if size == 4 else "<i8").reshape(len(raw), max(1, size // 8))
    lowest = limbs[:, 0].astype(np.int64)
    # Up to 2^53, and with a power of ten that is a float too, the quotient of floats is the nearest one.
    small = (np.abs(lowest) <= LARGEST_WHOLE) & (limbs[:, 1:] == (lowest >> 63)[:, None]).all(axis=1)
    values = lowest / 10.0**scale if 0 <= scale <= 22 else np.empty(len(raw))
    exact = small if 0 <= scale <= 22 else np.zeros(len(raw), dtype=np.bool_)
    present = np.ones(len(raw), dtype=np.bool_) if missing is None else ~missing
    wrong = np.zeros(len(raw), dtype=np.bool_)
    unscaled = {}
    for row in np.flatnonzero(present & ~exact).tolist():
        number = int.from_bytes(raw[row].tobytes(), "little", signed=True)
        if scale > 0:
            values[row] = number / 10**scale
            continue
        unscaled[row] = number * 10**-scale
        wrong[row] = abs(unscaled[row]) > LARGEST_WHOLE
        values[row] = np.nan if wrong[row] else unscaled[row]
    return Numbers(_without(missing, values), whole=scale <= 0), _first(wrong, TOO_LARGE, unscaled.__getitem__)


def moments(
    raw: npt.NDArray[np.int64], unit: str, missing: npt.NDArray[np.bool_] | None
) -> tuple[Column, Wrong | None]:
    """A column of days, seconds, or parts of seconds since 1970."""
    if unit == "ns":
        since = raw // 1000
        wrong = np.zeros(len(raw), dtype=np.bool_)
    else:
        largest = (2**63 - 2) // MICROSECONDS[unit]
        # The largest and the smallest of all mean infinity for some databases.
        wrong = (raw > largest) | (raw < -largest)
        since = np.where(wrong, 0, raw) * MICROSECONDS[unit]
    if missing is not None:
        wrong &= ~missing
    values = since.view("datetime64[us]")
    values[wrong if missing is None else wrong | missing] = np.datetime64("NaT")
    return Times(values), _first(wrong, OUTSIDE, lambda row: f"{raw[row]:,} {unit} after 1970")


def _texts(stretch: Stretch) -> tuple[Column, Wrong | None]:
    data, starts, lengths = _views(stretch) if stretch.format == "vu" else _strings(stretch)
    missing = stretch.missing()
    if missing is not None:
        lengths = np.where(missing, 0, lengths)
    if len(lengths) and (
        int(lengths.min()) < 0
        or int(np.where(lengths > 0, starts, 0).min()) < 0
        or int(np.where(lengths > 0, starts + lengths, 0).max()) > len(data)
    ):
        _corrupt()
    codes, words, rows = encode(data, starts, lengths)
    try:
        return Texts(codes, [word.decode() for word in words]), None
    except UnicodeDecodeError:
        return _not_utf8(codes, words, rows)


def _not_utf8(
    codes: npt.NDArray[np.int32], words: list[bytes], rows: npt.NDArray[np.int64]
) -> tuple[Column, Wrong | None]:
    """The words are in the order of the rows: those before the first that is wrong stay."""
    good: list[str] = []
    wrong = None
    for word, row in zip(words, rows.tolist(), strict=True):
        try:
            good.append(word.decode())
        except UnicodeDecodeError:
            wrong = Wrong(row, NOT_UTF8.format(repr(word[:40])))
            break
    return Texts(np.where(codes < len(good), codes, -1).astype(np.int32), good), wrong


def _strings(stretch: Stretch) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The bytes, and where each text starts and how long it is."""
    if not stretch.count:
        return np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    offsets = stretch.values(f"<i{(STRINGS | BINARY)[stretch.format]}", more=1).astype(np.int64)
    return stretch.bytes_of(2), offsets[:-1], np.diff(offsets)


def _views(stretch: Stretch) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """As `_strings`: texts of at most 12 bytes are beside their length, longer ones in further buffers."""
    raw = stretch.values("V16").view(np.uint8)
    fields = raw.view("<i4").reshape(-1, 4)
    lengths = fields[:, 0].astype(np.int64)
    starts = 16 * np.arange(stretch.count, dtype=np.int64) + 4
    pieces = [raw]
    end = len(raw)
    far = lengths > 12
    missing = stretch.missing()
    if missing is not None:
        far &= ~missing
    for buffer in np.unique(fields[far, 2]).tolist():
        if not 0 <= buffer < stretch.array.n_buffers - 3:
            _corrupt()
        here = far & (fields[:, 2] == buffer)
        offsets = fields[here, 3].astype(np.int64)
        lowest, highest = int(offsets.min()), int((offsets + lengths[here]).max())
        content = stretch.bytes_of(buffer + 2)
        if lowest < 0 or highest > len(content):
            _corrupt()
        starts[here] = end + offsets - lowest
        pieces.append(content[lowest:highest])
        end += highest - lowest
    return np.concatenate(pieces), starts, lengths


def _dictionary(stretch: Stretch, form: Form | None) -> tuple[Column, Wrong | None]:
    """A code for each row, and a table of what the codes mean."""
    codes = stretch.values("<" + INTEGERS[stretch.format]).astype(np.int64)
    missing = stretch.missing()
    if missing is not None:
        codes = np.where(missing, -1, codes)
    table = stretch.array.dictionary
    if int(codes.max(initial=-1)) >= table.length or int(codes.min(initial=0)) < (0 if missing is None else -1):
        _corrupt()

    def read(start: int, count: int) -> tuple[Column, Wrong | None]:
        return read_stretch(Stretch(stretch.schema.dictionary, table, start, count), form)

    meaning, wrong = read(0, table.length)
    return looked_up(meaning, codes), wrong and first_wrong(codes, lambda code: read(code, 1)[1])


def looked_up(meaning: Column, codes: npt.NDArray[np.int64]) -> Column:
    """What codes mean by a column with the meaning of each; -1 is missing."""
    if isinstance(meaning, Other):
        return meaning
    if not isinstance(meaning, Texts):
        missing = np.array([np.datetime64("NaT") if isinstance(meaning, Times) else np.nan], meaning.values.dtype)
        return with_values(meaning, np.concatenate([meaning.values, missing])[codes])
    # Not every word occurs: only those that do are kept.
    words = np.append(meaning.codes, np.int32(-1))[codes]
    here = np.flatnonzero(words >= 0)
    new = np.full(len(codes), -1, dtype=np.int32)
    new[here], first = in_order_of_first(words[here])
    return Texts(new, [meaning.words[code] for code in words[here[first]].tolist()])


def first_wrong(codes: npt.NDArray[np.int64], wrong_of: Callable[[int], Wrong | None]) -> Wrong | None:
    """The first row whose code means something that cannot be handed over: asked of one code after the other."""
    for row in np.sort(np.unique(codes, return_index=True)[1]).tolist():
        wrong = wrong_of(int(codes[row])) if codes[row] >= 0 else None
        if wrong is not None:
            return Wrong(row, wrong.message)
    return None


def read_column(source: Any, form: Form | None) -> tuple[Column, Wrong | None]:
    """All rows of a stream that is a single column."""
    stream = nanoarrow.c_array_stream(source)
    schema = stream.get_schema()
    found: list[Column] = []
    wrong, rows = None, 0
    for array in stream:
        column, here = read_stretch(Stretch(schema, array, 0, array.length), form)
        if wrong is None and here is not None:
            wrong = Wrong(rows + here.row, here.message)
        found.append(column)
        rows += array.length
    stream.release()
    return joined(found or [kind_of(schema)]), wrong


class ArrowPart:
    """A record batch."""

    def __init__(self, path: str, schema: Any, array: Any) -> None:
        self.count = int(array.length)
        self._path = path
        self._schema = schema
        self._array = array

    def read(self, column: int, form: Form | None, start: int, stop: int) -> tuple[Column, Wrong | None]:
        schema = self._schema.child(column)
        stretch = Stretch(schema, self._array.child(column), self._array.offset + start, stop - start)
        try:
            return read_stretch(stretch, form)
        except (_CorruptError, RuntimeError):  # the second is nanoarrow's, of a buffer that cannot be
            raise StreamError(f"column {shorten(schema.name)}: {NO_SUCH_PLACE}", path=self._path) from None

    def pieces(self, column: int) -> npt.NDArray[np.uint8]:
        """All bytes of a column of strings or of binary data, one after the other."""
        stretch = Stretch(self._schema.child(column), self._array.child(column), self._array.offset, self.count)
        data, starts, lengths = _strings(stretch)
        return data[starts[0] : starts[-1] + lengths[-1]] if self.count else data


class ArrowParts:
    """The record batches of a stream.

    explain  makes the sentence of what goes wrong in whatever produces them
    run      calls what may take long
    dictionaries  whether columns may have one
    """

    def __init__(
        self,
        path: str,
        source: Any,
        explain: Callable[[Exception], StreamError],
        run: Callable[[Callable[[], Any]], Any] = lambda work: work(),
        dictionaries: bool = True,
    ) -> None:
        self._path = path
        self._explain = explain
        self._run = run
        try:
            self._stream = run(lambda: nanoarrow.c_array_stream(source))
            self._schema = self._stream.get_schema()
            if self._schema.format != "+s":
                raise TypeError("it is one column, not a table")
            children = [self._schema.child(i) for i in range(self._schema.n_children)]
            if not dictionaries and any(child.dictionary is not None for child in children):
                raise TypeError("a dictionary, as columns of categories have, is not read safely by nanoarrow")
            self._columns = [(child.name or "", kind_of(child)) for child in children]
        except FAILURES as error:
            raise explain(error) from None

    def columns(self) -> list[tuple[str, Column]]:
        """The names, with empty columns that say what kind each is."""
        return self._columns

    def __iter__(self) -> Iterator[ArrowPart]:
        while True:
            try:
                array = self._run(self._stream.get_next)
            except StopIteration:
                return
            except FAILURES as error:
                raise self._explain(error) from None
            yield ArrowPart(self._path, self._schema, array)

    def close(self) -> None:
        if self._stream.is_valid():
            self._stream.release()
