"""Online ridge regression against its definition in fractions, its equality, its theorems, and the limit of features."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_ridge
from afterwit.certify import ridge as checker
from afterwit.core.certificate import Verdict
from afterwit.errors import DivergenceError, InputError
from afterwit.linear import online_ridge
from problems import FORMS, in_columns, lists_of, one_by_one, with_ones


def plain(**options):
    return aw.OnlineRidge(intercept=False, **options)


def test_the_first_rounds_by_hand():
    learner = plain()
    assert learner.learn_one([1.0], 3.0) == 0.0
    assert learner.learn_one([2.0], 6.0) == 1.0  # 2 * 3 / (1 + 1 + 4)
    assert learner.learn_one([4.0], 12.0) == pytest.approx(4 * 15 / 22)
    assert learner.weights.tolist() == pytest.approx([63 / 22])
    assert learner.state()["diagonal"].tolist() == pytest.approx([1 / 22])
    assert learner.loss == learner.squared_errors == pytest.approx(9 + 25 + (12 - 30 / 11) ** 2)
    assert (learner.rounds, learner.updates, learner.features) == (3, 3, 1)
    # What is not known yet counts in full: 4 * 63 / 22 / (1 + 16 / 22 + 9) with a new feature of value 3.
    assert learner.predict_one([4.0, 3.0]) == pytest.approx(4 * 63 / 22 / (1 + 16 / 22 + 9))
    assert learner.features == 1


def test_the_intercept_is_a_feature_that_is_penalised():
    learner, other = aw.OnlineRidge(), plain()
    X, y = [[2.0], [5.0], [1.0]], [7.0, 1.0, 3.0]
    assert learner.learn_many(X, y).tolist() == other.learn_many(with_ones(X), y).tolist()
    assert learner.intercept_weight == other.weights[0]
    assert learner.weights.tolist() == other.weights[1:].tolist()


small = lists_of(st.integers(-3, 3))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small, penalty=st.sampled_from([0.1, 1.0, 7.0]), intercept=st.booleans())
def test_it_is_the_oracle(form, problem, penalty, intercept):
    X, y = problem
    run = naive_ridge.run(with_ones(X) if intercept else X, y, penalty)
    at_once = aw.OnlineRidge(penalty=penalty, intercept=intercept)
    singly = aw.OnlineRidge(penalty=penalty, intercept=intercept)
    assert at_once.learn_many(form(X), y).tolist() == pytest.approx([float(p) for p in run["predictions"]], abs=1e-12)
    for x, target in zip(one_by_one(form, X), y, strict=True):
        assert singly.predict_one(x) == singly.learn_one(x, target)
    assert singly == at_once
    weights = [at_once.intercept_weight] * intercept + in_columns(at_once.weights, len(X[0]))
    assert weights == pytest.approx([float(w) for w in run["weights"]], abs=1e-12)
    # det A^{-1} is the product of D.
    assert math.prod(at_once.state()["diagonal"].tolist()) * penalty ** len(weights) == pytest.approx(
        1 / float(run["determinant"])
    )


def streams(seed, count=30):
    """Rows and targets: units that differ by up to 24 orders of magnitude, columns that are nearly equal, duplicates."""
    random = np.random.default_rng(seed)
    for number in range(count):
        rounds, width = int(random.integers(1, 25)), int(random.integers(1, 6))
        spread = (0.0, 3.0, 12.0)[number % 3]
        X = random.standard_normal((rounds, width)) * 10.0 ** random.uniform(-spread, min(spread, 9.0), width)
        if number % 4 == 1:
            X[:, -1] = X[:, 0] * (1 + 1e-6 * random.standard_normal(rounds))
        if number % 4 == 2:
            X = X[random.integers(0, 2, rounds) % rounds]
        if number % 4 == 3:
            X *= random.random(X.shape) < 0.4
        y = random.standard_normal(rounds) * 10.0 ** random.uniform(-12, 12)
        yield X, y, float(10.0 ** random.uniform(-2, 3)), random


def test_it_is_exact_in_all_units():
    for X, y, penalty, _ in streams(0):
        run = naive_ridge.run(X.tolist(), y.tolist(), penalty)
        found = plain(penalty=penalty).learn_many(X, y).tolist()
        largest = float(np.abs(y).max())
        assert found == pytest.approx([float(p) for p in run["predictions"]], rel=1e-11, abs=1e-11 * largest)


def test_the_equality_to_the_last_digit():
    """In fractions it is one; and the checker's sums are the same but for rounding."""
    for X, y, penalty, _ in streams(1, 12):
        rows, targets = X.tolist(), [Fraction(t) for t in y.tolist()]
        run = naive_ridge.run(rows, targets, penalty)
        lost = sum((p - t) ** 2 for p, t in zip(run["predictions"], targets, strict=True))
        least = naive_ridge.loss_of(rows, targets, run["weights"])
        least += Fraction(penalty) * naive_ridge.dot(run["weights"], run["weights"])
        shares = sum(t * t * q for t, q in zip(targets, run["shares"], strict=True))
        saved = sum(p * p * (1 / (1 - q) - 1) for p, q in zip(run["predictions"], run["shares"], strict=True))
        assert lost == least + shares - saved
        trace, weights = checker._retrace(penalty, X, y, 1)
        near = 1e-10 * float(sum(t * t for t in targets))
        assert (trace.loss, trace.shares, trace.savings) == pytest.approx((lost, shares, saved), rel=1e-9, abs=near)
        assert trace.log_determinant == pytest.approx(math.log(run["determinant"]), rel=1e-9)
        assert weights.tolist() == pytest.approx([float(w) for w in run["weights"]], rel=1e-5, abs=1e-300)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_theorems_hold_against_every_comparator(intercept):
    for X, y, penalty, random in streams(2, 40):
        learner = aw.OnlineRidge(penalty=penalty, intercept=intercept)
        learner.learn_many(X, y)
        best = learner.certificate(X, y)
        assert best.verdict is Verdict.HOLDS
        assert best.observed == pytest.approx(learner.loss, rel=1e-9, abs=1e-12 * float((y**2).sum()))
        for size in (0.0, 0.1, 1.0, 30.0):
            u = size * random.standard_normal(X.shape[1]) * np.abs(y).max() / np.abs(X).max(axis=0, initial=1e-300)
            made = learner.certificate(X, y, comparator=u)
            for each in (made, *made.others):
                assert each.verdict is Verdict.HOLDS
                assert each.bound >= best.bound * (1 - 1e-9) or each.theorem.name != best.theorem.name


def test_the_bounds_by_hand():
    learner = plain(penalty=2.0)
    X, y = [[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]], [4.0, -1.0, 2.0]
    learner.learn_many(X, y)
    found = learner.certificate(X, y, comparator=[1.6, 0.0])
    bounds = {each.theorem.name: each for each in (found, *found.others)}
    assert found.theorem.name == "ridge bound, from each example's share"
    volume = math.log((1 + 5 / 2) * (1 + 9 / 2))
    lost, length = 2.4**2 + 1 + 1.2**2, 2 * 1.6**2
    assert bounds["ridge bound"].bound == pytest.approx(lost + length + 16 * volume)
    volume = 2 * math.log(1 + 3 * 9 / 4)
    assert bounds["ridge bound, from the radius"].bound == pytest.approx(lost + length + 16 * volume)
    shares = 16 * (1 / 3) + 1 * (9 / 11) + 4 * (4 / 7)
    assert found.bound == pytest.approx(lost + length + shares)
    assert found.hindsight.value == pytest.approx(lost)
    # Without one, least squares is the third number: weights 8/5 and -1/3.
    assert learner.certificate(X, y).hindsight.value == pytest.approx((4 - 8 / 5) ** 2 + (2 - 16 / 5) ** 2)
    assert "RMSE" in str(found)
    assert "q_t = x_t . A_t^-1 x_t" in found.details()


def test_two_passes_and_other_rows():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((30, 3)), random.standard_normal(30)
    learner = aw.OnlineRidge()
    for _ in range(2):
        learner.learn_many(X, y)
    assert learner.certificate(X, y).verdict is Verdict.HOLDS
    assert learner.certificate(sparse.csr_array(X), y).rounds == 60
    for other in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, 2 * y)):
        assert learner.certificate(*other).verdict is Verdict.NOT_APPLICABLE


def test_another_penalty_is_noticed(monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((20, 3)), random.standard_normal(20)
    learner = aw.OnlineRidge(penalty=3.0)
    learner.learn_many(X, y)
    original = checker._retrace
    monkeypatch.setattr(checker, "_retrace", lambda penalty, *rest: original(1.001 * penalty, *rest))
    found = learner.certificate(X, y)
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "the recomputed prediction differs" in found.why_not()[0]


def test_where_the_penalty_is_lost():
    learner = plain(penalty=1e-9)
    learner.learn_many([[1e12], [1e12]], [1.0, 1.0])
    found = learner.certificate([[1e12], [1e12]], [1.0, 1.0])
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.why_not() == ["the longest example has a length of 1e+12, the penalty is 1e-09"]


# ---------------------------------------------------------------------- features


def test_new_features_at_any_time():
    """Ids that come late, out of order and twice in a row: as if all had been there from the start."""
    random = np.random.default_rng(4)
    rows = [
        aw.SparseRow(random.permutation(3 * (t + 1))[: t % 5].astype(np.int32), random.standard_normal(t % 5))
        for t in range(40)
    ]
    rows.append(aw.SparseRow(np.array([130, 4, 130], dtype=np.int32), np.array([1.0, 2.0, 3.0])))
    dense = np.zeros((len(rows), 131))
    for i, row in enumerate(rows):
        np.add.at(dense[i], row.columns, row.values)
    y = random.standard_normal(len(rows))
    learner, other = aw.OnlineRidge(), aw.OnlineRidge()
    for i, (row, target) in enumerate(zip(rows, y, strict=True)):
        predicted = learner.predict_one(row)
        assert learner.learn_one(row, target) == predicted == other.learn_one(dense[i], target)
    assert learner.state()["factor"].tobytes() == other.state()["factor"].tobytes()
    names = aw.OnlineRidge()
    for x, target in zip(dense, y, strict=True):
        names.learn_one({f"f{j}": value for j, value in enumerate(x) if value}, target)
    order = [int(name[1:]) for name in names.weights]
    assert list(names.weights.values()) == pytest.approx(learner.weights[order].tolist(), rel=1e-9, abs=1e-12)


@pytest.fixture
def few_allowed(monkeypatch):
    if not aw.compiled:
        monkeypatch.setattr(online_ridge, "MOST_FEATURES", 20)
    return online_ridge.MOST_FEATURES


def test_more_features_than_it_can_keep_pairs_of_are_refused(few_allowed):
    learner = aw.OnlineRidge()
    learner.learn_one({f"f{j}": 1.0 for j in range(10)}, 1.0)
    before = learner.copy()
    sentence = (
        rf"^the number of features must be at most {few_allowed:,} for OnlineRidge, which keeps a number for every "
        r"pair of them; AdaGradRegressor takes any number; received "
    )
    for x in ({f"g{j}": 1.0 for j in range(few_allowed)}, {f"f{j}": 1.0 for j in range(few_allowed + 1)}):
        with pytest.raises(InputError, match=sentence):
            learner.learn_one(x, 1.0)
        with pytest.raises(InputError, match=sentence):
            learner.learn_many([{"f1": 1.0}, x], [1.0, 1.0])
        assert learner == before
    assert learner.predict_one({f"g{j}": 1.0 for j in range(few_allowed)}) != 0
    with pytest.raises(InputError, match=sentence):
        aw.OnlineRidge().learn_one(aw.SparseRow(np.array([few_allowed], dtype=np.int32), np.ones(1)), 1.0)
    learner = aw.OnlineRidge()
    learner.learn_one(aw.SparseRow(np.array([few_allowed - 1], dtype=np.int32), np.ones(1)), 1.0)
    assert learner.features == few_allowed


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_features_that_are_left_out(most, intercept):
    """It is the learner of the first few features, in every form, and so is its certificate."""
    random = np.random.default_rng(most)
    X = random.standard_normal((30, 4)) * (random.random((30, 4)) < 0.7)
    y = random.standard_normal(30)
    expected = aw.OnlineRidge(intercept=intercept)
    predictions = expected.learn_many(X[:, :most], y).tolist()
    learners = [aw.OnlineRidge(most_features=most, intercept=intercept) for _ in range(3)]
    assert learners[0].learn_many(X, y).tolist() == predictions
    for x, target in zip(X, y, strict=True):
        columns = np.flatnonzero(x).astype(np.int32)
        row = aw.SparseRow(columns[::-1], x[columns][::-1])
        assert learners[1].predict_one(row) == learners[1].learn_one(row, target)
        named = {f"f{j}": value for j, value in enumerate(x)}
        assert learners[2].predict_one(named) == learners[2].learn_one(named, target)
    assert learners[1].weights.tolist() == learners[0].weights.tolist() == expected.weights.tolist()
    assert list(learners[2].weights.values()) == expected.weights.tolist()
    assert learners[0].features == most
    blocks = aw.OnlineRidge(most_features=most, intercept=intercept)
    names = [{f"f{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    blocks.learn_many(names[:7], y[:7])
    blocks.learn_many(names[7:], y[7:])
    assert blocks == learners[2]
    assert aw.OnlineRidge(**blocks.parameters).rounds == 0
    found, wanted = learners[0].certificate(X, y), expected.certificate(X[:, :most], y)
    for one in (found, learners[2].certificate(names, y), learners[1].certificate(sparse.csr_array(X), y)):
        assert one.verdict is Verdict.HOLDS
        assert (one.bound, one.observed) == pytest.approx((wanted.bound, wanted.observed))
    with pytest.raises(DivergenceError):
        blocks.learn_many([{"new": 1.0, "f0": 1e200} if most else {"new": 1.0}, names[0]], [1.0, 1e200])


@pytest.mark.parametrize("most", [-1, 1.5, "3", 4097, True])
def test_bad_numbers_of_features(most):
    with pytest.raises(InputError, match=r"^most_features must be a whole number from 0 to 4,096, or None; received"):
        aw.OnlineRidge(most_features=most)


def test_values_that_are_too_large_change_nothing():
    learner = aw.OnlineRidge()
    learner.learn_many([[1.0, 2.0], [2.0, 1.0]], [1.0, 2.0])
    before = learner.copy()
    for x in ([1e200, 1.0], {"a": 1e200}):
        fresh = learner.copy() if isinstance(x, list) else aw.OnlineRidge()
        kept = fresh.copy()
        with pytest.raises(DivergenceError, match="scale the features"):
            fresh.learn_one(x, 1.0)
        assert fresh == kept
    with pytest.raises(InputError, match="an example whose score is a finite number"):
        learner.predict_one([1e200, 1.0])
    with pytest.raises(DivergenceError):
        learner.learn_many([[1.0, 1.0, 1.0], [1e200, 1.0, 5.0]], [1.0, 1.0])
    before.learn_one([1.0, 1.0, 1.0], 1.0)
    assert learner == before
    # Large, and no number of it overflows.
    learner.learn_one([1e100, 1.0], 1e100)
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("penalty", [0, -1.0, math.inf, math.nan, "1", None, True, 1e-320])
def test_bad_penalties(penalty):
    with pytest.raises(InputError, match=r"^penalty must be a positive"):
        aw.OnlineRidge(penalty=penalty)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("diagonal", lambda d: -d),
        ("diagonal", lambda d: 2 * d + 1),
        ("diagonal", lambda d: d[1:]),
        ("factor", lambda f: f[1:]),
        ("factor", lambda f: f * np.nan),
        ("factor", lambda f: f.astype(np.float32)),
        ("factor", lambda f: f.tolist()),
        ("weights", lambda w: w[1:]),
    ],
)
def test_bad_states(name, change):
    learner = aw.OnlineRidge()
    learner.learn_many([[1.0, 2.0], [3.0, 1.0]], [1.0, 2.0])
    state = learner.state()
    state[name] = change(state[name])
    fresh = aw.OnlineRidge()
    with pytest.raises(InputError):
        fresh.restore(state)
    assert fresh == aw.OnlineRidge()
