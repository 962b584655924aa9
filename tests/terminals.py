"""Terminals for tests: real ones for real processes, and streams that say they are one."""

import fcntl
import io
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pyte

from conftest import environment

#: No process of a test takes so long.
PATIENCE = 120


class Session:
    """A process on a terminal of its own, and all that it has written there."""

    def __init__(self, arguments, cwd, width=80, height=50, stdin=None, stdout=None, **more):
        self.width, self.height = width, height
        self.output = b""
        self._terminal, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        env = {name: value for name, value in environment().items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "afterwit", *map(str, arguments)],
            cwd=cwd,
            env={**env, "TERM": "xterm-256color", **more},
            stdin=end if stdin is None else stdin,
            stdout=end if stdout is None else stdout,
            stderr=end,
        )
        os.close(end)
        self._deadline = time.monotonic() + PATIENCE

    def read_until(self, wanted=None):
        """Read until the text has come, or to the end."""
        while wanted is None or wanted.encode() not in self.output:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, self._deadline - time.monotonic()))
            if not ready:
                self.process.kill()
                raise AssertionError(f"nothing more came after {self.output[-500:]!r}")
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:  # how Linux reports that the other end is closed
                break
            if not chunk:
                break
            self.output += chunk

    def finish(self):
        """The exit code."""
        self.read_until()
        os.close(self._terminal)
        return self.process.wait(PATIENCE)

    def screen(self):
        """What is left on the screen."""
        screen = pyte.HistoryScreen(self.width, self.height, history=1000)
        pyte.ByteStream(screen).feed(self.output)
        return screen

    @property
    def lines(self):
        """What was printed and has stayed, from the first line on."""
        screen = self.screen()
        past = ["".join(line[x].data for x in range(self.width)) for line in screen.history.top]
        return [line.rstrip() for line in [*past, *screen.display]]


class Tty(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def isatty(self):
        return True

    @property
    def raw_text(self):
        return self.buffer.getvalue().decode()

    @property
    def text(self):
        """What was written, without colours."""
        return without_colours(self.raw_text)


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
