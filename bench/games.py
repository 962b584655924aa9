"""Zero-sum games beside nashpy's linear program and OpenSpiel's regret matching; boosting with stumps beside trees."""

import importlib.util

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import afterwit as aw


def gaussian(size):
    return np.random.default_rng(0).standard_normal((size, size))


def gap_of(M, p, q):
    return (p @ M).max() - (M @ q).min()


def told(title, solution, seconds):
    """One line about one game: what was wanted and what it took."""
    goal = f"under {seconds:g} s: {'reached' if solution.reached and solution.seconds < seconds else 'NOT REACHED'}"
    took = f"{solution.rounds:,} rounds, {solution.seconds:.3f} s"
    print(f"{title}: certified gap {solution.gap:.3g} after {took} ({goal})", flush=True)


def large_games():
    for size, gap, seconds in ((1000, 1e-3, 2.0), (5000, 1e-2, 20.0)):
        M = gaussian(size)
        best = min((aw.solve_game(M, gap=gap) for _ in range(3)), key=lambda solution: solution.seconds)
        told(f"Gaussian game of {size} x {size} to {gap:g}", best, seconds)
    M = gaussian(1000)
    told("Gaussian game of 1000 x 1000 to 1e-9", aw.solve_game(M, gap=1e-9), 60.0)
    for method in aw.games.METHODS[1:3]:
        told(f"the same to 0.05 by {method}", aw.solve_game(M, gap=0.05, method=method), 60.0)


def game_cases(best_times):
    large_games()
    M = gaussian(1000)
    contestants = {"afterwit": lambda: aw.solve_game(M, gap=1e-3)}
    if importlib.util.find_spec("open_spiel") is None:
        print("OpenSpiel is not installed, and left out", flush=True)
    else:
        from open_spiel.python.algorithms.regret_matching import regret_matching

        payoffs = np.stack([-M, M])
        reached = gap_of(M, *regret_matching(payoffs, iterations=500))
        print(f"OpenSpiel's regret matching on it: gap {reached:.3g} after 500 rounds", flush=True)
        contestants["OpenSpiel, 500 rounds"] = lambda: regret_matching(payoffs, iterations=500)
    yield "Gaussian game 1000 x 1000, gap 1e-3", best_times(contestants, 3), {}
    small = gaussian(300)
    contestants = {
        "afterwit": lambda: aw.solve_game(small, gap=1e-9),
        "afterwit, lp (HiGHS)": lambda: aw.solve_game(small, gap=1e-6, method="lp"),
    }
    if importlib.util.find_spec("nashpy") is None:
        print("nashpy is not installed, and left out", flush=True)
    else:
        import nashpy

        contestants["nashpy, linear program"] = nashpy.Game(-small).linear_program
    yield "Gaussian game 300 x 300, gap 1e-9", best_times(contestants, 2), {}


def boosting_case(best_times):
    X, y = load_breast_cancer(return_X_y=True)

    def boost(weak=None):
        return aw.Boosting(weak, gamma=0.1, rounds=41, labels=(0, 1)).fit(X, y)

    times = best_times(
        {"afterwit": boost, "trees of depth 1": lambda: boost(DecisionTreeClassifier(max_depth=1))}, repetitions=5
    )
    yield "boosting 41 stumps, 569 x 30", times, {"trees of depth 1": 2.0}
