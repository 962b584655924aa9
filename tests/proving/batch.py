"""From online to batch: samples from a distribution that is known, so that the true error is known exactly.

A point x has one coordinate or a few, each point its probability, and labels are flipped with some probability. The
error of a predictor is a sum over all points. Bounds that hold with probability 1 - delta are counted.
"""

import math

import numpy as np

import afterwit as aw
import naive_batch
import naive_kernels
from afterwit import batch, bounds, kernels
from naive_bounds import BOUNDS, SAMPLE_SIZES, halting_time
from proving.formulas import value_of
from proving.judging import APPLIED, EXCEEDED, all_of, key_of
from proving.kernels import in_coordinates
from proving.linear import SOUGHT, Sought
from proving.searching import subject
from proving.sequences import SCALES, pick

DELTA = 0.1


class World:
    """Points of length ``scale``, their probabilities, their labels, and how often a label is flipped."""

    def __init__(self, random, noise=None, width=None, scales=SCALES):
        width = width or int(random.integers(1, 4))
        count = int(random.integers(2, 9))
        self.points = random.standard_normal((count, width))
        self.points /= np.linalg.norm(self.points, axis=1, keepdims=True)
        if random.random() < 0.3:
            # Along the axes: many scores are 0, and points come twice.
            self.points = np.eye(width)[random.integers(0, width, count)] * random.choice([-1, 1], (count, 1))
        self.scale = pick(random, 1.0, 1.0, *scales)
        self.points = self.points * self.scale
        target = random.standard_normal(width)
        self.signs = np.where(self.points @ target >= 0, 1, -1)
        self.shares = random.dirichlet(np.ones(count))
        self.noise = pick(random, 0.0, 0.05, 0.3) if noise is None else noise
        self.random = random

    def sample(self, n):
        at = self.random.choice(len(self.points), n, p=self.shares)
        flips = np.where(self.random.random(n) < self.noise, -1, 1)
        return self.points[at], self.signs[at] * flips

    def error(self, predictor):
        wrong = np.asarray(predictor.predict_many(self.points)) != self.signs
        return float(self.shares @ np.where(wrong, 1 - self.noise, self.noise))

    def risk(self, loss, scores):
        """The expected loss of scores."""
        right, wrong = loss(self.signs * scores), loss(-self.signs * scores)
        return float(self.shares @ ((1 - self.noise) * right + self.noise * wrong))


def hinge(margins):
    return np.maximum(0.0, 1.0 - margins)


LOSSES = {
    "hinge": hinge,
    "logistic": lambda margins: np.logaddexp(0.0, -margins),
    "squared": lambda margins: (margins - 1) ** 2 / 2,
}


def learner_for(random, scale):
    winnow = aw.Winnow(rate=0.3 / scale)
    return pick(random, aw.Perceptron(), aw.Perceptron(intercept=True), aw.AveragedPerceptron(), winnow)


@subject("progressive_bound", "batch.progressive.ProgressiveBound")
def progressive(table, random):
    """The mean error of the hypotheses, each before its round."""
    world, T = World(random), int(random.choice([1, 5, 30]))
    X, y = world.sample(T)
    learner, errors = learner_for(random, world.scale), []
    for x, label in zip(X, y.tolist(), strict=True):
        errors.append(world.error(learner))
        learner.learn_one(x, label)
    made = batch.progressive_bound(learner, DELTA)
    wanted = BOUNDS["progressive"](learner.mistakes / T, T, DELTA, 1.0)
    key = key_of(type(made.theorem))
    table.chance(key, "progressive_bound", float(np.mean(errors)) > made.bound, DELTA)
    table.stated(key, "progressive_bound", made.bound, wanted)


@subject("average", "batch.average.AverageLoss", "batch.average.AverageError", "batch.average.AverageExcess")
def average(table, random):
    """Convex losses of the averaged weights; also from a learner that has learned other, longer examples before."""
    world, T = World(random, width=pick(random, 1, 2), scales=(1.0,)), int(random.choice([5, 40, 40]))
    name = pick(random, "hinge", "logistic", "squared")
    learner = pick(
        random,
        aw.OnlineSVM(C=1.0, rate=0.1),
        aw.SGD(intercept=False, loss="hinge", rate=0.1, ball=2.0),
        aw.Winnow(rate=0.3),
    )
    used = random.random() < 0.5
    if used:
        # Three rounds of a long example, then noise at short ones.
        world = World(random, noise=0.05, width=1, scales=(1.0,))
        T, x = 40, np.abs(world.points) * 0 + 1.0
        world.points, world.signs, name = x, np.ones(len(x), dtype=int), "hinge"
        learner.learn_many(1000.0 * x[:1].repeat(3, axis=0), [1, 1, 1])
    X, y = world.sample(T)
    regret = None if used else best_regret(learner, X, y, name)
    found = batch.average(learner, X, y, loss=name, radius=1.0, delta=DELTA, regret=regret)
    loss, weights = LOSSES[name], found.learner
    risk = world.risk(loss, np.asarray(weights.score_many(world.points)))
    subject_name = "average, of a used learner" if used else "average"
    for made in all_of(found.certificate):
        key = key_of(type(made.theorem))
        if made.bound is None:
            table.row(key, subject_name).refused += 1
            continue
        if made.quantity == "error":
            table.chance(key, subject_name, world.error(found) > made.bound, DELTA)
        elif made.quantity == "loss":
            table.chance(key, subject_name, risk > made.bound, DELTA)
        else:
            table.chance(key, subject_name, risk - least_risk(world, loss) > made.bound, DELTA)
        most = float(loss(np.array([-largest_score(learner)]))[0])
        mean = float(loss(y * played_scores(learner, X, y)).mean())
        if made.quantity == "loss beyond the best":
            wanted = BOUNDS["average-excess"](regret, T, DELTA, most)
        else:
            # An example that is predicted wrongly costs at least the loss of a score of 0.
            cost = float(loss(np.zeros(1))[0]) if made.quantity == "error" else 1.0
            wanted = BOUNDS["average"](mean, T, DELTA, most) / cost
        table.stated(key, subject_name, made.bound, wanted)
        highest = float(loss(-np.abs(played_scores(learner, X, y))).max())
        if most < highest * (1 - 1e-9):
            table.problem(key, subject_name, EXCEEDED, f"M = {most!r}, a loss of {highest!r} is possible")


def largest_score(learner):
    """The largest score that the weights can give examples of length 1: those of SGD stay in its ball, of Winnow in the
    simplex, and those of the on-line SVM are no longer than C R or than they were at the beginning.
    """
    if isinstance(learner, aw.OnlineSVM):
        return max(learner.parameters["C"], float(np.linalg.norm(learner.weights)))
    return learner.parameters["ball"] if isinstance(learner, aw.SGD) else 1.0


def played_scores(learner, X, y):
    """The scores of the hypotheses on the examples they met."""
    twin, scores = learner.copy(), []
    for x, label in zip(X, y.tolist(), strict=True):
        # Before it knows how many features there are, Winnow's weights do not add up to 1; in the round they do.
        first = isinstance(twin, aw.Winnow) and twin.rounds == 0
        scores.append(float(np.mean(x)) if first else twin.score_one(x))
        twin.learn_one(x, label)
    return np.array(scores)


def best_regret(learner, X, y, name):
    """The regret to the weights of least loss among many, with something to spare, so the promised regret is true."""
    own = float(LOSSES[name](y * played_scores(learner, X, y)).sum())
    best = min(float(LOSSES[name](y * (X @ u)).sum()) for u in grid(X.shape[1]))
    return max(0.0, own - best) + 0.05 * len(y)


def grid(width):
    """Weights to compare with."""
    steps = np.linspace(-4, 4, 81 if width == 1 else 17)
    return [np.array(u) for u in np.stack(np.meshgrid(*[steps] * width), -1).reshape(-1, width)]


def least_risk(world, loss):
    return min(world.risk(loss, world.points @ u) for u in grid(world.points.shape[1]))


@subject("random_stopping", "batch.random_stopping.RandomStopping", "batch.random_stopping.ProgressiveStopping")
def random_stopping(table, random):
    world, T = World(random, noise=pick(random, 0.0, 0.2)), int(random.choice([5, 30]))
    X, y = world.sample(T)
    margins = world.points * world.signs[:, None]
    margins /= world.scale
    separator = margins.sum(axis=0)
    margin = float((margins @ separator).min() / (np.linalg.norm(separator) or 1))
    most = math.floor(1 / margin**2) if margin > 0 and world.noise == 0 else None
    found = batch.random_stopping(
        aw.Perceptron(), X, y, seed=int(random.integers(2**31)), mistake_bound=most, delta=DELTA
    )
    learner = aw.Perceptron()
    errors = []
    for x, label in zip(X, y.tolist(), strict=True):
        errors.append(world.error(learner))
        learner.learn_one(x, label)
    for made in all_of(found.certificate):
        key = key_of(type(made.theorem))
        if made.bound is None:
            table.row(key, "random_stopping").refused += 1
        elif key.endswith("ProgressiveStopping"):
            # On average over the time, with probability 1 - delta over the examples.
            table.chance(key, "random_stopping", float(np.mean(errors)) > made.bound, DELTA)
            table.stated(key, "random_stopping", made.bound, BOUNDS["progressive"](learner.mistakes / T, T, DELTA, 1.0))
        else:
            table.on_average(key, "random_stopping", world.error(found), made.bound)
            table.stated(key, "random_stopping", made.bound, most / T)


@subject("large_gap", "batch.large_gap.LargeGap", "batch.large_gap.RightInARow", "batch.large_gap.LargeGapSize")
def large_gap(table, random):
    world, epsilon = World(random, noise=pick(random, 0.0, 0.0, 0.1)), pick(random, None, 0.3, 0.5)
    X, y = world.sample(int(random.choice([10, 60])))
    found = batch.large_gap(aw.Perceptron(), X, y, epsilon=epsilon, delta=DELTA)
    made = found.certificate
    key = key_of(type(made.theorem))
    if made.bound is None:
        table.row(key, "large_gap").refused += 1
    else:
        table.chance(key, "large_gap", world.error(found) > made.bound, DELTA)
        k, i = made.inputs["k"], made.inputs["i"]
        every = [
            math.log((number + 2) ** 2 / DELTA) / right
            for _, number, right in naive_batch.gaps(X.tolist(), y.tolist())
            if right
        ]
        stops = epsilon is not None and naive_batch.large_gap(X.tolist(), y.tolist(), epsilon, DELTA) is not None
        table.stated(key, "large_gap", made.bound, epsilon if stops else min(every))
        table.bounded(key, "large_gap, its formula", math.log((i + 2) ** 2 / DELTA) / k, made.bound)
    inputs = {
        "mistake": int(random.integers(0, 30)),
        "error": float(random.uniform(0.01, 0.9)),
        "delta": float(random.uniform(0.001, 0.9)),
    }
    right = value_of(table, "large-gap", **inputs)
    # A hypothesis of that error is right so often in a row with probability at most delta / (i + 2)^2.
    table.bounded(
        "batch.large_gap.RightInARow",
        "its formula",
        (1 - inputs["error"]) ** right,
        inputs["delta"] / (inputs["mistake"] + 2) ** 2,
    )
    wanted = {"mistakes": inputs["mistake"], "error": inputs["error"], "delta": inputs["delta"]}
    enough = bounds.sample_size("large-gap", **wanted)
    table.bounded("batch.large_gap.LargeGapSize", "its formula", halting_time(**wanted), enough)
    size = math.ceil(SAMPLE_SIZES["large-gap"](**wanted))
    table.stated("batch.large_gap.LargeGapSize", "its formula", enough, size, 1)


@subject("controlled_testing", "batch.controlled_testing.ControlledTesting", "batch.controlled_testing.FreshExamples")
def controlled_testing(table, random):
    world, epsilon = World(random, noise=pick(random, 0.0, 0.0, 0.1)), pick(random, 0.3, 0.5)
    X, y = world.sample(int(random.choice([20, 150])))
    found = batch.controlled_testing(aw.Perceptron(), X, y, epsilon=epsilon, delta=DELTA)
    made = found.certificate
    key = key_of(type(made.theorem))
    passed = naive_batch.controlled_testing(X.tolist(), y.tolist(), epsilon, DELTA)[3]
    if made.bound is None:
        table.row(key, "controlled_testing").refused += 1
    else:
        table.chance(key, "controlled_testing", world.error(found) > made.bound, DELTA)
        table.stated(key, "controlled_testing", made.bound, epsilon)
    if (made.bound is not None) != passed:
        table.problem(key, "controlled_testing", APPLIED, f"a test was passed: {passed}; the bound is {made.bound!r}")
    inputs = {
        "hypothesis": int(random.integers(1, 30)),
        "error": float(random.uniform(0.01, 0.9)),
        "delta": float(random.uniform(0.001, 0.9)),
    }
    fresh = value_of(table, "controlled-testing", **inputs)
    table.bounded(
        "batch.controlled_testing.FreshExamples",
        "its formula",
        (1 - inputs["error"]) ** fresh,
        inputs["delta"] / (inputs["hypothesis"] + 2) ** 2,
    )


@subject(
    "penalized_selection", "batch.penalized_selection.PenalizedSelection", "batch.penalized_selection.PenalizedEstimate"
)
def penalized_selection(table, random):
    world, T = World(random), int(random.choice([1, 5, 30]))
    X, y = world.sample(T)
    # In eighths, so that the oracle's fractions are short.
    X = np.round(X / world.scale * 8) / 8
    world.points = np.round(world.points / world.scale * 8) / 8
    found = batch.penalized_selection(aw.Perceptron(), X, y, delta=DELTA)
    hypotheses = naive_batch.perceptron_before_every_round(X.tolist(), y.tolist())
    estimates, _ = naive_batch.estimates(hypotheses, X.tolist(), y.tolist(), DELTA)
    learner = aw.Perceptron()
    mistakes = int((learner.learn_many(X, y) != y).sum())
    for made in all_of(found.certificate):
        key = key_of(type(made.theorem))
        table.chance(key, "penalized_selection", world.error(found) > made.bound, DELTA)
        wanted = min(estimates) if key.endswith("Estimate") else BOUNDS["penalized-selection"](mistakes / T, T, DELTA)
        table.stated(key, "penalized_selection", made.bound, float(wanted))


@subject("kernel_margin_bound", "batch.kernel_margin.KernelMarginBound", "batch.kernel_margin.MeanKernelMarginBound")
def kernel_margin(table, random):
    world, T = World(random, scales=(1e-3, 1e3)), int(random.choice([5, 30]))
    X, y = world.sample(T)
    learner, kernel = pick(
        random,
        (aw.Perceptron(), naive_kernels.linear),
        (aw.DualPerceptron(), naive_kernels.linear),
        (aw.KernelPerceptron(), naive_kernels.polynomial(2)),
        (aw.KernelPerceptron(kernels.gaussian(0.7)), naive_kernels.gaussian(0.7)),
    )
    learner.learn_many(X, y)
    made = batch.kernel_margin_bound(learner, X, y, DELTA)
    selected = batch.penalized_selection(type(learner)(**learner.parameters), X, y, delta=DELTA)
    key = key_of(type(made.theorem))
    table.chance(key, "kernel_margin_bound", world.error(selected) > made.bound, DELTA)
    margin_stated(table, key, made, X, y, learner, kernel)
    # In the form of the exercise, for h of length 1 at margin rho; the linear kernel, any direction and margin.
    u, rho = random.standard_normal(X.shape[1]), float(random.uniform(0.05, 2)) * world.scale
    u /= np.linalg.norm(u)
    wrong = aw.DualPerceptron().learn_many(X, y) != y
    squares = [float(naive_kernels.linear(row, row)) for row in map(naive_kernels.as_dict, X[wrong].tolist())]
    mean = float(np.maximum(0.0, 1 - y * (X @ u) / rho).mean())
    value = float(
        value_of(
            table,
            "kernel-perceptron-margin",
            mean_hinge=mean,
            kernel_sum=math.fsum(squares),
            rho=rho,
            rounds=T,
            delta=DELTA,
        )
    )
    chosen = batch.penalized_selection(aw.DualPerceptron(), X, y, delta=DELTA)
    table.chance("batch.kernel_margin.MeanKernelMarginBound", "kernel_margin_bound", world.error(chosen) > value, DELTA)
    twice = type(learner)(**learner.parameters)
    for _ in range(2):
        twice.learn_many(X, y)
    if batch.kernel_margin_bound(twice, X, y, DELTA).bound is not None:
        table.problem(key, "kernel_margin_bound", APPLIED, "it learned the examples twice")
    # What the proof says of every sample: the online mistakes are at most that, without the last term.
    rest = 6 * math.sqrt(math.log(2 * (T + 1) / DELTA) / T)
    table.bounded(
        "batch.kernel_margin.MeanKernelMarginBound",
        "kernel_margin_bound, mistakes",
        float(wrong.mean()),
        value - rest,
        1e-9,
    )


def margin_stated(table, key, made, X, y, learner, kernel):
    """The formula for a comparator of the length that is named; no weights of that length lose less than it says."""
    rows = [naive_kernels.as_dict(row) for row in X.tolist()]
    gram = [[kernel(x, z) for z in rows] for x in rows]
    T, sought = len(X), Sought(in_coordinates(gram), y.tolist(), 1)
    predicted = type(learner)(**learner.parameters).learn_many(X, y)
    squares = math.fsum(float(gram[t][t]) for t in np.flatnonzero(predicted != y))
    length, lost = made.inputs["|u|"], made.inputs["L"]
    rest = BOUNDS["penalized-selection"](0.0, T, DELTA)
    table.stated(key, "kernel_margin_bound", made.bound, (lost + length * math.sqrt(squares)) / T + rest)
    # At the price at which that length is best for the sharper hinge bound.
    price = sought.radius * math.sqrt(float((predicted != y).sum()) or 1.0) / length if length else 0.0
    least = sought.loss(length, price) if price else float(T)
    table.bounded(key, "kernel_margin_bound, the loss", least, lost, 1e-6 * T)
    # The comparator is at least as good as none.
    table.bounded(key, "kernel_margin_bound, no comparator", made.bound, 1 + rest, SOUGHT)
