"""The leaderboard of forecasts: the combined one, the experts, their mean and the best mixture in hindsight."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.cells import cell_len

from afterwit.cli._progress import display
from afterwit.core.certificate import shown_number
from afterwit.data import losses
from afterwit.errors import counted
from afterwit.hindsight import best_convex_combination

Floats = npt.NDArray[np.float64]

#: The usual name of a mean loss, which is shown in the unit of the data.
NAMES = {"square": "RMSE", "absolute": "MAE", "percentage": "MAPE", "zero-one": "error rate"}
#: The sum of the losses over all rounds, which the certificate is about.
TOTAL = "total loss"
#: The narrowest column of numbers, and the space between two columns.
NARROWEST = 12
GAP = "  "


def show_leaderboard(
    learner: Any, algorithm: str, advice: Floats, outcomes: Floats, forecasts: Floats, top: int
) -> None:
    """A line for each of the best experts and for what they were combined to, best first."""
    loss = losses.get(learner.parameters.get("loss", "zero-one"))
    asleep = np.isnan(advice)
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
    table = [["", *(name for name, _ in lines)]]
    table += [[metric, *(_shown(metric, loss, values, outcomes) for _, values in lines)] for metric in _metrics(loss)]
    if asleep.any():
        table.append(["awake", *(f"{np.count_nonzero(~np.isnan(values)):,}" for _, values in lines)])
    click.echo()
    _show(table)
    if len(ranked) > top:
        click.echo(f"and {counted(len(ranked) - top, 'more expert')} (--top {len(ranked)} lists all)")


def _show(columns: list[list[str]]) -> None:
    """Print columns of cells, the names to the left and the numbers to the right, never closer than the gap."""
    names, *numbers = columns
    width = max(map(cell_len, names))
    widths = [max(NARROWEST, *map(cell_len, column)) for column in numbers]
    for name, *cells in zip(names, *numbers, strict=True):
        padded = [" " * (wide - cell_len(cell)) + cell for cell, wide in zip(cells, widths, strict=True)]
        click.echo(GAP.join([name + " " * (width - cell_len(name)), *padded]))


def show_weights(learner: Any) -> None:
    """The shares of the next round, the largest first."""
    weights = learner.weights
    order = np.argsort(-weights, kind="stable")
    shown = [i for i in order[:8] if weights[i] >= 0.0005]
    others = len(order) - len(shown)
    rest = f", {counted(others, 'other')} {max(1 - weights[shown].sum(), 0):.3f}" if others else ""
    listed = ", ".join(f"{shorten_name(str(learner.experts[i]))} {weights[i]:.3f}" for i in shown)
    click.echo(f"\nfinal weights: {listed}{rest}")


def shorten_name(name: str) -> str:
    """A name that leaves room for the numbers."""
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
