import pickle

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.heaviest import heaviest_features
from afterwit.pictures import features
from afterwit.pictures.features import MOST, HeaviestFeatures
from drawing import drawn


def played(learner, names="abc", labels=(-1, 1)):
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(60, len(names)))
    X = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    return learner, aw.play(learner, [(x, labels[int(x[names[0]] > 0.3 * x[names[1]])]) for x in X])


def test_the_weights_heaviest_first():
    learner, record = played(aw.Perceptron())
    (picture,) = features.pictures(record)
    expected = sorted(learner.weights.items(), key=lambda pair: -abs(pair[1]))
    ax = drawn(picture)
    assert [label.get_text() for label in ax.get_yticklabels()] == [name for name, _ in expected]
    assert [patch.get_width() for patch in ax.patches] == [weight for _, weight in expected]
    colours = {patch.get_facecolor() for patch in ax.patches}
    assert len(colours) == len({weight > 0 for _, weight in expected})
    assert picture.table().rows[0] == (expected[0][0], f"{expected[0][1]:,.4g}")


def test_positions_are_called_features():
    X = np.random.default_rng(0).normal(size=(30, 3))
    (picture,) = features.pictures(aw.play(aw.Perceptron(), X, np.where(X[:, 0] > 0, 1, -1)))
    assert {name for name, _ in picture.shown} == {"feature 0", "feature 1", "feature 2"}


def test_of_many_classes_the_class_is_named():
    _, record = played(aw.OneVsRest(aw.Perceptron()), labels=("no", "yes"))
    names = {name for name, _ in features.pictures(record)[0].shown}
    assert names == {f"{label}: {feature}" for label in ("no", "yes") for feature in "abc"}


def test_of_a_committee_the_best_members():
    learner, record = played(aw.Committee())
    (pairs,) = heaviest_features(learner).values()
    assert features.pictures(record)[0].shown == [(str(name), weight) for name, weight in pairs]


@pytest.mark.parametrize("weight", [1e-300, 1e308, -1e308])
def test_hostile_weights_and_names(weight):
    pairs = [(f"a very long name\nof a feature {i} " * 5, weight) for i in range(100)]
    picture = HeaviestFeatures("Learner", {"": pairs})
    assert len(picture.shown) == MOST
    assert "the 20 heaviest of 100 weights" in picture.caption
    drawn(picture)


def test_ties_keep_their_order():
    picture = HeaviestFeatures("Learner", {"": [("a", 1.0), ("b", -1.0)], "class c": [("d", 1.0)]})
    assert [name for name, _ in picture.shown] == ["a", "b", "c: d"]
    assert "3 weights that are not 0" in picture.caption
    drawn(picture)


def test_there_is_no_picture_without_weights():
    X = np.ones((3, 1))
    assert not features.pictures(aw.play(aw.Perceptron(), X, [1, 1, 1]))
    assert not features.pictures(aw.play(aw.KernelPerceptron(), X, [1, -1, 1]))
    _, record = played(aw.Perceptron())
    assert list(pickle.loads(pickle.dumps(record)).pictures()) == ["error", "confidence"]
