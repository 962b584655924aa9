"""Hindsight: the best comparator, found afterwards."""

from afterwit.hindsight.best_constant_rebalancing import ConstantRebalancing, best_constant_rebalancing
from afterwit.hindsight.best_convex_combination import Mixture, best_convex_combination
from afterwit.hindsight.best_expert import BestExpert, best_expert
from afterwit.hindsight.best_linear import LinearCombination, best_linear
from afterwit.hindsight.best_shifting import Segment, ShiftingSequence, best_shifting
from afterwit.hindsight.comparator import Comparator
from afterwit.hindsight.least_loss import least_loss
from afterwit.hindsight.max_margin import max_margin
from afterwit.hindsight.max_margin_one_norm import max_margin_one_norm
from afterwit.hindsight.min_hinge import min_hinge
from afterwit.hindsight.svm import svm

__all__ = [
    "BestExpert",
    "Comparator",
    "ConstantRebalancing",
    "LinearCombination",
    "Mixture",
    "Segment",
    "ShiftingSequence",
    "best_constant_rebalancing",
    "best_convex_combination",
    "best_expert",
    "best_linear",
    "best_shifting",
    "least_loss",
    "max_margin",
    "max_margin_one_norm",
    "min_hinge",
    "svm",
]
