"""All hypotheses of one run, and what each of them loses on later examples: whole blocks of them at once.

Linear learners: the weights of many hypotheses are one matrix, and their scores one matrix product. Kernel perceptrons:
a hypothesis is the first k examples that were added, so that running sums of one row of kernel values are the scores of
all hypotheses. Others: a copy of the learner for each hypothesis at hand.

A score next to 0 may fall on the other side of it in another order of summation. Where rounding could decide, the
learner's own score is taken: what is counted are the learner's predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.batch._linear import Columns, has_fresh_weights, is_linear, reserved
from afterwit.batch._rounds import Block, Played, fresh_copy
from afterwit.certify.kernel import Gram
from afterwit.core.learner import BinaryLearner
from afterwit.data.rows import Rows
from afterwit.errors import Words, invalid
from afterwit.kernels.kernel_perceptron import KernelPerceptron
from afterwit.linear.margin_perceptron import MarginPerceptron
from afterwit.linear.perceptron import Perceptron

Indices = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Loss = Callable[[Any, Any], Any]

#: Scores this much smaller than what was added up to them may have the wrong sign.
ROUNDING = 1e-12
#: At most so many numbers are in the matrices of weights and of scores.
MOST_WEIGHTS = 2**24
MOST_SCORES = 2**22
MOST_AT_ONCE = 1024
MOST_ROWS = 1024
MOST_COPIES = 64
#: So many values are looked at together.
PORTION = 2**16


class Hypotheses:
    """Hypothesis k plays the rounds from ``begin[k]`` to ``end[k]``; the last of them may have changed it.

    block    all examples, in order
    played   what happened when ``learner``, a copy of ``start``, played them
    loss     None for mistakes, else a function of scores and signs
    """

    def __init__(self, start: Any, learner: Any, block: Block, played: Played, loss: Loss | None) -> None:
        self.start = start
        self.learner = learner
        self.block = block
        self.played = played
        self.loss = loss
        changes = np.flatnonzero(played.changed[:-1])
        self.begin = np.concatenate([[0], changes + 1]).astype(np.intp)
        self.end = np.concatenate([changes, [block.count - 1]]).astype(np.intp)

    def learner_of(self, k: int) -> Any:
        """The learner itself, as it was when it was hypothesis k."""
        found = fresh_copy(self.start)
        if self.begin[k]:
            self.block.part(0, int(self.begin[k])).learn(found)
        return found

    def portions(self, wanted: Indices) -> Iterator[tuple[Indices, Any]]:
        """The wanted hypotheses, ascending, in portions that fit into memory, with what ``losses`` needs of them."""
        learner, at = fresh_copy(self.start), 0
        for first in range(0, len(wanted), self.most):
            portion = wanted[first : first + self.most]
            kept = []
            for k in portion.tolist():
                if self.begin[k] > at:
                    self.block.part(at, int(self.begin[k])).learn(learner)
                    at = int(self.begin[k])
                kept.append(self.snapshot(learner))
            yield portion, self.together(kept)

    def in_order(self, kept: Any) -> Indices:
        """All examples in an order in which these hypotheses lose most of what they lose early."""
        return np.arange(self.block.count)

    def losses(self, kept: Any, which: Indices, at: Indices) -> Any:
        """What each hypothesis (a column) loses on these examples (the rows)."""
        raise NotImplementedError

    def snapshot(self, learner: Any) -> Any:
        return fresh_copy(learner)

    def together(self, kept: list[Any]) -> Any:
        return kept

    def fewer(self, kept: Any, left: npt.NDArray[np.bool_]) -> Any:
        """What ``losses`` needs of those that are left."""
        return [each for each, stays in zip(kept, left.tolist(), strict=True) if stays]

    @property
    def most(self) -> int:
        """How many hypotheses are held at once."""
        return MOST_COPIES

    def height(self, count: int) -> int:
        """On how many examples so many hypotheses are judged at once."""
        return max(16, min(MOST_ROWS, MOST_SCORES // count))

    def cost(self, scores: Floats, at: Any) -> Any:
        """The losses of scores: mistakes, or what the caller's function says."""
        assert self.played.signs is not None
        signs = self.played.signs[at, None]
        if self.loss is None:
            return np.not_equal(scores >= 0, signs > 0)
        return checked_losses(self.loss(scores, signs), scores.shape)


class StoredHypotheses(Hypotheses):
    """Any learner: each hypothesis is a copy of it."""

    def losses(self, kept: Any, which: Indices, at: Indices) -> Any:
        part = self.block.part(int(at[0]), int(at[-1]) + 1)
        if self.loss is None:
            return np.column_stack([part.mistakes_of(each) for each in kept])
        return self.cost(np.column_stack([each.score_many(part.X) for each in kept]), at)


class LinearHypotheses(Hypotheses):
    """Linear learners: a matrix of weights, with a column for the intercept's."""

    def __init__(self, start: Any, learner: Any, block: Block, played: Played, loss: Loss | None) -> None:
        super().__init__(start, learner, block, played, loss)
        self.rows: Rows = learner._checked(block.X, block.y)[0]
        self.matrix = self.rows.matrix()
        self.columns = Columns(learner, self.rows)
        self.whole = _whole(self.rows.values)
        self.sizes = np.empty(0)

    @property
    def most(self) -> int:
        return max(MOST_COPIES, min(MOST_AT_ONCE, MOST_WEIGHTS // max(1, self.rows.width)))

    def snapshot(self, learner: Any) -> Any:
        vector = learner._vector()
        if has_fresh_weights(learner) and not learner.rounds and len(vector) == reserved(learner):
            # Before the first round it has met no feature; all are alike.
            length = len(self.learner._vector())
            vector = np.full(length, 0.0 if learner._signed else 1 / length)
        intercept = vector[:1] if self.columns.first else np.zeros(1)
        return np.concatenate([intercept, self.columns.of(vector)])

    def together(self, kept: list[Any]) -> Any:
        return np.array(kept)

    def fewer(self, kept: Any, left: npt.NDArray[np.bool_]) -> Any:
        return kept[left]

    def in_order(self, kept: Any) -> Indices:
        # What their mean gets wrong, or nearly so, most of them get wrong.
        mean = kept.mean(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            margins = self.played.signs * (self.matrix @ mean[1:] + mean[0])
        return np.argsort(margins, kind="stable")

    def losses(self, kept: Any, which: Indices, at: Indices) -> Any:
        part = self.matrix[at]
        weights, intercepts = kept[:, 1:], kept[:, 0]
        with np.errstate(over="ignore", invalid="ignore"):
            scores = part @ weights.T
            if self.columns.first:
                scores += intercepts
            if self.loss is None and not (self.whole and (kept == np.rint(kept)).all()):
                self._decide(scores, part, kept, which, at)
        return self.cost(scores, at)

    def _decide(self, scores: Any, part: Any, kept: Any, which: Indices, rows: Indices) -> None:
        """Take the learner's own scores where rounding could have moved one across 0."""
        values = part.data if hasattr(part, "indptr") else part.reshape(-1)
        lengths = np.linalg.norm(kept, axis=1)
        doubt = ROUNDING * (np.sqrt(values @ values + 1.0)) * lengths
        if not np.isfinite(doubt).all():
            doubt = np.full(len(kept), np.inf)
        if self.sizes.shape[0] < scores.size:
            self.sizes = np.empty(scores.size)
        sizes = np.abs(scores, out=self.sizes[: scores.size].reshape(scores.shape))
        for j in np.flatnonzero(~(sizes.min(axis=0) > doubt)).tolist():
            at = np.flatnonzero(~(sizes[:, j] > doubt[j]))
            size = abs(part[at]) @ np.abs(kept[j, 1:]) + (abs(kept[j, 0]) if self.columns.first else 0.0)
            at = at[(size > 0) & ~(np.abs(scores[at, j]) > ROUNDING * size)]
            if len(at):
                scores[at, j] = self._own_scores(kept[j], int(which[j]), rows[at])

    def _own_scores(self, weights: Floats, k: int, at: Indices) -> Floats:
        if type(self.learner) in (Perceptron, MarginPerceptron):
            scorer: Any = Perceptron(intercept=bool(self.columns.first))
            counts = {"rounds": 0, "mistakes": 0, "updates": 0}
            scorer.restore({**counts, "weights": weights[1 - self.columns.first :].copy(), "names": None})
            rows = replace(self.rows, names=None)
        else:
            scorer, rows = self.learner_of(k), self.rows
        return np.array([scorer.score_many(rows.part(i, i + 1))[0] for i in at.tolist()])


class KernelHypotheses(Hypotheses):
    """Kernel perceptrons from an empty support: running sums over the examples that were added."""

    def __init__(self, start: Any, learner: Any, block: Block, played: Played, loss: Loss | None) -> None:
        super().__init__(start, learner, block, played, loss)
        assert played.signs is not None
        self.gram = Gram(learner.kernel, learner._read(block.X))
        # A value K(x, z) may be the small rest of large terms, but none larger than |phi(x)| |phi(z)|.
        self.lengths = np.sqrt(np.abs(self.gram.diagonal()))
        self.added = np.flatnonzero(played.changed[:-1])
        self.signs = played.signs[self.added].astype(np.float64)

    def portions(self, wanted: Indices) -> Iterator[tuple[Indices, Any]]:
        if len(wanted):
            yield wanted, wanted

    def fewer(self, kept: Any, left: npt.NDArray[np.bool_]) -> Any:
        return kept[left]

    def in_order(self, kept: Any) -> Indices:
        assert self.played.scores is not None
        assert self.played.signs is not None
        return np.argsort(self.played.scores * self.played.signs, kind="stable")

    def losses(self, kept: Any, which: Indices, at: Indices) -> Any:
        added = self.added[: int(kept.max())]
        values = self.gram(at, added)
        sums = np.zeros((len(at), len(added) + 1))
        np.cumsum(values * self.signs[: len(added)], axis=1, out=sums[:, 1:])
        scores = sums[:, kept]
        if self.loss is None and not (values == np.rint(values)).all():
            sizes = np.outer(self.lengths[at], np.concatenate([[0.0], np.cumsum(self.lengths[added])])[kept])
            near = (np.abs(scores) <= ROUNDING * sizes) & (sizes > 0)
            for j in np.flatnonzero(near.any(axis=0)).tolist():
                scorer = self.learner_of(int(kept[j]))
                for i in np.flatnonzero(near[:, j]).tolist():
                    scores[i, j] = scorer.score_one(self.block.row(int(at[i])))
        return self.cost(scores, at)


def hypotheses_of(start: Any, learner: Any, block: Block, played: Played, loss: Loss | None) -> Hypotheses:
    """The hypotheses of a run, in the form that is quickest for this learner."""
    kind: type[Hypotheses] = StoredHypotheses
    if isinstance(learner, KernelPerceptron) and learner.budget is None and start.updates == 0:
        kind = KernelHypotheses
    elif is_linear(learner) and not (has_fresh_weights(learner) and learner.state()["names"] is not None):
        kind = LinearHypotheses
    if loss is not None and not isinstance(learner, BinaryLearner):
        raise invalid("loss", "'zero-one' for a learner without scores of two labels", loss)
    return kind(start, learner, block, played, loss)


def _whole(values: Floats) -> bool:
    """Whether all are whole numbers, and so small that no sum of products is rounded."""
    for first in range(0, len(values), PORTION):
        part = values[first : first + PORTION]
        if not ((part == np.rint(part)) & (np.abs(part) < 2**20)).all():
            return False
    return True


def checked_losses(values: Any, shape: tuple[int, ...]) -> Floats:
    """What the caller's loss gave, which must be numbers from 0 to 1."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise invalid("loss(scores, signs)", f"an array of shape {shape}", Words(f"one of shape {array.shape}"))
    if not ((array >= 0) & (array <= 1)).all():
        raise invalid("loss(scores, signs)", "numbers from 0 to 1", Words(f"{array.min()} to {array.max()}"))
    return array
