"""Hindsight is right in whatever units the columns are, never worse than the learner's own weights, and says how exact."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_hindsight_linear as naive
from afterwit.hindsight import best_linear, least_loss, max_margin, max_margin_one_norm, min_hinge, svm

SCALES = np.array([1e-3, 1e-1, 1e1, 1e3, 1e5])


def problem(count, scales, shift=0.0, noise=0.4, seed=0):
    """Labels by a noisy linear rule to which every column contributes alike, whatever its unit."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((count, len(scales)))
    scores = X @ random.choice([-1.0, 1.0], len(scales)) + noise * random.standard_normal(count)
    return (X + shift) * scales, np.where(scores >= 0, 1, -1)


def with_ones(X):
    return np.hstack([np.ones((len(X), 1)), X])


LOSS_LEARNERS = {
    "SGD": (lambda **how: aw.SGD(**how), "logistic"),
    "SGD hinge": (lambda **how: aw.SGD(loss="hinge", **how), "hinge"),
    "SGD squared": (lambda **how: aw.SGD(loss="squared", rate=1e-15, **how), "squared"),
    "AdaGrad": (lambda **how: aw.AdaGrad(**how), "logistic"),
    "AdaGrad hinge": (lambda **how: aw.AdaGrad(loss="hinge", **how), "hinge"),
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("shift", "intercept"), [(0.0, False), (0.0, True), (30.0, True)])
@pytest.mark.parametrize("name", LOSS_LEARNERS)
def test_the_least_loss_in_columns_of_all_sizes(name, shift, intercept, form):
    """Columns of sizes 1e-3 to 1e5, shifted or not: it was that of weights at 0, or many times the least possible."""
    make, loss = LOSS_LEARNERS[name]
    X, y = problem(250, SCALES, shift)
    learner = make(intercept=intercept)
    learner.learn_many(form(X), y)
    hindsight = learner.certificate(form(X), y).hindsight
    rows = with_ones(X) if intercept else X
    least = naive.least_hinge(rows, y) if loss == "hinge" else naive.least_smooth(loss, rows, y)
    assert hindsight.value <= least * (1 + 1e-6)
    assert hindsight.value - hindsight.gap <= least * (1 + 1e-9)
    assert hindsight.gap <= 1e-3 * least


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("shift", "intercept"), [(0.0, False), (0.0, True), (30.0, True)])
@pytest.mark.parametrize("learner", [aw.Perceptron, aw.AveragedPerceptron, aw.VotedPerceptron, aw.BalancedWinnow])
def test_few_mistakes_in_columns_of_all_sizes(learner, shift, intercept, form):
    """The best separator "found" made many times the mistakes of one that a fit to scaled columns finds."""
    X, y = problem(400, SCALES, shift)
    made = learner(intercept=intercept)
    made.learn_many(form(X), y)
    certificate = made.certificate(form(X), y)
    rule = np.append(0.0, np.linalg.lstsq(X / SCALES - shift, y, rcond=None)[0])
    assert certificate.hindsight.value <= naive.totals("mistakes", rule, with_ones(X / SCALES - shift), y) + 4
    assert certificate.hindsight.gap is None
    assert "there may be a better one" in certificate.hindsight.description


def test_the_online_svm_in_columns_of_all_sizes():
    X, y = problem(30, np.array([1e-2, 1.0, 1e2]))
    learner = aw.OnlineSVM(C=2.0)
    learner.learn_many(X, y)
    hindsight = learner.certificate(X, y).hindsight
    # The objective of every round is |u|^2/2 plus C times the hinge loss.
    least = len(y) * naive.least_svm(X, y, 2.0 / len(y))
    assert hindsight.value == pytest.approx(least, rel=1e-5)
    assert hindsight.value - hindsight.gap <= least * (1 + 1e-7)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_inside_a_ball_and_a_box(loss):
    """The least loss among the weights that are allowed, and a gap that says so."""
    X, y = problem(200, np.array([0.03, 1.0, 20.0]))
    for learner, region in (
        (aw.SGD(intercept=False, loss=loss, rate=1e-6, ball=0.7), {"ball": 0.7}),
        (aw.AdaGrad(intercept=False, loss=loss, box=0.3), {"box": 0.3}),
    ):
        learner.learn_many(X, y)
        hindsight = learner.certificate(X, y).hindsight
        least = naive.least_smooth(loss, X, y, **region)
        assert hindsight.value == pytest.approx(least, rel=1e-5)
        assert hindsight.value - hindsight.gap <= least * (1 + 1e-6)


LEARNERS = [
    lambda **how: aw.Perceptron(**how),
    lambda **how: aw.AveragedPerceptron(**how),
    lambda **how: aw.VotedPerceptron(**how),
    lambda **how: aw.MarginPerceptron(0.1, **how),
    lambda **how: aw.SelectivePerceptron(1e3, **how),
    lambda **how: aw.Winnow(rate=0.5, **how),
    lambda **how: aw.BalancedWinnow(rate=0.5, **how),
    lambda **how: aw.SGD(rate=1e-3, **how),
    lambda **how: aw.SGD(loss="hinge", ball=3.0, schedule="1/sqrt(t)", **how),
    lambda **how: aw.SGD(loss="perceptron", **how),
    lambda **how: aw.AdaGrad(**how),
    lambda **how: aw.AdaGrad(loss="hinge", box=0.4, **how),
    lambda **how: aw.OnlineSVM(C=3.0, **how),
]


@pytest.mark.parametrize("make", LEARNERS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    powers=st.lists(st.integers(-6, 6), min_size=1, max_size=4),
    count=st.integers(1, 40),
    shift=st.sampled_from([0.0, 3.0]),
    noise=st.sampled_from([0.0, 0.5, 3.0]),
    intercept=st.booleans(),
    form=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_never_worse_than_the_learners_own_weights(make, seed, powers, count, shift, noise, intercept, form):
    """Neither its weights after the last round nor their average over the rounds do better than hindsight."""
    X, y = problem(count, 10.0 ** np.array(powers), shift, noise, seed)
    learner = make(intercept=intercept)
    history = []
    for row, label in zip(X, y, strict=True):
        history.append(_weights(learner, X.shape[1], intercept))
        learner.learn_one(row, int(label))
    history.append(_weights(learner, X.shape[1], intercept))
    last, average = history[-1], np.mean(history[:-1], axis=0)
    hindsight = learner.certificate(form(X), y).hindsight
    if not np.isfinite(last).all() or hindsight is None:
        return
    rows = with_ones(X) if intercept else X
    for own in (last, average):
        assert hindsight.value <= _value(learner, own, rows, y) * (1 + 1e-9) + 1e-300


def _weights(learner, width, intercept):
    weights = np.zeros(width)
    known = np.asarray(learner.weights, dtype=float) if len(learner.weights) else np.zeros(0)
    weights[: len(known)] = known
    return np.append(learner.intercept_weight, weights) if intercept else weights


def _value(learner, weights, rows, labels):
    """What the certificate's third number counts: mistakes, losses, or the objective of the on-line SVM."""
    with np.errstate(over="ignore"):
        if isinstance(learner, aw.OnlineSVM):
            return 3.0 * naive.totals("hinge", weights, rows, labels) + len(rows) * float(weights @ weights) / 2
    if isinstance(learner, aw.SGD | aw.AdaGrad):
        loss = learner.parameters["loss"]
        if loss == "perceptron":
            return 0.0
        return naive.totals(loss, weights, rows, labels)
    return naive.totals("mistakes", weights, rows, labels)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    powers=st.lists(st.integers(-6, 6), min_size=1, max_size=4),
    count=st.integers(2, 40),
    noise=st.sampled_from([0.0, 0.5, 3.0]),
    loss=st.sampled_from(["hinge", "logistic", "squared"]),
)
def test_the_gap_is_proved(seed, powers, count, noise, loss):
    """The least possible, found by another method, lies between the loss and the loss less the gap."""
    X, y = problem(count, 10.0 ** np.array(powers), 0.0, noise, seed)
    found = least_loss(X, y, loss=loss)
    value = naive.totals(loss, found.vector, X, y)
    least = naive.least_hinge(X, y) if loss == "hinge" else naive.least_smooth(loss, X, y)
    assert value - found.gap <= least * (1 + 1e-7) + 1e-9
    assert value <= least + found.gap + 1e-6 * max(1.0, least)


@pytest.mark.parametrize("seed", range(5))
def test_every_comparator_tells_its_gap(seed):
    X, y = problem(30, np.array([1e-2, 1.0, 1e2]), seed=seed)
    found = svm(X, y, C=0.5)
    value = found.norm**2 / 2 + 0.5 * found.hinge
    least = naive.least_svm(X, y, 0.5)
    assert value - found.gap <= least * (1 + 1e-7)
    assert value == pytest.approx(least, rel=1e-5)
    assert found.gap <= 1e-5 * value
    program = min_hinge(X, y)
    least = naive.least_hinge(X, y)
    assert program.hinge - program.gap <= least * (1 + 1e-9)
    assert program.hinge == pytest.approx(least, rel=1e-7)
    assert program.gap <= 1e-4 * least
    in_ball = least_loss(X, y, loss="logistic", ball=0.5)
    assert in_ball.gap <= 1e-5 * naive.totals("logistic", in_ball.vector, X, y)
    signed = X[:, 1:2] * [1.0, -2.0] + 3.0 * y[:, None] * [1.0, 0.5]
    y = np.where(signed[:, 0] + signed[:, 1] > 0, 1, -1)
    keep = np.abs(signed.sum(axis=1)) > 0.1
    widest = max_margin(signed[keep], y[keep])
    assert 0 <= widest.gap <= 1e-6 * widest.margin
    by_one_norm = max_margin_one_norm(signed[keep], y[keep])
    assert 0 <= by_one_norm.gap <= 1e-6 * by_one_norm.margins.min()


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 30), st.sampled_from([0.3, 2.0]))
def test_mistakes_beside_the_fewest_there_are(seed, count, noise):
    """In the plane all separators can be tried: hindsight comes near the best of them, and never below."""
    X, y = problem(count, np.array([1e-4, 1e4]), 0.0, noise, seed)
    learner = aw.Perceptron()
    learner.learn_many(X, y)
    found = learner.certificate(X, y).hindsight.value
    fewest = naive.fewest_mistakes_in_the_plane((X / [1e-4, 1e4]).tolist(), y.tolist())
    assert fewest <= found <= 2 * fewest + 2


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["square", "absolute", "pinball(0.2)", "percentage"])
def test_the_best_linear_combination_tells_its_gap(loss, intercept):
    """Columns in all units; no step from it, in any column, gets below what the gap allows."""
    X, y = problem(60, SCALES)
    outcomes = y + 3.0
    found = best_linear(X, outcomes, loss, intercept)
    assert 0 <= found.gap <= 1e-6 * found.loss
    random = np.random.default_rng(0)
    function = aw.losses.get(loss)
    for size in (1e-6, 1e-3, 1.0):
        for step in size * random.standard_normal((20, 6)):
            moved = X @ (found.vector + step[1:] / SCALES) + found.intercept + intercept * step[0]
            assert function.values(moved, outcomes).sum() >= found.loss - found.gap - 1e-12 * found.loss


def test_it_says_how_exact_it_is():
    X, y = problem(300, SCALES)
    learner = aw.AdaGrad(intercept=False)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    shown = re.sub(r"\s+", " ", str(certificate))
    assert re.search(r"by the best fixed weights found afterwards \(at most 0\.\d+% above the least possible\)", shown)
    assert certificate.to_dict()["hindsight"]["gap"] == certificate.hindsight.gap
    given = learner.certificate(X, y, comparator=np.zeros(5))
    assert given.hindsight.gap is None
    assert "there may be better ones" in re.sub(r"\s+", " ", str(given))


def test_large_and_wide_data_are_as_exact():
    """More rows than the solver begins with; and more columns than it holds second derivatives for."""
    X, y = problem(45_000, SCALES[:3])
    found = least_loss(X, y, loss="hinge")
    assert found.gap <= 2e-4 * found.hinge
    random = np.random.default_rng(1)
    wide = sparse.random_array((300, 1500), density=0.02, rng=random, format="csr")
    labels = random.choice([-1, 1], 300)
    for options in ({"ridge": 0.1}, {"ball": 1.0}):
        found = least_loss(wide, labels, loss="logistic", **options)
        value = (
            naive.totals("logistic", found.vector, wide.toarray(), labels)
            + (options.get("ridge", 0) * found.norm**2) / 2
        )
        assert found.gap <= 1e-2 * value


def test_rare_columns_that_separate_the_rows_a_solver_begins_with():
    """In a part of the rows a rare column may decide, in all of them not: its weight ran away, and nothing moved it."""
    random = np.random.default_rng(3)
    common = random.standard_normal((24_000, 3))
    rare = (random.random((24_000, 40)) < 2e-4).astype(float)
    y = np.where(common @ [1.0, -1.0, 0.5] + 2 * random.standard_normal(24_000) >= 0, 1, -1)
    found = least_loss(sparse.csr_array(np.hstack([common, rare])), y, loss="hinge")
    assert found.gap <= 1e-3 * found.hinge
