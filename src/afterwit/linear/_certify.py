"""Certifying a linear learner in hindsight.

The learner's word is not taken for anything: its run is played again from the data to find the update rounds, each
of them is then multiplied out with scipy to see that it was a mistake, and the comparators are judged on the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certificate import Assumption, Basis, Certificate, tightest_first
from afterwit.hindsight.comparator import Comparator, given_comparator, judge, read_examples
from afterwit.hindsight.max_margin import row_norms, solve_max_margin
from afterwit.hindsight.min_hinge import solve_min_hinge
from afterwit.hindsight.svm import solve_svm
from afterwit.labels import Signs
from afterwit.linear._evidence import Evidence
from afterwit.linear._rows import Rows
from afterwit.protocol import same_value

#: Comparators are fitted on at most this many rows, evenly spaced (any comparator gives a valid bound; all rows judge).
MOST_ROWS_TO_FIT = 50_000
#: The linear program of least hinge loss is solved for at most this many entries; beyond, the SVMs stand for it.
MOST_ENTRIES_FOR_PROGRAM = 40_000
#: Updates are accepted as mistakes up to rounding of this relative size.
ROUNDING = 1e-9


def certify(learner: Any, X: Any, y: Any, comparator: Any = None) -> Certificate:
    """Evaluate every theorem of the learner on the rounds X, y; the tightest first."""
    rows, signs = read_examples(X, y, learner.labels)
    passes = max(1, learner.rounds // rows.count) if rows.count else 1
    same_rounds, updates = _replay(learner, rows, signs, passes)
    matrix = rows.matrix()
    evidence = Evidence(
        subject=f"{type(learner).__name__}",
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        passes=passes,
        radius=float(row_norms(matrix).max()) if rows.count and rows.width else 0.0,
        updates=updates,
        comparators=_comparators(matrix, signs, rows, passes, comparator),
        assumptions=(same_rounds, _starts_at_zero(learner), _updates_are_mistakes(matrix, signs, updates)),
    )
    return tightest_first([theorem.certify(evidence) for theorem in learner.theorems])


def _replay(learner: Any, rows: Rows, signs: Signs, passes: int) -> tuple[Assumption, npt.NDArray[np.intp]]:
    """Whether X, y are the rounds the learner learned from, and at which rows it updated."""
    statement = "X, y are the rounds it learned from, in order"
    labels = np.array([learner.labels[0], learner.labels[1]], dtype=object)[(signs > 0).astype(int)].tolist()
    fresh = type(learner)(**learner.parameters)
    updates = []
    for _ in range(passes):
        wrong = fresh.learn_many(rows, labels) != np.array(labels)
        updates.append(np.flatnonzero(wrong))
    replayed, claimed = fresh.state(), learner.state()
    for key in ("rounds", "mistakes", "updates"):
        if replayed[key] != claimed[key]:
            detail = f"the learner counts {claimed[key]:,} {key}, these rows give {replayed[key]:,}"
            return Assumption(statement, Basis.OBSERVED, False, detail), np.concatenate(updates)
    same = same_value(replayed["names"], claimed["names"]) and np.allclose(
        replayed["weights"], claimed["weights"], rtol=ROUNDING, atol=ROUNDING
    )
    detail = f"played again, {passes} pass{'es' if passes > 1 else ''}" if same else "these rows give other weights"
    return Assumption(statement, Basis.OBSERVED, bool(same), detail), np.concatenate(updates)


def _starts_at_zero(learner: Any) -> Assumption:
    start = learner.parameters.get("start")
    values = start.values() if isinstance(start, dict) else (() if start is None else start)
    at_zero = not any(values)
    return Assumption("w_1 = 0", Basis.ENFORCED, at_zero, "" if at_zero else "the learner was given another start")


def _updates_are_mistakes(matrix: Any, signs: Signs, updates: npt.NDArray[np.intp]) -> Assumption:
    """y_t (w_t . x_t) <= 0 at every update round, with w_t the sum of the examples added before it."""
    statement = "every update was a mistake: y_t (w_t . x_t) <= 0"
    weights = np.zeros(matrix.shape[1])
    sparse = hasattr(matrix, "indptr")
    for row in updates:
        if sparse:
            span = slice(matrix.indptr[row], matrix.indptr[row + 1])
            at, x = matrix.indices[span], matrix.data[span]
        else:
            at, x = slice(None), matrix[row]
        part = weights[at]
        if signs[row] * (part @ x) > ROUNDING * (np.abs(part) @ np.abs(x)):
            detail = f"row {row} was right, and yet it was added"
            return Assumption(statement, Basis.OBSERVED, False, detail)
        weights[at] += signs[row] * x
    return Assumption(statement, Basis.OBSERVED, True, f"{len(updates):,} updates multiplied out")


def _comparators(matrix: Any, signs: Signs, rows: Rows, passes: int, given: Any) -> tuple[Comparator, ...]:
    """Weight vectors worth comparing with, chosen from the rows alone."""
    zero = judge("zero", np.zeros(rows.width), matrix, signs, rows.names)
    if given is not None:
        return (zero, judge("the given comparator", given_comparator(given, rows), matrix, signs, rows.names))
    if rows.count == 0 or rows.width == 0:
        return (zero,)
    step = -(-rows.count // MOST_ROWS_TO_FIT)
    part, part_signs = matrix[::step], signs[::step]
    radius = float(row_norms(part).max())
    if radius == 0:
        return (zero,)
    found = [zero]

    def add(source: str, vector: Any) -> None:
        if vector is not None:
            found.append(judge(source, vector, matrix, signs, rows.names))

    widest = solve_max_margin(part, part_signs)
    add("maximum margin", widest)
    if part.shape[0] * rows.width <= MOST_ENTRIES_FOR_PROGRAM:
        add("least hinge loss", solve_min_hinge(part, part_signs))
    # C = passes/R^2 minimises the hinge bound; the others trace the trade of length against loss around it.
    for factor in (1.0, 4.0, 16.0, 0.25) if widest is None else (1.0,):
        C = factor * step * passes / radius**2
        add(f"svm, C = {C:.3g}", solve_svm(part, part_signs, C))
    return tuple(found)
