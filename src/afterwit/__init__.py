"""Online learning with guarantees: what theory promised, what happened, what hindsight would have given."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterwit import adversaries, batch, errors, hindsight, kernels, sklearn, streams, testing
    from afterwit.batch.confidence import ConfidenceSequence
    from afterwit.batch.frozen import FrozenPredictor
    from afterwit.certificate import Assumption, Certificate, Theorem
    from afterwit.errors import AfterwitError
    from afterwit.linear._rows import SparseRow
    from afterwit.linear.adagrad import AdaGrad
    from afterwit.linear.averaged_perceptron import AveragedPerceptron
    from afterwit.linear.balanced_winnow import BalancedWinnow
    from afterwit.linear.dual_perceptron import DualPerceptron
    from afterwit.linear.kernel_perceptron import KernelPerceptron
    from afterwit.linear.margin_perceptron import MarginPerceptron
    from afterwit.linear.one_vs_rest import OneVsRest
    from afterwit.linear.online_svm import OnlineSVM
    from afterwit.linear.perceptron import Perceptron
    from afterwit.linear.sgd import SGD
    from afterwit.linear.soft_threshold_network import SoftThresholdNetwork
    from afterwit.linear.voted_perceptron import VotedPerceptron
    from afterwit.linear.winnow import Winnow
    from afterwit.protocol import Learner, Record, play
    from afterwit.storage import load, save

__version__ = "0.1.0"

#: The learners of this package, by name: the classes `load` may build.
LEARNERS = (
    "AdaGrad",
    "AveragedPerceptron",
    "BalancedWinnow",
    "DualPerceptron",
    "KernelPerceptron",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineSVM",
    "Perceptron",
    "SGD",
    "SoftThresholdNetwork",
    "VotedPerceptron",
    "Winnow",
)

_HOMES = {
    "Assumption": "certificate",
    "Certificate": "certificate",
    "Theorem": "certificate",
    "AfterwitError": "errors",
    "ConfidenceSequence": "batch.confidence",
    "FrozenPredictor": "batch.frozen",
    "AdaGrad": "linear.adagrad",
    "AveragedPerceptron": "linear.averaged_perceptron",
    "BalancedWinnow": "linear.balanced_winnow",
    "MarginPerceptron": "linear.margin_perceptron",
    "OnlineSVM": "linear.online_svm",
    "OneVsRest": "linear.one_vs_rest",
    "DualPerceptron": "linear.dual_perceptron",
    "KernelPerceptron": "linear.kernel_perceptron",
    "Perceptron": "linear.perceptron",
    "SGD": "linear.sgd",
    "SoftThresholdNetwork": "linear.soft_threshold_network",
    "VotedPerceptron": "linear.voted_perceptron",
    "Winnow": "linear.winnow",
    "SparseRow": "linear._rows",
    "Learner": "protocol",
    "Record": "protocol",
    "play": "protocol",
    "load": "storage",
    "save": "storage",
}
_SUBPACKAGES = ("adversaries", "batch", "errors", "hindsight", "kernels", "linear", "sklearn", "streams", "testing")

__all__ = [
    "LEARNERS",
    "SGD",
    "AdaGrad",
    "AfterwitError",
    "Assumption",
    "AveragedPerceptron",
    "BalancedWinnow",
    "Certificate",
    "ConfidenceSequence",
    "DualPerceptron",
    "FrozenPredictor",
    "KernelPerceptron",
    "Learner",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineSVM",
    "Perceptron",
    "Record",
    "SoftThresholdNetwork",
    "SparseRow",
    "Theorem",
    "VotedPerceptron",
    "Winnow",
    "adversaries",
    "batch",
    "compiled",
    "errors",
    "hindsight",
    "kernels",
    "load",
    "play",
    "save",
    "sklearn",
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
