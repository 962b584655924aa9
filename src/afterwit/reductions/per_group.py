"""One learner for each group, side by side: for each region, customer, series or horizon its own.

Setting: every round belongs to a group, whose name comes with it. Groups have nothing to do with each other.

Update: the learner of the group predicts and learns the round; all others stay as they are. A group that has not been
seen begins with a fresh learner, made like the one that was given.

    for (g, x, y) in rounds:  learner[g].learn_one(x, y)

Guarantee: each group's learner has its own theorem, about the rounds of its group. The sums over all groups are below
the sum of the bounds (`SumOverGroups`):

    sum over g of regret_g  <=  sum over g of bound_g

The comparator is the best one *of each group*, which is more than the best one of all rounds. The price is that every
group learns from its own rounds alone.

>>> import numpy as np
>>> from afterwit.experts.mlpol import MLpol
>>> from afterwit.reductions.per_group import PerGroup
>>> learner = PerGroup(MLpol(["low", "high"]))
>>> region = ["north", "south"] * 50
>>> load = np.where(np.array(region) == "north", 10.0, 20.0)
>>> rows = [{"low": 10.0, "high": 20.0}] * 100
>>> forecasts = learner.learn_many(region, rows, load)
>>> forecasts[-2:].tolist()
[10.0, 20.0]
>>> learner
PerGroup(learner=MLpol): 2 groups, 100 rounds
>>> learner["south"].best_expert
'high'
>>> certificates = learner.certificate(region, rows, load)
>>> print(certificates["north"].verdict, certificates.total.verdict)
holds holds

Reference: none is needed. Each theorem is that of the learner, and a sum of inequalities is an inequality.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import require_theorems
from afterwit.core.declared import Option
from afterwit.core.learner import BinaryLearner, Storable
from afterwit.core.packed import packed_in, table_of, unpack
from afterwit.core.turns import Lock
from afterwit.data.labels import labels_of
from afterwit.data.rows import Rows
from afterwit.data.values import are_different
from afterwit.errors import DivergenceError, InputError, Words, counted, invalid, shorten
from afterwit.reductions._binary import blank, undone_if_refused
from afterwit.reductions._group_certificates import GroupCertificates
from afterwit.reductions._group_learners import AWAKE, GroupLearners
from afterwit.reductions._group_rows import (
    Index,
    Part,
    examples,
    group_name,
    in_order,
    outcomes,
    places_of,
    require_as_many,
    rounds_of,
)

#: What a learner raises where it has not changed.
REFUSALS = (InputError, DivergenceError)
#: What a learner must have to be one of a group.
NEEDED = (
    "learn_one",
    "predict_one",
    "learn_many",
    "predict_many",
    "rounds",
    "parameters",
    "state",
    "restore",
    "copy",
)


def _template(parameter: str, learner: Any) -> Any:
    """A learner of the same kind that has learned nothing; a class is as good as an instance."""
    allowed = "a learner, with learn_one, predict_one and the same for many, or a class of such learners"
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid(parameter, f"{allowed}; a class must need no arguments", learner) from None
    if isinstance(learner, PerGroup) or not all(hasattr(learner, part) for part in NEEDED):
        raise invalid(parameter, allowed, learner)
    return blank(learner)


class PerGroup(Storable):
    """A learner for each group; each learns only the rounds of its group.

    learner  the learner that every group begins with: an expert algorithm, a classifier or a regressor. It is not
             changed, and what it has learned is not used

    The name of a group is a string, a number, a tuple of these, or whatever else can be a key. ``learner[group]`` is a
    copy of the group's learner, ``group in learner`` tells whether it has learned any round, ``len(learner)`` is the
    number of groups. Labels that were not given are decided by the first that come, for all groups alike.
    """

    options = (Option("learner", check=_template),)
    #: It takes the blocks of a stream whose rows have groups.
    learns_blocks = True
    by_group = True
    #: Those of its learners, as what follows; the class has no role, and so is no learner by itself.
    role: str

    def _begin(self) -> None:
        self._learners = GroupLearners()
        base = self._base
        self.role = str(getattr(base, "role", ""))
        self.many_labels = bool(getattr(base, "many_labels", False))
        self.theorems = getattr(base, "theorems", ())
        self.no_theorem_because = str(getattr(base, "no_theorem_because", ""))
        self._lock = Lock()

    @property
    def _base(self) -> Any:
        """A fresh learner, as each group begins with."""
        return self._options["learner"]

    # ------------------------------------------------------------------ one round

    def predict_one(self, group: Any, x: Any) -> Any:
        """What the learner of that group predicts for x now; a fresh one if the group is new. Nothing changes."""
        name = group_name("group", group)
        with self._lock, _naming(name):
            return self._learner(name).predict_one(x)

    def learn_one(self, group: Any, x: Any, y: Any) -> Any:
        """Let the learner of that group predict x, then learn y. Returns the prediction."""
        name = group_name("group", group)
        with self._lock, _naming(name):
            base = self._base if self._learners else _decided(self._base, [y])
            learner = self._learners.learner(name, base) if name in self._learners else blank(base)
            prediction = learner.learn_one(x, y)
            self._take(base, {name: learner})
            return prediction

    def predict_proba_one(self, group: Any, x: Any) -> Any:  # type: ignore[override]
        """The probability of every label by the learner of that group. Nothing changes."""
        name = group_name("group", group)
        with self._lock, _naming(name):
            return self._learner(name).predict_proba_one(x)

    def score_one(self, group: Any, x: Any) -> Any:
        """The score behind the prediction of that group's learner. Nothing changes."""
        name = group_name("group", group)
        with self._lock, _naming(name):
            return self._learner(name).score_one(x)

    # ------------------------------------------------------------------ many rounds

    def predict_many(self, groups: Any, X: Any = None) -> npt.NDArray[Any]:
        """``predict_one`` for every row of X, as an array in the order of the rows."""
        groups, X = _whose(groups, X)
        return self._look(groups, X, lambda learner, rows: learner.predict_many(rows))

    def _look(self, groups: Any, X: Any, look: Callable[[Any, Any], Any]) -> npt.NDArray[Any]:
        """What the learner of each group makes of its rows; nothing changes."""
        places, rows = _read(groups, X)
        made = []
        with self._lock:
            for (name, index), part in zip(places.items(), rows.each(places.values()), strict=True):
                learner = self._learners.glance(name, self._base)
                try:
                    made.append(look(learner, part))
                except REFUSALS as error:
                    raise _placed(error, name, index, learner.predict_one, rows) from None
        return in_order(made, list(places.values()))

    def predict_proba_many(self, groups: Any, X: Any = None) -> npt.NDArray[Any]:  # type: ignore[override]
        """``predict_proba_many`` of each group's learner, for learners of two labels that have probabilities."""
        self._require_two_labels()
        groups, X = _whose(groups, X)
        return self._look(groups, X, lambda learner, rows: learner.predict_proba_many(rows)).reshape(-1, 2)

    def score_many(self, groups: Any, X: Any = None) -> npt.NDArray[Any]:
        """``score_many`` of each group's learner, for learners of two labels."""
        self._require_two_labels()
        groups, X = _whose(groups, X)
        return self._look(groups, X, lambda learner, rows: learner.score_many(rows))

    def _require_two_labels(self) -> None:
        if not isinstance(self._base, BinaryLearner):
            kind = type(self._base).__name__
            raise InputError(f"{kind} has no scores that all groups share; those of two labels have")

    def learn_many(self, groups: Any, X: Any, y: Any = None) -> npt.NDArray[Any]:
        """``learn_one`` for every row in order. Returns the predictions made before each outcome was seen.

        If a round is refused, no group has learned anything of this block. The rows of a stream that say whose they are
        come alone with y: ``learn_many(rows, y)``.
        """
        if y is None:
            (groups, X), y = _whose(groups, None), X
        return self._learn(groups, X, y, lambda learner, rows, seen: learner.learn_many(rows, seen))

    def _learn(self, groups: Any, X: Any, y: Any, learn: Callable[[Any, Any, Any], Any]) -> npt.NDArray[Any]:
        places, rows = _read(groups, X)
        seen = outcomes(y)
        require_as_many("y", seen.count, rows.count)
        with self._lock:
            base = self._base if self._learners or not rows.count else _decided(self._base, y)
            # Many are handled one after the other, in copies, and sleep again at once.
            many = len(places) > AWAKE
            here = {name: None for name in places if name in self._learners}
            known = {} if many else {name: self._learners.learner(name, base) for name in here}
            learners: dict[Any, Any] = {}
            made = []
            try:
                with undone_if_refused(list(known.values())):
                    parts = zip(rows.each(places.values()), seen.each(places.values()), strict=True)
                    for name, part in zip(places, parts, strict=True):
                        if name in known:
                            learner = known[name]
                        else:
                            learner = self._learners.copy_of(name, base) if name in here else blank(base)
                        made.append(learn(learner, *part))
                        learners[name] = self._learners.asleep(learner) if many else learner
            except REFUSALS as error:
                # Which row it was, a copy of the learner tells that learns them one by one.
                learner = self._learners.copy_of(name, base) if name in here else blank(base)
                raise _placed(error, name, places[name], learner.learn_one, rows, seen) from None
            self._take(base, learners)
        return in_order(made, list(places.values()))

    # ------------------------------------------------------------------ intervals, where the learner makes them

    def interval_one(self, group: Any, x: Any) -> tuple[float, float]:
        """The interval of that group for x now, of a learner such as `ConformalIntervals`. Nothing changes."""
        self._require_intervals()
        name = group_name("group", group)
        with self._lock, _naming(name):
            low, high = self._learner(name).interval_one(x)
            return low, high

    def interval_many(self, groups: Any, X: Any) -> npt.NDArray[Any]:
        """``interval_one`` for every row of X, each as if it came next: the lower and the upper ends."""
        self._require_intervals()
        return self._look(groups, X, lambda learner, rows: learner.interval_many(rows)).reshape(-1, 2)

    def learn_intervals(self, groups: Any, X: Any, y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """``learn_many`` that returns the intervals as well, all made before the outcomes were seen."""
        self._require_intervals()
        made = self._learn(groups, X, y, _with_intervals).reshape(-1, 3)
        return np.ascontiguousarray(made[:, 0]), np.ascontiguousarray(made[:, 1:])

    def _require_intervals(self) -> None:
        if not hasattr(self._base, "learn_intervals"):
            kind = type(self._base).__name__
            raise InputError(f"{kind} has no intervals; PerGroup(ConformalIntervals({kind}(...))) has")

    def _take(self, base: Any, learners: dict[Any, Any]) -> None:
        self._options = {**self._options, "learner": base}
        self._learners.take(learners)

    def _learner(self, name: Any) -> Any:
        """The learner of a group, a fresh one if it is new; for whoever changes nothing."""
        return self._learners.learner(name, self._base) if name in self._learners else self._base

    # ------------------------------------------------------------------ what it knows

    @property
    def groups(self) -> tuple[Any, ...]:
        """The names of the groups, in the order of first appearance."""
        return tuple(self._learners)

    def __len__(self) -> int:
        return len(self._learners)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __contains__(self, group: object) -> bool:
        try:
            return group in self._learners
        except TypeError:
            return False

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, group: Any) -> Any:
        """A copy of the learner of that group."""
        if group not in self:
            known = shorten(Words(", ".join(map(repr, self.groups)) or "none so far"), 300)
            raise invalid("group", f"one that has learned a round: {known}", group)
        return self._learners.copy_of(group, self._base)

    @property
    def rounds(self) -> int:
        """How many rounds all groups have learned together."""
        return self._learners.counts("rounds")

    @property
    def mistakes(self) -> int:
        """How many of them were predicted wrongly, where the learners count mistakes."""
        # It has none where the learners count none.
        none: int = self._base.mistakes
        return none + self._learners.counts("mistakes")

    # ------------------------------------------------------------------ what a stream is played by

    @property
    def labels(self) -> Any:
        """Those of its learners: the same in all groups."""
        return self._base.labels

    @property
    def classes(self) -> tuple[Any, ...]:
        """Of many labels, those that some group knows."""
        glance = self._learners.glance
        return tuple(dict.fromkeys(label for name in self._learners for label in glance(name, self._base).classes))

    @property
    def gives_probabilities(self) -> bool:
        """Whether all groups have probabilities of the same labels."""
        return isinstance(self._base, BinaryLearner) and self._base.gives_probabilities

    @property
    def _undecided(self) -> bool:
        return bool(getattr(self._base, "_undecided", False)) and not self._learners

    def _take_labels(self, labels: Any) -> None:
        """All groups go on with these labels, if they were made without."""
        self._take(type(self._base)(**{**self._base.parameters, "labels": labels.pair}), {})

    def certificate(self, groups: Any = None, X: Any = None, y: Any = None) -> GroupCertificates:
        """The certificate of every group, and their sum as ``.total``.

        groups, X, y  the rounds it learned from, in order; or a stream whose rows say whose they are. Without them each
                      learner says what it says without its rounds: expert algorithms have a certificate then, too
        """
        if X is None and y is None and hasattr(groups, "reader"):
            groups, X, y = rounds_of(groups)
        if not self._learners:
            raise InputError("PerGroup has no certificate: it has not learned any round")
        if isinstance(self._base, Storable):
            require_theorems(self._base)
        with self._lock:
            if groups is None and X is None and y is None:
                glance = self._learners.glance
                certificates = {name: _certified(name, glance(name, self._base)) for name in self._learners}
            else:
                places, rows = _read(groups, X)
                seen = outcomes(y)
                require_as_many("y", seen.count, rows.count)
                for name in (*places, *self.groups):
                    if name not in self or name not in places:
                        found = f"{name!r} as well" if name in places else f"no round of {name!r}"
                        raise invalid("groups", "those of the rounds it has learned", Words(found))
                parts = zip(rows.each(places.values()), seen.each(places.values()), strict=True)
                certificates = {
                    name: _certified(name, self._learners.glance(name, self._base), *part)
                    for name, part in zip(places, parts, strict=True)
                }
        return GroupCertificates(f"PerGroup({type(self._base).__name__})", certificates)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _progress(self) -> str:
        return f"{counted(len(self), 'group')}, {counted(self.rounds, 'round')}"

    def state(self) -> dict[str, Any]:
        """The names of the groups and what their learners know: a few arrays, however many groups there are.

        Where learners keep something else than numbers and names, it has their states in a list.
        """
        with self._lock:
            packed = self._learners.packed()
            if packed is not None:
                return {"groups": list(self._learners), **table_of(packed)}
            glance = self._learners.glance
            return {
                "groups": list(self._learners),
                "learners": [glance(name, self._base).state() for name in self._learners],
            }

    def _check_state(self, state: Any) -> None:
        groups = state["groups"]
        if not are_different(groups):
            raise invalid("groups", "a list of different names", groups)
        for i, group in enumerate(groups):
            if type(group) is not str:
                group_name(f"groups[{i}]", group)
        learners = state["form"] if "forms" in state else state["learners"]
        if len(learners) != len(groups):
            raise invalid("learners", f"one state for each of {counted(len(groups), 'group')}", learners)

    def restore(self, state: Any) -> None:
        self._require_state(state)
        groups = state["groups"]
        states = (
            (unpack(*each) for each in packed_in(state, len(groups))) if "forms" in state else iter(state["learners"])
        )
        learners = GroupLearners()
        many = len(groups) > AWAKE
        learner = blank(self._base)
        for name, each in zip(groups, states, strict=True):
            learner.restore(each)
            learners.take({name: learners.asleep(learner) if many else learner})
            # One that sleeps has left its place to the next.
            learner = learner if many and learners.sleeps(name) else blank(self._base)
        with self._lock:
            self._learners = learners

    def __repr__(self) -> str:
        return f"PerGroup(learner={type(self._base).__name__}): {self._progress()}"


def _whose(groups: Any, X: Any) -> tuple[Any, Any]:
    """Whose rows these are: they may say it themselves."""
    if X is not None:
        return groups, X
    if not isinstance(groups, Rows) or groups.groups is None:
        raise invalid("X", "given with groups, unless it is rows of a stream that was read with group=COLUMN", X)
    return groups.groups, groups


def _read(groups: Any, X: Any) -> tuple[dict[Any, Index], Part]:
    rows = examples(X)
    count, places = places_of(groups)
    require_as_many("groups", count, rows.count)
    return places, rows


def _with_intervals(learner: Any, rows: Any, seen: Any) -> Any:
    forecasts, intervals = learner.learn_intervals(rows, seen)
    return np.column_stack([forecasts, intervals])


def _decided(learner: Any, y: Any) -> Any:
    """The same fresh learner with the labels that these say, if it was made without."""
    if isinstance(learner, BinaryLearner) and learner.parameters["labels"] is None:
        return type(learner)(**{**learner.parameters, "labels": labels_of(y).pair})
    return learner


def _certified(group: Any, learner: Any, *rounds: Any) -> Any:
    with _naming(group):
        if not hasattr(learner, "certificate"):
            raise InputError(f"{type(learner).__name__} has no certificate")
        given = inspect.signature(learner.certificate).parameters.values()
        if not rounds and any(each.default is each.empty for each in given):
            raise InputError(f"the certificate of {type(learner).__name__} needs its rounds: certificate(groups, X, y)")
        return learner.certificate(*rounds)


def _placed(error: Exception, group: Any, index: Index, do: Any, *parts: Part) -> Exception:
    """The message about many rows of a group as one about the first row that is refused."""
    for i in index.tolist():
        try:
            do(*(part.one(i) for part in parts))
        except REFUSALS as refused:
            return _named(refused, group, i)
    # No row alone is refused: it is about all of them.
    return _named(error, group)


def _named(error: Exception, group: Any, row: int | None = None) -> Exception:
    """The same with the group, and the row of the caller's table, that it is about."""
    where = f"group {shorten(group)}" + ("" if row is None else f", row {row}")
    return type(error)(f"{where}: {error}")


@contextmanager
def _naming(group: Any) -> Iterator[None]:
    try:
        yield
    except REFUSALS as error:
        raise _named(error, group) from None
