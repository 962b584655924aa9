"""Certifying a learner behind running means and deviations: its own theorems, on rows standardized a second time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Basis, evidence_of
from afterwit.data.labels import Signs
from afterwit.data.rows import Rows
from afterwit.reductions._moments import Moments

#: By how much two ways to compute a standardized value may differ.
CLOSE = 1e-6
#: A smaller root of the sum of squared differences counts as 0.
LOST = 1e-145
STANDARDIZED = "each row is standardized by the means and deviations of the rounds so far"


def gather(learner: Any, rows: Rows, labels: Signs | list[Any], comparator: Any = None) -> Any:
    """The evidence of the learner inside, on the rows that it was given; in each pass these are others."""
    passes = max(1, learner.rounds // rows.count) if rows.count else 1
    moments = Moments()
    played = range(passes if learner.rounds == passes * rows.count else 1)
    given = [replace(rows, values=moments.learn_and_standardize(rows), first=0) for _ in played]
    standardized = given[0] if len(given) == 1 else _one_after_the_other(given)
    every = labels * len(given) if isinstance(labels, list) else np.tile(labels, len(given))
    evidence = evidence_of(learner.standardized, standardized, every, comparator)
    differs = _differs(rows, given)
    return about(learner, evidence, differs)


def about(learner: Any, evidence: Any, differs: int | None) -> Any:
    """The evidence of the learner inside as that of the one around it; ``differs`` is a round whose row differs."""
    detail = "computed a second time" if differs is None else f"in round {differs + 1:,} the recomputed row differs"
    same = Assumption(STANDARDIZED, Basis.OBSERVED, differs is None, detail)
    subject = f"{type(learner).__name__} of {evidence.subject}"
    return replace(evidence, subject=subject, assumptions=(*evidence.assumptions, same))


def _one_after_the_other(blocks: list[Rows]) -> Rows:
    """Blocks of the same features as one."""
    first = blocks[0]
    values = np.concatenate([block.values for block in blocks])
    count = sum(block.count for block in blocks)
    if first.starts is None:
        return replace(first, count=count, values=values)
    assert first.columns is not None
    lengths = np.tile(np.diff(first.starts), len(blocks))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return replace(first, count=count, values=values, columns=np.tile(first.columns, len(blocks)), starts=starts)


def _differs(rows: Rows, given: list[Rows]) -> int | None:
    """The first round whose row is not what the definition gives: sums over all rounds so far, column by column."""
    starts = np.arange(rows.count + 1) * rows.width if rows.starts is None else rows.starts
    round_of = np.repeat(np.arange(rows.count), np.diff(starts))
    positions = np.arange(rows.width) if rows.columns is None else rows.columns
    columns = np.tile(positions, rows.count) if rows.starts is None else positions
    values = np.tile(rows.values, len(given))
    columns = np.tile(columns, len(given))
    rounds = np.concatenate([round_of + i * rows.count for i in range(len(given))])
    found = np.concatenate([block.values for block in given])
    order = np.argsort(columns, kind="stable")
    ends = np.flatnonzero(np.diff(columns[order])) + 1
    wrong: list[int] = []
    for at in np.split(order, ends) if len(order) else ():
        wrong += rounds[at[~close(found[at], *_standardized(values[at], rounds[at] + 1))]].tolist()
    return min(wrong, default=None)


@dataclass
class Sums:
    """What is known of one feature, or of many beside each other: all it takes to standardize further values."""

    #: Standardized values do not depend on the unit; in this one no square overflows.
    unit: Any
    #: About the mean of all values, in that unit.
    centre: Any
    #: How many values there are in all.
    count: Any
    #: How many there have been; the sums of what is left of them without the centre, and of its squares.
    seen: Any = 0
    first: Any = 0.0
    second: Any = 0.0

    def standardize(self, x: npt.NDArray[np.float64], rounds: Any) -> tuple[Any, Any]:
        """Further values, standardized; and how far each may be off by the rounding of the sums."""
        x, centre = x / self.unit, self.centre
        number = self.seen + np.arange(1, len(x) + 1).reshape(-1, *(1,) * (x.ndim - 1))
        # Absent values are as far from the centre as 0 is.
        absent = rounds - number
        firsts, seconds = self.first + np.cumsum(x - centre, axis=0), self.second + np.cumsum((x - centre) ** 2, axis=0)
        mean = (firsts - absent * centre) / rounds
        squares = seconds + absent * centre**2
        variance = squares / rounds - mean**2
        lost = self.unit * np.sqrt(np.maximum(variance, 0.0) * rounds) < LOST
        deviation = np.sqrt(np.maximum(variance, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            slack = 1e-13 * self.count * (1 + squares / rounds / np.maximum(variance, 1e-300))
            values = np.where((deviation > 0) & ~lost, (x - centre - mean) / deviation, 0.0)
        self.seen, self.first, self.second = self.seen + len(x), firsts[-1], seconds[-1]
        return values, slack


def _standardized(x: npt.NDArray[np.float64], rounds: npt.NDArray[np.intp]) -> tuple[Any, Any]:
    """One feature's values, standardized; and how far each may be off by the rounding of the sums."""
    unit = float(np.abs(x).max()) or 1.0
    return Sums(unit, float((x / unit).mean()), len(x)).standardize(x, rounds)


def close(found: Any, expected: Any, slack: Any) -> Any:
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= CLOSE * (1 + np.abs(expected)) + slack * (1 + np.abs(expected))
    return near | ~np.isfinite(expected) | (slack > 1)
