"""Slow, obvious oracles for learners of many labels. They import nothing from afterwit.

The perceptrons compute in exact rational arithmetic, so that nothing is rounded and every tie is a true tie. Softmax
regression needs exponentials and roots: it adds up floats in the order of the entries.
"""

import math
from fractions import Fraction


class ExactPerceptron:
    """Figure 8.6 over rows that are dicts."""

    def __init__(self):
        self.weights = {}

    def score(self, x):
        return sum((self.weights.get(name, Fraction(0)) * Fraction(value) for name, value in x.items()), Fraction(0))

    def learn(self, x, y):
        """Whether it changed, which it does exactly on its mistakes."""
        if (1 if self.score(x) >= 0 else -1) == y:
            return False
        for name, value in x.items():
            self.weights[name] = self.weights.get(name, Fraction(0)) + y * Fraction(value)
        return True


def one_vs_rest(rows, labels, announced=None):
    """(weights by class, predictions, rounds in which something changed, binary mistakes by class)."""
    perceptrons = {label: ExactPerceptron() for label in announced or ()}
    binary_mistakes = dict.fromkeys(perceptrons, 0)
    predictions, changes = [], 0
    for x, y in zip(rows, labels, strict=True):
        best = largest = None
        for label, perceptron in perceptrons.items():
            if largest is None or perceptron.score(x) > largest:
                best, largest = label, perceptron.score(x)
        predictions.append(best)
        if y not in perceptrons:
            perceptrons[y] = ExactPerceptron()
            binary_mistakes[y] = 0
        changed = False
        for label, perceptron in perceptrons.items():
            if perceptron.learn(x, 1 if label == y else -1):
                binary_mistakes[label] += 1
                changed = True
        changes += changed
    weights = {label: perceptron.weights for label, perceptron in perceptrons.items()}
    return weights, predictions, changes, binary_mistakes


class MulticlassRun:
    """The multiclass perceptron over rows that are dicts, and the average of all it was. Weights are exact."""

    def __init__(self, rows, labels, announced=None, passes=1):
        self.weights = {label: {} for label in announced or ()}
        #: The sum of the weights after each round.
        self.sums = {label: {} for label in self.weights}
        self.rounds = 0
        #: What the weights predicted in every round, what their average did, and the (round, right, wrong) of updates.
        self.predictions, self.by_average, self.updates = [], [], []
        for _ in range(passes):
            for x, y in zip(rows, labels, strict=True):
                self.learn(x, y)

    def learn(self, x, y):
        predicted, by_average = largest(self.weights, x), largest(self.sums, x)
        self.predictions.append(predicted)
        self.by_average.append(by_average)
        nobody = not self.weights
        self.weights.setdefault(y, {})
        self.sums.setdefault(y, {})
        if not nobody and predicted != y:
            self.updates.append((self.rounds, y, predicted))
            for name, value in x.items():
                self.weights[y][name] = self.weights[y].get(name, Fraction(0)) + Fraction(value)
                self.weights[predicted][name] = self.weights[predicted].get(name, Fraction(0)) - Fraction(value)
        for label, weights in self.weights.items():
            for name, value in weights.items():
                self.sums[label][name] = self.sums[label].get(name, Fraction(0)) + value
        self.rounds += 1

    def averages(self):
        return {
            label: {name: value / self.rounds for name, value in weights.items()}
            for label, weights in self.sums.items()
        }


def largest(weights, x):
    """The first label of the largest score; None if there is none."""
    return max(weights, key=lambda label: product(weights[label], x), default=None)


def product(weights, x):
    return sum((Fraction(weights.get(name, 0)) * Fraction(value) for name, value in x.items()), Fraction(0))


def margins(vectors, rows, labels):
    """For every round, by how much the right class scores more than any other; None if there is no other."""
    found = []
    for x, y in zip(rows, labels, strict=True):
        others = [product(weights, x) for label, weights in vectors.items() if label != y]
        found.append(product(vectors[y], x) - max(others) if others else None)
    return found


class SoftmaxRun:
    """Softmax regression by AdaGrad over rows that are dicts, every entry of which is there."""

    def __init__(self, rows, labels, rate, delta, announced=None, passes=1):
        self.rate, self.delta = rate, delta
        self.weights = {label: {} for label in announced or ()}
        self.squares = {label: {} for label in announced or ()}
        #: What was predicted in every round, the log loss (a class that begins has weights of 0), and the gradients.
        self.predictions, self.losses, self.gradients, self.updates = [], [], [], 0
        #: The weights before every round, and after the last.
        self.history = []
        for _ in range(passes):
            for x, y in zip(rows, labels, strict=True):
                self.learn(x, y)
        self.history.append(self.snapshot())

    def snapshot(self):
        return {label: dict(weights) for label, weights in self.weights.items()}

    def scores(self, x):
        found = {}
        for label, weights in self.weights.items():
            found[label] = 0.0
            for name, value in x.items():
                found[label] += weights.get(name, 0.0) * value
        return found

    def learn(self, x, y):
        self.history.append(self.snapshot())
        scores = self.scores(x)
        self.predictions.append(max(scores, key=scores.get, default=None))
        self.weights.setdefault(y, {})
        self.squares.setdefault(y, {})
        scores.setdefault(y, 0.0)
        largest = max(scores.values())
        shares = {label: math.exp(score - largest) for label, score in scores.items()}
        others = 0.0
        for label, share in shares.items():
            others += share if label != y else 0.0
        total = others + shares[y]
        self.losses.append(largest - scores[y] + math.log(total))
        self.gradients.append({})
        self.updates += others > 0
        for label, share in shares.items():
            slope = -(others / total) if label == y else share / total
            for name, value in x.items():
                gradient = slope * value
                self.gradients[-1][label, name] = gradient
                if others > 0:
                    self.step(label, name, gradient)

    def step(self, label, name, gradient):
        weights, squares = self.weights[label], self.squares[label]
        squares[name] = squares.get(name, 0.0) + gradient * gradient
        root = self.delta + squares[name]
        weights[name] = weights.get(name, 0.0) - self.rate * gradient / math.sqrt(root if root > 0 else 1.0)

    def loss_of(self, vectors, rows, labels, announced=None, passes=1):
        """The log loss of fixed weights by class, over the classes that have come by each round."""
        known = list(announced or ())
        losses = []
        for x, y in zip(rows * passes, labels * passes, strict=True):
            known += [] if y in known else [y]
            scores = {k: math.fsum(vectors[k].get(name, 0.0) * value for name, value in x.items()) for k in known}
            largest = max(scores.values())
            losses.append(largest - scores[y] + math.log(math.fsum(math.exp(s - largest) for s in scores.values())))
        return math.fsum(losses)

    def regret_bound(self, vectors):
        """The theorem's bound on the regret against these weights by class."""
        pairs = {pair for round_ in self.gradients for pair in round_}
        total = 0.0
        for label, name in pairs | {(k, name) for k, weights in vectors.items() for name in weights}:
            square = math.fsum(round_.get((label, name), 0.0) ** 2 for round_ in self.gradients)
            target = vectors.get(label, {}).get(name, 0.0)
            far = max(abs(each.get(label, {}).get(name, 0.0) - target) for each in self.history)
            total += far**2 * math.sqrt(self.delta + square) / (2 * self.rate) + self.rate * math.sqrt(square)
        return total


class NeighboursRun:
    """Nearest neighbours over rows that are dicts; a feature that is not there, or 0, is 0."""

    def __init__(self, rows, labels, neighbours, window, announced=None, passes=1):
        self.neighbours, self.window = neighbours, window
        self.classes = list(announced or ())
        self.seen, self.predictions = [], []
        for _ in range(passes):
            for x, y in zip(rows, labels, strict=True):
                scores = self.scores(x)
                self.predictions.append(max(scores, key=scores.get, default=None))
                self.classes += [] if y in self.classes else [y]
                self.seen.append((dict(x), y))

    def ranges(self):
        names = {name for x, _ in self.seen for name in x}
        values = {name: [x.get(name, 0) for x, _ in self.seen] for name in names}
        return {name: max(each) - min(each) for name, each in values.items()}

    def distance(self, x, z, ranges):
        """Squared."""
        total = 0
        for name, width in ranges.items():
            if width:
                total += ((x.get(name, 0) - z.get(name, 0)) / width) ** 2
        return total

    def scores(self, x):
        ranges = self.ranges()
        kept = self.seen[-self.window :]
        # Of those that are as near, the newest.
        kept.reverse()
        order = sorted(kept, key=lambda each: self.distance(x, each[0], ranges))
        scores = dict.fromkeys(self.classes, 0.0)
        for z, y in order[: self.neighbours]:
            scores[y] += 1.0 / (1.0 + self.distance(x, z, ranges))
        return scores
