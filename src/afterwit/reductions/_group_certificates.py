"""The certificates of many groups, and the one of their sum.

Each group has a theorem about its own rounds: what happened there, h_g, is at most b_g. Then

    sum over g of h_g  <=  sum over g of b_g,

because a sum of inequalities is an inequality. Where a bound holds on average over a learner's own draws, so does the
sum, because the mean of a sum is the sum of the means. Bounds that hold with some probability are not added up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from afterwit.core import html, wording
from afterwit.core.certificate import (
    SUMS,
    Assumption,
    Basis,
    Ceiling,
    Certificate,
    Evidence,
    Hindsight,
    Verdict,
    shown_number,
)
from afterwit.core.pictured import Pictured
from afterwit.core.theorem import Theorem
from afterwit.errors import counted, shorten

#: The chance of a bound that may be added to others begins like this.
ON_AVERAGE = "on average"


class SumOverGroups(Theorem):
    """What happened in all groups is at most the sum of their bounds."""

    name = "sum over the groups"
    needs = "the theorem of every group applies to its rounds"
    quantity = "total"
    citation = "the theorem of every group"

    def __init__(self, parts: Mapping[Any, Certificate]) -> None:
        theorems = [part.theorem for part in parts.values()]
        self.quantity = theorems[0].quantity
        self.citation = "; ".join(dict.fromkeys(f"{each.name}, {each.citation}" for each in theorems))
        self.chance = next((each.chance for each in theorems if each.chance.startswith(ON_AVERAGE)), "")
        self.foreseeable = all(each.foreseeable for each in theorems)
        self.beforehand = all(each.beforehand for each in theorems)

    @property
    def statement(self) -> str:
        chance = f", {self.chance}" if self.chance else ""
        return f"sum over the groups of {self.quantity} <= sum over the groups of the bound{chance}"

    def bound(self, *values: Any, **inputs: Any) -> float:
        """The sum of the bounds."""
        return math.fsum(values) if not inputs else super().bound(**inputs)

    def certify(self, evidence: Any) -> Certificate | None:
        bounds = [part.bound for part in evidence.parts.values()]
        bound = None if None in bounds else self.bound(*bounds)
        made: Certificate | None = evidence.certificate(self, bound, {"groups": len(bounds)})
        return made


@dataclass(frozen=True, kw_only=True)
class GroupEvidence(Evidence):
    """The certificates of the groups, all on one quantity."""

    parts: Mapping[Any, Certificate]

    def _sum(self, name: str) -> float:
        return math.fsum(getattr(part, name) for part in self.parts.values())

    def observed(self, theorem: Theorem) -> float:
        del theorem
        return self._sum("observed")

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        found = [part.hindsight for part in self.parts.values()]
        known = [each for each in found if each is not None]
        quantities = {each.quantity for each in known}
        # The widths of intervals of different groups do not add up to anything.
        if len(known) < len(found) or len(quantities) > 1 or quantities == {"width"}:
            return None
        gaps = [each.gap for each in known]
        gap = None if None in gaps else math.fsum(each for each in gaps if each is not None)
        value = math.fsum(each.value for each in known)
        quantity = quantities.pop()
        ours = shown_number(value + self.observed(theorem))
        rest = f"; ours was {ours}" if (theorem.quantity, quantity) == ("regret", "loss") else ""
        return Hindsight(value, f"with the best comparator of each group{rest}", quantity, gap)

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        del theorem
        found = [part.ceiling for part in self.parts.values()]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        reasons = dict.fromkeys(each.why for each in known)
        return Ceiling(math.fsum(each.value for each in known), "; ".join(reasons))

    def rounding(self, theorem: Theorem, bound: float) -> float:
        return self._sum("rounding") + super().rounding(theorem, bound)

    @property
    def counted(self) -> int:
        return sum(rounds_of(part) for part in self.parts.values())

    @property
    def terms(self) -> int:
        return len(self.parts)

    @property
    def squares(self) -> bool:
        return all(part.squares for part in self.parts.values())


def rounds_of(certificate: Certificate) -> int:
    """How many rounds its sums are over."""
    return certificate.rounds if certificate.counted is None else certificate.counted


@dataclass(frozen=True)
class GroupCertificates(Mapping[Any, Certificate], Pictured):
    """The certificate of each group by its name, and their sum. Prints the sum and the worst group."""

    subject: str
    certificates: Mapping[Any, Certificate] = field(repr=False)

    def __getitem__(self, group: Any) -> Certificate:
        return self.certificates[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.certificates)

    def __len__(self) -> int:
        return len(self.certificates)

    @property
    def parts(self) -> dict[Any, Certificate]:
        """What is added up: each group's certificate about one quantity, the first for which that is possible."""
        first = next(iter(self.certificates.values()))
        quantities = list(dict.fromkeys(each.quantity for each in (first, *first.others)))
        found = [
            {group: made for group, each in self.items() if (made := _about(each, quantity)) is not None}
            for quantity in quantities
        ]
        whole = [parts for parts in found if len(parts) == len(self)]
        applicable = (parts for parts in whole if all(part.bound is not None for part in parts.values()))
        return next(applicable, whole[0] if whole else dict(self.certificates))

    @property
    def total(self) -> Certificate:
        """The sum over all groups: of what happened, of the bounds, and of what hindsight would have given."""
        parts = self.parts
        groups = counted(len(parts), "group")
        rounds = sum(part.rounds for part in parts.values())
        evidence = GroupEvidence(
            subject=f"{self.subject}, {groups}", rounds=rounds, assumptions=tuple(_assumptions(parts)), parts=parts
        )
        made = SumOverGroups(parts).certify(evidence)
        assert made is not None
        return made

    @property
    def worst(self) -> Any:
        """The group in which most happened, such as the largest regret: it has the largest part in the sum."""
        return max(self.parts.items(), key=lambda pair: pair[1].observed)[0]

    @property
    def verdict(self) -> Verdict:
        """Violated if a single group's is; else that of the total."""
        verdicts = {each.verdict for each in self.certificates.values()}
        return Verdict.VIOLATED if Verdict.VIOLATED in verdicts else self.total.verdict

    def _worst_line(self) -> str:
        worst = self.parts[self.worst]
        rounds = rounds_of(worst)
        each = f" ({shown_number(worst.observed / rounds)} per round)" if rounds and worst.quantity in SUMS else ""
        bound = "none" if worst.bound is None else shown_number(worst.bound)
        happened = f"{worst.quantity} {shown_number(worst.observed)}{each}"
        return f"  worst      group {shorten(self.worst)}: {happened}, bound {bound}"

    def __str__(self) -> str:
        return f"{self.total}\n{self._worst_line()}"

    def details(self) -> str:
        """The sum in full, then every group's certificate in full."""
        groups = [f"group {shorten(group)}: {each.details()}" for group, each in self.items()]
        return "\n\n".join([f"{self.total.details()}\n{self._worst_line()}", *groups])

    def _repr_html_(self) -> str:
        total = self.total
        worst = ("worst", [self._worst_line().strip().removeprefix("worst").strip()])
        sections = [*wording.summary(total), worst]
        return html.block(wording.title(total), sections, html.folded("details", wording.rest(total)))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts: ready for JSON if the names of the groups are."""
        return {
            "total": self.total.to_dict(),
            "worst": self.worst,
            "verdict": str(self.verdict),
            "groups": [{"group": group, "certificate": each.to_dict()} for group, each in self.items()],
        }


def _about(certificate: Certificate, quantity: str) -> Certificate | None:
    """The tightest that is about this quantity; they come in that order."""
    return next((each for each in (certificate, *certificate.others) if each.quantity == quantity), None)


def _assumptions(parts: Mapping[Any, Certificate]) -> Iterator[Assumption]:
    """That every group's theorem applies, that the bounds can be added, and what the caller has promised."""
    first = next(iter(parts.values()))
    failing = [group for group, part in parts.items() if part.verdict is Verdict.NOT_APPLICABLE]
    detail = ""
    if failing:
        more = f", and {len(failing) - 1:,} more" if len(failing) > 1 else ""
        detail = f"group {shorten(failing[0])}{more}: {'; '.join(parts[failing[0]].why_not())}"
    yield Assumption("every group's theorem applies to its rounds", Basis.OBSERVED, not failing, detail)
    mixed = [group for group, part in parts.items() if part.quantity != first.quantity]
    if mixed:
        detail = f"group {shorten(mixed[0])} has one on {parts[mixed[0]].quantity}, others on {first.quantity}"
        yield Assumption("all groups have a bound on the same quantity", Basis.OBSERVED, False, detail)
    chances = {part.theorem.chance for part in parts.values() if part.theorem.chance}
    uncertain = sorted(each for each in chances if not each.startswith(ON_AVERAGE))
    if uncertain:
        detail = f"bounds that hold {uncertain[0]} are not added up"
        yield Assumption("every bound holds always, or on average", Basis.ENFORCED, False, detail)
    promised = (each for part in parts.values() for each in part.assumptions if each.basis is Basis.PROMISED)
    yield from dict.fromkeys(promised)
