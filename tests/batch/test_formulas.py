"""The theorems of batch procedures as formulas of one's own numbers: the same objects that certificates apply."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit.batch
import afterwit.sampling
import naive_bounds
from afterwit.batch.average import AverageError, AverageExcess, AverageLoss
from afterwit.batch.controlled_testing import FreshExamples
from afterwit.batch.kernel_margin import KernelMarginBound, MeanKernelMarginBound
from afterwit.batch.large_gap import LargeGapSize, RightInARow
from afterwit.batch.penalized_selection import PenalizedSelection
from afterwit.batch.progressive import ProgressiveBound, ProgressiveSize
from afterwit.batch.random_stopping import RandomStopping, RandomStoppingSize
from afterwit.core.theorem import BOUND, SAMPLE_SIZE, Theorem
from afterwit.errors import InputError

THEOREMS = [
    AverageExcess,
    AverageLoss,
    FreshExamples,
    LargeGapSize,
    MeanKernelMarginBound,
    PenalizedSelection,
    ProgressiveBound,
    ProgressiveSize,
    RandomStopping,
    RandomStoppingSize,
    RightInARow,
]
GOOD = {"mean_loss": 0.2, "rounds": 50, "delta": 0.1, "loss_range": 2.0, "regret": 3.0, "hypothesis": 2, "error": 0.3}
GOOD |= {"mistakes": 4, "mistake": 4, "samples": 60, "gap": 0.2, "mean_hinge": 0.1, "kernel_sum": 9.0, "rho": 0.5}


def test_a_bound_and_a_sample_size_may_have_the_same_name():
    for name in ("progressive", "random-stopping", "large-gap", "occam", "vc"):
        one, other = Theorem.known[BOUND][name], Theorem.known[SAMPLE_SIZE][name]
        assert one is not other
        assert (one.asks_for, other.asks_for) == (BOUND, SAMPLE_SIZE)
    with pytest.raises(TypeError, match="two theorems with the id 'occam'"):
        type("Another", (Theorem,), {"id": "occam"})


@pytest.mark.parametrize("kind", THEOREMS, ids=lambda kind: kind.__name__)
def test_every_formula_takes_arrays_and_names_what_is_wrong(kind):
    theorem = kind()
    good = {each.name: GOOD[each.name] for each in theorem.inputs}
    alone = theorem(**good)
    oracle = naive_bounds.BOUNDS if kind.asks_for == BOUND else naive_bounds.SAMPLE_SIZES
    assert (
        math.ceil(oracle[kind.id](**good)) == alone
        if isinstance(alone, int)
        else alone == pytest.approx(oracle[kind.id](**good))
    )
    for each in theorem.inputs:
        many = theorem.values(**{**good, each.name: [good[each.name]] * 3})
        assert many.shape == (3,)
        assert many == pytest.approx(alone, rel=1e-14)
        for bad in (math.nan, -1, "x", [3, -1]):
            with pytest.raises(InputError, match=each.name):
                theorem.values(**{**good, each.name: bad})


def test_formulas_broadcast():
    assert RandomStoppingSize().values(mistakes=[1, 10], error=0.1).tolist() == [10, 100]
    table = ProgressiveBound().values(mean_loss=[[0.0], [0.5]], rounds=[1, 10, 100], delta=0.05)
    assert table.shape == (2, 3)
    assert isinstance(ProgressiveBound()(mean_loss=0.1, rounds=10, delta=0.1), float)


def test_a_gap_beyond_all_numbers_is_refused():
    with pytest.raises(InputError, match="error must be large enough for the sample size to be a number"):
        LargeGapSize()(mistakes=10**300, error=1e-300, delta=0.5)
    with pytest.raises(InputError, match="error must be large enough for the sample size to be a number"):
        RightInARow()(mistake=3, error=5e-324, delta=0.5)
    for mistake in (1e200, 10**155):
        with pytest.raises(InputError, match=r"mistake must be such that delta / \(i \+ 2\)\^2 is at least 1e-300"):
            RightInARow()(mistake=mistake, error=0.1, delta=0.5)
    with pytest.raises(InputError, match="gap must be large enough"):
        ProgressiveSize()(gap=1e-300, delta=0.5)


@given(st.integers(0, 60), st.floats(0.02, 1), st.floats(1e-6, 0.99))
def test_the_large_gap_procedure_has_halted_by_then(M, error, delta):
    longest = naive_bounds.halting_time(M, error, delta)
    size = LargeGapSize()(mistakes=M, error=error, delta=delta)
    assert longest <= size <= longest + M + 2
    assert longest == sum(RightInARow()(mistake=i, error=error, delta=delta) for i in range(M + 1))


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(1e-6, 0.99), st.floats(0.1, 10))
def test_one_formula_stands_behind_those_that_are_alike(mean, rounds, delta, M):
    progressive = ProgressiveBound.bound(mean, rounds, delta, M)
    assert AverageLoss.bound(mean, rounds, delta, M) == progressive
    assert AverageError.bound(mean, rounds, delta, M, 0.5) == 2 * progressive
    assert MeanKernelMarginBound.bound(mean, 4.0, M, rounds, delta) == pytest.approx(
        KernelMarginBound.bound(mean * rounds, 1 / M, 4.0, rounds, delta)
    )


def test_every_formula_of_samples_is_a_theorem():
    """The public functions are the theorems' formulas."""
    named = {"occam-delta": "occam_delta", "vc": "vc_error", "hoeffding": "hoeffding_deviation"}
    inputs = {"samples": 100, "delta": 0.1, "error": 0.2, "log_hypotheses": 2.0, "vc_dimension": 3}
    for name, function in named.items():
        theorem = Theorem.known[BOUND][name]()
        given_inputs = {each.name: inputs[each.name] for each in theorem.inputs}
        assert getattr(afterwit.sampling, function)(**given_inputs) == theorem(**given_inputs)
    assert np.isfinite(afterwit.sampling.vc_error([10, 100], 0.1, 3)).all()
