"""Bounds of perceptrons whose weights are mixed: rows in shards, one learner on each, an average after every epoch.

In epoch n every shard i starts from the mixed weights w, plays its rows in order, and makes k_in updates on the way to
w_i. The new mixed weights are w' = sum_i mu_in w_i, for some mu_in >= 0 whose sum over i is 1. They may be others in
each epoch, and may depend on what happened in it. K, the sum of mu_in k_in over epochs and shards, is the number of
*weighted* updates.

The perceptron. Let v be a unit vector with y (v . x) >= gamma for every example, and let all be of length R at most.
An update adds at least gamma to v . w, and at most R^2 to |w|^2, since its margin was not positive. So in a shard

    v . w_i  >=  v . w + gamma k_in,        |w_i|^2  <=  |w|^2 + R^2 k_in.

The first is linear in w_i and survives the average. So does the second, because the square of a length is convex:
|w'|^2 <= sum_i mu_in |w_i|^2. From w = 0 that gives gamma K <= v . w <= |w| <= R sqrt(K) over all epochs, and

    K  <=  (R/gamma)^2.

On any sequence, an update adds at least 1 - xi to u . w, for a comparator u and its hinge loss xi on the example. Let L
be the sum of its losses, those of shard i in epoch n times mu_in. (Over the updates; over all rounds it is larger.)
Then K - L <= u . w <= |u| R sqrt(K), and K is at most the square of the largest root of z^2 = R |u| z + L.

The margin perceptron updates where w = 0 or y (w . x) < rho/2 |w|, and adds at least rho to v . w if the data have
that margin. With C = 4 R^2/rho, an update takes |w| to max(C, |w| + 3 rho/4) at most (see `_late_bounds`), so that
max(C, |w_i|) <= max(C, |w|) + 3 rho/4 k_in. Lengths are convex, and so is their maximum with C: after the average,
max(C, |w'|) <= max(C, |w|) + 3 rho/4 sum_i mu_in k_in. From 0 on, rho K <= v . w <= |w| <= C + 3 rho/4 K: again

    K  <=  16 (R/rho)^2.

All of this is about weighted updates. If every one of them counted at least mu, there were K/mu at most. With equal
weights that is as many times more as there are shards, and it is attained: shards with the same unit vectors.
"""

from __future__ import annotations

from typing import Any

from afterwit.core.inputs import HINGE_LOSS, MARGIN, NORM, RADIUS, SEPARABLE, length, margin_within_radius
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import NOT_NEGATIVE, Range
from afterwit.linear._late_bounds import LateHingeBound, LateMarginBound, LateMarginUpdateBound, wide_enough

WEIGHTED = Input("weighted", "K", "a bound on the weighted mistakes", NOT_NEGATIVE)
SHARE = Input(
    "share",
    "mu",
    "the smallest weight of a shard in an epoch in which it made a mistake",
    Range("a number above 0 and at most 1", lambda x: (x > 0) & (x <= 1)),
)
STARTS = "every shard starts each epoch from the mixed weights, which are 0 at first"
SOURCE = "McDonald, Hall & Mann 2010, Theorem 3"


class MixedPerceptronBound(Theorem):
    """A bound on what mixed perceptrons did, each shard and epoch counted by its weight."""

    quantity = "weighted mistakes"

    def __init__(self, counts: str = "mistakes") -> None:
        self.quantity = f"weighted {counts}"

    def certify(self, evidence: Any) -> Any:
        raise NotImplementedError


class MixedMarginBound(MixedPerceptronBound):
    """Separable data: the squared ratio of radius to margin, as without shards."""

    id = "perceptron-mixed"
    name = "margin bound of mixed weights"
    formula = "({radius} / {margin})^2"
    inputs = (RADIUS, MARGIN)
    needs = f"{SEPARABLE}; {STARTS}"
    citation = SOURCE
    check = staticmethod(margin_within_radius)

    @staticmethod
    def bound(radius: Any, margin: Any) -> Any:
        return LateMarginBound.bound(radius, margin, 0)

    def certify(self, evidence: Any) -> Any:
        separable, widest = evidence.separability()
        if widest is None:
            return evidence.certificate(self, None, {}, separable)
        unit = evidence.unit
        inputs = {"R": unit * evidence.radius, "gamma": unit * widest.margin, "comparator": widest.source}
        return evidence.certificate(self, self.bound(evidence.radius, widest.margin), inputs, separable)


class MixedHingeBound(MixedPerceptronBound):
    """Any rows: what K <= L + R |u| sqrt(K) says about K. The losses are weighted, and those of all rounds."""

    id = "perceptron-mixed-hinge"
    name = "hinge bound of mixed weights"
    formula = "(({radius} {norm} + sqrt(({radius} {norm})^2 + 4 {hinge_loss})) / 2)^2"
    inputs = (
        RADIUS,
        NORM,
        Input("hinge_loss", "L", "the hinge loss of u over all rounds, each counted by its weight", HINGE_LOSS.range),
    )
    needs = STARTS
    citation = "Mohri et al. 2018, Theorem 8.11, with the average of McDonald, Hall & Mann 2010"

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any) -> Any:
        return LateHingeBound.bound(radius, norm, hinge_loss, 0)

    def certify(self, evidence: Any) -> Any:
        best = evidence.best(lambda u: self.bound(evidence.radius, u.norm, u.hinge))
        unit = evidence.unit
        inputs = {"R": unit * evidence.radius, "|u|": best.norm / unit, "L": best.hinge, "comparator": best.source}
        return evidence.certificate(self, self.bound(evidence.radius, best.norm, best.hinge), inputs)


class MixedMarginUpdateBound(MixedPerceptronBound):
    """The margin perceptron on data that are separable with the margin of which half is aimed at."""

    id = "margin-perceptron-mixed"
    name = "margin perceptron bound of mixed weights"
    quantity = "weighted updates"
    formula = "16 ({radius} / {margin})^2"
    inputs = (RADIUS, length("margin", "rho", "the margin, of which half is aimed at"))
    needs = f"{SEPARABLE}; {STARTS}"
    citation = "Mohri et al. 2018, Exercise 8.6, with the average of McDonald, Hall & Mann 2010"
    check = staticmethod(margin_within_radius)

    def __init__(self) -> None:
        super().__init__("updates")

    @staticmethod
    def bound(radius: Any, margin: Any) -> Any:
        return LateMarginUpdateBound.bound(radius, margin, 0)

    def certify(self, evidence: Any) -> Any:
        separable, widest = evidence.separability()
        if widest is None:
            return evidence.certificate(self, None, {}, separable)
        unit, rho = evidence.unit, evidence.margin
        inputs = {"R": unit * evidence.radius, "rho": rho, "comparator": widest.source}
        bound = self.bound(unit * evidence.radius, rho)
        return evidence.certificate(self, bound, inputs, separable, wide_enough(evidence, widest))


class MixedTotalBound(Theorem):
    """All mistakes of all shards, from a bound on the weighted ones: as many times more as 1 is the smallest weight."""

    id = "perceptron-mixed-total"
    name = "bound on all mistakes of mixed weights"
    quantity = "mistakes"
    formula = "{weighted} / {share}"
    inputs = (WEIGHTED, SHARE)
    needs = f"the bound on the weighted mistakes holds; {STARTS}"
    citation = f"{SOURCE}, divided by the smallest weight"
    foreseeable = False
    beside = True

    def __init__(self, counts: str = "mistakes", *on_weighted: MixedPerceptronBound) -> None:
        self.quantity = counts
        self.on_weighted = on_weighted

    @staticmethod
    def bound(weighted: Any, share: Any) -> Any:
        return weighted / share

    def certify(self, evidence: Any) -> Any:
        made: list[Any] = [each.certify(evidence) for each in self.on_weighted]
        known = [each for each in made if each.bound is not None]
        if not known:
            # They all lack the same: what is wrong with the first says why.
            return evidence.certificate(self, None, {}, *made[0].failed)
        best = min(known, key=lambda each: each.bound)
        inputs = {"K": best.bound, "mu": evidence.share, "by": best.theorem.name}
        extra = [each for each in best.assumptions if each not in evidence.assumptions]
        return evidence.certificate(self, self.bound(best.bound, evidence.share), inputs, *extra)


def mixed_bounds(counts: str = "mistakes") -> tuple[Theorem, ...]:
    """Every bound on mixed perceptrons: on mistakes, or on the updates of who updates as the perceptron does."""
    weighted = (MixedMarginBound(counts), MixedHingeBound(counts))
    return (*weighted, MixedTotalBound(counts, *weighted))


def mixed_margin_bounds() -> tuple[Theorem, ...]:
    """The same for the margin perceptron."""
    weighted = MixedMarginUpdateBound()
    return (weighted, MixedTotalBound("updates", weighted))
