"""Every learner by name, found by where its file is: no list to keep.

One algorithm, one file: the class ``OnlineSVM`` is in ``online_svm.py`` of one of the families below, and its name on
the command line and in scikit-learn is ``online-svm``. What a class is for, its ``role`` says:

    classifier   learns labels from examples, one at a time
    regressor    learns numbers from examples, one at a time
    decisions    chooses an expert or a path in each round, and learns what each would have cost
    experts      makes one forecast of many
    portfolios   divides wealth among assets before each round, and learns how prices have changed
    batch        learns a whole sample at once
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

from afterwit.core.declared import REQUIRED
from afterwit.errors import invalid

#: The packages whose files each hold one learner (or help those that do).
FAMILIES = ("linear", "experts", "kernels", "networks", "concepts", "boosting", "portfolios", "reductions")
ROOT = Path(__file__).resolve().parent.parent
ROLES = ("classifier", "regressor", "decisions", "experts", "portfolios", "batch")


@cache
def _modules() -> dict[str, str]:
    """The file of each possible learner: ``onlinesvm`` -> ``linear.online_svm``."""
    return {
        module.name.replace("_", ""): f"{family}.{module.name}"
        for family in FAMILIES
        for module in pkgutil.iter_modules([str(ROOT / family)])
        if not module.name.startswith("_")
    }


def find(name: str) -> Any:
    """The learner class of that name, or None. Imports its file and no other."""
    module = _modules().get(name.lower())
    kind = None if module is None else getattr(importlib.import_module(f"afterwit.{module}"), name, None)
    return kind if isinstance(kind, type) and hasattr(kind, "role") else None


@cache
def _by_role() -> dict[str, dict[str, Any]]:
    """Every learner class by its role and its name. Imports all of them."""
    found: dict[str, dict[str, Any]] = {role: {} for role in ROLES}
    for key, path in _modules().items():
        module = importlib.import_module(f"afterwit.{path}")
        for name, kind in vars(module).items():
            if name.lower() == key and isinstance(kind, type) and hasattr(kind, "role"):
                found[kind.role][name] = kind
    return found


def classes(*roles: str) -> dict[str, Any]:
    """The learner classes of these roles by name, in alphabetical order."""
    found = _by_role()
    return dict(sorted(pair for role in roles for pair in found[role].items()))


def command_name(kind: Any) -> str:
    """The name of a class as it is asked for by name: ``averaged-perceptron``."""
    return str(kind.__module__.rpartition(".")[2].replace("_", "-"))


def learner_names() -> dict[str, str]:
    """Name -> class, for every classifier of two labels that takes any numbers and needs no option."""
    return {command_name(kind): name for name, kind in classes("classifier").items() if _is_ready(kind)}


def many_label_names() -> dict[str, str]:
    """Name -> class, for every such classifier of many labels, unless it is made of others."""
    kinds = classes("classifier").items()
    return {
        command_name(kind): name
        for name, kind in kinds
        if _needs_nothing(kind) and kind.many_labels and "learner" not in options_of(kind)
    }


def classifier_names() -> dict[str, str]:
    """Both: name -> class, for every classifier that its name alone makes."""
    return {**learner_names(), **many_label_names()}


def _is_ready(kind: Any) -> bool:
    return _needs_nothing(kind) and not kind.many_labels


def _needs_nothing(kind: Any) -> bool:
    return kind.takes == "numbers" and all(default is not REQUIRED for default in options_of(kind).values())


def by_command_name(name: str) -> Any:
    """The learner class that is asked for by that name, or None. Imports its file and no other."""
    module = _modules().get(name.replace("-", "")) if name == name.lower() and "_" not in name else None
    if module is None:
        return None
    found = importlib.import_module(f"afterwit.{module}")
    wanted = name.replace("-", "")
    kinds = (kind for key, kind in vars(found).items() if key.lower() == wanted and isinstance(kind, type))
    kind = next((each for each in kinds if hasattr(each, "role")), None)
    return kind if kind is not None and command_name(kind) == name else None


def makes_itself(kind: Any) -> bool:
    """Whether it learns rows of numbers, and its name alone makes one."""
    if kind.role == "regressor":
        return _needs_nothing(kind)
    return (
        kind.role == "classifier" and _needs_nothing(kind) and not (kind.many_labels and "learner" in options_of(kind))
    )


def learner_class(name: Any, parameter: str = "learner") -> Any:
    """The class of that name."""
    return _named(name, parameter, learner_names())


def classifier_class(name: Any, parameter: str = "learner") -> Any:
    """The class of that name, of two labels or of many."""
    return _named(name, parameter, classifier_names())


def regressor_names() -> dict[str, str]:
    """Name -> class, for every regressor that its name alone makes."""
    return {command_name(kind): name for name, kind in classes("regressor").items() if _needs_nothing(kind)}


def regressor_class(name: Any, parameter: str = "learner") -> Any:
    """The class of that name."""
    return _named(name, parameter, regressor_names())


def expert_algorithm_names() -> dict[str, str]:
    """Name -> class, for every algorithm that makes one forecast of many and needs only to know how many."""
    ready = (kind for kind in classes("experts").values() if kind.sees_all and "n_experts" in options_of(kind))
    return {command_name(kind): kind.__name__ for kind in ready}


def expert_algorithm_class(name: Any, parameter: str = "algorithm") -> Any:
    """The class of that name."""
    return _named(name, parameter, expert_algorithm_names())


def _named(name: Any, parameter: str, names: dict[str, str]) -> Any:
    if not isinstance(name, str) or name not in names:
        raise invalid(parameter, f"one of {', '.join(sorted(names))}", name)
    return find(names[name])


def options_of(kind: Any) -> dict[str, Any]:
    """The options a learner can be made with, and their defaults; labels are not among them."""
    declared = inspect.signature(kind).parameters
    return {name: parameter.default for name, parameter in declared.items() if name != "labels"}
