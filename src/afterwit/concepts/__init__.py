"""Finite classes of hypotheses, and what can be said of them: dimensions, shattering, optimal mistake bounds."""

from afterwit.concepts.boolean_classes import (
    conjunctions,
    disjunctions,
    monotone_conjunctions,
    monotone_disjunctions,
    parities,
)
from afterwit.concepts.decision_lists import decision_lists
from afterwit.concepts.finite_class import FiniteClass
from afterwit.concepts.littlestone import littlestone_dimension
from afterwit.concepts.ordered_classes import boxes, intervals, thresholds
from afterwit.concepts.shattering import growth_function, is_shattered, vc_dimension

#: The functions that make classes.
READY = (
    "boxes",
    "conjunctions",
    "decision_lists",
    "disjunctions",
    "intervals",
    "monotone_conjunctions",
    "monotone_disjunctions",
    "parities",
    "thresholds",
)

__all__ = [
    "FiniteClass",
    "boxes",
    "conjunctions",
    "decision_lists",
    "disjunctions",
    "growth_function",
    "intervals",
    "is_shattered",
    "littlestone_dimension",
    "monotone_conjunctions",
    "monotone_disjunctions",
    "parities",
    "thresholds",
    "vc_dimension",
]
