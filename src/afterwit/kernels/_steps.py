"""The steps in which a kernel is evaluated, by name.

A kernel is evaluated on a stack. Each entry of the stack is an array with one number for every kept example. A kernel
lists its `Step` objects in order: the first operations put an array on the stack, the next change the array on top, and
the last join the two on top. `Program` is the same list as arrays of numbers, as the compiled support set reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Operation(IntEnum):
    """What a step does. The comment says what its argument is."""

    #: The inner products x . z; the length of the substrings that are the features, None for vectors.
    PRODUCTS = 0
    #: The squared distances |x - z|^2; as for the products.
    DISTANCES = 1
    #: The products of all 1 + x_i z_i; as for the products.
    ALL_PRODUCTS = 2
    #: The values of a plain function; the function.
    FUNCTION = 3
    #: (1 + v)^k for every v on top of the stack; k.
    POWER = 4
    #: exp(-v / c); c.
    GAUSSIAN = 5
    #: c v; c.
    SCALE = 6
    #: The sum of the two arrays on top; no argument.
    ADD = 7
    #: Their product; no argument.
    MULTIPLY = 8


#: The operations that compare features.
COMPARES_FEATURES = (Operation.PRODUCTS, Operation.DISTANCES, Operation.ALL_PRODUCTS)
#: The operations that put an array on the stack.
PUSHES = (*COMPARES_FEATURES, Operation.FUNCTION)
#: The operations that make one array of two.
JOINS = (Operation.ADD, Operation.MULTIPLY)


class Step(NamedTuple):
    """One step of a kernel: the operation, and what it needs to know."""

    operation: Operation
    argument: Any = None


@dataclass(frozen=True)
class Program:
    """The steps of a kernel, as arrays with one entry for each step."""

    operations: npt.NDArray[np.int32]
    #: Which of ``features``, which of ``functions``, or which power.
    places: npt.NDArray[np.int32]
    #: The number that a Gaussian or a scaling needs.
    numbers: npt.NDArray[np.float64]
    #: The kinds of features that are compared, as the examples name them.
    features: tuple[int | None, ...]
    functions: tuple[Callable[..., Any], ...]
    #: How many arrays are on the stack at most.
    depth: int


def program(steps: list[Step]) -> Program:
    """A kernel's steps, ready to be run."""
    features = features_of(steps)
    functions = functions_of(steps)
    places: list[int] = []
    numbers: list[float] = []
    height = depth = 0
    for operation, argument in steps:
        place, number = 0, 0.0
        if operation in COMPARES_FEATURES:
            place = features.index(argument)
        elif operation is Operation.FUNCTION:
            place = functions.index(argument)
        elif operation is Operation.POWER:
            place = argument
        elif operation in (Operation.GAUSSIAN, Operation.SCALE):
            number = argument
        places.append(place)
        numbers.append(number)
        height += (operation in PUSHES) - (operation in JOINS)
        depth = max(depth, height)
    return Program(
        np.array([operation for operation, _ in steps], dtype=np.int32),
        np.array(places, dtype=np.int32),
        np.array(numbers, dtype=np.float64),
        features,
        functions,
        depth,
    )


def features_of(steps: list[Step]) -> tuple[int | None, ...]:
    """The kinds of features that the steps compare, each once."""
    return tuple(dict.fromkeys(argument for operation, argument in steps if operation in COMPARES_FEATURES))


def functions_of(steps: list[Step]) -> tuple[Callable[..., Any], ...]:
    """The plain functions in the steps."""
    return tuple(argument for operation, argument in steps if operation is Operation.FUNCTION)
