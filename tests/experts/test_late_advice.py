"""Outcomes that come late: expert algorithms that judge the forecast they served, and their theorems."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
import naive
import naive_late
from afterwit.core.certificate import Verdict
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.experts.exponential_weights import LateBound, LateExpConcaveBound, LateFixedRateBound

RATES = {
    "rate": ({"rate": 0.4}, lambda n: lambda done: 0.4),
    "decreasing": ({"schedule": "decreasing"}, lambda n: lambda done: math.sqrt(8 * math.log(n) / (done + 1))),
}


def play(learner, advice, outcomes, events):
    """Serve and learn as the events say, with tickets through JSON; the order of arrival, and when each was served."""
    tickets, order, served = {}, [], []
    for event, t in events:
        if event == "predict":
            forecast, ticket = learner.serve_one(advice[t])
            tickets[t] = json.loads(json.dumps(ticket, allow_nan=False)), forecast
            assert same_value(tickets[t][0], ticket)
            continue
        ticket, forecast = tickets.pop(t)
        assert learner.learn_late(ticket, outcomes[t]) == forecast
        order.append(t)
        served.append(ticket["rounds"])
    return order, served


def every(certificate):
    return {type(made.theorem): made for made in (certificate, *certificate.others)}


@st.composite
def runs(draw, most=25):
    n, experts = draw(st.integers(1, most)), draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    advice = random.random((n, experts))
    if draw(st.booleans()):
        advice = np.round(advice)
    outcomes = np.round(random.random(n), draw(st.sampled_from([0, 3])))
    longest = draw(st.sampled_from([0, 1, 4, n]))
    delays = random.integers(0, longest + 1, n).tolist()
    return advice, outcomes, naive.delayed_events(n, delays)


@given(run=runs(), name=st.sampled_from(list(RATES)))
def test_what_is_learned_is_what_the_oracle_says(run, name):
    advice, outcomes, events = run
    n = advice.shape[1]
    options, rate = RATES[name]
    learner = aw.ExponentialWeights(n, **options)
    order, served = play(learner, advice, outcomes, events)
    expected = naive_late.exponential_weights(advice.tolist(), outcomes.tolist(), events, rate(n))
    assert order == expected.order
    assert learner.loss == pytest.approx(expected.own, abs=1e-12)
    assert np.allclose(learner.expert_losses, expected.total)
    assert served == [expected.moments[t] for t in order]
    late = [t - moment for t, moment in enumerate(served) if t > moment]
    if not late:
        assert learner.delays is None
        return
    assert learner.delays == {
        "late": len(late),
        "total": sum(late),
        "largest": max(late),
        "between_updates": sum(late),
        "most_between_updates": max(late),
    }
    assert learner.state()["late_drift"] == pytest.approx(expected.drift, abs=1e-12)
    for given_rounds in ((), (advice[order], outcomes[order], served)):
        made = every(learner.certificate(*given_rounds))
        assert all(each.verdict is not Verdict.VIOLATED for each in made.values())
        assert all(each.bound is None for theorem, each in made.items() if not theorem.late)
        T, ln_n = len(order), math.log(n)
        if name == "rate":
            wanted = ln_n / 0.4 + 0.4 * T / 8 + 0.1 * sum(late)
            assert made[LateFixedRateBound].bound == pytest.approx(wanted)
            assert made[LateExpConcaveBound].bound == pytest.approx(ln_n / 0.4 + expected.excess, abs=1e-9)
            without = ln_n / 0.4 + 0.4 * T / 8
            # What the theorem says of lateness: each round in between moves the mixture by eta/4 at most.
            assert expected.drift <= 0.1 * sum(late) + 1e-12
        else:
            without = 2 * math.sqrt(T / 2 * ln_n) + math.sqrt(ln_n / 8)
        assert made[LateBound].bound == pytest.approx(without + expected.drift, abs=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1), gradient=st.booleans(), sleepy=st.booleans(), rate=st.sampled_from([0.05, 1.0, 8.0])
)
def test_sleepers_and_slopes_hold_too(seed, gradient, sleepy, rate):
    random = np.random.default_rng(seed)
    n, T = 3, 40
    advice = random.random((T, n))
    if sleepy:
        asleep = random.random((T, n)) < 0.4
        asleep[np.arange(T), random.integers(0, n, T)] = False
        advice[asleep] = np.nan
    outcomes = random.random(T)
    options = {"gradient": True, "loss_range": (-2.0, 2.0)} if gradient else {}
    learner = aw.ExponentialWeights(n, rate=rate, **options)
    order, served = play(learner, advice, outcomes, naive.delayed_events(T, random.integers(0, 9, T).tolist()))
    for made in (learner.certificate(), learner.certificate(advice[order], outcomes[order], served)):
        for each in (made, *made.others):
            assert each.verdict is not Verdict.VIOLATED, each.details()
        assert every(made)[LateFixedRateBound].verdict is Verdict.HOLDS


def test_an_adversary_that_waits_makes_what_was_served_worse_than_what_is_known():
    """The good expert changes while outcomes are out: the forecasts served follow the old one."""
    T, d = 200, 10
    advice = np.tile([0.0, 1.0], (T, 1))
    outcomes = ((np.arange(T) + d) // (2 * d) % 2).astype(float)
    late, at_once = aw.ExponentialWeights(2, rate=1.0), aw.ExponentialWeights(2, rate=1.0)
    play(late, advice, outcomes, naive.delayed_events(T, [d] * T))
    at_once.learn_many(advice, outcomes)
    assert late.regret > at_once.regret + 5
    made = every(late.certificate())
    assert made[LateBound].verdict is made[LateFixedRateBound].verdict is Verdict.HOLDS
    assert late.state()["late_drift"] > 5


def test_a_ticket_names_experts_and_sleepers():
    learner = aw.ExponentialWeights(["a", ("b", 1)], rate=1.0)
    forecast, ticket = learner.serve_one({"a": 0.5, ("b", 1): None})
    assert forecast == 0.5
    assert ticket == {
        "ticket": "ExponentialWeights",
        "rounds": 0,
        "updates": 0,
        "x": {"values": [0.5, None], "names": ["a", {"tuple": ["b", 1]}]},
        "forecast": 0.5,
        "complement": 0.0,
    }
    learner.learn_late(ticket, 1.0)
    assert learner.awake_rounds.tolist() == [1, 0]


@pytest.mark.parametrize("many", [False, True])
def test_names_may_come_with_the_first_round_only(many):
    row = {"a": 0.25, "b": 0.75}
    late, at_once = aw.ExponentialWeights(2), aw.ExponentialWeights(2)
    if many:
        _, tickets = late.serve_many([row, row])
        assert late.experts == (0, 1)
        late.learn_late_many(tickets, [1.0, 0.0])
    else:
        tickets = [late.serve_one(row)[1] for _ in range(2)]
        for ticket, outcome in zip(tickets, [1.0, 0.0], strict=True):
            late.learn_late(ticket, outcome)
    at_once.learn_many([row, row], [1.0, 0.0])
    assert late.experts == at_once.experts == ("a", "b")
    assert np.array_equal(late.weights, at_once.weights)
    by_position = aw.ExponentialWeights(2)
    by_position.learn_one([0.25, 0.75], 1.0)
    for call in (
        lambda: by_position.serve_one(row),
        lambda: by_position.serve_many([row]),
        lambda: by_position.learn_late(tickets[0], 1.0),
        lambda: by_position.learn_late_many(tickets[:1], [1.0]),
    ):
        with pytest.raises(InputError, match="names need a learner made with them"):
            call()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: {**t, "ticket": "MLpol"}, "received a ticket of 'MLpol'"),
        (lambda t: {**t, "rounds": 9, "updates": 9}, "from a moment this learner has passed"),
        (lambda t: {**t, "rounds": 1}, "received one of 1 rounds and 4 updates"),
        (lambda t: {**t, "updates": 1}, "from a moment this learner has passed"),
        (lambda t: {**t, "forecast": None}, "forecast of the ticket must be a finite number"),
        (lambda t: {**t, "x": {"values": [0.5]}}, "advice must be one number for each of the 2 experts"),
        (lambda t: {**t, "x": {"values": ["0.5", 1.0]}}, "x of the ticket must be an example as serve_one"),
        (lambda t: {**t, "x": {"values": [0.5, 1.0], "names": ["a", "a"]}}, "x of the ticket must be an example"),
        (lambda t: {**t, "x": {"values": [None, None]}}, "at least one expert"),
    ],
)
def test_what_is_no_ticket_is_refused_before_anything_changes(change, why):
    learner = aw.ExponentialWeights(2, rate=1.0)
    learner.learn_many([[0.0, 1.0]] * 4, [1.0, 0.0, 1.0, 1.0])
    ticket = learner.serve_one([0.25, 0.75])[1]
    before = learner.state()
    with pytest.raises(InputError, match=why):
        learner.learn_late(change(ticket), 1.0)
    assert same_value(learner.state(), before)
    with pytest.raises(InputError, match="outcome must be a finite number"):
        learner.learn_late(ticket, math.nan)
    with pytest.raises(InputError, match=r"the loss of (the forecast|expert)"):
        learner.learn_late(ticket, 7.0)
    assert same_value(learner.state(), before)
    learner.learn_late(ticket, 1.0)


def test_rounds_that_are_not_those_are_refused():
    random = np.random.default_rng(1)
    advice, outcomes = random.random((30, 3)), random.random(30)
    learner = aw.ExponentialWeights(3, rate=0.5)
    order, served = play(learner, advice, outcomes, naive.delayed_events(30, random.integers(0, 6, 30).tolist()))
    X, y = advice[order], outcomes[order]
    assert learner.certificate(X, y, served).verdict is Verdict.HOLDS
    with pytest.raises(InputError, match="served must be given, because labels came late"):
        learner.certificate(X, y)
    others = list(served)
    place = next(t for t in range(30) if others[t] < t)
    others[place] += 1
    for given_rounds in ((X, y, others), (X[::-1], y[::-1], served), (X, y, list(range(30)))):
        with pytest.raises(InputError, match="the rounds given must be the rounds the learner learned from"):
            learner.certificate(*given_rounds)


def test_a_changed_drift_is_seen():
    learner = aw.ExponentialWeights(2, rate=0.5)
    advice, outcomes = np.tile([0.0, 1.0], (40, 1)), (np.arange(40) // 5 % 2).astype(float)
    order, served = play(learner, advice, outcomes, naive.delayed_events(40, [5] * 40))
    state = learner.state()
    learner.restore({**state, "late_drift": state["late_drift"] / 2})
    with pytest.raises(InputError, match="what lateness cost would be different"):
        learner.certificate(advice[order], outcomes[order], served)
    learner.restore({**state, "late_excess": state["late_excess"] / 2 + 1})
    with pytest.raises(InputError, match="lost more than those at arrival would be different"):
        learner.certificate(advice[order], outcomes[order], served)
    for wrong in (-1.0, math.inf, 1, None):
        with pytest.raises(InputError, match="late_drift"):
            learner.restore({**state, "late_drift": wrong})


@pytest.mark.parametrize(
    "make",
    [
        lambda: aw.AdaHedge(3),
        lambda: aw.MLpol(3),
        lambda: aw.WeightedMajority(3),
        lambda: aw.FixedShare(3, shifts=1, horizon=50),
        lambda: aw.ExponentialWeights(3, loss="zero-one"),
    ],
)
def test_others_learn_as_of_arrival(make):
    random = np.random.default_rng(1)
    advice, outcomes = np.round(random.random((30, 3))), np.round(random.random(30))
    learner, plain = make(), make()
    assert learner.late == "arrival"
    order, _ = play(learner, advice, outcomes, naive.delayed_events(30, [4] * 30))
    plain.learn_many(advice[order], outcomes[order])
    assert learner == plain
    assert learner.delays is None
    assert learner.certificate().to_dict() == plain.certificate().to_dict()


def test_the_log_loss_of_what_was_served_is_exact_near_1():
    learner = aw.ExponentialWeights(2, loss="log")
    near = 1 - 2.0**-53
    forecast, ticket = learner.serve_one([near, near])
    learner.learn_one([0.5, 0.25], 1.0)
    learner.learn_late(ticket, 1.0)
    assert learner.loss == pytest.approx(-math.log(0.375) - math.log1p(-(2.0**-53)), rel=1e-15)
    assert forecast == near
    made = learner.certificate()
    excess = -math.log1p(-(2.0**-53)) + math.log1p(-(2.0**-53))
    assert made.verdict is Verdict.HOLDS
    assert made.bound == pytest.approx(math.log(2) + excess)


@given(seed=st.integers(0, 2**32 - 1), sleepy=st.booleans(), scale=st.sampled_from([0.0, 0.3, 0.49]))
def test_the_log_loss_has_a_bound_with_late_outcomes(seed, sleepy, scale):
    random = np.random.default_rng(seed)
    n, T = 3, 40
    advice = 0.5 + scale * (2 * random.random((T, n)) - 1)
    if sleepy:
        asleep = random.random((T, n)) < 0.4
        asleep[np.arange(T), random.integers(0, n, T)] = False
        advice[asleep] = np.nan
    outcomes = (random.random(T) < 0.3).astype(float)
    learner = aw.ExponentialWeights(n, loss="log")
    order, served = play(learner, advice, outcomes, naive.delayed_events(T, random.integers(0, 9, T).tolist()))
    for made in (learner.certificate(), learner.certificate(advice[order], outcomes[order], served)):
        late = every(made)[LateExpConcaveBound]
        assert late.verdict is Verdict.HOLDS, late.details()
        assert late.bound == pytest.approx(math.log(n) + learner.state()["late_excess"])
