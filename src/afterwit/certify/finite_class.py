"""Certifying the learners over a finite class, by counting their rounds anew.

The learner's word is not taken for anything that the data can say. With X and y every round is played again here, by
other means than the learner's: the hypotheses that are left are an array of positions, their votes booleans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._bits import pack
from afterwit.concepts._progress import LIMIT, search
from afterwit.concepts.finite_class import FiniteClass, Indices
from afterwit.concepts.littlestone import Subclasses
from afterwit.core.certificate import Assumption, Basis, Certificate, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs

SAME_ROUNDS = "X, y are the rounds it learned from, in order"
REALIZABLE = "some hypothesis of the class is right in every round"


@dataclass(frozen=True)
class ClassEvidence:
    """A run of a learner over a finite class."""

    subject: str
    rounds: int
    mistakes: int
    hypotheses: FiniteClass
    sizes: npt.NDArray[np.int64] | None
    limit: int
    #: The hypotheses that are right in every round, as far as is known.
    right: Indices
    assumptions: tuple[Assumption, ...]
    hindsight: Hindsight | None

    @property
    def count(self) -> int:
        return len(self.hypotheses)

    @property
    def shortest(self) -> tuple[str, int] | None:
        """The name and the size of the hypothesis with the shortest description that is right."""
        if not len(self.right):
            return None
        assert self.sizes is not None
        best = int(self.right[np.argmin(self.sizes[self.right])])
        return self.hypotheses.name(best), int(self.sizes[best])

    @cached_property
    def optimal_mistakes(self) -> int:
        with search("the Littlestone dimension", self.limit, False) as steps:
            return Subclasses(self.hypotheses).dimension(self.hypotheses.everything(), steps)

    def certificate(
        self, theorem: Theorem, bound: float | None, inputs: Mapping[str, float | str], *extra: Assumption
    ) -> Certificate:
        """The theorem applied; where an assumption is not met there is no bound to show."""
        assumptions = (*self.assumptions, *extra)
        applies = all(assumption.met for assumption in assumptions)
        return Certificate(
            theorem=theorem,
            subject=self.subject,
            rounds=self.rounds,
            observed=self.mistakes,
            bound=bound if applies else None,
            assumptions=assumptions,
            hindsight=self.hindsight,
            inputs=inputs if applies else {},
        )


def evidence_of(learner: Any, checked: Any) -> ClassEvidence:
    """What is known of a run: from the points and signs it learned from, or from what the learner has kept."""
    hypotheses = learner.hypotheses
    hindsight = None
    if checked is None:
        right = hypotheses.members(learner._alive)
        assumptions: tuple[Assumption, ...] = (_realizable(learner, right),)
    else:
        rows, signs = checked
        same_rounds = _same_rounds(learner, rows.indices, signs)
        assumptions, right = (same_rounds,), np.empty(0, dtype=np.intp)
        if same_rounds.holds:
            passes = learner.rounds // rows.count if rows.count else 1
            wrong = _errors(hypotheses, rows.indices, signs)
            right = np.flatnonzero(wrong == 0)
            assumptions += (_observed(right),)
            best = int(np.argmin(wrong))
            description = f"by the best hypothesis of the class: {hypotheses.name(best)}"
            hindsight = Hindsight(passes * int(wrong[best]), description)
    return ClassEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        hypotheses=hypotheses,
        sizes=getattr(learner, "_sizes", None),
        limit=getattr(learner, "limit", LIMIT),
        right=right,
        assumptions=assumptions,
        hindsight=hindsight,
    )


def _realizable(learner: Any, left: Indices) -> Assumption:
    """From the version space: a hypothesis is in it if it was never wrong in a round that drops the wrong ones."""
    if getattr(learner, "drop", "examples") == "mistakes":
        statement = "some hypothesis of the class is right in every round with a mistake, which is all the proof needs"
        return Assumption(statement, Basis.OBSERVED, len(left) > 0, _left(left))
    return Assumption(REALIZABLE, Basis.OBSERVED, len(left) > 0, _left(left))


def _observed(right: Indices) -> Assumption:
    detail = f"{len(right):,} of them" if len(right) else "every hypothesis is wrong somewhere"
    return Assumption(REALIZABLE, Basis.OBSERVED, len(right) > 0, detail)


def _left(left: Indices) -> str:
    return f"{len(left):,} left" if len(left) else "none is left"


def _errors(hypotheses: FiniteClass, indices: Indices, signs: Signs) -> npt.NDArray[np.int64]:
    """How often each hypothesis is wrong."""
    wrong = np.zeros(len(hypotheses), dtype=np.int64)
    for index in np.unique(indices).tolist():
        said = hypotheses(hypotheses.points[index])
        here = signs[indices == index]
        positive = int(np.count_nonzero(here > 0))
        wrong += np.where(said, len(here) - positive, positive)
    return wrong


def _same_rounds(learner: Any, indices: Indices, signs: Signs) -> Assumption:
    """Whether these rounds make the learner's mistakes and leave its hypotheses."""
    passes = max(1, learner.rounds // len(indices)) if len(indices) else 1
    if learner.rounds != passes * len(indices):
        detail = f"the learner counts {learner.rounds:,} rounds, these are {len(indices):,}"
        return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, detail)
    mistakes, left = _played(learner, indices, signs, passes)
    if mistakes != learner.mistakes:
        detail = f"the learner counts {learner.mistakes:,} mistakes, these rounds give {mistakes:,}"
        return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, detail)
    if not np.array_equal(left, learner.hypotheses.members(learner._alive)):
        return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, "these rounds leave other hypotheses")
    detail = f"counted anew, {passes} pass{'es' if passes > 1 else ''}"
    return Assumption(SAME_ROUNDS, Basis.OBSERVED, True, detail)


def _played(learner: Any, indices: Indices, signs: Signs, passes: int) -> tuple[int, Indices]:
    """The mistakes of the algorithm on these rounds, and the hypotheses that are left."""
    hypotheses, rule = learner.hypotheses, _rule_of(learner)
    on_mistakes_only = getattr(learner, "drop", "examples") == "mistakes"
    left = np.arange(len(hypotheses))
    said: dict[int, tuple[npt.NDArray[np.bool_], bool]] = {}
    mistakes = 0
    for _ in range(passes):
        for index, positive in zip(indices.tolist(), (signs > 0).tolist(), strict=True):
            if index not in said:
                votes = hypotheses(hypotheses.points[index])[left]
                said[index] = votes, rule(left, votes)
            votes, prediction = said[index]
            mistakes += prediction != positive
            if prediction != positive or not on_mistakes_only:
                right = votes if positive else ~votes
                if not right.all():
                    left, said = left[right], {}
    return mistakes, left


def _rule_of(learner: Any) -> Callable[[Indices, npt.NDArray[np.bool_]], bool]:
    """Whether +1 is predicted, from the hypotheses that are left and what they say."""
    hypotheses = learner.hypotheses
    if hasattr(learner, "optimal_mistakes"):
        subclasses = Subclasses(hypotheses)

        def dimension(members: Indices) -> int:
            chosen = np.zeros(len(hypotheses), dtype=np.bool_)
            chosen[members] = True
            with search("the Littlestone dimension", learner.limit, False) as steps:
                return subclasses.dimension(pack(chosen), steps)

        return lambda left, votes: dimension(left[votes]) >= dimension(left[~votes])
    if not hasattr(learner, "_sizes"):
        return lambda _, votes: 2 * int(np.count_nonzero(votes)) >= len(votes)
    sizes = learner._sizes
    longest = int(sizes.max())

    def weight(members: Indices) -> int:
        lengths, each = np.unique(sizes[members], return_counts=True)
        return sum(number << (longest - size) for size, number in zip(lengths.tolist(), each.tolist(), strict=True))

    return lambda left, votes: weight(left[votes]) >= weight(left[~votes])
