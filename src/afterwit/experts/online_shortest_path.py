"""Online shortest path: exponential weights over all paths of a graph, none of which is ever listed.

Setting     a directed acyclic graph with a source, a sink and N paths from one to the other. In round t draw a path P
            with probability p_t(P); then see the costs c_t(e) of all edges e, each in [low, high]. A path costs the sum
            of its edges. The loss counted is the expected cost, sum over P of p_t(P) c_t(P).
Update      p_t(P) ~ exp(-eta C(P)), where C(P) is what P would have cost in all rounds before. As C(P) is the sum of
            what its edges would have cost, the weight of P is a product over its edges, and weight pushing finds the
            probability of every edge in one pass from the sink back to the source: Z(sink) = 1,
            Z(u) = sum over edges e = (u, v) of exp(-eta C(e)) Z(v), and a path at u goes on by e with probability
            exp(-eta C(e)) Z(v) / Z(u). The pass computes ln Z, so that neither 10^300 paths nor large costs
            overflow.
Guarantee   with M the width of the range of a path's cost, regret <= ln N / eta + eta T M^2 / 8 against the best path
            in hindsight; with the rate tuned to a horizon of T rounds M sqrt((T/2) ln N); and, told neither, with
            eta_t = sqrt(8 ln N / t) / M, M (2 sqrt((T/2) ln N) + sqrt(ln N / 8)) after every number of rounds.
Assumes     the costs are in their range, which the code enforces. Nothing about where they come from.
Source      Takimoto & Warmuth 2003, Path kernels and multiplicative updates; the bounds: Mohri, Rostamizadeh &
            Talwalkar 2018, Theorem 8.6; Cesa-Bianchi & Lugosi 2006, Theorem 2.3.

>>> roads = [("home", "bridge"), ("bridge", "work"), ("home", "ferry"), ("ferry", "work")]
>>> learner = OnlineShortestPath(roads, rate=0.5)
>>> learner.learn_one([1, 1, 0, 0.5])  # returns the expected cost before the update
1.25
>>> learner.learn_one({("home", "bridge"): 1, ("bridge", "work"): 1, ("home", "ferry"): 0.5, ("ferry", "work"): 0})
0.9812319512369104
>>> learner.flow.round(3), learner.best_path()
(array([0.182, 0.182, 0.818, 0.818]), [('home', 'ferry'), ('ferry', 'work')])
>>> learner.rounds, learner.regret
(2, 1.2312319512369103)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.core.declared import Option
from afterwit.core.learner import view
from afterwit.core.theorem import Theorem
from afterwit.data import checks
from afterwit.data.draws import SAMPLES, Draws
from afterwit.errors import invalid
from afterwit.experts._graph import Edge, Floats, PathGraph
from afterwit.experts._path_learner import HORIZON, SEED, PathLearner, checked_rate, wide_range, within_horizon
from afterwit.experts._pushing import draw_path, flows, push_once, push_rounds
from afterwit.experts._scheduled_rates import DecreasingRateBound, TunedRateBound


class FixedRatePathBound(Theorem):
    """One rate in all rounds: however many paths there are, only the logarithm of N counts."""

    name = "regret at a fixed rate"
    quantity = "regret"
    formula = "ln N / eta + eta T M^2 / 8"
    citation = "Mohri et al. 2018, proof of Theorem 8.6, for the N paths of a graph"
    beforehand = True

    @staticmethod
    def bound(log_paths: Any, rate: Any, rounds: Any, width: Any) -> Any:
        return (log_paths / rate if log_paths else 0.0) + rate * width * rounds * width / 8

    def certify(self, evidence: Any) -> Any:
        if evidence.decreasing:
            return None
        inputs = {"ln N": evidence.log_paths, "eta": evidence.rate, "T": evidence.rounds, "M": evidence.width}
        bound = self.bound(evidence.log_paths, evidence.rate, evidence.rounds, evidence.width)
        return evidence.certificate(self, bound, inputs)


class TunedPathBound(Theorem):
    """The rate tuned to a horizon: at any round up to it."""

    name = "regret at the rate for a horizon"
    quantity = "regret"
    formula = "M sqrt((T/2) ln N) up to round T"
    citation = "Mohri et al. 2018, Theorem 8.6, for the N paths of a graph"
    beforehand = True

    @staticmethod
    def bound(log_paths: Any, horizon: Any, width: Any) -> Any:
        return width * float(TunedRateBound.bound(log_paths, horizon))

    def certify(self, evidence: Any) -> Any:
        if evidence.horizon is None:
            return None
        inputs = {"ln N": evidence.log_paths, "T": evidence.horizon, "M": evidence.width}
        bound = self.bound(evidence.log_paths, evidence.horizon, evidence.width)
        return evidence.certificate(self, bound, inputs, within_horizon(evidence))


class DecreasingRatePathBound(Theorem):
    """Rates that decrease with the rounds: no horizon need be known."""

    name = "regret at decreasing rates"
    quantity = "regret"
    formula = "M (2 sqrt((T/2) ln N) + sqrt(ln N / 8))"
    citation = "Cesa-Bianchi & Lugosi 2006, Theorem 2.3, for the N paths of a graph"
    beforehand = True

    @staticmethod
    def bound(log_paths: Any, rounds: Any, width: Any) -> Any:
        return width * float(DecreasingRateBound.bound(log_paths, rounds))

    def certify(self, evidence: Any) -> Any:
        if not evidence.decreasing:
            return None
        inputs = {"ln N": evidence.log_paths, "T": evidence.rounds, "M": evidence.width}
        return evidence.certificate(self, self.bound(evidence.log_paths, evidence.rounds, evidence.width), inputs)


class OnlineShortestPath(PathLearner):
    """Exponential weights over the paths of a graph, by weight pushing.

    edges       pairs (from, to), triples (from, to, key), or a directed graph with ``edges`` such as one of networkx.
                The order of the edges is that of the costs. A pair given several times becomes (from, to, 0), ...
                Edges on no path from source to sink keep their place; their costs do not matter.
    source      where the paths begin; if not given, the one node into which no edge leads
    sink        where they end; if not given, the one node out of which no edge leads
    rate        eta, in units of 1 / cost
    horizon     the number of rounds that will be played, from which the rate is tuned. Given neither, it decreases.
    cost_range  what the cost of an edge may be: (low, high)
    seed        of the drawn paths
    """

    theorems = (TunedPathBound(), FixedRatePathBound(), DecreasingRatePathBound())

    options = (
        Option("edges"),
        Option("source", None),
        Option("sink", None),
        Option("rate", None),
        HORIZON,
        Option("cost_range", (0, 1), wide_range),
        SEED,
    )

    def _begin(self) -> None:
        options = self._options
        graph = PathGraph(options["edges"], options["source"], options["sink"])
        options.update(edges=list(graph.edges), source=graph.source, sink=graph.sink)
        self._begin_on(graph)
        rate, horizon = options["rate"], options["horizon"]
        if rate is not None:
            if horizon is not None:
                raise invalid("horizon", "left out where a rate is given", horizon)
            options["rate"] = checked_rate("rate", rate, self._width)
        # The factor of the rate: of eta_t = sqrt(8 ln N / t) / M the part without t, where nothing is given.
        self._rate = options["rate"] or math.sqrt(8 * graph.log_path_count / (horizon or 1)) / self._width
        self._decreasing = rate is None and horizon is None
        self._logs, self._shares = np.empty(len(graph.nodes)), np.empty(len(graph.places))
        self._pushed = False

    # ------------------------------------------------------------------ one round

    def predict_one(self) -> list[Edge]:
        """The path drawn for this round, as edges. It depends on seed and round alone: nothing changes."""
        with self._lock:
            draws = self._draws.uniforms(self._rounds, 1, self._graph.longest)
            return self._graph.at(draw_path(*self._layout, view(self._push()), view(draws), 0))

    def learn_one(self, costs: Any) -> float:
        """Learn the costs of all edges, an array in the order of ``edges`` or a dict; the expected cost before."""
        return self._learned_one(costs)

    # ------------------------------------------------------------------ many rounds

    def learn_many(self, costs: Any) -> Floats:
        """``learn_one`` for every row of costs in order; the expected costs."""
        return self._learned_many(costs)

    def _learn(self, costs: Floats) -> Floats:
        losses = np.empty(len(costs))
        for begin, end in self._slices(len(costs)):
            self._loss = push_rounds(
                *self._layout,
                view(costs[begin:end]),
                view(self._totals),
                self._rate,
                self._decreasing,
                self._rounds,
                self._loss,
                self._pushed,
                view(self._logs),
                view(self._shares),
                view(losses[begin:end]),
            )
            self._pushed = False
            self._rounds += end - begin
        return losses

    def _push(self) -> Floats:
        """How the weight at each node is shared among the edges that leave it, now."""
        if not self._pushed:
            push_once(*self._layout, view(self._totals), self.rate, view(self._logs), view(self._shares))
            self._pushed = True
        return self._shares

    # ------------------------------------------------------------------ what it knows

    @property
    def rate(self) -> float:
        """The rate eta of this round."""
        return self._rate / math.sqrt(self._rounds + 1) if self._decreasing else self._rate

    @property
    def flow(self) -> Floats:
        """The probability of each edge to be on the path of this round."""
        with self._lock:
            flow = np.zeros(len(self._graph.edges))
            flows(*self._layout, view(self._push()), view(np.zeros(len(self._graph.nodes))), view(flow))
            return flow

    @property
    def edge_costs(self) -> Floats:
        """What each edge would have cost in all rounds together."""
        with self._lock:
            return self._totals.copy()

    def sample_paths(self, count: Any, seed: Any = 0) -> list[list[Edge]]:
        """Some independent paths, drawn as that of this round is."""
        count = checks.count_of("paths", 0)("count", count)
        drawn = Draws(checks.seed("seed", seed))
        with self._lock:
            shares = view(self._push())
            draws = view(drawn.uniforms(0, count, self._graph.longest, SAMPLES))
            return [self._graph.at(draw_path(*self._layout, shares, draws, row)) for row in range(count)]

    def _become(self, state: Any) -> None:
        super()._become(state)
        self._pushed = False
