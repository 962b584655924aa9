"""Restarts and disk use of `afterwit serve` as its log grows, on SQLite: `serve.py --grow` prints the table."""

import os
import signal
import sqlite3
import tempfile
import time
from pathlib import Path

from _load import drive, post
from _servers import Service

SIZES = (10_000, 100_000, 1_000_000)
BATCH = 500
MOST_AT_ONCE = 20


def fill(service, rows, known):
    """Predictions and their labels in batches: two events for each row."""
    host = f"127.0.0.1:{service.address[1]}"
    for begin in range(0, len(rows), BATCH * MOST_AT_ONCE):
        requests = []
        for first in range(begin, min(len(rows), begin + BATCH * MOST_AT_ONCE), BATCH):
            part = [(f"{known + i:010}", *row) for i, row in enumerate(rows[first : first + BATCH], first)]
            requests.append(post("/models/m/predictions", [{"id": key, "x": x} for key, x, _ in part], host))
            requests.append(post("/models/m/labels", [{"id": key, "label": y} for key, _, y in part], host))
        drive(service.address, [requests])


def size_of(database):
    """The file and its write-ahead log, and the bytes of the events alone."""
    size = sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))
    with sqlite3.connect(database) as connection:
        found = connection.execute("SELECT COUNT(*), SUM(LENGTH(body)) FROM events").fetchone()
    connection.close()
    return size, *found


def restart(service, number):
    """End the process by this signal; the seconds until another one is ready."""
    service.stop(number)
    begin = time.perf_counter()
    service.start()
    return time.perf_counter() - begin


def forget_snapshots(database):
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("DELETE FROM snapshots")
    connection.close()


def grow(rows_of, ask, learner, options):
    """``rows_of(count, seed)`` makes examples, ``ask`` sends a request."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, of which others keep {load:.1f} busy; SQLite, {learner}, batches of {BATCH}")
    print(f"\n{'events':>9} {'fill s':>7} {'MB':>7} {'bytes an event':>15}   seconds until ready after")
    print(f"{'':>41}   {'SIGTERM':>9} {'kill -9':>9} {'no snapshot':>12}")
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "grown.db")
        service = Service(str(database))
        with service:
            empty = restart(service, signal.SIGKILL)
            print(f"{0:>9} {'':>7} {'':>7} {'':>15}   {'':>9} {empty:>9.2f}", flush=True)
            ask(service, "PUT", "/models/m", {"learner": learner, "options": options})
            known = 0
            for size in SIZES:
                count = size // 2 - known
                rows = list(rows_of(min(count, 20_000), known))
                begin = time.perf_counter()
                while count:
                    part = rows[:count]
                    fill(service, part, known)
                    known, count = known + len(part), count - len(part)
                seconds = time.perf_counter() - begin
                killed = restart(service, signal.SIGKILL)
                ended = restart(service, signal.SIGTERM)
                service.stop()
                forget_snapshots(database)
                megabytes, events, text = size_of(database)
                begin = time.perf_counter()
                service.start()
                alone = time.perf_counter() - begin
                assert events == 1 + 2 * known
                print(
                    f"{events - 1:>9,} {seconds:>7.0f} {megabytes / 1e6:>7.1f} {megabytes / events:>7.0f} "
                    f"({text / events:.0f} of text)   {ended:>7.2f} {killed:>9.2f} {alone:>12.2f}",
                    flush=True,
                )
