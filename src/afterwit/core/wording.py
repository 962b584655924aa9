"""Certificates in words: the three numbers, the verdict, the theorem and its assumptions, as text and as HTML."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict, dataclass
from typing import Any

from afterwit.core import html
from afterwit.core.certificate import COUNTS, SUMS, Certificate, Verdict, shown_number, whole_part
from afterwit.errors import counted

#: How wide a certificate is printed.
WIDTH = 100

#: Heads, and the texts under each.
Sections = list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Number:
    """One of the three numbers of a certificate."""

    #: Promised or bound, happened, hindsight.
    name: str
    #: The number as it is printed; empty where there is no bound.
    shown: str
    quantity: str
    #: The same per round, in the unit people think in; empty where there is none.
    rate: str
    #: What else is to be said of it.
    note: str = ""


def numbers(certificate: Certificate) -> list[Number]:
    """The three numbers, or those of them that there are."""
    quantity = certificate.quantity
    if certificate.bound is None:
        found = [Number("bound", "", quantity, "")]
    else:
        name, note = ("promised", "") if certificate.theorem.beforehand else ("bound", "computed afterwards")
        notes = [each for each in (certificate.theorem.chance, note) if each]
        found = [_number(certificate, name, whole_part(certificate), quantity, ", ".join(notes))]
    found.append(_number(certificate, "happened", certificate.observed, quantity))
    best = certificate.hindsight
    if best is not None:
        found.append(_number(certificate, "hindsight", best.value, best.quantity or quantity, best.description))
    return found


def _number(certificate: Certificate, name: str, value: float, quantity: str, note: str = "") -> Number:
    noun = quantity.removesuffix("s") if quantity in COUNTS and value == 1 else quantity
    return Number(name, shown_number(value), noun, each_round(certificate, value, quantity), note)


def to_dict(certificate: Certificate) -> dict[str, Any]:
    """The certificate as JSON, with what is said of it in words."""
    words = {
        "numbers": [asdict(number) for number in numbers(certificate)],
        "remark": remark(certificate),
        "because": certificate.why_not() if certificate.verdict is Verdict.NOT_APPLICABLE else [],
    }
    return {**certificate.to_dict(), **words}


def title(certificate: Certificate) -> str:
    """Whose certificate it is."""
    return f"{certificate.subject}, {counted(certificate.rounds, 'round')}"


def printed(certificate: Certificate, sections: Sections) -> str:
    """The sections as lines, under the title."""
    lines = [title(certificate)]
    for head, texts in sections:
        for i, text in enumerate(texts):
            start = f"  {head if i == 0 else '':<9}  "
            lines += textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * (len(start) + 2))
    return "\n".join(lines)


def in_html(certificate: Certificate) -> str:
    """The certificate for a notebook."""
    return html.block(title(certificate), summary(certificate), html.folded("details", rest(certificate)))


def line(certificate: Certificate) -> str:
    """The certificate in one line."""
    if certificate.verdict is Verdict.NOT_APPLICABLE:
        return f"{certificate.theorem.name}: not applicable ({'; '.join(certificate.why_not())})"
    note = ", vacuous" if certificate.vacuous else ""
    theorem = certificate.theorem
    return f"{theorem.name}: {_at_most(certificate)} ({certificate.verdict}{note}; {theorem.citation})"


def line_beside(certificate: Certificate, other: Certificate) -> str:
    """Another certificate in one line, beside this one."""
    return other.line() if other.subject == certificate.subject else f"{other.subject}: {other.line()}"


def summary(certificate: Certificate) -> Sections:
    """The three numbers, the verdict and what stands in the theorem's way."""
    sections: Sections = []
    for number in numbers(certificate):
        each = f" ({number.rate})" if number.rate else ""
        amount = _amount(number.shown, number.quantity)
        if number.name == "bound" and certificate.bound is None:
            sections.append(("bound", ["none"]))
        elif number.name in ("promised", "bound"):
            afterwards = "" if certificate.theorem.beforehand else ", computed afterwards"
            sections.append((number.name, [f"{_at_most(certificate)}{afterwards}{each}"]))
        else:
            note = f" {number.note}" if number.note else ""
            sections.append((number.name, [f"{amount}{each}{note}"]))
    sections.append(("verdict", [f"{certificate.verdict}{remark(certificate)}"]))
    if certificate.verdict is Verdict.NOT_APPLICABLE:
        sections.append(("because", certificate.why_not()))
    if certificate.late:
        sections.append(("delays", [certificate.late]))
    return sections + [(other.quantity, _in_short(other)) for other in beside(certificate)]


def beside(certificate: Certificate) -> list[Certificate]:
    """The certificates on other quantities whose three numbers are shown too."""
    return [
        other
        for other in certificate.others
        if other.theorem.beside
        and other.verdict is not Verdict.NOT_APPLICABLE
        and other.quantity != certificate.quantity
    ]


def _in_short(certificate: Certificate) -> list[str]:
    """The three numbers, for a certificate whose quantity has been named."""
    most = whole_part(certificate)
    lines = [f"bound {shown_number(most)}{_each(certificate, most)}{remark(certificate)}"]
    lines.append(f"happened {shown_number(certificate.observed)}{_each(certificate, certificate.observed)}")
    if certificate.hindsight is not None:
        value = certificate.hindsight.value
        shown = f"{shown_number(value)}{_each(certificate, value)}"
        lines.append(f"hindsight {shown} {certificate.hindsight.description}")
    return lines


def rest(certificate: Certificate) -> Sections:
    """The theorem, every assumption, and the other bounds."""
    theorem = [f"{certificate.theorem.name} ({certificate.theorem.citation})", certificate.theorem.statement]
    if certificate.inputs:
        theorem.append(f"with {inputs(certificate)}")
    sections = [("theorem", theorem), ("assumes", [str(assumption) for assumption in certificate.assumptions])]
    if certificate.others:
        sections.append(("also", [line_beside(certificate, other) for other in certificate.others]))
    return sections


def inputs(certificate: Certificate) -> str:
    """The numbers that the formula was given."""
    return ", ".join(f"{name} = {shown_number(value)}" for name, value in certificate.inputs.items())


def _each(certificate: Certificate, value: float) -> str:
    rate = each_round(certificate, value, certificate.quantity)
    return f" ({rate})" if rate else ""


def each_round(certificate: Certificate, value: float, quantity: str) -> str:
    """The same per round, in the unit people think in."""
    rounds = certificate.rounds if certificate.counted is None else certificate.counted
    if not rounds or not math.isfinite(value):
        return ""
    mean = value / rounds
    if quantity in COUNTS:
        return f"{mean:.2%} of the rounds" if mean <= 1 else ""
    if quantity == "loss" and certificate.squares and mean >= 0:
        return f"RMSE {shown_number(math.sqrt(mean))}"
    return f"{shown_number(mean)} per round" if quantity in SUMS else ""


def remark(certificate: Certificate) -> str:
    """What is to be said of the verdict, to be written after it."""
    if certificate.verdict is Verdict.VIOLATED:
        return ": THIS IS A BUG IN AFTERWIT, a proved bound was exceeded. Please report it."
    if certificate.verdict is Verdict.NOT_APPLICABLE:
        return ""
    if certificate.vacuous and certificate.ceiling is not None:
        return f", but the bound says nothing here: {certificate.ceiling.why}"
    assert certificate.bound is not None
    if certificate.exceeded:
        return f", {certificate.theorem.chance}; this run is above it, as single runs may be"
    if certificate.observed > certificate.bound and certificate.quantity not in COUNTS:
        return f", within rounding: the sums may be off by {certificate.rounding:.2g}"
    return ""


def _at_most(certificate: Certificate) -> str:
    if certificate.bound is None:
        return "nothing"
    chance = f", {certificate.theorem.chance}" if certificate.theorem.chance else ""
    number = _number(certificate, "bound", whole_part(certificate), certificate.quantity)
    if certificate.quantity not in COUNTS:
        return f"{certificate.quantity} at most {shown_number(certificate.bound)}{chance}"
    return f"at most {_amount(number.shown, number.quantity)}{chance}"


def _amount(shown: str, quantity: str) -> str:
    """A number of things: one mistake, two mistakes; loss 3.5."""
    counts = quantity in COUNTS or f"{quantity}s" in COUNTS
    return f"{shown} {quantity}" if counts else f"{quantity} {shown}"
