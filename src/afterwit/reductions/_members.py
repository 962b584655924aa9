"""The members of a committee: how they are named, how they read examples, how they vote and learn.

A member is any learner of two labels. A round or block that any member refuses changes none of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from afterwit.linear.adagrad import AdaGrad
from afterwit.linear.averaged_perceptron import AveragedPerceptron
from afterwit.linear.balanced_winnow import BalancedWinnow
from afterwit.linear.perceptron import Perceptron
from afterwit.reductions._binary import blank, fresh, learn_rows, score_rows

LEARNERS = "learners of two labels, their classes or names, in a sequence or in a dict by name"

Votes = npt.NDArray[np.int8]


# ---------------------------------------------------------------------- reading the members


def default_pool() -> list[Any]:
    """A few learners that differ as much as possible. Except for two rates, every option has its default.

    AdaGrad at its default rate, at a tenth and at ten times of it, because the best rate differs most from stream to
    stream. The perceptron has no rate and follows a drift at once; its average stays where it is when nothing drifts.
    Balanced Winnow multiplies where the others add, so many irrelevant features cost it little. `RepeatLastLabel` does
    not look at the examples: where labels come in runs it is hard to beat.
    """
    return [
        AdaGrad(rate=0.015, intercept=True),
        AdaGrad(intercept=True),
        AdaGrad(rate=1.5, intercept=True),
        Perceptron(intercept=True),
        AveragedPerceptron(intercept=True),
        BalancedWinnow(intercept=True),
        RepeatLastLabel(),
    ]


def read_members(learners: Any, labels: Labels) -> dict[str, Any]:
    """Fresh learners by name, with the committee's labels."""
    if isinstance(learners, Mapping):
        for name in learners:
            if not isinstance(name, str) or not name:
                raise invalid("the names of learners", "strings", name)
        members = {name: _read_member(learner, labels) for name, learner in learners.items()}
    elif isinstance(learners, Sequence) and not isinstance(learners, (str, bytes)):
        made = [_read_member(learner, labels) for learner in learners]
        members = dict(zip(_different(_called(learner) for learner in made), made, strict=True))
    else:
        raise invalid("learners", LEARNERS, learners)
    if not members:
        raise invalid("learners", "at least one", learners)
    return members


def _read_member(learner: Any, labels: Labels) -> Any:
    if isinstance(learner, str):
        learner = learner_class(learner, "learners")
    return fresh("learners", learner, labels.pair, ("predict_one", "mistakes"), LEARNERS)


def _called(learner: Any) -> str:
    """A learner's class, with the options that are not at their defaults."""
    declared = inspect.signature(type(learner)).parameters
    given = ", ".join(
        f"{name}={shorten(value, 40)}"
        for name, value in learner.parameters.items()
        if name not in ("labels", "intercept")
        and (name not in declared or not same_value(declared[name].default, value))
    )
    return f"{type(learner).__name__}({given})" if given else type(learner).__name__


def _different(names: Iterable[str]) -> list[str]:
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


class Members:
    """The members of a committee, by name, with its labels."""

    def __init__(self, learners: Mapping[str, Any], labels: Labels) -> None:
        self.names = tuple(learners)
        self.learners = list(learners.values())
        self.labels = labels
        # Those that may still refuse what they have predicted, a kernel or a learner of the user's, learn first.
        safe = [getattr(learner, "learns_what_it_predicts", False) for learner in self.learners]
        self._order = sorted(range(len(self.learners)), key=safe.__getitem__)
        self._risky = [learner for learner, is_safe in zip(self.learners, safe, strict=True) if not is_safe]

    def read(self, X: Any) -> Reading:
        """Many examples; those who read rows share them."""
        return X if isinstance(X, Reading) else self._reading(lambda: read_many(X), lambda member: member._read(X))

    def read_one(self, x: Any) -> Reading:
        """One example that is not a dict."""
        return self._reading(lambda: read_one(x), lambda member: member._read_one(x))

    def _reading(self, read_rows: Callable[[], Rows], by_itself: Callable[[Any], Any]) -> Reading:
        rows: Rows | None = None
        parts = []
        for member in self.learners:
            if isinstance(member, BinaryLearner) and type(member)._read is not BinaryLearner._read:
                parts.append(by_itself(member))
                continue
            if rows is None:
                rows = read_rows()
                rows.require_finite()
            parts.append(rows)
        return Reading(parts[0].count, parts[0].first, tuple(parts))

    def votes(self, reading: Reading) -> Votes:
        """What every member would predict for every example, -1 or +1. Nothing changes."""
        said = np.empty((reading.count, len(self.learners)), dtype=np.int8)
        for i, (member, part) in enumerate(zip(self.learners, reading.parts, strict=True)):
            said[:, i] = _signs(score_rows(member, part, self._asked(member)))
        return said

    def votes_on(self, x: dict[Any, Any]) -> list[int]:
        """The same for one example by names."""
        return [self._asked(member)(x) for member in self.learners]

    def learn(self, reading: Reading, signs: Any) -> tuple[Votes, npt.NDArray[np.bool_]]:
        """Let every member learn the examples in order; what they said before each, and where some member changed."""
        said = np.empty((reading.count, len(self.learners)), dtype=np.int8)
        changed = np.zeros(reading.count, dtype=bool)
        if reading.count == 1:
            # What a member refuses it refuses here. A copy of all they know would cost more than a round.
            self.votes(reading)
        with _undone_if_refused(self._to_copy(reading.count)):
            for i in self._order:
                member = self.learners[i]
                scores, updated = learn_rows(member, reading.parts[i], signs, self._asked(member), self.labels.pair)
                said[:, i] = _signs(scores)
                changed |= updated
        return said, changed

    def learn_on(self, x: dict[Any, Any], sign: int) -> tuple[list[int], bool]:
        """The same for one example by names: what each said, and whether some member changed."""
        said = self.votes_on(x)
        label = self.labels.pair[sign > 0]
        changed = False
        with _undone_if_refused(self._to_copy(1)):
            for i in self._order:
                before = self.learners[i].updates
                self.learners[i].learn_one(x, label)
                changed |= self.learners[i].updates != before
        return said, changed

    def _to_copy(self, rounds: int) -> list[Any]:
        """The learners whose state is kept: all before many rounds; before one, those that might refuse it."""
        if rounds != 1:
            return self.learners
        # A single learner at risk learns first, and refuses one round as a whole.
        return self._risky if len(self._risky) > 1 else []

    def _asked(self, member: Any) -> Callable[[Any], int]:
        """A member's prediction for an example, as a sign."""
        return lambda x: self.labels.lookup[member.predict_one(x)]

    def mistakes(self) -> dict[str, int]:
        """Every member's own count."""
        return {name: learner.mistakes for name, learner in zip(self.names, self.learners, strict=True)}

    def copies(self) -> dict[str, Any]:
        """A copy of each."""
        return {name: learner.copy() for name, learner in zip(self.names, self.learners, strict=True)}

    def fresh(self) -> dict[str, Any]:
        """The same without what they have learned."""
        return {name: blank(learner) for name, learner in zip(self.names, self.learners, strict=True)}


def _signs(scores: Any) -> Votes:
    return np.where(scores >= 0, 1, -1).astype(np.int8)


@contextmanager
def _undone_if_refused(learners: Sequence[Any]) -> Iterator[None]:
    """Put these back into their state if anything is raised."""
    before = [(learner, learner.state()) for learner in learners]
    try:
        yield
    except BaseException:
        for learner, state in before:
            learner.restore(state)
        raise
