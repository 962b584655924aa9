"""afterwit predict: predict with a saved learner, without learning."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from afterwit.cli._files import distinct_files, write_labels
from afterwit.cli._progress import display
from afterwit.cli._shown import count
from afterwit.core.protocol import BLOCK
from afterwit.core.storage import load, new_file
from afterwit.errors import ModelFileError, StreamError
from afterwit.streams.libsvm import LibsvmStream


@click.command(short_help="Predict a file with a saved learner.")
@click.argument("model")
@click.argument("file")
@click.option("--predictions", metavar="OUT", help="Write the predictions to OUT, one per line.")
def predict(model: str, file: str, predictions: str | None) -> None:
    """Predict FILE (libsvm text, plain or gzip; - for standard input) with the learner saved in MODEL.

    The learner does not change. The labels in FILE are only used to count mistakes. An example whose label the
    learner does not know is predicted, but not counted.
    """
    distinct_files(MODEL=model, FILE=file, predictions=predictions)
    learner = load(model)
    _require_positions(model, learner)
    labels = learner.labels if learner.labels is not None else learner.classes
    rows = compared = mistakes = 0
    with ExitStack() as stack:
        out = stack.enter_context(new_file(predictions)) if predictions is not None else None
        reader = stack.enter_context(LibsvmStream(file).reader())
        shown = stack.enter_context(display(file, reader.size))
        while (block := reader.take(BLOCK)) is not None:
            X, y = block
            predicted = learner.predict_many(X)
            if out is not None:
                write_labels(out, predicted)
            rows += len(y)
            known = np.isin(y, [label for label in labels if isinstance(label, (int, float))])
            compared += int(np.count_nonzero(known))
            mistakes += int(np.count_nonzero(predicted[known] != y[known]))
            shown.advance_to(reader.position)
        if rows == 0:
            raise StreamError("no examples were found", path=file)
    if compared:
        error = f"error rate {mistakes / compared:.2%}"
        click.echo(f"{count(compared, 'example')}, {count(mistakes, 'mistake')}, {error}")
    if compared < rows:
        known_labels = f"neither {labels[0]} nor {labels[1]}" if len(labels) == 2 else "not one of the learner's"
        click.echo(f"not counted: {count(rows - compared, 'example')} with a label that is {known_labels}")


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
