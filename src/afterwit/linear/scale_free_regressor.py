"""ScaleFree for real targets: no rate, features in any units, and targets in any unit.

Setting     x_t in R^n, a real target y_t; predict p_t = w_t . x_t; a convex loss l(p, y): square, absolute, pinball(q)
            or huber(d), as in `SGDRegressor`.
Update      that of `ScaleFree`, with slopes that are cut off. B_{t-1} is the largest |l'(p_s, y_s)| of the rounds
            before, 0 at first; for the absolute, the pinball and the Huber loss it is the largest slope that the loss
            can have, and nothing is cut off. For every feature i, from M = G = S = 0:
            before the prediction  M <- max(M, |x_{t,i}| B_{t-1}), S' = sqrt(S + M^2), theta = G / S',
                                   w_{t,i} = sgn(theta) min(|theta|, 1) E / (2 S'), 0 if S' is 0
            after the target       g = l'(p_t, y_t), cut off at -B_{t-1} and B_{t-1},
                                   G <- G - g x_{t,i}, S <- S + (g x_{t,i})^2, E <- E - g x_{t,i} w_{t,i}
            Each feature begins with the money E = epsilon U, where U is the first loss that is not 0; no bet is made
            before it is known. So to multiply a feature by any number changes no prediction, and to multiply all
            targets by a number multiplies all predictions by it (but for the Huber loss, whose d has a unit).
Guarantee   against every u and on any sequence: the total loss is at most that of u, plus the sum over the features of
            epsilon U + 2 b_i max(0, ln(2 b_i K_i / (epsilon U)) - 3/4), where b_i = |u_i| S'_i with the final S'_i,
            K_i = (1 + S_i / m_i^2)^(1/(2 ln 2)) and m_i is the first M_i that is not 0, plus the sum over the rounds of
            max(0, |l'(p_t, y_t)| - B_{t-1}) |p_t - u . x_t|: what is cut off when a slope is larger than all before.
Assumes     nothing about where the examples come from.
Source      Kempka, Kotlowski & Warmuth 2019, Algorithm 2 (ScInOL2); slopes are cut off as by Cutkosky 2019. The
            guarantee is proved in `CutOffScaleFreeBound`.

>>> learner, other = ScaleFreeRegressor(), ScaleFreeRegressor()
>>> for metres, kilograms in ((1.0, 20.0), (3.0, 31.0), (2.0, 26.0), (0.5, 17.0)):
...     same = learner.learn_one([metres], kilograms), other.learn_one([1024 * metres], 0.5 * kilograms)
>>> learner.predict_one([2.5]) == 2 * other.predict_one([1024 * 2.5]), round(learner.rmse, 2)
(True, 22.78)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.declared import Option, not_negative
from afterwit.data.checks import positive_number
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear.scale_free import ScaleFree, ScaleFreeBound

OPTIONS = (Option("epsilon", 1.0, positive_number), LOSS, INTERCEPT)


class CutOffScaleFreeBound(ScaleFreeBound):
    """The loss of u, plus what the bets on every feature cost, plus what the slopes that were cut off may cost.

    Proof. Let g_t = l'(p_t, y_t) and k_t = sgn(g_t) min(|g_t|, B_{t-1}). The loss is convex, so

        l(p_t, y_t) - l(u . x_t, y_t) <= g_t (p_t - u . x_t) <= k_t (p_t - u . x_t) + (|g_t| - |k_t|) |p_t - u . x_t|.

    The last parts add up to the last sum. The first are the regret of bets on the slopes k_t. Of c_t = -k_t x_{t,i} the
    proof of `ScaleFreeBound` needs |c_t| <= M_t <= S'_t, with an M that never falls: true, as |k_t| <= B_{t-1} and
    M_t >= |x_{t,i}| B_{t-1}. In the place of the first |x_{t,i}| that is not 0 it has the first M_t that is not 0: all
    c_t before it are 0. In the place of epsilon it has epsilon U. That this is not known from the start does no harm:
    before the first loss that is not 0 no slope is, so up to that round, and in it, all G are 0 and nothing is bet.
    """

    name = "scale-free regret, slopes cut off"
    formula = (
        "sum_i (eps U + 2 b_i max(0, ln(2 b_i K_i / (eps U)) - 3/4)) + sum_t max(0, |l'_t| - B_t) |p_t - u . x_t|, "
        "b_i = |u_i| S'_i"
    )

    def certify(self, evidence: Any) -> Any:
        met, epsilon = evidence.met, evidence.epsilon
        sizes, factors = evidence.spans[met], evidence.factors[met]

        def regret(u: Any) -> float:
            # Without a loss there is no slope either.
            bets = self.bound(np.abs(u.vector[met]) * sizes, factors, epsilon) if epsilon > 0 else 0.0
            return bets + float(evidence.cut_off(u))

        shown = {"eps U": epsilon, "features": int(np.count_nonzero(met)), "rounds cut off": evidence.rounds_cut_off}
        return self.applied(evidence, regret, shown)


class _Bets(ScaleFree):
    """The bets and the update of `ScaleFree`, with B and U."""

    _called = "ScaleFreeRegressor"
    options = with_labels(OPTIONS)
    kept = (not_negative("steepest"), not_negative("unit"))


class ScaleFreeRegressor(LinearRegressor):
    """A regressor without a rate, for features and targets in any units.

    epsilon    the money with which every feature begins, as a multiple of the first loss that is not 0
    loss       "square", "absolute", "pinball(q)" with a quantile q, or "huber(d)"
    intercept  whether every example has a further feature of value 1
    """

    theorems = (CutOffScaleFreeBound(),)
    options = OPTIONS
    _learns_by = _Bets
