"""Hinge losses at every scale without the margins: how streamed checkers find comparators and judge them.

In memory the margins of a comparator are sorted, and its losses at a scale are sums up to a place. Here the margins
are counted in bins between neighbouring scales, first over all scales, then, in a second pass, between the scales where
a theorem's bound was smallest. That only chooses: the losses at the scales that are chosen, a few, are then summed up
from the margins themselves, over all rounds and over those with an update. Any scale is as valid as any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from afterwit.certify.linear import LinearEvidence, ScaledComparator
from afterwit.certify.replay import on_part, own_weights, same_rounds
from afterwit.certify.streamed import Block, Passes, PlayedBlock, Sums, replayed
from afterwit.core.certificate import Assumption, apply
from afterwit.core.theorem import Theorem
from afterwit.hindsight.comparator import Comparator, normalised

Floats = npt.NDArray[np.float64]
Bound = Callable[[ScaledComparator], float]
#: The value of a bound, and where.
Found = tuple[float, ScaledComparator]

OWN = "its own last weights"
#: The scales of the first search: so many bins, so many octaves up and down from the typical margin.
BINS, OCTAVES = 1024, 24.0
#: Those of the second: so many bins, over so many bins of the first up and down.
FINER_BINS, AROUND = 4096, 2.0
#: A comparator whose bound in the first search is larger than the smallest by more than this is not searched again.
NEAR = 1.05


class Judge:
    """One weight vector, multiplied out on one block after the other."""

    def __init__(self, source: str, vector: Floats, norm: float) -> None:
        self.source, self.vector, self.norm = source, vector, norm
        self.mistakes = 0
        self._smallest = math.inf
        self._finite = True

    def see(self, block: Block) -> Floats:
        """The margins y_t (u . x_t) of the block's rows."""
        with np.errstate(all="ignore"):
            scores = block.matrix @ self.vector
            margins = np.asarray(block.y * scores)
        self.mistakes += int(np.count_nonzero((scores >= 0) != (block.y > 0)))
        self._smallest = min(self._smallest, float(margins.min(initial=math.inf)))
        self._finite = self._finite and bool(np.isfinite(margins).all())
        return margins

    @property
    def usable(self) -> bool:
        return self._finite and math.isfinite(self.norm)

    def judged(self) -> JudgedComparator:
        margin = self._smallest / self.norm if self.norm > 0 else 0.0
        found = JudgedComparator(self.source, self.vector, np.zeros(0), self.mistakes)
        return found.measured(self.norm, margin)


@dataclass(frozen=True)
class JudgedComparator(Comparator):
    """A comparator that was judged on all rows, of whose margins only the smallest is known."""

    def measured(self, norm: float, margin: float) -> Self:
        # Both are properties that are computed once; here they are known.
        vars(self)["norm"], vars(self)["margin"] = norm, margin
        return self


class Bins:
    """The margins of one comparator, counted between neighbouring scales: its losses at each of these."""

    def __init__(self, judge: Judge, lowest: float, width: float, count: int) -> None:
        self.judge = judge
        # Logarithms of scales to the base 2.
        self.lowest, self.width = lowest, width
        self.counts = np.zeros(count + 2)
        self.sums, self.squares = Sums(count + 2), Sums(count + 2)

    def add(self, margins: Floats) -> None:
        """Note at how many of the scales, from the smallest on, each row has a loss."""
        with np.errstate(divide="ignore"):
            places = np.ceil((-np.log2(np.maximum(margins, 0.0)) - self.lowest) / self.width)
        last = len(self.counts) - 1
        active = np.clip(places, 0, last).astype(np.intp)
        self.counts += np.bincount(active, minlength=last + 1)
        self.sums.add(np.bincount(active, weights=margins, minlength=last + 1))
        self.squares.add(np.bincount(active, weights=margins**2, minlength=last + 1))

    def table(self, comparator: Comparator, passes: int) -> Table:
        """The comparator's losses at every scale, but for rounding."""
        scales = np.exp2(self.lowest + self.width * np.arange(len(self.counts) - 1, dtype=np.float64))
        counts, sums, squares = (
            np.cumsum(each[::-1])[::-1][1:] for each in (self.counts, self.sums.value, self.squares.value)
        )
        hinges = passes * np.maximum(0.0, counts - scales * sums)
        norms = np.sqrt(passes * np.maximum(0.0, counts - 2 * scales * sums + scales**2 * squares))
        return Table(comparator, scales, hinges, norms)


@dataclass(frozen=True)
class Table:
    """A comparator's losses over all rounds at many scales, in ascending order."""

    comparator: Comparator
    scales: Floats
    hinges: Floats
    norms: Floats

    def best(self, bound: Bound) -> Found:
        """The smallest value of a bound, and where: looked for at some of the scales, then at all about the best."""
        last, apart = len(self.scales) - 1, math.isqrt(len(self.scales))
        _, i = min((self._at(i, bound)[0], i) for i in (*range(0, last, apart), last))
        around = range(max(0, i - apart + 1), min(last, i + apart - 1) + 1)
        return min((self._at(i, bound) for i in around), key=_value)

    def _at(self, i: int, bound: Bound) -> Found:
        return _found(
            bound,
            ScaledComparator(self.comparator, float(self.scales[i]), float(self.hinges[i]), float(self.norms[i])),
        )


def _found(bound: Bound, point: ScaledComparator) -> Found:
    value = bound(point)
    # What is no number, as the product of 0 and infinity, is never the smallest.
    return (value if value == value else math.inf, point)


def _value(found: Found) -> float:
    return found[0]


@dataclass(frozen=True)
class Point(ScaledComparator):
    """A comparator at one scale, with its losses over all rounds and over those with an update, summed exactly."""

    on_updates: tuple[float, float] = (0.0, 0.0)


class ExactPoint:
    """The losses of one comparator at one scale, summed up from its margins."""

    def __init__(self, judge: Judge, scale: float) -> None:
        self.judge, self.scale = judge, scale
        self._all, self._updates = Sums(2), Sums(2)

    def add(self, margins: Floats, block: PlayedBlock) -> None:
        losses = np.maximum(0.0, 1.0 - self.scale * margins)
        if not block.passes_before:
            self._all.add([losses.sum(), (losses**2).sum()])
        losses = losses[block.updated]
        self._updates.add([losses.sum(), (losses**2).sum()])

    def point(self, comparator: Comparator, passes: int) -> Point:
        hinge, square = self._all.value.tolist()
        on_updates, square_on_updates = self._updates.value.tolist()
        sizes = (passes * hinge, math.sqrt(passes * square), (on_updates, math.sqrt(square_on_updates)))
        return Point(comparator, self.scale, *sizes)


@dataclass(frozen=True, kw_only=True)
class StreamedEvidence(LinearEvidence):
    """A run of a linear learner, recomputed block by block."""

    #: The comparators at the scales at which their losses are known; and tables of more scales, while these are chosen.
    points: tuple[ScaledComparator, ...] = ()
    tables: tuple[Table, ...] = ()
    counted_update_rounds: int = 0
    #: One row in so many was in the sample in which a separator was sought.
    one_row_in: int = 1
    #: What was asked for, while the scales are chosen: for each question the smallest values that were found.
    asked: list[list[Found]] | None = None

    @property
    def update_rounds(self) -> int:
        return self.counted_update_rounds

    def best(self, bound: Bound) -> ScaledComparator:
        with np.errstate(all="ignore"):
            found = [_found(bound, point) for point in self.points] + [table.best(bound) for table in self.tables]
        if self.asked is not None:
            self.asked.append(found)
        return min(found, key=_value)[1]

    def losses_on_updates(self, scaled: ScaledComparator) -> ScaledComparator:
        """They were summed up with all others; as long as scales are being chosen nobody knows them."""
        if not isinstance(scaled, Point):
            return scaled
        hinge, norm = scaled.on_updates
        return replace(scaled, hinge=hinge, hinge_norm=norm)

    def separability(self) -> tuple[Assumption, Comparator | None]:
        found, widest = super().separability()
        if found.holds is False and self.one_row_in > 1:
            found = replace(found, detail=f"{found.detail}; it was sought{on_part(self.one_row_in)}, not on all")
        return found, widest


@dataclass
class Search:
    """The search for the comparator and the scale at which each theorem of a learner is smallest."""

    passes: Passes
    theorems: Iterable[Theorem]
    #: How often each row was played.
    times: int
    judges: list[Judge]
    radius: float = 0.0
    comparators: tuple[Comparator, ...] = ()
    exact: list[ExactPoint] = field(default_factory=list)

    def run(
        self, typical: Sequence[float], length: Callable[[Any], float], make: Callable[..., StreamedEvidence]
    ) -> None:
        """Two passes over the stream: choose where to look closer, then choose the scales.

        ``typical`` is about the size of each comparator's margins, 0 where scaling it is of no use; ``length`` gives
        the radius of a matrix; ``make`` the evidence, as far as it is known, of points and a list for questions.
        """
        step = 2 * OCTAVES / BINS
        bins = [
            Bins(judge, -math.log2(size) - OCTAVES, step, BINS)
            for judge, size in zip(self.judges, typical, strict=True)
            if size > 0
        ]
        for block in self.passes:
            self.radius = max(self.radius, length(block.matrix))
            for judge in self.judges:
                margins = judge.see(block)
                for each in bins:
                    if each.judge is judge:
                        each.add(margins)
        self.comparators = tuple(judge.judged() for judge in self.judges if judge.usable)
        near = {
            (point.comparator.source, math.log2(point.scale)): point
            for values in self._asked(bins, make)
            for value, point in values
            if point.scale > 0 and value <= NEAR * min(map(_value, values))
        }
        finer = [
            Bins(self._judge_of(point), middle - AROUND * step, 2 * AROUND * step / FINER_BINS, FINER_BINS)
            for (_, middle), point in near.items()
        ]
        if finer:
            margins_of = {id(each.judge): each.judge.vector for each in finer}
            for block in self.passes:
                for key, vector in margins_of.items():
                    margins = np.asarray(block.y * (block.matrix @ vector))
                    for each in finer:
                        if id(each.judge) == key:
                            each.add(margins)
        chosen = [min(values, key=_value)[1] for values in self._asked(finer, make)]
        places = {(point.comparator.source, point.scale): point for point in [*self._certain_points(), *chosen]}
        self.exact = [ExactPoint(self._judge_of(point), point.scale) for point in places.values()]

    def _judge_of(self, point: ScaledComparator) -> Judge:
        return next(judge for judge in self.judges if judge.source == point.source)

    def at_zero(self) -> Point:
        """The zero vector."""
        rounds = float(self.times * self.passes.count)
        return Point(self.comparators[0], 0.0, rounds, math.sqrt(rounds))

    def _certain_points(self) -> list[ScaledComparator]:
        """The zero vector, and every separator where it has no loss any more."""
        wide = [each for each in self.comparators if each.separates]
        return [self.at_zero(), *(ScaledComparator(each, 1 / (each.margin * each.norm), 0.0, 0.0) for each in wide)]

    def _asked(self, bins: list[Bins], make: Callable[..., StreamedEvidence]) -> list[list[Found]]:
        """What the theorems ask for, with the losses in these bins."""
        of = {comparator.source: comparator for comparator in self.comparators}
        tables = [each.table(of[each.judge.source], self.times) for each in bins if each.judge.source in of]
        asked: list[list[Found]] = []
        apply(self.theorems, make(self, points=tuple(self._certain_points()), tables=tuple(tables), asked=asked))
        return asked

    def sum_up(self, block: PlayedBlock) -> None:
        """Add a block to the losses at the scales that were chosen."""
        margins: dict[int, Floats] = {}
        for point in self.exact:
            key = id(point.judge)
            if key not in margins:
                margins[key] = np.asarray(block.y * (block.matrix @ point.judge.vector))
            point.add(margins[key], block)

    def points(self) -> tuple[ScaledComparator, ...]:
        """The comparators at the scales that were chosen, once all rounds were summed up."""
        of = {comparator.source: comparator for comparator in self.comparators}
        return tuple(each.point(of[each.judge.source], self.times) for each in self.exact)


def judged_at_last(passes: Passes, vectors: dict[str, Floats]) -> tuple[JudgedComparator, ...]:
    """One more pass: what the learner ended with, for the third number alone."""
    judges = [Judge(source, normalised(vector)[0], 1.0) for source, vector in vectors.items()]
    for block in passes:
        for judge in judges:
            judge.see(block)
    return tuple(judge.judged() for judge in judges if judge.usable)


@dataclass(frozen=True)
class Measure:
    """How a family of learners measures comparators and examples, and where it seeks comparators."""

    norm: Callable[[Floats], float]
    #: The radius of a matrix.
    radius: Callable[[Any], float]
    #: Comparators, by where they come from; given how often each row was played.
    sought: Callable[[int], list[tuple[str, Floats]]]
    #: Whether the learner's own last weights are a comparator: not beside one that was given.
    tries_own: bool


@dataclass(frozen=True)
class Checks:
    """How the rounds of a learner are multiplied out."""

    follow: Callable[[PlayedBlock], None]
    #: What came of it.
    assumed: Callable[[], tuple[Assumption, ...]]
    #: What else the learner went through, for the third number alone.
    own: Callable[[], dict[str, Floats]] = dict
    #: What must hold, of the radius, for the rounds to be multiplied out at all.
    first: Callable[[float], tuple[Assumption, ...]] = lambda _: ()


def streamed_evidence(
    learner: Any,
    passes: Passes,
    measure: Measure,
    checks: Checks,
    kind: type[StreamedEvidence] = StreamedEvidence,
    **more: Any,
) -> StreamedEvidence:
    """The evidence of a learner with hinge bounds. ``more`` is what its kind of evidence has further."""
    # The length of a vector is of no matter: every scale is tried.
    ended, _ = normalised(passes.narrowed(own_weights(learner, passes.columns.header)))
    same, times = same_rounds(learner, passes.count, lambda _: "")
    search = Search(passes, learner.theorems, times, [Judge("zero", np.zeros(passes.width), 0.0)])
    facts = {
        "subject": type(learner).__name__,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "counted_updates": learner.updates,
        "passes": times,
        "unit": passes.unit,
        "one_row_in": passes.step,
        **more,
    }

    def make(found: Search, assumptions: tuple[Assumption, ...] = (same,), **known: Any) -> StreamedEvidence:
        facts.update(radius=found.radius, comparators=found.comparators)
        return kind(**{**facts, **known, "assumptions": assumptions})

    typical = [0.0]
    if same.holds:
        sought = measure.sought(times)
        if measure.tries_own and np.isfinite(ended).all() and ended.any():
            sought.append((OWN, ended))
        search.judges += [Judge(source, vector, measure.norm(vector)) for source, vector in sought]
        matrix, _ = passes.sample()
        typical += [_typical(matrix, vector) for _, vector in sought]
    search.run(typical, measure.radius, make)
    zero = {"points": (search.at_zero(),), "comparators": search.comparators[:1]}
    first = checks.first(search.radius)
    if not same.holds:
        # Nothing was played, so that nothing was updated.
        return make(search, (same, *first), **zero, converged=True)
    updates = 0

    def visit(block: PlayedBlock) -> None:
        nonlocal updates
        updates += int(np.count_nonzero(block.updated))
        search.sum_up(block)
        if all(each.met for each in first):
            checks.follow(block)

    same, _, at_rest = replayed(learner, passes, visit)
    if not all(each.met for each in (same, *first)):
        return make(search, (same, *first), **zero, converged=at_rest)
    return make(
        search,
        (same, *first, *checks.assumed()),
        points=search.points(),
        counted_update_rounds=updates,
        converged=at_rest,
        own=judged_at_last(passes, {OWN: ended, **checks.own()}),
    )


def _typical(matrix: Any, vector: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.abs(matrix @ vector).mean())
    return size if np.isfinite(size) else 0.0
