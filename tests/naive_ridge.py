"""Online ridge regression in fractions, by its definition: every round solves a system of equations. Nothing here comes from afterwit."""

from fractions import Fraction


def solved(matrix, right):
    """The solution of a system of equations with a positive definite matrix."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, pivot in enumerate(rows):
        for other in rows[i + 1 :]:
            factor = other[i] / pivot[i]
            other[:] = [a - factor * b for a, b in zip(other, pivot, strict=True)]
    found = [Fraction(0)] * len(rows)
    for i in reversed(range(len(rows))):
        known = sum((rows[i][j] * found[j] for j in range(i + 1, len(rows))), Fraction(0))
        found[i] = (rows[i][-1] - known) / rows[i][i]
    return found


def determinant(matrix):
    rows, product = [list(row) for row in matrix], Fraction(1)
    for i, pivot in enumerate(rows):
        product *= pivot[i]
        for other in rows[i + 1 :]:
            factor = other[i] / pivot[i]
            other[:] = [a - factor * b for a, b in zip(other, pivot, strict=True)]
    return product


def dot(one, two):
    return sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0))


def fractions(rows):
    return [[Fraction(value) for value in row] for row in rows]


def run(rows, targets, penalty):
    """Every prediction, every share q_t, the weights of ridge regression after the last round, and det(A / a)."""
    rows, targets, penalty = fractions(rows), [Fraction(y) for y in targets], Fraction(penalty)
    width = len(rows[0]) if rows else 0
    matrix = [[penalty * (i == j) for j in range(width)] for i in range(width)]
    sums = [Fraction(0)] * width
    predictions, shares = [], []
    for x, y in zip(rows, targets, strict=True):
        matrix = [[entry + x[i] * x[j] for j, entry in enumerate(row)] for i, row in enumerate(matrix)]
        towards = solved(matrix, x)
        predictions.append(dot(towards, sums))
        shares.append(dot(towards, x))
        sums = [total + y * value for total, value in zip(sums, x, strict=True)]
    volume = determinant([[entry / penalty for entry in row] for row in matrix])
    return {"predictions": predictions, "shares": shares, "weights": solved(matrix, sums), "determinant": volume}


def loss_of(rows, targets, u):
    """What fixed weights lose."""
    each = ((dot(map(Fraction, u), map(Fraction, x)) - Fraction(y)) ** 2 for x, y in zip(rows, targets, strict=True))
    return sum(each, Fraction(0))
