"""Counts of requests, and all metrics in the format of Prometheus."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from afterwit.errors import ServiceError
from afterwit.serve.commits import Histogram

#: Upper ends of the buckets of latencies, in seconds.
LATENCIES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: For how many seconds requests are counted one by one, for the rate of now.
RECENT = 10
STATES = ("starting", "stand-by", "recovering", "ready", "stopping", "stopped", "failed")

#: What there is of each model: the name of the metric, its kind, where it is in what the engine says, what it is.
OF_A_MODEL = (
    ("afterwit_model_predictions", CounterMetricFamily, "predictions", "Examples predicted, whose labels come later."),
    ("afterwit_model_labels", CounterMetricFamily, "labels", "Labels that came later."),
    ("afterwit_model_examples", CounterMetricFamily, "examples", "Examples that came with their labels."),
    ("afterwit_model_expired", CounterMetricFamily, "expired", "Predictions whose labels did not come in time."),
    ("afterwit_model_waiting", GaugeMetricFamily, "waiting", "Predictions that wait for their labels."),
    ("afterwit_model_rounds", CounterMetricFamily, "rounds", "Rounds judged."),
    ("afterwit_model_mistakes", CounterMetricFamily, "mistakes", "Served predictions that were wrong."),
    ("afterwit_model_loss", GaugeMetricFamily, "loss", "The loss of what was served."),
    ("afterwit_model_events", CounterMetricFamily, "events", "Events in the log."),
    (
        "afterwit_model_unsaved_events",
        GaugeMetricFamily,
        "unsaved",
        "Events since the last snapshot, which a restart replays.",
    ),
)


class Requests:
    """What was asked, counted by the one thread that answers, so without a lock. Another thread may read."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str, int], int] = {}
        self.latencies: dict[str, Histogram] = {}
        #: For each of the last seconds, which one it was and how many requests it had.
        self._seconds: deque[list[int]] = deque(maxlen=RECENT + 1)

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        key = (method, route, status)
        self.counts[key] = self.counts.get(key, 0) + 1
        latency = self.latencies.get(route)
        if latency is None:
            latency = self.latencies[route] = Histogram(LATENCIES)
        latency.add(seconds)
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

    def __init__(self, service: Any, models: list[dict[str, Any]]) -> None:
        self._service = service
        self._models = models

    def collect(self) -> Iterator[Metric]:
        """Every metric."""
        yield from self._of_requests()
        yield from self._of_models()
        yield from self._of_commits()

    def _of_requests(self) -> Iterator[Metric]:
        requests: Requests = self._service.requests
        counts = CounterMetricFamily("afterwit_requests", "Requests answered.", labels=("method", "route", "status"))
        for (method, route, status), count in list(requests.counts.items()):
            counts.add_metric((method, route, str(status)), count)
        yield counts
        seconds = HistogramMetricFamily("afterwit_request_seconds", "From a request to its answer.", labels=("route",))
        for route, latency in list(requests.latencies.items()):
            seconds.add_metric((route,), *latency.cumulated())
        yield seconds

    def _of_models(self) -> Iterator[Metric]:
        for name, kind, key, text in OF_A_MODEL:
            metric = kind(name, text, labels=("model",))
            for model in self._models:
                if model.get(key) is not None:
                    metric.add_metric((model["model"],), model[key])
            yield metric

    def _of_commits(self) -> Iterator[Metric]:
        engine = self._service.engine
        state = GaugeMetricFamily("afterwit_state", "What the service does now: 1 for one of these.", labels=("state",))
        for each in STATES:
            state.add_metric((each,), float(each == engine.state))
        yield state
        found = engine.commits.described()
        seconds = HistogramMetricFamily("afterwit_commit_seconds", "Time of a transaction, until it is on disk.")
        seconds.add_metric((), *found["seconds"])
        yield seconds
        events = HistogramMetricFamily("afterwit_commit_events", "Events in a transaction.")
        events.add_metric((), *found["events"])
        yield events


def exposition(service: Any) -> bytes:
    """All metrics as text, also while models cannot be asked."""
    try:
        models = service.engine.models()
    except ServiceError:
        models = []
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    registry.register(_Collector(service, models))
    return generate_latest(registry)
