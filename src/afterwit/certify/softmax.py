"""Gathering the evidence for the regret bound of softmax regression.

The run is played again, and every round is computed a second time with numpy, from the formulas of the update: the
scores of all classes must agree, and losses and gradients are those of this second computation. Comparators are the
weights of all classes, judged on the data itself. In every round only the classes that have come by then count.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._descent_trace import Trace
from afterwit.certify.descent import DescentEvidence, FixedWeights, computed_alike
from afterwit.certify.multiclass import given_vectors, same_class_weights
from afterwit.certify.replay import (
    ROUNDING,
    matrix_of,
    moderate,
    on_part,
    other_count,
    same_rounds,
    to_fit_on,
    used_columns,
)
from afterwit.core.certificate import Assumption, Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.classes import Codes
from afterwit.data.rows import Rows
from afterwit.hindsight._scaled_rows import column_norms
from afterwit.hindsight.comparator import row_norms
from afterwit.linear._regret import Descent

Floats = npt.NDArray[np.float64]

#: How often the solver of scikit-learn goes through the rounds, at most.
STEPS = 200
#: How the length of a comparator is priced, as parts of 1 / rate, in columns of one size.
PRICES = (1.0, 0.05, 1e-3, 1e-5)


@dataclass(frozen=True, kw_only=True)
class SoftmaxEvidence(DescentEvidence):
    """A run of softmax regression, recomputed from its data. Vectors have the features of one class after another."""

    #: How many classes began on the way.
    unannounced: int

    def certificate(
        self, theorem: Theorem, bound: float | None, inputs: Mapping[str, float | str], *extra: Assumption, **how: Any
    ) -> Certificate:
        if bound is not None and self.unannounced and theorem.quantity == "mistakes":
            bound, inputs = bound + self.unannounced, {**inputs, "classes not named beforehand": self.unannounced}
        return super().certificate(theorem, bound, inputs, *extra, **how)


@dataclass(frozen=True)
class Rounds:
    """The rounds that are judged: the rows, their classes, and how many classes count in each."""

    matrix: Any
    codes: Codes
    #: How many classes have come by each round of the first pass, its own included; from then on all.
    known: Codes
    count: int
    passes: int

    def judged(self, source: str, vectors: Floats) -> FixedWeights:
        """Weights of all classes, a row for each, multiplied out on the data."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(self.matrix @ vectors.T)
            own = scores[np.arange(len(self.codes)), self.codes]
            every = log_losses(scores, own, self.count)
            first = log_losses(scores, own, self.known)
        wrong = int(np.count_nonzero(np.argmax(scores, axis=1) != self.codes)) if len(own) else 0
        total = float(first.sum()) + (self.passes - 1) * float(every.sum())
        return FixedWeights(source, vectors.reshape(-1), total, self.passes * wrong)


def log_losses(scores: Floats, own: Floats, known: Any) -> Floats:
    """-ln p of the right class in every row, over its first ``known`` classes."""
    counts = np.arange(scores.shape[1]) < np.reshape(known, (-1, 1))
    masked = np.where(counts, scores, -np.inf)
    largest = masked.max(axis=1, initial=-np.inf)
    losses: Floats = largest - own + np.log(np.exp(masked - largest[:, np.newaxis]).sum(axis=1))
    return losses


def gather(learner: Any, X: Any, y: Any, comparator: Any = None) -> SoftmaxEvidence:
    """What is known of the rounds X, y of softmax regression."""
    fresh = type(learner)(**learner.parameters)
    rows, codes, _ = fresh._checked(X, y)
    given = given_vectors(learner, rows, comparator)
    same, passes, scores = _play(learner, rows, codes, y)
    matrix, used = used_columns(matrix_of(learner, rows))
    radius = float(row_norms(matrix).max(initial=0.0))
    assumptions: tuple[Assumption, ...] = (same, moderate(radius))
    holds = all(assumption.met for assumption in assumptions)
    count = max(1, len(learner.classes))
    announced = count if learner.labels is not None else 0
    codes = codes if holds else np.minimum(codes, count - 1)
    known = np.maximum(announced, np.maximum.accumulate(codes + 1)) if len(codes) else codes
    rounds = Rounds(matrix, codes, known, count, passes)
    descent = learner._descent()
    trace = _retrace(descent, rounds, scores if holds else [])
    found = [rounds.judged("zero", np.zeros((count, matrix.shape[1])))]
    own: list[FixedWeights] = []
    if holds:
        if given is not None:
            found.append(rounds.judged("the given one", given[:, used]))
        else:
            found += _comparators(descent, rounds)
        for source, vector in (("its own last weights", trace.last), ("the average of its weights", trace.average)):
            own.append(rounds.judged(source, vector.reshape(count, -1)))
        assumptions += (computed_alike(trace),)
    return SoftmaxEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        descent=descent,
        mistakes=learner.mistakes,
        radius=radius,
        columns=np.tile(math.sqrt(passes) * column_norms(matrix), count),
        trace=trace,
        comparators=tuple(found),
        own=tuple(own),
        assumptions=assumptions,
        unannounced=0 if announced else len(learner.classes),
    )


def _play(learner: Any, rows: Rows, codes: Codes, y: Any) -> tuple[Assumption, int, list[list[float]]]:
    """Whether these are the rounds the learner learned from, and what each class scored in every one of them."""
    scores: list[list[float]] = []

    def differs(passes: int) -> str:
        fresh = type(learner)(**learner.parameters)
        for _ in range(passes):
            _, _, new = fresh._checked(rows, y)
            joined = fresh._classes.joined(new)
            fresh._engine.make_class_room(len(joined))
            for i in range(rows.count):
                known = fresh._engine.count
                fresh._engine._learn(rows.part(i, i + 1), codes[i : i + 1])
                scores.append(fresh._engine.latest_scores()[:known])
            fresh._admit(joined)
        if learner.classes != fresh.classes:
            return f"the learner has the classes {learner.classes!r}, these rows give {fresh.classes!r}"
        for what in ("mistakes", "updates"):
            if why := other_count(what, getattr(learner, what), getattr(fresh, what)):
                return why
        return "" if same_class_weights(learner, fresh.state(), learner.state()) else "these rows give other weights"

    same, passes = same_rounds(learner, rows.count, differs)
    return same, passes, scores


def _comparators(descent: Descent, rounds: Rounds) -> list[FixedWeights]:
    """Weights of all classes worth comparing with, chosen from the rows alone."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    part, codes, step = to_fit_on(rounds.matrix, rounds.codes)
    came = np.unique(codes)
    if len(came) < 2 or not part.shape[1]:
        return []
    # Columns of one size: their units do not matter.
    units = column_norms(part) / math.sqrt(len(codes))
    units[units == 0] = 1.0
    part = part.multiply(1 / units).tocsr() if hasattr(part, "indptr") else part / units
    found = []
    for price in PRICES:
        ridge = price / descent.rate / step / rounds.passes
        solver = LogisticRegression(C=1 / ridge, fit_intercept=False, max_iter=STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solver.fit(part, codes)
        vectors = np.zeros((rounds.count, part.shape[1]))
        if len(came) == 2:
            # Only the difference is handed over.
            vectors[came[1]] = solver.coef_[0] / 2
            vectors[came[0]] = -vectors[came[1]]
        else:
            vectors[came] = solver.coef_
        if np.isfinite(vectors).all():
            source = f"least log loss with ridge {ridge * step:.3g}, in columns of one size{on_part(step)}"
            found.append(rounds.judged(source, vectors / units))
    return found


def _retrace(descent: Descent, rounds: Rounds, scores: list[list[float]]) -> Trace:
    """Compute every round a second time; the slopes are those of the learner's own scores."""
    count, width = rounds.count, rounds.matrix.shape[1]
    weights, sums, total = (np.zeros((count, width)) for _ in range(3))
    lowest, highest, seen = (np.zeros((count, width)) for _ in range(3))
    loss, squares, differs = 0.0, 0.0, None
    matrix, sparse = rounds.matrix, hasattr(rounds.matrix, "indptr")
    every = np.arange(count)[:, np.newaxis]
    for t, said in enumerate(scores):
        row = t % len(rounds.codes)
        y, known = int(rounds.codes[row]), int(rounds.known[row]) if t < len(rounds.codes) else count
        at: Any = np.arange(width)
        if sparse:
            span = slice(matrix.indptr[row], matrix.indptr[row + 1])
            at, values = matrix.indices[span], matrix.data[span]
        else:
            values = matrix[row]
        # A class that begins in this round has the score 0.
        shown = np.array([*said, *([0.0] * (known - len(said)))])
        place = (every[:known], at)
        there = weights[place]
        apart = np.abs(there @ values - shown)
        if differs is None and (apart > ROUNDING * (np.abs(there) @ np.abs(values)) + 1e-300).any():
            differs = t
        shares = np.exp(shown - shown.max())
        others = float(shares.sum() - shares[y]) if shares[y] < 0.5 else float(np.delete(shares, y).sum())
        slopes = shares / (others + shares[y])
        slopes[y] = -others / (others + shares[y])
        loss += float(shown.max() - shown[y] + math.log(others + shares[y]))
        # Until now the weights were as they are, from the round on that changed them last.
        total[place] += there * (t + 1 - seen[place])
        seen[place] = t + 1
        gradients = np.multiply.outer(slopes, values)
        squares += float((gradients**2).sum())
        sums[place] += gradients**2
        divisor = np.sqrt(descent.delta + sums[place])
        weights[place] -= descent.rate * np.divide(gradients, divisor, out=np.zeros_like(divisor), where=divisor > 0)
        lowest[place] = np.minimum(lowest[place], weights[place])
        highest[place] = np.maximum(highest[place], weights[place])
    total += weights * (len(scores) - seen)
    nothing = np.zeros(count * width)
    return Trace(
        differs=differs,
        loss=loss,
        squares=squares,
        rates=0.0,
        weighted_squares=0.0,
        last_rate=descent.rate,
        standstills=0,
        gradients=np.sqrt(sums).reshape(-1),
        lowest=lowest.reshape(-1),
        highest=highest.reshape(-1),
        last=weights.reshape(-1),
        average=(total / max(1, len(scores))).reshape(-1),
        largest=nothing,
        first=nothing,
    )
