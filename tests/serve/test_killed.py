"""kill -9 at random moments: nothing that was acknowledged is lost, nothing is learned twice, and the model is what its log
says. AFTERWIT_KILLS=1000 for a longer run."""

import json
import os
import random
import select
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import afterwit as aw
from afterwit.serve.spec import to_file
from serving import Serving

KILLS = int(os.environ.get("AFTERWIT_KILLS", 15))


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

    def live(self, seed, seconds, from_begin):
        """Let an engine serve for a moment, kill it, and return what it had acknowledged."""
        self.process.stdin.write(f"go {seed}\n")
        child = int(self.process.stderr.readline())
        lines = [] if from_begin else [self.process.stdout.readline()]
        assert from_begin or lines[0].startswith("ready"), lines
        select.select([], [], [], seconds)
        os.kill(child, signal.SIGKILL)
        while (line := self.process.stdout.readline()) != "dead\n":
            assert line, "the process has ended by itself"
            assert not line.startswith("failed"), line
            lines.append(line)
        return [line.split() for line in lines if not line.startswith("ready")]


@pytest.mark.parametrize("kills", [KILLS])
def test_killed_again_and_again(address, kills, tmp_path):
    rng = random.Random(7)
    acknowledged = []
    with Victim(address) as victim:
        for turn in range(kills):
            # Every third is killed while it starts.
            early = turn % 3 == 2
            acknowledged += victim.live(turn, rng.uniform(0, 0.15) if early else rng.uniform(0, 0.3), early)
    assert len(acknowledged) > 10 * kills
    with Serving(address) as serving:
        events = list(serving.engine.log("m"))
        check(acknowledged, events)
        assert serving.state("m") == serving.replayed("m", tmp_path)
        assert serving.engine.file("m") == learned_by_hand(events)


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
