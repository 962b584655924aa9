"""The closed formulas of the theorems, by name: bounds, and the sample sizes that make them small enough.

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
from types import MappingProxyType
from typing import Any

from afterwit.bounds import conversion, experts, games, mistakes, sampling
from afterwit.bounds._entry import Alternative, Bound, Evaluation, Input
from afterwit.errors import InputError, shorten


def _by_name(*groups: tuple[Bound, ...]) -> Mapping[str, Bound]:
    entries = [entry for group in groups for entry in group]
    found = {entry.name: entry for entry in entries}
    assert len(found) == len(entries), "two entries of one name"
    return MappingProxyType(found)


#: Bounds on mistakes, regret, error and the rest.
BOUNDS = _by_name(
    mistakes.ENTRIES, linear.ENTRIES, experts.ENTRIES, conversion.ENTRIES, games.ENTRIES, sampling.ENTRIES
)
#: How many examples make a bound small enough.
SAMPLE_SIZES = _by_name(sampling.SAMPLE_SIZES, conversion.SAMPLE_SIZES)


def bound(name: str, **inputs: Any) -> Any:
    """The bound of that name, as a number."""
    return find(name)(**inputs)


def sample_size(name: str, **inputs: Any) -> int:
    """The sample size of that name, as a whole number."""
    return int(find(name, SAMPLE_SIZES)(**inputs))


def evaluate(name: str, **inputs: Any) -> Evaluation:
    """The bound of that name with everything about it: it prints as a few lines."""
    return find(name).evaluate(**inputs)


def find(name: Any, among: Mapping[str, Bound] = BOUNDS) -> Bound:
    """The entry of that name; for another name, the nearest there is stands in the message."""
    if isinstance(name, str) and name in among:
        return among[name]
    near = difflib.get_close_matches(str(name).lower().replace("_", "-").replace(" ", "-"), among, n=3, cutoff=0.5)
    nearest = f"did you mean {' or '.join(near)}?" if near else "--list shows all names"
    raise InputError(f"there is no theorem {shorten(name)} among the {len(among)} here; {nearest}")


__all__ = [
    "BOUNDS",
    "SAMPLE_SIZES",
    "Alternative",
    "Bound",
    "Evaluation",
    "Input",
    "bound",
    "evaluate",
    "find",
    "sample_size",
]
