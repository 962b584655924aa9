# cython: boundscheck=False, wraparound=False, cdivision=True
"""Swap regret: no regret even for not having played j wherever you played i.

Setting     N experts, losses in [0, 1] (or another range, declared). The swap regret compares with every way of
            replacing experts, i by F(i), throughout, and is at least the ordinary regret; the internal regret with
            replacing one by another.
Update      N copies of a base algorithm; row i of the matrix Q_t is what copy i proposes. Play the p_t with p_t = p_t
            Q_t, and show copy i the losses p_{t,i} l_t.
Guarantee   on any sequence: swap regret <= the sum of the N copies' own bounds. Over exponential weights at a fixed
            rate eta: swap regret <= N ln N / eta + eta T / 8, because what the copies are shown adds up to the losses
            once, not N times (see `FixedRateSwapBound`).
Source      Blum & Mansour 2007, Theorem 5.

>>> from afterwit import ExponentialWeights
>>> learner = SwapRegret(ExponentialWeights(3, horizon=50))
>>> for t in range(50):
...     loss = learner.observe([t % 3 == 0, t % 3 == 1, t % 3 == 2])
>>> round(learner.swap_regret, 3), round(learner.internal_regret, 3), round(learner.certificate().bound, 1)
(1.567, 0.832, 10.5)
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis, Certificate, Verdict, apply
from afterwit.core.declared import Kept, Option
from afterwit.core.inputs import RATE, ROUNDS
from afterwit.core.learner import view
from afterwit.core.theorem import Theorem
from afterwit.data.room import require_room
from afterwit.errors import Words, counted, invalid
from afterwit.experts._declared import COUNTED, LOSS_RANGE, OUTCOMES, SEED, ZERO_ONE_LOSS, natural_range
from afterwit.experts._regret import EXPERT_COUNT, UNIT, ln, ratio
from afterwit.experts.exponential_weights import ExponentialWeights

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class FixedRateSwapBound(Theorem):
    """Over exponential weights at one fixed rate eta.

    Play p_t = p_t Q_t, where row i of Q_t is what copy i proposes. Then p_t . l_t = sum_i p_{t,i} (Q_t l_t)_i: the
    learner's loss is the sum of what the copies lose, each on the losses p_{t,i} l_t that it is shown. So for every map
    F the regret to replacing i by F(i) is the sum over i of the regret of copy i to expert F(i).

    Exponential weights at the fixed rate eta have, on losses x_t whose entries lie in an interval of width R_t, the
    regret ln N / eta + (eta / 8) sum_t R_t^2: the proof of Theorem 8.6 applies Hoeffding's lemma to each round, with
    the width of that round. For copy i it is p_{t,i}, as l_t is in [0, 1]. Summed over the copies this is

        N ln N / eta + (eta / 8) sum_t sum_i p_{t,i}^2 <= N ln N / eta + eta T / 8,

    because the p_{t,i} of a round are not negative and add up to 1. The sum of the copies' own bounds takes every width
    to be 1 and has N times the second term. Where the rate changes during the run the first term is another: for the
    schedules of rates, and for other algorithms, only the sum of the base bounds is claimed.
    """

    id = "swap-regret"
    name = "swap regret at a fixed rate"
    quantity = "swap regret"
    formula = "{experts} ln({experts}) / {rate} + {rate} {rounds} / 8"
    inputs = (EXPERT_COUNT, ROUNDS, RATE)
    needs = UNIT
    citation = "Blum & Mansour 2007, over exponential weights"
    beforehand = True

    @staticmethod
    def bound(experts: Any, rounds: Any, rate: Any) -> Any:
        return ratio(experts * ln(experts), rate) + rate * rounds / 8

    def certify(self, evidence: Any) -> Any:
        rate = evidence.facts["fixed_rate"]
        if rate is None:
            return None
        bound = evidence.width * float(self.bound(evidence.n, evidence.rounds, rate))
        inputs = {"N": evidence.n, "T": evidence.rounds, "rate": rate, "range": evidence.width}
        return evidence.certificate(self, bound, inputs)


class TunedSwapBound(Theorem):
    """The same where it is least."""

    id = "swap-regret-tuned"
    name = "swap regret at the best rate"
    quantity = "swap regret"
    formula = "sqrt(({rounds} / 2) {experts} ln({experts}))"
    inputs = (EXPERT_COUNT, ROUNDS)
    needs = f"{UNIT} and the rate is sqrt(8 N ln N / T)"
    citation = FixedRateSwapBound.citation

    @staticmethod
    def bound(experts: Any, rounds: Any) -> Any:
        return np.sqrt(rounds / 2 * (experts * ln(experts)))


class SumOfBaseBounds(Theorem):
    """The swap regret is the sum of what the copies regret, each on the losses p_{t,i} l_t that it is shown.

    So a bound on the regret of each is enough; where the base's theorem bounds its loss, with the loss of the expert
    compared with on the right side, the difference of the two bounds the regret. What a copy is shown depends on what
    the learner played. The sum is foreseeable only where the bounds of the copies do not depend on what they are shown.
    """

    name = "sum of the base bounds"
    statement = "swap regret <= the sum over i of the bound of copy i on the losses p_{t,i} l_t"
    citation = "Blum & Mansour 2007, Theorem 5"
    quantity = "swap regret"

    @staticmethod
    def parts(evidence: Any) -> list[Certificate]:
        """Each copy's certificate for the expert to whom its regret is largest: the one to be played in its place.

        Of those that apply, the one from which the least regret follows; foreseeable ones come first.
        """
        found = [apply(copy.theorems, evidence.of_copy(copy)) for copy in evidence.facts["copies"]]
        return [
            min((each for each in (first, *first.others) if each.quantity in ("regret", "loss")), key=_closeness)
            for first in found
        ]

    def certify(self, evidence: Any) -> Any:
        parts = self.parts(evidence)
        applicable = all(part.verdict is not Verdict.NOT_APPLICABLE for part in parts)
        detail = "" if applicable else "; ".join(sorted({part.line() for part in parts if part.failed}))
        obeyed = f"each copy obeys its own bound: {parts[0].theorem.name}"
        promised = all(part.theorem.beforehand for part in parts)
        return evidence.certificate(
            self.as_known(foreseeable=promised, beforehand=promised),
            evidence.width * sum(map(regret_bound_of, parts)) if applicable else None,
            {"N": evidence.n, "T": evidence.rounds, "base": parts[0].subject},
            Assumption(obeyed, Basis.ENFORCED, applicable, detail),
        )


def regret_bound_of(part: Certificate) -> float:
    """The bound on the regret that a copy's certificate gives, of the expert it is compared with."""
    assert part.bound is not None
    compared = part.hindsight.value if part.quantity == "loss" and part.hindsight is not None else 0.0
    return part.bound - compared


def _closeness(part: Certificate) -> tuple[bool, bool, float]:
    applies = part.verdict is not Verdict.NOT_APPLICABLE
    return (not applies, not part.theorem.foreseeable, regret_bound_of(part) if applies else 0.0)


FRESH_BASE = "a fresh expert algorithm that learns from all losses, in [0, 1], and discounts none"


def base_given(parameter: str, base: Any) -> Any:
    """A copy of an expert algorithm that the reduction can be built on."""
    if not isinstance(base, ExpertLearner) or not base.takes_losses or not base.sees_all:
        raise invalid(parameter, FRESH_BASE, base)
    if base.rounds:
        raise invalid(parameter, FRESH_BASE, Words(f"one that has learned {counted(base.rounds, 'round')}"))
    options = base.parameters
    # A range of slopes from 0 to 1 has no room for the experts that are better than the mixture.
    ranges = (None,) if options.get("gradient") else (None, (0.0, 1.0))
    discounts = options.get("discount") is not None
    if "n_experts" not in options or options.get("loss_range") not in ranges or discounts:
        raise invalid(parameter, FRESH_BASE, base)
    return base.copy()


class Copies(Kept):
    """The states of the copies of the base."""

    def read(self, learner: Any) -> Any:
        return [copy.state() for copy in learner._copies]

    def check(self, learner: Any, value: Any) -> None:
        if not isinstance(value, list) or len(value) != len(learner._copies):
            raise invalid(self.name, counted(len(learner._copies), "state"), value)
        for copy, state in zip(learner._copies, value, strict=True):
            copy._require_state(state)

    def write(self, learner: Any, value: Any) -> None:
        for copy, state in zip(learner._copies, value, strict=True):
            copy.restore(state)


# Arrays that are arguments are borrowed. One in a variable is counted as in use, which costs as much as a short loop.
@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def stationary(n: cython.Py_ssize_t, matrix: cython.double[::1], shares: cython.double[::1]) -> cython.double:
    """The p with p = p Q, by elimination without subtraction (Grassmann, Taksar & Heyman 1985)."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    factor: cython.double
    start: cython.Py_ssize_t = 0
    out: cython.double
    total: cython.double
    for k in range(n - 1, 0, -1):
        out = 0.0
        for j in range(k):
            out += matrix[k * n + j]
        if not out > 1e-150:
            # Nothing leads from k to those below it, or nothing that counts: all may stay at k.
            start = k
            break
        for i in range(k):
            factor = matrix[i * n + k] / out
            matrix[i * n + k] = factor
            for j in range(k):
                matrix[i * n + j] += factor * matrix[k * n + j]
    for k in range(start):
        shares[k] = 0.0
    shares[start] = 1.0
    total = 1.0
    for k in range(start + 1, n):
        out = 0.0
        for j in range(start, k):
            out += shares[j] * matrix[j * n + k]
        shares[k] = out
        total += out
        if total > 1e150:
            for j in range(k + 1):
                shares[j] /= total
            total = 1.0
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def divide(
    shares: cython.double[::1],
    total: cython.double,
    n: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    matrix: cython.double[::1],
) -> cython.void:
    """A row of the matrix: the shares, so that they add up to 1."""
    j: cython.Py_ssize_t
    for j in range(n):
        matrix[first + j] = shares[j] / total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def multiply(
    seen: cython.double[::1], share: cython.double, n: cython.Py_ssize_t, losses: cython.double[::1]
) -> cython.void:
    """A part of what is seen."""
    j: cython.Py_ssize_t
    for j in range(n):
        losses[j] = share * seen[j]


@cython.cclass
class SwapRegret(ExpertLearner):
    """Blum and Mansour's reduction from swap regret to the ordinary one.

    base        a fresh expert algorithm that learns from all losses, in [0, 1]; copies of it are made
    loss        "zero-one", "square", "absolute", "percentage", "pinball(q)", "log" or one of `afterwit.losses`
    loss_range  the least and the greatest loss, (0, 1) if nothing is said, (0, 2) for the Brier loss
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _copies = cython.declare(list, visibility="readonly")
    _matrix: cython.double[::1]

    theorems = (FixedRateSwapBound(), SumOfBaseBounds())
    sleeping = False
    options = (Option("base", check=base_given), ZERO_ONE_LOSS, LOSS_RANGE, SEED, OUTCOMES)
    kept = (*COUNTED, Copies("copies"))

    def _begin(self) -> None:
        self._options["loss_range"] = self._options["loss_range"] or natural_range(self._options["loss"])
        ExpertLearner._begin(self)
        require_room("base", 24 * 8 * self._n * self._n)
        self._copies = [self._options["base"].copy() for _ in range(self._n)]
        self._matrix = view(np.zeros(self._n * self._n))
        self._cost_of_round = self._n * self._n * self._n

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        for copy in state["copies"]:
            if copy["rounds"] != state["rounds"]:
                raise invalid("copies", f"states after {state['rounds']:,} rounds", Words(f"{copy['rounds']:,}"))

    def _given_experts(self) -> Any:
        return self._options["base"].parameters["n_experts"]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        self.ask()
        return stationary(self._n, self._matrix, self._shares)

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(check=False)
    def ask(self) -> cython.void:
        """What each copy proposes, a row of the matrix for each."""
        i: cython.Py_ssize_t
        copy: ExpertLearner
        for i in range(self._n):
            copy = self._copies[i]
            copy.everyone()
            divide(copy._shares, copy._total, self._n, i * self._n, self._matrix)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        self.tell()

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(check=False)
    def tell(self) -> cython.void:
        """Show each copy its part of the losses."""
        i: cython.Py_ssize_t
        copy: ExpertLearner
        for i in range(self._n):
            copy = self._copies[i]
            multiply(self._seen, self._shares[i] / self._total, self._n, copy._losses)
            copy.show_losses()
            copy.commit()
            copy._unforecast += 1

    def _swapped(self) -> Any:
        """In row i and column j, what playing j wherever i was played would have saved."""
        lost = np.array([copy.expert_losses for copy in self._copies])
        return self._width * (np.diag(lost)[:, np.newaxis] - lost)

    @property
    def swap_regret(self) -> float:
        """The regret to the best way of replacing every expert by another."""
        return float(self._swapped().max(axis=1).sum())

    @property
    def internal_regret(self) -> float:
        """The regret to the best way of replacing one expert by another."""
        return float(self._swapped().max())

    def _facts(self) -> dict[str, Any]:
        base: Any = self._copies[0]
        # Where the schedule is not fixed, a copy that was never played may still have its first rate.
        fixed = type(base) is ExponentialWeights and base.parameters["schedule"] is None
        return {
            "copies": [copy.copy() for copy in self._copies],
            "swap_regret": self.swap_regret,
            "fixed_rate": base._facts()["fixed_rate"] if fixed else None,
        }
