"""All theorems whose formula can be asked for, collected from the families; and formulas as functions."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from afterwit.core import registry
from afterwit.core.theorem import BOUND, SAMPLE_SIZE, Theorem

#: The packages with theorems, in the order in which they are listed.
ORDER = (
    "concepts",
    "linear",
    "kernels",
    "experts",
    "adversaries",
    "batch",
    "games",
    "boosting",
    "sampling",
    "reductions",
)


def _collected(asks_for: str) -> Mapping[str, Theorem]:
    """Theorems by id, in the order of the packages and, in each, of their definition."""
    ours = [kind() for kind in Theorem.known[asks_for].values() if kind.__module__.startswith("afterwit.")]
    ours.sort(key=lambda theorem: ORDER.index(type(theorem).__module__.split(".")[1]))
    return MappingProxyType({theorem.id: theorem for theorem in ours})


registry.classes(*registry.ROLES)
for _package in ORDER:
    importlib.import_module(f"afterwit.{_package}")

#: Bounds on mistakes, regret, error and the rest.
BOUNDS = _collected(BOUND)
#: How many examples make a bound small enough.
SAMPLE_SIZES = _collected(SAMPLE_SIZE)


def formula(name: str, *order: str, among: Mapping[str, Theorem] = BOUNDS) -> Callable[..., Any]:
    """A theorem's formula as a function of numbers or arrays, in this order."""
    theorem = among[name]
    signature = inspect.Signature([_parameter(theorem, each) for each in order])

    def function(*arguments: Any, **inputs: Any) -> Any:
        return theorem.values(**signature.bind(*arguments, **inputs).arguments)

    function.__name__ = function.__qualname__ = name.replace("-", "_")
    function.__doc__ = f"{theorem.statement}."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _parameter(theorem: Theorem, name: str) -> inspect.Parameter:
    """An input as a parameter: one of two ways to give it, one with a default, or one that is required."""
    wanted = next(each for each in theorem.inputs if name in each.names)
    default = wanted.default if wanted.default is not None else None if wanted.alternative else inspect.Parameter.empty
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
