"""Races: each learner is in the state in which playing alone leaves it, and everything about them is told."""

import itertools
import json

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.registry import classifier_names, learner_names, many_label_names, regressor_names
from afterwit.errors import InputError
from afterwit.races.entries import USUAL


def rounds(count=300, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + generator.normal(size=count)


def labels(count=300, seed=0, of=(-1, 1)):
    X, scores = rounds(count, seed)
    return X, np.array(of)[(scores > 0).astype(int)]


def same_record(one, other):
    assert one.to_dict() == other.to_dict()
    assert one.trace == other.trace


def played_alone(kind, X, y, **options):
    learner = kind(**options)
    return learner, aw.play(learner, X, y)


# ---------------------------------------------------------------------- as if alone


@pytest.mark.parametrize("name", sorted(learner_names()))
def test_a_learner_of_two_labels_is_as_if_it_had_played_alone(name):
    X, y = labels(of=(0, 1))
    found = aw.race(X, [name, "perceptron"] if name != "perceptron" else [name], y=y, certificates=False)
    learner, record = played_alone(getattr(aw, learner_names()[name]), X, y, labels=(0, 1))
    entry = next(entry for entry in found.entries if entry.name == name)
    assert entry.learner == learner
    same_record(entry.record, record)


@pytest.mark.parametrize("name", sorted(many_label_names()))
def test_a_learner_of_many_labels_is_as_if_it_had_played_alone(name):
    X, scores = rounds()
    y = np.array(["low", "middle", "high"], dtype=object)[np.digitize(scores, [-1.0, 1.0])]
    found = aw.race(X, [name], y=y, certificates=False)
    learner, record = played_alone(getattr(aw, many_label_names()[name]), X, y)
    assert found.entries[0].learner == learner
    same_record(found.entries[0].record, record)
    assert found.task == "classes"


@pytest.mark.parametrize("name", sorted(regressor_names()))
def test_a_regressor_is_as_if_it_had_played_alone(name):
    X, y = rounds()
    found = aw.race(X, [name], y=y, certificates=False)
    learner, record = played_alone(getattr(aw, regressor_names()[name]), X, y)
    assert found.entries[0].learner == learner
    same_record(found.entries[0].record, record)
    assert found.task == "regression"


def test_blocks_of_a_long_stream_are_the_same_for_all():
    X, y = labels(150_000)
    found = aw.race(X, ["perceptron", "sgd", "scale-free"], y=y, certificates=False)
    for entry in found.entries:
        learner, record = played_alone(type(entry.learner), X, y, labels=(-1, 1))
        assert entry.learner == learner
        same_record(entry.record, record)


class Majority:
    """A learner that is none of this package: the label that came most often."""

    def __init__(self):
        self.counts = {}

    def predict_one(self, x):
        del x
        return max(self.counts, key=self.counts.get, default=1)

    def learn_one(self, x, y):
        del x
        self.counts[y] = self.counts.get(y, 0) + 1


def test_learners_of_the_users_own_take_part():
    X, y = labels()
    mine = Majority()
    found = aw.race(X, [mine, "perceptron"], y=y)
    alone = Majority()
    record = aw.play(alone, X, y)
    entry = next(entry for entry in found.entries if entry.learner is mine)
    assert entry.name == "Majority"
    assert mine.counts == alone.counts
    same_record(entry.record, record)
    assert entry.no_certificate == "it has no theorems"


def test_pairs_are_played_one_by_one():
    pairs = list(aw.adversaries.unit_vectors(20))
    found = aw.race(iter(pairs), [aw.Perceptron(), aw.Winnow()])
    for entry in found.entries:
        learner = type(entry.learner)()
        record = aw.play(learner, pairs)
        assert entry.learner == learner
        same_record(entry.record, record)
        assert entry.no_certificate == "the data can be read only once, and not all of it was kept"
    again = aw.race(pairs, ["perceptron", "winnow"])
    assert [entry.certificate.observed for entry in again.entries] == [entry.record.mistakes for entry in again.entries]


def test_examples_that_are_no_rows_of_numbers():
    texts = ["spam and eggs", "eggs", "spam", "ham", "spam spam", "ham and eggs"] * 3
    y = [1, -1, 1, -1, 1, -1] * 3
    kernel = aw.kernels.string(2)
    found = aw.race(texts, [aw.KernelPerceptron(kernel=kernel)], y=y)
    learner = aw.KernelPerceptron(kernel=kernel)
    aw.play(learner, texts, y)
    assert found.entries[0].learner == learner


def test_records_and_frames_are_read_as_read_does():
    rows = [
        {"colour": colour, "price": price + 0.5, "sold": "yes" if price < 5 else "no"}
        for colour, price in itertools.product(("red", "blue", "green"), range(10))
    ]
    found = aw.race(rows, ["perceptron", "adagrad"], "sold")
    for entry in found.entries:
        stream = aw.read(rows, target="sold")
        learner = type(entry.learner)(labels=stream.labels)
        record = aw.play(learner, stream)
        assert entry.learner == learner
        same_record(entry.record, record)
        assert entry.certificate == record.certificate()
    assert (found.task, found.source, found.rounds) == ("binary", "the records", 30)
    assert {entry.name for entry in aw.race(rows, target="sold").entries} == set(USUAL["binary"])
    assert {entry.name for entry in aw.race(rows, target="price").entries} == set(USUAL["regression"])
    assert {entry.name for entry in aw.race(rows, target="colour").entries} == set(USUAL["classes"])


def test_rows_without_a_label_are_no_rounds(tmp_path):
    text = "\n".join(["a,b,y", *(f"{i % 3},{i % 5},{'' if i % 7 == 3 else i % 2}" for i in range(50))])
    (tmp_path / "rows.csv").write_text(text)
    path = str(tmp_path / "rows.csv")
    found = aw.race(path, ["perceptron"], "y")
    learner = aw.Perceptron(labels=(0, 1))
    record = aw.play(learner, aw.read(path, "y"))
    assert found.entries[0].learner == learner
    same_record(found.entries[0].record, record)
    assert (found.unlabelled, found.rounds) == (7, 43)
    some = [(np.array([1.0]), 1), (np.array([2.0]), None), (np.array([-1.0]), -1)]
    assert (aw.race(some, ["perceptron"]).unlabelled, aw.race(some, ["perceptron"]).rounds) == (1, 2)


# ---------------------------------------------------------------------- what it tells


def test_the_leaderboard_is_plain_data_best_first():
    X, y = labels()
    found = aw.race(X, ["perceptron", "adagrad", "normalized-adagrad"], y=y)
    board = found.leaderboard()
    assert [row["learner"] for row in board] == [entry.name for entry in found.entries]
    errors = [row["error"] for row in board]
    assert errors == sorted(errors)
    assert found.winner is found.entries[0]
    for row, entry in zip(board, found.entries, strict=True):
        assert row["error"] == entry.record.mistakes / 300
        assert row["rounds"] == 300
    by_name = {row["learner"]: row for row in board}
    made = next(entry.certificate for entry in found.entries if entry.name == "perceptron")
    assert by_name["perceptron"]["bound"] == int(made.bound) / 300
    assert by_name["perceptron"]["hindsight"] == made.hindsight.value / 300
    assert by_name["perceptron"]["verdict"] == "holds"
    assert by_name["perceptron"]["log_loss"] is None
    assert (by_name["normalized-adagrad"]["bound"], by_name["normalized-adagrad"]["verdict"]) == (None, None)
    learner = aw.AdaGrad()
    loss = 0.0
    for x, label in zip(X, y.tolist(), strict=True):
        loss -= np.log(learner.predict_proba_one(x)[label])
        learner.learn_one(x, label)
    assert by_name["adagrad"]["log_loss"] == pytest.approx(loss / 300, rel=1e-12)
    assert json.loads(json.dumps(board)) == board


def test_a_race_in_words_and_as_data():
    X, y = labels(64)
    found = aw.race(X, ["perceptron", "sgd"], y=y)
    lines = str(found).splitlines()
    assert lines[:2] == ["2 learners on the examples, 64 rounds", ""]
    assert lines[2].split() == ["learner", "error", "log", "loss", "time/example"]
    assert [line.split()[:2] for line in lines[3:]] == [[entry.name, f"{entry.error:.2%}"] for entry in found.entries]
    assert len({len(line) for line in lines[2:]}) == 1
    won = found.winner
    assert repr(found) == f"<race: 2 learners on the examples, 64 rounds; {won.name} won, {won.error:.2%}>"
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["source"], data["task"], data["rounds"], data["unlabelled"]) == ("the examples", "binary", 64, 0)
    assert [each["learner"] for each in data["learners"]] == [entry.name for entry in found.entries]
    assert [point["rounds"] for point in data["learners"][0]["curve"]] == [1, 2, 4, 8, 16, 32, 64]
    assert all(each["certificate"]["verdict"] == "holds" for each in data["learners"])


def test_regressors_are_compared_by_their_rmse():
    X, y = rounds()
    found = aw.race(X, ["sgd-regressor", "online-ridge"], y=y)
    assert [row["rmse"] for row in found.leaderboard()] == [entry.record.rmse for entry in found.entries]
    row = found.leaderboard()[0]
    assert row["learner"] == "online-ridge"
    assert row["bound"] == pytest.approx((found.winner.certificate.bound / 300) ** 0.5)
    assert "error" not in row


def test_a_learner_that_diverges_is_out_of_the_race():
    X, y = np.full((40, 1), 1e150), np.ones(40)
    X[:8] = 1.0
    found = aw.race(X, ["sgd-regressor", "online-ridge"], y=y)
    assert [entry.name for entry in found.entries] == ["online-ridge", "sgd-regressor"]
    out = found.entries[1]
    assert out.stopped.startswith("X[8]") or "would" in out.stopped
    assert (out.record.rounds, out.error, out.certificate) == (8, float("inf"), None)
    assert found.winner.name == "online-ridge"
    assert found.leaderboard()[1]["rmse"] is None
    assert found.leaderboard()[1]["stopped"] == out.stopped
    assert str(found).endswith(f"sgd-regressor stopped: {out.stopped}")
    alone = aw.race(X, ["sgd-regressor"], y=y)
    assert alone.winner is None
    assert repr(alone) == "<race: 1 learner on the examples, 8 rounds; all stopped>"


def test_learners_are_named():
    X, y = labels(8)
    given = [aw.SGD(), aw.SGD(rate=1.0), aw.SGD(), "sgd", aw.Perceptron]
    found = aw.race(X, given, y=y, certificates=False)
    assert {entry.name for entry in found.entries} == {"SGD", "SGD(rate=1.0)", "SGD #2", "sgd", "Perceptron"}
    learner = aw.SGD()
    named = aw.race(X, {"mine": learner, "theirs": "perceptron"}, y=y)
    assert {entry.name for entry in named.entries} == {"mine", "theirs"}
    assert learner.rounds == 8


@pytest.mark.parametrize("y", [["ham", "spam"] * 10, [True, False] * 10, [0, 1] * 10, [0.0, 1.0] * 10, [-1, 1] * 10])
def test_names_take_the_labels_that_there_are(y):
    X = [[float(i)] for i in range(20)]
    found = aw.race(X, y=y)
    assert {entry.name for entry in found.entries} == set(USUAL["binary"])
    assert all(set(entry.learner.labels) == set(y) and not entry.stopped for entry in found.entries)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ("perceptron", "learners must be learners, their classes or names, in a sequence or in a dict"),
        ([], "learners must be at least one"),
        (["perzeptron"], "learners must be names of learners, which are adagrad, "),
        (["perceptron", "online-ridge"], "learners must be learners for the same task"),
        ([aw.Halving], "a class must need no arguments"),
        ([aw.MLpol(2)], "learners must be learners, their classes or names"),
        ([3], "learners must be learners, their classes or names"),
        ({"": "perceptron"}, "the names of learners must be strings"),
    ],
)
def test_bad_learners(learners, message):
    X, y = labels(8)
    with pytest.raises(InputError, match=message):
        aw.race(X, learners, y=y)


def test_one_learner_cannot_take_part_twice():
    X, y = labels(8)
    learner = aw.Perceptron()
    with pytest.raises(InputError, match="learners must be different objects"):
        aw.race(X, [learner, learner], y=y)
    assert learner.rounds == 0


def test_models_have_a_schema_of_their_own():
    rows = [{"a": 1.0, "y": "no"}, {"a": 2.0, "y": "yes"}]
    model = aw.Model(aw.read(rows, "y").schema, aw.Perceptron(labels=("no", "yes")))
    with pytest.raises(InputError, match="learners must be learners without a schema"):
        aw.race(rows, [model], "y")


def test_bad_sources():
    X, y = labels(8)
    with pytest.raises(
        InputError, match="target must be left out for examples whose labels are given as y; received 'y'"
    ):
        aw.race(X, ["perceptron"], "y", y=y)
    with pytest.raises(InputError, match="y must be left out for a stream"):
        aw.race(aw.streams.ArrayStream(X, y), ["perceptron"], y=y)
    with pytest.raises(InputError, match="hash_bits must be left out for a stream, which has its labels; received 3"):
        aw.race(aw.streams.ArrayStream(X, y), ["perceptron"], hash_bits=3)
    with pytest.raises(InputError, match="target must be a column to predict: a, b; received none"):
        aw.race([{"a": 1.0, "b": 2.0}])
    with pytest.raises(InputError, match="learners must be given for a stream whose labels cannot be looked at"):
        aw.race(iter([(X[0], 1)]))
    with pytest.raises(TypeError, match="targets"):
        aw.race([{"a": 1.0, "y": "x"}], targets="y")


def test_the_usual_ones_exist():
    assert set(USUAL["binary"]) <= set(learner_names())
    assert set(USUAL["classes"]) <= set(classifier_names())
    assert set(USUAL["regression"]) <= set(regressor_names())
