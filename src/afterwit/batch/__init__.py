"""From online to batch: predictors for new data, with a promise about their error."""

from afterwit.batch.average import average
from afterwit.batch.confidence import ConfidenceSequence, confidence_sequence
from afterwit.batch.controlled_testing import controlled_testing
from afterwit.batch.frozen import FrozenPredictor
from afterwit.batch.kernel_margin import kernel_margin_bound
from afterwit.batch.large_gap import large_gap
from afterwit.batch.penalized_selection import penalized_selection
from afterwit.batch.progressive import progressive_bound
from afterwit.batch.random_stopping import random_stopping

__all__ = [
    "ConfidenceSequence",
    "FrozenPredictor",
    "average",
    "confidence_sequence",
    "controlled_testing",
    "kernel_margin_bound",
    "large_gap",
    "penalized_selection",
    "progressive_bound",
    "random_stopping",
]
