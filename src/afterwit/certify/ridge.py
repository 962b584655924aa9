"""Gathering the evidence for the bounds of online ridge regression.

The learner keeps the inverse of A. Here every round is computed a second time with a triangular R such that
R^T R = A, from orthogonal transformations by LAPACK; predictions must agree, and losses and shares are those of this
second computation. Comparators are judged on the data itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dtpqrt, dtrtrs

from afterwit.certify.replay import (
    ROUNDING,
    comparator_for,
    how_exact,
    matrix_of,
    moderate,
    same_rounds,
    same_weights,
    used_columns,
)
from afterwit.core.certificate import Assumption, Basis, Ceiling, Evidence, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.data.rows import Rows
from afterwit.data.targets import Targets
from afterwit.hindsight._scaled_rows import column_norms
from afterwit.hindsight.comparator import row_norms

Floats = npt.NDArray[np.float64]

#: Beyond this, as a multiple of the penalty, squares of examples leave nothing of it: what is computed is rounding.
MOST_SQUARED = 1e20
#: How many rows are taken into a triangular matrix at once, where it does not matter what each of them does.
BLOCK = 1024


@dataclass(frozen=True)
class FixedWeights:
    """A comparator and its total loss over all rounds."""

    source: str
    vector: Floats
    loss: float

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.vector))


@dataclass(frozen=True)
class Trace:
    """A run computed a second time."""

    predictions: Floats
    #: The sums over the rounds of (p_t - y_t)^2, of ln alpha_t, of y_t^2 q_t and of p_t^2 (alpha_t - 1).
    loss: float
    log_determinant: float
    shares: float
    savings: float


@dataclass(frozen=True, kw_only=True)
class RidgeEvidence(Evidence):
    """A run of online ridge regression, recomputed from its data."""

    penalty: float
    features: int
    radius: float
    #: The Euclidean norm of every feature over all rounds.
    columns: Floats
    #: Y, the largest target without its sign.
    largest: float
    trace: Trace
    comparators: tuple[FixedWeights, ...]
    #: What no weights lose less than.
    least_possible: float | None
    #: The comparator of the theorem that is applied.
    compared: FixedWeights | None = None

    def best(self, bound: Callable[[FixedWeights], float]) -> FixedWeights:
        return min(self.comparators, key=bound)

    def observed(self, theorem: Theorem) -> float:
        return self.trace.loss

    @property
    def squares(self) -> bool:
        return True

    @property
    def terms(self) -> int:
        return self.rounds + self.features

    def rounding(self, theorem: Theorem, bound: float) -> float:
        """Predictions have terms of both signs; by theirs, the squares of the targets and the shares are moved."""
        targets = self.comparators[0].loss
        compared = 0.0
        if self.compared is not None:
            compared = 2 * math.sqrt(self.compared.loss) * float(np.abs(self.compared.vector) @ self.columns)
        return self.rounding_of_sums(abs(bound) + self.trace.loss + targets + compared)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        if not self.complete:
            return None
        best = min(self.comparators, key=lambda u: u.loss)
        gap = None if self.least_possible is None else max(0.0, best.loss - self.least_possible)
        exact = how_exact(best.loss, gap)
        return Hindsight(best.loss, f"by the best fixed weights found afterwards{exact}: {best.source}", gap=gap)

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        # The first comparator is always the zero vector.
        return Ceiling(self.comparators[0].loss, "weights that stay at 0 lose no more than the bound")


def gather(learner: Any, rows: Rows, targets: Targets, comparator: Any = None) -> RidgeEvidence:
    """What is known of the rounds X, y of online ridge regression."""
    penalty = learner.parameters["penalty"]
    given = comparator_for(learner, rows, comparator)
    played: list[Floats] = []
    same_rows, passes = same_rounds(
        learner, rows.count, lambda passes: _differs(learner, rows, targets, passes, played)
    )
    matrix, used = used_columns(matrix_of(learner, rows))
    there = kept(learner, rows)[used]
    matrix, used = matrix[:, there], used[there]
    radius = float(row_norms(matrix).max(initial=0.0))
    largest = float(np.abs(targets).max(initial=0.0))
    assumptions = (same_rows, *sizes(radius, penalty, largest))
    trace = Trace(np.empty(0), 0.0, 0.0, 0.0, 0.0)
    comparators = [_judged("zero", np.zeros(matrix.shape[1]), matrix, targets, passes)]
    least_possible = None
    if all(assumption.met for assumption in assumptions):
        trace, ridge = _retrace(penalty, matrix, targets, passes)
        assumptions += (_computed_alike(trace, np.concatenate([[], *played]), largest),)
        if given is not None:
            comparators.append(_judged("the given one", given[used], matrix, targets, passes))
        elif matrix.shape[1]:
            comparators.append(_judged(f"ridge regression with penalty {penalty:g}", ridge, matrix, targets, passes))
            vector, lowest = _least_squares(matrix, targets)
            comparators.append(_judged("least squares", vector, matrix, targets, passes))
            least_possible = passes * lowest
    return RidgeEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        penalty=penalty,
        features=matrix.shape[1],
        radius=radius,
        columns=math.sqrt(passes) * column_norms(matrix),
        largest=largest,
        trace=trace,
        comparators=tuple(comparators),
        least_possible=least_possible,
        assumptions=assumptions,
    )


def kept(learner: Any, rows: Rows) -> npt.NDArray[np.bool_]:
    """Which columns the learner does not leave out."""
    most, weights = learner.parameters["most_features"], learner.weights
    if most is None:
        there = np.ones(rows.width, dtype=bool)
    elif rows.names is None:
        there = np.arange(rows.width) < most
    else:
        there = np.array([isinstance(weights, dict) and name in weights for name in rows.names], dtype=bool)
    return np.concatenate([[True], there]) if learner.parameters["intercept"] else there


def _differs(learner: Any, rows: Rows, targets: Targets, passes: int, played: list[Floats]) -> str:
    """Play the rounds again; what is different from what the learner has, or nothing."""
    fresh = type(learner)(**learner.parameters)
    played += [fresh.learn_many(rows, targets) for _ in range(passes)]
    return difference(learner, fresh)


def difference(learner: Any, fresh: Any) -> str:
    """What a fresh learner, which has played the rounds again, has learned otherwise; nothing if there is nothing."""
    replayed, claimed = fresh.state(), learner.state()
    for name in ("loss", "squared_errors"):
        if not math.isclose(replayed[name], claimed[name], rel_tol=ROUNDING):
            return f"the learner has a total loss of {claimed[name]:.6g}, these rows give {replayed[name]:.6g}"
    same = same_weights(replayed, claimed, int(learner.parameters["intercept"]))
    return "" if same else "these rows give other weights"


def sizes(radius: float, penalty: float, largest: float) -> tuple[Assumption, ...]:
    """Whether squares of examples and targets can be computed, and the penalty beside them."""
    return moderate(radius), _resolved(radius, penalty), _moderate(largest)


def _resolved(radius: float, penalty: float) -> Assumption:
    fits = (radius / math.sqrt(MOST_SQUARED)) ** 2 <= penalty
    detail = "" if fits else f"the longest example has a length of {radius:.3g}, the penalty is {penalty:.3g}"
    return Assumption("sums of squares are not so large that the penalty is lost", Basis.OBSERVED, fits, detail)


def _moderate(largest: float) -> Assumption:
    fits = largest == 0 or 1e-100 < largest < 1e100
    detail = "" if fits else f"the largest target is {largest:.3g}"
    return Assumption("targets are of a size whose squares are numbers", Basis.OBSERVED, fits, detail)


def _computed_alike(trace: Trace, predictions: Floats, largest: float) -> Assumption:
    return computed_alike(first_far(trace.predictions, predictions, largest))


def first_far(recomputed: Floats, predictions: Floats, largest: float) -> int | None:
    """The first prediction that differs from what was computed here; None if none does."""
    far = np.abs(recomputed - predictions) > ROUNDING * (largest + np.abs(predictions))
    return int(np.argmax(far)) if far.any() else None


def computed_alike(differs: int | None) -> Assumption:
    detail = "every round computed a second time"
    if differs is not None:
        detail = f"in round {differs + 1:,} the recomputed prediction differs"
    return Assumption("each round is a step of its update", Basis.OBSERVED, differs is None, detail)


def _judged(source: str, vector: Floats, matrix: Any, targets: Targets, passes: int) -> FixedWeights:
    with np.errstate(over="ignore"):
        return FixedWeights(source, vector, passes * float(((matrix @ vector - targets) ** 2).sum()))


class Retrace:
    """Computes every round a second time, block after block.

    The triangle has a further column for the targets: there is c with R^T c = sum of y_s x_s, and so w = R^{-1} c. What
    is below c matters to nobody; it begins with 1, because a triangle with a 0 in its diagonal is refused.
    """

    def __init__(self, penalty: float, width: int) -> None:
        self.width = width
        self._triangle = np.zeros((width + 1, width + 1), order="F")
        np.fill_diagonal(self._triangle, math.sqrt(penalty))
        self._triangle[width, width] = 1.0

    def follow(self, matrix: Any, targets: Targets) -> tuple[Floats, Floats]:
        """Further rounds: the predictions, and x^T A^{-1} x by what was known before."""
        width, row = self.width, np.zeros((1, self.width + 1))
        predictions, spans = np.empty(len(targets)), np.empty(len(targets))
        for i in range(len(targets)):
            row[0, :width], row[0, width] = _dense(matrix, i, i + 1), 0.0
            turned = dtrtrs(self._triangle, row[0], trans=1)[0][:width]
            spans[i] = turned @ turned
            predictions[i] = (turned @ self._triangle[:width, width]) / (1 + spans[i])
            row[0, width] = targets[i]
            self._triangle = dtpqrt(0, min(width + 1, 4), self._triangle, row)[0]
        return predictions, spans

    def weights(self) -> Floats:
        """The weights of ridge regression after the last round."""
        if not self.width:
            return np.empty(0)
        return np.asarray(dtrtrs(self._triangle[: self.width, : self.width], self._triangle[: self.width, -1])[0])


def _retrace(penalty: float, matrix: Any, targets: Targets, passes: int) -> tuple[Trace, Floats]:
    """Every round computed a second time, and the weights of ridge regression after the last."""
    retrace = Retrace(penalty, matrix.shape[1])
    parts = [retrace.follow(matrix, targets) for _ in range(passes)]
    predictions, spans = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Trace(predictions, *sums_of(predictions, spans, np.tile(targets, passes))), retrace.weights()


def sums_of(predictions: Floats, spans: Floats, targets: Targets) -> tuple[float, float, float, float]:
    """What a `Trace` has of its rounds, summed up."""
    return (
        float(((predictions - targets) ** 2).sum()),
        float(np.log1p(spans).sum()),
        float((targets**2 * (spans / (1 + spans))).sum()),
        float((predictions**2 * spans).sum()),
    )


class LeastSquares:
    """Weights of the least total loss, the shortest of several; and what no weights lose less than."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._triangle = np.zeros((0, width + 1))

    def add(self, matrix: Any, targets: Targets) -> None:
        """Further rounds."""
        for begin in range(0, len(targets), BLOCK):
            rows = np.column_stack([_dense(matrix, begin, begin + BLOCK), targets[begin : begin + BLOCK]])
            self._triangle = np.asarray(np.linalg.qr(np.vstack([self._triangle, rows]), mode="r"))

    def solved(self) -> tuple[Floats, float]:
        width, triangle = self.width, self._triangle
        # In units in which all columns are of the same size, what is small is rounding.
        units = np.abs(triangle[:, :width]).max(axis=0, initial=0.0)
        units = np.exp2(np.round(np.log2(np.where(units > 0, units, 1.0))))
        vector = np.linalg.lstsq(triangle[:, :width] / units, triangle[:, width])[0] / units
        lowest = float(triangle[width, width] ** 2) if len(triangle) > width else 0.0
        return vector, lowest


def _least_squares(matrix: Any, targets: Targets) -> tuple[Floats, float]:
    """The same of rows in memory."""
    found = LeastSquares(matrix.shape[1])
    found.add(matrix, targets)
    return found.solved()


def _dense(matrix: Any, begin: int, end: int) -> Floats:
    part = matrix[begin:end]
    dense: Floats = part.toarray() if hasattr(part, "toarray") else part
    return dense
