"""Nearest neighbours: the oracle, units, features that come and go, the window, every form of rows, saving."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
from afterwit.data.values import same_value
from afterwit.errors import AfterwitError, InputError, LabelError
from naive_multiclass import NeighboursRun
from problems import FORMS, as_dense, as_dicts, one_by_one

LABELS = ["cat", 7, None, (1, "b")]
#: Ranges are 1 and 2, and so all distances are exact.
exact = st.sampled_from([-1.0, 0.0, 1.0])


def problems(values=exact, rows=16):
    return st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(st.lists(values, min_size=width, max_size=width), st.sampled_from(LABELS)),
            min_size=1,
            max_size=rows,
        ).map(lambda examples: ([x for x, _ in examples], [y for _, y in examples]))
    )


def oracle(X, y, neighbours, window, announced=None, passes=1):
    return NeighboursRun([dict(enumerate(x)) for x in X], y, neighbours, window, announced, passes)


# ---------------------------------------------------------------------- the oracle


def test_the_first_rounds_by_hand():
    learner = aw.NearestNeighbours(neighbours=1)
    assert learner.predict_one([1.0, 2.0]) is None
    assert learner.learn_one([1.0, 10.0], "a") is None
    assert learner.predict_one([9.0, 9.0]) == "a"  # no feature has changed yet: all is near
    assert learner.learn_one([3.0, 10.0], "b") == "a"
    # The first feature has the range 2, the second none.
    assert learner.score_one([2.5, 0.0]) == {"a": 0.0, "b": 1 / (1 + 0.25**2)}
    assert learner.predict_one([2.0, 0.0]) == "b"  # as near to both: the newer one
    assert learner.learn_one([2.5, 20.0], "a") == "b"
    assert learner.score_one([2.5, 15.0]) == {"a": 1 / (1 + 0.25), "b": 0.0}
    assert (learner.rounds, learner.mistakes, learner.updates, learner.held) == (3, 3, 3, 3)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=30)
@given(
    problem=problems(),
    named=st.booleans(),
    passes=st.integers(1, 2),
    neighbours=st.integers(1, 4),
    window=st.sampled_from([1, 3, 8, 1000]),
    scales=st.lists(st.sampled_from([1.0, 2.0**-40, 2.0**40]), min_size=4, max_size=4),
)
def test_every_form_is_the_oracle_in_any_units(form, problem, named, passes, neighbours, window, scales):
    X, y = problem
    announced = LABELS[::-1] if named else None
    run = oracle(X, y, neighbours, window, announced, passes)
    X = [[value * scale for value, scale in zip(x, scales, strict=False)] for x in X]
    at_once, singly = (aw.NearestNeighbours(neighbours, window=window, labels=announced) for _ in range(2))
    predicted = [label for _ in range(passes) for label in at_once.learn_many(form(X), y).tolist()]
    assert predicted == run.predictions
    assert at_once.classes == tuple(run.classes)
    assert at_once.mistakes == sum(guess != label for guess, label in zip(predicted, y * passes, strict=True))
    assert (at_once.rounds, at_once.held) == (len(predicted), min(len(predicted), window))
    rows = one_by_one(form, X)
    assert [singly.learn_one(x, label) for _ in range(passes) for x, label in zip(rows, y, strict=True)] == predicted
    assert singly == at_once
    scores = [at_once.score_one(x) for x in rows]
    assert [list(each.values()) for each in scores] == at_once.score_many(form(X)).tolist()
    assert at_once.predict_many(form(X)).tolist() == [at_once.predict_one(x) for x in rows]
    unscaled = [{j: value / scales[j] for j, value in enumerate(x)} for x in X]
    assert scores == [run.scores(x) for x in unscaled]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("neighbours", [1, 5])
def test_any_numbers_are_the_oracle_but_for_rounding(scale, neighbours):
    random = np.random.default_rng(3)
    X = random.standard_normal((150, 4)) * [scale, 1.0, 1e3, 1e-3] + [0.0, 1e4, 0.0, 0.0]
    X[:, 2] *= random.random(150) < 0.5
    y = random.integers(0, 3, 150).tolist()
    learner = aw.NearestNeighbours(neighbours, window=60)
    assert learner.learn_many(X, y).tolist() == oracle(X.tolist(), y, neighbours, 60).predictions
    run = oracle(X.tolist(), y, neighbours, 60)
    for x in X[:20] + 0.1 * scale:
        assert learner.score_one(x) == pytest.approx(run.scores(dict(enumerate(x.tolist()))), rel=1e-6, abs=1e-12)


def test_a_constant_that_is_added_to_a_feature_changes_nothing():
    random = np.random.default_rng(4)
    X, y = random.integers(0, 8, (200, 3)).astype(float), random.integers(0, 3, 200)
    one, other = aw.NearestNeighbours(3), aw.NearestNeighbours(3)
    X[:, 0] += 1.0  # never 0
    assert one.learn_many(X, y).tolist() == other.learn_many(X + np.array([2.0**20, 0.0, 0.0]), y).tolist()


def test_a_feature_that_some_examples_lack_is_0_there():
    learner = aw.NearestNeighbours(1)
    learner.learn_many([{"a": 4.0}, {"a": 5.0}], ["x", "y"])
    assert learner.score_one({"a": 4.25}) == {"x": 1 / (1 + 0.25**2), "y": 0.0}  # the range is 1
    learner.learn_one({"b": 2.0}, "z")  # without it: the range is 5
    assert learner.score_one({"a": 4.0, "b": 1.0}) == pytest.approx({"x": 1 / 1.25, "y": 0.0, "z": 0.0})
    assert learner.score_one({}) == pytest.approx({"x": 1 / (1 + 0.8**2), "y": 0.0, "z": 0.0})
    assert learner.predict_one({"c": 7.0, "b": 2.0}) == "z"  # a feature that nobody knows does not count


def test_the_oldest_are_dropped():
    learner = aw.NearestNeighbours(1, window=2)
    learner.learn_many(np.array([[0.0], [1.0], [10.0]]), ["a", "b", "c"])
    assert learner.held == 2
    assert learner.predict_one([0.0]) == "b"
    assert learner.score_one([0.0])["a"] == 0.0


@pytest.mark.parametrize("width", [15, 16, 17, 63, 64, 65, 200, 1000])
def test_rows_of_any_width(width):
    random = np.random.default_rng(width)
    X, y = random.choice([-1.0, 0.0, 1.0], (12, width), p=[0.45, 0.1, 0.45]), [k % 3 for k in range(12)]
    X[:2] = 1.0  # every feature is there at first
    for form in FORMS:
        at_once, singly = aw.NearestNeighbours(2, window=5), aw.NearestNeighbours(2, window=5)
        assert at_once.learn_many(form(X.tolist()), y).tolist() == oracle(X.tolist(), y, 2, 5).predictions
        for x, label in zip(one_by_one(form, X.tolist()), y, strict=True):
            singly.learn_one(x, label)
        assert singly == at_once
        assert at_once.copy().learn_one(one_by_one(form, X.tolist())[0], 0) == at_once.predict_many(form(X.tolist()))[0]


def test_entries_of_one_column_are_added_up():
    rows = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    one, other = aw.NearestNeighbours(1), aw.NearestNeighbours(1)
    one.learn_many(rows, ["a", "b"])
    other.learn_many([[3.0], [4.0]], ["a", "b"])
    assert same_value(one.state(), other.state())


@settings(max_examples=30)
@given(problem=problems(st.floats(-5, 5)))
def test_arrays_sparse_rows_and_dicts_are_the_same_bits(problem):
    X, y = problem
    dense, rows, names = (aw.NearestNeighbours(2, window=5) for _ in range(3))
    predicted = dense.learn_many(as_dense(X), y).tolist()
    assert predicted == rows.learn_many(sparse.csr_array(as_dense(X)), y).tolist()
    assert predicted == names.learn_many(as_dicts(X), y).tolist()
    assert same_value(dense.state(), rows.state())
    assert same_value(dense.state(), {**names.state(), "names": None})


def test_blocks_of_any_size_are_one_block():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((3000, 6)) * (random.random((3000, 6)) < 0.7), random.integers(0, 40, 3000)
    whole, parts = aw.NearestNeighbours(window=70), aw.NearestNeighbours(window=70)
    predicted = whole.learn_many(X, y)
    begin, found = 0, []
    while begin < len(y):
        end = begin + int(random.integers(1, 300))
        found += parts.learn_many(X[begin:end], y[begin:end]).tolist()
        begin = end
    assert found == predicted.tolist()
    assert whole == parts


# ---------------------------------------------------------------------- a used learner, copies, files, what is refused


def test_a_used_learner_goes_on_from_its_file(tmp_path):
    random = np.random.default_rng(3)
    X, y = random.standard_normal((90, 4)), [LABELS[k] for k in random.integers(0, 4, 90)]
    X[:, 1] *= np.arange(90) % 3 > 0
    whole = aw.NearestNeighbours(3, window=30)
    whole.learn_many(X, y)
    learner = aw.NearestNeighbours(3, window=30)
    learner.learn_many(X[:40], y[:40])
    for twin in (learner.copy(), pickle.loads(pickle.dumps(learner)), learner.clone(include_attributes=True)):
        assert twin == learner
    aw.save(learner, tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again == learner
    again.learn_many(X[40:], y[40:])
    assert again == whole


def broken(state):
    entries = state["entries"]
    return {
        "no entries": {**state, "entries": None},
        "whole numbers": {**state, "entries": entries.astype(int)},
        "not finite": {**state, "entries": np.full_like(entries, np.nan)},
        "zeros": {**state, "entries": 0 * entries},
        "out of range": {**state, "entries": 100 * entries},
        "an entry too few": {**state, "entries": entries[1:].copy()},
        "wild places": {**state, "places": state["places"] + 100},
        "places below 0": {**state, "places": state["places"] - 100},
        "places twice": {**state, "places": 0 * state["places"]},
        "wild codes": {**state, "codes": state["codes"] + 100},
        "an example too few": {**state, "codes": state["codes"][1:].copy(), "starts": state["starts"][1:].copy()},
        "starts that fall": {**state, "starts": state["starts"][::-1].copy()},
        "starts beyond": {**state, "starts": state["starts"] * 2},
        "another number of classes": {**state, "known": state["known"] + 1},
        "no number of classes": {**state, "known": None},
        "a class too many": {**state, "classes": [*state["classes"], "more"]},
        "lowest above highest": {**state, "lowest": state["highest"] + 1.0},
        "a presence of 3": {**state, "presence": np.full_like(state["presence"], 3.0)},
        "never there": {**state, "presence": np.zeros_like(state["presence"])},
        "always there": {**state, "presence": np.ones_like(state["presence"])},
        "lowest of fewer": {**state, "lowest": state["lowest"][:-1].copy()},
        "no rounds": {**state, "rounds": 0},
        "more rounds": {**state, "rounds": state["rounds"] + 1},
    }


def test_a_broken_state_is_refused_and_changes_nothing():
    random = np.random.default_rng(0)
    X = random.standard_normal((20, 3))
    X[7, 1] = 0.0
    learner = aw.NearestNeighbours(2, window=30)
    learner.learn_many(X, [k % 4 for k in range(20)])
    before = learner.state()
    assert before["presence"].tolist() == [1.0, 2.0, 1.0]
    for name, state in broken(before).items():
        with pytest.raises(InputError):
            learner.restore(state)
        assert same_value(learner.state(), before), name
    learner.restore(before)
    for key in before:
        with pytest.raises(InputError, match=f"a dict without '{key}'|must be"):
            learner.restore({other: value for other, value in before.items() if other != key})


def test_options_are_checked():
    for options, message in (
        ({"neighbours": 0}, "neighbours must be a whole number from 1 to 1,000; received 0"),
        ({"neighbours": 1.5}, "neighbours must be a whole number"),
        ({"window": 0}, "window must be a whole number from 1 to 10,000,000; received 0"),
    ):
        with pytest.raises(InputError, match=message):
            aw.NearestNeighbours(**options)


def test_a_round_that_is_refused_changes_nothing():
    learner = aw.NearestNeighbours()
    learner.learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    before = learner.state()
    for bad in ({"a": float("nan")}, {"a": "3"}, [1.0, 2.0]):
        with pytest.raises(InputError):
            learner.learn_one(bad, "z")
    with pytest.raises(InputError):
        learner.learn_many([{"c": 1.0}, {"a": float("inf")}], ["z", "x"])
    with pytest.raises(LabelError):
        learner.learn_one({"a": 1.0}, [1])
    assert same_value(learner.state(), before)
    assert learner.classes == ("x", "y")
    with pytest.raises(InputError, match="NearestNeighbours has no certificate: what is known of nearest neighbours"):
        learner.certificate([{"a": 1.0}, {"b": 1.0}], ["x", "y"])


def test_huge_values_make_no_number_infinite():
    learner = aw.NearestNeighbours(2)
    X = np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [1.0, 3.0], [1e-320, 4.0], [1e200, 5.0]])
    for x, label in zip(np.vstack([X, X]), "abcdeabcde", strict=True):
        try:
            learner.learn_one(x, label)
        except AfterwitError:
            continue
    for name, value in learner.state().items():
        assert not isinstance(value, np.ndarray) or np.isfinite(value).all(), name
    assert learner.copy() == learner
