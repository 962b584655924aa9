"""Operations on their way: what callers wait for, and how they are told."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from afterwit.errors import ServiceError


@dataclass(slots=True)
class Asked:
    """An operation, or a function of the engine, and who waits for what comes of it.

    loop  the event loop of a future of asyncio; None for one of `concurrent.futures`
    """

    operation: Any
    future: Any
    loop: asyncio.AbstractEventLoop | None = None
    result: Any = None
    error: BaseException | None = None


def unavailable(message: str) -> ServiceError:
    """What to raise when a request may succeed a little later."""
    return ServiceError(503, message, headers={"Retry-After": "1"})


def answer(asked: list[Asked]) -> None:
    """Tell everybody what came of it: once for each event loop, however many wait in it."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Asked]] = {}
    for each in asked:
        if each.loop is not None:
            by_loop.setdefault(each.loop, []).append(each)
        elif each.future.set_running_or_notify_cancel():
            _settle(each)
    for loop, theirs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_all, theirs)


def _settle_all(asked: list[Asked]) -> None:
    for each in asked:
        if not each.future.done():
            _settle(each)


def _settle(asked: Asked) -> None:
    if asked.error is None:
        asked.future.set_result(asked.result)
    else:
        asked.future.set_exception(asked.error)


class Line:
    """What waits for the writer, in order of arrival."""

    #: How many may wait: a caller beyond that is asked to come back.
    ROOM = 10_000

    def __init__(self) -> None:
        self._waiting: deque[Asked] = deque()
        self._changed = threading.Condition()
        self._closed: str | None = "the service is starting"
        self._shut = False
        self._latest = 1

    def open(self) -> None:
        """Take what comes, unless it was shut."""
        with self._changed:
            if not self._shut:
                self._closed = None

    def close(self, why: str) -> list[Asked]:
        """Take nothing more; what was waiting is handed back."""
        with self._changed:
            self._closed = why
            rest = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        return rest

    def shut(self, why: str) -> None:
        """Take nothing more, now and later, but keep what was accepted."""
        with self._changed:
            self._shut = True
            self._closed = why
            self._changed.notify_all()

    def put(self, asked: Asked) -> None:
        with self._changed:
            if self._closed is not None:
                raise unavailable(self._closed)
            if len(self._waiting) >= self.ROOM:
                raise unavailable(f"more than {self.ROOM:,} requests are waiting")
            self._waiting.append(asked)
            # Waking a thread takes longer than most requests: for the first, and when as many are here as it waits for.
            if len(self._waiting) == 1 or len(self._waiting) == self._latest:
                self._changed.notify()

    def take(self, timeout: float, window: float) -> list[Asked]:
        """What waits, all at once; nothing if nothing comes in time.

        After the first, it waits for as many as came last time, because those who were answered together ask again
        together; but no longer than the window.
        """
        with self._changed:
            if not self._waiting and self._closed is None:
                self._changed.wait(timeout)
            if not self._waiting:
                return []
            end = time.monotonic() + window
            while len(self._waiting) < self._latest and self._closed is None:
                left = end - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    break
            taken = list(self._waiting)
            self._waiting.clear()
        self._latest = len(taken)
        return taken


def new_future() -> Future[Any]:
    return Future()
