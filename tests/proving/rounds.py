"""Rounds that are not those a learner learned from: one row or label is another, two have changed places, one is missing,
or others came before. A certificate about them has to be refused, unless they lead to the same learner.
"""

import math

import numpy as np

import afterwit as aw
from afterwit.errors import InputError
from expert_cases import CASES
from proving.concepts import boolean_rows, points_and_labels, some_class
from proving.experts import advice_for, losses_for
from proving.judging import APPLIED, all_of, key_of
from proving.linear import stream
from proving.searching import subject
from proving.sequences import pick

#: Learners are the same if nothing that they show differs by more than this part.
ALIKE = 1e-7
#: Experts whose losses differ by less than this part: rounding decides between them, and with it what they weigh.
TIED = 1e-14


def changed(random, X, y):
    """Rounds like these but for one thing; what that is, and how many of them came before."""
    kind = pick(random, "a row", "a label", "the order", "one is missing", "others before")
    X, y = np.array(X), np.array(y)
    t = int(random.integers(len(y)))
    if kind == "a row":
        X[t] = X[int(random.integers(len(y)))] if random.random() < 0.5 else np.roll(X[t], 1)
    elif kind == "a label":
        others = y[y != y[t]]
        y[t] = others[0] if len(others) else y[t]
    elif kind == "the order":
        s = int(random.integers(len(y)))
        X[[s, t]], y[[s, t]] = X[[t, s]], y[[t, s]]
    elif kind == "one is missing":
        X, y = np.delete(X, t, 0), np.delete(y, t, 0)
    else:
        # The learner is to know these rounds and learn them after others, of which nobody tells.
        return X, y, kind, int(random.integers(1, len(y) + 1))
    return X, y, kind, 0


def judge(table, name, learner, twin, certificate, kind, alike):
    """Refused, or the twin that learned the rounds that were offered is the same as the learner."""
    try:
        found = all_of(certificate())
    except InputError:
        for theorem in learner.theorems:
            table.row(key_of(type(theorem)), f"{name}, other rounds").refused += 1
        return
    for made in found:
        key = key_of(type(made.theorem))
        table.judged += 1
        if str(made.verdict) == "not applicable":
            table.row(key, f"{name}, other rounds").refused += 1
        elif twin.rounds != learner.rounds or not alike():
            table.problem(key, f"{name}, other rounds", APPLIED, f"other rounds than it learned: {kind}")


def in_passes(twin, rounds, X, y):
    """Learn these until there have been so many rounds: a learner may have learned them more than once."""
    while len(y) and twin.rounds < rounds:
        twin.learn_many(X, y)


def close(one, other):
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    size = max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0))
    return one.shape == other.shape and bool((np.abs(one - other) <= ALIKE * size).all())


# ---------------------------------------------------------------------- learners of examples

#: How each learner is made for rows of a length.
LINEAR = {
    "Perceptron": lambda unit: aw.Perceptron(),
    "AveragedPerceptron": lambda unit: aw.AveragedPerceptron(),
    "VotedPerceptron": lambda unit: aw.VotedPerceptron(),
    "MarginPerceptron": lambda unit: aw.MarginPerceptron(margin=1e-3 * unit),
    "SelectivePerceptron": lambda unit: aw.SelectivePerceptron(b=unit**2, seed=3),
    "PassiveAggressive": lambda unit: aw.PassiveAggressive(C=1 / unit**2),
    "Winnow": lambda unit: aw.Winnow(rate=0.3 / unit),
    "BalancedWinnow": lambda unit: aw.BalancedWinnow(rate=0.3 / unit),
    "SGD": lambda unit: aw.SGD(intercept=False, loss="hinge", rate=0.1 / unit**2),
    "AdaGrad": lambda unit: aw.AdaGrad(intercept=False, loss="logistic", rate=0.1 / unit),
    "OnlineSVM": lambda unit: aw.OnlineSVM(C=1.0, rate=0.1),
    "KernelPerceptron": lambda unit: aw.KernelPerceptron(),
    "DualPerceptron": lambda unit: aw.DualPerceptron(),
}


@subject("other rounds of examples")
def examples(table, random):
    name = pick(random, *LINEAR, "Committee", "OneVsRest", "RepeatLastLabel")
    X, y, _, _ = stream(random, 25)
    if not len(X):
        return
    unit = float(np.linalg.norm(X, axis=1).max()) or 1.0
    X = X if 1e-6 < unit < 1e6 else X / unit
    unit = float(np.linalg.norm(X, axis=1).max()) or 1.0

    def make():
        if name == "Committee":
            return aw.Committee([aw.Perceptron(), aw.RepeatLastLabel()])
        if name == "OneVsRest":
            return aw.OneVsRest(aw.Perceptron(), labels=[-1, 1])
        return aw.RepeatLastLabel() if name == "RepeatLastLabel" else LINEAR[name](unit)

    other, labels, kind, before = changed(random, X, y)
    learner, twin = make(), make()
    if before:
        learner.learn_many(-X[:before], y[:before])
    learner.learn_many(X, y)
    in_passes(twin, learner.rounds, other, labels)

    def alike():
        same = learner.mistakes == twin.mistakes
        if name == "VotedPerceptron":
            # The theorems are about the updates of the perceptron that votes; how long each of its weights voted is not.
            return same and learner.updates == twin.updates and close(learner.weights, twin.weights)
        if name in LINEAR:
            same = same and learner.updates == twin.updates and close(learner.score_many(X), twin.score_many(X))
        return same

    judge(table, name, learner, twin, lambda: learner.certificate(other, labels), kind, alike)


@subject("other rounds of concepts")
def concepts(table, random):
    if random.random() < 0.5:
        name = pick(random, "Halving", "GeneralizedHalving", "StandardOptimalAlgorithm")
        matrix = some_class(random)
        X, labels = points_and_labels(random, matrix)
        options = {"sizes": [max(1, math.ceil(math.log2(len(matrix))))] * len(matrix)}
        options = options if name == "GeneralizedHalving" else {}
        learner, twin = (getattr(aw, name)(np.array(matrix), **options) for _ in range(2))
    else:
        name = pick(random, "OnlineDisjunction", "WinnowDisjunction")
        X, labels = boolean_rows(random)
        width = () if name == "OnlineDisjunction" else (X.shape[1],)
        learner, twin = (getattr(aw, name)(*width) for _ in range(2))
    y = 2 * np.asarray(labels) - 1
    other, signs, kind, before = changed(random, X, y)
    if before:
        learner.learn_many(X[:before], y[:before])
    learner.learn_many(X, y)
    in_passes(twin, learner.rounds, other, signs)
    judge(
        table,
        name,
        learner,
        twin,
        lambda: learner.certificate(other, signs),
        kind,
        lambda: learner.mistakes == twin.mistakes,
    )


# ---------------------------------------------------------------------- expert algorithms


@subject("other rounds of experts")
def experts(table, random):
    case = pick(random, *[case for case in CASES if case.name != "Exp3"])
    n, rounds = int(random.integers(2, 5)), int(random.choice([1, 2, 7, 20]))
    advice, outcomes = advice_for(random, case, rounds, n)
    by_losses = advice is None or (case.takes_losses and random.random() < 0.3)
    if by_losses:
        advice, outcomes = losses_for(random, case, rounds, n), np.arange(rounds)
    other, results, kind, before = changed(random, advice, outcomes)
    if by_losses and kind == "a label":
        return
    learner, twin = case.make(n), case.make(n)

    def learn(who, rows, ys):
        if by_losses:
            who.observe_many(rows)
        else:
            who.learn_many(rows, ys)

    if before:
        learn(learner, advice[:before], outcomes[:before])
    learn(learner, advice, outcomes)
    learn(twin, other, results)
    given = (other,) if by_losses else (other, results)

    def alike():
        lost = learner.expert_losses
        size = max(np.abs(lost).max(initial=0.0), abs(learner.loss))
        tied = (np.abs(lost[:, None] - lost) <= TIED * size).sum(axis=1) > 1
        shown = [(each.weights[~tied], each.expert_losses, [each.loss]) for each in (learner, twin)]
        return all(close(a, b) for a, b in zip(*shown, strict=True))

    judge(table, case.name, learner, twin, lambda: learner.certificate(*given), kind, alike)
