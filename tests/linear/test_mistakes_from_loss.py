"""Bounds on the loss as bounds on the mistakes: a wrong sign costs at least that of a score of 0."""

import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import Verdict
from afterwit.data.margin_losses import COST_OF_A_WRONG_SIGN, LOSSES, losses
from afterwit.linear._regret import MistakesFromLoss

#: A learner, and the least that a wrong sign costs it.
LEARNERS = {
    "sgd, logistic": (aw.SGD, {"intercept": False}, math.log(2)),
    "sgd, hinge": (aw.SGD, {"intercept": False, "loss": "hinge"}, 1.0),
    "sgd, squared in a ball": (aw.SGD, {"intercept": False, "loss": "squared", "ball": 0.5}, 0.5),
    "adagrad": (aw.AdaGrad, {"intercept": False}, math.log(2)),
    "adagrad in a box": (aw.AdaGrad, {"intercept": False, "loss": "hinge", "box": 0.5}, 1.0),
    "scale-free": (aw.ScaleFree, {"epsilon": 0.1}, math.log(2)),
    "svm": (aw.OnlineSVM, {"C": 30.0, "rate": 0.01}, 30.0),
    "svm, cheap": (aw.OnlineSVM, {"C": 0.25, "rate": 0.01}, 0.25),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def data(rounds=60, width=3, seed=1):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, width))
    return X, np.where(X @ random.standard_normal(width) + 0.4 * random.standard_normal(rounds) >= 0, 1, -1)


def both(learner, X, y, **how):
    """The certificates on the loss, and the one on the mistakes."""
    first = learner.certificate(X, y, **how)
    made = [first, *first.others]
    (mistakes,) = (each for each in made if isinstance(each.theorem, MistakesFromLoss))
    return [each for each in made if each is not mistakes], mistakes


@every_learner
def test_the_bound_is_the_least_bound_on_the_loss_divided_by_the_cost_of_a_mistake(name):
    kind, options, cost = LEARNERS[name]
    X, y = data()
    learner = kind(**options)
    wrong = sum(learner.learn_one(x, label) != label for x, label in zip(X, y, strict=True))
    on_loss, made = both(learner, X, y)
    least = min((each for each in on_loss if each.bound is not None), key=lambda each: each.bound)
    assert made.bound == least.bound / cost
    assert (made.quantity, made.observed, made.verdict) == ("mistakes", wrong, Verdict.HOLDS)
    assert made.inputs["c"] == cost
    assert made.inputs["loss"] == least.bound
    assert made.inputs["u"] == least.inputs["u"]
    assert made.theorem.foreseeable is least.theorem.foreseeable
    assert made.ceiling.value == len(X)
    assert on_loss[0].quantity == "loss", "the sharper statement comes first"


@pytest.mark.parametrize("loss", LOSSES)
def test_no_wrong_sign_costs_less_and_that_of_0_costs_just_as_much(loss):
    scores = np.concatenate([[0.0, -0.0, 5e-324], 10.0 ** np.arange(-300, 9)])
    cost = COST_OF_A_WRONG_SIGN.get(loss, 0.0)
    assert losses(loss, -1, 0.0) == cost
    assert (losses(loss, -1, scores) >= cost).all()
    assert (losses(loss, 1, -scores) >= cost).all()
    assert loss == "perceptron" or cost > 0


@pytest.mark.parametrize("kind", [aw.SGD, aw.AdaGrad, aw.ScaleFree])
def test_a_wrong_sign_may_have_no_perceptron_loss(kind):
    X, y = data()
    learner = kind(loss="perceptron")
    learner.learn_many(X, y)
    on_loss, made = both(learner, X, y)
    assert on_loss[0].bound is not None
    assert (made.bound, made.verdict) == (None, Verdict.NOT_APPLICABLE)
    assert made.why_not() == ["a wrong sign may have a perceptron loss of 0"]
    assert "mistakes" not in str(on_loss[0])


def test_an_adversary_comes_as_close_as_the_rate_is_small():
    """Every label is wrong: T mistakes of hinge loss 1, and a bound of T + rate T / 2."""
    learner = aw.SGD(intercept=False, loss="hinge", rate=1e-6)
    y = []
    for _ in range(50):
        y.append(-learner.predict_one([1.0]))
        learner.learn_one([1.0], y[-1])
    _, made = both(learner, np.ones((50, 1)), y, comparator=[0.0])
    assert made.observed == 50
    assert made.bound == pytest.approx(50 + 1e-6 * 50 / 2, rel=1e-12)


@every_learner
def test_hindsight_counts_the_mistakes_of_fixed_weights(name):
    kind, options, _ = LEARNERS[name]
    X, y = data()
    learner = kind(**options)
    for _ in range(2):
        learner.learn_many(X, y)
    given = np.array([1.0, -2.0, 0.5])
    given *= 0.1 / np.linalg.norm(given)
    _, made = both(learner, X, y, comparator=given)
    last = np.array([learner.weights[i] for i in range(3)])
    candidates = [np.zeros(3), given, last] if not getattr(learner, "intercept", False) else [np.zeros(3), given]
    assert made.observed == learner.mistakes
    assert made.hindsight.quantity == "mistakes"
    assert made.hindsight.value % 2 == 0, "each row was played twice"
    assert made.hindsight.value <= min(2 * np.count_nonzero((X @ u >= 0) != (y > 0)) for u in candidates)
    none = both(learner, X, y, comparator=None)[1].hindsight
    assert none.value <= made.hindsight.value


def test_other_rounds_than_those_it_learned_have_no_bound():
    X, y = data()
    learner = aw.AdaGrad(
        intercept=False,
    )
    learner.learn_many(X, y)
    on_loss, made = both(learner, X[:-1], y[:-1])
    assert made.bound is None
    assert made.hindsight is None
    assert made.why_not() == on_loss[0].why_not()


def test_where_no_bound_on_the_loss_applies_there_is_none_on_the_mistakes():
    X, y = data()
    learner = aw.SGD(intercept=False, schedule="1/sqrt(t)")
    learner.learn_many(X, y)
    on_loss, made = both(learner, X, y)
    assert {each.bound for each in on_loss} == {None}
    assert made.bound is None
    assert made.why_not() == ["the rate decreases"]


def test_a_certificate_prints_both():
    X, y = data(400)
    learner = aw.AdaGrad(
        intercept=False,
    )
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    _, made = both(learner, X, y)
    lines = str(certificate).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("  mistakes"))
    share = f"({int(made.bound) / 400:.2%} of the rounds)"
    assert lines[place] == f"  mistakes   bound {int(made.bound)} {share}"
    assert lines[place + 1].strip() == f"happened {learner.mistakes} ({learner.mistakes / 400:.2%} of the rounds)"
    assert lines[place + 2].strip().startswith(f"hindsight {made.hindsight.value} ")
    assert "mistakes" in certificate._repr_html_()
    assert "mistakes, from the bound on the loss: at most" in certificate.details()


def test_one_against_the_rest_of_gradient_learners_has_a_bound():
    X, y = data(90, 2)
    y = np.where(X[:, 0] > 0.5, "a", np.where(y > 0, "b", "c"))
    learner = aw.OneVsRest(
        aw.AdaGrad(
            intercept=False,
        ),
        labels=("a", "b", "c"),
    )
    learner.learn_many(X, y)
    made = learner.certificate(X, y)
    parts = []
    for label in ("a", "b", "c"):
        binary = aw.AdaGrad(
            intercept=False,
        )
        signs = np.where(y == label, 1, -1)
        binary.learn_many(X, signs)
        parts.append(both(binary, X, signs)[1].bound)
    assert made.verdict is Verdict.HOLDS
    assert made.bound == pytest.approx(sum(parts))
