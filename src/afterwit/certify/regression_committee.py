"""Certifying a committee of regressors: what its expert algorithm promises about the mixture of its members."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    if rows is None:
        return evidence_of_totals(committee)
    advice: list[Any] = []

    def said(fresh: Any) -> None:
        alone = list(fresh.members.values())
        advice.append(np.column_stack([member.learn_many(rows, targets) for member in alone]))
        fresh.learn_many(rows, targets)

    # The members are copies, which go on from where the committee is.
    same, passes = played_again(committee, rows.count, said)
    if not same.met or not advice:
        return evidence_of_totals(committee, same)
    return evidence_of_totals(committee, same, rounds=(np.concatenate(advice), np.tile(targets, passes)))


def evidence_of_totals(committee: Any, *played: Assumption, rounds: tuple[Any, ...] = ()) -> MixtureEvidence:
    """What the theorem is applied to, by the totals of the members.

    ``played`` says whether they were played again, and ``rounds`` what was then said, and the targets.
    """
    weighting, losses = committee.weighting, committee.member_losses
    assumptions = [*played]
    made = weighting.certificate(*rounds)
    certificates = [made, *made.others]
    if rounds:
        # The best mixture loses less than the best member, but the bound on the regret to this one may be much less.
        alone = weighting.certificate()
        certificates += [alone, *alone.others]
    found = [promise for each in certificates if (promise := _promise(each)) is not None]
    if not found:
        why = "; ".join(made.why_not())
        assumptions.append(Assumption("a theorem of the weighting applies", Basis.OBSERVED, False, why))
    promised, inputs, _, rounded = min(found, key=lambda one: one[0]) if found else (math.inf, {}, None, 0.0)
    comparator = min((one[2] for one in found if one[2] is not None), key=lambda best: best.value, default=None)
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
    if certificate.quantity not in ("regret", "swap regret") or best is None:
        return None
    return best.value + bound, {"L": best.value, "B": bound, "by": by}, best, certificate.rounding


def played_again(committee: Any, count: int, play: Callable[[Any], None]) -> tuple[Assumption, int]:
    """Whether these are the rounds it learned from, in how many passes; ``play`` lets a fresh one play one of them."""

    def differs(passes: int) -> str:
        fresh = type(committee)(**committee.parameters)
        for _ in range(passes):
            play(fresh)
        replayed = {**fresh.member_losses, "the committee": fresh.loss}
        for name, loss in {**committee.member_losses, "the committee": committee.loss}.items():
            if not math.isclose(replayed[name], loss, rel_tol=ROUNDING, abs_tol=1e-300):
                return f"{name} has lost {loss:.6g}, these rows give {replayed[name]:.6g}"
        return ""

    return same_rounds(committee, count, differs)
