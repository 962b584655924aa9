"""Follow the perturbed leader: add some noise to what everyone has cost so far, and follow whoever then leads.

Setting     in round t choose one of n experts, or one path of a directed acyclic graph; then see the losses of all
            experts, or the costs of all edges, each in [low, high]. The loss counted is that of the one chosen.
Update      L(e) is what e has cost in all rounds before. Draw p(e) afresh for every expert or edge and choose
            the least L - p (exponential p: density eps exp(-eps x)), or the least L + p (p uniform on [0, 1/eps]).
Guarantee   on average over the draws, whatever the losses: regret <= eps Q T + S / eps; tuned to a horizon of T rounds
            2 sqrt(S Q T); told neither, with eps_t = sqrt(S / (2 Q t)), 2 sqrt(2 S Q T) after every number of rounds.
            Exponential: Q = B^2, with B the most that a choice can lose in a round; for n experts S is
            1/2 + 1/3 + ... + 1/n < ln n. Uniform: Q = R A and S < D / 4 of Kalai & Vempala. See `Stability`.
Assumes     a round's losses do not depend on its own draw (they may depend on all draws before).
Source      Hannan 1957; Kalai & Vempala 2005, Efficient algorithms for online decision problems, Theorem 1.1; with
            exponential perturbations of one sign Hutter & Poland 2005, Adaptive online prediction by following the
            perturbed leader. `PerturbedLeaderBound` has the proof with the constants used here.

>>> learner = FollowThePerturbedLeader(n_experts=3, horizon=100, seed=1)
>>> learner.choose(), learner.observe([0.0, 1.0, 0.5])
(1, 1.0)
>>> learner.observe_many([[0, 1, 1]] * 99).sum().item()
3.0
>>> learner.expert_losses, learner.best_expert, learner.regret
(array([  0. , 100. ,  99.5]), 0, 4.0)
>>> roads = [("home", "bridge"), ("bridge", "work"), ("home", "ferry"), ("ferry", "work")]
>>> commuter = FollowThePerturbedLeader(edges=roads, horizon=100)
>>> commuter.observe({roads[0]: 1, roads[1]: 1, roads[2]: 0, roads[3]: 0.5}), commuter.best_path()
(0.5, [('home', 'ferry'), ('ferry', 'work')])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.theorem import Theorem
from afterwit.errors import invalid
from afterwit.experts._graph import Numbers, PathGraph
from afterwit.experts._path_learner import PathLearner, checked_count, checked_rate
from afterwit.experts._pushing import lead_once, lead_rounds, view

PERTURBATIONS = ("exponential", "uniform")
#: At most this many random numbers are drawn ahead.
DRAWN_AHEAD = 1 << 20


@dataclass(frozen=True)
class Stability:
    """The two constants of a perturbation: what a round costs by it, eps Q, and what all rounds together, S / eps.

    A path has from k to K of the E edges, and N is the number of paths; experts are E parallel edges, k = K = 1.

    exponential  Q = B^2 and S = min(K H_E, K + sqrt(2 K ln N) + ln N) - k, where H_E = 1 + 1/2 + ... + 1/E. For
                 the greatest of E exponential numbers is H_E on average, and the greatest of N sums of K is at most
                 K + sqrt(2 K ln N) + ln N (Boucheron, Lugosi & Massart 2013, Corollary 2.6 and section 2.4).
    uniform      Q = R A and S = K/2 - k/(E + 1): costs of paths in one round differ by R at most, and |c_t|_1 <= A. For
                 a uniform number is 1/2 on average, and the least of E of them 1/(E + 1). Kalai & Vempala have D in
                 place of S, an upper bound on |d - d'|_1, which is 2 K where paths need not share an edge.

    Where all paths have as many edges, a constant added to all costs changes no choice and no regret. So low is taken
    for 0, and for A the middle of the range.
    """

    round_cost: float
    total_cost: float

    @classmethod
    def of(
        cls, perturbation: str, edges: int, lengths: tuple[int, int], log_paths: float, low: float, high: float
    ) -> Stability:
        shortest, longest = lengths
        if log_paths == 0:
            return cls(((high - low) * longest) ** 2, 0.0)
        even = shortest == longest
        if perturbation == "exponential":
            most = (high - low if even else high) * longest
            harmonic = math.fsum(1 / i for i in range(1, edges + 1)) if edges < 10**6 else 1 + math.log(edges)
            sums = longest + math.sqrt(2 * longest * log_paths) + log_paths
            return cls(most**2, min(longest * harmonic, sums) - shortest)
        apart = high * (longest if high > 0 else shortest) - low * (shortest if low > 0 else longest)
        size = edges * ((high - low) / 2 if even else max(abs(low), abs(high)))
        return cls(apart * size, longest / 2 - shortest / (edges + 1))


class PerturbedLeaderBound(Theorem):
    """Any losses: the perturbation costs a little in every round, and S / eps once.

    Be the leader: had each round's choice known the round's own losses, it would lose no more in all than the best, and
    max over d of d.p less d*.p (uniform: d*.p less min over d of d.p), where d is any choice and d* the best; on
    average S / eps at most. As the draws of all rounds have one distribution, one p serves for all in the proof; with
    1/eps_t increasing the differences of p / eps_t are like losses of further rounds, and the sum is that of the last.
    Not knowing the round costs Q eps:
    uniform, the cubes of p and p + c_t have all but a part eps |c_t|_1 in common; exponential, for every choice d
    with loss s in the round, p moved by the losses of d's own edges makes d lead as before, so that
    Pr(d, not knowing) <= exp(eps s) Pr(d, knowing), and 1 - exp(-eps s) <= eps s.
    """

    name = "regret of the perturbed leader"
    statement = "E[regret] <= eps Q T + S / eps"
    citation = "after Kalai & Vempala 2005, Theorem 1.1(a), and Hutter & Poland 2005"
    quantity = "regret"
    chance = "on average over its own draws"

    @staticmethod
    def bound(epsilon: Any, rounds: Any, stability: Stability) -> Any:
        return epsilon * stability.round_cost * rounds + stability.total_cost / epsilon

    def certify(self, evidence: Any) -> Any:
        if evidence.decreasing:
            return None
        inputs = {"eps": evidence.rate, "T": evidence.rounds, **evidence.constants}
        bound = self.bound(evidence.rate, evidence.rounds, evidence.stability)
        return evidence.certificate(self, bound, inputs, _blind())


class TunedPerturbationBound(PerturbedLeaderBound):
    """The same with eps tuned to a horizon: at any round up to it."""

    name = "regret of the perturbed leader for a horizon"
    statement = "E[regret] <= 2 sqrt(S Q T) up to round T"

    def certify(self, evidence: Any) -> Any:
        if evidence.horizon is None:
            return None
        within = evidence.rounds <= evidence.horizon
        detail = f"{evidence.rounds:,} of {evidence.horizon:,}" if within else "there were more rounds than the horizon"
        assumption = Assumption("there were at most T rounds", Basis.OBSERVED, within, detail)
        if not within:
            return evidence.certificate(self, None, {}, assumption, _blind())
        stability = evidence.stability
        bound = 2 * math.sqrt(stability.total_cost * evidence.horizon) * math.sqrt(stability.round_cost)
        inputs = {"T": evidence.horizon, **evidence.constants}
        return evidence.certificate(self, bound, inputs, assumption, _blind())


class DecreasingPerturbationBound(PerturbedLeaderBound):
    """The same with eps_t = sqrt(S / (2 Q t)): as 1 + 1/sqrt(2) + ... + 1/sqrt(T) <= 2 sqrt(T)."""

    name = "regret of the perturbed leader, no horizon"
    statement = "E[regret] <= 2 sqrt(2 S Q T)"

    def certify(self, evidence: Any) -> Any:
        if not evidence.decreasing:
            return None
        stability = evidence.stability
        bound = 2 * math.sqrt(2 * stability.total_cost * evidence.rounds) * math.sqrt(stability.round_cost)
        return evidence.certificate(self, bound, {"T": evidence.rounds, **evidence.constants}, _blind())


class SmallLossBound(PerturbedLeaderBound):
    """One eps in all rounds, exponential: little regret where the best loses little.

    By the inequality of the probabilities alone: E[loss] <= exp(eps B) (L* + S / eps), where L* is the loss of the
    best, losses counted from the low end of their range where that changes nothing.
    """

    name = "regret of the perturbed leader, small losses"
    statement = "E[regret] <= exp(eps B) (L* + S / eps) - L*"
    citation = "after Kalai & Vempala 2005, Theorem 1.1(b), and Hutter & Poland 2005"

    def certify(self, evidence: Any) -> Any:
        if evidence.decreasing or evidence.perturbation != "exponential":
            return None
        most, best = math.sqrt(evidence.stability.round_cost), evidence.best_above_low
        constant = evidence.stability.total_cost / evidence.rate
        exponent = evidence.rate * most
        # exp(x) (L + c) - L, without the difference of two large numbers; beyond all numbers, no bound.
        bound = math.expm1(exponent) * (best + constant) + constant if exponent < 700 else math.inf
        inputs = {"eps": evidence.rate, "B": most, "L*": best, "S": evidence.stability.total_cost}
        return evidence.certificate(self, bound, inputs, _blind())


def _blind() -> Assumption:
    return Assumption("the losses of a round do not depend on its own draw", Basis.PROMISED, None)


class FollowThePerturbedLeader(PathLearner):
    """Follow the perturbed leader, among experts or among the paths of a graph.

    n_experts     how many experts there are; or
    edges         a graph whose paths are the choices, with
    source, sink  where they begin and end: as in `OnlineShortestPath`
    epsilon       one over the size of the perturbations, in units of 1 / loss
    horizon       the number of rounds that will be played, from which epsilon is tuned. Given neither, it decreases.
    perturbation  "exponential", or "uniform", whose bound is weaker but covers edges of negative costs on any graph
    loss_range    what the loss of an expert, or the cost of an edge, may be: (low, high)
    seed          of the draws
    """

    theorems = (TunedPerturbationBound(), PerturbedLeaderBound(), DecreasingPerturbationBound(), SmallLossBound())
    #: Whether an expert may sleep.
    sleeping = False

    def __init__(
        self,
        n_experts: Any = None,
        edges: Any = None,
        source: Any = None,
        sink: Any = None,
        epsilon: Any = None,
        horizon: Any = None,
        perturbation: Any = "exponential",
        loss_range: Any = (0, 1),
        seed: Any = 0,
    ) -> None:
        if (n_experts is None) == (edges is None):
            raise invalid("n_experts", "given, or edges, but not both", n_experts)
        self._n_experts = None if n_experts is None else checked_count("n_experts", n_experts, "experts")
        if self._n_experts is None:
            graph = PathGraph(edges, source, sink)
        elif source is None and sink is None:
            graph = PathGraph([("source", "sink", expert) for expert in range(self._n_experts)])
        else:
            raise invalid("source and sink", "left out where there are no edges", (source, sink))
        of = "edge" if self._n_experts is None else "expert"
        super().__init__(graph, loss_range, horizon, seed, costs="loss", of=of)
        if not isinstance(perturbation, str) or perturbation not in PERTURBATIONS:
            raise invalid("perturbation", "'exponential' or 'uniform'", perturbation)
        if perturbation == "exponential" and self._low < 0 and not graph.one_length:
            allowed = "of numbers not below 0 where paths differ in length (perturbation='uniform' takes any)"
            raise invalid("loss_range", allowed, loss_range)
        if epsilon is not None and horizon is not None:
            raise invalid("horizon", "left out where epsilon is given", horizon)
        self._perturbation = perturbation
        self._given_epsilon = None if epsilon is None else checked_rate("epsilon", epsilon, self._width)
        self._decreasing = epsilon is None and horizon is None
        # The factor of epsilon: of eps_t = sqrt(S / (2 Q t)) the part without t, where nothing is given.
        self._factor = self._given_epsilon or self._tuned()
        self._least = np.empty(len(graph.nodes))
        self._choice = np.empty(len(graph.nodes), dtype=np.intp)

    def _tuned(self) -> float:
        graph = self._graph
        lengths = (graph.shortest, graph.longest)
        edges = len(graph.places)
        stability = Stability.of(self._perturbation, edges, lengths, graph.log_path_count, self._low, self._high)
        if stability.total_cost == 0:  # there is one choice, and nothing to tune
            return 1 / self._width
        return math.sqrt(stability.total_cost / (self._horizon or 2)) / math.sqrt(stability.round_cost)

    # ------------------------------------------------------------------ rounds

    def choose(self) -> Any:
        """The expert of this round, or the path, as edges. It depends on seed and rounds alone: nothing changes."""
        with self._lock:
            draws = self._draws.uniforms(self._rounds, 1, len(self._totals))
            leader = lead_once(
                *self._layout,
                view(self._totals),
                view(draws),
                self._perturbation == "exponential",
                1 / self._factor * math.sqrt(self._rounds + 1) if self._decreasing else 1 / self._factor,
                view(self._least),
                view(self._choice),
            )
            return self._graph.at(leader) if self._n_experts is None else leader[0]

    def observe(self, losses: Any) -> float:
        """Learn the losses of all experts, or of all edges, in order (for edges, or a dict); that of the one chosen."""
        return self._learned_one(losses)

    def observe_many(self, losses: Any) -> Numbers:
        """``observe`` for every row of losses in order; the losses suffered."""
        return self._learned_many(losses)

    def _learn(self, costs: Numbers) -> Numbers:
        losses = np.empty(len(costs))
        step = max(1, DRAWN_AHEAD // len(self._totals))
        for begin in range(0, len(costs), step):
            rows = costs[begin : begin + step]
            self._loss = lead_rounds(
                *self._layout,
                view(rows),
                view(self._totals),
                view(self._draws.uniforms(self._rounds, len(rows), len(self._totals))),
                self._perturbation == "exponential",
                1 / self._factor,
                self._decreasing,
                self._rounds,
                self._loss,
                view(self._least),
                view(self._choice),
                view(losses[begin : begin + step]),
            )
            self._rounds += len(rows)
        return losses

    # ------------------------------------------------------------------ what it knows

    @property
    def epsilon(self) -> float:
        """One over the size of this round's perturbations."""
        return self._factor / math.sqrt(self._rounds + 1) if self._decreasing else self._factor

    @property
    def n_experts(self) -> int | None:
        """How many experts there are; None on a graph."""
        return self._n_experts

    @property
    def perturbation(self) -> str:
        """How the perturbations are distributed."""
        return str(self._perturbation)

    @property
    def loss_range(self) -> tuple[float, float]:
        """What the loss of an expert, or the cost of an edge, may be."""
        return self._low, self._high

    @property
    def expert_losses(self) -> Numbers:
        """What each expert has lost in all rounds together."""
        return self._totals_of("expert", "expert_losses")

    @property
    def edge_costs(self) -> Numbers:
        """What each edge would have cost in all rounds together."""
        return self._totals_of("edge", "edge_costs")

    def _totals_of(self, kind: str, name: str) -> Numbers:
        if self._words[1] != kind:
            raise AttributeError(f"a learner of {self._words[1]}s has no {name}")
        with self._lock:
            return self._totals.copy()

    @property
    def best_expert(self) -> int:
        """The expert with the least loss in all rounds together, the first of several."""
        return int(np.argmin(self.expert_losses))

    def __repr__(self) -> str:
        if self._n_experts is None:
            return super().__repr__()
        return f"{type(self).__name__} of {self._n_experts:,} experts: {self._rounds:,} rounds, loss {self._loss:.6g}"

    @property
    def parameters(self) -> dict[str, Any]:
        experts = self._n_experts is not None
        return {
            "n_experts": self._n_experts,
            "edges": None if experts else list(self._graph.edges),
            "source": None if experts else self._graph.source,
            "sink": None if experts else self._graph.sink,
            "epsilon": self._given_epsilon,
            "horizon": self._horizon,
            "perturbation": self._perturbation,
            "loss_range": (self._low, self._high),
            "seed": self._seed,
        }
