"""Gathering the evidence for the bounds of multiplicative learners.

Examples are measured by their largest entry, comparators by the sum of their weights' sizes. The run is played again,
and every round multiplied out with exponentials taken by numpy. Comparators have no negative weights, unless the
learner works on (x, -x).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from afterwit.certify.linear import LinearEvidence
from afterwit.certify.replay import (
    CLOSE_ENOUGH,
    ROUNDING,
    Replay,
    RowProducts,
    comparator_for,
    matrix_of,
    moderate,
    on_part,
    own_weights,
    replay,
    to_fit_on,
)
from afterwit.core.certificate import Assumption, Basis
from afterwit.data.labels import Signs
from afterwit.data.rows import Rows
from afterwit.errors import Words, counted, invalid
from afterwit.hindsight._newton import Region, least
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import Comparator, judge, largest_entry
from afterwit.hindsight.max_margin_one_norm import solve_max_margin_one_norm


@dataclass(frozen=True)
class OneNormComparator(Comparator):
    """A comparator whose length is the sum of the sizes of its weights."""

    @cached_property
    def norm(self) -> float:
        return float(np.abs(self.vector).sum())


@dataclass(frozen=True, kw_only=True)
class MultiplicativeEvidence(LinearEvidence):
    """A run of a multiplicative learner, recomputed from its data."""

    #: N, or 2N for a learner on (x, -x).
    features: int = 1
    rate: float = 1.0

    separable: ClassVar[str] = "some v has y_t (v . x_t) / |v|_1 >= rho > 0 in every round"
    inseparable: ClassVar[str] = "no weights of the kind it can reach were found that separate the data"
    margin_name: ClassVar[str] = "rho"


def gather(learner: Any, rows: Rows, signs: Signs, comparator: Any = None) -> MultiplicativeEvidence:
    """What is known of the rounds X, y of a multiplicative learner."""
    two_sided = learner._signed
    given = comparator_for(learner, rows, comparator)
    if given is not None and not two_sided and (given < 0).any():
        raise invalid("comparator", "weights that are not negative", Words("negative ones"))
    played = replay(learner, rows, signs)
    matrix = matrix_of(learner, rows)
    features = max(1, learner.features + int(learner.parameters["intercept"])) * (2 if two_sided else 1)
    radius = largest_entry(matrix)
    found = [_judged("zero", np.zeros(matrix.shape[1]), matrix, signs)]
    own: tuple[tuple[str, Any], ...] = ()
    assumptions: tuple[Assumption, ...] = (played.same_rounds, moderate(radius))
    if all(assumption.met for assumption in assumptions):
        if given is not None:
            found.append(_judged("the given one", given, matrix, signs))
        elif radius > 0:
            found += _comparators(matrix, signs, learner.rate, features, two_sided, played.passes)
        rule, average = _follows_the_rule(matrix, signs, played, learner.rate, two_sided)
        assumptions += (rule,)
        own = (("its own last weights", own_weights(learner, rows)), ("the average of its weights", average))
    return MultiplicativeEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        passes=played.passes,
        unit=1.0,
        radius=radius,
        updates=np.concatenate(played.updates),
        comparators=tuple(found),
        own=tuple(_judged(source, vector, matrix, signs) for source, vector in own),
        assumptions=assumptions,
        features=features,
        rate=learner.rate,
    )


def _judged(source: str, vector: Any, matrix: Any, signs: Signs) -> OneNormComparator:
    judged = judge(source, vector, matrix, signs)
    return OneNormComparator(source, judged.vector, judged.margins, judged.mistakes)


def _follows_the_rule(
    matrix: Any, signs: Signs, played: Replay, rate: float, two_sided: bool
) -> tuple[Assumption, npt.NDArray[np.float64]]:
    """Every update at a mistake, every other round right, with weights made from the updates before.

    And the sum of the weights over the rounds, those of each round as shares that add up to 1.
    """
    statement = "it updated exactly on its mistakes: y_t (w_t . x_t) <= 0 there, >= 0 elsewhere"
    rows = RowProducts(matrix)
    powers = np.zeros(matrix.shape[1])
    up, down = np.ones(matrix.shape[1]), np.ones(matrix.shape[1])
    total = np.zeros(matrix.shape[1])
    for at in played.updates:
        begin = 0
        for row in [*at.tolist(), len(signs)]:
            weights = up - down if two_sided else up
            total += (min(row + 1, len(signs)) - begin) * weights / max(float((up + down).sum()), 1e-300)
            margins = signs[begin:row] * rows.times(weights, begin, row)
            wrong = begin + np.flatnonzero(margins < 0)
            if row < len(signs) and signs[row] * rows.times(weights, row, row + 1)[0] > 0:
                wrong = np.append(wrong, row)
            for suspect in wrong.tolist():
                score = abs(rows.times(weights, suspect, suspect + 1)[0])
                # A sum of exponents, rounded, and its exponential: what is lost grows with the exponents.
                slack = ROUNDING * (1 + np.abs(powers).max(initial=0.0))
                if score > slack * rows.times(up + down, suspect, suspect + 1, absolute=True)[0]:
                    detail = f"row {suspect} was not treated by the rule"
                    return Assumption(statement, Basis.OBSERVED, False, detail), total
            if row < len(signs):
                rows.add(powers, row, rate * signs[row])
                shift = float(np.abs(powers).max() if two_sided else powers.max()) - 300
                up = np.exp(powers - shift)
                down = np.exp(-powers - shift) if two_sided else np.zeros_like(up)
            begin = row + 1
    count = sum(len(at) for at in played.updates)
    detail = f"every round multiplied out, {counted(count, 'update')}"
    return Assumption(statement, Basis.OBSERVED, True, detail), total


def _comparators(
    matrix: Any, signs: Signs, rate: float, features: int, two_sided: bool, passes: int
) -> list[OneNormComparator]:
    """Weights worth comparing with, chosen from the rows alone."""
    part, part_signs, step = to_fit_on(matrix, signs)
    found = []
    widest = solve_max_margin_one_norm(part, part_signs, nonnegative=not two_sided)
    if widest is not None:
        found.append(_judged(f"maximum margin by the 1-norm{on_part(step)}", widest[0], matrix, signs))
    price = max(np.log(features), 1e-3) / rate / step / passes
    rows = ScaledRows(part, part_signs)
    vector = None
    # At factor 1 the bound's numerator is least; below it the loss is less, above it the 1-norm.
    for factor in (4.0, 1.0, 0.1):
        region = Region(nonnegative=not two_sided, price=factor * price)
        vector = least(rows, "hinge", region, vector, CLOSE_ENOUGH).vector
        source = f"least hinge loss with a price of {factor * price * step:.3g} on the 1-norm{on_part(step)}"
        found.append(_judged(source, vector, matrix, signs))
    for loss in ("hinge", "logistic"):
        free = least(ScaledRows(matrix, signs, two_sided), loss, Region(nonnegative=not two_sided), None, CLOSE_ENOUGH)
        found.append(_judged(f"least {loss} loss", free.vector, matrix, signs))
    return found
