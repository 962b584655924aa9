import math
from dataclasses import replace

import numpy as np
import pytest

import afterwit as aw
from afterwit.games._payoffs import MOST_SHOWN
from afterwit.pictures.games import MOST_CHOICES, most_likely
from drawing import drawn, texts
from naive_games import averages, exponential_weights_game, gap, regret_matching_game

ROCK_PAPER_SCISSORS = [[0, 1, -1], [-1, 0, 1], [1, -1, 0]]


def matrix(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def best_gaps(M, played, power, moments):
    """The gap between the best strategies so far, where the averages are looked at after some rounds."""
    rows, columns = len(M), len(M[0])
    turned = [list(column) for column in zip(*M, strict=True)]
    strategies = [([1 / rows] * rows, [1 / columns] * columns)]
    found = []
    for rounds in moments:
        strategies.append(averages(played[:rounds], power))
        upper = min(max(np.dot(line, p) for line in turned) for p, _ in strategies)
        lower = max(min(np.dot(line, q) for line in M) for _, q in strategies)
        found.append(upper - lower)
    return found


@pytest.mark.parametrize("method", ["regret-matching+", "exponential-weights"])
def test_the_gap_at_every_moment(method):
    M = matrix(5, 4).tolist()
    solution = aw.solve_game(M, gap=1e-9, method=method, max_rounds=60)
    played = regret_matching_game(M, 60, False)[0] if "regret" in method else exponential_weights_game(M, 60)
    moments = [moment.rounds for moment in solution.trace]
    assert moments == sorted(set(moments))
    assert moments[0] == 1
    assert moments[-1] == solution.rounds == 60
    expected = best_gaps(M, played, 2 if "regret" in method else 0, moments)
    np.testing.assert_allclose([moment.gap for moment in solution.trace], expected, rtol=1e-9)
    assert solution.trace[-1].gap == solution.gap
    p, q = averages(played, 2 if "regret" in method else 0)
    assert solution.gap <= gap(M, p, q) + 1e-12


def test_the_bound_over_the_rounds_is_the_theorems():
    M = matrix(5, 4)
    solution = aw.solve_game(M, gap=1e-9, method="regret-matching+", max_rounds=60)
    picture = solution.pictures()["gap"]
    ax = drawn(picture)
    happened, bound, _ = ax.lines
    assert happened.get_xdata().tolist() == [moment.rounds for moment in solution.trace]
    assert happened.get_ydata().tolist() == [moment.gap for moment in solution.trace]
    spread = M.max() - M.min()
    for rounds, value in zip(bound.get_xdata(), bound.get_ydata(), strict=True):
        last = 6 * rounds / ((rounds + 1) * (2 * rounds + 1))
        assert value == pytest.approx(spread * last * math.sqrt(rounds) * (2 + math.sqrt(3)))
    assert bound.get_ydata()[-1] == pytest.approx(solution.certificate(M).bound)
    rounds, shown, promised = picture.table().rows[-1]
    assert (rounds, shown) == ("60", f"{solution.gap:.4g}")
    assert promised == f"{solution.certificate(M).bound:.4g}"


def test_there_is_no_bound_where_taking_turns_has_cost_something():
    solution = aw.solve_game(matrix(9, 8), gap=0, max_rounds=20)
    worse = [moment._replace(cost_of_turns=1.0 if i % 2 else -1.0) for i, moment in enumerate(solution.trace)]
    rows = replace(solution, trace=tuple(worse)).pictures()["gap"].table().rows
    assert [row[2] == "" for row in rows] == [bool(i % 2) for i in range(len(worse))]
    sure = replace(solution, theorems=aw.solve_game([[1]], method="regret-matching+").theorems, trace=tuple(worse))
    assert all(row[2] for row in sure.pictures()["gap"].table().rows)


def test_a_solution_without_rounds_has_no_gap_over_them():
    assert list(aw.solve_game([[1, 2], [3, 4]]).pictures()) == ["strategies", "matrix"]
    assert list(aw.solve_game(matrix(3, 3), method="lp", gap=0.1).pictures()) == ["strategies", "matrix"]


def test_the_trace_is_short():
    solution = aw.solve_game(matrix(3, 4), gap=0, method="exponential-weights", max_rounds=20_000)
    assert len(solution.trace) < 300
    drawn(solution.pictures()["gap"])


@pytest.mark.parametrize("method", aw.games.METHODS)
@pytest.mark.parametrize("M", [[[2.5]], [[0.0, 0.0]], [[1e308, -7e307], [0.0, 1e300]], [[1e-300, 0], [0, 2e-300]]])
def test_hostile_games(M, method):
    for picture in aw.solve_game(M, gap=0, method=method, max_rounds=30).pictures().values():
        drawn(picture)


def test_strategies_largest_first():
    strategy = np.array([0.1, 0.0, 0.4, 0.4, 0.1])
    assert most_likely(strategy, None) == [("2", 0.4), ("3", 0.4), ("0", 0.1), ("4", 0.1)]
    assert most_likely(strategy, "abcde")[0] == ("c", 0.4)


def test_of_many_choices_the_rest_is_one_number():
    strategy = np.arange(1.0, 21.0) / 210
    shown = most_likely(strategy, None)
    assert [name for name, _ in shown] == [*(str(19 - i) for i in range(MOST_CHOICES)), "8 more, in all"]
    assert shown[-1][1] == pytest.approx(36 / 210)


def test_both_strategies_are_drawn_with_their_names():
    names = ["rock", "paper", "scissors"]
    solution = aw.solve_game(ROCK_PAPER_SCISSORS, gap=1e-9).named(names, names)
    picture = solution.pictures()["strategies"]
    ax = drawn(picture)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["row minimizes", *names, "column maximizes", *names]
    assert [patch.get_width() for patch in ax.patches] == pytest.approx(
        [0, 1 / 3, 1 / 3, 1 / 3, 0, 1 / 3, 1 / 3, 1 / 3]
    )
    assert picture.table().rows[0] == ("row minimizes", "rock", "0.333333")


def test_names_are_kept_and_printed():
    named = aw.solve_game([[5, 3, 4], [2, 1, 6]], gap=1e-6).named(["stay", "go"])
    assert "minimizes with stay: 0.8, go: 0.2" in str(named)
    assert "maximizes with c: 0.6, a: 0.4" in named.describe(columns=["a", "b", "c"])
    assert "stay" in named.describe(columns=["a", "b", "c"])
    assert "maximizes with 2: 0.6, 0: 0.4" in str(named)
    with pytest.raises(aw.errors.InputError, match="rows must be 2 names, or None; received 1 name"):
        named.named(["stay"])


def test_the_payoffs_are_those_that_were_given():
    M = [[5.0, 3, 4], [2, 1, 0]]
    for maximize in (False, True):
        solution = aw.solve_game(M, maximize=maximize)
        assert solution.payoffs.tolist() == M
        assert not any("-0" in cell for row in solution.pictures()["matrix"].table().rows for cell in row)
    receives = [aw.solve_game(M, maximize=maximize).pictures()["matrix"].title for maximize in (False, True)]
    assert receives == ["The payoffs to the column player", "The payoffs to the row player"]
    far = [[1e12, 1e12 + 1], [1e12 + 3, 1e12]]
    assert aw.solve_game(far).payoffs.tolist() == far


def test_the_matrix_frames_what_both_play():
    solution = aw.solve_game([[0, 2], [1, 0]], gap=1e-9).named(["a", "b"], ["c", "d"])
    picture = solution.pictures()["matrix"]
    ax = drawn(picture)
    assert texts(ax) == ["0", "2", "1", "0"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a: 0.333", "b: 0.667"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["c\n0.667", "d\n0.333"]
    frames = ax.lines[0].get_xdata()
    assert int(np.isnan(frames).sum()) == 4
    assert picture.table().rows == (("a", "0", "2"), ("b", "1", "0"))


def test_payoffs_that_are_nearly_alike_are_written_out():
    ax = drawn(aw.solve_game([[1000.0, 1000.5], [1000.25, 1000.0]]).pictures()["matrix"])
    assert texts(ax) == ["1000", "1000.5", "1000.25", "1000"]


def test_large_games_keep_no_payoffs():
    assert aw.solve_game(matrix(MOST_SHOWN, MOST_SHOWN), gap=0.5).payoffs.shape == (MOST_SHOWN, MOST_SHOWN)
    assert aw.solve_game(matrix(2, MOST_SHOWN + 1), gap=0.5).payoffs is None


@pytest.mark.parametrize("shape", [(MOST_SHOWN, MOST_SHOWN), (1, MOST_SHOWN), (2000, 2000)])
def test_large_games(shape):
    names = [[f"a very long name of a choice, number {i}" for i in range(count)] for count in shape]
    solution = aw.solve_game(matrix(*shape), gap=0.2).named(*names)
    for picture in solution.pictures().values():
        drawn(picture)
