"""Finite classes and disjunctions, on consistent and on other sequences; their adversaries, where bounds are attained."""

import math

import numpy as np

import afterwit as aw
import naive_concepts as naive
import naive_rules
from afterwit import adversaries, concepts
from naive_bounds import BOUNDS
from proving.formulas import value_of
from proving.judging import APPLIED, MISREPORTED, Truth, all_of, key_of
from proving.searching import judges, subject
from proving.sequences import pick

DELTA = 0.1


def some_class(random):
    """A random class, or one with structure: thresholds, singletons, everything."""
    points = int(random.integers(1, 6))
    kind = pick(random, "plain", "plain", "thresholds", "singletons", "everything")
    if kind == "thresholds":
        return [[int(i >= k) for i in range(points)] for k in range(points + 1)]
    if kind == "singletons":
        return [[int(i == k) for i in range(points)] for k in range(points + 1)]
    if kind == "everything":
        return [list(vector) for vector in naive.vectors(min(points, 3))]
    return random.integers(0, 2, (int(random.integers(1, 12)), points)).tolist()


def points_and_labels(random, matrix):
    rounds = int(random.choice([1, 2, 6, 20]))
    points = random.integers(0, len(matrix[0]), rounds).tolist()
    labels = random.integers(0, 2, rounds).tolist()
    if random.random() < 0.8:
        target = matrix[int(random.integers(len(matrix)))]
        labels = [target[j] for j in points]
    return points, labels


def class_run(table, random, name):
    matrix = some_class(random)
    points, labels = points_and_labels(random, matrix)
    right = [i for i, row in enumerate(matrix) if all(row[j] == label for j, label in zip(points, labels, strict=True))]
    options, bound = {}, None
    if name == "Halving":
        options["drop"] = pick(random, "mistakes", "examples")
        predicted = naive.halving(matrix, points, labels, options["drop"])[0]
        bound = math.log2(len(matrix))
    elif name == "GeneralizedHalving":
        sizes = kraft_sizes(random, len(matrix))
        options["sizes"] = sizes
        predicted = naive.halving(matrix, points, labels, "examples", sizes)[0]
        bound = min((sizes[i] for i in right), default=None)
    else:
        predicted = naive.standard_optimal(matrix, points, labels)[0]
        bound = naive.littlestone_dimension(matrix)
    learner = getattr(aw, name)(np.array(matrix), **options)
    y = [2 * label - 1 for label in labels]
    got = learner.learn_many(points, y).tolist()
    if right:
        table.same("", name, got, [2 * label - 1 for label in predicted])
    mistakes = sum(a != b for a, b in zip(got, y, strict=True))
    for made in all_of(pick(random, learner.certificate, lambda: learner.certificate(points, y))()):
        on_mistakes = options.get("drop") == "mistakes"
        if made.bound is not None and not right and not on_mistakes:
            table.problem(key_of(type(made.theorem)), name, APPLIED, "no hypothesis is right")
        table.certificate(made, name, Truth(mistakes, None if bound is None or not right else float(bound)))
    if name != "GeneralizedHalving":
        against_the_tree(table, name, matrix)


def kraft_sizes(random, count):
    """Sizes in bits of a prefix-free language: 2^-size adds up to at most 1."""
    even = max(1, math.ceil(math.log2(count)))
    if count > 1 and random.random() < 0.5:
        # 1, 2, 3, ... bits, the last two alike.
        return [min(i + 1, count - 1) for i in range(count)]
    return [even + int(extra) for extra in random.integers(0, 3, count)]


def against_the_tree(table, name, matrix):
    """The mistake tree forces opt(H) mistakes on every learner, and the optimal one makes no more."""
    optimum = naive.littlestone_dimension(matrix)
    learner = getattr(aw, name)(np.array(matrix))
    forced = aw.play(learner, adversaries.mistake_tree(np.array(matrix), learner)).mistakes
    if name == "StandardOptimalAlgorithm":
        table.attained("concepts.standard_optimal_algorithm.OptimalBound", name, forced, optimum)
    else:
        table.bounded("concepts.halving.HalvingBound", name, forced, math.log2(len(matrix)), 1e-12)


judges(
    "concepts.halving.HalvingBound",
    "concepts.generalized_halving.GeneralizedHalvingBound",
    "concepts.standard_optimal_algorithm.OptimalBound",
)
for _name in ("Halving", "GeneralizedHalving", "StandardOptimalAlgorithm"):
    subject(_name)(lambda table, random, name=_name: class_run(table, random, name))


@subject(
    "Littlestone's dimension", "concepts.littlestone.LittlestoneBound", "concepts.littlestone.LittlestoneLowerBound"
)
def littlestone(table, random):
    matrix = some_class(random)
    optimum, vc = concepts.littlestone_dimension(np.array(matrix)), naive.vc_dimension(matrix)
    table.same(
        "concepts.littlestone.LittlestoneBound", "a finite class", optimum, naive.optimal_mistakes(matrix), MISREPORTED
    )
    upper = value_of(table, "littlestone", hypotheses=len(matrix))
    table.bounded("concepts.littlestone.LittlestoneBound", "a finite class", optimum, upper, 1e-12)
    table.bounded(
        "concepts.littlestone.LittlestoneLowerBound",
        "a finite class",
        value_of(table, "littlestone-lower", vc_dimension=vc),
        optimum,
    )


# ---------------------------------------------------------------------- disjunctions


def boolean_rows(random):
    rounds, width = int(random.choice([1, 2, 8, 30])), int(random.choice([1, 2, 4, 8]))
    rows = (random.random((rounds, width)) < pick(random, 0.1, 0.3, 0.5)).astype(int)
    if random.random() < 0.2:
        rows = np.eye(width, dtype=int)[random.integers(0, width, rounds)]
    target = random.random(width) < 0.3
    labels = (rows[:, target].any(axis=1)).astype(int)
    if random.random() < 0.2:
        labels = random.integers(0, 2, rounds)
    return rows, labels


def disjunction_run(table, random, name):
    rows, labels = boolean_rows(random)
    n, smallest = rows.shape[1], naive.smallest_disjunction(rows.tolist(), labels.tolist())
    y = 2 * labels - 1
    learner = aw.OnlineDisjunction() if name == "OnlineDisjunction" else aw.WinnowDisjunction(n)
    got = learner.learn_many(rows, y)
    if name == "OnlineDisjunction":
        predicted = naive.online_disjunction(rows.tolist(), labels.tolist())[0]
        promotions = eliminations = 0
    else:
        predicted, _, promotions, eliminations = naive.winnow_disjunction(n, rows.tolist(), labels.tolist())
    table.same("", name, got.tolist(), [2 * label - 1 for label in predicted])
    mistakes = int((got != y).sum())
    truths = {
        # In arrays every column is a variable, also one that is never 1.
        "DisjunctionBound": (mistakes, n),
        "WinnowDisjunctionBound": (mistakes, 2 * (smallest or 0) * math.log2(n) + 2),
        "PromotionBound": (promotions, (smallest or 0) * math.log2(n)),
        "EliminationBound": (eliminations, promotions + 2),
    }
    for made in all_of(learner.certificate(rows, y)):
        short = type(made.theorem).__name__
        observed, bound = truths[short]
        if made.bound is not None and smallest is None and short != "EliminationBound":
            table.problem(key_of(type(made.theorem)), name, APPLIED, "no disjunction is right")
        if short in ("WinnowDisjunctionBound", "PromotionBound") and made.bound is not None and smallest is not None:
            # The comparator need not be the smallest disjunction; with a larger one the bound is larger.
            table.bounded(key_of(type(made.theorem)), name, bound, made.bound)
            promoted = made.inputs["k"] * math.log2(n)
            bound = promoted if short == "PromotionBound" else 2 * promoted + 2
        table.certificate(made, name, Truth(observed, bound))
    if name == "OnlineDisjunction":
        learner, width = aw.OnlineDisjunction(), int(random.integers(1, 20))
        forced = aw.play(learner, adversaries.contrary_disjunction(width, learner)).mistakes
        table.attained("concepts.online_disjunction.DisjunctionBound", name, forced, width)


judges(
    "concepts.online_disjunction.DisjunctionBound",
    "concepts.winnow_disjunction.WinnowDisjunctionBound",
    "concepts.winnow_disjunction.PromotionBound",
    "concepts.winnow_disjunction.EliminationBound",
)
for _name in ("OnlineDisjunction", "WinnowDisjunction"):
    subject(_name)(lambda table, random, name=_name: disjunction_run(table, random, name))


# ---------------------------------------------------------------------- rules from a sample


def sample_of(random, width, noise):
    """Every 0/1 vector equally likely, labelled by a disjunction of two; a sample, and the whole."""
    whole = np.array(naive.vectors(width))
    target = random.permutation(width)[:2]
    truth = np.where(whole[:, target].any(axis=1), 1, -1)
    n = int(random.choice([5, 20, 80]))
    at = random.integers(0, len(whole), n)
    flip = np.where(random.random(n) < noise, -1, 1)
    return whole, truth, whole[at], truth[at] * flip


def error_of(rule, whole, truth, noise):
    """The true error, with the noise of the labels."""
    wrong = float((np.asarray(rule.predict_many(whole)) != truth).mean())
    return wrong * (1 - noise) + (1 - wrong) * noise


@subject("DisjunctionLearner", "concepts._batch_rule.FiniteClassBound")
def disjunction_learner(table, random):
    width, negated = int(random.integers(2, 7)), bool(random.random() < 0.3)
    whole, truth, X, y = sample_of(random, width, 0.0)
    rule = aw.DisjunctionLearner(negated=negated)
    rule.fit(X, y)
    made = rule.certificate(X, y, delta=DELTA)
    key = key_of(type(made.theorem))
    if made.bound is None:
        table.row(key, "DisjunctionLearner").refused += 1
        return
    table.chance(key, "DisjunctionLearner", error_of(rule, whole, truth, 0.0) > made.bound, DELTA)
    # Each variable is in it, negated in it or not at all; and there is the one that is always true.
    rules = math.log(3**width + 1) if negated else width * math.log(2)
    if width < 5:
        assert math.isclose(rules, math.log(naive_rules.functions_of_disjunctions(width, negated)))
    table.stated(key, "DisjunctionLearner", made.bound, BOUNDS["occam"](len(X), rules, DELTA))


@subject("ID3", "concepts._batch_rule.DescriptionBound", "concepts._batch_rule.RegularisedBound")
def id3(table, random):
    width, noise = int(random.integers(2, 5)), pick(random, 0.0, 0.0, 0.2)
    whole, truth, X, y = sample_of(random, width, noise)
    depth, categories, labels = pick(random, None, 1, 2), [(0, 1)] * width, (-1, 1)
    rule = aw.ID3(max_depth=depth, categories=categories, labels=labels)
    rule.fit(X, y)
    tree = naive_rules.id3(X.tolist(), y.tolist(), depth)
    size = naive_rules.description_length(tree, categories, labels)
    wrong = sum(naive_rules.predict(tree, x) != label for x, label in zip(X.tolist(), y.tolist(), strict=True)) / len(X)
    for made in all_of(rule.certificate(X, y, delta=DELTA)):
        key = key_of(type(made.theorem))
        if made.bound is None:
            table.row(key, "ID3").refused += 1
            continue
        if wrong and type(made.theorem).__name__ == "DescriptionBound":
            table.problem(key, "ID3", APPLIED, f"it is wrong on {wrong:.2%} of the sample")
        table.chance(key, "ID3", error_of(rule, whole, truth, noise) > made.bound, DELTA)
        table.same(key, "ID3", made.observed, wrong, MISREPORTED, 1e-12)
        # Two theorems, each with half of delta.
        formulas = {
            "DescriptionBound": BOUNDS["description-length"](len(X), size, DELTA / 2),
            "RegularisedBound": wrong + BOUNDS["regularised"](len(X), size, DELTA / 2),
        }
        table.stated(key, "ID3", made.bound, formulas[type(made.theorem).__name__])
