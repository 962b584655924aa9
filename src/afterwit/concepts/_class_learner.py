"""What the learners over a finite class share: points, the version space, counters, copying, certificates.

A learner derived from it defines how it scores a point by the hypotheses that are left (``_score``), and whether the
wrong ones are dropped after a round (``_drops``). If none is left, because no hypothesis of the class was right, the
score is 0 and the prediction is the positive label from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._bits import Words64, count_bits
from afterwit.concepts.finite_class import FiniteClass, Indices, as_class
from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Option
from afterwit.core.learner import BinaryLearner
from afterwit.core.turns import Lock, Rounds, breathe
from afterwit.data.checks import whole_number
from afterwit.errors import invalid

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """Points of a class by their indices."""

    indices: Indices
    #: The number of the first one, in messages about labels.
    first: int = 0

    @property
    def count(self) -> int:
        return len(self.indices)

    def part(self, begin: int, end: int) -> Points:
        return Points(self.indices[begin:end], self.first + begin)


#: The class, which every learner over one takes first.
KNOWN_CLASS = Option("hypotheses", check=lambda _, hypotheses: as_class(hypotheses))


class ClassLearner(BinaryLearner):
    """A learner that knows a finite class and keeps the hypotheses that are not yet ruled out."""

    takes = "points"
    checker = "finite_class"

    def _begin(self) -> None:
        super()._begin()
        self._hypotheses: FiniteClass = self._options["hypotheses"]
        self._guard = Lock(reentrant=True)
        self._keep(self._hypotheses.everything())

    # ------------------------------------------------------------------ what an algorithm defines

    def _score(self, index: int) -> float:
        """The score of a point by the hypotheses that are left; its sign is the prediction."""
        raise NotImplementedError

    def _drops(self, mistaken: bool) -> bool:
        """Whether the hypotheses that were wrong are dropped after a round."""
        raise NotImplementedError

    # ------------------------------------------------------------------ rounds

    def _read(self, X: Any) -> Any:
        if isinstance(X, Points):
            return X
        return Points(self._hypotheses.indices(X), getattr(X, "first", 0))

    def _read_one(self, x: Any) -> Any:
        return Points(np.array([self._hypotheses.index(x)], dtype=np.intp))

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Floats:
        scores = np.empty(rows.count)
        done = mistakes = updates = 0
        with self._guard, Rounds():
            before = self._alive
            try:
                for t, (index, sign) in enumerate(zip(rows.indices.tolist(), signs.tolist(), strict=True)):
                    score = scores[t] = self._remembered(index)
                    mistaken = (score >= 0) != (sign > 0)
                    changed = self._drops(mistaken) and self._drop(index, sign > 0)
                    mistakes += mistaken
                    updates += changed
                    if updated is not None:
                        updated[t] = changed
                    done = t + 1
                    breathe()
            except Exception:
                self._keep(before)
                done = mistakes = updates = 0
                raise
            finally:
                self._count(done, mistakes, updates)
        return scores

    def score_many(self, X: Any) -> Floats:
        """``score_one`` for every point of X, as an array."""
        with self._guard:
            return np.array([self._remembered(index) for index in self._read(X).indices.tolist()], dtype=np.float64)

    def _remembered(self, index: int) -> float:
        """The score of a point, computed once for as long as no hypothesis is dropped."""
        score = self._scores.get(index)
        if score is None:
            score = self._scores[index] = self._score(index)
        return score

    def _drop(self, index: int, said: bool) -> bool:
        """Drop the hypotheses that say something else of a point; whether there were any."""
        votes = self._hypotheses.votes(index)
        left = self._alive & votes if said else self._alive & ~votes
        if np.array_equal(left, self._alive):
            return False
        self._keep(left)
        return True

    def _keep(self, alive: Words64) -> None:
        self._alive = alive
        self._remaining = count_bits(alive)
        self._scores: dict[int, float] = {}

    # ------------------------------------------------------------------ what it knows

    @property
    def hypotheses(self) -> FiniteClass:
        """The class."""
        return self._hypotheses

    @property
    def remaining(self) -> int:
        """How many hypotheses are left."""
        return self._remaining

    def survivors(self, most: int | None = None) -> list[str]:
        """The names of the hypotheses that are left, in the order of the class; the first ``most`` if given."""
        if most is not None:
            most = whole_number("most", most, words="a whole number, at least 0, or None")
        left = self._hypotheses.members(self._alive)[:most]
        return [self._hypotheses.name(i) for i in left.tolist()]

    def certificate(self, X: Any = None, y: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given.

        With X and y, the points and labels it learned from, in order (once for each pass), everything is counted again
        from them. Without them the certificate is made from what the learner knows: which hypotheses are left.
        """
        if (X is None) != (y is None):
            raise invalid("X and y", "both given, or neither", None)
        rounds = () if X is None else self._checked(X, y)
        with self._guard:
            return certify(self, *rounds)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        with self._guard:
            return {**super()._state(), "alive": self._alive.copy()}

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        if not self._hypotheses.is_set(state["alive"]):
            raise invalid("alive", "a set of hypotheses of the class", state["alive"])

    def _become(self, state: Any) -> None:
        with self._guard:
            super()._become(state)
            self._keep(state["alive"].copy())
