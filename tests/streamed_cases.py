"""Streams whose blocks are of any size and form, and certificates compared number by number."""

import math

import numpy as np
from scipy import sparse

FORMS = ("dense", "sparse", "named", "changing names")


def in_form(X, form):
    """The rows in another form, with the same learner's weights but for names."""
    if form == "dense":
        return X
    if form == "sparse":
        return sparse.csr_array(X)
    names = [f"f{j}" for j in range(X.shape[1])]
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in X]
    if form == "named":
        return rows
    # Zeros are left out, and every second row has its features in another order.
    return [{name: row[name] for name in (names if i % 2 else names[::-1]) if row[name]} for i, row in enumerate(rows)]


class Blocks:
    """Rows in blocks of a size; counts how often they are read. Some blocks may be without labels."""

    def __init__(self, X, y, size=64, unlabelled=()):
        self.X, self.y, self.size, self.unlabelled = X, list(y), size, unlabelled
        self.readings = 0

    def reader(self):
        self.readings += 1
        return Reader(self)


class Reader:
    def __init__(self, blocks):
        self.blocks, self.at, self.number = blocks, 0, 0

    def take(self, count):
        blocks = self.blocks
        self.number += 1
        if self.number in blocks.unlabelled:
            return blocks.X[:1], None
        if self.at >= len(blocks.y):
            return None
        begin, self.at = self.at, min(len(blocks.y), self.at + min(count, blocks.size))
        return blocks.X[begin : self.at], np.array(blocks.y[begin : self.at])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def by_theorem(certificate):
    return {(each.theorem.name, each.quantity): each for each in (certificate, *certificate.others)}


def assert_alike(one, other, relative, ordered=True):
    """Two certificates with the same numbers, but for a relative difference, and the same words about assumptions."""
    if ordered:
        assert one.theorem == other.theorem
    mine, others = by_theorem(one), by_theorem(other)
    assert set(mine) == set(others)
    for name, each in mine.items():
        beside = others[name]
        assert each.verdict is beside.verdict, f"{each}\n{beside}"
        assert each.subject == beside.subject
        assert each.rounds == beside.rounds
        assert math.isclose(each.observed, beside.observed, rel_tol=1e-12), name
        assert_close(each.bound, beside.bound, relative)
        assert [(a.statement, a.holds, a.detail) for a in each.assumptions] == [
            (a.statement, a.holds, a.detail) for a in beside.assumptions
        ]


def assert_close(one, other, relative):
    if one is None or other is None:
        assert one is other
    else:
        assert math.isclose(one, other, rel_tol=relative, abs_tol=1e-300), (one, other)
