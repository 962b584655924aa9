"""Bounds on the error of rules made from an online run, as functions of numbers or arrays, which broadcast.

>>> round(progressive(mean_loss=0.1, rounds=10_000, delta=0.05), 6)
0.124477
>>> random_stopping_sample_size(mistakes=100, error=0.05), large_gap_sample_size(mistakes=100, error=0.05, delta=0.05)
(2000, 21072)
"""

from afterwit.bounds._collection import SAMPLE_SIZES, formula

progressive = formula("progressive", "mean_loss", "rounds", "delta", "loss_range")
progressive_sample_size = formula("progressive", "gap", "delta", "loss_range", among=SAMPLE_SIZES)
average_excess = formula("average-excess", "regret", "rounds", "delta", "loss_range")
penalized_selection = formula("penalized-selection", "mean_loss", "rounds", "delta")
kernel_perceptron_margin = formula("kernel-perceptron-margin", "mean_hinge", "kernel_sum", "rho", "rounds", "delta")
random_stopping = formula("random-stopping", "mistakes", "samples")
random_stopping_sample_size = formula("random-stopping", "mistakes", "error", among=SAMPLE_SIZES)
large_gap = formula("large-gap", "mistake", "error", "delta")
large_gap_sample_size = formula("large-gap", "mistakes", "error", "delta", among=SAMPLE_SIZES)
controlled_testing = formula("controlled-testing", "hypothesis", "error", "delta")


def progressive_gap(rounds: object, delta: object, loss_range: object = 1.0) -> object:
    """What the mean risk may lie above the mean loss."""
    return progressive(0.0, rounds, delta, loss_range)


__all__ = [
    "average_excess",
    "controlled_testing",
    "kernel_perceptron_margin",
    "large_gap",
    "large_gap_sample_size",
    "penalized_selection",
    "progressive",
    "progressive_gap",
    "progressive_sample_size",
    "random_stopping",
    "random_stopping_sample_size",
]
