"""afterwit experts: combine several forecasts into one, with a leaderboard and a certificate."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import click
import numpy as np
import numpy.typing as npt

from afterwit.cli._files import distinct_files
from afterwit.cli._learners import read_options
from afterwit.cli._progress import display
from afterwit.cli._shown import NamesOption, count, require_known, show_certificate, verbose_option
from afterwit.core.certificate import shown_number
from afterwit.core.registry import expert_algorithm_class, expert_algorithm_names, options_of
from afterwit.core.storage import new_file, write_model
from afterwit.data import losses
from afterwit.errors import AfterwitError, InputError, StreamError, Words, invalid, shorten
from afterwit.hindsight import best_convex_combination
from afterwit.streams.table import Table, read_table

Floats = npt.NDArray[np.float64]

#: The usual name of a mean loss, which is shown in the unit of the data.
NAMES = {"square": "RMSE", "absolute": "MAE", "percentage": "MAPE", "zero-one": "error rate"}
#: The sum of the losses over all rounds, which the certificate is about.
TOTAL = "total loss"


@click.command(short_help="Combine forecasts into one, then print a leaderboard and the certificate.")
@click.argument("file")
@click.option("--target", metavar="COLUMN", required=True, help="The column to forecast.")
@click.option(
    "--experts",
    "names",
    metavar="A,B,...",
    help="The columns with the forecasts. Default: all other numeric columns.",
)
@click.option(
    "--loss",
    metavar="NAME",
    default="square",
    show_default=True,
    help="The loss: square, absolute, percentage, pinball(0.9) (or another quantile), log or zero-one.",
)
@click.option(
    "--algorithm",
    cls=NamesOption,
    names=expert_algorithm_names,
    metavar="NAME",
    default="mlpol",
    show_default=True,
    help="The algorithm. One of:",
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
@click.option("--predictions", metavar="OUT", help="Write the outcome and the forecast of each round to OUT as CSV.")
@verbose_option
def experts(
    file: str,
    target: str,
    names: str | None,
    loss: str,
    algorithm: str,
    options: tuple[str, ...],
    top: int,
    model: str | None,
    predictions: str | None,
    verbose: bool,
) -> None:
    """Combine the forecasts in FILE into one forecast, round by round.

    FILE is CSV with a header, plain or gzip, or - for standard input. Each row is one round. The columns of the
    experts hold their forecasts of the target column. An empty cell means that the expert is asleep (has no forecast)
    in that round. In each round the combined forecast is made before the target is read.
    """
    distinct_files(FILE=file, model=model, predictions=predictions)
    require_known("algorithm", algorithm, sorted(expert_algorithm_names()))
    kind = expert_algorithm_class(algorithm)
    read_loss = losses.get(loss) if loss in losses.NAMED else _loss(loss)
    given = read_options(algorithm, options, [name for name in options_of(kind) if name not in ("n_experts", "loss")])
    wanted = None if names is None else _names(names, target)
    with ExitStack() as files:
        # Open the result files first: a typo in a path must not cost a long run.
        model_file = files.enter_context(new_file(model)) if model is not None else None
        prediction_file = files.enter_context(new_file(predictions)) if predictions is not None else None
        with display(file, Path(file).stat().st_size if Path(file).is_file() else None) as shown:
            table = read_table(file, None if wanted is None else [*wanted, target], shown.advance_to, target)
        advice, outcomes, known = _columns(table, target, wanted)
        learner = _made(kind, known, read_loss, given)
        try:
            forecasts = learner.learn_many(advice, outcomes)
        except InputError as error:
            raise StreamError(_by_round(str(error)), path=table.name) from None
        if model_file is not None:
            write_model(learner, model_file)
        if prediction_file is not None:
            _write(prediction_file, target, outcomes, forecasts)
    _show_leaderboard(table, learner, algorithm, target, advice, outcomes, forecasts, top)
    _show_weights(learner)
    click.echo()
    with display("computing the certificate", None):
        certificate = learner.certificate(advice, outcomes)
    show_certificate(certificate, verbose)


def _by_round(message: str) -> str:
    """Turn a message about rows of an array, counted from 0, into one about rounds of a file, counted from 1."""
    message = re.sub(r"\bin row (\d+)", lambda found: f"in round {int(found[1]) + 1}", message)
    return re.sub(r"^advice\[(\d+), (.+?)\]", lambda found: f"round {int(found[1]) + 1}: {found[2]}", message)


def _loss(text: str) -> losses.Loss:
    try:
        return losses.get(text)
    except AfterwitError as error:
        raise invalid("--loss", str(error).partition("must be ")[2].partition(";")[0], text) from None


def _names(text: str, target: str) -> list[str]:
    found = [name.strip() for name in text.split(",")]
    if not all(found) or len(set(found)) < len(found):
        raise invalid("--experts", "different column names separated by commas", text)
    if target in found:
        raise invalid("--experts", f"columns other than the target {target}", text)
    return found


def _columns(table: Table, target: str, wanted: list[str] | None) -> tuple[Floats, Floats, list[str]]:
    if not len(table.values):
        raise StreamError("no rows were found after the header", path=table.name)
    if target not in table.names:
        listed = shorten(Words(", ".join((*table.names, *table.skipped))), 300)
        raise StreamError(f"there is no column {shorten(target)}; the columns are {listed}", path=table.name)
    outcomes = table.column(target)
    if np.isnan(outcomes).any():
        at = int(np.argmax(np.isnan(outcomes)))
        raise StreamError(f"round {at + 1}: the target {target} is missing", path=table.name)
    known = wanted if wanted is not None else [name for name in table.names if name != target]
    if not known:
        others = (
            f"; columns that are not numeric: {shorten(Words(', '.join(table.skipped)), 200)}" if table.skipped else ""
        )
        raise StreamError(f"no numeric column was found besides the target{others}", path=table.name)
    advice = np.ascontiguousarray(table.values[:, [table.names.index(name) for name in known]])
    nobody = np.isnan(advice).all(axis=1)
    if nobody.any():
        raise StreamError(f"round {int(np.argmax(nobody)) + 1}: every expert's forecast is missing", path=table.name)
    return advice, np.ascontiguousarray(outcomes), known


def _made(kind: Any, known: list[str], loss: losses.Loss, given: dict[str, Any]) -> Any:
    if "loss" in options_of(kind):
        return kind(known, loss=loss.name, **given)
    if loss.kind != "zero-one":
        raise invalid("--loss", f"zero-one for {kind.__name__}", loss.name)
    return kind(known, **given)


def _write(file: BinaryIO, target: str, outcomes: Floats, forecasts: Floats) -> None:
    quoted = '"' + target.replace('"', '""') + '"' if set(target) & set(',"\n\r') else target
    file.write(f"{quoted},forecast\n".encode())
    pairs = zip(outcomes.tolist(), forecasts.tolist(), strict=True)
    file.write("".join(f"{outcome!r},{forecast!r}\n" for outcome, forecast in pairs).encode())


# ---------------------------------------------------------------------- what is shown


def _show_leaderboard(
    table: Table,
    learner: Any,
    algorithm: str,
    target: str,
    advice: Floats,
    outcomes: Floats,
    forecasts: Floats,
    top: int,
) -> None:
    loss = losses.get(learner.parameters.get("loss", "zero-one"))
    asleep = np.isnan(advice)
    what = f"forecasts of {target} by {count(advice.shape[1], 'expert')}, {count(len(outcomes), 'round')}, {loss} loss"
    click.echo(f"{algorithm} on {table.name}: {what}")
    if table.skipped:
        click.echo(f"ignored columns that are not numeric: {shorten(Words(', '.join(table.skipped)), 90)}")
    columns = _metrics(loss)
    rows = [(shorten_name(str(name)), advice[:, i]) for i, name in enumerate(learner.experts)]
    ranked = sorted(rows, key=lambda row: _mean_loss(loss, row[1], outcomes))
    special = [(f"* {algorithm}, the combined forecast", forecasts)]
    if loss.convex:
        special.append(("- mean of the experts", _row_means(advice, asleep)))
    if loss.convex and not asleep.any():
        with display("finding the best mixture in hindsight", None):
            best = best_convex_combination(advice, outcomes, loss=loss)
        special.append(("- best mixture in hindsight", advice @ best.weights))
    lines = sorted([*ranked[:top], *special], key=lambda row: _mean_loss(loss, row[1], outcomes))
    width = max(len(name) for name, _ in lines)
    cells = [[column, *(_shown(column, loss, values, outcomes) for _, values in lines)] for column in columns]
    widths = [max(14, 2 + max(map(len, column))) for column in cells]
    heads = "".join(f"{column:>{wide}}" for column, wide in zip(columns, widths, strict=True))
    click.echo(f"\n{'':<{width}}{heads}" + ("   awake" if asleep.any() else ""))
    for i, (name, values) in enumerate(lines, 1):
        numbers = "".join(f"{column[i]:>{wide}}" for column, wide in zip(cells, widths, strict=True))
        awake = f"{np.count_nonzero(~np.isnan(values)):>8,}" if asleep.any() else ""
        click.echo(f"{name:<{width}}{numbers}{awake}")
    if len(ranked) > top:
        click.echo(f"and {count(len(ranked) - top, 'more expert')} (--top {len(ranked)} lists all)")


def _show_weights(learner: Any) -> None:
    weights = learner.weights
    order = np.argsort(-weights, kind="stable")
    shown = [i for i in order[:8] if weights[i] >= 0.0005]
    rest = (
        f", {len(order) - len(shown):,} others {max(1 - weights[shown].sum(), 0):.3f}"
        if len(shown) < len(order)
        else ""
    )
    listed = ", ".join(f"{shorten_name(str(learner.experts[i]))} {weights[i]:.3f}" for i in shown)
    click.echo(f"\nfinal weights: {listed}{rest}")


def shorten_name(name: str) -> str:
    return name if len(name) <= 48 else f"{name[:47]}…"


def _metrics(loss: losses.Loss) -> list[str]:
    own = NAMES.get(loss.kind, f"mean {loss}")
    if loss.kind in ("log", "zero-one"):
        return [own, TOTAL]
    return [own, *(name for name in ("RMSE", "MAE", "MAPE") if name != own), TOTAL]


def _row_means(advice: Floats, asleep: npt.NDArray[np.bool_]) -> Floats:
    awake: Floats = np.where(asleep, 0.0, advice).sum(axis=1) / (~asleep).sum(axis=1)
    return awake


def _mean_loss(loss: losses.Loss, forecasts: Floats, outcomes: Floats) -> float:
    there = ~np.isnan(forecasts)
    return float(loss.values(forecasts[there], outcomes[there]).mean()) if there.any() else np.inf


def _shown(column: str, loss: losses.Loss, forecasts: Floats, outcomes: Floats) -> str:
    there = ~np.isnan(forecasts)
    if not there.any():
        return "-"
    difference, outcome = forecasts[there] - outcomes[there], outcomes[there]
    if column == "RMSE":
        return f"{np.sqrt(np.mean(difference**2)):,.4f}"
    if column == "MAE":
        return f"{np.abs(difference).mean():,.4f}"
    if column == "MAPE":
        return f"{np.mean(np.abs(difference / outcome)):.3%}" if (outcome != 0).all() else "-"
    if column == "error rate":
        return f"{np.mean(difference != 0):.2%}"
    if column == TOTAL:
        return shown_number(float(loss.values(forecasts[there], outcome).sum()))
    return f"{_mean_loss(loss, forecasts, outcomes):,.5f}"
