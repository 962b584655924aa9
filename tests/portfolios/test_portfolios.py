"""Portfolio algorithms beside slow oracles, their theorems against adversaries, costs, certificates, bad input."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
import naive_portfolios as naive
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError, ModelFileError
from afterwit.portfolios._portfolio import kept_after_trading

MAKERS = {
    "rate": lambda n, **more: aw.ExponentiatedGradientPortfolio(n, rate=0.3, **more),
    "horizon": lambda n, **more: aw.ExponentiatedGradientPortfolio(n, horizon=40, ratio=0.1, **more),
    "adaptive": aw.ExponentiatedGradientPortfolio,
    "universal": aw.UniversalPortfolio,
    "sampled": lambda n, **more: aw.UniversalPortfolio(n, samples=20, seed=3, **more),
}
by_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def market(rounds, n, seed=0, wild=0.2):
    return np.exp(np.random.default_rng(seed).normal(0, wild, (rounds, n)))


def every(certificate):
    return (certificate, *certificate.others)


# ---------------------------------------------------------------------- beside the oracles


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("rate", [1e-3, 0.5, 8.0])
def test_exponentiated_gradient_is_that_of_the_book(n, rate):
    X = market(40, n)
    learner = aw.ExponentiatedGradientPortfolio(n, rate=rate)
    held = learner.learn_many(X)
    assert np.allclose(held, naive.exponentiated_gradient(X.tolist(), rate), rtol=1e-9, atol=1e-12)
    assert math.isclose(learner.log_wealth, naive.log_of(naive.wealth(held, X)), abs_tol=1e-12)


def test_slopes_of_many_rounds_do_not_overflow():
    X = market(400, 3)
    held = aw.ExponentiatedGradientPortfolio(3, rate=8.0).learn_many(X)
    assert np.allclose(held, naive.exponentiated_gradient(X.tolist(), 8.0), rtol=1e-8, atol=1e-12)


def test_the_bounds_of_adapted_rates_are_those_of_the_ranges():
    X = market(30, 3, seed=6)
    learner = aw.ExponentiatedGradientPortfolio(3)
    held = learner.learn_many(X).tolist()
    slopes = [(max(x) - min(x)) / sum(map(math.prod, zip(p, x, strict=True))) for p, x in zip(held, X, strict=True)]
    for made, ranges in zip(every(learner.certificate()), (naive.spreads(X.tolist()), slopes), strict=True):
        bound = math.sqrt(math.log(3) * sum(s * s for s in ranges)) + max(ranges) * (4 / 3 * math.log(3) + 2)
        assert math.isclose(made.bound, bound, rel_tol=1e-9)
    assert [made.theorem.foreseeable for made in every(learner.certificate())] == [True, False]


def test_the_rate_for_a_horizon():
    X = market(50, 3)
    learner = aw.ExponentiatedGradientPortfolio(3, horizon=50, ratio=0.2)
    rate = math.sqrt(8 * math.log(3) / 50) / 4
    assert np.allclose(learner.learn_many(X), naive.exponentiated_gradient(X.tolist(), rate), rtol=1e-9)
    tuned = aw.bounds.bound("exponentiated-gradient-portfolio-tuned", assets=3, rounds=50, ratio=0.2)
    assert math.isclose(learner.certificate().bound, tuned)
    assert learner.certificate().theorem.beforehand


@pytest.mark.parametrize("n", [1, 2, 4])
def test_without_options_the_rates_are_those_of_adahedge(n):
    X = market(40, n, seed=2)
    held = aw.ExponentiatedGradientPortfolio(n).learn_many(X)
    assert np.allclose(held, naive.adaptive(X.tolist()), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_universal_portfolio_of_two_is_exact(unit):
    X = market(60, 2, wild=1.0) * unit
    learner = aw.UniversalPortfolio(2)
    held = learner.learn_many(X)
    wanted, wealth = naive.universal_of_two(X.tolist())
    assert np.allclose(held, np.array(wanted, dtype=float), rtol=1e-11)
    assert math.isclose(learner.log_wealth, naive.log_of(wealth), rel_tol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_wealth_of_a_sampled_universal_portfolio_is_the_mean_of_its_portfolios(n):
    X = market(30, n, wild=1.0)
    learner = aw.UniversalPortfolio(n, samples=7, seed=5)
    held = learner.learn_many(X)
    wanted, wealth, _ = naive.universal_of(learner.portfolios.tolist(), X.tolist())
    assert np.allclose(held, np.array(wanted, dtype=float), rtol=1e-10)
    assert math.isclose(learner.log_wealth, naive.log_of(wealth), abs_tol=1e-12)
    assert np.array_equal(learner.portfolios[:n], np.eye(n))
    assert np.allclose(learner.portfolios.sum(axis=1), 1)
    assert len(learner.portfolios) == n + 7


def test_samples_are_uniform_among_all_portfolios():
    """The first share of a uniform portfolio of three assets is below s with probability 1 - (1 - s)^2."""
    shares = np.sort(aw.UniversalPortfolio(3, samples=4000).portfolios[3:, 0])
    assert np.abs(1 - (1 - shares) ** 2 - np.arange(4000) / 4000).max() < 0.03
    other = aw.UniversalPortfolio(3, samples=4000, seed=1).portfolios
    assert not np.array_equal(other[3:, 0], aw.UniversalPortfolio(3, samples=4000).portfolios[3:, 0])


def test_where_the_leader_changes_after_a_long_time_the_exact_mean_remembers():
    """Masses of portfolios that would underflow as numbers are kept as logarithms."""
    X = [[2.0, 1.0]] * 3000 + [[1.0, 2.0]] * 3000
    learner = aw.UniversalPortfolio(2)
    learner.learn_many(X)
    best = aw.hindsight.best_constant_rebalancing(X)
    assert best.log_wealth - learner.log_wealth <= math.log(6001)
    assert math.isclose(best.log_wealth, 6000 * math.log(1.5))
    assert abs(learner.predict_one()[0] - 0.5) < 1e-3


# ---------------------------------------------------------------------- rounds


@by_maker
def test_many_rounds_are_the_loop_of_single_ones(make):
    X = market(30, 2)
    whole, single, parts = (make(2, cost=0.01) for _ in range(3))
    held = whole.learn_many(X)
    for row, portfolio in zip(X, held, strict=True):
        foreseen = single.predict_one()
        assert np.array_equal(foreseen, single.learn_one(row))
        assert np.array_equal(foreseen, portfolio)
    parts.learn_many(X[:11])
    parts = pickle.loads(pickle.dumps(parts))
    parts.learn_many(X[11:])
    assert whole == single == parts == whole.copy()
    assert (held >= 0).all()
    assert np.allclose(held.sum(axis=1), 1)


@by_maker
def test_saved_and_loaded(make, tmp_path):
    learner = make(["gold", "oil"], cost=0.1)
    learner.learn_many([{"oil": 1.5, "gold": 0.9}, {"gold": 1.1, "oil": 1.0}])
    aw.save(learner, tmp_path / "model")
    loaded = aw.load(tmp_path / "model")
    assert loaded == learner
    assert loaded.assets == ("gold", "oil")
    assert np.array_equal(loaded.learn_one({"gold": 2.0, "oil": 1.0}), learner.learn_one({"gold": 2.0, "oil": 1.0}))
    fresh = loaded.clone()
    assert fresh.rounds == 0
    assert repr(fresh).startswith(type(learner).__name__)
    (tmp_path / "model").write_bytes((tmp_path / "model").read_bytes()[:-40])
    with pytest.raises(ModelFileError):
        aw.load(tmp_path / "model")


@by_maker
def test_no_round_and_one_asset(make):
    empty = make(2)
    assert empty.learn_many(np.zeros((0, 2))).shape == (0, 2)
    assert empty.wealth == 1.0
    assert empty.certificate().verdict is Verdict.HOLDS
    assert empty.certificate(np.zeros((0, 2))).verdict is Verdict.HOLDS
    alone = make(1)
    alone.learn_many([[2.0], [0.5], [3.0]])
    assert math.isclose(alone.wealth, 3.0)
    for made in every(alone.certificate([[2.0], [0.5], [3.0]])):
        assert made.verdict is Verdict.HOLDS
        assert abs(made.observed) < 1e-12


def test_columns_are_known_by_name():
    frame = pd.DataFrame({"oil": [1.1, 0.9], "gold": [1.0, 1.2]})
    one, two = aw.UniversalPortfolio(["gold", "oil"]), aw.UniversalPortfolio(2)
    one.learn_many(frame)
    two.learn_many(pl.from_pandas(frame))
    assert one.assets == ("gold", "oil")
    assert two.assets == ("oil", "gold")
    assert np.allclose(one.weights, two.weights[::-1])
    assert one.best_asset == "gold"
    assert one.certificate(frame).verdict is Verdict.HOLDS


def test_wealth_beyond_all_numbers_is_infinite_and_its_logarithm_is_not():
    learner = aw.UniversalPortfolio(2)
    learner.learn_many(np.full((40, 2), 1e30))
    assert learner.wealth == math.inf
    assert math.isclose(learner.log_wealth, 1200 * math.log(10))
    assert "infinity" in str(learner.certificate())


# ---------------------------------------------------------------------- costs


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=5).filter(
        lambda pairs: sum(a for a, _ in pairs) > 0 and sum(b for _, b in pairs) > 0
    ),
    st.sampled_from([0.0, 1e-9, 0.001, 0.25, 0.5, 0.999]),
)
def test_what_trading_leaves_is_that_of_the_equation(pairs, cost):
    held = np.array([a for a, _ in pairs], dtype=float)
    target = np.array([b for _, b in pairs], dtype=float)
    held, target = held / held.sum(), target / target.sum()
    left = kept_after_trading(held, target, cost)
    exact = naive.left_after_trading(
        [Fraction(a, sum(x for x, _ in pairs)) for a, _ in pairs],
        [Fraction(b, sum(y for _, y in pairs)) for _, b in pairs],
        cost,
    )
    assert math.isclose(left, float(exact), rel_tol=1e-12)
    assert math.isclose(left + cost * np.abs(left * target - held).sum(), 1.0, rel_tol=1e-12)


@by_maker
@pytest.mark.parametrize("cost", [1e-6, 0.01, 0.3, 0.9])
def test_wealth_after_costs_is_accounted_to_the_last_trade(make, cost):
    X = market(25, 2, seed=4)
    learner, free = make(2, cost=cost), make(2)
    held = learner.learn_many(X)
    assert np.array_equal(held, free.learn_many(X)), "what is held does not depend on costs"
    assert math.isclose(learner.log_wealth, naive.log_of(naive.wealth_after_costs(held, X, cost)), rel_tol=1e-11)
    assert learner.log_wealth_before_costs == free.log_wealth
    assert learner.log_wealth < free.log_wealth
    made = learner.certificate(X)
    assert made.observed == free.certificate(X).observed, "the theorem is about wealth before costs"
    assert "before costs, and" in made.hindsight.description
    assert any("before costs" in each.statement for each in made.assumptions)


def test_who_trades_nothing_pays_for_the_first_purchase_alone():
    learner = aw.ExponentiatedGradientPortfolio(3, rate=0.4, cost=0.02)
    learner.learn_many(np.full((20, 3), 1.1))
    assert math.isclose(learner.log_wealth, 20 * math.log(1.1) - math.log(1.02), rel_tol=1e-12)
    assert np.allclose(learner.held, 1 / 3)


# ---------------------------------------------------------------------- theorems


def contrary(learner, rounds, n, crash=0.5):
    """What is held most falls, and the others do not."""
    rows = []
    for _ in range(rounds):
        row = np.where(np.arange(n) == np.argmax(learner.predict_one()), crash, 1.0)
        learner.learn_one(row)
        rows.append(row.tolist())
    return rows


@by_maker
@pytest.mark.parametrize("n", [2, 3])
def test_bounds_hold_against_every_portfolio_of_a_grid(make, n):
    for seed in range(3):
        learner = make(n)
        rows = market(12, n, seed).clip(0.5, 2).tolist()  # used before it is opposed
        learner.learn_many(rows)
        rows += contrary(learner, 28, n)
        best = max(naive.log_of(naive.constant(b, rows)) for b in naive.simplex(n, 6))
        for made in every(learner.certificate(rows)):
            assert made.verdict is Verdict.HOLDS
            if made.theorem.name != "bound on the best of the sampled portfolios":
                assert best - learner.log_wealth <= made.bound
                assert made.hindsight.value >= best - 1e-9
                assert made.hindsight.gap < 1e-6


def test_the_bound_of_the_universal_portfolio_is_attained():
    """One asset is worth nothing: b has b^T of the wealth of the other, and the mean 1/(T + 1) of it."""
    for rounds in (1, 5, 30):
        X = np.tile([1.0, 1e-50], (rounds, 1))
        learner = aw.UniversalPortfolio(2)
        learner.learn_many(X)
        made = learner.certificate(X)
        assert math.isclose(made.observed, made.bound, rel_tol=1e-12)
        assert math.isclose(made.bound, math.log(rounds + 1))
        assert made.verdict is Verdict.HOLDS


def test_the_bound_of_sampled_portfolios_is_attained():
    X = np.tile([1.0, 1e-50, 1e-50], (200, 1))
    learner = aw.UniversalPortfolio(3, samples=5)
    learner.learn_many(X)
    made = learner.certificate()
    assert math.isclose(made.observed, math.log(8), rel_tol=1e-12)
    assert made.bound == math.log(8)
    assert made.verdict is Verdict.HOLDS


def test_a_ratio_that_is_promised_is_enforced():
    learner = aw.ExponentiatedGradientPortfolio(2, horizon=10, ratio=0.5)
    learner.learn_one([1.0, 0.6])
    before = learner.state()
    message = (
        r"the least of relatives\[1\] must be at least ratio = 0.5 times the largest of the round; received 0.4 times"
    )
    with pytest.raises(InputError, match=message):
        learner.learn_many([[1.0, 1.0], [1.0, 0.4]])
    assert str(learner.state()) == str(before)


def test_a_bound_that_no_run_could_break_says_so():
    learner = aw.ExponentiatedGradientPortfolio(2)
    learner.learn_many([[1.0, 1.001]] * 3)
    assert learner.certificate().vacuous
    assert "would have added no more" in str(learner.certificate())
    long = aw.UniversalPortfolio(2)
    long.learn_many([[1.0, 2.0], [2.0, 1.0]] * 50)
    assert not long.certificate().vacuous


# ---------------------------------------------------------------------- certificates


@by_maker
def test_rounds_that_are_others_are_refused(make):
    X = market(20, 2).clip(0.5, 2)
    learner = make(2, cost=0.01)
    learner.learn_many(X)
    assert learner.certificate(X).verdict is Verdict.HOLDS
    for other, match in (
        (X[:-1], "the learner counts 20 rounds, these are 19"),
        (X[::-1], "would be different"),
        (X * [1.0, 1.0001], "would be different"),
    ):
        with pytest.raises(InputError, match=match):
            learner.certificate(other)


@by_maker
def test_a_state_that_was_changed_is_found(make):
    X = market(20, 2).clip(0.5, 2)
    learner = make(2, cost=0.01)
    learner.learn_many(X)
    state = learner.state()
    changed = {
        "log_growth": 1e-9,
        "log_kept": -1e-9,
        "log_spreads": 1e-9,
        "squared_spreads": 1e-7,
        "least_ratio": -1e-4,
    }
    for name, by in changed.items():
        learner.restore({**state, name: state[name] + by})
        with pytest.raises(InputError, match=f"its {name.replace('_', ' ')} would be different"):
            learner.certificate(X)
    for name in ("asset_logs", "portfolio_logs", "log_masses", "slopes"):
        if np.size(state.get(name, ())):
            learner.restore({**state, name: state[name] * 1.0001 + 1e-4})
            with pytest.raises(InputError, match=f"its {name.replace('_', ' ')} would be different"):
                learner.certificate(X)


@by_maker
def test_states_that_cannot_be_are_refused_and_change_nothing(make):
    learner = make(2)
    learner.learn_many(market(5, 2).clip(0.5, 2))
    before = learner.state()
    for name in before:
        for bad in (None, "x", -1, ["a"] * 3, np.ones(9), np.full(2, np.nan), True):
            with pytest.raises(InputError):
                learner.restore({**before, name: bad})
        with pytest.raises(InputError):
            learner.restore({key: value for key, value in before.items() if key != name})
    assert str(learner.state()) == str(before)


def test_the_three_numbers_are_printed():
    X = [{"cash": 1.0, "coin": 2.0}, {"cash": 1.0, "coin": 0.5}] * 20
    learner = aw.UniversalPortfolio(["cash", "coin"])
    learner.learn_many(X)
    printed = " ".join(str(learner.certificate(X)).split())
    assert "promised regret at most 3.714" in printed
    assert "log wealth 2.356 of the best constant rebalanced portfolio (cash 0.50, coin 0.50), wealth 10.55" in printed
    assert "ours was" in printed


# ---------------------------------------------------------------------- hindsight


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_best_constant_rebalancing_is_the_best(n, unit):
    for seed in range(4):
        X = market(15, n, seed, wild=0.5) * unit
        found = aw.hindsight.best_constant_rebalancing(X)
        assert math.isclose(found.log_wealth, naive.log_of(naive.constant(found.vector.tolist(), X)), rel_tol=1e-12)
        best = max(naive.log_of(naive.constant(b, X.tolist())) for b in naive.simplex(n, 12))
        assert best <= found.log_wealth + found.gap + 1e-12 * abs(best)
        assert found.gap <= 1e-8
        even = [Fraction(1, n)] * n
        assert math.isclose(found.uniform_rebalanced, naive.log_of(naive.constant(even, X.tolist())), rel_tol=1e-12)
        held = sum(naive.constant([i == j for j in range(n)], X.tolist()) for i in range(n)) / n
        assert math.isclose(found.uniform_held, naive.log_of(held), rel_tol=1e-12)
        assert found.uniform_held <= found.asset_log_wealths.max() + 1e-12


def test_hindsight_by_name_and_of_no_round():
    found = aw.hindsight.best_constant_rebalancing(pd.DataFrame({"a": [1.0, 1.0], "b": [2.0, 0.5]}))
    assert found.weights == {"a": pytest.approx(0.5), "b": pytest.approx(0.5)}
    assert found.best_asset == "a"
    assert math.isclose(found.wealth, 1.125)
    nothing = aw.hindsight.best_constant_rebalancing(np.ones((0, 3)))
    assert (nothing.log_wealth, nothing.gap, nothing.rounds) == (0.0, 0.0, 0)


# ---------------------------------------------------------------------- input


def test_relatives_of_prices():
    prices = [[100.0, 1e-3], [50.0, 2e-3], [75.0, 2e-3]]
    wanted = [[0.5, 2.0], [1.5, 1.0]]
    assert np.allclose(aw.portfolios.relatives(prices), wanted)
    frame = pd.DataFrame(prices, columns=["a", "b"])
    made = aw.portfolios.relatives(frame)
    assert isinstance(made, pd.DataFrame)
    assert list(made.columns) == ["a", "b"]
    assert np.allclose(made.to_numpy(), wanted)
    assert isinstance(aw.portfolios.relatives(pl.from_pandas(frame)), pl.DataFrame)
    dicts = aw.portfolios.relatives([{"b": 1.0, "a": 2.0}, {"a": 1.0, "b": 3.0}])
    assert dicts == [{"b": 3.0, "a": 0.5}]


@pytest.mark.parametrize(
    ("prices", "match"),
    [
        ([[1.0, 2.0]], "prices must be rows for at least two times; received 1 row"),
        ([[1.0], [0.0]], r"prices\[1, 0\] must be a number from 1e-150 to 1e\+150; received 0.0"),
        ([[1.0], [-3.0]], r"prices\[1, 0\] must be a number from"),
        ([[1.0], [None]], r"prices\[1, 0\] must be a number from"),
        ([[1.0], [math.inf]], r"prices\[1, 0\] must be a number from"),
        ([1.0, 2.0], "prices must be a 2-D array"),
        ([{"a": 1.0}, {"b": 2.0}], r"prices\[0, 'b'\] must be a number from"),
    ],
)
def test_prices_that_cannot_be(prices, match):
    with pytest.raises(InputError, match=match):
        aw.portfolios.relatives(prices)


@by_maker
def test_relatives_that_cannot_be_are_refused_with_the_remedy(make):
    learner = make(2)
    learner.learn_one([1.0, 1.1])
    before = str(learner.state())
    for bad in (0.0, -1.0, math.nan, math.inf, None, 1e60, 1e-60):
        with pytest.raises(
            InputError, match=r"relatives\[1\] must be a number from 1e-50 .*portfolios\.relatives makes them"
        ):
            learner.learn_one([1.0, bad])
        with pytest.raises(InputError, match=r"relatives\[1, 0\] must be a number from 1e-50"):
            learner.learn_many([[1.0, 1.0], [bad, 1.0]])
    for bad, match in (
        ([1.0], "relatives must be one number for each of the 2 assets"),
        ([1.0, 2.0, 3.0], "one number for each of the 2 assets"),
        ("ab", "relatives must be"),
        (7, "relatives must be"),
        ({"a": 1.0, "b": 2.0}, r"names need a learner made with them \(n_assets="),
    ):
        with pytest.raises(InputError, match=match):
            learner.learn_one(bad)
    with pytest.raises(InputError, match="two-dimensional with 2 columns, one for each asset"):
        learner.learn_many([[1.0, 2.0, 3.0]])
    assert str(learner.state()) == before


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: aw.UniversalPortfolio(0), "n_assets must be a whole number, at least 1, or a sequence"),
        (lambda: aw.UniversalPortfolio(["a", "a"]), "n_assets must be"),
        (lambda: aw.UniversalPortfolio(2, samples=0), "samples must be"),
        (lambda: aw.UniversalPortfolio(2, seed=-1), "seed must be"),
        (lambda: aw.UniversalPortfolio(2, cost=1.0), "cost must be a number, at least 0 and below 1; received 1.0"),
        (lambda: aw.UniversalPortfolio(2, cost=-0.1), "cost must be"),
        (lambda: aw.UniversalPortfolio(2, cost="a"), "cost must be"),
        (lambda: aw.ExponentiatedGradientPortfolio(2, rate=0), "rate must be a positive finite number"),
        (lambda: aw.ExponentiatedGradientPortfolio(2, ratio=1), "ratio must be a number between 0 and 1"),
        (lambda: aw.ExponentiatedGradientPortfolio(2, horizon=5), "a rate, horizon and ratio, or neither"),
        (lambda: aw.ExponentiatedGradientPortfolio(2, rate=1.0, horizon=5, ratio=0.5), "a rate, horizon and ratio"),
    ],
)
def test_options_that_cannot_be(make, match):
    with pytest.raises(InputError, match=match):
        make()


def test_an_unknown_option_is_a_python_error():
    with pytest.raises(TypeError):
        aw.UniversalPortfolio(2, fee=0.1)


def test_elsewhere_a_portfolio_is_refused_by_what_it_is(tmp_path, run_cli):
    learner = aw.UniversalPortfolio(2)
    with pytest.raises(InputError, match="learner must be one that takes rows of numbers"):
        aw.Model(aw.read([{"a": 1.0, "y": 1.0}], target="y").schema, learner)
    aw.save(learner, tmp_path / "model")
    (tmp_path / "rows.svm").write_text("1 1:2\n")
    result = run_cli("predict", str(tmp_path / "model"), str(tmp_path / "rows.svm"))
    assert result.returncode != 0
    assert "this UniversalPortfolio divides wealth among assets" in result.stderr
    assert "wealth 1" in run_cli("inspect", str(tmp_path / "model")).stdout
