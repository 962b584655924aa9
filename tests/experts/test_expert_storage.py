"""Expert algorithms saved, loaded, pickled, copied and compared; both forms of the package."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.storage import HEADER
from afterwit.data.values import same_value
from afterwit.errors import InputError, ModelFileError
from expert_cases import CASES, PLAIN

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def halfway(case, n=3):
    """A learner in the middle of a run, and the rest of it."""
    learner = case.make(n)
    advice, outcomes = case.rounds(np.random.default_rng(1), 40, n, 0.3 * case.sleeping)
    learner.learn_many(advice[:20], outcomes[:20])
    return learner, advice[20:], outcomes[20:]


def through_a_file(path):
    def twin(learner):
        aw.save(learner, path)
        return aw.load(path)

    return twin


@pytest.mark.parametrize("case", CASES, ids=str)
def test_twins_go_on_alike(case, tmp_path):
    learner, advice, outcomes = halfway(case)
    twins = [
        way(learner)
        for way in (
            through_a_file(tmp_path / "model"),
            lambda learner: pickle.loads(pickle.dumps(learner)),
            copy.copy,
            copy.deepcopy,
            lambda learner: learner.copy(),
            lambda learner: learner.clone(include_attributes=True),
        )
    ]
    before = learner.state()
    forecasts = None
    for twin in twins:
        assert type(twin) is type(learner)
        assert twin == learner
        assert same_value(twin.state(), before)
        assert same_value(twin.parameters, learner.parameters)
        assert repr(twin) == repr(learner)
        assert twin.certificate() == learner.certificate()
        made = twin.learn_many(advice, outcomes).tolist()
        assert same_value(learner.state(), before), "a twin shares something with its original"
        assert twin != learner
        forecasts = forecasts or made
        assert made == forecasts
    assert learner.learn_many(advice, outcomes).tolist() == forecasts
    assert all(twin == learner for twin in twins)
    assert learner.clone().rounds == 0
    assert learner.clone() == case.make(3)


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_names_come_back(case, tmp_path):
    names = ["rain", ("wind", 3), 7]
    learner = aw.SwapRegret(aw.ExponentialWeights(names)) if case.base else type(case.make(3))(names, **case.options)
    advice, outcomes = case.rounds(np.random.default_rng(2), 10, 3)
    learner.learn_many([dict(zip(names, row, strict=True)) for row in advice], outcomes)
    again = through_a_file(tmp_path / "model")(learner)
    assert again.experts == tuple(names)
    assert again == learner
    assert [type(name) for name in again.experts] == [str, tuple, int]
    if not case.base:
        late = type(case.make(3))(3, **case.options)
        late.learn_many([dict(zip("abc", row, strict=True)) for row in advice], outcomes)
        again = through_a_file(tmp_path / "model")(late)
        assert again == late
        assert again.experts == ("a", "b", "c")
        assert late != learner


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_equal_learners_make_equal_files(case, tmp_path):
    paths = [tmp_path / "one", tmp_path / "other"]
    for path in paths:
        aw.save(halfway(case)[0], path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert case.make(3) != case.make(4)
    assert case.make(3) != object()


def test_a_loss_that_is_a_function_is_pickled_but_not_saved(tmp_path):
    learner = aw.BOA(2, loss=cubed)
    learner.learn_many([[0.0, 1.0]] * 3, [1.0, 0.0, 1.0])
    assert pickle.loads(pickle.dumps(learner)).learn_one([0.0, 1.0], 1.0) == learner.learn_one([0.0, 1.0], 1.0)
    with pytest.raises(InputError, match=r"Python function \(cubed\) cannot be saved; pickle can"):
        aw.save(learner, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def cubed(forecast, outcome):
    return abs(forecast - outcome) ** 3


def tampered(path, change):
    """The file at path with its header, or arrays, changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members[HEADER])
    arrays = {
        name: np.lib.format.read_array(io.BytesIO(content)) for name, content in members.items() if name != HEADER
    }
    change(header, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, json.dumps(header))
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, array)
            archive.writestr(name, file.getvalue())


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_tampered_files_are_refused(case, tmp_path):
    learner, *_ = halfway(case)
    aw.save(learner, tmp_path / "model")
    whole = (tmp_path / "model").read_bytes()

    def first_array(header, arrays):
        arrays["array0.npy"] = np.full_like(arrays["array0.npy"], np.nan)

    def no_rounds(header, arrays):
        header["state"]["$dict"] = [[key, "x" if key == "rounds" else old] for key, old in header["state"]["$dict"]]

    def without_the_last_part(header, arrays):
        header["state"]["$dict"] = header["state"]["$dict"][:-1]

    def another_option(header, arrays):
        header["parameters"]["$dict"].append(["nonsense", 1])

    for change in (first_array, no_rounds, without_the_last_part, another_option):
        (tmp_path / "model").write_bytes(whole)
        tampered(tmp_path / "model", change)
        with pytest.raises(ModelFileError, match="damaged"):
            aw.load(tmp_path / "model")
    for cut in (10, len(whole) // 2, len(whole) - 5):
        (tmp_path / "model").write_bytes(whole[:cut])
        with pytest.raises(ModelFileError):
            aw.load(tmp_path / "model")


def spoiled(name, value):
    """Values of the same kind that cannot be."""
    yield from (None, "x", [1.0] if name != "names" else ["a"] * 9, ())
    if isinstance(value, int):
        yield from (-1, 1.5, True, 2**70)
    if isinstance(value, float):
        yield from (np.nan, np.inf, 1)
    if isinstance(value, np.ndarray):
        yield np.ones(7)
        yield value.astype(np.float32)
        yield value.reshape(1, 1, -1)
        yield value.tolist()
        if value.size:
            yield value[:-1]
            for bad in (np.nan, np.inf) if value.dtype == np.float64 else (-1, 10**9):
                yield np.full_like(value, bad)


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_a_state_that_cannot_be_is_refused_and_changes_nothing(case):
    learner, *_ = halfway(case)
    before = learner.state()
    states = [halfway(case, 4)[0].state(), {}, {**before, "unforecast": 10**6}]
    if case.sleeping:  # fewer rounds than some slept
        states.append({**before, "rounds": 3})
    states += [{**before, name: bad} for name, value in before.items() for bad in spoiled(name, value)]
    added_later = ("size", "blur", "outside", "infinite")
    states += [
        {key: value for key, value in before.items() if key != name} for name in before if name not in added_later
    ]
    for state in states:
        with pytest.raises((InputError, KeyError, TypeError)):
            learner.restore(state)
            pytest.fail(f"{[name for name in before if not same_value(state.get(name), before[name])]} was accepted")
        assert same_value(learner.state(), before)
    learner.restore({key: value for key, value in before.items() if key not in added_later})
    assert same_value(learner.state(), {**before, "size": 0.0, "blur": 0.0})
    learner.restore(before)


def test_what_they_say_of_themselves():
    learner = aw.BOA(["sun", "rain"], loss="pinball(0.9)")
    learner.learn_many([[1.0, 3.0]] * 4, [3.0] * 4)
    assert repr(learner) == (
        "BOA(n_experts=('sun', 'rain'), loss='pinball(0.9)', gradient=True, seed=0): 4 rounds, loss 2.66973, regret 2.67"
    )
    for case in PLAIN:
        assert repr(case.make(2)).startswith(f"{case.name}(")
        assert "0 rounds, loss 0, regret 0" in repr(case.make(2))


@pytest.mark.installed_only
def test_compiled_and_interpreted_are_the_same_to_the_last_bit():
    outputs = []
    for environment in ({}, {"PYTHONPATH": os.path.join(os.path.dirname(TESTS), "src")}):
        result = subprocess.run(
            [sys.executable, os.path.join(TESTS, "both_forms_experts.py")],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        outputs.append(json.loads(result.stdout))
    assert [output.pop("compiled") for output in outputs] == [True, False]
    assert outputs[0] == outputs[1]
