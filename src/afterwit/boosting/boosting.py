"""Boosting: a majority of weak hypotheses, each made for the rows that those before it got wrong.

Setting     n rows with labels -1 and +1, and a weak learner: for any weights w_i on them it finds a hypothesis whose
            wrong rows have at most 1/2 - gamma of the weight.
Update      w = 1 at first; after every round the weights of the rows its hypothesis got wrong are multiplied by
            alpha = (1/2 + gamma) / (1/2 - gamma).
Prediction  the majority of the T hypotheses, +1 in a tie.
Guarantee   at most n e^(-2 T gamma^2) of the rows are predicted wrongly, none once T > ln n / (2 gamma^2), if every
            round's hypothesis was as good as a weak learner's must be. That is checked in every round: the first
            hypothesis that is not good enough gets no vote, and training ends.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.7; Schapire 1990; Freund & Schapire 1997.

>>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
>>> y = ["out", "in", "in", "in", "out", "in"]
>>> booster = Boosting(gamma=0.1, labels=("out", "in"))
>>> print(booster.fit(X, y))
91 of 91 rounds, no training mistakes
>>> booster.predict_many(X).tolist() == y, booster.certificate(X, y).bound < 1
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterwit.boosting._bounds import BOUNDS, RoundsNeeded
from afterwit.boosting._features import BatchLearner, first_matrix, read_row, same_matrix
from afterwit.boosting._hypotheses import checked_weak_learner, fresh, predicted_signs, votes_of_stumps
from afterwit.boosting.decision_stump import DecisionStump, SortedColumns
from afterwit.boosting.minimax_margin import margin_game
from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import GIVEN_LABELS, Count, Kept, Option
from afterwit.core.pictured import Pictured
from afterwit.data.checks import between, count, optional
from afterwit.data.labels import Signs
from afterwit.data.quantities import BELOW_HALF
from afterwit.data.rows import read_examples, read_many
from afterwit.errors import InputError, Words, counted, invalid
from afterwit.games.solution import GameSolution

#: Weighted errors are sums in floating point; this much above 1/2 - gamma is rounding.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class BoostingRecord(Pictured):
    """How training went."""

    rounds: int
    wanted: int
    mistakes: int
    #: The weighted error of every hypothesis, the one that ended the training too.
    errors: tuple[float, ...]
    #: The largest that the weak-learning assumption allows.
    allowed: float
    #: How many rows there were.
    rows: int
    #: The training mistakes of the vote after every round.
    curve: tuple[int, ...] = field(repr=False)

    @property
    def complete(self) -> bool:
        """Whether the weak-learning assumption held in every round that was wanted."""
        return self.rounds == self.wanted

    def __str__(self) -> str:
        mistakes = {0: "no training mistakes", 1: "1 training mistake"}.get(
            self.mistakes, counted(self.mistakes, "training mistake")
        )
        if self.complete:
            return f"{self.rounds:,} of {self.wanted:,} rounds, {mistakes}"
        return (
            f"stopped after {self.rounds:,} of {self.wanted:,} rounds, {mistakes}: the next hypothesis has a weighted "
            f"error of {self.errors[-1]:.4g}, and 1/2 - gamma is {self.allowed:.4g}"
        )


def rounds_needed(rows: int, gamma: float) -> int:
    """The least odd number of rounds after which no training mistake is left: more than ln n / (2 gamma^2)."""
    rounds = int(RoundsNeeded.bound(rows, gamma))
    return rounds + 1 - rounds % 2


class Voters(Kept):
    """The hypotheses, as a list."""

    def read(self, learner: Any) -> list[Any]:
        return list(learner._hypotheses)

    def check(self, learner: Any, value: Any) -> None:
        if not isinstance(value, list):
            raise invalid(self.name, "a list of hypotheses", value)
        stumps = type(learner.weak_learner) is DecisionStump
        for i, each in enumerate(value):
            if stumps != (type(each) is DecisionStump) or not (stumps or hasattr(each, "predict")):
                kind = type(learner.weak_learner).__name__
                raise invalid(f"{self.name}[{i}]", f"a {kind} that was fitted", each)

    def write(self, learner: Any, value: Any) -> None:
        learner._hypotheses = list(value)


class Boosting(BatchLearner):
    """A majority of weak hypotheses.

    weak_learner  a `DecisionStump` if not given, or any classifier whose ``fit`` takes ``sample_weight``; it is given
                  the labels -1 and +1, and copied for every round
    gamma         how much better than a coin it is: between 0 and 1/2
    rounds        T; if not given, the least odd number above ln n / (2 gamma^2)
    labels        the negative and the positive label
    """

    theorems = BOUNDS
    checker = "boosting"

    options = (
        Option("weak_learner", None, checked_weak_learner),
        Option("gamma", 0.1, lambda name, value: between(name, value, 0.0, 0.5, BELOW_HALF.allowed)),
        Option("rounds", None, optional(count)),
        GIVEN_LABELS,
    )
    kept = (Voters("hypotheses"), Count("width"), Kept("names"))

    def _begin(self) -> None:
        super()._begin()
        self._hypotheses: list[Any] = []

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        hypotheses, width, wanted = state["hypotheses"], state["width"], self._options["rounds"]
        if (hypotheses and not width) or (wanted is not None and len(hypotheses) > wanted):
            most = "any number" if wanted is None else f"at most {wanted:,}"
            raise invalid("hypotheses", f"{most}, and none before it was fitted", Words(f"{len(hypotheses):,}"))
        for i, each in enumerate(hypotheses):
            if type(each) is DecisionStump and each.state()["width"] != width:
                raise invalid(f"hypotheses[{i}]", f"a stump that was fitted to {width:,} columns", each)

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any) -> BoostingRecord:
        """Learn all rows from the start. Stops early if the weak-learning assumption fails; the record says so."""
        rows, signs = read_examples(X, y, self._labels)
        matrix, names = first_matrix(rows)
        gamma = self.gamma
        wanted = self._options["rounds"] or rounds_needed(rows.count, gamma)
        learn = self._teacher(matrix, signs)
        factor = (0.5 + gamma) / (0.5 - gamma)
        # The weight of a row is alpha to the number of times it was got wrong: whole numbers cannot overflow. Of the
        # powers only those below the largest weight are needed, here multiplied up in the same way on every machine.
        powers = np.cumprod(np.concatenate([[1.0], np.full(wanted, 1 / factor)]))
        times_wrong = np.zeros(rows.count, dtype=np.int64)
        votes = np.zeros(rows.count, dtype=np.int64)
        curve: list[int] = []
        hypotheses: list[Any] = []
        errors: list[float] = []
        while len(hypotheses) < wanted:
            weights = powers[times_wrong.max() - times_wrong]
            hypothesis = learn(weights)
            said = predicted_signs(hypothesis, matrix)
            wrong = said != signs
            errors.append(float(weights[wrong].sum() / weights.sum()))
            if errors[-1] > 0.5 - gamma + TOLERANCE:
                break
            times_wrong += wrong
            hypotheses.append(hypothesis)
            votes += said
            curve.append(int(np.count_nonzero(np.where(votes >= 0, 1, -1) != signs)))
        self._hypotheses, self._width, self._names = hypotheses, matrix.shape[1], names
        mistakes = int(np.count_nonzero(np.where(self._votes(matrix) >= 0, 1, -1) != signs))
        return BoostingRecord(len(hypotheses), wanted, mistakes, tuple(errors), 0.5 - gamma, rows.count, tuple(curve))

    def _teacher(self, matrix: Any, signs: Signs) -> Any:
        """A function from weights to a hypothesis."""
        weak_learner = self.weak_learner
        if type(weak_learner) is DecisionStump:
            columns, width = SortedColumns(matrix), matrix.shape[1]
            return lambda weights: DecisionStump.of(*columns.best(signs, weights), width)
        targets = signs.astype(np.int64)

        def learn(weights: Any) -> Any:
            hypothesis = fresh(weak_learner)
            hypothesis.fit(matrix, targets, sample_weight=weights)
            return hypothesis

        return learn

    # ------------------------------------------------------------------ predicting

    def _votes(self, matrix: Any) -> Any:
        """How many more hypotheses say +1 than say -1, for every row."""
        if all(type(hypothesis) is DecisionStump for hypothesis in self._hypotheses):
            return votes_of_stumps(self._hypotheses, matrix)
        votes = np.zeros(matrix.shape[0], dtype=np.int64)
        for hypothesis in self._hypotheses:
            votes += predicted_signs(hypothesis, matrix)
        return votes

    def _matrix(self, rows: Any) -> Any:
        if not self._width:
            raise InputError("Boosting has to be fitted before it predicts")
        return same_matrix(rows, self._width, self._names)

    def score_many(self, X: Any) -> Any:
        """The mean vote of every row, from -1 to +1; its sign is the prediction."""
        return self._votes(self._matrix(read_many(X))) / max(1, self.rounds)

    def score_one(self, x: Any) -> float:
        """The mean vote for one row."""
        return float(self._votes(self._matrix(read_row(x)))[0]) / max(1, self.rounds)

    def predict_many(self, X: Any) -> Any:
        """The label of every row."""
        return self._labels.decode(np.where(self.score_many(X) >= 0, 1, -1))

    def predict_one(self, x: Any) -> Any:
        """The label of one row."""
        return self._labels.positive if self.score_one(x) >= 0 else self._labels.negative

    def margins(self, X: Any, y: Any) -> Any:
        """The mean vote for the right label less that for the wrong one, of every row: negative in a mistake."""
        rows, signs = read_examples(X, y, self._labels)
        return signs * (self._votes(self._matrix(rows)) / max(1, self.rounds))

    # ------------------------------------------------------------------ looking back

    def certificate(self, X: Any, y: Any) -> Certificate:
        """The theorems applied to the rows it was fitted to. Weights, errors and votes are computed again."""
        return certify(self, X, y)

    def minimax_margin(self, X: Any, y: Any, gap: float = 1e-3) -> GameSolution:
        """The largest margin that any weighting of its hypotheses has on all of these rows at once.

        The game of the minimax view: the row player chooses an example, the column player a hypothesis, the payoff is
        +1 if it is right and -1 if not. ``value`` is that margin; ``column_strategy`` weights the hypotheses of
        ``distinct_hypotheses``, ``row_strategy`` is the distribution over the examples that is hardest for them all.
        """
        rows, signs = read_examples(X, y, self._labels)
        matrix = self._matrix(rows)
        hypotheses = self.distinct_hypotheses
        if not hypotheses:
            raise InputError("Boosting has no margin before a hypothesis has a vote")
        return margin_game([predicted_signs(h, matrix) for h in hypotheses], signs, gap)

    @property
    def hypotheses(self) -> tuple[Any, ...]:
        """The voters, in the order of the rounds."""
        return tuple(self._hypotheses)

    @property
    def distinct_hypotheses(self) -> tuple[Any, ...]:
        """The voters without repetitions: each different stump once. Other hypotheses are all kept."""
        seen = {h.state()["stump"] if type(h) is DecisionStump else id(h): h for h in self._hypotheses}
        return tuple(seen.values())

    @property
    def rounds(self) -> int:
        """How many hypotheses vote: T, or fewer if the weak-learning assumption failed."""
        return len(self._hypotheses)

    def __repr__(self) -> str:
        weak = type(self.weak_learner).__name__
        return f"Boosting(weak_learner={weak}, gamma={self.gamma:g}): {counted(self.rounds, 'round')}"
