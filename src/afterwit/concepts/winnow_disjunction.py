"""Winnow for disjunctions: few relevant variables among many cost few mistakes.

Setting     x_t in {0, 1}^n, y_t in {-1, +1} given by a disjunction of k of the n variables; predict +1 if
            w_t . x_t >= n/2.
Update      from w = 1; on a false positive (an elimination) w_i = 0 for every variable that is 1 in x_t; on a false
            negative (a promotion) their weights double.
Guarantee   at most 2 k log2 n + 2 mistakes: E <= P + 2 eliminations on any sequence whatever, for a promotion adds less
            than n/2 to the sum of the weights and an elimination takes n/2 away; and P <= k log2 n promotions, for each
            doubles a weight of the target, and no weight exceeds n.
Assumes     for the mistakes and the promotions: some disjunction of k variables is right in every round. Nothing for
            the eliminations.
Source      Littlestone, Learning quickly when irrelevant attributes abound, 1988; as in lecture notes on the mistake
            bound model (Winnow1 with factor 2 and threshold n/2).

>>> learner = WinnowDisjunction(1000)  # x has 1,000 variables
>>> random = __import__("numpy").random.default_rng(0)
>>> X = random.random((5000, 1000)) < 0.1
>>> y = [1 if x[3] or x[141] else -1 for x in X]
>>> predicted = learner.learn_many(X, y)
>>> learner.mistakes, learner.promotions, learner.eliminations
(19, 16, 3)
>>> print(learner.certificate(X, y).line())
winnow's bound for disjunctions: at most 41 mistakes (holds; Littlestone 1988)
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from afterwit.concepts._boolean_learner import BooleanLearner, Columns, Floats
from afterwit.core.certificate import Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.rows import LARGEST_POSITION
from afterwit.errors import invalid


class WinnowDisjunctionBound(Theorem):
    """The size of the disjunction, times twice the logarithm of the number of variables, and 2."""

    name = "winnow's bound for disjunctions"
    statement = "mistakes <= 2 k log2 n + 2"
    citation = "Littlestone 1988"
    quantity = "mistakes"

    @staticmethod
    def bound(size: int, variables: int) -> float:
        return 2 * size * math.log2(variables) + 2

    def certify(self, evidence: Any) -> Certificate:
        return _by_size(self, evidence)


class PromotionBound(Theorem):
    """Every promotion doubles a weight of the target, and no weight exceeds n."""

    name = "promotion bound"
    statement = "promotions <= k log2 n"
    citation = "Littlestone 1988"
    quantity = "promotions"

    @staticmethod
    def bound(size: int, variables: int) -> float:
        return size * math.log2(variables)

    def certify(self, evidence: Any) -> Certificate:
        return _by_size(self, evidence)


class EliminationBound(Theorem):
    """On any sequence: eliminations take from the sum of the weights what promotions brought."""

    name = "elimination bound"
    statement = "eliminations <= promotions + 2"
    citation = "Littlestone 1988"
    quantity = "eliminations"
    foreseeable = False

    @staticmethod
    def bound(promotions: int) -> float:
        return float(promotions + 2)

    def certify(self, evidence: Any) -> Certificate:
        inputs = {"promotions": evidence.promotions}
        certificate: Certificate = evidence.certificate(self, self.bound(evidence.promotions), inputs)
        return certificate


def _by_size(theorem: Any, evidence: Any) -> Certificate:
    """A bound by the size of a disjunction that is right in every round."""
    size = evidence.size
    if size is None:
        refused: Certificate = evidence.certificate(theorem, None, {}, evidence.realizable)
        return refused
    inputs = {"k": size, "n": evidence.n_variables, "comparator": evidence.comparator}
    bound = theorem.bound(size, evidence.n_variables)
    certificate: Certificate = evidence.certificate(theorem, bound, inputs, evidence.realizable)
    return certificate


class WinnowDisjunction(BooleanLearner):
    """Winnow for monotone disjunctions.

    n_variables  n, how many variables there are; an example with others beyond them is refused
    labels       the negative and the positive label
    """

    theorems = (WinnowDisjunctionBound(), PromotionBound(), EliminationBound())

    def __init__(self, n_variables: Any, labels: Any = (-1, 1)) -> None:
        whole = isinstance(n_variables, Integral) and not isinstance(n_variables, bool)
        if not whole or not 1 <= int(n_variables) <= LARGEST_POSITION + 1:
            raise invalid("n_variables", f"a whole number from 1 to {LARGEST_POSITION + 1:,}", n_variables)
        self._most = int(n_variables)
        self._threshold = self._most / 2
        self._promotions = self._eliminations = 0
        super().__init__(labels)

    def _change(self, weights: Floats, variables: Columns, positive: bool) -> None:
        weights[variables] *= 2.0 if positive else 0.0

    def _tally(self, promotions: int, eliminations: int) -> None:
        self._promotions += promotions
        self._eliminations += eliminations

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        assert self._most is not None
        return self._most

    @property
    def promotions(self) -> int:
        """How often it was mistaken on a positive example, and doubled weights."""
        return self._promotions

    @property
    def eliminations(self) -> int:
        """How often it was mistaken on a negative example, and put weights to 0."""
        return self._eliminations

    @property
    def parameters(self) -> dict[str, Any]:
        return {"n_variables": self._most, "labels": self.labels}

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "promotions": self._promotions}

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        if type(state["promotions"]) is not int or not 0 <= state["promotions"] <= state["mistakes"]:
            raise invalid("promotions", "a count, at most the mistakes", state["promotions"])

    def _become(self, state: Any) -> None:
        super()._become(state)
        self._promotions = state["promotions"]
        self._eliminations = state["mistakes"] - state["promotions"]
