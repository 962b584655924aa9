"""Perceptrons in feature space, and learners made of learners."""

import math

import numpy as np

import afterwit as aw
import naive_committee
import naive_exact as exact
import naive_kernels as naive
from afterwit import kernels
from afterwit.errors import AfterwitError
from expert_cases import Case
from naive_bounds import BOUNDS
from naive_multiclass import one_vs_rest
from proving.expert_truths import ORACLES, Run
from proving.experts import note_losses
from proving.judging import APPLIED, EPSILON, Truth, all_of, key_of
from proving.linear import HINGES, Sought, seen_rows, stream
from proving.searching import judges, subject
from proving.sequences import pick

#: Kernels, each with its definition.
KERNELS = (
    (kernels.linear, (), naive.linear),
    (kernels.polynomial, (2,), naive.polynomial(2)),
    (kernels.polynomial, (3,), naive.polynomial(3)),
    (kernels.all_products, (), naive.all_products),
    (kernels.gaussian, (0.8,), naive.gaussian(0.8)),
    (kernels.string, (2,), naive.string(2)),
)


def kernel_run(table, random, name):
    X, y, _, kind = stream(random, 25)
    X = X if kind != "unscaled" else np.clip(X, -10, 10)
    make, arguments, definition = pick(random, *KERNELS) if name == "KernelPerceptron" else KERNELS[0]
    passes = pick(random, 1, 1, 2)
    texts = make is kernels.string
    if texts:
        X = ["".join(random.choice(list("abc"), int(random.integers(2, 7)))) for _ in y]
    budget = pick(random, None, None, 1, 3)
    chosen = (make(*arguments),) if name == "KernelPerceptron" else ()
    learner = getattr(aw, name)(*chosen, budget=budget)
    wrong = np.concatenate([learner.learn_many(X, y) != y for _ in range(passes)])
    mistakes = int(wrong.sum())
    rows = X if texts else [naive.as_dict(row) for row in X.tolist()]
    _, updates, _, _, cost = naive.kernel_perceptron(definition, rows, y.tolist(), budget, passes)
    alike = updates == np.flatnonzero(wrong).tolist()
    given = random.random() < (0.6 if budget is None else 0.9)
    b = random.standard_normal(len(X)) * pick(random, 1.0, 0.1) if given else None
    found = learner.certificate(X, y, comparator=b) if given else learner.certificate(X, y)
    gram = [[exact.fraction(definition(x, z)) for z in rows] for x in rows]
    sought = None if given else Sought(in_coordinates(gram), y.tolist(), passes)
    for made in all_of(found):
        short = type(made.theorem).__name__
        if not given:
            table.certificate(made, name, lambda made=made: sought.truth(made, mistakes))
            continue
        bound = (
            bound_in_feature_space(made, gram, y.tolist(), b, updates, cost, passes)
            if made.bound is not None and alike
            else None
        )
        if short == "MarginBound" and given and made.bound is not None and bound is None and alike:
            table.problem(key_of(type(made.theorem)), name, APPLIED, "the comparator does not separate")
        slack = 0.0 if bound is None else 1e-6 * bound
        table.certificate(made, name, Truth(mistakes, bound, bound_slack=slack))


def in_coordinates(gram):
    """Rows whose products are those of the examples in feature space."""
    if not gram:
        return []
    values, vectors = np.linalg.eigh(np.array([[float(value) for value in row] for row in gram]))
    return (vectors * np.sqrt(np.maximum(values, 0.0))).tolist()


def bound_in_feature_space(made, gram, y, b, updates, cost, passes):
    """The bound for u = sum of b_t phi(x_t) at the scale that the certificate names."""
    scores = [exact.dot(b, row) for row in gram]
    margins = [label * score for label, score in zip(y, scores, strict=True)]
    square = sum((exact.fraction(c) * score for c, score in zip(b, scores, strict=True)), exact.fraction(0))
    radius = float(exact.root(max((row[t] for t, row in enumerate(gram)), default=exact.fraction(0))))
    short = type(made.theorem).__name__
    if short == "MarginBound":
        least = min(margins, default=1)
        return float(radius**2 * float(square) / float(least) ** 2) if least > 0 else None
    length = made.inputs["|u|"] if "|u|" in made.inputs else 1 / made.inputs["rho"]
    if length == 0 and short not in ("HingeBound", "RootHingeBound", "BudgetBound"):
        # The losses of all rounds, each 1, stand for those of the updates.
        return float(passes * len(y))
    scale = exact.fraction(length) / exact.root(square) if square > 0 else exact.fraction(0)
    only = range(passes * len(y)) if short in ("HingeBound", "RootHingeBound", "BudgetBound") else updates
    losses = [max(exact.fraction(0), 1 - scale * margins[t % len(y)]) for t in only]
    total = float(sum(losses, exact.fraction(0)))
    if short == "BudgetBound":
        a = radius * length
        return total + a * a / 2 + math.sqrt(a**4 / 4 + a * a * total + 2 * length**2 * max(0.0, float(cost)))
    if short == "EuclideanHingeBound":
        total = float(exact.root(sum((loss**2 for loss in losses), exact.fraction(0))))
    about_all = short in ("HingeBound", "RootHingeBound")
    return BOUNDS[HINGES[short]](radius, length if about_all else 1 / length, total)


judges("kernels.kernel_perceptron.BudgetBound")
for _name in ("KernelPerceptron", "DualPerceptron"):
    subject(_name)(lambda table, random, name=_name: kernel_run(table, random, name))


# ---------------------------------------------------------------------- learners made of learners


@subject("RepeatLastLabel", "experts.repeat_last_label.ChangesBound")
def repeat_last_label(table, random):
    rounds = int(random.choice([1, 2, 5, 40]))
    y = random.integers(0, 2, rounds) * 2 - 1
    X = random.standard_normal((rounds, 2))
    learner = aw.RepeatLastLabel()
    mistakes = int((learner.learn_many(X, y) != y).sum())
    changes = int((y[1:] != y[:-1]).sum())
    table.certificate(learner.certificate(X, y), "RepeatLastLabel", Truth(mistakes, 1 + changes))
    # Alternating labels, the first of them not the one it begins with: every round is a mistake.
    first = -int(aw.RepeatLastLabel().predict_one(X[0]))
    y = first * (-1) ** np.arange(rounds)
    learner = aw.RepeatLastLabel()
    learner.learn_many(X, y)
    table.attained("experts.repeat_last_label.ChangesBound", "RepeatLastLabel", learner.mistakes, rounds)


@subject("OneVsRest", "reductions.one_vs_rest.SumOfBounds")
def many_labels(table, random):
    X, _, _, kind = stream(random, 25)
    classes = int(random.integers(2, 5))
    y = (
        random.integers(0, classes, len(X))
        if random.random() < 0.5
        else np.argmax(X @ random.standard_normal((X.shape[1], classes)), axis=1)
    )
    announced = random.random() < 0.5
    base = pick(random, aw.Perceptron(), aw.Perceptron(intercept=True), aw.MarginPerceptron(margin=0.1))
    learner = aw.OneVsRest(base, labels=list(range(classes)) if announced else None)
    predicted = [learner.learn_one(x, label) for x, label in zip(X, y.tolist(), strict=True)]
    mistakes = sum(guess != label for guess, label in zip(predicted, y.tolist(), strict=True))
    if kind == "grid" and (np.round(X) == X).all() and type(base) is aw.Perceptron and not base.parameters["intercept"]:
        rows = [naive.as_dict(row) for row in X.tolist()]
        wanted = one_vs_rest(rows, y.tolist(), list(range(classes)) if announced else None)[1]
        table.same("", "OneVsRest", predicted, wanted)
    made = learner.certificate(X, y)
    rows = seen_rows(X, base.parameters.get("intercept"))
    table.certificate(made, "OneVsRest", lambda: sum_of_classes(made, learner, rows, y.tolist(), announced, mistakes))


def sum_of_classes(made, learner, rows, y, announced, mistakes):
    """The sum of the bounds of the classes, each computed from the rounds since its first example."""
    total, spread = (0.0 if announced else float(len(learner.classes))), 0.0
    for label, each in zip(learner.classes, made.others, strict=True):
        first = 0 if announced else y.index(label)
        signs = [1 if other == label else -1 for other in y[first:]]
        truth = Sought(rows[first:], signs, 1).truth(each, None)
        if truth.bound is None:
            return Truth(mistakes)
        total, spread = total + truth.bound, spread + truth.bound_slack
    return Truth(mistakes, total, bound_slack=spread)


@subject(
    "Committee",
    "reductions.committee.VoteBound",
    "reductions.committee.ExpectedMistakesBound",
    "reductions.committee.MixtureMistakesBound",
    "reductions.committee.MixtureLossBound",
)
def committee(table, random):
    if random.random() < 0.5:
        mixture(table, random)
        return
    X, y, _, _ = stream(random, 25)
    members = [aw.Perceptron(), aw.RepeatLastLabel(), aw.AveragedPerceptron(), aw.Perceptron(intercept=True)]
    votes(table, random, aw.Committee, members[: int(random.integers(1, 5))], X, y)


@subject("MulticlassCommittee", "reductions.committee.VoteBound", "reductions.committee.ExpectedMistakesBound")
def multiclass_committee(table, random):
    X, _, _, _ = stream(random, 25)
    classes = int(random.integers(2, 6))
    y = np.argmax(X @ random.standard_normal((X.shape[1], classes)), axis=1) if len(X) else np.zeros(0, dtype=int)
    y = np.where(random.random(len(X)) < pick(random, 0.0, 0.3, 1.0), random.integers(0, classes, len(X)), y)
    members = [
        aw.OneVsRest(aw.RepeatLastLabel()),
        aw.MulticlassPerceptron(),
        aw.NearestNeighbours(1),
        aw.SoftmaxAdaGrad(),
    ]
    votes(table, random, aw.MulticlassCommittee, members[: int(random.integers(1, 5))], X, y)


def votes(table, random, kind, members, X, y):
    """A committee of that kind beside its members, each of which learns alone."""
    name = kind.__name__
    weighting = pick(random, "AdaHedge", "BOA", "MLpol")
    learner = kind(members, weighting=weighting.lower())
    run = Run(Case(weighting, {"loss": "zero-one", "gradient": False}), len(members))
    wrong = [0] * len(members)
    twins = [type(member)(**member.parameters) for member in members]
    mistakes = 0
    for x, label in zip(X, y.tolist(), strict=True):
        weights = list(dict(learner.weights).values()) if isinstance(learner.weights, dict) else list(learner.weights)
        misses = [int(twin.learn_one(x, label) != label) for twin in twins]
        note_losses(run, [float(miss) for miss in misses], weights, None)
        wrong = [a + b for a, b in zip(wrong, misses, strict=True)]
        mistakes += int(learner.learn_one(x, label) != label)
    slack = 64 * EPSILON * (len(X) + 16) ** 2
    low, high = promised(run)
    for made in all_of(learner.certificate()):
        vote = type(made.theorem).__name__ == "VoteBound"
        bound, spread = (None, 0.0) if high is None else ((1 + vote) * high, (1 + vote) * (high - low))
        observed = mistakes if vote else float(sum(run.own))
        table.certificate(made, name, Truth(observed, bound, slack, bound_slack=spread + slack))
        if made.hindsight is not None:
            table.same(key_of(type(made.theorem)), name, made.hindsight.value, min(wrong), slack=slack)


def mixture(table, random):
    """Labels of a stream, or in half of the sequences those that the committee gives less."""
    X, y, _, _ = stream(random, 25)
    X = X / (np.abs(X).max(initial=0.0) or 1.0) if random.random() < 0.7 else X
    members = [aw.SGD(rate=2.0), aw.Perceptron(), aw.RepeatLastLabel(), aw.ScaleFree(), aw.Calibrated("perceptron")]
    members = [members[i] for i in random.permutation(5)[: int(random.integers(1, 6))]]
    learner = aw.Committee(members, labels=(-1, 1))
    twins = [type(member)(**{**member.parameters, "labels": (-1, 1)}) for member in members]
    adversary = random.random() < 0.5
    said, labels, mistakes = [], [], 0
    for x, given in zip(X, y.tolist(), strict=True):
        try:
            label = -learner.predict_one(x) if adversary else given
            said.append([twin.score_one(x) for twin in twins])
            for twin in twins:
                twin.learn_one(x, label)
            mistakes += int(learner.learn_one(x, label) != label)
        except AfterwitError:
            # A score that would be no number: a sequence that ends here.
            return
        labels.append(label)
    run = naive_committee.mixture(said, [twin.gives_probabilities for twin in twins], labels)
    cost = 4 * (math.log(len(members)) - max(len(labels) - 1, 0) * math.log(0.999))
    bound = min(loss + wrong for loss, wrong in zip(run["losses"], run["wrong"], strict=True)) + cost
    slack = 1e-9 * (1 + bound)
    for made in all_of(learner.certificate()):
        in_mistakes = made.quantity == "mistakes"
        observed, wanted = (mistakes, bound / math.log(2)) if in_mistakes else (run["loss"], bound)
        table.certificate(made, "Committee", Truth(observed, wanted, slack, bound_slack=2 * slack))
        if made.hindsight is not None:
            least = min(run["wrong"] if in_mistakes else run["losses"])
            table.same(key_of(type(made.theorem)), "Committee", made.hindsight.value, least, slack=slack)


#: The theorem of each algorithm that weighs the members.
PROMISES = {
    "AdaHedge": "experts.adahedge.AdaHedgeBound",
    "BOA": "experts.boa.BernsteinBound",
    "MLpol": "experts.mlpol.PolynomialPotentialBound",
}


def promised(run):
    """The mistakes of the best member and the bound on the regret to it; of several best ones the least and the most."""
    found = ORACLES[PROMISES[run.case.name]](run)
    bounds, spreads = found if isinstance(found, tuple) else (found, 0.0)
    if bounds is None:
        return None, None
    bounds, spreads = (each if isinstance(each, list) else [each] * run.n for each in (bounds, spreads))
    losses = [float(total) for total in run.totals(run.losses)]
    best = [i for i in range(run.n) if losses[i] == min(losses)]
    return min(losses) + min(bounds[i] - spreads[i] for i in best), min(losses) + max(bounds[i] for i in best)
