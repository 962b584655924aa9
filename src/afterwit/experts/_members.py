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

from afterwit._learner import BinaryLearner
from afterwit.errors import InputError, Words, invalid, shorten
from afterwit.experts.repeat_last_label import RepeatLastLabel
from afterwit.linear._engine import LinearLearner
from afterwit.linear._rows import Rows, read_many, read_one

LEARNERS = "learners of two labels, their classes or names, in a sequence or in a dict by name"
NEEDED = ("predict_one", "learn_one", "mistakes", "updates", "parameters", "state", "restore", "copy")

#: Who refuses nothing that it has predicted.
SAFE = (LinearLearner, RepeatLastLabel)

Votes = npt.NDArray[np.int8]


# ---------------------------------------------------------------------- who they are


def default_pool() -> list[Any]:
    """Few, and as different as they can be; chosen by reason, tuned on nothing.

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


def read_members(learners: Any, labels: Any) -> dict[str, Any]:
    """Fresh members by name, with the committee's labels."""
    if isinstance(learners, Mapping):
        for name in learners:
            if not isinstance(name, str) or not name:
                raise invalid("the names of learners", "strings", name)
        members = {name: _fresh(learner, labels) for name, learner in learners.items()}
    elif isinstance(learners, Sequence) and not isinstance(learners, (str, bytes)):
        made = [_fresh(learner, labels) for learner in learners]
        members = dict(zip(_different(_called(learner) for learner in made), made, strict=True))
    else:
        raise invalid("learners", LEARNERS, learners)
    if not members:
        raise invalid("learners", "at least one", learners)
    return members


def _fresh(learner: Any, labels: Any) -> Any:
    """A learner of the same kind that has learned nothing."""
    from afterwit._catalogue import learner_class

    if isinstance(learner, str):
        learner = learner_class(learner, "learners")
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid("learners", f"{LEARNERS}; a class, one that needs no arguments", learner) from None
    if not all(hasattr(learner, part) for part in NEEDED) or getattr(learner, "_multiclass", False):
        raise invalid("learners", LEARNERS, learner)
    return type(learner)(**{**learner.parameters, "labels": labels})


def _called(learner: Any) -> str:
    """A learner's class, with the options that are not as they would be by themselves."""
    declared = inspect.signature(type(learner)).parameters
    given = ", ".join(
        f"{name}={shorten(value, 40)}"
        for name, value in learner.parameters.items()
        if name not in ("labels", "intercept") and (name not in declared or declared[name].default != value)
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


# ---------------------------------------------------------------------- what they read


@dataclass(frozen=True)
class Reading:
    """Checked examples, in the form in which each member takes them."""

    count: int
    first: int
    parts: tuple[Any, ...]


def read(members: Sequence[Any], X: Any) -> Reading:
    """Many examples; those who read rows share them."""
    if isinstance(X, Reading):
        return X
    return _reading(members, X, read_many, lambda member: member._read(X))


def read_single(members: Sequence[Any], x: Any) -> Reading:
    """One example that is not a dict."""
    return _reading(members, x, read_one, lambda member: member._read_one(x))


def _reading(members: Sequence[Any], X: Any, read_rows: Callable[[Any], Rows], by_itself: Callable[[Any], Any]) -> Any:
    rows: Rows | None = None
    parts = []
    for member in members:
        if isinstance(member, BinaryLearner) and type(member)._read is not BinaryLearner._read:
            parts.append(by_itself(member))
            continue
        if rows is None:
            rows = read_rows(X)
            rows.require_finite()
        parts.append(rows)
    counts = {part.count for part in parts}
    if len(counts) > 1:
        raise invalid("X", "read by all members as equally many examples", Words(f"{sorted(counts)} examples"))
    return Reading(parts[0].count, parts[0].first, tuple(parts))


# ---------------------------------------------------------------------- how they vote and learn


def votes(members: Sequence[Any], reading: Reading, signs_of: Callable[[Any], int]) -> Votes:
    """What every member would say to every example, -1 or +1. Nothing changes."""
    found = np.empty((reading.count, len(members)), dtype=np.int8)
    for i, (member, part) in enumerate(zip(members, reading.parts, strict=True)):
        if isinstance(member, BinaryLearner):
            found[:, i] = np.where(member.score_many(part) >= 0, 1, -1)
        else:
            found[:, i] = [signs_of(member.predict_one(part.row(t))) for t in range(part.count)]
    return found


def learn(
    members: Sequence[Any], reading: Reading, signs: Any, labels: Any, signs_of: Callable[[Any], int]
) -> tuple[Votes, npt.NDArray[np.bool_]]:
    """Let every member learn the examples in order; what they said before each, and where some member changed."""
    found = np.empty((reading.count, len(members)), dtype=np.int8)
    changed = np.zeros(reading.count, dtype=bool)
    single = reading.count == 1
    if single:
        # What a member refuses it refuses here. A copy of all they know would cost more than a round.
        votes(members, reading, signs_of)
    order = _riskiest_first(members)
    with _undone_if_refused(_to_copy(members, single)):
        for i in order:
            member, part = members[i], reading.parts[i]
            updated = np.zeros(reading.count, dtype=np.int8)
            if isinstance(member, BinaryLearner):
                found[:, i] = np.where(member._learn(part, signs, updated) >= 0, 1, -1)
            else:
                for t, sign in enumerate(signs.tolist()):
                    x, before = part.row(t), member.updates
                    found[t, i] = signs_of(member.predict_one(x))
                    member.learn_one(x, labels[sign > 0])
                    updated[t] = member.updates != before
            changed |= updated.astype(bool)
    return found, changed


def learn_features(members: Sequence[Any], x: dict[Any, Any], label: Any) -> tuple[list[Any], bool]:
    """The same for one example by names: what each said, and whether some member changed."""
    predictions = [member.predict_one(x) for member in members]
    changed = False
    with _undone_if_refused(_to_copy(members, True)):
        for i in _riskiest_first(members):
            before = members[i].updates
            members[i].learn_one(x, label)
            changed |= members[i].updates != before
    return predictions, changed


def _riskiest_first(members: Sequence[Any]) -> list[int]:
    """Those who may still fail after they have predicted: a kernel, or a learner of the user's."""
    return sorted(range(len(members)), key=lambda i: isinstance(members[i], SAFE))


def _to_copy(members: Sequence[Any], single: bool) -> list[Any]:
    """Whose state is kept to be put back: everyone's, before many rounds; before one, of those who might fail."""
    if not single:
        return list(members)
    risky = [member for member in members if not isinstance(member, SAFE)]
    # The first to learn has nobody before it, and one round it refuses as a whole.
    return risky if len(risky) > 1 else []


@contextmanager
def _undone_if_refused(members: Sequence[Any]) -> Iterator[None]:
    """These members go back to what they were if anything is raised."""
    before = [(member, member.state()) for member in members]
    try:
        yield
    except BaseException:
        for member, state in before:
            member.restore(state)
        raise
