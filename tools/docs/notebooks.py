"""Jupyter notebooks of the chapters of the course: the text, the code and the pictures of their pages.

A page in docs/course/ is Markdown. Its Python blocks are code cells, its pictures are cells that plot them, and the
rest are text cells, a new one at every heading. What a block prints is left out, because the notebook prints it; so are
the tags that fold the solutions, which stand under a heading of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

COURSE = Path(__file__).resolve().parents[2] / "docs" / "course"
NOTEBOOKS = COURSE / "notebooks"

PIECE = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^```text\n(?P<printed>.*?)^```$|^<!-- picture: (?P<picture>.+?) -->$",
    re.MULTILINE | re.DOTALL,
)
FOLD = re.compile(r"^</?(?:details|summary)\b.*\n+", re.MULTILINE)
HEADING = re.compile(r"^(?=#{1,3} )", re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:|#)(?P<target>[^)]+)\)")


@dataclass(frozen=True)
class Piece:
    """A part of a page: "text", "code", what it "printed", or a "picture" (the expression that makes it)."""

    kind: str
    content: str


def pages() -> list[Path]:
    """The chapters in order."""
    return sorted(COURSE.glob("[0-9][0-9]-*.md"))


def notebook_path(page: Path) -> Path:
    """Where the notebook of a page is."""
    return NOTEBOOKS / f"{page.stem}.ipynb"


def pieces(page: str) -> list[Piece]:
    """The page from its beginning to its end."""
    found = []
    end = 0
    for match in PIECE.finditer(page):
        found.append(Piece("text", page[end : match.start()]))
        assert match.lastgroup is not None
        found.append(Piece(match.lastgroup, match[match.lastgroup]))
        end = match.end()
    found.append(Piece("text", page[end:]))
    return found


def notebook(page: Path) -> str:
    """The notebook of a page as JSON: no outputs, and always the same bytes for the same page."""
    cells = []
    for piece in pieces(page.read_text()):
        if piece.kind == "text":
            cells += [nbformat.v4.new_markdown_cell(part) for part in _texts(piece.content)]
        elif piece.kind == "code":
            cells.append(nbformat.v4.new_code_cell(piece.content.rstrip("\n")))
        elif piece.kind == "picture":
            cells.append(nbformat.v4.new_code_cell(f"{piece.content}.plot();"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made.metadata["language_info"] = {"name": "python"}
    nbformat.validate(made)
    return nbformat.writes(made) + "\n"


def _texts(text: str) -> list[str]:
    """Text cells: one for every heading, with links that lead from the folder of the notebooks."""
    parts = [part.strip() for part in HEADING.split(FOLD.sub("", text))]
    return [LINK.sub(_from_notebooks, part) for part in parts if part]


def _from_notebooks(link: re.Match[str]) -> str:
    target = link["target"]
    chapter = re.fullmatch(r"(\d\d-[a-z-]+)\.md(#.*)?", target)
    return f"]({chapter[1]}.ipynb)" if chapter else f"](../{target})"
