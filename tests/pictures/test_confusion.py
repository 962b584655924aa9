from collections import Counter

import numpy as np
import pytest

import afterwit as aw
from afterwit.pictures import confusion
from afterwit.pictures.confusion import MOST_CLASSES
from drawing import drawn, texts


def played(classes, count=60, learner=None, **how):
    generator = np.random.default_rng(classes)
    X = generator.normal(size=(count, 3))
    y = np.array([f"class {k % classes:02d}" for k in range(count)])
    record = aw.play(learner or aw.MulticlassPerceptron(), X, y, predictions=True, **how)
    return record, y


@pytest.mark.parametrize("classes", [1, 2, 5, MOST_CLASSES - 1])
def test_every_pair_is_counted(classes):
    record, y = played(classes)
    (picture,) = confusion.pictures(record)
    expected = Counter(zip(y.tolist(), map(str, record.predictions.tolist()), strict=True))
    for label, *counts in picture.table().rows:
        for said, count in zip(picture.classes, counts, strict=True):
            assert int(count) == expected[label, said]
    assert f"{record.mistakes} of 60 predictions are off the diagonal" in picture.caption
    drawn(picture)


def test_the_numbers_are_in_the_cells():
    record, _ = played(2)
    (picture,) = confusion.pictures(record)
    assert texts(drawn(picture)) == [str(count) for count in picture.counts.flat]


def test_very_many_classes_have_no_picture():
    assert not confusion.pictures(played(MOST_CLASSES + 1)[0])


def test_examples_without_labels_are_left_out():
    pairs = [({"a": 1.0}, 1), ({"a": 2.0}, None), ({"a": -1.0}, -1)]
    (picture,) = confusion.pictures(aw.play(aw.Perceptron(), pairs, predictions=True))
    assert picture.counts.sum() == 2


def test_where_predictions_were_not_kept_there_is_no_picture():
    X, y = np.ones((3, 1)), [1, -1, 1]
    assert not confusion.pictures(aw.play(aw.Perceptron(), X, y))
    once = (pair for pair in [({"a": 1.0}, 1)])
    assert not confusion.pictures(aw.play(aw.Perceptron(), once, predictions=True))
    assert not confusion.pictures(aw.play(aw.OnlineRidge(), X, [1.0, 2.0, 3.0], predictions=True))
    assert not confusion.pictures(aw.play(aw.Perceptron(), [], predictions=True))


def test_of_several_passes_the_last():
    record, y = played(3, passes=2)
    (picture,) = confusion.pictures(record)
    assert int(np.trace(picture.counts)) == int((record.predictions == y).sum())
