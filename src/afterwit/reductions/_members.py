"""The members of a committee: how they are named, how they read examples, how they vote and learn.

A member is any learner of two labels. A round that any member refuses changes none of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.learner import BinaryLearner
from afterwit.core.registry import learner_class
from afterwit.data.labels import Labels
from afterwit.data.rows import Rows, read_many, read_one
from afterwit.data.values import same_value
from afterwit.errors import invalid, shorten
from afterwit.experts.repeat_last_label import RepeatLastLabel
from afterwit.linear._row import is_harmless
from afterwit.linear._stops import MODERATE
from afterwit.linear.adagrad import AdaGrad
from afterwit.linear.normalized_adagrad import NormalizedAdaGrad
from afterwit.linear.passive_aggressive import PassiveAggressive
from afterwit.linear.scale_free import ScaleFree
from afterwit.linear.sgd import SGD
from afterwit.reductions._binary import (
    blank,
    fresh,
    is_steady,
    learn_rows,
    make_ready,
    reads_rows,
    score_rows,
    shared_row,
    undone_if_refused,
)
from afterwit.reductions.calibrated import Calibrated
from afterwit.reductions.standardize import Standardize

LEARNERS = "learners of two labels, their classes or names, in a sequence or in a dict by name"

Floats = npt.NDArray[np.float64]


# ---------------------------------------------------------------------- reading the members


def default_pool() -> dict[str, Any]:
    """A few learners that differ as much as possible: at home in any units, on short and long texts, and under drift.

    `ScaleFree` and `NormalizedAdaGrad` do not depend on the units of the features; several rates and losses, because
    the best one differs from stream to stream, and steps that never pass the label, for long texts. `AdaGrad` is good
    where all features are 0 or 1. Behind running means and deviations, three learners do not depend on where the
    features have their zero either. One of these is `PassiveAggressive`, whose steps never become shorter: under strong
    drift what was learned long ago is in the way. `RepeatLastLabel` does not look at the examples: where labels come in
    runs it is hard to beat. Scores that are no probabilities are calibrated.
    """
    squared = NormalizedAdaGrad(loss="squared", invariant=True)
    hinge = NormalizedAdaGrad(rate=1.5, loss="hinge", invariant=True)
    return {
        "ScaleFree": ScaleFree(),
        "NormalizedAdaGrad": NormalizedAdaGrad(invariant=True),
        "NormalizedAdaGrad, rate 1.5": NormalizedAdaGrad(rate=1.5, invariant=True),
        "NormalizedAdaGrad, squared": Calibrated(squared, shift=False),
        "NormalizedAdaGrad, hinge": Calibrated(hinge, shift=False),
        "AdaGrad": AdaGrad(intercept=True),
        "standardized AdaGrad": Standardize(AdaGrad(intercept=True)),
        "standardized ScaleFree": Standardize(ScaleFree()),
        "standardized PassiveAggressive": Calibrated(Standardize(PassiveAggressive(intercept=True)), shift=False),
        "RepeatLastLabel": RepeatLastLabel(),
    }


def voting_pool() -> list[Any]:
    """Ten that were chosen for a vote. Models of a committee that votes were saved without the names of these."""
    return [
        ScaleFree(),
        ScaleFree(epsilon=0.1),
        NormalizedAdaGrad(),
        NormalizedAdaGrad(rate=1.5),
        NormalizedAdaGrad(loss="squared"),
        AdaGrad(),
        Standardize(AdaGrad()),
        Standardize(ScaleFree()),
        Standardize(SGD(rate=1.0)),
        RepeatLastLabel(),
    ]


def read_members(learners: Any, labels: Labels) -> dict[str, Any]:
    """Fresh learners by name, with the committee's labels."""
    return read_each(learners, lambda learner: _read_member(learner, labels), LEARNERS)


def read_each(learners: Any, read: Callable[[Any], Any], allowed: str) -> dict[str, Any]:
    """Learners by name, each as ``read`` makes it."""
    if isinstance(learners, Mapping):
        for name in learners:
            if not isinstance(name, str) or not name:
                raise invalid("the names of learners", "strings", name)
        members = {name: read(learner) for name, learner in learners.items()}
    elif isinstance(learners, Sequence) and not isinstance(learners, (str, bytes)):
        made = [read(learner) for learner in learners]
        members = dict(zip(different_names(called(learner) for learner in made), made, strict=True))
    else:
        raise invalid("learners", allowed, learners)
    if not members:
        raise invalid("learners", "at least one", learners)
    return members


def _read_member(learner: Any, labels: Labels) -> Any:
    if isinstance(learner, str):
        learner = learner_class(learner, "learners")
    if getattr(learner, "many_labels", False):
        raise invalid("learners", f"{LEARNERS}; for learners of many labels there is MulticlassCommittee", learner)
    return fresh("learners", learner, labels.pair, ("predict_one", "mistakes"), LEARNERS)


def called(learner: Any) -> str:
    """A learner's class, with the options that are not at their defaults."""
    declared = inspect.signature(type(learner)).parameters
    given = ", ".join(
        called(value) if hasattr(value, "restore") else f"{name}={shorten(value, 40)}"
        for name, value in learner.parameters.items()
        if name not in ("labels", "intercept")
        and (name not in declared or not same_value(declared[name].default, value))
    )
    return f"{type(learner).__name__}({given})" if given else type(learner).__name__


def different_names(names: Iterable[str]) -> list[str]:
    """The second of a name gets a number."""
    found: dict[str, None] = {}
    for name in names:
        number, own = 1, name
        while own in found:
            number += 1
            own = f"{name} #{number}"
        found[own] = None
    return list(found)


# ---------------------------------------------------------------------- reading examples, voting, learning


@dataclass(frozen=True)
class Reading:
    """Checked examples, in the form in which each member takes them."""

    count: int
    first: int
    parts: tuple[Any, ...]

    def part(self, begin: int, end: int) -> Reading:
        return Reading(end - begin, self.first + begin, tuple(each.part(begin, end) for each in self.parts))


class Members:
    """The members of a committee, by name, with its labels."""

    def __init__(self, learners: Mapping[str, Any], labels: Labels) -> None:
        self.names = tuple(learners)
        self.learners = list(learners.values())
        self.labels = labels
        self._lookup = labels.lookup
        # Those that may still refuse what they have predicted, a kernel or a learner of the user's, learn first.
        safe = [getattr(learner, "learns_what_it_predicts", False) for learner in self.learners]
        self._order = sorted(range(len(self.learners)), key=safe.__getitem__)
        self._all_read_rows = all(reads_rows(learner) for learner in self.learners)
        #: Which of them have probabilities, so that their score is the logarithm of the odds.
        speaks = [isinstance(each, BinaryLearner) and each.gives_probabilities for each in self.learners]
        self.speaking = np.array(speaks, dtype=np.int8)
        # Those that never diverge, as long as the values are not huge.
        self._steady = all(is_steady(learner) for learner in self.learners if hasattr(learner, "_is_steady"))
        self._risky = [learner for learner, is_safe in zip(self.learners, safe, strict=True) if not is_safe]

    def read(self, X: Any) -> Reading:
        """Many examples; those who read rows share them."""
        return X if isinstance(X, Reading) else self._reading(lambda: read_many(X), lambda member: member._read(X))

    def read_one(self, x: Any) -> Reading:
        """One example that is not a dict."""
        return self._reading(lambda: read_one(x), lambda member: member._read_one(x))

    def shared_row(self, x: Any) -> Any:
        """One example that every member may be handed as it is; None if it has to be read."""
        return shared_row(x, self._all_read_rows)

    def _reading(self, read_rows: Callable[[], Rows], by_itself: Callable[[Any], Any]) -> Reading:
        rows: Rows | None = None
        parts = []
        for member in self.learners:
            if not reads_rows(member):
                parts.append(by_itself(member))
                continue
            if rows is None:
                rows = read_rows()
                rows.require_finite()
            parts.append(rows)
        return Reading(parts[0].count, parts[0].first, tuple(parts))

    def scores(self, reading: Reading) -> Floats:
        """What every member says to every example: a score, or the sign of its prediction. Nothing changes."""
        said = np.empty((reading.count, len(self.learners)))
        for i, (member, part) in enumerate(zip(self.learners, reading.parts, strict=True)):
            said[:, i] = score_rows(member, part, self._asked(member))
        return said

    def scores_on(self, x: Any) -> Floats:
        """The same for one shared row."""
        said = [
            member.score_one(x) if speaks else self._lookup[member.predict_one(x)]
            for member, speaks in zip(self.learners, self.speaking.tolist(), strict=True)
        ]
        return np.array([said], dtype=np.float64)

    def learn(self, reading: Reading, signs: Any) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Let every member learn the examples in order; what they said before each, and where some member changed.

        If a member refuses one of many, it is for the caller to put all of them back.
        """
        said = np.empty((reading.count, len(self.learners)))
        changed = np.zeros(reading.count, dtype=bool)
        to_copy: list[Any] = []
        if reading.count == 1:
            # What a member refuses it refuses here. A copy of all they know would cost more than a round.
            self.scores(reading)
            rows = next((part for part in reading.parts if isinstance(part, Rows)), None)
            harmless = True
            if rows is not None:
                # If there is much to be made room for, a copy costs little.
                harmless = max(len(rows.values) // 4, rows.width) <= self._known and rows.are_moderate(MODERATE)
                self._make_ready(0 if rows.names is None else rows.width, rows.width)
            to_copy = self._to_copy(harmless)
        with undone_if_refused(to_copy):
            for i in self._order:
                member = self.learners[i]
                scores, updated = learn_rows(
                    member, reading.parts[i], signs, self._asked(member), self.labels.pair, reading.count > 1
                )
                said[:, i] = scores
                changed |= updated
        return said, changed

    def learn_on(self, x: Any, sign: int) -> tuple[Floats, bool]:
        """The same for one shared row: what each said, and whether some member changed."""
        said = self.scores_on(x)
        label = self.labels.pair[sign > 0]
        changed = False
        by_name = isinstance(x, dict)
        self._make_ready(len(x), 0 if by_name else len(x))
        harmless = len(x) // 4 <= self._known and (not by_name or is_harmless(x))
        with undone_if_refused(self._to_copy(harmless)):
            for i in self._order:
                before = self.learners[i].updates
                self.learners[i].learn_one(x, label)
                changed |= self.learners[i].updates != before
        return said, changed

    @property
    def _known(self) -> int:
        """The most features that a member knows of."""
        return max(getattr(learner, "features", 0) for learner in self.learners)

    def _make_ready(self, entries: int, width: int) -> None:
        """Let those who keep something for every feature make room, so that nobody fails after another has learned."""
        for learner in self.learners:
            make_ready(learner, entries, width)

    def _to_copy(self, harmless: bool) -> list[Any]:
        """The learners whose state is kept before a single round, because one of them might refuse it."""
        if not (harmless and self._steady):
            return self.learners
        # A single learner at risk learns first, and refuses one round as a whole.
        return self._risky if len(self._risky) > 1 else []

    def _asked(self, member: Any) -> Callable[[Any], int]:
        """A member's prediction for an example, as a sign."""
        return lambda x: self._lookup[member.predict_one(x)]

    def mistakes(self) -> dict[str, int]:
        """Every member's own count."""
        return {name: learner.mistakes for name, learner in zip(self.names, self.learners, strict=True)}

    def copies(self) -> dict[str, Any]:
        """A copy of each."""
        return {name: learner.copy() for name, learner in zip(self.names, self.learners, strict=True)}

    def fresh(self) -> dict[str, Any]:
        """The same without what they have learned."""
        return {name: blank(learner) for name, learner in zip(self.names, self.learners, strict=True)}
