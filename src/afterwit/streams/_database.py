"""A DuckDB of one's own: in memory, without the network, with a folder of its own for what does not fit into memory."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import duckdb

Result = TypeVar("Result")

#: Nothing is fetched from the network, and a name in a query is never a variable of the program.
SETTINGS: dict[str, Any] = {"autoinstall_known_extensions": False, "python_enable_replacements": False}
EXTENSION = re.compile(r"""(?:required extension|requires the extension|exists in the) ["']?(\w+)""")


class Database:
    """A connection, and the folder that is removed when it is closed."""

    def __init__(self, file: str = ":memory:", memory: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="afterwit-"))
        # Also if nobody closes it, and at the end of the process.
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        try:
            place = file if file == ":memory:" else str(self.folder / file)
            self.connection = duckdb.connect(place, config=SETTINGS)
            self.set("enable_progress_bar", False)
            self.set("arrow_large_buffer_size", True)
            self.set("TimeZone", "UTC")
            self.set("temp_directory", str(self.folder / "spilled"))
            if memory is not None:
                self.set("memory_limit", memory)
        except BaseException:
            self._remove()
            raise

    def set(self, name: str, value: str | bool | int) -> None:
        written = literal(value) if isinstance(value, str) else str(value).lower()
        self.connection.execute(f"SET {name} = {written}")

    def run(self, work: Callable[[], Result]) -> Result:
        """Do something with the connection that may take long: Ctrl-C ends it."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        # DuckDB does not notice a signal while it makes a stream. So it works elsewhere, and this thread waits.
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work)
            try:
                return result.result()
            except KeyboardInterrupt:
                self.connection.interrupt()
                raise

    def close(self) -> None:
        self.connection.close()
        self._remove()


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def reason(error: Exception) -> str:
    """The first line of what DuckDB says: its hints and the picture of the query are left out."""
    text = str(error).strip()
    # Behind a stream of Arrow data there is the name of a C function before the message.
    text = re.sub(r"^ArrowArrayStream::\w+\(\) failed \(-?\d+\): ", "", text)
    line = text.splitlines()[0] if text else type(error).__name__
    return line.strip().rstrip(".:")


def missing_extension(error: Exception) -> str | None:
    """The extension of DuckDB that is needed and not there."""
    found = EXTENSION.search(str(error))
    return found[1] if found else None
