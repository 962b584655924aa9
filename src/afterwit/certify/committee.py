"""Certifying a committee: from its members' own counts, and what weighs them.

Of a mixture the theorem is about the log losses of the members and their mistakes; of a vote about what the expert
algorithm promises. With the rounds at hand the members are played again alone, and the mixture is computed with numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterwit.certify.replay import same_rounds
from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Evidence, Hindsight, Verdict
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Labels
from afterwit.errors import counted
from afterwit.reductions._members import Members
from afterwit.reductions._mixture import ALPHA

#: How far sums may be apart, in parts of them, and scores from 0 that rounding decides about.
CLOSE = 1e-9
SAME_COUNTS = "every member counts as many mistakes as its weight is based on"


@dataclass(frozen=True, kw_only=True)
class CommitteeEvidence(Evidence):
    """What happened, by the members' counts, and what the expert algorithm promises about it."""

    mistakes: int
    inputs: dict[str, float | str]
    best_member: Hindsight | None
    votes: bool = True
    #: The mistakes of following a member by chance, as the weights were.
    expected: float = 0.0
    #: The most these can be (infinite if no theorem of the expert algorithm applies).
    promised: float = math.inf
    #: The log loss of the mixture, and the least of a member.
    loss: float = 0.0
    least_loss: Hindsight | None = None

    def observed(self, theorem: Theorem) -> float:
        if theorem.quantity == "log loss":
            return self.loss
        return self.mistakes if theorem.quantity == "mistakes" else self.expected

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.least_loss if theorem.quantity == "log loss" else self.best_member

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        if theorem.quantity == "log loss":
            return None
        return Ceiling(self.rounds, "no run of this length could break the bound")


def gather(committee: Any, X: Any = None, y: Any = None) -> CommitteeEvidence:
    """What the theorems are applied to; with the rounds at hand, they are played again."""
    if X is None:
        return evidence_of_counts(committee)
    rows, *_ = type(committee)(**committee.parameters)._checked(X, y)
    return evidence_of_counts(committee, played_again(committee, rows.count, lambda: [(rows, y)]))


def evidence_of_counts(committee: Any, *played: Assumption) -> CommitteeEvidence:
    """What the theorems are applied to, by the members' counts; ``played`` says whether they played again so."""
    if committee.gives_probabilities:
        return _gather_mixture(committee, played)
    weighting, mistakes = committee.weighting, committee.member_mistakes
    assumptions = [*played]
    assumptions.append(_same_counts(mistakes, weighting.expert_losses.tolist()))
    first = weighting.certificate()
    found = [promise for each in (first, *first.others) if (promise := _promise(each)) is not None]
    promised, inputs, comparator = min(found, key=lambda one: one[0]) if found else (math.inf, {}, None)
    if not found:
        why = "; ".join(first.why_not())
        assumptions.append(Assumption("a theorem of the weighting applies", Basis.OBSERVED, False, why))
    best_member = _best_member(committee)
    if best_member is not None and comparator is not None and comparator.value < best_member.value:
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


def _best_member(committee: Any) -> Hindsight | None:
    if not committee.rounds:
        return None
    mistakes, best = committee.member_mistakes, committee.best_member
    return Hindsight(mistakes[best], f"by {best}, the best of {len(mistakes)} members", "mistakes")


def _gather_mixture(committee: Any, played: tuple[Assumption, ...]) -> CommitteeEvidence:
    """What the theorems of a mixture are applied to."""
    mixture, mistakes = committee.weighting, committee.member_mistakes
    losses = committee.member_losses
    assumptions = [*played, _same_counts(mistakes, mixture.member_mistakes.tolist())]
    best = min(losses, key=lambda name: losses[name] + mistakes[name])
    inputs = {"L": losses[best], "M": mistakes[best], "N": len(losses), "T": committee.rounds, "alpha": ALPHA}
    least = min(losses, key=losses.__getitem__)
    least_loss = Hindsight(losses[least], f"of {least}, the least of {len(losses)} members", "log loss")
    return CommitteeEvidence(
        subject=type(committee).__name__,
        rounds=committee.rounds,
        mistakes=committee.mistakes,
        inputs=inputs,
        best_member=_best_member(committee),
        votes=False,
        loss=mixture.loss,
        least_loss=least_loss if committee.rounds else None,
        assumptions=tuple(assumptions),
    )


def _promise(certificate: Certificate) -> tuple[float, dict[str, float | str], Hindsight | None] | None:
    """What a certificate of the expert algorithm says about the loss of the mixture, where it applies."""
    bound, best = certificate.bound, certificate.hindsight
    if certificate.verdict is Verdict.NOT_APPLICABLE or bound is None:
        return None
    by = f"{certificate.theorem.name} ({certificate.theorem.citation})"
    if certificate.quantity == "loss":
        return bound, {"M + B": bound, "by": by}, best
    if certificate.quantity not in ("regret", "swap regret"):
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


def played_again(committee: Any, count: int, blocks: Callable[[], Iterable[tuple[Any, Any]]]) -> Assumption:
    """Whether these are the rounds the committee learned from: fresh members make the same mistakes on them.

    What a mixture makes of these is computed here; a vote is played by a fresh committee. ``blocks`` are the rows and
    labels of one pass.
    """
    fresh = type(committee)(**committee.parameters)
    votes = not committee.gives_probabilities

    def differs(passes: int) -> str:
        if votes:
            for _ in range(passes):
                for rows, y in blocks():
                    fresh.learn_many(rows, y)
            replayed = {**fresh.member_mistakes, "the committee": fresh.mistakes}
        else:
            members = Members(fresh.members, Labels(committee.labels))
            mixed = _Mixed(members.speaking > 0)
            for _ in range(passes):
                for rows, y in blocks():
                    reading, signs = fresh._checked(rows, y)
                    mixed.learn(members.learn(reading, signs)[0], signs)
            replayed = {**members.mistakes(), "the committee": mixed.mistakes_beside(committee.mistakes)}
            for name, loss, own in zip(members.names, mixed.losses, committee.member_losses.values(), strict=True):
                if not abs(loss - own) <= CLOSE * (1 + loss):
                    return f"{name} has the log loss {own:.6g}, these rows give {loss:.6g}"
        for name, count in {**committee.member_mistakes, "the committee": committee.mistakes}.items():
            if replayed[name] != count:
                return f"{name} counts {counted(count, 'mistake')}, these rows give {replayed[name]:,}"
        return ""

    return same_rounds(committee, count, differs)[0]


class _Mixed:
    """The mixture of what members say, round after round: its mistakes, and the log loss of every member."""

    def __init__(self, speaking: Any) -> None:
        self.speaking = speaking
        members = len(speaking)
        self.shares, self.losses, self.wrong = np.full(members, 1 / members), np.zeros(members), np.zeros(members)
        self.rounds = 0
        self.mistakes, self.doubtful = 0, 0

    def learn(self, said: Any, signs: Any) -> None:
        """Further rounds."""
        for t, y in enumerate(signs.tolist()):
            rates = np.maximum(np.log((self.rounds - self.wrong + 1) / (self.wrong + 1)), 0.0)
            odds = np.where(self.speaking, np.clip(said[t], -36, 36), np.where(said[t] >= 0, rates, -rates))
            score = np.log(self.shares @ (1 / (1 + np.exp(-odds)))) - np.log(self.shares @ (1 / (1 + np.exp(odds))))
            self.mistakes += int((score >= 0) != (y > 0))
            self.doubtful += int(abs(score) < CLOSE)
            missed = (said[t] >= 0) != (y > 0)
            lost = np.logaddexp(0.0, -y * odds)
            self.losses += lost
            self.wrong += missed
            shares = self.shares * np.exp(-(lost + missed) / 4)
            self.shares = (1 - ALPHA) * shares / shares.sum() + ALPHA / len(shares)
            self.rounds += 1

    def mistakes_beside(self, claimed: int) -> int:
        """How often its signs were wrong; as the committee counts if rounding may decide the difference."""
        return claimed if abs(self.mistakes - claimed) <= self.doubtful else self.mistakes
