"""The selected hypothesis is the one that counting everything one by one selects."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_batch
from afterwit.batch import _hypotheses, penalized_selection
from afterwit.batch._rounds import Block
from afterwit.batch.penalized_selection import race_of
from afterwit.core.certificate import Verdict
from afterwit.errors import DivergenceError, InputError
from problems import FORMS, as_dense, in_columns, lists_of, small_integers


def check(predictor, copies, X, y, delta, every=1, wrong=None):
    """Against copies of the learner before every round, each of which predicts every later example."""
    T = len(y)
    wrong = wrong or (lambda learner, x, label: int(learner.predict_one(x) != label))
    losses = [sum(wrong(copies[i], X[t], y[t]) for t in range(i, T)) for i in range(T)]
    values = [m / (T - i) + math.sqrt(math.log(T * (T + 1) / delta) / (2 * (T - i))) for i, m in enumerate(losses)]
    best = min(range(0, T, every), key=lambda i: (values[i], i))
    inputs = predictor.certificate.inputs
    certificate = predictor.certificate
    if certificate.theorem.name != "penalised risk estimate":
        (certificate,) = certificate.others
        inputs = certificate.inputs
    assert (inputs["i"], inputs["n"]) == (best + 1, T - best)
    assert inputs["m"] == pytest.approx(losses[best], abs=1e-9)
    assert certificate.bound == pytest.approx(values[best], rel=1e-12)
    assert certificate.observed == pytest.approx(losses[best] / (T - best))
    assert [predictor.predict_one(x) for x in X] == [copies[best].predict_one(x) for x in X]


def before_every_round(learner, X, y):
    copies = []
    working = learner.copy()
    for x, label in zip(X, y, strict=True):
        copies.append(working.copy())
        working.learn_one(x, label)
    return copies


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(problem=small_integers, delta=st.sampled_from([0.05, 0.9]))
def test_it_is_the_oracle(form, problem, delta):
    X, y = problem
    hypotheses = naive_batch.perceptron_before_every_round(X, y)
    values, losses = naive_batch.estimates(hypotheses, X, y, delta)
    best = min(range(len(y)), key=lambda i: (values[i], i))
    predictor = penalized_selection(aw.Perceptron(), form(X), y, delta=delta)
    inputs = next(c.inputs for c in (predictor.certificate, *predictor.certificate.others) if "m" in c.inputs)
    assert (inputs["i"], inputs["m"]) == (best + 1, losses[best])
    assert inputs["hypotheses"] == len({tuple(h) for h in hypotheses}) or inputs["hypotheses"] <= len(y)
    assert in_columns(predictor.learner.weights, len(X[0])) == [float(a) for a in hypotheses[best]]


LEARNERS = [
    aw.Perceptron(rate=0.1),
    aw.Perceptron(intercept=True),
    aw.AveragedPerceptron(),
    aw.VotedPerceptron(),
    aw.MarginPerceptron(margin=0.5, intercept=True),
    aw.Winnow(rate=0.5),
    aw.Winnow(intercept=True),
    aw.BalancedWinnow(rate=0.5),
    aw.OnlineSVM(C=1.0, rate=0.1),
    aw.SGD(intercept=False, rate=0.5, loss="perceptron"),
    aw.SGD(intercept=False, rate=0.5, schedule="1/sqrt(t)", ball=0.7),
    aw.AdaGrad(intercept=False),
    aw.NormalizedAdaGrad(loss="perceptron"),
    aw.SoftThresholdNetwork(gates=(2,)),
    aw.DualPerceptron(),
    aw.KernelPerceptron(),
    aw.KernelPerceptron(aw.kernels.gaussian(width=2.0)),
    aw.KernelPerceptron(budget=3),
    aw.OneVsRest(aw.Perceptron(), labels=(-1, 1)),
    aw.OneVsRest(aw.AveragedPerceptron()),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner).partition(":")[0])
@settings(max_examples=4)
# Tenths: sums that are 0 on paper are next to it in binary, on one side or the other.
@given(problem=lists_of(st.sampled_from([-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]), rows=14, least=2))
def test_every_learner_is_judged_by_its_own_predictions(learner, problem):
    X, y = problem
    for form, singly in ((as_dense(X), list(as_dense(X))), (sparse.csr_array(as_dense(X)), None)):
        if singly is None:
            singly = [form[[i]] for i in range(len(y))]
        predictor = penalized_selection(learner, form, y, delta=0.5)
        check(predictor, before_every_round(learner, singly, y), singly, y, 0.5)
    dicts = [{f"f{j}": value for j, value in enumerate(x) if value} for x in X]
    check(penalized_selection(learner, dicts, y, delta=0.5), before_every_round(learner, dicts, y), dicts, y, 0.5)
    assert learner.rounds == 0


def noisy(rounds=600, width=6, seed=3):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, width))
    y = np.where((X[:, 0] + 0.3 * X[:, 1] >= 0) ^ (random.random(rounds) < 0.1), 1, -1)
    return X, y


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("kind", [aw.Perceptron, aw.KernelPerceptron, aw.OneVsRest])
def test_portions_and_drops_change_nothing(kind, every, monkeypatch):
    monkeypatch.setattr(_hypotheses, "MOST_COPIES", 5)
    monkeypatch.setattr(_hypotheses, "MOST_WEIGHTS", 30)
    monkeypatch.setattr(_hypotheses, "MOST_ROWS", 16)
    X, y = noisy(80)
    predictor = penalized_selection(kind(), X, y, delta=0.9, every=every)
    check(predictor, before_every_round(kind(), list(X), y.tolist()), list(X), y.tolist(), 0.9, every)
    assert len(predictor.certificate.others) == (1 if every == 1 else 0)


def test_the_best_of_many_that_are_nearly_as_good(monkeypatch):
    """All hypotheses on all examples by brute force: whole numbers, so that nothing is rounded."""
    monkeypatch.setattr(_hypotheses, "MOST_ROWS", 16)
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.integers(-4, 5, size=(300, 3)).astype(float)
        y = np.where((X[:, 0] + X[:, 1] >= 0) ^ (random.random(300) < 0.3), 1, -1)
        weights, history = np.zeros(3), []
        for t in range(300):
            history.append(weights)
            weights = weights + (y[t] * X[t] if (weights @ X[t] >= 0) != (y[t] > 0) else 0)
        wrong = (X @ np.array(history).T >= 0) != (y[:, None] > 0)
        losses = (wrong * (np.arange(300)[:, None] >= np.arange(300))).sum(axis=0)
        n = 300 - np.arange(300)
        best = int(np.argmin(losses / n + np.sqrt(math.log(300 * 301 / 0.5) / (2 * n))))
        inputs = penalized_selection(aw.Perceptron(), X, y, delta=0.5).certificate.inputs
        assert (inputs["i"], inputs["m"]) == (best + 1, losses[best])


def test_kernel_scores_next_to_zero_are_the_learners_own():
    """Tenths in many columns: numpy adds them up in another order than the support set."""
    for seed in range(6):
        random = np.random.default_rng(seed)
        half = random.integers(-3, 4, size=(20, 9)) / 10
        X = np.concatenate([half, -half, half + np.roll(half, 1, axis=0)])[random.permutation(60)]
        y = random.choice([-1, 1], size=60)
        for learner in (aw.DualPerceptron(), aw.Perceptron()):
            predictor = penalized_selection(learner, X, y, delta=0.9)
            check(predictor, before_every_round(learner, list(X), y.tolist()), list(X), y.tolist(), 0.9)


def test_hopeless_hypotheses_are_dropped_before_they_have_seen_everything(monkeypatch):
    monkeypatch.setattr(_hypotheses, "MOST_ROWS", 64)
    X, y = noisy(4000)
    race = race_of(aw.Perceptron(), Block(X, y), 0.05, None, 1)
    mistakes = np.flatnonzero(aw.Perceptron().learn_many(X, y) != y)
    assert len(race.hypotheses.begin) in (len(mistakes), len(mistakes) + 1)
    assert race.contention <= len(race.hypotheses.begin)
    assert race.predictions < 0.8 * np.sum(4000 - 1 - mistakes)


def test_any_bounded_loss():
    X, y = noisy(60)

    def ramp(scores, signs):
        return np.clip(1 - signs * scores, 0, 1)

    def wrong(learner, x, label):
        return min(1.0, max(0.0, 1 - label * learner.score_one(x)))

    for learner in (aw.SGD(intercept=False, rate=0.2), aw.KernelPerceptron(), aw.VotedPerceptron(), aw.Perceptron()):
        predictor = penalized_selection(learner, X, y, delta=0.9, loss=ramp)
        assert predictor.certificate.quantity == "loss"
        check(predictor, before_every_round(learner, list(X), y.tolist()), list(X), y.tolist(), 0.9, wrong=wrong)


def test_both_bounds_are_the_formulas():
    X, y = noisy(500)
    learner = aw.Perceptron()
    certificate = penalized_selection(learner, X, y, delta=0.1).certificate
    (other,) = certificate.others
    learner.learn_many(X, y)
    assert other.bound == pytest.approx(learner.mistakes / 500 + 6 * math.sqrt(math.log(2 * 501 / 0.1) / 500))
    assert other.observed == learner.mistakes / 500
    assert certificate.bound < other.bound
    for each in (certificate, other):
        assert each.verdict is Verdict.HOLDS
        assert each.theorem.chance == "with probability 90%"
        assert "independent draws" in str(each.assumptions[-1])


def test_streams_strings_and_pairs():
    X, y = noisy(200)
    whole = penalized_selection(aw.Perceptron(), X, y)
    assert penalized_selection(aw.Perceptron(), aw.streams.ArrayStream(X, y)) == whole
    pairs = penalized_selection(aw.Perceptron(), ((x, label) for x, label in zip(X, y.tolist(), strict=True)))
    assert pairs == whole
    texts = ["cheap pills", "lunch today", "cheap lunch", "pills today"] * 5
    labels = ["spam", "ham", "ham", "spam"] * 5
    learner = aw.KernelPerceptron(aw.kernels.string(2), labels=("ham", "spam"))
    check(penalized_selection(learner, texts, labels), before_every_round(learner, texts, labels), texts, labels, 0.05)


def test_a_libsvm_stream_in_several_blocks(tmp_path, monkeypatch):
    X, y = noisy(90)
    X = np.round(X, 3)
    path = tmp_path / "data.svm"
    lines = [f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr("afterwit.batch._rounds.BLOCK", 40)
    found = penalized_selection(aw.Perceptron(), aw.streams.LibsvmStream(path))
    assert found.certificate == penalized_selection(aw.Perceptron(), sparse.csr_array(X), y).certificate


def test_numbers_whose_products_nearly_overflow():
    X, y = noisy(40)
    huge = np.ldexp(np.round(X, 1), 500)
    for learner in (aw.Perceptron(), aw.Perceptron(intercept=True)):
        predictor = penalized_selection(learner, huge, y, delta=0.9)
        check(predictor, before_every_round(learner, list(huge), y.tolist()), list(huge), y.tolist(), 0.9)


def test_numbers_whose_products_overflow_are_refused():
    X, y = noisy(40)
    learner = aw.Perceptron()
    with pytest.raises(DivergenceError, match="scale the features"):
        penalized_selection(learner, np.ldexp(np.round(X, 1), 660), y, delta=0.9)
    assert learner.rounds == 0


def test_pairs_in_several_blocks(monkeypatch):
    X, y = noisy(90)
    whole = penalized_selection(aw.Perceptron(), X, y)
    monkeypatch.setattr("afterwit.batch._rounds.BLOCK", 40)
    assert penalized_selection(aw.Perceptron(), zip(X, y.tolist(), strict=True)) == whole
    rows = [sparse.csr_array(X[[i]]) for i in range(90)]
    by_rows = penalized_selection(aw.Perceptron(), zip(rows, y.tolist(), strict=True))
    assert by_rows.certificate == whole.certificate


def test_a_learner_of_anothers_making():
    class Majority:
        def __init__(self):
            self.balance = 0

        def predict_one(self, x):
            return 1 if self.balance >= 0 else -1

        def learn_one(self, x, y):
            self.balance += y

    y = [-1, -1, 1, -1, -1, -1, 1, -1]
    predictor = penalized_selection(Majority(), [[0.0]] * 8, y, delta=0.9)
    # From round 2 on it says -1; of those hypotheses the first has most examples.
    estimate = predictor.certificate
    assert estimate.inputs["hypotheses"] == 8
    assert (estimate.inputs["i"], estimate.inputs["m"]) == (2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0}, "delta must be above 0 and below 1"),
        ({"delta": True}, "delta must be"),
        ({"every": 0}, "every must be a whole number, at least 1"),
        ({"loss": "hinge"}, "loss must be 'zero-one' or a function"),
        ({"loss": lambda scores, signs: scores + 5}, r"loss\(scores, signs\) must be numbers from 0 to 1"),
        ({"loss": lambda scores, signs: 0.5}, r"loss\(scores, signs\) must be an array of shape"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        penalized_selection(aw.Perceptron(), [[1.0], [2.0]], [1, -1], **options)


def test_bad_input():
    with pytest.raises(InputError, match="X must be at least one example"):
        penalized_selection(aw.Perceptron(), np.zeros((0, 2)), [])
    with pytest.raises(InputError, match=r"y\[1\] must be -1 or 1; received 0"):
        penalized_selection(aw.Perceptron(labels=(-1, 1)), [[1.0], [2.0]], [1, 0])
    with pytest.raises(InputError, match="X must be a stream"):
        penalized_selection(aw.Perceptron(), 3)
    with pytest.raises(InputError, match="X must be a stream of pairs"):
        penalized_selection(aw.Perceptron(), [1, 2])
    with pytest.raises(InputError, match="learner must be an object with predict_one and learn_one"):
        penalized_selection("perceptron", [[1.0]], [1])
    with pytest.raises(InputError, match="loss must be 'zero-one' for a learner without scores"):
        penalized_selection(aw.OneVsRest(), [[1.0]], [1], loss=lambda scores, signs: 0 * scores)
    with pytest.raises(InputError, match=r"X\[0, 1\] must be a finite number"):
        penalized_selection(aw.Perceptron(), [[1.0, float("nan")]], [1])
