"""Halving: the majority vote of the hypotheses that are still right.

Setting     a finite class H over points x_t, y_t in {-1, +1}, some h in H right in every round; predict the majority
            vote of the active hypotheses, +1 if it is a tie.
Update      on a mistake: drop the active hypotheses that were wrong (Figure 8.2). With ``drop="examples"``, after every
            example: the version space of the second book below.
Guarantee   at most log2 |H| mistakes: each takes at least half of the active hypotheses, and the right one stays.
Assumes     some h in H is right in every round. If none is, all hypotheses may be dropped; then the prediction is +1
            from then on, and the theorem is not applicable.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Figure 8.2 and Theorem
            8.1; Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.4.2.

>>> from afterwit.concepts import monotone_disjunctions
>>> learner = Halving(monotone_disjunctions(["cheap", "pills", "lunch"]), labels=("ham", "spam"))
>>> learner.learn_one((0, 0, 1), "ham")  # half of the eight disjunctions have "lunch" in them, and a tie is +1
'spam'
>>> learner.survivors()
['never', 'cheap', 'pills', 'cheap or pills']
>>> learner.learn_one((1, 0, 0), "spam"), learner.predict_one((0, 1, 1))
('spam', 'spam')
>>> print(learner.certificate().line())
halving bound: at most 3 mistakes (holds, vacuous; Mohri et al. 2018, Theorem 8.1)
"""

from __future__ import annotations

import math
from typing import Any

from afterwit.concepts._bits import count_bits
from afterwit.concepts._class_learner import KNOWN_CLASS, ClassLearner
from afterwit.core.declared import LABELS, Option
from afterwit.core.inputs import HYPOTHESES
from afterwit.core.theorem import Theorem
from afterwit.data.checks import one_of


class HalvingBound(Theorem):
    """The logarithm of the number of hypotheses, to the base 2."""

    id = "halving"
    name = "halving bound"
    quantity = "mistakes"
    formula = "{log_hypotheses} / ln(2)"
    inputs = (HYPOTHESES,)
    needs = "some rule of the class is right on every example"
    citation = "Mohri et al. 2018, Theorem 8.1"
    beforehand = True

    @staticmethod
    def bound(log_hypotheses: Any, log_two: float = math.log(2)) -> Any:
        """``log_two`` is ln(2), or the logarithm of 2 to the base in which the first one is."""
        return log_hypotheses / log_two

    def certify(self, evidence: Any) -> Any:
        # Base 2 is exact where |H| is a power of 2.
        bound = self.bound(math.log2(evidence.count), log_two=1.0)
        return evidence.certificate(self, bound, {"|H|": evidence.count})


class Halving(ClassLearner):
    """The halving algorithm of Figure 8.2.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points)
    drop        when wrong hypotheses are dropped: after "mistakes" (Figure 8.2), or after all "examples"
    labels      the negative and the positive label: what the hypotheses call 0 and 1
    """

    theorems = (HalvingBound(),)
    options = (KNOWN_CLASS, Option("drop", "mistakes", one_of(("mistakes", "examples"))), LABELS)

    def _begin(self) -> None:
        super()._begin()
        self._drops_always = self._options["drop"] == "examples"

    def _score(self, index: int) -> float:
        """How many more vote for +1 than for -1."""
        return float(2 * count_bits(self._alive & self._hypotheses.votes(index)) - self._remaining)

    def _drops(self, mistaken: bool) -> bool:
        return mistaken or self._drops_always
