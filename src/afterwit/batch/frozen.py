"""A predictor that has stopped learning, with a promise about its error on new data.

What `average`, `random_stopping`, `large_gap`, `controlled_testing` and `penalized_selection` return. It predicts as
the hypothesis they chose; it never learns, so that its certificate stays true.

>>> from afterwit import Perceptron, adversaries
>>> from afterwit.batch import large_gap
>>> stream = adversaries.separable(2000, 5, margin=0.2, seed=0)
>>> predictor = large_gap(Perceptron(), stream, epsilon=0.05, delta=0.05)
>>> predictor
FrozenPredictor(Perceptron by large_gap): error at most 0.05, with probability 95%
>>> predictor.predict_many(stream.X[:3]).tolist() == stream.y[:3].tolist()
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.batch._rounds import independent_copy, rows_of
from afterwit.batch._theorem import as_data, from_data
from afterwit.core.certificate import Certificate, Verdict
from afterwit.data.values import same_value
from afterwit.errors import InputError, invalid


class FrozenPredictor:
    """One hypothesis of a learner. It does not change any more.

    learner      the learner in the state that predicts; it is copied
    procedure    the name of the function that chose it
    certificate  what is known about its error on new data
    """

    __slots__ = ("_certificate", "_learner", "_procedure")

    def __init__(self, learner: Any, procedure: str, certificate: Any) -> None:
        if isinstance(learner, type) or not hasattr(learner, "predict_one"):
            raise invalid("learner", "a learner, with predict_one", learner)
        if not isinstance(procedure, str):
            raise invalid("procedure", "the name of a function", procedure)
        self._learner = independent_copy(learner)
        self._procedure = procedure
        self._certificate = certificate if isinstance(certificate, Certificate) else from_data(certificate)

    # ------------------------------------------------------------------ predicting

    def predict_one(self, x: Any) -> Any:
        """The label of x."""
        return self._learner.predict_one(x)

    def predict_many(self, X: Any) -> Any:
        """``predict_one`` for every row of X, as an array."""
        if hasattr(self._learner, "predict_many"):
            return self._learner.predict_many(X)
        return np.array([self._learner.predict_one(x) for x in rows_of(X)])

    def score_one(self, x: Any) -> Any:
        """The score behind the prediction."""
        return self._learner.score_one(x)

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
        return self._learner.score_many(X)

    # ------------------------------------------------------------------ what it knows

    @property
    def certificate(self) -> Certificate:
        """The bound on the error on new data, and its assumptions."""
        return self._certificate

    @property
    def procedure(self) -> str:
        """The name of the function that chose it."""
        return self._procedure

    @property
    def learner(self) -> Any:
        """A copy of the learner it predicts with. The copy may learn more; the predictor does not change."""
        return independent_copy(self._learner)

    @property
    def labels(self) -> Any:
        """The labels it predicts, as the learner knows them."""
        labels = self._learner.labels
        return self._learner.classes if labels is None else labels

    # ------------------------------------------------------------------ copying, comparing, saving

    @property
    def parameters(self) -> dict[str, Any]:
        """A fresh learner of the same kind, the procedure and the certificate, for `save`."""
        self._require_storable()
        fresh = type(self._learner)(**self._learner.parameters)
        return {"learner": fresh, "procedure": self._procedure, "certificate": as_data(self._certificate)}

    def state(self) -> dict[str, Any]:
        """All that the learner has learned."""
        self._require_storable()
        state: dict[str, Any] = self._learner.state()
        return state

    def restore(self, state: Any) -> None:
        """Become the predictor whose ``state()`` this was; for `load`."""
        self._learner.restore(state)

    def _require_storable(self) -> None:
        if not all(hasattr(self._learner, part) for part in ("parameters", "state", "restore")):
            raise InputError(f"{type(self._learner).__name__} cannot be saved: it has no parameters, state and restore")

    def __reduce__(self) -> Any:
        return FrozenPredictor, (self._learner, self._procedure, self._certificate)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FrozenPredictor)
            and self._procedure == other._procedure
            and self._certificate == other._certificate
            and same_value(self._learner, other._learner)
        )

    def __hash__(self) -> int:
        return hash((self._procedure, self._certificate.theorem, self._certificate.bound))

    def __repr__(self) -> str:
        certificate = self._certificate
        known = "nothing is known about its error"
        if certificate.bound is not None and certificate.verdict is not Verdict.NOT_APPLICABLE:
            known = f"{certificate.quantity} at most {certificate.bound:.4g}, {certificate.theorem.chance}"
        return f"FrozenPredictor({certificate.subject} by {self._procedure}): {known}"
