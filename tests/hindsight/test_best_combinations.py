"""The best mixture and the best linear combination: grids, conditions of optimality, and a second solver."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_hindsight_experts as naive
from afterwit import ExponentialWeights, MLpol, losses
from afterwit.errors import InputError
from afterwit.hindsight import (
    _errors,
    _level_method,
    _quantile_program,
    best_convex_combination,
    best_expert,
    best_linear,
)

HUBER = losses.function(
    lambda f, y: (f - y) ** 2 / 2 if abs(f - y) < 1 else abs(f - y) - 0.5, lambda f, y: max(-1.0, min(1.0, f - y))
)
ABSOLUTE = losses.function(lambda f, y: abs(f - y), lambda f, y: float(np.sign(f - y)))
#: Names for the oracle, and what is asked for.
LOSSES = [
    ("square", "square"),
    ("absolute", "absolute"),
    ("percentage", "percentage"),
    ("pinball(0.2)", "pinball(0.2)"),
    ("log", "log"),
    ("huber", HUBER),
    ("absolute", ABSOLUTE),
]
#: Steps of the grid over the simplex; its best point is near the best of all.
STEPS = 12

problems = st.integers(1, 3).flatmap(
    lambda n: st.lists(
        st.tuples(st.lists(st.integers(1, 9), min_size=n, max_size=n), st.integers(1, 9)), min_size=1, max_size=8
    ).map(lambda rounds: ([list(map(float, x)) for x, _ in rounds], [float(y) for _, y in rounds]))
)


def forecasts(rounds=60, experts=4, seed=0):
    random = np.random.default_rng(seed)
    outcomes = 10 + np.cumsum(random.standard_normal(rounds)) / 3
    shared = random.standard_normal((rounds, 1))
    advice = (
        outcomes[:, None] + shared + random.standard_normal((rounds, experts)) + random.standard_normal(experts) / 2
    )
    return advice, outcomes


def subgradient_conditions(loss, advice, outcomes, weights):
    """How far the weights are from having no direction of descent to any expert, by one-sided differences."""
    here = naive.total_loss(loss, weights, advice, outcomes)
    slopes = []
    for i in range(len(weights)):
        nearer = [(1 - 1e-6) * w + (1e-6 if j == i else 0.0) for j, w in enumerate(weights)]
        slopes.append((naive.total_loss(loss, nearer, advice, outcomes) - here) / 1e-6)
    return min(slopes)


@pytest.mark.parametrize(("name", "loss"), LOSSES)
@settings(max_examples=20)
@given(problem=problems)
def test_no_mixture_of_a_grid_is_better_and_the_gap_is_true(name, loss, problem):
    advice, outcomes = problem
    if name == "log":
        advice = [[value / 10 for value in row] for row in advice]
        outcomes = [float(outcome > 5) for outcome in outcomes]
    found = best_convex_combination(advice, outcomes, loss)
    weights = found.vector.tolist()
    assert min(weights) >= 0
    assert sum(weights) == pytest.approx(1, abs=1e-12)
    assert found.loss == pytest.approx(naive.total_loss(name, weights, advice, outcomes), rel=1e-9, abs=1e-12)
    grid = naive.best_on_the_grid(name, advice, outcomes, STEPS)
    # The certificate: nobody, so nobody on the grid either, is below loss - gap.
    assert grid >= found.loss - found.gap - 1e-9
    assert found.loss <= grid + 1e-6 * (1 + grid)
    assert 0 <= found.gap <= 1e-5 * (1 + found.loss)


@pytest.mark.parametrize(("name", "loss"), LOSSES)
@pytest.mark.parametrize("experts", [1, 2, 7])
def test_the_conditions_of_optimality_hold_on_the_data(name, loss, experts):
    advice, outcomes = forecasts(experts=experts)
    if name == "log":
        advice = 1 / (1 + np.exp(-(advice - 10)))
        outcomes = (outcomes > 10.2).astype(float)
    found = best_convex_combination(advice, outcomes, loss)
    steepest = subgradient_conditions(name, advice.tolist(), outcomes.tolist(), found.vector.tolist())
    assert steepest >= -2e-3 * found.loss
    assert found.gap <= 1e-6 * found.loss


@pytest.mark.parametrize(("collinear", "tolerance"), [(1.0, 1e-11), (1e-2, 1e-8), (1e-4, 1e-4)])
def test_square_meets_another_solver_on_collinear_experts(collinear, tolerance):
    from scipy.optimize import minimize

    random = np.random.default_rng(3)
    outcomes = 50_000 + 5_000 * np.sin(np.arange(398) / 20)
    errors = random.standard_normal((398, 4)) @ random.standard_normal((4, 65))
    errors += collinear * random.standard_normal((398, 65))
    whole = best_convex_combination(outcomes[:, None] + 1000 * errors, outcomes)
    assert whole.gap <= tolerance * whole.loss
    few = errors[:, :12]
    found = best_convex_combination(outcomes[:, None] + 1000 * few, outcomes)
    assert found.loss >= whole.loss - whole.gap
    gram = few.T @ few
    other = minimize(
        lambda w: (w @ gram @ w, 2 * gram @ w),
        np.full(12, 1 / 12),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * 12,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"maxiter": 100, "ftol": 1e-12},
    )
    assert found.loss - found.gap <= 1e6 * other.fun * (1 + 1e-9)
    assert found.loss <= 1e6 * other.fun * (1 + 1e-6)


def test_a_perfect_mixture_is_found():
    advice, outcomes = forecasts(experts=5)
    advice[:, 3] = 2 * outcomes - advice[:, 1]
    for loss in ("square", "absolute", "percentage", "pinball(0.7)"):
        found = best_convex_combination(advice, outcomes, loss)
        assert found.vector.round(6).tolist() == [0, 0.5, 0, 0.5, 0]
        assert found.loss < 1e-6
    exact = best_convex_combination(np.column_stack([outcomes + 1, outcomes]), outcomes)
    assert exact.vector.tolist() == [0.0, 1.0]
    assert (exact.loss, exact.gap) == (0.0, 0.0)


@pytest.mark.parametrize("scale", [1e-60, 1e-6, 1e6, 1e60])
@pytest.mark.parametrize("loss", ["square", "absolute", "pinball(0.9)"])
def test_the_unit_does_not_matter(scale, loss):
    advice, outcomes = forecasts()
    plain = best_convex_combination(advice, outcomes, loss)
    scaled = best_convex_combination(scale * advice, scale * outcomes, loss)
    assert scaled.vector == pytest.approx(plain.vector, abs=1e-6)
    assert scaled.loss == pytest.approx(plain.loss * scale ** (2 if loss == "square" else 1), rel=1e-9)
    assert best_linear(scale * advice, scale * outcomes, loss).vector == pytest.approx(
        best_linear(advice, outcomes, loss).vector, abs=1e-6
    )


def test_duplicates_and_more_experts_than_rounds():
    advice, outcomes = forecasts(rounds=6, experts=3)
    doubled = np.hstack([advice, advice, advice])
    for loss in ("square", "absolute", HUBER):
        plain, found = (best_convex_combination(given, outcomes, loss) for given in (advice, doubled))
        assert found.loss == pytest.approx(plain.loss, rel=1e-6)
        assert best_linear(doubled, outcomes, "absolute").loss == pytest.approx(
            best_linear(advice, outcomes, "absolute").loss, rel=1e-7
        )


def test_many_rounds_in_blocks_and_with_signs_fixed(monkeypatch):
    """The answer in pieces is that of one piece."""
    advice, outcomes = forecasts(rounds=3000, experts=5)
    whole = {loss: best_convex_combination(advice, outcomes, loss) for loss in ("square", "pinball(0.8)", "percentage")}
    linear = {loss: best_linear(advice, outcomes, loss, intercept=True) for loss in whole}
    monkeypatch.setattr(_errors, "BLOCK", 700)
    monkeypatch.setattr(_quantile_program, "FIRST_SIZE", 800)
    for loss, expected in whole.items():
        found = best_convex_combination(advice, outcomes, loss)
        assert found.loss == pytest.approx(expected.loss, rel=1e-9)
        assert found.gap <= 1e-8 * found.loss
        assert best_linear(advice, outcomes, loss, intercept=True).loss == pytest.approx(linear[loss].loss, rel=1e-8)


def test_where_the_solver_gives_up_the_gap_tells(monkeypatch):
    import scipy.optimize

    def gives_up(*_, **__):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(scipy.optimize, "nnls", gives_up)
    advice, outcomes = forecasts()
    found = best_convex_combination(advice, outcomes)
    single = best_expert(advice, outcomes)
    assert found.vector.tolist() == np.eye(4)[single.position].tolist()
    assert found.loss == pytest.approx(single.loss)
    monkeypatch.undo()
    truth = best_convex_combination(advice, outcomes).loss
    assert found.loss - found.gap <= truth <= found.loss
    monkeypatch.setattr(scipy.optimize, "nnls", gives_up)
    by_planes = best_convex_combination(advice, outcomes, ABSOLUTE)
    assert by_planes.gap <= 1e-6 * by_planes.loss


def test_a_slope_bound_of_planes_holds_for_a_made_up_function():
    target = np.array([0.1, 0.7, 0.2, 0.0])

    def evaluate(weights):
        return float(np.abs(weights - target).sum()), np.sign(weights - target)

    weights, bound = _level_method.minimise_over_simplex(evaluate, 4)
    assert weights == pytest.approx(target, abs=1e-6)
    assert -1e-6 <= bound <= 1e-12


def test_where_the_linear_program_gives_up_the_lowest_plane_bounds_the_function(monkeypatch):
    target = np.array([0.2, 0.3, 0.5])

    def evaluate(weights):
        return float(((weights - target) ** 2).sum()), 2 * (weights - target)

    planes = _level_method._Planes(evaluate, 3)
    for weights in ([1.0, 0.0, 0.0], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0]):
        planes.visit(np.array(weights))
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: SimpleNamespace(x=None))
    lower, point = planes.bound()
    value, slope = evaluate(np.array([0.3, 0.3, 0.4]))
    assert lower == pytest.approx(value + (slope - slope @ [0.3, 0.3, 0.4]).min())
    assert lower <= 0
    assert point is planes.best


def test_whatever_z_is_no_mixture_is_below_what_it_proves():
    advice, outcomes = forecasts(rounds=12, experts=3)
    grid = naive.best_on_the_grid("pinball(0.8)", advice.tolist(), outcomes.tolist(), 20)
    random = np.random.default_rng(0)
    seen = _quantile_program._Mixtures(_errors.Errors(advice, outcomes), (-0.2, 0.8))
    for _ in range(50):
        seen.see(random.dirichlet(np.ones(3)), random.uniform(-0.2, 0.8, size=12))
        assert seen.lowest <= grid
    found = best_convex_combination(advice, outcomes, "pinball(0.8)")
    seen.see(found.vector, np.where((advice - outcomes[:, None]) @ found.vector < 0, 0.8, -0.2))
    assert seen.lowest <= found.loss + 1e-12
    assert seen.loss == pytest.approx(found.loss, rel=1e-12)


def test_mixtures_by_name():
    advice, outcomes = forecasts(experts=3)
    frame = pd.DataFrame(advice, columns=["a", "b", "c"])
    found = best_convex_combination(frame, pd.Series(outcomes))
    assert found.weights == dict(zip("abc", best_convex_combination(advice, outcomes).vector.tolist(), strict=True))
    assert str(found).startswith("best mixture: square loss")
    linear = best_linear(frame, outcomes, intercept=True)
    assert set(linear.weights) == {"a", "b", "c"}
    assert "intercept" in str(linear)
    assert "all weights are 0" in str(best_linear([[0.0], [0.0]], [1.0, 2.0]))


def test_no_rounds_lose_nothing():
    found = best_convex_combination(np.empty((0, 4)), [])
    assert (found.vector.tolist(), found.loss, found.gap) == ([0.25] * 4, 0.0, 0.0)
    assert best_linear(np.empty((0, 4)), []).loss == 0


def test_certificates_compare_with_it():
    advice, outcomes = forecasts(rounds=300)
    learner = MLpol(4)
    learner.learn_many(advice, outcomes)
    certificate = learner.certificate(advice, outcomes)
    best = best_convex_combination(advice, outcomes)
    assert certificate.hindsight.value == best.loss
    assert certificate.observed == pytest.approx(learner.loss - best.loss)
    assert certificate.observed <= certificate.bound
    squashed, events = 1 / (1 + np.exp(10 - advice)), (outcomes > 10).astype(float)
    follower = ExponentialWeights(4, loss="log", gradient=True, loss_range=(-1000, 1000))
    follower.learn_many(squashed, events)
    assert follower.certificate(squashed, events).observed <= follower.certificate(squashed, events).bound


# ------------------------------------------------------------------ linear combinations


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["square", "absolute", "percentage", "pinball(0.3)"])
@settings(max_examples=15)
@given(problem=problems)
def test_no_step_from_the_best_linear_combination_helps(loss, intercept, problem):
    advice, outcomes = problem
    found = best_linear(advice, outcomes, loss, intercept)
    weights = found.vector.tolist()
    assert intercept or found.intercept == 0
    best = naive.total_loss(loss, weights, advice, outcomes, found.intercept)
    assert found.loss == pytest.approx(best, rel=1e-9, abs=1e-12)
    random = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        for step in size * random.standard_normal((25, len(weights) + 1)):
            moved = (found.vector + step[:-1]).tolist()
            constant = found.intercept + (step[-1] if intercept else 0.0)
            assert best <= naive.total_loss(loss, moved, advice, outcomes, constant) + 1e-7


def test_least_squares_are_the_normal_equations():
    advice, outcomes = forecasts(rounds=200)
    found = best_linear(advice, outcomes, intercept=True)
    columns = np.column_stack([advice, np.ones(200)])
    rest = outcomes - columns @ np.append(found.vector, found.intercept)
    assert columns.T @ rest == pytest.approx(np.zeros(5), abs=1e-8)
    assert best_linear(advice, outcomes).loss <= best_convex_combination(advice, outcomes).loss
    dependent = best_linear(np.column_stack([advice, advice[:, 0]]), outcomes)
    assert dependent.loss == pytest.approx(best_linear(advice, outcomes).loss)


@pytest.mark.parametrize("loss", ["absolute", "pinball(0.9)"])
def test_linear_programs_meet_quantile_regression(loss):
    from sklearn.linear_model import QuantileRegressor

    advice, outcomes = forecasts(rounds=120)
    found = best_linear(advice, outcomes, loss, intercept=True)
    other = QuantileRegressor(quantile=0.5 if loss == "absolute" else 0.9, alpha=0).fit(advice, outcomes)
    reached = naive.total_loss(loss, other.coef_.tolist(), advice.tolist(), outcomes.tolist(), other.intercept_)
    assert found.loss == pytest.approx(reached, rel=1e-7)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("solve", "loss", "words"),
    [
        (
            best_convex_combination,
            "zero-one",
            "loss must be convex, for the best mixture to be found; received zero-one",
        ),
        (best_convex_combination, losses.function(max, min, convex=False), "loss must be convex"),
        (best_convex_combination, lambda f, y: abs(f - y), "loss must be one with a gradient"),
        (best_linear, "log", "loss must be 'square', 'absolute', 'percentage' or"),
        (best_linear, HUBER, "loss must be 'square', 'absolute', 'percentage' or"),
        (best_linear, "nonsense", "loss must be 'square', 'absolute', 'percentage', 'pinball"),
    ],
)
def test_losses_that_cannot_be_solved_are_refused(solve, loss, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        solve([[0.5, 0.25]], [1.0], loss)


@pytest.mark.parametrize("solve", [best_convex_combination, best_linear])
def test_bad_rounds_are_refused(solve):
    with pytest.raises(InputError, match=r"advice\[1, 0\] is missing; a fixed \w+ needs every expert"):
        solve([[1.0, 2.0], [float("nan"), 1.0]], [1.0, 1.0])
    with pytest.raises(InputError, match="advice and outcomes must be below 1e150 in size"):
        solve([[1.0, 2.0], [1e160, 1.0]], [1.0, 1.0])
    with pytest.raises(InputError, match="outcomes must be as long as advice"):
        solve([[1.0, 2.0]], [1.0, 1.0])
    with pytest.raises(InputError, match="advice must be a 2-D array"):
        solve([1.0, 2.0], [1.0, 1.0])
    with pytest.raises(InputError, match="must be not 0"):
        solve([[1.0, 2.0]], [0.0], "percentage")


def test_an_intercept_is_yes_or_no():
    with pytest.raises(InputError, match="intercept must be True or False; received 1"):
        best_linear([[1.0]], [1.0], intercept=1)


def test_a_function_must_be_finite():
    bad = losses.function(lambda f, y: float("inf"), lambda f, y: 0.0)
    with pytest.raises(InputError, match=r"finite|below"):
        best_convex_combination([[1.0, 2.0]], [1.0], bad)
