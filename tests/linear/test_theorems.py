"""Theorems run against adversaries: the tight one as equality, the others as inequalities."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit import adversaries
from afterwit.certify.linear import HingeTable
from afterwit.core.certificate import Verdict
from afterwit.hindsight.comparator import judge
from afterwit.linear.perceptron import (
    EuclideanHingeBound,
    HingeBound,
    MarginBound,
    RootHingeBound,
    SimpleUpdateHingeBound,
    UpdateHingeBound,
)


def certified(stream, **options):
    learner = aw.Perceptron(**options)
    aw.play(learner, stream)
    return learner, learner.certificate(stream.X, stream.y)


def by_theorem(certificate):
    return {each.theorem.name: each for each in (certificate, *certificate.others)}


def all_hold(certificate):
    for each in (certificate, *certificate.others):
        assert each.verdict is not Verdict.VIOLATED, str(each)
        if each.bound is not None:
            assert each.observed <= each.bound * (1 + 1e-9) + 1e-9, str(each)
    assert certificate.verdict is Verdict.HOLDS, str(certificate)


def test_the_formulas():
    assert MarginBound.bound(radius=3.0, margin=0.5) == 36
    assert HingeBound.bound(radius=2.0, norm=3.0, hinge_loss=1.5) == 39
    assert RootHingeBound.bound(radius=3.0, norm=1.0, hinge_loss=4.0) == 16
    assert UpdateHingeBound.bound(radius=3.0, rho=1.0, loss=4.0) == 16  # (3 + sqrt(9 + 16)) / 2 = 4
    assert SimpleUpdateHingeBound.bound(radius=3.0, rho=1.0, loss=4.0) == 25
    assert EuclideanHingeBound.bound(radius=3.0, rho=1.0, loss=4.0) == 49
    for bound in (UpdateHingeBound.bound, SimpleUpdateHingeBound.bound, EuclideanHingeBound.bound):
        assert bound(radius=3.0, rho=0.5, loss=0.0) == MarginBound.bound(radius=3.0, margin=0.5)


@pytest.mark.parametrize("n", [1, 2, 7, 25, 400])
def test_unit_vectors_meet_the_margin_bound_with_equality(n):
    learner, certificate = certified(adversaries.unit_vectors(n))
    assert learner.mistakes == n
    assert certificate.theorem.name == "margin bound"  # the simplest of those that tie
    assert certificate.bound == pytest.approx(n, rel=1e-9)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.hindsight.value == 0
    for each in certificate.others:
        assert each.bound >= n * (1 - 1e-9)


@pytest.mark.parametrize("dimension", [2, 10, 300])
@pytest.mark.parametrize("margin", [0.5, 0.1, 0.03])
def test_separable_streams_stay_below_the_margin_bound(dimension, margin):
    for seed in range(3 if dimension < 300 else 1):
        stream = adversaries.separable(1500, dimension, margin=margin, seed=seed)
        learner, certificate = certified(stream)
        assert learner.mistakes <= 1 / margin**2
        found = by_theorem(certificate)["margin bound"]
        assert found.verdict is Verdict.HOLDS
        # The separator found in hindsight is at least as wide as the one the stream was made with.
        assert found.inputs["gamma"] >= margin * (1 - 1e-6)
        assert found.inputs["R"] == pytest.approx(1.0)
        assert found.bound <= (1 / margin**2) * (1 + 1e-5)
        all_hold(certificate)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_label_noise_leaves_only_the_hinge_bounds(rate):
    clean = adversaries.separable(800, 6, margin=0.05, seed=4)
    stream = adversaries.label_noise(clean, rate, seed=5)
    _, certificate = certified(stream)
    margin = by_theorem(certificate)["margin bound"]
    assert margin.verdict is Verdict.NOT_APPLICABLE
    assert margin.bound is None
    assert "no hyperplane" in margin.line()
    all_hold(certificate)
    assert certificate.theorem.quantity == "mistakes"


@pytest.mark.parametrize("turns", [0, 0.25, 3])
def test_drift_is_no_excuse(turns):
    stream = adversaries.drifting(1000, 8, turns=turns, margin=0.05, seed=2)
    learner, certificate = certified(stream)
    all_hold(certificate)
    applicable = by_theorem(certificate)["margin bound"].verdict is Verdict.HOLDS
    assert applicable == (turns == 0)
    if turns == 3:
        assert certificate.hindsight.value > learner.mistakes, "a fixed separator is worse than one that follows"


@pytest.mark.parametrize("n", range(1, 9))
def test_alternating_prefixes_need_exponentially_many_updates_in_any_order(n):
    stream = adversaries.alternating_prefixes(n)
    for seed in range(4):
        order = np.arange(n) if seed == 0 else np.random.default_rng(seed).permutation(n)
        learner = aw.Perceptron()
        training = learner.fit(stream.X[order], stream.y[order], max_passes=10_000)
        assert training.converged
        assert learner.updates >= stream.least_updates
        certificate = by_theorem(learner.certificate(stream.X[order], stream.y[order]))["margin bound"]
        assert certificate.verdict is Verdict.HOLDS
    assert stream.least_updates >= 2**n // 6


small = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(st.integers(-3, 3), min_size=width, max_size=width), st.sampled_from([-1, 1])),
        min_size=1,
        max_size=14,
    )
)


@settings(max_examples=40)
@given(small, st.sampled_from([1.0, 1e-7, 1e7]), st.integers(1, 3), st.sampled_from([1.0, 0.25]))
def test_no_sequence_breaks_a_bound(examples, scale, passes, rate):
    X = scale * np.array([x for x, _ in examples], dtype=float)
    y = [label for _, label in examples]
    learner = aw.Perceptron(rate=rate)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.observed == learner.mistakes
    all_hold(certificate)
    # Bounds on different quantities are not compared: those on what the first one is about come first.
    for quantity, foreseeable in itertools.product(("mistakes", "error"), (True, False)):
        ranked = [
            each.bound
            for each in (certificate, *certificate.others)
            if each.bound is not None and each.theorem.foreseeable is foreseeable and each.quantity == quantity
        ]
        assert ranked == sorted(ranked) or np.allclose(ranked, sorted(ranked), rtol=1e-8)
    assert certificate.theorem.foreseeable
    named = by_theorem(certificate)
    assert named["sharper hinge bound"].bound <= named["hinge bound"].bound * (1 + 1e-9)
    assert certificate.bound >= named["hinge bound on update rounds"].bound * (1 - 1e-9) or not certificate.inputs.get(
        "L"
    )
    first = named["hinge bound on update rounds"].bound
    assert first <= named["simpler hinge bound on update rounds"].bound * (1 + 1e-9)
    assert first <= named["Euclidean hinge bound on update rounds"].bound * (1 + 1e-9)


@settings(max_examples=30)
@given(small, st.lists(st.integers(-4, 4), min_size=4, max_size=4))
def test_a_given_comparator_is_judged_as_the_oracle_judges_it(examples, comparator):
    X = [x for x, _ in examples]
    y = [label for _, label in examples]
    u = comparator[: len(X[0])]
    learner = aw.Perceptron()
    learner.learn_many(X, y)
    named = by_theorem(learner.certificate(X, y, comparator=u))
    _, _, updates = naive.perceptron([naive.as_dict(x) for x in X], y)
    assert learner.mistakes == len(updates)
    expected = naive.margin_bound(X, y, u) if any(u) else None
    if expected is None:
        assert named["margin bound"].bound is None
    else:
        assert named["margin bound"].bound == pytest.approx(expected)
    # The package may stretch the comparator: its bound is the oracle's at that length, and no worse than as given.
    hinge = named["hinge bound"]
    assert hinge.bound <= naive.hinge_bound(X, y, u) * (1 + 1e-6)
    stretched = [a * hinge.inputs["|u|"] / naive.norm(u) for a in u] if any(u) else u
    assert hinge.bound == pytest.approx(naive.hinge_bound(X, y, stretched))
    for name, oracle in (
        ("hinge bound on update rounds", naive.update_hinge_bound),
        ("Euclidean hinge bound on update rounds", naive.squared_hinge_bound),
    ):
        certificate = named[name]
        length = 0.0 if math.isinf(certificate.inputs["rho"]) else 1 / certificate.inputs["rho"]
        v = [a * length / naive.norm(u) for a in u] if any(u) else u
        rounds_counted = [oracle(X, y, updates, v), oracle(X, y, range(len(y)), v)]
        assert any(certificate.bound == pytest.approx(value) for value in rounds_counted)
        assert certificate.bound >= len(updates) - 1e-9


@pytest.mark.parametrize("pairs", [*range(1, 40), 48, 61, 96])
def test_where_nothing_can_be_learned_nothing_is_promised(pairs):
    """Every point once with each label: the only honest bound is the number of rounds."""
    random = np.random.default_rng(pairs)
    X = np.repeat(random.standard_normal((pairs, 3)), 2, axis=0)
    y = np.tile([1, -1], pairs)
    order = random.permutation(2 * pairs)
    learner = aw.Perceptron()
    learner.learn_many(X[order], y[order])
    certificate = learner.certificate(X[order], y[order])
    for each in (certificate, *certificate.others):
        assert each.bound is None or each.vacuous, str(each)


def test_a_bound_that_watches_the_learner_never_comes_first():
    random = np.random.default_rng(3)
    X = random.standard_normal((2001, 5))
    right = np.where(X[:, 0] >= 0, 1, -1)
    y = np.where(random.random(2001) < 0.6, right, -right)
    learner = aw.Perceptron()
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.theorem.name == "sharper hinge bound"
    assert certificate.bound > by_theorem(certificate)["hinge bound on update rounds"].bound
    assert [each.theorem.foreseeable for each in certificate.others if each.bound is not None] == [
        True,
        False,
        False,
        False,
    ]


def test_data_on_scales_that_do_not_go_together():
    for X in ([[1.0], [1e-200]], [[1e200, 1.0], [1.0, 1e-200]], np.full((3, 4), 1e153)):
        y = [1, 1] if len(X) == 2 else [1, -1, 1]
        learner = aw.Perceptron()
        learner.learn_many(X, y)
        certificate = learner.certificate(X, y)
        assert certificate.verdict is not Verdict.VIOLATED
        assert certificate.theorem.quantity == "mistakes"


def test_certifying_what_is_far_too_short_is_quick():
    learner = aw.Perceptron()
    for _ in range(20):
        learner.learn_many(np.ones((5000, 1)), np.ones(5000, dtype=int))
    assert learner.certificate([[1.0]], [1]).verdict is Verdict.HOLDS, (
        "a pass without a mistake stands for all later ones"
    )
    assert learner.certificate([[1.0]] * 3, [1] * 3).verdict is Verdict.NOT_APPLICABLE


def test_the_comparator_in_hindsight_is_better_than_any_we_can_think_of():
    stream = adversaries.label_noise(adversaries.separable(300, 4, margin=0.1, seed=8), 0.05, seed=9)
    X, y = stream.X.tolist(), stream.y.tolist()
    _, certificate = certified(stream)
    bound = by_theorem(certificate)["hinge bound"].bound
    random = np.random.default_rng(0)
    for _ in range(200):
        u = random.standard_normal(4) * random.uniform(0, 20)
        assert bound <= naive.hinge_bound(X, y, u.tolist()) * (1 + 1e-6)


@pytest.mark.parametrize("weight", [0.3, 2.0, 40.0])
def test_a_comparator_is_as_long_as_makes_the_bound_smallest(weight):
    random = np.random.default_rng(4)
    X, vector = random.standard_normal((60, 3)), np.array([0.2, -0.1, 0.05])
    y = np.where(X @ vector + 0.1 * random.standard_normal(60) >= 0, 1, -1)
    comparator = judge("by hand", vector, X, y, None)

    def bound(scale):
        losses = np.maximum(0.0, 1.0 - scale * y * (X @ vector))
        return 2 * losses.sum() + weight * (scale * np.linalg.norm(vector)) ** 2

    value, _, scale = HingeTable(comparator, 2).best(lambda u: u.hinge + weight * u.norm**2)
    assert value == pytest.approx(bound(scale), rel=1e-9)
    assert scale > 0
    assert value <= min(map(bound, np.geomspace(1e-3, 1e3, 20_000))) * (1 + 1e-9)


def test_sparse_rows_names_and_labels_give_the_same_certificate():
    stream = adversaries.separable(200, 6, margin=0.1, seed=1)
    X = np.round(stream.X, 3)
    expected = certified(aw.streams.ArrayStream(X, stream.y))[1]
    sparse_one = aw.Perceptron()
    sparse_one.learn_many(sparse.csr_array(X), stream.y)
    names = [{f"f{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    answers = np.where(stream.y > 0, "yes", "no")
    named = aw.Perceptron(labels=("no", "yes"))
    named.learn_many(names, answers)
    for certificate in (sparse_one.certificate(sparse.csr_array(X), stream.y), named.certificate(names, answers)):
        assert certificate.bound == pytest.approx(expected.bound, rel=1e-3)
        assert certificate.observed == expected.observed
    target = {f"f{j}": value for j, value in enumerate(stream.target.tolist())}
    given_by_name = by_theorem(named.certificate(names, answers, comparator=target))["margin bound"]
    assert given_by_name.inputs["gamma"] == pytest.approx(0.1, abs=5e-3)


def test_several_passes_are_one_long_sequence():
    stream = adversaries.label_noise(adversaries.separable(50, 3, margin=0.1, seed=1), 0.1, seed=1)
    once, thrice = aw.Perceptron(), aw.Perceptron()
    once.learn_many(np.tile(stream.X, (3, 1)), np.tile(stream.y, 3))
    for _ in range(3):
        thrice.learn_many(stream.X, stream.y)
    assert once == thrice
    long = by_theorem(once.certificate(np.tile(stream.X, (3, 1)), np.tile(stream.y, 3)))
    short = by_theorem(thrice.certificate(stream.X, stream.y))
    # Rows that were seen again are rows to be left out: one theorem more than for one long sequence.
    trained = short.pop("error after training to convergence")
    assert trained.verdict is Verdict.NOT_APPLICABLE
    assert "error after training to convergence" not in long
    for name, certificate in short.items():
        assert (certificate.bound is None) == (long[name].bound is None)
        if certificate.bound is not None:
            assert certificate.bound == pytest.approx(long[name].bound, rel=1e-3)
            assert certificate.rounds == 150
        assert certificate.hindsight.value == long[name].hindsight.value > 0


def test_a_start_elsewhere_is_outside_the_theorems():
    learner = aw.Perceptron(start=[1.0, 0.0])
    learner.learn_many([[1.0, 1.0]], [-1])
    certificate = learner.certificate([[1.0, 1.0]], [-1])
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert certificate.bound is None
    assert "another start" in str(certificate)
    assert "bound      none" in str(certificate)
    at_zero = aw.Perceptron(start=[0.0, 0.0])
    at_zero.learn_many([[1.0, 1.0]], [-1])
    assert at_zero.certificate([[1.0, 1.0]], [-1]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("change", ["order", "label", "value", "fewer", "more"])
def test_other_rounds_than_those_played_are_noticed(change):
    stream = adversaries.separable(100, 3, margin=0.05, seed=6)
    learner = aw.Perceptron()
    learner.learn_many(stream.X, stream.y)
    X, y = stream.X.copy(), stream.y.copy()
    at = int(np.flatnonzero(aw.Perceptron().learn_many(X, y) != y)[0])
    if change == "order":
        X, y = X[::-1], y[::-1]
    elif change == "label":
        y[at] *= -1
    elif change == "value":
        X[at] *= 1.001
    elif change == "fewer":
        X, y = X[:-1], y[:-1]
    else:
        X, y = np.vstack([X, X[:1]]), np.append(y, y[0])
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert not certificate.assumptions[0].holds


@pytest.mark.parametrize("labels", [(0, "a"), (1, "1"), (True, "x"), ((0, "a"), (1, "b")), ("a", "a\0")])
def test_labels_of_any_kind_are_certified_and_kept(labels):
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = [labels[int(value > 0)] for value in X[:, 0]]
    stream = aw.streams.ArrayStream(X, y)
    learner = aw.Perceptron(labels=labels)
    record = aw.play(learner, stream, predictions=True)
    assert learner.certificate(X, y).verdict is Verdict.HOLDS
    assert [y for _, y in stream] == y
    assert set(record.predictions.tolist()) <= set(labels)
    assert record.mistakes == learner.mistakes
    assert record.to_dict() == aw.play(aw.Perceptron(labels=labels), list(stream), predictions=True).to_dict()


def test_ties_that_rounding_breaks_are_no_reason_to_doubt():
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = np.round(random.integers(-3, 4, (30, 3)) * random.choice([0.1, 0.3]), 2)
        y = random.choice([-1, 1], size=30)
        learner = aw.Perceptron(rate=float(random.choice([0.1, 0.7, 1.3])))
        learner.learn_many(X, y)
        assert learner.certificate(X, y).verdict is Verdict.HOLDS, seed


def test_rounds_in_other_clothes_are_the_same_rounds():
    dense = np.array([[0.0, 1.0, 0.0, 2.0], [0.0, -1.0, 0.0, 3.0], [0.0, 2.0, 0.0, 0.0]])
    y = [-1, 1, -1]
    learner = aw.Perceptron()
    learner.learn_many([aw.SparseRow(np.flatnonzero(x), x[x != 0]) for x in dense], y)
    wider = sparse.csr_array(np.hstack([dense, np.zeros((3, 5))]))
    assert learner.certificate(wider, y).verdict is Verdict.HOLDS
    assert learner.certificate(2 * wider, y).verdict is Verdict.NOT_APPLICABLE
    rows = [{"a": 1.0, "b": 2.0}, {"a": -1.0, "b": 1.0}]
    named = aw.Perceptron()
    named.learn_many(rows, [-1, 1])
    assert named.certificate([dict(reversed(row.items())) for row in rows], [-1, 1]).verdict is Verdict.HOLDS
    assert named.certificate([{**row, "c": 0.0} for row in rows], [-1, 1]).verdict is Verdict.HOLDS
    assert named.certificate([{**rows[0], "c": 1.0}, rows[1]], [-1, 1]).verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("scale", [1e-100, 1e-10, 1e10, 1e150])
def test_tiny_and_huge_data_are_told_apart_from_other_data(scale):
    X = scale * np.array([[1.0, 0.5], [0.3, -1.0], [-1.0, 0.2]])
    learner = aw.Perceptron()
    learner.learn_many(X, [-1, 1, -1])
    certificate = learner.certificate(X, [-1, 1, -1])
    assert certificate.verdict is Verdict.HOLDS
    assert by_theorem(certificate)["hinge bound"].inputs["R"] == pytest.approx(scale * math.sqrt(1.25))
    assert learner.certificate(2 * X, [-1, 1, -1]).verdict is Verdict.NOT_APPLICABLE


def test_an_engine_that_misses_a_mistake_would_be_caught():
    """The checker against a learner that skips its second mistake: no theorem may apply."""

    class Careless(aw.Perceptron):
        def _learn(self, rows, signs, updated=None):
            scores = super()._learn(rows, signs, updated)
            state = self.state()
            state["weights"] = -np.array([1.0, 0.0])
            self.restore({**state, "mistakes": 1, "updates": 1})
            wrong = np.flatnonzero(scores * signs <= 0)
            scores[wrong[1:]] = signs[wrong[1:]]
            if updated is not None:
                updated[wrong[1:]] = 0
            return scores

    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]], [-1, -1, 1]
    learner = Careless()
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.assumptions[0].holds, "it agrees with itself"
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "was not treated by the rule" in str(certificate)


def test_a_learner_that_has_seen_nothing():
    certificate = aw.Perceptron().certificate(np.empty((0, 4)), [])
    assert (certificate.observed, certificate.bound) == (0, 0)
    assert certificate.verdict is Verdict.HOLDS


def test_rows_of_zeros_are_mistakes_no_comparator_can_avoid():
    learner = aw.Perceptron()
    learner.learn_many(np.zeros((5, 2)), [-1] * 5)
    certificate = learner.certificate(np.zeros((5, 2)), [-1] * 5)
    assert learner.mistakes == 5
    all_hold(certificate)
    assert by_theorem(certificate)["margin bound"].verdict is Verdict.NOT_APPLICABLE
