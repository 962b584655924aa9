"""Certificates: a theorem applied to what happened.

The straight path: a checker of `afterwit.certify` recomputes the rounds of a learner and hands over `Evidence`; each
theorem of the learner is applied to it and gives a `Certificate`, which holds the bound beside what was observed and
what hindsight would have given, with every assumption and how it is known. Its verdict is one of three: the bound
*holds*; the theorem is *not applicable* here, and why; or it is *violated*, which would be a bug in this package.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from afterwit.core.pictured import Pictured
from afterwit.core.theorem import Theorem
from afterwit.errors import InputError

#: By how much, as a part of it, one number may be rounded.
EPSILON = sys.float_info.epsilon

#: Quantities that count rounds.
COUNTS = ("mistakes", "updates", "promotions", "eliminations", "uncovered rounds")
#: Quantities that are sums over the rounds.
SUMS = ("loss", "log loss", "regret", "swap regret", "estimated mistakes")


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
            mark = "assumed"
        detail = f": {self.detail}" if self.detail else ""
        return f"[{mark}] {self.statement} ({self.basis}{detail})"


class Verdict(StrEnum):
    HOLDS = "holds"
    NOT_APPLICABLE = "not applicable"
    VIOLATED = "violated"


@dataclass(frozen=True)
class Hindsight:
    """What the best comparator found afterwards would have given, in the certificate's quantity or one of its own."""

    value: float
    description: str
    quantity: str = ""
    #: No comparator of its kind gives less than the value by more than this; None where that is not known.
    gap: float | None = None


@dataclass(frozen=True)
class Ceiling:
    """What no run could exceed: a bound from there on says nothing, and why."""

    value: float
    why: str


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a checker recomputed of a run. Each family of theorems adds what these need."""

    subject: str
    rounds: int
    #: What every theorem about this run needs.
    assumptions: tuple[Assumption, ...] = ()
    #: How late labels came (`afterwit.core.delays.Delays`); None if none did.
    delays: Any = None

    @property
    def counted(self) -> int:
        """How many rounds the sums are over: all, or those in which an expert was awake."""
        return self.rounds

    @property
    def complete(self) -> bool:
        """Nothing stands in the way of every theorem alike."""
        return all(assumption.met for assumption in self.assumptions)

    def observed(self, theorem: Theorem) -> float:
        """What happened, in the quantity of the theorem."""
        raise NotImplementedError

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        """What the best comparator would have given, as far as it was looked for."""
        del theorem
        return None

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        """What no run of this length could exceed."""
        if theorem.quantity in COUNTS:
            return Ceiling(self.rounds, "no run of this length could break the bound")
        return Ceiling(1.0, "no error is above 1") if theorem.quantity == "error" else None

    @property
    def terms(self) -> int:
        """How many numbers are added up, at most, to compute one of the sums."""
        return self.rounds

    def rounding(self, theorem: Theorem, bound: float) -> float:
        """By how much rounding may have moved what happened against the bound.

        To add n numbers moves their sum by at most n EPSILON times the sum of their sizes. That of a bound is itself.
        In bounds on counts, such as (R/gamma)^2, stands a margin, which is rounded as the length of the rows is: by
        R/gamma times more. A family whose sums have terms of both signs adds the sizes of these.
        """
        if theorem.quantity in COUNTS:
            bound = max(bound, 1.0) * (1 + math.sqrt(max(bound, 0.0)))
        return self.rounding_of_sums(abs(bound))

    def rounding_of_sums(self, size: float) -> float:
        """By how much rounding may have moved sums whose terms have this size in all."""
        return 4 * EPSILON * (self.terms + 64) * size

    def certificate(
        self,
        theorem: Theorem,
        bound: float | None,
        inputs: Mapping[str, float | str],
        *extra: Assumption,
        observed: float | None = None,
        hindsight: Hindsight | None = None,
    ) -> Certificate:
        """The theorem applied; where an assumption is not met there is no bound to show."""
        assumptions = (*self.assumptions, *extra)
        if self.delays is not None and not theorem.late:
            assumptions = (*assumptions, self.delays.in_its_round)
        bound = bound if all(assumption.met for assumption in assumptions) else None
        rounding = 0.0 if bound is None or not math.isfinite(bound) else self.rounding(theorem, bound)
        return Certificate(
            theorem=theorem,
            subject=self.subject,
            rounds=self.rounds,
            observed=self.observed(theorem) if observed is None else observed,
            bound=bound,
            assumptions=assumptions,
            hindsight=self.hindsight(theorem) if hindsight is None else hindsight,
            inputs=inputs if bound is not None else {},
            ceiling=self.ceiling(theorem),
            squares=self.squares,
            counted=self.counted,
            rounding=rounding,
            late="" if self.delays is None else str(self.delays),
        )

    @property
    def squares(self) -> bool:
        """Whether losses are squared errors, whose mean people know by its root."""
        return False


def certify(learner: Any, *rounds: Any, **how: Any) -> Certificate:
    """The theorems of a learner applied to what its checker recomputes of these rounds."""
    require_theorems(learner)
    return apply(learner.theorems, evidence_of(learner, *rounds, **how))


def require_theorems(learner: Any) -> None:
    """Say why there is no certificate, if there is none, before any rounds are read."""
    if not getattr(learner, "theorems", ()):
        why = getattr(learner, "no_theorem_because", "") or "it has no theorems"
        raise InputError(f"{type(learner).__name__} has no certificate: {why}")


def evidence_of(learner: Any, *rounds: Any, **how: Any) -> Any:
    """What the checker of a learner recomputes of these rounds."""
    return importlib.import_module(f"afterwit.certify.{learner.checker}").gather(learner, *rounds, **how)


def apply(theorems: Iterable[Theorem], evidence: Any) -> Certificate:
    """Theorems applied to evidence: the tightest that applies, with the others beside it.

    Bounds on different quantities are not compared by their numbers: those on what the first that applies is about come
    first.
    """
    certificates = [made for theorem in theorems if (made := theorem.certify(evidence)) is not None]
    applicable = (made for made in certificates if made.verdict is not Verdict.NOT_APPLICABLE)
    quantity = next(applicable, certificates[0]).quantity
    best = tightest_first([made for made in certificates if made.quantity == quantity])
    return replace(best, others=(*best.others, *(made for made in certificates if made.quantity != quantity)))


@dataclass(frozen=True)
class Certificate(Pictured):
    """One theorem beside one run: promised, happened, hindsight. Immutable.

    ``bound`` is None when the theorem is not applicable. ``others`` are the certificates of the algorithm's other
    theorems, tightest first. It prints the three numbers and the verdict; ``details()`` has the rest.
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
    ceiling: Ceiling | None = None
    squares: bool = False
    #: How many rounds the sums are over, where they are not over all.
    counted: int | None = None
    #: By how much rounding may have moved what happened against the bound.
    rounding: float = 0.0
    #: How late labels came, in words; empty if none did.
    late: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", MappingProxyType(dict(self.inputs)))
        for name in ("observed", "bound"):
            object.__setattr__(self, name, _plain_number(getattr(self, name)))

    def __reduce__(self) -> Any:
        fields = (self.theorem, self.subject, self.rounds, self.observed, self.bound, self.assumptions, self.hindsight)
        rest = (self.others, self.ceiling, self.squares, self.counted, self.rounding, self.late)
        return Certificate, (*fields, dict(self.inputs), *rest)

    @property
    def quantity(self) -> str:
        return self.theorem.quantity

    @property
    def verdict(self) -> Verdict:
        if self.bound is None or not all(assumption.met for assumption in self.assumptions):
            return Verdict.NOT_APPLICABLE
        return Verdict.HOLDS if self.theorem.chance or not self.exceeded else Verdict.VIOLATED

    @property
    def exceeded(self) -> bool:
        """Whether what happened is above the bound by more than rounding."""
        assert self.bound is not None
        return not self.observed <= self.bound + self.rounding

    @property
    def vacuous(self) -> bool:
        """A bound that no run could break: true, and no news."""
        if self.bound is None or self.ceiling is None:
            return False
        return bool(whole_part(self) >= self.ceiling.value)

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """The assumptions that stand in the theorem's way."""
        return tuple(assumption for assumption in self.assumptions if not assumption.met)

    def __str__(self) -> str:
        # What puts certificates into words needs them first.
        from afterwit.core import wording

        return wording.printed(self, wording.summary(self))

    def details(self) -> str:
        """Everything: the three numbers, the theorem, its assumptions and the other bounds."""
        from afterwit.core import wording

        return wording.printed(self, wording.summary(self) + wording.rest(self))

    def line(self) -> str:
        """The certificate in one line."""
        from afterwit.core import wording

        return wording.line(self)

    def _repr_html_(self) -> str:
        from afterwit.core import wording

        return wording.in_html(self)

    def why_not(self) -> list[str]:
        """Why the theorem is not applicable: a sentence for each assumption that does not hold.

        Where one does not, others were perhaps not looked into; that is no reason of its own.
        """
        reasons = [each for each in self.failed if each.holds is False] or self.failed
        return [each.detail or f"this does not hold: {each.statement}" for each in reasons]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts: ready for JSON."""
        return {
            "subject": self.subject,
            "theorem": {
                "name": self.theorem.name,
                "statement": self.theorem.statement,
                "citation": self.theorem.citation,
                "chance": self.theorem.chance,
                "beforehand": self.theorem.beforehand,
            },
            "quantity": self.quantity,
            "rounds": self.rounds,
            "observed": _json_number(self.observed),
            "bound": _json_number(self.bound),
            "rounding": _json_number(self.rounding),
            "hindsight": None
            if self.hindsight is None
            else {
                "value": _json_number(self.hindsight.value),
                "quantity": self.hindsight.quantity or self.quantity,
                "description": self.hindsight.description,
                "gap": _json_number(self.hindsight.gap),
            },
            "verdict": str(self.verdict),
            "vacuous": self.vacuous,
            **({"late": self.late} if self.late else {}),
            "inputs": {name: _json_number(value) for name, value in self.inputs.items()},
            "assumptions": [
                {"statement": a.statement, "basis": str(a.basis), "holds": a.holds, "detail": a.detail}
                for a in self.assumptions
            ],
            "others": [other.to_dict() for other in self.others],
        }


def tightest_first(certificates: list[Certificate]) -> Certificate:
    """One certificate: the tightest that applies, carrying the others in order; the given order breaks ties.

    Bounds that look at what the learner did come after those that could have been promised. What the first is made of,
    such as the certificates of parts of the learner, comes last.
    """
    first, *others = sorted(certificates, key=_rank)
    return replace(first, others=(*others, *first.others))


def _rank(certificate: Certificate) -> tuple[bool, bool, bool, float]:
    applies = certificate.verdict is not Verdict.NOT_APPLICABLE
    # Bounds that differ by rounding are the same bound.
    bound = float(f"{certificate.bound:.9g}") if applies and certificate.bound is not None else math.inf
    # How late labels were is known afterwards only: there what says nothing comes after what says something.
    says_nothing = bool(certificate.late) and certificate.vacuous
    return (not applies, says_nothing, not certificate.theorem.foreseeable, bound)


def whole_part(certificate: Certificate) -> float:
    """The bound; a count below it is below its whole part."""
    bound = certificate.bound
    assert bound is not None
    if certificate.quantity in COUNTS and bound < 2**53:
        return math.floor(bound + certificate.rounding)
    return bound


def _plain_number(value: Any) -> Any:
    """numpy's numbers as Python's."""
    return value.item() if hasattr(value, "item") else value


def _json_number(value: float | str | None) -> float | str | None:
    """What JSON has no number for is null."""
    value = _plain_number(value)
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
