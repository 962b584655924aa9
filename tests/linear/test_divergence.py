"""Finite inputs never become infinite or NaN in silence: a round that would do it is an error and is not learned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
from afterwit.core.registry import classes
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError
from conftest import EXAMPLES

#: Every learner of numbers that the registry knows, and variants that take longer or unbounded steps.
MAKERS = {
    name: kind
    for name, kind in classes("classifier").items()
    if getattr(kind, "takes", "") == "numbers"
} | {
    "SGD squared": lambda: aw.SGD(loss="squared", rate=10),
    "SGD ball": lambda: aw.SGD(loss="hinge", ball=1.0),
    "SGD squared in a ball": lambda: aw.SGD(loss="squared", rate=10, ball=1e200),
    "SGD perceptron": lambda: aw.SGD(loss="perceptron", rate=1e300),
    "AdaGrad squared": lambda: aw.AdaGrad(loss="squared", rate=10.0),
    "AdaGrad box": lambda: aw.AdaGrad(loss="squared", box=3.0),
    "NormalizedAdaGrad squared": lambda: aw.NormalizedAdaGrad(loss="squared", rate=10.0),
    "NormalizedAdaGrad rate": lambda: aw.NormalizedAdaGrad(rate=1e300),
    "Perceptron rate": lambda: aw.Perceptron(rate=1e300),
    "OnlineSVM": lambda: aw.OnlineSVM(C=1e300, rate=0.5),
    "network": lambda: aw.SoftThresholdNetwork(gates=(3, 3), rate=1e200),
    "one against the rest": lambda: aw.OneVsRest(aw.SGD(loss="squared", rate=10), labels=(-1, 1)),
    "committee": lambda: aw.Committee([aw.Perceptron(), aw.SGD(loss="squared", rate=10), aw.MarginPerceptron()]),
}  # fmt: skip


def numbers_of(state):
    """Every number that a learner keeps."""
    if isinstance(state, dict):
        state = list(state.values())
    if isinstance(state, list | tuple):
        return [number for each in state for number in numbers_of(each)]
    if isinstance(state, np.ndarray):
        return state.reshape(-1).tolist() if state.dtype.kind == "f" else []
    return [state] if isinstance(state, float) else []


def assert_finite(learner):
    assert np.isfinite(numbers_of(learner.state())).all()
    assert learner.copy() == learner


#: Values of every size that a float has.
values = st.one_of(
    st.floats(-1e3, 1e3),
    st.tuples(st.floats(-9, 9), st.integers(-308, 307)).map(lambda pair: pair[0] * 10.0 ** pair[1]),
    st.floats(allow_nan=False, allow_infinity=False),
)
rows = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(values, min_size=width, max_size=width), st.sampled_from([-1, 1])), min_size=1, max_size=12
    )
)


@pytest.mark.parametrize("name", MAKERS)
@given(rows)
def test_whatever_comes_all_that_is_learned_is_finite(name, examples):
    """A round is learned, or it is refused and has changed nothing; its score is finite or an error, too."""
    X, y = np.array([x for x, _ in examples]), [label for _, label in examples]
    singly, by_name = MAKERS[name](), MAKERS[name]()
    for x, label in zip(X, y, strict=True):
        for learner, example in ((singly, x), (by_name, {f"f{j}": value for j, value in enumerate(x.tolist())})):
            before = learner.state()
            try:
                learner.learn_one(example, label)
            except (DivergenceError, InputError):
                assert same_value(learner.state(), before)
            assert_finite(learner)
            try:
                score = learner.score_one(example)
                assert np.isfinite(list(score.values()) if isinstance(score, dict) else score).all()
            except InputError as error:
                assert "overflow" in str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize(("form", "repeated"), [(np.array, 1), (np.array, 60), (sparse.csr_array, 1)])
@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=1 + EXAMPLES // 5)
@given(rows)
def test_many_rounds_are_learned_up_to_the_one_that_diverges(name, repeated, form, examples):
    """A block is the loop of its rows also where one of them diverges: those before it stay learned."""
    moderate = [([0.5] * len(examples[0][0]), 1)] * repeated
    X, y = np.array([x for x, _ in moderate + examples]), [label for _, label in moderate + examples]
    at_once, singly = MAKERS[name](), MAKERS[name]()
    one_by_one = X if form is np.array else [form(X)[[i]] for i in range(len(y))]
    refused = None
    try:
        at_once.learn_many(form(X), y)
    except (DivergenceError, InputError) as error:
        refused = error
    assert_finite(at_once)
    if isinstance(refused, DivergenceError):
        for x, label in zip(one_by_one[: at_once.rounds], y, strict=False):
            singly.learn_one(x, label)
        assert at_once.rounds == singly.rounds < len(y)
        with pytest.raises((DivergenceError, InputError)):
            singly.learn_one(one_by_one[at_once.rounds], y[at_once.rounds])
    elif refused is None:
        for x, label in zip(one_by_one, y, strict=True):
            singly.learn_one(x, label)
    assert same_value(at_once.state(), singly.state())


def test_the_error_names_the_round_and_the_remedy():
    """MarginPerceptron's |w|^2 overflows from 1e154 on; gradient descent with too long steps leaves all bounds."""
    learner = aw.MarginPerceptron()
    learner.learn_many([[1.0, 0.0]] * 3, [1] * 3)
    with pytest.raises(DivergenceError) as caught:
        learner.learn_one([1e155, 1e155], -1)
    assert str(caught.value) == (
        "round 4 would make a score or a weight of MarginPerceptron infinite or NaN; scale the features"
    )
    random = np.random.default_rng(0)
    X = (random.random((2000, 40)) < 0.3).astype(float)
    y = np.where(X[:, 0] > 0, 1, -1)
    descent = aw.SGD(loss="squared", rate=10)
    with pytest.raises(DivergenceError, match=r"round \d+ would make .* SGD .*; use a smaller rate or scale"):
        descent.learn_many(X, y)
    assert 10 < descent.rounds < 1000
    assert f"round {descent.rounds + 1:,} " in _refusal(descent, X[descent.rounds], y[descent.rounds])
    assert_finite(descent)


def _refusal(learner, x, y):
    with pytest.raises(DivergenceError) as caught:
        learner.learn_one(x, y)
    return str(caught.value)


def test_names_of_a_round_that_diverges_are_not_known_afterwards():
    learner = aw.Perceptron()
    learner.learn_one({"a": 1e300}, -1)
    before = learner.state()
    with pytest.raises(DivergenceError):
        learner.learn_one({"a": 1e300, "new": 1.0}, 1)
    assert same_value(learner.state(), before)
    with pytest.raises(DivergenceError):
        learner.learn_many([{"a": 1.0, "b": 2.0}, {"a": 1e300, "new": 1.0}, {"late": 1.0}], [-1, 1, 1])
    assert list(learner.weights) == ["a", "b"]
    assert learner.rounds == 2


def test_a_long_block_that_diverges_late_is_learned_up_to_there():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((60_000, 5)), random.choice([-1, 1], 60_000)
    X[50_000] = 1e200
    X[50_001] = -1e200
    learner, twin = aw.MarginPerceptron(margin=1e-3), aw.MarginPerceptron(margin=1e-3)
    with pytest.raises(DivergenceError, match="round 50,001 "):
        learner.learn_many(X, y)
    twin.learn_many(X[:50_000], y[:50_000])
    assert same_value(learner.state(), twin.state())
