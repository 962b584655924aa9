r"""Tables from JSON lines: one object a line, plain or compressed. The values say what the columns are.

>>> import io
>>> reader = JsonLinesReader(io.BytesIO(b'{"n": 1, "s": "x"}\n{"s": "y", "n": 2.5, "l": [1]}\n'))
>>> reader.look(1000).columns["l"]
Other(kind='list')
>>> reader.names
['n', 's', 'l']
>>> reader.read_as({"n": "number", "s": "text"})
>>> reader.take(10).columns["n"].values.tolist()
[1.0, 2.5]

Keys may be in any order and may be absent: an absent key, null and "" are missing. A key that none of the first rows
has is a mistake, unless its column was asked for or it is to be ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, Words, invalid, shorten
from afterwit.streams._blocks import BLOCK, Block, BlockReader, Problem, RawBlock
from afterwit.streams._bytes import NOT_UTF8
from afterwit.streams._cells import (
    A_TIME,
    LARGEST_WHOLE,
    NO_TIME,
    TAKE_AS_NAMES,
    boolean_of,
    number_as_text,
    number_of,
    times_of,
)
from afterwit.streams.batch import ROWS_TO_LOOK_AT, Batch, Booleans, Column, Form, Numbers, Other, Texts, Times

OR_MISSING = 'or null or "" for a missing one'
EXPECTED = {
    "number": f"a finite number was expected, a whole one of at most {LARGEST_WHOLE:,}, {OR_MISSING}",
    "boolean": f"true or false was expected, {OR_MISSING}",
    "text": f"a text, a finite number, true or false was expected, {OR_MISSING}",
    "time": A_TIME,
}
ARRAY = (
    "one JSON object a line was expected; found an array (jq -c '.[]' FILE writes its objects one a line, and "
    "--sql \"SELECT * FROM 'FILE'\" reads it as it is)"
)

Mask = npt.NDArray[np.bool_]


class _Literal(str):
    """NaN or Infinity, which Python reads but JSON does not have."""

    __slots__ = ()


class _Repeated(Exception):  # noqa: N818 - it carries the key to where the line is known
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Repeated(next(key for i, key in enumerate(keys) if key in keys[:i]))
    return found


_scan = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_Literal).scan_once  # type: ignore[attr-defined]


class JsonLinesReader(BlockReader):
    """One pass over JSON lines: `TableReader` says how it is used. ``names`` are known once it has looked.

    ignore    keys to leave out
    on_error  "stop" at the first row that cannot be read, or "skip" such rows and count them
    on_block  is told the position whenever a block begins
    block     how many bytes are read and parsed at once
    kept      whether all of it will be held in memory
    """

    typed = True

    def __init__(
        self,
        source: Any,
        *,
        ignore: Sequence[str] = (),
        on_error: str = "stop",
        on_block: Callable[[int], None] | None = None,
        block: int = BLOCK,
        kept: bool = False,
    ) -> None:
        if isinstance(ignore, str) or not all(isinstance(key, str) for key in ignore):
            raise invalid("ignore", "a list of keys", ignore)
        super().__init__(source, on_error, on_block, block, workers=1, kept=kept)
        self._ignore = frozenset(ignore)
        self._forms: dict[str, Form] | None = None
        self._known: frozenset[str] = frozenset()
        try:
            beginning = self._beginning(bytes.strip)
            content = beginning.lstrip()
            if content.startswith(b"["):
                line = 1 + beginning.count(b"\n", 0, len(beginning) - len(content))
                raise StreamError(ARRAY, path=self.name, line=line)
            self._raws = self._cut(beginning, lambda piece: piece.rfind(b"\n") + 1 or -1, str)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------ the protocol

    def look(self, rows: int) -> Batch:
        """The first rows, at most so many, each column as what its values are."""
        self._check_not_begun()
        found: list[dict[str, Any]] = []
        lines: list[int] = []
        at, ends = 0, self._line
        failure: StreamError | None = None
        while len(found) < rows and failure is None:
            if at == len(self._held):
                raw = next(self._raws, None)
                if raw is None:
                    break
                self._held.append(raw)
            for row, line, problem in self._rows(self._held[at]):
                if problem is None:
                    found.append(row)
                    lines.append(line + ends)
                elif problem.fatal or not self._skip:
                    failure = self._error(problem, ends)
                if len(found) == rows or failure is not None:
                    break
            ends += self._held[at].data.count(b"\n")
            at += 1
        self.names = [name for name in dict.fromkeys(key for row in found for key in row) if name not in self._ignore]
        strange = next((name for name in self.names if not _is_text(name)), None)
        if strange is not None:
            raise StreamError(f"every key was expected to be text; found {shorten(strange)}", path=self.name)
        block = Block({}, np.array(lines, dtype=np.int64), 0)
        wrong: dict[str, Mask] = {}
        forms: dict[str, Form] = {}
        for name in self.names:
            values = [row.get(name) for row in found]
            form = _form_of(values)
            if isinstance(form, Other):
                block.columns[name] = form
                continue
            forms[name] = form
            block.columns[name], bad = _column(values, form)
            if bad is not None:
                wrong[name] = bad
        if wrong:
            self._leave_out(block, wrong, lambda name, row: _unexpected(name, forms[name], found[row][name]))
            if not self._skip:
                failure = self._error(block.problems[0], 0)
        if failure is not None:
            raise failure
        self._set_forms(forms)
        return Batch(self.name, len(block.lines), block.columns, 1, block.lines)

    def read_as(self, forms: dict[str, Form]) -> None:
        """Which columns ``take`` hands over, and as what; also such as no row has had so far."""
        self._check_not_begun()
        for form in forms.values():
            if form not in EXPECTED:
                raise invalid("forms", f"one of {', '.join(EXPECTED)} for each column", form)
        self._set_forms(dict(forms))

    def _set_forms(self, forms: dict[str, Form]) -> None:
        self._forms = forms
        self._known = self._ignore.union(self.names, forms)

    # ------------------------------------------------------------------ blocks

    def _blocks(self) -> Iterator[Block]:
        if self._forms is None:
            self.look(ROWS_TO_LOOK_AT)
        return self._parsed(self._parse)

    def _rows(self, raw: RawBlock) -> Iterator[tuple[dict[str, Any], int, Problem | None]]:
        """Every row of a block and its line, or what is wrong with it."""
        if raw.problem is not None:
            yield {}, 0, raw.problem
            return
        row: Any
        number = 0
        for line, content in enumerate(raw.data.split(b"\n")):
            reason = ""
            row = {}
            try:
                text = content.decode().strip(" \t\r")
                if not text:
                    continue
                row, end = _scan(text, 0)
                if type(row) is not dict:
                    reason = f"one JSON object a line was expected; found {shorten(text)}"
                elif end < len(text):
                    reason = f"one JSON object a line was expected; found more behind it: {shorten(text[end:])}"
            except UnicodeDecodeError:
                reason = NOT_UTF8
            except _Repeated as error:
                reason = f"every key was expected at most once in an object; found {shorten(error.args[0])} twice"
            except RecursionError:
                reason = "one JSON object a line was expected; found too many objects within each other"
            except (ValueError, StopIteration) as error:
                where = error.pos if isinstance(error, json.JSONDecodeError) else getattr(error, "value", None)
                place = "" if where is None else f" at character {where + 1:,}"
                reason = f"one JSON object a line was expected; found something else{place}: {shorten(text)}"
            if reason:
                yield {}, line, Problem(number, line, reason)
            else:
                yield row, line, None
                number += 1

    def _parse(self, raw: RawBlock) -> Block:
        assert self._forms is not None
        rows: list[dict[str, Any]] = []
        lines: list[int] = []
        problems: list[Problem] = []
        known = self._known
        for row, line, found in self._rows(raw):
            problem = found
            if problem is None and not row.keys() <= known:
                key = next(key for key in row if key not in known)
                reason = f"the key {shorten(key)} is in none of the first rows"
                remedy = f"leave it out with --ignore {key}"
                problem = Problem(0, line, f"{reason}; {remedy}")
            if problem is None:
                rows.append(row)
                lines.append(line)
                continue
            problems.append(problem._replace(row=len(rows)))
            if not self._skip:
                break
        block = Block({}, np.array(lines, dtype=np.int64), raw.data.count(b"\n"), problems, raw.position)
        wrong: dict[str, Mask] = {}
        forms = self._forms
        for name, form in forms.items():
            block.columns[name], bad = _column([row.get(name) for row in rows], form)
            if bad is not None:
                wrong[name] = bad
        if wrong:
            self._leave_out(block, wrong, lambda name, row: _unexpected(name, forms[name], rows[row][name]))
        return block


# ---------------------------------------------------------------------- values to columns


def _form_of(values: list[Any]) -> Form | Other:
    """What a column is by its values. If all are missing it is text, which may turn out to be anything.

    Whole numbers too large for a float are text here: as names of things they are taken to the last digit.
    """
    types = set(map(type, values)) - {type(None)}
    if list in types:
        return Other("list")
    if dict in types:
        return Other("object")
    if str in types and all(value == "" for value in values if type(value) is str):
        types.remove(str)
    if types and types <= {int, float, _Literal}:
        return "text" if any(_is_too_large(value) for value in values) and _Literal not in types else "number"
    return "boolean" if types == {bool} else "text"


def _column(values: list[Any], form: Form) -> tuple[Column, Mask | None]:
    """A column of that form; and which values cannot be read so, if there are any."""
    if form == "number":
        return _numbers(values)
    if form == "boolean":
        return _booleans(values)
    return _texts(values) if form == "text" else _times(values)


def _numbers(values: list[Any]) -> tuple[Column, Mask | None]:
    types = set(map(type, values))
    whole = int in types and float not in types
    if types <= {int, float, type(None)}:
        try:
            quick = np.array(values, dtype=np.float64)
            if not (np.abs(quick) >= LARGEST_WHOLE).any():
                return Numbers(quick, whole), None
        except OverflowError:
            pass  # one by one, then
    read = [number_of(value) if type(value) is str else value if _is_number(value) else None for value in values]
    numbers = np.array(read, dtype=np.float64)
    bad = np.array(
        [number is None and value is not None for number, value in zip(read, values, strict=True)], dtype=np.bool_
    )
    return Numbers(numbers, whole), bad if bad.any() else None


def _booleans(values: list[Any]) -> tuple[Column, Mask | None]:
    if set(map(type, values)) <= {bool, type(None)}:
        return Booleans(np.array(values, dtype=np.float64)), None
    read = [boolean_of(value) if type(value) is str else value if type(value) is bool else None for value in values]
    bad = np.array(
        [truth is None and not _is_missing(value) for truth, value in zip(read, values, strict=True)], dtype=np.bool_
    )
    truths = np.array(read, dtype=np.float64)
    return Booleans(truths), bad if bad.any() else None


def _texts(values: list[Any]) -> tuple[Texts, Mask | None]:
    said = values
    bad = np.zeros(len(values), dtype=np.bool_)
    if not set(map(type, values)) <= {str, type(None)}:
        said = [_as_text(value) for value in values]
        bad = _lost(values, said)
    codes, words = _interned(said)
    if not _is_text("".join(words)):
        bad = bad | np.array([*(not _is_text(word) for word in words), False])[codes]
    return Texts(codes, words), bad if bad.any() else None


def _times(values: list[Any]) -> tuple[Column, Mask | None]:
    said = [value if type(value) is str else None for value in values]
    codes, words = _interned(said)
    moments, wrong = times_of(words)
    bad = _lost(values, said) | np.append(wrong, False)[codes]
    return Times(np.append(moments, NO_TIME)[codes]), bad if bad.any() else None


def _interned(texts: list[str | None]) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Codes and words."""
    known: dict[Any, int] = {None: -1, "": -1}
    codes = np.array([known.setdefault(text, len(known) - 2) for text in texts], dtype=np.int32)
    return codes, list(known)[2:]


def _lost(values: list[Any], texts: list[str | None]) -> Mask:
    """Which values are no text although they are not missing."""
    pairs = zip(values, texts, strict=True)
    return np.array([text is None and not _is_missing(value) for value, text in pairs], dtype=np.bool_)


def _is_missing(value: Any) -> bool:
    return value is None or (type(value) is str and value == "")


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return not _is_too_large(value)
    return type(value) is float and math.isfinite(value)


def _is_too_large(value: Any) -> bool:
    return type(value) is int and not -LARGEST_WHOLE <= value <= LARGEST_WHOLE


def _is_text(text: str) -> bool:
    """Whether all of it is characters: half of a pair of surrogates is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_text(value: Any) -> str | None:
    """A value as a word, None if it is none."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    return number_as_text(value) if type(value) is int or _is_number(value) else None


def _unexpected(name: str, form: Form, value: Any) -> str:
    found = Words(value) if type(value) is _Literal else value if type(value) is str else Words(json.dumps(value))
    reason = f"key {name}: {EXPECTED[form]}; found {shorten(found)}"
    return f"{reason}; {TAKE_AS_NAMES}" if _is_too_large(value) else reason
