"""The margin bound of kernel perceptrons on new data, and the inequality behind it."""

import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.batch import kernel_margin_bound, penalized_selection
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError


def problem(rounds=150, noise=0.1, seed=1):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, 3))
    return X, np.where((X[:, 0] >= 0) ^ (random.random(rounds) < noise), 1, -1)


@pytest.mark.parametrize(
    "learner",
    [
        aw.Perceptron(),
        aw.Perceptron(rate=0.2, intercept=True),
        aw.DualPerceptron(),
        aw.KernelPerceptron(),
        aw.KernelPerceptron(aw.kernels.gaussian(width=2.0)),
    ],
    ids=lambda learner: repr(learner).partition(":")[0],
)
def test_the_bound_is_the_formula_and_never_below_that_of_the_selection(learner):
    X, y = problem()
    wrong = learner.copy().learn_many(X, y) != y
    learner.learn_many(X, y)
    found = kernel_margin_bound(learner, X, y, 0.1)
    kernel = getattr(learner, "kernel", None)
    ones = learner.parameters.get("intercept", False)
    squares = (X**2).sum(axis=1) + ones if kernel is None else np.array([kernel(x, x) for x in X])
    total = squares[wrong].sum()
    inputs = found.inputs
    assert inputs["sum of K"] == pytest.approx(total)
    extra = 6 * math.sqrt(math.log(2 * 151 / 0.1) / 150)
    assert found.bound == pytest.approx((inputs["L"] + inputs["|u|"] * math.sqrt(total)) / 150 + extra)
    # (a) of the exercise
    assert learner.mistakes <= inputs["L"] + inputs["|u|"] * math.sqrt(total) + 1e-9
    selected = penalized_selection(type(learner)(**learner.parameters), X, y, delta=0.1).certificate
    (by_mean,) = [each for each in (selected, *selected.others) if each.theorem.name == "penalised selection"]
    assert by_mean.bound <= found.bound + 1e-12
    assert found.verdict is Verdict.HOLDS
    assert pytest.approx(learner.mistakes / 150) == found.observed


def test_it_applies_to_one_pass_of_the_rows_it_learned():
    X, y = problem()
    learner = aw.Perceptron()
    learner.learn_many(X, y)
    assert kernel_margin_bound(learner, X[:-1], y[:-1]).verdict is Verdict.NOT_APPLICABLE
    learner.learn_many(X, y)
    twice = kernel_margin_bound(learner, X, y)
    assert twice.verdict is Verdict.NOT_APPLICABLE
    assert "300 rounds, 150 examples" in str(twice)
    started = aw.Perceptron(start=[1.0, 0.0, 0.0])
    started.learn_many(X, y)
    assert kernel_margin_bound(started, X, y).verdict is Verdict.NOT_APPLICABLE
    budget = aw.KernelPerceptron(budget=3)
    budget.learn_many(X, y)
    assert kernel_margin_bound(budget, X, y).verdict is Verdict.NOT_APPLICABLE


def test_bad_input():
    with pytest.raises(InputError, match="learner must be a KernelPerceptron"):
        kernel_margin_bound(aw.SGD(), [[1.0]], [1])
    with pytest.raises(InputError, match="delta must be"):
        kernel_margin_bound(aw.Perceptron(), [[1.0]], [1], 2)
    with pytest.raises(InputError, match="X must be at least one example; received none"):
        kernel_margin_bound(aw.Perceptron(), np.zeros((0, 2)), [])
