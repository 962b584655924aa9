"""Linear learners: small streams in exact arithmetic, with comparators that are given or found.

Mistakes are counted from the predictions, losses are those of the scores that were shown before each round, and what a
comparator has is multiplied out in fractions. Where comparators are found in hindsight, those have to be at least as
good as what the learner itself had: its last weights, and the mean of all.
"""

import math
from fractions import Fraction

import numpy as np
from scipy import sparse

import afterwit as aw
import naive
import naive_exact as exact
from afterwit import adversaries, hindsight
from naive_bounds import BOUNDS
from naive_hindsight_linear import between, widest_margin
from proving.formulas import value_of
from proving.judging import APPLIED, HINDSIGHT, HINDSIGHT_VALUE, MISREPORTED, Truth, all_of, key_of
from proving.searching import judges, subject
from proving.sequences import SCALES, pick

PERCEPTRON = "linear.perceptron."
HINGES = {
    "HingeBound": "perceptron-hinge",
    "RootHingeBound": "perceptron-hinge-sharper",
    "UpdateHingeBound": "perceptron-update-hinge",
    "SimpleUpdateHingeBound": "perceptron-update-hinge-simple",
    "EuclideanHingeBound": "perceptron-update-hinge-euclidean",
}
judges(*(PERCEPTRON + name for name in ("MarginBound", "TrainedBound", *HINGES)))


# ---------------------------------------------------------------------- streams


def stream(random, most=40):
    """Rows, labels, and weights that are good on them."""
    rounds, width = int(random.choice([0, 1, 1, 2, 2, 5, 5, 12, 12, most, most])), int(random.choice([1, 2, 3, 6]))
    kind = pick(random, "grid", "grid", "plain", "separable", "noise", "unscaled", "unscaled", "duplicates", "unit")
    X = random.standard_normal((rounds, width))
    u = random.standard_normal(width)
    if kind == "grid":
        X, u = random.integers(-3, 4, (rounds, width)).astype(float), random.integers(-3, 4, width).astype(float)
    elif kind == "unit":
        X = np.eye(width)[random.integers(0, width, rounds)]
    elif kind == "unscaled":
        scales = 10.0 ** random.integers(-3, 6, width)
        X, u = X * scales, u / scales
    elif kind == "duplicates":
        X = X[random.integers(0, max(1, rounds // 3), rounds)]
    scale = pick(random, 1.0, 1.0, 1.0, *SCALES)
    X = X * scale
    scores = X @ u
    y = np.where(scores >= 0, 1, -1)
    if kind in ("noise", "unscaled"):
        y = np.where(random.random(rounds) < 0.2, -y, y)
    elif kind in ("grid", "unit", "duplicates", "plain") and random.random() < 0.6:
        y = np.where(random.random(rounds) < 0.5, 1, -1)
    elif kind == "separable":
        # Away from the hyperplane by a tenth of the typical distance.
        X = X[np.abs(scores) >= 0.1 * np.abs(scores).sum() / max(1, rounds)]
        y = np.where(X @ u >= 0, 1, -1)
    return X, y, u, kind


def seen_rows(X, intercept):
    """Rows as the learner sees them."""
    rows = X.tolist()
    return naive_with_ones(rows) if intercept else rows


def naive_with_ones(rows):
    return [[1.0, *row] for row in rows]


def form_of(random, X):
    return sparse.csr_array(X) if random.random() < 0.2 else X


class Comparison:
    """What given weights have on the rows, exactly."""

    def __init__(self, rows, y, u):
        self.margins = [int(label) * exact.dot(u, x) for x, label in zip(rows, y.tolist(), strict=True)]
        self.square = exact.norm_square(u)
        self.one_norm = sum((abs(Fraction(a)) for a in u), Fraction(0))
        self.radius_square = max((exact.norm_square(x) for x in rows), default=Fraction(0))
        self.largest = max((abs(Fraction(a)) for x in rows for a in x), default=Fraction(0))

    @property
    def length(self):
        return float(exact.root(self.square))

    @property
    def radius(self):
        return float(exact.root(self.radius_square))

    def hinges(self, scale, only=None):
        scale = Fraction(scale)
        margins = self.margins if only is None else [self.margins[t % len(self.margins)] for t in only]
        return [max(Fraction(0), 1 - scale * margin) for margin in margins]

    def margin_bound(self):
        """(R / gamma)^2 without rounding; None if the weights do not separate."""
        least = min(self.margins, default=Fraction(1))
        return self.radius_square * self.square / least**2 if least > 0 and self.square > 0 else None


def compared(made, comparison, updates, passes):
    """The bound of the theorem for the comparator and the scale that the certificate names."""
    name = type(made.theorem).__name__
    inputs, radius = made.inputs, comparison.radius
    if name == "MarginBound":
        return comparison.margin_bound()
    length = inputs["|u|"] if "|u|" in inputs else 1 / inputs["rho"]
    scale = length / comparison.length if comparison.length else 0.0
    if name in ("HingeBound", "RootHingeBound"):
        total = passes * float(sum(comparison.hinges(scale)))
        return BOUNDS[HINGES[name]](radius, length, total)
    if length == 0:
        # The losses of all rounds, each 1, stand for those of the updates.
        return float(passes * len(comparison.margins))
    losses = comparison.hinges(scale, updates)
    total = float(sum(losses)) if name != "EuclideanHingeBound" else float(exact.root(sum(loss**2 for loss in losses)))
    return BOUNDS[HINGES[name]](radius, 1 / length, total)


#: Comparators that are found in hindsight may be this part above the best: certificates seek them no further.
SOUGHT = 2e-3


def nearly(margin, radius):
    """By what part two solvers may differ in a margin: both lose digits as it becomes small beside the rows."""
    return 1e-5 + 1e-14 * (radius / margin) ** 2


class Sought:
    """What is true of comparators found in hindsight, by solvers of our own."""

    def __init__(self, rows, labels, passes):
        self.rows, self.labels, self.passes = rows, [int(label) for label in labels], passes
        self.radius = math.sqrt(max((sum(a * a for a in x) for x in rows), default=0.0))
        self.gamma = widest_margin(rows, self.labels) if rows else 0.0

    def hinge(self):
        """Between what and what R^2 |u|^2 + 2 L is, at its least."""
        if not self.radius:
            return 2.0 * self.passes * len(self.rows), 2.0 * self.passes * len(self.rows)
        low, high = between("hinge", self.rows, self.labels, ridge=self.radius**2 / self.passes)
        return 2 * self.passes * low, 2 * self.passes * high * (1 + SOUGHT)

    def loss(self, length, price):
        """What weights of that length lose at least, if |u|^2/2 is worth that price."""
        low, _ = between("hinge", self.rows, self.labels, ridge=price / self.passes)
        return max(0.0, self.passes * low - price * length**2 / 2)

    def truth(self, made, observed):
        """The bound, and how far from it that of the certificate may be. It is open for the rounds with an update."""
        name = type(made.theorem).__name__
        if not self.rows or not self.radius:
            return Truth(observed)
        if name == "MarginBound":
            # Nearer to the hyperplane than this, the solvers differ.
            if self.gamma < 1e-6 * self.radius:
                return Truth(observed)
            bound = (self.radius / self.gamma) ** 2
            return Truth(observed, bound, bound_slack=2 * nearly(self.gamma, self.radius) * bound)
        if name not in ("HingeBound", "RootHingeBound"):
            return Truth(observed)
        low, high = self.hinge()
        length = made.inputs["|u|"]
        if name == "RootHingeBound":
            # Where the bound B is least, L + R sqrt(B) |u| is.
            price = self.radius * math.sqrt(made.bound) / length if length else 0.0
            least = self.loss(length, price) if price else float(self.passes * len(self.rows))
            low = BOUNDS[HINGES[name]](self.radius, length, least)
        return Truth(observed, high, bound_slack=high - low + 1e-6 * high)


# ---------------------------------------------------------------------- perceptrons


def perceptron_run(table, random, name):
    if name == "Perceptron" and random.random() < 0.15:
        until_nothing_changes(table, random)
        return
    X, y, u, _ = stream(random)
    intercept, passes = bool(random.random() < 0.3), int(random.choice([1, 1, 1, 3]))
    options = {"intercept": intercept}
    if name == "Perceptron":
        options["rate"] = pick(random, 1.0, 1.0, 0.5, 1e-3)
        if random.random() < 0.1:
            options["start"] = (2.0 * np.abs(X).max(initial=1.0) * random.standard_normal(X.shape[1])).tolist()
    learner = getattr(aw, name)(**options)
    rows = seen_rows(X, intercept)
    predicted = np.concatenate([learner.learn_many(form_of(random, X), y) for _ in range(passes)])
    labels = np.tile(y, passes)
    fragile, exactly = rule(rows, y.tolist(), passes)
    mistakes = int((predicted != labels).sum())
    updates = np.flatnonzero(predicted != labels).tolist() if name == "Perceptron" else exactly
    if name == "VotedPerceptron" and 0 < passes * len(X) <= 15:
        table.same("", name, *voted(predicted.tolist(), rows * passes, labels.tolist()))
    given = random.random() < 0.7
    if given:
        u = [0.0, *u] if intercept else list(u)
        comparison = Comparison(rows, y, u)
        found = learner.certificate(X, y, comparator=u[1:] if intercept else u)
    else:
        found = learner.certificate(X, y)
        better_than_own(table, name, found, learner, X, y, passes)
    observed = mistakes if name == "Perceptron" else (None if fragile else len(exactly))
    sought = None if given else Sought(rows, y.tolist(), passes)
    for made in all_of(found):
        if type(made.theorem).__name__ == "TrainedBound":
            continue
        if options.get("start") is not None and any(options["start"]) and made.bound is not None:
            table.problem(key_of(type(made.theorem)), name, APPLIED, "it was given another start")
        else:
            short = type(made.theorem).__name__
            if not given:
                table.certificate(made, name, lambda made=made: sought.truth(made, observed))
                continue
            # Rounding decides in which rounds there was an update.
            open_updates = (
                fragile and name != "Perceptron" and short not in ("MarginBound", "HingeBound", "RootHingeBound")
            )
            known = made.bound is not None and not open_updates
            bound = compared(made, comparison, updates, passes) if known else None
            if known and bound is None and short == "MarginBound":
                table.problem(key_of(type(made.theorem)), name, APPLIED, "the comparator does not separate")
            # A loss of 0 may be rounded to 1e-16, whose root is 1e-8.
            slack = 1e-6 * float(bound or 0) if short == "SimpleUpdateHingeBound" else 0.0
            table.certificate(made, name, Truth(observed, None if bound is None else float(bound), bound_slack=slack))


def voted(predicted, rows, labels):
    """What the learner predicted and what the vote of its hypotheses is; as predicted where rounding decides."""
    history = naive.hypotheses(rows, labels)
    sizes = [sum((abs(Fraction(x[j])) for x in rows), Fraction(0)) for j in range(len(rows[0]))]
    wanted = []
    for t, x in enumerate(rows):
        votes = 0
        size = exact.dot(sizes, [abs(a) for a in x])
        for w in history[1 : t + 1]:
            score = exact.dot(w, x)
            votes += naive.sign(score)
            if any(w) and abs(score) <= Fraction(1, 10**9) * size and any(a != int(a) for a in x):
                return predicted, predicted
        wanted.append(naive.sign(votes))
    return predicted, wanted


def rule(rows, y, passes):
    """Whether some score is so near 0 that rounding decides, and the rounds in which the perceptron updates."""
    w, sizes = [Fraction(0)] * (len(rows[0]) if rows else 0), [Fraction(0)] * (len(rows[0]) if rows else 0)
    fragile, updates = False, []
    for t in range(passes * len(rows)):
        x, label = rows[t % len(rows)], y[t % len(rows)]
        score = exact.dot(w, x)
        size = exact.dot(sizes, [abs(a) for a in x])
        fragile |= score == 0 and size != 0 and any(a != int(a) for a in x)
        fragile |= 0 < abs(score) < Fraction(1, 10**9) * size
        if naive.sign(score) != label:
            updates.append(t)
            w = [a + label * Fraction(b) for a, b in zip(w, x, strict=True)]
            sizes = [a + abs(Fraction(b)) for a, b in zip(sizes, x, strict=True)]
    return fragile, updates


def until_nothing_changes(table, random):
    """Leaving one row out: a fact of every sample, of which the theorem is the mean. Whole numbers: no rounding."""
    n, width = int(random.integers(2, 12)), int(random.integers(1, 4))
    X, u = random.integers(-4, 5, (n, width)).astype(float), random.integers(1, 4, width)
    X = X[(X @ u) != 0]
    if not len(X):
        return
    y = np.where(X @ u > 0, 1, -1)
    learner = aw.Perceptron(rate=pick(random, 1.0, 0.5))
    passes, before = 0, -1
    while before != learner.updates or passes < 2:
        before, passes = learner.updates, passes + 1
        learner.learn_many(X, y)
    for made in all_of(learner.certificate(X, y)):
        if type(made.theorem).__name__ == "TrainedBound" and made.bound is not None:
            wrong = naive.leave_one_out(X.tolist(), y.tolist())
            key = key_of(type(made.theorem))
            table.bounded(key, "Perceptron", wrong, made.bound)
            table.same(key, "Perceptron", made.observed, wrong, MISREPORTED, 1e-12)
            sought = Sought(X.tolist(), y.tolist(), 1)
            _, exactly = rule(X.tolist(), y.tolist(), passes)
            wanted = BOUNDS["perceptron-trained"](len(exactly), sought.radius, sought.gamma, len(X))
            table.stated(key, "Perceptron", made.bound, wanted, 1e-6 * wanted)


def better_than_own(table, name, found, learner, X, y, passes):
    """Hindsight is at least as good as the learner's own last weights."""
    made = next((each for each in all_of(found) if each.hindsight is not None), None)
    weights = own_weights(learner, X.shape[1])
    if made is None or weights is None or not len(X):
        return
    own = passes * int(((scores_of(learner, weights, X) >= 0) != (y > 0)).sum())
    if made.hindsight.value > own:
        detail = f"{made.hindsight.value!r} {made.quantity}, its last weights {own!r}"
        table.problem(key_of(type(made.theorem)), name, HINDSIGHT, detail)


def own_weights(learner, width):
    weights = np.zeros(width)
    found = np.asarray(learner.weights, dtype=float)
    weights[: len(found)] = found[:width]
    return weights if np.isfinite(weights).all() else None


def scores_of(learner, weights, X):
    return X @ weights + (learner.intercept if learner.parameters.get("intercept") else 0.0)


for _name in ("Perceptron", "AveragedPerceptron", "VotedPerceptron"):
    subject(_name)(lambda table, random, name=_name: perceptron_run(table, random, name))


@subject("the perceptron's adversary")
def tight(table, random):
    """Exercise 8.3: unit vectors, all labelled -1. The margin bound is attained."""
    n = int(random.integers(1, 40))
    found = adversaries.unit_vectors(n)
    learner = aw.Perceptron(rate=pick(random, 1.0, 0.25, 3.0))
    learner.learn_many(found.X, found.y)
    margin = next(made for made in all_of(learner.certificate(found.X, found.y)) if made.theorem.id == "perceptron")
    table.attained(PERCEPTRON + "MarginBound", "Perceptron", learner.mistakes, n)
    table.attained(PERCEPTRON + "MarginBound", "Perceptron", margin.bound, n, 1e-6 * n)


@subject("MarginPerceptron", "linear.margin_perceptron.MarginUpdateBound")
def margin_perceptron(table, random):
    X, y, u, _ = stream(random)
    rows, passes = X.tolist(), int(random.choice([1, 1, 3]))
    comparison = Comparison(rows, y, u.tolist())
    best = comparison.margin_bound()
    gamma = comparison.radius / math.sqrt(float(best)) if best else 0.1 * comparison.radius or 1.0
    rho = gamma * pick(random, 1.0, 0.999, 0.5, 1.01, 1.5, 1.9)
    learner = aw.MarginPerceptron(margin=rho)
    for _ in range(passes):
        learner.learn_many(X, y)
    _, _, updates = naive.margin_perceptron(rows, y.tolist(), rho, passes)
    for made in all_of(learner.certificate(X, y, comparator=u)):
        key = key_of(type(made.theorem))
        if made.bound is not None and len(X) and not (best and rho <= gamma * (1 + 1e-8)):
            table.problem(key, "MarginPerceptron", APPLIED, f"gamma {gamma!r}, rho {rho!r}")
        # Where a product is as near to the margin as rounding, the learner may decide otherwise.
        if learner.updates == len(updates):
            table.certificate(made, "MarginPerceptron", Truth(len(updates), 16 * (comparison.radius / rho) ** 2))


@subject("PassiveAggressive", "linear.passive_aggressive.PassiveAggressiveBound")
def passive_aggressive(table, random):
    X, y, u, _ = stream(random)
    intercept, passes = bool(random.random() < 0.3), int(random.choice([1, 1, 3]))
    rows = seen_rows(X, intercept)
    u = [0.0, *u] if intercept else list(u)
    comparison = Comparison(rows, y, u)
    C = pick(random, 1.0, 0.01, 100.0) / (comparison.radius**2 or 1.0)
    learner = aw.PassiveAggressive(C, intercept=intercept)
    predicted = np.concatenate([learner.learn_many(form_of(random, X), y) for _ in range(passes)])
    mistakes = int((predicted != np.tile(y, passes)).sum())
    for made in all_of(learner.certificate(X, y, comparator=u[1:] if intercept else u)):
        bound = None
        if made.bound is not None:
            length = made.inputs["|u|"]
            scale = length / comparison.length if comparison.length else 0.0
            total = passes * float(sum(comparison.hinges(scale)))
            bound = max(comparison.radius**2, 1 / C) * (length**2 + 2 * C * total)
        table.certificate(made, "PassiveAggressive", Truth(mistakes, bound))


@subject("the SVM left out", PERCEPTRON + "SVMLeaveOneOutBound")
def svm(table, random):
    """Leaving one row out of an SVM without offset: at most as many errors as there are support vectors."""
    n, width = int(random.integers(3, 9)), int(random.integers(1, 4))
    X, u = random.integers(-4, 5, (n, width)).astype(float), random.integers(1, 4, width)
    X = X[(X @ u) != 0]
    y = np.where(X @ u > 0, 1, -1)
    best = hindsight.max_margin(X, y) if len(X) > 1 else None
    if best is None:
        return
    support = int((best.margins / best.norm < best.margin * (1 + 1e-6)).sum())
    wrong = 0
    for i in range(len(X)):
        rest = hindsight.max_margin(np.delete(X, i, 0), np.delete(y, i))
        wrong += int(y[i] * (X[i] @ rest.vector) < -1e-9)
    radius = float(np.linalg.norm(X, axis=1).max())
    bound = value_of(
        table, "svm-leave-one-out", support_vectors=support, radius=radius, margin=best.margin, rows=len(X)
    )
    table.bounded(PERCEPTRON + "SVMLeaveOneOutBound", "an SVM", wrong / len(X), float(bound))


# ---------------------------------------------------------------------- multiplicative learners


judges("linear.winnow.WinnowBound", "linear.winnow.WinnowHingeBound")


def winnow_run(table, random, name):
    X, y, u, _ = stream(random)
    balanced = name == "BalancedWinnow"
    intercept = bool(random.random() < 0.2)
    rows = seen_rows(X, intercept)
    u = u if balanced else np.abs(u)
    if not balanced and random.random() < 0.7:
        y = np.where(X @ u >= 0, 1, -1)
    given = [0.0, *u] if intercept else list(u)
    comparison = Comparison(rows, y, given)
    largest, least = float(comparison.largest), float(min(comparison.margins, default=1) / (comparison.one_norm or 1))
    rate = pick(random, 0.3, 1.0) / max(largest, 1e-300)
    if least > 0 and largest > 0 and random.random() < 0.7:
        rate = least / largest**2 * pick(random, 1.0, 0.5, 1.9, 2.1)
    rate = min(max(rate, 1e-14), 1e14)
    learner = getattr(aw, name)(rate=rate, intercept=intercept)
    predicted = learner.learn_many(form_of(random, X), y)
    mistakes = int((predicted != y).sum())
    n = len(rows[0]) * (2 if balanced else 1) if rows else 1
    for made in all_of(learner.certificate(X, y, comparator=u)):
        kind, bound = type(made.theorem).__name__, None
        if made.bound is not None and kind == "WinnowBound":
            if not (least > 0 and rate * largest**2 < 2 * least * (1 + 1e-9)):
                table.problem(key_of(type(made.theorem)), name, APPLIED, f"rho {least!r}, eta {rate!r}, r {largest!r}")
                continue
            bound = BOUNDS["winnow-rate"](n, largest, least, rate)
        elif made.bound is not None and math.isfinite(made.bound):
            length = made.inputs["|u|_1"]
            scale = length / float(comparison.one_norm) if comparison.one_norm else 0.0
            total = float(sum(comparison.hinges(scale)))
            bound = BOUNDS["winnow-hinge"](n, largest, length, total, rate)
        slack = 1e-9 + 1e-6 * (bound or 0.0) if kind == "WinnowBound" and rate * largest**2 > 1.9 * least else 1e-9
        table.certificate(made, name, Truth(mistakes, bound, bound_slack=slack))
    if least > 1e-9 * largest > 0 and not intercept:
        tuned_winnow(table, name, X, y, least, largest, n)


def tuned_winnow(table, name, X, y, margin, radius, n):
    """At the rate rho / r^2."""
    if not 1e-14 < margin / radius**2 < 1e14:
        return
    learner = getattr(aw, name)(rate=margin / radius**2)
    mistakes = int((learner.learn_many(X, y) != y).sum())
    theorem = "balanced-winnow" if name == "BalancedWinnow" else "winnow"
    key = TUNED[name]
    table.bounded(
        key, name, mistakes, float(value_of(table, theorem, features=X.shape[1], radius=radius, margin=margin))
    )


TUNED = {
    "Winnow": "linear.winnow.TunedWinnowBound",
    "BalancedWinnow": "linear.balanced_winnow.TunedBalancedWinnowBound",
}
for _name in TUNED:
    subject(_name, TUNED[_name])(lambda table, random, name=_name: winnow_run(table, random, name))


# ---------------------------------------------------------------------- hindsight by itself


@subject("hindsight")
def found_afterwards(table, random):
    """Margins and losses of what is found afterwards, beside solvers of our own, within the gap that is stated."""
    X, y, _, kind = stream(random, 25)
    if not len(X) or not X.any():
        return
    rows, labels = X.tolist(), y.tolist()
    radius = float(np.linalg.norm(X, axis=1).max())
    widest, margin = hindsight.max_margin(X, y), widest_margin(rows, labels)
    # Nearer to the hyperplane than this, solvers differ in whether there is a separator at all.
    near = nearly(margin, radius) * margin if margin > 1e-6 * radius else math.inf
    if near < math.inf and (widest is None or abs(widest.margin - margin) > near + (widest.gap or 0.0)):
        table.problem("", "max_margin", HINDSIGHT_VALUE, f"{widest and widest.margin!r}, should be {margin!r}")
    near = 1e-6 * len(rows)
    for source, found, ridge in (
        ("min_hinge", hindsight.min_hinge(X, y), 0.0),
        ("svm", hindsight.svm(X, y, 1 / radius**2), radius**2),
    ):
        value = found.hinge + ridge * found.norm**2 / 2
        low, high = between("hinge", rows, labels, ridge)
        gap = (found.gap or 0.0) * (ridge or 1.0)
        if not low - near <= value <= high + near + gap:
            table.problem("", source, HINDSIGHT_VALUE, f"{value!r}, the least is between {low!r} and {high!r}, {kind}")
