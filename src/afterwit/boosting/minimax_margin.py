"""The minimax view of boosting: the widest margin of a vote, and the hardest weights, are one game's two sides.

Setting     one row for each example, one column for each hypothesis; the payoff is y_i h_j(x_i): +1 if hypothesis j is
            right about example i, -1 if not. The row player chooses the example, the column player the hypothesis.
Guarantee   (von Neumann) the largest margin that some weighting q of the hypotheses has on all examples equals the
            smallest advantage that the best hypothesis has under any weights p on the examples. A value of 2 gamma: for
            all weights some hypothesis has a weighted error of at most 1/2 - gamma, which is what boosting needs, and
            gamma is the largest number for which that is so.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.7; Freund & Schapire, Game theory, on-line
            prediction and boosting, 1996.

>>> import afterwit as aw
>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]], [-1, 1, 1, 1, -1, 1]
>>> game = minimax_margin(aw.games.all_stumps(X), X, y, gap=1e-9)
>>> round(game.value, 6)  # for every row two thirds of the votes are right: gamma may be up to 1/6
0.333333
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from afterwit.data.labels import Labels, Signs
from afterwit.data.rows import read_examples
from afterwit.errors import Words, invalid
from afterwit.games.solution import GameSolution
from afterwit.games.solve import DEFAULT, solve_game


def minimax_margin(
    hypotheses: Sequence[Any],
    X: Any,
    y: Any,
    gap: float = 1e-3,
    labels: Any = (-1, 1),
    method: str = DEFAULT,
    max_rounds: int = 1_000_000,
    max_seconds: float = 60.0,
) -> GameSolution:
    """The largest margin of any weighting of hypotheses on all rows of X at once.

    hypotheses   classifiers with ``predict_many`` or ``predict``, which give the labels of ``labels``
    The others are those of `solve_game`. ``value`` is the margin, ``column_strategy`` the weighting that has it and
    ``row_strategy`` the weights on the rows that are hardest for all hypotheses.
    """
    _, signs = read_examples(X, y, labels)
    both = Labels(labels)
    if not len(hypotheses):
        raise invalid("hypotheses", "at least one classifier", Words("none"))
    votes = []
    for j, hypothesis in enumerate(hypotheses):
        predict = getattr(hypothesis, "predict_many", None) or getattr(hypothesis, "predict", None)
        if predict is None:
            raise invalid(f"hypotheses[{j}]", "a classifier with predict_many or predict", hypothesis)
        votes.append(both.signs(predict(X)))
    return margin_game(votes, signs, gap, method=method, max_rounds=max_rounds, max_seconds=max_seconds)


def margin_game(votes: Sequence[Signs], signs: Signs, gap: float, **limits: Any) -> GameSolution:
    """The game with one column for each of these predictions."""
    return solve_game(np.stack(votes, axis=1).astype(np.float64) * signs[:, None], gap, **limits)
