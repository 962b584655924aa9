"""One closed formula with its theorem: named inputs with their ranges, and the formula as text to put numbers in."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from afterwit.data.quantities import Range
from afterwit.errors import AfterwitError, Words, invalid

WIDTH = 100


@dataclass(frozen=True)
class Alternative:
    """Another way to give an input: its name, what it may be, how it becomes the input, how the formula shows it."""

    name: str
    meaning: str
    range: Range
    convert: Callable[[Any], float]
    shown: str


@dataclass(frozen=True)
class Input:
    """One named input of a formula. With a default it may be left out."""

    name: str
    symbol: str
    meaning: str
    range: Range
    default: float | None = None
    alternative: Alternative | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,) if self.alternative is None else (self.name, self.alternative.name)


@dataclass(frozen=True)
class Bound:
    """A theorem whose bound is a closed formula of named inputs.

    ``formula`` has the inputs' names in braces. ``bound(...)`` gives the number, ``evaluate(...)`` everything about it.
    """

    name: str
    quantity: str
    formula: str
    citation: str
    inputs: tuple[Input, ...]
    function: Callable[..., Any]
    needs: str
    sense: str = "<="
    #: "with probability 1 - delta", "on average": how far it is a matter of chance.
    chance: str = ""
    #: How the result is rounded, in words, where the formula itself is not what is asked for.
    rounding: str = ""

    def __post_init__(self) -> None:
        names = [name for each in self.inputs for name in each.names]
        assert len(set(names)) == len(names), f"{self.name}: two inputs of one name"

    @property
    def statement(self) -> str:
        """The theorem in its symbols."""
        right = self.formula.format_map({each.name: each.symbol for each in self.inputs})
        chance = f", {self.chance}" if self.chance else ""
        return f"{self.quantity} {self.sense} {right}{chance}"

    def __call__(self, **inputs: Any) -> Any:
        return self.evaluate(**inputs).value

    def evaluate(self, *, spelling: Callable[[str], str] = str, **inputs: Any) -> Evaluation:
        """Check every input, then apply the formula. ``spelling`` is how messages write the name of an input."""
        known = {name: each for each in self.inputs for name in each.names}
        for name in inputs:
            if name not in known:
                wanted = " or ".join(spelling(known_name) for known_name in known)
                raise invalid(f"an input of {self.name}", wanted, name)
        values: dict[str, Any] = {}
        shown: dict[str, str] = {}
        for each in self.inputs:
            values[each.name], shown[each.name] = _taken(self.name, each, inputs, spelling)
        try:
            value = self.function(**values)
        except AfterwitError as error:
            raise _respelt(error, known, spelling) from None
        return Evaluation(self, MappingProxyType(values), _with_signs(self.formula).format_map(shown), value)


def _taken(bound: str, wanted: Input, inputs: Mapping[str, Any], spelling: Callable[[str], str]) -> tuple[Any, str]:
    """The value of one input, and how the formula shows it."""
    other = wanted.alternative
    given = [name for name in wanted.names if inputs.get(name) is not None]
    if len(given) > 1:
        one, two = map(spelling, given)
        raise invalid(f"{one} or {two}", "given, one of the two", [inputs[name] for name in given])
    if not given:
        if wanted.default is None:
            names = " or ".join(spelling(name) for name in wanted.names)
            raise invalid(names, f"given for {bound}: {wanted.meaning}, {wanted.range.allowed}", Words("nothing"))
        return wanted.default, number(wanted.default)
    value = inputs[given[0]]
    if other is not None and given[0] == other.name:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1 or not other.range.whole:
            value = _single(other.range, spelling(other.name), value)
        return other.convert(value), other.shown.format(number(value))
    value = _single(wanted.range, spelling(wanted.name), value)
    return value, number(value)


def _with_signs(formula: str) -> str:
    """Factors that stand side by side, as symbols do, with the sign that numbers need."""
    return re.sub(r"(?<=[}\d)e]) (?=[{(a-z\d])", " * ", formula)


def _single(allowed: Range, name: str, value: Any) -> float:
    array = allowed.check(name, value)
    if array.ndim:
        raise invalid(name, f"{allowed.allowed}, one and not many", value)
    return float(array)


def _respelt(error: AfterwitError, known: Mapping[str, Any], spelling: Callable[[str], str]) -> AfterwitError:
    """The same sentence with the input it begins with spelt as the caller spells it."""
    first, space, rest = str(error).partition(" ")
    return type(error)(f"{spelling(first) if first in known else first}{space}{rest}")


@dataclass(frozen=True)
class Evaluation:
    """A formula with numbers in it, and its value. Prints as a few lines."""

    bound: Bound
    inputs: Mapping[str, Any]
    substituted: str
    value: Any

    @property
    def vacuous(self) -> bool:
        """An error or a probability of at least 1: true, and no news."""
        return self.bound.quantity in ("error", "deviation", "probability") and self.value >= 1

    def __str__(self) -> str:
        bound = self.bound
        head = f"  {bound.quantity} {bound.sense} "
        places = {each.name: each.symbol for each in bound.inputs}
        lines = [f"{bound.name} ({bound.citation})"]
        lines += _wrapped(head + bound.formula.format_map(places), len(head))
        lines += _wrapped(" " * (len(head) - 2) + "= " + self.substituted, len(head))
        after = f", {bound.chance}" if bound.chance else ""
        note = f" ({bound.rounding})" if bound.rounding else ""
        vacuous = ": that says nothing, as it is 1 or more" if self.vacuous else ""
        lines.append(" " * (len(head) - 2) + f"= {number(self.value)}{note}{after}{vacuous}")
        where = ", ".join(f"{each.symbol} = {number(self.inputs[each.name])} ({each.name})" for each in bound.inputs)
        lines += _wrapped(f"  with {where}", 4)
        lines += _wrapped(f"  if {bound.needs}", 4)
        return "\n".join(lines)


def _wrapped(text: str, indent: int) -> list[str]:
    start = len(text) - len(text.lstrip())
    return textwrap.wrap(text.lstrip(), WIDTH, initial_indent=" " * start, subsequent_indent=" " * indent)


def number(value: Any) -> str:
    """A number as it is shown in a formula: six digits, whole numbers whole."""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**24 else f"{Decimal(value):.6g}"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"


def from_theorem(theorem: Any, **entry: Any) -> Bound:
    """An entry for a theorem of a learner: its citation, its formula as the function."""
    entry = {"function": theorem.bound, "citation": theorem.citation, **entry}
    return Bound(quantity=entry.pop("quantity", getattr(theorem, "quantity", "mistakes")), **entry)
