"""Streams: examples in order, from files or memory."""

from typing import Any

from afterwit.streams.arrays import ArrayStream
from afterwit.streams.libsvm import LibsvmStream

__all__ = ["ArrayStream", "LibsvmMatrix", "LibsvmStream", "as_ids", "read_libsvm"]


def __getattr__(name: str) -> Any:
    """What needs scipy is imported when it is first used."""
    if name in ("LibsvmMatrix", "as_ids", "read_libsvm"):
        from afterwit.streams import matrix

        return getattr(matrix, name)
    raise AttributeError(f"module 'afterwit.streams' has no attribute {name!r}")
