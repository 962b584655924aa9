"""A committee on a stream that is read again: k + 1 times for k passes of learning. It is played again by blocks."""

from __future__ import annotations

from typing import Any

from afterwit.certify.committee import CommitteeEvidence, evidence_of_counts, played_again
from afterwit.core.sources import labelled


def gather(committee: Any, stream: Any) -> CommitteeEvidence:
    """What the theorems are applied to: the members' own counts, which fresh members have on these rounds."""
    count = sum(rows.count for rows, _ in labelled(stream))
    return evidence_of_counts(committee, played_again(committee, count, lambda: labelled(stream)))
