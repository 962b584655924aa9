"""What can be asked of the engine: plain data, checked for form before it is made.

An example x is a record (a dict of values by column), a list of numbers, or the advice of experts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from afterwit.errors import ServiceError, shorten

#: What names of models are; so no name is a path or needs quoting in one.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def model_name(name: Any) -> str:
    """The name of a model, or a refusal."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        allowed = "1 to 100 letters, digits, '.', '_' or '-', beginning with a letter or a digit"
        raise ServiceError(422, f"the name of a model must be {allowed}; received {shorten(name)}", "model")
    return name


@dataclass(frozen=True, slots=True)
class Operation:
    """Something the engine does to one model, in order of arrival."""

    model: str


@dataclass(frozen=True, slots=True)
class Create(Operation):
    """Make a model of a learner of the catalogue; the same again is no news, other options are a conflict."""

    learner: str
    options: dict[str, Any]
    schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Upload(Operation):
    """Make a model of a model file."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Freeze(Operation):
    """Let a model predict and learn no more, or learn again."""

    frozen: bool


@dataclass(frozen=True, slots=True)
class Delete(Operation):
    """Remove a model and its log."""


@dataclass(frozen=True, slots=True)
class Predict(Operation):
    """Predict examples, each an (id or None, x), and keep them until their labels come."""

    items: list[tuple[str | None, Any]]


@dataclass(frozen=True, slots=True)
class Label(Operation):
    """Labels of examples that were predicted, each an (id, y)."""

    items: list[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class Learn(Operation):
    """Examples with their labels, each an (id or None, x, y)."""

    items: list[tuple[str | None, Any, Any]]
