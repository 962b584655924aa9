"""Growing a decision tree by information gain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from afterwit.concepts._tree import LEAF, Tree

Numbers = npt.NDArray[np.int64]

#: Gains this near to each other are the same but for rounding.
TIE = 1e-12
#: Rows that are counted at once, for all features: a block of them stays in the cache.
BLOCK = 2048


class Counter:
    """Counts labels by the values of every feature at once, for any part of the rows."""

    def __init__(self, codes: list[Numbers], answers: Numbers, classes: int) -> None:
        self.answers = answers
        self.classes = classes
        widths = [int(column.max(initial=0)) + 1 for column in codes]
        self.starts = np.concatenate([[0], np.cumsum(widths)])
        # Every value of every feature has a row of its own in the table of counts.
        places = [column + start for column, start in zip(codes, self.starts[:-1], strict=True)]
        self.places = np.stack(places, axis=1).astype(np.int32)
        counts = np.arange(len(answers) + 1, dtype=np.float64)
        self.n_log_n = counts * np.log2(np.maximum(counts, 1))

    def table(self, rows: Numbers) -> Numbers:
        """Counts of labels: a row for every value of every feature."""
        cells = int(self.starts[-1]) * self.classes
        table = np.zeros(cells, dtype=np.int64)
        for begin in range(0, len(rows), BLOCK):
            part = rows[begin : begin + BLOCK]
            at = self.places[part] * np.int64(self.classes) + self.answers[part, None]
            table += np.bincount(at.reshape(-1), minlength=cells)
        return table.reshape(-1, self.classes)

    def gains(self, rows: Numbers) -> npt.NDArray[np.float64]:
        """The information gain of every feature among the rows, in bits; -inf where all have the same value."""
        table = self.table(rows)
        sizes = table.sum(axis=1)
        n = len(rows)
        # n Ent = n log2 n - sum c log2 c, for the whole and for the parts.
        whole = self.n_log_n[n] - self.n_log_n[np.bincount(self.answers[rows], minlength=self.classes)].sum()
        parts = np.add.reduceat(self.n_log_n[sizes] - self.n_log_n[table].sum(axis=1), self.starts[:-1])
        constant = np.maximum.reduceat(sizes, self.starts[:-1]) == n
        return np.where(constant, -np.inf, np.maximum((whole - parts) / n, 0.0))


def grown(codes: list[Numbers], answers: Numbers, classes: int, max_depth: int | None, min_gain: float) -> Tree:
    """Nodes in the order in which they are described: each before its branches, in the order of the values."""
    counter = Counter(codes, answers, classes)
    parts: dict[str, list[int]] = {name: [] for name in ("feature", "label", "parent", "value", "examples")}
    waiting = [(np.arange(len(answers)), -1, -1, 0)]
    while waiting:
        rows, parent, value, depth = waiting.pop()
        counts = np.bincount(answers[rows], minlength=classes)
        feature = LEAF
        if np.count_nonzero(counts) > 1 and (max_depth is None or depth < max_depth):
            feature = _best(counter.gains(rows), min_gain)
        node = len(parts["feature"])
        described = (feature, int(np.argmax(counts)), parent, value, len(rows))
        for part, number in zip(parts.values(), described, strict=True):
            part.append(number)
        if feature != LEAF:
            column = codes[feature][rows]
            # The last comes first from the end of the list, so that branches follow each other in order.
            waiting += [(rows[column == code], node, code, depth + 1) for code in np.unique(column)[::-1].tolist()]
    return Tree(**{name: np.array(part, dtype=np.int64) for name, part in parts.items()})


def _best(gains: npt.NDArray[np.float64], min_gain: float) -> int:
    """The first feature of largest gain; LEAF if none can be asked, or none gains enough."""
    best = gains.max()
    return LEAF if best < min_gain - TIE else int(np.argmax(gains >= best - TIE))
