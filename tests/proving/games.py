"""Zero-sum games and boosting. The gap is computed from the matrix in fractions, the votes from the hypotheses."""

import math
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive_games as naive
from proving.formulas import value_of
from proving.judging import APPLIED, EPSILON, Truth, all_of, key_of
from proving.searching import subject
from proving.sequences import SCALES, pick, values

KEPT = "games.regret_matching_plus.KeptRegretsBound"
#: The methods that play, and their theorems.
METHODS = {
    "exponential-weights": ("games.exponential_weights.ExponentialWeightsBound",),
    "regret-matching+": ("games.regret_matching_plus.RegretMatchingPlusBound", KEPT),
    "predictive-regret-matching+": (
        "games.predictive_regret_matching_plus.PredictiveRegretMatchingPlusBound",
        KEPT,
    ),
}


def matrix_of(random):
    m, n = int(random.choice([1, 2, 3, 6])), int(random.choice([1, 2, 3, 6]))
    M = values(random, m, n)
    if random.random() < 0.3:
        M = random.integers(-2, 3, (m, n)).astype(float)
    return (M + pick(random, 0.0, 0.0, -0.5, 10.0)) * pick(random, *SCALES)


def last_weight(T):
    return 6 * T / ((T + 1) * (2 * T + 1))


def spread_of(M):
    return float(Fraction(float(M.max())) - Fraction(float(M.min())))


def game_run(table, random, method):
    M, T = matrix_of(random), int(random.choice([1, 2, 5, 50]))
    maximize = bool(random.random() < 0.3)
    solution = aw.solve_game(M, gap=0.0, method=method, max_rounds=T, maximize=maximize)
    payoffs = -M if maximize else M
    m, n = M.shape
    p, q = solution.row_strategy, solution.column_strategy
    gap = float(naive.exact_upper(payoffs.tolist(), p) - naive.exact_lower(payoffs.tolist(), q))
    largest, spread, rounds = float(np.abs(M).max()), spread_of(M), solution.rounds
    slack = 64 * EPSILON * (m + n + rounds + 16) * (largest + spread)
    if not rounds:
        # A gap of 0 was reached before the first round: no theorem speaks of that.
        for made in all_of(solution.certificate(M)):
            table.certificate(made, method, Truth(gap, None, slack))
        return
    sizes = math.sqrt(m - 1) + math.sqrt(n - 1)
    regrets = sum(2 * math.sqrt(rounds / 2 * math.log(k)) + math.sqrt(math.log(k) / 8) for k in (m, n))
    formulas = {
        "ExponentialWeightsBound": spread * regrets / rounds,
        "RegretMatchingPlusBound": spread * last_weight(rounds) * math.sqrt(rounds) * sizes,
        "PredictiveRegretMatchingPlusBound": 2 * spread * last_weight(rounds) * math.sqrt(rounds) * sizes,
        "KeptRegretsBound": None,
    }
    found = {type(made.theorem).__name__: made for made in all_of(solution.certificate(M))}
    for short, made in found.items():
        spare = 0.0
        if short == "KeptRegretsBound" and made.bound is not None:
            spare = 1e-7 * spread + 1e3 * slack
            formulas[short] = by_kept_regrets(payoffs, rounds, method.startswith("predictive"), spare)
        table.certificate(made, method, Truth(gap, formulas[short], slack, bound_slack=spare))
    if method == "regret-matching+":
        # What was kept is never above its own bound.
        kept, bound = found["KeptRegretsBound"].bound, formulas["RegretMatchingPlusBound"]
        if kept is not None:
            table.bounded(KEPT, f"{method}, its regrets", kept, bound, slack)


def by_kept_regrets(payoffs, rounds, predictive, spare):
    """The bound by the regrets that the oracle's players keep.

    A strategy is a quotient of regrets, so rounding may grow from round to round. It has done so if other last digits of
    the payoffs give another bound; then there is none to compare with.
    """
    last_digits = 1 + 1e-12 * np.subtract.outer(np.arange(len(payoffs)), 1.7 * np.arange(len(payoffs[0])))
    found = [naive.kept_regrets(M.tolist(), rounds, predictive) for M in (payoffs, payoffs * last_digits)]
    if None in found:
        return None
    one, other = (last_weight(rounds) * kept + max(0.0, cost) for kept, cost in found)
    return one if abs(one - other) <= spare else None


for _method, _theorems in METHODS.items():
    subject(_method, *_theorems)(lambda table, random, method=_method: game_run(table, random, method))


@subject("self-play", "games.exponential_weights.SelfPlayBound")
def self_play(table, random):
    """Both players use exponential weights at the rate for T rounds."""
    M = np.clip(matrix_of(random), 0, 1)
    m, n = M.shape
    T = int(random.choice([1, 3, 20]))
    row, column = aw.ExponentialWeights(m, horizon=T), aw.ExponentialWeights(n, horizon=T)
    ps, qs = [], []
    for _ in range(T):
        p, q = row.weights, column.weights
        ps.append(p)
        qs.append(q)
        row.observe(np.clip(M @ q, 0, 1))
        column.observe(np.clip(1 - p @ M, 0, 1))
    gap = float(naive.exact_upper(M.tolist(), np.sum(ps, axis=0)) - naive.exact_lower(M.tolist(), np.sum(qs, axis=0)))
    bound = float(value_of(table, "self-play", rounds=T, row_actions=m, column_actions=n))
    table.bounded("games.exponential_weights.SelfPlayBound", "ExponentialWeights", gap, bound, 1e-12)


# ---------------------------------------------------------------------- boosting


@subject(
    "Boosting",
    "boosting._bounds.TrainingMistakesBound",
    "boosting._bounds.SharperTrainingMistakesBound",
    "boosting._bounds.ObservedErrorsBound",
    "boosting._bounds.WrongVotesBound",
    "boosting._bounds.RoundsNeeded",
)
def boosting(table, random):
    n, width = int(random.choice([1, 2, 8, 25])), int(random.choice([1, 2, 3]))
    X = np.round(random.standard_normal((n, width)), 1) * pick(random, *SCALES)
    y = np.where(X @ random.standard_normal(width) + 0.3 * random.standard_normal(n) * np.abs(X).max() >= 0, 1, -1)
    gamma, rounds = pick(random, 0.01, 0.05, 0.1, 0.2, 0.4), pick(random, None, 1, 3, 8)
    if rounds is None and math.log(n) / (2 * gamma**2) > 200:
        rounds = 15
    weak = pick(random, None, None, None, Stubborn())
    learner = aw.Boosting(weak, gamma=gamma, rounds=rounds)
    record = learner.fit(X, y)
    if not learner.hypotheses:
        return
    mistakes = certified(table, learner, X, y, gamma)
    # Other labels than it was fitted to: its hypotheses are no weak learner's there.
    certified(table, learner, X, np.where(random.random(n) < pick(random, 0.2, 0.6), -y, y), gamma)
    if rounds is None and record.complete:
        # As many rounds as leave no mistake.
        table.bounded("boosting._bounds.RoundsNeeded", "Boosting", mistakes, 0)
    needed = value_of(table, "boosting-rounds", samples=n, gamma=gamma)
    table.bounded("boosting._bounds.RoundsNeeded", "its formula", n * math.exp(-2 * needed * gamma**2), 1, 0)


class Stubborn:
    """No weak learner: it says the same of every row, whatever the weights are."""

    def fit(self, X, y, sample_weight=None):
        self.label = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def certified(table, learner, X, y, gamma):
    """Judge the certificates about these rows; how many of them the majority gets wrong."""
    n, labels = len(y), y.tolist()
    votes = [[int(v) for v in votes_of(each, X)] for each in learner.hypotheses]
    T = len(votes)
    g = Fraction(gamma)
    factor = (Fraction(1, 2) + g) / (Fraction(1, 2) - g)
    weights, errors = [Fraction(1)] * n, []
    for vote in votes:
        errors.append(sum(w for w, v, label in zip(weights, vote, labels, strict=True) if v != label) / sum(weights))
        weights = [w * factor if v != label else w for w, v, label in zip(weights, vote, labels, strict=True)]
    totals = [sum(vote[i] for vote in votes) for i in range(n)]
    mistakes = sum((1 if total >= 0 else -1) != label for total, label in zip(totals, labels, strict=True))
    share = max(sum(vote[i] != label for vote in votes) for i, label in enumerate(labels)) / T
    rate = math.log(float(factor))
    growth = math.fsum(math.log1p(float((factor - 1) * error)) for error in errors)
    truths = {
        "TrainingMistakesBound": (mistakes, n * math.exp(-2 * T * gamma**2)),
        "SharperTrainingMistakesBound": (mistakes, n * (1 - 4 * gamma**2) ** (T / 2)),
        "ObservedErrorsBound": (mistakes, n * math.exp(growth - T / 2 * rate)),
        "WrongVotesBound": (share, 0.5 - gamma + math.log(n) / (T * rate) + rate / 8),
    }
    for made in all_of(learner.certificate(X, y)):
        observed, bound = truths[type(made.theorem).__name__]
        slack = 64 * EPSILON * T * n if made.quantity != "training mistakes" else 0.0
        if made.bound is not None and max(errors) > Fraction(1, 2) - g + Fraction(1, 10**8):
            table.problem(key_of(type(made.theorem)), "Boosting", APPLIED, f"an error of {float(max(errors)):.4g}")
            continue
        table.certificate(made, "Boosting", Truth(observed, bound, slack))
    return mistakes


def votes_of(hypothesis, X):
    return hypothesis.predict(X) if isinstance(hypothesis, Stubborn) else hypothesis.predict_many(X)
