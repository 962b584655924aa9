"""Standardize: the definition with all rounds at hand, in every form; and the learner inside, on the same rows."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.core.certificate import Verdict
from afterwit.data.rows import SparseRow
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError
from afterwit.reductions._moments import Moments

INSIDE = {
    "adagrad": aw.AdaGrad(intercept=True),
    "perceptron": aw.Perceptron(),
    "scale-free": aw.ScaleFree(epsilon=0.3),
    "svm": aw.OnlineSVM(C=3.0, rate=0.1),
    "network": aw.SoftThresholdNetwork(gates=(3,), seed=2),
}
every_learner = pytest.mark.parametrize("name", INSIDE)

values = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
rows = st.lists(st.dictionaries(st.sampled_from("abcd"), values, max_size=4), min_size=1, max_size=12)


def data(rounds=60, width=4, seed=1):
    random = np.random.default_rng(seed)
    scales = 10.0 ** random.integers(-4, 5, width)
    X = random.standard_normal((rounds, width)) * scales + random.standard_normal(width) * 3 * scales
    y = np.where((X - X.mean(axis=0)) / X.std(axis=0) @ random.standard_normal(width) >= 0, 1, -1)
    return X, y


def as_dicts(X):
    return [{f"f{j}": value for j, value in enumerate(row)} for row in X.tolist()]


def close(found, expected):
    """Standardized values, whose rounding is that of the differences from the mean."""
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(rows)
def test_rows_are_standardized_by_all_rounds_so_far(rows):
    expected = [value for row in naive.standardized(rows) for value in row.values()]
    moments = Moments()
    learned = aw.Standardize()._read(rows)
    close(moments.learn_and_standardize(learned).tolist(), expected)
    later = naive.standardized([*rows, {"a": 1.5, "e": -2.0}])[-1]
    next_row = aw.Standardize()._read_one({"a": 1.5, "e": -2.0})
    close(moments.standardized(next_row).tolist(), list(later.values()))


@every_learner
def test_the_learner_inside_learns_the_standardized_rows(name):
    X, y = data()
    learner, inside = aw.Standardize(INSIDE[name]), INSIDE[name].copy()
    predicted = learner.learn_many(X, y)
    Z = np.array([list(row.values()) for row in naive.standardized(as_dicts(X))])
    assert predicted.tolist() == inside.learn_many(Z, y).tolist()
    assert (learner.rounds, learner.mistakes, learner.updates) == (inside.rounds, inside.mistakes, inside.updates)
    close(learner.means.tolist(), X.mean(axis=0).tolist())
    assert learner.deviations.tolist() == pytest.approx(X.std(axis=0).tolist(), rel=1e-12)
    assert learner.standardized.rounds == 60
    assert learner.features == 4


@every_learner
@pytest.mark.parametrize("form", ["array", "sparse", "dicts"])
def test_many_is_one_by_one_and_parts(name, form):
    X, y = data(40)
    X[::3, 1] = 0.0
    X[1::4, 2] = 0.0
    many = {
        "array": X,
        "sparse": sparse.csr_array(X),
        "dicts": [{k: v for k, v in row.items() if v} for row in as_dicts(X)],
    }
    rows = many[form]
    one_by_one, at_once, parts = (aw.Standardize(INSIDE[name]) for _ in range(3))
    singles = [rows[[i]] for i in range(40)] if form == "sparse" else list(rows)
    said = [one_by_one.learn_one(x, label) for x, label in zip(singles, y.tolist(), strict=True)]
    assert at_once.learn_many(rows, y).tolist() == said
    parts.learn_many(rows[:13], y[:13])
    parts.learn_many(rows[13:], y[13:])
    assert one_by_one == at_once == parts
    assert at_once.score_many(rows).tolist() == [at_once.score_one(x) for x in singles]
    assert at_once == parts, "scoring changes nothing"


def test_forms_with_the_same_values_are_the_same():
    """A value of 0 in an array or a dict is a value; what a sparse row does not store is absent."""
    X, y = data(40)
    X[::3, 1] = 0.0
    full = sparse.csr_array((X.ravel(), np.tile(np.arange(4), 40), np.arange(0, 161, 4)), shape=X.shape)
    scores = [aw.Standardize().learn_scores(form, y).tolist() for form in (X, X.tolist(), full, as_dicts(X))]
    assert scores[0] == scores[1] == scores[2] == scores[3]
    stored = sparse.csr_array(X)
    absent = aw.Standardize().learn_scores(stored, y).tolist()
    assert (
        absent
        == aw.Standardize().learn_scores([{j: v for j, v in enumerate(row) if v} for row in X.tolist()], y).tolist()
    )
    assert absent != scores[0]


@given(st.integers(0, 10**6), st.lists(st.integers(-40, 40), min_size=4, max_size=4))
def test_powers_of_two_change_nothing_at_all(seed, powers):
    X, y = data(30, seed=seed)
    scaled = X * 2.0 ** np.array(powers)
    for form in (np.asarray, sparse.csr_array, as_dicts):
        one, other = aw.Standardize("perceptron"), aw.Standardize("perceptron")
        assert one.learn_scores(form(X), y).tolist() == other.learn_scores(form(scaled), y).tolist()
        assert same_value(one.standardized.state(), other.standardized.state())


def test_values_far_from_0_and_close_together():
    """Times in seconds since 1970: the spread is not lost by cancellation."""
    x = 1.7e9 + np.arange(50.0)
    moments = Moments()
    found = moments.learn_and_standardize(aw.Standardize()._read(x.reshape(-1, 1)))
    expected = [0.0] + [(t / 2) / math.sqrt(((t + 1) ** 2 - 1) / 12) for t in range(1, 50)]
    assert found.tolist() == pytest.approx(expected, rel=1e-6)


def test_a_constant_feature_is_0():
    learner = aw.Standardize("perceptron")
    learner.learn_many(np.full((20, 1), 0.1), [1, -1] * 10)
    assert (learner.means.tolist(), learner.deviations.tolist()) == ([0.1], [0.0])
    assert learner.score_one([0.1]) == 0


def test_a_feature_that_comes_late_is_as_if_it_had_been_0():
    learner = aw.Standardize("perceptron")
    learner.learn_many([{"a": 1.0}] * 9, [1, -1, 1] * 3)
    learner.learn_one({"b": 5.0}, 1)
    assert learner.means == pytest.approx({"a": 0.9, "b": 0.5})
    assert learner.deviations == pytest.approx({"a": 0.3, "b": 1.5})
    moments = Moments()
    moments.restore(learner.state()["moments"])
    close(
        moments.standardized(learner._read_one({"b": 5.0})).tolist(),
        [(5 - 10 / 11) / math.sqrt(50 / 11 - (10 / 11) ** 2)],
    )


def test_repeated_entries_are_added_up():
    twice = sparse.csr_array(
        (np.array([1.0, 2.0, 5.0, 1.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2)
    )
    once = sparse.csr_array(np.array([[3.0, 0.0], [0.0, 6.0]]))
    one, other = aw.Standardize(), aw.Standardize()
    assert one.learn_scores(twice, [1, -1]).tolist() == other.learn_scores(once, [1, -1]).tolist()
    assert one == other
    assert one.score_one(SparseRow([1, 1], [2.0, 2.0])) == one.score_one(SparseRow([1], [4.0]))
    assert one.score_one(SparseRow([1, 0], [2.0, 3.0])) == one.score_one(SparseRow([0, 1], [3.0, 2.0]))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-140, 1e-12, 1e12, 1e150])
def test_values_of_any_size(scale):
    """Below 1e-145 a feature counts as constant; beyond that the size changes nothing but the last digits."""
    X, y = np.random.default_rng(5).standard_normal((60, 3)), np.resize([1, -1, 1], 60)
    learner, same = (aw.Standardize(aw.AdaGrad(intercept=False)) for _ in range(2))
    scores, expected = learner.learn_scores(X * scale, y), same.learn_scores(X, y)
    assert scores.tolist() == pytest.approx([0.0] * 60 if scale < 1e-150 else expected.tolist(), rel=1e-9, abs=1e-9)
    assert learner.certificate(X * scale, y).verdict is Verdict.HOLDS


# ---------------------------------------------------------------------- refusals


def test_a_bad_value_of_one_dict_is_named():
    with pytest.raises(InputError, match=r"^x\['a'\] must be a finite number; received 'x'"):
        aw.Standardize().learn_one({"a": "x"}, 1)


@pytest.mark.parametrize("bad", [[[1.0, math.nan]], [{"a": math.inf}], [["x"]], 5])
def test_bad_values_change_nothing(bad):
    learner = aw.Standardize()
    learner.learn_many(*data(20)) if not isinstance(bad, list) or not isinstance(bad[0], dict) else None
    before = learner.state()
    for method, arguments in (("learn_many", (bad, [1])), ("score_many", (bad,))):
        with pytest.raises(InputError):
            getattr(learner, method)(*arguments)
    assert same_value(learner.state(), before)


def test_names_after_positions_are_refused():
    learner = aw.Standardize()
    learner.learn_many(*data(20))
    before = learner.state()
    with pytest.raises(InputError, match="features by position"):
        learner.learn_one({"a": 1.0, "b": 2.0}, 1)
    assert same_value(learner.state(), before)


@pytest.mark.parametrize(
    "learner", [3, "nonsense", aw.OneVsRest(), aw.AdaHedge, aw.Committee(), aw.KernelPerceptron, object()]
)
def test_what_is_no_learner_is_refused(learner):
    with pytest.raises(InputError, match="learner must be"):
        aw.Standardize(learner)


def test_a_learner_that_diverges_keeps_the_rounds_before():
    X, y = data(50)
    diverging = aw.SGD(loss="squared", rate=50.0)
    learner, inside = aw.Standardize(diverging), diverging.copy()
    Z = np.array([list(row.values()) for row in naive.standardized(as_dicts(X))])
    with pytest.raises(DivergenceError):
        inside.learn_many(np.tile(Z, (20, 1)), np.tile(y, 20))
    many = [{**row, f"only{t}": 1.0} for t, row in enumerate(as_dicts(X) * 20)]
    with pytest.raises(DivergenceError) as failure:
        learner.learn_many(many, np.tile(y, 20))
    assert "round" in str(failure.value)
    done = learner.rounds
    assert 0 < done < 1000
    fresh = aw.Standardize(diverging)
    fresh.learn_many(many[:done], np.tile(y, 20)[:done])
    assert learner == fresh


def test_a_value_whose_square_is_no_number():
    learner = aw.Standardize()
    learner.learn_many([[1.0], [2.0]], [1, -1])
    before = learner.state()
    with pytest.raises(DivergenceError, match="round 3 has a value whose square Standardize cannot compute"):
        learner.learn_one([1e200], 1)
    assert same_value(learner.state(), before)


@pytest.mark.parametrize(
    "change",
    [
        {"moments": None},
        {"learner": {}},
        {"mistakes": 0},
        {"rounds": 19},
        {"moments": {"seen": np.full(4, 21.0)}},
        {"moments": {"spreads": np.full(4, -1.0)}},
        {"moments": {"means": np.full(4, math.nan)}},
    ],
    ids=str,
)
def test_a_state_that_is_none_is_refused(change):
    learner = aw.Standardize()
    learner.learn_many(*data(20))
    before = learner.state()
    broken = {
        **before,
        **{k: {**before[k], **v} if isinstance(v, dict) and k == "moments" else v for k, v in change.items()},
    }
    with pytest.raises(InputError):
        learner.restore(broken)
    assert same_value(learner.state(), before)


def test_it_is_copied_pickled_and_saved(tmp_path):
    learner = aw.Standardize(aw.Perceptron(), labels=("a", "b"))
    X, y = data(20)
    learner.learn_many(as_dicts(X), np.where(y > 0, "b", "a"))
    aw.save(learner, tmp_path / "m")
    for other in (learner.copy(), pickle.loads(pickle.dumps(learner)), aw.load(tmp_path / "m")):
        assert other == learner
        assert other.score_many(as_dicts(X)).tolist() == learner.score_many(as_dicts(X)).tolist()
        other.learn_one({"f0": 1.0}, "a")
        assert other != learner


# ---------------------------------------------------------------------- certificates


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("name", [name for name in INSIDE if name != "network"])
def test_the_certificate_is_that_of_the_learner_on_the_standardized_rows(name, passes):
    X, y = data()
    learner, inside = aw.Standardize(INSIDE[name]), INSIDE[name].copy()
    for _ in range(passes):
        learner.learn_many(X, y)
    rows = naive.standardized(as_dicts(X) * passes)
    Z = np.array([list(row.values()) for row in rows])
    labels = np.tile(y, passes)
    inside.learn_many(Z, labels)
    made, expected = learner.certificate(X, y), inside.certificate(Z, labels)
    assert made.verdict is Verdict.HOLDS
    assert made.bound == pytest.approx(expected.bound, rel=1e-6)
    assert made.observed == pytest.approx(expected.observed, rel=1e-6)
    assert made.hindsight.value == pytest.approx(expected.hindsight.value, rel=1e-4)
    assert made.subject == f"Standardize of {type(inside).__name__}"
    assert made.assumptions[len(expected.assumptions) - 1 :] or made.assumptions
    assert any(each.statement.startswith("each row is standardized") and each.holds for each in made.assumptions)
    wrong = learner.certificate(X[::-1].copy(), y)
    assert wrong.verdict is Verdict.NOT_APPLICABLE
    sparser = learner.certificate(X[:-1], y[:-1])
    assert sparser.verdict is Verdict.NOT_APPLICABLE


def test_a_certificate_of_sparse_rows():
    X, y = data(80)
    X[::3, 1] = 0.0
    rows = [{k: v for k, v in row.items() if v} for row in as_dicts(X)]
    learner = aw.Standardize("adagrad")
    learner.learn_many(rows, y)
    assert learner.certificate(rows, y).verdict is Verdict.HOLDS
    assert learner.certificate(rows, y, comparator={"f0": 1.0}).verdict is Verdict.HOLDS


def test_rows_that_were_standardized_otherwise_are_noticed(monkeypatch):
    X, y = data()
    learner = aw.Standardize("adagrad")
    learner.learn_many(X, y)
    from afterwit.certify import standardize

    monkeypatch.setattr(standardize, "_standardized", lambda x, rounds: (x, np.zeros(len(x))))
    made = learner.certificate(X, y)
    assert made.verdict is Verdict.NOT_APPLICABLE
    assert "in round 1 the recomputed row differs" in made.why_not()


def test_learners_without_a_certificate_say_so():
    learner = aw.Standardize(INSIDE["network"])
    X, y = data()
    learner.learn_many(X, y)
    with pytest.raises(InputError, match="Standardize has no certificate: the loss of a network is not convex"):
        learner.certificate(X, y)


def test_probabilities_are_those_of_the_learner():
    X, y = data()
    learner = aw.Standardize(aw.AdaGrad(intercept=True))
    learner.learn_many(X, y)
    assert learner.predict_proba_one(X[0])[1] == pytest.approx(1 / (1 + math.exp(-learner.score_one(X[0]))))
    assert not aw.Standardize("perceptron").gives_probabilities


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_one_against_the_rest_of_it(seed):
    X, y = data(60, seed=seed)
    labels = np.where(X[:, 0] > X[:, 0].mean(), "a", np.where(y > 0, "b", "c"))
    learner = aw.OneVsRest(aw.Standardize(aw.Perceptron()), labels=("a", "b", "c"))
    learner.learn_many(X, labels)
    for label in ("a", "b", "c"):
        alone = aw.Standardize(aw.Perceptron())
        alone.learn_many(X, np.where(labels == label, 1, -1))
        assert same_value(learner.learners[label].state(), alone.state())
