"""What every learner of many labels shares: the classes it knows, many rounds at once, what is saved of the classes.

A learner derived from `ManyLabelLearner` says how to read examples (``_read``) and how to learn them (``_learn``, which
is given the number of every label's class), and keeps the counters.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from afterwit.core import late
from afterwit.core.declared import Option
from afterwit.core.learner import Storable
from afterwit.core.protocol import Training
from afterwit.core.turns import Lock
from afterwit.data import checks
from afterwit.data.classes import Classes, Codes, different_labels
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid

#: The labels that may come; None if any may.
MANY_LABELS = Option("labels", None, checks.optional(different_labels))


class ManyLabelLearner(Storable):
    """A learner of many labels: of those that it was given, or of any, each of which is known from its first round on.

    It predicts the class of the largest score, the first of several, and None before any class is known.
    """

    role = "classifier"
    takes = "numbers"
    many_labels = True
    learns_blocks = True

    serve_one = late.serve_one
    serve_many = late.serve_many
    learn_late = late.learn_late
    learn_late_many = late.learn_late_many
    #: What a label that comes late finds, see `afterwit.core.late`.
    late = "arrival"

    def _begin(self) -> None:
        self._labels = self._options["labels"]
        self._lock = Lock(reentrant=True)
        self._classes = Classes(self._labels or (), self._labels)

    # ------------------------------------------------------------------ what a learner defines

    @property
    def updates(self) -> int:
        """In how many rounds it changed what it has learned."""
        raise NotImplementedError

    def _read(self, X: Any) -> Any:
        """Many examples, checked, as ``_learn`` takes them; their number is ``count``."""
        raise NotImplementedError

    def _learn(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        """Learn rows in order; the codes of the predictions. ``new`` has the first row of each class that begins."""
        raise NotImplementedError

    # ------------------------------------------------------------------ what learners made of it may ask

    @property
    def _reads_rows(self) -> bool:
        """Whether it takes rows of numbers and no other examples."""
        return True

    def _is_steady(self) -> bool:
        """Whether no round can be refused for what it would make of it, as long as the values are not huge."""
        return False

    def _make_room_for(self, entries: int, width: int) -> None:
        """Make room for one more example, so that it can be learned even if there is no memory left."""

    # ------------------------------------------------------------------ many rounds

    def learn_many(self, X: Any, y: Any) -> npt.NDArray[Any]:
        """``learn_one`` for every row in order. Returns the predictions made before each label was seen."""
        with self._lock:
            leaders = self._learn(*self._checked(X, y))
            return self._classes.decode(leaders)

    def fit(self, X: Any, y: Any, max_passes: Any = 1000) -> Training:
        """Learn X again and again until a whole pass changes nothing, at most ``max_passes`` times.

        Learners that follow a gradient change in nearly every round: they stop after a pass without a mistake.
        """
        most = checks.count("max_passes", max_passes)
        mistakes: list[int] = []
        converged = False
        with self._lock:
            rows, codes, new = self._checked(X, y)
            while len(mistakes) < most and not converged:
                before, mistakes_before = getattr(self, self._converges_without), self.mistakes
                self._learn(rows, codes, new)
                new = {}
                mistakes.append(self.mistakes - mistakes_before)
                converged = getattr(self, self._converges_without) == before
        return Training(converged=converged, mistakes_per_pass=tuple(mistakes))

    @property
    def _converges_without(self) -> str:
        """What a whole pass must be free of for `fit` to have converged."""
        return "updates"

    def _checked(self, X: Any, y: Any) -> tuple[Any, Codes, dict[Any, int]]:
        """Examples, the number of each label's class, and the first row of each class that is new."""
        rows = self._read(X)
        codes, new = self._classes.read(y, rows.first)
        if len(codes) != rows.count:
            raise invalid("y", f"as long as X ({counted(rows.count, 'row')})", Words(counted(len(codes), "label")))
        return rows, codes, new

    # ------------------------------------------------------------------ what it knows

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels it can predict, in the order in which they came."""
        return tuple(self._classes.labels)

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels that may come; None if any may."""
        allowed: tuple[Any, ...] | None = self._labels
        return allowed

    # ------------------------------------------------------------------ copying, comparing, saving

    def _saved_classes(self) -> list[Any] | None:
        """The classes as a state has them: None where they were given."""
        return list(self._classes.labels) if self._labels is None else None

    def _classes_in(self, state: Any) -> list[Any]:
        """The classes of a saved state; refused if they are none."""
        classes = state["classes"]
        if not (are_different(classes) if self._labels is None else classes is None):
            raise invalid("classes", "a list of different labels, where no labels were given", classes)
        return classes if self._labels is None else list(self._labels)
