"""The rate that falls no further than the losses ask for: constant regret, any range, any unit."""

import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import Verdict
from afterwit.core.storage import load, save
from expert_cases import Case, plain

SCALES = (1e-12, 1e-6, 1.0, 1e6, 1e12)


def judged(learner):
    """All certificates by the names of their theorems, none of them violated."""
    certificate = learner.certificate()
    found = {each.theorem.name: each for each in (certificate, *certificate.others)}
    for each in found.values():
        assert each.verdict is not Verdict.VIOLATED, str(each)
    return found


# ---------------------------------------------------------------------- constant regret under the square loss


def test_probabilities_have_constant_regret_with_nothing_declared():
    random = np.random.default_rng(0)
    advice = random.random((20_000, 4))
    outcomes = (random.random(20_000) < advice[:, 1]).astype(float)
    learner = aw.ExponentialWeights(4)
    learner.learn_many(advice, outcomes)
    made = learner.certificate(advice, outcomes)
    assert made.theorem.name == "adaptive rate bound"
    largest = ((advice - outcomes[:, np.newaxis]) ** 2).max()
    assert 2 * largest * math.log(4) <= made.bound <= (2 * math.log(4) + 17 / 16) * largest
    assert made.observed <= made.bound
    declared = aw.ExponentialWeights(4, loss_range=(0, 1))
    declared.learn_many(advice, outcomes)
    made = declared.certificate(advice, outcomes)
    assert (made.theorem.name, made.bound) == ("exp-concave bound", 2 * math.log(4))
    assert "promised" in str(made)
    assert declared.state()["rate"] == 0.5


def contrary_squares(random, n, rounds, scale, growing):
    """Outcomes as far from the forecast as they can be, in ranges that grow; sleepers that wake up late and are right."""
    learner, largest = aw.ExponentialWeights(n), 0.0
    for t in range(rounds):
        reach = scale * (growing ** (t // 5) if growing else 1.0)
        row = random.choice([0.0, 0.5, 1.0], n) if random.random() < 0.5 else random.random(n)
        asleep = random.random(n) < random.choice([0.0, 0.0, 0.6])
        asleep[int(random.integers(n))] = False
        row = np.where(asleep, np.nan, row) * reach
        outcome = reach * float(learner.predict_one(row) < reach / 2)
        if t > rounds // 2:
            row[-1] = outcome
        learner.learn_one(row, outcome)
        largest = max(largest, np.nanmax((row - outcome) ** 2))
        if t % 10 == 0:
            learner = learner.copy()
    return learner, largest


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("growing", [None, 1.3, 4.0, 1e3])
def test_the_bound_for_squares_holds_against_adversaries(scale, growing):
    random = np.random.default_rng(1)
    for _ in range(20 if aw.compiled else 3):
        n, rounds = int(random.integers(2, 6)), 60 if growing != 1e3 else 30
        learner, largest = contrary_squares(random, n, rounds, scale, growing)
        made = judged(learner)["adaptive rate bound"]
        assert made.verdict is Verdict.HOLDS
        assert learner.regrets.max() <= made.bound * (1 + 1e-9)
        assert made.bound <= aw.bounds.bound("exponential-weights-square", experts=n, largest_loss=largest)


def test_a_round_costs_only_where_the_largest_loss_grows():
    """By hand: two experts, largest losses 1, then 4, then 4."""
    learner = aw.ExponentialWeights(2)
    learner.learn_one([0.0, 1.0], 1.0)
    assert (learner.state()["rate"], learner.state()["cost"]) == (0.5, 0.0)
    learner.learn_one([0.0, 1.0], 2.0)
    # The range is 3, and eta - k = 1/2 - 1/8.
    assert learner.state()["cost"] == pytest.approx((1 / 2 - 1 / 8) * 9 / 8)
    assert learner.state()["rate"] == 1 / 8
    learner.learn_one([0.0, 1.0], -1.0)
    assert learner.state()["cost"] == pytest.approx((1 / 2 - 1 / 8) * 9 / 8)
    cost = learner.state()["cost"]
    assert learner.certificate().bound == pytest.approx(8 * math.log(2) + cost)


# ---------------------------------------------------------------------- ranges that grow


LOSSES = ("absolute", "percentage", "pinball(0.2)", "square")


@pytest.mark.parametrize("loss", LOSSES)
def test_numbers_of_any_size_are_taken_with_nothing_declared(loss):
    """Loads of 50,000 MW: a first use that says nothing of ranges."""
    random = np.random.default_rng(2)
    load_of_day = 50_000 + 8_000 * np.sin(np.arange(400) / 20) + random.normal(0, 900, 400)
    advice = load_of_day[:, np.newaxis] + random.normal([1500, -400, 0], [500, 700, 2500], (400, 3))
    learner = aw.ExponentialWeights(3, loss=loss)
    learner.learn_many(advice, load_of_day)
    made = learner.certificate(advice, load_of_day)
    assert made.verdict is Verdict.HOLDS
    assert learner.regret <= made.bound
    assert learner.best_expert == 1


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", ["absolute", "square"])
def test_the_bound_by_ranges_holds_where_the_favourite_loses(loss, scale):
    random = np.random.default_rng(3)
    for units in (1.0, 10.0, 1e3):
        for _ in range(10 if aw.compiled else 2):
            n = int(random.integers(2, 6))
            learner, rows = aw.ExponentialWeights(n, loss=loss), []
            for _ in range(80):
                row = random.random(n) * random.integers(0, 2) * 0.2
                row[np.argmax(learner.weights)] = 1.0
                rows.append(row * scale * units ** random.integers(0, 4) + scale * random.integers(-2, 3))
                learner.observe(rows[-1])
            spreads = np.ptp(rows, axis=1)
            by_ranges = aw.bounds.bound(
                "exponential-weights-adaptive",
                experts=n,
                squared_ranges=float((spreads**2).sum()),
                largest_range=float(spreads.max()),
            )
            made = judged(learner)["adaptive rate bound"]
            assert made.verdict is Verdict.HOLDS
            assert learner.regret <= made.bound * (1 + 1e-9)
            assert made.bound <= by_ranges * (1 + 1e-9)


def test_the_first_losses_that_differ_set_the_rate():
    """It is that of the textbook for one round: sqrt(8 ln N) over the range."""
    learner = aw.ExponentialWeights(3)
    learner.observe([5.0, 5.0, 5.0])
    assert (learner.state()["rate"], learner.weights.tolist()) == (0.0, [1 / 3] * 3)
    learner.observe([7.0, 3.0, 6.0])
    assert learner.state()["rate"] == pytest.approx(math.sqrt(8 * math.log(3)) / 4)
    assert learner.state()["cost"] == pytest.approx(4 * math.sqrt(math.log(3) / 8))
    many = aw.ExponentialWeights(10_000)
    many.observe(np.arange(10_000.0))
    assert many.state()["cost"] == 9_999


OPTIONS = [{"loss": loss} for loss in LOSSES] + [{"gradient": True}, {"loss": "pinball(0.9)", "gradient": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("power", [-120, -1, 1, 90])
def test_a_unit_changes_no_weight(options, power):
    """Powers of two, bit for bit: the squares of such numbers are exact, too."""
    random = np.random.default_rng(4)
    advice, outcomes = random.normal(size=(60, 4)) + 2, random.normal(size=60) + 5
    advice[random.random((60, 4)) < 0.3] = np.nan
    advice[:, 0] = random.random(60) * (1 + np.arange(60))
    unit = 2.0**power
    one, other = aw.ExponentialWeights(4, **options), aw.ExponentialWeights(4, **options)
    for row, outcome in zip(advice, outcomes, strict=True):
        assert one.learn_one(row, outcome) * unit == other.learn_one(row * unit, outcome * unit)
        assert one.weights.tolist() == other.weights.tolist()
    judged(other)


def test_advice_and_losses_in_turn_are_both_paid_for():
    random = np.random.default_rng(5)
    for options in ({}, {"loss_range": (0, 1)}, {"loss": "absolute"}, {"loss": "log", "loss_range": (0, 5)}):
        case = Case("ExponentialWeights", options)
        for _ in range(10 if aw.compiled else 2):
            learner, twin = aw.ExponentialWeights(3, **options), case.naive(3)
            for _ in range(60):
                row = random.uniform(0.05, 0.95, 3)
                row[int(random.integers(3))] = np.nan
                if random.random() < 0.5:
                    outcome = float(learner.predict_one(row) < 0.5)
                    learner.learn_one(row, outcome)
                    twin.play(plain(row), outcome)
                else:
                    row[0] = 1.0 if learner.weights[0] > 1 / 3 else 0.0
                    learner.observe(row)
                    twin.watch(plain(row))
                assert learner.weights == pytest.approx(twin.weights, rel=1e-9)
            made = judged(learner)
            assert made["adaptive rate bound"].bound == pytest.approx(
                made["adaptive rate bound"].theorem.bound(math.log(3), twin.adaptive_rate(), twin.cost)
                * (options.get("loss_range", (0, 1))[1])
            )
            assert learner.regrets.max() <= made["adaptive rate bound"].bound


# ---------------------------------------------------------------------- what is chosen where nothing is said


@pytest.mark.parametrize(
    ("options", "schedule", "loss_range", "rate"),
    [
        ({}, "adaptive", None, 0.0),
        ({"loss": "absolute"}, "adaptive", None, 0.0),
        ({"gradient": True}, "adaptive", None, 0.0),
        ({"loss": "log", "gradient": True}, "adaptive", None, 0.0),
        ({"loss_range": (0, 4)}, "adaptive", (0.0, 4.0), 0.5),
        ({"loss_range": (-1, 1)}, "adaptive", (-1.0, 1.0), 1.0),
        ({"loss_range": (-2, -1)}, "adaptive", (-2.0, -1.0), 0.0),
        ({"loss": "log"}, None, None, 1.0),
        ({"loss": "log", "loss_range": (0, 3)}, "adaptive", (0.0, 3.0), 3.0),
        ({"loss": "absolute", "loss_range": (0, 4)}, "decreasing", (0.0, 4.0), None),
        ({"gradient": True, "loss_range": (-1, 1)}, "decreasing", (-1.0, 1.0), None),
        ({"loss": "zero-one"}, "decreasing", (0.0, 1.0), None),
        ({"rate": 0.5}, None, (0.0, 1.0), 0.5),
        ({"horizon": 8}, None, (0.0, 1.0), None),
        ({"schedule": "doubling"}, "doubling", (0.0, 1.0), None),
        ({"schedule": "decreasing"}, "decreasing", (0.0, 1.0), None),
    ],
    ids=str,
)
def test_what_is_chosen(options, schedule, loss_range, rate):
    learner = aw.ExponentialWeights(3, **options)
    assert (learner.parameters["schedule"], learner.parameters["loss_range"]) == (schedule, loss_range)
    if rate is not None:
        assert learner.state()["rate"] == rate
    # What was chosen is what is said: made anew of that, it is the same learner.
    assert aw.ExponentialWeights(**learner.parameters) == learner


def test_a_model_of_before_means_what_it_meant(tmp_path):
    """Files of before say "decreasing" and (0, 1), and have nothing of the adaptive rate."""
    losses = np.random.default_rng(6).random((30, 3))
    learner = aw.ExponentialWeights(3, schedule="decreasing")
    learner.observe_many(losses)
    state = {name: value for name, value in learner.state().items() if name not in ("largest", "cost", "infinite")}
    again = aw.ExponentialWeights(n_experts=3, schedule="decreasing", loss_range=(0.0, 1.0))
    again.restore(state)
    assert again == learner
    assert judged(again)["decreasing rate bound"].theorem.beforehand
    log = aw.ExponentialWeights(2, loss="log")
    log.learn_many([[0.2, 0.6], [0.3, 0.1]], [1, 0])
    before = {name: value for name, value in log.state().items() if name not in ("largest", "cost", "infinite")}
    again = aw.ExponentialWeights(2, loss="log")
    again.restore(before)
    save(again, tmp_path / "model")
    assert load(tmp_path / "model") == log


def test_a_state_whose_rate_does_not_follow_is_refused():
    learner = aw.ExponentialWeights(3)
    learner.learn_many(np.random.default_rng(7).random((9, 3)), np.ones(9))
    state = learner.state()
    for change in (
        {"rate": 9.0},
        {"largest": 2 * state["largest"]},
        {"cost": 5.0},
        {"infinite": np.ones(3, dtype=int)},
    ):
        with pytest.raises(aw.errors.InputError, match="must be"):
            learner.restore({**state, **change})
    fixed = aw.ExponentialWeights(3, rate=0.5)
    for name in ("largest", "cost"):
        with pytest.raises(aw.errors.InputError, match=f"{name} must be 0, because the schedule is not adaptive"):
            fixed.restore({**fixed.state(), name: 1.0})
    ranged = aw.ExponentialWeights(3, loss_range=(0, 1))
    with pytest.raises(aw.errors.InputError, match=r"largest must be 1\.0, the end of loss_range"):
        ranged.restore({**ranged.state(), "largest": 0.5, "rate": 1.0})


def test_a_loss_outside_a_declared_range_names_the_remedy():
    for learner in (aw.ExponentialWeights(2, rate=0.5), aw.ExponentialWeights(2, loss_range=(0, 1))):
        with pytest.raises(
            aw.errors.InputError, match="leave out loss_range, rate, horizon and schedule, and it needs no"
        ):
            learner.learn_one([0.0, 60_000.0], 50_000.0)
    with pytest.raises(
        aw.errors.InputError,
        match="AdaHedge, AggregatingAlgorithm, BOA, ExponentialWeights, MLpol and PolynomialWeights need no",
    ):
        aw.FixedShare(2, share=0.1, rate=1.0).learn_one([0.0, 60_000.0], 50_000.0)
    with pytest.raises(aw.errors.InputError, match="leave out loss_range, and it needs none"):
        aw.MLpol(2, loss_range=(0, 1), gradient=False).learn_one([0.0, 60_000.0], 50_000.0)


def test_swap_regret_over_it_needs_no_horizon():
    """The copies' bounds add up to what a horizon known beforehand would give, but for a factor."""
    losses = np.random.default_rng(8).integers(0, 2, (2000, 4)).astype(float)
    learner = aw.SwapRegret(aw.ExponentialWeights(4))
    learner.observe_many(losses)
    made = judged(learner)
    assert list(made) == ["sum of the base bounds"]
    tuned = aw.bounds.bound("swap-regret-tuned", experts=4, rounds=2000)
    assert made["sum of the base bounds"].bound <= 1.5 * tuned + 2 * 4


def test_differences_whose_squares_are_no_numbers_count_as_none():
    learner = aw.ExponentialWeights(3)
    learner.observe([1e-200, 0.0, np.nan])
    learner.learn_one([1e-100, 0.0, np.nan], 0.0)
    state = learner.state()
    assert (state["rate"], state["cost"], state["largest"], state["cumulative"].tolist()) == (0.0, 0.0, 0.0, [0.0] * 3)
    assert learner.certificate().verdict is Verdict.HOLDS


def test_a_sleeper_is_shown_the_tangent_at_the_forecast():
    """Which is 0 there, however the forecast is rounded: between 1e16 and 1e16 + 2 there is no number."""
    learner = aw.ExponentialWeights(4, loss="absolute", gradient=True)
    row = np.array([1e16, 1e16 + 2, 1e16 + 2, np.nan])
    forecast = learner.learn_one(row, 0.0)
    assert forecast in row
    shown = np.where(np.isnan(row), 0.0, row - forecast)
    assert learner.state()["cumulative"].tolist() == (shown - shown.min()).tolist()
