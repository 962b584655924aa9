"""Regressors: losses of the predictions they showed, and regret bounds from the gradients and the targets alone."""

import math

import numpy as np

import afterwit as aw
import naive_regression as naive
from afterwit.errors import DivergenceError
from proving.judging import EPSILON, HINDSIGHT, Truth, all_of, key_of
from proving.linear import stream
from proving.searching import judges, subject
from proving.sequences import SCALES, pick

judges("linear.scale_free_regressor.CutOffScaleFreeBound")


class Run:
    """A run of a regressor, round by round: predictions, weights and gradients."""

    def __init__(self, learner, X, y, loss, intercept):
        self.loss, self.targets = loss, y.tolist()
        self.rows = [[1.0, *x] if intercept else x for x in X.tolist()]
        self.shown, self.weights, self.gradients = [], [], []
        for x, row, target in zip(X, self.rows, self.targets, strict=True):
            self.weights.append(weights_of(learner, len(row)))
            p = learner.learn_one(x, target)
            self.shown.append(p)
            self.gradients.append([naive.slope_of(loss, p, target) * value for value in row])
        self.weights.append(weights_of(learner, X.shape[1] + intercept))
        self.total = naive.total_loss(loss, self.shown, self.targets)
        steep = math.fsum(
            abs(naive.slope_of(loss, p, y)) * (abs(p) + abs(y)) for p, y in zip(self.shown, self.targets, strict=True)
        )
        self.slack = 64 * EPSILON * (len(self.rows) + 16) * (self.total + steep)

    def loss_of(self, u):
        return naive.exact_loss(self.loss, self.rows, self.targets, list(map(float, u)))


def weights_of(learner, width):
    found = [learner.intercept_weight] * learner.parameters["intercept"] + np.asarray(learner.weights).tolist()
    return np.array(found + [0.0] * (width - len(found)))


def targets_of(random, X, u):
    """Targets near a line, of any size, that may jump or have nothing to do with the rows."""
    scale = pick(random, 1.0, 1.0, *SCALES)
    y = X @ u + pick(random, 0.0, 0.1, 1.0) * random.standard_normal(len(X))
    y = random.integers(-3, 4, len(X)).astype(float) if random.random() < 0.3 else y
    if random.random() < 0.2:
        y = y * 10.0 ** random.integers(-4, 5, len(X))
    return scale * y


def regrets(run, radius, rate, rates, ball, box, delta):
    """The regret bounds as functions of the comparator."""
    T, width = len(run.rows), len(run.rows[0])
    steepest, largest_target = naive.steepest(run.loss), max(map(abs, run.targets))
    if steepest is not None:
        largest = steepest * radius
    else:
        largest = 2 * radius * (largest_target + radius * ball) if ball is not None else math.inf
    squares = [math.fsum(g * g for g in each) for each in run.gradients]
    sums = [math.fsum(g[i] ** 2 for g in run.gradients) for i in range(width)]
    sizes = [(steepest or 0.0) * math.sqrt(math.fsum(x[i] ** 2 for x in run.rows)) for i in range(width)]

    def spread(v):
        far = np.max([np.abs(w - v) for w in run.weights], axis=0)
        return math.fsum(f * f * math.sqrt(delta + total) for f, total in zip(far.tolist(), sums, strict=True))

    def square(v):
        return math.fsum(each * each for each in v)

    return {
        "LargestGradientBound": lambda v: square(v) / (2 * rate) + rate * T * largest**2 / 2,
        "ObservedGradientsBound": lambda v: square(v) / (2 * rate) + rate * math.fsum(squares) / 2,
        "BallBound": lambda _: (2 * ball) ** 2 / (2 * rates[-1]) + largest**2 / 2 * math.fsum(rates),
        "ObservedBallBound": lambda _: (
            (2 * ball) ** 2 / (2 * rates[-1]) + math.fsum(a * b for a, b in zip(rates, squares, strict=True)) / 2
        ),
        "BoxBound": lambda _: (
            (2 * box) ** 2 * math.fsum(math.sqrt(delta + s * s) for s in sizes) / (2 * rate) + rate * math.fsum(sizes)
        ),
        "AdaptiveBound": lambda v: spread(v) / (2 * rate) + rate * math.fsum(map(math.sqrt, sums)),
    }


def regression_run(table, random, name):
    X, _, u, _ = stream(random, 25)
    if not len(X):
        return
    y = targets_of(random, X, u)
    loss, intercept = (
        pick(random, "square", "square", "absolute", "pinball(0.9)", "huber(1.0)"),
        bool(random.random() < 0.5),
    )
    ones = np.ones((len(X), 1)) if intercept else np.zeros((len(X), 0))
    radius = float(np.linalg.norm(np.hstack([ones, X]), axis=1).max())
    unit, size = radius or 1.0, float(np.abs(y).max()) or 1.0
    rate, delta, epsilon, limit, decreasing = pick(random, 0.01, 0.1, 0.3) / unit**2, 0.0, 1.0, None, False
    if name == "ScaleFreeRegressor":
        epsilon = pick(random, 1.0, 0.01, 20.0)
        learner = aw.ScaleFreeRegressor(epsilon, loss, intercept)
    else:
        limit = pick(random, None, 0.3, 3.0)
        limit = None if limit is None else limit * size / unit
        if name == "SGDRegressor":
            decreasing = bool(random.random() < 0.3)
            schedule = "1/sqrt(t)" if decreasing else "constant"
            learner = aw.SGDRegressor(loss, rate, schedule, limit, intercept)
        else:
            rate, delta = pick(random, 0.1, 1.0) * size / unit, pick(random, 0.0, 1e-6, 1.0)
            learner = aw.AdaGradRegressor(loss, rate, delta, limit, intercept)
    try:
        run = Run(learner, X, y, loss, intercept)
    except DivergenceError:
        return
    u = u * pick(random, 0.0, 0.5, 1.0) * size / (float(np.abs(X @ u).max()) or 1.0)
    if limit is not None:
        u = u * min(1.0, limit / max(float(np.linalg.norm(u)), 1e-300)) * (1 - 1e-12)
    default = random.random() < 0.3
    found = learner.certificate(X, y) if default else learner.certificate(X, y, comparator=u)
    given = [np.zeros(len(run.rows[0])), np.concatenate([[0.0], u]) if intercept else u]
    rates = [rate / math.sqrt(t + 1) if decreasing else rate for t in range(len(X))]
    if name == "ScaleFreeRegressor":
        figures = naive.scale_free(run.rows, run.targets, loss, epsilon)
        # What depends on the predictions is taken from those that were shown.
        figures["predictions"] = run.shown
        formulas = {"CutOffScaleFreeBound": lambda v: naive.scale_free_regret(figures, run.rows, v.tolist(), epsilon)}
    else:
        formulas = regrets(run, radius, rate, rates, limit, limit, delta)
    for made in all_of(found):
        bound = None
        if made.bound is not None and not default:
            formula = formulas[type(made.theorem).__name__]
            bound = min(run.loss_of(v) + formula(v) for v in given)
        table.certificate(made, name, Truth(run.total, bound, run.slack, bound_slack=1e-6 * abs(bound or 0.0)))
        if default and made.bound is not None:
            hindsight_of(table, name, made, run, formulas[type(made.theorem).__name__])


def hindsight_of(table, name, made, run, formula):
    """No more than the learner's own last weights lose; and the bound is no more than for weights at 0."""
    own, zero = run.loss_of(run.weights[-1]), np.zeros(len(run.rows[0]))
    if made.hindsight.value > own + run.slack + 1e-9 * own:
        table.problem(
            key_of(type(made.theorem)), name, HINDSIGHT, f"{made.hindsight.value!r}, its last weights {own!r}"
        )
    at_zero = run.loss_of(zero) + formula(zero)
    if made.bound > at_zero * (1 + 1e-6) + run.slack:
        table.problem(key_of(type(made.theorem)), name, HINDSIGHT, f"{made.bound!r}, weights at 0 give {at_zero!r}")


for _name in ("SGDRegressor", "AdaGradRegressor", "ScaleFreeRegressor"):
    subject(_name)(lambda table, random, name=_name: regression_run(table, random, name))
