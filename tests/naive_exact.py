"""Losses and regrets without rounding: a float is a fraction, and logarithms have 50 digits. Nothing here comes from afterwit."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

DIGITS = 50
FINEST = 2**1200


def fraction(value):
    return Fraction(value)


def logarithm(value):
    """ln of a positive fraction, as a fraction."""
    with localcontext(Context(prec=DIGITS, Emax=10**15, Emin=-(10**15))):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def exponential(value):
    with localcontext(Context(prec=DIGITS, Emax=10**15, Emin=-(10**15))):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp())


def loss(name, forecast, outcome):
    """The loss of a forecast, both fractions."""
    if name == "square":
        return (forecast - outcome) ** 2
    if name == "absolute":
        return abs(forecast - outcome)
    if name == "percentage":
        return abs(forecast - outcome) / abs(outcome)
    if name.startswith("pinball"):
        q = Fraction(float(name[len("pinball(") : -1]))
        return q * (outcome - forecast) if forecast < outcome else (1 - q) * (forecast - outcome)
    if name == "log":
        right = forecast if outcome == 1 else 1 - forecast
        return -logarithm(right) if right > 0 else Fraction(10) ** 400
    assert name == "zero-one"
    return Fraction(int(forecast != outcome))


def slope(name, forecast, outcome):
    """The slope of the loss at a forecast, both fractions; at a kink 0."""
    sign = (forecast > outcome) - (forecast < outcome)
    if name == "square":
        return 2 * (forecast - outcome)
    if name == "absolute":
        return Fraction(sign)
    if name == "percentage":
        return sign / abs(outcome)
    if name.startswith("pinball"):
        q = Fraction(float(name[len("pinball(") : -1]))
        return {-1: -q, 0: Fraction(0), 1: 1 - q}[sign]
    assert name == "log"
    return -1 / forecast if outcome == 1 else 1 / (1 - forecast)


def shortened(value):
    """A fraction to the nearest multiple of 2^-1200, which every float is: those of many rounds would have no end."""
    return Fraction(round(value * FINEST), FINEST)


def mixture(shares, values):
    """The mean of the values that are there by the shares, which need not add up to 1; None if nobody has a share."""
    there = [(Fraction(p), Fraction(v)) for p, v in zip(shares, values, strict=True) if v is not None]
    total = sum(p for p, _ in there)
    return shortened(sum(p * v for p, v in there) / total) if total > 0 else None


def margin_loss(name, score, y):
    """The loss of a score for a label -1 or +1."""
    if name == "perceptron":
        return max(Fraction(0), -y * score)
    if name == "hinge":
        return max(Fraction(0), 1 - y * score)
    if name == "squared":
        return (score - y) ** 2 / 2
    assert name == "logistic"
    # Beyond this the exponential is no number that a sum would notice.
    if -y * score > 2000:
        return -y * score
    return logarithm(1 + exponential(-y * score)) if -y * score > -2000 else Fraction(0)


def root(value):
    """The square root of a fraction that is not negative, as a fraction."""
    with localcontext(Context(prec=DIGITS, Emax=10**15, Emin=-(10**15))):
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def norm_square(vector):
    return sum((Fraction(x) ** 2 for x in vector), Fraction(0))


def dot(u, x):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(u, x, strict=True)), Fraction(0))


def swap_regret(shares, losses):
    """For every expert the best one to be played in its place."""
    n = len(losses[0]) if losses else 0
    total = Fraction(0)
    for i in range(n):
        played = [
            sum((Fraction(p[i]) * row[j] for p, row in zip(shares, losses, strict=True)), Fraction(0)) for j in range(n)
        ]
        total += played[i] - min(played)
    return total


def adahedge(log_n, ranges):
    return math.sqrt(log_n * math.fsum(s * s for s in ranges)) + max(ranges, default=0.0) * (4 / 3 * log_n + 2)
