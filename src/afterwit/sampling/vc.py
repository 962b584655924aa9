"""VC dimension: sample sizes for infinite classes, by how many ways a class can label a sample.

Setting     m examples drawn independently from one distribution; a class H of VC dimension d, whose growth function
            H[m] is the largest number of ways in which it labels m points.
Guarantee   with probability at least 1 - delta: every h that is right on the whole sample has error below eps if
            m >= (2/eps) (log2(2 H[2m]) + log2(1/delta)); the errors of every h on the sample and in truth are within
            eps if m >= (8/eps^2) (ln(2 H[2m]) + ln(1/delta)). H[m] is at most the sum of C(m, i) for i = 0 to d
            (Sauer's lemma), which is what stands for it here. m is on both sides: the smallest m is found by bisection,
            as log H[2m] / m falls.
Remarks     The proof printed for the second gives ln(4 H[2m]), with the two samples eps/2 apart and the second near the
            truth with probability 1/2. Let them be 0.6 eps apart, and the second within 0.4 eps of the truth, by
            Hoeffding: a failure then has probability at most 2 H[2m] exp(-0.18 eps^2 m) / (1 - 2 exp(-0.32 eps^2 m)).
            That is less than 2 H[2m] exp(-eps^2 m / 8) for every m in question, as H[2m] > 2m makes eps^2 m > 36; for
            d = 0 there is one rule, and Hoeffding alone is enough. So the statement with 2 is true. The further
            inequality H[m] <= m^d of the print fails for d = 1 and is not used.
Source      Vapnik & Chervonenkis 1971; Blumer, Ehrenfeucht, Haussler & Warmuth 1989; Blum, Hopcroft & Kannan,
            Foundations of Data Science, chapter 6, Theorems 6.19 to 6.21, Corollaries 6.22 and 6.23.

>>> d = vc_dimension_of_linear_separators(10)
>>> vc_sample_size(0.1, 0.05, d), vc_uniform_sample_size(0.1, 0.05, d)
(2275, 96004)
>>> vc_error(10_000, 0.05, [1, 11, 101]).round(3).tolist()
[0.004, 0.027, 0.183]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.inputs import CHANCE, DELTA, DEVIATION, ERROR_RATE, IID, SAMPLES, VC_DIMENSION
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT, COUNT_OR_NONE, Floats, Range, plain, smallest_count, whole
from afterwit.errors import invalid
from afterwit.sampling._shared import ALL_RULES, BLUM, CONSISTENT, SampleSize

#: A share of all 2^m labellings as small as this is beyond what a float holds well.
SMALLEST_SHARE = 1e-250
MANY_POINTS = 10_000
ODD = Range("an odd whole number, at least 1", lambda x: (x >= 1) & (x % 2 == 1), whole=True)


def _growth(points: str = "2 {samples}") -> str:
    """Sauer's sum as it stands in a formula."""
    return f"sum(C({points}, i), i=0..{{vc_dimension}})"


class GrowthBound(Theorem):
    """Sauer's lemma: in how many ways a class labels so many points, as a logarithm that never overflows."""

    id = "growth"
    name = "Sauer's lemma"
    quantity = "ln H[m]"
    formula = f"ln({_growth('{points}')})"
    inputs = (Input("points", "m", "how many points", COUNT_OR_NONE), VC_DIMENSION)
    needs = "H[m] is the largest number of ways in which the class labels m points"
    citation = f"{BLUM}, Theorem 6.21 (Sauer's lemma)"

    @staticmethod
    def bound(points: Any, vc_dimension: Any) -> Any:
        return _log_growth(points, vc_dimension)


class VCBound(Theorem):
    """The error of every rule that is right on the whole sample."""

    id = "vc"
    name = "VC bound"
    quantity = "error"
    formula = f"2 (log2(2 {_growth()}) + log2(1/{{delta}})) / {{samples}}"
    inputs = (SAMPLES, VC_DIMENSION, DELTA)
    needs = f"{IID}; {CONSISTENT}"
    citation = f"{BLUM}, Theorems 6.19 and 6.21"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, vc_dimension: Any, delta: Any) -> Any:
        return 2 * (1 + _log_growth(2 * samples, vc_dimension) / np.log(2) - np.log2(delta)) / samples


class VCSize(SampleSize):
    """The smallest sample on which a rule that is right has an error."""

    id = VCBound.id
    name = VCBound.name
    formula = f"2 (log2(2 {_growth('2n')}) + log2(1/{{delta}})) / {{error}}"
    inputs = (ERROR_RATE, VC_DIMENSION, DELTA)
    needs = VCBound.needs
    citation = f"{VCBound.citation}, solved for n"

    @staticmethod
    def bound(error: Any, vc_dimension: Any, delta: Any) -> Any:
        return _solved(lambda m: VCBound.bound(m, vc_dimension, delta), error, "error", delta, vc_dimension)


class VCProbability(Theorem):
    """How likely some rule with a large error is right on the whole sample."""

    id = "vc-delta"
    name = VCBound.name
    quantity = "probability"
    formula = f"min(1, 2 {_growth()} 2^(-{{error}} {{samples}} / 2))"
    inputs = (SAMPLES, ERROR_RATE, VC_DIMENSION)
    needs = f"{IID}; the probability is that of some rule with that error being right on the whole sample"
    citation = VCBound.citation

    @staticmethod
    def bound(samples: Any, error: Any, vc_dimension: Any) -> Any:
        return _probability(samples, vc_dimension, np.log(2) * error * samples / 2)


class VCUniformBound(Theorem):
    """How far the errors of any rule are apart, on the sample and in truth."""

    id = "vc-uniform"
    name = "uniform VC bound"
    quantity = "deviation"
    formula = f"sqrt(8 (ln(2 {_growth()}) + ln(1/{{delta}})) / {{samples}})"
    inputs = (SAMPLES, VC_DIMENSION, DELTA)
    needs = f"{IID}; {ALL_RULES}"
    citation = f"{BLUM}, Theorems 6.20 and 6.21"
    chance = CHANCE

    @staticmethod
    def bound(samples: Any, vc_dimension: Any, delta: Any) -> Any:
        return np.sqrt(8 * (np.log(2) + _log_growth(2 * samples, vc_dimension) - np.log(delta)) / samples)


class VCUniformSize(SampleSize):
    """The smallest sample on which the errors of all rules are near their true ones."""

    id = VCUniformBound.id
    name = VCUniformBound.name
    formula = f"8 (ln(2 {_growth('2n')}) + ln(1/{{delta}})) / {{deviation}}^2"
    inputs = (DEVIATION, VC_DIMENSION, DELTA)
    needs = VCUniformBound.needs
    citation = f"{VCUniformBound.citation}, solved for n"

    @staticmethod
    def bound(deviation: Any, vc_dimension: Any, delta: Any) -> Any:
        value = VCUniformBound.bound
        return _solved(lambda m: value(m, vc_dimension, delta), deviation, "deviation", delta, vc_dimension)


class VCUniformProbability(Theorem):
    """How likely the two errors of some rule are far apart."""

    id = "vc-uniform-delta"
    name = VCUniformBound.name
    quantity = "probability"
    formula = f"min(1, 2 {_growth()} exp(-{{samples}} {{deviation}}^2 / 8))"
    inputs = (SAMPLES, DEVIATION, VC_DIMENSION)
    needs = f"{IID}; the probability is that of some rule being further off"
    citation = VCUniformBound.citation

    @staticmethod
    def bound(samples: Any, deviation: Any, vc_dimension: Any) -> Any:
        return _probability(samples, vc_dimension, samples * deviation * deviation / 8)


class VCClosedSize(SampleSize):
    """A sample size without n on both sides.

    The corollary has an O(.); the constants are those of Blumer et al. 1989, Theorem 2.1.
    """

    id = "vc-closed"
    name = "VC bound with n on one side"
    formula = "max(4 log2(2/{delta}), 8 {vc_dimension} log2(13/{error})) / {error}"
    inputs = (ERROR_RATE, VC_DIMENSION, DELTA)
    needs = VCBound.needs
    citation = f"{BLUM}, Corollary 6.22; constants of Blumer et al. 1989, Theorem 2.1"
    rounding = "the next whole number"

    @staticmethod
    def bound(error: Any, vc_dimension: Any, delta: Any) -> Any:
        with np.errstate(over="ignore"):
            size = np.ceil(np.maximum(4 / error * np.log2(2 / delta), 8 * vc_dimension / error * np.log2(13 / error)))
        if not np.isfinite(size).all():
            raise invalid("error", "large enough for the sample size to be a number", plain(error))
        return whole(size)


class MajorityVCBound(Theorem):
    """The VC dimension of majority votes of k rules of a class.

    The largest m with 2^m <= (sum of C(m, i) for i = 0 to d)^k: more points cannot be shattered, as k rules label them
    in at most that many ways. The corollary's 2kd log2(kd) follows, for d of at least 2 and a result of at least 16.
    """

    id = "majority-vc"
    name = "VC dimension of majority votes"
    quantity = "VC dimension"
    formula = "max(m : 2^m <= sum(C(m, i), i=0..{vc_dimension})^{votes})"
    inputs = (VC_DIMENSION, Input("votes", "k", "how many rules vote", ODD))
    needs = "the class is that of majority votes of k rules of H"
    citation = f"{BLUM}, Corollary 6.23, solved for m"

    @staticmethod
    def check(vc_dimension: Any, votes: Any) -> None:
        if np.any(np.multiply(vc_dimension, votes) > 2.0**40):
            given = (plain(vc_dimension), plain(votes))
            raise invalid("vc_dimension and votes", "such that their product is at most 2^40", given)

    @staticmethod
    def bound(vc_dimension: Any, votes: Any) -> Any:
        d, k = np.broadcast_arrays(vc_dimension, votes)

        def possible(m: Any) -> Any:
            return m * np.log(2) <= k * _log_growth(m, d) * (1 + 1e-14)

        low, high = d.astype(np.float64), np.maximum(2 * d, 1.0)
        while possible(high).any():
            high = np.where(possible(high), 2 * high, high)
        while (high - low > 1).any():
            middle = np.floor((low + high) / 2)
            shattered = possible(middle)
            low, high = np.where(shattered, middle, low), np.where(shattered, high, middle)
        return whole(low)


def vc_dimension_of_linear_separators(dimension: Any) -> Any:
    """d + 1 for half-spaces of R^d, with a threshold (section 6.9.4)."""
    return whole(COUNT.check("dimension", dimension) + 1)


def log_growth_bound(points: Any, vc_dimension: Any) -> Any:
    """Sauer's lemma: ln of the sum of C(m, i) for i = 0 to d, at least ln H[m] (Theorem 6.21). Never overflows."""
    return GrowthBound().values(points=points, vc_dimension=vc_dimension)


def vc_error(samples: Any, delta: Any, vc_dimension: Any) -> Any:
    """The error of every h that is right on the whole sample (Theorem 6.19)."""
    return VCBound().values(samples=samples, delta=delta, vc_dimension=vc_dimension)


def vc_sample_size(error: Any, delta: Any, vc_dimension: Any) -> Any:
    """The smallest m for which `vc_error` is at most ``error``."""
    return VCSize().values(error=error, delta=delta, vc_dimension=vc_dimension)


def vc_delta(samples: Any, error: Any, vc_dimension: Any) -> Any:
    """The delta for which `vc_error` is ``error``: 2 H[2m] 2^(-error m / 2), at most 1."""
    return VCProbability().values(samples=samples, error=error, vc_dimension=vc_dimension)


def vc_deviation(samples: Any, delta: Any, vc_dimension: Any) -> Any:
    """How far the errors of any h are apart, on the sample and in truth (Theorem 6.20)."""
    return VCUniformBound().values(samples=samples, delta=delta, vc_dimension=vc_dimension)


def vc_uniform_sample_size(deviation: Any, delta: Any, vc_dimension: Any) -> Any:
    """The smallest m for which `vc_deviation` is at most ``deviation``."""
    return VCUniformSize().values(deviation=deviation, delta=delta, vc_dimension=vc_dimension)


def vc_uniform_delta(samples: Any, deviation: Any, vc_dimension: Any) -> Any:
    """The delta for which `vc_deviation` is ``deviation``: 2 H[2m] exp(-m deviation^2 / 8), at most 1."""
    return VCUniformProbability().values(samples=samples, deviation=deviation, vc_dimension=vc_dimension)


def vc_closed_sample_size(error: Any, delta: Any, vc_dimension: Any) -> Any:
    """A sample size without m on both sides (Corollary 6.22): max((4/eps) log2(2/delta), (8d/eps) log2(13/eps)).

    Never below `vc_sample_size`.
    """
    return VCClosedSize().values(error=error, delta=delta, vc_dimension=vc_dimension)


def majority_vc_dimension(vc_dimension: Any, votes: Any) -> Any:
    """The VC dimension of majority votes of k rules of H is at most this (Corollary 6.23)."""
    return MajorityVCBound().values(vc_dimension=vc_dimension, votes=votes)


def _probability(samples: Any, vc_dimension: Any, exponent: Any) -> Any:
    """2 H[2m] exp(-exponent), at most 1."""
    return np.exp(np.minimum(0.0, np.log(2) + _log_growth(2 * samples, vc_dimension) - exponent))


def _solved(value: Any, target: Any, parameter: str, *others: Any) -> Any:
    """The smallest m with value(m) <= target, by doubling and halving."""
    target = np.broadcast_arrays(target, *others)[0]
    low, high = np.zeros(target.shape), np.ones(target.shape)
    while (above := value(high) > target).any():
        low, high = np.where(above, high, low), np.where(above, 2 * high, high)
        if (high > 2.0**1000).any():
            raise invalid(parameter, "large enough for the sample size to be a number", plain(target))
    while (open_ := (high - low > 1) & (high - low > high * 2.0**-52)).any():
        middle = np.where(open_, np.floor((low + high) / 2), high)
        enough = value(middle) <= target
        low, high = np.where(open_ & ~enough, middle, low), np.where(enough, middle, high)
    return smallest_count(value, target, high, parameter)


def _log_growth(m: Any, d: Any) -> Floats:
    """ln of the sum of C(m, i) for i = 0 to d, which is 2^m times a regularised incomplete beta function."""
    from scipy.special import betainc, betaln

    m, d = np.broadcast_arrays(np.asarray(m, dtype=np.float64), np.asarray(d, dtype=np.float64))
    result: Floats = m * np.log(2)
    some = d < m
    a, b = np.where(some, m - d, 1.0), np.where(some, d + 1, 1.0)
    share = betainc(a, b, 0.5)
    # For few points the difference of m ln 2 and a logarithm of like size would lose digits.
    moderate = some & (share > np.where(m > MANY_POINTS, SMALLEST_SHARE, 0.1))
    result = np.where(moderate, result + np.log(np.maximum(share, SMALLEST_SHARE)), result)
    few = some & ~moderate
    if few.any():
        a_few, b_few = np.where(few, a, 1.0), np.where(few, b, 1.0)
        tail = np.log(_continued_fraction(a_few, b_few)) - np.log(2 * a_few) - betaln(a_few, b_few)
        result = np.where(few, tail, result)
    # Exact where the sum is short, so that sizes that are whole come out whole.
    result = np.where(some & (d == 0), 0.0, result)
    return np.where(some & (d == 1), np.log1p(m), result)


def _continued_fraction(a: Floats, b: Floats) -> Floats:
    """The continued fraction of the incomplete beta function at 1/2, by Lentz's method; quick where a > b."""
    tiny, x = 1e-300, 0.5
    c = np.ones_like(a)
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    value = d.copy()
    for i in range(1, 100_000):
        for term in (
            i * x / (a + 2 * i - 1) * ((b - i) / (a + 2 * i)),
            -(a + i) / (a + 2 * i) * ((a + b + i) * x / (a + 2 * i + 1)),
        ):
            d = 1 + term * d
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = 1 + term / c
            c = np.where(np.abs(c) < tiny, tiny, c)
            change = c * d
            value = value * change
        if (np.abs(change - 1) < 1e-15).all():
            break
    return value
