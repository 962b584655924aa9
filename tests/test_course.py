"""The course: every chapter runs as a notebook and prints what its page says."""

import re
from pathlib import Path

import matplotlib
import nbformat
import pytest

import afterwit
from afterwit.pictures import Picture
from docs import figures, notebooks, running

matplotlib.use("Agg")

COURSE = Path(__file__).resolve().parent.parent / "docs" / "course"
PAGES = notebooks.pages()


def test_every_chapter_has_its_notebook_and_its_line_in_the_index():
    assert sorted(page.stem for page in notebooks.NOTEBOOKS.glob("*")) == [page.stem for page in PAGES]
    index = (COURSE / "index.md").read_text()
    assert re.findall(r"\]\((\d\d-[a-z-]+)\.md\)", index) == [page.stem for page in PAGES]
    assert re.findall(r"\]\(notebooks/(\d\d-[a-z-]+)\.ipynb\)", index) == [page.stem for page in PAGES]
    assert [int(page.name[:2]) for page in PAGES] == list(range(1, len(PAGES) + 1))


@pytest.mark.installed_only
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_cell_of_a_notebook_runs_and_prints_what_the_page_says(page):
    notebook = nbformat.read(notebooks.notebook_path(page), as_version=4)
    nbformat.validate(notebook)
    markdown = page.read_text()
    with running.ran(markdown) as found:
        figures.keep(markdown, found)
    steps = [step for step in found if step.runs]
    # The cells are what ran: the code of the page, and its pictures.
    assert [cell.source for cell in notebook.cells if cell.cell_type == "code"] == list(map(notebooks.code, steps))
    for step in steps:
        if step.kind == "picture":
            assert isinstance(step.picture, Picture)
        else:
            assert step.printed == (step.said.code if step.said else "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_chapter_has_its_parts(page):
    text = page.read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[0] == "What you will learn"
    assert headings[-3:] == ["Exercises", "Solutions", "Sources"]
    exercises, solutions = text.split("\n## Exercises\n")[1].split("\n## Solutions\n")
    asked = re.findall(r"^(\d)\. ", exercises, re.MULTILINE)
    assert 6 <= len(asked) <= 8
    assert re.findall(r"^\*\*(\d)\.\*\*", solutions, re.MULTILINE) == asked
    assert solutions.count("<details") == solutions.count("</details>") == 1
    assert "<!-- picture: " in text
    assert len(re.findall(r"\*\*Proof[.\s(]", text)) >= 1
    assert len(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL).split()) <= 3000


def test_the_course_names_what_exists():
    for page in PAGES:
        for name in re.findall(r"\baw((?:\.\w+)+)", page.read_text()):
            thing = afterwit
            for part in name.strip(".").split("."):
                assert hasattr(thing, part), f"{page.name}: aw{name}"
                thing = getattr(thing, part)


def test_a_page_becomes_cells(tmp_path):
    page = tmp_path / "01-a.md"
    page.write_text(
        "# A\n\nSee [the next](02-b.md#part), [more](../more.md) and [a site](https://example.org).\n\n"
        '```python\nprint(1)\n```\n\n```text\n1\n```\n\n<!-- picture: record.pictures()["error"] -->\n\n'
        '## Solutions\n\n<details markdown="1">\n<summary>Show</summary>\n\nIt is 2.\n\n</details>\n'
    )
    cells = nbformat.reads(notebooks.notebook(page), as_version=4).cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [
        ("markdown", "# A\n\nSee [the next](02-b.ipynb), [more](../../more.md) and [a site](https://example.org)."),
        ("code", "print(1)"),
        ("code", 'record.pictures()["error"].plot();'),
        ("markdown", "## Solutions\n\nIt is 2."),
    ]
    assert notebooks.notebook(page) == notebooks.notebook(page)
