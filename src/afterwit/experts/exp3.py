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
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.checks import positive_number
from afterwit.data.values import signature
from afterwit.errors import invalid
from afterwit.experts._engine import at_least, numbers, plain, view
from afterwit.experts._regret import Run, log_n

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.experts._engine import ExpertLearner


class BanditBound(Theorem):
    name = "bandit bound"
    statement = "regret <= ln N / eta + eta T N / 2, or 2 sqrt(T N ln N) for eta_t = sqrt(ln N / (t N))"
    citation = "Bubeck & Cesa-Bianchi 2012, Theorem 3.1"
    quantity = "regret"
    chance = "on average over its own draws"

    def certify(self, evidence: Run) -> Certificate:
        rate, rounds, unseen = evidence.kept["rate"], evidence.rounds, evidence.kept["unseen"]
        if rate is None:
            bound = 2 * math.sqrt(rounds * evidence.n * log_n(evidence))
        else:
            bound = (log_n(evidence) / rate if rate else 0.0) + rate * rounds * evidence.n / 2
        detail = f"in {unseen:,} rounds only one loss was seen, so the regret is not known" if unseen else ""
        assumptions = (
            Assumption(f"every loss is in [{evidence.low:g}, {evidence.low + evidence.width:g}]", Basis.ENFORCED, True),
            Assumption("the losses do not depend on the learner's draws", Basis.PROMISED, None),
            Assumption("every expert's loss is known afterwards", Basis.OBSERVED, None if unseen else True, detail),
        )
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=rounds,
            observed=nan if unseen else evidence.regret,
            bound=evidence.width * bound,
            assumptions=assumptions,
            hindsight=evidence.hindsight() if rounds and not unseen else None,
            inputs={"N": evidence.n, "T": rounds, "range": evidence.width},
        )


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
    _rate_given: object
    _horizon: object
    _decreasing: cython.bint
    _ratio: cython.double
    _estimates: cython.double[::1]
    _unseen: cython.longlong

    theorems = (BanditBound(),)
    sleeping = False
    sees_all = False

    __signature__ = signature(n_experts=None, rate=None, horizon=None, loss="zero-one", loss_range=(0.0, 1.0), seed=0)

    def __init__(
        self,
        n_experts: Any,
        rate: Any = None,
        horizon: Any = None,
        loss: Any = "zero-one",
        loss_range: Any = (0.0, 1.0),
        seed: Any = 0,
    ) -> None:
        if rate is not None and horizon is not None:
            raise invalid("rate and horizon", "at most one of them given", (rate, horizon))
        given = (0.0, 1.0) if loss_range is None else loss_range
        ExpertLearner.__init__(self, n_experts, loss, False, given, seed, True)
        self._rate_given = None if rate is None else positive_number("rate", rate)
        self._horizon = None if horizon is None else at_least("horizon", horizon, 1)
        self._decreasing = rate is None and horizon is None
        self._ratio = math.log(self._n) / self._n
        self._rate = 0.0
        if rate is not None:
            self._rate = self._rate_given
        elif horizon is not None:
            self._rate = math.sqrt(2 * self._ratio / self._horizon)
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
            self._total_loss += float(loss)

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

    def _kept(self) -> dict[str, Any]:
        return {"rate": None if self._decreasing else self._rate, "unseen": self._unseen}

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "rate": self._rate_given,
            "horizon": self._horizon,
            "loss": self._loss_given,
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        return {**ExpertLearner._state(self), "estimates": plain(self._estimates), "unseen": self._unseen}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        numbers(state, "estimates", self._n)
        if at_least("unseen", state["unseen"], 0) > state["rounds"]:
            raise invalid("unseen", "at most rounds", state["unseen"])

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._estimates = numbers(state, "estimates", self._n)
        self._unseen = state["unseen"]
