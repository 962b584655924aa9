"""Random stopping: the hypothesis of a round that is drawn at random.

Setting     T examples drawn independently from one distribution; h_t is the hypothesis before round t, R(h_t) its error
            on new data.
Procedure   play all rounds, draw t uniformly from 1..T, return h_t.
Guarantee   for a learner with mistake bound M the expected error of h_t, over the examples and the draw, is at most
            M/T: with T = M/epsilon examples, at most epsilon. And with no mistake bound, with probability at least 1
            - delta over the examples: the expected error over the draw is at most the share of mistakes made while
            learning plus sqrt(2 ln(1/delta) / T).
Memory      two hypotheses. The round is drawn while the stream is read (round t replaces the choice so far with
            probability 1/t), so the length of the stream need not be known. About ln T copies are made.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, Theorem 6.14 (5.12 in a later edition); Mohri,
            Rostamizadeh & Talwalkar 2018, Lemma 8.14.

>>> from afterwit import Perceptron, adversaries
>>> stream = adversaries.separable(4000, 20, margin=0.2, seed=0)
>>> predictor = random_stopping(Perceptron(), stream, mistake_bound=25, seed=0)  # (1 / 0.2)^2
>>> predictor.certificate.bound, predictor.certificate.theorem.chance
(0.00625, 'on average over the sample and the time')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.batch._rounds import Block, Source, fresh_copy
from afterwit.batch._theorem import BatchEvidence, BatchTheorem, with_probability
from afterwit.batch.frozen import FrozenPredictor
from afterwit.batch.progressive import ProgressiveBound
from afterwit.core.certificate import Assumption, Basis, Certificate, apply
from afterwit.core.inputs import ERROR_RATE, IID, MISTAKE_BOUND, SAMPLES
from afterwit.data import checks
from afterwit.data.quantities import smallest_count
from afterwit.errors import InputError, invalid
from afterwit.sampling._shared import BLUM, SampleSize


@dataclass(frozen=True, kw_only=True)
class StoppingEvidence(BatchEvidence):
    """A run that was stopped in a random round."""

    delta: float
    mistakes: int
    #: The round whose hypothesis was taken.
    stop: int
    #: The mistakes that the learner is promised not to exceed, if such a number is known.
    mistake_bound: float | None


class RandomStopping(BatchTheorem):
    """Few mistakes on any sequence: a random one of the hypotheses is rarely wrong."""

    id = "random-stopping"
    name = "random stopping"
    formula = "{mistakes} / {samples}"
    inputs = (MISTAKE_BOUND, SAMPLES)
    needs = f"{IID}; the run is stopped at a time drawn uniformly"
    citation = f"{BLUM}, Theorem 6.14"
    chance = "on average over the sample and the time"
    beforehand = True

    @staticmethod
    def bound(mistakes: Any, samples: Any) -> Any:
        return mistakes / samples

    def certify(self, evidence: Any) -> Certificate | None:
        most, rounds = evidence.mistake_bound, evidence.rounds
        if most is None:
            return None
        statement = f"no sequence of such examples costs more than M = {most:g} mistakes"
        kept = None if evidence.mistakes <= most else False
        promise = Assumption(statement, Basis.PROMISED, kept, f"this one cost {evidence.mistakes:,}")
        inputs = {"M": most, "T": rounds, "observed": "while learning", "t": evidence.stop}
        return self.applied(evidence, self.bound(most, rounds), inputs, promise)


class RandomStoppingSize(SampleSize):
    """The smallest sample for which random stopping gives an error."""

    id = RandomStopping.id
    name = RandomStopping.name
    formula = "{mistakes} / {error}"
    inputs = (MISTAKE_BOUND, ERROR_RATE)
    needs = RandomStopping.needs
    citation = RandomStopping.citation
    chance = RandomStopping.chance

    @staticmethod
    def bound(mistakes: Any, error: Any) -> Any:
        with np.errstate(over="ignore"):
            guess = np.divide(mistakes, error)
        return smallest_count(lambda n: RandomStopping.bound(mistakes, n), error, guess, "error")


class ProgressiveStopping(BatchTheorem):
    """The same with the mistakes there were in place of a mistake bound."""

    name = "random stopping, mistakes as they were"
    formula = "mistakes / T + sqrt(2 ln(1/delta) / T)"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.14; Mohri et al. 2018, Lemma 8.14"
    foreseeable = False

    def __init__(self, delta: float | None = None, quantity: str = "") -> None:
        super().__init__(delta, quantity)
        if delta is not None:
            self.chance = f"on average over its own draw, {with_probability(delta)} over the examples"

    def certify(self, evidence: Any) -> Certificate:
        rounds, delta = evidence.rounds, evidence.delta
        inputs = {"T": rounds, "delta": delta, "observed": "while learning", "t": evidence.stop}
        return self.applied(evidence, ProgressiveBound.bound(evidence.happened, rounds, delta), inputs)


def random_stopping(
    learner: Any, X: Any, y: Any = None, *, seed: Any, mistake_bound: Any = None, delta: Any = 0.05
) -> FrozenPredictor:
    """The hypothesis of a random round.

    learner        where to begin; it is copied, and never changed
    X, y           examples and labels, or a stream in place of both
    seed           of the draw
    mistake_bound  M, a number of mistakes that the learner exceeds on no sequence of such examples, if one is known
    delta          how likely the bound without M may fail
    """
    delta = checks.share("delta", delta)
    if mistake_bound is not None and not (checks.is_number(mistake_bound) and mistake_bound >= 0):
        raise invalid("mistake_bound", "a number of mistakes, or None", mistake_bound)
    random = np.random.default_rng(checks.seed("seed", seed))
    working = fresh_copy(learner, X, y)
    chosen, stop = fresh_copy(working), 1
    rounds = mistakes = 0
    following = _next_choice(stop, random)
    with Source(learner, X, y) as source:
        for block in source.blocks():
            at = 0
            while at < block.count:
                until = min(block.count, following - 1 - rounds + at)
                mistakes += _learned(block.part(at, until), working) if until > at else 0
                rounds += until - at
                at = until
                if at < block.count:
                    chosen, stop = fresh_copy(working), following
                    following = _next_choice(stop, random)
    if rounds == 0:
        raise InputError("X must be at least one example; received none")
    evidence = StoppingEvidence(
        subject=type(learner).__name__,
        rounds=rounds,
        happened=mistakes / rounds,
        delta=delta,
        mistakes=mistakes,
        stop=stop,
        mistake_bound=None if mistake_bound is None else float(mistake_bound),
    )
    certificate = apply((RandomStopping(), ProgressiveStopping(delta)), evidence)
    return FrozenPredictor(chosen, "random_stopping", certificate)


def _next_choice(stop: int, random: np.random.Generator) -> int:
    """The next round to be chosen: P(later than t) = stop / t, as if each t were chosen with probability 1/t."""
    share = 1.0 - random.random()
    return math.floor(stop / share) + 1


def _learned(part: Block, learner: Any) -> int:
    return int(np.count_nonzero(part.learn(learner).mistaken))
