"""Probabilities: of learners of logistic loss, in every form, and in River and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
from afterwit.core.probabilities import logistic, pairs, shares

LOGISTIC = {"AdaGrad": aw.AdaGrad, "SGD": aw.SGD, "ScaleFree": aw.ScaleFree}
scores = st.floats(-1e6, 1e6)


def naive(score):
    """1 / (1 + e^-s) in decimals with digits to spare."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec, context.Emin = 60, -(10**9)
        return float(1 / (1 + (-Decimal(score)).exp()))


@given(scores)
def test_the_logistic_function_to_the_last_digits(score):
    expected = naive(score)
    assert logistic(score) == pytest.approx(expected, rel=1e-15, abs=1e-320)


@given(scores)
def test_the_log_loss_of_the_probability_is_the_logistic_loss_of_the_score(score):
    for y in (-1, 1):
        p = logistic(y * score)
        loss = float(np.logaddexp(0.0, -y * score))
        assert p == pytest.approx(math.exp(-loss), rel=1e-12, abs=1e-320)


@given(st.lists(st.lists(scores, min_size=3, max_size=3), max_size=4))
def test_pairs_and_shares_add_up_to_1(rows):
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
    found = shares(table)
    assert found.shape == table.shape
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=1), 1, rtol=1e-14)
    for row, each in zip(table, found, strict=True):
        assert each[np.argmax(row)] == each.max()
    two = pairs(table[:, 0])
    assert two.shape == (len(rows), 2)
    assert np.allclose(two.sum(axis=1), 1, rtol=1e-15)
    assert two.tolist() == [[logistic(-row[0]), logistic(row[0])] for row in table.tolist()]


def test_shares_are_the_binary_probabilities_divided_by_their_sum():
    each = [naive(0.5), naive(-1.0), naive(3.0)]
    assert shares(np.array([[0.5, -1.0, 3.0]]))[0].tolist() == pytest.approx([p / sum(each) for p in each], rel=1e-15)
    far = shares(np.array([[-800.0, -801.0, -900.0]]))[0]
    assert far.tolist() == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), math.exp(-100) / (1 + 1 / math.e)])


def data(rounds=80):
    random = np.random.default_rng(4)
    X = random.standard_normal((rounds, 3))
    return X, np.where(X[:, 0] - X[:, 1] + random.standard_normal(rounds) > 0, "spam", "ham")


@pytest.mark.parametrize("name", LOGISTIC)
def test_one_and_many_and_every_form_agree(name):
    X, y = data()
    learner = LOGISTIC[name](labels=("ham", "spam"))
    learner.learn_many(X, y)
    many = learner.predict_proba_many(X)
    assert many.shape == (len(X), 2)
    assert learner.predict_proba_many(sparse.csr_array(X)).tolist() == many.tolist()
    for x, row in zip(X, many, strict=True):
        one = learner.predict_proba_one(x)
        assert list(one) == ["ham", "spam"]
        assert list(one.values()) == row.tolist()
        score = learner.score_one(x)
        assert one["spam"] == pytest.approx(naive(score), rel=1e-15)
        assert (one["spam"] >= one["ham"]) == (learner.predict_one(x) == "spam")
    assert learner.predict_proba_many(X[:0]).shape == (0, 2)


@pytest.mark.parametrize("name", LOGISTIC)
def test_the_bound_on_the_loss_bounds_the_log_loss_of_the_probabilities(name):
    X, y = data()
    learner = LOGISTIC[name](labels=("ham", "spam"))
    total = 0.0
    for x, label in zip(X, y.tolist(), strict=True):
        total -= math.log(learner.predict_proba_one(x)[label])
        learner.learn_one(x, label)
    certificate = learner.certificate(X, y)
    assert certificate.quantity == "loss"
    assert certificate.observed == pytest.approx(total, rel=1e-12)
    assert total <= certificate.bound


def test_many_classes():
    X, _ = data()
    y = np.where(X[:, 0] > 0.5, "a", np.where(X[:, 1] > 0, "b", "c"))
    learner = aw.OneVsRest(aw.AdaGrad())
    assert learner.predict_proba_one(X[0]) == {}
    assert learner.predict_proba_many(X).shape == (len(X), 0)
    learner.learn_many(X, y)
    many = learner.predict_proba_many(X)
    for x, row in zip(X, many, strict=True):
        one = learner.predict_proba_one(x)
        assert list(one) == list(learner.classes)
        assert list(one.values()) == row.tolist()
        each = [naive(score) for score in learner.score_one(x).values()]
        assert row.tolist() == pytest.approx([p / sum(each) for p in each], rel=1e-14)
        assert max(one, key=one.get) == learner.predict_one(x)


@pytest.mark.parametrize(
    ("learner", "begin"),
    [
        (aw.Perceptron(), "Perceptron gives no probabilities"),
        (aw.SGD(loss="hinge"), "SGD with loss='hinge' gives no probabilities"),
        (aw.OneVsRest(), "Perceptron gives no probabilities"),
        (aw.Committee(weighting="adahedge"), "Committee gives no probabilities"),
    ],
    ids=["perceptron", "hinge", "many", "committee"],
)
def test_the_refusal_names_those_who_give_them(learner, begin):
    rest = (
        r": its score is none\. Calibrated\(learner\) makes probabilities of the scores of any learner of two labels\. "
        r"With loss='logistic' these learners have them: AdaGrad, .*SGD, ScaleFree$"
    )
    assert not learner.gives_probabilities
    for ask in (lambda: learner.predict_proba_one({"a": 1.0}), lambda: learner.predict_proba_many([{"a": 1.0}])):
        with pytest.raises(NotImplementedError, match="^" + begin.replace("(", r"\(") + rest):
            ask()
