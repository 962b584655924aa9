"""What happened when a regressor played: its losses and its root mean squared error, in the place of mistakes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from afterwit.core import html
from afterwit.core.aligned import in_columns
from afterwit.core.envelope import Envelope
from afterwit.core.pictured import Pictured
from afterwit.data.losses import get
from afterwit.data.targets import read_targets
from afterwit.errors import InputError, counted

#: The columns of a printed learning curve, and their widths.
HEADS = ("rounds", "loss", "RMSE so far", "since last row", "features")
WIDTHS = (12, 14, 13, 15, 10)
HEADER = in_columns(HEADS, WIDTHS)


@dataclass(frozen=True)
class RegressionPoint:
    """The running totals at one moment; ``recent_rmse`` is over the rounds since the point before."""

    rounds: int
    loss: float
    squared_errors: float
    rmse: float
    recent_rmse: float
    features: int | None

    def cells(self) -> tuple[str, ...]:
        """What is under HEADS."""
        features = "" if self.features is None else f"{self.features:,}"
        return f"{self.rounds:,}", f"{self.loss:,.6g}", f"{self.rmse:.6g}", f"{self.recent_rmse:.6g}", features

    def __str__(self) -> str:
        """A row under HEADER."""
        return in_columns(self.cells(), WIDTHS)


@dataclass
class RegressionRecord(Pictured):
    """What happened: totals, the learning curve (a point at every power of two and at the end), predictions."""

    learner: str
    rounds: int = 0
    #: The total of the learner's own loss, and of the squared errors.
    loss: float = 0.0
    squared_errors: float = 0.0
    curve: list[RegressionPoint] = field(default_factory=list)
    predictions: npt.NDArray[np.float64] | None = None
    #: How often the stream was played: after the first pass no example is new.
    passes: int = 1
    #: How many examples had no target: they were predicted, and are no rounds.
    unlabelled: int = 0
    #: The RMSE so far after every round, as pictures show it.
    trace: Envelope = field(default_factory=Envelope, repr=False)

    #: What was played, as long as the record stays in this process; not part of what happened.
    _played: ClassVar[Any] = None

    def certificate(self, comparator: Any = None) -> Any:
        """The theorems of the learner applied to the rounds that were played. Reads the stream again, a few times if
        it is larger than memory.

        ``comparator`` is what to compare with. The certificate is about all that the learner has learned: it applies if
        these rounds, in all their passes, are the only ones.
        """
        if self._played is None:
            raise InputError("this record has no certificate: only `play` makes one that has, and it is not saved")
        return self._played.certificate(comparator)

    def moments(self) -> list[Any]:
        """The certificates after 1, 2, 4, 8, ... rounds and at the end: what was promised over time.

        As `Record.moments`.
        """
        return [] if self._played is None or self.passes > 1 else self._played.moments()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_played"}

    @property
    def rmse(self) -> float:
        """The root of the mean squared error so far."""
        return math.sqrt(self.squared_errors / self.rounds) if self.rounds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON."""
        return {
            "learner": self.learner,
            "rounds": self.rounds,
            "loss": self.loss,
            "rmse": self.rmse,
            "passes": self.passes,
            **({"unlabelled": self.unlabelled} if self.unlabelled else {}),
            "curve": [vars(point) for point in self.curve],
            "predictions": None if self.predictions is None else self.predictions.tolist(),
        }

    def __str__(self) -> str:
        return "\n".join([HEADER, *map(str, self.curve), *self.last_lines()])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        happened = f"loss {self.loss:,.6g}, RMSE {self.rmse:.6g}"
        heads = ("rounds", "loss", "RMSE so far", "since last row")
        rows = (
            (f"{each.rounds:,}", f"{each.loss:,.6g}", f"{each.rmse:.6g}", f"{each.recent_rmse:.6g}")
            for each in self.curve
        )
        title = f"{self.learner}, {counted(self.rounds, 'round')}"
        sections = [("happened", [happened, *self.last_lines()])]
        return html.block(title, sections, html.grid("over time", heads, rows))

    def last_lines(self) -> list[str]:
        """What comes after the curve: the examples without a target."""
        return [f"without a target: {self.unlabelled:,}, predicted and not learned"] if self.unlabelled else []


class Errors:
    """The losses and squared errors of predictions, summed up in the order of the rounds."""

    def __init__(self, learner: Any) -> None:
        parameters = getattr(learner, "parameters", {})
        if "loss" not in parameters and "learner" in parameters:
            # A learner for each group: the loss is that of each.
            parameters = parameters["learner"].parameters
        self._loss = get(parameters.get("loss", "square"))

    def add(self, predictions: Any, y: Any, record: RegressionRecord) -> None:
        """Add those of further rounds to the totals and the trace of a record; its rounds are counted afterwards."""
        predicted, targets = np.asarray(predictions, dtype=np.float64), read_targets(y)
        with np.errstate(over="ignore"):
            losses = self._loss.values(predicted, targets)
            squares = _sums(record.squared_errors, (predicted - targets) ** 2)
            record.trace.extend(np.sqrt(squares / np.arange(record.rounds + 1, record.rounds + len(squares) + 1)))
        if len(squares):
            record.loss, record.squared_errors = float(_sums(record.loss, losses)[-1]), float(squares[-1])


def _sums(total: float, further: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The totals after each further number, added one after the other, however many come at once."""
    return np.cumsum(np.concatenate([[total], further]))[1:]
