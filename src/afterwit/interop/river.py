"""What River asks of a model, without importing River: a learner that is asked for such an attribute looks here.

River learns what kind of model an object is with ``isinstance(model, river.base.Classifier)``. For an object it does
not know it looks at the attribute ``_last_step``, by which it sees through its own pipelines; there it finds an empty
classifier or regressor of its own kind. Nothing is registered, nothing is imported that has not been, and the order of
imports does not matter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

#: River's checks that do not apply to the learners here, and why.
SKIPPED_CHECKS = {
    "check_mutate_can_be_idempotent": "a learner's options are fixed when it is made; clone makes one with others",
    "check_shuffle_features_no_impact": "a score is summed in the order of the dict; where it is 0 but for rounding, "
    "the order decides",
}
#: The same for learners that give no probabilities.
SKIPPED_WITHOUT_PROBABILITIES = {
    "check_debug_one": "of a pipeline that ends with a learner: it asks for probabilities, and a score is none",
}


def skipped_checks(learner: Any) -> set[str]:
    """The checks of River that do not apply to a learner."""
    needs_none = is_regressor(learner) or learner.gives_probabilities
    return {*SKIPPED_CHECKS, *(() if needs_none else SKIPPED_WITHOUT_PROBABILITIES)}


def is_regressor(learner: Any) -> bool:
    return bool(type(learner).role == "regressor")


def role(learner: Any) -> Any:
    """An empty classifier or regressor of River's, once River has been imported."""
    if "river.base" not in sys.modules:
        raise AttributeError("_last_step")
    return _empty("Regressor" if is_regressor(learner) else "Classifier")


@cache
def _empty(kind: str) -> Any:
    base = sys.modules["river.base"]
    return type("Role", (getattr(base, kind),), {"learn_one": None, "predict_one": None})()


def memory(value: Any) -> int:
    """The bytes of a learner's state or parameters."""
    size = sys.getsizeof(value)
    if isinstance(value, np.ndarray):
        return size if value.base is None else size + value.nbytes
    if isinstance(value, dict):
        return size + sum(memory(key) + memory(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return size + sum(map(memory, value))
    return size


def _memory_of(learner: Any) -> int:
    return memory(learner.parameters) + memory(learner.state())


#: The attributes that River asks for, as functions of the learner.
HOOKS: dict[str, Callable[[Any], Any]] = {
    "_last_step": role,
    "_supervised": lambda _: True,
    "_multiclass": lambda learner: learner.many_labels,
    "_mutable_attributes": lambda _: (),
    "_tags": lambda _: set(),
    "_is_stochastic": lambda learner: learner.parameters.get("seed", 0) is None,
    "_raw_memory_usage": _memory_of,
    "_memory_usage": lambda learner: f"{_memory_of(learner):,} B",
    "_get_params": lambda learner: lambda: learner.parameters,
    "_unit_test_params": lambda _: lambda: iter([{}]),
    "_unit_test_skips": lambda learner: lambda: skipped_checks(learner),
}
