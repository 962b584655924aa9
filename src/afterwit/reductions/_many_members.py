"""The members of a committee of many classes: how they read examples, what they say, how they learn.

A member is a learner of many labels of this package. All know the same classes, in the same order: those of the
committee. A round that any member refuses changes none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.many_labels import ManyLabelLearner
from afterwit.core.registry import classifier_class
from afterwit.data.classes import Classes, Codes
from afterwit.data.rows import Rows, read_many, read_one
from afterwit.errors import InputError, invalid
from afterwit.linear._row import is_harmless
from afterwit.linear._stops import MODERATE
from afterwit.reductions._binary import blank, shared_row, undone_if_refused
from afterwit.reductions._members import Reading
from afterwit.reductions.one_vs_rest import OneVsRest

LEARNERS = (
    "learners of many labels, or of two labels with scores for one against the rest, their classes or names, in a "
    "sequence or in a dict by name"
)


def read_member(learner: Any, labels: Any) -> ManyLabelLearner:
    """A fresh learner of many labels with the committee's; one of two labels becomes one against the rest."""
    given = learner
    if isinstance(learner, str):
        learner = classifier_class(learner, "learners")
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid("learners", f"{LEARNERS}; a class must need no arguments", given) from None
    if isinstance(learner, ManyLabelLearner):
        return type(learner)(**{**learner.parameters, "labels": labels})
    try:
        return OneVsRest(learner, labels=labels)
    except InputError:
        raise invalid("learners", LEARNERS, given) from None


class ManyMembers:
    """The members of a committee, by name."""

    def __init__(self, learners: Mapping[str, ManyLabelLearner]) -> None:
        self.names = tuple(learners)
        self.learners = list(learners.values())
        self._all_read_rows = all(learner._reads_rows for learner in self.learners)
        # Those that may still refuse what they have predicted learn first.
        safe = [learner._is_steady() for learner in self.learners]
        self._order = sorted(range(len(safe)), key=safe.__getitem__)
        self._risky = [learner for learner, is_safe in zip(self.learners, safe, strict=True) if not is_safe]

    # ------------------------------------------------------------------ examples

    def read(self, X: Any) -> Reading:
        """Many examples; those who read rows share them."""
        return X if isinstance(X, Reading) else self._reading(read_many, X)

    def read_one(self, x: Any) -> Reading:
        """One example that is not a dict."""
        return self._reading(read_one, x)

    def shared_row(self, x: Any) -> Any:
        """One example that every member may be handed as it is; None if it has to be read."""
        return shared_row(x, self._all_read_rows)

    def _reading(self, read_rows: Any, given: Any) -> Reading:
        rows: Rows | None = None
        parts = []
        for member in self.learners:
            if not member._reads_rows:
                # One against the rest, around a learner that reads in its own way.
                read = member._read if read_rows is read_many else member._read_one
                parts.append(read(given))
                continue
            if rows is None:
                rows = read_rows(given)
                rows.require_finite()
            parts.append(rows)
        return Reading(parts[0].count, parts[0].first, tuple(parts))

    # ------------------------------------------------------------------ what they say

    def said(self, reading: Reading, classes: Classes) -> Codes:
        """The class that every member would predict for every example, -1 if none is known. Nothing changes."""
        said = np.empty((reading.count, len(self.learners)), dtype=np.intp)
        for i, (member, part) in enumerate(zip(self.learners, reading.parts, strict=True)):
            said[:, i] = [_code(classes, label) for label in member.predict_many(part).tolist()]
        return said

    def said_to(self, x: Any, classes: Classes) -> list[int]:
        """The same for one shared row."""
        return [_code(classes, member.predict_one(x)) for member in self.learners]

    # ------------------------------------------------------------------ learning

    def learn(self, reading: Reading, codes: Codes, new: dict[Any, int], classes: Classes) -> Codes:
        """Let every member learn the examples in order; what they said before each.

        If a member refuses one of many, it is for the caller to put all of them back.
        """
        said = np.empty((reading.count, len(self.learners)), dtype=np.intp)
        to_copy: list[Any] = []
        if reading.count == 1:
            # What a member refuses it refuses here. A copy of all they know would cost more than a round.
            self.said(reading, classes)
            rows = next((part for part in reading.parts if isinstance(part, Rows)), None)
            harmless = False
            if rows is not None:
                harmless = not self._grow_by(max(len(rows.values) // 4, rows.width)) and rows.are_moderate(MODERATE)
                self._make_room_for(0 if rows.names is None else rows.width, rows.width)
            to_copy = self._to_copy(harmless)
        with undone_if_refused(to_copy):
            for i in self._order:
                said[:, i] = self.learners[i]._learn(reading.parts[i], codes, new)
        return said

    def learn_one(self, x: Any, y: Any, classes: Classes) -> list[int]:
        """The same for one shared row."""
        said = self.said_to(x, classes)
        by_name = isinstance(x, dict)
        harmless = is_harmless(x) if by_name else not self._grow_by(len(x))
        self._make_room_for(len(x), 0 if by_name else len(x))
        with undone_if_refused(self._to_copy(harmless)):
            for i in self._order:
                self.learners[i].learn_one(x, y)
        return said

    def _make_room_for(self, entries: int, width: int) -> None:
        for member in self.learners:
            member._make_room_for(entries, width)

    def _grow_by(self, width: int) -> bool:
        """Whether there is much to be made room for: a copy costs little then."""
        return width > max(int(getattr(member, "features", 0)) for member in self.learners)

    def _to_copy(self, harmless: bool) -> list[Any]:
        """The learners whose state is kept before a single round, because one of them might refuse it."""
        if not harmless:
            return list(self.learners)
        # A single learner at risk learns first, and refuses one round as a whole.
        return list(self._risky) if len(self._risky) > 1 else []

    # ------------------------------------------------------------------ what they know

    def mistakes(self) -> dict[str, int]:
        """Every member's own count."""
        return {name: learner.mistakes for name, learner in zip(self.names, self.learners, strict=True)}

    def copies(self) -> dict[str, Any]:
        """A copy of each."""
        return {name: learner.copy() for name, learner in zip(self.names, self.learners, strict=True)}

    def fresh(self) -> dict[str, Any]:
        """The same without what they have learned."""
        return {name: blank(learner) for name, learner in zip(self.names, self.learners, strict=True)}


def votes_of(said: Codes, shares: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    """The weight of every class in every round, added up member by member: so many rounds are exactly one and one."""
    votes = np.zeros((len(said), count))
    at = np.flatnonzero(said[:, 0] >= 0) if said.size else np.zeros(0, dtype=np.intp)
    for i in range(said.shape[1]):
        votes[at, said[at, i]] += np.broadcast_to(shares[..., i], len(said))[at]
    return votes


def _code(classes: Classes, label: Any) -> int:
    """The number of a predicted label; -1 as long as no class is known."""
    code = classes.code(label) if len(classes) else None
    return -1 if code is None else code
