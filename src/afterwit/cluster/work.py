"""Where tasks run: on Dask, or here. Every wait has a limit and says what it waits for.

Tasks are pure: Dask may run one again, on another worker, if the first was lost with what it had done. What the client
knows goes to a worker as the argument of a task, which the scheduler can repeat; nothing is kept that only one of them
has.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from afterwit.data import checks
from afterwit.errors import ClusterError, MissingExtraError, counted, invalid

#: For so many seconds nothing may happen.
PATIENCE = 600.0
#: What is sent at once without a warning of Dask's: weights are sent once for each epoch.
LARGE = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}
#: Dask's nannies tell the C library to give memory back at once, and to ask for it again for every block of rows: that
#: takes three times as long as the work itself. The processes of a local cluster keep what they need again soon.
KEPT_MEMORY = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}


def require_dask() -> None:
    """Say what to install if Dask is missing."""
    for package in ("dask", "distributed"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError("shards on a cluster", package, "cluster")


class Here:
    """A client that does everything in this process, task after task: for small data, and for tests."""

    workers = 1

    def submit(
        self, name: str, function: Callable[..., Any], *arguments: Any, part: tuple[int, int] | None = None
    ) -> Any:
        """Do it now."""
        del name, part
        return function(*arguments)

    def each(self, tasks: Sequence[Any], what: str) -> Iterator[tuple[int, Any]]:
        """The results with their places."""
        del what
        return enumerate(tasks)

    def finished(self, tasks: Sequence[Any], what: str) -> Iterator[int]:
        """The places of tasks as they finish."""
        del what
        return iter(range(len(tasks)))

    def result(self, task: Any, what: str) -> Any:
        """What came of a task."""
        del what
        return task

    def forget(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """There is nothing to close."""


class OnDask:
    """Tasks of one run on a Dask cluster. ``close`` cancels what is still out."""

    def __init__(self, client: Any, patience: float = PATIENCE) -> None:
        self._client = client
        self._patience = patience
        self._run = uuid.uuid4().hex[:12]
        self._number = 0
        #: All tasks since the last that was waited for to the end of an epoch.
        self._out: list[Any] = []
        #: The address of every worker as often as it has threads, looked up anew for each epoch.
        self._slots: list[str] | None = None

    @property
    def workers(self) -> int:
        """How many tasks can run at a time."""
        return max(1, sum(map(int, self._client.nthreads().values())))

    def submit(
        self, name: str, function: Callable[..., Any], *arguments: Any, part: tuple[int, int] | None = None
    ) -> Any:
        """A task; sums come before further shards, so that few of them wait in memory.

        part  that it is the i-th of n that take alike: they are spread evenly, neighbours beside each other. Else
              Dask would put all of them where the weights are that they begin with. Others may take over.
        """
        import dask

        self._number += 1
        key = f"afterwit-{name}-{self._run}-{self._number}"
        with dask.config.set(LARGE):
            task = self._client.submit(
                function,
                *arguments,
                key=key,
                pure=False,
                priority=0 if name.startswith("play") else 1,
                workers=None if part is None else self._place(*part),
                allow_other_workers=part is not None,
            )
        self._out.append(task)
        return task

    def _place(self, i: int, count: int) -> list[str] | None:
        """The worker for the i-th of so many tasks."""
        if self._slots is None:
            there = self._client.nthreads()
            self._slots = [address for address in sorted(there) for _ in range(int(there[address]))]
        return [self._slots[i * len(self._slots) // count]] if self._slots else None

    def each(self, tasks: Sequence[Any], what: str) -> Iterator[tuple[int, Any]]:
        """The results with their places, as they come."""
        for place in self.finished(tasks, what):
            yield place, self._taken(tasks[place], what)

    def finished(self, tasks: Sequence[Any], what: str) -> Iterator[int]:
        """The places of tasks as they finish; nothing is fetched, and one that failed raises its error."""
        places = {task.key: place for place, task in enumerate(tasks)}
        out = {task.key: task for task in tasks}
        while out:
            for task in self._wait(list(out.values()), what):
                del out[task.key]
                if task.status != "finished":
                    self._taken(task, what)
                yield places[task.key]

    def result(self, task: Any, what: str) -> Any:
        """What came of a task."""
        return next(result for _, result in self.each([task], what))

    def _wait(self, tasks: list[Any], what: str) -> Any:
        """Those that have finished, at least one."""
        import distributed

        try:
            return distributed.wait(tasks, timeout=self._patience, return_when="FIRST_COMPLETED").done
        except (TimeoutError, distributed.TimeoutError):
            raise ClusterError(
                f"nothing has happened for {self._patience:g} seconds while waiting for {what} ({len(tasks):,} out; "
                f"{self._there()}); look at the workers, or allow more with patience=SECONDS (--patience)"
            ) from None

    def _there(self) -> str:
        try:
            return f"the cluster has {counted(len(self._client.nthreads()), 'worker')}"
        except (OSError, TimeoutError):
            return "the scheduler does not answer"

    def _taken(self, task: Any, what: str) -> Any:
        import distributed

        if task.status in ("cancelled", "lost"):
            raise ClusterError(
                f"the scheduler has lost {what}: the connection to the cluster is gone, or it was closed"
            )
        try:
            return task.result(timeout=self._patience)
        except distributed.KilledWorker as error:
            raise ClusterError(
                f"{what}: a worker died again and again at the same task ({error.task}); its shard may need more "
                "memory than a worker has: use more shards, or workers with more memory"
            ) from None
        except (TimeoutError, distributed.TimeoutError):
            raise ClusterError(
                f"nothing has come for {self._patience:g} seconds while fetching {what}; allow more with "
                "patience=SECONDS (--patience)"
            ) from None
        except distributed.client.FutureCancelledError:
            raise ClusterError(
                f"{what} was cancelled: the connection to the cluster is gone, or it was closed"
            ) from None

    def compute(self, delayed: Any) -> Any:
        """A partition of a collection, on the cluster."""
        task = self._client.compute(delayed)
        self._out.append(task)
        return task

    def forget(self) -> None:
        """What was submitted so far is not needed any more, but for what somebody else holds."""
        self._out, self._slots = [], None

    def close(self) -> None:
        """Cancel what is still out."""
        out, self._out = self._out, []
        if out:
            with suppress(OSError, TimeoutError, asyncio.CancelledError):  # the cluster may be gone
                self._client.cancel(out, force=True)


@contextmanager
def local(workers: int | None = None, **options: Any) -> Iterator[Any]:
    """A client of a fresh local cluster of processes, one thread each; closed at the end.

    workers  how many processes; as many as there are processors if it is not given
    options  what `distributed.LocalCluster` takes further
    """
    require_dask()
    import dask
    import distributed

    count = (os.cpu_count() or 1) if workers is None else checks.count("workers", workers)
    usual = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    try:
        with dask.config.set(KEPT_MEMORY):
            cluster = distributed.LocalCluster(n_workers=count, **{**usual, **options})
    except RuntimeError as error:
        remedy = "in a script, call it under if __name__ == '__main__', because its processes import the script"
        raise ClusterError(f"the processes of a local cluster cannot be started ({error}); {remedy}") from None
    with cluster, distributed.Client(cluster) as client:
        yield client


@contextmanager
def work_on(client: Any, workers: int | None = None, patience: float = PATIENCE) -> Iterator[Any]:
    """What runs tasks: on this client, else on Dask's current one, else on a local cluster that is closed again."""
    if isinstance(client, Here):
        yield client
        return
    require_dask()
    import distributed

    if client is None and workers is None:
        try:
            client = distributed.get_client()
        except ValueError:
            client = None
    if client is not None:
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise invalid(
                "client", "a distributed.Client that is not asynchronous, afterwit.cluster.Here(), or None", client
            )
        if workers is not None:
            raise invalid("workers", "left out, because the client has its workers", workers)
        work = OnDask(client, patience)
        try:
            yield work
        finally:
            work.close()
        return
    with local(workers) as own:
        work = OnDask(own, patience)
        try:
            yield work
        finally:
            work.close()
