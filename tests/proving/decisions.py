"""Choices among experts and paths: exponential weights by weight pushing, and the perturbed leader.

The oracle has a weight for every path. The perturbed leader's regret is judged on average over its draws; for two
experts its mean is known exactly.
"""

import math

import numpy as np

import afterwit as aw
import naive_paths as naive
from naive_bounds import BOUNDS
from proving.formulas import value_of
from proving.judging import APPLIED, EPSILON, Truth, all_of, key_of
from proving.searching import judges, subject
from proving.sequences import SCALES, pick, size, values

PREFIX = "experts.follow_the_perturbed_leader."
RANGES = ((0.0, 1.0), (0.0, 5.0), (1.0, 3.0), (-1.0, 2.0), (-4.0, -1.0))


def graph(random):
    """Edges between 0 and the last node, some parallel, some on no path."""
    nodes = int(random.integers(2, 6))
    edges = [(0, nodes - 1)]
    for _ in range(int(random.integers(0, 9))):
        a, b = sorted(random.choice(nodes, 2, replace=False).tolist())
        edges.append((a, b))
    # A pair given several times has a number as well.
    return [(*edge, edges[:i].count(edge)) for i, edge in enumerate(edges)], nodes - 1


def range_of(random, anywhere=True):
    low, high = pick(random, *RANGES) if anywhere else pick(random, *RANGES[:2])
    scale = pick(random, *SCALES)
    return low * scale, high * scale


def costs_in(random, rounds, columns, low, high):
    table = values(random, rounds, columns)
    return np.clip(low + (high - low) * table, low, high)


def lengths(paths):
    return min(map(len, paths)), max(map(len, paths))


@subject("OnlineShortestPath")
def shortest_path(table, random):
    edges, sink = graph(random)
    low, high = range_of(random)
    rounds, _ = size(random)
    paths = naive.all_paths([edge[:2] for edge in edges], 0, sink)
    shortest, longest = lengths(paths)
    width = max(high * shortest, high * longest) - min(low * shortest, low * longest)
    log_n = math.log(len(paths))
    kind = pick(random, "rate", "horizon", "decreasing")
    options = {"rate": float(random.uniform(0.05, 3)) / width} if kind == "rate" else {}
    if kind == "horizon":
        options = {"horizon": max(1, pick(random, rounds, rounds + 3, rounds // 2, rounds // 2, rounds // 3))}
    rate = options.get("rate") or math.sqrt(8 * log_n / options.get("horizon", 1)) / width
    learner = aw.OnlineShortestPath(edges, source=0, sink=sink, cost_range=(low, high), **options)
    exact = naive.ExponentialWeightsOverPaths(
        [edge[:2] for edge in edges], 0, sink, lambda t: rate / math.sqrt(t) if kind == "decreasing" else rate
    )
    costs = costs_in(random, rounds, len(edges), low, high)
    learner.learn_many(costs)
    for row in costs.tolist():
        exact.learn(row)
    far = max(abs(low), abs(high)) * longest
    slack = 64 * EPSILON * (rounds + len(edges) + 16) * rounds * (far + width) * (1 + log_n)
    formulas = {
        "experts.online_shortest_path.FixedRatePathBound": lambda: (
            log_n / rate + rate * width**2 * rounds / 8 if log_n else rate * width**2 * rounds / 8
        ),
        "experts.online_shortest_path.TunedPathBound": lambda: width * math.sqrt(options["horizon"] / 2 * log_n),
        "experts.online_shortest_path.DecreasingRatePathBound": lambda: (
            width * BOUNDS["exponential-weights-decreasing"](log_n, rounds)
        ),
    }
    for made in all_of(learner.certificate()):
        key = key_of(type(made.theorem))
        if key.endswith("TunedPathBound") and made.bound is not None and rounds > options["horizon"]:
            table.problem(key, "OnlineShortestPath", APPLIED, f"{rounds} rounds, the horizon is {options['horizon']}")
        formula = formulas[key]
        table.certificate(made, "OnlineShortestPath", lambda formula=formula: Truth(exact.regret(), formula(), slack))


judges(
    "experts.online_shortest_path.FixedRatePathBound",
    "experts.online_shortest_path.TunedPathBound",
    "experts.online_shortest_path.DecreasingRatePathBound",
)


# ---------------------------------------------------------------------- the perturbed leader


@subject(
    "FollowThePerturbedLeader",
    PREFIX + "PerturbedLeaderBound",
    PREFIX + "TunedPerturbationBound",
    PREFIX + "DecreasingPerturbationBound",
    PREFIX + "SmallLossBound",
)
def perturbed_leader(table, random):
    rounds, n = size(random)
    rounds = max(1, rounds)
    perturbation = pick(random, "exponential", "uniform")
    on_graph = random.random() < 0.4
    edges, sink = graph(random) if on_graph else ([(0, 1)] * n, 1)
    paths = naive.all_paths([edge[:2] for edge in edges], 0, sink)
    even = len({len(path) for path in paths}) == 1
    low, high = range_of(random, even or perturbation == "uniform")
    Q, S = naive.perturbation_constants(paths, low, high, perturbation)
    if len(paths) == 1:
        # There is nothing to choose, and no perturbation in the bound.
        Q, S = ((high - low) * len(paths[0])) ** 2, 0.0
    width = math.sqrt(Q)
    kind = pick(random, "epsilon", "horizon", "decreasing")
    options = {"epsilon": float(random.uniform(0.05, 2)) / width} if kind == "epsilon" else {}
    if kind == "horizon":
        options = {"horizon": max(1, pick(random, rounds, rounds + 3, rounds // 2, rounds // 2, rounds // 3))}
    where = {"edges": edges, "source": 0, "sink": sink} if on_graph else {"n_experts": n}
    learner = aw.FollowThePerturbedLeader(
        **where, perturbation=perturbation, loss_range=(low, high), seed=int(random.integers(2**31)), **options
    )
    costs = costs_in(random, rounds, len(edges), low, high)
    lost = math.fsum(learner.observe_many(costs).tolist())
    best = min(float(naive.path_cost(path, costs.sum(axis=0).tolist())) for path in paths)
    regret = lost - best
    slack = 64 * EPSILON * rounds * (rounds + 16) * max(abs(low), abs(high)) * len(edges)
    horizon = options.get("horizon")
    eps = options.get("epsilon") or (math.sqrt(S / (Q * horizon)) if horizon and S else None)
    above = max(0.0, best - (low * len(paths[0]) * rounds if even else 0.0))
    formulas = {
        "PerturbedLeaderBound": lambda: eps * Q * rounds + (S / eps if S else 0.0),
        "TunedPerturbationBound": lambda: 2 * math.sqrt(S * Q * horizon),
        "DecreasingPerturbationBound": lambda: 2 * math.sqrt(2 * S * Q * rounds),
        "SmallLossBound": lambda: math.exp(eps * width) * (above + S / eps) - above,
    }
    for made in all_of(learner.certificate()):
        key = key_of(type(made.theorem))
        if str(made.verdict) == "not applicable":
            table.row(key, "FollowThePerturbedLeader").refused += 1
            continue
        table.on_average(key, "FollowThePerturbedLeader", regret - slack, made.bound)
        table.same(key, "FollowThePerturbedLeader", made.observed, regret, "observed is not what happened", slack)
        name = key.removeprefix(PREFIX)
        if name == "TunedPerturbationBound" and rounds > horizon:
            table.problem(key, "FollowThePerturbedLeader", APPLIED, f"{rounds} rounds, the horizon is {horizon}")
        if eps or name not in ("PerturbedLeaderBound", "SmallLossBound"):
            wanted = formulas[name]()
            spare = slack if name == "SmallLossBound" else 0.0
            table.stated(key, "FollowThePerturbedLeader", made.bound, wanted, 1e-9 * wanted + spare)
    if not on_graph and n == 2:
        two_experts(table, costs, perturbation, learner, Q, S, kind, eps, rounds, slack)


def two_experts(table, costs, perturbation, learner, Q, S, kind, eps, rounds, slack):
    """Of two experts the mean is known exactly: each of these bounds holds for it, not only on average over runs."""
    in_round = (lambda t: math.sqrt(S / (2 * Q * t))) if kind == "decreasing" else (lambda _: eps)
    mean = naive.expected_regret_of_two(costs.tolist(), in_round, perturbation)
    for made in all_of(learner.certificate()):
        if made.bound is not None:
            table.bounded(key_of(type(made.theorem)), "FollowThePerturbedLeader, two experts", mean, made.bound, slack)


@subject("uniform noise", PREFIX + "UniformNoiseBound", PREFIX + "TunedUniformNoiseBound")
def uniform_noise(table, random):
    """The theorem as Kalai & Vempala state it: experts are unit vectors, D = 2, losses up to R, |c|_1 up to n R."""
    rounds, n = size(random)
    rounds = max(1, rounds)
    payoff = pick(random, *SCALES)
    costs = costs_in(random, rounds, n, 0.0, payoff)
    inputs = {"rounds": rounds, "diameter": 2.0, "payoff": payoff, "cost": n * payoff}
    epsilon = float(random.uniform(0.02, 2)) / payoff
    tuned = math.sqrt(2.0 / (payoff * n * payoff * rounds))
    for key, eps, bound in (
        ("UniformNoiseBound", epsilon, value_of(table, "perturbed-leader", epsilon=epsilon, **inputs)),
        ("TunedUniformNoiseBound", tuned, value_of(table, "perturbed-leader-tuned", **inputs)),
    ):
        learner = aw.FollowThePerturbedLeader(
            n_experts=n,
            perturbation="uniform",
            loss_range=(0.0, payoff),
            epsilon=eps,
            seed=int(random.integers(2**31)),
        )
        regret = float(learner.observe_many(costs).sum() - costs.sum(axis=0).min())
        table.on_average(PREFIX + key, "FollowThePerturbedLeader", regret, float(bound))
