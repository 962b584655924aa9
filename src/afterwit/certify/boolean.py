"""Certifying the learners of disjunctions, by counting their rounds anew.

The rounds are played again here by other means than the learner's: examples are sets, weights a dict, one round after
the other. Whether a disjunction is right in every round is seen from the examples alone: a variable of it is in no
negative example, and every positive example has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.concepts._boolean_learner import Booleans
from afterwit.core.certificate import Assumption, Basis, Certificate, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs
from afterwit.data.rows import plain_name
from afterwit.errors import Words, invalid, shorten

SAME_ROUNDS = "X, y are the rounds it learned from, in order"
REALIZABLE = "some disjunction of variables is right in every round"


@dataclass(frozen=True)
class DisjunctionEvidence:
    """A run of a learner of disjunctions, recomputed from its data."""

    subject: str
    rounds: int
    mistakes: int
    promotions: int
    #: How many variables were met, and how many there may be.
    variables: int
    n_variables: int
    same_rounds: Assumption
    realizable: Assumption
    #: How many variables a disjunction that is right in every round has, and its variables.
    size: int | None
    comparator: str
    hindsight: Hindsight | None

    def certificate(
        self, theorem: Theorem, bound: float | None, inputs: Mapping[str, float | str], *extra: Assumption
    ) -> Certificate:
        """The theorem applied; where an assumption is not met there is no bound to show."""
        assumptions = (self.same_rounds, *extra)
        applies = all(assumption.met for assumption in assumptions)
        observed = {"mistakes": self.mistakes, "promotions": self.promotions}
        return Certificate(
            theorem=theorem,
            subject=self.subject,
            rounds=self.rounds,
            observed=observed.get(theorem.quantity, self.mistakes - self.promotions),
            bound=bound if applies else None,
            assumptions=assumptions,
            hindsight=self.hindsight if theorem.quantity == "mistakes" else None,
            inputs=inputs if applies else {},
        )


def evidence_of(learner: Any, rows: Booleans, signs: Signs, comparator: Any = None) -> DisjunctionEvidence:
    """What is known of the rounds of a learner of disjunctions."""
    names = rows.names if rows.names is not None else range(max(rows.width, learner.features))
    at = {name: j for j, name in enumerate(names)}
    given = None if comparator is None else _given(comparator)
    same_rounds, promotions, passes = _same_rounds(learner, rows, signs, at)
    realizable, size, found, hindsight = Assumption(REALIZABLE, Basis.OBSERVED, None, "not looked into"), 0, "", None
    if same_rounds.holds:
        if given is None:
            columns, wrong = _found(rows, signs)
            variables = [names[j] for j in columns]
            detail = (
                f"{wrong:,} of the positive examples have only what negative ones have"
                if wrong
                else f"{len(columns):,} variables do"
            )
        else:
            variables, wrong = given, _wrong(rows, signs, [at[name] for name in given if name in at])
            detail = f"the given one is wrong on {wrong:,} examples" if wrong else "the given one"
        realizable = Assumption(REALIZABLE, Basis.OBSERVED, wrong == 0, detail)
        size, found = len(variables), _in_words(variables)
        what = "found afterwards" if given is None else "that was given"
        hindsight = Hindsight(passes * wrong, f"by the disjunction {what}: {found}", "mistakes")
    return DisjunctionEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        promotions=promotions,
        variables=learner.features,
        n_variables=getattr(learner, "n_variables", learner.features),
        same_rounds=same_rounds,
        realizable=realizable,
        size=size if realizable.holds else None,
        comparator=found,
        hindsight=hindsight,
    )


def _given(comparator: Any) -> list[Any]:
    if isinstance(comparator, (str, bytes)) or not isinstance(comparator, Iterable):
        raise invalid("comparator", "the variables of a disjunction, by name or by position", comparator)
    return list(dict.fromkeys(plain_name(variable) for variable in comparator))


def _same_rounds(learner: Any, rows: Booleans, signs: Signs, at: dict[Any, int]) -> tuple[Assumption, int, int]:
    """Whether these rounds make the learner's mistakes and weights; its promotions, counted here; the passes."""
    passes = max(1, learner.rounds // rows.count) if rows.count else 1
    weights: dict[int, float] = {}
    mistakes = promotions = 0

    def answer(holds: bool, detail: str) -> tuple[Assumption, int, int]:
        return Assumption(SAME_ROUNDS, Basis.OBSERVED, holds, detail), promotions, passes

    if learner.rounds != passes * rows.count:
        return answer(False, f"the learner counts {learner.rounds:,} rounds, these are {rows.count:,}")
    doubles = hasattr(learner, "n_variables")
    needed = learner.n_variables / 2 if doubles else 0.5
    for _ in range(passes):
        for i, label in enumerate((signs > 0).tolist()):
            variables = rows.row(i).tolist()
            predicted = sum(weights.get(j, 1.0) for j in variables) >= needed
            if predicted == label:
                continue
            mistakes += 1
            promotions += label
            for j in variables:
                weights[j] = 2 * weights.get(j, 1.0) if doubles and label else 0.0
    if mistakes != learner.mistakes:
        return answer(False, f"the learner counts {learner.mistakes:,} mistakes, these rounds give {mistakes:,}")
    claimed = learner.weights
    pairs = claimed.items() if isinstance(claimed, dict) else enumerate(claimed.tolist())
    if any(weights.pop(at.get(name, -1), 1.0) != weight for name, weight in pairs) or weights:
        return answer(False, "these rounds give other weights")
    return answer(True, f"counted anew, {passes} pass{'es' if passes > 1 else ''}")


def _found(rows: Booleans, signs: Signs) -> tuple[list[int], int]:
    """A disjunction of few variables that is right on every negative example, and how many others it is wrong on.

    Its variables are in no negative example. Of those, the one that most of the uncovered positive examples have, again
    and again; at last none that is in vain. Any disjunction that is right gives a bound, this one need not be smallest.
    """
    row_of = np.repeat(np.arange(rows.count), np.diff(rows.starts))
    width = int(rows.columns.max(initial=-1)) + 1
    in_negative = np.zeros(width, dtype=np.bool_)
    in_negative[rows.columns[signs[row_of] < 0]] = True
    useful = (signs[row_of] > 0) & ~in_negative[rows.columns]
    row_of, columns = row_of[useful], rows.columns[useful]
    missed = int(np.count_nonzero(signs > 0)) - len(np.unique(row_of))
    chosen: list[int] = []
    uncovered = np.ones(rows.count, dtype=np.bool_)
    while len(left := columns[uncovered[row_of]]):
        best = int(np.argmax(np.bincount(left)))
        chosen.append(best)
        uncovered[row_of[columns == best]] = False
    holders = [row_of[columns == j] for j in chosen]
    times = np.bincount(np.concatenate([np.empty(0, dtype=np.intp), *holders]), minlength=rows.count)
    kept = []
    for j, held in zip(chosen, holders, strict=True):
        if (times[held] > 1).all():
            times[held] -= 1
        else:
            kept.append(j)
    return sorted(kept), missed


def _wrong(rows: Booleans, signs: Signs, variables: list[int]) -> int:
    """On how many examples a disjunction is wrong."""
    row_of = np.repeat(np.arange(rows.count), np.diff(rows.starts))
    said = np.zeros(rows.count, dtype=np.bool_)
    said[row_of[np.isin(rows.columns, variables)]] = True
    return int(np.count_nonzero(said != (signs > 0)))


def _in_words(variables: list[Any]) -> str:
    names = [shorten(Words(name), 20) if isinstance(name, str) else f"x[{name!r}]" for name in variables[:5]]
    more = [f"{len(variables) - 5:,} more"] if len(variables) > 5 else []
    return " or ".join([*names, *more]) or "the empty one"
