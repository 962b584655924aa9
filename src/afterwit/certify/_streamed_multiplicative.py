"""The evidence of multiplicative learners from a stream that is read again, k + 4 times for k passes of learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.certify._streamed_linear import Checks, Measure, StreamedEvidence, streamed_evidence
from afterwit.certify.multiplicative import MultiplicativeEvidence, Rule, candidates, features_of, given_weights
from afterwit.certify.replay import moderate
from afterwit.certify.streamed import Passes, PlayedBlock
from afterwit.hindsight.comparator import largest_entry


@dataclass(frozen=True, kw_only=True)
class StreamedMultiplicativeEvidence(StreamedEvidence, MultiplicativeEvidence):
    """A run of a multiplicative learner, recomputed block by block."""


def gather(learner: Any, stream: Any, comparator: Any = None) -> StreamedEvidence:
    """What is known of the rounds of a stream, which a multiplicative learner learned."""
    passes = Passes(learner, stream)
    given = given_weights(learner, passes.columns.header, comparator)
    features = features_of(learner)
    rule = Rule(passes.width, learner.rate, learner._signed)

    def follow(block: PlayedBlock) -> None:
        rule.follow(block.matrix, block.y, np.flatnonzero(block.updated), block.first)

    def sought(times: int) -> list[tuple[str, Any]]:
        if given is not None:
            return [("the given one", passes.narrowed(given))]
        if not moderate(passes.largest).met or passes.largest == 0:
            return []
        matrix, signs = passes.sample()
        return candidates(matrix, signs, learner.rate, features, learner._signed, times, passes.step)

    return streamed_evidence(
        learner,
        passes,
        Measure(lambda vector: float(np.abs(vector).sum()), largest_entry, sought, tries_own=given is None),
        Checks(
            follow,
            lambda: (rule.followed,),
            lambda: {"the average of its weights": rule.total},
            lambda radius: (moderate(radius),),
        ),
        StreamedMultiplicativeEvidence,
        features=features,
        rate=learner.rate,
    )
