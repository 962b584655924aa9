"""Adversaries: streams on which the bound of a theorem is reached, or nearly reached."""

from afterwit.adversaries.alternating_prefixes import alternating_prefixes
from afterwit.adversaries.contrary import contrary
from afterwit.adversaries.contrary_disjunction import contrary_disjunction
from afterwit.adversaries.drifting import drifting
from afterwit.adversaries.label_noise import label_noise
from afterwit.adversaries.mistake_tree import mistake_tree
from afterwit.adversaries.separable import separable
from afterwit.adversaries.two_random_experts import two_random_experts
from afterwit.adversaries.unit_vectors import unit_vectors

__all__ = [
    "alternating_prefixes",
    "contrary",
    "contrary_disjunction",
    "drifting",
    "label_noise",
    "mistake_tree",
    "separable",
    "two_random_experts",
    "unit_vectors",
]
