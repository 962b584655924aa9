"""The learners as scikit-learn classifiers."""

from afterwit.interop.sklearn import OnlineClassifier

__all__ = ["OnlineClassifier"]
