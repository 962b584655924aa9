"""ScaleFree, alone and behind the scores of a learner: losses of the scores it showed, and its bound from the values and slopes of every feature alone."""

import math
from fractions import Fraction

import numpy as np

import afterwit as aw
import naive
import naive_exact as exact
from proving.descent import mistakes_from_loss
from proving.judging import EPSILON, HINDSIGHT, Truth, all_of, key_of
from proving.linear import form_of, seen_rows, stream
from proving.searching import subject
from proving.sequences import pick


@subject("ScaleFree", "linear.scale_free.ScaleFreeBound", "linear._regret.MistakesFromLoss")
def scale_free(table, random):
    X, y, u, _ = stream(random, 25)
    if len(X) and random.random() < 0.3:
        # Values that grow: the bets are made with what was the largest before.
        X = X * 2.0 ** (random.choice([0.3, 1.0]) * np.arange(len(X)))[:, None]
    loss, epsilon = pick(random, "perceptron", "hinge", "logistic"), pick(random, 1.0, 1.0, 0.01, 20.0)
    intercept, passes = bool(random.random() < 0.5), int(random.choice([1, 1, 2]))
    learner = aw.ScaleFree(epsilon=epsilon, loss=loss, intercept=intercept)
    shown = np.concatenate([learner.learn_scores(form_of(random, X), y) for _ in range(passes)])
    rows, labels = seen_rows(X, intercept) * passes, y.tolist() * passes
    run = features_of(rows, labels, shown.tolist(), loss, X.shape[1] + intercept)
    total = loss_shown(shown, labels, loss)
    slack = 64 * EPSILON * (len(rows) + 16) * (total + epsilon * len(run["first"]) + sum(map(abs, shown)))
    u = (u * pick(random, 0.0, 0.1, 1.0, 10.0)).tolist()
    default = random.random() < 0.3
    found = learner.certificate(X, y) if default else learner.certificate(X, y, comparator=u)
    u = [0.0, *u] if intercept else u
    mistakes = sum((s >= 0) != (t > 0) for s, t in zip(shown.tolist(), labels, strict=True))
    bounds = []
    for made in all_of(found):
        if made.quantity == "mistakes":
            if default:
                # What the bound on the loss is was judged before; here only what follows from it.
                bounds = [(found.bound, found.bound)] if found.bound is not None else []
            mistakes_from_loss(table, "ScaleFree", made, loss, 1.0, mistakes, bounds)
            continue
        bound = None
        if made.bound is not None and not default:
            bound = min(
                loss_of(rows, labels, v, loss) + naive.scale_free_regret(run, v, epsilon) for v in ([0.0] * len(u), u)
            )
            bounds.append((bound, bound))
        table.certificate(made, "ScaleFree", Truth(total, bound, slack + 1e-9 * (bound or 0.0)))
        last = [learner.intercept_weight] * intercept + np.asarray(learner.weights).tolist()
        if default and made.hindsight is not None and len(last) == len(u):
            own = loss_of(rows, labels, last, loss)
            if made.hindsight.value > own + slack + 1e-9 * own:
                detail = f"{made.hindsight.value!r}, its last weights {own!r}"
                table.problem(key_of(type(made.theorem)), "ScaleFree", HINDSIGHT, detail)


@subject("Calibrated", "linear.scale_free.ScaleFreeBound", "linear._regret.MistakesFromLoss")
def calibrated(table, random):
    """The rows are the scores that the learner inside makes alone, after the constant feature."""
    X, y, _, _ = stream(random, 25)
    passes = int(random.choice([1, 1, 2]))
    inside = pick(
        random,
        aw.Perceptron(),
        aw.OnlineSVM(C=2.0, rate=0.1),
        aw.SGD(intercept=False, loss="hinge"),
        aw.AveragedPerceptron(),
    )
    learner, alone = aw.Calibrated(inside), inside.copy()
    shown = np.concatenate([learner.learn_scores(form_of(random, X), y) for _ in range(passes)])
    rows = [[1.0, score] for _ in range(passes) for score in alone.learn_scores(X, y).tolist()]
    labels = y.tolist() * passes
    run = features_of(rows, labels, shown.tolist(), "logistic", 2)
    total = loss_shown(shown, labels, "logistic")
    slack = 64 * EPSILON * (len(rows) + 16) * (total + 2.0 + sum(map(abs, shown)))
    mistakes = sum((s >= 0) != (t > 0) for s, t in zip(shown.tolist(), labels, strict=True))
    found = learner.certificate(X, y)
    least = naive.scale_free_regret(run, [0.0, 0.0], 1.0) + loss_of(rows, labels, [0.0, 0.0], "logistic")
    for made in all_of(found):
        if made.quantity == "mistakes":
            bounds = [(found.bound, found.bound)] if found.bound is not None else []
            mistakes_from_loss(table, "Calibrated", made, "logistic", 1.0, mistakes, bounds)
            continue
        table.certificate(made, "Calibrated", Truth(total, None, slack))
        if made.bound is not None and made.bound > least * (1 + 1e-9):
            detail = f"{made.bound!r}, and a = b = 0 gives {least!r}"
            table.problem(key_of(type(made.theorem)), "Calibrated", HINDSIGHT, detail)
        if made.hindsight is not None:
            own = loss_of(rows, labels, [learner.offset, learner.slope], "logistic")
            if made.hindsight.value > own + slack + 1e-9 * own:
                detail = f"{made.hindsight.value!r}, its last a and b {own!r}"
                table.problem(key_of(type(made.theorem)), "Calibrated", HINDSIGHT, detail)


def loss_shown(scores, labels, loss):
    """The total loss of the scores that were shown."""
    each = (exact.margin_loss(loss, Fraction(s), t) for s, t in zip(scores.tolist(), labels, strict=True))
    return float(sum(each, Fraction(0)))


def features_of(rows, labels, scores, loss, width):
    """What the bound depends on, for every feature: squared gradients, the largest value, the first that is not 0."""
    found = {"S": [0.0] * width, "M": [0.0] * width, "first": [0.0] * width}
    for i in range(width):
        values = [abs(x[i]) for x in rows]
        slopes = [naive.slope_of(loss, s, t) for s, t in zip(scores, labels, strict=True)]
        found["S"][i] = math.fsum((g * v) ** 2 for g, v in zip(slopes, values, strict=True))
        found["M"][i] = max(values, default=0.0)
        found["first"][i] = next((v for v in values if v), 0.0)
    return found


def loss_of(rows, labels, u, loss):
    each = (exact.margin_loss(loss, exact.dot(u, x), t) for x, t in zip(rows, labels, strict=True))
    return float(sum(each, Fraction(0)))
