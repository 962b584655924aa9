"""Figure 8.12: also learn from examples that were right, but not by enough."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from afterwit import adversaries
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from problems import FORMS, in_columns, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.MarginPerceptron(margin=2)
    assert learner.learn_one([3.0, 0.0], 1) == 1  # right, but w = 0: an update
    assert learner.weights.tolist() == [3, 0]
    assert learner.learn_one([1.0, 5.0], 1) == 1  # y w.x / |w| = 1 = rho/2: not below it
    assert learner.weights.tolist() == [3, 0]
    assert learner.learn_one([0.5, 4.0], 1) == 1  # 0.5 < 1: right, but not by enough
    assert learner.weights.tolist() == [3.5, 4]
    assert learner.learn_one([1.0, 1.0], -1) == 1
    assert learner.weights.tolist() == [2.5, 3]
    assert (learner.rounds, learner.mistakes, learner.updates) == (4, 1, 3)


def decided_by_rounding(X, y, margin, passes):
    """Whether some round comes out exactly at the margin while |w| is irrational or inexact in binary."""
    w = [naive.Fraction(0)] * len(X[0])
    for t in range(passes * len(X)):
        x, label = X[t % len(X)], y[t % len(X)]
        square = sum(a * a for a in w)
        reached = label * naive.exact_dot(w, x)
        gap = reached**2 - (naive.exact(margin) / 2) ** 2 * square
        if square and abs(gap) < 1e-9 * square and math.isqrt(int(square)) ** 2 != square:
            return True
        if naive.below_half_margin(w, x, label, margin):
            w = [a + label * naive.exact(b) for a, b in zip(w, x, strict=True)]
    return False


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, margin=st.sampled_from([0.25, 1, 2, 4]), passes=st.integers(1, 3))
def test_it_is_the_oracle(form, problem, margin, passes):
    X, y = problem
    assume(not decided_by_rounding(X, y, margin, passes))
    weights, expected, updates = naive.margin_perceptron(X, y, margin, passes)
    at_once, singly = aw.MarginPerceptron(margin), aw.MarginPerceptron(margin)
    many, ones = form(X), one_by_one(form, X)
    assert [p for _ in range(passes) for p in at_once.learn_many(many, y).tolist()] == expected
    assert [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(ones, y, strict=True)] == expected
    for learner in (at_once, singly):
        assert in_columns(learner.weights, len(X[0])) == [float(a) for a in weights]
        assert learner.updates == len(updates)
        assert learner.mistakes == sum(p != label for p, label in zip(expected, y * passes, strict=True))


@given(small_integers)
def test_with_almost_no_margin_it_is_the_perceptron_but_at_ties(problem):
    X, y = problem
    weights, expected, _ = naive.margin_perceptron(X, y, 1e-9)
    learner = aw.MarginPerceptron(1e-9)
    assert learner.learn_many(X, y).tolist() == expected
    assert learner.weights.tolist() == [float(a) for a in weights]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_training_reaches_half_the_margin_within_the_bound(seed, share):
    stream = adversaries.separable(80, 4, margin=0.15, seed=seed, radius=2.0)
    learner = aw.MarginPerceptron(margin=share * stream.margin)
    training = learner.fit(stream.X, stream.y, max_passes=10_000)
    assert training.converged
    margins = stream.y * (stream.X @ learner.weights) / np.linalg.norm(learner.weights)
    assert margins.min() >= share * stream.margin / 2 * (1 - 1e-9)
    assert learner.updates <= 16 * (stream.radius / (share * stream.margin)) ** 2
    before = learner.updates
    learner.learn_many(stream.X, stream.y)
    assert learner.updates == before, "a pass after convergence changes nothing"


def test_without_that_margin_it_does_not_converge():
    assert not aw.MarginPerceptron(margin=3.0).fit([[1.0, 0.0], [-1.0, 0.1]], [1, -1], max_passes=50).converged


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize(("share", "applies"), [(0.5, True), (1.0, True), (1.001, False), (1.5, False), (1.99, False)])
def test_the_bound_needs_the_whole_margin_that_the_learner_was_made_with(scale, share, applies):
    """Half of rho is all that training aims at, but the proof takes data with all of it: the margin here is 2."""
    X, y = scale * np.array([[2.0, 1.0], [-2.0, 3.0], [2.0, -1.0], [-5.0, 0.0]]), [1, -1, 1, -1]
    learner = aw.MarginPerceptron(margin=2 * scale * share)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is (Verdict.HOLDS if applies else Verdict.NOT_APPLICABLE)
    if applies:
        assert certificate.bound == pytest.approx(16 * (5 / (2 * share)) ** 2)
    else:
        assert "gamma = " in certificate.why_not()[0]


def test_weights_that_come_back_to_zero_start_again():
    learner = aw.MarginPerceptron(margin=1.0)
    learner.learn_one([1.0, 2.0], 1)
    learner.learn_one([1.0, 2.0], -1)
    assert learner.weights.tolist() == [0, 0]
    learner.learn_one([5.0, 0.0], 1)  # w = 0: an update, whatever it says
    assert learner.weights.tolist() == [5, 0]


def test_the_length_is_measured_again_where_most_of_it_was_taken_away():
    """|w|^2 is followed by its changes; next to 1e18 a 1 is lost, and must be found again when the 1e18 are gone."""
    learner = aw.MarginPerceptron(margin=1.0)
    assert (learner.state()["square"], learner.state()["peak"]) == (0, 0)
    learner.learn_many([[1e9, 1.0], [1e9, 0.0]], [1, -1])
    assert learner.weights.tolist() == [0, 1]
    learner.learn_one([0.0, 1.0], 1)  # y w.x / |w| = 1, twice what is asked for
    assert learner.weights.tolist() == [0, 1]
    learner.learn_one([0.0, 0.25], 1)  # half of it
    assert learner.weights.tolist() == [0, 1.25]
    assert learner.updates == 3


@pytest.mark.parametrize("margin", [0, -1, math.nan, math.inf, "1", None, True])
def test_a_bad_margin_is_refused(margin):
    with pytest.raises(InputError, match=r"^margin must be a positive finite number; received "):
        aw.MarginPerceptron(margin=margin)


def test_saved_with_its_margin_and_length(tmp_path):
    learner = aw.MarginPerceptron(margin=0.7, intercept=True, labels=("n", "p"))
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.random.default_rng(1).choice(["n", "p"], 20)
    learner.learn_many(X, y)
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.margin == 0.7
    for each in (learner, again):
        each.learn_many(X, y)
    assert again == learner
