# cython: boundscheck=False, wraparound=False, cdivision=True
"""Vovk's aggregating algorithm: for some losses, the regret to the best expert is at most ln N / eta at any time.

Setting     N experts who give a probability vector over K kinds of outcomes, of which one happens, or (square loss) a
            number in the interval [a, b] for an outcome in it.
Update      weights w_i of those awake, which sum to 1 and are proportional to exp(eta R_i), where R_i is the regret so
            far: what the learner has lost beyond expert i. For each outcome y, the losses l_i(y) make up the loss
            g(y) = -1/eta ln sum_i w_i exp(-eta l_i(y)). The forecast f is one that loses at most g(y) for every y:
            brier   f_y = max(s - g(y), 0) / 2, where s makes these sum to 1              eta = 1
            log     f = sum_i w_i x_i, the mean                                           eta = 1
            square  f = (a + b) / 2 - (g(b) - g(a)) / (2 (b - a))                         eta = 2 / (b - a)^2
Guarantee   after every round, the regret to every expert is at most ln N / eta; to an expert that sleeps, over the
            rounds in which it is awake.
Proof       W_t, the sum of the exp(eta R_i), begins as N. An expert that is awake is multiplied by exp(eta (l - l_i)),
            where l is the learner's loss; those awake make up exp(-eta g(y)) of what they were, times exp(eta l), and
            l <= g(y): together they do not grow. Those asleep stay as they are. So W_t <= N, and each of its terms.
            It remains that l(y) <= g(y) for every y. For log, they are equal.
            brier   Where f_y > 0, l(y) - g(y) is t = 1 + |f|^2 - s, and elsewhere it is at most that; so t is also
                    the mean of l(y) - g(y) over y drawn by f. With d_i = x_i - f, the loss l_i(y) is l(y) + |d_i|^2 -
                    2 (d_i(y) - f . d_i), and by Jensen's inequality
                    t = E ln sum_i w_i exp(2 (d_i(y) - f . d_i) - |d_i|^2)
                      <= ln sum_i w_i exp(-|d_i|^2) E exp(2 (d_i(y) - f . d_i)).
                    By Hoeffding's lemma that last mean is at most exp(r^2 / 2), where r is the largest less the least
                    number in d_i, and r^2 <= 2 |d_i|^2. So t <= ln sum_i w_i = 0, whatever the x_i are.
            square  The same with f drawn from {a, b}: f makes l(a) - g(a) and l(b) - g(b) the same number t; with
                    d_i = (x_i - f) / (b - a) and the mean of y equal to f, t eta = E ln sum_i w_i exp(4 d_i (y - f) /
                    (b - a) - 2 d_i^2), and the mean of exp(4 d_i (y - f) / (b - a)) is at most exp(2 d_i^2). Between
                    a and b, l(y) - y^2 is a straight line and g(y) - y^2 = -1/eta ln sum_i w_i exp(-eta x_i^2 + 2 eta
                    x_i y) is concave: a line below it at both ends is below it in between.
Zeros       Under the log loss, an expert who gave probability 0 to what happens has an infinite loss and no weight
            any more, for good.
Source      Vovk & Zhdanov 2009, Theorem 1 (Brier, with another proof of l(y) <= g(y)); Vovk 1998.

>>> learner = AggregatingAlgorithm(2, outcomes=("home", "draw", "away"))
>>> learner.learn_one([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], "home").round(3).tolist()
[0.355, 0.233, 0.412]
>>> learner.weights.round(3).tolist(), round(learner.largest_regret, 3)
([0.659, 0.341], 0.26)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import Count, Number, Option
from afterwit.core.inputs import EXPERTS, RATE
from afterwit.core.learner import view
from afterwit.data import losses
from afterwit.data.vectors import kinds_given
from afterwit.errors import InputError, Words, invalid
from afterwit.experts._declared import COUNTED, N_EXPERTS, Counts
from afterwit.experts._regret import RegretTheorem, Setting, Way, ratio

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.afterwit.experts._vectors import VectorRound
    from cython.cimports.libc.math import INFINITY, exp, fabs, log
else:
    from math import exp, fabs, log
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner
    from afterwit.experts._vectors import VectorRound

LOSSES = ("brier", "log", "square")
LOG = cython.declare(cython.int, losses.NAMES.index("log"))
#: Below this the probability of what happened is computed as an exponent: shares may be too small for a number.
TINY = cython.declare(cython.double, 1e-200)
#: What `judge_vector` says of a forecast that gives no probability to what happened; see `_judged`.
BAD_NUMBER = cython.declare(cython.int, 1)


class AggregatingBound(RegretTheorem):
    """The regret at its worst moment, because the bound holds at every one."""

    id = "aggregating-algorithm"
    name = "aggregating algorithm bound"
    quantity = "largest regret"
    formula = "{log_experts} / {rate}"
    inputs = (EXPERTS, RATE)
    needs = "the loss is mixable at this rate: 1 for Brier and log loss, 2 for the square loss on [0, 1]"
    citation = "Vovk & Zhdanov 2009, Theorem 1; Vovk 1998"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rate: Any) -> Any:
        return ratio(log_experts, rate)

    def regret_bound(self, evidence: Any) -> Any:
        rate = evidence.facts["rate"]
        return self.bound(evidence.log_n, rate), {"N": evidence.n, "eta": rate}

    def certify(self, evidence: Any) -> Any:
        bound, inputs = self.regret_bound(evidence)
        setting, rate = evidence.setting, evidence.facts["rate"]
        low, high = setting.interval
        given = "all advice is probability vectors"
        if not setting.loss.kinds:
            given = f"advice and outcomes are from {low:g} to {high:g}"
        statements = [given, f"the {setting.loss} loss of such forecasts is mixable at the rate {rate:.4g}"]
        if evidence.slept:
            statements.append("an expert that sleeps is shown the loss of the forecast")
        assumptions = (Assumption(statement, Basis.ENFORCED, True) for statement in statements)
        return evidence.certificate(self, bound, inputs, *assumptions)


def loss_given(parameter: str, value: Any) -> str:
    """The name of a loss that is mixable."""
    name = value.name if isinstance(value, losses.Loss) else value
    if name not in LOSSES:
        raise invalid(parameter, "'brier', 'log' or 'square', which are mixable", value)
    return str(name)


@cython.cclass
class AggregatingAlgorithm(ExpertLearner):
    """The aggregating algorithm. It needs no rate and no horizon.

    n_experts  how many experts, or their names
    outcomes   the kinds of outcomes: how many, or their names. For the square loss, the interval (low, high) of all
               outcomes and forecasts; 2 stands for (0, 1)
    loss       "brier" or "log", for probability vectors; or "square", for numbers
    """

    _rate = cython.declare(cython.double, visibility="readonly")
    _from = cython.declare(cython.double, visibility="readonly")
    _to = cython.declare(cython.double, visibility="readonly")
    _generalised: cython.double[::1]
    _scores: cython.double[::1]
    # Who gave probability 0 to what happened in the current round.
    _zeros: cython.schar[::1]
    _infinite_losses = cython.declare(cython.longlong[::1], visibility="public")
    _largest_regret = cython.declare(cython.double, visibility="public")
    _largest_after = cython.declare(cython.longlong, visibility="public")
    _largest_to = cython.declare(cython.longlong, visibility="public")

    theorems = (AggregatingBound(),)
    way = Way.SUBSTITUTION
    needs_range = False
    options = (N_EXPERTS, Option("outcomes", 2, kinds_given), Option("loss", "brier", loss_given))
    kept = (
        *COUNTED,
        Counts("infinite_losses"),
        Number("largest_regret"),
        Count("largest_after"),
        Count("largest_to"),
    )

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._shows_own = True
        self._from, self._to = 0.0, 1.0
        if not self._kinds:
            self._from, self._to = self._options["outcomes"] = _interval(self._options["outcomes"])
        self._rate = 1.0 if self._kinds else 2 / (self._to - self._from) ** 2
        self._generalised = view(np.zeros(self._kinds))
        self._scores = view(np.zeros(self._n))
        self._zeros = view(np.zeros(self._n, dtype=np.int8))
        self._infinite_losses = view(np.zeros(self._n, dtype=np.int64))
        self._largest_regret = 0.0
        self._largest_after = 0
        self._largest_to = 0

    def _read_kinds(self, loss: Any) -> Any:
        return None if loss.kind == "square" else ExpertLearner._read_kinds(self, loss)

    # ------------------------------------------------------------------ weights

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        some_have_weight: cython.bint = False
        total: cython.double = 0.0
        if self._loss_kind != LOG:
            return self.exponentiate(self._regrets, self._rate)
        for i in range(self._n):
            self._scores[i] = -INFINITY if self._infinite_losses[i] > 0 else self._regrets[i]
            if self._awake[i] and self._infinite_losses[i] == 0:
                some_have_weight = True
        if some_have_weight:
            return self.exponentiate(self._scores, 1.0)
        # Nobody who has weight is awake: whatever is forecast, no weight changes.
        for i in range(self._n):
            self._shares[i] = self._awake[i]
            total += self._shares[i]
        return total

    # ------------------------------------------------------------------ the forecast that loses at most g

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forecast_vector(self) -> cython.void:
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t
        total: cython.double
        threshold: cython.double = INFINITY
        following: cython.double
        if self._loss_kind == LOG:
            VectorRound.forecast_vector(self)
            return
        if self.generalise() == 1:
            # One expert has all the weight: its forecast is the forecast, to the last digit.
            VectorRound.forecast_vector(self)
            self._reach = 0.0
            return
        self._reach = 1.0
        # The threshold s: among all kinds first, then without those for which g is not below it.
        while True:
            total = 2.0
            count = 0
            for k in range(self._kinds):
                if self._generalised[k] < threshold:
                    total += self._generalised[k]
                    count += 1
            following = total / count
            if not following < threshold:
                break
            threshold = following
        for k in range(self._kinds):
            self._vector[k] = (threshold - self._generalised[k]) / 2 if self._generalised[k] < threshold else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def generalise(self) -> cython.Py_ssize_t:
        """The loss g of each kind, for the Brier loss; how many experts have a share in it."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        share: cython.double
        square: cython.double
        weighing: cython.Py_ssize_t = 0
        kinds: cython.Py_ssize_t = self._kinds
        values: cython.double[::1] = self._values
        generalised: cython.double[::1] = self._generalised
        for k in range(kinds):
            generalised[k] = 0.0
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                continue
            at = self._first + i * kinds
            share = self._shares[i]
            if share > 0:
                weighing += 1
                square = 0.0
                for k in range(kinds):
                    square += values[at + k] * values[at + k]
                for k in range(kinds):
                    generalised[k] += share * exp(2 * values[at + k] - square - 1)
        for k in range(kinds):
            generalised[k] = -log(generalised[k] / self._total)
        return weighing

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def predict(self) -> cython.double:
        """The forecast under the square loss."""
        i: cython.Py_ssize_t
        value: cython.double
        forecast: cython.double
        width: cython.double = self._to - self._from
        at_low: cython.double = 0.0
        at_high: cython.double = 0.0
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                continue
            value = self._values[self._first + i]
            low = value if value < low else low
            high = value if value > high else high
            at_low += self._shares[i] * exp(-self._rate * (value - self._from) * (value - self._from))
            at_high += self._shares[i] * exp(-self._rate * (self._to - value) * (self._to - value))
        # g(b) - g(a) = -1/eta ln (at_high / at_low)
        forecast = (self._from + self._to) / 2 + log(at_high / at_low) / (2 * self._rate * width)
        self._reach = fabs(self._from) + fabs(self._to) + width
        return low if forecast < low else high if forecast > high else forecast

    # ------------------------------------------------------------------ the outcome

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_vector(self, outcome: cython.Py_ssize_t) -> cython.int:
        """Everyone's loss. An infinite one is counted apart, and as 0 in the sums."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self._farthest = 0.0
        for i in range(self._n):
            self._zeros[i] = 0
            if self._some_sleep and not self._awake[i]:
                continue
            at = self._first + i * self._kinds
            if self._loss_kind == LOG and self._values[at + outcome] == 0:
                self._zeros[i] = 1
                self._losses[i] = 0.0
            else:
                self._losses[i] = self.loss_of_vector(self._values, at, outcome)
            if self._losses[i] > self._farthest:
                self._farthest = self._losses[i]
        self._own = self.own_loss_of_vector(outcome)
        self._moved = 0.0
        self._beyond = 0.0
        if self._loss_kind == LOG:
            if self._vector[outcome] < TINY:
                self._own = self.own_loss_of_exponents(outcome)
            if not self._own < INFINITY:
                self._bad_expert = -1
                self._bad_value = self._own
                return BAD_NUMBER
        else:
            # Each probability is rounded by as much as the sum of the shares.
            for k in range(self._kinds):
                self._moved += 4 * fabs(self._vector[k] - (k == outcome)) * self._reach
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_loss_of_exponents(self, outcome: cython.Py_ssize_t) -> cython.double:
        """-ln of the probability of what happened, where shares are too small for numbers; infinity if it is 0."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        most: cython.double = -INFINITY
        best: cython.double = -INFINITY
        weight: cython.double = 0.0
        total: cython.double = 0.0
        for i in range(self._n):
            if self._awake[i] and self._scores[i] > most:
                most = self._scores[i]
        for i in range(self._n):
            at = self._first + i * self._kinds + outcome
            if not self._awake[i]:
                continue
            if most == -INFINITY:
                self._scores[i] = 0.0
            weight += exp(self._scores[i] - (most if most > -INFINITY else 0.0))
            self._scores[i] = self._scores[i] + log(self._values[at]) if self._values[at] > 0 else -INFINITY
            if self._scores[i] > best:
                best = self._scores[i]
        if best == -INFINITY:
            return INFINITY
        for i in range(self._n):
            if self._awake[i]:
                total += exp(self._scores[i] - best)
        return (most if most > -INFINITY else 0.0) - best + log(weight) - log(total)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        """The regrets are the weights; what is left is to note where they were largest."""
        i: cython.Py_ssize_t
        to: cython.Py_ssize_t = 0
        largest: cython.double = -INFINITY
        rounds: cython.longlong = self._rounds + 1
        if self._loss_kind == LOG:
            for i in range(self._n):
                self._infinite_losses[i] += self._zeros[i]
        for i in range(self._n):
            if self._regrets[i] > largest and self._asleep_rounds[i] < rounds and self._infinite_losses[i] == 0:
                largest = self._regrets[i]
                to = i
        if self._rounds == 0 or largest > self._largest_regret:
            self._largest_regret = largest
            self._largest_after = rounds
            self._largest_to = to

    # ------------------------------------------------------------------ what it takes

    def _present(self, values: Any, experts: Any, parameter: str = "advice") -> bool:
        sleepers = bool(ExpertLearner._present(self, values, experts, parameter))
        outside = ~((values >= self._from) & (values <= self._to)) & ~np.isnan(values) if not self._kinds else None
        if outside is not None and outside.any():
            t, i = np.argwhere(outside)[0].tolist()
            place = f"advice[{experts.name(i)!r}]" if len(values) == 1 else f"advice[{t}, {experts.name(i)!r}]"
            raise invalid(place, self._allowed(), float(values[t, i]))
        return sleepers

    def _read_outcome(self, outcome: Any) -> Any:
        return self._in_interval(ExpertLearner._read_outcome(self, outcome), "outcome")

    def _read_outcomes(self, outcomes: Any, rounds: int) -> Any:
        return self._in_interval(ExpertLearner._read_outcomes(self, outcomes, rounds), "outcomes")

    def _in_interval(self, read: Any, parameter: str) -> Any:
        outside = (read < self._from) | (read > self._to)
        if not self._kinds and outside.any():
            t = int(np.argmax(outside))
            where = parameter if parameter == "outcome" else f"{parameter}[{t}]"
            raise invalid(where, self._allowed(), float(read[t]))
        return read

    def _allowed(self) -> str:
        return f"a number from {self._from:g} to {self._to:g}; outcomes=(low, high) declares another interval"

    def _refusal(self, bad: int, t: int, rounds: int, experts: Any) -> Any:
        if self._kinds and bad == BAD_NUMBER:
            where = f" in row {t}" if rounds > 1 else ""
            allowed = f"positive for what happened{where}, for one expert at least that is awake and has weight"
            return invalid("advice", allowed, Words("probability 0 from all of them, whose log loss is infinite"))
        return ExpertLearner._refusal(self, bad, t, rounds, experts)

    def observe(self, losses: Any) -> float:
        raise _needs_advice()

    def observe_many(self, losses: Any) -> Any:
        raise _needs_advice()

    @property
    def takes_losses(self) -> bool:
        return False

    # ------------------------------------------------------------------ what it knows

    @property
    def largest_regret(self) -> float:
        """The largest regret there has been after any round, to any expert."""
        return self._largest_regret

    @property
    def largest_regret_after(self) -> int:
        """After how many rounds it was."""
        return self._largest_after

    @property
    def infinite_losses(self) -> Any:
        """How often each expert gave probability 0 to what happened, under the log loss."""
        return np.array(self._infinite_losses)

    @property
    def expert_losses(self) -> Any:
        return np.where(self.infinite_losses > 0, np.inf, np.array(self._expert_losses))

    @property
    def regrets(self) -> Any:
        """To each expert: the learner's loss less the expert's, over the rounds in which the expert was awake."""
        return np.where(self.infinite_losses > 0, -np.inf, np.array(self._regrets))

    def _of_the_awake(self) -> Any:
        return np.where(self.infinite_losses > 0, -np.inf, ExpertLearner._of_the_awake(self))

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        if np.max(state["infinite_losses"]) > state["rounds"] or state["largest_after"] > state["rounds"]:
            raise invalid("infinite_losses and largest_after", "at most rounds", Words("more"))
        if state["largest_to"] >= self._n:
            raise invalid("largest_to", f"the position of one of {self._n} experts", state["largest_to"])

    def _setting(self) -> Setting:
        return replace(ExpertLearner._setting(self), interval=(self._from, self._to))

    def _facts(self) -> dict[str, Any]:
        return {"rate": self._rate}


def _interval(given: Any) -> tuple[float, float]:
    """The interval of the square loss; 2 stands for that of two outcomes, 0 and 1."""
    if given == 2:
        return 0.0, 1.0
    try:
        low, high = (float(end) for end in given)
        if -1e75 < low < high < 1e75 and high - low >= 1e-75:
            return low, high
    except (TypeError, ValueError):
        pass
    raise invalid("outcomes", "2 for outcomes from 0 to 1, or a pair (low, high), for the loss 'square'", given)


def _needs_advice() -> InputError:
    return InputError(
        "AggregatingAlgorithm needs to know what each outcome would have cost: losses alone are not enough; use "
        "learn_one(advice, outcome)"
    )
