"""What became of the predictions that were served: totals, the learning curve, how late labels came.

All of it is a function of the log: of what callers were told, and of the labels that came.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from afterwit.data.losses import Loss
from afterwit.serve.log import Served

#: How many pieces the curve has at most, an even number.
PIECES = 512
#: How many labels "lately" is about.
LATELY = 1_000


class Curve:
    """The running total of a loss at the ends of equal pieces; neighbours are joined when there are too many.

    >>> curve = Curve(most=4)
    >>> for loss in (1, 0, 0, 1, 0, 0):
    ...     curve.add(loss)
    >>> curve.points()
    [(2, 1), (4, 2), (6, 2)]
    """

    def __init__(self, most: int = PIECES) -> None:
        self._most = most
        self.width = 1
        self.rounds = 0
        self.total: float = 0
        self._ends: list[float] = []

    def add(self, loss: float) -> None:
        """One more round."""
        if self.rounds == self.width * self._most:
            self._ends = self._ends[1::2]
            self.width *= 2
        self.rounds += 1
        self.total += loss
        if self.rounds % self.width == 0:
            self._ends.append(self.total)

    def points(self) -> list[tuple[int, float]]:
        """The total after so many rounds: at the end of each piece, and now."""
        found = [((i + 1) * self.width, total) for i, total in enumerate(self._ends)]
        return found if self.rounds % self.width == 0 else [*found, (self.rounds, self.total)]

    def state(self) -> dict[str, Any]:
        return {"width": self.width, "rounds": self.rounds, "total": self.total, "ends": list(self._ends)}

    def restore(self, state: dict[str, Any]) -> None:
        self.width, self.rounds, self.total = state["width"], state["rounds"], state["total"]
        self._ends = list(state["ends"])


class Spread:
    """How many of a kind of whole numbers there were: of 0, of 1, of 2 and 3, of 4 to 7, ..."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.total = 0
        self.largest = 0

    def add(self, number: int) -> None:
        place = number.bit_length()
        if place >= len(self.counts):
            self.counts += [0] * (place + 1 - len(self.counts))
        self.counts[place] += 1
        self.total += number
        self.largest = max(self.largest, number)

    def state(self) -> dict[str, Any]:
        return {"counts": list(self.counts), "total": self.total, "largest": self.largest}

    def restore(self, state: dict[str, Any]) -> None:
        self.counts, self.total, self.largest = list(state["counts"]), state["total"], state["largest"]

    def described(self) -> dict[str, Any]:
        """The counts with the least number of each kind."""
        found = [{"from": 1 << i >> 1, "count": count} for i, count in enumerate(self.counts)]
        rounds = sum(self.counts)
        return {"spread": found, "largest": self.largest, "mean": self.total / rounds if rounds else None}


class Progress:
    """The totals of a model."""

    def __init__(self, loss: Loss | None) -> None:
        #: What is lost by a forecast; None where predictions are right or wrong.
        self._loss = loss
        #: Examples that were predicted; that came with their labels; labels that came later.
        self.predictions = 0
        self.examples = 0
        self.labels = 0
        #: Predictions whose label did not come in time, and whose label the learner did not ask for.
        self.expired = 0
        self.unasked = 0
        #: Of numbers.
        self.squares = 0.0
        #: Of intervals: those that covered the outcome, those that were everything, and the widths of the others.
        self.covered = 0
        self.infinite = 0
        self.widths = 0.0
        self.has_intervals = False
        self.curve = Curve()
        self.recent: deque[float] = deque(maxlen=LATELY)
        #: How many other rounds, and milliseconds, were between prediction and label.
        self.rounds_between = Spread()
        self.milliseconds = Spread()

    @property
    def waiting(self) -> int:
        """How many predictions wait for their label."""
        return self.predictions - self.labels - self.expired - self.unasked

    @property
    def lately(self) -> float | None:
        """The mean loss lately."""
        return sum(self.recent) / len(self.recent) if self.recent else None

    def see(self, served: Served, y: Any, at: int, rounds: int) -> None:
        """The label of an example has come, when so many rounds had been learned."""
        if served.how == "learn":
            self.examples += 1
        else:
            self.labels += 1
            self.rounds_between.add(max(0, rounds - served.said["rounds"]))
            self.milliseconds.add(max(0, at - served.at) // 1000)
        loss = self._judged(served, y)
        self.curve.add(loss)
        self.recent.append(loss)

    def _judged(self, served: Served, y: Any) -> float:
        said = served.said
        if self._loss is None:
            # Before its first label a learner made without labels says -1, which may then turn out to be 0.
            also_right = y == 0 and said["label"] == -1 and served.more.get("undecided", False)
            return int(said["label"] != y and not also_right)
        forecast, outcome = said["forecast"], y
        if not isinstance(forecast, list):
            self.squares += (forecast - outcome) * (forecast - outcome)
        if "interval" in said:
            self._see_interval(said["interval"], outcome)
        if self._loss.kind == "square":
            return float((forecast - outcome) * (forecast - outcome))
        return float(self._loss.values([forecast], [outcome])[0])

    def _see_interval(self, interval: list[Any], outcome: float) -> None:
        self.has_intervals = True
        low, high = interval
        if low is None or high is None:
            self.infinite += 1
            self.covered += 1
            return
        self.widths += high - low
        self.covered += low <= outcome <= high

    # ------------------------------------------------------------------ reading

    def totals(self) -> dict[str, Any]:
        """The numbers as they are shown."""
        rounds = self.curve.rounds
        found: dict[str, Any] = {
            "predictions": self.predictions,
            "labels": self.labels,
            "examples": self.examples,
            "expired": self.expired,
            "unasked": self.unasked,
            "waiting": self.waiting,
            "rounds": rounds,
        }
        lately = self.lately
        if self._loss is None:
            found |= {"mistakes": int(self.curve.total), "error": self._share(self.curve.total), "error_lately": lately}
        else:
            mean = self._share(self.squares)
            found |= {"loss": self.curve.total, "mean_loss": self._share(self.curve.total), "mean_loss_lately": lately}
            found |= {"rmse": None if mean is None else mean**0.5}
        if self.has_intervals:
            finite = rounds - self.infinite
            found |= {"covered": self.covered, "coverage": self._share(self.covered), "infinite": self.infinite}
            found |= {"mean_width": self.widths / finite if finite else None}
        return found | {"lately": len(self.recent)}

    def _share(self, total: float) -> float | None:
        return total / self.curve.rounds if self.curve.rounds else None

    def delays(self) -> dict[str, Any]:
        """How late labels came."""
        return {"rounds": self.rounds_between.described(), "milliseconds": self.milliseconds.described()}

    # ------------------------------------------------------------------ saving

    _PLAIN = (
        "predictions",
        "examples",
        "labels",
        "expired",
        "unasked",
        "squares",
        "covered",
        "infinite",
        "widths",
        "has_intervals",
    )

    def state(self) -> dict[str, Any]:
        """All of it as plain data."""
        parts = {
            "curve": self.curve.state(),
            "recent": list(self.recent),
            "rounds_between": self.rounds_between.state(),
            "milliseconds": self.milliseconds.state(),
        }
        return {**{name: getattr(self, name) for name in self._PLAIN}, **parts}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what this was the state of."""
        for name in self._PLAIN:
            setattr(self, name, state[name])
        self.curve.restore(state["curve"])
        self.recent = deque(state["recent"], maxlen=LATELY)
        self.rounds_between.restore(state["rounds_between"])
        self.milliseconds.restore(state["milliseconds"])
