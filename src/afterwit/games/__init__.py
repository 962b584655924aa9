"""Zero-sum games, and boosting: learning where the other side learns too."""

from afterwit.games.solution import GameSolution
from afterwit.games.solve import METHODS, solve_game

__all__ = ["METHODS", "GameSolution", "solve_game"]
