"""Certificates of expert algorithms from the rounds themselves: what the learner claims is computed a second time."""

import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import afterwit as aw
import naive_experts
from afterwit.certify import _expert_replay as checker
from afterwit.certify import expert_rounds
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from expert_cases import CASES, PLAIN, WATCHING, Case

by_case = pytest.mark.parametrize("case", CASES, ids=str)


def played(case, rounds=40, n=4, asleep=0.3, seed=1):
    advice, outcomes = case.rounds(np.random.default_rng(seed), rounds, n, asleep * case.sleeping)
    learner = case.make(n)
    learner.learn_many(advice, outcomes)
    return learner, advice, outcomes


def said(certificate):
    return " ".join(str(certificate).split())


@by_case
def test_the_rounds_it_learned_from_are_accepted(case):
    for rounds, n, asleep in ((40, 4, 0.3), (40, 2, 0.0), (1, 3, 0.0), (0, 2, 0.0)):
        learner, advice, outcomes = played(case, rounds, n, asleep)
        made, before = learner.certificate(advice, outcomes), learner.certificate()
        assert (made.theorem, made.verdict) == (before.theorem, before.verdict)
        # Hindsight may have found a mixture that is better than every expert, or an interval that is no block.
        assert made == before or case.gradient or made.quantity == "interval regret"


@by_case
def test_rounds_checked_block_by_block_are_the_same(case, monkeypatch):
    learner, advice, outcomes = played(case)
    whole = learner.certificate(advice, outcomes)
    monkeypatch.setattr(checker, "BLOCK", 15)
    assert learner.certificate(advice, outcomes) == whole
    with pytest.raises(InputError, match="the rounds the learner learned from"):
        learner.certificate(np.roll(advice, 1, axis=1), outcomes)


def test_a_row_that_fails_when_played_again_is_named_by_its_place_among_all(monkeypatch):
    monkeypatch.setattr(checker, "BLOCK", 15)
    losses = np.full((40, 2), 0.9)
    learner = aw.ExponentialWeights(2, loss_range=(0, 1))
    learner.observe_many(losses)
    losses[30], losses[7] = 1.4, 0.4
    with pytest.raises(InputError, match=r"played again they fail: the loss of expert \d in row 30 must be"):
        learner.certificate(losses)


@pytest.mark.parametrize(("make", "loss"), [(aw.MLpol, "square"), (aw.BOA, "absolute"), (aw.AdaHedge, "square")])
def test_a_certificate_needs_little_memory_beside_the_rounds(make, loss):
    """As much again as the rounds are large, and no copy of everyone's loss, share and gain."""
    random = np.random.default_rng(0)
    outcomes = random.normal(size=20_000)
    advice = outcomes[:, np.newaxis] + random.normal(size=(20_000, 24))
    learner = make(24, loss=loss)
    learner.learn_many(advice, outcomes)
    learner.certificate(advice, outcomes)
    tracemalloc.start()
    try:
        learner.certificate(advice, outcomes)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * advice.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("case", WATCHING, ids=str)
def test_losses_it_learned_from_are_accepted(case):
    losses = case.losses(np.random.default_rng(2), 40, 3, 0.3 * case.sleeping)
    learner = case.make(3)
    learner.observe_many(losses)
    assert learner.certificate(losses) == learner.certificate() or case.name == "StronglyAdaptive"
    with pytest.raises(InputError, match=r"use certificate\(losses\)"):
        learner.certificate(losses, np.zeros(40))
    with pytest.raises(InputError, match=r"the rounds the learner learned from; computed from them, .*losses"):
        learner.certificate(np.roll(losses, 1, axis=1))


NAMED = {
    "discounted_losses": "the discounted losses",
    "discounted_regrets": "the discounted regrets",
    "loss": "the learner's loss",
    "expert_losses": "the experts' losses",
    "regrets": "the regrets",
    "slope_regrets": "the regrets by slopes",
    "asleep_rounds": "the rounds in which experts slept",
}


def changed(name, value):
    """Values a little different from the true one, of the same kind."""
    if isinstance(value, float):
        yield value + 1e-6 * max(1.0, abs(value))
    elif isinstance(value, int):
        yield value - 1
    elif isinstance(value, list):
        yield [{**value[0], "regrets": value[0]["regrets"] + 1e-5}, *value[1:]]
    elif value.dtype == np.int64:
        yield np.roll(value, 1) if len(set(value.tolist())) > 1 else value + 1
    else:
        for at in (0, value.size - 1):
            other = value.copy()
            other.reshape(-1)[at] += 1e-6 * max(1.0, abs(other.reshape(-1)[at]))
            yield other


@by_case
def test_a_state_that_was_changed_is_found(case):
    learner, advice, outcomes = played(case)
    state = learner.state()
    for name, value in state.items():
        if name in ("names", "rounds", "unforecast", "unseen") or not np.size(value):
            continue
        for other in changed(name, value):
            twin = learner.copy()
            try:
                twin.restore({**state, name: other})
            except InputError:
                continue  # what contradicts the options is not even restored
            words = NAMED.get(name, f"its {name.replace('_', ' ')}")
            with pytest.raises(InputError, match=f"the rounds the learner learned from; computed from them, .*{words}"):
                twin.certificate(advice, outcomes)


@pytest.mark.parametrize("case", [case for case in PLAIN if case.takes_losses], ids=str)
def test_a_state_that_was_changed_is_found_where_only_losses_are_known(case):
    losses = case.losses(np.random.default_rng(3), 40, 3)
    learner = case.make(3)
    learner.observe_many(losses)
    state = learner.state()
    for name in ("loss", "regrets", "expert_losses"):
        for other in changed(name, state[name]):
            learner.restore({**state, name: other})
            with pytest.raises(InputError, match=NAMED[name]):
                learner.certificate(losses)


def test_every_part_that_differs_is_named():
    learner, advice, outcomes = played(Case("MLpol"), asleep=0.0)
    state = learner.state()
    learner.restore({**state, "loss": state["loss"] / 2, "regrets": state["regrets"] / 2})
    with pytest.raises(InputError, match=r"computed from them, the learner's loss and the regrets would be different$"):
        learner.certificate(advice, outcomes)
    learner.restore({**state, "loss": state["loss"] / 2})
    with pytest.raises(InputError, match=r"computed from them, the learner's loss would be different$"):
        learner.certificate(advice, outcomes)


def test_rounds_of_another_number_or_with_other_losses_are_refused():
    learner, advice, outcomes = played(Case("ExponentialWeights"), asleep=0.0)
    with pytest.raises(InputError, match="the learner counts 40 rounds, these are 39"):
        learner.certificate(advice[:-1], outcomes[:-1])
    with pytest.raises(InputError, match="computed from them, the experts' losses would"):
        learner.certificate(advice + 5, outcomes)


def test_rounds_in_another_order_are_not_the_rounds():
    """Every expert's loss is the same sum; the learner's own is not."""
    learner, advice, outcomes = played(Case("MLpol"), asleep=0.0)
    with pytest.raises(InputError, match="computed from them, the learner's loss"):
        learner.certificate(advice[::-1], outcomes[::-1])


def test_rounds_of_which_some_were_losses_alone_cannot_be_checked():
    learner, advice, outcomes = played(Case("MLpol"), asleep=0.0)
    learner.observe([0.1, 0.2, 0.3, 0.4])
    with pytest.raises(InputError, match="cannot be checked: MLpol learned 1 of its 41 rounds from losses alone"):
        learner.certificate(advice, outcomes)
    bandit = aw.Exp3(2)
    bandit.receive(0.5)
    with pytest.raises(InputError, match="cannot be checked: Exp3 learned 1 of its 1 round from losses alone"):
        bandit.certificate([[0.5, 0.0]], [0.0])


def test_a_label_may_win_by_a_tie():
    learner = aw.WeightedMajority(4, beta=0.9)
    advice = np.random.default_rng(4).integers(0, 2, (300, 4)).astype(float)
    learner.learn_many(advice, advice[:, 0])
    assert learner.certificate(advice, advice[:, 0]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("loss", ["absolute", "pinball(0.3)"])
def test_a_forecast_on_a_kink_is_judged_on_its_own_side(loss):
    learner = aw.MLpol(2, loss=loss)
    advice, outcomes = np.tile([0.1, 0.7], (50, 1)), np.full(50, 0.4)
    learner.learn_many(advice, outcomes)
    assert learner.certificate(advice, outcomes).verdict is Verdict.HOLDS


def test_losses_outside_their_range_by_rounding_are_accepted():
    learner = aw.RandomizedWeightedMajority(2, beta=0.6)
    losses = np.tile([1 + 1e-12, -1e-12], (200, 1))
    learner.observe_many(losses)
    assert learner.certificate(losses) == learner.certificate()


def test_losses_of_any_size_are_compared_by_their_size():
    for unit in (1e-9, 1.0, 1e9):
        random = np.random.default_rng(5)
        advice, outcomes = unit * random.normal(size=(2000, 3)), unit * random.normal(size=2000)
        learner = aw.BOA(3)
        learner.learn_many(advice, outcomes)
        learner.certificate(advice, outcomes)
        state = learner.state()
        learner.restore({**state, "loss": state["loss"] * (1 - 1e-6)})
        with pytest.raises(InputError, match="computed from them, the learner's loss would"):
            learner.certificate(advice, outcomes)


# ---------------------------------------------------------------------- the numbers that are shown


def test_a_regret_bound_above_the_own_loss_or_the_range_says_nothing():
    advice, outcomes = np.tile([0.0, 1.0], (4, 1)), np.array([0.0, 1.0, 0.0, 1.0])
    learner = aw.ExponentialWeights(2, rate=0.1)
    learner.learn_many(advice, outcomes)
    made = learner.certificate()
    assert made.bound > learner.loss
    assert made.vacuous
    assert "losses are not negative, so the regret is at most the loss itself" in said(made)
    wide = aw.ExponentialWeights(2, loss_range=(-5, 5), rate=0.1)
    wide.observe_many(np.tile([-5.0, 5.0], (4, 1)))
    assert wide.certificate().vacuous
    assert "no round adds more than 10 to it" in said(wide.certificate())
    useful = aw.ExponentialWeights(2, loss="absolute", horizon=1000)
    useful.learn_many(np.tile([0.0, 1.0], (1000, 1)), np.tile([0.0, 1.0], 500))
    assert not useful.certificate().vacuous


def test_a_loss_of_ones_own_may_be_negative():
    learner = aw.BOA(2, loss=lambda f, y: f - y)
    learner.learn_many([[0.0, 1.0]] * 3, [5.0] * 3)
    assert not learner.certificate().vacuous


def test_square_losses_are_shown_as_errors():
    learner, advice, outcomes = played(Case("MLpol"), asleep=0.0)
    best = learner.certificate(advice, outcomes)
    rmse = math.sqrt(best.hindsight.value / 40)
    assert f"(RMSE {rmse:,.4g}) of the best fixed mixture" in said(best)
    watching = aw.MLpol(2)
    watching.observe([0.25, 1.0])
    assert "RMSE" not in str(watching.certificate())


def test_sums_per_round_are_over_the_rounds_in_which_the_expert_was_awake():
    learner = aw.SleepingExperts(["a", "b"], epsilon=0.5)
    for _ in range(2):
        learner.learn_one({"a": 1, "b": 0}, 0)
    there = learner.loss
    for _ in range(8):
        learner.learn_one({"a": 1}, 0)
    made = learner.certificate()
    assert "on the 2 rounds in which it was awake" in said(made)
    assert (made.rounds, made.counted, made.observed) == (10, 2, pytest.approx(there))
    assert f"loss {there:.4g} ({there / 2:.4g} per round)" in str(made)


def test_promised_is_what_was_known_beforehand():
    horizon = aw.ExponentialWeights(2, loss="absolute", horizon=100)
    assert "promised" in str(horizon.certificate())
    assert "computed afterwards" in str(aw.MLpol(2).certificate())
    assert "promised" in str(aw.SwapRegret(aw.ExponentialWeights(2, horizon=9)).certificate())


def flags(learner, name):
    certificate = learner.certificate()
    theorem = next(each.theorem for each in (certificate, *certificate.others) if each.theorem.name == name)
    return theorem.foreseeable, theorem.beforehand


def test_what_is_known_beforehand_depends_on_the_run():
    """A bound made of slopes, or of the largest regret that was seen, depends on what the learner did."""
    advice, outcomes = np.random.default_rng(0).random((20, 3)), np.random.default_rng(1).random(20)
    by_slopes, by_losses = aw.AdaHedge(3), aw.AdaHedge(3, gradient=False)
    by_slopes.learn_many(advice, outcomes)
    by_losses.learn_many(advice, outcomes)
    assert flags(by_slopes, "AdaHedge bound") == (False, False)
    assert flags(by_losses, "AdaHedge bound") == (True, False)
    watching = aw.AdaHedge(3)
    watching.observe_many(advice)
    assert flags(watching, "AdaHedge bound") == (True, False)
    free, ranged = aw.PolynomialWeights(3), aw.PolynomialWeights(3, loss_range=(0, 1))
    free.learn_many(advice, outcomes)
    ranged.learn_many(advice, outcomes)
    assert flags(free, "polynomial bound") == (False, False)
    assert flags(ranged, "polynomial bound") == (True, True)
    assert free.certificate().theorem.name == "regret norm bound", "of two that looked at the run, the tighter"
    assert "promised" in str(ranged.certificate())
    assert "computed afterwards" in str(free.certificate())
    second = aw.SecondOrderWeights(3, beta=0.6, loss="square")
    second.learn_many(advice, outcomes)
    assert flags(second, "second-order bound") == (True, False)
    second.learn_one([0.1, np.nan, 0.3], 0.2)
    assert flags(second, "second-order bound") == (False, False)


def test_the_sum_of_the_bounds_of_copies_is_promised_only_where_each_is():
    """What a copy is shown depends on what was played, and so does a bound that depends on what was shown."""
    losses = np.random.default_rng(2).random((20, 3))
    for base, promised in (
        (aw.ExponentialWeights(3, schedule="decreasing"), True),
        (aw.ExponentialWeights(3), False),
        (aw.PolynomialWeights(3, loss_range=(0, 1)), True),
        (aw.AdaHedge(3), False),
        (aw.SecondOrderWeights(3, beta=0.6), False),
        (aw.RandomizedWeightedMajority(3, beta=0.6), False),
    ):
        learner = aw.SwapRegret(base)
        learner.observe_many(losses)
        assert flags(learner, "sum of the base bounds") == (promised, promised)


def test_copies_that_did_not_learn_these_losses_are_found_by_the_swap_regret():
    learner = aw.SwapRegret(aw.ExponentialWeights(3, rate=0.5))
    losses = np.random.default_rng(0).integers(0, 2, (20, 3)).astype(float)
    learner.observe_many(losses)
    learner.certificate(losses)
    state = learner.state()
    first, *others = state["copies"]
    changed = {**first, "expert_losses": first["expert_losses"][::-1] * 2, "regrets": first["regrets"] + 1}
    learner.restore({**state, "copies": [changed, *others]})
    with pytest.raises(InputError, match="the swap regret"):
        learner.certificate(losses)


def test_rounds_with_other_names_are_not_the_learners():
    """Named columns are put in the learner's order; names that it does not know are no rounds of its."""
    frame = pd.DataFrame(np.random.default_rng(4).random((20, 2)), columns=["a", "b"])
    outcomes = np.random.default_rng(5).random(20)
    learner = aw.MLpol(2)
    learner.learn_many(frame, outcomes)
    assert learner.certificate(frame[["b", "a"]], outcomes).verdict is Verdict.HOLDS
    with pytest.raises(InputError, match="'c'"):
        learner.certificate(frame.rename(columns={"a": "c"}), outcomes)
    nameless = aw.MLpol(2)
    nameless.learn_many(frame.to_numpy(), outcomes)
    with pytest.raises(InputError, match="advice must be an array, as in the rounds before"):
        nameless.certificate(frame, outcomes)
    from_losses = aw.MLpol(2)
    from_losses.observe_many(frame)
    assert from_losses.experts == ("a", "b"), "the first rounds name the experts"
    with pytest.raises(InputError, match="'c'"):
        from_losses.certificate(frame.rename(columns={"a": "c"}))


@pytest.mark.parametrize("name", ["SleepingExperts", "RandomizedWeightedMajority", "ExponentialWeights"])
def test_losses_much_smaller_than_the_low_end_of_their_range_are_known_again(name):
    """The learner adds the low end, and what it counts is rounded as that is."""
    options = {"beta": 0.7} if name == "RandomizedWeightedMajority" else {}
    learner = getattr(aw, name)(3, loss="absolute", loss_range=(-3.0, 7.0), **options)
    losses = 1e-15 * np.random.default_rng(0).random((20, 3))
    for row in losses:
        learner.observe(row)
    assert learner.certificate(losses).verdict == "holds"


def test_bounds_by_slopes_depend_on_the_forecasts_and_bounds_by_losses_do_not():
    by_losses, by_slopes = aw.AdaHedge(2), aw.AdaHedge(2)
    by_losses.observe([0.0, 1.0])
    by_slopes.learn_one([0.0, 1.0], 1.0)
    assert by_losses.certificate().theorem.foreseeable
    assert not by_slopes.certificate().theorem.foreseeable


@pytest.mark.parametrize(("rate", "shown"), [(5.0, 0.5), (0.5, 0.25)])
def test_a_sleeper_is_shown_the_loss_of_the_forecast_only_at_exp_concave_rates(rate, shown):
    learner = aw.ExponentialWeights(3, loss="square", rate=rate, loss_range=(0.0, 1.0))
    learner.learn_one([0.0, 1.0, None], 0.0)
    assert learner.state()["cumulative"].tolist() == [0.0, 1.0, shown]


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_the_checker_draws_as_the_oracle_to_the_last_digit(seed):
    numbers = [naive_experts.uniform(seed, number) for number in range(20)]
    at, above = ([[share, 1 - share] for share in shares] for shares in (numbers, np.nextafter(numbers, 1)))
    assert expert_rounds._drawn(seed, np.array(at)).ravel().tolist() == [1] * 20
    assert expert_rounds._drawn(seed, np.array(above)).ravel().tolist() == [0] * 20


@pytest.mark.parametrize("make", [aw.MLpol, lambda n: aw.BOA(n, gradient=False), aw.SleepingExperts])
def test_where_every_expert_has_a_bound_the_best_expert_is_shown(make):
    """The expert closest to its bound was shown, as if it were the best, with a regret that was not the learner's."""
    random = np.random.default_rng(0)
    for _ in range(200):
        learner = make(2)
        losses = random.integers(0, 2, (20, 2)).astype(float)
        learner.observe_many(losses)
        certificate = learner.certificate()
        total = losses.sum(axis=0)
        assert certificate.hindsight.value == total.min()
        assert certificate.observed == pytest.approx(learner.loss - (certificate.quantity == "regret") * total.min())
        assert certificate.observed <= certificate.bound
        assert "the best of 2" in certificate.hindsight.description


def test_a_broken_bound_of_another_expert_is_noticed():
    learner = aw.MLpol(2)
    learner.observe_many(np.random.default_rng(1).integers(0, 2, (20, 2)).astype(float))
    state = learner.state()
    worse = int(np.argmin(state["regrets"]))
    # As if the worse expert's own bound were far smaller than the regret to it.
    for name in ("regrets", "slope_regrets"):
        state[name][worse] = state[name].max() - 0.01
    state["squares"][worse] = state["largest_square"] = 0.0
    learner.restore(state)
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.VIOLATED
    assert "the best of" not in certificate.hindsight.description


def test_the_best_mixture_says_how_exact_it_is():
    random = np.random.default_rng(2)
    advice, outcomes = random.normal(size=(50, 3)), random.normal(size=50)
    learner = aw.MLpol(3)
    learner.learn_many(advice, outcomes)
    found = aw.hindsight.best_convex_combination(advice, outcomes)
    assert learner.certificate(advice, outcomes).hindsight.gap == found.gap
