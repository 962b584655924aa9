"""Forecasts next to 0 and 1 under the log loss: the loss depends on 1 - f, which f itself, rounded, has forgotten."""

import math

import numpy as np
import pytest

import afterwit as aw
import naive_experts as naive
from afterwit.core.certificate import Verdict
from afterwit.experts import play
from expert_cases import plain

#: Every expert algorithm in a setting in which it forecasts a mean under the log loss.
LEARNERS = {
    "ExponentialWeights": {},
    "ExponentialWeights, slow": {"rate": 0.3},
    "ExponentialWeights, ranged": {"loss_range": (0.0, 60.0)},
    "SecondOrderWeights": {"beta": 0.6, "loss_range": (0.0, 60.0)},
    "FixedShare": {"share": 0.1, "rate": 1.0, "loss_range": (0.0, 60.0)},
    "PolynomialWeights": {},
    "AdaHedge": {"gradient": False},
    "BOA": {"gradient": False},
    "MLpol": {"gradient": False},
    "PolynomialWeights, slopes": {"gradient": True},
    "AdaHedge, slopes": {"gradient": True},
    "BOA, slopes": {"gradient": True},
    "MLpol, slopes": {"gradient": True},
}


def make(name, n):
    return getattr(aw, name.split(",")[0])(n, loss="log", **LEARNERS[name])


def confident(random, rounds, n, asleep=0.0):
    """Advice from next to 0 to next to 1, and outcomes that agree for a while, then do not."""
    near = 10.0 ** random.uniform(-22, -0.3, (1 if random.random() < 0.5 else rounds, n))
    advice = np.where(random.random(near.shape) < 0.5, near, np.minimum(1 - near, 1 - 2.0**-53))
    advice = np.broadcast_to(advice, (rounds, n)).copy()
    turn = int(random.integers(0, rounds + 1))
    outcomes = np.r_[np.ones(turn), np.zeros(rounds - turn)]
    if random.random() < 0.3:
        outcomes = (random.random(rounds) < random.random()).astype(float)
    sleepers = random.random(advice.shape) < asleep
    sleepers[np.arange(rounds), random.integers(0, n, rounds)] = False
    advice[sleepers] = np.nan
    return advice, outcomes


def test_the_regret_of_a_sure_expert_that_errs_is_at_most_ln_n():
    """91 rounds in which the first expert is nearly certain, and right; then 6 in which it is wrong."""
    advice = np.tile([1 - 1.2e-16, 0.3], (97, 1))
    outcomes = np.r_[np.ones(91), np.zeros(6)]
    learner = aw.ExponentialWeights(2, loss="log")
    learner.learn_many(advice, outcomes)
    assert math.isclose(learner.loss, naive.bayes_loss(advice.tolist(), outcomes.tolist()), rel_tol=1e-13)
    assert math.isclose(learner.regret, math.log(2), rel_tol=1e-11)
    assert learner.certificate(advice, outcomes).verdict is Verdict.HOLDS


def test_the_loss_is_that_of_the_mean_of_probabilities_in_exact_arithmetic():
    """At rate 1 the loss of all rounds together has a closed form, however near 0 and 1 the forecasts are."""
    random = np.random.default_rng(2)
    for _ in range(2000 if aw.compiled else 100):
        n, rounds = int(random.integers(2, 5)), int(random.integers(1, 60))
        advice, outcomes = confident(random, rounds, n)
        learner = aw.ExponentialWeights(n, loss="log")
        learner.learn_many(advice, outcomes)
        expected = naive.bayes_loss(advice.tolist(), outcomes.tolist())
        size = max(expected, float(learner.expert_losses.max()))
        assert abs(learner.loss - expected) <= 1e-12 * size
        assert learner.regret <= math.log(n) + 1e-12 * size
        certificate = learner.certificate(advice, outcomes)
        assert certificate.verdict is Verdict.HOLDS, str(certificate)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_algorithm_counts_the_loss_and_the_slopes_of_its_mean(name):
    """In every round, by its own shares; to the digits of the loss, not to those of 1."""
    random = np.random.default_rng(3)
    for _ in range(60 if aw.compiled else 6):
        n, rounds = int(random.integers(1, 5)), int(random.integers(1, 30))
        advice, outcomes = confident(random, rounds, n, asleep=0.2 * (random.random() < 0.5))
        learner = make(name, n)
        record = play(learner, advice, outcomes)
        gains = np.zeros(n)
        sizes = np.zeros(n)
        for shares, row, outcome, own in zip(record.shares, advice, outcomes, record.losses, strict=True):
            expected = naive.mixed_log_loss(shares.tolist(), plain(row), outcome)
            assert math.isclose(own, expected, rel_tol=1e-13)
            tangents = np.array(naive.log_tangents(shares.tolist(), plain(row), outcome))
            gains -= tangents
            sizes += np.abs(tangents) + 1
        if learner._setting().gradient:
            assert (np.abs(learner.state()["slope_regrets"] - gains) <= 1e-13 * rounds * sizes).all()
        made = learner.certificate(advice, outcomes)
        for certificate in (made, *made.others):
            assert certificate.verdict is not Verdict.VIOLATED, str(certificate)


def test_the_forecast_stays_a_number_between_those_of_the_experts():
    learner = aw.ExponentialWeights(2, loss="log")
    forecasts = learner.learn_many(np.tile([1 - 2.0**-53, 1 - 2.0**-52], (5, 1)), np.ones(5))
    assert ((forecasts >= 1 - 2.0**-52) & (forecasts <= 1 - 2.0**-53)).all()


def test_the_best_mixture_of_sure_experts_is_judged_by_what_is_left_to_1():
    """Losses near 1e-17 are sums of the experts' own, not of the rounding of 1; the gap says what is known of them."""
    advice = np.tile([1e-17, 3e-17], (50, 1))
    found = aw.hindsight.best_convex_combination(advice, np.zeros(50), loss="log")
    assert math.isclose(found.loss, float((advice @ found.vector).sum()), rel_tol=1e-9)
    assert found.loss - found.gap <= 50e-17 * (1 + 1e-9)
