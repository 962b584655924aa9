"""Probability vectors: the aggregating algorithm at every round, and the algorithms that mix, on the same oracles as ever.

The aggregating algorithm is judged by its slow twin in decimals for the log loss, whose weights need more digits than a
forecast has, and else by the forecasts that were made, in fractions.
"""

import math
import pickle
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive_exact as exact
from expert_cases import Case
from naive_aggregating import Aggregating
from proving.expert_truths import Run
from proving.experts import judge, note
from proving.judging import EPSILON, Truth, all_of, key_of
from proving.searching import judges, subject
from proving.sequences import asleep, pick, size, values
from vector_cases import CASES, VectorCase

BOUND = "experts.aggregating_algorithm.AggregatingBound"
INTERVALS = ((0.0, 1.0), (-1.0, 1.0), (0.0, 1e6), (0.0, 1e-6), (100.0, 101.0))
judges(BOUND)


# ---------------------------------------------------------------------- rounds


def vectors(random, rounds, n, kinds):
    """Ordinary ones, sure ones, nearly sure ones, equal ones, and ones with zeros."""
    how = pick(random, "plain", "sure", "nearly sure", "equal", "skewed", "mixed")
    table = random.dirichlet(np.ones(kinds), (rounds, n))
    sure = np.eye(kinds)[random.integers(0, kinds, (rounds, n))]
    if how == "sure":
        table = sure
    elif how == "nearly sure":
        near = random.choice([2.0**-53, 1e-12, 1e-6, 1e-3], (rounds, n, 1))
        table = sure * (1 - near) + (1 - sure) * near / (kinds - 1)
    elif how == "equal":
        table = np.repeat(table[:, :1], n, axis=1)
    elif how == "skewed":
        table = random.dirichlet(np.full(kinds, 0.1), (rounds, n))
    elif how == "mixed":
        table = np.where(random.random((rounds, n, 1)) < 0.3, sure, table)
    return table / table.sum(axis=2, keepdims=True)


def sleeping(random, table, share):
    awake = ~np.isnan(asleep(random, np.zeros(table.shape[:2]), share))
    return np.where(awake[:, :, np.newaxis], table, np.nan)


def outcome_for(random, learner, row, kinds, how):
    """Any kind; long the same one; or the one the learner thinks least of, among those it does not rule out."""
    if how == "same":
        return int(random.random() < 0.1)
    if how == "contrary":
        forecast = learner.predict_one(row)
        return int(np.argmin(np.where(forecast > 0, forecast, np.inf)))
    return int(random.integers(0, kinds))


def plain(row):
    return [None if np.isnan(vector).any() else vector.tolist() for vector in row]


# ---------------------------------------------------------------------- the aggregating algorithm


@dataclass
class Played:
    """What is true of the rounds: the learner's losses and the experts', as fractions; None for those asleep."""

    n: int
    loss: str
    own: list
    losses: list
    size: float = 0.0

    def largest_regret(self):
        found, totals, ruined = [], [None] * self.n, [False] * self.n
        for own, row in zip(self.own, self.losses, strict=True):
            for i, lost in enumerate(row):
                if lost is not None:
                    ruined[i] = ruined[i] or lost == math.inf
                    totals[i] = (totals[i] or 0) + (0 if lost == math.inf else own - lost)
            found += [total for total, out in zip(totals, ruined, strict=True) if total is not None and not out]
        return float(max(found, default=0))


def brier(f, k):
    return sum((Fraction(p) - (j == k)) ** 2 for j, p in enumerate(f))


def play_vectors(random, loss, rounds, n, kinds):
    learner = aw.AggregatingAlgorithm(n, outcomes=kinds, loss=loss)
    slow = Aggregating(n, loss)
    table = vectors(random, rounds, n, kinds)
    table = sleeping(random, table, 0.4) if random.random() < 0.3 else table
    how = pick(random, "any", "same", "contrary", "contrary")
    used = int(random.integers(0, rounds + 1)) if random.random() < 0.2 else None
    run, rows, outcomes = Played(n, loss, [], []), [], []
    for t, row in enumerate(table):
        learner = pickle.loads(pickle.dumps(learner)) if t == used else learner
        outcome = outcome_for(random, learner, row, kinds, how)
        if loss == "log":
            if slow.play(plain(row), outcome) is None:
                # Everyone who counts ruled it out: the learner has to refuse the round.
                try:
                    learner.learn_one(row, outcome)
                except aw.errors.InputError:
                    continue
                raise AssertionError("a forecast with an infinite loss was learned")
            learner.learn_one(row, outcome)
            run.own.append(Fraction(slow.own[-1]))
            lost = [None if not up else math.inf if each is None else Fraction(each) for up, each in slow.losses[-1]]
        else:
            run.own.append(brier(learner.learn_one(row, outcome), outcome))
            lost = [None if vector is None else brier(vector, outcome) for vector in plain(row)]
        run.losses.append(lost)
        run.size += float(run.own[-1]) + max(float(each) for each in lost if each not in (None, math.inf))
        run.size += float(loss == "log")
        rows.append(row)
        outcomes.append(outcome)
    return learner, run, (np.array(rows).reshape(-1, n, kinds), outcomes)


def play_numbers(random, rounds, n):
    low, high = pick(random, *INTERVALS)
    learner = aw.AggregatingAlgorithm(n, outcomes=(low, high), loss="square")
    table = np.clip(low + (high - low) * values(random, rounds, n), low, high)
    table = asleep(random, table, 0.4) if random.random() < 0.3 else table
    ends = random.random() < 0.5
    outcomes = []
    run = Played(n, "square", [], [])
    for row in table:
        forecast = learner.predict_one(row)
        outcome = (low if forecast - low > high - forecast else high) if ends else random.uniform(low, high)
        learner.learn_one(row, outcome)
        outcomes.append(outcome)
        run.own.append((Fraction(forecast) - Fraction(outcome)) ** 2)
        run.losses.append([None if x != x else (Fraction(x) - Fraction(outcome)) ** 2 for x in row.tolist()])
        run.size += (high - low) * (high - low + abs(low) + abs(high))
    return learner, run, (table, outcomes)


@subject("AggregatingAlgorithm")
def aggregating(table, random):
    rounds, n = size(random, 25, 5)
    loss = pick(random, "brier", "brier", "log", "square")
    if loss == "square":
        learner, run, given = play_numbers(random, rounds, n)
        low, high = learner.parameters["outcomes"]
        bound = (high - low) ** 2 * math.log(n) / 2
    else:
        learner, run, given = play_vectors(random, loss, rounds, n, int(random.choice([2, 2, 3, 5, 10])))
        bound = math.log(n)
    terms = len(run.own) + n + 16
    truth = Truth(run.largest_regret(), bound, 16 * (1 + math.log(n)) * EPSILON * terms * (run.size + bound))
    again = all_of(learner.certificate(*given)) if random.random() < 0.3 else []
    for made in (*all_of(learner.certificate()), *again):
        assert key_of(type(made.theorem)) == BOUND
        table.certificate(made, "AggregatingAlgorithm", truth)


# ---------------------------------------------------------------------- algorithms that mix


@dataclass(frozen=True)
class PlayedCase(VectorCase):
    """A case as the oracles of expert algorithms look at it."""

    base = None
    adaptive, scale_free, unbounded = Case.adaptive, Case.scale_free, Case.unbounded

    @property
    def loss(self):
        return self.options["loss"]

    @property
    def gradient(self):
        return self.options.get("gradient", False)


def note_vectors(run, row, weights, forecast, outcome):
    """As for numbers: for the log loss by the weights before the round, and else by the forecast that was made."""
    name, shares = run.case.loss, [0.0 if vector is None else p for vector, p in zip(row, weights, strict=True)]
    if not math.fsum(shares) > 0:
        run.exact = False
        shares = [float(vector is not None) for vector in row]
    chances = [None if vector is None else vector[outcome] for vector in row]
    if name == "log":
        f = exact.mixture(shares, chances)
        own = exact.loss("log", f, 1)
        lost = [None if p is None else exact.loss("log", Fraction(p), 1) for p in chances]
        tangents = [None if p is None else (f - Fraction(p)) / f for p in chances]
    else:
        own, lost = brier(forecast, outcome), [None if vector is None else brier(vector, outcome) for vector in row]
        gradient = [2 * (Fraction(p) - (k == outcome)) for k, p in enumerate(forecast)]
        tangents = [
            None
            if vector is None
            else sum(g * (Fraction(a) - Fraction(b)) for g, a, b in zip(gradient, vector, forecast, strict=True))
            for vector in row
        ]
    most = max(abs(float(each)) for each in (*lost, *tangents) if each is not None)
    gains = [None if each is None else -each for each in tangents] if run.case.gradient else None
    note(run, shares, lost, own, most + 4, gains)


@subject("probability vectors")
def mixing(table, random):
    found = pick(random, *CASES)
    case = PlayedCase(found.name, found.options)
    rounds, n = size(random, 25, 5)
    kinds = int(random.choice([2, 2, 3, 5]))
    advice = vectors(random, rounds, n, kinds)
    if case.loss == "log":
        # No loss is above 5, which is where the range of the cases ends.
        advice = 0.99 * advice + 0.01 / kinds * np.ones(kinds)
        advice = np.where(advice < 0.0068, advice + 0.006, advice)
        advice /= advice.sum(axis=2, keepdims=True)
    advice = sleeping(random, advice, 0.4) if random.random() < 0.3 else advice
    learner, run = case.make(n, kinds), Run(case, n)
    if run.ranged:
        low, high = learner.parameters["loss_range"] or (0.0, 1.0)
        run.low, run.width = low, high - low
    how, outcomes = pick(random, "any", "same", "contrary"), []
    for row in advice:
        outcomes.append(outcome_for(random, learner, row, kinds, how))
        weights = learner.weights.tolist()
        note_vectors(run, plain(row), weights, learner.learn_one(row, outcomes[-1]).tolist(), outcomes[-1])
    for made in all_of(learner.certificate()):
        judge(table, made, run)
    if rounds and random.random() < 0.2:
        # Played again from the rounds: a state that they do not give would be refused.
        learner.certificate(advice, outcomes)
