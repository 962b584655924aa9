"""How raw columns become features: decided once at the beginning of a table, saved in the model, applied to every row.

>>> from afterwit.streams.columns import ColumnRule
>>> schema = Schema((ColumnRule("price", "number"), ColumnRule("colour", "category")), target="sold")
>>> schema.features({"price": 3, "colour": "red"})
{'price': 3.0, 'colour=red': 1.0}
>>> print(schema.describe())
target    sold
number    price
category  colour
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from afterwit.data.rows import Rows, ascending
from afterwit.errors import InputError, Words, invalid, shorten
from afterwit.streams._assemble import Hash, assemble
from afterwit.streams.batch import Batch, Form
from afterwit.streams.columns import KINDS, PARTS, ColumnRule, product, products
from afterwit.streams.hashing import MOST_BITS, HashedNames

#: How many names of columns a line of the description has at most.
NAMES_TO_SHOW = 12
#: How wide a line of names is, behind what they are.
WIDTH_OF_NAMES = 70


@dataclass(frozen=True)
class Schema:
    """The columns in their order, and what else is made of them.

    columns       how each column that is used becomes features; None for text whose features have names already
    target        the column to predict
    weight        the column that says how often a row is learned
    group         the column that says whose a row is: each group has its own learner
    left_out      the columns that are not used, and why
    interactions  products of the features of two or more columns
    hash_bits     features have positions by a hash of so many bits, and no names
    """

    columns: tuple[ColumnRule, ...] | None
    target: str | None = None
    weight: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    interactions: tuple[tuple[str, ...], ...] = ()
    hash_bits: int | None = None
    group: str | None = None

    # ------------------------------------------------------------------ applying it

    @cached_property
    def hash(self) -> HashedNames | None:
        """The hash of names, which notes the collisions that happen."""
        return None if self.hash_bits is None else HashedNames(self.hash_bits)

    @cached_property
    def _rules(self) -> dict[str, ColumnRule]:
        return {rule.name: rule for rule in self.columns or ()}

    @cached_property
    def known(self) -> frozenset[str]:
        """The names that a record or a table may have."""
        return frozenset((*self._rules, *self.left_out, *filter(None, (self.target, self.weight, self.group))))

    def without_weight(self) -> Schema:
        """The same where nothing is learned: the weight of a row does not matter, and its column may be missing."""
        if self.weight is None:
            return self
        return replace(self, weight=None, left_out={**self.left_out, self.weight: "a weight"})

    def forms(self) -> dict[str, Form]:
        """The columns that features are made of, and as what they are read."""
        return {rule.name: rule.form for rule in self.columns or ()}

    def rows(self, batch: Batch) -> Rows:
        """The features of a block of rows."""
        coded = {name: rule.of_column(batch.columns[name], batch) for name, rule in self._rules.items()}
        parts = list(coded.values())
        for names in self.interactions:
            together = coded[names[0]]
            for name in names[1:]:
                together = product(together, coded[name])
            parts.append(together)
        hashed: Hash | None = self.hash
        return assemble(parts, batch.count, hashed, 0 if self.hash is None else self.hash.width)

    def features(self, record: Mapping[str, Any]) -> Any:
        """The features of one raw record, a dict of values by column: a dict by name, or a sparse row if hashed."""
        if self.columns is None:
            found = dict(record)
        else:
            if not self.known.issuperset(record):
                raise self._stranger(record)
            found = self._features_of_columns(record)
        if self.hash is None:
            return found
        from scipy.sparse import csr_array

        starts = np.array([0, len(found)], dtype=np.int64)
        values = np.array(list(found.values()), dtype=np.float64)
        columns, values, starts = ascending(self.hash(list(found)), values, starts)
        # As wide as all rows of a block: a learner is the same whether it learns one by one or many at once.
        return csr_array((values, columns, starts), shape=(1, self.hash.width))

    def _features_of_columns(self, record: Mapping[str, Any]) -> dict[str, float]:
        cells = {name: rule.of_cell(record.get(name)) for name, rule in self._rules.items()}
        parts = list(cells.values())
        for names in self.interactions:
            scale, features = cells[names[0]]
            for name in names[1:]:
                scale, features = scale * cells[name][0], products(features, cells[name][1])
            parts.append((scale, features))
        found: dict[str, float] = {}
        for scale, features in parts:
            for name, value in features:
                if name in found:
                    raise invalid("the columns", "such that no two make the same feature", Words(f"{name!r} of two"))
                found[name] = scale * value
        return found

    def _stranger(self, record: Mapping[str, Any]) -> InputError:
        name = next(name for name in record if name not in self.known)
        return unknown_column("x", name, self.known)

    # ------------------------------------------------------------------ describing, saving

    def describe(self, most: int = NAMES_TO_SHOW) -> str:
        """What becomes of every column, a line for each kind; of many columns the first names."""
        lines = [("target", [self.target])] if self.target is not None else []
        if self.weight is not None:
            lines.append(("weight", [self.weight]))
        if self.group is not None:
            lines.append(("group", [self.group]))
        if self.columns is None:
            lines.append(("features", ["as the file names them"]))
        rules = self.columns or ()
        lines += [(kind, [_shown(rule) for rule in rules if rule.kind == kind]) for kind in KINDS]
        lines.append(("products", ["*".join(names) for names in self.interactions]))
        if self.hash_bits is not None:
            lines.append(("hashed", [f"to {1 << self.hash_bits:,} positions ({self.hash_bits} bits)"]))
        lines.append(("left out", [f"{name} ({why})" for name, why in self.left_out.items()]))
        return "\n".join(f"{head:<8}  {_listed(names, most)}" for head, names in lines if names)

    def as_data(self) -> dict[str, Any]:
        """The schema as plain data, which `schema_from` reads back."""
        columns = None if self.columns is None else [rule.as_data() for rule in self.columns]
        return {
            "columns": columns,
            "target": self.target,
            "weight": self.weight,
            "left_out": dict(self.left_out),
            "interactions": list(self.interactions),
            "hash_bits": self.hash_bits,
            **({} if self.group is None else {"group": self.group}),
        }


def schema_from(data: Any) -> Schema:
    """The schema whose ``as_data()`` this was; anything else is refused."""
    try:
        rules = data["columns"]
        columns = None if rules is None else tuple(_rule_from(rule) for rule in rules)
        schema = Schema(
            columns=columns,
            target=_name_or_none(data["target"]),
            weight=_name_or_none(data["weight"]),
            left_out={_name(name): _name(why) for name, why in data["left_out"].items()},
            interactions=tuple(tuple(_name(name) for name in names) for names in data["interactions"]),
            hash_bits=checked_bits("hash_bits", data["hash_bits"]),
            group=_name_or_none(data.get("group")),
        )
    except (KeyError, TypeError, AttributeError):
        raise invalid("schema", "what as_data() of a schema returns", data) from None
    checked_interactions(schema.interactions, [rule.name for rule in columns or ()])
    if columns is not None and len(schema._rules) < len(columns):
        raise invalid("schema", "of columns with different names", Words("a name twice"))
    return schema


def _rule_from(data: Any) -> ColumnRule:
    data = {**data, "parts": tuple(data.get("parts", PARTS))}
    rule = ColumnRule(**data)
    parts = all(part in PARTS for part in rule.parts)
    flags = type(rule.binary) is bool and type(rule.missing) is bool
    if rule.kind not in KINDS or not parts or not flags or type(rule.ngrams) is not int or rule.ngrams < 1:
        raise invalid("schema", "of columns as as_data() returns them", data)
    _name(rule.name)
    return rule


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise invalid("schema", "of names that are strings", value)
    return value


def _name_or_none(value: Any) -> str | None:
    return None if value is None else _name(value)


def checked_bits(parameter: str, bits: Any) -> int | None:
    """The bits of a hash, or None."""
    if bits is not None and (type(bits) is not int or not 1 <= bits <= MOST_BITS):
        raise invalid(parameter, f"a whole number from 1 to {MOST_BITS}", bits)
    return None if bits is None else int(bits)


def checked_interactions(wanted: Iterable[Any], columns: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Products of columns, as ``a*b`` or ``("a", "b")``; each column must be one that is used."""
    found = []
    names = list(columns)
    for each in wanted:
        parts = tuple(each.split("*")) if isinstance(each, str) else tuple(each)
        if len(parts) < 2 or len(set(parts)) < len(parts):
            raise invalid("interactions", "products of different columns, such as a*b", each)
        for part in parts:
            if part not in names:
                raise unknown_column("interactions", part, names)
        if parts not in found:
            found.append(parts)
    return tuple(found)


def unknown_column(parameter: str, name: Any, known: Iterable[str]) -> InputError:
    """What to raise for a column that does not exist."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    listed = shorten(Words(", ".join(sorted(names))), 300)
    return InputError(f"{parameter}: there is no column {shorten(name)}.{suggestion} Columns: {listed}")


def _shown(rule: ColumnRule) -> str:
    if rule.kind == "time":
        return f"{rule.name} ({', '.join(rule.parts)})"
    if rule.kind == "words" and (rule.ngrams > 1 or rule.binary):
        how = [f"up to {rule.ngrams} words"] if rule.ngrams > 1 else []
        return f"{rule.name} ({', '.join([*how, 'binary'] if rule.binary else how)})"
    return rule.name


def _listed(names: list[Any], most: int) -> str:
    """Names in lines that are narrow enough for a terminal, below each other; a name is never divided."""
    words = [*map(str, names[:most]), *([f"and {len(names) - most:,} more"] if len(names) > most else [])]
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 <= WIDTH_OF_NAMES:
            lines[-1] += f", {word}"
        else:
            lines[-1] += ","
            lines.append(word)
    return f"\n{'':10}".join(lines)
