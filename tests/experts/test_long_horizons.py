"""Fixed share without a horizon, and ML-Poly that forgets: bounds at every length, against all sequences of experts."""

import itertools
import math

import numpy as np
import pytest

import afterwit as aw
import naive_experts as naive
from afterwit.core.certificate import Verdict


def every(learner):
    certificate = learner.certificate()
    return {each.theorem.name: each for each in (certificate, *certificate.others)}


# ---------------------------------------------------------------------- fixed share with a decreasing share


def sequences(rounds, n):
    """Losses of 0, 1/2 and 1: all of them where they are few, else some at random."""
    random = np.random.default_rng(rounds + n)
    if 2 ** (rounds * n) <= 256:
        return [np.array(each, dtype=float).reshape(rounds, n) for each in itertools.product((0, 1), repeat=rounds * n)]
    return [random.integers(0, 3, (rounds, n)) / 2 for _ in range(40)]


@pytest.mark.parametrize("options", [{}, {"loss": "absolute"}, {"loss": "absolute", "shifts": 3}, {"rate": 0.7}])
@pytest.mark.parametrize(("rounds", "n"), [(1, 2), (2, 3), (4, 2), (5, 3), (7, 2)])
def test_every_sequence_of_experts_at_every_length(options, rounds, n):
    """The regret to the best of all sequences with m shifts, found by trying them, for every m and T at once."""
    for losses in sequences(rounds, n):
        learner = aw.FixedShare(n, **options)
        for t, row in enumerate(losses):
            learner.observe(row)
            made = every(learner)
            for m in range(t + 1):
                regret = learner.loss - naive.best_shifting(losses[: t + 1].tolist(), m)
                inputs = {"experts": n, "rounds": t + 1, "switches": m}
                if options.get("loss") == "absolute":
                    bound = aw.bounds.bound("fixed-share-anytime", tuned=options.get("shifts", 1), **inputs)
                    assert set(made) == {"tracking bound at any time"}
                else:
                    rate = options.get("rate", 0.5)
                    bound = aw.bounds.bound("fixed-share-decreasing", rate=rate, **inputs)
                assert regret <= bound + 1e-12
            assert all(each.verdict is Verdict.HOLDS for each in made.values())


@pytest.mark.parametrize(("loss", "rate"), [("log", 1.0), ("square", 0.5)])
def test_exp_concave_losses_against_every_sequence(loss, rate):
    random = np.random.default_rng(5)
    for n, rounds in ((2, 7), (3, 5)):
        for _ in range(30):
            advice = random.choice([0.02, 0.3, 0.5, 0.98], (rounds, n))
            outcomes = random.integers(0, 2, rounds).astype(float)
            learner = aw.FixedShare(n, loss=loss)
            learner.learn_many(advice, outcomes)
            lost = [
                [naive.loss_of(loss, f, y) for f in row] for row, y in zip(advice.tolist(), outcomes, strict=True)
            ]
            for m in range(rounds):
                bound = (m + 1) * math.log(n * rounds) / rate
                assert learner.loss - naive.best_shifting(lost, m) <= bound + 1e-12
            assert learner.certificate().theorem.name == "exp-concave tracking bound"
            assert math.isclose(learner.certificate().bound, math.log(n * rounds) / rate)


def test_a_leader_that_was_perfect_is_left_within_a_few_rounds():
    """The best of 10,000 rounds is wrong from then on: the log loss of the sequence that changes is 0, and ours small."""
    first, second = 0.999, 0.001
    tracking, fixed = aw.FixedShare(2, loss="log", shifts=1), aw.ExponentialWeights(2, loss="log")
    for learner in (tracking, fixed):
        learner.learn_many(np.tile([first, second], (10_000, 1)), np.ones(10_000))
        learner.learn_many(np.tile([first, second], (100, 1)), np.zeros(100))
    certificate = tracking.certificate()
    assert certificate.observed <= certificate.bound == 2 * math.log(2 * 10_100)
    assert certificate.observed < 20 < 600 < fixed.loss - certificate.hindsight.value


def test_a_sleeper_is_shown_the_loss_of_the_forecast_where_the_loss_is_exp_concave():
    """Shown the mixture's loss, the third expert would have a regret above the bound."""
    learner = aw.FixedShare(3)
    for t in range(400):
        learner.learn_one([0.0, 1.0, np.nan], t % 2)
    for _ in range(100):
        learner.learn_one([0.0, 0.0, 1.0], 1.0)
    certificate = every(learner)["exp-concave tracking bound"]
    assert certificate.verdict is Verdict.HOLDS
    assert learner.regret <= certificate.bound == math.log(3 * 500) / 0.5
    shared = aw.FixedShare(3, share=0.01, rate=0.5)
    shared.learn_one([0.0, 1.0, np.nan], 1.0)
    assert "exp-concave tracking bound" not in every(shared), "it is shown the mixture's loss"


def test_the_log_loss_needs_no_range_where_the_share_decreases():
    learner = aw.FixedShare(2, loss="log")
    learner.learn_one([1e-300, 1 - 1e-15], 1.0)
    assert learner.parameters["loss_range"] is None
    assert learner.certificate().verdict is Verdict.HOLDS
    too_fast = aw.FixedShare(2, loss="log", rate=1.5)
    too_fast.learn_one([0.1, 0.9], 1.0)
    assert too_fast.certificate().verdict is Verdict.NOT_APPLICABLE
    watching = aw.FixedShare(2, loss="log")
    watching.observe([0.0, 9.0])
    assert watching.certificate().why_not() == ["in 1 round only losses were known"]
    assert aw.FixedShare(2, loss="log", share=0.1, rate=1.0).parameters["loss_range"] == (0.0, 1.0)
