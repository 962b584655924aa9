"""afterwit predict: predict with a saved learner or expert algorithm, without learning."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from afterwit.cli._advice import (
    advice_of,
    naming_lines,
    require_rows,
    row_names,
    show_forecasts,
    split_names,
    write_forecasts,
)
from afterwit.cli._files import distinct_files, write_labels
from afterwit.cli._progress import display
from afterwit.cli._shown import first_id_option
from afterwit.core.certificate import shown_number
from afterwit.core.files import new_file
from afterwit.core.probabilities import refusal
from afterwit.core.protocol import BLOCK
from afterwit.core.storage import load
from afterwit.errors import ModelFileError, StreamError, Words, counted, invalid, shorten
from afterwit.streams.libsvm import LibsvmStream
from afterwit.streams.table import read_table


@click.command(short_help="Predict a file with a saved learner.")
@click.argument("model")
@click.argument("file")
@click.option(
    "--predictions",
    metavar="OUT",
    help="Write the predictions to OUT, one per line; forecasts as CSV, with the index.",
)
@click.option(
    "--probabilities",
    metavar="OUT",
    help="Write the probability of each label to OUT as CSV, and show the log loss. The learner needs logistic loss.",
)
@click.option(
    "--index",
    metavar="A,B,...",
    help="For a table of forecasts: the columns that name the rows. Default: the first column, if it is no expert.",
)
@first_id_option
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="The most memory that the model may take. Default: 256 MiB, or a hundred times the size of the file.",
)
def predict(
    model: str,
    file: str,
    predictions: str | None,
    probabilities: str | None,
    index: str | None,
    first_id: int | None,
    max_bytes: int | None,
) -> None:
    """Predict FILE (plain or gzip; - for standard input) with the learner saved in MODEL.

    If MODEL comes from "afterwit run", FILE is libsvm text. Its labels are only used to count mistakes. An example
    whose label the learner does not know is predicted, but not counted. To a learner of numbers the labels are the
    numbers it should predict: the errors are measured by them. If MODEL comes from "afterwit experts", FILE is
    CSV with a header and has a column for each expert of the model. The learner does not change.
    """
    distinct_files(MODEL=model, FILE=file, predictions=predictions, probabilities=probabilities)
    learner = load(model, max_bytes)
    role = getattr(learner, "role", "classifier")
    if role == "experts":
        if first_id is not None:
            raise invalid("--first-id", "left out, because the model takes a table of forecasts", first_id)
        if probabilities is not None:
            raise invalid("--probabilities", "left out, because the model makes forecasts", probabilities)
        _forecast(model, learner, file, predictions, split_names("--index", index))
        return
    if index is not None:
        raise invalid("--index", "left out, because the model takes libsvm text", index)
    if role == "decisions":
        raise ModelFileError(
            f"{model}: a model of examples or of forecasts was expected; this {type(learner).__name__} chooses paths"
        )
    _require_positions(model, learner)
    _require_numbering(model, learner, first_id)
    if role == "regressor":
        if probabilities is not None:
            raise invalid("--probabilities", "left out, because the model predicts numbers", probabilities)
        _predict_numbers(learner, file, predictions, first_id)
        return
    labels = learner.labels if learner.labels is not None else learner.classes
    odds = None if probabilities is None else _Probabilities(model, learner)
    rows = compared = mistakes = 0
    with ExitStack() as stack:
        out = stack.enter_context(new_file(predictions)) if predictions is not None else None
        odds_out = stack.enter_context(new_file(probabilities)) if probabilities is not None else None
        reader = stack.enter_context(LibsvmStream(file, first_id).reader())
        shown = stack.enter_context(display(file, reader.size))
        while (block := reader.take(BLOCK)) is not None:
            X, y = block
            predicted = learner.predict_many(X)
            if out is not None:
                write_labels(out, predicted)
            if odds is not None and odds_out is not None:
                odds_out.write(odds.lines(X, y).encode())
            rows += len(y)
            known = np.isin(y, [label for label in labels if isinstance(label, (int, float))])
            compared += int(np.count_nonzero(known))
            mistakes += int(np.count_nonzero(predicted[known] != y[known]))
            shown.advance_to(reader.position)
        if rows == 0:
            raise StreamError("no examples were found", path=file)
    if compared:
        error = f"error rate {mistakes / compared:.2%}"
        loss = "" if odds is None else f", log loss {odds.loss / compared:.4g} per example"
        click.echo(f"{counted(compared, 'example')}, {counted(mistakes, 'mistake')}, {error}{loss}")
    if compared < rows:
        known_labels = f"neither {labels[0]} nor {labels[1]}" if len(labels) == 2 else "not one of the learner's"
        click.echo(f"not counted: {counted(rows - compared, 'example')} with a label that is {known_labels}")


def _predict_numbers(learner: Any, file: str, predictions: str | None, first_id: int | None) -> None:
    """Predict the number of every example; the numbers in the file are only used to measure the errors."""
    rows, squares, sizes = 0, 0.0, 0.0
    with ExitStack() as stack:
        out = stack.enter_context(new_file(predictions)) if predictions is not None else None
        reader = stack.enter_context(LibsvmStream(file, first_id).reader())
        shown = stack.enter_context(display(file, reader.size))
        while (block := reader.take(BLOCK)) is not None:
            predicted = learner.predict_many(block[0])
            if out is not None:
                write_labels(out, predicted)
            errors = predicted - block[1]
            rows += len(errors)
            squares += float((errors**2).sum())
            sizes += float(np.abs(errors).sum())
            shown.advance_to(reader.position)
        if rows == 0:
            raise StreamError("no examples were found", path=file)
    rmse, mean = shown_number(math.sqrt(squares / rows)), shown_number(sizes / rows)
    click.echo(f"{counted(rows, 'example')}, RMSE {rmse}, mean absolute error {mean}")


class _Probabilities:
    """The probabilities of all labels as lines of CSV, and the log loss of the labels that came."""

    def __init__(self, model: str, learner: Any) -> None:
        if not getattr(learner, "gives_probabilities", False):
            raise ModelFileError(f"{model}: {refusal(getattr(learner, 'learner', learner))}")
        self.learner, self.labels = learner, learner.classes if learner.many_labels else learner.labels
        self.head = ",".join(map(str, self.labels)) + "\n"
        self.loss = 0.0

    def lines(self, X: Any, y: Any) -> str:
        table = self.learner.predict_proba_many(X)
        for place, label in enumerate(self.labels):
            with np.errstate(divide="ignore"):
                self.loss -= float(np.log(table[np.asarray(y) == label, place]).sum())
        head, self.head = self.head, ""
        return head + "".join(",".join(map(repr, row)) + "\n" for row in table.tolist())


def _forecast(model: str, learner: Any, file: str, predictions: str | None, index: list[str]) -> None:
    """Forecast a table of advice: each row as if it came next."""
    named = bool(learner.state()["names"])
    experts = [str(name) for name in learner.experts]
    if set(experts) & set(index):
        raise invalid("--index", "columns other than the experts", Words(",".join(index)))
    with ExitStack() as stack:
        out = stack.enter_context(new_file(predictions)) if predictions is not None else None
        table = read_table(file, experts if named else None, texts=index or None, without=index)
        require_rows(table)
        if not named:
            if len(table.names) != len(experts):
                found = f"found {len(table.names)}: {shorten(Words(', '.join(table.names)), 200)}"
                columns = f"{counted(len(experts), 'numeric column')}, one for each expert of {model}"
                reason = f"a table with {columns}, was expected; {found}"
                raise StreamError(reason, path=table.name)
            experts = list(table.names)
        advice = advice_of(table, experts)
        forecasts = np.full(len(advice), np.nan)
        awake = np.flatnonzero(~np.isnan(advice).all(axis=1))
        with naming_lines(table, awake):
            forecasts[awake] = learner.predict_many(advice[awake])
        rows = row_names(table, experts)
        if out is not None:
            write_forecasts(out, rows, forecasts)
    what = f"{counted(len(advice), 'forecast')} by {type(learner).__name__}"
    click.echo(f"{what}, which has learned {counted(learner.rounds, 'round')} of {counted(len(experts), 'expert')}")
    if out is None:
        show_forecasts(rows, range(len(advice)), forecasts)


def _require_numbering(model: str, learner: Any, first_id: int | None) -> None:
    """Refuse to guess how the ids of a file and the columns that the model has learned belong together."""
    state = learner.state()
    if first_id is None and not _by_id(state) and _has_learned(state):
        raise ModelFileError(
            f"{model}: has learned from arrays, whose columns are counted from 0; say with --first-id 0 or --first-id 1"
            " which id is that of the first column (0 for a model of afterwit run that an earlier version has saved)"
        )
    if first_id is not None and _by_id(state):
        raise ModelFileError(f"{model}: has learned the ids of libsvm text; leave out --first-id {first_id}")


def _parts(state: Any) -> list[Any]:
    """The states of the learners inside a learner, or its own."""
    return [each for name in ("learners", "members") for each in state.get(name, ())] or [state]


def _by_id(state: Any) -> bool:
    return any(each.get("by_id", False) for each in _parts(state))


def _has_learned(state: Any) -> bool:
    """Whether some learner has learned something of columns."""
    kept = ("weights", "coefficients")
    return any(each.get("rounds", 0) > 0 and any(name in each for name in kept) for each in _parts(state))


def _require_positions(model: str, learner: Any) -> None:
    """Refuse a learner whose examples were not rows of numbered features."""
    state = learner.state()
    for each in state.get("learners", [state]):
        if each.get("names") is not None or each.get("form") == "named":
            raise ModelFileError(
                f"{model}: the features of this model have names, but the features of a libsvm file are numbers"
            )
        if each.get("form") in ("texts", "objects"):
            kind = "strings" if each["form"] == "texts" else "Python objects"
            raise ModelFileError(f"{model}: this model takes {kind}, but a libsvm file has rows of numbers")
