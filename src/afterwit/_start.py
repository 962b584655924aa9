"""The first moments of the command ``afterwit``, before anything large is imported."""

import importlib
import os
import signal
from typing import Any, NoReturn


def start() -> None:
    """Run the command line. Until it is imported, Ctrl-C ends the process: nothing has begun."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end)
    importlib.import_module("afterwit.cli").main()


def end(number: int, _frame: Any) -> NoReturn:
    """End the process at once: raised in the middle of an import, Ctrl-C comes out as an error of numpy's."""
    os.write(2, b"afterwit: interrupted\n")
    os._exit(128 + number)
