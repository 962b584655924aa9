"""Disjunctions, decision trees and convex hulls, slow and obvious. Imports nothing from afterwit."""

from itertools import combinations
from math import log2

# ---------------------------------------------------------------------- disjunctions


def disjunction(literals, x):
    """literals: (position, value that makes it true)."""
    return any(x[j] == value for j, value in literals)


def some_disjunction_is_consistent(X, y, negated):
    """Tries every set of literals."""
    width = len(X[0])
    literals = [(j, 1) for j in range(width)] + ([(j, 0) for j in range(width)] if negated else [])
    return any(
        all(disjunction(chosen, x) == label for x, label in zip(X, y, strict=True))
        for size in range(len(literals) + 1)
        for chosen in combinations(literals, size)
    )


def functions_of_disjunctions(width, negated):
    """How many different functions there are."""
    literals = [(j, 1) for j in range(width)] + ([(j, 0) for j in range(width)] if negated else [])
    rows = [[(i >> j) & 1 for j in range(width)] for i in range(2**width)]
    return len(
        {
            tuple(disjunction(chosen, x) for x in rows)
            for size in range(len(literals) + 1)
            for chosen in combinations(literals, size)
        }
    )


# ---------------------------------------------------------------------- trees


def entropy(labels):
    n = len(labels)
    shares = [labels.count(label) / n for label in set(labels)]
    return sum(p * log2(1 / p) for p in shares)


def gain(column, labels):
    """The footnote of section 6.2.3, for any number of values."""
    n = len(labels)
    after = 0.0
    for value in set(column):
        part = [label for v, label in zip(column, labels, strict=True) if v == value]
        after += len(part) / n * entropy(part)
    return entropy(labels) - after


def order(value):
    return (isinstance(value, str), value)


def commonest(labels):
    return min(set(labels), key=lambda label: (-labels.count(label), order(label)))


def id3(X, y, max_depth=None, min_gain=0.0):
    """A nested tree: ("leaf", label, examples) or ("ask", feature, label, examples, {value: tree})."""
    label = commonest(y)
    candidates = [j for j in range(len(X[0])) if len({x[j] for x in X}) > 1]
    if len(set(y)) == 1 or not candidates or max_depth == 0:
        return ("leaf", label, len(y))
    gains = {j: gain([x[j] for x in X], y) for j in candidates}
    best = max(gains.values())
    if best < min_gain - 1e-12:
        return ("leaf", label, len(y))
    feature = min(j for j in candidates if gains[j] >= best - 1e-12)
    branches = {}
    for value in sorted({x[feature] for x in X}, key=order):
        here = [i for i, x in enumerate(X) if x[feature] == value]
        branches[value] = id3(
            [X[i] for i in here], [y[i] for i in here], None if max_depth is None else max_depth - 1, min_gain
        )
    return ("ask", feature, label, len(y), branches)


def predict(tree, x):
    if tree[0] == "leaf":
        return tree[1]
    branches = tree[4]
    return predict(branches[x[tree[1]]], x) if x[tree[1]] in branches else tree[2]


def nodes(tree):
    return 1 if tree[0] == "leaf" else 1 + sum(nodes(branch) for branch in tree[4].values())


def leaves(tree):
    return 1 if tree[0] == "leaf" else sum(leaves(branch) for branch in tree[4].values())


def depth(tree):
    return 0 if tree[0] == "leaf" else 1 + max(depth(branch) for branch in tree[4].values())


def text(tree, name, indent=0, known=None):
    if tree[0] == "leaf":
        return []
    lines = []
    _, feature, label, _, branches = tree
    for value, branch in branches.items():
        line = "|   " * indent + f"{name(feature)} = {value}"
        if branch[0] == "leaf":
            lines.append(f"{line}: {branch[1]} ({branch[2]})")
        else:
            lines += [line, *text(branch, name, indent + 1, known)]
    if known is not None and len(branches) < len(known[feature]):
        lines.append("|   " * indent + f"{name(feature)} = any other: {label} (0)")
    return lines


def bits(count):
    width = 0
    while 2**width < count:
        width += 1
    return width


def description_length(tree, categories, labels):
    """Counted node by node, by the rules of the language."""
    if tree[0] == "leaf":
        return 1 + bits(len(labels))
    known = len(categories[tree[1]])
    more = bits(len(labels)) + known if known > 2 else 0
    below = sum(description_length(branch, categories, labels) for branch in tree[4].values())
    return 1 + bits(len(categories)) + more + below


def read(text_bits, categories, labels):
    """The tree that a description says, without the numbers of examples; and what is left of the bits."""
    kind, rest = text_bits[0], text_bits[1:]

    def number(width):
        nonlocal rest
        taken, rest = rest[:width], rest[width:]
        return int(taken, 2) if width else 0

    if kind == "0":
        return ("leaf", labels[number(bits(len(labels)))]), rest
    feature = number(bits(len(categories)))
    values, other = categories[feature], None
    if len(values) > 2:
        other = labels[number(bits(len(labels)))]
        mask, rest = rest[: len(values)], rest[len(values) :]
        values = [value for value, present in zip(values, mask, strict=True) if present == "1"]
    branches = {}
    for value in values:
        branches[value], rest = read(rest, categories, labels)
    return ("ask", feature, other, branches), rest


def bare(tree, categories):
    """A nested tree as `read` gives it."""
    if tree[0] == "leaf":
        return ("leaf", tree[1])
    other = tree[2] if len(categories[tree[1]]) > 2 else None
    return ("ask", tree[1], other, {value: bare(branch, categories) for value, branch in tree[4].items()})
