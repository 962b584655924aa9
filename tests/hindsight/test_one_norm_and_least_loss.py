"""The comparators of Winnow and of gradient descent, against brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import naive
from afterwit.errors import InputError
from afterwit.hindsight import least_loss, max_margin_one_norm
from problems import lists_of


def grid(nonnegative, steps=60):
    """Points of the plane whose sizes add up to 1."""
    for k in range(steps + 1):
        for a, b in itertools.product((1,) if nonnegative else (1, -1), repeat=2):
            yield (a * k / steps, b * (steps - k) / steps)


def margin(u, X, y):
    return min(label * naive.dot(u, x) for x, label in zip(X, y, strict=True))


@settings(max_examples=40)
@given(lists_of(st.integers(-4, 4), width=st.just(2), rows=9), st.booleans())
def test_the_widest_by_the_one_norm_in_the_plane(problem, nonnegative):
    X, y = problem
    found = max_margin_one_norm(X, y, nonnegative)
    best = max(margin(u, X, y) for u in grid(nonnegative))
    if found is None:
        assert best <= 1e-9
        return
    assert np.abs(found.vector).sum() == pytest.approx(1)
    assert not nonnegative or (found.vector >= 0).all()
    reached = float(found.margins.min())
    assert reached == pytest.approx(margin(found.vector.tolist(), X, y), abs=1e-12)
    assert best - 1e-9 <= reached <= best + 8 / 60
    assert found.mistakes == 0


def test_the_widest_by_the_one_norm_over_many_rows_and_sparse():
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 8))
    y = np.where(X[:, 0] - 0.5 * X[:, 3] > 0, 1, -1)
    keep = np.abs(X[:, 0] - 0.5 * X[:, 3]) > 0.15
    X, y = X[keep], y[keep]
    found = max_margin_one_norm(X, y)
    assert found.margins.min() >= 0.15 / 1.5
    again = max_margin_one_norm(sparse.csr_array(X), y)
    assert again.margins.min() == pytest.approx(found.margins.min(), rel=1e-7)
    for _ in range(300):
        u = found.vector + 0.05 * random.standard_normal(8)
        assert (y * (X @ u)).min() / np.abs(u).sum() <= found.margins.min() * (1 + 1e-7)
    assert max_margin_one_norm(X, y, nonnegative=True) is None or (y * (X @ np.eye(8)[0])).min() > 0


def test_by_name_and_of_nothing():
    found = max_margin_one_norm([{"a": 1.0}, {"a": -2.0, "b": 0.5}], ["yes", "no"], labels=("no", "yes"))
    assert found.weights["a"] > 0
    assert max_margin_one_norm(np.empty((0, 3)), []) is None
    assert max_margin_one_norm([[0.0, 0.0]], [1]) is None


def total(loss, u, X, y):
    return sum(naive.loss_of(loss, naive.dot(u, x), label) for x, label in zip(X, y, strict=True))


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "perceptron"])
@settings(max_examples=25)
@given(
    problem=lists_of(st.integers(-3, 3), width=st.just(2), rows=8),
    ridge=st.sampled_from([0.1, 1.0]),
    ball=st.sampled_from([None, 0.3]),
)
def test_the_least_loss_in_the_plane(loss, problem, ridge, ball):
    X, y = problem

    def objective(u):
        return total(loss, u, X, y) + ridge * naive.dot(u, u) / 2

    found = least_loss(X, y, loss=loss, ridge=ridge, ball=ball)
    u = found.vector.tolist()
    limit = ball or 4.0
    assert ball is None or naive.norm(u) <= ball * (1 + 1e-9)
    brute = min(
        objective([limit * a / 10, limit * b / 10])
        for a in range(-10, 11)
        for b in range(-10, 11)
        if ball is None or a * a + b * b <= 100
    )
    assert objective(u) <= brute + 1e-3 * (1 + abs(brute))
    for step in ([1e-2, 0], [0, 1e-2], [-1e-2, 0], [0, -1e-2]):
        near = [a + b for a, b in zip(u, step, strict=True)]
        if ball is None or naive.norm(near) <= ball:
            assert objective(u) <= objective(near) + 1e-4 * (1 + abs(objective(u)))


def test_what_is_not_allowed():
    for options, word in (({"loss": "log"}, "loss"), ({"ridge": -1}, "ridge"), ({"ball": 0}, "ball")):
        with pytest.raises(InputError, match=f"^{word} must be"):
            least_loss([[1.0]], [1], **options)
