"""Slow, obvious oracles for games and boosting. Nothing here comes from afterwit."""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog


def exact(matrix):
    return [[Fraction(entry) for entry in row] for row in np.asarray(matrix, dtype=float).tolist()]


def normalised(strategy):
    parts = [Fraction(part) for part in strategy.tolist()]
    return [part / sum(parts) for part in parts]


def exact_upper(matrix, p):
    """max_j (p^T M)_j without rounding, for the distribution that p is a multiple of."""
    p = normalised(p)
    return max(sum(a * row[j] for a, row in zip(p, exact(matrix), strict=True)) for j in range(len(matrix[0])))


def exact_lower(matrix, q):
    q = normalised(q)
    return min(sum(b * entry for b, entry in zip(q, row, strict=True)) for row in exact(matrix))


def solve_exactly(rows, right):
    """Gaussian elimination over the rationals; None if there is no single solution."""
    n = len(rows)
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if table[i][k] != 0), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [entry / table[k][k] for entry in table[k]]
        for i in range(n):
            if i != k:
                table[i] = [a - table[i][k] * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[-1] for row in table]


def game_value(matrix):
    """The exact value: some square block, solved as if all its choices were played, is an equilibrium."""
    M = exact(matrix)
    m, n = len(M), len(M[0])
    for size in range(1, min(m, n) + 1):
        for rows in itertools.combinations(range(m), size):
            for columns in itertools.combinations(range(n), size):
                block = [[M[i][j] for j in columns] for i in rows]
                ones, end = [Fraction(1)] * size, [Fraction(0)] * size + [Fraction(1)]
                q = solve_exactly([[*row, Fraction(-1)] for row in block] + [[*ones, Fraction(0)]], end)
                turned = [list(column) for column in zip(*block, strict=True)]
                p = solve_exactly([[*row, Fraction(-1)] for row in turned] + [[*ones, Fraction(0)]], end)
                if p is None or q is None or min(p[:size]) < 0 or min(q[:size]) < 0:
                    continue
                upper = max(sum(a * M[i][j] for a, i in zip(p, rows, strict=False)) for j in range(n))
                lower = min(sum(b * M[i][j] for b, j in zip(q, columns, strict=False)) for i in range(m))
                if upper == lower:
                    return upper
    raise AssertionError("every game has such a block")


def lp_value(matrix):
    """The column player's linear program: maximise v with M q >= v."""
    M = np.asarray(matrix, dtype=float)
    m, n = M.shape
    result = linprog(
        [0.0] * n + [-1.0],
        A_ub=np.hstack([-M, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return -result.fun


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def times(matrix, q):
    return [dot(row, q) for row in matrix]


def exponential_weights_game(matrix, rounds):
    """Both players by the formula, every round from its beginning. Strategies of every round."""
    matrix = [list(map(float, row)) for row in matrix]
    turned = [list(column) for column in zip(*matrix, strict=True)]
    spread = max(map(max, matrix)) - min(map(min, matrix))

    def choose(losses, t):
        rate = math.sqrt(8 * math.log(len(losses)) / t) / spread if spread else 0.0
        weights = [math.exp(-rate * (loss - min(losses))) for loss in losses]
        return [weight / sum(weights) for weight in weights]

    row_losses, column_losses = [0.0] * len(matrix), [0.0] * len(turned)
    played = []
    for t in range(1, rounds + 1):
        p, q = choose(row_losses, t), choose(column_losses, t)
        played.append((p, q))
        row_losses = [a + b for a, b in zip(row_losses, times(matrix, q), strict=True)]
        column_losses = [a - b for a, b in zip(column_losses, times(turned, p), strict=True)]
    return played


def regret_matching_game(matrix, rounds, predictive):
    """(Predictive) regret matching+ in turns. For every round: the p that is answered, and q."""
    matrix = [list(map(float, row)) for row in matrix]
    turned = [list(column) for column in zip(*matrix, strict=True)]

    def learn(regrets, strategy, losses):
        mean = dot(strategy, losses)
        latest = [mean - loss for loss in losses]
        regrets = [max(0.0, a + b) for a, b in zip(regrets, latest, strict=True)]
        aim = [max(0.0, a + b) for a, b in zip(regrets, latest, strict=True)] if predictive else regrets
        total = sum(aim)
        return regrets, [a / total for a in aim] if total > 0 else [1 / len(aim)] * len(aim)

    p, q = [1 / len(matrix)] * len(matrix), [1 / len(turned)] * len(turned)
    row_regrets, column_regrets = [0.0] * len(p), [0.0] * len(q)
    played = []
    for _ in range(rounds):
        row_regrets, p = learn(row_regrets, p, times(matrix, q))
        played.append((p, q))
        column_regrets, q = learn(column_regrets, q, [-gain for gain in times(turned, p)])
    return played, max(row_regrets) + max(column_regrets)


def kept_regrets(matrix, rounds, predictive):
    """What both players of (predictive) regret matching+ have kept in all, and what taking turns cost.

    None where a strategy is proportional to next to nothing: there rounding decides.
    """
    matrix = [list(map(float, row)) for row in matrix]
    turned = [list(column) for column in zip(*matrix, strict=True)]
    spread = max(map(max, matrix)) - min(map(min, matrix))
    strategies = [[1 / len(side)] * len(side) for side in (matrix, turned)]
    regrets = [[0.0] * len(side) for side in (matrix, turned)]
    cost = 0.0
    for t in range(1, rounds + 1):
        for who, (side, sign) in enumerate(((matrix, 1), (turned, -1))):
            losses = [sign * value for value in times(side, strategies[1 - who])]
            latest = [dot(strategies[who], losses) - loss for loss in losses]
            regrets[who] = [max(0.0, a + b) for a, b in zip(regrets[who], latest, strict=True)]
            aim = [max(0.0, a + b) for a, b in zip(regrets[who], latest, strict=True)] if predictive else regrets[who]
            if sum(aim) <= 1e-9 * spread and len(aim) > 1:
                return None
            after = [a / sum(aim) for a in aim] if sum(aim) > 0 else [1.0]
            cost += (t**2) * dot([a - b for a, b in zip(after, strategies[who], strict=True)], losses) * (who == 0)
            strategies[who] = after
    return max(regrets[0]) + max(regrets[1]), cost / sum(t**2 for t in range(1, rounds + 1))


def averages(played, power):
    weights = [t**power for t in range(1, len(played) + 1)]
    total = sum(weights)
    p = [sum(w * row[i] for w, (row, _) in zip(weights, played, strict=True)) / total for i in range(len(played[0][0]))]
    q = [sum(w * col[j] for w, (_, col) in zip(weights, played, strict=True)) / total for j in range(len(played[0][1]))]
    return p, q


def gap(matrix, p, q):
    turned = [list(column) for column in zip(*np.asarray(matrix).tolist(), strict=True)]
    return max(times(turned, p)) - min(times(np.asarray(matrix).tolist(), q))


def every_stump(X):
    """(feature, threshold, sign) of all stumps: constants, and thresholds at the values that occur."""
    yield from ((None, 0.0, sign) for sign in (1, -1))
    for j in range(len(X[0])):
        for value in sorted({row[j] for row in X})[:-1]:
            yield from ((j, value, sign) for sign in (1, -1))


def stump_says(stump, x):
    feature, threshold, sign = stump
    return sign if feature is None or x[feature] > threshold else -sign


def weighted_error(predictions, y, weights):
    return sum(w for guess, label, w in zip(predictions, y, weights, strict=True) if guess != label)


def least_stump_error(X, y, weights):
    return min(weighted_error([stump_says(stump, x) for x in X], y, weights) for stump in every_stump(X))


def boost(X, y, gamma, rounds, weak):
    """The algorithm of the book over the rationals. ``weak(weights)`` gives a list of predictions."""
    gamma = Fraction(gamma)
    weights = [Fraction(1)] * len(y)
    votes, errors = [], []
    for _ in range(rounds):
        predictions = weak(weights)
        error = weighted_error(predictions, y, weights) / sum(weights)
        errors.append(error)
        if error > Fraction(1, 2) - gamma:
            break
        votes.append(predictions)
        factor = (Fraction(1, 2) + gamma) / (Fraction(1, 2) - gamma)
        weights = [w * factor if g != label else w for w, g, label in zip(weights, predictions, y, strict=True)]
    return votes, errors
