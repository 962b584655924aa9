"""Certifying a committee: from its members' own counts and what its expert algorithm promises."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from afterwit.certify.replay import same_rounds
from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Evidence, Hindsight, Verdict
from afterwit.core.theorem import Theorem
from afterwit.errors import counted

SAME_COUNTS = "every member counts as many mistakes as its weight is based on"


@dataclass(frozen=True, kw_only=True)
class CommitteeEvidence(Evidence):
    """What happened, by the members' counts, and what the expert algorithm promises about it."""

    mistakes: int
    #: The mistakes of following a member by chance, as the weights were.
    expected: float
    #: The most these can be (infinite if no theorem of the expert algorithm applies), and what that came from.
    promised: float
    inputs: dict[str, float | str]
    best_member: Hindsight | None

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes if theorem.quantity == "mistakes" else self.expected

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.best_member

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        return Ceiling(self.rounds, "no run of this length could break the bound")


def gather(committee: Any, X: Any = None, y: Any = None) -> CommitteeEvidence:
    """What the theorems are applied to; with the rounds at hand, they are played again."""
    weighting, mistakes = committee.weighting, committee.member_mistakes
    assumptions = [] if X is None else [_played_again(committee, X, y)]
    assumptions.append(_same_counts(mistakes, weighting.expert_losses.tolist()))
    first = weighting.certificate()
    found = [promise for each in (first, *first.others) if (promise := _promise(each)) is not None]
    promised, inputs, comparator = min(found, key=lambda one: one[0]) if found else (math.inf, {}, None)
    if not found:
        why = "; ".join(first.why_not())
        assumptions.append(Assumption("a theorem of the weighting applies", Basis.OBSERVED, False, why))
    best_member = None
    if committee.rounds:
        best = committee.best_member
        best_member = Hindsight(mistakes[best], f"by {best}, the best of {len(mistakes)} members", "mistakes")
        if comparator is not None and comparator.value < mistakes[best]:
            best_member = replace(comparator, description=f"({comparator.description})", quantity="mistakes")
    return CommitteeEvidence(
        subject=type(committee).__name__,
        rounds=committee.rounds,
        mistakes=committee.mistakes,
        expected=weighting.loss,
        promised=promised,
        inputs={"members": len(mistakes), **inputs},
        assumptions=tuple(assumptions),
        best_member=best_member,
    )


def _promise(certificate: Certificate) -> tuple[float, dict[str, float | str], Hindsight | None] | None:
    """What a certificate of the expert algorithm says about the loss of the mixture, where it applies."""
    bound, best = certificate.bound, certificate.hindsight
    if certificate.verdict is Verdict.NOT_APPLICABLE or bound is None:
        return None
    by = f"{certificate.theorem.name} ({certificate.theorem.citation})"
    if certificate.quantity == "loss":
        return bound, {"M + B": bound, "by": by}, best
    if not certificate.quantity.endswith("regret"):
        return None
    least = 0.0 if best is None else best.value
    return least + bound, {"M": least, "B": bound, "by": by}, best


def _same_counts(mistakes: dict[str, int], losses: list[float]) -> Assumption:
    others = [name for (name, count), loss in zip(mistakes.items(), losses, strict=True) if count != loss]
    detail = ""
    if others:
        detail = (
            f"{others[0]} counts {counted(mistakes[others[0]], 'mistake')}, and its weight is based on another number"
        )
    return Assumption(SAME_COUNTS, Basis.OBSERVED, not others, detail)


def _played_again(committee: Any, X: Any, y: Any) -> Assumption:
    """Whether X, y are the rounds the committee learned from: a fresh one makes the same mistakes on them."""
    fresh = type(committee)(**committee.parameters)
    rows, *_ = fresh._checked(X, y)

    def differs(passes: int) -> str:
        for _ in range(passes):
            fresh.learn_many(rows, y)
        replayed = {**fresh.member_mistakes, "the committee": fresh.mistakes}
        for name, count in {**committee.member_mistakes, "the committee": committee.mistakes}.items():
            if replayed[name] != count:
                return f"{name} counts {counted(count, 'mistake')}, these rows give {replayed[name]:,}"
        return ""

    return same_rounds(committee, rows.count, differs)[0]
