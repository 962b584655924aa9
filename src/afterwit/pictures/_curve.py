"""The error so far of a record, as curves show it, and the axes on which they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.envelope import Floats
from afterwit.pictures._axes import rounds_along


def curve_of(record: Any) -> tuple[npt.NDArray[np.int64], Floats, Floats, Floats]:
    """The error or the RMSE so far: rounds, least, largest and last value.

    These are the points of the curve at powers of two up to the first piece of the trace, and then the pieces.
    """
    trace = record.trace
    early = [point for point in record.curve if point.rounds < trace.width]
    values = np.array([point.rmse if hasattr(record, "rmse") else point.error for point in early])
    rounds = np.array([point.rounds for point in early], dtype=np.int64)
    return (
        np.concatenate([rounds, trace.ends]),
        np.concatenate([values, trace.low]),
        np.concatenate([values, trace.high]),
        np.concatenate([values, trace.last]),
    )


def axes_of_rounds(ax: Any, last: int, regression: bool) -> None:
    """Rounds from 1 on, logarithmic; errors in percent, or in the unit of the target."""
    rounds_along(ax, last, log=last > 0)
    ax.set_ylabel("root mean squared error" if regression else "mistakes per round")
    if last:
        # A little room at the right, so that no marker is cut.
        ax.set_xlim(1, max(2.0, float(last) ** 1.012))
    if not regression:
        ax.yaxis.set_major_formatter(percent)


def percent(value: float, _: Any = None) -> str:
    """A share as the ticks of an axis show it."""
    return f"{100 * value:,.6g}%" if value else "0"
