"""Inputs that the formulas of several theorems share."""

from __future__ import annotations

import math
from typing import Any

from afterwit.core.theorem import Alternative, Input
from afterwit.data.quantities import (
    COUNT,
    COUNT_OR_NONE,
    ERROR,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    Range,
)
from afterwit.errors import invalid


def length(name: str, symbol: str, meaning: str) -> Any:
    return Input(name, symbol, meaning, POSITIVE)


IID = "the examples are independent draws from one distribution"
CHANCE = "with probability 1 - delta"

DELTA = Input("delta", "delta", "the probability with which the bound may fail", PROBABILITY)
SAMPLES = Input("samples", "n", "how many examples", COUNT)
ERROR_RATE = Input("error", "eps", "the error that is wanted", ERROR)
DEVIATION = Input("deviation", "eps", "how far the errors on the sample and in truth may be apart", ERROR)
ROUNDS = Input("rounds", "T", "how many rounds", COUNT)
RATE = Input("rate", "eta", "the learning rate", POSITIVE)
LOSS_RANGE = Input("loss_range", "M", "losses are between 0 and this", POSITIVE, default=1.0)
MISTAKE_BOUND = Input("mistakes", "M", "the mistakes the online learner makes at most", COUNT_OR_NONE)
HYPOTHESES = Input(
    "log_hypotheses",
    "ln|H|",
    "the logarithm of the number of rules in the class",
    NOT_NEGATIVE,
    alternative=Alternative("hypotheses", "how many rules are in the class", COUNT, math.log, "ln({})"),
)
EXPERTS = Input(
    "log_experts",
    "ln(N)",
    "the logarithm of the number of experts",
    NOT_NEGATIVE,
    alternative=Alternative("experts", "how many experts", COUNT, math.log, "ln({})"),
)
VC_DIMENSION = Input(
    "vc_dimension",
    "d",
    "the VC dimension of the class",
    COUNT_OR_NONE,
    alternative=Alternative(
        "dimension",
        "for half-spaces of R^dimension, whose VC dimension is one more",
        COUNT,
        lambda n: n + 1.0,
        "({} + 1)",
    ),
)

RADIUS = length("radius", "R", "the length of the longest example")
LARGEST_ENTRY = length("radius", "r", "the largest entry of any example, without its sign")
MARGIN = length("margin", "gamma", "the margin: y (v . x) is at least this, for a unit v")
ONE_NORM_MARGIN = length("margin", "rho", "the margin: y (v . x) is at least this, for a v of 1-norm 1")
FEATURES = Input("features", "N", "how many features", COUNT)
HINGE_LOSS = Input("hinge_loss", "L", "the total hinge loss of u, over all rounds", NOT_NEGATIVE)
NORM = Input("norm", "|u|", "the length of the comparator u", NOT_NEGATIVE)
SEPARABLE = "w starts at 0 and a hyperplane through 0 separates the examples with that margin"


def margin_within_radius(radius: Any, margin: Any) -> None:
    """A margin is a scalar product with a vector of length 1: no example can have one above its own length."""
    if margin > radius:
        raise invalid("margin", f"at most the radius, {radius:.6g}", margin)


def bits(least: int = 0) -> Input:
    """The size of a description; the regularised bound gives every size from 1 on its share of delta."""
    allowed = Range("a finite number, at least 1", lambda x: x >= 1) if least else NOT_NEGATIVE
    return Input("bits", "b", "the size of the rule's description in bits", allowed)
