"""Loading within limits: a small file cannot ask for much memory, and what is not needed is not read."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.storage import HEADER
from afterwit.errors import ModelFileError
from conftest import environment

#: Memory that a process may have while it refuses a file: numpy and this package take some 150 MB of it.
MOST = 700 << 20


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in content.items():
            archive.writestr(name, each)
    return path


def changed(path, change):
    """The same file with another header."""
    content = members(path)
    header = json.loads(content[HEADER])
    change(header, content)
    content[HEADER] = json.dumps(header)
    return written(path, content)


def entry(header, part, key):
    return next(pair for pair in header[part]["$dict"] if pair[0] == key)


def array_of(size, dtype="f8"):
    """An array of zeros as a file, made without the memory it takes."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (size,)})
    return file.getvalue()


def loaded_within_limits(path, code=""):
    """What `load` says in a process of its own, whose memory is limited."""
    script = (
        f"import resource, sys, afterwit as aw\n{code}\nresource.setrlimit(resource.RLIMIT_DATA, ({MOST}, {MOST}))\n"
        "try:\n    print('loaded', type(aw.load(sys.argv[1])).__name__)\n"
        "except aw.errors.ModelFileError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def perceptron(tmp_path):
    learner = aw.Perceptron()
    learner.learn_many(np.eye(3), [-1, 1, -1])
    aw.save(learner, tmp_path / "m")
    return tmp_path / "m"


def test_a_small_file_cannot_ask_for_gigabytes_of_weights(perceptron):
    # A file of 695 bytes used to take 2.3 GB: positions and values of a few weights, and a length.
    def change(header, content):
        entry(header, "state", "weights")[1] = {"$array": {"name": "a", "length": 2**28}}
        for part, kind in (("positions", "i8"), ("values", "f8")):
            content[f"a.{part}.npy"] = array_of(0, kind)

    path = changed(perceptron, change)
    assert path.stat().st_size < 1000
    said = re.sub(r"268,43.,...", "268 million", loaded_within_limits(path))
    assert said == (
        f"{path}: weights needs 2,147,483,648 bytes, more than the 268 million left; if you trust the file, "
        "load(path, max_bytes=...) allows more"
    )


def test_who_trusts_a_file_can_load_it(tmp_path):
    learner = aw.Perceptron()
    learner.learn_one(aw.SparseRow([5, 40_000_000], [1.0, 2.0]), -1)
    aw.save(learner, tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"weights needs .* bytes, more than .* load\(path, max_bytes=...\)"):
        aw.load(tmp_path / "m")
    assert aw.load(tmp_path / "m", max_bytes=10**9).weights[40_000_000] == -2.0
    with pytest.raises(aw.errors.InputError, match="max_bytes must be a whole number, at least 1"):
        aw.load(tmp_path / "m", max_bytes=0)


def test_what_nobody_refers_to_is_not_read(perceptron):
    # A zip of 2 MB used to take 4 GB: an array that no state refers to was unpacked.
    content = members(perceptron)
    before = aw.load(perceptron)
    with zipfile.ZipFile(perceptron, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in content.items():
            archive.writestr(name, each)
        with archive.open("bomb.npy", "w") as file:
            file.write(array_of(2**27))
            for _ in range(1024):
                file.write(bytes(2**20))
    assert perceptron.stat().st_size < 2 << 20
    assert loaded_within_limits(perceptron) == "loaded Perceptron"
    assert aw.load(perceptron) == before


def test_an_array_may_not_be_much_larger_than_its_file(perceptron):
    content = members(perceptron)
    with zipfile.ZipFile(perceptron, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(HEADER, content[HEADER])
        with archive.open("array0.npy", "w") as file:
            file.write(array_of(2**27))
            for _ in range(1024):
                file.write(bytes(2**20))
    assert "weights needs 1,073,741,952 bytes" in loaded_within_limits(perceptron)


def test_a_shape_that_lies_is_refused_before_memory_is_used(perceptron):
    def change(header, content):
        content["array0.npy"] = array_of(2**40)

    assert "weights must be an array of numbers that is as long as it says" in loaded_within_limits(
        changed(perceptron, change)
    )


def test_a_header_may_not_be_much_larger_than_its_file(perceptron):
    content = members(perceptron)
    content[HEADER] = content[HEADER][:-1] + b',"more":[' + b"[]," * (1 << 23) + b"[]]}"
    assert f"{HEADER} needs 25,1" in loaded_within_limits(written(perceptron, content))


@pytest.mark.parametrize(
    ("make", "part", "key", "value", "said"),
    [
        (lambda: aw.MLpol(2), "parameters", "n_experts", 30_000_000, "n_experts must be small enough for"),
        (
            lambda: aw.FixedShare(2, horizon=60, shifts=2),
            "parameters",
            "shifts",
            100_000_000,
            "shifts must be",
        ),
        (
            lambda: aw.SoftThresholdNetwork(gates=(2, 2)),
            "parameters",
            "gates",
            {"$tuple": [50_000, 50_000]},
            "gates must be small enough for",
        ),
        (
            lambda: aw.Halving(aw.concepts.monotone_disjunctions(3)),
            "parameters",
            "hypotheses",
            {
                "$class": {
                    "$dict": [["made_by", "monotone_disjunctions"], ["arguments", {"$dict": [["variables", 16]]}]]
                }
            },
            "the class must be small enough for",
        ),
    ],
)
def test_a_number_in_a_file_cannot_ask_for_gigabytes(tmp_path, make, part, key, value, said):
    aw.save(make(), tmp_path / "m")

    def change(header, _):
        entry(header, part, key)[1] = value

    path = changed(tmp_path / "m", change)
    assert path.stat().st_size < 2000
    assert said in loaded_within_limits(path)


def test_a_string_kernel_cannot_ask_for_gigabytes(tmp_path):
    learner = aw.KernelPerceptron(aw.kernels.string(2))
    learner.learn_many(["ab", "cd"], [-1, 1])
    aw.save(learner, tmp_path / "m")

    def change(header, _):
        entry(header, "parameters", "kernel")[1] = {"$kernel": ["string", 500_000]}
        entry(header, "state", "support")[1] = ["ab" * 500_000]

    assert "support must be small enough for" in loaded_within_limits(changed(tmp_path / "m", change))


def test_a_far_position_cannot_ask_for_gigabytes(tmp_path):
    learner = aw.KernelPerceptron(aw.kernels.linear())
    learner.learn_one(aw.SparseRow([100_000_000], [1.0]), -1)
    aw.save(learner, tmp_path / "m")
    with pytest.raises(ModelFileError, match="support must be small enough for"):
        aw.load(tmp_path / "m")
    assert aw.load(tmp_path / "m", max_bytes=10**9) == learner


def test_nothing_but_a_regular_file_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match=r"pipe: cannot be read \(it is not a regular file\)"):
        aw.load(tmp_path / "pipe")
