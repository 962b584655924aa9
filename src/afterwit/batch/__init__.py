"""Batch learning: predictors for new data with a promise about their error; sample sizes and error bounds."""

from afterwit.batch.average import average
from afterwit.batch.confidence import ConfidenceSequence, confidence_sequence
from afterwit.batch.controlled_testing import controlled_testing
from afterwit.batch.frozen import FrozenPredictor
from afterwit.batch.kernel_margin import kernel_margin_bound
from afterwit.batch.large_gap import large_gap
from afterwit.batch.penalized_selection import penalized_selection
from afterwit.batch.progressive import progressive_bound
from afterwit.batch.random_stopping import random_stopping
from afterwit.sampling import (
    description_delta,
    description_error,
    description_sample_size,
    hoeffding_delta,
    hoeffding_deviation,
    hoeffding_sample_size,
    log_growth_bound,
    majority_vc_dimension,
    occam_delta,
    occam_error,
    occam_sample_size,
    regularised_delta,
    regularised_deviation,
    regularised_sample_size,
    uniform_delta,
    uniform_deviation,
    uniform_sample_size,
    vc_closed_sample_size,
    vc_delta,
    vc_deviation,
    vc_dimension_of_linear_separators,
    vc_error,
    vc_sample_size,
    vc_uniform_delta,
    vc_uniform_sample_size,
)

__all__ = [
    "ConfidenceSequence",
    "FrozenPredictor",
    "average",
    "confidence_sequence",
    "controlled_testing",
    "description_delta",
    "description_error",
    "description_sample_size",
    "hoeffding_delta",
    "hoeffding_deviation",
    "hoeffding_sample_size",
    "kernel_margin_bound",
    "large_gap",
    "log_growth_bound",
    "majority_vc_dimension",
    "occam_delta",
    "occam_error",
    "occam_sample_size",
    "penalized_selection",
    "progressive_bound",
    "random_stopping",
    "regularised_delta",
    "regularised_deviation",
    "regularised_sample_size",
    "uniform_delta",
    "uniform_deviation",
    "uniform_sample_size",
    "vc_closed_sample_size",
    "vc_delta",
    "vc_deviation",
    "vc_dimension_of_linear_separators",
    "vc_error",
    "vc_sample_size",
    "vc_uniform_delta",
    "vc_uniform_sample_size",
]
