"""Run the examples of a page, in the order in which a reader meets them.

A page is Markdown. What runs in it, all in one empty folder:

- a block of ``python``, in one namespace for the whole page,
- a block of ``bash`` whose first command is ``afterwit``, in a shell that stops at the first error,
- a line ``<!-- picture: EXPRESSION -->``, whose value in that namespace is a picture.

The next block, if it is ``text``, is what the example prints. Blocks of any other kind, such as ``sh`` and ``console``,
are for reading only.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

STEP = re.compile(
    r"^```(?P<kind>\w+)[^\n]*\n(?P<code>.*?)^```$|^<!-- picture: (?P<picture>[^\n]+) -->$", re.MULTILINE | re.DOTALL
)


@dataclass
class Step:
    """A block of a page, or a line that asks for a picture; what came out of it, if it ran."""

    kind: str
    code: str
    #: Where the code is in the page.
    place: tuple[int, int]
    #: The block of text that says what it prints.
    said: Step | None = None
    printed: str | None = None
    picture: Any = None

    @property
    def runs(self) -> bool:
        return self.kind in ("python", "picture") or (self.kind == "bash" and self.code.startswith("afterwit "))


def steps(markdown: str) -> list[Step]:
    """The blocks of a page, and its pictures, in order."""
    found = []
    for match in STEP.finditer(markdown):
        part = "code" if match["picture"] is None else "picture"
        found.append(Step(match["kind"] or "picture", match[part], match.span(part)))
    blocks = [step for step in found if step.kind != "picture"]
    for step, following in itertools.pairwise(blocks):
        if step.runs and following.kind == "text":
            step.said = following
    return found


def run(markdown: str, namespace: dict[str, Any] | None = None) -> list[Step]:
    """The steps of a page, each run in an empty folder that is gone afterwards.

    namespace  where its names end up, for those who want to look at them
    """
    found = steps(markdown)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        # Classes that a page defines say that they are of its module, and dataclasses look for that.
        namespace = {} if namespace is None else namespace
        namespace["__name__"] = "__main__"
        for step in found:
            if step.kind == "picture":
                step.picture = eval(step.code, namespace)
                # A picture is drawn later, and what it shows may have to be read from this folder.
                step.picture.table()
            elif step.runs:
                step.printed = "".join(_shell(step.code) if step.kind == "bash" else _python(step.code, namespace))
    return found


def _python(code: str, namespace: dict[str, Any]) -> Iterator[str]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "<page>", "exec"), namespace)
    yield output.getvalue()


def _shell(code: str) -> Iterator[str]:
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    ran = subprocess.run(["bash", "-ec", code], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"exit code {ran.returncode} of\n{code}{ran.stderr}")
    yield ran.stdout


def rewritten(markdown: str) -> str:
    """The page with what its examples print put into the blocks of text that say it."""
    changed = [(step.said.place, step.printed) for step in run(markdown) if step.said and step.printed is not None]
    for (start, end), printed in reversed(changed):
        markdown = markdown[:start] + printed + markdown[end:]
    return markdown
