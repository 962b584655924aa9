"""Slow, obvious oracles. They import nothing from afterwit.

The perceptron here computes in exact rational arithmetic: a float is a fraction, so that nothing is rounded and every
tie at 0 is a true tie.
"""

import math
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
    """[(label, {id: value})] from libsvm text, ids ascending, with Python's own number reading."""
    examples = []
    for line in text.split("\n"):
        tokens = line.partition("#")[0].split()
        if tokens:
            pairs = (token.split(":") for token in tokens[1:])
            examples.append((float(tokens[0]), dict(sorted((int(name), float(value)) for name, value in pairs))))
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


# ---------------------------------------------------------------------- linear learners: rows are lists, columns 0..n-1


def exact_dot(w, x):
    return sum((a * exact(b) for a, b in zip(w, x, strict=True)), Fraction(0))


def hypotheses(rows, labels, passes=1):
    """The perceptron's weights w_1, ..., w_{T+1}, exactly."""
    w = [Fraction(0)] * (len(rows[0]) if rows else 0)
    found = [w]
    for _ in range(passes):
        for x, y in zip(rows, labels, strict=True):
            if sign(exact_dot(w, x)) != y:
                w = [a + y * exact(b) for a, b in zip(w, x, strict=True)]
            found.append(w)
    return found


def average(vectors):
    return [sum(column, Fraction(0)) / len(vectors) for column in zip(*vectors, strict=True)]


def averaged_score(history, x):
    """By the average of w_2, ..., w_{T+1}; w_1 = 0 before the first round."""
    return exact_dot(average(history[1:]), x) if len(history) > 1 else Fraction(0)


def voted_score(history, x):
    """The mean of the votes sgn(w_2 . x), ..., sgn(w_{T+1} . x)."""
    votes = [sign(exact_dot(w, x)) for w in history[1:]]
    return Fraction(sum(votes), len(votes)) if votes else Fraction(0)


def predictions_by(score_of, rows, labels, passes=1):
    """What a learner predicts in every round whose score after T rounds is score_of(w_1 ... w_{T+1}, x)."""
    history = hypotheses(rows, labels, passes)
    return [sign(score_of(history[: t + 1], rows[t % len(rows)])) for t in range(passes * len(rows))]


def below_half_margin(w, x, y, margin):
    """Exactly: w = 0 or y (w . x) / |w| < margin / 2, by squares."""
    square = sum(a * a for a in w)
    if square == 0:
        return True
    reached = y * exact_dot(w, x)
    return reached < 0 or reached**2 < (exact(margin) / 2) ** 2 * square


def margin_perceptron(rows, labels, margin, passes=1):
    """Figure 8.12: (weights, predictions, update rounds)."""
    w = [Fraction(0)] * (len(rows[0]) if rows else 0)
    predictions, updates = [], []
    for t in range(passes * len(rows)):
        x, y = rows[t % len(rows)], labels[t % len(rows)]
        predictions.append(sign(exact_dot(w, x)))
        if below_half_margin(w, x, y, margin):
            w = [a + y * exact(b) for a, b in zip(w, x, strict=True)]
            updates.append(t)
    return w, predictions, updates


def winnow(rows, labels, rate, passes=1, at_ties=None):
    """Figure 8.10, every weight multiplied and divided by Z: (weights after each round, scores, predictions).

    In decimal arithmetic of 60 digits and almost any exponent, so that nothing underflows. A score that is 0 up to its
    last digits is a tie; there the prediction is +1, or that of ``at_ties``, for learners whose own rounding breaks it.
    """
    from decimal import Context, Decimal, localcontext

    history, scores, predictions = [], [], []
    with localcontext(Context(prec=60, Emax=10**15, Emin=-(10**15))):
        n = len(rows[0]) if rows else 0
        w = [Decimal(1) / n] * n
        for t in range(passes * len(rows)):
            x, y = rows[t % len(rows)], labels[t % len(rows)]
            products = [a * Decimal(b) for a, b in zip(w, x, strict=True)]
            total, size = sum(products, Decimal(0)), sum(map(abs, products), Decimal(0))
            tie = abs(total) <= size * Decimal("1e-12")
            scores.append(Decimal(0) if abs(total) <= size * Decimal("1e-50") else total)
            predictions.append(at_ties[t] if tie and at_ties is not None else sign(scores[-1]))
            if predictions[-1] != y:
                w = [a * (Decimal(rate) * y * Decimal(b)).exp() for a, b in zip(w, x, strict=True)]
                z = sum(w)
                w = [a / z for a in w]
            history.append(w)
    return history, scores, predictions


def balanced_winnow(rows, labels, rate, passes=1, at_ties=None):
    """Winnow on (x, -x); the weights are p - q."""
    history, scores, predictions = winnow([[*x, *(-b for b in x)] for x in rows], labels, rate, passes, at_ties)
    n = len(rows[0]) if rows else 0
    return [[float(w[j] - w[n + j]) for j in range(n)] for w in history], scores, predictions


def online_svm(rows, labels, C, rate, passes=1):
    """Figure 8.11, exactly, every coordinate shrunk: (weights, predictions, rounds that changed something)."""
    w = [Fraction(0)] * (len(rows[0]) if rows else 0)
    predictions, updates = [], 0
    for t in range(passes * len(rows)):
        x, y = rows[t % len(rows)], labels[t % len(rows)]
        reached = y * exact_dot(w, x)
        predictions.append(sign(y * reached))
        if reached < 1:
            w = [a - exact(rate) * (a - exact(C) * y * exact(b)) for a, b in zip(w, x, strict=True)]
        elif reached > 1:
            w = [a - exact(rate) * a for a in w]
        updates += reached != 1
    return w, predictions, updates


def loss_of(loss, s, y):
    import math

    if loss == "perceptron":
        return max(0.0, -y * s)
    if loss == "hinge":
        return max(0.0, 1.0 - y * s)
    if loss == "logistic":
        return max(0.0, -y * s) + math.log1p(math.exp(-abs(s)))
    return (s - y) ** 2 / 2


def slope_of(loss, s, y):
    """The derivative of the loss by s; at a kink the one on the side of a loss."""
    import math

    if loss == "perceptron":
        return -y if y * s <= 0 else 0.0
    if loss == "hinge":
        return -y if y * s < 1 else 0.0
    if loss == "logistic":
        return -y * (1 / (1 + math.exp(y * s)) if y * s < 500 else 0.0)
    return s - y


def descent(rows, labels, loss, rate, decreasing=False, ball=None, adaptive=False, delta=0.0, box=None, passes=1):
    """Gradient descent over every coordinate: what it was after each round, its scores, losses and gradients."""
    n = len(rows[0]) if rows else 0
    w, sums = [0.0] * n, [0.0] * n
    weights, scores, losses, gradients, rates = [], [], [], [], []
    for t in range(passes * len(rows)):
        x, y = rows[t % len(rows)], labels[t % len(rows)]
        s = dot(w, x)
        g = [slope_of(loss, s, y) * b for b in x]
        step = rate / (t + 1) ** 0.5 if decreasing else rate
        if adaptive:
            sums = [a + b * b for a, b in zip(sums, g, strict=True)]
            w = [a - step * b / (delta + c) ** 0.5 if b else a for a, b, c in zip(w, g, sums, strict=True)]
            if box is not None:
                w = [max(-box, min(box, a)) for a in w]
        else:
            w = [a - step * b for a, b in zip(w, g, strict=True)]
            if ball is not None and norm(w) > ball:
                w = [a * ball / norm(w) for a in w]
        scores.append(s)
        losses.append(loss_of(loss, s, y))
        gradients.append(g)
        rates.append(step)
        weights.append(w)
    return {
        "weights": weights,
        "scores": scores,
        "losses": losses,
        "gradients": gradients,
        "rates": rates,
        "sums": sums,
    }


def scale_free(rows, labels, epsilon, loss, passes=1):
    """Bets of a gambler on every feature: scores, losses, and for each feature its G, S, M, money and first value."""
    n = len(rows[0]) if rows else 0
    G, S, M, money, first = [0.0] * n, [0.0] * n, [0.0] * n, [float(epsilon)] * n, [0.0] * n
    scores, losses = [], []
    for t in range(passes * len(rows)):
        x, y = rows[t % len(rows)], labels[t % len(rows)]
        bets = []
        for i in range(n):
            M[i] = max(M[i], abs(x[i]))
            first[i] = first[i] or abs(x[i])
            span = (S[i] + M[i] ** 2) ** 0.5
            theta = G[i] / span if span else 0.0
            bets.append(max(-1.0, min(1.0, theta)) * money[i] / (2 * span) if span else 0.0)
        s = dot(bets, x)
        slope = slope_of(loss, s, y)
        for i in range(n):
            G[i] -= slope * x[i]
            S[i] += (slope * x[i]) ** 2
            money[i] -= slope * x[i] * bets[i]
        scores.append(s)
        losses.append(loss_of(loss, s, y))
    return {"scores": scores, "losses": losses, "G": G, "S": S, "M": M, "money": money, "first": first}


def scale_free_regret(run, u, epsilon):
    """What the theorem allows above the loss of u."""
    import math

    total = 0.0
    for i in range(len(u)):
        if not run["first"][i]:
            continue
        b = abs(u[i]) * (run["S"][i] + run["M"][i] ** 2) ** 0.5
        K = (1 + run["S"][i] / run["first"][i] ** 2) ** (1 / (2 * math.log(2)))
        total += epsilon + (2 * b * max(0.0, math.log(2 * b * K / epsilon) - 0.75) if b else 0.0)
    return total


def invariant_change(loss, score, y, h):
    """By how much the score changes on the way that many small steps take, in time h."""
    import math

    if loss == "hinge":
        return y * min(h, 1 - y * score) if y * score < 1 else 0.0
    if loss == "squared":
        return (y - score) * (1 - math.exp(-h))
    low, high = 0.0, min(h, math.log(1 + h * math.exp(-y * score)))
    for _ in range(200):
        middle = (low + high) / 2
        if middle + math.exp(y * score) * (math.exp(middle) - 1) < h:
            low = middle
        else:
            high = middle
    return y * low


def normalized_adagrad(rows, labels, rate, loss, passes=1, invariant=False):
    """NAG as it is printed, in the units of the features: scores, losses, w after each round, and s, G and N."""
    n = len(rows[0]) if rows else 0
    w, s, G, N = [0.0] * n, [0.0] * n, [0.0] * n, 0.0
    weights, scores, losses = [], [], []
    for t in range(1, passes * len(rows) + 1):
        x, y = rows[(t - 1) % len(rows)], labels[(t - 1) % len(rows)]
        there = [i for i in range(n) if x[i] != 0]
        for i in there:
            if abs(x[i]) > s[i]:
                w[i] = w[i] * s[i] / abs(x[i])
                s[i] = abs(x[i])
        score = sum(w[i] * x[i] for i in there)
        for i in there:
            N += x[i] ** 2 / s[i] ** 2
        slope = slope_of(loss, score, y)
        for i in there:
            G[i] += (slope * x[i]) ** 2
        moving = [i for i in there if G[i] > 0]
        direction = {i: rate * (t / N) ** 0.5 * x[i] / (s[i] * G[i] ** 0.5) for i in moving}
        if invariant and slope != 0:
            h = sum(direction[i] * x[i] for i in moving)
            slope = -invariant_change(loss, score, y, h) / h if h > 0 else slope
        for i in moving:
            w[i] -= slope * direction[i]
        weights.append(list(w))
        scores.append(score)
        losses.append(loss_of(loss, score, y))
    return {"weights": weights, "scores": scores, "losses": losses, "s": s, "G": G, "N": N}


def svm_objective(w, x, y, C):
    return dot(w, w) / 2 + C * max(0.0, 1.0 - y * dot(w, x))


def numeric_gradient(function, at, h=1e-6):
    """Central differences."""
    found = []
    for j in range(len(at)):
        up, down = list(at), list(at)
        up[j] += h
        down[j] -= h
        found.append((function(up) - function(down)) / (2 * h))
    return found


def network_score(layers, x):
    """Layers of rows of weights, each row ending in its threshold; all but the last through 1/(1 + exp(-z))."""
    import math

    values = list(x)
    for depth, layer in enumerate(layers):
        values = [dot(row[:-1], values) + row[-1] for row in layer]
        if depth < len(layers) - 1:
            values = [1 / (1 + math.exp(-z)) for z in values]
    return values[0]


def network_step(layers, x, y, rate):
    """One step against the gradient, taken by differences, of ln(1 + exp(-y z))."""
    flat = [a for layer in layers for row in layer for a in row]

    def shaped(numbers):
        numbers = iter(numbers)
        return [[[next(numbers) for _ in row] for row in layer] for layer in layers]

    gradient = numeric_gradient(lambda numbers: loss_of("logistic", network_score(shaped(numbers), x), y), flat)
    return shaped([a - rate * g for a, g in zip(flat, gradient, strict=True)])


# ---------------------------------------------------------------------- bounds


def winnow_bound(n, r, rho, rate):
    import math

    return math.log(n) / (rate * rho - rate**2 * r**2 / 2)


def winnow_hinge_bound(n, r, length, hinge, rate):
    import math

    return (length * math.log(n) / rate + hinge) / (1 - rate * r**2 * length / 2)


def leave_one_out(rows, labels):
    """The share of rows that the perceptron, trained to convergence on all others, gets wrong."""
    wrong = 0
    for i in range(len(rows)):
        others, theirs = rows[:i] + rows[i + 1 :], labels[:i] + labels[i + 1 :]
        w = [Fraction(0)] * len(rows[0])
        changed = True
        while changed:
            changed = False
            for x, y in zip(others, theirs, strict=True):
                if sign(exact_dot(w, x)) != y:
                    w = [a + y * exact(b) for a, b in zip(w, x, strict=True)]
                    changed = True
        wrong += sign(exact_dot(w, rows[i])) != labels[i]
    return wrong / len(rows)


class AdaGradOnRows:
    """AdaGrad with hinge loss on sparse rows: entry after entry, in floating point."""

    def __init__(self, width, rate, delta, box):
        self.rate, self.delta, self.box = rate, delta, box
        self.weights, self.squares = [0.0] * width, [0.0] * width

    def learn(self, columns, values, y):
        sums = [0.0] * 4  # entry k goes to sum k mod 4, as everywhere
        for k, (j, x) in enumerate(zip(columns, values, strict=True)):
            sums[k % 4] += self.weights[j] * x
        if y * ((sums[0] + sums[1]) + (sums[2] + sums[3])) >= 1:
            return
        for j, x in zip(columns, values, strict=True):
            gradient = -y * x
            self.squares[j] += gradient * gradient
            weight = self.weights[j] - self.rate * gradient / math.sqrt(self.delta + self.squares[j])
            self.weights[j] = weight if self.box is None else min(max(weight, -self.box), self.box)


def standardized(rows, learned=True):
    """Rows as dicts of the features that are present, standardized as `Standardize` says: two sums in every round."""
    found, history = [], []
    for x in rows:
        seen = [*history, x]
        row = {}
        for i, value in x.items():
            values = [past.get(i, 0.0) for past in seen]
            mean = math.fsum(values) / len(seen)
            deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(seen))
            row[i] = (value - mean) / deviation if deviation > 0 else 0.0
        found.append(row)
        if learned:
            history.append(x)
    return found


def passive_aggressive(rows, labels, C, passes=1):
    """PA-I in exact numbers: (weights, scores before each round, rounds with a step)."""
    w = [Fraction(0)] * (len(rows[0]) if rows else 0)
    scores, updates = [], []
    for t in range(passes * len(rows)):
        x, y = [exact(value) for value in rows[t % len(rows)]], labels[t % len(rows)]
        score = sum((a * b for a, b in zip(w, x, strict=True)), Fraction(0))
        scores.append(score)
        loss = max(Fraction(0), 1 - y * score)
        if loss > 0:
            square = sum(value * value for value in x)
            tau = min(exact(C), loss / square) if square else exact(C)
            w = [a + tau * y * b for a, b in zip(w, x, strict=True)]
            updates.append(t)
    return w, scores, updates
