"""Forecasts that are probability vectors, as slowly and obviously as possible: what the package must agree with.

Nothing here comes from afterwit. A round is a list with a vector for each expert, None where an expert sleeps.
"""

import math
from decimal import Decimal, localcontext

from naive_experts import (
    BOA,
    AdaHedge,
    ExponentialWeights,
    FixedShare,
    MLpol,
    PolynomialWeights,
    SecondOrderWeights,
    StronglyAdaptive,
)

DIGITS = 50


def brier(f, happened):
    return sum((p - (k == happened)) ** 2 for k, p in enumerate(f))


def log_loss(f, happened):
    return -math.log(f[happened]) if f[happened] > 0 else math.inf


LOSSES = {"brier": brier, "log": log_loss}


class Aggregating:
    """Vovk's aggregating algorithm. Weights are products of exponentials of losses, in decimals of many digits.

    A sleeper loses what the learner loses. For the Brier loss the threshold is found by bisection.
    """

    def __init__(self, n, loss="brier", interval=None):
        self.n, self.loss, self.interval = n, loss, interval
        self.rate = Decimal(1) if interval is None else 2 / (Decimal(interval[1]) - Decimal(interval[0])) ** 2
        self.weights = [Decimal(1)] * n
        self.own, self.losses = [], []

    def shares(self, advice):
        awake = [i for i in range(self.n) if advice[i] is not None]
        total = sum(self.weights[i] for i in awake)
        if total == 0:
            return {i: Decimal(1) / len(awake) for i in awake}
        return {i: self.weights[i] / total for i in awake}

    def lose(self, forecast, outcome):
        """The loss in decimals; None stands for infinity."""
        if self.loss == "square":
            return (forecast - outcome) ** 2
        if self.loss == "brier":
            return sum((p - (k == outcome)) ** 2 for k, p in enumerate(forecast))
        return -forecast[outcome].ln() if forecast[outcome] > 0 else None

    def generalised(self, shares, advice, outcome):
        """g: -1/eta ln of the mean of exp(-eta loss)."""
        mean = Decimal(0)
        for i, share in shares.items():
            lost = self.lose(advice[i], outcome)
            mean += 0 if lost is None else share * (-self.rate * lost).exp()
        return -mean.ln() / self.rate

    def forecast(self, advice):
        with localcontext(prec=DIGITS):
            return self._forecast(self._decimals(advice))

    def _decimals(self, advice):
        if self.loss == "square":
            return [None if x is None else Decimal(x) for x in advice]
        return [None if x is None else [Decimal(p) for p in x] for x in advice]

    def _forecast(self, advice):
        shares = self.shares(advice)
        if self.loss == "square":
            low, high = map(Decimal, self.interval)
            difference = self.generalised(shares, advice, high) - self.generalised(shares, advice, low)
            return (low + high) / 2 - difference / (2 * (high - low))
        kinds = range(len(next(x for x in advice if x is not None)))
        if self.loss == "log":
            return [sum(share * advice[i][k] for i, share in shares.items()) for k in kinds]
        g = [self.generalised(shares, advice, k) for k in kinds]
        low, high = min(g), max(g) + 2
        for _ in range(150):
            middle = (low + high) / 2
            if sum(max(middle - each, Decimal(0)) for each in g) < 2:
                low = middle
            else:
                high = middle
        return [max(low - each, Decimal(0)) / 2 for each in g]

    def play(self, advice, outcome):
        """The forecast; None, and nothing is learned, if its loss is infinite."""
        with localcontext(prec=DIGITS):
            read = self._decimals(advice)
            at = Decimal(outcome) if self.loss == "square" else outcome
            forecast = self._forecast(read)
            own = self.lose(forecast, at)
            if own is None:
                return None
            lost = [None if x is None else self.lose(x, at) for x in read]
            for i in range(self.n):
                shown = own if read[i] is None else lost[i]
                self.weights[i] *= Decimal(0) if shown is None else (self.rate * (own - shown)).exp()
            self.own.append(own)
            self.losses.append([(x is not None, loss) for x, loss in zip(read, lost, strict=True)])
            return [float(p) for p in forecast] if self.loss != "square" else float(forecast)

    def regrets(self, rounds=None):
        """To each expert: None if it has never been awake, minus infinity after an infinite loss."""
        found = []
        played = list(zip(self.own, self.losses, strict=True))[:rounds]
        for i in range(self.n):
            pairs = [(own, row[i][1]) for own, row in played if row[i][0]]
            if not pairs:
                found.append(None)
            elif any(loss is None for _, loss in pairs):
                found.append(-math.inf)
            else:
                found.append(float(sum(own - loss for own, loss in pairs)))
        return found

    def largest_regret(self):
        """Over all rounds and all experts who had been awake by then."""
        found = [r for t in range(len(self.own)) for r in self.regrets(t + 1) if r is not None]
        return max(found, default=0.0)


class OfVectors:
    """Turns a slow algorithm for numbers into one for vectors: what changes is the mean, the losses, the tangents."""

    def forecast(self, advice, p):
        awake = [i for i in range(self.n) if advice[i] is not None]
        total = math.fsum(p[i] for i in awake)
        return [math.fsum(p[i] * advice[i][k] for i in awake) / total for k in range(len(advice[awake[0]]))]

    def lose(self, forecast, outcome):
        return LOSSES[self.loss_name](forecast, outcome)

    def play(self, advice, outcome):
        awake = [vector is not None for vector in advice]
        p = self.mix(awake)
        forecast = self.forecast(advice, p)
        losses = [None if vector is None else self.lose(vector, outcome) for vector in advice]
        self._count(p, awake, losses, self.lose(forecast, outcome), forecast, outcome, advice)
        return forecast

    def tangents(self, p, advice, forecast, outcome):
        if self.loss_name == "brier":
            gradient = [2 * (f - (k == outcome)) for k, f in enumerate(forecast)]
        else:
            gradient = [-1 / f if k == outcome else 0.0 for k, f in enumerate(forecast)]
        return [
            0.0 if x is None else math.fsum(g * (a - f) for g, a, f in zip(gradient, x, forecast, strict=True))
            for x in advice
        ]


def of_vectors(kind):
    return type(kind.__name__, (OfVectors, kind), {})


ALGORITHMS = {
    kind.__name__: of_vectors(kind)
    for kind in (
        AdaHedge,
        BOA,
        ExponentialWeights,
        FixedShare,
        MLpol,
        PolynomialWeights,
        SecondOrderWeights,
        StronglyAdaptive,
    )
}
