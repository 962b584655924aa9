"""Every expert algorithm in several settings, each with its slow twin from naive_experts, and rounds to play."""

import math
from dataclasses import dataclass, field

import numpy as np

import afterwit as aw
import naive_experts as naive


@dataclass(frozen=True)
class Case:
    name: str
    options: dict = field(default_factory=dict)
    #: For SwapRegret: the algorithm it is built on.
    base: "Case | None" = None

    def __str__(self):
        shown = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({self.base or ''}{',' if self.base and shown else ''}{shown})".replace(" ", "")

    def make(self, n):
        first = n if self.base is None else self.base.make(n)
        return getattr(aw, self.name)(first, **self.options)

    def naive(self, n):
        kind = getattr(naive, self.name)
        if self.base is not None:
            return kind([self.base.naive(n) for _ in range(n)], **self.options)
        return kind(n, **self.options)

    @property
    def loss(self):
        if self.name == "WeightedMajority":
            return "zero-one"
        default = "square" if "square" in str(getattr(aw, self.name).__signature__.parameters["loss"]) else "zero-one"
        return self.options.get("loss", default)

    @property
    def gradient(self):
        return self.options.get("gradient", self.name in ("AdaHedge", "BOA", "MLpol") and self.loss != "zero-one")

    @property
    def sleeping(self):
        return getattr(aw, self.name).sleeping

    @property
    def adaptive(self):
        """Exponential weights whose rate follows from the losses."""
        options = self.options
        if self.name != "ExponentialWeights" or "rate" in options or "horizon" in options:
            return False
        if "schedule" in options:
            return options["schedule"] == "adaptive"
        if "loss_range" in options:
            return self.loss in ("square", "log", "brier") and not self.gradient
        return self.gradient or self.loss not in ("log", "zero-one")

    @property
    def scale_free(self):
        free = self.name in ("AdaHedge", "BOA", "MLpol", "PolynomialWeights") or self.adaptive
        # Brier losses are at most 2, and exponential weights know it.
        known = self.adaptive and self.loss == "brier" and not self.gradient and "schedule" not in self.options
        return free and not known and "loss_range" not in self.options

    @property
    def unbounded(self):
        """Whether it is fixed share for the log loss at rate 1, which needs no range."""
        chosen = {"share", "horizon", "gradient", "loss_range"} & set(self.options)
        return self.name == "FixedShare" and self.loss == "log" and not chosen

    @property
    def takes_losses(self):
        return not self.gradient and self.name != "WeightedMajority"

    def rounds(self, random, rounds, n, asleep=0.0):
        """Advice and outcomes the case's loss is defined for, with losses in its range; NaN where one sleeps."""
        if self.loss == "zero-one":
            advice = random.integers(0, 3, (rounds, n)).astype(float)
            outcomes = random.integers(0, 3, rounds).astype(float)
        elif self.loss == "log":
            advice = random.uniform(0.06, 0.94, (rounds, n))
            outcomes = random.integers(0, 2, rounds).astype(float)
        elif self.loss == "percentage":
            advice, outcomes = random.random((rounds, n)), random.uniform(0.5, 1, rounds)
        else:
            advice, outcomes = random.random((rounds, n)), random.random(rounds)
        # One that is better than the others, so that weights move.
        if rounds and self.loss != "zero-one":
            advice[:, -1] = np.clip(outcomes + random.uniform(-0.1, 0.1, rounds), 0.06, 0.94)
        return self.put_to_sleep(random, advice, asleep), outcomes

    def losses(self, random, rounds, n, asleep=0.0):
        low, high = self.options.get("loss_range") or (0.0, 1.0)
        return self.put_to_sleep(random, random.uniform(low, high, (rounds, n)), asleep)

    @staticmethod
    def put_to_sleep(random, values, asleep):
        sleepers = random.random(values.shape) < asleep
        if values.size:
            sleepers[np.arange(len(values)), random.integers(0, values.shape[1], len(values))] = False
        return np.where(sleepers, np.nan, values)


def plain(row):
    """A row as the slow algorithms take it."""
    return [None if math.isnan(value) else value for value in row.tolist()]


CONVEX = ("square", "absolute", "percentage", "pinball(0.3)")
CASES = [
    Case("WeightedMajority"),
    Case("WeightedMajority", {"beta": 0}),
    Case("WeightedMajority", {"beta": 0.9}),
    Case("RandomizedWeightedMajority", {"beta": 0.7, "seed": 3}),
    Case("RandomizedWeightedMajority", {"horizon": 25}),
    Case("RandomizedWeightedMajority", {"beta": 0.5, "loss": "absolute"}),
    Case("ExponentialWeights"),
    Case("ExponentialWeights", {"loss": "absolute"}),
    Case("ExponentialWeights", {"gradient": True}),
    Case("ExponentialWeights", {"gradient": True, "loss": "log"}),
    Case("ExponentialWeights", {"loss_range": (0.0, 1.0)}),
    Case("ExponentialWeights", {"loss": "log", "loss_range": (0.0, 3.0)}),
    Case("ExponentialWeights", {"schedule": "adaptive", "loss": "pinball(0.3)", "loss_range": (0.0, 1.0)}),
    Case("ExponentialWeights", {"schedule": "decreasing"}),
    Case("ExponentialWeights", {"rate": 0.5}),
    Case("ExponentialWeights", {"horizon": 25, "loss": "absolute"}),
    Case("ExponentialWeights", {"schedule": "doubling", "loss": "percentage"}),
    Case("ExponentialWeights", {"schedule": "decreasing", "loss": "pinball(0.3)"}),
    Case("ExponentialWeights", {"loss": "zero-one", "seed": 5}),
    Case("ExponentialWeights", {"loss": "log"}),
    Case("ExponentialWeights", {"loss": "log", "rate": 0.4, "loss_range": (0.0, 3.0)}),
    Case("ExponentialWeights", {"gradient": True, "loss_range": (-2.0, 2.0)}),
    Case("ExponentialWeights", {"gradient": True, "loss": "absolute", "loss_range": (-1, 1.5), "schedule": "doubling"}),
    Case("SecondOrderWeights", {"beta": 0.5}),
    Case("SecondOrderWeights", {"horizon": 25, "loss": "square"}),
    Case("SecondOrderWeights", {"beta": 0.9, "loss": "log", "loss_range": (0.0, 3.0)}),
    Case("PolynomialWeights"),
    Case("PolynomialWeights", {"power": 2, "loss": "zero-one"}),
    Case("PolynomialWeights", {"power": 3.5, "gradient": True}),
    Case("PolynomialWeights", {"power": 8, "loss": "log"}),
    Case("PolynomialWeights", {"gradient": True, "loss": "pinball(0.8)", "loss_range": (-1.0, 1.0)}),
    Case("SleepingExperts"),
    Case("SleepingExperts", {"epsilon": 1.5, "loss": "absolute", "loss_range": (0.0, 2.0), "seed": 9}),
    Case("FixedShare", {"share": 0.1, "rate": 2.0}),
    Case("FixedShare", {"horizon": 25, "shifts": 3, "loss": "absolute"}),
    Case("FixedShare", {"share": 0.05, "rate": 1.5, "shifts": 2, "loss": "zero-one"}),
    Case("FixedShare", {"share": 0.3, "rate": 4.0, "gradient": True, "loss_range": (-2.0, 2.0)}),
    Case("FixedShare"),
    Case("FixedShare", {"loss": "log"}),
    Case("FixedShare", {"loss": "log", "shifts": 2, "loss_range": (0.0, 3.0)}),
    Case("FixedShare", {"loss": "absolute"}),
    Case("FixedShare", {"loss": "zero-one", "shifts": 3}),
    Case("FixedShare", {"rate": 0.4, "shifts": 1}),
    Case("FixedShare", {"gradient": True, "loss_range": (-2.0, 2.0)}),
    *(Case("AdaHedge", {"loss": loss, "gradient": gradient}) for loss in CONVEX for gradient in (False, True)),
    Case("AdaHedge", {"loss": "log", "gradient": True}),
    Case("AdaHedge", {"loss": "zero-one", "gradient": False}),
    *(Case("BOA", {"loss": loss, "gradient": gradient}) for loss in CONVEX for gradient in (False, True)),
    Case("BOA", {"loss": "log", "gradient": False}),
    Case("BOA", {"loss": "zero-one", "gradient": False, "loss_range": (0.0, 1.0)}),
    Case("BOA", {"gradient": True, "loss_range": (-2.0, 2.0)}),
    *(Case("MLpol", {"loss": loss, "gradient": gradient}) for loss in CONVEX for gradient in (False, True)),
    Case("MLpol", {"loss": "log", "gradient": True}),
    Case("MLpol", {"loss": "zero-one", "gradient": False, "loss_range": (0.0, 1.0)}),
    Case("MLpol", {"gradient": True, "loss_range": (-2.0, 2.0)}),
    Case("MLpol", {"discount": 0.9}),
    Case("MLpol", {"discount": 0.5, "gradient": False, "loss": "absolute"}),
    Case("MLpol", {"discount": 0.97, "gradient": False, "loss_range": (0.0, 1.0)}),
    Case("MLpol", {"discount": 0.8, "loss": "log", "gradient": True}),
    Case("StronglyAdaptive"),
    Case("StronglyAdaptive", {"loss": "absolute", "loss_range": (0.0, 2.0)}),
    Case("StronglyAdaptive", {"loss": "zero-one", "seed": 2}),
    Case("StronglyAdaptive", {"loss": "log", "loss_range": (0.0, 3.0)}),
    Case("StronglyAdaptive", {"gradient": True, "loss_range": (-2.0, 2.0)}),
    Case("Exp3"),
    Case("Exp3", {"rate": 0.2, "loss": "absolute", "loss_range": (0.0, 2.0), "seed": 4}),
    Case("Exp3", {"horizon": 25, "seed": 1}),
    Case("SwapRegret", base=Case("ExponentialWeights", {"rate": 0.8})),
    Case("SwapRegret", base=Case("ExponentialWeights")),
    Case("SwapRegret", {"loss": "square"}, base=Case("SecondOrderWeights", {"beta": 0.6})),
    Case("SwapRegret", {"loss_range": (0.0, 4.0)}, base=Case("ExponentialWeights", {"schedule": "doubling"})),
]
#: One of each algorithm.
PLAIN = list({case.name: case for case in reversed(CASES)}.values())
SLEEPY = [case for case in CASES if case.sleeping]
WATCHING = [case for case in CASES if case.takes_losses]


def advice_rounds(count=60, experts=3, seed=0, asleep=0.0):
    """Forecasts and outcomes between 0 and 1; somebody is awake in every round."""
    random = np.random.default_rng(seed)
    advice = random.random((count, experts))
    advice[random.random(advice.shape) < asleep] = math.nan
    advice[np.isnan(advice).all(axis=1), 0] = 0.5
    return advice, random.random(count)
