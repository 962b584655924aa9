"""The options and the kinds of state that several expert algorithms declare."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.core.declared import Count, Kept, Number, Numbers, Option, is_not_negative
from afterwit.data import losses
from afterwit.data.advice import Experts, read_experts
from afterwit.data.checks import count, flag, optional, positive_number, whole_number
from afterwit.data.values import are_different
from afterwit.data.vectors import kinds_given
from afterwit.errors import invalid

#: A loss beyond this is refused: its square would not be a number.
LARGEST_LOSS = 1e150
#: A gain below this counts as none where its square is needed: that would not be a number above 0. A range of losses
#: is at least as wide.
LEAST_GAIN = 1e-150
#: How far a loss may be outside its range, as a part of it, to count as rounding.
RANGE_SLACK = 1e-9


def experts_given(parameter: str, value: Any) -> Any:
    """How many experts, or a tuple of their names."""
    experts = read_experts(value, parameter)
    return experts.names or experts.count


def loss_given(_: str, value: Any) -> Any:
    """The name of a loss; a loss that is a function of the user's has none, and stays an object."""
    loss = losses.for_forecasts(value)
    return loss if loss.kind == "function" else loss.name


def loss_range(parameter: str, value: Any) -> tuple[float, float]:
    """The least and the greatest loss."""
    try:
        low, high = (float(end) for end in value)
        if -LARGEST_LOSS < low < high < LARGEST_LOSS and high - low >= LEAST_GAIN:
            return low, high
    except (TypeError, ValueError, OverflowError):
        pass
    sizes = f"below {LARGEST_LOSS:g} in size, high at least {LEAST_GAIN:g} above low"
    raise invalid(parameter, f"a pair (low, high) of finite numbers {sizes}", value)


def natural_range(loss: Any) -> tuple[float, float]:
    """The range that losses have if nothing is said: what the Brier loss of probability vectors can be, or [0, 1]."""
    return (0.0, 2.0) if loss == "brier" else (0.0, 1.0)


def unit_range(parameter: str, value: Any) -> tuple[float, float]:
    """The same; None stands for losses from 0 to 1."""
    return (0.0, 1.0) if value is None else loss_range(parameter, value)


N_EXPERTS = Option("n_experts", check=experts_given)
SQUARE_LOSS = Option("loss", "square", loss_given)
ZERO_ONE_LOSS = Option("loss", "zero-one", loss_given)
#: Whether it learns from slopes. None: if the loss has slopes and is convex.
GRADIENT = Option("gradient", False, optional(flag))
GRADIENT_IF_ANY = Option("gradient", None, optional(flag))
LOSS_RANGE = Option("loss_range", None, optional(loss_range))
UNIT_RANGE = Option("loss_range", (0.0, 1.0), unit_range)
RATE = Option("rate", None, optional(positive_number))
HORIZON = Option("horizon", None, optional(count))
SEED = Option("seed", 0, whole_number)
#: The kinds of outcomes, where forecasts are probability vectors; None where they are numbers.
OUTCOMES = Option("outcomes", None, optional(kinds_given))


def each_expert(learner: Any) -> tuple[int]:
    """The shape of an array with a number for each expert."""
    return (learner._n,)


def each_slope(learner: Any) -> tuple[int]:
    """The same where it learns from slopes; otherwise nothing is kept."""
    return (learner._n if learner._linear else 0,)


@dataclass(frozen=True)
class Counts(Kept):
    """A whole number for each expert, none above the number of rounds."""

    def read(self, learner: Any) -> Any:
        return np.array(getattr(learner, self.attribute))

    def check(self, learner: Any, value: Any) -> None:
        if not isinstance(value, np.ndarray) or value.dtype != np.int64 or value.shape != each_expert(learner):
            raise invalid(self.name, f"an array of {learner._n} whole numbers", value)
        if value.min() < 0:
            raise invalid(self.name, "counts, at least 0", value)

    def write(self, learner: Any, value: Any) -> None:
        setattr(learner, self.attribute, learner._view(value.copy()))


#: The sums in which an infinite loss appears, and as what.
INFINITE_SUMS = {"expert_losses": math.inf, "regrets": -math.inf, "cumulative": math.inf}


#: What a state has in place of something that was not kept when it was saved.
NOT_KEPT: Any = object()


@dataclass(frozen=True)
class InfiniteLosses(Counts):
    """For each expert, in how many rounds its loss was infinite; nothing where no loss can be."""

    def check(self, learner: Any, value: Any) -> None:
        if value is NOT_KEPT:
            return
        if len(np.asarray(learner._infinite)):
            super().check(learner, value)
            if (value > 0).all():
                raise invalid(self.name, "0 for at least one expert", value)
        elif not isinstance(value, np.ndarray) or value.dtype != np.int64 or value.shape != (0,):
            raise invalid(self.name, "an empty array of whole numbers", value)

    def write(self, learner: Any, value: Any) -> None:
        fresh = np.zeros(len(np.asarray(learner._infinite)), dtype=np.int64)
        super().write(learner, fresh if value is NOT_KEPT else value)


@dataclass(frozen=True)
class ExpertNames(Kept):
    """The names of the experts, as far as they are known."""

    @property
    def attribute(self) -> str:
        return "_experts"

    def read(self, learner: Any) -> list[Any]:
        return list(learner._experts.names)

    def check(self, learner: Any, value: Any) -> None:
        if not are_different(value) or len(value) > learner._n:
            raise invalid(self.name, f"at most {learner._n} different names", value)
        given = read_experts(learner._given_experts()).names
        if given and value != list(given):
            raise invalid(self.name, "those it was made with", value)

    def write(self, learner: Any, value: Any) -> None:
        learner._experts = Experts(learner._n, value)


#: What every expert algorithm counts.
COUNTED = (
    Count("rounds"),
    Count("unforecast"),
    ExpertNames("names"),
    Number("loss"),
    Numbers("expert_losses", each_expert),
    Numbers("regrets", each_expert),
    Numbers("slope_regrets", each_slope),
    Counts("asleep_rounds"),
    Number("size", is_not_negative, "a finite number, at least 0", before=0.0),
    Number("blur", is_not_negative, "a finite number, at least 0", before=0.0),
    Number("outside", is_not_negative, "a finite number, at least 0", before=0.0),
)
