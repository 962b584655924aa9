"""What a learner is made with and what it has learned, declared once.

A class lists its ``options``; its signature, the checks, ``parameters``, the options as attributes and ``repr`` follow.
It lists what it has ``kept`` beyond what its base class keeps; ``state``, the checks of a saved state and restoring
follow. In a compiled class what is kept is declared with ``cython.declare(..., visibility="public")``, so that it can
be reached from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from afterwit.data.checks import FLOAT_MAX, Check, as_given, optional
from afterwit.data.labels import PLAIN, Labels
from afterwit.errors import invalid, unknown_option

#: The default of an option that has none.
REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Option:
    """One thing a learner is made with: its name, its default, and the check that gives the value that is kept."""

    name: str
    default: Any = REQUIRED
    check: Check = as_given


def _pair(parameter: str, labels: Any) -> tuple[Any, Any]:
    del parameter
    return Labels(labels).pair


#: The negative and the positive label, which every classifier of two labels takes last. None: the first that it learns
#: tell.
LABELS = Option("labels", None, optional(_pair))
#: The same for what learns a whole sample at once.
GIVEN_LABELS = Option("labels", PLAIN, _pair)


class DeclaredSignature:
    """The signature of a class, from its options: a compiled class has none of its own."""

    def __get__(self, instance: Any, owner: Any) -> inspect.Signature:
        return _signature(owner)


@cache
def _signature(owner: Any) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(option.name, kind, default=option.default) for option in owner.options])


def read_options(kind: Any, arguments: Iterable[Any], named: dict[str, Any]) -> dict[str, Any]:
    """What a class was called with, by name and in order, every value checked."""
    known = kind.__signature__.parameters
    stranger = next((name for name in named if name not in known), None)
    if stranger is not None:
        raise unknown_option(kind.__name__, stranger, known)
    try:
        bound = kind.__signature__.bind(*arguments, **named)
    except TypeError as error:
        raise TypeError(f"{kind.__name__}() {error}") from None
    bound.apply_defaults()
    return {option.name: option.check(option.name, bound.arguments[option.name]) for option in kind.options}


def copied(value: Any) -> Any:
    """A value that may be handed out: what can be changed in place is copied, inside lists and dicts too."""
    if isinstance(value, dict):
        return {key: copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [copied(each) for each in value]
    # What can be restored is a learner.
    return value.copy() if isinstance(value, np.ndarray) or hasattr(value, "restore") else value


@dataclass(frozen=True)
class Kept:
    """One thing a learner has learned, by its name in the state; the learner has it under ``_name``."""

    name: str
    #: What a state has that was saved before this was kept; required if nothing is said.
    before: Any = field(default=REQUIRED, kw_only=True)

    @property
    def attribute(self) -> str:
        return f"_{self.name}"

    def of(self, state: Any) -> Any:
        """The value in a state."""
        return state[self.name] if self.before is REQUIRED else state.get(self.name, self.before)

    def read(self, learner: Any) -> Any:
        """The value as plain data, of which changes do not reach the learner."""
        return getattr(learner, self.attribute)

    def check(self, learner: Any, value: Any) -> None:
        """Refuse a value that is not one of this learner's."""

    def write(self, learner: Any, value: Any) -> None:
        """Give the learner the value, which has been checked."""
        setattr(learner, self.attribute, value)


def is_finite(value: float) -> bool:
    return -FLOAT_MAX <= value <= FLOAT_MAX


def is_not_negative(value: Any) -> Any:
    """Of a finite number, or of every number of an array."""
    return (value >= 0) & (value <= FLOAT_MAX)


@dataclass(frozen=True)
class Number(Kept):
    """A number: which ones are allowed, as a test and in words."""

    test: Callable[[float], bool] = is_finite
    allowed: str = "a finite number"

    def check(self, learner: Any, value: Any) -> None:
        if type(value) is not float or not self.test(value):
            raise invalid(self.name, self.allowed, value)


def not_negative(name: str, before: Any = REQUIRED) -> Number:
    """A number, 0 or more."""
    return Number(name, is_not_negative, "a finite number that is not negative", before=before)


@dataclass(frozen=True)
class Count(Kept):
    """A whole number, at least 0."""

    def check(self, learner: Any, value: Any) -> None:
        if type(value) is not int or not 0 <= value < 2**62:
            raise invalid(self.name, "a whole number, at least 0", value)


@dataclass(frozen=True)
class Numbers(Kept):
    """An array of numbers; ``shape`` says of a learner how many. The learner keeps them flat."""

    shape: Callable[[Any], tuple[int, ...]]
    #: Which finite numbers are allowed, as a test and in words.
    test: Callable[[Any], Any] = np.isfinite
    allowed: str = "finite numbers"

    def read(self, learner: Any) -> Any:
        return np.array(getattr(learner, self.attribute)).reshape(self.shape(learner))

    def check(self, learner: Any, value: Any) -> None:
        shape = self.shape(learner)
        if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
            raise invalid(self.name, f"an array of {' x '.join(map(str, shape))} numbers", value)
        if not np.all(self.test(value)):
            raise invalid(self.name, self.allowed, value)

    def write(self, learner: Any, value: Any) -> None:
        setattr(learner, self.attribute, learner._view(value.reshape(-1).copy()))


def none_negative(name: str, shape: Callable[[Any], tuple[int, ...]]) -> Numbers:
    """An array of numbers, each 0 or more."""
    return Numbers(name, shape, is_not_negative, "numbers that are not negative")
