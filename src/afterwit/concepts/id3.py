"""ID3: a decision tree that first asks for the feature that tells most about the label.

Setting     examples of d features, each with a few values (categories), and labels, two or more.
Rule        at a node with the examples S_v: if all have one label, a leaf; otherwise ask the feature of largest
            information gain, Ent(S_v) - sum_a |S_v^a| / |S_v| Ent(S_v^a), where S_v^a are those whose value is a and
            Ent is the entropy of the labels in bits; one branch for each value that occurs. A feature that is the same
            for all of S_v is not asked; where none is left, a leaf with the most common label. A gain of 0 does not
            stop it, because no single feature tells anything about an exclusive or. So the tree is right on the whole
            sample unless two examples with the same features have different labels, or an option stops it earlier.
Ties        the feature that comes first; the label that comes first (numbers before strings, each in order). The tree
            does not depend on the order of the examples.
Guarantee   the tree is described in ``description_length`` bits of a prefix-free language. With probability at least
            1 - delta: if it is right on all n examples its error is at most (size ln 2 + ln(2/delta)) / n; and in any
            case at most its error on them plus sqrt((size ln 4 + ln(4/delta)) / (2n)). These are two theorems, each at
            delta / 2, so that both hold at once and the smaller bound may be taken.
Assumes     features, values and labels that were known before the sample was drawn (the options ``categories`` and
            ``labels`` fix them; otherwise it is your promise), and examples that were drawn independently.
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

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._batch_rule import BatchRule, DescriptionBound, RegularisedBound
from afterwit.concepts._categories import (
    Categories,
    coded,
    in_order,
    known_categories,
    known_labels,
    label_codes,
    plain_labels,
    read_categories,
    read_categories_of_one,
)
from afterwit.concepts._growing import Counter, grown
from afterwit.concepts._tree import (
    LEAF,
    Schema,
    Tree,
    as_dot,
    as_text,
    check_tree,
    describe,
    leaf_only,
)
from afterwit.core.declared import Option
from afterwit.data.checks import optional, whole_number, zero_or_positive
from afterwit.data.room import require_room
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid

Numbers = npt.NDArray[np.int64]

#: What a saved tree consists of.
PARTS = ("feature", "label", "parent", "value", "examples")


def _depth(parameter: str, value: Any) -> int:
    return whole_number(parameter, value, words="a whole number, at least 0, or None")


def _gain(parameter: str, value: Any) -> float:
    return zero_or_positive(parameter, value, "a finite number, 0 or more")


class ID3(BatchRule):
    """A decision tree grown by information gain.

    max_depth   the most questions in a row; None for no limit
    min_gain    the fewest bits that a question must gain
    categories  the values of the features, if they are known beforehand: a dict by name, or a sequence by position;
                `fit` then refuses other values. If None, the values that occur.
    labels      the labels, if they are known beforehand; if None, the labels that occur

    Values are strings, booleans or whole numbers. Missing values are refused. When predicting, a value that had no
    branch at a node gets the most common label of the node's examples.
    """

    theorems = (DescriptionBound(), RegularisedBound())
    options = (
        Option("max_depth", None, optional(_depth)),
        Option("min_gain", 0.0, _gain),
        Option("categories", None, optional(known_categories)),
        Option("labels", None, optional(known_labels)),
    )

    def _begin(self) -> None:
        self._schema = Schema(None, [], [])
        self._tree = leaf_only()

    def fit(self, X: Any, y: Any) -> ID3:
        """Grow the tree on the examples X with labels y. Returns the learner itself."""
        table = read_categories(X)
        schema, codes, answers = self._coded_sample(table, y)
        options = self._options
        tree = grown(codes, answers, len(schema.labels), options["max_depth"], options["min_gain"])
        mistakes = int(np.count_nonzero(tree.predict(codes, table.rows, _widest(schema)) != answers))
        self._schema, self._tree = schema, tree
        self._rounds, self._mistakes = table.rows, mistakes
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one example."""
        self._require_fitted()
        return self._predicted(read_categories_of_one(x), "x")[0]

    def predict_many(self, X: Any) -> Any:
        """The labels of many examples, as an array."""
        self._require_fitted()
        table = read_categories(X)
        labels = self._schema.labels
        kind = object if len({type(label) for label in labels}) > 1 or isinstance(labels[0], str) else None
        return np.array(self._predicted(table, "X"), dtype=kind if table.rows else object)

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

    def _coded_sample(self, table: Categories, y: Any) -> tuple[Schema, list[Numbers], Numbers]:
        if table.rows == 0 or not table.columns:
            raise invalid("X", "at least one row and one feature", Words(counted(table.rows, "row")))
        labels = plain_labels(y)
        if len(labels) != table.rows:
            raise invalid("y", f"as long as X ({counted(table.rows, 'row')})", Words(counted(len(labels), "label")))
        schema = Schema(table.names, self._values(table), self._options["labels"] or in_order(labels))
        codes = [coded(column, known) for column, known in zip(table.columns, schema.categories, strict=True)]
        for j, column in enumerate(codes):
            if (column < 0).any():
                i = int(np.argmin(column >= 0))
                feature = j if table.names is None else table.names[j]
                raise invalid(f"X[{i}, {feature!r}]", f"one of {schema.categories[j]}", table.columns[j][i])
        return schema, codes, label_codes(labels, schema.labels)

    def _values(self, table: Categories) -> list[list[Any]]:
        """The values of each feature: those known beforehand, or those that occur."""
        known = self._options["categories"]
        if known is None:
            return [in_order(column) for column in table.columns]
        features = list(range(len(table.columns))) if table.names is None else table.names
        if isinstance(known, list):
            if len(known) != len(features):
                raise invalid("categories", f"given for {counted(len(features), 'feature')}", Words(f"{len(known)}"))
            return known
        for name in known:
            if name not in features:
                raise invalid("categories", f"given by {features}", name)
        for name in features:
            if name not in known:
                raise invalid("categories", f"given for every feature, {name!r} too", list(known))
        return [known[name] for name in features]

    def _codes(self, table: Categories, where: str) -> list[Numbers]:
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
            raise invalid("y", f"as long as X ({counted(rows, 'row')})", Words(counted(len(labels), "label")))
        return label_codes(labels, self._schema.labels)

    def _predicted(self, table: Categories, where: str) -> list[Any]:
        if table.rows == 0:
            return []
        found = self._tree.predict(self._codes(table, where), table.rows, _widest(self._schema))
        return [self._schema.labels[code] for code in found.tolist()]

    # ------------------------------------------------------------------ saving

    def _state(self) -> dict[str, Any]:
        schema, tree = self._schema, self._tree
        return {
            **super()._state(),
            "names": None if schema.names is None else list(schema.names),
            "values": [list(values) for values in schema.categories],
            "classes": list(schema.labels),
            **{part: getattr(tree, part).copy() for part in PARTS},
        }

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        for part in PARTS:
            if not isinstance(state[part], np.ndarray):
                raise invalid(part, "an array of whole numbers", state[part])
        for name in ("values", "classes"):
            for each in state[name] if name == "values" and isinstance(state[name], list) else [state[name]]:
                if not _are_known(each):
                    raise invalid(name, "different strings, booleans or whole numbers, in order", each)
        names, fitted = state["names"], state["rounds"] > 0
        if names is not None and not are_different(names, len(state["values"])):
            raise invalid("names", "a different one for each feature, or None", names)
        if bool(state["values"]) != fitted or bool(state["classes"]) != fitted:
            raise invalid("values and classes", "those of a sample, and none before it was fitted", state["classes"])
        self._check_options(state, fitted)
        schema, tree = _saved_schema(state), _saved_tree(state)
        check_tree(tree, schema, state["rounds"])
        depth = self._options["max_depth"]
        if depth is not None and tree.depths().max() > depth:
            raise invalid("the tree", f"of at most {depth} questions in a row", Words(f"{tree.depths().max()}"))
        require_room("the tree", 8 * len(tree.feature) * (_widest(schema) + 1))

    def _check_options(self, state: Any, fitted: bool) -> None:
        """Refuse values and labels that are not the ones known beforehand."""
        known, labels = self._options["categories"], self._options["labels"]
        if fitted and labels is not None and state["classes"] != labels:
            raise invalid("classes", f"the labels {labels}", state["classes"])
        if not fitted or known is None:
            return
        names = state["names"]
        if isinstance(known, list):
            expected = known
        else:
            features = list(range(len(state["values"]))) if names is None else names
            expected = [known.get(name) for name in features]
        if state["values"] != expected:
            raise invalid("values", f"the categories {known}", state["values"])

    def _become(self, state: Any) -> None:
        super()._become(state)
        self._schema, self._tree = _saved_schema(state), _saved_tree(state)


def _are_known(values: Any) -> bool:
    """Whether these are categories or labels as `fit` has left them: different, and in order."""
    if not are_different(values) or not all(type(value) in (str, bool, int) for value in values):
        return False
    return bool(values == in_order(values))


def _saved_schema(state: Any) -> Schema:
    return Schema(state["names"], [list(values) for values in state["values"]], list(state["classes"]))


def _saved_tree(state: Any) -> Tree:
    return Tree(**{part: state[part].copy() for part in PARTS})


def information_gain(X: Any, y: Any) -> npt.NDArray[np.float64]:
    """How many bits each feature tells about the label, by itself: what `ID3` compares at its root."""
    table, labels = read_categories(X), plain_labels(y)
    if len(labels) != table.rows or not table.rows:
        raise invalid(
            "y", f"as long as X ({counted(table.rows, 'row')}), and not empty", Words(counted(len(labels), "label"))
        )
    known = in_order(labels)
    codes = [coded(column, in_order(column)) for column in table.columns]
    gains = Counter(codes, coded(labels, known), len(known)).gains(np.arange(table.rows))
    return np.maximum(gains, 0.0)


def _widest(schema: Schema) -> int:
    return max((len(values) for values in schema.categories), default=0)
