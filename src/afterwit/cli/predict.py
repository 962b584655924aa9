"""afterwit predict: use a saved learner, without learning."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from afterwit.cli._files import distinct_files, write_labels
from afterwit.cli._progress import display
from afterwit.core.protocol import BLOCK
from afterwit.core.storage import load, new_file
from afterwit.errors import ModelFileError, StreamError
from afterwit.streams.libsvm import LibsvmStream


@click.command(short_help="Predict a file with a saved learner.")
@click.argument("model")
@click.argument("file")
@click.option("--predictions", metavar="OUT", help="Write the predictions, one a line.")
def predict(model: str, file: str, predictions: str | None) -> None:
    """Predict FILE (libsvm text, plain or gzip; - for standard input) with the learner saved in MODEL.

    Nothing is learned. The labels in FILE are only compared with; others than the learner's are left out of the
    comparison.
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
            raise StreamError("there is not a single example in it", path=file)
    if compared:
        click.echo(f"{compared:,} examples, {mistakes:,} mistakes, error {mistakes / compared:.2%}")
    if compared < rows:
        others = rows - compared
        wanted = f"neither {labels[0]} nor {labels[1]}" if len(labels) == 2 else "none of the learner's"
        click.echo(f"{others:,} examples with a label that is {wanted}: not compared")


def _require_positions(model: str, learner: Any) -> None:
    """Refuse a learner whose examples were not rows of numbered features."""
    state = learner.state()
    for each in state.get("learners", [state]):
        if each.get("names") is not None or each.get("form") == "named":
            raise ModelFileError(f"{model}: its features have names, and those of a libsvm file are numbers")
        if each.get("form") in ("texts", "objects"):
            raise ModelFileError(f"{model}: its examples are not rows of numbers, as those of a libsvm file are")
