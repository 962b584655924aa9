"""Hindsight: the best comparator, found afterwards."""

from afterwit.hindsight.comparator import Comparator
from afterwit.hindsight.max_margin import max_margin
from afterwit.hindsight.min_hinge import min_hinge
from afterwit.hindsight.svm import svm

__all__ = ["Comparator", "max_margin", "min_hinge", "svm"]
