"""One example at a time, in every form in which it comes by position: the same rounds, to the bit, as many at once."""

import numpy as np
import pytest
from scipy import sparse

import afterwit as aw
import naive
from afterwit.data.rows import SparseRow
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.linear import _engine

LEARNERS = {
    "perceptron": aw.Perceptron,
    "averaged": aw.AveragedPerceptron,
    "voted": aw.VotedPerceptron,
    "margin": aw.MarginPerceptron,
    "selective": aw.SelectivePerceptron,
    "passive": aw.PassiveAggressive,
    "winnow": aw.Winnow,
    "balanced": aw.BalancedWinnow,
    "svm": aw.OnlineSVM,
    "sgd": aw.SGD,
    "adagrad": aw.AdaGrad,
    "scale-free": aw.ScaleFree,
    "normalized": aw.NormalizedAdaGrad,
    "boxed": lambda **options: aw.AdaGrad(box=0.3, **options),
}


def unaligned(x):
    held = np.zeros(8 * len(x) + 1, dtype=np.uint8)[1:].view(np.float64)
    held[:] = x
    return held


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


FORMS = {
    "array": np.array,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "unaligned": unaligned,
    "read only": read_only,
    "other byte order": lambda x: x.astype(">f8"),
    "float32": lambda x: x.astype(np.float32),
    "list": lambda x: x.tolist(),
    "list of whole numbers": lambda x: [int(value) if value == int(value) else value for value in x.tolist()],
    "tuple": lambda x: tuple(x.tolist()),
    "sparse row": lambda x: SparseRow(np.arange(len(x), dtype=np.int32), x),
    "sparse row of int64": lambda x: SparseRow(np.arange(len(x)), x),
    "csr matrix": lambda x: sparse.csr_matrix(x.reshape(1, -1)),
    "csr array": lambda x: sparse.csr_array(x.reshape(1, -1)),
}


def problem(width, rows=30):
    """Rows of eighths, which every form holds exactly; 0 does not occur, so that sparse rows have all entries."""
    generator = np.random.default_rng(width)
    X = (generator.integers(-20, 20, size=(rows, width)) + 0.5) / 4
    return X, np.where(X.sum(axis=1) + generator.standard_normal(rows) >= 0, 1, -1)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_one_row_is_learned_as_many_rows_are(form, name, intercept):
    # 7 entries and 8 are read differently; 70 do not fit into the room there is at first, 40 into one part.
    for width in (1, 7, 8, 40, 70):
        X, y = problem(width)
        one, many = (LEARNERS[name](intercept=intercept) for _ in range(2))
        said = [one.learn_one(FORMS[form](x), label) for x, label in zip(X, y.tolist(), strict=True)]
        assert said == many.learn_many(X, y).tolist()
        assert same_value(one.state(), many.state())
        assert [one.score_one(FORMS[form](x)) for x in X] == many.score_many(X).tolist()
        assert [one.predict_one(FORMS[form](x)) for x in X] == many.predict_many(X).tolist()


def test_a_row_as_it_is_usually_held_is_not_sent_through_the_reader_of_every_form(monkeypatch):
    """The reader of every form takes ten times as long as the round."""

    def fail(x):
        raise AssertionError(f"read again: {x}")

    X, y = problem(12)
    learner = aw.Perceptron()
    monkeypatch.setattr(_engine, "read_one", fail)
    for form in FORMS.keys() - {"tuple", "sparse row of int64"}:
        for x, label in zip(X, y.tolist(), strict=True):
            learner.predict_one(FORMS[form](x))
            learner.learn_one(FORMS[form](x), label)
    assert learner.rounds == 30 * (len(FORMS) - 2)


@pytest.mark.parametrize("form", ["array", "float32", "list", "sparse row", "csr matrix"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("width", [3, 20])
def test_a_bad_number_in_one_row_is_named_and_changes_nothing(form, bad, width):
    X, y = problem(width)
    learner = aw.SGD(intercept=True)
    for x, label in zip(X, y.tolist(), strict=True):
        learner.learn_one(x, label)
    before = learner.state()
    for place in (0, width - 1):
        x = X[0].copy()
        x[place] = bad
        for call in (learner.score_one, learner.predict_one, lambda x: learner.learn_one(x, 1)):
            with pytest.raises(InputError, match=rf"x\[{place}\] must be a finite number; received"):
                call(FORMS[form](x))
    assert same_value(learner.state(), before)


def test_what_is_no_row_is_refused_as_ever():
    learner = aw.Perceptron()
    learner.learn_one(np.ones(3), 1)
    before = learner.state()
    for x in (np.ones((1, 3)), np.array(1.0), np.array(["1"]), np.array([None]), [1.0, "2"], [[1.0]], [10**400], "123"):
        with pytest.raises(InputError, match="x must be"):
            learner.learn_one(x, 1)
        with pytest.raises(InputError, match="x must be"):
            learner.score_one(x)
    for columns in ([-1], [2**28]):
        row = SparseRow(np.array(columns, dtype=np.int32), np.ones(1))
        with pytest.raises(InputError, match=r"x\.columns must be positions from 0 to"):
            learner.learn_one(row, 1)
    outside = sparse.csr_matrix((np.ones(1), np.zeros(1, dtype=np.int32), np.array([0, 1])), shape=(1, 2))
    outside.indices[0] = 2
    with pytest.raises(InputError, match="x must be a well-formed sparse matrix; received a column outside"):
        learner.learn_one(outside, 1)
    assert same_value(learner.state(), before)
    named = aw.Perceptron()
    named.learn_one({"a": 1.0}, 1)
    for form in ("array", "list", "sparse row", "csr array"):
        with pytest.raises(InputError, match="learned features by name"):
            named.learn_one(FORMS[form](np.ones(9)), 1)
    with pytest.raises(InputError, match="learned features by position"):
        learner.learn_one({"a": 1.0}, 1)


@pytest.mark.parametrize("form", ["array", "list", "sparse row", "csr matrix"])
def test_rows_of_different_widths(form):
    learner = aw.AdaGrad(intercept=True)
    for width, features in ((4, 4), (20, 20), (0, 20), (9, 20), (100, 100)):
        x = np.ones(width)
        learner.score_one(np.ones(200))  # what is only predicted is not learned
        if width or form != "csr matrix":
            learner.learn_one(FORMS[form](x), -1)
        assert learner.features == features
    # A matrix of one row says how wide it is, whatever is stored; a sparse row does not.
    learner.learn_one(sparse.csr_matrix(([1.0], [3], [0, 1]), shape=(1, 150)), 1)
    assert learner.features == 150


def test_huge_numbers_in_one_row_go_the_way_of_many():
    for x in (np.full(10, 1e100), np.full(3, -1e200), np.array([1.0, 1e160])):
        for make in (aw.Perceptron, aw.AveragedPerceptron, aw.OnlineSVM):
            one, many = make(), make()
            assert [one.learn_one(x, -1)] == many.learn_many(x.reshape(1, -1), [-1]).tolist()
            assert same_value(one.state(), many.state())


@pytest.mark.parametrize(
    "make", [aw.Committee, aw.OneVsRest, lambda: aw.Committee(["perceptron", "kernel-perceptron"])]
)
@pytest.mark.parametrize("form", ["array", "strided", "float32", "list", "sparse row", "csr matrix"])
def test_learners_made_of_learners_take_every_form(make, form):
    X, y = problem(12)
    one, many = make(), make()
    rows = sparse.csr_array(X) if form in ("sparse row", "csr matrix") else X  # kernels keep the form
    said = [one.learn_one(FORMS[form](x), label) for x, label in zip(X, y.tolist(), strict=True)]
    assert said == many.learn_many(rows, y).tolist()
    assert same_value(one.state(), many.state())
    assert [one.predict_one(FORMS[form](x)) for x in X] == many.predict_many(rows).tolist()
    before = one.state()
    x = X[0].copy()
    x[3] = np.nan
    with pytest.raises(InputError, match=r"x\[3\] must be a finite number"):
        one.learn_one(FORMS[form](x), 1)
    assert same_value(one.state(), before)


@pytest.mark.parametrize("box", [None, 0.05])
def test_long_rows_are_learned_entry_after_entry(box):
    """AdaGrad learns long rows part by part."""
    generator = np.random.default_rng(5)
    learner = aw.AdaGrad(loss="hinge", rate=0.15, delta=1e-6, box=box, intercept=False)
    oracle = naive.AdaGradOnRows(150, 0.15, 1e-6, box)
    for _ in range(20):
        columns = np.sort(generator.permutation(150)[:100]).astype(np.int32)
        values, y = generator.standard_normal(100) / 8, int(generator.choice([-1, 1]))
        learner.learn_one(SparseRow(columns, values), y)
        oracle.learn(columns.tolist(), values.tolist(), y)
    state = learner.state()
    assert state["weights"].tolist() == oracle.weights[: len(state["weights"])]
    assert state["squares"].tolist() == oracle.squares[: len(state["squares"])]


def repeating(seed, count=20, entries=30, width=12):
    """Sparse rows in which columns repeat, in any order: columns, values, and the same rows as dense sums."""
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, width, size=(count, entries)).astype(np.int32)
    values = np.round(generator.standard_normal((count, entries)) * 64) / 64
    sums = np.zeros((count, width))
    np.add.at(sums, (np.arange(count)[:, np.newaxis], columns), values)
    return columns, values, sums, generator.choice([-1, 1], count)


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_column_that_occurs_twice_counts_with_the_sum_of_its_values(kind):
    columns, values, sums, y = repeating(5)
    held = sparse.csr_array((values.ravel(), columns.ravel(), np.arange(0, values.size + 1, 30)), shape=sums.shape)
    before = held.copy()
    once, many, single = LEARNERS[kind](), LEARNERS[kind](), LEARNERS[kind]()
    # The dense sums as sparse rows: they may be 0, which stays an entry.
    stored = [np.unique(row).astype(np.int32) for row in columns]
    rows = [SparseRow(at, row[at]) for at, row in zip(stored, sums, strict=True)]
    said = once.learn_many(rows, y)
    assert many.learn_many(held, y).tolist() == said.tolist()
    singly = [single.learn_one(SparseRow(*x), label) for *x, label in zip(columns, values, y.tolist(), strict=True)]
    assert singly == said.tolist()
    assert same_value(many.state(), once.state())
    assert same_value(single.state(), once.state())
    assert single.score_many(held).tolist() == once.score_many(rows).tolist()
    assert [single.score_one(held[[i]]) for i in range(20)] == once.score_many(rows).tolist()
    # What the caller gave is as it was.
    assert (held.indices == before.indices).all()
    assert (held.data == before.data).all()


def test_the_money_of_scale_free_stays_above_0_where_columns_repeat():
    columns, values, sums, y = repeating(7, 2000, 75, 50)
    held = sparse.csr_array((values.ravel(), columns.ravel(), np.arange(0, values.size + 1, 75)), shape=sums.shape)
    learner = aw.ScaleFree()
    learner.learn_many(held, y)
    assert learner.state()["money"].min() > 0
    assert learner.copy() == learner
    assert str(learner.certificate(held, y).verdict) == "holds"


def test_repeated_columns_whose_sum_overflows_are_refused():
    learner = aw.ScaleFree()
    with pytest.raises(InputError, match=r"x\[3\] must be a finite number; received inf"):
        learner.learn_one(SparseRow([3, 3], [1e308, 1e308]), 1)
    assert learner.rounds == 0


def test_an_array_of_two_dimensions_is_no_row():
    learner = aw.Perceptron()
    for call in (lambda: learner.learn_one(np.ones((1, 2)), 1), lambda: learner.predict_one(np.ones((1, 2)))):
        with pytest.raises(InputError, match="x must be one-dimensional; received an array of shape"):
            call()
    assert learner.rounds == 0
