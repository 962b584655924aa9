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

import afterwit
from afterwit.pictures import _style
from docs import running

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "build" / "figures"
#: A picture in the HTML that Markdown made of a page: comments remain there as they are.
WANTED = re.compile(r"<!-- picture: .+? -->")


def figures(markdown: str) -> list[str]:
    """The figure of each picture of a page, in order."""
    if all(step.kind != "picture" for step in running.steps(markdown)):
        return []
    kept = KEPT / f"{hashlib.sha256((_package() + markdown).encode()).hexdigest()}.json"
    if not kept.exists():
        drawn = [figure(step.picture, place) for place, step in enumerate(_pictures(markdown), 1)]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(drawn))
    return list(json.loads(kept.read_text()))


def with_figures(page: str, markdown: str) -> str:
    """The HTML of a page with its figures in their places."""
    drawn = figures(markdown)
    found = len(WANTED.findall(page))
    if found != len(drawn):
        raise ValueError(f"{found} pictures in the HTML of a page that asks for {len(drawn)}")
    return WANTED.sub(lambda _: drawn.pop(0), page)


def figure(picture: Any, place: int) -> str:
    """A picture as an element: the drawing, its caption, and its numbers as a table that can be opened."""
    table = picture.table()
    heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in table.heads)
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>\n" for row in table.rows)
    return f"""<figure class="aw-figure" data-search-exclude>
{picture.svg(f"picture-{place}")}
<figcaption><strong>{html.escape(picture.title)}.</strong> {html.escape(picture.caption)}</figcaption>
<details><summary>The numbers</summary>
<div class="aw-scroll"><table><thead><tr>{heads}</tr></thead><tbody>
{rows}</tbody></table></div></details>
</figure>"""


def style_sheet() -> str:
    """The colours of pictures in the two schemes of the site."""
    schemes = {"default": False, "slate": True}
    return "\n".join(
        f'[data-md-color-scheme="{scheme}"] {{\n'
        + "".join(f"  {name}: {value};\n" for name, value in _style.variables(dark).items())
        + "}\n"
        for scheme, dark in schemes.items()
    )


def _pictures(markdown: str) -> list[running.Step]:
    return [step for step in running.run(markdown) if step.kind == "picture"]


@cache
def _package() -> str:
    """What the installed package, and this module, consist of."""
    sources = [Path(__file__), *sorted(Path(afterwit.__file__).parent.rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
