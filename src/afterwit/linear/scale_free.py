# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""ScaleFree: bets on every feature, with no rate. To multiply a feature by any number changes no prediction.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1; a convex loss of the score whose slope g_t
            is from -1 to 1.
Update      for every feature i, from M = G = S = 0 and E = epsilon:
            before the prediction  M <- max(M, |x_{t,i}|), S' = sqrt(S + M^2), theta = G / S',
                                   w_{t,i} = sgn(theta) min(|theta|, 1) E / (2 S'), 0 if S' is 0
            after the label        G <- G - g_t x_{t,i}, S <- S + (g_t x_{t,i})^2, E <- E - g_t x_{t,i} w_{t,i}
            E is the money of a gambler who bets on the sign of the next gradient, at most half of it. A feature in
            other units has the same bets.
Guarantee   against every u and on any sequence: the total loss is at most that of u plus the sum over the features of
            epsilon + 2 b_i max(0, ln(2 b_i K_i / epsilon) - 3/4), where b_i = |u_i| S'_i with the final S'_i,
            K_i = (1 + S_i / m_i^2)^(1/(2 ln 2)), and m_i is the first |x_{t,i}| that is not 0. With u = 0: the loss is
            at most epsilon for each feature above that of weights that stay at 0. Every wrong sign costs at least ln 2
            of logistic loss and 1 of hinge loss, so the same bounds the mistakes.
Assumes     nothing about where the examples come from.
Source      Kempka, Kotlowski & Warmuth 2019, Algorithm 2 (ScInOL2); the guarantee is proved in `ScaleFreeBound`.

>>> learner, other = ScaleFree(), ScaleFree()
>>> for metres, label in ((1.0, 1), (3.0, -1), (2.0, -1), (0.5, 1)):
...     scores = learner.score_one([metres]), other.score_one([1000 * metres])
...     same = learner.learn_one([metres], label), other.learn_one([1000 * metres], label)
>>> abs(scores[0] - scores[1]) < 1e-12, learner.mistakes
(True, 2)
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Option
from afterwit.core.learner import view
from afterwit.data.checks import one_of, positive_number
from afterwit.data.losses import get
from afterwit.data.margin_losses import SLOPES_UP_TO_1
from afterwit.errors import invalid
from afterwit.linear._engine import PRACTICAL
from afterwit.linear._regret import Descent, DescentKind, RegretBound, with_mistakes
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.afterwit.linear._losses import loss_of_error, slope
    from cython.cimports.libc.math import copysign, fabs, sqrt
else:
    from math import copysign, fabs, sqrt

    from afterwit.linear._engine import LinearLearner
    from afterwit.linear._losses import loss_of_error, slope

DIVERGED = cython.declare(cython.int, Stop.DIVERGED)
#: How many bets are taken at once.
PART = cython.declare(cython.Py_ssize_t, 32)
#: A variable, because the compiler takes the smaller of two variables without a branch.
ONE = cython.declare(cython.double, 1.0)
#: The most money with which a bet is made: the next round multiplies it by at most 3/2.
RICHEST = cython.declare(cython.double, 1e290)


class ScaleFreeBound(RegretBound):
    """The loss of u, plus what the bets on every feature cost.

    Proof, for one feature. Let c_t = -g_t x_t, so that |c_t| <= |x_t| <= M_t <= S'_t. The money is
    E_t = E_{t-1} (1 + c_t beta_t) with beta_t = clip(theta_t, -1, 1) / (2 S'_t), and |c_t beta_t| <= 1/2: it stays
    above 0, and ln(1 + z) >= z - z^2 applies. Let h(theta) = theta^2/2 for |theta| <= 1 and |theta| - 1/2 beyond; its
    derivative is the clip, and it is 1-smooth: c_t beta_t >= (h(G_t/S'_t) - h(G_{t-1}/S'_t)) / 2 - c_t^2 / (4 S'_t^2).
    S' grows, so the differences add up to at least h(G_T/S'_T), and with (c_t beta_t)^2 <= c_t^2 / (4 S'_t^2)

        ln(E_T / epsilon) >= h(G_T/S'_T) / 2 - 1/2 sum_t c_t^2 / S'_t^2.

    With z = c_t^2 / S'_t^2 <= 1: z <= log2(1 + z), and 1 + z <= (S_t + m^2) / (S_{t-1} + m^2), where S_t includes
    round t and m is the first |x| that is not 0; these multiply to 1 + S_T/m^2. As h(theta) >= |theta| - 1/2,

        E_T >= epsilon e^{-1/4} / K exp(|G_T| / (2 S'_T)),  K = (1 + S_T/m^2)^(1/(2 ln 2)).

    The regret to u is at most u G_T - (E_T - epsilon). With b = |u| S'_T this is at most epsilon plus the largest value
    of b theta - epsilon e^{-1/4} / K e^{theta/2} for theta >= 0, which is the claim. The S' after the last round, which
    includes it, is at least S'_T.
    """

    name = "scale-free regret"
    formula = "sum_i (eps + 2 b_i max(0, ln(2 b_i K_i / eps) - 3/4)), b_i = |u_i| S'_i"
    citation = "Kempka, Kotlowski & Warmuth 2019, Algorithm 2; our own proof"
    foreseeable = False

    @staticmethod
    def bound(reaches: Any, factors: Any, epsilon: Any) -> Any:
        """``reaches`` are the b_i and ``factors`` the K_i of all features that were met."""
        with np.errstate(divide="ignore"):
            logarithms = np.log(2 * reaches * factors / epsilon) - 0.75
        return float((epsilon + 2 * reaches * np.maximum(logarithms, 0.0)).sum())

    def certify(self, evidence: Any) -> Any:
        met = evidence.met
        sizes, factors = evidence.spans[met], evidence.factors[met]
        return self.applied(
            evidence,
            lambda u: self.bound(np.abs(u.vector[met]) * sizes, factors, evidence.descent.rate),
            {"eps": evidence.descent.rate, "features": int(np.count_nonzero(met))},
        )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def bet(
    value: cython.double,
    sums: cython.double,
    squares: cython.double,
    largest: cython.double,
    money: cython.double,
) -> cython.double:
    """The weight of a feature in a round in which it has this value: theta money / 2 root, without a branch."""
    root: cython.double
    theta: cython.double
    largest = max(max(largest, value), -value)
    squares += largest * largest
    # A root of 0 would be divided by. The bet is 0 anyway, but for values whose squares are 0.
    squares += 1.0 if squares == 0 else 0.0
    root = ONE / sqrt(squares)
    theta = max(min(sums * root, ONE), -ONE)
    return 0.5 * theta * money * root


@cython.cclass
class ScaleFree(LinearLearner):
    """A learner without a rate, for features in any units.

    epsilon    the money with which every feature begins: what the bound pays for a feature that is of no use
    loss       "logistic", "hinge" or "perceptron"
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label
    """

    _epsilon: cython.double
    # The weights by which the current row was scored, entry after entry, and up to three numbers more.
    _bets: cython.double[::1]
    # Whether some feature has more money than a bet is made with.
    _some_rich: cython.bint
    # What slopes are cut off at, and what money is counted in: 1, but for real targets.
    _steepest = cython.declare(cython.double, visibility="public")
    _unit = cython.declare(cython.double, visibility="public")

    theorems = with_mistakes(ScaleFreeBound())
    converges_without = "mistakes"
    checker = "descent"
    # The largest value is noted in every round.
    _rests = False
    _stored = ("sums", "squares", "largest", "money")

    options = (
        Option("epsilon", 1.0, positive_number),
        Option("loss", "logistic", one_of(SLOPES_UP_TO_1, "to predict numbers, use ScaleFreeRegressor")),
        *PRACTICAL,
    )

    def _begin(self) -> None:
        self._epsilon = self._options["epsilon"]
        self._bets = view(np.zeros(64))
        self._some_rich = False
        LinearLearner._begin(self)
        # Of real targets no unit is known before the first; nor how steep the square loss can be.
        self._steepest = (get(self._options["loss"]).steepest or 0.0) if self._real else 1.0
        self._unit = 0.0 if self._real else 1.0
        self._weights = view(self._with_room(np.zeros(0), 16))

    # ------------------------------------------------------------------ the figure

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """The product of the bets with the current row. Entry k goes to running sum k mod 4, as everywhere."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        count: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        steepest: cython.double = self._steepest
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        # A part of the row. Nothing else can be in these arrays: so the compiler takes several bets in one step.
        places: cython.Py_ssize_t[32]
        bets: cython.double[32]
        terms: cython.double[36]
        if not cython.compiled:
            places, bets, terms = [0] * 32, [0.0] * 32, [0.0] * 36
        while begin < self._length:
            count = min(self._length - begin, PART)
            for k in range(count):
                column = self._columns[self._offset + begin + k]
                places[k] = 4 * column if self._known or 0 <= column < self._features else 0
            for k in range(count):
                bets[k] = bet(
                    steepest * self._values[self._first + begin + k],
                    self._weights[places[k]],
                    self._weights[places[k] + 1],
                    self._weights[places[k] + 2],
                    self._weights[places[k] + 3],
                )
                terms[k] = bets[k] * self._values[self._first + begin + k]
            if not self._known:
                for k in range(count):
                    column = self._columns[self._offset + begin + k]
                    if not 0 <= column < self._features:
                        # Nothing is known of it, and so nothing is bet.
                        bets[k] = terms[k] = 0.0
            for k in range(count, count + 3):
                terms[k] = 0.0
            for k in range(0, count, 4):
                self._bets[begin + k] = bets[k]
                self._bets[begin + k + 1] = bets[k + 1]
                self._bets[begin + k + 2] = bets[k + 2]
                self._bets[begin + k + 3] = bets[k + 3]
                s0 += terms[k]
                s1 += terms[k + 1]
                s2 += terms[k + 2]
                s3 += terms[k + 3]
            begin += count
        return (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        place: cython.Py_ssize_t
        value: cython.double
        gradient: cython.double
        money: cython.double
        steepest: cython.double = self._steepest
        whole: cython.double = slope(self._loss, self._parameter, y, score)
        derivative: cython.double = whole if fabs(whole) <= steepest else copysign(steepest, whole)
        if self._some_rich and self.is_too_rich():
            self._stopped = DIVERGED
            return False
        for k in range(self._length):
            place = 4 * self._columns[self._offset + k]
            value = steepest * self._values[self._first + k]
            gradient = derivative * self._values[self._first + k]
            self._weights[place] -= gradient
            self._weights[place + 1] += gradient * gradient
            self._weights[place + 2] = max(max(self._weights[place + 2], value), -value)
            money = self._weights[place + 3] - gradient * self._bets[k]
            self._weights[place + 3] = money
            if money > RICHEST:
                self._some_rich = True
        if self._real:
            self.note_units(whole, score - y)
        return derivative != 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_too_rich(self) -> cython.bint:
        """Whether a feature of the current row has more money than a bet is made with."""
        k: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        for k in range(self._length):
            found += self._weights[4 * self._columns[self._offset + k] + 3] > RICHEST
        return found > 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_units(self, whole: cython.double, error: cython.double) -> cython.void:
        """For real targets: note the largest slope so far, and the first loss, which is what money is counted in."""
        k: cython.Py_ssize_t
        self._steepest = max(self._steepest, fabs(whole))
        if self._unit == 0 and error != 0:
            self._unit = loss_of_error(self._loss, self._parameter, error)
            for k in range(self._weights.shape[0] // 4):
                self._weights[4 * k + 3] = self._epsilon * self._unit
            self._some_rich = self._epsilon * self._unit > RICHEST

    # ------------------------------------------------------------------ what it knows

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_scratch(self, entries: cython.Py_ssize_t) -> cython.int:
        if entries + 3 > self._bets.shape[0]:
            self._bets = view(np.zeros(entries + 3))
        return LinearLearner._need_scratch(self, entries)

    def _with_room(self, weights: Any, features: int) -> Any:
        longer = LinearLearner._with_room(self, weights, features)
        longer[len(weights) + 3 :: 4] = self._epsilon * self._unit
        return longer

    def _vector(self) -> Any:
        """The bets on values that are no larger than those that have been."""
        sums, squares, largest, money = (self._column(place) for place in range(4))
        roots = np.sqrt(squares + largest * largest)
        roots[roots == 0] = 1.0
        return 0.5 * np.clip(sums / roots, -1.0, 1.0) * money / roots

    def _become(self, state: Any) -> None:
        # The money of features to come is counted in it.
        self._unit = state.get("unit", 1.0)
        LinearLearner._become(self, state)
        self._some_rich = bool(state["money"].max(initial=0.0) > RICHEST)

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        for name in ("squares", "largest", "money"):
            if state[name].min(initial=0.0) < 0:
                raise invalid(name, "numbers that are not negative", state[name])

    def _descent(self) -> Descent:
        kind = DescentKind.SCALE_FREE_TARGETS if self._real else DescentKind.SCALE_FREE
        return Descent(kind, self._options["loss"], self._epsilon)
