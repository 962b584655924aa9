"""A short part of `make fuzz`: the corpus, and some changed inputs, the same in every run."""

import importlib.util
import itertools
import os
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "fuzz.py"


def load():
    found = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    module = importlib.util.module_from_spec(found)
    # Its dataclasses look for their own module.
    sys.modules["fuzz"] = module
    found.loader.exec_module(module)
    return module


fuzz = load()
TARGETS = fuzz.targets()
#: How many cases; the whole corpus is among them. Every second case is a file of the corpus as it is.
CASES = {
    "libsvm": 250,
    "vw": 250,
    "tables": 1500,
    "csv": 400,
    "json": 400,
    "matrices": 800,
    "models": 2 * len(list(TARGETS["models"].corpus())),
}


def tried(target, cases, seed=0):
    """The inputs of a run, and (kind, words, input) of those that failed."""
    contents, failures = [], []
    fuzz.run(target, seed, cases, 0.0, contents.append, lambda *failure: failures.append(failure))
    return contents, failures


def judged_by(judge):
    return fuzz.Target("a table", "tables", TARGETS["tables"].mutate, judge)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_are_read_as_the_oracle_reads_them_or_refused(name):
    contents, failures = tried(TARGETS[name], CASES[name])
    assert len(contents) == CASES[name]
    assert set(TARGETS[name].corpus()) <= set(contents)
    assert not failures, "\n".join(f"{kind}: {words}\n{content[:500]!r}" for kind, words, content in failures[:3])


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_come_from_the_beginning_on(name):
    corpus = set(TARGETS[name].corpus())
    first = list(itertools.islice(fuzz.inputs(TARGETS[name], 0), 20))
    assert sum(content not in corpus for content in first) >= 8
    assert first == list(itertools.islice(fuzz.inputs(TARGETS[name], 0), 20))
    assert first != list(itertools.islice(fuzz.inputs(TARGETS[name], 1), 20))


def test_the_time_ends_a_run():
    contents = []
    fuzz.run(judged_by(lambda content: time.sleep(0.01)), 0, None, 0.05, contents.append, None)
    assert 1 <= len(contents) <= 5


def test_a_reader_that_is_wrong_is_found():
    wrong = judged_by(lambda content: "wrong" if b"7" in content else None)
    assert {kind for kind, _, _ in tried(wrong, 300)[1]} == {"disagreement"}

    def crash(content):
        raise IndexError

    assert len(tried(judged_by(crash), 5)[1]) == 5


#: A process of a target whose third case is a disagreement, and whose last kills it.
WORKER = """
import os, signal, sys
sys.path.insert(0, {tools!r})
import fuzz

fuzz.FAILED = fuzz.Path({failed!r})
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
calls = 0

def judge(content):
    global calls
    calls += 1
    if calls == {last}:
        os.kill(os.getpid(), signal.SIGKILL)
    return "wrong" if calls == 3 else None

target = fuzz.Target("a table", options["--worker"], lambda chance, content, corpus: chance.randbytes(9), judge)
fuzz.work(target, int(options["--seed"]), int(options["--cases"]), float(options["--seconds"]))
"""


def supervised(tmp_path, monkeypatch, last, cases):
    """The counts of a supervised target, and the kinds of what was kept."""
    script = tmp_path / "worker.py"
    script.write_text(WORKER.format(tools=str(SCRIPT.parent), failed=str(tmp_path), last=last))
    monkeypatch.setattr(fuzz, "SCRIPT", script)
    monkeypatch.setattr(fuzz, "FAILED", tmp_path)
    counts = fuzz.supervise(judged_by(None), 0, cases, 60.0, dict(os.environ))
    return counts, sorted(path.name.split("-")[1] for path in tmp_path.glob("tables-*") if path.suffix != ".txt")


def test_what_a_process_found_before_it_died_is_kept_and_counted(tmp_path, monkeypatch):
    # The first process dies in case 5, the second has three cases left.
    counts, kept = supervised(tmp_path, monkeypatch, 5, 8)
    assert counts == (8, 1, 2)
    assert kept == ["crash", "disagreement", "disagreement"]


def test_a_process_that_dies_in_the_last_case_is_counted(tmp_path, monkeypatch):
    counts, kept = supervised(tmp_path, monkeypatch, 2, 2)
    assert counts == (2, 1, 0)
    assert kept == ["crash"]


def test_a_process_that_cannot_begin_is_an_error_and_no_crash(tmp_path, monkeypatch):
    script = tmp_path / "worker.py"
    script.write_text("raise SystemExit('nothing works')")
    monkeypatch.setattr(fuzz, "SCRIPT", script)
    monkeypatch.setattr(fuzz, "FAILED", tmp_path)
    (tmp_path / "tables-current").write_bytes(b"of a run that was stopped")
    (tmp_path / "tables-counts").write_text("7 0 0")
    with pytest.raises(SystemExit, match="a table could not be run:\nnothing works"):
        fuzz.supervise(judged_by(None), 0, 5, 60.0, dict(os.environ))
