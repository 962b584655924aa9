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
    given = given_weights(learner, rows, comparator)
    played = replay(learner, rows, signs)
    matrix = matrix_of(learner, rows)
    features = features_of(learner)
    radius = largest_entry(matrix)
    found = [_judged("zero", np.zeros(matrix.shape[1]), matrix, signs)]
    own: tuple[tuple[str, Any], ...] = ()
    assumptions: tuple[Assumption, ...] = (played.same_rounds, moderate(radius))
    if all(assumption.met for assumption in assumptions):
        if given is not None:
            found.append(_judged("the given one", given, matrix, signs))
        elif radius > 0:
            sought = candidates(matrix, signs, learner.rate, features, two_sided, played.passes)
            found += [_judged(*each, matrix, signs) for each in sought]
        rule = Rule(matrix.shape[1], learner.rate, two_sided)
        for at in played.updates:
            rule.follow(matrix, signs, at)
        assumptions += (rule.followed,)
        own = (("its own last weights", own_weights(learner, rows)), ("the average of its weights", rule.total))
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


class Rule:
    """Every update at a mistake, every other round right, with weights made from the updates before, block after block.

    ``total`` is the sum of the weights over the rounds, those of each round as shares that add up to 1.
    """

    def __init__(self, width: int, rate: float, two_sided: bool) -> None:
        self.rate, self.two_sided = rate, two_sided
        self.powers = np.zeros(width)
        self.up, self.down = np.ones(width), np.ones(width)
        self.total = np.zeros(width)
        self.count = 0
        #: The first row that was not treated so.
        self.suspect: int | None = None

    def follow(self, matrix: Any, signs: Signs, at: npt.NDArray[np.intp], first: int = 0) -> None:
        """Further rows, with updates at some of them; ``first`` is the number of the first row."""
        rows = RowProducts(matrix)
        begin = 0
        for row in [*at.tolist(), len(signs)]:
            if self.suspect is not None:
                return
            weights = self.up - self.down if self.two_sided else self.up
            share = max(float((self.up + self.down).sum()), 1e-300)
            self.total += (min(row + 1, len(signs)) - begin) * weights / share
            margins = signs[begin:row] * rows.times(weights, begin, row)
            wrong = begin + np.flatnonzero(margins < 0)
            if row < len(signs) and signs[row] * rows.times(weights, row, row + 1)[0] > 0:
                wrong = np.append(wrong, row)
            for suspect in wrong.tolist():
                score = abs(rows.times(weights, suspect, suspect + 1)[0])
                # A sum of exponents, rounded, and its exponential: what is lost grows with the exponents.
                slack = ROUNDING * (1 + np.abs(self.powers).max(initial=0.0))
                if score > slack * rows.times(self.up + self.down, suspect, suspect + 1, absolute=True)[0]:
                    self.suspect = first + suspect
                    return
            if row < len(signs):
                rows.add(self.powers, row, self.rate * signs[row])
                shift = float(np.abs(self.powers).max() if self.two_sided else self.powers.max()) - 300
                self.up = np.exp(self.powers - shift)
                self.down = np.exp(-self.powers - shift) if self.two_sided else np.zeros_like(self.up)
            begin = row + 1
        self.count += len(at)

    @property
    def followed(self) -> Assumption:
        statement = "it updated exactly on its mistakes: y_t (w_t . x_t) <= 0 there, >= 0 elsewhere"
        detail = f"every round multiplied out, {counted(self.count, 'update')}"
        if self.suspect is not None:
            detail = f"row {self.suspect} was not treated by the rule"
        return Assumption(statement, Basis.OBSERVED, self.suspect is None, detail)


def candidates(
    matrix: Any, signs: Signs, rate: float, features: int, two_sided: bool, passes: int, one_in: int = 1
) -> list[tuple[str, npt.NDArray[np.float64]]]:
    """Weights worth comparing with, chosen from the rows alone: from one in so many of those that were played."""
    part, part_signs, step = to_fit_on(matrix, signs)
    step *= one_in
    found = []
    widest = solve_max_margin_one_norm(part, part_signs, nonnegative=not two_sided)
    if widest is not None:
        found.append((f"maximum margin by the 1-norm{on_part(step)}", widest[0]))
    price = max(np.log(features), 1e-3) / rate / step / passes
    rows = ScaledRows(part, part_signs)
    vector = None
    # At factor 1 the bound's numerator is least; below it the loss is less, above it the 1-norm.
    for factor in (4.0, 1.0, 0.1):
        region = Region(nonnegative=not two_sided, price=factor * price)
        vector = least(rows, "hinge", region, vector, CLOSE_ENOUGH).vector
        source = f"least hinge loss with a price of {factor * price * step:.3g} on the 1-norm{on_part(step)}"
        found.append((source, vector))
    for loss in ("hinge", "logistic"):
        free = least(ScaledRows(matrix, signs, two_sided), loss, Region(nonnegative=not two_sided), None, CLOSE_ENOUGH)
        found.append((f"least {loss} loss{on_part(one_in)}", free.vector))
    return found


def given_weights(learner: Any, rows: Rows, comparator: Any) -> npt.NDArray[np.float64] | None:
    """A comparator the caller gave; None if none was given."""
    given: npt.NDArray[np.float64] | None = comparator_for(learner, rows, comparator)
    if given is not None and not learner._signed and (given < 0).any():
        raise invalid("comparator", "weights that are not negative", Words("negative ones"))
    return given


def features_of(learner: Any) -> int:
    """N, or 2N for a learner on (x, -x)."""
    return int(max(1, learner.features + int(learner.parameters["intercept"])) * (2 if learner._signed else 1))
