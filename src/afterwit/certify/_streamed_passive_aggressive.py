"""The passive-aggressive learner on a stream that is read again: k + 4 times for k passes of learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from afterwit.certify._streamed_linear import Checks, StreamedEvidence, streamed_evidence
from afterwit.certify._streamed_perceptron import euclidean
from afterwit.certify.passive_aggressive import PassiveAggressiveEvidence, Rule
from afterwit.certify.streamed import Passes, PlayedBlock
from afterwit.hindsight.comparator import unit_for


@dataclass(frozen=True, kw_only=True)
class StreamedPassiveAggressiveEvidence(StreamedEvidence, PassiveAggressiveEvidence):
    """A run of the passive-aggressive learner, recomputed block by block."""


def gather(learner: Any, stream: Any, comparator: Any = None) -> StreamedEvidence:
    """What is known of the rounds of a stream, which a passive-aggressive learner learned."""
    passes = Passes(learner, stream)
    passes.unit = unit_for(passes.largest)
    step = float(learner.parameters["C"])
    rule = Rule(passes.width, step, passes.unit)

    def follow(block: PlayedBlock) -> None:
        rule.follow(block.matrix, block.y, block.scores, block.first)

    checks = Checks(follow, lambda: (rule.followed,))
    kind = StreamedPassiveAggressiveEvidence
    return streamed_evidence(learner, passes, euclidean(learner, passes, comparator), checks, kind, step=step)
