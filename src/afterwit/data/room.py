"""How much memory what is being made may take: unlimited, unless it is made from a file.

A number in a file, such as the number of experts, can ask for any amount of memory. `load` sets the room; whoever makes
an array whose size is a number that was given asks for it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from afterwit.errors import Words, invalid

_room: ContextVar[int | None] = ContextVar("room", default=None)


@contextmanager
def limited_room(size: int) -> Iterator[None]:
    """Within this block, nothing may take more than so many bytes."""
    token = _room.set(size)
    try:
        yield
    finally:
        _room.reset(token)


def require_room(parameter: str, size: int) -> None:
    """Refuse a parameter that asks for more bytes than there is room for."""
    room = _room.get()
    if room is not None and size > room:
        allowed = f"small enough for {room:,} bytes (load(path, max_bytes=...) allows more)"
        raise invalid(parameter, allowed, Words(f"one that needs {size:,} bytes"))
