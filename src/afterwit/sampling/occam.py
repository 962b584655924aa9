"""Occam's razor: a simple rule that is right on a large sample is right nearly everywhere.

Setting     n examples drawn independently from one distribution; a rule h that makes no mistake on them, chosen from a
            finite class H, or described in fewer than b bits in a language fixed before the sample was seen.
Guarantee   with probability at least 1 - delta, every such h has error at most (ln|H| + ln(1/delta)) / n; at most
            (b ln 2 + ln(1/delta)) / n. In a prefix-free language b may be the size of h itself, chosen after the sample
            was seen: give every rule the share 2^-size(h) of delta, which Kraft's inequality allows.
Source      Blumer, Ehrenfeucht, Haussler & Warmuth 1987; Blum, Hopcroft & Kannan, Foundations of Data Science, chapter
            6, Theorems 6.4 and 6.5.

Each theorem can be asked in three directions: the error from n, the smallest n for an error, delta from both. Inputs
are numbers or arrays, which broadcast. Where |H| is too large for a number, give ``log_hypotheses`` = ln|H|.

>>> round(occam_error(1000, 0.05, hypotheses=2**20), 6)
0.016859
>>> occam_sample_size(0.01, 0.05, hypotheses=2**20)
1686
>>> description_sample_size([0.1, 0.01], bits=100, delta=0.05).tolist()
[724, 7232]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.inputs import CHANCE, DELTA, ERROR_RATE, HYPOTHESES, IID, SAMPLES, bits
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT, logarithm, smallest_count
from afterwit.sampling._shared import BLUM, CONSISTENT, SampleSize

BITS = bits()
FEATURES = Input("features", "d", "how many features", COUNT)
DESCRIBED = f"{IID}; {CONSISTENT}, and described in fewer than b bits (prefix-free: in b bits)"


class OccamBound(Theorem):
    """The error of every rule of a finite class that is right on the whole sample."""

    id = "occam"
    name = "Occam's razor"
    quantity = "error"
    formula = "({log_hypotheses} + ln(1/{delta})) / {samples}"
    inputs = (SAMPLES, HYPOTHESES, DELTA)
    needs = f"{IID}; {CONSISTENT}, and of the class"
    citation = f"{BLUM}, Theorem 6.4"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, log_hypotheses: Any, delta: Any) -> Any:
        return (log_hypotheses - np.log(delta)) / samples


class OccamSize(SampleSize):
    """The smallest sample for which Occam's razor gives an error."""

    id = OccamBound.id
    name = OccamBound.name
    formula = "({log_hypotheses} + ln(1/{delta})) / {error}"
    inputs = (ERROR_RATE, HYPOTHESES, DELTA)
    needs = OccamBound.needs
    citation = OccamBound.citation

    @staticmethod
    def bound(error: Any, log_hypotheses: Any, delta: Any) -> Any:
        with np.errstate(over="ignore"):
            guess = (log_hypotheses - np.log(delta)) / error
        return smallest_count(lambda n: OccamBound.bound(n, log_hypotheses, delta), error, guess, "error")


class OccamProbability(Theorem):
    """How likely some rule of a finite class with a large error is right on the whole sample."""

    id = "occam-delta"
    name = OccamBound.name
    quantity = "probability"
    formula = "min(1, exp({log_hypotheses} - {error} {samples}))"
    inputs = (SAMPLES, ERROR_RATE, HYPOTHESES)
    needs = f"{IID}; the probability is that of some rule with that error being right on the whole sample"
    citation = OccamBound.citation

    @staticmethod
    def bound(samples: Any, error: Any, log_hypotheses: Any) -> Any:
        return np.exp(np.minimum(0.0, log_hypotheses - error * samples))


class DescriptionBound(Theorem):
    """The error of every rule with a short description that is right on the whole sample."""

    id = "description-length"
    name = "Occam's razor for descriptions"
    quantity = "error"
    formula = "({bits} ln(2) + ln(1/{delta})) / {samples}"
    inputs = (SAMPLES, BITS, DELTA)
    needs = DESCRIBED
    citation = f"{BLUM}, Theorem 6.5"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, bits: Any, delta: Any) -> Any:
        return OccamBound.bound(samples, bits * np.log(2), delta)


class DescriptionSize(SampleSize):
    """The smallest sample for which a rule with a short description has an error."""

    id = DescriptionBound.id
    name = DescriptionBound.name
    formula = "({bits} ln(2) + ln(1/{delta})) / {error}"
    inputs = (ERROR_RATE, BITS, DELTA)
    needs = DESCRIBED
    citation = DescriptionBound.citation

    @staticmethod
    def bound(error: Any, bits: Any, delta: Any) -> Any:
        return OccamSize.bound(error, bits * np.log(2), delta)


class DescriptionProbability(Theorem):
    """How likely some rule with a short description and a large error is right on the whole sample."""

    id = "description-length-delta"
    name = DescriptionBound.name
    quantity = "probability"
    formula = "min(1, 2^{bits} exp(-{error} {samples}))"
    inputs = (SAMPLES, ERROR_RATE, BITS)
    needs = f"{IID}; the probability is that of some rule of fewer than b bits and that error being right on all"
    citation = DescriptionBound.citation

    @staticmethod
    def bound(samples: Any, error: Any, bits: Any) -> Any:
        return OccamProbability.bound(samples, error, bits * np.log(2))


class DisjunctionBound(Theorem):
    """The error of a disjunction that is right on the whole sample: there are 2^d disjunctions of d features."""

    id = "disjunction"
    name = "Occam's razor for disjunctions"
    quantity = "error"
    formula = "({features} ln(2) + ln(1/{delta})) / {samples}"
    inputs = (SAMPLES, FEATURES, DELTA)
    needs = f"{IID}; the disjunction is right on the whole sample"
    citation = f"{BLUM}, Theorem 6.3"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, features: Any, delta: Any) -> Any:
        return DescriptionBound.bound(samples, features, delta)


class DisjunctionSize(SampleSize):
    """The smallest sample for which a disjunction has an error."""

    id = DisjunctionBound.id
    name = DisjunctionBound.name
    formula = "({features} ln(2) + ln(1/{delta})) / {error}"
    inputs = (ERROR_RATE, FEATURES, DELTA)
    needs = f"{IID}; the target is a disjunction"
    citation = DisjunctionBound.citation

    @staticmethod
    def bound(error: Any, features: Any, delta: Any) -> Any:
        return DescriptionSize.bound(error, features, delta)


def occam_error(samples: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The error of every rule of a finite class that is right on the whole sample (Theorem 6.4)."""
    size = logarithm("hypotheses", hypotheses, log_hypotheses)
    return OccamBound().values(samples=samples, log_hypotheses=size, delta=delta)


def occam_sample_size(error: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The smallest n for which `occam_error` is at most ``error``."""
    size = logarithm("hypotheses", hypotheses, log_hypotheses)
    return OccamSize().values(error=error, log_hypotheses=size, delta=delta)


def occam_delta(samples: Any, error: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The probability that some rule of error at least ``error`` is right on the whole sample: |H| exp(-error n)."""
    size = logarithm("hypotheses", hypotheses, log_hypotheses)
    return OccamProbability().values(samples=samples, error=error, log_hypotheses=size)


def description_error(samples: Any, bits: Any, delta: Any) -> Any:
    """The error of every rule of fewer than ``bits`` bits that is right on the whole sample (Theorem 6.5)."""
    return DescriptionBound().values(samples=samples, bits=bits, delta=delta)


def description_sample_size(error: Any, bits: Any, delta: Any) -> Any:
    """The smallest n for which `description_error` is at most ``error``."""
    return DescriptionSize().values(error=error, bits=bits, delta=delta)


def description_delta(samples: Any, error: Any, bits: Any) -> Any:
    """The probability that some rule of fewer than ``bits`` bits and error at least ``error`` is right on all."""
    return DescriptionProbability().values(samples=samples, error=error, bits=bits)
