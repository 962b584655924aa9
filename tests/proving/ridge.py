"""Online ridge regression in fractions: predictions by its definition, bounds from the determinant and from every share.

And what is made of it: the regressor that repeats the last target, and a committee of both.
"""

import math
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive_exact as exact
import naive_ridge
from proving.formulas import value_of
from proving.judging import APPLIED, EPSILON, HINDSIGHT, MISREPORTED, TWIN, Truth, all_of, key_of
from proving.linear import form_of, seen_rows, stream
from proving.searching import subject
from proving.sequences import SCALES, pick

HOME = "linear.online_ridge."
RADIUS = f"{HOME}RadiusBound"


def targets_for(random, X, y, u):
    """Numbers to predict: linear and not, of any size."""
    kind = pick(random, "signs", "linear", "noisy", "constant", "zero", "growing", "grid")
    targets = {
        "signs": y.astype(float),
        "linear": X @ u,
        "noisy": X @ u + random.standard_normal(len(X)),
        "constant": np.full(len(X), 3.0),
        "zero": np.zeros(len(X)),
        "growing": y * 1.5 ** np.arange(len(X)),
        "grid": random.integers(-4, 5, len(X)).astype(float),
    }[kind]
    return targets * pick(random, 1.0, 1.0, 1.0, *SCALES)


@subject("OnlineRidge", f"{HOME}DeterminantBound", RADIUS, f"{HOME}SharesBound")
def online_ridge(table, random):
    X, y, u, _ = stream(random, 25)
    targets = targets_for(random, X, y, u)
    intercept, passes = bool(random.random() < 0.5), int(random.choice([1, 1, 2]))
    penalty = pick(random, 1.0, 1.0, 1e-3, 1e-9, 50.0) * pick(random, 1.0, float((X**2).max(initial=0.0)) or 1.0)
    learner = aw.OnlineRidge(penalty=penalty, intercept=intercept)
    shown = np.concatenate([learner.learn_many(form_of(random, X), targets) for _ in range(passes)]).tolist()
    rows, numbers = seen_rows(X, intercept) * passes, targets.tolist() * passes
    run = naive_ridge.run(rows, numbers, penalty)
    largest = max(map(abs, numbers), default=0.0)
    radius = math.sqrt(max((float(exact.norm_square(x)) for x in rows), default=0.0))
    resolved = radius**2 <= 1e20 * penalty
    for t, (found, wanted) in enumerate(zip(shown, run["predictions"], strict=True)):
        if resolved and abs(Fraction(found) - wanted) > 1e-9 * (largest + abs(found)):
            table.problem(f"{HOME}DeterminantBound", "OnlineRidge", TWIN, f"round {t}: {found!r}, {float(wanted)!r}")
    total = float(sum(((p - Fraction(y)) ** 2 for p, y in zip(run["predictions"], numbers, strict=True)), Fraction(0)))
    squares = float(sum((Fraction(y) ** 2 for y in numbers), Fraction(0)))
    slack = 64 * EPSILON * (len(rows) + 16) * (total + squares)
    if resolved and abs(learner.loss - total) > slack + 1e-9 * total:
        table.problem(f"{HOME}DeterminantBound", "OnlineRidge", MISREPORTED, f"{learner.loss!r}, {total!r}")
    u = (u * pick(random, 0.0, 0.1, 1.0, 10.0)).tolist()
    default = random.random() < 0.4
    found = learner.certificate(X, targets) if default else learner.certificate(X, targets, comparator=u)
    u = [0.0, *u] if intercept else u
    candidates = [[0.0] * len(u), run["weights"] if default and rows else u]

    def score_sizes(lost, v):
        """The errors times what is added up for the scores of these weights, by Cauchy and Schwarz at most."""
        return math.sqrt(lost) * sum(abs(float(w)) * math.hypot(*(x[i] for x in rows)) for i, w in enumerate(v))

    regrets = regret_bounds(run, numbers, penalty, largest, len(u), len(rows), radius)
    for made in all_of(found):
        name = type(made.theorem).__name__
        if (made.bound is not None) != resolved:
            detail = f"{made.bound!r}, examples of length {radius!r} with a penalty of {penalty!r}"
            table.problem(key_of(type(made.theorem)), "OnlineRidge", APPLIED, detail)
        bound = None
        if made.bound is not None:
            losses = [float(naive_ridge.loss_of(rows, numbers, v)) for v in candidates]
            bound = min(lost + regrets[name](v) for lost, v in zip(losses, candidates, strict=True))
            size = slack + 64 * EPSILON * (len(rows) + 16) * (bound + max(map(score_sizes, losses, candidates)))
            table.certificate(made, "OnlineRidge", Truth(total, bound, size, bound_slack=1e-9 * bound + size))
            own = float(naive_ridge.loss_of(rows, numbers, run["weights"])) if default and rows else math.inf
            if made.hindsight.value > own * (1 + 1e-9) + slack:
                detail = f"{made.hindsight.value!r}, its own weights {own!r}"
                table.problem(key_of(type(made.theorem)), "OnlineRidge", HINDSIGHT, detail)
        else:
            table.certificate(made, "OnlineRidge", Truth(total, None, slack))
    if resolved and rows and radius and largest:
        value = value_of(
            table,
            "online-ridge",
            penalty=penalty,
            norm=math.sqrt(float(exact.norm_square(u))),
            largest_target=largest,
            features=len(u),
            rounds=len(rows),
            radius=radius,
        )
        lost = float(naive_ridge.loss_of(rows, numbers, u))
        table.bounded(RADIUS, "OnlineRidge", total - lost, float(value), slack + 1e-9 * lost)


def regret_bounds(run, numbers, penalty, largest, features, rounds, radius):
    """The bounds on the regret as functions of the comparator."""
    volume = float(exact.logarithm(run["determinant"]))
    shares = float(sum((Fraction(y) ** 2 * q for y, q in zip(numbers, run["shares"], strict=True)), Fraction(0)))

    def length(v):
        return penalty * float(exact.norm_square(v))

    most = features * math.log1p(rounds * radius**2 / (features * penalty))
    return {
        "DeterminantBound": lambda v: length(v) + largest**2 * volume,
        "RadiusBound": lambda v: length(v) + largest**2 * most,
        "SharesBound": lambda v: length(v) + shares,
    }


def squared_changes(numbers):
    """What is lost by who predicts the number before."""
    pairs = zip([0.0, *numbers], numbers, strict=False)
    return float(sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs), Fraction(0)))


@subject("RepeatLastTarget", "experts.repeat_last_target.SquaredChangesBound")
def repeat_last_target(table, random):
    X, y, u, _ = stream(random, 25)
    targets, passes = targets_for(random, X, y, u), int(random.choice([1, 1, 2]))
    learner = aw.RepeatLastTarget()
    for _ in range(passes):
        learner.learn_many(form_of(random, X), targets)
    wanted = squared_changes(targets.tolist() * passes)
    slack = 8 * EPSILON * (len(targets) * passes + 4) * wanted
    for made in all_of(learner.certificate(X, targets)):
        table.certificate(made, "RepeatLastTarget", Truth(wanted, wanted, slack, bound_slack=slack))


@subject("RegressionCommittee", "reductions.regression_committee.MixtureBound")
def regression_committee(table, random):
    """Its loss is that of the predictions it showed; no mixture, and no member, may be further below than the regret."""
    X, y, u, _ = stream(random, 25)
    targets, passes = targets_for(random, X, y, u), int(random.choice([1, 1, 2]))
    members = [aw.OnlineRidge(), aw.RepeatLastTarget(), aw.OnlineRidge(penalty=50.0, intercept=False)]
    members = members[: int(random.integers(1, 4))]
    weighting = pick(random, "mlpol", "mlpol", "boa", "adahedge")
    learner = aw.RegressionCommittee(members, weighting=weighting)
    shown = np.concatenate([learner.learn_many(form_of(random, X), targets) for _ in range(passes)]).tolist()
    numbers = targets.tolist() * passes
    said = [np.concatenate([member.learn_many(X, targets) for _ in range(passes)]).tolist() for member in members]

    def lost(predictions):
        pairs = zip(predictions, numbers, strict=True)
        return float(sum(((Fraction(p) - Fraction(t)) ** 2 for p, t in pairs), Fraction(0)))

    own, each = lost(shown), [lost(predictions) for predictions in said]
    squares = float(sum((Fraction(t) ** 2 for t in numbers), Fraction(0)))
    slack = 64 * EPSILON * (len(numbers) + 16) * (own + squares + sum(each))
    alone = type(learner.weighting)(len(members), loss="square")
    alone.learn_many(np.array(said).T.reshape(-1, len(members)), numbers)
    given = bool(random.random() < 0.5)
    for made in all_of(learner.certificate(X, targets) if given else learner.certificate()):
        key = key_of(type(made.theorem))
        bound = None
        if made.bound is not None and not given and weighting != "adahedge":
            # Without the rounds the best member is compared with.
            regrets = [c for c in all_of(alone.certificate()) if c.bound is not None]
            bound = min((c.hindsight.value + c.bound for c in regrets if c.quantity != "loss"), default=None)
        table.certificate(
            made, "RegressionCommittee", Truth(own, bound, slack, bound_slack=1e-6 * (bound or 0.0) + slack)
        )
        if made.hindsight is not None and made.hindsight.value > min(each, default=math.inf) * (1 + 1e-9) + slack:
            table.problem(key, "RegressionCommittee", HINDSIGHT, f"{made.hindsight.value!r}, members {each!r}")
