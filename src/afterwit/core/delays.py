"""How late the labels of a run came: what a learner counts of it, and what a checker is told of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Basis
from afterwit.errors import counted, invalid

Moments = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Delays:
    """How late the labels of a run came: how many other rounds, and updates, were learned in between."""

    #: All rounds, those whose label came late, and the sum and the largest of what was learned in between.
    rounds: int
    late: int
    total: int
    largest: int
    #: The same over the rounds with an update, where only updates in between count.
    between_updates: int
    most_between_updates: int

    def __str__(self) -> str:
        mean = self.total / self.late
        return (
            f"late labels: {self.late:,} of {counted(self.rounds, 'round')}, "
            f"largest delay {self.largest:,}, mean {mean:.3g}"
        )

    @property
    def assumption(self) -> Assumption:
        """What a certificate says of them."""
        return Assumption(
            "every round is judged by the prediction that was served, and its label was learned when it came",
            Basis.OBSERVED,
            True,
            str(self),
        )


    @property
    def in_its_round(self) -> Assumption:
        """What fails for a theorem that does not say what late labels change."""
        statement = "every label came before the next example was served"
        return Assumption(statement, Basis.OBSERVED, False, "no bound is known for it with late labels")


#: What a learner keeps of late labels, in the order in which it counts.
COUNTS = ("late", "total", "largest", "between_updates", "most_between_updates")


def counts_in(state: Any) -> list[int]:
    """The counts of late labels in a state; all 0 where no label came late."""
    counts = state.get("late_labels")
    if counts is None:
        return [0] * len(COUNTS)
    allowed = "counts of labels that came late, none above what so many rounds can have"
    if not isinstance(counts, dict) or set(counts) != set(COUNTS):
        raise invalid("late_labels", allowed, counts)
    found = [counts[name] for name in COUNTS]
    if any(type(each) is not int or not 0 <= each < 2**62 for each in found):
        raise invalid("late_labels", allowed, counts)
    late, total, largest, between, most = found
    rounds = state["rounds"]
    if not (1 <= late <= rounds and largest < rounds and late + largest - 1 <= total <= late * largest):
        raise invalid("late_labels", allowed, counts)
    if not (most <= between <= total and most <= largest):
        raise invalid("late_labels", allowed, counts)
    return found


def read_served(served: Any, rounds: int) -> Moments:
    """Of each round, in the order of arrival, how many rounds had been learned when it was served."""
    allowed = "the number of rounds learned when each example was served, none above its own place in the order of arrival"
    moments = np.asarray(served)
    if moments.ndim != 1 or (moments.dtype.kind not in "iu" and moments.size) or len(moments) != rounds:
        raise invalid("served", allowed, served)
    if (moments < 0).any() or (moments > np.arange(rounds)).any():
        raise invalid("served", allowed, served)
    return moments.astype(np.int64)


def delays_of(served: Moments, updated: npt.NDArray[Any]) -> Delays | None:
    """How late the labels came, of a run in which these rounds had an update; None if none came late."""
    rounds = np.arange(len(served))
    apart = rounds - served
    late = int(np.count_nonzero(apart))
    if not late:
        return None
    before = np.append(0, np.cumsum(updated != 0))
    between = (before[rounds] - before[served])[updated != 0]
    sums = (int(apart.sum()), int(apart.max()), int(between.sum()), int(between.max(initial=0)))
    return Delays(len(served), late, *sums)


def at_arrival(certificate: Any, served: Moments) -> Any:
    """A certificate of a learner that learns as it would when the label arrives, which says so."""
    delays = delays_of(served, np.ones(len(served)))
    if delays is None:
        return certificate
    note = Assumption(
        "it speaks of the predictions at the moment of learning, not of those that were served",
        Basis.ENFORCED,
        True,
        str(delays),
    )
    others = tuple(at_arrival(other, served) for other in certificate.others)
    return replace(certificate, assumptions=(*certificate.assumptions, note), others=others, late=str(delays))
