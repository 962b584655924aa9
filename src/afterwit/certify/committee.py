"""Certifying a committee: from its members' own counts and what its expert algorithm promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from afterwit.core.certificate import Assumption, Basis, Certificate, Hindsight, Verdict
from afterwit.core.theorem import Theorem

SAME_ROUNDS = "X, y are the rounds it learned from, in order"
HALF = "in a round in which the vote is wrong, so is at least half of the weight"
SAME_COUNTS = "every member counts as many mistakes as its weight was reckoned from"


@dataclass(frozen=True)
class CommitteeEvidence:
    """What happened, by the members' counts, and what the expert algorithm promises about it."""

    subject: str
    rounds: int
    mistakes: int
    #: The mistakes of following a member by chance, as the weights were.
    expected: float
    #: The most these can be, or None if no theorem of the expert algorithm applies, and what that came from.
    promised: float | None
    inputs: dict[str, float | str]
    assumptions: tuple[Assumption, ...]
    hindsight: Hindsight | None

    @property
    def applies(self) -> bool:
        return self.promised is not None and all(assumption.met for assumption in self.assumptions)


class ExpectedMistakesBound(Theorem):
    """Following one member by chance: the best member's mistakes and the regret."""

    name = "bound on following a member by chance"
    statement = "expected mistakes <= M + B, M those of the best member, B the weighting's bound on the regret"
    citation = "the weighting's own theorem on zero-one losses"
    quantity = "expected mistakes"

    @staticmethod
    def bound(promised: Any) -> Any:
        return promised

    def certify(self, evidence: CommitteeEvidence) -> Certificate:
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=evidence.rounds,
            observed=evidence.expected,
            bound=self.bound(evidence.promised) if evidence.applies else None,
            assumptions=evidence.assumptions,
            hindsight=evidence.hindsight,
            inputs=evidence.inputs,
        )


class VoteBound(Theorem):
    """The vote: a round in which it is wrong costs one who follows by chance at least half a mistake."""

    name = "vote bound"
    statement = "mistakes <= 2 (M + B), M those of the best member, B the weighting's bound on the regret"
    citation = "half of the weight is wrong when the vote is: Littlestone & Warmuth 1994; the weighting's own theorem"
    quantity = "mistakes"

    @staticmethod
    def bound(promised: Any) -> Any:
        return 2 * promised

    def certify(self, evidence: CommitteeEvidence, others: tuple[Certificate, ...] = ()) -> Certificate:
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=evidence.rounds,
            observed=evidence.mistakes,
            bound=self.bound(evidence.promised) if evidence.applies else None,
            assumptions=(*evidence.assumptions, Assumption(HALF, Basis.ENFORCED, True)),
            hindsight=evidence.hindsight,
            inputs=evidence.inputs,
            others=others,
        )


def evidence_of(committee: Any, X: Any = None, y: Any = None) -> CommitteeEvidence:
    """What the theorems are applied to; with the rounds at hand, they are played again."""
    weighting, mistakes = committee.weighting, committee.member_mistakes
    assumptions = [] if X is None else [_played_again(committee, X, y)]
    assumptions.append(_same_counts(mistakes, weighting.expert_losses.tolist()))
    promised, inputs, comparator = _promise(weighting)
    if promised is None:
        why = inputs.pop("why")
        assumptions.append(Assumption("a theorem of the weighting applies", Basis.OBSERVED, False, str(why)))
    hindsight = None
    if committee.rounds:
        best = committee.best_member
        hindsight = Hindsight(mistakes[best], f"by {best}, the best of {len(mistakes)} members", "mistakes")
        if comparator is not None and comparator.value < mistakes[best]:
            hindsight = replace(comparator, description=f"({comparator.description})", quantity="mistakes")
    return CommitteeEvidence(
        subject=type(committee).__name__,
        rounds=committee.rounds,
        mistakes=committee.mistakes,
        expected=weighting.loss,
        promised=promised,
        inputs={"members": len(mistakes), **inputs},
        assumptions=tuple(assumptions),
        hindsight=hindsight,
    )


def _promise(weighting: Any) -> tuple[float | None, dict[str, float | str], Hindsight | None]:
    """The least of the bounds on the loss of the mixture that the expert algorithm's theorems give."""
    first = weighting.certificate()
    found: list[tuple[float, dict[str, float | str], Hindsight | None]] = []
    for each in (first, *first.others):
        if each.verdict is Verdict.NOT_APPLICABLE or each.bound is None:
            continue
        by = f"{each.theorem.name} ({each.theorem.citation})"
        if each.quantity == "loss":
            found.append((each.bound, {"M + B": each.bound, "by": by}, each.hindsight))
        elif each.quantity.endswith("regret"):
            least = 0.0 if each.hindsight is None else each.hindsight.value
            found.append((least + each.bound, {"M": least, "B": each.bound, "by": by}, each.hindsight))
    if found:
        return min(found, key=lambda one: one[0])
    return None, {"why": "; ".join(a.detail or f"not so: {a.statement}" for a in first.failed)}, None


def _same_counts(mistakes: dict[str, int], losses: list[float]) -> Assumption:
    others = [name for (name, count), loss in zip(mistakes.items(), losses, strict=True) if count != loss]
    detail = "" if not others else f"not that of {others[0]}: {mistakes[others[0]]:,} mistakes"
    return Assumption(SAME_COUNTS, Basis.OBSERVED, not others, detail)


def _played_again(committee: Any, X: Any, y: Any) -> Assumption:
    """Whether X, y are the rounds the committee learned from: a fresh one makes the same mistakes on them."""
    fresh = type(committee)(**committee.parameters)
    rows, _ = fresh._checked(X, y)
    passes = max(1, committee.rounds // rows.count) if rows.count else 1
    if committee.rounds != passes * rows.count:
        detail = f"the committee counts {committee.rounds:,} rounds, these rows are {rows.count:,}"
        return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, detail)
    for _ in range(passes):
        fresh.learn_many(rows, y)
    replayed = {**fresh.member_mistakes, "the committee": fresh.mistakes}
    for name, count in {**committee.member_mistakes, "the committee": committee.mistakes}.items():
        if replayed[name] != count:
            detail = f"{name} counts {count:,} mistakes, these rows give {replayed[name]:,}"
            return Assumption(SAME_ROUNDS, Basis.OBSERVED, False, detail)
    detail = f"played again, {passes} pass{'es' if passes > 1 else ''}"
    return Assumption(SAME_ROUNDS, Basis.OBSERVED, True, detail)
