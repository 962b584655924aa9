"""The theorems of the multiclass perceptron against adversaries, and the checker against learners that cheat."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_multiclass as naive
from afterwit.certify import multiclass as checker
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from afterwit.hindsight import _multiclass as hindsight
from afterwit.linear import multiclass_perceptron as theorems
from afterwit.linear import perceptron as two_labels

KINDS = {"plain": aw.MulticlassPerceptron, "averaged": aw.AveragedMulticlassPerceptron}
by_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
NAMES = [
    "multiclass margin bound",
    "multiclass hinge bound",
    "sharper multiclass hinge bound",
    "multiclass hinge bound on update rounds",
    "simpler multiclass hinge bound on update rounds",
    "Euclidean multiclass hinge bound on update rounds",
]


def by_theorem(certificate):
    return {each.theorem.name: each for each in (certificate, *certificate.others)}


def certified(learner, X, y, passes=1, **how):
    for _ in range(passes):
        learner.learn_many(X, y)
    found = by_theorem(learner.certificate(X, y, **how))
    assert sorted(found) == sorted(NAMES)
    for each in found.values():
        assert each.verdict is not Verdict.VIOLATED, str(each)
    return found


def separable(random, rounds=300, width=6, classes=4, share=0.3):
    """Rows that some U, of length 1, separates; and the margin it has on them."""
    U = random.standard_normal((classes, width))
    U -= U.mean(axis=0)
    U /= np.linalg.norm(U)
    X = random.standard_normal((rounds, width))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = np.sort(X @ U.T, axis=1)
    gaps = scores[:, -1] - scores[:, -2]
    X = X[gaps >= np.quantile(gaps, share)]
    return X, np.argmax(X @ U.T, axis=1), U, float(np.quantile(gaps, share))


# ---------------------------------------------------------------------- formulas


def test_the_formulas():
    assert theorems.MulticlassMarginBound.bound(radius=3.0, margin=0.5) == pytest.approx(72, rel=1e-15)
    assert theorems.MulticlassHingeBound.bound(radius=2.0, norm=3.0, hinge_loss=1.5) == pytest.approx(75, rel=1e-15)
    assert aw.bounds.bound("multiclass-perceptron", radius=3, margin=0.5) == pytest.approx(72, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("MarginBound", (3.0, 0.5)),
        ("HingeBound", (2.0, 3.0, 1.5)),
        ("RootHingeBound", (3.0, 1.0, 4.0)),
        ("UpdateHingeBound", (3.0, 0.7, 4.0)),
        ("SimpleUpdateHingeBound", (3.0, 0.7, 4.0)),
        ("EuclideanHingeBound", (3.0, 0.7, 4.0)),
    ],
)
def test_every_formula_is_the_perceptron_s_with_a_longer_radius(name, inputs):
    ours, theirs = getattr(theorems, f"Multiclass{name}"), getattr(two_labels, name)
    radius, *rest = inputs
    assert ours.bound(radius, *rest) == theirs.bound(math.sqrt(2) * radius, *rest)


def test_a_margin_beyond_the_examples_is_refused():
    assert aw.bounds.bound("multiclass-perceptron", radius=1, margin=1.41) > 1
    with pytest.raises(InputError, match=r"margin must be at most sqrt\(2\) times the radius, 1.41421; received 1.42"):
        aw.bounds.bound("multiclass-perceptron", radius=1, margin=1.42)


# ---------------------------------------------------------------------- adversaries


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("n", [1, 2, 7, 25])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_unit_vectors_meet_the_margin_bound_with_equality(n, classes, scale):
    """None is of the class that every tie goes to. Of K classes the bound is 2 (K - 1) / K mistakes for each: tight for 2."""
    X, y = scale * np.eye(n), ["second"] * n
    learner = aw.MulticlassPerceptron(labels=("first", "second", *range(classes - 2)))
    found = certified(learner, X, y)["multiclass margin bound"]
    assert learner.mistakes == n
    assert found.bound == pytest.approx(n * 2 * (classes - 1) / classes, rel=1e-9)
    assert found.verdict is Verdict.HOLDS
    given_ = {"first": -np.ones(n), "second": np.ones(n)}
    again = by_theorem(learner.certificate(X, y, comparator=given_))["multiclass margin bound"]
    assert again.bound == pytest.approx(n if classes == 2 else 4 * n, rel=1e-12)


@pytest.mark.parametrize("n", [1, 5, 20])
def test_a_first_round_without_a_class_is_one_mistake_more(n):
    """Round 0 brings a class, round 1 another; ties go to the first. The bound is attained, the 1 included."""
    X = np.vstack([np.zeros(n), np.eye(n)])
    y = ["first", *["second"] * n]
    learner = aw.MulticlassPerceptron()
    learner.learn_many(X, y)
    assert (learner.mistakes, learner.updates) == (n + 1, n)
    # The first row is 0 and no U has a margin there; the hinge bounds say what there is to say.
    found = certified(aw.MulticlassPerceptron(), X[1:], y[1:], comparator=None)
    assert all(each.inputs["first round without a class"] == 1 for each in found.values() if each.bound is not None)
    far = np.hstack([np.vstack([[1.0], np.zeros((n, 1))]), X])
    found = certified(
        aw.MulticlassPerceptron(), far, y, comparator={"first": [1, *-np.ones(n)], "second": [-1, *np.ones(n)]}
    )
    margin = found["multiclass margin bound"]
    assert margin.observed == n + 1
    assert margin.bound == pytest.approx(n + 1 + 1)
    assert margin.bound - 1 == pytest.approx(margin.inputs["R"] ** 2 * 2 / margin.inputs["gamma"] ** 2)
    assert "+ 1 if no labels were named beforehand" in margin.theorem.statement


@by_kind
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_separable_streams_stay_below_the_margin_bound(kind, seed, scale):
    X, y, U, margin = separable(np.random.default_rng(seed))
    learner = kind(labels=(0, 1, 2, 3))
    found = certified(learner, scale * X, y)["multiclass margin bound"]
    assert found.verdict is Verdict.HOLDS
    assert learner.updates <= 2 / margin**2
    # The U found in hindsight is at least as wide as the one the stream was made with.
    assert found.inputs["gamma"] >= scale * margin * (1 - 1e-3)
    assert found.inputs["R"] == pytest.approx(scale)
    assert found.bound <= 2 / margin**2 * (1 + 2e-3)
    given_ = by_theorem(learner.certificate(scale * X, y, comparator=dict(enumerate(U))))["multiclass margin bound"]
    assert given_.bound == pytest.approx(2 / np.min(judged(U, X, y)) ** 2, rel=1e-9)
    assert given_.inputs["comparator"] == "the given one"
    assert given_.hindsight.value == 0


def judged(U, X, y):
    scores = X @ U.T
    own = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    return (own - scores.max(axis=1)) / np.linalg.norm(U)


def test_noise_leaves_only_the_hinge_bounds():
    random = np.random.default_rng(8)
    X, y, *_ = separable(random, share=0.1)
    y = np.where(random.random(len(y)) < 0.2, random.integers(0, 4, len(y)), y)
    learner = aw.MulticlassPerceptron()
    found = certified(learner, X, y, passes=2)
    margin = found["multiclass margin bound"]
    assert margin.verdict is Verdict.NOT_APPLICABLE
    assert margin.bound is None
    assert "no weights that separate the classes were found" in margin.line()
    assert found["sharper multiclass hinge bound"].bound < learner.rounds + 1
    assert learner.mistakes <= found["sharper multiclass hinge bound"].bound
    assert 0 < margin.hindsight.value < learner.mistakes


whole = st.integers(-3, 3)
small = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(whole, min_size=width, max_size=width), st.integers(0, 3)), min_size=1, max_size=10
    )
)


@by_kind
@settings(max_examples=40)
@given(
    examples=small,
    scale=st.sampled_from([1.0, 2.0**-40, 2.0**40]),
    passes=st.integers(1, 3),
    named=st.booleans(),
    weights=st.lists(st.lists(whole, min_size=3, max_size=3), min_size=4, max_size=4),
)
def test_bounds_for_given_weights_are_those_of_the_oracle(kind, examples, scale, passes, named, weights):
    X, y = [x for x, _ in examples], [label for _, label in examples]
    learner = kind(labels=(0, 1, 2, 3) if named else None)
    for _ in range(passes):
        learner.learn_many(scale * np.array(X, dtype=float), y)
    vectors = {label: weights[label][: len(X[0])] for label in learner.classes}
    U = {label: np.array(w) / scale for label, w in vectors.items()}
    found = by_theorem(learner.certificate(scale * np.array(X, dtype=float), y, comparator=U))
    rows = [dict(enumerate(x)) for x in X]
    run = naive.MulticlassRun(rows, y, (0, 1, 2, 3) if named else None, passes)
    assert learner.updates == len(run.updates)
    more = int(not named and kind is aw.MulticlassPerceptron)
    margins = naive.margins({label: dict(enumerate(w)) for label, w in vectors.items()}, rows, y)
    square = sum(Fraction(a) ** 2 for w in vectors.values() for a in w)
    radius = max(sum(Fraction(a) ** 2 for a in x) for x in X)
    made = found["multiclass margin bound"]
    assert (made.bound is not None) == (margins[0] is not None and min(margins) > 0)
    if made.bound is not None:
        assert made.bound == pytest.approx(float(2 * radius * square / min(margins) ** 2) + more, rel=1e-9)
    made = found["multiclass hinge bound"]
    if margins[0] is not None:
        # The scale is free: no scale gives less than the one that was found.
        for factor in (Fraction(1, 3), Fraction(1), Fraction(2)):
            loss = passes * sum(max(Fraction(0), 1 - factor * margin) for margin in margins)
            assert made.bound <= float(2 * radius * factor**2 * square + 2 * loss) * (1 + 1e-9) + more
    for made in found.values():
        assert made.observed == (learner.mistakes if kind is aw.MulticlassPerceptron else learner.updates)
        assert made.verdict is not Verdict.VIOLATED
        assert made.bound is None or made.observed <= made.bound * (1 + 1e-9)


@by_kind
@settings(max_examples=25)
@given(examples=small, scale=st.sampled_from([1.0, 1e-12, 1e12]), intercept=st.booleans(), dicts=st.booleans())
def test_no_sequence_breaks_a_bound(kind, examples, scale, intercept, dicts):
    X, y = scale * np.array([x for x, _ in examples], dtype=float), [label for _, label in examples]
    rows = [{f"f{j}": value for j, value in enumerate(x) if value} for x in X.tolist()] if dicts else X
    learner = kind(intercept=intercept)
    found = certified(learner, rows, y)
    for each in found.values():
        assert each.bound is None or each.observed <= each.bound * (1 + 1e-9)
        assert each.hindsight.value <= learner.rounds
    sharper = found["sharper multiclass hinge bound"]
    # Weights of 0 are always compared with.
    assert sharper.bound <= learner.rounds + 1 + 1e-9


# ---------------------------------------------------------------------- the checker


@by_kind
def test_other_rounds_than_those_it_learned_are_noticed(kind):
    X, y, *_ = separable(np.random.default_rng(1), rounds=60)
    learner = kind()
    learner.learn_many(X, y)
    other = y.copy()
    other[5] = (other[5] + 1) % 4
    for rows, labels in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, other), (2 * X, y)):
        certificate = learner.certificate(rows, labels)
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert certificate.bound is None
    used = kind()
    used.learn_many(X[:10], y[:10])
    used.learn_many(X, y)
    assert used.certificate(X, y).verdict is Verdict.NOT_APPLICABLE
    assert "the learner counts" in used.certificate(X, y).why_not()[0]
    assert used.certificate(np.vstack([X[:10], X]), [*y[:10], *y]).verdict is Verdict.HOLDS


@by_kind
@pytest.mark.parametrize("what", ["mistakes", "updates", "weights", "classes", "moments"])
def test_a_learner_that_changed_its_books_is_noticed(kind, what):
    X, y, *_ = separable(np.random.default_rng(2), rounds=60)
    learner = kind()
    learner.learn_many(X, y)
    state = learner.state()
    if what not in state:
        return
    if what == "classes":
        state["classes"] = state["classes"][::-1]
    elif isinstance(state[what], np.ndarray):
        state[what][0, 1] += 0.01
    else:
        state[what] -= 1
    learner.restore(state)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    reasons = {
        "mistakes": "counts .* mistakes",
        "updates": "counts .* updates",
        "classes": "has the classes",
        "weights": "other weights",
        "moments": "other weights",
    }
    assert certificate.failed[0].holds is False
    assert re.search(reasons[what], certificate.why_not()[0])


def leaders_of(X, y, **options):
    learner = aw.MulticlassPerceptron(**options)
    return learner._learn(*learner._checked(X, y))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_round_is_multiplied_out(form):
    random = np.random.default_rng(4)
    X = random.integers(-3, 4, (40, 3)).astype(float)
    y = [0, 1, 2, *random.integers(0, 3, 37).tolist()]
    codes = np.array(y)
    leaders = leaders_of(X, y)
    rule = checker._follows_the_rule(form(X), codes, 3, [leaders], False, 1.0)
    assert rule.holds, rule
    updates = int(((leaders != codes) & (leaders >= 0)).sum())
    assert f"{updates} updates" in rule.detail
    weights = np.zeros((3, 3))
    for t in range(1, 40):
        scores = weights @ X[t]
        known = int(codes[:t].max()) + 1
        for other in range(3):
            if other == leaders[t]:
                continue
            # Another class may be claimed only if it ties, and only once it is known.
            claimed = leaders.copy()
            claimed[t] = other
            found = checker._follows_the_rule(form(X[: t + 1]), codes[: t + 1], 3, [claimed[: t + 1]], False, 1.0)
            assert found.holds == (scores[other] == scores.max() and other < known), (t, other)
        silent = leaders.copy()
        silent[t] = -1
        assert not checker._follows_the_rule(form(X[: t + 1]), codes[: t + 1], 3, [silent[: t + 1]], False, 1.0).holds
        if leaders[t] != codes[t]:
            weights[codes[t]] += X[t]
            weights[leaders[t]] -= X[t]
    named = leaders_of(X, y, labels=(0, 1, 2))
    assert checker._follows_the_rule(form(X), codes, 3, [named], True, 1.0).holds
    assert not checker._follows_the_rule(form(X), codes, 3, [named], False, 1.0).holds


def test_rounding_is_forgiven_and_no_more():
    X = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [1.0, 1.0, -1.0]])
    codes, leaders = np.array([0, 1, 2]), np.array([-1, 0, 0])
    assert checker._follows_the_rule(X, codes, 3, [leaders], False, 1.0).holds is False
    assert checker._follows_the_rule(X, codes, 3, [np.array([-1, 0, 1])], False, 1.0).holds
    X[2] = [1.0, 1.0, -2.0 - 1e-13]
    assert checker._follows_the_rule(X, codes, 3, [leaders], False, 1.0).holds
    X[2] = [1.0, 1.0, -2.0 + 1e-6]
    assert not checker._follows_the_rule(X, codes, 3, [leaders], False, 1.0).holds


def test_weights_to_compare_with_are_checked():
    learner = aw.MulticlassPerceptron()
    X, y = [{"a": 1.0}, {"b": 1.0}], ["x", "y"]
    learner.learn_many(X, y)
    assert learner.certificate(X, y, comparator={"x": {"a": 1}, "y": {"b": 1}}).verdict is Verdict.HOLDS
    assert learner.certificate(X, y, comparator={"y": {"b": 1}}).verdict is Verdict.HOLDS
    for bad, message in (
        ([1.0, 2.0], "comparator must be a dict with the weights of each class"),
        ({"z": {"a": 1}}, "received the unknown class 'z'"),
        ({"x": {"c": 1}}, "received the unknown name 'c'"),
        ({"x": {"a": float("nan")}}, "finite"),
    ):
        with pytest.raises(InputError, match=message):
            learner.certificate(X, y, comparator=bad)


def test_one_class_or_no_rounds_claim_nothing():
    learner = aw.MulticlassPerceptron()
    assert learner.certificate(np.empty((0, 2)), []).verdict is not Verdict.VIOLATED
    learner.learn_many(np.eye(3), ["x"] * 3)
    certificate = learner.certificate(np.eye(3), ["x"] * 3)
    assert (certificate.observed, certificate.verdict, certificate.vacuous) == (1, Verdict.HOLDS, True)


# ---------------------------------------------------------------------- what hindsight finds


@pytest.mark.parametrize("few", [True, False], ids=["by Kesler's rows", "by the machine"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_of_two_classes_the_margin_is_that_of_two_labels(few, form, monkeypatch):
    """U = (-v, v) / sqrt(2) has the margin sqrt(2) gamma of v."""
    if not few:
        monkeypatch.setattr(hindsight, "MOST_ENTRIES", 0)
    random = np.random.default_rng(6)
    X = random.standard_normal((60, 4))
    u = random.standard_normal(4)
    X = X[np.abs(X @ u) > 0.4]
    codes = (X @ u > 0).astype(np.intp)
    widest = aw.hindsight.max_margin(X, np.where(codes, 1, -1))
    U = hindsight.solve_multiclass_margin(form(X), codes, 2)
    assert U.shape == (2, 4)
    found = hindsight.judge_classes("", U, form(X), codes)
    assert found.margin == pytest.approx(math.sqrt(2) * widest.margin, rel=1e-9)
    assert found.mistakes == 0
    contradictory = np.where(np.arange(len(codes)) == 3, 1 - codes, codes)
    assert hindsight.solve_multiclass_margin(form(np.vstack([X, X])), np.concatenate([codes, contradictory]), 2) is None


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_to_the_widest_margin_agree(seed, monkeypatch):
    X, y, _, margin = separable(np.random.default_rng(seed), rounds=40, width=3, classes=3)
    exact = hindsight.judge_classes("", hindsight.solve_multiclass_margin(X, y, 3), X, y)
    monkeypatch.setattr(hindsight, "MOST_ENTRIES", 0)
    other = hindsight.judge_classes("", hindsight.solve_multiclass_margin(X, y, 3), X, y)
    assert exact.margin >= margin
    assert other.margin == pytest.approx(exact.margin, rel=1e-6)


def test_weights_of_classes_are_judged_by_the_next_best():
    random = np.random.default_rng(7)
    X, codes = random.integers(-3, 4, (30, 3)).astype(float), random.integers(0, 4, 30)
    U = random.integers(-3, 4, (4, 3)).astype(float)
    found = hindsight.judge_classes("", U, X, codes)
    vectors = {k: dict(enumerate(w)) for k, w in enumerate(U.tolist())}
    rows = [dict(enumerate(x)) for x in X.tolist()]
    assert found.margins.tolist() == [float(m) for m in naive.margins(vectors, rows, codes.tolist())]
    assert found.mistakes == sum(naive.largest(vectors, x) != k for x, k in zip(rows, codes.tolist(), strict=True))
    assert found.norm == pytest.approx(np.linalg.norm(U))


def test_a_class_that_never_came_has_no_weights_of_the_machine():
    X, codes = np.eye(3), np.array([0, 2, 0])
    U = hindsight.solve_multiclass_svm(X, codes, 4, 1.0)
    assert not U[[1, 3]].any()
    assert U[0].tolist() == (-U[2]).tolist()
    alone = hindsight.solve_multiclass_svm(X, np.zeros(3, dtype=np.intp), 1, 1.0)
    assert not alone.any()
    one = hindsight.solve_multiclass_svm(X, np.full(3, 1), 3, 1e4)
    # U_1 - U_k is 1 on every row, and the squares are least.
    assert one[1].tolist() == pytest.approx([2 / 3] * 3, rel=1e-3)
    assert one[0].tolist() == one[2].tolist() == pytest.approx([-1 / 3] * 3, rel=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_machine_minimises_what_the_hinge_bound_needs(classes):
    """No weights nearby, nor shorter or longer ones, have less of |U|^2/2 + C times the loss."""
    random = np.random.default_rng(9)
    X = random.standard_normal((50, 3))
    codes = np.argmax((X + 0.5 * random.standard_normal((50, 3)))[:, :classes], axis=1)

    def objective(U):
        return np.sum(U**2) / 2 + 0.3 * hindsight.judge_classes("", U, X, codes).hinge

    U = hindsight.solve_multiclass_svm(X, codes, classes, 0.3)
    best = objective(U)
    for _ in range(200):
        assert objective(U + 0.05 * random.standard_normal(U.shape)) > best * (1 - 1e-3)
    for factor in (0.0, 0.5, 2.0):
        assert objective(factor * U) > best
