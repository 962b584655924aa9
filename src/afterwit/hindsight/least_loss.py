"""The weight vector of least total loss, with or without a penalty on its length, or inside a ball.

Problem     minimise sum_t l(u . x_t, y_t) + ridge |u|^2 / 2, subject to |u| <= ball if there is one.
Losses      "hinge", "logistic", "squared", as in stochastic gradient descent; the perceptron loss is least at u = 0.
Method      Newton's, in columns of one size: the units of the columns do not matter. `gap` says how far the result can
            be from the least possible; without ridge and ball, the least possible among weights that change no score by
            more than 10,000 for a typical value of one column.

>>> u = least_loss([[1.0], [1.0], [-1.0]], [1, -1, -1], loss="squared")
>>> round(float(u.vector[0]), 6), u.gap < 1e-9
(0.333333, True)
>>> least_loss([[1.0], [2.0]], [1, 1], loss="logistic", ball=0.5).weights.round(4).tolist()
[0.5]
"""

from __future__ import annotations

from typing import Any

from afterwit.data.checks import one_of, positive_number
from afterwit.data.margin_losses import LOSSES
from afterwit.data.rows import read_examples
from afterwit.hindsight._newton import Region, least
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import Comparator, judge, normalised


def least_loss(
    X: Any, y: Any, loss: str = "logistic", ridge: Any = None, ball: Any = None, *, labels: Any = (-1, 1)
) -> Comparator:
    """The weight vector that minimises the total loss, plus ridge/2 times its squared length, inside the ball.

    Its ``gap`` is in the unit of what is minimised: no weights come below by more.
    """
    loss = one_of(LOSSES)("loss", loss)
    penalty = 0.0 if ridge is None else positive_number("ridge", ridge)
    radius = None if ball is None else positive_number("ball", ball)
    rows, signs = read_examples(X, y, labels)
    matrix, unit = normalised(rows.matrix())
    free = not penalty and radius is None
    found = least(ScaledRows(matrix, signs, centred=free), loss, Region(penalty, radius).in_unit(unit))
    return judge(f"least {loss} loss", found.vector / unit, rows.matrix(), signs, rows.names, found.gap)
