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
from afterwit.core.declared import Option
from afterwit.core.inputs import ROUNDS
from afterwit.core.learner import view
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import count_of, one_of, optional
from afterwit.data.quantities import POSITIVE
from afterwit.errors import counted, invalid
from afterwit.experts._graph import Floats, PathGraph
from afterwit.experts._path_learner import HORIZON, SEED, PathLearner, checked_rate, wide_range, within_horizon
from afterwit.experts._pushing import lead_once, lead_rounds

PERTURBATIONS = ("exponential", "uniform")


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


DECISIONS = (
    Input("diameter", "D", "the diameter of the decisions in the 1-norm", POSITIVE),
    Input("payoff", "R", "no decision costs more than this in a round", POSITIVE),
    Input("cost", "A", "the 1-norm of a round's costs is at most this", POSITIVE),
)


class KalaiVempalaBound(Theorem):
    """Decisions of any shape, with noise from a cube: as Kalai & Vempala state it."""

    quantity = "regret"
    citation = "Kalai & Vempala 2005, Theorem 1.1"
    chance = "on average over the learner's own draws"
    beforehand = True


class UniformNoiseBound(KalaiVempalaBound):
    """At any eps."""

    id = "perturbed-leader"
    name = "regret of the perturbed leader with uniform noise"
    formula = "{epsilon} {payoff} {cost} {rounds} + {diameter} / {epsilon}"
    inputs = (ROUNDS, Input("epsilon", "eps", "the noise is uniform from 0 to 1/eps", POSITIVE), *DECISIONS)
    needs = "costs are fixed before the noise is drawn"

    @staticmethod
    def bound(rounds: Any, epsilon: Any, diameter: Any, payoff: Any, cost: Any) -> Any:
        return epsilon * payoff * cost * rounds + diameter / epsilon


class TunedUniformNoiseBound(KalaiVempalaBound):
    """At the eps that makes the bound least."""

    id = "perturbed-leader-tuned"
    name = "regret of the perturbed leader with uniform noise for a horizon"
    formula = "2 sqrt({diameter} {payoff} {cost} {rounds})"
    inputs = (ROUNDS, *DECISIONS)
    needs = "costs are fixed before the noise is drawn, and eps = sqrt(D / (R A T))"

    @staticmethod
    def bound(rounds: Any, diameter: Any, payoff: Any, cost: Any) -> Any:
        return 2 * np.sqrt(diameter * payoff * cost * rounds)


class LeaderBound(Theorem):
    """A bound on the regret of `FollowThePerturbedLeader`, with the constants of its perturbation."""

    quantity = "regret"
    citation = "after Kalai & Vempala 2005, Theorem 1.1(a), and Hutter & Poland 2005"
    chance = "on average over its own draws"
    beforehand = True


class PerturbedLeaderBound(LeaderBound):
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
    formula = "eps Q T + S / eps"

    @staticmethod
    def bound(epsilon: Any, rounds: Any, stability: Stability) -> Any:
        # Q takes the place of R A, and S that of D.
        return UniformNoiseBound.bound(rounds, epsilon, stability.total_cost, stability.round_cost, 1.0)

    def certify(self, evidence: Any) -> Any:
        if evidence.decreasing:
            return None
        inputs = {"eps": evidence.rate, "T": evidence.rounds, **evidence.constants}
        bound = self.bound(evidence.rate, evidence.rounds, evidence.stability)
        return evidence.certificate(self, bound, inputs, _blind())


class TunedPerturbationBound(LeaderBound):
    """The same with eps tuned to a horizon: at any round up to it."""

    name = "regret of the perturbed leader for a horizon"
    formula = "2 sqrt(S Q T) up to round T"

    @staticmethod
    def bound(rounds: Any, stability: Stability) -> Any:
        return 2 * math.sqrt(stability.total_cost * rounds) * math.sqrt(stability.round_cost)

    def certify(self, evidence: Any) -> Any:
        if evidence.horizon is None:
            return None
        inputs = {"T": evidence.horizon, **evidence.constants}
        bound = self.bound(evidence.horizon, evidence.stability)
        return evidence.certificate(self, bound, inputs, within_horizon(evidence), _blind())


class DecreasingPerturbationBound(LeaderBound):
    """The same with eps_t = sqrt(S / (2 Q t)): as 1 + 1/sqrt(2) + ... + 1/sqrt(T) <= 2 sqrt(T)."""

    name = "regret of the perturbed leader, no horizon"
    formula = "2 sqrt(2 S Q T)"

    @staticmethod
    def bound(rounds: Any, stability: Stability) -> Any:
        return TunedPerturbationBound.bound(2 * rounds, stability)

    def certify(self, evidence: Any) -> Any:
        if not evidence.decreasing:
            return None
        bound = self.bound(evidence.rounds, evidence.stability)
        return evidence.certificate(self, bound, {"T": evidence.rounds, **evidence.constants}, _blind())


class SmallLossBound(LeaderBound):
    """One eps in all rounds, exponential: little regret where the best loses little.

    By the inequality of the probabilities alone: E[loss] <= exp(eps B) (L* + S / eps), where L* is the loss of the
    best, losses counted from the low end of their range where that changes nothing.
    """

    name = "regret of the perturbed leader, small losses"
    formula = "exp(eps B) (L* + S / eps) - L*"
    citation = "after Kalai & Vempala 2005, Theorem 1.1(b), and Hutter & Poland 2005"
    beforehand = False

    @staticmethod
    def bound(epsilon: Any, most: Any, best: Any, total_cost: Any) -> Any:
        constant = total_cost / epsilon
        exponent = epsilon * most
        # exp(x) (L + c) - L, without the difference of two large numbers; beyond all numbers, no bound.
        return math.expm1(exponent) * (best + constant) + constant if exponent < 700 else math.inf

    def certify(self, evidence: Any) -> Any:
        if evidence.decreasing or evidence.perturbation != "exponential":
            return None
        most, best = math.sqrt(evidence.stability.round_cost), evidence.best_above_low
        bound = self.bound(evidence.rate, most, best, evidence.stability.total_cost)
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

    options = (
        Option("n_experts", None, optional(count_of("experts"))),
        Option("edges", None),
        Option("source", None),
        Option("sink", None),
        Option("epsilon", None),
        HORIZON,
        Option("perturbation", "exponential", one_of(PERTURBATIONS)),
        Option("loss_range", (0, 1), wide_range),
        SEED,
    )
    _cost, _costs = "loss", "losses"

    def _begin(self) -> None:
        options = self._options
        graph = self._read_graph()
        self._begin_on(graph)
        if options["perturbation"] == "exponential" and self._low < 0 and not graph.one_length:
            allowed = "of numbers not below 0 where paths differ in length (perturbation='uniform' takes any)"
            raise invalid("loss_range", allowed, options["loss_range"])
        epsilon, horizon = options["epsilon"], options["horizon"]
        if epsilon is not None:
            if horizon is not None:
                raise invalid("horizon", "left out where epsilon is given", horizon)
            options["epsilon"] = checked_rate("epsilon", epsilon, self._width)
        self._decreasing = epsilon is None and horizon is None
        # The factor of epsilon: of eps_t = sqrt(S / (2 Q t)) the part without t, where nothing is given.
        self._factor = options["epsilon"] or self._tuned()
        self._exponential = options["perturbation"] == "exponential"
        self._least = np.empty(len(graph.nodes))
        self._choice = np.empty(len(graph.nodes), dtype=np.intp)

    def _read_graph(self) -> PathGraph:
        """The graph whose paths are the choices; experts are parallel edges."""
        options = self._options
        experts, ends = options["n_experts"], (options["source"], options["sink"])
        if (experts is None) == (options["edges"] is None):
            raise invalid("n_experts", "given, or edges, but not both", experts)
        self._of = "edge" if experts is None else "expert"
        if experts is not None:
            if ends != (None, None):
                raise invalid("source and sink", "left out where there are no edges", ends)
            return PathGraph([("source", "sink", expert) for expert in range(experts)])
        graph = PathGraph(options["edges"], *ends)
        options.update(edges=list(graph.edges), source=graph.source, sink=graph.sink)
        return graph

    def _tuned(self) -> float:
        graph = self._graph
        lengths = (graph.shortest, graph.longest)
        edges, kind = len(graph.places), self._options["perturbation"]
        stability = Stability.of(kind, edges, lengths, graph.log_path_count, self._low, self._high)
        if stability.total_cost == 0:  # there is one choice, and nothing to tune
            return 1 / self._width
        return math.sqrt(stability.total_cost / (self._options["horizon"] or 2)) / math.sqrt(stability.round_cost)

    # ------------------------------------------------------------------ rounds

    def choose(self) -> Any:
        """The expert of this round, or the path, as edges. It depends on seed and rounds alone: nothing changes."""
        with self._lock:
            draws = self._draws.uniforms(self._rounds, 1, len(self._totals))
            leader = lead_once(
                *self._layout,
                view(self._totals),
                view(draws),
                self._exponential,
                1 / self._factor * math.sqrt(self._rounds + 1) if self._decreasing else 1 / self._factor,
                view(self._least),
                view(self._choice),
            )
            return self._graph.at(leader) if self._of == "edge" else leader[0]

    def observe(self, losses: Any) -> float:
        """Learn the losses of all experts, or of all edges, in order (for edges, or a dict); that of the one chosen."""
        return self._learned_one(losses)

    def observe_many(self, losses: Any) -> Floats:
        """``observe`` for every row of losses in order; the losses suffered."""
        return self._learned_many(losses)

    def _learn(self, costs: Floats) -> Floats:
        losses = np.empty(len(costs))
        for begin, end in self._slices(len(costs)):
            rows = costs[begin:end]
            self._loss = lead_rounds(
                *self._layout,
                view(rows),
                view(self._totals),
                view(self._draws.uniforms(self._rounds, len(rows), len(self._totals))),
                self._exponential,
                1 / self._factor,
                self._decreasing,
                self._rounds,
                self._loss,
                view(self._least),
                view(self._choice),
                view(losses[begin:end]),
            )
            self._rounds += len(rows)
        return losses

    # ------------------------------------------------------------------ what it knows

    @property
    def epsilon(self) -> float:
        """One over the size of this round's perturbations."""
        return self._factor / math.sqrt(self._rounds + 1) if self._decreasing else self._factor

    @property
    def expert_losses(self) -> Floats:
        """What each expert has lost in all rounds together."""
        return self._totals_of("expert", "expert_losses")

    @property
    def edge_costs(self) -> Floats:
        """What each edge would have cost in all rounds together."""
        return self._totals_of("edge", "edge_costs")

    def _totals_of(self, kind: str, name: str) -> Floats:
        if self._of != kind:
            raise AttributeError(f"a learner of {self._of}s has no {name}")
        with self._lock:
            return self._totals.copy()

    @property
    def best_expert(self) -> int:
        """The expert with the least loss in all rounds together, the first of several."""
        return int(np.argmin(self.expert_losses))

    def __repr__(self) -> str:
        if self._of == "edge":
            return super().__repr__()
        experts = self._options["n_experts"]
        return f"{type(self).__name__} of {experts:,} experts: {counted(self._rounds, 'round')}, loss {self._loss:.6g}"
