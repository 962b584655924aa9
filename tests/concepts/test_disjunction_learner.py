"""The simple disjunction learner: consistent whenever a disjunction is."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_rules
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError, LabelError, ModelFileError

samples = st.integers(1, 4).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(st.integers(0, 1), min_size=d, max_size=d), st.booleans()), min_size=1, max_size=8
    ).map(lambda rows: ([x for x, _ in rows], [y for _, y in rows]))
)


def signs(y):
    return [1 if label else -1 for label in y]


@given(samples, st.booleans())
def test_it_is_consistent_exactly_when_some_disjunction_is(sample, negated):
    X, y = sample
    learner = aw.DisjunctionLearner(negated=negated).fit(X, signs(y))
    assert learner.consistent == naive_rules.some_disjunction_is_consistent(X, y, negated)
    literals = [(j, 1) for j in learner.literals] + [(j, 0) for j in learner.negated_literals]
    # Exactly the literals that are false in every negative example.
    expected = [
        (j, value)
        for value in ((1, 0) if negated else (1,))
        for j in range(len(X[0]))
        if all(x[j] != value for x, label in zip(X, y, strict=True) if not label)
    ]
    assert literals == expected
    predictions = [naive_rules.disjunction(literals, x) for x in X]
    assert learner.predict_many(X).tolist() == signs(predictions)
    assert [learner.predict_one(x) for x in X] == signs(predictions)
    wrong = [i for i, (said, label) in enumerate(zip(predictions, y, strict=True)) if said != label]
    assert learner.mistakes == len(wrong)
    assert learner.uncovered == (wrong[0] if wrong else None)
    assert all(y[i] for i in wrong), "it is never wrong on a negative example"


@pytest.mark.parametrize("negated", [False, True])
def test_the_bound_counts_the_functions_there_are(negated):
    for d in range(1, 4):
        learner = aw.DisjunctionLearner(negated=negated).fit(np.eye(d, dtype=int), [1] * d)
        functions = naive_rules.functions_of_disjunctions(d, negated)
        certificate = learner.certificate(np.eye(d, dtype=int), [1] * d, delta=0.1)
        assert certificate.bound == pytest.approx((math.log(functions) + math.log(10)) / d)
        assert certificate.verdict is Verdict.HOLDS
        assert certificate.theorem.chance == "with probability 90%"


def forms(X):
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    yield X, "array"
    yield X.tolist(), "lists"
    yield X.astype(bool), "booleans"
    yield X.astype(float), "floats"
    yield sparse.csr_array(X), "sparse"
    yield sparse.csc_matrix(X), "sparse columns"
    yield frame, "pandas"
    yield pl.DataFrame(frame), "polars"
    yield [{name: int(v) for name, v in zip(names, row, strict=True) if v} for row in X], "dicts"


def test_every_form_of_input_gives_the_same_rule():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (60, 6))
    X[0] = 1  # so that dicts meet every name, in order
    y = np.where(X[:, 2] | X[:, 4], "yes", "no")
    for data, kind in forms(X):
        learner = aw.DisjunctionLearner(labels=("no", "yes")).fit(data, y)
        assert sorted(str(each).removeprefix("f") for each in learner.literals) == ["2", "4"], kind
        assert learner.predict_many(data).tolist() == y.tolist(), kind
        assert learner.certificate(data, y).verdict is Verdict.HOLDS, kind
        assert learner.features == 6


def test_named_features_may_be_absent_new_or_in_another_order():
    learner = aw.DisjunctionLearner(negated=True).fit([{"a": 1, "b": 1}, {"b": 1}, {"a": 1}], [1, -1, 1])
    assert str(learner) == "a or not b"
    assert learner.predict_one({"b": 1, "new": 1}) == -1
    assert learner.predict_one({}) == 1
    assert learner.predict_one({"b": 1, "a": 1}) == 1
    frame = pd.DataFrame({"b": [1, 1], "more": [0, 1], "a": [0, 1]})
    assert learner.predict_many(frame).tolist() == [-1, 1]
    with pytest.raises(InputError, match="X must be with a column 'b'; received none of that name"):
        learner.predict_many(frame[["a"]])


def test_it_says_when_no_disjunction_is_consistent():
    X, y = [[1, 0], [0, 1], [1, 1]], [-1, 1, -1]
    learner = aw.DisjunctionLearner().fit(X, y)
    assert (learner.consistent, learner.uncovered, learner.mistakes, str(learner)) == (False, 1, 1, "never")
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert certificate.bound is None
    assert "no disjunction is right on the rows it was fitted to: row 1 there is positive" in certificate.line()
    assert aw.DisjunctionLearner(negated=True).fit(X, y).consistent


def test_a_certificate_is_about_the_rows_it_is_given():
    X, y = [[1, 0], [0, 1]], [1, -1]
    learner = aw.DisjunctionLearner().fit(X, y)
    assert learner.certificate([*X, [1, 1]], [*y, 1]).verdict is Verdict.HOLDS
    other = learner.certificate([[1, 0]], [-1])
    assert other.verdict is Verdict.NOT_APPLICABLE
    assert "row 0 has another label than the disjunction gives" in str(other)
    assert "independent draws" in other.details()


def test_the_error_is_below_the_bound_on_new_data():
    random = np.random.default_rng(1)
    failures = 0
    for _ in range(40):
        X = (random.random((60, 8)) < 0.2).astype(int)
        y = np.where(X[:, 0] | X[:, 5], 1, -1)
        learner = aw.DisjunctionLearner().fit(X, y)
        new = (random.random((4000, 8)) < 0.2).astype(int)
        error = np.mean(learner.predict_many(new) != np.where(new[:, 0] | new[:, 5], 1, -1))
        failures += error > learner.certificate(X, y, delta=0.05).bound
    assert failures <= 2


def test_saving_copying_and_comparing(tmp_path):
    X, y = [{"a": 1}, {"b": 1}], ["no", "yes"]
    fresh = aw.DisjunctionLearner(negated=True, labels=("no", "yes"))
    for learner in (fresh, copy.copy(fresh).fit(X, y)):
        aw.save(learner, tmp_path / "m")
        for twin in (
            aw.load(tmp_path / "m"),
            copy.deepcopy(learner),
            pickle.loads(pickle.dumps(learner)),
            learner.copy(),
        ):
            assert twin == learner
            assert twin is not learner
            assert repr(twin) == repr(learner)
    assert learner != fresh
    assert aw.load(tmp_path / "m").predict_many(X).tolist() == y
    assert "2 examples, 0 mistakes" in repr(learner)
    state = learner.state()
    for key, value in (("literals", np.zeros(5, bool)), ("literals", [True]), ("rounds", -1), ("names", ["a"])):
        with pytest.raises(InputError):
            fresh.restore({**state, key: value})
    assert fresh == aw.DisjunctionLearner(negated=True, labels=("no", "yes"))


def test_bad_input_is_refused_and_changes_nothing(tmp_path):
    learner = aw.DisjunctionLearner().fit([[1, 0], [0, 1]], [1, -1])
    before = learner.state()
    for X, y, kind, message in (
        ([[1, 2]], [1], InputError, r"X\[0, 1\] must be 0 or 1; received 2.0"),
        ([[1, math.nan]], [1], InputError, r"X\[0, 1\] must be 0 or 1; received nan"),
        (sparse.csr_array([[1, 0.5]]), [1], InputError, r"X\[0, 1\] must be 0 or 1; received 0.5"),
        ([{"a": 3}], [1], InputError, r"X\[0, 'a'\] must be 0 or 1; received 3.0"),
        ([[1, 0]], [0], LabelError, r"y\[0\] must be -1 or 1; received 0"),
        ([[1, 0]], [1, 1], InputError, r"y must be as long as X \(1 row\); received 2 labels"),
        ([], [], InputError, "X must be at least one row"),
        ("abc", [1], InputError, "X must be a 2-D array"),
    ):
        with pytest.raises(kind, match=message):
            learner.fit(X, y)
    for x, message in (
        ([1, 0, 0], "x must be of 2 features; received 3"),
        ({"a": 1}, "X must be of features by position"),
    ):
        with pytest.raises(InputError, match=message):
            learner.predict_one(x)
    with pytest.raises(InputError, match=r"x\[1\] must be 0 or 1; received 7.0"):
        learner.predict_one([0, 7])
    assert same(learner.state(), before)
    with pytest.raises(InputError, match="has not been fitted yet"):
        aw.DisjunctionLearner().predict_one([1])
    with pytest.raises(InputError, match="delta must be a number above 0 and below 1"):
        learner.certificate([[1, 0]], [1], delta=1)
    with pytest.raises(InputError, match="negated must be True or False"):
        aw.DisjunctionLearner(negated="yes")
    with pytest.raises(InputError, match="labels must be"):
        aw.DisjunctionLearner(labels=(1, 1))
    aw.save(learner, tmp_path / "m")
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:-9])
    with pytest.raises(ModelFileError):
        aw.load(tmp_path / "m")


def same(a, b):
    return pickle.dumps(a) == pickle.dumps(b)


def test_narrow_sparse_rows_end_where_they_end():
    learner = aw.DisjunctionLearner().fit(sparse.csr_array([[1, 0, 0], [0, 0, 1]]), [1, -1])
    assert learner.predict_one(aw.SparseRow([0], [1])) == 1
    assert learner.predict_many([aw.SparseRow([2], [1]), aw.SparseRow([], [])]).tolist() == [-1, -1]
