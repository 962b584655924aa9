"""How long commits take, and how much is in each."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence

#: Upper ends of the buckets: seconds of a commit, and events in it.
SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
EVENTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000)


class Histogram:
    """Counts of numbers by buckets, and their sum."""

    def __init__(self, ends: Sequence[float]) -> None:
        self._ends = ends
        self._counts = [0] * (len(ends) + 1)
        self._total = 0.0

    def add(self, number: float) -> None:
        """Count one more."""
        self._counts[bisect_left(self._ends, number)] += 1
        self._total += number

    def cumulated(self) -> tuple[list[tuple[str, float]], float]:
        """As Prometheus wants it: how many are at most each end; and the sum."""
        found: list[tuple[str, float]] = []
        so_far = 0
        for end, count in zip((*map(str, self._ends), "+Inf"), self._counts, strict=True):
            so_far += count
            found.append((end, so_far))
        return found, self._total


class Commits:
    """The commits of the writer, which another thread reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = Histogram(SECONDS)
        self._events = Histogram(EVENTS)

    def add(self, seconds: float, events: int) -> None:
        """Count one more."""
        with self._lock:
            self._seconds.add(seconds)
            self._events.add(events)

    def described(self) -> dict[str, tuple[list[tuple[str, float]], float]]:
        """Both histograms."""
        with self._lock:
            return {"seconds": self._seconds.cumulated(), "events": self._events.cumulated()}
