"""Learners and their options as they are written on the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from afterwit.core.registry import by_command_name, classifier_names, makes_itself, options_of, regressor_names
from afterwit.errors import invalid, require_known, unknown_option
from afterwit.kernels._written import written_kernel
from afterwit.reductions.per_group import PerGroup
from afterwit.streams.stream import Stream


def learner_names() -> list[str]:
    """The names of all learners of labelled examples: of labels and of numbers."""
    return sorted([*classifier_names(), *regressor_names()])


def make_learner(name: str, options: tuple[str, ...], labels: Any) -> Any:
    """The learner of that name, with options written as NAME=VALUE; one of numbers needs no labels."""
    kind = learner_kind(name)
    given = read_options(name, options, options_of(kind))
    return kind(**given) if kind.role == "regressor" else kind(**given, labels=labels)


def learner_kind(name: str) -> Any:
    """The class of that name; only a name that does not exist needs all others to be imported."""
    kind = by_command_name(name)
    if kind is None or not makes_itself(kind):
        require_known("learner", name, learner_names())
    return kind


#: The learner for a task if none is named.
DEFAULTS = {"binary": "committee", "classes": "multiclass-committee", "regression": "regression-committee"}


def needed_task(name: str | None) -> tuple[str | None, bool]:
    """The task that a learner is for, None for any; and whether it takes more than two labels."""
    if name is None:
        return None, True
    kind = learner_kind(name)
    if kind.role == "regressor":
        return "regression", False
    return ("classes" if kind.many_labels else "binary"), kind.many_labels


def learner_for(stream: Stream, name: str | None, options: tuple[str, ...]) -> tuple[Any, str]:
    """A fresh learner for a stream, and its name: the default one of the task, if none is named."""
    assert stream.task is not None
    name = name or DEFAULTS[stream.task]
    needed, _ = needed_task(name)
    if needed != stream.task:
        fitting = {"binary": "of two labels", "classes": "of many labels", "regression": "of numbers"}
        allowed = f"one {fitting[stream.task]}, as the task is {stream.task}, such as {DEFAULTS[stream.task]}"
        raise invalid("--learner", allowed, name)
    learner = make_learner(name, options, stream.labels)
    return (learner if stream.schema.group is None else PerGroup(learner)), name


def read_options(name: str, options: tuple[str, ...], allowed: Iterable[str]) -> dict[str, Any]:
    """Options written as NAME=VALUE, of the learner or algorithm of that name."""
    given: dict[str, Any] = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals:
            raise invalid("--option", "NAME=VALUE, such as rate=0.5", text)
        if key not in allowed:
            raise unknown_option(name, key, allowed)
        if key in given:
            raise invalid(f"--option {key}", "given only once", text)
        given[key] = written_kernel(value, "--option kernel") if key == "kernel" else _value(value)
    return given


def _value(text: str) -> Any:
    """A number, True, False, None or a sequence if the text looks like one, otherwise the text itself."""
    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
