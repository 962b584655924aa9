"""The game as a linear program, solved by HiGHS: exact up to its tolerance, and the slowest on large games.

Setting     minimise v over p >= 0 with sum p = 1 and (p^T M)_j <= v for every column j; the dual variables are q.
Guarantee   none that grows with the rounds: the gap is computed from the matrix like any other.
Source      Dantzig 1951; Huangfu & Hall, Parallelizing the dual revised simplex method, 2018 (HiGHS).

>>> import afterwit as aw
>>> solution = aw.solve_game([[3, -1], [-2, 1]], gap=1e-9, method="lp")
>>> solution.row_strategy.round(6).tolist(), solution.reached
([0.428571, 0.571429], True)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.games._payoffs import Floats, Payoffs

NO_THEOREM = "a linear program is solved by pivots, and no useful bound on the gap after some of them is known"


def solve_linear_program(
    payoffs: Payoffs, max_rounds: int, seconds: float
) -> tuple[Floats | None, Floats | None, int, str]:
    """The strategies (None where HiGHS found none in time), its iterations, and which limit stopped it, if one did."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    rows, columns = payoffs.shape
    exponent = payoffs.exponent
    across = payoffs.transposed
    against = -np.ones((columns, 1))
    if hasattr(across, "tocsr"):
        scaled = across.copy()
        scaled.data = np.ldexp(scaled.data, -exponent)
        constraints: Any = hstack([scaled, csr_array(against)], format="csr")
    else:
        constraints = np.hstack([np.ldexp(across, -exponent), against])
    cost = np.zeros(rows + 1)
    cost[rows] = 1.0
    result = linprog(
        cost,
        A_ub=constraints,
        b_ub=np.zeros(columns),
        A_eq=1.0 - cost.reshape(1, -1),
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
        options={"maxiter": max_rounds, "time_limit": max(seconds, 1e-3)},
    )
    stopped_by = "solver"
    if result.status == 1:
        stopped_by = "max_rounds" if int(result.nit) >= max_rounds else "max_seconds"
    if result.x is None:
        return None, None, int(result.nit or 0), stopped_by
    dual = None if result.ineqlin is None else _distribution(-np.asarray(result.ineqlin.marginals))
    return _distribution(result.x[:rows]), dual, int(result.nit), stopped_by


def _distribution(weights: Any) -> Floats | None:
    """Weights as a distribution, without what the solver's tolerance left below 0."""
    kept: Floats = np.maximum(np.asarray(weights, dtype=np.float64), 0.0)
    total = float(kept.sum())
    return kept / total if 0 < total < math.inf else None
