"""An intercept is a leading column of ones, for every learner and every form of input."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
from afterwit.core.registry import learner_names, many_label_names
from afterwit.testing import learner_checks
from problems import FORMS, in_columns, small_integers, with_ones

LEARNERS = {
    "AdaGrad": (aw.AdaGrad, {"box": 0.7}),
    "AveragedPerceptron": (aw.AveragedPerceptron, {}),
    "BalancedWinnow": (aw.BalancedWinnow, {"rate": 0.5}),
    "MarginPerceptron": (aw.MarginPerceptron, {"margin": 0.1}),
    "PassiveAggressive": (aw.PassiveAggressive, {"C": 0.25}),
    "NormalizedAdaGrad": (aw.NormalizedAdaGrad, {"rate": 0.25}),
    "OnlineSVM": (aw.OnlineSVM, {"C": 1.0, "rate": 0.25}),
    "Perceptron": (aw.Perceptron, {}),
    "SGD": (aw.SGD, {"loss": "hinge", "ball": 1.5, "rate": 0.25}),
    "ScaleFree": (aw.ScaleFree, {"epsilon": 0.5}),
    "SelectivePerceptron": (aw.SelectivePerceptron, {"b": 5.0}),
    "VotedPerceptron": (aw.VotedPerceptron, {}),
    "Winnow": (aw.Winnow, {"rate": 0.5}),
}


def test_no_learner_was_forgotten():
    linear = {name for name in aw.LEARNERS if "intercept" in inspect.signature(getattr(aw, name)).parameters}
    # Those of many labels have tests of their own.
    linear -= set(many_label_names().values())
    assert set(LEARNERS) == linear
    without = {
        "Calibrated",
        "Committee",
        "DualPerceptron",
        "KernelPerceptron",
        "RepeatLastLabel",
        "SoftThresholdNetwork",
        "Standardize",
    }
    assert linear | without == set(learner_names().values()), (
        "a constant is for the kernel, the parts and the gates to have"
    )


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("check", learner_checks(), ids=lambda check: check.__name__)
def test_conformance_with_an_intercept(check, name):
    kind, options = LEARNERS[name]
    if check.__name__ != "check_constructor":
        check(lambda **more: kind(**options, intercept=True, **more))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=12)
@given(problem=small_integers, passes=st.integers(1, 2))
def test_an_intercept_is_a_leading_column_of_ones(name, form, problem, passes):
    kind, options = LEARNERS[name]
    X, y = problem
    with_intercept, with_column = kind(**options, intercept=True), kind(**options, intercept=False)
    many, wider = form(X), form(with_ones(X))
    for _ in range(passes):
        scores = with_intercept.learn_scores(many, y).tolist()
        assert scores == with_column.learn_scores(wider, y).tolist()
    columns = in_columns(with_column.weights, len(X[0]) + 1)
    assert [with_intercept.intercept_weight, *in_columns(with_intercept.weights, len(X[0]))] == columns
    assert with_intercept.score_many(many).tolist() == with_column.score_many(wider).tolist()
    assert with_intercept.predict_many(many).tolist() == with_column.predict_many(wider).tolist()
    assert (with_intercept.mistakes, with_intercept.updates) == (with_column.mistakes, with_column.updates)
    assert with_intercept.features == with_column.features - 1
    assert with_column.intercept_weight == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name, (kind, _) in LEARNERS.items() if kind.theorems])
def test_the_certificate_is_that_of_the_wider_rows(name, form):
    kind, options = LEARNERS[name]
    random = np.random.default_rng(4)
    X = random.integers(-3, 4, (25, 3)).tolist()
    y = [1 if 2 * x[0] - x[2] + 1 > 0 else -1 for x in X]
    with_intercept, with_column = kind(**options, intercept=True), kind(**options, intercept=False)
    with_intercept.learn_many(form(X), y)
    with_column.learn_many(form(with_ones(X)), y)
    narrow, wide = with_intercept.certificate(form(X), y), with_column.certificate(form(with_ones(X)), y)
    assert narrow.assumptions[0].holds
    assert wide.assumptions[0].holds
    for one, other in zip((narrow, *narrow.others), (wide, *wide.others), strict=True):
        assert one.theorem == other.theorem
        assert one.verdict == other.verdict
        assert one.observed == pytest.approx(other.observed, rel=1e-12)
        assert (one.bound is None) == (other.bound is None)
        if one.bound is not None:
            assert one.bound == pytest.approx(other.bound, rel=1e-6)


@pytest.mark.parametrize("intercept", [1, 0, None, "yes", 1.0])
@pytest.mark.parametrize("name", LEARNERS)
def test_anything_but_true_or_false_is_refused(name, intercept):
    with pytest.raises(aw.errors.InputError, match=r"^intercept must be True or False; received "):
        LEARNERS[name][0](intercept=intercept)
