"""A theorem: a stated bound, where it is proved, what it needs, and the one closed formula of named inputs.

Certificates apply a theorem to what happened (``certify``); `afterwit.bounds` and the command line evaluate its formula
for numbers of one's own (``evaluate``). Both read the same object, so there is one formula.
"""

from __future__ import annotations

import copy
import math
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from afterwit.data.checks import is_whole
from afterwit.data.quantities import Range, plain
from afterwit.errors import AfterwitError, Words, invalid

if TYPE_CHECKING:
    from afterwit.core.certificate import Certificate

WIDTH = 100
#: What a formula can be asked for: a bound, or how many examples make a bound small enough.
BOUND, SAMPLE_SIZE = "bound", "sample size"


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


class Theorem:
    """A stated bound. A subclass names it, declares its inputs and defines ``bound`` as a closed formula of them.

    ``formula`` has the inputs' names in braces; the statement is made of it. ``theorem(...)`` gives the number,
    ``evaluate(...)`` everything about it. Where the bound is not a formula of a few numbers there are no ``inputs``,
    and ``statement`` is written out.
    """

    #: The name under which the formula can be asked for; empty if it cannot.
    id: ClassVar[str] = ""
    #: What one asks for by that name: `BOUND` or `SAMPLE_SIZE`. A bound and a sample size may have the same id.
    asks_for: ClassVar[str] = BOUND
    name: str
    quantity: str
    citation: str
    formula: str = ""
    inputs: tuple[Input, ...] = ()
    #: What the formula itself bounds, where a certificate adds something to it and bounds another quantity.
    formula_quantity: str = ""
    #: What has to hold, in words.
    needs: str = ""
    sense: str = "<="
    #: How far the bound is a matter of chance, where it is: "on average over its own draws", "with probability 95%".
    #: A single run above such a bound does not refute it.
    chance: str = ""
    #: How the result is rounded, in words, where the formula itself is not what is asked for.
    rounding: str = ""
    #: The bound depends on the sequence alone, not on what the learner did with it.
    foreseeable: bool = True
    #: The bound follows from what the learner was made with and the number of rounds: it was known before the first.
    beforehand: bool = False
    #: It is about the rounds one by one, where these are known: sums over all of them are not enough.
    looks_at_rounds: bool = False
    #: Its three numbers are shown beside those of a certificate on another quantity.
    beside: bool = False
    #: It holds where labels came late: its measured delays are in it.
    late: bool = False

    #: Every theorem whose formula can be asked for, by what it is asked for and its id.
    known: ClassVar[dict[str, dict[str, type[Theorem]]]] = {BOUND: {}, SAMPLE_SIZE: {}}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "id" in vars(cls) and cls.id:
            if Theorem.known[cls.asks_for].setdefault(cls.id, cls).__qualname__ != cls.__qualname__:
                raise TypeError(f"two theorems with the id {cls.id!r}")
            names = [name for each in cls.inputs for name in each.names]
            if len(set(names)) != len(names):
                raise TypeError(f"{cls.id}: two inputs of one name")

    @property
    def statement(self) -> str:
        """The theorem in its symbols, as it is applied to a run."""
        return self.inequality

    @property
    def inequality(self) -> str:
        """The formula in its symbols, beside what it bounds."""
        chance = f", {self.chance}" if self.chance else ""
        return f"{self.formula_quantity or self.quantity} {self.sense} {self.in_symbols}{chance}"

    @property
    def in_symbols(self) -> str:
        """The right side of the statement."""
        return self.formula.format_map({each.name: each.symbol for each in self.inputs})

    def bound(self, *values: Any, **inputs: Any) -> Any:
        """The closed formula."""
        raise NotImplementedError(f"the {self.name} is not a formula of a few numbers")

    def check(self, *values: Any, **inputs: Any) -> None:
        """Refuse inputs that do not fit together; each alone has been checked."""

    def certify(self, evidence: Any) -> Certificate | None:
        """Apply the theorem to what a checker recomputed from the data; None if it is not about such a run."""
        del evidence
        return None

    def as_known(self, *, foreseeable: bool = True, beforehand: bool = False) -> Self:
        """The same theorem about a run of which this is true, where it depends on the run."""
        same = copy.copy(self)
        same.foreseeable = foreseeable
        same.beforehand = beforehand
        return same

    def __call__(self, **inputs: Any) -> Any:
        return self.evaluate(**inputs).value

    def values(self, **inputs: Any) -> Any:
        """The formula for numbers or arrays, which broadcast. Every input is checked."""
        self._refuse_strangers(inputs, str)
        values = {each.name: _taken_array(self.id, each, inputs) for each in self.inputs}
        self.check(**values)
        return plain(self.bound(**values))

    def evaluate(self, *, spelling: Callable[[str], str] = str, **inputs: Any) -> Evaluation:
        """Check every input, then apply the formula. ``spelling`` is how messages write the name of an input."""
        self._refuse_strangers(inputs, spelling)
        values: dict[str, Any] = {}
        shown: dict[str, str] = {}
        for each in self.inputs:
            values[each.name], shown[each.name] = _taken(self.id, each, inputs, spelling)
        try:
            self.check(**values)
            value = plain(self.bound(**values))
        except AfterwitError as error:
            raise _respelt(error, self._input_names, spelling) from None
        return Evaluation(self, MappingProxyType(values), _with_signs(self.formula).format_map(shown), value)

    @property
    def _input_names(self) -> list[str]:
        return [name for each in self.inputs for name in each.names]

    def _refuse_strangers(self, inputs: Mapping[str, Any], spelling: Callable[[str], str]) -> None:
        for name in inputs:
            if name not in self._input_names:
                raise invalid(f"an input of {self.id}", " or ".join(map(spelling, self._input_names)), name)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.quantity, self.chance) == (other.quantity, other.chance)

    def __hash__(self) -> int:
        return hash((type(self), self.quantity, self.chance))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.statement} ({self.citation})>"


def _given(theorem: str, wanted: Input, inputs: Mapping[str, Any], spelling: Callable[[str], str]) -> str | None:
    """Under which of its names an input was given; None if it was left out and has a default."""
    given = [name for name in wanted.names if inputs.get(name) is not None]
    if len(given) > 1:
        one, two = map(spelling, given)
        raise invalid(f"{one} or {two}", "given, but not both", [inputs[name] for name in given])
    if given:
        return given[0]
    if wanted.default is None:
        names = " or ".join(spelling(name) for name in wanted.names)
        raise invalid(names, f"given for {theorem}: {wanted.meaning}, {wanted.range.allowed}", Words("nothing"))
    return None


def _taken_array(theorem: str, wanted: Input, inputs: Mapping[str, Any]) -> Any:
    """The values of one input."""
    name, other = _given(theorem, wanted, inputs, str), wanted.alternative
    if name is None:
        return wanted.default
    if other is None or name != other.name:
        return wanted.range.check(name, inputs[name])
    value = inputs[name]
    if is_whole(value) and value >= 1 and other.range.whole:
        return other.convert(int(value))
    return np.vectorize(other.convert, otypes=[np.float64])(other.range.check(name, value))[()]


def _taken(theorem: str, wanted: Input, inputs: Mapping[str, Any], spelling: Callable[[str], str]) -> tuple[Any, str]:
    """The value of one input, and how the formula shows it."""
    name, other = _given(theorem, wanted, inputs, spelling), wanted.alternative
    if name is None:
        assert wanted.default is not None
        return wanted.default, number(wanted.default)
    value = inputs[name]
    if other is not None and name == other.name:
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


def _respelt(error: AfterwitError, known: list[str], spelling: Callable[[str], str]) -> AfterwitError:
    """The same sentence with the input it begins with spelt as the caller spells it."""
    first, space, rest = str(error).partition(" ")
    return type(error)(f"{spelling(first) if first in known else first}{space}{rest}")


@dataclass(frozen=True)
class Evaluation:
    """A formula with numbers in it, and its value. Prints as a few lines."""

    theorem: Theorem
    inputs: Mapping[str, Any]
    substituted: str
    value: Any

    @property
    def bound(self) -> Theorem:
        """The theorem whose formula this is."""
        return self.theorem

    @property
    def quantity(self) -> str:
        """What the formula bounds."""
        return self.theorem.formula_quantity or self.theorem.quantity

    @property
    def vacuous(self) -> bool:
        """An error or a probability of at least 1: true, and no news."""
        return self.quantity in ("error", "deviation", "probability") and self.value >= 1

    def __str__(self) -> str:
        theorem = self.theorem
        head = f"  {self.quantity} {theorem.sense} "
        lines = [f"{theorem.id} ({theorem.citation})"]
        lines += _wrapped(head + theorem.in_symbols, len(head))
        lines += _wrapped(" " * (len(head) - 2) + "= " + self.substituted, len(head))
        after = f", {theorem.chance}" if theorem.chance else ""
        note = f" ({theorem.rounding})" if theorem.rounding else ""
        vacuous = ": this says nothing, because it is at least 1" if self.vacuous else ""
        lines.append(" " * (len(head) - 2) + f"= {number(self.value)}{note}{after}{vacuous}")
        where = ", ".join(f"{each.symbol} = {number(self.inputs[each.name])} ({each.name})" for each in theorem.inputs)
        lines += _wrapped(f"  with {where}", 4)
        lines += _wrapped(f"  if {theorem.needs}", 4)
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
