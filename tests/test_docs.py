"""The documentation is true: its examples run, and nothing public is missing from it."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import click
import pytest

import afterwit
from afterwit.cli import COMMANDS, afterwit_command
from afterwit.pictures import Picture
from docs import figures, reference, running

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
COMMAND_LINE = (ROOT / "docs" / "command-line.md").read_text()


PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    # tests/test_course.py runs these, as the notebooks that are made of them.
    if path.parent.name != "course"
)


@pytest.mark.installed_only
# The pages of the gallery run in test_gallery.
@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("docs/gallery/")])
def test_the_examples_of_a_page_print_what_they_say(page):
    markdown = (ROOT / page).read_text()
    ran = running.run(markdown)
    for step in ran:
        if step.runs and step.kind != "picture":
            assert step.printed == (step.said.code if step.said else "")
        elif step.kind == "picture":
            assert isinstance(step.picture, Picture)
    figures.keep(markdown, ran)


def test_every_block_of_a_page_has_a_kind_that_is_known():
    """A block of text is what the example before it prints: nothing else is called text, or nobody would compare it."""
    kinds = {"bash", "csv", "console", "json", "python", "r", "sh", "text"}
    for page in PAGES:
        found = running.steps((ROOT / page).read_text())
        said = [id(step.said) for step in found if step.said]
        assert [step.code for step in found if step.kind == "text" and id(step) not in said] == [], page
        assert {step.kind for step in found} <= {*kinds, "picture"}, page


def test_the_page_of_names_names_what_exists():
    named = set(re.findall(r"\baw\.(\w+)", (ROOT / "docs" / "names.md").read_text()))
    assert len(named) > 25
    assert sorted(name for name in named if not hasattr(afterwit, name)) == []


def test_the_commands_of_the_readme_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`?make ([a-z]+)", (ROOT / name).read_text()):
            assert target in targets or target in ("theorems", "a"), target


def modules():
    for module in pkgutil.walk_packages(afterwit.__path__, "afterwit."):
        if not module.name.endswith("__main__"):
            yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    # Compiled functions have no source for doctest to find, but module docstrings, where the examples are, remain.
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0


def test_every_public_name_is_in_the_reference():
    missing = [name for name in afterwit.__all__ if not re.search(rf"\baw\.{name}\b", REFERENCE)]
    for module in (
        "adversaries",
        "batch",
        "bounds",
        "cluster",
        "concepts",
        "experts",
        "games",
        "hindsight",
        "kernels",
        "losses",
        "sklearn",
        "streams",
    ):
        package = getattr(afterwit, module)
        missing += [name for name in package.__all__ if not re.search(rf"\baw\.{module}\.{name}\b", REFERENCE)]
    for name in dir(afterwit.Perceptron):
        if not name.startswith("_") and name not in ("update", "score", "dot", "add", "grow", "learn_row", "rate"):
            missing += [] if re.search(rf"`[^`]*\b{name}\b", REFERENCE) else [name]
    # Interpreted, what compiled code keeps to itself can be seen as well.
    inner = "weigh update predict exponentiate exponentiate_many largest exponentials gain regret_to uniform drawn mean wake wake_all everyone "
    inner += "loss_of slope_of judge judge_losses show show_losses show_tangent mix commit"
    for name in dir(afterwit.MLpol):
        if not name.startswith("_") and name not in inner.split():
            missing += [] if re.search(rf"`[^`]*\b{name}\b", REFERENCE) else [name]
    for name in dir(afterwit.KernelPerceptron):
        if not name.startswith("_"):
            missing += [] if re.search(rf"`[^`]*\b{name}\b", REFERENCE) else [name]
    for name, value in vars(afterwit.errors).items():
        if isinstance(value, type) and issubclass(value, Exception) and name not in REFERENCE:
            missing.append(name)
    assert missing == []


def test_every_option_is_in_the_command_line_docs():
    context = click.Context(afterwit_command)
    missing = []
    for command in COMMANDS:
        section = COMMAND_LINE.partition(f"## `afterwit {command}")[2].partition("\n## ")[0]
        assert section, command
        for parameter in afterwit_command.get_command(context, command).params:
            if isinstance(parameter, click.Option):
                for option in (*parameter.opts, *parameter.secondary_opts):
                    missing += [] if f"`{option}" in section else [f"{command} {option}"]
    for parameter in afterwit_command.params:
        missing += [option for option in parameter.opts if f"`{option}`" not in COMMAND_LINE]
    assert missing == []


def test_links_lead_somewhere():
    written = {(ROOT / "docs" / path).resolve() for _, path in reference.titles()}
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            there = (page.parent / target).resolve()
            assert there.exists() or there in written, f"{page.name}: {target}"


def test_the_exception_tree_is_complete():
    tree = afterwit.errors.__doc__
    for name, value in vars(afterwit.errors).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert name in tree, name
