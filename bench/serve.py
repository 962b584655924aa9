"""The service beside Vowpal Wabbit's daemon and FastAPI with a model of River, neither of which keeps anything on disk.

``make bench-serve`` runs it. All servers run at the same time and take turns in rounds of equal work, so that a busy
moment hits them alike; the best round of each counts, and latencies are those of all rounds. A pair is a prediction and
its label, in two requests. ``--grow`` measures restarts and disk use as the log grows instead.
"""

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import random
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from _growth import grow
from _load import drive, is_every_line, is_whole, post
from _servers import CONNECTIONS, Service, peer
from postgres import MISSING, Postgres, programs

FEATURES, NAMES = 20, 1_000
ROUNDS = 5
PAIRS = 4_000
BATCH, BATCHES, BATCH_CONNECTIONS = 100, 200, 8
SQLITE, POSTGRES = "afterwit, SQLite", "afterwit, PostgreSQL"
FASTAPI, VOWPAL, NOTHING = "FastAPI + River", "vw --daemon", "(nothing)"
#: At least this part of the speed of FastAPI, and so many examples a second in batches.
WANTED_RATIO, WANTED_EXAMPLES = 0.5, 20_000

numbers = itertools.count()


def examples(count, seed=0):
    """Dicts of 20 features out of 1,000, each with its label."""
    generator = random.Random(seed)
    names = [f"feature {j}" for j in range(NAMES)]
    truth = {name: generator.gauss(0, 1) for name in names}
    for _ in range(count):
        x = {name: round(generator.gauss(0, 1), 4) for name in generator.sample(names, FEATURES)}
        yield x, int(sum(truth[name] * value for name, value in x.items()) >= 0)


def vw_features(x):
    return " ".join(f"{name.replace(' ', '_')}:{value}" for name, value in x.items())


def over_http(prefix, address):
    """How pairs and batches are sent as JSON."""
    host = f"127.0.0.1:{address[1]}"

    def pair(x, y):
        key = f"{next(numbers):08}"
        yield post(f"{prefix}/predictions", {"id": key, "x": x}, host)
        yield post(f"{prefix}/labels", {"id": key, "label": y}, host)

    def batch(rows):
        yield post(f"{prefix}/examples", [{"x": x, "label": y} for x, y in rows], host)

    return pair, batch, is_whole


def over_lines():
    """How they are sent to Vowpal Wabbit, which forgets an example as soon as it is predicted."""

    def pair(x, y):
        yield f"| {vw_features(x)}\n".encode()
        yield f"{2 * y - 1} | {vw_features(x)}\n".encode()

    def batch(rows):
        yield "".join(f"{2 * y - 1} | {vw_features(x)}\n" for x, y in rows).encode()

    return pair, batch, is_every_line


def pair_scripts(rows, pair):
    """For each connection its requests, one after the other."""
    return [
        [request for x, y in rows[i::CONNECTIONS] for request in pair(x, y)] for i in range(min(CONNECTIONS, len(rows)))
    ]


def batch_scripts(rows, batch):
    blocks = [rows[begin : begin + BATCH] for begin in range(0, len(rows), BATCH)]
    return [
        [request for block in blocks[i::BATCH_CONNECTIONS] for request in batch(block)]
        for i in range(min(BATCH_CONNECTIONS, len(blocks)))
    ]


def ask(server, method, path, value=None):
    host, port = server.address
    body = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(f"http://{host}:{port}{path}", body, method=method)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def start_all(stack, folder):
    """Every contestant that is installed: its address, and how it is asked."""
    found = {}

    def service(database):
        server = stack.enter_context(Service(database))
        ask(server, "PUT", "/models/m", {"learner": "perceptron", "options": {"labels": [0, 1]}})
        return server.address, *over_http("/models/m", server.address)

    found[SQLITE] = service(str(folder / "bench.db"))
    if programs() is None:
        print(f"{MISSING}: no comparison with it")
    else:
        found[POSTGRES] = service(stack.enter_context(Postgres()).address("bench"))
    for name, what in ((FASTAPI, "fastapi"), (NOTHING, "nothing")):
        address = stack.enter_context(peer(what)).address
        found[name] = (address, *over_http("", address))
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: no comparison with it")
    else:
        found[VOWPAL] = (stack.enter_context(peer("vowpal")).address, *over_lines())
    return found


class Measured:
    """Rounds of one contestant."""

    def __init__(self):
        self.best = float("inf")
        self.latencies = []

    def add(self, seconds, latencies):
        self.best = min(self.best, seconds)
        self.latencies += latencies

    def percentile(self, share):
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e3


def measure(contestants, rows, scripts, rounds):
    """Equal work for each, in turn; the first round, in which everything is new, does not count."""
    found = {name: Measured() for name in contestants}
    for turn in range(rounds + 1):
        for name, (address, *ways, whole) in contestants.items():
            seconds, latencies = drive(address, scripts(rows, ways), whole)
            if turn > 0:
                found[name].add(seconds, latencies)
    return found


def show(title, found, work, unit, wanted):
    """``wanted`` is what is wanted of ours, and asked with the name and the speed."""
    print(f"\n{title:<26} {unit + '/s':>12} {'p50 ms':>8} {'p99 ms':>8} {'p99.9':>8} {'beside FastAPI':>15}   wanted")
    base = work / found[FASTAPI].best
    for name, each in found.items():
        speed = work / each.best
        latencies = " ".join(f"{each.percentile(share):>8.2f}" for share in (0.5, 0.99, 0.999))
        goal = wanted(speed, speed / base) if name.startswith("afterwit") else ""
        print(f"{name:<26} {speed:>12,.0f} {latencies} {speed / base:>13.2f} x   {goal}".rstrip(), flush=True)


def by_ratio(speed, ratio):
    del speed
    return f">= {WANTED_RATIO} x: {'reached' if ratio >= WANTED_RATIO else 'NOT REACHED'}"


def by_speed(speed, ratio):
    del ratio
    return f">= {WANTED_EXAMPLES:,}: {'reached' if speed >= WANTED_EXAMPLES else 'NOT REACHED'}"


def compare(rounds, pairs, batches):
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, of which others keep {load:.1f} busy; {FEATURES} features, JSON or lines of text")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        contestants = start_all(stack, Path(name))
        rows = list(examples(pairs))
        found = measure(contestants, rows, lambda rows, ways: pair_scripts(rows, ways[0]), rounds)
        show(f"pairs, {CONNECTIONS} connections", found, pairs, "pairs", by_ratio)
        rows = list(examples(batches * BATCH, seed=1))
        found = measure(contestants, rows, lambda rows, ways: batch_scripts(rows, ways[1]), rounds)
        show(f"batches of {BATCH}", found, len(rows), "examples", by_speed)
    print(
        f"\nOnly afterwit has on disk what it answered. {NOTHING} answers without looking: the most this load could be."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--grow", action="store_true", help="restarts and disk use as the log grows")
    given = parser.parse_args()
    if given.grow:
        grow(examples, ask, "perceptron", {"labels": [0, 1]})
    else:
        compare(given.rounds, given.pairs, given.batches)


if __name__ == "__main__":
    main()
