"""The two online learners of disjunctions: oracles, every form of input, the contract, bounds met with equality."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_concepts
from afterwit import concepts
from afterwit.concepts.online_disjunction import DisjunctionBound
from afterwit.concepts.winnow_disjunction import EliminationBound, PromotionBound, WinnowDisjunctionBound
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from afterwit.storage import register
from afterwit.testing import check_learner, learner_checks
from problems import FORMS

LEARNERS = {
    "disjunction": aw.OnlineDisjunction,
    # Wide enough for the widest examples of the suite, and narrow enough for something to happen.
    "winnow": partial(aw.WinnowDisjunction, 1620),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("check", learner_checks(), ids=lambda check: check.__name__)
def test_conformance(check, name):
    check(LEARNERS[name])


# ---------------------------------------------------------------------- the oracles


@st.composite
def runs(draw, width=6, rounds=40):
    """Boolean rows, and labels that are those of a disjunction or any."""
    n = draw(st.integers(1, width))
    rows = draw(st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), max_size=rounds))
    target = draw(st.one_of(st.none(), st.sets(st.integers(0, n - 1))))
    labels = [draw(st.integers(0, 1)) if target is None else int(any(x[j] for j in target)) for x in rows]
    return n, rows, labels


def sums_hold(certificate):
    assert all(each.verdict is not Verdict.VIOLATED for each in (certificate, *certificate.others))


@given(runs(), st.sampled_from(FORMS))
def test_online_disjunction_is_the_oracle(run, form):
    n, rows, labels = run
    predictions, h = naive_concepts.online_disjunction(rows, labels)
    learner, one_by_one = aw.OnlineDisjunction(labels=(0, 1)), aw.OnlineDisjunction(labels=(0, 1))
    X = form(rows) if rows else []
    assert learner.learn_many(X, labels).tolist() == predictions
    dicts = [{f"f{j}": value for j, value in enumerate(x)} for x in rows]
    assert [one_by_one.learn_one(x, label) for x, label in zip(dicts, labels, strict=True)] == predictions
    met = {j for x in rows for j in range(n) if x[j]}
    for each in (learner, one_by_one):
        assert each.updates == sum(p == 1 and label == 0 for p, label in zip(predictions, labels, strict=True))
        kept = {int(name[1:]) if isinstance(name, str) else name for name in each.disjunction}
        assert kept & met == h & met
    if not rows:
        return
    certificate = learner.certificate(X, labels)
    smallest = naive_concepts.smallest_disjunction(rows, labels)
    assert certificate.verdict is (Verdict.NOT_APPLICABLE if smallest is None else Verdict.HOLDS)
    if smallest is not None:
        assert certificate.bound == learner.features <= n
        assert certificate.hindsight.value == 0
    sums_hold(certificate)


@given(runs(), st.integers(0, 3), st.sampled_from(FORMS))
def test_winnow_is_the_oracle(run, more, form):
    n, rows, labels = run
    rows = [x + [0] * more for x in rows]
    n += more
    predictions, w, promotions, eliminations = naive_concepts.winnow_disjunction(n, rows, labels)
    learner, one_by_one = aw.WinnowDisjunction(n, labels=(0, 1)), aw.WinnowDisjunction(n, labels=(0, 1))
    X = form(rows) if rows else []
    assert learner.learn_many(X, labels).tolist() == predictions
    assert [one_by_one.learn_one(x, label) for x, label in zip(rows, labels, strict=True)] == predictions
    for each in (learner, one_by_one):
        assert (each.promotions, each.eliminations, each.mistakes) == (
            promotions,
            eliminations,
            promotions + eliminations,
        )
        weights = each.weights if isinstance(each.weights, dict) else dict(enumerate(each.weights.tolist()))
        found = {int(str(name).removeprefix("f")): weight for name, weight in weights.items()}
        assert all(w[j] == found.get(j, 1.0) for j in range(n))
        assert max(w) <= n
    if not rows:
        return
    certificate = learner.certificate(X, labels)
    by_quantity = {each.quantity: each for each in (certificate, *certificate.others)}
    assert by_quantity["eliminations"].bound == promotions + 2
    assert by_quantity["eliminations"].observed == eliminations
    smallest = naive_concepts.smallest_disjunction(rows, labels)
    if smallest is None:
        assert certificate.theorem == EliminationBound()
        assert by_quantity["mistakes"].verdict is by_quantity["promotions"].verdict is Verdict.NOT_APPLICABLE
    else:
        k = certificate.inputs["k"]
        assert certificate.theorem == WinnowDisjunctionBound()
        assert smallest <= k <= n
        assert certificate.bound == 2 * k * math.log2(n) + 2
        assert by_quantity["promotions"].bound == k * math.log2(n)
        assert by_quantity["promotions"].observed == promotions
    sums_hold(certificate)


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 16, 300]), st.booleans())
def test_many_rounds_at_once_are_the_loop_of_one(seed, cut, winnow):
    """Longer than the rounds that are scored together, with names that turn up on the way."""
    random = np.random.default_rng(seed)
    X = (random.random((600, 40)) < random.uniform(0.02, 0.3)).astype(int)
    y = np.where(X[:, :2].any(axis=1) ^ (random.random(600) < 0.05), 1, -1)
    dicts = [{f"f{j}": int(x[j]) for j in random.permutation(40) if x[j] or random.random() < 0.1} for x in X]
    make = partial(aw.WinnowDisjunction, 40) if winnow else aw.OnlineDisjunction
    whole, parts, single = make(), make(), make()
    predicted = whole.learn_many(dicts, y)
    in_parts = [parts.learn_many(dicts[i : i + cut], y[i : i + cut]) for i in range(0, 600, cut)]
    one_by_one = [single.learn_one(x, label) for x, label in zip(dicts, y.tolist(), strict=True)]
    assert predicted.tolist() == np.concatenate(in_parts).tolist() == one_by_one
    assert whole == parts == single
    assert whole.score_many(dicts).tolist() == [whole.score_one(x) for x in dicts]


def test_rounds_that_changed_it_are_noted():
    X, y = [[1, 0], [0, 1], [1, 1], [0, 0]], np.array([-1, 1, -1, 1], dtype=np.int8)
    learner = aw.OnlineDisjunction()
    updated = np.full(4, 7, dtype=np.int8)
    learner._learn(learner._read(X), y, updated)
    assert updated.tolist() == [1, 0, 1, 0]
    assert learner.updates == 2
    assert learner.mistakes == 3, "of the last example nothing can be learned"


# ---------------------------------------------------------------------- inputs


def test_sets_dicts_and_arrays_say_the_same():
    forms = {
        "sets": [{"a", "b"}, set(), frozenset({"c"})],
        "dicts": [{"a": 1, "b": True, "c": 0}, {}, {"c": 1.0}],
    }
    learned = {}
    for name, X in forms.items():
        at_once, singly = aw.OnlineDisjunction(), aw.OnlineDisjunction()
        at_once.learn_many(X, [-1, -1, 1])
        for x, y in zip(X, [-1, -1, 1], strict=True):
            singly.learn_one(x, y)
        assert at_once.disjunction == singly.disjunction == ["c"]
        learned[name] = at_once.predict_many(X).tolist()
    assert learned["sets"] == learned["dicts"] == [-1, -1, 1]
    assert aw.OnlineDisjunction().predict_one({"new"}) == 1, "a variable never met is in h"
    assert aw.OnlineDisjunction().predict_one({"new": 0}) == -1
    positions = aw.OnlineDisjunction()
    positions.learn_one(np.array([True, False, True]), -1)
    assert positions.weights.tolist() == [0.0, 1.0, 0.0]
    assert positions.disjunction == [1]
    assert positions.predict_one([0, 0, 0, 0, 1]) == 1
    assert positions.predict_one(aw.SparseRow([0, 2], [1, 1])) == -1


@pytest.mark.parametrize("make", [aw.OnlineDisjunction, partial(aw.WinnowDisjunction, 3)])
def test_other_values_are_refused_by_their_place(make):
    learner = make()
    with pytest.raises(InputError, match=r"^x\['a'\] must be 0 or 1; received 0\.5"):
        learner.learn_one({"b": 1, "a": 0.5}, 1)
    with pytest.raises(InputError, match=r"^x\['a'\] must be 0 or 1; received 'yes'"):
        learner.learn_one({"a": "yes"}, 1)
    with pytest.raises(InputError, match=r"^x\[1\] must be 0 or 1; received 2\.0"):
        learner.predict_one([1, 2])
    with pytest.raises(InputError, match=r"^X\[1, 0\] must be 0 or 1; received -1\.0"):
        learner.learn_many(np.array([[1, 0], [-1, 0]]), [1, 1])
    with pytest.raises(InputError, match=r"^X\[1, 2\] must be 0 or 1; received 7\.0"):
        learner.learn_many(sparse.csr_array([[1, 0, 0], [0, 0, 7]]), [1, 1])
    with pytest.raises(InputError, match=r"^X\[1, 'b'\] must be 0 or 1; received nan"):
        learner.learn_many([{"a": 1}, {"b": float("nan")}], [1, 1])
    with pytest.raises(InputError, match=r"x\[\d\] must be 0 or 1; received 2.0"):
        learner.learn_one(aw.SparseRow([1, 1], [1.0, 1.0]), 1)
    assert learner == make()


def test_winnow_knows_its_variables():
    learner = aw.WinnowDisjunction(2)
    with pytest.raises(InputError, match=r"^x must be of at most n_variables = 2 variables; received 3$"):
        learner.learn_one([0, 0, 1], 1)
    with pytest.raises(InputError, match=r"^X must be of at most n_variables = 2 variables; received 3$"):
        learner.learn_many([{"a", "b"}, {"c"}], [1, 1])
    learner.learn_one({"a"}, -1)
    with pytest.raises(InputError, match="received 3 with those it has learned"):
        learner.learn_one({"b", "c"}, 1)
    with pytest.raises(InputError, match="received 3 with those it has learned"):
        learner.predict_one({"b", "c"})
    learner.learn_one({"b": 1, "c": 0}, 1)
    assert learner.weights == {"a": 0.0, "b": 1.0}
    assert learner.n_variables == 2
    for n in (0, -1, 1.5, True, "7", None, 2**40):
        with pytest.raises(InputError, match=r"^n_variables must be"):
            aw.WinnowDisjunction(n)


def test_damaged_states_are_refused():
    learner = aw.WinnowDisjunction(3)
    learner.learn_many([[1, 0, 0], [0, 1, 1]], [1, -1])
    state = learner.state()
    for part, value in (
        ("weights", [1.0]),
        ("weights", np.array([3.0, 1.0, 1.0])),
        ("weights", np.array([0.5, 1.0, 1.0])),
        ("weights", np.array([np.nan, 1.0, 1.0])),
        ("weights", np.ones(4)),
        ("names", ["a"]),
        ("names", ["a", "a", "b"]),
        ("promotions", 5),
        ("promotions", None),
        ("rounds", 1),
    ):
        with pytest.raises(InputError, match=part):
            learner.restore({**state, part: value})
    assert str(learner.state()) == str(state)


# ---------------------------------------------------------------------- certificates


def test_a_comparator_may_be_given():
    X = [{"a", "b"}, {"c"}, {"a"}, {"b"}, set()]
    y = [1, -1, 1, 1, -1]
    learner = aw.WinnowDisjunction(100)
    learner.learn_many(X, y)
    given = learner.certificate(X, y, comparator=["a", "b", "z"])
    assert given.inputs["k"] == 3
    assert given.inputs["comparator"] == "a or b or z"
    assert given.verdict is Verdict.HOLDS
    found = learner.certificate(X, y)
    assert (found.inputs["k"], found.inputs["comparator"]) == (2, "a or b")
    wrong = learner.certificate(X, y, comparator=["a"])
    assert wrong.theorem == EliminationBound()
    assert "the given one is wrong on 1 example" in str(wrong.others[0])
    for comparator in ("a", 3):
        with pytest.raises(InputError, match="comparator must be the variables of a disjunction"):
            learner.certificate(X, y, comparator=comparator)


def test_what_is_in_no_disjunction():
    learner = aw.OnlineDisjunction()
    X, y = [[1, 0], [1, 0], [0, 0]], [1, -1, 1]
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert certificate.hindsight.value == 2
    assert "2 of the positive examples have only what negative ones have" in certificate.failed[0].detail
    twice = aw.OnlineDisjunction()
    twice.fit(X, y, max_passes=3)
    assert twice.certificate(X, y).hindsight.value == 2 * twice.rounds // 3


@register
class Forgetful(aw.OnlineDisjunction):
    """Drops only one of the variables of a false positive."""

    def _change(self, weights, variables, positive):
        weights[[j for j in variables if weights[j]][:1]] = 0.0


@register
class Rash(aw.WinnowDisjunction):
    """Quadruples."""

    def _change(self, weights, variables, positive):
        weights[variables] *= 4.0 if positive else 0.0


@pytest.mark.parametrize("make", [Forgetful, partial(Rash, 1620)])
def test_the_checker_is_not_fooled(make):
    with pytest.raises(AssertionError, match="check_theorems"):
        check_learner(make)


def test_bounds_are_those_of_the_notes():
    assert WinnowDisjunctionBound.bound(3, 1024) == 62
    assert PromotionBound.bound(3, 1024) == 30
    assert EliminationBound.bound(5) == 7
    winnow, simple = WinnowDisjunctionBound(), DisjunctionBound()
    assert winnow(literals=3, features=1024) == 62
    assert winnow.values(literals=[1, 3], features=[[4], [1024]]).tolist() == [[6, 14], [22, 62]]
    with pytest.raises(InputError, match="literals must be at most as many as features"):
        winnow(literals=3, features=2)
    assert simple(features=7) == 7


# ---------------------------------------------------------------------- adversaries


@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_any_deterministic_learner_makes_d_mistakes_on_disjunctions(d):
    learners = [
        aw.OnlineDisjunction(),
        aw.OnlineDisjunction(labels=("no", "yes")),
        aw.WinnowDisjunction(d),
        aw.Perceptron(),
        aw.Winnow(labels=(0, 1)),
        aw.KernelPerceptron(),
    ]
    if d < 8:
        learners += [aw.Halving(concepts.monotone_disjunctions(d)), aw.StandardOptimalAlgorithm(concepts.parities(d))]
    for learner in learners:
        stream = aw.adversaries.contrary_disjunction(d, learner)
        assert len(stream) == d
        kept = []
        for x, y in stream:
            prediction = learner.predict_one(x)
            learner.learn_one(x, y)
            kept.append((x, y))
            assert prediction != y
        positive = learner.labels[1]
        assert len(kept) == d == learner.mistakes
        assert all((y == positive) == any(x[j] for j in stream.target) for x, y in kept)


@pytest.mark.parametrize("d", [1, 5, 40])
def test_the_bound_of_the_online_disjunction_is_met_with_equality(d):
    learner = aw.OnlineDisjunction()
    stream = aw.adversaries.contrary_disjunction(d, learner)
    assert aw.play(learner, stream).mistakes == d
    certificate = learner.certificate(np.eye(d), [-1] * d)
    assert (certificate.observed, certificate.bound, certificate.verdict) == (d, d, Verdict.HOLDS)
    assert stream.target == []


def test_winnow_promotes_as_often_as_its_bound_allows_but_for_rounding():
    """One variable at a time: each of the k is doubled until its weight is n/2, and n/2 of the others are never set."""
    n, k = 64, 3
    learner = aw.WinnowDisjunction(n)
    X = np.repeat(np.eye(n)[:k], 20, axis=0)
    learner.learn_many(X, [1] * len(X))
    assert learner.promotions == k * (math.log2(n) - 1)
    assert learner.certificate(X, [1] * len(X)).inputs["k"] == k


def test_eliminations_meet_their_bound_with_equality():
    learner = aw.WinnowDisjunction(4)
    learner.learn_many([[1, 1, 0, 0], [0, 0, 1, 1]], [-1, -1])
    assert (learner.eliminations, learner.promotions) == (2, 0)
    X, y = [[1, 1, 0, 0], [0, 0, 1, 1]], [-1, -1]
    certificate = learner.certificate(X, y)
    assert (certificate.observed, certificate.bound) == (2, 2)
    assert certificate.theorem == WinnowDisjunctionBound()
    assert certificate.inputs["k"] == 0


def test_one_against_the_rest_of_disjunctions():
    random = np.random.default_rng(4)
    X = (random.random((120, 6)) < 0.3).astype(int)
    y = ["a" if x[0] else "b" if x[1] else "c" for x in X]
    learner = aw.OneVsRest(aw.OnlineDisjunction)
    singly = aw.OneVsRest(aw.OnlineDisjunction())
    assert learner.learn_many(X, y).tolist() == [singly.learn_one(x, label) for x, label in zip(X, y, strict=True)]
    assert learner == singly == learner.copy()
    assert learner.certificate(X, y).verdict is not Verdict.VIOLATED


def test_bad_parameters_of_the_adversaries():
    with pytest.raises(InputError, match=r"^n must be a whole number, at least 1"):
        aw.adversaries.contrary_disjunction(0, aw.OnlineDisjunction())
    with pytest.raises(InputError, match=r"^learner must be an object with predict_one and learn_one"):
        aw.adversaries.contrary_disjunction(3, "learner")
    with pytest.raises(InputError, match=r"^labels must be a pair"):
        aw.adversaries.contrary_disjunction(3, aw.OnlineDisjunction(), labels=(1, 1))
    with pytest.raises(InputError, match=r"^hypotheses must be"):
        aw.adversaries.mistake_tree(None, aw.OnlineDisjunction())
    with pytest.raises(InputError, match=r"^limit must be larger"):
        aw.adversaries.mistake_tree(concepts.intervals(20), aw.OnlineDisjunction(), limit=5)
