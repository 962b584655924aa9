"""The progressive bound and the confidence sequence: the formulas, and that they cover what they say."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_batch
from afterwit.batch import ConfidenceSequence, confidence_sequence, progressive_bound
from afterwit.batch.progressive import ProgressiveBound
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40),
    st.sampled_from([0.05, 0.5]),
)
def test_the_interval_is_the_oracles(losses, delta):
    band = confidence_sequence(losses, delta)
    for t in range(1, len(losses) + 1):
        lower, upper = naive_batch.interval(sum(losses[:t]), t, delta)
        assert (band.lower[t - 1], band.upper[t - 1]) == pytest.approx((lower, upper), abs=1e-9)
        assert band.lower[t - 1] <= band.mean[t - 1] <= band.upper[t - 1]


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), max_size=40), st.integers(1, 9))
def test_round_by_round_is_all_at_once(losses, size):
    band = confidence_sequence(losses, 0.1)
    sequence, portions = ConfidenceSequence(0.1), ConfidenceSequence(0.1)
    assert sequence.interval == (0.0, 1.0)
    for t, loss in enumerate(losses):
        sequence.observe(loss)
        assert sequence.interval == (band.lower[t], band.upper[t])
        assert (sequence.lower, sequence.upper, sequence.mean) == (band.lower[t], band.upper[t], band.mean[t])
    for begin in range(0, len(losses), size):
        portions.observe_many(losses[begin : begin + size])
    assert portions == sequence
    assert pickle.loads(pickle.dumps(sequence)) == sequence
    assert f": {len(losses)} round" in repr(sequence)


def learners(runs, rounds, seed):
    """Losses whose expectations change with what happened, in the direction that hurts, and those expectations.

    Errors are near 1/3 or 1/2; where the learner was lucky so far they go up, else down.
    """
    random = np.random.default_rng(seed)
    base = np.tile([0.35, 0.5], runs // 2)
    errors, losses = np.empty((runs, rounds)), np.empty((runs, rounds))
    ahead = np.zeros(runs)
    for t in range(rounds):
        errors[:, t] = np.clip(base * np.where(ahead > 0, 1.1, 0.9), 0, 1)
        losses[:, t] = random.random(runs) < errors[:, t]
        ahead += errors[:, t] - losses[:, t]
    return losses, np.cumsum(errors, axis=1) / np.arange(1, rounds + 1)


def misses(interval, delta, runs=600, rounds=800):
    """The share of runs in which the running mean of the errors leaves the interval, at whatever time."""
    losses, means = learners(runs, rounds, seed=4)
    missed = 0
    for run in range(runs):
        lower, upper = interval(losses[run], delta)
        missed += bool(((means[run] < lower) | (means[run] > upper)).any())
    return missed / runs


def ours(losses, delta):
    band = confidence_sequence(losses, delta)
    return band.lower, band.upper


def for_one_look(losses, delta):
    """Hoeffding's interval for a length fixed beforehand: too narrow for a look at any time."""
    rounds = np.arange(1, len(losses) + 1)
    mean, width = np.cumsum(losses) / rounds, np.sqrt(np.log(2 / delta) / (2 * rounds))
    return mean - width, mean + width


def too_narrow(losses, delta):
    """Ours, two thirds as wide."""
    band = confidence_sequence(losses, delta)
    return band.mean - 0.67 * (band.mean - band.lower), band.mean + 0.67 * (band.upper - band.mean)


def test_the_sequence_covers_at_all_times_at_once():
    assert misses(ours, 0.2) <= 0.2
    assert misses(for_one_look, 0.2) > 0.2
    assert misses(too_narrow, 0.2) > 0.2


def test_it_is_narrower_than_the_progressive_bound_and_holds_longer():
    losses = np.zeros(10_000)
    losses[::10] = 1
    band = confidence_sequence(losses)
    assert band.upper[-1] < progressive_bound(rounds=10_000, loss=1000).bound
    assert 0.085 < band.lower[-1] < 0.1 < band.upper[-1] < 0.115
    # A billion rounds: still no wider than it should be.
    sequence = ConfidenceSequence()
    sequence.rounds, sequence.total = 10**9, 1e8
    assert sequence.upper - sequence.lower < 1e-4


def test_without_a_mistake_it_is_the_rule_of_three_with_a_larger_three():
    upper = confidence_sequence(np.zeros(1000)).upper[-1]
    assert upper == pytest.approx(-math.expm1(-math.log(800) / 1000) / -math.expm1(-4))


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([0, 2], r"losses\[1\] must be a number from 0 to 1; received 2"),
        ([0.5, math.nan], r"losses\[1\] must be"),
        ([-0.1], r"losses\[0\] must be"),
        (["a"], "losses must be a sequence of numbers from 0 to 1"),
        ([[0.0]], "losses must be a sequence"),
    ],
)
def test_bad_losses(losses, message):
    sequence = ConfidenceSequence()
    for call in (lambda: confidence_sequence(losses), lambda: sequence.observe_many(losses)):
        with pytest.raises(InputError, match=message):
            call()
    assert (sequence.rounds, sequence.total) == (0, 0.0)
    with pytest.raises(InputError, match="delta must be"):
        ConfidenceSequence(1.5)


def test_the_progressive_bound_of_a_record():
    stream = aw.adversaries.label_noise(aw.adversaries.separable(500, 4, margin=0.1, seed=1), 0.2, seed=2)
    learner = aw.Perceptron()
    record = aw.play(learner, stream)
    certificate = progressive_bound(record, 0.1)
    assert certificate.bound == record.error + math.sqrt(2 * math.log(10) / 500)
    assert (certificate.subject, certificate.observed, certificate.rounds) == ("Perceptron", record.error, 500)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.theorem.chance == "with probability 90%"
    assert progressive_bound(learner, 0.1).bound == certificate.bound
    assert progressive_bound(rounds=500, loss=record.mistakes, delta=0.1).bound == certificate.bound
    assert progressive_bound(rounds=500, loss=700, largest_loss=3, delta=0.1).bound == pytest.approx(
        700 / 500 + 3 * math.sqrt(2 * math.log(10) / 500)
    )


def perceptrons(runs, rounds, noise, seed):
    """Perceptrons on noisy labels in the plane, whose errors are angles: mistakes and mean errors of every run."""
    random = np.random.default_rng(seed)
    w = np.zeros((runs, 2))
    mistakes, errors = np.zeros(runs), np.zeros(runs)
    for _ in range(rounds):
        X = random.standard_normal((runs, 2))
        y = np.where((X[:, 0] >= 0) ^ (random.random(runs) < noise), 1, -1)
        length = np.linalg.norm(w, axis=1)
        # At w = 0 it always says +1, and is wrong half of the time.
        angle = np.arccos(np.clip(w[:, 0] / np.where(length > 0, length, 1), -1, 1)) / np.pi
        errors += noise + (1 - 2 * noise) * np.where(length > 0, angle, 0.5)
        wrong = np.where((w * X).sum(axis=1) >= 0, 1, -1) != y
        mistakes += wrong
        w += (wrong * y)[:, None] * X
    return mistakes, errors / rounds


def test_the_progressive_bound_covers():
    mistakes, errors = perceptrons(2000, 200, 0.2, seed=7)
    deviation = np.array([ProgressiveBound.bound(m / 200, 200, 0.2) for m in mistakes])
    assert np.mean(errors > deviation) <= 0.2
    # Without the deviation the mean loss is too low every other time.
    assert np.mean(errors > mistakes / 200) > 0.4


def test_a_second_pass_says_nothing_about_new_data():
    pairs = [([1.0], 1), ([-1.0], -1)] * 50
    once, twice = (progressive_bound(aw.play(aw.Perceptron(), pairs, passes=passes)) for passes in (1, 2))
    assert once.verdict is Verdict.HOLDS
    assert (twice.verdict, twice.bound) == (Verdict.NOT_APPLICABLE, None)
    assert "the stream was played 2 times" in str(twice)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"record": 3}, "record must be a Record"),
        ({"record": aw.Record("x"), "rounds": 3}, "record must be a Record"),
        ({"record": aw.Record("x")}, "rounds must be a whole number, at least 1; received 0"),
        ({"rounds": 5}, "loss must be a number from 0 to 5"),
        ({"rounds": 5, "loss": 6}, "loss must be a number from 0 to 5, the most that 5 rounds can cost"),
        ({"rounds": 5, "loss": 1, "largest_loss": 0}, "largest_loss must be"),
        ({"rounds": 5, "loss": 1, "delta": 0}, "delta must be"),
    ],
)
def test_bad_counts(given, message):
    with pytest.raises(InputError, match=message):
        progressive_bound(**given)
