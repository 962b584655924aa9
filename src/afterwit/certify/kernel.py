"""Gathering the evidence for a kernel learner's bounds: all of the perceptron's theorems, in feature space.

As for linear learners, the learner's word is not taken for anything. Its run is played again from the data; then every
round is multiplied out with kernel values that numpy computes, to see that each update was a mistake and every other
round was right. Comparators are combinations of landmarks, rows that are evenly spaced (all rows, if they are few):
with their Gram matrix K = V D V^T, the coordinates of x along the orthonormal vectors they span are
D^(-1/2) V^T (K(x, landmark))_landmarks. There the usual solvers work, and all rows judge what they find. A combination
of landmarks is a comparator like any other, so that few landmarks make a bound looser, never wrong.

Nothing here holds more than a few million kernel values at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.linear import LinearEvidence
from afterwit.certify.perceptron import MOST_ENTRIES_FOR_PROGRAM
from afterwit.certify.replay import ROUNDING, other_count, same_rounds
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs
from afterwit.data.values import same_value
from afterwit.errors import InputError, Words, counted, invalid
from afterwit.hindsight.comparator import Comparator
from afterwit.hindsight.max_margin import solve_max_margin
from afterwit.hindsight.min_hinge import solve_min_hinge
from afterwit.hindsight.svm import solve_svm
from afterwit.kernels._examples import ExampleMatrices
from afterwit.kernels.kernel_perceptron import BudgetBound

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

#: How many rows span the space in which comparators are sought; a function of the caller's is asked for fewer.
MOST_LANDMARKS = 500
#: Comparators are fitted on at most this many rows, evenly spaced; all rows judge.
MOST_ROWS_TO_FIT = 5_000
#: So many kernel values are held at a time.
BLOCK = 2_000_000
#: Rounds without an update are multiplied out as far as that takes this many kernel values, or calls of a function.
MOST_VALUES, MOST_CALLS = 400_000_000, 4_000_000
#: Directions of the landmarks' span that are shorter than this share of the longest are left out.
SMALLEST_EIGENVALUE = 1e-8
#: What the same rounds would have been without the budget is played for at most this many of them.
MOST_ROUNDS_WITHOUT_BUDGET = 20_000


@dataclass(frozen=True, kw_only=True)
class KernelEvidence(LinearEvidence):
    """A run of a kernel learner, recomputed from its data, with what its budget did."""

    dropped: int
    #: F, the sum over the updates of y_t times the score that dropped examples would have given x_t.
    budget_cost: float = 0.0
    mistakes_without_budget: int | None = None

    def certificate(
        self, theorem: Theorem, bound: float | None, inputs: Any, *extra: Assumption, **further: Any
    ) -> Certificate:
        if self.dropped and not isinstance(theorem, BudgetBound):
            detail = f"it dropped {counted(self.dropped, 'example')}, and the proof needs all of them"
            extra = (Assumption("every example that was added is kept", Basis.OBSERVED, False, detail), *extra)
        return super().certificate(theorem, bound, inputs, *extra, **further)


def gather(learner: Any, examples: Any, signs: Signs, comparator: Any = None) -> KernelEvidence:
    """What is known of the rounds X, y of a kernel learner."""
    count = examples.count
    given = None if comparator is None else _coefficients(comparator, count)
    same, passes, updates = _replay(learner, examples, signs)
    gram = Gram(learner.kernel, examples)
    longest = float(np.sqrt(gram.diagonal().max(initial=0.0))) if same.holds else 0.0
    # Every bound is the same in any unit of length; near 1 nothing overflows.
    unit = longest if longest > 0 and not 1e-3 <= longest <= 1e3 else 1.0
    comparators: tuple[Comparator, ...] = (_judged("zero", np.zeros(1), np.zeros(count), signs),)
    assumptions: tuple[Assumption, ...] = (same,)
    own: tuple[Comparator, ...] = ()
    cost, without_budget = 0.0, None
    if same.holds:
        landmarks = Landmarks(gram, unit)
        if given is not None:
            comparators += (_given_comparator(gram, given, signs, unit),)
        elif longest > 0:
            comparators += _comparators(landmarks, signs, passes, longest / unit, unit)
        follows, cost = _follows_the_rule(gram, signs, updates, learner.budget)
        own = _own(gram, signs, updates, learner.budget, learner.rounds)
        start = Assumption("w_1 = 0", Basis.ENFORCED, True)
        assumptions += (start, landmarks.positive_semidefinite(), follows)
        if learner.dropped and learner.rounds <= MOST_ROUNDS_WITHOUT_BUDGET:
            without_budget = _mistakes_without_budget(learner, examples, signs, passes)
    return KernelEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        passes=passes,
        unit=unit,
        radius=longest / unit,
        updates=np.concatenate(updates),
        comparators=comparators,
        own=own,
        assumptions=assumptions,
        dropped=learner.dropped,
        budget_cost=cost,
        mistakes_without_budget=without_budget,
    )


def _coefficients(comparator: Any, count: int) -> Floats:
    """A comparator the caller gave: one coefficient for each row."""
    allowed = f"a sequence of {count} finite numbers, one coefficient for each row of X"
    try:
        array = np.asarray(comparator)
    except (TypeError, ValueError):
        raise invalid("comparator", allowed, comparator) from None
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise invalid("comparator", allowed, comparator)
    if len(array) != count:
        raise invalid("comparator", allowed, Words(counted(len(array), "number")))
    if not np.isfinite(array).all():
        raise invalid("comparator", allowed, Words("one that is not finite"))
    return array.astype(np.float64)


# ---------------------------------------------------------------------- the run


def _replay(learner: Any, examples: Any, signs: Signs) -> tuple[Assumption, int, list[Indices]]:
    """Whether X, y are the rounds the learner learned from, how many passes, and the rows at which each updated."""
    updates: list[Indices] = []

    def differs(passes: int) -> str:
        fresh = type(learner)(**learner.parameters)
        while len(updates) < passes and fresh.mistakes <= learner.mistakes:
            updated = np.zeros(examples.count, dtype=np.int8)
            fresh._learn(examples, signs, updated)
            updates.append(np.flatnonzero(updated))
            if not len(updates[-1]):
                # Nothing was added in this pass, so that all further passes are like it.
                break
        for what, name in (("mistakes", "mistakes"), ("updates", "updates"), ("dropped examples", "dropped")):
            if why := other_count(what, getattr(learner, name), getattr(fresh, name)):
                return why
        return "" if _same_function(fresh, learner, examples) else "these rows give other scores"

    same, passes = same_rounds(learner, examples.count, differs)
    return same, passes, updates or [np.empty(0, dtype=np.intp)]


def _same_function(fresh: Any, learner: Any, examples: Any) -> bool:
    """Whether both have learned the same, also where one learned arrays and the other the same as sparse rows."""
    one, other = fresh.state(), learner.state()
    if all(same_value(one[key], other[key]) for key in ("form", "coefficients", "support")):
        return True
    try:
        a, b = fresh.score_many(examples), learner.score_many(examples)
    except InputError:
        return False
    return np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)))


def _mistakes_without_budget(learner: Any, examples: Any, signs: Signs, passes: int) -> int:
    fresh = type(learner)(**{**learner.parameters, "budget": None})
    for _ in range(passes):
        before = fresh.updates
        fresh._learn(examples, signs)
        if fresh.updates == before:
            break
    return int(fresh.mistakes)


def _follows_the_rule(gram: Gram, signs: Signs, updates: list[Indices], budget: int | None) -> tuple[Assumption, float]:
    """y_t f_t(x_t) <= 0 at every update and >= 0 elsewhere, f_t from the examples kept then; and the budget's cost.

    With C_k the sum of the first k updates' y_s K(x_s, x), the examples kept after h updates give C_h - C_l, those
    dropped by then C_l, where l = h - budget.
    """
    statement = "it updated exactly on its mistakes: y_t (w_t . phi(x_t)) <= 0 there, >= 0 elsewhere"
    added = np.concatenate(updates)
    before = np.cumsum([0, *(len(each) for each in updates)])
    rows, column_of = np.unique(added, return_inverse=True)
    others = np.setdiff1d(np.arange(len(signs)), rows)
    most = max(1, (MOST_CALLS if gram.calls else MOST_VALUES) // max(1, len(rows)))
    step = -(-len(others) // most) or 1
    looked_at = np.union1d(rows, others[::step])
    cost = 0.0
    for part in _blocks(looked_at, len(added) + 1):
        products = gram(part, rows)[:, column_of]
        sums = np.zeros((len(part), len(added) + 1))
        sizes = np.zeros(sums.shape)
        np.cumsum(products * signs[added], axis=1, out=sums[:, 1:])
        np.cumsum(np.abs(products), axis=1, out=sizes[:, 1:])
        at = np.arange(len(part))
        for p, updated in enumerate(updates):
            high = before[p] + np.searchsorted(updated, part)
            low = np.zeros(len(part), dtype=np.intp) if budget is None else np.maximum(0, high - budget)
            margins = signs[part] * (sums[at, high] - sums[at, low])
            is_update = np.isin(part, updated)
            wrong = np.where(is_update, margins, -margins) > ROUNDING * sizes[at, high]
            if wrong.any():
                detail = f"row {part[np.argmax(wrong)]} was not treated by the rule"
                return Assumption(statement, Basis.OBSERVED, False, detail), 0.0
            cost += float((signs[part] * sums[at, low])[is_update].sum())
    rounds = "every round" if step == 1 else f"every update and one of {step} other rounds"
    return Assumption(
        statement, Basis.OBSERVED, True, f"{rounds} multiplied out, {counted(len(added), 'update')}"
    ), cost


# ---------------------------------------------------------------------- kernel values


class Gram:
    """The kernel's values for some rows with others, by numpy: not the code that learned."""

    def __init__(self, kernel: Any, examples: Any) -> None:
        self.kernel = kernel
        self.count = examples.count
        self.calls = bool(kernel.functions)
        self.matrices = ExampleMatrices(examples)

    def __call__(self, left: Indices, right: Indices) -> Floats:
        values: Floats = self.kernel._matrix(self.matrices, left, right)
        return values

    def diagonal(self) -> Floats:
        """K(x, x) for every row."""
        width = 1 if self.calls else 32
        parts = [np.arange(begin, min(begin + width, self.count)) for begin in range(0, self.count, width)]
        return np.concatenate([np.zeros(0), *(self(part, part).diagonal() for part in parts)])


def _blocks(rows: Indices, width: int) -> Iterator[Indices]:
    height = max(1, BLOCK // max(1, width))
    for begin in range(0, len(rows), height):
        yield rows[begin : begin + height]


def _spaced(count: int, most: int) -> Indices:
    """At most so many of the rows, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)) if count else np.arange(0)


class Landmarks:
    """Rows that span a part of feature space, and coordinates there; lengths in the given unit."""

    def __init__(self, gram: Gram, unit: float) -> None:
        self.gram = gram
        self.unit = unit
        self.rows = _spaced(gram.count, MOST_LANDMARKS // 5 if gram.calls else MOST_LANDMARKS)
        products = gram(self.rows, self.rows) / unit / unit
        self.asymmetry = float(np.abs(products - products.T).max(initial=0.0))
        self.eigenvalues, vectors = np.linalg.eigh((products + products.T) / 2)
        self.largest = float(np.abs(self.eigenvalues).max(initial=0.0))
        kept = self.eigenvalues > SMALLEST_EIGENVALUE * self.largest
        self.basis = vectors[:, kept] / np.sqrt(self.eigenvalues[kept])

    @property
    def description(self) -> str:
        return f" on {len(self.rows)} landmarks" if len(self.rows) < self.gram.count else ""

    def coordinates(self, rows: Indices) -> Floats:
        parts = [
            self.gram(part, self.rows) / self.unit / self.unit @ self.basis for part in _blocks(rows, len(self.rows))
        ]
        return np.concatenate([np.zeros((0, self.basis.shape[1])), *parts])

    def positive_semidefinite(self) -> Assumption:
        """What is known of K(x, z) = phi(x) . phi(z)."""
        statement = "K is symmetric and positive semidefinite"
        if not self.gram.calls:
            return Assumption(statement, Basis.ENFORCED, True)
        tolerance = ROUNDING * max(1, len(self.rows)) * self.largest
        least = float(self.eigenvalues.min(initial=0.0))
        if self.asymmetry > tolerance:
            return Assumption(statement, Basis.OBSERVED, False, "K(x, z) is not K(z, x) for two of these rows")
        if least < -tolerance:
            detail = (
                f"the Gram matrix of {len(self.rows):,} rows has the eigenvalue {least * self.unit * self.unit:.3g}"
            )
            return Assumption(statement, Basis.OBSERVED, False, detail)
        if len(self.rows) == self.gram.count:
            return Assumption(statement, Basis.OBSERVED, True, "the eigenvalues of the Gram matrix of these rows")
        detail = f"no sign of the contrary on {len(self.rows):,} of the rows"
        return Assumption(statement, Basis.PROMISED, None, detail)


# ---------------------------------------------------------------------- comparators


def _judged(source: str, vector: Floats, scores: Floats, signs: Signs) -> Comparator:
    """A comparator whose length is that of the vector, by its scores on all rows."""
    mistakes = int(np.count_nonzero((scores >= 0) != (signs > 0)))
    return Comparator(source, vector, signs * scores, mistakes)


def _given_comparator(gram: Gram, given: Floats, signs: Signs, unit: float) -> Comparator:
    """The comparator u = sum_t b_t phi(x_t), with its scores and its length, the latter never too small by rounding."""
    used = np.flatnonzero(given)
    scores = np.zeros(gram.count)
    size = 0.0
    for part in _blocks(np.arange(gram.count), len(used)):
        products = gram(part, used)
        scores[part] = products @ given[used]
        size += float(np.abs(given[part]) @ (np.abs(products) @ np.abs(given[used])))
    square = max(0.0, float(given @ scores)) + 1e-14 * size
    if not np.isfinite(square) or not np.isfinite(scores).all():
        raise invalid("comparator", "a vector of finite length", Words("one that overflows"))
    return _judged("the given one", np.array([unit * np.sqrt(square)]), scores, signs)


def _own(gram: Gram, signs: Signs, updates: list[Indices], budget: int | None, rounds: int) -> tuple[Comparator, ...]:
    """What the learner ended with, and the average of that over the rounds; nothing where that would take too long."""
    added = np.concatenate(updates)
    rows, place = np.unique(added, return_inverse=True)
    if len(rows) * gram.count > (MOST_CALLS if gram.calls else MOST_VALUES) // 4:
        return ()
    begins = np.concatenate([number * len(signs) + at for number, at in enumerate(updates)])
    # An example counts until it is dropped, if it ever is.
    ends = np.full(len(added), rounds)
    if budget is not None:
        ends[: max(0, len(added) - budget)] = begins[budget:]
    coefficients = np.zeros((len(rows), 2))
    np.add.at(coefficients[:, 0], place, signs[added] * (ends == rounds))
    np.add.at(coefficients[:, 1], place, signs[added] * (ends - begins) / max(1, rounds))
    scores = np.zeros((gram.count, 2))
    for part in _blocks(np.arange(gram.count), len(rows)):
        scores[part] = gram(part, rows) @ coefficients
    sources = ("its own last weights", "the average of its weights")
    return tuple(_judged(source, np.zeros(1), scores[:, j], signs) for j, source in enumerate(sources))


def _comparators(landmarks: Landmarks, signs: Signs, passes: int, radius: float, unit: float) -> tuple[Comparator, ...]:
    """Combinations of landmarks worth comparing with, chosen from the rows alone."""
    count = len(signs)
    chosen = _spaced(count, MOST_ROWS_TO_FIT)
    part, part_signs = landmarks.coordinates(chosen), signs[chosen]
    share = count / len(chosen)
    found: list[tuple[str, Any]] = []
    widest = solve_max_margin(part, part_signs)
    found.append(("maximum margin", widest))
    if part.size <= MOST_ENTRIES_FOR_PROGRAM:
        program = solve_min_hinge(part, part_signs)
        found.append(("least hinge loss", None if program is None else program.vector))
    # C = passes/R^2 minimises the hinge bound, a smaller C the sharper ones; a larger C finds rules with fewer mistakes
    # where no separator is known.
    for exponent in range(-3, 1 if widest is not None else 3):
        C = 4.0**exponent * share * passes / radius**2
        found.append((f"svm (C = {C / unit / unit:.3g})", solve_svm(part, part_signs, C)))
    sound = [(source, vector) for source, vector in found if vector is not None and np.isfinite(vector).all()]
    vectors = np.column_stack([np.zeros((part.shape[1], 0)), *(vector for _, vector in sound)])
    if len(chosen) == count:
        judged = part @ vectors
    else:
        blocks = _blocks(np.arange(count), len(landmarks.rows))
        judged = np.concatenate([landmarks.coordinates(rows) @ vectors for rows in blocks])
    where = landmarks.description
    return tuple(_judged(source + where, vector, judged[:, j], signs) for j, (source, vector) in enumerate(sound))
