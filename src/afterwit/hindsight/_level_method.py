"""The least value of any convex function over the simplex, with a proof of how far it could be from it.

Problem     minimise f(w) over w >= 0 with sum w = 1, where f is convex and each evaluation gives f(w) and one of its
            slopes g.
Method      Newton's, if second derivatives are given: each step goes to the least value of the quadratic model over the
            simplex (non-negative least squares). A smooth function takes a handful of evaluations. Otherwise
            every evaluation at v gives a plane that f does not go below: f(v) + g . (w - v). The least value m of the
            highest plane is found by linear programming (HiGHS); the next point is the one nearest to the best so far
            where all planes are below a level between m and the best value (non-negative least squares).
Certificate the multipliers of the program make one plane of all of them, whose least value over the simplex is at one
            of its corners: f does not go below it, however exact the program's answer was.
Source      Lemaréchal, Nemirovskii & Nesterov 1995, the level method.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from afterwit.hindsight._nearest_mixture import nearest_mixture

Floats = npt.NDArray[np.float64]
Evaluate = Callable[[Floats], tuple[float, Floats]]

#: A gap below this share of the value is small enough, unless told otherwise.
TOLERANCE = 1e-7
#: Rounding has been reached where this many evaluations have not brought the gap down by a tenth.
PATIENCE = 15
#: Newton's method goes on to this gap as long as every step is better, for at most so many evaluations; it was of use
#: where the gap left is below the third.
NEWTON_TOLERANCE, NEWTON_EVALUATIONS, NEAR = 1e-10, 30, 1e-2
#: What is added to second derivatives, as a share of the largest.
FIRM = 1e-12
#: The level, between the proved bound (0) and the best value (1).
LEVEL = 0.3


def minimise_over_simplex(
    evaluate: Evaluate,
    count: int,
    bends: Callable[[], Floats] | None = None,
    tolerance: float = TOLERANCE,
    most_evaluations: int = 300,
) -> tuple[Floats, float]:
    """The best weights found, and a value that no weights go below.

    bends      the matrix of second derivatives at the last point, as well as it is known from the points before
    tolerance  a gap below this share of the value is small enough
    """
    planes = _Planes(evaluate, count)
    planes.visit(np.full(count, 1.0 / count))
    lowest = -np.inf if bends is None else planes.newton(bends)
    if planes.best_value - lowest <= tolerance * max(abs(planes.best_value), 1e-300):
        return planes.best, lowest
    descended = not planes.best_value - lowest <= NEAR * abs(planes.best_value)
    if descended:
        planes.quick_descent(most_evaluations // 3)
    gaps: list[float] = []
    while len(planes.values) < most_evaluations:
        proved, lowest_point = planes.bound()
        lowest = max(lowest, proved)
        best = planes.best_value
        gaps.append(best - lowest)
        if gaps[-1] <= tolerance * max(abs(best), 1e-300):
            break
        if len(gaps) > PATIENCE and gaps[-1] > 0.9 * gaps[-1 - PATIENCE]:
            if descended:
                break
            planes.quick_descent(most_evaluations // 3)
            descended, gaps = True, []
            continue
        following = planes.nearest_below(lowest + LEVEL * (best - lowest))
        # Where planes all but coincide, rounding hides the level: the lowest point of the planes is still of use.
        planes.visit(lowest_point if following is None else following)
    return planes.best, max(lowest, planes.bound()[0])


class _Planes:
    """The points visited, with the function's value and slope at each."""

    def __init__(self, evaluate: Evaluate, count: int) -> None:
        self.evaluate = evaluate
        self.count = count
        self.values: list[float] = []
        self.slopes: list[Floats] = []
        #: What each plane is at w = 0.
        self.heights: list[float] = []
        self.best = np.full(count, 1.0 / count)
        self.best_value = np.inf

    def visit(self, weights: Floats) -> tuple[float, Floats]:
        weights = np.maximum(weights, 0.0)
        weights = weights / weights.sum()
        value, slope = self.evaluate(weights)
        self.values.append(value)
        self.slopes.append(slope)
        self.heights.append(value - float(slope @ weights))
        if value < self.best_value:
            self.best, self.best_value = weights, value
        return value, slope

    def newton(self, bends: Callable[[], Floats]) -> float:
        """Newton's method from the best point; what the planes of the points on the way prove, one by one."""
        here, value, slope = self.best, self.best_value, self.slopes[-1]
        lowest = value + float((slope - slope @ here).min())
        # Second derivatives are known from two points: the second is a little nearer to the corner that is downhill.
        following = 0.9 * here
        following[int(np.argmin(slope))] += 0.1
        while len(self.values) < NEWTON_EVALUATIONS:
            downhill = -float(slope @ (following - here))
            reached, there = self.visit(following)
            lowest = max(lowest, reached + float((there - there @ following).min()))
            if not reached < value and len(self.values) > 2:
                # Too far: to where the slope along the way is 0, if it changes evenly.
                rise = float(there @ (following - here))
                if not rise > -downhill:
                    break
                following = here + min(max(downhill / (downhill + rise), 0.1), 0.9) * (following - here)
                reached, there = self.visit(following)
                lowest = max(lowest, reached + float((there - there @ following).min()))
                if not reached < value:
                    break
            if reached < value:
                here, value, slope = following, reached, there
            if self.best_value - lowest <= NEWTON_TOLERANCE * max(abs(self.best_value), 1e-300):
                break
            step = _least_of_model(bends(), here, slope)
            if step is None or not slope @ (step - here) < 0:
                break
            following = step
        return lowest

    def quick_descent(self, most: int) -> None:
        """Sequential quadratic programming (SLSQP): quickly near the least value of a smooth function."""
        from scipy.optimize import minimize

        size = max(abs(self.values[0]), 1e-300)

        def scaled(weights: Floats) -> tuple[float, Floats]:
            total = float(np.maximum(weights, 0.0).sum())
            if not total > 0:
                return self.values[0] / size, self.slopes[0] / size
            value, slope = self.visit(weights)
            return value / size, slope / size

        minimize(
            scaled,
            self.best,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * self.count,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like},
            options={"maxiter": most // 2, "ftol": 1e-15},
        )

    def bound(self) -> tuple[float, Floats]:
        """The least value of the highest plane, as far as it is proved, and where it is."""
        from scipy.optimize import linprog

        slopes, heights = np.array(self.slopes), np.array(self.heights)
        # Measured from the best point and in its own size, so that HiGHS's tolerances mean something.
        offsets = heights + slopes @ self.best - self.best_value
        size = float(np.abs(slopes - slopes.mean(axis=1, keepdims=True)).max()) or 1.0
        spread = (slopes - (slopes @ self.best)[:, np.newaxis]) / size
        result = linprog(
            np.append(np.zeros(self.count), 1.0),
            A_ub=np.hstack([spread, np.full((len(slopes), 1), -1.0)]),
            b_ub=-offsets / size,
            A_eq=np.append(np.ones(self.count), 0.0).reshape(1, -1),
            b_eq=[1.0],
            bounds=[(0, None)] * self.count + [(None, None)],
            method="highs",
        )
        shares = np.zeros(len(slopes))
        lowest_point = self.best
        if result.x is not None and result.x[:-1].max() > 0:
            lowest_point = result.x[:-1]
            shares = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
        if not shares.sum() > 0:
            shares[int(np.argmin(self.values))] = 1.0
        shares /= shares.sum()
        return self.best_value + float(shares @ offsets + (shares @ (spread * size)).min()), lowest_point

    def nearest_below(self, level: float) -> Floats | None:
        """The point of the simplex nearest to the best where all planes are at most the level; None if none is found.

        With G x >= h for the difference x from the best point, the nearest is -r_j / r_last where r is the rest of the
        non-negative least squares problem [G^T; h^T] u = (0, ..., 0, 1) (Lawson & Hanson 1974, chapter 23).
        """
        from scipy.optimize import nnls

        slopes, heights = np.array(self.slopes), np.array(self.heights)
        sizes = np.linalg.norm(slopes, axis=1)
        sizes = np.where(sizes > 0, sizes, 1.0)
        ones = np.ones((1, self.count))
        sides = np.vstack([-slopes / sizes[:, np.newaxis], np.eye(self.count), ones, -ones])
        least = np.concatenate([(heights + slopes @ self.best - level) / sizes, -self.best, [0.0, 0.0]])
        reach = float(np.abs(least).max()) or 1.0
        system = np.vstack([sides.T, least / reach])
        target = np.append(np.zeros(self.count), 1.0)
        try:
            multipliers, _ = nnls(system, target, maxiter=30 * system.shape[1])
        except RuntimeError:
            return None
        rest = system @ multipliers - target
        if not rest[-1] < 0:
            return None
        following = np.maximum(self.best - reach * rest[:-1] / rest[-1], 0.0)
        return following if following.sum() > 0 else None


def _least_of_model(matrix: Floats, here: Floats, slope: Floats) -> Floats | None:
    """The point of the simplex where slope . d + d . H d / 2 is least, with d the way there; None without curvature.

    With H = L L^T it is |L^T w - c|^2 / 2 with L c = H v - slope, up to a number, and c = c sum w.
    """
    size = float(matrix.diagonal().max(initial=0.0))
    if not 0 < size < np.inf:
        return None
    try:
        lower = np.linalg.cholesky(matrix + FIRM * size * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return None
    aim = np.linalg.solve(lower, matrix @ here - slope)
    return nearest_mixture(np.asarray(lower.T - aim[:, np.newaxis], dtype=np.float64))
