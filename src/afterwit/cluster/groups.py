"""A learner for each group on a cluster: rows are dealt out by the names of their groups, and learned in their order.

Every shard is read once, by some worker, and its rows are dealt into hands by a hash of their groups that is the same
everywhere. A hand has all rows of its groups; one task learns them, shard after shard. Groups have nothing to do with
each other, so the learners, the record and the certificates are those of one process, to the bit, however many workers,
shards and hands there are. What does not fit into the memory of the workers Dask puts on disk.

>>> import numpy as np
>>> from afterwit.cluster import Here
>>> X, y = np.vstack([np.eye(2)] * 4), np.tile([1, -1], 4)
>>> run = groups("perceptron", X, y=y, group=["north", "south"] * 4, client=Here(), certificates=True)
>>> run.record.mistakes, run.learner["south"].weights.tolist(), str(run.certificates.total.verdict)
(1, [0.0, -1.0], 'holds')
"""

from __future__ import annotations

import copy
import itertools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.cluster import shards as planning
from afterwit.cluster.shards import Plan
from afterwit.cluster.work import PATIENCE, work_on
from afterwit.core.packed import joined_tables
from afterwit.core.protocol import Tally, tally_of
from afterwit.core.sources import joined
from afterwit.data import checks
from afterwit.data.labels import Labels
from afterwit.data.rows import Rows, read_many
from afterwit.errors import InputError, Words, counted, invalid, shorten
from afterwit.races.entries import learner_named
from afterwit.reductions._group_certificates import GroupCertificates
from afterwit.reductions._group_rows import group_name
from afterwit.reductions.per_group import PerGroup
from afterwit.streams.arrays import ArrayStream
from afterwit.streams.model import Model
from afterwit.streams.read import read
from afterwit.streams.stream import BLOCK, Stream

#: About so many bytes of a file, or stored values of rows in memory, are a shard.
BYTES, VALUES = 1 << 25, 1 << 22
#: There are no more hands than this, however many shards there are.
MOST_HANDS = 128


@dataclass(eq=False, repr=False)
class GroupRun:
    """What came of a run with a learner for each group.

    record        as `play` returns it
    learner       the `PerGroup`
    model         the schema with it; it alone where rows had no schema
    certificates  the certificate of each group, and their sum as ``.total``; None if they were not asked for
    """

    record: Any
    learner: PerGroup
    model: Any
    certificates: GroupCertificates | None = None

    def __str__(self) -> str:
        lines = [str(self.record)]
        return "\n\n".join(lines if self.certificates is None else [*lines, str(self.certificates)])

    def __repr__(self) -> str:
        return f"<run: {self.learner!r}>"


def groups(
    learner: Any,
    source: Any,
    target: str | None = None,
    *,
    group: Any = None,
    y: Any = None,
    shards: int | None = None,
    certificates: bool = False,
    client: Any = None,
    workers: int | None = None,
    patience: float = PATIENCE,
    on_progress: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> GroupRun:
    """Learn a source with a learner for each group, on the workers of a cluster.

    learner       the learner that every group begins with, its class or its name; a `PerGroup`, or a `Model` with one,
                  which is used, not copied, and may have learned before
    source        what `read` returned, or takes; a dask.dataframe or a dask.bag of records; or rows X with labels y:
                  numpy or scipy.sparse
    target        the column to predict, of a table
    group         the column with the names of the groups; of rows X, the name for each row
    shards        in how many parts the rows are read; the result does not depend on it. Default: as many as tasks can
                  run at a time, or more, such that a shard is about 32 MB
    certificates  whether to make the certificate of each group, and their sum
    client        Dask's; if not given the current one, and else a local cluster of processes that is closed at the end.
                  `Here()` is this process
    workers       how many processes a local cluster has
    patience      after so many seconds without anything happening, stop with an error
    on_progress   is called with the number of tasks that have finished, and of all
    reading       options of `read`

    The learners, the record and the certificates equal those of one process to the bit. If a row cannot be read or a
    round is refused, nothing has been learned.
    """
    patience = checks.positive_number("patience", patience)
    inside = _per_group(learner)
    given = learner if isinstance(learner, Model) else inside
    with work_on(client, workers, patience) as work:
        plan, stream = _plan(given, source, target, group, y, shards, reading, work)
        if inside._undecided and plan.labels is not None:
            inside._take_labels(Labels(plan.labels))
        if inside._undecided:
            raise invalid("labels", "given to the learner, because the data leave them open", Words("none"))
        tally = tally_of(inside, stream)
        dealt = _Run(inside, plan, work, certificates, on_progress)
        made = dealt.play(tally)
        inside.restore(made)
    model = given
    if not isinstance(given, Model) and plan.stream is not None:
        model = Model(plan.stream.schema, inside)
    found = None
    if certificates:
        found = GroupCertificates(f"PerGroup({type(inside.parameters['learner']).__name__})", dealt.certificates)
    return GroupRun(tally.finish(), inside, model, found)


def _per_group(learner: Any) -> PerGroup:
    """The learners of the groups that are used, or fresh ones."""
    inside = learner.learner if isinstance(learner, Model) else learner
    if isinstance(inside, PerGroup):
        return inside
    if isinstance(learner, Model):
        raise invalid("learner", "a learner, PerGroup, or a Model with PerGroup", learner)
    return PerGroup(learner_named(inside))


def _plan(
    given: Any, source: Any, target: str | None, group: Any, y: Any, count: int | None, reading: Any, work: Any
) -> tuple[Plan, Any]:
    """The shards, and the stream that they are parts of."""
    if y is not None or planning.is_rows(source):
        return _plan_of_rows(given, source, target, group, y, count, reading, work)
    has_schema = isinstance(given, Model) or isinstance(source, Stream)
    if has_schema and group is not None:
        what = "the stream" if isinstance(source, Stream) else "the model"
        raise invalid("group", f"left out, because {what} has its column", group)
    if not has_schema:
        if group is None:
            raise invalid("group", "the column with the names of the groups", None)
        reading = {**reading, "group": group}
    if count is None and not planning.dask_kind(source):
        if not isinstance(source, Stream):
            how = planning.known(given)
            source = read(source, given.schema.target if "schema" in how else target, **{**how, **reading})
            reading, target = {}, None
        count = max(work.workers, -(-(source.size or 1) // BYTES))
    plan = planning.plan(source, None, target=target, shards=count, learner=given, work=work, **reading)
    if plan.stream is None or plan.stream.schema.group is None:
        raise InputError(f"{plan.name}: rows that say whose they are were expected; read it with group=COLUMN")
    return plan, plan.stream


def _plan_of_rows(
    given: Any, X: Any, target: str | None, group: Any, y: Any, count: int | None, reading: Any, work: Any
) -> tuple[Plan, Any]:
    """The same for rows in memory."""
    for name in reading:
        raise invalid(name, "left out for rows in memory", reading[name])
    if group is None or isinstance(group, (str, bytes)) or planning.dask_kind(X):
        raise invalid("group", "the name of the group of each row of X; tables have a column for it", group)
    rows = read_many(X)
    names = np.empty(rows.count, dtype=object)
    listed = list(group.tolist() if isinstance(group, np.ndarray) else group)
    if len(listed) != rows.count:
        raise invalid("group", f"as long as X ({counted(rows.count, 'row')})", Words(f"{len(listed):,}"))
    for i, name in enumerate(listed):
        names[i] = group_name(f"group[{i}]", name)
    rows = replace(rows, groups=names)
    count = count or max(work.workers, -(-len(rows.values) // VALUES))
    plan = planning.plan(rows, y, target=target, shards=count, learner=given, work=work)
    return plan, ArrayStream(rows, y)


# ---------------------------------------------------------------------- what tasks do


def hand_of(name: Any, hands: int) -> int:
    """In whose hand a group is: the same in every process."""
    return _number(name) % hands


def _number(name: Any) -> int:
    if isinstance(name, str):
        return zlib.crc32(name.encode("utf-8", "surrogatepass"))
    if isinstance(name, (int, float)):
        # Numbers that are equal are the same name, whatever their types.
        return hash(name)
    if isinstance(name, bytes):
        return zlib.crc32(name)
    if isinstance(name, tuple):
        return zlib.crc32(repr([_number(each) for each in name]).encode())
    raise invalid("group", "strings, numbers or tuples of these, because others have no hash that is the same", name)


@dataclass
class Cards:
    """Rows of one hand, with their labels and their places among the rounds of their shard."""

    rows: Rows
    y: Any
    places: Any


def _dealt(shard: Any, data: Any, hands: int) -> list[Any]:
    """The rows of a shard in hands; and at the end how many rounds it has, and how many rows without a label."""
    found: list[Any] = [[] for _ in range(hands)]
    known: dict[Any, int] = {}
    rounds = without = 0
    with shard.stream(data).reader() as reader:
        while (block := reader.take(BLOCK)) is not None:
            rows, y = block
            if y is None:
                without += rows.count
                continue
            for name in set(rows.groups.tolist()).difference(known):
                known[name] = hand_of(name, hands)
            whose = np.array([known[name] for name in rows.groups.tolist()])
            for hand in np.unique(whose).tolist():
                index = np.flatnonzero(whose == hand)
                found[hand].append(Cards(rows.at(index), y[index], rounds + index))
            rounds += rows.count
    return [*found, (rounds, without)]


@dataclass
class Played:
    """What came of one hand.

    state         of its learners
    first         where each group came first: the shard and the place in it; before all, by place, if it was known
    told          for every shard, the places of its rows, and what was predicted and came
    """

    state: dict[str, Any]
    first: list[tuple[int, int]]
    told: list[tuple[Any, Any, Any]]
    certificates: dict[Any, Any]


def _played(fresh: PerGroup, before: dict[Any, Any] | None, certificates: bool, *shards: list[Cards]) -> Played:
    """Learn the rows of one hand, shard after shard."""
    learner = copy.deepcopy(fresh)
    first: dict[Any, tuple[int, int]] = {}
    if before is not None:
        learner.restore(before["state"])
        first = {name: (-1, place) for name, place in zip(learner.groups, before["places"], strict=True)}
    told = []
    regression = learner.role == "regressor"
    for number, hand in enumerate(shards):
        parts = []
        for cards in hand:
            predicted = learner.learn_many(cards.rows, cards.y)
            for name, place in zip(cards.rows.groups.tolist(), cards.places.tolist(), strict=True):
                first.setdefault(name, (number, place))
            wrong = np.asarray(predicted != np.asarray(cards.y), dtype=bool)
            parts.append((cards.places, predicted if regression else wrong, cards.y if regression else None))
        told.append(_put_together(parts, regression))
    made: dict[Any, Any] = {}
    every = [cards for hand in shards for cards in hand]
    if certificates and every:
        whose = np.concatenate([cards.rows.groups for cards in every])
        y = np.concatenate([cards.y for cards in every])
        made = dict(learner.certificate(whose, joined(cards.rows for cards in every), y))
    return Played(learner.state(), [first[name] for name in learner.groups], told, made)


def _put_together(parts: list[tuple[Any, Any, Any]], regression: bool) -> tuple[Any, Any, Any]:
    if not parts:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=float if regression else bool), np.empty(0)
    places, said = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return places, said, np.concatenate([part[2] for part in parts]) if regression else np.empty(0)


def _part(values: Any, place: int) -> Any:
    return values[place]


def _told(played: Played, shard: int) -> Any:
    return played.told[shard]


def _without_told(played: Played) -> Played:
    return replace(played, told=[])


def _in_order(*told: Any) -> tuple[Any, Any]:
    """What all hands say about a shard, in the order of its rows."""
    places = np.concatenate([each[0] for each in told])
    order = np.argsort(places)
    came = np.concatenate([each[2] for each in told])
    said = np.concatenate([each[1] for each in told])[order]
    return said, came[order] if len(came) else np.zeros(len(said), dtype=bool)


# ---------------------------------------------------------------------- the run


@dataclass
class _Run:
    """One run: the learners, the shards, and what runs tasks."""

    learner: PerGroup
    plan: Plan
    work: Any
    certified: bool
    on_progress: Callable[[int, int], None] | None

    def __post_init__(self) -> None:
        self.hands = min(MOST_HANDS, max(len(self.plan.shards), self.work.workers))
        self.certificates: dict[Any, Any] = {}

    def play(self, tally: Tally) -> Any:
        """The state of all learners in the end."""
        work, shards = self.work, self.plan.shards
        name = shorten(Words(self.plan.name))
        dealt = [work.submit("deal", _dealt, shard, data, self.hands) for shard, data in shards]
        sizes = [work.submit("size", _part, each, self.hands) for each in dealt]
        fresh = PerGroup(self.learner.parameters["learner"])
        before = self._before()
        played = []
        for hand in range(self.hands):
            cards = [work.submit("cards", _part, each, hand) for each in dealt]
            played.append(work.submit("play-groups", _played, fresh, before[hand], self.certified, *cards))
        told = [
            work.submit("in-order", _in_order, *(work.submit("told", _told, each, number) for each in played))
            for number in range(len(shards))
        ]
        ends = [work.submit("end", _without_told, each) for each in played]
        del dealt, played
        done = 0
        total = len(sizes) + len(ends)
        for _, (_, without) in work.each(sizes, f"the rows of {name}"):
            tally.record.unlabelled += without
            done = self._progress(done, total)
        found: dict[int, Played] = {}
        for hand, each in work.each(ends, f"the groups of {name}"):
            found[hand] = each
            done = self._progress(done, total)
        for number, task in enumerate(told):
            said, came = work.result(task, f"the predictions for part {number + 1:,} of {name}")
            at = 0
            while at < len(said):
                end = min(at + tally.room, len(said))
                tally.see_many(said[at:end], came[at:end])
                at = end
        work.forget()
        return self._together([found[hand] for hand in range(self.hands)])

    def _progress(self, done: int, total: int) -> int:
        if self.on_progress is not None:
            self.on_progress(done + 1, total)
        return done + 1

    def _before(self) -> list[dict[str, Any] | None]:
        """What the groups of each hand know already, and their places among all."""
        if not len(self.learner):
            return [None] * self.hands
        whose = [hand_of(name, self.hands) for name in self.learner.groups]
        state = self.learner.state()
        made: list[dict[str, Any] | None] = []
        for hand in range(self.hands):
            places = [place for place, each in enumerate(whose) if each == hand]
            chosen = _chosen([state], [(0, place) for place in places])
            made.append({"state": chosen, "places": places} if places else None)
        return made

    def _together(self, played: Sequence[Played]) -> Any:
        """All groups, in the order in which they came; the certificates too."""
        firsts = [(first, hand, place) for hand, each in enumerate(played) for place, first in enumerate(each.first)]
        order = [(hand, place) for _, hand, place in sorted(firsts)]
        state = _chosen([each.state for each in played], order)
        every = dict(itertools.chain.from_iterable(each.certificates.items() for each in played))
        self.certificates = {name: every[name] for name in state["groups"] if name in every}
        return state


def _chosen(states: Sequence[dict[str, Any]], order: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Some groups of several, in this order."""
    names = [states[which]["groups"][place] for which, place in order]
    if all("forms" in state for state in states):
        return {"groups": names, **joined_tables(states, order)}
    if not all("learners" in state for state in states):
        raise InputError("the states of these learners are not all of numbers and names")
    return {"groups": names, "learners": [states[which]["learners"][place] for which, place in order]}
