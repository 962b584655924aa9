"""Mistake bounds of learners of finite classes, as functions of numbers or arrays, which broadcast.

>>> round(halving(hypotheses=1000), 3), round(winnow_disjunction(features=1000, literals=5), 3)
(9.966, 101.658)
"""

from afterwit.bounds._collection import formula

halving = formula("halving", "hypotheses", "log_hypotheses")
generalized_halving = formula("generalized-halving", "bits")
online_disjunction = formula("online-disjunction", "features")
winnow_disjunction = formula("winnow-disjunction", "features", "literals")
mistakes_any_learner_can_be_forced_to = formula("littlestone-lower", "vc_dimension")

__all__ = [
    "generalized_halving",
    "halving",
    "mistakes_any_learner_can_be_forced_to",
    "online_disjunction",
    "winnow_disjunction",
]
