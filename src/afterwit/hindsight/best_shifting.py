"""The best sequence of experts that shifts at most m times.

Problem     minimise sum_t l_{t,i_t} over sequences i_1, ..., i_T with i_t != i_{t+1} for at most m rounds t.
Method      dynamic programming over the number k of shifts. With C_{t,i} the cumulative losses and M_k(t) the least
            loss of t rounds with at most k shifts, the least that ends at expert i is
                C_{t,i} + min over s <= t of (M_{k-1}(s) - C_{s,i}),
            where s is the round after which i took over: a running minimum along the rounds, for all experts at once.
            Only M_k and the expert at which it is reached are kept, T numbers for each k; the shifts are then found
            backwards, by one pass over the rounds for each. Time O(T N m), memory O(T (N + m)).
Sleepers    a sequence follows experts only while they are awake.
Use         the comparator of tracking algorithms, such as fixed share.
Source      Herbster & Warmuth 1998, which defines the comparator.

>>> found = best_shifting(losses=[[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], shifts=1)
>>> found.loss, found.sequence.tolist(), found.shifts
(0.0, [0, 0, 1, 1], (2,))
>>> print(found)
best sequence with at most 1 shift: loss 0 over 4 rounds
  rounds 0 to 1: expert 0, loss 0
  rounds 2 to 3: expert 1, loss 0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import whole_number
from afterwit.errors import InputError, counted, invalid
from afterwit.hindsight._rounds import Floats, frozen, read_losses

Positions = npt.NDArray[np.intp]
#: How many segments are printed.
MOST_SHOWN = 10


@dataclass(frozen=True)
class Segment:
    """Rounds ``first`` up to, but not including, ``end``, in which one expert is followed."""

    expert: Any
    first: int
    end: int
    loss: float


@dataclass(frozen=True, eq=False)
class ShiftingSequence:
    """The best sequence of experts, as runs and round by round."""

    loss: float
    segments: tuple[Segment, ...]
    #: The position of the expert followed in each round.
    sequence: Positions = field(repr=False)
    most_shifts: int

    @property
    def shifts(self) -> tuple[int, ...]:
        """The rounds, counted from 0, in which a new expert takes over."""
        return tuple(segment.first for segment in self.segments[1:])

    def __str__(self) -> str:
        shifts = f"{self.most_shifts:,} shift{'s' if self.most_shifts != 1 else ''}"
        lines = [
            f"best sequence with at most {shifts}: loss {self.loss:.6g} over {counted(len(self.sequence), 'round')}"
        ]
        for segment in self.segments[:MOST_SHOWN]:
            rounds = f"rounds {segment.first:,} to {segment.end - 1:,}"
            lines.append(f"  {rounds}: expert {segment.expert!r}, loss {segment.loss:.6g}")
        if len(self.segments) > MOST_SHOWN:
            lines.append(f"  and {len(self.segments) - MOST_SHOWN:,} more")
        return "\n".join(lines)


def best_shifting(
    advice: Any = None, outcomes: Any = None, shifts: Any = None, loss: Any = "square", *, losses: Any = None
) -> ShiftingSequence:
    """The sequence of experts with the least loss among those with at most ``shifts`` shifts.

    advice    a 2-D array, a DataFrame or a sequence of dicts, an expert in each column; NaN where one sleeps
    outcomes  one number for each round
    shifts    how often the sequence may go over to another expert
    loss      "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    losses    instead of advice and outcomes: everyone's loss in every round
    """
    most = whole_number("shifts", shifts)
    values, experts = read_losses(advice, outcomes, loss, losses)
    if not len(values):
        raise invalid("rounds", "at least one", 0)
    # Along the rounds everything runs faster in columns that lie together.
    columns = np.ascontiguousarray(values.T)
    awake = ~np.isnan(columns)
    if not awake.all():
        needed = len(_fewest_runs(awake, columns.shape[1])) - 1
        if needed > most:
            raise InputError(f"shifts must be at least {needed} for a sequence of experts awake; received {most}")
    endless = np.isinf(columns)
    if endless.any():
        # A sequence with an infinite loss in it is none of the best: there, too, its expert cannot be followed.
        awake &= ~endless
        lost = ~awake.any(axis=0)
        if lost.any():
            at = int(np.argmax(lost))
            raise InputError(f"row {at}: the loss of every expert is infinite, and so is that of every sequence")
        needed = len(_fewest_runs(awake, columns.shape[1])) - 1
        if needed > most:
            raise InputError(f"shifts must be at least {needed} for a sequence with a finite loss; received {most}")
    # If even the best expert of every round takes no more shifts than allowed, nothing is left to search for.
    runs = _fewest_runs(columns == np.fmin.reduce(columns, axis=0), most + 2)
    if len(runs) - 1 > most:
        runs = _search(columns, awake, most)
    return _sequence(columns, runs, experts, most)


def _fewest_runs(allowed: npt.NDArray[np.bool_], limit: int) -> list[tuple[int, int]]:
    """(first round, expert) of as few runs as can be, each in rounds where its expert is allowed; ``limit`` at most."""
    rounds = allowed.shape[1]
    furthest = np.zeros(rounds, dtype=np.intp)
    expert = np.zeros(rounds, dtype=np.intp)
    for i, here in enumerate(allowed):
        # Up to which round the run that the expert is in goes on.
        ends = np.where(here, rounds, np.arange(rounds))
        ends = np.minimum.accumulate(ends[::-1])[::-1]
        further = ends > furthest
        furthest[further] = ends[further]
        expert[further] = i
    runs: list[tuple[int, int]] = []
    first = 0
    while first < rounds and len(runs) < limit:
        runs.append((first, int(expert[first])))
        first = int(furthest[first])
    return runs


def _search(columns: Floats, awake: npt.NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """(first round, expert) of the runs of the best sequence."""
    count, rounds = columns.shape
    cumulative = np.zeros((count, rounds + 1))
    np.cumsum(np.where(awake, columns, 0.0), axis=1, out=cumulative[:, 1:])
    wakings = [_runs(here) for here in awake]
    # Before the first round nothing is lost, and with less than no shift nobody can take over later.
    before = np.full(rounds, np.inf)
    before[0] = 0.0
    taken: list[Floats] = []
    reached: list[npt.NDArray[np.int32]] = []
    for _ in range(most + 1):
        after = np.full(rounds, np.inf)
        at = np.zeros(rounds, dtype=np.int32)
        for i in range(count):
            ending = before - cumulative[i, :-1]
            for first, end in wakings[i]:
                np.minimum.accumulate(ending[first:end], out=ending[first:end])
            ending += cumulative[i, 1:]
            better = (ending < after) & awake[i]
            after[better] = ending[better]
            at[better] = i
        taken.append(before)
        reached.append(at)
        if np.array_equal(after[:-1], before[1:]):
            break  # one more shift gains nothing anywhere
        before = np.append(0.0, after[:-1])
    runs: list[tuple[int, int]] = []
    end = rounds
    for level in range(len(taken) - 1, -1, -1):
        i = int(reached[level][end - 1])
        first = next(first for first, last in wakings[i] if first < end <= last)
        first += int(np.argmin(taken[level][first:end] - cumulative[i, first:end]))
        if runs and runs[-1][1] == i:
            runs.pop()  # a shift to the same expert is none: rounding made it
        runs.append((first, i))
        end = first
        if end == 0:
            break
    return runs[::-1]


def _runs(awake: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The runs of rounds in which one expert is awake: the first round of each, and the one after it."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], awake, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _sequence(columns: Floats, runs: list[tuple[int, int]], experts: Any, most: int) -> ShiftingSequence:
    """The runs, judged by the losses themselves."""
    rounds = columns.shape[1]
    sequence = np.zeros(rounds, dtype=np.intp)
    segments: list[Segment] = []
    ends = [first for first, _ in runs[1:]] + [rounds]
    for (first, expert), end in zip(runs, ends, strict=True):
        sequence[first:end] = expert
        segments.append(Segment(experts.name(expert), first, end, float(columns[expert, first:end].sum())))
    total = float(columns[sequence, np.arange(rounds)].sum())
    return ShiftingSequence(total, tuple(segments), frozen(sequence), most)
