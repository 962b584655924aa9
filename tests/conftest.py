import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

import afterwit
from afterwit.cli import main
from afterwit.testing import SEED
from browser import MISSING, Browser, chromium

INTERPRETED = os.environ.get("AFTERWIT_EXPECT") == "interpreted"

#: How many examples Hypothesis tries where a test does not say it; more of them for a deeper search.
EXAMPLES = int(os.environ.get("AFTERWIT_EXAMPLES", 8 if INTERPRETED else 40))

#: Whether a failing example is made small before it is shown; tools/mutants.py only wants to know that there is one.
SHRINK = os.environ.get("AFTERWIT_SHRINK", "1") != "0"

# The same examples in every run: a failure today is a failure tomorrow.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    print_blob=True,
    max_examples=EXAMPLES,
    phases=tuple(Phase) if SHRINK else (Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")


def pytest_configure(config):
    config.addinivalue_line("markers", "installed_only: about the installed package, not about its sources")


def pytest_report_header():
    how = "compiled" if afterwit.compiled else "interpreted"
    return [
        f"afterwit: {how}, {os.path.dirname(afterwit.__file__)}",
        f"seeds: conformance {SEED}, hypothesis derandomized",
    ]


@pytest.fixture(scope="session", autouse=True)
def the_right_package():
    assert afterwit.compiled is not INTERPRETED, f"this run is for the other form; afterwit is {afterwit.__file__}"


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """matplotlib keeps what is drawn on axes of its own, and warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, one process for all tests."""
    if chromium() is None:
        pytest.skip(MISSING)
    with Browser() as started:
        yield started


def environment():
    """For a process started in another folder: the same form of the package as here."""
    paths = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.path.abspath(paths)} if paths else dict(os.environ)


@dataclass
class Finished:
    """What a command has done, as `subprocess.run` returns it."""

    returncode: int
    stdout: Any
    stderr: Any


def only_json(result):
    """The one JSON object that is all of standard output, in JSON as the standard has it: without NaN and Infinity."""
    assert (result.returncode, result.stdout.count("\n")) == (0, 1), result.stderr
    found = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert isinstance(found, dict)
    return found


@pytest.fixture
def run_cli(tmp_path, monkeypatch):
    """Run a command in this process, in an empty folder, with everything a process has: arguments, files, streams."""

    def run(*arguments, stdin=None, cwd=tmp_path):
        content = stdin if isinstance(stdin, bytes) else (stdin or "").encode()
        streams = {"stdin": io.TextIOWrapper(io.BytesIO(content))}
        streams |= {name: io.TextIOWrapper(io.BytesIO(), write_through=True) for name in ("stdout", "stderr")}
        returncode = 0
        with monkeypatch.context() as patches:
            patches.chdir(cwd)
            # What `main` does about signals is for a process of its own.
            patches.setattr("afterwit.cli.signal.signal", lambda *_: None)
            for name, stream in streams.items():
                patches.setattr(sys, name, stream)
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as stopped:
                returncode = stopped.code or 0
        outputs = [streams[name].buffer.getvalue() for name in ("stdout", "stderr")]
        return Finished(returncode, *(outputs if isinstance(stdin, bytes) else [each.decode() for each in outputs]))

    return run


@pytest.fixture
def run_process(tmp_path):
    """Run the real command in a real process, in an empty folder."""

    def run(*arguments, stdin=None, cwd=tmp_path, timeout=120):
        return subprocess.run(
            [sys.executable, "-m", "afterwit", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=not isinstance(stdin, bytes),
            cwd=cwd,
            env=environment(),
            timeout=timeout,
            check=False,
        )

    return run
