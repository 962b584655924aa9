"""What all kernels share: evaluation, composition, and their form as data.

A kernel says three things: what examples it ``takes``; its ``steps``, which the compiled support set runs (see
`_steps`); and the same once more as one expression of numpy, ``_matrix``, against which the first is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import positive_number
from afterwit.errors import InputError, Words, invalid, shorten
from afterwit.kernels._steps import Operation, Step, features_of, functions_of

Floats = npt.NDArray[np.float64]


class Kernel:
    """A kernel: K(x, z) is an inner product of x and z in some feature space."""

    #: "vectors", "strings" or "anything".
    takes: str = "vectors"
    # Numbers of numpy on the left leave the multiplication to the kernel.
    __array_ufunc__ = None

    def __call__(self, x: Any, z: Any) -> float:
        from afterwit.kernels._examples import read_one
        from afterwit.kernels._support import Support

        support = Support(self)
        support.enter(read_one(self, z))
        support.keep(0, 1.0)
        support.enter(read_one(self, x))
        return float(support.score(0, False))

    def gram(self, X: Any) -> Floats:
        """The matrix of K(x, z) for all pairs of rows of X, by numpy."""
        from afterwit.kernels._examples import ExampleMatrices, read_many

        everything = slice(None)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = self._matrix(ExampleMatrices(read_many(self, X)), everything, everything)
        if not np.isfinite(matrix).all():
            raise invalid("X", "examples whose kernel values are finite numbers", Words("others"))
        return matrix

    # ------------------------------------------------------------------ what a kernel defines

    def steps(self) -> list[Step]:
        """How the support set evaluates it."""
        raise NotImplementedError

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        """Its values for some of the examples (left) with others (right)."""
        raise NotImplementedError

    def as_data(self) -> list[Any]:
        """Its name and its numbers, from which `from_data` makes it again."""
        raise NotImplementedError

    # ------------------------------------------------------------------ composition

    def __add__(self, other: Any) -> Kernel:
        return Sum((*_terms(self), *_terms(as_kernel(other))))

    def __radd__(self, other: Any) -> Kernel:
        return as_kernel(other) + self

    def __mul__(self, other: Any) -> Kernel:
        if isinstance(other, Kernel) or callable(other):
            return Product((*_factors(self), *_factors(as_kernel(other))))
        return Scaled(positive_number("the factor of a kernel", other), self)

    def __rmul__(self, other: Any) -> Kernel:
        return as_kernel(other) * self if callable(other) else self * other

    @property
    def lengths(self) -> list[int]:
        """The lengths of substrings it asks for, each once."""
        return [length for length in features_of(self.steps()) if length is not None]

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """The plain functions in it."""
        return functions_of(self.steps())


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """K + K' + ...: the features of all of them side by side."""

    terms: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "takes", _common_kind(self.terms))

    def steps(self) -> list[Step]:
        return _joined(self.terms, Operation.ADD)

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        return sum(
            (term._matrix(matrices, left, right) for term in self.terms[1:]),
            self.terms[0]._matrix(matrices, left, right),
        )

    def as_data(self) -> list[Any]:
        return ["sum", *(term.as_data() for term in self.terms)]

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """K K' ...: all products of a feature of each."""

    factors: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "takes", _common_kind(self.factors))

    def steps(self) -> list[Step]:
        return _joined(self.factors, Operation.MULTIPLY)

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        return math.prod(
            (factor._matrix(matrices, left, right) for factor in self.factors[1:]),
            start=self.factors[0]._matrix(matrices, left, right),
        )

    def as_data(self) -> list[Any]:
        return ["product", *(factor.as_data() for factor in self.factors)]

    def __repr__(self) -> str:
        return " * ".join(map(_in_product, self.factors))


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """c K with c > 0: every feature times the root of c."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if isinstance(self.kernel, Scaled):
            factor = positive_number("the factor of a kernel", self.factor * self.kernel.factor)
            object.__setattr__(self, "factor", factor)
            object.__setattr__(self, "kernel", self.kernel.kernel)
        object.__setattr__(self, "takes", self.kernel.takes)

    def steps(self) -> list[Step]:
        return [*self.kernel.steps(), Step(Operation.SCALE, self.factor)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        return self.factor * self.kernel._matrix(matrices, left, right)

    def as_data(self) -> list[Any]:
        return ["scaled", self.factor, self.kernel.as_data()]

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_product(self.kernel)}"


def as_kernel(kernel: Any) -> Kernel:
    """A kernel as it is, a plain function as a kernel."""
    if isinstance(kernel, Kernel):
        return kernel
    if str(getattr(kernel, "__module__", "")).startswith("afterwit.kernels."):
        raise invalid("kernel", "a kernel, which the function of that name makes", kernel)
    if callable(kernel) and not isinstance(kernel, type):
        from afterwit.kernels.function import function

        return function(kernel)
    raise invalid("kernel", "a kernel of afterwit.kernels or a function of two examples", kernel)


def from_data(data: Any) -> Kernel:
    """The kernel whose ``as_data`` this was. Only kernels of this package can be made so."""
    from afterwit import kernels

    allowed = "a kernel as data"
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise invalid("kernel", allowed, data)
    name, *content = data
    if name in ("sum", "product") and len(content) > 1:
        parts = tuple(from_data(part) for part in content)
        return Sum(parts) if name == "sum" else Product(parts)
    if name == "scaled" and len(content) == 2:
        return Scaled(positive_number("the factor of a kernel", content[0]), from_data(content[1]))
    makers: dict[str, Callable[..., Kernel]] = {
        "linear": kernels.linear,
        "polynomial": kernels.polynomial,
        "all_products": kernels.all_products,
        "gaussian": kernels.gaussian,
        "string": kernels.string,
    }
    if name not in makers:
        raise invalid("kernel", allowed, data)
    try:
        return makers[name](*content)
    except TypeError:
        raise invalid("kernel", allowed, data) from None


def kernel_value(value: Any) -> float:
    """What a plain function gave, which must be a finite number."""
    if isinstance(value, (Real, np.generic)):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise invalid("the value of a kernel", "a finite number", value)


def cannot_be_saved(function: Any) -> InputError:
    return InputError(
        "a learner can be saved if its kernel is made of those in afterwit.kernels; "
        f"this one uses the function {shorten(function)}"
    )


def _terms(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def _factors(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.factors if isinstance(kernel, Product) else (kernel,)


def _in_product(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Scaled)) else repr(kernel)


def _joined(parts: tuple[Kernel, ...], operation: Operation) -> list[Step]:
    steps = parts[0].steps()
    for part in parts[1:]:
        steps += [*part.steps(), Step(operation)]
    return steps


def _common_kind(parts: tuple[Kernel, ...]) -> str:
    kinds = {part.takes for part in parts} - {"anything"}
    if len(kinds) > 1:
        described = " and ".join(f"{part!r}, which takes {part.takes}" for part in parts if part.takes != "anything")
        raise invalid("the parts of a kernel", "kernels that take the same kind of example", Words(described))
    return kinds.pop() if kinds else "anything"
