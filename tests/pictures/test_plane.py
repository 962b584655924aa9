import numpy as np
import pytest

import afterwit as aw
from afterwit.pictures import plane
from afterwit.pictures._style import HINDSIGHT, INK
from drawing import drawn

W = np.array([1.0, -2.0])


def points(count=80, width=2, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width))


def picture_of(record):
    (picture,) = plane.pictures(record)
    return picture


def played(learner=None, count=80, offset=0.0, gap=0.0, **how):
    X = points(count)
    X = X[np.abs(X @ W + offset) > gap]
    return aw.play(learner or aw.Perceptron(), X, np.where(X @ W + offset > 0, 1, -1), **how)


def lines(ax, colour):
    """The contours of a colour: their places, and their width."""
    from matplotlib.colors import to_hex

    return [
        (path.vertices, each.get_linewidth()[0])
        for each in ax.collections
        if to_hex(each.get_edgecolor()[0]) == colour
        for path in each.get_paths()
    ]


def test_the_boundary_is_where_the_score_is_0():
    record = played()
    learner = record._played.learner
    ax = drawn(picture_of(record))
    ((boundary, _), *_) = lines(ax, INK)
    assert len(boundary) > 2
    np.testing.assert_allclose(learner.score_many(boundary), 0, atol=1e-9 * np.abs(learner.weights).max())


@pytest.mark.parametrize("intercept", [False, True])
def test_the_margins_of_the_learner_and_of_the_best_separator(intercept):
    offset = 0.4 if intercept else 0.0
    record = played(aw.Perceptron(intercept=intercept), offset=offset, gap=0.3, passes=1)
    learner = record._played.learner
    X, y = record._played.stream.X, record._played.stream.y
    while (learner.predict_many(X) != y).any():
        learner.learn_many(X, y)
    picture = picture_of(record)
    ax = drawn(picture)
    distances = learner.score_many(X) / np.linalg.norm(
        learner.score_many(np.eye(2)) - learner.score_many(np.zeros((2, 2)))
    )
    (_, *edges) = lines(ax, INK)
    assert len(edges) == 2
    for edge, width in edges:
        assert width < 1
        places = learner.score_many(edge) * (distances / learner.score_many(X)).mean()
        np.testing.assert_allclose(np.abs(places), np.abs(distances).min(), rtol=1e-6)
    augmented = np.column_stack([X, np.ones(len(X))]) if intercept else X
    best = aw.hindsight.max_margin(augmented, y)
    assert picture.best.margin == pytest.approx(best.margin)
    weights = np.append(best.vector, 0.0)[:3]
    (middle, *sides) = [edge @ weights[:2] + weights[2] * intercept for edge, _ in lines(ax, HINDSIGHT)]
    np.testing.assert_allclose(middle, 0, atol=1e-9)
    assert sorted(side.mean() for side in sides) == pytest.approx([-best.margin, best.margin])
    assert "It separates them" in picture.caption


def test_there_is_no_separator_where_none_separates():
    X = points()
    y = np.where(X @ W > 0, 1, -1)
    y[:3] = -y[:3]
    picture = picture_of(aw.play(aw.Perceptron(), X, y))
    assert picture.best is None
    assert picture.nearest == 0.0
    assert lines(drawn(picture), HINDSIGHT) == []


def test_the_boundary_of_a_kernel_is_curved():
    X = points(200)
    y = np.where((X**2).sum(axis=1) > 1.2, 1, -1)
    record = aw.play(aw.KernelPerceptron(aw.kernels.gaussian(1.0)), X, y)
    ((boundary, _), *_) = lines(drawn(picture_of(record)), INK)
    lengths = np.linalg.norm(boundary, axis=1)
    assert lengths.min() > 0.4
    assert lengths.max() < 2
    assert np.abs(np.diff(np.arctan2(boundary[:, 1], boundary[:, 0]))).sum() > 6


def test_of_many_classes_each_boundary():
    X = points(300)
    y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(str)
    record = aw.play(aw.OneVsRest(aw.Perceptron(intercept=True)), X, y)
    learner = record._played.learner
    ax = drawn(picture_of(record))
    for edge, _ in lines(ax, INK):
        scores = np.sort(learner.score_many(edge), axis=1)
        assert np.median(scores[:, -1] - scores[:, -2]) < 0.1 * np.abs(scores).max()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2", "boundary"]


def test_examples_by_name_and_sparse_ones(tmp_path):
    X = points(30)
    y = np.where(X @ W > 0, 1, -1)
    named = [({"width": a, "height": b}, label) for (a, b), label in zip(X.tolist(), y.tolist(), strict=True)]
    text = "\n".join(f"{label} 1:{a!r} 2:{b!r}" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True))
    (tmp_path / "data.libsvm").write_text(text + "\n")
    records = [
        aw.play(aw.Perceptron(), named),
        aw.play(aw.Perceptron(), tmp_path / "data.libsvm"),
        aw.play(aw.Perceptron(), X, y),
    ]
    pictures = [picture_of(record) for record in records]
    assert [picture.examples.names for picture in pictures] == [
        ["width", "height"],
        ["feature 1", "feature 2"],
        ["feature 0", "feature 1"],
    ]
    boundaries = [lines(drawn(picture), INK)[0][0] for picture in pictures]
    for boundary in boundaries[1:]:
        np.testing.assert_allclose(boundary, boundaries[0], rtol=1e-9)
    assert pictures[0].table().rows == pictures[1].table().rows == pictures[2].table().rows


def test_the_table_has_the_means_of_the_classes():
    X = points(30)
    y = np.where(X @ W > 0, "b", "a")
    rows = picture_of(aw.play(aw.Perceptron(labels=("a", "b")), X, y)).table().rows
    for (label, count, *means), name in zip(rows, "ab", strict=True):
        here = X[y == name]
        assert (label, count) == (name, str(len(here)))
        assert [float(mean) for mean in means] == pytest.approx(here.mean(axis=0), rel=1e-3)


def test_of_many_examples_a_sample():
    record = played(count=5_000)
    picture = picture_of(record)
    assert len(picture.shown) == plane.MOST_POINTS == len(set(picture.shown.tolist()))
    assert f"{plane.MOST_POINTS} examples of 5,000" in picture.caption
    drawn(picture)


@pytest.mark.parametrize(
    "values", [[[0.0, 0.0]], [[1.0, 2.0]], [[1e100, -1e100], [0, 1e100]], [[1e-300, 0], [0, 1e-300]]]
)
def test_hostile_examples(values):
    record = aw.play(aw.PassiveAggressive(), np.array(values), [1, -1][: len(values)])
    drawn(picture_of(record))


def test_winnow_takes_no_places_outside_its_domain():
    X = np.abs(points(30)).clip(0, 1)
    drawn(picture_of(aw.play(aw.Winnow(), X, np.where(X[:, 0] > 0.5, 1, -1))))


def test_a_regressor_of_one_feature():
    X = points(60, width=1)
    targets = 3 * X[:, 0] + 1
    record = aw.play(aw.OnlineRidge(), X, targets)
    picture = picture_of(record)
    assert picture.kind == "fit"
    (line,) = drawn(picture).lines
    expected = record._played.learner.predict_many(line.get_xdata()[:, np.newaxis])
    assert line.get_ydata().tolist() == expected.tolist()
    assert line.get_xdata()[0] < X.min() < X.max() < line.get_xdata()[-1]
    at, predicted = picture.table().rows[0]
    assert (float(at), float(predicted)) == pytest.approx((line.get_xdata()[0], line.get_ydata()[0]), rel=1e-3)


def test_other_numbers_of_features_have_no_picture():
    X, y = points(10, width=3), [1, -1] * 5
    assert plane.pictures(aw.play(aw.Perceptron(), X, y)) == []
    assert plane.pictures(aw.play(aw.Perceptron(), X[:, :1], y)) == []
    assert plane.pictures(aw.play(aw.OnlineRidge(), X, X[:, 0])) == []
    assert plane.pictures(aw.play(aw.Perceptron(), [({"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0}, 1)])) == []
    assert plane.pictures(aw.play(aw.Perceptron(), [])) == []
    once = (pair for pair in [({"a": 1.0, "b": 2.0}, 1)])
    assert plane.pictures(aw.play(aw.Perceptron(), once)) == []
    words = aw.KernelPerceptron(aw.kernels.string(2))
    assert plane.pictures(aw.play(words, [("spam", 1), ("eggs", -1)])) == []
