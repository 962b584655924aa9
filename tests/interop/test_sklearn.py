"""The scikit-learn classifier, by scikit-learn's own checks and in scikit-learn's own tools."""

import pickle

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_classifiers_train, check_estimator, parametrize_with_checks

import afterwit as aw
from afterwit.core.certificate import Verdict
from afterwit.core.registry import learner_names, many_label_names
from afterwit.errors import InputError
from afterwit.sklearn import OnlineClassifier
from engines import ONE_OF_EACH, engine

NAMES = list(learner_names())
DEFAULT = OnlineClassifier().learner


OTHERS = [name for name in NAMES if name not in ONE_OF_EACH]


@parametrize_with_checks(
    [
        OnlineClassifier(name)
        for name in (*ONE_OF_EACH, "multiclass-perceptron", "softmax-adagrad", "nearest-neighbours")
    ]
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", [*OTHERS, "averaged-multiclass-perceptron", "multiclass-committee"])
def test_the_others_learn_what_scikit_learn_wants(name):
    """The check that depends on the algorithm, not only on its engine."""
    check_classifiers_train(name, OnlineClassifier(name))


def test_every_engine_is_checked():
    assert {engine(name) for name in ONE_OF_EACH} == {engine(name) for name in NAMES}
    assert "perceptron" in ONE_OF_EACH


@pytest.mark.parametrize(
    "options", [{"intercept": True}, {"passes": 1}, {"shuffle": False}, {"intercept": True, "rate": 0.5}], ids=str
)
def test_the_checks_with_options_too(options):
    results = check_estimator(OnlineClassifier("perceptron", **options), on_skip=None)
    assert {each["check_name"] for each in results if each["status"] == "skipped"} <= {"check_array_api_input"}


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


# ---------------------------------------------------------------------- names and options


def test_a_learner_goes_by_its_name():
    for name, learner in {**learner_names(), **many_label_names()}.items():
        assert type(OnlineClassifier(name)._make()) is getattr(aw, learner)
    assert learner_names()["perceptron"] == "Perceptron"
    assert set(many_label_names()) == {
        "multiclass-perceptron", "averaged-multiclass-perceptron", "softmax-adagrad", "nearest-neighbours",
        "multiclass-committee",
    }  # fmt: skip
    assert not {"one-vs-rest", *many_label_names()} & set(learner_names())
    assert DEFAULT == "committee"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AveragedPerceptron", "averaged-perceptron"),
        ("OnlineSVM", "online-svm"),
        ("SGD", "sgd"),
        ("AdaGrad", "adagrad"),
    ],
)
def test_names_in_lower_case(name, expected):
    from afterwit.core.registry import command_name

    assert command_name(getattr(aw, name)) == expected


def test_a_committee_passes_once_and_others_five_times(digits):
    X, y = digits[0][:100], digits[1][:100] % 2
    assert OnlineClassifier("perceptron").fit(X, y).learner_.rounds == 500
    assert OnlineClassifier().fit(X, y).learner_.rounds == 100
    assert OnlineClassifier(passes=2).fit(X, y).learner_.rounds == 200
    assert OnlineClassifier().fit(X, digits[1][:100]).learner_.rounds == 100


def test_a_class_or_an_instance_will_do(digits):
    X, y = digits[0][:200], digits[1][:200] % 2
    by_name = OnlineClassifier("perceptron", rate=0.5).fit(X, y)
    for learner in (aw.Perceptron, aw.Perceptron(rate=3.0)):
        assert OnlineClassifier(learner, rate=0.5).fit(X, y).learner_ == by_name.learner_
    instance = aw.Perceptron(rate=0.5, labels=("a", "b"))
    assert OnlineClassifier(instance).fit(X, y).learner_ == by_name.learner_
    assert instance.rounds == 0
    assert OnlineClassifier(instance).get_params()["rate"] == 0.5


@pytest.mark.parametrize("name", ["multiclass-perceptron", "averaged-multiclass-perceptron", "softmax-adagrad"])
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_a_learner_of_many_labels_learns_them_by_itself(digits, name, classes):
    X, y = digits[0][digits[1] < classes][:300], digits[1][digits[1] < classes][:300]
    kind = getattr(aw, many_label_names()[name])
    classifier = OnlineClassifier(name, intercept=True, passes=2, shuffle=False).fit(X, y)
    learner = kind(intercept=True, labels=range(classes))
    for _ in range(2):
        learner.learn_many(X, y)
    assert classifier.learner_ == learner
    assert classifier.predict(X).tolist() == learner.predict_many(X).tolist()
    scores = learner.score_many(X)
    wanted = scores[:, 1] - scores[:, 0] if classes == 2 else scores
    assert classifier.decision_function(X).tolist() == wanted.tolist()
    assert classifier.certificate(X, y).verdict is Verdict.HOLDS
    for other in (kind, kind(intercept=False, labels=("a", "b"))):
        again = OnlineClassifier(other, intercept=True, passes=2, shuffle=False).fit(X, y)
        assert again.learner_ == learner


def test_a_tie_between_two_classes_goes_to_the_first():
    classifier = OnlineClassifier("multiclass-perceptron", passes=1, shuffle=False).fit([[1.0], [-1.0]], ["b", "a"])
    assert classifier.decision_function([[0.0]]).tolist() == [0.0]
    assert classifier.predict([[0.0]]).tolist() == ["a"] == [classifier.learner_.predict_one([0.0])]


def test_an_unknown_option_is_refused_with_the_ones_there_are():
    sentence = r"^Unknown option 'raet' of perceptron. Did you mean 'rate'\? Known: rate, start, intercept$"
    with pytest.raises(InputError, match=sentence):
        OnlineClassifier("perceptron", raet=2)
    classifier = OnlineClassifier("perceptron")
    with pytest.raises(ValueError, match="Invalid parameter 'raet'"):
        classifier.set_params(raet=2)
    classifier.raet = 2
    with pytest.raises(InputError, match=sentence):
        classifier.fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match="Unknown option 'labels' of Perceptron"):
        OnlineClassifier(aw.Perceptron, labels=(0, 1))
    with pytest.raises(TypeError):
        OnlineClassifier("perceptron", 5)


@pytest.mark.parametrize("learner", ["perceptrom", 3, None, aw.OneVsRest, aw.OneVsRest(), object])
def test_an_unknown_learner_is_refused_by_fit(learner):
    classifier = OnlineClassifier(learner)
    with pytest.raises(InputError, match=r"learner must be one of .*perceptron"):
        classifier.fit([[1.0], [2.0]], [0, 1])
    assert not hasattr(classifier, "n_features_in_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"passes": 0}, "passes must be a whole number"),
        ({"passes": 1.5}, "passes must be"),
        ({"shuffle": "yes"}, "shuffle must be True or False"),
        ({"rate": -1}, "rate must be a positive finite number"),
        ({"random_state": "x"}, "cannot be used to seed"),
    ],
)
def test_bad_values_are_refused_by_fit(options, message):
    classifier = OnlineClassifier("perceptron", **options)
    with pytest.raises(ValueError, match=message):
        classifier.fit([[1.0], [2.0]], [0, 1])


# ---------------------------------------------------------------------- parameters


def test_parameters_with_the_options():
    classifier = OnlineClassifier("perceptron", rate=0.5)
    assert classifier.get_params() == {
        "learner": "perceptron",
        "passes": None,
        "shuffle": True,
        "random_state": 0,
        "rate": 0.5,
        "start": None,
        "intercept": False,
    }
    assert classifier.rate == 0.5
    assert repr(classifier) == "OnlineClassifier(learner='perceptron', rate=0.5)"
    twin = clone(classifier)
    assert twin.get_params() == classifier.get_params()
    twin.set_params(rate=2.0, passes=1)
    assert (classifier.rate, classifier.passes, twin.rate, twin.passes) == (0.5, None, 2.0, 1)
    with pytest.raises(AttributeError, match="no attribute 'margin'"):
        _ = classifier.margin


def test_a_clone_keeps_the_defaults_open():
    """What was not given is not carried over to another learner."""
    classifier = clone(OnlineClassifier("perceptron"))
    assert "rate" not in classifier.get_params(deep=False)
    classifier.set_params(learner=aw.Perceptron, intercept=True)
    assert classifier.get_params(deep=False)["intercept"] is True


def test_it_can_be_pickled(digits):
    X, y = digits
    classifier = OnlineClassifier("perceptron", rate=0.5, passes=1).fit(X, y)
    again = pickle.loads(pickle.dumps(classifier))
    assert again.learner_ == classifier.learner_
    assert again.get_params() == classifier.get_params()
    assert (again.predict(X) == classifier.predict(X)).all()
    again.partial_fit(X, y)
    assert again.learner_ != classifier.learner_


# ---------------------------------------------------------------------- what it learns


@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_learner_itself(classes):
    X, y = make_blobs(200, centers=classes, random_state=3)
    names = np.array(["ant", "bee", "cow"])[y]
    classifier = OnlineClassifier("perceptron", passes=3).fit(X, names)
    order = np.random.RandomState(0).permutation(200)
    assert (classifier.order_ == order).all()
    labels = ("ant", "bee", "cow")[:classes]
    learner = aw.Perceptron(labels=labels) if classes == 2 else aw.OneVsRest(aw.Perceptron(), labels)
    for _ in range(3):
        learner.learn_many(X[order], names[order])
    assert classifier.learner_ == learner
    assert classifier.classes_.tolist() == list(labels)
    assert classifier.predict(X).tolist() == learner.predict_many(X).tolist()
    assert classifier.predict(X).dtype == names.dtype
    assert (classifier.decision_function(X) == learner.score_many(X)).all()
    assert classifier.decision_function(X).shape == ((200,) if classes == 2 else (200, 3))
    assert classifier.score(X, names) == (learner.predict_many(X) == names).mean()
    in_order = OnlineClassifier("perceptron", passes=1, shuffle=False).fit(X, names)
    fresh = type(learner)(**learner.parameters)
    fresh.learn_many(X, names)
    assert in_order.learner_ == fresh


def test_partial_fit_goes_on(digits):
    X, y = digits
    classifier = OnlineClassifier("perceptron")
    for begin in range(0, len(y), 500):
        classifier.partial_fit(X[begin : begin + 500], y[begin : begin + 500], classes=np.arange(10))
    expected = aw.OneVsRest(aw.Perceptron(), labels=range(10))
    expected.learn_many(X, y)
    assert classifier.learner_ == expected
    assert classifier.certificate(X, y).verdict is Verdict.HOLDS
    before = pickle.dumps(classifier.learner_)
    for bad_y, classes, message in (
        (np.full(len(y), 11), None, r"y\[0\] must be one of"),
        (y, [1, 2], "classes must be those of the first call"),
    ):
        with pytest.raises(InputError, match=message):
            classifier.partial_fit(X, bad_y, classes)
    assert pickle.dumps(classifier.learner_) == before
    with pytest.raises(InputError, match="classes must be all the classes"):
        OnlineClassifier("perceptron").partial_fit(X, y)
    classifier.fit(X[:100], y[:100] % 2)
    assert classifier.classes_.tolist() == [0, 1]
    assert classifier.learner_.rounds == 500


def test_one_class_is_not_enough():
    with pytest.raises(InputError, match="two or more classes; received one class"):
        OnlineClassifier("perceptron").fit([[1.0], [2.0]], [1, 1])


def test_not_fitted():
    with pytest.raises(NotFittedError):
        OnlineClassifier("perceptron").predict([[1.0]])
    with pytest.raises(NotFittedError):
        OnlineClassifier("perceptron").certificate([[1.0]], [1])


@pytest.mark.parametrize("target", [8, None], ids=["two classes", "ten classes"])
def test_certificates_are_within_reach(digits, target):
    X, y = digits[0][:400], digits[1][:400]
    y = y if target is None else y == target
    classifier = OnlineClassifier("perceptron").fit(X, y)
    certificate = classifier.certificate(X, y)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.observed == classifier.learner_.mistakes
    assert certificate.rounds == 2000
    direct = classifier.learner_.certificate(X[classifier.order_], y[classifier.order_])
    assert direct.bound == certificate.bound
    assert classifier.certificate(X[:-1], y[:-1]).verdict is Verdict.NOT_APPLICABLE
    assert classifier.certificate(X[::-1], y[::-1]).verdict is Verdict.NOT_APPLICABLE


# ---------------------------------------------------------------------- inputs and tools


def test_sparse_matrices_and_data_frames(digits):
    X, y = digits
    dense = OnlineClassifier("perceptron").fit(X, y)
    for form in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)):
        classifier = OnlineClassifier("perceptron").fit(form, y)
        assert (classifier.predict(form) == dense.predict(X)).all()
        assert classifier.n_features_in_ == 64
    names = [f"pixel {j}" for j in range(64)]
    frame = pandas.DataFrame(X, columns=names)
    classifier = OnlineClassifier("perceptron").fit(frame, pandas.Series(y))
    assert classifier.feature_names_in_.tolist() == names
    assert classifier.learner_ == dense.learner_
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(frame.rename(columns={"pixel 3": "other"}))


def test_a_search_over_options_and_learners(digits):
    X, y = digits[0][:300], digits[1][:300]
    grid = [{"learner": ["perceptron"], "rate": [0.5, 1.0], "passes": [1, 2]}]
    grid += [{"learner": [name]} for name in NAMES] + [{"learner": [aw.Perceptron(intercept=True)]}]
    search = GridSearchCV(OnlineClassifier("perceptron"), grid, cv=3, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 5 + len(NAMES)
    assert search.best_score_ > 0.7
    assert search.best_estimator_.learner_.rounds in (300, 600, 1500)


def test_in_a_pipeline_and_in_cross_validation(digits):
    X, y = digits
    pipeline = make_pipeline(StandardScaler(), OnlineClassifier("perceptron", rate=0.1))
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        scaler = StandardScaler().fit(X[train])
        order = np.random.RandomState(0).permutation(len(train))
        learner = aw.OneVsRest(aw.Perceptron(rate=0.1), labels=range(10))
        for _ in range(5):
            learner.learn_many(scaler.transform(X[train])[order], y[train][order])
        expected.append((learner.predict_many(scaler.transform(X[test])) == y[test]).mean())
    assert cross_val_score(pipeline, X, y, cv=3).tolist() == expected
    pipeline.set_params(onlineclassifier__rate=0.7, onlineclassifier__passes=1)
    assert pipeline.fit(X, y)[-1].learner_.learners[3].rate == 0.7
    assert "onlineclassifier__intercept" in pipeline.get_params()
    assert pipeline._repr_html_()


def test_the_order_is_reproducible_and_can_be_chosen(digits):
    X, y = digits[0][:200], digits[1][:200]
    assert OnlineClassifier("perceptron").fit(X, y).learner_ == OnlineClassifier("perceptron").fit(X, y).learner_
    one, other = (OnlineClassifier("perceptron", random_state=seed).fit(X, y).order_ for seed in (1, 2))
    assert (one != other).any()


def test_a_committee(digits):
    X, y = digits[0][:300], digits[1][:300]
    two = OnlineClassifier("committee", weighting="boa", passes=2).fit(X, y % 2)
    assert type(two.learner_) is aw.Committee
    assert two.learner_.rounds == 600
    assert two.certificate(X, y % 2).verdict is Verdict.HOLDS
    assert clone(OnlineClassifier("committee", learners=["perceptron", "sgd"])).fit(X, y).learner_.rounds == 300
    assert cross_val_score(OnlineClassifier("committee"), X, y, cv=3).mean() > 0.85
    many = OnlineClassifier("committee", learners=["perceptron", "sgd"], passes=1, shuffle=False).fit(X, y)
    alone = aw.MulticlassCommittee(["perceptron", "sgd"], labels=range(10))
    alone.learn_many(X, y)
    assert many.learner_.state()["members"][1]["rounds"] == 300
    assert list(many.learner_.member_mistakes.values()) == list(alone.member_mistakes.values())
    assert many.predict(X).tolist() == alone.predict_many(X).tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities(classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    classifier = OnlineClassifier("adagrad", loss="logistic").fit(X, y)
    found = classifier.predict_proba(X)
    assert found.tolist() == classifier.learner_.predict_proba_many(X).tolist()
    assert found.shape == (len(X), classes)
    assert (classifier.classes_[found.argmax(axis=1)] == classifier.predict(X)).all()
    assert log_loss(y, found) < 0.7
    assert cross_val_score(classifier, X, y, scoring="neg_log_loss", error_score="raise").shape == (5,)


def test_the_learner_behind_standardize_is_that_of_the_instance():
    X, y = load_iris(return_X_y=True)
    classifier = OnlineClassifier(aw.Standardize(aw.Perceptron(rate=0.5)), passes=1).fit(X, y == 1)
    assert classifier.learner_.parameters["learner"] == aw.Perceptron(rate=0.5, labels=(-1, 1))
    assert "rate" not in classifier.get_params()
    with pytest.raises(InputError, match="Unknown option 'rate' of standardize"):
        OnlineClassifier("standardize", rate=1.0)


def test_probabilities_of_learners_that_have_none():
    X, y = load_iris(return_X_y=True)
    for options in ({"learner": "perceptron"}, {"learner": "adagrad", "loss": "hinge"}):
        classifier = OnlineClassifier(**options).fit(X, y)
        assert not hasattr(classifier, "predict_proba")
        with pytest.raises(AttributeError, match="gives no probabilities: its score is none"):
            _ = classifier.predict_proba
    assert not hasattr(OnlineClassifier("nonsense"), "predict_proba")
