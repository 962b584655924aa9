"""Frozen predictors predict, are saved and loaded to the bit, and never learn."""

import copy
import pickle

import numpy as np
import pytest

import afterwit as aw
from afterwit import batch
from afterwit.batch._theorem import _is_hindsight
from afterwit.core.certificate import Certificate, Verdict
from afterwit.core.registry import learner_names
from afterwit.errors import InputError, ModelFileError
from afterwit.kernels import string

STREAM = aw.adversaries.label_noise(aw.adversaries.separable(120, 4, margin=0.2, seed=2), 0.05, seed=3)
X, Y = STREAM.X, STREAM.y

MADE = {
    "average": lambda learner: batch.average(learner, X, Y, largest_loss=20.0, regret=3.0),
    "random_stopping": lambda learner: batch.random_stopping(learner, X, Y, seed=5, mistake_bound=100),
    "large_gap": lambda learner: batch.large_gap(learner, X, Y),
    "controlled_testing": lambda learner: batch.controlled_testing(learner, X, Y, epsilon=0.3),
    "penalized_selection": lambda learner: batch.penalized_selection(learner, X, Y, every=5),
}


FROM_STREAMS = {
    "average": lambda learner, stream: batch.average(learner, stream, largest_loss=20.0),
    "random_stopping": lambda learner, stream: batch.random_stopping(learner, stream, seed=5, mistake_bound=100),
    "large_gap": lambda learner, stream: batch.large_gap(learner, stream),
    "controlled_testing": lambda learner, stream: batch.controlled_testing(learner, stream, epsilon=0.3),
    "penalized_selection": lambda learner, stream: batch.penalized_selection(learner, stream, every=5),
}


@pytest.mark.parametrize("name", FROM_STREAMS)
def test_the_labels_of_a_file_are_looked_at_first(name, tmp_path):
    """The first label, 1, leaves open whether the other one is 0 or -1."""
    text = "".join(f"{int(y > 0)} 1:{float(x[0])!r} 2:{float(x[1])!r}\n" for x, y in zip(X, Y, strict=True))
    (tmp_path / "data.svm").write_text("1 1:1\n" + text)
    stream = aw.streams.LibsvmStream(tmp_path / "data.svm")
    found = FROM_STREAMS[name](aw.Perceptron(), stream)
    assert found.labels == (0, 1)
    assert found == FROM_STREAMS[name](aw.Perceptron(labels=(0, 1)), stream)


@pytest.mark.parametrize("name", MADE)
def test_saved_and_loaded_it_is_the_same(name, tmp_path):
    predictor = MADE[name](aw.SGD(intercept=False, rate=0.3))
    path = tmp_path / "model"
    aw.save(predictor, path)
    loaded = aw.load(path)
    assert loaded == predictor
    assert (loaded.certificate, loaded.procedure) == (predictor.certificate, name)
    assert str(loaded.certificate) == str(predictor.certificate)
    assert loaded.score_many(X).tobytes() == predictor.score_many(X).tobytes()
    assert hash(loaded) == hash(predictor)
    again = tmp_path / "again"
    aw.save(loaded, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", sorted(learner_names().values()))
def test_every_learner_can_be_frozen(name, tmp_path):
    learner = getattr(aw, name)(labels=("no", "yes"))
    labels = np.where(Y > 0, "yes", "no").tolist()
    predictor = batch.large_gap(learner, X, labels)
    for twin in (pickle.loads(pickle.dumps(predictor)), copy.deepcopy(predictor), copy.copy(predictor)):
        assert twin == predictor
        assert twin.predict_many(X).tolist() == predictor.predict_many(X).tolist()
    aw.save(predictor, tmp_path / "model")
    assert aw.load(tmp_path / "model") == predictor
    assert predictor.labels == ("no", "yes")
    assert [predictor.predict_one(x) for x in X[:5]] == predictor.predict_many(X[:5]).tolist()
    assert [predictor.score_one(x) for x in X[:5]] == predictor.score_many(X[:5]).tolist()
    assert predictor == batch.large_gap(learner, X, labels)
    assert predictor != batch.large_gap(learner, X, labels, delta=0.1)


def test_it_never_learns():
    predictor = batch.large_gap(aw.Perceptron(), X, Y)
    assert not [name for name in dir(predictor) if name.startswith(("learn_", "fit"))]
    before = predictor.score_many(X)
    predictor.learner.learn_many(X, -Y)
    predictor.parameters["learner"].learn_many(X, -Y)
    assert (predictor.score_many(X) == before).all()
    with pytest.raises(AttributeError):
        predictor.certificate = None
    with pytest.raises(AttributeError):
        predictor.anything = 1


def test_it_keeps_a_copy():
    learner = aw.Perceptron()
    certificate = batch.progressive_bound(rounds=5, loss=1)
    predictor = aw.FrozenPredictor(learner, "by hand", certificate)
    learner.learn_many(X, Y)
    assert predictor.learner == aw.Perceptron()
    with pytest.raises(InputError, match="learner must be a learner, with predict_one"):
        aw.FrozenPredictor(3, "by hand", certificate)


def test_more_than_two_labels_and_strings(tmp_path):
    three = ["a" if x[0] > 0.3 else "b" if x[1] > 0 else "c" for x in X]
    texts = ["cheap pills", "lunch today", "cheap lunch", "pills today"] * 5
    spam = aw.KernelPerceptron(string(2), labels=("ham", "spam"))
    predictors = [
        batch.penalized_selection(aw.OneVsRest(), X, three),
        batch.random_stopping(aw.OneVsRest(aw.KernelPerceptron()), X, three, seed=1),
        batch.large_gap(spam, texts, ["spam", "ham", "ham", "spam"] * 5),
    ]
    for predictor in predictors:
        aw.save(predictor, tmp_path / "model")
        assert aw.load(tmp_path / "model") == predictor
    assert set(predictors[0].labels) <= {"a", "b", "c"}


class Follower:
    """Says the last label it was told, and has predict_one and learn_one alone."""

    def __init__(self):
        self.told = [1]
        self.kinds = set()

    def predict_one(self, x):
        self.kinds.add(type(x))
        return self.told[-1]

    def learn_one(self, x, y):
        self.told.append(y)


def test_a_learner_of_the_bare_contract_is_frozen_too():
    predictor = batch.large_gap(Follower(), [([0.0], 1)] * 200, epsilon=0.1)
    predictor.learner.learn_one([0.0], -1)
    assert predictor.predict_one([0.0]) == 1
    assert predictor.predict_many(np.zeros((3, 1))).tolist() == [1, 1, 1]
    assert predictor.predict_many(["any", "thing"]).tolist() == [1, 1]
    # Rows come to it as they did while it learned.
    X = np.eye(3)
    predictor = batch.random_stopping(Follower(), X, [1, 1, 1], seed=0)
    before = predictor.learner.kinds
    predictor.predict_many(X)
    assert predictor.learner.kinds == before | {np.ndarray}
    # What the caller keeps is not what predicts.
    mine = Follower()
    kept = batch.FrozenPredictor(mine, "large_gap", predictor.certificate)
    mine.learn_one([0.0], -1)
    assert kept.predict_one([0.0]) == 1


@pytest.mark.parametrize(
    ("procedure", "options"),
    [
        ("large_gap", {}),
        ("controlled_testing", {"epsilon": 0.1}),
        ("random_stopping", {"seed": 0}),
        ("penalized_selection", {}),
    ],
)
def test_a_class_is_no_learner(procedure, options):
    with pytest.raises(InputError, match="learner must be an object with predict_one and learn_one"):
        getattr(batch, procedure)(aw.Perceptron, [[1.0]], [1], **options)


def test_a_learner_that_cannot_be_saved():
    class Constant:
        def predict_one(self, x):
            return 1

        def learn_one(self, x, y):
            pass

    predictor = batch.large_gap(Constant(), [([0.0], 1)] * 200, epsilon=0.1)
    assert predictor.certificate.verdict is Verdict.HOLDS
    with pytest.raises(InputError, match="Constant cannot be saved"):
        aw.save(predictor, "nowhere")


def test_a_file_with_a_foreign_theorem_is_damaged(tmp_path, monkeypatch):
    predictor = batch.large_gap(aw.Perceptron(), X, Y)
    path = tmp_path / "model"
    aw.save(predictor, path)
    from afterwit.batch._theorem import BatchTheorem

    monkeypatch.delitem(BatchTheorem.by_class_name, "LargeGap")
    with pytest.raises(ModelFileError, match="the contents are damaged"):
        aw.load(path)


def test_a_bound_that_says_nothing_is_marked_also_after_loading(tmp_path):
    predictors = {
        "error above 1": batch.penalized_selection(aw.Perceptron(), X[:2], Y[:2]),
        "loss above 1": batch.penalized_selection(aw.Perceptron(), X[:2], Y[:2], loss=lambda s, y: (s * y < 0) + 0.0),
        "loss above M": batch.average(
            aw.SGD(intercept=False, ball=1.0), X[:5], Y[:5], loss="perceptron", largest_loss=0.5
        ),
        "says something": batch.average(aw.SGD(intercept=False, ball=1.0), X, Y, loss="perceptron", largest_loss=0.5),
        "no bound": batch.average(aw.Perceptron(), X, Y),
    }
    for what, predictor in predictors.items():
        aw.save(predictor, tmp_path / "model")
        loaded = aw.load(tmp_path / "model").certificate
        assert loaded == predictor.certificate
        assert loaded.vacuous == ("above" in what), what
        if loaded.vacuous:
            assert "but the bound says nothing here: no " in str(loaded)


def test_a_broken_promise_leaves_no_bound(tmp_path):
    predictor = batch.random_stopping(aw.Perceptron(), X, Y, seed=0, mistake_bound=1)
    broken = predictor.certificate.others[0]
    assert (broken.verdict, broken.bound, broken.inputs["M"]) == (Verdict.NOT_APPLICABLE, None, 1.0)
    assert predictor.certificate.verdict is Verdict.HOLDS
    aw.save(predictor, tmp_path / "model")
    assert aw.load(tmp_path / "model") == predictor


def test_a_certificate_of_a_learner_is_not_saved(tmp_path):
    learner = aw.Perceptron()
    learner.learn_many(X[:20], Y[:20])
    certificate = learner.certificate(X[:20], Y[:20])
    assert isinstance(certificate, Certificate)
    with pytest.raises(InputError, match=r"certificate must be one of afterwit\.batch"):
        aw.save(aw.FrozenPredictor(learner, "by hand", certificate), tmp_path / "model")


def test_it_shows_what_is_known():
    assert "by large_gap): error at most" in repr(batch.large_gap(aw.Perceptron(), X, Y))
    unknown = batch.controlled_testing(aw.Perceptron(), X, Y, epsilon=0.01)
    assert "nothing is known about its error" in repr(unknown)


def test_the_hindsight_of_a_saved_certificate_is_a_number_and_two_texts():
    assert _is_hindsight(None)
    assert _is_hindsight((1.5, "by the best of them", "loss"))
    for damaged in (("1.5", "by", "loss"), (1.5, 2, "loss"), (1.5, "by", 3), (1.5, "by"), [1.5, "by", "loss"]):
        assert not _is_hindsight(damaged)
