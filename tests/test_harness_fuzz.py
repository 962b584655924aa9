"""A short part of `make fuzz`: the corpus, and some changed inputs, the same in every run."""

import importlib.util
import sys
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
#: How many cases; the corpus is the first of them.
CASES = {"libsvm": 250, "tables": 1500, "matrices": 800, "models": 150}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_are_read_as_the_oracle_reads_them_or_refused(name):
    done, failures = fuzz.run(TARGETS[name], 0, CASES[name], 0.0)
    assert done == CASES[name]
    assert not failures, "\n".join(f"{kind}: {words}\n{content[:500]!r}" for kind, words, content in failures[:3])


def test_a_reader_that_is_wrong_is_found():
    target = TARGETS["tables"]
    wrong = fuzz.Target(target.name, target.folder, target.mutate, lambda content: "wrong" if b"7" in content else None)
    assert {kind for kind, _, _ in fuzz.run(wrong, 0, 300, 0.0)[1]} == {"disagreement"}

    def crash(content):
        raise IndexError

    broken = fuzz.Target(target.name, target.folder, target.mutate, crash)
    assert len(fuzz.run(broken, 0, 5, 0.0)[1]) == 5
