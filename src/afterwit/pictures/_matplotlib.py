"""matplotlib, which only pictures need."""

from __future__ import annotations

import importlib
from typing import Any

from afterwit.errors import MissingExtraError


def matplotlib() -> Any:
    """The package; its absence is one sentence."""
    try:
        return importlib.import_module("matplotlib")
    except ImportError as error:
        raise MissingExtraError("pictures and reports", "matplotlib", "plot") from error


def pyplot() -> Any:
    """What makes figures that appear by themselves: in notebooks and in windows."""
    matplotlib()
    return importlib.import_module("matplotlib.pyplot")
