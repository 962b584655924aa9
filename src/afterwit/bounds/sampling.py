"""Entries for the theorems of batch learning; the formulas themselves are in `afterwit.batch`."""

from __future__ import annotations

from typing import Any

from afterwit.batch import occam, uniform, vc
from afterwit.bounds._entry import Bound, Input
from afterwit.bounds._inputs import (
    CHANCE,
    DELTA,
    DEVIATION,
    ERROR_RATE,
    HYPOTHESES,
    IID,
    SAMPLES,
    VC_DIMENSION,
    bits,
)
from afterwit.data.quantities import COUNT, COUNT_OR_NONE, Range

_BLUM = "Blum et al., Foundations of Data Science"
_FEATURES = Input("features", "d", "how many features", COUNT)
_ALL_RULES = "it holds for all rules at once, also for one chosen by its error on the sample"
_COIN = "the examples are independent, and the rule was chosen before they were seen"
_CONSISTENT = "the rule is right on the whole sample"
_DESCRIBED = f"{IID}; {_CONSISTENT}, and described in fewer than b bits (prefix-free: in b bits)"
_SMALLEST = "the smallest whole number"


def _growth(points: str = "2 {samples}") -> str:
    """Sauer's sum as it stands in a formula."""
    return f"sum(C({points}, i), i=0..{{vc_dimension}})"


def disjunction_error(samples: Any, features: Any, delta: Any) -> Any:
    """(d ln 2 + ln(1/delta)) / n: there are 2^d disjunctions."""
    return occam.description_error(samples, features, delta)


def disjunction_sample_size(error: Any, features: Any, delta: Any) -> Any:
    """The smallest n for which `disjunction_error` is at most ``error``."""
    return occam.description_sample_size(error, features, delta)


def _probability(**entry: Any) -> Bound:
    return Bound(quantity="probability", **entry)


def _size(**entry: Any) -> Bound:
    return Bound(**{"quantity": "n", "sense": ">=", "rounding": _SMALLEST, "chance": CHANCE, **entry})


ENTRIES = (
    Bound(
        name="occam",
        quantity="error",
        formula="({log_hypotheses} + ln(1/{delta})) / {samples}",
        citation=f"{_BLUM}, Theorem 6.4",
        inputs=(SAMPLES, HYPOTHESES, DELTA),
        function=occam.occam_error,
        needs=f"{IID}; {_CONSISTENT}, and of the class",
        chance=CHANCE,
    ),
    _probability(
        name="occam-delta",
        formula="min(1, exp({log_hypotheses} - {error} {samples}))",
        citation=f"{_BLUM}, Theorem 6.4",
        inputs=(SAMPLES, ERROR_RATE, HYPOTHESES),
        function=occam.occam_delta,
        needs=f"{IID}; the probability is that of some rule with that error being right on the whole sample",
    ),
    Bound(
        name="description-length",
        quantity="error",
        formula="({bits} ln(2) + ln(1/{delta})) / {samples}",
        citation=f"{_BLUM}, Theorem 6.5",
        inputs=(SAMPLES, bits(), DELTA),
        function=occam.description_error,
        needs=_DESCRIBED,
        chance=CHANCE,
    ),
    _probability(
        name="description-length-delta",
        formula="min(1, 2^{bits} exp(-{error} {samples}))",
        citation=f"{_BLUM}, Theorem 6.5",
        inputs=(SAMPLES, ERROR_RATE, bits()),
        function=occam.description_delta,
        needs=f"{IID}; the probability is that of some rule of fewer than b bits and that error being right on all",
    ),
    Bound(
        name="disjunction",
        quantity="error",
        formula="({features} ln(2) + ln(1/{delta})) / {samples}",
        citation=f"{_BLUM}, Theorem 6.3",
        inputs=(SAMPLES, _FEATURES, DELTA),
        function=disjunction_error,
        needs=f"{IID}; the disjunction is right on the whole sample",
        chance=CHANCE,
    ),
    Bound(
        name="hoeffding",
        quantity="deviation",
        formula="sqrt(ln(1/{delta}) / (2 {samples}))",
        citation=f"{_BLUM}, Theorem 6.6",
        inputs=(SAMPLES, DELTA),
        function=uniform.hoeffding_deviation,
        needs=f"{_COIN}; above the truth, or below it, not both",
        chance=CHANCE,
    ),
    _probability(
        name="hoeffding-delta",
        formula="exp(-2 {samples} {deviation}^2)",
        citation=f"{_BLUM}, Theorem 6.6",
        inputs=(SAMPLES, DEVIATION),
        function=uniform.hoeffding_delta,
        needs=f"{_COIN}; above the truth, or below it, not both",
    ),
    Bound(
        name="uniform-convergence",
        quantity="deviation",
        formula="sqrt(({log_hypotheses} + ln(2/{delta})) / (2 {samples}))",
        citation=f"{_BLUM}, Theorem 6.7",
        inputs=(SAMPLES, HYPOTHESES, DELTA),
        function=uniform.uniform_deviation,
        needs=f"{IID}; {_ALL_RULES}",
        chance=CHANCE,
    ),
    _probability(
        name="uniform-convergence-delta",
        formula="min(1, 2 exp({log_hypotheses} - 2 {samples} {deviation}^2))",
        citation=f"{_BLUM}, Theorem 6.7",
        inputs=(SAMPLES, DEVIATION, HYPOTHESES),
        function=uniform.uniform_delta,
        needs=f"{IID}; the probability is that of some rule being further off",
    ),
    Bound(
        name="regularised",
        quantity="deviation",
        formula="sqrt(({bits} ln(4) + ln(2/{delta})) / (2 {samples}))",
        citation=f"{_BLUM}, Corollary 6.8",
        inputs=(SAMPLES, bits(least=1), DELTA),
        function=uniform.regularised_deviation,
        needs=f"{IID}; {_ALL_RULES}, each by its own size",
        chance=CHANCE,
    ),
    _probability(
        name="regularised-delta",
        formula="min(1, 2 (4^{bits}) exp(-2 {samples} {deviation}^2))",
        citation=f"{_BLUM}, Corollary 6.8",
        inputs=(SAMPLES, DEVIATION, bits(least=1)),
        function=uniform.regularised_delta,
        needs=f"{IID}; the probability is the delta for which a rule of b bits has that deviation",
    ),
    Bound(
        name="vc",
        quantity="error",
        formula=f"2 (log2(2 {_growth()}) + log2(1/{{delta}})) / {{samples}}",
        citation=f"{_BLUM}, Theorems 6.19 and 6.21",
        inputs=(SAMPLES, VC_DIMENSION, DELTA),
        function=vc.vc_error,
        needs=f"{IID}; {_CONSISTENT}",
        chance=CHANCE,
    ),
    _probability(
        name="vc-delta",
        formula=f"min(1, 2 {_growth()} 2^(-{{error}} {{samples}} / 2))",
        citation=f"{_BLUM}, Theorems 6.19 and 6.21",
        inputs=(SAMPLES, ERROR_RATE, VC_DIMENSION),
        function=vc.vc_delta,
        needs=f"{IID}; the probability is that of some rule with that error being right on the whole sample",
    ),
    Bound(
        name="vc-uniform",
        quantity="deviation",
        formula=f"sqrt(8 (ln(2 {_growth()}) + ln(1/{{delta}})) / {{samples}})",
        citation=f"{_BLUM}, Theorems 6.20 and 6.21",
        inputs=(SAMPLES, VC_DIMENSION, DELTA),
        function=vc.vc_deviation,
        needs=f"{IID}; {_ALL_RULES}",
        chance=CHANCE,
    ),
    _probability(
        name="vc-uniform-delta",
        formula=f"min(1, 2 {_growth()} exp(-{{samples}} {{deviation}}^2 / 8))",
        citation=f"{_BLUM}, Theorems 6.20 and 6.21",
        inputs=(SAMPLES, DEVIATION, VC_DIMENSION),
        function=vc.vc_uniform_delta,
        needs=f"{IID}; the probability is that of some rule being further off",
    ),
    Bound(
        name="growth",
        quantity="ln H[m]",
        formula=f"ln({_growth('{points}')})",
        citation=f"{_BLUM}, Theorem 6.21 (Sauer's lemma)",
        inputs=(Input("points", "m", "how many points", COUNT_OR_NONE), VC_DIMENSION),
        function=vc.log_growth_bound,
        needs="H[m] is the largest number of ways in which the class labels m points",
    ),
    Bound(
        name="majority-vc",
        quantity="VC dimension",
        formula="max(m : 2^m <= sum(C(m, i), i=0..{vc_dimension})^{votes})",
        citation=f"{_BLUM}, Corollary 6.23, solved for m",
        inputs=(
            VC_DIMENSION,
            Input("votes", "k", "how many rules vote", Range(vc.ODD.allowed, vc.ODD.inside, whole=True)),
        ),
        function=vc.majority_vc_dimension,
        needs="the class is that of majority votes of k rules of H",
    ),
)

SAMPLE_SIZES = (
    _size(
        name="occam",
        formula="({log_hypotheses} + ln(1/{delta})) / {error}",
        citation=f"{_BLUM}, Theorem 6.4",
        inputs=(ERROR_RATE, HYPOTHESES, DELTA),
        function=occam.occam_sample_size,
        needs=f"{IID}; {_CONSISTENT}, and of the class",
    ),
    _size(
        name="description-length",
        formula="({bits} ln(2) + ln(1/{delta})) / {error}",
        citation=f"{_BLUM}, Theorem 6.5",
        inputs=(ERROR_RATE, bits(), DELTA),
        function=occam.description_sample_size,
        needs=_DESCRIBED,
    ),
    _size(
        name="disjunction",
        formula="({features} ln(2) + ln(1/{delta})) / {error}",
        citation=f"{_BLUM}, Theorem 6.3",
        inputs=(ERROR_RATE, _FEATURES, DELTA),
        function=disjunction_sample_size,
        needs=f"{IID}; the target is a disjunction",
    ),
    _size(
        name="hoeffding",
        formula="ln(1/{delta}) / (2 {deviation}^2)",
        citation=f"{_BLUM}, Theorem 6.6",
        inputs=(DEVIATION, DELTA),
        function=uniform.hoeffding_sample_size,
        needs=f"{_COIN}; above the truth, or below it, not both",
    ),
    _size(
        name="uniform-convergence",
        formula="({log_hypotheses} + ln(2/{delta})) / (2 {deviation}^2)",
        citation=f"{_BLUM}, Theorem 6.7",
        inputs=(DEVIATION, HYPOTHESES, DELTA),
        function=uniform.uniform_sample_size,
        needs=f"{IID}; {_ALL_RULES}",
    ),
    _size(
        name="regularised",
        formula="({bits} ln(4) + ln(2/{delta})) / (2 {deviation}^2)",
        citation=f"{_BLUM}, Corollary 6.8",
        inputs=(DEVIATION, bits(least=1), DELTA),
        function=uniform.regularised_sample_size,
        needs=f"{IID}; {_ALL_RULES}, each by its own size",
    ),
    _size(
        name="vc",
        formula=f"2 (log2(2 {_growth('2n')}) + log2(1/{{delta}})) / {{error}}",
        citation=f"{_BLUM}, Theorems 6.19 and 6.21, solved for n",
        inputs=(ERROR_RATE, VC_DIMENSION, DELTA),
        function=vc.vc_sample_size,
        needs=f"{IID}; {_CONSISTENT}",
    ),
    _size(
        name="vc-uniform",
        formula=f"8 (ln(2 {_growth('2n')}) + ln(1/{{delta}})) / {{deviation}}^2",
        citation=f"{_BLUM}, Theorems 6.20 and 6.21, solved for n",
        inputs=(DEVIATION, VC_DIMENSION, DELTA),
        function=vc.vc_uniform_sample_size,
        needs=f"{IID}; {_ALL_RULES}",
    ),
    _size(
        name="vc-closed",
        formula="max(4 log2(2/{delta}), 8 {vc_dimension} log2(13/{error})) / {error}",
        citation=f"{_BLUM}, Corollary 6.22; constants of Blumer et al. 1989, Theorem 2.1",
        inputs=(ERROR_RATE, VC_DIMENSION, DELTA),
        function=vc.vc_closed_sample_size,
        needs=f"{IID}; {_CONSISTENT}",
        rounding="the next whole number",
    ),
)
