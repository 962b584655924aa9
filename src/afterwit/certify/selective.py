"""Gathering the evidence for the bounds of the selective perceptron, in hindsight.

Its draws are a function of its seed and of the round, so that its run can be played again and multiplied out with numpy
like that of a perceptron: every update was wanted by the draw and a mistake, every other round was not both.

Where it skipped rounds, their labels are not known. The rounds in which it asked are those of a perceptron.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.linear import LinearEvidence
from afterwit.certify.perceptron import because_of_size, facts
from afterwit.certify.replay import ROUNDING, Replay, RowProducts, moderate, other_count, replay
from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.data.draws import AT_ONCE, Draws
from afterwit.data.labels import Signs
from afterwit.data.rows import Rows
from afterwit.errors import counted
from afterwit.linear.perceptron import Perceptron
from afterwit.linear.selective_perceptron import ESTIMATED

Floats = npt.NDArray[np.float64]

#: Of a b beyond these, measured in the unit of the rows, the formulas may overflow.
LEAST_B, LARGEST_B = 1e-200, 1e200
RULE = "it updated exactly where it asked and was wrong, and its estimate is the sum of 1 + |s_t| / b there"


@dataclass(frozen=True, kw_only=True)
class SelectiveEvidence(LinearEvidence):
    """A run of the selective perceptron, recomputed from its data."""

    #: The option b as it was given.
    given_b: float
    #: What the learner estimates its mistakes at.
    estimated: float
    #: The sizes of all terms of the scores at updates, divided by b: of these the estimate is a sum.
    sizes: float
    #: How many features the rows have.
    features: int
    #: In how many rounds no label was given.
    unlabelled: int
    #: How many rounds are looked at: all, or those in which it asked, if it skipped others.
    looked_at: int

    @property
    def b(self) -> float:
        """The option b, in the squared unit of the rows."""
        return min(max(self.given_b / self.unit / self.unit, LEAST_B), LARGEST_B)

    def observed(self, theorem: Theorem) -> float:
        return self.estimated if theorem.quantity == ESTIMATED else super().observed(theorem)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        # The best separator of the rounds in which it asked may be a bad one of all.
        return None if self.unlabelled else super().hindsight(theorem)

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        if theorem.quantity != ESTIMATED:
            return Ceiling(self.looked_at, "no run of this length could break the bound")
        # What the bound is if u = 0; with an example and alternating labels it is reached.
        most = (1 + self.radius * self.radius / (2 * self.b)) * self.looked_at
        return Ceiling(most, "no run of this length on examples of this length could break the bound")

    @property
    def terms(self) -> int:
        return self.rounds + self.features

    def rounding(self, theorem: Theorem, bound: float) -> float:
        own = self.rounding_of_sums(self.sizes) if theorem.quantity == ESTIMATED else 0.0
        return own + super().rounding(theorem, bound)

    def certificate(
        self, theorem: Theorem, bound: float | None, inputs: Mapping[str, float | str], *extra: Assumption, **how: Any
    ) -> Certificate:
        if theorem.quantity != "updates":
            fits = LEAST_B < self.b < LARGEST_B
            detail = "" if fits else f"b is too {'small' if self.b < 1 else 'large'} beside the squared lengths"
            extra += (Assumption("b and the squared lengths can be compared", Basis.OBSERVED, fits, detail),)
        if theorem.quantity == "mistakes":
            detail = ""
            if self.unlabelled:
                rounds = counted(self.unlabelled, "round")
                detail = f"in {rounds} no label was given, so the mistakes are not known; they are estimated"
            told = Assumption("the label of every round was given", Basis.OBSERVED, not self.unlabelled, detail)
            extra += (told,)
        return super().certificate(theorem, bound, inputs, *extra, **how)


def gather(learner: Any, rows: Rows, signs: Signs, comparator: Any = None) -> SelectiveEvidence:
    """What is known of the rounds X, y of a selective perceptron; where it skipped some, of those in which it asked."""
    b, estimated = float(learner.b), float(learner.estimated_mistakes)
    player = _as_perceptron(learner) if learner.unlabelled else learner
    played = replay(player, rows, signs)
    # A draw of 0 is below any probability: in the rounds of the perceptron it asked.
    draws = np.zeros(len(played.scores)) if learner.unlabelled else _draws(learner.seed, len(played.scores))
    played = _with_questions(played, learner, draws, rows.count)
    sizes = 0.0

    def rule(matrix: Any, unit: float) -> Assumption:
        nonlocal sizes
        total, sizes, detail = _multiplied_out(matrix, signs, played.updates, draws, b / unit / unit)
        if detail:
            detail += because_of_size(unit)
        elif not abs(total - estimated) <= ROUNDING * (total + sizes):
            detail = f"the learner estimates its mistakes at {estimated:.6g}, these rows give {total:.6g}"
        made = f"every round multiplied out, {counted(learner.updates, 'update')}"
        return Assumption(RULE, Basis.OBSERVED, not detail, detail or made)

    found = facts(player, rows, signs, played, rule, comparator)
    found["assumptions"] += (moderate(found["unit"] * found["radius"]),)
    own = {"subject": type(learner).__name__, "rounds": learner.rounds, "mistakes": learner.mistakes}
    return SelectiveEvidence(
        **{**found, **own},
        given_b=b,
        estimated=estimated,
        sizes=sizes,
        features=rows.width,
        unlabelled=learner.unlabelled,
        looked_at=player.rounds,
    )


def _as_perceptron(learner: Any) -> Perceptron:
    """A perceptron that has learned the rounds in which the learner asked, as far as its counts and weights tell."""
    made = Perceptron(intercept=learner.parameters["intercept"], labels=learner.labels)
    state = learner.state()
    own = {name: state[name] for name in made.state()}
    made.restore({**own, "rounds": state["asked"], "mistakes": state["updates"]})
    return made


def _draws(seed: int, rounds: int) -> Floats:
    """A number above 0 and up to 1 for every round."""
    drawn: Floats = 1 - Draws(seed).uniforms(0, -(-rounds // AT_ONCE), AT_ONCE).reshape(-1)[:rounds]
    return drawn


def _with_questions(played: Replay, learner: Any, draws: Floats, count: int) -> Replay:
    """The rounds played again, if it asked for as many labels in them."""
    same = played.same_rounds
    why = ""
    if learner.unlabelled and not same.holds and count != learner.asked:
        skipped, wanted = counted(learner.unlabelled, "round"), counted(learner.asked, "round")
        why = f"it skipped {skipped}; give the {wanted} in which it asked, in order"
    elif same.holds:
        with np.errstate(over="ignore"):
            asked = int(np.count_nonzero(draws * (1 + np.abs(played.scores) / learner.b) <= 1))
        why = other_count("labels asked", learner.asked, asked)
    if not why:
        return played
    return Replay(Assumption(same.statement, same.basis, False, why), played.passes, played.updates, played.scores)


def _multiplied_out(
    matrix: Any, signs: Signs, updates: list[npt.NDArray[np.intp]], draws: Floats, b: float
) -> tuple[float, float, str]:
    """The sum of 1 + |s_t| / b over the updates, the sizes of the terms in it, and what is wrong, if anything is."""
    rows = RowProducts(matrix)
    weights, added = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    total = sizes = 0.0
    with np.errstate(all="ignore"):
        for number, at in enumerate(updates):
            drawn = draws[number * len(signs) :][: len(signs)]
            begin = 0
            for row in [*at.tolist(), len(signs)]:
                margins = signs[begin:row] * rows.times(weights, begin, row)
                left = (margins < 0) & (drawn[begin:row] * (1 + np.abs(margins) / b) < 1)
                for suspect in (begin + np.flatnonzero(left)).tolist():
                    margin = margins[suspect - begin]
                    doubt = ROUNDING * rows.times(added, suspect, suspect + 1, absolute=True)[0]
                    if margin < -doubt and drawn[suspect] * (1 + (doubt - margin) / b) < 1 - ROUNDING:
                        return total, sizes, f"row {suspect} was not treated by the rule"
                if row < len(signs):
                    margin = signs[row] * rows.times(weights, row, row + 1)[0]
                    size = rows.times(added, row, row + 1, absolute=True)[0]
                    doubt = ROUNDING * size
                    weight = 1 + abs(margin) / b
                    if not (margin <= doubt and drawn[row] * (weight - doubt / b) <= 1 + ROUNDING):
                        return total, sizes, f"row {row} was not treated by the rule"
                    total += weight
                    sizes += size / b
                    rows.add(weights, row, signs[row])
                    rows.add(added, row, 1, absolute=True)
                begin = row + 1
    return total, sizes, ""
