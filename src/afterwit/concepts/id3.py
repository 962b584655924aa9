"""ID3: a decision tree that asks first what tells most about the label.

Setting     examples of d features, each with a few values (categories), and labels, two or more.
Rule        at a node with the examples S_v: if all have one label, a leaf; otherwise ask the feature of largest
            information gain, Ent(S_v) - sum_a |S_v^a| / |S_v| Ent(S_v^a), where S_v^a are those whose value is a and
            Ent is the entropy of the labels in bits; one branch for each value that occurs. A feature that is the same
            for all of S_v is not asked; where none is left, a leaf with the commonest label. A gain of 0 does not stop
            it: no single feature tells anything about an exclusive or. So the tree is right on the whole sample unless
            two examples with the same features have different labels, or an option stops it earlier.
Ties        the feature that comes first; the label that comes first (numbers before strings, each in order). The tree
            does not depend on the order of the examples.
Guarantee   the tree is described in ``description_length`` bits of a prefix-free language. With probability at least
            1 - delta: if it is right on all n examples its error is at most (size ln 2 + ln(1/delta)) / n; in any case
            at most its error on them plus sqrt((size ln 4 + ln(2/delta)) / (2n)).
Assumes     that features, their values and the labels were known before the sample was drawn (``categories`` and
            ``labels`` say them; otherwise it is your promise), and examples drawn independently.
Source      Quinlan 1986; Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.2.3, Theorem 6.5 and
            Corollary 6.8.

>>> X = [{"sky": "clear", "wind": False}, {"sky": "clear", "wind": True}, {"sky": "rain", "wind": False},
...      {"sky": "rain", "wind": True}]
>>> tree = ID3().fit(X, ["sail", "sail", "stay", "sail"])
>>> print(tree)
sky = clear: sail (2)
sky = rain
|   wind = False: stay (1)
|   wind = True: sail (1)
>>> tree.predict_one({"sky": "rain", "wind": False}), tree.nodes, tree.description_length
('stay', 5, 10)
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._batch_rule import BatchRule, DescriptionBound, RegularisedBound
from afterwit.concepts._growing import Counter, grown
from afterwit.concepts._table import (
    Table,
    coded,
    in_order,
    known_categories,
    known_labels,
    label_codes,
    plain_labels,
    read_row,
    read_table,
)
from afterwit.concepts._tree import (
    LEAF,
    Description,
    Schema,
    Tree,
    as_dot,
    as_text,
    check_tree,
    describe,
    leaf_only,
)
from afterwit.core.certificate import Assumption, Basis, Certificate, tightest_first
from afterwit.data.values import signature
from afterwit.errors import Words, invalid

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """What the checker found on the rows of a certificate."""

    subject: str
    rows: int
    mistakes: int
    bits: int
    assumptions: tuple[Assumption, ...]
    why_not: str = ""


class ID3(BatchRule):
    """A decision tree grown by information gain.

    max_depth   no more than so many questions in a row; None for no limit
    min_gain    a question must gain at least so many bits
    categories  the values of the features, known beforehand: a dict by name, or a sequence by position; others are then
                refused by `fit`. If None, those that occur.
    labels      the labels, known beforehand; if None, those that occur

    Values are strings, booleans or whole numbers. Missing values are refused. When predicting, a value that had no
    branch at a node gets the commonest label of the node's examples.
    """

    theorems = (DescriptionBound(), RegularisedBound())

    __signature__ = signature(max_depth=None, min_gain=0.0, categories=None, labels=None)

    def __init__(self, max_depth: Any = None, min_gain: Any = 0.0, categories: Any = None, labels: Any = None) -> None:
        if max_depth is not None and (
            not isinstance(max_depth, Integral) or isinstance(max_depth, bool) or int(max_depth) < 0
        ):
            raise invalid("max_depth", "a whole number, at least 0, or None", max_depth)
        if not isinstance(min_gain, Real) or isinstance(min_gain, bool) or not 0 <= float(min_gain) < np.inf:
            raise invalid("min_gain", "a finite number, 0 or more", min_gain)
        self._max_depth = None if max_depth is None else int(max_depth)
        self._min_gain = float(min_gain)
        self._categories = None if categories is None else known_categories(categories)
        self._known_labels = None if labels is None else known_labels(labels)
        self._schema = Schema(None, [], [])
        self._tree = leaf_only()

    def fit(self, X: Any, y: Any) -> ID3:
        """Grow the tree on the examples X with labels y. Returns the learner itself."""
        table = read_table(X)
        schema, codes, answers = self._coded_sample(table, y)
        tree = grown(codes, answers, len(schema.labels), self._max_depth, self._min_gain)
        mistakes = int(np.count_nonzero(tree.predict(codes, table.rows, _widest(schema)) != answers))
        self._schema, self._tree = schema, tree
        self._rounds, self._mistakes = table.rows, mistakes
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one example."""
        self._require_fitted()
        return self._predicted(read_row(x), "x")[0]

    def predict_many(self, X: Any) -> Any:
        """The labels of many examples, as an array."""
        self._require_fitted()
        table = read_table(X)
        labels = self._schema.labels
        kind = object if len({type(label) for label in labels}) > 1 or isinstance(labels[0], str) else None
        return np.array(self._predicted(table, "X"), dtype=kind if table.rows else object)

    def certificate(self, X: Any, y: Any, delta: Any = 0.05) -> Certificate:
        """The bounds on the error on new data, judged on the rows X, y; each holds with probability 1 - delta.

        What is judged is the tree that is read back from its description, one example after the other.
        """
        self._require_fitted()
        theorems = (DescriptionBound(delta), RegularisedBound(delta))
        table = read_table(X)
        if table.rows == 0:
            raise invalid("X", "at least one row", Words("none"))
        codes = self._codes(table, "X")
        answers = self._answers(y, table.rows)
        bits = describe(self._tree, self._schema)
        described = Description(bits, self._schema)
        columns = [column.tolist() for column in codes]
        mistakes = 0
        for i, answer in enumerate(answers.tolist()):
            mistakes += described.label_of([column[i] for column in columns]) != answer
        evidence = Sample(type(self).__name__, table.rows, mistakes, len(bits), (self._language(), _readable(bits)))
        return tightest_first([theorem.certify(evidence) for theorem in theorems])

    def _language(self) -> Assumption:
        said = self._categories is not None and self._known_labels is not None
        statement = "features, values and labels were known before the sample was drawn"
        detail = "by categories and labels" if said else ""
        return Assumption(statement, Basis.ENFORCED if said else Basis.PROMISED, True if said else None, detail)

    # ------------------------------------------------------------------ what it knows

    @property
    def nodes(self) -> int:
        """How many nodes the tree has, leaves among them."""
        self._require_fitted()
        return len(self._tree.feature)

    @property
    def leaves(self) -> int:
        """How many leaves."""
        self._require_fitted()
        return int(np.count_nonzero(self._tree.feature == LEAF))

    @property
    def depth(self) -> int:
        """How many questions are asked at most."""
        self._require_fitted()
        return int(self._tree.depths().max())

    @property
    def classes(self) -> list[Any]:
        """The labels known, in order."""
        return list(self._schema.labels)

    @property
    def description(self) -> str:
        """The tree as a string of 0 and 1, in a prefix-free language; see ``afterwit.concepts._tree``."""
        self._require_fitted()
        return describe(self._tree, self._schema)

    @property
    def description_length(self) -> int:
        """The size of the tree in bits: the size(h) of the bounds."""
        return len(self.description)

    def to_text(self) -> str:
        """The tree as text, one line a branch; the numbers are those of the examples."""
        self._require_fitted()
        return as_text(self._tree, self._schema)

    def to_dot(self) -> str:
        """The tree as a Graphviz digraph."""
        self._require_fitted()
        return as_dot(self._tree, self._schema)

    def __str__(self) -> str:
        return self.to_text()

    # ------------------------------------------------------------------ inside

    def _coded_sample(self, table: Table, y: Any) -> tuple[Schema, list[Numbers], Numbers]:
        if table.rows == 0 or not table.columns:
            raise invalid("X", "at least one row and one feature", Words(f"{table.rows} rows"))
        labels = plain_labels(y)
        if len(labels) != table.rows:
            raise invalid("y", f"as long as X ({table.rows} rows)", Words(f"{len(labels)} labels"))
        schema = Schema(table.names, self._values(table), self._known_labels or in_order(labels))
        codes = [coded(column, known) for column, known in zip(table.columns, schema.categories, strict=True)]
        for j, column in enumerate(codes):
            if (column < 0).any():
                i = int(np.argmin(column >= 0))
                feature = j if table.names is None else table.names[j]
                raise invalid(f"X[{i}, {feature!r}]", f"one of {schema.categories[j]}", table.columns[j][i])
        return schema, codes, label_codes(labels, schema.labels)

    def _values(self, table: Table) -> list[list[Any]]:
        """The values of each feature: those said beforehand, or those that occur."""
        if self._categories is None:
            return [in_order(column) for column in table.columns]
        features = list(range(len(table.columns))) if table.names is None else table.names
        if isinstance(self._categories, list):
            if len(self._categories) != len(features):
                raise invalid("categories", f"given for {len(features)} features", Words(f"{len(self._categories)}"))
            return self._categories
        for name in self._categories:
            if name not in features:
                raise invalid("categories", f"given by {features}", name)
        for name in features:
            if name not in self._categories:
                raise invalid("categories", f"given for every feature, {name!r} too", list(self._categories))
        return [self._categories[name] for name in features]

    def _codes(self, table: Table, where: str) -> list[Numbers]:
        """Columns of codes in the order of the features known."""
        known = self._schema.names
        if (table.names is None) != (known is None):
            kinds = ("features by position", "features by name")
            raise invalid(where, f"of {kinds[known is not None]}", Words(kinds[table.names is not None]))
        columns = table.columns
        if known is not None and table.names is not None and table.rows:
            if set(table.names) != set(known):
                raise invalid(where, f"of the features {known}", table.names)
            at = {name: j for j, name in enumerate(table.names)}
            columns = [columns[at[name]] for name in known]
        if len(columns) != len(self._schema.categories) and table.rows:
            raise invalid(where, f"of {len(self._schema.categories)} features", Words(f"{len(columns)}"))
        return [coded(column, values) for column, values in zip(columns, self._schema.categories, strict=False)]

    def _answers(self, y: Any, rows: int) -> Numbers:
        labels = plain_labels(y)
        if len(labels) != rows:
            raise invalid("y", f"as long as X ({rows} rows)", Words(f"{len(labels)} labels"))
        return label_codes(labels, self._schema.labels)

    def _predicted(self, table: Table, where: str) -> list[Any]:
        if table.rows == 0:
            return []
        found = self._tree.predict(self._codes(table, where), table.rows, _widest(self._schema))
        return [self._schema.labels[code] for code in found.tolist()]

    # ------------------------------------------------------------------ saving

    @property
    def parameters(self) -> dict[str, Any]:
        categories = self._categories
        if isinstance(categories, list):
            categories = [list(values) for values in categories]
        elif categories is not None:
            categories = {name: list(values) for name, values in categories.items()}
        return {
            "max_depth": self._max_depth,
            "min_gain": self._min_gain,
            "categories": categories,
            "labels": None if self._known_labels is None else list(self._known_labels),
        }

    def state(self) -> dict[str, Any]:
        schema, tree = self._schema, self._tree
        return {
            "rounds": self._rounds,
            "mistakes": self._mistakes,
            "names": None if schema.names is None else list(schema.names),
            "values": [list(values) for values in schema.categories],
            "classes": list(schema.labels),
            **{part: getattr(tree, part).copy() for part in ("feature", "label", "parent", "value", "examples")},
        }

    def restore(self, state: Any) -> None:
        counts = [state["rounds"], state["mistakes"]]
        if any(type(count) is not int or not 0 <= count <= counts[0] for count in counts):
            raise invalid("rounds and mistakes", "counts, none above rounds", counts)
        schema = Schema(state["names"], [list(values) for values in state["values"]], list(state["classes"]))
        if schema.names is not None and len(schema.names) != len(schema.categories):
            raise invalid("names", "one for each feature", schema.names)
        tree = Tree(**{part: state[part].copy() for part in ("feature", "label", "parent", "value", "examples")})
        check_tree(tree, schema, counts[0])
        self._schema, self._tree = schema, tree
        self._rounds, self._mistakes = counts


def information_gain(X: Any, y: Any) -> npt.NDArray[np.float64]:
    """How many bits each feature tells about the label, by itself: what `ID3` compares at its root."""
    table, labels = read_table(X), plain_labels(y)
    if len(labels) != table.rows or not table.rows:
        raise invalid("y", f"as long as X ({table.rows} rows), and not empty", Words(f"{len(labels)} labels"))
    known = in_order(labels)
    codes = [coded(column, in_order(column)) for column in table.columns]
    gains = Counter(codes, coded(labels, known), len(known)).gains(np.arange(table.rows))
    return np.maximum(gains, 0.0)


def _widest(schema: Schema) -> int:
    return max((len(values) for values in schema.categories), default=0)


def _readable(bits: str) -> Assumption:
    return Assumption("the tree is what its description says", Basis.OBSERVED, True, f"{len(bits):,} bits read back")
