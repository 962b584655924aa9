"""All theorems whose formula can be asked for, collected from the families; and formulas as functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from afterwit.core import registry
from afterwit.core.theorem import BOUND, SAMPLE_SIZE, Theorem

#: The packages with theorems, in the order in which they are listed.
ORDER = ("concepts", "linear", "kernels", "experts", "adversaries", "batch", "games", "boosting", "sampling")


def _collected(asks_for: str) -> Mapping[str, Theorem]:
    """Theorems by id, in the order of the packages and, in each, of their definition."""
    found = {id: kind() for id, kind in Theorem.known[asks_for].items() if kind.__module__.startswith("afterwit.")}
    ranks = {id: ORDER.index(type(theorem).__module__.split(".")[1]) for id, theorem in found.items()}
    return MappingProxyType(dict(sorted(found.items(), key=lambda pair: ranks[pair[0]])))


registry.classes(*registry.ROLES)
for _package in ORDER:
    importlib.import_module(f"afterwit.{_package}")

#: Bounds on mistakes, regret, error and the rest.
BOUNDS = _collected(BOUND)
#: How many examples make a bound small enough.
SAMPLE_SIZES = _collected(SAMPLE_SIZE)


def formula(id: str, *order: str, among: Mapping[str, Theorem] = BOUNDS) -> Callable[..., Any]:
    """A theorem's formula as a function of numbers or arrays, whose first arguments may be given by position."""
    theorem = among[id]

    def function(*arguments: Any, **inputs: Any) -> Any:
        if len(arguments) > len(order):
            raise TypeError(f"{id} takes at most {len(order)} inputs by position: {', '.join(order)}")
        given = dict(zip(order, arguments, strict=False))
        for name in inputs:
            if name in given:
                raise TypeError(f"{id} got two values for {name}")
        return theorem.values(**given, **inputs)

    function.__name__ = function.__qualname__ = id.replace("-", "_")
    function.__doc__ = f"{theorem.statement}. Inputs: {', '.join(n for each in theorem.inputs for n in each.names)}."
    return function
