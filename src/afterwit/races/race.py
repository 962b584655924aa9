"""Several learners side by side on the same rounds, each from its beginning, in one pass over the data.

>>> from afterwit.adversaries import unit_vectors
>>> found = race(unit_vectors(6), ["perceptron", "sgd"])
>>> print(found.winner.name, found.winner.record.mistakes)
sgd 1
>>> row = found.leaderboard()[1]
>>> row["learner"], row["bound"], row["error"], row["hindsight"]
('perceptron', 1.0, 1.0, 0.0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.core import html
from afterwit.core.aligned import aligned
from afterwit.core.certificate import shown_number
from afterwit.core.pictured import Pictured
from afterwit.core.protocol import examples_of, labels_beforehand, stream_of, takes_objects
from afterwit.core.rates import about_errors, bound_rate, hindsight_rate
from afterwit.errors import InputError, Words, counted, invalid, shorten
from afterwit.races.entries import Entry, entry_of, learners_of, run, task_for, task_of_entries
from afterwit.streams.read import read
from afterwit.streams.target import different, labels_in, pair_of, task_of

#: How many learners a notebook shows, the best ones.
MOST_SHOWN = 12

#: How wide a column of numbers is at least.
NARROWEST = 12


def race(
    source: Any,
    learners: Any = None,
    target: str | None = None,
    *,
    y: Any = None,
    certificates: bool = True,
    **reading: Any,
) -> Race:
    """Let learners play the same rounds side by side, each from its beginning, and keep the `Race`.

    source        what `read` takes: a path, a query, a DataFrame, a list of dicts, ...; a stream; an iterable of
                  (x, y); or the examples X, if their labels are given as y
    learners      names, classes or learners, in a sequence or in a dict by the names that they are to have. Learners
                  are used, not copied. If not given, the usual ones for the task
    target        the column to predict, as `read` takes it
    y             the labels of the examples X
    certificates  whether to make the certificate of each. Data that is larger than memory is read again for it
    reading       options of `read`

    The data is read once, and every block goes to all learners. Each of them is in the same state afterwards as if it
    had played alone, bit for bit. A learner that diverges is out of the race. An example whose label is None is not
    learned: it is no round.

    The best one afterwards is no promise: choosing it while it learns is what a committee does.
    """
    with at_the_start(source, learners, target, y, reading) as (stream, task, entries):
        made = Race(named(stream), task, entries, run(entries, stream))
        if certificates:
            made.certify(stream)
    return made


@contextmanager
def at_the_start(
    source: Any, learners: Any, target: str | None, y: Any, reading: dict[str, Any]
) -> Iterator[tuple[Any, str, list[Entry]]]:
    """The stream of a race, its task, and the learners before the first round."""
    with _opened(source, y, learners, target, reading) as stream:
        task, labels = _purpose(stream, learners)
        found = learners_of(learners, task, labels)
        entries = [entry_of(name, learner, stream_of(learner, stream)) for name, learner in found.items()]
        yield stream, task or task_of_entries(entries), entries


def named(stream: Any) -> str:
    """What a stream is called."""
    return str(getattr(stream, "name", "the examples"))


@dataclass(eq=False, repr=False)
class Race(Pictured):
    """What happened when several learners played the same rounds. It prints the leaderboard.

    source      what was played, as messages call it
    task        "binary", "classes" or "regression"
    entries     the learners, the best one first: each with ``name``, ``learner``, ``record``, ``error``, ``log_loss``,
                ``seconds_per_example``, ``certificate``, and ``stopped``, which says why it is out of the race
    unlabelled  how many examples had no label
    """

    source: str
    task: str
    entries: Sequence[Entry]
    unlabelled: int = 0

    def __post_init__(self) -> None:
        # Those that are level stay in the order in which they were given.
        self.entries = tuple(sorted(self.entries, key=lambda entry: entry.error))

    def certify(self, stream: Any) -> None:
        """Make the certificates; of large data, ``stream`` is read again."""
        for entry in self.entries:
            entry.certify(stream)

    @property
    def rounds(self) -> int:
        """How many rounds were played."""
        return max(int(entry.record.rounds) for entry in self.entries)

    @property
    def winner(self) -> Entry | None:
        """The one with the least error; None if all had to stop."""
        return None if self.entries[0].stopped else self.entries[0]

    @property
    def metric(self) -> str:
        """What is compared: the error, or the root mean squared error."""
        return "RMSE" if self.task == "regression" else "error"

    def leaderboard(self) -> list[dict[str, Any]]:
        """A row for each learner, the best one first, as plain data: ready for a DataFrame.

        ``error`` is mistakes per round, ``rmse`` is there in its place for numbers; so are ``bound`` and ``hindsight``,
        where there are some.
        """
        rows = []
        for entry in self.entries:
            made = None if entry.certificate is None else about_errors(entry.certificate, entry.regression)
            rows.append(
                {
                    **_figures(entry),
                    "bound": None if made is None else bound_rate(made),
                    "hindsight": None if made is None else hindsight_rate(made),
                    "verdict": None if entry.certificate is None else str(entry.certificate.verdict),
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts: ready for JSON."""
        learners = [
            {
                **_figures(entry),
                "curve": [vars(point) for point in entry.record.curve],
                "certificate": None if entry.certificate is None else entry.certificate.to_dict(),
            }
            for entry in self.entries
        ]
        return {
            "source": self.source,
            "task": self.task,
            "rounds": self.rounds,
            "unlabelled": self.unlabelled,
            "learners": learners,
        }

    def headline(self) -> str:
        """What was played."""
        return f"{counted(len(self.entries), 'learner')} on {self.source}, {counted(self.rounds, 'round')}"

    def result(self) -> str:
        """Who won, in a sentence."""
        learners, rounds = counted(len(self.entries), "learner"), counted(self.rounds, "round")
        best = "all of them stopped"
        if self.winner is not None:
            best = f"{self.winner.name} is the best one, {self.metric} {self.shown(self.winner)}"
        return f"{learners}, {rounds}; {best}."

    def rows(self) -> list[list[str]]:
        """The leaderboard in words: the heads, and a row for each learner."""
        logs = any(entry.log_loss is not None for entry in self.entries)
        table = [["learner", self.metric, *(["log loss"] if logs else []), "time/example"]]
        for entry in self.entries:
            log_loss = "-" if entry.log_loss is None else f"{entry.log_loss:.4f}"
            each = entry.seconds_per_example
            took = "-" if each is None else f"{1e6 * each:,.2f} µs"
            table.append([entry.name, self.shown(entry), *([log_loss] if logs else []), took])
        return table

    def shown(self, entry: Entry) -> str:
        """The error of a learner as it is printed."""
        if entry.stopped:
            return "stopped"
        return shown_number(entry.error) if entry.regression else f"{entry.error:.2%}"

    def __str__(self) -> str:
        stopped = [f"{entry.name} stopped: {entry.stopped}" for entry in self.entries if entry.stopped]
        return "\n".join([self.headline(), "", *aligned(self.rows(), NARROWEST), *stopped])

    def _repr_html_(self) -> str:
        heads, *rows = self.rows()
        shown = [
            (shorten(Words(name), 40), [", ".join(map(" ".join, zip(heads[1:], numbers, strict=True)))])
            for name, *numbers in rows
        ]
        left = [("", [f"and {len(shown) - MOST_SHOWN:,} more"])] if len(shown) > MOST_SHOWN else []
        return html.block(self.headline(), [*shown[:MOST_SHOWN], *left])

    def __repr__(self) -> str:
        won = "all stopped" if self.winner is None else f"{self.winner.name} won, {self.shown(self.winner)}"
        return f"<race: {self.headline()}; {won}>"


def _figures(entry: Entry) -> dict[str, Any]:
    each = entry.seconds_per_example
    return {
        "learner": entry.name,
        "rounds": entry.record.rounds,
        "rmse" if entry.regression else "error": None if entry.stopped else entry.error,
        "log_loss": entry.log_loss,
        "microseconds_per_example": None if each is None else 1e6 * each,
        "stopped": entry.stopped or None,
    }


# ---------------------------------------------------------------------- what is played


def _opened(source: Any, y: Any, learners: Any, target: str | None, reading: dict[str, Any]) -> Any:
    """The source as a stream, or as pairs; what was opened here is closed at the end."""
    is_stream = hasattr(source, "reader") or (y is None and _is_of_pairs(source))
    given = {"target": target, **reading}
    if y is None and not is_stream:
        return read(source, target, **{"task": task_for(learners), **reading})
    name, value = next(((name, value) for name, value in given.items() if value is not None), ("", None))
    if name:
        what = "a stream, which has its labels" if is_stream else "examples whose labels are given as y"
        raise invalid(name, f"left out for {what}", value)
    if y is None:
        return nullcontext(source)
    if is_stream:
        raise invalid("y", "left out for a stream, which has its labels", Words("labels"))
    return nullcontext(_examples(source, y, learners))


def _is_of_pairs(source: Any) -> bool:
    """Whether it is an iterable of (x, y), and nothing that `read` takes."""
    if isinstance(source, (list, tuple)):
        return bool(source) and isinstance(source[0], (list, tuple))
    known = ("columns", "dtype", "__fspath__")
    is_other = isinstance(source, (str, bytes, Mapping)) or any(hasattr(source, name) for name in known)
    return isinstance(source, Iterable) and not is_other


def _examples(X: Any, y: Any, learners: Any) -> Any:
    """Examples and labels as a stream that all learners take."""
    given = learners.values() if isinstance(learners, Mapping) else learners
    return examples_of(X, y, any(map(takes_objects, given if isinstance(given, Iterable) else ())))


def _purpose(stream: Any, learners: Any) -> tuple[str | None, Any]:
    """The task, None if the learners decide it, and the labels, None if they are not known beforehand."""
    if hasattr(stream, "schema"):
        if stream.task is None:
            raise _nothing_to_learn(stream)
        # Learners of many labels may learn two.
        return (stream.task if learners is None or stream.task == "regression" else None), stream.labels
    labels = labels_beforehand(stream)
    if labels is None:
        if learners is None:
            raise invalid("learners", "given for a stream whose labels cannot be looked at beforehand", learners)
        return None, None
    labels = labels_in(labels) if isinstance(labels, np.ndarray) else labels
    known = [label for label in different(labels, []) if label is not None]
    pair = pair_of(known, "") if len(known) == 2 and len(set(map(type, known))) == 1 else None
    return (task_of(known) if learners is None else None), pair


def _nothing_to_learn(stream: Any) -> InputError:
    columns = stream.schema.columns
    if columns is None:
        return InputError(f"{stream.name}: no example has a label")
    return invalid("target", f"a column to predict: {', '.join(rule.name for rule in columns[:30])}", Words("none"))
