"""The files of the page: its own, those of uPlot, and the style and colours of reports. No other file is ever read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

#: What the page may do: it loads only from the service itself, and has no script or style inside it.
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
#: The released files of uPlot that the page uses.
_VENDORED = ("uPlot.iife.min.js", "uPlot.min.css")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    media_type: str

    @property
    def etag(self) -> str:
        """Changes with the content, so that browsers may keep the file."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


@cache
def assets() -> dict[str, Asset]:
    """Every file by its path: the page itself is at "", all others below "static/"."""
    from afterwit.pictures._page import style_of_colours

    found = {f"static/{each.name}": _read(each) for each in files("afterwit.serve").joinpath("page").iterdir()}
    vendored = files("afterwit").joinpath("vendor", "uplot")
    found |= {f"static/{name}": _read(vendored.joinpath(name)) for name in _VENDORED}
    found["static/report.css"] = _read(files("afterwit.pictures").joinpath("_page.css"))
    found["static/colours.css"] = Asset(style_of_colours().encode(), _TYPES[".css"])
    found[""] = found.pop("static/index.html")
    return found


def _read(file: Any) -> Asset:
    return Asset(file.read_bytes(), _TYPES[file.name[file.name.rindex(".") :]])
