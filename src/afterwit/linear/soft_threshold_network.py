# cython: boundscheck=False, wraparound=False, cdivision=True
"""A layered circuit of soft threshold gates, trained by stochastic gradient descent.

Setting     x_t in R^n, y_t in {-1, +1}. Every gate computes a linear function z of its inputs and passes a(z) =
            1/(1 + exp(-z)) on to the next layer; the last layer is one gate, and the prediction is sgn(z) of it.
Update      w <- w - rate grad ln(1 + exp(-y_t z)), the gradient by the chain rule, layer by layer.
Guarantee   none for the training: the loss is not convex, and no bound on its mistakes or regret is known. For new
            data: m weights of 64 bits are a description of 64 m bits (``description_length``), which is what the
            sample-size theorems for description languages ask for.
Assumes     nothing.
Start       the weights of the features at 0, those between gates, and all thresholds, drawn from the seed. So a feature
            may come at any time, and gates of one layer differ from the beginning.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.3.2.

>>> learner = SoftThresholdNetwork(gates=(4,), rate=0.5, seed=1)
>>> xor = [([0.0, 0.0], -1), ([0.0, 1.0], 1), ([1.0, 0.0], 1), ([1.0, 1.0], -1)]
>>> training = learner.fit([x for x, _ in xor], [y for _, y in xor], max_passes=20_000)
>>> training.converged, learner.description_length  # 3 * 4 weights into the gates, 5 into the last one
(True, 1088)
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import cython
import numpy as np

from afterwit._values import signature
from afterwit.errors import invalid, positive_number
from afterwit.linear._engine import view

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.afterwit.linear._losses import slope
    from cython.cimports.libc.math import exp
else:
    from math import exp

    from afterwit.linear._engine import LinearLearner
    from afterwit.linear._losses import slope


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def soft_threshold(z: cython.double) -> cython.double:
    small: cython.double
    if z >= 0:
        return 1.0 / (1.0 + exp(-z))
    small = exp(z)
    return small / (1.0 + small)


@cython.cclass
class SoftThresholdNetwork(LinearLearner):
    """Layers of logistic gates.

    gates      how many gates each layer has, from the features on; the last, single gate comes on top
    rate       the length of a step for a gradient of length 1
    seed       of the weights at the start
    labels     the negative and the positive label

    ``weights`` are those of the first layer, one row for each feature.
    """

    _gates: object
    _rate: cython.double
    _seed: object
    _layers: cython.int
    # Per layer, the last one included: how many gates, where its weights and its outputs begin.
    _sizes: cython.int[::1]
    _weights_at: cython.int[::1]
    _outputs_at: cython.int[::1]
    # Weights between gates: for each gate one per gate of the layer below, then its threshold.
    _inner: cython.double[::1]
    _outputs: cython.double[::1]
    _blame: cython.double[::1]

    no_theorem_because = (
        "the loss of a network is not convex in its weights: no bound on its mistakes or its regret is known. "
        "description_length is what the theorems on sample sizes ask for"
    )
    converges_without = "mistakes"

    __signature__ = signature(gates=(8,), rate=0.1, seed=0, labels=(-1, 1))

    def __init__(self, gates: Any = (8,), rate: Any = 0.1, seed: Any = 0, labels: Any = (-1, 1)) -> None:
        allowed = "a sequence of whole numbers, at least one, each at least 1"
        if isinstance(gates, (str, bytes)) or not hasattr(gates, "__iter__"):
            raise invalid("gates", allowed, gates)
        sizes = tuple(gates)
        whole = all(isinstance(n, Integral) and not isinstance(n, bool) for n in sizes)
        if not sizes or not whole or not all(1 <= int(n) < 2**20 for n in sizes):
            raise invalid("gates", allowed, gates)
        if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
            raise invalid("seed", "a whole number, at least 0", seed)
        self._gates = tuple(int(n) for n in sizes)
        self._rate = positive_number("rate", rate)
        self._seed = int(seed)
        self._layers = len(sizes) + 1
        layers = (*self._gates, 1)
        below = self._gates
        self._sizes = view(np.array(layers, dtype=np.int32))
        counts = [(inputs + 1) * outputs for inputs, outputs in zip(below, layers[1:], strict=True)]
        self._weights_at = view(np.cumsum([0, 0, *counts])[: self._layers].astype(np.int32))
        self._outputs_at = view(np.cumsum([0, *below]).astype(np.int32))
        self._outputs = view(np.zeros(sum(layers)))
        self._blame = view(np.zeros(sum(layers)))
        LinearLearner.__init__(self, labels, intercept=True, stride=self._gates[0])
        self._bad_values_show = False
        random = np.random.default_rng(self._seed)
        np.asarray(self._weights)[: self._stride] = random.uniform(-1, 1, self._stride)
        self._inner = view(random.uniform(-1, 1, sum(counts)))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """The sum z of the last gate; the outputs of all others are left in place."""
        h: cython.Py_ssize_t
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        layer: cython.Py_ssize_t
        below: cython.Py_ssize_t
        at: cython.Py_ssize_t
        total: cython.double
        first: cython.Py_ssize_t = self._sizes[0]
        for h in range(first):
            self._outputs[h] = 0.0
        for k in range(self._length):
            column = k if self._dense else self._columns[self._offset + k]
            if 0 <= column < self._features:
                for h in range(first):
                    self._outputs[h] += self._weights[column * first + h] * self._values[self._first + k]
        for layer in range(1, self._layers):
            below = self._sizes[layer - 1]
            for k in range(below):
                at = self._outputs_at[layer - 1] + k
                self._outputs[at] = soft_threshold(self._outputs[at])
            for h in range(self._sizes[layer]):
                at = self._weights_at[layer] + h * (below + 1)
                total = self._inner[at + below]
                for k in range(below):
                    total += self._inner[at + k] * self._outputs[self._outputs_at[layer - 1] + k]
                self._outputs[self._outputs_at[layer] + h] = total
        return self._outputs[self._outputs_at[self._layers - 1]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.int, score: cython.double) -> cython.bint:
        h: cython.Py_ssize_t
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        layer: cython.Py_ssize_t
        below: cython.Py_ssize_t
        at: cython.Py_ssize_t
        down: cython.Py_ssize_t
        blame: cython.double
        output: cython.double
        first: cython.Py_ssize_t = self._sizes[0]
        # The derivative of the loss by z of the last gate, then of every gate below it.
        self._blame[self._outputs_at[self._layers - 1]] = slope(2, y, score)
        for layer in range(self._layers - 1, 0, -1):
            below = self._sizes[layer - 1]
            down = self._outputs_at[layer - 1]
            for k in range(below):
                self._blame[down + k] = 0.0
            for h in range(self._sizes[layer]):
                at = self._weights_at[layer] + h * (below + 1)
                blame = self._blame[self._outputs_at[layer] + h]
                for k in range(below):
                    self._blame[down + k] += blame * self._inner[at + k]
                    self._inner[at + k] -= self._rate * blame * self._outputs[down + k]
                self._inner[at + below] -= self._rate * blame
            for k in range(below):
                output = self._outputs[down + k]
                self._blame[down + k] *= output * (1.0 - output)
        for k in range(self._length):
            column = k if self._dense else self._columns[self._offset + k]
            for h in range(first):
                self._weights[column * first + h] -= self._rate * self._blame[h] * self._values[self._first + k]
        return True

    @property
    def description_length(self) -> int:
        """The size of its weights in bits, 64 each."""
        return 64 * (self._features * self._stride + self._inner.shape[0])

    def _vector(self) -> Any:
        return LinearLearner._vector(self).reshape(-1, self._stride)

    @property
    def intercept_weight(self) -> Any:
        """The weights of the constant feature: the thresholds of the first layer's gates."""
        with self._lock:
            return self._vector()[0]

    @property
    def inner_weights(self) -> list[Any]:
        """For every later layer: one row for each gate, with a weight for each gate below and then its threshold."""
        with self._lock:
            inner, sizes = np.array(self._inner), np.array(self._sizes)
            parts = np.split(inner, np.array(self._weights_at)[2:])
        return [part.reshape(-1, below + 1) for part, below in zip(parts, sizes.tolist(), strict=False)]

    def _state(self) -> dict[str, Any]:
        return {**LinearLearner._state(self), "inner": np.array(self._inner)}

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        inner = state["inner"]
        if not isinstance(inner, np.ndarray) or inner.dtype != np.float64 or inner.shape != (self._inner.shape[0],):
            raise invalid("inner", f"an array of {self._inner.shape[0]} weights", inner)

    def _become(self, state: Any) -> None:
        LinearLearner._become(self, state)
        self._inner = view(np.array(state["inner"]))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"gates": self._gates, "rate": self._rate, "seed": self._seed, "labels": self.labels}
