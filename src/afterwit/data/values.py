"""What learners say about themselves: their constructor, and when two values are the same."""

from __future__ import annotations

import inspect
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
