"""What a certificate costs: the run checked, and hindsight with a proof of how exact it is, beside one fit of a peer.

The peers answer a part of the same question. The calls are ``LinearSVC(loss="hinge", fit_intercept=False)`` and
``LogisticRegression(tol=1e-6, fit_intercept=False, max_iter=1000)``, the rest as scikit-learn has it; for mixtures of
experts ``scipy.optimize.minimize(loss and gradient, method="SLSQP", bounds, sum of the weights = 1)``, which checks no
run, proves nothing and stops early where the loss has kinks.
"""

import functools
import tracemalloc
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


ROUNDS, EXPERTS = 37_000, 24
HUBER = aw.losses.function(
    lambda f, y: (f - y) ** 2 / 2 if abs(f - y) < 1 else abs(f - y) - 0.5, lambda f, y: max(-1.0, min(1.0, f - y))
)
EXPERT_LOSSES = ("square", "absolute", "pinball(0.8)", "percentage", "log", HUBER)
#: Seconds, and memory beside the rounds as a part of what they are large.
MOST_SECONDS, MOST_MEMORY = 3.0, 2.0


def slsqp(advice, outcomes, loss):
    """The same mixture by scipy, from equal weights."""
    from scipy.optimize import minimize

    def scaled(weights):
        forecasts = advice @ weights
        return loss.values(forecasts, outcomes).mean(), loss.slopes(forecasts, outcomes) @ advice / len(outcomes)

    return minimize(
        scaled,
        np.full(advice.shape[1], 1 / advice.shape[1]),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * advice.shape[1],
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"maxiter": 200, "ftol": 1e-12},
    )


def expert_rounds(loss):
    """Experts with errors in common and of their own, each of another size."""
    generator = np.random.default_rng(4)
    outcomes = 10 + 3 * np.sin(np.arange(ROUNDS) / 500) + generator.standard_normal(ROUNDS)
    advice = outcomes[:, np.newaxis] + generator.standard_normal((ROUNDS, 1))
    advice = advice + generator.uniform(0.5, 2, EXPERTS) * generator.standard_normal((ROUNDS, EXPERTS))
    if loss.kind == "log":
        return 1 / (1 + np.exp(10 - advice)), (outcomes > 10).astype(float)
    return advice, outcomes


def expert_certificate_cases(best_times):
    """37,000 rounds of 24 experts: the certificate of MLpol, and scipy's fit of the best mixture alone."""
    for given in EXPERT_LOSSES:
        loss = aw.losses.get(given)
        advice, outcomes = expert_rounds(loss)
        make = functools.partial(aw.MLpol, EXPERTS, loss=loss)
        learner = make()
        learner.learn_many(advice, outcomes)
        contestants = {
            "afterwit": lambda learner=learner, rounds=(advice, outcomes): learner.certificate(*rounds),
            "scipy, SLSQP": lambda rounds=(advice, outcomes), loss=loss: slsqp(*rounds, loss),
            "the run itself": lambda rounds=(advice, outcomes), loss=loss: aw.MLpol(EXPERTS, loss=loss).learn_many(
                *rounds
            ),
        }
        times = best_times(contestants, 2)
        hindsight = learner.certificate(advice, outcomes).hindsight
        above = slsqp(advice, outcomes, loss).fun * ROUNDS / hindsight.value - 1
        tracemalloc.start()
        learner.certificate(advice, outcomes)
        memory = tracemalloc.get_traced_memory()[1] / advice.nbytes
        tracemalloc.stop()
        name = "huber, a function" if given is HUBER else given
        reached = times["afterwit"] <= MOST_SECONDS and memory <= MOST_MEMORY
        print(
            f"certificate of MLpol, {name}: {times['afterwit']:.2f} s, memory {memory:.2f} x the rounds; wanted <= "
            f"{MOST_SECONDS:g} s and {MOST_MEMORY:g} x: {'reached' if reached else 'NOT REACHED'} (gap "
            f"{hindsight.gap / hindsight.value:.1e} of the loss; SLSQP ends {above:+.1e} from it)",
            flush=True,
        )
        yield f"certificate of MLpol, {name}, 37,000 x 24", times, {}
