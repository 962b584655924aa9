"""ScaleFree against the gambler written out, in every unit, and its theorem against sequences made to break it."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.core.certificate import Verdict
from afterwit.data.margin_losses import SLOPES_UP_TO_1
from afterwit.errors import DivergenceError, InputError
from problems import FORMS, in_columns, one_by_one, small_integers


def plain(**options):
    return aw.ScaleFree(intercept=False, labels=(-1, 1), **options)


def test_the_first_rounds_by_hand():
    learner = plain(loss="hinge")
    assert learner.learn_one([2.0], -1) == 1  # nothing is bet: w = 0, slope 1
    state = learner.state()
    assert [state[name].tolist() for name in ("sums", "squares", "largest", "money")] == [[-2], [4], [2], [1]]
    # S' = sqrt(4 + 4), theta = -2 / sqrt(8), w = theta / (2 sqrt(8)) = -1/8; |x| = 1 is no larger than M.
    assert learner.weights.tolist() == pytest.approx([-1 / 8])
    assert learner.score_one([1.0]) == pytest.approx(-1 / 8)
    # A value of 6 makes S' = sqrt(4 + 36), and the bet smaller.
    assert learner.score_one([6.0]) == pytest.approx(6 * -2 / 80)
    assert learner.learn_one([6.0], -1) == -1
    assert learner.state()["money"].tolist() == pytest.approx([1 + 6 * 2 / 80])
    assert learner.state()["largest"].tolist() == [6]
    assert (learner.rounds, learner.mistakes, learner.updates) == (2, 1, 2)


def test_the_largest_value_counts_even_if_nothing_is_lost():
    learner = plain(loss="perceptron")
    learner.learn_one([1.0], -1)
    assert learner.learn_one([5.0], -1) == -1
    assert learner.updates == 1
    assert learner.state()["largest"].tolist() == [5]
    assert learner.state()["squares"].tolist() == [1]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(
    problem=small_integers,
    loss=st.sampled_from(SLOPES_UP_TO_1),
    epsilon=st.sampled_from([0.1, 1.0, 7.0]),
    passes=st.integers(1, 3),
)
def test_it_is_the_oracle(form, problem, loss, epsilon, passes):
    X, y = problem
    run = naive.scale_free(X, y, epsilon, loss, passes)
    kink = {"perceptron": 0.0, "hinge": 1.0}.get(loss, math.inf)
    assume(not any(0 < abs(abs(s) - kink) < 1e-9 for s in run["scores"]))
    assume(loss != "perceptron" or not any(0 < abs(s) < 1e-9 for s in run["scores"]))
    at_once, singly = plain(epsilon=epsilon, loss=loss), plain(epsilon=epsilon, loss=loss)
    many, ones = form(X), one_by_one(form, X)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    assert scores == pytest.approx(run["scores"], rel=1e-8, abs=1e-12)
    for _ in range(passes):
        for x, label in zip(ones, y, strict=True):
            singly.learn_one(x, label)
    assert singly == at_once
    state = at_once.state()
    for name, key in (("sums", "G"), ("squares", "S"), ("largest", "M"), ("money", "money")):
        assert state[name].tolist() == pytest.approx(run[key][: len(state[name])], rel=1e-8, abs=1e-12)
    assert len(in_columns(at_once.weights, len(X[0]))) == len(X[0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: [dict(enumerate(x)) for x in X.tolist()]])
@pytest.mark.parametrize("loss", SLOPES_UP_TO_1)
def test_other_units_change_no_bit_of_a_prediction(form, loss):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 40)) * (random.random((60, 40)) < 0.5)
    y = random.choice([-1, 1], 60)
    units = 2.0 ** random.integers(-130, 130, 40)
    learner, other = aw.ScaleFree(loss=loss), aw.ScaleFree(loss=loss)
    assert learner.learn_scores(form(X), y).tobytes() == other.learn_scores(form(X * units), y).tobytes()
    assert learner.score_many(form(3 * X)).tobytes() == other.score_many(form(3 * X * units)).tobytes()
    assert other.state()["money"].tobytes() == learner.state()["money"].tobytes()


def sequences(count, seed):
    """Rows and labels that are hard: noise, drifts, values that grow, one feature against another, single rounds."""
    random = np.random.default_rng(seed)
    for number in range(count):
        rounds, width = int(random.integers(1, 60)), int(random.integers(1, 5))
        X = random.standard_normal((rounds, width)) * 10.0 ** random.uniform(-6, 6, width)
        u = random.standard_normal(width) / np.abs(X).max(axis=0)
        y = np.where(X @ u + random.choice([0, 0, 1]) * random.standard_normal(rounds) >= 0, 1, -1)
        kind = number % 6
        if kind == 1:
            X *= 2.0 ** np.arange(rounds)[:, None] ** random.choice([0.5, 1.0])
        elif kind == 2:
            X, y = np.sign(X), np.where(np.arange(rounds) % 2, 1, -1)
        elif kind == 3:
            y[rounds // 2 :] *= -1
        elif kind == 4:
            X *= random.random(X.shape) < 0.3
        elif kind == 5:
            X, y = np.abs(X), np.ones(rounds, dtype=int)
        yield X, y, random


@pytest.mark.parametrize("loss", SLOPES_UP_TO_1)
def test_the_theorem_holds_against_every_comparator(loss):
    closest = 0.0
    for X, y, random in sequences(60, seed=1):
        epsilon = float(random.choice([0.01, 1.0, 30.0]))
        run = naive.scale_free(X.tolist(), y.tolist(), epsilon, loss)
        own = math.fsum(run["losses"])
        learner = plain(epsilon=epsilon, loss=loss)
        assert learner.learn_scores(X, y).tolist() == pytest.approx(run["scores"], rel=1e-7, abs=1e-9)
        for size in (0.0, 0.1, 1.0, 10.0, 1e3):
            largest = np.abs(X).max(axis=0)
            u = size * random.standard_normal(X.shape[1]) / np.where(largest > 0, largest, 1.0)
            theirs = math.fsum(
                naive.loss_of(loss, s, label) for s, label in zip((X @ u).tolist(), y.tolist(), strict=True)
            )
            bound = theirs + naive.scale_free_regret(run, u.tolist(), epsilon)
            assert own <= bound * (1 + 1e-9)
            closest = max(closest, own / bound if bound else 0.0)
            certificate = learner.certificate(X, y, comparator=u)
            assert certificate.verdict is Verdict.HOLDS
            assert certificate.observed == pytest.approx(own, rel=1e-6, abs=1e-12)
            zero = naive.scale_free_regret(run, [0.0] * X.shape[1], epsilon)
            zero += math.fsum(naive.loss_of(loss, 0.0, label) for label in y.tolist())
            assert certificate.bound == pytest.approx(min(bound, zero), rel=1e-6)
    # A loss of 0 for weights that stay at 0 leaves the perceptron loss far from its bound.
    assert closest > (0.5 if loss == "perceptron" else 0.8)


def test_the_certificate_does_not_depend_on_units():
    random = np.random.default_rng(3)
    X = random.standard_normal((1000, 4))
    y = np.where(X @ [3.0, -2, 1, 0] + 0.5 * random.standard_normal(1000) >= 0, 1, -1)
    bounds = []
    for units in (np.ones(4), np.array([1e-6, 1e5, 1.0, 1e-3])):
        learner = aw.ScaleFree()
        learner.learn_many(X * units, y)
        made = learner.certificate(X * units, y)
        assert made.verdict is Verdict.HOLDS
        bounds.append((made.bound, made.observed, made.hindsight.value))
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-3)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-100, 1e100, 1e150, 1e200, 1e308])
def test_values_of_any_size_leave_nothing_that_is_not_finite(size):
    random = np.random.default_rng(4)
    X, y = random.uniform(0.1, 1, (30, 3)) * size, random.choice([-1, 1], 30)
    learner = plain()
    try:
        learner.learn_many(X, y)
    except DivergenceError:
        assert size >= 1e150
    assert all(np.isfinite(value).all() for value in learner.state().values() if isinstance(value, np.ndarray))
    assert np.isfinite(learner.weights).all()


def test_nobody_bets_more_than_there_are_numbers_for():
    learner = plain()
    learner.learn_many([[1.0, 2.0], [2.0, -1.0]], [1, -1])
    state = learner.state()
    state["money"][0] = 1e300
    learner.restore(state)
    before = learner.state()
    for learn in (lambda: learner.learn_one([1.0, 1.0], 1), lambda: learner.learn_many([[1.0, 1.0]], [1])):
        with pytest.raises(DivergenceError, match="round 3 would make"):
            learn()
        assert learner == plain() or learner.state()["rounds"] == before["rounds"]
        assert learner.state()["money"].tolist() == before["money"].tolist()


def test_an_intercept_is_there_unless_it_is_not_wanted():
    assert aw.ScaleFree().parameters["intercept"] is True
    X, y = [[1.0, 2.0], [0.5, -1.0], [2.0, 2.0]], [1, -1, -1]
    learner, wider = aw.ScaleFree(), plain()
    learner.learn_many(X, y)
    wider.learn_many([[1.0, *x] for x in X], y)
    assert [learner.intercept_weight, *learner.weights] == wider.weights.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon must be a positive finite number; received 0"),
        (
            {"loss": "squared"},
            "loss must be one of 'perceptron', 'hinge', 'logistic' (to predict numbers, use ScaleFreeRegressor); received 'squared'",
        ),
        ({"intercept": 1}, "intercept must be True or False; received 1"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError) as error:
        aw.ScaleFree(**options)
    assert str(error.value) == message


def test_a_state_that_cannot_be_is_refused():
    learner = plain()
    learner.learn_many([[1.0, 2.0], [2.0, -1.0]], [1, -1])
    before = learner.state()
    for name in ("squares", "largest", "money"):
        with pytest.raises(InputError, match=f"^{name} must be numbers that are not negative"):
            learner.restore({**before, name: -np.ones(2)})
    for name in ("sums", "squares", "largest", "money"):
        with pytest.raises(InputError):
            learner.restore({**before, name: np.ones(3)})
    assert aw.ScaleFree(intercept=False, labels=(-1, 1)).clone() == plain()
