"""The bounds of exponential weights at a fixed rate, and at rates that follow from the number of rounds alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.theorem import Theorem
from afterwit.experts._regret import CONVEX, MOHRI, RegretTheorem, ratio


class FixedRateBound(RegretTheorem):
    id = "exponential-weights"
    name = "fixed rate bound"
    formula = "{log_experts} / {rate} + {rate} {rounds} / 8"
    inputs = (EXPERTS, ROUNDS, RATE_INPUT)
    needs = CONVEX
    citation = f"{MOHRI}, Theorem 8.6"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any, rate: Any) -> Any:
        return ratio(log_experts, rate) + rate * rounds / 8

    def regret_bound(self, evidence: Any) -> Any:
        rate, rounds, width = evidence.facts["fixed_rate"], evidence.rounds, evidence.width
        if rate is None or not evidence.setting.ranged:
            return None
        bound = width * self.bound(evidence.log_n, rounds, rate)
        return bound, {"N": evidence.n, "rate": rate, "T": rounds, "range": width}


class TunedRateBound(Theorem):
    """The fixed rate bound where it is least."""

    id = "exponential-weights-tuned"
    name = "fixed rate bound at the best rate"
    quantity = "regret"
    formula = "sqrt(({rounds} / 2) {log_experts})"
    inputs = (EXPERTS, ROUNDS)
    needs = f"{CONVEX}; the rate is sqrt(8 ln N / T)"
    citation = f"{MOHRI}, Theorem 8.6"

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        return np.sqrt(rounds / 2 * log_experts)


class DoublingBound(RegretTheorem):
    id = "exponential-weights-doubling"
    name = "doubling bound"
    formula = "sqrt(2) / (sqrt(2) - 1) sqrt(({rounds} / 2) {log_experts}) + sqrt({log_experts} / 2)"
    inputs = (EXPERTS, ROUNDS)
    needs = f"{CONVEX}; the learner starts again, tuned, at every power of two"
    citation = f"{MOHRI}, Theorem 8.7"
    beforehand = True
    schedule = "doubling"

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        root = math.sqrt(2)
        return root / (root - 1) * TunedRateBound.bound(log_experts, rounds) + np.sqrt(log_experts / 2)

    def regret_bound(self, evidence: Any) -> Any:
        if evidence.parameters["schedule"] != self.schedule:
            return None
        bound = evidence.width * self.bound(evidence.log_n, evidence.rounds)
        return bound, {"N": evidence.n, "T": evidence.rounds, "range": evidence.width}


class DecreasingRateBound(DoublingBound):
    id = "exponential-weights-decreasing"
    name = "decreasing rate bound"
    formula = "2 sqrt(({rounds} / 2) {log_experts}) + sqrt({log_experts} / 8)"
    needs = f"{CONVEX}; the rate of round t is sqrt(8 ln N / t)"
    citation = "Cesa-Bianchi & Lugosi 2006, Theorem 2.3"
    schedule = "decreasing"

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        return 2 * TunedRateBound.bound(log_experts, rounds) + np.sqrt(log_experts / 8)
