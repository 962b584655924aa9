"""Gathering the evidence for the bounds on the error of readable rules.

The rule is not judged by the code that predicts: a tree is read back from its description, a disjunction is compared
with the set of ones of each row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from afterwit.concepts._categories import read_categories
from afterwit.concepts._tree import Schema, describe, width_of
from afterwit.concepts.disjunction_learner import DisjunctionLearner
from afterwit.concepts.id3 import ID3
from afterwit.core.certificate import Assumption, Basis, Evidence
from afterwit.core.theorem import Theorem
from afterwit.errors import Words, counted, invalid

DRAWN = Assumption("the rows are independent draws from one distribution", Basis.PROMISED, None)


@dataclass(frozen=True, kw_only=True)
class SampleEvidence(Evidence):
    """What a rule does on the rows of a certificate."""

    mistakes: int
    #: The probability with which any of the bounds may fail.
    delta: float
    #: How many bounds there are.
    bounds: int = 1
    #: The size of the rule's description in bits, where there is one.
    bits: int = 0
    #: The logarithm of the number of rules it was chosen from, where that is known.
    log_hypotheses: float = math.inf
    #: Why it is not right on all rows, where more is known than the number of mistakes.
    why_not: str = ""

    @property
    def delta_each(self) -> float:
        """The probability with which each of the bounds may fail: the sum is delta."""
        return self.delta / self.bounds

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes / self.rounds


@singledispatch
def gather(learner: Any, X: Any, y: Any, delta: float) -> SampleEvidence:
    """What a rule does on the rows X, y."""
    raise NotImplementedError(f"no checker knows {type(learner).__name__}")


# ---------------------------------------------------------------------- decision trees


@gather.register(ID3)
def _(learner: ID3, X: Any, y: Any, delta: float) -> SampleEvidence:
    table = read_categories(X)
    if table.rows == 0:
        raise invalid("X", "at least one row", Words("none"))
    codes = learner._codes(table, "X")
    answers = learner._answers(y, table.rows)
    bits = describe(learner._tree, learner._schema)
    described = Description(bits, learner._schema)
    columns = [column.tolist() for column in codes]
    mistakes = 0
    for i, answer in enumerate(answers.tolist()):
        mistakes += described.label_of([column[i] for column in columns]) != answer
    readable = Assumption(
        "the tree is what its description says", Basis.OBSERVED, True, f"{counted(len(bits), 'bit')} read back"
    )
    return SampleEvidence(
        subject=type(learner).__name__,
        rounds=table.rows,
        assumptions=(DRAWN, _language(learner), readable),
        mistakes=mistakes,
        delta=delta,
        bounds=len(learner.theorems),
        bits=len(bits),
    )


def _language(learner: ID3) -> Assumption:
    known = learner.categories is not None and learner.labels is not None
    statement = "features, values and labels were known before the sample was drawn"
    detail = "by categories and labels" if known else ""
    return Assumption(statement, Basis.ENFORCED if known else Basis.PROMISED, True if known else None, detail)


class Description:
    """A tree read from its description, bit by bit; it shares nothing with the tree of the learner."""

    def __init__(self, bits: str, schema: Schema) -> None:
        self.bits = bits
        self.schema = schema
        self.label_bits, self.feature_bits = width_of(len(schema.labels)), width_of(len(schema.categories))
        #: Each node is ("leaf", label) or ("ask", feature, label for other values or None, {code: node}).
        self.root: Any = None
        self._read()

    def _take(self, at: int, width: int) -> tuple[int, int]:
        return (int(self.bits[at : at + width], 2) if width else 0), at + width

    def _read(self) -> None:
        at = 0
        waiting: list[tuple[dict[int, Any], int]] = []
        while self.root is None or waiting:
            kind = self.bits[at]
            at += 1
            if kind == "0":
                label, at = self._take(at, self.label_bits)
                node: Any = ("leaf", label)
                open_branches: list[tuple[dict[int, Any], int]] = []
            else:
                feature, at = self._take(at, self.feature_bits)
                known, other, codes = len(self.schema.categories[feature]), None, [0, 1]
                if known > 2:
                    other, at = self._take(at, self.label_bits)
                    codes = [code for code in range(known) if self.bits[at + code] == "1"]
                    at += known
                below: dict[int, Any] = {}
                node = ("ask", feature, other, below)
                open_branches = [(below, code) for code in reversed(codes)]
            if self.root is None:
                self.root = node
            else:
                above, code = waiting.pop()
                above[code] = node
            waiting.extend(open_branches)
        if at != len(self.bits):
            raise invalid("the description", "of one tree", self.bits)

    def label_of(self, codes: list[int]) -> int | None:
        """The label of one example; None where the description does not say."""
        node = self.root
        while node[0] == "ask":
            if codes[node[1]] not in node[3]:
                return None if node[2] is None else int(node[2])
            node = node[3][codes[node[1]]]
        return int(node[1])


# ---------------------------------------------------------------------- disjunctions


@gather.register(DisjunctionLearner)
def _(learner: DisjunctionLearner, X: Any, y: Any, delta: float) -> SampleEvidence:
    rows, signs = learner._checked(X, y)
    plain = set(np.flatnonzero(learner._plain_literals).tolist())
    negated = set(np.flatnonzero(learner._negated_literals).tolist())
    wrong = [
        i
        for i, ones in enumerate(_sets_of_ones(learner._matrix(rows)))
        if (bool(plain & ones) or bool(negated - ones)) != bool(signs[i] > 0)
    ]
    why_not = ""
    if wrong and (learner.uncovered is None or signs[wrong[0]] < 0):
        why_not = f"row {wrong[0]} has another label than the disjunction gives"
    elif wrong:
        why_not = (
            f"no disjunction is right on the rows it was fitted to: row {learner.uncovered} there is positive, and "
            f"every literal that is true of it is also true of some negative row"
        )
    return SampleEvidence(
        subject=type(learner).__name__,
        rounds=rows.count,
        # The features of dicts are those that occur; the class has to be there before the sample is.
        assumptions=(DRAWN, Assumption("the features were known before the sample was drawn", Basis.PROMISED, None)),
        mistakes=len(wrong),
        delta=delta,
        log_hypotheses=_log_hypotheses(learner),
        why_not=why_not,
    )


def _log_hypotheses(learner: DisjunctionLearner) -> float:
    """ln of 2^d, or of the 3^d + 1 different functions with negated literals: all tautologies are one function."""
    d = learner.features
    return d * math.log(3) + math.log1p(3.0 ** -min(d, 700)) if learner.negated else d * math.log(2)


def _sets_of_ones(matrix: Any) -> Iterator[set[int]]:
    """The positions of the ones in each row."""
    for i in range(matrix.shape[0]):
        row = matrix[[i]] if not isinstance(matrix, np.ndarray) else matrix[i]
        yield set((row.indices[row.data == 1] if not isinstance(matrix, np.ndarray) else np.flatnonzero(row)).tolist())
