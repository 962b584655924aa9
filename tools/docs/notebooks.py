"""Jupyter notebooks of the chapters of the course: the text, the code and the pictures of their pages.

A page in docs/course/ is Markdown. Its Python blocks are code cells, its pictures are cells that plot them, and the
rest are text cells, a new one at every heading. What a block prints is left out, because the notebook prints it; so are
the tags that fold the solutions, which stand under a heading of their own.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from docs import running

COURSE = Path(__file__).resolve().parent.parent.parent / "docs" / "course"
NOTEBOOKS = COURSE / "notebooks"

FOLD = re.compile(r"^</?(?:details|summary)\b.*\n+", re.MULTILINE)
HEADING = re.compile(r"^(?=#{1,3} )", re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:|#)(?P<target>[^)]+)\)")
CHAPTER = re.compile(r"(?P<stem>\d\d-[a-z-]+)\.md(?:#.*)?")


def pages() -> list[Path]:
    """The chapters in order."""
    return sorted(COURSE.glob("[0-9][0-9]-*.md"))


def notebook_path(page: Path) -> Path:
    """Where the notebook of a page is."""
    return NOTEBOOKS / f"{page.stem}.ipynb"


def code(step: running.Step) -> str:
    """The code cell of a block of Python, or of a picture."""
    return f"{step.code}.plot();" if step.kind == "picture" else step.code.rstrip("\n")


def notebook(page: Path) -> str:
    """The notebook of a page as JSON: no outputs, and always the same bytes for the same page."""
    markdown = page.read_text()
    cells = []
    end = 0
    for step in running.steps(markdown):
        if step.kind not in ("python", "picture", "text"):
            continue
        opening, closing = ("<!--", "-->") if step.kind == "picture" else ("```", "```")
        cells += _texts(markdown[end : markdown.rindex(opening, 0, step.place[0])])
        end = markdown.index(closing, step.place[1]) + len(closing)
        if step.runs:
            cells.append(nbformat.v4.new_code_cell(code(step)))
    cells += _texts(markdown[end:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made.metadata["language_info"] = {"name": "python"}
    nbformat.validate(made)
    return str(nbformat.writes(made)) + "\n"


def _texts(text: str) -> list[nbformat.NotebookNode]:
    """Text cells: one for every heading, with links that lead from the folder of the notebooks."""
    parts = [part.strip() for part in HEADING.split(FOLD.sub("", text))]
    return [nbformat.v4.new_markdown_cell(LINK.sub(_from_notebooks, part)) for part in parts if part]


def _from_notebooks(link: re.Match[str]) -> str:
    chapter = CHAPTER.fullmatch(link["target"])
    return f"]({chapter['stem']}.ipynb)" if chapter else f"](../{link['target']})"
