"""The weight vector of least total loss, with or without a penalty on its length, or inside a ball.

Problem     minimise sum_t l(u . x_t, y_t) + ridge |u|^2 / 2, subject to |u| <= ball if there is one.
Losses      "hinge", "logistic", "squared", as in stochastic gradient descent; the perceptron loss is least at u = 0.
Method      LIBLINEAR (scikit-learn) for the hinge and the logistic loss, LSQR (scipy) for the squared loss. For a
            ball, the ridge that puts u on its surface is found by bisection.

>>> u = least_loss([[1.0], [1.0], [-1.0]], [1, -1, -1], loss="squared")
>>> round(float(u.vector[0]), 6)
0.333333
>>> least_loss([[1.0], [2.0]], [1, 1], loss="logistic", ball=0.5).weights.round(4).tolist()
[0.5]
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from afterwit.data.checks import one_of, positive_number
from afterwit.data.labels import Signs
from afterwit.data.margin_losses import LOSSES
from afterwit.data.rows import read_examples
from afterwit.hindsight.comparator import Comparator, judge
from afterwit.hindsight.svm import for_liblinear, solve_svm

#: A ridge below this share of the data's own curvature changes nothing that matters.
SMALLEST_RIDGE = 1e-9


def least_loss(
    X: Any, y: Any, loss: str = "logistic", ridge: Any = None, ball: Any = None, *, labels: Any = (-1, 1)
) -> Comparator:
    """The weight vector that minimises the total loss, plus ridge/2 times its squared length, inside the ball."""
    loss = one_of(LOSSES)("loss", loss)
    penalty = 0.0 if ridge is None else positive_number("ridge", ridge)
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    vector = solve_least_loss(matrix, signs, loss, penalty)
    if ball is not None:
        vector = solve_in_ball(matrix, signs, loss, positive_number("ball", ball), penalty, vector)
    return judge(f"least {loss} loss", vector, matrix, signs, rows.names)


def solve_least_loss(matrix: Any, signs: Signs, loss: str, ridge: float) -> Any:
    """The weights; near the optimum is enough, as they are judged on the data afterwards."""
    count, width = matrix.shape
    if count == 0 or width == 0 or loss == "perceptron":
        return np.zeros(width)
    if loss == "squared":
        from scipy.sparse.linalg import lsqr

        return lsqr(matrix, signs.astype(np.float64), damp=np.sqrt(ridge), iter_lim=1000)[0]
    scale = float(abs(matrix).max()) or 1.0
    C = 1 / max(ridge, SMALLEST_RIDGE * count * scale**2)
    if loss == "logistic":
        return _solve_logistic(matrix, signs, C)
    # Small problems are solved well, large ones well enough.
    iterations = int(np.clip(2e7 / (count * width), 300, 100_000))
    return solve_svm(matrix, signs, C, tolerance=1e-6, max_iterations=iterations)


def _solve_logistic(matrix: Any, signs: Signs, C: float) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    matrix, signs, C, radius = for_liblinear(matrix, signs, C)
    machine = LogisticRegression(
        C=C, solver="liblinear", dual=True, fit_intercept=False, tol=1e-2, max_iter=200, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(matrix, signs)
    return machine.coef_[0] / radius


def solve_in_ball(matrix: Any, signs: Signs, loss: str, ball: float, ridge: float, vector: Any) -> Any:
    """From the optimum without a ball, the optimum in it."""
    if np.linalg.norm(vector) <= ball:
        return vector
    scale = float(abs(matrix).max()) or 1.0
    low, high = np.log(SMALLEST_RIDGE * scale**2), np.log(1e3 * matrix.shape[0] * scale**2 * max(1.0, 1 / ball))
    for _ in range(20):
        middle = (low + high) / 2
        vector = solve_least_loss(matrix, signs, loss, ridge + float(np.exp(middle)))
        if np.linalg.norm(vector) > ball:
            low = middle
        else:
            high = middle
    return vector * min(1.0, ball / max(float(np.linalg.norm(vector)), 1e-300))
