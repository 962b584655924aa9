"""A learner that is made without labels takes them from the first that it learns, where they leave no doubt."""

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

import afterwit as aw
from afterwit.core.registry import learner_class, learner_names
from afterwit.data.labels import Labels, certain_pair, labels_of
from afterwit.errors import InputError, LabelError
from afterwit.streams import ArrayStream, LibsvmStream

random = np.random.default_rng(3)
X = random.choice([0.0, 1.0], size=(40, 5))
SIGNS = np.where(X[:, 0] + X[:, 1] > 1, 1, -1)
FIRST_NEGATIVE = int(np.argmin(SIGNS))
PAIRS = [(-1, 1), (0, 1), (False, True)]

by_learner = pytest.mark.parametrize("name", sorted(learner_names()))
by_pair = pytest.mark.parametrize("pair", PAIRS, ids=str)


def of(pair, signs=SIGNS):
    return [pair[int(sign > 0)] for sign in signs]


def typed(labels):
    return [(type(label), label) for label in labels]


@by_learner
@by_pair
def test_many_labels_decide(name, pair):
    """Whatever comes first, 0 among the labels of one call leaves no doubt; so do booleans."""
    kind = learner_class(name)
    expected = kind(labels=pair)
    predicted = expected.learn_many(X, of(pair)).tolist()
    forms = [of(pair), np.array(of(pair)), pd.Series(of(pair)), np.array(of(pair), dtype=object)]
    for y in [*forms, np.array(of(pair), dtype=np.float64)] if pair[0] is not False else forms:
        learner = kind()
        assert typed(learner.learn_many(X, y).tolist()) == typed(predicted)
        assert learner == expected
        assert typed(learner.labels) == typed(pair)
        assert typed(learner.parameters["labels"]) == typed(pair)
    for start in (FIRST_NEGATIVE, int(np.argmax(SIGNS))):
        learner, expected = kind(), kind(labels=pair)
        learner.fit(X[start:], of(pair)[start:], max_passes=2)
        expected.fit(X[start:], of(pair)[start:], max_passes=2)
        assert learner == expected


@by_learner
@by_pair
def test_one_label_decides(name, pair):
    """One by one: the same as many at once, and as a learner that was told."""
    kind = learner_class(name)
    rows, y = X[FIRST_NEGATIVE:], of(pair)[FIRST_NEGATIVE:]
    expected, singly, named = kind(labels=pair), kind(), kind()
    predicted = expected.learn_many(rows, y).tolist()
    assert typed(singly.learn_one(x, label) for x, label in zip(rows, y, strict=True)) == typed(predicted)
    assert singly == expected
    dicts = [{f"f{j}": value for j, value in enumerate(x)} for x in rows.tolist()]
    assert typed(named.learn_one(x, label) for x, label in zip(dicts, y, strict=True)) == typed(predicted)


@by_learner
def test_a_one_is_of_minus_one_and_one_until_told_otherwise(name):
    learner = learner_class(name)()
    learner.learn_one(X[0], 1)
    before = learner.copy()
    assert learner.labels == (-1, 1)
    for label, pair in ((0, "(0, 1)"), (False, "(False, True)")):
        with pytest.raises(LabelError) as caught:
            learner.learn_one(X[0], label)
        assert f"y must be -1 or 1; received {label} (for these labels, use labels={pair})" == str(caught.value)
        with pytest.raises(LabelError, match=r"^y\[1\] must be -1 or 1; received"):
            learner.learn_many(X[:2], [1, label])
    assert learner == before


@by_learner
def test_as_long_as_nothing_is_learned_nothing_is_decided(name, tmp_path):
    kind = learner_class(name)
    learner = kind()
    assert learner.parameters["labels"] is None
    assert learner.labels == (-1, 1)
    assert learner.predict_one(X[0]) in (-1, 1)
    bad = X.copy()
    bad[-1, -1] = np.nan
    for attempt in (
        lambda: learner.learn_many(bad, of((0, 1))),
        lambda: learner.learn_one(bad[-1], True),
        lambda: learner.learn_one({"a": float("inf")}, 0),
        lambda: learner.learn_many(X, of(("ham", "spam"))),
        lambda: learner.learn_one(X[0], "spam"),
        lambda: learner.learn_many(X, [0, *([-1] * (len(X) - 1))]),
        lambda: learner.learn_many(X[:2], [0]),
    ):
        with pytest.raises(InputError):
            attempt()
    learner.learn_many(X[:0], [])
    aw.save(learner, tmp_path / "m")
    for other in (learner, learner.copy(), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert other == kind()
        other.learn_many(X, of((False, True)))
        assert typed(other.labels) == typed((False, True))
    loaded = aw.load(tmp_path / "m")
    loaded.learn_many(X, of((0, 1)))
    aw.save(loaded, tmp_path / "m")
    assert aw.load(tmp_path / "m") == loaded == pickle.loads(pickle.dumps(loaded)) == loaded.copy()
    assert loaded.clone().labels == (0, 1)


@by_learner
def test_labels_that_were_given_stay(name):
    learner = learner_class(name)(labels=(-1, 1))
    for label in (0, False):
        with pytest.raises(LabelError, match="must be -1 or 1"):
            learner.learn_one(X[0], label)
        with pytest.raises(LabelError, match=r"y\[0\] must be -1 or 1"):
            learner.learn_many(X[:1], [label])
    assert learner == learner_class(name)(labels=(-1, 1))


def test_a_committee_takes_its_members_along(tmp_path):
    for given in (None, [aw.AdaGrad(rate=0.5), "perceptron"], {"mine": aw.Perceptron}):
        learner, expected = aw.Committee(given), aw.Committee(given, labels=(0, 1))
        learner.learn_many(X, of((0, 1)))
        expected.learn_many(X, of((0, 1)))
        assert learner == expected == learner.copy()
        assert {member.labels for member in learner.members.values()} == {(0, 1)}
        aw.save(learner, tmp_path / "m")
        assert aw.load(tmp_path / "m") == learner
        learner.learn_one(X[0], 0)
        expected.learn_one(X[0], 0)
        assert learner == expected


@pytest.mark.parametrize("procedure", ["average", "penalized_selection", "random_stopping", "large_gap"])
@by_pair
def test_batch_procedures_know_the_labels_before_the_first_round(procedure, pair):
    choose = getattr(aw.batch, procedure)
    if procedure == "random_stopping":
        choose = partial(choose, seed=5)
    for y in (of(pair), np.array(of(pair))):
        told, untold = choose(aw.Perceptron(labels=pair), X, y), choose(aw.Perceptron(), X, y)
        assert untold == told
        assert typed(untold.predict_many(X).tolist()) == typed(told.predict_many(X).tolist())
        streamed = choose(aw.Perceptron(), ArrayStream(X, y))
        assert streamed == told


@by_pair
@pytest.mark.parametrize("kind", [aw.Perceptron, aw.Winnow, partial(aw.Committee, ["adagrad", "perceptron", "winnow"])])
@pytest.mark.parametrize("start", [0, FIRST_NEGATIVE, int(np.argmax(SIGNS))])
def test_play_counts_what_the_learner_counts(kind, pair, start, tmp_path):
    """Also Winnow, which starts with a negative prediction: before its first label that is -1, and not yet 0."""
    rows, y = X[start:], of(pair)[start:]
    expected = kind(labels=pair)
    expected.learn_many(rows, y)
    pairs = list(zip(rows, y, strict=True))
    whole = {"X, y": (rows, y), "stream": (ArrayStream(rows, y),), "pairs": (pairs,)}
    if pair[0] is not False:
        path = tmp_path / "file.svm"
        lines = [f"{label} " + " ".join(f"{j}:{v:g}" for j, v in enumerate(x) if v) for x, label in pairs]
        path.write_text("\n".join(lines) + "\n")
        whole |= {"path": (str(path),), "Path": (path,)}
    if y[0] != 1 or pair != (0, 1) or pair[0] is False:
        whole["generator"] = ((each for each in pairs),)
    for form, arguments in whole.items():
        learner = kind()
        record = aw.play(learner, *arguments, predictions=True)
        assert (record.rounds, record.mistakes) == (len(y), expected.mistakes), form
        assert learner.mistakes == expected.mistakes, form
        assert typed(learner.labels) == typed(pair), form
    learner, told = kind(), kind(labels=pair)
    assert aw.play(learner, pairs, delay=3).mistakes == aw.play(told, pairs, delay=3).mistakes


def test_play_takes_a_file_whose_first_labels_are_all_one(tmp_path):
    path = tmp_path / "f"
    path.write_text("1 1:1\n" * 5000 + "0 2:1\n")
    for stream in (path, LibsvmStream(path)):
        learner = aw.Perceptron()
        assert aw.play(learner, stream).mistakes == 1
        assert learner.labels == (0, 1)
    learner = aw.Perceptron()
    with (
        path.open("rb") as file,
        pytest.raises(LabelError, match=r"received 0 \(for these labels, use labels=\(0, 1\)"),
    ):
        aw.play(learner, LibsvmStream(file))


@pytest.mark.parametrize(
    ("label", "pair"),
    [
        (0, (0, 1)),
        (0.0, (0, 1)),
        (-0.0, (0, 1)),
        (np.int8(0), (0, 1)),
        (-1, (-1, 1)),
        (np.float32(-1), (-1, 1)),
        (True, (False, True)),
        (np.False_, (False, True)),
        (1, None),
        (1.0, None),
        (2, None),
        ("0", None),
        (None, None),
        ([0], None),
        (float("nan"), None),
    ],
)
def test_what_a_label_says(label, pair):
    found = certain_pair(label)
    assert found == pair
    assert found is None or typed(found) == typed(pair)


def test_the_first_that_is_certain_decides():
    assert labels_of([1, 1, 0, -1]).pair == (0, 1)
    assert labels_of(np.array([1, 1, -1, 0])).pair == (-1, 1)
    assert labels_of(np.array([1.0, 2.0, 0.0])).pair == (-1, 1)
    assert labels_of([]).pair == labels_of(np.array([])).pair == labels_of([1]).pair == (-1, 1)
    assert typed(labels_of(np.array([True])).pair) == typed((False, True))


@pytest.mark.parametrize("label", ["spam", 2, None])
def test_other_labels_have_to_be_given(label):
    with pytest.raises(LabelError) as caught:
        aw.Perceptron().learn_one([1.0], label)
    remedy = "(for other labels, use labels=(negative, positive); for more than two, OneVsRest)"
    assert str(caught.value) == f"y must be -1 or 1; received {label!r} {remedy}"
    assert str(Labels((0, 1)).refusal(2)) == "y must be 0 or 1; received 2 (for more than two labels, use OneVsRest)"
