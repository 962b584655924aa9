"""Slow, obvious oracles for learners of many labels. They import nothing from afterwit.

The perceptrons compute in exact rational arithmetic, so that nothing is rounded and every tie is a true tie.
"""

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
