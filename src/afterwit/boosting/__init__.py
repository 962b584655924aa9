"""Boosting: weak learners, made strong by the game they play against the examples."""

from afterwit.boosting.boosting import Boosting, BoostingRecord, rounds_needed
from afterwit.boosting.decision_stump import DecisionStump, all_stumps
from afterwit.boosting.minimax_margin import minimax_margin

__all__ = ["Boosting", "BoostingRecord", "DecisionStump", "all_stumps", "minimax_margin", "rounds_needed"]
