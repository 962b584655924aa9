"""How late the labels of a run came: what a learner counts of it, and what a checker is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Basis, Certificate, certify
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
        return Assumption(statement, Basis.OBSERVED, False, "no bound of it is known with late labels")


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
    allowed = (
        "the number of rounds learned when each example was served, none above its own place in the order of arrival"
    )
    moments = np.asarray(served)
    if moments.ndim != 1 or (moments.dtype.kind not in "iu" and moments.size) or len(moments) != rounds:
        raise invalid("served", allowed, served)
    if (moments < 0).any() or (moments > np.arange(rounds)).any():
        raise invalid("served", allowed, served)
    return moments.astype(np.int64)


def came_late(served: Moments) -> bool:
    """Whether any label came after the next example was served."""
    return bool((served != np.arange(len(served))).any())


def delays_of(served: Moments, updated: npt.NDArray[Any]) -> Delays | None:
    """How late the labels came, of a run in which these rounds had an update; None if none came late."""
    rounds = np.arange(len(served))
    apart = rounds - served
    if not came_late(served):
        return None
    late = int(np.count_nonzero(apart))
    before = np.append(0, np.cumsum(updated != 0))
    between = (before[rounds] - before[served])[updated != 0]
    sums = (int(apart.sum()), int(apart.max()), int(between.sum()), int(between.max(initial=0)))
    return Delays(len(served), late, *sums)


def certified(learner: Any, rows: Any, y: Any, comparator: Any, served: Any) -> Certificate:
    """The certificate of rounds in the order of arrival; ``served`` is None where every label came in its round."""
    moments = None if served is None else read_served(served, rows.count)
    if moments is None or not came_late(moments):
        return certify(learner, rows, y, comparator)
    if learner.late == "arrival":
        return at_arrival(certify(learner, rows, y, comparator), moments)
    return certify(learner, rows, y, comparator, served=moments)


def require_served(learner: Any, y: Any, served: Any) -> None:
    """Refuse to certify a run with late labels without a word on when its examples were served."""
    if served is None and learner.delays is not None:
        allowed = "given, because labels came late: for each example the number of rounds learned when it was served"
        raise invalid("served", allowed, None)
    if served is not None and y is None:
        raise invalid("y", "given with X, in the order in which they were learned, where labels came late", None)


@dataclass(frozen=True)
class Arrivals:
    """The labels of a play in the order in which they came."""

    #: The place of each in the stream, among the examples with a label, and how many rounds its example was served
    #: after.
    order: list[int] = field(default_factory=list)
    served: list[int] = field(default_factory=list)

    def certificate(self, learner: Any, X: Any, y: Any, **given: Any) -> Certificate:
        """The certificate of examples and labels that are in this order."""
        if learner.late == "served":
            found: Certificate = learner.certificate(X, y, served=self.served, **given)
            return found
        return at_arrival(learner.certificate(X, y, **given), read_served(self.served, len(self.served)))


def at_arrival(certificate: Certificate, served: Moments) -> Certificate:
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
    words = f"{delays}; this is about the predictions when labels came, not about those that were served"
    return replace(certificate, assumptions=(*certificate.assumptions, note), others=others, late=words)
