"""Weights of least absolute or pinball loss, by linear programming.

Problem     minimise sum_t max(low r_t, high r_t), r = y - A w, low < 0 < high; w in the simplex, or any w.
Method      the dual program: maximise y . z - max_i (A^T z)_i over low <= z_t <= high (for any w: maximise y . z
            subject to A^T z = 0). It has as many rows as there are experts, however many rounds there are, and HiGHS
            (scipy) solves it quickly; w are its multipliers. With very many rounds, the sign of most r_t is plain
            from the optimum of a sample: those z_t are fixed at their ends, the program decides about the others, and
            takes in more of them until the answer is that of all.
Certificate for w in the simplex, any z within the ends proves that no w does better than y . z - max_i (A^T z)_i.
Source      Koenker & Bassett 1978; Portnoy & Koenker 1997 for the fixing of signs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from afterwit.errors import AfterwitError

Floats = npt.NDArray[np.float64]

#: Programs start with this many numbers, rows times columns.
FIRST_SIZE = 400_000
#: A gap below this share of the loss is HiGHS's own rounding.
TOLERANCE = 1e-9


def quantile_program(rows: Floats, targets: Floats, ends: tuple[float, float], mixing: bool) -> tuple[Floats, Floats]:
    """The weights, and the z that proves them best."""
    if not mixing:
        # Columns and targets each in their own unit, so that the weights are of moderate size.
        sizes = np.abs(rows).max(axis=0)
        columns = np.where(sizes > 0, sizes, 1.0)
        unit = float(np.abs(targets).max()) or 1.0
        weights, z = _grow(rows / columns, targets / unit, ends, False)
        return weights * unit / columns, z
    return _grow(rows, targets, ends, True)


def loss_of(rows: Floats, targets: Floats, ends: tuple[float, float], weights: Floats) -> float:
    rest = targets - rows @ weights
    return float(np.maximum(ends[0] * rest, ends[1] * rest).sum())


def proved(rows: Floats, targets: Floats, z: Floats) -> float:
    """What no mixture does better than, by this z."""
    return float(targets @ z - (z @ rows).max())


def _grow(rows: Floats, targets: Floats, ends: tuple[float, float], mixing: bool) -> tuple[Floats, Floats]:
    count, width = rows.shape
    size = max(FIRST_SIZE // width, 20 * width)
    if count <= 2 * size:
        solved = _solve(rows, targets, ends, np.zeros(width), mixing)
        return _required(solved)
    step = -(-count // size)
    solved = _required(_solve(rows[::step], targets[::step], ends, np.zeros(width), mixing))
    before = np.inf
    while True:
        rest = targets - rows @ solved[0]
        z = np.where(rest > 0, ends[1], ends[0])
        undecided = np.argpartition(np.abs(rest), size)[:size] if size < count else np.arange(count)
        z[undecided] = 0.0
        found = _solve(rows[undecided], targets[undecided], ends, z @ rows, mixing)
        if found is None:
            if size >= count:
                return _required(found)
            wrong = np.inf
        else:
            z[undecided] = found[1]
            rest = targets - rows @ found[0]
            # A row's z is right if it is the end that the sign of its rest asks for; this is what is lost otherwise.
            wrong = float((np.maximum(ends[0] * rest, ends[1] * rest) - z * rest).sum())
            if size >= count or wrong <= TOLERANCE * loss_of(rows, targets, ends, found[0]):
                return found[0], z
            solved = found
        if not wrong < 0.1 * before:
            size = min(2 * size, count)
        before = wrong


def _required(solved: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
    if solved is None:
        raise AfterwitError("the linear program could not be solved: the numbers differ too much in size")
    return solved


def _solve(
    rows: Floats, targets: Floats, ends: tuple[float, float], fixed: Floats, mixing: bool
) -> tuple[Floats, Floats] | None:
    """One program over these rows, where the others add ``fixed`` to A^T z; None if there is no answer."""
    from scipy.optimize import linprog

    count, width = rows.shape
    # HiGHS's tolerances are absolute: work with numbers around 1.
    scale = float(np.abs(rows).mean()) or 1.0
    limits = np.tile(np.array(ends), (count, 1))
    if mixing:
        result = linprog(
            np.append(-targets / scale, 1.0),
            A_ub=np.hstack([rows.T / scale, np.full((width, 1), -1.0)]),
            b_ub=-fixed / scale,
            bounds=np.vstack([limits, [-np.inf, np.inf]]),
            method="highs",
        )
    else:
        result = linprog(-targets / scale, A_eq=rows.T / scale, b_eq=-fixed / scale, bounds=limits, method="highs")
    if result.x is None or result.status != 0:
        return None
    z = np.clip(result.x[:count], *ends)
    if not mixing:
        return -np.asarray(result.eqlin.marginals), z
    weights = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
    total = weights.sum()
    return None if not total > 0 else (weights / total, z)
