"""Verdicts near the bound: rounding is judged by the size and number of what was added up, at every scale."""

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import Verdict, evidence_of

SCALES = [1e-12, 1e-6, 1.0, 1e6, 1e12]


@pytest.mark.parametrize("largest", [1e-10, 1.0, 1e8, 1e12])
def test_experts_that_lose_the_same_are_never_reported_as_a_violation(largest):
    random = np.random.default_rng(0)
    for _ in range(60):
        learner = aw.AdaHedge(6, gradient=False)
        learner.observe_many(np.repeat(largest * random.random((50, 1)), 6, axis=1))
        certificate = learner.certificate()
        assert certificate.verdict is Verdict.HOLDS, str(certificate)
        assert certificate.bound == 0.0
        assert certificate.rounding < 1e-11 * learner.loss


def test_a_regret_above_the_bound_by_rounding_is_said_to_be_so():
    random = np.random.default_rng(0)
    for _ in range(60):
        learner = aw.AdaHedge(6, gradient=False)
        learner.observe_many(np.repeat(1e8 * random.random((50, 1)), 6, axis=1))
        if learner.regret > 0:
            break
    assert "holds, within rounding: the sums may be off by" in str(learner.certificate())


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("excess", [1e-15, 1e-6])
def test_the_same_excess_is_judged_alike_at_every_scale(scale, excess):
    learner = aw.ExponentialWeights(3, loss="absolute", horizon=40, loss_range=(0.0, scale))
    losses = scale * np.random.default_rng(1).random((40, 3))
    learner.observe_many(losses)
    honest = learner.certificate()
    assert honest.verdict is Verdict.HOLDS
    state = learner.state()
    # As if the learner had lost more than it may.
    more = float(honest.bound * (1 + excess) - state["regrets"].max())
    learner.restore({**state, "regrets": state["regrets"] + more, "loss": state["loss"] + more})
    claimed = learner.certificate()
    assert claimed.verdict is (Verdict.VIOLATED if excess > 1e-9 else Verdict.HOLDS)


@pytest.mark.parametrize("scale", SCALES)
def test_losses_of_both_signs_that_cancel_are_judged_by_their_sizes(scale):
    # Every loss is large, every sum is about 0, and nobody is better than anybody else.
    random = np.random.default_rng(2)
    for _ in range(40):
        losses = scale * random.normal(size=(100, 1))
        learner = aw.AdaHedge(4, gradient=False)
        learner.observe_many(np.repeat(np.concatenate([losses, -losses]), 4, axis=1))
        assert learner.certificate().verdict is Verdict.HOLDS
        assert learner.certificate().rounding >= np.finfo(float).eps * np.abs(losses).sum()


@pytest.mark.parametrize("loss", ["absolute", "square"])
@pytest.mark.parametrize("rounds", [2, 400])
def test_advice_that_rounding_cannot_tell_apart_is_refused_with_the_reason(loss, rounds):
    # Between these two there is no number, so that their mean is one of them.
    advice = np.tile([1e16, 1e16 + 2], (rounds, 1))
    outcomes = advice[np.arange(rounds), np.random.default_rng(0).integers(0, 2, rounds)]
    learner = aw.ExponentialWeights(2, loss=loss, loss_range=(0.0, 4.0))
    learner.learn_many(advice, outcomes)
    for certificate in (learner.certificate(), learner.certificate(advice, outcomes)):
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert certificate.bound is None
        assert "subtract a common number from advice and outcomes" in str(certificate).replace("\n               ", " ")
    # The same without what is common.
    learner = aw.ExponentialWeights(2, loss=loss, loss_range=(0.0, 4.0))
    learner.learn_many(advice - 1e16, outcomes - 1e16)
    assert learner.certificate().verdict is Verdict.HOLDS


@pytest.mark.parametrize("make", [aw.MLpol, aw.BOA, aw.AdaHedge, aw.ExponentialWeights])
def test_what_rounding_may_have_moved_grows_with_the_offset_of_the_advice(make):
    random = np.random.default_rng(3)
    advice, outcomes = random.random((100, 2)), random.random(100)
    found = []
    for offset in (0.0, 1e3, 1e6, 1e9):
        learner = make(2, loss="square")
        learner.learn_many(advice + offset, outcomes + offset)
        certificate = learner.certificate(advice + offset, outcomes + offset)
        assert certificate.verdict is Verdict.HOLDS
        found.append(certificate.rounding)
        # The forecasts themselves are off by no more.
        assert certificate.rounding >= 1e-17 * offset
    assert found == sorted(found)
    assert found[-1] > 1e4 * found[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda loss: aw.FixedShare(2, share=0.01, rate=1.0, loss=loss, loss_range=(0, 8)),
        lambda loss: aw.AdaHedge(2, loss=loss, gradient=False),
        lambda loss: aw.ExponentialWeights(2, loss=loss, rate=0.1, loss_range=(0, 8)),
        lambda loss: aw.PolynomialWeights(2, loss=loss),
    ],
)  # fmt: skip
def test_a_loss_of_ones_own_without_a_slope_is_judged_by_what_the_experts_lose(make):
    """At 1e16 the mean of two forecasts is one of them; of such a loss nothing was said to be moved."""
    function = aw.losses.function(lambda forecast, outcome: abs(forecast - outcome))
    random = np.random.default_rng(3)
    advice, outcomes = random.choice([0.0, 2.0], (200, 2)), random.choice([0.0, 2.0], 200)
    for offset, verdict in ((1e16, Verdict.NOT_APPLICABLE), (0.0, Verdict.HOLDS), (1e6, Verdict.HOLDS)):
        learner, named = make(function), make("absolute")
        for each in (learner, named):
            each.learn_many(advice + offset, outcomes + offset)
            assert each.certificate().verdict is verdict
        assert learner.certificate().rounding == pytest.approx(named.certificate().rounding, rel=0.5)


IN_RANGE = {
    "BOA": lambda n: aw.BOA(n, loss_range=(1.0, 2.0), gradient=False),
    "ExponentialWeights": lambda n: aw.ExponentialWeights(n, rate=0.5, loss_range=(1.0, 2.0)),
    "MLpol": lambda n: aw.MLpol(n, loss_range=(1.0, 2.0), gradient=False),
    "PolynomialWeights": lambda n: aw.PolynomialWeights(n, loss_range=(1.0, 2.0)),
    "RandomizedWeightedMajority": lambda n: aw.RandomizedWeightedMajority(n, beta=0.7, loss_range=(1.0, 2.0)),
    "SecondOrderWeights": lambda n: aw.SecondOrderWeights(n, horizon=60, loss_range=(1.0, 2.0)),
    "SleepingExperts": lambda n: aw.SleepingExperts(n, epsilon=0.1, loss_range=(1.0, 2.0)),
}


@pytest.mark.parametrize("make", IN_RANGE.values(), ids=IN_RANGE)
def test_losses_that_count_as_in_their_range_break_no_bound(make):
    """What is outside by less than 1e-9 is shown at the end of the range, but counted as it is."""
    random = np.random.default_rng(4)
    ends = np.array([1 - 9e-10, 1.0, 2.0, 2 + 9e-10])
    for n in (1, 2, 3):
        for rounds in (1, 2, 5, 60):
            learner = make(n)
            learner.observe_many(random.choice(ends, (rounds, n)))
            certificate = learner.certificate()
            assert certificate.verdict is Verdict.HOLDS, str(certificate)
            inside = make(n)
            inside.observe_many(random.choice(ends[1:3], (rounds, n)))
            assert inside.certificate().rounding < 1e-10


def test_log_losses_that_count_as_in_their_range_break_no_bound():
    learner = aw.ExponentialWeights(2, loss="log", loss_range=(0.0, 1.0), rate=1.0)
    learner.learn_many(np.tile([1 - 2**-53, np.exp(-1 - 9e-10)], (100, 1)), np.ones(100))
    assert learner.certificate().verdict is Verdict.HOLDS


def test_the_smallest_numbers_there_are_are_accepted_as_the_rounds():
    advice, outcomes = [[5e-324, 1e-323]] * 2, [0.0, 1e-323]
    learner = aw.ExponentialWeights(2)
    learner.learn_many(advice, outcomes)
    assert learner.certificate(advice, outcomes).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("quantity", "times"), [("swap regret", 5), ("regret", 1)])
def test_a_swap_regret_is_rounded_once_for_every_expert(quantity, times):
    learner = aw.ExponentialWeights(5, horizon=30)
    learner = aw.SwapRegret(learner) if quantity == "swap regret" else learner
    learner.observe_many(np.random.default_rng(3).random((30, 5)))
    evidence = evidence_of(learner)
    theorem = learner.theorems[0]
    assert theorem.quantity == quantity
    assert evidence.rounding(theorem, 0.0) == pytest.approx(times * evidence.sum_rounding, rel=1e-12)
    assert evidence.sum_rounding > 0
