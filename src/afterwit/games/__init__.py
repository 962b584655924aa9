"""Zero-sum games, and boosting: learning where the other side learns too."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from afterwit.games.solution import GameSolution
from afterwit.games.solve import METHODS, solve_game

if TYPE_CHECKING:
    from afterwit.boosting import (
        Boosting,
        BoostingRecord,
        DecisionStump,
        all_stumps,
        minimax_margin,
        rounds_needed,
    )

__all__ = [
    "METHODS",
    "Boosting",
    "BoostingRecord",
    "DecisionStump",
    "GameSolution",
    "all_stumps",
    "minimax_margin",
    "rounds_needed",
    "solve_game",
]


def __getattr__(name: str) -> Any:
    """Boosting is a game, but a package of its own, which imports this one."""
    if name not in __all__:
        raise AttributeError(f"module 'afterwit.games' has no attribute {name!r}")
    return getattr(importlib.import_module("afterwit.boosting"), name)
