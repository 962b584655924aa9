"""The pictures of a page as HTML, drawn when the site is built.

A page without a picture does not run at all. Figures are kept under ``build/`` by the content of the page and of the
package: nothing is drawn twice.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import afterwit
from afterwit.core.files import new_file
from afterwit.pictures import _style, _svg
from docs import gallery, running

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "build" / "figures"
#: Width and height of a thumbnail in inches.
SMALL = (2.4, 1.5)
#: A picture in the HTML that Markdown made of a page: comments remain there as they are.
WANTED = re.compile(r"<!-- picture: .+? -->")


def figures(markdown: str) -> list[str]:
    """The figure of each picture of a page, in order."""
    if all(step.kind != "picture" for step in running.steps(markdown)):
        return []
    return list(_drawn(markdown)["figures"])


def thumbnail(markdown: str) -> str:
    """The first picture of a page without words, small."""
    return str(_drawn(markdown)["thumbnail"])


def assumptions(markdown: str) -> dict[str, list[str]]:
    """What the certificates of a page say that their theorems assume."""
    return dict(_drawn(markdown)["assumptions"])


def keep(markdown: str, ran: list[running.Step], namespace: dict[str, Any] | None = None) -> None:
    """Draw the pictures of a page that has run, in whose folder we still are, unless they are kept.

    namespace  what the page has made; of the gallery's pages, the assumptions in it are kept, too
    """
    pictures = [step.picture for step in ran if step.kind == "picture"]
    kept = _kept(markdown)
    if not pictures or kept.exists():
        return
    drawn = [figure(picture, place) for place, picture in enumerate(pictures, 1)]
    small = _small(pictures[0], f"thumbnail-{hashlib.sha256(markdown.encode()).hexdigest()[:12]}")
    told = {"figures": drawn, "thumbnail": small, "assumptions": gallery.assumptions(namespace or {})}
    kept.parent.mkdir(parents=True, exist_ok=True)
    with new_file(kept) as file:
        file.write(json.dumps(told).encode())


def _drawn(markdown: str) -> dict[str, Any]:
    kept = _kept(markdown)
    if not kept.exists():
        namespace: dict[str, Any] = {}
        with running.ran(markdown, namespace) as ran:
            keep(markdown, ran, namespace)
    return dict(json.loads(kept.read_text()))


def with_figures(page: str, markdown: str) -> str:
    """The HTML of a page with its figures in their places."""
    drawn = figures(markdown)
    found = len(WANTED.findall(page))
    if found != len(drawn):
        raise ValueError(f"{found} pictures in the HTML of a page that asks for {len(drawn)}")
    return WANTED.sub(lambda _: drawn.pop(0), page)


def with_thumbnails(page: str) -> str:
    """The HTML of the gallery's index with a small picture for each of its pages."""
    pages = {entry.name: entry.markdown for entry in gallery.entries()}
    return gallery.THUMBNAIL.sub(lambda wanted: thumbnail(pages[wanted["name"]]), page)


def figure(picture: Any, place: int) -> str:
    """A picture as an element: the drawing, for phones too, its caption, and its numbers as a table to be opened."""
    table = picture.table()
    heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in table.heads)
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>\n" for row in table.rows)
    return f"""<figure class="aw-figure" data-search-exclude>
<div class="aw-narrow">{picture.svg(f"picture-{place}n", picture.narrow)}</div>
<div class="aw-wide">{picture.svg(f"picture-{place}")}</div>
<figcaption><strong>{html.escape(picture.title)}.</strong> {html.escape(picture.caption)}</figcaption>
<details><summary>The numbers</summary>
<div class="aw-scroll"><table><thead><tr>{heads}</tr></thead><tbody>
{rows}</tbody></table></div></details>
</figure>"""


def _small(picture: Any, key: str) -> str:
    """A drawing of a picture in which only the lines are left."""
    with _style.styled():
        drawing = Figure(figsize=SMALL, layout="constrained")
        ax = drawing.subplots()
        picture.draw(ax)
        for line in ax.lines:
            line.set_marker("")
        for text in [*ax.texts, *([] if ax.get_legend() is None else [ax.get_legend()])]:
            text.remove()
        ax.set(xlabel="", ylabel="")
        ax.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
        return _svg.element(drawing, key, picture.title, picture.caption)


def style_sheet() -> str:
    """The colours of pictures in the two schemes of the site."""
    schemes = {"default": False, "slate": True}
    return "\n".join(
        f'[data-md-color-scheme="{scheme}"] {{\n'
        + "".join(f"  {name}: {value};\n" for name, value in _style.variables(dark).items())
        + "}\n"
        for scheme, dark in schemes.items()
    )


def _kept(markdown: str) -> Path:
    return KEPT / f"{hashlib.sha256((_package() + markdown).encode()).hexdigest()}.json"


@cache
def _package() -> str:
    """What the installed package, and this module, consist of."""
    sources = [Path(__file__), *sorted(Path(afterwit.__file__).parent.rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
