"""Expert algorithms: rounds with advice or with losses alone, sleepers, confident probabilities, any scale.

The loss is that of the forecast that was made; where one expert is followed by chance, and for the log loss, which a
rounded forecast cannot tell near 0 and 1, it is that of the weights the learner showed before the round.
"""

import math
import pickle
from fractions import Fraction

import numpy as np

import naive_exact as exact
from afterwit import adversaries
from afterwit.core.registry import find, options_of
from afterwit.errors import InputError
from expert_cases import CASES, Case
from naive_bounds import BOUNDS
from naive_hindsight_experts import least_mixture
from proving.expert_truths import ORACLES, OTHERS, Run, regret_truth
from proving.formulas import value_of
from proving.judging import APPLIED, EPSILON, HINDSIGHT, HINDSIGHT_VALUE, Truth, all_of, key_of
from proving.searching import judges, subject
from proving.sequences import SCALES, asleep, pick, size, values

DRAWN, VOTED, EXPECTED, MEAN = "drawn", "voted", "expected", "mean"
CONCAVE = "experts._exp_concave.ExpConcaveBound"
#: Ranges of losses: ordinary, narrow, wide, on both sides of 0, away from 0.
RANGES = ((0.0, 1.0), (0.0, 1e-9), (0.0, 1e9), (-3.0, 7.0), (100.0, 101.0), (-2.0, -1.0))


def way_of(case):
    if case.name == "WeightedMajority":
        return VOTED
    if case.name == "Exp3":
        return DRAWN
    return (
        EXPECTED if case.loss == "zero-one" or case.name in ("RandomizedWeightedMajority", "SleepingExperts") else MEAN
    )


# ---------------------------------------------------------------------- rounds


def chosen_case(random, name):
    """A setting of the algorithm: one that is tested anyway, or one with a range of its own."""
    case = pick(random, *[case for case in CASES if case.name == name])
    fixed = case.gradient or case.loss in ("log", "percentage", "zero-one") or case.base
    if fixed or "loss_range" not in options_of(find(name)):
        return case
    if case.scale_free and random.random() < 0.7:
        return case
    return Case(name, {**case.options, "loss_range": pick(random, *RANGES)}, case.base)


def advice_for(random, case, rounds, n):
    """Advice and outcomes whose losses are in the range of the case."""
    table = values(random, rounds, n)
    low, high = case.options.get("loss_range") or (0.0, 1.0)
    if case.loss == "zero-one":
        return np.round(table * 2), random.integers(0, 3, rounds).astype(float)
    if case.loss == "log":
        outcomes = random.integers(0, 2, rounds).astype(float)
        if case.options.get("loss_range") is None and not case.gradient and random.random() < 0.6:
            return confident(random, rounds, n), outcomes
        return 0.06 + 0.88 * table, outcomes
    if case.loss == "percentage":
        return table, random.uniform(0.5, 1, rounds)
    outcomes = pick(random, random.random(rounds), random.integers(0, 2, rounds).astype(float))
    if case.gradient:
        scale = pick(random, *SCALES) if case.scale_free else 1.0
        return table * scale, outcomes * scale
    if case.scale_free:
        scale, offset = pick(random, *SCALES), pick(random, 0.0, 0.0, 0.0, 1.0, 1e6)
        return (offset + table) * scale, (offset + outcomes) * scale
    # Losses up to the end of the range, for distances up to 1.
    if low > 0 or high <= 0:
        return None, None
    reach = math.sqrt(high) if case.loss == "square" else high
    return table * reach * (1 - 2**-50), outcomes * reach * (1 - 2**-50)


def confident(random, rounds, n):
    """Probabilities that are nearly 0 or 1: as near as a float can be, or a little less."""
    near = random.choice([2.0**-53, 1.2e-16, 1e-15, 1e-12, 1e-6], (rounds, n))
    sides = np.where(random.random((rounds, n)) < 0.5, near, 1 - near)
    tiny = random.choice([1e-300, 1e-100, 1e-17], (rounds, n))
    table = np.where(random.random((rounds, n)) < 0.1, tiny, sides)
    return np.where(random.random((rounds, n)) < 0.3, random.uniform(0.1, 0.9, (rounds, n)), table)


def runs_of_outcomes(random, rounds):
    """Long runs of the same outcome: experts gain everyone's trust before they are wrong."""
    return (np.arange(rounds) < random.integers(0, rounds + 1)).astype(float)


def losses_for(random, case, rounds, n):
    """Losses in the range of the case; of any scale where none is declared."""
    table = values(random, rounds, n)
    if case.scale_free:
        return (pick(random, 0.0, 0.0, -0.5, 1.0) + table) * pick(random, *SCALES)
    low, high = case.options.get("loss_range") or (0.0, 1.0)
    if case.loss == "log" and "loss_range" not in case.options:
        low, high = 0.0, 3.0
    return np.clip(low + (high - low) * table, low, high)


# ---------------------------------------------------------------------- playing


def play(random, case, n, advice=None, outcomes=None, losses=None, contrary=False):
    """Play round by round and note what is true; the learner and the run."""
    learner, run = case.make(n), Run(case, n)
    if run.ranged:
        low, high = case.options.get("loss_range") or (0.0, 1.0)
        run.low, run.width = low, high - low
    table = advice if losses is None else losses
    rounds = len(table)
    used = int(random.integers(0, rounds + 1)) if random.random() < 0.2 else None
    for t in range(rounds):
        if t == used:
            learner = pickle.loads(pickle.dumps(learner))
        row = [None if math.isnan(value) else value for value in table[t].tolist()]
        weights = learner.weights.tolist()
        if losses is not None:
            returned = learner.observe(table[t])
            note_losses(run, row, weights, returned)
            continue
        if contrary:
            ends = np.nanmin(table[t]), np.nanmax(table[t])
            outcomes[t] = max(ends, key=lambda end: abs(end - learner.predict_one(table[t])))
        forecast = learner.learn_one(table[t], outcomes[t])
        note_advice(run, row, weights, forecast, outcomes[t])
    return learner, run


#: Where no expert that is awake has a weight, these give all of them the same.
EQUAL_IF_NONE = ("MLpol", "PolynomialWeights")


def restricted(run, row, weights, by_forecast=False):
    """The shares of those awake; not exact if all awake experts have weight 0, unless the forecast says all."""
    shares = [0.0 if value is None else p for value, p in zip(row, weights, strict=True)]
    if not math.fsum(shares) > 0:
        run.exact = run.exact and (by_forecast or run.case.name in EQUAL_IF_NONE)
        shares = [float(value is not None) for value in row]
    return shares


def note_losses(run, row, weights, returned):
    shares = restricted(run, row, weights)
    run.unforecast += 1
    lost = [None if value is None else Fraction(value) for value in row]
    own = Fraction(returned) if way_of(run.case) == DRAWN else exact.mixture(shares, row)
    note(run, shares, lost, own, max(abs(value) for value in row if value is not None))


def note_advice(run, row, weights, forecast, outcome):
    name, y = run.case.loss, Fraction(outcome)
    shares = restricted(
        run, row, weights, way_of(run.case) == MEAN and name != "log" and run.case.name != "SecondOrderWeights"
    )
    lost = [None if value is None else exact.loss(name, Fraction(value), y) for value in row]
    size = max(float(loss) for loss in lost if loss is not None)
    f = exact.mixture(shares, row) if name == "log" else Fraction(forecast)
    # A logarithm is rounded as the number of which it is one: by a part of 1.
    size += float(name == "log")
    if way_of(run.case) == EXPECTED:
        own = exact.mixture(shares, lost)
    else:
        own = exact.loss(name, f, y)
        if way_of(run.case) == MEAN and name != "log":
            far = max(abs(value) for value in row if value is not None)
            size += float(abs(exact.slope(name, f, y))) * far + (EPSILON * far) ** 2 * (name == "square")
    gains = None
    if run.case.gradient:
        slope = exact.slope(name, f, y)
        gains = [None if value is None else slope * (f - Fraction(value)) for value in row]
        size += float(abs(slope)) * max(abs(value) for value in row if value is not None)
    note(run, shares, lost, own, size, gains)


def note(run, shares, lost, own, size, gains=None):
    run.own.append(own)
    run.losses.append(lost)
    run.gains.append([None if loss is None else own - loss for loss in lost] if gains is None else gains)
    if gains is None:
        run.seen.append(
            [None if loss is None else float((loss - Fraction(run.low)) / Fraction(run.width)) for loss in lost]
        )
    else:
        run.seen.append([None if gain is None else float(-gain) for gain in gains])
    run.shares.append(shares)
    run.sizes.append(size + abs(run.low) * run.ranged)


# ---------------------------------------------------------------------- subjects


def judge(table, made, run):
    key = key_of(type(made.theorem))
    if made.theorem.chance:
        return

    def truth():
        if not run.exact:
            return None
        return OTHERS[key](run, made) if key in OTHERS else regret_truth(run, made, ORACLES[key](run))

    table.certificate(made, run.case.name, truth)
    if key.endswith("HorizonBound") and run.slowed and made.bound is not None:
        table.problem(key, run.case.name, APPLIED, f"{run.rounds} rounds, the horizon is {run.options['horizon']}")
    best_expert_shown(table, key, made, run)
    if key.endswith("ExpConcaveBound") and run.slept and run.exact and str(made.verdict) == "not applicable":
        slow = 1.0 if run.case.loss == "log" else 1 / (2 * (run.low + run.width))
        if run.fixed_rate / run.width <= slow and run.case.loss in ("log", "square", "brier") and not run.unforecast:
            # Freund, Schapire, Singer & Warmuth 1997: sleepers are shown the loss of the forecast.
            worst = max(float(regret) for regret in run.regrets if regret is not None)
            table.bounded(key, run.case.name, worst, ORACLES[key](run), run.slack)


def best_expert_shown(table, key, made, run):
    """Hindsight has the loss of an expert to whom the regret is largest, or that of the best sequence of experts."""
    if made.hindsight is None or not run.exact or not run.rounds or made.quantity != "regret":
        return
    if key in OTHERS and run.options.get("shifts"):
        right = [float(sum(run.own)) - OTHERS[key](run, made).observed]
    else:
        most = max(regret for regret in run.regrets if regret is not None)
        totals = zip(run.regrets, run.totals(run.losses), strict=True)
        right = [float(total) for regret, total in totals if regret is not None and regret >= most - 2 * run.slack]
    if min(abs(made.hindsight.value - value) for value in right) > run.slack:
        table.problem(key, run.case.name, HINDSIGHT_VALUE, f"{made.hindsight.value!r}, should be {right[0]!r}")


def one_sequence(table, random, name):
    """One run of an algorithm, each of its certificates judged."""
    rounds, n = size(random)
    if rounds and random.random() < 0.03 and name not in ("FixedShare", "StronglyAdaptive", "SwapRegret"):
        rounds = 300
    case = chosen_case(random, name)
    if case.options.get("horizon") and random.random() < 0.5:
        rounds = min(rounds, case.options["horizon"])
    sleepy = case.sleeping and not case.base and random.random() < 0.3
    by_losses = case.takes_losses and random.random() < 0.3
    advice, outcomes = advice_for(random, case, rounds, n)
    contrary = case.loss in ("square", "absolute") and not case.gradient and random.random() < 0.2
    if contrary and random.random() < 0.3:
        # Near 1e16 a float is a whole number, and an even one: no mean of two neighbours is between them.
        advice, n = 1e16 + 2 * random.integers(0, 3, (rounds, n)), max(n, 2)
        advice = np.column_stack([advice, advice])[:, :n]
        outcomes, by_losses = advice[:, 0].copy(), False
        if not case.scale_free:
            case = Case(name, {**case.options, "loss_range": (0.0, 16.0 if case.loss == "square" else 4.0)}, case.base)
    if case.loss == "log" and random.random() < 0.5:
        outcomes = runs_of_outcomes(random, rounds)
    if by_losses or advice is None:
        lost = losses_for(random, case, rounds, n)
        lost = asleep(random, lost, 0.4) if sleepy else lost
        learner, run = play(random, case, n, losses=lost)
        given = (lost,)
    else:
        advice = asleep(random, advice, 0.4) if sleepy else advice
        learner, run = play(random, case, n, advice, outcomes, contrary=contrary)
        given = (advice, outcomes)
    for made in all_of(learner.certificate()):
        judge(table, made, run)
    if run.rounds and random.random() < 0.2:
        with_rounds(table, learner, run, given)
    return learner, run


def with_rounds(table, learner, run, given):
    """The certificate that plays the rounds again; for one that learns from slopes, against the best mixture."""
    for made in all_of(learner.certificate(*given)):
        if not run.case.gradient or made.hindsight is None or "mixture" not in made.hindsight.description:
            judge(table, made, run)
            continue
        least, own = min(map(float, run.totals(run.losses))), float(sum(run.own))
        key = key_of(type(made.theorem))
        if made.hindsight.value > least + run.slack + 1e-7 * abs(least):
            table.problem(key, run.case.name, HINDSIGHT, f"mixture {made.hindsight.value!r}, an expert {least!r}")
        if run.case.loss != "log":
            best = least_mixture(run.case.loss, *given)
            off = made.hindsight.value - best
            if not -1e-6 * abs(best) - run.slack <= off <= made.hindsight.gap + 1e-6 * abs(best) + run.slack:
                table.problem(key, run.case.name, HINDSIGHT_VALUE, f"mixture {made.hindsight.value!r}, best {best!r}")
        # What holds for every expert holds for a mixture: at most the largest of the bounds.
        bound = OTHERS[key](run, made).bound if key in OTHERS else ORACLES[key](run)
        bounds, spreads = bound if isinstance(bound, tuple) else (bound, [0.0])
        bound = max(bounds) if isinstance(bounds, list) else bounds
        uncertain = 1e-6 * abs(bound or 0.0) + 4 * run.slack + max(spreads)
        table.certificate(
            made, run.case.name, Truth(own - made.hindsight.value, bound, run.slack, bound_slack=uncertain)
        )


def algorithm(name):
    @subject(name)
    def _(table, random):
        one_sequence(table, random, name)


for _name in sorted({case.name for case in CASES} - {"Exp3"}):
    algorithm(_name)


@subject(
    "tuned expert algorithms",
    "experts._scheduled_rates.TunedRateBound",
    "experts._adaptive_rate.RangesBound",
    "experts._adaptive_rate.SquareLossBound",
    "experts.swap_regret.TunedSwapBound",
    "experts.polynomial_weights.TunedPolynomialBound",
    "experts.randomized_weighted_majority.TwoRandomExperts",
    "experts.strongly_adaptive.StronglyAdaptiveBound",
)
def tuned(table, random):
    """Formulas for the best rate: a run of so many rounds with that rate."""
    rounds, n = max(2, size(random)[0]), int(random.integers(2, 6))
    lost = values(random, rounds, n)
    case = Case("ExponentialWeights", {"horizon": rounds, "loss": "absolute"})
    _, run = play(random, case, n, losses=lost)
    worst = max(map(float, run.regrets))
    table.bounded(
        "experts._scheduled_rates.TunedRateBound",
        case.name,
        worst,
        value_of(table, "exponential-weights-tuned", experts=n, rounds=rounds),
        run.slack,
    )
    rate = math.sqrt(8 * n * math.log(n) / rounds)
    case = Case("SwapRegret", base=Case("ExponentialWeights", {"rate": rate}))
    _, run = play(random, case, n, losses=lost)
    observed = float(exact.swap_regret(run.shares, [[Fraction(value) for value in row] for row in run.seen]))
    table.bounded(
        "experts.swap_regret.TunedSwapBound",
        case.name,
        observed,
        value_of(table, "swap-regret-tuned", experts=n, rounds=rounds),
        n * run.slack,
    )
    length = int(random.integers(1, rounds + 1))
    case = Case("StronglyAdaptive", {"loss": "absolute"})
    _, run = play(random, case, n, losses=lost)
    worst = max(
        float(sum(run.own[first : first + length])) - float(sum(row[i] for row in run.losses[first : first + length]))
        for first in range(rounds - length + 1)
        for i in range(n)
    )
    bound = value_of(table, "strongly-adaptive", experts=n, rounds=rounds, length=length)
    table.bounded("experts.strongly_adaptive.StronglyAdaptiveBound", case.name, worst, bound, run.slack)
    n = max(3, n)
    case, scale = Case("PolynomialWeights", {"power": 2 * math.log(n), "loss": "absolute"}), pick(random, *SCALES)
    _, run = play(random, case, n, losses=values(random, rounds, n) * scale)
    table.bounded(
        "experts.polynomial_weights.TunedPolynomialBound",
        case.name,
        max(map(float, run.regrets)),
        value_of(table, "polynomial-tuned", experts=n, rounds=rounds, loss_range=scale),
        run.slack,
    )
    value_of(table, "polynomial", experts=n, rounds=rounds, power=float(random.uniform(2, 9)), loss_range=scale)
    two_random(table, random)
    adaptive(table, random, rounds, int(random.integers(2, 6)))


def adaptive(table, random, rounds, n):
    """What the adaptive rate comes to at most, whatever the unit, and wherever the losses are."""
    scale, shift = pick(random, *SCALES), pick(random, 0.0, -0.5, 3.0)
    sizes = 10.0 ** random.integers(-3, 4, (rounds, 1)) if random.random() < 0.3 else 1.0
    lost = (values(random, rounds, n) + shift) * sizes * scale
    _, run = play(random, Case("ExponentialWeights", {"loss": "absolute"}), n, losses=lost)
    spreads = [max(row) - min(row) for row in run.seen]
    squares = math.fsum(spread**2 for spread in spreads)
    bound = value_of(
        table, "exponential-weights-adaptive", experts=n, squared_ranges=squares, largest_range=max(spreads)
    )
    worst = max(map(float, run.regrets))
    table.bounded("experts._adaptive_rate.RangesBound", run.case.name, worst, bound, run.slack)
    case = Case("ExponentialWeights")
    advice, outcomes = advice_for(random, case, rounds, n)
    sizes = 10.0 ** random.integers(-2, 3, rounds) if random.random() < 0.3 else np.ones(rounds)
    advice, outcomes = advice * sizes[:, np.newaxis], outcomes * sizes
    if random.random() < 0.5:
        advice = asleep(random, advice, 0.4)
    _, run = play(random, case, n, advice, outcomes, contrary=bool(random.random() < 0.3))
    largest = max(value for row in run.seen for value in row if value is not None)
    bound = value_of(table, "exponential-weights-square", experts=n, largest_loss=largest)
    worst = max(float(regret) for regret in run.regrets if regret is not None)
    table.bounded("experts._adaptive_rate.SquareLossBound", run.case.name, worst, bound, run.slack)


@subject("certain forecasts")
def certain(table, random):
    """Probabilities of 0 and 1 under the log loss: the regret to everyone whose loss is finite is at most ln N / rate."""
    rounds, n = max(1, size(random)[0]), int(random.integers(2, 6))
    rate = pick(random, None, 1.0, 0.3)
    learner = find("ExponentialWeights")(n, loss="log", rate=rate)
    own, regrets, losses, gone = 0.0, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
    for _ in range(rounds):
        advice = np.where(random.random(n) < 0.2, random.integers(0, 2, n), random.uniform(0.05, 0.95, n))
        advice = asleep(random, advice[np.newaxis], 0.3)[0] if random.random() < 0.5 else advice
        outcome, weights = float(random.integers(0, 2)), learner.weights
        awake = ~np.isnan(advice)
        chances = np.where(awake, advice if outcome else 1 - advice, 0.0)
        shares = np.where(awake, weights, 0.0)
        shares = shares / shares.sum() if shares.any() else awake / awake.sum()
        chance = float(shares @ chances)
        try:
            learner.learn_one(advice, outcome)
        except InputError:
            if chance > 1e-12:
                table.problem(CONCAVE, "certain forecasts", "refused", f"the chance was {chance!r}")
            continue
        with np.errstate(divide="ignore"):
            lost = -np.log(np.where(awake, chances, 1.0))
        own -= math.log(chance)
        gone |= np.isinf(lost)
        regrets += np.where(awake & ~gone, -math.log(chance) - np.where(gone, 0.0, lost), 0.0)
        losses += np.where(awake & ~gone, np.where(gone, 0.0, lost), 0.0)
    if not np.array_equal(np.isinf(learner.expert_losses), gone) or learner.weights[gone].any():
        table.problem(CONCAVE, "certain forecasts", "infinite losses", f"{learner.expert_losses!r}, {gone!r}")
    table.stated(CONCAVE, "certain forecasts", learner.loss, own, 1e-9 * (1 + own))
    worst = max(regrets[~gone].tolist())
    bound = value_of(table, "exp-concave", experts=n, rate=rate or 1.0)
    table.bounded(CONCAVE, "certain forecasts", worst, bound, 1e-9 * (1 + own + losses.max()))


def two_random(table, random):
    """A lower bound on the average regret of any algorithm: the mean of bound / regret is at most 1 where this is."""
    stream = adversaries.two_random_experts(int(random.choice([4, 16, 64])), seed=int(random.integers(2**31)))
    case = Case("RandomizedWeightedMajority", {"beta": 0.7})
    _, run = play(random, case, 2, losses=stream.losses)
    bound = value_of(table, "two-random-experts", rounds=run.rounds)
    table.on_average(
        "experts.randomized_weighted_majority.TwoRandomExperts",
        "any algorithm",
        2 * bound - float(max(run.regrets)),
        bound,
    )


@subject("Exp3", "experts.exp3.TunedBanditBound")
def bandit(table, random):
    """The regret on average over the draws; losses do not depend on these."""
    rounds, n = size(random)
    rounds = max(1, rounds)
    case = pick(random, *[case for case in CASES if case.name == "Exp3"])
    case = Case("Exp3", {**case.options, "seed": int(random.integers(2**31))})
    if case.options.get("horizon"):
        case = Case("Exp3", {**case.options, "horizon": max(1, rounds)})
    who, lost = "Exp3", losses_for(random, case, rounds, n)
    if random.random() < 0.25:
        # Long enough that a regret in proportion to the rounds is above the bound: one expert is better than the others.
        who, rounds, n = "Exp3, long runs", 1500, 3
        case = Case("Exp3", {key: value for key, value in case.options.items() if key != "horizon"})
        low, high = case.options.get("loss_range") or (0.0, 1.0)
        lost = low + (high - low) * random.integers(0, 2, (rounds, n)) * (random.permutation(n) > 0)
    learner, run = play(random, case, n, losses=lost)
    regret = float(max(run.regrets))
    for made in all_of(learner.certificate()):
        key, slack = key_of(type(made.theorem)), run.slack
        if made.bound is None:
            table.row(key, who).refused += 1
            continue
        table.on_average(key, who, regret, made.bound)
        table.same(key, who, made.observed, regret, "observed is not what happened", slack)
        rate = case.options.get("rate") or (
            math.sqrt(2 * run.log_n / (rounds * n)) if case.options.get("horizon") else None
        )
        if n > 1:
            inputs = {"experts": n, "rounds": rounds} | ({} if rate is None else {"rate": rate})
            wanted = run.width * BOUNDS["exp3-decreasing" if rate is None else "exp3"](**inputs)
            table.stated(key, who, made.bound, wanted)
        if case.options.get("horizon"):
            bound = run.width * value_of(table, "exp3-tuned", experts=n, rounds=rounds)
            table.on_average("experts.exp3.TunedBanditBound", who, regret, bound)


judges("experts.exp3.BanditBound", "experts.exp3.DecreasingBanditBound")
