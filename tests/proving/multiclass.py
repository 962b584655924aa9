"""Multiclass perceptrons and softmax regression: small streams of many labels, with comparators that are given or found.

Mistakes are counted from the predictions, and what a comparator has is multiplied out in fractions. Where comparators
are found in hindsight, they are as good as the machine of two labels is by Kesler's construction, and not worse than the
learner's own weights.
"""

import math
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive_exact as exact
from naive_bounds import BOUNDS
from naive_hindsight_linear import widest_margin
from naive_multiclass import MulticlassRun, SoftmaxRun, margins, product
from proving.judging import APPLIED, EPSILON, HINDSIGHT, Truth, all_of, key_of
from proving.linear import form_of, nearly, seen_rows, stream
from proving.searching import judges, subject
from proving.sequences import pick

HINGES = {
    "MulticlassHingeBound": "multiclass-perceptron-hinge",
    "MulticlassRootHingeBound": "multiclass-perceptron-hinge-sharper",
    "MulticlassUpdateHingeBound": "multiclass-perceptron-update-hinge",
    "MulticlassSimpleUpdateHingeBound": "multiclass-perceptron-update-hinge-simple",
    "MulticlassEuclideanHingeBound": "multiclass-perceptron-update-hinge-euclidean",
}
OVER_ALL = ("MulticlassHingeBound", "MulticlassRootHingeBound")
MARGIN = "MulticlassMarginBound"
judges(*(f"linear.multiclass_perceptron.{name}" for name in (MARGIN, *HINGES)))


def classes_of(random, X):
    """Labels of the rows, and weights of all classes that are good on them."""
    count = int(random.integers(2, 5))
    U = random.standard_normal((count, X.shape[1])) / np.maximum(np.abs(X).max(axis=0, initial=0.0), 1e-30)
    if random.random() < 0.5:
        U = np.round(U * np.maximum(np.abs(X).max(axis=0, initial=0.0), 1e-30))
    y = np.argmax(X @ U.T, axis=1) if len(X) else np.zeros(0, dtype=int)
    if random.random() < 0.5:
        y = np.where(random.random(len(X)) < pick(random, 0.1, 1.0), random.integers(0, count, len(X)), y)
    return y.tolist(), U, count


class Comparison:
    """What given weights of all classes have on the rows, exactly."""

    def __init__(self, rows, y, vectors):
        by_class = {label: dict(enumerate(weights)) for label, weights in vectors.items()}
        self.margins = margins(by_class, [dict(enumerate(x)) for x in rows], y)
        self.square = sum((exact.norm_square(weights) for weights in vectors.values()), Fraction(0))
        self.radius_square = max((exact.norm_square(x) for x in rows), default=Fraction(0))

    def bound(self, made, updates, passes, more):
        """The bound of the theorem for the comparator and the scale that the certificate names."""
        name, radius = type(made.theorem).__name__, float(exact.root(self.radius_square))
        if name == MARGIN:
            least = min(self.margins, default=Fraction(1))
            return float(2 * self.radius_square * self.square / least**2) + more if least > 0 else None
        length = made.inputs["|U|"] if name in OVER_ALL else 1 / made.inputs["rho"]
        if length == 0:
            # Weights of 0 lose 1 in every round; the losses of all rounds stand for those of the updates.
            total = float(passes * len(self.margins))
            return (BOUNDS[HINGES[name]](radius, 0.0, total) if name in OVER_ALL else total) + more
        scale = Fraction(length) / exact.root(self.square)
        only = range(passes * len(self.margins)) if name in OVER_ALL else updates
        losses = [max(Fraction(0), 1 - scale * self.margins[t % len(self.margins)]) for t in only]
        total = float(sum(losses, Fraction(0)))
        if name == "MulticlassEuclideanHingeBound":
            total = float(exact.root(sum((loss**2 for loss in losses), Fraction(0))))
        return BOUNDS[HINGES[name]](radius, length if name in OVER_ALL else 1 / length, total) + more


def kesler(rows, y, classes):
    """The rows of Kesler's construction: x in the place of its class, -x in that of another."""
    found = []
    for x, label in zip(rows, y, strict=True):
        for other in classes:
            if other != label:
                z = {label: x, other: [-a for a in x]}
                found.append([a for each in classes for a in z.get(each, [0.0] * len(x))])
    return found


def multiclass_run(table, random, name):
    X, _, _, kind = stream(random, 14)
    y, U, count = classes_of(random, X)
    announced = random.random() < 0.4
    intercept, passes = bool(random.random() < 0.3), int(random.choice([1, 1, 2]))
    learner = getattr(aw, name)(intercept=intercept, labels=list(range(count)) if announced else None)
    predicted = [label for _ in range(passes) for label in learner.learn_many(form_of(random, X), y).tolist()]
    rows = seen_rows(X, intercept)
    run = MulticlassRun([dict(enumerate(x)) for x in rows], y, range(count) if announced else None, passes)
    # Whole numbers whose products are exact: nothing is rounded.
    alike = kind in ("grid", "unit") and (np.round(X) == X).all() and np.abs(X).max(initial=0.0) < 1e7
    if alike:
        table.same("", name, predicted, run.by_average if name.startswith("Averaged") else run.predictions)
    mistakes = sum(guess != label for guess, label in zip(predicted, y * passes, strict=True))
    more = 0 if announced or name.startswith("Averaged") or not len(X) else 1
    updates = [t for t, *_ in run.updates]
    if name == "MulticlassPerceptron":
        # By what it predicted: where rounding decides, the oracle may have gone another way.
        updates = [t for t, guess in enumerate(predicted) if guess not in (None, y[t % len(y)])]
        observed = mistakes
    else:
        observed = len(updates) if alike else None
    given = random.random() < 0.7 and len(learner.classes) > 1
    if not given:
        found = learner.certificate(X, y)
        better_than_own(table, name, found, learner, rows, y, passes)
        for made in all_of(found):
            table.certificate(made, name, lambda made=made: sought(made, rows, y, learner.classes, observed, more))
        return
    vectors = {label: U[label].tolist() for label in learner.classes}
    found = learner.certificate(X, y, comparator=vectors)
    vectors = {label: [0.0, *weights] if intercept else weights for label, weights in vectors.items()}
    comparison = Comparison(rows, y, vectors)
    for made in all_of(found):
        short, bound = type(made.theorem).__name__, None
        if made.bound is not None and (alike or name == "MulticlassPerceptron" or short in (MARGIN, *OVER_ALL)):
            bound = comparison.bound(made, updates, passes, more)
            if bound is None:
                table.problem(key_of(type(made.theorem)), name, APPLIED, "the comparator does not separate")
        # A loss of 0 may be rounded to 1e-16, whose root is 1e-8; a small margin is a difference of large scores.
        slack = (1e-6 if short in (MARGIN, "MulticlassSimpleUpdateHingeBound") else 1e-9) * (bound or 0.0)
        table.certificate(made, name, Truth(observed, bound, bound_slack=slack))


def sought(made, rows, y, classes, observed, more):
    """The margin bound for the widest margin of Kesler's rows; the others only have to hold."""
    if type(made.theorem).__name__ != MARGIN or len(classes) < 2:
        return Truth(observed)
    radius = math.sqrt(max(sum(a * a for a in x) for x in rows))
    gamma = widest_margin(kesler(rows, y, classes), [1] * (len(rows) * (len(classes) - 1)))
    if gamma < 1e-6 * radius:
        return Truth(observed)
    bound = 2 * (radius / gamma) ** 2
    return Truth(observed, bound + more, bound_slack=2 * nearly(gamma, radius) * bound)


def better_than_own(table, name, found, learner, rows, y, passes):
    """Hindsight is at least as good as the learner's own weights."""
    made = next((each for each in all_of(found) if each.hindsight is not None), None)
    if made is None or not rows:
        return
    vectors = {label: learner.weights[label].tolist() for label in learner.classes}
    if learner.parameters["intercept"]:
        vectors = {label: [learner.intercept_weight[label], *weights] for label, weights in vectors.items()}
    wrong = 0
    for x, label in zip(rows, y, strict=True):
        scores = {each: product(dict(enumerate(vectors[each])), dict(enumerate(x))) for each in vectors}
        size = max(abs(score) for score in scores.values())
        # Where rounding decides, it may count as a mistake.
        wrong += any(scores[each] >= scores[label] - Fraction(1, 10**9) * size for each in scores if each != label)
    if made.hindsight.value > passes * wrong:
        detail = f"{made.hindsight.value!r} mistakes, its own weights {passes * wrong!r}"
        table.problem(key_of(type(made.theorem)), name, HINDSIGHT, detail)


for _name in ("MulticlassPerceptron", "AveragedMulticlassPerceptron"):
    subject(_name)(lambda table, random, name=_name: multiclass_run(table, random, name))


@subject("the multiclass perceptron's adversary")
def tight(table, random):
    """Unit vectors, none of the class that is named first: of two classes, the margin bound is attained."""
    n = int(random.integers(1, 30))
    X = np.eye(n) * pick(random, 1.0, 0.25, 2.0**40, 2.0**-40)
    learner = aw.MulticlassPerceptron(labels=("first", "second"))
    learner.learn_many(X, ["second"] * n)
    made = next(
        each for each in all_of(learner.certificate(X, ["second"] * n)) if type(each.theorem).__name__ == MARGIN
    )
    key = key_of(type(made.theorem))
    table.attained(key, "MulticlassPerceptron", learner.mistakes, n)
    table.attained(key, "MulticlassPerceptron", made.bound, n, 1e-6 * n)


class Shown:
    """A run of softmax regression by the scores that it showed before each round, and what its theorem speaks of."""

    def __init__(self, learner, X, rows, y, passes, announced, rate, delta):
        self.rows, self.y, self.passes, self.announced = [dict(enumerate(x)) for x in rows], y, passes, announced
        # The oracle's formulas, on what the learner did.
        self.run = SoftmaxRun([], [], rate, delta, announced)
        self.run.history.clear()
        self.losses, self.mistakes, self.size = [], 0, 0.0
        for t in range(passes * len(y)):
            x, label = self.rows[t % len(y)], y[t % len(y)]
            self.run.history.append(self.weights_of(learner))
            scores = learner.score_one(X[t % len(y)])
            self.mistakes += learner.learn_one(X[t % len(y)], label) != label
            scores.setdefault(label, 0.0)
            self.round(scores, x, label)
        self.run.history.append(self.weights_of(learner))

    def weights_of(self, learner):
        first = learner.intercept_weight if learner.intercept else None
        found = {}
        for label, weights in learner.weights.items():
            row = np.asarray(weights).tolist() if not isinstance(weights, dict) else []
            found[label] = dict(enumerate(row if first is None else [first[label], *row]))
        return found

    def round(self, scores, x, label):
        largest = max(scores.values())
        shares = {k: math.exp(score - largest) for k, score in scores.items()}
        total = math.fsum(shares.values())
        self.losses.append(largest - scores[label] + math.log(total))
        slopes = {k: share / total for k, share in shares.items()}
        slopes[label] = -math.fsum(share for k, share in shares.items() if k != label) / total
        self.run.gradients.append({(k, j): slope * value for k, slope in slopes.items() for j, value in x.items()})
        self.size += self.losses[-1] + sum(abs(slopes[k] * scores[k]) for k in scores)

    def bound(self, vectors):
        loss = self.run.loss_of(vectors, self.rows, self.y, self.announced, self.passes)
        return loss + self.run.regret_bound(vectors)


@subject("SoftmaxAdaGrad", "linear.softmax_adagrad.SoftmaxBound", "linear.softmax_adagrad.SoftmaxMistakes")
def softmax_run(table, random):
    X, _, _, _ = stream(random, 14)
    y, U, count = classes_of(random, X)
    unit = float(np.abs(X).max(initial=0.0)) or 1.0
    announced = list(range(count)) if random.random() < 0.5 else None
    intercept, passes = bool(random.random() < 0.5), int(random.choice([1, 1, 2]))
    rate, delta = pick(random, 0.1, 0.5, 2.0) / pick(random, 1.0, unit), pick(random, 0.0, 1e-6, 1.0)
    learner = aw.SoftmaxAdaGrad(rate=rate, delta=delta, intercept=intercept, labels=announced)
    shown = Shown(learner, X, seen_rows(X, intercept), y, passes, announced, rate, delta)
    total = math.fsum(shown.losses)
    slack = 64 * EPSILON * (len(shown.losses) + 16) * (shown.size + total)
    U = U * random.uniform(0, 2)
    given = random.random() < 0.7
    vectors = {label: U[label].tolist() for label in learner.classes}
    rows = form_of(random, X)
    found = learner.certificate(rows, y, comparator=vectors) if given else learner.certificate(rows, y)
    zero = {label: {} for label in learner.classes}
    if given:
        weights = {k: dict(enumerate([0.0, *w] if intercept else w)) for k, w in vectors.items()}
        low = high = min(shown.bound(zero), shown.bound(weights)) if len(X) else 0.0
    else:
        # Any comparator will do, and the zero vector is always among them.
        low, high = total, shown.bound(zero)
    for made in all_of(found):
        if made.quantity == "mistakes":
            more = 0 if announced else len(learner.classes)
            low, high = low / math.log(2) + more, high / math.log(2) + more
            truth = Truth(shown.mistakes, high, bound_slack=high - low + 1e-6 * high)
        else:
            truth = Truth(total, high, slack, bound_slack=high - low + 1e-9 * high)
        table.certificate(made, "SoftmaxAdaGrad", truth)
        if not given and made.hindsight is not None and made.quantity == "loss":
            own = shown.run.loss_of(shown.weights_of(learner), shown.rows, y, announced, passes)
            if made.hindsight.value > own + slack + 1e-9 * own:
                detail = f"{made.hindsight.value!r}, its last weights {own!r}"
                table.problem(key_of(type(made.theorem)), "SoftmaxAdaGrad", HINDSIGHT, detail)
