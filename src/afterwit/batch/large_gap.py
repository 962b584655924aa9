"""Large gap: learn until a hypothesis has been right for a long time, and keep that one.

Setting     examples drawn independently from one distribution; h_i is the hypothesis after the learner's i-th mistake.
Procedure   the learner is given the examples it gets wrong, and only those: for a conservative learner, such as the
            perceptron, that is what it learns from anyway. Stop when h_i has been right in
            (1/epsilon) ln(1/delta_i) rounds in a row, delta_i = delta / (i + 2)^2.
Guarantee   with probability at least 1 - delta the h_i on which it stops has an error of at most epsilon on new data.
            If the learner makes at most M mistakes it stops within (M + 1)((1/epsilon) ln((M + 2)^2 / delta) + 2)
            rounds. More generally, with the same probability, for all i at once: the error of h_i is at most
            ln(1/delta_i) / k_i, where k_i counts the rounds in which h_i was right before its first mistake. So where
            the examples end before a gap is large enough, the hypothesis for which that number is least is kept, with
            that bound.
Proof       a hypothesis of error e is right k times in a row with probability (1 - e)^k <= exp(-e k), which is at most
            delta_i where k >= ln(1/delta_i) / e; the delta_i sum to less than delta.
Memory      two hypotheses: the best so far and the one at work. Streams may be of any length.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, Theorem 6.15.

>>> from afterwit import Perceptron, adversaries
>>> stream = adversaries.separable(2000, 5, margin=0.2, seed=0)
>>> print(large_gap(Perceptron(), stream, epsilon=0.05).certificate.line())
large gap: error at most 0.05, with probability 95% (holds; Blum et al., Foundations of Data Science, Theorem 6.15)
>>> large_gap(Perceptron(), stream).certificate.bound < 0.01  # all of the stream, and the longest gap in it
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.batch._rounds import Source, fresh_copy
from afterwit.batch._theorem import BatchEvidence, BatchTheorem
from afterwit.batch.frozen import FrozenPredictor
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.inputs import CHANCE, DELTA, ERROR_RATE, IID, MISTAKE_BOUND
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import share
from afterwit.data.quantities import COUNT_OR_NONE, ln, plain, whole
from afterwit.errors import counted, invalid
from afterwit.sampling._shared import BLUM, SampleSize

#: How many predictions are made at once after a mistake; twice as many each time they are all right.
FIRST_LOOK = 32
MOST_AT_ONCE = 8192
#: The reciprocal of a smaller probability is near the end of all floats.
SMALLEST_RISK = 1e-300


def risk(number: Any, delta: Any) -> Any:
    """delta_i: how likely the bound on the hypothesis after i mistakes may fail."""
    return delta / ((number + 2) * (number + 2))


class LargeGap(BatchTheorem):
    """A hypothesis that was right many times in a row is rarely wrong."""

    name = "large gap"
    formula = "(1/k) ln((i + 2)^2 / delta) after k right predictions in a row, following mistake i"
    citation = f"{BLUM}, Theorem 6.15"

    @staticmethod
    def bound(right: Any, number: Any, delta: Any) -> Any:
        return math.log(1 / risk(number, delta)) / right if right else math.inf

    def certify(self, evidence: Any) -> Certificate:
        right, number, delta = evidence.right, evidence.number, evidence.delta
        bound = self.bound(right, number, delta) if evidence.reached is None else evidence.reached
        inputs = {"k": right, "i": number, "delta": delta, "observed": "in these k rounds"}
        return self.applied(evidence, bound, inputs)


class RightInARow(Theorem):
    """How many right predictions in a row are asked of the hypothesis after i mistakes."""

    id = "large-gap"
    name = LargeGap.name
    quantity = "right in a row"
    formula = "ceil(ln(({mistake} + 2)^2 / {delta}) / {error})"
    inputs = (Input("mistake", "i", "the number of the mistake before the gap", COUNT_OR_NONE), ERROR_RATE, DELTA)
    needs = f"{IID} and the learner changes on mistakes only; the error is then at most eps, {CHANCE}"
    citation = LargeGap.citation
    sense = ">="

    @staticmethod
    def bound(mistake: Any, error: Any, delta: Any) -> Any:
        share_of_delta = risk(mistake, delta)
        if not np.all(share_of_delta >= SMALLEST_RISK):
            allowed = f"such that delta / (i + 2)^2 is at least {SMALLEST_RISK:g}"
            raise invalid("mistake", allowed, plain(mistake))
        with np.errstate(over="ignore"):
            return whole_size(np.ceil(ln(1 / share_of_delta) / error), error)


class LargeGapSize(SampleSize):
    """How many examples are enough for the procedure to stop: the sum of all gaps, each rounded up."""

    id = RightInARow.id
    name = LargeGap.name
    formula = "(({mistakes} + 1) ln(1/{delta}) + 2 ln(({mistakes} + 2)!)) / {error} + {mistakes} + 1"
    inputs = (MISTAKE_BOUND, ERROR_RATE, DELTA)
    needs = f"{IID} and the learner changes on mistakes only; the run has halted by then"
    citation = f"{BLUM}, Theorem 6.15, the sum of its proof"
    rounding = "the next whole number"

    @staticmethod
    def bound(mistakes: Any, error: Any, delta: Any) -> Any:
        from scipy.special import gammaln

        with np.errstate(over="ignore"):
            size = np.ceil((2 * gammaln(mistakes + 3) - (mistakes + 1) * np.log(delta)) / error + mistakes + 1)
        return whole_size(size, error)


def whole_size(size: Any, error: Any) -> Any:
    """A number of examples as a whole number, if it is a number."""
    if not np.isfinite(size).all():
        raise invalid("error", "large enough for the sample size to be a number", plain(error))
    return whole(size)


@dataclass(frozen=True, kw_only=True)
class GapEvidence(BatchEvidence):
    """The hypothesis that was kept: right so many times in a row, after so many mistakes."""

    delta: float
    right: int
    number: int
    #: The error that was asked for, if the gap was large enough for it.
    reached: float | None


def large_gap(learner: Any, X: Any, y: Any = None, *, epsilon: Any = None, delta: Any = 0.05) -> FrozenPredictor:
    """The hypothesis on which the procedure stops. If the examples end first, the one with the best bound.

    learner  where to begin; it is copied, and never changed
    X, y     examples and labels, or a stream in place of both; a stream is read no further than needed
    epsilon  the error to reach; None goes through all examples and keeps the hypothesis with the best bound
    delta    how likely the bound may fail
    """
    delta = share("delta", delta)
    if epsilon is not None:
        epsilon = share("epsilon", epsilon)
    working = fresh_copy(learner, X, y)
    best, best_bound, best_gap, best_number = fresh_copy(working), math.inf, 0, 0
    mistakes = gap = rounds = 0
    reached = False
    with Source(learner, X, y) as source:
        block = source.take(FIRST_LOOK)
        at, look = 0, FIRST_LOOK
        while block is not None and not reached:
            part = block.part(at, min(block.count, at + look))
            if epsilon is not None:
                part = part.part(0, min(part.count, RightInARow.bound(mistakes, epsilon, delta) - gap))
            wrong = part.mistakes_of(working)
            right = int(np.argmax(wrong)) if wrong.any() else part.count
            gap, rounds = gap + right, rounds + right
            at, look = at + right, min(2 * look, MOST_AT_ONCE)
            reached = epsilon is not None and gap >= RightInARow.bound(mistakes, epsilon, delta)
            if reached or right < part.count:
                bound = LargeGap.bound(gap, mistakes, delta)
                if reached or bound < best_bound:
                    best, best_bound, best_gap, best_number = fresh_copy(working), bound, gap, mistakes
            if not reached and right < part.count:
                part.learn_one(working, right)
                mistakes, gap, rounds, at, look = mistakes + 1, 0, rounds + 1, at + 1, FIRST_LOOK
            if at == block.count:
                block, at = source.take(MOST_AT_ONCE), 0
    if not reached and LargeGap.bound(gap, mistakes, delta) < best_bound:
        best, best_bound, best_gap, best_number = working, LargeGap.bound(gap, mistakes, delta), gap, mistakes
    right_once = Assumption(
        "the hypothesis was right in a row of rounds", Basis.OBSERVED, best_gap > 0, counted(best_gap, "round")
    )
    fixed = Assumption("it did not change in these rounds: it is given mistakes only", Basis.ENFORCED, True)
    evidence = GapEvidence(
        subject=type(learner).__name__,
        rounds=rounds,
        happened=0.0,
        assumptions=(right_once, fixed),
        delta=delta,
        right=best_gap,
        number=best_number,
        reached=epsilon if reached else None,
    )
    return FrozenPredictor(best, "large_gap", LargeGap(delta).certify(evidence))
