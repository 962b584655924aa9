"""A report as one page of HTML: no script, no request, right on light and dark ground, on a phone and in print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

from afterwit.core import wording
from afterwit.core.certificate import Assumption, Certificate, Verdict
from afterwit.core.html import escaped
from afterwit.core.version import VERSION
from afterwit.core.wording import Number
from afterwit.pictures._part import Part
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import variables

#: The colours of a page beyond those of its pictures: on a light ground, and on a dark one.
COLOURS = {
    "ground": ("#ffffff", "#12161b"),
    "paper": ("#f7f8f9", "#1a2027"),
    "good": ("#1b6e4b", "#7ed3a8"),
    "bad": ("#a61b1b", "#ff8f85"),
}
#: Pictures are drawn, and then again for phones, as long as the page has no more bytes than this.
MOST_BYTES = 290_000
#: How many bytes stand around a drawing.
FRAME = 60
#: How many rows of a table are not folded away.
FIRST = 12
#: A page may not even ask for anything.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
#: The signs of verdicts.
SIGNS = {Verdict.HOLDS: "✓", Verdict.VIOLATED: "✗", Verdict.NOT_APPLICABLE: "–"}
_NUMBER = re.compile(r"[-−]?[\d,.]+(e[-+]?\d+)?%?|")


def page(title: str, parts: Sequence[Part], lead: str = "", again: str = "") -> str:
    """The page.

    parts  what it is about; of several, each has its own title
    again  what gives all of it again, where it is not said by the parts one by one
    """
    figures = _Figures(parts)
    # What is said comes first; the drawings have the room that it leaves.
    figures.draw(MOST_BYTES - len(_page(title, parts, figures, lead, again).encode()))
    return _page(title, parts, figures, lead, again)


def _page(title: str, parts: Sequence[Part], figures: _Figures, lead: str, again: str) -> str:
    single = len(parts) == 1
    lead = lead or (parts[0].lead if single else "")
    body = [f'<p class="brand">afterwit · report</p>\n<h1>{escaped(title)}</h1>']
    if lead:
        body.append(f'<p class="lead">{escaped(lead)}</p>')
    for i, part in enumerate(parts):
        inner = "\n".join(_part(part, figures.of(i), 2 if single else 3))
        if single:
            body.append(inner)
        else:
            head = f'<h2>{escaped(part.title)}</h2>\n<p class="lead">{escaped(part.lead)}</p>'
            body.append(f'<section class="part">\n{head}\n{inner}\n</section>')
    if again:
        body.append(_again(again, 2))
    main = "\n".join(body)
    return f"{_head(title)}<body>\n<main>\n{main}\n</main>\n{_foot()}</body>\n</html>\n"


def _head(title: str) -> str:
    style = files("afterwit.pictures").joinpath("_page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escaped(title)}</title>\n<style>\n"
        f"{style_of_colours()}{style}</style>\n</head>\n"
    )


def style_of_colours() -> str:
    """The variables of a style sheet that all colours of a page come from, on a light ground and on a dark one."""
    return (
        f":root {{ color-scheme: light; {_colours(dark=False)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {_colours(dark=True)} }} }}\n"
    )


def _colours(dark: bool) -> str:
    named = variables(dark) | {f"--aw-{name}": values[dark] for name, values in COLOURS.items()}
    return " ".join(f"{name}: {value};" for name, value in named.items())


def _foot() -> str:
    return (
        f"<footer>\n<p>Made by afterwit {escaped(VERSION)}. This page is complete: it loads nothing.</p>\n</footer>\n"
    )


# ---------------------------------------------------------------------- one thing


def _part(part: Part, figures: Sequence[str], level: int) -> Iterator[str]:
    made = part.certificate
    if made is not None:
        yield _numbers(wording.numbers(made))
        yield _verdict(made)
        for other in wording.beside(made):
            yield f'<p class="about">The same run, by {escaped(other.quantity)}</p>'
            yield _numbers(wording.numbers(other))
            if wording.remark(other):
                yield _verdict(other)
    elif part.numbers:
        yield _numbers(part.numbers)
    if made is None and part.reason:
        yield f'<p class="verdict"><span class="sign">–</span><span>No certificate: {escaped(part.reason)}.</span></p>'
    first, *others = figures or [""]
    yield first
    if made is not None:
        yield _heading("Certificate", level)
        yield _certificate(made, level + 1)
    yield from others
    for title, table in part.tables.items():
        yield _heading(title, level)
        yield _table(title, Table(table.heads, table.rows[:FIRST]))
        if len(table.rows) > FIRST:
            rest = Table(table.heads, table.rows[FIRST:])
            yield f"<details><summary>{len(rest.rows):,} more</summary>{_table(title, rest)}</details>"
    for title, rows in part.facts.items():
        if rows:
            yield _heading(title, level)
            yield _facts(rows)
    if part.again:
        yield _again(part.again, level)


def _heading(text: str, level: int) -> str:
    return f"<h{level}>{escaped(text)}</h{level}>"


def _again(code: str, level: int) -> str:
    # A browser would break a line within --report: each word is a box of its own.
    words = re.sub(r"\S+", lambda word: f"<span>{escaped(word[0])}</span>", code)
    return f"{_heading('Reproduce it', level)}\n<pre><code>{words}</code></pre>"


def _numbers(numbers: Sequence[Number]) -> str:
    return f'<ul class="numbers">\n{"".join(map(_number, numbers))}</ul>'


def _number(number: Number) -> str:
    kind = "bound" if number.name == "promised" else number.name
    most = '<span class="most"><span aria-hidden="true">≤</span><span class="heard">at most</span></span> '
    lines = [f'<p class="name">{escaped(number.name.capitalize())}</p>']
    if number.shown:
        long = " long" if len(number.shown) > 9 else ""
        lines.append(f'<p class="value{long}">{most if kind == "bound" else ""}{escaped(number.shown)}</p>')
        lines.append(f'<p class="unit">{escaped(number.quantity)}</p>')
        lines += [f'<p class="rate">{escaped(number.rate)}</p>'] if number.rate else []
    else:
        lines.append('<p class="value">none</p>')
    lines += [f'<p class="note">{escaped(number.note)}</p>'] if number.note else []
    return f'<li class="number {kind}">{"".join(lines)}</li>\n'


def _verdict(made: Certificate) -> str:
    kind = made.verdict.replace(" ", "-")
    said = f"<b>{escaped(str(made.verdict).capitalize())}</b>{escaped(wording.remark(made))}"
    if made.verdict is Verdict.NOT_APPLICABLE:
        said += f": {escaped('; '.join(made.why_not()))}"
    elif not wording.remark(made):
        said += ": what happened is within the bound"
    late = f"<br>{escaped(made.late)}" if made.late else ""
    return f'<p class="verdict {kind}"><span class="sign">{SIGNS[made.verdict]}</span><span>{said}{late}</span></p>'


def _certificate(made: Certificate, level: int) -> str:
    """The theorem, its assumptions and the other bounds, in a box."""
    theorem = made.theorem
    lines = [
        f'<p class="theorem">{escaped(theorem.name[:1].upper() + theorem.name[1:])}</p>',
        f'<p class="small">{escaped(theorem.citation)}</p>',
        f'<p class="statement">{escaped(theorem.statement)}</p>',
    ]
    if made.inputs:
        lines.append(f'<p class="small">with {escaped(wording.inputs(made))}</p>')
    if made.assumptions:
        asks = "".join(map(_assumption, made.assumptions))
        lines.append(f'{_heading("What it assumes", level)}\n<ul class="asks">\n{asks}</ul>')
    if made.others:
        lines += [_heading("Other bounds", level), _table("Other bounds", _others(made))]
    inner = "\n".join(lines)
    return f'<div class="box">\n{inner}\n</div>'


def _assumption(each: Assumption) -> str:
    if each.holds is None:
        sign, kind, status = "?", "", "assumed" if each.met else "unknown"
    else:
        sign, kind, status = ("✓", "holds", "yes") if each.holds else ("✗", "violated", "no")
    detail = f": {each.detail}" if each.detail else ""
    return (
        f'<li class="{kind}"><span class="sign" aria-hidden="true">{sign}</span><span>{escaped(each.statement)}'
        f'<span class="small">{status}, {escaped(f"{each.basis}{detail}")}</span></span></li>\n'
    )


def _others(made: Certificate) -> Table:
    alike = all(other.quantity == made.quantity for other in made.others)
    rows = []
    for other in made.others:
        name = other.theorem.name if other.subject == made.subject else f"{other.subject}: {other.theorem.name}"
        bound, happened, *_ = (number.shown for number in wording.numbers(other))
        note = ", vacuous" if other.vacuous else ""
        middle = (bound,) if alike else (other.quantity, bound, happened)
        rows.append((name, *middle, f"{other.verdict}{note}", other.theorem.citation))
    heads = ("bound",) if alike else ("about", "bound", "happened")
    return Table(("theorem", *heads, "verdict", "stated in"), tuple(rows))


# ---------------------------------------------------------------------- tables and pictures


def _facts(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>\n' for name, value in rows)
    return f'<table class="facts"><tbody>\n{cells}</tbody></table>'


def _table(title: str, table: Table) -> str:
    """A table that is moved sideways where it is too wide."""
    columns = [[row[i] for row in table.rows] for i in range(len(table.heads))]
    kinds = [' class="n"' if column and all(map(_NUMBER.fullmatch, column)) else "" for column in columns]
    heads = "".join(
        f'<th scope="col"{kind}>{escaped(head)}</th>' for head, kind in zip(table.heads, kinds, strict=True)
    )
    rows = "".join(
        f"<tr>{''.join(f'<td{kind}>{escaped(cell)}</td>' for cell, kind in zip(row, kinds, strict=True))}</tr>\n"
        for row in table.rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(title)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>"
    )


class _Figures:
    """The pictures of all parts: what they say, then the drawings, then those for phones, as long as there is room.

    The first pictures of all parts come first, so that each part has its most telling ones.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._level = 2 if len(parts) == 1 else 3
        places = sorted((k, i) for i, part in enumerate(parts) for k in range(len(part.pictures)))
        self._pictures = {(i, k): parts[i].pictures[k] for k, i in places}
        self._told = {place: _told(picture) for place, picture in self._pictures.items()}
        self._wide: dict[tuple[int, int], str] = {}
        self._narrow: dict[tuple[int, int], str] = {}

    def draw(self, room: int) -> None:
        """Draw what fits into so many bytes."""
        for drawn, mark in ((self._wide, ""), (self._narrow, "n")):
            for (i, k), picture in self._pictures.items():
                text = picture.svg(f"p{i}-{k}{mark}", picture.narrow if mark else None)
                room -= len(text.encode()) + FRAME
                if room < 0:
                    return
                drawn[i, k] = text

    def of(self, part: int) -> list[str]:
        """The figures of one part."""
        return [
            _figure(picture, self._wide.get(place, ""), self._narrow.get(place, ""), self._told[place], self._level)
            for place, picture in self._pictures.items()
            if place[0] == part
        ]


def _told(picture: Picture) -> str:
    """What a picture says in words and numbers."""
    return (
        f"<figcaption>{escaped(picture.caption)}</figcaption>\n"
        f"<details><summary>The numbers as a table</summary>{_table(picture.title, picture.table())}</details>\n"
    )


def _figure(picture: Picture, wide: str, narrow: str, told: str, level: int) -> str:
    drawings = f'<div class="narrow">{narrow}</div>\n' if narrow else ""
    drawings += f'<div class="wide">{wide}</div>\n' if wide else "<p>Not drawn, so that this page stays small.</p>\n"
    return f"{_heading(picture.title, level)}\n<figure>\n{drawings}{told}</figure>"
