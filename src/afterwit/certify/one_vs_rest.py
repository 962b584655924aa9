"""Certifying one against the rest in hindsight: every binary learner by its own theorems, on its own rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.certify.replay import (
    CLOSE_ENOUGH,
    matrix_of,
    on_part,
    other_count,
    own_weights,
    same_rounds,
    to_fit_on,
)
from afterwit.core.certificate import Assumption, Basis, Certificate, Evidence, Hindsight, Verdict
from afterwit.core.learner import BinaryLearner
from afterwit.core.theorem import Theorem
from afterwit.data.rows import Rows
from afterwit.hindsight._newton import Region, least
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import normalised, row_norms
from afterwit.linear._engine import LinearLearner
from afterwit.reductions._binary import blank

BY_SIGN = "a binary learner predicts +1 exactly if its score is >= 0"
APPLIES = "a bound applies to the mistakes of every binary learner"


@dataclass(frozen=True, kw_only=True)
class OneVsRestEvidence(Evidence):
    """A run of one against the rest, recomputed from its data."""

    mistakes: int
    #: How many classes began on the way.
    unannounced: int
    #: The certificate of each binary learner, as far as it bounds mistakes.
    binary: Mapping[Any, Certificate]
    best_rule: Hindsight | None

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.best_rule


def gather(learner: Any, X: Any, y: Any) -> OneVsRestEvidence:
    """Play the rounds X, y again, and certify every binary learner on its own."""
    fresh = type(learner)(**learner.parameters)
    rows, codes, begins = fresh._checked(X, y)
    if isinstance(rows, Rows):
        rows.require_finite()

    def differs(passes: int) -> str:
        for _ in range(passes):
            fresh.learn_many(rows if isinstance(rows, Rows) else X, y)
        return _other_counts(learner, fresh)

    same, passes = same_rounds(learner, rows.count, differs)
    binary: dict[Any, Certificate] = {}
    assumptions = [same]
    best_rule = None
    if same.holds:
        whys, strangers = {}, []
        for code, (label, each) in enumerate(learner.learners.items()):
            birth = begins.get(label, 0)
            rounds = _rounds_since(rows, X, np.where(codes == code, 1, -1), birth, passes)
            strangers += [label] if _strays_from_its_sign(each, *rounds, 1 if birth else passes) else []
            found = _bound_on_mistakes(each, *rounds)
            if isinstance(found, str):
                whys[label] = found
            else:
                binary[label] = replace(found, subject=f"{label!r} against the rest")
        assumptions += [_by_sign(strangers), _all_apply(len(learner.classes), whys)]
        best_rule = _best_rule(learner, rows, codes, passes)
    return OneVsRestEvidence(
        subject=f"{type(learner).__name__} of {type(learner._base).__name__}",
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        unannounced=len(learner.classes) if learner.labels is None else 0,
        binary=binary,
        assumptions=tuple(assumptions),
        best_rule=best_rule,
    )


def _other_counts(learner: Any, fresh: Any) -> str:
    """What is different after playing again; each binary learner's weights are compared later."""
    if learner.classes != fresh.classes:
        return f"the learner has the classes {learner.classes!r}, these rows give {fresh.classes!r}"
    whys = (other_count(what, getattr(learner, what), getattr(fresh, what)) for what in ("mistakes", "updates"))
    return next((why for why in whys if why), "")


def _rounds_since(rows: Any, X: Any, signs: Any, birth: int, passes: int) -> tuple[Any, Any]:
    """What the binary learner of a class that began with row ``birth`` has learned."""
    if birth == 0:
        return rows, signs
    if passes == 1:
        return rows.part(birth, rows.count), signs[birth:]
    examples = [rows.row(i) for i in range(rows.count)] if isinstance(rows, Rows) else list(X)
    return examples[birth:] + (passes - 1) * examples, np.concatenate([signs[birth:], *(passes - 1) * [signs]])


def _strays_from_its_sign(learner: Any, rows: Any, signs: Any, passes: int) -> bool:
    """Whether a binary learner, playing these rounds again, ever predicts other than by the sign of its score."""
    if isinstance(learner, BinaryLearner):
        predicting, scoring = blank(learner), blank(learner)
        rows, signs = scoring._checked(rows, signs)
        return any(
            ((predicting.learn_many(rows, signs) > 0) != (scoring._learn(rows, signs) >= 0)).any()
            for _ in range(passes)
        )
    twin = blank(learner)
    examples = [rows.row(i) for i in range(rows.count)] if isinstance(rows, Rows) else list(rows)
    for x, sign in passes * list(zip(examples, signs.tolist(), strict=True)):
        if (twin.predict_one(x) == 1) != (twin.score_one(x) >= 0):
            return True
        twin.learn_one(x, sign)
    return False


def _by_sign(strangers: list[Any]) -> Assumption:
    if not strangers:
        return Assumption(BY_SIGN, Basis.OBSERVED, True, "every prediction compared with the score")
    detail = f"the binary learner of class {strangers[0]!r} does not predict by the sign of its score"
    return Assumption(BY_SIGN, Basis.OBSERVED, False, detail)


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
    return "; ".join(about_mistakes[0].why_not())


def _all_apply(count: int, whys: Mapping[Any, str]) -> Assumption:
    if not whys:
        return Assumption(APPLIES, Basis.OBSERVED, True, f"each certified on its own, {count} classes")
    label, why = next(iter(whys.items()))
    others = len(whys) - 1
    more = f", nor to {'that' if others == 1 else 'those'} of {others} other class{'es' if others > 1 else ''}"
    detail = f"no bound applies to the binary learner of class {label!r}{more if others else ''}: {why}"
    return Assumption(APPLIES, Basis.OBSERVED, False, detail)


def _best_rule(learner: Any, rows: Any, codes: Any, passes: int) -> Hindsight | None:
    """The fewest mistakes of a fixed linear rule for each class, found afterwards, the largest score predicted."""
    if rows.count == 0 or not isinstance(learner._base, LinearLearner):
        return None
    matrix, unit = normalised(matrix_of(learner._base, rows))
    part, part_codes, step = to_fit_on(matrix, codes)
    radius = float(row_norms(part).max(initial=0.0)) or 1.0
    C = step * passes / radius**2
    kinds = {
        f"svm (C = {C / unit / unit:.3g}) for each class{on_part(step)}": ("hinge", Region(ridge=1 / C)),
        f"least hinge loss for each class{on_part(step)}": ("hinge", Region()),
        f"least logistic loss for each class{on_part(step)}": ("logistic", Region()),
    }
    signs = [np.where(part_codes == code, 1, -1).astype(np.int8) for code in range(len(learner.classes))]
    found: dict[str, Any] = {}
    if learner._base.theorems:  # the weights of a network are no linear rule
        found["its own last weights"] = [own_weights(each, rows) for each in learner.learners.values()]
    for source, (loss, region) in kinds.items():
        scaled = [ScaledRows(part, each, centred=not region.ridge) for each in signs]
        found[source] = [least(each, loss, region, None, CLOSE_ENOUGH).vector for each in scaled]
    mistakes = {
        source: int(np.count_nonzero(np.argmax(matrix @ np.column_stack(vectors), axis=1) != codes))
        for source, vectors in found.items()
    }
    best = min(mistakes, key=lambda source: mistakes[source])
    exact = " (there may be a better one)" if mistakes[best] else ""
    description = f"by the best fixed rule found afterwards{exact}: {best}"
    return Hindsight(passes * mistakes[best], description, gap=None if mistakes[best] else 0.0)
