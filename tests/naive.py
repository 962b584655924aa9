"""Slow, obvious oracles. They import nothing from afterwit.

The perceptron here computes in exact rational arithmetic: a float is a fraction, so that nothing is rounded and every
tie at 0 is a true tie.
"""

from fractions import Fraction


def exact(value):
    return Fraction(value)


def sign(score):
    return 1 if score >= 0 else -1


def score(weights, x):
    return sum((weights.get(name, Fraction(0)) * exact(value) for name, value in x.items()), Fraction(0))


def as_dict(row):
    return {j: value for j, value in enumerate(row) if value != 0}


def perceptron(rows, labels, rate=1, start=None, passes=1):
    """Figure 8.6, over rows that are dicts: (weights, predictions, indices of the mistakes)."""
    weights = {name: exact(value) for name, value in (start or {}).items()}
    predictions, mistakes = [], []
    t = 0
    for _ in range(passes):
        for x, y in zip(rows, labels, strict=True):
            prediction = sign(score(weights, x))
            predictions.append(prediction)
            if prediction != y:
                mistakes.append(t)
                for name, value in x.items():
                    weights[name] = weights.get(name, Fraction(0)) + exact(rate) * y * exact(value)
            t += 1
    return weights, predictions, mistakes


def dot(u, x):
    return sum(a * b for a, b in zip(u, x, strict=True))


def hinge_losses(u, rows, labels):
    return [max(0.0, 1.0 - y * dot(u, x)) for x, y in zip(rows, labels, strict=True)]


def norm(u):
    return sum(a * a for a in u) ** 0.5


def radius(rows):
    return max((norm(x) for x in rows), default=0.0)


def margin_bound(rows, labels, v):
    """(R / gamma)^2, or None if v does not separate."""
    gamma = min(y * dot(v, x) for x, y in zip(rows, labels, strict=True)) / norm(v)
    return (radius(rows) / gamma) ** 2 if gamma > 0 else None


def hinge_bound(rows, labels, u):
    return radius(rows) ** 2 * norm(u) ** 2 + 2 * sum(hinge_losses(u, rows, labels))


def update_hinge_bound(rows, labels, updates, u):
    a = radius(rows) * norm(u)
    losses = hinge_losses(u, [rows[t] for t in updates], [labels[t] for t in updates])
    return ((a + (a * a + 4 * sum(losses)) ** 0.5) / 2) ** 2


def squared_hinge_bound(rows, labels, updates, u):
    losses = hinge_losses(u, [rows[t] for t in updates], [labels[t] for t in updates])
    return (radius(rows) * norm(u) + sum(loss * loss for loss in losses) ** 0.5) ** 2


def separable_in_the_plane(rows, labels):
    """Exactly, for integer rows in two dimensions: is some u strictly right on all of them?

    The set of separators is an open cone; if it is not empty it contains a vector strictly between two neighbouring
    directions at right angles to rows, so that trying the sums of such pairs decides.
    """
    z = [(y * a, y * b) for (a, b), y in zip(rows, labels, strict=True)]
    normals = [n for a, b in z for n in ((b, -a), (-b, a), (a, b))]
    candidates = normals + [(p[0] + q[0], p[1] + q[1]) for p in normals for q in normals]
    return any(all(u[0] * a + u[1] * b > 0 for a, b in z) for u in candidates)


def max_margin_in_the_plane(rows, labels, steps=20000):
    """The largest margin over a fine grid of directions."""
    import math

    best = -math.inf
    for k in range(steps):
        angle = 2 * math.pi * k / steps
        u = (math.cos(angle), math.sin(angle))
        best = max(best, min(y * dot(u, x) for x, y in zip(rows, labels, strict=True)))
    return best


def parse_libsvm(text):
    """[(label, {id: value})] from libsvm text, with Python's own number reading."""
    examples = []
    for line in text.split("\n"):
        tokens = line.partition("#")[0].split()
        if tokens:
            pairs = (token.split(":") for token in tokens[1:])
            examples.append((float(tokens[0]), {int(name): float(value) for name, value in pairs}))
    return examples


def delayed_events(count, delays):
    """The order of events when the label of round t comes after the prediction of round t + delays[t]."""
    events = []
    waiting = []
    for t in range(count):
        events.append(("predict", t))
        waiting.append((t + delays[t], t))
        for due, s in sorted(waiting):
            if due <= t:
                events.append(("learn", s))
                waiting.remove((due, s))
    events += [("learn", s) for _, s in sorted(waiting)]
    return events


def curve_rounds(count):
    """Powers of two, and the end."""
    points = []
    k = 1
    while k <= count:
        points.append(k)
        k *= 2
    if count and points[-1] != count:
        points.append(count)
    return points
