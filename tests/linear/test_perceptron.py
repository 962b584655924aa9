"""Figure 8.6 itself, its options, and training to convergence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
import naive
from afterwit import adversaries
from afterwit.errors import InputError


def test_the_first_rounds_by_hand():
    learner = aw.Perceptron()
    assert learner.learn_one([1.0, 2.0], 1) == 1  # sgn(0) = +1: right, nothing is added
    assert learner.weights.tolist() == [0, 0]
    assert learner.learn_one([1.0, 2.0], -1) == 1
    assert learner.weights.tolist() == [-1, -2]
    assert learner.learn_one([2.0, -1.0], -1) == 1  # again a tie
    assert learner.weights.tolist() == [-3, -1]
    assert learner.score_one([1.0, 1.0]) == -4
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 2, 2)


@given(st.integers(0, 2**32), st.sampled_from([0.125, 2.0, 3.0, 1e6]))
def test_the_rate_changes_no_prediction_from_zero(seed, rate):
    random = np.random.default_rng(seed)
    X, y = random.integers(-5, 6, (60, 4)), random.choice([-1, 1], size=60)
    one, other = aw.Perceptron(), aw.Perceptron(rate=rate)
    assert one.learn_many(X, y).tolist() == other.learn_many(X, y).tolist()
    assert other.weights.tolist() == (rate * one.weights).tolist()


@given(st.lists(st.integers(-8, 8), min_size=3, max_size=3), st.integers(0, 2**32))
def test_a_start_is_where_it_starts(start, seed):
    random = np.random.default_rng(seed)
    X, y = random.integers(-5, 6, (30, 3)), random.choice([-1, 1], size=30)
    weights, predictions, _ = naive.perceptron(
        [naive.as_dict(x) for x in X.tolist()], y.tolist(), start=dict(enumerate(start))
    )
    by_position = aw.Perceptron(start=start)
    assert by_position.learn_many(X, y).tolist() == predictions
    assert by_position.weights.tolist() == [float(weights.get(j, 0)) for j in range(3)]
    by_name = aw.Perceptron(start={f"f{j}": value for j, value in enumerate(start)})
    rows = [{f"f{j}": int(value) for j, value in enumerate(x)} for x in X]
    assert by_name.learn_many(rows, y).tolist() == predictions
    twin = aw.Perceptron(**by_name.parameters)
    assert twin.learn_many(rows, y).tolist() == predictions


def test_the_start_is_copied():
    start = np.array([1.0, 2.0])
    learner = aw.Perceptron(start=start)
    start[:] = 0
    learner.parameters["start"][:] = 0
    learner.weights[:] = 0
    assert learner.weights.tolist() == [1, 2]
    assert learner.parameters["start"].tolist() == [1, 2]


def test_a_sparse_start_is_understood():
    learner = aw.Perceptron(start=aw.SparseRow([1, 4], [2.0, 3.0]))
    assert learner.weights.tolist() == [0, 2, 0, 0, 3]


def test_a_rate_of_any_numeric_type():
    from fractions import Fraction

    for rate in (2, np.float32(2), np.int64(2), Fraction(2)):
        assert aw.Perceptron(rate=rate).rate == 2.0


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), "1", None, True, 10**400, 1j])
def test_a_bad_rate_is_refused(rate):
    with pytest.raises(InputError, match="rate must be a positive finite number"):
        aw.Perceptron(rate=rate)


def test_training_to_convergence():
    stream = adversaries.separable(100, 5, margin=0.1, seed=3)
    learner = aw.Perceptron()
    training = learner.fit(stream.X, stream.y)
    assert training.converged
    assert training.mistakes_per_pass[-1] == 0
    assert all(mistakes > 0 for mistakes in training.mistakes_per_pass[:-1])
    assert learner.rounds == training.passes * 100
    assert learner.mistakes == training.mistakes <= 100
    assert (learner.predict_many(stream.X) == stream.y).all()
    again = aw.Perceptron()
    for _ in range(training.passes):
        again.learn_many(stream.X, stream.y)
    assert again == learner


def test_training_that_cannot_converge_stops_at_the_cap():
    training = aw.Perceptron().fit([[1.0], [1.0]], [1, -1], max_passes=7)
    assert not training.converged
    assert training.passes == 7


def test_training_on_nothing_has_converged():
    training = aw.Perceptron().fit(np.empty((0, 3)), [])
    assert training.converged
    assert training.mistakes_per_pass == (0,)


def test_a_shuffled_order_still_converges_within_the_bound():
    stream = adversaries.separable(60, 4, margin=0.15, seed=11)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(60)
        learner = aw.Perceptron()
        assert learner.fit(stream.X[order], stream.y[order]).converged
        assert learner.mistakes <= (stream.radius / stream.margin) ** 2


def test_its_repr_says_what_it_is():
    learner = aw.Perceptron(rate=2, labels=("no", "yes"))
    learner.learn_one({"a": 1}, "no")
    assert repr(learner) == "Perceptron(rate=2.0, labels=('no', 'yes')): 1 round, 1 mistake"
