"""The package as installed."""

import glob
import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import afterwit
import afterwit.core.registry

HERE = os.path.dirname(os.path.abspath(__file__))


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        cwd=os.path.dirname(HERE) if os.environ.get("PYTHONPATH") else os.path.expanduser("~"),
    ).stdout


def test_importing_it_imports_nothing_heavy():
    code = "import sys, json, afterwit; print(json.dumps([m for m in sys.modules]))"
    loaded = {name.partition(".")[0] for name in json.loads(run_python(code))}
    assert loaded.isdisjoint({"numpy", "scipy", "sklearn", "narwhals", "click", "rich", "pandas"})


def test_saying_the_version_imports_nothing_heavy():
    code = "import sys; from afterwit.cli import main; main(['--version']); print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run_python(code).split()}
    assert "click" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "sklearn", "narwhals", "rich", "pandas"})


def test_learning_does_not_import_the_solvers():
    code = "import sys, afterwit; afterwit.Perceptron().learn_one({'a': 1}, 1); print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run_python(code).split()}
    assert loaded.isdisjoint({"scipy", "sklearn", "narwhals", "click", "rich", "pandas"})


def test_all_modules_that_can_be_compiled_are_or_none_is():
    package = Path(afterwit.__file__).parent
    names = [
        ".".join(path.relative_to(package.parent).with_suffix("").parts)
        for path in package.rglob("*.py")
        if re.search("^import cython$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert "afterwit.linear.perceptron" in names
    for name in names:
        assert importlib.util.find_spec(name).origin.endswith(".py") is not afterwit.compiled, name


def test_every_public_name_is_there():
    for name in afterwit.__all__:
        assert getattr(afterwit, name) is not None
        assert name in dir(afterwit)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = afterwit.nonsense


def test_every_learner_is_public_and_has_theorems():
    for name in (*afterwit.LEARNERS, *afterwit.core.registry.classes("batch")):
        learner = getattr(afterwit, name)
        assert inspect.getdoc(learner)
        assert learner.theorems or learner.no_theorem_because


def test_public_modules_say_what_they_offer():
    for module in (
        "adversaries",
        "batch",
        "bounds",
        "concepts",
        "experts",
        "games",
        "hindsight",
        "kernels",
        "sklearn",
        "streams",
    ):
        package = importlib.import_module(f"afterwit.{module}")
        assert package.__doc__
        for name in package.__all__:
            assert name.isupper() or inspect.getdoc(getattr(package, name)), name


@pytest.mark.installed_only
def test_it_is_the_installed_package_with_its_types():
    assert "site-packages" in afterwit.__file__
    assert os.path.exists(os.path.join(os.path.dirname(afterwit.__file__), "py.typed"))


@pytest.mark.installed_only
def test_compiled_and_interpreted_are_the_same_to_the_last_bit():
    """One script, both forms of the package, equal digests of every state, score, file and certificate."""
    script = os.path.join(HERE, "both_forms.py")
    source = os.path.join(os.path.dirname(HERE), "src")
    outputs = []
    for environment in ({}, {"PYTHONPATH": source}):
        result = subprocess.run(
            [sys.executable, script], env={**os.environ, **environment}, capture_output=True, text=True, check=True
        )
        outputs.append(json.loads(result.stdout))
    compiled, interpreted = outputs
    assert compiled.pop("compiled") is True
    assert interpreted.pop("compiled") is False
    assert compiled == interpreted


@pytest.mark.installed_only
def test_without_a_compiler_or_if_it_fails_once_no_module_is_compiled(tmp_path):
    root = os.path.dirname(HERE)
    source = tmp_path / "source"
    shutil.copytree(
        os.path.join(root, "src"), source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(os.path.join(root, name), source)
    # What Cython has translated for the installed package it need not translate again.
    for built in glob.glob(os.path.join(root, "build", "temp.*")):
        shutil.copytree(built, source / "build" / os.path.basename(built), ignore=shutil.ignore_patterns("*.o"))
    fails_once = tmp_path / "cc"
    fails_once.write_text("""#!/bin/sh
case "$*" in *perceptron.c*) exit 1;; esac
while [ "$1" != -o ]; do shift; done
: > "$2"
""")
    fails_once.chmod(0o755)
    # What runs from a folder that is soon gone is not measured.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    options = ["--verbose", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    for compiler in ("/nowhere/cc", str(fails_once)):
        installed = tmp_path / "installed"
        install = subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, "--upgrade", "--target", str(installed), str(source)],
            env={**environment, "CC": compiler, "AFTERWIT_COMPILED": ""},
            check=True,
            capture_output=True,
            text=True,
        )
        assert "afterwit: NOT COMPILED" in install.stdout + install.stderr
        assert (installed / "afterwit" / "linear" / "perceptron.py").exists()
        assert not list(installed.rglob("*.so"))
        version = subprocess.run(
            [sys.executable, "-m", "afterwit", "--version"],
            env={**environment, "PYTHONPATH": str(installed)},
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert "(interpreted" in version
