"""A service that is killed again and again: an engine in a process of its own, fed with predictions and labels.

python killed.py ADDRESS    waits on its input for lines "go SEED": then it forks, and the child serves until it is killed

The child tells on its output what has been acknowledged, one line each: "p KEY LABEL SCORE" for a prediction, "l KEY Y" for a
label, "e KEY Y" for an example, after "ready WAITING".
"""

import os
import random
import signal
import sys
import threading

from afterwit.serve.engine import Engine
from afterwit.serve.operations import Create, Label, Learn, Predict

CALLERS = 8
#: Seconds after which an engine ends by itself: it is killed long before.
LONGEST = 300


def tell(line):
    # One write of a short line to a pipe is all or nothing.
    os.write(1, f"{line}\n".encode())


def serve(address, seed):
    signal.alarm(LONGEST)
    engine = Engine(address, snapshot_every=40)
    engine.start()
    if engine.wait_until("ready", "failed", timeout=60) != "ready":
        tell(f"failed {engine.failure!r}")
        os._exit(1)
    engine.submit(Create("m", "perceptron", {})).result()
    waiting = [each["id"] for each in engine.waiting("m", 0, 50)]
    tell(f"ready {len(waiting)}")
    threads = [threading.Thread(target=call, args=(engine, seed, i, waiting[i::CALLERS])) for i in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def call(engine, seed, caller, waiting):
    rng = random.Random(f"{seed} {caller}")
    place = 0
    while True:
        what = rng.random()
        if what < 0.45 or not waiting:
            keys = [f"{seed}-{caller}-{place + j}" for j in range(rng.choice([1, 1, 3, 10]))]
            place += len(keys)
            items = [(key, {name: rng.gauss(0, 1) for name in "uvw"}) for key in keys]
            for said in engine.submit(Predict("m", items)).result():
                tell(f"p {said['id']} {said['label']} {said['score']!r}")
            waiting += keys
        elif what < 0.9:
            some = [
                waiting.pop(rng.randrange(len(waiting))) for _ in range(min(len(waiting), rng.choice([1, 1, 2, 10])))
            ]
            items = [(key, rng.choice([-1, 1])) for key in some]
            told = engine.submit(Label("m", items)).result()
            # Twice the same is no news.
            assert [each["outcome"] for each in engine.submit(Label("m", items)).result()] == ["known"] * len(items)
            for (key, y), each in zip(items, told, strict=True):
                assert each["outcome"] == "learned", each
                tell(f"l {key} {y}")
        else:
            key, y = f"{seed}-{caller}-{place}", rng.choice([-1, 1])
            place += 1
            engine.submit(Learn("m", [(key, {"u": rng.gauss(0, 1)}, y)])).result()
            tell(f"e {key} {y}")


def main():
    # Whatever takes long to import is there before the first fork; there are no threads yet.
    import psycopg  # noqa: F401

    import afterwit.core.storage
    import afterwit.linear.perceptron  # noqa: F401

    address = sys.argv[1]
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                serve(address, line.split()[1])
            finally:
                os._exit(1)
        os.write(2, f"{child}\n".encode())
        os.waitpid(child, 0)
        tell("dead")


if __name__ == "__main__":
    main()
