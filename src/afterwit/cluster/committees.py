"""A committee on a cluster: its members learn on workers, and what they say comes back in blocks.

The rows are in shards, one after the other. Some of the members, a bench, learn a shard on one worker, and say
something to each of its rows; the scores of all benches, eight bytes for each member and row, are then weighed by the
committee's own code. A bench goes on with the next shard while the last is weighed. No more than a few shards of scores
are held, and the result is that of `play` to the bit, however many workers and shards there are: members have nothing
to do with each other, and many rounds are exactly the rounds one by one.

>>> import numpy as np
>>> from afterwit.cluster import Here
>>> from afterwit.reductions.committee import Committee
>>> members = Committee(["perceptron", "sgd"], labels=(-1, 1))
>>> record = committee(members, np.vstack([np.eye(3)] * 4), y=np.tile([1, -1, 1], 4), client=Here())
>>> record.mistakes, members.member_mistakes
(2, {'Perceptron': 1, 'SGD': 5})
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from afterwit.cluster import shards as planning
from afterwit.cluster.shards import Plan
from afterwit.cluster.work import PATIENCE, work_on
from afterwit.core.protocol import BLOCK, Tally, play, stream_of, tally_of
from afterwit.data import checks
from afterwit.data.classes import Classes
from afterwit.data.labels import Labels
from afterwit.data.rows import Rows
from afterwit.data.targets import read_targets
from afterwit.errors import AfterwitError, Words, counted, invalid, shorten
from afterwit.reductions._binary import blank
from afterwit.reductions._many_members import ManyMembers
from afterwit.reductions._members import Members
from afterwit.reductions.committee import Committee
from afterwit.reductions.multiclass_committee import MulticlassCommittee
from afterwit.reductions.regression_committee import RegressionCommittee
from afterwit.streams.model import Model
from afterwit.streams.read import read
from afterwit.streams.stream import Stream

#: About so many bytes of a file, or stored values of rows in memory, are a shard.
BYTES, VALUES = 1 << 25, 1 << 22
#: How many shards are on their way at a time.
AHEAD = 3


def committee(
    learner: Any,
    source: Any,
    target: str | None = None,
    *,
    y: Any = None,
    shards: int | None = None,
    client: Any = None,
    workers: int | None = None,
    patience: float = PATIENCE,
    on_progress: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> Any:
    """Let a committee play a source, its members divided among the workers of a cluster; returns the record.

    learner   a `Committee`, `MulticlassCommittee` or `RegressionCommittee`, or a `Model` with one; it is used, not
              copied
    source    what `read` returned, or takes; a dask.dataframe, a dask.bag of records or of pairs (x, y); or rows X with
              labels y: numpy, scipy.sparse or dask.array
    target    the column to predict, of a table
    shards    in how many parts the rows are read, one after the other; the result does not depend on it. Default: such
              that a shard is about 32 MB
    client    Dask's; if not given the current one, and else a local cluster of processes that is closed at the end.
              `Here()` is this process
    workers   how many processes a local cluster has
    patience  after so many seconds without anything happening, stop with an error
    on_progress  is called with the number of parts that have been weighed, and of all
    reading   options of `read`

    The committee and the record equal those of `play` to the bit. If a member diverges, the rows are played again
    on one worker, and the committee has learned the rounds before, as `play` leaves it. If a source cannot be read, it
    has learned nothing.
    """
    patience = checks.positive_number("patience", patience)
    inside = learner.learner if isinstance(learner, Model) else learner
    if not isinstance(inside, (Committee, MulticlassCommittee, RegressionCommittee)):
        raise invalid("learner", "a Committee, MulticlassCommittee or RegressionCommittee, or a Model with one", inside)
    with work_on(client, workers, patience) as work:
        plan = _plan(learner, source, target, y, shards, reading, work)
        if getattr(inside, "_undecided", False) and plan.labels is not None:
            inside._take_labels(Labels(plan.labels))
        stream = plan.stream if plan.stream is not None else _rows_again(source, y)
        if getattr(inside, "_undecided", False) and stream is not None:
            stream_of(inside, stream)
        if getattr(inside, "_undecided", False):
            raise invalid("labels", "given to the committee, because the data leave them open", Words("none"))
        # It notes how the committee was before.
        tally = tally_of(inside, stream)
        state, record, failure = _Run(inside, plan, work, on_progress).play(_tally_for(inside, tally))
        inside.restore(state)
        if failure is not None:
            raise failure
    vars(record)["_played"] = vars(tally.record)["_played"]
    return record


def _plan(
    learner: Any, source: Any, target: str | None, y: Any, count: int | None, reading: dict[str, Any], work: Any
) -> Plan:
    """The shards: as many as keep each of them small."""
    is_rows = y is not None or planning.is_rows(source) or bool(planning.dask_kind(source))
    if not is_rows and not isinstance(source, Stream):
        if isinstance(learner, Model):
            source = learner.stream(source, **reading)
        else:
            source = read(source, target, **{**planning.known(learner), **reading})
        reading, target = {}, None
    for name in reading:
        raise invalid(name, "left out, because the source has been read already", reading[name])
    if count is None and isinstance(source, Stream):
        count = -(-(source.size or 1) // BYTES)
    elif count is None and not planning.dask_kind(source):
        count = max(1, -(-int(getattr(source, "size", 0)) // VALUES))
    return planning.plan(source, y, target=target, shards=count, learner=learner, work=work)


def _rows_again(source: Any, y: Any) -> Any:
    """Rows in memory as a stream, for the certificate."""
    from afterwit.streams.arrays import ArrayStream

    return None if planning.dask_kind(source) else ArrayStream(source, y)


def _tally_for(learner: Any, tally: Tally) -> Tally:
    """What counts the rounds on workers: it knows a fresh committee, because that is small."""
    sent = copy.copy(tally)
    sent.learner, sent.counter = blank(learner), None
    sent.record = copy.copy(tally.record)
    vars(sent.record).pop("_played", None)
    return sent


# ---------------------------------------------------------------------- what tasks do


@dataclass
class Bench:
    """Some of the members, and how far they have come.

    places   their numbers among all members
    labels   the two labels, or of many those that may come
    classes  of many labels, those that have come
    rounds   how many rounds they have played
    counts   whether it counts the features that have come, as the reader of a whole file would: only the first bench
             does; ``first`` is the file that it would count in
    """

    places: tuple[int, ...]
    learners: dict[str, Any]
    labels: Any
    classes: tuple[Any, ...] = ()
    rounds: int = 0
    speaks: bool = False
    first: str = ""
    met: set[Any] = field(default_factory=set)
    failed: bool = False


@dataclass
class Heard:
    """What a bench said to a block of rows: a number for each member and row.

    y         the signs, labels or targets, where the bench is the first
    changed   the rounds in which some member changed
    features  how many features there are; ``read`` is what the reader of a whole file would say
    """

    said: Any = None
    changed: Any = None
    y: Any = None
    without: int = 0
    features: int = 0
    read: int | None = None


def _heard(shard: Any, data: Any, bench: Bench, kind: type) -> tuple[Bench, list[Heard] | None]:
    """Let a bench learn a shard; None instead of what it says if a member refuses a round."""
    if bench.failed:
        return bench, None
    # The scheduler may run the task again: what it was given stays as it is.
    bench = copy.deepcopy(bench)
    learn = _LEARN[kind](bench)
    heard = []
    with shard.stream(data).reader() as reader:
        while (block := reader.take(min(BLOCK, _next_point(bench.rounds) - bench.rounds))) is not None:
            rows, y = block
            made = Heard()
            if y is None:
                made.without = rows.count
            else:
                try:
                    made = learn(rows, y)
                except AfterwitError:
                    bench.failed = True
                    return bench, None
                bench.rounds += rows.count
            made.features = max(int(getattr(each, "features", 0)) for each in bench.learners.values())
            made.read = _features_read(bench, rows, reader)
            if not bench.speaks:
                made.y = None
            heard.append(made)
    return bench, heard


def _next_point(rounds: int) -> int:
    """The next power of two."""
    return 1 << rounds.bit_length()


def _features_read(bench: Bench, rows: Rows, reader: Any) -> int | None:
    """How many features have been read, where the reader of a whole file would know."""
    if not bench.first or not bench.speaks or reader.place(0)["path"] != bench.first:
        return None
    columns = np.empty(0) if rows.columns is None else rows.columns
    bench.met.update(rows.names if rows.names is not None else np.unique(columns).tolist())
    return len(bench.met)


def _two(bench: Bench) -> Any:
    """Members of two labels."""
    labels = Labels(bench.labels)
    members = Members(bench.learners, labels)

    def learn(rows: Rows, y: Any) -> Heard:
        signs = labels.signs(y, rows.first)
        said, changed = members.learn(members.read(rows), signs)
        return Heard(said, changed, signs)

    return learn


def _many(bench: Bench) -> Any:
    """Members of many labels."""
    members = ManyMembers(bench.learners)

    def learn(rows: Rows, y: Any) -> Heard:
        classes = Classes(bench.classes, bench.labels)
        codes, new = classes.read(y, rows.first)
        said = members.learn(members.read(rows), codes, new, classes)
        bench.classes = tuple(classes.joined(new).labels)
        return Heard(said, None, y)

    return learn


def _numbers(bench: Bench) -> Any:
    """Members that predict numbers."""

    def learn(rows: Rows, y: Any) -> Heard:
        targets = read_targets(y, rows.first)
        said = [member.learn_many(rows, targets) for member in bench.learners.values()]
        return Heard(np.stack(said, axis=1), None, targets)

    return learn


_LEARN: dict[Any, Any] = {Committee: _two, MulticlassCommittee: _many, RegressionCommittee: _numbers}


@dataclass
class Weighed:
    """How far the weighing has come: the state of the committee without its members, and what counts its rounds."""

    state: dict[str, Any]
    tally: Tally
    failed: bool = False


def _weighed(fresh: Any, before: Weighed, places: Sequence[int], *heard: list[Heard] | None) -> Weighed:
    """Weigh what all benches have said to a shard, by the code of the committee."""
    if before.failed or any(each is None for each in heard):
        return replace(before, failed=True)
    whole = blank(fresh)
    members = [blank(member).state() for member in whole.members.values()]
    whole._become({**before.state, "members": members})
    tally = copy.deepcopy(before.tally)
    order = np.argsort(np.array(places))
    for blocks in zip(*[each for each in heard if each is not None], strict=True):
        first: Heard = blocks[0]
        if first.y is None:
            tally.record.unlabelled += first.without
            continue
        said = np.ascontiguousarray(np.concatenate([each.said for each in blocks], axis=1)[:, order])
        read = max(each.features for each in blocks) if first.read is None else first.read
        tally.counter = SimpleNamespace(features=read)
        try:
            tally.see_many(*_judged(whole, said, first, blocks))
        except AfterwitError:
            return replace(before, failed=True)
    return Weighed(_without_members(whole), tally)


def _judged(whole: Any, said: Any, first: Heard, blocks: Sequence[Heard]) -> tuple[Any, Any]:
    """What the committee predicts for a block, and what came."""
    if isinstance(whole, RegressionCommittee):
        return whole._mixed(said, first.y), first.y
    if isinstance(whole, Committee):
        changed = np.logical_or.reduce([each.changed for each in blocks])
        return np.where(whole._learn_said(said, first.y, changed) >= 0, 1, -1), first.y
    codes, new = whole._classes.read(first.y, 0)
    leaders = whole._learn_said(said, codes, new)
    return whole._classes.decode(leaders), first.y


def _without_members(whole: Any) -> dict[str, Any]:
    return {name: value for name, value in whole.state().items() if name != "members"}


def _together(learner: Any, shards: Sequence[Any], *data: Any) -> tuple[dict[str, Any], AfterwitError | None]:
    """All of it on one worker, up to the round that a member refuses: its state, and what it says."""
    made = copy.deepcopy(learner)
    try:
        for shard, each in zip(shards, data, strict=True):
            play(made, shard.stream(each))
    except AfterwitError as error:
        return made.state(), error
    return made.state(), None


# ---------------------------------------------------------------------- the run


@dataclass
class _Run:
    """A committee, the shards that it plays one after the other, and what runs tasks."""

    learner: Any
    plan: Plan
    work: Any
    on_progress: Callable[[int, int], None] | None

    def __post_init__(self) -> None:
        self.kind = next(kind for kind in _LEARN if isinstance(self.learner, kind))

    def play(self, tally: Tally) -> tuple[dict[str, Any], Any, AfterwitError | None]:
        """The state of the committee in the end, its record, and why it had to stop."""
        work, count = self.work, len(self.plan.shards)
        benches = [work.submit(f"bench-{k}", _itself, bench) for k, bench in enumerate(self._benches())]
        places = [place for bench in self._benches() for place in bench.places]
        last: Any = Weighed(_without_members(self.learner), tally)
        fresh = blank(self.learner)
        waiting: list[Any] = []
        for number, (shard, data) in enumerate(self.plan.shards):
            played = [work.submit("play", _heard, shard, data, bench, self.kind) for bench in benches]
            benches = [work.submit("bench", _part, pair, 0) for pair in played]
            heard = [work.submit("said", _part, pair, 1) for pair in played]
            last = work.submit("weigh", _weighed, fresh, last, places, *heard)
            waiting.append(last)
            del played, heard
            if len(waiting) > AHEAD:
                self._wait(waiting.pop(0), number - AHEAD + 1, count)
            work.forget()
        found: Weighed = self._wait(last, count, count)
        if found.failed:
            return self._failed(tally)
        states: dict[int, Any] = {}
        for k, bench in work.each(benches, "the members"):
            del k
            states |= dict(zip(bench.places, (each.state() for each in bench.learners.values()), strict=True))
        record = found.tally.finish()
        return {**found.state, "members": [states[i] for i in range(len(states))]}, record, None

    def _wait(self, task: Any, number: int, count: int) -> Weighed:
        what = f"part {number:,} of {count:,} of {shorten(Words(self.plan.name))}"
        made: Weighed = self.work.result(task, what)
        if self.on_progress is not None:
            self.on_progress(number, count)
        return made

    def _benches(self) -> Iterator[Bench]:
        """The members in as many benches as tasks can run at a time."""
        members = list(self.learner.members.items())
        count = min(len(members), self.work.workers)
        classes = tuple(getattr(self.learner, "classes", ()))
        stream = self.plan.stream
        counts = stream is not None and stream.schema.columns is None and stream.schema.hash_bits is None
        path = stream.source.paths[0] if counts and stream is not None and stream.source is not None else ""
        labels = getattr(self.learner, "labels", None)
        for k in range(count):
            places = tuple(range(k, len(members), count))
            learners = {members[i][0]: members[i][1] for i in places}
            yield Bench(places, learners, labels, classes, speaks=k == 0, first=path)

    def _failed(self, tally: Tally) -> tuple[dict[str, Any], Any, AfterwitError | None]:
        """Where a member refuses a round: all again on one worker, which leaves the committee as `play` does."""
        shards, data = zip(*self.plan.shards, strict=True)
        task = self.work.submit("together", _together, self.learner, shards, *data)
        state, error = self.work.result(task, f"{counted(len(shards), 'part')} on one worker")
        return state, tally.record, error


def _itself(value: Any) -> Any:
    return value


def _part(pair: Any, place: int) -> Any:
    """One of two: so that the scores can be sent without the members."""
    return pair[place]
