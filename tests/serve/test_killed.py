"""kill -9 at random moments: nothing that was acknowledged is lost, nothing is learned twice, and the model is what its log
says. AFTERWIT_KILLS=1000 AFTERWIT_EVENTS=100000 for a longer run (`make soak`)."""

import json
import os
import random
import select
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import afterwit as aw
from afterwit.serve.spec import to_file
from serving import Serving

KILLS = int(os.environ.get("AFTERWIT_KILLS", 15))
#: How many predictions and labels have been acknowledged in all before the last kill, at least.
EVENTS = int(os.environ.get("AFTERWIT_EVENTS", 30 * KILLS))


class Victim:
    """A process that forks engines, to be killed."""

    def __init__(self, address):
        command = [sys.executable, str(Path(__file__).with_name("killed.py")), address]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait(20)

    def live(self, seed, seconds, lines):
        """Let an engine serve until it has acknowledged so many things, and for a moment; kill it, and return what it had.

        lines  None: it is killed a moment after its process has begun, which may be before it serves
        """
        self.process.stdin.write(f"go {seed}\n")
        child = int(self.process.stderr.readline())
        told = []
        if lines is not None:
            told = [self.line() for _ in range(1 + lines)]
            assert told[0].startswith("ready"), told
        select.select([], [], [], seconds)
        os.kill(child, signal.SIGKILL)
        while (line := self.line(dead=True)) != "dead\n":
            told.append(line)
        return [line.split() for line in told if not line.startswith("ready")]

    def line(self, dead=False):
        line = self.process.stdout.readline()
        assert line, "the process has ended by itself"
        assert not line.startswith("failed"), line
        assert dead or line != "dead\n", "the engine has ended by itself"
        return line


def test_killed_again_and_again(address, tmp_path):
    rng = random.Random(7)
    acknowledged, turn = [], 0
    with Victim(address) as victim:
        while turn < KILLS or len(acknowledged) < EVENTS:
            # Every third is killed while it starts; the others have to do the work of three.
            early = turn % 3 == 2
            seconds = rng.uniform(0, 0.15 if early else 0.01)
            acknowledged += victim.live(turn, seconds, None if early else rng.randrange(3 * EVENTS // KILLS))
            turn += 1
    with Serving(address) as serving:
        events = list(serving.engine.log("m"))
        check(acknowledged, events)
        assert serving.state("m") == serving.replayed("m", tmp_path)
        assert serving.engine.file("m") == learned_by_hand(events)
    print(
        f"{turn:,} kills, {len(events):,} events, {len(acknowledged):,} acknowledged: all of them are in the log, once"
    )


def check(acknowledged, events):
    assert [event["n"] for event in events] == list(range(1, len(events) + 1))
    assert all(one["at"] <= other["at"] for one, other in pairwise(events))
    served = [event["key"] for event in events if event["kind"] in ("predict", "learn")]
    settled = [event["key"] for event in events if event["kind"] in ("label", "learn")]
    assert len(served) == len(set(served))
    assert len(settled) == len(set(settled))
    said = {event["key"]: event["body"]["said"] for event in events if "said" in event["body"]}
    labels = {event["key"]: event["body"]["y"] for event in events if "y" in event["body"]}
    for what, key, *rest in acknowledged:
        if what == "p":
            assert [str(said[key]["label"]), repr(said[key]["score"])] == rest
        else:
            assert str(labels[key]) == rest[0]


def learned_by_hand(events):
    """The file of a perceptron that learned what the log has, told nothing but examples, scores and labels."""
    learner, tickets = aw.Perceptron(), {}
    for event in events:
        body = event["body"]
        if event["kind"] == "predict":
            tickets[event["key"]] = learner.serve_one(body["x"])[1]
        elif event["kind"] == "label":
            learner.learn_late(json.loads(json.dumps(tickets.pop(event["key"]))), body["y"])
        elif event["kind"] == "learn":
            learner.learn_one(body["x"], body["y"])
    return to_file(learner)
