"""Regressors against the figures written out, in every form and unit; their theorems against sequences made to break them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_regression as naive
from afterwit.core.certificate import Verdict
from afterwit.data.losses import get
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError

LOSSES = ("square", "absolute", "pinball(0.25)", "huber(2.0)")
KINDS = (aw.SGDRegressor, aw.AdaGradRegressor, aw.NormalizedAdaGradRegressor, aw.ScaleFreeRegressor)

whole = st.integers(-3, 3).map(float)


@st.composite
def problems(draw):
    rows, width = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(whole, min_size=width, max_size=width), min_size=rows, max_size=rows))
    return X, draw(st.lists(st.integers(-9, 9).map(float), min_size=rows, max_size=rows))


def near(found, wanted):
    """Equal but for rounding, by the size of the numbers."""
    return np.allclose(found, wanted, rtol=1e-9, atol=1e-9 * (1 + np.abs(wanted).max(initial=0.0)))


def settled(loss, predictions, targets):
    """No error is so near to a kink that rounding decides on which side it is."""
    kink = naive.parsed(loss)[1] if loss.startswith("huber") else 0.0
    return all(abs(abs(p - y) - kink) > 1e-9 or p == y for p, y in zip(predictions, targets, strict=True))


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=30)
@given(problem=problems(), decreasing=st.booleans(), ball=st.sampled_from([None, 0.5, 4.0]))
def test_sgd_is_the_oracle(loss, problem, decreasing, ball):
    X, y = problem
    predictions, weights = naive.descent(X, y, loss, 0.02, decreasing, ball)
    if not settled(loss, predictions, y):
        return
    learner = aw.SGDRegressor(loss, 0.02, "1/sqrt(t)" if decreasing else "constant", ball, intercept=False)
    assert near(learner.learn_many(X, y), predictions)
    assert near(learner.weights, weights)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=30)
@given(problem=problems(), delta=st.sampled_from([0.0, 1e-6, 2.0]), box=st.sampled_from([None, 0.3]))
def test_adagrad_is_the_oracle(loss, problem, delta, box):
    X, y = problem
    predictions, weights = naive.descent(X, y, loss, 0.7, adaptive=True, delta=delta, box=box)
    if not settled(loss, predictions, y):
        return
    learner = aw.AdaGradRegressor(loss, 0.7, delta, box, intercept=False)
    assert near(learner.learn_many(X, y), predictions)
    assert near(learner.weights, weights)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=30)
@given(problem=problems(), rate=st.sampled_from([0.25, 1.5]))
def test_normalized_adagrad_is_the_oracle(loss, problem, rate):
    X, y = problem
    predictions = naive.normalized_adagrad(X, y, loss, rate)
    if not settled(loss, predictions, y):
        return
    learner = aw.NormalizedAdaGradRegressor(rate, loss, intercept=False)
    assert near(learner.learn_many(X, y), predictions)
    assert learner.state()["unit"] == max(map(abs, y))


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=30)
@given(problem=problems(), epsilon=st.sampled_from([0.1, 1.0, 7.0]))
def test_scale_free_is_the_oracle(loss, problem, epsilon):
    X, y = problem
    run = naive.scale_free(X, y, loss, epsilon)
    if not settled(loss, run["predictions"], y):
        return
    learner = aw.ScaleFreeRegressor(epsilon, loss, intercept=False)
    assert near(learner.learn_many(X, y), run["predictions"])
    state = learner.state()
    assert near([state["unit"], state["steepest"]], [run["U"], run["B"]])
    for name, key in (("largest", "M"), ("squares", "S"), ("money", "E")):
        assert near(state[name], run[key])


def test_scale_free_by_hand():
    learner = aw.ScaleFreeRegressor(intercept=False)
    assert learner.learn_one([2.0], 3.0) == 0.0  # nothing is bet; the slope -6 is cut off at 0
    state = learner.state()
    assert (state["steepest"], state["unit"], state["money"].tolist()) == (6.0, 9.0, [9.0])
    assert (state["sums"].tolist(), state["squares"].tolist()) == ([0.0], [0.0])
    assert learner.learn_one([2.0], 5.0) == 0.0  # G is still 0; the slope -10 is cut off at 6, and M = 12
    state = learner.state()
    assert [state[name].tolist() for name in ("sums", "squares", "largest")] == [[12.0], [144.0], [12.0]]
    # B = 10 by now: M = 20, S' = sqrt(144 + 400), theta = 12 / S', w = theta 9 / (2 S')
    assert learner.predict_one([2.0]) == pytest.approx(2 * 12 * 9 / (2 * 544))
    assert (learner.rounds, learner.updates, learner.loss) == (2, 1, 34.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_totals_are_those_of_the_predictions(kind, loss):
    random = np.random.default_rng(3)
    X, y = random.standard_normal((50, 3)), random.standard_normal(50)
    learner = kind(loss=loss)
    predicted = learner.learn_many(X, y)
    total = 0.0
    for each in get(loss).values(predicted, y).tolist():
        total += each
    assert learner.loss == pytest.approx(total, rel=1e-14)
    assert learner.rmse == pytest.approx(math.sqrt(np.mean((predicted - y) ** 2)))


@pytest.mark.parametrize("kind", [aw.NormalizedAdaGradRegressor, aw.ScaleFreeRegressor])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("power", [-80, 0, 70])
def test_units_change_nothing(kind, loss, power):
    """Powers of two in the features change no prediction, and in the targets multiply all of them: bit for bit."""
    random = np.random.default_rng(5)
    X, y = random.standard_normal((80, 4)) * (random.random((80, 4)) < 0.7), 3 + random.standard_normal(80)
    if loss.startswith("huber"):
        power = 0
    units, unit = 2.0 ** random.integers(-60, 60, 4), 2.0**power
    plain, other = kind(loss=loss), kind(loss=loss)
    assert (other.learn_many(X * units, y * unit) == unit * plain.learn_many(X, y)).all()
    assert (other.predict_many(X * units) == unit * plain.predict_many(X)).all()


def test_features_to_come_have_the_money_of_all_others():
    """Also if they come after the first loss, in a copy, or in a learner that was restored into another."""
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 2.0]]), [0.0, 4.0, 5.0]
    learner = aw.ScaleFreeRegressor(epsilon=0.5)
    learner.learn_many(X[:2, :1], y[:2])
    assert learner.state()["money"].tolist() == [8.0, 8.0]
    for twin in (learner, learner.copy()):
        twin.learn_many(X[2:], y[2:])
        assert twin.state()["money"][2] == 8.0
    used = aw.ScaleFreeRegressor(epsilon=0.5)
    used.learn_one([7.0], 1e6)
    used.restore(aw.ScaleFreeRegressor(epsilon=0.5).state())
    used.learn_many(X, y)
    fresh = aw.ScaleFreeRegressor(epsilon=0.5)
    fresh.learn_many(X, y)
    assert used == fresh


# ---------------------------------------------------------------------- huge targets


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("huge", [1e70, 1e100])
def test_huge_targets_are_watched(kind, huge):
    """One by one and in a block, among others: the same state, all of it finite."""
    X, y = np.array([[1.0], [1.0], [0.5]]), [1.0, huge, 2.0]
    at_once, singly = kind(loss="absolute"), kind(loss="absolute")
    at_once.learn_many(X, y)
    for x, target in zip(X, y, strict=True):
        singly.learn_one(x, target)
    assert at_once == singly
    assert at_once.rounds == 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_whose_square_is_no_number_is_refused(kind):
    learner = kind()
    learner.learn_many([[1.0], [2.0]], [1.0, 2.0])
    before = learner.state()
    for give in (lambda: learner.learn_one([1.0], 1e200), lambda: learner.learn_many([[1.0]], [1e200])):
        with pytest.raises(
            DivergenceError, match=rf"round 3 would make .* of {kind.__name__} .*scale the features and the"
        ):
            give()
        assert same_value(learner.state(), before)
    many = kind()
    with pytest.raises(DivergenceError, match="round 3 "):
        many.learn_many([[1.0], [2.0], [1.0]], [1.0, 2.0, 1e200])
    assert many == learner  # the rounds before stay learned


def test_options():
    with pytest.raises(InputError, match=r"loss must be 'square', 'absolute', 'pinball\(q\)' or 'huber\(d\)'"):
        aw.ScaleFreeRegressor(loss="logistic")
    with pytest.raises(TypeError, match="labels"):
        aw.SGDRegressor(labels=(0, 1))
    assert aw.AdaGradRegressor(loss="huber(2)").parameters["loss"] == "huber(2.0)"
    assert aw.AdaGradRegressor().parameters["intercept"] is True


# ---------------------------------------------------------------------- theorems


def sequence(random):
    """Targets of any size, that jump, depend on the rows or work against the last prediction."""
    T, n = int(random.integers(1, 40)), int(random.integers(1, 4))
    X = random.standard_normal((T, n)) * 10.0 ** random.uniform(-12, 12, n) * (random.random((T, n)) < 0.8)
    scale = 10.0 ** random.uniform(-12, 12)
    y = scale * random.standard_normal(T)
    if random.random() < 0.3:
        y *= 10.0 ** random.uniform(-6, 6, T)
    if random.random() < 0.3:
        y = np.where(np.arange(T) < T // 2, 1e-3, 1.0) * scale
    return X, y, scale


@pytest.mark.parametrize("loss", ["square", "absolute", "pinball(0.9)", "huber(1.0)"])
def test_the_scale_free_theorem_against_adversaries(loss):
    random = np.random.default_rng(17)
    closest = 0.0
    for _ in range(60):
        X, y, scale = sequence(random)
        epsilon = float(random.choice([0.01, 1.0, 5.0]))
        learner = aw.ScaleFreeRegressor(epsilon, loss, intercept=False)
        against, shown, size = bool(random.random() < 0.4), [], float(np.abs(y).max())
        for t, x in enumerate(X):
            p = learner.predict_one(x)
            if against:
                y[t] = -math.copysign(size, p) * (1 + t % 3)
            shown.append(learner.learn_one(x, y[t]))
            assert shown[-1] == p
        rows, targets = X.tolist(), y.tolist()
        run = naive.scale_free(rows, targets, loss, epsilon)
        total = naive.total_loss(loss, shown, targets)
        sizes = np.abs(X).max(axis=0)
        for factor in (0.0, 0.1, 1.0, 30.0):
            u = (
                factor
                * scale
                * np.divide(random.standard_normal(len(sizes)), sizes, out=np.zeros(len(sizes)), where=sizes > 0)
            )
            bound = naive.exact_loss(loss, rows, targets, u.tolist()) + naive.scale_free_regret(
                run, rows, u.tolist(), epsilon
            )
            assert total <= bound * (1 + 1e-9), (loss, total, bound)
            closest = max(closest, total / bound if bound else 0.0)
            found = learner.certificate(X, y, comparator=u)
            assert found.verdict is Verdict.HOLDS
            least = min(
                bound,
                naive.exact_loss(loss, rows, targets, [0.0] * len(u))
                + naive.scale_free_regret(run, rows, [0.0] * len(u), epsilon),
            )
            assert found.bound == pytest.approx(least, rel=1e-7)
        assert learner.certificate(X, y).verdict is Verdict.HOLDS
    assert closest > 0.5


@pytest.mark.parametrize("loss", LOSSES)
def test_the_regret_theorems_hold_for_real_targets(loss):
    random = np.random.default_rng(23)
    for _ in range(25):
        T, n = int(random.integers(1, 30)), int(random.integers(1, 4))
        X, scale = random.standard_normal((T, n)), 10.0 ** random.uniform(-6, 6)
        y = scale * (X @ random.standard_normal(n) + 0.1 * random.standard_normal(T))
        options = {"loss": loss, "rate": float(random.choice([0.01, 0.1])), "intercept": bool(random.random() < 0.5)}
        limit = float(random.choice([0.3, 3.0])) * scale if random.random() < 0.5 else None
        for learner in (aw.SGDRegressor(ball=limit, **options), aw.AdaGradRegressor(box=limit, **options)):
            shown = learner.learn_many(X, y).tolist()
            found = learner.certificate(X, y)
            assert found.observed == pytest.approx(naive.total_loss(loss, shown, y.tolist()), rel=1e-9)
            for each in (found, *found.others):
                assert each.verdict is not Verdict.VIOLATED, str(each)
            assert found.verdict is Verdict.HOLDS


def test_the_largest_gradient_is_promised_in_a_ball():
    """With square loss on a ball slopes are at most 2 (Y + R b), and gradients R times that."""
    X, y = np.array([[3.0, 4.0], [1.0, 0.0]]), [7.0, -2.0]
    learner = aw.SGDRegressor(rate=0.5, ball=2.0, intercept=False)
    learner.learn_many(X, y)
    made = learner.certificate(X, y)
    found = {each.theorem.name: each for each in (made, *made.others)}
    assert found["regret at a constant rate"].inputs["G"] == 2 * 5 * (7 + 5 * 2)
    steep = aw.SGDRegressor(loss="huber(3.0)", rate=0.5, intercept=False)
    steep.learn_many(X, y)
    assert steep.certificate(X, y).inputs["G"] == 15


def test_a_certificate_prints_rmse_for_square_loss():
    X, y = [[1.0], [2.0], [3.0]], [2.0, 4.1, 5.9]
    learner = aw.SGDRegressor()
    learner.learn_many(X, y)
    text = str(learner.certificate(X, y))
    assert text.count("RMSE") == 3
    other = aw.SGDRegressor(loss="absolute")
    other.learn_many(X, y)
    assert "per round" in str(other.certificate(X, y))


def test_play_counts_losses_and_errors():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((70, 2)), random.standard_normal(70)
    learner = aw.NormalizedAdaGradRegressor(loss="pinball(0.9)")
    record = aw.play(learner, X, y, predictions=True)
    assert (record.rounds, record.loss, record.rmse) == (70, learner.loss, learner.rmse)
    singly = aw.play(aw.NormalizedAdaGradRegressor(loss="pinball(0.9)"), list(zip(X, y, strict=True)), predictions=True)
    assert singly.to_dict() == record.to_dict()
    assert [point.rounds for point in record.curve] == [1, 2, 4, 8, 16, 32, 64, 70]
    assert record.curve[-1].loss == record.loss
    late = aw.play(aw.NormalizedAdaGradRegressor(), X, y, delay=3)
    assert late.rounds == 70
    assert late.curve[0].rmse == abs(y[0])


def test_an_update_that_would_overflow_counts_nothing():
    learner = aw.SGDRegressor(loss="absolute", ball=1e300, rate=1.0)
    learner.learn_one([1.0], 2.0)
    before = learner.state()
    with pytest.raises(DivergenceError, match="round 2 would make"):
        learner.learn_one([1e200], 5.0)
    assert same_value(learner.state(), before)
    with pytest.raises(DivergenceError, match="round 2 would make"):
        learner.learn_many([[1e200]], [5.0])
    assert same_value(learner.state(), before)
