"""Exponential weights over the paths of a graph, beside the definition with a weight for every path."""

import copy
import math
import pickle
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_paths
from afterwit.core.certificate import Verdict
from afterwit.core.learner import view
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.experts._graph import PathGraph
from afterwit.experts._pushing import draw_path
from graphs import graphs, layered

KINDS = [{"rate": 0.7}, {"horizon": 12}, {}]
DIAMOND = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b")]


def naive(edges, source, sink, options, width):
    """The definition at the same rates."""
    log_paths = math.log(len(naive_paths.all_paths(edges, source, sink)))

    def rate(number):
        if "rate" in options:
            return options["rate"]
        return math.sqrt(8 * log_paths / options.get("horizon", number)) / width

    return naive_paths.ExponentialWeightsOverPaths(edges, source, sink, rate)


@pytest.mark.parametrize("options", KINDS, ids=str)
@given(graph=graphs(), random=st.randoms(use_true_random=False))
def test_it_is_exponential_weights_over_all_paths(options, graph, random):
    edges, source, sink = graph
    low, high = random.choice([(0, 1), (-1, 0.5), (1, 3), (-2, -1)])
    learner = aw.OnlineShortestPath(edges, source, sink, cost_range=(low, high), **options)
    oracle = naive(edges, source, sink, options, learner.graph.width(low, high))
    for _ in range(10):
        np.testing.assert_allclose(learner.flow, oracle.flow(), rtol=1e-12, atol=1e-13)
        costs = [random.uniform(low, high) for _ in edges]
        assert learner.learn_one(costs) == pytest.approx(oracle.learn(costs), rel=1e-12, abs=1e-12)
    assert learner.loss == pytest.approx(oracle.loss, rel=1e-12, abs=1e-12)
    assert learner.best_cost == pytest.approx(float(min(oracle.totals)), rel=1e-12, abs=1e-12)
    assert learner.regret == pytest.approx(oracle.regret(), rel=1e-11, abs=1e-11)
    best = [learner.graph.position[edge] for edge in learner.best_path()]
    assert oracle.totals[oracle.paths.index(best)] == pytest.approx(min(oracle.totals), abs=1e-12)
    assert learner.certificate().verdict is Verdict.HOLDS


@given(graph=graphs(), random=st.randoms(use_true_random=False))
def test_every_round_is_within_the_bound_and_the_checker_finds_the_same(graph, random):
    edges, source, sink = graph
    options = random.choice(KINDS)
    learner = aw.OnlineShortestPath(edges, source, sink, **options)
    log_paths = math.log(len(naive_paths.all_paths(edges, source, sink)))
    for _ in range(12):
        learner.learn_one([random.choice([0, 1]) for _ in edges])
        certificate = learner.certificate()
        assert certificate.verdict is Verdict.HOLDS
        assert certificate.observed == pytest.approx(learner.regret, abs=1e-12)
        assert certificate.hindsight.value == pytest.approx(learner.best_cost, abs=1e-12)
        assert certificate.inputs["ln N"] == pytest.approx(log_paths, abs=1e-12)
        assert certificate.inputs["M"] == learner.graph.width(0, 1)


@pytest.mark.parametrize("ends", [(0, 1), (2, 3), (-3, -2), (-1, 2), (0.5, 4)], ids=str)
@given(graph=graphs(), random=st.randoms(use_true_random=False))
def test_the_width_is_that_of_paths_of_any_length_and_costs_anywhere(ends, graph, random):
    """The dearest path may be the longest or the shortest, and so may the cheapest: it depends on the signs of the costs."""
    edges, source, sink = graph
    low, high = ends
    learner = aw.OnlineShortestPath(edges, source, sink, rate=0.3, cost_range=ends)
    paths = naive_paths.all_paths(edges, source, sink)
    for _ in range(6):
        learner.learn_one([random.choice([low, high]) for _ in edges])
    certificate = learner.certificate()
    _, cheapest, width = naive_paths.spread(paths, low, high)
    assert certificate.inputs["M"] == width
    assert certificate.bound == pytest.approx(math.log(len(paths)) / 0.3 + 0.3 * 6 * width**2 / 8)
    assert certificate.ceiling.value == pytest.approx(learner.loss - 6 * cheapest, abs=1e-9)
    assert certificate.verdict is Verdict.HOLDS


@pytest.mark.parametrize("pairs", [1, 3])
@pytest.mark.parametrize("options", [{"rate": 0.1}, {"horizon": 300}, {}], ids=str)
def test_against_an_adversary(options, pairs):
    """One coin for all pairs of edges: no learner does better than half on average, and in hindsight one side was better."""
    shares = []
    for seed in range(20):
        learner = aw.OnlineShortestPath([(i, i + 1) for i in range(pairs) for _ in range(2)], **options)
        coins = np.random.default_rng(seed).integers(0, 2, (300, 1))
        learner.learn_many(np.tile(np.hstack([coins, 1 - coins]), pairs))
        certificate = learner.certificate()
        assert certificate.verdict is Verdict.HOLDS
        shares.append(learner.regret / certificate.bound)
    assert np.mean(shares) > 0.15, "an adversary that does not bite tests nothing"


def test_the_bounds_are_their_formulas():
    pairs = [(i, i + 1) for i in range(3) for _ in range(2)]
    log_paths, costs = 3 * math.log(2), np.random.default_rng(1).random((40, 6))
    tuned = aw.OnlineShortestPath(pairs, horizon=40)
    tuned.learn_many(costs)
    assert tuned.rate == pytest.approx(math.sqrt(8 * log_paths / 40) / 3)
    certificate = tuned.certificate()
    assert certificate.theorem.name == "regret at the rate for a horizon"
    assert certificate.bound == pytest.approx(3 * math.sqrt(20 * log_paths))
    assert certificate.others[0].bound == pytest.approx(certificate.bound)
    tuned.learn_one(costs[0])
    later = tuned.certificate()
    assert later.theorem.name == "regret at a fixed rate"
    assert later.others[0].verdict is Verdict.NOT_APPLICABLE
    assert "more rounds than the horizon" in later.others[0].line()
    fixed = aw.OnlineShortestPath(pairs, rate=0.2, cost_range=(-1, 1))
    fixed.learn_many(costs)
    assert fixed.certificate().bound == pytest.approx(log_paths / 0.2 + 0.2 * 40 * 36 / 8)
    free = aw.OnlineShortestPath(pairs)
    free.learn_many(costs)
    assert free.rate == pytest.approx(math.sqrt(8 * log_paths / 41) / 3)
    assert free.certificate().bound == pytest.approx(3 * (2 * math.sqrt(20 * log_paths) + math.sqrt(log_paths / 8)))


def test_a_regret_above_the_bound_would_be_called_a_bug():
    learner = aw.OnlineShortestPath(DIAMOND, rate=1.0)
    learner.restore({"rounds": 3, "loss": 1e6, "totals": np.zeros(5)})
    assert learner.certificate().verdict is Verdict.VIOLATED


# ---------------------------------------------------------------------- one and many


@given(graph=graphs(), random=st.randoms(use_true_random=False), options=st.sampled_from(KINDS))
def test_many_rounds_are_the_loop_of_one_to_the_bit(graph, random, options):
    edges, source, sink = graph
    costs = np.array([[random.random() for _ in edges] for _ in range(9)])
    one, many, parts = (aw.OnlineShortestPath(edges, source, sink, **options) for _ in range(3))
    singly = []
    for row in costs:
        before = one.state()
        one.predict_one(), one.flow, one.sample_paths(2), one.best_path(), one.certificate()
        assert same_value(one.state(), before)
        singly.append(one.learn_one(row))
    assert many.learn_many(costs).tolist() == singly
    parts.learn_many(costs[:4])
    parts.predict_one()
    named = [dict(zip(parts.graph.edges, row, strict=True)) for row in costs[4:].tolist()]
    parts.learn_many(named)
    assert one == many == parts
    assert one.flow.tobytes() == many.flow.tobytes()


def test_what_it_takes():
    costs = np.random.default_rng(0).random((3, 5))
    forms = [costs, costs.tolist(), np.asfortranarray(costs), costs.astype(">f8")]
    readonly = costs.copy()
    readonly.flags.writeable = False
    learners = []
    for form in [*forms, readonly]:
        learner = aw.OnlineShortestPath(DIAMOND)
        learner.learn_many(form)
        learners.append(learner)
    assert all(learner == learners[0] for learner in learners)
    learner = aw.OnlineShortestPath(DIAMOND)
    assert learner.learn_many([]).shape == (0,)
    assert learner.learn_many(np.empty((0, 5))).shape == (0,)
    assert learner.learn_one([True, False, 1, 0, 1]) == learner.loss
    np.testing.assert_array_equal(learner.edge_costs, [1, 0, 1, 0, 1])
    learner.edge_costs[:] = 7
    np.testing.assert_array_equal(learner.edge_costs, [1, 0, 1, 0, 1])


# ---------------------------------------------------------------------- drawing


def test_the_drawn_path_is_a_function_of_seed_and_round():
    costs = np.random.default_rng(0).random((30, 5))
    drawn = {}
    for seed in (1, 2):
        learner = aw.OnlineShortestPath(DIAMOND, seed=seed)
        drawn[seed] = []
        for row in costs:
            drawn[seed].append(learner.predict_one())
            assert learner.predict_one() == drawn[seed][-1]
            learner.learn_one(row)
    assert drawn[1] != drawn[2]
    assert len(set(map(tuple, drawn[1]))) == 3
    later = aw.OnlineShortestPath(DIAMOND, seed=1)
    later.learn_many(costs[:17])
    assert later.predict_one() == drawn[1][17]


@settings(max_examples=15)
@given(graph=graphs(), random=st.randoms(use_true_random=False))
def test_paths_are_drawn_as_often_as_their_weights_say(graph, random):
    edges, source, sink = graph
    learner = aw.OnlineShortestPath(edges, source, sink, rate=1.0)
    oracle = naive(edges, source, sink, {"rate": 1.0}, 1)
    for _ in range(3):
        costs = [random.random() for _ in edges]
        learner.learn_one(costs), oracle.learn(costs)
    count = 1500
    drawn = Counter(
        tuple(learner.graph.position[edge] for edge in path) for path in learner.sample_paths(count, seed=5)
    )
    assert set(drawn) <= set(map(tuple, oracle.paths))
    for path, weight in zip(oracle.paths, oracle.weights(), strict=True):
        deviation = math.sqrt(weight * (1 - weight) / count)
        assert abs(drawn[tuple(path)] / count - weight) <= 5 * deviation + 1e-12


def test_the_paths_of_rounds_are_drawn_as_often_as_their_weights_say():
    """By many seeds, as one round has one path."""
    totals = np.array([0.0, 1.0, 1.0, 0.0, 0.5])
    count, drawn = 2000, Counter()
    for seed in range(count):
        learner = aw.OnlineShortestPath(DIAMOND, rate=1.0, seed=seed)
        learner.restore({"rounds": 1, "loss": 0.0, "totals": totals})
        drawn[tuple(learner.graph.position[edge] for edge in learner.predict_one())] += 1
    paths = naive_paths.all_paths(DIAMOND, "s", "t")
    weights = naive_paths.probabilities([naive_paths.path_cost(path, totals) for path in paths], 1.0)
    for path, weight in zip(paths, weights, strict=True):
        assert abs(drawn[tuple(path)] / count - weight) <= 4 * math.sqrt(weight * (1 - weight) / count)


# ---------------------------------------------------------------------- large and extreme


@pytest.mark.parametrize(("layers", "width", "paths"), [(12, 10, 10**12), (400, 10, 10**400)])
def test_more_paths_than_can_be_listed_or_counted_in_floating_point(layers, width, paths):
    """The costs of all layers are alike, so that the weights multiply and the flow is known."""
    edges = [(i, i + 1, j) for i in range(layers) for j in range(width)]
    learner = aw.OnlineShortestPath(edges, rate=0.4)
    assert learner.graph.path_count == paths
    costs = np.tile(np.linspace(0, 1, width), layers)
    assert learner.learn_one(costs) == pytest.approx(layers / 2, rel=1e-12)
    learner.learn_one(costs)
    weights = np.exp(-0.8 * np.linspace(0, 1, width))
    np.testing.assert_allclose(learner.flow, np.tile(weights / weights.sum(), layers), rtol=1e-10)
    assert learner.best_path() == [(i, i + 1, 0) for i in range(layers)]
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.inputs["ln N"] == pytest.approx(layers * math.log(10), rel=1e-12)
    assert len(learner.predict_one()) == layers


def test_a_full_layered_graph():
    learner = aw.OnlineShortestPath(layered(13, 8), horizon=20)
    assert learner.graph.path_count == 8**13
    random = np.random.default_rng(2)
    for _ in range(20):
        flow = learner.flow
        assert flow[:8].sum() == pytest.approx(1, rel=1e-12)
        costs = random.random(len(flow))
        assert learner.learn_one(costs) == pytest.approx(flow @ costs, rel=1e-12)
    assert learner.certificate().verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("cost_range", "rate"),
    [
        ((0, 1e100), 1e-100),
        ((0, 1e100), 1e-2),
        ((-1e100, 0), None),
        ((0, 1e-99), None),
        ((0, 1), 1e99),
        ((0, 1), 1e-99),
    ],
)
def test_extreme_costs_and_rates_lead_to_no_nonsense(cost_range, rate):
    learner = aw.OnlineShortestPath(DIAMOND, rate=rate, cost_range=cost_range)
    random = np.random.default_rng(0)
    for _ in range(30):
        flow = learner.flow
        assert flow[0] + flow[1] == pytest.approx(1, rel=1e-12)
        costs = random.choice(cost_range, 5)
        assert learner.learn_one(costs) == pytest.approx(float(flow @ costs), rel=1e-9)
    assert learner.certificate().verdict is Verdict.HOLDS
    assert math.isfinite(learner.certificate().bound)


def test_one_path_is_always_taken():
    for options in KINDS:
        learner = aw.OnlineShortestPath([(0, 1), (1, 2), (1, 3)], sink=2, **options)
        assert learner.learn_many([[0.5, 0.25, 1]] * 3).tolist() == [0.75] * 3
        assert learner.flow.tolist() == [1, 1, 0]
        assert learner.regret == 0
        assert learner.certificate().verdict is Verdict.HOLDS


def test_probabilities_that_vanish_are_never_drawn():
    learner = aw.OnlineShortestPath([(0, 1), (0, 1)], rate=1e50)
    learner.learn_one([1, 0])
    assert learner.flow.tolist() == [0, 1]
    assert learner.sample_paths(50) == [[(0, 1, 1)]] * 50
    assert learner.sample_paths(0) == []


def test_where_rounding_leaves_a_rest_the_last_possible_edge_takes_it():
    graph = PathGraph([(0, 1), (0, 1), (0, 1)])
    layout = [view(array) for array in (graph.first, graph.heads, graph.places)]
    shares, highest = np.array([0.5, 0.5 - 2**-50, 0.0]), np.full((1, 1), 1 - 2**-53)
    assert draw_path(*layout, view(shares), view(highest), 0) == [1]


def test_a_restored_state_is_pushed_anew():
    learner = aw.OnlineShortestPath(DIAMOND, rate=1.0)
    flow, fresh = learner.flow, learner.state()
    learner.learn_one([0, 1, 1, 0, 0.5])
    changed = learner.flow
    learner.restore(fresh)
    assert learner.flow.tobytes() == flow.tobytes() != changed.tobytes()


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0}, "rate must be a positive number"),
        ({"rate": "fast"}, "rate must be a positive number"),
        ({"rate": True}, "rate must be a positive number"),
        ({"rate": math.nan}, "rate must be a positive number"),
        ({"rate": 10**400}, "rate must be a positive number"),
        ({"cost_range": (0, 10**400)}, "cost_range must be a pair (low, high)"),
        ({"rate": 1e200}, "rate must be a positive number, from 3.33e-101 to 3.33e+99 for this range; received 1e+200"),
        ({"horizon": 0}, "horizon must be a whole number of rounds, at least 1; received 0"),
        ({"horizon": 1.5}, "horizon must be a whole number"),
        ({"rate": 1, "horizon": 5}, "horizon must be left out where a rate is given; received 5"),
        ({"cost_range": (1, 0)}, "cost_range must be a pair (low, high)"),
        ({"cost_range": (0, 0)}, "cost_range must be a pair (low, high)"),
        ({"cost_range": 1}, "cost_range must be a pair (low, high)"),
        ({"cost_range": (0, math.inf)}, "cost_range must be a pair (low, high)"),
        ({"cost_range": (0, math.nan)}, "cost_range must be a pair (low, high)"),
        ({"cost_range": (1e9, 1e9 + 1)}, "cost_range must be a pair (low, high)"),
        ({"cost_range": ("0", "1")}, "cost_range must be a pair (low, high)"),
        ({"seed": -1}, "seed must be a whole number, at least 0 and below 2^64; received -1"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"edges": [(0, 0)]}, "edges must be without a cycle"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        aw.OnlineShortestPath(**{"edges": DIAMOND, **options})


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([0, 0, 0, 0], "costs must be 5 numbers, one for each edge; received an array of shape (4,)"),
        ([[0] * 5], "costs must be 5 numbers"),
        (
            [0, 0, 0, 2, 0],
            "costs must be numbers from 0 to 1, the cost_range, none missing; received 2 for edge ('b', 't')",
        ),
        ([0, -0.1, 0, 0, 0], "received -0.1 for edge ('s', 'b')"),
        ([0, 0, math.nan, 0, 0], "received nan for edge ('a', 't')"),
        ([0, 0, math.inf, 0, 0], "received inf for edge ('a', 't')"),
        (["0"] * 5, "costs must be numbers; received"),
        ([None] * 5, "costs must be numbers; received"),
        ([0, [1], 0, 0, 0], "costs must be rows of numbers, all of one length"),
        (np.ma.masked_array([0.0] * 5, [True] * 5), "costs must be numbers"),
        (
            dict.fromkeys(DIAMOND[:4], 0),
            "costs must be a dict with an entry for every edge; received none for ('a', 'b')",
        ),
        (dict.fromkeys([*DIAMOND, (1, 2)], 0), "an entry for every edge and no other; received one for (1, 2)"),
        (dict.fromkeys(DIAMOND, "x"), "costs must be numbers"),
        (3, "costs must be 5 numbers"),
    ],
)
def test_bad_costs_leave_it_as_it_was(costs, message):
    learner = aw.OnlineShortestPath(DIAMOND)
    learner.learn_one([0.5] * 5)
    before = learner.state()
    with pytest.raises(InputError, match=re.escape(message)):
        learner.learn_one(costs)
    assert same_value(learner.state(), before)
    with pytest.raises(InputError):
        learner.learn_many([[0] * 5, costs])
    assert same_value(learner.state(), before)


def test_the_round_of_a_bad_cost_is_named():
    learner = aw.OnlineShortestPath(DIAMOND)
    learner.learn_one([0.5] * 5)
    with pytest.raises(InputError, match=re.escape("received 3 for edge ('s', 'a') in round 3")):
        learner.learn_many([[0] * 5, [3, 0, 0, 0, 0]])
    with pytest.raises(InputError, match=re.escape("costs[1] must be a dict with an entry for every edge")):
        learner.learn_many([dict.fromkeys(DIAMOND, 0), {}])
    with pytest.raises(
        InputError, match=re.escape("costs must be a row for each round of 5 numbers, one for each edge")
    ):
        learner.learn_many([[0] * 4])
    with pytest.raises(InputError, match="count must be a whole number of paths, at least 0"):
        learner.sample_paths(-1)
    with pytest.raises(InputError, match="seed must be"):
        learner.sample_paths(1, seed=None)


# ---------------------------------------------------------------------- copying and saving


@pytest.mark.parametrize("options", [*KINDS, {"cost_range": (-1, 2), "seed": 9}], ids=str)
def test_copies_and_files_go_on_as_the_original(options, tmp_path):
    edges = [("s", 1), ("s", (2, "b")), (1, "t"), ((2, "b"), "t"), ("s", 1)]
    learner = aw.OnlineShortestPath(edges, "s", "t", **options)
    costs = np.random.default_rng(3).random((8, 5))
    learner.learn_many(costs)
    learner.predict_one()
    aw.save(learner, tmp_path / "paths")
    others = [learner.copy(), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner)), aw.load(tmp_path / "paths")]
    for other in others:
        assert other == learner
        assert other.predict_one() == learner.predict_one()
        other.learn_many(costs)
        assert other != learner
    learner.learn_many(costs)
    assert all(other == learner for other in others)
    assert learner.clone() == aw.OnlineShortestPath(edges, "s", "t", **options)
    assert learner.clone({"seed": 77, "cost_range": (0, 5)}).cost_range == (0, 5)
    assert learner.clone({"seed": 77}).seed == 77


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": -1},
        {"rounds": 1.0},
        {"loss": math.nan},
        {"loss": 1},
        {"totals": np.zeros(4)},
        {"totals": np.full(5, 9.0)},
        {"totals": [0.0] * 5},
        {"totals": np.full(5, math.nan)},
    ],
    ids=str,
)
def test_a_state_that_is_none_is_refused(change):
    learner = aw.OnlineShortestPath(DIAMOND)
    learner.learn_one([0.5] * 5)
    before = learner.state()
    with pytest.raises(InputError):
        learner.restore({**before, **change})
    assert same_value(learner.state(), before)


def test_it_says_what_it_is():
    learner = aw.OnlineShortestPath(DIAMOND)
    learner.learn_one([0.5] * 5)
    text = "OnlineShortestPath on PathGraph: 5 edges, paths from 's' to 't' of 2 to 3 edges: 1 round, cost 1.16667"
    assert repr(learner) == text
    assert str(learner.certificate()).startswith("OnlineShortestPath, 1 round\n  promised   regret at most ")


@pytest.mark.parametrize("options", [{}, {"horizon": 1500}], ids=str)
def test_many_rounds_are_learned_in_parts_and_are_the_same_one_by_one(options):
    costs = np.random.default_rng(8).random((1500, len(DIAMOND)))
    many, one = (aw.OnlineShortestPath(DIAMOND, "s", "t", **options) for _ in range(2))
    losses = many.learn_many(costs)
    assert losses.tolist() == [one.learn_one(row) for row in costs]
    assert (many.rounds, many) == (1500, one)
