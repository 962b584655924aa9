"""Small tables for notebooks: no style sheet, no colours of their own, right on light and on dark ground."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from afterwit.core.heaviest import heaviest_features
from afterwit.errors import Words, counted, shorten

#: Heads, and the texts beside each.
Sections = Iterable[tuple[str, Sequence[str]]]

#: How many of the heaviest features a learner shows.
FEATURES = 8

_LEFT = "text-align:left;vertical-align:top"
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums"


def escaped(text: Any) -> str:
    """Text as it can stand in HTML, inside quotation marks too."""
    return html.escape(str(text), quote=True)


def block(title: str, sections: Sections, more: str = "") -> str:
    """A title over a table with a head and its texts in each row; ``more`` is HTML that follows."""
    table = f"<table>{_caption(f'<b>{escaped(title)}</b>')}<tbody>{_rows(sections)}</tbody></table>"
    return f'<div style="max-width:60em;overflow-x:auto">{table}{more}</div>'


def _caption(content: str) -> str:
    return f'<caption style="caption-side:top;{_LEFT};color:inherit">{content}</caption>'


def folded(summary: str, sections: Sections) -> str:
    """The same without a title, unfolded by a click."""
    return f"<details><summary>{escaped(summary)}</summary><table><tbody>{_rows(sections)}</tbody></table></details>"


def _rows(sections: Sections) -> str:
    return "".join(
        f'<tr><th scope="row" style="{_LEFT}">{escaped(head)}</th>'
        f'<td style="{_LEFT}">{"<br>".join(map(escaped, texts))}</td></tr>'
        for head, texts in sections
    )


def grid(summary: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of numbers under their heads, unfolded by a click."""
    head = "".join(f'<th scope="col" style="{_NUMBER}">{escaped(each)}</th>' for each in heads)
    lines = ("".join(f'<td style="{_NUMBER}">{escaped(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<details><summary>{escaped(summary)}</summary>{table}</details>"


def bars(title: str, pairs: Sequence[tuple[Any, float]]) -> str:
    """Names and numbers, each with a bar of its size: fainter below zero."""
    largest = max((abs(value) for _, value in pairs), default=0.0) or 1.0
    rows = "".join(
        f'<tr><td style="{_LEFT}">{escaped(_short(name))}</td><td style="{_NUMBER}">{value:.4g}</td>'
        f'<td style="{_LEFT};min-width:8em"><span style="display:inline-block;height:.6em;background:currentColor;'
        f'opacity:{0.6 if value >= 0 else 0.25};width:{100 * abs(value) / largest:.0f}%"></span></td></tr>'
        for name, value in pairs
    )
    return f"<table>{_caption(escaped(title))}<tbody>{rows}</tbody></table>"


def learner(made: Any) -> str:
    """A learner: what it was made with, how far it has come, and what weighs most."""
    options = ", ".join(f"{name}={shown_setting(value, 60)}" for name, value in settings(made)) or "as usual"
    sections = [("options", [options]), ("so far", [repr(made).rpartition(": ")[2]])]
    return block(type(made).__name__, sections, _heaviest(made))


def settings(made: Any) -> list[tuple[str, Any]]:
    """The options that are not at their defaults."""
    defaults = {option.name: option.default for option in made.options}
    return [(name, value) for name, value in made.parameters.items() if not _same(value, defaults[name])]


def shown_setting(value: Any, limit: int) -> str:
    """The value of an option; of learners by their names, the names."""
    return shorten(Words(", ".join(map(str, value))) if isinstance(value, dict) else value, limit)


def _same(value: Any, default: Any) -> bool:
    try:
        return bool(value == default)
    except ValueError:  # an array
        return False


def _heaviest(made: Any) -> str:
    if getattr(made, "role", "") == "experts":
        weights = sorted(zip(made.experts, made.weights.tolist(), strict=True), key=lambda pair: -pair[1])
        return bars(f"heaviest of {counted(len(weights), 'expert')}", weights[:FEATURES])
    for whose, pairs in heaviest_features(made).items():
        if pairs:
            of = f" of {whose}" if whose else ""
            return bars(f"heaviest of {counted(len(pairs), 'feature')}{of}", pairs[:FEATURES])
    return ""


def _short(name: Any) -> str:
    return shorten(Words(str(name)), 40)
