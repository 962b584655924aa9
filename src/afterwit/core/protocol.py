"""The online protocol: an example arrives, the learner predicts, the label is revealed, the learner learns."""

from __future__ import annotations

import copy
import heapq
import importlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import ne
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from afterwit.core.delays import Arrivals
from afterwit.core.record import Played, Point, Record, is_read_once
from afterwit.core.regression_record import Errors, RegressionPoint, RegressionRecord
from afterwit.core.sources import BLOCK as BLOCK
from afterwit.data import checks
from afterwit.data.labels import Labels, first_certain_pair, listed
from afterwit.data.rows import is_matrix
from afterwit.data.targets import read_target
from afterwit.errors import Words, counted, invalid


@runtime_checkable
class Learner(Protocol):
    """What `play` needs of a learner; every learner of this package offers more."""

    def predict_one(self, x: Any) -> Any: ...

    def learn_one(self, x: Any, y: Any) -> Any: ...


class Reader(Protocol):
    """Hands over a stream's examples in blocks; may also know ``features``, how many it has met."""

    def take(self, count: int) -> tuple[Any, Any] | None: ...

    def __enter__(self) -> Reader: ...

    def __exit__(self, *_: Any) -> None: ...


class BlockStream(Protocol):
    """A stream that can be played at native speed: each ``reader()`` starts at its beginning."""

    def reader(self) -> Reader: ...


@dataclass(frozen=True)
class Training:
    """How training to convergence went."""

    converged: bool
    mistakes_per_pass: tuple[int, ...]

    @property
    def passes(self) -> int:
        return len(self.mistakes_per_pass)

    @property
    def mistakes(self) -> int:
        return sum(self.mistakes_per_pass)


def play(
    learner: Any,
    stream: Iterable[tuple[Any, Any]] | BlockStream | Any,
    y: Any = None,
    *,
    delay: int | Callable[[int, Any, Any], int] = 0,
    predictions: bool | Callable[[npt.NDArray[Any]], None] = False,
    passes: int = 1,
    on_point: Callable[[Point], None] | None = None,
) -> Any:
    """Let a learner play the rounds of a stream, in order, and keep the `Record`.

    learner      anything with ``predict_one(x)`` and ``learn_one(x, y)``
    stream       any iterable of (x, y); what `read` returns; the name of a libsvm file; or the examples X, if their
                 labels are given as y. To a model, anything that `read` takes. Files, arrays and the streams of
                 `afterwit.streams` are played at native speed
    y            the labels of the examples X
    delay        how many further rounds pass before a label is revealed: 0 is the usual protocol. With d, the label
                 of round t is learned after the prediction of round t + d; a function of (round, x, y) gives each
                 round its own delay. Labels still out at the end of the stream are then revealed in order.
    predictions  True keeps every prediction in the record (those of the last pass, if there are several); a function
                 is called with each block of them instead
    passes       how often to play the whole stream
    on_point     called with each new point of the learning curve

    An example whose label is None is predicted and not learned: it is no round.

    A mistake is a prediction, made when the example arrived, that differs from its label. Under a delay it is counted
    when the label is revealed. A learner whose class says ``late = "served"`` learns by what it predicted, and counts
    the same; others count what they would have predicted when they learned. Of a regressor, the record has the losses
    and the errors in the place of mistakes: it is a `RegressionRecord`.

    A learner that was made without labels, and has learned none, takes them from all labels that are in memory or in
    a file, and from the first label of any other stream. Forecasts of numbers are played by `afterwit.experts.play`.
    """
    passes = checks.count("passes", passes)
    if not callable(delay):
        delay = checks.whole_number("delay", delay, words="a whole number of rounds, at least 0, or a function")
    if not isinstance(learner, Learner) or isinstance(learner, type):
        raise invalid("learner", "an object with predict_one and learn_one", learner)
    if getattr(learner, "role", "") == "experts":
        allowed = "one that predicts labels, because experts.play(learner, advice, outcomes) is for forecasts"
        raise invalid("learner", allowed, learner)
    if hasattr(type(learner), "for_play"):
        # A model reads the stream by its schema; what plays is its learner.
        model: Any = learner
        learner, stream = model.for_play(stream, y)
        y = None
    stream = stream_of(learner, stream, y)
    arrivals = Arrivals() if delay != 0 else None
    tally = tally_of(learner, stream, on_point, arrivals)
    tally.record.passes = passes
    in_blocks = delay == 0 and hasattr(stream, "reader") and learns_blocks(learner)
    if passes > 1 and not in_blocks and is_read_once(stream):
        raise invalid("stream", "one that can be iterated again, for several passes", stream)
    for _ in range(passes):
        kept: list[npt.NDArray[Any]] = []
        take = predictions if callable(predictions) else kept.append if predictions else _ignore
        if in_blocks:
            _play_blocks(learner, stream, tally, take)
        elif arrivals is None:
            _play_rounds(learner, stream, tally, take)
        else:
            _play_delayed(learner, stream, delay, tally, take, arrivals)
        if predictions and not callable(predictions):
            tally.record.predictions = np.concatenate(kept) if kept else np.empty(0)
    return tally.finish()


def learns_blocks(learner: Any) -> bool:
    """Whether ``learn_many`` takes the blocks of a stream: that of other learners may mean something else."""
    return bool(getattr(learner, "learns_blocks", False))


def _as_it_was(learner: Any) -> Any:
    """A copy of a learner of this package that has not learned yet, so that its rounds can be played again."""
    fresh = getattr(learner, "theorems", ()) and getattr(learner, "rounds", None) == 0
    return copy.deepcopy(learner) if fresh else None


def stream_of(learner: Any, stream: Any, y: Any = None) -> Any:
    """What was given as a stream; a learner that was made without labels takes them from it, if it can be looked at."""
    is_path = isinstance(stream, (str, os.PathLike))
    if y is not None and (is_path or hasattr(stream, "reader")):
        raise invalid("y", "left out for a file or a stream, which has its labels", Words("labels"))
    if is_path:
        stream = importlib.import_module("afterwit.streams").LibsvmStream(stream)
    elif y is not None:
        stream = examples_of(stream, y, takes_objects(learner))
    if getattr(learner, "_undecided", False):
        if getattr(stream, "task", None) == "binary":
            learner._take_labels(Labels(stream.labels))
            return stream
        labels = labels_beforehand(stream, y)
        if labels is not None and first_certain_pair(labels) is not None:
            learner._decide(labels)
    return stream


def labels_beforehand(stream: Any, y: Any = None) -> Any:
    """The labels that can be looked at before a stream is played: those in memory or in a file; None if there are none.

    Of a file, enough of them to tell what they are.
    """
    labels: Any = getattr(stream, "y", None) if y is None else y
    source = getattr(stream, "source", None)
    if labels is not None:
        return labels
    if isinstance(stream, (list, tuple)):
        return [pair[1] for pair in stream if isinstance(pair, (list, tuple)) and len(pair) == 2]
    if isinstance(source, (str, os.PathLike)) and source != "-" and os.path.isfile(source):
        return _beginning(stream)
    return None


def takes_objects(learner: Any) -> bool:
    """Whether its examples may be anything but rows of numbers."""
    kernel = getattr(learner, "kernel", None)
    return getattr(learner, "takes", "") == "points" or getattr(kernel, "takes", "vectors") != "vectors"


def examples_of(X: Any, y: Any, singly: bool) -> Any:
    """Examples and labels as a stream: rows of numbers at native speed, anything else in pairs."""
    if isinstance(X, (list, tuple)):
        singly = singly or not all(isinstance(x, (Mapping, np.ndarray, list, tuple)) for x in X)
    if not singly:
        return importlib.import_module("afterwit.streams").ArrayStream(X, y)
    labels = listed(y)
    if not hasattr(X, "__len__") or len(X) != len(labels):
        raise invalid("y", "as long as X", Words(counted(len(labels), "label")))
    return list(zip(X, labels.tolist() if isinstance(labels, np.ndarray) else labels, strict=True))


def _beginning(stream: Any) -> Any:
    """The labels of a file, up to some that are not all 1."""
    with stream.reader() as reader:
        while (block := reader.take(4096)) is not None:
            if (np.asarray(block[1]) != 1).any():
                return block[1]
    return ()


def _ignore(predictions: npt.NDArray[Any]) -> None:
    """Nobody asked for the predictions."""


Take = Callable[[npt.NDArray[Any]], None]


class Tally:
    """Counts rounds and mistakes from predictions and labels alone, and draws the curve."""

    def __init__(self, learner: Any, stream: Any, on_point: Callable[[Any], None] | None) -> None:
        self.record: Any = Record(learner=type(learner).__name__)
        self.learner = learner
        asked = getattr(learner, "asked", None)
        self.asked_before = asked if isinstance(asked, int) else None
        self.counter = stream
        self.on_point = on_point
        self.next_point = 1
        # Before its first label a learner made without labels predicts -1 or 1, which may then turn out to be 0 or 1.
        self.differ: Callable[[Any, Any], bool] = ne
        if getattr(learner, "_undecided", False):
            self.differ = lambda prediction, y: (prediction == 1) != (y == 1)

    @property
    def room(self) -> int:
        """How many rounds a block may have: it never goes beyond the next point of the curve."""
        return min(BLOCK, self.next_point - int(self.record.rounds))

    def see_many(self, predictions: npt.NDArray[Any], y: Any) -> None:
        record, wrong = self.record, np.asarray(predictions != np.asarray(y), dtype=bool)
        mistakes = record.mistakes + np.cumsum(wrong)
        record.trace.extend(mistakes / np.arange(record.rounds + 1, record.rounds + len(wrong) + 1))
        record.mistakes += int(np.count_nonzero(wrong))
        self.count(len(y))

    def see(self, prediction: Any, y: Any) -> None:
        record = self.record
        record.mistakes += int(self.differ(prediction, y))
        record.trace.append(record.mistakes / (record.rounds + 1))
        self.count(1)

    def alone(self, prediction: Any) -> npt.NDArray[Any]:
        """One prediction as an array of objects, so that labels of different kinds keep theirs."""
        array = np.empty(1, dtype=object)
        array[0] = prediction.item() if isinstance(prediction, np.generic) else prediction
        return array

    def count(self, rounds: int) -> None:
        self.record.rounds += rounds
        if self.record.rounds == self.next_point:
            self.next_point *= 2
            self.add_point()

    def add_point(self) -> None:
        features = getattr(self.counter, "features", None)
        if features is None:
            features = getattr(self.learner, "features", None)
        point = self.point(features)
        self.record.curve.append(point)
        if self.on_point is not None:
            self.on_point(point)

    def point(self, features: int | None) -> Any:
        """The totals now."""
        record = self.record
        before = record.curve[-1] if record.curve else Point(0, 0, 0.0, 0.0, None)
        recent = (record.mistakes - before.mistakes) / (record.rounds - before.rounds)
        return Point(record.rounds, record.mistakes, record.error, recent, features)

    def finish(self) -> Any:
        record = self.record
        if record.rounds and (not record.curve or record.curve[-1].rounds != record.rounds):
            self.add_point()
        if self.asked_before is not None:
            record.asked = self.learner.asked - self.asked_before
        return record


class _RegressionTally(Tally):
    """The same for predictions of numbers: their losses and their errors."""

    def __init__(self, learner: Any, stream: Any, on_point: Callable[[Any], None] | None) -> None:
        super().__init__(learner, stream, on_point)
        self.record = RegressionRecord(learner=type(learner).__name__)
        self.errors = Errors(learner)

    def see_many(self, predictions: npt.NDArray[Any], y: Any) -> None:
        self.errors.add(predictions, y, self.record)
        self.count(len(y))

    def see(self, prediction: Any, y: Any) -> None:
        self.errors.add([float(prediction)], [read_target(y)], self.record)
        self.count(1)

    def alone(self, prediction: Any) -> npt.NDArray[Any]:
        return np.array([prediction], dtype=np.float64)

    def point(self, features: int | None) -> RegressionPoint:
        record = self.record
        before = record.curve[-1] if record.curve else RegressionPoint(0, 0.0, 0.0, 0.0, 0.0, None)
        errors = max(0.0, record.squared_errors - before.squared_errors) / (record.rounds - before.rounds)
        totals = (record.rounds, record.loss, record.squared_errors, record.rmse)
        return RegressionPoint(*totals, math.sqrt(errors), features)


def tally_of(
    learner: Any, stream: Any, on_point: Callable[[Any], None] | None = None, arrivals: Arrivals | None = None
) -> Tally:
    """What counts the rounds of a learner on a stream; its record can look back at them."""
    require_groups(learner, stream)
    kind = _RegressionTally if getattr(learner, "role", "") == "regressor" else Tally
    tally = kind(learner, stream, on_point)
    vars(tally.record)["_played"] = Played(learner, stream, arrivals, _as_it_was(learner))
    return tally


def require_groups(learner: Any, stream: Any) -> None:
    """Refuse a learner that would not ask whose a row is."""
    group = getattr(getattr(stream, "schema", None), "group", None)
    if group is not None and not getattr(learner, "by_group", False):
        kind = type(learner).__name__
        raise invalid("learner", f"PerGroup({kind}(...)), because each {group} has a learner of its own", learner)


def _play_blocks(learner: Any, stream: Any, tally: Tally, take: Take) -> None:
    with stream.reader() as reader:
        tally.counter = reader
        while (block := reader.take(tally.room)) is not None:
            X, y = block
            if y is None:
                predicted = learner.predict_many(X)
                tally.record.unlabelled += len(predicted)
                take(predicted)
                continue
            predicted = learner.learn_many(X, y)
            take(predicted)
            tally.see_many(predicted, y)


def pairs_in(stream: Any) -> Iterator[tuple[Any, Any]]:
    """The examples with their labels, one by one."""
    allowed = "pairs (x, y), the name of a libsvm file, or examples X with their labels: play(learner, X, y)"
    if not isinstance(stream, Iterable) or is_matrix(stream):
        raise invalid("stream", allowed, stream)
    for pair in stream:
        try:
            x, y = pair
        except (TypeError, ValueError):
            raise invalid("stream", allowed, pair) from None
        yield x, y


def _play_rounds(learner: Any, stream: Any, tally: Tally, take: Take) -> None:
    for x, y in pairs_in(stream):
        prediction = learner.predict_one(x)
        if y is None:
            take(tally.alone(prediction))
            tally.record.unlabelled += 1
            continue
        learner.learn_one(x, y)
        take(tally.alone(prediction))
        tally.see(prediction, y)


def _play_delayed(learner: Any, stream: Any, delay: Any, tally: Tally, take: Take, arrivals: Arrivals) -> None:
    waiting: list[tuple[Any, ...]] = []
    labelled = 0
    # What decides by what it served gets a ticket back; anything else, its example.
    with_tickets = getattr(learner, "late", "") == "served"

    def reveal() -> None:
        _, _, place, moment, x, y, prediction = heapq.heappop(waiting)
        (learner.learn_late if with_tickets else learner.learn_one)(x, y)
        arrivals.order.append(place)
        arrivals.served.append(moment)
        tally.see(prediction, y)

    for t, (x, y) in enumerate(pairs_in(stream)):
        wait = delay
        if callable(delay):
            wait = checks.count_of("rounds", 0)(f"delay(...) in round {t}", delay(t, x, y))
        prediction, kept = learner.serve_one(x) if with_tickets and y is not None else (learner.predict_one(x), x)
        take(tally.alone(prediction))
        if y is None:
            tally.record.unlabelled += 1
            continue
        # t breaks ties, so that labels due at the same moment are revealed in the order of their rounds.
        heapq.heappush(waiting, (t + wait, t, labelled, tally.record.rounds, kept, y, prediction))
        labelled += 1
        while waiting and waiting[0][0] <= t:
            reveal()
    while waiting:
        reveal()
