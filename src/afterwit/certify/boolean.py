"""Gathering the evidence for the bounds of learners of disjunctions.

The rounds are played again here by other means than the learner's: the weights are a dict, and one round follows the
other. The examples alone show whether a disjunction is right in every round: its variables are in no negative example,
and every positive example has one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.certify.replay import other_count, same_rounds
from afterwit.concepts._boolean_learner import Booleans
from afterwit.concepts.winnow_disjunction import WinnowDisjunction
from afterwit.core.certificate import Assumption, Basis, Evidence, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.data.labels import Signs
from afterwit.data.rows import plain_name
from afterwit.errors import Words, counted, invalid, shorten

REALIZABLE = "some disjunction of variables is right in every round"


@dataclass(frozen=True, kw_only=True)
class DisjunctionEvidence(Evidence):
    """A run of a learner of disjunctions, recomputed from its data."""

    mistakes: int
    promotions: int
    #: How many variables occurred, and how many there may be.
    variables: int
    n_variables: int
    realizable: Assumption
    #: How many variables a disjunction that is right in every round has, and its variables.
    size: int | None
    comparator: str
    best: Hindsight | None

    def observed(self, theorem: Theorem) -> float:
        counted = {"mistakes": self.mistakes, "promotions": self.promotions}
        return counted.get(theorem.quantity, self.mistakes - self.promotions)

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        return self.best if theorem.quantity == "mistakes" else None


def gather(learner: Any, rows: Booleans, signs: Signs, comparator: Any = None) -> DisjunctionEvidence:
    """What is known of the rounds of a learner of disjunctions."""
    names = rows.names if rows.names is not None else range(max(rows.width, learner.features))
    at = {name: j for j, name in enumerate(names)}
    given = None if comparator is None else _given(comparator)
    promotions = 0

    def differs(passes: int) -> str:
        nonlocal promotions
        mistakes, promotions, weights = _played(learner, rows, signs, passes)
        if why := other_count("mistakes", learner.mistakes, mistakes):
            return why
        claimed = learner.weights
        pairs = claimed.items() if isinstance(claimed, dict) else enumerate(claimed.tolist())
        others = any(weights.pop(at.get(name, -1), 1.0) != weight for name, weight in pairs) or weights
        return "these rows give other weights" if others else ""

    same, passes = same_rounds(learner, rows.count, differs)
    realizable, size, found, best = Assumption(REALIZABLE, Basis.OBSERVED, None, "not looked into"), 0, "", None
    if same.holds:
        if given is None:
            columns, wrong = _found(rows, signs)
            variables = [names[j] for j in columns]
            detail = (
                f"{wrong:,} of the positive examples have only what negative ones have"
                if wrong
                else f"{counted(len(columns), 'variable')} {'does' if len(columns) == 1 else 'do'}"
            )
        else:
            variables, wrong = given, _wrong(rows, signs, [at[name] for name in given if name in at])
            detail = f"the given one is wrong on {counted(wrong, 'example')}" if wrong else "the given one"
        realizable = Assumption(REALIZABLE, Basis.OBSERVED, wrong == 0, detail)
        size, found = len(variables), _in_words(variables)
        what = "found afterwards" if given is None else "that was given"
        best = Hindsight(passes * wrong, f"by the disjunction {what}: {found}", "mistakes")
    return DisjunctionEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        assumptions=(same,),
        mistakes=learner.mistakes,
        promotions=promotions,
        variables=learner.features,
        n_variables=getattr(learner, "n_variables", learner.features),
        realizable=realizable,
        size=size if realizable.holds else None,
        comparator=found,
        best=best,
    )


def _given(comparator: Any) -> list[Any]:
    if isinstance(comparator, (str, bytes)) or not isinstance(comparator, Iterable):
        raise invalid("comparator", "the variables of a disjunction, by name or by position", comparator)
    return list(dict.fromkeys(plain_name(variable) for variable in comparator))


def _played(learner: Any, rows: Booleans, signs: Signs, passes: int) -> tuple[int, int, dict[int, float]]:
    """The mistakes of the algorithm on these rounds, the promotions among them, and the weights that were changed."""
    weights: dict[int, float] = {}
    mistakes = promotions = 0
    doubles = isinstance(learner, WinnowDisjunction)
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
    return mistakes, promotions, weights


def _found(rows: Booleans, signs: Signs) -> tuple[list[int], int]:
    """A disjunction of few variables that is right on every negative example, and how many others it is wrong on.

    Its variables are in no negative example. The variable that most of the uncovered positive examples have is added,
    again and again; at the end, variables that are not needed are dropped. Any disjunction that is right gives a bound;
    this one need not be the smallest.
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
