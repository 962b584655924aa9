"""The gallery: a page for every theorem, with a run, what it looks like, and the lines that made it.

A page is ``docs/gallery/NAME.md``: a title, a comment that lists its theorems, what is to be seen in a sentence or two,
the lines and what they print, and the pictures. All else is filled in from the theorems themselves when the site is
built: statements, assumptions, who proved them, which learners have them, and how often `make prove` tried them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import Any

import afterwit as aw
from afterwit.core.certificate import Certificate
from afterwit.core.theorem import SAMPLE_SIZE
from afterwit.pictures import Comparison
from docs.docstrings import prose
from docs.reference import FAMILIES, MODULES
from docs.running import STEP

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "docs" / "gallery"
sys.path.insert(0, str(ROOT / "tests"))
from proving.searching import every_theorem, key_of, learners_with_theorems  # noqa: E402

LISTED = re.compile(r"^<!-- theorems: (?P<keys>.+) -->$", re.MULTILINE)
TITLE = re.compile(r"^# (?P<title>.+)$", re.MULTILINE)
#: Where the pages are listed in the index, and a thumbnail in it.
ALL = "<!-- gallery -->"
THUMBNAIL = re.compile(r"<!-- thumbnail: (?P<name>[\w-]+) -->")


@dataclass(frozen=True)
class Entry:
    """A page of the gallery."""

    name: str
    markdown: str

    @property
    def title(self) -> str:
        found = TITLE.search(self.markdown)
        assert found is not None, f"{self.name}: no title"
        return found["title"]

    @cached_property
    def keys(self) -> list[str]:
        found = LISTED.search(self.markdown)
        assert found is not None, f"{self.name}: no theorems"
        return found["keys"].split(", ")

    @property
    def family(self) -> str:
        return self.keys[0].partition(".")[0]


@cache
def entries() -> tuple[Entry, ...]:
    """All pages, family by family, in the order in which `aw.bounds` lists these."""
    found = [Entry(path.stem, path.read_text()) for path in FOLDER.glob("*.md") if path.name != "index.md"]
    order = list(dict.fromkeys([*_families(), *(entry.family for entry in found)]))
    return tuple(sorted(found, key=lambda entry: (order.index(entry.family), entry.name)))


def navigation() -> list[Any]:
    """What stands in the navigation: the index, and the pages by family."""
    families: dict[str, list[Any]] = {}
    for entry in entries():
        families.setdefault(family_title(entry.family), []).append({entry.title: f"gallery/{entry.name}.md"})
    return ["gallery/index.md", *({title: pages} for title, pages in families.items())]


def family_title(family: str) -> str:
    return {**FAMILIES, **MODULES}[family]


def certificates_in(value: Any) -> Iterator[Certificate]:
    """All certificates in what a page has made: in lists, tables, pictures, and beside other certificates."""
    if isinstance(value, Certificate):
        yield value
        value = value.others
    elif isinstance(value, dict):
        value = [each for name, each in value.items() if name != "__builtins__"]
    elif isinstance(value, Comparison):
        value = value.certificates
    elif isinstance(getattr(value, "certificate", None), Certificate):
        value = [value.certificate]
    for each in value if isinstance(value, list | tuple) else ():
        yield from certificates_in(each)


def assumptions(namespace: dict[str, Any]) -> dict[str, list[str]]:
    """What the certificates of a run say that their theorems assume, by the theorems' keys."""
    found: dict[str, list[str]] = {}
    for made in certificates_in(namespace):
        if made.bound is not None:
            said = [f"{each.statement} ({each.basis})" for each in made.assumptions]
            found.setdefault(key_of(type(made.theorem)), said)
    return found


def filled(markdown: str, assumed: Mapping[str, list[str]] | None = None) -> str:
    """A page with its theorems: what they say above, the pictures, the lines, and the theorems in full.

    assumed  what its certificates say that theorems assume, where these do not say it themselves
    """
    listed = LISTED.search(markdown)
    if ALL in markdown:
        return markdown.replace(ALL, "\n\n".join(_listed()))
    if listed is None:
        return markdown
    keys = listed["keys"].split(", ")
    steps = list(STEP.finditer(markdown))
    blocks = [found[0] for found in steps if found["picture"] is None]
    pictures = [found[0] for found in steps if found["picture"] is not None]
    said = markdown[listed.end() : steps[0].start()].strip()
    parts = [markdown[: listed.start()].strip(), _statements(keys), said, *pictures]
    parts += ["## The lines that made it", *blocks]
    parts += [
        "## The theorem" if len(keys) == 1 else "## The theorems",
        *(_theorem(key, keys, (assumed or {}).get(key)) for key in keys),
    ]
    return "\n\n".join(parts) + "\n"


def _listed() -> Iterator[str]:
    """The pages, family by family, each with a small picture and the names of its theorems."""
    families: dict[str, list[Entry]] = {}
    for entry in entries():
        families.setdefault(entry.family, []).append(entry)
    for family, pages in families.items():
        yield f"## {family_title(family)}"
        cards = "\n".join(_card(entry) for entry in pages)
        yield f'<div class="aw-gallery" markdown>\n\n{cards}\n\n</div>'


def _card(entry: Entry) -> str:
    names = dict.fromkeys(every_theorem()[key].name for key in entry.keys)
    shown = f"[<!-- thumbnail: {entry.name} --> {prose(entry.title)}]({entry.name}.md)"
    return f"- {shown}<small>{'; '.join(prose(name) for name in names)}</small>"


def _statements(keys: list[str]) -> str:
    """What the theorems say, in short."""
    lines = [f"<li><code>{escape(theorem_of(key).statement)}</code></li>" for key in keys]
    return '<ul class="aw-statements">\n' + "\n".join(lines) + "\n</ul>"


def theorem_of(key: str) -> Any:
    """A theorem by its key. One that is made of the certificates of a run says what it says without them."""
    kind = every_theorem()[key]
    try:
        return kind()
    except TypeError:
        return kind.__new__(kind)


def _heading(key: str, keys: list[str]) -> str:
    """The name of a theorem, and what makes it another one than those of the same name on the page."""
    kind = every_theorem()[key]
    namesakes = [each for each in map(every_theorem().get, keys) if each and each.name == kind.name]
    about = "sample size" if kind.asks_for == SAMPLE_SIZE else kind.quantity
    if about != "sample size" and len({each.quantity for each in namesakes}) == 1:
        about = "in closed form" if kind.id and len(namesakes) > 1 else ""
    name = f"{kind.name}: {about}" if about else kind.name
    return prose(name[:1].upper() + name[1:])


def _theorem(key: str, keys: list[str], assumed: list[str] | None) -> str:
    """A theorem in full."""
    theorem = theorem_of(key)
    size = theorem.asks_for == SAMPLE_SIZE
    rows = {"says": f"`{theorem.statement}`", "in words": prose(_in_words(theorem))}
    if theorem.inputs:
        rows["with"] = "; ".join(f"`{each.symbol}`: {prose(each.meaning)}" for each in theorem.inputs)
    if theorem.needs:
        rows["if"] = prose(theorem.needs)
    else:
        said = _assumed(type(theorem)) if assumed is None else "; ".join(assumed) or "nothing"
        rows["assumes"] = prose(said)
    rows["source"] = prose(theorem.citation)
    if theorem.id:
        asked = "sample-size" if size else "bound"
        rows["formula"] = f"[`afterwit {asked} {theorem.id}`](../api/bounds.md#{asked}-{theorem.id})"
    learners = [name for name, keys in learners_with_theorems().items() if key in keys]
    if learners:
        rows["learners"] = ", ".join(f"[{name}](../api/{_page_of(name)}.md#{name.lower()})" for name in learners)
    rows["code"] = f"`src/{type(theorem).__module__.replace('.', '/')}.py`"
    rows["tried"] = _tried(key)
    shown = "\n\n".join(f"{head}\n:   {text}" for head, text in rows.items() if text)
    return f'### {_heading(key, keys)}\n\n<div class="aw-terms" markdown>\n\n{shown}\n\n</div>'


def _in_words(theorem: Any) -> str:
    """The first sentence or two of what the class says of itself, not of what it derives from."""
    return " ".join(inspect.cleandoc(type(theorem).__doc__ or "").split("\n\n")[0].split())


def _assumed(kind: type) -> str:
    """What the module of a theorem says that it assumes."""
    doc = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "")
    found = re.search(r"^Assumes\s{2,}(?P<said>.+(?:\n {4,}.+)*)", doc, re.MULTILINE)
    return " ".join(found["said"].split()).rstrip(".") if found else ""


def _page_of(learner: str) -> str:
    return str(getattr(aw, learner).__module__.split(".")[1])


def _tried(key: str) -> str:
    """How often `make prove` tried it, as docs/evidence.md tells."""
    row = evidence().get(key)
    if row is None:
        return "[make prove](../evidence.md) tries it; it is not in the table that was written last"
    sequences, closest = row
    said = f"on {sequences} sequences by [make prove](../evidence.md)"
    return f"{said}; closest to the bound: {prose(closest)}" if closest else said


@cache
def evidence() -> dict[str, tuple[str, str]]:
    """The sequences that each theorem was tried on, and how close it came, by the theorem's key."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for line in (ROOT / "docs" / "evidence.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == 7:
            rows.setdefault(cells[0], []).append((cells[2], cells[6]))
    named: dict[str, list[str]] = {}
    for key, kind in every_theorem().items():
        about = "sample size" if kind.asks_for == SAMPLE_SIZE else kind.quantity
        named.setdefault(f"{kind.name} ({about})", []).append(key)
    # Theorems of one name are in the order of their keys, as the table is.
    return {
        key: row
        for name, keys in named.items()
        if len(rows.get(name, [])) == len(keys)
        for key, row in zip(keys, rows[name], strict=True)
    }


def _families() -> list[str]:
    from afterwit.bounds._collection import ORDER

    return list(ORDER)
