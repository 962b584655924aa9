"""Online learning with guarantees: what theory promised, what happened, what hindsight would have given."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterwit import adversaries, errors, hindsight, kernels, streams, testing
    from afterwit.certificate import Assumption, Certificate, Theorem
    from afterwit.errors import AfterwitError
    from afterwit.linear._rows import SparseRow
    from afterwit.linear.dual_perceptron import DualPerceptron
    from afterwit.linear.kernel_perceptron import KernelPerceptron
    from afterwit.linear.perceptron import Perceptron
    from afterwit.protocol import Learner, Record, play
    from afterwit.storage import load, save

__version__ = "0.1.0"

#: The learners of this package, by name: the classes `load` may build.
LEARNERS = ("Perceptron", "DualPerceptron", "KernelPerceptron")

_HOMES = {
    "Assumption": "certificate",
    "Certificate": "certificate",
    "Theorem": "certificate",
    "AfterwitError": "errors",
    "DualPerceptron": "linear.dual_perceptron",
    "KernelPerceptron": "linear.kernel_perceptron",
    "Perceptron": "linear.perceptron",
    "SparseRow": "linear._rows",
    "Learner": "protocol",
    "Record": "protocol",
    "play": "protocol",
    "load": "storage",
    "save": "storage",
}
_SUBPACKAGES = ("adversaries", "errors", "hindsight", "kernels", "linear", "streams", "testing")

__all__ = [
    "LEARNERS",
    "AfterwitError",
    "Assumption",
    "Certificate",
    "DualPerceptron",
    "KernelPerceptron",
    "Learner",
    "Perceptron",
    "Record",
    "SparseRow",
    "Theorem",
    "adversaries",
    "compiled",
    "errors",
    "hindsight",
    "kernels",
    "load",
    "play",
    "save",
    "streams",
    "testing",
]


def __getattr__(name: str) -> Any:
    """Import each public name when it is first used, so that ``import afterwit`` is quick."""
    if name == "compiled":
        value: Any = _is_compiled()
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"afterwit.{_HOMES[name]}"), name)
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f"afterwit.{name}")
    else:
        raise AttributeError(f"module 'afterwit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _is_compiled() -> bool:
    """Whether the engine runs as native code."""
    engine = importlib.import_module("afterwit.linear._engine")
    return not str(engine.__file__).endswith(".py")
