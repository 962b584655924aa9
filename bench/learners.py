"""Every linear learner beside scikit-learn's closest, and beside the perceptron in many dimensions."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier

import afterwit as aw

#: What a learner is compared with: the same loss, and averaging or shrinking where it averages or shrinks.
LIKE = {
    "Perceptron": {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None},
    "AveragedPerceptron": {
        "loss": "perceptron",
        "learning_rate": "constant",
        "eta0": 1.0,
        "penalty": None,
        "average": True,
    },
    "MarginPerceptron": {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None},
    "Winnow": {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None},
    "BalancedWinnow": {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None},
    "OnlineSVM": {"loss": "hinge", "learning_rate": "constant", "eta0": 0.01, "penalty": "l2"},
    "SGD": {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.03, "penalty": None},
    "AdaGrad": {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.03, "penalty": None},
    "ScaleFree": {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.03, "penalty": None},
    "NormalizedAdaGrad": {"loss": "log_loss", "learning_rate": "constant", "eta0": 0.03, "penalty": None},
}
#: How many times faster each is to be; those that take a root and a quotient of every entry have more to do.
WANTED = {"AdaGrad": 2.0, "ScaleFree": 1.5, "NormalizedAdaGrad": 1.5}


def sparse_rows(rows, stored, width, seed=0, signed=False):
    """Rows of one length over features of which the first are the most frequent, none twice: the shape of text."""
    generator = np.random.default_rng(seed)

    def drawn(size):
        return np.minimum(width ** generator.random(size), width).astype(np.int32) - 1

    draws = np.sort(drawn((rows, stored)), axis=1)
    repeating = np.arange(rows)
    while len(repeating):
        again = draws[repeating]
        same = again[:, 1:] == again[:, :-1]
        kept = same.any(axis=1)
        repeating, again, same = repeating[kept], again[kept], same[kept]
        again[:, 1:][same] = drawn(np.count_nonzero(same))
        again.sort(axis=1)
        draws[repeating] = again
    starts = np.arange(0, rows * stored + 1, stored, dtype=np.int32)
    values = generator.random(rows * stored)
    if signed:
        values = 2 * values - 1
    X = sparse.csr_matrix((values, draws.reshape(-1), starts), shape=(rows, width))
    return X, generator


def learner_cases(best_times):
    """200,000 rows of 75 non-zeros over 47,236 features: one pass, learning and predicting."""
    X, generator = sparse_rows(200_000, 75, 47_236)
    y = np.where(X @ generator.standard_normal(X.shape[1]) >= 0, 1, -1)
    for name, options in LIKE.items():
        kind = getattr(aw, name)
        yield (
            f"learn 200,000 x 75 sparse: {name}",
            best_times(
                {
                    "afterwit": lambda kind=kind: kind().learn_many(X, y),
                    "scikit-learn": lambda options=options: SGDClassifier(**options).partial_fit(X, y, classes=[-1, 1]),
                },
                5,
            ),
            {"scikit-learn": WANTED.get(name, 2.5)},
        )


def dense_cases(best_times):
    """100,000 dense rows of 75 numbers, by the learners that take a root or a quotient of every entry."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((100_000, 75))
    y = np.where(X @ generator.standard_normal(75) + 3 * generator.standard_normal(len(X)) >= 0, 1, -1)
    for name in WANTED:
        kind, options = getattr(aw, name), LIKE[name]
        yield (
            f"learn 100,000 x 75 dense: {name}",
            best_times(
                {
                    "afterwit": lambda kind=kind: kind().learn_many(X, y),
                    "scikit-learn": lambda options=options: SGDClassifier(**options).partial_fit(X, y, classes=[-1, 1]),
                },
                5,
            ),
            {},
        )


def voted_case(best_times):
    """2,000 rows: every prediction goes through all examples that were ever added, so that the cost grows."""
    X, generator = sparse_rows(2_000, 75, 47_236)
    y = np.where(X @ generator.standard_normal(X.shape[1]) >= 0, 1, -1)
    options = LIKE["AveragedPerceptron"]
    yield (
        "learn 2,000 x 75 sparse: VotedPerceptron",
        best_times(
            {
                "afterwit": lambda: aw.VotedPerceptron().learn_many(X, y),
                "scikit-learn": lambda: SGDClassifier(**options).partial_fit(X, y, classes=[-1, 1]),
            },
            5,
        ),
        {"scikit-learn": 2.5},
    )


def dimension_cases(best_times):
    """100,000 rows of 75 non-zeros, labels by a rule Winnow can learn; learners that know all features already."""
    for power in (18, 22):
        X, generator = sparse_rows(100_000, 75, 2**power, signed=True)
        target = np.zeros(X.shape[1])
        target[:64] = generator.random(64)
        y = np.where(X @ target >= 0, 1, -1)
        for name in ("Winnow", "OnlineSVM"):
            contestants = {}
            for key, kind in (("afterwit", getattr(aw, name)), ("Perceptron", aw.Perceptron)):
                learner = kind()
                learner.learn_many(X[:1], y[:1])
                contestants[key] = partial(learner.learn_many, X, y)
            yield (
                f"dimension 2^{power}: {name}",
                best_times(contestants, 5),
                {"Perceptron": 0.5},
            )


def one_row_cases(best_times):
    """1,000 calls of learn_one on rows of 10 and of 75 numbers, none of them 0: a float64 array against a dict.

    Both hold the same numbers, 50 different rows in turn, after two passes. River learns the same dicts.
    """
    from river import linear_model

    kinds = (
        "Perceptron",
        "SGD",
        "AdaGrad",
        "ScaleFree",
        "NormalizedAdaGrad",
        "BalancedWinnow",
        "OneVsRest",
        "KernelPerceptron",
        "Committee",
    )
    for width in (10, 75):
        generator = np.random.default_rng(width)
        rows = list(generator.standard_normal((50, width)))
        dicts = [{f"feature {j}": value for j, value in enumerate(x.tolist())} for x in rows]
        labels = [1 if x.sum() >= 0 else -1 for x in rows]
        truths = [label > 0 for label in labels]

        def learning(learner, examples, answers):
            def learn():
                for x, y in zip(examples, answers, strict=True):
                    learner.learn_one(x, y)

            def learn_all():
                for _ in range(20):
                    learn()

            learn(), learn()
            return learn_all

        for name in kinds:
            kind = getattr(aw, name)
            contestants = {
                "afterwit": learning(kind(), rows, labels),
                "afterwit, dict": learning(kind(), dicts, labels),
            }
            if name == "Perceptron":
                contestants["River, dict"] = learning(linear_model.Perceptron(), dicts, truths)
            yield f"learn_one on a row of {width}: {name}", best_times(contestants, 9), {"afterwit, dict": 1.0}


def ridge_case(best_times):
    """100,000 dense rows of 20 numbers: one pass beside River's Bayesian linear regression, which learns dicts."""
    from river import linear_model

    generator = np.random.default_rng(0)
    X = generator.standard_normal((100_000, 20))
    y = X @ generator.standard_normal(20) + generator.standard_normal(len(X))
    rows = [dict(enumerate(x)) for x in X.tolist()]
    targets = y.tolist()

    def river():
        model = linear_model.BayesianLinearRegression()
        for x, target in zip(rows, targets, strict=True):
            model.learn_one(x, target)

    contestants = {"afterwit": lambda: aw.OnlineRidge().learn_many(X, y), "River, dict": river}
    yield "learn 100,000 x 20 dense: OnlineRidge", best_times(contestants, 3), {"River, dict": 20.0}
