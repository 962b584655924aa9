"""Occam's razor: a simple rule that is right on a large sample is right nearly everywhere.

Setting     n examples drawn independently from one distribution; a rule h that makes no mistake on them, chosen from a
            finite class H, or described in fewer than b bits in a language fixed before the sample was seen.
Guarantee   with probability at least 1 - delta, every such h has error at most (ln|H| + ln(1/delta)) / n; at most
            (b ln 2 + ln(1/delta)) / n. In a prefix-free language b may be the size of h itself, chosen after the sample
            was seen: give every rule the share 2^-size(h) of delta, which Kraft's inequality allows.
Source      Blumer, Ehrenfeucht, Haussler & Warmuth 1987; Blum, Hopcroft & Kannan, Foundations of Data Science, chapter
            6, Theorems 6.4 and 6.5.

Each theorem in its three directions: the error from n, the smallest n for an error, delta from both. Numbers or arrays,
which broadcast. A class may be given by ``log_hypotheses`` = ln|H| where |H| is beyond all numbers.

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

from afterwit.data.quantities import COUNT, ERROR, NOT_NEGATIVE, PROBABILITY, logarithm, plain, smallest_count


def occam_error(samples: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The error of every rule of a finite class that is right on the whole sample (Theorem 6.4)."""
    n, d = COUNT.check("samples", samples), PROBABILITY.check("delta", delta)
    return plain(_error(n, logarithm("hypotheses", hypotheses, log_hypotheses), d))


def occam_sample_size(error: Any, delta: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The smallest n for which `occam_error` is at most ``error``."""
    e, d = ERROR.check("error", error), PROBABILITY.check("delta", delta)
    return _sample_size(e, logarithm("hypotheses", hypotheses, log_hypotheses), d)


def occam_delta(samples: Any, error: Any, hypotheses: Any = None, log_hypotheses: Any = None) -> Any:
    """The probability that some rule of error at least ``error`` is right on the whole sample: |H| exp(-error n)."""
    n, e = COUNT.check("samples", samples), ERROR.check("error", error)
    return plain(_delta(n, logarithm("hypotheses", hypotheses, log_hypotheses), e))


def description_error(samples: Any, bits: Any, delta: Any) -> Any:
    """The error of every rule of fewer than ``bits`` bits that is right on the whole sample (Theorem 6.5)."""
    n, b, d = COUNT.check("samples", samples), NOT_NEGATIVE.check("bits", bits), PROBABILITY.check("delta", delta)
    return plain(_error(n, b * np.log(2), d))


def description_sample_size(error: Any, bits: Any, delta: Any) -> Any:
    """The smallest n for which `description_error` is at most ``error``."""
    e, b, d = ERROR.check("error", error), NOT_NEGATIVE.check("bits", bits), PROBABILITY.check("delta", delta)
    return _sample_size(e, b * np.log(2), d)


def description_delta(samples: Any, error: Any, bits: Any) -> Any:
    """The probability that some rule of fewer than ``bits`` bits and error at least ``error`` is right on all."""
    n, e, b = COUNT.check("samples", samples), ERROR.check("error", error), NOT_NEGATIVE.check("bits", bits)
    return plain(_delta(n, b * np.log(2), e))


def _error(n: Any, log_size: Any, delta: Any) -> Any:
    return (log_size - np.log(delta)) / n


def _sample_size(error: Any, log_size: Any, delta: Any) -> Any:
    with np.errstate(over="ignore"):
        guess = (log_size - np.log(delta)) / error
    return smallest_count(lambda n: _error(n, log_size, delta), error, guess, "error")


def _delta(n: Any, log_size: Any, error: Any) -> Any:
    return np.exp(np.minimum(0.0, log_size - error * n))
