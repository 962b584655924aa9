"""What happened in a run over shards: totals, a point after every epoch, and what every shard did in each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from afterwit.cluster import mixing
from afterwit.cluster.mixing import Heard
from afterwit.core.record import Point, Record
from afterwit.core.sources import BLOCK
from afterwit.errors import InputError


@dataclass
class ClusterRecord(Record):
    """What happened: as `afterwit.Record` has it, with a point after every epoch, and what there is of shards.

    model   the model: a schema and the learner, or the learner alone
    shards  how many there are
    mixing  how the weights were averaged
    once    whether they were averaged only at the end
    epochs  what each shard did in each epoch: rounds, mistakes, updates, and how often it counted in the average
    """

    model: Any = None
    shards: int = 0
    mixing: str = "uniform"
    once: bool = False
    epochs: list[list[Heard]] = field(default_factory=list, repr=False)

    _run: ClassVar[Any] = None

    @property
    def weighted_mistakes(self) -> float:
        """The mistakes of each shard in each epoch times its weight in the average: what the bounds are about."""
        return mixing.weighted(self.epochs, "mistakes")

    @property
    def weights(self) -> list[list[float]]:
        """The weight of every shard in the average after each epoch."""
        return [mixing.shares(heard) for heard in self.epochs]

    @property
    def skipped(self) -> int:
        """How many rows could not be read and were left out, in each epoch."""
        return sum(each.skipped for each in self.epochs[0]) if self.epochs else 0

    @property
    def moved(self) -> int:
        """How many bytes of numbers shards were given and gave, in all epochs; on one machine most do not move."""
        return sum(each.moved for heard in self.epochs for each in heard)

    def add(self, heard: list[Heard], features: int | None) -> Point:
        """One more epoch."""
        done = sum(heard, Heard())
        self.epochs.append(heard)
        before = (self.rounds, self.mistakes)
        self.rounds += done.rounds
        self.mistakes += done.mistakes
        self.unlabelled += done.unlabelled
        recent = done.mistakes / done.rounds if done.rounds else 0.0
        point = Point(self.rounds, self.mistakes, self.error, recent, features)
        self.curve.append(point)
        # Shards play side by side: within an epoch the mistakes are spread evenly over its rounds.
        for begin in range(0, done.rounds, BLOCK):
            steps = np.arange(begin + 1, min(begin + BLOCK, done.rounds) + 1)
            self.trace.extend((before[1] + recent * steps) / (before[0] + steps))
        return point

    def certificate(self, comparator: Any = None, client: Any = None) -> Any:
        """The theorems of mixed weights applied to this run, computed shard by shard where it was learned.

        ``client`` is where: as for `train`, if it is not given.
        """
        if self._run is None:
            raise InputError("this record has no certificate: only `train` makes one that has, and it is not saved")
        return self._run.certificate(self, comparator, client)

    def moments(self) -> list[Any]:
        """None: shards are played side by side, not one round after the other."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON."""
        return {
            **super().to_dict(),
            "shards": self.shards,
            "mixing": self.mixing,
            "once": self.once,
            "weighted_mistakes": self.weighted_mistakes,
            "moved": self.moved,
            "epochs": [
                [{**vars(each), "weight": mu} for each, mu in zip(heard, weights, strict=True)]
                for heard, weights in zip(self.epochs, self.weights, strict=True)
            ],
        }

    def last_lines(self) -> list[str]:
        """What comes after the curve."""
        mixed = "averaged once, at the end" if self.once else f"mixed {len(self.epochs):,} times"
        how = {"uniform": "with equal weights", "rows": "by rows", "mistakes": "by mistakes"}[self.mixing]
        said = f"{self.shards:,} shards, {mixed} {how}: {self.weighted_mistakes:,.6g} weighted mistakes"
        return [*super().last_lines(), said if self.shards != 1 else "1 shard"]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_run"}
