"""Online learning with guarantees: what theory promised, what happened, what hindsight would have given."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterwit import adversaries, errors, experts, hindsight, kernels, losses, sklearn, streams, testing
    from afterwit.certificate import Assumption, Certificate, Theorem
    from afterwit.errors import AfterwitError
    from afterwit.experts.adahedge import AdaHedge
    from afterwit.experts.boa import BOA
    from afterwit.experts.committee import Committee
    from afterwit.experts.exp3 import Exp3
    from afterwit.experts.exponential_weights import ExponentialWeights
    from afterwit.experts.fixed_share import FixedShare
    from afterwit.experts.mlpol import MLpol
    from afterwit.experts.polynomial_weights import PolynomialWeights
    from afterwit.experts.randomized_weighted_majority import RandomizedWeightedMajority
    from afterwit.experts.repeat_last_label import RepeatLastLabel
    from afterwit.experts.second_order_weights import SecondOrderWeights
    from afterwit.experts.sleeping_experts import SleepingExperts
    from afterwit.experts.swap_regret import SwapRegret
    from afterwit.experts.weighted_majority import WeightedMajority
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
    "Committee",
    "DualPerceptron",
    "KernelPerceptron",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineSVM",
    "Perceptron",
    "RepeatLastLabel",
    "SGD",
    "SoftThresholdNetwork",
    "VotedPerceptron",
    "Winnow",
)

#: The algorithms that follow expert advice, by name.
EXPERT_ALGORITHMS = (
    "AdaHedge",
    "BOA",
    "Exp3",
    "ExponentialWeights",
    "FixedShare",
    "MLpol",
    "PolynomialWeights",
    "RandomizedWeightedMajority",
    "SecondOrderWeights",
    "SleepingExperts",
    "SwapRegret",
    "WeightedMajority",
)

_HOMES = {
    "Assumption": "certificate",
    "Certificate": "certificate",
    "Theorem": "certificate",
    "AfterwitError": "errors",
    "AdaHedge": "experts.adahedge",
    "BOA": "experts.boa",
    "Committee": "experts.committee",
    "Exp3": "experts.exp3",
    "ExponentialWeights": "experts.exponential_weights",
    "FixedShare": "experts.fixed_share",
    "MLpol": "experts.mlpol",
    "PolynomialWeights": "experts.polynomial_weights",
    "RandomizedWeightedMajority": "experts.randomized_weighted_majority",
    "RepeatLastLabel": "experts.repeat_last_label",
    "SecondOrderWeights": "experts.second_order_weights",
    "SleepingExperts": "experts.sleeping_experts",
    "SwapRegret": "experts.swap_regret",
    "WeightedMajority": "experts.weighted_majority",
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
_SUBPACKAGES = (
    "adversaries",
    "errors",
    "experts",
    "hindsight",
    "kernels",
    "linear",
    "losses",
    "sklearn",
    "streams",
    "testing",
)

__all__ = [
    "BOA",
    "EXPERT_ALGORITHMS",
    "LEARNERS",
    "SGD",
    "AdaGrad",
    "AdaHedge",
    "AfterwitError",
    "Assumption",
    "AveragedPerceptron",
    "BalancedWinnow",
    "Certificate",
    "Committee",
    "DualPerceptron",
    "Exp3",
    "ExponentialWeights",
    "FixedShare",
    "KernelPerceptron",
    "Learner",
    "MLpol",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineSVM",
    "Perceptron",
    "PolynomialWeights",
    "RandomizedWeightedMajority",
    "Record",
    "RepeatLastLabel",
    "SecondOrderWeights",
    "SleepingExperts",
    "SoftThresholdNetwork",
    "SparseRow",
    "SwapRegret",
    "Theorem",
    "VotedPerceptron",
    "WeightedMajority",
    "Winnow",
    "adversaries",
    "compiled",
    "errors",
    "experts",
    "hindsight",
    "kernels",
    "load",
    "losses",
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
