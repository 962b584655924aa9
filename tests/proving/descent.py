"""Gradient descent: the losses of the scores that were shown before each round, and regret bounds from the gradients."""

import math
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive
import naive_exact as exact
from naive_hindsight_linear import between
from proving.formulas import value_of
from proving.judging import APPLIED, EPSILON, HINDSIGHT, HINDSIGHT_VALUE, Truth, all_of, key_of
from proving.linear import SOUGHT, own_weights, stream
from proving.searching import judges, subject
from proving.sequences import pick

MISTAKES = "MistakesFromLoss"


class Descent:
    """A run of a gradient learner: the losses of the scores it showed, and everything its theorems speak of."""

    def __init__(self, learner, X, y, loss, factor=1.0, ridge=False):
        self.rows, self.y, self.loss, self.factor, self.ridge = X.tolist(), y.tolist(), loss, factor, ridge
        #: Whether any weights may be compared with, and are looked for at a price for their length.
        self.free = not ridge and loss != "perceptron"
        width = X.shape[1]
        self.weights, self.losses, self.squares, self.gradients, self.size = [], [], [], [], 0.0
        self.mistakes = 0
        for t, (x, label) in enumerate(zip(self.rows, self.y, strict=True)):
            w = own_weights(learner, width)
            score = learner.score_one(X[t])
            learner.learn_one(X[t], label)
            if w is None or not math.isfinite(score):
                self.weights = None
                return
            self._round(w.tolist(), score, x, label)
        self.weights.append(own_weights(learner, width))

    def _round(self, w, score, x, label):
        lost = Fraction(self.factor) * exact.margin_loss(self.loss, Fraction(score), label)
        slope = self.factor * naive.slope_of(self.loss, score, label)
        gradient = [slope * value for value in x]
        if self.ridge:
            lost += exact.norm_square(w) / 2
            gradient = [a + b for a, b in zip(w, gradient, strict=True)]
        self.weights.append(np.array(w))
        self.losses.append(lost)
        self.mistakes += (score >= 0) != (label > 0)
        self.gradients.append(gradient)
        self.squares.append(float(exact.norm_square(gradient)))
        length = math.hypot(*w) * math.hypot(*x)
        self.size += float(lost) + abs(slope) * length + self.ridge * math.hypot(*w) ** 2

    @property
    def total(self):
        return float(sum(self.losses, Fraction(0)))

    @property
    def slack(self):
        return 64 * EPSILON * (len(self.rows) + 16) * (self.size + self.total)

    def loss_of(self, u):
        each = [
            Fraction(self.factor) * exact.margin_loss(self.loss, exact.dot(u, x), label)
            for x, label in zip(self.rows, self.y, strict=True)
        ]
        return float(sum(each, Fraction(0)) + (len(each) * exact.norm_square(u) / 2 if self.ridge else 0))


def stands_still(table, random):
    """The on-line SVM in a round with y (w . x) = 1 exactly, where it takes no step: no theorem applies."""
    x, rate = pick(random, 0.5, 1.0, 4.0), pick(random, 0.5, 0.25)
    # From 0 the first step leads to rate C y x, whose product with x is 1.
    learner = aw.OnlineSVM(C=1 / (rate * x * x), rate=rate)
    X, y = np.full((int(random.integers(2, 6)), 1), x), pick(random, 1, -1)
    learner.learn_many(X, [y] * len(X))
    for made in all_of(learner.certificate(X, [y] * len(X))):
        if made.bound is not None:
            table.problem(key_of(type(made.theorem)), "OnlineSVM", APPLIED, "it stood still")


def descent_run(table, random, name):
    if name == "OnlineSVM" and random.random() < 0.1:
        stands_still(table, random)
        return
    X, y, u, _ = stream(random, 25)
    T, width = X.shape
    loss = pick(random, "perceptron", "hinge", "logistic", "squared")
    radius = float(np.linalg.norm(X, axis=1).max(initial=0.0))
    unit = radius or 1.0
    rate = pick(random, 0.01, 0.1, 0.5, 1.0) / unit**2
    ball = box = None
    factor, ridge, decreasing, delta = 1.0, False, False, 0.0
    if name == "SGD":
        ball = pick(random, None, 0.5, 2.0, 10.0)
        ball = None if ball is None else ball / unit
        decreasing = bool(random.random() < 0.3)
        learner = aw.SGD(
            intercept=False, loss=loss, rate=rate, ball=ball, schedule="1/sqrt(t)" if decreasing else "constant"
        )
    elif name == "AdaGrad":
        box, delta, rate = pick(random, None, 0.3, 3.0), pick(random, 0.0, 1e-6, 1.0), pick(random, 0.1, 1.0) / unit
        box = None if box is None else box / unit
        learner = aw.AdaGrad(intercept=False, loss=loss, rate=rate, delta=delta, box=box)
    else:
        loss, ridge, factor, rate = "hinge", True, pick(random, 0.1, 1.0, 30.0), pick(random, 1e-3, 0.1, 0.9)
        learner = aw.OnlineSVM(C=factor, rate=rate)
    run = Descent(learner, X, y, loss, factor, ridge)
    if run.weights is None:
        return
    run.free &= ball is None and box is None
    u = u * random.uniform(0, 2)
    if ball is not None and np.linalg.norm(u) > ball:
        u = u * (ball / np.linalg.norm(u)) * (1 - 1e-12)
    u = u if box is None else np.clip(u, -box, box)
    default = random.random() < 0.3
    found = learner.certificate(X, y) if default else learner.certificate(X, y, comparator=u)
    rates = [rate / math.sqrt(t + 1) if decreasing else rate for t in range(T)]
    formulas = regrets(run, X, radius, rate, rates, ball, box, delta)
    best = least_of(run, ball, box) if default and T else None
    bounds = []
    for made in all_of(found):
        key, short = key_of(type(made.theorem)), type(made.theorem).__name__
        if short == MISTAKES:
            mistakes_from_loss(table, name, made, run.loss, factor, run.mistakes, bounds)
            if default and T and made.hindsight is not None:
                hindsight_of_mistakes(table, name, key, made, run)
            continue
        if made.bound is None or not default or not T:
            given = [[0.0] * width] if default else [[0.0] * width, u.tolist()]
            bound = None if made.bound is None else min(run.loss_of(v) + formulas[short](np.asarray(v)) for v in given)
            table.certificate(made, name, Truth(run.total, bound, run.slack))
            bounds += [] if bound is None else [(bound, bound)]
        else:
            stated = made.hindsight.gap or 0.0
            low, high = sought(run, short, formulas[short], rate, best, stated <= SOUGHT * made.hindsight.value)
            table.certificate(made, name, Truth(run.total, high, run.slack, bound_slack=high - low + 1e-6 * abs(high)))
            bounds.append((low, high))
        if default and T and made.hindsight is not None:
            hindsight_of_losses(table, name, key, made, run, best)
    if decreasing and ball is not None and loss != "squared" and T:
        value = value_of(table, "gradient-descent-ball", diameter=2 * ball, gradient=unit, rounds=T, rate=rate)
        table.bounded(
            "linear._regret.DecreasingRateBallBound", name, run.total - run.loss_of(u), float(value), run.slack
        )


def mistakes_from_loss(table, name, made, loss, factor, mistakes, bounds):
    """The least of the bounds on the loss, each between two numbers, divided by the loss of a score of 0."""
    cost = factor * float(exact.margin_loss(loss, Fraction(0), 1))
    if (made.bound is not None) != (bool(bounds) and cost > 0):
        table.problem(key_of(type(made.theorem)), name, APPLIED, f"{made.bound!r}, bounds on the loss {bounds!r}")
    if made.bound is None:
        table.certificate(made, name, Truth(mistakes))
        return
    low, high = (min(each) / cost for each in zip(*bounds, strict=True))
    table.certificate(made, name, Truth(mistakes, high, bound_slack=high - low + 1e-6 * abs(high)))


def hindsight_of_mistakes(table, name, key, made, run):
    """No more than the learner's own weights make; a score that may be 0 counts as wrong."""
    for what, w in (("last", run.weights[-1]), ("mean", np.mean(run.weights[: len(run.rows)], axis=0))):
        sizes = [1e-9 * float(np.abs(w) @ np.abs(x)) for x in run.rows]
        scores = [label * float(exact.dot(w.tolist(), x)) for x, label in zip(run.rows, run.y, strict=True)]
        own = sum(score <= size for score, size in zip(scores, sizes, strict=True))
        if made.hindsight.value > own:
            table.problem(key, name, HINDSIGHT, f"{made.hindsight.value!r} mistakes, its {what} weights make {own!r}")


judges(
    *(
        f"linear._regret.{each}"
        for each in (
            "LargestGradientBound",
            "ObservedGradientsBound",
            "BallBound",
            "ObservedBallBound",
            "BoxBound",
            "AdaptiveBound",
            MISTAKES,
            "DecreasingRateBallBound",
        )
    )
)


def regrets(run, X, radius, rate, rates, ball, box, delta):
    """The regret bounds as functions of the comparator."""
    T = len(run.rows)
    largest = 2 * run.factor * radius if run.ridge else radius
    if run.loss == "squared" and not run.ridge:
        largest = radius * (1 + radius * ball) if ball is not None else math.inf
    last = rates[-1] if rates else rate
    columns = [math.sqrt(math.fsum((X[:, j] ** 2).tolist())) for j in range(X.shape[1])]
    sums = [math.fsum(g[j] ** 2 for g in run.gradients) for j in range(X.shape[1])]
    roots = math.fsum(math.sqrt(total) for total in sums)
    diameter = None if ball is None else 2 * ball

    def spread(v):
        far = np.max([np.abs(w - v) for w in run.weights], axis=0)
        return math.fsum(f * f * math.sqrt(delta + total) for f, total in zip(far.tolist(), sums, strict=True))

    def square(v):
        return float(exact.norm_square(v.tolist()))

    return {
        "LargestGradientBound": lambda v: square(v) / (2 * rate) + rate * T * largest**2 / 2,
        "ObservedGradientsBound": lambda v: square(v) / (2 * rate) + rate * math.fsum(run.squares) / 2,
        "BallBound": lambda _: diameter**2 / (2 * last) + largest**2 / 2 * math.fsum(rates),
        "ObservedBallBound": lambda _: (
            diameter**2 / (2 * last) + math.fsum(a * b for a, b in zip(rates, run.squares, strict=True)) / 2
        ),
        "BoxBound": lambda _: (
            (2 * box) ** 2 * math.fsum(math.sqrt(delta + c * c) for c in columns) / (2 * rate)
            + rate * math.fsum(columns)
        ),
        "AdaptiveBound": lambda v: spread(v) / (2 * rate) + rate * roots,
    }


def least_of(run, ball, box):
    """Between what and what the least loss of fixed weights is."""
    ridge = len(run.rows) / run.factor if run.ridge else 0.0
    low, high = between(run.loss, run.rows, run.y, ridge, ball, box)
    return run.factor * low, run.factor * high


def sought(run, name, formula, rate, best, found):
    """Between what and what the bound is for comparators in hindsight: 0, and better ones if these were ``found``."""
    zero = np.zeros(len(run.rows[0]))
    high = run.loss_of(zero.tolist()) + formula(zero)
    if name in ("BallBound", "ObservedBallBound", "BoxBound"):
        # The regret is the same for all: that of the least loss remains.
        reached = best[1] * (1 + SOUGHT) + formula(zero)
        return best[0] + formula(zero), min(high, reached) if found else high
    if name == "AdaptiveBound":
        # No less than if its weights had never been away from those compared with.
        return best[0], high
    ridge = 1 / rate + (len(run.rows) if run.ridge else 0.0)
    low, reached = between(run.loss, run.rows, run.y, ridge / run.factor)
    if run.free and found:
        high = min(high, run.factor * reached * (1 + SOUGHT) + formula(zero))
    return run.factor * low + formula(zero), high


def hindsight_of_losses(table, name, key, made, run, best):
    """As good as any weights, within the gap that it states; and at least as good as the learner's own."""
    value, (low, high) = made.hindsight.value, best
    near = run.slack + 1e-6 * abs(value) + 1e-9 * len(run.rows)
    if not low - near <= value <= high + near + (made.hindsight.gap or 0.0):
        table.problem(key, name, HINDSIGHT_VALUE, f"{value!r}, the least is between {low!r} and {high!r}")
    for what, v in (("last", run.weights[-1]), ("mean", np.mean(run.weights[: len(run.rows)], axis=0))):
        own = run.loss_of(v.tolist()) if len(run.rows) else math.inf
        if made.hindsight.value > own + run.slack + 1e-9 * abs(own):
            table.problem(key, name, HINDSIGHT, f"{made.hindsight.value!r}, its {what} weights {own!r}")


for _name, _more in (("SGD", ("linear._regret.DecreasingRateBallBound",)), ("AdaGrad", ()), ("OnlineSVM", ())):
    subject(_name, *_more)(lambda table, random, name=_name: descent_run(table, random, name))
