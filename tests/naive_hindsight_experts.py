"""Slow, obvious answers to what hindsight asks about experts. Imports nothing from afterwit."""

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def loss_of(name, forecast, outcome):
    difference = forecast - outcome
    if name == "square":
        return difference**2
    if name == "absolute":
        return abs(difference)
    if name == "percentage":
        return abs(difference) / abs(outcome)
    if name.startswith("pinball"):
        q = float(name[8:-1])
        return -q * difference if difference < 0 else (1 - q) * difference
    if name == "log":
        return -math.log(forecast if outcome == 1 else 1 - forecast)
    if name == "huber":
        return difference**2 / 2 if abs(difference) < 1 else abs(difference) - 0.5
    raise AssertionError(name)


def total_loss(name, weights, advice, outcomes, constant=0.0):
    total = 0.0
    for row, outcome in zip(advice, outcomes, strict=True):
        forecast = constant + sum(w * value for w, value in zip(weights, row, strict=True))
        total += loss_of(name, forecast, outcome)
    return total


def simplex_grid(count, steps):
    """Every mixture whose weights are multiples of 1/steps."""
    for bars in itertools.combinations(range(steps + count - 1), count - 1):
        edges = (-1, *bars, steps + count - 1)
        yield [(b - a - 1) / steps for a, b in itertools.pairwise(edges)]


def best_on_the_grid(name, advice, outcomes, steps):
    return min(total_loss(name, w, advice, outcomes) for w in simplex_grid(len(advice[0]), steps))


def best_sequence(losses, shifts):
    """The least loss of a sequence of awake experts with at most so many shifts; None if there is none."""
    best = None
    for sequence in itertools.product(range(len(losses[0])), repeat=len(losses)):
        if sum(a != b for a, b in itertools.pairwise(sequence)) > shifts:
            continue
        followed = [row[i] for row, i in zip(losses, sequence, strict=True)]
        if any(math.isnan(loss) for loss in followed):
            continue
        if best is None or sum(followed) < best:
            best = sum(followed)
    return best


def regret_curve(own, losses):
    """After each round, the largest regret to any expert that has been awake, over the rounds in which it was."""
    regrets = {}
    curve = []
    for mine, row in zip(own, losses, strict=True):
        for i, loss in enumerate(row):
            if not math.isnan(loss):
                regrets[i] = regrets.get(i, 0.0) + mine - loss
        curve.append(max(regrets.values(), default=0.0))
    return curve


def saved_by_swapping(shares, losses, i, j):
    """What playing j wherever i was played would have saved, in the rounds in which j was awake."""
    saved = 0.0
    for share, loss in zip(shares, losses, strict=True):
        if share[i] > 0 and not math.isnan(loss[j]):
            saved += share[i] * (loss[i] - loss[j])
    return saved


def internal_regret(shares, losses):
    experts = range(len(losses[0]))
    return max(saved_by_swapping(shares, losses, i, j) for i in experts for j in experts)


def swap_regret(shares, losses):
    """By trying every function from experts to experts."""
    experts = range(len(losses[0]))
    return max(
        sum(saved_by_swapping(shares, losses, i, j) for i, j in enumerate(function))
        for function in itertools.product(experts, repeat=len(losses[0]))
    )


def least_mixture(name, advice, outcomes):
    """The least loss of any fixed mixture: a linear program, or, for the square loss, a quadratic one over the simplex."""
    advice, outcomes = np.asarray(advice, dtype=float), np.asarray(outcomes, dtype=float)
    size = float(max(np.abs(advice).max(), np.abs(outcomes).max())) or 1.0
    rows, y = advice / size, outcomes / size
    count, n = rows.shape
    if name == "square":
        return size**2 * _least_square_mixture(rows, y)
    over = under = np.ones(count)
    if name == "percentage":
        over = under = 1 / np.abs(outcomes)
    elif name.startswith("pinball"):
        q = float(name[len("pinball(") : -1])
        over, under = np.full(count, 1 - q), np.full(count, q)
    sides = np.hstack([rows, -np.eye(count), np.eye(count)])
    found = linprog(
        np.concatenate([np.zeros(n), over, under]),
        A_eq=np.vstack([sides, np.append(np.ones(n), np.zeros(2 * count))]),
        b_eq=np.append(y, 1.0),
        method="highs",
    )
    return size * found.fun


def _least_square_mixture(rows, y):
    """Every face of the simplex: the best point of the plane it lies in, where that is in the face."""
    best, n = math.inf, rows.shape[1]
    for bits in range(1, 2**n):
        face = [i for i in range(n) if bits >> i & 1]
        first, rest = rows[:, face[0]], rows[:, face[1:]]
        weights = np.linalg.lstsq(rest - first[:, None], y - first, rcond=None)[0]
        p = np.append(1 - weights.sum(), weights)
        if (p >= -1e-12).all():
            best = min(best, float(((rows[:, face] @ p - y) ** 2).sum()))
    return best
