# cython: boundscheck=False, wraparound=False, cdivision=True
"""Exp3: exponential weights when only the loss of the one you followed is seen.

Setting     N experts (arms), losses in [0, 1] (or another range, declared). In each round follow one, drawn by p_t,
            and see its loss alone. The draw depends on the seed and the round alone.
Update      the drawn expert's loss is divided by its probability, others count 0: an estimate that is right on
            average; p_{t,i} proportional to exp(-eta_t sum of the estimates for i). The rate: given, or sqrt(2 ln N /
            (T N)) for a horizon of T rounds, or eta_t = sqrt(ln N / (t N)) where nothing is said.
Guarantee   on any sequence fixed beforehand, on average over its own draws, the regret to every expert is at most ln
            N / eta + eta T N / 2 at a fixed rate, sqrt(2 T N ln N) for the horizon, 2 sqrt(T N ln N) where nothing is
            said.
Source      Auer, Cesa-Bianchi, Freund & Schapire 2002; Bubeck & Cesa-Bianchi 2012, Theorem 3.1.

With ``learn_one`` or ``observe`` all losses are at hand: it learns from the one it may see and counts the others, so
that the regret is known. With ``choose`` and ``receive`` there is nothing to count.

>>> learner = Exp3(["left", "right"], horizon=100)
>>> arm = learner.choose()
>>> arm, learner.choose()  # the same until a loss is received
('right', 'right')
>>> learner.receive(1.0)
>>> learner.weights.round(3).tolist(), learner.loss
([0.542, 0.458], 1.0)
"""

from __future__ import annotations

import math
from math import nan
from numbers import Real
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import Count, none_negative
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.inputs import ROUNDS
from afterwit.core.learner import view
from afterwit.errors import counted, invalid
from afterwit.experts._declared import (
    COUNTED,
    HORIZON,
    N_EXPERTS,
    RANGE_SLACK,
    RATE,
    SEED,
    UNIT_RANGE,
    ZERO_ONE_LOSS,
    each_expert,
)
from afterwit.experts._regret import EXPERT_COUNT, UNIT, OnAverage, Way, ln, ratio

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.experts._engine import ExpertLearner


FIXED_BEFOREHAND = f"{UNIT}, and do not depend on the learner's draws"


class BanditTheorem(OnAverage):
    """A bound on the regret, on average over the learner's draws."""

    quantity = "regret"
    needs = FIXED_BEFOREHAND
    citation = "Bubeck & Cesa-Bianchi 2012, Theorem 3.1"
    beforehand = True

    def of_run(self, evidence: Any) -> Any:
        """The bound for losses in [0, 1]; None if the learner's rate was of another kind."""
        return None

    def certify(self, evidence: Any) -> Any:
        bound, unseen = self.of_run(evidence), evidence.state["unseen"]
        if bound is None:
            return None
        detail = f"in {counted(unseen, 'round')} only one loss was seen, so the regret is not known" if unseen else ""
        return evidence.certificate(
            self,
            evidence.width * float(bound),
            {"N": evidence.n, "T": evidence.rounds, "range": evidence.width},
            Assumption("the losses do not depend on the learner's draws", Basis.PROMISED, None),
            Assumption("every expert's loss is known afterwards", Basis.OBSERVED, None if unseen else True, detail),
        )


class BanditBound(BanditTheorem):
    """At a fixed rate.

    The proof (Theorem 3.1 of the survey, at a constant rate): with estimates x_{t,i} that are right on average, the
    regret is on average at most ln N / eta + eta/2 times the sum over t of the mean of sum_i p_{t,i} x_{t,i}^2, and
    that mean is sum_i l_{t,i}^2 <= N. No share of the draws is uniform, so no exploration enters.
    """

    id = "exp3"
    name = "bandit bound"
    formula = "ln({experts}) / {rate} + {rate} {rounds} {experts} / 2"
    inputs = (EXPERT_COUNT, ROUNDS, RATE_INPUT)

    @staticmethod
    def bound(experts: Any, rounds: Any, rate: Any) -> Any:
        return ratio(ln(experts), rate) + rate * rounds * experts / 2

    def of_run(self, evidence: Any) -> Any:
        rate = evidence.facts["fixed_rate"]
        return None if rate is None else self.bound(evidence.n, evidence.rounds, rate)


class TunedBanditBound(BanditTheorem):
    """The same where it is least."""

    id = "exp3-tuned"
    name = "bandit bound at the best rate"
    formula = "sqrt(2 {rounds} {experts} ln({experts}))"
    inputs = (EXPERT_COUNT, ROUNDS)
    needs = f"{FIXED_BEFOREHAND}; the rate is sqrt(2 ln N / (T N))"

    @staticmethod
    def bound(experts: Any, rounds: Any) -> Any:
        return np.sqrt(2 * rounds * experts * ln(experts))


class DecreasingBanditBound(BanditTheorem):
    """At a rate that decreases, and needs to know no horizon."""

    id = "exp3-decreasing"
    name = "bandit bound at a decreasing rate"
    formula = "2 sqrt({rounds} {experts} ln({experts}))"
    inputs = (EXPERT_COUNT, ROUNDS)
    needs = f"{FIXED_BEFOREHAND}; the rate of round t is sqrt(ln N / (t N))"

    @staticmethod
    def bound(experts: Any, rounds: Any) -> Any:
        return 2 * np.sqrt(rounds * experts * ln(experts))

    def of_run(self, evidence: Any) -> Any:
        return self.bound(evidence.n, evidence.rounds) if evidence.facts["fixed_rate"] is None else None


@cython.cclass
class Exp3(ExpertLearner):
    """Exp3, for bandit feedback. Experts do not sleep here.

    n_experts   how many experts, or their names
    rate        a fixed rate, for losses scaled to [0, 1]; or
    horizon     the number of rounds for which to choose it; with neither, the rate decreases
    loss        "zero-one", or another of `afterwit.losses` with its range
    loss_range  the least and the greatest loss
    seed        what the draws depend on
    """

    _rate: cython.double
    _decreasing: cython.bint
    _ratio: cython.double
    _estimates = cython.declare(cython.double[::1], visibility="public")
    _unseen = cython.declare(cython.longlong, visibility="public")

    theorems = (BanditBound(), DecreasingBanditBound())
    sleeping = False
    sees_all = False
    way = Way.DRAWN
    options = (N_EXPERTS, RATE, HORIZON, ZERO_ONE_LOSS, UNIT_RANGE, SEED)
    kept = (*COUNTED, none_negative("estimates", each_expert), Count("unseen"))

    def _begin(self) -> None:
        rate, horizon = self._options["rate"], self._options["horizon"]
        if rate is not None and horizon is not None:
            raise invalid("at most one of rate and horizon", "given", (rate, horizon))
        ExpertLearner._begin(self)
        self._decreasing = rate is None and horizon is None
        self._ratio = math.log(self._n) / self._n
        self._rate = rate or 0.0
        if horizon is not None:
            self._rate = math.sqrt(2 * self._ratio / horizon)
        self._estimates = view(np.zeros(self._n))
        self._unseen = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        if self._decreasing:
            self._rate = sqrt(self._ratio / (self._rounds + 1))
        return self.exponentiate(self._estimates, -self._rate)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show(self) -> cython.int:
        """What is suffered is the loss of the one that was drawn, not the mixture's."""
        bad: cython.int = ExpertLearner.show(self)
        if not bad:
            self._mixed = self._seen[self.drawn()]
        return bad

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        choice: cython.Py_ssize_t = self.drawn()
        self._estimates[choice] += self._seen[choice] * self._total / self._shares[choice]

    def choose(self) -> Any:
        """The expert to follow in this round. Nothing changes."""
        with self._lock:
            self.everyone()
            return self._experts.name(self.drawn())

    def receive(self, loss: Any) -> None:
        """The loss of the expert that `choose` named: all that is seen of this round."""
        choice: cython.Py_ssize_t
        scaled: cython.double = self._scaled(loss)
        with self._lock:
            self.everyone()
            choice = self.drawn()
            self._seen[choice] = scaled
            self.update()
            self._unseen += 1
            self._rounds += 1
            self._loss += float(loss)

    def _scaled(self, loss: Any) -> float:
        """One loss, as the algorithm sees it."""
        scaled = (float(loss) - self._low) / self._width if isinstance(loss, Real) else nan
        if not -RANGE_SLACK <= scaled <= 1 + RANGE_SLACK:
            raise invalid("loss", f"a number within loss_range {self._range}", loss)
        return min(max(scaled, 0.0), 1.0)

    @property
    def expert_losses(self) -> Any:
        """Each expert's cumulative loss; not numbers if some were never seen."""
        return self._if_seen(ExpertLearner.expert_losses.__get__(self))

    @property
    def regrets(self) -> Any:
        """The learner's loss less each expert's; not numbers if some losses were never seen."""
        return self._if_seen(ExpertLearner.regrets.__get__(self))

    @property
    def regret(self) -> float:
        """The largest regret to any expert; not a number if some losses were never seen."""
        return nan if self._unseen else ExpertLearner.regret.__get__(self)

    @property
    def best_expert(self) -> Any:
        """The expert to whom the regret is largest; None if some losses were never seen."""
        return None if self._unseen else ExpertLearner.best_expert.__get__(self)

    def _if_seen(self, known: Any) -> Any:
        return np.full(self._n, nan) if self._unseen else known

    def _facts(self) -> dict[str, Any]:
        return {"fixed_rate": None if self._decreasing else self._rate}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        if state["unseen"] > state["rounds"]:
            raise invalid("unseen", "at most rounds", state["unseen"])
