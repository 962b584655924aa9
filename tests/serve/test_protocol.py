"""Whatever is sent in whatever order: what becomes of it is what the naive protocol says, and the learner is exactly one
that learned what was accepted, across restarts with and without snapshots."""

import json
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
from afterwit.errors import ServiceError
from afterwit.serve.spec import to_file
from naive_service import NaiveService
from serving import Serving

KEYS = st.sampled_from(["a", "b", "c", "d"])
X = st.sampled_from([{"u": -1.0, "v": 0.5}, {"u": 2.0}, {"w": 0.5, "v": -1.0}])
Y = st.sampled_from([-1, 1])
PREDICT = st.tuples(st.just("predict"), st.lists(st.tuples(KEYS, X), min_size=1, max_size=3))
LABEL = st.tuples(st.just("label"), st.lists(st.tuples(KEYS, Y), min_size=1, max_size=3))
LEARN = st.tuples(st.just("learn"), st.lists(st.tuples(KEYS, X, Y), min_size=1, max_size=2))
RESTART = st.tuples(st.just("restart"), st.booleans())
# Examples with their labels are rarer, so that there are ids left to predict.
OPERATIONS = st.lists(st.one_of(PREDICT, LABEL, LABEL, PREDICT, LABEL, RESTART, LEARN), min_size=8, max_size=20)


class Twin:
    """A learner beside the service, which is told what the naive protocol accepts."""

    def __init__(self, learner):
        self.learner, self.tickets = learner, {}

    def predict(self, key, x):
        if key not in self.tickets:
            # A ticket may be written to a file in between.
            self.tickets[key] = json.loads(json.dumps(self.learner.serve_one(x)[1]))

    def label(self, key, y):
        self.learner.learn_late(self.tickets[key], y)

    def learn(self, x, y):
        self.learner.learn_one(x, y)


def play(serving, learner, operations):
    naive, twin = NaiveService(), Twin(learner)
    for what, items in operations:
        if what == "restart":
            serving.restart(snapshot=items)
        elif what == "predict":
            conflict = any(naive.x.get(key, x) != x for key, x in items) or clashes(items)
            if conflict:
                with pytest.raises(ServiceError, match="was given to another example"):
                    serving.predict("m", *items)
                continue
            first = serving.predict("m", *items)
            assert [each["id"] for each in first] == [key for key, _ in items]
            for key, x in items:
                assert naive.predict(key, x) == "served"
                twin.predict(key, x)
            assert serving.predict("m", *items) == first
        elif what == "label":
            expected = []
            for key, y in items:
                expected.append(naive.label(key, y))
                if expected[-1] == "learned":
                    twin.label(key, y)
            assert serving.outcomes(serving.label("m", *items)) == expected
        else:
            expected = []
            for key, x, y in items:
                expected.append(naive.learn(key, x, y))
                if expected[-1] == "learned":
                    twin.learn(x, y)
                    twin.tickets[key] = None
            assert serving.outcomes(serving.learn("m", *items)) == expected
        assert serving.engine.file("m") == to_file(twin.learner)
    waiting = [each["id"] for each in serving.engine.waiting("m")]
    assert waiting == [key for key in naive.x if key not in naive.y]
    totals = serving.engine.describe("m")["totals"]
    assert totals["rounds"] == len(naive.learned) == twin.learner.rounds
    assert totals["waiting"] == len(waiting)
    assert totals["examples"] == len(naive.examples)


def clashes(items):
    seen = {}
    return any(seen.setdefault(key, x) != x for key, x in items)


@pytest.mark.parametrize("learner", ["perceptron", "adagrad"])
@settings(max_examples=25)
@given(operations=OPERATIONS)
def test_any_sequence(learner, operations):
    with tempfile.TemporaryDirectory() as folder, Serving(f"{folder}/service.db", snapshot_every=3) as serving:
        serving.create("m", learner)
        play(serving, {"perceptron": aw.Perceptron, "adagrad": aw.AdaGrad}[learner](), operations)


@settings(max_examples=8)
@given(operations=OPERATIONS)
def test_any_sequence_on_postgresql(postgres, operations):
    with Serving(postgres.address(f"any{next(numbers)}")) as serving:
        serving.create("m", "perceptron")
        play(serving, aw.Perceptron(), operations)


numbers = iter(range(10**6))
