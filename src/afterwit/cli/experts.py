"""afterwit experts: combine several forecasts into one, with a leaderboard and a certificate."""

from __future__ import annotations

import os
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

import click

from afterwit.cli._advice import require_rows, row_names, split_names, with_forecasts, write_columns
from afterwit.cli._columns import Asked, choose_columns, experts_of, path_of
from afterwit.cli._combining import Combined, Way, combine, template_of
from afterwit.cli._files import distinct_files, files_read
from afterwit.cli._learners import read_options
from afterwit.cli._outcomes import LOSSES, combine_vectors
from afterwit.cli._progress import display
from afterwit.cli._report import report_file, report_option
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._shown import NamesOption, verbose_option
from afterwit.cli._source import TABLE_OPTIONS, Given, with_options
from afterwit.cli._told import headline, tell
from afterwit.core.files import new_file
from afterwit.core.registry import expert_algorithm_class, expert_algorithm_names, options_of
from afterwit.core.storage import write_model
from afterwit.data import losses
from afterwit.errors import AfterwitError, Words, invalid, require_known, shorten
from afterwit.streams.batch import ROWS_TO_LOOK_AT, UNNAMED
from afterwit.streams.table import Table, TableFile

#: The options of algorithms that have options of the command.
NAMED_OTHERWISE = ("n_experts", "loss", "outcomes")


@click.command(short_help="Combine forecasts into one, then print a leaderboard and the certificate.")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--target", metavar="COLUMN", help="The column to forecast, or several: load_1h,load_24h.")
@click.option(
    "--outcome",
    metavar="COLUMN",
    help="In place of --target: the column that says what happened, one of several kinds of outcomes. Each expert then "
    "has a column with the probability of each kind (see --prefix).",
)
@click.option(
    "--prefix",
    "prefixes",
    metavar="A,B,...",
    help="With --outcome: how the names of the columns of each expert begin. The rest of the name is the kind of "
    "outcome: book1_home, book1_away.",
)
@click.option(
    "--experts",
    "chosen",
    metavar="A,B,...",
    help="The columns with the forecasts; * stands for anything, and {target} for the name of each target. Default: "
    "all other numeric columns whose values are near those of the target (those that are too far away are named in a "
    "warning); of several targets, the columns named EXPERT_TARGET or TARGET_EXPERT.",
)
@click.option("--exclude", metavar="A,B,...", help="Columns that are not experts.")
@click.option(
    "--group", metavar="COLUMN", help="A column such as a region or a customer: each of its values has its own learner."
)
@click.option(
    "--index",
    metavar="A,B,...",
    help="The columns that name the rows, such as a date. Default: the first column, and all that hold text or times, "
    "if they are not used otherwise.",
)
@click.option(
    "--loss",
    metavar="NAME",
    help="The loss: square (default), absolute, percentage, pinball(0.9) (or another quantile), log or zero-one. With "
    "--outcome: brier (default) or log.",
)
@click.option(
    "--algorithm",
    cls=NamesOption,
    names=expert_algorithm_names,
    metavar="NAME",
    help="The algorithm. Default: mlpol; with --outcome, aggregating-algorithm. One of:",
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the algorithm, such as loss_range=(0,100) or horizon=1000. Can be repeated.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    help="The number of experts to list, best first. Default: 10; with --group none.",
)
@click.option(
    "--interval",
    metavar="COVERAGE",
    help="Also make intervals that hold the outcome that often, such as 90%, on any sequence.",
)
@click.option("--resume", metavar="MODEL", help="Go on with the learner in this file, in the state in which it is.")
@click.option(
    "--model", metavar="OUT", help="Save the learner to OUT. With several targets {target} is part of the name."
)
@click.option(
    "--predictions", metavar="OUT", help="Write the index, the outcomes and the forecasts of each row to OUT as CSV."
)
@with_options(TABLE_OPTIONS)
@report_option
@verbose_option
@with_options(SAYING_OPTIONS)
def experts(
    files: tuple[str, ...],
    target: str | None,
    outcome: str | None,
    prefixes: str | None,
    chosen: str | None,
    exclude: str | None,
    group: str | None,
    index: str | None,
    loss: str | None,
    algorithm: str | None,
    options: tuple[str, ...],
    top: int | None,
    interval: str | None,
    resume: str | None,
    model: str | None,
    predictions: str | None,
    limit: int | None,
    report: str | None,
    verbose: bool,
    as_json: bool,
    quiet: bool,
    **source: Any,
) -> None:
    """Combine the forecasts in FILE into one forecast, round by round.

    FILE is a table of any format: CSV, JSON lines, Parquet or Arrow, plain or packed, or - for standard input. Each row
    is one round. The columns of the experts hold their forecasts of the target column. An empty cell means that the
    expert is asleep (has no forecast) in that round. In each round the combined forecast is made before the target is
    read. A row whose target is empty is forecast, but not learned.

    With --outcome, the forecasts are probabilities of several kinds of outcomes, and so is the combined forecast.
    """
    given = Given.of(files, source)
    voice = Voice(as_json, quiet)
    if (target is None) == (outcome is None):
        raise invalid("--target or --outcome", "given, and not both", Words("both" if target else "neither"))
    if (outcome is None) != (prefixes is None):
        raise invalid("--prefix", "given with --outcome, and only then", prefixes)
    if outcome is not None:
        left_out = {"--experts": chosen, "--exclude": exclude, "--group": group, "--interval": interval}
        for option, value in left_out.items():
            if value is not None:
                why = ": --prefix chooses the columns" if option in ("--experts", "--exclude") else ""
                raise invalid(option, f"left out with --outcome{why}", value)
        going_on = None if resume == model else resume
        read = files_read(files, source["sql"])
        distinct_files(FILE=read, RESUME=going_on, model=model, predictions=predictions, report=report)
        way = _way(algorithm, loss, options, resume, None, vectors=True)
        known, texts = split_names("--prefix", prefixes), split_names("--index", index, [outcome])
        shown = 10 if top is None else top
        files_out = (resume, model, predictions, verbose, voice, report_file(report))
        combine_vectors(given, outcome, known, texts, way, shown, limit, *files_out)
        return
    assert target is not None
    asked = Asked.of(target, chosen, exclude, index, group)
    way = _way(algorithm, loss, options, resume, interval)
    models = {each: path_of("--model", model, asked, each) for each in asked.targets}
    resumed = {each: path_of("--resume", resume, asked, each) for each in asked.targets}
    for name in asked.targets:
        going_on = resumed[name] if resumed[name] != models[name] else None
        read = files_read(files, source["sql"])
        distinct_files(FILE=read, RESUME=going_on, model=models[name], predictions=predictions, report=report)
    page = report_file(report)
    with given.open_table() as opened, ExitStack() as stack:
        # Open the result files first: a typo in a path must not cost a long run.
        model_files = {each: stack.enter_context(new_file(path)) for each, path in models.items() if path is not None}
        prediction_file = None if predictions is None else stack.enter_context(new_file(predictions))
        table, every = _combined(opened, asked, way, resumed, limit)
        used = [name for each in every for name in (each.target, *each.experts)]
        rows = row_names(table, used)
        for each in every:
            if each.target in model_files:
                write_model(each.learner, model_files[each.target])
        if prediction_file is not None:
            write_columns(prediction_file, _predictions(rows, every))
    voice.warn_of(table.left_out)
    if voice.answers or page is not None:
        found = _told(table, every, asked, rows, top, verbose, voice)
        if model is not None:
            found["model"] = model if not asked.several else models
        if page is not None:
            from afterwit.cli._report_parts import parts_of

            parts = [part for each in every for part in parts_of(each, asked.group)]
            told = headline(every[0], table.name).partition(": ")[2]
            title = f"{every[0].algorithm} on {os.path.basename(table.name)}"
            page.write(title, parts, voice, found, told if len(every) == 1 else "")
        voice.finish(found)


def _way(
    algorithm: str | None,
    loss: str | None,
    options: tuple[str, ...],
    resume: str | None,
    interval: str | None,
    vectors: bool = False,
) -> Way:
    """How forecasts are combined, as the user says it; what is not said is as usual, or as in the model to resume."""
    kind: Any = None
    given: dict[str, Any] = {}
    read_loss = None
    if vectors:
        if loss is not None and loss not in LOSSES:
            raise invalid("--loss", "brier or log for probabilities of outcomes", loss)
        read_loss = None if loss is None else losses.for_forecasts(loss)
    elif loss is not None:
        read_loss = losses.for_forecasts(loss) if loss in losses.NAMED else _loss(loss)
        if read_loss.of_vectors:
            raise invalid("--loss", "a loss of numbers; brier is for --outcome COLUMN --prefix A,B,...", loss)
    if algorithm is not None or resume is None:
        kind, given = _algorithm(algorithm or ("aggregating-algorithm" if vectors else "mlpol"), options, vectors)
    if options and kind is None:
        raise invalid(
            "--option", f"left out, because --resume {resume} goes on with its own options", Words(options[0])
        )
    return Way(algorithm, kind, read_loss, given, None if interval is None else _coverage(interval))


def _coverage(text: str) -> float:
    """A share as it is written: 90% or 0.9."""
    allowed = "a share between 0 and 1, such as 90% or 0.9"
    try:
        share = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        raise invalid("--interval", allowed, text) from None
    if not 0 < share < 1:
        raise invalid("--interval", allowed, text)
    return float(share)


def _algorithm(name: str, options: tuple[str, ...], vectors: bool) -> tuple[Any, dict[str, Any]]:
    """The class of that name, and its options as they are written."""
    require_known("algorithm", name, sorted(expert_algorithm_names()))
    kind = expert_algorithm_class(name)
    if vectors and "outcomes" not in options_of(kind):
        raise invalid("--algorithm", "one that takes probabilities of outcomes, such as aggregating-algorithm", name)
    # Under the square loss the outcomes of the aggregating algorithm are an interval.
    settled = ("n_experts", "loss") if name == "aggregating-algorithm" and not vectors else NAMED_OTHERWISE
    return kind, read_options(name, options, [option for option in options_of(kind) if option not in settled])


def _loss(text: str) -> losses.Loss:
    try:
        return losses.for_forecasts(text)
    except AfterwitError as error:
        raise invalid("--loss", str(error).partition("must be ")[2].partition(";")[0], text) from None


def _combined(
    opened: TableFile, asked: Asked, way: Way, resumed: dict[str, str | None], limit: int | None
) -> tuple[Table, list[Combined]]:
    """Read the table, and combine the forecasts of each target."""
    grouped = asked.group is not None
    learners = {target: way.resumed(path, grouped) for target, path in resumed.items() if path is not None}
    known = {target: [str(name) for name in template_of(learner).experts] for target, learner in learners.items()}
    columns = choose_columns(opened, asked, known)
    with display(opened.name, opened.size) as shown:
        table = opened.read(columns.numbers, columns.texts, limit, shown.advance_to)
    require_rows(table)
    every = []
    for target in asked.targets:
        experts = experts_of(table, columns, asked, target)
        learner = learners[target] if target in learners else way.learner(experts, grouped)
        every.append(combine(table, target, experts, learner, asked.group))
    return table, every


def _predictions(rows: dict[str, list[str]], every: list[Combined]) -> dict[str, Any]:
    """The index, the outcomes and the forecasts."""
    outcomes = {each.target: each.outcomes.tolist() for each in every}
    names = ["forecast"] if len(every) == 1 else [f"forecast {each.target}" for each in every]
    columns = [each.columns(name) for name, each in zip(names, every, strict=True)]
    return with_forecasts({**rows, **outcomes}, {name: made for each in columns for name, made in each.items()})


def _told(
    table: Table,
    every: list[Combined],
    asked: Asked,
    rows: dict[str, list[str]],
    top: int | None,
    verbose: bool,
    voice: Voice,
) -> dict[str, Any]:
    """Say how well every target was forecast."""
    others = (*table.spoilt, *asked.others, *(name for each in every for name in each.experts))
    left_out = [name for name in table.skipped if name not in others and not UNNAMED.fullmatch(name)]
    ignored = [name for name in left_out if name not in table.empty]
    if len(ignored) < len(left_out):
        empty = shorten(Words(", ".join(name for name in left_out if name in table.empty)), 300)
        voice.warn(
            f"left out {empty}: empty in the first {ROWS_TO_LOOK_AT:,} rows (--experts A,B,... chooses the columns)"
        )
    found = []
    for i, each in enumerate(every):
        if i:
            voice.say()
        voice.say(headline(each, table.name), "bold")
        if ignored and not i:
            voice.say(f"ignored columns that are not numeric: {shorten(Words(', '.join(ignored)), 90)}")
        found.append(tell(each, asked.group, rows, top, verbose, voice))
    shared = {"source": table.name, "algorithm": every[0].algorithm, "loss": every[0].loss, "ignored": left_out}
    return {**shared, "targets": found} if asked.several else {**shared, **found[0]}
