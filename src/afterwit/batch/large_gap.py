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
from typing import Any

import numpy as np

from afterwit.batch._rounds import Source, fresh_copy, probability
from afterwit.batch._theorem import BatchTheorem
from afterwit.batch.frozen import FrozenPredictor
from afterwit.core.certificate import Assumption, Basis

#: How many predictions are made at once after a mistake; twice as many each time they are all right.
FIRST_LOOK = 32
MOST_AT_ONCE = 8192


def risk(number: int, delta: float) -> float:
    """delta_i: how likely the bound on the hypothesis after i mistakes may fail."""
    return delta / (number + 2) ** 2


class LargeGap(BatchTheorem):
    """A hypothesis that was right many times in a row is rarely wrong."""

    name = "large gap"
    statement = "error <= (1/k) ln((i + 2)^2 / delta) after k right predictions in a row, following mistake i"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.15"

    @staticmethod
    def bound(right: Any, number: Any, delta: Any) -> Any:
        return math.log(1 / risk(number, delta)) / right if right else math.inf

    @staticmethod
    def needed(epsilon: Any, number: Any, delta: Any) -> int:
        """How many right predictions in a row are asked of the hypothesis after i mistakes."""
        exact: float = math.log(1 / risk(number, delta)) / epsilon
        return math.ceil(exact)


def large_gap(learner: Any, X: Any, y: Any = None, *, epsilon: Any = None, delta: Any = 0.05) -> FrozenPredictor:
    """The hypothesis on which the procedure stops; if the examples end before, the one with the best bound.

    learner  where to begin; it is copied, and never changed
    X, y     examples and labels, or a stream in place of both; a stream is read no further than needed
    epsilon  the error to reach; None goes through all examples and keeps the hypothesis with the best bound
    delta    how likely the bound may fail
    """
    delta = probability("delta", delta)
    if epsilon is not None:
        epsilon = probability("epsilon", epsilon)
    working = fresh_copy(learner)
    best, best_bound, best_gap, best_number = fresh_copy(working), math.inf, 0, 0
    mistakes = gap = rounds = 0
    reached = False
    with Source(learner, X, y) as source:
        block = source.take(FIRST_LOOK)
        at, look = 0, FIRST_LOOK
        while block is not None and not reached:
            part = block.part(at, min(block.count, at + look))
            if epsilon is not None:
                part = part.part(0, min(part.count, LargeGap.needed(epsilon, mistakes, delta) - gap))
            wrong = part.mistakes_of(working)
            right = int(np.argmax(wrong)) if wrong.any() else part.count
            gap, rounds = gap + right, rounds + right
            at, look = at + right, min(2 * look, MOST_AT_ONCE)
            reached = epsilon is not None and gap >= LargeGap.needed(epsilon, mistakes, delta)
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
        "the hypothesis was right in a row of rounds", Basis.OBSERVED, best_gap > 0, f"{best_gap:,} rounds"
    )
    fixed = Assumption("it did not change in these rounds: it is given mistakes only", Basis.ENFORCED, True)
    certificate = LargeGap(delta).certify(
        {
            "subject": type(learner).__name__,
            "rounds": rounds,
            "observed": 0.0,
            "bound": epsilon if reached else best_bound if best_gap else None,
            "inputs": {"k": best_gap, "i": best_number, "delta": delta, "observed": "in these k rounds"},
            "assumptions": (right_once, fixed),
        }
    )
    return FrozenPredictor(best, "large_gap", certificate)
