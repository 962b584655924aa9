import numpy as np
import pytest

import afterwit as aw
from afterwit.pictures import confidence
from afterwit.pictures.confidence import MOST_PLACES, ConfidenceBand
from drawing import drawn, texts
from naive_batch import interval


def played(count, noise=1.0, **how):
    generator = np.random.default_rng(count)
    X = generator.normal(size=(count, 3))
    return aw.play(aw.Perceptron(), X, np.where(X[:, 0] + noise * generator.normal(size=count) > 0, 1, -1), **how)


@pytest.mark.parametrize("count", [1, 2, 7, 150])
def test_the_band_at_every_moment(count):
    record = played(count, predictions=True)
    (picture,) = confidence.pictures(record)
    assert picture.rounds.tolist()[:7] == list(range(1, count + 1))[:7]
    assert picture.rounds[-1] == count
    for rounds, error, lower, upper in zip(picture.rounds, picture.error, picture.lower, picture.upper, strict=True):
        low, high = interval(round(error * rounds), int(rounds), 0.05)
        assert (lower, upper) == pytest.approx((low, high), abs=1e-9)
    assert picture.error[-1] == record.error
    drawn(picture)


def test_another_delta():
    record = played(40)
    wide, narrow = ConfidenceBand(record, delta=0.01), ConfidenceBand(record, delta=0.5)
    assert (wide.lower <= narrow.lower).all()
    assert (wide.upper >= narrow.upper).all()
    assert wide.upper[-1] > narrow.upper[-1]
    assert "With probability 0.99 " in wide.caption
    with pytest.raises(aw.errors.InputError, match="delta must be"):
        ConfidenceBand(record, delta=0)


def test_the_table_and_the_labels():
    record = played(40)
    picture = ConfidenceBand(record)
    assert [row[0] for row in picture.table().rows] == ["1", "2", "4", "8", "16", "32", "40"]
    low, high = interval(record.mistakes, 40, 0.05)
    assert picture.table().rows[-1] == ("40", f"{low:.2%}", f"{record.error:.2%}", f"{high:.2%}")
    said = {f"so far {record.error:.2%}", f"up to {high:.2%}", f"from {low:.2%}"}
    assert set(texts(drawn(picture))) == said


def test_a_long_run_is_drawn_at_few_places():
    (picture,) = confidence.pictures(played(20_000))
    assert 50 < len(picture.rounds) <= MOST_PLACES
    assert (picture.rounds[0], picture.rounds[-1]) == (1, 20_000)
    drawn(picture)


def test_there_is_no_band_where_examples_are_not_new_or_labels_come_late():
    assert confidence.pictures(played(10))
    assert not confidence.pictures(played(10, passes=2))
    assert not confidence.pictures(played(10, delay=2))
    assert not confidence.pictures(aw.play(aw.Perceptron(), []))
    X = np.ones((4, 1))
    assert not confidence.pictures(aw.play(aw.OnlineRidge(), X, [1.0, 2.0, 3.0, 4.0]))
