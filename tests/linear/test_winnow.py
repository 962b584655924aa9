"""Figure 8.10 against decimal arithmetic over all coordinates, and what the lazy normaliser must not get wrong."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.errors import InputError
from afterwit.linear.winnow import WinnowBound
from problems import FORMS, in_columns, lists_of, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.Winnow(rate=math.log(2))
    assert learner.learn_one([1.0, 1.0, 0.0], 1) == 1  # score 2/3
    assert learner.weights.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert learner.learn_one([1.0, 1.0, -1.0], -1) == 1  # a mistake: halve, halve, double
    assert learner.weights.tolist() == pytest.approx([1 / 6, 1 / 6, 4 / 6])
    assert learner.score_one([1.0, 1.0, 1.0]) == pytest.approx(1)
    assert learner.learn_one([1.0, 0.0, -1.0], 1) == -1  # double, keep, halve: 1/3, 1/6, 1/3, divided by 5/6
    assert learner.weights.tolist() == pytest.approx([0.4, 0.2, 0.4])
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 2, 2)


def agrees(learner, oracle, X, y, rate, many, scores, passes=1):
    """The learner, which gave these scores, against the oracle, which follows it where its rounding broke a tie."""
    made = [naive.sign(s) for s in scores]
    history, expected, predictions = oracle(X, y, rate, passes, at_ties=made)
    assert made == predictions
    for t, (score, exact) in enumerate(zip(scores, expected, strict=True)):
        size = sum(abs(b) for b in X[t % len(X)])
        assert score == pytest.approx(float(exact), rel=1e-11, abs=1e-14 * size), t
    weights = in_columns(learner.weights, len(X[0]))
    assert weights == pytest.approx([float(a) for a in history[-1]], rel=1e-11, abs=1e-15)
    products = [naive.dot(weights, x) for x in X]
    assert learner.score_many(many).tolist() == pytest.approx(products, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, rate=st.sampled_from([0.1, 0.5, 3.0]), passes=st.integers(1, 2))
def test_it_is_the_oracle(form, problem, rate, passes):
    X, y = problem
    many = form(X)
    at_once, singly = aw.Winnow(rate=rate), aw.Winnow(rate=rate)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    agrees(at_once, naive.winnow, X, y, rate, many, scores, passes)
    # Names come in the order of the row, so that one by one it is the same but for N, known only after the first row.
    for _ in range(passes):
        for x, label in zip(one_by_one(form, X), y, strict=True):
            singly.learn_one(x, label)
    assert singly == at_once


@given(lists_of(st.integers(0, 3), rows=25), st.sampled_from([0.3, 2.0]))
def test_weights_add_up_to_one_and_are_never_negative(problem, rate):
    X, y = problem
    learner = aw.Winnow(rate=rate)
    for x, label in zip(X, y, strict=True):
        learner.learn_one(x, label)
        assert learner.weights.sum() == pytest.approx(1, rel=1e-12)
        assert (learner.weights >= 0).all()


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 2.0]))
def test_exponents_thousands_apart_keep_every_prediction(seed, rate):
    """Values up to 1000: weights as different as exp(10000) and exp(-10000), whose signs must still be right."""
    random = np.random.default_rng(seed)
    X = random.integers(-1000, 1001, (25, 4)) * (random.random((25, 4)) < 0.6)
    y = random.choice([-1, 1], size=25).tolist()
    learner = aw.Winnow(rate=rate)
    made = learner.learn_many(X, y).tolist()
    history, _, expected = naive.winnow(X.tolist(), y, rate, at_ties=made)
    assert made == expected
    # An exponent of 10^4 has an error of 10^-12, and so has the weight.
    assert learner.weights.tolist() == pytest.approx([float(a) for a in history[-1]], rel=1e-9, abs=1e-300)
    assert learner.weights.sum() == pytest.approx(1, rel=1e-12)


def test_thousands_of_rounds_at_a_large_rate():
    random = np.random.default_rng(5)
    X = random.integers(-3, 4, (1500, 5))
    y = random.choice([-1, 1], size=1500).tolist()
    learner = aw.Winnow(rate=20.0)
    made = learner.learn_many(X, y).tolist()
    history, _, expected = naive.winnow(X.tolist(), y, 20, at_ties=made)
    assert made == expected
    assert learner.weights.tolist() == pytest.approx([float(a) for a in history[-1]], rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("kind", [aw.Winnow, aw.BalancedWinnow])
@pytest.mark.parametrize("width", [3, 15, 16, 17, 33, 100])
def test_features_known_late_or_from_the_start(kind, width):
    """Also where the weights have to move to a larger place, which is past 16 features."""
    random = np.random.default_rng(width)
    X = random.integers(-2, 3, (60, width)) * (random.random((60, width)) < 0.4)
    X[:, width // 2] = 1  # something in every row
    X[:20, 2 * width // 3 :] = 0
    y = random.choice([-1, 1], size=60)
    from_the_start, late, by_name = kind(rate=0.5), kind(rate=0.5), kind(rate=0.5)
    from_the_start.learn_many(np.zeros((1, width)), [1])
    from_the_start.learn_many(X, y)
    late.learn_many([aw.SparseRow([0], [0.0])], [1])
    rows = [aw.SparseRow(np.flatnonzero(x), x[x != 0]) for x in X]
    for row, label in zip(rows, y.tolist(), strict=True):
        late.learn_one(row, label)
    by_name.learn_one({}, 1)
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        by_name.learn_one({f"f{j}": value for j, value in enumerate(x) if value}, label)
    used = len(late.weights)
    history, _, _ = (naive.balanced_winnow if kind is aw.BalancedWinnow else naive.winnow)(
        [[0] * width, *X.tolist()], [1, *y.tolist()], 0.5, at_ties=[1, *kind(rate=0.5).learn_many(X, y).tolist()]
    )
    expected = [float(a) for a in history[-1]]
    assert from_the_start.weights.tolist() == pytest.approx(expected, rel=1e-10, abs=1e-14)
    assert late.mistakes == by_name.mistakes == from_the_start.mistakes
    if used == width:
        assert late.weights.tolist() == pytest.approx(expected, rel=1e-10, abs=1e-14)
    assert len(by_name.weights) == int(X.any(axis=0).sum())
    if len(by_name.weights) == width:
        assert in_columns(by_name.weights, width) == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_an_unseen_feature_has_the_weight_of_a_fresh_one():
    learner = aw.Winnow(rate=1.0)
    learner.learn_one({"a": 1.0}, -1)  # a: exp(-1)
    assert learner.predict_one({"a": 1.0, "b": -1.0}) == -1
    learner.learn_one({"b": 0.0}, 1)
    fresh = 1 / (1 + math.exp(-1))
    assert learner.weights == pytest.approx({"a": 1 - fresh, "b": fresh})
    assert learner.score_one({"a": 1.0, "b": -1.0}) == pytest.approx(1 - 2 * fresh)


def test_untouched_features_are_never_written():
    """In a wide space the exponents and weights of all but the rows' features stay as they were, to the bit."""
    width = 50_000
    learner = aw.Winnow(rate=0.5)
    learner.learn_one(sparse.csr_array(([1.0], ([0], [width - 1])), shape=(1, width)), -1)
    for t in range(50):
        learner.learn_one(aw.SparseRow([7, 11], [1.0, -2.0]), 1 if t % 2 else -1)
    state = learner.state()
    touched = [7, 11, width - 1]
    assert not np.delete(state["exponents"], touched).any()
    assert (np.delete(state["weights"], touched) == 1).all()
    assert learner.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("rate", [0, -1, math.nan, math.inf, "1", None, True])
def test_a_bad_rate_is_refused(rate):
    with pytest.raises(InputError, match=r"^rate must be a positive finite number; received "):
        aw.Winnow(rate=rate)
    with pytest.raises(InputError, match=r"^rate must be a positive finite number; received "):
        aw.BalancedWinnow(rate=rate)


@pytest.mark.parametrize("kind", [aw.Winnow, aw.BalancedWinnow])
def test_saved_in_the_middle_it_goes_on_the_same(kind, tmp_path):
    random = np.random.default_rng(3)
    X, y = 300 * random.standard_normal((60, 20)), random.choice([-1, 1], size=60)
    learner = kind(rate=0.7, intercept=True)
    learner.learn_many(X[:30], y[:30])
    assert learner.state()["shift"] > 0, "the weights had to be taken anew"
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.rate == 0.7
    for each in (learner, again):
        each.learn_many(X[30:], y[30:])
        each.learn_many(np.hstack([X, X]), y)
    assert again == learner


@pytest.mark.parametrize("change", [{"shift": -1.0}, {"total": 1}, {"moved": -1}, {"exponents": np.zeros(5)}])
def test_states_that_do_not_fit_are_refused(change):
    learner = aw.Winnow()
    learner.learn_one([1.0, 2.0], -1)
    with pytest.raises(InputError, match="must be"):
        learner.restore({**learner.state(), **change})


def test_exponents_beyond_all_numbers_are_held():
    for kind in (aw.Winnow, aw.BalancedWinnow):
        learner = kind(rate=1e10)
        learner.learn_one([1e300, -1.5e300], -1)
        learner.learn_one([1e300, -1.5e300], 1)
        assert learner.updates >= 1
        assert np.isfinite(learner.weights).all()
        assert all(np.isfinite(value).all() for name, value in learner.state().items() if name != "names")


@pytest.mark.parametrize("kind", [aw.Winnow, aw.BalancedWinnow])
def test_a_comparator_for_no_rounds_at_all(kind):
    """No example, so no radius to divide by."""
    certificate = kind(rate=0.5).certificate(np.zeros((0, 2)), [], comparator=[1.0, 2.0])
    assert (certificate.observed, certificate.bound, certificate.verdict) == (0, 0, "holds")


@pytest.mark.parametrize(("rate", "applies"), [(1.999, True), (2.0, False), (2.001, False)])
def test_the_bound_needs_a_rate_below_twice_the_margin(rate, applies):
    """One feature of value 1: the margin and the largest value are 1, and at a rate of 2 the bound is infinite."""
    learner = aw.Winnow(rate=rate)
    learner.learn_many([[1.0], [1.0]], [1, 1])
    found = learner.certificate([[1.0], [1.0]], [1, 1])
    (made,) = (each for each in (found, *found.others) if isinstance(each.theorem, WinnowBound))
    assert (made.bound is not None) is applies
