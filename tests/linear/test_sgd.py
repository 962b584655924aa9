"""Gradient descent against every coordinate computed, its losses against differences, its ball against the oracle."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from afterwit.data.margin_losses import LOSSES, losses, slopes
from afterwit.errors import InputError
from problems import FORMS, in_columns, lists_of, one_by_one, small_integers

#: As the figure has it, without an intercept.
SGD = partial(aw.SGD, intercept=False)
OPTIONS = [
    {},
    {"loss": "hinge", "rate": 0.5, "schedule": "1/sqrt(t)", "ball": 3.0},
    {"loss": "squared", "rate": 0.05, "ball": 0.5},
    {"loss": "perceptron", "rate": 1.0},
]


def test_the_first_rounds_by_hand():
    learner = SGD(loss="hinge", rate=0.5, schedule="1/sqrt(t)")
    assert learner.learn_one([2.0, 0.0], 1) == 1  # loss 1: a step of 0.5
    assert learner.weights.tolist() == [1, 0]
    assert learner.learn_one([1.0, 1.0], 1) == 1  # margin 1: no loss, no step
    assert learner.updates == 1
    assert learner.learn_one([0.0, 1.0], -1) == 1  # loss 1 in round 3
    assert learner.weights.tolist() == pytest.approx([1, -0.5 / math.sqrt(3)])
    squared = SGD(loss="squared", rate=0.25)
    squared.learn_one([2.0], -1)  # slope 0 + 1: w = -0.5
    squared.learn_one([2.0], 1)  # score -1, slope -2: w = -0.5 + 0.25 * 2 * 2
    assert squared.weights.tolist() == [0.5]
    logistic = SGD(loss="logistic", rate=1.0)
    logistic.learn_one([3.0], -1)  # slope 1/2
    assert logistic.weights.tolist() == [-1.5]
    ball = SGD(loss="hinge", rate=1.0, ball=2.0)
    ball.learn_one([3.0, 4.0], 1)
    assert ball.weights.tolist() == pytest.approx([1.2, 1.6])
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 1, 2)


def near_a_kink(run, X, y, loss):
    """A score so near to where the slope jumps that rounding decides."""
    kink = {"perceptron": 0.0, "hinge": 1.0}.get(loss)
    labels = y * (len(run["scores"]) // len(y))
    return kink is not None and any(
        0 < abs(label * s - kink) < 1e-9 for s, label in zip(run["scores"], labels, strict=True)
    )


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(
    problem=small_integers,
    loss=st.sampled_from(LOSSES),
    rate=st.sampled_from([0.03, 0.25]),
    decreasing=st.booleans(),
    ball=st.sampled_from([None, 0.3, 2.0]),
    passes=st.integers(1, 2),
)
def test_it_is_the_oracle(form, problem, loss, rate, decreasing, ball, passes):
    X, y = problem
    run = naive.descent(X, y, loss, rate, decreasing, ball, passes=passes)
    assume(not near_a_kink(run, X, y, loss) and max(map(abs, run["scores"])) < 1e6)
    options = {"loss": loss, "rate": rate, "schedule": "1/sqrt(t)" if decreasing else "constant", "ball": ball}
    at_once, singly = SGD(**options), SGD(**options)
    many, ones = form(X), one_by_one(form, X)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    # A score of 0 may come out as a little more or less; what was computed is judged, not its sign.
    assert scores == pytest.approx(run["scores"], rel=1e-9, abs=1e-9)
    for _ in range(passes):
        for x, label in zip(ones, y, strict=True):
            singly.learn_one(x, label)
    assert singly == at_once
    assert in_columns(at_once.weights, len(X[0])) == pytest.approx(run["weights"][-1], rel=1e-9, abs=1e-9)
    slopes_taken = [naive.slope_of(loss, s, label) for s, label in zip(scores, y * passes, strict=True)]
    assert at_once.updates == sum(slope != 0 for slope in slopes_taken)


@pytest.mark.parametrize("loss", LOSSES)
@given(s=st.floats(-30, 30), y=st.sampled_from([-1, 1]))
def test_losses_and_slopes_belong_together(loss, s, y):
    kink = {"perceptron": 0.0, "hinge": 1.0}.get(loss)
    if kink is not None and abs(y * s - kink) < 1e-3:
        return
    difference = (losses(loss, y, np.float64(s + 1e-5)) - losses(loss, y, np.float64(s - 1e-5))) / 2e-5
    assert difference == pytest.approx(float(slopes(loss, y, np.float64(s))), rel=1e-6, abs=1e-8)
    assert float(losses(loss, y, np.float64(s))) == pytest.approx(naive.loss_of(loss, s, y), rel=1e-12)
    assert float(slopes(loss, y, np.float64(s))) == pytest.approx(naive.slope_of(loss, s, y), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@given(s=st.one_of(st.floats(-30, 30), st.sampled_from([0.0, 1.0, -1.0])), y=st.sampled_from([-1, 1]))
def test_the_compiled_step_is_the_slope(loss, s, y):
    """Weights are set so that the score is s; one round with rate 1 on x = (1, 0) shows the slope used."""
    learner = SGD(loss=loss, rate=1.0)
    state = learner.state()
    learner.restore({**state, "weights": np.array([s, 5.0])})
    learner.learn_one([1.0, 0.0], y)
    assert learner.weights[0] == pytest.approx(s - naive.slope_of(loss, s, y), rel=1e-12, abs=1e-12)
    assert learner.weights[1] == 5


@pytest.mark.parametrize("s", [800.0, -800.0, 1e5, -1e5])
def test_the_logistic_loss_of_huge_scores(s):
    for y in (-1, 1):
        learner = SGD(loss="logistic", rate=1.0)
        learner.restore({**learner.state(), "weights": np.array([s])})
        learner.learn_one([1.0], y)
        assert learner.weights[0] == (s if y * s > 0 else s + y)


@settings(max_examples=60)
@given(lists_of(st.floats(-50, 50), rows=20), st.sampled_from(LOSSES), st.sampled_from([1e-3, 0.7, 20.0]))
def test_the_weights_never_leave_the_ball(problem, loss, ball):
    X, y = problem
    learner = SGD(loss=loss, rate=0.5, ball=ball)
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
        assert np.linalg.norm(learner.weights) <= ball * (1 + 1e-12)


def test_thousands_of_projections_renew_the_scale_and_stay_on_the_ball():
    random = np.random.default_rng(4)
    X, y = 3 * random.standard_normal((1500, 3)), random.choice([-1, 1], size=1500)
    learner = SGD(loss="hinge", rate=2.0, ball=0.5)
    learner.learn_many(X, y)
    run = naive.descent(X.tolist(), y.tolist(), "hinge", 2.0, ball=0.5)
    assert learner.weights.tolist() == pytest.approx(run["weights"][-1], rel=1e-7, abs=1e-9)
    assert np.linalg.norm(learner.weights) == pytest.approx(0.5)


@given(small_integers)
def test_with_the_perceptron_loss_and_rate_one_it_is_the_perceptron_but_at_ties(problem):
    X, y = problem
    learner, w = SGD(loss="perceptron", rate=1.0), [0] * len(X[0])
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
        if label * naive.dot(w, x) <= 0:
            w = [a + label * b for a, b in zip(w, x, strict=True)]
        assert learner.weights.tolist() == w
    history = naive.hypotheses(X, y)
    if all(naive.exact_dot(w, x) != 0 or label == -1 for w, x, label in zip(history, X, y, strict=False)):
        perceptron = aw.Perceptron()
        perceptron.learn_many(X, y)
        assert learner.weights.tolist() == perceptron.weights.tolist()
        assert learner.mistakes == perceptron.mistakes


@pytest.mark.parametrize("kind", [aw.SGD, aw.AdaGrad])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "log"}, "loss must be one of 'perceptron', 'hinge', 'logistic', 'squared' ({}); received 'log'"),
        ({"loss": None}, "loss must be one of 'perceptron', 'hinge', 'logistic', 'squared' ({}); received None"),
        (
            {"loss": ["hinge"]},
            "loss must be one of 'perceptron', 'hinge', 'logistic', 'squared' ({}); received ['hinge']",
        ),
        ({"rate": 0}, "rate must be a positive finite number; received 0"),
        ({"rate": math.inf}, "rate must be a positive finite number; received inf"),
        ({"intercept": None}, "intercept must be True or False; received None"),
    ],
)
def test_bad_options_are_refused(kind, options, message):
    with pytest.raises(InputError) as error:
        kind(**options)
    assert str(error.value) == message.format(f"to predict numbers, use {kind.__name__}Regressor")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "sqrt"}, "schedule must be 'constant' or '1/sqrt(t)'; received 'sqrt'"),
        ({"schedule": None}, "schedule must be 'constant' or '1/sqrt(t)'; received None"),
        ({"ball": 0}, "ball must be a positive finite number; received 0"),
        ({"ball": -2}, "ball must be a positive finite number; received -2"),
        ({"ball": True}, "ball must be a positive finite number; received True"),
    ],
)
def test_bad_options_of_its_own_are_refused(options, message):
    with pytest.raises(InputError) as error:
        SGD(**options)
    assert str(error.value) == message


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options.get("loss", "defaults"))
def test_saved_with_its_options(options, tmp_path):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((25, 4)), random.choice([-1, 1], size=25)
    learner = SGD(**options, intercept=True)
    learner.learn_many(X, y)
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.parameters == learner.parameters == {**SGD(labels=(-1, 1), intercept=True).parameters, **options}
    for each in (learner, again):
        each.learn_many(X[::-1], y)
    assert again == learner


def test_rounding_grows_with_the_number_of_columns():
    found = []
    for columns in (1, 500):
        X = np.ones((1, columns))
        learner = SGD(loss="hinge", rate=0.1)
        learner.learn_many(X, [1])
        found.append(learner.certificate(X, [1]).rounding)
    assert 0 < found[0] <= found[1]
