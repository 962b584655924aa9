"""Fixed share without a horizon, ML-Poly that forgets, regret on every interval: bounds at every length and place."""

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
            lost = [[naive.loss_of(loss, f, y) for f in row] for row, y in zip(advice.tolist(), outcomes, strict=True)]
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


# ---------------------------------------------------------------------- ML-Poly with a discount


def played(learner, rounds, n, seed=0):
    random = np.random.default_rng(seed)
    advice, outcomes = random.normal(10, 3, (rounds, n)), random.normal(10, 3, rounds)
    learner.learn_many(advice, outcomes)
    return advice, outcomes


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("discount", [1e-6, 0.3, 0.9, 1 - 1e-9])
def test_discounted_sums_are_those_of_the_rounds(discount, scale):
    learner = aw.MLpol(3, gradient=False, discount=discount)
    random = np.random.default_rng(3)
    losses = random.standard_normal((50, 3)) * scale
    own = learner.observe_many(losses)
    fading = discount ** np.arange(49.0, -1, -1)
    expected = fading @ (own[:, np.newaxis] - losses)
    assert np.allclose(learner.discounted_regrets, expected, rtol=1e-9, atol=1e-12 * scale)
    certificate = learner.certificate(losses)
    assert certificate.quantity == "discounted regret"
    assert certificate.verdict is Verdict.HOLDS
    assert math.isclose(certificate.observed, expected.max(), rel_tol=1e-9, abs_tol=1e-12 * scale)
    best = int(np.argmax(expected))
    assert math.isclose(certificate.hindsight.value, float(fading @ losses[:, best]), rel_tol=1e-9)
    assert certificate.hindsight.quantity == "discounted loss"


def test_bounds_on_the_discounted_regret_against_the_favourite():
    """After every round of a sequence in which the largest share is always wrong, from learners that were used before."""
    for discount, n in itertools.product((0.5, 0.9, 0.99), (2, 5)):
        learner = aw.MLpol(n, gradient=False, discount=discount, loss_range=(0.0, 1.0))
        learner.observe_many(np.random.default_rng(n).random((20, n)))
        for _ in range(120):
            learner.observe((np.arange(n) == np.argmax(learner.weights)).astype(float))
            assert all(each.verdict is Verdict.HOLDS for each in every(learner).values())
        by_range = every(learner)["discounted ML-Poly bound"].bound
        assert learner.discounted_regrets.max() <= every(learner)["discounted polynomial potential bound"].bound
        assert every(learner)["discounted polynomial potential bound"].bound <= by_range * (1 + 1e-12)


def test_a_discount_forgets_the_leader_of_long_ago():
    losses = np.zeros((1100, 2))
    losses[:1000, 1] = losses[1000:, 0] = 1.0
    plain, forgetting = aw.MLpol(2, gradient=False), aw.MLpol(2, gradient=False, discount=0.98)
    plain.observe_many(losses)
    forgetting.observe_many(losses)
    assert plain.weights[0] == 1.0
    assert forgetting.weights[1] == 1.0
    assert forgetting.loss < plain.loss - 50


def test_without_a_discount_nothing_is_kept_and_old_models_load():
    learner = aw.MLpol(2)
    played(learner, 5, 2)
    assert learner.discounted_regrets is None
    state = {name: value for name, value in learner.state().items() if not name.startswith("discounted")}
    restored = aw.MLpol(2)
    restored.restore(state)
    assert np.array_equal(restored.weights, learner.weights)
    assert learner.certificate().quantity == "regret"


def test_rounds_that_do_not_give_the_discounted_sums_are_refused():
    learner = aw.MLpol(2, discount=0.9)
    advice, outcomes = played(learner, 30, 2)
    assert learner.certificate(advice, outcomes).verdict is Verdict.HOLDS
    state = learner.state()
    state["discounted_regrets"] = state["discounted_regrets"] * 1.001
    learner.restore(state)
    with pytest.raises(aw.errors.InputError, match="the discounted regrets would be different"):
        learner.certificate(advice, outcomes)


def test_a_committee_has_no_bound_from_a_discounting_algorithm():
    committee = aw.Committee(
        ["perceptron", "sgd"], weighting=aw.MLpol(2, loss="zero-one", gradient=False, discount=0.9)
    )
    committee.learn_many(np.eye(4), [1, -1, 1, -1])
    assert committee.certificate().verdict is Verdict.NOT_APPLICABLE


# ---------------------------------------------------------------------- regret on every interval


def shifting(rounds, n, seed):
    """Losses of 0 and 1, in which now one expert and now another is right for a while."""
    random = np.random.default_rng(seed)
    best = np.repeat(random.integers(0, n, rounds), random.integers(1, 12, rounds))[:rounds]
    return ((np.arange(n) != best[:, np.newaxis]) ^ (random.random((rounds, n)) < 0.1)).astype(float)


def intervals(rounds):
    return [(first, last) for first in range(1, rounds + 1) for last in range(first, rounds + 1)]


@pytest.mark.parametrize(("low", "width"), [(0.0, 1.0), (-3e-12, 1e-12), (1e12, 1e12)])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_regret_on_every_interval(n, low, width):
    for seed in range(3):
        losses = low + width * shifting(61, n, seed)
        learner = aw.StronglyAdaptive(n, loss="absolute", loss_range=(low, low + width))
        own = learner.observe_many(losses).tolist()
        regrets = {pair: naive.regret_on_interval(own, losses.tolist(), *pair) for pair in intervals(61)}
        for (first, last), regret in regrets.items():
            bound = naive.bound_on_interval(n, first, last)
            assert regret <= width * bound * (1 + 1e-9) + 1e-13 * abs(low)
            length = last - first + 1
            closed = aw.bounds.bound("strongly-adaptive", experts=n, rounds=last, length=length)
            assert min(bound, length) <= closed * (1 + 1e-12)
        made = learner.certificate(losses)
        assert made.verdict is Verdict.HOLDS
        assert made.quantity == "interval regret"
        worst = max(regrets.values())
        assert math.isclose(made.observed, worst, rel_tol=1e-9, abs_tol=1e-12 * (width + abs(low)))
        found = made.inputs["first"], made.inputs["last"]
        assert math.isclose(regrets[found], worst, rel_tol=1e-9, abs_tol=1e-12 * (width + abs(low)))
        assert math.isclose(made.bound, width * naive.bound_on_interval(n, *found), rel_tol=1e-9)
        assert made.counted == found[1] - found[0] + 1


def test_blocks_noted_while_learning_are_those_of_the_rounds():
    """The certificate without rounds: blocks that are over, and those that go on, whose bound is that of the rounds so far."""
    for seed, rounds in ((1, 40), (2, 63), (3, 64), (4, 1), (5, 2)):
        losses = shifting(rounds, 3, seed)
        learner = aw.StronglyAdaptive(3, loss="absolute")
        own = learner.observe_many(losses).tolist()
        spans = [
            (j * 2**k, min((j + 1) * 2**k - 1, rounds))
            for k in range(rounds.bit_length())
            for j in range(1, rounds // 2**k + 1)
        ]
        regrets = {span: naive.regret_on_interval(own, losses.tolist(), *span) for span in spans}
        made = learner.certificate()
        assert made.verdict is Verdict.HOLDS
        assert math.isclose(made.observed, max(regrets.values()), abs_tol=1e-12)
        first, last = made.inputs["first"], made.inputs["last"]
        assert math.isclose(regrets[first, last], made.observed, abs_tol=1e-12)
        assert made.bound <= last - first + 1


def test_among_very_many_rounds_the_blocks_are_looked_at():
    losses = shifting(1100, 2, 7)
    learner = aw.StronglyAdaptive(2, loss="absolute")
    own = learner.observe_many(losses)
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(own[:, np.newaxis] - losses, axis=0)])
    blocks = [(j * 2**k, (j + 1) * 2**k - 1) for k in range(11) for j in range(1, 1101 >> k)]
    worst = max((sums[last] - sums[first - 1]).max() for first, last in blocks if last <= 1100)
    made = learner.certificate(losses)
    assert math.isclose(made.observed, worst)
    assert "of all blocks the one with the largest regret" in made.hindsight.description
    first, last = made.inputs["first"], made.inputs["last"]
    assert math.isclose(made.bound, naive.bound_on_interval(2, first, last))


def test_an_interval_above_its_bound_would_be_shown():
    learner = aw.StronglyAdaptive(2, loss="absolute")
    learner.observe_many(shifting(40, 2, 1))
    state = learner.state()
    state["noted"][1] = [9.0, 8.0, 8.0, 1.0, 9.0, 7.5]
    learner.restore(state)
    made = learner.certificate()
    assert made.verdict is Verdict.VIOLATED
    assert (made.observed, made.bound) == (9.0, 7.5)


def test_it_is_quick_where_the_leader_changes_after_a_long_time():
    losses = np.zeros((10_500, 2))
    losses[:10_000, 1] = losses[10_000:, 0] = 1.0
    adaptive, plain = aw.StronglyAdaptive(2), aw.ExponentialWeights(2)
    assert adaptive.observe_many(losses)[10_000:].sum() < 100
    assert plain.observe_many(losses)[10_000:].sum() > 499


def test_a_sleeper_is_compared_in_the_rounds_in_which_it_was_awake():
    losses = shifting(50, 3, 4)
    losses[10:30, 0] = losses[20:, 1] = np.nan
    learner = aw.StronglyAdaptive(3, loss="absolute")
    own = learner.observe_many(losses).tolist()
    rows = [[None if math.isnan(value) else value for value in row] for row in losses.tolist()]
    worst = max(naive.regret_on_interval(own, rows, *pair) for pair in intervals(50))
    made = learner.certificate(losses)
    assert math.isclose(made.observed, worst)
    assert made.verdict is Verdict.HOLDS


def test_a_committee_takes_the_bound_on_the_whole_run():
    committee = aw.Committee(["perceptron", "sgd"], weighting=aw.StronglyAdaptive(2, loss="zero-one"))
    committee.learn_many(np.eye(30), np.where(np.arange(30) % 3, 1, -1))
    made = committee.certificate()
    least = min(committee.member_mistakes.values())
    assert made.bound == pytest.approx(2 * (least + naive.bound_on_interval(2, 1, 30)))
    swapped = aw.SwapRegret(aw.StronglyAdaptive(2))
    swapped.observe_many(shifting(30, 2, 8))
    assert swapped.certificate().bound == pytest.approx(2 * naive.bound_on_interval(2, 1, 30))
