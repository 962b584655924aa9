"""Bounds of algorithms that follow expert advice, as closed formulas with their exact constants.

Losses are between 0 and 1 unless a range is given. N experts may be given as ``experts`` or, where there are more than
any number holds (the paths of a graph), by ``log_experts`` = ln N. Numbers or arrays, which broadcast.

Source      Littlestone & Warmuth 1994; Cesa-Bianchi & Lugosi 2006; Mohri, Rostamizadeh & Talwalkar 2018, Theorems
            8.3 to 8.7, Exercises 8.7 to 8.9; Blum, Hopcroft & Kannan, Foundations of Data Science, Theorem 6.18; Blum &
            Mansour 2007; Kalai & Vempala 2005; Herbster & Warmuth 1998; Auer, Cesa-Bianchi, Freund & Schapire 2002.

>>> round(exponential_weights_tuned(rounds=1000, experts=10), 6)
33.930702
>>> weighted_majority(best_mistakes=[0, 10, 100], beta=0.5, experts=16).round(2).tolist()
[9.64, 33.73, 250.58]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.bounds._entry import Bound, Input
from afterwit.bounds._inputs import EXPERTS, LOSS_RANGE, RATE, ROUNDS
from afterwit.data.quantities import (
    COUNT,
    COUNT_OR_NONE,
    HALF_TO_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    ZERO_TO_ONE,
    Floats,
    Range,
    logarithm,
    plain,
)
from afterwit.errors import invalid

POWER = Range("a finite number, at least 2", lambda x: x >= 2)
ALPHA = Range("a number above 0 and below 2", lambda x: (x > 0) & (x < 2))
EPSILON = Range("a number above 0, at most 1", lambda x: (x > 0) & (x <= 1))


def _log(experts: Any, log_experts: Any) -> Floats:
    return logarithm("experts", experts, log_experts)


def weighted_majority(best_mistakes: Any, beta: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Mistakes: (ln N + m* ln(1/beta)) / ln(2 / (1 + beta)); for beta = 0 only if the best expert makes none."""
    m, b, log_n = (
        COUNT_OR_NONE.check("best_mistakes", best_mistakes),
        ZERO_TO_ONE.check("beta", beta),
        _log(experts, log_experts),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(m > 0, -m * np.log(b), 0.0)
    return plain((log_n + lost) / np.log(2 / (1 + b)))


def randomized_weighted_majority(best_loss: Any, beta: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Expected loss: ln N / (1 - beta) + (2 - beta) L_min."""
    best, b = NOT_NEGATIVE.check("best_loss", best_loss), HALF_TO_ONE.check("beta", beta)
    return plain(_log(experts, log_experts) / (1 - b) + (2 - b) * best)


def randomized_weighted_majority_tuned(rounds: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret: 2 sqrt(T ln N), for beta = max(1/2, 1 - sqrt(ln N / T))."""
    return plain(2 * np.sqrt(COUNT.check("rounds", rounds) * _log(experts, log_experts)))


def two_random_experts(rounds: Any) -> Any:
    """What two random experts cost every algorithm on average, at least: sqrt(T / 8)."""
    return plain(np.sqrt(COUNT.check("rounds", rounds) / 8))


def exponential_weights(rounds: Any, rate: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret: ln N / eta + eta T / 8."""
    T, eta = COUNT_OR_NONE.check("rounds", rounds), POSITIVE.check("rate", rate)
    return plain(_log(experts, log_experts) / eta + eta * T / 8)


def exponential_weights_tuned(rounds: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret: sqrt((T / 2) ln N), for eta = sqrt(8 ln N / T)."""
    return plain(np.sqrt(COUNT_OR_NONE.check("rounds", rounds) / 2 * _log(experts, log_experts)))


def exponential_weights_doubling(rounds: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret at every T: sqrt(2) / (sqrt(2) - 1) sqrt((T / 2) ln N) + sqrt(ln N / 2)."""
    T, log_n = COUNT_OR_NONE.check("rounds", rounds), _log(experts, log_experts)
    return plain(math.sqrt(2) / (math.sqrt(2) - 1) * np.sqrt(T / 2 * log_n) + np.sqrt(log_n / 2))


def exponential_weights_decreasing(rounds: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret at every T, for eta_t = sqrt(8 ln N / t): 2 sqrt((T / 2) ln N) + sqrt(ln N / 8)."""
    T, log_n = COUNT_OR_NONE.check("rounds", rounds), _log(experts, log_experts)
    return plain(2 * np.sqrt(T / 2 * log_n) + np.sqrt(log_n / 8))


def second_order(beta: Any, squared_losses: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret against an expert whose squared losses sum to S: ln N / (1 - beta) + (1 - beta) S."""
    b, S = HALF_TO_ONE.check("beta", beta), NOT_NEGATIVE.check("squared_losses", squared_losses)
    return plain(_log(experts, log_experts) / (1 - b) + (1 - b) * S)


def second_order_alpha(rounds: Any, beta: Any, alpha: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret: ln N / (1 - beta) + (1 - beta) T / alpha, for beta of at least alpha / 2."""
    T, b, a = COUNT_OR_NONE.check("rounds", rounds), ZERO_TO_ONE.check("beta", beta), ALPHA.check("alpha", alpha)
    if (b < a / 2).any():
        raise invalid("beta", "at least alpha / 2", plain(b))
    return plain(_log(experts, log_experts) / (1 - b) + (1 - b) * T / a)


def polynomial_weights(
    rounds: Any, power: Any, loss_range: Any = 1.0, experts: Any = None, log_experts: Any = None
) -> Any:
    """Regret: M sqrt((alpha - 1) T N^(2/alpha))."""
    T, a, M = (
        COUNT_OR_NONE.check("rounds", rounds),
        POWER.check("power", power),
        POSITIVE.check("loss_range", loss_range),
    )
    with np.errstate(over="ignore"):
        return plain(M * np.sqrt((a - 1) * T) * np.exp(_log(experts, log_experts) / a))


def polynomial_weights_tuned(rounds: Any, loss_range: Any = 1.0, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret for alpha = 2 ln N: M sqrt(e (2 ln N - 1) T)."""
    T, M, log_n = (
        COUNT_OR_NONE.check("rounds", rounds),
        POSITIVE.check("loss_range", loss_range),
        _log(experts, log_experts),
    )
    if (log_n < 1).any():
        raise invalid("experts", "at least 3, so that alpha = 2 ln N is at least 2", plain(np.exp(log_n)))
    return plain(M * np.sqrt(math.e * (2 * log_n - 1) * T))


def sleeping_experts(expert_mistakes: Any, epsilon: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Expected mistakes while expert i is awake: (1 + eps) m_i + (1 + eps) ln n / ln(1 + eps)."""
    m, e = NOT_NEGATIVE.check("expert_mistakes", expert_mistakes), EPSILON.check("epsilon", epsilon)
    return plain((1 + e) * m + (1 + e) * _log(experts, log_experts) / np.log1p(e))


def swap_regret(rounds: Any, rate: Any, experts: Any) -> Any:
    """Swap regret of Blum & Mansour's reduction over exponential weights: N ln N / eta + eta T / 8.

    Copy i is fed the losses p_{t,i} l_t, which lie within p_{t,i}: its regret is at most ln N / eta + eta/8 sum_t
    p_{t,i}^2. The sum over i of p_{t,i}^2 is at most 1.
    """
    T, eta, N = COUNT_OR_NONE.check("rounds", rounds), POSITIVE.check("rate", rate), COUNT.check("experts", experts)
    return plain(N * np.log(N) / eta + eta * T / 8)


def swap_regret_tuned(rounds: Any, experts: Any) -> Any:
    """The same for eta = sqrt(8 N ln N / T): sqrt((T / 2) N ln N)."""
    T, N = COUNT_OR_NONE.check("rounds", rounds), COUNT.check("experts", experts)
    return plain(np.sqrt(T / 2 * (N * np.log(N))))


def fixed_share(rounds: Any, switches: Any, rate: Any, share: Any, experts: Any = None, log_experts: Any = None) -> Any:
    """Regret against any sequence of experts with m switches, with mixing alpha:
    ((m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha))) / eta + eta T / 8.
    """
    T, m, eta = COUNT.check("rounds", rounds), COUNT_OR_NONE.check("switches", switches), POSITIVE.check("rate", rate)
    a = SHARE.check("share", share)
    if (m > T - 1).any():
        raise invalid("switches", "fewer than the rounds", plain(m))
    with np.errstate(divide="ignore", invalid="ignore"):
        switching = np.where(m > 0, -m * np.log(a), 0.0)
        staying = np.where(T - m - 1 > 0, -(T - m - 1) * np.log1p(-a), 0.0)
    return plain(((m + 1) * _log(experts, log_experts) + switching + staying) / eta + eta * T / 8)


def exp3(best_gain: Any, exploration: Any, experts: Any) -> Any:
    """Expected regret where only the gain of the drawn expert is seen: (e - 1) gamma G + N ln N / gamma."""
    G, g, N = (
        NOT_NEGATIVE.check("best_gain", best_gain),
        EPSILON.check("exploration", exploration),
        COUNT.check("experts", experts),
    )
    return plain((math.e - 1) * g * G + N * np.log(N) / g)


_UNIT = "losses are between 0 and 1"
_CONVEX = "the loss is convex in the prediction, and between 0 and 1"
_MOHRI = "Mohri et al. 2018"
_COUNT_OF_EXPERTS = Input("experts", "N", "how many experts", COUNT)
_HALVES = Input("beta", "beta", "the factor by which a wrong expert's weight shrinks", HALF_TO_ONE)

ENTRIES = (
    Bound(
        name="weighted-majority",
        quantity="mistakes",
        formula="({log_experts} + {best_mistakes} ln(1/{beta})) / ln(2 / (1 + {beta}))",
        citation=f"{_MOHRI}, Theorem 8.3",
        inputs=(
            EXPERTS,
            Input("best_mistakes", "m*", "the mistakes of the best expert", COUNT_OR_NONE),
            Input("beta", "beta", "the factor by which a wrong expert's weight shrinks", ZERO_TO_ONE),
        ),
        function=weighted_majority,
        needs="predictions and outcomes are two labels",
    ),
    Bound(
        name="randomized-weighted-majority",
        quantity="loss",
        formula="{log_experts} / (1 - {beta}) + (2 - {beta}) {best_loss}",
        citation=f"{_MOHRI}, Theorem 8.4",
        inputs=(EXPERTS, _HALVES, Input("best_loss", "L_min", "the total loss of the best expert", NOT_NEGATIVE)),
        function=randomized_weighted_majority,
        needs="losses are 0 or 1",
        chance="on average over the learner's own draws",
    ),
    Bound(
        name="randomized-weighted-majority-tuned",
        quantity="regret",
        formula="2 sqrt({rounds} {log_experts})",
        citation=f"{_MOHRI}, Theorem 8.4",
        inputs=(EXPERTS, ROUNDS),
        function=randomized_weighted_majority_tuned,
        needs="losses are 0 or 1 and beta = max(1/2, 1 - sqrt(ln N / T))",
        chance="on average over the learner's own draws",
    ),
    Bound(
        name="two-random-experts",
        quantity="regret",
        formula="sqrt({rounds} / 8)",
        citation=f"{_MOHRI}, Theorem 8.5",
        inputs=(ROUNDS,),
        function=two_random_experts,
        needs="one of two experts, drawn at random in every round, has loss 1 and the other 0, whatever the algorithm",
        sense=">=",
        chance="on average over the sequence",
    ),
    Bound(
        name="exponential-weights",
        quantity="regret",
        formula="{log_experts} / {rate} + {rate} {rounds} / 8",
        citation=f"{_MOHRI}, Theorem 8.6",
        inputs=(EXPERTS, ROUNDS, RATE),
        function=exponential_weights,
        needs=_CONVEX,
    ),
    Bound(
        name="exponential-weights-tuned",
        quantity="regret",
        formula="sqrt(({rounds} / 2) {log_experts})",
        citation=f"{_MOHRI}, Theorem 8.6",
        inputs=(EXPERTS, ROUNDS),
        function=exponential_weights_tuned,
        needs=f"{_CONVEX}; the rate is sqrt(8 ln N / T)",
    ),
    Bound(
        name="exponential-weights-doubling",
        quantity="regret",
        formula="sqrt(2) / (sqrt(2) - 1) sqrt(({rounds} / 2) {log_experts}) + sqrt({log_experts} / 2)",
        citation=f"{_MOHRI}, Theorem 8.7",
        inputs=(EXPERTS, ROUNDS),
        function=exponential_weights_doubling,
        needs=f"{_CONVEX}; the learner starts again, tuned, at every power of two",
    ),
    Bound(
        name="exponential-weights-decreasing",
        quantity="regret",
        formula="2 sqrt(({rounds} / 2) {log_experts}) + sqrt({log_experts} / 8)",
        citation="Cesa-Bianchi & Lugosi 2006, Theorem 2.3",
        inputs=(EXPERTS, ROUNDS),
        function=exponential_weights_decreasing,
        needs=f"{_CONVEX}; the rate of round t is sqrt(8 ln N / t)",
    ),
    Bound(
        name="second-order",
        quantity="regret",
        formula="{log_experts} / (1 - {beta}) + (1 - {beta}) {squared_losses}",
        citation=f"{_MOHRI}, Exercise 8.7",
        inputs=(
            EXPERTS,
            _HALVES,
            Input("squared_losses", "S", "the sum of the squared losses of the expert compared with", NOT_NEGATIVE),
        ),
        function=second_order,
        needs=_UNIT,
    ),
    Bound(
        name="second-order-tuned",
        quantity="regret",
        formula="2 sqrt({rounds} {log_experts})",
        citation=f"{_MOHRI}, Exercise 8.7",
        inputs=(EXPERTS, ROUNDS),
        function=randomized_weighted_majority_tuned,
        needs=f"{_UNIT} and beta = max(1/2, 1 - sqrt(ln N / T))",
    ),
    Bound(
        name="second-order-alpha",
        quantity="regret",
        formula="{log_experts} / (1 - {beta}) + (1 - {beta}) {rounds} / {alpha}",
        citation=f"{_MOHRI}, Exercise 8.9",
        inputs=(
            EXPERTS,
            ROUNDS,
            Input("beta", "beta", "the factor by which a weight shrinks at loss 1, at least alpha / 2", ZERO_TO_ONE),
            Input("alpha", "alpha", "of the inequality ln(1 - x) >= -x - x^2 / alpha", ALPHA),
        ),
        function=second_order_alpha,
        needs=f"{_UNIT} and beta >= alpha / 2",
    ),
    Bound(
        name="polynomial",
        quantity="regret",
        formula="{loss_range} sqrt(({power} - 1) {rounds} exp(2 {log_experts} / {power}))",
        citation=f"{_MOHRI}, Exercise 8.8",
        inputs=(EXPERTS, ROUNDS, Input("power", "alpha", "the power of the weights, plus 1", POWER), LOSS_RANGE),
        function=polynomial_weights,
        needs="the loss is convex in the prediction, and between 0 and M",
    ),
    Bound(
        name="polynomial-tuned",
        quantity="regret",
        formula="{loss_range} sqrt(e (2 {log_experts} - 1) {rounds})",
        citation=f"{_MOHRI}, Exercise 8.8",
        inputs=(EXPERTS, ROUNDS, LOSS_RANGE),
        function=polynomial_weights_tuned,
        needs="the loss is convex in the prediction, and between 0 and M; the power is 2 ln N",
    ),
    Bound(
        name="sleeping",
        quantity="mistakes",
        formula="(1 + {epsilon}) {expert_mistakes} + (1 + {epsilon}) {log_experts} / ln(1 + {epsilon})",
        citation="Blum et al., Foundations of Data Science, Theorem 6.18",
        inputs=(
            EXPERTS,
            Input("expert_mistakes", "m_i", "the mistakes of expert i", NOT_NEGATIVE),
            Input("epsilon", "eps", "how fast weights change", EPSILON),
        ),
        function=sleeping_experts,
        needs="both count the rounds in which expert i is awake",
        chance="on average over the learner's own draws",
    ),
    Bound(
        name="swap-regret",
        quantity="swap regret",
        formula="{experts} ln({experts}) / {rate} + {rate} {rounds} / 8",
        citation="Blum & Mansour 2007, over exponential weights",
        inputs=(_COUNT_OF_EXPERTS, ROUNDS, RATE),
        function=swap_regret,
        needs=_UNIT,
    ),
    Bound(
        name="swap-regret-tuned",
        quantity="swap regret",
        formula="sqrt(({rounds} / 2) {experts} ln({experts}))",
        citation="Blum & Mansour 2007, over exponential weights",
        inputs=(_COUNT_OF_EXPERTS, ROUNDS),
        function=swap_regret_tuned,
        needs=f"{_UNIT} and the rate is sqrt(8 N ln N / T)",
    ),
    Bound(
        name="fixed-share",
        quantity="regret",
        formula="(({switches} + 1) {log_experts} + {switches} ln(1/{share}) + ({rounds} - {switches} - 1) "
        "ln(1/(1 - {share}))) / {rate} + {rate} {rounds} / 8",
        citation="Herbster & Warmuth 1998; Cesa-Bianchi & Lugosi 2006, Theorem 5.2",
        inputs=(
            EXPERTS,
            ROUNDS,
            Input("switches", "m", "how often the sequence of experts compared with changes", COUNT_OR_NONE),
            Input("share", "alpha", "the share of the weights that is mixed in every round", SHARE),
            RATE,
        ),
        function=fixed_share,
        needs=_CONVEX,
    ),
    Bound(
        name="exp3",
        quantity="regret",
        formula="(e - 1) {exploration} {best_gain} + {experts} ln({experts}) / {exploration}",
        citation="Auer, Cesa-Bianchi, Freund & Schapire 2002, Theorem 3.1",
        inputs=(
            _COUNT_OF_EXPERTS,
            Input("exploration", "gamma", "the share of draws that are uniform", EPSILON),
            Input("best_gain", "G", "the total gain of the best expert, or more", NOT_NEGATIVE),
        ),
        function=exp3,
        needs="gains are between 0 and 1",
        chance="on average over the learner's own draws",
    ),
)
