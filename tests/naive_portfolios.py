"""Portfolio algorithms as slowly and obviously as possible, in fractions where that is possible. Nothing from afterwit.

A round is a list with the price relative of each asset.
"""

import math
from fractions import Fraction
from itertools import product


def wealth(portfolios, relatives):
    """What 1 becomes, as a fraction."""
    total = Fraction(1)
    for p, x in zip(portfolios, relatives, strict=True):
        total *= sum(Fraction(a) * Fraction(b) for a, b in zip(p, x, strict=True))
    return total


def log_of(number):
    """The natural logarithm of a fraction of any size."""
    bits = number.numerator.bit_length() - number.denominator.bit_length()
    scaled = number / Fraction(2) ** bits
    return math.log(scaled) + bits * math.log(2)


def constant(portfolio, relatives):
    """The wealth of the same shares in every round."""
    return wealth([portfolio] * len(relatives), relatives)


def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def exponentiated_gradient(relatives, rate):
    """The portfolios at a fixed rate: p_i <- p_i exp(rate x_i / (p . x)), divided by their sum."""
    logs = [0.0] * len(relatives[0])
    held = []
    for x in relatives:
        p = softmax(logs)
        held.append(p)
        growth = math.fsum(a * b for a, b in zip(p, x, strict=True))
        logs = [a + rate * b / growth for a, b in zip(logs, x, strict=True)]
    return held


def universal_of_two(relatives):
    """The exact mean over all portfolios of two assets: integrals of polynomials in the first share, in fractions."""
    held, polynomial = [], [Fraction(1)]
    for x, y in relatives:
        whole = sum(c / (k + 1) for k, c in enumerate(polynomial))
        first = sum(c / (k + 2) for k, c in enumerate(polynomial)) / whole
        held.append([first, 1 - first])
        # Times b x + (1 - b) y.
        x, y = Fraction(x), Fraction(y)
        longer = [Fraction(0)] * (len(polynomial) + 1)
        for k, c in enumerate(polynomial):
            longer[k] += c * y
            longer[k + 1] += c * (x - y)
        polynomial = longer
    return held, sum(c / (k + 1) for k, c in enumerate(polynomial))


def universal_of(portfolios, relatives):
    """The mean of some portfolios by their wealth, in fractions; and the mean wealth."""
    held, wealths = [], [Fraction(1)] * len(portfolios)
    shares = [[Fraction(a) for a in b] for b in portfolios]
    for x in relatives:
        total = sum(wealths)
        p = [sum(w * b[i] for w, b in zip(wealths, shares, strict=True)) / total for i in range(len(x))]
        held.append([a / sum(p) for a in p])
        wealths = [
            w * sum(a * Fraction(c) for a, c in zip(b, x, strict=True)) for w, b in zip(wealths, shares, strict=True)
        ]
    return held, sum(wealths) / len(wealths), wealths


def left_after_trading(held, target, cost):
    """The part of the wealth that is left: by trying every set of assets that are bought, in fractions."""
    c, h, p = Fraction(cost), [Fraction(a) for a in held], [Fraction(a) for a in target]
    for bought in product((True, False), repeat=len(h)):
        # a + c sum of +-(a p - h) = 1
        slope = 1 + c * sum(b if up else -b for b, up in zip(p, bought, strict=True))
        a = (1 + c * sum(b if up else -b for b, up in zip(h, bought, strict=True))) / slope
        if all((a * q >= b) == up or a * q == b for q, b, up in zip(p, h, bought, strict=True)):
            return a
    raise AssertionError("some set is the right one")


def wealth_after_costs(portfolios, relatives, cost):
    """The wealth when every trade, the first purchase too, costs a part of what is bought and sold."""
    total, held = 1 / (1 + Fraction(cost)), None
    for p, x in zip(portfolios, relatives, strict=True):
        if held is not None:
            total *= left_after_trading(held, p, cost)
        grown = [Fraction(a) * Fraction(b) for a, b in zip(p, x, strict=True)]
        total *= sum(grown)
        held = [a / sum(grown) for a in grown]
    return total


def simplex(assets, parts):
    """All portfolios whose shares are whole multiples of 1 / parts."""
    if assets == 1:
        return [[Fraction(1)]]
    found = []
    for first in range(parts + 1):
        for rest in simplex_of(assets - 1, parts - first):
            found.append([Fraction(first, parts), *(Fraction(a, parts) for a in rest)])
    return found


def simplex_of(assets, total):
    if assets == 1:
        return [[total]]
    return [[first, *rest] for first in range(total + 1) for rest in simplex_of(assets - 1, total - first)]


def adaptive(relatives):
    """The portfolios whose rates are those of AdaHedge (de Rooij et al. 2014, Figure 1) for the losses -x / (p . x)."""
    n = len(relatives[0])
    losses, delta, held = [0.0] * n, 0.0, []
    for x in relatives:
        least = min(losses)
        if delta == 0:
            p = [float(loss == least) for loss in losses]
            p = [a / sum(p) for a in p]
        else:
            rate = math.log(n) / delta
            p = softmax([-rate * loss for loss in losses])
        held.append(p)
        growth = math.fsum(a * b for a, b in zip(p, x, strict=True))
        lost = [-b / growth for b in x]
        own = math.fsum(a * b for a, b in zip(p, lost, strict=True))
        after = [a + b for a, b in zip(losses, lost, strict=True)]
        if delta == 0:
            mixed = min(after) - least
        else:
            mixed = -math.log(math.fsum(a * math.exp(-rate * b) for a, b in zip(p, lost, strict=True))) / rate
        delta, losses = delta + max(own - mixed, 0.0), after
    return held


def spreads(relatives):
    """The largest relative of each round over the least, less 1."""
    return [max(x) / min(x) - 1 for x in relatives]
