"""The learners of a race: who takes part, and what happens to each."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate
from afterwit.core.moments import needs_rounds
from afterwit.core.protocol import Tally, learns_blocks, pairs_in, tally_of
from afterwit.core.record import is_read_once
from afterwit.core.registry import by_command_name, classifier_names, makes_itself, regressor_names
from afterwit.core.sources import BLOCK
from afterwit.errors import AfterwitError, InputError, invalid
from afterwit.reductions._members import called, different_names, read_each

#: Who takes part if nobody is named.
USUAL = {
    "binary": (
        "committee",
        "scale-free",
        "normalized-adagrad",
        "adagrad",
        "sgd",
        "passive-aggressive",
        "perceptron",
        "averaged-perceptron",
    ),
    "classes": ("multiclass-committee", "softmax-adagrad", "averaged-multiclass-perceptron", "multiclass-perceptron"),
    "regression": (
        "regression-committee",
        "online-ridge",
        "scale-free-regressor",
        "adagrad-regressor",
        "sgd-regressor",
    ),
}
LEARNERS = "learners, their classes or names, in a sequence or in a dict by the names that they are to have"


@dataclass(eq=False)
class Entry:
    """A learner in a race, and what happened to it."""

    name: str
    learner: Any
    #: What `play` returns.
    record: Any = field(repr=False)
    #: What counts its rounds; None after the race.
    tally: Tally | None = field(repr=False)
    #: The sum of the log losses, of learners of two labels with probabilities.
    total_log_loss: float | None = None
    #: The processor time that it took.
    seconds: float = 0.0
    #: Why it had to stop, if it did.
    stopped: str = ""
    certificate: Certificate | None = field(default=None, repr=False)
    #: Why there is no certificate, if that is known.
    no_certificate: str = ""

    @property
    def regression(self) -> bool:
        """Whether it predicts numbers."""
        return _is_regressor(self.learner)

    @property
    def error(self) -> float:
        """The error rate, or the root mean squared error; infinite if it had to stop."""
        if self.stopped:
            return float("inf")
        return float(self.record.rmse if self.regression else self.record.error)

    @property
    def log_loss(self) -> float | None:
        """The mean log loss, of learners of two labels with probabilities."""
        done = self.record.rounds
        return None if self.total_log_loss is None or not done else self.total_log_loss / done

    @property
    def seconds_per_example(self) -> float | None:
        """The processor time for each example."""
        return self.seconds / self.record.rounds if self.record.rounds else None

    def learn(self, block: Any) -> None:
        """Learn a block, and count; a learner that diverges is out of the race."""
        try:
            with self._clock():
                seen = self._play(block)
        except AfterwitError as error:
            self.stopped = str(error)
            return
        if seen is not None and self.tally is not None:
            self.tally.see_many(*seen)

    def _play(self, block: Any) -> tuple[Any, Any] | None:
        """Learn rows with their labels, or a list of pairs; what was predicted and what came, if not counted yet."""
        if isinstance(block, list):
            self._play_singly(block)
            return None
        rows, y = block
        if not learns_blocks(self.learner):
            self._play_singly([(rows.row(i), label) for i, label in enumerate(y.tolist())])
            return None
        if self.total_log_loss is None:
            return self.learner.learn_many(rows, y), y
        scores = self.learner.learn_scores(rows, y)
        signs = np.where(np.asarray(y == self.learner.labels[1], dtype=bool), 1, -1)
        self.total_log_loss += float(np.logaddexp(0.0, -signs * scores).sum())
        return np.where(scores >= 0, 1, -1), signs

    def _play_singly(self, pairs: list[tuple[Any, Any]]) -> None:
        """Examples one by one, as `play` hands them to learners that take no blocks."""
        assert self.tally is not None
        for x, y in pairs:
            prediction = self.learner.predict_one(x)
            self.learner.learn_one(x, y)
            self.tally.see(prediction, y)

    @contextmanager
    def _clock(self) -> Iterator[None]:
        begin = time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.thread_time() - begin

    def certify(self, stream: Any) -> None:
        """Make the certificate, or say why there is none."""
        if self.stopped:
            return
        if not getattr(self.learner, "theorems", ()):
            self.no_certificate = str(getattr(self.learner, "no_theorem_because", "") or "it has no theorems")
        elif not needs_rounds(self.learner):
            self.certificate = self.learner.certificate()
        elif not can_be_read_again(stream):
            self.no_certificate = "the data can be read only once, and not all of it was kept"
        else:
            try:
                self.certificate = self.record.certificate()
            except InputError as error:
                self.no_certificate = str(error)


def can_be_read_again(stream: Any) -> bool:
    """Whether a certificate can look at the rounds of a stream after they have been played."""
    return not is_read_once(stream) and bool(getattr(stream, "complete", False) or getattr(stream, "rereadable", True))


def entry_of(name: str, learner: Any, stream: Any) -> Entry:
    """A learner at the start."""
    speaks = getattr(learner, "gives_probabilities", False) and not getattr(learner, "many_labels", False)
    speaks = speaks and hasattr(stream, "reader") and learns_blocks(learner) and hasattr(learner, "learn_scores")
    tally = tally_of(learner, stream)
    return Entry(name, learner, tally.record, tally, 0.0 if speaks else None)


def run(entries: Sequence[Entry], stream: Any) -> int:
    """One pass: every block goes to all learners, several at a time. How many examples had no label."""
    unlabelled = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in _blocks(entries, stream):
            if isinstance(block, int):
                unlabelled += block
                continue
            running = [entry for entry in entries if not entry.stopped]
            list(pool.map(Entry.learn, running, [block] * len(running)))
    for entry in entries:
        assert entry.tally is not None
        entry.tally.record.unlabelled = unlabelled
        entry.tally.finish()
        # It holds what was read from.
        entry.tally = None
    return unlabelled


def _blocks(entries: Sequence[Entry], stream: Any) -> Iterator[Any]:
    """The blocks of a stream, none beyond the next point of the curves; those without labels as their lengths."""
    if not hasattr(stream, "reader"):
        pairs = pairs_in(stream)
        while some := list(islice(pairs, _room(entries))):
            labelled = [pair for pair in some if pair[1] is not None]
            if len(labelled) < len(some):
                yield len(some) - len(labelled)
            if labelled:
                yield labelled
        return
    with stream.reader() as reader:
        for entry in entries:
            assert entry.tally is not None
            entry.tally.counter = reader
        while (block := reader.take(_room(entries))) is not None:
            yield block[0].count if block[1] is None else block


def _room(entries: Sequence[Entry]) -> int:
    rooms = (entry.tally.room for entry in entries if entry.tally is not None and not entry.stopped)
    return min(rooms, default=BLOCK)


# ---------------------------------------------------------------------- who takes part


def learners_of(learners: Any, task: str | None, labels: Any) -> dict[str, Any]:
    """The learners of a race by name; those given as names and classes are made with these labels."""
    if isinstance(learners, Sequence) and not isinstance(learners, (str, bytes)):
        names = different_names(each if isinstance(each, str) else _named(each) for each in learners)
        learners = dict(zip(names, learners, strict=True))
    if learners is None and task is not None:
        learners = {name: name for name in USUAL[task]}
    found = read_each(learners, lambda each: _made(each, labels), LEARNERS)
    if len({id(learner) for learner in found.values()}) < len(found):
        raise invalid("learners", "different objects, because each learns in its own way", learners)
    kinds = {_is_regressor(learner) for learner in found.values()}
    if len(kinds) > 1 or (task is not None and kinds != {task == "regression"}):
        wanted = "" if task is None else " of numbers" if task == "regression" else " of labels"
        raise invalid("learners", f"learners for the same task{wanted}", learners)
    return found


def task_for(learners: Any) -> str | None:
    """The task that these learners are for, as `read` takes it; None if it follows from the data."""
    if learners is None:
        return None
    values = learners.values() if isinstance(learners, Mapping) else learners
    kinds = [learner_named(each) for each in values] if not isinstance(learners, (str, bytes)) else []
    if any(getattr(kind, "role", "") == "regressor" for kind in kinds):
        return "regression"
    return _task_by_labels(kinds)


def task_of_entries(entries: Sequence[Entry]) -> str:
    """The task that the learners of a race have."""
    return "regression" if entries[0].regression else _task_by_labels([each.learner for each in entries]) or "classes"


def _task_by_labels(kinds: Sequence[Any]) -> str | None:
    """What learners of labels have in common, if they have."""
    many = {bool(getattr(kind, "many_labels", False)) for kind in kinds}
    return None if len(many) != 1 else "classes" if many == {True} else "binary"


def _is_regressor(learner: Any) -> bool:
    return getattr(learner, "role", "") == "regressor"


def learner_named(given: Any) -> Any:
    """What is given as a learner, or the class of that name."""
    if not isinstance(given, str):
        return given
    kind = by_command_name(given)
    if kind is None or not makes_itself(kind):
        known = sorted([*classifier_names(), *regressor_names()])
        raise invalid("learners", f"names of learners, which are {', '.join(known)}; or learners", given)
    return kind


def _named(given: Any) -> str:
    if isinstance(given, type):
        return given.__name__
    return called(given) if hasattr(given, "parameters") else type(given).__name__


def _made(given: Any, labels: Any) -> Any:
    """The learner itself, or one of that name or class."""
    kind = learner_named(given)
    if isinstance(kind, type):
        try:
            kind = kind() if getattr(kind, "role", "") != "classifier" else kind(labels=labels)
        except TypeError:
            raise invalid("learners", f"{LEARNERS}; a class must need no arguments", given) from None
    if getattr(kind, "role", "classifier") not in ("classifier", "regressor") or not hasattr(kind, "learn_one"):
        raise invalid("learners", LEARNERS, given)
    if hasattr(type(kind), "for_play"):
        raise invalid("learners", "learners without a schema: the data is read once for all of them", given)
    return kind
