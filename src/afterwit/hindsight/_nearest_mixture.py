"""The mixture of columns of least length: least squares over the simplex.

Problem     minimise |D w|^2 over w >= 0 with sum w = 1, where column i of D is expert i's errors: since the weights sum
            to 1, D w is the error of the mixture, and nothing large cancels.
Method      D = Q R leaves |D w| = |R w|, with R no larger than the experts are many, and keeps what the matrix of
            inner products would lose by squaring. The point of the hull of R's columns nearest to 0 minimises
            |R u|^2 + s^2 (1 - sum u)^2 over u >= 0, up to a factor, for any s > 0: non-negative least squares (scipy),
            an active-set method that ends at the exact answer up to rounding.
Source      Wolfe 1976 poses the problem; Lawson & Hanson 1974, chapter 23, solve it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def triangle(blocks: Iterator[Floats]) -> Floats:
    """R of the blocks' rows stacked: |R w| is the length of their product with w, for every w."""
    upper: Any = None
    for block in blocks:
        stacked = block if upper is None else np.vstack([upper, block])
        upper = np.linalg.qr(stacked, mode="r")
    assert upper is not None
    return np.asarray(upper)


def nearest_mixture(upper: Floats) -> Floats:
    """The w of the simplex with the shortest R w."""
    from scipy.optimize import nnls

    count = upper.shape[1]
    lengths = np.linalg.norm(upper, axis=0)
    best = np.zeros(count)
    best[int(np.argmin(lengths))] = 1.0
    length = float(lengths.min())
    target = np.zeros(len(upper) + 1)
    target[-1] = 1.0
    # The answer is sharpest where |R w| and s are of one size, and how small R w can be is not known beforehand.
    for _ in range(8):
        if length <= 1e-300:
            break
        try:
            scaled, _ = nnls(np.vstack([upper / length, np.ones(count)]), target, maxiter=30 * count)
        except RuntimeError:  # it does not converge: the best so far is returned, and its gap shows how far it is off
            break
        if not scaled.sum() > 0:
            break
        weights = scaled / scaled.sum()
        reached = float(np.linalg.norm(upper @ weights))
        if reached < length:
            best, before, length = weights, length, reached
            if reached < 0.1 * before:
                continue
        break
    return best


def corrected_mixture(blocks: Callable[[], Iterator[tuple[Any, Floats]]], weights: Floats) -> Floats:
    """The weights, corrected among the columns they use by the error of the mixture itself, which is computed first.

    Where columns are far larger than the mixture's error, R is rounded as they are, and so is what follows from it; of
    the correction only a share of that is lost.
    """
    used = np.flatnonzero(weights > 0)
    first, others = used[0], used[1:]
    if not len(others):
        return weights
    upper = triangle(
        np.column_stack([part[:, others] - part[:, first, np.newaxis], part @ weights]) for _, part in blocks()
    )
    change = np.linalg.lstsq(upper[:, :-1], -upper[:, -1], rcond=None)[0]
    # Only as far as all weights stay above 0.
    before, moved = weights[np.append(others, first)], np.append(change, -change.sum())
    falling = moved < 0
    length = min(1.0, float((before[falling] / -moved[falling]).min(initial=np.inf)))
    corrected = weights.copy()
    corrected[np.append(others, first)] = before + length * moved
    corrected = np.maximum(corrected, 0.0)
    return np.asarray(corrected / corrected.sum())
