"""Slow, obvious oracles for turning online learners into predictors. They import nothing from afterwit."""

import math

import naive


def sign(score):
    return 1 if score >= 0 else -1


def dot(weights, x):
    return sum(a * b for a, b in zip(weights, x, strict=True))


def estimates(hypotheses, X, y, delta, wrong=None):
    """m_i / (T - i + 1) + c(T - i + 1) for every i, all losses counted one by one; and the m_i."""
    wrong = wrong or (lambda weights, x, label: int(sign(dot(weights, x)) != label))
    T = len(y)
    values, losses = [], []
    for i in range(T):
        m = sum(wrong(hypotheses[i], X[t], y[t]) for t in range(i, T))
        n = T - i
        losses.append(m)
        values.append(m / n + math.sqrt(math.log(T * (T + 1) / delta) / (2 * n)))
    return values, losses


def perceptron_before_every_round(X, y):
    """w_1, ..., w_T in exact arithmetic."""
    return naive.hypotheses(X, y)[: len(y)]


def large_gap(X, y, epsilon, delta):
    """Figure by figure: (weights, mistakes, length of the gap, rounds used) or None if it never stops."""
    weights = [0] * len(X[0])
    mistakes = gap = 0
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        if sign(dot(weights, x)) == label:
            gap += 1
            if gap >= math.log((mistakes + 2) ** 2 / delta) / epsilon:
                return weights, mistakes, gap, t + 1
        else:
            weights = [a + label * b for a, b in zip(weights, x, strict=True)]
            mistakes, gap = mistakes + 1, 0
    return None


def gaps(X, y):
    """(weights, mistakes before, how often right before its first mistake) of every hypothesis."""
    weights = [0] * len(X[0])
    found = []
    mistakes = gap = 0
    for x, label in zip(X, y, strict=True):
        if sign(dot(weights, x)) == label:
            gap += 1
        else:
            found.append((weights, mistakes, gap))
            weights = [a + label * b for a, b in zip(weights, x, strict=True)]
            mistakes, gap = mistakes + 1, 0
    return [*found, (weights, mistakes, gap)]


def controlled_testing(X, y, epsilon, delta):
    """(weights, failed tests, examples used, whether a test was passed)."""
    weights = [0] * len(X[0])
    at = tests = 0
    while True:
        size = math.ceil(math.log((tests + 2) ** 2 / delta) / epsilon)
        block = list(zip(X[at : at + size], y[at : at + size], strict=True))
        at += len(block)
        wrong = [(x, label) for x, label in block if sign(dot(weights, x)) != label]
        if len(block) < size:
            return weights, tests, at, False
        if not wrong:
            return weights, tests, at, True
        x, label = wrong[0]
        weights = [a + label * b for a, b in zip(weights, x, strict=True)]
        tests += 1


def interval(total, rounds, delta):
    """The confidence interval after so many rounds with that total loss, from the supermartingale by bisection.

    The mean m is refused if, for some slope a, exp(a S) / (1 + m (e^a - 1))^t reaches 40 / delta.
    """

    def refused(m, slopes):
        limit = math.log(40 / delta)
        return any(a * total - rounds * math.log1p(m * math.expm1(a)) >= limit for a in slopes)

    slopes = [4 / 2**k for k in range(20)]
    lower, upper = 0.0, 1.0
    mean = total / rounds
    if refused(0.0, slopes):
        inside, outside = mean, 0.0
        for _ in range(80):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if refused(middle, slopes) else (middle, outside)
        lower = inside
    if refused(1.0, [-a for a in slopes]):
        inside, outside = mean, 1.0
        for _ in range(80):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if refused(middle, [-a for a in slopes]) else (middle, outside)
        upper = inside
    return lower, upper
