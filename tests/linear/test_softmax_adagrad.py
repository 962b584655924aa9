"""Softmax AdaGrad: the oracle to the bit, probabilities, its theorem against adversaries, and the checker."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
from afterwit.certify import softmax as checker
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from naive_multiclass import SoftmaxRun
from problems import FORMS, as_dense, in_columns, one_by_one

LABELS = ["cat", 7, None, (1, "b")]


def problems(values, rows=12):
    return st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(st.lists(values, min_size=width, max_size=width), st.sampled_from(LABELS)),
            min_size=1,
            max_size=rows,
        ).map(lambda examples: ([x for x, _ in examples], [y for _, y in examples]))
    )


def oracle(X, y, announced=None, passes=1, rate=0.15, delta=1e-6, intercept=True):
    rows = [{"one": 1.0, **dict(enumerate(x))} if intercept else dict(enumerate(x)) for x in X]
    return SoftmaxRun(rows, y, rate, delta, announced, passes)


def agrees(learner, predicted, run, width):
    """Every prediction, count, weight and sum of squares is the oracle's, to the bit."""
    assert predicted == run.predictions
    assert learner.classes == tuple(run.weights)
    assert learner.updates == run.updates
    wrong = [guess != label for guess, label in zip(run.predictions, learner.labels_seen, strict=True)]
    assert (learner.rounds, learner.mistakes) == (len(wrong), sum(wrong))
    state = learner.state()
    reserved = int(learner.intercept)
    for k, (label, weights) in enumerate(run.weights.items()):
        assert in_columns(learner.weights[label], width) == [weights.get(j, 0.0) for j in range(width)]
        assert learner.intercept_weight[label] == weights.get("one", 0.0)
        squares = [run.squares[label].get(name, 0.0) for name in ["one"][:reserved] + list(range(width))]
        found = state["squares"][:, k].tolist()
        assert found + [0.0] * (len(squares) - len(found)) == squares


class Noted(aw.SoftmaxAdaGrad):
    """Remembers the labels it has seen."""

    labels_seen = ()


# ---------------------------------------------------------------------- the oracle


def test_the_first_rounds_by_hand():
    learner = aw.SoftmaxAdaGrad(rate=0.5, delta=0, intercept=False)
    assert learner.predict_one([1.0]) is None
    assert (learner.score_one([1.0]), learner.predict_proba_one([1.0])) == ({}, {})
    assert learner.predict_proba_many([[1.0], [2.0]]).shape == (2, 0)
    assert learner.learn_one([1.0], "a") is None  # one class alone has the probability 1: nothing to learn
    assert (learner.rounds, learner.mistakes, learner.updates) == (1, 1, 0)
    assert learner.learn_one([2.0], "b") == "a"  # both 1/2: gradients 1 and -1, first steps of length rate
    assert {label: w.tolist() for label, w in learner.weights.items()} == {"a": [-0.5], "b": [0.5]}
    assert learner.learn_one([1.0], "c") == "b"  # scores -1/2, 1/2, and 0 for the class that begins
    total = math.exp(-1.0) + 1 + math.exp(-0.5)
    pa, pb = math.exp(-1.0) / total, 1 / total
    assert learner.weights["a"][0] == pytest.approx(-0.5 - 0.5 * pa / math.sqrt(1 + pa**2), rel=1e-15)
    assert learner.weights["b"][0] == pytest.approx(0.5 - 0.5 * pb / math.sqrt(1 + pb**2), rel=1e-15)
    assert learner.weights["c"].tolist() == [0.5]
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 3, 2)


def test_labels_that_are_named_have_their_probability_from_the_start():
    learner = aw.SoftmaxAdaGrad(labels=("b", "a", "c", "d"))
    assert learner.predict_proba_one([1.0]) == dict.fromkeys("bacd", 0.25)
    assert learner.predict_one([1.0]) == "b"
    learner.learn_one([1.0], "a")
    assert (learner.mistakes, learner.updates) == (1, 1)
    assert learner.predict_one([1.0]) == "a"


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(
    problem=problems(st.floats(-5, 5)),
    named=st.booleans(),
    passes=st.integers(1, 2),
    rate=st.sampled_from([0.15, 3.0]),
    delta=st.sampled_from([0.0, 1e-6, 1.0]),
    intercept=st.booleans(),
)
def test_every_form_is_the_oracle(form, problem, named, passes, rate, delta, intercept):
    X, y = problem
    options = {"rate": rate, "delta": delta, "intercept": intercept, "labels": LABELS[::-1] if named else None}
    at_once, singly = Noted(**options), aw.SoftmaxAdaGrad(**options)
    at_once.labels_seen = y * passes
    predicted = [label for _ in range(passes) for label in at_once.learn_many(form(X), y).tolist()]
    agrees(at_once, predicted, oracle(X, y, options["labels"], passes, rate, delta, intercept), len(X[0]))
    one = [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(one_by_one(form, X), y, strict=True)]
    assert one == predicted
    assert at_once.parameters == singly.parameters
    assert singly.copy() == singly
    for key, value in singly.state().items():
        assert np.array_equal(at_once.state()[key], value) if isinstance(value, np.ndarray) else True
    shares = [list(at_once.predict_proba_one(x).values()) for x in one_by_one(form, X)]
    assert at_once.predict_proba_many(form(X)).tolist() == shares
    for scores, row in zip(at_once.score_many(form(X)).tolist(), shares, strict=True):
        exact = [math.exp(score - max(scores)) for score in scores]
        assert row == pytest.approx([each / math.fsum(exact) for each in exact], rel=1e-12)


@pytest.mark.parametrize("power", [-40, -20, 0, 20, 40])  # 1e-12 to 1e12
def test_every_scale_is_the_oracle(power):
    random = np.random.default_rng(power + 40)
    X = random.standard_normal((60, 5)) * 2.0**power
    y = [LABELS[k] for k in random.integers(0, 4, 60)]
    learner = Noted()
    learner.labels_seen = y
    agrees(learner, learner.learn_many(X, y).tolist(), oracle(X.tolist(), y), 5)


def test_a_round_that_is_right_beyond_doubt_changes_nothing():
    learner = aw.SoftmaxAdaGrad(rate=1.0, delta=0, intercept=False, labels=("a", "b"))
    learner.learn_one([1.0], "a")
    before = learner.weights
    # The other has a probability of exp(-2000), which is 0.
    assert learner.learn_one([1000.0], "a") == "a"
    assert learner.updates == 1
    assert learner.weights["a"].tolist() == before["a"].tolist()


# ---------------------------------------------------------------------- the theorem


def certified(learner, X, y, **how):
    found = learner.certificate(X, y, **how)
    return {each.quantity: each for each in (found, *found.others)}


@settings(max_examples=40)
@given(
    problem=problems(st.integers(-3, 3)),
    scale=st.sampled_from([1e-12, 1.0, 1e12]),
    passes=st.integers(1, 3),
    named=st.booleans(),
    rate=st.sampled_from([0.15, 2.0]),
    vectors=st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=4, max_size=4),
)
def test_bounds_for_given_weights_are_those_of_the_oracle(problem, scale, passes, named, rate, vectors):
    X, y = [[scale * value for value in x] for x in problem[0]], problem[1]
    announced = LABELS if named else None
    learner = aw.SoftmaxAdaGrad(rate=rate, labels=announced)
    for _ in range(passes):
        learner.learn_many(as_dense(X), y)
    run = oracle(X, y, announced, passes, rate)
    U = {label: [value / scale for value in vectors[LABELS.index(label)][: len(X[0])]] for label in learner.classes}
    found = certified(learner, as_dense(X), y, comparator=U)
    loss = found["loss"]
    assert loss.verdict is Verdict.HOLDS
    assert loss.observed == pytest.approx(math.fsum(run.losses), rel=1e-9, abs=1e-12)
    rows = [{"one": 1.0, **dict(enumerate(x))} for x in X]
    bounds = [
        run.loss_of(u, rows, y, announced, passes) + run.regret_bound(u)
        for u in ({label: {} for label in learner.classes}, {k: dict(enumerate(w)) for k, w in U.items()})
    ]
    assert loss.bound == pytest.approx(min(bounds), rel=1e-9)
    assert loss.observed <= loss.bound + loss.rounding
    mistakes = found["mistakes"]
    assert mistakes.observed == learner.mistakes
    assert mistakes.bound == pytest.approx(min(bounds) / math.log(2) + (0 if named else len(learner.classes)), rel=1e-9)
    assert learner.mistakes <= mistakes.bound + mistakes.rounding


@settings(max_examples=25)
@given(problem=problems(st.integers(-3, 3)), scale=st.sampled_from([1e-12, 1e-3, 1.0, 1e12]), dicts=st.booleans())
def test_no_sequence_breaks_a_bound_and_hindsight_is_never_worse_than_its_own_weights(problem, scale, dicts):
    X, y = scale * as_dense(problem[0]), problem[1]
    rows = [{f"f{j}": value for j, value in enumerate(x) if value} for x in X.tolist()] if dicts else X
    learner = aw.SoftmaxAdaGrad()
    learner.learn_many(rows, y)
    found = certified(learner, rows, y)
    for each in found.values():
        assert each.verdict is Verdict.HOLDS
    codes = [learner.classes.index(label) for label in y]
    own = 0.0
    for row, code, known in zip(learner.score_many(rows), codes, np.maximum.accumulate(codes), strict=True):
        own += np.logaddexp.reduce(row[: known + 1]) - row[code]
    assert found["loss"].hindsight.value <= own * (1 + 1e-9) + 1e-9
    wrong = sum(guess != label for guess, label in zip(learner.predict_many(rows).tolist(), y, strict=True))
    assert found["mistakes"].hindsight.value <= wrong


def test_a_class_that_begins_may_be_a_mistake_that_costs_less_than_a_wrong_prediction():
    """All others score below 0, and so the class that could not be predicted has more than half."""
    X = np.vstack([np.zeros((3, 3)), np.eye(3), [[5.0, 5.0, 5.0]]])
    y = ["a", "b", "c", "c", "a", "b", "d"]
    learner = aw.SoftmaxAdaGrad(rate=1.0, delta=0, intercept=False)
    predicted = learner.learn_many(X, y).tolist()
    run = oracle(X.tolist(), y, rate=1.0, delta=0.0, intercept=False)
    assert predicted == run.predictions == [None, "a", "a", "a", "a", "a", "a"]
    assert run.losses[-1] == pytest.approx(math.log(1 + 3 * math.exp(-5)))
    assert run.losses[-1] < math.log(2)
    found = certified(learner, X, y)
    assert found["mistakes"].inputs["classes not named beforehand"] == 4
    assert found["mistakes"].bound == pytest.approx(found["loss"].bound / math.log(2) + 4)
    named = aw.SoftmaxAdaGrad(labels=("a", "b", "c", "d"))
    named.learn_many(X, y)
    beside = certified(named, X, y)
    assert beside["mistakes"].bound == pytest.approx(beside["loss"].bound / math.log(2))
    assert "classes not named beforehand" not in beside["mistakes"].inputs


def test_fixed_weights_found_afterwards_are_good():
    random = np.random.default_rng(2)
    X = random.standard_normal((300, 4)) * [1e-3, 1.0, 1e3, 1.0]
    U = random.standard_normal((3, 4)) / [1e-3, 1.0, 1e3, 1.0]
    y = np.argmax(X @ U.T + random.gumbel(size=(300, 3)), axis=1)
    learner = aw.SoftmaxAdaGrad(labels=(0, 1, 2))
    learner.learn_many(X, y)
    found = certified(learner, X, y)["loss"]
    scores = X @ U.T
    true = float((np.logaddexp.reduce(scores, axis=1) - scores[np.arange(300), y]).sum())
    assert found.hindsight.value <= true
    assert "least log loss" in found.hindsight.description


# ---------------------------------------------------------------------- the checker


def run_of(seed=1, rounds=60):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, 3))
    return X, np.argmax(X + 0.5 * random.standard_normal(X.shape), axis=1)


def test_other_rounds_than_those_it_learned_are_noticed():
    X, y = run_of()
    learner = aw.SoftmaxAdaGrad()
    learner.learn_many(X, y)
    other = y.copy()
    other[5] = (other[5] + 1) % 3
    for rows, labels in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, other), (2 * X, y)):
        certificate = learner.certificate(rows, labels)
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert certificate.bound is None
    used = aw.SoftmaxAdaGrad()
    used.learn_many(X[:10], y[:10])
    used.learn_many(X, y)
    assert used.certificate(X, y).verdict is Verdict.NOT_APPLICABLE
    assert used.certificate(np.vstack([X[:10], X]), [*y[:10], *y]).verdict is Verdict.HOLDS
    assert learner.certificate(sparse.csr_array(X), y).verdict is Verdict.HOLDS


@pytest.mark.parametrize("what", ["mistakes", "updates", "weights", "classes", "squares"])
def test_a_learner_that_changed_its_books_is_noticed(what):
    X, y = run_of(2)
    learner = aw.SoftmaxAdaGrad()
    learner.learn_many(X, y)
    state = learner.state()
    if what == "classes":
        state["classes"] = state["classes"][::-1]
    elif isinstance(state[what], np.ndarray):
        state[what][0, 1] += 0.01
    else:
        state[what] -= 1
    learner.restore(state)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    reasons = {"mistakes": "counts .* mistakes", "updates": "counts .* updates", "classes": "has the classes"}
    assert re.search(reasons.get(what, "other weights"), certificate.why_not()[0])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_step_of_another_update_is_noticed(form):
    X, y = run_of(3)
    learner = aw.SoftmaxAdaGrad(intercept=False, labels=(0, 1, 2))
    scores = []
    for x, label in zip(X, y, strict=True):
        scores.append(list(learner.score_one(x).values()))
        learner.learn_one(x, int(label))
    rounds = checker.Rounds(form(X), y, np.full(len(y), 3), 3, 1)
    trace = checker._retrace(learner._descent(), rounds, scores)
    assert trace.differs is None
    assert trace.last == pytest.approx(np.concatenate(list(learner.weights.values())))
    for t in (1, 20, 59):
        false = [list(row) for row in scores]
        false[t][1] += 1e-6
        assert checker._retrace(learner._descent(), rounds, false).differs == t


def test_weights_to_compare_with_are_checked():
    learner = aw.SoftmaxAdaGrad()
    X, y = [{"a": 1.0}, {"b": 1.0}], ["x", "y"]
    learner.learn_many(X, y)
    assert learner.certificate(X, y, comparator={"x": {"a": 1}, "y": {"b": 1}}).verdict is Verdict.HOLDS
    for bad, message in (
        ([1.0, 2.0], "comparator must be a dict with the weights of each class"),
        ({"z": {"a": 1}}, "received the unknown class 'z'"),
    ):
        with pytest.raises(InputError, match=message):
            learner.certificate(X, y, comparator=bad)


def test_one_class_or_no_rounds_claim_nothing():
    learner = aw.SoftmaxAdaGrad()
    assert learner.certificate(np.empty((0, 2)), []).verdict is not Verdict.VIOLATED
    learner.learn_many(np.eye(3), ["x"] * 3)
    found = certified(learner, np.eye(3), ["x"] * 3)
    assert (found["loss"].observed, found["loss"].bound) == (0.0, 0.0)
    assert (found["mistakes"].observed, found["mistakes"].bound) == (1, 1.0)
