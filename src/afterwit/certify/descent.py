"""Gathering the evidence for the regret bounds of gradient learners.

The run is played again, and every round is computed a second time with numpy, from the formulas of the update: scores
must agree, and losses and gradients are those of this second computation. Comparators are judged on the data itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._descent_trace import Retrace, Trace, losses_of
from afterwit.certify._late import delays_in, replay_late
from afterwit.certify.linear import fewest_mistakes
from afterwit.certify.replay import (
    CLOSE_ENOUGH,
    ROUNDING,
    comparator_for,
    how_exact,
    matrix_of,
    moderate,
    on_part,
    replay,
    to_fit_on,
    used_columns,
)
from afterwit.core.certificate import Assumption, Basis, Ceiling, Evidence, Hindsight
from afterwit.core.delays import Moments
from afterwit.core.theorem import Theorem
from afterwit.data.losses import get
from afterwit.data.rows import Rows
from afterwit.errors import Words, counted, invalid
from afterwit.hindsight._newton import Least, Region, least
from afterwit.hindsight._scaled_rows import ScaledRows, column_norms
from afterwit.hindsight.comparator import row_norms
from afterwit.linear._regret import Descent, DescentKind

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FixedWeights:
    """A comparator and its total loss over all rounds."""

    source: str
    vector: Floats
    loss: float
    mistakes: int

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.vector))


@dataclass(frozen=True)
class Beyond:
    """The rounds whose slopes were cut off: by how much, their examples and the predictions."""

    amounts: Floats
    matrix: Any
    predictions: Floats

    @property
    def rounds(self) -> int:
        return len(self.amounts)

    def cost(self, u: FixedWeights) -> float:
        """At most what the parts that were cut off add to the regret to u."""
        return float(self.amounts @ np.abs(self.predictions - self.matrix @ u.vector))


@dataclass(frozen=True, kw_only=True)
class DescentEvidence(Evidence):
    """A run of a gradient learner, recomputed from its data."""

    descent: Descent
    mistakes: int
    radius: float
    #: The size of the largest real target, and their Euclidean norm over all rounds; 0 for signs.
    largest_target: float = 0.0
    targets: float = 0.0
    beyond: Beyond | None = None
    #: The Euclidean norm of every feature over all rounds.
    columns: Floats
    trace: Trace
    comparators: tuple[FixedWeights, ...]
    #: What the learner itself ended with, and its average: for the third number alone.
    own: tuple[FixedWeights, ...] = ()
    #: No weights that are allowed lose less than this; None where that was not looked into.
    least_possible: float | None = None
    #: What a comparator is called.
    fixed: str = "weights"
    #: The comparator of the theorem that is applied.
    compared: FixedWeights | None = None

    @property
    def squared_gradients(self) -> float:
        return self.trace.squares

    @property
    def drift(self) -> float:
        return self.trace.drift

    @property
    def rates(self) -> float:
        return self.trace.rates

    @property
    def weighted_squares(self) -> float:
        return self.trace.weighted_squares

    @property
    def last_rate(self) -> float:
        return self.trace.last_rate

    @property
    def gradients(self) -> Floats:
        return self.trace.gradients

    @property
    def epsilon(self) -> float:
        """The money with which every feature began."""
        return self.descent.rate * self.trace.unit

    def cut_off(self, u: FixedWeights) -> float:
        """At most what slopes that were cut off add to the regret to u."""
        return 0.0 if self.beyond is None else self.beyond.cost(u)

    @property
    def rounds_cut_off(self) -> int:
        return 0 if self.beyond is None else self.beyond.rounds

    @property
    def squares(self) -> bool:
        return self.descent.loss == "square"

    @property
    def met(self) -> npt.NDArray[np.bool_]:
        """Which features had a value other than 0."""
        return self.trace.first > 0

    @property
    def spans(self) -> Floats:
        """sqrt(S_i + M_i^2) after the last round."""
        return np.hypot(self.gradients, self.trace.largest)

    @property
    def factors(self) -> Floats:
        """(1 + S_i / m_i^2)^(1/(2 ln 2))."""
        first = np.where(self.met, self.trace.first, 1.0)
        return (1 + (self.gradients / first) ** 2) ** (1 / (2 * math.log(2)))

    def roots(self, sizes: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(np.sqrt(self.descent.delta + sizes**2).sum())

    def spread(self, u: FixedWeights) -> float:
        """The sum over the features of D_i^2 sqrt(delta + G_i)."""
        far = np.maximum(abs(u.vector - self.trace.lowest), abs(u.vector - self.trace.highest))
        return float((far**2 * np.sqrt(self.descent.delta + self.gradients**2)).sum())

    def best(self, bound: Callable[[FixedWeights], float]) -> FixedWeights:
        return min(self.comparators, key=bound)

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes if theorem.quantity == "mistakes" else self.trace.loss

    @property
    def terms(self) -> int:
        return self.rounds + len(self.columns)

    def rounding(self, theorem: Theorem, bound: float) -> float:
        """That of the learner's scores is within that of the bound, whose squared gradients move the weights."""
        compared = 0.0 if self.compared is None else self.score_sizes(self.compared)
        # A bound on mistakes is one on the loss, divided by a number.
        loss = abs(bound) if theorem.quantity == "mistakes" else self.trace.loss
        return self.rounding_of_sums(abs(bound) + loss + compared + self.trace.drift_size)

    def score_sizes(self, u: FixedWeights) -> float:
        """At most the sum over the rounds of |slope| times the sizes of what is added up for the score of u."""
        factor, steepest = self.descent.factor, self.descent.steepest
        squares = factor * max(factor * self.rounds, 4 * u.loss)
        if self.descent.of_targets:
            # Squared slopes are at most the square of the largest, or 4 times the loss, where it is smooth.
            smooth = get(self.descent.loss).kind in ("square", "huber")
            squares = min(
                math.inf if steepest is None else steepest**2 * self.rounds, 4 * u.loss if smooth else math.inf
            )
        return math.sqrt(squares) * (float(np.abs(u.vector) @ self.columns) + self.targets)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        if not self.complete:
            return None
        if theorem.quantity == "mistakes":
            best = min((*self.comparators, *self.own), key=lambda u: u.mistakes)
            return fewest_mistakes(best.mistakes, best.source)
        best = min((*self.comparators, *self.own), key=lambda u: u.loss)
        gap = None if self.least_possible is None else max(0.0, best.loss - self.least_possible)
        where = f" with |u| <= {self.descent.ball:.4g}" if self.descent.ball is not None else ""
        where = f" with |u_i| <= {self.descent.box:.4g}" if self.descent.box is not None else where
        exact = how_exact(best.loss, gap)
        return Hindsight(
            best.loss, f"by the best fixed {self.fixed} found afterwards{where}{exact}: {best.source}", gap=gap
        )

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        if theorem.quantity == "mistakes":
            return super().ceiling(theorem)
        # The first comparator is always the zero vector.
        return Ceiling(self.comparators[0].loss, "weights that stay at 0 lose no more than the bound")


def gather(
    learner: Any, rows: Rows, signs: Any, comparator: Any = None, served: Moments | None = None
) -> DescentEvidence:
    """What is known of the rounds X, y of a gradient learner; y are signs or, if it is a regressor, targets.

    Labels that came late were served at these moments.
    """
    descent = learner._descent()
    given = comparator_for(learner, rows, comparator)
    played = replay(learner, rows, signs) if served is None else replay_late(learner, rows, signs, served)
    matrix, used = used_columns(matrix_of(learner, rows))
    if given is not None:
        given = allowed(descent, given[used])
    passes = played.passes
    radius = float(row_norms(matrix).max(initial=0.0))
    assumptions: tuple[Assumption, ...] = (played.same_rounds, moderate(radius))
    largest_target = 0.0
    if descent.of_targets:
        largest_target = float(np.abs(signs).max(initial=0.0))
        assumptions += (moderate(largest_target, "targets"),)
    same = all(assumption.met for assumption in assumptions)
    trace, amounts = _retrace(descent, matrix, signs, played.scores if same else np.empty(0), served)
    found = [_judged("zero", np.zeros(matrix.shape[1]), descent, matrix, signs, passes)]
    own: list[FixedWeights] = []
    least_possible = None
    if same:
        if given is not None:
            found.append(_judged("the given one", given, descent, matrix, signs, passes))
        elif matrix.shape[1]:
            sought, least_possible = candidates(descent, matrix, signs, passes)
            found += [_judged(*each, descent, matrix, signs, passes) for each in sought]
        for source, vector in (("its own last weights", trace.last), ("the average of its weights", trace.average)):
            own.append(_judged(source, vector, descent, matrix, signs, passes))
        assumptions += (computed_alike(trace),)
        if descent.ridge:
            assumptions += (never_stood_still(trace),)
    delays = delays_in(played, served) if same else None
    if delays is not None:
        assumptions += (delays.assumption,)
    return DescentEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        descent=descent,
        mistakes=0 if descent.of_targets else learner.mistakes,
        radius=radius,
        largest_target=largest_target,
        targets=math.sqrt(passes) * float(np.linalg.norm(signs)) if largest_target and same else 0.0,
        beyond=_beyond(amounts, matrix, played.scores) if same else None,
        columns=math.sqrt(passes) * column_norms(matrix),
        trace=trace,
        comparators=tuple(found),
        own=tuple(own),
        least_possible=least_possible,
        assumptions=assumptions,
        delays=delays,
    )


def _retrace(
    descent: Descent, matrix: Any, y: Any, scores: Floats, served: Moments | None = None
) -> tuple[Trace, Floats]:
    """The rounds of these scores computed a second time, and by how much the slope of each was cut off."""
    rounds = Retrace(descent, matrix.shape[1])
    if served is not None and len(scores):
        cut_off = rounds.follow(matrix, y, scores, served)
        return rounds.trace(), cut_off
    begins = range(0, len(scores), max(1, len(y)))
    amounts = [rounds.follow(matrix, y, scores[begin : begin + len(y)]) for begin in begins]
    return rounds.trace(), np.concatenate([[], *amounts])


def _beyond(amounts: Floats, matrix: Any, scores: Floats) -> Beyond | None:
    at = np.flatnonzero(amounts)
    return Beyond(amounts[at], matrix[at % matrix.shape[0]], scores[at]) if len(at) else None


def allowed(descent: Descent, vector: Floats) -> Floats:
    """A given comparator, which must lie where the learner's weights stay."""
    if descent.ball is not None and np.linalg.norm(vector) > descent.ball * (1 + ROUNDING):
        raise invalid("comparator", f"in the ball, no longer than {descent.ball:g}", Words("a longer one"))
    if descent.box is not None and np.abs(vector).max(initial=0.0) > descent.box * (1 + ROUNDING):
        raise invalid("comparator", f"in the box, no weight larger than {descent.box:g}", Words("a larger one"))
    return vector


def computed_alike(trace: Trace) -> Assumption:
    detail = "every round computed a second time"
    if trace.differs is not None:
        detail = f"in round {trace.differs + 1:,} the recomputed score differs"
    return Assumption("each round is a step of its update", Basis.OBSERVED, trace.differs is None, detail)


def never_stood_still(trace: Trace) -> Assumption:
    detail = "" if not trace.standstills else f"{counted(trace.standstills, 'round')} had it, where no step is taken"
    return Assumption("no round has y_t (w_t . x_t) = 1 exactly", Basis.OBSERVED, trace.standstills == 0, detail)


def _judged(source: str, vector: Floats, descent: Descent, matrix: Any, signs: Any, passes: int) -> FixedWeights:
    # Weights that have grown beyond all measure lose more than any number.
    with np.errstate(over="ignore"):
        scores = matrix @ vector
        total = float(losses_of(descent, signs, scores).sum())
        if descent.ridge:
            total += len(signs) * float(vector @ vector) / 2
    mistakes = int(np.count_nonzero((scores >= 0) != (signs > 0)))
    return FixedWeights(source, vector, passes * total, passes * mistakes)


def candidates(
    descent: Descent, matrix: Any, y: Any, passes: int, one_in: int = 1
) -> tuple[list[tuple[str, Floats]], float]:
    """Weights worth comparing with, chosen from the rows alone; and what no weights lose less than on these rows.

    These may be one row in so many of those that were played.
    """
    name = f"least {descent.loss} loss"
    # The objective of a round has |u|^2/2 where there is a ridge, factor times the loss else.
    ridge = len(y) / descent.factor if descent.ridge else 0.0
    region = Region(ridge, descent.ball, descent.box)
    free = not ridge and descent.ball is None and descent.box is None
    best = _least(descent, matrix, y, region, centred=free)
    found = [(f"{name}{on_part(one_in)}", best.vector)]
    part, part_y, step = to_fit_on(matrix, y)
    step *= one_in
    units = np.ones(part.shape[1])
    if descent.kind in (DescentKind.SCALE_FREE, DescentKind.SCALE_FREE_TARGETS):
        # Lengths of weights are meant in the units of the columns.
        units = column_norms(part) / math.sqrt(max(1, len(part_y)))
        units[units == 0] = 1.0
        part = part.multiply(1 / units).tocsr() if hasattr(part, "indptr") else part / units
    vector = None
    for factor in (1.0, 0.05, 1e-3):
        if descent.ridge or descent.loss == "perceptron":
            break
        # At factor 1 loss plus regret at a constant rate is least; below it, the loss is less and the length more.
        price = factor / descent.rate / step / passes / descent.factor * _worth_of_a_weight(descent, y, one_in)
        region = Region(price, descent.ball, descent.box)
        vector = _least(descent, part, part_y, region, start=vector, tolerance=CLOSE_ENOUGH).vector
        found.append((f"{name} with ridge {price * step:.3g}{on_part(step)}", vector / units))
    return found, passes * descent.factor * best.lowest


def _worth_of_a_weight(descent: Descent, y: Any, one_in: int) -> float:
    """What the square of a weight is worth in losses where that of 1 means nothing: if targets are in any unit.

    A bet on a feature of values around 1 costs about the root of the number of rounds.
    """
    if descent.kind is not DescentKind.SCALE_FREE_TARGETS:
        return 1.0
    unit = _unit_of(y)
    return math.sqrt(one_in * len(y)) * get(descent.loss).in_unit(unit)[1] / unit**2


def _unit_of(targets: Floats) -> float:
    return float(np.abs(targets).max(initial=0.0)) or 1.0


def _least(
    descent: Descent,
    matrix: Any,
    y: Any,
    region: Region,
    centred: bool = False,
    start: Floats | None = None,
    tolerance: float | None = None,
) -> Least:
    """The weights of least loss in the region; real targets are divided by the largest, to be numbers around 1."""
    if not descent.of_targets:
        return least(ScaledRows(matrix, y, centred=centred), descent.loss, region, start, tolerance)
    unit = _unit_of(y)
    loss, worth = get(descent.loss).in_unit(unit)
    ball, box = (None if each is None else each / unit for each in (region.ball, region.box))
    inside = Region(region.ridge * unit**2 / worth, ball, box)
    rows = ScaledRows.with_targets(matrix, y / unit, centred)
    found = least(rows, loss.name, inside, None if start is None else start / unit, tolerance)
    return Least(unit * found.vector, worth * found.value, worth * found.lowest)
