"""Regressors written out with plain numbers: slow, obvious, and without anything from afterwit."""

import math
from fractions import Fraction


def loss_of(loss, p, y):
    """The loss of a prediction; of Fractions it is exact."""
    kind, number = parsed(loss)
    e = abs(p - y)
    if kind == "square":
        return e * e
    if kind == "absolute":
        return e
    number = Fraction(number) if isinstance(e, Fraction) else number
    if kind == "pinball":
        return number * e if p < y else (1 - number) * e
    return e * e / 2 if e <= number else number * (e - number / 2)


def slope_of(loss, p, y):
    kind, number = parsed(loss)
    e = p - y
    if kind == "square":
        return 2 * e
    sign = (e > 0) - (e < 0)
    if kind == "absolute":
        return float(sign)
    if kind == "pinball":
        return -number if e < 0 else (1 - number) * sign
    return min(max(e, -number), number)


def parsed(loss):
    kind, _, rest = loss.partition("(")
    return kind, float(rest[:-1]) if rest else 0.0


def steepest(loss):
    """The largest slope there can be; None for the square loss."""
    kind, number = parsed(loss)
    return {"square": None, "absolute": 1.0, "pinball": max(number, 1 - number), "huber": number}[kind]


def dot(w, x):
    return math.fsum(a * b for a, b in zip(w, x, strict=True))


def descent(rows, targets, loss, rate, decreasing=False, ball=None, adaptive=False, delta=0.0, box=None):
    """The predictions of SGDRegressor and AdaGradRegressor, and the last weights."""
    w, G, predictions = [0.0] * len(rows[0]), [0.0] * len(rows[0]), []
    for t, (x, y) in enumerate(zip(rows, targets, strict=True), 1):
        p = dot(w, x)
        predictions.append(p)
        g = [slope_of(loss, p, y) * value for value in x]
        eta = rate / math.sqrt(t) if decreasing else rate
        for i, each in enumerate(g):
            G[i] += each * each
            step = eta * each
            if adaptive:
                step = rate * each / math.sqrt(delta + G[i]) if delta + G[i] > 0 else 0.0
            w[i] -= step
            if box is not None:
                w[i] = min(max(w[i], -box), box)
        length = math.hypot(*w)
        if ball is not None and length > ball:
            w = [ball / length * each for each in w]
    return predictions, w


def normalized_adagrad(rows, targets, loss, rate):
    """The predictions, with w and G in the units of the features."""
    n = len(rows[0])
    w, s, G, N, Y, predictions = [0.0] * n, [0.0] * n, [0.0] * n, 0.0, 0.0, []
    for t, (x, y) in enumerate(zip(rows, targets, strict=True), 1):
        for i, value in enumerate(x):
            if abs(value) > s[i]:
                w[i] *= s[i] / abs(value)
                s[i] = abs(value)
        N += math.fsum((value / s[i]) ** 2 for i, value in enumerate(x) if value)
        p = dot(w, x)
        predictions.append(p)
        Y = max(Y, abs(y))
        for i, value in enumerate(x):
            g = slope_of(loss, p, y) * value
            G[i] += g * g
            if G[i] > 0:
                w[i] -= rate * Y * math.sqrt(t / N) * g / (s[i] * math.sqrt(G[i]))
    return predictions


def scale_free(rows, targets, loss, epsilon):
    """The predictions, and everything that the bound speaks of."""
    n = len(rows[0])
    M, G, S, E, first = [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n
    B, U, predictions, beyond = steepest(loss) or 0.0, 0.0, [], []
    for x, y in zip(rows, targets, strict=True):
        w = []
        for i, value in enumerate(x):
            M[i] = max(M[i], abs(value) * B)
            first[i] = first[i] or M[i]
            root = math.sqrt(S[i] + M[i] ** 2)
            w.append(min(max(G[i] / root, -1.0), 1.0) * E[i] / (2 * root) if root > 0 else 0.0)
        p = dot(w, x)
        predictions.append(p)
        whole = slope_of(loss, p, y)
        g = math.copysign(min(abs(whole), B), whole)
        beyond.append(abs(whole) - abs(g))
        for i, value in enumerate(x):
            G[i] -= g * value
            S[i] += (g * value) ** 2
            E[i] -= g * value * w[i]
        B = max(B, abs(whole))
        if U == 0 and whole != 0:
            U = loss_of(loss, p, y)
            E = [epsilon * U] * n
    return {"predictions": predictions, "M": M, "S": S, "E": E, "first": first, "B": B, "U": U, "beyond": beyond}


def scale_free_regret(run, rows, u, epsilon):
    """The bound on the regret to u: what the bets cost, and what was cut off."""
    total, start = 0.0, epsilon * run["U"]
    for each, M, S, m in zip(u, run["M"], run["S"], run["first"], strict=True):
        if m > 0 and start > 0:
            b, K = abs(each) * math.sqrt(S + M * M), (1 + S / m**2) ** (1 / (2 * math.log(2)))
            total += start + (2 * b * max(0.0, math.log(2 * b * K / start) - 0.75) if b > 0 else 0.0)
    cut = zip(run["beyond"], run["predictions"], rows, strict=True)
    return total + math.fsum(amount * abs(p - dot(u, x)) for amount, p, x in cut)


def total_loss(loss, predictions, targets):
    """The total loss, exactly but for the last rounding."""
    each = (loss_of(loss, Fraction(p), Fraction(y)) for p, y in zip(predictions, targets, strict=True))
    return float(sum(each, Fraction(0)))


def exact_loss(loss, rows, targets, u):
    """The total loss of fixed weights."""
    scores = (sum((Fraction(a) * Fraction(b) for a, b in zip(u, x, strict=True)), Fraction(0)) for x in rows)
    return total_loss(loss, list(scores), targets)
