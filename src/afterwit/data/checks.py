"""What an option may be: the one place where whole numbers, numbers, flags and choices are checked.

Every check takes the parameter's name and the value, and returns the value in the form in which it is kept, or raises
the one sentence for bad input. numpy's numbers count as numbers, booleans do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from afterwit.errors import invalid

#: A check of one option: its name and its value, to the value that is kept.
Check = Callable[[str, Any], Any]

#: Counters are 64 bits wide; a count that large is a mistake.
LARGEST_COUNT = 2**62
#: Beyond this a whole number has no float.
FLOAT_MAX = float(np.finfo(np.float64).max)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number of any integer type."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_number(value: Any) -> bool:
    """Whether it is a real number of any type, finite or not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def whole_number(parameter: str, value: Any, least: int = 0, most: float = LARGEST_COUNT - 1, words: str = "") -> int:
    """A whole number from ``least`` to ``most``; ``words`` describe what is allowed if "at least" does not."""
    if not is_whole(value) or not least <= int(value) <= most:
        raise invalid(parameter, words or f"a whole number, at least {least}", value)
    return int(value)


def count(parameter: str, value: Any) -> int:
    """A whole number, at least 1."""
    return whole_number(parameter, value, 1)


def count_of(things: str, least: int = 1) -> Check:
    """A whole number of these, at least ``least``."""
    return lambda parameter, value: whole_number(
        parameter, value, least, words=f"a whole number of {things}, at least {least}"
    )


def seed(parameter: str, value: Any) -> int:
    """What random draws depend on."""
    return whole_number(parameter, value, 0, 2**64 - 1, "a whole number, at least 0 and below 2^64")


def numpy_seed(parameter: str, value: Any) -> int:
    """What numpy's random draws depend on: a whole number of any size."""
    return whole_number(parameter, value, 0, math.inf)


def real_number(parameter: str, value: Any, allowed: str, low: float, high: float = math.inf) -> float:
    """A finite number strictly above ``low`` and at most ``high``."""
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        number = math.nan
    if not low < number <= high or math.isinf(number):
        raise invalid(parameter, allowed, value)
    return number


def positive_number(parameter: str, value: Any) -> float:
    """A positive finite number of any numeric type, as a float."""
    return real_number(parameter, value, "a positive finite number", 0.0)


def zero_or_positive(parameter: str, value: Any, words: str = "a positive finite number") -> float:
    """0, or a positive finite number."""
    return 0.0 if is_number(value) and value == 0 else real_number(parameter, value, words, 0.0)


def not_negative(parameter: str, value: Any, allowed: str, high: float = math.inf) -> float:
    """A finite number from 0 to ``high``."""
    return 0.0 if is_number(value) and value == 0 else real_number(parameter, value, allowed, 0.0, high)


def share(parameter: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    return between(parameter, value, 0.0, 1.0, "above 0 and below 1")


def between(parameter: str, value: Any, low: float, high: float, words: str) -> float:
    """A number strictly between two others."""
    if not is_number(value) or not low < value < high:
        raise invalid(parameter, words, value)
    return float(value)


def flag(parameter: str, value: Any) -> bool:
    """True or False, of Python or of numpy."""
    if not isinstance(value, bool | np.bool_):
        raise invalid(parameter, "True or False", value)
    return bool(value)


def one_of(choices: Sequence[str], remedy: str = "") -> Check:
    """One of a few words; ``remedy`` says what to do if that is not what you want."""
    words = " or ".join(map(repr, choices)) if len(choices) < 3 else f"one of {', '.join(map(repr, choices))}"
    words += f" ({remedy})" if remedy else ""

    def check(parameter: str, value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise invalid(parameter, words, value)
        return str(value)

    return check


def optional(check: Check) -> Check:
    """None, or what another check allows."""
    return lambda parameter, value: None if value is None else check(parameter, value)


def as_given(parameter: str, value: Any) -> Any:
    """Anything: it is checked where it is used."""
    del parameter
    return value
