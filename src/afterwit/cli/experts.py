"""afterwit experts: combine several forecasts into one, with a leaderboard and a certificate."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np

from afterwit.cli._advice import (
    Floats,
    advice_of,
    choose_experts,
    forecasts_of,
    require_rows,
    row_names,
    show_forecasts,
    split_names,
    with_forecasts,
    write_forecasts,
)
from afterwit.cli._files import distinct_files
from afterwit.cli._leaderboard import leaderboard, show_leaderboard, show_weights
from afterwit.cli._learners import read_options
from afterwit.cli._outcomes import combine
from afterwit.cli._progress import display
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._shown import NamesOption, certificate_text, require_known, verbose_option
from afterwit.cli._source import with_options
from afterwit.core.certificate import apply, evidence_of, require_theorems
from afterwit.core.files import new_file
from afterwit.core.registry import expert_algorithm_class, expert_algorithm_names, options_of
from afterwit.core.storage import write_model
from afterwit.data import losses
from afterwit.errors import AfterwitError, StreamError, Words, counted, invalid, shorten
from afterwit.streams.table import Table, read_table


@click.command(short_help="Combine forecasts into one, then print a leaderboard and the certificate.")
@click.argument("file")
@click.option("--target", metavar="COLUMN", help="The column to forecast.")
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
    "names",
    metavar="A,B,...",
    help="The columns with the forecasts. Default: all other numeric columns whose values are near those of the "
    "target. Those that are too far away are named in a warning.",
)
@click.option("--exclude", metavar="A,B,...", help="Columns that are not experts.")
@click.option(
    "--index",
    metavar="A,B,...",
    help="The columns that name the rows, such as a date. Default: the first column, if it is neither the target nor "
    "an expert.",
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
    default=10,
    show_default=True,
    help="The number of experts to list, best first.",
)
@click.option("--model", metavar="OUT", help="Save the learner to OUT.")
@click.option("--predictions", metavar="OUT", help="Write the index, the outcome and the forecast of each row to OUT.")
@verbose_option
@with_options(SAYING_OPTIONS)
def experts(
    file: str,
    target: str | None,
    outcome: str | None,
    prefixes: str | None,
    names: str | None,
    exclude: str | None,
    index: str | None,
    loss: str | None,
    algorithm: str | None,
    options: tuple[str, ...],
    top: int,
    model: str | None,
    predictions: str | None,
    verbose: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Combine the forecasts in FILE into one forecast, round by round.

    FILE is CSV with a header, plain or gzip, or - for standard input. Each row is one round. The columns of the
    experts hold their forecasts of the target column. An empty cell means that the expert is asleep (has no forecast)
    in that round. In each round the combined forecast is made before the target is read. A row whose target is empty
    is forecast, but not learned.

    With --outcome, the forecasts are probabilities of several kinds of outcomes, and so is the combined forecast.
    """
    distinct_files(FILE=file, model=model, predictions=predictions)
    if (target is None) == (outcome is None):
        raise invalid("--target or --outcome", "given, and not both", Words("both" if target else "neither"))
    if (outcome is None) != (prefixes is None):
        raise invalid("--prefix", "given with --outcome, and only then", prefixes)
    algorithm = algorithm or ("mlpol" if outcome is None else "aggregating-algorithm")
    require_known("algorithm", algorithm, sorted(expert_algorithm_names()))
    kind = expert_algorithm_class(algorithm)
    # Under the square loss the outcomes of the aggregating algorithm are an interval.
    numbers = outcome is None and algorithm == "aggregating-algorithm"
    settled = ("n_experts", "loss") if numbers else ("n_experts", "loss", "outcomes")
    given = read_options(algorithm, options, [name for name in options_of(kind) if name not in settled])
    if outcome is not None:
        for option, value in (("--experts", names), ("--exclude", exclude)):
            if value is not None:
                raise invalid(option, "left out with --outcome: --prefix chooses the columns", value)
        voice = Voice(as_json, quiet)
        known, texts = split_names("--prefix", prefixes), split_names("--index", index, outcome)
        how = (kind, algorithm, loss or "brier", given, top, model, predictions, verbose, voice)
        combine(file, outcome, known, texts, *how)
        return
    assert target is not None
    read_loss = losses.for_forecasts(loss or "square") if loss is None or loss in losses.NAMED else _loss(loss)
    if read_loss.of_vectors:
        raise invalid("--loss", "a loss of numbers; brier is for --outcome COLUMN --prefix A,B,...", loss)
    wanted = split_names("--experts", names, target)
    without = split_names("--exclude", exclude, target)
    texts = split_names("--index", index, target)
    if wanted and without:
        raise invalid("--exclude", "left out if --experts chooses the columns", exclude)
    if set(wanted) & set(texts):
        raise invalid("--index", "columns other than the experts", index)
    with ExitStack() as files:
        # Open the result files first: a typo in a path must not cost a long run.
        model_file = files.enter_context(new_file(model)) if model is not None else None
        prediction_file = files.enter_context(new_file(predictions)) if predictions is not None else None
        with display(file, Path(file).stat().st_size if Path(file).is_file() else None) as shown:
            table = read_table(
                file, [*wanted, target] if wanted else None, shown.advance_to, target, texts or None, without + texts
            )
        advice, outcomes, known = _columns(table, target, wanted)
        learner = _made(kind, known, read_loss, given)
        there = ~np.isnan(outcomes)
        forecasts = forecasts_of(table, target, learner, advice, outcomes, there, np.isnan(advice))
        rows = row_names(table, [target, *known])
        if model_file is not None:
            write_model(learner, model_file)
        if prediction_file is not None:
            write_forecasts(prediction_file, {**rows, target: outcomes.tolist()}, forecasts)
    voice = Voice(as_json, quiet)
    if not voice.answers:
        return
    advice, past = advice[there], outcomes[there]
    what = f"forecasts of {target} by {counted(len(known), 'expert')}, {counted(len(past), 'round')}, {read_loss} loss"
    voice.say(f"{algorithm} on {table.name}: {what}")
    ignored = [name for name in table.skipped if name not in table.spoilt]
    if ignored:
        listed = ", ".join(name or "(no name)" for name in ignored)
        voice.say(f"ignored columns that are not numeric: {shorten(Words(listed), 90)}")
    with display("computing the certificate", None):
        require_theorems(learner)
        evidence = evidence_of(learner, advice, past)
        certificate = apply(learner.theorems, evidence)
    lines = leaderboard(learner, algorithm, advice, past, forecasts[there], evidence.mixture)
    show_leaderboard(lines, len(past), top, voice)
    show_weights(learner, voice)
    missing = np.flatnonzero(~there).tolist()
    if missing:
        voice.say(f"\nforecasts for {counted(len(missing), 'row')} without {target}:")
        show_forecasts(rows, missing, forecasts, voice)
    voice.say()
    voice.say(certificate_text(certificate, verbose))
    found: dict[str, Any] = {
        "source": table.name,
        "target": target,
        "algorithm": algorithm,
        "loss": str(read_loss),
        "rounds": len(past),
        "experts": known,
        "ignored": ignored,
        "leaderboard": [line.to_dict() for line in lines],
        "weights": dict(zip(known, learner.weights.tolist(), strict=True)),
        "rows_without_target": [row + 1 for row in missing],
        "forecasts": with_forecasts(
            {name: [cells[row] for row in missing] for name, cells in rows.items()}, forecasts[missing]
        ),
        "certificate": certificate.to_dict(),
    }
    if model is not None:
        found["model"] = model
    voice.finish(found)


def _loss(text: str) -> losses.Loss:
    try:
        return losses.for_forecasts(text)
    except AfterwitError as error:
        raise invalid("--loss", str(error).partition("must be ")[2].partition(";")[0], text) from None


def _columns(table: Table, target: str, wanted: list[str]) -> tuple[Floats, Floats, list[str]]:
    require_rows(table)
    if target not in table.names:
        listed = shorten(Words(", ".join((*table.names, *table.skipped))), 300)
        raise StreamError(f"there is no column {shorten(target)}; the columns are {listed}", path=table.name)
    outcomes = table.column(target)
    there = ~np.isnan(outcomes)
    if not there.any():
        remedy = "afterwit predict forecasts a table with a model that has learned"
        raise StreamError(f"the target {target} is missing in every row; {remedy}", path=table.name)
    known = wanted
    if not wanted:
        choice = choose_experts(table, target)
        known = choice.experts
        if not known:
            others = f"; columns that are not numeric: {shorten(Words(', '.join(table.skipped)), 200)}"
            reason = f"no numeric column was found besides the target{others if table.skipped else ''}"
            raise StreamError(reason, path=table.name)
        choice.warn(target)
    advice = advice_of(table, known)
    nobody = there & np.isnan(advice).all(axis=1)
    if nobody.any():
        reason = "every expert's forecast is missing; remove the row, or leave its target empty"
        raise StreamError(reason, path=table.name, line=table.lines[int(np.argmax(nobody))])
    return advice, np.ascontiguousarray(outcomes), known


def _made(kind: Any, known: list[str], loss: losses.Loss, given: dict[str, Any]) -> Any:
    if "loss" in options_of(kind):
        learner = kind(known, loss=loss.name, **given)
        if learner.kinds:
            raise invalid("--loss", f"square for {kind.__name__} without --outcome", loss.name)
        return learner
    if loss.kind != "zero-one":
        raise invalid("--loss", f"zero-one for {kind.__name__}", loss.name)
    return kind(known, **given)
