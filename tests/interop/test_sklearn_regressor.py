"""The scikit-learn regressor, by scikit-learn's own checks and in scikit-learn's own tools."""

import pickle

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, check_regressors_train, parametrize_with_checks

import afterwit as aw
from afterwit.core.certificate import Verdict
from afterwit.core.registry import options_of, regressor_names
from afterwit.errors import InputError
from afterwit.sklearn import OnlineRegressor

NAMES = list(regressor_names())
#: One that keeps pairs of features, one that keeps each, and one that is made of others.
CHECKED = ["online-ridge", "adagrad-regressor"]


@parametrize_with_checks([OnlineRegressor(name) for name in CHECKED])
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CHECKED])
def test_the_others_learn_what_scikit_learn_wants(name):
    """The check that depends on the algorithm, not only on its engine."""
    check_regressors_train(name, OnlineRegressor(name))


@pytest.mark.parametrize("options", [{"intercept": False}, {"passes": 1}, {"shuffle": False, "penalty": 0.1}], ids=str)
def test_the_checks_with_options_too(options):
    results = check_estimator(OnlineRegressor("online-ridge", **options), on_skip=None)
    assert {each["check_name"] for each in results if each["status"] == "skipped"} <= {"check_array_api_input"}


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


# ---------------------------------------------------------------------- names and options


def test_a_learner_goes_by_its_name():
    assert {"online-ridge", "adagrad-regressor"} <= set(NAMES)
    for name, learner in regressor_names().items():
        regressor = OnlineRegressor(name)
        assert type(regressor._make()) is getattr(aw, learner)
        own = {"learner", "passes", "shuffle", "random_state"}
        assert regressor.get_params().keys() == own | options_of(getattr(aw, learner)).keys()
    assert is_regressor(OnlineRegressor())


def test_a_class_or_an_instance_will_do(diabetes):
    X, y = diabetes
    by_name = OnlineRegressor("online-ridge", penalty=0.5).fit(X, y)
    for learner in (aw.OnlineRidge, aw.OnlineRidge(penalty=3.0)):
        assert OnlineRegressor(learner, penalty=0.5).fit(X, y).learner_ == by_name.learner_
    instance = aw.OnlineRidge(penalty=0.5)
    assert OnlineRegressor(instance).fit(X, y).learner_ == by_name.learner_
    assert instance.rounds == 0
    assert OnlineRegressor(instance).get_params()["penalty"] == 0.5


def test_an_unknown_option_is_refused_with_the_ones_there_are():
    sentence = (
        r"^Unknown option 'penalt' of online-ridge. Did you mean 'penalty'\? Known: penalty, most_features, intercept$"
    )
    with pytest.raises(InputError, match=sentence):
        OnlineRegressor("online-ridge", penalt=2)
    regressor = OnlineRegressor("online-ridge")
    with pytest.raises(ValueError, match="Invalid parameter 'penalt'"):
        regressor.set_params(penalt=2)
    regressor.penalt = 2
    with pytest.raises(InputError, match=sentence):
        regressor.fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(AttributeError, match="no attribute 'classes_'"):
        _ = regressor.classes_


@pytest.mark.parametrize("learner", ["ridge", 3, None, "perceptron", aw.Perceptron, aw.Perceptron(), object, aw.BOA])
def test_an_unknown_learner_is_refused_by_fit(learner):
    regressor = OnlineRegressor(learner)
    for learn in (regressor.fit, regressor.partial_fit):
        with pytest.raises(InputError, match=r"learner must be one of .*online-ridge"):
            learn([[1.0], [2.0]], [0, 1])
    assert not hasattr(regressor, "n_features_in_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"passes": 0}, "passes must be a whole number"),
        ({"shuffle": "yes"}, "shuffle must be True or False"),
        ({"penalty": -1}, "penalty must be a positive finite number"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
)
def test_bad_values_are_refused_by_fit(options, message):
    with pytest.raises(ValueError, match=message):
        OnlineRegressor("online-ridge", **options).fit([[1.0], [2.0]], [0, 1])


def test_parameters_with_the_options():
    regressor = OnlineRegressor("online-ridge", penalty=0.5)
    assert regressor.get_params() == {
        "learner": "online-ridge",
        "passes": None,
        "shuffle": True,
        "random_state": 0,
        "penalty": 0.5,
        "most_features": None,
        "intercept": True,
    }
    assert repr(OnlineRegressor("adagrad-regressor", rate=0.5)) == (
        "OnlineRegressor(learner='adagrad-regressor', rate=0.5)"
    )
    twin = clone(regressor).set_params(penalty=2.0, passes=3)
    assert (regressor.penalty, regressor.passes, twin.penalty, twin.passes) == (0.5, None, 2.0, 3)
    assert "penalty" not in clone(OnlineRegressor("online-ridge")).get_params(deep=False)


# ---------------------------------------------------------------------- what it learns


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_learner_itself(name, diabetes):
    X, y = diabetes[0][:100], diabetes[1][:100]
    regressor = OnlineRegressor(name, passes=2).fit(X, y)
    order = np.random.RandomState(0).permutation(100)
    assert (regressor.order_ == order).all()
    learner = getattr(aw, regressor_names()[name])()
    for _ in range(2):
        learner.learn_many(X[order], y[order])
    assert regressor.learner_ == learner
    assert regressor.predict(X).tolist() == learner.predict_many(X).tolist()
    in_order = OnlineRegressor(name, passes=1, shuffle=False).fit(X, y)
    fresh = type(learner)()
    fresh.learn_many(X, y)
    assert in_order.learner_ == fresh
    part = OnlineRegressor(name)
    for begin in range(0, 100, 30):
        part.partial_fit(X[begin : begin + 30], y[begin : begin + 30])
    assert part.learner_ == fresh
    assert part.order_ is None
    again = pickle.loads(pickle.dumps(part))
    assert again.learner_ == fresh
    assert again.get_params() == part.get_params()


def test_certificates_are_within_reach(diabetes):
    X, y = diabetes
    regressor = OnlineRegressor("online-ridge", passes=2).fit(X, y)
    certificate = regressor.certificate(X, y)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.observed == pytest.approx(regressor.learner_.loss)
    assert certificate.rounds == 2 * len(y)
    assert regressor.certificate(X[:-1], y[:-1]).verdict is Verdict.NOT_APPLICABLE
    partly = OnlineRegressor("online-ridge").partial_fit(X, y)
    assert partly.certificate(X, y).verdict is Verdict.HOLDS
    with pytest.raises(NotFittedError):
        OnlineRegressor().certificate(X, y)
    with pytest.raises(NotFittedError):
        OnlineRegressor().predict(X)


def test_what_is_refused_changes_nothing(diabetes):
    X, y = diabetes
    regressor = OnlineRegressor("online-ridge").partial_fit(X, y)
    before = regressor.learner_.copy()
    for bad_X, bad_y in ((X[:, :3], y), (X, y[1:]), (X, np.full(len(y), np.nan))):
        with pytest.raises(ValueError, match=r"features|inconsistent|NaN"):
            regressor.partial_fit(bad_X, bad_y)
    assert regressor.learner_ == before


# ---------------------------------------------------------------------- inputs and tools


def test_sparse_matrices_and_data_frames(diabetes):
    X, y = diabetes
    dense = OnlineRegressor("online-ridge").fit(X, y)
    for form in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)):
        assert (OnlineRegressor("online-ridge").fit(form, y).predict(form) == dense.predict(X)).all()
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(10)])
    regressor = OnlineRegressor("online-ridge").fit(frame, pandas.Series(y))
    assert regressor.feature_names_in_.tolist() == list(frame.columns)
    assert regressor.learner_ == dense.learner_


def test_the_tools_of_scikit_learn(diabetes):
    X, y = diabetes
    search = GridSearchCV(
        make_pipeline(StandardScaler(), OnlineRegressor("online-ridge")),
        {"onlineregressor__penalty": [1e-3, 1.0, 1e4]},
        cv=3,
    ).fit(X, y)
    # So large a penalty leaves nothing of the weights.
    assert search.best_params_["onlineregressor__penalty"] < 1e4
    assert cross_val_score(search.best_estimator_, X, y, cv=3).mean() > 0.3
    bagged = BaggingRegressor(OnlineRegressor("online-ridge"), n_estimators=3, random_state=0).fit(X, y)
    predictions = [
        each.predict(X[:, columns])
        for each, columns in zip(bagged.estimators_, bagged.estimators_features_, strict=True)
    ]
    assert bagged.predict(X).tolist() == pytest.approx(np.mean(predictions, axis=0).tolist())
