"""Beyond two thousand experts other loops run: they say the same."""

import numpy as np
import pytest

import afterwit as aw

EXPERTS = 3001


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


@pytest.mark.parametrize("options", [{"rate": 0.7}, {"schedule": "doubling"}, {"schedule": "decreasing"}], ids=str)
def test_exponential_weights(options):
    losses = np.random.default_rng(0).random((9, EXPERTS))
    losses[4, ::3] = np.nan
    learner = aw.ExponentialWeights(EXPERTS, loss="absolute", **options)
    total, rate = np.zeros(EXPERTS), np.sqrt(8 * np.log(EXPERTS))
    for t, row in enumerate(losses, 1):
        # Any state can be taken up again: what the loops remember beside it is found anew.
        learner = learner.copy()
        doubling = options.get("schedule") == "doubling"
        if doubling and t & (t - 1) == 0:
            total, rate = np.zeros(EXPERTS), np.sqrt(8 * np.log(EXPERTS) / t)
        now = options.get("rate", rate if doubling else np.sqrt(8 * np.log(EXPERTS) / t))
        np.testing.assert_allclose(learner.weights, softmax(-now * total), rtol=1e-10)
        awake = ~np.isnan(row)
        shares = softmax(np.where(awake, -now * total, -np.inf))
        mixed = shares[awake] @ row[awake]
        assert learner.observe(row) == pytest.approx(mixed)
        total += np.where(awake, row, mixed)


@pytest.mark.parametrize("name", ["AdaHedge", "SecondOrderWeights", "SleepingExperts", "BOA"])
def test_many_rounds_are_the_rounds_one_by_one(name):
    options = {"beta": 0.6} if name == "SecondOrderWeights" else {}
    losses = np.random.default_rng(1).random((5, EXPERTS))
    at_once, singly = (getattr(aw, name)(EXPERTS, **options) for _ in range(2))
    at_once.observe_many(losses)
    for row in losses:
        singly.observe(row)
    assert at_once == singly
    few = getattr(aw, name)(2000, **options)
    few.observe_many(losses[:, :2000])
    assert few.weights.sum() == pytest.approx(at_once.weights.sum()) == pytest.approx(1.0)
