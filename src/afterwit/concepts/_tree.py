"""Decision trees over categories: kept flat, described in bits, shown as text and as a graph.

The language of descriptions, for d features with known values and K known labels:

    leaf        0, then its label in ceil(log2 K) bits
    inner node  1, then its feature in ceil(log2 d) bits; for a feature of more than two values: the label for values
                without a branch in ceil(log2 K) bits, and one bit for each value, 1 where it has a branch; then the
                descriptions of the branches, in the order of the values

A feature of two values always has both branches. No description is the beginning of another: a reader knows after each
bit whether the tree is complete. A tree of k nodes over binary features and two labels takes less than k (2 + log2 d)
bits: the O(k log d) of Blum et al., section 6.2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import Words, invalid

Numbers = npt.NDArray[np.int64]

LEAF = -1


@dataclass(frozen=True)
class Schema:
    """What is known of the examples: features (None: by position), the values of each, the labels."""

    names: list[Any] | None
    categories: list[list[Any]]
    labels: list[Any]

    def name(self, feature: int) -> str:
        return f"x[{feature}]" if self.names is None else str(self.names[feature])


@dataclass(frozen=True)
class Tree:
    """Nodes in the order in which a reader meets them: each before its branches.

    feature   what a node asks, or LEAF
    label     the most common label of the examples that reached it
    parent    the node above; -1 for the root
    value     the code of the value that leads here from the node above; -1 for the root
    examples  how many examples of the sample reached it
    """

    feature: Numbers
    label: Numbers
    parent: Numbers
    value: Numbers
    examples: Numbers

    def branches(self) -> list[dict[int, int]]:
        """For each node: code of a value -> node."""
        found: list[dict[int, int]] = [{} for _ in self.feature]
        for node in range(1, len(self.feature)):
            found[self.parent[node]][int(self.value[node])] = node
        return found

    def depths(self) -> Numbers:
        depths = np.zeros(len(self.feature), dtype=np.int64)
        for node in range(1, len(depths)):
            depths[node] = depths[self.parent[node]] + 1
        return depths

    def predict(self, codes: list[Numbers], rows: int, widest: int) -> Numbers:
        """The codes of the labels, for columns of codes. A value without a branch ends the path at its node."""
        below = np.full((len(self.feature), widest + 1), LEAF, dtype=np.int64)
        below[self.parent[1:], self.value[1:]] = np.arange(1, len(self.feature))
        at = np.zeros(rows, dtype=np.int64)
        moving = np.arange(rows)
        while len(moving):
            asked = self.feature[at[moving]]
            moving, asked = moving[asked != LEAF], asked[asked != LEAF]
            if not len(moving):
                break
            following = np.empty(len(moving), dtype=np.int64)
            for feature in np.unique(asked):
                here = asked == feature
                # A code of -1, a value never seen, is the last column, in which there are no branches.
                following[here] = below[at[moving[here]], codes[feature][moving[here]]]
            stays = following == LEAF
            at[moving[~stays]] = following[~stays]
            moving = moving[~stays]
        return self.label[at]


def width_of(count: int) -> int:
    """Bits to tell one of ``count`` things: ceil(log2 count)."""
    return max(count - 1, 0).bit_length()


def describe(tree: Tree, schema: Schema) -> str:
    """The tree as a string of 0 and 1."""
    label_bits, feature_bits = width_of(len(schema.labels)), width_of(len(schema.categories))
    branches = tree.branches()
    parts = []
    for node in range(len(tree.feature)):
        feature = int(tree.feature[node])
        label = _bits(int(tree.label[node]), label_bits)
        if feature == LEAF:
            parts.append("0" + label)
            continue
        parts.append("1" + _bits(feature, feature_bits))
        known = len(schema.categories[feature])
        if known > 2:
            parts.append(label + "".join("1" if code in branches[node] else "0" for code in range(known)))
    return "".join(parts)


def _bits(number: int, width: int) -> str:
    return f"{number:0{width}b}" if width else ""


def as_text(tree: Tree, schema: Schema) -> str:
    """One line for each branch, indented by depth; leaves with their label and how many examples reached them."""
    if len(tree.feature) == 1:
        return f"{schema.labels[int(tree.label[0])]} ({int(tree.examples[0])})"
    depths, branches = tree.depths(), tree.branches()
    lines: list[str] = []
    #: Lines for values without a branch, which follow the last branch of their node.
    waiting: list[tuple[int, str]] = []
    for node in range(len(tree.feature)):
        while waiting and node and depths[node] <= waiting[-1][0]:
            lines.append(waiting.pop()[1])
        if node:
            asked = int(tree.feature[tree.parent[node]])
            line = (
                f"{'|   ' * int(depths[node] - 1)}{schema.name(asked)} = {schema.categories[asked][tree.value[node]]}"
            )
            if tree.feature[node] == LEAF:
                line += f": {schema.labels[int(tree.label[node])]} ({int(tree.examples[node])})"
            lines.append(line)
        feature = int(tree.feature[node])
        if feature != LEAF and len(branches[node]) < len(schema.categories[feature]):
            depth = int(depths[node])
            label = schema.labels[int(tree.label[node])]
            waiting.append((depth, f"{'|   ' * depth}{schema.name(feature)} = any other: {label} (0)"))
    lines += [line for _, line in reversed(waiting)]
    return "\n".join(lines)


def as_dot(tree: Tree, schema: Schema) -> str:
    """The tree as a Graphviz digraph."""
    lines = ["digraph tree {", "  node [shape=box];"]
    for node in range(len(tree.feature)):
        feature, count = int(tree.feature[node]), int(tree.examples[node])
        what = str(schema.labels[int(tree.label[node])]) if feature == LEAF else f"{schema.name(feature)}?"
        shape = ", style=rounded" if feature == LEAF else ""
        lines.append(f"  n{node} [label={_quoted(f'{what} ({count})')}{shape}];")
    for node in range(1, len(tree.feature)):
        above = int(tree.parent[node])
        value = schema.categories[int(tree.feature[above])][int(tree.value[node])]
        lines.append(f"  n{above} -> n{node} [label={_quoted(str(value))}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    """A string of the dot language; line ends would be taken for layout."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'


def leaf_only() -> Tree:
    return Tree(*(np.array([number], dtype=np.int64) for number in (LEAF, 0, -1, -1, 0)))


def check_tree(tree: Tree, schema: Schema, rounds: int) -> None:
    """Refuse what no `fit` can have left behind."""
    size = len(tree.feature)
    parts = (tree.feature, tree.label, tree.parent, tree.value, tree.examples)
    if any(part.dtype != np.int64 or part.shape != (size,) for part in parts) or size < 1:
        raise invalid("the tree", "arrays of whole numbers of one length", size)
    asked = tree.feature[tree.parent[1:]] if size > 1 and (tree.parent[1:] >= 0).all() else np.zeros(0, np.int64)
    widths = np.array([*(len(values) for values in schema.categories), 0])
    sound = (
        (tree.feature >= LEAF).all()
        and (tree.feature < len(schema.categories)).all()
        and tree.parent[0] == -1
        and len(asked) == size - 1
        and (tree.parent[1:] < np.arange(1, size)).all()
        and (asked != LEAF).all()
        and (tree.value[1:] >= 0).all()
        and (tree.value[1:] < widths[asked]).all()
        and (tree.label >= 0).all()
        and (tree.label < max(len(schema.labels), 1)).all()
        and tree.examples[0] == rounds
        and (tree.examples >= 0).all()
        and (tree.examples <= rounds).all()
        and _each_before_its_branches(tree)
        and _each_as_its_branches(tree)
    )
    if not sound:
        raise invalid("the tree", "one that was grown on a sample", Words("nodes that do not fit together"))


def _each_as_its_branches(tree: Tree) -> bool:
    """Whether every example that reached a question reached one of its branches."""
    below = np.zeros(len(tree.feature), dtype=np.int64)
    np.add.at(below, tree.parent[1:], tree.examples[1:])
    return bool(((tree.feature == LEAF) | (below == tree.examples)).all())


def _each_before_its_branches(tree: Tree) -> bool:
    """Whether nodes stand in the order of a description, and every question has two branches or more, in order."""
    path, latest, branches = [0], {0: -1}, {0: 0}
    for node in range(1, len(tree.feature)):
        above, value = int(tree.parent[node]), int(tree.value[node])
        while path and path[-1] != above:
            path.pop()
        if not path or value <= latest[above]:
            return False
        latest[above] = value
        branches[above] += 1
        path.append(node)
        latest[node], branches[node] = -1, 0
    return all((tree.feature[node] == LEAF) == (count == 0) and count != 1 for node, count in branches.items())
