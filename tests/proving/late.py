"""Labels that come late: runs of the learners that decide by what they served, beside their other sequences.

Delays are drawn, or constant, or as long as the stream. Tickets go through JSON now and then. What was served is taken from
the predictions, what was learned in between from the order; losses, slopes and lateness are computed in fractions from the
scores that were served and the weights that there were.
"""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive
import naive_exact as exact
import naive_regression
from naive_bounds import BOUNDS
from proving.judging import APPLIED, EPSILON, Truth, all_of, key_of
from proving.linear import Comparison, own_weights, stream
from proving.regressors import targets_of
from proving.searching import SUBJECTS, judges
from proving.sequences import pick, values

PERCEPTRONS, REGRETS, WEIGHTS = "linear._late_bounds.", "linear._late_regret.", "experts._late_bounds."
judges(
    *(
        PERCEPTRONS + name
        for name in (
            "LateMarginBound",
            "MeasuredMarginBound",
            "LateHingeBound",
            "MeasuredHingeBound",
            "LateMarginUpdateBound",
        )
    ),
    *(REGRETS + name for name in ("LateGradientBound", "LateObservedBound", "LateBallBound")),
    *(WEIGHTS + name for name in ("LateFixedRateBound", "LateExpConcaveBound", "LateBound")),
)


class Played:
    """A run: what was served, the order of arrival, and what was learned in between."""

    def __init__(self, learner, random, examples, labels, seen=lambda: None):
        count = len(labels)
        longest = int(random.choice([1, 3, 10, max(1, count)]))
        constant = random.random() < 0.3
        delays = [longest] * count if constant else random.integers(0, longest + 1, count).tolist()
        self.predictions, self.tickets, self.served_by, self.learned_by = {}, {}, {}, {}
        self.order, self.served, self.between, self.updates = [], [], [], []
        for event, t in naive.delayed_events(count, delays):
            if event == "predict":
                self.predictions[t], ticket = learner.serve_one(examples[t])
                self.tickets[t] = json.loads(json.dumps(ticket)) if random.random() < 0.2 else ticket
                self.served_by[t] = seen()
                continue
            self.learned_by[t] = seen()
            before = getattr(learner, "updates", 0)
            learner.learn_late(self.tickets[t], labels[t])
            if getattr(learner, "updates", 0) != before:
                self.between.append(before - self.tickets[t]["updates"])
            self.order.append(t)
            self.served.append(self.tickets[t]["rounds"])

    @property
    def delays(self):
        return [t - moment for t, moment in enumerate(self.served)]

    @property
    def late(self):
        return any(self.delays)


def beside(name):
    """Play such runs of a learner beside its others, from random numbers of their own."""

    def add(function):
        others = SUBJECTS[name]

        def both(table, random):
            own = random.spawn(1)[0]
            others(table, random)
            if own.random() < 0.5:
                function(table, own, name)

        SUBJECTS[name] = both
        return function

    return add


def judged(table, name, found, run, truth):
    """Every certificate of a run: those that say nothing of late labels do not apply to it."""
    for made in all_of(found):
        key = key_of(type(made.theorem))
        if run.late and not made.theorem.late and made.bound is not None:
            table.problem(key, name, APPLIED, "labels came late")
        elif run.late and made.theorem.late:
            table.certificate(made, name, lambda made=made: truth(made, type(made.theorem).__name__))


# ---------------------------------------------------------------------- perceptrons


@beside("Perceptron")
@beside("MarginPerceptron")
def perceptron(table, random, name):
    X, y, u, _ = stream(random, 25)
    comparison = Comparison(X.tolist(), y, u.tolist())
    best = comparison.margin_bound()
    gamma = comparison.radius / math.sqrt(float(best)) if best else 0.1 * comparison.radius or 1.0
    learner = aw.Perceptron(rate=pick(random, 1.0, 0.25)) if name == "Perceptron" else aw.MarginPerceptron(margin=gamma)
    run = Played(learner, random, list(X), y.tolist())
    if not run.late:
        return
    found = learner.certificate(X[run.order], y[run.order], comparator=u, served=run.served)
    mistakes = sum(run.predictions[t] != y[t] for t in run.order)
    longest, between = max(run.delays), sum(run.between)

    def truth(made, short):
        observed = mistakes if name == "Perceptron" else learner.updates
        if "Hinge" not in short:
            if best is None:
                table.problem(key_of(type(made.theorem)), name, APPLIED, "the comparator does not separate")
                return None
            ratio = math.sqrt(float(best))
            if short == "LateMarginUpdateBound":
                return Truth(observed, BOUNDS["margin-perceptron-late"](comparison.radius, gamma, longest))
            if short == "LateMarginBound":
                return Truth(observed, BOUNDS["perceptron-late"](ratio, 1.0, longest))
            return Truth(observed, BOUNDS["perceptron-late-measured"](ratio, 1.0, between))
        length = made.inputs["|u|"]
        scale = length / comparison.length if comparison.length else 0.0
        hinge = float(sum(comparison.hinges(scale)))
        if short == "LateHingeBound":
            return Truth(observed, BOUNDS["perceptron-late-hinge"](comparison.radius, length, hinge, longest))
        return Truth(observed, BOUNDS["perceptron-late-hinge-measured"](comparison.radius, length, hinge, between))

    judged(table, name, found, run, truth)


# ---------------------------------------------------------------------- gradient learners


class Descended:
    """The losses of what was served, the gradients, and what lateness cost."""

    def __init__(self, run, X, targets, lost, slope, factor=1.0, ridge=False):
        self.X, self.targets, self.lost, self.factor, self.ridge = X.tolist(), targets, lost, factor, ridge
        self.total, self.drift, self.squares, self.size, self.sound = Fraction(0), Fraction(0), [], 0.0, True
        for t in run.order:
            score, x, w = Fraction(run.tickets[t]["score"]), self.X[t], run.learned_by[t]
            self.sound = self.sound and w is not None
            if not self.sound:
                return
            g = factor * slope(float(score), targets[t])
            here = exact.dot(w.tolist(), x)
            gradient = [g * value for value in x]
            self.total += Fraction(factor) * lost(score, targets[t])
            if ridge:
                self.total += exact.norm_square(w.tolist()) / 2
                gradient = [a + b for a, b in zip(w.tolist(), gradient, strict=True)]
            self.drift += Fraction(g) * (score - here)
            self.squares.append(float(exact.norm_square(gradient)))
            length = math.hypot(*w) * math.hypot(*x)
            self.size += abs(g) * (abs(float(score)) + length + abs(float(here)) + abs(targets[t]))
            self.size += self.ridge * math.hypot(*w) ** 2

    @property
    def slack(self):
        return 64 * EPSILON * (len(self.X) + 16) * (self.size + float(self.total))

    def loss_of(self, u):
        each = [
            Fraction(self.factor) * self.lost(exact.dot(u, x), y) for x, y in zip(self.X, self.targets, strict=True)
        ]
        return float(sum(each, Fraction(0)) + (len(each) * exact.norm_square(u) / 2 if self.ridge else 0))


@beside("SGD")
@beside("SGDRegressor")
@beside("OnlineSVM")
def gradients(table, random, name):
    X, y, u, _ = stream(random, 20)
    radius = float(np.linalg.norm(X, axis=1).max(initial=0.0))
    unit = radius or 1.0
    rate, ball, decreasing, factor = pick(random, 0.01, 0.1, 0.5) / unit**2, None, False, 1.0
    if name == "OnlineSVM":
        loss, rate, factor = "hinge", pick(random, 1e-3, 0.1, 0.9), pick(random, 0.1, 1.0, 30.0)
        learner = aw.OnlineSVM(C=factor, rate=rate)
    else:
        ball = pick(random, None, 0.5 / unit, 10.0 / unit)
        decreasing = bool(random.random() < 0.3)
        options = {
            "rate": rate,
            "ball": ball,
            "schedule": "1/sqrt(t)" if decreasing else "constant",
            "intercept": False,
        }
        if name == "SGD":
            loss = pick(random, "perceptron", "hinge", "logistic", "squared")
            learner = aw.SGD(loss=loss, **options)
        else:
            loss = pick(random, "absolute", "square", "pinball(0.9)")
            y = targets_of(random, X, u) if random.random() < 0.3 else np.round(X @ u / unit, 2)
            learner = aw.SGDRegressor(loss=loss, **options)
    targets, width = y.tolist(), X.shape[1]
    run = Played(learner, random, list(X), targets, lambda: own_weights(learner, width))
    if not run.late:
        return
    if name == "SGDRegressor":
        judge_loss = lambda score, target: exact.loss(loss, score, Fraction(target))  # noqa: E731
        slope = lambda score, target: naive_regression.slope_of(loss, score, target)  # noqa: E731
    else:
        judge_loss = lambda score, label: exact.margin_loss(loss, score, label)  # noqa: E731
        slope = lambda score, label: naive.slope_of(loss, score, label)  # noqa: E731
    seen = Descended(run, X, targets, judge_loss, slope, factor, name == "OnlineSVM")
    if not seen.sound:
        return
    u = u * random.uniform(0, 2)
    if ball is not None and np.linalg.norm(u) > ball:
        u = u * (ball / np.linalg.norm(u)) * (1 - 1e-12)
    found = learner.certificate(X[run.order], y[run.order], comparator=u, served=run.served)
    rates = [rate / math.sqrt(t + 1) if decreasing else rate for t in range(len(y))]
    largest = largest_gradient(name, loss, radius, ball, factor, np.abs(y).max(initial=0.0))
    drift = float(seen.drift)

    def square(v):
        return float(exact.norm_square(v))

    regrets = {
        "LateGradientBound": lambda v: BOUNDS["gradient-descent-late"](
            math.sqrt(square(v)), rate, len(y), largest, sum(run.delays)
        ),
        "LateObservedBound": lambda v: square(v) / (2 * rate) + rate * math.fsum(seen.squares) / 2 + drift,
        "LateBallBound": lambda _: (
            (2 * ball) ** 2 / (2 * rates[-1])
            + math.fsum(a * b for a, b in zip(rates, seen.squares, strict=True)) / 2
            + drift
        ),
    }
    bounds = []

    def truth(made, short):
        if short == "MistakesFromLoss":
            cost = factor * float(exact.margin_loss(loss, Fraction(0), 1))
            wrong = sum((run.tickets[t]["score"] >= 0) != (targets[t] > 0) for t in run.order)
            return Truth(wrong, min(bounds) / cost, bound_slack=seen.slack / cost)
        bounds.append(min(seen.loss_of(v) + regrets[short](v) for v in ([0.0] * width, u.tolist())))
        return Truth(float(seen.total), bounds[-1], seen.slack)

    in_order = sorted(all_of(found), key=lambda made: type(made.theorem).__name__ == "MistakesFromLoss")
    for made in in_order:
        judged(table, name, _alone(made), run, truth)


def _alone(made):
    """A certificate without those beside it."""
    return replace(made, others=())


def largest_gradient(name, loss, radius, ball, factor, largest_target):
    if name == "OnlineSVM":
        return 2 * factor * radius
    if loss in ("perceptron", "hinge", "logistic", "absolute"):
        return radius
    if loss.startswith("pinball"):
        return 0.9 * radius
    if ball is None:
        return math.inf
    return 2 * radius * (largest_target + radius * ball) if loss == "square" else radius * (1 + radius * ball)


# ---------------------------------------------------------------------- exponential weights


@beside("ExponentialWeights")
def exponential_weights(table, random, name):
    rounds, n = int(random.choice([2, 7, 20, 40])), int(random.choice([1, 2, 4]))
    advice, outcomes = values(random, rounds, n), values(random, rounds, 1)[:, 0]
    rate = pick(random, None, None, 0.05, 0.5, 0.5, 3.0)
    doubling = rate is None and random.random() < 0.5
    options = {"rate": rate} if rate else {"schedule": "doubling" if doubling else "decreasing"}
    learner = aw.ExponentialWeights(n, loss=pick(random, "square", "square", "absolute"), **options)
    loss = learner.parameters["loss"]
    run = Played(learner, random, list(advice), outcomes.tolist(), lambda: learner.weights.tolist())
    if not run.late:
        return
    log_n, drift, excess, own, size = math.log(n), Fraction(0), Fraction(0), Fraction(0), 0.0
    totals = [Fraction(0)] * n
    for place, t in enumerate(run.order):
        y = Fraction(outcomes[t])
        lost = [exact.loss(loss, Fraction(value), y) for value in advice[t].tolist()]
        mine = exact.loss(loss, Fraction(run.predictions[t]), y)
        if run.served[place] < place:
            drift += max(Fraction(0), mine - exact.mixture(run.learned_by[t], lost))
            here = exact.mixture(run.learned_by[t], [Fraction(value) for value in advice[t].tolist()])
            excess += max(Fraction(0), mine - exact.loss(loss, here, y))
        own += mine
        size += float(mine) + max(map(float, lost)) + 1
        totals = [a + b for a, b in zip(totals, lost, strict=True)]
    slack = 16 * (1 + log_n) * EPSILON * (rounds + n + 16) * size
    regret = float(own - min(totals))

    def truth(made, short):
        if short == "LateFixedRateBound":
            # With one expert the logarithm is 0.
            return Truth(regret, BOUNDS["exponential-weights-late"](log_n, rounds, rate, sum(run.delays)), slack)
        if short == "LateExpConcaveBound":
            return Truth(regret, log_n / rate + float(excess), slack)
        if rate:
            without = BOUNDS["exponential-weights"](log_n, rounds, rate)
        else:
            without = BOUNDS[f"exponential-weights-{'doubling' if doubling else 'decreasing'}"](log_n, rounds)
        return Truth(regret, without + float(drift), slack)

    rounds_again = (advice[run.order], outcomes[run.order], run.served) if random.random() < 0.5 else ()
    judged(table, name, learner.certificate(*rounds_again), run, truth)
