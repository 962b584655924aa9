"""The multiclass perceptron: one weight vector per class; on a mistake the right one gains x, the other one loses it.

Setting     x_t in R^n, y_t in {1..K}, or in no set that is known beforehand; predict the k with the largest w_k . x_t,
            of several the class that came first (or is named first in ``labels``).
Update      on a mistake only, with k the class that was predicted: w_y <- w_y + x_t, w_k <- w_k - x_t, from w = 0.
Guarantee   if a U with rows U_1..U_K, of which the squares of all entries sum to 1, has U_y . x_t >= U_k . x_t + gamma
            for all k but y_t in all rounds, and |x_t| <= R: at most 2 (R/gamma)^2 mistakes, whatever K, the dimension
            and the length of the stream. On any sequence whatever, for every U with total multiclass hinge loss L, the
            sum of max(0, 1 - (U_y . x_t - max of the other U_k . x_t)): at most 2 R^2 |U|^2 + 2L mistakes, and the
            sharper bounds below. A class that was not named beforehand cannot be predicted in the round that brings it.
            That is no further mistake to the theorem, except for the first round of all, which adds 1.
Assumes     w = 0 at the start. Nothing about where the examples come from.
Why         Kesler's construction: with W the rows w_1..w_K one after another, and z the vector that has x in the place
            of y and -x in that of k, W . z = w_y . x - w_k . x <= 0 at every update, and W <- W + z. So this is the
            perceptron on examples of length sqrt(2) |x|, and its theorems hold with sqrt(2) R. The w_k always sum to 0:
            so the largest score is never below 0, which is the score of a class that is new.
Source      Duda & Hart 1973, section 5.12 (Kesler's construction); Crammer & Singer, Ultraconservative Online
            Algorithms for Multiclass Problems, 2003; for the bounds, those of the perceptron.

>>> learner = MulticlassPerceptron()
>>> learner.learn_one({"woof": 1}, "dog")  # no class is known yet: nothing can be predicted
>>> learner.learn_one({"purr": 1}, "cat")
'dog'
>>> learner.learn_one({"tweet": 1, "purr": 1}, "bird")
'cat'
>>> learner.predict_one({"tweet": 1}), learner.score_one({"purr": 1})
('bird', {'dog': -1.0, 'cat': 0.0, 'bird': 1.0})
>>> learner.rounds, learner.mistakes, learner.updates
(3, 3, 2)
"""

from __future__ import annotations

import math
from typing import Any

import cython

from afterwit.core.inputs import RADIUS, length
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.errors import invalid
from afterwit.linear._multiclass import MulticlassLearner
from afterwit.linear.perceptron import (
    EuclideanHingeBound,
    HingeBound,
    MarginBound,
    PerceptronBound,
    RootHingeBound,
    SimpleUpdateHingeBound,
    UpdateHingeBound,
)

if cython.compiled:
    from cython.cimports.afterwit.linear._class_weights import ClassWeights
else:
    from afterwit.linear._class_weights import ClassWeights


#: How much longer the examples of Kesler's construction are.
LONGER = math.sqrt(2)
KESLER = "by Kesler's construction"

MARGIN = length(
    "margin", "gamma", "the margin: U_y . x - U_k . x is at least this for all k but y, for a U of length 1"
)
NORM = Input("norm", "|U|", "the length of the comparator U, the weights of all classes together", NOT_NEGATIVE)
HINGE_LOSS = Input("hinge_loss", "L", "the total multiclass hinge loss of U, over all rounds", NOT_NEGATIVE)


class MulticlassBound(PerceptronBound):
    """A bound on the updates. Every mistake is one, but that of a first round in which no class is known."""

    @property
    def statement(self) -> str:
        first = ", + 1 if no labels were named beforehand" if self.quantity == "mistakes" else ""
        return f"{self.inequality}{first}"


class MulticlassMarginBound(MulticlassBound, MarginBound):
    """Separable classes: twice the squared ratio of radius to margin."""

    id = "multiclass-perceptron"
    name = "multiclass margin bound"
    formula = "2 ({radius} / {margin})^2"
    inputs = (RADIUS, MARGIN)
    needs = "the weights start at 0 and some U separates the classes with that margin"
    citation = f"Novikoff 1962, {KESLER}"

    @staticmethod
    def check(radius: Any, margin: Any) -> None:
        # The difference of two scores is a scalar product with an example of Kesler's.
        if margin > LONGER * radius:
            raise invalid("margin", f"at most sqrt(2) times the radius, {LONGER * radius:.6g}", margin)

    @staticmethod
    def bound(radius: Any, margin: Any) -> Any:
        return MarginBound.bound(LONGER * radius, margin)


class MulticlassHingeBound(MulticlassBound, HingeBound):
    """Any sequence: twice the squared length of a comparator, and twice its multiclass hinge loss over all rounds."""

    id = "multiclass-perceptron-hinge"
    name = "multiclass hinge bound"
    formula = "2 ({radius} {norm})^2 + 2 {hinge_loss}"
    inputs = (RADIUS, NORM, HINGE_LOSS)
    needs = "the weights start at 0"
    citation = f"Blum et al., Foundations of Data Science, Theorem 5.11, {KESLER}"

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any) -> Any:
        return HingeBound.bound(LONGER * radius, norm, hinge_loss)


class MulticlassRootHingeBound(MulticlassHingeBound):
    """The same, sharper, with the losses of all rounds."""

    id = "multiclass-perceptron-hinge-sharper"
    name = "sharper multiclass hinge bound"
    formula = "((sqrt(2) {radius} {norm} + sqrt(2 ({radius} {norm})^2 + 4 {hinge_loss})) / 2)^2"
    citation = f"Mohri et al. 2018, Theorem 8.11, with the losses of all rounds, {KESLER}"

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any) -> Any:
        return RootHingeBound.bound(LONGER * radius, norm, hinge_loss)


class MulticlassUpdateHingeBound(MulticlassBound, UpdateHingeBound):
    """Any sequence: multiclass hinge losses l, at margin rho, of a V of length 1, over the update rounds only."""

    id = "multiclass-perceptron-update-hinge"
    name = "multiclass hinge bound on update rounds"
    formula = "((sqrt(2) {radius}/{rho} + sqrt(2 ({radius}/{rho})^2 + 4 {loss})) / 2)^2"
    needs = "the weights start at 0; the losses are those of the rounds with an update"
    citation = f"Mohri et al. 2018, Theorem 8.11, {KESLER}"
    chosen_by = MulticlassRootHingeBound

    @staticmethod
    def bound(radius: Any, rho: Any, loss: Any) -> Any:
        return UpdateHingeBound.bound(LONGER * radius, rho, loss)


class MulticlassSimpleUpdateHingeBound(MulticlassUpdateHingeBound):
    """The second, simpler inequality of the same theorem; never below the first."""

    id = "multiclass-perceptron-update-hinge-simple"
    name = "simpler multiclass hinge bound on update rounds"
    formula = "(sqrt(2) {radius}/{rho} + sqrt({loss}))^2"

    @staticmethod
    def bound(radius: Any, rho: Any, loss: Any) -> Any:
        return SimpleUpdateHingeBound.bound(LONGER * radius, rho, loss)


class MulticlassEuclideanHingeBound(MulticlassUpdateHingeBound):
    """The same with the Euclidean norm of the hinge losses; never below the first either."""

    id = "multiclass-perceptron-update-hinge-euclidean"
    name = "Euclidean multiclass hinge bound on update rounds"
    formula = "(sqrt(2) {radius}/{rho} + {loss})^2"
    inputs = EuclideanHingeBound.inputs
    citation = f"Mohri et al. 2018, Theorem 8.12, {KESLER}"
    size = staticmethod(EuclideanHingeBound.size)

    @staticmethod
    def bound(radius: Any, rho: Any, loss: Any) -> Any:
        return EuclideanHingeBound.bound(LONGER * radius, rho, loss)


def multiclass_bounds(quantity: str = "mistakes") -> tuple[Theorem, ...]:
    """Every bound of the multiclass perceptron: on its mistakes, or on the updates of who updates as it does."""
    return (
        MulticlassMarginBound(quantity),
        MulticlassHingeBound(quantity),
        MulticlassRootHingeBound(quantity),
        MulticlassUpdateHingeBound(quantity),
        MulticlassSimpleUpdateHingeBound(quantity),
        MulticlassEuclideanHingeBound(quantity),
    )


@cython.cclass
class _ClassPerceptrons(ClassWeights):
    """The weights, and the update."""

    _called = "MulticlassPerceptron"

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        # In a first round without a class there is nothing to tell the new one from.
        if self._leader == y or self._leader < 0:
            return False
        self.add_to(0, y, 1.0)
        self.add_to(0, self._leader, -1.0)
        return True


class MulticlassPerceptron(MulticlassLearner):
    """The perceptron for many labels, with a weight vector for each class.

    intercept  whether every example has a further feature of value 1
    labels     the labels that may come, two or more; each can be predicted from the start. If not given, any label may
               come, and a class begins with its first example, in which it cannot be predicted. Before the first, None
               is predicted.

    In the first round of a learner that was given no labels there is no class to take x from, and the weights stay 0.
    """

    theorems = multiclass_bounds()
    _weights_of_classes = _ClassPerceptrons
