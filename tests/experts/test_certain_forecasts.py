"""Probabilities of exactly 0 and 1 under the log loss: an infinite loss is counted and named, and the rest goes on."""

import json
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import afterwit as aw
import naive_experts as naive
from afterwit.core.certificate import Verdict
from afterwit.experts import play, regrets
from expert_cases import plain

INFINITY = math.inf


def made(n=3, **options):
    return aw.ExponentialWeights(n, loss="log", **options)


def rounds(random, count, n, asleep=0.0):
    """Eighths, often 0 and 1; outcomes; some sleep."""
    advice = random.integers(0, 9, (count, n)) / 8
    advice[random.random((count, n)) < 0.6] = 0.375
    sleepers = random.random((count, n)) < asleep
    sleepers[np.arange(count), random.integers(0, n, count)] = False
    return np.where(sleepers, np.nan, advice), random.integers(0, 2, count).astype(float)


@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_every_round_is_that_of_exact_fractions(asleep):
    random, refused, dead = np.random.default_rng(0), 0, 0
    for _ in range(150 if aw.compiled else 20):
        n = int(random.integers(1, 6))
        learner, twin = made(n), naive.CertainForecasts(n)
        for row, outcome in zip(*rounds(random, 12, n, asleep), strict=True):
            assert learner.predict_one(row) == pytest.approx(float(twin.forecast(plain(row))), rel=1e-9, abs=1e-15)
            chance = twin.play(plain(row), outcome)
            if not chance:
                refused += 1
                before = learner.state()
                with pytest.raises(aw.errors.InputError, match="the loss of the forecast must be finite"):
                    learner.learn_one(row, outcome)
                assert pickle.dumps(learner.state()) == pickle.dumps(before)
                continue
            learner.learn_one(row, outcome)
            assert learner.weights == pytest.approx(twin.weights, rel=1e-9)
            assert learner.loss == pytest.approx(twin.loss, rel=1e-9, abs=1e-12)
            assert learner.expert_losses == pytest.approx(twin.losses, rel=1e-9, abs=1e-12)
            own = np.array(twin.own_while_awake)
            assert learner.regrets == pytest.approx(own - np.array(twin.losses), rel=1e-9, abs=1e-9)
            # However it is kept, nobody sees a difference.
            learner = pickle.loads(pickle.dumps(learner)) if random.random() < 0.2 else learner.copy()
        dead += int(np.isinf(learner.expert_losses).any())
        assert learner.regret <= math.log(n) + 1e-9
        certificate = learner.certificate()
        assert certificate.verdict is Verdict.HOLDS, str(certificate)
        assert certificate.bound == math.log(n)
    assert min(refused, dead) > 0


@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_vectors_of_two_kinds_are_the_same_rounds(asleep, tmp_path):
    random, refused, dead = np.random.default_rng(2), 0, 0
    for _ in range(60 if aw.compiled else 10):
        n = int(random.integers(1, 6))
        learner, twin = aw.ExponentialWeights(n, loss="log", outcomes=2), naive.CertainForecasts(n)
        learned = []
        for row, outcome in zip(*rounds(random, 12, n, asleep), strict=True):
            vectors = np.column_stack([1 - row, row])
            if not twin.play(plain(row), outcome):
                refused += 1
                before = learner.state()
                with pytest.raises(aw.errors.InputError, match="all whose weight is not 0 gave no chance"):
                    learner.learn_one(vectors, int(outcome))
                assert pickle.dumps(learner.state()) == pickle.dumps(before)
                continue
            learner.learn_one(vectors, int(outcome))
            learned.append((vectors, int(outcome)))
            assert learner.weights == pytest.approx(twin.weights, rel=1e-9)
            assert learner.loss == pytest.approx(twin.loss, rel=1e-9, abs=1e-12)
            assert learner.expert_losses == pytest.approx(twin.losses, rel=1e-9, abs=1e-12)
        dead += int(np.isinf(learner.expert_losses).any())
        aw.save(learner, tmp_path / "model")
        assert aw.load(tmp_path / "model") == learner
        assert learner.certificate().verdict is Verdict.HOLDS
        if learned:
            again = learner.certificate(np.array([row for row, _ in learned]), [kind for _, kind in learned])
            assert again.verdict is Verdict.HOLDS
            assert again.bound == math.log(n)
    assert min(refused, dead) > 0


def test_many_rounds_are_the_rounds_one_by_one():
    random = np.random.default_rng(1)
    for _ in range(20):
        advice, outcomes = rounds(random, 40, 4, 0.3)
        advice[:, 0] = 0.5  # somebody is never certain, and never sleeps
        at_once, singly = made(4), made(4)
        forecasts = at_once.learn_many(advice, outcomes)
        assert forecasts.tolist() == [singly.learn_one(row, y) for row, y in zip(advice, outcomes, strict=True)]
        assert at_once == singly
        assert at_once.certificate(advice, outcomes).verdict is Verdict.HOLDS


def test_an_infinite_loss_is_reported_and_named(tmp_path):
    learner = aw.ExponentialWeights(["sure", "careful"], loss="log")
    learner.learn_many([[1.0, 0.75], [1.0, 0.75]], [1, 0])
    assert learner.expert_losses.tolist() == [INFINITY, -math.log(0.75) - math.log(0.25)]
    assert learner.regrets[0] == -INFINITY
    assert learner.weights.tolist() == [0.0, 1.0]
    assert learner.best_expert == "careful"
    # Its share stays 0, whatever it says and whatever happens.
    assert learner.learn_one([0.5, 0.25], 1) == 0.25
    assert learner.weights.tolist() == [0.0, 1.0]
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.HOLDS
    assert "the loss of 'sure' is infinite" in certificate.details()
    json.dumps(certificate.to_dict(), allow_nan=False)
    # What is kept is finite, and says how often: the file is like any other.
    state = learner.state()
    assert state["infinite"].tolist() == [1, 0]
    assert all(np.isfinite(state[name]).all() for name in ("expert_losses", "regrets", "cumulative"))
    aw.save(learner, tmp_path / "model")
    loaded = aw.load(tmp_path / "model")
    assert loaded == learner
    assert loaded.expert_losses[0] == INFINITY
    assert loaded.learn_one([0.5, 0.25], 1) == learner.learn_one([0.5, 0.25], 1)


def test_a_round_that_would_cost_the_learner_everything_is_refused():
    learner = aw.ExponentialWeights(["a", "b", "c"], loss="log")
    advice = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.0], [0.5, 1.0, 1.0], [0.5, 0.5, 0.5]])
    expected = (
        "the loss of the forecast in row 2 must be finite; received infinity: all whose weight is not 0 gave no chance"
    )
    with pytest.raises(aw.errors.InputError, match=re.escape(expected)) as caught:
        # "a" is out after the first round, "c" after the second.
        learner.learn_many(advice, [0, 1, 0, 0])
    assert str(caught.value).endswith("to what happened: 'b'")
    assert learner == aw.ExponentialWeights(["a", "b", "c"], loss="log")
    frame = pd.DataFrame(advice[:2], columns=["a", "b", "c"])
    learner.learn_many(frame, [0, 1])
    assert np.isinf(learner.expert_losses).tolist() == [True, False, True]


def test_those_without_any_weight_count_alike_when_they_are_alone():
    learner = made()
    learner.learn_one([1.0, 1.0, 0.5], 0)
    assert learner.predict_one([0.2, 0.4, None]) == pytest.approx(0.3)
    assert learner.predict_one([0.2, 0.4, 0.7]) == 0.7
    learner.learn_one([0.2, 0.4, np.nan], 0)
    assert learner.weights.tolist() == [0.0, 0.0, 1.0]
    assert learner.certificate().verdict is Verdict.HOLDS


def test_other_algorithms_name_the_one_that_takes_them():
    learners = [
        aw.MLpol(2, loss="log"),
        aw.BOA(2, loss="log"),
        aw.AdaHedge(2, loss="log"),
        made(2, rate=1.5),
        made(2, loss_range=(0, 9)),
        made(2, gradient=True),
        aw.FixedShare(2, share=0.1, rate=1.0, loss="log", loss_range=(0, 9)),
    ]
    for learner in learners:
        for row in ([0.0, 0.5], [0.5, 1.0]):
            with pytest.raises(
                aw.errors.InputError, match=r"strictly between 0 and 1.*; ExponentialWeights takes 0 and 1"
            ):
                learner.learn_one(row, 1)
        with pytest.raises(
            aw.errors.InputError, match=r"strictly between 0 and 1, because the loss is log; received 1\.5"
        ):
            learner.learn_one([0.5, 1.5], 1)
    for learner in (made(2), made(2, rate=0.2)):
        with pytest.raises(aw.errors.InputError, match=r"must be from 0 to 1, because the loss is log; received -0\.1"):
            learner.learn_one([0.5, -0.1], 1)
        learner.learn_one([0.0, 0.5], 1)
        with pytest.raises(aw.errors.InputError, match="a finite number or missing"):
            learner.observe([INFINITY, 1.0])
        with pytest.raises(aw.errors.InputError, match="below 1e\\+150"):
            learner.observe([1e200, 1.0])


def test_a_state_that_cannot_be_is_refused():
    learner = made()
    learner.learn_one([1.0, 0.5, 0.5], 0)
    state = learner.state()
    for bad in ([1, 1, 1], [-1, 0, 0], [2, 0], [1.0, 0.0, 0.0]):
        with pytest.raises(aw.errors.InputError, match="infinite must be"):
            learner.restore({**state, "infinite": np.array(bad)})
    with pytest.raises(aw.errors.InputError, match="must be"):
        learner.restore({**state, "expert_losses": np.array([INFINITY, 0.5, 0.5])})
    assert learner.state()["infinite"].tolist() == [1, 0, 0]


def test_a_certificate_refuses_rounds_in_which_others_were_certain():
    advice, outcomes = np.array([[1.0, 0.5], [0.5, 0.5]]), np.zeros(2)
    learner = made(2)
    learner.learn_many(advice, outcomes)
    learner.certificate(advice, outcomes)
    with pytest.raises(aw.errors.InputError, match=r"the (experts'|infinite) losses"):
        learner.certificate(np.array([[0.5, 0.5], [0.5, 0.5]]), outcomes)
    with pytest.raises(aw.errors.InputError, match=r"the (experts'|infinite) losses"):
        learner.certificate(advice[:, ::-1], outcomes)
    careful = made(2)
    careful.learn_many([[0.5, 0.5], [0.5, 0.5]], outcomes)
    with pytest.raises(aw.errors.InputError, match=r"the (experts'|infinite) losses"):
        careful.certificate(advice, outcomes)


def test_the_record_and_hindsight_take_infinite_losses():
    random = np.random.default_rng(2)
    advice, outcomes = rounds(random, 60, 3)
    advice[:, 2] = 0.5
    record = play(made(), advice, outcomes)
    assert record.expert_losses.max() == INFINITY
    assert record.regret_curve[-1] == pytest.approx(record.regret) == pytest.approx(record.certificate.observed)
    json.dumps(record.to_dict(), allow_nan=False)
    assert (regrets.regrets_by_expert(record.losses, record.expert_losses)[-1][:2] == -INFINITY).all()
    best = aw.hindsight.best_expert(advice, outcomes, loss="log")
    assert (best.expert, best.losses.tolist()[0]) == (2, INFINITY)
    mixture = aw.hindsight.best_convex_combination(advice, outcomes, loss="log")
    assert mixture.loss <= best.loss * (1 + 1e-12)
    assert math.isfinite(mixture.gap)
    chances = np.where(outcomes[:, np.newaxis] == 1, advice, 1 - advice)
    for other in random.dirichlet(np.ones(3), 300):
        assert -np.log(chances @ other).sum() >= mixture.loss - mixture.gap - 1e-9
    lost = np.where(chances[:7] > 0, -np.log(np.where(chances[:7] > 0, chances[:7], 1)), INFINITY)
    for shifts in (0, 1, 2, 6):
        found = aw.hindsight.best_shifting(advice[:7], outcomes[:7], shifts=shifts, loss="log")
        assert found.loss == pytest.approx(naive.best_shifting(lost.tolist(), shifts))


def test_hindsight_names_the_round_in_which_nobody_gave_a_chance():
    advice, outcomes = [[0.5, 0.5], [1.0, 1.0]], [1, 0]
    with pytest.raises(aw.errors.InputError, match="row 1: no expert gave any chance to what happened"):
        aw.hindsight.best_convex_combination(advice, outcomes, loss="log")
    with pytest.raises(aw.errors.InputError, match="row 1: the loss of every expert is infinite"):
        aw.hindsight.best_shifting(advice, outcomes, shifts=1, loss="log")
    with pytest.raises(aw.errors.InputError, match="shifts must be at least 1 for a sequence with a finite loss"):
        aw.hindsight.best_shifting([[0.0, 0.5], [0.5, 0.0]], [1, 1], shifts=0, loss="log")
