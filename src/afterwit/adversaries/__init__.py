"""Adversaries: streams that make theorems bite."""

from afterwit.adversaries.alternating_prefixes import alternating_prefixes
from afterwit.adversaries.drifting import drifting
from afterwit.adversaries.label_noise import label_noise
from afterwit.adversaries.separable import separable
from afterwit.adversaries.unit_vectors import unit_vectors

__all__ = ["alternating_prefixes", "drifting", "label_noise", "separable", "unit_vectors"]
