"""A durable service: learners behind HTTP, whose labels come late, and an event log as the only truth.

Needs ``pip install 'afterwit[serve]'``.
"""

from __future__ import annotations

import importlib.util

from afterwit.errors import MissingExtraError

for _package in ("sqlalchemy", "fastapi", "uvicorn"):
    if importlib.util.find_spec(_package) is None:
        raise MissingExtraError("services", _package, "serve")
