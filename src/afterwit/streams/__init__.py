"""Streams: examples in order, from files or memory."""

from afterwit.streams.arrays import ArrayStream
from afterwit.streams.libsvm import LibsvmStream

__all__ = ["ArrayStream", "LibsvmStream"]
