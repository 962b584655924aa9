"""Perceptrons on shards whose weights are mixed: small streams in shards, beside a run of the oracle.

The oracle adds up as the learners do, so that its weights are theirs to the bit, and it counts. What a comparator has on
each shard is multiplied out in fractions, and counts as often as the shard does.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np

import afterwit as aw
import naive_exact as exact
import naive_mixing
from afterwit.cluster import Here, train
from naive_bounds import BOUNDS
from proving.judging import APPLIED, Truth, all_of, key_of
from proving.linear import Comparison, stream
from proving.searching import subject
from proving.sequences import pick

MIXED = "linear._mixed_bounds."
NAMES = ("MixedMarginBound", "MixedHingeBound", "MixedMarginUpdateBound", "MixedTotalBound")


class Mixed:
    """A run of the oracle: what each shard did in each epoch, and the weights of the shards."""

    def __init__(self, X, y, shards, epochs, mixing, play):
        borders = [len(y) * i // shards for i in range(shards + 1)]
        self.spans = list(pairwise(borders))
        parts = [list(zip(X[a:b].tolist(), y[a:b].tolist(), strict=True)) for a, b in self.spans]
        self.weights, self.counts = naive_mixing.mix(parts, epochs, mixing, play, X.shape[1])
        self.shares = [[Fraction(c, sum(each) or 1) for c in each] for each in map(self._counted(mixing), self.counts)]

    @staticmethod
    def _counted(mixing):
        def counted(done):
            c = [{"uniform": min(n, 1), "rows": n, "mistakes": k}[mixing] for n, k, _ in done]
            return c if sum(c) else [n for n, _, _ in done]

        return counted

    def weighted(self, what):
        pairs = [
            (mu, each[what])
            for done, shares in zip(self.counts, self.shares, strict=True)
            for each, mu in zip(done, shares, strict=True)
        ]
        return sum((mu * count for mu, count in pairs), Fraction(0)), min(
            (mu for mu, count in pairs if count), default=1
        )

    def total(self, what):
        return sum(each[what] for done in self.counts for each in done)

    def hinge(self, comparison, scale):
        losses = comparison.hinges(scale)
        return sum(
            (sum((shares[i] for shares in self.shares), Fraction(0)) * sum(losses[a:b], Fraction(0)))
            for i, (a, b) in enumerate(self.spans)
        )


@subject("parameter mixing", *(MIXED + name for name in NAMES))
def mixing(table, random):
    X, y, u, _ = stream(random, 30)
    comparison = Comparison(X.tolist(), y, u.tolist())
    best = comparison.margin_bound()
    gamma = comparison.radius / float(exact.root(best)) if best else 0.1 * comparison.radius or 1.0
    shards, epochs, how = (
        int(random.integers(1, 6)),
        int(random.integers(1, 4)),
        pick(random, "uniform", "rows", "mistakes"),
    )
    aims = bool(random.random() < 0.5)
    rho = gamma * pick(random, 0.999, 0.7, 0.5, 1.5)
    if aims:
        # By mistakes, the margin perceptron counts its updates, which the oracle does not.
        how = pick(random, "uniform", "rows")
        learner, play, what = aw.MarginPerceptron(margin=rho), naive_mixing.margin_perceptron(rho), 2
    else:
        rate = pick(random, 1.0, 1.0, 0.5, 4.0)
        learner, play, what = aw.Perceptron(rate=rate, labels=(-1, 1)), naive_mixing.perceptron, 1
    record = train(learner, X, y, shards=shards, epochs=epochs, mixing=how, client=Here())
    run = Mixed(X, y, shards, epochs, how, play)
    agree = [[(e.rounds, e.mistakes, e.updates) for e in heard] for heard in record.epochs] == run.counts
    if not aims:
        table.same("", "parameter mixing", agree and learner.rounds == epochs * len(X), True)
        wanted = [rate * a for a in run.weights[-1]] if len(X) else []
        if rate == 1.0:
            table.same("", "parameter mixing", learner.weights.tolist(), wanted)
    elif not agree:
        # Where a product is as near to the margin as rounding, the learner may decide otherwise.
        return
    found = record.certificate(comparator=u if len(X) else None)
    observed, smallest = run.weighted(what)
    for made in all_of(found):
        table.certificate(
            made, "parameter mixing", lambda made=made: truth(table, made, run, comparison, what, (observed, smallest, best, gamma, rho))
        )  # fmt: skip


def truth(table, made, run, comparison, what, known):
    observed, smallest, best, gamma, rho = known
    name = type(made.theorem).__name__
    if name == "MixedMarginUpdateBound" or (name == "MixedTotalBound" and what == 2):
        if not best or rho > gamma * (1 + 1e-8):
            table.problem(key_of(type(made.theorem)), "parameter mixing", APPLIED, f"gamma {gamma!r}, rho {rho!r}")
            return None
        bound = BOUNDS["margin-perceptron-mixed"](comparison.radius, rho)
    elif name == "MixedMarginBound" or (name == "MixedTotalBound" and made.inputs["by"].startswith("margin")):
        if best is None:
            table.problem(key_of(type(made.theorem)), "parameter mixing", APPLIED, "the comparator does not separate")
            return None
        bound = BOUNDS["perceptron-mixed"](float(exact.root(best)), 1.0)
    elif name == "MixedHingeBound":
        length = made.inputs["|u|"]
        scale = length / comparison.length if comparison.length else 0.0
        bound = BOUNDS["perceptron-mixed-hinge"](comparison.radius, length, float(run.hinge(comparison, scale)))
    else:
        bound = made.inputs["K"]
    if name != "MixedTotalBound":
        return Truth(float(observed), bound, slack=1e-12 * float(observed))
    return Truth(run.total(what), BOUNDS["perceptron-mixed-total"](bound, float(smallest)))


@subject("shards with the same unit vectors")
def tight(table, random):
    """Every shard has all unit vectors, labelled -1: both bounds are attained."""
    n, shards = int(random.integers(1, 20)), int(random.integers(1, 6))
    learner = aw.Perceptron(rate=pick(random, 1.0, 0.25))
    record = train(
        learner, np.tile(np.eye(n), (shards, 1)), -np.ones(n * shards), shards=shards, epochs=2, client=Here()
    )
    made = {each.theorem.id: each for each in all_of(record.certificate())}
    for name, key, wanted in (
        ("perceptron-mixed", "MixedMarginBound", n),
        ("perceptron-mixed-total", "MixedTotalBound", n * shards),
    ):
        table.attained(MIXED + key, "Perceptron", made[name].observed, wanted, 1e-9 * wanted)
        table.attained(MIXED + key, "Perceptron", made[name].bound, wanted, 1e-6 * wanted)
