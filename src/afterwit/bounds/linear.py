"""The closed formulas of the linear learners' theorems; the formulas themselves are in the learners' files."""

from __future__ import annotations

import math
from typing import Any

from afterwit.bounds._entry import Bound, Input, from_theorem
from afterwit.bounds._inputs import IID, RATE, ROUNDS, length
from afterwit.data.quantities import COUNT, COUNT_OR_NONE, NOT_NEGATIVE
from afterwit.errors import invalid
from afterwit.linear._regret import BallBound, LargestGradientBound
from afterwit.linear.margin_perceptron import MarginUpdateBound
from afterwit.linear.perceptron import (
    EuclideanHingeBound,
    HingeBound,
    MarginBound,
    RootHingeBound,
    SimpleUpdateHingeBound,
    TrainedBound,
    UpdateHingeBound,
)
from afterwit.linear.winnow import WinnowBound, WinnowHingeBound

RADIUS = length("radius", "R", "the length of the longest example")
LARGEST_ENTRY = length("radius", "r", "the largest entry of any example, without its sign")
MARGIN = length("margin", "gamma", "the margin: y (v . x) is at least this, for a unit v")
ONE_NORM_MARGIN = length("margin", "rho", "the margin: y (v . x) is at least this, for a v of 1-norm 1")
FEATURES = Input("features", "N", "how many features", COUNT)
HINGE_LOSS = Input("hinge_loss", "L", "the total hinge loss of u, over all rounds", NOT_NEGATIVE)
NORM = Input("norm", "|u|", "the length of the comparator u", NOT_NEGATIVE)
RHO = length("rho", "rho", "the margin at which the hinge losses of the unit vector v are taken")
UPDATE_NEEDS = "w starts at 0; the losses are those of the rounds with an update"
SEPARABLE = "w starts at 0 and a hyperplane through 0 separates the examples with that margin"


def perceptron(radius: Any, margin: Any) -> Any:
    """(R / gamma)^2."""
    _require_margin(radius, margin)
    return MarginBound.bound(radius, margin)


def margin_perceptron(radius: Any, margin: Any) -> Any:
    """16 (R / rho)^2."""
    _require_margin(radius, margin)
    return MarginUpdateBound.bound(radius, margin)


def perceptron_trained(updates: Any, radius: Any, margin: Any, rows: Any) -> Any:
    """min(M, (R / gamma)^2) / n."""
    _require_margin(radius, margin)
    return TrainedBound.bound(updates, radius, margin, rows)


def winnow(features: Any, radius: Any, margin: Any) -> Any:
    """2 (r / rho)^2 ln N, at the rate rho / r^2."""
    _require_margin(radius, margin)
    # In the unit in which r is 1, so that no square overflows.
    return WinnowBound.bound(features, 1.0, margin / radius, margin / radius)


def balanced_winnow(features: Any, radius: Any, margin: Any) -> Any:
    """2 (r / rho)^2 ln(2N): Winnow on (x, -x)."""
    return winnow(2 * features, radius, margin)


def winnow_at_rate(features: Any, radius: Any, margin: Any, rate: Any) -> Any:
    """ln N / (eta rho - eta^2 r^2 / 2)."""
    _require_margin(radius, margin)
    if not rate * radius * radius < 2 * margin:
        raise invalid("rate", f"below 2 rho / r^2 = {2 * margin / radius / radius:.6g}", rate)
    return WinnowBound.bound(features, radius, margin, rate)


def winnow_hinge(features: Any, radius: Any, norm: Any, hinge_loss: Any, rate: Any) -> Any:
    """(|u|_1 ln N / eta + L) / (1 - eta r^2 |u|_1 / 2)."""
    if not rate * radius * radius * norm < 2:
        raise invalid("rate", f"below 2 / (r^2 |u|_1) = {2 / radius / radius / norm:.6g}", rate)
    return WinnowHingeBound.bound(features, radius, norm, hinge_loss, rate)


def descent_on_a_ball(diameter: Any, gradient: Any, rounds: Any, rate: Any) -> Any:
    """D^2 sqrt(T) / (2c) + c G^2 (sqrt(T) - 1/2), as the rates c / sqrt(t) sum to at most c (2 sqrt(T) - 1)."""
    root = math.sqrt(rounds)
    return BallBound.regret(diameter, rate / root, gradient, rate * (2 * root - 1))


def _require_margin(radius: Any, margin: Any) -> None:
    """A margin is a scalar product with a vector of length 1: no example can have one above its own length."""
    if margin > radius:
        raise invalid("margin", f"at most the radius, {radius:.6g}", margin)


def _on_updates(theorem: Any, name: str, formula: str, loss: str, symbol: str) -> Bound:
    meaning = f"the {loss} of the hinge losses of v, at margin rho, in the rounds with an update"
    return from_theorem(
        theorem,
        name=name,
        formula=formula,
        inputs=(RADIUS, RHO, Input("loss", symbol, meaning, NOT_NEGATIVE)),
        needs=UPDATE_NEEDS,
        quantity="mistakes",
    )


ENTRIES = (
    from_theorem(
        MarginBound,
        name="perceptron",
        formula="({radius} / {margin})^2",
        inputs=(RADIUS, MARGIN),
        function=perceptron,
        needs=SEPARABLE,
    ),
    from_theorem(
        HingeBound,
        name="perceptron-hinge",
        formula="({radius} {norm})^2 + 2 {hinge_loss}",
        inputs=(RADIUS, NORM, HINGE_LOSS),
        needs="w starts at 0",
    ),
    from_theorem(
        RootHingeBound,
        name="perceptron-hinge-sharper",
        formula="(({radius} {norm} + sqrt(({radius} {norm})^2 + 4 {hinge_loss})) / 2)^2",
        inputs=(RADIUS, NORM, HINGE_LOSS),
        needs="w starts at 0",
    ),
    _on_updates(
        UpdateHingeBound,
        "perceptron-update-hinge",
        "(({radius}/{rho} + sqrt(({radius}/{rho})^2 + 4 {loss})) / 2)^2",
        "sum",
        "|l|_1",
    ),
    _on_updates(
        SimpleUpdateHingeBound, "perceptron-update-hinge-simple", "({radius}/{rho} + sqrt({loss}))^2", "sum", "|l|_1"
    ),
    _on_updates(
        EuclideanHingeBound,
        "perceptron-update-hinge-euclidean",
        "({radius}/{rho} + {loss})^2",
        "Euclidean norm",
        "|l|_2",
    ),
    from_theorem(
        TrainedBound,
        name="perceptron-trained",
        formula="min({updates}, ({radius} / {margin})^2) / {rows}",
        inputs=(
            Input("updates", "M", "how many updates training to convergence made", COUNT_OR_NONE),
            RADIUS,
            MARGIN,
            Input("rows", "n", "how many examples it was trained on", COUNT),
        ),
        function=perceptron_trained,
        needs=f"{IID}, separable with that margin; training went on until a whole pass was right",
        chance="on average over samples, of which this is one",
    ),
    Bound(
        name="svm-leave-one-out",
        quantity="error",
        formula="min({support_vectors}, ({radius} / {margin})^2) / {rows}",
        citation="Mohri et al. 2018, Theorem 8.10",
        inputs=(
            Input("support_vectors", "N_SV", "how many support vectors the SVM has", COUNT_OR_NONE),
            RADIUS,
            MARGIN,
            Input("rows", "n", "how many examples it was trained on", COUNT),
        ),
        function=lambda support_vectors, radius, margin, rows: perceptron_trained(
            support_vectors, radius, margin, rows
        ),
        needs=f"{IID}, separable with that margin; the SVM has no offset",
        chance="on average over samples, of which this is one",
    ),
    from_theorem(
        MarginUpdateBound,
        name="margin-perceptron",
        formula="16 ({radius} / {margin})^2",
        inputs=(RADIUS, length("margin", "rho", "the margin, of which half is aimed at")),
        function=margin_perceptron,
        needs=SEPARABLE,
    ),
    from_theorem(
        WinnowBound,
        name="winnow",
        formula="2 ({radius} / {margin})^2 ln({features})",
        inputs=(FEATURES, LARGEST_ENTRY, ONE_NORM_MARGIN),
        function=winnow,
        needs="the rate is rho / r^2, and a v without negative weights separates the examples with that margin",
    ),
    from_theorem(
        WinnowBound,
        name="balanced-winnow",
        formula="2 ({radius} / {margin})^2 ln(2 {features})",
        inputs=(FEATURES, LARGEST_ENTRY, ONE_NORM_MARGIN),
        function=balanced_winnow,
        needs="the rate is rho / r^2, and some v separates the examples with that margin",
    ),
    from_theorem(
        WinnowBound,
        name="winnow-rate",
        formula="ln({features}) / ({rate} {margin} - {rate}^2 {radius}^2 / 2)",
        inputs=(FEATURES, LARGEST_ENTRY, ONE_NORM_MARGIN, RATE),
        function=winnow_at_rate,
        needs="a v without negative weights separates the examples with that margin, and eta < 2 rho / r^2",
    ),
    from_theorem(
        WinnowHingeBound,
        name="winnow-hinge",
        formula="({norm} ln({features}) / {rate} + {hinge_loss}) / (1 - {rate} {radius}^2 {norm} / 2)",
        inputs=(
            FEATURES,
            LARGEST_ENTRY,
            Input("norm", "|u|_1", "the 1-norm of the comparator u, which has no negative weight", NOT_NEGATIVE),
            HINGE_LOSS,
            RATE,
        ),
        function=winnow_hinge,
        needs="eta < 2 / (r^2 |u|_1)",
    ),
    Bound(
        name="gradient-descent",
        quantity="regret",
        formula="{norm}^2 / (2 {rate}) + {rate} {rounds} {gradient}^2 / 2",
        citation=LargestGradientBound.citation,
        inputs=(NORM, RATE, ROUNDS, length("gradient", "G", "the longest a gradient can be")),
        function=lambda norm, rate, rounds, gradient: LargestGradientBound.regret(norm, rate, rounds, gradient),
        needs="w starts at 0, the losses are convex and the rate is constant",
    ),
    Bound(
        name="gradient-descent-ball",
        quantity="regret",
        formula="{diameter}^2 sqrt({rounds}) / (2 {rate}) + {rate} {gradient}^2 (sqrt({rounds}) - 1/2)",
        citation=BallBound.citation,
        inputs=(
            length("diameter", "D", "the diameter of the ball that holds the weights"),
            length("gradient", "G", "the longest a gradient can be"),
            ROUNDS,
            Input("rate", "c", "the rate of round t is this, divided by sqrt(t)", RATE.range, default=1.0),
        ),
        function=descent_on_a_ball,
        needs="the losses are convex and the weights are projected on the ball",
    ),
)
