"""afterwit run: learn from files, one example at a time, and print a certificate."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import click

from afterwit.cli._curve import CurveTable
from afterwit.cli._examples import Examples
from afterwit.cli._files import distinct_files, files_read
from afterwit.cli._judging import Judged, judge
from afterwit.cli._learners import learner_for, learner_names, make_learner, needed_task
from afterwit.cli._progress import display, error_so_far
from afterwit.cli._report import report_file, report_option
from afterwit.cli._results import RESULT_OPTIONS, Results, WithScores, result_files
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._shards import SHARD_OPTIONS, Sharding, Wanted
from afterwit.cli._shown import NamesOption, certificate_text, no_certificate_text, verbose_option
from afterwit.cli._source import COLUMN_OPTIONS, FILE_OPTIONS, Given, with_options
from afterwit.core.files import new_file
from afterwit.core.moments import needs_rounds
from afterwit.core.protocol import play
from afterwit.core.sources import FEW_ENOUGH
from afterwit.core.storage import load, save, write_model
from afterwit.errors import InputError, ModelFileError, counted, invalid
from afterwit.streams.model import Model
from afterwit.streams.read import read
from afterwit.streams.stream import Stream

#: So many non-zero values are kept at most where the source cannot be read again, or is to be learned several times.
MOST_TO_REMEMBER = 20_000_000
#: Of a source with more bytes nothing is kept.
MOST_BYTES_TO_REMEMBER = 1 << 28


@click.command(short_help="Learn from files, then print the certificate.")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option(
    "--learner",
    "name",
    cls=NamesOption,
    names=learner_names,
    metavar="NAME",
    help="The learner. Default: committee, multiclass-committee or regression-committee, by the task. One of:",
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the learner, such as rate=0.5 or intercept=true. Can be repeated.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The number of passes over the data. The table counts the rounds of all passes.",
)
@with_options(COLUMN_OPTIONS)
@click.option(
    "--group", metavar="COLUMN", help="A column such as a customer or a sensor: each of its values has its own learner."
)
@with_options(FILE_OPTIONS)
@click.option("--model", metavar="OUT", help="Save the model, which is the schema and the learner, to OUT.")
@click.option("--save-every", metavar="N", type=click.IntRange(min=1), help="Save it after every N rows too.")
@click.option("--resume", metavar="MODEL", help="Go on with the model in this file.")
@click.option(
    "--skip-learned",
    is_flag=True,
    help="With --resume: FILE begins with the rows that the model has learned. They are read and left out.",
)
@click.option("--test", metavar="FILE", help="Predict FILE at the end, without learning, and print the error.")
@with_options(RESULT_OPTIONS)
@with_options(SHARD_OPTIONS)
@click.option(
    "--certificate/--no-certificate",
    default=None,
    help="Print the certificate. It reads large files again. Default: print it if the data can be read again.",
)
@report_option
@verbose_option
@with_options(SAYING_OPTIONS)
def run(
    files: tuple[str, ...],
    name: str | None,
    options: tuple[str, ...],
    passes: int,
    model: str | None,
    save_every: int | None,
    resume: str | None,
    skip_learned: bool,
    test: str | None,
    predictions: str | None,
    scores: str | None,
    probabilities: str | None,
    certificate: bool | None,
    report: str | None,
    limit: int | None,
    verbose: bool,
    as_json: bool,
    quiet: bool,
    **more: Any,
) -> None:
    """Learn from FILE, one example at a time.

    FILE is CSV, JSON lines, Parquet, Arrow, libsvm or Vowpal Wabbit text (plain, gzip or zstd), a folder of these, a
    pattern in quotes, or - for standard input. --target names the column to predict. The learner predicts each example
    before it sees the label. The table has a row after 1, 2, 4, 8, ... examples and at the end. Then comes the
    certificate: the mistakes or the loss beside a proved bound, and beside the best result that was possible in
    hindsight.

    With --workers or --cluster the rows are in shards, on several processes or machines, and the weights are mixed
    after every epoch.
    """
    sharding = Sharding.of(more)
    source = more
    if sharding is not None:
        sharding.refuse(passes, save_every, skip_learned, predictions, scores, probabilities, limit, source)
    results = {"predictions": predictions, "scores": scores, "probabilities": probabilities}
    inputs = {"FILE": files_read(files, source["sql"]), "TEST": test, "RESUME": resume if resume != model else None}
    distinct_files(results=tuple(results), **inputs, model=model, report=report, **results)
    if save_every is not None and model is None:
        raise invalid("--save-every", "given together with --model OUT", save_every)
    if skip_learned and (resume is None or passes > 1):
        allowed = "given together with --resume" if resume is None else "left out if there are several passes"
        raise invalid("--skip-learned", allowed, True)
    if source["group"] is not None:
        for option, value in {"--scores": scores, "--probabilities": probabilities, "--report": report}.items():
            if value is not None:
                raise invalid(option, "left out with --group, because each group has a learner of its own", value)
    given = Given.of(files, source)
    voice = Voice(as_json, quiet, "-" in results.values())
    page = report_file(report)
    old = None if resume is None else _resumed(resume, name, options, given)
    if old is None and name is not None:
        make_learner(name, options, (-1, 1))
        if needed_task(name)[0] == "regression" and source["labels"] is not None:
            raise invalid("--labels", f"left out, because {name} predicts numbers", source["labels"])
    if sharding is not None:
        wanted = Wanted(name, options, model, test, certificate is not False, verbose)
        sharding.run(given, old, wanted, voice, page)
        return
    with ExitStack() as stack:
        # Open the result files first: a typo in a path must not cost a long run.
        model_file = stack.enter_context(new_file(model)) if model is not None else None
        out = stack.enter_context(result_files(passes, **results))
        stream = stack.enter_context(_opened(given, old, name))
        if stream.task is None:
            raise nothing_to_learn(stream, given)
        remember = 0 if certificate is False else to_remember(stream, passes)
        learner, own = learner_for(stream, name, options) if old is None else _inside(old)
        whole = old if old is not None else whole_model(stream, learner)
        on_rows = None if model is None else _saver(whole, model)
        before = learner.rounds
        learned = before if skip_learned else 0
        examples = Examples(stream, remember, lambda: _restart(out, passes), limit, save_every, on_rows, learned)
        if passes > 1 and not examples.rereadable:
            examples.remember_all()
        record = _learn(learner, own, examples, passes, out, voice)
        if model_file is not None:
            write_model(whole, model_file)
    # The result files are complete by now, whatever happens to the certificate.
    found: dict[str, Any] = {
        "learner": own,
        "source": stream.name,
        "task": stream.task,
        "schema": stream.schema.as_data(),
    }
    found |= {"record": record.to_dict(), "skipped": examples.skipped.count}
    voice.warn_of(examples.skipped)
    if stream.schema.hash is not None:
        voice.say(stream.schema.hash.describe())
        found["hashed"] = {"used": stream.schema.hash.used, "shared": stream.schema.hash.shared}
    if test is not None:
        judged = _test(whole, test, given)
        found["test"] = judged.to_dict()
        for line in judged.lines():
            voice.say(f"{test}: {line}")
    certified: tuple[Any, str] = (None, "it was not asked for")
    if certificate is not False:
        # What was left out belongs to what is certified.
        certified = _certify(record, learner, examples, before - learned, voice, verbose, found, whole, model)
    if model is not None:
        found["model"] = model
    if page is not None:
        from afterwit.cli._report_parts import run_part

        part = run_part(record, certified, learner, stream, found)
        page.write(f"{own} on {os.path.basename(stream.name)}", [part], voice, found)
    voice.finish(found)


def _opened(given: Given, old: Any, name: str | None) -> Stream:
    """The source, by the schema of an old model or by one that is decided now."""
    if old is None:
        task, many = needed_task(name)
        return given.open(task, many)
    values = given.values
    options: dict[str, Any] = {**given.file_options(), "order_by": values["order_by"], "target": values["target"]}
    if isinstance(old, Model):
        return old.stream(given.source, **options)
    return read(given.source, **options, **task_of_learner(old))


def task_of_learner(learner: Any) -> dict[str, Any]:
    """The task of a learner and its labels, as options of `read`."""
    if getattr(learner, "role", "") == "regressor":
        return {"task": "regression"}
    many = getattr(learner, "many_labels", False)
    return {"task": "classes" if many else "binary", "labels": learner.labels}


def whole_model(stream: Stream, learner: Any) -> Any:
    """What is saved: the schema and the learner, or the learner alone where features are numbered in the file."""
    by_number = stream.schema.columns is None and stream.schema.hash_bits is None and stream.format == "libsvm"
    return learner if by_number else Model(stream.schema, learner)


def _inside(model: Any) -> tuple[Any, str]:
    learner = model.learner if isinstance(model, Model) else model
    return learner, type(learner).__name__


def _resumed(path: str, name: str | None, options: tuple[str, ...], given: Given) -> Any:
    """The model to go on with; what it is made of cannot be said again."""
    why = f"--resume {path} goes on with the model that is there"
    if name is not None or options:
        raise invalid("--learner" if name is not None else "--option", f"left out, because {why}", name or options[0])
    given.refuse_columns(why)
    if given.values["labels"] is not None:
        raise invalid("--labels", f"left out, because {why}", given.values["labels"])
    model = load(path)
    learner, _ = _inside(model)
    if not hasattr(learner, "learn_one") or getattr(learner, "role", "") not in ("classifier", "regressor"):
        raise ModelFileError(f"{path}: a model that learns examples was expected; this is a {type(learner).__name__}")
    return model


def nothing_to_learn(stream: Stream, given: Given) -> InputError:
    """What to raise for a source that says nothing about what is to be predicted."""
    if stream.schema.columns is None:
        return InputError(f"{stream.name}: no example has a label")
    names = ", ".join(rule.name for rule in stream.schema.columns[:30])
    if given.values["target"] is None:
        return InputError(f"{stream.name}: --target names the column to predict; the columns are {names}")
    return InputError(f"{stream.name}: there is no column {given.values['target']}; the columns are {names}")


def _saver(whole: Any, path: str) -> Callable[[], None]:
    return lambda: save(whole, path)


def _restart(out: Results, passes: int) -> None:
    if passes > 1:
        out.restart()


def _learn(learner: Any, own: str, examples: Examples, passes: int, out: Results, voice: Voice) -> Any:
    """Play the examples, and show what happens."""
    stream = examples.stream
    regression = stream.task == "regression"
    playing = WithScores(learner, out) if out.scores is not None or out.probabilities is not None else learner
    total = None if examples.size is None else passes * examples.size
    with display(stream.name, total) as shown:
        examples.on_bytes = shown.advance_to
        shown.watch(lambda: examples.rows, error_so_far(learner))
        what = "predicting numbers" if regression else f"labels {_shown_labels(stream.labels)}"
        each = "" if stream.schema.group is None else f", one for each {stream.schema.group}"
        voice.say(f"{own}{each} on {stream.name}, {what}", "bold")
        voice.say()
        if stream.schema.columns is not None:
            voice.say(f"{stream.schema.describe()}\n")
        for note in stream.notes:
            voice.warn(note)
        table = CurveTable(voice, regression)
        table.head()
        record = play(
            playing,
            examples,
            passes=passes,
            predictions=out.write_predictions if out.predictions is not None else False,
            on_point=table.point,
        )
        record.learner = type(learner).__name__
    table.end(record)
    return record


def _test(whole: Any, path: str, given: Given) -> Judged:
    """Predict another file of the same kind."""
    from afterwit.cli.predict import stream_for

    options = {**given.file_options(), "on_error": "stop"}
    learner, _ = _inside(whole)
    with stream_for(whole, path, options) as stream, stream.reader() as reader:
        return judge(learner, reader, Results(None, None, None), None, lambda *_: None)


def _certify(
    record: Any,
    learner: Any,
    examples: Examples,
    before: int,
    voice: Voice,
    verbose: bool,
    found: dict[str, Any],
    whole: Any,
    model: str | None,
) -> tuple[Any, str]:
    """Print the certificate, or why there is none; a model with a schema keeps it."""
    voice.say()
    why = _why_no_certificate(learner, examples, before)
    if why:
        voice.say(no_certificate_text(why))
        found["no_certificate"] = why
        return None, why
    if not examples.complete and not needs_rounds(learner):
        made = learner.certificate()
    else:
        # This pass only reads: it must not touch the results and the bar of the run.
        examples.from_the_beginning()
        with display("computing the certificate") as shown:
            examples.rows = 0
            shown.watch(lambda: examples.rows)
            made = record.certificate()
    voice.say_section(certificate_text(made, verbose))
    found["certificate"] = made.to_dict()
    if isinstance(whole, Model) and model is not None:
        # Of many groups, that of their sum.
        whole.kept_certificate = {"text": str(made), **getattr(made, "total", made).to_dict()}
        save(whole, model)
    return made, ""


def to_remember(stream: Stream, passes: int = 1) -> int:
    """How many non-zero values of a stream are kept, for later passes and the certificate: both can read it again."""
    if (stream.size or 0) > MOST_BYTES_TO_REMEMBER:
        return 0
    return MOST_TO_REMEMBER if passes > 1 or not stream.rereadable else min(FEW_ENOUGH, MOST_TO_REMEMBER)


def _why_no_certificate(learner: Any, examples: Examples, before: int) -> str:
    if not learner.theorems:
        return str(learner.no_theorem_because)
    if before and needs_rounds(learner):
        return (
            f"the model had learned {counted(before, 'round')} before this run, and a certificate is about all that it "
            "has learned (--skip-learned makes one of files that have all these rows)"
        )
    if not examples.complete and not examples.rereadable and needs_rounds(learner):
        return (
            f"it needs all examples, there are more than {MOST_TO_REMEMBER:,} non-zero values to keep, and "
            f"{examples.stream.name} can be read only once"
        )
    return ""


def _shown_labels(labels: tuple[Any, ...] | None) -> str:
    if labels is None:
        return "as they come"
    return f"{', '.join(map(str, labels[:-1]))} and {labels[-1]}"
