"""Intervals around forecasts: every interval by its definition, and the bounds in fractions."""

import math

import numpy as np

import afterwit as aw
import naive_intervals as naive
from proving.judging import APPLIED, EPSILON, HINDSIGHT_VALUE, TWIN, Truth, all_of, key_of
from proving.linear import form_of, stream
from proving.ridge import targets_for
from proving.searching import subject
from proving.sequences import SCALES, pick

HOME = "reductions.conformal_intervals."
THEOREMS = ("AdaptiveUncoveredBound", "AdaptiveCoverageBound", "TrackingUncoveredBound", "TrackingCoverageBound")


def outcome_for(random, kind, low, high, scale):
    """One that is just outside, inside, at an end, exactly right, or anywhere."""
    forecast = (low + high) / 2 if math.isfinite(high) else scale
    far = math.nextafter(high, math.inf) if math.isfinite(high) else 3 * scale
    near = random.random() < 0.5
    return {
        "outside": far,
        "inside": forecast,
        "ends": high if math.isfinite(high) else scale,
        "turns": far if near else forecast,
        "one error": forecast + scale,
        "growing": forecast + scale * 1.5 ** int(random.integers(60)),
        "any": forecast + scale * random.standard_normal(),
    }[kind]


@subject("ConformalIntervals", *(f"{HOME}{name}" for name in THEOREMS))
def conformal_intervals(table, random):
    adaptive = bool(random.random() < 0.6)
    coverage = pick(random, 0.9, 0.9, 0.5, 0.99, 0.05, 0.75)
    rate, scale = pick(random, 0.01, 0.05, 0.25, 1.0, 1e-4), pick(random, 1.0, 1.0, *SCALES)
    largest = None if adaptive or random.random() < 0.5 else scale * pick(random, 1e-3, 1.0, 10.0)
    window = pick(random, 250, 1, 5, 20)
    method = "adaptive" if adaptive else "tracking"
    X, y, u, _ = stream(random, 40)
    forecaster = pick(random, "repeat-last-target", "online-ridge", lambda x: 0.0, "experts")
    if forecaster == "experts":
        X = X * scale
        forecaster = aw.MLpol(X.shape[1]) if X.shape[1] else lambda x: 0.0
    learner = aw.ConformalIntervals(forecaster, coverage, method, rate, window, largest)
    targets = targets_for(random, X, y, u)
    if random.random() < 0.6 and len(X):
        # Outcomes that answer to the intervals; then the same rounds once more, at once.
        kind = pick(random, "outside", "inside", "ends", "turns", "one error", "growing", "any")
        asked, answers = learner.clone(), []
        for x in X:
            answers.append(outcome_for(random, kind, *asked.interval_one(x), scale))
            asked.learn_one(x, answers[-1])
        targets = np.array(answers)
    rows = X if learner.role == "experts" or random.random() < 0.5 else form_of(random, X)
    if callable(forecaster):
        rows = X
    passes = int(random.choice([1, 1, 2]))
    forecasts, shown = zip(*(learner.learn_intervals(rows, targets) for _ in range(passes)), strict=True)
    forecasts, shown = np.concatenate(forecasts).tolist(), np.concatenate(shown).tolist()
    outcomes = targets.tolist() * passes
    play, own = (naive.adaptive, learner.window) if adaptive else (naive.tracking, largest)
    wanted = play(forecasts, outcomes, coverage, rate, own)
    key = f"{HOME}{'AdaptiveUncoveredBound' if adaptive else 'TrackingUncoveredBound'}"
    if shown != [[low, high] for low, high, _ in wanted]:
        table.problem(key, "ConformalIntervals", TWIN, f"{shown!r}, by the definition {wanted!r}")
    covered = sum(low <= outcome <= high for (low, high, _), outcome in zip(wanted, outcomes, strict=True))
    rounds, missed = len(wanted), sum(gone for *_, gone in wanted)
    errors = [abs(outcome - forecast) for forecast, outcome in zip(forecasts, outcomes, strict=True)]
    grown = 0 if adaptive else naive.growth(errors, largest)
    rounded = 0.0 if adaptive else 8 * EPSILON * (rounds + 8) * (1 / rate + 2) * float(1 + grown)
    blind = 0 if adaptive or largest is not None else sum(not any(errors[: t + 1]) for t in range(rounds))
    for made in all_of(learner.certificate(rows, targets)):
        name = type(made.theorem).__name__
        if name.endswith("UncoveredBound"):
            bound = float(naive.uncovered_bound(method, coverage, rate, rounds, grown))
            slack = 8 * EPSILON * bound + rounded
            table.certificate(made, "ConformalIntervals", Truth(rounds - covered, bound, slack))
            least = naive.narrowest_width(forecasts, outcomes, covered) if rounds else None
            found = None if made.hindsight is None else made.hindsight.value
            if found != least:
                table.problem(key, "ConformalIntervals", HINDSIGHT_VALUE, f"{found!r}, the narrowest is {least!r}")
            continue
        if (made.bound is not None) != (missed == rounds - covered and not blind):
            table.problem(key_of(type(made.theorem)), "ConformalIntervals", APPLIED, f"{made.bound!r}, {blind} blind")
        distance = abs((rounds - covered) / rounds - (1 - coverage))
        bound = float(naive.distance_bound(method, coverage, rate, rounds, grown))
        slack = 8 * EPSILON * (1 + bound) + rounded / rounds
        table.certificate(made, "ConformalIntervals", Truth(distance, bound, slack))
