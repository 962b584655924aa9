"""`afterwit replay`, on logs as a service exports them, and on files that are none."""

import json

import pytest

import afterwit as aw
from afterwit.serve.exporting import parquet
from serving import Serving


@pytest.fixture
def log(sqlite, tmp_path):
    """A log in both forms, and the model file of the service."""
    with Serving(sqlite) as serving:
        serving.create("m", "perceptron")
        serving.predict("m", *((f"k{i}", {"u": i - 2.5, "v": 1.0}) for i in range(6)))
        serving.label("m", *((f"k{i}", 1 if i > 2 else -1) for i in (3, 0, 5, 1)))
        serving.learn("m", (None, {"u": 2.0}, -1))
        events = list(serving.engine.log("m"))
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        (tmp_path / "log.parquet").write_bytes(parquet(serving.engine.log("m")))
        (tmp_path / "served.aw").write_bytes(serving.engine.file("m"))
    return tmp_path


@pytest.mark.parametrize("name", ["log.jsonl", "log.parquet"])
def test_the_same_file(run_cli, log, name):
    done = run_cli("replay", log / name, "--model", log / "made.aw", "--json")
    assert (log / "made.aw").read_bytes() == (log / "served.aw").read_bytes()
    found = json.loads(done.stdout)
    assert (found["events"], found["rounds"], found["predictions"], found["different"]) == (12, 5, 7, [])
    assert found["totals"]["waiting"] == 2


def test_in_words(run_cli, log):
    lines = run_cli("replay", log / "log.jsonl").stdout.splitlines()
    assert lines == [
        "12 events played again: 5 rounds learned, 2 waiting",
        "all 7 predictions in the log are what the model gives",
    ]


def test_an_earlier_moment(run_cli, log):
    run_cli("replay", log / "log.jsonl", "--at", "9", "--model", log / "early.aw")
    assert aw.load(log / "early.aw").rounds == 2


def test_a_prediction_that_was_changed(run_cli, log):
    """The exit code says it, and the line which one."""
    text = (log / "log.jsonl").read_text()
    (log / "log.jsonl").write_text(text.replace('"label": 1', '"label": -1', 1))
    done = run_cli("replay", log / "log.jsonl")
    assert done.returncode == 1
    assert "1 of 7 predictions are not what the model gives; the first is event 2:" in done.stdout


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[1:], "line 1: event 2 where 1 is expected"),
        (lambda lines: [*lines[:3], *lines[4:]], "line 4: event 5 where 4 is expected"),
        (lambda lines: [*lines[:2], lines[2][:-20]], "line 3: expected JSON"),
        (lambda lines: [*lines[:2], "[3]"], "line 3: expected an event of a log, found [3]"),
        (lambda lines: [], "the log has no events"),
        (lambda lines: [lines[0].replace("create", "freeze")], "does not begin with event 1, which makes the model"),
        (lambda lines: [*lines[:7], lines[7].replace('"k3"', '"k9"')], "event 8 is about 'k9', which does not wait"),
        (lambda lines: [lines[0].replace("perceptron", "nothing")], "unknown learner 'nothing'"),
        (lambda lines: [lines[0], lines[1].replace('"x"', '"z"')], "line 2: expected an event of a log"),
        (lambda lines: [lines[0], lines[1].replace('"score"', '"scor"'), *lines[2:]], "event 9 cannot be played again"),
    ],
)
def test_a_file_that_is_no_log(run_cli, log, change, says):
    lines = (log / "log.jsonl").read_text().splitlines()
    (log / "bad.jsonl").write_text("".join(f"{line}\n" for line in change(lines)))
    done = run_cli("replay", log / "bad.jsonl", "--model", log / "bad.aw")
    assert done.returncode == 2
    assert says in done.stderr
    assert not (log / "bad.aw").exists()


def test_a_file_that_is_not_there(run_cli, tmp_path):
    assert "No such file" in run_cli("replay", tmp_path / "no.jsonl").stderr
    (tmp_path / "no.parquet").write_text("text")
    assert "is no log of a service" in run_cli("replay", tmp_path / "no.parquet").stderr
