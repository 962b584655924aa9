"""Gathering the evidence for the bounds of learners over a finite class.

With X and y every round is played again here, by other means than the learner's: the hypotheses that are left are an
array of positions, and their votes are booleans. Without, the evidence is which hypotheses the learner has left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.replay import other_count, same_rounds
from afterwit.concepts._bits import pack
from afterwit.concepts._class_learner import Points
from afterwit.concepts.finite_class import FiniteClass, Indices
from afterwit.concepts.generalized_halving import GeneralizedHalving
from afterwit.concepts.littlestone import Subclasses
from afterwit.concepts.search import LIMIT, search
from afterwit.concepts.standard_optimal_algorithm import StandardOptimalAlgorithm
from afterwit.core.certificate import Assumption, Basis, Evidence, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs

REALIZABLE = "some hypothesis of the class is right in every round"


@dataclass(frozen=True, kw_only=True)
class FiniteClassEvidence(Evidence):
    """A run of a learner over a finite class."""

    mistakes: int
    hypotheses: FiniteClass
    sizes: npt.NDArray[np.int64] | None
    limit: int
    #: The hypotheses that are right in every round, as far as is known.
    right: Indices
    best: Hindsight | None = None

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

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.best


def gather(learner: Any, points: Points | None = None, signs: Signs | None = None) -> FiniteClassEvidence:
    """What is known of a run: from the points and signs it learned from, or from what the learner has kept."""
    hypotheses = learner.hypotheses
    assumptions: tuple[Assumption, ...]
    best = None
    if points is None or signs is None:
        right = hypotheses.members(learner._alive)
        assumptions = (_realizable(learner, right),)
    else:
        same, passes = same_rounds(learner, points.count, lambda passes: _differs(learner, points, signs, passes))
        assumptions, right = (same,), np.empty(0, dtype=np.intp)
        if same.holds:
            wrong = _errors(hypotheses, points.indices, signs)
            right = np.flatnonzero(wrong == 0)
            assumptions += (_observed(right),)
            fewest = int(np.argmin(wrong))
            description = f"by the best hypothesis of the class: {hypotheses.name(fewest)}"
            best = Hindsight(passes * int(wrong[fewest]), description)
    return FiniteClassEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        assumptions=assumptions,
        mistakes=learner.mistakes,
        hypotheses=hypotheses,
        sizes=getattr(learner, "_sizes", None),
        limit=getattr(learner, "limit", LIMIT),
        right=right,
        best=best,
    )


def _realizable(learner: Any, left: Indices) -> Assumption:
    """From the version space: a hypothesis is in it if it was never wrong in a round that drops the wrong ones."""
    statement = REALIZABLE
    if _drops_on_mistakes_only(learner):
        statement = "some hypothesis of the class is right in every round with a mistake, which is all the proof needs"
    return Assumption(statement, Basis.OBSERVED, len(left) > 0, f"{len(left):,} left" if len(left) else "none is left")


def _drops_on_mistakes_only(learner: Any) -> bool:
    return bool(getattr(learner, "drop", "examples") == "mistakes")


def _observed(right: Indices) -> Assumption:
    detail = f"{len(right):,} of them" if len(right) else "every hypothesis is wrong somewhere"
    return Assumption(REALIZABLE, Basis.OBSERVED, len(right) > 0, detail)


def _errors(hypotheses: FiniteClass, indices: Indices, signs: Signs) -> npt.NDArray[np.int64]:
    """How often each hypothesis is wrong."""
    wrong = np.zeros(len(hypotheses), dtype=np.int64)
    for index in np.unique(indices).tolist():
        said = hypotheses(hypotheses.points[index])
        here = signs[indices == index]
        positive = int(np.count_nonzero(here > 0))
        wrong += np.where(said, len(here) - positive, positive)
    return wrong


def _differs(learner: Any, points: Points, signs: Signs, passes: int) -> str:
    """What these rounds give that differs from the learner's mistakes and from the hypotheses it has left."""
    mistakes, left = _played(learner, points.indices, signs, passes)
    if why := other_count("mistakes", learner.mistakes, mistakes):
        return why
    same = np.array_equal(left, learner.hypotheses.members(learner._alive))
    return "" if same else "these rows leave other hypotheses"


def _played(learner: Any, indices: Indices, signs: Signs, passes: int) -> tuple[int, Indices]:
    """The mistakes of the algorithm on these rounds, and the hypotheses that are left."""
    hypotheses, rule = learner.hypotheses, _rule_of(learner)
    on_mistakes_only = _drops_on_mistakes_only(learner)
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
    if isinstance(learner, StandardOptimalAlgorithm):
        subclasses = Subclasses(hypotheses)

        def dimension(members: Indices) -> int:
            chosen = np.zeros(len(hypotheses), dtype=np.bool_)
            chosen[members] = True
            with search("the Littlestone dimension", learner.limit, False) as steps:
                return subclasses.dimension(pack(chosen), steps)

        return lambda left, votes: dimension(left[votes]) >= dimension(left[~votes])
    if not isinstance(learner, GeneralizedHalving):
        return lambda _, votes: 2 * int(np.count_nonzero(votes)) >= len(votes)
    sizes = learner._sizes
    longest = int(sizes.max())

    def weight(members: Indices) -> int:
        lengths, each = np.unique(sizes[members], return_counts=True)
        return sum(number << (longest - size) for size, number in zip(lengths.tolist(), each.tolist(), strict=True))

    return lambda left, votes: weight(left[votes]) >= weight(left[~votes])
