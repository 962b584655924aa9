"""Mistake bounds of learners of finite classes, as closed formulas.

Source      Littlestone 1988; Mohri, Rostamizadeh & Talwalkar 2018, Theorems 8.1 and 8.2; Blum, Hopcroft & Kannan,
            Foundations of Data Science, Theorems 6.10 and 6.12; lecture notes on the mistake-bounded model (Winnow for
            disjunctions).

Numbers or arrays, which broadcast.

>>> round(halving(hypotheses=1000), 3), round(winnow_disjunction(features=1000, literals=5), 3)
(9.966, 101.658)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.bounds._entry import Bound, Input
from afterwit.bounds._inputs import HYPOTHESES
from afterwit.data.quantities import COUNT, COUNT_OR_NONE, NOT_NEGATIVE, logarithm, plain
from afterwit.errors import invalid


def halving(hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """log2|H|: mistakes of the halving algorithm, and the optimal mistake bound at most."""
    return plain(logarithm("hypotheses", hypotheses, log_hypotheses) / np.log(2))


def generalized_halving(bits: Any) -> Any:
    """size(f*): mistakes of halving with weights 2^-size."""
    return plain(NOT_NEGATIVE.check("bits", bits))


def online_disjunction(features: Any) -> Any:
    """d: mistakes of the learner that drops variables."""
    return plain(COUNT.check("features", features))


def winnow_disjunction(features: Any, literals: Any) -> Any:
    """2 k log2(n) + 2: mistakes of Winnow on a monotone disjunction of k of n variables."""
    n, k = COUNT.check("features", features), COUNT_OR_NONE.check("literals", literals)
    if (k > n).any():
        raise invalid("literals", "at most as many as features", literals)
    return plain(2 * k * np.log2(n) + 2)


def mistakes_any_learner_can_be_forced_to(vc_dimension: Any) -> Any:
    """VCdim(H): what some consistent sequence forces from every deterministic learner."""
    return plain(COUNT_OR_NONE.check("vc_dimension", vc_dimension))


ENTRIES = (
    Bound(
        name="halving",
        quantity="mistakes",
        formula="{log_hypotheses} / ln(2)",
        citation="Mohri et al. 2018, Theorem 8.1",
        inputs=(HYPOTHESES,),
        function=halving,
        needs="some rule of the class is right on every example",
    ),
    Bound(
        name="generalized-halving",
        quantity="mistakes",
        formula="{bits}",
        citation="Blum et al., Foundations of Data Science, Theorem 6.12",
        inputs=(Input("bits", "size(f)", "the size of the target's description in bits", NOT_NEGATIVE),),
        function=generalized_halving,
        needs="the description language is prefix-free and f is right on every example",
    ),
    Bound(
        name="online-disjunction",
        quantity="mistakes",
        formula="{features}",
        citation="Blum et al., Foundations of Data Science, Theorem 6.10; met with equality, 6.11",
        inputs=(Input("features", "d", "how many variables", COUNT),),
        function=online_disjunction,
        needs="some monotone disjunction is right on every example",
    ),
    Bound(
        name="winnow-disjunction",
        quantity="mistakes",
        formula="2 {literals} log2({features}) + 2",
        citation="Littlestone 1988",
        inputs=(
            Input("literals", "k", "how many variables are in the target", COUNT_OR_NONE),
            Input("features", "n", "how many variables there are", COUNT),
        ),
        function=winnow_disjunction,
        needs="a monotone disjunction of k variables is right on every example",
    ),
    Bound(
        name="littlestone",
        quantity="opt(H)",
        formula="{log_hypotheses} / ln(2)",
        citation="Mohri et al. 2018, Theorem 8.2",
        inputs=(HYPOTHESES,),
        function=halving,
        needs="mistakes are counted on sequences that some rule of the class is right on",
    ),
    Bound(
        name="littlestone-lower",
        quantity="opt(H)",
        formula="{vc_dimension}",
        citation="Mohri et al. 2018, Theorem 8.2",
        inputs=(Input("vc_dimension", "d", "the VC dimension of the class", COUNT_OR_NONE),),
        function=mistakes_any_learner_can_be_forced_to,
        needs="the learner is deterministic",
        sense=">=",
    ),
)
