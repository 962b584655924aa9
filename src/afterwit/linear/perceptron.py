"""The perceptron: add the example you got wrong.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1.
Update      on a mistake only: w_{t+1} = w_t + eta y_t x_t, from w_1 = 0.
Guarantee   if a unit v has y_t (v . x_t) >= gamma and |x_t| <= R for all t: at most (R/gamma)^2 mistakes, whatever
            the dimension and the length of the stream. Tight (unit vectors). On any sequence whatever, for every
            comparator u with total hinge loss L: at most R^2 |u|^2 + 2L mistakes, and the sharper bounds below.
            Where labels come late, after at most d further rounds: at most (1 + 2d) (R/gamma)^2 (`_late_bounds`).
            Where rows are in shards and weights are mixed, the bounds hold for weighted mistakes (`_mixed_bounds`).
Assumes     w_1 = 0 (for the bounds; the rate then does not matter, but where rounding decides a tie). Nothing about
            where the examples come from.
Source      Rosenblatt 1958; Novikoff 1962; Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd
            ed. 2018, Figure 8.6, Theorems 8.8, 8.11, 8.12, Exercise 8.2; Blum, Hopcroft & Kannan, Foundations of
            Data Science, Theorems 5.10 and 5.11.

>>> learner = Perceptron(labels=("ham", "spam"))
>>> learner.learn_one({"cheap": 1, "pills": 1}, "spam")  # predicts before it sees the label: sgn(0) = +1
'spam'
>>> learner.learn_one({"lunch": 1, "today": 1}, "ham")
'spam'
>>> learner.predict_one({"lunch": 1})
'ham'
>>> learner.rounds, learner.mistakes, learner.weights
(2, 1, {'cheap': 0.0, 'pills': 0.0, 'lunch': -1.0, 'today': -1.0})
"""

from __future__ import annotations

import math
from typing import Any

import cython

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import Option
from afterwit.core.inputs import HINGE_LOSS, IID, MARGIN, NORM, RADIUS, SEPARABLE, length, margin_within_radius
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import positive_number
from afterwit.data.quantities import COUNT, COUNT_OR_NONE, NOT_NEGATIVE
from afterwit.linear._engine import SHARED
from afterwit.linear._late_bounds import (
    LateHingeBound,
    LateMarginBound,
    MeasuredHingeBound,
    MeasuredMarginBound,
    largest_root,
)
from afterwit.linear._mixed_bounds import mixed_bounds

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._engine import LinearLearner


RHO = length("rho", "rho", "the margin at which the hinge losses of the unit vector v are taken")
ROWS = Input("rows", "n", "how many examples it was trained on", COUNT)
#: What the leave-one-out bounds are about.
MEANS = "It is the mean error of training on n - 1 rows that is at most the mean of this, both over samples"


def _on_updates(size: str, symbol: str) -> Input:
    meaning = f"the {size} of the hinge losses of v, at margin rho, in the rounds with an update"
    return Input("loss", symbol, meaning, NOT_NEGATIVE)


class PerceptronBound(Theorem):
    """A bound on the perceptron's updates, which are its mistakes.

    Learners that update as the perceptron does but predict otherwise have the bound on their updates only.
    """

    quantity = "mistakes"

    def __init__(self, quantity: str = "mistakes") -> None:
        self.quantity = quantity


class MarginBound(PerceptronBound):
    """Separable data: the number of mistakes is at most the squared ratio of radius to margin."""

    id = "perceptron"
    name = "margin bound"
    formula = "({radius} / {margin})^2"
    inputs = (RADIUS, MARGIN)
    needs = SEPARABLE
    citation = "Novikoff 1962; Mohri et al. 2018, Theorem 8.8"
    check = staticmethod(margin_within_radius)

    @staticmethod
    def bound(radius: Any, margin: Any) -> Any:
        return (radius / margin) * (radius / margin)

    def certify(self, evidence: Any) -> Any:
        separable, widest = evidence.separability()
        if widest is None:
            return evidence.certificate(self, None, {}, separable)
        unit = evidence.unit
        inputs = {"R": unit * evidence.radius, "gamma": unit * widest.margin, "comparator": widest.source}
        return evidence.certificate(self, self.bound(evidence.radius, widest.margin), inputs, separable)


class HingeBound(PerceptronBound):
    """Any sequence: squared length of a comparator, and twice its hinge loss over all rounds."""

    id = "perceptron-hinge"
    name = "hinge bound"
    formula = "({radius} {norm})^2 + 2 {hinge_loss}"
    inputs = (RADIUS, NORM, HINGE_LOSS)
    needs = "w starts at 0"
    citation = "Blum et al., Foundations of Data Science, Theorem 5.11"

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any) -> Any:
        return (radius * norm) * (radius * norm) + 2 * hinge_loss

    def certify(self, evidence: Any) -> Any:
        best = evidence.best(lambda u: self.bound(evidence.radius, u.norm, u.hinge))
        unit, norm = evidence.unit, self.inputs[1].symbol
        inputs = {"R": unit * evidence.radius, norm: best.norm / unit, "L": best.hinge, "comparator": best.source}
        return evidence.certificate(self, self.bound(evidence.radius, best.norm, best.hinge), inputs)


class RootHingeBound(HingeBound):
    """The same, sharper: what M <= L + R |u| sqrt(M) says about M. Losses of all rounds.

    Theorem 8.11 counts the losses of the update rounds only, which are never more than those of all rounds. Counted
    over all rounds the bound is a promise: it knows nothing of what the learner did.
    """

    id = "perceptron-hinge-sharper"
    name = "sharper hinge bound"
    formula = "(({radius} {norm} + sqrt(({radius} {norm})^2 + 4 {hinge_loss})) / 2)^2"
    citation = "Mohri et al. 2018, Theorem 8.11, with the losses of all rounds"

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any) -> Any:
        root = largest_root(radius * norm, hinge_loss)
        return root * root


class UpdateHingeBound(PerceptronBound):
    """Any sequence: hinge losses l, at margin rho, of a unit vector v, over the update rounds only.

    Minimised over v and rho with the update rounds in view, this bound is the number of mistakes itself: as rho grows
    every loss tends to 1 and their sum to M. That says nothing. So v and rho are those of the sharper hinge bound,
    chosen without a look at the updates. Even so the bound knows where the learner updated, and is listed last.
    """

    id = "perceptron-update-hinge"
    name = "hinge bound on update rounds"
    formula = "(({radius}/{rho} + sqrt(({radius}/{rho})^2 + 4 {loss})) / 2)^2"
    inputs = (RADIUS, RHO, _on_updates("sum", "|l|_1"))
    needs = "w starts at 0; the losses are those of the rounds with an update"
    citation = "Mohri et al. 2018, Theorem 8.11"
    foreseeable = False
    #: The bound by which the comparator is chosen.
    chosen_by: type[HingeBound] = RootHingeBound

    @staticmethod
    def bound(radius: Any, rho: Any, loss: Any) -> Any:
        return RootHingeBound.bound(radius, 1 / rho, loss)

    @staticmethod
    def size(comparator: Any) -> Any:
        """The size of the vector of hinge losses that the bound speaks of."""
        return comparator.hinge

    def certify(self, evidence: Any) -> Any:
        chosen = evidence.best(lambda u: self.chosen_by.bound(evidence.radius, u.norm, u.hinge))
        if chosen.norm > 0:
            chosen = evidence.losses_on_updates(chosen)
        loss, unit = self.size(chosen), evidence.unit
        size = self.inputs[-1].symbol
        inputs = {"r": unit * evidence.radius, "rho": unit * chosen.rho, size: loss, "v": chosen.source}
        return evidence.certificate(self, self.bound(evidence.radius, chosen.rho, loss), inputs)


class SimpleUpdateHingeBound(UpdateHingeBound):
    """The second, simpler inequality of the same theorem; never below the first."""

    id = "perceptron-update-hinge-simple"
    name = "simpler hinge bound on update rounds"
    formula = "({radius}/{rho} + sqrt({loss}))^2"

    @staticmethod
    def bound(radius: Any, rho: Any, loss: Any) -> Any:
        root = radius / rho + math.sqrt(loss)
        return root * root


class EuclideanHingeBound(UpdateHingeBound):
    """The same with the Euclidean norm of the hinge losses; never below the first either."""

    id = "perceptron-update-hinge-euclidean"
    name = "Euclidean hinge bound on update rounds"
    formula = "({radius}/{rho} + {loss})^2"
    inputs = (RADIUS, RHO, _on_updates("Euclidean norm", "|l|_2"))
    citation = "Mohri et al. 2018, Theorem 8.12"

    @staticmethod
    def bound(radius: Any, rho: Any, loss: Any) -> Any:
        return (radius / rho + loss) * (radius / rho + loss)

    @staticmethod
    def size(comparator: Any) -> Any:
        return comparator.hinge_norm


class TrainedBound(Theorem):
    """Training until a whole pass is right, on n rows that are independent draws from one distribution.

    A row that training on the others gets wrong is one of the M(S) that were added: the leave-one-out error of the
    sample is at most min(M, (R/gamma)^2) / n, and its mean is the mean error on new data of training on n - 1 rows.
    So the theorem compares two means over samples; of this one sample it says nothing but the leave-one-out error.
    """

    id = "perceptron-trained"
    name = "error after training to convergence"
    quantity = "error"
    formula = "min({updates}, ({radius} / {margin})^2) / {rows}"
    inputs = (
        Input("updates", "M", "how many updates training to convergence made", COUNT_OR_NONE),
        RADIUS,
        MARGIN,
        ROWS,
    )
    needs = f"{IID}, separable with that margin; training went on until a whole pass was right. {MEANS}"
    citation = "Mohri et al. 2018, Theorem 8.9"
    chance = "on average over samples, not for each of them"
    foreseeable = False

    @staticmethod
    def bound(updates: Any, radius: Any, margin: Any, rows: Any) -> Any:
        return min(updates, MarginBound.bound(radius, margin)) / rows

    @staticmethod
    def check(radius: Any, margin: Any, **_: Any) -> None:
        margin_within_radius(radius, margin)

    def certify(self, evidence: Any) -> Any:
        if evidence.passes < 2:
            return None
        separable, widest = evidence.separability()
        converged = Assumption(
            "training went on until a whole pass was right",
            Basis.OBSERVED,
            evidence.converged,
            "" if evidence.converged else "the last pass still made updates",
        )
        drawn = Assumption("the rows are independent draws from one distribution", Basis.PROMISED, None)
        if widest is None or not converged.holds:
            return evidence.certificate(self, None, {}, separable, converged, drawn, observed=0.0)
        rows = evidence.rounds // evidence.passes
        error = evidence.left_out_error()
        inputs = {
            "M": evidence.update_rounds,
            "R": evidence.unit * evidence.radius,
            "gamma": evidence.unit * widest.margin,
            "n": rows,
            "observed": "leaving one row out" if error is not None else "on the sample itself",
        }
        bound = self.bound(evidence.update_rounds, evidence.radius, widest.margin, rows)
        return evidence.certificate(self, bound, inputs, separable, converged, drawn, observed=error or 0.0)


class SVMLeaveOneOutBound(TrainedBound):
    """The same for an SVM without offset, which depends on its support vectors alone."""

    id = "svm-leave-one-out"
    name = "leave-one-out bound of an SVM"
    formula = "min({support_vectors}, ({radius} / {margin})^2) / {rows}"
    inputs = (
        Input("support_vectors", "N_SV", "how many support vectors the SVM has", COUNT_OR_NONE),
        RADIUS,
        MARGIN,
        ROWS,
    )
    needs = f"{IID}, separable with that margin; the SVM has no offset. {MEANS}"
    citation = "Mohri et al. 2018, Theorem 8.10"

    @staticmethod
    def bound(support_vectors: Any, radius: Any, margin: Any, rows: Any) -> Any:
        return TrainedBound.bound(support_vectors, radius, margin, rows)


def perceptron_bounds(quantity: str = "mistakes") -> tuple[Theorem, ...]:
    """Every bound of the perceptron, on its mistakes or on the updates of a learner that updates as it does."""
    return (
        MarginBound(quantity),
        HingeBound(quantity),
        RootHingeBound(quantity),
        UpdateHingeBound(quantity),
        SimpleUpdateHingeBound(quantity),
        EuclideanHingeBound(quantity),
    )


@cython.cclass
class Perceptron(LinearLearner):
    """The perceptron of Figure 8.6.

    rate    eta, by which an example is multiplied before it is added; from a start at 0 it changes no prediction, but
            where the score is 0 and rounding makes it positive or negative
    start   w_1: an array or a dict of weights; 0 if not given. The bounds are proved for 0.
    intercept  whether every example has a further feature of value 1
    labels  the negative and the positive label
    """

    _rate: cython.double

    theorems = (
        *perceptron_bounds(),
        LateMarginBound(),
        LateHingeBound(),
        MeasuredMarginBound(),
        MeasuredHingeBound(),
        TrainedBound(),
    )
    mixed_theorems = mixed_bounds()
    late = "served"

    options = (Option("rate", 1.0, positive_number), Option("start", None), *SHARED)

    def _begin(self) -> None:
        LinearLearner._begin(self)
        self._rate = self._options["rate"]
        if self._options["start"] is not None:
            self._begin_at(self._options["start"])
            self._options["start"] = self.weights

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        prediction: cython.int = 1 if score >= 0 else -1
        if prediction != y:
            self.add(self._rate * y)
            return True
        return False

    @property
    def rate(self) -> float:
        """The factor eta."""
        return self._rate
