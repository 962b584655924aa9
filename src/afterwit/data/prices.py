"""What price relatives may be, and wealth from its logarithm."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from afterwit.data.advice import Experts
from afterwit.errors import invalid

Floats = npt.NDArray[np.float64]

#: A relative is not further from 1, so that products of two and the squares of their ratios are numbers.
SMALLEST, LARGEST = 1e-50, 1e50
RELATIVES = (
    f"a number from {SMALLEST:g} to {LARGEST:g}, the price after the round over the price before it "
    f"(afterwit.portfolios.relatives makes them of prices; of an asset that lost all its value it is {SMALLEST:g})"
)


def check_relatives(values: Floats, assets: Experts) -> None:
    """Refuse what cannot be price relatives."""
    refuse_all_but(values, assets, "relatives", RELATIVES, SMALLEST, LARGEST)


def refuse_all_but(values: Floats, assets: Experts, parameter: str, allowed: str, low: float, high: float) -> None:
    """Refuse what is not between the ends, or missing."""
    inside = (values >= low) & (values <= high)
    if not inside.all():
        i, j = np.argwhere(~inside)[0].tolist()
        place = f"{assets.name(j)!r}" if len(values) == 1 else f"{i}, {assets.name(j)!r}"
        raise invalid(f"{parameter}[{place}]", allowed, float(values[i, j]))


def wealth_of(log_wealth: float) -> float:
    """The exponential; infinity where it is no number."""
    return math.exp(log_wealth) if log_wealth < 709 else math.inf
