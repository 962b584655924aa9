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


class Rule:
    """Every round computed a second time, block after block: whether the weights that the rule makes score it so."""

    def __init__(self, width: int, step: float, unit: float) -> None:
        self.unit = unit
        self.weights = np.zeros(width)
        with np.errstate(over="ignore"):
            self.longest = step * unit * unit
        #: The first row that was not.
        self.suspect: int | None = None

    def follow(self, matrix: Any, signs: Signs, scores: npt.NDArray[np.float64], first: int = 0) -> None:
        """Further rows, and the scores that the learner gave them; ``first`` is the number of the first row."""
        rows, squares = RowProducts(matrix), row_norms(matrix) ** 2
        for row in range(0 if self.suspect is None else len(scores), len(scores)):
            score = float(rows.times(self.weights, row, row + 1)[0])
            size = float(rows.times(np.abs(self.weights), row, row + 1, absolute=True)[0])
            if not abs(score - scores[row]) <= TOLERANCE * (1 + size):
                self.suspect = first + row
                return
            loss = 1 - signs[row] * score
            if loss > 0:
                length = loss / squares[row] if loss < self.longest * squares[row] else self.longest
                rows.add(self.weights, row, signs[row] * length)

    @property
    def followed(self) -> Assumption:
        detail = "every round multiplied out"
        if self.suspect is not None:
            detail = f"row {self.suspect} was not scored by the rule{because_of_size(self.unit)}"
        return Assumption(RULE, Basis.OBSERVED, self.suspect is None, detail)


def _follows_the_rule(
    matrix: Any, signs: Signs, passes: int, scores: npt.NDArray[np.float64], step: float, unit: float
) -> Assumption:
    """The scores are those of the weights that the rule makes. Passes after one without a loss are like it."""
    rule = Rule(matrix.shape[1], step, unit)
    for number in range(min(passes, -(-len(scores) // max(1, len(signs))))):
        rule.follow(matrix, signs, scores[number * len(signs) : (number + 1) * len(signs)])
    return rule.followed
