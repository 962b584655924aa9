"""Shattering: the VC dimension and the growth function of a finite class, exactly.

Setting     H shatters a set S of points if every labelling of S is that of some h in H. The VC dimension is the size of
            the largest such S; the growth function H[m] is the largest number of labellings of any m points.
Method      points are added one by one, and the hypotheses split into cells by what they say of them. For a set of d
            points to be shattered, each cell of k points must hold 2^(d - k) different hypotheses: a point that splits
            a cell more unevenly is in no such set, here and deeper. Sets of hypotheses are integers, and splitting is
            one "and".
Bounds      VCdim <= opt(H) <= log2 |H| (Mohri et al. 2018, Theorem 8.2); H[m] <= sum of C(m, i) for i <= VCdim
            (Sauer's lemma: Blum et al., Theorem 6.21).
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.9, Definition 6.4.

>>> from afterwit.concepts import intervals, parities
>>> vc_dimension(intervals(10)), vc_dimension(parities(4))
(2, 4)
>>> [growth_function(intervals(10), m) for m in range(5)]  # by Sauer at most 1, 2, 4, 7, 11
[1, 2, 4, 7, 11]
>>> is_shattered(intervals(10), [3, 7]), is_shattered(intervals(10), [3, 5, 7])
(True, False)
"""

from __future__ import annotations

from typing import Any

from afterwit.concepts._bits import as_integer
from afterwit.concepts._distinct import Column, Distinct
from afterwit.concepts.finite_class import as_class
from afterwit.concepts.search import LIMIT, Search, search
from afterwit.data.checks import whole_number


def is_shattered(hypotheses: Any, points: Any) -> bool:
    """Whether every labelling of some points of the domain is that of some hypothesis."""
    made = as_class(hypotheses)
    cells = [as_integer(made.everything())]
    for index in dict.fromkeys(made.indices(points).tolist()):
        column = as_integer(made.votes(index))
        cells = [part for cell in cells for part in (cell & column, cell & ~column)]
        if not all(cells):
            return False
    return True


def vc_dimension(hypotheses: Any, *, limit: int = LIMIT, progress: bool | None = None) -> int:
    """The size of the largest set of points that the class shatters.

    hypotheses  a `FiniteClass`, or a matrix of 0 and 1 (hypotheses x points)
    limit       the most steps that the search may take; beyond it there is an error that says what is known
    progress    show a progress bar: None on a terminal, True in a notebook as well, False never
    """
    different = Distinct(as_class(hypotheses))
    everything, columns = different.everything, different.columns
    dimension = 0
    with search("vc_dimension", limit, progress) as steps:
        while 1 << (dimension + 1) <= different.count and _shatters([everything], columns, dimension + 1, steps):
            dimension += 1
            steps.known = f"at least {dimension}"
    return dimension


def _shatters(cells: list[int], columns: list[Column], wanted: int, steps: Search) -> bool:
    """Whether ``wanted`` more points split every cell in all ways."""
    least = 1 << (wanted - 1)
    useful: list[tuple[Column, list[int]]] = []
    spare = len(columns) - wanted
    for column in columns:
        steps.step()
        split: list[int] = []
        for cell in cells:
            ones = cell & column[1]
            if ones.bit_count() < least:
                break
            zeros = cell ^ ones
            if zeros.bit_count() < least:
                break
            split += (ones, zeros)
        else:
            useful.append((column, split))
            continue
        spare -= 1
        if spare < 0:
            return False
    if wanted == 1:
        return True
    for i in range(len(useful) - wanted + 1):
        _, split = useful[i]
        # The smallest cells are the first that a point cannot split.
        split.sort(key=int.bit_count)
        if _shatters(split, [column for column, _ in useful[i + 1 :]], wanted - 1, steps):
            return True
    return False


def growth_function(hypotheses: Any, m: int, *, limit: int = LIMIT, progress: bool | None = None) -> int:
    """H[m]: the largest number of labellings that the class gives to any m points of the domain.

    m is at most the number of points of the domain; ``limit`` and ``progress`` as for `vc_dimension`.
    """
    made = as_class(hypotheses)
    most = len(made.points)
    m = whole_number("m", m, 0, most, f"a number of points, from 0 to {most}")
    different = Distinct(made)
    # Points on which the class says the same, or the opposite, add no labelling.
    m = min(m, len(different.columns))
    with search("growth_function", limit, progress) as steps:
        return _most_cells([different.everything], different.columns, m, 0, steps)


def _most_cells(cells: list[int], columns: list[Column], more: int, best: int, steps: Search) -> int:
    """The largest number of cells after ``more`` further points, or ``best`` if that is no smaller."""
    steps.step()
    if more == 0:
        return max(best, len(cells))
    # A cell splits into at most as many as it has hypotheses, and at most doubles with every point.
    if len(columns) < more or sum(min(cell.bit_count(), 1 << more) for cell in cells) <= best:
        return best
    for i in range(len(columns) - more + 1):
        column = columns[i][1]
        split = [part for cell in cells for part in (cell & column, cell & ~column) if part]
        best = _most_cells(split, columns[i + 1 :], more - 1, best, steps)
        steps.known = f"at least {best}"
    return best
