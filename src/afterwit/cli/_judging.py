"""Predicting all rows of a stream without learning, and judging the predictions by the labels that are there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterwit.cli._results import Results
from afterwit.core.certificate import shown_number
from afterwit.core.protocol import BLOCK
from afterwit.errors import counted


@dataclass
class Judged:
    """What came of the predictions."""

    labels: tuple[Any, ...]
    regression: bool
    rows: int = 0
    compared: int = 0
    unlabelled: int = 0
    mistakes: int = 0
    squares: float = 0.0
    sizes: float = 0.0
    log_loss: float | None = None
    #: The first predictions, for who asked for no file of them.
    first: list[Any] = field(default_factory=list)

    def lines(self) -> list[str]:
        """What is printed."""
        rest = self.rows - self.compared - self.unlabelled
        without = [f"without a label: {counted(self.unlabelled, 'example')}"] if self.unlabelled else []
        if self.regression:
            lines = []
            if self.compared:
                rmse = shown_number(math.sqrt(self.squares / self.compared))
                mean = shown_number(self.sizes / self.compared)
                lines.append(f"{counted(self.compared, 'example')}, RMSE {rmse}, mean absolute error {mean}")
            return [*lines, *without]
        lines = []
        if self.compared:
            error = f"error rate {self.mistakes / self.compared:.2%}"
            loss = "" if self.log_loss is None else f", log loss {self.log_loss / self.compared:.4g} per example"
            lines.append(f"{counted(self.compared, 'example')}, {counted(self.mistakes, 'mistake')}, {error}{loss}")
        if rest:
            two = len(self.labels) == 2
            known = f"neither {self.labels[0]} nor {self.labels[1]}" if two else "not one of the learner's"
            lines.append(f"not counted: {counted(rest, 'example')} with a label that is {known}")
        return [*lines, *without]

    def so_far(self) -> str:
        """The error of those that were compared, in a few words."""
        if not self.compared:
            return ""
        if self.regression:
            return f"RMSE {shown_number(math.sqrt(self.squares / self.compared))}"
        return f"error {self.mistakes / self.compared:.2%}"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers: ready for JSON."""
        found: dict[str, Any] = {"rows": self.rows, "compared": self.compared, "unlabelled": self.unlabelled}
        if self.regression:
            mean = self.compared or 1
            return {**found, "rmse": math.sqrt(self.squares / mean), "mean_absolute_error": self.sizes / mean}
        found |= {"mistakes": self.mistakes, "error": self.mistakes / self.compared if self.compared else None}
        if self.log_loss is not None:
            found["log_loss"] = (
                self.log_loss / self.compared if self.compared and math.isfinite(self.log_loss) else None
            )
        return found


#: How many predictions are kept to be shown.
FIRST = 10


def judge(
    learner: Any, reader: Any, results: Results, limit: int | None, on_block: Callable[[Judged, int], None]
) -> Judged:
    """Predict the rows of a reader, write what was asked for, and compare with the labels that are known."""
    regression = getattr(learner, "role", "") == "regressor"
    labels = () if regression else tuple(learner.labels if learner.labels is not None else learner.classes)
    judged = Judged(labels, regression)
    if results.probabilities is not None:
        judged.log_loss = 0.0
    while (room := BLOCK if limit is None else min(BLOCK, limit - judged.rows)) > 0:
        block = reader.take(room)
        if block is None:
            break
        X, y = block
        predicted = learner.predict_many(X)
        results.write_predictions(predicted)
        if results.scores is not None:
            results.write_scores(learner.score_many(X), labels)
        table = None
        if results.probabilities is not None:
            table = learner.predict_proba_many(X)
            results.write_probabilities(table, labels)
        judged.rows += len(predicted)
        judged.first += predicted[: FIRST - len(judged.first)].tolist()
        if y is None:
            judged.unlabelled += len(predicted)
        else:
            _compare(judged, predicted, y, table)
        on_block(judged, reader.position)
    return judged


def _compare(judged: Judged, predicted: Any, y: Any, table: Any) -> None:
    if judged.regression:
        errors = np.asarray(predicted, dtype=np.float64) - np.asarray(y, dtype=np.float64)
        judged.compared += len(errors)
        judged.squares += float((errors**2).sum())
        judged.sizes += float(np.abs(errors).sum())
        return
    own = {label: place for place, label in enumerate(judged.labels)}
    places = np.array([own.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)
    known = places >= 0
    judged.compared += int(np.count_nonzero(known))
    same = np.asarray(predicted, dtype=object)[known] == np.asarray(y, dtype=object)[known]
    judged.mistakes += int(np.count_nonzero(~same.astype(bool)))
    if table is not None and judged.log_loss is not None:
        with np.errstate(divide="ignore"):
            judged.log_loss -= float(np.log(table[np.flatnonzero(known), places[known]]).sum())
