"""The selective perceptron in exact arithmetic, and its expectations over all outcomes of its draws.

Nothing here comes from afterwit. The draw of round t is number t of numpy's Philox with the seed as its key, taken from 1:
it is above 0 and at most 1, and the learner asks if it is at most b / (b + |score|).
"""

from fractions import Fraction

import numpy as np


def draws(seed, rounds):
    generator = np.random.Generator(np.random.Philox(key=seed))
    return [1 - Fraction(value) for value in generator.random(rounds).tolist()]


def dot(w, x):
    return sum((a * Fraction(b) for a, b in zip(w, x, strict=True)), Fraction(0))


def added(w, x, label):
    return [a + label * Fraction(b) for a, b in zip(w, x, strict=True)]


class Run:
    """What happens on rows with labels: everything exact."""

    def __init__(self, rows, labels, b, seed, passes=1):
        b = Fraction(b)
        self.weights = [Fraction(0)] * (len(rows[0]) if rows else 0)
        self.predictions, self.asked, self.updates, self.mistakes = [], [], [], 0
        self.estimate = Fraction(0)
        #: Whether rounding may have decided: a score near 0, or a draw near its probability.
        self.fragile = False
        sizes = list(self.weights)
        drawn = draws(seed, passes * len(rows))
        for t, draw in enumerate(drawn):
            x, label = rows[t % len(rows)], labels[t % len(rows)]
            score, size = dot(self.weights, x), dot(sizes, [abs(a) for a in x])
            prediction = 1 if score >= 0 else -1
            weight = 1 + abs(score) / b
            doubt = Fraction(1, 10**9)
            self.fragile |= size != 0 and abs(score) < doubt * size and any(a != int(a) for a in x)
            self.fragile |= abs(draw * weight - 1) <= doubt * draw * (weight + size / b)
            self.predictions.append(prediction)
            self.mistakes += prediction != label
            if draw * weight <= 1:
                self.asked.append(t)
                if prediction != label:
                    self.updates.append(t)
                    self.estimate += weight
                    self.weights = added(self.weights, x, label)
                    sizes = added(sizes, [abs(a) for a in x], 1)


def expectations(rows, labels, b):
    """The mean of the mistakes, of the estimate, and of the hinge-free sum of updates, over all outcomes of the draws.

    Only a round with a mistake branches: in the others nothing depends on whether it asks.
    """
    b = Fraction(b)

    def play(t, w):
        if t == len(rows):
            return Fraction(0), Fraction(0)
        score = dot(w, rows[t])
        if (1 if score >= 0 else -1) == labels[t]:
            return play(t + 1, w)
        chance = b / (b + abs(score))
        asked, silent = play(t + 1, added(w, rows[t], labels[t])), play(t + 1, w) if chance < 1 else (0, 0)
        mistakes = 1 + chance * asked[0] + (1 - chance) * silent[0]
        estimate = chance * (1 / chance + asked[1]) + (1 - chance) * silent[1]
        return mistakes, estimate

    return play(0, [Fraction(0)] * (len(rows[0]) if rows else 0))


def hinge_losses(rows, labels, u):
    return [
        max(Fraction(0), 1 - label * dot([Fraction(a) for a in u], x)) for x, label in zip(rows, labels, strict=True)
    ]


def published(radius_square, b, norm_square, loss):
    """The bound as the paper has it, at margin 1; exact."""
    b, wide = Fraction(b), 2 * Fraction(b) + radius_square
    return (1 + radius_square / (2 * b)) * loss + norm_square * wide**2 / (8 * b)


def best_over_c(radius, b, norm, loss, updates):
    """updates (1 - (c - R^2/2) / b) + (c L + c^2 |u|^2 / 2) / b at the best of many c up to b + R^2/2; rounded."""
    c = np.concatenate([[0.0], (b + radius**2 / 2) * np.geomspace(1e-9, 1, 20_001)])
    return float(np.min(updates * (1 - (c - radius**2 / 2) / b) + (c * loss + c**2 * norm**2 / 2) / b))
