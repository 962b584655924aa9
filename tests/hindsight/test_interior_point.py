"""Mixtures over many rounds: the interior-point method and the corner next to it, corrections, and Newton's method."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_hindsight_experts as naive
from afterwit import losses
from afterwit.hindsight import _errors, _nearest_mixture, _quantile_program, best_convex_combination
from afterwit.hindsight._errors import Errors
from afterwit.hindsight._interior_point import interior_point
from afterwit.hindsight._rounds import read_advice

mixtures = sys.modules["afterwit.hindsight.best_convex_combination"]
LOSSES = {"absolute": (-1.0, 1.0), "pinball(0.8)": (0.8 - 1, 0.8), "pinball(0.05)": (0.05 - 1, 0.05)}
SCALES = [1e-12, 1.0, 1e12]

problems = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.tuples(st.lists(st.integers(1, 9), min_size=n, max_size=n), st.integers(1, 9)), min_size=1, max_size=12
    ).map(lambda rounds: (np.array([x for x, _ in rounds], float), np.array([y for _, y in rounds], float)))
)


@pytest.fixture
def small_programs(monkeypatch):
    """Few rounds are many: the linear program decides only about some of them."""
    monkeypatch.setattr(_quantile_program, "FIRST_SIZE_OF_MIXTURES", 1)
    monkeypatch.setattr(_errors, "BLOCK", 300)


def forecasts(rounds, experts, seed=0):
    random = np.random.default_rng(seed)
    outcomes = 10 + random.standard_normal(rounds)
    shared = random.standard_normal((rounds, 1))
    return outcomes[:, None] + shared + random.standard_normal((rounds, experts)), outcomes


def judged(name, vector, advice, outcomes):
    return naive.total_loss(name, vector.tolist(), advice.tolist(), outcomes.tolist())


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=25)
@given(problem=problems)
def test_what_it_finds_and_what_it_proves_enclose_the_least_loss(name, scale, problem):
    advice, outcomes = scale * problem[0], scale * problem[1]
    low, high = LOSSES[name]
    errors = Errors(advice, outcomes)
    weights, z = interior_point(errors, (low, high))
    size = scale + float(np.abs(errors.at(slice(None))).sum())
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert low <= z.min() <= z.max() <= high
    least = naive.least_mixture(name, advice, outcomes)
    reached = judged(name, weights, advice, outcomes)
    proved = -float(errors.pull(z).max())
    assert reached >= least - 1e-9 * size
    assert proved <= least + 1e-9 * size
    assert reached - proved <= 1e-6 * size


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("loss", [*LOSSES, "percentage"])
def test_many_rounds_are_as_exact_as_one_program(loss, scale, small_programs):
    advice, outcomes = forecasts(700, 5)
    found = best_convex_combination(scale * advice, scale * outcomes, loss)
    unit = 1.0 if loss == "percentage" else scale
    assert found.loss == pytest.approx(unit * naive.least_mixture(loss, advice, outcomes), rel=1e-9)
    assert found.loss == pytest.approx(judged(loss, found.vector, scale * advice, scale * outcomes), rel=1e-12)
    assert 0 <= found.gap <= 1e-12 * found.loss


@pytest.mark.parametrize("loss", [*LOSSES, "percentage"])
def test_duplicates_ties_equal_experts_and_a_single_one(loss, small_programs):
    advice, outcomes = forecasts(600, 3)
    plain = best_convex_combination(advice, outcomes, loss)
    doubled = best_convex_combination(np.hstack([advice, advice, advice]), outcomes, loss)
    assert doubled.loss == pytest.approx(plain.loss, rel=1e-11)
    assert doubled.gap <= 1e-11 * doubled.loss
    tied, rounded = np.round(advice), np.round(outcomes)
    found = best_convex_combination(tied, rounded, loss)
    assert found.loss == pytest.approx(naive.least_mixture(loss, tied, rounded), rel=1e-9)
    assert found.gap <= 1e-9 * found.loss
    same = np.repeat(advice[:, :1], 4, axis=1)
    alone = best_convex_combination(advice[:, :1], outcomes, loss)
    assert alone.vector.tolist() == [1.0]
    assert alone.loss == pytest.approx(judged(loss, np.ones(1), advice[:, :1], outcomes), rel=1e-12)
    assert best_convex_combination(same, outcomes, loss).loss == pytest.approx(alone.loss, rel=1e-12)


def test_a_perfect_mixture_over_many_rounds(small_programs):
    advice, outcomes = forecasts(600, 4)
    advice[:, 3] = 2 * outcomes - advice[:, 1]
    found = best_convex_combination(advice, outcomes, "absolute")
    assert found.vector == pytest.approx([0, 0.5, 0, 0.5], abs=1e-9)
    exact = best_convex_combination(np.column_stack([outcomes + 1, outcomes, outcomes - 3]), outcomes, "absolute")
    assert (exact.vector.tolist(), exact.loss, exact.gap) == ([0.0, 1.0, 0.0], 0.0, 0.0)


def nearly_dependent(rounds=4000, experts=12):
    """Errors of about 1,000 which mixtures make up for to about 0.002."""
    random = np.random.default_rng(5)
    outcomes = 50_000 + 5_000 * np.sin(np.arange(rounds) / 300)
    common = random.standard_normal((rounds, 4)) @ random.standard_normal((4, experts))
    return outcomes[:, None] + 1000 * common + 0.01 * random.standard_normal((rounds, experts)), outcomes


@pytest.mark.parametrize(("loss", "tolerance"), [("absolute", 1e-9), ("pinball(0.8)", 1e-9), ("square", 1e-5)])
def test_mixtures_far_better_than_every_expert_are_exact(loss, tolerance):
    """HiGHS's tolerance, taken from the size of the errors, is wider than what is left of them."""
    advice, outcomes = nearly_dependent()
    found = best_convex_combination(advice, outcomes, loss)
    single = min(judged(loss, each, advice, outcomes) for each in np.eye(12))
    assert found.loss < 1e-4 * single
    assert 0 <= found.gap <= tolerance * found.loss


def test_the_corner_next_to_an_answer_that_is_a_little_off_is_the_best_mixture():
    advice, outcomes = forecasts(900, 4)
    best = best_convex_combination(advice, outcomes, "absolute")
    seen = _quantile_program._Mixtures(Errors(advice, outcomes), (-1.0, 1.0))
    weights, z = interior_point(Errors(advice, outcomes), (-1.0, 1.0))
    used = np.where(best.vector > 0, weights, 0.0)
    seen.see(used + 1e-7 * np.array([1.0, -1.0, 1.0, -1.0]) * (used > 0), 0.999999 * z)
    assert seen.gap > 1e-7 * best.loss
    seen.see_corners()
    assert seen.weights == pytest.approx(best.vector, abs=1e-12)
    assert seen.gap <= 1e-12 * best.loss


def test_square_loss_is_corrected_by_the_error_itself():
    advice, outcomes = forecasts(900, 4)
    errors = Errors(advice, outcomes)
    best = best_convex_combination(advice, outcomes)
    off = best.vector + 1e-4 * np.array([1.0, -1.0, 2.0, -2.0])
    assert (off > 0).all()
    assert _nearest_mixture.corrected_mixture(errors.blocks, off) == pytest.approx(best.vector, abs=1e-12)
    one = np.eye(4)[2]
    assert _nearest_mixture.corrected_mixture(errors.blocks, one) is one
    # An expert who would get a negative weight is left out, and no other.
    worse = np.column_stack([advice, outcomes + 3 * (advice @ best.vector - outcomes) + np.sin(np.arange(900))])
    mixed = np.append(0.999 * best.vector, 0.001)
    kept = _nearest_mixture.corrected_mixture(Errors(worse, outcomes).blocks, mixed)
    assert kept.min() == kept[4] == 0
    assert kept.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_log_loss_meets_another_solver(scale):
    """Advice made worse by the scale; the tangent proves how far the answer could be from the best."""
    from scipy.optimize import minimize

    random = np.random.default_rng(2)
    events = (random.random(3000) < 0.4).astype(float)
    advice = 1 / (1 + np.exp(-scale * (2 * events[:, None] - 1 + 3 * random.standard_normal((3000, 5)))))
    found = best_convex_combination(advice, events, "log")
    chances = np.where(events[:, None] == 1, advice, 1 - advice)
    other = minimize(
        lambda w: (-np.log(chances @ w).sum(), -(chances / (chances @ w)[:, None]).sum(axis=0)),
        np.full(5, 0.2),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * 5,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )
    # Two sums of 3,000 logarithms differ by rounding.
    rounding = 1e-12 * other.fun
    assert found.loss <= other.fun + rounding
    assert found.loss - found.gap <= other.fun + rounding
    assert 0 <= found.gap <= 1e-10 * found.loss
    assert found.loss == pytest.approx(judged("log", found.vector, advice, events), rel=1e-12)


FUNCTIONS = {
    "huber": losses.function(
        lambda f, y: (f - y) ** 2 / 2 if abs(f - y) < 1 else abs(f - y) - 0.5, lambda f, y: max(-1.0, min(1.0, f - y))
    ),
    "expectile": losses.function(
        lambda f, y: (0.8 if f < y else 0.2) * (f - y) ** 2, lambda f, y: (1.6 if f < y else 0.4) * (f - y)
    ),
    "quartic": losses.function(lambda f, y: (f - y) ** 4, lambda f, y: 4 * (f - y) ** 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_smooth_function_takes_a_handful_of_evaluations(name, monkeypatch):
    evaluate, calls = mixtures._FunctionLoss.evaluate, []
    monkeypatch.setattr(
        mixtures._FunctionLoss, "evaluate", lambda self, weights: calls.append(weights) or evaluate(self, weights)
    )
    advice, outcomes = forecasts(900, 6)
    found = best_convex_combination(advice, outcomes, FUNCTIONS[name])
    assert len(calls) <= 12
    assert 0 <= found.gap <= 1e-8 * found.loss


def test_second_derivatives_of_a_square_are_known_from_two_points():
    """The square loss as a function of one's own: the first step after two points goes to the best mixture."""
    square = losses.function(lambda f, y: (f - y) ** 2, lambda f, y: 2 * (f - y))
    advice, outcomes = forecasts(300, 4)
    found, exact = (best_convex_combination(advice, outcomes, loss) for loss in (square, "square"))
    assert found.vector == pytest.approx(exact.vector, abs=1e-9)
    loss = mixtures._FunctionLoss(read_advice(advice, outcomes, square))
    for weights in (np.full(4, 0.25), np.array([0.4, 0.3, 0.2, 0.1])):
        loss.evaluate(weights)
    errors = advice - outcomes[:, None]
    assert loss.bends() == pytest.approx(2 * errors.T @ errors, rel=1e-9)


def test_a_function_whose_second_derivatives_mislead_is_left_to_the_planes():
    """Absolute errors are flat but for the rounds in which the sign changed."""
    absolute = losses.function(lambda f, y: abs(f - y), lambda f, y: float(np.sign(f - y)))
    advice, outcomes = forecasts(400, 5)
    for scale in SCALES:
        found = best_convex_combination(scale * advice, scale * outcomes, absolute)
        least = scale * naive.least_mixture("absolute", advice, outcomes)
        assert found.loss - found.gap <= least * (1 + 1e-9)
        assert least * (1 - 1e-9) <= found.loss <= least * (1 + 1e-6)
        assert found.gap <= 1e-6 * found.loss
    linear = losses.function(lambda f, y: 3 * f, lambda f, y: 3.0)
    found = best_convex_combination(advice, outcomes, linear)
    assert found.loss == pytest.approx(3 * advice.sum(axis=0).min(), rel=1e-6)
