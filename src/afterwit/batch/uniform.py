"""Uniform convergence: on a large sample every rule errs about as often as it will.

Setting     n examples drawn independently from one distribution; the error of a rule on them, and its true error.
Guarantee   a single coin of bias p: s/n exceeds p by more than alpha with probability at most exp(-2 n alpha^2), and
            likewise below. With probability at least 1 - delta, all h of a finite class have both errors within
            sqrt((ln|H| + ln(2/delta)) / (2n)) of each other; all h of any description language have true error at most
            that on the sample plus sqrt((size(h) ln 4 + ln(2/delta)) / (2n)), each by its own size of 1 bit or more.
Source      Hoeffding 1963; Blum, Hopcroft & Kannan, Foundations of Data Science, chapter 6, Theorems 6.6, 6.7 and
            Corollary 6.8.

Each theorem in its three directions: the deviation from n, the smallest n for a deviation, delta from both. Numbers or
arrays, which broadcast.

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

from afterwit.data.quantities import COUNT, ERROR, PROBABILITY, Range, logarithm, plain, smallest_count

BITS = Range("a finite number, at least 1", lambda x: x >= 1)


def hoeffding_delta(samples: Any, deviation: Any) -> Any:
    """The probability that the share of heads among n exceeds p by more than ``deviation`` (Theorem 6.6; one side)."""
    n, a = COUNT.check("samples", samples), ERROR.check("deviation", deviation)
    return plain(np.exp(-2 * n * a * a))


def hoeffding_deviation(samples: Any, delta: Any) -> Any:
    """How far above p the share of heads among n is at most, with probability 1 - ``delta``."""
    n, d = COUNT.check("samples", samples), PROBABILITY.check("delta", delta)
    return plain(_deviation(n, -np.log(d)))


def hoeffding_sample_size(deviation: Any, delta: Any) -> Any:
    """The smallest n for which `hoeffding_deviation` is at most ``deviation``."""
    a, d = ERROR.check("deviation", deviation), PROBABILITY.check("delta", delta)
    return _sample_size(a, -np.log(d))


def uniform_deviation(samples: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """How far the errors of any rule of a finite class are apart, on the sample and in truth (Theorem 6.7)."""
    n, d = COUNT.check("samples", samples), PROBABILITY.check("delta", delta)
    return plain(_deviation(n, logarithm("hypotheses", hypotheses, log_hypotheses) + np.log(2 / d)))


def uniform_sample_size(deviation: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The smallest n for which `uniform_deviation` is at most ``deviation``."""
    a, d = ERROR.check("deviation", deviation), PROBABILITY.check("delta", delta)
    return _sample_size(a, logarithm("hypotheses", hypotheses, log_hypotheses) + np.log(2 / d))


def uniform_delta(samples: Any, deviation: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The probability that some rule's errors are further apart: 2 |H| exp(-2 n deviation^2)."""
    n, a = COUNT.check("samples", samples), ERROR.check("deviation", deviation)
    return plain(_delta(n, a, logarithm("hypotheses", hypotheses, log_hypotheses) + np.log(2)))


def regularised_deviation(samples: Any, bits: Any, delta: Any) -> Any:
    """What to add to the error on the sample of a rule of ``bits`` bits (Corollary 6.8)."""
    n, b, d = COUNT.check("samples", samples), BITS.check("bits", bits), PROBABILITY.check("delta", delta)
    return plain(_deviation(n, b * np.log(4) + np.log(2 / d)))


def regularised_sample_size(deviation: Any, bits: Any, delta: Any) -> Any:
    """The smallest n for which `regularised_deviation` is at most ``deviation``."""
    a, b, d = ERROR.check("deviation", deviation), BITS.check("bits", bits), PROBABILITY.check("delta", delta)
    return _sample_size(a, b * np.log(4) + np.log(2 / d))


def regularised_delta(samples: Any, deviation: Any, bits: Any) -> Any:
    """The delta for which `regularised_deviation` of a rule of ``bits`` bits is ``deviation``; at most 1."""
    n, a, b = COUNT.check("samples", samples), ERROR.check("deviation", deviation), BITS.check("bits", bits)
    return plain(_delta(n, a, b * np.log(4) + np.log(2)))


def _deviation(n: Any, complexity: Any) -> Any:
    return np.sqrt(complexity / (2 * n))


def _sample_size(deviation: Any, complexity: Any) -> Any:
    with np.errstate(over="ignore", divide="ignore"):
        guess = complexity / (2 * deviation * deviation)
    return smallest_count(lambda n: _deviation(n, complexity), deviation, guess, "deviation")


def _delta(n: Any, deviation: Any, complexity: Any) -> Any:
    return np.exp(np.minimum(0.0, complexity - 2 * n * deviation * deviation))
