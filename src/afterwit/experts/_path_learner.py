"""What learners of paths share: the graph, reading costs, the totals, the best path in hindsight, state.

A learner derived from `PathLearner` says what it does in many rounds (``_learn``). Experts are the paths of a graph of
parallel edges, and so are covered too.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate
from afterwit.core.learner import Storable
from afterwit.data.draws import Draws, checked_seed
from afterwit.errors import Words, invalid
from afterwit.experts._graph import Edge, Numbers, PathGraph
from afterwit.experts._pushing import view

#: The ends of a range may be this far out, so that no sum over rounds and edges overflows; rates likewise.
FARTHEST = 1e100
#: A narrower range, relative to its ends, would drown in the rounding of the totals.
NARROWEST = 1e-6


class PathLearner(Storable):
    """Learns from the costs of all edges, round after round."""

    role = "decisions"
    no_theorem_because = ""

    def __init__(
        self, graph: PathGraph, cost_range: Any, horizon: Any, seed: Any, *, costs: str = "cost", of: str = "edge"
    ) -> None:
        self._words = (costs, of)
        self._horizon = None if horizon is None else checked_count("horizon", horizon, "rounds")
        self._low, self._high = _checked_range(f"{costs}_range", cost_range)
        self._seed = checked_seed(seed)
        self._draws = Draws(self._seed)
        self._graph = graph
        self._width = graph.width(self._low, self._high)
        self._lock = threading.RLock()
        self._layout = (view(graph.first), view(graph.heads), view(graph.places))
        self._rounds, self._loss, self._totals = 0, 0.0, np.zeros(len(graph.edges))

    # ------------------------------------------------------------------ rounds

    def _learn(self, costs: Numbers) -> Numbers:
        """Learn the rows in order; the cost of each round. Called with the lock held."""
        raise NotImplementedError

    def _learned_one(self, costs: Any) -> float:
        row = self._read_one(costs)
        with self._lock:
            return float(self._learn(row)[0])

    def _learned_many(self, costs: Any) -> Numbers:
        rows = self._read_many(costs)
        with self._lock:
            return self._learn(rows)

    # ------------------------------------------------------------------ reading costs

    def _read_one(self, costs: Any) -> Numbers:
        if isinstance(costs, Mapping):
            costs = self._in_order(costs, "")
        array = self._numbers(costs)
        if array.shape != (len(self._totals),):
            raise self._misshapen(f"{len(self._totals)} numbers, one for each {self._words[1]}", array)
        return self._in_range(array[None, :])

    def _read_many(self, costs: Any) -> Numbers:
        if isinstance(costs, Sequence):
            costs = [
                self._in_order(row, f"[{place}]") if isinstance(row, Mapping) else self._numbers(row)
                for place, row in enumerate(costs)
            ]
        array = self._numbers(costs)
        if array.shape == (0,):
            array = array.reshape(0, len(self._totals))
        if array.ndim != 2 or array.shape[1] != len(self._totals):
            wanted = f"a row for each round of {len(self._totals)} numbers, one for each {self._words[1]}"
            raise self._misshapen(wanted, array)
        return self._in_range(array)

    def _in_order(self, costs: Mapping[Any, Any], where: str) -> list[Any]:
        """The values of a dict edge -> cost in the order of the edges."""
        name = f"{self._plural}{where}"
        if self._words[1] != "edge":
            raise invalid(name, f"a sequence, one number for each {self._words[1]}", costs)
        position = self._graph.position
        for edge in costs:
            if edge not in position:
                raise invalid(name, "a dict with an entry for every edge and no other", Words(f"one for {edge!r}"))
        for edge in self._graph.edges:
            if edge not in costs:
                raise invalid(name, "a dict with an entry for every edge", Words(f"none for {edge!r}"))
        return [costs[edge] for edge in self._graph.edges]

    def _numbers(self, costs: Any) -> Any:
        if isinstance(costs, np.ma.MaskedArray):
            raise invalid(self._plural, "numbers, without a mask", Words("a masked array"))
        try:
            array = np.asarray(costs)
        except ValueError:
            raise invalid(self._plural, "rows of numbers, all of one length", costs) from None
        if array.size and array.dtype.kind not in "biuf":
            raise invalid(self._plural, "numbers", costs)
        return array

    def _in_range(self, array: Any) -> Numbers:
        inside = (array >= self._low) & (array <= self._high)
        if not inside.all():
            row, column = (int(place) for place in np.argwhere(~inside)[0])
            where = f" in round {self._rounds + row + 1}" if len(array) > 1 else ""
            which = f"{self._graph.edges[column]!r}" if self._words[1] == "edge" else f"{column}"
            received = f"{array[row, column].item()!r} for {self._words[1]} {which}{where}"
            allowed = f"numbers from {self._low:g} to {self._high:g}, the {self._words[0]}_range, none missing"
            raise invalid(self._plural, allowed, Words(received))
        return np.require(array, dtype=np.float64, requirements=["C", "W"])

    def _misshapen(self, wanted: str, array: Any) -> Exception:
        return invalid(self._plural, wanted, Words(f"an array of shape {array.shape}"))

    @property
    def _plural(self) -> str:
        return {"cost": "costs", "loss": "losses"}[self._words[0]]

    # ------------------------------------------------------------------ what it knows

    @property
    def graph(self) -> PathGraph:
        """The graph: ``edges``, ``nodes``, ``source``, ``sink``, ``path_count``, ``longest``, ``shortest``."""
        return self._graph

    @property
    def horizon(self) -> int | None:
        """The number of rounds it was tuned to, if to any."""
        return self._horizon

    @property
    def seed(self) -> int:
        """Of its draws."""
        return self._seed

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def loss(self) -> float:
        """The cost of all rounds together."""
        return self._loss

    @property
    def regret(self) -> float:
        """The loss less the cost of the best path in hindsight."""
        with self._lock:
            return self._loss - self.best_cost

    @property
    def best_cost(self) -> float:
        """What the best path would have cost in all rounds together."""
        with self._lock:
            return math.fsum(self._totals[self._graph.least(self._totals)])

    def best_path(self) -> list[Edge]:
        """The path that would have cost least in all rounds together, the first of several."""
        with self._lock:
            return self._graph.at(self._graph.least(self._totals))

    def certificate(self) -> Certificate:
        """The theorems beside what happened, from the state at this round."""
        from afterwit.certify.paths import certify

        return certify(self)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name} on {self._graph!r}: {self._rounds:,} rounds, {self._words[0]} {self._loss:.6g}"

    # ------------------------------------------------------------------ state

    def state(self) -> dict[str, Any]:
        with self._lock:
            return {"rounds": self._rounds, "loss": self._loss, "totals": self._totals.copy()}

    def restore(self, state: Any) -> None:
        rounds, loss, totals = state["rounds"], state["loss"], state["totals"]
        if type(rounds) is not int or not 0 <= rounds < 2**62:
            raise invalid("rounds", "a count", rounds)
        if type(loss) is not float or not math.isfinite(loss):
            raise invalid("loss", "a finite number", loss)
        fits = isinstance(totals, np.ndarray) and totals.dtype == np.float64 and totals.shape == self._totals.shape
        slack = 1e-6 * max(abs(self._low), abs(self._high)) * rounds
        least, most = self._low * rounds - slack, self._high * rounds + slack
        if not fits or not ((totals >= least) & (totals <= most)).all():
            raise invalid("totals", f"one sum of {rounds} costs in range for each {self._words[1]}", totals)
        with self._lock:
            self._rounds, self._loss, self._totals = rounds, loss, totals.copy()


def _checked_range(parameter: str, given: Any) -> tuple[float, float]:
    pair = given if isinstance(given, (tuple, list)) and len(given) == 2 else (None, None)
    low, high = (_number(end) for end in pair)
    far = max(abs(low), abs(high))
    if not (far <= FARTHEST and high - low >= max(NARROWEST * far, 1 / FARTHEST)):
        allowed = "a pair (low, high), low < high, neither beyond 1e100 nor a million times as large as high - low"
        raise invalid(parameter, allowed, given)
    return low, high


def checked_count(parameter: str, count: Any, things: str, least: int = 1) -> int:
    if not isinstance(count, Integral) or isinstance(count, bool) or not least <= int(count) < 2**62:
        raise invalid(parameter, f"a whole number of {things}, at least {least}", count)
    return int(count)


def checked_rate(parameter: str, rate: Any, largest: float) -> float:
    """A rate, in units of 1 / cost: its product with the largest cost of a path neither vanishes nor overflows."""
    number = _number(rate)
    if not 1 / FARTHEST <= number * largest <= FARTHEST:
        allowed = f"a positive number, from {1 / FARTHEST / largest:.3g} to {FARTHEST / largest:.3g} for this range"
        raise invalid(parameter, allowed, rate)
    return number


def _number(value: Any) -> float:
    """A real number of any type as a float; NaN, which nothing allows, for all else."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan
