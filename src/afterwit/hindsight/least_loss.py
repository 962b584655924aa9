"""The weight vector of least total loss, with or without a penalty on its length, or inside a ball.

Problem     minimise sum_t l(u . x_t, y_t) + ridge |u|^2 / 2, subject to |u| <= ball if there is one.
Losses      "hinge", "logistic", "squared", as in stochastic gradient descent; the perceptron loss is least at u = 0.
Method      L-BFGS (scipy) for smooth losses; LIBLINEAR (scikit-learn) for the hinge loss. For a ball, the ridge that
            puts u on its surface is found by bisection.

>>> u = least_loss([[1.0], [1.0], [-1.0]], [1, -1, -1], loss="squared")
>>> round(float(u.vector[0]), 6)
0.333333
>>> least_loss([[1.0], [2.0]], [1, 1], loss="logistic", ball=0.5).weights.round(4).tolist()
[0.5]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.errors import invalid, positive_number
from afterwit.hindsight.comparator import Comparator, judge
from afterwit.hindsight.svm import solve_svm
from afterwit.labels import Signs
from afterwit.linear._losses import LOSSES, losses, slopes
from afterwit.linear._rows import read_examples

#: A ridge below this share of the data's own curvature changes nothing that matters.
SMALLEST_RIDGE = 1e-9
#: Enough for a comparator that is judged afterwards.
FEW_ITERATIONS = 300


def least_loss(
    X: Any, y: Any, loss: str = "logistic", ridge: Any = None, ball: Any = None, *, labels: Any = (-1, 1)
) -> Comparator:
    """The weight vector that minimises the total loss, plus ridge/2 times its squared length, inside the ball."""
    if loss not in LOSSES:
        raise invalid("loss", "one of " + ", ".join(map(repr, LOSSES)), loss)
    penalty = 0.0 if ridge is None else positive_number("ridge", ridge)
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    # Small problems may take as long as they need; the limit is on the work.
    iterations = int(min(1e5, max(FEW_ITERATIONS, 1e8 / max(1, matrix.size))))
    vector = solve_least_loss(matrix, signs, loss, penalty, iterations=iterations)
    if ball is not None:
        vector = solve_in_ball(matrix, signs, loss, positive_number("ball", ball), penalty, vector, iterations)
    return judge(f"least {loss} loss", vector, matrix, signs, rows.names)


def solve_least_loss(
    matrix: Any,
    signs: Signs,
    loss: str,
    ridge: float,
    start: Any = None,
    box: Any = None,
    iterations: int = FEW_ITERATIONS,
) -> Any:
    """The weights; near the optimum is enough, as they are judged on the data afterwards."""
    from scipy.optimize import minimize

    count, width = matrix.shape
    if count == 0 or width == 0 or loss == "perceptron":
        return np.zeros(width)
    if loss == "hinge" and box is None:
        scale = float(abs(matrix).max()) or 1.0
        C = 1 / max(ridge, SMALLEST_RIDGE * count * scale**2)
        tolerance = 1e-4 if iterations == FEW_ITERATIONS else 1e-8
        return solve_svm(matrix, signs, C, tolerance=tolerance, max_iterations=iterations)

    def objective(u: Any) -> Any:
        scores = matrix @ u
        return losses(loss, signs, scores).sum() + ridge * (u @ u) / 2, matrix.T @ slopes(
            loss, signs, scores
        ) + ridge * u

    bounds = None if box is None else [(-box, box)] * width
    start = np.zeros(width) if start is None else start
    options = {"maxiter": 300, "maxfun": 400}
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x


def solve_in_ball(
    matrix: Any,
    signs: Signs,
    loss: str,
    ball: float,
    ridge: float,
    vector: Any,
    iterations: int = FEW_ITERATIONS,
) -> Any:
    """From the optimum without a ball, the optimum in it."""
    if np.linalg.norm(vector) <= ball:
        return vector
    scale = float(abs(matrix).max()) or 1.0
    low, high = np.log(SMALLEST_RIDGE * scale**2), np.log(1e3 * matrix.shape[0] * scale**2 * max(1.0, 1 / ball))
    for _ in range(25):
        middle = (low + high) / 2
        vector = solve_least_loss(matrix, signs, loss, ridge + float(np.exp(middle)), vector, iterations=iterations)
        if np.linalg.norm(vector) > ball:
            low = middle
        else:
            high = middle
    return vector * min(1.0, ball / max(float(np.linalg.norm(vector)), 1e-300))
