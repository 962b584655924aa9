"""Theorems about samples. Where the probability of a failure can be computed exactly for a hard case, it is; each
formula is also compared with the oracle's, and sample sizes with the bounds that they make small enough.
"""

import math

import numpy as np
from scipy.stats import binom

import naive_concepts
from afterwit import bounds
from naive_bounds import BOUNDS, SAMPLE_SIZES, growth, smallest_vc_sample
from proving.judging import MISSTATED
from proving.searching import subject
from proving.sequences import pick


def agrees(table, key, theorem, value, **inputs):
    """The formula as the oracle has it."""
    wanted = BOUNDS[theorem](**inputs)
    table.stated(key, "its formula", value, wanted)


def smallest(table, key, theorem, size, target, bound):
    """The smallest sample for which a bound is at most the target; one less is not enough."""
    table.bounded(key, "its formula", bound(size), target)
    table.row(key, "its formula").recomputed += 1
    if size > 1 and bound(size - 1) < target * (1 - 1e-9):
        table.problem(key, "its formula", MISSTATED, f"{size - 1:,} would be enough for {theorem}")


def inputs_of(random):
    return int(random.choice([1, 5, 30, 200, 5000])), float(10.0 ** random.uniform(-6, -0.05))


@subject(
    "Occam's razor",
    "sampling.occam.OccamBound",
    "sampling.occam.OccamProbability",
    "sampling.occam.OccamSize",
    "sampling.occam.DescriptionBound",
    "sampling.occam.DescriptionProbability",
    "sampling.occam.DescriptionSize",
    "sampling.occam.DisjunctionBound",
    "sampling.occam.DisjunctionSize",
)
def occam(table, random):
    """Independent rules, all of the same error: the hardest case. Some of them is right on the sample by chance."""
    n, delta = inputs_of(random)
    b = int(random.integers(1, 12))
    error = float(random.uniform(0.01, 0.95))
    for name, short, count, inputs in (
        ("occam", "Occam", 2**b, {"hypotheses": 2**b}),
        # Fewer than b bits: there are 2^b - 1 such descriptions.
        ("description-length", "Description", 2**b - 1, {"bits": b}),
        ("disjunction", "Disjunction", 2**b, {"features": b}),
    ):
        key = f"sampling.occam.{short}"
        value = float(bounds.bound(name, samples=n, delta=delta, **inputs))
        seen = {"log_hypotheses": math.log(2**b)} if "hypotheses" in inputs else inputs
        agrees(table, f"{key}Bound", name, value, samples=n, delta=delta, **seen)
        failure = any_right(count, min(value, 1.0), n)
        table.bounded(f"{key}Bound", "independent rules", failure, delta)
        size = bounds.sample_size(name, error=error, delta=delta, **inputs)
        smallest(
            table,
            f"{key}Size",
            name,
            size,
            error,
            lambda m, name=name, seen=seen: BOUNDS[name](samples=m, delta=delta, **seen),
        )
        if short != "Disjunction":
            probability = float(bounds.bound(f"{name}-delta", samples=n, error=error, **inputs))
            agrees(table, f"{key}Probability", f"{name}-delta", probability, samples=n, error=error, **seen)
            table.bounded(f"{key}Probability", "independent rules", any_right(count, error, n), probability, 1e-300)


def any_right(count, error, n):
    """The probability that one of so many independent rules is right n times."""
    one = (1 - error) ** n
    return -math.expm1(count * math.log1p(-one)) if one < 1 else 1.0


def tails(n, p, deviation):
    """How likely the share of heads is more than that above p, or below it."""
    above = binom.sf(math.floor(n * (p + deviation) + 1e-9), n, p)
    below = binom.cdf(math.ceil(n * (p - deviation) - 1e-9) - 1, n, p)
    return float(above), float(below)


@subject(
    "uniform convergence",
    "sampling.uniform.HoeffdingBound",
    "sampling.uniform.HoeffdingProbability",
    "sampling.uniform.HoeffdingSize",
    "sampling.uniform.UniformBound",
    "sampling.uniform.UniformProbability",
    "sampling.uniform.UniformSize",
    "sampling.uniform.RegularisedBound",
    "sampling.uniform.RegularisedProbability",
    "sampling.uniform.RegularisedSize",
)
def uniform(table, random):
    """Coins of any bias, in exact probabilities; many independent ones for classes of rules."""
    n, delta = inputs_of(random)
    p, deviation = float(random.random()), float(random.uniform(0.01, 0.6))
    b = int(random.integers(1, 8))
    for name, short, inputs, count in (
        ("hoeffding", "Hoeffding", {}, None),
        ("uniform-convergence", "Uniform", {"hypotheses": 2**b}, 2**b),
        ("regularised", "Regularised", {"bits": b}, 2**b),
    ):
        key = f"sampling.uniform.{short}"
        seen = {"log_hypotheses": math.log(2**b)} if "hypotheses" in inputs else inputs
        value = float(bounds.bound(name, samples=n, delta=delta, **inputs))
        agrees(table, f"{key}Bound", name, value, samples=n, delta=delta, **seen)
        probability = float(bounds.bound(f"{name}-delta", samples=n, deviation=deviation, **inputs))
        agrees(table, f"{key}Probability", f"{name}-delta", probability, samples=n, deviation=deviation, **seen)
        for distance, limit, end in ((value, delta, "Bound"), (deviation, probability, "Probability")):
            above, below = tails(n, p, distance)
            failure = (
                max(above, below) if count is None else -math.expm1(count * math.log1p(-min(1 - 1e-16, above + below)))
            )
            table.bounded(key + end, "coins", failure, limit, 1e-300)
        size = bounds.sample_size(name, deviation=deviation, delta=delta, **inputs)
        smallest(
            table,
            f"{key}Size",
            name,
            size,
            deviation,
            lambda m, name=name, seen=seen: BOUNDS[name](samples=m, delta=delta, **seen),
        )


@subject(
    "VC bounds",
    "sampling.vc.GrowthBound",
    "sampling.vc.VCBound",
    "sampling.vc.VCProbability",
    "sampling.vc.VCSize",
    "sampling.vc.VCUniformBound",
    "sampling.vc.VCUniformProbability",
    "sampling.vc.VCUniformSize",
    "sampling.vc.VCClosedSize",
    "sampling.vc.MajorityVCBound",
)
def vc(table, random):
    """Thresholds on a line, whose VC dimension is 1; and the growth of random classes."""
    n, delta = int(random.choice([1, 5, 30, 200])), float(10.0 ** random.uniform(-6, -0.05))
    d, error = int(random.integers(0, 5)), float(random.uniform(0.1, 0.95))
    matrix = random.integers(0, 2, (int(random.integers(1, 12)), int(random.integers(1, 6)))).tolist()
    points = int(random.integers(1, len(matrix[0]) + 1))
    dimension = naive_concepts.vc_dimension(matrix)
    limit = float(bounds.bound("growth", points=points, vc_dimension=dimension))
    agrees(table, "sampling.vc.GrowthBound", "growth", limit, points=points, vc_dimension=dimension)
    table.bounded(
        "sampling.vc.GrowthBound",
        "a finite class",
        math.log(naive_concepts.growth_function(matrix, points)),
        limit,
        1e-12,
    )
    for name, short, what in (("vc", "VC", "error"), ("vc-uniform", "VCUniform", "deviation")):
        key = f"sampling.vc.{short}"
        value = float(bounds.bound(name, samples=n, vc_dimension=d, delta=delta))
        agrees(table, f"{key}Bound", name, value, samples=n, vc_dimension=d, delta=delta)
        given = {what: error}
        probability = float(bounds.bound(f"{name}-delta", samples=n, vc_dimension=d, **given))
        agrees(table, f"{key}Probability", f"{name}-delta", probability, samples=n, vc_dimension=d, **given)
        size = bounds.sample_size(name, vc_dimension=d, delta=delta, **given)
        if size < 3000:
            table.stated(f"{key}Size", "its formula", size, smallest_vc_sample(name, error, d, delta), 0)
        smallest(
            table,
            f"{key}Size",
            name,
            size,
            error,
            lambda m, name=name: BOUNDS[name](samples=m, vc_dimension=d, delta=delta),
        )
        thresholds(
            table, key, name, what, random, n, delta, value if d == 1 else None, probability if d == 1 else None, error
        )
    closed = bounds.sample_size("vc-closed", error=error, vc_dimension=max(1, d), delta=delta)
    wanted = math.ceil(SAMPLE_SIZES["vc-closed"](error, max(1, d), delta))
    table.stated("sampling.vc.VCClosedSize", "its formula", closed, wanted, 0)
    table.bounded("sampling.vc.VCClosedSize", "its formula", smallest_vc_sample("vc", error, max(1, d), delta), closed)
    votes, d = pick(random, 1, 3, 5), int(random.integers(0, 4))
    most = int(bounds.bound("majority-vc", vc_dimension=d, votes=votes))
    agrees(table, "sampling.vc.MajorityVCBound", "majority-vc", most, vc_dimension=d, votes=votes)
    table.bounded("sampling.vc.MajorityVCBound", "its formula", 2**most, growth(most, d) ** votes)
    table.bounded("sampling.vc.MajorityVCBound", "its formula", growth(most + 1, d) ** votes, 2 ** (most + 1) - 1, 0)
    majorities(table, random)


def thresholds(table, key, name, what, random, n, delta, value, probability, error):
    """Rules x >= a for uniform x in [0, 1], the truth x >= 0.5: the consistent rule of largest error is known."""
    if value is None:
        return
    x = np.sort(random.random(n))
    if what == "error":
        low = max(x[x < 0.5], default=0.0)
        high = min(x[x >= 0.5], default=1.0)
        worst = max(0.5 - low, high - 0.5)
    else:
        # The largest distance between the true error of a threshold and that on the sample.
        ends = [abs(abs(a - 0.5) - float(np.mean((x >= a) != (x >= 0.5)))) for a in (*x, *(x + 1e-12), 0.0, 1.0)]
        worst = max(ends)
    fixed = 0.1
    limit = float(bounds.bound(name, samples=n, vc_dimension=1, delta=fixed))
    table.chance(f"{key}Bound", "thresholds", worst > limit, fixed)
    certain = float(bounds.bound(f"{name}-delta", samples=n, vc_dimension=1, **{what: error}))
    table.on_average(f"{key}Probability", "thresholds", float(worst >= error), certain)


def majorities(table, random):
    """The VC dimension of the majorities of three rules of a small class."""
    matrix = random.integers(0, 2, (int(random.integers(1, 6)), int(random.integers(1, 6)))).tolist()
    votes = [
        [int(a + b + c >= 2) for a, b, c in zip(x, y, z, strict=True)] for x in matrix for y in matrix for z in matrix
    ]
    limit = int(bounds.bound("majority-vc", vc_dimension=naive_concepts.vc_dimension(matrix), votes=3))
    table.bounded("sampling.vc.MajorityVCBound", "a finite class", naive_concepts.vc_dimension(votes), limit)


@subject("sample sizes", "batch.progressive.ProgressiveSize", "batch.random_stopping.RandomStoppingSize")
def sizes(table, random):
    gap, delta, most = (
        float(random.uniform(0.01, 2)),
        float(10.0 ** random.uniform(-6, -0.05)),
        pick(random, 1.0, 5.0, 1e-6),
    )
    size = bounds.sample_size("progressive", gap=gap * most, delta=delta, loss_range=most)
    smallest(
        table,
        "batch.progressive.ProgressiveSize",
        "progressive",
        size,
        gap * most,
        lambda m: BOUNDS["progressive"](0.0, m, delta, most),
    )
    mistakes, error = int(random.integers(0, 500)), float(random.uniform(0.01, 0.99))
    size = bounds.sample_size("random-stopping", mistakes=mistakes, error=error)
    smallest(table, "batch.random_stopping.RandomStoppingSize", "random-stopping", size, error, lambda m: mistakes / m)
