"""Every exception this package raises on purpose.

AfterwitError
├── InputError              a parameter or a row is not what is allowed (also a ValueError)
│   ├── LabelError          a label that is not one of the learner's two
│   └── OptionError         an option that a learner does not have (also a TypeError)
├── DivergenceError         a round would make weights or scores infinite or NaN (also an ArithmeticError)
├── BusyError               a learner is called by what it calls itself (also a RuntimeError)
├── MissingExtraError       something needs a package that is not installed; names what to install (also an ImportError)
├── ClusterError            work on several machines cannot go on; says what was waited for (also a RuntimeError)
├── ServiceError            a request to a service cannot be done; knows the HTTP status and what to do
├── StreamError             a data file cannot be read; knows path and line (also a ValueError)
└── ModelFileError          a model file is corrupt, truncated, foreign or too new (also a ValueError)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class AfterwitError(Exception):
    """The root of the tree: catch this to catch them all."""


class InputError(AfterwitError, ValueError):
    """A parameter or a row is not what is allowed. Nothing has been changed."""


class LabelError(InputError):
    """A label is not one of the learner's two labels. Nothing has been changed."""


class OptionError(InputError, TypeError):
    """A learner was to be made with an option that it does not have."""


class DivergenceError(AfterwitError, ArithmeticError):
    """A round would make weights or scores infinite or NaN. The learner is as it was before that round."""


class BusyError(AfterwitError, RuntimeError):
    """A learner is called by code that it is calling itself. Nothing has been changed."""


class MissingExtraError(AfterwitError, ImportError):
    """Something needs a package that only some need, and that is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f"{what} need {package}, which is not installed: pip install 'afterwit[{extra}]'")


class ClusterError(AfterwitError, RuntimeError):
    """Work on several machines cannot go on: a worker was lost too often, or nothing happened for too long."""


class ServiceError(AfterwitError):
    """A request to a service cannot be done. Nothing has been stored, and nothing learned.

    status   the HTTP status that says so: 404 for what does not exist, 409 for a conflict, 422 for bad input, ...
    where    the field of the request that is wrong, such as ``[3].x.price``
    headers  what else the answer says, such as Retry-After
    """

    def __init__(self, status: int, message: str, where: str | None = None, headers: Any = None) -> None:
        self.status = status
        self.message = message
        self.where = where
        self.headers = dict(headers or {})
        super().__init__(message)


class StreamError(AfterwitError, ValueError):
    """A data file cannot be read: says which file, which line, what was found and what was expected."""

    def __init__(self, message: str, *, path: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.message = message
        super().__init__(path, line, message)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.message}"

    def __reduce__(self) -> Any:
        return _rebuild_stream_error, (self.message, self.path, self.line)


def _rebuild_stream_error(message: str, path: str, line: int | None) -> StreamError:
    return StreamError(message, path=path, line=line)


class ModelFileError(AfterwitError, ValueError):
    """A model file is corrupt, truncated, foreign, or written by a later version."""


class Words(str):
    """A description of what was received, shown as it is where a value would be shown by its ``repr``."""

    __slots__ = ()


def invalid(parameter: str, allowed: str, received: Any, kind: type[InputError] = InputError) -> InputError:
    """The one sentence in which every bad parameter is reported."""
    return kind(f"{parameter} must be {allowed}; received {shorten(received)}")


def unknown_option(of: str, name: str, known: Iterable[str]) -> OptionError:
    """The one sentence for an option that does not exist, with all that do."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    return OptionError(f"Unknown option {name!r} of {of}.{suggestion} Known: {', '.join(names) or 'none'}")


def require_known(kind: str, name: Any, known: Iterable[str]) -> None:
    """Refuse a name that does not exist, with the nearest one and the list of all."""
    names = list(known)
    if name not in names:
        near = difflib.get_close_matches(str(name).lower().replace("_", "-"), names, n=1)
        suggestion = f" Did you mean {near[0]}?" if near else ""
        raise InputError(f"unknown {kind} {shorten(name)}.{suggestion} Known: {', '.join(names)}")


def counted(number: int, noun: str) -> str:
    """1 example, 2 examples."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shorten(value: Any, limit: int = 80) -> str:
    """``repr(value)``, cut so that an error message stays one readable line."""
    text = " ".join((str(value) if isinstance(value, Words) else repr(value)).split())
    if len(text) <= limit:
        return text
    closing = text[-1] if text[-1] in "'\"" else ""
    return f"{text[: limit - 2]}…{closing}"
