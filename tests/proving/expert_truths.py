"""What is true of a run of an expert algorithm: its regrets, and the bound of every theorem, from the rounds alone."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import naive_exact as exact
from expert_cases import Case
from naive_bounds import BOUNDS
from naive_experts import best_segments, blocks_of, bound_on_interval
from proving.judging import EPSILON, Truth, key_of
from proving.searching import judges

SCALE_FREE = ("AdaHedge", "BOA", "MLpol", "PolynomialWeights")


@dataclass
class Run:
    """What was played, and what is true of it, in fractions."""

    case: Case
    n: int
    low: float = 0.0
    width: float = 1.0
    own: list = field(default_factory=list)
    losses: list = field(default_factory=list)  # None for sleepers
    gains: list = field(default_factory=list)  # what following each would have saved, by slopes if it learns from these
    seen: list = field(default_factory=list)  # what the algorithm is shown, as floats; None for sleepers
    shares: list = field(default_factory=list)
    sizes: list = field(default_factory=list)
    exact: bool = True
    #: Rounds of which only the losses were known.
    unforecast: int = 0

    @property
    def rounds(self):
        return len(self.own)

    @property
    def log_n(self):
        return math.log(self.n)

    @property
    def slept(self):
        return any(loss is None for row in self.losses for loss in row)

    @property
    def options(self):
        return self.case.options

    @property
    def ranged(self):
        return "loss_range" in self.options or not (self.case.scale_free or self.case.unbounded)

    @property
    def slack(self):
        """How far rounding may have moved the regret: of terms of these sizes, of sums of them, of weights by these."""
        terms = self.rounds + self.n + 16
        return 16 * (1 + self.log_n) * EPSILON * terms * math.fsum(self.sizes)

    def totals(self, rows):
        return [sum((row[i] for row in rows if row[i] is not None), Fraction(0)) for i in range(self.n)]

    @property
    def regrets(self):
        """The regret to every expert over the rounds in which it was awake; None if it never was."""
        if not self.rounds:
            return [Fraction(0)] * self.n
        found = []
        for i in range(self.n):
            awake = [t for t in range(self.rounds) if self.losses[t][i] is not None]
            found.append(sum((self.own[t] - self.losses[t][i] for t in awake), Fraction(0)) if awake else None)
        return found

    @property
    def fixed_rate(self):
        if self.options.get("rate") is not None:
            return self.options["rate"]
        if self.case.adaptive:
            # In a declared range it stays where it began, as long as no round has cost anything.
            cap, cost = adaptive_cap_and_cost(self, self.seen)
            return cap if self.ranged and not cost and cap < math.inf else None
        if self.options.get("horizon") is not None:
            return math.sqrt(8 * self.log_n / self.options["horizon"])
        return 1.0 if self.case.loss == "log" and not self.ranged_log else None

    @property
    def ranged_log(self):
        return "loss_range" in self.options or self.case.gradient

    @property
    def beta(self):
        given = self.options.get("beta")
        if given is None and self.n == 1:
            # With a single expert every beta is as good; at the one for the horizon, 1, formulas divide by 0.
            return 0.5
        return given if given is not None else max(0.5, 1 - math.sqrt(self.log_n / self.options["horizon"]))

    @property
    def slowed(self):
        """Whether it has played more rounds than it was made for."""
        return self.options.get("horizon") is not None and self.rounds > self.options["horizon"]


# ---------------------------------------------------------------------- bounds

ORACLES = {}


def oracle(key):
    def add(function):
        ORACLES[key] = function
        judges(key)
        return function

    return add


@oracle("experts._scheduled_rates.FixedRateBound")
def _(run):
    if run.n == 1:
        return run.width * run.fixed_rate * run.rounds / 8
    return run.width * BOUNDS["exponential-weights"](run.log_n, run.rounds, run.fixed_rate)


@oracle("experts._exp_concave.ExpConcaveBound")
def _(run):
    return run.width * run.log_n / run.fixed_rate if run.n > 1 else 0.0


def adaptive_cap_and_cost(run, rows):
    """The least k_t and C of the adaptive rate, in the unit of what is shown, round by round by the definition."""
    concave = run.case.loss in ("square", "log", "brier") and not run.case.gradient and run.case.base is None
    high, cap, cost = run.low + run.width, math.inf, 0.0
    if concave and run.case.loss == "log":
        cap = run.width
    elif concave and run.ranged and high > 0:
        cap = run.width / (2 * high)
    for row in rows:
        awake = [value for value in row if value is not None]
        spread, rate, k = max(awake) - min(awake), min(cap, run.log_n / cost if cost > 0 else math.inf), 0.0
        if concave and not run.unforecast:
            k = cap
            if run.case.loss != "log" and not run.ranged:
                k = 1 / (2 * max(awake)) if max(awake) > 1e-150 else math.inf
                cap = min(cap, k)
        if spread <= 1e-150:
            continue
        if rate == math.inf:
            cost += 0.0 if k else spread * min(1.0, math.sqrt(run.log_n / 8))
        else:
            cost += min(spread, max(rate - k, 0.0) * spread / 8 * spread)
    return cap, cost


def adaptive_bound(run, rows):
    cap, cost = adaptive_cap_and_cost(run, rows)
    return max(run.log_n / cap, cost) + cost


@oracle("experts._adaptive_rate.AdaptiveRateBound")
def _(run):
    return run.width * adaptive_bound(run, run.seen)


@oracle("experts._scheduled_rates.DoublingBound")
def _(run):
    return run.width * BOUNDS["exponential-weights-doubling"](run.log_n, run.rounds)


@oracle("experts._scheduled_rates.DecreasingRateBound")
def _(run):
    return run.width * BOUNDS["exponential-weights-decreasing"](run.log_n, run.rounds)


@oracle("experts.second_order_weights.SecondOrderBound")
def _(run):
    # Sleepers are shown the loss of the mixture.
    rows = [[shown_mixture(run, t) if value is None else value for value in row] for t, row in enumerate(run.seen)]
    squares = [math.fsum(row[i] ** 2 for row in rows) for i in range(run.n)]
    return [run.width * BOUNDS["second-order"](run.log_n, run.beta, square) for square in squares]


def shown_mixture(run, t):
    """The loss of the mixture of those awake, as the algorithm is shown losses."""
    return float(exact.mixture(run.shares[t], run.seen[t]))


@oracle("experts.second_order_weights.GeneralSecondOrderBound")
def _(run):
    return run.width * BOUNDS["second-order-alpha"](run.log_n, run.rounds, run.beta, 2 * run.beta)


@oracle("experts.second_order_weights.HorizonBound")
def _(run):
    return run.width * BOUNDS["second-order-tuned"](run.log_n, run.options["horizon"])


ORACLES["experts.randomized_weighted_majority.RandomizedHorizonBound"] = ORACLES[
    "experts.second_order_weights.HorizonBound"
]
judges("experts.randomized_weighted_majority.RandomizedHorizonBound")


def power_of(run):
    return run.options.get("power") or max(2.0, 2 * run.log_n)


@oracle("experts.polynomial_weights.RegretNormBound")
def _(run):
    power, total = power_of(run), 0.0
    for row in run.gains:
        sizes = [abs(float(gain)) for gain in row if gain is not None]
        largest = max(sizes)
        if largest > 0:
            total += (largest * math.fsum((size / largest) ** power for size in sizes) ** (1 / power)) ** 2
    return math.sqrt((power - 1) * total)


@oracle("experts.polynomial_weights.PolynomialBound")
def _(run):
    sizes = [abs(float(gain)) for row in run.gains for gain in row if gain is not None]
    largest = run.width if "loss_range" in run.options else max(sizes, default=0.0)
    return BOUNDS["polynomial"](run.log_n, run.rounds, power_of(run), largest)


@oracle("experts.mlpol.RangedPolynomialBound")
def _(run):
    return run.width * math.sqrt((1 + run.rounds) * run.n * (1 + math.log1p(run.rounds)))


@oracle("experts.mlpol.PolynomialPotentialBound")
def _(run):
    """sqrt((B + sum r^2) sum of r^2 over 1/rate), the rate before the round for those who had a share.

    Where a regret is 0 but for rounding, rounding decides who had a share: the bound with the rate before the round in all
    of these cases and that with the rate after it are the largest and the smallest.
    """
    if run.n == 1:
        return 0.0
    largest = run.width**2 if "loss_range" in run.options else 0.0
    squares, regrets, most, least = [0.0] * run.n, [0.0] * run.n, 0.0, 0.0
    scale = max((abs(float(gain)) for row in run.gains for gain in row if gain is not None), default=0.0)
    for row in run.gains:
        gains = [0.0 if gain is None else float(gain) for gain in row]
        after = max(largest, *(gain * gain for gain in gains))
        if max(map(abs, gains)) <= run.slack and math.sqrt(largest) <= 1e3 * run.slack:
            # Equal losses before anything else: what rounding leaves of them makes rates of any size.
            return None
        for i, gain in enumerate(gains):
            before = largest + squares[i]
            squares[i] += gain * gain
            by_rounding = before > 0 and any(regrets) and abs(regrets[i]) <= 1e-9 * scale + run.slack
            if gain * gain > 0:
                had_none = gain * gain / (after + squares[i])
                had_some = gain * gain / before if before > 0 else had_none
                most += had_some if before > 0 and (regrets[i] > 0 or by_rounding) else had_none
                least += had_none if regrets[i] <= 0 or before == 0 or by_rounding else had_some
            regrets[i] += gain
        largest = after
    bounds = [math.sqrt((largest + square) * most) for square in squares]
    return bounds, [bound * (1 - math.sqrt(least / most)) if most else 0.0 for bound in bounds]


def discounted_truth(run, made):
    """The regrets whose rounds count beta^s after s rounds, and what bounds them."""
    beta = run.options["discount"]
    n, rounds = run.n, run.rounds
    if not rounds:
        return Truth(0.0, 0.0, run.slack)
    fading = [Fraction(beta) ** (rounds - 1 - t) for t in range(rounds)]
    awake = [[loss is not None for loss in row] for row in run.losses]
    regrets = [
        float(sum(fading[t] * (run.own[t] - run.losses[t][i]) for t in range(rounds) if awake[t][i]))
        if any(row[i] for row in awake)
        else None
        for i in range(n)
    ]
    spread = 0.0
    if key_of(type(made.theorem)).endswith("DiscountedRangedBound"):
        counted = math.fsum(beta**t for t in range(rounds))
        growth = n / beta * (math.log2(1 + counted) + counted * math.log2(1 / beta))
        bounds = [run.width * math.sqrt((1 + counted) * growth)] * n
    else:
        found = discounted_potential(run, beta)
        if found is None:
            return None
        bounds, spread = found
    pairs = [(regret, bound) for regret, bound in zip(regrets, bounds, strict=True) if regret is not None]
    closest = min(pairs, key=lambda pair: abs(pair[0] - made.observed) + max(0.0, abs(pair[1] - made.bound) - spread))
    excess = max(regret - bound for regret, bound in pairs)
    return Truth(*closest, run.slack, excess, bound_slack=1e-6 * closest[1] + 4 * run.slack + spread)


def discounted_potential(run, beta):
    """The bound by the potential for each expert, and what rounding leaves open of it; None where that is everything."""
    if run.n == 1:
        return [0.0], 0.0
    ranged = "loss_range" in run.options
    largest = run.width**2 if ranged else 0.0
    squares, regrets, most, least = [0.0] * run.n, [0.0] * run.n, 0.0, 0.0
    scale = max(abs(float(gain)) for row in run.gains for gain in row if gain is not None)
    for row in run.gains:
        gains = [0.0 if gain is None else float(gain) for gain in row]
        after = max(largest if ranged else beta * largest, *(gain * gain for gain in gains))
        if max(map(abs, gains)) <= run.slack and math.sqrt(largest) <= 1e3 * run.slack:
            return None
        most, least = beta * most, beta * least
        for i, gain in enumerate(gains):
            before = beta * (largest + squares[i])
            squares[i] = beta * squares[i] + gain * gain
            by_rounding = before > 0 and any(regrets) and abs(regrets[i]) <= 1e-9 * scale + run.slack
            if gain * gain > 0:
                had_none = gain * gain / (after + squares[i])
                had_some = gain * gain / before if before > 0 else had_none
                most += had_some if before > 0 and (regrets[i] > 0 or by_rounding) else had_none
                least += had_none if regrets[i] <= 0 or before == 0 or by_rounding else had_some
            regrets[i] = beta * regrets[i] + gain
        largest = after
    bounds = [math.sqrt((largest + square) * most) for square in squares]
    return bounds, max(bounds) * (1 - math.sqrt(max(least, 0.0) / most)) if most else 0.0


@oracle("experts.boa.RangedBernsteinBound")
def _(run):
    if run.n == 1:
        return 0.0
    log_n, T = run.log_n, run.rounds
    growth = 1 + (1 + 1 / (4 * log_n)) * (1 + math.log1p(T)) / (2 * math.e)
    last = (log_n + math.log(growth)) * (2 + math.sqrt(T / log_n))
    return run.width * (2 * math.sqrt(T * log_n) + 0.5 + last)


@oracle("experts.boa.BernsteinBound")
def _(run):
    """C + sum of eta r^2 + (ln N + ln W) / eta, with gains larger than any before scaled down."""
    if run.n == 1:
        return 0.0
    largest = run.width if "loss_range" in run.options else 0.0
    clipped, log_n = 0.0, run.log_n
    squares, penalties, growth = [0.0] * run.n, [0.0] * run.n, [0.0] * run.n

    def rate(most, square):
        return min(1 / (2 * most), math.sqrt(log_n / square) if square > 0 else math.inf)

    for row in run.gains:
        gains = [0.0 if gain is None else float(gain) for gain in row]
        after = max(largest, *map(abs, gains))
        if after == 0:
            continue
        if max(map(abs, gains)) <= run.slack and largest <= 1e3 * run.slack:
            # Equal losses before anything else: what rounding leaves of them makes rates of any size.
            return None
        clipped += after - largest
        if largest > 0:
            for i, gain in enumerate(gains):
                scaled, eta = gain * largest / after, rate(largest, squares[i])
                penalties[i] += eta * scaled**2
                squares[i] += scaled**2
                growth[i] += eta / rate(after, squares[i]) - 1
        largest = after
    if 0 < largest <= 1e3 * run.slack:
        # All gains are what rounding left of equal losses, and so is the bound.
        return None
    if largest == 0:
        return 0.0
    weight = math.log(1 + math.fsum(growth) / run.n / math.e)
    return [clipped + penalties[i] + (log_n + weight) / rate(largest, squares[i]) for i in range(run.n)]


@oracle("experts.adahedge.AdaHedgeBound")
def _(run):
    awake = [[value for value in row if value is not None] for row in run.seen]
    return exact.adahedge(run.log_n, [max(row) - min(row) for row in awake])


@oracle("experts.strongly_adaptive.WholeRunBound")
def _(run):
    return run.width * bound_on_interval(run.n, 1, run.rounds)


def interval_truth(run, made):
    """The largest regret on an interval of those looked at; and by how much a bound is broken, of all intervals."""
    rounds, sums = run.rounds, [[Fraction(0)] * run.n]
    if not rounds:
        return Truth(0.0, 0.0, run.slack)
    for own, row in zip(run.own, run.losses, strict=True):
        sums.append([s + (0 if loss is None else own - loss) for s, loss in zip(sums[-1], row, strict=True)])

    def regret(first, last):
        return max(float(after - before) for after, before in zip(sums[last], sums[first - 1], strict=True))

    pairs = [(first, last) for first in range(1, rounds + 1) for last in range(first, rounds + 1)]
    if run.rounds > 64:
        pairs = pairs[:: run.rounds // 8]
    excess = max(regret(*pair) - run.width * bound_on_interval(run.n, *pair) for pair in pairs)
    if "of all intervals" in made.hindsight.description:
        observed, bound = max(regret(*pair) for pair in pairs), bound_on_interval(run.n, *span_of(made))
        return Truth(observed, run.width * bound, run.slack, excess, bound_slack=4 * run.slack)
    spans = {}
    for k in range(rounds.bit_length()):
        for j in range(1, rounds // 2**k + 1):
            last = min((j + 1) * 2**k - 1, rounds)
            spans[j * 2**k, last] = min(last + 1.0 - j * 2**k, bound_on_interval(run.n, j * 2**k, (j + 1) * 2**k - 1))
    observed = max(regret(*span) for span in spans)
    assert (span_of(made) in spans) == (len(blocks_of(*span_of(made))) == 1 or span_of(made)[1] == rounds)
    return Truth(observed, run.width * spans[span_of(made)], run.slack, excess, bound_slack=4 * run.slack)


def span_of(made):
    return made.inputs["first"], made.inputs["last"]


def regret_truth(run, made, bound):
    """The regret to the expert that the certificate speaks of, and the largest excess over all of them."""
    bound, spread = bound if isinstance(bound, tuple) else (bound, 0.0)
    bounds, spreads = (each if isinstance(each, list) else [each] * run.n for each in (bound, spread))
    pairs = [(float(r), b, s) for r, b, s in zip(run.regrets, bounds, spreads, strict=True) if r is not None]
    if not pairs:
        return None

    def distance(pair):
        regret, mine, open_to_ties = pair
        off = 0.0 if mine is None else max(0.0, abs(mine - made.bound) - open_to_ties)
        return abs(regret - made.observed) + off

    closest = min(pairs, key=distance)
    excess = None if bound is None else max(r - b for r, b, _ in pairs)
    uncertain = 1e-6 * abs(closest[1] or 0.0) + 4 * run.slack + closest[2]
    return Truth(closest[0], closest[1], run.slack, excess, bound_slack=uncertain)


def tracking_truth(run, made):
    """The regret to the best sequence of experts with at most so many shifts; a sleeper's loss is the learner's."""
    options, shifts = run.options, run.options.get("shifts") or 0
    share, rate, horizon = options.get("share"), options.get("rate"), options.get("horizon")
    if horizon is not None:
        share = shifts / (horizon - 1)
        entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
        rate = math.sqrt(8 / horizon * ((shifts + 1) * run.log_n + (horizon - 1) * entropy))
    name = key_of(type(made.theorem)).rpartition(".")[2]
    small = name == "SmallLossTrackingBound"
    if share is None:
        cost = (shifts + 1) * (run.log_n + math.log(max(run.rounds, 1)))
        rate = rate or exp_concave_rate(run)
    else:
        stays = max(0, run.rounds - shifts - 1)
        cost = (shifts + 1) * run.log_n - shifts * math.log(share) - stays * math.log(1 - share)

    def small_loss_bound(loss):
        above = max(0.0, float(loss) - run.low * run.rounds) / run.width
        return run.width * ((rate * above + cost) / (1 - math.exp(-rate)) - above)

    if name == "ExpConcaveTrackingBound":
        if rate > exp_concave_rate(run) * (1 + 1e-9):
            return None
        bound = run.width * cost / rate
    elif name == "AnytimeTrackingBound":
        tuned = 1 if options.get("shifts") is None else shifts
        bound = run.width * BOUNDS["fixed-share-anytime"](run.log_n, max(run.rounds, 1), shifts, tuned)
    else:
        bound = run.width * (cost / rate + rate * run.rounds / 8)
    if not shifts or not run.rounds:
        if small:
            return regret_truth(run, made, [small_loss_bound(each) for each in run.totals(run.losses)])
        return regret_truth(run, made, bound)
    losses = [
        [float(own if loss is None else loss) for loss in row] for own, row in zip(run.own, run.losses, strict=True)
    ]
    best = best_segments(losses, shifts)
    return Truth(float(sum(run.own)) - best, small_loss_bound(best) if small else bound, run.slack)


def exp_concave_rate(run):
    """The largest rate, for losses as the algorithm is shown them, at which the loss is exp-concave; 0 if at none."""
    if run.case.gradient or run.case.loss not in ("log", "square", "brier"):
        return 0.0
    if run.case.loss == "log":
        return run.width
    return run.width / (2 * (run.low + run.width)) if run.low + run.width > 0 else 0.0


def loss_truth(run, made):
    """Weighted majority, deterministic or not: the loss against that of the best expert."""
    name = key_of(type(made.theorem))
    low, width, least = run.low * run.rounds, run.width, min(run.totals(run.losses))
    own = float(sum(run.own))
    if name.endswith("WeightedMajorityBound"):
        bound = BOUNDS["weighted-majority"](run.log_n, float(least), run.options.get("beta", 0.5))
        return Truth(own, bound)
    best = (float(least) - low) / width
    return Truth(own, low + width * BOUNDS["randomized-weighted-majority"](run.log_n, run.beta, best), run.slack)


def sleeping_truth(run, made):
    epsilon = run.options.get("epsilon", 0.1)
    pairs = []
    for i in range(run.n):
        awake = [t for t in range(run.rounds) if run.losses[t][i] is not None]
        if not awake:
            continue
        low = run.low * len(awake)
        least = (float(sum(run.losses[t][i] for t in awake)) - low) / run.width
        bound = low + run.width * BOUNDS["sleeping"](run.log_n, least, epsilon)
        pairs.append((float(sum(run.own[t] for t in awake)), bound))
    if not pairs:
        return None
    closest = min(pairs, key=lambda pair: abs(pair[0] - made.observed) + abs(pair[1] - made.bound))
    return Truth(*closest, run.slack, max(own - bound for own, bound in pairs))


def swap_truth(run, made):
    seen = [[Fraction(value) for value in row] for row in run.seen]
    observed = run.width * float(exact.swap_regret(run.shares, seen))
    base = run.case.base
    if base.name == "SecondOrderWeights":
        bound, spread = second_order_copies(run, base.options["beta"])
        return Truth(observed, run.width * bound, run.n * run.slack, bound_slack=run.width * spread)
    rate = base.options.get("rate")
    if key_of(type(made.theorem)).endswith("FixedRateSwapBound"):
        bound = BOUNDS["swap-regret"](run.n, run.rounds, rate) if run.n > 1 else rate * run.rounds / 8
    elif base.adaptive:
        shown = [
            [[p[i] * value for value in row] for p, row in zip(run.shares, run.seen, strict=True)] for i in range(run.n)
        ]
        bound = math.fsum(adaptive_bound(run, rows) for rows in shown)
    elif rate is None:
        bound = run.n * BOUNDS["exponential-weights-doubling"](run.log_n, run.rounds)
    else:
        bound = run.n * (
            BOUNDS["exponential-weights"](run.log_n, run.rounds, rate) if run.n > 1 else rate * run.rounds / 8
        )
    return Truth(observed, run.width * bound, run.n * run.slack)


def second_order_copies(run, beta):
    """The sum of the copies' bounds, each against the best expert on what the copy was shown; and what ties leave open."""
    most = least = 0.0
    general = BOUNDS["second-order-alpha"](run.log_n, run.rounds, beta, 2 * beta)
    for i in range(run.n):
        shown = [[p[i] * value for value in row] for p, row in zip(run.shares, run.seen, strict=True)]
        totals = [math.fsum(row[j] for row in shown) for j in range(run.n)]
        best = [j for j in range(run.n) if totals[j] <= min(totals) + 1e-9 * run.rounds]
        squares = [math.fsum(row[j] ** 2 for row in shown) for j in best]
        each = [min(general, BOUNDS["second-order"](run.log_n, beta, square)) for square in squares]
        most, least = most + max(each), least + min(each)
    return most, most - least


OTHERS = {
    "experts.fixed_share.TrackingBound": tracking_truth,
    "experts.fixed_share.SmallLossTrackingBound": tracking_truth,
    "experts.fixed_share.DecreasingShareBound": tracking_truth,
    "experts.fixed_share.ExpConcaveTrackingBound": tracking_truth,
    "experts.fixed_share.AnytimeTrackingBound": tracking_truth,
    "experts.strongly_adaptive.IntervalBound": interval_truth,
    "experts.mlpol.DiscountedRangedBound": discounted_truth,
    "experts.mlpol.DiscountedPotentialBound": discounted_truth,
    "experts.weighted_majority.WeightedMajorityBound": loss_truth,
    "experts.randomized_weighted_majority.ExpectedLossBound": loss_truth,
    "experts.sleeping_experts.SleepingBound": sleeping_truth,
    "experts.swap_regret.FixedRateSwapBound": swap_truth,
    "experts.swap_regret.SumOfBaseBounds": swap_truth,
}
judges(*OTHERS)
