"""The members of a committee: who they are, how they read examples, how they vote and learn.

A member is any learner of two labels. Those of this package (`BinaryLearner`) learn a whole block at once, each with
its own compiled loop; others are asked row by row. A round or block that any member refuses changes none of them.
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
from afterwit.data.labels import Labels
from afterwit.data.rows import Rows, read_many, read_one
from afterwit.data.values import same_value
from afterwit.errors import InputError, invalid, shorten
from afterwit.experts.repeat_last_label import RepeatLastLabel
from afterwit.linear._engine import LinearLearner

LEARNERS = "learners of two labels, their classes or names, in a sequence or in a dict by name"
NEEDED = ("predict_one", "learn_one", "mistakes", "updates", "parameters", "state", "restore", "copy")

#: Those who refuse nothing that they have predicted.
SAFE = (LinearLearner, RepeatLastLabel)

Votes = npt.NDArray[np.int8]


# ---------------------------------------------------------------------- who they are


def default_pool() -> list[Any]:
    """Few, and as different as they can be; but for two rates, every option is the learner's own default.

    AdaGrad at its own rate, a tenth and ten times of it: how fast to learn is what differs most from stream to stream.
    The perceptron has no rate at all and follows a drift at once; its average stands still where nothing drifts.
    Balanced Winnow multiplies where the others add: many features that do not matter cost it little. And one that does
    not look at the examples: where labels come in runs, repeating the last one is hard to beat.
    """
    from afterwit.linear.adagrad import AdaGrad
    from afterwit.linear.averaged_perceptron import AveragedPerceptron
    from afterwit.linear.balanced_winnow import BalancedWinnow
    from afterwit.linear.perceptron import Perceptron

    return [
        AdaGrad(rate=0.015, intercept=True),
        AdaGrad(intercept=True),
        AdaGrad(rate=1.5, intercept=True),
        Perceptron(intercept=True),
        AveragedPerceptron(intercept=True),
        BalancedWinnow(intercept=True),
        RepeatLastLabel(),
    ]


def read_members(learners: Any, labels: Labels) -> Members:
    """Fresh members by name, with the committee's labels."""
    if isinstance(learners, Mapping):
        for name in learners:
            if not isinstance(name, str) or not name:
                raise invalid("the names of learners", "strings", name)
        members = {name: _fresh(learner, labels.pair) for name, learner in learners.items()}
    elif isinstance(learners, Sequence) and not isinstance(learners, (str, bytes)):
        made = [_fresh(learner, labels.pair) for learner in learners]
        members = dict(zip(_different(_called(learner) for learner in made), made, strict=True))
    else:
        raise invalid("learners", LEARNERS, learners)
    if not members:
        raise invalid("learners", "at least one", learners)
    return Members(members, labels)


def _fresh(learner: Any, labels: Any) -> Any:
    """A learner of the same kind that has learned nothing."""
    from afterwit.core.registry import learner_class

    if isinstance(learner, str):
        learner = learner_class(learner, "learners")
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid("learners", f"{LEARNERS}; a class, one that needs no arguments", learner) from None
    if not all(_has(learner, part) for part in NEEDED) or getattr(learner, "many_labels", False):
        raise invalid("learners", LEARNERS, learner)
    return type(learner)(**{**learner.parameters, "labels": labels})


def _has(learner: Any, part: str) -> bool:
    """Whether the learner has that part: an expert algorithm has a place for mistakes, and counts none."""
    try:
        return hasattr(learner, part)
    except NotImplementedError:
        return False


def _called(learner: Any) -> str:
    """A learner's class, with the options that are not as they would be by themselves."""
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


# ---------------------------------------------------------------------- what they read, say and learn


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
        # Those who may still fail after they have predicted, a kernel or a learner of the user's, learn first.
        self._order = sorted(range(len(self.learners)), key=lambda i: isinstance(self.learners[i], SAFE))
        self._risky = [learner for learner in self.learners if not isinstance(learner, SAFE)]

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
        """What every member would say to every example, -1 or +1. Nothing changes."""
        said = np.empty((reading.count, len(self.learners)), dtype=np.int8)
        for i, (member, part) in enumerate(zip(self.learners, reading.parts, strict=True)):
            if isinstance(member, BinaryLearner):
                said[:, i] = np.where(member.score_many(part) >= 0, 1, -1)
            else:
                said[:, i] = [self._sign(member.predict_one(part.row(t))) for t in range(part.count)]
        return said

    def votes_on(self, x: dict[Any, Any]) -> list[int]:
        """The same for one example by names."""
        return [self._sign(member.predict_one(x)) for member in self.learners]

    def learn(self, reading: Reading, signs: Any) -> tuple[Votes, npt.NDArray[np.bool_]]:
        """Let every member learn the examples in order; what they said before each, and where some member changed."""
        said = np.empty((reading.count, len(self.learners)), dtype=np.int8)
        changed = np.zeros(reading.count, dtype=bool)
        if reading.count == 1:
            # What a member refuses it refuses here. A copy of all they know would cost more than a round.
            self.votes(reading)
        with _undone_if_refused(self._to_copy(reading.count)):
            for i in self._order:
                updated = np.zeros(reading.count, dtype=np.int8)
                said[:, i] = self._learn_block(self.learners[i], reading.parts[i], signs, updated)
                changed |= updated.astype(bool)
        return said, changed

    def _learn_block(self, member: Any, part: Any, signs: Any, updated: Any) -> Any:
        if isinstance(member, BinaryLearner):
            return np.where(member._learn(part, signs, updated) >= 0, 1, -1)
        said = []
        for t, sign in enumerate(signs.tolist()):
            x, before = part.row(t), member.updates
            said.append(self._sign(member.predict_one(x)))
            member.learn_one(x, self.labels.pair[sign > 0])
            updated[t] = member.updates != before
        return said

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
        """Whose state is kept to be put back: everyone's, before many rounds; before one, of those who might fail."""
        if rounds != 1:
            return self.learners
        # The first to learn has nobody before it, and one round it refuses as a whole.
        return self._risky if len(self._risky) > 1 else []

    def _sign(self, prediction: Any) -> int:
        return self.labels.lookup[prediction]

    def mistakes(self) -> dict[str, int]:
        """Everyone's own count."""
        return {name: learner.mistakes for name, learner in zip(self.names, self.learners, strict=True)}

    def copies(self) -> dict[str, Any]:
        """An independent twin of each."""
        return {name: learner.copy() for name, learner in zip(self.names, self.learners, strict=True)}

    def fresh(self) -> dict[str, Any]:
        """The same without what they have learned."""
        return {name: blank(learner) for name, learner in zip(self.names, self.learners, strict=True)}


def blank(learner: Any) -> Any:
    """A fresh one, made with the same."""
    return type(learner)(**learner.parameters)


@contextmanager
def _undone_if_refused(learners: Sequence[Any]) -> Iterator[None]:
    """These go back to what they were if anything is raised."""
    before = [(learner, learner.state()) for learner in learners]
    try:
        yield
    except BaseException:
        for learner, state in before:
            learner.restore(state)
        raise
