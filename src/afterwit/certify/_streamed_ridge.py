"""The evidence of online ridge regression from a stream that is read again, k + 2 times for k passes of learning.

The passes: what there is; the run, played again and computed a second time (k times); and the comparators, judged on
all rows. These are exact, as in memory: a triangle as large as that of the learner holds all that they depend on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.replay import comparator_for, same_rounds
from afterwit.certify.ridge import (
    FixedWeights,
    LeastSquares,
    Retrace,
    RidgeEvidence,
    Trace,
    computed_alike,
    difference,
    first_far,
    kept,
    sizes,
    sums_of,
)
from afterwit.certify.streamed import Block, ColumnNorms, Passes, Sums
from afterwit.hindsight.comparator import row_norms

Floats = npt.NDArray[np.float64]


class Run:
    """What is learned of a run in passes over it."""

    def __init__(self, penalty: float, there: npt.NDArray[np.bool_], largest: float) -> None:
        self.penalty, self.there, self.largest = penalty, there, largest
        width = int(np.count_nonzero(there))
        self.columns, self.radius = ColumnNorms(width), 0.0
        self.retrace, self.least_squares = Retrace(penalty, width), LeastSquares(width)
        self.sums = Sums(4)
        self.rounds = 0
        self.differs: int | None = None

    def matrix(self, block: Block) -> Any:
        """The columns that the learner does not leave out."""
        return block.matrix if self.there.all() else block.matrix[:, self.there]

    def measure(self, block: Block) -> None:
        matrix = self.matrix(block)
        self.radius = max(self.radius, float(row_norms(matrix).max(initial=0.0)))
        self.columns.add(matrix)

    @property
    def moderate(self) -> bool:
        return all(each.met for each in sizes(self.radius, self.penalty, self.largest))

    def follow(self, block: Block, predictions: Floats, first_pass: bool) -> None:
        """A block of the run, computed a second time."""
        matrix = self.matrix(block)
        if first_pass:
            self.measure(block)
        if not self.moderate:
            return
        recomputed, spans = self.retrace.follow(matrix, block.y)
        self.sums.add(sums_of(recomputed, spans, block.y))
        if first_pass:
            self.least_squares.add(matrix, block.y)
        far = first_far(recomputed, predictions, self.largest)
        if far is not None and self.differs is None:
            self.differs = self.rounds + far
        self.rounds += len(predictions)


def gather(learner: Any, stream: Any, comparator: Any = None) -> RidgeEvidence:
    """What is known of the rounds of a stream, which online ridge regression learned."""
    penalty = learner.parameters["penalty"]
    passes = Passes(learner, stream)
    header = passes.columns.header
    given = comparator_for(learner, header, comparator)
    there = passes.narrowed(kept(learner, header).astype(np.float64)) > 0
    run = Run(penalty, there, passes.largest_label)

    def differs(times: int) -> str:
        fresh = type(learner)(**learner.parameters)
        for number in range(times):
            for block in passes:
                run.follow(block, fresh.learn_many(block.rows, block.y), number == 0)
        return difference(learner, fresh)

    same, times = same_rounds(learner, passes.count, lambda _: "")
    if same.holds:
        same, _ = same_rounds(learner, passes.count, differs)
    else:
        for block in passes:
            run.measure(block)
    assumptions = (same, *sizes(run.radius, penalty, run.largest))
    vectors = {"zero": np.zeros(run.retrace.width)}
    trace, least_possible = Trace(np.empty(0), 0.0, 0.0, 0.0, 0.0), None
    if all(assumption.met for assumption in assumptions):
        trace = Trace(np.empty(0), *run.sums.value.tolist())
        assumptions += (computed_alike(run.differs),)
        if given is not None:
            vectors["the given one"] = passes.narrowed(given)[there]
        elif run.retrace.width:
            vectors[f"ridge regression with penalty {penalty:g}"] = run.retrace.weights()
            vectors["least squares"], lowest = run.least_squares.solved()
            least_possible = times * lowest
    return RidgeEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        penalty=penalty,
        features=run.retrace.width,
        radius=run.radius,
        columns=math.sqrt(times) * run.columns.value,
        largest=run.largest,
        trace=trace,
        comparators=_judged(passes, run, vectors, times),
        least_possible=least_possible,
        assumptions=assumptions,
    )


def _judged(passes: Passes, run: Run, vectors: dict[str, Floats], times: int) -> tuple[FixedWeights, ...]:
    losses = Sums(len(vectors))
    with np.errstate(over="ignore"):
        for block in passes:
            matrix = run.matrix(block)
            losses.add([float(((matrix @ vector - block.y) ** 2).sum()) for vector in vectors.values()])
    totals = (times * losses.value).tolist()
    return tuple(FixedWeights(*each, loss) for each, loss in zip(vectors.items(), totals, strict=True))
