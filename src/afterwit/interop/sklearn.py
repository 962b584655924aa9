"""The learners as estimators of scikit-learn: a classifier and a regressor.

`OnlineClassifier` and `OnlineRegressor` take a learner by its name, with its options, and behave as scikit-learn's
estimators do: in pipelines, in searches over parameters, in cross-validation. With more than two classes a classifier
is one against the rest, unless the learner is one of many labels; a committee becomes a `MulticlassCommittee`. The
learner itself is ``learner_``, and what was promised about its run is ``certificate(X, y)``.

>>> from sklearn.datasets import load_diabetes, load_digits
>>> X, y = load_digits(return_X_y=True)
>>> classifier = OnlineClassifier("perceptron", rate=0.5).fit(X, y == 8)
>>> classifier
OnlineClassifier(learner='perceptron', rate=0.5)
>>> classifier.learner_
Perceptron(rate=0.5, labels=(False, True)): 8,985 rounds, 621 mistakes
>>> certificate = classifier.certificate(X, y == 8)
>>> str(certificate.verdict), certificate.observed, certificate.bound > certificate.observed
('holds', 621, True)

>>> X, y = load_diabetes(return_X_y=True)
>>> regressor = OnlineRegressor("online-ridge", penalty=0.1, passes=1, shuffle=False).fit(X, y)
>>> regressor.learner_
OnlineRidge(penalty=0.1, intercept=True): 442 rounds, RMSE 59.31
>>> certificate = regressor.certificate(X, y)
>>> str(certificate.verdict), certificate.bound > certificate.observed
('holds', True)
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from afterwit.core.probabilities import refusal
from afterwit.core.registry import (
    classifier_class,
    classifier_names,
    many_label_names,
    regressor_class,
    regressor_names,
)
from afterwit.errors import AfterwitError, Words, invalid, shorten
from afterwit.interop._estimator import OnlineEstimator
from afterwit.reductions._weighting import MIXTURE
from afterwit.reductions.committee import Committee
from afterwit.reductions.multiclass_committee import MulticlassCommittee
from afterwit.reductions.one_vs_rest import OneVsRest

__all__ = ["OnlineClassifier", "OnlineRegressor"]


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """A learner of this package in scikit-learn's form.

    learner       a name, such as "committee" or "averaged-perceptron" (the class in `afterwit.LEARNERS`, in lower case
                  with hyphens), or "multiclass-perceptron" and its like; or such a learner itself, or its class
    passes        how often ``fit`` learns the examples, always in the same order. None is 5 times, but once for a
                  committee: its members are weighed by examples that are new to them
    shuffle       whether ``fit`` learns them in a random order (data sets are often sorted by class), or as they come
    random_state  the order: a seed, a generator of numpy's, or None for another one each time
    options       the learner's own, by name: ``OnlineClassifier("perceptron", rate=0.5)``. Any other is refused.

    Fitted: ``classes_``, ``n_features_in_``, ``feature_names_in_``, ``learner_`` (for more than two classes a
    `OneVsRest` or, of a committee, a `MulticlassCommittee`, unless the learner is one of many labels), ``order_`` (the
    order in which ``fit`` learned the rows; None if they came by ``partial_fit``).
    """

    # All weights positive, or no look at the examples.
    narrow: ClassVar[tuple[str, ...]] = ("RepeatLastLabel", "Winnow")

    def __init__(
        self,
        learner: Any = "committee",
        *,
        passes: Any = None,
        shuffle: Any = True,
        random_state: Any = 0,
        **options: Any,
    ) -> None:
        super().__init__(learner, passes, shuffle, random_state, options)

    def _kind(self) -> Any:
        if isinstance(self.learner, str):
            return classifier_class(self.learner) if self.learner in classifier_names() else None
        kind = self.learner if isinstance(self.learner, type) else type(self.learner)
        if getattr(kind, "many_labels", False):
            return kind if kind.__name__ in many_label_names().values() else None
        return kind if hasattr(kind, "learn_many") and hasattr(kind, "score_many") else None

    def _known(self) -> list[str]:
        return list(classifier_names())

    def __getattr__(self, name: str) -> Any:
        if name == "predict_proba":
            self._gives_probabilities()
        return super().__getattr__(name)

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any) -> OnlineClassifier:
        """Learn the examples from the start, ``passes`` times."""
        passes = self._checked_passes()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self._begin(np.unique(y))
        self._learn(X, y, passes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> OnlineClassifier:
        """Go on learning: these examples, once, in this order. The first call must name all ``classes``."""
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise invalid("classes", "all the classes there will be, on the first call to partial_fit", classes)
        if not first and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise invalid("classes", f"those of the first call, {shorten(self.classes_.tolist())}", classes)
        if first:
            self._make()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        check_classification_targets(y)
        if first:
            self._begin(np.unique(classes))
            self.order_ = None
        self.learner_.learn_many(X, y)
        return self

    def _begin(self, classes: npt.NDArray[Any]) -> None:
        if len(classes) < 2:
            raise invalid("y", "labels of two or more classes", Words(f"one class, {classes.tolist()}"))
        learner = self._make()
        labels = tuple(classes.tolist())
        if len(labels) == 2 or learner.many_labels:
            self.learner_ = type(learner)(**{**learner.parameters, "labels": labels})
        elif isinstance(learner, Committee):
            parameters = {name: value for name, value in learner.parameters.items() if value != MIXTURE}
            self.learner_ = MulticlassCommittee(**{**parameters, "labels": labels})
        else:
            self.learner_ = OneVsRest(learner, labels=labels)
        self.classes_ = classes

    # ------------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores: for two classes one number, positive for the second; for more a column for each."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1:] == (2,) else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of every row."""
        scores = self._scores(X)
        codes = (scores >= 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        predictions: npt.NDArray[Any] = self.classes_[codes]
        return predictions

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        X = self._rows(X)
        scores: npt.NDArray[np.float64] = self.learner_.score_many(X)
        return scores

    @available_if(lambda self: self._gives_probabilities())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of every class, a column for each. Only with learners that give probabilities."""
        X = self._rows(X)
        found: npt.NDArray[np.float64] = self.learner_.predict_proba_many(X)
        return found

    def _gives_probabilities(self) -> bool:
        """Whether there is ``predict_proba``; if not, the AttributeError says why."""
        try:
            learner = self.learner_ if "learner_" in vars(self) else self._make()
        except AfterwitError as error:
            raise AttributeError(str(error)) from error
        if not getattr(learner, "gives_probabilities", False):
            raise AttributeError(str(refusal(learner)))
        return True

    def certificate(self, X: Any, y: Any) -> Any:
        """What was promised, what happened and what hindsight would have given, for the X, y that were fitted."""
        return self._certificate(X, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._is_narrow()
        return tags


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """A regressor of this package in scikit-learn's form.

    learner       a name, such as "online-ridge" or "adagrad-regressor" (the class in `afterwit.REGRESSORS`, in lower
                  case with hyphens); or such a learner itself, or its class
    passes        how often ``fit`` learns the examples, always in the same order. None is 5 times, but once for a
                  committee: its members are weighed by examples that are new to them
    shuffle       whether ``fit`` learns them in a random order (data sets are often sorted), or as they come
    random_state  the order: a seed, a generator of numpy's, or None for another one each time
    options       the learner's own, by name: ``OnlineRegressor("online-ridge", penalty=0.1)``. Any other is refused.

    Fitted: ``n_features_in_``, ``feature_names_in_``, ``learner_``, ``order_`` (the order in which ``fit`` learned the
    rows; None if they came by ``partial_fit``).
    """

    # No look at the examples.
    narrow: ClassVar[tuple[str, ...]] = ("RepeatLastTarget",)

    def __init__(
        self,
        learner: Any = "online-ridge",
        *,
        passes: Any = None,
        shuffle: Any = True,
        random_state: Any = 0,
        **options: Any,
    ) -> None:
        super().__init__(learner, passes, shuffle, random_state, options)

    def _kind(self) -> Any:
        if isinstance(self.learner, str):
            return regressor_class(self.learner) if self.learner in regressor_names() else None
        kind = self.learner if isinstance(self.learner, type) else type(self.learner)
        return kind if getattr(kind, "role", "") == "regressor" else None

    def _known(self) -> list[str]:
        return list(regressor_names())

    def fit(self, X: Any, y: Any) -> OnlineRegressor:
        """Learn the examples from the start, ``passes`` times."""
        passes = self._checked_passes()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self.learner_ = self._make()
        self._learn(X, y, passes)
        return self

    def partial_fit(self, X: Any, y: Any) -> OnlineRegressor:
        """Go on learning: these examples, once, in this order."""
        first = not hasattr(self, "learner_")
        learner = self._make() if first else self.learner_
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, reset=first)
        if first:
            self.learner_ = learner
            self.order_ = None
        self.learner_.learn_many(X, y)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The number for every row."""
        X = self._rows(X)
        predictions: npt.NDArray[np.float64] = self.learner_.predict_many(X)
        return predictions

    def certificate(self, X: Any, y: Any) -> Any:
        """What was promised, what happened and what hindsight would have given, for the X, y that were fitted."""
        return self._certificate(X, y, y_numeric=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._is_narrow()
        return tags
