"""NormalizedAdaGrad against its pseudo code written out, in every unit, and at the ends of the range of numbers."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit.batch._rounds import rests
from afterwit.data.margin_losses import LOSSES, SLOPES_UP_TO_1
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError
from problems import FORMS, in_columns, lists_of, one_by_one, small_integers, with_ones

#: Rows in which features are missing, in the three forms that are laid out differently.
SPARSE_FORMS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "dicts": lambda X: [{f"f{j}": value for j, value in enumerate(x) if value} for x in np.asarray(X).tolist()],
}


def plain(**options):
    return aw.NormalizedAdaGrad(intercept=False, labels=(-1, 1), **options)


def numbers(learner, width):
    """w, s and G of every column, in the units of the columns; and N."""
    state = learner.state()
    stored = [state[name] for name in ("normalized", "squares", "largest")]
    if state["names"] is not None:
        order = [state["names"].index(f"f{j}") if f"f{j}" in state["names"] else -1 for j in range(width)]
        stored = [np.append(each, 0.0)[order] for each in stored]
    normalized, squares, largest = (np.append(each, np.zeros(width - len(each))) for each in stored)
    return normalized / np.where(largest > 0, largest, 1.0), largest, squares * largest**2, state["norms"]


def assert_is(learner, run, width, rel=1e-9):
    w, s, G, N = numbers(learner, width)
    assert w.tolist() == pytest.approx(run["weights"][-1], rel=rel, abs=1e-12 * max(np.abs(w).max(initial=0), 1e-300))
    assert s.tolist() == run["s"]
    assert G.tolist() == pytest.approx(run["G"], rel=rel)
    assert pytest.approx(run["N"], rel=rel) == N
    assert in_columns(learner.weights, width) == w.tolist()


def test_the_first_rounds_by_hand():
    learner = plain(loss="hinge", rate=0.5)
    assert learner.learn_one([2.0], -1) == 1  # w = 0, slope 1; s = 2, N = 1, G = 4: w = -0.5 * 2 / (2 * 2)
    assert learner.weights.tolist() == [-0.25]
    assert learner.state()["norms"] == 1
    assert learner.score_one([2.0]) == -0.5
    # A value of 8 shrinks the weight to -0.25 * 2 / 8 before it is scored; nothing has changed by that.
    assert learner.score_one([8.0]) == -0.5
    assert learner.predict_one([8.0]) == -1
    assert learner.weights.tolist() == [-0.25]
    assert learner.learn_one([8.0], -1) == -1  # N = 2, t = 2, G = 4 + 64: w = -1/16 - 0.5 * 8 / (8 sqrt(68))
    assert learner.weights.tolist() == pytest.approx([-1 / 16 - 0.5 / math.sqrt(68)])
    assert learner.state()["largest"].tolist() == [8]
    assert (learner.rounds, learner.mistakes, learner.updates) == (2, 1, 2)


def test_rounds_without_a_slope_count_and_shrink():
    learner = plain(loss="perceptron", rate=0.5)
    learner.learn_one([1.0], -1)
    assert learner.weights.tolist() == [-0.5]
    assert learner.learn_one([4.0], -1) == -1  # no loss
    assert (learner.rounds, learner.updates) == (2, 1)
    assert learner.weights.tolist() == [-0.125]
    assert learner.score_one([1.0]) == -0.125
    assert not rests(learner)
    assert learner.state()["norms"] == 2
    assert (learner.state()["squares"] * learner.state()["largest"] ** 2).tolist() == [1]  # G, in the old units
    # t = 3, N = 2 + 1/16, G = 1 + 1.
    learner.learn_one([1.0], 1)
    assert learner.weights.tolist() == pytest.approx([-0.125 + 0.5 * math.sqrt(3 / (2 + 1 / 16)) / (4 * math.sqrt(2))])


def test_a_row_without_values_counts_as_a_round_and_changes_nothing_else():
    for rows in ([{}], [[0.0, 0.0]], [sparse.csr_array((1, 3))]):
        learner = plain()
        for row in rows:
            assert learner.learn_one(row, -1) == 1
        assert learner.rounds == 1
        assert learner.state()["norms"] == 0
        assert not any(in_columns(learner.weights, 2))
        assert learner.copy() == learner
    learner, other = plain(), plain()
    learner.learn_many([[0.0], [0.0], [1.0]], [1, -1, 1])
    other.learn_many([[1.0]], [1])
    # t = 3 and N = 1.
    assert learner.weights.tolist() == pytest.approx(math.sqrt(3) * other.weights)


INVARIANT = [("hinge", True), ("logistic", True), ("squared", True)]


def assume_no_kinks(run, loss):
    """Where rounding decides on which side of a kink a score is, an oracle decides nothing."""
    kink = {"perceptron": 0.0, "hinge": 1.0}.get(loss, math.inf)
    assume(not any(0 < abs(abs(s) - kink) < 1e-9 for s in run["scores"]))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(
    problem=small_integers,
    loss=st.sampled_from(LOSSES),
    rate=st.sampled_from([0.05, 0.5, 2.0]),
    passes=st.integers(1, 3),
    invariant=st.booleans(),
)
def test_it_is_the_oracle(form, problem, loss, rate, passes, invariant):
    X, y = problem
    invariant = invariant and loss != "perceptron"
    run = naive.normalized_adagrad(X, y, rate, loss, passes, invariant)
    assume_no_kinks(run, loss)
    at_once, singly = (plain(rate=rate, loss=loss, invariant=invariant) for _ in range(2))
    many, ones = form(X), one_by_one(form, X)
    scores = [s for _ in range(passes) for s in at_once.learn_scores(many, y).tolist()]
    assert scores == pytest.approx(run["scores"], rel=1e-8, abs=1e-12)
    for _ in range(passes):
        for x, label in zip(ones, y, strict=True):
            before = singly.state()
            score = singly.score_one(x)
            assert same_value(singly.state(), before)
            assert singly.learn_one(x, label) == (1 if score >= 0 else -1)
    assert singly == at_once
    assert_is(at_once, run, len(X[0]), rel=1e-8)


@pytest.mark.parametrize("form", SPARSE_FORMS)
@pytest.mark.parametrize(("loss", "invariant"), [*((loss, False) for loss in LOSSES), *INVARIANT])
@pytest.mark.parametrize("exponent", [0, -12, 12, -140, 140])
def test_long_random_rows_in_any_units_are_the_oracle(form, loss, invariant, exponent):
    random = np.random.default_rng(1)
    width = 70  # more entries than are laid out at once
    X = random.standard_normal((80, width)) * (random.random((80, width)) < 0.6)
    X *= 10.0 ** (np.sign(exponent) * random.uniform(0, abs(exponent), width))
    y = random.choice([-1, 1], 80)
    run = naive.normalized_adagrad(X.tolist(), y.tolist(), 0.3, loss, invariant=invariant)
    learner = plain(rate=0.3, loss=loss, invariant=invariant)
    rows = SPARSE_FORMS[form](X)
    scores = learner.learn_scores(rows, y)
    assert scores.tolist() == pytest.approx(run["scores"], rel=1e-7, abs=1e-10)
    assert_is(learner, run, width, rel=1e-7)
    assert learner.updates == sum(naive.slope_of(loss, s, t) != 0 for s, t in zip(run["scores"], y, strict=True))
    # The score of a row is that by which the next round would go, however large its values are.
    for factor in (0.1, 1.0, 30.0):
        row = SPARSE_FORMS[form](factor * X[:1])
        told = learner.score_many(row)
        assert told.tobytes() == learner.copy().learn_scores(row, [1]).tobytes()


@pytest.mark.parametrize("form", SPARSE_FORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("reach", [12, 400])
@pytest.mark.parametrize("intercept", [True, False])
def test_other_units_change_no_bit_of_a_prediction(form, loss, reach, intercept):
    random = np.random.default_rng(0)
    form = SPARSE_FORMS[form]
    X = random.standard_normal((60, 40)) * (random.random((60, 40)) < 0.5)
    y = random.choice([-1, 1], 60)
    units = 2.0 ** random.integers(-reach, reach, 40)
    learner, other, singly = (aw.NormalizedAdaGrad(loss=loss, intercept=intercept) for _ in range(3))
    assert learner.learn_scores(form(X), y).tobytes() == other.learn_scores(form(X * units), y).tobytes()
    assert learner.score_many(form(3 * X)).tobytes() == other.score_many(form(3 * X * units)).tobytes()
    for name in ("normalized", "squares"):
        assert other.state()[name].tobytes() == learner.state()[name].tobytes()
    assert other.state()["norms"] == learner.state()["norms"]
    for i, x in enumerate(SPARSE_FORMS["dicts"](X * units) if form is SPARSE_FORMS["dicts"] else form(X * units)):
        singly.learn_one(x, int(y[i]))
    assert singly == other


@settings(max_examples=60)
@given(
    problem=lists_of(st.floats(-8, 8).map(lambda value: value if abs(value) > 1e-3 else 0.0)),
    powers=st.lists(st.integers(-900, 900), min_size=5, max_size=5),
    loss=st.sampled_from(LOSSES),
    rate=st.sampled_from([0.5, 3.0]),
)
def test_units_do_not_matter_whatever_the_rows(problem, powers, loss, rate):
    X, y = np.array(problem[0]), problem[1]
    units = 2.0 ** np.array(powers[: X.shape[1]])
    learner, other = plain(loss=loss, rate=rate), plain(loss=loss, rate=rate)
    assert learner.learn_scores(X, y).tobytes() == other.learn_scores(X * units, y).tobytes()
    assert (learner.mistakes, learner.updates) == (other.mistakes, other.updates)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-300, 1e-200, 1e-154, 1e100, 1e154, 1e200, 1e300])
def test_values_of_any_size_are_learned(size, loss):
    random = np.random.default_rng(4)
    X, y = np.ceil(random.uniform(0.1, 1, (30, 3)) * 64) * size, random.choice([-1, 1], 30)
    learner, other = plain(loss=loss), plain(loss=loss)
    scores = learner.learn_scores(X, y)
    assert scores.tolist() == pytest.approx(other.learn_scores(X / size, y).tolist(), rel=1e-9)
    assert all(np.isfinite(value).all() for value in learner.state().values() if isinstance(value, np.ndarray))
    assert np.isfinite(learner.weights).all()
    assert learner.rounds == 30


def test_values_that_grow_without_end():
    learner = plain()
    X = 2.0 ** np.arange(-1074, 1020, 6.0)[:, None]
    y = np.where(np.arange(len(X)) % 3, 1, -1)
    learner.learn_many(X, y)
    state = learner.state()
    # Every value is the largest so far: z is 1 in every round.
    assert state["norms"] == len(X)
    assert state["largest"].tolist() == X[-1].tolist()
    assert np.isfinite(state["normalized"]).all()


def test_a_slope_whose_square_is_nothing_moves_nothing():
    learner = plain()
    state = learner.state()
    learner.learn_one([1.0, 0.0], 1)
    state = learner.state()
    state["normalized"][0] = 600.0
    learner.restore(state)
    learner.learn_one([1.0, 1.0], 1)  # the slope is about 1e-261
    assert learner.state()["squares"][1] == 0
    assert learner.weights.tolist() == [600.0, 0.0]


def test_a_rate_for_which_there_are_no_numbers():
    for singly in (True, False):
        learner = plain(rate=1e308, loss="hinge")
        learner.learn_many([[0.0], [0.0], [0.0]], [1, 1, 1])
        before = learner.state()
        # Three rounds without values come before: t / N is 4, and the first step 2e308.
        with pytest.raises(DivergenceError) as error:
            learner.learn_one([0.0, 5.0], 1) if singly else learner.learn_many([[0.0], [1.0], [1.0]], [1, 1, 1])
        assert str(error.value) == (
            f"round {4 if singly else 5} would make a score or a weight of NormalizedAdaGrad infinite or NaN; "
            "use a smaller rate or scale the features"
        )
        assert learner.rounds == (3 if singly else 4)
        assert learner.state()["norms"] == 0
        assert learner.features == 1
        learner.restore(before)
        assert learner == learner.copy()


def test_what_is_not_finite_changes_nothing():
    X = np.random.default_rng(2).standard_normal((200, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    for bad in (np.nan, np.inf, -np.inf):
        learner = aw.NormalizedAdaGrad()
        learner.learn_many(X[:5], y[:5])
        before = learner.state()
        spoiled = X.copy()
        spoiled[120, 2] = bad
        for rows in (spoiled, sparse.csr_array(spoiled)):
            with pytest.raises(InputError, match="finite"):
                learner.learn_many(rows, y)
            assert same_value(learner.state(), before)
        with pytest.raises(InputError, match="finite"):
            learner.learn_one(spoiled[120], 1)
        assert same_value(learner.state(), before)


@pytest.mark.parametrize("form", SPARSE_FORMS)
def test_what_was_saved_goes_on_as_if_nothing_had_been(form, tmp_path):
    random = np.random.default_rng(6)
    X = random.standard_normal((50, 9)) * (random.random((50, 9)) < 0.5) * 10.0 ** random.integers(-6, 6, 9)
    y = random.choice([-1, 1], 50)
    form = SPARSE_FORMS[form]
    learner = aw.NormalizedAdaGrad(rate=0.2, loss="hinge")
    learner.learn_many(form(X[:30]), y[:30])
    aw.save(learner, tmp_path / "model")
    loaded = aw.load(tmp_path / "model")
    assert loaded == learner == learner.copy()
    for each in (learner, loaded):
        each.learn_many(form(X[30:]), y[30:])
    assert loaded == learner
    whole = aw.NormalizedAdaGrad(rate=0.2, loss="hinge")
    whole.learn_many(form(X), y)
    assert whole == learner
    assert learner.clone() == aw.NormalizedAdaGrad(rate=0.2, loss="hinge", labels=(-1, 1)).clone()


def test_features_that_come_later():
    learner, wide = plain(), plain()
    learner.learn_many([[1.0], [2.0]], [1, -1])
    wide.learn_many([[1.0, 0.0], [2.0, 0.0]], [1, -1])
    # A feature that was never met has the weight 0, and is the largest of its kind when it comes.
    assert learner.score_one([1.0, 5.0]) == wide.score_one([1.0, 5.0]) == learner.score_one([1.0])
    for each in (learner, wide):
        each.learn_one([1.0, 5.0], -1)
    assert same_value(learner.state(), wide.state())


def test_names_that_were_never_met_have_no_weight():
    learner = aw.NormalizedAdaGrad()
    learner.learn_many([{"a": 1.0, "b": 2.0}, {"a": -1.0, "b": 3.0}], [1, 1])
    assert learner.score_one({"a": 1.0, "b": 2.0}) != learner.intercept_weight
    for others in ({"c": 4.0, "d": -1.0}, {}):
        assert learner.score_one(others) == learner.intercept_weight
        assert learner.score_many([{"a": 1.0, "b": 2.0}, others])[1] == learner.intercept_weight


def test_an_intercept_is_there_unless_it_is_not_wanted():
    assert aw.NormalizedAdaGrad().parameters == {
        "rate": 0.5,
        "loss": "logistic",
        "intercept": True,
        "invariant": False,
        "labels": None,
    }
    X, y = [[1.0, 2.0], [0.5, -1.0], [2.0, 2.0]], [1, -1, -1]
    learner, wider = aw.NormalizedAdaGrad(), plain()
    learner.learn_many(X, y)
    wider.learn_many(with_ones(X), y)
    assert [learner.intercept_weight, *learner.weights] == wider.weights.tolist()
    assert learner.state()["norms"] == wider.state()["norms"]


@pytest.mark.parametrize("loss", SLOPES_UP_TO_1)
def test_it_learns_whatever_the_units(loss):
    random = np.random.default_rng(8)
    X = random.standard_normal((3000, 6))
    y = np.where(X @ [3.0, -2, 1, 0, 0, 2] + 0.5 > 0, 1, -1)
    mistakes = []
    for units in (np.ones(6), np.array([1e12, 1e-12, 1.0, 1e3, 1e-6, 1e5])):
        learner = aw.NormalizedAdaGrad(loss=loss)
        learner.learn_many(X * units, y)
        mistakes.append(learner.mistakes)
    assert abs(mistakes[0] - mistakes[1]) <= 3
    assert mistakes[0] < 300


@pytest.mark.parametrize(("loss", "invariant"), INVARIANT)
@pytest.mark.parametrize("rate", [1e-9, 0.5, 100.0, 1e9])
def test_an_invariant_step_passes_no_label_and_is_that_of_many_small_ones(loss, invariant, rate):
    x, y = [[1.0, -2.0, 0.5]], [-1]
    learner = plain(rate=rate, loss=loss, invariant=invariant)
    before = learner.score_many(x).item()
    learner.learn_many(x, y)
    after = learner.score_many(x).item()
    assert after < before
    if loss != "logistic":
        assert after >= -1.0
    # Every feature is divided by its own value, so that N = 3 and each sqrt(G) is the slope times that value.
    h = rate * math.sqrt(1 / 3) * 3 / abs(naive.slope_of(loss, 0.0, -1))
    assert after == pytest.approx(naive.invariant_change(loss, 0.0, -1, h), rel=1e-9)
    small, score = 100_000, 0.0
    for _ in range(small if rate < 1000 else 0):
        score -= naive.slope_of(loss, score, -1) * h / small
    assert rate > 1000 or after == pytest.approx(score, rel=2e-2)


def test_no_bound_is_claimed():
    learner = aw.NormalizedAdaGrad()
    learner.learn_many([[1.0, 2.0], [2.0, -1.0]], [1, -1])
    with pytest.raises(InputError, match=r"^NormalizedAdaGrad has no certificate: no bound on its loss is known"):
        learner.certificate([[1.0, 2.0], [2.0, -1.0]], [1, -1])
    assert not learner.theorems


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0}, "rate must be a positive finite number; received 0"),
        ({"rate": math.inf}, "rate must be a positive finite number; received inf"),
        (
            {"loss": "log"},
            "loss must be one of 'perceptron', 'hinge', 'logistic', 'squared' (to predict numbers, use NormalizedAdaGradRegressor); received 'log'",
        ),
        ({"intercept": 1}, "intercept must be True or False; received 1"),
        ({"invariant": 1}, "invariant must be True or False; received 1"),
        ({"invariant": True, "loss": "perceptron"}, "invariant must be False for the perceptron loss; received True"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError) as error:
        aw.NormalizedAdaGrad(**options)
    assert str(error.value) == message


def test_a_state_that_cannot_be_is_refused():
    learner = plain()
    learner.learn_many([[1.0, 2.0], [2.0, -1.0]], [1, -1])
    before = learner.state()
    for name in ("squares", "largest"):
        with pytest.raises(InputError, match=f"^{name} must be numbers that are not negative"):
            learner.restore({**before, name: -np.ones(2)})
    for name in ("normalized", "squares", "largest"):
        with pytest.raises(InputError):
            learner.restore({**before, name: np.ones(3)})
    for norms in (-1.0, math.nan, math.inf, 1, None):
        with pytest.raises(InputError, match=r"^norms must be a finite number that is not negative"):
            learner.restore({**before, "norms": norms})
    for norms, largest in ((0.0, before["largest"]), (0.999, before["largest"]), (1.0, np.zeros(2))):
        with pytest.raises(InputError, match=r"^norms must be at least 1 once there was a value other than 0"):
            learner.restore({**before, "norms": norms, "largest": largest})
    assert same_value(learner.state(), before)
    learner.restore({**before, "norms": 1.0})
    assert plain().copy() == plain()


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_only_huge_weights_could_make_it_diverge(loss):
    learner = aw.NormalizedAdaGrad(loss=loss)
    learner.learn_many(1e12 * np.eye(3), [1, -1, 1])
    assert learner._is_steady()
    state = learner.state()
    state["normalized"][1] = -1e100
    learner.restore(state)
    assert not learner._is_steady()
