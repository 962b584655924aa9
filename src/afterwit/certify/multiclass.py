"""Gathering the evidence for the bounds of multiclass perceptrons, in hindsight.

By Kesler's construction these are perceptrons on longer examples, so that the evidence is that of linear learners, with
a comparator of the weights of all classes. The learner's word is not taken for anything. Its run is played again from
the data; then every round is multiplied out with numpy, to see that each update was made by the rule and every other
round was left alone by it; and the comparators are judged on the data itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from afterwit.certify.linear import LinearEvidence
from afterwit.certify.perceptron import because_of_size
from afterwit.certify.replay import (
    ROUNDING,
    RowProducts,
    comparator_for,
    matrix_of,
    on_part,
    other_count,
    same_rounds,
    same_weights,
    to_fit_on,
    used_columns,
)
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.classes import Codes
from afterwit.data.rows import Rows
from afterwit.errors import Words, counted, invalid
from afterwit.hindsight._multiclass import judge_classes, solve_multiclass_margin, solve_multiclass_svm
from afterwit.hindsight.comparator import Comparator, normalised, row_norms
from afterwit.linear.multiclass_perceptron import MulticlassPerceptron

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class MulticlassEvidence(LinearEvidence):
    """A run of a multiclass perceptron, recomputed from its data. A comparator is the weights of all classes."""

    #: How many rounds there were in which no class was known: 0 or 1. Such a round is a mistake and no update.
    unannounced: int

    separable: ClassVar[str] = "some U has (U_y . x_t - U_k . x_t) / |U| >= gamma > 0 for all k but y_t, in every round"
    inseparable: ClassVar[str] = "no weights that separate the classes were found"

    def certificate(
        self, theorem: Theorem, bound: float | None, inputs: Mapping[str, float | str], *extra: Assumption, **how: Any
    ) -> Certificate:
        if bound is not None and self.unannounced and theorem.quantity == "mistakes":
            bound, inputs = bound + self.unannounced, {**inputs, "first round without a class": self.unannounced}
        return super().certificate(theorem, bound, inputs, *extra, **how)


@dataclass(frozen=True)
class Played:
    """The rounds of a learner, played again."""

    same_rounds: Assumption
    passes: int
    #: The class that the perceptron itself predicted in every round of every pass, -1 where none was known.
    leaders: list[Codes]

    def updates(self, codes: Codes) -> list[npt.NDArray[np.intp]]:
        """The rows at which it updated, pass by pass."""
        return [np.flatnonzero((each != codes) & (each >= 0)) for each in self.leaders]


def gather(learner: Any, X: Any, y: Any, comparator: Any = None) -> MulticlassEvidence:
    """What is known of the rounds X, y of a multiclass perceptron."""
    fresh = type(learner)(**learner.parameters)
    rows, codes, _ = fresh._checked(X, y)
    given = given_vectors(learner, rows, comparator)
    played = _play(learner, rows, y)
    matrix, used = used_columns(matrix_of(learner, rows))
    # Every bound is the same in any unit of length; near 1 nothing overflows.
    matrix, unit = normalised(matrix)
    count = max(1, len(learner.classes))
    comparators: tuple[Comparator, ...] = ()
    own: tuple[Comparator, ...] = ()
    assumptions: tuple[Assumption, ...] = (played.same_rounds,)
    updates = [np.empty(0, dtype=np.intp)]
    if played.same_rounds.holds:
        updates = played.updates(codes)
        if given is not None:
            comparators = (judge_classes("the given one", unit * given[:, used], matrix, codes),)
        else:
            comparators = _comparators(matrix, codes, count, played.passes, unit)
        assumptions += (
            Assumption("all weights are 0 at first", Basis.ENFORCED, True),
            _follows_the_rule(matrix, codes, count, played.leaders, learner.labels is not None, unit),
        )
        own = _own(learner, rows, matrix, codes, used)
    else:
        codes = np.minimum(codes, count - 1)
    zero = judge_classes("zero", np.zeros((count, matrix.shape[1])), matrix, codes)
    return MulticlassEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        counted_updates=learner.updates,
        passes=played.passes,
        unit=unit,
        radius=float(row_norms(matrix).max(initial=0.0)),
        updates=np.concatenate(updates),
        comparators=(zero, *comparators),
        own=own,
        assumptions=assumptions,
        unannounced=int(learner.labels is None and learner.rounds > 0),
    )


def _play(learner: Any, rows: Rows, y: Any) -> Played:
    """Whether these are the rounds the learner learned from, and what the perceptron in it predicted in them."""
    leaders: list[Codes] = []

    def differs(passes: int) -> str:
        fresh = type(learner)(**learner.parameters)
        plain = MulticlassPerceptron(**learner.parameters)
        for _ in range(passes):
            leaders.append(plain._learn(*plain._checked(rows, y)))
            if type(learner) is not MulticlassPerceptron:
                fresh.learn_many(rows, y)
        if type(learner) is MulticlassPerceptron:
            fresh = plain
        if learner.classes != fresh.classes:
            return f"the learner has the classes {learner.classes!r}, these rows give {fresh.classes!r}"
        counts = [("mistakes", fresh.mistakes), ("updates", plain.updates)]
        whys = (other_count(what, getattr(learner, what), replayed) for what, replayed in counts)
        if why := next((why for why in whys if why), ""):
            return why
        return "" if same_class_weights(learner, fresh.state(), learner.state()) else "these rows give other weights"

    same, passes = same_rounds(learner, rows.count, differs)
    return Played(same, passes, leaders)


def same_class_weights(learner: Any, one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the weights of every class, and what else is stored for it, are equal but for rounding."""
    reserved = int(bool(learner.parameters["intercept"]))
    names = [name for name, value in one.items() if isinstance(value, np.ndarray)]
    return all(
        same_weights({**one, "weights": one[name][:, k]}, {**other, "weights": other[name][:, k]}, reserved)
        for name in names
        for k in range(len(learner.classes))
    )


def given_vectors(learner: Any, rows: Rows, comparator: Any) -> Floats | None:
    """The weights of each class that the caller gave, over the columns of ``matrix_of``; None if none were given."""
    if comparator is None:
        return None
    classes = learner.classes
    if not isinstance(comparator, Mapping):
        raise invalid("comparator", "a dict with the weights of each class", comparator)
    for label in comparator:
        if label not in classes:
            raise invalid("comparator", "a dict with the weights of each class", Words(f"the unknown class {label!r}"))
    width = rows.width + int(bool(learner.parameters["intercept"]))
    vectors = np.zeros((max(1, len(classes)), width))
    for code, label in enumerate(classes):
        if label in comparator:
            vectors[code] = comparator_for(learner, rows, comparator[label])
    return vectors


def _comparators(matrix: Any, codes: Codes, count: int, passes: int, unit: float) -> tuple[Comparator, ...]:
    """Weights of all classes worth comparing with, chosen from the rows alone."""
    found: list[Comparator] = []

    def add(source: str, vectors: Any) -> None:
        if vectors is not None and np.isfinite(np.linalg.norm(vectors)):
            found.append(judge_classes(source, vectors, matrix, codes))

    radius = float(row_norms(matrix).max(initial=0.0))
    if radius == 0 or count < 2:
        return ()
    add("the widest margin found", solve_multiclass_margin(matrix, codes, count))
    # C = passes / (2 R^2) minimises the hinge bound, a smaller C the sharper ones.
    part, part_codes, step = to_fit_on(matrix, codes)
    for exponent in range(-3, 1):
        C = 4.0**exponent * step * passes / (2 * radius**2)
        vectors = solve_multiclass_svm(part, part_codes, count, C)
        add(f"multiclass svm (C = {C / unit / unit:.3g}){on_part(step)}", vectors)
    return tuple(found)


def _follows_the_rule(
    matrix: Any, codes: Codes, count: int, leaders: list[Codes], announced: bool, unit: float
) -> Assumption:
    """In every round no class scores more than the one it predicted, and it updated where that was the wrong one."""
    statement = "it updated exactly on its mistakes: with k the class it predicted, w_y . x_t <= w_k . x_t there"
    rows = RowProducts(matrix)
    weights, added = np.zeros((count, matrix.shape[1])), np.zeros((count, matrix.shape[1]))
    known, updates = count if announced else 0, 0
    for predicted in leaders:
        at = np.flatnonzero((predicted != codes) & (predicted >= 0))
        updates += len(at)
        # Up to the row of an update, and in it, the weights are the same.
        for begin, end in pairwise(sorted({0, *(at + 1).tolist(), len(codes)})):
            before = np.maximum(known, np.concatenate([[0], np.maximum.accumulate(codes[begin:end] + 1)]))
            known = int(before[-1])
            suspects = _suspects(matrix[begin:end] @ weights.T, predicted[begin:end], before[:-1])
            for row, short in suspects:
                size = max(rows.times(each, begin + row, begin + row + 1, absolute=True)[0] for each in added)
                if not short <= ROUNDING * size:
                    detail = f"row {begin + row} was not treated by the rule{because_of_size(unit)}"
                    return Assumption(statement, Basis.OBSERVED, False, detail)
            if predicted[end - 1] not in (-1, codes[end - 1]):
                rows.add(weights[codes[end - 1]], end - 1, 1.0)
                rows.add(weights[predicted[end - 1]], end - 1, -1.0)
                rows.add(added[codes[end - 1]], end - 1, 1.0, absolute=True)
                rows.add(added[predicted[end - 1]], end - 1, 1.0, absolute=True)
    return Assumption(statement, Basis.OBSERVED, True, f"every round multiplied out, {counted(updates, 'update')}")


def _suspects(scores: Any, predicted: Codes, known: Codes) -> list[tuple[int, float]]:
    """The rows in which a class scores more than the predicted one, and by how much; infinitely if that was not known.

    A class that is not known has no weights, and the score 0.
    """
    led = scores[np.arange(len(predicted)), predicted]
    short = np.where(predicted < 0, 0.0, scores.max(axis=1) - led)
    short[(predicted >= known) | ((predicted < 0) & (known > 0))] = np.inf
    return [(row, float(short[row])) for row in np.flatnonzero(short > 0).tolist()]


def _own(learner: Any, rows: Rows, matrix: Any, codes: Codes, used: Any) -> tuple[Comparator, ...]:
    """What the learner predicts by at the end, and for an average also the last weights."""
    vectors = {"its own weights": learner._engine.vectors()}
    if learner.theorems[0].quantity == "updates":
        vectors["its last weights"] = learner._engine._column(0)
    found = []
    for source, each in vectors.items():
        found.append(judge_classes(source, over_columns(learner, rows, each)[:, used], matrix, codes))
    return tuple(found)


def over_columns(learner: Any, rows: Rows, vectors: Floats) -> Floats:
    """Weights by feature and class, with a row for each class, over the columns of ``matrix_of``."""
    reserved = int(bool(learner.parameters["intercept"]))
    found = np.zeros((vectors.shape[1], reserved + rows.width))
    names = learner.state()["names"]
    if rows.names is not None:
        at = {name: j + reserved for j, name in enumerate(names or ())}
        places = np.array([at.get(name, -1) for name in rows.names], dtype=np.intp)
        known = places >= 0
        found[:, :reserved] = vectors[:reserved].T
        found[:, reserved:][:, known] = vectors[places[known]].T
    elif names is None:
        length = min(len(vectors), reserved + rows.width)
        found[:, :length] = vectors[:length].T
    return found
