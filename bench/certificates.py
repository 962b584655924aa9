"""What a certificate costs: the run checked, and hindsight with a proof of how exact it is, beside one fit of a peer.

The peers answer a part of the same question. The calls are ``LinearSVC(loss="hinge", fit_intercept=False)`` and
``LogisticRegression(tol=1e-6, fit_intercept=False, max_iter=1000)``, the rest as scikit-learn has it.
"""

import warnings

import numpy as np

import afterwit as aw


def support_vectors(X, y):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LinearSVC(loss="hinge", fit_intercept=False, random_state=0).fit(X, y)


def logistic(X, y):
    from sklearn.linear_model import LogisticRegression

    LogisticRegression(tol=1e-6, fit_intercept=False, max_iter=1000).fit(X, y)


LEARNERS = (
    (aw.Perceptron, "LinearSVC.fit", support_vectors),
    (aw.OnlineSVM, "LinearSVC.fit", support_vectors),
    (aw.SGD, "LogisticRegression.fit", logistic),
    (aw.AdaGrad, "LogisticRegression.fit", logistic),
)


def certificate_cases(best_times):
    """100,000 dense rows of 75 numbers, a seventh of the labels against the best linear rule."""
    generator = np.random.default_rng(4)
    X = generator.standard_normal((100_000, 75))
    y = np.where(X @ generator.standard_normal(75) + 4 * generator.standard_normal(len(X)) >= 0, 1, -1)
    for kind, name, fit in LEARNERS:
        learner = kind()
        learner.learn_many(X, y)
        contestants = {
            "afterwit": lambda learner=learner: learner.certificate(X, y),
            name: lambda fit=fit: fit(X, y),
            "the run itself": lambda kind=kind: kind().learn_many(X, y),
        }
        yield f"certificate of {kind.__name__}, 100,000 x 75", best_times(contestants, 2), {}
