"""Learners and their options, as they are written on a command line."""

from __future__ import annotations

import ast
from typing import Any

from afterwit._catalogue import learner_class, options_of
from afterwit.errors import invalid


def make_learner(name: str, options: tuple[str, ...], labels: Any) -> Any:
    """The learner of that name, with options written as NAME=VALUE."""
    kind = learner_class(name, "--learner")
    allowed = options_of(kind)
    given: dict[str, Any] = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals or key not in allowed:
            wanted = " or ".join(f"{option}=VALUE" for option in allowed)
            raise invalid("--option", f"{wanted} for {name}", text)
        if key in given:
            raise invalid("--option", f"given once for {key}", text)
        given[key] = _value(value)
    return kind(**given, labels=labels)


def _value(text: str) -> Any:
    """A number, True, False, None or a sequence where it looks like one, otherwise the text itself."""
    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
