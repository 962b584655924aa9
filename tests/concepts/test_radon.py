"""Radon's theorem: two disjoint sets whose hulls meet."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from afterwit.concepts import radon_partition
from afterwit.errors import InputError

shapes = st.integers(1, 6).flatmap(lambda d: st.tuples(st.integers(d + 2, d + 5), st.just(d)))
points = shapes.flatmap(
    lambda shape: arrays(float, shape, elements=st.one_of(st.integers(-3, 3), st.floats(-1e6, 1e6)))
)


def check(X, found):
    """Everything the theorem says, from the definition."""
    assert sorted(found.first + found.second) == list(range(len(X)))
    assert found.first
    assert found.second
    for at, weights in ((found.first, found.first_weights), (found.second, found.second_weights)):
        assert len(at) == len(weights)
        assert (weights >= 0).all()
        assert math.fsum(weights) == pytest.approx(1, abs=1e-12)
        for k in range(X.shape[1]):
            combined = math.fsum(w * X[i, k] for i, w in zip(at, weights, strict=True))
            assert combined == pytest.approx(found.point[k], abs=1e-8 * max(1, np.abs(X).max()))


@given(points)
def test_any_points_are_parted(X):
    check(X, radon_partition(X))


@settings(max_examples=30)
@given(points)
def test_no_hyperplane_parts_the_two_sets(X):
    """The use of the theorem: y_i (w . x_i + b) >= 1 has no solution for these labels."""
    found = radon_partition(X)
    size = max(1.0, np.abs(X).max())
    y = np.where(np.isin(np.arange(len(X)), found.first), 1.0, -1.0)
    rows = -y[:, None] * np.hstack([X / size, np.ones((len(X), 1))])
    # A margin that rounding alone could give is none: weights are held within what would make it visible.
    solution = linprog(np.zeros(X.shape[1] + 1), rows, -np.ones(len(X)), bounds=(-1e6, 1e6), method="highs")
    assert not solution.success


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((4, 2)),
        [[0.0], [0.0], [1.0]],
        [[1, 2], [1, 2], [3, 4], [5, 6]],
        [[i, i, i] for i in range(5)],
        np.vstack([np.zeros(8), np.eye(8), np.ones(8) / 8]),
        np.array([[1e308, 0], [-1e308, 0], [0, 1e308], [0, -1e308]]),
        np.array([[1e-300], [2e-300], [3e-300]]),
        np.random.default_rng(0).standard_normal((202, 200)),
    ],
)
def test_points_that_are_special(X):
    X = np.asarray(X, dtype=float)
    found = radon_partition(X)
    scale = np.abs(X).max() or 1.0
    check(
        X / scale,
        type(found)(found.first, found.second, found.first_weights, found.second_weights, found.point / scale, 0),
    )
    assert found.gap <= 1e-9 * scale


def test_coordinates_of_other_sizes_do_not_drown():
    X = np.array([[1e15, 1], [2e15, 3], [3e15, 0], [5e15, 2]])
    found = radon_partition(X)
    small = found.first_weights @ X[list(found.first), 1], found.second_weights @ X[list(found.second), 1]
    assert small[0] == pytest.approx(small[1], abs=1e-12)
    assert found.point == pytest.approx([33e15 / 13, 18 / 13], rel=1e-12)


def test_a_point_far_away_that_is_not_needed():
    found = radon_partition([[1e-300], [2e-300], [3e-300], [1e308]])
    assert (found.first, found.second) == ((0, 2), (1, 3))
    assert found.second_weights.tolist() == [1, 0]
    assert found.point == pytest.approx([2e-300], rel=1e-12, abs=0)


def test_weights_are_shown_without_a_minus():
    found = radon_partition([[1, 1]] * 4)
    assert not np.signbit(np.concatenate([found.first_weights, found.second_weights])).any()


def test_a_point_inside_a_triangle():
    found = radon_partition([[1, 1], [0, 0], [4, 0], [0, 4]])
    assert (found.first, found.second) == ((0,), (1, 2, 3))
    assert found.point == pytest.approx([1, 1])
    assert found.second_weights == pytest.approx([0.5, 0.25, 0.25])


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 0], [1, 0], [0, 1]], r"points must be at least 4 in R\^2; received 3 points"),
        ([[0.0], [1.0]], r"points must be at least 3 in R\^1; received 2 points"),
        ([1, 2, 3], "points must be a 2-D array of numbers"),
        ([[1], [2, 3]], "points must be a 2-D array of numbers"),
        ([["a"], ["b"], ["c"]], "points must be a 2-D array of numbers"),
        (np.zeros((3, 0)), "points must be a 2-D array of numbers"),
        ([[0.0], [math.nan], [1.0]], r"points\[1, 0\] must be a finite number; received nan"),
        (None, "points must be a 2-D array of numbers"),
    ],
)
def test_other_things_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        radon_partition(points)
