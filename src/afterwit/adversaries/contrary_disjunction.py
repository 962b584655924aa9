"""The unit vectors, each labelled against the learner: any deterministic learner makes n mistakes on a disjunction.

The label of e_j is the one that the learner does not predict. Whatever it predicts, the disjunction of the variables
whose unit vectors were labelled positive agrees with all labels; if there are none, it is the empty one. So the bound n
of `OnlineDisjunction` cannot be improved.

Source      Blum, Hopcroft & Kannan, Foundations of Data Science, Theorem 6.11.

>>> from afterwit import OnlineDisjunction, Perceptron, play
>>> learner = OnlineDisjunction()
>>> play(learner, contrary_disjunction(8, learner)).mistakes
8
>>> learner = Perceptron()
>>> stream = contrary_disjunction(8, learner)
>>> play(learner, stream).mistakes, stream.target
(8, [])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from afterwit.adversaries._contrary import ContraryStream
from afterwit.data.checks import count


def contrary_disjunction(n: int, learner: Any, *, labels: Any = None) -> ContraryStream:
    """e_1, ..., e_n as arrays, each labelled against what ``learner`` predicts in its round.

    Play it with that learner: ``play(learner, contrary_disjunction(n, learner))``. ``labels`` are the learner's if not
    given. ``target`` lists the variables of the disjunction, by position.
    """
    return _Disjunction(learner, count("n", n), labels)


class _Disjunction(ContraryStream):
    def __init__(self, learner: Any, n: int, labels: Any) -> None:
        super().__init__(learner, n, labels)
        self._positive: list[int] = []

    def _contradicted(self) -> Iterator[tuple[Any, Any]]:
        self._positive = []
        for j in range(self.rounds):
            x = np.zeros(self.rounds)
            x[j] = 1.0
            positive = self._against(x)
            self._positive += [j] if positive else []
            yield x, self._label(positive)

    @property
    def target(self) -> list[int]:
        return list(self._positive)
