"""Every learner's theorems against adversaries and random data, and the checkers against learners that cheat."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit import adversaries
from afterwit.core.certificate import Verdict, evidence_of
from afterwit.data.rows import read_examples
from afterwit.errors import InputError
from afterwit.linear.margin_perceptron import MarginUpdateBound
from afterwit.linear.winnow import WinnowBound, WinnowHingeBound
from problems import as_dicts, small_integers

LEARNERS = {
    "averaged": (aw.AveragedPerceptron, {}),
    "voted": (aw.VotedPerceptron, {}),
    "margin": (aw.MarginPerceptron, {"margin": 0.1}),
    "selective": (aw.SelectivePerceptron, {"b": 2.0}),
    "winnow": (aw.Winnow, {"rate": 0.1}),
    "balanced winnow": (aw.BalancedWinnow, {"rate": 0.1}),
    "svm": (aw.OnlineSVM, {"C": 1.0, "rate": 0.05}),
    "svm, defaults": (aw.OnlineSVM, {}),
    "sgd": (aw.SGD, {"intercept": False}),
    "sgd, hinge in a ball": (
        aw.SGD,
        {"intercept": False, "loss": "hinge", "schedule": "1/sqrt(t)", "ball": 2.0, "rate": 0.5},
    ),
    "sgd, squared in a ball": (aw.SGD, {"intercept": False, "loss": "squared", "ball": 0.5}),
    "sgd, perceptron": (aw.SGD, {"intercept": False, "loss": "perceptron", "rate": 1.0}),
    "adagrad": (aw.AdaGrad, {"intercept": False}),
    "adagrad in a box": (aw.AdaGrad, {"intercept": False, "loss": "hinge", "box": 0.5, "delta": 0}),
    "adagrad, squared": (aw.AdaGrad, {"intercept": False, "loss": "squared", "rate": 0.5, "delta": 1.0}),
}
GRADIENT = [name for name in LEARNERS if name.startswith(("svm", "sgd", "adagrad"))]
every_learner = pytest.mark.parametrize("name", LEARNERS)


def make(name, **more):
    kind, options = LEARNERS[name]
    return kind(**{**options, **more})


def all_of(certificate):
    return (certificate, *certificate.others)


def by_name(certificate):
    return {each.theorem.name: each for each in all_of(certificate)}


def none_is_broken(certificate):
    for each in all_of(certificate):
        assert each.verdict is not Verdict.VIOLATED, str(each)
        if each.bound is not None:
            assert each.observed <= each.bound * (1 + 1e-9) + 1e-9, str(each)


STREAMS = {
    "separable": lambda: adversaries.separable(120, 5, margin=0.1, seed=1),
    "noise": lambda: adversaries.label_noise(adversaries.separable(120, 5, margin=0.1, seed=2), 0.2, seed=3),
    "drifting": lambda: adversaries.drifting(120, 5, turns=1, margin=0.05, seed=4),
    "unit vectors": lambda: adversaries.unit_vectors(30),
}


@every_learner
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("intercept", [False, True])
def test_adversaries_break_nothing(name, stream, intercept):
    data = STREAMS[stream]()
    learner = make(name, intercept=intercept)
    aw.play(learner, data)
    certificate = learner.certificate(data.X, data.y)
    assert certificate.assumptions[0].holds
    none_is_broken(certificate)
    if name == "margin":
        assert (certificate.verdict is Verdict.HOLDS) == (stream in ("separable", "unit vectors"))
    elif name != "adagrad, squared" and "perceptron" not in name:
        assert certificate.verdict is Verdict.HOLDS, str(certificate)


@every_learner
@settings(max_examples=12)
@given(
    problem=small_integers,
    scale=st.sampled_from([1.0, 1.0, 1e-3, 30.0]),
    passes=st.integers(1, 3),
    intercept=st.booleans(),
)
def test_no_sequence_breaks_a_bound(name, problem, scale, passes, intercept):
    X, y = problem
    X = scale * np.array(X, dtype=float)
    learner = make(name, intercept=intercept)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.assumptions[0].holds, str(certificate)
    none_is_broken(certificate)
    told = [a for each in all_of(certificate) for a in each.assumptions if "rule" in a.detail or "score is" in a.detail]
    assert not told, str(told[0])


# ---------------------------------------------------------------------- formulas


def test_winnows_formula_at_its_best_rate():
    for n, r, rho in ((2, 1.0, 0.1), (1000, 3.0, 0.5)):
        assert WinnowBound.bound(n, r, rho, rho / r**2) == pytest.approx(2 * (r / rho) ** 2 * math.log(n))
        assert WinnowBound.bound(n, r, rho, 0.7 * rho / r**2) == pytest.approx(
            naive.winnow_bound(n, r, rho, 0.7 * rho / r**2)
        )
        # A margin is a hinge loss of 0 at length 1/rho.
        assert WinnowHingeBound.bound(n, r, 1 / rho, 0.0, 0.7 * rho / r**2) == pytest.approx(
            WinnowBound.bound(n, r, rho, 0.7 * rho / r**2)
        )
    assert WinnowHingeBound.bound(5, 1.0, 100.0, 0.0, 1.0) == math.inf
    assert MarginUpdateBound.bound(3.0, 0.5) == 576


@pytest.mark.parametrize("kind", [aw.Winnow, aw.BalancedWinnow])
def test_winnow_meets_its_theorem_where_few_features_matter(kind):
    """Signs of one expert among many, which are +1 or -1: 2 ln N mistakes at rate 1."""
    for n in (4, 64, 500):
        random = np.random.default_rng(n)
        X = random.choice([-1.0, 1.0], size=(150, n))
        y = X[:, n // 2].astype(int)
        learner = kind(rate=1.0)
        learner.learn_many(X, y)
        entries = n if kind is aw.Winnow else 2 * n
        found = by_name(learner.certificate(X, y))["Winnow's margin bound"]
        assert found.verdict is Verdict.HOLDS
        assert found.inputs["rho"] == pytest.approx(1)
        assert found.inputs["N"] == entries
        assert found.bound == pytest.approx(2 * math.log(entries), rel=1e-6)
        assert learner.mistakes <= 2 * math.log(entries)


@pytest.mark.parametrize("kind", [aw.Winnow, aw.BalancedWinnow])
@settings(max_examples=40)
@given(problem=small_integers, u=st.lists(st.integers(0, 4), min_size=5, max_size=5))
def test_winnows_bounds_are_those_of_the_formulas(kind, problem, u):
    X, y = problem
    rate, width = 0.05, len(X[0])
    u = u[:width]
    learner = kind(rate=rate)
    learner.learn_many(X, y)
    named = by_name(learner.certificate(X, y, comparator=u))
    n = width if kind is aw.Winnow else 2 * width
    r = max(abs(b) for x in X for b in x)
    hinge = named["Winnow's hinge bound"]
    if hinge.bound is None:
        return
    length = hinge.inputs["|u|_1"]
    v = [a * length / sum(u) for a in u] if sum(u) else u
    assert hinge.inputs["N"] == n
    assert hinge.inputs["r"] == r
    total = sum(naive.hinge_losses(v, X, y))
    assert hinge.inputs["L"] == pytest.approx(total, abs=1e-9)
    assert hinge.bound == pytest.approx(naive.winnow_hinge_bound(n, r, length, total, rate))
    rho = min(label * naive.dot(u, x) for x, label in zip(X, y, strict=True)) / sum(u) if sum(u) else 0
    margin = named["Winnow's margin bound"]
    if rho > 0 and rate < 2 * rho / r**2:
        assert margin.bound == pytest.approx(naive.winnow_bound(n, r, rho, rate))
    else:
        assert margin.bound is None


@settings(max_examples=40)
@given(problem=small_integers, passes=st.integers(1, 2))
def test_the_margin_perceptrons_bound(problem, passes):
    X, y = problem
    learner = aw.MarginPerceptron(margin=0.25)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.observed == learner.updates
    if certificate.bound is not None:
        assert certificate.bound == pytest.approx(16 * (naive.radius(X) / 0.25) ** 2)


# ---------------------------------------------------------------------- regret


@pytest.mark.parametrize("name", GRADIENT)
@settings(max_examples=25)
@given(problem=small_integers, u=st.lists(st.integers(-4, 4), min_size=5, max_size=5), passes=st.integers(1, 2))
def test_losses_and_bounds_are_those_of_the_formulas(name, problem, u, passes):
    X, y = problem
    kind, options = LEARNERS[name]
    learner = kind(**options)
    p = learner.parameters
    ball, box, rate = p.get("ball"), p.get("box"), p["rate"]
    limit = box if box is not None else (ball / 2 / math.sqrt(5) if ball is not None else 1.0)
    u = [limit * a / 4 for a in u[: len(X[0])]]
    scores = []
    for _ in range(passes):
        scores += learner.learn_scores(X, y).tolist()
    certificate = learner.certificate(X, y, comparator=u)
    named, labels, rows = by_name(certificate), y * passes, X * passes
    if kind is aw.OnlineSVM:
        if any(label * s == 1 for s, label in zip(scores, labels, strict=True)):
            assert certificate.verdict is Verdict.NOT_APPLICABLE
            return
        w, observed, squares = [0.0] * len(u), 0.0, 0.0
        for x, label in zip(rows, labels, strict=True):
            observed += naive.svm_objective(w, x, label, p["C"])
            g = [a - (p["C"] * label * b if label * naive.dot(w, x) < 1 else 0) for a, b in zip(w, x, strict=True)]
            squares += naive.dot(g, g)
            w = [a - rate * b for a, b in zip(w, g, strict=True)]
        of_u = sum(naive.svm_objective(u, x, label, p["C"]) for x, label in zip(rows, labels, strict=True))
        of_zero = len(rows) * p["C"]
        largest = 2 * p["C"] * naive.radius(X)
    else:
        adaptive = kind is aw.AdaGrad
        run = naive.descent(
            X, y, p["loss"], rate, p.get("schedule") == "1/sqrt(t)", ball, adaptive, p.get("delta", 0), box, passes
        )
        if scores != pytest.approx(run["scores"], rel=1e-9, abs=1e-9):
            return  # a score at a kink that rounding put on the other side
        observed = sum(run["losses"])
        squares = sum(naive.dot(g, g) for g in run["gradients"])
        of_u = passes * sum(naive.loss_of(p["loss"], naive.dot(u, x), label) for x, label in zip(X, y, strict=True))
        of_zero = passes * sum(naive.loss_of(p["loss"], 0.0, label) for label in y)
        largest = naive.radius(X) * (1 + naive.radius(X) * (ball or 0) if p["loss"] == "squared" else 1)
    assert certificate.observed == pytest.approx(observed, rel=1e-8, abs=1e-8)
    none_is_broken(certificate)

    def judged(theorem, regret_of_u, regret_of_zero):
        found = named[theorem]
        assert found.bound == pytest.approx(min(of_u + regret_of_u, of_zero + regret_of_zero), rel=1e-8, abs=1e-8)

    size = naive.norm(u)
    if kind is not aw.AdaGrad and p.get("schedule", "constant") == "constant":
        both = [v / (2 * rate) for v in (size**2, 0.0)]
        judged(
            "regret at a constant rate, gradients as they were",
            both[0] + rate * squares / 2,
            both[1] + rate * squares / 2,
        )
        if p.get("loss") != "squared" or ball is not None:
            slack = rate * len(rows) * largest**2 / 2
            judged("regret at a constant rate", both[0] + slack, both[1] + slack)
            assert (
                named["regret at a constant rate"].bound
                >= named["regret at a constant rate, gradients as they were"].bound - 1e-9
            )
    if kind is aw.SGD and ball is not None and learner.updates:
        played = run["rates"]
        weighted = sum(r * naive.dot(g, g) for r, g in zip(played, run["gradients"], strict=True))
        observed_ball = named["regret on a ball, gradients as they were"]
        # Passes after one without an update are not played again, nor is anything lost in them.
        if observed_ball.inputs["eta_T"] == pytest.approx(played[-1]):
            judged("regret on a ball, gradients as they were", *[(2 * ball) ** 2 / (2 * played[-1]) + weighted / 2] * 2)
            judged("regret on a ball", *[(2 * ball) ** 2 / (2 * played[-1]) + largest**2 * sum(played) / 2] * 2)
            assert named["regret on a ball"].bound >= observed_ball.bound - 1e-9
    if kind is aw.AdaGrad:
        history = [[0.0] * len(u), *run["weights"]]

        def regret(v):
            far = [max(abs(w[j] - v[j]) for w in history) for j in range(len(v))]
            roots = [math.sqrt(p["delta"] + s) for s in run["sums"]]
            return sum(d * d * root for d, root in zip(far, roots, strict=True)) / (2 * rate) + rate * sum(
                math.sqrt(s) for s in run["sums"]
            )

        judged("adaptive regret, gradients as they were", regret(u), regret([0.0] * len(u)))
        if box is not None:
            sizes = [math.sqrt(passes * sum(x[j] ** 2 for x in X)) for j in range(len(u))]
            roots = sum(math.sqrt(p["delta"] + s * s) for s in sizes)
            judged("adaptive regret in a box", *[(2 * box) ** 2 * roots / (2 * rate) + rate * sum(sizes)] * 2)


@pytest.mark.parametrize("name", GRADIENT)
def test_the_comparator_found_is_worth_something(name):
    """In hindsight the loss is below that of doing nothing, and no random comparator makes the bound smaller."""
    stream = adversaries.label_noise(adversaries.separable(150, 4, margin=0.1, seed=8), 0.05, seed=9)
    learner = make(name)
    learner.learn_many(stream.X, stream.y)
    certificate = learner.certificate(stream.X, stream.y)
    random = np.random.default_rng(0)
    p = learner.parameters
    for _ in range(15):
        u = random.standard_normal(4)
        u *= random.uniform(0, p.get("ball") or p.get("box") or 5) / np.linalg.norm(u)
        given_one = by_name(learner.certificate(stream.X, stream.y, comparator=u))
        for each in all_of(certificate):
            if each.bound is not None and each.theorem.foreseeable:
                assert each.bound <= given_one[each.theorem.name].bound * (1 + 1e-2)


def test_comparators_outside_are_refused():
    X, y = [[1.0, 2.0], [0.5, -1.0]], [1, -1]
    for learner, message in (
        (
            aw.SGD(intercept=False, ball=1.0),
            r"^comparator must be in the ball, no longer than 1; received a longer one$",
        ),
        (
            aw.AdaGrad(intercept=False, box=1.0),
            r"^comparator must be in the box, no weight larger than 1; received a larger one$",
        ),
        (aw.Winnow(), r"^comparator must be weights that are not negative; received negative ones$"),
    ):
        learner.learn_many(X, y)
        bad = [-1.0, 1.0] if isinstance(learner, aw.Winnow) else [0.9, 1.1]
        with pytest.raises(InputError, match=message):
            learner.certificate(X, y, comparator=bad)
        assert learner.certificate(X, y, comparator=[0.3, 0.4]).assumptions[0].holds
    balanced = aw.BalancedWinnow()
    balanced.learn_many(X, y)
    assert balanced.certificate(X, y, comparator=[-1.0, 1.0]).verdict is Verdict.HOLDS


# ---------------------------------------------------------------------- what must not be certified


def refused(certificate):
    for each in all_of(certificate):
        assert each.verdict is Verdict.NOT_APPLICABLE, str(each)
        assert each.bound is None
    return not certificate.assumptions[0].holds


@every_learner
@pytest.mark.parametrize("change", ["order", "label", "value", "fewer", "more", "wider"])
def test_other_rounds_are_noticed(name, change):
    stream = adversaries.label_noise(adversaries.separable(40, 3, margin=0.05, seed=6), 0.2, seed=1)
    learner = make(name)
    learner.learn_many(stream.X, stream.y)
    X, y = stream.X.copy(), stream.y.copy()
    updated = np.empty(len(y), dtype=np.int8)
    make(name)._learn(learner._read(X), y.astype(np.int8), updated)
    at = int(np.flatnonzero(updated)[0])
    if change == "order":
        X, y = X[::-1], y[::-1]
    elif change == "label":
        y[at] *= -1
    elif change == "value":
        X[at] *= 1.001
    elif change == "fewer":
        X, y = X[:-1], y[:-1]
    elif change == "more":
        X, y = np.vstack([X, X[:1]]), np.append(y, y[0])
    else:
        X = np.hstack([X, np.ones((len(y), 1))])
    assert refused(learner.certificate(X, y))


@every_learner
def test_the_same_rounds_in_other_clothes_are_accepted(name):
    stream = adversaries.separable(40, 3, margin=0.1, seed=6)
    X, y = np.round(stream.X, 2), stream.y
    learner = make(name)
    learner.learn_many(X, y)
    assert learner.certificate(sparse.csr_array(X), y).assumptions[0].holds
    named = make(name)
    named.learn_many(as_dicts(X.tolist()), y)
    assert named.certificate([dict(reversed(x.items())) for x in as_dicts(X.tolist())], y).assumptions[0].holds


@every_learner
@pytest.mark.parametrize(
    "part", ["weights", "mistakes", "updates", "rounds", "scale", "moments", "exponents", "squares"]
)
def test_a_state_that_was_tampered_with_is_noticed(name, part):
    stream = adversaries.label_noise(adversaries.separable(40, 3, margin=0.1, seed=6), 0.2, seed=1)
    learner = make(name)
    learner.learn_many(stream.X, stream.y)
    state = learner.state()
    if part not in state or (part == "updates" and name == "voted"):
        return  # it has none; votes must fit the updates
    value = state[part]
    if isinstance(value, np.ndarray):
        value = value.copy()
        value[1] *= 1.01
    elif isinstance(value, float):
        value *= 0.99
    else:
        value += 1 if part == "rounds" else -1
    try:
        learner.restore({**state, part: value})
    except InputError:
        return  # its parts do not fit together, which can be seen without the rounds
    assert refused(learner.certificate(stream.X, stream.y))


def cheating(kind, **options):
    """A learner of the same name whose rounds are those of another one, made with other options."""

    class Cheat(kind):
        def _learn(self, rows, signs, updated=None):
            other = kind(**{**self.parameters, **options})
            other.restore(self.state())
            scores = other._learn(rows, signs, updated)
            self.restore(other.state())
            return scores

    return Cheat


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("winnow", {"rate": 0.3}),
        ("balanced winnow", {"rate": 0.3}),
        ("margin", {"margin": 0.5}),
        ("svm", {"rate": 0.06}),
        ("svm", {"C": 1.1}),
        ("sgd", {"rate": 0.031}),
        ("sgd", {"loss": "squared"}),
        ("sgd, hinge in a ball", {"ball": 1.0}),
        ("sgd, hinge in a ball", {"schedule": "constant"}),
        ("adagrad", {"rate": 0.16}),
        ("adagrad", {"delta": 0.1}),
        ("adagrad in a box", {"box": 0.2}),
        ("adagrad in a box", {"box": None}),
    ],
)
def test_a_learner_that_does_something_else_is_caught(name, options):
    kind, own = LEARNERS[name]
    stream = adversaries.label_noise(adversaries.separable(150, 4, margin=0.1, seed=6), 0.1, seed=1)
    X, y = 3 * stream.X, stream.y
    learner = cheating(kind, **options)(**own)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.assumptions[0].holds, "it agrees with itself"
    refused(certificate)
    assert "was not treated by the rule" in str(certificate) or "the recomputed score differs" in str(certificate)


@pytest.mark.parametrize("which", [1, -1])
@pytest.mark.parametrize(
    "kind", [aw.AveragedPerceptron, aw.VotedPerceptron, aw.MarginPerceptron, aw.Winnow, aw.BalancedWinnow]
)
def test_a_learner_that_hides_an_update_is_caught(kind, which):
    class Careless(kind):
        def _learn(self, rows, signs, updated=None):
            noted = np.empty(rows.count, dtype=np.int8) if updated is None else updated
            scores = super()._learn(rows, signs, noted)
            noted[np.flatnonzero(noted)[which]] = 0
            return scores

    stream = adversaries.separable(60, 3, margin=0.1, seed=6)
    X = np.abs(stream.X) if kind is aw.Winnow else stream.X
    learner = Careless()
    learner.learn_many(X, stream.y)
    certificate = learner.certificate(X, stream.y)
    refused(certificate)
    assert "was not treated by the rule" in str(certificate)


def test_where_the_svm_stands_still_its_theorem_is_silent():
    X, y = [[2.0, 0.0], [1.0, 1.0], [3.0, 1.0]], [1, 1, -1]
    learner = aw.OnlineSVM(C=1.0, rate=0.5)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.assumptions[0].holds
    refused(certificate)
    assert "1 round had it, where no step is taken" in str(certificate)


# ---------------------------------------------------------------------- training to convergence


@pytest.mark.parametrize("seed", range(5))
def test_leaving_one_out_after_training(seed):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, (30, 3))
    target = np.array([2, -1, 1])
    X = X[np.abs(X @ target) >= 1]
    y = np.where(X @ target > 0, 1, -1)
    learner = aw.Perceptron()
    training = learner.fit(X, y, max_passes=10_000)
    assert training.converged
    found = by_name(learner.certificate(X, y)).get("error after training to convergence")
    assert (found is None) == (training.passes < 2)
    if found is None:
        return
    assert found.verdict is Verdict.HOLDS
    assert found.observed == naive.leave_one_out(X.tolist(), y.tolist())
    gamma = by_name(learner.certificate(X, y))["margin bound"].inputs["gamma"]
    assert found.bound == pytest.approx(min(learner.mistakes, (naive.radius(X.tolist()) / gamma) ** 2) / len(y))
    assert found.observed <= found.bound
    shown = [found.inputs[name] for name in ("M", "R", "gamma", "n")]
    assert shown == [learner.mistakes, pytest.approx(naive.radius(X.tolist())), gamma, len(y)]
    # The theorem is about means over samples: no sentence may read as if it were about this learner.
    assert ", on average over samples, not for each of them" in found.line()
    assert "on average over samples, not for each of them" in str(found)


def test_one_pass_is_no_training():
    stream = adversaries.separable(50, 3, margin=0.1, seed=0)
    learner = aw.Perceptron()
    learner.learn_many(stream.X, stream.y)
    assert "error after training to convergence" not in by_name(learner.certificate(stream.X, stream.y))


def test_training_that_was_stopped_gives_no_bound_on_the_error():
    stream = adversaries.separable(80, 4, margin=0.02, seed=0)
    learner = aw.Perceptron()
    learner.fit(stream.X, stream.y, max_passes=2)
    found = by_name(learner.certificate(stream.X, stream.y))["error after training to convergence"]
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "still made updates" in str(found)


def test_a_bound_above_the_loss_of_weights_that_stay_at_0_says_nothing():
    X, y = np.array([[1000.0], [-1000.0]] * 5), [1, 1] * 5
    learner = aw.SGD(intercept=False, rate=0.1)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    at_zero = 10 * math.log(2)
    assert certificate.ceiling.value == pytest.approx(at_zero)
    assert certificate.bound > at_zero
    assert certificate.vacuous
    assert "weights that stay at 0 lose no more than the bound" in " ".join(str(certificate).split())
    gentle = aw.SGD(intercept=False, rate=0.1)
    gentle.learn_many(np.ones((200, 1)), [1] * 200)
    assert not gentle.certificate(np.ones((200, 1)), [1] * 200).vacuous


def test_only_the_comparator_of_a_bound_makes_it_uncertain():
    """Long rows make every other comparator's scores huge, and these are not in the bound, which is that of 0."""
    X, y = np.array([[1e12, 0.0], [0.0, -1e12]]), [1, -1]
    learner = aw.SGD(intercept=False, loss="perceptron", rate=5e-27)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y, comparator=[1.0, 1.0])
    for made in (certificate, *certificate.others):
        if made.bound is not None:
            assert made.inputs["u"] == "zero"
            assert made.rounding < 1e-9 * made.bound
            assert replace(made, observed=1.5 * made.bound).verdict == "violated"


def test_the_average_of_weights_that_shrink_fast_counts_every_round():
    """The scale of the weights falls below all that can be added to 1."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((40, 3)), random.choice([-1, 1], 40)
    learner, weights = aw.OnlineSVM(C=0.1, rate=0.9), []
    for x, label in zip(X, y.tolist(), strict=True):
        weights.append(learner.weights if learner.rounds else np.zeros(3))
        learner.learn_one(x, label)
    found = evidence_of(learner, *read_examples(X, y, learner.labels), None)
    assert found.trace.average == pytest.approx(np.mean(weights, axis=0), rel=1e-8)
