"""Certifying one against the rest in hindsight: every binary learner by its own theorems, on its own rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.certify.replay import matrix_of, on_part, to_fit_on
from afterwit.core.certificate import Assumption, Basis, Certificate, Hindsight, Verdict
from afterwit.core.learner import BinaryLearner
from afterwit.data.rows import Rows
from afterwit.hindsight.comparator import normalised, row_norms
from afterwit.hindsight.svm import solve_svm
from afterwit.linear._engine import LinearLearner

SAME_ROUNDS = "X, y are the rounds it learned from, in order"
BY_SIGN = "a binary learner predicts +1 exactly if its score is >= 0"
APPLIES = "the mistakes of every binary learner are bounded"


@dataclass(frozen=True)
class ClassEvidence:
    """A run of one against the rest, recomputed from its data."""

    subject: str
    rounds: int
    mistakes: int
    #: How many classes began on the way.
    unannounced: int
    #: The certificate of each binary learner, as far as it bounds mistakes.
    binary: Mapping[Any, Certificate]
    assumptions: tuple[Assumption, ...]
    hindsight: Hindsight | None


def evidence_of(learner: Any, X: Any, y: Any) -> ClassEvidence:
    """Play the rounds X, y again, and certify every binary learner on its own."""
    fresh = type(learner)(**learner.parameters)
    rows, codes, begins = fresh._checked(X, y)
    if isinstance(rows, Rows):
        rows.require_finite()
    passes = max(1, learner.rounds // rows.count) if rows.count else 1
    same_rounds = _replayed(learner, fresh, rows, X, y, passes)
    binary: dict[Any, Certificate] = {}
    assumptions = [same_rounds, Assumption(BY_SIGN, Basis.ENFORCED, True)]
    hindsight = None
    if same_rounds.holds:
        whys = {}
        for code, (label, each) in enumerate(learner.learners.items()):
            found = _bound_on_mistakes(
                each, *_rounds_since(learner, rows, X, np.where(codes == code, 1, -1), begins.get(label, 0), passes)
            )
            if isinstance(found, str):
                whys[label] = found
            else:
                binary[label] = replace(found, subject=f"{label!r} against the rest")
        assumptions.append(_all_apply(len(learner.classes), whys))
        hindsight = _best_rule(learner, rows, codes, passes)
    return ClassEvidence(
        subject=f"{type(learner).__name__} of {type(learner._base).__name__}",
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        unannounced=len(learner.classes) if learner.labels is None else 0,
        binary=binary,
        assumptions=tuple(assumptions),
        hindsight=hindsight,
    )


def _replayed(learner: Any, fresh: Any, rows: Any, X: Any, y: Any, passes: int) -> Assumption:
    """Whether X, y are the rounds the learner learned from; each binary learner's weights are compared later."""
    if learner.rounds != passes * rows.count:
        detail = f"the learner counts {learner.rounds:,} rounds, these rows are {rows.count:,}"
        return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, detail)
    for _ in range(passes):
        fresh.learn_many(rows if isinstance(rows, Rows) else X, y)
    for what in ("classes", "mistakes", "updates"):
        claimed, replayed = getattr(learner, what), getattr(fresh, what)
        if claimed != replayed:
            claimed, replayed = (
                f"{each:,} {what}" if what != "classes" else repr(each) for each in (claimed, replayed)
            )
            detail = f"the learner has {claimed}, these rows give {replayed}"
            return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, detail)
    detail = f"played again, {passes} pass{'es' if passes > 1 else ''}"
    return Assumption(SAME_ROUNDS, Basis.OBSERVED, True, detail)


def _rounds_since(learner: Any, rows: Any, X: Any, signs: Any, birth: int, passes: int) -> tuple[Any, Any]:
    """What the binary learner of a class that began with row ``birth`` has learned."""
    if birth == 0:
        return rows, signs
    if passes == 1:
        return learner._part(rows, X, birth), signs[birth:]
    examples = [rows.row(i) for i in range(rows.count)] if isinstance(rows, Rows) else list(X)
    return examples[birth:] + (passes - 1) * examples, np.concatenate([signs[birth:], *(passes - 1) * [signs]])


def _bound_on_mistakes(learner: Any, rows: Any, signs: Any) -> Certificate | str:
    """The first certificate of a binary learner that bounds its mistakes, or why there is none."""
    if not getattr(learner, "theorems", ()):
        return getattr(learner, "no_theorem_because", "") or "no bound is known for it"
    if not isinstance(learner, BinaryLearner) and isinstance(rows, Rows):
        rows = [rows.row(i) for i in range(rows.count)]
    certificate: Certificate = learner.certificate(rows, signs)
    others = (certificate, *certificate.others)
    about_mistakes = [each for each in others if each.quantity == "mistakes"]
    if not about_mistakes:
        return f"its theorems are about {certificate.quantity}"
    for each in about_mistakes:
        if each.verdict is not Verdict.NOT_APPLICABLE:
            return replace(each, others=())
    return "; ".join(each.detail or f"not so: {each.statement}" for each in about_mistakes[0].failed)


def _all_apply(count: int, whys: Mapping[Any, str]) -> Assumption:
    if not whys:
        return Assumption(APPLIES, Basis.OBSERVED, True, f"each certified on its own, {count} classes")
    label, why = next(iter(whys.items()))
    more = f", and {len(whys) - 1} more" if len(whys) > 1 else ""
    return Assumption(APPLIES, Basis.OBSERVED, False, f"not that of {label!r}{more}: {why}")


def _best_rule(learner: Any, rows: Any, codes: Any, passes: int) -> Hindsight | None:
    """The fewest mistakes of a fixed linear rule for each class, found afterwards, the largest score predicted."""
    if rows.count == 0 or not isinstance(learner._base, LinearLearner):
        return None
    matrix, unit = normalised(matrix_of(learner._base, rows))
    part, part_codes, step = to_fit_on(matrix, codes)
    radius = float(row_norms(part).max(initial=0.0)) or 1.0
    best: tuple[int, str] | None = None
    for exponent in (-2, 0, 2):
        C = 4.0**exponent * step * passes / radius**2
        signs = [np.where(part_codes == code, 1, -1).astype(np.int8) for code in range(len(learner.classes))]
        vectors = np.column_stack([solve_svm(part, each, C) for each in signs])
        mistakes = int(np.count_nonzero(np.argmax(matrix @ vectors, axis=1) != codes))
        if best is None or mistakes < best[0]:
            best = mistakes, f"svm (C = {C / unit / unit:.3g}) for each class{on_part(step)}"
    assert best is not None
    return Hindsight(passes * best[0], f"by the best fixed rule found afterwards: {best[1]}")
