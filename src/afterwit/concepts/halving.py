"""Halving: the majority vote of the hypotheses that are still right.

Setting     a finite class H over points x_t, y_t in {-1, +1}, some h in H right in every round; predict the majority
            vote of the active hypotheses, +1 if it is a tie.
Update      on a mistake: drop the active hypotheses that were wrong (Figure 8.2). With ``drop="examples"``, after every
            example: the version space of the other textbook.
Guarantee   at most log2 |H| mistakes: each takes at least half of the active hypotheses, and the right one stays.
Assumes     some h in H is right in every round. If none is, the hypotheses run out sooner or later; then the prediction
            is +1 for ever after, and the theorem is not applicable.
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
from afterwit.concepts._class_learner import ClassLearner
from afterwit.core.certificate import Certificate
from afterwit.core.theorem import Theorem
from afterwit.errors import invalid

DROPS = ("mistakes", "examples")


class HalvingBound(Theorem):
    """The logarithm of the number of hypotheses."""

    name = "halving bound"
    statement = "mistakes <= log2 |H|"
    citation = "Mohri et al. 2018, Theorem 8.1"
    quantity = "mistakes"

    @staticmethod
    def bound(hypotheses: int) -> float:
        return math.log2(hypotheses)

    def certify(self, evidence: Any) -> Certificate:
        certificate: Certificate = evidence.certificate(self, self.bound(evidence.count), {"|H|": evidence.count})
        return certificate


class Halving(ClassLearner):
    """The halving algorithm of Figure 8.2.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points)
    drop        when wrong hypotheses are dropped: after "mistakes" (Figure 8.2), or after all "examples"
    labels      the negative and the positive label: what the hypotheses call 0 and 1
    """

    theorems = (HalvingBound(),)

    def __init__(self, hypotheses: Any, drop: Any = "mistakes", labels: Any = (-1, 1)) -> None:
        if not isinstance(drop, str) or drop not in DROPS:
            raise invalid("drop", "'mistakes' or 'examples'", drop)
        self._drop_after: str = drop
        super().__init__(hypotheses, labels)

    def _score(self, index: int) -> float:
        """How many more vote for +1 than for -1."""
        return float(2 * count_bits(self._alive & self._hypotheses.votes(index)) - self._remaining)

    def _drops(self, mistaken: bool) -> bool:
        return mistaken or self._drop_after == "examples"

    @property
    def drop(self) -> str:
        """When wrong hypotheses are dropped."""
        return self._drop_after

    @property
    def parameters(self) -> dict[str, Any]:
        return {"hypotheses": self._hypotheses, "drop": self._drop_after, "labels": self.labels}
