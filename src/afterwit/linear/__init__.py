"""Linear classifiers: one file per algorithm, the shared loops in ``_engine``."""

from afterwit.linear.perceptron import Perceptron

__all__ = ["Perceptron"]
