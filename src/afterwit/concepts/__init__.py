"""Concepts: learners of rules that can be read, and Radon's theorem."""

from afterwit.concepts.disjunction_learner import DisjunctionLearner
from afterwit.concepts.id3 import ID3, information_gain
from afterwit.concepts.radon import RadonPartition, radon_partition

__all__ = ["ID3", "DisjunctionLearner", "RadonPartition", "information_gain", "radon_partition"]
