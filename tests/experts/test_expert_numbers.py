"""Numbers large, small, many and equal: weights stay weights."""

import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import Verdict
from expert_cases import CASES, PLAIN, Case


def are_weights(weights):
    assert np.isfinite(weights).all(), weights
    assert (weights >= 0).all(), weights
    assert math.isclose(weights.sum(), 1, rel_tol=1e-9), weights


def sound(learner):
    are_weights(learner.weights)
    assert np.isfinite(learner.regrets).all()
    assert math.isfinite(learner.loss)
    certificate = learner.certificate()
    for each in (certificate, *certificate.others):
        assert each.verdict is not Verdict.VIOLATED, str(each)


def watching(case):
    """The case such that it takes losses alone, or None."""
    if case.name == "WeightedMajority":
        return None
    return Case(case.name, {**case.options, "gradient": False}) if case.gradient else case


WATCHING = [case for case in map(watching, PLAIN) if case is not None]
FREE = [case for case in WATCHING if case.scale_free]


@pytest.mark.installed_only
@pytest.mark.parametrize("case", [case for case in WATCHING if case.name != "SwapRegret"], ids=str)
def test_a_million_rounds(case):
    random = np.random.default_rng(0)
    losses = random.random((1_000_000, 3))
    losses[:, 1] *= 0.9
    losses[:, 2] = 1.0  # always wrong
    learner = case.make(3)
    learner.observe_many(losses)
    sound(learner)
    assert learner.rounds == 1_000_000
    assert learner.best_expert == 1
    assert np.allclose(learner.expert_losses, losses.sum(axis=0), rtol=1e-9)
    # Then the worst becomes the best.
    learner.observe_many(losses[:200_000, ::-1])
    sound(learner)


@pytest.mark.parametrize("case", FREE, ids=str)
@pytest.mark.parametrize("unit", [1e12, 1e-12, 1e-150, 1e140])
def test_losses_of_any_size(case, unit):
    random = np.random.default_rng(1)
    learner = case.make(3)
    for _ in range(4):
        learner.observe_many(random.random((30, 3)) * unit)
        sound(learner)


@pytest.mark.parametrize("case", FREE, ids=str)
def test_losses_of_very_different_sizes(case):
    random = np.random.default_rng(2)
    for units in ((1e12, 1e-12), (1e-12, 1e12), (1e-300, 1e100), (5e-324, 1.0), (1e-310, 1e-160)):
        learner = case.make(3)
        for t in range(60):
            learner.observe(random.random(3) * units[t // 10 % 2])
            are_weights(learner.weights)
        sound(learner)
        mixed = case.make(3)
        mixed.observe_many(random.random((60, 3)) * np.array([units[0], units[1], 1.0]))
        sound(mixed)


@pytest.mark.parametrize("case", [case for case in CASES if case.gradient and case.scale_free], ids=str)
@pytest.mark.parametrize("unit", [1e6, 1e-6])
def test_slopes_of_any_size(case, unit):
    if case.loss == "log":
        pytest.skip("probabilities have no unit")
    advice, outcomes = case.rounds(np.random.default_rng(3), 80, 3, asleep=0.3)
    learner = case.make(3)
    learner.learn_many(advice * unit, outcomes * unit)
    sound(learner)


@pytest.mark.parametrize("case", WATCHING, ids=str)
def test_losses_that_are_all_alike_teach_nothing(case):
    for loss in (0.0, 0.1, 1 / 3, 1.0):
        learner = case.make(3)
        learner.observe_many(np.full((50, 3), loss))
        sound(learner)
        if case.name not in ("MLpol", "PolynomialWeights", "Exp3"):
            # These two follow the sign of a sum that is 0 but for rounding; the last sees one loss only.
            assert np.allclose(learner.weights, 1 / 3)
        if case.name != "Exp3":
            assert abs(learner.regret) < 1e-12


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_forecasts_that_are_all_alike_are_the_forecast(case):
    learner = case.make(3)
    for outcome in (1.0, 0.0, 1.0):
        assert learner.learn_one([1.0] * 3, outcome) == 1.0
        are_weights(learner.weights)
    assert learner.regret == 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_single_expert_is_followed(case):
    if case.name == "SwapRegret" and case.base.options.get("horizon"):
        return
    advice, outcomes = case.rounds(np.random.default_rng(4), 40, 1)
    learner = case.make(1)
    assert np.array_equal(learner.learn_many(advice, outcomes), advice[:, 0])
    assert learner.weights.tolist() == [1.0]
    assert abs(learner.regret) < 1e-12
    sound(learner)


@pytest.mark.parametrize("case", WATCHING, ids=str)
def test_five_thousand_experts(case):
    n = 60 if case.name == "SwapRegret" else 5_000  # N copies of N weights, solved for in each round: N^3
    if case.name == "SwapRegret" and not aw.compiled:
        n = 15
    losses = np.random.default_rng(5).random((6, n))
    losses[:, 7] = 0.0
    learner = case.make(n)
    learner.observe_many(losses)
    sound(learner)
    if case.name not in ("Exp3", "SwapRegret"):
        assert learner.best_expert == 7


@pytest.mark.parametrize("case", WATCHING, ids=str)
def test_one_that_is_always_right_and_others_always_wrong(case):
    learner = case.make(3)
    learner.observe_many(np.tile([1.0, 0.0, 1.0], (400, 1)))
    sound(learner)
    assert learner.best_expert == 1 or case.name == "Exp3"
    assert learner.weights[1] > 0.8
    learner.observe_many(np.tile([0.0, 1.0, 1.0], (400, 1)))
    sound(learner)


def test_rates_beyond_reason():
    for learner in (
        aw.ExponentialWeights(3, rate=1e300),
        aw.ExponentialWeights(3, rate=1e-300),
        aw.FixedShare(3, share=1e-290, rate=1e6),
        aw.FixedShare(3, share=1 - 1e-15, rate=1e-6),
        aw.SleepingExperts(3, epsilon=1e300),
        aw.SleepingExperts(3, epsilon=1e-300),
        aw.RandomizedWeightedMajority(3, beta=1e-300),
        aw.RandomizedWeightedMajority(3, beta=1 - 1e-15),
        aw.PolynomialWeights(3, power=9e5),
        aw.Exp3(3, rate=1e3),
        aw.SwapRegret(aw.ExponentialWeights(3, rate=1e5)),
        aw.SwapRegret(aw.ExponentialWeights(3, rate=1440.0)),
    ):
        random = np.random.default_rng(6)
        for _ in range(60):
            learner.observe(random.integers(0, 2, 3).astype(float))
            are_weights(learner.weights)
        sound(learner)


def test_a_forecast_stays_between_the_advice():
    """However the mean is rounded: the log loss of a forecast is then a number."""
    tiny = np.nextafter(0.0, 1.0)
    learner = aw.ExponentialWeights(3, loss="log")
    assert learner.learn_one([tiny] * 3, 1) == tiny
    edge = np.nextafter(1.0, 0.0)
    assert learner.learn_one([edge] * 3, 0) == edge
    sound(learner)
    for value in (0.1, 1 / 3, 1e150, -7.7):
        assert aw.BOA(7).predict_one([value] * 7) == value


def test_losses_too_large_to_square_are_refused():
    learner = aw.MLpol(2)
    for advice, outcome in (([1e76, 0.0], 0.0), ([1e200, 0.0], 0.0), ([1e308, -1e308], 1e308)):
        with pytest.raises(aw.errors.InputError, match="must be a finite number below 1e\\+150"):
            learner.learn_one(advice, outcome)
    assert learner == aw.MLpol(2)


# ---------------------------------------------------------------------- AdaHedge, whose rate follows from differences


@pytest.mark.parametrize("gradient", [False, True])
def test_adahedge_gives_equal_experts_equal_shares_whoever_sleeps(gradient):
    """A cost that is pure rounding would make the rate huge, and a sleeper's loss, rounded, would decide who gets all."""
    for seed in range(100 if aw.compiled else 10):
        random = np.random.default_rng(seed)
        rounds, n = 30, int(random.integers(2, 7))
        advice = np.repeat(random.normal(size=(rounds, 1)) * 10.0 ** random.integers(-3, 9), n, axis=1)
        asleep = random.random((rounds, n)) < 0.4
        asleep[np.arange(rounds), random.integers(0, n, rounds)] = False
        learner = aw.AdaHedge(n, gradient=gradient)
        learner.learn_many(np.where(asleep, np.nan, advice), random.normal(size=rounds))
        assert (learner.weights == 1 / n).all()
        state = learner.state()
        assert (state["delta"], state["squared_ranges"]) == (0.0, 0.0)


@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_adahedge_does_not_change_when_losses_are_shifted(asleep):
    """Differences of a few units in the last place of the losses count as they are, not as the rounded mixture has it."""
    for seed in range(100 if aw.compiled else 10):
        random = np.random.default_rng(seed)
        rounds, n = 40, int(random.integers(2, 7))
        differences = np.where(random.random((rounds, n)) < 0.5, random.integers(0, 4, (rounds, n)), 0) * 2.0**-20
        sleepers = random.random((rounds, n)) < asleep
        sleepers[np.arange(rounds), random.integers(0, n, rounds)] = False
        differences[sleepers] = np.nan
        shift = 2.0**31 * random.integers(1, 3, (rounds, 1))  # one unit in the last place is 2^-21 or 2^-20
        plain, shifted = aw.AdaHedge(n, gradient=False), aw.AdaHedge(n, gradient=False)
        for t in range(rounds):
            plain.observe(differences[t])
            shifted.observe(differences[t] + shift[t])
            assert np.allclose(shifted.weights, plain.weights, rtol=1e-7, atol=1e-12), t
        assert math.isclose(shifted.state()["delta"], plain.state()["delta"], rel_tol=1e-7)
        assert shifted.certificate().bound == plain.certificate().bound


def test_adahedge_by_slopes_pays_for_differences_in_the_last_place():
    """The forecast is rounded to one of the two; with a cost of 0 the better one would get all the weight at once."""
    for seed in range(50):
        random = np.random.default_rng(seed)
        n = int(random.integers(2, 7))
        advice = np.full(n, random.uniform(1, 2))
        advice[random.permutation(n)[: n // 2]] += 2.0**-52
        learner = aw.AdaHedge(n)
        learner.learn_one(advice, 0.0)
        state = learner.state()
        # The first cost is the mean of equal shares less the least.
        assert math.isclose(state["delta"], state["largest_range"] * (n // 2) / n, rel_tol=1e-9)


# ---------------------------------------------------------------------- ranges of any width


RANGED = [case for case in CASES if "loss_range" in case.make(2).parameters]
RANGES = [
    (0.0, 1e-150),
    (-1e-150, 1e-150),
    (0.0, 9e149),
    (-9e149, 9e149),
    (1.0, 1 + 2.0**-52),
    (1e149, math.nextafter(1e149, math.inf)),
]


@pytest.mark.parametrize("case", RANGED, ids=str)
@pytest.mark.parametrize("ends", RANGES, ids=str)
def test_the_narrowest_and_the_widest_ranges(case, ends):
    """What is accepted makes no infinity and no NaN: not in weights, not in the state, not in a bound."""
    low, high = ends
    if case.gradient and not low <= 0 <= high:
        return
    learner = Case(case.name, {**case.options, "loss_range": ends}, case.base).make(3)
    random = np.random.default_rng(4)
    losses = np.clip(low + (high - low) * random.integers(0, 11, (50, 3)) / 10, low, high)
    if case.gradient:  # a loss less the mixture's has to be in the range
        losses = losses / 3 if low < 0 else np.repeat(losses[:, :1], 3, axis=1)
    learner.observe_many(losses)
    sound(learner)
    for name, value in learner.state().items():
        assert name in ("names", "copies") or np.isfinite(value).all(), name
    certificate = learner.certificate(losses)
    for each in (certificate, *certificate.others):
        assert each.bound is None or not math.isnan(each.bound), str(each)
