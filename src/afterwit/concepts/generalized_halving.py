"""Generalized halving: a vote in which short descriptions weigh more.

Setting     a finite class H over points x_t, y_t in {-1, +1}; each h has a description of size(h) bits in a prefix-free
            language, and some f* in H is right in every round; predict the weighted majority vote of the version space,
            with weights 2^-size(h), +1 if it is a tie.
Update      after every example: drop the hypotheses that were wrong.
Guarantee   at most size(f*) mistakes: the weights sum to at most 1 (Kraft), each mistake takes at least half of what is
            left, and 2^-size(f*) stays. Of all hypotheses that are right the shortest counts.
Assumes     some h in H is right in every round, and the sizes are those of a prefix-free language, which is checked
            by their Kraft sum. If no hypothesis is right, all may be dropped; then the prediction is +1 from then on.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.4.2, Theorem 6.12.

>>> from afterwit.concepts import monotone_disjunctions
>>> hypotheses = monotone_disjunctions(12)  # 4,096 of them, which know their sizes
>>> learner = GeneralizedHalving(hypotheses)
>>> X = __import__("numpy").random.default_rng(0).integers(0, 2, (500, 12))
>>> y = [1 if x[2] or x[7] else -1 for x in X]
>>> predicted = learner.learn_many(X, y)
>>> learner.mistakes, learner.survivors()
(3, ['x3 or x8'])
>>> print(learner.certificate().line())  # halving could promise no better than 12
generalized halving bound: at most 10 mistakes (holds; Blum et al., Foundations of Data Science, Theorem 6.12)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.concepts._bits import Words64, count_bits, pack
from afterwit.concepts._class_learner import KNOWN_CLASS, ClassLearner
from afterwit.concepts.finite_class import checked_sizes
from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import LABELS, Option
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.errors import invalid

PREFIX_FREE = Assumption(
    "the sizes are those of a prefix-free language", Basis.ENFORCED, True, "their Kraft sum is at most 1"
)


class GeneralizedHalvingBound(Theorem):
    """The length of the shortest description of a hypothesis that is right."""

    id = "generalized-halving"
    name = "generalized halving bound"
    quantity = "mistakes"
    formula = "{bits}"
    inputs = (Input("bits", "size(f)", "the size of the target's description in bits", NOT_NEGATIVE),)
    needs = "the description language is prefix-free and f is right on every example"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.12"

    @staticmethod
    def bound(bits: Any) -> Any:
        return bits

    def certify(self, evidence: Any) -> Any:
        if evidence.shortest is None:
            return evidence.certificate(self, None, {}, PREFIX_FREE)
        name, size = evidence.shortest
        return evidence.certificate(self, self.bound(float(size)), {"f*": name, "size(f*)": size}, PREFIX_FREE)


class GeneralizedHalving(ClassLearner):
    """The generalized halving algorithm.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points)
    sizes       how many bits describe each hypothesis; those of the class if not given
    labels      the negative and the positive label: what the hypotheses call 0 and 1
    """

    theorems = (GeneralizedHalvingBound(),)
    options = (KNOWN_CLASS, Option("sizes", None), LABELS)

    def _begin(self) -> None:
        made, given = self._options["hypotheses"], self._options["sizes"]
        if given is not None:
            given = self._options["sizes"] = checked_sizes(given, len(made))
        elif made.sizes is None:
            raise invalid("sizes", "given, because the class has none", given)
        self._sizes: Any = made.sizes if given is None else given
        lengths = np.unique(self._sizes).tolist()
        #: The hypotheses of each size, and how far their weight is shifted, so that all are whole numbers.
        self._groups: list[tuple[Words64, int]] = [
            (pack(self._sizes == length), lengths[-1] - length) for length in lengths
        ]
        super()._begin()

    def _score(self, index: int) -> float:
        """How much more weight votes for +1 than for -1, as a share of all that is left; exact in its sign."""
        votes = self._alive & self._hypotheses.votes(index)
        positive = sum(count_bits(votes & group) << shift for group, shift in self._groups)
        total = sum(count_bits(self._alive & group) << shift for group, shift in self._groups)
        if total == 0:
            return 0.0
        more = 2 * positive - total
        # A share too small for a floating-point number is still one.
        return more / total or (np.nextafter(0.0, -1.0).item() if more < 0 else 0.0)

    def _drops(self, mistaken: bool) -> bool:  # noqa: ARG002
        return True

    @property
    def description_sizes(self) -> Any:
        """How many bits describe each hypothesis, as given or as the class knows."""
        return self._sizes.copy()
