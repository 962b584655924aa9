"""AdaGrad against every coordinate computed by its formula."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from afterwit.data.margin_losses import LOSSES
from afterwit.errors import InputError
from problems import FORMS, in_columns, lists_of, one_by_one, small_integers

#: As the figure has it, without an intercept.
AdaGrad = partial(aw.AdaGrad, intercept=False)
OPTIONS = [
    {},
    {"loss": "hinge", "rate": 0.5, "delta": 0, "box": 0.3},
    {"loss": "squared", "delta": 1.0},
    {"loss": "perceptron", "box": 1.0},
]


def test_the_first_rounds_by_hand():
    learner = AdaGrad(loss="hinge", rate=1.0, delta=0)
    assert learner.learn_one([3.0, 0.0], 1) == 1  # g = -3, G = 9: a step of 1
    assert learner.weights.tolist() == [1, 0]
    assert learner.learn_one([4.0, 2.0], -1) == 1  # g = (4, 2), G = (25, 4): 1 - 4/5, 0 - 1
    assert learner.weights.tolist() == pytest.approx([0.2, -1])
    assert learner.state()["squares"].tolist() == [25, 4]
    assert learner.learn_one([0.0, -2.0], 1) == 1  # margin 2: nothing
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 1, 2)
    with_delta = AdaGrad(loss="hinge", rate=1.0, delta=16.0)
    with_delta.learn_one([3.0], 1)
    assert with_delta.weights.tolist() == [0.6]
    boxed = AdaGrad(loss="hinge", rate=1.0, delta=0, box=0.25)
    boxed.learn_one([3.0, -1.0], 1)
    assert boxed.weights.tolist() == [0.25, -0.25]


def test_a_value_of_zero_moves_nothing():
    learner = AdaGrad(loss="hinge", delta=0)
    learner.learn_one([0.0, 1.0], 1)
    assert learner.weights.tolist() == [0, 0.15]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(
    problem=small_integers,
    loss=st.sampled_from(LOSSES),
    rate=st.sampled_from([0.15, 1.0]),
    delta=st.sampled_from([0, 1e-6, 2.0]),
    box=st.sampled_from([None, 0.4]),
    passes=st.integers(1, 2),
)
def test_it_is_the_oracle(form, problem, loss, rate, delta, box, passes):
    X, y = problem
    run = naive.descent(X, y, loss, rate, adaptive=True, delta=delta, box=box, passes=passes)
    kink = {"perceptron": 0.0, "hinge": 1.0}.get(loss, math.inf)
    assume(not any(abs(abs(s) - kink) < 1e-9 for s in run["scores"][1:]))
    options = {"loss": loss, "rate": rate, "delta": delta, "box": box}
    at_once, singly = AdaGrad(**options), AdaGrad(**options)
    many, ones = form(X), one_by_one(form, X)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    assert scores == pytest.approx(run["scores"], rel=1e-8, abs=1e-8)
    for _ in range(passes):
        for x, label in zip(ones, y, strict=True):
            singly.learn_one(x, label)
    assert singly == at_once
    width = len(X[0])
    assert in_columns(at_once.weights, width) == pytest.approx(run["weights"][-1], rel=1e-8, abs=1e-8)
    assert at_once.state()["squares"].tolist() == pytest.approx(run["sums"], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@given(s=st.one_of(st.floats(-30, 30), st.sampled_from([0.0, 1.0, -1.0])), y=st.sampled_from([-1, 1]))
def test_the_compiled_step_is_the_slope(loss, s, y):
    """With delta far above the squares, a step is rate/sqrt(delta) times the gradient."""
    learner = AdaGrad(loss=loss, rate=1e6, delta=1e12)
    learner.restore({**learner.state(), "weights": np.array([s]), "squares": np.zeros(1)})
    learner.learn_one([1.0], y)
    assert learner.weights[0] == pytest.approx(s - naive.slope_of(loss, s, y), rel=1e-6, abs=1e-6)


@settings(max_examples=50)
@given(lists_of(st.floats(-50, 50), rows=20), st.sampled_from(LOSSES), st.sampled_from([1e-3, 0.7]))
def test_the_weights_never_leave_the_box(problem, loss, box):
    X, y = problem
    learner = AdaGrad(loss=loss, rate=0.5, box=box)
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
        assert np.abs(learner.weights).max() <= box


def test_more_features_than_there_was_room_for():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 70)) * (random.random((40, 70)) < 0.3)
    X[:10, 20:] = 0
    y = random.choice([-1, 1], size=40)
    run = naive.descent(X.tolist(), y.tolist(), "logistic", 0.15, adaptive=True, delta=1e-6)
    late = AdaGrad()
    for x, label in zip(X, y.tolist(), strict=True):
        late.learn_one(aw.SparseRow(np.flatnonzero(x), x[x != 0]), label)
    assert late.weights.tolist() == pytest.approx(run["weights"][-1][: len(late.weights)], rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": -1}, "delta must be a positive finite number; received -1"),
        ({"delta": "0"}, "delta must be a positive finite number; received '0'"),
        ({"delta": math.nan}, "delta must be a positive finite number; received nan"),
        ({"box": 0}, "box must be a positive finite number; received 0"),
        ({"box": -1.0}, "box must be a positive finite number; received -1.0"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError) as error:
        AdaGrad(**options)
    assert str(error.value) == message


@pytest.mark.parametrize("zero", [0, 0.0])
def test_delta_may_be_zero(zero):
    assert AdaGrad(delta=zero).parameters["delta"] == 0.0


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options.get("loss", "defaults"))
def test_saved_with_its_options(options, tmp_path):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((25, 4)), random.choice([-1, 1], size=25)
    learner = AdaGrad(**options, intercept=True)
    learner.learn_many(X, y)
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.parameters == learner.parameters == {**AdaGrad(labels=(-1, 1), intercept=True).parameters, **options}
    for each in (learner, again):
        each.learn_many(X[::-1], y)
    assert again == learner
