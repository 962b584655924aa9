"""Online learning with guarantees: what theory promised, what happened, what hindsight would have given."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterwit import (
        adversaries,
        batch,
        bounds,
        concepts,
        errors,
        experts,
        games,
        hindsight,
        kernels,
        losses,
        sklearn,
        streams,
        testing,
    )
    from afterwit.batch.confidence import ConfidenceSequence
    from afterwit.batch.frozen import FrozenPredictor
    from afterwit.certificate import Assumption, Certificate, Theorem
    from afterwit.concepts.disjunction_learner import DisjunctionLearner
    from afterwit.concepts.generalized_halving import GeneralizedHalving
    from afterwit.concepts.halving import Halving
    from afterwit.concepts.id3 import ID3
    from afterwit.concepts.online_disjunction import OnlineDisjunction
    from afterwit.concepts.standard_optimal import StandardOptimalAlgorithm
    from afterwit.concepts.winnow_disjunction import WinnowDisjunction
    from afterwit.errors import AfterwitError
    from afterwit.experts.adahedge import AdaHedge
    from afterwit.experts.boa import BOA
    from afterwit.experts.committee import Committee
    from afterwit.experts.exp3 import Exp3
    from afterwit.experts.exponential_weights import ExponentialWeights
    from afterwit.experts.fixed_share import FixedShare
    from afterwit.experts.follow_the_perturbed_leader import FollowThePerturbedLeader
    from afterwit.experts.mlpol import MLpol
    from afterwit.experts.online_shortest_path import OnlineShortestPath
    from afterwit.experts.polynomial_weights import PolynomialWeights
    from afterwit.experts.randomized_weighted_majority import RandomizedWeightedMajority
    from afterwit.experts.repeat_last_label import RepeatLastLabel
    from afterwit.experts.second_order_weights import SecondOrderWeights
    from afterwit.experts.sleeping_experts import SleepingExperts
    from afterwit.experts.swap_regret import SwapRegret
    from afterwit.experts.weighted_majority import WeightedMajority
    from afterwit.games.boosting import Boosting
    from afterwit.games.decision_stump import DecisionStump
    from afterwit.games.solution import GameSolution
    from afterwit.games.solve import solve_game
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
    "FollowThePerturbedLeader",
    "GeneralizedHalving",
    "Halving",
    "KernelPerceptron",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineDisjunction",
    "OnlineSVM",
    "OnlineShortestPath",
    "Perceptron",
    "RepeatLastLabel",
    "SGD",
    "SoftThresholdNetwork",
    "StandardOptimalAlgorithm",
    "VotedPerceptron",
    "Winnow",
    "WinnowDisjunction",
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

#: Classes that `load` may build besides the learners: they learn all rows at once.
_BATCH_LEARNERS = (
    "Boosting",
    "DecisionStump",
    "DisjunctionLearner",
    "ID3",
)

_HOMES = {
    "ConfidenceSequence": "batch.confidence",
    "FrozenPredictor": "batch.frozen",
    "Assumption": "certificate",
    "Certificate": "certificate",
    "Theorem": "certificate",
    "DisjunctionLearner": "concepts.disjunction_learner",
    "GeneralizedHalving": "concepts.generalized_halving",
    "Halving": "concepts.halving",
    "ID3": "concepts.id3",
    "OnlineDisjunction": "concepts.online_disjunction",
    "StandardOptimalAlgorithm": "concepts.standard_optimal",
    "WinnowDisjunction": "concepts.winnow_disjunction",
    "AfterwitError": "errors",
    "AdaHedge": "experts.adahedge",
    "BOA": "experts.boa",
    "Committee": "experts.committee",
    "Exp3": "experts.exp3",
    "ExponentialWeights": "experts.exponential_weights",
    "FixedShare": "experts.fixed_share",
    "FollowThePerturbedLeader": "experts.follow_the_perturbed_leader",
    "MLpol": "experts.mlpol",
    "OnlineShortestPath": "experts.online_shortest_path",
    "PolynomialWeights": "experts.polynomial_weights",
    "RandomizedWeightedMajority": "experts.randomized_weighted_majority",
    "RepeatLastLabel": "experts.repeat_last_label",
    "SecondOrderWeights": "experts.second_order_weights",
    "SleepingExperts": "experts.sleeping_experts",
    "SwapRegret": "experts.swap_regret",
    "WeightedMajority": "experts.weighted_majority",
    "Boosting": "games.boosting",
    "DecisionStump": "games.decision_stump",
    "GameSolution": "games.solution",
    "solve_game": "games.solve",
    "SparseRow": "linear._rows",
    "AdaGrad": "linear.adagrad",
    "AveragedPerceptron": "linear.averaged_perceptron",
    "BalancedWinnow": "linear.balanced_winnow",
    "DualPerceptron": "linear.dual_perceptron",
    "KernelPerceptron": "linear.kernel_perceptron",
    "MarginPerceptron": "linear.margin_perceptron",
    "OneVsRest": "linear.one_vs_rest",
    "OnlineSVM": "linear.online_svm",
    "Perceptron": "linear.perceptron",
    "SGD": "linear.sgd",
    "SoftThresholdNetwork": "linear.soft_threshold_network",
    "VotedPerceptron": "linear.voted_perceptron",
    "Winnow": "linear.winnow",
    "Learner": "protocol",
    "Record": "protocol",
    "play": "protocol",
    "load": "storage",
    "save": "storage",
}
_SUBPACKAGES = (
    "adversaries",
    "batch",
    "bounds",
    "concepts",
    "errors",
    "experts",
    "games",
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
    "ID3",
    "LEARNERS",
    "SGD",
    "AdaGrad",
    "AdaHedge",
    "AfterwitError",
    "Assumption",
    "AveragedPerceptron",
    "BalancedWinnow",
    "Boosting",
    "Certificate",
    "Committee",
    "ConfidenceSequence",
    "DecisionStump",
    "DisjunctionLearner",
    "DualPerceptron",
    "Exp3",
    "ExponentialWeights",
    "FixedShare",
    "FollowThePerturbedLeader",
    "FrozenPredictor",
    "GameSolution",
    "GeneralizedHalving",
    "Halving",
    "KernelPerceptron",
    "Learner",
    "MLpol",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineDisjunction",
    "OnlineSVM",
    "OnlineShortestPath",
    "Perceptron",
    "PolynomialWeights",
    "RandomizedWeightedMajority",
    "Record",
    "RepeatLastLabel",
    "SecondOrderWeights",
    "SleepingExperts",
    "SoftThresholdNetwork",
    "SparseRow",
    "StandardOptimalAlgorithm",
    "SwapRegret",
    "Theorem",
    "VotedPerceptron",
    "WeightedMajority",
    "Winnow",
    "WinnowDisjunction",
    "adversaries",
    "batch",
    "bounds",
    "compiled",
    "concepts",
    "errors",
    "experts",
    "games",
    "hindsight",
    "kernels",
    "load",
    "losses",
    "play",
    "save",
    "sklearn",
    "solve_game",
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
    """Whether the package runs as native code."""
    # Either all modules are compiled or none: what the compiled ones share tells, without importing any.
    return importlib.util.find_spec("afterwit._cyutility") is not None
