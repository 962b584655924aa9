"""What makes the documentation site: pages are run as they are read, docstrings and names become Markdown."""

import inspect

import pytest

from afterwit.pictures import Picture
from docs import docstrings, figures, reference, running

PAGE = """\
# A page

```python
from pathlib import Path
Path("names.txt").write_text("b\\na\\n")
x = 1


# A picture that reads what it shows when it is asked for it.
class Late:
    def __init__(self, number):
        self.number = number

    def table(self):
        self.read = Path("names.txt").read_text()
```

```sh
not run
```

```python
print(x + 1)
```

Some words.

```text
2
```

<!-- picture: Late(x + 2) -->

```bash
afterwit --help >/dev/null; sort names.txt
```

```text
wrong
```

    <!-- picture: not a picture -->

```sh
not run either
```

```text
printed by nothing
```
"""


def test_the_steps_of_a_page_run_in_order_in_one_namespace_and_one_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = running.run(PAGE)
    assert [(step.kind, step.printed) for step in ran] == [
        ("python", ""),
        ("sh", None),
        ("python", "2\n"),
        ("text", None),
        ("picture", None),
        ("bash", "a\nb\n"),
        ("text", None),
        ("sh", None),
        ("text", None),
    ]
    assert [step.said.code for step in ran if step.said] == ["2\n", "wrong\n"]
    (picture,) = [step.picture for step in ran if step.kind == "picture"]
    assert picture.number == 3
    # It was looked at as long as its files were there.
    assert picture.read == "b\na\n"
    # The folder of the page is gone, and we are where we were.
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_rewritten_with_what_it_prints():
    assert running.rewritten(PAGE) == PAGE.replace("wrong\n", "a\nb\n")


def test_a_command_that_fails_is_an_error_with_what_it_said():
    with pytest.raises(RuntimeError, match=r"exit code 2 of\nafterwit run nowhere\.csv"):
        running.run("```bash\nafterwit run nowhere.csv\necho not reached\n```\n")


def test_figures_stand_where_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "KEPT", tmp_path)
    page = '```python\nimport afterwit as aw\nrecord = aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(4))\n```\n<!-- picture: record.pictures()["error"] -->\n'
    asked = '<p>before</p>\n<!-- picture: record.pictures()["error"] -->\n<p>after</p>'
    made = figures.with_figures(asked, page)
    assert made.startswith('<p>before</p>\n<figure class="aw-figure"')
    assert made.endswith("</figure>\n<p>after</p>")
    assert made.count("<svg") == 1
    assert "<td>4</td>" in made
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
    # What is kept is not drawn again: the page does not run.
    monkeypatch.setattr(running, "run", None)
    assert figures.with_figures(asked, page) == made
    assert figures.with_figures("<p>nothing asked</p>", "nothing to run") == "<p>nothing asked</p>"
    with pytest.raises(ValueError, match="0 pictures in the HTML of a page that asks for 1"):
        figures.with_figures("<p>no comment</p>", page)


def test_each_picture_is_drawn_with_ids_of_its_own():
    class Drawn(Picture):
        kind, title, caption = "drawn", "A & B", "less < more"

        def draw(self, ax):
            ax.plot([1, 2], [3, 4])

        def table(self):
            return type("Table", (), {"heads": ("x",), "rows": (("<1",),)})

    first, second = figures.figure(Drawn(), 1), figures.figure(Drawn(), 2)
    assert first != second
    assert first == figures.figure(Drawn(), 1)
    assert "<strong>A &amp; B.</strong> less &lt; more" in first
    assert "<td>&lt;1</td>" in first


def test_the_parts_of_a_docstring():
    doc = """Title with w_{t+1} and `code_here` and *stars*.

        rate    eta, by which ``x`` is
                multiplied
        a, b    <two>

    Setting     x_t in R^n
    Guarantee   on any sequence
                M <= 1      if small

    >>> 1 + 1
    2

    >>> 2
    2
    """
    assert docstrings.markdown(doc) == (
        "Title with w\\_{t+1} and <code>code_here</code> and \\*stars\\*.\n\n"
        '<dl class="aw-terms">\n<dt><code>rate</code></dt><dd>eta, by which <code>x</code> is multiplied</dd>\n'
        "<dt><code>a</code>, <code>b</code></dt><dd>&lt;two&gt;</dd>\n</dl>\n\n"
        '<dl class="aw-terms">\n<dt>Setting</dt><dd>x_t in R^n</dd>\n'
        "<dt>Guarantee</dt><dd>on any sequence<br>M &lt;= 1      if small</dd>\n</dl>\n\n"
        "```pycon\n>>> 1 + 1\n2\n\n>>> 2\n2\n```\n"
    )
    assert (
        docstrings.first_sentence("It is 0.5 of e. g. `x`. Then more.\n\nAnd more.")
        == "It is 0.5 of e. g. <code>x</code>"
    )
    assert docstrings.first_sentence(None) == ""


def some(x, /, *args, named: "int", given: "str" = "a", made=len, **rest) -> "list[int]":
    raise NotImplementedError


def keyword_only(x: "Any", *, y=1e-6):  # noqa: F821 - the name is only shown
    raise NotImplementedError


def test_parameters_are_written_as_in_python():
    shown = {function: list(reference._parameters(inspect.signature(function))) for function in (some, keyword_only)}
    assert shown[some] == ["x", "*args", "named: int", "given: str = 'a'", "made=...", "**rest"]
    assert shown[keyword_only] == ["x", "*", "y=1e-06"]


def test_every_name_has_one_entry_and_the_pages_are_those_of_the_navigation():
    pages = reference.pages()
    assert sorted(pages) == sorted(path for _, path in reference.titles())
    assert pages["api/linear.md"].count("## `Perceptron` { #perceptron }") == 1
    assert "Also `aw.streams.read_libsvm`." in pages["api/afterwit.md"]
    assert "## `read_libsvm`" not in pages["api/streams.md"]
    assert "[margin bound](bounds.md#bound-perceptron): mistakes &lt;= (R / gamma)^2" in pages["api/linear.md"]
