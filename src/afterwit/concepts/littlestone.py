"""The Littlestone dimension: the optimal mistake bound opt(H) of a finite class, exactly.

Setting     a mistake tree is a complete binary tree of points in which every path, from the root to a leaf, is labelled
            by some h in H. The Littlestone dimension is the depth of the deepest one. It is opt(H): an adversary that
            walks down the tree against the predictions forces that many mistakes on any deterministic learner, and the
            standard optimal algorithm never makes more.
Method      Ldim(V) = max over the points x of 1 + min(Ldim(V with h(x) = 0), Ldim(V with h(x) = 1)), for V of two or
            more hypotheses; 0 for one, -1 for none. Asked as "at least d?", V must have 2^d hypotheses and some x both
            of whose parts have 2^(d-1); answers are remembered for every V. The points matter only by how they split V,
            and of the many ways to split H few are left for a small V.
Bounds      VCdim <= opt(H) <= log2 |H| (Theorem 8.2).
Source      Littlestone, Learning quickly when irrelevant attributes abound, 1988; Mohri, Rostamizadeh & Talwalkar,
            Foundations of Machine Learning, 2nd ed. 2018, Theorem 8.2.

>>> from afterwit.concepts import monotone_disjunctions, thresholds
>>> littlestone_dimension(thresholds(255))  # although their VC dimension is 1
8
>>> littlestone_dimension(monotone_disjunctions(4))
4
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from afterwit.concepts._bits import Words64
from afterwit.concepts._distinct import Distinct
from afterwit.concepts.finite_class import FiniteClass, as_class
from afterwit.concepts.halving import HalvingBound
from afterwit.concepts.search import LIMIT, Search, search
from afterwit.core.inputs import HYPOTHESES
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT_OR_NONE


class LittlestoneBound(Theorem):
    """The optimal mistake bound of a class is at most that of halving."""

    id = "littlestone"
    name = "upper bound on the optimal mistake bound"
    quantity = "opt(H)"
    formula = "{log_hypotheses} / ln(2)"
    inputs = (HYPOTHESES,)
    needs = "mistakes are counted on sequences that some rule of the class is right on"
    citation = "Mohri et al. 2018, Theorem 8.2"
    bound = staticmethod(HalvingBound.bound)


class LittlestoneLowerBound(Theorem):
    """A shattered set of points forces a mistake on each of them."""

    id = "littlestone-lower"
    name = "lower bound on the optimal mistake bound"
    quantity = "opt(H)"
    sense = ">="
    formula = "{vc_dimension}"
    inputs = (Input("vc_dimension", "d", "the VC dimension of the class", COUNT_OR_NONE),)
    needs = "the learner is deterministic"
    citation = "Mohri et al. 2018, Theorem 8.2"

    @staticmethod
    def bound(vc_dimension: Any) -> Any:
        return vc_dimension


def littlestone_dimension(hypotheses: Any, *, limit: int = LIMIT, progress: bool | None = None) -> int:
    """opt(H): the mistakes that an optimal deterministic learner makes at worst, if some h in H is right.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points)
    limit       the most steps that the search may take; beyond it there is an error that says what is known
    progress    show a progress bar: None on a terminal, True in a notebook as well, False never
    """
    made = as_class(hypotheses)
    with search("littlestone_dimension", limit, progress) as steps:
        return Subclasses(made).dimension(made.everything(), steps)


class Subclasses:
    """The Littlestone dimensions of version spaces V, what some labels leave of a class; answers are remembered.

    A version space holds all equal hypotheses or none of them, so that one can stand for all.
    """

    def __init__(self, made: FiniteClass) -> None:
        self._different = Distinct(made)
        self._columns = [ones for _, ones in self._different.columns]
        #: For each V: a dimension it has at least, and one it has at most.
        self._known: dict[int, tuple[int, int]] = {}

    def dimension(self, alive: Words64, steps: Search) -> int:
        """Ldim(V); -1 for the empty one."""
        V = self._different.reduced(alive)
        if not V:
            return -1
        dimension = 0
        while self._at_least(V, dimension + 1, self._columns, steps):
            dimension += 1
            steps.known = f"at least {dimension}"
        return dimension

    def root(self, alive: Words64, depth: int, steps: Search) -> int:
        """The root of a mistake tree of that depth: the index of a point both of whose parts have depth - 1."""
        V = self._different.reduced(alive)
        for index, column in self._different.columns:
            ones = V & column
            if all(self._at_least(part, depth - 1, self._columns, steps) for part in (ones, V ^ ones)):
                return index
        raise ValueError("there is no mistake tree of that depth")

    def _at_least(self, V: int, depth: int, columns: Iterable[int], steps: Search) -> bool:
        """Whether Ldim(V) >= depth; ``columns`` hold every way to split V, and perhaps more."""
        count = V.bit_count()
        if count < 1 << depth:
            return False
        if depth <= 1:
            # Two different hypotheses differ at some point.
            return True
        low, high = self._known.get(V, (1, count.bit_length() - 1))
        if depth <= low or depth > high:
            return depth <= low
        splits = _splits(V, count, columns)
        steps.step(len(splits) + 1)
        half = 1 << (depth - 1)
        # Even splits first: they are the likeliest.
        even = sorted((part for part in splits if splits[part] >= half), key=splits.__getitem__, reverse=True)
        for smaller in even:
            if all(self._at_least(part, depth - 1, splits, steps) for part in (smaller, V ^ smaller)):
                self._known[V] = (depth, high)
                return True
        self._known[V] = (low, depth - 1)
        return False


def _splits(V: int, count: int, columns: Iterable[int]) -> dict[int, int]:
    """The different ways in which columns split V: the smaller part of each, and how many hypotheses it has."""
    lowest = V & -V
    splits: dict[int, int] = {}
    for column in columns:
        part = V & column
        number = part.bit_count()
        if 2 * number > count or (2 * number == count and not part & lowest):
            part, number = V ^ part, count - number
        if number:
            splits[part] = number
    return splits
