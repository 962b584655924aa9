"""What tools/generate.py writes is up to date."""

import importlib.util
from pathlib import Path

import pytest

import afterwit as aw

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "generate.py"


def load():
    found = importlib.util.spec_from_file_location("generate", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


generate = load()


@pytest.mark.parametrize("path", generate.WRITTEN, ids=lambda path: path.name)
def test_it_is_up_to_date(path):
    assert path.read_text() == generate.WRITTEN[path](), "run make generate"


def test_the_types_name_what_is_there():
    stub = generate.STUB.read_text()
    for name in aw.__all__:
        assert f" as {name}\n" in stub or f"\n{name}: " in stub or f"\nclass {name}(_{name}):" in stub, name
    assert "def __init__(self, rate: Any = 1.0, start: Any = None, intercept: Any = False, labels: Any" in stub


def test_a_row_keeps_its_text_and_gets_the_signature(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "text\n<!-- table: classifier of linear -->\n| | |\n|---|---|\n| `aw.SGD(speed=1)` | mine |\n| `aw.Gone()` | old |\n"
        "<!-- end -->\nmore text\n"
    )
    monkeypatch.setattr(generate, "REFERENCE", page)
    before, *rows, after = generate.reference().splitlines()
    assert (before, after) == ("text", "more text")
    assert '| `aw.SGD(loss="logistic", rate=0.03, schedule="constant", ball=None, intercept=True)` | mine |' in rows
    assert "| `aw.Perceptron(rate=1.0, start=None)` | The perceptron of Figure 8.6 |" in rows
    assert not any("aw.Gone" in row for row in rows)
    assert generate.main(check=True) in (0, 1)
