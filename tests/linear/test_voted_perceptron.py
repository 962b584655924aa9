"""The vote of the perceptron's hypotheses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive
from afterwit.errors import InputError
from problems import FORMS, in_columns, one_by_one, small_integers


def test_the_first_rounds_by_hand():
    learner = aw.VotedPerceptron()
    assert learner.learn_one([1.0, 0.0], -1) == 1  # (-1, 0)
    assert learner.learn_one([0.0, 1.0], 1) == 1  # sgn(0) = +1: survives
    assert learner.learn_one([-1.0, 1.0], -1) == 1  # (0, -1)
    assert learner.votes.tolist() == [0, 2, 1]
    assert learner.score_one([1.0, -1.0]) == pytest.approx(-1 / 3)
    assert learner.score_one([0.0, 0.0]) == 1, "a score of 0 is a vote for +1"
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 2, 2)


def test_before_the_first_round_it_says_plus():
    assert aw.VotedPerceptron().predict_one([1.0]) == 1
    assert aw.VotedPerceptron().score_one([1.0]) == 0


def test_an_even_vote_is_plus():
    learner = aw.VotedPerceptron()
    learner.learn_one([1.0], -1)  # w = -1
    learner.learn_one([2.0], 1)  # w = 1
    assert learner.votes.tolist() == [0, 1, 1]
    assert learner.score_one([1.0]) == 0
    assert learner.predict_one([1.0]) == 1
    assert learner.predict_one([-1.0]) == 1


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, passes=st.integers(1, 2))
def test_it_is_the_oracle(form, problem, passes):
    X, y = problem
    history = naive.hypotheses(X, y, passes)
    expected = naive.predictions_by(naive.voted_score, X, y, passes)
    at_once, singly = aw.VotedPerceptron(), aw.VotedPerceptron()
    many, ones = form(X), one_by_one(form, X)
    assert [p for _ in range(passes) for p in at_once.learn_many(many, y).tolist()] == expected
    assert [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(ones, y, strict=True)] == expected
    for learner in (at_once, singly):
        assert in_columns(learner.weights, len(X[0])) == [float(a) for a in history[-1]]
        assert learner.mistakes == sum(p != label for p, label in zip(expected, y * passes, strict=True))
        assert learner.votes.sum() == learner.rounds
        assert len(learner.votes) == learner.updates + 1
    assert at_once.score_many(many).tolist() == [float(naive.voted_score(history, x)) for x in X]


@given(small_integers)
def test_after_every_round_the_votes_are_those_of_the_oracle(problem):
    X, y = problem
    history = naive.hypotheses(X, y)
    learner = aw.VotedPerceptron()
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        learner.learn_one(x, label)
        assert [learner.score_one(z) for z in X] == [float(naive.voted_score(history[: t + 2], z)) for z in X]


def test_many_more_hypotheses_than_there_was_room_for():
    random = np.random.default_rng(0)
    X, y = random.integers(-3, 4, (150, 40)), random.choice([-1, 1], size=150)
    learner = aw.VotedPerceptron()
    learner.learn_many(X, y)
    assert learner.updates > 60
    history = naive.hypotheses(X.tolist(), y.tolist())
    assert learner.score_many(X[:20]).tolist() == [float(naive.voted_score(history, x)) for x in X[:20].tolist()]


def test_weights_that_are_zero_again_vote_for_plus():
    """The sum of the products with what was added need not come back to 0 where the weights do."""
    random = np.random.default_rng(3)
    for scale in (1.0, 1e-100, 1e150):
        for _ in range(30):
            x, new = scale * random.standard_normal((2, 5))
            learner = aw.VotedPerceptron()
            learner.learn_many([x, x, x], [-1, 1, 1])  # -x, then 0, which survives a round
            history = naive.hypotheses([x.tolist()] * 3, [-1, 1, 1])
            assert learner.votes.tolist() == [0, 1, 2]
            assert not any(history[-1])
            assert learner.score_one(new) == float(naive.voted_score(history, new.tolist()))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("decimals", [0, 1, 15])
def test_every_hypothesis_votes_as_a_perceptron_with_its_weights_predicts(form, decimals):
    """To the bit, also where tenths that cancel leave nothing but rounding."""
    random = np.random.default_rng(decimals)
    X, y = np.round(random.uniform(-1, 1, (60, 6)), decimals), random.choice([-1, 1], size=60)
    X[::2] = X[random.integers(0, 5, 30)]  # the same rows again and again: many are taken away again
    y[::2] = np.tile([-1, 1], 15)
    rows, new = one_by_one(form, X.tolist()), form(X.tolist())
    voted, perceptron = aw.VotedPerceptron(), aw.Perceptron()
    votes = np.zeros(len(X))
    for t, (x, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        voted.learn_one(x, label)
        perceptron.learn_one(x, label)
        votes += np.where(perceptron.score_many(new) >= 0, 1, -1)
        assert voted.score_many(new).tolist() == (votes / (t + 1)).tolist()
    assert voted.copy().score_many(new).tolist() == (votes / len(X)).tolist()


def test_features_that_come_late_were_zero_before():
    late, early = aw.VotedPerceptron(), aw.VotedPerceptron()
    rows = [{"a": 1}, {"a": 2, "b": 1}, {"b": 1, "c": -1}, {"a": 1, "b": 1, "c": 1}]
    full = [{**dict.fromkeys("abc", 0), **row} for row in rows]
    y = [-1, 1, -1, 1]
    late.learn_many(rows, y)
    early.learn_many(full, y)
    assert late.score_many(full).tolist() == early.score_many(full).tolist() == late.score_many(rows).tolist()
    assert late.score_one({"d": 5}) == early.score_one({"d": 5})


def test_saved_with_its_votes(tmp_path):
    learner = aw.VotedPerceptron(intercept=True, labels=(0, 1))
    X, y = np.random.default_rng(1).standard_normal((30, 3)), np.random.default_rng(2).integers(0, 2, 30)
    learner.learn_many(X, y)
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.score_many(X).tolist() == learner.score_many(X).tolist()
    for each in (learner, again):
        each.learn_many(X[::-1], y)
    assert again == learner


@pytest.mark.parametrize(
    "change",
    [
        {"votes": np.array([1], dtype=np.int64)},
        {"starts": np.array([0.0, 1.0])},
        {"places": np.array([7, 7], dtype=np.int32)},
        {"updates": 0},
    ],
)
def test_states_that_do_not_fit_are_refused(change):
    learner = aw.VotedPerceptron()
    learner.learn_one([1.0, 2.0], -1)
    before = learner.state()
    with pytest.raises(InputError, match="must be"):
        learner.restore({**before, **change})
    assert learner.copy() == learner


def test_rounds_that_give_the_same_weights_but_other_votes_are_not_its_rounds():
    learner = aw.VotedPerceptron()
    learner.learn_many([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    assert learner.certificate([[1.0, 0.0], [0.0, 1.0]], [1, -1]).verdict == "holds"
    made = learner.certificate([[0.0, 1.0]], [-1])
    assert made.verdict == "not applicable"
    assert "these rows give other votes" in str(made)
