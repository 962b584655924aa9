"""The one place where what a regressor is to predict is read: finite real numbers, as float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import is_number
from afterwit.data.labels import listed
from afterwit.errors import Words, counted, invalid

Targets = npt.NDArray[np.float64]

ALLOWED = "a finite number"


def read_target(y: Any, where: str = "y") -> float:
    """One target.

    >>> read_target(3)
    3.0
    >>> read_target("3")
    Traceback (most recent call last):
        ...
    afterwit.errors.InputError: y must be a finite number; received '3'
    """
    if type(y) is not float:
        try:
            number = float(y) if is_number(y) else math.nan
        except OverflowError:
            number = math.nan
    else:
        number = y
    if not math.isfinite(number):
        raise invalid(where, ALLOWED, y.item() if isinstance(y, np.generic) else y)
    return number


def read_targets(y: Any, first: int = 0) -> Targets:
    """Many targets (a sequence, an array, or a column of any DataFrame library), in an array of their own.

    ``first`` is the number of the first target, for messages about part of a longer sequence.
    """
    numbers = listed(y, "numbers")
    if not (isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iuf"):
        each = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
        return np.array([read_target(number, f"y[{first + i}]") for i, number in enumerate(each)], dtype=np.float64)
    with np.errstate(over="ignore"):
        targets = np.array(numbers, dtype=np.float64)
    if not np.isfinite(targets).all():
        at = int(np.argmin(np.isfinite(targets)))
        raise invalid(f"y[{first + at}]", ALLOWED, numbers[at].item())
    return targets


def require_length(targets: Targets, count: int) -> None:
    """Refuse more or fewer targets than there are rows."""
    if len(targets) != count:
        raise invalid("y", f"as long as X ({counted(count, 'row')})", Words(counted(len(targets), "number")))
