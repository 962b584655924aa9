"""What expert algorithms take, and what they refuse before anything changes."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import afterwit as aw
from afterwit import losses
from afterwit.data.values import same_value
from afterwit.errors import AfterwitError, InputError
from expert_cases import CASES, PLAIN, SLEEPY

nan, inf = math.nan, math.inf
by_algorithm = pytest.mark.parametrize("case", PLAIN, ids=str)


def refused(learner, method, *arguments, match="must be", kind=InputError):
    """The call raises one sentence that says what is wrong, and the state is the same to the bit."""
    before, experts, said = learner.state(), learner.experts, repr(learner)
    with pytest.raises(kind, match=match) as caught:
        getattr(learner, method)(*arguments)
    assert "\n" not in str(caught.value)
    assert same_value(learner.state(), before)
    assert learner.experts == experts
    assert repr(learner) == said
    return str(caught.value)


def learned(case, n=3, rounds=12):
    learner = case.make(n)
    learner.learn_many(*case.rounds(np.random.default_rng(1), rounds, n))
    return learner


# ---------------------------------------------------------------------- the same rounds in every form


ADVICE = np.array([[0.0, 1.0, 0.5], [1.0, nan, 0.25], [nan, nan, 1.0], [0.5, 0.5, 0.0], [1.0, 0.0, 1.0]])
OUTCOMES = [1.0, 0.0, 1.0, 0.0, 1.0]
NAMES = ["a", "b", "c"]


def expected(kind=aw.BOA, advice=ADVICE, **options):
    learner = kind(NAMES, **options)
    forecasts = learner.learn_many(advice, OUTCOMES)
    return learner, forecasts.tolist()


def dicts(missing):
    rows = []
    for row in ADVICE.tolist():
        named = dict(zip(NAMES, row, strict=True))
        if missing == "absent":
            rows.append({name: value for name, value in named.items() if value == value})
        else:
            rows.append({name: missing if value != value else value for name, value in named.items()})
    return rows


@pytest.mark.parametrize("kind", [aw.BOA, aw.SleepingExperts, aw.ExponentialWeights])
def test_advice_in_every_form(kind):
    learner, forecasts = expected(kind, np.where(ADVICE == 0.25, 0.0, ADVICE) if kind is aw.SleepingExperts else ADVICE)
    advice = np.where(ADVICE == 0.25, 0.0, ADVICE) if kind is aw.SleepingExperts else ADVICE
    lists = [[None if value != value else value for value in row] for row in advice.tolist()]
    masked = np.ma.masked_array(np.nan_to_num(advice), np.isnan(advice))
    forms = [
        advice.tolist(),
        lists,
        tuple(map(tuple, lists)),
        masked,
        np.asfortranarray(advice),
        advice[:, ::-1][:, ::-1],
        advice.astype(object),
        [dict(zip(NAMES, row, strict=True)) for row in lists],
    ]
    for form in forms:
        other = kind(NAMES)
        assert other.learn_many(form, OUTCOMES).tolist() == forecasts
        assert other == learner
        one_by_one = kind(NAMES)
        assert [one_by_one.learn_one(row, y) for row, y in zip(form, OUTCOMES, strict=True)] == forecasts
        assert one_by_one == learner
    read_only = advice.copy()
    read_only.setflags(write=False)
    other = kind(NAMES)
    other.learn_many(read_only, OUTCOMES)
    assert other == learner
    assert np.array_equal(read_only, advice, equal_nan=True)


def test_whole_numbers_and_booleans_are_numbers():
    learner = aw.WeightedMajority(2)
    for form in ([[0, 1]], [[False, True]], np.array([[0, 1]], dtype=np.uint8), np.array([[0, 1]], dtype=np.float32)):
        learner.learn_many(form, [1])
        learner.learn_one(form[0], np.int8(1))
        learner.learn_one(form[0], True)
        learner.learn_one(form[0], np.True_)
        learner.learn_one(form[0], Fraction(1))
    assert learner.expert_losses.tolist() == [20.0, 0.0]


@pytest.mark.parametrize("missing", ["absent", None, nan])
def test_dicts_in_which_experts_sleep(missing):
    learner, forecasts = expected()
    other = aw.BOA(NAMES)
    assert other.learn_many(dicts(missing), OUTCOMES).tolist() == forecasts
    assert other == learner
    assert other.awake_rounds.tolist() == [4, 3, 5]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    module = pytest.importorskip(library)
    learner, forecasts = expected()

    def frame(names):
        columns = {name: [None if v != v else v for v in ADVICE[:, NAMES.index(name)].tolist()] for name in names}
        return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)

    series = {"pandas": "Series", "polars": "Series", "pyarrow": "array"}[library]
    outcomes = getattr(module, series)(OUTCOMES)
    fresh = aw.BOA(3)
    assert fresh.learn_many(frame(NAMES), outcomes).tolist() == forecasts
    assert fresh.experts == ("a", "b", "c")
    assert np.array_equal(fresh.weights, learner.weights)
    # Columns in another order are the same experts.
    named = aw.BOA(NAMES)
    assert named.learn_many(frame(["c", "a", "b"]), outcomes).tolist() == forecasts
    assert named == learner
    # The order of a first frame is the order of the experts.
    turned = aw.BOA(3)
    turned.learn_many(frame(["c", "a", "b"]), outcomes)
    assert turned.experts == ("c", "a", "b")
    assert np.allclose(turned.weights, learner.weights[[2, 0, 1]])
    # A missing column sleeps.
    without = aw.BOA(NAMES)
    without.learn_many(frame(["c", "a"]), outcomes)
    assert without.awake_rounds.tolist() == [4, 0, 5]
    assert not (library == "pandas" and math.isnan(without.predict_many(frame(["a", "c"]))[0]))
    refused(named, "learn_many", frame(NAMES).rename({"a": "x"}) if library == "polars" else [{"x": 1.0}], [1.0])
    if library == "pandas":
        refused(named, "learn_many", module.DataFrame({"a": ["1"], "b": ["2"]}), [1.0], match="a column of numbers")
        twice = module.DataFrame([[1.0, 2.0]], columns=["a", "a"])
        refused(named, "learn_many", twice, [1.0], match="different names")
        assert named.learn_one(module.Series({"c": 1.0, "a": 0.0}), 1.0) == learner.learn_one([0.0, nan, 1.0], 1.0)


@by_algorithm
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dicts", "array"])
def test_the_wrong_number_of_columns_is_refused(case, library):
    """Two columns for three experts: the third is not asleep but forgotten, and nobody knows who it is."""
    columns = {"a": [0.0, 1.0], "b": [1.0, 0.0], "c": [1.0, 1.0], "d": [0.0, 0.0]}

    def advice(names):
        if library == "array":
            return np.array([columns[name] for name in names]).T
        if library == "dicts":
            return [{name: columns[name][i] for name in names} for i in range(2)]
        module = pytest.importorskip(library)
        kept = {name: columns[name] for name in names}
        return module.table(kept) if library == "pyarrow" else module.DataFrame(kept)

    what = r"advice must be (from at most 3 experts|a DataFrame with 3 columns|two-dimensional with 3 columns)"
    # A dict names only those that are awake.
    for names in ("abcd",) if library == "dicts" else ("ab", "abcd"):
        learner = case.make(3)
        refused(learner, "learn_many", advice(names), [1.0, 0.0], match=what)
        refused(learner, "predict_many", advice(names), match=what)


def test_names_are_learned_as_they_come():
    learner = aw.BOA(3)
    learner.learn_one({"a": 0.0}, 1.0)
    assert learner.experts == ("a", None, None)
    learner.learn_one({"b": 0.0, "a": 1.0}, 1.0)
    assert learner.experts == ("a", "b", None)
    refused(
        learner, "learn_many", [{"c": 1.0}, {"d": 1.0}], [1.0, 1.0], match="at most 3 experts; received advice from 4"
    )
    learner.learn_one({"c": 0.0}, 1.0)
    message = refused(learner, "learn_one", {"a": 1.0, "zoo": 1.0}, 1.0, match="from the 3 experts known")
    assert "zoo" in message
    by_position = aw.BOA(2)
    by_position.learn_one([0.0, 1.0], 1.0)
    refused(by_position, "learn_one", {"a": 1.0}, 1.0, match="names need a learner made with them")
    fresh = aw.BOA(2)
    fresh.predict_one({"a": 1.0, "b": 0.0})
    assert fresh.experts == (0, 1), "predicting names nobody"
    refused(fresh, "learn_many", [{"a": 1.0, "b": 0.0}, {"a": inf}], [1.0, 1.0])
    assert fresh.experts == (0, 1)
    assert aw.BOA([("a", 1), 2, None]).experts == (("a", 1), 2, None)
    assert aw.BOA(np.array(["x", "y"]).tolist()).experts == ("x", "y")


# ---------------------------------------------------------------------- bad rounds


@by_algorithm
def test_bad_rounds_leave_the_state_untouched(case):
    learner = learned(case)
    advice, outcomes = case.rounds(np.random.default_rng(2), 5, 3)
    for bad in (inf, -inf):
        spoiled = advice.copy()
        spoiled[3, 1] = bad
        for method in ("learn_many", "predict_many"):
            arguments = (spoiled, outcomes) if method == "learn_many" else (spoiled,)
            assert "advice[3, 1]" in refused(learner, method, *arguments, match="finite number or missing")
        refused(learner, "learn_one", spoiled[3], outcomes[3], match=re.escape("advice[1] must be a finite number"))
    for bad in (inf, nan, -inf):
        refused(learner, "learn_many", advice, [*outcomes[:-1], bad], match=re.escape("outcomes[4] must be a finite"))
        refused(learner, "learn_one", advice[0], bad, match="outcome must be a finite number")
    for bad in ("1", None, [1.0], 1j, 10**400, np.str_("1"), np.datetime64("2020-01-01"), np.complex128(1)):
        refused(learner, "learn_one", advice[0], bad, match="outcome must be a finite number")
    for bad in (
        None,
        "abc",
        3.0,
        [["a"] * 3] * 5,
        np.full((5, 3), "a"),
        advice[:, :2],
        advice[0],
        advice[None],
        {"a": 1},
    ):
        refused(learner, "learn_many", bad, outcomes, match="advice must be")
        refused(learner, "predict_many", bad, match="advice must be")
    for bad in (None, "abc", 3.0, ["a"] * 3, advice[0, :2], advice, [10**400] * 3, iter([1, 2, 3])):
        refused(learner, "learn_one", bad, 1.0, match="advice must be")
        refused(learner, "predict_one", bad, match="advice must be")
    for bad in (outcomes[:-1], np.column_stack([outcomes, outcomes]), "abc", None, 1.0, ["a"] * 5):
        refused(learner, "learn_many", advice, bad, match="outcomes must be")
    if learner.takes_losses:
        for bad in (inf, -inf):
            refused(
                learner, "observe", [bad, 0.5, 0.5], match=re.escape("losses[0] must be a finite number or missing")
            )
        refused(learner, "observe_many", advice[:, :2], match="losses must be")
        refused(learner, "observe", "abc", match="losses must be")


@by_algorithm
def test_no_rounds_no_change(case):
    learner = learned(case)
    before = learner.state()
    for empty in ([], np.empty((0, 3)), ()):
        assert learner.learn_many(empty, []).tolist() == []
        assert learner.predict_many(empty).tolist() == []
    assert same_value(learner.state(), before)


@pytest.mark.parametrize("case", [case for case in PLAIN if not case.sleeping], ids=str)
def test_algorithms_without_sleepers_say_so(case):
    learner = learned(case)
    said = f"{case.name} does not support sleeping experts"
    assert "advice[1] is missing" in refused(learner, "learn_one", [1.0, nan, 0.0], 1.0, match=said)
    assert "advice[1, 0] is missing" in refused(
        learner, "learn_many", [[1.0] * 3, [None, 1.0, 0.0]], [1, 1], match=said
    )
    refused(learner, "predict_one", [1.0, nan, 0.0], match=said)
    if learner.takes_losses:
        refused(learner, "observe", [1.0, nan, 0.0], match=said)


@pytest.mark.parametrize("case", SLEEPY, ids=str)
def test_rounds_in_which_all_sleep_are_refused(case):
    learner = learned(case)
    advice, outcomes = case.rounds(np.random.default_rng(3), 5, 3)
    advice[3] = nan
    refused(learner, "learn_many", advice, outcomes, match="at least one expert in every round; received none in row 3")
    refused(learner, "learn_one", advice[3], outcomes[3], match="all sleep")
    refused(learner, "predict_one", [None] * 3, match="all sleep")
    refused(case.make(3), "learn_one", {}, outcomes[3], match="all sleep")
    if learner.takes_losses:
        refused(learner, "observe_many", advice, match="losses must be from at least one expert")


@pytest.mark.parametrize("name", ["AdaHedge", "BOA", "MLpol", "PolynomialWeights"])
def test_losses_are_their_own_tangent(name):
    losses = np.random.default_rng(8).random((60, 3))
    losses[10:20, 1] = np.nan
    follows, plain = (getattr(aw, name)(3, gradient=gradient) for gradient in (True, False))
    np.testing.assert_allclose(follows.observe_many(losses), plain.observe_many(losses), rtol=1e-9)
    np.testing.assert_allclose(follows.weights, plain.weights, rtol=1e-9)
    np.testing.assert_allclose(follows.regrets, plain.regrets, rtol=1e-9, atol=1e-12)
    assert follows.certificate().bound == pytest.approx(plain.certificate().bound)


def test_slopes_and_losses_may_take_turns():
    learner = aw.MLpol(2)
    for t in range(20):
        learner.observe([0.0, 1.0 + t % 3])
        learner.learn_one([1.0, 0.0], 0.5)
    assert learner.rounds == 40
    assert learner.certificate().verdict == "holds"
    assert learner.regret <= learner.certificate().bound


@pytest.mark.parametrize("name", ["BOA", "MLpol", "PolynomialWeights"])
def test_the_loss_of_the_forecast_has_to_be_in_the_range_as_well(name):
    learner = getattr(aw, name)(2, gradient=False, loss_range=(0.5, 4))
    message = refused(learner, "learn_one", [0.0, 2.0], 1.0, match="within loss_range")
    assert message.startswith("the loss of the forecast")
    aw.ExponentialWeights(2, loss_range=(0.5, 4)).learn_one([0.0, 2.0], 1.0)


def test_an_expert_that_never_spoke_is_not_the_best():
    learner = aw.MLpol(["a", "b", "mute"])
    for t in range(10):
        learner.learn_one({"a": 1.0, "b": -1.0}, 0.1 * (-1) ** t)
    assert learner.regret < 0
    assert learner.best_expert in ("a", "b")
    assert "mute" not in str(learner.certificate())
    rules = aw.SleepingExperts(["a", "b", "mute"])
    for _ in range(10):
        rules.learn_one({"a": 1, "b": 1}, 0)
    assert rules.certificate().observed == 10
    bandit = aw.Exp3(2)
    bandit.receive(0.5)
    assert bandit.best_expert is None


def test_names_from_any_sequence():
    import pandas as pd

    for names in (np.array(["a", "b"]), pd.Index(["a", "b"]), ("a", "b"), dict.fromkeys("ab")):
        assert aw.MLpol(names).experts == ("a", "b")


def test_who_stops_a_run_inside_a_loss_stops_it():
    def stopped(forecast, outcome):
        raise KeyboardInterrupt

    learner = aw.AdaHedge(2, loss=aw.losses.function(stopped))
    with pytest.raises(KeyboardInterrupt):
        learner.learn_one([1.0, 2.0], 1.0)
    assert learner.rounds == 0


RANGED = [
    aw.ExponentialWeights(NAMES, loss_range=(0, 1)),
    aw.RandomizedWeightedMajority(NAMES, beta=0.5, loss="absolute"),
    aw.SecondOrderWeights(NAMES, beta=0.5, loss="square"),
    aw.SleepingExperts(NAMES, loss="absolute"),
    aw.FixedShare(NAMES, share=0.1, rate=1.0, shifts=2),
    aw.PolynomialWeights(NAMES, loss_range=(0, 1)),
    aw.BOA(NAMES, gradient=False, loss_range=(0, 1)),
    aw.MLpol(NAMES, gradient=False, loss_range=(0, 1)),
    aw.Exp3(NAMES, loss="absolute"),
    aw.SwapRegret(aw.ExponentialWeights(NAMES), loss="absolute"),
]


@pytest.mark.parametrize("ready", RANGED, ids=lambda learner: type(learner).__name__)
def test_a_loss_outside_its_range_takes_the_whole_block_back(ready):
    for rounds in (0, 7):
        learner = ready.copy()
        learner.observe_many(np.random.default_rng(4).random((rounds, 3)))
        advice = np.random.default_rng(5).random((6, 3))
        advice[4, 2] = 3.0
        message = refused(learner, "learn_many", advice, np.zeros(6), match="within loss_range")
        assert "the loss of expert 'c' in row 4" in message
        assert "(0, 1)" in message
        frames = [dict(zip("cab", row, strict=True)) for row in advice[:, [2, 0, 1]]]
        assert "'c' in row 4" in refused(learner, "learn_many", frames, np.zeros(6), match="within loss_range")
        assert "expert 'c' must" in refused(learner, "learn_one", advice[4], 0.0, match="within loss_range")
        losses = np.random.default_rng(6).random((6, 3))
        losses[5, 0] = -0.1
        assert "'a' in row 5" in refused(learner, "observe_many", losses, match="within loss_range")
        # What is outside by rounding alone is inside.
        learner.observe([1 + 1e-12, -1e-12, 0.5])


def test_a_slope_outside_its_range_is_refused():
    learner = aw.BOA(NAMES, loss_range=(-1, 1))
    learner.learn_one([0.5, 0.5, 0.6], 0.5)
    message = refused(learner, "learn_many", [[0.0, 0.0, 0.0], [0.0, 9.0, 0.0]], [0.0, 0.0], match="within loss_range")
    assert message.startswith("slope * (advice - forecast) of expert 'a' in row 1")
    learner = aw.ExponentialWeights(2, gradient=True, loss_range=(-1, 1))
    refused(learner, "observe", [0.0, 3.0], match="within loss_range")
    refused(aw.WeightedMajority(2), "observe", [0.0, 1.0], match="losses alone are not enough")
    refused(aw.WeightedMajority(2), "observe_many", [[0.0, 1.0]], match="losses alone are not enough")


def test_exp3_refuses_a_loss_outside_its_range():
    learner = aw.Exp3(2)
    for bad in (1.5, -0.5, nan, inf, "1", None, 1j):
        refused(learner, "receive", bad, match="loss must be a number within loss_range")


# ---------------------------------------------------------------------- losses


PAIRS = [(0.2, 1.0), (1.0, 0.2), (0.5, 0.5), (0.9, 1.0), (0.3, 0.0)]


@pytest.mark.parametrize(
    "name", ["square", "absolute", "percentage", "pinball(0.3)", "pinball(0.9)", "log", "zero-one"]
)
def test_losses_and_their_slopes(name):
    import naive_experts as naive

    loss = losses.get(name)
    assert losses.get(loss) is loss
    assert losses.get(str(loss)) == loss
    pairs = [(f, y) for f, y in PAIRS if not (name == "percentage" and y == 0)]
    if name == "log":
        pairs = [(f, y) for f in (0.2, 0.5, 0.999) for y in (0.0, 1.0)]
    forecasts, outcomes = map(np.array, zip(*pairs, strict=True))
    assert np.allclose(loss.values(forecasts, outcomes), [naive.loss_of(name, f, y) for f, y in pairs], rtol=1e-12)
    assert math.isnan(loss.values([nan], [1.0])[0])
    assert loss.convex is (name != "zero-one") is loss.has_slope
    if name == "zero-one":
        with pytest.raises(InputError, match="has no slope"):
            loss.slopes(forecasts, outcomes)
        return
    slopes = loss.slopes(forecasts, outcomes)
    assert np.allclose(slopes, [naive.slope_of(name, f, y) for f, y in pairs], rtol=1e-12)
    step = 1e-6
    for (f, y), slope in zip(pairs, slopes, strict=True):
        if f != y:
            rise = (loss.values([f + step], [y]) - loss.values([f - step], [y]))[0] / (2 * step)
            assert math.isclose(rise, slope, rel_tol=1e-5)


def test_outcomes_and_forecasts_a_loss_is_not_defined_for():
    log = aw.MLpol(2, loss="log")
    for advice in ([0.0, 0.5], [0.5, 1.0], [-0.1, 0.5], [0.5, 1.1]):
        refused(log, "learn_one", advice, 1, match="strictly between 0 and 1, because the loss is log")
        refused(log, "predict_one", advice, match="strictly between 0 and 1, because the loss is log")
        refused(log, "learn_many", [[0.5, 0.5], advice], [1, 1], match=re.escape("advice[1, "))
    refused(log, "learn_one", [0.5, 0.5], 0.5, match="outcome must be 0 or 1, because the loss is log")
    refused(log, "learn_many", [[0.5, 0.5]] * 2, [1, 2], match=re.escape("outcomes[1] must be 0 or 1"))
    percentage = aw.BOA(2, loss="percentage")
    refused(percentage, "learn_one", [0.5, 0.5], 0.0, match="outcome must be not 0")
    refused(percentage, "learn_many", [[0.5, 0.5]] * 2, [1, 0], match=re.escape("outcomes[1] must be not 0"))
    percentage.learn_one([0.5, 0.5], -2.0)
    assert percentage.loss == 1.25


def test_losses_of_ones_own():
    own = losses.function(lambda f, y: abs(f - y) ** 3, lambda f, y: 3 * (f - y) * abs(f - y))
    advice, outcomes = np.random.default_rng(7).random((20, 3)), np.random.default_rng(8).random(20)
    learner = aw.BOA(3, loss=own)
    learner.learn_many(advice, outcomes)
    assert np.allclose(learner.expert_losses, (np.abs(advice - outcomes[:, None]) ** 3).sum(axis=0))
    assert learner.gradient is True
    assert any("is convex in the forecast, and the gradient given" in str(a) for a in learner.certificate().assumptions)
    plain = aw.BOA(3, loss=lambda f, y: (f - y) ** 2)
    plain.learn_many(advice, outcomes)
    same = aw.BOA(3, gradient=False)
    same.learn_many(advice, outcomes)
    assert np.allclose(plain.weights, same.weights)
    assert plain.gradient is False
    drawing = aw.BOA(3, loss=losses.function(lambda f, y: float(f != y), convex=False), seed=3)
    assert set(drawing.learn_many(advice, outcomes)) <= set(advice.ravel())
    # Slopes say nothing about losses that are not convex, even where they are given.
    bent = losses.function(lambda f, y: abs(f - y) ** 0.5, lambda f, y: np.sign(f - y), convex=False)
    assert aw.BOA(3, loss=bent).gradient is False
    with pytest.raises(InputError, match="gradient must be False for a loss that has no gradient or is not convex"):
        aw.BOA(3, loss=bent, gradient=True)


class OddError(Exception):
    pass


@pytest.mark.parametrize("rounds", [1, 4])
def test_losses_of_ones_own_that_fail(rounds):
    def raising(f, y):
        if f > 0.9:
            raise OddError("no such forecast")
        return (f - y) ** 2

    advice = np.full((rounds, 2), 0.5)
    advice[-1, 1] = 0.95
    for options in ({}, {"gradient": lambda f, y: 2 * (f - y)}):
        learner = aw.BOA(2, loss=losses.function(raising, **options))
        learner.learn_one([0.1, 0.2], 0.3)
        refused(learner, "learn_many", advice, np.ones(rounds), match="no such forecast", kind=OddError)
        learner.learn_many(np.full((rounds, 2), 0.5), np.ones(rounds))
    for value in (nan, inf, -inf, 1e151):
        learner = aw.BOA(2, loss=lambda f, y, value=value: value if f > 0.9 else (f - y) ** 2)
        learner.learn_one([0.1, 0.2], 0.3)
        refused(learner, "learn_many", advice, np.ones(rounds), match="the loss of expert 1.* must be a finite number")
    for value in (None, "abc", [1.0, 2.0], 1j):
        learner = aw.BOA(2, loss=lambda f, y, value=value: value if f > 0.9 else (f - y) ** 2)
        learner.learn_one([0.1, 0.2], 0.3)
        refused(learner, "learn_many", advice, np.ones(rounds), match=None, kind=(TypeError, ValueError))
    steep = losses.function(lambda f, y: (f - y) ** 2, lambda f, y: nan)
    refused(aw.BOA(2, loss=steep), "learn_many", advice, np.ones(rounds), match="must be a finite number")
    # The forecast's own loss fails where no expert's does.
    hole = aw.BOA(2, loss=lambda f, y: nan if f == 0.5 else 1.0)
    refused(hole, "learn_one", [0.25, 0.75], 1.0, match="the loss of the forecast must be a finite number")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: losses.get("cubic"), "loss must be 'square', .*; received 'cubic'"),
        (lambda: losses.get("pinball(2)"), "quantile must be a number between 0 and 1|loss must be pinball"),
        (lambda: losses.get("pinball(x)"), "loss must be pinball"),
        (lambda: losses.get("pinball"), "loss must be"),
        (lambda: losses.get(3), "loss must be"),
        (lambda: losses.get(int), "loss must be"),
        (lambda: losses.pinball(0), "quantile must be a number between 0 and 1; received 0"),
        (lambda: losses.pinball(True), "quantile must be"),
        (lambda: losses.pinball("0.5"), "quantile must be"),
        (lambda: losses.function(3), "loss must be a function"),
        (lambda: losses.function(abs, 3), "gradient must be a function"),
        (lambda: losses.function(abs, convex=1), "convex must be True or False"),
    ],
)
def test_bad_losses(call, match):
    with pytest.raises(InputError, match=match):
        call()


# ---------------------------------------------------------------------- options


BAD = {
    "n_experts": [0, -1, 1.5, "abc", b"a", None, True, [], ["a", "a"], [["a"]], {}, 2 + 0j],
    "loss": ["cubic", 3, None, "pinball(1)", int],
    "gradient": [1, "yes", 0],
    "loss_range": [
        (1, 0),
        (0, 0),
        (0,),
        (0, 1, 2),
        3,
        "ab",
        (0, inf),
        (nan, 1),
        (0, 10**400),
        (None, 1),
        (0, 5e-324),
        (0, 9e-151),
        (0, 1e150),
    ],
    "seed": [-1, 1.5, "a", None, True, 2**62],
    "rate": [0, -1, inf, nan, "a", True, 10**400],
    "horizon": [0, -1, 1.5, "a", True],
    "schedule": ["fixed", "linear", 3],
    "power": [1, 1.99, 0, "a", nan, inf, 10**400, True],
    "epsilon": [0, -1, inf, nan, "a", True, None],
    "share": [0, 1, -0.1, 1.1, nan, "a", True, 10**400],
    "shifts": [-1, 1.5, "a", True],
    "base": [None, 3, "x", aw.WeightedMajority(2), aw.Exp3(2), aw.Perceptron(), aw.BOA],
}
MADE = {
    "WeightedMajority": {"n_experts": 3, "beta": 0.5},
    "RandomizedWeightedMajority": {"n_experts": 3, "beta": 0.5},
    "SecondOrderWeights": {"n_experts": 3, "beta": 0.5},
    "FixedShare": {"n_experts": 3, "share": 0.1, "rate": 1.0},
    "SwapRegret": {"base": aw.ExponentialWeights(3)},
}
BETAS = {
    "WeightedMajority": [1, -0.1, 1.5, nan, "a", True, None, 10**400],
    "RandomizedWeightedMajority": [0, 1, -0.1, nan, "a", True, 10**400],
    "SecondOrderWeights": [0, 1, 0.49, nan, "a", True, 10**400],
}


def options():
    for name in aw.EXPERT_ALGORITHMS:
        for parameter in getattr(aw, name).__signature__.parameters:
            for bad in BETAS[name] if parameter == "beta" else BAD[parameter]:
                yield pytest.param(name, parameter, bad, id=f"{name}-{parameter}-{str(bad)[:20]}")


@pytest.mark.parametrize(("name", "parameter", "bad"), list(options()))
def test_bad_options_one_by_one(name, parameter, bad):
    made = {**MADE.get(name, {"n_experts": 3}), parameter: bad}
    if parameter == "horizon":
        made = {"n_experts": 3, "horizon": bad, **({"shifts": 1} if name == "FixedShare" else {})}
    with pytest.raises(InputError, match=r"^[^;]* must be .*; received .*") as caught:
        getattr(aw, name)(**made)
    said = str(caught.value)
    assert "\n" not in said
    named, _, rest = said.partition(" must be ")
    assert parameter in named or (parameter == "loss" and named == "quantile"), said
    received = rest.partition("; received ")[2]
    assert received
    assert repr(bad)[:15].strip("'") in received or "learned" in received, said


def test_options_that_do_not_go_together():
    for call, match in (
        (
            lambda: aw.ExponentialWeights(2, rate=1.0, horizon=5),
            "at most one of rate, horizon and schedule must be given",
        ),
        (lambda: aw.ExponentialWeights(2, rate=1.0, schedule="doubling"), "at most one of rate, horizon and"),
        (lambda: aw.ExponentialWeights(2, loss="log", horizon=5), "loss_range must be declared"),
        (lambda: aw.ExponentialWeights(2, loss="zero-one", gradient=True), "gradient must be False"),
        (lambda: aw.BOA(2, loss=lambda f, y: 0.0, gradient=True), "gradient must be False"),
        (lambda: aw.BOA(2, gradient=True, loss_range=(1, 2)), "a range around 0"),
        (lambda: aw.SecondOrderWeights(2), "beta or horizon must be given, but not both"),
        (lambda: aw.SecondOrderWeights(2, beta=0.5, horizon=4), "beta or horizon must be given, but not both"),
        (lambda: aw.RandomizedWeightedMajority(2), "beta or horizon must be given, but not both"),
        (lambda: aw.Exp3(2, rate=1.0, horizon=5), "at most one of rate and horizon must be given"),
        (lambda: aw.FixedShare(2), "share and rate, or horizon and shifts"),
        (lambda: aw.FixedShare(2, share=0.1), "share and rate, or horizon and shifts"),
        (lambda: aw.FixedShare(2, horizon=10), "share and rate, or horizon and shifts"),
        (lambda: aw.FixedShare(2, horizon=10, shifts=9), "shifts must be from 1 to 8"),
        (lambda: aw.FixedShare(2, horizon=10, shifts=0), "shifts must be from 1 to 8"),
        (lambda: aw.SwapRegret(aw.ExponentialWeights(2, loss_range=(0, 2))), "base must be a fresh expert algorithm"),
        (
            lambda: aw.SwapRegret(aw.ExponentialWeights(2, gradient=True, rate=1.0)),
            "base must be a fresh expert algorithm",
        ),
    ):
        with pytest.raises(InputError, match=match):
            call()
    used = aw.ExponentialWeights(2)
    used.observe([0.0, 1.0])
    with pytest.raises(InputError, match="received one that has learned 1 round"):
        aw.SwapRegret(used)


@by_algorithm
def test_unknown_options_are_python_errors(case):
    with pytest.raises(TypeError):
        type(case.make(2))(2, nonsense=1)
    with pytest.raises(AfterwitError, match="new_params must be some of"):
        case.make(2).clone({"nonsense": 1})


@pytest.mark.parametrize("case", CASES, ids=str)
def test_options_can_be_read_by_name(case):
    learner = case.make(3)
    for name, value in learner.parameters.items():
        assert same_value(getattr(learner, name), value) or name == "loss", name
    for name, value in case.options.items():
        if name != "loss_range":
            assert learner.parameters[name] == value
