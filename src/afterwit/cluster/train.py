"""Training one learner on rows in shards: `train`.

>>> import numpy as np
>>> import afterwit as aw
>>> from afterwit.cluster import Here, train
>>> learner = aw.Perceptron()
>>> record = train(learner, np.vstack([np.eye(4), np.eye(4)]), -np.ones(8), shards=2, epochs=2, client=Here())
>>> record.mistakes, record.weighted_mistakes, learner.weights.tolist()
(8, 4.0, [-1.0, -1.0, -1.0, -1.0])
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from afterwit.cluster import shards as planning
from afterwit.cluster.mixing import MIXINGS, Heard, Start, epoch_of, mixed, require_mixable
from afterwit.cluster.record import ClusterRecord
from afterwit.cluster.shards import Plan
from afterwit.cluster.tree import tree
from afterwit.cluster.work import PATIENCE, Here, work_on
from afterwit.core.files import require_writable
from afterwit.core.storage import load, save
from afterwit.data import checks
from afterwit.data.labels import Labels
from afterwit.data.values import same_value
from afterwit.errors import AfterwitError, InputError, ModelFileError, Words, counted, invalid
from afterwit.streams.model import Model

#: Told of each epoch and of each shard that has finished in it: the epoch, how many have, and the record so far.
Progress = Callable[[int, int, ClusterRecord], None]


def train(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    target: str | None = None,
    shards: int | None = None,
    epochs: int = 1,
    mixing: str = "uniform",
    once: bool = False,
    client: Any = None,
    workers: int | None = None,
    save: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    patience: float = PATIENCE,
    on_progress: Progress | None = None,
) -> ClusterRecord:
    """Train a learner on shards of rows, whose weights are averaged after every epoch (iterative parameter mixing).

    learner   one whose weights can be averaged, or a `Model` with one; it is used, not copied, and has learned whole
              epochs, whatever happens
    data      what `read` returned, or takes; a dask.dataframe, a dask.bag of records or of pairs (x, y); or rows X with
              labels y: numpy, scipy.sparse or dask.array
    target    the column to predict, of a table
    shards    how many; if not given, the partitions of a collection of Dask, and else as many as tasks can run at a
              time. The result depends on it
    epochs    how often all rows are played
    mixing    "uniform", "rows" or "mistakes": how much a shard counts in the average
    once      average once, at the end, and let every shard train alone until then: no bound is known for that
    client    Dask's, as for other libraries; if not given the current one, and else a local cluster of processes that
              is closed at the end. `Here()` is this process
    workers   how many processes a local cluster has
    save      a file for the model, written after every epoch
    resume    a file with such a model: go on from it, for ``epochs`` further epochs
    patience  after so many seconds without anything happening, stop with an error
    on_progress  is called with the epoch, the number of shards that have finished in it, and the record

    Returns a `ClusterRecord`, which has a ``certificate()``.
    """
    epochs = checks.count("epochs", epochs)
    if mixing not in MIXINGS:
        raise invalid("mixing", " or ".join(map(repr, MIXINGS)), mixing)
    patience = checks.positive_number("patience", patience)
    inside = learner.learner if isinstance(learner, Model) else learner
    require_mixable(inside)
    if resume is not None:
        _resume(learner, resume)
    if save is not None:
        require_writable(save)
    with work_on(client, workers, patience) as work:

        def plan(work: Any, shards: int | None) -> Plan:
            return planning.plan(data, y, target=target, shards=shards, learner=learner, work=work)

        once = checks.flag("once", once)
        run = Run(learner, plan, plan(work, shards), epochs, mixing, once, save, work, client, workers)
        return run.play(on_progress)


@dataclass
class Run:
    """One run: a learner and its shards."""

    given: Any
    #: Makes the shards anew, on another cluster.
    plan_on: Callable[[Any, int | None], Plan]
    plan: Plan
    count: int
    mixing: str
    once: bool
    path: Any
    work: Any
    client: Any
    workers: int | None

    def __post_init__(self) -> None:
        self.learner = self.given.learner if isinstance(self.given, Model) else self.given
        if getattr(self.learner, "_undecided", False) and self.plan.labels is not None:
            self.learner._take_labels(Labels(self.plan.labels))
        #: The learner before the first epoch.
        self.began = Start.of(self.learner)
        self.model = self.given if isinstance(self.given, Model) else self._whole()

    def _whole(self) -> Any:
        """What is saved: the schema and the learner, or the learner alone where features are numbered in the file."""
        stream = self.plan.stream
        if stream is None:
            return self.learner
        by_number = stream.schema.columns is None and stream.schema.hash_bits is None and stream.format == "libsvm"
        return self.learner if by_number else Model(stream.schema, self.learner)

    def play(self, on_progress: Progress | None) -> ClusterRecord:
        """All epochs."""
        record = ClusterRecord(
            learner=type(self.learner).__name__,
            model=self.model,
            shards=len(self.plan.shards),
            mixing=self.mixing,
            once=self.once,
        )
        vars(record)["_run"] = self
        mixes = 1 if self.once else self.count
        record.passes = self.count
        for number in range(1, mixes + 1):
            try:
                self._epoch(number, mixes, record, on_progress)
            except AfterwitError as error:
                raise self._with_remedy(error, number - 1, mixes) from None
        return record

    def _epoch(self, number: int, mixes: int, record: ClusterRecord, on_progress: Progress | None) -> None:
        what = f"a shard of epoch {number:,} of {mixes:,}"
        start = Start.of(self.learner)
        heard, played = self.epoch(start, self.count if self.once else 1)
        if on_progress is not None:
            on_progress(number, 0, record)
        for done, _ in enumerate(self.work.finished(heard, what), start=1):
            if on_progress is not None:
                on_progress(number, done, record)
        # What all shards did comes at once: a journey for each of them takes longer than a small shard.
        found: list[Heard] = self.work.result(self.work.submit("heard", _listed, *heard), what)
        total = self.work.result(played, f"the sums of epoch {number:,} of {mixes:,}")
        state = mixed(self.learner, start, total)
        # From here on the epoch is whole.
        self.learner.restore(state)
        record.add(found, getattr(self.learner, "features", None))
        self.work.forget()
        if self.path is not None:
            save(self.model, self.path)
        if on_progress is not None:
            on_progress(number, len(found), record)

    def epoch(self, start: Start, passes: int) -> tuple[list[Any], Any]:
        """The tasks of an epoch."""
        begun = self.work.submit("start", _same, start)
        return epoch_of(self.work.submit, tree, self.plan.shards, begun, mixing=self.mixing, passes=passes)

    def _with_remedy(self, error: AfterwitError, whole: int, mixes: int) -> AfterwitError:
        """The error, and what is kept, where a file has it."""
        if self.path is None or not whole:
            return error
        kept = f"{os.fspath(self.path)} has the model after epoch {whole:,} of {mixes:,}"
        if hasattr(error, "message"):
            error.message = f"{error.message} ({kept})"
            return error
        return type(error)(f"{error} ({kept}; resume goes on from it for {counted(mixes - whole, 'further epoch')})")

    def certificate(self, record: ClusterRecord, comparator: Any, client: Any) -> Any:
        """The theorems of mixed weights, applied to what the checker finds on the cluster."""
        from afterwit.cluster import checking

        if record.once:
            raise InputError(f"there is no certificate: {checking.ONCE}")
        if client is None and (isinstance(self.client, Here) or getattr(self.client, "status", "") == "running"):
            client = self.client
        with work_on(client, self.workers if client is None else None) as work:
            plan = self.plan if self.plan.files else self.plan_on(work, record.shards)
            return checking.certificate(self.learner, self.began, plan, record, comparator, work)


def _same(value: Any) -> Any:
    return value


def _listed(*values: Any) -> list[Any]:
    return list(values)


def _resume(learner: Any, path: Any) -> None:
    """Become what is in the file: a model of the same kind, made with the same options."""
    if (learner.learner if isinstance(learner, Model) else learner).rounds:
        raise invalid("learner", "a fresh one, because resume gives it what it has learned", learner)
    found = load(path)
    inside = found.learner if isinstance(found, Model) else found
    own = learner.learner if isinstance(learner, Model) else learner
    if type(inside) is not type(own):
        raise ModelFileError(
            f"{os.fspath(path)}: a {type(own).__name__} was expected; this is a {type(inside).__name__}"
        )
    for name, value in own.parameters.items():
        other = inside.parameters[name]
        if not same_value(value, other) and not (name == "labels" and value is None):
            raise InputError(f"{os.fspath(path)}: its {name} is {other!r}, and that of the learner {value!r}")
    if isinstance(learner, Model) and (
        not isinstance(found, Model) or found.schema.as_data() != learner.schema.as_data()
    ):
        raise invalid("resume", "a model with the same schema", Words(os.fspath(path)))
    if getattr(own, "_undecided", False):
        own._take_labels(Labels(inside.labels))
    own.restore(inside.state())
