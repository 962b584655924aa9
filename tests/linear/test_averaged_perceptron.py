"""The average of the perceptron's hypotheses, taken lazily, is their average."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from problems import FORMS, as_dense, in_columns, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.AveragedPerceptron()
    assert learner.learn_one([1.0, 2.0], -1) == 1  # w_2 = (-1, -2)
    assert learner.weights.tolist() == [-1, -2]
    assert learner.learn_one([2.0, 0.0], 1) == -1  # w_3 = (1, -2)
    assert learner.last_weights.tolist() == [1, -2]
    assert learner.weights.tolist() == [0, -2]
    # The average says 0, hence +1; the last hypothesis says +1 as well: no update, but a mistake only of neither.
    assert learner.learn_one([1.0, 0.0], 1) == 1
    assert learner.weights.tolist() == pytest.approx([1 / 3, -2])
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 2, 2)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, passes=st.integers(1, 2))
def test_it_is_the_oracle(form, problem, passes):
    X, y = problem
    history = naive.hypotheses(X, y, passes)
    expected = naive.predictions_by(naive.averaged_score, X, y, passes)
    at_once, singly = aw.AveragedPerceptron(), aw.AveragedPerceptron()
    # Sums of whole numbers are exact: only the division by the number of rounds is rounded, which keeps the sign.
    many = form(X)
    assert [p for _ in range(passes) for p in at_once.learn_many(many, y).tolist()] == expected
    ones = one_by_one(form, X)
    assert [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(ones, y, strict=True)] == expected
    width, rows = len(X[0]), [naive.as_dict(x) for x in X]
    for learner in (at_once, singly):
        assert in_columns(learner.last_weights, width) == [float(a) for a in history[-1]]
        assert in_columns(learner.weights, width) == [float(a) for a in naive.average(history[1:])]
        assert learner.updates == len(naive.perceptron(rows, y, passes=passes)[2])
        assert learner.mistakes == sum(p != label for p, label in zip(expected, y * passes, strict=True))
    assert at_once.score_many(many).tolist() == [float(naive.averaged_score(history, x)) for x in X]


@given(small_integers)
def test_after_every_round_the_lazy_average_is_the_average(problem):
    X, y = problem
    history = naive.hypotheses(X, y)
    learner = aw.AveragedPerceptron()
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        learner.learn_one(x, label)
        assert learner.weights.tolist() == [float(a) for a in naive.average(history[1 : t + 2])]


@given(st.integers(0, 2**32))
def test_its_updates_are_the_perceptrons(seed):
    random = np.random.default_rng(seed)
    X, y = random.integers(-5, 6, (80, 4)).astype(float), random.choice([-1, 1], size=80)
    learner, perceptron = aw.AveragedPerceptron(), aw.Perceptron()
    learner.learn_many(X, y)
    perceptron.learn_many(X, y)
    assert learner.updates == perceptron.mistakes
    assert learner.last_weights.tolist() == perceptron.weights.tolist()


def test_the_mistakes_are_those_of_the_average():
    X, y = as_dense([[1, 0], [1, 0], [1, 0]]), [-1, 1, 1]
    learner = aw.AveragedPerceptron()
    # w: -1, then 0 after the second round; the average of (-1, 0) is still negative in the third.
    assert learner.learn_many(X, y).tolist() == [1, -1, -1]
    assert (learner.mistakes, learner.updates) == (3, 2)
    assert learner.last_weights.tolist() == [0, 0]


def test_saved_with_its_moments(tmp_path):
    learner = aw.AveragedPerceptron(intercept=True, labels=("a", "b"))
    learner.learn_many([{"p": 1.0, "q": -2.0}, {"q": 3.0}, {"p": 2.0}], ["a", "b", "a"])
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    for each in (learner, again):
        each.learn_many([{"p": -1.0, "r": 5.0}] * 3, ["a", "b", "a"])
    assert again == learner
    assert again.weights == learner.weights
    assert again.last_weights == learner.last_weights
