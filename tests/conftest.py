import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

import afterwit
from afterwit.testing import SEED

INTERPRETED = os.environ.get("AFTERWIT_EXPECT") == "interpreted"

# The same examples in every run: a failure today is a failure tomorrow.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    print_blob=True,
    max_examples=25 if INTERPRETED else 100,
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


def environment():
    """For a process started in another folder: the same form of the package as here."""
    paths = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.path.abspath(paths)} if paths else dict(os.environ)


@pytest.fixture
def run_cli(tmp_path):
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
