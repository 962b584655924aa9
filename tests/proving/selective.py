"""The selective perceptron: small streams in exact arithmetic with the same draws, and whole trees of draws."""

import numpy as np

import afterwit as aw
import naive_selective as naive
from naive_bounds import BOUNDS
from proving.judging import Truth, all_of, key_of
from proving.linear import Comparison, Sought, compared, form_of, seen_rows, stream
from proving.searching import judges, subject
from proving.sequences import pick

NAME = "SelectivePerceptron"
HERE = "linear.selective_perceptron."
IDS = {
    "SelectiveBound": "selective-perceptron",
    "SharperSelectiveBound": "selective-perceptron-sharper",
    "SelectiveUpdateBound": "selective-perceptron-updates",
}
judges(*(HERE + name for name in IDS))


@subject(NAME)
def selective_perceptron(table, random):
    X, y, u, _ = stream(random)
    intercept, passes = bool(random.random() < 0.3), int(random.choice([1, 1, 1, 3]))
    rows, seed = seen_rows(X, intercept), int(random.integers(2**63))
    radius = float(np.sqrt(max((sum(a * a for a in x) for x in rows), default=1.0))) or 1.0
    b = radius**2 * pick(random, 0.5, 0.5, 1.0, 0.1, 0.01, 10.0, 1e3)
    learner = aw.SelectivePerceptron(b, seed, intercept)
    run = naive.Run(rows, y.tolist(), b, seed, passes)
    skips = random.random() < 0.3 and passes == 1 and not run.fragile
    if skips:
        X, y = asking(table, learner, X, y, run)
        rows = seen_rows(X, intercept)
        updates = [run.asked.index(t) for t in run.updates]
    else:
        predicted = np.concatenate([learner.learn_many(form_of(random, X), y) for _ in range(passes)])
        updates = run.updates
    if not run.fragile:
        observed = {"mistakes": run.mistakes, "updates": len(run.updates), "estimated mistakes": float(run.estimate)}
        table.same("", NAME, [learner.asked, learner.updates], [len(run.asked), len(run.updates)])
    else:
        observed = {"mistakes": int((predicted != np.tile(y, passes)).sum())}
    given = random.random() < 0.7
    u = [0.0, *u] if intercept else list(u)
    comparison = Comparison(rows, y, u)
    sought = None if given else Sought(rows, y.tolist(), passes)
    comparator = (u[1:] if intercept else u) if given else None
    for made in all_of(learner.certificate(X, y, comparator=comparator)):
        seen = observed.get(made.quantity)
        # Only the mistakes are counted from the predictions; rounding may have decided about the others.
        if made.bound is None:
            table.certificate(made, NAME, None)
        elif not given:
            table.certificate(made, NAME, lambda made=made, seen=seen: sought.truth(made, seen))
        else:
            bound = (
                stated(made, comparison, updates, passes, b)
                if not run.fragile or "update" not in made.theorem.name
                else None
            )
            slack = 1e-6 * float(bound or 0) if type(made.theorem).__name__ == "SimpleUpdateHingeBound" else 0.0
            if made.theorem.chance:
                if bound is not None:
                    table.stated(key_of(type(made.theorem)), NAME, made.bound, bound)
                continue
            table.certificate(made, NAME, Truth(seen, None if bound is None else float(bound), bound_slack=slack))


def stated(made, comparison, updates, passes, b):
    """The bound of the theorem for the comparator and the scale that the certificate names."""
    name = type(made.theorem).__name__
    if name not in IDS:
        return compared(made, comparison, updates, passes)
    length = made.inputs["|u|"]
    scale = length / comparison.length if comparison.length else 0.0
    losses = comparison.hinges(scale, updates if name == "SelectiveUpdateBound" else None)
    total = float(sum(losses)) * (1 if name == "SelectiveUpdateBound" else passes)
    return BOUNDS[IDS[name]](comparison.radius, b, length, total)


def asking(table, learner, X, y, run):
    """Let it learn only the labels that it wants; the rounds in which it asked."""
    asked = []
    for t, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
        if learner.asks(x):
            asked.append(t)
            said = learner.learn_one(x, label)
        else:
            said = learner.skip(x)
        table.same("", NAME, [said], [run.predictions[t]])
    table.same("", NAME, asked, run.asked)
    return X[asked], y[asked]


@subject(
    "the draws of the selective perceptron", *(HERE + name for name in ("SelectiveBound", "SharperSelectiveBound"))
)
def means(table, random):
    """On average over all outcomes of the draws, exactly; and for single runs of the learner, as they come."""
    rounds, width = int(random.integers(1, 11)), int(random.integers(1, 4))
    X, y = random.integers(-3, 4, (rounds, width)), np.where(random.random(rounds) < 0.5, 1, -1)
    u, b = random.standard_normal(width) * pick(random, 0.1, 0.5, 1.0), pick(random, 0.25, 1.0, 4.0, 30.0)
    comparison = Comparison(X.tolist(), y, u.tolist())
    mistakes, estimate = naive.expectations(X.tolist(), y.tolist(), b)
    table.same("", NAME, float(mistakes - estimate), 0.0)
    learner = aw.SelectivePerceptron(b, seed=int(random.integers(2**63)))
    learner.learn_many(X.astype(float), y)
    for made in all_of(learner.certificate(X.astype(float), y, comparator=u)):
        if made.theorem.chance and made.bound is not None:
            key = key_of(type(made.theorem))
            wanted = stated(made, comparison, [], 1, b)
            table.bounded(key, "the draws of the selective perceptron", float(mistakes), wanted)
            table.stated(key, "the draws of the selective perceptron", made.bound, wanted)
            table.on_average(key, NAME, learner.mistakes, made.bound)
