"""The leaderboard of forecasts: the combined one, the experts, their mean and the best mixture in hindsight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.cli._progress import display
from afterwit.cli._said import Voice
from afterwit.cli._shown import in_unit
from afterwit.core.aligned import cut
from afterwit.core.certificate import shown_number
from afterwit.data import losses
from afterwit.errors import counted
from afterwit.hindsight import best_convex_combination

Floats = npt.NDArray[np.float64]

#: The usual name of a mean loss, which is shown in the unit of the data.
NAMES = {"square": "RMSE", "absolute": "MAE", "percentage": "MAPE", "zero-one": "error rate"}
#: The sum of the losses over all rounds, which the certificate is about.
TOTAL = "total loss"
#: What the columns are called in JSON; the mean loss is there in any case.
KEYS = {"RMSE": "rmse", "MAE": "mae", "MAPE": "mape", "error rate": "error", TOTAL: "loss"}
#: How the columns are shown; a mean loss without a name has five places.
FORMATS = {"RMSE": ",.4f", "MAE": ",.4f", "MAPE": ".3%", "error rate": ".2%"}
EXPERT, COMBINED, MEAN = "expert", "combined", "mean"
MIXTURE = "mixture"
#: How lines that are no experts are shown on a terminal.
STYLES = {COMBINED: "happened", MIXTURE: "hindsight", MEAN: "dim"}
#: The narrowest column of numbers.
NARROWEST = 12


@dataclass(frozen=True)
class Line:
    """A forecaster, and how well it forecast the rounds in which it was awake."""

    #: What it is: an expert, or what the experts were combined to.
    kind: str
    name: str
    rounds: int
    mean_loss: float
    #: The values of the columns; NaN where there is none.
    values: dict[str, float]

    @property
    def shown(self) -> str:
        name = shorten_name(self.name)
        return {EXPERT: name, COMBINED: f"* {name}, the combined forecast"}.get(self.kind, f"- {name}")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings: ready for JSON, but for NaN and infinity."""
        named = {KEYS[column]: value for column, value in self.values.items() if column in KEYS}
        judged = {"rounds": self.rounds, "mean_loss": self.mean_loss, **named}
        return {"kind": self.kind, "name": self.name, **judged}


def leaderboard(
    learner: Any, algorithm: str, advice: Floats, outcomes: Floats, forecasts: Floats, mixture: Any = None
) -> list[Line]:
    """A line for each expert and for what they were combined to, best first; ``mixture`` is the best one, if known."""
    loss = losses.get(learner.parameters.get("loss", "zero-one"))
    lines = lines_of(learner, algorithm, advice, outcomes, forecasts)
    if loss.convex and not np.isnan(advice).any():
        if mixture is None:
            with display("finding the best mixture in hindsight"):
                mixture = best_convex_combination(advice, outcomes, loss=loss)
        lines.append(_judged(MIXTURE, "best mixture in hindsight", loss, advice @ mixture.vector, outcomes))
    return best_first(lines)


def lines_of(learner: Any, algorithm: str, advice: Floats, outcomes: Floats, forecasts: Floats) -> list[Line]:
    """A line for each expert, for the combined forecast and for the mean of the experts, in this order."""
    loss = losses.get(learner.parameters.get("loss", "zero-one"))
    found = [(EXPERT, str(name), advice[:, i]) for i, name in enumerate(learner.experts)]
    found.append((COMBINED, algorithm, forecasts))
    if loss.convex:
        found.append((MEAN, "mean of the experts", _row_means(advice, np.isnan(advice))))
    return [_judged(kind, name, loss, values, outcomes) for kind, name, values in found]


def best_first(lines: list[Line]) -> list[Line]:
    """By the mean loss; those without a forecast come last."""
    return sorted(lines, key=lambda line: np.inf if np.isnan(line.mean_loss) else line.mean_loss)


def show_leaderboard(lines: list[Line], rounds: int, top: int, voice: Voice) -> None:
    """The best experts and what they were combined to, as a table."""
    experts = [line for line in lines if line.kind == EXPERT]
    best = {line.name for line in experts[:top]}
    listed = [line for line in lines if line.kind != EXPERT or line.name in best]
    some_slept = any(line.rounds < rounds for line in experts)
    table = [["", *listed[0].values, *(["awake"] if some_slept else [])]]
    for line in listed:
        values = [shown_cell(column, value) for column, value in line.values.items()]
        table.append([line.shown, *values, *([f"{line.rounds:,}"] if some_slept else [])])
    voice.say()
    voice.say_table(table, NARROWEST, [STYLES.get(line.kind, "") for line in listed])
    if len(experts) > top:
        voice.say(f"and {counted(len(experts) - top, 'more expert')} (--top {len(experts)} lists all)")


def show_weights(learner: Any, voice: Voice) -> None:
    """The shares of the next round, the largest first."""
    weights = learner.weights
    order = np.argsort(-weights, kind="stable")
    shown = [i for i in order[:8] if weights[i] >= 0.0005]
    others = len(order) - len(shown)
    rest = f", {counted(others, 'other')} {max(1 - weights[shown].sum(), 0):.3f}" if others else ""
    listed = ", ".join(f"{shorten_name(str(learner.experts[i]))} {weights[i]:.3f}" for i in shown)
    voice.say(f"\nfinal weights: {listed}{rest}")


def shorten_name(name: str) -> str:
    """A name that leaves room for the numbers."""
    return cut(name, 48)


def mean_loss_name(loss: losses.Loss) -> str:
    """What a mean loss is called where it is shown in the unit of the data."""
    return NAMES.get(loss.kind, f"mean {loss}")


def _metrics(loss: losses.Loss) -> list[str]:
    own = mean_loss_name(loss)
    if loss.kind in ("log", "zero-one"):
        return [own, TOTAL]
    return [own, *(name for name in ("RMSE", "MAE", "MAPE") if name != own), TOTAL]


def _row_means(advice: Floats, asleep: npt.NDArray[np.bool_]) -> Floats:
    awake: Floats = np.where(asleep, 0.0, advice).sum(axis=1) / (~asleep).sum(axis=1)
    return awake


def _judged(kind: str, name: str, loss: losses.Loss, forecasts: Floats, outcomes: Floats) -> Line:
    there = ~np.isnan(forecasts)
    rounds = int(np.count_nonzero(there))
    if not rounds:
        return Line(kind, name, rounds, np.nan, dict.fromkeys(_metrics(loss), np.nan))
    own = loss.values(forecasts[there], outcomes[there])
    mean_loss = float(own.mean())
    difference, outcome = forecasts[there] - outcomes[there], outcomes[there]
    values: dict[str, float] = {}
    for column in _metrics(loss):
        if column == "RMSE":
            value = np.sqrt(np.mean(difference**2))
        elif column == "MAE":
            value = np.abs(difference).mean()
        elif column == "MAPE":
            value = np.mean(np.abs(difference / outcome)) if (outcome != 0).all() else np.nan
        elif column == "error rate":
            value = np.mean(difference != 0)
        else:
            value = own.sum() if column == TOTAL else mean_loss
        values[column] = float(value)
    return Line(kind, name, rounds, mean_loss, values)


def shown_cell(column: str, value: float) -> str:
    """A value as a table shows it."""
    if np.isnan(value):
        return "-"
    if column == TOTAL or np.isinf(value):
        return shown_number(value)
    form = FORMATS.get(column, ",.5f")
    return f"{value:{form}}" if form.endswith("%") else in_unit(value, form)
