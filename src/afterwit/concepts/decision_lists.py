"""Decision lists: the first rule whose literal is true decides.

Setting     points in {0, 1}^n. A list "if l_1 then b_1, else if l_2 then b_2, ..., else b" has literals l_i, a
            variable or its negation, and answers b_i, b in {0, 1}. The class holds each function once, under the name
            of the shortest list for it.
Sizes       r rules take r + 1 bits for r in unary, ceil(log2 n) + 2 for each rule and 1 for the last answer: a
            prefix-free language, in which short lists take few bits.
Source      Rivest, Learning decision lists, 1987; the description lengths as in Blum, Hopcroft & Kannan, Foundations
            of Data Science, sections 6.2.3 and 6.4.2.

>>> lists = decision_lists(["cheap", "known"], rules=2)
>>> lists
<14 hypotheses, 4 points>
>>> lists.consistent([(1, 0), (1, 1), (0, 1)], [1, 0, 0])
['if known then 0, else 1', 'if not cheap then 0, else if known then 0, else 1']
"""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np

from afterwit.concepts._bits import WORD, Words64, pack, words_for
from afterwit.concepts.boolean_classes import boolean_domain, variable_names
from afterwit.concepts.finite_class import FiniteClass, checked_size
from afterwit.data.checks import is_whole, whole_number
from afterwit.errors import Words, invalid

#: How many lists are looked at, at most.
MOST_LISTS = 2_000_000
#: How many lists are turned at once.
BLOCK = 1024


def decision_lists(variables: Any, rules: int, points: Any = None) -> FiniteClass:
    """The decision lists of a few rules, over different variables.

    variables  how many, or their names
    rules      the most rules in one list
    points     boolean vectors; all 2^n of them if not given, up to n = 16
    """
    names = variable_names(variables)
    n = len(names)
    rules = whole_number("rules", rules)
    found = boolean_domain(points, n)
    lists = sum(math.perm(n, r) * 4**r * 2 for r in range(min(rules, n) + 1))
    if lists > MOST_LISTS:
        raise invalid(
            "rules", f"so few that there are at most {MOST_LISTS:,} lists", Words(f"{rules}: {lists:,} lists")
        )
    table = np.array(found, dtype=np.bool_).reshape(len(found), n)
    described, sizes = [], []
    #: What each list says of all points, as bits: a class too large is refused while there are few of them.
    seen: dict[bytes, None] = {}
    for r in range(min(rules, n) + 1):
        for chosen in permutations(range(n), r):
            for signs, answers in product(product((1, 0), repeat=r), product((0, 1), repeat=r + 1)):
                values = np.full(len(found), answers[-1], dtype=np.bool_)
                for j, sign, answer in reversed(list(zip(chosen, signs, answers[:-1], strict=True))):
                    values[table[:, j] == sign] = answer
                if (key := np.packbits(values).tobytes()) in seen:
                    continue
                seen[key] = None
                checked_size(len(seen), len(found))
                described.append(_in_words([names[j] for j in chosen], signs, answers))
                sizes.append(r + 1 + r * (math.ceil(math.log2(n)) + 2) + 1)
    given = None if points is None else found
    arguments = {"variables": n if is_whole(variables) else names, "rules": rules, "points": given}
    lengths = np.array(sizes, dtype=np.int64)
    return FiniteClass._made(
        len(seen), _turned(list(seen), len(found)), found, tuple(described), lengths, ("decision_lists", arguments)
    )


def _turned(said: list[bytes], points: int) -> Words64:
    """The bits of the hypotheses, packed along the points, as words packed along the hypotheses."""
    bits = np.empty((points, words_for(len(said))), dtype=WORD)
    for begin in range(0, len(said), BLOCK):
        block = np.frombuffer(b"".join(said[begin : begin + BLOCK]), dtype=np.uint8)
        table = np.unpackbits(block.reshape(-1, -(-points // 8)), axis=1, count=points)
        words = pack(table.T)
        bits[:, begin // 64 : begin // 64 + words.shape[1]] = words
    return bits


def _in_words(variables: list[str], signs: tuple[int, ...], answers: tuple[int, ...]) -> str:
    rules = [
        f"if {'' if sign else 'not '}{variable} then {answer}"
        for variable, sign, answer in zip(variables, signs, answers[:-1], strict=True)
    ]
    return ", else ".join([*rules, f"{answers[-1]}"]) if rules else f"always {answers[-1]}"
