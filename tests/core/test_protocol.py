"""play: totals, curve, delays, any learner."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive
from afterwit import adversaries
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError, StreamError
from afterwit.streams import ArrayStream, LibsvmStream


class Recorder:
    """A learner from elsewhere: it predicts the majority so far and writes down what happens to it."""

    def __init__(self):
        self.events = []
        self.balance = 0

    def predict_one(self, x):
        self.events.append(("predict", x))
        return 1 if self.balance >= 0 else -1

    def learn_one(self, x, y):
        self.events.append(("learn", x))
        self.balance += y


def noisy_stream(rounds=300, seed=0):
    return adversaries.label_noise(adversaries.separable(rounds, 4, margin=0.1, seed=seed), 0.2, seed=seed)


@given(st.integers(0, 70))
def test_the_curve_has_the_powers_of_two_and_the_end(count):
    y = [1 if t % 3 else -1 for t in range(count)]
    record = aw.play(Recorder(), enumerate(y), predictions=True)
    assert [point.rounds for point in record.curve] == naive.curve_rounds(count)
    wrong = [int(p != label) for p, label in zip(record.predictions.tolist(), y, strict=True)]
    assert (record.rounds, record.mistakes) == (count, sum(wrong))
    before = 0
    for point in record.curve:
        assert point.mistakes == sum(wrong[: point.rounds])
        assert point.error == sum(wrong[: point.rounds]) / point.rounds
        assert point.recent_error == sum(wrong[before : point.rounds]) / (point.rounds - before)
        before = point.rounds


def test_blocks_and_single_rounds_are_the_same_play():
    stream = noisy_stream()
    for form in (stream.X, sparse.csr_array(stream.X), [{f"f{j}": v for j, v in enumerate(x)} for x in stream.X]):
        in_blocks, singly = aw.Perceptron(), aw.Perceptron()
        source = ArrayStream(form, stream.y)
        first = aw.play(in_blocks, source, predictions=True, passes=2)
        second = aw.play(singly, list(source), predictions=True, passes=2)
        assert in_blocks == singly
        assert first.to_dict() == second.to_dict()


def test_blocks_of_many_rows_are_cut_at_the_block_size(monkeypatch):
    monkeypatch.setattr("afterwit.core.protocol.BLOCK", 7)
    stream = noisy_stream(100)
    record = aw.play(aw.Perceptron(), stream, predictions=True)
    monkeypatch.undo()
    assert record.to_dict() == aw.play(aw.Perceptron(), stream, predictions=True).to_dict()


def test_on_point_is_told_as_it_happens():
    seen = []
    record = aw.play(aw.Perceptron(), noisy_stream(20), on_point=seen.append)
    assert seen == record.curve


def test_predictions_may_be_taken_as_they_come():
    stream = noisy_stream(50)
    taken = []
    aw.play(aw.Perceptron(), stream, predictions=taken.append)
    assert np.concatenate(taken).tolist() == aw.play(aw.Perceptron(), stream, predictions=True).predictions.tolist()


@given(st.lists(st.integers(0, 5), max_size=20))
def test_delayed_labels_come_when_the_oracle_says(delays):
    learner = Recorder()
    y = [1 if t % 2 else -1 for t in range(len(delays))]
    record = aw.play(
        learner, enumerate(y), delay=lambda t, x, label: delays[t] if label == y[x] else -1, predictions=True
    )
    assert learner.events == naive.delayed_events(len(delays), delays)
    assert record.rounds == len(delays)
    assert record.mistakes == sum(p != label for p, label in zip(record.predictions.tolist(), y, strict=True))


def test_a_delay_of_zero_is_the_usual_protocol_and_a_constant_one_shifts():
    stream = noisy_stream(60)
    plain, zero = aw.Perceptron(), aw.Perceptron()
    assert aw.play(plain, stream).to_dict() == aw.play(zero, list(stream), delay=lambda *_: 0).to_dict()
    assert plain == zero
    late = Recorder()
    aw.play(late, enumerate([1, 1, 1]), delay=1)
    assert late.events == [("predict", 0), ("predict", 1), ("learn", 0), ("predict", 2), ("learn", 1), ("learn", 2)]


def test_under_a_delay_the_record_counts_what_was_predicted_on_arrival():
    X, y = [[1.0]] * 6, [-1] * 6
    for learner, own in ((aw.Perceptron(), 4), (aw.AveragedPerceptron(), 1)):
        record = aw.play(learner, ArrayStream(X, y), delay=3, predictions=True)
        # Rounds 0 to 3 are predicted before any label is known. One that decides by what it served has erred as often;
        # one that learns as of arrival errs once, when it first learns.
        assert record.predictions.tolist() == [1, 1, 1, 1, -1, -1]
        assert record.mistakes == 4
        assert learner.mistakes == own


def test_a_learner_whose_learn_many_is_something_else_is_played_singly():
    class Elsewhere(Recorder):
        def learn_many(self, X, y):
            raise AssertionError("this learn_many has another meaning")

    record = aw.play(Elsewhere(), noisy_stream(10))
    assert record.rounds == 10


def test_labels_of_any_kind():
    learner = aw.Perceptron(labels=((0, "a"), (1, "b")))
    record = aw.play(learner, [({"f": 1}, (0, "a")), ({"f": 1}, (0, "a"))], predictions=True)
    assert record.predictions.tolist() == [(1, "b"), (0, "a")]
    assert record.mistakes == 1


def test_what_can_be_iterated_only_once_is_not_played_twice():
    with pytest.raises(InputError, match="can be iterated again"):
        aw.play(aw.Perceptron(), iter([([1.0], 1)]), passes=2)
    assert aw.play(aw.Perceptron(), [([1.0], 1)], passes=np.int64(2)).rounds == 2


def test_nothing_to_play():
    record = aw.play(aw.Perceptron(), [], predictions=True)
    assert (record.rounds, record.mistakes, record.error, record.curve) == (0, 0, 0.0, [])
    assert len(record.predictions) == 0
    assert aw.play(aw.Perceptron(), ArrayStream(np.empty((0, 2)), [])).rounds == 0


@pytest.mark.parametrize(
    "bad",
    [{"passes": 0}, {"passes": 1.5}, {"passes": True}, {"delay": -1}, {"delay": 0.5}, {"delay": "1"}],
)
def test_bad_options(bad):
    with pytest.raises(InputError, match=f"{next(iter(bad))} must be a whole number"):
        aw.play(aw.Perceptron(), [], **bad)


def test_a_bad_delay_of_one_round_names_the_round():
    with pytest.raises(InputError, match="in round 1 must be a whole number"):
        aw.play(Recorder(), enumerate([1, 1]), delay=lambda t, x, y: -t)


def test_a_thing_that_is_no_learner():
    with pytest.raises(InputError, match="learner must be an object with predict_one and learn_one"):
        aw.play("perceptron", [])
    with pytest.raises(InputError, match="learner must be an object with predict_one and learn_one"):
        aw.play(aw.Perceptron, [([1.0], 1)])


def test_the_record_prints_its_curve():
    text = str(aw.play(aw.Perceptron(), noisy_stream(5)))
    assert text.splitlines()[0].split() == [
        "rounds",
        "mistakes",
        "error",
        "so",
        "far",
        "since",
        "last",
        "row",
        "features",
    ]
    assert len(text.splitlines()) == 5


def test_errors_in_blocks_name_the_row_of_the_stream():
    X = np.ones((1500, 2))
    y = np.ones(1500, dtype=int)
    y[1000] = 7
    with pytest.raises(InputError, match=r"y\[1000\] must be"):
        aw.play(aw.Perceptron(), ArrayStream(X, y))
    X[1000, 1] = np.nan
    with pytest.raises(InputError, match=r"X\[1000, 1\] must be"):
        aw.play(aw.Perceptron(), ArrayStream(X, np.ones(1500, dtype=int)))


def test_a_stream_of_dicts_hands_over_the_names_it_has_come_to():
    rows = [{f"f{k}": 1.0, "f0": 2.0} for k in range(8)]
    stream = ArrayStream(rows, [1, -1] * 4)
    in_blocks, singly = aw.Perceptron(), aw.Perceptron()
    record = aw.play(in_blocks, stream)
    assert [point.features for point in record.curve] == [1, 2, 4, 8]
    aw.play(singly, list(zip(rows, [1, -1] * 4, strict=True)))
    assert in_blocks == singly


def test_labels_for_array_streams():
    import pyarrow as pa

    assert ArrayStream([[1.0], [2.0]], pa.array(["a", "b"])).y.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="y must be a sequence"):
        ArrayStream([[1.0]], None)


def test_array_streams_check_their_lengths():
    with pytest.raises(InputError, match="one label for each of the 2 rows"):
        ArrayStream([[1.0], [2.0]], [1])
    stream = ArrayStream([[1.0], [2.0]], [1, -1])
    assert len(stream) == 2


# ---------------------------------------------------------------------- certificates


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: [dict(enumerate(x)) for x in X.tolist()]])
def test_the_certificate_of_a_record_is_that_of_the_rounds(form, passes, monkeypatch):
    monkeypatch.setattr("afterwit.core.protocol.BLOCK", 64)
    stream = noisy_stream(200)
    source = ArrayStream(form(stream.X), stream.y)
    for played in (source, list(source)):
        learner = aw.Perceptron()
        record = aw.play(learner, played, passes=passes)
        certificate = record.certificate()
        assert certificate.to_dict() == learner.certificate(form(stream.X), stream.y).to_dict()
        assert certificate.rounds == record.rounds == 200 * passes
        assert certificate.verdict is Verdict.HOLDS


def test_a_record_of_a_file_reads_it_again(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("".join(f"{'+1' if t % 3 else '-1'} {t % 5 + 1}:1 7:{t}\n" for t in range(50)))
    for learner in (aw.AdaGrad(), aw.OneVsRest(), aw.RepeatLastLabel()):
        record = aw.play(learner, LibsvmStream(path), passes=2)
        assert record.certificate().verdict is Verdict.HOLDS


def test_examples_of_different_lengths_and_kinds():
    stream = [([1.0], 1), ([0.0, 1.0], -1), (sparse.csr_array([[0.0, 2.0, 1.0]]), 1), (aw.SparseRow([3], [1.0]), -1)]
    learner = aw.Perceptron()
    record = aw.play(learner, stream, passes=2)
    assert record.certificate().rounds == 8
    assert record.certificate().failed == ()
    assert aw.play(aw.Perceptron(), stream[2:]).certificate().failed == ()


def test_nothing_played_has_a_certificate_too():
    for stream in ([], ArrayStream(np.empty((0, 2)), [])):
        assert aw.play(aw.Perceptron(), stream).certificate().verdict is Verdict.HOLDS


def test_a_comparator_for_the_certificate_of_a_record():
    stream = noisy_stream(100)
    learner = aw.Perceptron()
    record = aw.play(learner, stream)
    given = [1.0, 0.0, 0.0, 0.0]
    assert record.certificate(given).to_dict() == learner.certificate(stream.X, stream.y, given).to_dict()
    record = aw.play(aw.RepeatLastLabel(), stream)
    with pytest.raises(InputError, match="comparator must be left out, because the theorems of RepeatLastLabel"):
        record.certificate(given)


def test_rounds_that_the_record_does_not_have_are_seen():
    learner, stream = aw.Perceptron(), noisy_stream(100)
    record = aw.play(learner, stream)
    learner.learn_one([1.0, 0.0, 0.0, 0.0], 1)
    assert "the learner counts 101 rounds" in record.certificate().line()


class Certified(Recorder):
    """A learner of somebody else's that has theorems, and knows no tickets."""

    theorems = aw.Perceptron.theorems


def test_records_without_a_certificate_say_why():
    stream = noisy_stream(20)
    for record, why in (
        (aw.play(Certified(), stream, delay=2), "there is no certificate for delayed labels"),
        (aw.play(aw.Perceptron(), iter(list(stream))), "a stream that can be read only once"),
        (aw.play(Recorder(), stream), "Recorder has no certificate: it has no theorems"),
        (aw.Record("Perceptron"), "this record has no certificate"),
    ):
        with pytest.raises(InputError, match=why) as caught:
            record.certificate()
        assert len(str(caught.value).splitlines()) == 1


def test_what_was_played_is_no_part_of_the_record():
    record = aw.play(aw.Perceptron(), noisy_stream(20), predictions=False)
    other = aw.play(aw.Perceptron(), list(noisy_stream(20)))
    for again in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), replace(record), other):
        assert again == record
        assert again.to_dict() == record.to_dict()
    assert "_played" not in repr(record)
    with pytest.raises(InputError, match="it is not saved"):
        pickle.loads(pickle.dumps(record)).certificate()


class Once:
    """Hands out the same iterator every time."""

    def __init__(self, pairs):
        self.pairs = iter(pairs)

    def __iter__(self):
        return self.pairs


def test_what_hands_out_one_iterator_only_is_read_once():
    with pytest.raises(InputError, match="stream must be one that can be iterated again"):
        aw.play(aw.Perceptron(), Once([([1.0], 1)]), passes=2)
    record = aw.play(aw.Perceptron(), Once([([1.0], 1)]))
    with pytest.raises(InputError, match="can be read only once"):
        record.certificate()


# ---------------------------------------------------------------------- what a stream can be given as


@pytest.mark.parametrize("form", ["array", "list", "sparse", "dicts", "pandas", "polars"])
def test_examples_and_labels(form):
    """`play(learner, X, y)` once failed in Python's own words."""
    stream = noisy_stream()
    columns = {f"f{j}": stream.X[:, j] for j in range(4)}
    X = {
        "array": lambda: stream.X,
        "list": stream.X.tolist,
        "sparse": lambda: sparse.csr_array(stream.X),
        "dicts": lambda: [dict(zip(columns, row, strict=True)) for row in stream.X.tolist()],
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(columns),
        "polars": lambda: pytest.importorskip("polars").DataFrame(columns),
    }[form]()
    expected, learner = aw.Perceptron(), aw.Perceptron()
    predicted = expected.learn_many(X, stream.y)
    record = aw.play(learner, X, stream.y, predictions=True)
    assert learner == expected
    assert record.predictions.tolist() == predicted.tolist()
    assert record.certificate().verdict is Verdict.HOLDS
    twice = aw.Perceptron()
    assert aw.play(twice, X, y=stream.y, passes=2).rounds == 600


def test_examples_that_are_no_vectors():
    texts, y = ["abc", "xyz", "abd", "xyy"], [1, 0, 1, 0]
    learner = aw.KernelPerceptron(kernel=aw.kernels.string(2))
    assert aw.play(learner, texts, y).rounds == 4
    assert learner.labels == (0, 1)
    with pytest.raises(InputError, match=r"y must be as long as X; received 1 label$"):
        aw.play(learner, texts, [1])


@pytest.mark.parametrize("as_path", [str, Path])
def test_the_name_of_a_file(tmp_path, as_path):
    """`play(learner, "a9a")` once iterated over the letters of the name."""
    path = tmp_path / "f.svm"
    path.write_text("+1 1:1\n-1 2:1\n+1 1:1 2:1\n")
    expected, learner = aw.Perceptron(), aw.Perceptron()
    one, other = aw.play(expected, LibsvmStream(path)), aw.play(learner, as_path(path))
    assert learner == expected
    assert one == other
    assert other.certificate().verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.svm",), "none.svm: there is no such file"),
        (("none.svm", [1]), "y must be left out for a file or a stream, which has its labels"),
        ((ArrayStream([[1.0]], [1]), [1]), "y must be left out for a file or a stream"),
        (([[1.0], [2.0]], [1]), "y must be one label for each of the 2 rows of X"),
        ((np.ones((2, 3)),), "stream must be pairs (x, y), the name of a libsvm file, or examples X with their labels"),
        (
            (5,),
            "stream must be pairs (x, y), the name of a libsvm file, or examples X with their labels: "
            "play(learner, X, y); received 5",
        ),
        (([1, 2],), "stream must be pairs (x, y)"),
    ],
)
def test_what_is_no_stream_is_refused_in_a_sentence(arguments, message):
    learner = aw.Perceptron()
    with pytest.raises((InputError, StreamError)) as caught:
        aw.play(learner, *arguments)
    assert message in str(caught.value)
    assert learner == aw.Perceptron()


def test_a_learner_that_had_learned_before_is_told_what_to_do():
    learner = aw.Perceptron()
    learner.learn_one([1.0], 1)
    record = aw.play(learner, [[1.0], [2.0]], [1, -1])
    text = " ".join(str(record.certificate()).split())
    assert "the learner counts 3 rounds, these rows are 2; give all the rounds that it learned, or let a fresh" in text
    mixed = aw.MLpol(2)
    mixed.learn_one([1.0, 2.0], 1.0)
    with pytest.raises(InputError, match=r"counts 1 round, these are 2 \(certificate\(\) without rounds takes"):
        mixed.certificate([[1.0, 2.0], [1.0, 2.0]], [1.0, 1.0])


def test_no_theorem_is_said_before_anything_is_read():
    with pytest.raises(InputError, match=r"^SoftThresholdNetwork has no certificate: "):
        aw.SoftThresholdNetwork().certificate("no examples", ["no labels"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: aw.Perceptron(speed=1), "Unknown option 'speed' of Perceptron. Known: rate, start, intercept, labels"),
        (
            lambda: aw.MLpol(3, los="square"),
            "Unknown option 'los' of MLpol. Did you mean 'loss'? Known: n_experts, loss, gradient, loss_range, seed",
        ),
        (lambda: aw.OneVsRest(base=1), "Unknown option 'base' of OneVsRest. Known: learner, labels"),
        (lambda: aw.Perceptron().clone({"speed": 1}), "new_params must be some of rate, start, intercept, labels"),
    ],
)
def test_unknown_options_list_the_known_ones(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    with pytest.raises(TypeError, match="Unknown option"):
        aw.Perceptron(speed=1)


def test_one_is_not_a_plural():
    learner = aw.Perceptron(labels=(0, 1))
    learner.learn_one([1.0], 0)
    assert repr(learner).endswith(": 1 round, 1 mistake")
    assert str(learner.certificate([[1.0]], [0])).startswith("Perceptron, 1 round\n")
    with pytest.raises(InputError, match=r"as long as X \(1 row\); received 2 labels"):
        learner.learn_many([[1.0]], [0, 1])
    combined = aw.MLpol(1)
    record = aw.experts.play(combined, [[1.0]], [1.0])
    assert "MLpol over 1 round with 1 expert: " in str(record)
    assert ": 1 round, loss" in repr(combined)


def test_forecasts_of_numbers_are_not_played_as_labels():
    """They were, and every forecast that was not the outcome to the last digit was a mistake."""
    with pytest.raises(InputError, match=r"^learner must be one that predicts labels, because experts\.play\(learner"):
        aw.play(aw.MLpol(2), [[1.0, 2.0]], [1.5])


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.csc_matrix, pandas.DataFrame])
def test_examples_without_labels_are_no_stream(wrap):
    learner = aw.Perceptron()
    with pytest.raises(InputError, match=r"^stream must be pairs \(x, y\), .* labels: play\(learner, X, y\)"):
        aw.play(learner, wrap(np.eye(2)))
    assert learner.rounds == 0


@pytest.mark.parametrize("kind", [aw.Halving, aw.StandardOptimalAlgorithm])
def test_rounds_against_a_learner_are_looked_back_on_as_they_were(kind):
    hypotheses = aw.concepts.thresholds(20)
    learner = kind(hypotheses)
    stream = aw.adversaries.mistake_tree(hypotheses, learner)
    record = aw.play(learner, stream)
    certificate = record.certificate()
    assert (record.mistakes, certificate.observed, str(certificate.verdict)) == (4, 4, "holds")
    assert [(made.rounds, made.observed) for made in record.moments()] == [(1, 1), (2, 2), (4, 4)]
    assert stream.as_played() == stream.as_played() != []
