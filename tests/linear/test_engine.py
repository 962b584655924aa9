"""The engine against the exact oracle, over every kind of input."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.data.values import same_value
from afterwit.errors import InputError

# Multiples of 1/8 below 2^20 add and multiply exactly in double precision, so that the oracle's exact arithmetic and
# the engine's agree to the last bit.
exact_values = st.integers(-64, 64).map(lambda k: k / 8)
problems = st.integers(1, 9).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(exact_values, min_size=width, max_size=width), st.sampled_from([-1, 1])), max_size=30
    ).map(lambda rows: (width, rows))
)


def dense(X):
    return X, list(X)


def fortran(X):
    return np.asfortranarray(X), [row[::1] for row in X]


def strided(X):
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    return wide[:, ::2], [wide[i, ::2] for i in range(len(X))]


def csr(X):
    matrix = sparse.csr_array(X)
    return matrix, [matrix[[i]] for i in range(len(X))]


def csr_long(X):
    matrix = sparse.csr_array(X)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix, [sparse.coo_array(X[i]) for i in range(len(X))]


def sparse_rows(X):
    rows = [aw.SparseRow(np.flatnonzero(x), x[np.flatnonzero(x)]) for x in X]
    return rows, rows


def float32(X):
    return X.astype(np.float32), list(X.astype(np.float32))


def names(X):
    return [f"f{j}" for j in range(X.shape[1])]


def dicts(X):
    rows = [dict(zip(names(X), x, strict=True)) for x in X.tolist()]
    return rows, rows


def pandas_frame(X):
    frame = pd.DataFrame(X, columns=names(X))
    return frame, [row for _, row in frame.iterrows()]


def polars_frame(X):
    frame = (
        pl.DataFrame(X, schema=names(X), orient="row")
        if len(X)
        else pl.DataFrame(schema=dict.fromkeys(names(X), pl.Float64))
    )
    return frame, list(frame.iter_rows(named=True))


def arrow_table(X):
    table = pa.table({name: X[:, j] for j, name in enumerate(names(X))})
    return table, table.to_pylist()


POSITIONS = [dense, fortran, strided, csr, csr_long, sparse_rows, float32]
NAMES = [dicts, pandas_frame, polars_frame, arrow_table]


def weights_by_column(learner, width):
    weights = learner.weights
    if isinstance(weights, dict):
        return {j: weights.get(f"f{j}", 0.0) for j in range(width)}
    return {j: weights[j] if j < len(weights) else 0.0 for j in range(width)}


@pytest.mark.parametrize("form", POSITIONS + NAMES)
@given(problem=problems, rate=st.sampled_from([1, 0.5, 3]))
def test_every_form_is_the_oracle_exactly(form, problem, rate):
    width, examples = problem
    X = np.array([x for x, _ in examples]).reshape(len(examples), width)
    y = [label for _, label in examples]
    weights, predictions, mistakes = naive.perceptron([naive.as_dict(x) for x in X.tolist()], y, rate)
    many, ones = form(X)
    at_once, singly = aw.Perceptron(rate=rate), aw.Perceptron(rate=rate)
    assert at_once.learn_many(many, y).tolist() == predictions
    assert [singly.learn_one(x, label) for x, label in zip(ones, y, strict=True)] == predictions
    for learner in (at_once, singly):
        assert {j: float(weights.get(j, 0)) for j in range(width)} == weights_by_column(learner, width)
        assert (learner.rounds, learner.mistakes, learner.updates) == (len(y), len(mistakes), len(mistakes))
    if len(y):
        expected = [float(naive.score(weights, naive.as_dict(x))) for x in X.tolist()]
        assert at_once.score_many(many).tolist() == expected
        assert [singly.score_one(x) for x in ones] == expected


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 23))
def test_many_is_the_loop_of_one_bit_for_bit_on_inexact_numbers(seed, rows, width):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, width)) * 10.0 ** random.integers(-3, 4, size=width)
    y = random.choice([-1, 1], size=rows)
    for form in POSITIONS + NAMES:
        many, ones = form(X)
        at_once, singly = aw.Perceptron(rate=0.1), aw.Perceptron(rate=0.1)
        at_once.learn_many(many, y)
        for x, label in zip(ones, y.tolist(), strict=True):
            singly.learn_one(x, label)
        assert same_value(at_once.state(), singly.state()), form.__name__
        assert at_once.score_many(many).tolist() == [singly.score_one(x) for x in ones], form.__name__


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_a_score_with_unseen_features_has_the_bits_it_has_once_they_are_seen(seed, known):
    random = np.random.default_rng(seed)
    X = random.standard_normal((20, known))
    x = random.standard_normal(known + random.integers(0, 9))
    learner = aw.Perceptron(rate=0.3)
    learner.learn_many(X, random.choice([-1, 1], size=20))
    before = learner.score_one(x)
    sparse_before = learner.score_one(sparse.csr_array(x[None]))
    wider = aw.Perceptron(rate=0.3, start=np.concatenate([learner.weights, np.zeros(len(x) - known)]))
    assert wider.features == len(x)
    assert wider.score_one(x) == before
    assert wider.score_one(sparse.csr_array(x[None])) == sparse_before


def test_repeated_entries_of_a_sparse_row_add_up():
    twice = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([3, 3, 0]), np.array([0, 3])), shape=(1, 5))
    once = sparse.csr_array((np.array([4.0, 3.0]), np.array([0, 3]), np.array([0, 2])), shape=(1, 5))
    first, second = aw.Perceptron(), aw.Perceptron()
    first.learn_many(twice, [-1])
    second.learn_many(once, [-1])
    assert first.weights.tolist() == second.weights.tolist() == [-4, 0, 0, -3, 0]


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 5], [0, 2]), ([0, -1], [0, 2]), ([0, 1], [0, 3]), ([0, 1], [1, 2]), ([0, 1], [0, -1])],
)
def test_a_malformed_sparse_matrix_is_refused(indices, indptr):
    matrix = sparse.csr_array((1, 3))
    matrix.data, matrix.indices, matrix.indptr = np.ones(2), np.array(indices), np.array(indptr)
    learner = aw.Perceptron()
    with pytest.raises(InputError, match="well-formed"):
        learner.learn_many(matrix, [1])
    assert learner == aw.Perceptron()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: setattr(m, "indptr", np.array([0, 1], dtype=np.int32)),
        lambda m: setattr(m, "indptr", np.empty(0, dtype=np.int32)),
        lambda m: setattr(m, "indices", np.array([0.5, 1.0, 2.0])),
        lambda m: setattr(m, "indices", np.array([0, 1, -(2**32) + 1])),
        lambda m: setattr(m, "data", np.ones((3, 1))),
    ],
)
def test_a_sparse_matrix_that_lies_about_itself_is_refused(spoil):
    matrix = sparse.csr_array(np.eye(3))
    spoil(matrix)
    with pytest.raises(InputError, match="well-formed"):
        aw.Perceptron().learn_many(matrix, [1, 1, 1])


def test_malformed_columns_are_refused_before_they_are_converted():
    matrix = sparse.csc_array(np.eye(3))
    matrix.indices[0] = 10**6
    with pytest.raises(InputError, match="well-formed sparse matrix; received csc"):
        aw.Perceptron().learn_many(matrix, [1, 1, 1])


def test_a_stream_looks_again_at_what_is_not_its_own():
    matrix = sparse.csr_array(np.eye(3))
    stream = aw.streams.ArrayStream(matrix, [-1, -1, -1])
    matrix.indices[0] = 2 * 10**9
    with pytest.raises(InputError, match="well-formed"):
        aw.play(aw.Perceptron(), stream)


def test_values_of_any_numeric_kind_and_code_of_their_own():
    from decimal import Decimal
    from fractions import Fraction

    learner = aw.Perceptron()

    class Curious:
        def __float__(self):
            return 2.0 + learner.score_one({})

    x = {"a": Curious(), "b": True, "c": np.float32(0.5), "d": Decimal("0.25"), "e": Fraction(1, 8), "f": np.int64(3)}
    assert learner.learn_one(x, -1) == 1
    assert learner.weights == {"a": -2.0, "b": -1.0, "c": -0.5, "d": -0.25, "e": -0.125, "f": -3.0}
    assert learner.score_one(x) == -(4 + 1 + 0.25 + 0.0625 + 0.015625 + 9)


def test_frames_with_numbered_columns_and_with_levels():
    learner = aw.Perceptron()
    learner.learn_many(pd.DataFrame([[1.0, 2.0]]), [-1])
    assert list(learner.weights.values()) == [-1.0, -2.0]
    levels = pd.MultiIndex.from_tuples([("a", "b"), ("c", "d")])
    with pytest.raises(InputError, match="one level of column names"):
        learner.learn_many(pd.DataFrame([[1.0, 2.0]], columns=levels), [-1])
    with pytest.raises(InputError, match="names are all different"):
        learner.learn_one(pd.Series([1.0, 2.0], index=["a", "a"]), -1)
    with pytest.raises(InputError, match="different names"):
        learner.learn_many(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), [-1])


def test_series_go_by_their_names_everywhere():
    rows = [pd.Series({"a": 1.0, "b": 2.0}), pd.Series({"b": 1.0, "a": 2.0})]
    at_once, singly = aw.Perceptron(), aw.Perceptron()
    at_once.learn_many(rows, [-1, -1])
    for row in rows:
        singly.learn_one(row, -1)
    assert at_once == singly
    assert aw.Perceptron(start=rows[0]).weights == {"a": 1.0, "b": 2.0}


def test_one_sparse_row_is_not_many():
    with pytest.raises(InputError, match="X must be a 2-D array"):
        aw.Perceptron().learn_many(aw.SparseRow([1, 5], [1.0, 1.0]), [1, 1])
    with pytest.raises(InputError, match="two-dimensional"):
        aw.Perceptron().learn_many(sparse.coo_array(np.array([1.0, 2.0])), [1])


def test_names_from_numpy_are_names(tmp_path):
    learner = aw.Perceptron()
    learner.learn_one(dict.fromkeys(np.array(["a", "b"]), 1.0), -1)
    assert [type(name) for name in learner.weights] == [str, str]
    aw.save(learner, tmp_path / "m")
    assert aw.load(tmp_path / "m") == learner


def test_a_subclass_in_python_cannot_replace_the_compiled_update():
    class Other(aw.Perceptron):
        def update(self, y, score):
            return False

    if aw.compiled:
        with pytest.raises(TypeError, match="update is compiled"):
            Other()
    else:
        assert Other().learn_one([1.0], -1) == 1


def test_state_is_never_seen_half_done():
    import threading

    X, y = np.random.default_rng(0).standard_normal((300, 5)), np.tile([-1, 1], 150)
    rows = [{f"f{k}": 1.0} for k in range(300)]
    by_position, by_name = aw.Perceptron(), aw.Perceptron()
    done = threading.Event()

    def learn():
        for k in range(60):
            by_position.learn_many(X, y)
            by_name.learn_many([{f"{k} {name}": v for name, v in row.items()} for row in rows], y)
        done.set()

    thread = threading.Thread(target=learn)
    thread.start()
    while not done.is_set():
        state = by_position.state()
        assert state["mistakes"] == state["updates"]
        assert state["rounds"] % 300 == 0
        twin = by_name.copy()
        assert len(twin.weights) == twin.features == twin.rounds
    thread.join()


def test_growth_keeps_what_was_learned():
    learner = aw.Perceptron()
    for k in range(200):
        learner.learn_one(aw.SparseRow([k * k], [1.0]), -1)
    weights = learner.weights
    assert len(weights) == 199**2 + 1
    assert np.flatnonzero(weights).tolist() == [k * k for k in range(200)]
    assert set(weights[weights != 0].tolist()) == {-1.0}


def test_a_far_position_costs_no_time_or_memory_of_its_own():
    learner = aw.Perceptron()
    learner.learn_one(aw.SparseRow([2**27], [1.0]), -1)
    assert learner.features == 2**27 + 1
    assert learner.score_one(aw.SparseRow([2**27], [2.0])) == -2.0
    with pytest.raises(InputError, match=r"positions from 0 to 268,435,455; received 268435456"):
        learner.learn_one(aw.SparseRow([2**28], [1.0]), 1)


def test_messages_name_the_place():
    learner = aw.Perceptron(labels=(-1, 1))
    X = np.ones((3, 4))
    X[1, 2] = np.nan
    cases = [
        (lambda: learner.learn_many(X, [1, 1, 1]), "X[1, 2] must be a finite number; received nan"),
        (lambda: learner.learn_many(sparse.csr_array(X), [1, 1, 1]), "X[1, 2] must be a finite number; received nan"),
        (lambda: learner.learn_many(pd.DataFrame(X, columns=list("abcd")), [1, 1, 1]), "X[1, 'c'] must be a finite"),
        (lambda: learner.learn_many(pl.DataFrame({"a": [1, None]}), [1, 1]), "X[1, 'a'] must be a finite"),
        (lambda: learner.learn_many(pd.DataFrame({"a": ["x"]}), [1]), "X['a'] must be a column of numbers"),
        (lambda: learner.learn_many([{"a": 1}, {"b": "2"}], [1, 1]), "X[1, 'b'] must be a finite number; received '2'"),
        (lambda: learner.learn_one(X[1], 1), "x[2] must be a finite number; received nan"),
        (lambda: learner.learn_one({"a": float("inf")}, 1), "x['a'] must be a finite number; received inf"),
        (lambda: learner.learn_one({"a": 10**400}, 1), "x['a'] must be a finite number; received 1000"),
        (lambda: learner.learn_one({"a": 1}, 5), "y must be -1 or 1; received 5"),
        (lambda: learner.learn_many(X[:1], [0]), "y[0] must be -1 or 1; received 0"),
        (lambda: learner.learn_many(X[:2], [1]), "y must be as long as X (2 rows); received 1 label"),
        (lambda: learner.fit(X[:1], [1], max_passes=0), "max_passes must be a whole number, at least 1; received 0"),
        (lambda: aw.Perceptron(rate=0), "rate must be a positive finite number; received 0"),
        (lambda: aw.Perceptron(labels="ab"), "labels must be a pair of two different labels"),
        (lambda: aw.Perceptron(start=[1.0, float("nan")]), "x[1] must be a finite number; received nan"),
    ]
    for action, message in cases:
        with pytest.raises(InputError) as caught:
            action()
        assert str(caught.value).startswith(message), str(caught.value)
        assert learner.rounds == 0


def test_a_bad_value_late_in_many_rows_takes_everything_back():
    random = np.random.default_rng(5)
    learner = aw.Perceptron()
    learner.learn_many([{"a": 1.0, "b": -2.0}, {"b": 1.0}], [-1, 1])
    before = learner.state()
    rows = [{f"g{k}": float(random.standard_normal())} for k in range(50)] + [{"h": float("nan")}]
    with pytest.raises(InputError, match=r"X\[50, 'h'\]"):
        learner.learn_many(rows, [-1] * 51)
    assert same_value(learner.state(), before)
    learner.learn_one({"a": 1.0}, -1)
    assert learner.rounds == 3


def test_frames_with_names_that_differ_only_later_are_matched_by_name():
    learner = aw.Perceptron()
    learner.learn_many(pd.DataFrame({"a": [1.0], "b": [2.0]}), [-1])
    learner.learn_many(pd.DataFrame({"b": [0.0], "c": [5.0]}), [-1])
    assert learner.weights == {"a": -1.0, "b": -2.0, "c": -5.0}
    assert learner.score_many(pl.DataFrame({"c": [1], "zzz": [7], "a": [1]})).tolist() == [-6.0]


def test_threads_may_share_a_learner():
    import threading

    X, y = np.random.default_rng(0).standard_normal((2000, 30)), np.tile([-1, 1], 1000)
    learner = aw.Perceptron()
    failures = []

    def learn(part):
        try:
            for width in range(1, 31):
                learner.learn_many(X[part::4, :width], y[part::4])
                learner.predict_many(X[:50])
                learner.learn_one(X[part], 1)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=learn, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert learner.rounds == 30 * (2000 + 4)
