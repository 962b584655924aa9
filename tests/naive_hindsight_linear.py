"""Slow, obvious answers to what hindsight asks about fixed weights. Imports nothing from afterwit."""

import itertools
import math

import numpy as np
from scipy.optimize import linprog, minimize


def totals(loss, weights, rows, labels):
    """The total loss of fixed weights, or their mistakes."""
    margins = [
        y * math.fsum(w * x for w, x in zip(weights, row, strict=True)) for row, y in zip(rows, labels, strict=True)
    ]
    if loss == "mistakes":
        return sum((m * y >= 0) != (y > 0) for m, y in zip(margins, labels, strict=True))
    if loss == "hinge":
        return math.fsum(max(0.0, 1 - m) for m in margins)
    if loss == "logistic":
        return math.fsum(max(0.0, -m) + math.log1p(math.exp(-abs(m))) for m in margins)
    return math.fsum((m - 1) ** 2 / 2 for m in margins)


def one_size(rows):
    """The columns divided by their largest entries, and those."""
    rows = np.asarray(rows, dtype=float)
    sizes = np.abs(rows).max(axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    return rows / sizes, sizes


def least_hinge(rows, labels):
    """The least total hinge loss of any weights: a linear program."""
    scaled, _ = one_size(rows)
    signed = scaled * np.asarray(labels)[:, None]
    count, width = signed.shape
    result = linprog(
        np.append(np.zeros(width), np.ones(count)),
        A_ub=np.hstack([-signed, -np.eye(count)]),
        b_ub=-np.ones(count),
        bounds=[(None, None)] * width + [(0, None)] * count,
        method="highs",
    )
    return result.fun


def least_smooth(loss, rows, labels, ridge=0.0, ball=None, box=None):
    """The least total logistic or squared loss plus ridge/2 |u|^2, by a general method for constrained problems."""
    scaled, sizes = one_size(rows)
    signed = scaled * np.asarray(labels)[:, None]

    def value(v):
        m = signed @ v
        if loss == "logistic":
            total, slopes = np.logaddexp(0, -m).sum(), -1 / (1 + np.exp(np.clip(m, -500, 500)))
        else:
            total, slopes = ((m - 1) ** 2).sum() / 2, m - 1
        u = v / sizes
        return total + ridge * (u @ u) / 2, signed.T @ slopes + ridge * u / sizes

    options = {"maxiter": 2000, "ftol": 1e-15}
    if ball is not None:
        inside = {"type": "ineq", "fun": lambda v: 1 - ((v / sizes / ball) ** 2).sum()}
        found = minimize(value, np.zeros(len(sizes)), jac=True, method="SLSQP", constraints=inside, options=options)
        return found.fun
    bounds = None if box is None else [(-box * size, box * size) for size in sizes]
    options["gtol"] = 1e-12
    return minimize(value, np.zeros(len(sizes)), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


def least_svm(rows, labels, C):
    """The least |u|^2/2 + C times the hinge loss: a quadratic program with a slack for every row."""
    scaled, sizes = one_size(rows)
    signed = scaled * np.asarray(labels)[:, None]
    count, width = signed.shape

    def value(z):
        u = z[:width] / sizes
        return u @ u / 2 + C * z[width:].sum(), np.append(u / sizes, np.full(count, C))

    sides = np.hstack([signed, np.eye(count)])
    found = minimize(
        value,
        np.append(np.zeros(width), np.ones(count)),
        jac=True,
        method="SLSQP",
        bounds=[(None, None)] * width + [(0, None)] * count,
        constraints={"type": "ineq", "fun": lambda z: sides @ z - 1, "jac": lambda z: sides},
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return found.fun


def fewest_mistakes_in_the_plane(rows, labels):
    """The fewest mistakes of any line through 0 in two dimensions: every direction between two critical ones."""
    angles = [math.atan2(x[0], -x[1]) for x in rows if any(x)]
    critical = sorted({(angle + turn) % (2 * math.pi) for angle in angles for turn in (0, math.pi)}) or [0.0]
    between = [(a + b) / 2 for a, b in itertools.pairwise([*critical, critical[0] + 2 * math.pi])]
    return min(totals("mistakes", (math.cos(a), math.sin(a)), rows, labels) for a in between)
