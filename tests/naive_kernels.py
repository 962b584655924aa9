"""Slow, obvious oracles for kernels and the kernel perceptron. They import nothing from afterwit.

Vectors are dicts; a float is a fraction, so that nothing is rounded, except by the Gaussian, which is plain math.
"""

import math
from fractions import Fraction


def as_dict(row):
    return dict(enumerate(row))


def linear(x, z):
    return sum((Fraction(value) * Fraction(z[name]) for name, value in x.items() if name in z), Fraction(0))


def polynomial(degree):
    def kernel(x, z):
        result = Fraction(1)
        for _ in range(degree):
            result *= 1 + linear(x, z)
        return result

    return kernel


def all_products(x, z):
    result = Fraction(1)
    for name in {*x, *z}:
        result *= 1 + Fraction(x.get(name, 0)) * Fraction(z.get(name, 0))
    return result


def squared_distance(x, z):
    return sum((Fraction(x.get(name, 0)) - Fraction(z.get(name, 0))) ** 2 for name in {*x, *z})


def gaussian(width):
    return lambda x, z: math.exp(-squared_distance(x, z) / (2 * width * width))


def string(length):
    def substrings(text):
        return {text[i : i + length] for i in range(len(text)) if i + length <= len(text)}

    return lambda x, z: len(substrings(x) & substrings(z))


def kernel_perceptron(kernel, rows, labels, budget=None, passes=1):
    """Figure 8.9: predictions, indices of the mistakes, kept (row, label), the scores, what the budget cost."""
    kept, dropped = [], []
    predictions, mistakes, scores = [], [], []
    cost = Fraction(0)
    t = 0
    for _ in range(passes):
        for x, y in zip(rows, labels, strict=True):
            score = sum((y_s * kernel(x_s, x) for x_s, y_s in kept), Fraction(0))
            scores.append(score)
            prediction = 1 if score >= 0 else -1
            predictions.append(prediction)
            if prediction != y:
                mistakes.append(t)
                cost += y * sum((y_s * kernel(x_s, x) for x_s, y_s in dropped), Fraction(0))
                kept.append((x, y))
                if budget is not None and len(kept) > budget:
                    dropped.append(kept.pop(0))
            t += 1
    return predictions, mistakes, kept, scores, cost


def in_feature_space(kernel, rows, labels, coefficients):
    """Of u = sum_t b_t phi(x_t): its squared length and its total hinge loss, as floats."""
    gram = [[float(kernel(x, z)) for z in rows] for x in rows]
    scores = [sum(b * value for b, value in zip(coefficients, row, strict=True)) for row in gram]
    square = sum(b * score for b, score in zip(coefficients, scores, strict=True))
    hinge = sum(max(0.0, 1.0 - y * score) for y, score in zip(labels, scores, strict=True))
    return square, hinge


def budget_bound(kernel, rows, labels, budget, coefficients, passes=1):
    """L + a^2/2 + sqrt(a^4/4 + a^2 L + 2 |u|^2 F), written out, and the number of mistakes."""
    _, mistakes, _, _, cost = kernel_perceptron(kernel, rows, labels, budget, passes)
    square, hinge = in_feature_space(kernel, rows, labels, coefficients)
    hinge *= passes
    a2 = max(float(kernel(x, x)) for x in rows) * square
    cost = max(0.0, float(cost))
    return hinge + a2 / 2 + math.sqrt(a2 * a2 / 4 + a2 * hinge + 2 * square * cost), len(mistakes)


def gaussian_perceptron_on_lists(rows, signs, width):
    """The mistakes of one pass over lists of floats, written for speed as far as plain Python goes."""
    kept = []
    mistakes = []
    scale = 2 * width * width
    for t, (x, y) in enumerate(zip(rows, signs, strict=True)):
        score = 0.0
        for x_s, y_s in kept:
            distance = 0.0
            for a, b in zip(x_s, x, strict=True):
                distance += (a - b) * (a - b)
            score += y_s * math.exp(-distance / scale)
        if (1 if score >= 0 else -1) != y:
            mistakes.append(t)
            kept.append((x, y))
    return mistakes
