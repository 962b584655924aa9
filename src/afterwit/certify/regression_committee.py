"""Certifying a committee of regressors: what its expert algorithm promises about the mixture of its members."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.certify.replay import ROUNDING, same_rounds
from afterwit.core.certificate import Assumption, Basis, Certificate, Evidence, Hindsight, Verdict
from afterwit.core.theorem import Theorem
from afterwit.data.losses import get as get_loss


@dataclass(frozen=True, kw_only=True)
class MixtureEvidence(Evidence):
    """What was lost, and what the expert algorithm promises about it."""

    loss: float
    #: The most that can be (infinite if no theorem of the expert algorithm applies), and what that came from.
    promised: float
    inputs: dict[str, float | str]
    best: Hindsight | None
    square: bool
    #: By how much rounding may have moved the expert algorithm's own certificate.
    rounded: float

    def observed(self, theorem: Theorem) -> float:
        return self.loss

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.best

    @property
    def squares(self) -> bool:
        return self.square

    def rounding(self, theorem: Theorem, bound: float) -> float:
        return max(self.rounded, super().rounding(theorem, bound))


def gather(committee: Any, rows: Any = None, targets: Any = None) -> MixtureEvidence:
    """What the theorem is applied to; with the rounds at hand, they are played again."""
    weighting, losses = committee.weighting, committee.member_losses
    assumptions: list[Assumption] = []
    advice = outcomes = None
    if rows is not None:
        same, advice, outcomes = _played_again(committee, rows, targets)
        assumptions.append(same)
    made = weighting.certificate(advice, outcomes) if advice is not None else weighting.certificate()
    found = [promise for each in (made, *made.others) if (promise := _promise(each)) is not None]
    if not found:
        why = "; ".join(made.why_not())
        assumptions.append(Assumption("a theorem of the weighting applies", Basis.OBSERVED, False, why))
    promised, inputs, comparator, rounded = min(found, key=lambda one: one[0]) if found else (math.inf, {}, None, 0.0)
    best = None
    if committee.rounds:
        name = committee.best_member
        best = Hindsight(losses[name], f"by {name}, the best of {len(losses)} members", "loss")
        if comparator is not None and comparator.value < losses[name]:
            best = replace(comparator, quantity="loss")
    return MixtureEvidence(
        subject=type(committee).__name__,
        rounds=committee.rounds,
        loss=committee.loss,
        promised=promised,
        inputs={"members": len(losses), **inputs},
        best=best,
        square=get_loss(weighting.parameters["loss"]).kind == "square",
        rounded=rounded,
        assumptions=tuple(assumptions),
    )


def _promise(certificate: Certificate) -> tuple[float, dict[str, float | str], Hindsight | None, float] | None:
    """What a certificate of the expert algorithm says about the loss of the mixture, where it applies."""
    bound, best = certificate.bound, certificate.hindsight
    if certificate.verdict is Verdict.NOT_APPLICABLE or bound is None:
        return None
    by = f"{certificate.theorem.name} ({certificate.theorem.citation})"
    if certificate.quantity == "loss":
        return bound, {"L + B": bound, "by": by}, best, certificate.rounding
    if not certificate.quantity.endswith("regret") or best is None:
        return None
    return best.value + bound, {"L": best.value, "B": bound, "by": by}, best, certificate.rounding


def _played_again(committee: Any, rows: Any, targets: Any) -> tuple[Assumption, Any, Any]:
    """Whether these are the rounds it learned from, and what its members predicted in them."""
    fresh = type(committee)(**committee.parameters)
    advice: list[Any] = []

    def differs(passes: int) -> str:
        alone = list(fresh.members.values())
        for _ in range(passes):
            advice.append(np.column_stack([member.learn_many(rows, targets) for member in alone]))
            fresh.learn_many(rows, targets)
        replayed = {**fresh.member_losses, "the committee": fresh.loss}
        for name, loss in {**committee.member_losses, "the committee": committee.loss}.items():
            if not math.isclose(replayed[name], loss, rel_tol=ROUNDING, abs_tol=1e-300):
                return f"{name} has lost {loss:.6g}, these rows give {replayed[name]:.6g}"
        return ""

    same, passes = same_rounds(committee, rows.count, differs)
    if not same.met or not advice:
        return same, None, None
    return same, np.concatenate(advice), np.tile(targets, passes)
