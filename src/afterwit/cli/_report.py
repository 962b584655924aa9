"""The report of a command: a page that takes its place when it is complete, as every other output."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

import click

from afterwit.cli._said import Voice
from afterwit.core.files import new_file

report_option = click.option(
    "--report",
    metavar="OUT",
    help="Write a report to OUT: one page of HTML with the numbers, the certificate and all pictures.",
)


class ReportFile:
    """The file of a report, opened before a long run, for a typo in its path must not cost one."""

    def __init__(self, path: str) -> None:
        # Only who asks for a report needs what draws it, and then before anything is done.
        from afterwit.pictures._matplotlib import matplotlib

        matplotlib()
        self.path = path
        self._opened = ExitStack()
        self._file = self._opened.enter_context(new_file(path))

    def write(self, title: str, parts: Sequence[Any], voice: Voice, found: dict[str, Any], lead: str = "") -> None:
        """Write the page, say where it is, and note it in what is printed as JSON."""
        from afterwit.pictures._page import page

        self._file.write(page(title, parts, lead, _command()).encode())
        self._opened.close()
        voice.say(f"\nreport: {self.path}")
        found["report"] = self.path

    def give_up(self) -> None:
        """Leave no file behind that was not written; one that was written stays."""
        with suppress(_NotWrittenError), self._opened:
            raise _NotWrittenError


class _NotWrittenError(Exception):
    """The command ended before there was anything to report."""


def report_file(path: str | None) -> ReportFile | None:
    """The file of the report, if there is to be one; given up when the command ends before it is written."""
    if path is None:
        return None
    opened = ReportFile(path)
    click.get_current_context().call_on_close(opened.give_up)
    return opened


def _command() -> str:
    """The command as it was typed."""
    arguments = click.get_current_context().find_root().obj
    return shlex.join(["afterwit", *arguments])
