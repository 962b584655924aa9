"""A circuit of soft threshold gates: its score by the formulas, its steps by differences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.errors import InputError

XOR = ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, 1, 1, -1])


def layers_of(learner):
    """What the public names show, as the oracle has it: for every gate its weights, then its threshold."""
    weights = learner.weights
    if isinstance(weights, dict):
        weights = np.array(list(weights.values()))
    first = [[*weights[:, h].tolist(), float(learner.intercept_weight[h])] for h in range(weights.shape[1])]
    return [first, *(part.tolist() for part in learner.inner_weights)]


@settings(max_examples=40)
@given(st.integers(0, 1000), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 4))
def test_scores_and_steps_are_those_of_the_formulas(seed, gates, width):
    random = np.random.default_rng(seed)
    learner = aw.SoftThresholdNetwork(gates=gates, rate=0.3, seed=seed)
    learner.learn_many(random.standard_normal((4, width)), random.choice([-1, 1], size=4))
    for _ in range(3):
        x, y = random.standard_normal(width), int(random.choice([-1, 1]))
        layers = layers_of(learner)
        assert learner.score_one(x) == pytest.approx(naive.network_score(layers, x.tolist()), rel=1e-10)
        expected = naive.network_step(layers, x.tolist(), y, 0.3)
        assert learner.learn_one(x, y) == naive.sign(naive.network_score(layers, x.tolist()))
        for found, wanted in zip(layers_of(learner), expected, strict=True):
            assert np.allclose(found, wanted, rtol=1e-6, atol=1e-8)


def test_one_gate_by_hand():
    learner = aw.SoftThresholdNetwork(gates=(1,), rate=1.0, seed=7)
    ((threshold,),) = [learner.intercept_weight.tolist()]
    ((v, c),) = learner.inner_weights[0].tolist()
    a = 1 / (1 + math.exp(-threshold))  # the features' weights begin at 0
    z = v * a + c
    assert learner.score_one([2.0]) == pytest.approx(z)
    learner.learn_one([2.0], -1)
    slope = 1 / (1 + math.exp(-z))
    assert learner.inner_weights[0].tolist() == [pytest.approx([v - slope * a, c - slope])]
    blame = slope * v * a * (1 - a)
    assert learner.weights.tolist() == [[pytest.approx(-2 * blame)]]
    assert learner.intercept_weight.tolist() == [pytest.approx(threshold - blame)]
    assert (learner.rounds, learner.updates) == (1, 1)


def test_every_form_learns_the_same():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((15, 3)), random.choice([-1, 1], size=15)
    dense, rows, named = (aw.SoftThresholdNetwork(gates=(3, 2), seed=5) for _ in range(3))
    dense.learn_many(X, y)
    rows.learn_many(sparse.csr_array(X), y)
    named.learn_many([{f"f{j}": v for j, v in enumerate(x)} for x in X.tolist()], y)
    assert rows == dense
    assert np.array_equal(np.array(list(named.weights.values())), dense.weights)
    assert named.intercept_weight.tolist() == dense.intercept_weight.tolist()


def test_a_feature_may_come_at_any_time():
    late, early = aw.SoftThresholdNetwork(gates=(3,)), aw.SoftThresholdNetwork(gates=(3,))
    X = np.random.default_rng(1).standard_normal((20, 30))
    X[:10, 4:] = 0
    y = np.random.default_rng(2).choice([-1, 1], size=20)
    early.learn_many(X, y)
    late.learn_many(X[:10, :4], y[:10])
    late.learn_many(X[10:], y[10:])
    assert late == early


@pytest.mark.parametrize("seed", [1, 2])
def test_xor_can_be_learned(seed):
    learner = aw.SoftThresholdNetwork(gates=(4,), rate=0.5, seed=seed)
    assert learner.fit(*XOR, max_passes=3000).converged
    assert learner.predict_many(XOR[0]).tolist() == XOR[1]
    assert not aw.Perceptron(intercept=True).fit(*XOR, max_passes=100).converged


def test_the_seed_decides_the_start():
    X, y = np.random.default_rng(1).standard_normal((10, 3)), [1, -1] * 5
    learners = [aw.SoftThresholdNetwork(gates=(3,), seed=seed) for seed in (0, 0, 1)]
    for learner in learners:
        learner.learn_many(X, y)
    assert learners[0] == learners[1]
    assert not np.allclose(learners[0].weights, learners[2].weights)
    fresh = aw.SoftThresholdNetwork(gates=(5,))
    assert len(set(fresh.inner_weights[0][0].tolist())) == 6, "the gates differ from the beginning"
    assert fresh.weights.shape == (0, 5)


def test_its_description_length():
    learner = aw.SoftThresholdNetwork(gates=(4, 3))
    learner.learn_one([1.0, 2.0], 1)
    assert learner.description_length == 64 * (3 * 4 + 5 * 3 + 4)


def test_no_certificate_and_why():
    learner = aw.SoftThresholdNetwork()
    learner.learn_one([1.0], 1)
    with pytest.raises(InputError, match="SoftThresholdNetwork has no certificate: the loss of a network is not conv"):
        learner.certificate([[1.0]], [1])


@pytest.mark.parametrize("gates", [(), 3, "8", (0,), (2, -1), (1.5,), (True,), None, (2**20,)])
def test_bad_gates_are_refused(gates):
    with pytest.raises(
        InputError, match=r"^gates must be a sequence of whole numbers, at least one, each at least 1; rec"
    ):
        aw.SoftThresholdNetwork(gates=gates)


@pytest.mark.parametrize("seed", [-1, 1.0, "0", None, True])
def test_bad_seeds_are_refused(seed):
    with pytest.raises(InputError, match=r"^seed must be a whole number, at least 0 and below 2\^64; received"):
        aw.SoftThresholdNetwork(seed=seed)


def test_saved_with_its_gates(tmp_path):
    learner = aw.SoftThresholdNetwork(gates=(3, 2), rate=0.7, seed=9, labels=("a", "b"))
    learner.learn_many([{"p": 1.0}, {"q": 2.0, "p": -1.0}], ["a", "b"])
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == learner
    assert again.parameters == {"gates": (3, 2), "rate": 0.7, "seed": 9, "labels": ("a", "b")}
    for each in (learner, again):
        each.learn_many([{"r": 1.0, "q": 5.0}], ["a"])
    assert again == learner
    for change in ({"inner": np.zeros(2)}, {"weights": np.zeros(4)}):
        with pytest.raises(InputError, match="must be"):
            again.restore({**again.state(), **change})
