"""The evidence of perceptrons from a stream that is read again, k + 4 times for k passes of learning.

The passes: what there is, and a sample; the comparators, judged on all rows; the scales at which the bounds are
smallest; the run, played again and multiplied out (k times); and what the learner ended with. Comparators are what
solvers find in the sample, and the learner's own last weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._streamed_linear import Checks, Measure, StreamedEvidence, streamed_evidence
from afterwit.certify.perceptron import Rule, comparators_for, starts_at_zero
from afterwit.certify.replay import comparator_for, on_part, own_weights
from afterwit.certify.streamed import Passes, PlayedBlock
from afterwit.hindsight.comparator import row_norms, unit_for

Floats = npt.NDArray[np.float64]


def gather(learner: Any, stream: Any, comparator: Any = None) -> StreamedEvidence:
    """What is known of the rounds of a stream, which a perceptron learned."""
    passes = Passes(learner, stream)
    passes.unit = unit_for(passes.largest)
    margin = float(learner.parameters.get("margin", 0.0))
    rule = Rule(passes.width, margin / 2 / passes.unit, passes.unit)
    rate = float(learner.parameters.get("rate", 1.0))
    moments = np.zeros(passes.width)

    def follow(block: PlayedBlock) -> None:
        nonlocal moments
        at = np.flatnonzero(block.updated)
        rule.follow(block.matrix, block.y, at, block.first)
        if len(at):
            rounds = block.passes_before * passes.count + block.first + at + 1
            moments += block.matrix[at].T @ (block.y[at] * rounds)

    def own() -> dict[str, Floats]:
        """What its updates add up to, and the average of that over the rounds."""
        added = rate * rule.weights
        if learner.parameters.get("start") is not None:
            added = passes.narrowed(own_weights(learner, passes.columns.header))
        average = added - rate * moments / max(1, learner.rounds)
        return {"its last weights": added, "the average of its weights": average}

    checks = Checks(follow, lambda: (starts_at_zero(learner), rule.followed), own)
    return streamed_evidence(learner, passes, euclidean(learner, passes, comparator), checks, margin=margin)


def euclidean(learner: Any, passes: Passes, comparator: Any) -> Measure:
    """Examples and comparators by their Euclidean lengths, in the unit of the passes."""
    given = comparator_for(learner, passes.columns.header, comparator)

    def sought(times: int) -> list[tuple[str, Floats]]:
        matrix, signs = passes.sample()
        vector = None if given is None else passes.unit * passes.narrowed(given)
        found = comparators_for(matrix, signs, times * passes.step, passes.unit, vector)
        part = "" if given is not None else on_part(passes.step)
        return [(each.source + part, each.vector) for each in found]

    return Measure(
        lambda vector: float(np.linalg.norm(vector)),
        lambda matrix: float(row_norms(matrix).max(initial=0.0)),
        sought,
        tries_own=given is None,
    )
