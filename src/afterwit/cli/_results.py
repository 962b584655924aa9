"""Results that are written row by row: predictions, scores and probabilities, to files or to standard output."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

import click
import numpy as np

from afterwit.cli._files import write_labels
from afterwit.core.files import new_file
from afterwit.core.probabilities import pairs, refusal
from afterwit.errors import InputError, invalid

#: The options of commands that predict rows.
RESULT_OPTIONS = (
    click.option(
        "--predictions", metavar="OUT", help="Write the predictions to OUT, one per line; - is standard output."
    ),
    click.option("--scores", metavar="OUT", help="Write the scores behind the predictions to OUT, one row per line."),
    click.option(
        "--probabilities",
        metavar="OUT",
        help="Write the probability of each label to OUT as CSV. The learner needs logistic loss.",
    ),
)


class Results:
    """The files that were asked for; what was not is None."""

    def __init__(self, predictions: BinaryIO | None, scores: BinaryIO | None, probabilities: BinaryIO | None) -> None:
        self.predictions = predictions
        self.scores = scores
        self.probabilities = probabilities
        self._headed: set[int] = set()

    @property
    def any(self) -> bool:
        return any(file is not None for file in (self.predictions, self.scores, self.probabilities))

    def restart(self) -> None:
        """Forget what was written: only the last pass counts."""
        for file in (self.predictions, self.scores, self.probabilities):
            if file is not None:
                file.seek(0)
                file.truncate()
        self._headed.clear()

    def write_predictions(self, predicted: Any) -> None:
        if self.predictions is not None:
            write_labels(self.predictions, np.asarray(predicted))

    def write_scores(self, scores: Any, labels: Any = None) -> None:
        """One score a row, or one for each label, under a header."""
        if self.scores is not None:
            scores = np.asarray(scores)
            if scores.ndim == 1:
                self.scores.write("".join(f"{score!r}\n" for score in scores.tolist()).encode())
            else:
                self._write_table(self.scores, scores, labels)

    def write_probabilities(self, table: Any, labels: Any) -> None:
        if self.probabilities is not None:
            self._write_table(self.probabilities, table, labels)

    def _write_table(self, file: BinaryIO, table: Any, labels: Any) -> None:
        head = "" if id(file) in self._headed else ",".join(map(str, labels)) + "\n"
        self._headed.add(id(file))
        file.write((head + "".join(",".join(map(repr, row)) + "\n" for row in table.tolist())).encode())


@contextmanager
def result_files(passes: int = 1, /, **paths: str | None) -> Iterator[Results]:
    """The files of these names, complete at the end or not there; at most one may be standard output."""
    streams = [name for name, path in paths.items() if path == "-"]
    if len(streams) > 1:
        raise invalid(f"--{streams[1]}", f"a file, because --{streams[0]} is written to standard output", "-")
    if streams and passes > 1:
        raise invalid(f"--{streams[0]}", "a file, because only the results of the last pass count", "-")
    with ExitStack() as stack:
        opened: dict[str, Any] = {}
        for name, path in paths.items():
            if path == "-":
                opened[name] = sys.stdout.buffer
            else:
                opened[name] = None if path is None else stack.enter_context(new_file(path))
        yield Results(**opened)
        if streams:
            sys.stdout.flush()


class WithScores:
    """A learner of two labels that also writes the scores it had before each label."""

    def __init__(self, learner: Any, results: Results) -> None:
        if not hasattr(learner, "learn_scores"):
            option = "--scores" if results.scores is not None else "--probabilities"
            raise InputError(
                f"{option} of {type(learner).__name__}: only learners of two labels have them while they learn; save "
                'the model and use "afterwit predict"'
            )
        if results.probabilities is not None and not learner.gives_probabilities:
            raise InputError(str(refusal(learner)))
        self.learner = learner
        self.results = results

    def learn_many(self, X: Any, y: Any) -> Any:
        return self._written(self.learner.learn_scores(X, y))

    def predict_many(self, X: Any) -> Any:
        return self._written(self.learner.score_many(X))

    def predict_one(self, x: Any) -> Any:
        return self.learner.predict_one(x)

    def learn_one(self, x: Any, y: Any) -> Any:
        return self.learner.learn_one(x, y)

    def _written(self, scores: Any) -> Any:
        labels = self.learner.labels
        self.results.write_scores(scores)
        if self.results.probabilities is not None:
            self.results.write_probabilities(pairs(scores), labels)
        predicted = np.empty(len(scores), dtype=object)
        predicted[:] = [labels[score >= 0] for score in scores.tolist()]
        return predicted

    def __getattr__(self, name: str) -> Any:
        return getattr(self.learner, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy writes nothing: it is of the learner alone."""
        return copy.deepcopy(self.learner, memo)
