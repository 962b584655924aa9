"""The target of a table, and the task it makes: two labels, many classes or numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import InputError, Words, invalid, shorten
from afterwit.streams.batch import Batch, Booleans, Column, Form, Numbers, Other, Texts, Times
from afterwit.streams.columns import numbers_in
from afterwit.streams.libsvm import labels_as_written

#: What there is to learn: which of two labels, which of many classes, or a number.
TASKS = ("binary", "classes", "regression")
#: More different whole numbers than this are numbers to predict, not classes.
MOST_CLASSES = 20


@dataclass(frozen=True)
class Target:
    """The column to predict, and as what its cells are read."""

    column: str
    form: Form

    def of(self, batch: Batch) -> tuple[Any, npt.NDArray[np.bool_]]:
        """What there was to predict in each row of a block, and which rows say it."""
        column = batch.columns[self.column]
        if isinstance(column, Texts):
            if self.form == "number":
                numbers = numbers_in(column, self.column, batch)
                return numbers, ~np.isnan(numbers)
            if self.form != "text" and (column.codes >= 0).any():
                row = int(np.argmax(column.codes >= 0))
                raise batch.refusal(row, self.column, f"a {self.form}", shorten(column.words[column.codes[row]]))
            words = np.empty(len(column.words) + 1, dtype=object)
            words[:-1], words[-1] = column.words, None
            return words[column.codes], column.codes >= 0
        if isinstance(column, (Times, Other)):
            found = "a time" if isinstance(column, Times) else f"a {column.kind}"
            raise batch.refusal(0, self.column, "labels or numbers to predict", found)
        known = ~np.isnan(column.values)
        if isinstance(column, Booleans):
            return column.values > 0, known
        return column.values, known


def labels_in(values: Any) -> npt.NDArray[Any]:
    """Known labels as learners take them: whole numbers are 1, not 1.0."""
    return labels_as_written(values) if values.dtype == np.float64 else values


def task_of(labels: Iterable[Any]) -> str:
    """The task by the different labels at the beginning."""
    found = list(labels)
    if len(found) <= 2 or any(isinstance(label, (str, bool)) for label in found):
        return "binary" if len(found) <= 2 else "classes"
    whole = all(float(label).is_integer() for label in found)
    return "classes" if whole and len(found) <= MOST_CLASSES else "regression"


def checked_task(task: Any) -> str | None:
    """One of the tasks, or None to find out."""
    if task is not None and task not in TASKS:
        raise invalid("task", f"one of {', '.join(TASKS)}", task)
    return None if task is None else str(task)


def pair_of(found: list[Any], which: str) -> tuple[Any, Any]:
    """The two labels, of the one or two that were found: the smaller one is negative."""
    if len(found) == 2:
        first, second = sorted(found)
        return first, second
    only = found[0]
    if isinstance(only, bool):
        return (False, True)
    if only in (-1, 0):
        return (only, 1)
    if only == 1:
        return (-1, 1)
    example = f"0,{only}" if isinstance(only, (int, float)) else f"other,{only}"
    raise InputError(f"{which} are {only}; give the two labels with --labels, such as --labels {example}")


def different(labels: Any, found: list[Any]) -> list[Any]:
    """The labels found so far with those that are new, in their order."""
    listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    return [*found, *(label for label in dict.fromkeys(listed) if label not in found)]


def target_form(column: Column, name: str, typed: bool, holds: str) -> Form:
    """As what the cells of a target are read; ``holds`` is what its texts seem to be."""
    if isinstance(column, Numbers):
        return "number"
    if isinstance(column, Booleans):
        return "boolean"
    if isinstance(column, Texts):
        if holds == "number":
            return "number"
        return "boolean" if holds == "boolean" and not typed else "text"
    kind = "times" if isinstance(column, Times) else f"a {column.kind}"
    raise invalid("target", "a column of labels or numbers", Words(f"{name}, a column of {kind}"))
