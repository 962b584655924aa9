"""Gathering the evidence for the bound of the passive-aggressive learner.

Its run is played again from the data; then every round is multiplied out with numpy, to see that each step was as long
as the rule says; and the comparators are judged on the data itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.linear import LinearEvidence
from afterwit.certify.perceptron import because_of_size, comparators_for
from afterwit.certify.replay import RowProducts, comparator_for, matrix_of, own_weights, replay, used_columns
from afterwit.core.certificate import Assumption, Basis
from afterwit.data.labels import Signs
from afterwit.data.rows import Rows
from afterwit.hindsight.comparator import Comparator, judge, normalised, row_norms

RULE = "every step was min(C, l_t / |x_t|^2) long"
#: How far a score may be from the one that is computed here, for numbers of size 1.
TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True)
class PassiveAggressiveEvidence(LinearEvidence):
    """A run of the passive-aggressive learner, recomputed from its data."""

    #: C, in the data's own unit.
    step: float


def gather(learner: Any, rows: Rows, signs: Signs, comparator: Any = None) -> PassiveAggressiveEvidence:
    """What is known of the rounds X, y of a passive-aggressive learner."""
    given = comparator_for(learner, rows, comparator)
    played = replay(learner, rows, signs)
    matrix, used = used_columns(matrix_of(learner, rows))
    matrix, unit = normalised(matrix)
    step = float(learner.parameters["C"])
    comparators: tuple[Comparator, ...] = (judge("zero", np.zeros(matrix.shape[1]), matrix, signs),)
    own: tuple[Comparator, ...] = ()
    assumptions: tuple[Assumption, ...] = (played.same_rounds,)
    if played.same_rounds.holds:
        comparators += comparators_for(
            matrix, signs, played.passes, unit, None if given is None else unit * given[used]
        )
        assumptions += (_follows_the_rule(matrix, signs, played.passes, played.scores, step, unit),)
        own = (judge("its own last weights", own_weights(learner, rows)[used], matrix, signs),)
    return PassiveAggressiveEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        counted_updates=learner.updates,
        passes=played.passes,
        unit=unit,
        radius=float(row_norms(matrix).max(initial=0.0)),
        step=step,
        updates=np.concatenate(played.updates),
        comparators=comparators,
        own=own,
        assumptions=assumptions,
    )


def _follows_the_rule(
    matrix: Any, signs: Signs, passes: int, scores: npt.NDArray[np.float64], step: float, unit: float
) -> Assumption:
    """The scores are those of the weights that the rule makes. Passes after one without a loss are like it."""
    rows, squares = RowProducts(matrix), row_norms(matrix) ** 2
    weights = np.zeros(matrix.shape[1])
    with np.errstate(over="ignore"):
        longest = step * unit * unit
    for t in range(min(passes * len(signs), len(scores))):
        row = t % len(signs)
        score = float(rows.times(weights, row, row + 1)[0])
        size = float(rows.times(np.abs(weights), row, row + 1, absolute=True)[0])
        if not abs(score - scores[t]) <= TOLERANCE * (1 + size):
            detail = f"row {row} was not scored by the rule{because_of_size(unit)}"
            return Assumption(RULE, Basis.OBSERVED, False, detail)
        loss = 1 - signs[row] * score
        if loss > 0:
            length = loss / squares[row] if loss < longest * squares[row] else longest
            rows.add(weights, row, signs[row] * length)
    return Assumption(RULE, Basis.OBSERVED, True, "every round multiplied out")
