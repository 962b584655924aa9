"""The contrary adversary: the outcome is what the learner did not predict.

Expert 1 says 0 in every round, expert 2 says 1. Each outcome is the opposite of the prediction, so that a learner whose
predictions are 0 and 1 is wrong in all T rounds, while one of the experts is right in at least T/2 of them: the
regret is at least T/2. So no deterministic learner has a regret of o(T) under the zero-one loss: that needs randomness,
or predictions between 0 and 1. A prediction between them counts as 1 if it is at least 1/2, and its loss is its
distance from the outcome.

Source      Mohri, Rostamizadeh & Talwalkar 2018, section 8.2.3.

>>> from afterwit import Perceptron
>>> game = contrary(Perceptron(labels=(0, 1)), 50)
>>> game.loss, game.expert_losses, game.regret
(50.0, (25.0, 25.0), 25.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.data.checks import count, is_number
from afterwit.errors import invalid


@dataclass(frozen=True)
class ContraryGame:
    """What happened: the outcomes, the learner's total loss and those of the two experts."""

    outcomes: tuple[int, ...]
    loss: float
    expert_losses: tuple[float, float]

    @property
    def regret(self) -> float:
        """The learner's loss less that of the better expert."""
        return self.loss - min(self.expert_losses)


def contrary(learner: Any, rounds: int) -> ContraryGame:
    """Play against a learner, which learns from every round.

    learner  anything with ``predict_one(advice)`` and ``learn_one(advice, outcome)``, whose predictions are 0 and 1 or
             between them; a deterministic one for the bound
    rounds   how many
    """
    rounds = count("rounds", rounds)
    if isinstance(learner, type) or not (hasattr(learner, "predict_one") and hasattr(learner, "learn_one")):
        raise invalid("learner", "an object with predict_one and learn_one", learner)
    advice = np.array([0.0, 1.0])
    outcomes: list[int] = []
    loss = 0.0
    for _ in range(rounds):
        prediction = learner.predict_one(advice.copy())
        if not (is_number(prediction) or isinstance(prediction, (bool, np.bool_))) or not 0 <= prediction <= 1:
            raise invalid("the learner's prediction", "a number from 0 to 1", prediction)
        prediction = float(prediction)
        outcome = 0 if prediction >= 0.5 else 1
        learner.learn_one(advice.copy(), outcome)
        loss += abs(prediction - outcome)
        outcomes.append(outcome)
    ones = float(sum(outcomes))
    return ContraryGame(tuple(outcomes), loss, (ones, rounds - ones))
