"""Records of expert algorithms and regrets from arrays, against slow oracles."""

import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_hindsight_experts as naive
from afterwit.errors import InputError
from afterwit.experts import ExpertRecord, play, play_losses, regrets
from conftest import environment
from expert_cases import advice_rounds as rounds

nan = float("nan")


LEARNERS = [
    lambda: aw.ExponentialWeights(3, horizon=60),
    lambda: aw.ExponentialWeights(3, loss="absolute", schedule="doubling"),
    lambda: aw.MLpol(3),
    lambda: aw.MLpol(3, loss="absolute", gradient=False),
    lambda: aw.BOA(3),
    lambda: aw.AdaHedge(3),
    lambda: aw.FixedShare(3, share=0.1, rate=1.0),
    lambda: aw.SleepingExperts(3, loss="absolute"),
]


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_a_record_is_what_the_rounds_one_by_one_say(make, asleep):
    advice, outcomes = rounds(asleep=asleep)
    record = play(make(), advice, outcomes)
    learner = make()
    own, shares, forecasts = [], [], []
    for row, outcome in zip(advice, outcomes, strict=True):
        if not np.isnan(row).any():
            shares.append(learner.weights)
        before = learner.loss
        forecasts.append(learner.learn_one(row, outcome))
        own.append(learner.loss - before)
    assert record.forecasts.tolist() == forecasts
    assert record.losses == pytest.approx(own, abs=1e-12)
    everyone = ~np.isnan(advice).any(axis=1)
    assert record.shares[everyone] == pytest.approx(np.array(shares), abs=1e-12)
    assert record.shares.sum(axis=1) == pytest.approx(np.ones(60))
    assert not record.shares[np.isnan(advice)].any()
    losses = record.expert_losses.tolist()
    assert record.regret_curve == pytest.approx(naive.regret_curve(record.losses.tolist(), losses), abs=1e-12)
    assert record.regret_curve[-1] == record.regret == learner.regret
    assert record.best_expert == learner.best_expert
    assert record.loss == pytest.approx(learner.loss)
    assert np.nansum(record.expert_losses, axis=0) == pytest.approx(learner.expert_losses)
    assert record.certificate == learner.certificate()
    shared = record.shares.tolist()
    assert record.internal_regret == pytest.approx(naive.internal_regret(shared, losses), abs=1e-12)
    assert record.swap_regret == pytest.approx(naive.swap_regret(shared, losses), abs=1e-12)
    error = np.array(forecasts) - outcomes
    assert record.rmse == pytest.approx(np.sqrt(np.mean(error**2)))
    assert record.mae == pytest.approx(np.abs(error).mean())
    assert record.mape == pytest.approx(np.abs(error / outcomes).mean())


@pytest.mark.parametrize("make", [make for make in LEARNERS if make().takes_losses])
def test_losses_alone_are_played_too(make):
    losses, _ = rounds()
    record = play_losses(make(), losses)
    learner = make()
    assert record.losses.tolist() == learner.observe_many(losses).tolist()
    assert record.forecasts is record.outcomes is None
    assert all(math.isnan(value) for value in (record.rmse, record.mae, record.mape))
    assert record.regret == learner.regret
    assert record.internal_regret <= record.swap_regret
    # The mixture's loss is the mean by the shares, so the swap regret is at least the ordinary one.
    assert record.swap_regret >= record.regret - 1e-9
    assert "error" not in str(record)


def test_swap_regret_is_that_of_the_learner_that_bounds_it():
    losses, _ = rounds()
    learner = aw.SwapRegret(aw.ExponentialWeights(3, horizon=60))
    record = play_losses(learner, losses)
    assert record.swap_regret == pytest.approx(learner.swap_regret)
    assert record.internal_regret == pytest.approx(learner.internal_regret)
    assert record.bound_curve is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: aw.ExponentialWeights(3, horizon=60),
        lambda: aw.ExponentialWeights(3, schedule="decreasing"),
        lambda: aw.ExponentialWeights(3, loss_range=(0, 1)),
        lambda: aw.ExponentialWeights(3, schedule="doubling"),
        lambda: aw.MLpol(3, gradient=False, loss_range=(0, 1)),
        lambda: aw.BOA(3, gradient=False, loss_range=(0, 1)),
        lambda: aw.SecondOrderWeights(3, horizon=60),
    ],
)
def test_the_regret_never_crosses_the_curve_of_the_bound(make):
    advice, outcomes = rounds()
    record = play(make(), advice, outcomes)
    assert len(record.bound_curve) == 60
    assert (record.regret_curve <= record.bound_curve).all()
    made = [record.certificate, *record.certificate.others]
    assert record.bound_curve[-1] in [certificate.bound for certificate in made]
    # The curve at round t is what a certificate says after t rounds.
    learner = make()
    learner.learn_many(advice[:17], outcomes[:17])
    earlier = learner.certificate()
    assert record.bound_curve[16] in [certificate.bound for certificate in (earlier, *earlier.others)]


def test_a_curve_needs_a_formula_and_all_the_rounds():
    advice, outcomes = rounds()
    assert play(aw.AdaHedge(3), advice, outcomes).bound_curve is None
    learner = aw.ExponentialWeights(3)
    learner.learn_many(advice[:10], outcomes[:10])
    record = play(learner, advice[10:], outcomes[10:])
    assert record.bound_curve is None
    assert record.rounds == 50
    assert record.certificate.rounds == 60


def test_the_regret_to_one_expert_by_name():
    advice, outcomes = rounds()
    record = play(aw.MLpol(3), pd.DataFrame(advice, columns=["a", "b", "c"]), pd.Series(outcomes))
    assert record.experts == ("a", "b", "c")
    curves = np.array([record.regret_curve_to(name) for name in "abc"])
    assert curves.max(axis=0).tolist() == record.regret_curve.tolist()
    saved = record.losses - record.expert_losses[:, 1]
    assert record.regret_curve_to("b") == pytest.approx(np.cumsum(saved))
    with pytest.raises(InputError, match="expert must be one of 'a', 'b', 'c'; received 'd'"):
        record.regret_curve_to("d")


def test_shares_need_not_be_kept():
    advice, outcomes = rounds()
    record = play(aw.MLpol(3), advice, outcomes, keep_shares=False)
    assert record.shares is None
    for name in ("internal_regret", "swap_regret"):
        with pytest.raises(InputError, match="the shares were not kept: play with keep_shares=True"):
            getattr(record, name)


def test_a_record_is_plain_and_frozen():
    advice, outcomes = rounds()
    record = play(aw.ExponentialWeights(3), advice, outcomes)
    totals = json.loads(json.dumps(record.to_dict()))
    assert totals["regret"] == record.regret
    assert totals["rmse"] == record.rmse
    twin = pickle.loads(pickle.dumps(record))
    assert isinstance(twin, ExpertRecord)
    assert str(twin) == str(record)
    with pytest.raises(AttributeError):
        record.learner = "another"
    for array in (record.losses, record.expert_losses, record.forecasts, record.outcomes, record.shares):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    # What a record holds can be played again, read-only as it is.
    assert play(aw.ExponentialWeights(3), advice, record.outcomes).loss == record.loss
    assert outcomes.flags.writeable
    assert advice.flags.writeable


def test_no_rounds_and_outcomes_of_zero():
    record = play(aw.MLpol(3), np.empty((0, 3)), [])
    assert (record.rounds, record.loss, record.regret, record.best_expert) == (0, 0.0, 0.0, 0)
    assert record.regret_curve.tolist() == []
    assert math.isnan(record.rmse)
    assert math.isnan(play(aw.MLpol(3), [[1.0, 2.0, 3.0]], [0.0]).mape)
    assert play(aw.MLpol(3), [[1.0, 2.0, 3.0]], [0.0]).to_dict()["mape"] is None


def test_a_failing_round_leaves_the_learner_as_it_was():
    learner = aw.ExponentialWeights(2, loss_range=(0, 1))
    with pytest.raises(InputError, match="loss_range"):
        play(learner, [[0.0, 1.0], [5.0, 0.0]], [1.0, 0.0])
    assert learner.rounds == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: play(aw.Perceptron(), [[1.0]], [1.0]), "learner must be an expert algorithm"),
        (lambda: play(aw.MLpol, [[1.0]], [1.0]), "learner must be an expert algorithm"),
        (lambda: play(aw.MLpol(1), [[1.0]], [1.0], keep_shares=1), "keep_shares must be True or False; received 1"),
        (lambda: play(aw.MLpol(2), [[1.0]], [1.0]), "advice must be two-dimensional with 2 columns"),
        (lambda: play(aw.MLpol(1), [[1.0]], [1.0, 2.0]), "outcomes must be as long as advice"),
        (lambda: play(aw.MLpol(1, loss="percentage"), [[1.0]], [0.0]), "must be not 0"),
        (lambda: play_losses(aw.WeightedMajority(1), [[1.0]]), "learner must be one that learns from losses alone"),
        (lambda: play_losses(aw.AdaHedge(2, gradient=False), [[1.0]]), "losses must be two-dimensional with 2 columns"),
    ],
)
def test_what_is_not_allowed(call, words):
    with pytest.raises(InputError, match=words):
        call()


# ------------------------------------------------------------------ from arrays of one's own

unit = st.integers(0, 8).map(lambda k: k / 8)
tables = st.tuples(st.integers(1, 3), st.integers(1, 7)).flatmap(
    lambda shape: st.tuples(
        *[st.lists(st.lists(unit, min_size=shape[0], max_size=shape[0]), min_size=shape[1], max_size=shape[1])] * 2,
        st.lists(unit, min_size=shape[1], max_size=shape[1]),
    )
)


@settings(max_examples=60)
@given(tables, st.booleans())
def test_regrets_are_those_of_the_definitions(table, sleeping):
    shares, losses, own = table
    if sleeping:
        losses = [
            [nan if share == 0 else loss for share, loss in zip(*rows, strict=True)]
            for rows in zip(shares, losses, strict=True)
        ]
    assert regrets.regret_curve(own, losses).tolist() == naive.regret_curve(own, losses)
    assert regrets.internal_regret(shares, losses) == pytest.approx(naive.internal_regret(shares, losses), abs=1e-12)
    assert regrets.swap_regret(shares, losses) == pytest.approx(naive.swap_regret(shares, losses), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: regrets.regret_curve([1.0], [[1.0], [2.0]]),
            "learner_losses must be one number for each of the 2 rounds",
        ),
        (lambda: regrets.regret_curve([nan], [[1.0]]), "learner_losses must be finite numbers"),
        (lambda: regrets.regret_curve([1.0], [1.0]), "expert_losses must be two-dimensional"),
        (lambda: regrets.regret_curve([1.0], [[-math.inf]]), "expert_losses must be finite numbers, or NaN"),
        (lambda: regrets.regret_curve("text", [[1.0]]), "learner_losses must be an array of numbers"),
        (lambda: regrets.swap_regret([[1.0]], [[1.0, 2.0]]), "shares must be of the shape of losses"),
        (lambda: regrets.swap_regret([[-1.0, 2.0]], [[1.0, 2.0]]), "shares must be numbers that are not negative"),
        (lambda: regrets.internal_regret([[0.5, 0.5]], [[1.0, nan]]), "shares must be 0 for experts that sleep"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_an_algorithm_does_not_import_the_record():
    code = "import sys, afterwit; afterwit.MLpol(2); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert "afterwit.experts.record" not in loaded.stdout.split()
    assert "scipy" not in {name.partition(".")[0] for name in loaded.stdout.split()}
    with pytest.raises(AttributeError, match=r"afterwit\.experts' has no attribute 'nonsense'"):
        _ = aw.experts.nonsense


def test_an_expert_that_has_not_been_awake_is_not_compared_with():
    advice = np.array([[1.2, 0.8, nan], [2.5, 1.5, nan], [3.1, 2.8, nan], [4.1, 3.8, 3.9]])
    outcomes = np.array([1.0, 2.0, 3.0, 4.0])
    learner, seen = aw.MLpol(3), []
    for row, outcome in zip(advice, outcomes, strict=True):
        learner.learn_one(row, outcome)
        seen.append(learner.regret)
    assert max(seen[:3]) < 0
    record = play(aw.MLpol(3), advice, outcomes)
    assert record.regret_curve == pytest.approx(seen, abs=1e-12)
    before = play(aw.MLpol(3), advice[:3], outcomes[:3])
    assert before.regret == pytest.approx(seen[2], abs=1e-12)
    assert before.best_expert == 0
    assert regrets.regret_curve([0.5, 0.5], [[nan, nan], [1.0, nan]]).tolist() == [0.0, -0.5]
