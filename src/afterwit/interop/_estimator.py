"""What the classifier and the regressor for scikit-learn share: a learner by name with its options as parameters."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from afterwit.core.registry import options_of
from afterwit.data import checks
from afterwit.errors import invalid, unknown_option

#: The parameters of the estimator itself.
PARAMETERS = ("learner", "passes", "shuffle", "random_state")
#: How often the examples are learned if nobody says so; but once by a committee, which weighs its members by examples
#: that are new to them.
USUAL_PASSES = 5


class OnlineEstimator(BaseEstimator):
    """A learner of this package in scikit-learn's form; the options of the learner are parameters too."""

    #: Learners whose rules are too few to fit just any data.
    narrow: ClassVar[tuple[str, ...]] = ()

    def __init__(self, learner: Any, passes: Any, shuffle: Any, random_state: Any, options: dict[str, Any]) -> None:
        self._options: dict[str, Any] = {}
        self.learner = learner
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        allowed = self._defaults()
        if allowed is not None:
            self._refuse_strangers(options, allowed)
        self._options.update(options)

    # ------------------------------------------------------------------ what an estimator defines

    def _kind(self) -> Any:
        """The class of the learner, given by name, as a class or as an instance; None if there is none."""
        raise NotImplementedError

    def _known(self) -> list[str]:
        """The names of the learners there are."""
        raise NotImplementedError

    # ------------------------------------------------------------------ parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and the learner's options: with ``deep`` all of them, otherwise those that were given."""
        params: dict[str, Any] = super().get_params(deep=False)
        defaults = self._defaults() if deep else None
        return {**params, **(defaults or {}), **self._options}

    def set_params(self, **params: Any) -> Any:
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
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _defaults(self) -> dict[str, Any] | None:
        """The learner's options with their values where none are given; None if there is no such learner."""
        kind = self._kind()
        if kind is None:
            return None
        # An option of the name of a parameter, such as the learner of Standardize, is that of the instance given.
        defaults = {name: value for name, value in options_of(kind).items() if name not in PARAMETERS}
        if kind is not self.learner and not isinstance(self.learner, str):
            defaults.update({name: value for name, value in self.learner.parameters.items() if name in defaults})
        return defaults

    def _refuse_strangers(self, options: dict[str, Any], allowed: dict[str, Any]) -> None:
        strangers = [name for name in options if name not in allowed]
        if strangers:
            of = self.learner if isinstance(self.learner, str) else self._kind().__name__
            raise unknown_option(of, strangers[0], allowed)

    def _make(self) -> Any:
        """A fresh learner with the options."""
        options, allowed = self._options, self._defaults()
        if allowed is None:
            known = ", ".join(self._known())
            raise invalid("learner", f"one of {known}, or such a learner or its class", self.learner)
        self._refuse_strangers(options, allowed)
        kind = self._kind()
        if kind is self.learner or isinstance(self.learner, str):
            return kind(**options)
        return kind(**{**self.learner.parameters, **options})

    # ------------------------------------------------------------------ learning

    def _checked_passes(self) -> int:
        """How often ``fit`` is to learn the examples; refuses parameters and options before anything is learned."""
        passes = None if self.passes is None else checks.count("passes", self.passes)
        checks.flag("shuffle", self.shuffle)
        self._make()
        if passes is not None:
            return passes
        return 1 if "learners" in options_of(self._kind()) else USUAL_PASSES

    def _learn(self, X: Any, y: Any, passes: int) -> None:
        """Let ``learner_`` learn the examples, in the order that ``order_`` then has."""
        random = check_random_state(self.random_state)
        self.order_ = random.permutation(len(y)) if self.shuffle else np.arange(len(y))
        X, y = X[self.order_], y[self.order_]
        for _ in range(passes):
            self.learner_.learn_many(X, y)

    def _rows(self, X: Any) -> Any:
        """The examples to predict for."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def _certificate(self, X: Any, y: Any, **how: Any) -> Any:
        check_is_fitted(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=False, **how)
        if self.order_ is not None and len(self.order_) == len(y):
            X, y = X[self.order_], y[self.order_]
        return self.learner_.certificate(X, y)

    def _is_narrow(self) -> bool:
        return getattr(self._kind(), "__name__", "") in self.narrow

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
