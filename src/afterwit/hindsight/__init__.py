"""Hindsight: the best comparator, found afterwards."""

from afterwit.hindsight.comparator import Comparator
from afterwit.hindsight.least_loss import least_loss
from afterwit.hindsight.max_margin import max_margin
from afterwit.hindsight.max_margin_one_norm import max_margin_one_norm
from afterwit.hindsight.min_hinge import min_hinge
from afterwit.hindsight.svm import svm

__all__ = ["Comparator", "least_loss", "max_margin", "max_margin_one_norm", "min_hinge", "svm"]
