"""The perturbed leader, beside a list of all paths and, for two experts, beside exact probabilities."""

import copy
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
import naive_paths
from afterwit.core.certificate import Verdict
from afterwit.data.draws import ROUNDS, SAMPLES, Draws
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.experts.follow_the_perturbed_leader import PerturbedLeaderBound, SmallLossBound, Stability
from graphs import graphs, layered

KINDS = [{"epsilon": 0.4}, {"horizon": 12}, {}]
PERTURBATIONS = ["exponential", "uniform"]
DIAMOND = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b")]


def perturbations(learner, width):
    """Those of this round, from the same uniform numbers."""
    draws = Draws(learner.seed).uniforms(learner.rounds, 1, width)[0, :width].tolist()
    if learner.perturbation == "exponential":
        return [math.log1p(-u) / learner.epsilon for u in draws]
    return [u / learner.epsilon for u in draws]


# ---------------------------------------------------------------------- what it chooses


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@given(graph=graphs(), random=st.randoms(use_true_random=False), options=st.sampled_from(KINDS))
def test_the_path_is_the_perturbed_leader_of_all(perturbation, graph, random, options):
    edges, source, sink = graph
    seed = random.randrange(2**64)
    options = {**options, "perturbation": perturbation, "seed": seed}
    learner = aw.FollowThePerturbedLeader(edges=edges, source=source, sink=sink, **options)
    paths, totals, loss = naive_paths.all_paths(edges, source, sink), [0.0] * len(edges), 0.0
    for _ in range(8):
        leader = naive_paths.perturbed_leader(paths, totals, perturbations(learner, len(edges)))
        assert [learner.graph.position[edge] for edge in learner.choose()] == leader
        costs = [random.randrange(65) / 64 for _ in edges]
        suffered = learner.observe(costs)
        assert suffered == float(naive_paths.path_cost(leader, costs))
        totals = [total + cost for total, cost in zip(totals, costs, strict=True)]
        loss += suffered
    assert learner.edge_costs.tolist() == totals
    assert learner.loss == loss
    assert learner.best_cost == float(min(naive_paths.path_cost(path, totals) for path in paths))
    assert learner.regret == loss - learner.best_cost
    assert learner.rounds == 8


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_the_expert_is_the_perturbed_leader(perturbation):
    losses = np.random.default_rng(0).integers(-4, 5, (60, 7)) / 4
    learner = aw.FollowThePerturbedLeader(7, perturbation=perturbation, loss_range=(-1, 1), seed=3)
    for row in losses:
        chosen = learner.choose()
        assert chosen == int(np.argmin(learner.expert_losses + perturbations(learner, 7)))
        assert learner.observe(row) == row[chosen]
    np.testing.assert_array_equal(learner.expert_losses, losses.sum(axis=0))
    assert learner.best_expert == int(np.argmin(losses.sum(axis=0)))
    assert learner.regret == learner.loss - losses.sum(axis=0).min()
    assert learner.n_experts == 7


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("difference", [0, 0.5, 2])
def test_of_two_experts_the_worse_is_chosen_as_often_as_computed(perturbation, difference):
    count, chosen = 3000, 0
    for seed in range(count):
        learner = aw.FollowThePerturbedLeader(2, epsilon=0.3, perturbation=perturbation, seed=seed)
        learner.restore({"rounds": 4, "loss": 0.0, "totals": np.array([1.0 + difference, 1.0])})
        chosen += learner.choose() == 0
    chance = naive_paths.chance_of_the_first(difference, 0.3, perturbation)
    assert abs(chosen / count - chance) < 4 * math.sqrt(chance * (1 - chance) / count)


def test_the_draws_of_rounds_are_fresh_and_those_of_samples_others():
    draws = Draws(7)
    together = draws.uniforms(5, 40, 9)
    apart = np.vstack([draws.uniforms(44 - i, 1, 9) for i in range(40)])[::-1]
    assert together.tobytes() == apart.tobytes()
    assert len(np.unique(together)) == together.size == 40 * 12
    assert not np.intersect1d(draws.uniforms(0, 50, 4, ROUNDS), draws.uniforms(0, 50, 4, SAMPLES)).size
    assert not np.intersect1d(draws.uniforms(0, 50, 4), Draws(8).uniforms(0, 50, 4)).size
    philox = np.random.Generator(np.random.Philox(key=7, counter=(SAMPLES << 192) + 3 * 2**63))
    assert philox.random(12).tolist() == draws.uniforms(2**63, 1, 9, SAMPLES)[0].tolist()
    assert ((together >= 0) & (together < 1)).all()
    for column in (together[:, 0], together.ravel()):
        assert abs(column.mean() - 0.5) < 4 / math.sqrt(12 * column.size)


@given(graph=graphs(), random=st.randoms(use_true_random=False), options=st.sampled_from(KINDS))
def test_many_rounds_are_the_loop_of_one_to_the_bit(graph, random, options):
    edges, source, sink = graph
    costs = np.array([[random.random() for _ in edges] for _ in range(9)])
    one, many, parts = (aw.FollowThePerturbedLeader(edges=edges, source=source, sink=sink, **options) for _ in "abc")
    singly = []
    for row in costs:
        before = one.state()
        one.choose(), one.best_path(), one.certificate()
        assert same_value(one.state(), before)
        singly.append(one.observe(row))
    assert many.observe_many(costs).tolist() == singly
    parts.observe_many(costs[:4])
    parts.observe_many([dict(zip(parts.graph.edges, row, strict=True)) for row in costs[4:].tolist()])
    assert one == many == parts


def test_many_rounds_in_several_stretches_of_draws(monkeypatch):
    losses = np.random.default_rng(1).random((50, 6))
    whole = aw.FollowThePerturbedLeader(6)
    expected = whole.observe_many(losses)
    monkeypatch.setattr("afterwit.experts._path_learner.SLICE_NUMBERS", 40)
    parts = aw.FollowThePerturbedLeader(6)
    assert parts.observe_many(losses).tolist() == expected.tolist()
    assert parts == whole


# ---------------------------------------------------------------------- the theorems


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("options", [{"epsilon": 0.1}, {"epsilon": 3.0}, {"horizon": 40}, {}], ids=str)
@given(losses=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_two_experts_exactly_on_average(perturbation, options, losses):
    """No sampling: the average itself is never above the bound, after no round."""
    learner = aw.FollowThePerturbedLeader(2, perturbation=perturbation, loss_range=(0, 4), **options)
    epsilons = []
    for row in losses:
        epsilons.append(learner.epsilon)
        learner.observe(row)
    average = naive_paths.expected_regret_of_two(losses, lambda number: epsilons[number - 1], perturbation)
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.HOLDS
    for one in (certificate, *certificate.others):
        assert average <= one.bound + 1e-9


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_two_experts_in_turn_and_by_surprise(perturbation):
    """The sequence that ruins the unperturbed leader, and one on which a large part of the bound is regret."""
    horizon = 400
    turns = [(0.5, 0)] + [(0, 1), (1, 0)] * (horizon // 2)
    learner = aw.FollowThePerturbedLeader(2, horizon=horizon, perturbation=perturbation)
    bound = PerturbedLeaderBound.bound(
        learner.epsilon, horizon, Stability.of(perturbation, 2, (1, 1), math.log(2), 0, 1)
    )
    worst = 0.0
    for zeros in range(0, 60, 4):
        lead = [(1, 0)] * zeros + [(0, 1)] * (horizon - zeros)
        worst = max(worst, naive_paths.expected_regret_of_two(lead, lambda _: learner.epsilon, perturbation))
    assert naive_paths.expected_regret_of_two(turns[:horizon], lambda _: learner.epsilon, perturbation) <= bound
    assert 0.3 * bound < worst <= bound


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("options", [{"horizon": 60}, {"epsilon": 0.2}, {}], ids=str)
@pytest.mark.parametrize("shape", ["experts", "even", "uneven", "single edges"])
def test_the_average_over_seeds_is_within_the_bound(perturbation, options, shape):
    """Against losses that punish the leader of the unperturbed totals."""
    make = {
        "experts": {"n_experts": 6},
        "even": {"edges": layered(2, 3)},
        "uneven": {"edges": DIAMOND},
        "single edges": {"edges": [(i, i + 1) for i in range(4) for _ in range(2)]},
    }[shape]
    width = len(aw.FollowThePerturbedLeader(**make).graph.edges)
    losses = np.random.default_rng(4).random((60, width)) * 0.2
    totals = np.zeros(width)
    for row in losses:
        row[np.argsort(totals, kind="stable")[: width // 2]] += 0.8
        totals += row
    regrets = []
    for seed in range(60):
        learner = aw.FollowThePerturbedLeader(**make, **options, perturbation=perturbation, seed=seed)
        learner.observe_many(losses)
        regrets.append(learner.regret)
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.HOLDS
    for one in (certificate, *certificate.others):
        assert np.mean(regrets) <= one.bound


def test_the_bounds_are_their_formulas():
    losses = np.random.default_rng(0).random((50, 10))
    harmonic = sum(1 / i for i in range(2, 11))
    tuned = aw.FollowThePerturbedLeader(10, horizon=50, loss_range=(-1, 1))
    tuned.observe_many(losses)
    assert tuned.epsilon == pytest.approx(math.sqrt(harmonic / 50) / 2)
    bounds = {one.theorem.name: one.bound for one in (tuned.certificate(), *tuned.certificate().others)}
    best = losses.sum(axis=0).min() + 50
    assert bounds == {
        "regret of the perturbed leader for a horizon": pytest.approx(2 * 2 * math.sqrt(50 * harmonic)),
        "regret of the perturbed leader": pytest.approx(2 * 2 * math.sqrt(50 * harmonic)),
        "regret of the perturbed leader, small losses": pytest.approx(
            math.exp(2 * tuned.epsilon) * (best + harmonic / tuned.epsilon) - best
        ),
    }
    tuned.observe(losses[0])
    late = {one.theorem.name: one for one in (tuned.certificate(), *tuned.certificate().others)}
    assert late["regret of the perturbed leader for a horizon"].verdict is Verdict.NOT_APPLICABLE
    uniform = aw.FollowThePerturbedLeader(10, horizon=50, perturbation="uniform")
    uniform.observe_many(losses)
    assert uniform.certificate().bound == pytest.approx(2 * math.sqrt((1 / 2 - 1 / 11) * 1 * 5 * 50))
    free = aw.FollowThePerturbedLeader(10)
    free.observe_many(losses)
    assert free.certificate().bound == pytest.approx(2 * math.sqrt(2 * harmonic * 50))
    assert free.epsilon == pytest.approx(math.sqrt(harmonic / 2 / 51))
    assert "on average over its own draws" in str(free.certificate())


@given(graphs())
def test_the_constants_are_those_of_the_list_of_paths(graph):
    """What the checker finds in the edges, beside all paths: what a perturbation gives to the best of all at most."""
    edges, source, sink = graph
    paths = naive_paths.all_paths(edges, source, sink)
    lengths = [len(path) for path in paths]
    used = len({place for path in paths for place in path})
    for perturbation in PERTURBATIONS:
        learner = aw.FollowThePerturbedLeader(
            edges=edges, source=source, sink=sink, epsilon=0.5, perturbation=perturbation, loss_range=(0, 3)
        )
        inputs = learner.certificate().inputs if perturbation == "uniform" else learner.certificate().others[-1].inputs
        stability = Stability.of(perturbation, used, (min(lengths), max(lengths)), math.log(len(paths)), 0, 3)
        assert inputs["S"] == pytest.approx(stability.total_cost, abs=1e-12)
        random = np.random.default_rng(0)
        if perturbation == "uniform":
            assert inputs["Q"] == pytest.approx(stability.round_cost, abs=1e-12)
            draws = random.random((400, len(edges)))
            sums = np.column_stack([draws[:, path].sum(axis=1) for path in paths])
            gain = (max(lengths) / 2 - sums.min(axis=1)).mean()
        else:
            draws = random.exponential(size=(400, len(edges)))
            sums = np.column_stack([draws[:, path].sum(axis=1) for path in paths])
            gain = (sums.max(axis=1) - min(lengths)).mean()
        assert gain <= stability.total_cost + 5 * max(lengths) / math.sqrt(400)


#: Paths of one, two and four edges, and paths of two edges each.
UNEVEN = ([(0, 4), (0, 1), (1, 4), (1, 2), (2, 3), (3, 4)], 0, 4)
EVEN = ([(0, 1), (0, 2), (1, 3), (2, 3), (0, 2)], 0, 3)


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("graph", [UNEVEN, EVEN], ids=["uneven", "even"])
@pytest.mark.parametrize("ends", [(0, 1), (0, 3), (2, 5)], ids=str)
def test_the_constants_where_paths_differ_in_length(perturbation, graph, ends):
    """S takes off what the shortest path is given, not the longest: some choice may be as short as that."""
    edges, source, sink = graph
    learner = aw.FollowThePerturbedLeader(
        edges=edges, source=source, sink=sink, epsilon=0.5, perturbation=perturbation, loss_range=ends
    )
    learner.observe_many(np.random.default_rng(0).uniform(*ends, (20, len(edges))))
    cost, total = naive_paths.perturbation_constants(naive_paths.all_paths(*graph), *ends, perturbation)
    made = {one.theorem.name: one for one in (learner.certificate(), *learner.certificate().others)}
    certificate = made["regret of the perturbed leader"]
    assert certificate.inputs["Q"] == pytest.approx(cost, rel=1e-12)
    assert certificate.inputs["S"] == pytest.approx(total, rel=1e-12)
    assert certificate.bound == pytest.approx(0.5 * cost * 20 + total / 0.5, rel=1e-12)
    assert learner.clone({"epsilon": None, "horizon": 20}).epsilon == pytest.approx(math.sqrt(total / cost / 20))


@pytest.mark.parametrize("ends", [(0, 1), (0, 4), (-1, 1)])
def test_one_choice_needs_no_perturbation(ends):
    learner = aw.FollowThePerturbedLeader(1, horizon=10, loss_range=ends)
    assert learner.epsilon == 1 / (ends[1] - ends[0])
    assert learner.choose() == 0
    learner.observe([ends[1]])
    assert learner.certificate().observed == 0


def test_many_paths():
    learner = aw.FollowThePerturbedLeader(edges=[(i, i + 1, j) for i in range(400) for j in range(10)], horizon=30)
    assert learner.graph.path_count == 10**400
    learner.observe_many(np.random.default_rng(0).random((30, 4000)))
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.HOLDS
    log_paths = 400 * math.log(10)
    assert certificate.inputs["S"] == pytest.approx(math.sqrt(2 * 400 * log_paths) + log_paths)
    assert len(learner.choose()) == 400


def test_one_choice_has_no_regret():
    for options in [*KINDS, {"perturbation": "uniform"}]:
        learner = aw.FollowThePerturbedLeader(1, **options)
        learner.observe_many([[0.5]] * 3)
        assert (learner.loss, learner.regret, learner.choose()) == (1.5, 0, 0)
        assert learner.certificate().verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("loss_range", "epsilon"), [((0, 1e100), None), ((-1e100, 1e100), 1e-150), ((0, 1e-99), 1e150)]
)
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_extreme_losses_lead_to_no_nonsense(loss_range, epsilon, perturbation):
    learner = aw.FollowThePerturbedLeader(4, epsilon=epsilon, perturbation=perturbation, loss_range=loss_range)
    losses = np.random.default_rng(0).choice(loss_range, (20, 4))
    assert np.isin(learner.observe_many(losses), losses).all()
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.HOLDS
    assert math.isfinite(learner.regret)
    str(certificate), certificate.to_dict()


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n_experts must be given, or edges, but not both; received None"),
        ({"n_experts": 2, "edges": DIAMOND}, "n_experts must be given, or edges, but not both; received 2"),
        ({"n_experts": 0}, "n_experts must be a whole number of experts, at least 1; received 0"),
        ({"n_experts": True}, "n_experts must be a whole number of experts"),
        ({"n_experts": 2.0}, "n_experts must be a whole number of experts"),
        ({"n_experts": 2, "source": "s"}, "source and sink must be left out where there are no edges"),
        ({"n_experts": 2, "epsilon": 0}, "epsilon must be a positive number"),
        ({"n_experts": 2, "epsilon": "1"}, "epsilon must be a positive number"),
        ({"n_experts": 2, "epsilon": 1e-300}, "epsilon must be a positive number"),
        ({"n_experts": 2, "horizon": -1}, "horizon must be a whole number of rounds, at least 1; received -1"),
        ({"n_experts": 2, "epsilon": 1, "horizon": 2}, "horizon must be left out where epsilon is given; received 2"),
        (
            {"n_experts": 2, "perturbation": "normal"},
            "perturbation must be 'exponential' or 'uniform'; received 'normal'",
        ),
        ({"n_experts": 2, "perturbation": []}, "perturbation must be 'exponential' or 'uniform'"),
        ({"n_experts": 2, "loss_range": (1, 1)}, "loss_range must be a pair (low, high), low < high"),
        ({"n_experts": 2, "seed": 2**64}, "seed must be a whole number, at least 0 and below 2^64"),
        (
            {"edges": DIAMOND, "loss_range": (-1, 1)},
            "loss_range must be of numbers not below 0 where paths differ in length",
        ),
        ({"edges": [("a", "b"), ("b", "a")]}, "edges must be without a cycle"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        aw.FollowThePerturbedLeader(**options)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([0, 0], "losses must be 3 numbers, one for each expert; received an array of shape (2,)"),
        (
            [0, math.nan, 0],
            "losses must be numbers from 0 to 1, the loss_range, none missing; received nan for expert 1",
        ),
        ([0, 0, 1.5], "received 1.5 for expert 2"),
        ([0, 0, None], "losses must be numbers"),
        ({0: 1, 1: 1, 2: 0}, "losses must be a sequence, one number for each expert"),
    ],
)
def test_bad_losses_leave_it_as_it_was(losses, message):
    learner = aw.FollowThePerturbedLeader(3)
    learner.observe([0, 1, 0])
    before = learner.state()
    with pytest.raises(InputError, match=re.escape(message)):
        learner.observe(losses)
    with pytest.raises(InputError):
        learner.observe_many([[0, 1, 0], losses])
    assert same_value(learner.state(), before)


def test_negative_costs_where_they_are_allowed():
    for options in ({"edges": DIAMOND, "perturbation": "uniform"}, {"edges": DIAMOND[:4]}, {"n_experts": 4}):
        learner = aw.FollowThePerturbedLeader(**options, loss_range=(-1, 0))
        learner.observe_many(-np.random.default_rng(0).random((20, len(learner.graph.edges))))
        assert learner.certificate().verdict is Verdict.HOLDS


def test_experts_have_losses_and_edges_have_costs():
    experts, paths = aw.FollowThePerturbedLeader(2), aw.FollowThePerturbedLeader(edges=DIAMOND)
    assert not hasattr(experts, "edge_costs")
    assert not hasattr(paths, "expert_losses")
    assert not hasattr(paths, "best_expert")
    assert paths.n_experts is None
    assert repr(experts) == "FollowThePerturbedLeader of 2 experts: 0 rounds, loss 0"
    assert repr(paths).startswith("FollowThePerturbedLeader on PathGraph: 5 edges")
    assert (experts.loss_range, experts.horizon) == ((0.0, 1.0), None)


@pytest.mark.parametrize("options", [*KINDS, {"perturbation": "uniform", "seed": 9, "loss_range": (0, 2)}], ids=str)
@pytest.mark.parametrize("choices", [{"n_experts": 5}, {"edges": DIAMOND}], ids=["experts", "graph"])
def test_copies_and_files_go_on_as_the_original(options, choices, tmp_path):
    learner = aw.FollowThePerturbedLeader(**choices, **options)
    losses = np.random.default_rng(3).random((8, 5))
    learner.observe_many(losses)
    aw.save(learner, tmp_path / "leader")
    others = [learner.copy(), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner)), aw.load(tmp_path / "leader")]
    for other in others:
        assert other == learner
        assert other.choose() == learner.choose()
        other.observe_many(losses)
        assert other != learner
    learner.observe_many(losses)
    assert all(other == learner for other in others)
    assert learner.clone() == aw.FollowThePerturbedLeader(**choices, **options)
    assert learner.clone({"seed": 77}) != learner.clone()


def test_missing_losses_are_refused_as_announced():
    learner = aw.FollowThePerturbedLeader(3)
    assert not learner.sleeping
    with pytest.raises(InputError, match="none missing"):
        learner.observe([0.5, float("nan"), 0.5])
    assert learner.rounds == 0


def test_the_bound_for_small_losses_beyond_all_numbers_is_none():
    assert SmallLossBound.bound(7.0, 100.0, 2.0, 3.0) == math.inf
    assert SmallLossBound.bound(6.99, 100.0, 2.0, 3.0) == pytest.approx(math.exp(699) * (2 + 3 / 6.99))
    assert SmallLossBound.bound(0.1, 2.0, 5.0, 3.0) == pytest.approx(math.exp(0.2) * (5 + 30) - 5)
