"""Certificates of expert algorithms: computed from cumulative losses alone, at any round.

`Run` is what a learner's state says about what happened. A theorem gives a bound on the regret to every expert; the
certificate shows it beside the regret that was. With the gradient trick the bound covers every fixed mixture of the
experts as well: with the advice and outcomes at hand the certificate compares with the best one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Basis, Certificate, Hindsight, shown_number, tightest_first
from afterwit.core.theorem import Theorem
from afterwit.data.losses import Loss
from afterwit.errors import InputError, invalid

Floats = npt.NDArray[np.float64]

#: By how much, as a part of it, one number may be rounded.
EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Comparator:
    """Something found in hindsight, other than one expert."""

    loss: float
    description: str


@dataclass(frozen=True)
class Run:
    """What happened, as a learner's state has it."""

    subject: str
    names: tuple[Any, ...]
    rounds: int
    #: In how many of them only the losses were known: there the mixture's loss is counted.
    unforecast: int
    loss: float
    expert_losses: Floats
    regrets: Floats
    slope_regrets: Floats
    awake_rounds: npt.NDArray[np.int64]
    loss_function: Loss
    linear: bool
    drawing: bool
    low: float
    width: float
    ranged: bool
    parameters: Mapping[str, Any]
    kept: Mapping[str, Any]
    comparator: Comparator | None = None
    #: The expert to compare with, where it is not to be the one that comes closest to breaking the bound.
    expert: int | None = None

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def worst(self) -> int:
        """The expert to whom the regret is largest."""
        return int(np.argmax(self.regrets_to_the_awake))

    @property
    def regrets_to_the_awake(self) -> Floats:
        """The regrets; that to an expert who has never been awake is less than any."""
        return self.regrets if self.rounds == 0 else np.where(self.awake_rounds > 0, self.regrets, -np.inf)

    @property
    def regret(self) -> float:
        if self.comparator is not None:
            difference = self.loss - self.comparator.loss
            # Of two sums of so many losses, what rounding alone may have left between them is no regret.
            rounding = 4 * EPSILON * self.rounds * max(abs(self.loss), abs(self.comparator.loss))
            return 0.0 if abs(difference) <= rounding else difference
        return float(self.regrets[self.worst]) if self.rounds else 0.0

    @property
    def slept(self) -> bool:
        return bool((self.awake_rounds < self.rounds).any())

    def hindsight(self, expert: int | None = None) -> Hindsight:
        if self.comparator is not None:
            return Hindsight(
                self.comparator.loss, f"{self.comparator.description}; ours was {shown_number(self.loss)}", "loss"
            )
        best = self.worst if expert is None else expert
        return Hindsight(float(self.expert_losses[best]), self._description(best), "loss")

    def _description(self, best: int) -> str:
        own = float(self.expert_losses[best] + self.regrets[best])
        who = f"of expert {self.names[best]!r}"
        if self.slept:
            awake = int(self.awake_rounds[best])
            return f"{who} on the {awake:,} rounds in which it was awake; there ours was {shown_number(own)}"
        return f"{who}, the best of {self.n:,}; ours was {shown_number(own)}"

    @property
    def given(self) -> tuple[Assumption, ...]:
        """What every theorem about the regret of this run asks for."""
        assumptions = []
        if self.ranged:
            what = "slope * (advice - forecast)" if self.linear else "loss"
            statement = f"every {what} is in [{self.low:g}, {self.low + self.width:g}]"
            assumptions.append(Assumption(statement, Basis.ENFORCED, True))
        if self.unforecast:
            statement = "the loss counted is that of the mixture, where only losses are known"
            assumptions.append(Assumption(statement, Basis.ENFORCED, True))
        if self.unforecast == self.rounds > 0:
            return tuple(assumptions)
        if self.drawing:
            statement = "one expert is followed by chance, and the loss counted is the expected one"
            assumptions.append(Assumption(statement, Basis.ENFORCED, True))
        elif self.loss_function.kind == "function":
            statement = f"the loss {self.loss_function} is convex in the forecast"
            if self.linear:
                statement += ", and the gradient given is its derivative"
            assumptions.append(Assumption(statement, Basis.PROMISED, None))
        else:
            statement = f"the loss ({self.loss_function}) is convex in the forecast"
            assumptions.append(Assumption(statement, Basis.ENFORCED, True))
        return tuple(assumptions)


class RegretTheorem(Theorem):
    """A bound on the regret to every expert, the same for all or one for each."""

    quantity = "regret"
    #: The bound is a formula of the number of rounds and of what the learner was made with, so it draws a curve.
    by_rounds: ClassVar[bool] = False

    @abstractmethod
    def regret_bound(self, run: Run) -> tuple[float | Floats, dict[str, float | str]] | None:
        """The bound in the unit of the losses, and what it was computed from; None if it is not about such a run."""

    def further(self, run: Run) -> tuple[Assumption, ...]:
        """What this theorem asks for beyond what all of them do."""
        return ()

    def certify(self, evidence: Run) -> Certificate | None:
        found = self.regret_bound(evidence)
        if found is None:
            return None
        bounds = np.broadcast_to(np.asarray(found[0], dtype=np.float64), evidence.n)
        if evidence.comparator is None:
            # Of the experts, the one that comes closest to breaking the bound.
            closest = int(np.argmax(evidence.regrets_to_the_awake - bounds))
            expert = closest if evidence.expert is None else evidence.expert
            bound, observed, hindsight = bounds[expert], evidence.regrets[expert], evidence.hindsight(expert)
        else:
            # The regret to a mixture is at most the mean of its experts' bounds.
            bound, observed, hindsight = bounds.max(), evidence.regret, evidence.hindsight()
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=evidence.rounds,
            observed=float(observed),
            bound=float(bound),
            assumptions=(*evidence.given, *self.further(evidence)),
            hindsight=hindsight if evidence.rounds else None,
            inputs=found[1],
        )


def log_n(run: Run) -> float:
    return math.log(run.n)


def certificate(learner: Any, advice: Any = None, outcomes: Any = None) -> Certificate:
    """The tightest of the algorithm's theorems, with the others beside it."""
    if not learner.theorems:
        raise InputError(f"{type(learner).__name__} has no certificate: {learner.no_theorem_because}")
    if (advice is None) != (outcomes is None):
        raise invalid("outcomes", "given together with advice", outcomes)
    run = learner._evidence()
    if advice is not None:
        run = replace(run, comparator=learner._comparator(run, *_checked(run, advice, outcomes)))
    return certificate_of(learner, run)


def certificate_of(learner: Any, run: Run) -> Certificate:
    """The tightest of the algorithm's theorems applied to a run, with the others beside it."""
    certificates = [made for theorem in learner.theorems if (made := theorem.certify(run)) is not None]
    # Bounds on different things are not compared by their numbers: those on what the first is about come first.
    best = tightest_first([made for made in certificates if made.quantity == certificates[0].quantity])
    return replace(best, others=(*best.others, *(made for made in certificates if made.quantity != best.quantity)))


def _checked(run: Run, advice: Any, outcomes: Any) -> tuple[Floats, Floats]:
    """The rounds the learner learned from, as arrays, if they are those."""
    from afterwit.data.advice import Experts, read_outcomes, read_rounds

    values, _ = read_rounds(advice, Experts(run.n, run.names), fresh=False)
    read = read_outcomes(outcomes, len(values))
    losses = run.loss_function.values(values, read[:, np.newaxis])
    with np.errstate(invalid="ignore"):
        sums = np.nansum(losses, axis=0)
    if len(values) != run.rounds or not np.allclose(sums, run.expert_losses, rtol=1e-9, atol=0):
        raise InputError("advice and outcomes must be the rounds the learner learned from; the experts' losses differ")
    return values, read


def best_mixture(run: Run, values: Floats, outcomes: Floats) -> Comparator | None:
    """The best fixed mixture, where the theorem covers all of them."""
    if not run.linear or run.slept:
        return None
    from afterwit.hindsight import best_convex_combination

    found = best_convex_combination(values, outcomes, loss=run.loss_function)
    return Comparator(found.loss, "of the best fixed mixture of the experts")
