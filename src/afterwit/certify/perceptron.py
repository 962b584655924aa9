"""Gathering the evidence for the bounds of perceptrons, in hindsight.

The learner's word is not taken for anything. Its run is played again from the data; then every round is multiplied
out with numpy, to see that each update was made by the rule and every other round was left alone by it; and the
comparators are judged on the data itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._late import delays_in, follows_the_rule_late, replay_late
from afterwit.certify.linear import LeaveOneOut, LinearEvidence
from afterwit.certify.replay import (
    CLOSE_ENOUGH,
    ROUNDING,
    Replay,
    RowProducts,
    comparator_for,
    matrix_of,
    on_part,
    own_weights,
    replay,
    to_fit_on,
    used_columns,
)
from afterwit.core.certificate import Assumption, Basis
from afterwit.core.delays import Moments
from afterwit.data.labels import Signs
from afterwit.data.rows import Rows
from afterwit.errors import counted
from afterwit.hindsight._newton import Region, least
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import Comparator, judge, normalised, row_norms
from afterwit.hindsight.max_margin import solve_max_margin
from afterwit.hindsight.min_hinge import solve_min_hinge

#: The linear program of least hinge loss is solved for at most this many entries; beyond, the SVMs stand for it.
MOST_ENTRIES_FOR_PROGRAM = 40_000


def gather(
    learner: Any, rows: Rows, signs: Signs, comparator: Any = None, served: Moments | None = None
) -> LinearEvidence:
    """What is known of the rounds X, y of a perceptron; labels that came late were served at these moments."""
    margin = float(learner.parameters.get("margin", 0.0))
    played = replay(learner, rows, signs) if served is None else replay_late(learner, rows, signs, served)

    def rule(matrix: Any, unit: float) -> Assumption:
        if served is not None:
            why = because_of_size(unit)
            return follows_the_rule_late(matrix, signs, served, played.updates[0], margin / 2 / unit, why)
        return follows_the_rule(matrix, signs, played.updates, margin / 2 / unit, unit)

    return LinearEvidence(
        **with_delays(facts(learner, rows, signs, played, rule, comparator), served, played),
        margin=margin,
        converged=not len(played.updates[-1]),
        leave_one_out=LeaveOneOut(learner, rows, signs),
    )


def with_delays(found: dict[str, Any], served: Moments | None, played: Replay) -> dict[str, Any]:
    """What is known of a run, with how late labels came."""
    delays = delays_in(played, served)
    return (
        found
        if delays is None
        else {**found, "delays": delays, "assumptions": (*found["assumptions"], delays.assumption)}
    )


def facts(
    learner: Any, rows: Rows, signs: Signs, played: Replay, rule: Callable[[Any, float], Assumption], comparator: Any
) -> dict[str, Any]:
    """What every `LinearEvidence` has of a run; ``rule`` multiplies the rounds out, given the rows and their unit."""
    given = comparator_for(learner, rows, comparator)
    matrix, used = used_columns(matrix_of(learner, rows))
    # Every bound is the same in any unit of length; near 1 nothing overflows.
    matrix, unit = normalised(matrix)
    comparators: tuple[Comparator, ...] = (judge("zero", np.zeros(matrix.shape[1]), matrix, signs),)
    own: tuple[Comparator, ...] = ()
    assumptions: tuple[Assumption, ...] = (played.same_rounds,)
    if played.same_rounds.holds:
        comparators += comparators_for(
            matrix, signs, played.passes, unit, None if given is None else unit * given[used]
        )
        assumptions += (starts_at_zero(learner), rule(matrix, unit))
        own = _own(learner, rows, matrix, signs, played, used)
    return {
        "subject": type(learner).__name__,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "counted_updates": learner.updates,
        "passes": played.passes,
        "unit": unit,
        "radius": float(row_norms(matrix).max(initial=0.0)),
        "updates": np.concatenate(played.updates),
        "comparators": comparators,
        "own": own,
        "assumptions": assumptions,
    }


def starts_at_zero(learner: Any) -> Assumption:
    start = learner.parameters.get("start")
    values = start.values() if isinstance(start, dict) else (() if start is None else start)
    at_zero = not any(values)
    return Assumption("w_1 = 0", Basis.ENFORCED, at_zero, "" if at_zero else "the learner was given another start")


class Rule:
    """Every round multiplied out, block after block: whether it was treated as the perceptron's rule says."""

    def __init__(self, width: int, margin: float = 0.0, unit: float = 1.0) -> None:
        self.margin, self.unit = margin, unit
        self.weights, self.added = np.zeros(width), np.zeros(width)
        self.count = 0
        #: The first row that was not.
        self.suspect: int | None = None

    def follow(self, matrix: Any, signs: Signs, at: npt.NDArray[np.intp], first: int = 0) -> None:
        """Further rows, with updates at some of them; ``first`` is the number of the first row."""
        rows = RowProducts(matrix)
        begin = 0
        for row in [*at.tolist(), len(signs)]:
            if self.suspect is not None:
                return
            floor = self.margin * math.sqrt(self.weights @ self.weights) if self.margin else 0.0
            margins = signs[begin:row] * rows.times(self.weights, begin, row)
            wrong = begin + np.flatnonzero(margins < floor)
            if row < len(signs) and signs[row] * rows.times(self.weights, row, row + 1)[0] > floor:
                wrong = np.append(wrong, row)
            for suspect in wrong.tolist():
                distance = abs(signs[suspect] * rows.times(self.weights, suspect, suspect + 1)[0] - floor)
                if distance > ROUNDING * (floor + rows.times(self.added, suspect, suspect + 1, absolute=True)[0]):
                    self.suspect = first + suspect
                    return
            if row < len(signs):
                rows.add(self.weights, row, signs[row])
                rows.add(self.added, row, 1, absolute=True)
            begin = row + 1
        self.count += len(at)

    @property
    def followed(self) -> Assumption:
        rule, wanted = ("exactly by its margin", "rho/2 |w_t|") if self.margin else ("exactly on its mistakes", "0")
        statement = f"it updated {rule}: y_t (w_t . x_t) <= {wanted} there, >= {wanted} elsewhere"
        detail = f"every round multiplied out, {counted(self.count, 'update')}"
        if self.suspect is not None:
            detail = f"row {self.suspect} was not treated by the rule{because_of_size(self.unit)}"
        return Assumption(statement, Basis.OBSERVED, self.suspect is None, detail)


def follows_the_rule(
    matrix: Any, signs: Signs, updates: list[npt.NDArray[np.intp]], margin: float = 0.0, unit: float = 1.0
) -> Assumption:
    """y_t (w_t . x_t) <= margin |w_t| at every update, >= elsewhere, with w_t the sum of what was added before."""
    rule = Rule(matrix.shape[1], margin, unit)
    for at in updates:
        rule.follow(matrix, signs, at)
    return rule.followed


def because_of_size(unit: float) -> str:
    """A reason that is not the learner's fault: products of its numbers overflow or vanish."""
    if unit > 1e150:
        return ": products of numbers as large as these overflow"
    return ": products of numbers as small as these vanish" if unit < 1e-150 else ""


def comparators_for(matrix: Any, signs: Signs, passes: int, unit: float, given: Any) -> tuple[Comparator, ...]:
    """Weight vectors worth comparing with, chosen from the rows alone."""
    found: list[Comparator] = []

    def add(source: str, vector: Any) -> None:
        if vector is not None and np.isfinite(np.linalg.norm(vector)):
            found.append(judge(source, vector, matrix, signs))

    if given is not None:
        add("the given one", given)
        return tuple(found)
    radius = float(row_norms(matrix).max(initial=0.0))
    if radius == 0:
        return tuple(found)
    hinge = least(ScaledRows(matrix, signs, centred=True), "hinge", Region())
    widest = solve_max_margin(matrix, signs, hinge)
    add("maximum margin", widest)
    if matrix.shape[0] * matrix.shape[1] <= MOST_ENTRIES_FOR_PROGRAM:
        program = solve_min_hinge(matrix, signs)
        add("least hinge loss", None if program is None else program.vector)
    else:
        add("least hinge loss", hinge.vector)
    if widest is None:
        logistic = least(ScaledRows(matrix, signs, centred=True), "logistic", Region(), tolerance=CLOSE_ENOUGH)
        add("least logistic loss", logistic.vector)
    # C = passes/R^2 minimises the hinge bound, a smaller C the sharper ones.
    part, part_signs, step = to_fit_on(matrix, signs)
    rows = ScaledRows(part, part_signs)
    vector = None
    for exponent in range(-3, 1):
        C = 4.0**exponent * step * passes / radius**2
        vector = least(rows, "hinge", Region(ridge=1 / C), vector, CLOSE_ENOUGH).vector
        add(f"svm (C = {C / unit / unit:.3g}){on_part(step)}", vector)
    return tuple(found)


def _own(learner: Any, rows: Rows, matrix: Any, signs: Signs, played: Replay, used: Any) -> tuple[Comparator, ...]:
    """What the learner ended with, what its updates add up to, and the average of that over the rounds."""
    counts, times = np.zeros(len(signs)), np.zeros(len(signs))
    for number, at in enumerate(played.updates):
        counts[at] += 1
        times[at] += number * len(signs) + at + 1
    rate = float(learner.parameters.get("rate", 1.0))
    ended = own_weights(learner, rows)[used]
    added = rate * (matrix.T @ (signs * counts))
    if learner.parameters.get("start") is not None:
        added = ended
    average = added - rate * (matrix.T @ (signs * times)) / max(1, learner.rounds)
    vectors = {"its own last weights": ended, "its last weights": added, "the average of its weights": average}
    return tuple(judge(source, vector, matrix, signs) for source, vector in vectors.items())
