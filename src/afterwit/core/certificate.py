"""Theorems, and certificates: a theorem applied to what happened.

A `Theorem` states a bound, where it is proved, and computes it from named quantities. A `Certificate` holds one
theorem's bound beside what was observed and what hindsight would have given, with every assumption and how it is
known. Its verdict is one of three: the bound *holds*; the theorem is *not applicable* here, and why; or it is
*violated*, which would be a bug in this package.
"""

from __future__ import annotations

import html
import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar

#: Bounds and observations are computed in floating point; this much relative difference is rounding.
ROUNDING = 1e-9


#: Quantities that count rounds.
COUNTS = ("mistakes", "updates")
#: How wide a certificate is printed.
WIDTH = 100


class Basis(StrEnum):
    """How an assumption is known to hold."""

    ENFORCED = "enforced by the code"
    OBSERVED = "observed on the data"
    PROMISED = "the caller's promise"


@dataclass(frozen=True)
class Assumption:
    """One thing a theorem asks for. ``holds`` is None where it cannot be known."""

    statement: str
    basis: Basis
    holds: bool | None
    detail: str = ""

    @property
    def met(self) -> bool:
        return self.holds is True or (self.holds is None and self.basis is Basis.PROMISED)

    def __str__(self) -> str:
        mark = {True: "yes", False: "NO", None: "unknown"}[self.holds]
        if self.holds is None and self.basis is Basis.PROMISED:
            mark = "taken"
        detail = f": {self.detail}" if self.detail else ""
        return f"[{mark}] {self.statement} ({self.basis}{detail})"


class Verdict(StrEnum):
    HOLDS = "holds"
    NOT_APPLICABLE = "not applicable"
    VIOLATED = "violated"


class Theorem(ABC):
    """A stated bound. A subclass names it and defines ``bound`` as a closed formula of named quantities."""

    name: str
    statement: str
    citation: str
    quantity: str
    #: The bound depends on the sequence alone, not on what the learner did with it: it could have been promised.
    foreseeable: ClassVar[bool] = True
    #: How far the bound is a matter of chance, where it is: "on average over its own draws", "with probability 95%".
    #: A single run above such a bound does not refute it.
    chance: str = ""

    @abstractmethod
    def certify(self, evidence: Any) -> Certificate | None:
        """Apply the theorem to what a checker recomputed from the data; None if it is not about such a run."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.quantity, self.chance) == (other.quantity, other.chance)

    def __hash__(self) -> int:
        return hash((type(self), self.quantity, self.chance))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.statement} ({self.citation})>"


@dataclass(frozen=True)
class Hindsight:
    """What the best comparator found afterwards would have given, in the certificate's quantity or one of its own."""

    value: float
    description: str
    quantity: str = ""


@dataclass(frozen=True)
class Certificate:
    """One theorem beside one run: promised, happened, hindsight. Immutable.

    ``bound`` is None when the theorem is not applicable. ``others`` are the certificates of the algorithm's other
    theorems, tightest first.
    """

    theorem: Theorem
    subject: str
    rounds: int
    observed: float
    bound: float | None
    assumptions: tuple[Assumption, ...]
    hindsight: Hindsight | None = None
    inputs: Mapping[str, float | str] = field(default_factory=dict)
    others: tuple[Certificate, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", MappingProxyType(dict(self.inputs)))

    def __reduce__(self) -> Any:
        fields = (self.theorem, self.subject, self.rounds, self.observed, self.bound, self.assumptions, self.hindsight)
        return Certificate, (*fields, dict(self.inputs), self.others)

    @property
    def quantity(self) -> str:
        return self.theorem.quantity

    @property
    def verdict(self) -> Verdict:
        if self.bound is None or not all(assumption.met for assumption in self.assumptions):
            return Verdict.NOT_APPLICABLE
        return Verdict.HOLDS if self.theorem.chance or not self._exceeded else Verdict.VIOLATED

    @property
    def _exceeded(self) -> bool:
        assert self.bound is not None
        return not self.observed <= self.bound + ROUNDING * max(1.0, abs(self.bound))

    @property
    def vacuous(self) -> bool:
        """A bound that no run of this length could break, or an error of 1 or more: true, and no news."""
        if self.bound is None:
            return False
        return (
            _whole_part(self) >= self.rounds
            if self.quantity in COUNTS
            else self.quantity == "error" and self.bound >= 1
        )

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """The assumptions that stand in the theorem's way."""
        return tuple(assumption for assumption in self.assumptions if not assumption.met)

    def __str__(self) -> str:
        lines = [self._title()]
        for head, texts in self._sections():
            for i, text in enumerate(texts):
                start = f"  {head if i == 0 else '':<9}  "
                lines += textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * (len(start) + 2))
        return "\n".join(lines)

    def _title(self) -> str:
        return f"{self.subject}, {self.rounds:,} rounds"

    def line(self) -> str:
        """The certificate in one line."""
        if self.verdict is Verdict.NOT_APPLICABLE:
            return f"{self.theorem.name}: not applicable ({self._why_not()})"
        note = ", vacuous" if self.vacuous else ""
        return f"{self.theorem.name}: {_at_most(self)} ({self.verdict}{note}; {self.theorem.citation})"

    def _sections(self) -> list[tuple[str, list[str]]]:
        """The certificate as headed paragraphs, for every form it is shown in."""
        bounded = _at_most(self)
        if self.bound is not None and not self.theorem.foreseeable:
            bounded += ", which could only be known afterwards"
        promised = [bounded, f"{self.theorem.name} ({self.theorem.citation})", self.theorem.statement]
        if self.inputs:
            shown = ", ".join(f"{name} = {shown_number(value)}" for name, value in self.inputs.items())
            promised.append(f"with {shown}")
        share = f" ({self.observed / self.rounds:.2%} of the rounds)" if self._counts_rounds else ""
        sections = [("promised", promised), ("happened", [f"{_amount(self.observed, self.quantity)}{share}"])]
        if self.hindsight is not None:
            hindsight = _amount(self.hindsight.value, self.hindsight.quantity or self.quantity)
            text = f"{hindsight} {self.hindsight.description}"
            sections.append(("hindsight", [text]))
        sections.append(("verdict", [f"{self.verdict}{self._remark()}"]))
        sections.append(("because", [str(assumption) for assumption in self.assumptions]))
        if self.others:
            sections.append(("also", [self._line_of(other) for other in self.others]))
        return sections

    def _line_of(self, other: Certificate) -> str:
        return other.line() if other.subject == self.subject else f"{other.subject}: {other.line()}"

    @property
    def _counts_rounds(self) -> bool:
        return self.quantity in COUNTS and self.rounds > 0

    def _remark(self) -> str:
        if self.verdict is Verdict.VIOLATED:
            return ": THIS IS A BUG IN AFTERWIT, a proved bound was exceeded. Please report it."
        if self.verdict is Verdict.NOT_APPLICABLE:
            return ": " + self._why_not()
        if self.vacuous:
            why = "no error is above 1" if self.quantity == "error" else "no run of this length could break the bound"
            return f", but {why}: it says nothing here"
        return f", {self.theorem.chance}; this run is above it, as single runs may be" if self._exceeded else ""

    def _why_not(self) -> str:
        return "; ".join(a.detail or f"not so: {a.statement}" for a in self.failed)

    def _repr_html_(self) -> str:
        def row(head: str, texts: list[str]) -> str:
            cell = "<br>".join(html.escape(text) for text in texts)
            return f'<tr><th style="text-align:left">{head}</th><td style="text-align:left">{cell}</td></tr>'

        body = "".join(row(head, texts) for head, texts in self._sections())
        return f"<table><caption>{html.escape(self._title())}</caption>{body}</table>"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts: ready for JSON."""
        return {
            "subject": self.subject,
            "theorem": {
                "name": self.theorem.name,
                "statement": self.theorem.statement,
                "citation": self.theorem.citation,
                "chance": self.theorem.chance,
            },
            "quantity": self.quantity,
            "rounds": self.rounds,
            "observed": _json_number(self.observed),
            "bound": _json_number(self.bound),
            "hindsight": None
            if self.hindsight is None
            else {"value": self.hindsight.value, "description": self.hindsight.description},
            "verdict": str(self.verdict),
            "vacuous": self.vacuous,
            "inputs": {name: _json_number(value) for name, value in self.inputs.items()},
            "assumptions": [
                {"statement": a.statement, "basis": str(a.basis), "holds": a.holds, "detail": a.detail}
                for a in self.assumptions
            ],
            "others": [other.to_dict() for other in self.others],
        }


def tightest_first(certificates: list[Certificate]) -> Certificate:
    """One certificate: the tightest that applies, carrying the others in order; the given order breaks ties.

    Bounds that look at what the learner did come after those that could have been promised.
    """
    ranked = sorted(certificates, key=_rank)
    return replace(ranked[0], others=tuple(ranked[1:]))


def _rank(certificate: Certificate) -> tuple[bool, bool, float]:
    applies = certificate.verdict is not Verdict.NOT_APPLICABLE
    # Bounds that differ by rounding are the same bound.
    bound = float(f"{certificate.bound:.9g}") if applies and certificate.bound is not None else math.inf
    return (not applies, not certificate.theorem.foreseeable, bound)


def _at_most(certificate: Certificate) -> str:
    if certificate.bound is None:
        return "nothing"
    chance = f", {certificate.theorem.chance}" if certificate.theorem.chance else ""
    if certificate.quantity not in COUNTS:
        return f"{certificate.quantity} at most {shown_number(certificate.bound)}{chance}"
    return f"at most {_amount(_whole_part(certificate), certificate.quantity)}{chance}"


def _whole_part(certificate: Certificate) -> float:
    """The bound; a count below it is below its whole part."""
    bound = certificate.bound
    assert bound is not None
    if certificate.quantity in COUNTS and bound < 2**53:
        return math.floor(bound * (1 + ROUNDING) + ROUNDING)
    return bound


def _amount(value: float, quantity: str) -> str:
    """A number of things: one mistake, two mistakes."""
    if quantity not in COUNTS:
        return f"{quantity} {shown_number(value)}"
    return f"{shown_number(value)} {quantity.removesuffix('s') if value == 1 else quantity}"


def _json_number(value: float | str | None) -> float | str | None:
    """What JSON has no number for is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown_number(value: float | str) -> str:
    """A number as certificates print it."""
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 9_999.5 <= abs(value) < 1e15 else f"{value:,.4g}"
