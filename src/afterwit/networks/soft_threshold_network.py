# cython: boundscheck=False, wraparound=False, cdivision=True
"""A layered circuit of soft threshold gates, trained by stochastic gradient descent.

Setting     x_t in R^n, y_t in {-1, +1}. Every gate computes a linear function z of its inputs and passes a(z) =
            1/(1 + exp(-z)) on to the next layer. The last layer is one gate, and the prediction is the sign of its z.
Update      w <- w - rate grad ln(1 + exp(-y_t z)), the gradient by the chain rule, layer by layer.
Guarantee   none for the training: the loss is not convex, and no bound on its mistakes or regret is known. For new
            data: m weights of 64 bits are a description of 64 m bits (``description_length``), which is the input of
            the sample-size theorems for description languages.
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

from itertools import accumulate, pairwise
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import LABELS, Numbers, Option
from afterwit.core.learner import view
from afterwit.data.checks import is_whole, numpy_seed, positive_number
from afterwit.data.margin_losses import LOSSES
from afterwit.data.room import require_room
from afterwit.errors import invalid
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.afterwit.linear._losses import slope
    from cython.cimports.libc.math import exp
else:
    from math import exp

    from afterwit.linear._engine import LinearLearner
    from afterwit.linear._losses import slope


BEYOND_LIMIT = cython.declare(cython.int, Stop.BEYOND_LIMIT)
LOGISTIC = cython.declare(cython.int, LOSSES.index("logistic"))


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


def _read_gates(parameter: str, gates: Any) -> tuple[int, ...]:
    sizes = tuple(gates) if hasattr(gates, "__iter__") and not isinstance(gates, (str, bytes)) else ()
    if not sizes or not all(is_whole(size) and 1 <= int(size) < 2**20 for size in sizes):
        raise invalid(parameter, "a sequence of whole numbers, at least one, each at least 1", gates)
    return tuple(int(size) for size in sizes)


def _inner_shape(network: Any) -> tuple[int]:
    return (sum(_inner_counts(network.gates)),)


def _inner_counts(gates: tuple[int, ...]) -> list[int]:
    """How many weights every layer after the first has: one for each gate below, and a threshold."""
    return [(below + 1) * size for below, size in pairwise((*gates, 1))]


@cython.cclass
class SoftThresholdNetwork(LinearLearner):
    """Layers of logistic gates.

    gates      how many gates each layer has, from the features on; the last, single gate comes on top
    rate       the length of a step for a gradient of length 1
    seed       of the weights at the start
    labels     the negative and the positive label

    ``weights`` are those of the first layer, one row for each feature.
    """

    _rate: cython.double
    _layers: cython.int
    # Per layer, the last one included: how many gates, where its weights and its outputs begin.
    _sizes: cython.int[::1]
    _weights_at: cython.int[::1]
    _outputs_at: cython.int[::1]
    # Weights between gates: for each gate one per gate of the layer below, then its threshold.
    _inner = cython.declare(cython.double[::1], visibility="public")
    _outputs: cython.double[::1]
    _blame: cython.double[::1]

    no_theorem_because = (
        "the loss of a network is not convex in its weights, and no bound on its mistakes or its regret is known. "
        "description_length is what the theorems on sample sizes need"
    )
    converges_without = "mistakes"
    _always_intercept = True

    options = (
        Option("gates", (8,), _read_gates),
        Option("rate", 0.1, positive_number),
        Option("seed", 0, numpy_seed),
        LABELS,
    )
    kept = (Numbers("inner", _inner_shape),)

    def _begin(self) -> None:
        gates = self._options["gates"]
        counts = _inner_counts(gates)
        require_room("gates", 8 * (sum(counts) + 16 * gates[0]))
        layers = (*gates, 1)
        self._rate = self._options["rate"]
        self._layers = len(layers)
        self._sizes = view(np.array(layers, dtype=np.int32))
        # The first layer's weights are those of the features, which the engine keeps.
        self._weights_at = view(np.array([0, *accumulate(counts, initial=0)], dtype=np.int32))
        self._outputs_at = view(np.array(list(accumulate(gates, initial=0)), dtype=np.int32))
        self._outputs = view(np.zeros(sum(layers)))
        self._blame = view(np.zeros(sum(layers)))
        LinearLearner._begin(self)
        self._bad_values_show = False
        self._cost_of_round = 8 + 2 * sum(counts)
        random = np.random.default_rng(self._options["seed"])
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
            column = self._columns[self._offset + k]
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
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
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
        self._blame[self._outputs_at[self._layers - 1]] = slope(LOGISTIC, 0.0, y, score)
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
            for k in range(below):
                output = self._outputs[down + k]
                self._blame[down + k] *= output * (1.0 - output)
                if not -self._limit <= self._blame[down + k] <= self._limit:
                    self._stopped = BEYOND_LIMIT
                    return False
        # Now nothing is in the way of the steps.
        for layer in range(1, self._layers):
            below = self._sizes[layer - 1]
            down = self._outputs_at[layer - 1]
            for h in range(self._sizes[layer]):
                at = self._weights_at[layer] + h * (below + 1)
                blame = self._blame[self._outputs_at[layer] + h]
                for k in range(below):
                    self._inner[at + k] -= self._rate * blame * self._outputs[down + k]
                self._inner[at + below] -= self._rate * blame
        for k in range(self._length):
            column = self._columns[self._offset + k]
            for h in range(first):
                self._weights[column * first + h] -= self._rate * self._blame[h] * self._values[self._first + k]
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_sound(self) -> cython.bint:
        k: cython.Py_ssize_t
        total: cython.double = 0.0
        for k in range(self._inner.shape[0]):
            total += self._inner[k] - self._inner[k]
        return total == 0 and LinearLearner.is_sound(self)

    def _is_steady(self) -> bool:
        return False

    @property
    def _numbers_of_each(self) -> int:
        return self._options["gates"][0]

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
        gates = self._options["gates"]
        with self._lock:
            inner = np.array(self._inner)
        parts = np.split(inner, list(accumulate(_inner_counts(gates))))
        return [part.reshape(-1, below + 1) for part, below in zip(parts, gates, strict=False)]
