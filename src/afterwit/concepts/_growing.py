"""Growing a decision tree by information gain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from afterwit.concepts._tree import LEAF, Tree

Numbers = npt.NDArray[np.int64]

#: Gains this near to each other are the same but for rounding.
TIE = 1e-12


def grown(codes: list[Numbers], answers: Numbers, classes: int, max_depth: int | None, min_gain: float) -> Tree:
    """Nodes in the order in which they are described: each before its branches, in the order of the values."""
    parts: dict[str, list[int]] = {name: [] for name in ("feature", "label", "parent", "value", "examples")}
    waiting = [(np.arange(len(answers)), -1, -1, 0)]
    while waiting:
        rows, parent, value, depth = waiting.pop()
        counts = np.bincount(answers[rows], minlength=classes)
        feature = LEAF
        if np.count_nonzero(counts) > 1 and (max_depth is None or depth < max_depth):
            feature = _best_feature(codes, answers, rows, classes, min_gain)
        node = len(parts["feature"])
        described = (feature, int(np.argmax(counts)), parent, value, len(rows))
        for part, number in zip(parts.values(), described, strict=True):
            part.append(number)
        if feature != LEAF:
            column = codes[feature][rows]
            # The last comes first from the end of the list, so that branches follow each other in order.
            waiting += [(rows[column == code], node, code, depth + 1) for code in np.unique(column)[::-1].tolist()]
    return Tree(**{name: np.array(part, dtype=np.int64) for name, part in parts.items()})


def _best_feature(codes: list[Numbers], answers: Numbers, rows: Numbers, classes: int, min_gain: float) -> int:
    """The first feature of largest gain among those that differ within the rows; LEAF if there is none."""
    gains = np.full(len(codes), -np.inf)
    here = answers[rows]
    for j, column in enumerate(codes):
        values = column[rows]
        if (values != values[0]).any():
            gains[j] = gain(values, here, classes)
    best = gains.max()
    if best < min_gain - TIE:
        return LEAF
    return int(np.argmax(gains >= best - TIE))


def gain(values: Numbers, answers: Numbers, classes: int) -> float:
    """Ent(S) - sum_a |S^a| / |S| Ent(S^a), from the table of counts."""
    if not len(values):
        return 0.0
    table = np.bincount(values * classes + answers, minlength=(int(values.max()) + 1) * classes).reshape(-1, classes)
    sizes = table.sum(axis=1)
    # n Ent = n log2 n - sum c log2 c, for the whole and for the parts.
    whole = _n_log_n(np.array([len(values)])) - _n_log_n(table.sum(axis=0))
    return max(0.0, (whole - (_n_log_n(sizes) - _n_log_n(table))) / len(values))


def _n_log_n(counts: Numbers) -> float:
    return float(np.sum(counts * np.log2(np.maximum(counts, 1))))
