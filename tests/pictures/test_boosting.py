import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.boosting import Boosting, BoostingRecord
from drawing import drawn, texts


def fitted(rounds, gamma=0.05, count=60):
    generator = np.random.default_rng(2)
    X = generator.normal(size=(count, 2))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] + 0.6 * generator.normal(size=count) > 0, 1, -1)
    booster = Boosting(gamma=gamma, rounds=rounds)
    return booster, booster.fit(X, y), X, y


def test_the_curve_has_the_training_mistakes_of_every_vote():
    booster, record, X, y = fitted(9)
    said = np.array([hypothesis.predict_many(X) for hypothesis in booster.hypotheses])
    votes = np.cumsum(said, axis=0)
    expected = [int(np.count_nonzero(np.where(each >= 0, 1, -1) != y)) for each in votes]
    assert list(record.curve) == expected
    assert 0 in votes, "without a tie it would not matter what a tie means"
    assert record.curve[-1] == record.mistakes
    assert record.rows == 60


def test_mistakes_beside_the_theorem():
    _, record, _, _ = fitted(9)
    picture = record.pictures()["training"]
    happened, bound = drawn(picture).lines
    assert happened.get_ydata().tolist() == list(record.curve)
    expected = [60 * math.exp(-2 * t * 0.05**2) for t in range(1, 10)]
    assert bound.get_ydata() == pytest.approx(expected)
    assert [row[0] for row in picture.table().rows] == ["1", "2", "4", "8", "9"]
    assert picture.table().rows[-1] == ("9", f"{record.curve[-1]}", f"{expected[-1]:.4g}")


def test_the_errors_beside_what_is_allowed():
    _, record, _, _ = fitted(9)
    picture = record.pictures()["weak"]
    errors, allowed = drawn(picture).lines
    assert errors.get_ydata().tolist() == list(record.errors)
    assert set(allowed.get_ydata()) == {record.allowed}
    assert picture.table().rows[0] == ("1", f"{record.errors[0]:.4g}")


def test_where_no_hypothesis_was_good_enough_there_are_only_the_errors():
    _, record, _, _ = fitted(9, gamma=0.49)
    assert record.rounds == 0
    assert list(record.pictures()) == ["weak"]
    drawn(record.pictures()["weak"])


def test_very_many_rounds_are_an_envelope():
    record = BoostingRecord(50_000, 50_000, 0, (0.3,) * 50_000, 0.4, 10**9, tuple(range(50_000, 0, -1)))
    for picture in record.pictures().values():
        drawn(picture)
    assert "bound 0" in texts(aw.pictures.picture(record, "training").plot().ax_)
