"""afterwit run: learn from a file, one example at a time, and print a certificate."""

from __future__ import annotations

import inspect
import math
from contextlib import ExitStack
from functools import partial
from typing import Any, BinaryIO

import click

from afterwit.cli._examples import Examples
from afterwit.cli._files import distinct_files, write_labels
from afterwit.cli._learners import learner_names, make_learner
from afterwit.cli._progress import display
from afterwit.cli._shown import NamesOption, first_id_option, show_certificate, show_no_certificate, verbose_option
from afterwit.core.files import new_file
from afterwit.core.protocol import HEADER, play
from afterwit.core.registry import many_label_names, regressor_names
from afterwit.core.regression_record import HEADER as REGRESSION_HEADER
from afterwit.core.storage import write_model
from afterwit.errors import invalid
from afterwit.streams.libsvm import label_as_written

#: Beyond this many non-zero values a certificate is computed only on request: it needs all rows in memory.
MOST_TO_REMEMBER = 20_000_000


@click.command(short_help="Learn from a file, then print the certificate.")
@click.argument("file")
@click.option(
    "--learner",
    "name",
    cls=NamesOption,
    names=learner_names,
    metavar="NAME",
    default="committee",
    show_default=True,
    help="The learner. One of:",
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the learner, such as rate=0.5 or intercept=true. Can be repeated.",
)
@click.option(
    "--labels",
    metavar="NEGATIVE,POSITIVE",
    help="The two labels. Default: detected from the file; the smaller one is the negative label. For a learner of "
    "many labels: all that may come. Default: any.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The number of passes over the file. The table counts the rounds of all passes.",
)
@click.option("--model", metavar="OUT", help="Save the learner to OUT.")
@click.option("--predictions", metavar="OUT", help="Write the predictions of the last pass to OUT, one per line.")
@click.option(
    "--certificate/--no-certificate",
    default=None,
    help="Print the certificate. It needs all examples in memory; without it, memory use depends only on the largest "
    "feature id (several passes over standard input always keep the examples). Default: print it for up to "
    f"{MOST_TO_REMEMBER:,} non-zero values.",
)
@first_id_option
@verbose_option
def run(
    file: str,
    name: str,
    options: tuple[str, ...],
    labels: str | None,
    passes: int,
    model: str | None,
    predictions: str | None,
    certificate: bool | None,
    first_id: int | None,
    verbose: bool,
) -> None:
    """Learn from FILE, one example at a time.

    FILE is libsvm text, plain, gzip or zstd, or - for standard input. Each line is one example, such as "+1 3:0.5 7:1":
    the label, then id:value for every feature that is not 0. The learner predicts each example before it sees the
    label. The table has a row after 1, 2, 4, 8, ... examples and at the end. Then comes the certificate: the mistakes
    or the loss beside a proved bound, and beside the best result that was possible in hindsight. To a learner of
    numbers, such as online-ridge, the label is the number to predict.
    """
    distinct_files(FILE=file, model=model, predictions=predictions)
    make_learner(name, options, (-1, 1))
    many, numbers = name in many_label_names(), name in regressor_names()
    if numbers and labels is not None:
        raise invalid("--labels", f"left out, because {name} predicts numbers", labels)
    with ExitStack() as files:
        # Open the result files first: a typo in a path must not cost a long run.
        model_file = files.enter_context(new_file(model)) if model is not None else None
        prediction_file = files.enter_context(new_file(predictions)) if predictions is not None else None
        remember = {None: MOST_TO_REMEMBER, True: None, False: 0}[certificate]
        given = _labels_written(labels, many)
        examples = Examples(file, given, remember, lambda: _empty(prediction_file), first_id, many or numbers)
        if passes > 1 and not examples.rereadable:
            examples.remember_all()
        learner = make_learner(name, options, examples.labels)
        with display(examples.stream.name, None if examples.size is None else passes * examples.size) as shown:
            examples.on_bytes = shown.advance_to
            what = "predicting numbers" if numbers else f"labels {_shown_labels(examples.labels)}"
            shown.line(f"{name} on {examples.stream.name}, {what}\n")
            shown.line(REGRESSION_HEADER if numbers else HEADER)
            record = play(
                learner,
                examples,
                passes=passes,
                predictions=partial(write_labels, prediction_file) if prediction_file is not None else False,
                on_point=lambda point: shown.line(str(point)),
            )
            for line in record.last_lines():
                shown.line(line)
        if model_file is not None:
            write_model(learner, model_file)
    # The result files are complete by now, whatever happens to the certificate.
    if certificate is not False:
        click.echo()
        _show_certificate(record, learner, examples, verbose)


def _show_certificate(record: Any, learner: Any, examples: Examples, verbose: bool) -> None:
    if not learner.theorems:
        show_no_certificate(learner.no_theorem_because)
        return
    if not examples.complete and not _needs_rounds(learner):
        show_certificate(learner.certificate(), verbose)
        return
    if not examples.complete:
        show_no_certificate(
            f"it needs all examples in memory, and there are more than {MOST_TO_REMEMBER:,} non-zero values. "
            "Use --certificate to compute it anyway"
        )
        return
    # This pass only reads: it must not touch the predictions and the bar of the run.
    examples.on_pass, examples.on_bytes = _nothing, _nothing
    with display("computing the certificate", None):
        found = record.certificate()
    show_certificate(found, verbose)


def _needs_rounds(learner: Any) -> bool:
    """Whether a certificate needs the examples: those of committees can be had without."""
    return inspect.signature(learner.certificate).parameters["X"].default is inspect.Parameter.empty


def _labels_written(text: str | None, many: bool) -> tuple[Any, ...] | None:
    """The labels of the option: two of them, or for a learner of many labels two or more."""
    if text is None:
        return None
    two, several = (
        "two numbers separated by a comma, such as -1,1",
        "two or more numbers separated by commas, such as 1,2,3",
    )
    try:
        labels = [float(part) for part in text.split(",")]
    except ValueError:
        labels = []
    if len(labels) < 2 or (len(labels) > 2 and not many):
        raise invalid("--labels", several if many else two, text)
    if len(set(labels)) < len(labels) or not all(map(math.isfinite, labels)):
        raise invalid("--labels", "different numbers" if many else "two different numbers", text)
    return tuple(map(label_as_written, labels))


def _shown_labels(labels: tuple[Any, ...] | None) -> str:
    if labels is None:
        return "as they come"
    return f"{', '.join(map(str, labels[:-1]))} and {labels[-1]}"


def _nothing(*_: int) -> None:
    """For a pass that nobody watches."""


def _empty(file: BinaryIO | None) -> None:
    if file is not None:
        file.seek(0)
        file.truncate()
