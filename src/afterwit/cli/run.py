"""afterwit run: learn from a file, one example at a time, and show the three numbers."""

from __future__ import annotations

import math
from contextlib import ExitStack
from functools import partial
from typing import Any, BinaryIO

import click

from afterwit.cli._examples import Examples
from afterwit.cli._files import distinct_files, write_labels
from afterwit.cli._learners import make_learner
from afterwit.cli._progress import display
from afterwit.core.protocol import HEADER, play
from afterwit.core.storage import new_file, write_model
from afterwit.errors import invalid
from afterwit.streams.libsvm import label_as_written

#: Unless asked for, a certificate is left out beyond this many non-zeros: it needs all rows in memory.
MOST_TO_REMEMBER = 20_000_000


@click.command(short_help="Learn from a file and show the three numbers.")
@click.argument("file")
@click.option(
    "--learner",
    "name",
    metavar="NAME",
    default="perceptron",
    show_default=True,
    help="What learns: perceptron, averaged-perceptron, adagrad, winnow ... A name that is none lists them all.",
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the learner, such as rate=0.5 or intercept=true. May be given several times.",
)
@click.option(
    "--labels",
    metavar="NEGATIVE,POSITIVE",
    help="The two labels. If not given they are found out from the file, and the smaller one is the negative one.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How often to learn the file. The table counts the rounds of all passes.",
)
@click.option("--model", metavar="OUT", help="Save the learner to this file.")
@click.option("--predictions", metavar="OUT", help="Write the predictions (of the last pass), one a line.")
@click.option(
    "--certificate/--no-certificate",
    default=None,
    help="Show the certificate, for which all rows are kept in memory (or do not: memory is then bounded by the "
    "largest id, unless standard input is to be learned more than once). If neither is given it is shown for up to "
    f"{MOST_TO_REMEMBER:,} non-zeros.",
)
def run(
    file: str,
    name: str,
    options: tuple[str, ...],
    labels: str | None,
    passes: int,
    model: str | None,
    predictions: str | None,
    certificate: bool | None,
) -> None:
    """Learn from FILE, one example at a time, with the perceptron or another learner.

    FILE is libsvm text, one example a line, such as "+1 3:0.5 7:1" (a label, then id:value for the features that are
    not 0); plain or gzip; - for standard input. Every example is predicted before its label is used. The table has a
    row after 1, 2, 4, 8 ... examples and at the end.
    """
    distinct_files(FILE=file, model=model, predictions=predictions)
    make_learner(name, options, (-1, 1))
    with ExitStack() as files:
        # Places for the results first: a typo in a path must not cost a long run.
        model_file = files.enter_context(new_file(model)) if model is not None else None
        prediction_file = files.enter_context(new_file(predictions)) if predictions is not None else None
        remember = {None: MOST_TO_REMEMBER, True: None, False: 0}[certificate]
        examples = Examples(file, _two_labels(labels), remember, lambda: _empty(prediction_file))
        if passes > 1 and not examples.rereadable:
            examples.remember_all()
        learner = make_learner(name, options, examples.labels)
        negative, positive = examples.labels
        with display(examples.stream.name, None if examples.size is None else passes * examples.size) as shown:
            examples.on_bytes = shown.advance_to
            shown.line(f"{name} on {examples.stream.name}, labels {negative} and {positive}\n")
            shown.line(HEADER)
            play(
                learner,
                examples,
                passes=passes,
                predictions=partial(write_labels, prediction_file) if prediction_file is not None else False,
                on_point=lambda point: shown.line(str(point)),
            )
        if model_file is not None:
            write_model(learner, model_file)
    # The results are safe by now, whatever happens while looking back.
    if certificate is not False:
        _show_certificate(learner, examples)


def _show_certificate(learner: Any, examples: Examples) -> None:
    if not learner.theorems:
        click.echo(f"\nNo certificate: {learner.no_theorem_because}.")
        return
    kept = examples.remembered
    if kept is None:
        click.echo(
            f"\nNo certificate: it needs all rows in memory, and there are more than {MOST_TO_REMEMBER:,} non-zeros. "
            f"Ask for it with --certificate."
        )
        return
    with display("looking back for the best comparator", None):
        found = learner.certificate(*kept)
    click.echo(f"\n{found}")


def _two_labels(text: str | None) -> tuple[Any, Any] | None:
    if text is None:
        return None
    try:
        negative, positive = (float(part) for part in text.split(","))
    except ValueError:
        raise invalid("--labels", "two numbers with a comma between them, such as -1,1", text) from None
    if negative == positive or not (math.isfinite(negative) and math.isfinite(positive)):
        raise invalid("--labels", "two different numbers", text)
    return label_as_written(negative), label_as_written(positive)


def _empty(file: BinaryIO | None) -> None:
    if file is not None:
        file.seek(0)
        file.truncate()
