"""The theorems of boosting.

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
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate
from afterwit.core.inputs import ROUNDS, SAMPLES
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import BELOW_HALF, exp, ln, whole

SECTION = "Blum et al., Foundations of Data Science, section 6.7"
WEAK = "in every round the weak learner is right on that share of the weight"
GAMMA = Input("gamma", "gamma", "the weak learner is right on a share 1/2 + gamma of the weight", BELOW_HALF)
TRAINING_MISTAKES, WRONG_VOTES = "training mistakes", "largest share of wrong votes"


class TrainingMistakesBound(Theorem):
    """The theorem as it is stated."""

    id = "boosting"
    name = "boosting bound"
    quantity = TRAINING_MISTAKES
    formula_quantity = "mistakes"
    formula = "{samples} exp(-2 {rounds} {gamma}^2)"
    inputs = (SAMPLES, GAMMA, ROUNDS)
    needs = f"{WEAK}; T is odd"
    citation = SECTION
    beforehand = True

    @staticmethod
    def bound(samples: Any, rounds: Any, gamma: Any) -> Any:
        return samples * exp(-2 * rounds * gamma * gamma)

    def certify(self, evidence: Any) -> Certificate:
        made: Certificate = evidence.applied(self, self.bound(evidence.rows, evidence.rounds, evidence.gamma), {})
        return made


class SharperTrainingMistakesBound(Theorem):
    """The last line of its proof before 1 - x <= e^(-x)."""

    name = "sharper boosting bound"
    quantity = TRAINING_MISTAKES
    formula = "n (1 - 4 gamma^2)^(T/2)"
    citation = SECTION
    beforehand = True

    @staticmethod
    def bound(samples: Any, rounds: Any, gamma: Any) -> Any:
        return samples * math.exp(rounds / 2 * math.log1p(-4 * gamma * gamma))

    def certify(self, evidence: Any) -> Certificate:
        made: Certificate = evidence.applied(self, self.bound(evidence.rows, evidence.rounds, evidence.gamma), {})
        return made


class ObservedErrorsBound(Theorem):
    """The same with the weighted errors as they were."""

    name = "boosting bound by the errors of the rounds"
    quantity = TRAINING_MISTAKES
    formula = "n alpha^(-T/2) prod_t (1 + (alpha - 1) epsilon_t)"
    citation = SECTION
    foreseeable = False

    @staticmethod
    def bound(samples: Any, factor: Any, errors: Any) -> Any:
        growth = math.fsum(math.log1p((factor - 1) * error) for error in errors)
        return samples * math.exp(growth - len(errors) / 2 * math.log(factor))

    def certify(self, evidence: Any) -> Certificate:
        bound = self.bound(evidence.rows, evidence.factor, evidence.errors)
        mean = math.fsum(evidence.errors) / evidence.rounds
        made: Certificate = evidence.applied(self, bound, {"mean epsilon": mean})
        return made


class WrongVotesBound(Theorem):
    """No row has many more wrong votes than the weak learner's weighted errors: with gamma near the largest possible,
    the vote's smallest margin comes near the value of the game.
    """

    name = "margin bound of the vote"
    quantity = WRONG_VOTES
    formula = "1/2 - gamma + ln n / (T ln alpha) + ln alpha / 8"
    citation = "Mohri et al. 2018, Theorem 8.6, for the weights on the rows; Freund & Schapire 1996"
    beforehand = True

    @staticmethod
    def bound(samples: Any, rounds: Any, gamma: Any) -> Any:
        rate = math.log((0.5 + gamma) / (0.5 - gamma))
        return 0.5 - gamma + math.log(samples) / (rounds * rate) + rate / 8

    def certify(self, evidence: Any) -> Certificate:
        made: Certificate = evidence.applied(self, self.bound(evidence.rows, evidence.rounds, evidence.gamma), {})
        return made


class RoundsNeeded(Theorem):
    """How many rounds leave no mistake on the sample: the fewest for which the boosting bound is below 1."""

    id = "boosting-rounds"
    name = "rounds of boosting"
    quantity = "rounds"
    formula = "ln({samples}) / (2 {gamma}^2)"
    inputs = (SAMPLES, GAMMA)
    needs = f"{WEAK}; the vote is then right on the whole sample"
    citation = SECTION
    sense = ">"
    rounding = "the smallest whole number"

    @staticmethod
    def bound(samples: Any, gamma: Any) -> Any:
        return whole(np.floor(ln(samples) / (2 * gamma * gamma)) + 1)


BOUNDS: tuple[Theorem, ...] = (
    TrainingMistakesBound(),
    SharperTrainingMistakesBound(),
    ObservedErrorsBound(),
    WrongVotesBound(),
)
