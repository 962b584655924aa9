"""What learners of paths share: the graph, reading costs, the totals, the best path in hindsight, state.

A learner derived from `PathLearner` says what it does in many rounds (``_learn``). Experts are the paths of a graph of
parallel edges, and so are covered too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from afterwit.core.certificate import Assumption, Basis, Certificate, certify
from afterwit.core.declared import Count, Number, Numbers, Option
from afterwit.core.learner import Storable, view
from afterwit.core.turns import Lock, Rounds, breathe
from afterwit.data.checks import count_of, is_number, optional, real_number, seed
from afterwit.data.draws import Draws
from afterwit.data.values import is_masked_array
from afterwit.errors import Words, counted, invalid
from afterwit.experts._graph import Edge, Floats, PathGraph

#: The ends of a range may be this far out, so that no sum over rounds and edges overflows; rates likewise.
FARTHEST = 1e100
#: A narrower range, relative to its ends, would drown in the rounding of the totals.
NARROWEST = 1e-6


def wide_range(parameter: str, given: Any) -> tuple[float, float]:
    """What costs may be: a pair (low, high) of which the width does not drown in rounding."""
    allowed = "a pair (low, high), low < high, neither beyond 1e100 nor a million times as large as high - low"
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not all(map(is_number, given)):
        raise invalid(parameter, allowed, given)
    try:
        low, high = map(float, given)
    except OverflowError:
        raise invalid(parameter, allowed, given) from None
    far = max(abs(low), abs(high))
    if not (far <= FARTHEST and high - low >= max(NARROWEST * far, 1 / FARTHEST)):
        raise invalid(parameter, allowed, given)
    return low, high


def checked_rate(parameter: str, rate: Any, largest: float) -> float:
    """A rate, in units of 1 / cost: its product with the largest cost of a path neither vanishes nor overflows."""
    allowed = f"a positive number, from {1 / FARTHEST / largest:.3g} to {FARTHEST / largest:.3g} for this range"
    number = real_number(parameter, rate, allowed, 0.0)
    if not 1 / FARTHEST <= number * largest <= FARTHEST:
        raise invalid(parameter, allowed, rate)
    return number


def within_horizon(evidence: Any) -> Assumption:
    """Whether the rounds were no more than the learner was tuned to."""
    within = evidence.rounds <= evidence.horizon
    detail = f"{evidence.rounds:,} of {evidence.horizon:,}" if within else "there were more rounds than the horizon"
    return Assumption("there were at most T rounds", Basis.OBSERVED, within, detail)


#: How many costs are learned between two looks at signals; as many random numbers are drawn ahead.
SLICE_NUMBERS = 1 << 20

HORIZON = Option("horizon", None, optional(count_of("rounds")))
SEED = Option("seed", 0, seed)


class PathLearner(Storable):
    """Learns from the costs of all edges, round after round."""

    role = "decisions"
    checker = "paths"
    kept = (
        Count("rounds"),
        Number("loss"),
        Numbers("totals", lambda learner: (len(learner.graph.edges),)),
    )

    #: What an edge has in a round, one and several: "cost" and "costs", or "loss" and "losses".
    _cost, _costs = "cost", "costs"
    #: What has a cost: "edge" or "expert".
    _of = "edge"

    def _begin_on(self, graph: PathGraph) -> None:
        """Make a fresh learner of the paths of this graph."""
        self._low, self._high = self._options[f"{self._cost}_range"]
        self._draws = Draws(self._options["seed"])
        self._graph = graph
        self._width = graph.width(self._low, self._high)
        self._lock = Lock(reentrant=True)
        self._layout = (view(graph.first), view(graph.heads), view(graph.places))
        self._rounds, self._loss, self._totals = 0, 0.0, np.zeros(len(graph.edges))

    def _view(self, array: Any) -> Any:
        """The totals are an array here; the loops get a view of them in each call."""
        return array

    # ------------------------------------------------------------------ rounds

    def _learn(self, costs: Floats) -> Floats:
        """Learn the rows in order; the cost of each round. Called with the lock held."""
        raise NotImplementedError

    def _slices(self, rounds: int) -> Iterator[tuple[int, int]]:
        """Rounds in parts, which are learned one after the other; in between somebody may want to stop."""
        step = max(1, SLICE_NUMBERS // len(self._totals))
        with Rounds():
            for begin in range(0, rounds, step):
                if begin:
                    breathe()
                yield begin, min(begin + step, rounds)

    def _learned_one(self, costs: Any) -> float:
        row = self._read_one(costs)
        with self._lock:
            return float(self._learn(row)[0])

    def _learned_many(self, costs: Any) -> Floats:
        rows = self._read_many(costs)
        with self._lock:
            return self._learn(rows)

    # ------------------------------------------------------------------ reading costs

    def _read_one(self, costs: Any) -> Floats:
        if isinstance(costs, Mapping):
            costs = self._in_order(costs, "")
        array = self._numbers(costs)
        if array.shape != (len(self._totals),):
            raise self._misshapen(f"{counted(len(self._totals), 'number')}, one for each {self._of}", array)
        return self._in_range(array[None, :])

    def _read_many(self, costs: Any) -> Floats:
        if isinstance(costs, Sequence):
            costs = [
                self._in_order(row, f"[{place}]") if isinstance(row, Mapping) else self._numbers(row)
                for place, row in enumerate(costs)
            ]
        array = self._numbers(costs)
        if array.shape == (0,):
            array = array.reshape(0, len(self._totals))
        if array.ndim != 2 or array.shape[1] != len(self._totals):
            wanted = f"a row for each round of {len(self._totals)} numbers, one for each {self._of}"
            raise self._misshapen(wanted, array)
        return self._in_range(array)

    def _in_order(self, costs: Mapping[Any, Any], where: str) -> list[Any]:
        """The values of a dict edge -> cost in the order of the edges."""
        name = f"{self._costs}{where}"
        if self._of != "edge":
            raise invalid(name, f"a sequence, one number for each {self._of}", costs)
        position = self._graph.position
        for edge in costs:
            if edge not in position:
                raise invalid(name, "a dict with an entry for every edge and no other", Words(f"one for {edge!r}"))
        for edge in self._graph.edges:
            if edge not in costs:
                raise invalid(name, "a dict with an entry for every edge", Words(f"none for {edge!r}"))
        return [costs[edge] for edge in self._graph.edges]

    def _numbers(self, costs: Any) -> Any:
        if is_masked_array(costs):
            raise invalid(self._costs, "numbers, without a mask", Words("a masked array"))
        try:
            array = np.asarray(costs)
        except ValueError:
            raise invalid(self._costs, "rows of numbers, all of one length", costs) from None
        if array.size and array.dtype.kind not in "biuf":
            raise invalid(self._costs, "numbers", costs)
        return array

    def _in_range(self, array: Any) -> Floats:
        inside = (array >= self._low) & (array <= self._high)
        if not inside.all():
            row, column = (int(place) for place in np.argwhere(~inside)[0])
            where = f" in round {self._rounds + row + 1}" if len(array) > 1 else ""
            which = f"{self._graph.edges[column]!r}" if self._of == "edge" else f"{column}"
            received = f"{array[row, column].item()!r} for {self._of} {which}{where}"
            allowed = f"numbers from {self._low:g} to {self._high:g}, the {self._cost}_range, none missing"
            raise invalid(self._costs, allowed, Words(received))
        return np.require(array, dtype=np.float64, requirements=["C", "W"])

    def _misshapen(self, wanted: str, array: Any) -> Exception:
        return invalid(self._costs, wanted, Words(f"an array of shape {array.shape}"))

    # ------------------------------------------------------------------ what it knows

    @property
    def graph(self) -> PathGraph:
        """The graph: ``edges``, ``nodes``, ``source``, ``sink``, ``path_count``, ``longest``, ``shortest``."""
        return self._graph

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
        return certify(self)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name} on {self._graph!r}: {counted(self._rounds, 'round')}, {self._cost} {self._loss:.6g}"

    # ------------------------------------------------------------------ state

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state()

    def restore(self, state: Any) -> None:
        self._require_state(state)
        with self._lock:
            self._become(state)

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        rounds, totals = state["rounds"], state["totals"]
        slack = 1e-6 * max(abs(self._low), abs(self._high)) * rounds
        least, most = self._low * rounds - slack, self._high * rounds + slack
        if not ((totals >= least) & (totals <= most)).all():
            raise invalid("totals", f"one sum of {rounds} costs in range for each {self._of}", totals)
