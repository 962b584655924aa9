"""Deciding a schema by the first rows of a table and what the caller wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterwit.errors import InputError, Words, invalid, shorten
from afterwit.streams._cells import DECIMAL_COMMA, MISSING_NUMBERS, boolean_of, time_of
from afterwit.streams._csv import number_in
from afterwit.streams.batch import UNNAMED, Batch, Booleans, Column, Numbers, Other, Texts, Times
from afterwit.streams.columns import PARTS, ColumnRule
from afterwit.streams.schema import Schema, checked_bits, checked_interactions, unknown_column

#: A column of words of which more than this share differ, and more than so many, is perhaps none.
SHARE_OF_DIFFERENT, MANY_DIFFERENT = 0.5, 100


@dataclass(frozen=True)
class Wishes:
    """What the caller says about columns; everything else is decided by what is in them.

    time  columns whose parts are features: a sequence of names, or a dict of name -> parts (hour, weekday, month)
    """

    target: str | None = None
    weight: str | None = None
    numeric: Sequence[str] = ()
    categorical: Sequence[str] = ()
    ignore: Sequence[str] = ()
    text: Sequence[str] = ()
    time: Any = ()
    binary: bool = False
    ngrams: int = 1
    missing: bool = False
    interactions: Sequence[Any] = ()
    hash_bits: int | None = None
    group: str | None = None

    @property
    def special(self) -> dict[str, str]:
        """The columns that are no features, by what they are."""
        found = {"target": self.target, "weight": self.weight, "group": self.group}
        return {parameter: name for parameter, name in found.items() if name is not None}


@dataclass
class Decided:
    """A schema, and what the user should know about how it was decided."""

    schema: Schema
    notes: list[str] = field(default_factory=list)


def decide(look: Batch, wishes: Wishes, keys: bool = False) -> Decided:
    """The schema of a table by its first rows. Of records with keys, some may come later that are to be ignored."""
    names = list(look.columns)
    kinds = _wanted_kinds(wishes, [*names, *(wishes.ignore if keys else ())])
    notes: list[str] = []
    rules: list[ColumnRule] = []
    left_out: dict[str, str] = dict.fromkeys((name for name in wishes.ignore if name not in names), "ignored")
    shared: dict[str, Any] = {"missing": wishes.missing}
    times = _times(wishes.time)
    for name, column in look.columns.items():
        if name in wishes.special.values():
            continue
        kind = kinds.get(name)
        if kind == "ignore" or (kind is None and UNNAMED.fullmatch(name)):
            left_out[name] = "ignored" if kind else "not used unless it is asked for"
            continue
        if isinstance(column, Other):
            raise _not_a_feature(look.path, name, column.kind)
        kind = kind or _kind_of(name, column, look, notes)
        if kind == "empty":
            left_out[name] = f"empty in the first {look.count:,} rows"
        elif kind == "time" and name not in times:
            left_out[name] = "a time; --time gives its hour, weekday and month"
        elif kind == "time":
            rules.append(ColumnRule(name, kind, parts=times[name], **shared))
        elif kind == "words":
            rules.append(ColumnRule(name, kind, ngrams=wishes.ngrams, binary=wishes.binary, **shared))
        else:
            rules.append(ColumnRule(name, kind, **shared))
    if not rules:
        listed = shorten(Words(", ".join(names)), 300)
        raise InputError(f"{look.path}: there is no column to learn from; the columns are {listed}")
    interactions = checked_interactions(wishes.interactions, [rule.name for rule in rules])
    bits = checked_bits("hash_bits", wishes.hash_bits)
    schema = Schema(tuple(rules), wishes.target, wishes.weight, left_out, interactions, bits, wishes.group)
    return Decided(schema, notes)


def _wanted_kinds(wishes: Wishes, names: Sequence[str]) -> dict[str, str]:
    """The kind of every column that the caller names; each name must exist, and be named once."""
    wanted: dict[str, str] = {}
    lists = {
        "number": ("numeric", wishes.numeric),
        "category": ("categorical", wishes.categorical),
        "words": ("text", wishes.text),
        "time": ("time", tuple(_times(wishes.time))),
        "ignore": ("ignore", wishes.ignore),
    }
    for parameter, one in wishes.special.items():
        if one not in names:
            raise unknown_column(parameter, one, names)
        if list(wishes.special.values()).count(one) > 1 and parameter == "group":
            raise invalid(parameter, "a column that nothing else is said about", one)
    for kind, (parameter, columns) in lists.items():
        for name in columns_listed(parameter, columns):
            if name not in names:
                raise unknown_column(parameter, name, names)
            if name in wanted or name in wishes.special.values():
                raise invalid(parameter, "columns that nothing else is said about", name)
            wanted[name] = kind
    if type(wishes.ngrams) is not int or wishes.ngrams < 1:
        raise invalid("ngrams", "a whole number, at least 1", wishes.ngrams)
    return wanted


def columns_listed(parameter: str, columns: Any) -> tuple[str, ...]:
    """Names of columns: a sequence of strings."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise invalid(parameter, "a sequence of names of columns", columns)
    return tuple(columns)


def _times(time: Any) -> dict[str, tuple[str, ...]]:
    """The parts of every time."""
    if not isinstance(time, Mapping):
        return dict.fromkeys(columns_listed("time", time), PARTS)
    for parts in time.values():
        for part in columns_listed("time", parts):
            if part not in PARTS:
                raise invalid("time", f"parts among {', '.join(PARTS)}", part)
    return {name: tuple(parts) for name, parts in time.items()}


def _kind_of(name: str, column: Numbers | Booleans | Texts | Times, look: Batch, notes: list[str]) -> str:
    """What a column seems to hold; "empty" if there is nothing in it."""
    if isinstance(column, Texts):
        return _kind_of_texts(name, column, look, notes)
    gone = np.isnat(column.values) if isinstance(column, Times) else np.isnan(column.values)
    if gone.all() and name not in look.wrong:
        return "empty"
    return "number" if isinstance(column, Numbers) else "boolean" if isinstance(column, Booleans) else "time"


def _kind_of_texts(name: str, column: Texts, look: Batch, notes: list[str]) -> str:
    present = np.unique(column.codes[column.codes >= 0])
    words = [column.words[code] for code in present.tolist()]
    if not words:
        return "empty"
    if all(boolean_of(word) is not None for word in words):
        return "boolean"
    present_words = [word for word in words if word.lower() not in MISSING_NUMBERS]
    others = [word for word in present_words if number_in(word) is None]
    numbers = len(present_words) - len(others)
    if numbers and not others:
        return "number"
    if all(time_of(word) is not None for word in words):
        return "time"
    called = shorten(Words(name), 40)
    if numbers > len(others):
        row = int(np.argmax(np.isin(column.codes, [column.words.index(word) for word in others])))
        where = look.place(row)
        line = f"line {where['line']}" if "line" in where else where["path"]
        if "line" in where and where["path"] != look.path:
            line = f"{where['path']}, {line}"
        notes.append(
            f"{called} holds numbers and other text, such as {shorten(others[0], 40)} in {line}: taken as a category "
            f"(--numeric {called} makes such a cell an error)"
        )
    elif all(DECIMAL_COMMA.fullmatch(word) for word in words):
        notes.append(
            f"{called} looks like numbers with a decimal comma, such as {shorten(words[0], 40)}: taken as a category "
            "(numbers need a decimal point)"
        )
    elif len(words) > max(MANY_DIFFERENT, SHARE_OF_DIFFERENT * look.count):
        notes.append(
            f"{called} has {len(words):,} different values in the first {look.count:,} rows: taken as a category "
            f"(--text {called} takes its words, --ignore {called} leaves it out)"
        )
    return "category"


def kind_of_texts(column: Column, name: str, look: Batch) -> str:
    """What a target that is written as text holds; "" if it has a type."""
    return _kind_of_texts(name, column, look, []) if isinstance(column, Texts) else ""


#: How a query makes a column of what is no feature, by the kind of the column.
TAKEN_APART = {
    "list": "{0}[1] AS first",
    "map": "{0}['key'] AS one",
    "struct": "{0}.a AS a",
    "object": "{0}.a AS a",
    "time of day": "hour({0}) AS hour",
    "duration": "epoch({0}) AS seconds",
}


def _not_a_feature(path: str, name: str, kind: str) -> InputError:
    reason = f"{path}: column {name} holds values of the kind {kind}, which are no features"
    remedy = f"leave it out with --ignore {name}"
    if kind in TAKEN_APART:
        from afterwit.streams._database import identifier

        column = name if re.fullmatch(r"[A-Za-z_]\w*", name) else identifier(name)
        part = TAKEN_APART[kind].format(column)
        remedy = f"{remedy}, or take it apart with --sql, such as SELECT * EXCLUDE ({column}), {part} FROM ..."
    return InputError(f"{reason}; {remedy}")
