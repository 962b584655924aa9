"""Docstrings of this package as Markdown.

Their parts are separated by empty lines: an example begins with ``>>>``, a table has a name, two spaces or more, and
what it means; what is drawn with lines stays as it is; everything else is prose.
"""

from __future__ import annotations

import html
import inspect
import itertools
import re

#: What a name stands for: a parameter, or a part of the description of an algorithm.
ENTRY = re.compile(r"(?P<name>[^\s>].{0,60}?)\s{2,}(?P<meaning>\S.*)")
#: A line of a meaning that is set apart, such as a formula and where it holds.
APART = re.compile(r"\S\s{3,}\S")
CODE = re.compile(r"``(?P<double>[^`]+)``|`(?P<single>[^`]+)`")


def markdown(doc: str) -> str:
    """A whole docstring."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(doc).strip())
    return "\n\n".join(_part(part) for part in _joined(parts)) + "\n"


def prose(text: str) -> str:
    """Words in which nothing but code is marked."""
    done, out = 0, []
    for found in CODE.finditer(text):
        out += [_plain(text[done : found.start()]), f"<code>{html.escape(found['double'] or found['single'])}</code>"]
        done = found.end()
    return "".join([*out, _plain(text[done:])])


def first_sentence(doc: str | None) -> str:
    """What a docstring says in its first paragraph, up to a full stop that ends a sentence."""
    paragraph = " ".join(re.split(r"\n\s*\n", inspect.cleandoc(doc or ""))[0].split())
    return prose(re.split(r"(?<=[a-z)`0-9])\. (?=[A-Z])", paragraph)[0].rstrip("."))


def _plain(text: str) -> str:
    return re.sub(r"([\\*_\[\]#|~])", r"\\\1", html.escape(text, quote=False))


def _joined(parts: list[str]) -> list[str]:
    """An example goes on over empty lines."""
    joined: list[str] = []
    for part in parts:
        if joined and part.startswith(">>>") and joined[-1].startswith(">>>"):
            joined[-1] += f"\n\n{part}"
        else:
            joined.append(part)
    return joined


def _part(part: str) -> str:
    if part.startswith(">>>"):
        return f"```pycon\n{part}\n```"
    if re.search(r"[├└│]|^\s*\|", part, re.MULTILINE):
        return f"```text\n{part}\n```"
    lines = inspect.cleandoc(part).splitlines()
    entries = _entries(lines)
    if entries:
        rows = "\n".join(f"<dt>{_names(name)}</dt><dd>{_meaning(meaning)}</dd>" for name, meaning in entries)
        return f'<dl class="aw-terms">\n{rows}\n</dl>'
    if part.startswith("    "):
        return f"```text\n{inspect.cleandoc(part)}\n```"
    return prose(" ".join(line.strip() for line in lines))


def _entries(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Names and the lines of their meanings; none if this is not a table of them."""
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("    "):
            if not entries:
                return []
            entries[-1][1].append(line.strip())
        elif found := ENTRY.fullmatch(line):
            entries.append((found["name"], [found["meaning"]]))
        else:
            return []
    return entries


def _names(name: str) -> str:
    """Parameters are code; the parts of a description, which begin with a capital, are words."""
    if name[0].isupper() and name[1:2].islower():
        return html.escape(name)
    return ", ".join(f"<code>{html.escape(each.strip().strip('`'))}</code>" for each in name.split(","))


def _meaning(lines: list[str]) -> str:
    """The lines of a meaning, run on unless one of them is set apart; HTML, as it stands in a list."""
    shown = [html.escape(lines[0])]
    for before, line in itertools.pairwise(lines):
        apart = APART.search(before) or APART.search(line)
        shown.append(f"{'<br>' if apart else ' '}{html.escape(line)}")
    return CODE.sub(lambda found: f"<code>{found['double'] or found['single']}</code>", "".join(shown))
