"""Slow, obvious versions of the algorithms over finite classes and of disjunctions. Imports nothing from afterwit.

A class is a list of rows of 0 and 1 (hypotheses x points), a point its position, a label 0 or 1.
"""

from fractions import Fraction
from itertools import combinations, product


def labellings(matrix, points):
    return {tuple(row[j] for j in points) for row in matrix}


def is_shattered(matrix, points):
    points = sorted(set(points))
    return len(labellings(matrix, points)) == 2 ** len(points)


def vc_dimension(matrix):
    width = len(matrix[0])
    return max(d for d in range(width + 1) if any(is_shattered(matrix, S) for S in combinations(range(width), d)))


def growth_function(matrix, m):
    return max(len(labellings(matrix, S)) for S in combinations(range(len(matrix[0])), m))


def littlestone_dimension(matrix):
    """The recursion itself, over all points."""
    if not matrix:
        return -1
    best = 0
    for j in range(len(matrix[0])):
        zeros = [row for row in matrix if row[j] == 0]
        ones = [row for row in matrix if row[j] == 1]
        if zeros and ones:
            best = max(best, 1 + min(littlestone_dimension(zeros), littlestone_dimension(ones)))
    return best


def optimal_mistakes(matrix):
    """opt(H) as the value of the game: the worst point, the best prediction, the worst answer, again and again.

    It does not mention trees: V(H) = max over x of min over predictions of max over answers of the mistakes.
    """
    if len({tuple(row) for row in matrix}) <= 1:
        return 0
    values = []
    for j in range(len(matrix[0])):
        parts = {answer: [row for row in matrix if row[j] == answer] for answer in (0, 1)}
        if parts[0] and parts[1]:
            later = {answer: optimal_mistakes(part) for answer, part in parts.items()}
            values.append(min(max(later[answer] + (answer != predicted) for answer in (0, 1)) for predicted in (0, 1)))
    return max(values)


def halving(matrix, points, labels, after="mistakes", sizes=None):
    """Predictions, the rows that are left, and in how many rounds some were dropped; with sizes, generalized halving."""
    left = list(range(len(matrix)))
    predictions, changes = [], 0
    for j, label in zip(points, labels, strict=True):
        weight = {0: Fraction(0), 1: Fraction(0)}
        for i in left:
            weight[matrix[i][j]] += 1 if sizes is None else Fraction(1, 2 ** sizes[i])
        predictions.append(1 if weight[1] >= weight[0] else 0)
        if predictions[-1] != label or after == "examples":
            right = [i for i in left if matrix[i][j] == label]
            changes += right != left
            left = right
    return predictions, left, changes


def standard_optimal(matrix, points, labels):
    left = list(range(len(matrix)))
    predictions, changes = [], 0
    for j, label in zip(points, labels, strict=True):
        dimension = [littlestone_dimension([matrix[i] for i in left if matrix[i][j] == said]) for said in (0, 1)]
        predictions.append(1 if dimension[1] >= dimension[0] else 0)
        right = [i for i in left if matrix[i][j] == label]
        changes += right != left
        left = right
    return predictions, left, changes


def online_disjunction(rows, labels):
    h = set(range(len(rows[0]))) if rows else set()
    predictions = []
    for x, label in zip(rows, labels, strict=True):
        predictions.append(int(any(x[j] for j in h)))
        if predictions[-1] == 1 and label == 0:
            h -= {j for j in h if x[j]}
    return predictions, h


def winnow_disjunction(n, rows, labels):
    """Predictions, weights, promotions and eliminations."""
    w = [1] * n
    predictions, promotions, eliminations = [], 0, 0
    for x, label in zip(rows, labels, strict=True):
        predictions.append(int(2 * sum(w[j] for j in range(n) if x[j]) >= n))
        if predictions[-1] == 1 and label == 0:
            eliminations += 1
            w = [0 if x[j] else w[j] for j in range(n)]
        elif predictions[-1] == 0 and label == 1:
            promotions += 1
            w = [2 * w[j] if x[j] else w[j] for j in range(n)]
    return predictions, w, promotions, eliminations


def smallest_disjunction(rows, labels):
    """The size of the smallest disjunction that agrees with all labels; None if there is none."""
    n = len(rows[0])
    for k in range(n + 1):
        for S in combinations(range(n), k):
            if all(any(x[j] for j in S) == bool(label) for x, label in zip(rows, labels, strict=True)):
                return k
    return None


def vectors(n):
    return list(product((0, 1), repeat=n))


def literal_sets(n, most, signed):
    """Every set of at most so many literals (variable, value it wants), no variable twice."""
    for s in range(most + 1):
        for chosen in combinations(range(n), s):
            for signs in product((1, 0), repeat=s) if signed else [(1,) * s]:
                yield tuple(zip(chosen, signs, strict=True))


def boolean_class(kind, n, most, signed, points):
    """A dict from the literals to what the hypothesis says of the points."""

    def says(literals, x):
        true = [x[j] == sign for j, sign in literals]
        return int({"or": any, "and": all, "xor": lambda t: sum(t) % 2}[kind](true))

    return {literals: tuple(says(literals, x) for x in points) for literals in literal_sets(n, most, signed)}


def decision_list(rules, default, x):
    for j, sign, answer in rules:
        if x[j] == sign:
            return answer
    return default


def decision_list_functions(n, most, points):
    """All functions of decision lists of at most so many rules, with the fewest rules each needs."""
    found = {}
    for r in range(most + 1):
        literals = list(product(range(n), (0, 1), (0, 1)))
        for rules in product(literals, repeat=r):
            for default in (0, 1):
                values = tuple(decision_list(rules, default, x) for x in points)
                found.setdefault(values, r)
    return found
