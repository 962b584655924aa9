"""What workers do for a certificate: a look at the rows of one shard, of which sums come together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._streamed_linear import BINS, OCTAVES, Bins, Judge
from afterwit.certify.perceptron import Rule, comparators_for
from afterwit.certify.replay import MOST_ROWS_TO_FIT
from afterwit.certify.streamed import Block, Columns, Passes
from afterwit.cluster.mixing import Played, Start, both, finished
from afterwit.core.sources import labelled
from afterwit.data.labels import Labels
from afterwit.hindsight.comparator import largest_entry, row_norms

Floats = npt.NDArray[np.float64]

#: How far apart the scales are at which losses are counted, as logarithms to the base 2.
SCALES = 2 * OCTAVES / BINS
#: Many shards have as much to look at together as one machine has; each needs enough to find a good comparator.
LEAST_ROWS_TO_FIT = 5_000


@dataclass(frozen=True)
class Lens:
    """How a shard is looked at: the columns of all shards, the labels, a constant feature if there is one, the unit."""

    names: list[Any] | None
    width: int
    intercept: bool
    labels: Labels
    unit: float = 1.0

    @classmethod
    def of(cls, learner: Any) -> Lens:
        state = learner.state()
        intercept = bool(learner.parameters["intercept"])
        return cls(state["names"], len(state["weights"]) - intercept, intercept, Labels(learner.labels))

    @property
    def size(self) -> int:
        return self.width + self.intercept

    def columns(self) -> Columns:
        columns = Columns()
        columns.dense, columns.width = False, self.width
        if self.names is not None:
            columns.names = {name: place for place, name in enumerate(self.names)}
        else:
            columns._use(slice(0, self.width), self.width)
        columns.close()
        return columns

    def blocks(self, shard: Any, data: Any) -> Any:
        """The rows of a shard, over the columns of all, in the unit."""
        columns = self.columns()
        for rows, y in labelled(shard.stream(data)):
            rows.require_finite()
            yield Block(
                rows, self.labels.signs(y, rows.first), columns.matrix(rows, self.intercept, self.unit), rows.first
            )

    def over_all(self, vector: Floats, columns: Columns) -> Floats:
        """A vector over the columns of one shard as one over those of all."""
        found = np.zeros(self.size)
        found[: self.intercept] = vector[: self.intercept]
        places = columns.used
        if columns.names is not None and self.names is not None:
            at = {name: place for place, name in enumerate(self.names)}
            places = np.array([at[name] for name in columns.names], dtype=np.intp)
        found[places + self.intercept] = vector[self.intercept :]
        return found


@dataclass(frozen=True)
class Size:
    """How many rows a shard has, how long the longest is, and the largest entry of all."""

    rows: int
    radius: float
    largest: float

    def __add__(self, other: Size) -> Size:
        return Size(self.rows + other.rows, max(self.radius, other.radius), max(self.largest, other.largest))


def measured(shard: Any, data: Any, lens: Lens) -> Size:
    """A first look at the rows, in their own unit."""
    rows, radius, largest = 0, 0.0, 0.0
    for block in lens.blocks(shard, data):
        rows += block.rows.count
        radius = max(radius, float(row_norms(block.matrix).max(initial=0.0)))
        largest = max(largest, largest_entry(block.matrix))
    return Size(rows, radius, largest)


def rows_to_fit(shards: int) -> int:
    """On how many rows of each shard comparators are sought: together about as many as on one machine."""
    return max(MOST_ROWS_TO_FIT // shards, LEAST_ROWS_TO_FIT)


def sought(shard: Any, data: Any, lens: Lens, learner: Any, epochs: int, most: int) -> dict[str, Floats]:
    """Comparators found on at most so many rows of one shard: the widest separator with margin 1, and others."""
    passes = Passes(learner, shard.stream(data))
    if not passes.count:
        return {}
    passes.unit = lens.unit
    matrix, signs = passes.sample()
    thin = -(-matrix.shape[0] // most)
    found: dict[str, Floats] = {}
    for each in comparators_for(matrix[::thin], signs[::thin], epochs * passes.step * thin, lens.unit, None):
        kind = each.source.partition(" (")[0]
        vector = each.vector
        if kind == "maximum margin":
            if not each.separates:
                continue
            vector = vector / (each.margin * each.norm)
        alike = sum(key.startswith(kind) for key in found)
        found[f"{kind} {alike + 1}" if alike else kind] = lens.over_all(vector, passes.columns)
    return found


def added(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Sums by name."""
    return {
        name: one[name] + other[name] if name in one and name in other else one.get(name, other.get(name))
        for name in {**one, **other}
    }


@dataclass(frozen=True)
class Judged:
    """How one comparator did: mistakes and weighted mistakes, its smallest margin, its losses at many scales."""

    mistakes: float
    by_weight: float
    smallest: float
    bins: Floats
    finite: bool

    def __add__(self, other: Judged) -> Judged:
        return Judged(
            self.mistakes + other.mistakes,
            self.by_weight + other.by_weight,
            min(self.smallest, other.smallest),
            self.bins + other.bins,
            self.finite and other.finite,
        )


def judged(shard: Any, data: Any, lens: Lens, vectors: dict[str, Floats], lowest: dict[str, float], mu: float) -> Any:
    """All comparators on one shard, whose rounds count mu times in all epochs together."""
    judges = {source: Judge(source, vector, float(np.linalg.norm(vector))) for source, vector in vectors.items()}
    bins = {source: Bins(judges[source], low, SCALES, BINS) for source, low in lowest.items()}
    for block in lens.blocks(shard, data):
        for source, judge in judges.items():
            margins = judge.see(block)
            if source in bins and judge.usable:
                bins[source].add(margins)
    nothing = np.zeros((3, BINS + 2))
    found = {}
    for source, judge in judges.items():
        each = bins.get(source)
        counts = nothing if each is None else np.array([each.counts, each.sums.value, each.squares.value])
        found[source] = Judged(judge.mistakes, mu * judge.mistakes, judge._smallest, mu * counts, judge.usable)
    return found


def summed(
    shard: Any, data: Any, lens: Lens, vectors: dict[str, Floats], points: list[tuple[str, float]], mu: float
) -> Floats:
    """The hinge losses of comparators at their scales, and the squares of these."""
    total = np.zeros((len(points), 2))
    for block in lens.blocks(shard, data):
        margins = {source: block.y * (block.matrix @ vector) for source, vector in vectors.items()}
        for place, (source, scale) in enumerate(points):
            losses = np.maximum(0.0, 1.0 - scale * margins[source])
            total[place] += losses.sum(), (losses**2).sum()
    return mu * total


@dataclass(frozen=True)
class Followed:
    """A shard in an epoch, played again and multiplied out: its weights and the sizes of all that was added up."""

    played: Played
    weights: Floats
    sizes: Floats
    suspect: str
    updates: int

    def __add__(self, other: Followed) -> Followed:
        return Followed(
            both(self.played, other.played),
            self.weights + other.weights,
            self.sizes + other.sizes,
            self.suspect or other.suspect,
            self.updates + other.updates,
        )


def followed(
    shard: Any,
    data: Any,
    lens: Lens,
    start: Start,
    weights: tuple[Floats, Floats],
    mixing: str,
    alone: bool,
    number: int,
) -> Followed:
    """One shard in one epoch, from the weights that the checker has for it."""
    learner = start.learner()
    rule = Rule(lens.size, float(start.parameters.get("margin", 0.0)) / 2 / lens.unit, lens.unit)
    rule.weights, rule.added = weights[0].copy(), weights[1].copy()
    for block in lens.blocks(shard, data):
        updated = np.empty(block.rows.count, dtype=np.int8)
        learner._learn(block.rows, block.y, updated)
        rule.follow(block.matrix, block.y, np.flatnonzero(updated), block.first)
    played = finished(learner, start, mixing, alone)
    count = 1 if alone else played.heard.count
    suspect = "" if rule.suspect is None else f"shard {number}: {rule.followed.detail}"
    return Followed(played, count * rule.weights, count * rule.added, suspect, rule.count)


def add(one: Any, other: Any) -> Any:
    """A sum of two, on a worker."""
    return one + other
