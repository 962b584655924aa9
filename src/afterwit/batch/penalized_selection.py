"""Penalised selection: of all hypotheses the one that did best on the examples that came after it.

Setting     T examples drawn independently from one distribution; h_i is the hypothesis before round i, m_i its loss
            on the examples i, ..., T, a loss of at most 1: mistakes, or any other. Nothing is said about convexity.
Procedure   return the h_i with the least m_i / (T - i + 1) + c(T - i + 1), where c(x) = sqrt(ln(T (T + 1) / delta) /
            (2 x)) makes up for few examples.
Guarantee   with probability at least 1 - delta, both
            R(h) <= (1/T) sum_i L(h_i(x_i), y_i) + 6 sqrt(ln(2 (T + 1) / delta) / T)
            R(h) <= m_i / (T - i + 1) + c(T - i + 1), the least itself, which is mostly much less.
Proof       the second, for all i at once: Hoeffding, each with probability delta / (T (T + 1)), from both sides. The
            first is the exercise; its steps need a further event of probability (delta / (2 (T + 1)))^2, and all
            together fail with probability at most delta as soon as T >= 2 (for T = 1 it is above 1).
Cost        a hypothesis lives from one change of the learner to the next, so that there are as many as mistakes, and
            one more, for a conservative learner. Each predicts only what comes after its life, and is dropped as soon
            as its losses so far are too large to win. Those that had to predict anything are "in contention".
            Learners that change in every round have T hypotheses: ``every`` considers fewer of them.
Memory      the examples; a stream is read to its end. Of the hypotheses, a portion of fixed size (16 million
            weights), or 64 copies of a learner that is not linear.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Exercise 8.10.

>>> from afterwit import Perceptron, adversaries
>>> stream = adversaries.label_noise(adversaries.separable(20_000, 10, margin=0.1, seed=0), 0.05, seed=1)
>>> predictor = penalized_selection(Perceptron(), stream)
>>> print(predictor.certificate.line())
penalised risk estimate: error at most 0.08063, with probability 95% (holds; Mohri et al. 2018, Exercise 8.10 (c))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.batch._hypotheses import (
    Floats,
    Hypotheses,
    Indices,
    Loss,
    checked_losses,
    hypotheses_of,
)
from afterwit.batch._rounds import Block, Source, fresh_copy
from afterwit.batch._theorem import BatchEvidence, BatchTheorem
from afterwit.batch.frozen import FrozenPredictor
from afterwit.batch.progressive import MEAN_LOSS
from afterwit.core.certificate import Assumption, Basis, Certificate, apply
from afterwit.core.inputs import CHANCE, DELTA, IID, ROUNDS
from afterwit.data.checks import count, share
from afterwit.data.quantities import ln
from afterwit.errors import InputError, invalid

#: The hypotheses with the longest lives go first: what they reach the others have to beat.
PILOTS = 4


@dataclass(frozen=True, kw_only=True)
class SelectionEvidence(BatchEvidence):
    """The hypothesis that was selected; what happened is the mean loss while learning."""

    delta: float
    #: What it loses on the last so many examples, from the round after whose hypothesis it is.
    loss: float
    examples: int
    hypotheses: int
    in_contention: int
    #: Whether the hypothesis of every round was considered.
    considered_all: bool


class PenalizedSelection(BatchTheorem):
    """The selected hypothesis against the mean loss while learning."""

    id = "penalized-selection"
    name = "penalised selection"
    formula_quantity = "risk"
    formula = "{mean_loss} + 6 sqrt(ln(2 ({rounds} + 1) / {delta}) / {rounds})"
    inputs = (MEAN_LOSS, ROUNDS, DELTA)
    needs = f"{IID} and losses are between 0 and 1"
    citation = "Mohri et al. 2018, Exercise 8.10"
    chance = CHANCE
    foreseeable = False

    @staticmethod
    def bound(mean_loss: Any, rounds: Any, delta: Any) -> Any:
        return mean_loss + 6 * np.sqrt(ln(2 * (rounds + 1) / delta) / rounds)

    def certify(self, evidence: Any) -> Certificate | None:
        if not evidence.considered_all:
            return None
        rounds, delta = evidence.rounds, evidence.delta
        inputs = {"T": rounds, "delta": delta, "observed": "while learning"}
        return self.applied(evidence, self.bound(evidence.happened, rounds, delta), inputs)


class PenalizedEstimate(BatchTheorem):
    """The selected hypothesis by its own loss on the examples after it."""

    name = "penalised risk estimate"
    formula_quantity = "risk"
    formula = "m / n + sqrt(ln(T (T + 1) / delta) / (2 n)), with m its loss on the last n examples"
    citation = "Mohri et al. 2018, Exercise 8.10 (c)"
    foreseeable = False

    @staticmethod
    def bound(loss: Any, examples: Any, rounds: Any, delta: Any) -> Any:
        return loss / examples + np.sqrt(math.log(rounds * (rounds + 1) / delta) / (2 * examples))

    def certify(self, evidence: Any) -> Certificate:
        rounds, delta, loss, examples = evidence.rounds, evidence.delta, evidence.loss, evidence.examples
        inputs = {
            "T": rounds,
            "delta": delta,
            "i": rounds - examples + 1,
            "m": loss,
            "n": examples,
            "hypotheses": evidence.hypotheses,
            "in contention": evidence.in_contention,
            "observed": "on the last n examples",
        }
        return self.applied(evidence, self.bound(loss, examples, rounds, delta), inputs, observed=loss / examples)


def penalized_selection(
    learner: Any, X: Any, y: Any = None, *, delta: Any = 0.05, loss: Any = "zero-one", every: Any = 1
) -> FrozenPredictor:
    """The hypothesis with the least penalised risk estimate.

    learner  where to begin; it is copied, and never changed
    X, y     examples and labels, or a stream in place of both, which is read into memory
    delta    how likely the bounds may fail
    loss     "zero-one" for mistakes, or a function of two arrays, scores and signs of labels, with values from 0 to 1
    every    consider the hypotheses of rounds 1, 1 + every, 1 + 2 every, ... only; then the second bound alone holds
    """
    delta, every = share("delta", delta), count("every", every)
    if loss != "zero-one" and not callable(loss):
        raise invalid("loss", "'zero-one' or a function of scores and signs", loss)
    function: Loss | None = None if loss == "zero-one" else loss
    with Source(learner, X, y) as source:
        race = race_of(fresh_copy(learner, X, y), source.everything(), delta, function, every)
    selected = race.learner()
    bounded = Assumption("a round costs at most 1", Basis.ENFORCED, True)
    if function is not None:
        bounded = Assumption("a round costs at most 1", Basis.PROMISED, None, "so it was here")
    evidence = SelectionEvidence(
        subject=type(learner).__name__,
        rounds=race.rounds,
        happened=float(race.online.mean()),
        assumptions=(bounded, _counted_again(selected, race, function)),
        delta=delta,
        loss=race.loss,
        examples=race.rounds - race.winner,
        hypotheses=len(race.hypotheses.begin),
        in_contention=race.contention,
        considered_all=every == 1,
    )
    quantity = "" if function is None else "loss"
    certificate = apply((PenalizedEstimate(delta, quantity), PenalizedSelection(delta, quantity)), evidence)
    return FrozenPredictor(selected, "penalized_selection", certificate)


def _counted_again(selected: Any, race: Race, loss: Loss | None) -> Assumption:
    """Whether the selected hypothesis, asked for its own predictions, loses as much as was counted for it."""
    block = race.hypotheses.block
    part = block.part(race.winner, block.count)
    if loss is None:
        again = float(np.count_nonzero(part.mistakes_of(selected)))
    else:
        signs = race.hypotheses.played.signs
        assert signs is not None
        again = float(np.sum(loss(selected.score_many(part.X), signs[race.winner :])))
    same = math.isclose(again, race.loss, rel_tol=1e-9, abs_tol=1e-9)
    return Assumption("it loses m on the last n examples", Basis.OBSERVED, same, "its predictions counted once more")


def race_of(start: Any, block: Block, delta: float, loss: Loss | None, every: int) -> Race:
    """Play all rounds and find the hypothesis with the least estimate."""
    if block.count == 0:
        raise InputError("X must be at least one example; received none")
    learner = fresh_copy(start)
    played = block.learn(learner)
    online = played.mistaken.astype(np.float64)
    hypotheses = hypotheses_of(start, learner, block, played, loss)
    if loss is not None:
        assert played.scores is not None
        online = checked_losses(loss(played.scores, played.signs), played.scores.shape)
    race = Race(hypotheses, online, delta, every)
    race.run()
    return race


class Race:
    """Which hypothesis has the least estimate."""

    def __init__(self, hypotheses: Hypotheses, online: Floats, delta: float, every: int) -> None:
        self.hypotheses = hypotheses
        self.online = online
        self.rounds = rounds = len(online)
        self.delta = delta
        self.best, self.winner, self.winning, self.loss = math.inf, 0, 0, 0.0
        # How many hypotheses were not excluded from the start, and how many predictions they made.
        self.contention = self.predictions = 0
        # Within a life each round begins a suffix of its own: its losses there, and those of the rounds after the life.
        begin, end = hypotheses.begin, hypotheses.end
        life = np.repeat(np.arange(len(begin)), end - begin + 1)
        total = np.concatenate([np.cumsum(online[::-1])[::-1], [0.0]])
        within = total[:-1] - total[end + 1][life]
        # Where nothing is lost in a round, the suffix that begins later has the same loss and fewer examples.
        worth = np.ones(rounds, dtype=bool)
        worth[1:] = (online[:-1] > 0) | (life[1:] != life[:-1])
        if every > 1:
            worth = np.arange(rounds) % every == 0
        self.points = np.flatnonzero(worth)
        self.life = life[self.points]
        self.within = within[self.points]
        self.wanted: Indices = np.unique(self.life)
        # The points of hypothesis k are those from first[k] to first[k + 1].
        self.first = np.searchsorted(self.life, np.arange(len(begin) + 1))

    def run(self) -> None:
        lives = (self.hypotheses.end - self.hypotheses.begin)[self.wanted]
        pilots = np.sort(self.wanted[np.argsort(-lives, kind="stable")[:PILOTS]])
        self.enter(pilots)
        others = np.setdiff1d(self.wanted, pilots)
        least = self.estimates(others, np.zeros(len(others)))[0]
        self.enter(others[least <= self.best])

    def enter(self, wanted: Indices) -> None:
        for portion, kept in self.hypotheses.portions(wanted):
            self.judge(portion, kept)

    def judge(self, which: Indices, kept: Any) -> None:
        """Let these hypotheses predict what comes after their lives, as long as they can still win."""
        ends = self.hypotheses.end[which]
        tails = np.zeros(len(which))
        self.contention += len(which)
        rows = self.hypotheses.in_order(kept)
        rows = rows[rows > ends.min()]
        while len(rows) and len(which):
            height = self.hypotheses.height(len(which))
            at, rows = rows[:height], rows[height:]
            losses = self.hypotheses.losses(kept, which, at)
            later = at[:, None] > ends
            tails += (losses * later).sum(axis=0)
            self.predictions += int(np.count_nonzero(later))
            left = self.estimates(which, tails)[0] <= self.best
            if not left.all():
                which, ends, tails = which[left], ends[left], tails[left]
                kept = self.hypotheses.fewer(kept, left)
        if not len(which):
            return
        estimates, at = self.estimates(which, tails)
        # The first of several that are equal.
        order = int(np.lexsort((at, estimates))[0])
        if (estimates[order], at[order]) < (self.best, self.winner):
            self.best, self.winner, self.winning = float(estimates[order]), int(at[order]), int(which[order])
            point = int(np.searchsorted(self.points, at[order]))
            self.loss = float(self.within[point] + tails[order])

    def estimates(self, which: Indices, tails: Floats) -> tuple[Floats, Indices]:
        """The least estimate of each hypothesis, if it loses that much after its life, and the round it is for."""
        if not len(which):
            return np.zeros(0), np.zeros(0, dtype=np.intp)
        counts = self.first[which + 1] - self.first[which]
        offsets = np.concatenate([[0], np.cumsum(counts)[:-1]])
        points = np.repeat(self.first[which] - offsets, counts) + np.arange(counts.sum())
        examples = self.rounds - self.points[points]
        values = PenalizedEstimate.bound(
            self.within[points] + np.repeat(tails, counts), examples, self.rounds, self.delta
        )
        least = np.minimum.reduceat(values, offsets)
        where = np.flatnonzero(values == np.repeat(least, counts))
        owner = np.repeat(np.arange(len(which)), counts)[where]
        return least, self.points[points[where[np.searchsorted(owner, np.arange(len(which)))]]]

    def learner(self) -> Any:
        return self.hypotheses.learner_of(self.winning)
