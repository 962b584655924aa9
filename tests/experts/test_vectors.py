"""Advice that is a probability vector for each expert: every algorithm that mixes, every form, every refusal."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
from afterwit import experts, losses
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.hindsight import best_convex_combination, best_expert, best_shifting
from naive_aggregating import ALGORITHMS, LOSSES
from vector_cases import CASES, VectorCase, plain, rounds_for

K = 3
NAMES = ("home", "draw", "away")


@pytest.mark.parametrize("case", CASES, ids=str)
@settings(max_examples=8)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_every_algorithm_agrees_with_its_slow_twin(case, n, seed, asleep):
    table, outcomes = rounds_for(np.random.default_rng(seed), case, 15, n, K, asleep)
    learner = case.make(n, K)
    slow = ALGORITHMS[case.name](n, **case.options)
    for row, outcome in zip(table, outcomes.tolist(), strict=True):
        wanted = slow.play(plain(row), outcome)
        if slow.fragile:
            return
        assert np.allclose(learner.learn_one(row, outcome), wanted, rtol=1e-9, atol=1e-12)
    assert np.allclose(learner.regrets, slow.regrets, rtol=0, atol=1e-9)
    assert np.allclose(learner.expert_losses, slow.expert_losses, rtol=1e-12)
    assert learner.loss == pytest.approx(slow.loss, rel=1e-10)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_many_rounds_are_the_loop_of_one_bit_for_bit(case, asleep):
    table, outcomes = rounds_for(np.random.default_rng(3), case, 40, 4, K, asleep)
    at_once, one_by_one, in_parts = (case.make(4, K) for _ in range(3))
    forecasts = at_once.learn_many(table, outcomes)
    assert forecasts.shape == (40, K)
    assert np.allclose(forecasts.sum(axis=1), 1, rtol=0, atol=1e-14)
    for t, (row, outcome) in enumerate(zip(table, outcomes, strict=True)):
        assert one_by_one.predict_one(row).tolist() == forecasts[t].tolist()
        assert one_by_one.learn_one(row, outcome).tolist() == forecasts[t].tolist()
    in_parts.learn_many(table[:7], outcomes[:7])
    in_parts.learn_many(table[7:], outcomes[7:])
    for other in (one_by_one, in_parts, pickle.loads(pickle.dumps(at_once)), at_once.copy()):
        assert same_value(other.state(), at_once.state())
    assert at_once.predict_many(table).tolist() == [at_once.predict_one(row).tolist() for row in table]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_certificates_hold_and_the_rounds_give_the_state(case, asleep):
    table, outcomes = rounds_for(np.random.default_rng(4), case, 50, 4, K, asleep)
    learner = case.make(4, K)
    learner.learn_many(table, outcomes)
    for certificate in (learner.certificate(), learner.certificate(table, outcomes)):
        for each in (certificate, *certificate.others):
            assert str(each.verdict) != "violated"
        assert str(certificate.verdict) == "holds"
        json.dumps(certificate.to_dict(), allow_nan=False)
    wrong = table.copy()
    wrong[3] = wrong[3][:, ::-1]
    with pytest.raises(InputError, match="the rounds given must be"):
        learner.certificate(wrong, outcomes)


def test_exponential_weights_promise_no_more_than_exp_concavity_gives():
    """The Brier loss is mixable at the rate 1, but exp-concave only up to 1/4: the mean has no bound at 1."""
    table, outcomes = rounds_for(np.random.default_rng(4), CASES[0], 30, 3, K)
    for rate, applies in ((0.5, True), (0.6, False)):
        learner = aw.ExponentialWeights(3, loss="brier", outcomes=K, rate=rate)
        learner.learn_many(table, outcomes)
        found = {each.theorem.name: each for each in (learner.certificate(), *learner.certificate().others)}
        made = found["exp-concave bound"]
        assert (made.bound is not None) == applies
        if applies:
            # The rate is for losses scaled to [0, 1]: 1/4 for the losses themselves, which are at most 2.
            assert made.bound == pytest.approx(np.log(3) * 4)


@pytest.mark.parametrize("case", [*CASES, VectorCase("AggregatingAlgorithm", {"loss": "brier"})], ids=str)
def test_outcomes_of_vectors_that_come_late(case, tmp_path):
    """Tickets through JSON, out of order, learned by what a file has: learned as of arrival."""
    table, places = rounds_for(np.random.default_rng(6), case, 40, 4, K, 0.3)
    labels = [NAMES[k] for k in places]
    names = ["a", "b", "c", "d"]
    one, together, arrived = (case.make(names, NAMES) for _ in range(3))
    waiting = []
    for begin in range(0, 40, 8):
        rows = range(begin, begin + 8)
        before = one.state()
        served = [one.serve_one(table[t]) for t in rows]
        forecasts, tickets = together.serve_many(table[begin : begin + 8])
        assert same_value(one.state(), before)
        assert forecasts.tolist() == [forecast.tolist() for forecast, _ in served]
        assert forecasts.tolist() == one.predict_many(table[begin : begin + 8]).tolist()
        assert tickets == [ticket for _, ticket in served] == json.loads(json.dumps(tickets))
        waiting += zip(rows, forecasts.tolist(), json.loads(json.dumps(tickets)), strict=True)
        now, waiting = waiting[::-1][:5], waiting[::-1][5:][::-1]
        aw.save(one, tmp_path / "model")
        one = aw.load(tmp_path / "model")
        for t, forecast, ticket in now:
            assert one.learn_late(ticket, labels[t]).tolist() == forecast
        returned = together.learn_late_many([ticket for *_, ticket in now], [labels[t] for t, *_ in now])
        assert returned.tolist() == [forecast for _, forecast, _ in now]
        order = [t for t, *_ in now]
        arrived.learn_many(table[order], [labels[t] for t in order])
        assert one == together == arrived
    assert one.rounds == 25
    assert one.late == "arrival"
    assert one.delays is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forecast": 0.5}, "forecast of the ticket must be 3 finite numbers"),
        ({"forecast": [0.5, 0.5]}, "forecast of the ticket must be 3 finite numbers"),
        ({"forecast": [0.2, 0.3, float("nan")]}, "forecast of the ticket must be 3 finite numbers"),
        ({"x": {"values": [[0.2, 0.3, 0.5], 0.5]}}, "x of the ticket must be an example"),
        ({"x": {"values": [[0.2, 0.3, 0.5], [0.5, 0.5]]}}, "x of the ticket must be an example"),
        ({"x": {"values": [[0.2, 0.3, 0.5], [0.5, 0.5, 0.5]]}}, "must be probabilities that sum to 1"),
        ({"ticket": "MLpol"}, "a ticket of"),
    ],
)
def test_what_is_no_ticket_of_vectors_is_refused(change, message):
    learner = aw.AggregatingAlgorithm(2, outcomes=K)
    _, ticket = learner.serve_one([[0.2, 0.3, 0.5], None])
    assert ticket["x"] == {"values": [[0.2, 0.3, 0.5], None]}
    for call, tickets, label in (
        (learner.learn_late, ticket | change, 1),
        (learner.learn_late_many, [ticket | change], [1]),
    ):
        with pytest.raises(InputError, match=message.replace("of the ticket", r"of the ticket\S*")):
            call(tickets, label)
    with pytest.raises(InputError, match="outcome"):
        learner.learn_late(ticket, 3)
    assert same_value(learner.state(), aw.AggregatingAlgorithm(2, outcomes=K).state())
    assert aw.AggregatingAlgorithm(2, outcomes=K).learn_late_many([], []).shape == (0, K)


def test_nothing_said_promises_a_regret_that_does_not_grow():
    """The Brier loss of probability vectors is at most 2: the rate is 1/4, and the bound 4 ln N is known beforehand."""
    table, outcomes = rounds_for(np.random.default_rng(4), CASES[0], 200, 4, K, 0.2)
    learner = aw.ExponentialWeights(4, loss="brier", outcomes=K)
    assert learner.parameters["loss_range"] == (0.0, 2.0)
    learner.learn_many(table, outcomes)
    certificate = learner.certificate(table, outcomes)
    assert certificate.bound == 4 * np.log(4)
    assert certificate.theorem.beforehand
    assert str(certificate.verdict) == "holds"
    # Losses without forecasts are not exp-concave: what they cost is added, and the bound grows.
    learner.observe_many(np.random.default_rng(5).random((500, 4)) * 2)
    assert learner.certificate().bound > 4 * np.log(4) + 1


@pytest.mark.parametrize("name", ["ExponentialWeights", "FixedShare", "SecondOrderWeights", "StronglyAdaptive"])
def test_the_range_of_the_brier_loss_needs_no_declaration(name):
    options = {"beta": 0.6} if name == "SecondOrderWeights" else {}
    learner = getattr(aw, name)(2, loss="brier", outcomes=K, **options)
    learner.learn_one([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 0)
    assert learner.expert_losses.tolist() == [0.0, 2.0]
    assert getattr(aw, name)(2, loss="square", **options).parameters["loss_range"] in ((0.0, 1.0), None)


def test_at_a_rate_above_exp_concavity_some_mixture_loses_more():
    """Why 1/4 is the end: two vectors, far on the wrong side, whose exp(-rate loss) is convex in between."""
    x, y = np.array([0.0, 1.0]), np.array([0.1, 0.9])
    happened = np.array([1.0, 0.0])

    def gap(rate):
        value = lambda f: np.exp(-rate * ((f - happened) ** 2).sum())  # noqa: E731
        return value((x + y) / 2) - (value(x) + value(y)) / 2

    assert gap(0.25) > 0
    assert gap(0.4) < 0


def forms(table, names, kinds):
    yield "lists", [[None if np.isnan(v).any() else v.tolist() for v in row] for row in table]
    rows = [{name: v.tolist() for name, v in zip(names, row, strict=True) if not np.isnan(v).any()} for row in table]
    yield "dicts of vectors", rows
    yield "dicts of dicts", [{name: dict(zip(kinds, v, strict=True)) for name, v in row.items()} for row in rows]
    yield "dicts with None", [{name: row.get(name) for name in names} for row in rows]
    yield "dicts of arrays", [{name: np.array(v) for name, v in row.items()} for row in rows]
    yield "another layout", np.asfortranarray(table)


def test_every_form_of_the_same_rounds_teaches_the_same():
    names = ["a", "b", "c", "d"]
    table, places = rounds_for(np.random.default_rng(5), CASES[0], 20, 4, K, 0.3)
    labels = [NAMES[k] for k in places]
    learner = aw.MLpol(names, loss="brier", outcomes=NAMES)
    forecasts = learner.learn_many(table, labels).tolist()
    for kind, form in forms(table, names, NAMES):
        other = aw.MLpol(names, loss="brier", outcomes=NAMES)
        assert other.learn_many(form, np.array(labels)).tolist() == forecasts, kind
        assert same_value(other.state(), learner.state()), kind
        single = aw.MLpol(names, loss="brier", outcomes=NAMES)
        assert single.learn_one(form[0], labels[0]).tolist() == forecasts[0], kind
    by_position = aw.MLpol(4, loss="brier", outcomes=K)
    assert by_position.learn_many(table, places).tolist() == forecasts
    assert by_position.kinds == (0, 1, 2)
    assert learner.kinds == NAMES
    assert aw.MLpol(2).kinds == ()


def refused(learner, message, advice, outcome="home"):
    before = learner.state()
    for call, arguments in ((learner.predict_one, (advice,)), (learner.learn_one, (advice, outcome))):
        with pytest.raises(InputError, match=message):
            call(*arguments)
    good = {"a": [0.2, 0.3, 0.5], "b": [0.1, 0.1, 0.8]}
    if isinstance(advice, dict):
        with pytest.raises(InputError):
            learner.learn_many([good, advice], ["home", outcome])
    assert same_value(learner.state(), before)


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (
            [2.1, 3.2, 4.0],
            r"advice\['b'\] must be probabilities that sum to 1; to make them of odds, divide each 1 / odds",
        ),
        ([0.3, 0.3, 0.3], r"advice\['b'\] must be probabilities that sum to 1, not to 0.9; divide each by their sum"),
        ([-0.1, 0.6, 0.5], r"advice\['b'\] must be probabilities from 0 to 1"),
        ([np.nan, 0.5, 0.5], r"advice\['b'\] must be a probability for each kind, or NaN for all if the expert sleeps"),
        ([np.inf, 0.0, 0.0], r"advice\['b'\] must be probabilities from 0 to 1"),
        ([0.5, 0.5], r"advice\['b'\] must be a probability for each of \('home', 'draw', 'away'\)"),
        ({"home": 0.5, "away": 0.5}, r"advice\['b'\] must be a probability for each of"),
        ({"home": "0.5", "draw": 0.2, "away": 0.3}, r"advice\['b'\]\['home'\] must be a finite number"),
        (0.5, r"advice\['b'\] must be a probability for each of"),
        ("abc", r"advice\['b'\] must be a probability for each of"),
    ],
)
def test_what_is_no_probability_vector_is_refused_with_the_remedy(vector, message):
    learner = aw.BOA(["a", "b"], loss="brier", outcomes=NAMES)
    learner.learn_one({"a": [0.2, 0.3, 0.5], "b": [0.1, 0.1, 0.8]}, "away")
    refused(learner, message, {"a": [0.2, 0.3, 0.5], "b": vector})


def test_rows_of_bad_vectors_are_named():
    learner = aw.AdaHedge(["a", "b"], loss="brier", outcomes=2)
    table = np.full((5, 2, 2), 0.5)
    table[3, 1] = [0.5, 0.6]
    with pytest.raises(InputError, match=r"advice\[3, 'b'\] must be probabilities that sum to 1, not to 1.1"):
        learner.learn_many(table, [0] * 5)
    table[3] = np.nan
    with pytest.raises(InputError, match="in row 3: all sleep"):
        learner.predict_many(table)
    # What single precision makes of probabilities is no error.
    table = np.full((5, 2, 2), np.float32([0.1, 0.9]), dtype=np.float32)
    assert abs(table.astype(float).sum(axis=2) - 1).max() > 0
    assert learner.learn_many(table, [0] * 5).shape == (5, 2)


def test_how_far_a_rounded_forecast_may_move_the_loss_is_counted():
    """A probability is rounded by a part of itself, and the Brier loss changes by 2 |f - 1| or 2 f with it."""
    learner = aw.MLpol(2, loss="brier", outcomes=NAMES)
    f = learner.learn_one([[0.5, 0.25, 0.25], [0.25, 0.75, 0.0]], "draw")
    assert f.tolist() == [0.375, 0.5, 0.125]
    assert learner.state()["blur"] == 2 * (0.375**2 + 0.5 * 0.5 + 0.125**2)


def test_probabilities_of_single_precision_have_certificates():
    random = np.random.default_rng(3)
    table, outcomes = random.dirichlet(np.ones(5), (200, 3)).astype(np.float32), random.integers(0, 5, 200)
    for n in (1, 3):
        learner = aw.AggregatingAlgorithm(n, outcomes=5)
        learner.learn_many(table[:, :n], outcomes)
        assert str(learner.certificate(table[:, :n], outcomes).verdict) == "holds"


def test_what_a_mask_hides_is_asleep():
    table, outcomes = rounds_for(np.random.default_rng(4), CASES[0], 10, 3, K)
    mask = np.zeros(table.shape, dtype=bool)
    mask[3, 1] = True
    learner, other = aw.BOA(3, loss="brier", outcomes=K), aw.BOA(3, loss="brier", outcomes=K)
    learner.learn_many(np.ma.masked_array(table, mask), outcomes)
    other.learn_many(np.where(mask, np.nan, table), outcomes)
    assert learner == other
    assert learner.awake_rounds.tolist() == [10, 9, 10]


def test_swap_regret_of_vectors():
    table, outcomes = rounds_for(np.random.default_rng(4), CASES[0], 30, 3, K)
    learner = aw.SwapRegret(aw.ExponentialWeights(3, rate=0.5), loss="brier", outcomes=NAMES, loss_range=(0.0, 2.0))
    for row, k in zip(table, outcomes, strict=True):
        wanted = learner.weights @ row
        assert np.allclose(learner.learn_one(row, NAMES[k]), wanted, rtol=0, atol=1e-14)
    labels = [NAMES[k] for k in outcomes]
    assert str(learner.certificate(table, labels).verdict) == "holds"


def test_shapes_and_outcomes_are_checked():
    learner = aw.AdaHedge(2, loss="brier", outcomes=NAMES)
    good = np.full((4, 2, 3), 1 / 3)
    for bad in (good[:, :1], good[:, :, :2], good[0], good[0, 0], "abc", None, 1.0, np.full((4, 2, 3), "a")):
        with pytest.raises(InputError, match="advice must be"):
            learner.learn_many(bad, ["home"] * 4)
    for bad in (good, good[0, 0], good[0, :1], 1.0, None):
        with pytest.raises(InputError, match="advice must be"):
            learner.learn_one(bad, "home")
    with pytest.raises(InputError, match=r"outcomes\[2\] must be one of \('home', 'draw', 'away'\); received 'won'"):
        learner.learn_many(good, ["home", "draw", "won", "away"])
    with pytest.raises(InputError, match="outcomes must be as long as advice"):
        learner.learn_many(good, ["home"] * 3)
    with pytest.raises(InputError, match="outcome must be one of"):
        learner.learn_one(good[0], 0)
    with pytest.raises(InputError, match="outcome must be one of"):
        aw.AdaHedge(2, loss="brier", outcomes=3).learn_one(good[0], 3)
    with pytest.raises(InputError, match=r"outcomes\[1\] must be one of"):
        aw.AdaHedge(2, loss="brier", outcomes=3).learn_many(good, [0, 0.5, 1, 2])
    assert learner.rounds == 0
    assert learner.learn_many([], []).shape == (0, 3)
    assert learner.learn_many(np.empty((0, 2, 3)), []).shape == (0, 3)


@pytest.mark.parametrize("name", ["RandomizedWeightedMajority", "SleepingExperts", "Exp3"])
def test_algorithms_that_draw_one_expert_refuse_losses_of_vectors(name):
    with pytest.raises(InputError, match=f"loss must be one of numbers for {name}; .*AggregatingAlgorithm"):
        getattr(aw, name)(3, loss="brier")


def test_the_kinds_of_outcomes_go_with_the_loss():
    with pytest.raises(InputError, match="outcomes must be given for the loss 'brier'"):
        aw.MLpol(3, loss="brier")
    with pytest.raises(InputError, match="outcomes must be None for the loss 'square'"):
        aw.MLpol(3, outcomes=3)
    with pytest.raises(InputError, match="outcomes must be a whole number, at least 2"):
        aw.MLpol(3, loss="brier", outcomes=1)


def test_a_probability_of_0_for_what_happened_is_refused_where_weights_need_the_loss():
    learner = aw.BOA(["a", "b"], loss="log", outcomes=2)
    with pytest.raises(InputError, match="the loss of expert 'b' in row 1 must be a finite number"):
        learner.learn_many([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]], [0, 1])
    assert learner.rounds == 0


def test_rounds_of_which_only_the_losses_are_known_have_one_number_for_each_expert():
    learner = aw.MLpol(3, loss="brier", outcomes=K)
    learner.observe([0.5, 0.2, 1.0])
    learner.observe_many([[0.5, np.nan, 1.0]] * 3)
    table, outcomes = rounds_for(np.random.default_rng(4), CASES[0], 10, 3, K)
    learner.learn_many(table, outcomes)
    plain_one = aw.MLpol(3)
    plain_one.observe([0.5, 0.2, 1.0])
    plain_one.observe_many([[0.5, np.nan, 1.0]] * 3)
    assert plain_one.rounds == 4
    assert learner.rounds == 14


def test_losses_of_vectors():
    brier = losses.get("brier")
    forecasts = np.array([[[0.2, 0.8], [1.0, 0.0]], [[0.5, 0.5], [np.nan, np.nan]]])
    found = brier.values(forecasts, np.array([[1], [0]]))
    assert np.allclose(found, [[0.08, 2.0], [0.5, np.nan]], equal_nan=True)
    assert brier.slopes([[0.25, 0.75]], [0]).tolist() == [[-1.5, 1.5]]
    assert brier.of_vectors
    assert brier.convex
    log = losses.Loss("log", kinds=2)
    assert np.allclose(
        log.values(forecasts, np.array([[1], [0]])), [[-np.log(0.8), np.inf], [-np.log(0.5), np.nan]], equal_nan=True
    )
    assert log.slopes([[0.25, 0.75]], [0]).tolist() == [[-4.0, 0.0]]
    with pytest.raises(InputError, match="positions in the vectors"):
        brier.values([[0.5, 0.5]], [2])
    with pytest.raises(InputError, match="sum to 1"):
        brier.values([[0.5, 0.6]], [1])


# ---------------------------------------------------------------------- hindsight and records


@pytest.mark.parametrize("loss", ["brier", "log"])
def test_the_best_expert_and_the_best_mixture_of_vectors(loss):
    random = np.random.default_rng(8)
    table, outcomes = rounds_for(random, CASES[0], 60, 4, K)
    table = 0.9 * table + 0.1 / K
    found = best_expert(table, outcomes, loss)
    totals = [sum(LOSSES[loss](row[i], k) for row, k in zip(table, outcomes, strict=True)) for i in range(4)]
    assert np.allclose(found.losses, totals)
    assert found.position == int(np.argmin(totals))
    mixture = best_convex_combination(table, outcomes, loss)
    mixed = np.einsum("tik,i->tk", table, mixture.weights)
    assert mixture.loss == pytest.approx(sum(LOSSES[loss](row, k) for row, k in zip(mixed, outcomes, strict=True)))
    assert mixture.gap < 1e-6
    for _ in range(200):
        weights = random.dirichlet(np.full(4, 0.5))
        other = np.einsum("tik,i->tk", table, weights)
        assert sum(LOSSES[loss](row, k) for row, k in zip(other, outcomes, strict=True)) >= mixture.loss - mixture.gap
    names = ["a", "b", "c", "d"]
    rows = [dict(zip(names, ([dict(zip(NAMES, v, strict=True)) for v in row.tolist()]), strict=True)) for row in table]
    labels = [NAMES[k] for k in outcomes]
    by_name = best_convex_combination(rows, labels, loss, kinds=NAMES)
    assert best_convex_combination(rows, labels, loss).loss == mixture.loss
    assert best_convex_combination(table.tolist(), outcomes, loss).loss == mixture.loss
    assert best_shifting(rows, labels, 1, loss).loss <= found.loss
    assert by_name.loss == mixture.loss
    assert list(by_name.weights) == names
    assert best_expert(rows, labels, "brier").losses.tolist() == best_expert(table, outcomes, "brier").losses.tolist()


def test_hindsight_of_zeros():
    table = np.array([[[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]]])
    found = best_expert(table, [0, 1], "log")
    assert (found.expert, found.losses.tolist()) == (1, [np.inf, -2 * np.log(0.5)])
    mixture = best_convex_combination(table, [0, 1], "log")
    assert mixture.loss == pytest.approx(-2 * np.log(0.5))
    table[:, 1] = table[:, 0]
    with pytest.raises(InputError, match="positive for what happened in row 1"):
        best_convex_combination(table, [0, 1], "log")
    with pytest.raises(InputError, match="'brier' or 'log'"):
        best_expert(table, [0, 1], "square")
    with pytest.raises(InputError, match="in every round"):
        best_convex_combination(np.where(np.arange(4).reshape(2, 2, 1) == 1, np.nan, table), [0, 1], "brier")


def test_a_record_of_vectors():
    table, outcomes = rounds_for(np.random.default_rng(8), CASES[0], 25, 3, K, 0.3)
    learner = aw.AggregatingAlgorithm(3, outcomes=NAMES)
    record = experts.play(learner, table, [NAMES[k] for k in outcomes])
    assert record.kinds == NAMES
    assert record.forecasts.shape == (25, K)
    assert record.outcomes.tolist() == outcomes.tolist()
    assert record.shares.shape == (25, 3)
    own = [LOSSES["brier"](f, k) for f, k in zip(record.forecasts, outcomes, strict=True)]
    assert record.losses.tolist() == pytest.approx(own)
    assert record.regret_curve.max() == pytest.approx(learner.largest_regret)
    assert record.bound_curve.tolist() == [np.log(3)] * 25
    assert np.isnan(record.rmse)
    assert "rmse" in record.to_dict()
    str(record)
    log = aw.AggregatingAlgorithm(2, loss="log")
    record = experts.play(log, [[[1.0, 0.0], [0.5, 0.5]]] * 2, [0, 1])
    assert record.regret_curve_to(0).tolist()[1] == -np.inf
    assert record.best_expert == 1
