"""The three regret minimisers are those of their papers, and their bounds hold."""

import math

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import afterwit as aw
import naive_games as naive
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from afterwit.games.exponential_weights import ExponentialWeightsBound, SelfPlayBound
from afterwit.games.predictive_regret_matching_plus import PredictiveRegretMatchingPlusBound
from afterwit.games.regret_matching_plus import KeptRegretsBound, RegretMatchingPlusBound
from afterwit.games.solve import PLAYERS

ITERATIVE = aw.games.METHODS[:3]
games = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: npst.arrays(np.float64, shape, elements=st.floats(-10, 10, allow_subnormal=False))
)


def oracle(method, M, rounds):
    """Strategies of every round, the power of the weights, and the regrets kept."""
    if method == "exponential-weights":
        return naive.exponential_weights_game(M.tolist(), rounds), 0, None
    played, regrets = naive.regret_matching_game(M.tolist(), rounds, method.startswith("predictive"))
    return played, 2, regrets


def players_rounds(kind, M, rounds):
    spread = float(np.ptp(M))
    row, column = kind(M.shape[0], spread), kind(M.shape[1], spread)
    played = []
    for _ in range(rounds):
        p, q = row.strategy, column.strategy
        gains = p @ M
        row.learn(M @ q)
        if kind.alternates:
            p = row.strategy
            gains = p @ M
        column.learn(-gains)
        played.append((p, q))
    return played


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", PLAYERS)
def test_every_strategy_of_every_round(method, seed):
    M = np.random.default_rng(seed).standard_normal((4, 6))
    expected, _, _ = oracle(method, M, 60)
    for (p, q), (naive_p, naive_q) in zip(players_rounds(PLAYERS[method], M, 60), expected, strict=True):
        np.testing.assert_allclose(p, naive_p, atol=1e-9)
        np.testing.assert_allclose(q, naive_q, atol=1e-9)


def cost_of_turns(M, played):
    """What (p_{t+1} - p_t) . M q_t is on the weighted average."""
    weights = [t**2 for t in range(1, len(played) + 1)]
    before = [[1 / len(M)] * len(M), *(p for p, _ in played[:-1])]
    changes = ([a - b for a, b in zip(p, old, strict=True)] for (p, _), old in zip(played, before, strict=True))
    costs = [naive.dot(change, naive.times(M.tolist(), q)) for change, (_, q) in zip(changes, played, strict=True)]
    return naive.dot(weights, costs) / sum(weights)


@pytest.mark.parametrize("method", ITERATIVE[1:])
@pytest.mark.parametrize("rounds", [1, 2, 33])
def test_the_averages_are_what_is_returned(method, rounds):
    """Where the last averages are the best, they are the strategies, and the gap is theirs."""
    found = 0
    for seed in range(8):
        M = np.random.default_rng(seed).standard_normal((5, 4))
        played, power, regrets = oracle(method, M, rounds)
        p, q = naive.averages(played, power)
        solution = aw.solve_game(M, gap=0, method=method, max_rounds=rounds)
        assert solution.gap <= naive.gap(M, p, q) + 1e-12
        if np.allclose(solution.row_strategy, p, atol=1e-12) and np.allclose(solution.column_strategy, q, atol=1e-12):
            found += 1
            assert solution.gap == pytest.approx(naive.gap(M, p, q), abs=1e-12)
        if regrets is not None:
            assert solution.regrets == pytest.approx(regrets, rel=1e-9)
            assert solution.cost_of_turns == pytest.approx(cost_of_turns(M, played), rel=1e-9, abs=1e-15)
    assert found


@given(M=games)
def test_the_gap_of_the_averages_is_the_sum_of_the_regrets(M):
    """FML 8.16 with both players learning at once: an equality."""
    rounds = 20
    played = naive.exponential_weights_game(M.tolist(), rounds)
    p, q = naive.averages(played, 0)
    paid = sum(naive.dot(a, naive.times(M.tolist(), b)) for a, b in played)
    row_regret = paid - rounds * min(naive.times(M.tolist(), q))
    column_regret = rounds * max(naive.times(M.T.tolist(), p)) - paid
    assert naive.gap(M, p, q) == pytest.approx((row_regret + column_regret) / rounds, abs=1e-9)
    spread = float(np.ptp(M))
    assert row_regret <= spread * ExponentialWeightsBound.regret(M.shape[0], rounds) + 1e-9
    assert column_regret <= spread * ExponentialWeightsBound.regret(M.shape[1], rounds) + 1e-9


@pytest.mark.parametrize("method", ITERATIVE)
@given(M=games, rounds=st.integers(1, 60))
def test_the_bounds_hold(method, M, rounds):
    solution = aw.solve_game(M, gap=0, method=method, max_rounds=rounds)
    certificate = solution.certificate(M)
    for one in (certificate, *certificate.others):
        observed = one.theorem == PredictiveRegretMatchingPlusBound()
        hurt = observed and solution.cost_of_turns > 1e-9 * np.ptp(M)
        assert one.verdict is (Verdict.NOT_APPLICABLE if hurt or not solution.rounds else Verdict.HOLDS), one
        assert one.observed == pytest.approx(solution.gap, abs=1e-9)
    if solution.rounds:
        assert any(one.verdict is Verdict.HOLDS for one in (certificate, *certificate.others))


@pytest.mark.parametrize("predictive", [False, True])
@given(M=games, rounds=st.integers(1, 40))
def test_the_averages_themselves_obey_the_regret_matching_bounds(predictive, M, rounds):
    """Not the best strategies found on the way, but the averages that the proofs are about, by the oracle."""
    played, regrets = naive.regret_matching_game(M.tolist(), rounds, predictive)
    p, q = naive.averages(played, 2)
    cost = cost_of_turns(M, played)
    if not predictive:
        assert cost <= 1e-9
    assert naive.gap(M, p, q) <= KeptRegretsBound.bound(rounds, regrets, cost) + 1e-9
    theorem = PredictiveRegretMatchingPlusBound() if predictive else RegretMatchingPlusBound()
    assert naive.gap(M, p, q) <= theorem.bound(*M.shape, rounds, float(np.ptp(M))) + max(0.0, cost) + 1e-9


def test_formulas():
    assert ExponentialWeightsBound().bound(2, 2, 100, 3.0) == pytest.approx(
        3 * 2 * (2 * math.sqrt(50 * math.log(2)) + math.sqrt(math.log(2) / 8)) / 100
    )
    weight = 100**2 / sum(t**2 for t in range(1, 101))
    assert RegretMatchingPlusBound().bound(5, 10, 100, 3.0) == pytest.approx(weight * 3 * 10 * (2 + 3))
    assert PredictiveRegretMatchingPlusBound().bound(5, 10, 100, 3.0) == pytest.approx(2 * weight * 3 * 10 * (2 + 3))
    assert KeptRegretsBound.bound(100, 5.0, 0.25) == pytest.approx(weight * 5 + 0.25)
    assert KeptRegretsBound.bound(100, 5.0, -0.25) == pytest.approx(weight * 5), (
        "taking turns may help, and is not counted"
    )
    assert ExponentialWeightsBound().bound(1, 1, 5, 7.0) == RegretMatchingPlusBound().bound(1, 1, 5, 7.0) == 0


@given(st.integers(1, 300), st.integers(1, 50), st.integers(1, 50))
def test_a_rate_tuned_to_the_rounds_has_half_the_bound(rounds, rows, columns):
    tuned = SelfPlayBound()(rounds=rounds, row_actions=rows, column_actions=columns)
    assert tuned == pytest.approx(sum(math.sqrt(rounds / 2 * math.log(n)) for n in (rows, columns)) / rounds)
    assert 2 * tuned <= ExponentialWeightsBound().bound(rows, columns, rounds, 1.0) * (1 + 1e-12)
    assert SelfPlayBound().values(rounds=[1, 4], row_actions=2, column_actions=2)[0] >= tuned / 25


def test_a_gap_bound_above_the_spread_says_nothing():
    M = np.array([[0.0, 3.0], [1.0, 0.0]])
    few, many = (
        aw.solve_game(M, gap=0, method="regret-matching+", max_rounds=rounds).certificate(M) for rounds in (2, 5000)
    )
    first = next(one for one in (few, *few.others) if isinstance(one.theorem, RegretMatchingPlusBound))
    assert first.bound > 3
    assert first.vacuous
    assert "no gap is above the spread of the payoffs" in str(first)
    assert not many.vacuous


def test_what_follows_from_the_matrix_and_the_rounds_is_promised():
    M = np.array([[0.0, 3.0], [1.0, 0.0]])
    certificate = aw.solve_game(M, gap=1e-3, method="regret-matching+").certificate(M)
    for one in (certificate, *certificate.others):
        assert ("promised" in str(one)) == isinstance(one.theorem, RegretMatchingPlusBound)


def test_certificates_say_when_they_do_not_apply():
    saddle = np.array([[1.0, 0.0], [2.0, 1.0]])
    solution = aw.solve_game(saddle)
    assert solution.rounds == 0
    certificate = solution.certificate(saddle)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "the gap was reached before the first round" in str(certificate)
    with pytest.raises(InputError, match="M must be the matrix of the game, 2 x 2; received one of 2 x 3"):
        solution.certificate(np.zeros((2, 3)))
    with pytest.raises(InputError, match="lp has no certificate: a linear program is solved by pivots"):
        aw.solve_game(saddle, method="lp").certificate(saddle)


def test_a_certificate_looks_at_the_matrix_it_is_given():
    M = np.random.default_rng(0).standard_normal((6, 6))
    solution = aw.solve_game(M, gap=1e-4, method="regret-matching+")
    assert solution.certificate(M).observed <= 1e-4
    assert solution.certificate(M.T).observed > 1e-2
    receives = aw.solve_game(M, gap=1e-4, method="regret-matching+", maximize=True)
    assert receives.certificate(M).observed <= 1e-4


@pytest.mark.parametrize("method", list(PLAYERS))
@pytest.mark.parametrize("M", [[[1.0, 1 + 2.0**-52], [1 + 2.0**-52, 1.0]], [[1e-7, np.nextafter(1e-7, 0), 1e-7]]])
def test_payoffs_that_differ_in_the_last_digit_break_no_bound(method, M):
    """A strategy is kept if its bracket is better, which cannot be seen where payoffs are equal but for rounding."""
    for rounds in (1, 2, 5, 50):
        for maximize in (False, True):
            solution = aw.solve_game(M, gap=0.0, method=method, max_rounds=rounds, maximize=maximize)
            certificate = solution.certificate(M)
            for made in (certificate, *certificate.others):
                assert made.verdict is not Verdict.VIOLATED, (rounds, made)
