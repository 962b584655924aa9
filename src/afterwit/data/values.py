"""What learners say about themselves: their constructor, and when two values are the same."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np


def signature(**defaults: Any) -> inspect.Signature:
    """A constructor's signature: a compiled class has to say its own, for ``help`` and ``inspect.signature``."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind, default=value) for name, value in defaults.items()])


def same_value(a: Any, b: Any) -> bool:
    """Equality to the bit and the type, that looks inside dicts, sequences and arrays."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return same_value(list(a.items()), list(b.items()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same_value(p, q) for p, q in zip(a, b, strict=True))
    return bool(a == b)


def is_hashable(value: Any) -> bool:
    """Whether it can be a key; a tuple with a list in it has a ``__hash__`` and is none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def are_different(names: Any, count: int | None = None) -> bool:
    """Whether it is a list of different names, of this many if it is said how many."""
    if not isinstance(names, list) or not all(map(is_hashable, names)):
        return False
    return len(set(names)) == len(names) and (count is None or len(names) == count)


def is_plain_array(array: Any) -> bool:
    """Whether it is an array without a mask, without NaN and infinity."""
    return not is_masked_array(array) and (array.dtype.kind != "f" or bool(np.isfinite(array).all()))


def is_masked_array(value: Any) -> bool:
    """Whether it is one of ``numpy.ma``, which is not imported for that.

    A child that is forked while another thread imports it would wait for that import for ever.
    """
    kind = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return kind is not None and isinstance(value, kind)
