"""Large gap, controlled testing and random stopping: what they return, what they promise, and that it is true."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_batch
from afterwit.batch import controlled_testing, large_gap, random_stopping
from afterwit.batch.large_gap import SMALLEST_RISK, RightInARow
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from problems import as_dense, as_dicts, as_sparse, in_columns, small_integers


def separated(rounds=3000, seed=0, width=4):
    stream = aw.adversaries.separable(rounds, width, margin=0.15, seed=seed)
    return stream.X.round(3), stream.y


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.03])
@pytest.mark.parametrize("seed", range(4))
def test_large_gap_is_the_procedure_of_the_text(seed, epsilon):
    X, y = separated(seed=seed)
    weights, mistakes, gap, rounds = naive_batch.large_gap(X.tolist(), y.tolist(), epsilon, 0.05)
    predictor = large_gap(aw.Perceptron(), X, y, epsilon=epsilon)
    certificate = predictor.certificate
    assert predictor.learner.weights.tolist() == weights
    assert (certificate.inputs["i"], certificate.inputs["k"], certificate.rounds) == (mistakes, gap, rounds)
    assert certificate.bound == epsilon
    assert certificate.verdict is Verdict.HOLDS
    # It halts within the number of rounds that the theorem names.
    assert rounds <= (mistakes + 1) * (math.log((mistakes + 2) ** 2 / 0.05) / epsilon + 2)


@settings(max_examples=40)
@given(problem=small_integers, epsilon=st.sampled_from([None, 0.9, 0.7]))
def test_large_gap_keeps_the_best_where_no_gap_is_large_enough(problem, epsilon):
    X, y = problem
    stopped = None if epsilon is None else naive_batch.large_gap(X, y, epsilon, 0.9)
    found = naive_batch.gaps(X, y)
    for form in (as_dense, as_sparse, as_dicts):
        predictor = large_gap(aw.Perceptron(), form(X), y, epsilon=epsilon, delta=0.9)
        inputs, certificate = predictor.certificate.inputs, predictor.certificate
        weights = in_columns(predictor.learner.weights, len(X[0]))
        if stopped is not None:
            assert (weights, inputs["i"], inputs["k"]) == (list(stopped[0]), stopped[1], stopped[2])
            continue
        bounds = [math.log((i + 2) ** 2 / 0.9) / k if k else math.inf for _, i, k in found]
        best = bounds.index(min(bounds))
        if math.isinf(bounds[best]):
            assert certificate.verdict is Verdict.NOT_APPLICABLE
            continue
        assert (weights, inputs["i"], inputs["k"]) == (list(found[best][0]), found[best][1], found[best][2])
        assert certificate.bound == pytest.approx(bounds[best])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epsilon", [0.3, 0.05, 0.004])
def test_controlled_testing_is_the_procedure_of_the_text(seed, epsilon):
    X, y = separated(seed=seed, rounds=4000)
    weights, tests, used, passed = naive_batch.controlled_testing(X.tolist(), y.tolist(), epsilon, 0.1)
    predictor = controlled_testing(aw.Perceptron(), X, y, epsilon=epsilon, delta=0.1)
    certificate = predictor.certificate
    assert in_columns(predictor.learner.weights, 4) == weights if tests else predictor.learner.rounds == 0
    assert (certificate.inputs["i"], certificate.rounds) == (tests, used)
    assert (certificate.verdict is Verdict.HOLDS) is passed
    assert certificate.bound == (epsilon if passed else None)


def test_controlled_testing_says_what_was_missing():
    X, y = separated(50)
    certificate = controlled_testing(aw.Perceptron(), X, y, epsilon=0.01).certificate
    assert "the examples ended in test 1, which needs 439; 50 were left" in str(certificate)
    # The formula that one can ask for is the one that the procedure uses: the first hypothesis has number 0 in both.
    assert aw.bounds.bound("controlled-testing", hypothesis=0, error=0.01, delta=0.05) == 439


def test_every_test_takes_as_many_examples_as_the_formula_says():
    X, y = separated(4000)
    certificate = controlled_testing(aw.Perceptron(), X, y, epsilon=0.05, delta=0.1).certificate
    assert certificate.verdict is Verdict.HOLDS
    sizes = [aw.bounds.conversion.controlled_testing(i, 0.05, 0.1) for i in range(certificate.inputs["i"] + 1)]
    assert len(sizes) > 2
    assert certificate.rounds == sum(sizes)


class Wandering:
    """Every hypothesis errs on the same share of all examples, but each on others: it never learns anything."""

    share = 0.12

    def __init__(self):
        self.shift = 0.0

    def predict_one(self, x):
        return -1 if (x[0] + self.shift) % 1 < self.share else 1

    def learn_one(self, x, y):
        self.shift += 0.6180339887498949


def share_of_false_promises(procedure, runs=60, rounds=900):
    """How often a hypothesis of error 0.12 is certified to have an error of at most 0.1."""
    random = np.random.default_rng(1)
    certified = 0
    for _ in range(runs):
        stream = [([x], 1) for x in random.random(rounds).tolist()]
        certified += procedure(Wandering(), stream, epsilon=0.1, delta=0.2).certificate.verdict is Verdict.HOLDS
    return certified / runs


@pytest.mark.parametrize("procedure", [large_gap, controlled_testing])
def test_false_promises_are_as_rare_as_promised(procedure, monkeypatch):
    def holds(learner, stream, epsilon, delta):
        """Large gap always has a bound; what matters here is whether it is below epsilon."""
        found = procedure(learner, stream, epsilon=epsilon, delta=delta)
        certificate = found.certificate
        if certificate.bound is None or certificate.bound > epsilon:
            return controlled_testing(learner, [], epsilon=epsilon)  # no promise
        return found

    assert share_of_false_promises(holds) <= 0.2
    # With a test a third as long, the same experiment finds too many.
    right = RightInARow.bound
    monkeypatch.setattr(RightInARow, "bound", staticmethod(lambda *given: right(*given) // 3))
    assert share_of_false_promises(holds) > 0.2


def test_every_learner_can_be_stopped():
    X, y = separated(2500)
    learners = [
        aw.SGD(rate=0.5),
        aw.AveragedPerceptron(),
        aw.KernelPerceptron(),
        aw.OneVsRest(),
        aw.VotedPerceptron(),
        aw.MarginPerceptron(),
    ]
    for learner in learners:
        for procedure in (large_gap, controlled_testing):
            predictor = procedure(learner, X, y, epsilon=0.1)
            assert predictor.certificate.verdict is Verdict.HOLDS
            assert np.mean(predictor.predict_many(X) != y) < 0.1
        assert learner.rounds == 0


def test_a_stream_is_read_no_further_than_needed():
    X, y = separated(3000)
    taken = []

    def endless():
        while True:
            for x, label in zip(X, y.tolist(), strict=True):
                taken.append(1)
                yield x, label

    used = large_gap(aw.Perceptron(), endless(), epsilon=0.2).certificate.rounds
    assert used <= len(taken) <= used + 8192
    taken.clear()
    used = controlled_testing(aw.Perceptron(), endless(), epsilon=0.2).certificate.rounds
    assert used == len(taken)


def test_random_stopping_draws_every_round_alike():
    X, y = separated(12)
    counts = np.zeros(12, dtype=int)
    for seed in range(1200):
        predictor = random_stopping(aw.Perceptron(), X, y, seed=seed)
        t = predictor.certificate.inputs["t"]
        counts[t - 1] += 1
        if seed < 40:
            learner = aw.Perceptron(labels=(-1, 1))
            learner.learn_many(X[: t - 1], y[: t - 1])
            assert predictor.learner == learner
    # 100 expected of each, standard deviation 10.
    assert np.abs(counts - 100).max() < 35


def test_random_stopping_bounds():
    X, y = separated(400)
    learner = aw.Perceptron()
    mistakes = int(np.count_nonzero(learner.learn_many(X, y) != y))
    kept = random_stopping(aw.Perceptron(), X, y, seed=3, mistake_bound=45, delta=0.1).certificate
    assert kept.bound == 45 / 400
    assert kept.observed == mistakes / 400
    (other,) = kept.others
    assert other.bound == pytest.approx(mistakes / 400 + math.sqrt(2 * math.log(10) / 400))
    assert "on average over its own draw, with probability 90% over the examples" in other.line()
    alone = random_stopping(aw.Perceptron(), X, y, seed=3, delta=0.1)
    assert alone.certificate == other
    just = random_stopping(aw.Perceptron(), X, y, seed=3, mistake_bound=mistakes)
    assert (just.certificate.bound, just.certificate.verdict) == (mistakes / 400, Verdict.HOLDS)
    broken = random_stopping(aw.Perceptron(), X, y, seed=3, mistake_bound=mistakes - 1)
    assert broken.certificate.theorem.name == "random stopping, mistakes as they were"
    assert broken.certificate.others[0].verdict is Verdict.NOT_APPLICABLE
    assert random_stopping(aw.OneVsRest(), X, y, seed=3).certificate.verdict is Verdict.HOLDS


def test_random_stopping_in_blocks_is_the_same(monkeypatch):
    X, y = separated(300)
    whole = [random_stopping(aw.Perceptron(), X, y, seed=seed) for seed in range(10)]
    monkeypatch.setattr("afterwit.batch._rounds.BLOCK", 7)
    assert [random_stopping(aw.Perceptron(), X, y, seed=seed) for seed in range(10)] == whole


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: large_gap(aw.Perceptron(), [[1.0]], [1], epsilon=0), "epsilon must be above 0 and below 1"),
        (lambda: large_gap(aw.Perceptron(), [[1.0]], [1], delta="0.05"), "delta must be"),
        (lambda: large_gap(aw.Perceptron(), [[1.0]], [3]), "y must be -1 or 1; received 3"),
        (lambda: controlled_testing(aw.Perceptron(), [[1.0]], [1], epsilon=1), "epsilon must be"),
        (lambda: random_stopping(aw.Perceptron(), [[1.0]], [1], seed=-1), "seed must be a whole number"),
        (lambda: random_stopping(aw.Perceptron(), [[1.0]], [1], seed=1, mistake_bound=-2), "mistake_bound must be"),
        (lambda: random_stopping(aw.Perceptron(), [], [], seed=1), "X must be at least one example"),
        (lambda: large_gap(3, [[1.0]], [1]), "learner must be an object with predict_one"),
        (lambda: large_gap(aw.KernelPerceptron(aw.kernels.string(2)), ["a"], [1, 1]), "y must be as long as X"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_gap_after_so_many_mistakes_that_a_share_of_delta_is_all_but_0():
    assert RightInARow.bound(0, 0.5, 4 * SMALLEST_RISK) == math.ceil(math.log(1 / SMALLEST_RISK) / 0.5)
    with pytest.raises(InputError, match=r"delta / \(i \+ 2\)\^2 is at least 1e-300"):
        RightInARow.bound(1, 0.5, 4 * SMALLEST_RISK)
