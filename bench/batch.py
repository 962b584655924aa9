"""Penalised selection over 100,000 rounds of the perceptron at dimension 1,000, beside what it may cost.

Allowed are five times the plain pass and one prediction pass for each hypothesis in contention. Printed besides: how
many hypotheses there were, how many were in contention, and how much memory it took at most on top of the examples.
"""

import tracemalloc

import numpy as np

import afterwit as aw

ROUNDS, DIMENSION = 100_000, 1000


def batch_cases(best_times):
    for noise in (0.0, 0.02):
        random = np.random.default_rng(0)
        target = random.standard_normal(DIMENSION)
        X = random.standard_normal((ROUNDS, DIMENSION))
        y = np.where((X @ target >= 0) ^ (random.random(ROUNDS) < noise), 1, -1)
        hypothesis = aw.Perceptron()
        hypothesis.learn_many(X, y)
        times = best_times({"pass": lambda: aw.Perceptron().learn_many(X, y)}, 5)
        times.update(best_times({"prediction": lambda: hypothesis.predict_many(X)}, 5))
        predictor = None

        def ours():
            nonlocal predictor
            predictor = aw.batch.penalized_selection(aw.Perceptron(), X, y)

        taken = best_times({"afterwit": ours}, 1)["afterwit"]
        inputs = predictor.certificate.inputs
        allowed = 5 * times["pass"] + inputs["in contention"] * times["prediction"]
        tracemalloc.start()
        ours()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        weights = 8 * DIMENSION * inputs["hypotheses"]
        print(
            f"penalised selection, {noise:.0%} noise: {inputs['hypotheses']:,} hypotheses, {inputs['in contention']:,} in "
            f"contention; a plain pass {times['pass'] * 1e3:.0f} ms, a prediction pass {times['prediction'] * 1e3:.0f} ms; "
            f"memory {peak / 1e6:.0f} MB, all hypotheses would be {weights / 1e6:.0f} MB; "
            f"bound {predictor.certificate.bound:.4f}",
            flush=True,
        )
        yield (
            f"penalised selection, {noise:.0%} noise",
            {"afterwit": taken, "what it may cost": allowed},
            {"what it may cost": 1.0},
        )
