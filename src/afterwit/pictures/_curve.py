"""The error so far of a record, as curves show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.envelope import Floats


def so_far(record: Any) -> tuple[npt.NDArray[np.int64], Floats, Floats, Floats]:
    """Rounds, and the least, largest and last error (or RMSE) up to each since the one before.

    First the points at powers of two up to the first piece of the trace, then its pieces.
    """
    trace = record.trace
    early = [point for point in record.curve if point.rounds < trace.width]
    values = np.array([point.rmse if hasattr(point, "rmse") else point.error for point in early])
    rounds = np.array([point.rounds for point in early], dtype=np.int64)
    return (
        np.concatenate([rounds, trace.ends]),
        np.concatenate([values, trace.low]),
        np.concatenate([values, trace.high]),
        np.concatenate([values, trace.last]),
    )
