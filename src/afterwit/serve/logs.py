"""Structured logs: one JSON object a line, on standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import deque
from typing import Any

#: How many of the last refusals and failures are kept for the page.
KEPT = 20


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {"at": f"{stamp}.{int(record.msecs):03d}Z", "level": record.levelname.lower()}
        line["event"] = record.getMessage()
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class Log:
    """What the service says about itself: ``log("snapshot", model="spam", n=10_000)``."""

    def __init__(self, requests: bool = False) -> None:
        self.requests = requests
        self.last: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._logger = logging.getLogger("afterwit.serve")

    def open(self) -> None:
        """Write to standard error, also what the HTTP server has to say."""
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Lines())
        for name, level in (("afterwit.serve", logging.INFO), ("uvicorn", logging.WARNING)):
            logger = logging.getLogger(name)
            logger.handlers[:] = [handler]
            logger.setLevel(level)
            logger.propagate = False

    def __call__(self, event: str, /, level: str = "info", **fields: Any) -> None:
        """Write a line."""
        self._logger.log(logging.getLevelNamesMapping()[level.upper()], event, extra={"fields": fields})

    def failure(self, event: str, error: BaseException, **fields: Any) -> None:
        """Write a line with a traceback: nobody is to blame but this package."""
        self._logger.error(event, exc_info=error, extra={"fields": fields})

    def refusal(self, status: int, method: str, path: str, message: str) -> None:
        """Keep what was refused or failed for the page."""
        self.last.append(
            {"at": time.time(), "status": status, "method": method, "path": path[:200], "error": message[:500]}
        )
