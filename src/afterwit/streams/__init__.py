"""Streams: examples in order, from files or memory."""

from typing import Any

from afterwit.streams.arrays import ArrayStream
from afterwit.streams.libsvm import LibsvmStream

__all__ = ["ArrayStream", "LibsvmMatrix", "LibsvmStream", "VwStream", "as_ids", "read_libsvm"]


def __getattr__(name: str) -> Any:
    """What needs scipy, and what few need, is imported when it is first used."""
    if name in ("LibsvmMatrix", "as_ids", "read_libsvm"):
        from afterwit.streams import matrix

        return getattr(matrix, name)
    if name == "VwStream":
        from afterwit.streams import vw

        return vw.VwStream
    raise AttributeError(f"module 'afterwit.streams' has no attribute {name!r}")
