"""Learners by name, as they are asked for on the command line and in scikit-learn: ``averaged-perceptron``."""

from __future__ import annotations

import inspect
import re
from typing import Any

import afterwit
from afterwit.errors import invalid

#: Learners that cannot be asked for by name: of many labels, of paths, over a class to be given, of 0 and 1 only.
_APART = (
    "FollowThePerturbedLeader",
    "GeneralizedHalving",
    "Halving",
    "OneVsRest",
    "OnlineDisjunction",
    "OnlineShortestPath",
    "StandardOptimalAlgorithm",
    "WinnowDisjunction",
)


def learner_names() -> dict[str, str]:
    """Name -> class, for every learner of two labels that takes any numbers."""
    return {_kebab(name): name for name in afterwit.LEARNERS if name not in _APART}


def learner_class(name: Any, parameter: str = "learner") -> Any:
    """The class of that name."""
    names = learner_names()
    if not isinstance(name, str) or name not in names:
        raise invalid(parameter, f"one of {', '.join(sorted(names))}", name)
    return getattr(afterwit, names[name])


def expert_algorithm_names() -> dict[str, str]:
    """Name -> class, for every algorithm that makes one forecast of many."""
    others = ("Exp3", "SwapRegret")
    return {_kebab(name): name for name in afterwit.EXPERT_ALGORITHMS if name not in others}


def expert_algorithm_class(name: Any, parameter: str = "algorithm") -> Any:
    """The class of that name."""
    names = expert_algorithm_names()
    if not isinstance(name, str) or name not in names:
        raise invalid(parameter, f"one of {', '.join(sorted(names))}", name)
    return getattr(afterwit, names[name])


def options_of(kind: Any) -> dict[str, Any]:
    """The options a learner can be made with, and their defaults; labels are not among them."""
    declared = inspect.signature(kind).parameters
    return {name: parameter.default for name, parameter in declared.items() if name != "labels"}


def _kebab(name: str) -> str:
    """AveragedPerceptron -> averaged-perceptron, OnlineSVM -> online-svm, AdaGrad -> adagrad."""
    special = {"AdaGrad": "adagrad", "AdaHedge": "adahedge", "MLpol": "mlpol"}
    return special.get(name) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
