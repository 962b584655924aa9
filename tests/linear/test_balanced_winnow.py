"""Balanced Winnow is Winnow on (x, -x)."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from problems import FORMS, in_columns, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.BalancedWinnow(rate=math.log(2))
    assert learner.learn_one([1.0, 0.0], 1) == 1
    assert learner.weights.tolist() == [0, 0]
    assert learner.learn_one([1.0, 0.0], -1) == 1  # p = (1/2, 1), q = (2, 1), divided by 4.5
    assert learner.weights.tolist() == pytest.approx([-1 / 3, 0])
    assert learner.learn_one([1.0, -1.0], 1) == -1  # p = (1, 1/2), q = (1, 2)
    assert learner.weights.tolist() == pytest.approx([0, -1 / 3])
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 2, 2)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, rate=st.sampled_from([0.125, 0.5, 3.0]), passes=st.integers(1, 2))
def test_it_is_the_oracle(form, problem, rate, passes):
    X, y = problem
    many = form(X)
    at_once, singly = aw.BalancedWinnow(rate=rate), aw.BalancedWinnow(rate=rate)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    made = [naive.sign(s) for s in scores]
    history, expected, predictions = naive.balanced_winnow(X, y, rate, passes, at_ties=made)
    assert made == predictions
    for t, (score, exact) in enumerate(zip(scores, expected, strict=True)):
        assert score == pytest.approx(float(exact), rel=1e-11, abs=1e-14 * sum(map(abs, X[t % len(X)]))), t
    weights = in_columns(at_once.weights, len(X[0]))
    assert weights == pytest.approx([float(a) for a in history[-1]], rel=1e-11, abs=1e-15)
    assert at_once.score_many(many).tolist() == pytest.approx([naive.dot(weights, x) for x in X], rel=1e-11, abs=1e-13)
    for _ in range(passes):
        for x, label in zip(one_by_one(form, X), y, strict=True):
            singly.learn_one(x, label)
    assert singly == at_once


@given(st.integers(0, 2**32), st.sampled_from([0.01, 0.3, 5.0, 200.0]), st.integers(1, 40))
def test_it_predicts_as_winnow_on_twice_the_features(seed, rate, width):
    random = np.random.default_rng(seed)
    X = random.standard_normal((60, width)) * (random.random((60, width)) < 0.7)
    X[0, -1] = 1.0
    y = random.choice([-1, 1], size=60)
    balanced, doubled = aw.BalancedWinnow(rate=rate), aw.Winnow(rate=rate)
    # In the first round all weights are equal: p - q is 0, and the doubled sum is 0 up to its rounding.
    doubled_scores = doubled.learn_scores(np.hstack([X, -X]), y)
    scores = balanced.learn_scores(X, y)
    ties = np.abs(scores) < 1e-13 * (1 + np.abs(X).sum(axis=1))
    if not (np.sign(scores) != np.sign(doubled_scores))[ties].any():
        assert np.where(scores >= 0, 1, -1).tolist() == np.where(doubled_scores >= 0, 1, -1).tolist()
        assert scores.tolist() == pytest.approx(doubled_scores.tolist(), rel=1e-8, abs=1e-11)
        p, q = doubled.weights[:width], doubled.weights[width:]
        assert balanced.weights.tolist() == pytest.approx((p - q).tolist(), rel=1e-8, abs=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 2.0]))
def test_exponents_thousands_apart_keep_every_prediction(seed, rate):
    random = np.random.default_rng(seed)
    X = random.integers(-1000, 1001, (25, 4)) * (random.random((25, 4)) < 0.6)
    y = random.choice([-1, 1], size=25).tolist()
    learner = aw.BalancedWinnow(rate=rate)
    made = learner.learn_many(X, y).tolist()
    history, _, expected = naive.balanced_winnow(X.tolist(), y, rate, at_ties=made)
    assert made == expected
    assert learner.weights.tolist() == pytest.approx([float(a) for a in history[-1]], rel=1e-9, abs=1e-300)


def test_what_winnow_cannot_learn_it_can():
    random = np.random.default_rng(0)
    X = random.choice([-1.0, 1.0], size=(200, 6))
    y = np.where(X[:, 0] < 0, 1, -1)
    assert not aw.Winnow(rate=0.5).fit(X, y, max_passes=30).converged
    assert aw.BalancedWinnow(rate=0.5).fit(X, y, max_passes=30).converged
