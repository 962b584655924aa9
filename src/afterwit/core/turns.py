"""Whose turn it is: the lock of a learner, and what long loops do between two rounds.

A learner serves one caller at a time. Names, values, kernels and losses may run code of the user's; if that code calls
the learner that is reading them, it gets an error, where an ordinary lock would wait for itself.

Long loops run in slices. Between two of them, when all that is learned is that of whole rounds, they call `breathe`: it
raises KeyboardInterrupt if Ctrl-C was pressed, and lets a fork pass. A fork waits for the end of the slices in which
other threads learn, so the child finds every learner after a whole round. Locks that are held by threads which do
not exist in the child are free there.

Compiled code is never interrupted in between. Python is, after any instruction: around its loops Ctrl-C is noted, and
waits for the next `breathe`. Who presses it a second time does not wait.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import cython

from afterwit.errors import BusyError

if cython.compiled:
    from cython.cimports.cpython.exc import PyErr_CheckSignals
    from cython.cimports.cpython.pythread import PyThread_get_thread_ident
    from cython.cimports.libc.time import CLOCKS_PER_SEC, clock
else:
    from threading import get_ident as PyThread_get_thread_ident  # noqa: N812 - the name it has in C
    from time import process_time as clock

    CLOCKS_PER_SEC = 1

#: The interpreter's own functions: those of `signal` look for enum members, which takes as long as a round.
handlers: Any = sys.modules.get("_signal", signal)
SIGINT = int(signal.SIGINT)

#: How many seconds of work there are between two looks at signals.
SLICE = 0.04
#: How many rounds the first part has of a block that is learned in parts.
FIRST_PART = 512
#: How many seconds a fork waits for other threads at most; a round of a user's own functions may take for ever.
PATIENCE = 2.0

#: How many forks lie between the first process and this one, and the only thread that came along with the last.
_process = cython.declare(cython.longlong, 0)
_survivor = cython.declare(cython.longlong, 0)
#: How many threads are about to fork, and how many loops every thread is in.
_forking = cython.declare(cython.int, 0)
_looping = cython.declare(dict, {})
#: How many loops in Python the main thread is in, who handles Ctrl-C otherwise, and the call that waits for it.
_holding = cython.declare(cython.int, 0)
_handler = cython.declare(object, None)
_noted = cython.declare(object, None)


@cython.cclass
class Mutex:
    """A lock that knows nothing; after a fork another one takes its place."""

    def __init__(self) -> None:
        if not cython.compiled:
            self.held = cython.pymutex()


@cython.cclass
class Lock:
    """One caller at a time; a second call in the same thread is an error, or goes through if it is ``reentrant``."""

    def __init__(self, reentrant: bool = False) -> None:
        self._mutex = Mutex()
        self._reentrant = reentrant
        self._owner = 0
        self._depth = 0
        self._process = _process

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def acquire(self) -> cython.int:
        """Wait until it is free; 1 if it was left behind by a thread of another process, 0 otherwise."""
        left_behind: cython.int = 0
        me: cython.longlong = PyThread_get_thread_ident()
        if self._process != _process:
            if self._owner != _survivor:
                # Also where it has no owner: a thread that waited may have got it just before it could say so.
                self._mutex = Mutex()
                left_behind = self._owner != 0
                self._owner = 0
            self._process = _process
        if self._owner == me:
            if self._reentrant:
                self._depth += 1
                return 0
            raise BusyError(
                "this learner is busy with a call in the same thread; names, values, kernels, losses and signal "
                "handlers must not use the learner that calls them"
            )
        self._mutex.held.acquire()
        self._owner = me
        self._depth = 1
        return left_behind

    @cython.cfunc
    @cython.exceptval(check=False)
    def release(self) -> cython.void:
        self._depth -= 1
        if self._depth == 0:
            self._owner = 0
            self._mutex.held.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: Any) -> None:
        self.release()


# ---------------------------------------------------------------------- long loops


@cython.cfunc
@cython.exceptval(-1, check=False)
def begin_rounds() -> cython.int:
    """From here to `end_rounds` no other thread forks but in `breathe`; call it between two rounds."""
    me: cython.longlong = PyThread_get_thread_ident()
    depth: cython.int = _looping.get(me, 0)
    if depth == 0 and _forking:
        _let_forks_pass()
    _looping[me] = depth + 1
    if not cython.compiled:
        _hold_signals()
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def end_rounds() -> cython.void:
    me: cython.longlong = PyThread_get_thread_ident()
    depth: cython.int = _looping.get(me, 0)
    if depth > 1:
        _looping[me] = depth - 1
    else:
        _looping.pop(me, None)
    if not cython.compiled:
        _let_signals_go()


class Rounds:
    """`begin_rounds` and `end_rounds` around a loop in Python."""

    def __enter__(self) -> None:
        begin_rounds()
        if cython.compiled:
            _hold_signals()

    def __exit__(self, *_: Any) -> None:
        end_rounds()
        if cython.compiled:
            _let_signals_go()


def breathe() -> None:
    """Between two rounds of a long loop: Ctrl-C is raised here, and a fork goes first."""
    if cython.compiled:
        PyErr_CheckSignals()
    me: cython.longlong = PyThread_get_thread_ident()
    # Inside another loop a learner may be between two rounds, and what it is part of not.
    if _looping.get(me, 0) > 1:
        return
    if _forking:
        end_rounds()
        begin_rounds()
    if _noted is not None and _is_main_thread():
        _deliver()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def seconds() -> cython.double:
    """What the processor has worked: time that is spent waiting is nobody's loop."""
    return cython.cast(cython.double, clock()) / CLOCKS_PER_SEC


def parts(count: int) -> Iterator[tuple[int, int]]:
    """Rounds in parts that take about a slice each, for learners made of learners: `breathe` between two of them."""
    begin, size = 0, FIRST_PART
    while begin < count:
        start = time.perf_counter()
        end = min(count, begin + size)
        yield begin, end
        begin = end
        took = time.perf_counter() - start
        size = 2 * size if took < SLICE / 2 else max(1, size // 2) if took > 2 * SLICE else size
        if begin < count:
            breathe()


# ---------------------------------------------------------------------- Ctrl-C


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _hold_signals() -> None:
    global _holding, _handler
    if _is_main_thread():
        if _holding == 0:
            _handler = handlers.getsignal(SIGINT)
            if callable(_handler):
                handlers.signal(SIGINT, _note)
        _holding += 1


def _let_signals_go() -> None:
    global _holding
    if _is_main_thread():
        _holding -= 1
        if _holding == 0:
            if callable(_handler):
                handlers.signal(SIGINT, _handler)
            if _noted is not None:
                _deliver()


def _note(number: int, frame: Any) -> None:
    global _noted
    if _noted is not None:
        _deliver()
    _noted = (number, frame)


def _deliver() -> None:
    global _noted
    number, frame = _noted
    _noted = None
    _handler(number, frame)


# ---------------------------------------------------------------------- forks


def _let_forks_pass() -> None:
    end = time.monotonic() + PATIENCE
    while _forking and time.monotonic() < end:
        time.sleep(0.001)


def _before_fork() -> None:
    global _forking
    _forking += 1
    me = PyThread_get_thread_ident()
    end = time.monotonic() + PATIENCE
    while any(thread != me for thread in list(_looping)) and time.monotonic() < end:
        time.sleep(0.001)


def _after_fork_in_parent() -> None:
    global _forking
    _forking -= 1


def _after_fork_in_child() -> None:
    global _forking, _process, _survivor
    _forking = 0
    _process += 1
    _survivor = PyThread_get_thread_ident()
    for thread in list(_looping):
        if thread != _survivor:
            del _looping[thread]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
