import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.concepts import FiniteClass, intervals, monotone_disjunctions
from afterwit.pictures import replays
from afterwit.pictures.replays import MOST_MOMENTS
from drawing import drawn, texts
from naive_concepts import halving, standard_optimal


def picture_of(record):
    (picture,) = replays.pictures(record)
    return picture


def stream(made, count, seed=0, target=None):
    """Positions of points, and what one hypothesis says of them, or nobody."""
    generator = np.random.default_rng(seed)
    at = generator.integers(0, len(made.points), count)
    labels = generator.integers(0, 2, count) if target is None else made.matrix[target][at].astype(int)
    return at.tolist(), labels.tolist()


def expected_moments(matrix, at, labels, naive):
    """Hypotheses left and mistakes after every round, from the beginning each time."""
    found = [(0, len(matrix), 0)]
    for t in range(1, len(at) + 1):
        predictions, left, _ = naive(matrix, at[:t], labels[:t])
        wrong = sum(said != label for said, label in zip(predictions, labels[:t], strict=True))
        found.append((t, len(left), wrong))
    return found


LEARNERS = {
    "mistakes": (aw.Halving, halving),
    "examples": (
        lambda made: aw.Halving(made, drop="examples"),
        lambda matrix, at, labels: halving(matrix, at, labels, after="examples"),
    ),
    "generalized": (
        lambda made: aw.GeneralizedHalving(made, sizes=[6] * len(made)),
        lambda matrix, at, labels: halving(matrix, at, labels, after="examples", sizes=[6] * len(matrix)),
    ),
    "optimal": (aw.StandardOptimalAlgorithm, standard_optimal),
}


@pytest.mark.parametrize("target", [4, None])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_hypotheses_left_after_every_round(name, target):
    make, naive = LEARNERS[name]
    made = intervals(6)
    at, labels = stream(made, 12, target=target)
    record = aw.play(make(made), [made.points[j] for j in at], [1 if label else -1 for label in labels])
    picture = picture_of(record)
    expected = expected_moments(made.matrix.astype(int).tolist(), at, labels, naive)
    assert picture.moments == expected
    ax = drawn(picture)
    curve, *others = ax.lines
    heights = [math.log2(left) if left else -1 for _, left, _ in expected]
    assert list(curve.get_ydata()) == heights
    marks = others[-1]
    wrong = [t for t in range(1, 13) if expected[t][2] > expected[t - 1][2] and expected[t - 1][1]]
    assert list(marks.get_xdata()) == wrong
    # Halving alone promises something about them.
    assert len(others) == (2 if name in ("mistakes", "examples") else 1)


def test_the_promise_of_halving():
    made = monotone_disjunctions(6)
    at, labels = stream(made, 100, target=20)
    record = aw.play(aw.Halving(made), [made.points[j] for j in at], [1 if label else -1 for label in labels])
    picture = picture_of(record)
    promised = drawn(picture).lines[1].get_ydata()
    assert list(promised) == [6 - mistakes for _, _, mistakes in picture.moments]
    assert all(left <= 2 ** (6 - mistakes) for _, left, mistakes in picture.moments)
    assert "halving bound: at most 6 mistakes (holds" in picture.caption
    assert picture.table().heads[-1] == "|H| / 2^mistakes"
    assert picture.table().rows[0] == ("0", "64", "0", "64")
    left = [int(row[1]) for row in picture.table().rows]
    assert left == sorted(left, reverse=True)


def test_a_long_run_has_few_moments():
    made = intervals(6)
    at, labels = stream(made, 2_000, target=4)
    record = aw.play(aw.Halving(made), at, [1 if label else -1 for label in labels])
    picture = picture_of(record)
    assert len(picture.moments) <= MOST_MOMENTS + 2
    assert picture.moments[-1] == (2_000, record._played.learner.remaining, record.mistakes)
    drawn(picture)


@pytest.mark.parametrize("matrix", [[[1]], [[0], [1]], [[0, 1], [0, 1]]])
@pytest.mark.parametrize("labels", [[1], [-1, -1], [1, -1, 1]])
def test_the_smallest_classes(matrix, labels):
    drawn(picture_of(aw.play(aw.Halving(FiniteClass(matrix)), [0] * len(labels), labels)))


def test_labels_asked_for():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    record = aw.play(aw.SelectivePerceptron(b=0.5, seed=2), X, y)
    picture = picture_of(record)
    for rounds, asked, mistakes in picture.moments:
        learner = aw.SelectivePerceptron(b=0.5, seed=2)
        learner.learn_many(X[:rounds], y[:rounds])
        assert (asked, mistakes) == (learner.asked, learner.mistakes)
    assert picture.moments[-1] == (300, record.asked, record.mistakes)
    assert texts(drawn(picture)) == [f"asked {record.asked / 300:.1%}", f"error {record.error:.1%}"]
    assert picture.table().rows[0] == ("1", "1", "100.00%", f"{picture.moments[0][2]:.2%}")


def test_rounds_that_cannot_be_played_again_have_no_picture():
    made = intervals(6)
    used = aw.Halving(made)
    used.learn_one(0, 1)
    for record in (
        aw.play(used, [0, 1], [1, 1]),
        aw.play(aw.Halving(made), [0, 1], [1, 1], passes=2),
        aw.play(aw.Halving(made), [0, 1], [1, 1], delay=1),
        aw.play(aw.Halving(made), iter([(0, 1)])),
        aw.play(aw.Halving(made), []),
        aw.play(aw.Perceptron(), np.ones((2, 1)), [1, 1]),
    ):
        assert replays.pictures(record) == []
