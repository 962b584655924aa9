"""The unit vectors, all labelled −1: the perceptron's margin bound met with equality.

Every example is orthogonal to all the others, so that nothing learned so far helps: the score is 0, the prediction is
+1, and each of the n rounds is a mistake. The best separator is −(1, ..., 1)/sqrt(n), with margin 1/sqrt(n), and
the bound is (1 / (1/sqrt(n)))^2 = n.

Source      Mohri, Rostamizadeh & Talwalkar 2018, Exercise 8.3, under sgn(0) = +1.

>>> from afterwit import Perceptron, play
>>> play(Perceptron(), unit_vectors(25)).mistakes
25
"""

from __future__ import annotations

import numpy as np

from afterwit.adversaries.separable import SeparableStream
from afterwit.data.checks import count


def unit_vectors(n: int) -> SeparableStream:
    """e_1, ..., e_n, each labelled −1, as sparse rows."""
    from scipy.sparse import eye_array

    n = count("n", n)
    side = 1 / np.sqrt(n)
    return SeparableStream(eye_array(n, format="csr"), -np.ones(n, dtype=np.int64), np.full(n, -side), float(side), 1.0)
