"""A committee of regressors on a stream that is read again, k + 1 times for k passes of learning.

It is played again, block by block. Hindsight is the best member: the best mixture needs what all said in every round.
"""

from __future__ import annotations

from typing import Any

from afterwit.certify.regression_committee import MixtureEvidence, evidence_of_totals, played_again
from afterwit.core.sources import labelled


def gather(committee: Any, stream: Any) -> MixtureEvidence:
    """What the theorem is applied to: the members' own totals, which fresh members have on these rounds."""

    def play(fresh: Any) -> None:
        for rows, targets in labelled(stream):
            fresh.learn_many(rows, targets)

    count = sum(rows.count for rows, _ in labelled(stream))
    return evidence_of_totals(committee, played_again(committee, count, play)[0])
