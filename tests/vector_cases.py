"""Algorithms that mix probability vectors, in several settings, and rounds for them."""

from dataclasses import dataclass, field

import numpy as np

import afterwit as aw


@dataclass(frozen=True)
class VectorCase:
    name: str
    options: dict = field(default_factory=dict)

    def __str__(self):
        return f"{self.name}({','.join(f'{key}={value}' for key, value in self.options.items())})".replace(" ", "")

    def make(self, n, kinds):
        return getattr(aw, self.name)(n, outcomes=kinds, **self.options)


BRIER, LOG = {"loss": "brier"}, {"loss": "log"}
UNIT, WIDE = {"loss_range": (0.0, 2.0)}, {"loss_range": (0.0, 5.0)}
CASES = [
    VectorCase("MLpol", {**BRIER, "gradient": True}),
    VectorCase("MLpol", {**BRIER, "gradient": False}),
    VectorCase("MLpol", {**LOG, "gradient": True}),
    VectorCase("BOA", {**BRIER, "gradient": True}),
    VectorCase("BOA", {**LOG, "gradient": False}),
    VectorCase("AdaHedge", {**BRIER, "gradient": True}),
    VectorCase("AdaHedge", {**BRIER, "gradient": False}),
    VectorCase("AdaHedge", {**LOG, "gradient": True}),
    VectorCase("ExponentialWeights", {**BRIER, **UNIT, "rate": 0.4}),
    VectorCase("ExponentialWeights", {**BRIER, **UNIT, "schedule": "doubling"}),
    VectorCase("ExponentialWeights", {**BRIER, "gradient": True, "loss_range": (-4.0, 4.0), "rate": 0.9}),
    VectorCase("ExponentialWeights", BRIER),
    VectorCase("ExponentialWeights", {**BRIER, "gradient": True}),
    VectorCase("ExponentialWeights", {**BRIER, "schedule": "adaptive"}),
    VectorCase("ExponentialWeights", {**BRIER, "loss_range": (0.0, 4.0)}),
    VectorCase("ExponentialWeights", LOG),
    VectorCase("ExponentialWeights", {**LOG, "schedule": "adaptive", **WIDE}),
    VectorCase("FixedShare", {**BRIER, **UNIT, "share": 0.1, "rate": 2.0}),
    VectorCase("FixedShare", BRIER),
    VectorCase("FixedShare", LOG),
    VectorCase("SecondOrderWeights", {**BRIER, "beta": 0.6}),
    VectorCase("SecondOrderWeights", {**LOG, **WIDE, "beta": 0.8}),
    VectorCase("PolynomialWeights", {**BRIER, "power": 3}),
    VectorCase("PolynomialWeights", {**LOG, "power": 3, "gradient": True}),
    VectorCase("StronglyAdaptive", BRIER),
    VectorCase("StronglyAdaptive", {**LOG, **WIDE}),
    VectorCase("StronglyAdaptive", {**BRIER, "gradient": True, "loss_range": (-4.0, 4.0)}),
]


def rounds_for(random, case, rounds, n, kinds, asleep=0.0):
    """Vectors and outcomes; the last expert is often right, and no log loss is above 5."""
    table = random.dirichlet(np.full(kinds, 0.5), (rounds, n))
    outcomes = random.integers(0, kinds, rounds)
    right = random.random(rounds) < 0.7
    table[right, -1] = 0.2 * table[right, -1] + 0.8 * np.eye(kinds)[outcomes[right]]
    if case.options["loss"] == "log":
        table = 0.95 * table + 0.05 / kinds
    table /= table.sum(axis=2, keepdims=True)
    sleepers = random.random((rounds, n)) < asleep
    sleepers[np.arange(rounds), random.integers(0, n, rounds)] = False
    table[sleepers] = np.nan
    return table, outcomes


def plain(row):
    """A round as the slow algorithms take it."""
    return [None if np.isnan(vector).any() else vector.tolist() for vector in row]
