"""A function of your own as a kernel.

Kernel      K(x, z) = what the function gives, a finite number; x and z are whatever you learn from
Assumes     that it is an inner product in some space, so that no Gram matrix has a negative eigenvalue. That is the
            caller's promise; a certificate looks for signs of the contrary.

Wherever a kernel is expected, a plain function will do; this makes one that can be composed.

>>> K = function(lambda x, z: float(x == z)) + function(lambda x, z: 1.0)
>>> K("a", "a"), K("a", "b")
(2.0, 1.0)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.errors import invalid
from afterwit.kernels._kernel import Floats, Kernel, cannot_be_saved, kernel_value
from afterwit.kernels._steps import Operation, Step


@dataclass(frozen=True, repr=False)
class Function(Kernel):
    call: Callable[[Any, Any], Any]
    takes = "anything"

    def steps(self) -> list[Step]:
        return [Step(Operation.FUNCTION, self.call)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        first, second = matrices.objects(left), matrices.objects(right)
        values = [[kernel_value(self.call(x, z)) for z in second] for x in first]
        return np.array(values, dtype=np.float64).reshape(len(first), len(second))

    def as_data(self) -> list[Any]:
        raise cannot_be_saved(self.call)

    def __repr__(self) -> str:
        return f"function({getattr(self.call, '__qualname__', None) or repr(self.call)})"


def function(kernel: Callable[[Any, Any], Any]) -> Kernel:
    """A plain function of two examples as a kernel. Learners with it can be pickled if it can, but not saved."""
    if not callable(kernel) or isinstance(kernel, (type, Kernel)):
        raise invalid("kernel", "a function of two examples", kernel)
    return Function(kernel)
