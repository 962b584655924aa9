"""The closed formulas of the theorems, by name: bounds, and the sample sizes that make them small enough.

Nothing is stated here: the formulas are those of the theorems beside the algorithms, collected by their ids.

>>> print(evaluate("perceptron", radius=1, margin=0.1))
perceptron (Novikoff 1962; Mohri et al. 2018, Theorem 8.8)
  mistakes <= (R / gamma)^2
            = (1 / 0.1)^2
            = 100
  with R = 1 (radius), gamma = 0.1 (margin)
  if w starts at 0 and a hyperplane through 0 separates the examples with that margin
>>> round(bound("exponential-weights-tuned", rounds=1000, experts=10), 6)
33.930702
>>> sample_size("vc", error=0.1, delta=0.05, dimension=10)
2275
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from afterwit.bounds import conversion, experts, games, mistakes
from afterwit.bounds._collection import BOUNDS, SAMPLE_SIZES
from afterwit.core.theorem import Alternative, Evaluation, Input, Theorem
from afterwit.errors import InputError, shorten


def bound(name: str, **inputs: Any) -> Any:
    """The bound of that name, as a number."""
    return find(name)(**inputs)


def sample_size(name: str, **inputs: Any) -> int:
    """The sample size of that name, as a whole number."""
    return int(find(name, SAMPLE_SIZES)(**inputs))


def evaluate(name: str, **inputs: Any) -> Evaluation:
    """The bound of that name with everything about it: it prints as a few lines."""
    return find(name).evaluate(**inputs)


def find(name: Any, among: Mapping[str, Theorem] = BOUNDS) -> Theorem:
    """The theorem of that name; the message for an unknown name suggests the nearest."""
    if isinstance(name, str) and name in among:
        return among[name]
    near = difflib.get_close_matches(str(name).lower().replace("_", "-").replace(" ", "-"), among, n=3, cutoff=0.5)
    nearest = f"did you mean {' or '.join(near)}?" if near else "--list shows all names"
    raise InputError(f"there is no theorem {shorten(name)} among the {len(among)} here; {nearest}")


__all__ = [
    "BOUNDS",
    "SAMPLE_SIZES",
    "Alternative",
    "Evaluation",
    "Input",
    "Theorem",
    "bound",
    "conversion",
    "evaluate",
    "experts",
    "find",
    "games",
    "mistakes",
    "sample_size",
]
