"""Every closed formula against the same formula written out, at its limits, and in its direction."""

import inspect
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_bounds
from afterwit import bounds
from afterwit.bounds import BOUNDS, SAMPLE_SIZES, conversion, experts, games, mistakes
from afterwit.errors import InputError

positive = st.floats(0.05, 20)
not_negative = st.one_of(st.just(0.0), st.floats(0, 50))
share = st.floats(0.01, 1)
counts = st.integers(1, 300)

#: Something allowed for every input, by its name.
INPUTS = {
    **dict.fromkeys(
        ("samples", "rounds", "rows", "features", "experts", "row_actions", "column_actions", "hypothesis"), counts
    ),
    **dict.fromkeys(("assets", "portfolios"), counts),
    **dict.fromkeys(
        ("radius", "rho", "diameter", "gradient", "rate", "gap", "payoff", "cost", "loss_range", "b"), positive
    ),
    **dict.fromkeys(("penalty", "largest_target"), positive),
    **dict.fromkeys(("norm", "hinge_loss", "loss", "best_loss", "squared_losses", "expert_mistakes"), not_negative),
    "weighted": not_negative,
    **dict.fromkeys(("squared_ranges", "largest_range", "largest_loss"), not_negative),
    **dict.fromkeys(("best_gain", "mean_loss", "mean_hinge", "kernel_sum", "regret"), not_negative),
    **dict.fromkeys(("log_hypotheses", "log_experts", "log_assets"), st.floats(0, 30)),
    **dict.fromkeys(("updates", "support_vectors", "mistakes", "mistake", "best_mistakes"), st.integers(0, 60)),
    "miss": st.floats(0.01, 0.99),
    **dict.fromkeys(("growth", "delays"), not_negative),
    **dict.fromkeys(("literals", "vc_dimension", "switches", "tuned", "length", "delay"), st.integers(0, 20)),
    **dict.fromkeys(("error", "deviation", "epsilon", "exploration"), st.floats(0.02, 1)),
    "points": st.integers(0, 300),
    "bits": st.floats(1, 30),
    "ratio": st.floats(0.02, 1),
    "longest_step": st.floats(1e-3, 1e3),
    "margin": share,
    "delta": st.floats(1e-9, 0.999),
    "beta": st.floats(0.5, 0.99),
    "alpha": st.floats(0.01, 0.99),
    "share": st.floats(0.01, 0.99),
    "gamma": st.floats(0.02, 0.49),
    "power": st.floats(2, 10),
    "votes": st.sampled_from([1, 3, 5, 9]),
}


def adjusted(name, given_inputs):
    """What has to fit together: margins and radii, rates and margins."""
    made = dict(given_inputs)
    if {"radius", "margin"} <= set(made):
        made["margin"] *= made["radius"]
    if name == "winnow-rate":
        made["rate"] *= made["margin"] / made["radius"] ** 2 / 10.1
    if name == "winnow-hinge" and made["norm"] < 1e-9:
        made["norm"] = 0.0  # below that the rate would be no number
    elif name == "winnow-hinge":
        made["rate"] *= 1 / (10.1 * made["radius"] ** 2 * made["norm"])
    if name.startswith("fixed-share"):
        made["switches"] = min(made["switches"], made["rounds"] - 1)
    if name == "strongly-adaptive":
        made["length"] = min(max(made["length"], 1), made["rounds"])
    if name == "winnow-disjunction":
        made["literals"] = min(made["literals"], made["features"])
    if name == "polynomial-tuned":
        made["log_experts"] += 1
    return made


def inputs_of(entry):
    named = st.fixed_dictionaries({each.name: INPUTS[each.name] for each in entry.inputs})
    return named.map(lambda given_inputs: adjusted(entry.id, given_inputs))


def test_every_formula_is_written_out_in_the_oracle():
    assert set(BOUNDS) == set(naive_bounds.BOUNDS)
    assert set(SAMPLE_SIZES) == {*naive_bounds.SAMPLE_SIZES, "vc", "vc-uniform"}


@pytest.mark.parametrize("name", list(BOUNDS))
def test_the_bound_is_the_printed_formula(name):
    entry = BOUNDS[name]

    @settings(max_examples=25)
    @given(inputs_of(entry))
    def agrees(inputs):
        assert entry(**inputs) == pytest.approx(naive_bounds.BOUNDS[name](**inputs), rel=1e-9, abs=1e-12)

    agrees()


@pytest.mark.parametrize("name", list(naive_bounds.SAMPLE_SIZES))
def test_the_sample_size_is_the_printed_formula_rounded_up(name):
    entry = SAMPLE_SIZES[name]

    @settings(max_examples=25)
    @given(inputs_of(entry))
    def agrees(inputs):
        exact = naive_bounds.SAMPLE_SIZES[name](**inputs)
        size = entry(**inputs)
        assert type(size) is int
        assert exact * (1 - 1e-12) <= size < max(exact * (1 + 1e-12), 0.0) + 1 or size == 1 >= exact

    agrees()


#: What grows (+1) and falls (-1) with an input, unless said otherwise below.
DIRECTIONS = {
    **dict.fromkeys(("delta", "margin", "rho", "gamma", "gap"), -1),
    **dict.fromkeys(("radius", "norm", "hinge_loss", "loss", "best_loss", "best_mistakes", "bits", "features"), 1),
    **dict.fromkeys(
        (
            "log_experts",
            "log_assets",
            "assets",
            "portfolios",
            "log_hypotheses",
            "experts",
            "vc_dimension",
            "mistakes",
            "mistake",
            "votes",
        ),
        1,
    ),
    **dict.fromkeys(("loss_range", "mean_loss", "mean_hinge", "regret", "kernel_sum", "updates", "gradient"), 1),
    **dict.fromkeys(
        ("support_vectors", "row_actions", "column_actions", "squared_losses", "literals", "points", "hypothesis"), 1
    ),
    **dict.fromkeys(
        ("diameter", "payoff", "cost", "delay", "delays", "switches", "length", "expert_mistakes", "best_gain"), 1
    ),
    **dict.fromkeys(("squared_ranges", "largest_range", "largest_loss", "largest_target", "growth"), 1),
    "weighted": 1,
    **dict.fromkeys(("error", "deviation", "rows", "alpha", "ratio"), -1),
}
FREE = {"rate", "penalty", "beta", "epsilon", "power", "share", "exploration", "b", "longest_step", "tuned", "miss"}
FALLS_WITH_ROUNDS = {"distance from the coverage", "mean risk", "risk", "risk - inf risk", "duality gap"}


def direction(entry, name):
    if name == "rounds":
        falls = (entry.formula_quantity or entry.quantity) in FALLS_WITH_ROUNDS or entry.id in (
            "boosting",
            "kernel-perceptron-margin",
        )
        return -1 if falls else 1
    if name == "samples":
        return 1 if entry.id.startswith("boosting") else -1
    if entry.id == "fixed-share" and name == "switches":
        return 0
    return 0 if name in FREE else DIRECTIONS[name]


@pytest.mark.parametrize(("kind", "name"), [("bound", n) for n in BOUNDS] + [("size", n) for n in SAMPLE_SIZES])
def test_the_bound_moves_the_right_way(kind, name):
    entry = (BOUNDS if kind == "bound" else SAMPLE_SIZES)[name]

    @settings(max_examples=10)
    @given(inputs_of(entry), st.data())
    def moves(inputs, data):
        each = data.draw(st.sampled_from(entry.inputs))
        sign = direction(entry, each.name)
        value = inputs[each.name]
        more = value + 2 if each.range.whole else value * 1.01
        try:
            before, after = entry(**inputs), entry(**{**inputs, each.name: more})
        except InputError:
            return  # no longer allowed together
        assert sign * (after - before) >= -1e-9 * abs(before)

    moves()


def test_alternatives_give_the_same():
    assert bounds.bound("occam", samples=100, hypotheses=1000, delta=0.1) == pytest.approx(
        bounds.bound("occam", samples=100, log_hypotheses=math.log(1000), delta=0.1)
    )
    for entry, inputs in (
        ("exponential-weights-tuned", {"rounds": 100}),
        ("sleeping", {"expert_mistakes": 3, "epsilon": 0.5}),
    ):
        assert bounds.bound(entry, experts=50, **inputs) == bounds.bound(entry, log_experts=math.log(50), **inputs)
    assert bounds.sample_size("vc", error=0.1, delta=0.1, dimension=4) == bounds.sample_size(
        "vc", error=0.1, delta=0.1, vc_dimension=5
    )
    # Far beyond what a float holds.
    assert bounds.bound("halving", hypotheses=2**5000) == pytest.approx(5000)
    assert bounds.bound("exponential-weights-tuned", rounds=2, experts=10**400) == pytest.approx(
        math.sqrt(400 * math.log(10))
    )


@given(st.floats(0.01, 1), st.integers(1, 50), st.integers(1, 1000))
def test_the_tuned_rate_is_the_best_of_all(rate, n, T):
    tuned = experts.exponential_weights_tuned(T, experts=n)
    assert tuned <= experts.exponential_weights(T, rate, experts=n) * (1 + 1e-12)
    if n > 1:
        best = math.sqrt(8 * math.log(n) / T)
        assert tuned == pytest.approx(experts.exponential_weights(T, best, experts=n))
        swap = math.sqrt(8 * n * math.log(n) / T)
        assert experts.swap_regret_tuned(T, n) == pytest.approx(experts.swap_regret(T, swap, n))
    assert tuned <= experts.exponential_weights_decreasing(T, experts=n)
    assert tuned <= experts.exponential_weights_doubling(T, experts=n)
    assert experts.swap_regret_tuned(T, n) >= tuned * (1 - 1e-12)


def test_no_switch_and_no_share_is_exponential_weights():
    assert experts.fixed_share(100, 0, 0.3, 0.0, experts=7) == experts.exponential_weights(100, 0.3, experts=7)
    assert experts.fixed_share(5, 2, 0.3, 0.0, experts=7) == math.inf
    assert experts.fixed_share(5, 4, 0.3, 1.0, experts=7) < math.inf


def test_a_gap_beyond_all_numbers_is_refused():
    with pytest.raises(InputError, match="error must be large enough for the sample size to be a number"):
        conversion.large_gap_sample_size(10**300, 1e-300, 0.5)


def test_weighted_majority_with_beta_zero_is_halving():
    assert experts.weighted_majority(0, 0.0, experts=1000) == pytest.approx(mistakes.halving(hypotheses=1000))
    assert experts.weighted_majority(1, 0.0, experts=1000) == math.inf


def test_formulas_broadcast():
    table = experts.exponential_weights([[10], [100]], rate=[0.1, 0.5, 1.0], experts=4)
    assert table.shape == (2, 3)
    for i, T in enumerate((10, 100)):
        for j, rate in enumerate((0.1, 0.5, 1.0)):
            assert table[i, j] == experts.exponential_weights(T, rate, experts=4)
    assert conversion.random_stopping_sample_size([1, 10], 0.1).tolist() == [10, 100]
    assert games.boosting_rounds([1, 1000], 0.1).tolist() == [1, 346]
    assert isinstance(games.boosting(10, 0.1, 5), float)


@given(st.integers(1, 2000), st.floats(0.02, 0.49))
def test_after_so_many_rounds_of_boosting_no_mistake_is_left(n, gamma):
    T = games.boosting_rounds(n, gamma)
    assert games.boosting(n, gamma, T) < 1
    assert T == 1 or games.boosting(n, gamma, T - 1) >= 1 - 1e-9


@given(st.integers(0, 60), st.floats(0.02, 1), st.floats(1e-6, 0.99))
def test_the_large_gap_procedure_has_halted_by_then(M, error, delta):
    longest = naive_bounds.halting_time(M, error, delta)
    size = conversion.large_gap_sample_size(M, error, delta)
    assert longest <= size <= longest + M + 2
    assert longest == sum(conversion.large_gap(i, error, delta) for i in range(M + 1))


@pytest.mark.parametrize(("kind", "name"), [("bound", n) for n in BOUNDS] + [("size", n) for n in SAMPLE_SIZES])
def test_every_input_is_checked_and_named(kind, name):
    entry = (BOUNDS if kind == "bound" else SAMPLE_SIZES)[name]
    good = {each.name: 1 if each.range.whole else 0.5 for each in entry.inputs}
    special = {
        "power": 3.0,
        "bits": 3.0,
        "log_experts": 3.0,
        "margin": 0.1,
        "gamma": 0.1,
        "rounds": 3,
        "vc_dimension": 2,
    }
    good.update({key: value for key, value in special.items() if key in good})
    entry(**good)
    refused = 0
    for each in entry.inputs:
        for bad in ("three", math.nan, math.inf, -1, True, [1, 2], 1j):
            with pytest.raises(InputError, match=rf"^{each.name}\b.* must be "):
                entry(**{**good, each.name: bad})
            refused += 1
        left_out = {key: value for key, value in good.items() if key != each.name}
        if each.default is None:
            with pytest.raises(InputError, match=rf"{each.name}.* must be given for {name}: .*received nothing$"):
                entry(**left_out)
        else:
            assert entry(**left_out) == entry(**{**good, each.name: each.default})
        if each.alternative is not None:
            with pytest.raises(InputError, match=f"{each.name} or {each.alternative.name} must be given, but not both"):
                entry(**{**good, each.alternative.name: 3})
            for bad in (0, -3, 2.5, "x", True):
                with pytest.raises(InputError, match=rf"^{each.alternative.name} must be "):
                    entry(**{**left_out, each.alternative.name: bad})
    assert refused == 7 * len(entry.inputs)
    with pytest.raises(InputError, match=f"an input of {name} must be .*; received 'temperature'"):
        entry(**good, temperature=3)


@pytest.mark.parametrize("module", [mistakes, experts, conversion, games])
def test_the_formulas_themselves_refuse_bad_numbers(module):
    assert module.__all__
    for name in module.__all__:
        function = getattr(module, name)
        for parameter in inspect.signature(function).parameters:
            others = {
                key: (0.5 if key in ("beta", "delta", "alpha", "error", "epsilon", "exploration", "share") else 3)
                for key, value in inspect.signature(function).parameters.items()
                if value.default is inspect.Parameter.empty and key != parameter
            }
            others.update({key: value for key, value in (("gamma", 0.1), ("switches", 1)) if key in others})
            if "experts" in inspect.signature(function).parameters and parameter not in ("experts", "log_experts"):
                others["experts"] = 5
            for bad in (math.nan, -1, "x", [3, -1]):
                with pytest.raises(InputError, match=parameter):
                    function(**others, **{parameter: bad})


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("perceptron", {"radius": 1, "margin": 2}, "margin must be at most the radius, 1; received 2.0"),
        (
            "winnow-rate",
            {"features": 5, "radius": 1, "margin": 0.1, "rate": 0.2},
            r"rate must be below 2 rho / r\^2 = 0.2",
        ),
        (
            "winnow-hinge",
            {"features": 5, "radius": 1, "norm": 2, "hinge_loss": 0, "rate": 1},
            r"rate must be below 2 / \(",
        ),
        ("second-order-alpha", {"experts": 5, "rounds": 1, "beta": 0.2, "alpha": 1}, "beta must be at least alpha / 2"),
        ("polynomial-tuned", {"experts": 2, "rounds": 1}, "experts must be at least 3"),
        ("fixed-share", {"experts": 5, "rounds": 3, "switches": 3, "share": 0.1, "rate": 1}, "switches must be fewer"),
        ("winnow-disjunction", {"features": 3, "literals": 5}, "literals must be at most as many as features"),
        ("majority-vc", {"vc_dimension": 2, "votes": 4}, "votes must be an odd whole number"),
        ("majority-vc", {"vc_dimension": 2**39, "votes": 5}, "their product is at most 2.40"),
    ],
)
def test_inputs_have_to_fit_together(name, inputs, message):
    with pytest.raises(InputError, match=message):
        bounds.bound(name, **inputs)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(InputError, match=r"no theorem .percetron. among the .* did you mean perceptron or"):
        bounds.bound("percetron", radius=1, margin=1)
    with pytest.raises(InputError, match="did you mean exponential-weights"):
        bounds.bound("Exponential_Weights", rounds=1)
    with pytest.raises(InputError, match="--list shows all names"):
        bounds.sample_size("zzzz")
    with pytest.raises(InputError, match="no theorem 3"):
        bounds.find(3)


@pytest.mark.parametrize(("kind", "name"), [("bound", n) for n in BOUNDS] + [("size", n) for n in SAMPLE_SIZES])
def test_the_formula_with_numbers_in_it_computes_to_the_result(kind, name):
    """What is printed is evaluated, as it stands, by Python; formulas that are solved for n only at the result."""
    entry = (BOUNDS if kind == "bound" else SAMPLE_SIZES)[name]
    good = {each.name: 3 if each.range.whole else 0.5 for each in entry.inputs}
    special = {"power": 3.0, "bits": 3.0, "log_experts": 3.0, "margin": 0.25, "gamma": 0.25, "switches": 1}
    good.update({key: value for key, value in special.items() if key in good})
    found = entry.evaluate(**good)
    assert found.bound is found.theorem is entry
    assert "{" not in found.substituted
    for each in entry.inputs:
        assert f"{each.symbol} = " in str(found)
    text = found.substituted.replace("^", "**").replace("(3 + 2)!", "factorial(3 + 2)")
    text = re.sub(r"sum\(C\((.+?), i\), i=0\.\.([\d.]+)\)", r"growth(\1, \2)", text).replace("2n", f"2 * {found.value}")
    if "max(m :" in text:
        return
    known = {"ln": math.log, "growth": naive_bounds.growth, "min": min, "max": max, **vars(math)}
    value = eval(text, {"__builtins__": {}}, known)
    if kind == "bound" and name != "boosting-rounds":
        assert value == pytest.approx(found.value, rel=1e-5)
    else:
        assert value <= found.value * (1 + 1e-5)
        assert found.value < value + 2


def test_what_is_shown_is_immutable_and_says_everything():
    found = bounds.evaluate("occam", samples=10, hypotheses=10**30, delta=0.05)
    assert found.vacuous
    assert "says nothing" in str(found)
    assert "ln(1.00000e+30)" in str(found)
    with pytest.raises(TypeError):
        found.inputs["samples"] = 3
    with pytest.raises(AttributeError):
        found.value = 3
    assert not bounds.evaluate("occam", samples=1000, hypotheses=10, delta=0.05).vacuous


def test_learners_theorems_are_the_same_functions():
    """The registry repeats no formula of a learner: its entries are the learners' theorems."""
    from afterwit.linear.perceptron import EuclideanHingeBound, HingeBound, RootHingeBound

    assert type(BOUNDS["perceptron-hinge"]) is HingeBound
    assert type(BOUNDS["perceptron-hinge-sharper"]) is RootHingeBound
    assert type(BOUNDS["perceptron-update-hinge-euclidean"]) is EuclideanHingeBound
    assert np.isfinite(bounds.bound("perceptron", radius=1e200, margin=1e199))
