"""The Gaussian kernel perceptron on scanned digits, one against the rest, beside a loop that spells the sums out."""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import afterwit as aw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import naive_kernels

WIDTH = 20.0


def kernel_case(best_times):
    digits = load_digits()
    X, y = digits.data, digits.target
    learner = aw.OneVsRest(aw.KernelPerceptron(aw.kernels.gaussian(width=WIDTH)))
    predicted = learner.learn_many(X, y)
    wrong = np.count_nonzero([guess != label for guess, label in zip(predicted, y, strict=True)])
    print(f"Gaussian kernel perceptron on {len(y):,} digits, one pass: {1 - wrong / len(y):.2%} right", flush=True)

    def ours():
        aw.OneVsRest(aw.KernelPerceptron(aw.kernels.gaussian(width=WIDTH))).learn_many(X, y)

    def naive():
        rows = X.tolist()
        for digit in range(10):
            signs = [1 if label == digit else -1 for label in y.tolist()]
            naive_kernels.gaussian_perceptron_on_lists(rows, signs, WIDTH)

    times = best_times({"afterwit": ours}, 3)
    times.update(best_times({"naive loop": naive}, 1))
    yield "kernel perceptron, digits", times, {"naive loop": 20.0}
