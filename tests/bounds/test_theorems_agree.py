"""A formula that can be asked for by name is the one that certificates use."""

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.theorem import Theorem

LOSSES = np.random.default_rng(0).random((30, 4))
LABELS = np.random.default_rng(1).integers(0, 2, (30, 4)).astype(float)


def line_of(learner, name):
    certificate = learner.certificate()
    return next(made for made in (certificate, *certificate.others) if made.theorem.name == name)


@pytest.mark.parametrize(
    ("learner", "theorem", "name", "inputs"),
    [
        (aw.ExponentialWeights(4, loss="absolute", rate=0.3), "fixed rate bound", "exponential-weights", {"rate": 0.3}),
        (aw.ExponentialWeights(4, loss="absolute", horizon=30), "fixed rate bound", "exponential-weights-tuned", {}),
        (aw.ExponentialWeights(4, schedule="doubling"), "doubling bound", "exponential-weights-doubling", {}),
        (
            aw.ExponentialWeights(4, schedule="decreasing"),
            "decreasing rate bound",
            "exponential-weights-decreasing",
            {},
        ),
        (aw.RandomizedWeightedMajority(4, horizon=30), "horizon bound", "randomized-weighted-majority-tuned", {}),
        (aw.SecondOrderWeights(4, horizon=30), "horizon bound", "second-order-tuned", {}),
        (
            aw.SecondOrderWeights(4, beta=0.7),
            "general second-order bound",
            "second-order-alpha",
            {"beta": 0.7, "alpha": 1.4},
        ),
        (
            aw.PolynomialWeights(4, power=3, loss_range=(0, 1)),
            "polynomial bound",
            "polynomial",
            {"power": 3, "loss_range": 1},
        ),
        (
            aw.FixedShare(4, share=0.1, rate=0.5, shifts=2),
            "tracking bound",
            "fixed-share",
            {"share": 0.1, "rate": 0.5, "switches": 2},
        ),
        (
            aw.FixedShare(4, rate=0.5, shifts=2),
            "tracking bound, decreasing share",
            "fixed-share-decreasing",
            {"rate": 0.5, "switches": 2},
        ),
        (
            aw.FixedShare(4, loss="absolute", shifts=2),
            "tracking bound at any time",
            "fixed-share-anytime",
            {"switches": 2, "tuned": 2},
        ),
        (aw.FixedShare(4, loss="absolute"), "tracking bound at any time", "fixed-share-anytime", {"switches": 0}),
        (aw.Exp3(4, rate=0.2), "bandit bound", "exp3", {"rate": 0.2}),
        (aw.Exp3(4, horizon=30), "bandit bound", "exp3-tuned", {}),
        (aw.Exp3(4), "bandit bound at a decreasing rate", "exp3-decreasing", {}),
        (
            aw.SwapRegret(aw.ExponentialWeights(4, rate=0.3)),
            "swap regret at a fixed rate",
            "swap-regret",
            {"rate": 0.3},
        ),
    ],
)
def test_of_rounds_alone(learner, theorem, name, inputs):
    learner.observe_many(LOSSES)
    promised = aw.bounds.bound(name, experts=4, rounds=30, **inputs)
    assert line_of(learner, theorem).bound == pytest.approx(promised)


def test_swap_regret_over_exponential_weights_for_a_horizon():
    learner = aw.SwapRegret(aw.ExponentialWeights(3, horizon=50))
    learner.observe_many(np.random.default_rng(2).random((50, 3)))
    rate = np.sqrt(8 * np.log(3) / 50)
    promised = aw.bounds.bound("swap-regret", experts=3, rounds=50, rate=rate)
    assert learner.certificate().bound == pytest.approx(promised) == pytest.approx(10.48, abs=0.01)
    best = aw.SwapRegret(aw.ExponentialWeights(3, rate=np.sqrt(8 * 3 * np.log(3) / 50)))
    best.observe_many(np.random.default_rng(2).random((50, 3)))
    promised = aw.bounds.bound("swap-regret-tuned", experts=3, rounds=50)
    assert best.certificate().bound == pytest.approx(promised)
    assert best.certificate().bound < learner.certificate().bound


def test_of_the_best_expert():
    vote = aw.WeightedMajority(4, beta=0.4)
    vote.learn_many(LABELS, LABELS[:, 0])
    best = float(vote.expert_losses.min())
    promised = aw.bounds.bound("weighted-majority", experts=4, best_mistakes=best, beta=0.4)
    assert vote.certificate().bound == pytest.approx(promised)
    draw = aw.RandomizedWeightedMajority(4, beta=0.7)
    draw.observe_many(LABELS)
    least = float(draw.expert_losses.min())
    promised = aw.bounds.bound("randomized-weighted-majority", experts=4, beta=0.7, best_loss=least)
    assert line_of(draw, "expected loss bound").bound == pytest.approx(promised)
    rules = aw.SleepingExperts(1, epsilon=0.2)
    rules.observe_many(LABELS[:, :1])
    promised = aw.bounds.bound("sleeping", experts=1, expert_mistakes=float(rules.expert_losses[0]), epsilon=0.2)
    assert rules.certificate().bound == pytest.approx(promised)


# ---------------------------------------------------------------------- what theorems claim about themselves

#: The bound follows from what the learner was made with and the number of rounds: certificates say "promised".
BEFOREHAND = """
    batch.ControlledTesting batch.RandomStopping boosting.SharperTrainingMistakesBound
    boosting.TrainingMistakesBound boosting.WrongVotesBound concepts.HalvingBound concepts.OptimalBound
    experts.AnytimeTrackingBound experts.BanditBound experts.BanditTheorem experts.DecreasingBanditBound experts.DecreasingPerturbationBound
    experts.DecreasingRateBound experts.DecreasingRatePathBound experts.DecreasingShareBound experts.DiscountedRangedBound experts.DoublingBound experts.ExpConcaveBound experts.ExpConcaveTrackingBound
    experts.FixedRateBound experts.FixedRatePathBound experts.FixedRateSwapBound experts.GeneralSecondOrderBound
    experts.AggregatingBound experts.HorizonBound experts.KalaiVempalaBound experts.LeaderBound experts.PerturbedLeaderBound
    experts.RandomizedHorizonBound experts.RangedBernsteinBound experts.RangedPolynomialBound experts.TrackingBound
    experts.TunedBanditBound experts.TunedPathBound experts.TunedPerturbationBound experts.TunedUniformNoiseBound
    experts.UniformNoiseBound experts.WholeRunBound games.ExponentialWeightsBound games.GapBound games.PredictiveRegretMatchingPlusBound
    games.RegretMatchingPlusBound portfolios.SampledPortfoliosBound portfolios.UniversalPortfolioBound
    reductions.AdaptiveCoverageBound reductions.AdaptiveUncoveredBound
"""

#: The bound looks at what the learner did, and not only at the sequence: such a one never comes first.
AFTERWARDS = """
    batch.AverageError batch.AverageExcess batch.AverageLoss batch.KernelMarginBound batch.PenalizedEstimate
    batch.PenalizedSelection batch.ProgressiveBound batch.ProgressiveStopping boosting.ObservedErrorsBound
    concepts.EliminationBound experts.BernsteinBound experts.DiscountedPotentialBound experts.LateBound experts.LateExpConcaveBound
    experts.PolynomialPotentialBound experts.RegretNormBound
    games.KeptRegretsBound kernels.BudgetBound linear.AdaptiveBound linear.EuclideanHingeBound
    linear.LateBallBound linear.LateObservedBound linear.MeasuredHingeBound linear.MeasuredMarginBound
    linear.MistakesFromLoss linear.MixedTotalBound
    linear.MulticlassEuclideanHingeBound linear.MulticlassSimpleUpdateHingeBound linear.MulticlassUpdateHingeBound
    linear.ObservedBallBound linear.ObservedGradientsBound linear.SVMLeaveOneOutBound linear.ScaleFreeBound
    linear.SelectiveUpdateBound linear.SimpleUpdateHingeBound linear.SoftmaxBound linear.SoftmaxMistakes
    linear.CutOffScaleFreeBound reductions.MixtureBound reductions.TrackingCoverageBound reductions.TrackingUncoveredBound
    linear.TrainedBound linear.UpdateHingeBound portfolios.AdaptiveSlopesBound
"""


def theorems(kind=Theorem):
    for each in kind.__subclasses__():
        if each.__module__.startswith("afterwit."):
            yield each
            yield from theorems(each)


def test_what_was_known_when_is_as_the_proofs_say():
    """A claim is one word in a class, and a wrong one makes a promise of what was only seen afterwards."""
    assert aw.bounds.BOUNDS  # collecting them imports every family
    found = {f"{each.__module__.split('.')[1]}.{each.__name__}": each for each in theorems()}
    assert {name for name, each in found.items() if each.beforehand} == set(BEFOREHAND.split())
    assert {name for name, each in found.items() if not each.foreseeable} == set(AFTERWARDS.split())
    assert not set(BEFOREHAND.split()) & set(AFTERWARDS.split())
