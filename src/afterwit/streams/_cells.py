"""What a cell says: times, truth values, numbers as text. Shared by all readers of tables, so that they agree."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

#: A cell that says this, in capitals or not, is a missing number, and also a missing truth value or moment.
MISSING_NUMBERS = frozenset(("", "na", "n/a", "nan", "null", "none"))
#: Beyond this a float does not hold every whole number.
LARGEST_WHOLE = 2**53
#: What is allowed, for messages.
A_NUMBER = "a finite number was expected, or nothing, NA, N/A, NaN, null or None for a missing one"
TAKE_AS_NAMES = "take the column as a category (--categorical) or leave it out (--ignore)"
A_BOOLEAN = "true or false was expected"
A_TIME = (
    "a date or moment was expected, such as 2024-01-31, 2024-01-31 13:45, 2024-01-31T13:45:07.123456 or "
    "2024-01-31 13:45:07+01:00"
)

#: A number as text has it: Python would also read 1_000, and digits of other scripts.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: What many countries write for 1.5.
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
BOOLEANS = {"true": 1.0, "false": 0.0}

_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(?::?[0-5][0-9])?)?)?"
)
NO_TIME = np.datetime64("NaT", "us")


def number_of(text: str) -> float | None:
    """The finite number that a text says, NaN if it stands for a missing one; None if it is something else."""
    said = text.strip(" \t")
    if said.lower() in MISSING_NUMBERS:
        return math.nan
    number = float(said) if NUMBER.fullmatch(said) else math.inf
    return number if math.isfinite(number) else None


def boolean_of(text: str) -> bool | None:
    """True or false in capitals or not; None if it is something else."""
    found = BOOLEANS.get(text.lower())
    return None if found is None else found == 1.0


def time_of(text: str) -> np.datetime64 | None:
    """A date or moment as ISO 8601 writes it; None if it is something else. With an offset it is converted to UTC."""
    found = _datetime_of(text)
    return None if found is None else np.datetime64(found, "us")


def _datetime_of(text: str) -> datetime | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found if match[1] is None else found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        # No such day, or, in UTC, before the first or after the last year.
        return None


def booleans_of(texts: Sequence[str]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """1 or 0 for every text, and which texts are neither true nor false."""
    found = np.array([BOOLEANS.get(text.lower()) for text in texts], dtype=np.float64)
    return found, np.isnan(found)


def times_of(texts: Sequence[str]) -> tuple[npt.NDArray[np.datetime64], npt.NDArray[np.bool_]]:
    """A moment for every text, and which texts are none."""
    found: npt.NDArray[np.datetime64] = np.array([_datetime_of(text) for text in texts], dtype="datetime64[us]")
    return found, np.isnat(found)


def number_as_text(value: Any) -> str:
    """How a number is written where it stands for a word: 3 and not 3.0, so that equal numbers are the same word."""
    if isinstance(value, int | np.integer):
        return str(int(value))
    number = float(value)
    # Adding 0 makes the zero that is negative an ordinary one.
    return repr(number + 0.0).removesuffix(".0")
