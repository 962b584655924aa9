"""Winnow for disjunctions: few relevant variables among many cost few mistakes.

Setting     x_t in {0, 1}^n, y_t in {-1, +1} given by a disjunction of k of the n variables; predict +1 if
            w_t . x_t >= n/2.
Update      from w = 1; on a false positive (an elimination) w_i = 0 for every variable that is 1 in x_t; on a false
            negative (a promotion) their weights double.
Guarantee   at most 2 k log2 n + 2 mistakes: there are E <= P + 2 eliminations on any sequence, because a promotion adds
            less than n/2 to the sum of the weights and an elimination takes at least n/2 away; and P <= k log2 n
            promotions, because each doubles a weight of the target, and no weight exceeds n.
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
from typing import Any

import numpy as np

from afterwit.concepts._boolean_learner import BooleanLearner, Columns, Floats
from afterwit.core.declared import LABELS, Count, Option
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import whole_number
from afterwit.data.quantities import COUNT, COUNT_OR_NONE, plain
from afterwit.data.rows import LARGEST_POSITION
from afterwit.errors import invalid


def _log2(features: Any) -> Any:
    """Python's logarithm, for a number or an array: numpy's may differ in the last bit."""
    return plain(np.vectorize(math.log2, otypes=[np.float64])(features))


class PromotionBound(Theorem):
    """Every promotion doubles a weight of the target, and no weight exceeds n."""

    name = "promotion bound"
    quantity = "promotions"
    formula = "{literals} log2({features})"
    inputs = (
        Input("literals", "k", "how many variables are in the target", COUNT_OR_NONE),
        Input("features", "n", "how many variables there are", COUNT),
    )
    needs = "a monotone disjunction of k variables is right on every example"
    citation = "Littlestone 1988"

    @staticmethod
    def bound(literals: Any, features: Any) -> Any:
        return literals * _log2(features)

    @staticmethod
    def check(literals: Any, features: Any) -> None:
        if np.any(literals > features):
            raise invalid("literals", "at most as many as features", literals)

    def certify(self, evidence: Any) -> Any:
        size, variables = evidence.size, evidence.n_variables
        if size is None:
            return evidence.certificate(self, None, {}, evidence.realizable)
        inputs = {"k": size, "n": variables, "comparator": evidence.comparator}
        return evidence.certificate(self, self.bound(size, variables), inputs, evidence.realizable)


class WinnowDisjunctionBound(PromotionBound):
    """The promotions, as many eliminations, and two more."""

    id = "winnow-disjunction"
    name = "winnow's bound for disjunctions"
    quantity = "mistakes"
    formula = "2 {literals} log2({features}) + 2"

    @staticmethod
    def bound(literals: Any, features: Any) -> Any:
        return 2 * PromotionBound.bound(literals, features) + 2


class EliminationBound(Theorem):
    """On any sequence: eliminations take from the sum of the weights what promotions added."""

    name = "elimination bound"
    quantity = "eliminations"
    formula = "{promotions} + 2"
    inputs = (Input("promotions", "promotions", "how many promotions there were", COUNT_OR_NONE),)
    citation = "Littlestone 1988"
    foreseeable = False

    @staticmethod
    def bound(promotions: Any) -> Any:
        return promotions + 2

    def certify(self, evidence: Any) -> Any:
        inputs = {"promotions": evidence.promotions}
        return evidence.certificate(self, float(self.bound(evidence.promotions)), inputs)


def _number_of_variables(parameter: str, value: Any) -> int:
    most = LARGEST_POSITION + 1
    return whole_number(parameter, value, 1, most, f"a whole number from 1 to {most:,}")


class WinnowDisjunction(BooleanLearner):
    """Winnow for monotone disjunctions.

    n_variables  n, how many variables there are; examples with more variables are refused
    labels       the negative and the positive label
    """

    theorems = (WinnowDisjunctionBound(), PromotionBound(), EliminationBound())
    options = (Option("n_variables", check=_number_of_variables), LABELS)
    kept = (Count("promotions"),)

    def _begin(self) -> None:
        super()._begin()
        self._most = self._options["n_variables"]
        self._threshold = self._most / 2
        self._promotions = 0

    def _change(self, weights: Floats, variables: Columns, positive: bool) -> None:
        weights[variables] *= 2.0 if positive else 0.0

    def _note_promotions(self, count: int) -> None:
        self._promotions += count

    @property
    def promotions(self) -> int:
        """How often it was wrong on a positive example, and doubled weights."""
        return self._promotions

    @property
    def eliminations(self) -> int:
        """How often it was wrong on a negative example, and set weights to 0."""
        with self._guard:
            return self.mistakes - self._promotions

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        if state["promotions"] > state["mistakes"]:
            raise invalid("promotions", "a count, at most the mistakes", state["promotions"])
