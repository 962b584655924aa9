"""Reading rounds for hindsight: advice and outcomes, or the losses themselves; NaN where an expert sleeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import losses as losses_module
from afterwit.data.advice import MANY, Experts, check_presence, read_outcomes, read_rounds
from afterwit.data.losses import Loss
from afterwit.data.rows import FRAME_LIBRARIES, as_mapping
from afterwit.data.values import is_masked_array
from afterwit.errors import InputError, Words, invalid

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Advice:
    """Checked rounds: a row for each round, a column for each expert."""

    values: Floats
    outcomes: Floats
    loss: Loss
    experts: Experts

    @property
    def names(self) -> tuple[Any, ...] | None:
        return self.experts.names or None


def read_advice(advice: Any, outcomes: Any, loss: Any, sleepers_refused: str = "") -> Advice:
    """Advice, outcomes and the loss; where sleepers are not allowed, with the reason to give."""
    function = losses_module.for_forecasts(loss)
    values, experts = read_matrix(advice, "advice")
    check_presence(values, experts, not sleepers_refused, sleepers_refused)
    read = read_outcomes(outcomes, len(values))
    function.check_outcomes(read)
    function.check_forecasts(values, certain=True)
    return Advice(values, read, function, experts)


def read_losses(advice: Any, outcomes: Any, loss: Any, losses: Any) -> tuple[Floats, Experts]:
    """Everyone's loss in every round, from whichever the user has."""
    if losses is None:
        if advice is None or outcomes is None:
            raise InputError("advice and outcomes must be given, or losses; received neither")
        read = read_advice(advice, outcomes, loss)
        with np.errstate(over="ignore"):
            values = read.loss.values(read.values, read.outcomes[:, np.newaxis])
        # Only the log loss may be infinite.
        endless = np.isinf(values).any() and read.loss.kind != "log"
        if endless or np.isnan(values[~np.isnan(read.values)]).any():
            raise invalid("every loss", "a finite number", Words("one that is not"))
        return values, read.experts
    if advice is not None or outcomes is not None:
        raise InputError("advice and outcomes must be given, or losses; received both")
    values, experts = read_matrix(losses, "losses")
    check_presence(values, experts, True, "", "losses")
    return values, experts


def read_matrix(rounds: Any, parameter: str) -> tuple[Floats, Experts]:
    """Rows of numbers, and as many experts as there are columns."""
    if type(rounds).__module__.partition(".")[0] in FRAME_LIBRARIES:
        shape: tuple[int, ...] = getattr(rounds, "shape", ())
        count = shape[1] if len(shape) == 2 else 1
    elif isinstance(rounds, Sequence) and len(rounds) and all(isinstance(as_mapping(row), Mapping) for row in rounds):
        count = len({name for row in rounds for name in as_mapping(row)})
    else:
        if isinstance(rounds, (str, bytes)) or not (hasattr(rounds, "__array__") or isinstance(rounds, Sequence)):
            raise invalid(parameter, MANY, rounds)
        try:
            rounds = rounds if is_masked_array(rounds) else np.asarray(rounds)
        except (TypeError, ValueError):
            raise invalid(parameter, MANY, rounds) from None
        if rounds.ndim != 2:
            raise invalid(parameter, MANY, Words(f"an array of shape {rounds.shape}"))
        count = rounds.shape[1]
    if count < 1:
        raise invalid(parameter, "from at least one expert", Words("none"))
    return read_rounds(rounds, Experts(count), fresh=True, parameter=parameter)


def by_name(vector: Floats, names: tuple[Any, ...] | None) -> Any:
    """One number for each expert, by name if they have names, otherwise by position."""
    return vector.copy() if names is None else dict(zip(names, vector.tolist(), strict=True))


def frozen(array: Any) -> Any:
    """The array, not to be written to any more."""
    array.setflags(write=False)
    return array


def largest_shares(vector: Floats, names: tuple[Any, ...] | None, most: int = 5) -> str:
    """The largest weights in words, for printing."""
    order = [int(i) for i in np.argsort(-np.abs(vector), kind="stable") if vector[i] != 0]
    shown = [f"{i if names is None else names[i]} {vector[i]:.4g}" for i in order[:most]]
    more = f", and {len(order) - most:,} more" if len(order) > most else ""
    return ", ".join(shown) + more
