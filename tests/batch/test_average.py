"""The averaged hypothesis is the average of the hypotheses before every round, and its bounds are the theorem's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

import afterwit as aw
import naive
import naive_batch
from afterwit.batch import average
from afterwit.core.certificate import Verdict
from afterwit.data.margin_losses import losses
from afterwit.errors import InputError
from problems import FORMS, as_dense, in_columns, small_integers, with_ones


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(problem=small_integers)
def test_it_is_the_oracle(form, problem):
    X, y = problem
    expected = naive.average(naive_batch.perceptron_before_every_round(X, y))
    predictor = average(aw.Perceptron(), form(X), y)
    assert in_columns(predictor.learner.weights, len(X[0])) == [float(a) for a in expected]
    assert predictor.learner.rounds == len(y)
    with_constant = naive.average(naive_batch.perceptron_before_every_round(with_ones(X), y))
    learner = average(aw.Perceptron(intercept=True), form(X), y).learner
    found = [learner.intercept_weight, *in_columns(learner.weights, len(X[0]))]
    assert found == [float(a) for a in with_constant]


LEARNERS = [
    aw.Perceptron(rate=0.3),
    aw.AveragedPerceptron(),
    aw.MarginPerceptron(margin=0.5),
    aw.BalancedWinnow(rate=0.5),
    aw.Winnow(rate=0.5, intercept=True),
    aw.OnlineSVM(C=1.0, rate=0.1),
    aw.SGD(rate=0.2, intercept=True),
    aw.SGD(intercept=False, rate=0.5, loss="hinge", schedule="1/sqrt(t)", ball=0.7),
    aw.AdaGrad(intercept=False),
]


def problem(rounds=70, width=4, seed=5):
    random = np.random.default_rng(seed)
    X = np.round(random.standard_normal((rounds, width)), 2) * (random.random((rounds, width)) < 0.8)
    return X, np.where(X[:, 0] - X[:, 1] + 0.5 * random.standard_normal(rounds) >= 0, 1, -1)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner).partition(":")[0])
def test_the_average_score_is_the_score_of_the_average(learner, monkeypatch):
    X, y = problem()
    new, _ = problem(seed=6)
    working, scores, online = learner.copy(), [], []
    for t in range(len(y)):
        # In its first round Winnow meets the features: until then it cannot divide by their number.
        unit = len(X[0]) + 1 if t == 0 and isinstance(learner, aw.Winnow) else 1
        scores.append(working.score_many(new) / unit)
        online.append(working.score_one(X[t]) / unit)
        working.learn_one(X[t], int(y[t]))
    for size in (65_536, 16):
        monkeypatch.setattr("afterwit.batch._rounds.BLOCK", size)
        for form in (X, sparse.csr_array(X)):
            predictor = average(learner, form, y, loss="logistic", largest_loss=100)
            assert predictor.score_many(new) == pytest.approx(np.mean(scores, axis=0), abs=1e-12)
            loss = predictor.certificate.others[0]
            assert loss.observed == pytest.approx(losses("logistic", y, np.array(online)).mean())
    assert learner.rounds == 0


def test_the_bounds_are_the_theorems():
    X, y = problem(500)
    learner = aw.SGD(intercept=False, loss="hinge", rate=0.1, ball=2.0)
    radius = float(np.linalg.norm(X, axis=1).max())
    predictor = average(learner, X, y, radius=radius, delta=0.1, regret=12.0)
    error, (loss, beyond) = predictor.certificate, predictor.certificate.others
    scores = learner.learn_scores(X, y)
    mean, M = np.maximum(0, 1 - y * scores).mean(), 1 + 2 * radius
    assert loss.bound == pytest.approx(mean + M * math.sqrt(2 * math.log(10) / 500))
    assert error.bound == pytest.approx(loss.bound)
    assert error.observed == learner.mistakes / 500
    assert beyond.bound == pytest.approx(12 / 500 + 2 * M * math.sqrt(2 * math.log(20) / 500))
    assert beyond.observed == 12 / 500
    assert [each.verdict for each in (error, loss, beyond)] == [Verdict.HOLDS] * 3
    assert [each.quantity for each in (error, loss, beyond)] == ["error", "loss", "loss beyond the best"]


@pytest.mark.parametrize(("loss", "cost"), [("hinge", 1), ("logistic", math.log(2)), ("squared", 0.5)])
def test_a_mistake_costs_so_much_of_the_loss(loss, cost):
    X, y = problem(100)
    certificate = average(aw.SGD(intercept=False), X, y, loss=loss, largest_loss=50).certificate
    assert certificate.bound == pytest.approx(certificate.others[0].bound / cost)
    scores = np.linspace(-3, -1e-9, 1000)
    assert losses(loss, np.ones(1000), scores).min() >= cost - 1e-6
    assert average(aw.SGD(intercept=False), X, y, loss="perceptron", largest_loss=50).certificate.quantity == "loss"


@pytest.mark.parametrize(
    ("learner", "M"),
    [
        (aw.SGD(intercept=False, ball=2.0), 1 + 2 * 10),
        (aw.SGD(ball=2.0, intercept=True), 1 + 2 * math.sqrt(101)),
        (aw.OnlineSVM(C=0.5, rate=0.1), 1 + 0.5 * 100),
        (aw.Winnow(), 1 + 10),
        (aw.BalancedWinnow(), 1 + 10),
    ],
)
def test_the_largest_loss_that_is_known(learner, M):
    X, y = problem()
    certificate = average(learner, X, y, radius=10).certificate
    assert certificate.inputs["M"] == pytest.approx(M)
    assert certificate.verdict is Verdict.HOLDS
    # No example within the radius, and no hypothesis, costs more.
    weights = average(learner, X, y).learner.weights
    assert 1 + 10 * np.linalg.norm(weights) <= M + 1e-9


@pytest.mark.parametrize(
    ("learner", "start", "M"),
    [
        (aw.OnlineSVM(C=1.0, rate=0.1), [1000.0], 1 + 81),  # three rounds of 1000: 100 * 0.9 * 0.9
        (aw.OnlineSVM(C=1.0, rate=0.1, intercept=True), [1000.0], 1 + math.sqrt(2) * 81 * math.hypot(1, 1e-3)),
        (aw.OnlineSVM(C=1.0, rate=0.1), [1.0], 1 + 1),  # never outside the ball
    ],
)
def test_a_start_outside_the_ball_counts(learner, start, M):
    """The largest loss of a learner that has learned longer examples is that of its first weights, not C R."""
    for _ in range(3):
        learner.learn_one(start, 1)
    above = 0
    for seed in range(100):
        y = np.where(np.random.default_rng(seed).random(40) < 0.05, -1, 1)
        predictor = average(learner, np.ones((40, 1)), y, radius=1.0, delta=0.05)
        error, loss = predictor.certificate, predictor.certificate.others[0]
        assert loss.inputs["M"] == pytest.approx(M)
        assert error.verdict is loss.verdict is Verdict.HOLDS
        # On new data a label is -1 with probability 5%: the expected hinge loss is known.
        score = predictor.score_one([1.0])
        above += 0.95 * max(0, 1 - score) + 0.05 * max(0, 1 + score) > loss.bound
    assert above <= 5
    assert (f"starts with, |w_1| = {np.linalg.norm(learner._vector()):.4g}" in error.details()) is (M > 2)


def test_a_length_that_is_exceeded_all_the_same_is_no_promise():
    """M is compared with the weights that were averaged, so that no claim about an update is taken on trust."""

    class Longer(aw.OnlineSVM):
        def _vector(self):
            return (1 + self.rounds) * super()._vector()

    X, y = problem()
    assert average(Longer(C=0.5, rate=0.1), X, y, radius=10).certificate.verdict is Verdict.NOT_APPLICABLE


def test_where_nothing_is_known_nothing_is_promised():
    X, y = problem()
    found = average(aw.Perceptron(), X, y).certificate
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "nothing bounds the weights of Perceptron: give largest_loss" in str(found)
    assert "nothing bounds" in str(average(aw.Perceptron(), X, y, radius=10).certificate)
    assert "give radius, or largest_loss" in str(average(aw.SGD(intercept=False, ball=1.0), X, y).certificate)
    assert average(aw.Perceptron(), X, y, largest_loss=0.1).certificate.verdict is Verdict.NOT_APPLICABLE
    assert average(aw.SGD(intercept=False, ball=1.0), X, y, radius=0.1).certificate.verdict is Verdict.NOT_APPLICABLE


def test_bad_input():
    for learner in (
        aw.VotedPerceptron(),
        aw.KernelPerceptron(),
        aw.OneVsRest(),
        aw.SoftThresholdNetwork(),
        aw.NormalizedAdaGrad(),
    ):
        with pytest.raises(InputError, match="learner must be a linear learner"):
            average(learner, [[1.0]], [1])
    with pytest.raises(InputError, match="X must be at least one example"):
        average(aw.Perceptron(), np.zeros((0, 2)), [])
    with pytest.raises(InputError, match="X must be rows of one width for Winnow"):
        average(aw.Winnow(), [{"a": 1.0}, {"b": 1.0}, {"a": 2.0}], [-1, 1, -1])
    for options, message in [
        ({"loss": "zero-one"}, "loss must be one of"),
        ({"radius": -1}, "radius must be a positive"),
        ({"largest_loss": 0}, "largest_loss must be a positive"),
        ({"regret": math.nan}, "regret must be a number"),
        ({"delta": 1}, "delta must be"),
    ]:
        with pytest.raises(InputError, match=message):
            average(aw.Perceptron(), [[1.0]], [1], **options)


def test_dense_as_well_as_names():
    X, y = problem(30)
    names = [{f"f{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    for learner in (aw.SGD(intercept=False), aw.Perceptron()):
        by_name, by_position = average(learner, names, y).learner, average(learner, as_dense(X), y).learner
        assert in_columns(by_name.weights, 4) == pytest.approx(by_position.weights.tolist())
