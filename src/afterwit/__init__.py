"""Online learning with guarantees: what theory promised, what happened, what hindsight would have given."""

from __future__ import annotations

import importlib.util
from typing import Any

from afterwit.core.version import VERSION

__version__ = VERSION

#: Where public names live that are not learners; learners are found by `afterwit.core.registry`.
_HOMES = {
    "AfterwitError": "errors",
    "Assumption": "core.certificate",
    "Certificate": "core.certificate",
    "ConfidenceSequence": "batch.confidence",
    "FrozenPredictor": "batch.frozen",
    "GameSolution": "games.solution",
    "Learner": "core.protocol",
    "Model": "streams.model",
    "PerGroup": "reductions.per_group",
    "Race": "races.race",
    "Record": "core.record",
    "RegressionRecord": "core.regression_record",
    "Schema": "streams.schema",
    "SparseRow": "data.rows",
    "Theorem": "core.theorem",
    "load": "core.storage",
    "play": "core.protocol",
    "race": "races.race",
    "read": "streams.read",
    "read_libsvm": "streams.matrix",
    "save": "core.storage",
    "solve_game": "games.solve",
}
#: Public modules.
_MODULES = (
    "adversaries",
    "batch",
    "boosting",
    "bounds",
    "cluster",
    "concepts",
    "errors",
    "experts",
    "games",
    "hindsight",
    "kernels",
    "linear",
    "losses",
    "portfolios",
    "reductions",
    "sampling",
    "sklearn",
    "storage",
    "streams",
    "testing",
)
#: Names that are computed: learners, regressors, expert algorithms, all public names, whether the package is compiled.
_COMPUTED = ("EXPERT_ALGORITHMS", "LEARNERS", "REGRESSORS", "__all__", "compiled")


def __getattr__(name: str) -> Any:
    """Import each public name when it is first used, so that ``import afterwit`` is quick."""
    value: Any
    if name in _HOMES:
        value = getattr(importlib.import_module(f"afterwit.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"afterwit.{name}")
    elif name in _COMPUTED:
        value = _computed(name)
    else:
        from afterwit.core import registry

        value = None if name.startswith("_") else registry.find(name)
        if value is None:
            raise AttributeError(f"module 'afterwit' has no attribute {name!r}")
    globals()[name] = value
    return value


def _computed(name: str) -> Any:
    if name == "compiled":
        # Either all modules are compiled or none: what the compiled ones share tells, without importing any.
        return importlib.util.find_spec("afterwit._cyutility") is not None
    from afterwit.core import registry

    if name == "LEARNERS":
        return tuple(registry.classes("classifier", "decisions"))
    if name == "REGRESSORS":
        return tuple(registry.classes("regressor"))
    if name == "EXPERT_ALGORITHMS":
        return tuple(registry.classes("experts"))
    return sorted({*_HOMES, *_MODULES, *_COMPUTED, *registry.classes(*registry.ROLES)} - {"__all__"})


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
