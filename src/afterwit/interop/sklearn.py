"""The learners as a scikit-learn classifier.

`OnlineClassifier` takes a learner by its name, with its options, and behaves as scikit-learn's estimators do: in
pipelines, in searches over parameters, in cross-validation. With more than two classes it is one against the rest,
unless the learner is one of many labels; a committee becomes a `MulticlassCommittee`. The learner itself is
``learner_``, and what was promised about its run is ``certificate(X, y)``.

>>> from sklearn.datasets import load_digits
>>> X, y = load_digits(return_X_y=True)
>>> classifier = OnlineClassifier("perceptron", rate=0.5).fit(X, y == 8)
>>> classifier
OnlineClassifier(learner='perceptron', rate=0.5)
>>> classifier.learner_
Perceptron(rate=0.5, labels=(False, True)): 8,985 rounds, 621 mistakes
>>> certificate = classifier.certificate(X, y == 8)
>>> str(certificate.verdict), certificate.observed, certificate.bound > certificate.observed
('holds', 621, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from afterwit.core.probabilities import refusal
from afterwit.core.registry import classifier_class, classifier_names, many_label_names, options_of
from afterwit.data import checks
from afterwit.errors import AfterwitError, Words, invalid, shorten, unknown_option
from afterwit.reductions.committee import Committee
from afterwit.reductions.multiclass_committee import MulticlassCommittee
from afterwit.reductions.one_vs_rest import OneVsRest

__all__ = ["OnlineClassifier"]

#: The parameters of the classifier itself.
PARAMETERS = ("learner", "passes", "shuffle", "random_state")
#: Learners whose rules are too few to fit just any data: all weights positive, or no look at the examples.
NARROW = ("RepeatLastLabel", "Winnow")


class OnlineClassifier(ClassifierMixin, BaseEstimator):
    """A learner of this package in scikit-learn's form.

    learner       a name, such as "averaged-perceptron" or "winnow" (the class in `afterwit.LEARNERS`, in lower case
                  with hyphens), or "multiclass-perceptron" and its like; or such a learner itself, or its class
    passes        how often ``fit`` learns the examples, always in the same order
    shuffle       whether ``fit`` learns them in a random order (data sets are often sorted by class), or as they come
    random_state  the order: a seed, a generator of numpy's, or None for another one each time
    options       the learner's own, by name: ``OnlineClassifier("perceptron", rate=0.5)``. Any other is refused.

    Fitted: ``classes_``, ``n_features_in_``, ``feature_names_in_``, ``learner_`` (for more than two classes a
    `OneVsRest` or, of a committee, a `MulticlassCommittee`, unless the learner is one of many labels), ``order_`` (the
    order in which ``fit`` learned the rows; None if they came by ``partial_fit``).
    """

    def __init__(
        self,
        learner: Any = "averaged-perceptron",
        *,
        passes: Any = 5,
        shuffle: Any = True,
        random_state: Any = 0,
        **options: Any,
    ) -> None:
        self._options: dict[str, Any] = {}
        self.learner = learner
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        allowed = _defaults(learner)
        if allowed is not None:
            _refuse_strangers(options, allowed, learner)
        self._options.update(options)

    # ------------------------------------------------------------------ parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and the learner's options: with ``deep`` all of them, otherwise those that were given."""
        params: dict[str, Any] = super().get_params(deep=False)
        defaults = _defaults(self.learner) if deep else None
        return {**params, **(defaults or {}), **self._options}

    def set_params(self, **params: Any) -> OnlineClassifier:
        """Set parameters and options of the learner; if ``learner`` is among them, options are the new one's."""
        if "learner" in params:
            self.learner = params.pop("learner")
        super().set_params(**params)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        """What is neither a parameter nor learned is an option; ``fit`` refuses those the learner does not have."""
        if name.startswith("_") or name.endswith("_") or name in self._get_param_names():
            super().__setattr__(name, value)
        else:
            self._options[name] = value

    def __getattr__(self, name: str) -> Any:
        """An option that was given."""
        options = vars(self).get("_options", {})
        if name in options:
            return options[name]
        if name == "predict_proba":
            self._gives_probabilities()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any) -> OnlineClassifier:
        """Learn the examples from the start, ``passes`` times."""
        passes = checks.count("passes", self.passes)
        checks.flag("shuffle", self.shuffle)
        self._make()  # options are refused before anything is learned
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self._begin(np.unique(y))
        random = check_random_state(self.random_state)
        self.order_ = random.permutation(len(y)) if self.shuffle else np.arange(len(y))
        X, y = X[self.order_], y[self.order_]
        for _ in range(passes):
            self.learner_.learn_many(X, y)
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
            self.learner_ = MulticlassCommittee(**{**learner.parameters, "labels": labels})
        else:
            self.learner_ = OneVsRest(learner, labels=labels)
        self.classes_ = classes

    def _make(self) -> Any:
        """A fresh learner with the options."""
        options, allowed = self._options, _defaults(self.learner)
        if allowed is None:
            known = ", ".join(classifier_names())
            raise invalid("learner", f"one of {known}, or such a learner or its class", self.learner)
        _refuse_strangers(options, allowed, self.learner)
        kind = _kind(self.learner)
        if kind is self.learner or isinstance(self.learner, str):
            return kind(**options)
        return kind(**{**self.learner.parameters, **options})

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
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores: npt.NDArray[np.float64] = self.learner_.score_many(X)
        return scores

    @available_if(lambda self: self._gives_probabilities())  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of every class, a column for each. Only with learners that give probabilities."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
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
        check_is_fitted(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=False)
        if self.order_ is not None and len(self.order_) == len(y):
            X, y = X[self.order_], y[self.order_]
        return self.learner_.certificate(X, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = getattr(_kind(self.learner), "__name__", "") in NARROW
        return tags


def _kind(learner: Any) -> Any:
    """The class of a learner given by name, as a class or as an instance; None if there is none."""
    if isinstance(learner, str):
        return classifier_class(learner) if learner in classifier_names() else None
    kind = learner if isinstance(learner, type) else type(learner)
    if getattr(kind, "many_labels", False):
        return kind if kind.__name__ in many_label_names().values() else None
    return kind if hasattr(kind, "learn_many") and hasattr(kind, "score_many") else None


def _defaults(learner: Any) -> dict[str, Any] | None:
    """A learner's options with their values where none are given; None if there is no such learner."""
    kind = _kind(learner)
    if kind is None:
        return None
    # An option of the name of a parameter, such as the learner of Standardize, is that of the instance given.
    defaults = {name: value for name, value in options_of(kind).items() if name not in PARAMETERS}
    if kind is not learner and not isinstance(learner, str):
        defaults.update({name: value for name, value in learner.parameters.items() if name in defaults})
    return defaults


def _refuse_strangers(options: dict[str, Any], allowed: dict[str, Any], learner: Any) -> None:
    strangers = [name for name in options if name not in allowed]
    if strangers:
        of = learner if isinstance(learner, str) else _kind(learner).__name__
        raise unknown_option(of, strangers[0], allowed)
