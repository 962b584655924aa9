"""Uniform convergence: on a large sample the error of every rule is near its true error.

Setting     n examples drawn independently from one distribution; the error of a rule on them, and its true error.
Guarantee   a single coin of bias p: s/n exceeds p by more than alpha with probability at most exp(-2 n alpha^2), and
            likewise below. With probability at least 1 - delta, all h of a finite class have both errors within
            sqrt((ln|H| + ln(2/delta)) / (2n)) of each other; all h of any description language have true error at most
            that on the sample plus sqrt((size(h) ln 4 + ln(2/delta)) / (2n)), each by its own size of 1 bit or more.
Source      Hoeffding 1963; Blum, Hopcroft & Kannan, Foundations of Data Science, chapter 6, Theorems 6.6, 6.7 and
            Corollary 6.8.

Each theorem can be asked in three directions: the deviation from n, the smallest n for a deviation, delta from both.
Inputs are numbers or arrays, which broadcast.

>>> round(hoeffding_deviation(1000, 0.05), 6)
0.038702
>>> uniform_sample_size(0.05, 0.05, hypotheses=1000)
2120
>>> regularised_deviation(10_000, bits=[10, 100], delta=0.05).round(4).tolist()
[0.0296, 0.0844]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.inputs import CHANCE, DELTA, DEVIATION, HYPOTHESES, IID, SAMPLES, bits
from afterwit.core.theorem import Theorem
from afterwit.data.quantities import logarithm, smallest_count
from afterwit.sampling._shared import ALL_RULES, BLUM, SampleSize

#: Every size from 1 bit on has its share of delta.
BITS = bits(least=1)
COIN = "the examples are independent, and the rule was chosen before they were seen"
ONE_SIDE = f"{COIN}; above the truth, or below it, not both"


class HoeffdingBound(Theorem):
    """How far the share of heads among n is above p."""

    id = "hoeffding"
    name = "Hoeffding's inequality"
    quantity = "deviation"
    formula = "sqrt(ln(1/{delta}) / (2 {samples}))"
    inputs = (SAMPLES, DELTA)
    needs = ONE_SIDE
    citation = f"{BLUM}, Theorem 6.6"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, delta: Any) -> Any:
        return _deviation(samples, -np.log(delta))


class HoeffdingSize(SampleSize):
    """The smallest sample on which the share of heads is near p."""

    id = HoeffdingBound.id
    name = HoeffdingBound.name
    formula = "ln(1/{delta}) / (2 {deviation}^2)"
    inputs = (DEVIATION, DELTA)
    needs = ONE_SIDE
    citation = HoeffdingBound.citation

    @staticmethod
    def bound(deviation: Any, delta: Any) -> Any:
        return _sample_size(deviation, -np.log(delta))


class HoeffdingProbability(Theorem):
    """How likely the share of heads is far above p."""

    id = "hoeffding-delta"
    name = HoeffdingBound.name
    quantity = "probability"
    formula = "exp(-2 {samples} {deviation}^2)"
    inputs = (SAMPLES, DEVIATION)
    needs = ONE_SIDE
    citation = HoeffdingBound.citation

    @staticmethod
    def bound(samples: Any, deviation: Any) -> Any:
        return _probability(samples, deviation, 0.0)


class UniformBound(Theorem):
    """How far the errors of any rule of a finite class are apart, on the sample and in truth."""

    id = "uniform-convergence"
    name = "uniform convergence"
    quantity = "deviation"
    formula = "sqrt(({log_hypotheses} + ln(2/{delta})) / (2 {samples}))"
    inputs = (SAMPLES, HYPOTHESES, DELTA)
    needs = f"{IID}; {ALL_RULES}"
    citation = f"{BLUM}, Theorem 6.7"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, log_hypotheses: Any, delta: Any) -> Any:
        return _deviation(samples, log_hypotheses + np.log(2 / delta))


class UniformSize(SampleSize):
    """The smallest sample on which the errors of all rules of a finite class are near their true ones."""

    id = UniformBound.id
    name = UniformBound.name
    formula = "({log_hypotheses} + ln(2/{delta})) / (2 {deviation}^2)"
    inputs = (DEVIATION, HYPOTHESES, DELTA)
    needs = UniformBound.needs
    citation = UniformBound.citation

    @staticmethod
    def bound(deviation: Any, log_hypotheses: Any, delta: Any) -> Any:
        return _sample_size(deviation, log_hypotheses + np.log(2 / delta))


class UniformProbability(Theorem):
    """How likely the two errors of some rule of a finite class are far apart."""

    id = "uniform-convergence-delta"
    name = UniformBound.name
    quantity = "probability"
    formula = "min(1, 2 exp({log_hypotheses} - 2 {samples} {deviation}^2))"
    inputs = (SAMPLES, DEVIATION, HYPOTHESES)
    needs = f"{IID}; the probability is that of some rule being further off"
    citation = UniformBound.citation

    @staticmethod
    def bound(samples: Any, deviation: Any, log_hypotheses: Any) -> Any:
        return _probability(samples, deviation, log_hypotheses + np.log(2))


class RegularisedBound(Theorem):
    """How far the errors of any rule are apart, each by the size of its own description."""

    id = "regularised"
    name = "uniform convergence for descriptions"
    quantity = "deviation"
    formula = "sqrt(({bits} ln(4) + ln(2/{delta})) / (2 {samples}))"
    inputs = (SAMPLES, BITS, DELTA)
    needs = f"{IID}; {ALL_RULES}, each by its own size"
    citation = f"{BLUM}, Corollary 6.8"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, bits: Any, delta: Any) -> Any:
        return UniformBound.bound(samples, bits * np.log(4), delta)


class RegularisedSize(SampleSize):
    """The smallest sample on which the error of a rule of so many bits is near its true one."""

    id = RegularisedBound.id
    name = RegularisedBound.name
    formula = "({bits} ln(4) + ln(2/{delta})) / (2 {deviation}^2)"
    inputs = (DEVIATION, BITS, DELTA)
    needs = RegularisedBound.needs
    citation = RegularisedBound.citation

    @staticmethod
    def bound(deviation: Any, bits: Any, delta: Any) -> Any:
        return UniformSize.bound(deviation, bits * np.log(4), delta)


class RegularisedProbability(Theorem):
    """The delta for which a rule of so many bits has that deviation."""

    id = "regularised-delta"
    name = RegularisedBound.name
    quantity = "probability"
    formula = "min(1, 2 (4^{bits}) exp(-2 {samples} {deviation}^2))"
    inputs = (SAMPLES, DEVIATION, BITS)
    needs = f"{IID}; the probability is the delta for which a rule of b bits has that deviation"
    citation = RegularisedBound.citation

    @staticmethod
    def bound(samples: Any, deviation: Any, bits: Any) -> Any:
        return UniformProbability.bound(samples, deviation, bits * np.log(4))


def _deviation(samples: Any, complexity: Any) -> Any:
    return np.sqrt(complexity / (2 * samples))


def _sample_size(deviation: Any, complexity: Any) -> Any:
    with np.errstate(over="ignore", divide="ignore"):
        guess = complexity / (2 * deviation * deviation)
    return smallest_count(lambda n: _deviation(n, complexity), deviation, guess, "deviation")


def _probability(samples: Any, deviation: Any, complexity: Any) -> Any:
    return np.exp(np.minimum(0.0, complexity - 2 * samples * deviation * deviation))


def hoeffding_deviation(samples: Any, delta: Any) -> Any:
    """How far above p the share of heads among n is at most, with probability 1 - ``delta`` (Theorem 6.6)."""
    return HoeffdingBound().values(samples=samples, delta=delta)


def hoeffding_sample_size(deviation: Any, delta: Any) -> Any:
    """The smallest n for which `hoeffding_deviation` is at most ``deviation``."""
    return HoeffdingSize().values(deviation=deviation, delta=delta)


def hoeffding_delta(samples: Any, deviation: Any) -> Any:
    """The probability that the share of heads among n exceeds p by more than ``deviation`` (Theorem 6.6; one side)."""
    return HoeffdingProbability().values(samples=samples, deviation=deviation)


def uniform_deviation(samples: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """How far the errors of any rule of a finite class are apart, on the sample and in truth (Theorem 6.7)."""
    size = logarithm("hypotheses", hypotheses, log_hypotheses)
    return UniformBound().values(samples=samples, log_hypotheses=size, delta=delta)


def uniform_sample_size(deviation: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The smallest n for which `uniform_deviation` is at most ``deviation``."""
    size = logarithm("hypotheses", hypotheses, log_hypotheses)
    return UniformSize().values(deviation=deviation, log_hypotheses=size, delta=delta)


def uniform_delta(samples: Any, deviation: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The probability that some rule's errors are further apart: 2 |H| exp(-2 n deviation^2)."""
    size = logarithm("hypotheses", hypotheses, log_hypotheses)
    return UniformProbability().values(samples=samples, deviation=deviation, log_hypotheses=size)


def regularised_deviation(samples: Any, bits: Any, delta: Any) -> Any:
    """What to add to the error on the sample of a rule of ``bits`` bits (Corollary 6.8)."""
    return RegularisedBound().values(samples=samples, bits=bits, delta=delta)


def regularised_sample_size(deviation: Any, bits: Any, delta: Any) -> Any:
    """The smallest n for which `regularised_deviation` is at most ``deviation``."""
    return RegularisedSize().values(deviation=deviation, bits=bits, delta=delta)


def regularised_delta(samples: Any, deviation: Any, bits: Any) -> Any:
    """The delta for which `regularised_deviation` of a rule of ``bits`` bits is ``deviation``; at most 1."""
    return RegularisedProbability().values(samples=samples, deviation=deviation, bits=bits)
