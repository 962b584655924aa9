"""A figure as an SVG element within a page: text stays text, and colours follow the page."""

from __future__ import annotations

import html
import io
import itertools
import re
import warnings
from typing import Any

from afterwit.pictures._style import variables

#: matplotlib would write when it was made, and by what.
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_HEADER = re.compile(r"^.*?<svg[^>]*?viewBox=\"(?P<box>[^\"]+)\"[^>]*>", re.DOTALL)
#: Not what is written between tags: names may look like anything.
_TAG = re.compile(r"<[^>]+>")
_ID = re.compile(r' id="([^"]+)"')
_REFERENCE = re.compile(r"(url\(#|href=\"#)([^\")]+)")
_PLACE = re.compile(r' (d|x|y|width|height|transform)="([^"]*)"')
_STYLE = re.compile(r' style="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
#: A path of straight lines.
_LINES = re.compile(r"\s*(M\s*-?[\d.]+\s+-?[\d.]+\s*(L\s*-?[\d.]+\s+-?[\d.]+\s*)*(z\s*)?)+")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
#: A group that says nothing of what is in it.
_GROUP = re.compile(r"<g>\n((?:(?!</?g\b).*\n)*?)</g>\n")
#: The ground of a figure, which has no colour.
_UNSEEN = re.compile(r'<path d="[^"]*" style="fill:none"/>\n')


def element(figure: Any, key: str, title: str, caption: str) -> str:
    """The figure as one element; its ids begin with the key, so that several can stand on one page."""
    written = io.StringIO()
    with warnings.catch_warnings():
        # Letters that matplotlib's font does not have are those of the reader's fonts: text stays text.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        figure.savefig(written, format="svg", transparent=True, metadata=NO_METADATA)
    text = written.getvalue()
    found = _HEADER.match(text)
    assert found is not None
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", text[found.end() :], flags=re.DOTALL)
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", body, count=1, flags=re.DOTALL)
    used = {name for _, name in _REFERENCE.findall(body)}
    names = {value: name for name, value in variables(dark=False).items()}
    body = _TAG.sub(lambda tag: _tag(tag[0], key, used, names), body)
    body = _UNSEEN.sub("", re.sub(r"\n\s+", "\n", body).replace("<g/>\n", ""))
    count = 1
    while count:
        body, count = _GROUP.subn(r"\1", body)
    # A colour has its long name, and its value where the page does not know that name, once.
    colours = "".join(
        f"; {_short(name)}: var({name}, {value})" for value, name in names.items() if f"var({_short(name)})" in body
    )
    head = (
        f'<svg class="aw-picture" viewBox="{found["box"]}" role="img" aria-labelledby="{key}-title {key}-caption" '
        f'style="stroke-linejoin: round; stroke-linecap: butt{colours}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    described = (
        f'<title id="{key}-title">{html.escape(title)}</title>\n<desc id="{key}-caption">{html.escape(caption)}</desc>'
    )
    return f"{head}\n{described}{body.rstrip()}\n"


def _tag(tag: str, key: str, used: set[str], names: dict[str, str]) -> str:
    """A tag in fewer bytes: only ids that something refers to, and no words that change nothing."""
    tag = _ID.sub(lambda found: f' id="{key}-{found[1]}"' if found[1] in used else "", tag)
    tag = _REFERENCE.sub(rf"\1{key}-\2", tag)
    tag = re.sub(r' transform="rotate\(-0 [^"]*"', "", tag)
    tag = _PLACE.sub(lambda place: f' {place[1]}="{_shorter(place[2])}"', tag)
    return _STYLE.sub(lambda style: f' style="{_shorter_style(style[1], names)}"', tag)


def _shorter_style(style: str, names: dict[str, str]) -> str:
    """Letters are those of the page, and colours are variables."""
    parts = [part.strip().replace(": ", ":") for part in style.split(";")]
    kept = ";".join(part for part in parts if part and not part.startswith("font-family:"))
    return _COLOUR.sub(lambda colour: f"var({_short(names[colour[0]])})" if colour[0] in names else colour[0], kept)


def _short(name: str) -> str:
    """What a variable of the page is called within a picture."""
    return name.replace("--aw-", "--")


def _shorter(path: str) -> str:
    """The same place in tenths of a point, which is finer than anyone sees, and in a fraction of the bytes."""
    if _LINES.fullmatch(path):
        return "".join(map(_steps, path.split("M")[1:]))
    path = _NUMBER.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), path)
    return re.sub(r"\s*\b([A-Zz])\s*", r"\1", " ".join(path.split()))


def _steps(line: str) -> str:
    """A path of straight lines, each as the step from where the one before it ended."""
    closed = "z" if line.rstrip().endswith("z") else ""
    numbers = [round(10 * float(number)) for number in re.findall(r"-?[\d.]+", line)]
    places = list(zip(numbers[::2], numbers[1::2], strict=True))
    steps = [(x - a, y - b) for (a, b), (x, y) in itertools.pairwise(places)]
    # A step of nothing is left out, but a line of one place is drawn with round ends.
    steps = [step for step in steps if step != (0, 0)] or steps[:1]
    begin = f"M{_tenths(places[0][0])} {_tenths(places[0][1])}"
    words = [word for step in steps for word in map(_tenths, step)]
    return f"{begin}{'l' if words else ''}{' '.join(words)}{closed}".replace(" -", "-")


def _tenths(number: int) -> str:
    """A number of tenths, as short as it can be."""
    text = f"{number // 10}" if number % 10 == 0 else f"{number / 10:.1f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
