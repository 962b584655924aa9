"""Adversaries that look at the learner: every label is the one it does not predict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from afterwit.core.protocol import Learner
from afterwit.data.labels import Labels
from afterwit.errors import invalid


class ContraryStream:
    """A stream against one learner, for `play` with that learner and no delay: each round asks what it predicts.

    ``rounds`` is how many rounds it has, each of them a mistake. ``target`` is what the labels of the last run agree
    with, as far as it was played.
    """

    def __init__(self, learner: Any, rounds: int, labels: Any) -> None:
        if not isinstance(learner, Learner):
            raise invalid("learner", "an object with predict_one and learn_one", learner)
        self._learner = learner
        self._labels = Labels(getattr(learner, "labels", (-1, 1)) if labels is None else labels)
        self.rounds = rounds
        self._last: list[tuple[Any, Any]] = []

    def __len__(self) -> int:
        return self.rounds

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        self._last = last = []
        for pair in self._contradicted():
            last.append(pair)
            yield pair

    def as_played(self) -> list[tuple[Any, Any]]:
        """The rounds of the last run. To iterate again asks the learner again, which has other answers by now."""
        return list(self._last)

    def _contradicted(self) -> Iterator[tuple[Any, Any]]:
        """The rounds, each labelled when it is asked for."""
        raise NotImplementedError

    @property
    def target(self) -> Any:
        raise NotImplementedError

    def _against(self, x: Any) -> bool:
        """Whether the label of x is the positive one: it is not if that is what the learner predicts."""
        return bool(self._learner.predict_one(x) != self._labels.positive)

    def _label(self, positive: bool) -> Any:
        return self._labels.positive if positive else self._labels.negative
