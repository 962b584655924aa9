"""Zero-sum games, and boosting: learning where the other side learns too."""

from afterwit.games.boosting import Boosting, BoostingRecord, rounds_needed
from afterwit.games.decision_stump import DecisionStump, all_stumps
from afterwit.games.minimax_margin import minimax_margin
from afterwit.games.solution import GameSolution
from afterwit.games.solve import METHODS, solve_game

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
