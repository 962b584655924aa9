"""Playing a learner's rounds again, and multiplying them out apart from it: what every checker starts with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Basis
from afterwit.data.rows import Rows
from afterwit.errors import counted
from afterwit.hindsight.comparator import given_comparator

#: Comparators are fitted on at most this many rows, evenly spaced (any comparator gives a valid bound; all rows judge).
MOST_ROWS_TO_FIT = 50_000
#: Comparators whose own gap nobody is told are sought as near to the least loss as this share of it.
CLOSE_ENOUGH = 1e-3
#: Scores and weights that differ by this share of all that was added up are the same but for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Replay:
    """The rounds of a learner, played again by a fresh one."""

    same_rounds: Assumption
    passes: int
    #: The rows at which it updated, pass by pass; after a pass without an update, nothing more.
    updates: list[npt.NDArray[np.intp]]
    #: The score of every round played.
    scores: npt.NDArray[np.float64]


SAME_ROUNDS = "X, y are the rounds it learned from, in order"


def same_rounds(
    learner: Any, count: int, differs: Callable[[int], str], how: str = "played again"
) -> tuple[Assumption, int]:
    """Whether ``count`` rows, in one or more passes, are the rounds a learner learned from; and how many passes.

    ``differs(passes)`` plays them again and says what is different from what the learner has, or nothing.
    """
    passes = max(1, learner.rounds // count) if count else 1
    if learner.rounds != passes * count:
        remedy = "give all the rounds that it learned, or let a fresh learner learn these"
        why = f"the learner counts {counted(learner.rounds, 'round')}, these rows are {count:,}; {remedy}"
    else:
        why = differs(passes)
    detail = why or f"{how}, {passes} pass{'es' if passes > 1 else ''}"
    return Assumption(SAME_ROUNDS, Basis.OBSERVED, not why, detail), passes


def other_count(what: str, claimed: int, replayed: int) -> str:
    """What `same_rounds` says of two counts that differ; nothing if they do not."""
    return "" if claimed == replayed else f"the learner counts {claimed:,} {what}, these rows give {replayed:,}"


def replay(learner: Any, rows: Rows, signs: Any) -> Replay:
    """Whether X, y are the rounds the learner learned from, and what happened in them."""
    updates: list[npt.NDArray[np.intp]] = []
    scores: list[npt.NDArray[np.float64]] = []

    def play(fresh: Any) -> bool:
        updated = np.empty(rows.count, dtype=np.int8)
        scores.append(fresh._learn(rows, signs, updated))
        updates.append(np.flatnonzero(updated))
        return bool(len(updates[-1]))

    same, passes = play_again(learner, rows.count, play)
    return Replay(same, passes, updates or [np.empty(0, dtype=np.intp)], np.concatenate([[], *scores]))


def play_again(learner: Any, count: int, play: Callable[[Any], bool], late: bool = False) -> tuple[Assumption, int]:
    """Let a fresh learner play ``count`` rows as often as the learner did, and compare all that they have learned.

    ``play(fresh)`` plays one pass and says whether anything was updated in it. Where labels were late, there is one.
    """

    def differs(passes: int) -> str:
        if late and passes > 1:
            remedy = "where labels came late, give all of them in their order"
            return f"the learner counts {counted(learner.rounds, 'round')}; {remedy}"
        with np.errstate(all="ignore"):
            overflowed = not np.isfinite(learner._vector()).all()
        if overflowed:
            return "its weights have grown beyond all numbers, and say nothing any more"
        fresh = type(learner)(**learner.parameters)
        claimed = learner.state()
        # What it has counted, one after the other; where targets are numbers there are no mistakes.
        counters = [name for name in ("mistakes", "updates") if name in claimed]
        first, done = counters[0], 0
        while done < passes and getattr(fresh, first) <= claimed[first]:
            done += 1
            if not play(fresh) and learner._rests:
                # All further passes are like this one.
                break
        replayed = fresh.state()
        for what in counters:
            if why := other_count(what, claimed[what], replayed[what]):
                return why
        if replayed.get("late_labels") != claimed.get("late_labels"):
            return "the learner counts other delays than these moments give"
        losses = (replayed.get("loss", 0.0), claimed.get("loss", 0.0))
        if not math.isclose(*losses, rel_tol=ROUNDING):
            return "the learner counts a loss of {1:.6g}, these rows give {0:.6g}".format(*losses)
        # How long each hypothesis of a vote survived.
        if not np.array_equal(replayed.get("votes", ()), claimed.get("votes", ())):
            return "these rows give other votes"
        # What it predicts by, the weights as they are stored, and what is remembered about each.
        stored = getattr(learner, "_stored", ())
        pairs = [(fresh._vector(), learner._vector()), *((replayed[key], claimed[key]) for key in stored)]
        reserved = int(bool(learner.parameters.get("intercept")))
        same = all(
            same_weights({**replayed, "weights": one}, {**claimed, "weights": other}, reserved) for one, other in pairs
        )
        return "" if same else "these rows give other weights"

    return same_rounds(learner, count, differs)


def same_weights(one: dict[str, Any], other: dict[str, Any], reserved: int = 0) -> bool:
    """Equal weights, by name or by position; features without a weight, and their order, do not matter."""
    a, b = one["weights"], other["weights"]
    if one["names"] is other["names"] is None and np.array_equal(a, b):
        return True
    tolerance = ROUNDING * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    if (one["names"] is None) != (other["names"] is None):
        return not (a.any() or b.any())
    if one["names"] is not None:
        by_name = dict(zip(one["names"], a[reserved:].tolist(), strict=True))
        a = np.array([*a[:reserved], *(by_name.pop(name, 0.0) for name in other["names"]), *by_name.values()])
        b = np.concatenate([b, np.zeros(len(a) - len(b))])
    length = min(len(a), len(b))
    return bool(
        np.allclose(a[:length], b[:length], rtol=ROUNDING, atol=tolerance)
        and not a[length:].any()
        and not b[length:].any()
    )


def moderate(largest: float, of: str = "values") -> Assumption:
    """Whether squares of the values, or of real targets, can be computed."""
    fits = largest == 0 or 1e-100 < largest < 1e100
    detail = "" if fits else f"the largest is {largest:.3g}"
    return Assumption(f"{of} are of a size whose squares are numbers", Basis.OBSERVED, fits, detail)


def matrix_of(learner: Any, rows: Rows) -> Any:
    """The examples as the learner sees them: after the constant feature, if it has an intercept."""
    matrix = rows.matrix()
    if not learner.parameters.get("intercept"):
        return matrix
    ones = np.ones((rows.count, 1))
    if not hasattr(matrix, "indptr"):
        return np.hstack([ones, matrix])
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(ones), matrix], format="csr"))


def comparator_for(learner: Any, rows: Rows, comparator: Any) -> Any:
    """A comparator the caller gave, as a vector over the columns of ``matrix_of``; None if none was given."""
    if comparator is None:
        return None
    vector = given_comparator(comparator, rows)
    return np.concatenate([[0.0], vector]) if learner.parameters.get("intercept") else vector


def own_weights(learner: Any, rows: Rows) -> npt.NDArray[np.float64]:
    """What the learner predicts by at the end, as a vector over the columns of ``matrix_of``."""
    weights = learner.weights
    vector = np.zeros(rows.width)
    if rows.names is not None:
        vector[:] = [weights.get(name, 0.0) for name in rows.names] if isinstance(weights, dict) else 0.0
    elif not isinstance(weights, dict):
        length = min(len(weights), rows.width)
        vector[:length] = weights[:length]
    return np.concatenate([[learner.intercept_weight], vector]) if learner.parameters.get("intercept") else vector


def how_exact(value: float, gap: float | None) -> str:
    """In words, how far what was found can be from the least possible."""
    if value == 0:
        return ""
    if gap is None or gap >= value:
        return " (there may be better ones)"
    percent = max(100 * gap / (value - gap), 0.001)
    # Two digits, rounded up.
    digits = 1 - math.floor(math.log10(percent))
    return f" (at most {math.ceil(percent * 10**digits - 1e-9) / 10**digits:g}% above the least possible)"


def used_columns(matrix: Any) -> tuple[Any, npt.NDArray[np.intp]]:
    """The matrix without the columns that hold nothing, and which were kept: ids may be few and far between."""
    if not hasattr(matrix, "indptr"):
        return matrix, np.arange(matrix.shape[1])
    from scipy.sparse import csr_array

    used, columns = np.unique(matrix.indices, return_inverse=True)
    shape = (matrix.shape[0], len(used))
    return csr_array((matrix.data, columns.astype(np.int32), matrix.indptr), shape=shape), used


def to_fit_on(matrix: Any, signs: Any) -> tuple[Any, Any, int]:
    """Evenly spaced rows, few enough for a solver, and how far apart they are."""
    step = -(-matrix.shape[0] // MOST_ROWS_TO_FIT) if matrix.shape[0] else 1
    return matrix[::step], signs[::step], step


def on_part(step: int) -> str:
    return f" on one row in {step:,}" if step > 1 else ""


class RowProducts:
    """Products of a few neighbouring rows with a vector, without the overhead of slicing sparse matrices."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.sparse = hasattr(matrix, "indptr")
        if self.sparse:
            self.row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))

    def times(self, vector: Any, begin: int, end: int, absolute: bool = False) -> Any:
        if not self.sparse:
            part = self.matrix[begin:end]
            return (abs(part) if absolute else part) @ vector
        span = slice(self.matrix.indptr[begin], self.matrix.indptr[end])
        data = abs(self.matrix.data[span]) if absolute else self.matrix.data[span]
        products = data * vector[self.matrix.indices[span]]
        return np.bincount(self.row_of[span] - begin, weights=products, minlength=end - begin)

    def add(self, vector: Any, row: int, factor: Any, absolute: bool = False) -> None:
        at: Any = slice(None)
        if self.sparse:
            span = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
            at, values = self.matrix.indices[span], self.matrix.data[span]
        else:
            values = self.matrix[row]
        vector[at] += factor * (abs(values) if absolute else values)
