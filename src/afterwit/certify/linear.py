"""What a checker knows about a run of a linear learner: updates and comparators; and how theorems search it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Basis, Evidence, Hindsight
from afterwit.core.theorem import Theorem

if TYPE_CHECKING:
    from afterwit.data.labels import Signs
    from afterwit.data.rows import Rows
    from afterwit.hindsight.comparator import Comparator


#: A separator whose margin is below this share of the radius is within rounding of none.
SMALLEST_MARGIN = 1e-9
NOT_LOOKED_INTO = "not looked into"
#: Training is repeated without each row in turn as long as that takes about this many multiplications at most.
MOST_WORK = 200_000_000


@dataclass(frozen=True, kw_only=True)
class LinearEvidence(Evidence):
    """A run of a linear learner, recomputed from its data. Row t of the data was played once in each pass."""

    mistakes: int
    passes: int
    #: Lengths are measured in this unit, so that the numbers here are of moderate size.
    unit: float
    radius: float
    #: The row of every update round, in order; none where rows are not kept.
    updates: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    #: Weight vectors chosen without knowledge of the update rounds, after the zero vector.
    comparators: tuple[Comparator, ...]
    #: What the learner itself ended with, and its average: for the third number alone.
    own: tuple[Comparator, ...] = ()
    #: How many updates the learner counts; for bounds that speak of updates.
    counted_updates: int = 0
    #: The margin the learner was made with, in the data's own unit; 0 if none.
    margin: float = 0.0
    #: For training until nothing changes: whether the last pass was without an update, and how to leave a row out.
    converged: bool = False
    leave_one_out: LeaveOneOut | None = None

    separable: ClassVar[str] = "some v has y_t (v . x_t) / |v| >= gamma > 0 in every round"
    inseparable: ClassVar[str] = "no hyperplane through the origin that separates the data was found"
    margin_name: ClassVar[str] = "gamma"

    @property
    def not_the_rounds(self) -> bool:
        """The rows are not those it learned from: nothing further was looked into."""
        return not self.assumptions[0].met

    def observed(self, theorem: Theorem) -> float:
        return self.counted_updates if theorem.quantity == "updates" else self.mistakes

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return None if self.not_the_rounds or theorem.quantity == "error" else self.best_separator

    @cached_property
    def best_separator(self) -> Hindsight:
        best = min((*self.comparators, *self.own), key=lambda comparator: comparator.mistakes)
        return fewest_mistakes(self.passes * best.mistakes, best.source)

    @cached_property
    def hinge_tables(self) -> tuple[HingeTable, ...]:
        return tuple(HingeTable(comparator, self.passes) for comparator in self.comparators)

    def best(self, bound: Callable[[ScaledComparator], float]) -> ScaledComparator:
        """The comparator and scale at which a bound, as a function of the losses of all rounds, is smallest."""
        _, comparator, scale = min((table.best(bound) for table in self.hinge_tables), key=lambda found: found[0])
        return self.losses(comparator, scale)

    def losses(self, comparator: Comparator, scale: float) -> ScaledComparator:
        """A scaled comparator's hinge losses over all rounds, summed from the margins themselves."""
        losses = np.maximum(0.0, 1.0 - scale * comparator.margins)
        norm = math.sqrt(self.passes) * float(np.linalg.norm(losses))
        return ScaledComparator(comparator, scale, self.passes * float(losses.sum()), norm)

    @property
    def update_rounds(self) -> int:
        """In how many rounds there was an update, as they were played again."""
        return len(self.updates)

    def left_out_error(self) -> float | None:
        """The leave-one-out error of training; None where it was not computed."""
        return None if self.leave_one_out is None else self.leave_one_out.error(np.unique(self.updates))

    def losses_on_updates(self, scaled: ScaledComparator) -> ScaledComparator:
        """The same comparator's hinge losses over the update rounds only."""
        losses = np.maximum(0.0, 1.0 - scaled.scale * scaled.comparator.margins[self.updates])
        return replace(scaled, hinge=float(losses.sum()), hinge_norm=float(np.linalg.norm(losses)))

    def separability(self) -> tuple[Assumption, Comparator | None]:
        """Whether some comparator separates the data, and the one that does so most widely."""
        if self.not_the_rounds:
            return Assumption(self.separable, Basis.OBSERVED, None, NOT_LOOKED_INTO), None
        smallest = SMALLEST_MARGIN * self.radius
        separating = [each for each in self.comparators if each.separates and each.margin > smallest]
        if not separating:
            return Assumption(self.separable, Basis.OBSERVED, False, self.inseparable), None
        widest = max(separating, key=lambda comparator: comparator.margin)
        detail = f"{self.margin_name} = {self.unit * widest.margin:.4g}"
        return Assumption(self.separable, Basis.OBSERVED, True, detail), widest


def fewest_mistakes(mistakes: int, source: str) -> Hindsight:
    """The fewest mistakes of fixed weights that were found.

    Fewest mistakes are hard to find (NP-hard), and there is no proof of how few there could be but 0.
    """
    exact = " (there may be a better one)" if mistakes else ""
    description = f"by the best fixed separator found afterwards{exact}: {source}"
    return Hindsight(mistakes, description, "mistakes", None if mistakes else 0.0)


@dataclass(frozen=True)
class LeaveOneOut:
    """Training again without one row, and judging it by that row."""

    learner: Any
    rows: Rows
    signs: Signs

    def error(self, support: npt.NDArray[np.intp]) -> float | None:
        """The share of rows that are misclassified by training on all others; None if that would take too long.

        Only rows at which there was an update can be among them: without any other row the run is the same.
        """
        if len(support) * len(self.rows.values) * (1 + self.learner.rounds // self.rows.count) > MOST_WORK:
            return None
        wrong = 0
        for row in support.tolist():
            twin = type(self.learner)(**self.learner.parameters)
            before, after = self.rows.part(0, row), self.rows.part(row + 1, self.rows.count)
            updates = -1
            while updates != twin.updates:
                updates = twin.updates
                twin._learn(before, self.signs[:row])
                twin._learn(after, self.signs[row + 1 :])
            score = twin.score_many(self.rows.part(row, row + 1))[0]
            wrong += int((score >= 0) != (self.signs[row] > 0))
        return wrong / self.rows.count


@dataclass(frozen=True)
class ScaledComparator:
    """A comparator's direction at one length, with the sum and the Euclidean norm of its hinge losses there."""

    comparator: Comparator
    scale: float
    hinge: float
    hinge_norm: float

    @property
    def norm(self) -> float:
        return self.scale * self.comparator.norm

    @property
    def rho(self) -> float:
        """The margin at which the unit vector u/|u| has these hinge losses."""
        return 1 / self.norm if self.norm > 0 else math.inf

    @property
    def source(self) -> str:
        return self.comparator.source


class HingeTable:
    """A comparator's hinge losses over all rounds at any scale, in O(log T): margins sorted, powers summed up."""

    def __init__(self, comparator: Comparator, passes: int) -> None:
        self.comparator = comparator
        self.passes = passes
        self.margins = np.sort(comparator.margins)
        self.sums = np.concatenate([[0.0], np.cumsum(self.margins)])
        self.squares = np.concatenate([[0.0], np.cumsum(self.margins**2)])

    def at(self, scale: float) -> ScaledComparator:
        n = int(np.searchsorted(self.margins, 1 / scale)) if scale > 0 else len(self.margins)
        hinge = n - scale * self.sums[n]
        square = n - 2 * scale * self.sums[n] + scale**2 * self.squares[n]
        norm = math.sqrt(self.passes * max(0.0, float(square)))
        return ScaledComparator(self.comparator, scale, self.passes * max(0.0, float(hinge)), norm)

    def best(self, bound: Callable[[ScaledComparator], float]) -> tuple[float, Comparator, float]:
        """The smallest value of a bound over all scales, and the scale; first on a grid, then between its points."""
        from scipy.optimize import minimize_scalar

        scales = [0.0]
        typical = float(np.abs(self.margins).mean()) if len(self.margins) else 0.0
        if typical > 0 and self.comparator.norm > 0:
            scales += [1.0, *(2.0**k / typical for k in range(-24, 25))]
        value, scale = min((bound(self.at(scale)), scale) for scale in scales)
        if scale > 0:
            # Where a bound is infinite the search multiplies it by 0, and goes on elsewhere.
            with np.errstate(invalid="ignore"):
                finer = minimize_scalar(
                    lambda s: bound(self.at(math.exp(s))),
                    bounds=(math.log(scale) - 0.8, math.log(scale) + 0.8),
                    method="bounded",
                    options={"xatol": 1e-6},
                )
            if finer.fun < value:
                value, scale = float(finer.fun), math.exp(float(finer.x))
        return value, self.comparator, scale
