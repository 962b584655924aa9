"""The standard optimal algorithm: predict so that a mistake rules out the most.

Setting     a finite class H over points x_t, y_t in {-1, +1}, some h in H right in every round; predict the label for
            which the hypotheses that are left and say so have the larger Littlestone dimension, +1 if they are equal.
Update      after every example: drop the hypotheses that were wrong.
Guarantee   at most opt(H) mistakes, the Littlestone dimension of H: at most one of the two labels leaves that dimension
            as it is, so every mistake lowers it. No deterministic learner can promise less: the mistake tree
            (`afterwit.adversaries.mistake_tree`) forces opt(H) mistakes on each.
Assumes     some h in H is right in every round. If none is, all hypotheses may be dropped; then the prediction is +1
            from then on, and the theorem is not applicable.
Source      Littlestone, Learning quickly when irrelevant attributes abound, 1988; Mohri, Rostamizadeh & Talwalkar,
            Foundations of Machine Learning, 2nd ed. 2018, Theorem 8.2.

>>> from afterwit.concepts import FiniteClass
>>> singletons = FiniteClass([[i == j for j in range(8)] for i in range(8)])
>>> learner = StandardOptimalAlgorithm(singletons)
>>> learner.optimal_mistakes  # halving promises 3
1
>>> learner.learn_many([3, 5, 6, 6, 1], [-1, -1, 1, 1, -1]).tolist()
[-1, -1, -1, 1, -1]
>>> print(learner.certificate().line())
optimal mistake bound: at most 1 mistake (holds; Littlestone 1988; Mohri et al. 2018, Theorem 8.2)
"""

from __future__ import annotations

from typing import Any

from afterwit.concepts._class_learner import KNOWN_CLASS, ClassLearner
from afterwit.concepts.littlestone import Subclasses
from afterwit.concepts.search import LIMIT, search
from afterwit.core.declared import LABELS, Option
from afterwit.core.theorem import Theorem
from afterwit.data.checks import count_of


class OptimalBound(Theorem):
    """The optimal mistake bound of the class, its Littlestone dimension."""

    name = "optimal mistake bound"
    quantity = "mistakes"
    formula = "opt(H)"
    citation = "Littlestone 1988; Mohri et al. 2018, Theorem 8.2"
    beforehand = True

    def certify(self, evidence: Any) -> Any:
        dimension = evidence.optimal_mistakes
        return evidence.certificate(self, float(dimension), {"opt(H)": dimension, "|H|": evidence.count})


class StandardOptimalAlgorithm(ClassLearner):
    """Littlestone's standard optimal algorithm.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points); the cost of a round grows steeply with
                opt(H), because every prediction compares two Littlestone dimensions
    limit       the most steps that a dimension may take; beyond it there is an error, and nothing is learned
    labels      the negative and the positive label: what the hypotheses call 0 and 1
    """

    theorems = (OptimalBound(),)
    options = (KNOWN_CLASS, Option("limit", LIMIT, count_of("steps")), LABELS)

    def _begin(self) -> None:
        super()._begin()
        self._limit = self._options["limit"]
        self._subclasses = Subclasses(self._hypotheses)
        self._optimal_mistakes = self._dimension(self._alive)

    def _dimension(self, alive: Any) -> int:
        with search("the Littlestone dimension", self._limit, False) as steps:
            return self._subclasses.dimension(alive, steps)

    def _score(self, index: int) -> float:
        """By how much the dimension is larger if the label is +1."""
        votes = self._hypotheses.votes(index)
        return float(self._dimension(self._alive & votes) - self._dimension(self._alive & ~votes))

    def _drops(self, mistaken: bool) -> bool:  # noqa: ARG002
        return True

    @property
    def optimal_mistakes(self) -> int:
        """opt(H), the Littlestone dimension of the class."""
        return self._optimal_mistakes
