"""Portfolios on hard price relatives: ties, crashes of whatever is held most, scales from 1e-12 to 1e12, one asset, no round.

What was held is taken as the learner showed it; wealth is then computed in fractions. The comparator is the best of the
assets or, with the rounds, the best constant rebalanced portfolio, which must be none worse than those on a grid.
"""

import math
import pickle
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive_portfolios as naive
from naive_bounds import BOUNDS
from proving.formulas import value_of
from proving.judging import EPSILON, HINDSIGHT, HINDSIGHT_VALUE, MISREPORTED, TWIN, Truth, all_of, key_of
from proving.searching import judges, subject
from proving.sequences import SCALES, pick, size, values

GRADIENT = "portfolios.exponentiated_gradient_portfolio."
UNIVERSAL = "portfolios.universal_portfolio."


def relatives_for(random, rounds, n):
    """Price relatives with structure; the unit of a round may be anything."""
    kind = pick(random, "mild", "mild", "wild", "ends", "alternating", "equal")
    table = values(random, rounds, n)
    if kind == "mild":
        made = np.exp((table - 0.5) * 0.2)
    elif kind == "wild":
        made = np.exp((table - 0.5) * 12)
    elif kind == "ends":
        made = np.where(table > 0.5, 2.0, 0.5)
    elif kind == "alternating":
        made = np.where((np.arange(rounds)[:, np.newaxis] + np.arange(n)) % 2, 2.0, 0.5)
    else:
        made = np.repeat(np.exp(table[:, :1]), n, axis=1)
    units = random.choice(SCALES, (rounds, 1)) if random.random() < 0.3 else 1.0
    return made * units


def played(random, learner, table):
    """Round by round; sometimes whatever is held most loses, and sometimes the learner was saved in between."""
    contrary = random.random() < 0.3
    held, rows = [], []
    for row in table:
        if random.random() < 0.1:
            learner = pickle.loads(pickle.dumps(learner))
        if contrary:
            # Of equal shares the first, whatever rounding says.
            most = np.argmax(learner.predict_one().round(6))
            row = np.where(np.arange(len(row)) == most, row.min(), row)
        held.append(learner.learn_one(row).tolist())
        rows.append(row.tolist())
    return learner, held, rows


def sizes_of(rows):
    return math.fsum(max(abs(math.log(x)) for x in row) + 1 for row in rows)


def judge(table, learner, name, held, rows, bounds):
    """Each certificate, with and without the rounds; ``bounds`` gives the oracle's bound for a class of theorem."""
    n, rounds = len(learner.assets), len(rows)
    slack = 64 * EPSILON * (rounds + n + 16) * sizes_of(rows)
    own = naive.log_of(naive.wealth(held, rows)) if rows else 0.0
    if abs(own - learner.log_wealth_before_costs) > slack:
        table.problem(
            key_of(type(learner.theorems[0])), name, MISREPORTED, f"{learner.log_wealth_before_costs!r}, {own!r}"
        )
    cost = learner.parameters["cost"]
    if cost and rows and n <= 4:
        after = naive.log_of(naive.wealth_after_costs(held, rows, cost))
        if abs(after - learner.log_wealth) > slack + 64 * EPSILON * rounds / (1 - cost):
            table.problem(
                key_of(type(learner.theorems[0])), name, MISREPORTED, f"after costs {learner.log_wealth!r}, {after!r}"
            )
    corners = [[float(i == j) for j in range(n)] for i in range(n)]
    grid = naive.simplex(n, 4) if n <= 3 and rounds <= 15 else corners
    logs = [naive.log_of(naive.constant(b, rows)) if rows else 0.0 for b in grid]
    single = max([naive.log_of(naive.constant(b, rows)) if rows else 0.0 for b in corners])
    for given in ((), (np.array(rows).reshape(-1, n),)):
        for made in all_of(learner.certificate(*given)):
            key = key_of(type(made.theorem))
            bound = bounds[type(made.theorem).__name__]()
            sampled = type(made.theorem).__name__ == "SampledPortfoliosBound"
            if sampled:
                best = (
                    max((naive.log_of(naive.constant(b, rows)) for b in learner.portfolios.tolist()), default=0.0)
                    if rows
                    else 0.0
                )
                excess = None
            elif given and rows:
                best = made.hindsight.value
                if best < max(logs) - slack - made.hindsight.gap:
                    table.problem(key, name, HINDSIGHT, f"{best!r}, on the grid {max(logs)!r}")
                excess = max(max(logs), best) - own - bound
            else:
                best, excess = single, max(logs) - own - bound
            if made.hindsight is not None and abs(made.hindsight.value - best) > slack:
                table.problem(key, name, HINDSIGHT_VALUE, f"{made.hindsight.value!r}, should be {best!r}")
            table.certificate(made, name, Truth(best - own, bound, slack, excess, bound_slack=1e-9 * abs(bound)))


def options_of(random):
    return {"cost": pick(random, 0.0, 0.0, 0.001, 0.2, 0.99)}


@subject("ExponentiatedGradientPortfolio", GRADIENT + "TunedPortfolioBound")
def exponentiated_gradient(table, random):
    rounds, n = size(random)
    rows = relatives_for(random, rounds, n)
    ratio = min(0.999, float((rows.min(axis=1) / rows.max(axis=1)).min(initial=0.999)))
    kind = pick(random, "rate", "horizon", "adaptive", "adaptive")
    options = options_of(random)
    if kind == "rate":
        options["rate"] = float(10 ** random.uniform(-3, 1))
        if random.random() < 0.5:
            options["ratio"] = ratio
    elif kind == "horizon":
        options.update(horizon=max(1, rounds), ratio=ratio)
    learner = aw.ExponentiatedGradientPortfolio(n, **options)
    # Where a ratio is promised, rounds stay as they are.
    play = as_they_are if "ratio" in options else played
    learner, held, rows = play(random, learner, rows)
    name = "ExponentiatedGradientPortfolio"
    spreads = naive.spreads(rows)
    log_n = math.log(n)
    rate = options.get("rate")
    if kind == "horizon":
        rate = math.sqrt(8 * math.log(max(n, 2)) / options["horizon"]) / (1 / ratio - 1)
    largest = max(spreads, default=0.0)
    slopes = [
        (max(x) - min(x)) / math.fsum(a * b for a, b in zip(p, x, strict=True)) for p, x in zip(held, rows, strict=True)
    ]

    def fixed():
        least = options.get("ratio", 1 / (1 + largest))
        return BOUNDS["exponentiated-gradient-portfolio"](log_n, len(rows), rate, least)

    def adaptive(spread):
        return math.sqrt(log_n * math.fsum(s * s for s in spread)) + max(spread, default=0.0) * (4 / 3 * log_n + 2)

    judge(
        table,
        learner,
        name,
        held,
        rows,
        {
            "FixedRatePortfolioBound": fixed,
            "AdaptivePortfolioBound": lambda: adaptive(spreads),
            "AdaptiveSlopesBound": lambda: adaptive(slopes),
        },
    )
    if rate is not None and rows and max(map(math.log, map(max, rows))) < 20:
        for t, (p, wanted) in enumerate(zip(held, naive.exponentiated_gradient(rows, rate), strict=True)):
            if max(abs(a - b) for a, b in zip(p, wanted, strict=True)) > 1e-9 * (1 + rate * len(rows)):
                table.problem(GRADIENT + "FixedRatePortfolioBound", name, TWIN, f"round {t}: {p}, {wanted}")
                break
    if kind == "horizon" and rows and n > 1:
        bound = value_of(table, "exponentiated-gradient-portfolio-tuned", assets=n, rounds=len(rows), ratio=ratio)
        worst = float(learner.asset_log_wealths.max()) - learner.log_wealth_before_costs
        table.bounded(GRADIENT + "TunedPortfolioBound", name, worst, bound, 64 * EPSILON * len(rows) * sizes_of(rows))


def as_they_are(random, learner, rows):
    del random
    return learner, learner.learn_many(rows).tolist(), rows.tolist()


@subject("UniversalPortfolio")
def universal(table, random):
    rounds, n = size(random)
    rows = relatives_for(random, rounds, n)
    options = options_of(random)
    exact = n == 2 and random.random() < 0.6
    if not exact:
        options.update(samples=int(random.integers(1, 30)), seed=int(random.integers(1000)))
    learner = aw.UniversalPortfolio(n, **options)
    learner, held, rows = played(random, learner, rows)
    name = "UniversalPortfolio"
    judge(
        table,
        learner,
        name,
        held,
        rows,
        {
            "UniversalPortfolioBound": lambda: (
                value_of(table, "universal-portfolio", assets=n, rounds=max(1, len(rows))) if rows else 0.0
            ),
            "SampledPortfoliosBound": lambda: value_of(
                table, "universal-portfolio-sampled", portfolios=len(learner.portfolios)
            ),
        },
    )
    if not rows:
        return
    # Its wealth is the mean of all wealths, exactly.
    slack = 64 * EPSILON * (len(rows) + n + 16) * sizes_of(rows)
    if exact:
        wanted, mean = naive.universal_of_two(rows)
    else:
        wanted, mean, _ = naive.universal_of(learner.portfolios.tolist(), rows)
    key = UNIVERSAL + ("UniversalPortfolioBound" if exact else "SampledPortfoliosBound")
    if abs(naive.log_of(Fraction(mean)) - learner.log_wealth_before_costs) > slack:
        table.problem(key, name, TWIN, f"{learner.log_wealth_before_costs!r}, {naive.log_of(mean)!r}")
    for t, (p, q) in enumerate(zip(held, wanted, strict=True)):
        if max(abs(a - float(b)) for a, b in zip(p, q, strict=True)) > 1e-9 + slack:
            table.problem(key, name, TWIN, f"round {t}: {p}, {[float(b) for b in q]}")
            break


judges(
    GRADIENT + "FixedRatePortfolioBound",
    GRADIENT + "AdaptivePortfolioBound",
    GRADIENT + "AdaptiveSlopesBound",
    UNIVERSAL + "UniversalPortfolioBound",
    UNIVERSAL + "SampledPortfoliosBound",
)
