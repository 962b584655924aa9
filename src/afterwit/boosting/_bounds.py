"""The theorems of boosting, and the evidence for them, computed anew from the hypotheses' predictions.

With m wrong rows in the end, T rounds and epsilon_t the weighted error of round t: a row that the majority gets wrong
was wrong at least T/2 times, so that its weight is at least alpha^(T/2); and a round multiplies the total weight by
1 + (alpha - 1) epsilon_t, which is at most 1 + 2 gamma. Hence m alpha^(T/2) <= n (1 + 2 gamma)^T.

The bound on the shares is another one. The weights on the rows are those of exponential weights at the rate ln alpha,
for a player who pays 1 where a hypothesis is right: over T rounds he pays at least 1/2 + gamma on average, and by
Theorem 8.6 that is at most what the best row pays, the smallest share of right votes, and ln n / (T ln alpha) +
ln alpha / 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.core.certificate import Assumption, Basis, Certificate, tightest_first
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs

SECTION = "Blum et al., Foundations of Data Science, section 6.7"
TOLERANCE = 1e-9


@dataclass(frozen=True)
class BoostingEvidence:
    """What the rows say about the rounds."""

    rows: int
    gamma: float
    errors: tuple[float, ...]
    mistakes: int
    largest_share: float

    @property
    def rounds(self) -> int:
        return len(self.errors)

    @property
    def factor(self) -> float:
        return (0.5 + self.gamma) / (0.5 - self.gamma)

    def certify(self, theorem: Theorem, observed: float, bound: float, inputs: dict[str, float | str]) -> Certificate:
        """A bound beside what happened, if every round was as good as a weak learner's must be."""
        worst = int(np.argmax(self.errors))
        weak = self.errors[worst] <= 0.5 - self.gamma + TOLERANCE
        assumption = Assumption(
            "in every round the weighted error was at most 1/2 - gamma",
            Basis.OBSERVED,
            weak,
            f"at most {self.errors[worst]:.4g}" if weak else f"it was {self.errors[worst]:.4g} in round {worst + 1}",
        )
        return Certificate(
            theorem=theorem,
            subject="Boosting",
            rounds=self.rounds,
            observed=observed,
            bound=bound if weak else None,
            assumptions=(assumption,),
            inputs={"n": self.rows, "T": self.rounds, "gamma": self.gamma, **inputs},
        )

    def certificate(self) -> Certificate:
        """The bounds on the mistakes, the tightest first, and then the one on the votes."""
        found = [theorem.certify(self) for theorem in BOUNDS]
        *mistakes, shares = (certificate for certificate in found if certificate is not None)
        best = tightest_first(mistakes)
        return replace(best, others=(*best.others, shares))


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
    mistakes = int(np.count_nonzero(np.where(total_votes >= 0, 1, -1) != signs))
    share = float((1 - right / len(votes)).max()) / 2
    return BoostingEvidence(len(signs), gamma, tuple(errors), mistakes, share)


class TrainingMistakesBound(Theorem):
    """The theorem as it is stated."""

    name = "boosting bound"
    statement = "training mistakes <= n e^(-2 T gamma^2)"
    citation = SECTION
    quantity = "training mistakes"

    @staticmethod
    def bound(rows: int, rounds: int, gamma: float) -> float:
        return rows * math.exp(-2 * rounds * gamma * gamma)

    def certify(self, evidence: Any) -> Certificate:
        bound = self.bound(evidence.rows, evidence.rounds, evidence.gamma)
        result: Certificate = evidence.certify(self, float(evidence.mistakes), bound, {})
        return result


class SharperTrainingMistakesBound(TrainingMistakesBound):
    """The last line of its proof before 1 - x <= e^(-x)."""

    name = "sharper boosting bound"
    statement = "training mistakes <= n (1 - 4 gamma^2)^(T/2)"

    @staticmethod
    def bound(rows: int, rounds: int, gamma: float) -> float:
        return rows * math.exp(rounds / 2 * math.log1p(-4 * gamma * gamma))


class ObservedErrorsBound(Theorem):
    """The same with the weighted errors as they were."""

    name = "boosting bound by the errors of the rounds"
    statement = "training mistakes <= n alpha^(-T/2) prod_t (1 + (alpha - 1) epsilon_t)"
    citation = SECTION
    quantity = "training mistakes"
    foreseeable = False

    @staticmethod
    def bound(rows: int, factor: float, errors: tuple[float, ...]) -> float:
        growth = math.fsum(math.log1p((factor - 1) * error) for error in errors)
        return rows * math.exp(growth - len(errors) / 2 * math.log(factor))

    def certify(self, evidence: Any) -> Certificate:
        bound = self.bound(evidence.rows, evidence.factor, evidence.errors)
        inputs: dict[str, float | str] = {"mean epsilon": math.fsum(evidence.errors) / evidence.rounds}
        result: Certificate = evidence.certify(self, float(evidence.mistakes), bound, inputs)
        return result


class WrongVotesBound(Theorem):
    """No row has many more wrong votes than the weak learner's weighted errors: with gamma near the largest possible,
    the vote's smallest margin comes near the value of the game.
    """

    name = "margin bound of the vote"
    statement = "every row's share of wrong votes <= 1/2 - gamma + ln n / (T ln alpha) + ln alpha / 8"
    citation = "Mohri et al. 2018, Theorem 8.6, for the weights on the rows; Freund & Schapire 1996"
    quantity = "largest share of wrong votes"

    @staticmethod
    def bound(rows: int, rounds: int, gamma: float) -> float:
        rate = math.log((0.5 + gamma) / (0.5 - gamma))
        return 0.5 - gamma + math.log(rows) / (rounds * rate) + rate / 8

    def certify(self, evidence: Any) -> Certificate:
        bound = self.bound(evidence.rows, evidence.rounds, evidence.gamma)
        result: Certificate = evidence.certify(self, evidence.largest_share, bound, {})
        return result


BOUNDS: tuple[Theorem, ...] = (
    TrainingMistakesBound(),
    SharperTrainingMistakesBound(),
    ObservedErrorsBound(),
    WrongVotesBound(),
)
