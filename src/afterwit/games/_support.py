"""From approximate strategies to exact ones: guess which choices are played, and solve their linear equations.

In an equilibrium every row that is played pays the same against q, and every column that is played gets the same from
p. With as many rows I as columns J in play that is a square linear system: M_IJ q = v, sum q = 1, and likewise for p.
A wrong guess costs time and nothing else: what comes out is judged by the matrix like any other pair of strategies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.games._payoffs import Floats

#: How much of an even share a choice needs in the averages to be taken for one that is played: two guesses.
PLAYED = (1e-2, 1e-5)


def most_played(row_weights: Floats, column_weights: Floats) -> tuple[Any, Any]:
    """Equally many rows and columns: all in play on one side, the most played on the other."""
    rows, columns = np.flatnonzero(row_weights), np.flatnonzero(column_weights)
    count = min(len(rows), len(columns))
    return _largest(row_weights, rows, count), _largest(column_weights, columns, count)


def in_earnest(average: Floats, played: float) -> Floats:
    """The averages without the choices that were only tried."""
    return np.where(average * len(average) > played * float(average.sum()), average, 0.0)


def _largest(weights: Floats, places: Any, count: int) -> Any:
    return places if len(places) == count else np.sort(places[np.argsort(-weights[places], kind="stable")[:count]])


def equalising(matrix: Any, rows: Any, columns: Any) -> tuple[Floats, Floats] | None:
    """The strategies on these rows and columns that make each other's choices equally good; None if there are none."""
    block = matrix[rows][:, columns]
    block = block.toarray() if hasattr(block, "tocsr") else block
    count = len(rows)
    size = float(np.abs(block).max()) if count else 0.0
    if size == 0.0:
        return None
    system = np.zeros((count + 1, count + 1))
    system[:count, :count] = block / size
    system[:count, count] = -1.0
    system[count, :count] = 1.0
    target = np.zeros(count + 1)
    target[count] = 1.0
    with np.errstate(all="ignore"):
        try:
            q = np.linalg.solve(system, target)[:count]
            p = np.linalg.solve(system.T, -target)[:count]
        except np.linalg.LinAlgError:
            return None
        p, q = np.maximum(p, 0.0), np.maximum(q, 0.0)
        p, q = p / p.sum(), q / q.sum()
    if not (np.isfinite(p).all() and np.isfinite(q).all()):
        return None
    row_strategy, column_strategy = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
    row_strategy[rows], column_strategy[columns] = p, q
    return row_strategy, column_strategy
