"""What the adversaries' parameters must be, in one place."""

from __future__ import annotations

import math
from typing import Any

from afterwit.errors import invalid


def whole_number(parameter: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise invalid(parameter, f"a whole number, at least {least}", value)
    return value


def real_number(parameter: str, value: Any, allowed: str, low: float, high: float = math.inf) -> float:
    """A number strictly above ``low`` and at most ``high``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low < value <= high or math.isinf(value):
        raise invalid(parameter, allowed, value)
    return float(value)
