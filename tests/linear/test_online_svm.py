"""Figure 8.11 over all coordinates, exercise 8.5, and the scale that stands for them all."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.errors import InputError
from problems import FORMS, in_columns, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.OnlineSVM(C=2.0, rate=0.5)
    assert learner.learn_one([1.0, 1.0], -1) == 1  # margin 0 < 1: w = 0.5 * 2 * -1 * x
    assert learner.weights.tolist() == [-1, -1]
    assert learner.learn_one([-1.0, 0.0], 1) == 1  # margin 1 exactly: nothing changes
    assert (learner.weights.tolist(), learner.updates) == ([-1, -1], 1)
    assert learner.learn_one([-2.0, 0.0], 1) == 1  # margin 2: only shrinks
    assert learner.weights.tolist() == [-0.5, -0.5]
    assert learner.learn_one([0.0, 1.0], 1) == -1  # shrinks to -0.25, adds 1 to the second
    assert learner.weights.tolist() == [-0.25, 0.75]
    assert (learner.rounds, learner.mistakes, learner.updates) == (4, 2, 3)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, C=st.sampled_from([0.5, 1, 4]), passes=st.integers(1, 2))
def test_it_is_the_oracle(form, problem, C, passes):
    """With rate 1/2 and few rounds every number is exact in binary, so that 1 is met exactly or not."""
    X, y = problem
    weights, expected, updates = naive.online_svm(X, y, C, 0.5, passes)
    at_once, singly = aw.OnlineSVM(C=C, rate=0.5), aw.OnlineSVM(C=C, rate=0.5)
    many, ones = form(X), one_by_one(form, X)
    assert [p for _ in range(passes) for p in at_once.learn_many(many, y).tolist()] == expected
    assert [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(ones, y, strict=True)] == expected
    for learner in (at_once, singly):
        assert in_columns(learner.weights, len(X[0])) == [float(a) for a in weights]
        assert learner.updates == updates
        assert learner.mistakes == sum(p != label for p, label in zip(expected, y * passes, strict=True))


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 7.0]), st.sampled_from([0.01, 0.3, 0.9]))
def test_each_round_is_a_step_down_the_svm_objective(seed, C, rate):
    """Exercise 8.5, the gradient of |w|^2/2 + C max(0, 1 - y w.x) taken by differences."""
    random = np.random.default_rng(seed)
    learner = aw.OnlineSVM(C=C, rate=rate)
    learner.learn_many(random.standard_normal((10, 3)), random.choice([-1, 1], size=10))
    x, y = random.standard_normal(3), int(random.choice([-1, 1]))
    w = learner.weights
    if abs(y * (w @ x) - 1) < 1e-3:
        return
    gradient = naive.numeric_gradient(lambda u: naive.svm_objective(u, x.tolist(), y, C), w.tolist())
    learner.learn_one(x, y)
    assert learner.weights.tolist() == pytest.approx((w - rate * np.array(gradient)).tolist(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("rate", [0.5, 0.97])
def test_thousands_of_rounds_renew_the_scale(rate):
    random = np.random.default_rng(1)
    X = random.integers(-3, 4, (1200, 4)) * (random.random((1200, 4)) < 0.5)
    y = random.choice([-1, 1], size=1200)
    learner = aw.OnlineSVM(C=1.5, rate=rate)
    w = np.zeros(4)
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        margin = label * (w @ x)
        assert abs(margin - 1) > 1e-9 or margin == 1
        learner.learn_one(x, label)
        if margin != 1:
            w = w - rate * (w - (1.5 * label * x if margin < 1 else 0))
        if t % 100 == 0:
            assert learner.weights.tolist() == pytest.approx(w.tolist(), rel=1e-9, abs=1e-12)
    assert learner.weights.tolist() == pytest.approx(w.tolist(), rel=1e-9, abs=1e-12)
    assert learner.state()["scale"] > 1e-160
    assert rate**1200 < 1e-15 or rate > 0.9


def test_a_weight_that_only_shrinks_for_thousands_of_rounds_goes_to_zero():
    learner = aw.OnlineSVM(C=1.0, rate=0.5)
    learner.learn_many([[1.0, 8.0]], [1])
    learner.learn_many([[3.0, 0.0]] * 50, [1] * 50)
    before = learner.updates
    assert learner.weights[1] == 4 * 0.5 ** (before - 1)
    learner.learn_many([[3.0, 0.0]] * 4000, [1] * 4000)
    assert learner.weights[1] == 0
    assert 0 < learner.weights[0] < 3
    assert np.isfinite(learner.state()["weights"]).all()


def test_in_a_wide_space_only_the_rows_features_are_written():
    width = 50_000
    learner = aw.OnlineSVM(C=1.0, rate=0.25)
    learner.learn_one(sparse.csr_array((np.ones(3), ([0, 0, 0], [5, 900, width - 1])), shape=(1, width)), -1)
    before = learner.state()["weights"].copy()
    for t in range(100):
        learner.learn_one(aw.SparseRow([7, 11], [1.0, -2.0]), 1 if t % 2 else -1)
    after = learner.state()["weights"]
    assert np.flatnonzero(after != before).tolist() == [7, 11], "all others shrink by the scale alone"
    assert learner.weights[5] == pytest.approx(-0.25 * 0.75**100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C must be a positive finite number; received 0"),
        ({"C": -1.5}, "C must be a positive finite number; received -1.5"),
        ({"C": "1"}, "C must be a positive finite number; received '1'"),
        ({"rate": 0}, "rate must be a positive finite number; received 0"),
        ({"rate": 1}, "rate must be above 0 and below 1; received 1"),
        ({"rate": 2.5}, "rate must be above 0 and below 1; received 2.5"),
        ({"rate": math.nan}, "rate must be a positive finite number; received nan"),
        ({"intercept": 1}, "intercept must be True or False; received 1"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError) as error:
        aw.OnlineSVM(**options)
    assert str(error.value) == message


def test_saved_with_its_scale(tmp_path):
    learner = aw.OnlineSVM(C=3.0, rate=0.4, intercept=True, labels=("a", "b"))
    rows = [{"p": 1.0, "q": -2.0}, {"q": 3.0}, {"p": 2.0}]
    learner.learn_many(rows, ["a", "b", "a"])
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.parameters == {"C": 3.0, "rate": 0.4, "intercept": True, "labels": ("a", "b")}
    for each in (learner, again):
        each.learn_many(rows[::-1], ["a", "b", "a"])
    assert again == learner


@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0, 1, math.nan])
def test_a_bad_scale_is_refused(scale):
    learner = aw.OnlineSVM()
    with pytest.raises(InputError, match="scale must be above 0 and at most 1"):
        learner.restore({**learner.state(), "scale": scale})
