"""A plugin of pytest for mutants.py: note which lines each test runs, or run chosen tests in a given order.

    MUTANTS_SEEN=out.json   write for each test its seconds and, by file, the lines of the package that it ran
    MUTANTS_CHOSEN=in.json  run these tests only, in this order

Lines run outside of any test, by imports and fixtures, are noted under the name "": every test of the file may depend
on them. Lines are the bits of a number, in hexadecimal.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest


class Seen:
    """Which lines each test runs."""

    def __init__(self, sources: Path, out: Path) -> None:
        self.sources, self.out = sources, out
        self.seconds: dict[str, float] = {}
        self.coverage = coverage.Coverage(
            data_file=None, config_file=False, branch=False, include=[f"{sources}/*"], messages=False
        )
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.coverage.switch_context(item.nodeid)
        begin = time.monotonic()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = round(time.monotonic() - begin, 3)
            self.coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        lines: dict[str, dict[str, int]] = {}
        for path in data.measured_files():
            file = str(Path(path).relative_to(self.sources))
            for line, tests in data.contexts_by_lineno(path).items():
                for test in tests:
                    of_test = lines.setdefault(test, {})
                    of_test[file] = of_test.get(file, 0) | 1 << line
        written = {
            "seconds": self.seconds,
            "lines": {test: {file: f"{bits:x}" for file, bits in each.items()} for test, each in lines.items()},
        }
        self.out.write_text(json.dumps(written))


class Chosen:
    """Only these tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )


def pytest_configure(config: pytest.Config) -> None:
    if out := os.environ.get("MUTANTS_SEEN"):
        config.pluginmanager.register(Seen(config.rootpath / "src" / "afterwit", Path(out)))
    if chosen := os.environ.get("MUTANTS_CHOSEN"):
        config.pluginmanager.register(Chosen(json.loads(Path(chosen).read_text())))
