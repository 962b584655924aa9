"""Bounds on the error of rules made from an online run, as closed formulas.

Source      Cesa-Bianchi, Conconi & Gentile 2004; Mohri, Rostamizadeh & Talwalkar 2018, Lemma 8.14, Theorem 8.15,
            Exercises 8.10 and 8.11; Blum, Hopcroft & Kannan, Foundations of Data Science, Theorems 6.14 and 6.15,
            and section 5.9.

Numbers or arrays, which broadcast.

>>> round(progressive(mean_loss=0.1, rounds=10_000, delta=0.05), 6)
0.124477
>>> random_stopping_sample_size(mistakes=100, error=0.05), large_gap_sample_size(mistakes=100, error=0.05, delta=0.05)
(2000, 21072)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.bounds._entry import Bound, Input
from afterwit.bounds._inputs import CHANCE, DELTA, ERROR_RATE, IID, LOSS_RANGE, MISTAKE_BOUND, ROUNDS
from afterwit.data.quantities import (
    COUNT,
    COUNT_OR_NONE,
    ERROR,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    plain,
    smallest_count,
    whole,
)
from afterwit.errors import invalid


def progressive(mean_loss: Any, rounds: Any, delta: Any, loss_range: Any = 1.0) -> Any:
    """Mean risk of the hypotheses, and of their average if the loss is convex: L + M sqrt(2 ln(1/delta) / T)."""
    loss = NOT_NEGATIVE.check("mean_loss", mean_loss)
    return plain(loss + progressive_gap(rounds, delta, loss_range))


def progressive_gap(rounds: Any, delta: Any, loss_range: Any = 1.0) -> Any:
    """What the mean risk may lie above the mean loss: M sqrt(2 ln(1/delta) / T)."""
    T, d, M = COUNT.check("rounds", rounds), PROBABILITY.check("delta", delta), POSITIVE.check("loss_range", loss_range)
    return plain(M * np.sqrt(-2 * np.log(d) / T))


def progressive_sample_size(gap: Any, delta: Any, loss_range: Any = 1.0) -> Any:
    """The smallest T for which `progressive_gap` is at most ``gap``."""
    g, d, M = POSITIVE.check("gap", gap), PROBABILITY.check("delta", delta), POSITIVE.check("loss_range", loss_range)
    with np.errstate(over="ignore"):
        guess = -2 * np.log(d) * (M / g) ** 2
    return smallest_count(lambda T: M * np.sqrt(-2 * np.log(d) / T), g, guess, "gap")


def average_excess(regret: Any, rounds: Any, delta: Any, loss_range: Any = 1.0) -> Any:
    """What the averaged hypothesis risks above the best of the class: R_T / T + 2M sqrt(2 ln(2/delta) / T)."""
    R, T = NOT_NEGATIVE.check("regret", regret), COUNT.check("rounds", rounds)
    d, M = PROBABILITY.check("delta", delta), POSITIVE.check("loss_range", loss_range)
    return plain(R / T + 2 * M * np.sqrt(2 * np.log(2 / d) / T))


def penalized_selection(mean_loss: Any, rounds: Any, delta: Any) -> Any:
    """The risk of the selected hypothesis, any loss between 0 and 1: L + 6 sqrt(ln(2(T + 1)/delta) / T)."""
    L, T, d = (
        NOT_NEGATIVE.check("mean_loss", mean_loss),
        COUNT.check("rounds", rounds),
        PROBABILITY.check("delta", delta),
    )
    return plain(L + 6 * np.sqrt(np.log(2 * (T + 1) / d) / T))


def kernel_perceptron_margin(mean_hinge: Any, kernel_sum: Any, rho: Any, rounds: Any, delta: Any) -> Any:
    """The error of the selected kernel perceptron: L_rho + sqrt(sum K(x_i, x_i)) / (rho T) + 6 sqrt(...)."""
    K, p = NOT_NEGATIVE.check("kernel_sum", kernel_sum), POSITIVE.check("rho", rho)
    loss = NOT_NEGATIVE.check("mean_hinge", mean_hinge)
    T = COUNT.check("rounds", rounds)
    return plain(np.sqrt(K) / (p * T) + penalized_selection(loss, rounds, delta))


def random_stopping(mistakes: Any, samples: Any) -> Any:
    """The expected error of the hypothesis at a random time: M / n."""
    return plain(COUNT_OR_NONE.check("mistakes", mistakes) / COUNT.check("samples", samples))


def random_stopping_sample_size(mistakes: Any, error: Any) -> Any:
    """The smallest n for which `random_stopping` is at most ``error``: M / eps, rounded up."""
    M, e = COUNT_OR_NONE.check("mistakes", mistakes), ERROR.check("error", error)
    with np.errstate(over="ignore"):
        guess = M / e
    return smallest_count(lambda n: M / n, e, guess, "error")


def large_gap(mistake: Any, error: Any, delta: Any) -> Any:
    """How many right predictions in a row after mistake i are enough: (1/eps) ln((i + 2)^2 / delta), rounded up."""
    i, e, d = COUNT_OR_NONE.check("mistake", mistake), ERROR.check("error", error), PROBABILITY.check("delta", delta)
    return whole(_finite(np.ceil((2 * np.log(i + 2) - np.log(d)) / e), e))


def controlled_testing(hypothesis: Any, error: Any, delta: Any) -> Any:
    """How many fresh examples test hypothesis i, the first being 1: (1/eps) ln((i + 2)^2 / delta), rounded up."""
    i = COUNT.check("hypothesis", hypothesis)
    return large_gap(i, error, delta)


def large_gap_sample_size(mistakes: Any, error: Any, delta: Any) -> Any:
    """Examples after which the run has halted: the gaps of `large_gap` for i = 0 to M, each rounded up, at most
    (1/eps) ((M + 1) ln(1/delta) + 2 ln((M + 2)!)) + M + 1.
    """
    from scipy.special import gammaln

    M, e, d = COUNT_OR_NONE.check("mistakes", mistakes), ERROR.check("error", error), PROBABILITY.check("delta", delta)
    with np.errstate(over="ignore"):
        size = np.ceil((2 * gammaln(M + 3) - (M + 1) * np.log(d)) / e + M + 1)
    return whole(_finite(size, e))


def _finite(size: Any, error: Any) -> Any:
    if not np.isfinite(size).all():
        raise invalid("error", "large enough for the sample size to be a number", plain(error))
    return size


_LOSS = Input("mean_loss", "L", "the learner's mean loss, each round before it learned", NOT_NEGATIVE)
_AVERAGED = "the loss is convex in the prediction and between 0 and M, and the hypotheses are averaged"

ENTRIES = (
    Bound(
        name="progressive",
        quantity="mean risk",
        formula="{mean_loss} + {loss_range} sqrt(2 ln(1/{delta}) / {rounds})",
        citation="Mohri et al. 2018, Lemma 8.14",
        inputs=(_LOSS, ROUNDS, DELTA, LOSS_RANGE),
        function=progressive,
        needs=f"{IID} and losses are between 0 and M",
        chance=CHANCE,
    ),
    Bound(
        name="average",
        quantity="risk",
        formula="{mean_loss} + {loss_range} sqrt(2 ln(1/{delta}) / {rounds})",
        citation="Mohri et al. 2018, Theorem 8.15",
        inputs=(_LOSS, ROUNDS, DELTA, LOSS_RANGE),
        function=progressive,
        needs=f"{IID}; {_AVERAGED}",
        chance=CHANCE,
    ),
    Bound(
        name="average-excess",
        quantity="risk - inf risk",
        formula="{regret} / {rounds} + 2 {loss_range} sqrt(2 ln(2/{delta}) / {rounds})",
        citation="Mohri et al. 2018, Theorem 8.15",
        inputs=(Input("regret", "R_T", "the learner's regret", NOT_NEGATIVE), ROUNDS, DELTA, LOSS_RANGE),
        function=average_excess,
        needs=f"{IID}; {_AVERAGED}",
        chance=CHANCE,
    ),
    Bound(
        name="penalized-selection",
        quantity="risk",
        formula="{mean_loss} + 6 sqrt(ln(2 ({rounds} + 1) / {delta}) / {rounds})",
        citation="Mohri et al. 2018, Exercise 8.10",
        inputs=(_LOSS, ROUNDS, DELTA),
        function=penalized_selection,
        needs=f"{IID} and losses are between 0 and 1",
        chance=CHANCE,
    ),
    Bound(
        name="kernel-perceptron-margin",
        quantity="error",
        formula="{mean_hinge} + sqrt({kernel_sum}) / ({rho} {rounds}) + "
        "6 sqrt(ln(2 ({rounds} + 1) / {delta}) / {rounds})",
        citation="Mohri et al. 2018, Exercise 8.11",
        inputs=(
            Input("mean_hinge", "L_rho", "the mean hinge loss, at margin rho, of an h of norm at most 1", NOT_NEGATIVE),
            Input("kernel_sum", "K", "the sum of K(x, x) over the update rounds", NOT_NEGATIVE),
            Input("rho", "rho", "the margin", POSITIVE),
            ROUNDS,
            DELTA,
        ),
        function=kernel_perceptron_margin,
        needs=f"{IID}; the hypothesis is that of penalized selection",
        chance=CHANCE,
    ),
    Bound(
        name="random-stopping",
        quantity="error",
        formula="{mistakes} / {samples}",
        citation="Blum et al., Foundations of Data Science, Theorem 6.14",
        inputs=(MISTAKE_BOUND, Input("samples", "n", "how many examples", COUNT)),
        function=random_stopping,
        needs=f"{IID}; the run is stopped at a time drawn uniformly",
        chance="on average over the sample and the time",
    ),
    Bound(
        name="large-gap",
        quantity="right in a row",
        formula="ceil(ln(({mistake} + 2)^2 / {delta}) / {error})",
        citation="Blum et al., Foundations of Data Science, Theorem 6.15",
        inputs=(Input("mistake", "i", "the number of the mistake before the gap", COUNT_OR_NONE), ERROR_RATE, DELTA),
        function=large_gap,
        needs=f"{IID} and the learner changes on mistakes only; the error is then at most eps, {CHANCE}",
        sense=">=",
    ),
    Bound(
        name="controlled-testing",
        quantity="fresh examples",
        formula="ceil(ln(({hypothesis} + 2)^2 / {delta}) / {error})",
        citation="Blum et al., Foundations of Data Science, section 5.9",
        inputs=(
            Input("hypothesis", "i", "the number of the hypothesis tested, the first being 1", COUNT),
            ERROR_RATE,
            DELTA,
        ),
        function=controlled_testing,
        needs=f"{IID} and the hypothesis is right on all of them; the error is then at most eps, {CHANCE}",
        sense=">=",
    ),
)

SAMPLE_SIZES = (
    Bound(
        name="progressive",
        quantity="T",
        formula="2 ln(1/{delta}) ({loss_range} / {gap})^2",
        citation="Mohri et al. 2018, Lemma 8.14",
        inputs=(
            Input("gap", "eps", "what the mean risk may lie above the mean loss", POSITIVE),
            DELTA,
            LOSS_RANGE,
        ),
        function=progressive_sample_size,
        needs=f"{IID} and losses are between 0 and M",
        sense=">=",
        rounding="the smallest whole number",
        chance=CHANCE,
    ),
    Bound(
        name="random-stopping",
        quantity="n",
        formula="{mistakes} / {error}",
        citation="Blum et al., Foundations of Data Science, Theorem 6.14",
        inputs=(MISTAKE_BOUND, ERROR_RATE),
        function=random_stopping_sample_size,
        needs=f"{IID}; the run is stopped at a time drawn uniformly",
        sense=">=",
        rounding="the smallest whole number",
        chance="on average over the sample and the time",
    ),
    Bound(
        name="large-gap",
        quantity="n",
        formula="(({mistakes} + 1) ln(1/{delta}) + 2 ln(({mistakes} + 2)!)) / {error} + {mistakes} + 1",
        citation="Blum et al., Foundations of Data Science, Theorem 6.15, the sum of its proof",
        inputs=(MISTAKE_BOUND, ERROR_RATE, DELTA),
        function=large_gap_sample_size,
        needs=f"{IID} and the learner changes on mistakes only; the run has halted by then",
        sense=">=",
        rounding="the next whole number",
        chance=CHANCE,
    ),
)
