"""The progressive bound: what the mistakes made while learning say about new data.

Setting     examples drawn independently from one distribution; h_t is the learner's hypothesis before round t, R(h_t)
            its error on new data, L_t <= M its loss in round t.
Guarantee   with probability at least 1 - delta: (1/T) sum_t R(h_t) <= (1/T) sum_t L_t + M sqrt(2 ln(1/delta) / T).
            Each example is new to the hypothesis that predicts it, so that no test set is set aside. The bound is on
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

import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from afterwit.batch._rounds import probability
from afterwit.batch._theorem import BatchTheorem
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.data.checks import positive_number
from afterwit.errors import invalid


class ProgressiveBound(BatchTheorem):
    """The mean error of the hypotheses a learner went through."""

    name = "progressive bound"
    statement = "mean of R(h_t) <= mean loss while learning + M sqrt(2 ln(1/delta) / T)"
    citation = "Mohri et al. 2018, Lemma 8.14"
    foreseeable = False

    @staticmethod
    def bound(mean_loss: Any, rounds: Any, delta: Any, largest_loss: Any = 1.0) -> Any:
        return mean_loss + largest_loss * math.sqrt(2 * math.log(1 / delta) / rounds)


def progressive_bound(
    record: Any = None, delta: Any = 0.05, *, rounds: Any = None, loss: Any = None, largest_loss: Any = 1.0
) -> Certificate:
    """The bound for a record of `play`, or anything else with ``rounds`` and ``mistakes``; or for counts.

    record        what happened, in one pass
    delta         how likely the bound may fail
    rounds, loss  in place of a record: the number of rounds and the total loss, such as the number of mistakes
    largest_loss  M, the greatest loss there can be in a round: 1 for mistakes
    """
    delta = probability("delta", delta)
    largest_loss = positive_number("largest_loss", largest_loss)
    subject = "online learner"
    if record is not None:
        if rounds is not None or loss is not None or not (hasattr(record, "rounds") and hasattr(record, "mistakes")):
            raise invalid("record", "a Record, or left out where rounds and loss are given", record)
        subject = getattr(record, "learner", None) or type(record).__name__
        rounds, loss = record.rounds, record.mistakes
    if not isinstance(rounds, Integral) or isinstance(rounds, bool) or rounds < 1:
        raise invalid("rounds", "a whole number, at least 1", rounds)
    most = largest_loss * int(rounds)
    if not isinstance(loss, Real) or isinstance(loss, bool) or not 0 <= float(loss) <= most:
        raise invalid("loss", f"a number from 0 to {most:g}, the most that {rounds} rounds can cost", loss)
    mean = float(loss) / int(rounds)
    passes = getattr(record, "passes", 1)
    once = Assumption("every round's example was new: one pass, T fixed beforehand", Basis.PROMISED, None)
    if passes > 1:
        once = replace(once, basis=Basis.OBSERVED, holds=False, detail=f"the stream was played {passes:,} times")
    return ProgressiveBound(delta).certify(
        {
            "subject": subject if isinstance(subject, str) else type(record).__name__,
            "rounds": int(rounds),
            "observed": mean,
            "bound": ProgressiveBound.bound(mean, int(rounds), delta, largest_loss) if passes == 1 else None,
            "inputs": {"M": largest_loss, "T": int(rounds), "delta": delta, "observed": "while learning"},
            "assumptions": (once,),
        }
    )
