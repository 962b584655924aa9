"""The evidence of gradient learners from a stream that is read again, k + 2 times for k passes of learning.

The passes: what there is, and a sample; the run, played again and computed a second time (k times), in the first of
which the comparators are judged on all rows; and what the learner ended with. Comparators are what solvers find in the
sample, and the learner's own last weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._descent_trace import Retrace, losses_of
from afterwit.certify.descent import (
    DescentEvidence,
    FixedWeights,
    allowed,
    candidates,
    computed_alike,
    never_stood_still,
)
from afterwit.certify.replay import comparator_for, moderate, own_weights, same_rounds
from afterwit.certify.streamed import Block, ColumnNorms, Passes, PlayedBlock, Sums, replayed
from afterwit.core.certificate import Assumption
from afterwit.hindsight.comparator import row_norms
from afterwit.linear._regret import Descent

Floats = npt.NDArray[np.float64]


class Judge:
    """One weight vector: what it loses, and what the slopes that were cut off add, block after block."""

    def __init__(self, descent: Descent, source: str, vector: Floats) -> None:
        self.descent, self.source, self.vector = descent, source, vector
        self._losses, self._beyond = Sums(), Sums()
        self.rounds, self.mistakes = 0, 0

    def see(self, block: Block) -> None:
        # Weights that have grown beyond all measure lose more than any number.
        with np.errstate(over="ignore", invalid="ignore"):
            scores = block.matrix @ self.vector
            self._losses.add(losses_of(self.descent, block.y, scores).sum())
        self.mistakes += int(np.count_nonzero((scores >= 0) != (block.y > 0)))
        self.rounds += len(scores)

    def pay(self, amounts: Floats, matrix: Any, predictions: Floats) -> None:
        """Slopes were cut off by these amounts, at rows with these predictions."""
        self._beyond.add(float(amounts @ np.abs(predictions - matrix @ self.vector)))

    def judged(self, times: int) -> FixedWeights:
        loss = float(self._losses.value)
        if self.descent.ridge:
            loss += self.rounds * float(self.vector @ self.vector) / 2
        return FixedWeights(self.source, self.vector, times * loss, times * self.mistakes)

    @property
    def beyond(self) -> float:
        return float(self._beyond.value)


@dataclass(frozen=True)
class SummedBeyond:
    """The rounds whose slopes were cut off: how many, and what they add for each comparator."""

    rounds: int
    costs: dict[str, float]

    def cost(self, u: FixedWeights) -> float:
        return self.costs[u.source]


@dataclass
class Run:
    """What is learned of a run in passes over it."""

    descent: Descent
    passes: Passes
    judges: list[Judge]

    def __post_init__(self) -> None:
        self.radius = 0.0
        self.columns = ColumnNorms(self.passes.width)
        self.targets = ColumnNorms(1)
        self.retrace = Retrace(self.descent, self.passes.width)
        self.cut_off = 0

    def measure(self, block: Block) -> None:
        """Sizes, and what the comparators lose."""
        self.radius = max(self.radius, float(row_norms(block.matrix).max(initial=0.0)))
        self.columns.add(block.matrix)
        if self.descent.of_targets:
            self.targets.add(block.y[:, np.newaxis])
        for judge in self.judges:
            judge.see(block)

    def follow(self, block: PlayedBlock) -> None:
        """A block of the run, computed a second time."""
        if not block.passes_before:
            self.measure(block)
        if not all(each.met for each in self.moderate):
            return
        with np.errstate(all="ignore"):
            amounts = self.retrace.follow(block.matrix, block.y, block.scores)
        at = np.flatnonzero(amounts)
        if len(at):
            self.cut_off += len(at)
            for judge in self.judges:
                judge.pay(amounts[at], block.matrix[at], block.scores[at])

    @property
    def moderate(self) -> tuple[Assumption, ...]:
        """Whether squares of what was met so far can be computed."""
        assumed = (moderate(self.radius),)
        return (*assumed, moderate(self.passes.largest_label, "targets")) if self.descent.of_targets else assumed


def gather(learner: Any, stream: Any, comparator: Any = None) -> DescentEvidence:
    """What is known of the rounds of a stream, which a gradient learner learned."""
    descent = learner._descent()
    passes = Passes(learner, stream)
    header = passes.columns.header
    given = comparator_for(learner, header, comparator)
    if given is not None:
        given = allowed(descent, passes.narrowed(given))
    same, times = same_rounds(learner, passes.count, lambda _: "")
    run = Run(descent, passes, [Judge(descent, "zero", np.zeros(passes.width))])
    if same.holds:
        run.judges += _sought(descent, learner, passes, given, times)
        same, _, _ = replayed(learner, passes, run.follow)
    else:
        for block in passes:
            run.measure(block)
    assumptions = (same, *run.moderate)
    holds = all(assumption.met for assumption in assumptions)
    retrace = run.retrace if holds else Retrace(descent, passes.width)
    trace = retrace.trace()
    judges, own = run.judges[:1], []
    if holds:
        judges = [judge for judge in run.judges if math.isfinite(judge.judged(times).loss)]
        own = [
            Judge(descent, "its own last weights", trace.last),
            Judge(descent, "the average of its weights", trace.average),
        ]
        for block in passes:
            for judge in own:
                judge.see(block)
        assumptions += (computed_alike(trace),)
        if descent.ridge:
            assumptions += (never_stood_still(trace),)
    root = math.sqrt(times)
    beyond: Any = SummedBeyond(run.cut_off, {judge.source: judge.beyond for judge in judges})
    return DescentEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        descent=descent,
        mistakes=0 if descent.of_targets else learner.mistakes,
        radius=run.radius,
        largest_target=passes.largest_label if descent.of_targets else 0.0,
        targets=root * float(run.targets.value[0]) if holds else 0.0,
        beyond=beyond if holds and run.cut_off else None,
        columns=root * run.columns.value,
        trace=trace,
        comparators=tuple(judge.judged(times) for judge in judges),
        own=tuple(judge.judged(times) for judge in own),
        assumptions=assumptions,
    )


def _sought(descent: Descent, learner: Any, passes: Passes, given: Floats | None, times: int) -> list[Judge]:
    """Comparators: the given one, or what solvers find in the sample and what the learner ended with."""
    if given is not None:
        return [Judge(descent, "the given one", given)]
    matrix, y = passes.sample()
    largest = float(row_norms(matrix).max(initial=0.0))
    if not matrix.shape[1] or not moderate(largest).met or not moderate(passes.largest_label).met:
        return []
    found, _ = candidates(descent, matrix, y, times, passes.step)
    ended = passes.narrowed(own_weights(learner, passes.columns.header))
    if np.isfinite(ended).all():
        found.append(("the weights it ended with", ended))
    return [Judge(descent, *each) for each in found]
