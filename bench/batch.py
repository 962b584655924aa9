"""Penalised selection over 100,000 rounds of the perceptron at dimension 1,000, beside what it may cost.

Allowed are five times the plain pass and one prediction pass for each hypothesis in contention. Beside it, what the
predictions that it made would have cost hypothesis by hypothesis. Printed besides: how many hypotheses there were, how
many were in contention, and how much memory it took at most on top of the examples.
"""

import tracemalloc

import numpy as np

import afterwit as aw
from afterwit.batch._rounds import Block
from afterwit.batch.penalized_selection import race_of

ROUNDS, DIMENSION, NOISE = 100_000, 1000, 0.02


def batch_cases(best_times):
    random = np.random.default_rng(0)
    target = random.standard_normal(DIMENSION)
    X = random.standard_normal((ROUNDS, DIMENSION))
    y = np.where((X @ target >= 0) ^ (random.random(ROUNDS) < NOISE), 1, -1)
    hypothesis = aw.Perceptron()
    hypothesis.learn_many(X, y)
    passes = {"learn": lambda: aw.Perceptron().learn_many(X, y), "predict": lambda: hypothesis.predict_many(X)}
    times = best_times(passes, 5)
    found = []
    taken = best_times({"afterwit": lambda: found.append(aw.batch.penalized_selection(aw.Perceptron(), X, y))}, 1)
    inputs, bound = found[0].certificate.inputs, found[0].certificate.bound
    tracemalloc.start()
    race = race_of(aw.Perceptron(), Block(X, y), 0.05, None, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"penalised selection: {inputs['hypotheses']:,} hypotheses, "
        f"{inputs['in contention']:,} in contention, {race.predictions / ROUNDS:,.0f} passes of predictions; "
        f"a plain pass takes {times['learn'] * 1e3:.0f} ms, one of predictions {times['predict'] * 1e3:.0f} ms; "
        f"memory {peak / 1e6:.0f} MB, all hypotheses would be {8e-6 * DIMENSION * inputs['hypotheses']:.0f} MB; "
        f"bound {bound:.4f}",
        flush=True,
    )
    costs = {
        "afterwit": taken["afterwit"],
        "what it may cost": 5 * times["learn"] + inputs["in contention"] * times["predict"],
        "its predictions, singly": race.predictions / ROUNDS * times["predict"],
    }
    yield "penalised selection, 100,000 x 1,000", costs, {"what it may cost": 1.0}
