"""Learners of paths: a grid whose paths nobody could list, and the perturbed leader of a few experts."""

import sys
from pathlib import Path

import numpy as np

import afterwit as aw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import naive_paths


def grid(side):
    edges = [((i, j), (i + 1, j)) for i in range(side - 1) for j in range(side)]
    return edges + [((i, j), (i, j + 1)) for i in range(side) for j in range(side - 1)]


def naive_case(best_times):
    """A grid small enough to list its paths."""
    edges = grid(5)
    costs = np.random.default_rng(0).random((50, len(edges)))
    ends = ((0, 0), (4, 4))

    def naive():
        oracle = naive_paths.ExponentialWeightsOverPaths(edges, *ends, lambda _: 0.3)
        for row in costs.tolist():
            oracle.learn(row)

    times = best_times({"afterwit": lambda: aw.OnlineShortestPath(edges, *ends, rate=0.3).learn_many(costs)}, 3)
    times.update(best_times({"every path, exactly": naive}, 1))
    return "online shortest path, 70 paths, 50 rounds", times, {}


def path_cases(best_times):
    yield naive_case(best_times)
    edges = grid(71)
    costs = np.random.default_rng(0).random((200, len(edges)))
    losses = np.random.default_rng(1).random((8000, 20))
    paths, leader = aw.OnlineShortestPath(edges, horizon=10**6), aw.FollowThePerturbedLeader(edges=edges, horizon=10**6)

    def one_by_one():
        for row in costs:
            paths.predict_one()
            paths.learn_one(row)

    experts = [
        (f"online shortest path, {len(edges):,} edges", len(costs), lambda: paths.learn_many(costs)),
        ("  predict_one and learn_one", len(costs), one_by_one),
        ("  certificate", 1, paths.certificate),
        (f"perturbed leader, {len(edges):,} edges", len(costs), lambda: leader.observe_many(costs)),
        ("perturbed leader, 20 experts", len(losses), lambda: aw.FollowThePerturbedLeader(20).observe_many(losses)),
    ]
    for title, rounds, action in experts:
        times = best_times({"afterwit": action}, 3)
        print(f"{title}: {times['afterwit'] / rounds * 1e6:,.1f} microseconds a round", flush=True)
        yield title.strip(), times, {}


if __name__ == "__main__":
    from run import best_times, show

    for case in path_cases(best_times):
        show(*case)
