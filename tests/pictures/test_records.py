import matplotlib
import numpy as np
import pytest

import afterwit as aw
from afterwit.core.moments import moments
from afterwit.pictures.records import LearningCurve

matplotlib.use("Agg")


def rounds(count, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + generator.normal(size=count) > 0, 1, -1)


def ends(curve):
    return [certificate.rounds for certificate in curve]


@pytest.mark.parametrize(("count", "expected"), [(1, [1]), (2, [1, 2]), (11, [1, 2, 4, 8, 11]), (16, [1, 2, 4, 8, 16])])
def test_moments_are_the_certificates_of_the_beginnings(count, expected):
    X, y = rounds(count)
    found = aw.play(aw.Perceptron(), X, y).moments()
    assert ends(found) == expected
    for certificate in found:
        first = certificate.rounds
        learner = aw.Perceptron()
        learner.learn_many(X[:first], y[:first])
        assert certificate == learner.certificate(X[:first], y[:first].tolist())


def test_moments_of_a_committee_are_read_off_its_state():
    X, y = rounds(20)
    found = aw.play(aw.Committee(), X, y).moments()
    learner = aw.Committee()
    for certificate, (start, end) in zip(found, [(0, 1), (1, 2), (2, 4), (4, 8), (8, 16), (16, 20)], strict=True):
        learner.learn_many(X[start:end], y[start:end])
        assert certificate == learner.certificate()


def test_moments_leave_the_learner_alone():
    X, y = rounds(20)
    learner = aw.Perceptron()
    record = aw.play(learner, X, y)
    before = learner.state()
    assert len(record.moments()) == 6
    assert learner.rounds == 20
    assert np.array_equal(learner.state()["weights"], before["weights"])


def test_there_are_no_moments_where_no_certificate_would_apply():
    X, y = rounds(20)
    used = aw.Perceptron()
    aw.play(used, X, y)
    assert aw.play(used, X, y).moments() == []
    assert aw.play(aw.Perceptron(), X, y, passes=2).moments() == []
    assert aw.play(aw.Perceptron(), X, y, delay=3).moments() == []
    assert aw.play(aw.Perceptron(), iter(zip(X, y, strict=True))).moments() == []
    assert aw.play(aw.NormalizedAdaGrad(), X, y).moments() == []


def test_moments_end_where_there_is_too_much():
    X, y = rounds(20)
    stream = aw.streams.ArrayStream(X, y)
    # Rows of three values count as six each.
    assert ends(moments(aw.Perceptron(), stream, most_values=48)) == [1, 2, 4, 8]


@pytest.mark.parametrize("count", [1, 2, 11, 16])
@pytest.mark.parametrize("most_values", [0, 24, 1000])
def test_a_known_end_is_the_last_moment_and_not_made_again(count, most_values):
    X, y = rounds(count)
    stream = aw.streams.ArrayStream(X, y)
    made = aw.play(aw.Perceptron(), stream).certificate()
    found = moments(aw.Perceptron(), stream, most_values, made)
    assert found[-1] is made
    before = [each for each in moments(aw.Perceptron(), stream, most_values) if each.rounds < count]
    assert found[:-1] == before


def test_moments_leave_out_examples_without_labels():
    X, y = rounds(6)
    pairs = [({"a": x[0], "b": x[1]}, label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    records = [{"a": x["a"], "b": x["b"], "y": None if i == 2 else str(label)} for i, (x, label) in enumerate(pairs)]
    stream = aw.read(records, target="y", task="binary", labels=("-1", "1"))
    record = aw.play(aw.Model(stream.schema, aw.Perceptron(labels=("-1", "1"))), stream)
    assert (record.rounds, record.unlabelled) == (5, 1)
    assert ends(record.moments()) == [1, 2, 4, 5]


@pytest.mark.parametrize("singly", [False, True])
def test_the_trace_is_the_error_so_far_after_every_round(singly):
    X, y = rounds(1000)
    stream = list(zip(X, y.tolist(), strict=True)) if singly else aw.streams.ArrayStream(X, y)
    record = aw.play(aw.Perceptron(), stream, predictions=True)
    wrong = record.predictions != y
    so_far = np.cumsum(wrong) / np.arange(1, 1001)
    assert record.trace.width == 2
    assert record.trace.last.tolist() == so_far[1::2].tolist()
    assert record.trace.high.tolist() == so_far.reshape(-1, 2).max(axis=1).tolist()


def test_the_trace_of_a_regressor_is_its_rmse():
    X, y = rounds(50)
    record = aw.play(aw.OnlineRidge(), X, y.astype(float), predictions=True)
    errors = (record.predictions - y) ** 2
    assert record.trace.last.tolist() == np.sqrt(np.cumsum(errors) / np.arange(1, 51)).tolist()
    assert record.trace.last[-1] == record.rmse


def test_lately_is_over_the_last_eighth():
    X, y = rounds(800)
    record = aw.play(aw.Perceptron(), X, y, predictions=True)
    at, lately = LearningCurve(record, [])._lately()
    wrong = record.predictions != y
    expected = [wrong[end - end // 8 : end].mean() for end in at]
    np.testing.assert_allclose(lately, expected, atol=1e-12)
    assert at[0] == 256


def test_the_table_has_the_three_numbers():
    record = aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(16))
    table = record.pictures()["error"].table()
    assert table.heads == ("rounds", "error so far", "since the row before", "bound", "hindsight")
    assert [row[0] for row in table.rows] == ["1", "2", "4", "8", "16"]
    assert table.rows[-1] == ("16", "100.00%", "100.00%", "100.00%", "0.00%")


def test_the_picture_of_one_round_and_of_none():
    X, y = rounds(1)
    shown = aw.play(aw.Perceptron(), X, y).plot()
    assert shown.ax_.get_xlim() == (1, 2)
    assert "<svg" in aw.play(aw.Perceptron(), []).pictures()["error"].svg()


def test_a_bound_above_the_picture_says_where_it_is():
    X, y = rounds(200)
    shown = aw.play(aw.AdaGrad(), X, y).plot()
    above = [text.get_text() for text in shown.ax_.texts if "↑" in text.get_text()]
    bound = shown.table().rows[-1][3]
    assert above == ([f"bound {bound} ↑"] if float(bound.rstrip("%")) > 100 else [])


def test_the_moments_are_looked_at_only_for_the_picture_that_shows_them(monkeypatch):
    X, y = rounds(20)
    record = aw.play(aw.Perceptron(), X, y)
    monkeypatch.setattr(type(record), "moments", lambda self: pytest.fail("not needed"))
    assert record.plot(kind="features").kind == "features"


def test_rounds_of_few_values_end_the_moments_too():
    """A round has a price of its own: without it a long run of one feature would be certified again for very long."""
    X, y = np.ones((20, 1)), np.ones(20)
    wide = np.tile(X, (1, 6))
    assert ends(moments(aw.Perceptron(), aw.streams.ArrayStream(X, y), most_values=24)) == [1, 2, 4]
    assert ends(moments(aw.Perceptron(), aw.streams.ArrayStream(wide, y), most_values=24)) == [1, 2, 4]
    assert ends(moments(aw.Perceptron(), aw.streams.ArrayStream(X, y), most_values=23)) == [1, 2]
