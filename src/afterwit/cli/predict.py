"""afterwit predict: use a saved learner, without learning."""

from __future__ import annotations

from contextlib import ExitStack

import click
import numpy as np

from afterwit.cli._files import distinct_files, write_labels
from afterwit.cli._progress import display
from afterwit.errors import ModelFileError, StreamError
from afterwit.protocol import BLOCK
from afterwit.storage import load, new_file
from afterwit.streams.libsvm import LibsvmStream


@click.command(short_help="Predict a file with a saved learner.")
@click.argument("model")
@click.argument("file")
@click.option("--predictions", metavar="OUT", help="Write the predictions, one a line.")
def predict(model: str, file: str, predictions: str | None) -> None:
    """Predict FILE (libsvm text, plain or gzip; - for standard input) with the learner saved in MODEL.

    Nothing is learned. The labels in FILE are only compared with; others than the learner's two are left out of the
    comparison.
    """
    distinct_files(MODEL=model, FILE=file, predictions=predictions)
    learner = load(model)
    if learner.state()["names"] is not None:
        raise ModelFileError(f"{model}: its features have names, and those of a libsvm file are numbers")
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
            known = np.isin(y, [label for label in learner.labels if isinstance(label, (int, float))])
            compared += int(np.count_nonzero(known))
            mistakes += int(np.count_nonzero(predicted[known] != y[known]))
            shown.advance_to(reader.position)
        if rows == 0:
            raise StreamError("there is not a single example in it", path=file)
    if compared:
        click.echo(f"{compared:,} examples, {mistakes:,} mistakes, error {mistakes / compared:.2%}")
    if compared < rows:
        negative, positive = learner.labels
        others = rows - compared
        click.echo(f"{others:,} examples with a label that is neither {negative} nor {positive}: not compared")
