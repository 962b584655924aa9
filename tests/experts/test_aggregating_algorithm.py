"""The aggregating algorithm against its slow twin in decimals, its bound at every round, and its certificate."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
from afterwit.core.storage import load, save
from afterwit.errors import InputError
from naive_aggregating import Aggregating

LOSSES = ("brier", "log")


def vectors(random, rounds, n, kinds, spread=1.0, asleep=0.0, zeros=False):
    """Probability vectors, some nearly 0 or 1; NaN where an expert sleeps."""
    table = random.dirichlet(np.full(kinds, spread), (rounds, n))
    if not zeros:
        table = 0.999 * table + 0.001 / kinds
    table /= table.sum(axis=2, keepdims=True)
    sleepers = random.random((rounds, n)) < asleep
    if rounds:
        sleepers[np.arange(rounds), random.integers(0, n, rounds)] = False
    table[sleepers] = np.nan
    return table


def plain(row):
    """A round as the slow algorithm takes it."""
    return [None if np.isnan(vector).any() else vector.tolist() for vector in row]


def contrary(learner, rounds, random, kinds, n, asleep=0.0, spread=0.3):
    """The outcome is always the one that costs the learner most beyond the best expert."""
    table = vectors(random, rounds, n, kinds, spread, asleep)
    outcomes = []
    for row in table:
        forecast = learner.predict_one(row)
        if learner.parameters["loss"] == "brier":
            own = [((forecast - np.eye(kinds)[k]) ** 2).sum() for k in range(kinds)]
            theirs = [np.nanmin(((row - np.eye(kinds)[k]) ** 2).sum(axis=1)) for k in range(kinds)]
        else:
            own, theirs = -np.log(forecast), [np.nanmin(-np.log(row[:, k])) for k in range(kinds)]
        outcomes.append(int(np.argmax(np.asarray(own) - theirs)))
        learner.learn_one(row, outcomes[-1])
    return table, outcomes


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("asleep", [0.0, 0.4])
@settings(max_examples=20)
@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_forecasts_weights_and_regrets_are_those_of_the_slow_twin(loss, asleep, n, kinds, seed):
    random = np.random.default_rng(seed)
    table = vectors(random, 12, n, kinds, random.choice([0.05, 1.0, 20.0]), asleep)
    outcomes = random.integers(0, kinds, 12)
    learner, slow = aw.AggregatingAlgorithm(n, outcomes=kinds, loss=loss), Aggregating(n, loss)
    for row, outcome in zip(table, outcomes.tolist(), strict=True):
        wanted = slow.play(plain(row), outcome)
        assert np.allclose(learner.learn_one(row, outcome), wanted, rtol=0, atol=1e-13)
    regrets = [-0.0 if regret is None else regret for regret in slow.regrets()]
    assert np.allclose(learner.regrets, regrets, rtol=0, atol=1e-11)
    assert learner.largest_regret == pytest.approx(slow.largest_regret(), abs=1e-11)
    shares = np.array([float(weight / sum(slow.weights)) for weight in slow.weights])
    assert np.allclose(learner.weights, shares, rtol=1e-10, atol=0)
    assert learner.loss == pytest.approx(float(sum(slow.own)), rel=1e-13)


@settings(max_examples=30)
@given(
    st.integers(1, 5),
    st.sampled_from([(0.0, 1.0), (-3.0, 7.0), (1000.0, 1000.5), (0.0, 1e-9)]),
    st.integers(0, 2**32 - 1),
)
def test_the_square_loss_is_that_of_the_slow_twin(n, interval, seed):
    random = np.random.default_rng(seed)
    low, high = interval
    table = low + (high - low) * random.random((12, n)).round(random.integers(0, 3))
    sleepers = random.random(table.shape) < 0.3
    sleepers[:, 0] = False
    outcomes = low + (high - low) * random.random(12).round(random.integers(0, 3))
    table[sleepers] = np.nan
    learner, slow = aw.AggregatingAlgorithm(n, outcomes=interval, loss="square"), Aggregating(n, "square", interval)
    for row, outcome in zip(table, outcomes.tolist(), strict=True):
        wanted = slow.play([None if x != x else x for x in row.tolist()], outcome)
        assert learner.learn_one(row, outcome) == pytest.approx(wanted, abs=1e-13 * (abs(low) + abs(high)))
    # Forecasts around 1000 are rounded to so much, and the regrets are as large as the interval squared.
    slack = 1e-12 * (high - low) ** 2 + 1e-13 * max(abs(low), abs(high)) * (high - low)
    assert np.allclose(learner.regrets, [r or 0.0 for r in slow.regrets()], rtol=0, atol=12 * slack)
    assert learner.certificate(table, outcomes).bound == pytest.approx((high - low) ** 2 / 2 * math.log(n))


@settings(max_examples=150)
@given(st.integers(1, 6), st.integers(2, 10), st.floats(-8, 1), st.integers(0, 2**32 - 1))
def test_no_outcome_costs_more_than_the_mixed_exponents_of_the_experts_losses(n, kinds, spread, seed):
    """The one thing the proof needs of a forecast, and all that it needs."""
    random = np.random.default_rng(seed)
    table = vectors(random, 1, n, kinds, 10.0**spread, zeros=True)
    learner = aw.AggregatingAlgorithm(n, outcomes=kinds)
    weights = random.dirichlet(np.ones(n))
    state = learner.state()
    learner.restore({**state, "rounds": 1, "regrets": np.log(weights), "largest_after": 1})
    forecast = learner.predict_one(table[0])
    assert abs(forecast.sum() - 1) < 1e-14 * kinds
    assert (forecast >= 0).all()
    for k in range(kinds):
        lost = ((table[0] - np.eye(kinds)[k]) ** 2).sum(axis=1)
        mixed = -math.log(math.fsum(weights * np.exp(-lost)))
        assert ((forecast - np.eye(kinds)[k]) ** 2).sum() <= mixed + 1e-14 * n


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kinds", [2, 3, 7, 10])
@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_the_bound_holds_at_every_round_against_contrary_outcomes(loss, kinds, n, asleep):
    random = np.random.default_rng(kinds * n)
    learner = aw.AggregatingAlgorithm(n, outcomes=kinds, loss=loss)
    table, outcomes = contrary(learner, 60, random, kinds, n, asleep)
    again = aw.AggregatingAlgorithm(n, outcomes=kinds, loss=loss)
    worst = []
    for row, outcome in zip(table, outcomes, strict=True):
        again.learn_one(row, outcome)
        worst.append(again.regret)
        assert worst[-1] <= math.log(n) + 1e-12
    assert again.largest_regret == max(worst)
    assert again.largest_regret_after == 1 + int(np.argmax(worst))
    for certificate in (learner.certificate(), learner.certificate(table, outcomes)):
        assert (str(certificate.verdict), certificate.observed) == ("holds", max(worst))
        assert certificate.bound == math.log(n)


def test_two_experts_who_are_certain_come_as_near_to_the_bound_as_one_round_allows():
    """The log loss of the mean of 1 and 0 is ln 2, which is the bound: it is reached with equality."""
    learner = aw.AggregatingAlgorithm(2, loss="log")
    assert learner.learn_one([[1.0, 0.0], [0.0, 1.0]], 0).tolist() == [0.5, 0.5]
    assert learner.largest_regret == math.log(2)
    assert learner.regrets.tolist() == [math.log(2), -math.inf]
    assert learner.expert_losses.tolist() == [0.0, math.inf]
    assert learner.weights.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("loss", LOSSES)
def test_experts_who_say_the_same_are_followed_to_the_last_digit(loss):
    random = np.random.default_rng(1)
    one = vectors(random, 30, 1, 3)
    outcomes = random.integers(0, 3, 30)
    alone = aw.AggregatingAlgorithm(1, outcomes=3, loss=loss)
    assert alone.learn_many(one, outcomes).tolist() == one[:, 0].tolist()
    assert (alone.regret, alone.largest_regret) == (0.0, 0.0)
    same = aw.AggregatingAlgorithm(4, outcomes=3, loss=loss)
    assert np.allclose(same.learn_many(np.repeat(one, 4, axis=1), outcomes), one[:, 0], rtol=0, atol=1e-15)
    assert same.weights.tolist() == [0.25] * 4


def test_the_worst_moment_is_the_first_of_equals_and_knows_no_sleeper():
    """Two who miss on both sides: the learner is better than either. The third is never there, and is nobody's rival."""
    learner = aw.AggregatingAlgorithm(["left", "right", "nobody"], outcomes=3)
    learner.learn_many([{"left": [0.5, 0.5, 0.0], "right": [0.0, 0.5, 0.5]}] * 4, [1] * 4)
    assert learner.regrets[0] == learner.regrets[1] < 0
    assert learner.largest_regret < 0
    assert (learner.largest_regret_after, learner.state()["largest_to"]) == (1, 0)
    assert "to expert 'left'" in str(learner.certificate())


def test_the_certificate_says_what_the_bound_rests_on():
    learner = aw.AggregatingAlgorithm(2)
    learner.learn_one([[0.5, 0.5], [np.nan, np.nan]], 0)
    assert [str(each.basis) for each in learner.certificate().assumptions] == ["enforced by the code"] * 3
    assert [each.statement for each in learner.certificate().assumptions] == [
        "all advice is probability vectors",
        "the brier loss of such forecasts is mixable at the rate 1",
        "an expert that sleeps is shown the loss of the forecast",
    ]
    learner = aw.AggregatingAlgorithm(2, outcomes=(-1, 3), loss="square")
    assert [each.statement for each in learner.certificate().assumptions] == [
        "advice and outcomes are from -1 to 3",
        "the square loss of such forecasts is mixable at the rate 0.125",
    ]


def test_an_expert_with_an_infinite_loss_has_no_weight_any_more():
    learner = aw.AggregatingAlgorithm(["bold", "careful", "asleep"], outcomes=("a", "b"), loss="log")
    rounds = [{"bold": [1.0, 0.0], "careful": [0.6, 0.4], "asleep": None}] * 2
    learner.learn_many(rounds, ["a", "b"])
    assert learner.infinite_losses.tolist() == [1, 0, 0]
    assert learner.regrets[0] == -math.inf
    assert learner.best_expert == "careful"
    assert learner.weights[0] == 0
    row = {"bold": [0.5, 0.5], "careful": [0.1, 0.9]}
    assert learner.learn_one(row, "b").tolist() == [0.1, 0.9]
    # Nobody who has weight is awake: all that are count alike, and the weights stay as they were.
    before = learner.weights.tolist()
    assert learner.learn_one({"bold": [0.25, 0.75]}, "b").tolist() == [0.25, 0.75]
    assert learner.weights.tolist() == before
    table = np.full((4, 3, 2), np.nan)
    table[:2, 0], table[:2, 1] = [1.0, 0.0], [0.6, 0.4]
    table[2, :2], table[3, 0] = [[0.5, 0.5], [0.1, 0.9]], [0.25, 0.75]
    certificate = learner.certificate(table, ["a", "b", "b", "b"])
    assert str(certificate.verdict) == "holds"
    assert "'careful'" in str(certificate)


def test_a_round_that_everybody_ruled_out_changes_nothing():
    learner = aw.AggregatingAlgorithm(2, outcomes=("a", "b"), loss="log")
    learner.learn_one([[0.5, 0.5], [0.2, 0.8]], "a")
    before = learner.state()
    sure = [[1.0, 0.0], [1.0, 0.0]]
    with pytest.raises(InputError, match="positive for what happened, for one expert at least that is awake"):
        learner.learn_one(sure, "b")
    with pytest.raises(InputError, match="what happened in row 1"):
        learner.learn_many([[[0.5, 0.5], [0.2, 0.8]], sure], ["a", "b"])
    after = learner.state()
    assert all(np.array_equal(after[name], value) for name, value in before.items())


def test_weights_too_small_for_a_number_still_count():
    """The one who was right for long is ruled out at last: what is left weighs e^-2000, and the bound holds."""
    table = np.array([[[0.999, 0.001], [0.001, 0.999]]] * 300 + [[[1.0, 0.0], [0.001, 0.999]]])
    outcomes = [0] * 300 + [1]
    learner, slow = aw.AggregatingAlgorithm(2, loss="log"), Aggregating(2, "log")
    learner.learn_many(table, outcomes)
    for row, outcome in zip(table.tolist(), outcomes, strict=True):
        slow.play(row, outcome)
    assert slow.own[-1] > 2000
    assert learner.loss == pytest.approx(float(sum(slow.own)), rel=1e-13)
    assert learner.regrets.tolist() == pytest.approx(slow.regrets(), abs=1e-9)
    assert learner.largest_regret == pytest.approx(slow.largest_regret(), abs=1e-9)
    assert str(learner.certificate(table, outcomes).verdict) == "holds"
    # A third one that sleeps in every second round, and so has lost half as much beyond the learner.
    table = np.concatenate([table, table[:, 1:]], axis=1)
    table[:300:2, 2] = np.nan
    learner, slow = aw.AggregatingAlgorithm(3, loss="log"), Aggregating(3, "log")
    learner.learn_many(table, outcomes)
    for row, outcome in zip(table, outcomes, strict=True):
        slow.play(plain(row), outcome)
    assert slow.own[-1] == pytest.approx(1037, abs=1)
    assert learner.loss == pytest.approx(float(sum(slow.own)), rel=1e-13)
    assert str(learner.certificate(table, outcomes).verdict) == "holds"


def test_confident_experts_keep_the_digits_of_their_losses():
    for near in (1e-18, 1e-12, 2.0**-53):
        table = np.array([[[near, 1 - near], [2 * near, 1 - 2 * near]]] * 40)
        learner, slow = aw.AggregatingAlgorithm(2, loss="log"), Aggregating(2, "log")
        learner.learn_many(table, [1] * 40)
        for row in table.tolist():
            slow.play(row, 1)
        assert learner.loss == pytest.approx(float(sum(slow.own)), rel=1e-12, abs=1e-300)
        assert str(learner.certificate(table, [1] * 40).verdict) == "holds"


def test_losses_alone_are_refused():
    learner = aw.AggregatingAlgorithm(2)
    with pytest.raises(InputError, match="losses alone are not enough"):
        learner.observe([0.5, 0.5])
    with pytest.raises(InputError, match="losses alone are not enough"):
        learner.observe_many([[0.5, 0.5]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outcomes": 1}, "outcomes must be a whole number, at least 2"),
        ({"outcomes": ("a", "a")}, "outcomes must be two or more different labels"),
        ({"loss": "absolute"}, "loss must be 'brier', 'log' or 'square', which are mixable"),
        ({"loss": "square", "outcomes": 3}, "a pair \\(low, high\\), for the loss 'square'"),
        ({"loss": "square", "outcomes": (1.0, 0.0)}, "a pair \\(low, high\\), for the loss 'square'"),
        ({"loss": "square", "outcomes": ("low", "high")}, "a pair \\(low, high\\), for the loss 'square'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        aw.AggregatingAlgorithm(2, **options)


def test_numbers_outside_the_interval_are_refused_with_their_place():
    learner = aw.AggregatingAlgorithm(["a", "b"], outcomes=(0, 10), loss="square")
    with pytest.raises(InputError, match=r"advice\['b'\] must be a number from 0 to 10; outcomes=\(low, high\)"):
        learner.learn_one([5.0, 11.0], 1.0)
    with pytest.raises(InputError, match=r"advice\[1, 'a'\] must be a number from 0 to 10"):
        learner.predict_many([[5.0, 6.0], [-1.0, np.nan]])
    with pytest.raises(InputError, match=r"outcomes\[1\] must be a number from 0 to 10"):
        learner.learn_many([[5.0, 6.0]] * 2, [1.0, 10.5])
    with pytest.raises(InputError, match="outcome must be a number from 0 to 10"):
        learner.learn_one([5.0, 6.0], -0.5)
    assert learner.rounds == 0


def test_a_model_comes_back_with_its_worst_moment_and_its_ruined_experts(tmp_path):
    learner = aw.AggregatingAlgorithm(["a", "b", "c"], outcomes=("x", "y", "z"), loss="log")
    table = vectors(np.random.default_rng(0), 20, 3, 3)
    table[3, 0] = [1.0, 0.0, 0.0]
    outcomes = ["y"] * 20
    learner.learn_many(table, outcomes)
    save(learner, tmp_path / "model")
    for twin in (load(tmp_path / "model"), pickle.loads(pickle.dumps(learner)), learner.copy()):
        assert twin == learner
        assert twin.kinds == ("x", "y", "z")
        assert twin.largest_regret == learner.largest_regret
        assert twin.learn_many(table, outcomes).tolist() == learner.copy().learn_many(table, outcomes).tolist()


def test_a_state_that_cannot_be_is_refused():
    learner = aw.AggregatingAlgorithm(2)
    learner.learn_one([[0.5, 0.5], [0.2, 0.8]], 0)
    state = learner.state()
    for wrong in ({"largest_after": 2}, {"largest_to": 2}, {"infinite_losses": np.array([2, 0])}):
        with pytest.raises(InputError):
            learner.restore({**state, **wrong})


def test_a_state_with_another_worst_moment_is_found_by_the_rounds():
    learner = aw.AggregatingAlgorithm(2)
    table, outcomes = vectors(np.random.default_rng(0), 20, 2, 2), [0, 1] * 10
    learner.learn_many(table, outcomes)
    state = learner.state()
    learner.restore({**state, "largest_regret": state["largest_regret"] / 2})
    with pytest.raises(InputError, match="the largest regret"):
        learner.certificate(table, outcomes)
    with pytest.raises(InputError, match="the experts' losses"):
        aw_other = aw.AggregatingAlgorithm(2)
        aw_other.learn_many(table, outcomes)
        aw_other.certificate(table[::-1].copy(), outcomes)


@pytest.mark.parametrize("interval", [(-1.0, 1.0), (2.0, 5.0)])
def test_forecasts_of_numbers_are_checked_by_the_rounds(interval):
    low, high = interval
    random = np.random.default_rng(2)
    table, outcomes = random.uniform(low, high, (200, 4)), random.choice([low, high], 200)
    table[:, 1:] = np.where(random.random((200, 3)) < 0.3, np.nan, table[:, 1:])
    learner = aw.AggregatingAlgorithm(4, outcomes=interval, loss="square")
    learner.learn_many(table, outcomes)
    assert str(learner.certificate(table, outcomes).verdict) == "holds"


class Careless(aw.AggregatingAlgorithm):
    """Forecasts a little less than it should, and counts what it should."""

    def _learn(self, *given):
        forecasts, suffered = super()._learn(*given)
        shift = [0.01, -0.01, 0.0] if forecasts.ndim == 2 else -0.01
        return forecasts + shift, suffered


@pytest.mark.parametrize("loss", [*LOSSES, "square"])
def test_a_learner_that_forecasts_otherwise_has_no_certificate(loss):
    kinds = 2 if loss == "square" else 3
    random = np.random.default_rng(2)
    table, outcomes = vectors(random, 20, 3, kinds, 5.0), random.integers(0, kinds, 20)
    table = np.ascontiguousarray(table[:, :, 0]) if loss == "square" else table
    learner = Careless(3, outcomes=kinds, loss=loss)
    learner.learn_many(table, outcomes)
    with pytest.raises(InputError, match="the forecasts are not"):
        learner.certificate(table, outcomes)


def test_what_it_cannot_be_part_of_says_so():
    from afterwit import RegressionCommittee, SwapRegret

    with pytest.raises(InputError, match="base"):
        SwapRegret(aw.AggregatingAlgorithm(2))
    with pytest.raises(InputError, match="weighting"):
        RegressionCommittee(weighting=aw.AggregatingAlgorithm(2), learners=["sgd-regressor", "online-ridge"])
