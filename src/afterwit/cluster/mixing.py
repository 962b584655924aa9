"""Iterative parameter mixing: a learner on every shard, an average of their weights after every epoch.

Setting     the rows are in shards 1..S, each in an order of its own, and each is read where it is learned.
Update      from the weights w of a fresh learner, in every epoch: each shard i starts with w, plays its rows and ends
            with w_i, in which it has made k_i mistakes. Then w <- (c_1 w_1 + ... + c_S w_S) / (c_1 + ... + c_S), with
            uniform   c_i = 1 if the shard has rows, else 0
            rows      c_i = the number of its rows
            mistakes  c_i = k_i; where nobody made a mistake the weights stay. Where bounds are about updates, k_i is
                      their number: those of the averaged perceptron are the mistakes of the perceptron inside
            The sums are those of a fixed tree (`tree`), in float64: the result depends on the rows, on the number of
            shards and on nothing else. With one shard this is the learner itself, to the bit.
Guarantee   perceptrons: with mu_i = c_i / (c_1 + ... + c_S), the sum of mu_i k_i over all shards and epochs is at most
            (R/gamma)^2 if the rows are separable, and has a hinge bound on any rows; the margin perceptron keeps its
            bound, too. The mistakes of all shards together can be as many times more as 1 is the smallest mu_i: S times
            with uniform weights (`afterwit.linear._mixed_bounds` has the theorems and their proofs).
            Of gradient learners no certificate is made here. At a constant rate without a ball, the proof for SGD and
            for the online SVM survives the average: |w - u|^2 is convex, so that the weighted losses are at most those
            of u plus |u|^2/(2 rate) + rate/2 times the weighted sum of |g|^2. For AdaGrad, whose rates differ from
            shard to shard, we know of no bound.
            With ``once`` every shard trains for all epochs alone, and there is one average at the end. No bound is
            known for that average, and the certificate says so.
Assumes     all weights 0 at first, for the bounds. Nothing about how rows come to be in shards.
Source      McDonald, Hall & Mann, Distributed Training Strategies for the Structured Perceptron, 2010, Figure 3 and
            Theorem 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from afterwit.cluster.weights import Part, State, added, form_of, given, multiplied, taken
from afterwit.core import registry
from afterwit.core.sources import BLOCK

MIXINGS = ("uniform", "rows", "mistakes")


@dataclass(frozen=True)
class Start:
    """What every shard begins an epoch with: the learner with the mixed weights."""

    kind: str
    parameters: dict[str, Any]
    state: State

    @classmethod
    def of(cls, learner: Any) -> Start:
        return cls(type(learner).__name__, learner.parameters, learner.state())

    def learner(self) -> Any:
        learner = registry.find(self.kind)(**self.parameters)
        learner.restore(self.state)
        return learner

    @property
    def nbytes(self) -> int:
        """How many bytes its numbers take."""
        return sum(getattr(value, "nbytes", 0) for value in self.state.values())


@dataclass(frozen=True)
class Heard:
    """What a shard did in an epoch, or several together.

    count    how often its weights count in the average
    skipped  rows that could not be read and were left out, of all passes
    moved    bytes of numbers that came to it and went from it
    """

    rounds: int = 0
    mistakes: int = 0
    updates: int = 0
    count: int = 0
    unlabelled: int = 0
    skipped: int = 0
    moved: int = 0

    def __add__(self, other: Heard) -> Heard:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Heard(*(one + more for one, more in pairs))


@dataclass(frozen=True)
class Played:
    """What a shard has learned, or several together: weights that are multiplied by their counts, and added up."""

    heard: Heard
    part: Part
    #: The state of the learner itself, of a shard that is alone.
    state: State | None = None


def play(shard: Any, data: Any, start: Start, mixing: str, passes: int = 1, alone: bool = False) -> Played:
    """Play the rows of a shard in order. It changes nothing but its own learner: it can be done again anywhere."""
    learner = start.learner()
    unlabelled = skipped = 0
    for _ in range(passes):
        with shard.stream(data).reader() as reader:
            while (block := reader.take(BLOCK)) is not None:
                X, y = block
                if y is None:
                    unlabelled += X.count
                    continue
                learner.learn_many(X, y)
            skipped += getattr(getattr(reader, "skipped", None), "count", 0)
    return finished(learner, start, mixing, alone, unlabelled, skipped)


def finished(
    learner: Any, start: Start, mixing: str, alone: bool = False, unlabelled: int = 0, skipped: int = 0
) -> Played:
    """What a learner has learned that began with that start."""
    began = start.state
    part = taken(learner, began)
    done = {name: getattr(learner, name) - began[name] for name in ("rounds", "mistakes", "updates")}
    made = done["updates" if counts_updates(learner) else "mistakes"]
    count = {"uniform": int(done["rounds"] > 0), "rows": done["rounds"], "mistakes": made}[mixing]
    heard = Heard(**done, count=count, unlabelled=unlabelled, skipped=skipped, moved=start.nbytes + part.nbytes)
    return Played(heard, multiplied(part, count), learner.state() if alone else None)


def counts_updates(learner: Any) -> bool:
    """Whether the bounds of a learner are about its updates, not about its mistakes."""
    return bool(learner.theorems) and learner.theorems[0].quantity == "updates"


def both(one: Played, other: Played) -> Played:
    """What two have learned, added up."""
    return Played(one.heard + other.heard, added(one.part, other.part))


def heard_of(played: Played) -> Heard:
    """What happened, without the weights."""
    return played.heard


def mixed(learner: Any, start: Start, played: Played) -> State:
    """The state of the learner with the average of what all shards have learned."""
    if played.state is not None:
        return played.state
    heard = played.heard
    counts = {"rounds": heard.rounds, "mistakes": heard.mistakes, "updates": heard.updates}
    return given(learner, start.state, played.part, heard.count, counts)


def shares(heard: list[Heard]) -> list[float]:
    """The weight mu_i of every shard in an epoch; those of the rows where none counts, and the weights stay."""
    counts = [each.count for each in heard]
    total = sum(counts)
    if not total:
        counts = [each.rounds for each in heard]
        total = max(1, sum(counts))
    return [count / total for count in counts]


def require_mixable(learner: Any) -> None:
    """Refuse a learner whose weights cannot be averaged."""
    form_of(learner)


def epoch_of(
    submit: Callable[..., Any], tree: Callable[..., Any], plan: list[tuple[Any, Any]], start: Any, **how: Any
) -> tuple[list[Any], Any]:
    """An epoch as tasks: what each shard did, and all they have learned. ``submit`` takes a name, a function, ..."""
    alone = len(plan) == 1
    played = [
        # What is on the cluster already is played where it is.
        submit(
            *(f"play-{i}", play, shard, data, start, how["mixing"], how["passes"], alone),
            part=(i, len(plan)) if data is None else None,
        )
        for i, (shard, data) in enumerate(plan)
    ]
    heard = [submit(f"heard-{i}", heard_of, each) for i, each in enumerate(played)]
    number = 0

    def add(one: Any, other: Any) -> Any:
        nonlocal number
        number += 1
        return submit(f"sum-{number}", both, one, other)

    return heard, tree(played, add)


def smallest_share(epochs: list[list[Heard]], counted: str) -> float:
    """The smallest weight of a shard in an epoch in which it did any of what is counted; 1 if none ever did."""
    found = [mu for heard in epochs for mu, each in zip(shares(heard), heard, strict=True) if getattr(each, counted)]
    return min(found, default=1.0)


def weighted(epochs: list[list[Heard]], what: str) -> float:
    """The sum over epochs and shards of what is counted, each times its weight."""
    return float(
        sum(mu * getattr(each, what) for heard in epochs for mu, each in zip(shares(heard), heard, strict=True))
    )
