"""Certificates of mixed weights, computed where the rows are: the learner's word is not taken for anything.

Every epoch is played again, shard by shard, from weights that the checker has averaged itself; every round is
multiplied out with numpy, to see that each update was made by the rule and every other round was left alone by it.
Comparators are sought on each shard alone, added up, and judged on all shards, whose losses count as often as their
shards did in the averages. What comes together on one machine are sums and a few vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._streamed_linear import BINS, OCTAVES, Bins, Judge, Point, StreamedEvidence, Table
from afterwit.certify.perceptron import starts_at_zero
from afterwit.certify.replay import ROUNDING, comparator_for
from afterwit.cluster.looking import (
    SCALES,
    Followed,
    Lens,
    add,
    added,
    followed,
    judged,
    measured,
    rows_to_fit,
    sought,
    summed,
)
from afterwit.cluster.mixing import (
    Heard,
    Start,
    counts_updates,
    mixed,
    shares,
    smallest_share,
    weighted,
)
from afterwit.cluster.record import ClusterRecord
from afterwit.cluster.shards import Plan
from afterwit.cluster.tree import tree
from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Hindsight, apply
from afterwit.core.theorem import Theorem
from afterwit.data.values import same_value
from afterwit.errors import InputError, counted
from afterwit.hindsight.comparator import Comparator, unit_for

Floats = npt.NDArray[np.float64]

ONCE = (
    "the shards trained alone and were averaged once, and no bound is known for such an average; leave out once, and "
    "the weights are mixed after every epoch, which has bounds"
)
#: Why there is no certificate for others whose weights are averaged.
NO_BOUND = {
    "SGD": "the losses of gradient descent over shards are not summed up yet. Mistakes are counted",
    "OnlineSVM": "the losses of the online SVM over shards are not summed up yet. Mistakes are counted",
    "AdaGrad": "no bound is known to us for AdaGrad whose weights are mixed, because its rates differ among the shards",
    "MulticlassPerceptron": "the rounds of many classes over shards are not checked yet. Mistakes are counted",
    "AveragedMulticlassPerceptron": "the rounds of many classes over shards are not checked yet. Mistakes are counted",
}
OTHERS = "no bound is known to us where its weights are mixed"


def why_none(learner: Any) -> str:
    """Why there is no certificate of a learner whose weights were mixed; empty if there is one."""
    return "" if learner.mixed_theorems else NO_BOUND.get(type(learner).__name__, OTHERS)


@dataclass(frozen=True, kw_only=True)
class MixedEvidence(StreamedEvidence):
    """A run over shards, recomputed. Losses are weighted; ``total`` counts everything once."""

    heard: Heard
    weighted_rounds: float
    weighted_counts: dict[str, float]
    #: Of the comparator that has fewest, its mistakes in all rounds, and weighted.
    fewest: tuple[tuple[float, float], str] | None = None
    share: float = 1.0

    def observed(self, theorem: Theorem) -> float:
        of_weighted = theorem.quantity.startswith("weighted ")
        return self.weighted_counts[theorem.quantity[9:]] if of_weighted else getattr(self.heard, theorem.quantity)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        if self.not_the_rounds or self.fewest is None:
            return None
        (mistakes, by_weight), source = self.fewest
        is_weighted = theorem.quantity.startswith("weighted ")
        value, quantity = (by_weight, "weighted mistakes") if is_weighted else (mistakes, "mistakes")
        exact = " (there may be a better one)" if mistakes else ""
        found = f"by the best fixed separator found afterwards{exact}: {source}"
        return Hindsight(value, found, quantity, None if mistakes else 0.0)

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        if theorem.quantity.startswith("weighted "):
            return Ceiling(self.weighted_rounds, "no run of this length could break the bound")
        return super().ceiling(theorem)

    def rounding(self, theorem: Theorem, bound: float) -> float:
        del theorem
        # As for counts: a margin is rounded as the length of the rows is.
        bound = max(bound, 1.0) * (1 + math.sqrt(max(bound, 0.0)))
        return self.rounding_of_sums(bound)


def _numbered(how: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    return (*how, number)


# ---------------------------------------------------------------------- the certificate


def certificate(
    learner: Any, began: Start, plan: Plan, record: ClusterRecord, comparator: Any, work: Any
) -> Certificate:
    """The theorems of mixed weights applied to a run."""
    why = why_none(learner)
    if why:
        raise InputError(f"{type(learner).__name__} has no certificate: {why}")
    return apply(learner.mixed_theorems, _Check(learner, began, plan, record, work).evidence(comparator))


@dataclass
class _Check:
    """One certificate on its way."""

    learner: Any
    began: Start
    plan: Plan
    record: ClusterRecord
    work: Any

    def evidence(self, comparator: Any) -> MixedEvidence:
        learner, record = self.learner, self.record
        self.lens = Lens.of(learner)
        size = self._sum("the rows", lambda _: (measured, self.lens))
        self.lens = replace(self.lens, unit=unit_for(max(size.largest, float(self.lens.intercept))))
        radius = size.radius / self.lens.unit
        #: How often the rounds of each shard count, in all epochs together.
        self.mus = [math.fsum(each) for each in zip(*record.weights, strict=True)]
        rounds = sum(mu * each.rounds for mu, each in zip(self.mus, record.epochs[0], strict=True))
        zero = Comparator("zero", np.zeros(self.lens.size), np.zeros(0), 0)
        heard = sum((each for epoch in record.epochs for each in epoch), Heard())
        facts: dict[str, Any] = {
            "subject": type(learner).__name__,
            "rounds": record.rounds,
            "mistakes": heard.mistakes,
            "counted_updates": heard.updates,
            "passes": record.passes,
            "unit": self.lens.unit,
            "radius": radius,
            "margin": float(learner.parameters.get("margin", 0.0)),
            "heard": heard,
            "weighted_rounds": rounds,
            "weighted_counts": {name: weighted(record.epochs, name) for name in ("mistakes", "updates")},
            "share": smallest_share(record.epochs, "updates" if counts_updates(learner) else "mistakes"),
        }
        at_zero = Point(zero, 0.0, rounds, math.sqrt(rounds))
        assumptions = self._assumptions()
        if not all(each.met for each in assumptions[:1]):
            return MixedEvidence(assumptions=assumptions, comparators=(zero,), points=(at_zero,), **facts)
        comparators, tables, fewest = self._comparators(comparator, radius)
        facts |= {"comparators": (zero, *comparators), "fewest": fewest}
        points = self._points(comparators, tables, at_zero, MixedEvidence(assumptions=assumptions, **facts))
        return MixedEvidence(assumptions=assumptions, points=(at_zero, *points), **facts)

    # ------------------------------------------------------------------ tasks

    def _sum(self, what: str, task: Callable[[int], tuple[Any, ...]], plus: Callable[..., Any] = add) -> Any:
        """The sum of a task for every shard: ``task(i)`` gives the function and what it takes after the shard."""
        tasks = []
        for i, (shard, data) in enumerate(self.plan.shards):
            function, *more = task(i)
            tasks.append(self.work.submit(f"check-{i}", function, shard, data, *more))
        total = tree(tasks, lambda one, other: self.work.submit("sum", plus, one, other))
        found = self.work.result(total, f"{what}, for the certificate")
        self.work.forget()
        return found

    # ------------------------------------------------------------------ the rounds

    def _assumptions(self) -> tuple[Assumption, ...]:
        """Whether these are its rounds, played by the rule from weights that were averaged as they should be."""
        state, fresh = self.began.state, Start(self.began.kind, self.began.parameters, self.began.state).learner()
        before = state["rounds"]
        statement = "these shards are all that it has learned from"
        if before:
            why = f"the learner had learned {counted(before, 'round')} before this run"
            return (Assumption(statement, Basis.OBSERVED, False, why),)
        vector, sizes = np.zeros(self.lens.size), np.zeros(self.lens.size)
        suspect, off, updates = "", "", 0
        alone = len(self.plan.shards) == 1
        for number, heard in enumerate(self.record.epochs, start=1):
            start = Start.of(fresh)
            pair = vector, sizes
            how = (followed, self.lens, start, pair, self.record.mixing, alone)
            found: Followed = self._sum(f"epoch {number:,}", partial(_numbered, how))
            total = 1 if alone else found.played.heard.count
            done, noted = found.played.heard, sum(heard, Heard())
            if (done.rounds, done.mistakes, done.updates) != (noted.rounds, noted.mistakes, noted.updates):
                why = f"played again, epoch {number} has other rounds or mistakes; are they still the same rows?"
                return (Assumption(statement, Basis.OBSERVED, False, why),)
            fresh.restore(mixed(fresh, start, found.played))
            if total:
                vector, sizes = found.weights / total, found.sizes / total
            suspect, updates = suspect or found.suspect, updates + found.updates
            rate = float(self.began.parameters.get("rate", 1.0))
            apart = np.abs(self._vector(fresh) / rate - vector * self.lens.unit)
            if not off and not (apart <= ROUNDING * self.lens.unit * (sizes.max(initial=0.0) + sizes)).all():
                off = f"after epoch {number} the weights are another average"
        same = same_value(fresh.state(), self.learner.state())
        why = "" if same else "the learner has learned something else since, or these are other rows"
        detail = why or f"played again shard by shard, {counted(len(self.record.epochs), 'epoch')}"
        rule = "exactly by its margin" if self.began.parameters.get("margin") else "exactly on its mistakes"
        average = "after each epoch w is an average of what the shards ended with, with weights that sum to 1"
        by_shares = all(
            abs(math.fsum(shares(heard)) - 1) < 1e-9 or not any(e.rounds for e in heard) for heard in self.record.epochs
        )
        return (
            Assumption(statement, Basis.OBSERVED, same, detail),
            starts_at_zero(self.learner),
            Assumption(
                f"every shard updated {rule}",
                Basis.OBSERVED,
                not suspect,
                suspect or f"every round multiplied out, {counted(updates, 'update')}",
            ),
            Assumption(average, Basis.OBSERVED, not off and by_shares, off),
        )

    def _vector(self, learner: Any) -> Floats:
        """The weights of the perceptron itself over the columns of all shards."""
        state = learner.state()
        found = np.zeros(self.lens.size)
        # Features come in the same order each time: those of the last epoch begin with those of the first.
        found[: len(state["weights"])] = state["weights"]
        return found

    # ------------------------------------------------------------------ comparators

    def _comparators(self, given: Any, radius: float) -> tuple[Sequence[Comparator], list[Table], Any]:
        """Comparators, their losses at many scales, and the one with the fewest mistakes."""
        vectors: dict[str, Floats] = {}
        if given is not None:
            header = self.lens.columns().header
            vectors["the given one"] = self.lens.unit * comparator_for(self.learner, header, given)
        else:
            twin = Start.of(self.learner).learner()
            how = (sought, self.lens, twin, self.record.passes, rows_to_fit(len(self.plan.shards)))
            found = self._sum("comparators", lambda _: how, added)
            several = len(self.plan.shards) > 1
            vectors = {
                f"{source}, the sum of those of the shards" if several else source: each
                for source, each in found.items()
            }
            vectors["its own last weights"] = self._vector(self.learner)
        own = self._scaled(self.learner._vector())
        if type(self.learner).__name__ != "Perceptron" and given is None and own.any():
            vectors["the weights it predicts by"] = own
        vectors = {
            source: self._scaled(each) for source, each in vectors.items() if each.any() and np.isfinite(each).all()
        }
        norms = {source: float(np.linalg.norm(each)) for source, each in vectors.items()}
        lowest = {
            source: -math.log2(norms[source] * radius) - OCTAVES / 8 for source in vectors if norms[source] * radius > 0
        }
        if not vectors:
            return [], [], None
        everything = self._sum("how comparators do", lambda i: (judged, self.lens, vectors, lowest, self.mus[i]), added)
        comparators, tables = [], []
        for source, each in everything.items():
            if not each.finite:
                continue
            judge = Judge(source, vectors[source], norms[source])
            judge.mistakes, judge._smallest = int(each.mistakes), each.smallest
            comparators.append(judge.judged())
            if source in lowest:
                bins = Bins(judge, lowest[source], SCALES, BINS)
                bins.counts = each.bins[0]
                bins.sums.add(each.bins[1])
                bins.squares.add(each.bins[2])
                tables.append(bins.table(comparators[-1], 1))
        self.vectors = vectors
        best = min(comparators, key=lambda each: everything[each.source].mistakes)
        epochs = self.record.passes
        fewest = (epochs * everything[best.source].mistakes, everything[best.source].by_weight)
        return comparators, tables, (fewest, best.source)

    def _scaled(self, vector: Floats) -> Floats:
        """A vector of moderate size, for margins that are: every length is tried anyway."""
        unit = unit_for(float(np.abs(vector).max(initial=0.0)))
        return vector / unit

    def _points(
        self, comparators: Sequence[Comparator], tables: list[Table], zero: Point, evidence: MixedEvidence
    ) -> list[Point]:
        """The scales at which the bounds are smallest, with the losses there, summed up from the margins themselves."""
        asked: list[Any] = []
        wide = [Point(each, 1 / (each.margin * each.norm), 0.0, 0.0) for each in comparators if each.separates]
        rough = replace(evidence, points=(zero, *wide), tables=tuple(tables), asked=asked)
        apply(self.learner.mixed_theorems, rough)
        chosen = {(point.comparator.source, point.scale): point for point in wide}
        for values in asked:
            point = min(values, key=lambda found: found[0])[1]
            if point.scale > 0:
                chosen[point.comparator.source, point.scale] = point
        places = list(chosen)
        if not places:
            return []
        vectors = {source: self.vectors[source] for source, _ in places}
        sums = self._sum("losses", lambda i: (summed, self.lens, vectors, places, self.mus[i]))
        return [
            Point(point.comparator, point.scale, float(hinge), math.sqrt(float(square)))
            for point, (hinge, square) in zip(chosen.values(), sums, strict=True)
        ]
