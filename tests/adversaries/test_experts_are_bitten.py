"""Lower bounds bite every expert algorithm there is, as exactly as they can."""

import itertools
import math

import numpy as np
import pytest

import afterwit as aw
from afterwit import adversaries

ROUNDS = 8
ALGORITHMS = {
    "AdaHedge": lambda: aw.AdaHedge(2, loss="zero-one"),
    "BOA": lambda: aw.BOA(2, loss="zero-one"),
    "Exp3": lambda: aw.Exp3(2, seed=5),
    "ExponentialWeights": lambda: aw.ExponentialWeights(2, loss="zero-one", horizon=ROUNDS),
    "FixedShare": lambda: aw.FixedShare(2, loss="zero-one", share=0.1, rate=0.5),
    "MLpol": lambda: aw.MLpol(2, loss="zero-one"),
    "PolynomialWeights": lambda: aw.PolynomialWeights(2, loss="zero-one"),
    "RandomizedWeightedMajority": lambda: aw.RandomizedWeightedMajority(2, horizon=ROUNDS),
    "SecondOrderWeights": lambda: aw.SecondOrderWeights(2, horizon=ROUNDS),
    "SleepingExperts": lambda: aw.SleepingExperts(2),
    "StronglyAdaptive": lambda: aw.StronglyAdaptive(2, loss="zero-one"),
    "SwapRegret": lambda: aw.SwapRegret(aw.ExponentialWeights(2, horizon=ROUNDS)),
    "WeightedMajority": lambda: aw.WeightedMajority(2),
    "FollowThePerturbedLeader": lambda: aw.FollowThePerturbedLeader(2, horizon=ROUNDS, seed=5),
}


def test_none_was_forgotten():
    # The losses of the aggregating algorithm are mixable: coins cost it next to nothing.
    assert set(ALGORITHMS) == {*aw.EXPERT_ALGORITHMS, "FollowThePerturbedLeader"} - {"AggregatingAlgorithm"}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_on_two_random_experts_the_mean_regret_is_that_of_every_algorithm(name):
    # Over all sequences of coins, not a sample of them: so the mean is the expectation itself.
    advice = np.tile([0.0, 1.0], (ROUNDS, 1))
    regrets = []
    for coins in itertools.product((0.0, 1.0), repeat=ROUNDS):
        outcomes = np.array(coins)
        learner = ALGORITHMS[name]()
        if name == "FollowThePerturbedLeader":
            learner.observe_many(np.abs(advice - outcomes[:, np.newaxis]))
        else:
            learner.learn_many(advice, outcomes)
        regrets.append(learner.regret)
    promised = adversaries.two_random_experts(ROUNDS, seed=0)
    assert np.mean(regrets) == pytest.approx(promised.expected_regret, abs=1e-9)
    assert np.mean(regrets) >= math.sqrt(ROUNDS / 8)


def test_a_vote_without_chance_loses_every_round_to_the_contrary_adversary():
    learner = aw.WeightedMajority(2)
    game = adversaries.contrary(learner, 40)
    assert game.loss == learner.mistakes == 40
    assert game.regret == 20


def test_mixing_escapes_the_contrary_adversary():
    learner = aw.ExponentialWeights(2, loss="absolute", horizon=400)
    game = adversaries.contrary(learner, 400)
    assert game.regret == pytest.approx(learner.regret)
    assert game.regret <= learner.certificate().bound < 200
