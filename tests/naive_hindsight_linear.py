"""Slow, obvious answers to what hindsight asks about fixed weights. Imports nothing from afterwit."""

import itertools
import math

import numpy as np
from scipy.optimize import linprog, minimize, minimize_scalar, nnls


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


def widest_margin(rows, labels):
    """The largest gamma with y (v . x) >= gamma for a unit vector v; 0 if none separates.

    It is the distance from 0 to the nearest point of the convex hull of all y x: least squares with weights >= 0, where
    one more row asks for a sum of 1 (Lawson & Hanson 1974, chapter 23).
    """
    signed = np.asarray(rows, dtype=float) * np.asarray(labels)[:, None]
    size = np.abs(signed).max(initial=0.0)
    if size == 0:
        return 0.0
    sides = np.vstack([signed.T / size, np.ones(len(signed))])
    weights, _ = nnls(sides, np.append(np.zeros(signed.shape[1]), 1.0), maxiter=10_000)
    nearest = signed.T @ (weights / weights.sum())
    length = float(np.linalg.norm(nearest))
    # A true separator shows itself on the rows.
    return max(0.0, float((signed @ nearest).min()) / length) if length > 1e-12 * size else 0.0


def least_hinge(rows, labels, box=None):
    """The least total hinge loss of any weights: a linear program."""
    scaled, sizes = one_size(rows)
    signed = scaled * np.asarray(labels)[:, None]
    count, width = signed.shape
    result = linprog(
        np.append(np.zeros(width), np.ones(count)),
        A_ub=np.hstack([-signed, -np.eye(count)]),
        b_ub=-np.ones(count),
        bounds=[(None, None) if box is None else (-box * size, box * size) for size in sizes] + [(0, None)] * count,
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


# ---------------------------------------------------------------------- between what and what the least loss is


def between(loss, rows, labels, ridge=0.0, ball=None, box=None):
    """Two numbers between which the least total loss plus ridge/2 |u|^2 is, of weights in the ball or the box.

    The larger is the value of some weights. The smaller one follows from duality, so that a search that ends early makes the
    two differ and neither wrong. Without ridge, ball and box it is 0 for a loss that is not piecewise linear.
    """
    signed = np.asarray(rows, dtype=float) * np.asarray(labels)[:, None]
    size = float(np.sqrt((signed**2).sum(axis=1)).max(initial=0.0))
    if loss == "perceptron" or size == 0:
        nothing = {"perceptron": 0.0, "hinge": 1.0, "squared": 0.5, "logistic": math.log(2)}[loss] * len(signed)
        return nothing, nothing
    if loss == "hinge" and ball is None and not ridge:
        least = least_hinge(rows, labels, box)
        return least * (1 - 1e-7) - 1e-9 * len(signed), least * (1 + 1e-7) + 1e-9 * len(signed)
    # Rows of length up to 1.
    return REGIONS[loss == "hinge"](
        loss,
        signed / size,
        ridge / size**2,
        None if ball is None else ball * size,
        None if box is None else box * size,
    )


def _hinge_between(_, signed, ridge, ball, box):
    """For 0 <= a <= 1 the hinge loss is at least the sum of a (1 - m); what is left has its least value in closed form."""
    assert box is None
    if ball is None:
        below, weights = _svm_between(signed, ridge)
        return below, _hinge(signed, weights) + ridge * float(weights @ weights) / 2
    assert not ridge
    best = [0.0, float(len(signed))]

    def at_price(log_price):
        """In the ball |u|^2 costs at most what it would at a price, less that of the whole ball."""
        price = math.exp(log_price)
        below, weights = _svm_between(signed, price)
        weights = weights * min(1.0, ball / (float(np.linalg.norm(weights)) or 1.0))
        best[:] = max(best[0], below - price * ball**2 / 2), min(best[1], _hinge(signed, weights))
        return price * ball**2 / 2 - below

    middle = math.log(len(signed) / ball)
    minimize_scalar(at_price, bounds=(middle - 20, middle + 2), method="bounded", options={"xatol": 1e-5})
    return tuple(best)


def _hinge(signed, weights):
    return float(np.maximum(0.0, 1 - signed @ weights).sum())


def _svm_between(signed, ridge):
    """The value of the dual of hinge + ridge/2 |u|^2 at some point, and the weights that belong to it."""

    def dual(a):
        u = signed.T @ a / ridge
        return ridge * float(u @ u) / 2 - a.sum(), signed @ u - 1

    start = np.full(len(signed), 0.5)
    found = minimize(dual, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * len(signed), options=PATIENT)
    return -found.fun, signed.T @ found.x / ridge


def _smooth_between(loss, signed, ridge, ball, box):
    """A convex function is above its tangents: the least value of the tangent in the region, or of that and the ridge."""

    def value(u):
        m = signed @ u
        if loss == "logistic":
            total, slopes = np.logaddexp(0, -m).sum(), -1 / (1 + np.exp(np.clip(m, -500, 500)))
        else:
            total, slopes = ((m - 1) ** 2).sum() / 2, m - 1
        return float(total + ridge * (u @ u) / 2), signed.T @ slopes + ridge * u

    width = signed.shape[1]
    if ball is None:
        bounds = None if box is None else [(-box, box)] * width
        found = minimize(value, np.zeros(width), jac=True, method="L-BFGS-B", bounds=bounds, options=PATIENT).x
    else:
        inside = {"type": "ineq", "fun": lambda v: 1 - v @ v / ball**2, "jac": lambda v: -2 * v / ball**2}
        options = {"maxiter": 500, "ftol": 1e-15}
        found = minimize(value, np.zeros(width), jac=True, method="SLSQP", constraints=inside, options=options).x
        found = found * min(1.0, ball / (float(np.linalg.norm(found)) or 1.0))
    above, slope = value(found)
    gaps = [math.inf]
    if ridge:
        gaps.append(float(slope @ slope) / (2 * ridge))
    if ball is not None:
        gaps.append(float(slope @ found) + ball * float(np.linalg.norm(slope)))
    if box is not None:
        gaps.append(float(slope @ found) + box * float(np.abs(slope).sum()))
    return max(0.0, above - min(gaps)), above


PATIENT = {"maxiter": 3000, "maxfun": 10_000, "ftol": 1e-16, "gtol": 1e-12}
REGIONS = {True: _hinge_between, False: _smooth_between}
