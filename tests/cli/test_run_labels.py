"""afterwit run finds the two labels, in little memory, and says what to do where it cannot."""

import gzip
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import afterwit as aw
from afterwit.streams import LibsvmStream
from conftest import environment


@pytest.fixture
def little(monkeypatch):
    """Hold next to nothing while the second label is looked for."""
    monkeypatch.setattr(importlib.import_module("afterwit.streams.read"), "MOST_ROWS_TO_HOLD", 8)


@pytest.mark.parametrize(
    ("first", "second", "labels"), [(1, 0, (0, 1)), (1, -1, (-1, 1)), (1, 2, (1, 2)), (4, 2, (2, 4))]
)
@pytest.mark.parametrize("ones", [1, 7, 8, 9, 100])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_to_its_second_label(run_cli, tmp_path, little, first, second, labels, ones, packed):
    text = b"".join(b"%d 1:1 3:%d\n" % (first, i) for i in range(ones)) + b"%d 2:1\n" % second
    (tmp_path / "f").write_bytes(gzip.compress(text) if packed else text)
    result = run_cli("run", "f", "--learner", "perceptron", "--model", "m", "--predictions", "out")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"labels {labels[0]} and {labels[1]}\n" in result.stdout
    expected = aw.Perceptron(labels=labels)
    record = aw.play(expected, LibsvmStream(tmp_path / "f"), predictions=True)
    assert aw.load(tmp_path / "m") == expected
    assert (tmp_path / "out").read_text().split() == [str(label) for label in record.predictions.tolist()]


def test_what_is_held_is_little(tmp_path, little):
    (tmp_path / "f").write_bytes(b"1 1:1\n" * 1000 + b"0 1:1\n")
    with aw.read(tmp_path / "f") as stream:
        assert stream.labels == (0, 1)
        assert not stream._ahead
    (tmp_path / "f").write_bytes(b"1 1:1\n" * 1000)
    with aw.read(tmp_path / "f") as stream:
        assert stream.labels == (-1, 1)
        assert not stream._ahead


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 1:1\n" * 20 + b"0 1:1\n", "line 21: found the label 0 where -1 or 1 was expected (--labels"),
        (
            b"7 1:1\n" * 20 + b"8 1:1\n",
            "the first 8 labels are 7; give the two labels with --labels, such as --labels 0,7",
        ),
        (b"7 1:1\n" * 5, "all labels are 7; give the two labels with --labels, such as --labels 0,7"),
    ],
)
def test_a_pipe_is_not_searched_for_ever(run_cli, little, text, message):
    result = run_cli("run", "-", stdin=text)
    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert run_cli("run", "-", "--labels", "1,0" if text[:1] == b"1" else "7,8", stdin=text).returncode == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.skipif(not aw.compiled, reason="so many rows take minutes")
@pytest.mark.parametrize("source", ["file", "pipe"])
def test_a_stream_of_one_label_takes_no_more_memory_than_one_of_two(tmp_path, source):
    """All rows were once held until a second label came: memory grew with the stream."""
    row = b"1 " + b" ".join(b"%d:1" % j for j in range(1, 12)) + b"\n"
    path = tmp_path / "ones"
    script = (
        "import sys; from afterwit.cli import main; main(['run', sys.argv[1], '--no-certificate']); "
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')], file=sys.stderr)"
    )
    used = {}
    for kind, first in (("one", b""), ("two", b"-1 1:1\n")):
        path.write_bytes(first + row * 600_000)
        with path.open("rb") as file:
            result = subprocess.run(
                [sys.executable, "-c", script, "-" if source == "pipe" else str(path)],
                stdin=file,
                capture_output=True,
                env=environment(),
                check=True,
            )
        used[kind] = int(result.stderr)
    assert used["one"] < used["two"] + 40_000, "in kilobytes"
