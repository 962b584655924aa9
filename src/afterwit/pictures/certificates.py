"""The three numbers of a certificate on one scale, the other bounds beside it, and the parts of a sum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from afterwit.core import wording
from afterwit.core.certificate import Certificate, Verdict, shown_number
from afterwit.errors import counted
from afterwit.pictures._bars import WIDTH, Bar, draw_bars, scale_for, short, size_of
from afterwit.pictures._labels import legend_below
from afterwit.pictures._picture import NARROW, Picture, Table
from afterwit.pictures._style import BOUND, GRID, HAPPENED, HINDSIGHT, INK

#: How many bounds, or parts of a sum, a picture has room for.
MOST_BOUNDS = 12
MOST_PARTS = 20


def pictures(certified: Any) -> list[Picture]:
    """The pictures of a certificate, or of the certificates of groups."""
    groups = certified if isinstance(certified, Mapping) else None
    certificate: Certificate = certified if groups is None else certified.total
    beside = [each for each in certificate.others if each.subject == certificate.subject]
    made: list[Picture] = [ThreeNumbers(certificate)]
    for quantity in dict.fromkeys(each.quantity for each in (certificate, *beside)):
        bounds = [each for each in (certificate, *beside) if each.quantity == quantity]
        if len(bounds) > 1 or quantity != certificate.quantity:
            made.append(AllBounds(bounds, main=quantity == certificate.quantity))
    if groups is not None:
        made.append(Parts(certificate, _named(certified.parts), "groups"))
    else:
        parts = {each.subject: each for each in certificate.others if each.subject != certificate.subject}
        if parts:
            made.append(Parts(certificate, parts, "parts"))
    return made


class ThreeNumbers(Picture):
    """What was promised or computed afterwards, what happened, and what hindsight would have given."""

    kind = "numbers"

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        self.said = {head: texts for head, texts in wording.summary(certificate) if texts}
        self.title = f"The three numbers, {_subject(certificate)}"
        self.caption = f"{certificate.line()}."
        self.bars = list(self._bars())
        self.size = size_of(self.bars)

    @property
    def narrow(self) -> tuple[float, float]:
        return size_of(self.bars, NARROW)

    def _bars(self) -> Any:
        made = self.certificate
        head = "promised" if "promised" in self.said else "bound"
        text = self.said[head][0]
        if made.bound is None:
            text = f"none, not applicable: {'; '.join(made.why_not())}"
        yield Bar(f"{head}: {text}", made.bound, BOUND, muted=made.bound is None)
        yield Bar(f"happened: {self.said['happened'][0]}", made.observed, HAPPENED)
        if made.hindsight is not None:
            yield Bar(f"hindsight: {self.said['hindsight'][0]}", _hindsight(made), HINDSIGHT)
        if made.verdict is not Verdict.NOT_APPLICABLE:
            yield Bar(f"verdict: {self.said['verdict'][0]}", None, INK)

    def draw(self, ax: Any) -> None:
        made = self.certificate
        ceiling = made.ceiling.value if made.vacuous and made.ceiling is not None else None
        draw_bars(ax, self.bars, made.quantity, made.observed, ceiling)

    def table(self) -> Table:
        return Table(("", "value"), tuple((head, "; ".join(texts)) for head, texts in self.said.items()))


class AllBounds(Picture):
    """All bounds on one quantity beside what happened, the tightest first."""

    kind = "bounds"

    def __init__(self, certificates: list[Certificate], main: bool = True) -> None:
        first = certificates[0]
        self.quantity = first.quantity
        if not main:
            # One picture of a kind: bounds on other quantities have a scale of their own.
            self.kind = f"bounds-{self.quantity.replace(' ', '-')}"
        self.certificates = sorted(certificates, key=_tightness)
        applicable = [each for each in self.certificates if each.verdict is not Verdict.NOT_APPLICABLE]
        self.title = f"All bounds on {self.quantity}, {_subject(first)}"
        self.caption = (
            f"{counted(len(applicable), 'bound')} on {self.quantity} that applied, of "
            f"{counted(len(certificates), 'theorem')}, beside what happened: {shown_number(first.observed)}."
        )
        self.bars = list(self._bars())
        self.size = size_of(self.bars)

    @property
    def narrow(self) -> tuple[float, float]:
        return size_of(self.bars, NARROW)

    def _bars(self) -> Any:
        first = self.certificates[0]
        yield Bar(f"happened: {wording.summary(first)[1][1][0]}", first.observed, HAPPENED)
        found = next((each for each in self.certificates if each.hindsight is not None), None)
        if found is not None and found.hindsight is not None and _hindsight(found) is not None:
            yield Bar(f"hindsight: {dict(wording.summary(found))['hindsight'][0]}", _hindsight(found), HINDSIGHT)
        for each in self.certificates[:MOST_BOUNDS]:
            applies = each.verdict is not Verdict.NOT_APPLICABLE
            yield Bar(_line(each), each.bound if applies else None, BOUND, muted=not applies)
        more = len(self.certificates) - MOST_BOUNDS
        if more > 0:
            yield Bar(f"and {more:,} more", None, INK, muted=True)

    def draw(self, ax: Any) -> None:
        draw_bars(ax, self.bars, self.quantity, self.certificates[0].observed)

    def table(self) -> Table:
        rows = []
        for each in self.certificates:
            applies = each.verdict is not Verdict.NOT_APPLICABLE
            bound = shown_number(each.bound) if applies and each.bound is not None else ""
            note = "; ".join(each.why_not()) if not applies else "vacuous" if each.vacuous else ""
            rows.append((each.theorem.name, bound, shown_number(each.observed), str(each.verdict), note))
        return Table(("theorem", "bound", "happened", "verdict", ""), tuple(rows))


class Parts(Picture):
    """What a bound is the sum of: each group, or each class against the rest, with its own three numbers."""

    def __init__(self, total: Certificate, parts: Mapping[str, Certificate], kind: str) -> None:
        self.kind = kind
        self.parts = dict(sorted(parts.items(), key=lambda pair: -_size(pair[1].observed)))
        self.quantity = total.quantity
        self.title = f"The {kind} of {total.subject}"
        shown = min(len(parts), MOST_PARTS)
        of = "" if shown == len(parts) else f" the {shown} largest of {len(parts):,}"
        what = self.quantity.capitalize()
        self.caption = f"{what} of each of the {kind}{of and ','}{of}, with its bound, the largest first."
        self.size = (WIDTH, 1.5 + 0.27 * shown)

    def _numbers(self, made: Certificate) -> dict[str, float | None]:
        applies = made.verdict is not Verdict.NOT_APPLICABLE
        return {"hindsight": _hindsight(made), "happened": made.observed, "bound": made.bound if applies else None}

    def draw(self, ax: Any) -> None:

        shown = [(name, self._numbers(made)) for name, made in list(self.parts.items())[:MOST_PARTS]]
        values = [value for _, numbers in shown for value in numbers.values() if value is not None]
        scale_for(ax, values, shown[0][1]["happened"] or 0.0)
        right = ax.get_xlim()[1]
        looks = {"bound": ("D", BOUND), "hindsight": ("s", HINDSIGHT), "happened": ("o", HAPPENED)}
        for name, (marker, colour) in looks.items():
            at = [(numbers[name], i) for i, (_, numbers) in enumerate(shown) if numbers[name] is not None]
            if at:
                places = [(min(value, right), i) for value, i in at if value is not None]
                ax.plot(*zip(*places, strict=True), marker, color=colour, markersize=6, label=name, clip_on=False)
        for i, (_, numbers) in enumerate(shown):
            bound = numbers["bound"]
            ends = [numbers["happened"] or 0.0, right if bound is None else min(bound, right)]
            ax.plot(ends, [i, i], color=GRID, linewidth=2, zorder=1, linestyle=":" if bound is None else "-")
        ax.set_yticks(range(len(shown)), [short(name) for name, _ in shown], color=INK)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlabel(self.quantity)
        legend_below(ax, columns=3)

    def table(self) -> Table:
        rows = []
        for name, made in self.parts.items():
            numbers = self._numbers(made)
            shown = ["" if numbers[key] is None else shown_number(_size(numbers[key])) for key in HEADS]
            rows.append((name, *shown, str(made.verdict)))
        return Table(("part", *HEADS, "verdict"), tuple(rows))


def _named(parts: Mapping[Any, Certificate]) -> dict[str, Certificate]:
    """The parts by the names of their groups as they are read, or as they are typed where two would look alike."""
    names = list(map(str, parts))
    return dict(zip(names if len(set(names)) == len(names) else map(repr, parts), parts.values(), strict=True))


HEADS = ("bound", "happened", "hindsight")


def _subject(made: Certificate) -> str:
    return f"{made.subject}, {counted(made.rounds, 'round')}"


def _line(made: Certificate) -> str:
    """The theorem and its bound, without the citation."""
    if made.verdict is Verdict.NOT_APPLICABLE:
        return made.line()
    line, _, _ = made.line().partition(f" ({made.verdict}")
    return f"{line}, vacuous" if made.vacuous else line


def _hindsight(made: Certificate) -> float | None:
    """What hindsight would have given, if it is on the scale of the certificate."""
    found = made.hindsight
    return found.value if found is not None and found.quantity in ("", made.quantity) else None


def _tightness(made: Certificate) -> tuple[bool, float]:
    applies = made.verdict is not Verdict.NOT_APPLICABLE
    return (not applies, made.bound if applies and made.bound is not None else math.inf)


def _size(value: float | None) -> float:
    return value if value is not None else math.nan
