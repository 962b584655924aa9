"""Labels that come late: linear learners that decide by what they served, and their theorems."""

import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import afterwit as aw
import naive
import naive_late
from afterwit.core.certificate import Verdict
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.linear._late_bounds import (
    LateHingeBound,
    LateMarginBound,
    LateMarginUpdateBound,
    MeasuredHingeBound,
    MeasuredMarginBound,
)
from afterwit.linear._late_regret import LateBallBound, LateGradientBound, LateObservedBound

SERVED = {
    "Perceptron": lambda: aw.Perceptron(rate=0.5),
    "MarginPerceptron": lambda: aw.MarginPerceptron(margin=2.0),
    "SGD hinge": lambda: aw.SGD(loss="hinge", rate=0.25, intercept=False),
    "OnlineSVM": lambda: aw.OnlineSVM(C=1.0, rate=0.5),
    "SGDRegressor": lambda: aw.SGDRegressor(loss="absolute", rate=0.25, intercept=False),
}


def through_json(ticket):
    again = json.loads(json.dumps(ticket, allow_nan=False))
    assert same_value(again, ticket)
    return again


def play(learner, rows, labels, events, after=lambda learner, _: learner):
    """Serve and learn as the events say; tickets pass through JSON. What is left of the learner, and what it said."""
    tickets, said = {}, []
    for number, (event, t) in enumerate(events):
        learner = after(learner, number)
        if event == "predict":
            before = learner.state()
            prediction, tickets[t] = learner.serve_one(rows[t])
            assert same_value(learner.state(), before), "serving changed the learner"
            assert prediction == learner.predict_one(rows[t])
            said.append(prediction)
            tickets[t] = through_json(tickets[t]), prediction
        else:
            ticket, prediction = tickets.pop(t)
            assert learner.learn_late(ticket, labels[t]) == prediction
    return learner, said


@st.composite
def runs(draw, most=14, width=3):
    """Small whole numbers, labels, and delays of any kind, so that labels come in any order."""
    n = draw(st.integers(1, most))
    rows = draw(st.lists(st.lists(st.integers(-3, 3), min_size=width, max_size=width), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    longest = draw(st.sampled_from([0, 1, 3, n]))
    delays = draw(st.lists(st.integers(0, longest), min_size=n, max_size=n))
    scale = draw(st.sampled_from([1.0, 1.0, 2.0**-40, 2.0**40]))
    return [[scale * value for value in row] for row in rows], labels, naive.delayed_events(n, delays)


def oracle(name, rows, labels, events):
    if name == "Perceptron":
        return naive_late.perceptron(rows, labels, events, 0.5)
    if name == "MarginPerceptron":
        return naive_late.margin_perceptron(rows, labels, events, 2.0)
    if name == "SGD hinge":
        return naive_late.descent(rows, labels, events, lambda s, y: -y if y * s < 1 else 0, 0.25)
    if name == "OnlineSVM":
        return naive_late.online_svm(rows, labels, events, 1.0, 0.5)
    return naive_late.descent(rows, labels, events, lambda s, y: (s > y) - (s < y), 0.25)


@given(run=runs(), name=st.sampled_from(list(SERVED)))
def test_what_is_learned_is_what_the_oracle_says(run, name):
    rows, labels, events = run
    learner, _ = play(SERVED[name](), rows, labels, events)
    expected = oracle(name, rows, labels, events)
    exact = name != "OnlineSVM"
    assert np.allclose(
        learner.weights, [float(a) for a in expected.w], rtol=0 if exact else 1e-9, atol=0 if exact else 1e-9
    )
    assert learner.rounds == len(labels)
    assert learner.updates == len(expected.updates)
    assert learner.delays == expected.counts
    if name != "SGDRegressor":
        assert learner.mistakes == expected.mistakes


FORMS = {
    "dense": lambda X: X,
    "sparse": csr_array,
    "named": lambda X: [{f"f{j}": value for j, value in enumerate(row) if value} for row in X.tolist()],
}


def rows_in(X):
    return [X[[i]] for i in range(X.shape[0])] if isinstance(X, csr_array) else list(X)


def sample(random, n=60, width=5):
    X = np.round(random.standard_normal((n, width)) * 4) / 4
    X[random.random((n, width)) < 0.3] = 0.0
    return X, np.where(random.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize("form", ["dense", "sparse", "named"])
@pytest.mark.parametrize("name", list(SERVED))
def test_many_tickets_are_a_loop_of_one(name, form):
    X, y = sample(np.random.default_rng(3))
    examples = FORMS[form](X)
    one, many = SERVED[name](), SERVED[name]()
    singly = rows_in(examples)
    for begin in range(0, 60, 12):
        span = slice(begin, begin + 12)
        predictions, tickets = many.serve_many(examples[span])
        served = [one.serve_one(x) for x in singly[span]]
        assert predictions.tolist() == [prediction for prediction, _ in served]
        assert same_value(tickets, [ticket for _, ticket in served])
        # The labels come backwards.
        labels = y[span][::-1].tolist()
        assert many.learn_late_many(tickets[::-1], labels).tolist() == predictions.tolist()[::-1]
        for (prediction, ticket), label in zip(served[::-1], labels, strict=True):
            assert one.learn_late(ticket, label) == prediction
    assert one == many
    assert many.delays["largest"] == 11


def test_rows_of_different_widths_and_forms_are_learned_together():
    one, many = aw.Perceptron(), aw.Perceptron()
    rows = [np.array([1.0, 2.0]), np.array([1.0, 0.0, -3.0]), csr_array([[0.0, 1.0, 0.0, 0.0]]), np.zeros(0)]
    tickets = [many.serve_one(row)[1] for row in rows]
    many.learn_late_many(tickets, [-1, 1, -1, -1])
    for ticket, label in zip(tickets, [-1, 1, -1, -1], strict=True):
        one.learn_late(ticket, label)
    assert one == many
    assert many.features == 4


@pytest.mark.parametrize("name", list(SERVED))
def test_a_label_that_comes_at_once_teaches_the_same(name):
    X, y = sample(np.random.default_rng(5))
    at_once, late = SERVED[name](), SERVED[name]()
    for x, label in zip(X, y.tolist(), strict=True):
        prediction, ticket = late.serve_one(x)
        assert late.learn_late(ticket, label) == at_once.learn_one(x, label) == prediction
    assert late == at_once
    assert late.delays is None
    assert "late_labels" not in late.state()
    order = list(range(len(y)))
    assert late.certificate(X, y, served=order).to_dict() == at_once.certificate(X, y).to_dict()


@pytest.mark.parametrize("name", list(SERVED))
def test_tickets_survive_saving_copies_and_pickles(name, tmp_path):
    random = np.random.default_rng(8)
    X, y = sample(random, 30)
    events = naive.delayed_events(30, random.integers(0, 9, 30).tolist())

    def saved(learner, number):
        if number % 7 == 3:
            aw.save(learner, tmp_path / "model")
            learner = aw.load(tmp_path / "model")
        if number % 7 == 5:
            learner = pickle.loads(pickle.dumps(learner))
        return learner.copy() if number % 7 == 6 else learner

    plain, _ = play(SERVED[name](), list(X), y.tolist(), events)
    again, _ = play(SERVED[name](), list(X), y.tolist(), events, saved)
    assert plain == again
    assert again.delays == plain.delays is not None


def test_labels_that_nobody_named_are_taken_from_the_first_that_comes():
    learner = aw.Perceptron()
    prediction, ticket = learner.serve_one([1.0])
    assert prediction == 1
    assert learner.learn_late(ticket, False) is True
    assert learner.labels == (False, True)
    assert learner.mistakes == 1


# ---------------------------------------------------------------------- what is refused


def good():
    learner = aw.Perceptron()
    learner.learn_many([[1.0, 2.0], [2.0, -1.0]], [-1, 1])
    return learner, learner.serve_one([1.0, 1.0])[1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: None, "ticket must be what serve_one of Perceptron returned; received None"),
        (lambda t: [t], "ticket must be what serve_one of Perceptron returned"),
        (lambda t: {**t, "more": 1}, "ticket must be what serve_one of Perceptron returned"),
        (lambda t: {k: v for k, v in t.items() if k != "x"}, "ticket must be what serve_one of Perceptron returned"),
        (lambda t: {**t, "ticket": "SGD"}, "received a ticket of 'SGD'"),
        (lambda t: aw.AdaGrad().serve_one([1.0])[1], "received a ticket of 'AdaGrad'"),
        (lambda t: {**t, "rounds": 3, "updates": 1}, "ticket must be from a moment this learner has passed"),
        (lambda t: {**t, "updates": 2}, "ticket must be from a moment this learner has passed"),
        (lambda t: {**t, "rounds": 2, "updates": 0}, "ticket must be from a moment this learner has passed"),
        (lambda t: {**t, "rounds": -1}, "received one of -1 rounds and 1 updates"),
        (lambda t: {**t, "rounds": 2.0}, "received one of 2.0 rounds"),
        (lambda t: {**t, "score": "1"}, "score of ticket must be a finite number"),
        (lambda t: {**t, "score": math.inf}, "score of ticket must be a finite number"),
        (lambda t: {**t, "x": None}, "x of the ticket must be an example as serve_one of Perceptron writes it"),
        (lambda t: {**t, "x": {"values": [1, 2]}}, "x of the ticket must be an example"),
        (lambda t: {**t, "x": {"values": [math.nan]}}, "x of the ticket must be an example"),
        (lambda t: {**t, "x": {"names": ["a", "a"], "values": [1.0, 2.0]}}, "x of the ticket must be an example"),
        (lambda t: {**t, "x": {"names": ["a"], "values": [1.0, 2.0]}}, "x of the ticket must be an example"),
        (lambda t: {**t, "x": {"names": ["a"], "values": [1.0]}}, "learned features by position|all by position"),
        (lambda t: {**t, "x": sparse([3, 2])}, "x of the ticket must be an example"),
        (lambda t: {**t, "x": sparse([-1, 2])}, "must be positions from 0 to|must be an example"),
        (lambda t: {**t, "x": sparse([0, 2**40])}, "must be positions from 0 to|must be an example"),
        (lambda t: {**t, "x": sparse([0, 1], width=-3)}, "must be an example|width must be"),
        (lambda t: {**t, "x": sparse([0, 1], width=2**50)}, "must be an example|width must be"),
    ],
)
def test_what_is_no_ticket_of_this_learner_is_refused_before_anything_changes(change, why):
    learner, ticket = good()
    before = learner.state()
    for call in (
        lambda: learner.learn_late(change(ticket), 1),
        lambda: learner.learn_late_many([ticket, change(ticket)], [1, -1]),
    ):
        with pytest.raises(
            InputError,
            match=why.replace("ticket must", r"(ticket|tickets\[1\]) must")
            .replace("of ticket", r"of (ticket|tickets\[1\])")
            .replace("the ticket", r"the (ticket|tickets\[1\])"),
        ) as caught:
            call()
        assert len(str(caught.value).splitlines()) == 1
        assert same_value(learner.state(), before)


def sparse(columns, width=None):
    width = max(columns) + 1 if width is None else width
    return {"columns": columns, "values": [1.0] * len(columns), "width": width, "ids": False}


def test_bad_labels_and_lengths_are_refused_before_anything_changes():
    learner, ticket = good()
    before = learner.state()
    for call, why in (
        (lambda: learner.learn_late(ticket, 7), "y must be -1 or 1; received 7"),
        (lambda: learner.learn_late_many([ticket, ticket], [1, 7]), r"y\[1\] must be -1 or 1; received 7"),
        (
            lambda: learner.learn_late_many([ticket], [1, 1]),
            r"y must be as long as tickets \(1 ticket\); received 2 labels",
        ),
        (lambda: learner.serve_one([math.nan]), "must be a finite number"),
        (lambda: learner.serve_one({"a": 1.0}), "by position"),
    ):
        with pytest.raises(InputError, match=why):
            call()
        assert same_value(learner.state(), before)
    assert learner.learn_late_many([], []).tolist() == []


def test_names_that_are_no_plain_data_have_no_ticket():
    learner = aw.Perceptron()
    assert through_json(learner.serve_one({("a", 1): 1.0, 2: 2.0, None: 3.0, True: 0.5})[1])
    with pytest.raises(
        InputError, match="the name of a feature must be a number, a string, a boolean, None or a tuple"
    ):
        learner.serve_one({b"a": 1.0})


def test_counts_that_cannot_be_are_not_loaded():
    X, y = sample(np.random.default_rng(5))
    learner = aw.Perceptron()
    _, tickets = learner.serve_many(X)
    learner.learn_late_many(tickets, y)
    state = learner.state()
    learner.copy().restore(state)
    for wrong in (
        None,
        {},
        {**state["late_labels"], "late": 0},
        {**state["late_labels"], "late": 61},
        {**state["late_labels"], "largest": 60},
        {**state["late_labels"], "total": 58},
        {**state["late_labels"], "total": 10**6},
        {**state["late_labels"], "most_between_updates": 60},
        {**state["late_labels"], "late": 59.0},
    ):
        changed = {**state, "late_labels": wrong}
        if wrong is None:
            aw.Perceptron().restore(changed)
            continue
        with pytest.raises(InputError, match="late_labels must be counts of labels that came late"):
            learner.restore(changed)
    adagrad = aw.AdaGrad(intercept=False)
    adagrad.learn_many(X, y)
    with pytest.raises(InputError, match="late_labels must be left out for AdaGrad"):
        adagrad.restore({**adagrad.state(), "late_labels": state["late_labels"]})


# ---------------------------------------------------------------------- theorems


def certified(learner, rows, targets, run, **given):
    X = np.array([rows[t] for t in run.order], dtype=float)
    y = [targets[t] for t in run.order]
    return learner.certificate(X, y, served=run.served_after, **given)


def every(certificate):
    return {type(made.theorem): made for made in (certificate, *certificate.others)}


@given(run=runs(), name=st.sampled_from(list(SERVED)))
def test_no_theorem_is_violated_and_delays_are_what_they_were(run, name):
    rows, labels, events = run
    learner, _ = play(SERVED[name](), rows, labels, events)
    expected = oracle(name, rows, labels, events)
    made = certified(learner, rows, labels, expected)
    late = [d for d in expected.delays if d]
    for each in (made, *made.others):
        assert each.verdict is not Verdict.VIOLATED, each.details()
        assert each.assumptions[0].holds, each.details()
        assert bool(each.late) == bool(late)
        if late and not each.theorem.late:
            assert each.verdict is Verdict.NOT_APPLICABLE
        if not late:
            assert not type(each.theorem).__name__.startswith(("Late", "Measured"))
    if late:
        assert f"late labels: {len(late):,} of {len(labels):,} round" in str(made)
        assert f"largest delay {max(late)}, mean {sum(late) / len(late):.3g}" in str(made)


@given(copies=st.integers(1, 6), directions=st.integers(1, 5), scale=st.sampled_from([1e-12, 1.0, 1e12]))
def test_the_measured_bounds_are_tight(copies, directions, scale):
    """Each unit vector is served d + 1 times before its first label comes: every time it is a mistake."""
    learner, order = aw.Perceptron(), []
    for direction in range(directions):
        x = scale * np.eye(directions)[direction]
        tickets = [learner.serve_one(x)[1] for _ in range(copies)]
        learner.learn_late_many(tickets, [-1] * copies)
        order += [(direction, ticket["rounds"]) for ticket in tickets]
    assert learner.mistakes == learner.updates == copies * directions
    if copies == 1:
        assert learner.delays is None
        return
    X = scale * np.eye(directions)[[direction for direction, _ in order]]
    u = np.full(directions, -1.0)
    made = every(learner.certificate(X, [-1] * len(X), u, served=[rounds for _, rounds in order]))
    measured = made[MeasuredMarginBound]
    assert measured.bound == pytest.approx(copies * directions, rel=1e-9)
    assert made[LateMarginBound].bound == pytest.approx((1 + 2 * (copies - 1)) * directions, rel=1e-9)
    assert all(each.verdict is not Verdict.VIOLATED for each in made.values())


def test_the_bounds_are_those_of_the_page():
    """By their formulas, from numbers counted by the oracle."""
    random = np.random.default_rng(11)
    X = np.round(8 * random.standard_normal((80, 3))) / 8
    u = np.array([1.0, -0.5, 2.0])
    y = np.where(X @ u >= 0, 1, -1)
    y[::9] = -y[::9]
    rows, labels = X.tolist(), y.tolist()
    events = naive.delayed_events(80, random.integers(0, 11, 80).tolist())
    learner, _ = play(aw.Perceptron(), rows, labels, events)
    run = naive_late.perceptron(rows, labels, events)
    made = every(certified(learner, rows, labels, run, comparator=u))
    radius, d, D = naive.radius(rows), max(run.delays), sum(run.between)
    for theorem in (LateHingeBound, MeasuredHingeBound):
        inputs = made[theorem].inputs
        scale = inputs["|u|"] / naive.norm(u)
        hinge = sum(float(loss) for loss in naive.hinge_losses([scale * a for a in u], rows, labels))
        assert inputs["L"] == pytest.approx(hinge, rel=1e-9)
        reach = radius * inputs["|u|"]
        if theorem is LateHingeBound:
            assert inputs["d"] == d
            wanted = ((reach * math.sqrt(1 + 2 * d) + math.sqrt(reach**2 * (1 + 2 * d) + 4 * hinge)) / 2) ** 2
        else:
            assert inputs["sum d_t"] == D
            root = (reach + math.sqrt(reach**2 + 4 * (hinge + 2 * D))) / 2
            wanted = root**2 - 2 * D
        assert made[theorem].bound == pytest.approx(wanted, rel=1e-9)
        assert made[theorem].observed == run.mistakes <= wanted


def test_the_margin_perceptron_is_held_to_its_late_bound():
    random = np.random.default_rng(2)
    X = random.standard_normal((300, 2))
    X = X[np.abs(X @ [0.8, 0.6]) > 0.4]
    y = np.where(X @ [0.8, 0.6] > 0, 1, -1)
    rows, labels = X.tolist(), y.tolist()
    events = naive.delayed_events(len(rows), random.integers(0, 4, len(rows)).tolist())
    learner, _ = play(aw.MarginPerceptron(margin=0.4), rows, labels, events)
    run = naive_late.margin_perceptron(rows, labels, events, 0.4)
    made = every(certified(learner, rows, labels, run))[LateMarginUpdateBound]
    assert made.bound == pytest.approx(16 * (1 + 2 * max(run.delays)) * (naive.radius(rows) / 0.4) ** 2)
    assert made.observed == len(run.updates) <= made.bound


@given(run=runs())
def test_what_lateness_costs_a_gradient_learner_is_measured(run):
    rows, labels, events = run
    learner, _ = play(SERVED["SGD hinge"](), rows, labels, events)
    expected = oracle("SGD hinge", rows, labels, events)
    if expected.counts is None:
        return
    u = np.array([0.5, -0.25, 0.125])
    made = every(certified(learner, rows, labels, expected, comparator=u))
    served = sum(max(Fraction(0), 1 - labels[t] * expected.served[t]) for t in expected.order)
    squares = sum(sum(g * g for g in gradient) for gradient in expected.gradients)
    radius_square = max(sum(Fraction(a) ** 2 for a in row) for row in rows)

    def at(vector, more):
        lost = sum(max(0.0, 1 - y * float(naive_late.dot(vector, x))) for x, y in zip(rows, labels, strict=True))
        return lost + sum(a * a for a in vector) / 0.5 + more

    observed, promised = made[LateObservedBound], made[LateGradientBound]
    assert observed.observed == pytest.approx(float(served), rel=1e-9)
    more = float(Fraction(1, 8) * squares + expected.drift)
    assert observed.bound == pytest.approx(min(at(v, more) for v in ([0.0] * 3, u.tolist())), rel=1e-9)
    more = float(Fraction(1, 4) * radius_square * (Fraction(len(rows), 2) + sum(expected.delays)))
    assert promised.bound == pytest.approx(min(at(v, more) for v in ([0.0] * 3, u.tolist())), rel=1e-9)
    assert served <= promised.bound + promised.rounding
    assert abs(expected.drift) <= Fraction(1, 4) * radius_square * sum(expected.delays)


def test_the_bound_on_a_ball_is_that_of_the_page():
    """In a ball that the weights never reach, so that the oracle need not project them."""
    random = np.random.default_rng(3)
    X = random.integers(-2, 3, (30, 3)).astype(float)
    y = np.where(random.random(30) < 0.5, 1, -1)
    rows, labels = X.tolist(), y.tolist()
    events = naive.delayed_events(30, random.integers(0, 7, 30).tolist())
    learner, _ = play(aw.SGD(loss="hinge", rate=0.25, ball=64.0, intercept=False), rows, labels, events)
    run = oracle("SGD hinge", rows, labels, events)
    u = np.array([1.0, -0.5, 0.25])
    made = every(certified(learner, rows, labels, run, comparator=u))[LateBallBound]
    squares = sum(sum(g * g for g in gradient) for gradient in run.gradients)
    lost = [
        sum(max(0.0, 1 - label * float(naive_late.dot(v, x))) for x, label in zip(rows, labels, strict=True))
        for v in ([0.0] * 3, u.tolist())
    ]
    assert made.bound == pytest.approx(min(lost) + 128.0**2 / 0.5 + float(squares / 8 + run.drift), rel=1e-9)
    assert not made.theorem.foreseeable


@pytest.mark.parametrize("schedule", ["constant", "1/sqrt(t)"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared", "perceptron"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_descent_on_a_ball_holds_with_late_labels(loss, schedule, scale):
    random = np.random.default_rng(7)
    X, y = sample(random, 50, 3)
    learner = aw.SGD(loss=loss, rate=0.3 / scale**2, schedule=schedule, ball=2.0 / scale, intercept=False)
    record = aw.play(learner, list(zip(scale * X, y.tolist(), strict=True)), delay=lambda t, x, label: (7 * t) % 13)
    made = every(record.certificate())
    assert made[LateBallBound].verdict is Verdict.HOLDS
    assert all(each.verdict is not Verdict.VIOLATED for each in made.values())
    assert (made[LateObservedBound].verdict is Verdict.HOLDS) == (schedule == "constant")


def test_served_has_to_be_what_happened():
    random = np.random.default_rng(4)
    X, y = sample(random, 40)
    rows, labels = X.tolist(), y.tolist()
    events = naive.delayed_events(40, random.integers(0, 9, 40).tolist())
    learner, _ = play(aw.Perceptron(), rows, labels, events)
    run = naive_late.perceptron(rows, labels, events)
    order = run.order
    with pytest.raises(InputError, match="served must be given, because labels came late"):
        learner.certificate(X[order], y[order])
    with pytest.raises(InputError, match="y must be given with X"):
        learner.certificate("file", served=run.served_after)
    for wrong in (run.served_after[:-1], [-1, *run.served_after[1:]], [1, *run.served_after[1:]], "ab", [0.5] * 40):
        with pytest.raises(
            InputError, match="served must be the number of rounds learned when each example was served"
        ):
            learner.certificate(X[order], y[order], served=wrong)
    others = list(run.served_after)
    place = next(t for t in range(40) if others[t] < t)
    others[place] += 1
    for made in (
        learner.certificate(X[order], y[order], served=others),
        learner.certificate(X[order], y[order], served=list(range(40))),
        learner.certificate(X[order][::-1], y[order][::-1], served=run.served_after),
    ):
        assert made.verdict is Verdict.NOT_APPLICABLE
        assert made.why_not()


@pytest.mark.parametrize("name", ["AdaGrad", "ScaleFree", "AveragedPerceptron", "PassiveAggressive"])
def test_a_learner_that_learns_as_of_arrival_says_so(name):
    X, y = sample(np.random.default_rng(6))
    learner, plain = getattr(aw, name)(), getattr(aw, name)()
    record = aw.play(learner, list(zip(X, y.tolist(), strict=True)), delay=5)
    plain.learn_many(X, y)
    assert learner == plain
    made = record.certificate()
    assert made.observed == plain.certificate(X, y).observed
    assert made.late.startswith("late labels: 59 of 60 rounds, largest delay 5, mean 4.83; ")
    assert made.late.endswith("this is about the predictions when labels came, not about those that were served")
    assert " ".join(str(made).split()).count(made.late) == 1
    same = learner.certificate(X, y, served=[max(0, t - 5) for t in range(60)])
    assert same.to_dict() == made.to_dict()


@pytest.mark.parametrize("delay", [1, 7, lambda t, x, y: (5 * t) % 11])
@pytest.mark.parametrize("name", list(SERVED))
def test_play_counts_what_the_learner_counts(name, delay):
    X, y = sample(np.random.default_rng(9))
    learner = SERVED[name]()
    record = aw.play(learner, list(zip(X, y.tolist(), strict=True)), delay=delay, passes=2)
    assert record.rounds == learner.rounds == 120
    if name == "SGDRegressor":
        assert record.loss == learner.loss
    else:
        assert record.mistakes == learner.mistakes
    made = record.certificate()
    assert made.assumptions[0].holds
    assert made.verdict is Verdict.HOLDS or name == "MarginPerceptron"
    assert "late labels: " in str(made)
