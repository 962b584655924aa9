"""Certifying a linear learner in hindsight.

The learner's word is not taken for anything. Its run is played again from the data; then every round is multiplied
out with numpy, to see that each update was a mistake and every other round was right; and the comparators are judged
on the data itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certificate import Assumption, Basis, Certificate, tightest_first
from afterwit.hindsight.comparator import Comparator, given_comparator, judge, normalised, read_examples, row_norms
from afterwit.hindsight.max_margin import solve_max_margin
from afterwit.hindsight.min_hinge import solve_min_hinge
from afterwit.hindsight.svm import solve_svm
from afterwit.labels import Signs
from afterwit.linear._evidence import Evidence
from afterwit.linear._rows import Rows

#: Comparators are fitted on at most this many rows, evenly spaced (any comparator gives a valid bound; all rows judge).
MOST_ROWS_TO_FIT = 50_000
#: The linear program of least hinge loss is solved for at most this many entries; beyond, the SVMs stand for it.
MOST_ENTRIES_FOR_PROGRAM = 40_000
#: Scores and weights that differ by this share of all that was added up are the same but for rounding.
ROUNDING = 1e-9


def certify(learner: Any, X: Any, y: Any, comparator: Any = None) -> Certificate:
    """Evaluate every theorem of the learner on the rounds X, y; the tightest first."""
    rows, signs = read_examples(X, y, learner.labels)
    given = None if comparator is None else given_comparator(comparator, rows)
    passes = max(1, learner.rounds // rows.count) if rows.count else 1
    same_rounds, updates = _replay(learner, rows, signs, passes)
    matrix, used = _used_columns(rows.matrix())
    # Every bound is the same in any unit of length; near 1 nothing overflows.
    matrix, unit = normalised(matrix)
    comparators: tuple[Comparator, ...] = (judge("zero", np.zeros(matrix.shape[1]), matrix, signs),)
    assumptions: tuple[Assumption, ...] = (same_rounds,)
    if same_rounds.holds:
        comparators += _comparators(matrix, signs, passes, unit, None if given is None else unit * given[used])
        assumptions += (_starts_at_zero(learner), _follows_the_rule(matrix, signs, updates))
    evidence = Evidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        passes=passes,
        unit=unit,
        radius=float(row_norms(matrix).max(initial=0.0)),
        updates=np.concatenate(updates),
        comparators=comparators,
        assumptions=assumptions,
    )
    return tightest_first([theorem.certify(evidence) for theorem in learner.theorems])


def _used_columns(matrix: Any) -> tuple[Any, npt.NDArray[np.intp]]:
    """The matrix without the columns that hold nothing, and which were kept: ids may be few and far between."""
    if not hasattr(matrix, "indptr"):
        return matrix, np.arange(matrix.shape[1])
    from scipy.sparse import csr_array

    used, columns = np.unique(matrix.indices, return_inverse=True)
    shape = (matrix.shape[0], len(used))
    return csr_array((matrix.data, columns.astype(np.int32), matrix.indptr), shape=shape), used


def _replay(learner: Any, rows: Rows, signs: Signs, passes: int) -> tuple[Assumption, list[npt.NDArray[np.intp]]]:
    """Whether X, y are the rounds the learner learned from, and the rows at which it updated, pass by pass."""
    statement = "X, y are the rounds it learned from, in order"
    if learner.rounds != passes * rows.count:
        detail = f"the learner counts {learner.rounds:,} rounds, these rows are {rows.count:,}"
        return Assumption(statement, Basis.OBSERVED, False, detail), [np.empty(0, dtype=np.intp)]
    fresh = type(learner)(**learner.parameters)
    updates: list[npt.NDArray[np.intp]] = []
    while len(updates) < passes and fresh.mistakes <= learner.mistakes:
        updated = np.empty(rows.count, dtype=np.int8)
        fresh._learn(rows, signs, updated)
        updates.append(np.flatnonzero(updated))
        if not len(updates[-1]):
            # Nothing was added in this pass, so that all further passes are like it.
            break
    replayed, claimed = fresh.state(), learner.state()
    for key in ("mistakes", "updates"):
        if replayed[key] != claimed[key]:
            detail = f"the learner counts {claimed[key]:,} {key}, these rows give {replayed[key]:,}"
            return Assumption(statement, Basis.OBSERVED, False, detail), updates
    same = _same_weights(replayed, claimed)
    detail = f"played again, {passes} pass{'es' if passes > 1 else ''}" if same else "these rows give other weights"
    return Assumption(statement, Basis.OBSERVED, same, detail), updates


def _same_weights(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Equal weights, by name or by position; features without a weight, and their order, do not matter."""
    a, b = one["weights"], other["weights"]
    if one["names"] is other["names"] is None and np.array_equal(a, b):
        return True
    tolerance = ROUNDING * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    if (one["names"] is None) != (other["names"] is None):
        return not (a.any() or b.any())
    if one["names"] is not None:
        by_name = dict(zip(one["names"], a.tolist(), strict=True))
        a = np.array([by_name.pop(name, 0.0) for name in other["names"]] + list(by_name.values()))
        b = np.concatenate([b, np.zeros(len(a) - len(b))])
    length = min(len(a), len(b))
    return bool(
        np.allclose(a[:length], b[:length], rtol=ROUNDING, atol=tolerance)
        and not a[length:].any()
        and not b[length:].any()
    )


def _starts_at_zero(learner: Any) -> Assumption:
    start = learner.parameters.get("start")
    values = start.values() if isinstance(start, dict) else (() if start is None else start)
    at_zero = not any(values)
    return Assumption("w_1 = 0", Basis.ENFORCED, at_zero, "" if at_zero else "the learner was given another start")


def _follows_the_rule(matrix: Any, signs: Signs, updates: list[npt.NDArray[np.intp]]) -> Assumption:
    """y_t (w_t . x_t) <= 0 at every update, >= 0 in every other round, with w_t the sum of what was added before."""
    statement = "it updated exactly on its mistakes: y_t (w_t . x_t) <= 0 there, >= 0 elsewhere"
    rows = _RowProducts(matrix)
    weights, added = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    for at in updates:
        begin = 0
        for row in [*at.tolist(), len(signs)]:
            margins = signs[begin:row] * rows.times(weights, begin, row)
            wrong = begin + np.flatnonzero(margins < 0)
            if row < len(signs) and signs[row] * rows.times(weights, row, row + 1)[0] > 0:
                wrong = np.append(wrong, row)
            for suspect in wrong.tolist():
                score = abs(rows.times(weights, suspect, suspect + 1)[0])
                if score > ROUNDING * rows.times(added, suspect, suspect + 1, absolute=True)[0]:
                    detail = f"row {suspect} was not treated by the rule"
                    return Assumption(statement, Basis.OBSERVED, False, detail)
            if row < len(signs):
                rows.add(weights, row, signs[row])
                rows.add(added, row, 1, absolute=True)
            begin = row + 1
    count = sum(len(at) for at in updates)
    return Assumption(statement, Basis.OBSERVED, True, f"every round multiplied out, {count:,} updates")


class _RowProducts:
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


def _comparators(matrix: Any, signs: Signs, passes: int, unit: float, given: Any) -> tuple[Comparator, ...]:
    """Weight vectors worth comparing with, chosen from the rows alone."""
    count, width = matrix.shape
    found: list[Comparator] = []

    def add(source: str, vector: Any) -> None:
        if vector is not None and np.isfinite(np.linalg.norm(vector)):
            found.append(judge(source, vector, matrix, signs))

    if given is not None:
        add("the given one", given)
        return tuple(found)
    step = -(-count // MOST_ROWS_TO_FIT) if count else 1
    part, part_signs = matrix[::step], signs[::step]
    radius = float(row_norms(part).max(initial=0.0))
    if radius == 0:
        return tuple(found)
    widest = solve_max_margin(part, part_signs)
    add("maximum margin", widest)
    if part.shape[0] * width <= MOST_ENTRIES_FOR_PROGRAM:
        add("least hinge loss", solve_min_hinge(part, part_signs))
    # C = passes/R^2 minimises the hinge bound, a smaller C the sharper ones. A larger C finds rules with fewer mistakes
    # for the third number; where a separator is known there are none to save.
    for exponent in range(-3, 1 if widest is not None else 3):
        factor = 4.0**exponent
        C = factor * step * passes / radius**2
        on_part = f" on every {step}th row" if step > 1 else ""
        add(f"svm (C = {C / unit / unit:.3g}){on_part}", solve_svm(part, part_signs, C))
    return tuple(found)
