"""The multiclass perceptron and its average: the oracle, ties, classes that come later, every form of rows, saving."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError, LabelError
from naive_multiclass import MulticlassRun
from problems import FORMS, as_dense, as_dicts, in_columns, one_by_one, with_ones

KINDS = {"plain": aw.MulticlassPerceptron, "averaged": aw.AveragedMulticlassPerceptron}
MIXED = ["cat", 7, None, (1, "b"), 2.5, frozenset({1}), b"x"]
by_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
#: All that learn many labels by weights of each class.
EVERY = {**KINDS, "softmax": aw.SoftmaxAdaGrad}
by_every = pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)


whole = st.integers(-3, 3)


def problems(values=whole, classes=4, rows=14):
    """(rows, labels), the labels of every kind."""
    return st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(st.lists(values, min_size=width, max_size=width), st.sampled_from(MIXED[:classes])),
            min_size=1,
            max_size=rows,
        ).map(lambda examples: ([x for x, _ in examples], [y for _, y in examples]))
    )


def exact(X, y, announced=None, passes=1):
    return MulticlassRun([dict(enumerate(x)) for x in X], y, announced, passes)


def agrees(learner, predicted, run, width):
    """Every prediction, count and weight is the oracle's."""
    averaged = isinstance(learner, aw.AveragedMulticlassPerceptron)
    expected = run.by_average if averaged else run.predictions
    assert predicted == expected
    assert learner.classes == tuple(run.weights)
    assert (learner.rounds, learner.updates) == (run.rounds, len(run.updates))
    last = learner.last_weights if averaged else learner.weights
    for label, weights in run.weights.items():
        assert in_columns(last[label], width) == [float(weights.get(j, 0)) for j in range(width)]
    if averaged:
        for label, weights in run.averages().items():
            assert in_columns(learner.weights[label], width) == [float(weights.get(j, 0)) for j in range(width)]


# ---------------------------------------------------------------------- by hand, and by the oracle


def test_the_first_rounds_by_hand():
    learner = aw.MulticlassPerceptron()
    assert learner.predict_one([1.0, 2.0]) is None
    assert learner.score_one([1.0, 2.0]) == {}
    assert learner.learn_one([1.0, 2.0], "a") is None  # a mistake, and nobody to take it from
    assert (learner.rounds, learner.mistakes, learner.updates) == (1, 1, 0)
    assert learner.learn_one([1.0, 2.0], "a") == "a"
    assert learner.learn_one([3.0, 1.0], "b") == "a"
    assert same_value(learner.weights, {"a": np.array([-3.0, -1.0]), "b": np.array([3.0, 1.0])})
    assert learner.learn_one([1.0, -3.0], "c") == "a"  # b is as good, and came later
    assert same_value(
        learner.weights, {"a": np.array([-4.0, 2.0]), "b": np.array([3.0, 1.0]), "c": np.array([1.0, -3.0])}
    )
    assert learner.score_one([1.0, 1.0]) == {"a": -2.0, "b": 4.0, "c": -2.0}
    assert learner.predict_one([-1.0, 1.0]) == "a"
    assert (learner.rounds, learner.mistakes, learner.updates) == (4, 3, 2)


def test_labels_that_are_named_can_be_predicted_from_the_start():
    learner = aw.MulticlassPerceptron(labels=("b", "a", "c"))
    assert learner.score_one([1.0]) == {"b": 0.0, "a": 0.0, "c": 0.0}
    assert learner.learn_one([1.0], "a") == "b"
    assert (learner.mistakes, learner.updates) == (1, 1)
    assert {label: w.tolist() for label, w in learner.weights.items()} == {"b": [-1.0], "a": [1.0], "c": [0.0]}
    with pytest.raises(LabelError, match=r"y must be one of \('b', 'a', 'c'\); received 'd'"):
        learner.learn_one([1.0], "d")


@by_kind
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(problem=problems(), named=st.booleans(), passes=st.integers(1, 2))
def test_every_form_is_the_oracle(kind, form, problem, named, passes):
    X, y = problem
    announced = MIXED[:4][::-1] if named else None
    at_once, singly = kind(labels=announced), kind(labels=announced)
    predicted = [label for _ in range(passes) for label in at_once.learn_many(form(X), y).tolist()]
    agrees(at_once, predicted, exact(X, y, announced, passes), len(X[0]))
    one = [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(one_by_one(form, X), y, strict=True)]
    assert one == predicted
    assert singly == at_once
    assert at_once.predict_many(form(X)).tolist() == [at_once.predict_one(x) for x in one_by_one(form, X)]
    scores = [list(at_once.score_one(x).values()) for x in one_by_one(form, X)]
    assert at_once.score_many(form(X)).tolist() == scores


@by_every
@settings(max_examples=30)
@given(problem=problems(st.floats(-5, 5)), intercept=st.booleans())
def test_arrays_sparse_rows_and_dicts_are_the_same_bits(kind, problem, intercept):
    """Zeros that are left out change no sum, whatever the numbers."""
    X, y = problem
    dense, rows, names = (kind(intercept=intercept) for _ in range(3))
    predicted = dense.learn_many(as_dense(X), y).tolist()
    assert predicted == rows.learn_many(sparse.csr_array(as_dense(X)), y).tolist()
    assert predicted == names.learn_many(as_dicts(X), y).tolist()
    assert same_value(dense.state(), rows.state())
    named = {**names.state(), "names": None}
    assert same_value(dense.state(), named)


@by_kind
@pytest.mark.parametrize("power", [-40, -20, 0, 20, 40])  # 1e-12 to 1e12
def test_every_scale_is_the_oracle(kind, power):
    random = np.random.default_rng(power + 40)
    X = random.integers(-3, 4, (60, 5)) * 2.0**power
    y = [MIXED[k] for k in random.integers(0, 5, 60)]
    learner = kind()
    agrees(learner, learner.learn_many(X, y).tolist(), exact(X.tolist(), y), 5)


@by_kind
@settings(max_examples=20)
@given(problem=problems())
def test_an_intercept_is_a_leading_column_of_ones(kind, problem):
    X, y = problem
    with_intercept, plain = kind(intercept=True), kind()
    assert with_intercept.learn_many(as_dense(X), y).tolist() == plain.learn_many(as_dense(with_ones(X)), y).tolist()
    for label, weights in plain.weights.items():
        assert with_intercept.intercept_weight[label] == weights[0]
        assert with_intercept.weights[label].tolist() == weights[1:].tolist()
    assert set(plain.intercept_weight.values()) == {0.0}


@by_every
def test_blocks_of_any_size_are_one_block(kind):
    random = np.random.default_rng(1)
    X, y = random.integers(-3, 4, (1500, 6)).astype(float), random.integers(0, 300, 1500)
    whole, parts = kind(), kind()
    predicted = whole.learn_many(X, y)
    begin, found = 0, []
    while begin < len(y):
        end = begin + int(random.integers(1, 200))
        found += parts.learn_many(X[begin:end], y[begin:end]).tolist()
        begin = end
    assert found == predicted.tolist()
    assert whole == parts
    assert len(whole.classes) > 250


# ---------------------------------------------------------------------- ties and labels


def test_a_tie_is_decided_by_who_came_first():
    for order in (["a", "b", "c"], ["c", "b", "a"]):
        learner = aw.MulticlassPerceptron(labels=order)
        assert learner.predict_one([1.0]) == order[0]
        learner.learn_one([1.0], order[1])
        assert learner.predict_many([[0.0], [1.0], [-1.0]]).tolist() == [order[0], order[1], order[0]]
    late = aw.MulticlassPerceptron()
    late.learn_many([[0.0], [0.0], [0.0]], ["z", "y", "x"])
    assert late.predict_one([5.0]) == "z"


@by_every
def test_any_label_that_can_be_hashed(kind):
    X = np.eye(7)
    learner = kind()
    learner.learn_many(np.vstack([X, X, X]), MIXED * 3)
    assert learner.classes == tuple(MIXED)
    assert learner.predict_many(X).tolist() == MIXED
    for label in ([1], {}, float("nan")):
        before = learner.state()
        with pytest.raises(LabelError):
            learner.learn_one(X[0], label)
        with pytest.raises(LabelError):
            learner.learn_many(X[:2], ["cat", label])
        assert same_value(learner.state(), before)


@by_kind
def test_numbers_of_numpy_are_the_labels_they_stand_for(kind):
    learner = kind()
    learner.learn_many(np.eye(2), np.array([3, 5]))
    assert learner.learn_one([1.0, 0.0], np.int64(3)) == 3
    assert [type(label) for label in learner.classes] == [int, int]
    assert learner.predict_many(np.eye(2)).dtype.kind == "i"


@by_every
def test_nothing_predicted_is_right_if_the_label_is_none(kind):
    one, many = kind(), kind()
    assert one.learn_one([1.0], None) is None
    many.learn_many([[1.0]], [None])
    assert (one.rounds, one.mistakes) == (1, 0)
    assert one == many
    one.learn_one([1.0], "a")
    assert (one.rounds, one.mistakes) == (2, 1)


# ---------------------------------------------------------------------- a used learner, copies, files


@by_every
def test_a_used_learner_goes_on_from_its_file(kind, tmp_path):
    random = np.random.default_rng(3)
    X, y = random.standard_normal((90, 4)), [MIXED[k] for k in random.integers(0, 5, 90)]
    whole = kind(intercept=True)
    whole.learn_many(X, y)
    learner = kind(intercept=True)
    learner.learn_many(X[:40], y[:40])
    assert learner.updates
    assert isinstance(learner.classes, tuple)
    for twin in (learner.copy(), pickle.loads(pickle.dumps(learner)), learner.clone(include_attributes=True)):
        assert twin == learner
    aw.save(learner, tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again == learner
    again.learn_many(X[40:], y[40:])
    assert again == whole
    assert again != learner
    assert learner.clone() == kind(intercept=True)


@by_every
def test_a_learner_that_takes_back_a_state_forgets_its_own(kind):
    learner = kind()
    learner.learn_many(np.eye(9), list(range(9)))
    fresh = kind().state()
    learner.restore(fresh)
    assert learner == kind()
    learner.learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    assert learner.classes == ("x", "y")


def broken(state):
    weights = state["weights"]
    return {
        "no weights": {**state, "weights": None},
        "flat": {**state, "weights": weights.reshape(-1)},
        "whole numbers": {**state, "weights": weights.astype(int)},
        "not finite": {**state, "weights": np.full_like(weights, np.nan)},
        "a class too few": {**state, "weights": weights[:, 1:].copy()},
        "a column too many": {**state, "weights": np.hstack([weights, weights[:, :1]])},
        "a class too many": {**state, "classes": [*state["classes"], "more"]},
        "two classes of one name": {**state, "classes": [state["classes"][0]] * len(state["classes"])},
        "labels where none were given": {**state, "classes": None},
        "names": {**state, "names": ["a"]},
        "too many names": {**state, "names": [f"f{j}" for j in range(len(weights) + 1)]},
        "no rounds": {**state, "rounds": 0},
        "fewer rounds than classes": {**state, "rounds": 2, "mistakes": 1, "updates": 1},
        "more mistakes than rounds": {**state, "mistakes": state["rounds"] + 1},
        "rounds without a class": {**state, "classes": [], "weights": weights[:, :0].copy()},
    }


@by_every
def test_a_broken_state_is_refused_and_changes_nothing(kind):
    learner = kind()
    learner.learn_many(np.random.default_rng(0).standard_normal((20, 3)), [k % 4 for k in range(20)])
    before = learner.state()
    states = broken(before)
    for beside in {"moments", "squares"} & set(before):
        states[f"other {beside}"] = {**before, beside: before[beside][:-1].copy()}
        states[f"{beside} of fewer classes"] = {**before, beside: before[beside][:, 1:].copy()}
    if "squares" in before:
        states["squares below 0"] = {**before, "squares": -before["squares"]}
    for name, state in states.items():
        with pytest.raises(InputError):
            learner.restore(state)
        assert same_value(learner.state(), before), name
        for key in before:
            with pytest.raises(InputError, match=f"a dict without '{key}'|must be"):
                learner.restore({other: value for other, value in state.items() if other != key})
    named = kind(labels=(0, 1, 2, 3))
    with pytest.raises(InputError, match="classes must be a list of different labels, where no labels were given"):
        named.restore(before)


def test_what_is_kept_inside_cannot_be_reached():
    learner = aw.MulticlassPerceptron()
    learner.learn_many(np.eye(3), ["a", "b", "c"])
    before = learner.state()
    learner.weights["a"][:] = 5
    learner.state()["weights"][:] = 5
    learner.state()["classes"].append("d")
    assert same_value(learner.state(), before)


# ---------------------------------------------------------------------- what is refused, and training


@by_every
def test_a_round_that_would_overflow_is_refused_and_those_before_it_stay(kind):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.7e308, 1.7e308], [1.7e308, 1.7e308], [-1.7e308, 1.7e308]])
    y = ["a", "b", "c", "a", "b"]
    block, singly = kind(), kind()
    with pytest.raises(DivergenceError, match=f"would make a score or a weight of {kind.__name__} infinite"):
        block.learn_many(X, y)
    done = block.rounds
    assert 2 <= done < 5
    for x, label in zip(X[:done], y[:done], strict=True):
        singly.learn_one(x, label)
    assert block == singly
    with pytest.raises(DivergenceError):
        singly.learn_one(X[done], y[done])
    assert block == singly
    assert np.isfinite(block.state()["weights"]).all()
    block.learn_one([1e-3, 0.0], "new")
    assert block.classes[-1] == "new"


@by_every
def test_a_new_class_of_a_round_that_is_refused_stays_unknown(kind):
    learner = kind()
    learner.learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    before = learner.state()
    for bad in ({"a": float("nan")}, {"a": "3"}, [1.0, 2.0]):
        with pytest.raises(InputError):
            learner.learn_one(bad, "z")
    with pytest.raises(InputError):
        learner.learn_many([{"a": 1.0}, {"a": float("inf")}], ["z", "x"])
    assert same_value(learner.state(), before)
    assert learner.classes == ("x", "y")


@by_kind
def test_training_until_nothing_changes(kind):
    random = np.random.default_rng(5)
    X = random.standard_normal((80, 5))
    y = np.argmax(X @ random.standard_normal((5, 3)), axis=1)
    far = np.sort(X @ random.standard_normal((5, 3)), axis=1)
    X, y = X[far[:, 2] - far[:, 1] > -1], y[far[:, 2] - far[:, 1] > -1]
    learner = kind()
    training = learner.fit(X, y)
    assert training.converged
    assert sum(training.mistakes_per_pass) == learner.mistakes
    updates = learner.updates
    learner.learn_many(X, y)
    assert learner.updates == updates
    assert not kind().fit(X, y, max_passes=1).converged


def test_a_column_of_zeros_and_an_empty_row_are_rounds():
    learner = aw.MulticlassPerceptron()
    learner.learn_many([{}, {"a": 0.0}, {}], ["x", "y", "x"])
    assert (learner.rounds, learner.mistakes, learner.updates) == (3, 2, 1)
    assert learner.weights == {"x": {"a": 0.0}, "y": {"a": 0.0}}


def test_many_classes_and_features_grow():
    rows = [{f"f{j}": 1.0} for j in range(200)]
    learner = aw.AveragedMulticlassPerceptron()
    predicted = learner.learn_many(rows, list(range(200))).tolist()
    run = MulticlassRun(rows, list(range(200)))
    assert predicted == run.by_average
    assert learner.features == 200
    for label, weights in run.averages().items():
        assert learner.weights[label] == {name: float(weights.get(name, 0)) for name in learner.weights[label]}
