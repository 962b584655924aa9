"""The margin bound of the kernel perceptron on new data.

Setting     T examples drawn independently from one distribution, played once by a (kernel) perceptron that starts at 0;
            I are the rounds in which it was wrong. For any h in feature space with |h| <= 1 and any rho > 0, its hinge
            losses at margin rho are max(0, 1 - y_t h(x_t) / rho).
Guarantee   (a) mistakes <= sum of the hinge losses + (1/rho) sqrt(sum of K(x_t, x_t) over t in I).
            (b) with probability at least 1 - delta, for the hypothesis that `penalized_selection` returns:
            R <= mean hinge loss + (1/(rho T)) sqrt(sum of K(x_t, x_t) over t in I) + 6 sqrt(ln(2 (T + 1) / delta) / T).
            By (a) that is never less than the bound of `penalized_selection` itself. What it adds is a reason: data on
            which some h has a large margin are learned well.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Exercise 8.11.

>>> from afterwit import Perceptron, adversaries
>>> stream = adversaries.separable(20_000, 10, margin=0.3, seed=0)
>>> learner = Perceptron()
>>> _ = learner.learn_many(stream.X, stream.y)
>>> certificate = kernel_margin_bound(learner, stream.X, stream.y)
>>> round(certificate.bound, 4), certificate.quantity, certificate.observed
(0.1568, 'error', 0.00025)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.batch._theorem import BatchEvidence, BatchTheorem
from afterwit.batch.penalized_selection import PenalizedSelection
from afterwit.certify.kernel import Gram
from afterwit.certify.replay import matrix_of
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.inputs import CHANCE, DELTA, IID, ROUNDS
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import share
from afterwit.data.quantities import NOT_NEGATIVE, POSITIVE
from afterwit.errors import InputError, counted, invalid
from afterwit.hindsight.comparator import row_norms
from afterwit.kernels.kernel_perceptron import KernelPerceptron
from afterwit.linear.perceptron import HingeBound, Perceptron


@dataclass(frozen=True, kw_only=True)
class KernelMarginEvidence(BatchEvidence):
    """A run of a perceptron, and comparators found in hindsight."""

    delta: float
    #: The total hinge loss and the length of each comparator; none where the rounds are not the learner's.
    comparators: tuple[tuple[float, float], ...]
    #: The sum of K(x, x) over the rounds in which it was wrong.
    kernel_sum: float


class KernelMarginBound(BatchTheorem):
    """Data with a large margin in feature space are learned well."""

    name = "margin bound on new data"
    formula = "L(u) / T + |u| sqrt(sum of K(x, x) over the mistakes) / T + 6 sqrt(ln(2 (T + 1) / delta) / T)"
    citation = "Mohri et al. 2018, Exercise 8.11"
    foreseeable = False

    @staticmethod
    def bound(hinge_loss: Any, norm: Any, squares: Any, rounds: Any, delta: Any) -> Any:
        return PenalizedSelection.bound((hinge_loss + norm * np.sqrt(squares)) / rounds, rounds, delta)

    def certify(self, evidence: Any) -> Certificate:
        if not evidence.comparators:
            return self.applied(evidence, None, {})
        rounds, delta, total = evidence.rounds, evidence.delta, evidence.kernel_sum
        bounds = [self.bound(loss, norm, total, rounds, delta) for loss, norm in evidence.comparators]
        loss, norm = evidence.comparators[int(np.argmin(bounds))]
        inputs = {"L": loss, "|u|": norm, "sum of K": total, "T": rounds, "delta": delta}
        return self.applied(evidence, min(bounds), {**inputs, "observed": "while learning"})


class MeanKernelMarginBound(Theorem):
    """The same for an h of length at most 1, by its mean hinge loss at margin rho: u = h / rho."""

    id = "kernel-perceptron-margin"
    name = KernelMarginBound.name
    quantity = "error"
    formula = "{mean_hinge} + sqrt({kernel_sum}) / ({rho} {rounds}) + 6 sqrt(ln(2 ({rounds} + 1) / {delta}) / {rounds})"
    inputs = (
        Input("mean_hinge", "L_rho", "the mean hinge loss, at margin rho, of an h of norm at most 1", NOT_NEGATIVE),
        Input("kernel_sum", "K", "the sum of K(x, x) over the update rounds", NOT_NEGATIVE),
        Input("rho", "rho", "the margin", POSITIVE),
        ROUNDS,
        DELTA,
    )
    needs = f"{IID}; the hypothesis is that of penalized selection"
    citation = KernelMarginBound.citation
    chance = CHANCE

    @staticmethod
    def bound(mean_hinge: Any, kernel_sum: Any, rho: Any, rounds: Any, delta: Any) -> Any:
        return KernelMarginBound.bound(mean_hinge * rounds, 1 / rho, kernel_sum, rounds, delta)


def kernel_margin_bound(learner: Any, X: Any, y: Any, delta: Any = 0.05) -> Certificate:
    """The bound for a perceptron that has learned X, y in one pass; u = h/rho is found in hindsight.

    learner  a `KernelPerceptron`, `DualPerceptron` or `Perceptron`
    X, y     the examples it learned from, in order
    delta    how likely the bound may fail
    """
    delta = share("delta", delta)
    if not isinstance(learner, KernelPerceptron) and type(learner) is not Perceptron:
        raise invalid("learner", "a KernelPerceptron, a DualPerceptron or a Perceptron", type(learner))
    found = learner.certificate(X, y)
    hinge = [each for each in (found, *found.others) if isinstance(each.theorem, HingeBound)]
    rows, signs = learner._checked(X, y)
    if not rows.count:
        raise InputError("X must be at least one example; received none")
    once = Assumption(
        "one pass: every example was new to the hypothesis that predicted it",
        Basis.OBSERVED,
        learner.rounds == rows.count,
        f"{counted(learner.rounds, 'round')}, {counted(rows.count, 'example')}",
    )
    assumptions = (*hinge[0].assumptions, once)
    comparators: tuple[tuple[float, float], ...] = ()
    kernel_sum = 0.0
    if all(assumption.met for assumption in assumptions):
        updated = np.zeros(rows.count, dtype=np.int8)
        type(learner)(**learner.parameters)._learn(rows, signs, updated)
        kernel_sum = float(_squares(learner, rows)[updated > 0].sum())
        known = [each.inputs for each in hinge if each.bound is not None]
        comparators = tuple((float(each["L"]), float(each["|u|"])) for each in known)
    evidence = KernelMarginEvidence(
        subject=f"penalized_selection of {type(learner).__name__}",
        rounds=learner.rounds,
        happened=learner.mistakes / max(1, learner.rounds),
        assumptions=assumptions,
        delta=delta,
        comparators=comparators,
        kernel_sum=kernel_sum,
    )
    return KernelMarginBound(delta).certify(evidence)


def _squares(learner: Any, rows: Any) -> Any:
    """K(x, x) for every example."""
    if isinstance(learner, KernelPerceptron):
        return Gram(learner.kernel, rows).diagonal()
    return row_norms(matrix_of(learner, rows)) ** 2
