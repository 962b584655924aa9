"""Gathering the evidence for the bounds of boosting: the weights run again over what the hypotheses predict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.boosting._bounds import TRAINING_MISTAKES
from afterwit.boosting._hypotheses import predicted_signs
from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Evidence
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.errors import InputError

#: The weights are computed in another way than by the learner; errors that differ by this much are the same.
TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class BoostingEvidence(Evidence):
    """What the rows say about the rounds."""

    rows: int
    gamma: float
    #: The weighted error of every round.
    errors: tuple[float, ...]
    mistakes: int
    largest_share: float

    @property
    def factor(self) -> float:
        """alpha, by which the weight of a row that is got wrong is multiplied."""
        return (0.5 + self.gamma) / (0.5 - self.gamma)

    def observed(self, theorem: Theorem) -> float:
        return float(self.mistakes) if theorem.quantity == TRAINING_MISTAKES else self.largest_share

    def ceiling(self, theorem: Theorem) -> Ceiling:
        if theorem.quantity == TRAINING_MISTAKES:
            return Ceiling(self.rows, "there are no more rows that could be wrong")
        return Ceiling(1.0, "no share is above 1")

    def applied(self, theorem: Theorem, bound: float, inputs: dict[str, float | str]) -> Certificate:
        """A bound beside what happened."""
        return self.certificate(
            theorem, bound, {"n": self.rows, "T": self.rounds, "gamma": self.gamma, **inputs}, self.weak_learning()
        )

    def weak_learning(self) -> Assumption:
        """Whether every round was as good as a weak learner's must be."""
        worst = int(np.argmax(self.errors))
        holds = self.errors[worst] <= 0.5 - self.gamma + TOLERANCE
        detail = (
            f"at most {self.errors[worst]:.4g}" if holds else f"it was {self.errors[worst]:.4g} in round {worst + 1}"
        )
        return Assumption("in every round the weighted error was at most 1/2 - gamma", Basis.OBSERVED, holds, detail)


def gather(learner: Any, X: Any, y: Any) -> BoostingEvidence:
    """What is known of the rows X, y to which Boosting was fitted."""
    rows, signs = read_examples(X, y, learner.labels)
    if not learner.hypotheses:
        raise InputError("Boosting has no certificate before a hypothesis has a vote")
    matrix = learner._matrix(rows)
    return evidence_of([predicted_signs(each, matrix) for each in learner.hypotheses], signs, learner.gamma)


def evidence_of(votes: list[Signs], signs: Signs, gamma: float) -> BoostingEvidence:
    """Run the weights again, in logarithms, over the predictions of every round."""
    step = math.log((0.5 + gamma) / (0.5 - gamma))
    logarithms = np.zeros(len(signs))
    total_votes = np.zeros(len(signs))
    errors = []
    for predicted in votes:
        weights = np.exp(logarithms - logarithms.max())
        wrong = predicted != signs
        errors.append(math.fsum(weights[wrong]) / math.fsum(weights))
        logarithms[wrong] += step
        total_votes += predicted
    right = signs * total_votes
    return BoostingEvidence(
        subject="Boosting",
        rounds=len(votes),
        rows=len(signs),
        gamma=gamma,
        errors=tuple(errors),
        mistakes=int(np.count_nonzero(np.where(total_votes >= 0, 1, -1) != signs)),
        largest_share=float((1 - right / len(votes)).max()) / 2,
    )
