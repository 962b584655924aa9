"""The learners as scikit-learn's classifiers and regressors."""

from afterwit.interop.sklearn import OnlineClassifier, OnlineRegressor

__all__ = ["OnlineClassifier", "OnlineRegressor"]
