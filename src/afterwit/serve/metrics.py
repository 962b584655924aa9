"""Counts of requests, and all metrics in the format of Prometheus."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

#: Upper ends of the buckets of latencies, in seconds.
LATENCIES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: For how many seconds requests are counted one by one, for the rate of now.
RECENT = 10


class Requests:
    """What was asked, counted by the thread that answers, which is one: no lock is needed."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str, int], int] = {}
        self.latencies: dict[str, tuple[list[int], list[float]]] = {}
        #: For each of the last seconds, which one it was and how many requests it had.
        self._seconds: deque[list[int]] = deque(maxlen=RECENT + 1)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        key = (method, route, status)
        self.counts[key] = self.counts.get(key, 0) + 1
        latency = self.latencies.get(route)
        if latency is None:
            latency = self.latencies[route] = ([0] * (len(LATENCIES) + 1), [0.0])
        latency[0][bisect_left(LATENCIES, seconds)] += 1
        latency[1][0] += seconds
        now = int(time.monotonic())
        if self._seconds and self._seconds[-1][0] == now:
            self._seconds[-1][1] += 1
        else:
            self._seconds.append([now, 1])

    def per_second(self) -> float:
        """Requests a second, lately: of whole seconds."""
        now = int(time.monotonic())
        return sum(count for second, count in self._seconds if now - RECENT <= second < now) / RECENT


class _Collector:
    """Reads everything at the moment of asking, so that counting costs little."""

    def __init__(self, requests: Requests, engine: Any) -> None:
        self._requests = requests
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        yield from self._of_requests()
        yield from self._of_models()
        yield from self._of_commits()

    def _of_requests(self) -> Iterator[Metric]:
        counts = CounterMetricFamily(
            "afterwit_requests", "Requests answered.", labels=("method", "route", "status")
        )
        for (method, route, status), count in self._requests.counts.items():
            counts.add_metric((method, route, str(status)), count)
        yield counts
        seconds = HistogramMetricFamily(
            "afterwit_request_seconds", "Time from the first byte of a request to its answer.", labels=("route",)
        )
        for route, (buckets, total) in self._requests.latencies.items():
            cumulated, so_far = [], 0
            for end, count in zip((*map(str, LATENCIES), "+Inf"), buckets, strict=True):
                so_far += count
                cumulated.append((end, so_far))
            seconds.add_metric((route,), cumulated, total[0])
        yield seconds


def exposition(service: Any) -> bytes:
    """All metrics as text."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    registry.register(_Collector(service.requests, service.engine))
    return generate_latest(registry)
