# cython: boundscheck=False, wraparound=False, cdivision=True
"""Weights that all shrink at once, in no time: w = scale * v, and only the scale is multiplied.

An addition to w is divided by the scale before it goes into v. When the scale has become very small it is multiplied
into v and starts again at 1; that touches every weight, once in very many rounds.
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.declared import Number

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._engine import LinearLearner


def _is_a_scale(value: float) -> bool:
    return 0 < value <= 1


@cython.cclass
class ScaledLearner(LinearLearner):
    """A linear learner that can multiply all its weights by one factor."""

    kept = (Number("scale", _is_a_scale, "above 0 and at most 1"),)

    def _begin(self) -> None:
        self._scale = 1.0
        LinearLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        return self._scale * self.dot()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shrink(self, factor: cython.double) -> cython.void:
        """Multiply: w <- factor w, for a factor between 0 and 1."""
        k: cython.Py_ssize_t
        self._scale *= factor
        if self._scale < 1e-150:
            for k in range(self._features):
                self._weights[k] *= self._scale
            self._scale = 1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def step(self, amount: cython.double) -> cython.void:
        """Add: w <- w + amount x for the current row."""
        self.add(amount / self._scale)

    def _vector(self) -> Any:
        return self._scale * LinearLearner._vector(self)
