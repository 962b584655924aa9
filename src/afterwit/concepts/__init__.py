"""Finite classes of hypotheses and what can be said of them; learners of rules that can be read; Radon's theorem."""

from afterwit.concepts.boolean_classes import (
    conjunctions,
    disjunctions,
    monotone_conjunctions,
    monotone_disjunctions,
    parities,
)
from afterwit.concepts.decision_lists import decision_lists
from afterwit.concepts.disjunction_learner import DisjunctionLearner
from afterwit.concepts.finite_class import FiniteClass
from afterwit.concepts.id3 import ID3, information_gain
from afterwit.concepts.littlestone import littlestone_dimension
from afterwit.concepts.ordered_classes import boxes, intervals, thresholds
from afterwit.concepts.radon import RadonPartition, radon_partition
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
    "ID3",
    "DisjunctionLearner",
    "FiniteClass",
    "RadonPartition",
    "boxes",
    "conjunctions",
    "decision_lists",
    "disjunctions",
    "growth_function",
    "information_gain",
    "intervals",
    "is_shattered",
    "littlestone_dimension",
    "monotone_conjunctions",
    "monotone_disjunctions",
    "parities",
    "radon_partition",
    "thresholds",
    "vc_dimension",
]
