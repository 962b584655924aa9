"""The progressive bound: what the mistakes made while learning say about new data.

Setting     examples drawn independently from one distribution; h_t is the learner's hypothesis before round t, R(h_t)
            its error on new data, L_t <= M its loss in round t.
Guarantee   with probability at least 1 - delta: (1/T) sum_t R(h_t) <= (1/T) sum_t L_t + M sqrt(2 ln(1/delta) / T).
            Each example is new to the hypothesis that predicts it, so no test set is needed. The bound is on
            the mean error of the hypotheses, for the number of rounds T that was fixed beforehand; for a look at any
            time, see `confidence_sequence`.
Assumes     one pass: in a second one the examples are not new. Labels may come late.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Lemma 8.14.

>>> from afterwit import Perceptron, adversaries, play
>>> record = play(Perceptron(), adversaries.separable(5000, 10, margin=0.1, seed=0))
>>> certificate = progressive_bound(record)
>>> record.mistakes, round(certificate.bound, 4), certificate.theorem.chance
(18, 0.0382, 'with probability 95%')
>>> round(progressive_bound(rounds=5000, loss=18).bound, 4)
0.0382
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.batch._theorem import BatchEvidence, BatchTheorem
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.inputs import CHANCE, DELTA, IID, LOSS_RANGE, ROUNDS
from afterwit.core.theorem import Input
from afterwit.data.checks import count, is_number, positive_number, share
from afterwit.data.quantities import NOT_NEGATIVE, POSITIVE, ln, smallest_count
from afterwit.errors import counted, invalid
from afterwit.sampling._shared import SampleSize

MEAN_LOSS = Input("mean_loss", "L", "the learner's mean loss, each round before it learned", NOT_NEGATIVE)


class ProgressiveBound(BatchTheorem):
    """The mean error of the hypotheses that a learner had, one after the other."""

    id = "progressive"
    name = "progressive bound"
    formula_quantity = "mean risk"
    formula = "{mean_loss} + {loss_range} sqrt(2 ln(1/{delta}) / {rounds})"
    inputs = (MEAN_LOSS, ROUNDS, DELTA, LOSS_RANGE)
    needs = f"{IID} and losses are between 0 and M"
    citation = "Mohri et al. 2018, Lemma 8.14"
    chance = CHANCE
    foreseeable = False
    largest = "M"

    @staticmethod
    def gap(rounds: Any, delta: Any, loss_range: Any) -> Any:
        """How far the mean risk may be above the mean loss."""
        return loss_range * np.sqrt(2 * ln(1 / delta) / rounds)

    @staticmethod
    def bound(mean_loss: Any, rounds: Any, delta: Any, loss_range: Any = 1.0) -> Any:
        return mean_loss + ProgressiveBound.gap(rounds, delta, loss_range)

    def certify(self, evidence: Any) -> Certificate:
        mean, rounds, delta, most = evidence.happened, evidence.rounds, evidence.delta, evidence.largest_loss
        inputs = {"M": most, "T": rounds, "delta": delta, "observed": "while learning"}
        return self.applied(evidence, self.bound(mean, rounds, delta, most), inputs)


class ProgressiveSize(SampleSize):
    """The fewest rounds after which the mean risk is near the mean loss."""

    id = ProgressiveBound.id
    name = ProgressiveBound.name
    quantity = "T"
    formula = "2 ln(1/{delta}) ({loss_range} / {gap})^2"
    inputs = (Input("gap", "eps", "what the mean risk may lie above the mean loss", POSITIVE), DELTA, LOSS_RANGE)
    needs = ProgressiveBound.needs
    citation = ProgressiveBound.citation

    @staticmethod
    def bound(gap: Any, delta: Any, loss_range: Any) -> Any:
        with np.errstate(over="ignore"):
            guess = -2 * np.log(delta) * np.square(loss_range / gap)
        return smallest_count(lambda T: ProgressiveBound.gap(T, delta, loss_range), gap, guess, "gap")


@dataclass(frozen=True, kw_only=True)
class ProgressiveEvidence(BatchEvidence):
    """The mean loss while learning, and the most that a round can cost."""

    delta: float
    largest_loss: float


def progressive_bound(
    record: Any = None, delta: Any = 0.05, *, rounds: Any = None, loss: Any = None, largest_loss: Any = 1.0
) -> Certificate:
    """The bound for a record of `play`, or anything else with ``rounds`` and ``mistakes``; or for counts.

    record        what happened, in one pass
    delta         how likely the bound may fail
    rounds, loss  in place of a record: the number of rounds and the total loss, such as the number of mistakes
    largest_loss  M, the greatest loss there can be in a round: 1 for mistakes
    """
    delta = share("delta", delta)
    largest_loss = positive_number("largest_loss", largest_loss)
    subject = "online learner"
    if record is not None:
        if rounds is not None or loss is not None or not (hasattr(record, "rounds") and hasattr(record, "mistakes")):
            raise invalid("record", "a Record, or left out where rounds and loss are given", record)
        subject = getattr(record, "learner", None) or type(record).__name__
        rounds, loss = record.rounds, record.mistakes
    rounds = count("rounds", rounds)
    most = largest_loss * rounds
    if not is_number(loss) or not 0 <= float(loss) <= most:
        raise invalid("loss", f"a number from 0 to {most:g}, the most that {counted(rounds, 'round')} can cost", loss)
    passes = getattr(record, "passes", 1)
    once = Assumption("every round's example was new: one pass, T fixed beforehand", Basis.PROMISED, None)
    if passes > 1:
        once = replace(once, basis=Basis.OBSERVED, holds=False, detail=f"the stream was played {passes:,} times")
    evidence = ProgressiveEvidence(
        subject=subject if isinstance(subject, str) else type(record).__name__,
        rounds=rounds,
        happened=float(loss) / rounds,
        assumptions=(once,),
        delta=delta,
        largest_loss=largest_loss,
    )
    return ProgressiveBound(delta).certify(evidence)
