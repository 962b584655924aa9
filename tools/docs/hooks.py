"""What MkDocs calls while it builds the site (see mkdocs.yml)."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from docs import figures, gallery, reference

ROOT = figures.ROOT
#: A link whose text is where it leads, as in docs that are read as files.
NAMED_LINK = re.compile(r"\[[\w/-]+\.md\]\((?P<path>[^)#\s:]+\.md)(?P<anchor>[^)\s]*)\)")
#: Code in rows of tables: there GitHub wants a backslash before a bar, and Python-Markdown shows it.
TABLE_ROW = re.compile(r"^\|.*$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
#: How much what is found in a folder counts.
BOOSTS = {"api": 2, "gallery": 0.5}
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """In the navigation, the pages of a folder in place of ``folder/*``, and the reference in place of ``api/*``."""
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Pages and files that are not in docs/."""
    changes = (ROOT / "CHANGELOG.md").read_text().replace("](docs/", "](")
    written = {"changelog.md": changes, "assets/pictures.css": figures.style_sheet(), **reference.pages()}
    for path, content in written.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Titles of pages in links whose text is the name of a file; pages of the gallery with their theorems."""
    # Nearly every page speaks of perceptrons: the reference comes first in what a search finds.
    page.meta.setdefault("search", {"boost": BOOSTS.get(posixpath.dirname(page.file.src_uri), 1)})
    assumed = figures.assumptions(page.file.content_string) if gallery.LISTED.search(markdown) else {}

    def titled(link: re.Match[str]) -> str:
        target = files.get_file_from_path(posixpath.normpath(posixpath.join(page.file.src_uri, "..", link["path"])))
        title = target and TITLE.search(target.content_string)
        return f"[{title[1]}]({link['path']}{link['anchor']})" if title else link[0]

    return TABLE_ROW.sub(
        lambda row: CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0]),
        NAMED_LINK.sub(titled, gallery.filled(markdown, assumed)),
    )


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Pictures in place of the comments that ask for them."""
    return figures.with_thumbnails(figures.with_figures(html, page.file.content_string))


def _expanded(entries: list[Any], docs: Path) -> list[Any]:
    found: list[Any] = []
    for entry in entries:
        if entry == "api/*":
            found += [{title: path} for title, path in reference.titles()]
        elif entry == "gallery/*":
            found += gallery.navigation()
        elif isinstance(entry, str) and entry.endswith("/*"):
            folder = docs / entry.removesuffix("/*")
            pages = sorted(folder.glob("*.md"), key=lambda page: (page.name != "index.md", page.name))
            found += [page.relative_to(docs).as_posix() for page in pages]
        elif isinstance(entry, dict):
            for title, inner in entry.items():
                inner = _expanded(inner, docs) if isinstance(inner, list) else inner
                found += [{title: inner}] if inner else []
        else:
            found.append(entry)
    return found
