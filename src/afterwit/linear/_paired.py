# cython: boundscheck=False, wraparound=False, cdivision=True
"""Two numbers for every feature, side by side: a weight, and what the algorithm remembers about it.

Weight i is at 2 i and its companion at 2 i + 1, so that whoever reads the one has the other at hand.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.errors import Words, invalid

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._engine import LinearLearner


@cython.cclass
class PairedLearner(LinearLearner):
    """A linear learner with a second number for every feature; ``_companion_name`` is its name in the state."""

    _companion_name = "companions"
    _numbers_per_feature = 2

    def _begin(self) -> None:
        self._second = 0.0
        LinearLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dot(self) -> cython.double:
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        length: cython.Py_ssize_t = self._length
        k: cython.Py_ssize_t = 0
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        c: cython.Py_ssize_t
        d: cython.Py_ssize_t
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        if not self._known:
            return self._dot_of_known()
        while k + 3 < length:
            a = self._columns[offset + k]
            b = self._columns[offset + k + 1]
            c = self._columns[offset + k + 2]
            d = self._columns[offset + k + 3]
            s0 += self._weights[2 * a] * self._values[first + k]
            s1 += self._weights[2 * b] * self._values[first + k + 1]
            s2 += self._weights[2 * c] * self._values[first + k + 2]
            s3 += self._weights[2 * d] * self._values[first + k + 3]
            k += 4
        if k < length:
            a = self._columns[offset + k]
            s0 += self._weights[2 * a] * self._values[first + k]
        if k + 1 < length:
            b = self._columns[offset + k + 1]
            s1 += self._weights[2 * b] * self._values[first + k + 1]
        if k + 2 < length:
            c = self._columns[offset + k + 2]
            s2 += self._weights[2 * c] * self._values[first + k + 2]
        return (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dots(self) -> cython.double:
        """The product of the weights with the current row; that of the companions is left in ``_second``.

        Entry k goes to running sum k mod 2. Features without a weight yet have none, nor a companion.
        """
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        length: cython.Py_ssize_t = self._length
        k: cython.Py_ssize_t = 0
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        t0: cython.double = 0.0
        t1: cython.double = 0.0
        if self._known:
            while k + 1 < length:
                a = self._columns[offset + k]
                b = self._columns[offset + k + 1]
                s0 += self._weights[2 * a] * self._values[first + k]
                s1 += self._weights[2 * b] * self._values[first + k + 1]
                t0 += self._weights[2 * a + 1] * self._values[first + k]
                t1 += self._weights[2 * b + 1] * self._values[first + k + 1]
                k += 2
        while k < length:
            a = self._columns[offset + k]
            if 0 <= a < self._features:
                if k & 1:
                    s1 += self._weights[2 * a] * self._values[first + k]
                    t1 += self._weights[2 * a + 1] * self._values[first + k]
                else:
                    s0 += self._weights[2 * a] * self._values[first + k]
                    t0 += self._weights[2 * a + 1] * self._values[first + k]
            k += 1
        self._second = t0 + t1
        return s0 + s1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow(self, features: cython.Py_ssize_t) -> cython.int:
        room: cython.Py_ssize_t = self._weights.shape[0]
        used: cython.Py_ssize_t = 2 * self._features
        LinearLearner.grow(self, features)
        if self._fresh != 0 and self._weights.shape[0] > room:
            # The new array is filled with fresh weights from there on, not only from where the old one ended.
            np.asarray(self._weights)[used + 1 :: 2] = 0.0
        return 0

    def _vector(self) -> Any:
        return np.array(self._weights[: 2 * self._features])[::2]

    def _companions(self) -> Any:
        """A copy of the second numbers."""
        return np.array(self._weights[: 2 * self._features])[1::2]

    def _state(self) -> dict[str, Any]:
        pairs = np.array(self._weights[: 2 * self._features])
        names = list(self._names) if self._named else None
        weights = {"weights": pairs[::2].copy(), "names": names, self._companion_name: pairs[1::2].copy()}
        return {**self._counts(), **weights, **self._kept_state()}

    def _check_state(self, state: Any) -> None:
        companions = state[self._companion_name]
        for name in ("weights", self._companion_name):
            array = state[name]
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != 1:
                raise invalid(name, "a 1-D array of float64", array)
        if len(companions) != len(state["weights"]):
            raise invalid(self._companion_name, "one number per weight", Words(f"{len(companions)} numbers"))
        LinearLearner._check_state(self, self._paired(state))

    def _become(self, state: Any) -> None:
        LinearLearner._become(self, self._paired(state))
        if self._fresh != 0:
            np.asarray(self._weights)[2 * self._features + 1 :: 2] = 0.0

    def _paired(self, state: Any) -> dict[str, Any]:
        """The state with weights and companions side by side."""
        pairs = np.empty(2 * len(state["weights"]))
        pairs[::2] = state["weights"]
        pairs[1::2] = state[self._companion_name]
        return {**state, "weights": pairs}
