"""The standard optimal algorithm: predict so that a mistake is worth the most.

Setting     a finite class H over points x_t, y_t in {-1, +1}, some h in H right in every round; predict the label for
            which the hypotheses that are left and say so have the larger Littlestone dimension, +1 if they are equal.
Update      after every example: drop the hypotheses that were wrong.
Guarantee   at most opt(H) mistakes, the Littlestone dimension of H: not both labels can leave that dimension as it is,
            so that every mistake lowers it. No deterministic learner can promise less: the mistake tree
            (`afterwit.adversaries.mistake_tree`) forces opt(H) from each.
Assumes     some h in H is right in every round. If none is, the hypotheses run out sooner or later; then the prediction
            is +1 for ever after, and the theorem is not applicable.
Source      Littlestone, Learning quickly when irrelevant attributes abound, 1988; Mohri, Rostamizadeh & Talwalkar,
            Foundations of Machine Learning, 2nd ed. 2018, Theorem 8.2.

>>> from afterwit.concepts import FiniteClass
>>> singletons = FiniteClass([[i == j for j in range(8)] for i in range(8)])
>>> learner = StandardOptimalAlgorithm(singletons)
>>> learner.optimal_mistakes  # where halving could promise 3
1
>>> learner.learn_many([3, 5, 6, 6, 1], [-1, -1, 1, 1, -1]).tolist()
[-1, -1, -1, 1, -1]
>>> print(learner.certificate().line())
optimal mistake bound: at most 1 mistake (holds; Littlestone 1988; Mohri et al. 2018, Theorem 8.2)
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from afterwit.concepts._class_learner import ClassLearner
from afterwit.concepts._progress import LIMIT, search
from afterwit.concepts.littlestone import Subclasses
from afterwit.core.certificate import Certificate
from afterwit.core.theorem import Theorem


class OptimalBound(Theorem):
    """The optimal mistake bound of the class, its Littlestone dimension."""

    name = "optimal mistake bound"
    statement = "mistakes <= opt(H)"
    citation = "Littlestone 1988; Mohri et al. 2018, Theorem 8.2"
    quantity = "mistakes"

    @staticmethod
    def bound(dimension: int) -> float:
        return float(dimension)

    def certify(self, evidence: Any) -> Certificate:
        dimension = evidence.optimal_mistakes
        inputs = {"opt(H)": dimension, "|H|": evidence.count}
        certificate: Certificate = evidence.certificate(self, self.bound(dimension), inputs)
        return certificate


class StandardOptimalAlgorithm(ClassLearner):
    """Littlestone's standard optimal algorithm.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points); the cost of a round grows steeply with
                opt(H), for every prediction compares two Littlestone dimensions
    limit       give up, with an error, where a dimension takes more steps than this; nothing has been learned then
    labels      the negative and the positive label: what the hypotheses call 0 and 1
    """

    theorems = (OptimalBound(),)

    def __init__(self, hypotheses: Any, limit: int = LIMIT, labels: Any = (-1, 1)) -> None:
        super().__init__(hypotheses, labels)
        self._limit = int(limit) if isinstance(limit, Integral) else limit
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
    def limit(self) -> int:
        """How many steps a dimension may take."""
        return self._limit

    @property
    def optimal_mistakes(self) -> int:
        """opt(H), the Littlestone dimension of the class."""
        return self._optimal_mistakes

    @property
    def parameters(self) -> dict[str, Any]:
        return {"hypotheses": self._hypotheses, "limit": self._limit, "labels": self.labels}
