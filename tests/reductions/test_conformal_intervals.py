"""Intervals around forecasters: the definition bit for bit, the theorems against adversaries, and all rounds or none."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_intervals as naive
from afterwit.core.certificate import Verdict
from afterwit.errors import DivergenceError, InputError
from afterwit.reductions.conformal_intervals import (
    AdaptiveCoverageBound,
    AdaptiveUncoveredBound,
    TrackingCoverageBound,
    TrackingUncoveredBound,
)

SCALES = (1e-12, 1e-6, 1.0, 1e6, 1e12)
METHODS = [
    {"rate": 0.25, "window": 5},
    {"rate": 0.01, "coverage": 0.5},
    {"method": "tracking", "rate": 0.25},
    {"method": "tracking", "rate": 0.01, "largest": 2.0, "coverage": 0.6},
]


def zero(x):
    """A forecaster that knows nothing: errors are the outcomes without their signs."""
    return 0.0


def first(x):
    return x[0]


def stream(seed=0, rounds=80, width=3):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, width))
    return X, X @ np.arange(1.0, width + 1) + random.standard_normal(rounds) * np.linspace(0.1, 2, rounds)


def advice(seed=0, rounds=60, experts=4):
    random = np.random.default_rng(seed)
    y = np.cumsum(random.standard_normal(rounds))
    return y[:, None] + random.standard_normal((rounds, experts)) * np.arange(1, experts + 1), y


def expected(learner, forecasts, outcomes):
    options = learner.parameters
    last = ("window", options["window"]) if options["method"] == "adaptive" else ("largest", options["largest"])
    play = getattr(naive, options["method"])
    return play(list(forecasts), list(outcomes), options["coverage"], options["rate"], last[1])


def all_of(certificate):
    return (certificate, *certificate.others)


# ---------------------------------------------------------------------- the definition

#: Errors of all sizes, with ties and zeros.
ERRORS = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-1e12, 1e12), st.sampled_from([1e-12, -1e-300, 0.1])),
    max_size=40,
)


@settings(max_examples=200)
@given(
    outcomes=ERRORS,
    method=st.sampled_from(["adaptive", "tracking"]),
    coverage=st.sampled_from([0.9, 0.5, 0.1, 0.999]),
    rate=st.sampled_from([1.0, 0.25, 0.01, 1e-9]),
    window=st.integers(1, 10),
    largest=st.sampled_from([None, 1.0, 1e-9, 1e9]),
)
@example([0.0] * 12, "adaptive", 0.5, 1.0, 3, None)
@example([0.0, 0.0, 2.0, 1.0, 0.0], "tracking", 0.5, 1.0, 3, None)
def test_every_interval_is_that_of_the_definition(outcomes, method, coverage, rate, window, largest):
    own = {"window": window} if method == "adaptive" else {"largest": largest}
    learner = aw.ConformalIntervals(zero, coverage, method, rate, **own)
    wanted = expected(learner, [0.0] * len(outcomes), outcomes)
    X = np.zeros((len(outcomes), 1))
    forecasts, intervals = learner.learn_intervals(X, outcomes)
    assert forecasts.tolist() == [0.0] * len(outcomes)
    assert intervals.tolist() == [[low, high] for low, high, _ in wanted]
    covered = [low <= y <= high for (low, high, _), y in zip(wanted, outcomes, strict=True)]
    finite = [high - low for low, high, _ in wanted if high - low < math.inf]
    assert (learner.covered, learner.infinite) == (sum(covered), len(wanted) - len(finite))
    assert learner.mean_width == pytest.approx(sum(finite) / len(finite) if finite else 0.0)
    if outcomes:
        assert learner.observed_coverage == sum(covered) / len(outcomes)
        certificate = learner.certificate(X, outcomes)
        assert certificate.verdict is Verdict.HOLDS
        assert certificate.observed == len(outcomes) - sum(covered)
        grown = naive.growth(map(abs, outcomes), largest) if method == "tracking" else 0
        bound = naive.uncovered_bound(method, coverage, rate, len(outcomes), grown)
        assert certificate.bound == pytest.approx(float(bound), rel=1e-12)
        assert certificate.hindsight.value == naive.narrowest_width([0.0] * len(outcomes), outcomes, sum(covered))
        by_counts = learner.certificate()
        assert (by_counts.verdict, by_counts.observed, by_counts.hindsight) == (
            Verdict.HOLDS,
            certificate.observed,
            None,
        )
        assert by_counts.bound == pytest.approx(certificate.bound, rel=1e-12)
        (beside,) = certificate.others
        if beside.verdict is not Verdict.NOT_APPLICABLE:
            bound = naive.distance_bound(method, coverage, rate, len(outcomes), grown)
            assert beside.bound == pytest.approx(float(bound), rel=1e-12)
            assert beside.observed == pytest.approx(abs(certificate.observed / len(outcomes) - (1 - coverage)))
            assert beside.verdict is Verdict.HOLDS
        else:
            missed = sum(gone for *_, gone in wanted)
            assert missed > certificate.observed or (method == "tracking" and outcomes[0] == 0)


@pytest.mark.parametrize("options", METHODS, ids=repr)
def test_the_forecaster_learns_as_it_would_alone(options):
    X, y = stream()
    learner, alone = aw.ConformalIntervals("online-ridge", **options), aw.OnlineRidge()
    forecasts, intervals = learner.learn_intervals(X, y)
    assert forecasts.tolist() == alone.learn_many(X, y).tolist()
    assert learner.point_forecaster == alone
    assert (learner.rounds, learner.updates, learner.features) == (80, 80, 3)
    assert learner.loss == learner.squared_errors == alone.squared_errors
    assert intervals.tolist() == [[low, high] for low, high, _ in expected(learner, forecasts, y)]
    assert learner.interval_one(X[0]) == (
        learner.predict_one(X[0]) - learner.radius,
        learner.predict_one(X[0]) + learner.radius,
    )
    assert learner.interval_many(X[:5]).tolist() == [list(learner.interval_one(x)) for x in X[:5]]


@pytest.mark.parametrize("options", METHODS, ids=repr)
@pytest.mark.parametrize(
    "forecaster",
    ["regression-committee", aw.AdaGradRegressor(loss="absolute"), first],
    ids=["committee", "adagrad", "function"],
)
def test_many_rounds_are_one_and_one_and_one(forecaster, options):
    X, y = stream(1)
    at_once, singly, parts = (aw.ConformalIntervals(forecaster, **options) for _ in range(3))
    forecasts, intervals = at_once.learn_intervals(X, y)
    for x, outcome, forecast, interval in zip(X, y, forecasts.tolist(), intervals.tolist(), strict=True):
        assert list(singly.interval_one(x)) == interval
        assert singly.predict_one(x) == singly.learn_one(x, outcome) == forecast
    assert singly == at_once
    for begin, end in ((0, 1), (1, 30), (30, 30), (30, 80)):
        assert parts.learn_many(X[begin:end], y[begin:end]).tolist() == forecasts[begin:end].tolist()
    assert parts == at_once
    named = aw.ConformalIntervals(forecaster, **options)
    if forecaster is not first:
        rows = [{f"f{i}": value for i, value in enumerate(x.tolist())} for x in X]
        assert named.learn_many(rows, y) == pytest.approx(forecasts)


# ---------------------------------------------------------------------- experts


@pytest.mark.parametrize("options", METHODS, ids=repr)
@pytest.mark.parametrize("make", [aw.MLpol, aw.BOA, aw.AdaHedge], ids=lambda kind: kind.__name__)
def test_around_an_expert_algorithm(make, options):
    values, y = advice()
    learner, alone, singly = (
        aw.ConformalIntervals(make(4), **options),
        make(4),
        aw.ConformalIntervals(make(4), **options),
    )
    forecasts, intervals = learner.learn_intervals(values, y)
    assert forecasts.tolist() == alone.learn_many(values, y).tolist()
    assert intervals.tolist() == [[low, high] for low, high, _ in expected(learner, forecasts, y)]
    for row, outcome, interval in zip(values, y, intervals.tolist(), strict=True):
        assert list(singly.interval_one(row)) == interval
        singly.learn_one(row, outcome)
    assert singly == learner
    assert learner.point_forecaster == alone
    assert (learner.role, learner.experts) == ("experts", (0, 1, 2, 3))
    assert learner.certificate(values, y).verdict is Verdict.HOLDS
    ahead = learner.interval_many(values[:3] + 1)
    assert ahead.mean(axis=1) == pytest.approx(learner.predict_many(values[:3] + 1))
    assert learner.rounds == 60


def test_experts_may_sleep_and_have_names():
    pandas = pytest.importorskip("pandas")
    values, y = advice(3)
    random = np.random.default_rng(0)
    values[random.random(values.shape) < 0.3] = np.nan
    values[:, 0] = np.where(np.isnan(values).all(axis=1), y, values[:, 0])
    frame = pandas.DataFrame(values, columns=list("abcd"))
    learner, alone = aw.ConformalIntervals(aw.MLpol(4)), aw.MLpol(4)
    forecasts, _ = learner.learn_intervals(frame[:40], y[:40])
    assert forecasts.tolist() == alone.learn_many(frame[:40], y[:40]).tolist()
    dicts = [{name: value for name, value in row.items() if value == value} for row in frame[40:].to_dict("records")]
    for row, outcome in zip(dicts, y[40:], strict=True):
        assert learner.learn_one(row, outcome) == alone.learn_one(row, outcome)
    assert learner.point_forecaster == alone
    assert learner.experts == ("a", "b", "c", "d")
    assert learner.certificate(frame, y).verdict is Verdict.HOLDS
    again = pickle.loads(pickle.dumps(learner))
    assert again == learner
    assert again.learn_one(dicts[0], 1.0) == learner.learn_one(dicts[0], 1.0)


def test_the_record_of_experts_has_the_intervals():
    values, y = advice()
    record = aw.experts.play(aw.ConformalIntervals(aw.MLpol(4)), values, y)
    alone, learner = aw.experts.play(aw.MLpol(4), values, y), aw.ConformalIntervals(aw.MLpol(4))
    _, intervals = learner.learn_intervals(values, y)
    assert record.intervals.tolist() == intervals.tolist()
    assert record.coverage == learner.observed_coverage
    assert record.forecasts.tolist() == alone.forecasts.tolist()
    assert record.shares.tolist() == alone.shares.tolist()
    assert (record.loss, record.regret) == (alone.loss, alone.regret)
    assert record.certificate.bound == alone.certificate.bound
    assert record.to_dict()["coverage"] == record.coverage
    assert str(record).splitlines()[-1] == f"  intervals covered {record.coverage:.2%} of the outcomes"
    assert math.isnan(alone.coverage)
    assert "coverage" not in alone.to_dict()
    with pytest.raises(InputError, match="an expert algorithm"):
        aw.experts.play(aw.ConformalIntervals(), values, y)
    with pytest.raises(InputError, match=r"experts\.play"):
        aw.play(learner, values, y)


def test_regressors_are_played_and_rows_without_a_target_are_not_learned():
    X, y = stream()
    pairs = [(x, None if t % 5 == 0 else target) for t, (x, target) in enumerate(zip(X, y.tolist(), strict=True))]
    learner = aw.ConformalIntervals("online-ridge")
    record = aw.play(learner, pairs)
    there = np.arange(80) % 5 != 0
    alone = aw.ConformalIntervals("online-ridge")
    alone.learn_many(X[there], y[there])
    assert learner == alone
    assert (record.unlabelled, record.rounds, record.rmse) == (16, 64, learner.rmse)
    assert record.certificate().verdict is Verdict.HOLDS
    played = aw.ConformalIntervals("online-ridge")
    assert aw.play(played, X[there], y[there]).certificate().bound == record.certificate().bound
    assert played == alone


# ---------------------------------------------------------------------- the theorems against adversaries


def outside(low, high, scale):
    """Just outside, wherever there is an outside."""
    return scale if math.isinf(high) else math.nextafter(high, math.inf)


def inside(low, high, scale):
    return (low + high) / 2 if math.isfinite(high) else scale / 3


def alternating(low, high, scale):
    return outside(low, high, scale) if math.isfinite(high) and high < scale else inside(low, high, scale)


def repeated(low, high, scale):
    """The same error again and again."""
    return scale


ADVERSARIES = [outside, inside, alternating, repeated]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("options", METHODS, ids=repr)
def test_no_adversary_breaks_a_theorem(options, adversary, scale):
    options = {**options, "largest": options["largest"] * scale} if "largest" in options else options
    learner, outcomes = aw.ConformalIntervals(zero, **options), []
    # A learner that has learned other rounds before.
    for outcome in (1.0, -2.0, 0.5):
        learner.learn_one([0.0], outcome * scale)
        outcomes.append(outcome * scale)
    for t in range(150):
        outcomes.append(adversary(*learner.interval_one([0.0]), scale))
        learner.learn_one([0.0], outcomes[-1])
        if t % 50 and t != 149:
            continue
        certificate = learner.certificate(np.zeros((len(outcomes), 1)), outcomes)
        for made in all_of(certificate):
            assert made.verdict is not Verdict.VIOLATED
            assert made.bound is None or made.observed <= made.bound
        assert certificate.verdict is Verdict.HOLDS
        method, grown = learner.method, 0
        if method == "tracking":
            grown = naive.growth(map(abs, outcomes), learner.largest)
        bound = naive.uncovered_bound(method, learner.coverage, learner.rate, len(outcomes), grown)
        assert learner.rounds - learner.covered <= bound
        assert certificate.bound == pytest.approx(float(bound), rel=1e-9)


@pytest.mark.parametrize("rate", [1.0, 0.25, 2.0**-6])
@pytest.mark.parametrize("coverage", [0.5, 0.75, 0.9375])
def test_the_bound_of_adaptive_intervals_is_attained(rate, coverage):
    """Outcomes that are outside wherever there is an outside: in dyadic numbers the whole part is met at every round."""
    learner, met = aw.ConformalIntervals(zero, coverage, rate=rate), 0
    learner.learn_one([0.0], 0.0)
    for t in range(2, 400):
        low, high = learner.interval_one([0.0])
        learner.learn_one([0.0], outside(low, high, 1.0))
        bound = naive.uncovered_bound("adaptive", coverage, rate, t)
        missed = t - learner.covered
        assert missed < bound
        met += missed == math.ceil(bound) - 1
    # It takes about 1/rate rounds to get there; in the first round everything was covered.
    assert met >= 400 - 10 - (1 - coverage) / rate / coverage


@pytest.mark.parametrize("rate", [1.0, 0.25, 2.0**-6])
@pytest.mark.parametrize("coverage", [0.5, 0.75, 0.9375])
@pytest.mark.parametrize("largest", [2.0**-40, 1.0, 2.0**40])
def test_the_bound_of_a_promise_that_is_kept_is_attained(rate, coverage, largest):
    learner = aw.ConformalIntervals(zero, coverage, "tracking", rate, largest=largest)
    for t in range(1, 200):
        learner.learn_one([0.0], largest)
        bound = naive.uncovered_bound("tracking", coverage, rate, t)
        assert t - learner.covered == math.ceil(bound) - 1
    certificate = learner.certificate(np.zeros((199, 1)), [largest] * 199)
    assert certificate.theorem.beforehand
    assert "[yes] no error is above" in certificate.details()
    assert certificate.bound == float(bound)


def test_a_promise_that_is_broken_is_not_called_a_promise():
    learner = aw.ConformalIntervals(zero, 0.5, "tracking", 0.5, largest=1.0)
    outcomes = [0.5, 4.0, 1.0, 8.0]
    learner.learn_many(np.zeros((4, 1)), outcomes)
    certificate = learner.certificate(np.zeros((4, 1)), outcomes)
    assert not certificate.theorem.beforehand
    assert certificate.inputs["R"] == 0.75 + 0.5
    assert certificate.bound == 2 + 1.25 / 0.5 + 0.5 * 2.25
    assert "computed afterwards" in str(certificate)
    assert "no error is above" not in certificate.details()


def test_always_exactly_right():
    """The forecast alone is shown where nothing is left, and it is right: more is covered than the bound from below."""
    for options in ({"rate": 0.5}, {"method": "tracking", "rate": 0.5}):
        learner = aw.ConformalIntervals(zero, 0.5, **options)
        _, intervals = learner.learn_intervals(np.zeros((50, 1)), np.zeros(50))
        assert learner.covered == 50
        assert intervals[1:].tolist() == [[0.0, 0.0]] * 49
        certificate = learner.certificate(np.zeros((50, 1)), np.zeros(50))
        assert (certificate.verdict, certificate.observed) == (Verdict.HOLDS, 0)
        (beside,) = certificate.others
        assert beside.verdict is Verdict.NOT_APPLICABLE
        assert "exactly right" in beside.why_not()[0]
        learner.learn_one([0.0], 1.0)
        assert learner.covered == 50


def test_a_bound_that_says_nothing_is_vacuous():
    learner = aw.ConformalIntervals(zero, rate=0.001)
    learner.learn_many(np.zeros((20, 1)), np.arange(20.0))
    certificate = learner.certificate()
    assert certificate.bound > 20
    assert certificate.vacuous
    assert certificate.others[0].vacuous
    learner = aw.ConformalIntervals(zero)
    learner.learn_many(np.zeros((100, 1)), np.arange(100.0))
    assert (learner.certificate().vacuous, learner.certificate().others[0].bound) == (False, pytest.approx(0.91))
    assert learner.certificate().others[0].vacuous
    empty = aw.ConformalIntervals(zero).certificate()
    assert (empty.verdict, empty.vacuous, empty.others) == (Verdict.HOLDS, True, ())


# ---------------------------------------------------------------------- units


@settings(max_examples=50)
@given(outcomes=ERRORS, power=st.integers(-30, 30), method=st.sampled_from(["adaptive", "tracking"]))
def test_units_do_not_matter(outcomes, power, method):
    """Outcomes in other units, by a power of two, make the same intervals in these units, bit for bit."""
    outcomes = [y if abs(y) > 1e-200 else 0.0 for y in outcomes]
    unit, X = 2.0**power, np.zeros((len(outcomes), 1))
    plain, scaled = (aw.ConformalIntervals(zero, method=method, rate=0.1) for _ in range(2))
    _, intervals = plain.learn_intervals(X, outcomes)
    _, others = scaled.learn_intervals(X, [y * unit for y in outcomes])
    assert others.tolist() == (intervals * unit).tolist()
    assert scaled.covered == plain.covered


# ---------------------------------------------------------------------- memory, copies


def test_memory_is_bounded():
    learner = aw.ConformalIntervals(zero, window=7)
    random = np.random.default_rng(0)
    for _ in range(3):
        learner.learn_many(np.zeros((100, 1)), random.standard_normal(100))
        assert learner.state()["errors"].shape == (7,)
    assert "errors" not in aw.ConformalIntervals(zero, method="tracking").state()


@pytest.mark.parametrize("options", METHODS, ids=repr)
@pytest.mark.parametrize("forecaster", ["online-ridge", aw.MLpol(3)], ids=repr)
def test_saved_in_the_middle(tmp_path, forecaster, options):
    X, y = stream()
    at_once, saved = (aw.ConformalIntervals(forecaster, **options) for _ in range(2))
    at_once.learn_many(X, y)
    for begin in range(0, 80, 20):
        saved.learn_many(X[begin : begin + 20], y[begin : begin + 20])
        aw.save(saved, tmp_path / "model")
        loaded = aw.load(tmp_path / "model")
        assert loaded == saved == saved.copy() == pickle.loads(pickle.dumps(saved))
        assert loaded.parameters["rate"] == saved.rate
        assert loaded.role == saved.role
        saved = loaded
    assert saved == at_once
    assert saved.clone().rounds == 0
    assert saved != aw.ConformalIntervals(forecaster, **options)


def test_the_command_line_predicts_with_a_saved_one(run_cli, tmp_path):
    values, y = advice()
    for experts in (["a", "b", "c", "d"], 4):
        learner = aw.ConformalIntervals(aw.MLpol(experts))
        learner.learn_many(values, y)
        aw.save(learner, tmp_path / "m")
        (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d", *(",".join(map(repr, row)) for row in values.tolist())]))
        result = run_cli("predict", "m", "t.csv", "--predictions", "p.csv")
        assert (result.returncode, result.stderr) == (0, "")
        header, *lines = (tmp_path / "p.csv").read_text().splitlines()
        assert header == "forecast,forecast low,forecast high"
        expected = np.column_stack([learner.predict_many(values), learner.interval_many(values)])
        assert [[float(cell) for cell in line.split(",")] for line in lines] == expected.tolist()
        assert "60 forecasts by ConformalIntervals" in result.stdout


def test_a_function_can_be_copied_and_pickled_but_not_saved(tmp_path):
    X, y = stream()
    learner = aw.ConformalIntervals(first)
    learner.learn_many(X, y)
    for twin in (learner.copy(), pickle.loads(pickle.dumps(learner))):
        assert twin == learner
        assert twin.point_forecaster is first
    with pytest.raises(InputError, match="function"):
        aw.save(learner, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_given_forecaster_is_left_alone():
    given = aw.OnlineRidge()
    given.learn_many(*stream())
    before = given.state()
    learner = aw.ConformalIntervals(given)
    assert learner.forecaster == aw.OnlineRidge()
    learner.learn_many(*stream(1))
    assert given.rounds == 80
    assert str(before) == str(given.state())


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("covered", 99, "covered, exact and infinite"),
        ("exact", -1, "covered, exact and infinite"),
        ("radii", -1.0, "radii must be"),
        ("errors", np.zeros(3), "errors must be an array of 5 numbers"),
        ("errors", -np.ones(5), "errors must be numbers from 0 to 1e"),
        ("forecaster", 5, "forecaster must be a state after 80 rounds"),
    ],
)
def test_states_that_cannot_be_are_refused(field, value, said):
    learner = aw.ConformalIntervals("online-ridge", window=5)
    learner.learn_many(*stream())
    before = learner.state()
    with pytest.raises(InputError, match=said):
        learner.restore({**before, field: value})
    assert str(learner.state()) == str(before)


@pytest.mark.parametrize(
    ("field", "value"), [("radius", math.inf), ("largest_error", 0.5), ("growth", -1.0), ("radius", "a")]
)
def test_states_of_tracking_that_cannot_be_are_refused(field, value):
    learner = aw.ConformalIntervals("online-ridge", method="tracking", largest=1.0)
    learner.learn_many(*stream())
    with pytest.raises(InputError, match="radius, largest_error and growth must be"):
        learner.restore({**learner.state(), field: value})


# ---------------------------------------------------------------------- what is refused


def test_forecasters_of_vectors_have_no_interval():
    with pytest.raises(InputError, match="forecaster must be one whose forecasts are numbers, not probability vectors"):
        aw.ConformalIntervals(aw.AggregatingAlgorithm(2, outcomes=3))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"forecaster": 5}, "forecaster must be a regressor"),
        ({"forecaster": "perceptron"}, "forecaster must be one of"),
        ({"forecaster": aw.Perceptron()}, "forecaster must be a regressor"),
        ({"forecaster": aw.MLpol}, "forecaster must be a regressor"),
        ({"forecaster": aw.ConformalIntervals(aw.MLpol(2))}, "forecaster must be a regressor"),
        ({"coverage": 1.0}, "coverage must be above 0 and below 1; received 1.0"),
        ({"coverage": 90}, "coverage must be above 0 and below 1; received 90"),
        ({"method": "split"}, "method must be 'adaptive' or 'tracking'; received 'split'"),
        ({"rate": 0}, "rate must be a number above 0, at most 1; received 0"),
        ({"rate": 2.0}, "rate must be a number above 0, at most 1; received 2.0"),
        ({"window": 0}, "window must be a whole number of errors, at least 1; received 0"),
        ({"largest": 5.0}, "largest must be left out, unless method is 'tracking'; received 5.0"),
        ({"method": "tracking", "largest": -1.0}, "largest must be a positive finite number"),
    ],
)
def test_options_that_cannot_be(options, said):
    with pytest.raises(InputError) as caught:
        aw.ConformalIntervals(**options)
    assert said in str(caught.value)


def test_rounds_that_cannot_be_change_nothing():
    X, y = stream()
    values, outcomes = advice()
    cases = [
        (aw.ConformalIntervals("online-ridge"), X, y, 1e200),
        (aw.ConformalIntervals(first), X, y, 1e61),
        (aw.ConformalIntervals(aw.MLpol(4)), values, outcomes, 1e61),
    ]
    for learner, rows, targets, huge in cases:
        learner.learn_many(rows[:40], targets[:40])
        before = learner.copy()
        for bad in (math.nan, math.inf, None, "1", huge):
            with pytest.raises((InputError, DivergenceError)):
                learner.learn_one(rows[40], bad)
            assert learner == before
            if bad != 1e200:
                with pytest.raises(InputError):
                    learner.learn_many(rows[40:50], [*targets[40:49].tolist(), bad])
                assert learner == before
        with pytest.raises(InputError):
            learner.learn_many(rows[40:50], targets[40:49])
        with pytest.raises(InputError):
            learner.learn_one(rows, 1.0)
        assert learner == before
    with pytest.raises(InputError, match=r"advice\[0, 1\] must be a number from -1e\+60 to 1e\+60"):
        learner.learn_one([0.0, 1e70, 0.0, 0.0], 1.0)
    with pytest.raises(InputError, match="finite number or missing"):
        learner.learn_one([0.0, math.inf, 0.0, 0.0], 1.0)
    assert learner == before


def test_what_a_function_returns_is_checked():
    for said in (math.nan, "1", None, 1e70, [1.0], True):
        learner = aw.ConformalIntervals(lambda x, said=said: said)
        for call in (learner.predict_one, learner.interval_one, lambda x: learner.learn_one(x, 1.0)):
            with pytest.raises(InputError, match="what the forecaster returns must be a number from"):
                call([1.0])
        assert learner.rounds == 0

    def fails(x):
        if x[0] > 2:
            raise RuntimeError("broken")
        return x[0]

    learner = aw.ConformalIntervals(fails)
    with pytest.raises(RuntimeError):
        learner.learn_many([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    assert learner.rounds == 0


def test_a_forecaster_that_diverges_leaves_the_rounds_before():
    X, y = stream()
    y[50] = 1e200
    learner, singly = (aw.ConformalIntervals("online-ridge") for _ in range(2))
    learner.learn_many(X[:20], y[:20])
    with pytest.raises(DivergenceError):
        learner.learn_many(X[20:], y[20:])
    singly.learn_many(X[:50], y[:50])
    assert learner == singly

    def diverges(x):
        if x[0] > 1:
            raise DivergenceError("too large")
        return x[0]

    learner = aw.ConformalIntervals(diverges)
    with pytest.raises(DivergenceError, match="too large"):
        learner.learn_many([[0.0], [1.0], [2.0]], [0.0, 0.0, 0.0])
    assert learner.rounds == 0


def test_who_stops_keeps_whole_rounds():
    def stops(x):
        if x[0] == 600:
            raise KeyboardInterrupt
        return 0.0

    X, y = np.arange(900.0).reshape(-1, 1), np.sin(np.arange(900.0))
    learner, singly = aw.ConformalIntervals(stops), aw.ConformalIntervals(stops)
    with pytest.raises(KeyboardInterrupt):
        learner.learn_many(X, y)
    assert 0 < learner.rounds <= 600
    singly.learn_many(X[: learner.rounds], y[: learner.rounds])
    assert learner == singly


def test_messages_about_a_long_block_count_all_its_rows():
    values, outcomes = np.full((900, 2), 0.5), np.full(900, 0.5)
    for bad in (1e61, math.inf, 3.0):
        advice = values.copy()
        advice[700, 1] = bad
        learner, alone = (
            aw.ConformalIntervals(aw.ExponentialWeights(2, loss_range=(0, 1))),
            aw.ExponentialWeights(2, loss_range=(0, 1)),
        )
        learner.learn_one(values[0], 0.5)
        before = learner.copy()
        with pytest.raises(InputError) as caught:
            learner.learn_many(advice, outcomes)
        with pytest.raises(InputError) as expected:
            alone.learn_many(advice, outcomes)
        assert "700" in str(caught.value)
        if bad != 1e61:
            assert str(caught.value) == str(expected.value)
        assert learner == before


def test_a_certificate_of_other_rounds_is_refused():
    X, y = stream()
    for options in METHODS:
        learner = aw.ConformalIntervals("repeat-last-target", **options)
        learner.learn_many(X, y)
        assert learner.certificate(X, y).verdict is Verdict.HOLDS
        # The forecaster is in the same state, but the intervals were others.
        swapped = y.copy()
        swapped[[10, 60]] = swapped[[60, 10]]
        for rows, targets in ((X[:-1], y[:-1]), (X, swapped), (X, y[::-1])):
            certificate = learner.certificate(rows, targets)
            assert certificate.verdict is Verdict.NOT_APPLICABLE
            assert certificate.bound is None
    with pytest.raises(InputError, match="y must be given together with X"):
        learner.certificate(None, y)


def test_two_passes_have_a_certificate():
    X, y = stream()
    learner = aw.ConformalIntervals("online-ridge")
    learner.learn_many(X, y)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert (certificate.verdict, certificate.rounds) == (Verdict.HOLDS, 160)


def test_a_counter_that_lies_is_noticed():
    X, y = stream()
    learner = aw.ConformalIntervals("online-ridge")
    learner.learn_many(X, y)
    state = learner.state()
    for field, value in (("covered", state["covered"] - 1), ("infinite", 3), ("radii", state["radii"] * 1.001)):
        learner.restore({**state, field: value})
        assert learner.certificate(X, y).verdict is Verdict.NOT_APPLICABLE
    learner = aw.ConformalIntervals("online-ridge", method="tracking")
    learner.learn_many(X, y)
    learner.restore({**learner.state(), "growth": learner.state()["growth"] + 0.01})
    assert "largest error grew" in str(learner.certificate(X, y))


def test_formulas_can_be_asked_for():
    assert aw.bounds.bound("adaptive-intervals", miss=0.25, rate=0.5, rounds=8) == 2 + 0.5 + 0.75
    assert aw.bounds.bound("adaptive-coverage", miss=0.25, rate=0.5, rounds=8) == 1.25 / 4
    assert aw.bounds.bound("tracking-intervals", miss=0.25, rate=0.5, rounds=8) == 2 + 0.75
    assert aw.bounds.bound("tracking-intervals", miss=0.25, rate=0.5, rounds=8, growth=2) == 2 + 4 + 2.25
    assert aw.bounds.bound("tracking-coverage", miss=0.25, rate=0.5, rounds=8, growth=2) == 6.25 / 8
    kinds = (AdaptiveUncoveredBound, AdaptiveCoverageBound, TrackingUncoveredBound, TrackingCoverageBound)
    assert {type(theorem) for theorem in aw.ConformalIntervals.theorems} == set(kinds)
    exact = Fraction(1, 4) * 8 + Fraction(1, 2) + Fraction(3, 4)
    assert naive.uncovered_bound("adaptive", 0.75, 0.5, 8) == exact


def test_how_it_is_shown():
    learner = aw.ConformalIntervals("online-ridge", window=50)
    assert repr(learner) == (
        "ConformalIntervals(OnlineRidge, coverage=0.9, method='adaptive', rate=0.01, window=50): "
        "0 rounds, 0.0% covered, mean width 0, RMSE 0"
    )
    learner.learn_many(*stream())
    widths = f"mean width {learner.mean_width:.4g} and 1 infinite"
    assert repr(learner).endswith(f": 80 rounds, {learner.covered / 80:.1%} covered, {widths}, RMSE {learner.rmse:.4g}")
    assert repr(aw.ConformalIntervals(first)).startswith("ConformalIntervals(first, coverage=0.9")
    assert learner.level is not None
    assert aw.ConformalIntervals(method="tracking").level is None
    assert (aw.ConformalIntervals("repeat-last-target").features, aw.ConformalIntervals(first).features) == (0, 0)
    with pytest.raises(AttributeError):
        _ = learner.experts


def test_widths_where_no_interval_had_two_ends():
    learner = aw.ConformalIntervals(lambda x: 0.0)
    learner.learn_one({}, 1.0)
    told = learner.certificate([{}], [1.0]).hindsight.description
    assert told.endswith("; ours was infinite")
    learner.learn_one({}, 1.0)
    told = learner.certificate([{}] * 2, [1.0] * 2).hindsight.description
    assert told.endswith("; ours was 2 on average, and infinite in 1 round")
