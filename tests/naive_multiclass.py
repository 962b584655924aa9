"""A slow, obvious oracle for one against the rest. It imports nothing from afterwit.

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
