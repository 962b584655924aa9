"""Passive-aggressive: the oracle in exact numbers, and Theorem 4 against everything."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from afterwit.linear.passive_aggressive import PassiveAggressiveBound
from problems import FORMS, in_columns, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.PassiveAggressive(C=0.25)
    assert learner.learn_one([1.0, 1.0], 1) == 1  # the loss is 1, 1/2 would be the step: C is less
    assert learner.weights.tolist() == [0.25, 0.25]
    assert learner.learn_one([2.0, 2.0], 1) == 1  # the margin is 1: passive
    assert learner.learn_one([4.0, -2.0], -1) == 1  # the score is 1/2: loss 3/2, step 3/40
    assert learner.weights.tolist() == pytest.approx([0.25 - 0.3, 0.25 + 0.15])
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 1, 2)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, C=st.sampled_from([0.01, 0.25, 1.0, 100.0]), passes=st.integers(1, 3))
def test_it_is_the_oracle(form, problem, C, passes):
    X, y = problem
    weights, expected, _ = naive.passive_aggressive(X, y, C, passes)
    at_once, singly = aw.PassiveAggressive(C), aw.PassiveAggressive(C)
    many, ones = form(X), one_by_one(form, X)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    assert scores == pytest.approx([float(s) for s in expected], abs=1e-9)
    for _ in range(passes):
        for x, label in zip(ones, y, strict=True):
            singly.learn_one(x, label)
    assert singly == at_once
    assert in_columns(at_once.weights, len(X[0])) == pytest.approx([float(a) for a in weights], abs=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_a_step_ends_at_the_margin_or_is_the_longest(scale, C):
    random = np.random.default_rng(3)
    X, y = scale * random.standard_normal((60, 4)), random.choice([-1, 1], 60)
    learner = aw.PassiveAggressive(C, labels=(-1, 1))
    for x, label in zip(X, y.tolist(), strict=True):
        before, margin = learner.copy(), label * learner.score_one(x)
        learner.learn_one(x, label)
        after = label * learner.score_one(x)
        if margin >= 1:
            assert np.array_equal(before.weights, learner.weights)
        else:
            assert after == pytest.approx(min(1.0, margin + C * float(x @ x)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e3, 1e12])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_bound_holds_for_every_comparator(scale, C, noise):
    random = np.random.default_rng(1)
    X = scale * random.standard_normal((200, 5))
    u = random.standard_normal(5)
    y = np.where(X @ u >= 0, 1, -1) * np.where(random.random(200) < noise, -1, 1)
    learner = aw.PassiveAggressive(C)
    learner.learn_many(X, y)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.observed == learner.mistakes
    radius = np.linalg.norm(X, axis=1).max()
    for factor in 10.0 ** np.arange(-6, 7) / scale:
        hinge = 2 * np.maximum(0, 1 - factor * y * (X @ u)).sum()
        bound = max(radius**2, 1 / C) * (factor**2 * u @ u + 2 * C * hinge)
        assert learner.mistakes <= bound
        assert certificate.bound <= bound * 1.05
    own = learner.certificate(X, y, comparator=u / scale)
    assert own.verdict is Verdict.HOLDS
    assert own.inputs["comparator"] in ("the given one", "zero")


def test_the_bound_in_closed_form():
    assert PassiveAggressiveBound.bound(2.0, 1.0, 3.0, 5.0) == 4 * (9 + 10)
    assert PassiveAggressiveBound.bound(0.5, 0.5, 3.0, 5.0) == 2 * (9 + 5)


def test_the_bound_is_attained():
    """Unit vectors, all labelled -1, at a tie: a mistake each; u = -(1, ..., 1) has no loss and |u|^2 = n."""
    n = 12
    learner = aw.PassiveAggressive()
    learner.learn_many(np.eye(n), [-1] * n)
    certificate = learner.certificate(np.eye(n), [-1] * n)
    assert learner.mistakes == n
    assert certificate.bound == pytest.approx(n, rel=1e-6)


def test_against_an_adversary():
    random = np.random.default_rng(0)
    learner = aw.PassiveAggressive(0.5, labels=(-1, 1))
    X, y = random.integers(-2, 3, size=(150, 4)).astype(float), []
    for x in X:
        y.append(-learner.predict_one(x))
        learner.learn_one(x, y[-1])
    certificate = learner.certificate(X, y)
    assert learner.mistakes == 150 == certificate.observed
    assert certificate.verdict is Verdict.HOLDS


def test_other_rounds_and_tampered_weights_get_no_certificate():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((30, 3)), random.choice([-1, 1], 30)
    learner = aw.PassiveAggressive()
    learner.learn_many(X, y)
    assert learner.certificate(X[::-1], y[::-1]).verdict is Verdict.NOT_APPLICABLE
    state = learner.state()
    state["weights"] = state["weights"] + 1
    learner.restore(state)
    assert learner.certificate(X, y).verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("C", [0, -1.0, math.nan, math.inf, "1", True])
def test_bad_options_are_refused(C):
    with pytest.raises(InputError, match="C must be a positive finite number"):
        aw.PassiveAggressive(C)


def test_a_row_of_nothing_changes_no_weight():
    learner = aw.PassiveAggressive()
    learner.learn_many([[0.0, 0.0], [1e-200, 0.0]], [1, 1])
    assert learner.weights.tolist() == [1e-200, 0]
