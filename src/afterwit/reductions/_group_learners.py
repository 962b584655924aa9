"""The learners of many groups: those that are used are learners, all others are asleep, as a few numbers each.

A learner takes some ten thousand bytes, most of which are what it computes in. What it knows of a group with a few
rounds are a few hundred. So of a million groups most are asleep: a state that is packed, from which the learner is made
again, to the bit, when its group comes. As long as there are no more than `AWAKE` groups, none is ever asleep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from afterwit.core.packed import CannotPackError, Form, Forms, pack, unpack
from afterwit.reductions._binary import blank

#: So many learners are awake.
AWAKE = 1024


class Asleep:
    """A learner that is asleep: its form, its numbers, and what it has counted."""

    __slots__ = ("form", "mistakes", "numbers", "rounds")

    def __init__(self, form: Form, numbers: bytes, rounds: int, mistakes: int) -> None:
        self.form = form
        self.numbers = numbers
        self.rounds = rounds
        self.mistakes = mistakes

    def state(self) -> Any:
        """What the learner knows."""
        return unpack(self.form, self.numbers)


class GroupLearners:
    """Learners by the names of their groups, in the order in which these came."""

    def __init__(self) -> None:
        self._all: dict[Any, Any] = {}
        #: Those that are awake, the one that was not used for the longest time first.
        self._awake: dict[Any, None] = {}
        self._forms = Forms()

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all)

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def learner(self, name: Any, base: Any) -> Any:
        """The learner of a group, awake from now on; ``base`` is a fresh one."""
        learner = self._all[name]
        if isinstance(learner, Asleep):
            learner = self._all[name] = woken(learner, base)
        self._awake.pop(name, None)
        self._awake[name] = None
        self._let_sleep()
        return learner

    def copy_of(self, name: Any, base: Any) -> Any:
        """An independent learner in the state of that group's; nobody wakes up."""
        learner = self._all[name]
        return woken(learner, base) if isinstance(learner, Asleep) else learner.copy()

    def glance(self, name: Any, base: Any) -> Any:
        """The learner of a group for whoever changes nothing, a fresh one if it is new; nobody stays awake."""
        learner = self._all.get(name, base)
        return woken(learner, base) if isinstance(learner, Asleep) else learner

    def sleeps(self, name: Any) -> bool:
        """Whether the learner of a group is asleep."""
        return isinstance(self._all[name], Asleep)

    def counts(self, name: str) -> int:
        """All rounds, or mistakes."""
        return sum(getattr(each, name) for each in self._all.values())

    def take(self, learners: Mapping[Any, Any]) -> None:
        """These take the place of those with their names."""
        for name, learner in learners.items():
            self._all[name] = learner
            self._awake.pop(name, None)
            if not isinstance(learner, Asleep):
                self._awake[name] = None
        self._let_sleep()

    def _let_sleep(self) -> None:
        for name in list(self._awake)[: max(0, len(self._awake) - AWAKE)]:
            del self._awake[name]
            self._all[name] = self.asleep(self._all[name])

    def asleep(self, learner: Any) -> Any:
        """The same asleep; itself if its state is none of numbers and names."""
        try:
            form, numbers = pack(learner.state())
        except CannotPackError:
            return learner
        # The same form for all that have it.
        form = self._forms.all[self._forms.number(form)]
        return Asleep(form, numbers, learner.rounds, _mistakes(learner))

    def packed(self) -> list[tuple[Form, bytes]] | None:
        """All states, packed; None if one of them cannot be."""
        found = []
        for learner in self._all.values():
            each = learner if isinstance(learner, Asleep) else self.asleep(learner)
            if not isinstance(each, Asleep):
                return None
            found.append((each.form, each.numbers))
        return found


def woken(asleep: Asleep, base: Any) -> Any:
    """The learner that was asleep."""
    learner = blank(base)
    learner.restore(asleep.state())
    return learner


def _mistakes(learner: Any) -> int:
    """None are counted by those who have none, such as expert algorithms."""
    try:
        return int(getattr(learner, "mistakes", 0))
    except NotImplementedError:
        return 0
