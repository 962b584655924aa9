"""Certifying intervals: the forecaster plays its rounds again, and every interval is computed a second time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.replay import ROUNDING, other_count, same_rounds
from afterwit.core.certificate import EPSILON, Assumption, Basis, Ceiling, Evidence, Hindsight, shown_number
from afterwit.core.theorem import Theorem
from afterwit.data.values import same_value
from afterwit.errors import counted
from afterwit.reductions.conformal_intervals import UNCOVERED

Floats = npt.NDArray[np.float64]

BEFORE = "every interval was made before its outcome"


@dataclass(frozen=True)
class Counts:
    """What there is to count in rounds with intervals."""

    rounds: int
    covered: int
    #: Covered rounds in which a forecast alone was exactly right, where not even that was left.
    exact: int
    infinite: int
    #: The mean width of the intervals that are finite.
    width: float
    #: By how much the largest error grew: the sum of 1 - b / b'.
    growth: float


@dataclass(frozen=True, kw_only=True)
class IntervalEvidence(Evidence):
    """How many outcomes were outside, and what the theorems need to know of the method."""

    method: str
    miss: float
    rate: float
    counts: Counts
    promised: float | None
    best: Hindsight | None = None

    @property
    def uncovered(self) -> int:
        return self.counts.rounds - self.counts.covered

    @property
    def growth(self) -> float:
        return self.counts.growth

    @property
    def kept(self) -> bool:
        """Whether an error was promised that was not exceeded."""
        return self.promised is not None and self.growth == 0

    def observed(self, theorem: Theorem) -> float:
        if theorem.quantity == UNCOVERED:
            return self.uncovered
        return abs(self.uncovered / self.rounds - self.miss)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.best if theorem.quantity == UNCOVERED else None

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        if theorem.quantity == UNCOVERED:
            return Ceiling(self.rounds, "no run of this length could break the bound")
        return Ceiling(max(self.miss, 1 - self.miss), "no coverage is further away")

    def rounding(self, theorem: Theorem, bound: float) -> float:
        """The level is computed of counts, so that nothing adds up; a radius that is tracked is a sum of steps."""
        steps = (self.rounds + 64) * (1 / self.rate + 2) * (1 + self.growth) if self.method == "tracking" else 0.0
        if theorem.quantity == UNCOVERED:
            return 8 * EPSILON * (bound + steps)
        return 8 * EPSILON * (bound + 1 + steps / self.rounds)

    # ------------------------------------------------------------------ assumptions of some theorems

    def never_exact(self) -> Assumption:
        """What a bound from below needs."""
        count, detail = self.counts.exact, ""
        if count:
            detail = (
                f"in {counted(count, 'round')} the forecast was exactly right where no interval was left, or nothing "
                "was known of its errors; the coverage is larger for it"
            )
        return Assumption("no forecast was exactly right where no interval was left", Basis.OBSERVED, not count, detail)

    def promise(self) -> tuple[Assumption, ...]:
        """What makes a bound of tracking known beforehand; without it the bound is computed afterwards."""
        if not self.kept:
            return ()
        most = shown_number(self.promised or 0.0)
        return (Assumption(f"no error is above {most}", Basis.OBSERVED, True, "as was promised"),)

    def tracking_inputs(self) -> dict[str, float | str]:
        return {"alpha": self.miss, "c": self.rate, "T": self.rounds, "R": self.growth}


def gather(learner: Any, rows: Any = None, outcomes: Any = None) -> IntervalEvidence:
    """What the theorems are applied to; with the rounds at hand, they are played again."""
    before = Assumption(BEFORE, Basis.ENFORCED, True)
    if rows is None:
        return _evidence(learner, _counts_of(learner), None, before, _own_counts())
    found: list[tuple[Floats, Floats]] = []

    def differs(passes: int) -> str:
        again = learner._inside.fresh()
        forecasts = np.concatenate([[], *(again.learn(rows, outcomes) for _ in range(passes))])
        if not same_value(again.state(), learner.state()["forecaster"]):
            return "these rows make another forecaster"
        found.append((forecasts, np.tile(outcomes, passes)))
        counts, own = counts_of(*found[0], **_setting(learner)), _counts_of(learner)
        for name in ("covered", "exact", "infinite"):
            if why := other_count(f"{name} rounds", getattr(own, name), getattr(counts, name)):
                return why
        if not math.isclose(own.width, counts.width, rel_tol=ROUNDING):
            return f"the learner's mean width is {own.width:.6g}, these rows give {counts.width:.6g}"
        if not math.isclose(own.growth, counts.growth, rel_tol=ROUNDING, abs_tol=ROUNDING):
            return f"the learner's largest error grew by {own.growth:.6g}, these rows give {counts.growth:.6g}"
        return ""

    same, _ = same_rounds(learner, rows.count, differs)
    if not same.met or not found:
        return _evidence(learner, _counts_of(learner), None, before, same)
    counts = counts_of(*found[0], **_setting(learner))
    return _evidence(learner, counts, _narrowest(*found[0], counts), before, same)


def _own_counts() -> Assumption:
    return Assumption("the counts are those of the rounds", Basis.ENFORCED, True, "they are the learner's own")


def _setting(learner: Any) -> dict[str, Any]:
    options = learner.parameters
    return {name: options[name] for name in ("coverage", "method", "rate", "window", "largest")}


def _counts_of(learner: Any) -> Counts:
    """What the learner itself has counted."""
    state = learner.state()
    return Counts(
        rounds=learner.rounds,
        covered=state["covered"],
        exact=state["exact"],
        infinite=state["infinite"],
        width=learner.mean_width,
        growth=state.get("growth", 0.0),
    )


def _evidence(learner: Any, counts: Counts, best: Hindsight | None, *assumptions: Assumption) -> IntervalEvidence:
    options = learner.parameters
    return IntervalEvidence(
        subject=f"ConformalIntervals of {learner._inside.name}",
        rounds=learner.rounds,
        method=options["method"],
        miss=1 - options["coverage"],
        rate=options["rate"],
        counts=counts,
        promised=options["largest"],
        best=best,
        assumptions=assumptions,
    )


# ---------------------------------------------------------------------- a second time


def counts_of(
    forecasts: Floats, outcomes: Floats, coverage: float, method: str, rate: float, window: Any, largest: Any
) -> Counts:
    """The rounds of these forecasts, one by one, by the definition of the method."""
    errors, miss = np.abs(outcomes - forecasts), 1 - coverage
    radii = np.empty(len(errors))
    seen = np.zeros(len(errors), dtype=bool)
    track = _Track(largest)
    missed = exact = 0
    for t in range(len(errors)):
        level = miss + rate * (miss * t - missed)
        radius = _quantile(errors[max(0, t - window) : t], level) if method == "adaptive" else track.radius
        radii[t] = max(0.0, radius)
        seen[t] = forecasts[t] - radii[t] <= outcomes[t] <= forecasts[t] + radii[t]
        gone = radius < 0 or not seen[t]
        if method == "tracking":
            track.follow(float(errors[t]), rate, float(gone) - miss)
        empty = radius < 0 or (method == "tracking" and track.largest == 0)
        exact += bool(seen[t] and empty)
        missed += bool(gone or empty)
    finite = np.isfinite(radii)
    width = 2 * math.fsum(radii[finite]) / int(finite.sum()) if finite.any() else 0.0
    return Counts(len(errors), int(seen.sum()), exact, int((~finite).sum()), width, track.growth)


def _quantile(errors: Floats, level: float) -> float:
    """The radius of adaptive intervals."""
    if level >= 1:
        return -math.inf
    if level <= 0 or not len(errors):
        return math.inf
    rank = min(len(errors), max(1, math.ceil((len(errors) + 1) * (1 - level))))
    return float(np.partition(errors, rank - 1)[rank - 1])


class _Track:
    """The radius of intervals that are tracked."""

    def __init__(self, promised: float | None) -> None:
        self.radius = math.inf if promised is None else promised
        self.largest = promised or 0.0
        self.growth = 0.0

    def follow(self, error: float, rate: float, step: float) -> None:
        before, self.largest = self.largest, max(self.largest, error)
        if math.isinf(self.radius):
            self.radius = error
            return
        self.growth += (self.largest - before) / self.largest if self.largest else 0.0
        self.radius += rate * self.largest * step


def _narrowest(forecasts: Floats, outcomes: Floats, counts: Counts) -> Hindsight | None:
    """The least constant width with which as many outcomes are covered."""
    if not counts.rounds:
        return None
    errors = np.sort(np.abs(outcomes - forecasts))
    width = 2 * float(errors[counts.covered - 1]) if counts.covered else 0.0
    ours = f"ours was {shown_number(counts.width)} on average"
    if counts.infinite == counts.rounds:
        ours = "ours was infinite"
    elif counts.infinite:
        ours += f", and infinite in {counted(counts.infinite, 'round')}"
    description = f"of the narrowest constant interval that covers as many outcomes; {ours}"
    return Hindsight(width, description, "width")
