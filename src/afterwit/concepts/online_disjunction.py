"""The simple online learner of disjunctions: begin with all variables, drop those of a negative example.

Setting     x_t in {0, 1}^d, y_t in {-1, +1} given by a disjunction of some of the d variables; predict +1 if a variable
            of h is 1, -1 if none is. h begins with all variables.
Update      on a false positive only: drop from h every variable that is 1 in x_t.
Guarantee   at most d mistakes: h never loses a variable of the target, so it predicts every positive example
            correctly, and every mistake drops a variable. No deterministic learner can promise less
            (`afterwit.adversaries.contrary_disjunction`).
Assumes     some disjunction of variables is right in every round; the empty one, which is never true, is allowed. The
            variables need not be known beforehand: d is the number of those that occur.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.4.1, Theorems 6.10 and 6.11.

>>> learner = OnlineDisjunction(labels=("ham", "spam"))
>>> learner.learn_one({"lunch", "today"}, "ham")  # a set, a dict or an array says which variables are 1
'spam'
>>> learner.learn_one({"cheap", "today"}, "spam")
'spam'
>>> learner.predict_one({"lunch": 1, "cheap": 0}), learner.disjunction
('ham', ['cheap'])
>>> learner.rounds, learner.mistakes
(2, 1)
"""

from __future__ import annotations

from typing import Any

from afterwit.concepts._boolean_learner import BooleanLearner, Columns, Floats
from afterwit.core.declared import LABELS
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT


class DisjunctionBound(Theorem):
    """The number of variables, which the learner does not know beforehand: d counts those that occurred."""

    id = "online-disjunction"
    name = "disjunction bound"
    quantity = "mistakes"
    formula = "{features}"
    inputs = (Input("features", "d", "how many variables", COUNT),)
    needs = "some monotone disjunction is right on every example"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.10; met with equality, 6.11"

    @staticmethod
    def bound(features: Any) -> Any:
        return features

    def certify(self, evidence: Any) -> Any:
        inputs = {"d": evidence.variables}
        return evidence.certificate(self, self.bound(float(evidence.variables)), inputs, evidence.realizable)


class OnlineDisjunction(BooleanLearner):
    """The simple online disjunction learner.

    labels  the negative and the positive label
    """

    theorems = (DisjunctionBound(),)
    options = (LABELS,)
    # One variable that is left is enough; weights are 1, or 0 for what was dropped.
    _threshold = 0.5

    def _change(self, weights: Floats, variables: Columns, positive: bool) -> None:  # noqa: ARG002
        # Never with a positive label: such an example has no variable of h that is 1.
        weights[variables] = 0.0

    @property
    def disjunction(self) -> list[Any]:
        """The variables that are left in h, of those that occurred, by name or by position."""
        weights = self.weights
        pairs = weights.items() if isinstance(weights, dict) else enumerate(weights.tolist())
        return [variable for variable, weight in pairs if weight]
