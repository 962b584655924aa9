"""Every expert algorithm against its slow twin: weights, losses, regrets and forecasts after every round."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import afterwit as aw
from afterwit.data.values import same_value
from expert_cases import CASES, PLAIN, SLEEPY, WATCHING, plain

by_case = pytest.mark.parametrize("case", CASES, ids=str)


def close(ours, expected, scale=1.0):
    return np.allclose(ours, expected, rtol=1e-9, atol=1e-9 * scale)


def agree(learner, twin):
    assert close(learner.weights, twin.weights)
    assert math.isclose(learner.loss, twin.loss, rel_tol=1e-9, abs_tol=1e-12)
    assert close(learner.expert_losses, twin.expert_losses)
    assert close(learner.regrets, twin.regrets, max(1.0, twin.loss))
    spoken = [regret for regret, rounds in zip(twin.regrets, twin.awake_rounds, strict=True) if rounds]
    assert math.isclose(learner.regret, max(spoken, default=0.0), rel_tol=1e-9, abs_tol=1e-9 * max(1.0, twin.loss))
    assert learner.awake_rounds.tolist() == twin.awake_rounds
    assert learner.rounds == twin.rounds


def compare(case, advice, outcomes):
    """Play the rounds with both. How many there were before a decision hung on rounding."""
    learner, twin = case.make(advice.shape[1]), case.naive(advice.shape[1])
    for t, (row, outcome) in enumerate(zip(advice, outcomes.tolist(), strict=True)):
        foreseen = learner.predict_one(row)
        forecast = learner.learn_one(row, outcome)
        assert forecast == foreseen
        expected = twin.play(plain(row), outcome)
        twin.mix([True] * twin.n)
        if twin.fragile:
            return t
        assert math.isclose(forecast, expected, rel_tol=1e-9, abs_tol=1e-12)
        agree(learner, twin)
    return len(outcomes)


@by_case
@pytest.mark.parametrize("n", [1, 2, 4])
def test_with_everyone_awake(case, n):
    random = np.random.default_rng(n)
    if n == 1 and case.options.get("horizon"):
        pytest.skip("a single expert needs no rate")
    played = compare(case, *case.rounds(random, 25, n))
    assert played == 25 or case.name in ("PolynomialWeights", "MLpol", "AdaHedge"), "too much hung on rounding"


@pytest.mark.parametrize("case", SLEEPY, ids=str)
def test_with_sleepers(case):
    for seed in range(2):
        random = np.random.default_rng(seed)
        compare(case, *case.rounds(random, 25, 4, asleep=0.4))


@pytest.mark.parametrize("case", WATCHING, ids=str)
@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_of_losses_alone(case, asleep):
    if asleep and not case.sleeping:
        asleep = 0.0
    losses = case.losses(np.random.default_rng(8), 25, 3, asleep)
    learner, twin = case.make(3), case.naive(3)
    for row in losses:
        own = learner.observe(row)
        expected = twin.watch(plain(row))
        if twin.fragile:
            break
        assert math.isclose(own, expected, rel_tol=1e-9, abs_tol=1e-12)
        agree(learner, twin)


numbers = st.floats(0, 1).map(lambda x: round(x, 6))


@pytest.mark.parametrize("case", [case for case in PLAIN if case.name != "WeightedMajority"], ids=str)
@settings(max_examples=15)
@given(data=st.data())
def test_of_any_losses(case, data):
    """Losses that hypothesis likes: equal, 0, 1, nearly equal."""
    n = data.draw(st.integers(1 if "horizon" not in case.options else 2, 4))
    value = st.one_of(numbers, st.none()) if case.sleeping else numbers
    row = st.lists(value, min_size=n, max_size=n).filter(lambda row: any(v is not None for v in row))
    rows = data.draw(st.lists(row, max_size=6))
    if case.gradient:
        case = type(case)(case.name, {**case.options, "gradient": False})
    learner, twin = case.make(n), case.naive(n)
    for losses in rows:
        learner.observe(losses)
        twin.watch(losses)
        twin.mix([True] * n)
        assume(not twin.fragile)
        agree(learner, twin)


@settings(max_examples=40)
@given(
    rows=st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), max_size=12),
    outcomes=st.lists(st.integers(0, 2), min_size=12, max_size=12),
    beta=st.sampled_from([0, 0.5, 0.25, 0.9]),
)
def test_of_any_votes(rows, outcomes, beta):
    case = type(CASES[0])("WeightedMajority", {"beta": beta})
    assume(
        compare(case, np.array(rows, dtype=float).reshape(-1, 3), np.array(outcomes[: len(rows)], dtype=float))
        == len(rows)
    )


# ---------------------------------------------------------------------- one is many


@by_case
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_many_is_the_loop_of_one(case, asleep):
    advice, outcomes = case.rounds(np.random.default_rng(5), 40, 4, asleep * case.sleeping)
    at_once, one_by_one, in_parts, looking = (case.make(4) for _ in range(4))
    forecasts = at_once.learn_many(advice, outcomes)
    singly = []
    for row, outcome in zip(advice, outcomes, strict=True):
        singly.append(one_by_one.learn_one(row, outcome))
        # Looking on changes nothing.
        before = looking.state()
        foreseen = looking.predict_one(row)
        looking.predict_many(advice[:3])
        _ = looking.weights, looking.regret, looking.certificate(), repr(looking), looking.best_expert
        assert same_value(looking.state(), before)
        assert looking.learn_one(row, outcome) == foreseen == singly[-1]
    assert forecasts.tolist() == singly
    assert same_value(at_once.state(), one_by_one.state())
    assert same_value(at_once.state(), looking.state())
    for start in range(0, 40, 7):
        in_parts.learn_many(advice[start : start + 7], outcomes[start : start + 7])
    assert same_value(at_once.state(), in_parts.state())
    assert at_once == in_parts
    assert at_once.predict_many(advice[:5]).tolist() == [at_once.predict_one(row) for row in advice[:5]]


@pytest.mark.parametrize("case", WATCHING, ids=str)
def test_observe_many_is_the_loop_of_observe(case):
    losses = case.losses(np.random.default_rng(6), 40, 3, 0.3 * case.sleeping)
    at_once, one_by_one = case.make(3), case.make(3)
    own = at_once.observe_many(losses)
    assert own.tolist() == [one_by_one.observe(row) for row in losses]
    assert same_value(at_once.state(), one_by_one.state())
    assert at_once.certificate().assumptions == one_by_one.certificate().assumptions


# ---------------------------------------------------------------------- symmetries


@pytest.mark.parametrize("case", [case for case in CASES if case.loss != "zero-one" and case.name != "Exp3"], ids=str)
def test_experts_in_another_order(case):
    advice, outcomes = case.rounds(np.random.default_rng(7), 30, 4, 0.3 * case.sleeping)
    order = np.array([2, 0, 3, 1])
    one, other = case.make(4), case.make(4)
    first, second = one.learn_many(advice, outcomes), other.learn_many(advice[:, order], outcomes)
    assert close(one.weights[order], other.weights)
    assert close(one.regrets[order], other.regrets)
    if not case.naive(4).draws:
        assert close(first, second)


SCALE_FREE = [case for case in CASES if case.scale_free and case.name != "PolynomialWeights"]


@pytest.mark.parametrize("case", [case for case in SCALE_FREE if case.loss in ("square", "absolute")], ids=str)
@pytest.mark.parametrize("unit", [2.0**40, 2.0**-40, 3.7])
def test_another_unit_gives_the_same_weights(case, unit):
    advice, outcomes = case.rounds(np.random.default_rng(8), 60, 3)
    one, other = case.make(3), case.make(3)
    forecasts = one.learn_many(advice, outcomes)
    scaled = other.learn_many(advice * unit, outcomes * unit)
    assert np.allclose(one.weights, other.weights, rtol=1e-7, atol=1e-9)
    assert np.allclose(forecasts * unit, scaled, rtol=1e-7)


@pytest.mark.parametrize("name", ["AdaHedge", "BOA", "MLpol"])
def test_shifted_losses_give_the_same_weights(name):
    losses = np.random.default_rng(9).random((60, 3))
    shifts = np.random.default_rng(10).normal(size=(60, 1)) * 50
    one, other = (getattr(aw, name)(3, gradient=False) for _ in range(2))
    one.observe_many(losses)
    other.observe_many(losses + shifts)
    assert np.allclose(one.weights, other.weights, rtol=1e-6, atol=1e-9)
    assert np.allclose(one.regrets, other.regrets, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["AdaHedge", "BOA", "MLpol", "PolynomialWeights"])
def test_shifted_forecasts_under_a_gradient(name):
    random = np.random.default_rng(11)
    advice, outcomes = random.random((60, 3)), random.random(60)
    one, other = (getattr(aw, name)(3, gradient=True) for _ in range(2))
    forecasts = one.learn_many(advice, outcomes)
    assert np.allclose(other.learn_many(advice + 8, outcomes + 8) - 8, forecasts, atol=1e-9)


# ---------------------------------------------------------------------- chance


DRAWING = [case for case in CASES if case.loss == "zero-one" and case.name != "WeightedMajority"]


@pytest.mark.parametrize("case", DRAWING, ids=str)
def test_draws_depend_on_the_seed_and_the_round_alone(case):
    advice, outcomes = case.rounds(np.random.default_rng(12), 60, 3)
    options = case.make(3).parameters
    runs = [type(case.make(3))(**{**options, "seed": seed}).learn_many(advice, outcomes).tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("seed", [0, 1, 7, 2**61])
def test_draws_are_distributed_by_the_weights(seed):
    """Losses are 0, so that the weights stay as they are after the first rounds: chi-square over the rest."""
    learner = aw.RandomizedWeightedMajority(4, beta=0.6, seed=seed)
    learner.observe([0.0, 0.5, 1.0, 1.0])
    weights = learner.weights
    # Every expert says its own number, whose loss is 0 under a loss that is always 0.
    calm = aw.RandomizedWeightedMajority(
        4, beta=0.6, seed=seed, loss=aw.losses.function(lambda f, y: 0.0, convex=False)
    )
    calm.restore(learner.state())
    drawn = calm.learn_many(np.tile(np.arange(4.0), (4_000, 1)), np.zeros(4_000)).astype(int)
    assert np.array_equal(calm.weights, weights)
    assert stats.chisquare(np.bincount(drawn, minlength=4), 4_000 * weights).pvalue > 1e-3
    # One draw tells nothing of the next.
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (drawn[:-1], drawn[1:]), 1)
    assert stats.chi2_contingency(pairs).pvalue > 1e-3


def test_draws_of_different_seeds_are_independent():
    advice, outcomes = np.tile([0.0, 1.0], (300, 1)), np.zeros(300)
    loss = aw.losses.function(lambda f, y: 0.0, convex=False)
    runs = np.array([aw.SleepingExperts(2, loss=loss, seed=seed).learn_many(advice, outcomes) for seed in range(60)])
    assert stats.binomtest(int(runs.sum()), runs.size).pvalue > 1e-3
    between = np.corrcoef(runs)[np.triu_indices(60, 1)]
    assert abs(between).max() < 0.3
    assert stats.kstest(runs.sum(axis=1), stats.binom(300, 0.5).cdf).statistic < 0.25


def test_exp3_chooses_what_it_then_learns_from():
    learner, twin = aw.Exp3(["a", "b", "c"], seed=4), aw.Exp3(["a", "b", "c"], seed=4)
    losses = np.random.default_rng(13).random((50, 3))
    for row in losses:
        choice = learner.choose()
        assert learner.choose() == choice
        own = row["abc".index(choice)]
        learner.receive(own)
        assert twin.observe(row) == own
        assert np.array_equal(learner.weights, twin.weights)
    assert math.isclose(learner.loss, twin.loss)
    assert np.isnan(learner.regrets).all()
    assert math.isnan(learner.regret)
    assert np.isnan(learner.expert_losses).all()
