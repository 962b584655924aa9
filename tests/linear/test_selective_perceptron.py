"""The perceptron that asks for labels: its rule and draws, the two ways to use it, its estimate and its theorems."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_selective as naive
from afterwit import adversaries
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from afterwit.linear.perceptron import RootHingeBound
from afterwit.linear.selective_perceptron import (
    DRAWN_AHEAD,
    SelectiveBound,
    SelectiveUpdateBound,
    SharperSelectiveBound,
)
from problems import FORMS, in_columns, one_by_one, small_integers

seeds = st.integers(0, 2**64 - 1)
smoothings = st.sampled_from([0.125, 1, 3, 20])


def noisy(rounds, seed, width=4, noise=0.1):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, width))
    y = np.where(X @ random.standard_normal(width) >= 0, 1, -1)
    return X, np.where(random.random(rounds) < noise, -y, y)


def test_the_first_rounds_by_hand():
    """It asks if the draw is at most b / (b + |s|)."""
    assert [round(float(draw), 3) for draw in naive.draws(0, 4)] == [0.988, 0.758, 0.889, 0.436]
    learner = aw.SelectivePerceptron(b=2.0)
    assert learner.learn_one([1.0, 1.0], -1) == 1  # s = 0: it asks for certain
    assert learner.weights.tolist() == [-1, -1]
    assert learner.learn_one([1.0, 0.0], 1) == -1  # 2/3 < 0.758: a mistake that it does not hear of
    assert (learner.weights.tolist(), learner.asked, learner.mistakes) == ([-1, -1], 1, 2)
    assert learner.learn_one([0.0, 0.125], 1) == -1  # 2/2.125 > 0.889: it asks, and learns
    assert learner.weights.tolist() == [-1, -0.875]
    assert learner.learn_one([0.0, 2.0], -1) == -1  # 2/3.75 > 0.436: it asks, and was right
    assert (learner.rounds, learner.asked, learner.mistakes, learner.updates) == (4, 3, 3, 2)
    assert learner.estimated_mistakes == 1 + (1 + 0.125 / 2)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(problem=small_integers, b=smoothings, seed=seeds, passes=st.integers(1, 3))
def test_it_is_the_oracle(form, problem, b, seed, passes):
    X, y = problem
    run = naive.Run(X, y, b, seed, passes)
    assume(not run.fragile)
    at_once, singly = aw.SelectivePerceptron(b, seed), aw.SelectivePerceptron(b, seed)
    many, ones = form(X), one_by_one(form, X)
    assert [p for _ in range(passes) for p in at_once.learn_many(many, y).tolist()] == run.predictions
    assert [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(ones, y, strict=True)] == (
        run.predictions
    )
    assert at_once.state()["estimated_mistakes"] == singly.state()["estimated_mistakes"]
    for learner in (at_once, singly):
        assert in_columns(learner.weights, len(X[0])) == [float(a) for a in run.weights]
        assert (learner.asked, learner.updates) == (len(run.asked), len(run.updates))
        assert (learner.mistakes, learner.unlabelled) == (run.mistakes, 0)
        assert learner.estimated_mistakes == pytest.approx(float(run.estimate), rel=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(problem=small_integers, b=smoothings, seed=seeds)
def test_without_the_labels_that_it_does_not_want_it_learns_the_same(form, intercept, problem, b, seed):
    X, y = problem
    told, asking = (aw.SelectivePerceptron(b, seed, intercept, labels=(-1, 1)) for _ in range(2))
    for x, label in zip(one_by_one(form, X), y, strict=True):
        before = asking.copy()
        wanted = asking.asks(x)
        assert asking == before, "a question changes nothing"
        said = asking.learn_one(x, label) if wanted else asking.skip(x)
        assert said == told.learn_one(x, label)
        assert wanted == (told.asked == asking.asked > before.asked)
        same = {**told.state(), "unlabelled": asking.unlabelled, "mistakes": asking.mistakes}
        assert repr(asking.state()) == repr(same)
        assert asking.mistakes <= told.mistakes <= asking.mistakes + asking.unlabelled
    assert asking.asked + asking.unlabelled == asking.rounds
    assert asking.copy() == asking


def test_a_round_cannot_be_skipped_if_its_label_is_wanted():
    learner = aw.SelectivePerceptron(labels=("ham", "spam"))
    learner.learn_one({"cheap": 1.0}, "ham")
    before = learner.copy()
    message = r"^x must be an example whose label is not wanted; received one whose label is; learn_one\(x, y\) takes the label"
    for x in ({"new": 1.0}, {"cheap": 0.0, "other": 2.0}):
        assert learner.asks(x)
        with pytest.raises(InputError, match=message):
            learner.skip(x)
        assert learner == before
        assert list(learner.weights) == ["cheap"]
    # Rows that are read another way: lists, arrays of whole numbers, sparse rows.
    columns = aw.SelectivePerceptron()
    for row in ([1, 2], np.array([1, 2]), sparse.csr_array([[1.0, 2.0]]), np.array([True, False])):
        assert columns.asks(row)
        with pytest.raises(InputError, match=message):
            columns.skip(row)
        assert columns == aw.SelectivePerceptron()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_bad_values_are_refused_and_nothing_changes(value):
    learner = aw.SelectivePerceptron()
    learner.learn_one([1.0, 2.0], -1)
    before = learner.copy()
    for call in (learner.asks, learner.skip, lambda x: learner.learn_one(x, 1)):
        with pytest.raises(InputError):
            call([1.0, value])
        assert learner == before


@pytest.mark.parametrize("b", [0, -1, math.nan, math.inf, "1", None, True])
def test_a_bad_b_is_refused(b):
    with pytest.raises(InputError, match=r"^b must be a positive finite number; received "):
        aw.SelectivePerceptron(b=b)


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, "1", None, True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(InputError, match=r"^seed must be a whole number, at least 0 and below 2\^64; received "):
        aw.SelectivePerceptron(seed=seed)


@settings(max_examples=60)
@given(problem=small_integers, seed=seeds, passes=st.integers(1, 3))
def test_with_an_immense_b_it_is_the_perceptron(problem, seed, passes):
    X, y = problem
    for scale in (1.0, 1e-12, 1e12):
        selective, plain = aw.SelectivePerceptron(1e300, seed), aw.Perceptron()
        for _ in range(passes):
            assert selective.learn_many(scale * np.array(X), y).tolist() == (
                plain.learn_many(scale * np.array(X), y).tolist()
            )
        assert selective.weights.tolist() == plain.weights.tolist()
        assert (selective.asked, selective.mistakes, selective.updates) == (
            plain.rounds, plain.mistakes, plain.updates
        )  # fmt: skip
        assert selective.estimated_mistakes == plain.mistakes


def test_with_the_least_b_it_asks_only_at_ties():
    X, y = noisy(200, 1)
    learner = aw.SelectivePerceptron(5e-324)
    learner.learn_many(X, y)
    assert learner.asked == 1 + y.tolist().index(-1)
    assert learner.estimated_mistakes == learner.updates == 1


@settings(max_examples=40)
@given(seed=st.integers(0, 1000), power=st.integers(-40, 40), b=smoothings)
def test_only_the_ratio_of_b_to_squared_lengths_matters(seed, power, b):
    """To the bit under powers of 2."""
    X, y = noisy(80, seed)
    one, other = aw.SelectivePerceptron(b, seed), aw.SelectivePerceptron(b * 4.0**power, seed)
    assert one.learn_many(X, y).tolist() == other.learn_many(2.0**power * X, y).tolist()
    assert (2.0**power * one.weights).tolist() == other.weights.tolist()
    assert (one.asked, one.estimated_mistakes) == (other.asked, other.estimated_mistakes)


def test_draws_belong_to_rounds_however_these_come(tmp_path):
    """Longer than what is drawn at once: in one block, in pieces, one by one, saved in between, backwards by restore."""
    rounds = 2 * DRAWN_AHEAD + 3 * 77
    X, y = noisy(rounds, 3, width=2)
    whole = aw.SelectivePerceptron(0.5, 7)
    whole.learn_many(X, y)
    run = naive.Run(X[:300].tolist(), y[:300].tolist(), 0.5, 7)
    first = aw.SelectivePerceptron(0.5, 7)
    first.learn_many(X[:300], y[:300])
    assert first.asked == len(run.asked)
    pieces, singly = aw.SelectivePerceptron(0.5, 7), aw.SelectivePerceptron(0.5, 7)
    for begin in range(0, rounds, 1001):
        pieces.learn_many(X[begin : begin + 1001], y[begin : begin + 1001])
        aw.save(pieces, tmp_path / "m")
        pieces = aw.load(tmp_path / "m")
    for x, label in zip(X, y.tolist(), strict=True):
        singly.learn_one(x, label)
    assert whole == pieces == singly
    # Back to an earlier round: its draws come again.
    singly.restore(first.state())
    singly.learn_many(X[300:], y[300:])
    assert singly == whole
    assert (
        aw.SelectivePerceptron(0.5, 8).learn_many(X, y).tolist()
        != aw.SelectivePerceptron(0.5, 7).learn_many(X, y).tolist()
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"asked": 0}, r"^asked must be at least updates, 4, and at most rounds, 9; received 0"),
        ({"asked": 10}, r"^asked must be at least updates, 4, and at most rounds, 9; received 10"),
        ({"asked": -1}, r"^asked must be a whole number, at least 0"),
        ({"asked": 9, "unlabelled": 1}, r"^unlabelled must be at most the rounds without a question"),
        ({"mistakes": 9, "unlabelled": 1}, r"^unlabelled must be at most the rounds without a question"),
        ({"estimated_mistakes": 2.5}, r"^estimated_mistakes must be at least 1 and at most 2\^53 for each of 4 updates"),
        ({"estimated_mistakes": 1e18}, r"^estimated_mistakes must be at least 1 and at most 2\^53 for each of 4"),
        ({"estimated_mistakes": math.inf}, r"^estimated_mistakes must be a finite number that is not negative"),
    ],
)  # fmt: skip
def test_a_state_that_cannot_be_is_refused(changes, message):
    X, y = noisy(9, 5)
    learner = aw.SelectivePerceptron(1.0, 1)
    learner.learn_many(X, y)
    assert (learner.rounds, learner.updates) == (9, 4)
    before = learner.copy()
    with pytest.raises(InputError, match=message):
        learner.restore({**learner.state(), **changes})
    assert learner == before


def test_training_stops_at_a_pass_without_a_mistake_not_at_one_without_a_question():
    stream = adversaries.separable(60, 3, margin=0.1, seed=2)
    learner = aw.SelectivePerceptron(0.05, 3)
    training = learner.fit(stream.X, stream.y, max_passes=5000)
    assert training.converged
    assert (learner.predict_many(stream.X) == stream.y).all()


# ---------------------------------------------------------------------- theorems


@settings(max_examples=80)
@given(problem=small_integers, b=smoothings, u=st.lists(st.integers(-4, 4), min_size=5, max_size=5))
def test_on_average_the_estimate_is_the_mistakes_and_below_the_bound(problem, b, u):
    """Over all outcomes of the draws, exactly."""
    X, y = problem
    X, y = X[:9], y[:9]
    mistakes, estimate = naive.expectations(X, y, b)
    assert mistakes == estimate
    radius_square = max(naive.dot([Fraction(a) for a in x], x) for x in X)
    u = [Fraction(a, 2) for a in u[: len(X[0])]]
    norm_square, loss = sum(a * a for a in u), sum(naive.hinge_losses(X, y, u))
    assert mistakes <= naive.published(radius_square, b, norm_square, loss)
    inputs = {"radius": math.sqrt(radius_square), "b": b, "norm": math.sqrt(norm_square), "hinge_loss": float(loss)}
    assert float(mistakes) <= SharperSelectiveBound.bound(**inputs) * (1 + 1e-9)
    assert SelectiveBound.bound(**inputs) == pytest.approx(float(naive.published(radius_square, b, norm_square, loss)))


def test_the_means_of_the_learner_are_those_of_the_oracle():
    X, y = [[2, 1], [1, -1], [-1, 2], [1, 1], [0, -2], [2, -1], [-1, -1], [1, 2]], [-1, 1, 1, -1, -1, 1, 1, -1]
    mistakes, _ = naive.expectations(X, y, 2)
    learners = [aw.SelectivePerceptron(2, seed) for seed in range(4000)]
    for learner in learners:
        learner.learn_many(X, y)
    for found in ([each.mistakes for each in learners], [each.estimated_mistakes for each in learners]):
        assert abs(np.mean(found) - float(mistakes)) < 5 * np.std(found) / math.sqrt(len(found))


@settings(max_examples=200)
@given(
    radius=st.floats(0, 50),
    b=st.floats(1e-3, 1e3),
    norm=st.floats(0, 50),
    loss=st.floats(0, 500),
)
def test_the_sharper_bound_takes_the_best_c(radius, b, norm, loss):
    sharper = SharperSelectiveBound.bound(radius, b, norm, loss)
    published, updates = SelectiveBound.bound(radius, b, norm, loss), RootHingeBound.bound(radius, norm, loss)
    assert updates * (1 - 1e-9) <= sharper <= published * (1 + 1e-9)
    best = naive.best_over_c(radius, b, norm, loss, updates)
    assert best * (1 - 1e-3) <= sharper <= best * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("ratio", [1e-3, 0.1, 0.5, 2.0, 100.0])
@pytest.mark.parametrize("kind", ["noisy", "separable", "contrary", "used"])
def test_on_every_run_the_estimate_is_below_its_bound(scale, ratio, kind):
    X, y = noisy(120, 11, noise=0.0 if kind == "separable" else 0.2)
    X = scale * X
    R = float(np.linalg.norm(X, axis=1).max())
    learner = aw.SelectivePerceptron(ratio * R**2, 5)
    passes = 3 if kind == "used" else 1
    if kind == "contrary":
        y = np.array([-learner.learn_one(x, -learner.predict_one(x)) for x in X])
    else:
        for _ in range(passes):
            learner.learn_many(X, y)
    found = learner.certificate(X, y)
    assert len((found, *found.others)) == len(learner.theorems)
    for made in (found, *found.others):
        applies = made.theorem.name != "margin bound" or kind == "separable"
        assert made.verdict is (Verdict.HOLDS if applies else Verdict.NOT_APPLICABLE), made.details()
    estimated = [made for made in found.others if made.quantity == "estimated mistakes"]
    assert [type(made.theorem) for made in estimated] == [SharperSelectiveBound, SelectiveUpdateBound]
    assert all(made.observed == learner.estimated_mistakes <= made.bound + made.rounding for made in estimated)
    assert found.observed == learner.mistakes
    if kind == "separable" and ratio >= 0.5:
        margin = next(made for made in found.others if made.theorem.name == "margin bound")
        assert found.bound <= margin.bound * (1 + 1e-6)


@pytest.mark.parametrize("b", [0.1, 1.0, 30.0])
def test_an_example_with_alternating_labels_attains_the_bound_of_no_comparator(b):
    """Every second score is R^2 long; u = 0 is the best comparator, and says that nothing is known."""
    learner, labels = aw.SelectivePerceptron(b, 1), []
    x = [3.0, 4.0]
    while learner.updates < 20:
        label = -learner.predict_one(x)
        before = learner.updates
        if learner.asks(x):
            learner.learn_one(x, label)
            labels.append(label)
            assert learner.updates == before + 1
        else:
            learner.skip(x)
    assert learner.estimated_mistakes == pytest.approx(SelectiveBound.bound(5.0, b, 0.0, 20.0))
    found = learner.certificate([x] * 20, labels)
    sharper = found if found.quantity == "estimated mistakes" else found.others[0]
    assert sharper.quantity == "estimated mistakes"
    assert sharper.bound == pytest.approx(learner.estimated_mistakes)
    assert sharper.verdict is Verdict.HOLDS
    assert sharper.vacuous


@pytest.mark.parametrize("b", [0.5, 1.0, 7.0])
def test_unit_vectors_attain_the_separable_bound(b):
    """From b = R^2/2 on the perceptron's own bound holds for the estimate: n, and n mistakes are made."""
    stream = adversaries.unit_vectors(12)
    learner = aw.SelectivePerceptron(b, 4)
    learner.learn_many(stream.X, stream.y)
    assert learner.estimated_mistakes == learner.mistakes == learner.asked == 12
    found = learner.certificate(stream.X, stream.y)
    assert found.bound == pytest.approx(12, rel=1e-6)
    assert isinstance(found.theorem, SharperSelectiveBound)
    below = aw.SelectivePerceptron(0.25, 4)
    below.learn_many(stream.X, stream.y)
    assert below.certificate(stream.X, stream.y).bound == pytest.approx(12 * (0.5 + 1) ** 2 / 2, rel=1e-6)


# ---------------------------------------------------------------------- certificates


def test_the_certificate_of_given_numbers():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -2.0]]), [-1, 1, 1, 1]
    learner = aw.SelectivePerceptron(2.0, 3)
    learner.learn_many(X, y)
    found = learner.certificate(X, y, comparator=[-1.0, 0.0])
    made = next(each for each in (found, *found.others) if type(each.theorem) is SelectiveBound)
    length, loss = made.inputs["|u|"], made.inputs["L"]
    assert loss == pytest.approx(2 * max(0.0, 1 - length) + 2)
    assert made.bound == pytest.approx((1 + 4 / 4) * loss + length**2 * (4 + 4) ** 2 / 16)
    assert (made.inputs["R"], made.inputs["b"]) == (2, 2)
    assert made.quantity == "mistakes"
    assert made.observed == learner.mistakes
    updates = next(each for each in found.others if type(each.theorem) is SelectiveUpdateBound)
    assert updates.inputs["L_U"] <= loss
    assert not updates.theorem.foreseeable


def test_skipped_rounds_are_certified_by_those_in_which_it_asked():
    X, y = noisy(300, 2)
    told, asking = aw.SelectivePerceptron(1.0, 9), aw.SelectivePerceptron(1.0, 9)
    told.learn_many(X, y)
    rows = []
    for t, x in enumerate(X):
        if asking.asks(x):
            asking.learn_one(x, y[t])
            rows.append(t)
        else:
            asking.skip(x)
    assert 0 < asking.unlabelled < 300
    found = asking.certificate(X[rows], y[rows])
    assert (found.quantity, found.verdict, found.rounds) == ("estimated mistakes", Verdict.HOLDS, 300)
    assert found.observed == told.estimated_mistakes
    assert found.hindsight is None
    told_bound = next(made for made in told.certificate(X, y).others if made.quantity == "estimated mistakes").bound
    assert found.bound <= told_bound * (1 + 1e-3)
    refused = [made for made in found.others if made.quantity == "mistakes"]
    assert len(refused) == 2
    for made in refused:
        assert made.verdict is Verdict.NOT_APPLICABLE
        assert made.why_not() == [
            f"in {asking.unlabelled} rounds no label was given, so the mistakes are not known; they are estimated"
        ]
    everything = asking.certificate(X, y)
    assert everything.verdict is Verdict.NOT_APPLICABLE
    assert everything.why_not()[0] == (
        f"it skipped {asking.unlabelled} rounds; give the {asking.asked} rounds in which it asked, in order"
    )
    wrong = asking.certificate(X[rows][::-1], y[rows][::-1])
    assert wrong.verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("changes", "because"),
    [
        ({"asked": 41}, "the learner counts 41 labels asked, these rows give "),
        ({"estimated_mistakes": 33.0}, "the learner estimates its mistakes at 33, these rows give "),
    ],
)
def test_what_the_learner_claims_is_checked(changes, because):
    X, y = noisy(60, 4)
    learner = aw.SelectivePerceptron(2.0, 2)
    learner.learn_many(X, y)
    assert learner.certificate(X, y).verdict is Verdict.HOLDS
    learner.restore({**learner.state(), **changes})
    found = learner.certificate(X, y)
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.why_not()[0].startswith(because)


def test_a_b_out_of_all_proportion_has_only_the_bounds_on_updates():
    X, y = noisy(30, 4)
    for b, size in ((1e300, "large"), (1e-300, "small")):
        learner = aw.SelectivePerceptron(b, 2)
        learner.learn_many(X, y)
        found = learner.certificate(X, y)
        assert (found.quantity, found.verdict) == ("updates", Verdict.HOLDS)
        others = [made for made in found.others if made.quantity != "updates"]
        assert len(others) == 4
        assert all(made.why_not() == [f"b is too {size} beside the squared lengths"] for made in others)


# ---------------------------------------------------------------------- records


def test_a_record_counts_the_labels_asked_for():
    X, y = noisy(100, 6)
    learner = aw.SelectivePerceptron(1.0, 1)
    record = aw.play(learner, X, y)
    assert record.asked == learner.asked > 0
    again = aw.play(learner, X, y, passes=2)
    assert again.asked == learner.asked - record.asked
    assert str(record).splitlines()[-1] == f"labels asked for: {record.asked} of 100 ({record.asked}.00%)"
    assert json.loads(json.dumps(record.to_dict()))["asked"] == record.asked
    pairs = aw.play(aw.SelectivePerceptron(1.0, 1), list(zip(X, y.tolist(), strict=True)))
    assert pairs.asked == record.asked
    nothing = aw.play(aw.SelectivePerceptron(), [])
    assert str(nothing).splitlines()[-1] == "labels asked for: 0 of 0"
    plain = aw.play(aw.Perceptron(), X, y)
    assert plain.asked is None
    assert "asked" not in plain.to_dict()
    assert "asked" not in str(plain)


def test_the_command_line_shows_the_labels_asked_for(run_cli, tmp_path):
    X, y = noisy(64, 6)
    lines = (f"{label} 1:{x[0]!r} 2:{x[1]!r} 3:{x[2]!r} 4:{x[3]!r}\n" for x, label in zip(X.tolist(), y, strict=True))
    (tmp_path / "data").write_text("".join(lines))
    learner = aw.SelectivePerceptron(2.0, 5)
    learner.learn_many(X, y)
    result = run_cli(
        "run", tmp_path / "data", "--learner", "selective-perceptron", "--option", "b=2", "--option", "seed=5"
    )
    assert result.returncode == 0, result.stderr
    assert f"\nlabels asked for: {learner.asked} of 64 ({learner.asked / 64:.2%})\n" in result.stdout
    assert f"happened   {learner.mistakes} mistakes" in result.stdout
    assert "labels asked for" not in run_cli("run", tmp_path / "data").stdout
