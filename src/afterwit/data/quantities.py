"""The numbers that go into closed formulas: what each may be, checked for one value or for whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import is_number
from afterwit.errors import invalid

Floats = npt.NDArray[np.float64]

#: From here on neighbouring whole numbers are the same float.
EXACT = 2.0**53


@dataclass(frozen=True)
class Range:
    """What a quantity may be: in words, and as a test of finite numbers."""

    allowed: str
    inside: Callable[[Floats], Any]
    whole: bool = False

    def check(self, name: str, value: Any) -> Floats:
        """The value as an array of floats (of no dimension for one number), or one sentence on what is wrong."""
        array = _numbers(value)
        if array is None:
            raise invalid(name, self.allowed, value)
        finite = np.isfinite(array)
        good = finite & self.inside(np.where(finite, array, 0.0))
        if self.whole:
            good &= array == np.floor(array)
        if not np.all(good):
            received = value if array.ndim == 0 else array[~good][0].item()
            raise invalid(name, self.allowed, received)
        return array


def _numbers(value: Any) -> Floats | None:
    """Real numbers as floats; None for anything else, booleans and text among it."""
    if is_number(value):
        try:
            return np.asarray(float(value))
        except OverflowError:
            return None
    if isinstance(value, str | bytes) or not (hasattr(value, "__len__") or isinstance(value, np.ndarray)):
        return None
    try:
        array = np.asarray(value)
        return array.astype(np.float64) if array.dtype.kind in "iuf" else None
    except (TypeError, ValueError):
        return None


POSITIVE = Range("a positive finite number", lambda x: x > 0)
NOT_NEGATIVE = Range("a finite number, 0 or more", lambda x: x >= 0)
COUNT = Range("a whole number, at least 1", lambda x: x >= 1, whole=True)
COUNT_OR_NONE = Range("a whole number, at least 0", lambda x: x >= 0, whole=True)
PROBABILITY = Range("a number above 0 and below 1", lambda x: (x > 0) & (x < 1))
SHARE = Range("a number from 0 to 1", lambda x: (x >= 0) & (x <= 1))
ERROR = Range("a number above 0, at most 1", lambda x: (x > 0) & (x <= 1))
HALF_TO_ONE = Range("a number, at least 1/2 and below 1", lambda x: (x >= 0.5) & (x < 1))
ZERO_TO_ONE = Range("a number, at least 0 and below 1", lambda x: (x >= 0) & (x < 1))
BELOW_HALF = Range("a number above 0 and below 1/2", lambda x: (x > 0) & (x < 0.5))


def plain(value: Any) -> Any:
    """One number as a Python float, many as an array."""
    return value.item() if isinstance(value, np.ndarray | np.generic) and np.ndim(value) == 0 else value


def ln(x: Any) -> Any:
    """The natural logarithm. Python's and numpy's may differ in the last bit: of one number it is Python's."""
    return math.log(x) if isinstance(x, int | float) else np.log(x)


def exp(x: Any) -> Any:
    """The exponential: of one number it is Python's, as for `ln`."""
    return math.exp(x) if isinstance(x, int | float) else np.exp(x)


def logarithm(name: str, count: Any, log_count: Any) -> Floats:
    """ln of a count, which may be too large for a float: given itself, or by its logarithm as ``log_<name>``."""
    if (count is None) == (log_count is None):
        raise invalid(f"{name} or log_{name}", "given, but not both", None if count is None else (count, log_count))
    if log_count is not None:
        return NOT_NEGATIVE.check(f"log_{name}", log_count)
    if isinstance(count, int) and not isinstance(count, bool) and count >= 1:
        return np.asarray(math.log(count))
    return np.log(COUNT.check(name, count))


def smallest_count(value: Callable[[Any], Any], target: Floats, guess: Any, parameter: str) -> Any:
    """The smallest n >= 1 with value(n) <= target, for a value that falls with n and a guess that rounding has moved.

    A Python int, or an array of them. Beyond 2^53, where floats no longer tell n from n + 1, the guess itself.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        target, guess = np.broadcast_arrays(target, np.asarray(guess, dtype=np.float64))
        if not np.isfinite(guess).all():
            raise invalid(parameter, "large enough for the sample size to be a number", plain(target))
        n = np.maximum(np.ceil(guess), 1.0)
        while True:
            fewer = (n > 1) & (n < EXACT) & (value(np.maximum(n - 1, 1)) <= target)
            if not fewer.any():
                break
            n = np.where(fewer, n - 1, n)
        while True:
            more = (n < EXACT) & (value(n) > target)
            if not more.any():
                break
            n = np.where(more, n + 1, n)
    return whole(n)


def whole(n: Any) -> Any:
    """Whole floats as a Python int, or an array of int64 (of Python ints where these are too narrow)."""
    n = np.asarray(n)
    if n.ndim == 0:
        return int(n.item())
    return n.astype(np.int64) if (np.abs(n) < 2.0**63).all() else np.vectorize(int, otypes=[object])(n)
