"""A report: one page of HTML with all that is known of a thing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from afterwit.core.certificate import Certificate
from afterwit.core.files import new_file
from afterwit.core.html import escaped
from afterwit.pictures._matplotlib import matplotlib
from afterwit.pictures._page import page
from afterwit.pictures._parts import part_of


class Report:
    """A page that is complete: it needs no other file and no network. ``html`` is its text."""

    def __init__(self, title: str, html: str) -> None:
        self.title = title
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to this file, which takes its place when it is complete; its path is returned."""
        with new_file(path) as file:
            file.write(self.html.encode())
        return Path(path)

    def _repr_html_(self) -> str:
        """In a notebook the page has a frame of its own: its style is not that of the notebook."""
        return f'<iframe srcdoc="{escaped(self.html)}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<report: {self.title}, {len(self.html.encode()) / 1000:,.0f} kB; save(path) writes it>"


def report(thing: Any, path: Any = None, certificate: Certificate | None = None) -> Report:
    """The report of a thing, written to the path if there is one."""
    matplotlib()
    part = part_of(thing, None if certificate is None else (certificate, ""))
    made = Report(part.title, page(part.title, [part]))
    if path is not None:
        made.save(path)
    return made
