"""Losses of a forecast f under an outcome y, and their slopes by the forecast.

    square        (f - y)^2                           slope 2 (f - y)
    absolute      |f - y|                             slope sgn(f - y)
    percentage    |f - y| / |y|, y not 0              slope sgn(f - y) / |y|
    pinball(q)    q (y - f) if f < y, else (1 - q) (f - y): least on average at the q-quantile of y
    huber(d)      (f - y)^2 / 2 if |f - y| <= d, else d (|f - y| - d/2): slope f - y, cut off at -d and d
    log           -ln f if y = 1, -ln(1 - f) if y = 0; f is the probability of 1, strictly between 0 and 1 where no
                  loss may be infinite
    zero-one      0 if f = y, else 1: not convex, has no slope
    function      any function of your own, with its slope if you have it

Expert algorithms take a loss by its name (``"square"``, ``"pinball(0.9)"``) or as one of the objects made here.
Regressors take ``"square"``, ``"absolute"``, ``"pinball(q)"`` and ``"huber(d)"``, which is for them alone.

>>> get("pinball(0.9)").values([10.0, 14.0], [12.0, 12.0]).tolist()
[1.8, 0.19999999999999996]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import positive_number
from afterwit.errors import InputError, Words, invalid

__all__ = ["Loss", "function", "get", "huber", "pinball"]

Floats = npt.NDArray[np.float64]

#: The losses that need nothing but their name; a learner knows them by their place here.
NAMES = ("square", "absolute", "percentage", "pinball", "log", "zero-one", "function", "huber")
NAMED = ("square", "absolute", "percentage", "log", "zero-one")
ALLOWED = "'square', 'absolute', 'percentage', 'pinball(q)', 'log', 'zero-one', or made by afterwit.losses"
TAKES_CERTAINTY = "ExponentialWeights takes 0 and 1, at a rate up to 1 and without loss_range"
#: What regressors take: real targets under a convex loss with a slope.
OF_TARGETS = ("square", "absolute", "pinball", "huber")
ALLOWED_FOR_TARGETS = "'square', 'absolute', 'pinball(q)' or 'huber(d)'"


@dataclass(frozen=True)
class Loss:
    """A loss of a forecast under an outcome. Make one with `get`, `pinball` or `function`."""

    kind: str
    quantile: float = 0.5
    delta: float = 1.0
    call: Callable[[float, float], float] | None = None
    gradient: Callable[[float, float], float] | None = None
    is_convex: bool = True

    @property
    def name(self) -> str:
        if self.kind == "pinball":
            return f"pinball({self.quantile!r})"
        if self.kind == "huber":
            return f"huber({self.delta!r})"
        if self.kind == "function":
            return getattr(self.call, "__name__", "function")
        return self.kind

    @property
    def convex(self) -> bool:
        """Whether mixing forecasts loses at most as much as mixing their losses."""
        return self.kind != "zero-one" and self.is_convex

    @property
    def has_slope(self) -> bool:
        return self.kind != "zero-one" and (self.kind != "function" or self.gradient is not None)

    @property
    def steepest(self) -> float | None:
        """The largest size that a slope of a loss of targets can have; None if there is none."""
        known = {"absolute": 1.0, "pinball": max(self.quantile, 1 - self.quantile), "huber": self.delta}
        return known.get(self.kind)

    def in_unit(self, unit: float) -> tuple[Loss, float]:
        """For a loss of targets: the loss of the same numbers divided by the unit, and what one of it is worth."""
        if self.kind == "huber":
            return huber(self.delta / unit), unit * unit
        return self, unit * unit if self.kind == "square" else unit

    def values(self, forecasts: Any, outcomes: Any) -> Floats:
        """The losses of many forecasts; arrays of shapes that fit together. A missing forecast's is NaN.

        The log loss of a forecast that gave no chance to what happened is infinite.
        """
        f, y = self._read(forecasts, outcomes, certain=True)
        if self.kind == "square":
            losses = (f - y) ** 2
        elif self.kind == "absolute":
            losses = np.abs(f - y)
        elif self.kind == "percentage":
            losses = np.abs(f - y) / np.abs(y)
        elif self.kind == "pinball":
            losses = np.where(f < y, self.quantile * (y - f), (1 - self.quantile) * (f - y))
        elif self.kind == "huber":
            sizes = np.abs(f - y)
            losses = np.where(sizes <= self.delta, sizes * sizes / 2, self.delta * (sizes - self.delta / 2))
        elif self.kind == "log":
            with np.errstate(divide="ignore"):
                losses = np.where(y == 1, -np.log(f), -np.log1p(-f))
        elif self.kind == "zero-one":
            losses = (f != y).astype(np.float64)
        else:
            losses = self._call_each(self.call, f, y)
        return np.where(np.isnan(f), np.nan, losses)

    def slopes(self, forecasts: Any, outcomes: Any) -> Floats:
        """The derivatives of the losses by the forecasts."""
        f, y = self._read(forecasts, outcomes)
        if self.kind == "square":
            return np.asarray(2 * (f - y))
        if self.kind == "absolute":
            return np.asarray(np.sign(f - y))
        if self.kind == "percentage":
            return np.asarray(np.sign(f - y) / np.abs(y))
        if self.kind == "pinball":
            return np.where(f < y, -self.quantile, np.where(f > y, 1 - self.quantile, 0.0))
        if self.kind == "huber":
            return np.asarray(np.clip(f - y, -self.delta, self.delta))
        if self.kind == "log":
            return np.where(y == 1, -1 / f, 1 / (1 - f))
        if self.gradient is None:
            raise InputError(f"the loss {self.name} has no slope")
        return self._call_each(self.gradient, f, y)

    def check_outcomes(self, outcomes: Floats, where: str = "outcomes") -> None:
        """Refuse outcomes the loss is not defined for."""
        if self.kind == "percentage":
            allowed, bad = "not 0, because the loss is a percentage of it", outcomes == 0
        elif self.kind == "log":
            allowed, bad = "0 or 1, because the loss is log", (outcomes != 0) & (outcomes != 1)
        else:
            return
        if bad.any():
            at = int(np.argmax(bad))
            raise invalid(where if outcomes.size == 1 else f"{where}[{at}]", allowed, float(outcomes.reshape(-1)[at]))

    def check_forecasts(self, forecasts: Floats, name: Callable[[int], Any] = int, certain: bool = False) -> None:
        """Refuse forecasts the loss is not defined for; ``name`` gives the name of a column.

        Under the log loss, 0 and 1 are allowed where the loss may be infinite: ``certain``.
        """
        if self.kind == "log":
            bad = (forecasts < 0) | (forecasts > 1) if certain else (forecasts <= 0) | (forecasts >= 1)
            if bad.any():
                at = np.unravel_index(int(np.argmax(bad)), forecasts.shape)
                place = ", ".join([*(str(int(i)) for i in at[:-1]), repr(name(int(at[-1])))]) if at else "0"
                allowed = "from 0 to 1" if certain else "strictly between 0 and 1"
                remedy = "" if certain or not 0 <= forecasts[at] <= 1 else f"; {TAKES_CERTAINTY}"
                raise invalid(f"advice[{place}]", f"{allowed}, because the loss is log{remedy}", float(forecasts[at]))

    def _read(self, forecasts: Any, outcomes: Any, certain: bool = False) -> tuple[Floats, Floats]:
        f, y = np.asarray(forecasts, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
        self.check_outcomes(y.reshape(-1))
        self.check_forecasts(f, certain=certain)
        return f, y

    def _call_each(self, call: Callable[[float, float], float] | None, f: Floats, y: Floats) -> Floats:
        assert call is not None
        forecasts, outcomes = np.broadcast_arrays(f, y)
        there = ~np.isnan(forecasts)
        known, seen = forecasts[there].tolist(), outcomes[there].tolist()
        results = np.full(forecasts.shape, np.nan)
        results[there] = np.fromiter(map(float, map(call, known, seen)), np.float64, len(known))
        return results

    def as_data(self) -> str:
        """What is written to a model file."""
        if self.kind == "function":
            raise InputError(f"a learner whose loss is a Python function ({self.name}) cannot be saved; pickle can")
        return self.name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return repr(self.name) if self.kind in NAMED else self.name


def pinball(quantile: float) -> Loss:
    """The loss whose best constant forecast is the given quantile, a number between 0 and 1."""
    if not isinstance(quantile, Real) or isinstance(quantile, bool) or not 0 < float(quantile) < 1:
        raise invalid("quantile", "a number between 0 and 1", quantile)
    return Loss("pinball", float(quantile))


def huber(delta: float) -> Loss:
    """Half the square of errors up to delta, a positive number, and beyond it a line: large errors pull less."""
    return Loss("huber", delta=positive_number("delta", delta))


def function(
    loss: Callable[[float, float], float],
    gradient: Callable[[float, float], float] | None = None,
    convex: bool = True,
) -> Loss:
    """A loss of your own: ``loss(forecast, outcome)``, and its derivative by the forecast for the gradient trick.

    That it is convex in the forecast is your promise; say ``convex=False`` where it is not, and learners will follow
    one expert by chance in each round, not mix their forecasts.
    """
    if not callable(loss):
        raise invalid("loss", "a function of a forecast and an outcome", loss)
    if gradient is not None and not callable(gradient):
        raise invalid("gradient", "a function of a forecast and an outcome", gradient)
    if not isinstance(convex, bool):
        raise invalid("convex", "True or False", convex)
    return Loss("function", call=loss, gradient=gradient, is_convex=convex)


def get(loss: Any) -> Loss:
    """The loss of that name; a `Loss` is given back as it is, a plain function becomes one."""
    if isinstance(loss, Loss):
        return loss
    found = _of_name(loss) if isinstance(loss, str) else None
    if found is None and callable(loss) and not isinstance(loss, type):
        found = function(loss)
    if found is None:
        raise invalid("loss", ALLOWED, loss)
    return found


#: The losses that have a number: how they are made of it, and what it may be.
WITH_A_NUMBER: dict[str, tuple[Callable[[float], Loss], str]] = {
    "pinball": (pinball, "pinball(q) with a quantile q between 0 and 1"),
    "huber": (huber, "huber(d) with a positive finite number d"),
}


def _of_name(name: str) -> Loss | None:
    """The loss of that name, or None; a number in it that is not allowed is refused."""
    if name in NAMED:
        return Loss(name)
    match = re.fullmatch(r"(\w+)\((.+)\)", name.replace(" ", ""))
    if match is None or match[1] not in WITH_A_NUMBER:
        return None
    make, allowed = WITH_A_NUMBER[match[1]]
    try:
        return make(float(match[2]))
    except ValueError:
        raise invalid("loss", allowed, Words(name)) from None


def for_forecasts(loss: Any) -> Loss:
    """The loss of that name, for forecasts of experts."""
    found = get(loss)
    if found.kind == "huber":
        raise invalid("loss", ALLOWED, loss)
    return found


def for_targets(parameter: str, loss: Any) -> str:
    """The name of a loss that regressors take."""
    found = loss if isinstance(loss, Loss) else _of_name(loss) if isinstance(loss, str) else None
    if found is None or found.kind not in OF_TARGETS:
        raise invalid(parameter, ALLOWED_FOR_TARGETS, loss)
    return found.name
