"""Figures 8.8 and 8.9: against exact oracles, with budgets, on strings and sets, saved, certified."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
import naive_kernels
from afterwit import adversaries
from afterwit.certify.kernel import Gram, Landmarks
from afterwit.core.certificate import Basis, Verdict
from afterwit.errors import InputError, ModelFileError
from afterwit.kernels import all_products, function, gaussian, linear, polynomial, string
from afterwit.kernels._examples import read_many
from afterwit.kernels.kernel_perceptron import BudgetBound
from afterwit.linear.perceptron import RootHingeBound
from afterwit.testing import learner_checks

HERE = os.path.dirname(os.path.abspath(__file__))


def with_options(**fixed):
    return lambda **options: aw.KernelPerceptron(**fixed, **options)


LEARNERS = {
    "default": aw.KernelPerceptron,
    "dual": aw.DualPerceptron,
    "dual with budget": lambda **options: aw.DualPerceptron(budget=5, **options),
    "polynomial": with_options(kernel=polynomial(3)),
    "budget": with_options(budget=7),
    "budget of one": with_options(budget=1, kernel=linear()),
    "all products": with_options(kernel=all_products()),
    "composition": with_options(kernel=0.5 * linear() * all_products() + polynomial(2), budget=12),
}
NEAR = {"gaussian": with_options(kernel=gaussian()), "gaussian, budget": with_options(kernel=gaussian(2.0), budget=9)}


@pytest.mark.parametrize("check", learner_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", LEARNERS)
def test_conformance(name, check):
    check(LEARNERS[name])


@pytest.mark.parametrize("check", learner_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NEAR)
def test_conformance_of_the_gaussian(name, check):
    if check.__name__ == "check_new_and_vanishing_features":
        # A feature never seen before moves an example away from all that were: its score must change.
        learner = NEAR[name]()
        learner.learn_one({"a": 1.0}, -1)
        assert learner.score_one({"a": 1.0}) < learner.score_one({"a": 1.0, "never seen": 1.0}) < 0
        assert learner.score_one({"a": 1.0, "never seen": 0.0}) == learner.score_one({"a": 1.0})
    else:
        check(NEAR[name])


# ---------------------------------------------------------------------- the figure

KERNELS = [
    (linear(), naive_kernels.linear),
    (polynomial(2), naive_kernels.polynomial(2)),
    (polynomial(3), naive_kernels.polynomial(3)),
    (all_products(), naive_kernels.all_products),
    (
        2.0 * linear() + all_products() * linear(),
        lambda x, z: (2 + naive_kernels.all_products(x, z)) * naive_kernels.linear(x, z),
    ),
]
examples = st.lists(
    st.tuples(st.lists(st.integers(-3, 3), min_size=4, max_size=4), st.sampled_from([-1, 1])), min_size=1, max_size=25
)
budgets = st.sampled_from([None, 1, 2, 3, 5])


@pytest.mark.parametrize(("kernel", "oracle"), KERNELS, ids=[repr(kernel) for kernel, _ in KERNELS])
@settings(max_examples=60)
@given(examples, budgets, st.integers(1, 3))
def test_it_is_the_figure(kernel, oracle, pairs, budget, passes):
    rows, labels = [x for x, _ in pairs], [y for _, y in pairs]
    predictions, mistakes, kept, scores, _ = naive_kernels.kernel_perceptron(
        oracle, [naive_kernels.as_dict(x) for x in rows], labels, budget, passes
    )
    X = np.array(rows)
    dicts = [{f"f{j}": value for j, value in enumerate(x)} for x in rows]
    for form in (X, sparse.csr_array(X), dicts, pandas.DataFrame(X, columns=["f0", "f1", "f2", "f3"])):
        learner = aw.KernelPerceptron(kernel, budget)
        found = [learner.learn_scores(form, labels) for _ in range(passes)]
        assert np.concatenate(found).tolist() == [float(score) for score in scores]
        assert learner.coefficients.tolist() == [y for _, y in kept]
        assert (learner.rounds, learner.mistakes, learner.updates) == (len(predictions), len(mistakes), len(mistakes))
        assert learner.dropped == len(mistakes) - len(kept)
        support = learner.support
        if sparse.issparse(support):
            support = support.toarray()
        if isinstance(support, np.ndarray):
            wide = np.zeros((len(kept), 4))
            wide[:, : support.shape[1]] = support
            support = [naive_kernels.as_dict(row) for row in wide.tolist()]
        else:
            support = [{int(name[1:]): value for name, value in x.items()} for x in support]
        assert support == [x for x, _ in kept]


@settings(max_examples=60)
@given(examples, budgets)
def test_it_is_the_figure_with_the_gaussian(pairs, budget):
    rows, labels = [x for x, _ in pairs], [y for _, y in pairs]
    predictions, mistakes, kept, scores, _ = naive_kernels.kernel_perceptron(
        naive_kernels.gaussian(1.5), [naive_kernels.as_dict(x) for x in rows], labels, budget
    )
    # Where the exact score is 0, the sum of rounded ones may fall on either side.
    assume(all((score == 0 and not any(scores[: t + 1])) or abs(score) > 1e-12 for t, score in enumerate(scores)))
    for form in (np.array(rows), sparse.csr_array(np.array(rows))):
        learner = aw.KernelPerceptron(gaussian(1.5), budget)
        assert learner.learn_many(form, labels).tolist() == predictions
        assert learner.coefficients.tolist() == [y for _, y in kept]
        assert learner.mistakes == len(mistakes)


@given(examples, st.integers(1, 3), st.booleans())
def test_the_dual_perceptron_is_the_perceptron(pairs, passes, named):
    X, y = np.array([x for x, _ in pairs]), [y for _, y in pairs]
    if named:
        X = [{f"f{j}": int(value) for j, value in enumerate(x)} for x in X]
    dual, perceptron = aw.DualPerceptron(), aw.Perceptron()
    for _ in range(passes):
        assert dual.learn_scores(X, y).tolist() == perceptron.learn_scores(X, y).tolist()
    assert dual.score_many(X).tolist() == perceptron.score_many(X).tolist()
    assert (dual.mistakes, dual.updates) == (perceptron.mistakes, perceptron.updates)
    if not named and dual.updates:
        assert (dual.coefficients @ dual.support).tolist() == perceptron.weights.tolist()


def test_the_first_rounds_by_hand():
    learner = aw.KernelPerceptron(polynomial(2), budget=2)
    assert learner.learn_one([1.0, 0.0], 1) == 1  # sgn(0) = +1: right, nothing is kept
    assert learner.support.shape == (0, 0)
    assert learner.learn_one([1.0, 0.0], -1) == 1
    assert learner.support.tolist() == [[1, 0]]
    assert learner.score_one([1.0, 0.0]) == -4
    assert learner.score_one([0.0, 2.0]) == -1
    assert learner.learn_one([0.0, 2.0], 1) == -1
    assert learner.score_one([1.0, 1.0]) == -4 + 9
    assert learner.learn_one([0.0, 2.0], -1) == 1  # the same example again: kept again, and the oldest goes
    assert learner.support.tolist() == [[0, 2], [0, 2]]
    assert learner.coefficients.tolist() == [1, -1]
    assert (learner.rounds, learner.mistakes, learner.updates, learner.dropped) == (4, 3, 3, 1)


def test_exclusive_or_is_separable_by_products_of_two():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]
    assert not aw.DualPerceptron().fit(X, y, max_passes=50).converged
    for kernel in (polynomial(2), all_products(), gaussian()):
        learner = aw.KernelPerceptron(kernel)
        assert learner.fit(X, y).converged
        assert learner.predict_many(X).tolist() == y
        certificate = learner.certificate(X, y)
        margin = by_theorem(certificate)["margin bound"]
        assert margin.verdict is Verdict.HOLDS
        assert learner.mistakes <= margin.bound
    # all products of the corners: phi = (1, a, b, ab); v = (-1, 2, 2, -4)/5 has margin 1/5, and R^2 = 4
    assert by_theorem(aw_fitted(all_products(), X, y))["margin bound"].bound == pytest.approx(100)


def aw_fitted(kernel, X, y):
    learner = aw.KernelPerceptron(kernel)
    learner.fit(X, y)
    return learner.certificate(X, y)


# ---------------------------------------------------------------------- forms


def test_wider_and_narrower_rows():
    learner = aw.KernelPerceptron(linear())
    learner.learn_one([1.0], -1)
    learner.learn_one([0.0, 0.0, 2.0], -1)
    learner.learn_one([], 1)
    assert learner.support.tolist() == [[1, 0, 0], [0, 0, 2]]
    assert learner.score_many([[1, 5]]).tolist() == [-1]
    assert learner.score_many([[1, 5, 1, 9, 9]]).tolist() == [-3]
    near = aw.KernelPerceptron(gaussian())
    near.learn_one([1.0], -1)
    for x in ([1.0, 2.0], sparse.csr_array([[1.0, 2.0]]), aw.SparseRow([0, 1], [1.0, 2.0])):
        assert near.score_one(x) == -np.exp(-2.0)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([linear(), polynomial(2), all_products(), gaussian(2.0)]), budgets)
def test_arrays_and_sparse_rows_may_alternate(seed, kernel, budget):
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, (30, random.integers(1, 9))) * (random.random(30) < 0.8)[:, None]
    y = random.choice([-1, 1], size=30).tolist()
    plain, mixed = aw.KernelPerceptron(kernel, budget), aw.KernelPerceptron(kernel, budget)
    forms = [lambda x: x, lambda x: sparse.csr_array(x[None]), lambda x: x.tolist()]
    for x, label in zip(X, y, strict=True):
        form = forms[random.integers(3)]
        assert plain.learn_one(x, label) == mixed.learn_one(form(x), label)
        assert plain.score_many(X).tolist() == mixed.score_many(X).tolist()
    assert plain.coefficients.tolist() == mixed.coefficients.tolist()
    assert plain.score_many(X).tolist() == mixed.score_many(sparse.csr_array(X)).tolist()
    again = aw.KernelPerceptron(kernel, budget)
    again.restore(mixed.state())
    assert again == mixed
    assert again.score_many(X).tolist() == mixed.score_many(X).tolist()


def test_the_score_does_not_depend_on_room_or_history():
    """A learner that has dropped thousands scores, to the bit, as one that was handed the same support."""
    random = np.random.default_rng(5)
    for form in (lambda X: X, sparse.csr_array, lambda X: [dict(enumerate(x)) for x in X.tolist()]):
        for kernel in (gaussian(1.5), polynomial(3) + all_products()):
            learner = aw.KernelPerceptron(kernel, budget=21)
            for width in (3, 8, 5):
                X = random.standard_normal((300, width))
                learner.learn_many(form(X), random.choice([-1, 1], size=300))
            twin = aw.KernelPerceptron(kernel, budget=21)
            twin.restore(learner.state())
            assert len(learner.coefficients) == 21 < learner.dropped
            X = form(random.standard_normal((20, 8)))
            assert learner.score_many(X).tolist() == twin.score_many(X).tolist()
            y = random.choice([-1, 1], size=20)
            assert learner.learn_scores(X, y).tolist() == twin.learn_scores(X, y).tolist()
            assert learner == twin


def test_a_budget_bounds_the_vocabulary():
    from afterwit.kernels._examples import read_one
    from afterwit.kernels._support import Support

    support = Support(linear())
    for t in range(2000):
        support.enter(read_one(linear(), {f"once {t}": 1.0, "always": 1.0}))
        assert support.score(0, True) == min(t, 3)
        support.keep(0, 1.0)
        if support.count() > 3:
            support.drop()
        support.leave()
    assert len(support.names()) < 50


def test_nothing_of_a_dropped_row_remains():
    """Narrow rows take the place of wide ones."""
    for kernel, oracle in ((linear(), naive_kernels.linear), (all_products(), naive_kernels.all_products)):
        learner = aw.KernelPerceptron(kernel, budget=3)
        rows = [[1.0, 2.0, 3.0, 4.0]] * 16 + [[1.0]] * 60 + [[1.0, 1.0, 1.0, 1.0, 1.0]]
        labels = []
        for x in rows:
            labels.append(1 if learner.score_one(x) < 0 else -1)
            learner.learn_one(x, labels[-1])
        dicts = [naive_kernels.as_dict(x) for x in rows]
        _, mistakes, _, scores, _ = naive_kernels.kernel_perceptron(oracle, dicts, labels, 3)
        assert len(mistakes) == learner.mistakes == len(rows)
        last = aw.KernelPerceptron(kernel, budget=3)
        assert last.learn_scores([[*x, *[0.0] * (5 - len(x))] for x in rows], labels).tolist() == scores
        assert learner.support.tolist() == last.support.tolist() == [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1] * 5]


texts = st.lists(st.tuples(st.text("ab", max_size=8), st.sampled_from(["ham", "spam"])), min_size=1, max_size=20)


@given(texts, budgets)
def test_strings(pairs, budget):
    rows, labels = [x for x, _ in pairs], [y for _, y in pairs]
    signs = [1 if y == "spam" else -1 for y in labels]

    def oracle(x, z):
        return naive_kernels.string(2)(x, z) + 3 * naive_kernels.string(3)(x, z)

    predictions, _, kept, scores, _ = naive_kernels.kernel_perceptron(oracle, rows, signs, budget)
    kernel = string(2) + 3.0 * string(3)
    many = aw.KernelPerceptron(kernel, budget, labels=("ham", "spam"))
    assert many.learn_scores(rows, labels).tolist() == [float(score) for score in scores]
    assert many.support == [x for x, _ in kept]
    assert many.coefficients.tolist() == [y for _, y in kept]
    ones = aw.KernelPerceptron(kernel, budget, labels=("ham", "spam"))
    record = aw.play(ones, pairs, predictions=True)
    assert record.predictions.tolist() == ["spam" if sign > 0 else "ham" for sign in predictions]
    assert ones == many
    assert pickle.loads(pickle.dumps(many)) == many
    certificate = many.certificate(rows, labels)
    all_hold(certificate)
    with pytest.raises(InputError, match="x must be a string"):
        many.learn_one({"a": 1}, "ham")
    with pytest.raises(InputError, match="X must be a sequence or a 1-D array of strings"):
        many.learn_many("abc", ["ham"] * 3)


def test_sets():
    mails = [({"cheap", "pills"}, 1), ({"lunch", "today"}, -1), (frozenset({"cheap", "lunch"}), -1), (set(), 1)]
    learner, dicts = aw.KernelPerceptron(all_products()), aw.KernelPerceptron(all_products())
    for x, y in mails:
        assert learner.learn_one(x, y) == dicts.learn_one(dict.fromkeys(sorted(x), 1.0), y)
    assert learner == dicts
    assert learner.support[0] == {"lunch": 1.0, "today": 1.0}
    many = aw.KernelPerceptron(all_products())
    many.learn_many([x for x, _ in mails], [y for _, y in mails])
    assert many == learner
    all_hold(learner.certificate([x for x, _ in mails], [y for _, y in mails]))
    with pytest.raises(InputError, match="has learned features by name; received positions"):
        learner.predict_one([1.0])


def test_functions_take_anything():
    def overlap(x, z):
        return len(set(x) & set(z))

    learner = aw.KernelPerceptron(overlap, budget=4)
    X, y = [(1, 2), (2, 3), (4,), (1, 4), (), (2, 4)] * 3, [1, -1, 1, -1, -1, 1] * 3
    predictions, _, kept, _, _ = naive_kernels.kernel_perceptron(overlap, X, y, 4)
    assert learner.learn_many(X, y).tolist() == predictions
    assert learner.support == [x for x, _ in kept]
    assert learner.copy() == learner
    assert repr(learner).startswith("KernelPerceptron(kernel=function(")
    both = aw.KernelPerceptron(function(lambda x, z: float(x @ z)) + linear())
    plain = aw.KernelPerceptron(2.0 * linear())
    numbers = np.random.default_rng(0).integers(-3, 4, (40, 3))
    signs = np.random.default_rng(1).choice([-1, 1], size=40)
    assert both.learn_scores(numbers, signs).tolist() == plain.learn_scores(numbers, signs).tolist()


def test_what_was_kept_is_a_copy():
    for kernel in (linear(), function(lambda x, z: float(x @ z))):
        X = np.array([[1.0, 2.0], [3.0, 4.0]])
        learner = aw.KernelPerceptron(kernel)
        learner.learn_many(X, [-1, 1])
        before = learner.score_one(np.array([1.0, 1.0]))
        X[:] = 0
        assert learner.score_one(np.array([1.0, 1.0])) == before
    learner.coefficients[:] = 5
    assert learner.coefficients.tolist() == [-1, 1]


# ---------------------------------------------------------------------- refused before anything changes


@pytest.mark.parametrize("budget", [0, -1, 1.5, "3", True, float("nan")])
def test_bad_budgets(budget):
    with pytest.raises(InputError, match="budget must be a whole number, at least 1, or None"):
        aw.KernelPerceptron(budget=budget)


def test_bad_kernels():
    for kernel in (None, 3, "gaussian", int):
        with pytest.raises(InputError, match=r"kernel must be a kernel of afterwit\.kernels or a function"):
            aw.KernelPerceptron(kernel)
    for maker in (gaussian, polynomial):
        with pytest.raises(InputError, match=r"kernel must be a kernel, which the function of that name makes"):
            aw.KernelPerceptron(maker)
    assert aw.KernelPerceptron(budget=np.int64(3)).budget == 3


def test_a_kernel_that_fails_late_leaves_nothing_behind():
    def touchy(x, z):
        return float("nan") if "bad" in (x, z) else float(x == z)

    def angry(x, z):
        if "bad" in (x, z):
            raise RuntimeError("no")
        return float(x == z)

    for kernel, error in ((touchy, InputError), (angry, RuntimeError)):
        for budget in (None, 2):
            learner = aw.KernelPerceptron(kernel, budget)
            fresh = learner.copy()
            for method, arguments in (
                ("learn_many", (["a", "b", "c", "bad"], [-1, -1, -1, -1])),
                ("learn_one", ("bad", 1)),
            ):
                with pytest.raises(error):
                    getattr(learner, method)(*arguments)
                assert learner == fresh
            learner.learn_many(["a", "b", "c", "d"], [-1, -1, -1, -1])
            before = learner.copy()
            with pytest.raises(error):
                learner.learn_many(["a", "e", "bad", "f"], [1, -1, -1, -1])
            assert learner == before
            with pytest.raises(error):
                learner.predict_many(["a", "bad"])


def test_what_overflows_is_refused():
    learner = aw.KernelPerceptron(polynomial(3))
    learner.learn_many([[1.0, 2.0], [3.0, 4.0]], [-1, -1])
    before = learner.copy()
    for X in ([[1.0, 1.0], [1e160, 0.0]], sparse.csr_array([[1.0, 1.0], [-1e160, 0.0]])):
        with pytest.raises(InputError, match=r"X\[1\] must be an example whose kernel values are finite numbers"):
            learner.learn_many(X, [1, 1])
        assert learner == before
    with pytest.raises(InputError, match="x must be an example whose kernel values are finite"):
        learner.predict_one([1e160, 0.0])
    with pytest.raises(InputError, match="x must be an example whose kernel values are finite"):
        aw.DualPerceptron().learn_one([1e200], 1)


# ---------------------------------------------------------------------- saving

SAVED = [
    (gaussian(0.5) + 2.0 * linear(), lambda X: X),
    ((gaussian(0.5) + linear()) * all_products(), sparse.csr_array),
    (polynomial(4), lambda X: [{("f", j): value for j, value in enumerate(x) if value} for x in X.tolist()]),
    (0.1 * string(2) * string(1), lambda X: ["".join("abc"[int(value) % 3] for value in x) for x in X.tolist()]),
]


@pytest.mark.parametrize(("kernel", "form"), SAVED, ids=[repr(kernel) for kernel, _ in SAVED])
@pytest.mark.parametrize("budget", [None, 8])
def test_saved_and_loaded(tmp_path, kernel, form, budget):
    random = np.random.default_rng(2)
    X, y = random.integers(-3, 4, (80, 6)) * 0.1, random.choice(["no", "yes"], size=80).tolist()
    learner = aw.KernelPerceptron(kernel, budget, labels=("no", "yes"))
    for learned in (False, True):
        if learned:
            learner.learn_many(form(X[:40]), y[:40])
        aw.save(learner, tmp_path / "m")
        again = aw.load(tmp_path / "m")
        assert again == learner
        assert again.kernel == kernel
        assert (
            again.learn_scores(form(X[40:]), y[40:]).tolist()
            == learner.copy().learn_scores(form(X[40:]), y[40:]).tolist()
        )


def test_a_function_cannot_be_saved_but_pickled(tmp_path):
    learner = aw.KernelPerceptron(naive_kernels.linear)
    learner.learn_one({"a": 1}, -1)
    assert pickle.loads(pickle.dumps(learner)) == learner
    with pytest.raises(InputError, match=r"kernel is made of those in afterwit\.kernels; this one uses the function"):
        aw.save(learner, tmp_path / "m")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(form="texts"),
        lambda state: state.update(form="nonsense"),
        lambda state: state.update(form="dense"),
        lambda state: state.update(dropped=3),
        lambda state: state.update(dropped=True),
        lambda state: state.update(coefficients=np.array([1.0])),
        lambda state: state.update(coefficients=state["coefficients"] * 2),
        lambda state: state.update(coefficients=state["coefficients"].astype(np.float32)),
        lambda state: state["support"]["columns"].__setitem__(0, 10**6),
        lambda state: state["support"]["columns"].__setitem__(0, -1),
        lambda state: state["support"]["starts"].__setitem__(1, 10**6),
        lambda state: state["support"]["starts"].__setitem__(0, 1),
        lambda state: state["support"]["values"].__setitem__(0, np.nan),
        lambda state: state["support"].update(names=["a", "a"]),
        lambda state: state["support"].update(values=[1.0]),
        lambda state: state["support"].pop("starts"),
        lambda state: state.update(updates=1),
    ],
)
def test_a_state_that_lies_is_refused(change):
    learner = aw.DualPerceptron(budget=5)
    learner.learn_many([{"a": 1.0}, {"b": 2.0}, {"a": 1.0, "c": 3.0}], [-1, -1, -1])
    state = learner.state()
    change(state)
    other = aw.DualPerceptron(budget=5)
    with pytest.raises((InputError, KeyError)):
        other.restore(state)
    assert other == aw.DualPerceptron(budget=5)
    with pytest.raises(InputError, match="at most 1, the budget"):
        aw.DualPerceptron(budget=1).restore({**learner.state()})


def test_a_damaged_file_is_a_clear_error(tmp_path):
    learner = aw.KernelPerceptron(gaussian())
    learner.learn_many(np.arange(12.0).reshape(4, 3), [-1, 1, -1, 1])
    aw.save(learner, tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    for at in range(0, len(content), 3):
        spoiled = content.copy()
        spoiled[at] ^= 0xFF
        (tmp_path / "m").write_bytes(spoiled)
        try:
            again = aw.load(tmp_path / "m")
        except ModelFileError:
            continue
        assert again == learner, f"byte {at}"


# ---------------------------------------------------------------------- certificates


def by_theorem(certificate):
    return {each.theorem.name: each for each in (certificate, *certificate.others)}


def all_hold(certificate):
    for each in (certificate, *certificate.others):
        assert each.verdict is not Verdict.VIOLATED, str(each)
        if each.bound is not None:
            assert each.observed <= each.bound * (1 + 1e-9) + 1e-9, str(each)
    assert certificate.verdict is Verdict.HOLDS, str(certificate)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 64])
def test_unit_vectors_meet_the_margin_bound_with_equality(n):
    stream = adversaries.unit_vectors(n)
    learner = aw.DualPerceptron()
    assert aw.play(learner, stream).mistakes == n
    certificate = learner.certificate(stream.X, stream.y)
    assert certificate.theorem.name == "margin bound"
    assert certificate.bound == pytest.approx(n, rel=1e-9)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.hindsight.value == 0
    for each in certificate.others:
        assert each.bound >= n * (1 - 1e-9)


def test_the_dual_perceptrons_certificate_is_the_perceptrons():
    stream = adversaries.label_noise(adversaries.separable(300, 6, margin=0.05, seed=4), 0.1, seed=5)
    bounds = []
    for kind in (aw.Perceptron, aw.DualPerceptron):
        learner = kind()
        aw.play(learner, stream)
        named = by_theorem(learner.certificate(stream.X, stream.y))
        bounds.append([named[name].bound for name in ("hinge bound", "sharper hinge bound")])
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-3)


ADVERSARIES = {
    "separable": adversaries.separable(150, 8, margin=0.1, seed=1),
    "noisy": adversaries.label_noise(adversaries.separable(150, 8, margin=0.1, seed=1), 0.2, seed=2),
    "drifting": adversaries.drifting(150, 5, turns=2, margin=0.05, seed=3),
    "prefixes": adversaries.alternating_prefixes(7),
}


@pytest.mark.parametrize("budget", [None, 10])
@pytest.mark.parametrize(
    "kernel",
    [linear(), polynomial(3), gaussian(0.5), all_products(), gaussian(1.0) * linear() + 0.1 * polynomial(2)],
    ids=repr,
)
@pytest.mark.parametrize("name", ADVERSARIES)
def test_certificates_hold_against_adversaries(name, kernel, budget):
    stream = ADVERSARIES[name]
    learner = aw.KernelPerceptron(kernel, budget)
    record = aw.play(learner, stream)
    certificate = learner.certificate(stream.X, stream.y)
    assert certificate.observed == record.mistakes
    all_hold(certificate)
    if learner.dropped:
        assert isinstance(certificate.theorem, BudgetBound)
        assert all("it dropped " in other.line() for other in certificate.others)
    else:
        assert certificate.theorem.foreseeable
        assert len(certificate.others) == 5


small = st.lists(
    st.tuples(st.lists(st.integers(-2, 2), min_size=2, max_size=2), st.sampled_from([-1, 1])), min_size=1, max_size=12
)


@settings(max_examples=40)
@given(
    small, st.sampled_from(KERNELS), st.sampled_from([None, 1, 3]), st.integers(1, 3), st.sampled_from([1.0, 1e-5, 1e5])
)
def test_no_sequence_breaks_a_bound(pairs, kernels, budget, passes, scale):
    kernel, _ = kernels
    X, y = scale * np.array([x for x, _ in pairs]), [y for _, y in pairs]
    learner = aw.KernelPerceptron(kernel, budget)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.observed == learner.mistakes
    all_hold(certificate)


@settings(max_examples=80)
@given(
    small,
    st.sampled_from([*KERNELS, (gaussian(1.0), naive_kernels.gaussian(1.0))]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(st.integers(-6, 6), min_size=12, max_size=12),
    st.sampled_from([0.01, 0.1, 1.0]),
)
def test_the_budget_bound_is_a_theorem(pairs, kernels, budget, passes, coefficients, scale):
    """Any comparator whatever: the oracle alone, with nothing of the package in it."""
    rows, labels = [naive_kernels.as_dict(x) for x, _ in pairs], [y for _, y in pairs]
    u = [scale * b for b in coefficients[: len(rows)]]
    bound, mistakes = naive_kernels.budget_bound(kernels[1], rows, labels, budget, u, passes)
    assert mistakes <= bound * (1 + 1e-9) + 1e-9


@settings(max_examples=30)
@given(
    small,
    st.sampled_from(KERNELS),
    st.sampled_from([None, 1, 2]),
    st.lists(st.integers(-4, 4), min_size=12, max_size=12),
    st.integers(1, 2),
)
def test_a_given_comparator_is_judged_as_the_oracle_judges_it(pairs, kernels, budget, coefficients, passes):
    kernel, oracle = kernels
    X, y = np.array([x for x, _ in pairs]), [y for _, y in pairs]
    rows = [naive_kernels.as_dict(x) for x in X.tolist()]
    b = [0.01 * value for value in coefficients[: len(y)]]
    learner = aw.KernelPerceptron(kernel, budget)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y, comparator=b)
    named = by_theorem(certificate)
    square, hinge = naive_kernels.in_feature_space(oracle, rows, y, b)
    radius = max(float(oracle(x, x)) for x in rows) ** 0.5
    _, _, _, _, cost = naive_kernels.kernel_perceptron(oracle, rows, y, budget, passes)
    best = named["budget bound"] if learner.dropped else named["sharper hinge bound"]
    given_as_it_is = (
        naive_kernels.budget_bound(oracle, rows, y, budget, b, passes)[0]
        if learner.dropped
        else RootHingeBound.bound(radius, max(0.0, square) ** 0.5, passes * hinge)
    )
    # The package may stretch the comparator: its bound is no worse than as given, and the formula's at that length.
    assert best.bound <= given_as_it_is * (1 + 1e-6) + 1e-6
    assert best.inputs["R"] == pytest.approx(radius)
    if best.inputs["comparator"] == "the given one" and square > 1e-9:
        stretch = best.inputs["|u|"] / square**0.5
        _, hinge = naive_kernels.in_feature_space(oracle, rows, y, [stretch * value for value in b])
        assert best.inputs["L"] == pytest.approx(passes * hinge, rel=1e-6, abs=1e-6)
    if learner.dropped:
        assert best.inputs["F (what the budget costs)"] == pytest.approx(float(cost), abs=1e-9)
        unbounded = naive_kernels.kernel_perceptron(oracle, rows, y, None, passes)
        assert best.inputs["mistakes without the budget"] == len(unbounded[1])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_given_comparator_in_any_unit(scale):
    """x = s e_1, s e_2, both positive: u = (e_1 + e_2) / s has margin 1, length sqrt(2)/s, and the bound is 2."""
    X = scale * np.eye(2)
    learner = aw.DualPerceptron()
    learner.learn_many(X, [-1, -1])
    named = by_theorem(learner.certificate(X, [-1, -1], comparator=[-1 / scale**2, -1 / scale**2]))
    assert named["margin bound"].bound == pytest.approx(2)
    assert named["margin bound"].inputs["gamma"] == pytest.approx(scale / 2**0.5)
    assert named["hinge bound"].bound == pytest.approx(2)
    assert learner.mistakes == 2


def test_the_formula_of_the_budget_bound():
    assert BudgetBound.bound(radius=2.0, norm=1.0, hinge_loss=3.0, cost=-5.0) == BudgetBound.bound(2.0, 1.0, 3.0, 0.0)
    assert (
        BudgetBound.bound(radius=3.0, norm=1.0, hinge_loss=4.0, cost=0.0) == 16 == RootHingeBound.bound(3.0, 1.0, 4.0)
    )
    assert BudgetBound.bound(radius=2.0, norm=1.0, hinge_loss=0.0, cost=6.0) == 2 + 4
    assert not BudgetBound.foreseeable


def test_a_budget_that_dropped_nothing_changes_no_bound():
    stream = ADVERSARIES["separable"]
    with_budget, without = aw.KernelPerceptron(budget=10_000), aw.KernelPerceptron()
    for learner in (with_budget, without):
        aw.play(learner, stream)
    one, other = (learner.certificate(stream.X, stream.y) for learner in (with_budget, without))
    assert one == other


def test_the_budget_bound_says_what_the_budget_costs():
    stream = ADVERSARIES["noisy"]
    learner = aw.KernelPerceptron(gaussian(0.5), budget=15)
    aw.play(learner, stream)
    certificate = learner.certificate(stream.X, stream.y)
    unbounded = aw.KernelPerceptron(gaussian(0.5))
    assert certificate.inputs["mistakes without the budget"] == aw.play(unbounded, stream).mistakes
    assert "F (what the budget costs) = " in certificate.details()
    dropped = f"(it dropped {learner.dropped} examples, and the proof needs all of them)"
    assert dropped in " ".join(certificate.details().split())


def test_other_rounds_are_not_certified():
    X, y = ADVERSARIES["noisy"].X, ADVERSARIES["noisy"].y
    learner = aw.KernelPerceptron(gaussian(0.5))
    learner.learn_many(X, y)
    for rows, labels in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, -y)):
        certificate = learner.certificate(rows, labels)
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert certificate.bound is None
        assert certificate.failed[0].statement.startswith("X, y are the rounds")
    all_hold(learner.certificate(sparse.csr_array(X), y))  # the same in another form
    names = [dict(enumerate(x)) for x in X.tolist()]
    assert learner.certificate(names, y).verdict is Verdict.NOT_APPLICABLE
    tampered = learner.copy()
    state = tampered.state()
    state["support"][0] *= 3
    tampered.restore(state)
    assert tampered.certificate(X, y).verdict is Verdict.NOT_APPLICABLE
    # A second pass that is only counted: played, it would have made further mistakes.
    tampered.restore({**learner.state(), "rounds": 2 * learner.rounds})
    certificate = tampered.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "these rows give" in certificate.failed[0].detail


def test_the_checker_does_not_trust_the_learner(monkeypatch):
    """With kernel values other than those the learner had, the rounds no longer follow the rule."""
    from afterwit.kernels.gaussian import Gaussian

    X, y = ADVERSARIES["noisy"].X, ADVERSARIES["noisy"].y
    learner = aw.KernelPerceptron(gaussian(0.5))
    learner.learn_many(X, y)
    all_hold(learner.certificate(X, y))
    honest = Gaussian._matrix
    monkeypatch.setattr(Gaussian, "_matrix", lambda self, *parts: honest(gaussian(0.6), *parts))
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "was not treated by the rule" in str(certificate)


def test_what_is_too_much_is_left_out_and_said(monkeypatch):
    from afterwit.certify import kernel as _certify_kernel

    stream = ADVERSARIES["noisy"]
    learner = aw.KernelPerceptron(gaussian(0.5), budget=20)
    aw.play(learner, stream)
    full = learner.certificate(stream.X, stream.y)
    monkeypatch.setattr(_certify_kernel, "BLOCK", 1000)
    in_blocks = learner.certificate(stream.X, stream.y)
    assert in_blocks.bound == pytest.approx(full.bound, rel=1e-6)
    assert in_blocks.inputs["F (what the budget costs)"] == pytest.approx(full.inputs["F (what the budget costs)"])
    monkeypatch.setattr(_certify_kernel, "MOST_VALUES", 2_000)
    monkeypatch.setattr(_certify_kernel, "MOST_LANDMARKS", 40)
    monkeypatch.setattr(_certify_kernel, "MOST_ROWS_TO_FIT", 100)
    monkeypatch.setattr(_certify_kernel, "MOST_ROUNDS_WITHOUT_BUDGET", 10)
    certificate = learner.certificate(stream.X, stream.y)
    all_hold(certificate)
    text = " ".join(certificate.details().split())
    assert "on 40 landmarks" in certificate.inputs["comparator"] or certificate.inputs["comparator"] == "zero"
    assert "every update and one of" in text
    assert "mistakes without the budget" not in text


def test_a_function_that_is_no_kernel_is_found_out():
    X, y = [0.0, 1.0, 2.0, 3.0], [-1, 1, -1, 1]
    for no_kernel, why in (
        (lambda x, z: -abs(x - z), "has the eigenvalue"),
        (lambda x, z: x - z, "K(x, z) is not K(z, x)"),
    ):
        learner = aw.KernelPerceptron(no_kernel)
        learner.learn_many(X, y)
        certificate = learner.certificate(X, y)
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert why in " ".join(str(certificate).split())
    learner = aw.KernelPerceptron(lambda x, z: min(x, z))
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    all_hold(certificate)
    (known,) = [each for each in certificate.assumptions if "semidefinite" in each.statement]
    assert known.basis is Basis.OBSERVED


def test_a_function_on_many_rows_remains_a_promise(monkeypatch):
    from afterwit.certify import kernel as _certify_kernel

    monkeypatch.setattr(_certify_kernel, "MOST_LANDMARKS", 10)
    X, y = list(range(30)), [1 if t % 7 < 3 else -1 for t in range(30)]
    learner = aw.KernelPerceptron(lambda x, z: float(min(x, z)))
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    all_hold(certificate)
    (known,) = [each for each in certificate.assumptions if "semidefinite" in each.statement]
    assert (known.basis, known.holds) == (Basis.PROMISED, None)


@pytest.mark.parametrize(
    "comparator", [{"a": 1.0}, [1.0], [[1.0, 2.0]], "ab", ["a", "b"], [1.0, float("nan")], 3, [1, 2, 3], [1j, 1j]]
)
def test_bad_comparators(comparator):
    learner = aw.KernelPerceptron()
    learner.learn_many([[1.0], [2.0]], [1, -1])
    with pytest.raises(
        InputError, match="comparator must be a sequence of 2 finite numbers, one coefficient for each row"
    ):
        learner.certificate([[1.0], [2.0]], [1, -1], comparator=comparator)
    with pytest.raises(InputError, match="y must be as long as X"):
        learner.certificate([[1.0], [2.0]], [1])


def test_certificates_of_next_to_nothing():
    fresh = aw.KernelPerceptron()
    assert fresh.certificate(np.empty((0, 3)), []).verdict is Verdict.HOLDS
    zeros = aw.DualPerceptron()
    zeros.learn_many(np.zeros((3, 2)), [1, -1, 1])
    all_hold(zeros.certificate(np.zeros((3, 2)), [1, -1, 1]))


# ---------------------------------------------------------------------- both forms of the package


@pytest.mark.installed_only
def test_compiled_and_interpreted_are_the_same_to_the_last_bit():
    tests = os.path.dirname(HERE)
    script = os.path.join(tests, "both_forms_kernels.py")
    source = os.path.join(os.path.dirname(tests), "src")
    outputs = []
    for environment in ({}, {"PYTHONPATH": source}):
        result = subprocess.run(
            [sys.executable, script], env={**os.environ, **environment}, capture_output=True, text=True, check=True
        )
        outputs.append(json.loads(result.stdout))
    assert [output.pop("compiled") for output in outputs] == [True, False]
    assert outputs[0] == outputs[1]


def test_rows_of_a_stream_of_dicts_keep_their_names():
    stream = aw.streams.ArrayStream([{"a": 1.0}, {"b": 2.0}, {"a": 3.0, "c": 4.0}], [1, -1, 1])
    assert [x for x, _ in stream] == [{"a": 1.0}, {"b": 2.0}, {"a": 3.0, "c": 4.0}]
    assert naive.sign(0) == 1


def test_rows_may_become_wider_from_nothing_on():
    """An example without features, kept first, made the next one fail with numpy's own error."""
    learner = aw.KernelPerceptron()
    learner.learn_one([], -1)
    learner.learn_one([1.0], 1)
    learner.learn_one([1.0, 2.0], -1)
    assert learner.support.tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]
    assert learner.copy() == learner


@pytest.mark.parametrize("unit", [1.0, 8.0])
def test_coordinates_have_the_products_that_the_kernel_gives(unit):
    X = np.random.default_rng(6).standard_normal((12, 3))
    kernel = polynomial(2)
    gram = Gram(kernel, read_many(kernel, X))
    coordinates = Landmarks(gram, unit).coordinates(np.arange(12))
    assert coordinates @ coordinates.T == pytest.approx((1 + X @ X.T) ** 2 / unit**2, rel=1e-9, abs=1e-12)
