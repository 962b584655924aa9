"""Standardize for many classes: the learner inside, on rows that are standardized by the definition; every form."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import afterwit as aw
import naive
from afterwit.core.certificate import Verdict
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError, LabelError

INSIDE = {
    "softmax": aw.SoftmaxAdaGrad(rate=0.3),
    "perceptron": aw.MulticlassPerceptron(intercept=True),
    "neighbours": aw.NearestNeighbours(2, window=9),
    "one against the rest": aw.OneVsRest(aw.Perceptron()),
}
every_learner = pytest.mark.parametrize("name", INSIDE)


def data(rounds=60, width=4, seed=1, classes=3):
    random = np.random.default_rng(seed)
    scales = 10.0 ** random.integers(-4, 5, width)
    X = random.standard_normal((rounds, width)) * scales + random.standard_normal(width) * 3 * scales
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, [("ant", "bee", "cow")[k] for k in np.argmax(Z @ random.standard_normal((width, classes)), axis=1)]


def as_dicts(X):
    return [{f"f{j}": value for j, value in enumerate(row)} for row in X.tolist()]


@every_learner
def test_the_learner_inside_learns_the_standardized_rows(name):
    X, y = data()
    learner, inside = aw.MulticlassStandardize(INSIDE[name]), INSIDE[name].copy()
    Z = np.array([list(row.values()) for row in naive.standardized(as_dicts(X))])
    assert learner.learn_many(X, y).tolist() == inside.learn_many(Z, y).tolist()
    assert (learner.rounds, learner.mistakes, learner.updates) == (inside.rounds, inside.mistakes, inside.updates)
    assert learner.classes == inside.classes
    assert learner.means.tolist() == pytest.approx(X.mean(axis=0).tolist())
    assert learner.deviations.tolist() == pytest.approx(X.std(axis=0).tolist())
    assert (learner.features, learner.standardized.rounds) == (4, 60)
    scores = inside.score_many(np.array([list(naive.standardized([*as_dicts(X), as_dicts(X)[7]])[-1].values())]))
    assert list(learner.score_one(X[7]).values()) == pytest.approx(scores[0].tolist(), rel=1e-9)


@every_learner
@pytest.mark.parametrize("form", ["array", "sparse", "dicts"])
def test_many_is_one_by_one_and_parts(name, form):
    X, y = data(40)
    X[::3, 1] = 0.0
    X[1::4, 2] = 0.0
    many = {
        "array": X,
        "sparse": sparse.csr_array(X),
        "dicts": [{k: v for k, v in row.items() if v} for row in as_dicts(X)],
    }
    rows = many[form]
    one_by_one, at_once, parts = (aw.MulticlassStandardize(INSIDE[name]) for _ in range(3))
    singles = [rows[[i]] for i in range(40)] if form == "sparse" else list(rows)
    said = [one_by_one.learn_one(x, label) for x, label in zip(singles, y, strict=True)]
    assert at_once.learn_many(rows, y).tolist() == said
    parts.learn_many(rows[:13], y[:13])
    parts.learn_many(rows[13:], y[13:])
    assert one_by_one == at_once == parts
    assert at_once.score_many(rows).tolist() == [list(at_once.score_one(x).values()) for x in singles]
    assert at_once.predict_many(rows).tolist() == [at_once.predict_one(x) for x in singles]
    if at_once.gives_probabilities:
        shares = [list(at_once.predict_proba_one(x).values()) for x in singles]
        assert at_once.predict_proba_many(rows).tolist() == shares
    assert at_once == parts, "scoring changes nothing"


def test_units_do_not_matter():
    X, y = data()
    one, other = aw.MulticlassStandardize(), aw.MulticlassStandardize()
    assert one.learn_many(X, y).tolist() == other.learn_many(X * 2.0 ** np.array([-20, 0, 20, 3]), y).tolist()
    assert same_value(one.state()["learner"], other.state()["learner"])


def test_labels_that_are_named():
    learner = aw.MulticlassStandardize(labels=("cow", "bee", "ant"))
    assert learner.classes == learner.standardized.classes == ("cow", "bee", "ant")
    assert learner.predict_proba_one([1.0]) == dict.fromkeys(("cow", "bee", "ant"), 1 / 3)
    with pytest.raises(LabelError):
        learner.learn_one([1.0], "dog")
    assert learner.rounds == 0
    open_to_all = aw.MulticlassStandardize()
    assert open_to_all.predict_one([1.0]) is None
    assert open_to_all.learn_one([1.0], "dog") is None
    assert open_to_all.learn_one([2.0], "cat") == "dog"


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("name", ["softmax", "perceptron"])
def test_the_theorems_are_those_of_the_learner_inside(name, passes):
    X, y = data()
    learner, inside = aw.MulticlassStandardize(INSIDE[name]), INSIDE[name].copy()
    for _ in range(passes):
        learner.learn_many(X, y)
    Z = np.array([list(row.values()) for row in naive.standardized(as_dicts(X) * passes)])
    inside.learn_many(Z, y * passes)
    made, expected = learner.certificate(X, y), inside.certificate(Z, y * passes)
    assert made.verdict is expected.verdict is Verdict.HOLDS
    assert made.bound == pytest.approx(expected.bound, rel=1e-3)
    assert made.observed == pytest.approx(expected.observed, rel=1e-9)
    assert made.subject == f"MulticlassStandardize of {expected.subject}"
    assert learner.certificate(X[::-1], y[::-1]).verdict is Verdict.NOT_APPLICABLE


def test_learners_without_a_theorem_say_why():
    X, y = data()
    for name, why in (("neighbours", "what is known of nearest"), ("one against the rest", "cannot be checked behind")):
        with pytest.raises(InputError, match=why):
            aw.MulticlassStandardize(INSIDE[name]).certificate(X, y)


@pytest.mark.parametrize(
    "learner",
    [3, "nonsense", aw.Perceptron(), aw.AdaHedge, aw.MulticlassCommittee(), aw.MulticlassStandardize(), object()],
)
def test_what_cannot_be_inside_is_refused(learner):
    with pytest.raises(InputError, match="learner must be "):
        aw.MulticlassStandardize(learner)


def test_two_labels_name_the_one_for_many():
    with pytest.raises(InputError, match="for many labels there is MulticlassStandardize"):
        aw.Standardize(aw.SoftmaxAdaGrad())


@every_learner
def test_a_used_learner_goes_on_from_its_file(name, tmp_path):
    X, y = data(90)
    whole, learner = aw.MulticlassStandardize(INSIDE[name]), aw.MulticlassStandardize(INSIDE[name])
    whole.learn_many(X, y)
    learner.learn_many(X[:40], y[:40])
    for twin in (learner.copy(), pickle.loads(pickle.dumps(learner)), learner.clone(include_attributes=True)):
        assert twin == learner
    aw.save(learner, tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again == learner
    again.learn_many(X[40:], y[40:])
    assert again == whole


def test_a_broken_state_is_refused_and_changes_nothing():
    X, y = data(20)
    learner = aw.MulticlassStandardize()
    learner.learn_many(X, y)
    before = learner.state()
    moments, inside = before["moments"], before["learner"]
    broken = {
        "other rounds": {**before, "rounds": 21},
        "other mistakes": {**before, "mistakes": before["mistakes"] + 1},
        "moments of other rounds": {**before, "moments": {**moments, "rounds": 3}},
        "spreads below 0": {**before, "moments": {**moments, "spreads": -moments["spreads"]}},
        "seen too often": {**before, "moments": {**moments, "seen": moments["seen"] + 100}},
        "another learner": {**before, "learner": {**inside, "weights": inside["weights"][:, 1:].copy()}},
        "no learner": {**before, "learner": None},
        "other classes": {**before, "classes": before["classes"][::-1]},
        "no classes": {**before, "classes": None},
    }
    for name, state in broken.items():
        with pytest.raises(InputError):
            learner.restore(state)
        assert same_value(learner.state(), before), name


def test_a_round_that_is_refused_changes_nothing_and_those_before_stay():
    learner, singly = aw.MulticlassStandardize(), aw.MulticlassStandardize()
    learner.learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    before = learner.state()
    for bad in ({"a": float("nan")}, {"a": "3"}, [1.0, 2.0]):
        with pytest.raises(InputError):
            learner.learn_one(bad, "z")
    with pytest.raises(InputError):
        learner.learn_many([{"a": 1.0}, {"a": float("inf")}], ["z", "x"])
    assert same_value(learner.state(), before)
    assert learner.classes == ("x", "y")
    # The spread of the third row is beyond all numbers.
    X, y = [[1.0], [2.0], [1e300], [3.0]], ["x", "y", "z", "w"]
    learner = aw.MulticlassStandardize()
    with pytest.raises(DivergenceError):
        learner.learn_many(X, y)
    for x, label in zip(X[:2], y, strict=False):
        singly.learn_one(x, label)
    assert learner == singly
    assert learner.classes == ("x", "y")
    with pytest.raises(DivergenceError):
        singly.learn_one(X[2], "z")
    assert learner == singly


class Refusing(aw.MulticlassPerceptron):
    """Refuses its third round."""

    def _learn(self, rows, codes, new):
        if self.rounds + rows.count > 2:
            raise InputError("x must be another; received this one")
        return super()._learn(rows, codes, new)


def test_what_the_learner_inside_refuses_is_in_no_mean():
    learner = aw.MulticlassStandardize(Refusing)
    learner.learn_many([{"a": 1.0}, {"b": 3.0}], ["x", "y"])
    before = learner.state()
    with pytest.raises(InputError, match="x must be another"):
        learner.learn_one({"a": 5.0, "c": 1.0}, "z")
    with pytest.raises(InputError, match="x must be another"):
        learner.learn_many([{"a": 5.0}, {"c": 7.0}], ["x", "z"])
    assert same_value(learner.state(), before)
    assert learner.classes == ("x", "y")
