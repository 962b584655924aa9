"""Zero-sum games: the bracket is true, the strategies are strategies, and limits are kept."""

import json
import math
import pickle

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import afterwit as aw
import naive_games as naive
from afterwit.errors import InputError
from afterwit.games import METHODS
from afterwit.games._support import equalising, in_earnest, most_played

DEFAULT = "predictive-regret-matching+"
ITERATIVE = METHODS[:3]
shapes = st.tuples(st.integers(1, 4), st.integers(1, 4))
whole = shapes.flatmap(lambda shape: npst.arrays(np.float64, shape, elements=st.integers(-4, 4).map(float)))
wild = shapes.flatmap(
    lambda shape: npst.arrays(np.float64, shape, elements=st.floats(-1e12, 1e12, allow_subnormal=False))
)
scales = st.integers(-12, 12).map(lambda k: 10.0**k)


def check(M, solution):
    """What holds for any solution of any game, without rounding."""
    M = M.toarray() if sp.issparse(M) else np.asarray(M, dtype=float)
    for strategy, count in zip((solution.row_strategy, solution.column_strategy), M.shape, strict=True):
        assert strategy.shape == (count,)
        assert (strategy >= 0).all()
        assert math.fsum(strategy) == pytest.approx(1.0, abs=1e-12)
    assert solution.gap == solution.upper - solution.lower
    assert solution.lower <= solution.value <= solution.upper
    assert solution.reached == (solution.gap <= solution.wanted)
    assert solution.reached == (solution.stopped_by == "gap")
    signed = -M if solution.maximize else M
    lower, upper = (-solution.upper, -solution.lower) if solution.maximize else (solution.lower, solution.upper)
    assert naive.exact_upper(signed, solution.row_strategy) <= upper
    assert naive.exact_lower(signed, solution.column_strategy) >= lower


@pytest.mark.parametrize("method", METHODS)
@given(M=whole, scale=scales)
def test_the_bracket_holds_the_exact_value(method, M, scale):
    M = M * scale
    solution = aw.solve_game(M, gap=0.3 * scale, method=method, max_rounds=200)
    check(M, solution)
    assert solution.lower <= naive.game_value(M) <= solution.upper


@given(M=wild, offset=st.sampled_from([0.0, 1e12, -1e9, 123.25]))
def test_the_bracket_allows_for_its_own_rounding(M, offset):
    M = M * 1e-9 + offset
    solution = aw.solve_game(M, gap=0, max_rounds=300)
    check(M, solution)
    value = naive.game_value(M)
    assert solution.lower <= value <= solution.upper
    assert solution.stopped_by in ("gap", "rounding", "max_rounds")


@given(M=whole)
def test_small_games_are_solved_to_the_last_digits(M):
    solution = aw.solve_game(M, gap=1e-9, max_rounds=100_000)
    assert solution.reached
    assert float(naive.game_value(M)) == pytest.approx(solution.value, abs=1e-9)


@given(M=whole, shift=st.integers(-1000, 1000), power=st.integers(-40, 40))
def test_shift_scale_and_turn_the_game(M, shift, power):
    gap = 1e-6
    value = aw.solve_game(M, gap=gap).value
    assert aw.solve_game(M + shift, gap=gap).value == pytest.approx(value + shift, abs=2 * gap)
    scale = 2.0**power
    scaled = aw.solve_game(M * scale, gap=gap * scale)
    assert scaled.reached
    assert scaled.value / scale == pytest.approx(value, abs=2 * gap)
    turned = aw.solve_game(-M.T, gap=gap)
    assert -turned.value == pytest.approx(value, abs=2 * gap)
    order = np.random.default_rng(0).permutation(M.shape[0])
    assert aw.solve_game(M[order], gap=gap).value == pytest.approx(value, abs=2 * gap)
    other = aw.solve_game(-M, gap=gap, maximize=True)
    check(-M, other)
    assert -other.value == pytest.approx(value, abs=2 * gap)


@pytest.mark.parametrize("method", ITERATIVE)
@given(M=whole, power=st.integers(-60, 60))
def test_the_unit_of_the_payoffs_does_not_matter(method, M, power):
    """Scaling by a power of two is exact: every strategy is the same to the last bit."""
    scale = 2.0**power
    first = aw.solve_game(M, gap=0, method=method, max_rounds=25)
    second = aw.solve_game(M * scale, gap=0, method=method, max_rounds=25)
    np.testing.assert_array_equal(first.row_strategy, second.row_strategy)
    np.testing.assert_array_equal(first.column_strategy, second.column_strategy)
    assert (first.lower * scale, first.upper * scale) == (second.lower, second.upper)


@given(shape=st.tuples(st.integers(1, 6), st.integers(1, 6)), seed=st.integers(0, 10**6), value=st.integers(-9, 9))
def test_saddle_points_are_found_exactly(shape, seed, value):
    generator = np.random.default_rng(seed)
    M = generator.integers(-20, 21, size=shape) * 0.1
    i, j = generator.integers(shape[0]), generator.integers(shape[1])
    M[i] = value - np.abs(M[i])
    M[:, j] = value + np.abs(M[:, j])
    M[i, j] = value
    solution = aw.solve_game(M, gap=0)
    assert solution.lower == solution.upper == value
    assert solution.rounds == 0
    assert sorted(solution.row_strategy)[-1] == sorted(solution.column_strategy)[-1] == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, 1.0, 1e12, -3e-12, 1e300])
def test_constant_games(method, value):
    solution = aw.solve_game(np.full((3, 5), value), gap=0, method=method, max_rounds=5)
    assert solution.lower == solution.upper == value
    assert solution.reached


@pytest.mark.parametrize("method", METHODS)
def test_one_row_and_one_column(method):
    wide, tall = np.array([[3.0, -1.0, 7.0, 2.0]]), np.array([[3.0], [-1.0], [7.0]])
    assert aw.solve_game(wide, gap=0.1, method=method).upper == 7
    assert aw.solve_game(tall, gap=0.1, method=method).lower == -1
    check(wide, aw.solve_game(wide, gap=0.1, method=method))
    check(tall, aw.solve_game(tall, gap=0.1, method=method))
    single = aw.solve_game([[-2.5]], method=method)
    assert (single.lower, single.upper) == (-2.5, -2.5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix])
def test_dense_and_sparse_are_one_game(method, kind):
    generator = np.random.default_rng(3)
    M = generator.integers(-3, 4, size=(14, 11)) * (generator.random((14, 11)) < 0.3)
    dense = aw.solve_game(M, gap=0.05, method=method)
    sparse = aw.solve_game(kind(M), gap=0.05, method=method)
    check(kind(M), sparse)
    assert sparse.reached
    assert sparse.rounds == pytest.approx(dense.rounds, abs=1)
    np.testing.assert_allclose(sparse.row_strategy, dense.row_strategy, atol=1e-9)
    np.testing.assert_allclose(sparse.column_strategy, dense.column_strategy, atol=1e-9)
    full = kind(M + 100.0)
    assert aw.solve_game(full, gap=0.05, method=method).value == pytest.approx(dense.value + 100, abs=0.1)


@pytest.mark.parametrize("shape", [(60, 60), (150, 40), (20, 180)])
def test_larger_games_agree_with_linear_programming(shape):
    M = np.random.default_rng(5).standard_normal(shape)
    value = naive.lp_value(M)
    for method in METHODS:
        solution = aw.solve_game(M, gap=0.02, method=method)
        assert solution.reached
        assert solution.lower - 1e-9 <= value <= solution.upper + 1e-9
    precise = aw.solve_game(M, gap=1e-11, max_rounds=20_000)
    assert precise.reached
    assert precise.value == pytest.approx(value, abs=1e-8)
    assert np.count_nonzero(precise.row_strategy) == np.count_nonzero(precise.column_strategy)


def test_the_linear_equations_of_the_choices_in_play():
    M = np.array([[9.0, 9.0, 9.0, 9.0], [9.0, 3.0, -1.0, 9.0], [9.0, -2.0, 1.0, 9.0]])
    p, q = equalising(M, np.array([1, 2]), np.array([1, 2]))
    assert p == pytest.approx([0, 3 / 7, 4 / 7])
    assert q == pytest.approx([0, 2 / 7, 5 / 7, 0])
    sparse = equalising(sp.csr_array(M), np.array([1, 2]), np.array([1, 2]))
    assert [part.tolist() for part in sparse] == [p.tolist(), q.tolist()]
    assert equalising(np.zeros((2, 2)), np.array([0, 1]), np.array([0, 1])) is None
    assert equalising(np.ones((2, 2)), np.array([0, 1]), np.array([0, 1])) is None
    rows, columns = most_played(np.array([0.0, 5.0, 1.0, 2.0]), np.array([1.0, 0.0, 1.0]))
    assert (rows.tolist(), columns.tolist()) == ([1, 3], [0, 2])
    assert in_earnest(np.array([50.0, 0.1, 50.0]), 1e-2).tolist() == [50.0, 0.0, 50.0]


def test_single_precision_rounds_have_a_double_precision_bracket():
    M = np.random.default_rng(0).standard_normal((300, 300)) * 1e9 + 3e9
    solution = aw.solve_game(M, gap=1e6)
    assert solution.reached
    upper = max(math.fsum(column * solution.row_strategy) for column in M.T)
    lower = min(math.fsum(row * solution.column_strategy) for row in M)
    assert solution.lower <= lower <= solution.lower + 1e-2
    assert solution.upper - 1e-2 <= upper <= solution.upper


def test_the_very_ends_of_float64():
    for scale in (1e307, 1e-307, 5e-324):
        M = np.array([[1.0, -2.0], [-3.0, 1.0]]) * scale
        solution = aw.solve_game(M, gap=0.01 * scale)
        assert -2 * scale <= solution.lower <= solution.upper <= scale
        assert solution.stopped_by == ("gap" if scale > 1e-310 else "rounding")
    largest = aw.solve_game([[1.2e308, 0.0], [0.0, 0.9e308]], gap=1e300)
    assert largest.reached
    assert largest.value == pytest.approx(1.08 / 2.1 * 1e308)
    with pytest.raises(InputError, match="M must be a matrix whose payoffs differ by less than"):
        aw.solve_game([[1e308, -1e308]])


def test_limits_return_the_best_so_far():
    M = np.random.default_rng(1).standard_normal((40, 40))
    for method in ITERATIVE:
        few = aw.solve_game(M, gap=1e-12, method=method, max_rounds=7)
        assert (few.rounds, few.stopped_by, few.reached) == (7, "max_rounds", False)
        assert "not reached, the rounds ran out" in str(few)
        check(M[:, :3], aw.solve_game(M[:, :3], gap=1e-12, method=method, max_rounds=7))
        quick = aw.solve_game(M, gap=1e-15, method=method, max_seconds=1e-9)
        assert (quick.rounds, quick.stopped_by) == (1, "max_seconds")
    assert aw.solve_game(M, gap=0).stopped_by == "rounding"
    stopped = aw.solve_game(M, method="lp", max_rounds=3)
    assert stopped.stopped_by == "max_rounds"
    assert stopped.lower <= naive.lp_value(M) <= stopped.upper
    more = [aw.solve_game(M, gap=0, method=DEFAULT, max_rounds=k).gap for k in (5, 20, 80)]
    assert more == sorted(more, reverse=True)


def test_what_the_row_player_receives():
    M = np.array([[3.0, 1.0], [0.0, 2.0]])
    pays, receives = aw.solve_game(M, gap=1e-9), aw.solve_game(M, gap=1e-9, maximize=True)
    assert pays.value == pytest.approx(1.5)
    assert receives.value == pytest.approx(1.5)
    assert pays.row_strategy == pytest.approx([0.5, 0.5])
    assert receives.column_strategy == pytest.approx([0.25, 0.75])
    asymmetric = np.array([[3.0, 1.0, -5.0], [0.0, 2.0, -9.0]])
    assert aw.solve_game(asymmetric, gap=0).value == 1.5 or aw.solve_game(asymmetric, gap=1e-9).reached
    assert aw.solve_game(asymmetric, gap=0, maximize=True).value == -5


@pytest.mark.parametrize(
    ("M", "options", "message"),
    [
        ([[1.0, math.nan]], {}, r"M\[0, 1\] must be a finite number; received nan"),
        (sp.csr_array([[0.0, 0.0], [0.0, math.inf]]), {}, r"M\[1, 1\] must be a finite number; received inf"),
        ([1.0, 2.0], {}, "M must be a 2-D array of numbers"),
        ([["a", "b"]], {}, "M must be a 2-D array of numbers"),
        ("abc", {}, "M must be a 2-D array of numbers"),
        (np.zeros((0, 3)), {}, "M must be a matrix with at least one row and one column"),
        (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), {}, "M must be without masked entries"),
        ([[1.0]], {"gap": -1}, "gap must be a finite number, at least 0; received -1"),
        ([[1.0]], {"gap": math.inf}, "gap must be a finite number, at least 0; received inf"),
        ([[1.0]], {"gap": "small"}, "gap must be a finite number, at least 0; received 'small'"),
        ([[1.0]], {"method": "simplex"}, "method must be one of predictive-regret-matching"),
        ([[1.0]], {"method": None}, "method must be one of predictive-regret-matching"),
        ([[1.0]], {"max_rounds": 0}, "max_rounds must be a whole number, at least 1; received 0"),
        ([[1.0]], {"max_rounds": 1.5}, "max_rounds must be a whole number, at least 1; received 1.5"),
        ([[1.0]], {"max_seconds": 0}, "max_seconds must be a positive number; received 0"),
        ([[1.0]], {"maximize": "yes"}, "maximize must be True or False; received 'yes'"),
    ],
)
def test_what_is_refused(M, options, message):
    with pytest.raises(InputError, match=message):
        aw.solve_game(M, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": ["a"]}, "rows must be 2 names, or None; received 1 name"),
        ({"columns": "xyzw"}, "columns must be 3 names, or None; received 4 names"),
        ({"top": 0}, "top must be a whole number, at least 1; received 0"),
        ({"top": -1}, "top must be a whole number, at least 1; received -1"),
    ],
)
def test_names_that_do_not_fit(options, message):
    solution = aw.solve_game([[0.0, 2.0, -1.0], [1.0, 0.0, 3.0]])
    with pytest.raises(InputError, match=message):
        solution.describe(**options)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.bool_, "F", "frame", "slice"])
def test_matrices_of_every_kind(kind):
    import pandas as pd

    plain = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=float)
    given_as = {"F": np.asfortranarray(plain), "frame": pd.DataFrame(plain), "slice": np.repeat(plain, 2, 1)[:, ::2]}
    M = given_as[kind] if isinstance(kind, str) else plain.astype(kind)
    before = np.array(M, copy=True)
    assert aw.solve_game(M, gap=1e-9).value == pytest.approx(2 / 3)
    np.testing.assert_array_equal(np.asarray(M), before)


def test_a_solution_can_be_shown_and_not_changed():
    M = np.array([[0.0, 2.0, -1.0], [1.0, 0.0, 3.0]])
    solution = aw.solve_game(M, gap=1e-9)
    assert json.loads(json.dumps(solution.to_dict()))["row_strategy"] == solution.row_strategy.tolist()
    assert solution.to_dict()["reached"] is True
    text = solution.describe(["a", "<b>"], ["x", "y", "z"])
    assert "minimizes with <b>: 0.6667, a: 0.3333" in text or "a:" in text
    assert str(solution).startswith("zero-sum game of 2 x 3, predictive-regret-matching+\n  value     between ")
    assert "<table>" in solution._repr_html_()
    assert "... (2 of 2 are played)" in solution.describe(top=1)
    uneven = aw.solve_game([[1.0, 0.0], [0.0, 4.0]], gap=1e-9, method="lp")
    assert uneven.value == pytest.approx(0.8)
    rough = aw.solve_game([[1.0, 0.0], [0.0, 4.0]], gap=0.5, method="exponential-weights")
    assert rough.upper - rough.lower > 0.01
    assert rough.value == pytest.approx((rough.lower + rough.upper) / 2)
    text = uneven.describe(["often", "seldom"], ["left", "right"])
    assert "often: 0.8, seldom: 0.2" in text, "the most played come first"
    assert "left: 0.8, right: 0.2" in text
    assert "often: 0.8, ... (2 of 2" in uneven.describe(["often", "seldom"], top=1)
    with pytest.raises(ValueError, match="read-only"):
        solution.row_strategy[0] = 1.0
    with pytest.raises(AttributeError):
        solution.lower = 0.0
    twin = pickle.loads(pickle.dumps(solution))
    assert twin.to_dict() == solution.to_dict()
    assert twin.certificate(M).to_dict() == solution.certificate(M).to_dict()
