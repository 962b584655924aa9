"""The solver of least loss: what it proves is below every weight vector that is allowed, and close to what it found."""

import numpy as np
import pytest

import naive_hindsight_linear as naive
from afterwit.hindsight import _newton
from afterwit.hindsight._newton import Region, least, lower_bound
from afterwit.hindsight._scaled_rows import ScaledRows

REGIONS = {
    "ridge": Region(ridge=0.7),
    "ball": Region(ball=0.5),
    "ridge and ball": Region(ridge=0.2, ball=2.0),
    "box": Region(box=0.3),
    "nonnegative": Region(ridge=0.1, nonnegative=True),
    "small price": Region(price=0.4),
    "price": Region(price=5.0),
    "nonnegative at a price": Region(price=5.0, nonnegative=True),
}
#: A price is not for the squared loss.
CASES = [
    (loss, name)
    for loss in ("hinge", "logistic", "squared")
    for name, region in REGIONS.items()
    if loss != "squared" or not region.price
]


def problem(seed, count=40, width=4):
    """Rows whose columns have different sizes, and labels that no weights get all right."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((count, width)) * [0.2, 1.0, 3.0, 0.5][:width]
    y = np.where(X @ [3.0, 1.0, -0.5, 0.0][:width] + random.standard_normal(count) >= 0, 1, -1)
    return X, y


def cost(loss, region, vector, X, y):
    length = float(vector @ vector)
    return naive.totals(loss, vector, X, y) + region.ridge * length / 2 + region.price * float(np.abs(vector).sum())


def allowed(region, vector):
    """The nearest weights, or some near them, that the region has."""
    vector = np.maximum(vector, 0.0) if region.nonnegative else vector
    vector = vector if region.box is None else np.clip(vector, -region.box, region.box)
    length = np.linalg.norm(vector)
    return vector if region.ball is None or length <= region.ball else vector * (region.ball / length)


@pytest.mark.parametrize(("loss", "name"), CASES)
def test_no_weights_are_below_what_any_multipliers_prove(loss, name):
    region = REGIONS[name]
    random = np.random.default_rng(1)
    for seed in range(3):
        X, y = problem(seed)
        rows = ScaledRows(X, y)
        best = least(rows, loss, region).vector
        vectors = [allowed(region, best + scale * random.standard_normal(4)) for scale in (0.0, 0.01, 0.1, 1.0, 10.0)]
        lowest = min(cost(loss, region, vector, X, y) for vector in (best, *vectors))
        for size in (0.1, 0.5, 1.0, 3.0):
            amounts = random.uniform(-0.1 * size, size, len(y))
            assert lower_bound(rows, loss, region, amounts) <= lowest * (1 + 1e-9)
            if amounts.min() >= 0 and size <= 1:
                assert lower_bound(rows, loss, region, amounts, rows.pull(amounts)) <= lowest * (1 + 1e-9)


@pytest.mark.parametrize(("loss", "name"), CASES)
def test_the_weights_found_are_allowed_and_proved_to_be_the_best(loss, name):
    region = REGIONS[name]
    for seed in range(3):
        X, y = problem(seed)
        found = least(ScaledRows(X, y), loss, region)
        assert found.vector == pytest.approx(allowed(region, found.vector), abs=1e-6)
        assert found.value == pytest.approx(cost(loss, region, found.vector, X, y), rel=1e-9)
        # With two reasons for short weights, the proof takes the better one of them alone.
        assert found.gap <= (0.05 if region.ridge and region.ball else 1e-6) * found.value
        assert found.lowest <= found.value * (1 + 1e-9)


@pytest.mark.parametrize("name", ["ridge", "ball", "box"])
def test_many_columns_are_solved_by_products_alone_to_the_same_value(name, monkeypatch):
    X, y = problem(5)
    direct = least(ScaledRows(X, y), "logistic", REGIONS[name])
    monkeypatch.setattr("afterwit.hindsight._scaled_rows.MOST_COLUMNS", 1)
    by_products = least(ScaledRows(X, y), "logistic", REGIONS[name])
    assert by_products.value == pytest.approx(direct.value, rel=1e-3 if name == "ball" else 1e-6)
    assert by_products.lowest <= direct.value * (1 + 1e-9)


def test_conjugate_gradients_solve_in_as_many_steps_as_there_are_columns():
    random = np.random.default_rng(2)
    half = random.standard_normal((12, 12))
    matrix = half @ half.T + 0.5 * np.eye(12)
    target = random.standard_normal(12)
    steps = 0

    def product(vector):
        nonlocal steps
        steps += 1
        return matrix @ vector

    solved = _newton._conjugate_gradients(product, target, matrix.diagonal(), 1e-9)
    assert solved == pytest.approx(np.linalg.solve(matrix, target), rel=1e-6)
    assert steps <= 2 * 12
