"""The examples with which the conformance suite tries a learner: numbers, booleans or points, in every form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from afterwit.testing.experts import SEED

Make = Callable[..., Any]


def takes_of(make: Make) -> str:
    """What a learner's examples are: "numbers" unless it says "booleans" (0 and 1) or "points" (of a finite class)."""
    return str(getattr(make(), "takes", "numbers"))


def numbers(make: Make, rows: int = 60, noise: bool = True) -> tuple[Any, Any]:
    """Examples a learner takes, and labels that some rule gets right, but for a little noise.

    Values that are not exact in binary, half of them 0; the same as 0 and 1; or points of a finite class.
    """
    random = np.random.default_rng(SEED)
    if (takes := takes_of(make)) == "points":
        hypotheses = make().hypotheses
        at = random.integers(len(hypotheses.points), size=rows)
        positive = hypotheses.matrix[random.integers(len(hypotheses)), at]
        return [hypotheses.points[i] for i in at], np.where(positive ^ (noise & (random.random(rows) < 0.1)), 1, -1)
    width = 9
    X = np.round(random.standard_normal((rows, width)), 3) * (random.random((rows, width)) < 0.5)
    if takes == "booleans":
        X = (X != 0).astype(np.float64)
        return X, np.where(X[:, :2].any(axis=1) ^ (noise & (random.random(rows) < 0.1)), 1, -1)
    y = np.where(X @ random.standard_normal(width) + 0.3 * random.standard_normal(rows) >= 0, 1, -1)
    return X, y


def separable(make: Make) -> tuple[Any, Any]:
    """Examples with labels that a rule of the learner's kind gets right; no number is too near to it."""
    if takes_of(make) != "numbers":
        return numbers(make, noise=False)
    X, _ = numbers(make, rows=200)
    target = np.random.default_rng(SEED).standard_normal(X.shape[1])
    scores = X @ target / np.linalg.norm(target)
    far = np.abs(scores) > 0.7
    return X[far], np.where(scores[far] >= 0, 1, -1)


def as_dicts(X: Any) -> list[dict[str, float]]:
    return [{f"f{j}": float(value) for j, value in enumerate(row) if value != 0} for row in X]


def forms(make: Make) -> Iterator[tuple[str, Any, list[Any], Any]]:
    """The same examples as every kind of input: (kind, many, one by one, y)."""
    from scipy.sparse import csr_array, csr_matrix

    from afterwit.data.rows import SparseRow

    X, y = numbers(make)
    if takes_of(make) == "points":
        yield "list of points", X, X, y
        yield "tuple of points", tuple(X), X, y
        if np.asarray(X).dtype.kind in "biuf":
            yield "array of points", np.asarray(X), list(np.asarray(X)), y
        return
    sparse = csr_array(X)
    rows = [sparse[[i]] for i in range(len(y))]
    yield "dense array", X, list(X), y
    yield "list of lists", X.tolist(), X.tolist(), y
    yield "sparse array", sparse, rows, y
    yield "sparse matrix", csr_matrix(X), rows, y
    yield "sparse columns", sparse.tocsc(), rows, y
    pairs = [SparseRow(row.indices, row.data) for row in rows]
    yield "sparse rows", pairs, pairs, y
    yield "dicts", as_dicts(X), as_dicts(X), y
    try:
        import pandas
    except ImportError:
        return
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    yield "data frame", frame, [dict(zip(names, row, strict=True)) for row in X.tolist()], pandas.Series(y)
