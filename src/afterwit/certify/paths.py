"""Gathering the evidence for the bounds of learners of paths, from their state.

Nothing of the graph's own arrays or of the compiled loops is used. The edges the learner was made with are put in order
by the standard library, and the number of paths, the best path and the range of a path's cost are found again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from afterwit.core.certificate import Assumption, Basis, Ceiling, Evidence, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.experts.follow_the_perturbed_leader import Stability


@dataclass(frozen=True, kw_only=True)
class PathEvidence(Evidence):
    """What is known of a run on the paths of a graph."""

    loss: float
    log_paths: float
    #: By how much paths can differ in one round.
    width: float
    #: What a path costs at least in one round.
    cheapest: float
    best: float
    #: The sizes of all costs that were added up, and how many edges there are.
    size: float
    edges: int
    #: The same with the low end of the range taken from every edge, where that is the same for all paths.
    best_above_low: float
    description: str
    rate: float
    decreasing: bool
    horizon: int | None
    perturbation: str = ""
    stability: Stability = field(default=Stability(0.0, 0.0))

    @property
    def constants(self) -> dict[str, float]:
        return {"Q": self.stability.round_cost, "S": self.stability.total_cost}

    def observed(self, theorem: Theorem) -> float:
        return self.loss - self.best

    @property
    def terms(self) -> int:
        return self.rounds + self.edges

    def rounding(self, theorem: Theorem, bound: float) -> float:
        return super().rounding(theorem, abs(bound) + self.size)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return Hindsight(self.best, self.description, "loss" if self.perturbation else "cost")

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        if theorem.chance:
            # The loss is itself a matter of chance.
            return Ceiling(self.rounds * self.width, "no run of this length could have a larger regret")
        return Ceiling(self.loss - self.rounds * self.cheapest, "no path could have cost so little")


@dataclass(frozen=True)
class _Ahead:
    """What lies between a node and the sink."""

    log_paths: float
    least: float
    fewest: int
    most: int


def gather(learner: Any) -> PathEvidence:
    """What is known of the rounds of a learner of paths."""
    parameters, state = learner.parameters, learner.state()
    rounds, totals = state["rounds"], state["totals"].tolist()
    experts = parameters.get("n_experts") is not None
    low, high = parameters["loss_range" if "loss_range" in parameters else "cost_range"]
    if experts:
        edges, source, sink = [(0, 1)] * parameters["n_experts"], 0, 1
    else:
        edges, source, sink = parameters["edges"], parameters["source"], parameters["sink"]
    ahead = _ahead(edges, source, sink, totals)
    whole = ahead[source]
    lengths = (whole.fewest, whole.most)
    cheapest = min(low * length for length in lengths)
    width = max(high * length for length in lengths) - cheapest
    details: dict[str, Any] = {}
    if "perturbation" in parameters:
        used = _on_paths(edges, source, ahead)
        kind = parameters["perturbation"]
        details["perturbation"] = kind
        details["stability"] = Stability.of(kind, used, lengths, whole.log_paths, low, high)
    even = whole.fewest == whole.most
    return PathEvidence(
        subject=type(learner).__name__,
        rounds=rounds,
        loss=state["loss"],
        log_paths=whole.log_paths,
        width=width,
        cheapest=cheapest,
        best=whole.least,
        # The size of a cost is at most the cost and twice the low end of the range, if that is negative.
        size=abs(state["loss"]) + abs(whole.least) + 2 * rounds * whole.most * max(0.0, -low),
        edges=len(edges),
        best_above_low=max(0.0, whole.least - (low * whole.most * rounds if even else 0.0)),
        description="of the best expert" if experts else "of the best path",
        assumptions=(_in_range("every loss" if experts else "every cost of an edge", totals, rounds, low, high),),
        rate=learner.epsilon if "epsilon" in parameters else learner.rate,
        decreasing=parameters["horizon"] is None and parameters.get("rate", parameters.get("epsilon")) is None,
        horizon=parameters["horizon"],
        **details,
    )


def _ahead(edges: Any, source: Any, sink: Any, totals: list[float]) -> dict[Any, _Ahead]:
    """For every node from which a path leads to the sink: the number of such paths, the best, the lengths."""
    leaving: dict[Any, list[tuple[Any, float]]] = {}
    order: TopologicalSorter[Any] = TopologicalSorter()
    for edge, total in zip(edges, totals, strict=True):
        leaving.setdefault(edge[0], []).append((edge[1], total))
        order.add(edge[0], edge[1])
    found: dict[Any, _Ahead] = {}
    for node in order.static_order():  # the sink's side first
        if node == sink:
            found[node] = _Ahead(0.0, 0.0, 0, 0)
            continue
        nexts = [(found[head], total) for head, total in leaving.get(node, ()) if head in found]
        if not nexts:
            continue
        largest = max(beyond.log_paths for beyond, _ in nexts)
        found[node] = _Ahead(
            log_paths=largest + math.log(math.fsum(math.exp(beyond.log_paths - largest) for beyond, _ in nexts)),
            least=min(total + beyond.least for beyond, total in nexts),
            fewest=1 + min(beyond.fewest for beyond, _ in nexts),
            most=1 + max(beyond.most for beyond, _ in nexts),
        )
        if node == source:
            break
    return found


def _on_paths(edges: Any, source: Any, ahead: dict[Any, _Ahead]) -> int:
    """How many edges lie on a path from the source to the sink."""
    leaving: dict[Any, list[Any]] = {}
    for edge in edges:
        if edge[1] in ahead:
            leaving.setdefault(edge[0], []).append(edge[1])
    count, seen, waiting = 0, {source}, [source]
    while waiting:
        heads = leaving.get(waiting.pop(), [])
        count += len(heads)
        waiting += set(heads) - seen
        seen.update(heads)
    return count


def _in_range(what: str, totals: list[float], rounds: int, low: float, high: float) -> Assumption:
    """The code refused all else; the totals can still tell."""
    slack = 1e-9 * rounds * max(abs(low), abs(high))
    inside = all(low * rounds - slack <= total <= high * rounds + slack for total in totals)
    detail = "the totals agree" if inside else "the totals are not those of such rounds"
    return Assumption(f"{what} was from {low:g} to {high:g}", Basis.ENFORCED, inside, detail)
