"""Expert algorithms written as slowly and obviously as possible, straight from the literature: what the package must agree with.

Nothing here comes from afterwit. A round is a list with one number for each expert, None where an expert sleeps.
``fragile`` becomes True where a decision hangs on a sum being exactly, or nearly, equal to another: there two correct
programs may differ.
"""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

CLOSE = 1e-9


# ---------------------------------------------------------------------- losses


def loss_of(name, f, y):
    if callable(name):
        return name(f, y)
    if name == "square":
        return (f - y) ** 2
    if name == "absolute":
        return abs(f - y)
    if name == "percentage":
        return abs(f - y) / abs(y)
    if name.startswith("pinball"):
        q = float(name[len("pinball(") : -1])
        return q * (y - f) if f < y else (1 - q) * (f - y)
    if name == "log":
        return -math.log(f) if y == 1 else -math.log1p(-f)
    assert name == "zero-one"
    return 0.0 if f == y else 1.0


def slope_of(name, f, y):
    sign = (f > y) - (f < y)
    if name == "square":
        return 2 * (f - y)
    if name == "absolute":
        return sign
    if name == "percentage":
        return sign / abs(y)
    if name.startswith("pinball"):
        q = float(name[len("pinball(") : -1])
        return {-1: -q, 0: 0, 1: 1 - q}[sign]
    assert name == "log"
    return -1 / f if y == 1 else 1 / (1 - f)


# The log loss by probabilities of what happened, to so many digits that 1 - f keeps all that count.
DIGITS = 60


def chance_of(forecast, outcome):
    """The probability a forecast gives to the outcome."""
    with localcontext(prec=DIGITS):
        return Decimal(forecast) if outcome == 1 else 1 - Decimal(forecast)


def mixed_chance(p, advice, outcome):
    """The probability the mean forecast gives to the outcome; sleepers have none."""
    with localcontext(prec=DIGITS):
        awake = [i for i in range(len(p)) if advice[i] is not None]
        total = sum(Decimal(p[i]) for i in awake)
        return sum(Decimal(p[i]) * chance_of(advice[i], outcome) for i in awake) / total


def mixed_log_loss(p, advice, outcome):
    with localcontext(prec=DIGITS):
        return float(-mixed_chance(p, advice, outcome).ln())


def log_tangents(p, advice, outcome):
    """slope * (advice - forecast) for the log loss of the mean: (q - q_i) / q, with q the probability of what happened."""
    with localcontext(prec=DIGITS):
        mean = mixed_chance(p, advice, outcome)
        return [0.0 if v is None else float((mean - chance_of(v, outcome)) / mean) for v in advice]


def bayes_loss(advice, outcomes):
    """What exponential weights at rate 1 lose under the log loss: -ln of the mean of the experts' probabilities of all that happened."""
    with localcontext(prec=DIGITS):
        n = len(advice[0])
        products = [math.prod(chance_of(row[i], y) for row, y in zip(advice, outcomes, strict=True)) for i in range(n)]
        return float(-(sum(products) / n).ln())


# ---------------------------------------------------------------------- chance


def uniform(seed, number):
    """Splitmix64 (Steele, Lea & Flood 2014), read at one place of the seed's own stream."""
    mask = 2**64 - 1
    z = (seed * 0xD1342543DE82EF95 + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) / 2**53


# ---------------------------------------------------------------------- the loop they share


def near(a, b, scale=1.0):
    return abs(a - b) <= CLOSE * max(abs(a), abs(b), scale)


class Naive:
    def __init__(self, n, loss="square", gradient=False, loss_range=None, draws=False, seed=0):
        self.n, self.loss_name, self.gradient, self.seed = n, loss, gradient, seed
        self.ranged = loss_range is not None
        self.low, self.high = loss_range or (0.0, 1.0)
        self.draws = draws or loss == "zero-one"
        self.rounds = 0
        self.loss = 0.0
        self.expert_losses = [0.0] * n
        self.regrets = [0.0] * n
        self.slope_regrets = [0.0] * n
        self.awake_rounds = [0] * n
        self.fragile = False

    # -- an algorithm defines these

    def mix(self, awake):
        """The probability of each expert, 0 for those asleep."""
        raise NotImplementedError

    def learn(self, p, awake, seen, mixed, gains):
        """From everyone's loss as shown, the mixture's, and what following each would have saved."""
        raise NotImplementedError

    def shown_asleep(self, mixed, own):
        """What a sleeper is shown: the loss of the mixture."""
        return mixed

    # -- and uses these

    def scaled(self, loss):
        return (loss - self.low) / (self.high - self.low)

    def drawn(self, p):
        u, total = uniform(self.seed, self.rounds), 0.0
        for i in range(self.n):
            total += p[i]
            if p[i] > 0 and abs(u - total) < CLOSE:
                self.fragile = True
            if u < total:
                return i
        return max(i for i in range(self.n) if p[i] > 0)

    def softmax(self, scores, awake):
        best = max(score for score, up in zip(scores, awake, strict=True) if up)
        shares = [math.exp(score - best) if up else 0.0 for score, up in zip(scores, awake, strict=True)]
        return [share / math.fsum(shares) for share in shares]

    def forecast(self, advice, p):
        if self.draws:
            return advice[self.drawn(p)]
        return math.fsum(p[i] * advice[i] for i in range(self.n) if advice[i] is not None)

    def own_loss(self, p, losses, forecast, outcome):
        """What is counted: the expected loss if one expert is followed by chance, else that of the forecast."""
        if self.draws:
            return math.fsum(p[i] * losses[i] for i in range(self.n) if losses[i] is not None)
        return loss_of(self.loss_name, forecast, outcome)

    def tangents(self, p, advice, forecast, outcome):
        """slope * (advice - forecast), which lies below the loss less the forecast's; 0 for those asleep."""
        if self.loss_name == "log":
            return log_tangents(p, advice, outcome)
        slope = slope_of(self.loss_name, forecast, outcome)
        return [0.0 if value is None else slope * (value - forecast) for value in advice]

    @property
    def weights(self):
        return self.mix([True] * self.n)

    def play(self, advice, outcome):
        """One round; the forecast."""
        awake = [value is not None for value in advice]
        p = self.mix(awake)
        forecast = self.forecast(advice, p)
        losses = [None if value is None else loss_of(self.loss_name, value, outcome) for value in advice]
        if self.loss_name == "log" and not self.draws:
            own = mixed_log_loss(p, advice, outcome)
        else:
            own = self.own_loss(p, losses, forecast, outcome)
        self._count(p, awake, losses, own, forecast, outcome, advice)
        return forecast

    def watch(self, losses):
        """A round of which only losses are known; the mixture's."""
        awake = [value is not None for value in losses]
        p = self.mix(awake)
        own = self.watched_loss(p, losses)
        self._count(p, awake, losses, own)
        return own

    def watched_loss(self, p, losses):
        return math.fsum(p[i] * losses[i] for i in range(self.n) if losses[i] is not None)

    def _count(self, p, awake, losses, own, forecast=None, outcome=None, advice=None):
        up = [i for i in range(self.n) if awake[i]]
        self.loss += own
        for i in up:
            self.expert_losses[i] += losses[i]
            self.regrets[i] += own - losses[i]
            self.awake_rounds[i] += 1
        if self.gradient:
            tangents = self.tangents(p, advice, forecast, outcome)
            gains = [-tangent for tangent in tangents]
            for i in up:
                self.slope_regrets[i] += gains[i]
            seen = [self.scaled(tangent) if self.ranged else tangent for tangent in tangents]
            mixed = self.scaled(0.0) if self.ranged else 0.0
        else:
            gains = [own - losses[i] if awake[i] else 0.0 for i in range(self.n)]
            seen = [None if loss is None else self.scaled(loss) if self.ranged else loss for loss in losses]
            mixed = math.fsum(p[i] * seen[i] for i in up)
            asleep = self.shown_asleep(mixed, own)
            seen = [asleep if value is None else value for value in seen]
        self.learn(p, awake, seen, mixed, gains)
        self.rounds += 1

    @property
    def steering_regrets(self):
        return self.slope_regrets if self.gradient else self.regrets


# ---------------------------------------------------------------------- the algorithms


class WeightedMajority(Naive):
    """Mohri et al., Figure 8.3. With beta = 0, those with the fewest mistakes count alike."""

    def __init__(self, n, beta=0.5):
        super().__init__(n, "zero-one", loss_range=(0.0, 1.0))
        self.beta = beta
        self.wrong = [0] * n

    def mix(self, awake):
        if self.beta == 0:
            weights = [Fraction(count == min(self.wrong)) for count in self.wrong]
        else:
            weights = [Fraction(self.beta) ** count for count in self.wrong]
        return [float(weight / sum(weights)) for weight in weights]

    def forecast(self, advice, p):
        votes = {}
        for value, share in zip(advice, p, strict=True):
            votes[value] = votes.get(value, 0.0) + share
        most = max(votes.values())
        leaders = [label for label in votes if near(votes[label], most)]
        # Ties are exact where the weights are powers of two, or the same two weights stand on both sides.
        sides = {tuple(sorted(c for c, v in zip(self.wrong, advice, strict=True) if v == label)) for label in leaders}
        exact = len(sides) == 1 and len(next(iter(sides))) <= 2
        self.fragile |= len(leaders) > 1 and self.beta not in (0, 0.25, 0.5) and not exact
        return max(leaders)

    def own_loss(self, p, losses, forecast, outcome):
        return 0.0 if forecast == outcome else 1.0

    def learn(self, p, awake, seen, mixed, gains):
        if any(gain != -loss for gain, loss in zip(gains, seen, strict=True)):  # a mistake: own loss is 1
            self.wrong = [count + (loss > 0) for count, loss in zip(self.wrong, seen, strict=True)]


class RandomizedWeightedMajority(Naive):
    """Mohri et al., Figure 8.4."""

    def __init__(self, n, beta=None, horizon=None, seed=0, loss="zero-one", loss_range=(0.0, 1.0)):
        super().__init__(n, loss, loss_range=loss_range, draws=True, seed=seed)
        self.beta = beta if beta is not None else max(0.5, 1 - math.sqrt(math.log(n) / horizon))
        self.logs = [0.0] * n

    def mix(self, awake):
        return self.softmax(self.logs, awake)

    def learn(self, p, awake, seen, mixed, gains):
        self.logs = [log + loss * math.log(self.beta) for log, loss in zip(self.logs, seen, strict=True)]


class ExponentialWeights(Naive):
    """Mohri et al., Figure 8.5, with Theorem 8.7's doubling and Cesa-Bianchi & Lugosi's decreasing rate.

    The adaptive rate is the least of those at which the rounds with forecasts were exp-concave, and ln N / C, with C the
    sum over the rounds of what each may have cost at the rate it was played with.
    """

    def __init__(
        self, n, loss="square", rate=None, horizon=None, schedule=None, gradient=False, loss_range=None, seed=0
    ):
        unbounded = loss == "log" and loss_range is None and not gradient
        concave = loss in ("square", "log", "brier") and not gradient
        nothing_said = rate is None and horizon is None and schedule is None
        if nothing_said and loss == "brier" and concave:
            loss_range = loss_range or (0.0, 2.0)
        fits = not unbounded and loss != "zero-one" if loss_range is None else concave
        self.adaptive = schedule == "adaptive" or (nothing_said and fits)
        free = unbounded or self.adaptive
        super().__init__(n, loss, gradient, loss_range if loss_range or free else (0.0, 1.0), seed=seed)
        self.concave, self.by_forecast = concave, False
        self.cost, self.caps = 0.0, []
        if self.adaptive and concave and loss == "log":
            self.caps.append(self.high - self.low)
        elif self.adaptive and concave and self.ranged and self.high > 0:
            self.caps.append((self.high - self.low) / (2 * self.high))
        self.fixed = 1.0 if unbounded and rate is None else rate
        if horizon is not None:
            self.fixed = math.sqrt(8 * math.log(n) / horizon)
        self.doubling = schedule == "doubling"
        self.history = []
        # At such a rate exp(-rate * loss) is concave in the forecast.
        squared = 1 / (2 * self.high) if self.high > 0 else math.inf
        most = {"log": 1.0, "square": squared, "brier": squared}.get(loss, 0.0)
        self.exp_concave = self.fixed is not None and self.fixed / (self.high - self.low) <= most and not gradient

    def shown_asleep(self, mixed, own):
        """The loss of the forecast, where that is what the regret is bounded by (Freund et al. 1997)."""
        by_own = self.by_forecast and self.concave if self.adaptive else self.exp_concave
        return (self.scaled(own) if self.ranged else own) if by_own else mixed

    def adaptive_rate(self):
        """None as long as all that was shown was equal."""
        return min([*self.caps, *([math.log(self.n) / self.cost] if self.cost else [])], default=None)

    def _count(self, p, awake, losses, own, forecast=None, outcome=None, advice=None):
        self.by_forecast = forecast is not None
        super()._count(p, awake, losses, own, forecast, outcome, advice)

    def mix(self, awake):
        counted, t = self.history, self.rounds + 1
        if self.adaptive:
            rate = self.adaptive_rate() or 0.0
        elif self.fixed is not None:
            rate = self.fixed
        elif self.doubling:
            period = 2 ** int(math.log2(t))  # rounds 1, 2-3, 4-7, ...
            rate = math.sqrt(8 * math.log(self.n) / period)
            counted = self.history[period - 1 :]
        else:
            rate = math.sqrt(8 * math.log(self.n) / t)
        return self.softmax([-rate * math.fsum(losses[i] for losses in counted) for i in range(self.n)], awake)

    def learn(self, p, awake, seen, mixed, gains):
        self.history.append(seen)
        if not self.adaptive:
            return
        up = [loss for loss, here in zip(seen, awake, strict=True) if here]
        spread, rate, concave = max(up) - min(up), self.adaptive_rate(), 0.0
        if self.by_forecast and self.concave:
            if self.loss_name != "log" and not self.ranged:
                self.caps += [1 / (2 * max(up))] * (max(up) > 0)
                concave = 1 / (2 * max(up)) if max(up) > 0 else math.inf
            else:
                concave = self.caps[0] if self.caps else math.inf
        if spread == 0:
            return
        if rate is None:
            self.cost += 0.0 if concave else spread * min(1.0, math.sqrt(math.log(self.n) / 8))
        else:
            self.cost += min(spread, max(rate - concave, 0.0) * spread**2 / 8)


class CertainForecasts:
    """Exponential weights at rate 1 under the log loss, where probabilities may be 0 and 1, in fractions.

    A weight is the product of the chances that its expert gave to what happened; while it sleeps, of those that the
    mixture gave. Where all who are awake have the weight 0 they count alike.
    """

    def __init__(self, n):
        self.n, self.raw = n, [Fraction(1)] * n
        self.loss, self.losses, self.own_while_awake = 0.0, [0.0] * n, [0.0] * n

    @property
    def weights(self):
        return [float(weight / sum(self.raw)) for weight in self.raw]

    def shares(self, advice):
        up = [weight if value is not None else Fraction(0) for weight, value in zip(self.raw, advice, strict=True)]
        if not any(up):
            up = [Fraction(value is not None) for value in advice]
        return [weight / sum(up) for weight in up]

    def forecast(self, advice):
        pairs = zip(self.shares(advice), advice, strict=True)
        return sum(share * Fraction(value) for share, value in pairs if value is not None)

    def play(self, advice, outcome):
        """The chance the mixture gave to the outcome; nothing changes if it is 0."""
        forecast = self.forecast(advice)
        chance = forecast if outcome else 1 - forecast
        if not chance:
            return chance
        self.loss -= math.log(chance)
        for i, value in enumerate(advice):
            mine = chance if value is None else Fraction(value) if outcome else 1 - Fraction(value)
            self.raw[i] *= mine
            if value is not None:
                self.losses[i] += -math.log(mine) if mine else math.inf
                self.own_while_awake[i] -= math.log(chance)
        return chance


class SecondOrderWeights(Naive):
    """Mohri et al., exercise 8.7."""

    def __init__(self, n, beta=None, horizon=None, loss="zero-one", loss_range=None, seed=0):
        super().__init__(n, loss, loss_range=loss_range or (0.0, 2.0 if loss == "brier" else 1.0), seed=seed)
        self.beta = beta if beta is not None else max(0.5, 1 - math.sqrt(math.log(n) / horizon))
        self.logs = [0.0] * n
        self.squares = [0.0] * n

    def mix(self, awake):
        return self.softmax(self.logs, awake)

    def learn(self, p, awake, seen, mixed, gains):
        for i in range(self.n):
            self.logs[i] += math.log(1 - (1 - self.beta) * seen[i])
            self.squares[i] += seen[i] ** 2


class PolynomialWeights(Naive):
    """Mohri et al., exercise 8.8."""

    def __init__(self, n, power=None, loss="square", gradient=False, loss_range=None, seed=0):
        super().__init__(n, loss, gradient, loss_range, seed=seed)
        self.power = max(2.0, 2 * math.log(n)) if power is None else power
        self.scale = 0.0

    def mix(self, awake):
        positive = [max(regret, 0.0) if up else 0.0 for regret, up in zip(self.steering_regrets, awake, strict=True)]
        self.fragile |= any(r != 0 and abs(r) <= CLOSE * self.scale for r in self.steering_regrets)
        if max(positive) == 0:
            return [up / sum(awake) for up in awake]
        shares = [(regret / max(positive)) ** (self.power - 1) for regret in positive]
        return [share / math.fsum(shares) for share in shares]

    def learn(self, p, awake, seen, mixed, gains):
        self.scale = max(self.scale, *map(abs, gains))


class SleepingExperts(Naive):
    """Blum, Hopcroft & Kannan, section 6.8."""

    def __init__(self, n, epsilon=0.1, loss="zero-one", loss_range=(0.0, 1.0), seed=0):
        super().__init__(n, loss, loss_range=loss_range, draws=True, seed=seed)
        self.epsilon = epsilon
        self.logs = [0.0] * n

    def mix(self, awake):
        return self.softmax(self.logs, awake)

    def learn(self, p, awake, seen, mixed, gains):
        before = self.total_weight
        for i in range(self.n):
            if awake[i]:
                self.logs[i] += math.log(1 + self.epsilon) * (mixed / (1 + self.epsilon) - seen[i])
        assert self.total_weight <= before * (1 + CLOSE), "the proof: the total weight never grows"

    @property
    def total_weight(self):
        return math.fsum(math.exp(log) for log in self.logs)


class FixedShare(Naive):
    """Herbster & Warmuth 1998, as in Cesa-Bianchi & Lugosi, section 5.2."""

    def __init__(
        self,
        n,
        loss="square",
        share=None,
        rate=None,
        horizon=None,
        shifts=None,
        gradient=False,
        loss_range=None,
        seed=0,
    ):
        self.decreasing = share is None and horizon is None
        if loss_range is None and (gradient or loss != "log" or not self.decreasing):
            loss_range = (0.0, 2.0) if loss == "brier" else (0.0, 1.0)
        super().__init__(n, loss, gradient, loss_range, seed=seed)
        # The largest rate at which the loss is exp-concave: 1 for the log loss as it is, 1/(2 high) for a square loss.
        most = 0.0
        if loss == "log" and not gradient:
            most = self.high - self.low
        elif loss in ("square", "brier") and not gradient and self.high > 0:
            most = (self.high - self.low) / (2 * self.high)
        self.shows_forecast = self.decreasing and 0 < (rate or most) <= most
        self.tuned = 1 if shifts is None else shifts
        if self.decreasing and rate is None:
            rate = most or None
        if horizon is not None:
            share = shifts / (horizon - 1)
            entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
            rate = math.sqrt(8 / horizon * ((shifts + 1) * math.log(n) + (horizon - 1) * entropy))
        self.share, self.rate = share, rate
        self.p = [1 / n] * n

    def shown_asleep(self, mixed, own):
        return (self.scaled(own) if self.ranged else own) if self.shows_forecast else mixed

    def mix(self, awake):
        shares = [share if up else 0.0 for share, up in zip(self.p, awake, strict=True)]
        return [share / math.fsum(shares) for share in shares]

    def learn(self, p, awake, seen, mixed, gains):
        least, t = min(seen), self.rounds + 1
        rate = self.rate
        if rate is None:
            rate = math.sqrt(4 * (self.tuned + 2) * (1 + math.log(self.n) + math.log(t)) / t)
        share = 1 / (t + 1) if self.decreasing else self.share
        v = [self.p[i] * math.exp(-rate * (seen[i] - least)) for i in range(self.n)]
        self.p = [(1 - share) * v[i] / math.fsum(v) + share / self.n for i in range(self.n)]


class AdaHedge(Naive):
    """De Rooij et al. 2014, Figure 1; the mix loss from cumulative losses, as logarithms of sums."""

    def __init__(self, n, loss="square", gradient=True, seed=0):
        super().__init__(n, loss, gradient, seed=seed)
        self.delta = 0.0
        self.cumulative = [0.0] * n
        self.scale = 0.0
        self.ranges = []

    def potential(self, losses, rate):
        """What a single expert with uniform prior weights would have lost: -1/eta ln mean exp(-eta L_i)."""
        least = min(losses)
        if rate == math.inf:
            return least
        return least - math.log(math.fsum(math.exp(-rate * (loss - least)) for loss in losses) / self.n) / rate

    @property
    def rate(self):
        if self.n == 1 or self.delta <= 1e-14 * self.scale:
            return math.inf
        return math.log(self.n) / self.delta

    def mix(self, awake):
        if self.rate < math.inf:
            return self.softmax([-self.rate * loss for loss in self.cumulative], awake)
        least = min(loss for loss, up in zip(self.cumulative, awake, strict=True) if up)
        self.fragile |= any(loss != least and near(loss, least, self.scale) for loss in self.cumulative)
        leaders = [up and loss == least for loss, up in zip(self.cumulative, awake, strict=True)]
        return [leader / sum(leaders) for leader in leaders]

    def learn(self, p, awake, seen, mixed, gains):
        before = self.potential(self.cumulative, self.rate)
        self.cumulative = [total + loss for total, loss in zip(self.cumulative, seen, strict=True)]
        gap = mixed - (self.potential(self.cumulative, self.rate) - before)
        self.scale = max(self.scale, *map(abs, seen))
        self.fragile |= 0 < abs(gap) < CLOSE * self.scale and self.delta < CLOSE * self.scale
        self.delta += max(gap, 0.0)
        self.ranges.append(max(seen) - min(seen))


class BOA(Naive):
    """Wintenberger 2017 with a rate for each expert, gains larger than any before scaled down."""

    def __init__(self, n, loss="square", gradient=True, loss_range=None, seed=0):
        super().__init__(n, loss, gradient, loss_range, seed=seed)
        self.largest = loss_range[1] - loss_range[0] if loss_range else 0.0
        self.history = [[] for _ in range(n)]  # of (scaled gain, the rate before it)

    def rate(self, i):
        squares = math.fsum(gain**2 for gain, _ in self.history[i])
        capped = 1 / (2 * self.largest)
        return min(capped, math.sqrt(math.log(self.n) / squares)) if squares > 0 else capped

    def mix(self, awake):
        if self.largest == 0 or self.n == 1:
            return [up / sum(awake) for up in awake]
        rates = [self.rate(i) for i in range(self.n)]
        sums = [math.fsum(gain - rate * gain**2 for gain, rate in rounds) for rounds in self.history]
        return self.softmax([math.log(rate) + rate * total for rate, total in zip(rates, sums, strict=True)], awake)

    def learn(self, p, awake, seen, mixed, gains):
        if self.n == 1:
            return
        largest = max(self.largest, *map(abs, gains))
        if self.largest > 0:
            rates = [self.rate(i) for i in range(self.n)]
            for i in range(self.n):
                self.history[i].append((gains[i] * self.largest / largest, rates[i]))
        self.fragile |= self.largest == 0 and 0 < largest < 1e-12 * max(map(abs, seen))
        self.largest = largest


class MLpol(Naive):
    """Gaillard, Stoltz & van Erven 2014, Figure 3; without a range, 1/eta = B + the sum of squares.

    With a discount, the gains of s rounds ago count discount^s, and so do their squares, and the largest square.
    """

    def __init__(self, n, loss="square", gradient=True, loss_range=None, seed=0, discount=None):
        super().__init__(n, loss, gradient, loss_range, seed=seed)
        self.range = (loss_range[1] - loss_range[0]) if loss_range else 0.0
        self.discount = 1.0 if discount is None else discount
        self.history = []
        self.scale = 0.0

    def faded(self, terms):
        return math.fsum(term * self.discount**age for age, term in enumerate(reversed(terms)))

    def mix(self, awake):
        regrets = [self.faded([gains[i] for gains in self.history]) for i in range(self.n)]
        if self.discount == 1:
            regrets = self.steering_regrets
        squares = [self.faded([gains[i] ** 2 for gains in self.history]) for i in range(self.n)]
        ages = enumerate(reversed(self.history))
        largest = max([self.discount**age * max(gain**2 for gain in gains) for age, gains in ages], default=0.0)
        largest = max(largest, self.range**2)
        self.fragile |= any(r != 0 and abs(r) <= CLOSE * self.scale for r in regrets)
        shares = [regrets[i] / (largest + squares[i]) if awake[i] and regrets[i] > 0 else 0.0 for i in range(self.n)]
        if max(shares) == 0:
            return [up / sum(awake) for up in awake]
        return [share / math.fsum(shares) for share in shares]

    def learn(self, p, awake, seen, mixed, gains):
        self.history.append(gains)
        self.scale = max(self.scale, *map(abs, gains), *map(abs, seen))


class StronglyAdaptive(Naive):
    """Experts in the blocks [j 2^k, (j+1) 2^k - 1], each with its own rate, from the list of all gains so far."""

    def __init__(self, n, loss="square", gradient=False, loss_range=None, seed=0):
        super().__init__(n, loss, gradient, loss_range or (0.0, 2.0 if loss == "brier" else 1.0), seed=seed)
        self.history = []

    def mix(self, awake):
        t, shares = self.rounds + 1, [0.0] * self.n
        for k in range(t.bit_length()):
            j = t // 2**k
            cost = math.log(self.n * (j + 1) * (1 + int(math.log2(j * 2**k))))
            rate = min(0.5, math.sqrt(cost / 2**k))
            for i in range(self.n):
                steps = [rate * gains[i] / (self.high - self.low) for gains in self.history[j * 2**k - 1 :]]
                if awake[i]:
                    shares[i] += rate * 2**k * math.exp(math.fsum(x - x * x for x in steps))
        return [share / math.fsum(shares) for share in shares]

    def learn(self, p, awake, seen, mixed, gains):
        self.history.append(gains)


class Exp3(Naive):
    """Auer et al. 2002, as in Bubeck & Cesa-Bianchi 2012, section 3.1."""

    def __init__(self, n, rate=None, horizon=None, loss="zero-one", loss_range=(0.0, 1.0), seed=0):
        super().__init__(n, loss, loss_range=loss_range, draws=True, seed=seed)
        self.fixed = math.sqrt(2 * math.log(n) / (horizon * n)) if horizon is not None else rate
        self.estimates = [0.0] * n

    def mix(self, awake):
        rate = self.fixed
        if rate is None:
            rate = math.sqrt(math.log(self.n) / ((self.rounds + 1) * self.n))
        return self.softmax([-rate * estimate for estimate in self.estimates], awake)

    def own_loss(self, p, losses, forecast, outcome):
        return losses[self.drawn(p)]

    def watched_loss(self, p, losses):
        return losses[self.drawn(p)]

    def learn(self, p, awake, seen, mixed, gains):
        choice = self.drawn(p)
        self.estimates[choice] += seen[choice] / p[choice]


class SwapRegret(Naive):
    """Blum & Mansour 2007, with the fixed point found exactly, in fractions."""

    def __init__(self, copies, loss="zero-one", loss_range=(0.0, 1.0), seed=0):
        super().__init__(len(copies), loss, loss_range=loss_range, seed=seed)
        self.copies = copies
        self.played = [[0.0] * self.n for _ in range(self.n)]  # i, j: the loss of j weighted by how much i was played

    def mix(self, awake):
        p = stationary([copy.weights for copy in self.copies])
        self.fragile |= any(copy.fragile for copy in self.copies)
        return p

    def learn(self, p, awake, seen, mixed, gains):
        for i, copy in enumerate(self.copies):
            copy.watch([p[i] * loss for loss in seen])
            for j in range(self.n):
                self.played[i][j] += p[i] * seen[j] * (self.high - self.low)

    @property
    def swap_regret(self):
        """By trying every map from experts to experts."""
        return max(
            math.fsum(self.played[i][i] - self.played[i][image[i]] for i in range(self.n))
            for image in itertools.product(range(self.n), repeat=self.n)
        )

    @property
    def internal_regret(self):
        return max(self.played[i][i] - self.played[i][j] for i in range(self.n) for j in range(self.n))


def stationary(matrix):
    """The p with p = p Q and sum 1, by Gaussian elimination in fractions. All of Q is positive."""
    n = len(matrix)
    Q = [[Fraction(value) for value in row] for row in matrix]
    Q = [[value / sum(row) for value in row] for row in Q]
    # Columns of Q^T - I, the last equation replaced by sum p = 1.
    rows = [[Q[j][i] - (i == j) for j in range(n)] + [Fraction(0)] for i in range(n - 1)] + [[Fraction(1)] * (n + 1)]
    for k in range(n):
        pivot = next(r for r in range(k, n) if rows[r][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(n):
            if r != k and rows[r][k] != 0:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [float(rows[k][n] / rows[k][k]) for k in range(n)]


# ---------------------------------------------------------------------- comparators


def blocks_of(first, last):
    """The fewest blocks [j 2^k, (j+1) 2^k - 1] that an interval of rounds, counted from 1, is made of, as (j, k)."""
    if first > last:
        return []
    k = max(k for k in range(64) if first % 2**k == 0 and first + 2**k - 1 <= last)
    return [(first // 2**k, k), *blocks_of(first + 2**k, last)]


def bound_on_interval(n, first, last):
    """The bound of the strongly adaptive algorithm on an interval, for losses in [0, 1]."""
    costs = [(2**k, math.log(n * (j + 1) * (1 + int(math.log2(j * 2**k))))) for j, k in blocks_of(first, last)]
    return math.fsum(min(length, 2 * math.sqrt(length * cost)) for length, cost in costs)


def regret_on_interval(own, losses, first, last):
    """The largest regret to an expert on the rounds from first to last, counted from 1; None sleeps."""
    rounds = range(first - 1, last)
    return max(
        math.fsum(own[t] - losses[t][i] for t in rounds if losses[t][i] is not None) for i in range(len(losses[0]))
    )


def best_shifting(losses, shifts):
    """The least loss of a sequence of experts with at most that many shifts, by trying all of them."""
    rounds, n = len(losses), len(losses[0])
    best = math.inf
    for sequence in itertools.product(range(n), repeat=rounds):
        if sum(a != b for a, b in itertools.pairwise(sequence)) <= shifts:
            best = min(best, math.fsum(losses[t][i] for t, i in enumerate(sequence)))
    return best


def best_segments(losses, shifts):
    """The same by choosing where segments end: best[k][t] is the least loss of the first t rounds in k segments."""
    rounds, n = len(losses), len(losses[0])
    sums = [[0.0] * n]
    for row in losses:
        sums.append([a + b for a, b in zip(sums[-1], row, strict=True)])
    best = [0.0] + [math.inf] * rounds
    for _ in range(min(shifts, rounds - 1) + 1):
        best = [0.0] + [
            min(
                best[s] + min(late - early for late, early in zip(sums[t], sums[s], strict=True))
                for s in range(t)
                if best[s] < math.inf
            )
            for t in range(1, rounds + 1)
        ]
    return best[rounds]
