"""What a cell of a column means: the features it gives, by the kind of the column.

    number     ``price``                the number itself
    category   ``colour=red``           1
    boolean    ``paid=true``            1, as for a category of two words
    words      ``text^free``            how often the word occurs in the text, or 1 if only that is asked
    time       ``when.hour=13``         1, for each part that is asked

A missing cell gives no feature, or ``price is missing`` if that is asked. A record (a dict) is read cell by cell, a
block of rows column by column; both ask the same functions here for the features of a word, a number or a time.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from afterwit.errors import Words, invalid, shorten
from afterwit.streams._cells import boolean_of, number_as_text, number_of, time_of
from afterwit.streams.batch import Batch, Booleans, Column, Form, Numbers, Other, Texts, Times

Features = list[tuple[str, float]]

KINDS = ("number", "category", "boolean", "words", "time")
#: The parts of a time that can be features, and how each is computed from microseconds since 1970.
DAY = 86_400_000_000
PARTS = ("hour", "weekday", "month")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

#: What a reader that only knows text is asked to read a column as.
FORMS: dict[str, Form] = {
    "number": "number",
    "category": "text",
    "boolean": "boolean",
    "words": "text",
    "time": "time",
}
EXPECTED = {
    "number": "a number or nothing",
    "category": "a word, a number or nothing",
    "boolean": "true, false or nothing",
    "words": "text or nothing",
    "time": "a date or a moment such as 2024-01-31 13:45, or nothing",
}
#: So many words of a column are remembered.
MOST_MET = 100_000
WORD = re.compile(r"\w+")


class Coded(NamedTuple):
    """A column of a block: row i has the features ``lists[codes[i]]``, none if the code is -1, times ``scale[i]``."""

    codes: npt.NDArray[np.intp]
    lists: list[Features]
    scale: npt.NDArray[np.float64] | None = None


class NotThisError(Exception):
    """A cell is not what its column holds; what it is instead."""

    def __init__(self, found: Any) -> None:
        super().__init__(found)
        self.found = found


@dataclass(frozen=True)
class ColumnRule:
    """A column by its name and its kind.

    parts    of a time: which become features
    ngrams   of words: sequences of up to so many neighbouring words
    binary   of words: 1 for a word that occurs, however often
    missing  whether a missing cell gives the feature ``NAME is missing``
    """

    name: str
    kind: str
    parts: tuple[str, ...] = PARTS
    ngrams: int = 1
    binary: bool = False
    missing: bool = False

    @property
    def form(self) -> Form:
        return FORMS[self.kind]

    def as_data(self) -> dict[str, Any]:
        """The rule as plain data; what is as usual is left out."""
        data: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "time":
            data["parts"] = list(self.parts)
        if self.kind == "words":
            data |= {"ngrams": self.ngrams, "binary": self.binary}
        return {**data, "missing": True} if self.missing else data

    # ------------------------------------------------------------------ the features of one cell

    def of_word(self, text: str) -> Features:
        """Those of a text, as it is written, that is not empty."""
        if self.kind == "category":
            return [(f"{self.name}={text}", 1.0)]
        if self.kind == "words":
            return self._words(text)
        if self.kind == "boolean":
            truth = boolean_of(text)
            if truth is not None:
                return self.of_truth(truth)
        if self.kind == "time":
            time = time_of(text)
            if time is not None:
                return self.of_times(np.array([time], dtype="datetime64[us]")).lists[0]
        raise NotThisError(text)

    def of_truth(self, truth: bool) -> Features:
        """Those of true and false."""
        if self.kind == "number":
            return [(self.name, float(truth))]
        if self.kind == "boolean":
            return [(f"{self.name}={'true' if truth else 'false'}", 1.0)]
        if self.kind == "time":
            raise NotThisError(truth)
        return self.of_word("true" if truth else "false")

    def of_other_number(self, number: Any) -> Features:
        """Those of a number in a column of another kind: it is a word, written in one way only."""
        if self.kind in ("category", "words"):
            return self.of_word(number_as_text(number))
        raise NotThisError(Words(number_as_text(number)))

    def of_times(self, times: npt.NDArray[np.datetime64]) -> Coded:
        """Those of moments, none of which is missing: there are only so many hours of so many days."""
        if self.kind != "time":
            raise NotThisError(Words(str(times[0])))
        micro = times.astype("datetime64[us]").astype(np.int64)
        days = micro // DAY
        parts = {
            "hour": (micro - days * DAY) // 3_600_000_000,
            "weekday": (days + 3) % 7,
            "month": times.astype("datetime64[M]").astype(np.int64) % 12,
        }
        together = np.zeros(len(times), dtype=np.int64)
        for part in self.parts:
            together = together * 24 + parts[part]
        present, first, codes = np.unique(together, return_index=True, return_inverse=True)
        lists = [
            [(f"{self.name}.{part}={_shown_part(part, int(parts[part][i]))}", 1.0) for part in self.parts]
            for i in first.tolist()
        ]
        del present
        return Coded(codes.astype(np.intp), lists)

    def of_nothing(self) -> Features:
        """Those of a missing cell."""
        return [(f"{self.name} is missing", 1.0)] if self.missing else []

    def _words(self, text: str) -> Features:
        words = WORD.findall(text.lower())
        counts: dict[str, float] = {}
        for i in range(len(words)):
            for length in range(1, min(self.ngrams, len(words) - i) + 1):
                name = f"{self.name}^{' '.join(words[i : i + length])}"
                counts[name] = 1.0 if self.binary else counts.get(name, 0.0) + 1.0
        return list(counts.items())

    # ------------------------------------------------------------------ a cell of a record

    def of_cell(self, cell: Any) -> tuple[float, Features]:
        """The features of a value of Python, and what they are multiplied by."""
        if is_missing(cell) or (isinstance(cell, str) and cell == ""):
            return 1.0, self.of_nothing()
        try:
            return self._of_value(cell)
        except NotThisError as other:
            where = f"the value of {self.name}"
            raise invalid(where, EXPECTED[self.kind], other.found if type(cell) is str else cell) from None

    def _of_value(self, cell: Any) -> tuple[float, Features]:
        if isinstance(cell, (bool, np.bool_)):
            return 1.0, self.of_truth(bool(cell))
        if isinstance(cell, str):
            return self._of_number_in(cell) if self.kind == "number" else (1.0, self.of_word(str(cell)))
        if isinstance(cell, (datetime.date, np.datetime64)):
            return 1.0, self.of_times(np.array([moment(cell)])).lists[0]
        try:
            number = float(cell)
        except (TypeError, ValueError, OverflowError):
            raise NotThisError(cell) from None
        if not math.isfinite(number):
            raise invalid(f"the value of {self.name}", "a finite number", cell)
        if self.kind == "number":
            return number, [(self.name, 1.0)]
        return 1.0, self.of_other_number(cell)

    def _of_number_in(self, text: str) -> tuple[float, Features]:
        """Those of text in a column of numbers."""
        number = number_of(text)
        if number is None:
            raise NotThisError(text)
        return (1.0, self.of_nothing()) if math.isnan(number) else (number, [(self.name, 1.0)])

    # ------------------------------------------------------------------ a column of a block

    def of_column(self, column: Column, batch: Batch) -> Coded:
        """The features of a whole column."""
        if isinstance(column, Numbers) and self.kind == "number":
            return self._of_numbers(column.values)
        if isinstance(column, Times) and self.kind == "time":
            return self._of_moments(column.values)
        try:
            codes, cells = _distinct(column)
        except NotThisError as other:
            raise batch.refusal(0, self.name, EXPECTED[self.kind], str(other.found)) from None
        if isinstance(column, Texts) and self.kind == "number":
            return self._of_numbers(numbers_in(column, self.name, batch))
        if isinstance(column, Texts) and self.kind == "category":
            return self._with_missing(codes, self._of_categories(column.words), None)
        lists: list[Features] = []
        for code, cell in enumerate(cells):
            try:
                lists.append(self._of_distinct(column, cell))
            except NotThisError as other:
                found = shorten(other.found)
                row = int(np.argmax(codes == code))
                raise batch.refusal(row, self.name, EXPECTED[self.kind], found) from None
        return self._with_missing(codes, lists, None)

    def _of_categories(self, words: list[str]) -> list[Features]:
        """Those of each of many words, most of which have been met before."""
        met = self._met
        if len(met) > MOST_MET:
            met.clear()
        lists = [met.get(word) for word in words]
        for code, features in enumerate(lists):
            if features is None:
                lists[code] = met[words[code]] = self.of_word(words[code])
        return lists  # type: ignore[return-value]

    @cached_property
    def _met(self) -> dict[str, Features]:
        """The features of words that have been met: to make them again and again takes long."""
        return {}

    def _of_numbers(self, values: npt.NDArray[np.float64]) -> Coded:
        gone = np.isnan(values)
        lists: list[Features] = [[(self.name, 1.0)]]
        if not gone.any():
            return Coded(np.zeros(len(values), dtype=np.intp), lists, values)
        return self._with_missing(np.where(gone, -1, 0), lists, np.where(gone, 1.0, values))

    def _of_moments(self, values: npt.NDArray[np.datetime64]) -> Coded:
        gone = np.isnat(values)
        codes = np.full(len(values), -1, dtype=np.intp)
        found = self.of_times(values[~gone])
        codes[~gone] = found.codes
        return self._with_missing(codes, found.lists, None)

    def _with_missing(
        self, codes: npt.NDArray[np.intp], lists: list[Features], scale: npt.NDArray[np.float64] | None
    ) -> Coded:
        """Missing cells have a code of their own, if they have features."""
        if self.missing and (codes < 0).any():
            return Coded(np.where(codes < 0, len(lists), codes), [*lists, self.of_nothing()], scale)
        return Coded(codes, lists, scale)

    def _of_distinct(self, column: Column, cell: Any) -> Features:
        if isinstance(column, Texts):
            return self.of_word(cell)
        if isinstance(column, Booleans):
            return self.of_truth(bool(cell))
        if isinstance(column, Times):
            raise NotThisError(Words(str(cell)))
        return self.of_other_number(float(cell))


def _distinct(column: Column) -> tuple[npt.NDArray[np.intp], Any]:
    """The different cells of a column, and which of them each row has; -1 where it is missing."""
    if isinstance(column, Texts):
        return column.codes.astype(np.intp), column.words
    if isinstance(column, Other):
        raise NotThisError(Words(column.kind))
    gone = np.isnat(column.values) if isinstance(column, Times) else np.isnan(column.values)
    cells, codes = np.unique(column.values[~gone], return_inverse=True)
    all_codes = np.full(len(column.values), -1, dtype=np.intp)
    all_codes[~gone] = codes
    return all_codes, cells if isinstance(column, Times) else cells.tolist()


def numbers_in(column: Texts, name: str, batch: Batch) -> npt.NDArray[np.float64]:
    """A column of text whose cells are numbers, NaN where one is missing."""
    read = [number_of(word) for word in column.words]
    # Not every word needs to occur.
    wrong = np.array([*(number is None for number in read), False])[column.codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        raise batch.refusal(row, name, EXPECTED["number"], shorten(column.words[column.codes[row]]))
    return np.array([*read, np.nan], dtype=np.float64)[column.codes]


def is_missing(cell: Any) -> bool:
    """Whether a value stands for nothing: None, NaN, NaT, and what pandas has for it."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return False


def _shown_part(part: str, number: int) -> str:
    return WEEKDAYS[number] if part == "weekday" else str(number + (part == "month"))


def moment(cell: Any) -> np.datetime64:
    """A date or a moment of Python as numpy has it, in UTC."""
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


def product(one: Coded, other: Coded) -> Coded:
    """The interaction of two columns: every feature of one times every feature of the other."""
    width = len(other.lists)
    pairs = np.where((one.codes < 0) | (other.codes < 0), -1, one.codes * width + other.codes)
    present, codes = np.unique(pairs, return_inverse=True)
    gone = int(len(present) > 0 and present[0] < 0)
    lists = [products(one.lists[pair // width], other.lists[pair % width]) for pair in present[gone:].tolist()]
    scale = None
    if one.scale is not None or other.scale is not None:
        scale = np.ones(len(codes)) if one.scale is None else one.scale
        scale = scale if other.scale is None else scale * other.scale
    return Coded(codes.astype(np.intp) - gone, lists, scale)


def products(one: Features, other: Features) -> Features:
    """Every feature of one times every feature of the other."""
    return [(f"{a}*{b}", x * y) for a, x in one for b, y in other]
