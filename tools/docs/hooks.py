"""What MkDocs calls while it builds the site (see mkdocs.yml)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from docs import figures

ROOT = figures.ROOT


def on_files(files: Files, config: Any) -> Files:
    """Pages and files that are not in docs/."""
    changes = (ROOT / "CHANGELOG.md").read_text().replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=changes))
    files.append(File.generated(config, "assets/pictures.css", content=figures.style_sheet()))
    return files


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:
    """Pictures in place of the comments that ask for them."""
    return figures.with_figures(html, page.file.content_string)
