"""Comparators against brute force and against optimality itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import naive
from afterwit import adversaries
from afterwit.errors import InputError
from afterwit.hindsight import max_margin, min_hinge, svm

plane = st.lists(
    st.tuples(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), st.sampled_from([-1, 1])), min_size=1, max_size=9
)


def split(examples):
    return [list(x) for x, _ in examples], [label for _, label in examples]


@settings(max_examples=60)
@given(plane)
def test_max_margin_in_the_plane_is_that_of_brute_force(examples):
    X, y = split(examples)
    found = max_margin(X, y)
    assert (found is not None) == naive.separable_in_the_plane(X, y)
    if found is not None:
        brute = naive.max_margin_in_the_plane(X, y, steps=4000)
        assert found.margin >= brute - 1e-9
        assert found.margin <= brute + 8 * np.pi / 4000
        assert found.norm == pytest.approx(1)
        assert found.mistakes == 0


@pytest.mark.parametrize("seed", range(8))
def test_max_margin_has_a_proof_of_optimality(seed):
    """A convex combination of the signed rows on the margin whose length is the margin: no direction does better."""
    from scipy.optimize import nnls

    stream = adversaries.separable(120, 7, margin=0.05 + 0.02 * seed, seed=seed)
    found = max_margin(stream.X, stream.y)
    assert found.margin >= stream.margin * (1 - 1e-9)
    signed = stream.X * stream.y[:, None]
    near = signed[signed @ found.vector <= found.margin * (1 + 1e-7)]
    weights, distance = nnls(np.vstack([near.T, np.ones(len(near))]), np.append(found.margin * found.vector, 1.0))
    assert distance < 1e-6
    assert np.linalg.norm(near.T @ weights) == pytest.approx(found.margin, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1, 1e9])
def test_max_margin_at_any_scale_and_sparse(scale):
    stream = adversaries.separable(80, 5, margin=0.1, seed=0)
    expected = max_margin(stream.X, stream.y).margin
    assert max_margin(scale * stream.X, stream.y).margin == pytest.approx(scale * expected, rel=1e-6)
    assert max_margin(sparse.csr_array(scale * stream.X), stream.y).margin == pytest.approx(scale * expected, rel=1e-6)


def test_max_margin_of_exponentially_thin_data():
    stream = adversaries.alternating_prefixes(14)
    found = max_margin(stream.X, stream.y)
    assert found is not None
    assert found.mistakes == 0


def test_separable_but_not_by_an_easy_svm():
    """Two long rows hide a short one: a soft margin gives it up, an exact answer must not."""
    X = [[1e4, 1.0], [-1e4, 1.0], [0.0, 1e-3]]
    found = max_margin(X, [1, 1, 1])
    assert found.separates
    assert found.margin == pytest.approx(1e-3, rel=1e-5)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [1.0]], [1, -1]),
        ([[1.0], [-1.0]], [1, 1]),
        ([[0.0, 0.0], [1.0, 1.0]], [1, 1]),
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 1]),
        (np.empty((0, 3)), []),
    ],
)
def test_what_no_hyperplane_separates(X, y):
    assert max_margin(X, y) is None


@settings(max_examples=60)
@given(plane)
def test_min_hinge_is_least(examples):
    X, y = split(examples)
    found = min_hinge(X, y)
    assert found.hinge == pytest.approx(sum(naive.hinge_losses(found.vector.tolist(), X, y)), abs=1e-9)
    random = np.random.default_rng(0)
    for scale in (0.1, 1, 10):
        for u in scale * random.standard_normal((60, 2)):
            assert found.hinge <= sum(naive.hinge_losses(u.tolist(), X, y)) + 1e-7
    if naive.separable_in_the_plane(X, y):
        assert found.hinge < 1e-6


@settings(max_examples=40)
@given(plane, st.sampled_from([0.01, 1.0, 30.0]))
def test_svm_minimises_its_objective(examples, C):
    X, y = split(examples)

    def objective(u):
        return naive.norm(u) ** 2 / 2 + C * sum(naive.hinge_losses(u, X, y))

    found = svm(X, y, C)
    best = objective(found.vector.tolist())
    random = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):
        for step in scale * random.standard_normal((40, 2)):
            assert best <= objective((found.vector + step).tolist()) * (1 + 2e-3) + 1e-6


def test_they_read_what_learners_read():
    rows = [{"a": 1.0}, {"b": -2.0}, {"a": 1.0, "b": 1.0}]
    labels = ("no", "yes")
    y = ["yes", "no", "yes"]
    for found in (
        svm(rows, y, C=100.0, labels=labels),
        min_hinge(rows, y, labels=labels),
        max_margin(rows, y, labels=labels),
    ):
        assert set(found.weights) == {"a", "b"}
        assert found.mistakes == 0
    assert max_margin([[1.0, 0.0], [0.0, 1.0]], [1, 1]).weights.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])


def test_a_comparator_is_judged_with_the_tie_at_zero():
    found = svm(np.zeros((3, 2)), [1, -1, -1], C=1.0)
    assert found.mistakes == 2
    assert found.hinge == 3
    assert not found.separates


@pytest.mark.parametrize("C", [0, -1, float("nan"), float("inf"), "1", True])
def test_a_bad_trade_is_refused(C):
    with pytest.raises(InputError, match="C must be a positive finite number"):
        svm([[1.0]], [1], C)


def test_bad_examples_are_refused():
    for solve in (svm, min_hinge, max_margin):
        with pytest.raises(InputError, match="finite"):
            solve([[float("nan")]], [1])
        with pytest.raises(InputError, match="as long as X"):
            solve([[1.0]], [1, 1])
        with pytest.raises(InputError, match="must be -1 or 1"):
            solve([[1.0]], [0])
