"""Occam, uniform convergence and VC: three directions of each theorem, exact inverses of each other."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import afterwit as aw
import naive_bounds
from afterwit import batch
from afterwit.errors import InputError

deltas = st.floats(1e-12, 0.999)
errors = st.floats(0.01, 1)

#: error or deviation from n; the smallest n; delta; what else goes in; the name of the target.
THEOREMS = {
    "occam": (batch.occam_error, batch.occam_sample_size, batch.occam_delta, "log_hypotheses", "error"),
    "description": (
        batch.description_error,
        batch.description_sample_size,
        batch.description_delta,
        "bits",
        "error",
    ),
    "hoeffding": (batch.hoeffding_deviation, batch.hoeffding_sample_size, batch.hoeffding_delta, None, "deviation"),
    "uniform": (batch.uniform_deviation, batch.uniform_sample_size, batch.uniform_delta, "log_hypotheses", "deviation"),
    "regularised": (
        batch.regularised_deviation,
        batch.regularised_sample_size,
        batch.regularised_delta,
        "bits",
        "deviation",
    ),
    "vc": (batch.vc_error, batch.vc_sample_size, batch.vc_delta, "vc_dimension", "error"),
    "vc uniform": (
        batch.vc_deviation,
        batch.vc_uniform_sample_size,
        batch.vc_uniform_delta,
        "vc_dimension",
        "deviation",
    ),
}
every_theorem = pytest.mark.parametrize("name", list(THEOREMS))


@every_theorem
def test_the_sample_size_is_the_smallest_that_is_enough(name):
    value, size, _, other, target = THEOREMS[name]

    @settings(max_examples=40)
    @given(errors, deltas, st.integers(1, 40))
    def smallest(wanted, delta, complexity):
        inputs = {"delta": delta, **({other: complexity} if other else {})}
        n = size(**{target: wanted}, **inputs)
        assert type(n) is int
        assert value(n, **inputs) <= wanted
        assert n == 1 or value(n - 1, **inputs) > wanted

    smallest()


@every_theorem
def test_the_size_for_the_value_of_n_is_n(name):
    """At these values a formula may come out a hair above or below a whole number: rounding must not show."""
    value, size, _, other, target = THEOREMS[name]
    many = np.arange(1, 3001)
    for delta in (0.05, 0.5):
        for complexity in (1, 3) if other else (None,):
            inputs = {"delta": delta, **({other: complexity} if other else {})}
            wanted = value(many, **inputs)
            allowed = wanted <= 1
            assert (size(**{target: wanted[allowed]}, **inputs) == many[allowed]).all()
            a_hair_less = np.nextafter(wanted[allowed], 0)
            assert (size(**{target: a_hair_less}, **inputs) == many[allowed] + 1).all()


@every_theorem
def test_the_smallest_by_going_through_all(name):
    """Brute force over every n, and in one broadcast."""
    value, size, _, other, target = THEOREMS[name]
    inputs = {other: 2} if other else {}
    many = np.arange(1, 15_001)
    for delta in (0.01, 0.3):
        all_values = value(many, delta=delta, **inputs)
        assert (np.diff(all_values) <= 0).all()
        for wanted in (0.2, 0.25, 0.5, 1.0):
            assert size(**{target: wanted}, delta=delta, **inputs) == many[all_values <= wanted][0]


@every_theorem
def test_delta_is_the_inverse_too(name):
    value, _, delta_of, other, target = THEOREMS[name]

    @settings(max_examples=40)
    @given(st.integers(1, 5000), deltas, st.integers(1, 20))
    def inverse(n, delta, complexity):
        inputs = {other: complexity} if other else {}
        wanted = value(n, delta=delta, **inputs)
        if wanted <= 1:
            assert delta_of(n, **{target: wanted}, **inputs) == pytest.approx(delta, rel=1e-6)

    inverse()


@every_theorem
def test_arrays_are_the_same_as_one_by_one(name):
    value, size, delta_of, other, target = THEOREMS[name]
    complexities = [1, 5, 17]
    for function, first, grid in (
        (value, "samples", [10, 1000]),
        (size, target, [0.1, 0.5]),
        (delta_of, "samples", [10, 1000]),
    ):
        third = {target: 0.2} if function is delta_of else {"delta": 0.05}
        column = np.array(grid)[:, None]
        together = function(**{first: column}, **third, **({other: complexities} if other else {}))
        assert together.shape == ((2, 3) if other else (2, 1))
        for i, each in enumerate(grid):
            for j, complexity in enumerate(complexities if other else [None]):
                alone = function(**{first: each}, **third, **({other: complexity} if other else {}))
                assert together[i, j] == alone
        assert together.dtype == (np.int64 if function is size else np.float64)


@given(st.integers(1, 400), st.floats(0.001, 0.999), st.floats(0.01, 1))
def test_hoeffding_against_the_binomial_distribution(n, p, deviation):
    """Theorem 6.6 itself: the exact tails are below the bound."""
    bound = batch.hoeffding_delta(n, deviation) * (1 + 1e-9)
    assert binom.sf(math.floor(n * (p + deviation) + 1e-9), n, p) <= bound
    assert binom.cdf(math.ceil(n * (p - deviation) - 1e-9) - 1, n, p) <= bound


@given(st.integers(1, 300), st.integers(1, 10), st.floats(0.01, 0.5))
def test_occam_against_the_probability_itself(n, hypotheses, error):
    """Theorem 6.4: rules of exactly that error, wrong on different parts, are consistent with probability <= delta."""
    union = hypotheses * (1 - error) ** n
    assert min(1, union) <= batch.occam_delta(n, error, hypotheses=hypotheses) * (1 + 1e-12)


# ---------------------------------------------------------------------- VC


@given(st.integers(0, 400), st.integers(0, 420))
def test_sauer_is_the_sum_of_binomials(m, d):
    assert batch.log_growth_bound(m, d) == pytest.approx(math.log(naive_bounds.growth(m, min(d, m))), rel=1e-11, abs=0)


def test_sauer_is_met_by_intervals_and_thresholds():
    """Intervals on a line label m points in m(m+1)/2 + 1 ways, thresholds in m + 1: Sauer's lemma with equality."""
    for m in range(1, 12):
        intervals = {tuple(a <= x < b for x in range(m)) for a in range(m + 1) for b in range(m + 1)}
        assert batch.log_growth_bound(m, 2) == pytest.approx(math.log(len(intervals)), rel=1e-12)
        thresholds = {tuple(x >= a for x in range(m)) for a in range(m + 1)}
        assert batch.log_growth_bound(m, 1) == pytest.approx(math.log(len(thresholds)), rel=1e-12)


@pytest.mark.parametrize(
    ("m", "d", "expected"),
    [
        # ln C(m, d) and the next terms, by hand for few of very many.
        (10**15, 3, 3 * math.log(10**15) - math.log(6)),
        (1e200, 2, 2 * 200 * math.log(10) - math.log(2)),
        # Half of all labellings, and a share by the normal distribution.
        (10**12 + 1, 5 * 10**11, 10**12 * math.log(2)),
        (10**6, 10**6, 10**6 * math.log(2)),
        # m times the entropy of 1/10, but for lower order.
        (10**9, 10**8, 10**9 * -(0.1 * math.log(0.1) + 0.9 * math.log(0.9))),
    ],
)
def test_sauer_for_huge_numbers(m, d, expected):
    assert batch.log_growth_bound(m, d) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("d", [0, 1, 2, 5])
@pytest.mark.parametrize("wanted", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("delta", [0.5, 0.25, 0.05])
def test_vc_sample_sizes_by_counting_up(d, wanted, delta):
    by_counting = naive_bounds.smallest_vc_sample("vc", wanted, vc_dimension=d, delta=delta)
    assert batch.vc_sample_size(wanted, delta, d) == by_counting
    if wanted >= 0.8:
        by_counting = naive_bounds.smallest_vc_sample("vc-uniform", wanted, vc_dimension=d, delta=delta)
        assert batch.vc_uniform_sample_size(wanted, delta, d) == by_counting


@settings(max_examples=40)
@given(errors, deltas, st.integers(0, 1000))
def test_the_closed_form_is_never_below_the_solution(error, delta, d):
    """Corollary 6.22 with its constants, against Theorem 6.19 solved."""
    assert batch.vc_closed_sample_size(error, delta, d) >= batch.vc_sample_size(error, delta, d)


@settings(max_examples=40)
@given(st.floats(0.01, 1), deltas, st.integers(1, 50))
def test_why_the_uniform_statement_is_true(deviation, delta, d):
    """ln(2 H[2m]) is enough, though the printed proof gives ln(4 H[2m]): the two samples may be 0.6 eps apart."""
    m = batch.vc_uniform_sample_size(deviation, delta, d)
    x = m * deviation**2
    assert x > 36
    near = 1 - 2 * math.exp(-2 * 0.4**2 * x)
    log_probability = math.log(2) + batch.log_growth_bound(2 * m, d) - 0.6**2 / 2 * x - math.log(near)
    assert log_probability <= math.log(delta)


@settings(max_examples=30)
@given(st.integers(0, 6), st.sampled_from([1, 3, 5, 7]))
def test_the_vc_dimension_of_votes(d, k):
    found = batch.majority_vc_dimension(d, k)
    assert found == naive_bounds.majority_vc(d, k)
    assert found >= d
    if d >= 2 and found >= 16:
        assert found <= 2 * k * d * math.log2(k * d)
    if k == 1:
        assert found == d


def test_votes_broadcast_and_scale():
    assert batch.majority_vc_dimension([[1], [2]], [1, 3]).tolist() == [[1, 10], [2, 25]]
    big = batch.majority_vc_dimension(10**6, 1001)
    assert 10**9 < big < 2 * 1e9 * 1.001 * math.log2(1e9 * 1.001)
    assert batch.vc_dimension_of_linear_separators(10) == 11


# ---------------------------------------------------------------------- limits


def test_huge_numbers_do_not_overflow():
    assert batch.occam_error(1, 0.5, hypotheses=10**4000) == pytest.approx(4000 * math.log(10) + math.log(2))
    assert batch.occam_sample_size(1e-12, 0.5, hypotheses=10**400) == pytest.approx(400e12 * math.log(10), rel=1e-2)
    assert batch.description_delta(1, 1.0, 1e300) == 1
    assert batch.description_delta(10**15, 1.0, 1) == 0
    assert batch.regularised_deviation(1, 1e300, 0.5) == pytest.approx(math.sqrt(1e300 * math.log(4) / 2))
    sizes = batch.vc_sample_size([1e-3, 1e-9], 1e-9, [[10], [10**9]])
    assert sizes[1, 1] > 2**63
    assert all(type(size) is int for size in sizes.reshape(-1))
    assert batch.vc_error(sizes[1, 0], 1e-9, 10**9) <= 1e-3


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (batch.occam_sample_size, {"error": 5e-324, "log_hypotheses": 50}),
        (batch.description_sample_size, {"error": 5e-324, "bits": 50}),
        (batch.hoeffding_sample_size, {"deviation": 1e-200}),
        (batch.uniform_sample_size, {"deviation": 1e-200, "log_hypotheses": 50}),
        (batch.vc_sample_size, {"error": 5e-324, "vc_dimension": 50}),
        (batch.vc_uniform_sample_size, {"deviation": 1e-200, "vc_dimension": 50}),
        (batch.vc_closed_sample_size, {"error": 5e-324, "vc_dimension": 50}),
    ],
)
def test_a_sample_size_beyond_all_numbers_is_refused(function, inputs):
    with pytest.raises(InputError, match="must be large enough for the sample size to be a number"):
        function(delta=0.05, **inputs)


GOOD = {
    "samples": 10,
    "delta": 0.1,
    "error": 0.1,
    "deviation": 0.1,
    "bits": 4,
    "hypotheses": 5,
    "vc_dimension": 3,
    "dimension": 3,
    "points": 10,
    "votes": 3,
}


@pytest.mark.parametrize("name", batch.__all__)
def test_every_bad_input_is_named(name):
    function = getattr(batch, name)
    parameters = [p for p in inspect.signature(function).parameters if p != "log_hypotheses"]
    if not set(parameters) <= set(GOOD):
        pytest.skip("not a formula")
    good = {parameter: GOOD[parameter] for parameter in parameters}
    function(**good)
    for parameter in parameters:
        for bad in (
            math.nan,
            math.inf,
            -1,
            "3",
            True,
            None,
            [0.5, -1.0],
            1j,
            10**400 if parameter != "hypotheses" else 0,
        ):
            with pytest.raises(InputError, match=rf"^{parameter}\b.* must be "):
                function(**{**good, parameter: bad})
        for bad in (0, 1) if parameter == "delta" else (0,) if parameter in ("samples", "error", "deviation") else ():
            with pytest.raises(InputError, match=rf"^{parameter} must be .*; received {bad}$"):
                function(**{**good, parameter: bad})
        if parameter in ("samples", "hypotheses", "vc_dimension", "dimension", "points", "votes"):
            with pytest.raises(InputError, match=rf"^{parameter} must be .*; received 2.5$"):
                function(**{**good, parameter: 2.5})


def test_one_of_two_ways_to_give_a_class():
    for inputs in ({}, {"hypotheses": 3, "log_hypotheses": 1.0}):
        with pytest.raises(InputError, match="hypotheses or log_hypotheses must be given, but not both"):
            batch.occam_error(10, 0.1, **inputs)


def test_more_examples_than_floats_can_count():
    """There the size is that of the formula, which is not rounded to the smallest that will do."""
    sizes = {
        "progressive": ({"gap": 1e-10, "delta": 0.05, "loss_range": 3.0}, 2 * math.log(20) * 9e20),
        "hoeffding": ({"deviation": 1e-10, "delta": 0.05}, math.log(20) / 2 * 1e20),
        "occam": ({"error": 1e-20, "delta": 0.05, "hypotheses": 7}, (math.log(7) + math.log(20)) * 1e20),
    }
    for name, (inputs, expected) in sizes.items():
        assert aw.bounds.sample_size(name, **inputs) == pytest.approx(expected, rel=1e-12)
