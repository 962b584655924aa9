"""The mistake tree: an adversary that forces the optimal mistake bound on any deterministic learner.

A mistake tree of a class H is a complete binary tree of points in which every path is labelled by some h in H. The
adversary begins at the root, asks the learner, answers the opposite and goes down that way: every round is a mistake,
and at the leaf some h in H agrees with all answers. The deepest mistake tree has opt(H) levels, the Littlestone
dimension of H, which is what the standard optimal algorithm promises never to exceed.

Source      Littlestone, Learning quickly when irrelevant attributes abound, 1988; Mohri, Rostamizadeh & Talwalkar,
            Foundations of Machine Learning, 2nd ed. 2018, proof of Theorem 8.2.

>>> from afterwit import Halving, StandardOptimalAlgorithm, play
>>> from afterwit.concepts import thresholds
>>> hypotheses = thresholds(100)
>>> for learner in (Halving(hypotheses), StandardOptimalAlgorithm(hypotheses)):
...     stream = mistake_tree(hypotheses, learner)
...     print(play(learner, stream).mistakes, stream.target)
6 x >= 31
6 x >= 31
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from afterwit.adversaries._contrary import ContraryStream
from afterwit.concepts.finite_class import FiniteClass, as_class
from afterwit.concepts.littlestone import Subclasses
from afterwit.concepts.search import LIMIT, search


def mistake_tree(hypotheses: Any, learner: Any, *, labels: Any = None, limit: int = LIMIT) -> ContraryStream:
    """opt(H) points, each labelled against what ``learner`` predicts in its round.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points)
    learner     the learner to play it with: ``play(learner, mistake_tree(hypotheses, learner))``
    labels      the negative and the positive label; the learner's if not given
    limit       the most steps that the Littlestone dimension may take; beyond it there is an error

    ``target`` is the name of a hypothesis that agrees with all labels.
    """
    return _Tree(as_class(hypotheses), learner, labels, limit)


class _Tree(ContraryStream):
    def __init__(self, hypotheses: FiniteClass, learner: Any, labels: Any, limit: int) -> None:
        self._hypotheses = hypotheses
        self._subclasses = Subclasses(hypotheses)
        self._limit = limit
        self._alive = hypotheses.everything()
        with search("the Littlestone dimension", limit, False) as steps:
            depth = self._subclasses.dimension(self._alive, steps)
        super().__init__(learner, depth, labels)

    def _contradicted(self) -> Iterator[tuple[Any, Any]]:
        self._alive = self._hypotheses.everything()
        for depth in range(self.rounds, 0, -1):
            with search("the mistake tree", self._limit, False) as steps:
                index = self._subclasses.root(self._alive, depth, steps)
            x = self._hypotheses.points[index]
            positive = self._against(x)
            votes = self._hypotheses.votes(index)
            self._alive = self._alive & votes if positive else self._alive & ~votes
            yield x, self._label(positive)

    @property
    def target(self) -> str:
        return self._hypotheses.name(int(self._hypotheses.members(self._alive)[0]))
