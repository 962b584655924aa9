"""Saving and loading: exact, safe, whole or not at all."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
from afterwit.core.files import new_file
from afterwit.core.storage import HEADER
from afterwit.data.values import same_value
from afterwit.errors import InputError, ModelFileError

plain_names = st.one_of(
    st.text(max_size=5), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False)
)
names = st.one_of(plain_names, st.tuples(plain_names, plain_names))


@given(st.dictionaries(names, st.floats(-1e6, 1e6), max_size=6))
def test_any_names_come_back_from_a_file(tmp_path_factory, x):
    path = tmp_path_factory.mktemp("models") / "m"
    learner = aw.Perceptron(rate=0.1)
    learner.learn_one(x, -1)
    aw.save(learner, path)
    again = aw.load(path)
    assert again == learner
    assert [(type(name), name) for name in again.weights] == [(type(name), name) for name in learner.weights]


@pytest.fixture
def learner():
    learner = aw.Perceptron(rate=0.1, labels=("no", "yes"))
    learner.learn_many(np.random.default_rng(0).standard_normal((50, 300)), ["no", "yes"] * 25)
    return learner


def test_the_bits_come_back(tmp_path, learner):
    aw.save(learner, tmp_path / "m")
    assert aw.load(tmp_path / "m").weights.tobytes() == learner.weights.tobytes()
    wide = aw.Perceptron(start=aw.SparseRow([5, 10**7], [1.0, 1e-300]))
    state = wide.state()
    state["weights"][5] = -0.0
    wide.restore(state)
    assert np.signbit(wide.weights[5])
    aw.save(wide, tmp_path / "wide")
    assert aw.load(tmp_path / "wide").weights.tobytes() == wide.weights.tobytes()
    assert (tmp_path / "wide").stat().st_size < 5000


def test_a_loaded_learner_goes_on_exactly(tmp_path, learner):
    aw.save(learner, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    X = np.random.default_rng(1).standard_normal((50, 310))
    for each in (again, learner):
        each.learn_many(X, ["yes", "no"] * 25)
    assert again == learner


def test_every_truncation_is_a_clear_error(tmp_path, learner):
    aw.save(learner, tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    for length in [0, 1, 4, 30, *range(0, len(content), 97), len(content) - 1]:
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"cut: is not a readable afterwit model file"):
            aw.load(tmp_path / "cut")


def test_no_flipped_byte_goes_unnoticed_or_crashes(tmp_path):
    learner = aw.Perceptron()
    learner.learn_many(np.arange(12.0).reshape(4, 3), [-1, 1, -1, 1])
    aw.save(learner, tmp_path / "m")
    content = bytearray((tmp_path / "m").read_bytes())
    for at in range(len(content)):
        spoiled = content.copy()
        spoiled[at] ^= 0xFF
        (tmp_path / "m").write_bytes(spoiled)
        try:
            again = aw.load(tmp_path / "m")
        except ModelFileError:
            continue
        assert again == learner, f"byte {at}"


def change_state(header, key, value):
    for entry in header["state"]["$dict"]:
        if entry[0] == key:
            entry[1] = value


def rewritten(tmp_path, learner, change):
    aw.save(learner, tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members[HEADER])
    change(header, members)
    members[HEADER] = json.dumps(header).encode()
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return tmp_path / "m"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, members: header.update(version=99), "has format version 99"),
        (lambda header, members: header.update(format="other"), "is not an afterwit model file"),
        (lambda header, members: header.update(learner="os.system"), "learner must be one of AdaGrad"),
        (lambda header, members: header.update(learner="load"), "learner must be one of AdaGrad"),
        (lambda header, members: header.update(learner=["Perceptron"]), "learner must be one of AdaGrad"),
        (lambda header, members: header.pop("state"), "the contents are damaged"),
        (lambda header, members: header.update(state={"$dict": [["rounds", -1]]}), "the contents are damaged"),
        (lambda header, members: header.update(parameters={"$dict": [["rate", -1]]}), "the contents are damaged"),
        (lambda header, members: header.update(parameters={"$what": 1}), "the contents are damaged"),
        (lambda header, members: header.update(parameters=5), "the contents are damaged"),
        (lambda header, members: members.pop("array0.npy"), "the contents are damaged"),
        (lambda header, members: change_state(header, "rounds", 2**70), "the contents are damaged"),
        (lambda header, members: change_state(header, "rounds", True), "the contents are damaged"),
        (lambda header, members: change_state(header, "names", "abc"), "the contents are damaged"),
        (
            lambda header, members: change_state(header, "weights", {"$array": {"name": "array0", "length": 10**15}}),
            "the contents are damaged",
        ),
        (lambda header, members: header.update(version=True), "has format version True"),
    ],
)
def test_a_file_that_lies_is_a_clear_error(tmp_path, learner, change, message):
    path = rewritten(tmp_path, learner, change)
    with pytest.raises(ModelFileError) as caught:
        aw.load(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_an_array_of_objects_is_never_unpickled(tmp_path, learner):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "exploded"),))

    def change(_header, members):
        file = io.BytesIO()
        np.save(file, np.array([Bomb()], dtype=object), allow_pickle=True)
        members["array0.npy"] = file.getvalue()

    with pytest.raises(ModelFileError):
        aw.load(rewritten(tmp_path, learner, change))
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04junk", b"\x80\x04K\x01."])
def test_foreign_files(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a readable afterwit model file"):
        aw.load(tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(ModelFileError, match=r"is not an afterwit model file \(it has no learner.json\)"):
        aw.load(tmp_path / "z")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ModelFileError, match="there is no such file"):
        aw.load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="cannot be read"):
        aw.load(tmp_path)


def test_odd_names_are_saved_or_refused(tmp_path):
    learner = aw.Perceptron()
    learner.learn_one({"\ud800": 1.0, "é\0": 2.0}, -1)
    aw.save(learner, tmp_path / "m")
    assert aw.load(tmp_path / "m") == learner
    learner.learn_one({10**5000: 1.0}, -1)
    with pytest.raises(InputError, match="more than 4,000 digits"):
        aw.save(learner, tmp_path / "m")


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path, learner):
    aw.save(learner, tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    strange = aw.Perceptron()
    strange.learn_one({frozenset({1}): 1.0}, -1)
    with pytest.raises(InputError, match=r"found frozenset\(\{1\}\) of type frozenset"):
        aw.save(strange, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert os.listdir(tmp_path) == ["m"]
    with pytest.raises(InputError, match="learner must be one of AdaGrad"):
        aw.save("perceptron", tmp_path / "m")


def test_places_that_cannot_be_written(tmp_path, learner):
    for place in (tmp_path / "no" / "where", tmp_path):
        with pytest.raises(InputError, match="cannot be written"):
            aw.save(learner, place)


def test_a_new_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out"
    target.write_text("old")

    def interrupted():
        with new_file(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]
    with new_file(target) as file:
        file.write(b"new")
    assert target.read_text() == "new"


def test_the_file_has_ordinary_permissions(tmp_path, learner):
    aw.save(learner, tmp_path / "m")
    (tmp_path / "plain").touch()
    assert (tmp_path / "m").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("make", [aw.Perceptron, lambda: aw.MLpol(2), lambda: aw.OnlineShortestPath([("a", "b")])])
@pytest.mark.parametrize("state", [None, {}, {"rounds": 1}])
def test_what_is_not_a_state_is_refused_in_a_sentence(make, state):
    learner = make()
    before = learner.state()
    with pytest.raises(InputError, match=r"state must be what state\(\) of|rounds, mistakes and updates must be"):
        learner.restore(state)
    assert same_value(learner.state(), before)


LEARNED = [
    aw.Perceptron, aw.AveragedPerceptron, aw.VotedPerceptron, aw.MarginPerceptron, aw.Winnow, aw.BalancedWinnow,
    aw.OnlineSVM, aw.SGD, lambda **given: aw.SGD(ball=1.0, **given), aw.AdaGrad, aw.ScaleFree, aw.NormalizedAdaGrad,
    aw.SoftThresholdNetwork, aw.KernelPerceptron,
    aw.MulticlassPerceptron, aw.AveragedMulticlassPerceptron, aw.SelectivePerceptron, aw.SoftmaxAdaGrad,
    aw.NearestNeighbours,
]  # fmt: skip


@pytest.mark.parametrize("make", LEARNED)
def test_a_state_that_is_not_finite_or_no_ordinary_array_is_refused(make):
    """NaN weights were taken, and the next block was learned for ever; the mask of a masked array hid a wild index."""
    X = np.random.default_rng(0).standard_normal((12, 6))
    learner = make(labels=(-1, 1))
    learner.learn_many(X, [1, -1, -1] * 4)
    before = learner.state()
    tried = 0
    for name, value in before.items():
        bad = []
        if isinstance(value, np.ndarray) and value.size:
            bad.append(np.ma.array(value, mask=False))
            bad += [np.full_like(value, number) for number in (np.nan, np.inf, -np.inf) if value.dtype.kind == "f"]
        elif type(value) is float:
            bad += [np.nan, np.inf, -np.inf]
        for each in bad:
            tried += 1
            with pytest.raises(InputError):
                learner.restore({**before, name: each})
            assert same_value(learner.state(), before)
    assert tried
