"""What happened when a learner played: totals, the learning curve, and what is needed to look back."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy.typing as npt

from afterwit.core import html
from afterwit.core.aligned import in_columns
from afterwit.core.certificate import require_theorems
from afterwit.core.delays import Arrivals
from afterwit.core.envelope import Envelope
from afterwit.core.moments import MOST_VALUES, as_taken, moments
from afterwit.core.pictured import Pictured
from afterwit.core.sources import READ_ONCE, certify_source
from afterwit.errors import InputError, counted, invalid

#: The columns of a printed learning curve, and their widths.
HEADS = ("rounds", "mistakes", "error so far", "since last row", "features")
WIDTHS = (12, 12, 13, 15, 10)
HEADER = in_columns(HEADS, WIDTHS)


@dataclass(frozen=True)
class Point:
    """The running totals at one moment; ``recent_error`` counts from the point before."""

    rounds: int
    mistakes: int
    error: float
    recent_error: float
    features: int | None

    def cells(self) -> tuple[str, ...]:
        """What is under HEADS."""
        features = "" if self.features is None else f"{self.features:,}"
        return f"{self.rounds:,}", f"{self.mistakes:,}", f"{self.error:.2%}", f"{self.recent_error:.2%}", features

    def __str__(self) -> str:
        """A row under HEADER."""
        return in_columns(self.cells(), WIDTHS)


@dataclass
class Record(Pictured):
    """What happened: totals, the learning curve (a point at every power of two and at the end), predictions."""

    learner: str
    rounds: int = 0
    mistakes: int = 0
    curve: list[Point] = field(default_factory=list)
    predictions: npt.NDArray[Any] | None = None
    #: How often the stream was played: after the first pass no example is new.
    passes: int = 1
    #: How many labels the learner asked for, if it asks.
    asked: int | None = None
    #: How many examples had no label: they were predicted, and are no rounds.
    unlabelled: int = 0
    #: The error so far after every round, as pictures show it.
    trace: Envelope = field(default_factory=Envelope, repr=False)

    #: What was played, as long as the record stays in this process; not part of what happened.
    _played: ClassVar[Played | None] = None

    def certificate(self, comparator: Any = None) -> Any:
        """The theorems of the learner applied to the rounds that were played. Reads the stream again, a few times if
        it is larger than memory.

        ``comparator`` is what to compare with, for learners whose certificate takes one. The certificate is about all
        that the learner has learned: it applies if these rounds, in all their passes, are the only ones.
        """
        if self._played is None:
            raise InputError("this record has no certificate: only `play` makes one that has, and it is not saved")
        return self._played.certificate(comparator)

    def moments(self) -> list[Any]:
        """The certificates after 1, 2, 4, 8, ... rounds and at the end: what was promised over time.

        The rounds are played again. Of data beyond a million values, the moments are those within the first million.
        There are none where no certificate applies to rounds played again in one pass: after an earlier run, several
        passes or late labels.
        """
        return [] if self._played is None or self.passes > 1 else self._played.moments()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_played"}

    @property
    def error(self) -> float:
        """Mistakes per round so far (progressive error)."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON. ``asked`` is there if the learner asks for labels."""
        return {
            "learner": self.learner,
            "rounds": self.rounds,
            "mistakes": self.mistakes,
            "error": self.error,
            "passes": self.passes,
            **({} if self.asked is None else {"asked": self.asked}),
            **({"unlabelled": self.unlabelled} if self.unlabelled else {}),
            "curve": [vars(point) for point in self.curve],
            "predictions": None if self.predictions is None else self.predictions.tolist(),
        }

    def __str__(self) -> str:
        return "\n".join([HEADER, *map(str, self.curve), *self.last_lines()])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        happened = f"{counted(self.mistakes, 'mistake')}, error {self.error:.2%}"
        heads = ("rounds", "mistakes", "error so far", "since last row")
        rows = (
            (f"{each.rounds:,}", f"{each.mistakes:,}", f"{each.error:.2%}", f"{each.recent_error:.2%}")
            for each in self.curve
        )
        title = f"{self.learner}, {counted(self.rounds, 'round')}"
        sections = [("happened", [happened, *self.last_lines()])]
        return html.block(title, sections, html.grid("over time", heads, rows))

    def last_lines(self) -> list[str]:
        """What comes after the curve: the labels asked for, if the learner asks, and the examples without one."""
        lines = []
        if self.unlabelled:
            lines.append(f"without a label: {counted(self.unlabelled, 'example')}, predicted and not learned")
        if self.asked is None:
            return lines
        share = f" ({self.asked / self.rounds:.2%})" if self.rounds else ""
        return [*lines, f"labels asked for: {self.asked:,} of {self.rounds:,}{share}"]


@dataclass(frozen=True)
class Played:
    """What a record was made from: enough to look back."""

    learner: Any
    stream: Any
    #: The order in which labels came, where some may have come late.
    arrivals: Arrivals | None = None
    #: The learner as it was before the first round; None if it had learned before, or is none of this package.
    before: Any = None
    #: The moments, once they have been looked at.
    _seen: dict[str, list[Any]] = field(default_factory=dict, compare=False, repr=False)

    def certificate(self, comparator: Any) -> Any:
        name = type(self.learner).__name__
        require_theorems(self.learner)
        if self.arrivals is not None and not hasattr(self.learner, "late"):
            raise InputError("there is no certificate for delayed labels: the theorems need each label in its round")
        stream = self.as_played
        if is_read_once(stream):
            raise InputError(READ_ONCE)
        if comparator is not None and "comparator" not in inspect.signature(self.learner.certificate).parameters:
            raise invalid("comparator", f"left out, because the theorems of {name} take none", comparator)
        given = {} if comparator is None else {"comparator": comparator}
        if self.arrivals is not None:
            return self.arrivals.certificate(self.learner, *self._all_pairs(), **given)
        if hasattr(stream, "reader"):
            return certify_source(self.learner, stream, comparator)
        return self.learner.certificate(*self._all_pairs(), **given)

    @property
    def as_played(self) -> Any:
        """The stream, to be read again; of one that looks at its learner, the rounds that there were."""
        return self.stream.as_played() if hasattr(self.stream, "as_played") else self.stream

    @property
    def can_be_replayed(self) -> bool:
        """Whether the rounds can be played again as they were."""
        return self.before is not None and self.arrivals is None and not is_read_once(self.as_played)

    def moments(self, end: Any = None, most_values: int = MOST_VALUES) -> list[Any]:
        """The certificates over time; once they are found, the same whenever they are asked for again.

        end          the certificate at the end, if it is known: it is not made once more, and is there however many
                     values come before it
        most_values  up to how many values the rounds are played again
        """
        if "moments" not in self._seen:
            found = moments(self.before, self.as_played, most_values, end) if self.can_be_replayed else []
            self._seen["moments"] = found
        return list(self._seen["moments"])

    def _all_pairs(self) -> tuple[Any, list[Any]]:
        """All examples and their labels, as they were learned, in the form that the learner's certificate takes."""
        pairs = [pair for pair in self.as_played if pair[1] is not None]
        if self.arrivals is not None:
            pairs = [pairs[place] for place in self.arrivals.order]
        return as_taken(self.learner, [x for x, _ in pairs]), [label for _, label in pairs]


def is_read_once(stream: Any) -> bool:
    """Whether there is one iterator only: a generator, an open file, an object that hands out the same one again."""
    return isinstance(stream, Iterator) or (not hasattr(stream, "reader") and iter(stream) is iter(stream))
