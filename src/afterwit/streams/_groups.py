"""Whose each row is: the column of a table with the names of groups, as text, whatever a source has it as."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import invalid
from afterwit.streams.batch import Batch, Other, Texts, Times

NAME = "the name of a group"


def groups_in(batch: Batch, name: str) -> npt.NDArray[Any]:
    """The name of the group of every row; each must have one."""
    column = batch.columns[name]
    if isinstance(column, Other):
        raise batch.refusal(0, name, NAME, f"a {column.kind}")
    if isinstance(column, Texts):
        missing = column.codes < 0
        names = np.empty(len(column.words) + 1, dtype=object)
        names[:-1], names[-1] = column.words, ""
        found = names[column.codes]
    elif isinstance(column, Times):
        missing = np.isnat(column.values)
        found = column.values.astype(str).astype(object)
    else:
        missing = np.isnan(column.values)
        plain = column.values.tolist() if not missing.any() else []
        truths = not hasattr(column, "whole")
        found = np.array([group_name(value > 0 if truths else value) for value in plain], dtype=object)
    if missing.any():
        raise batch.refusal(int(np.argmax(missing)), name, NAME, "nothing")
    return found


def group_name(value: Any) -> str:
    """The name of the group in a cell: text as it is, numbers and truth values as they are written."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and value == value):
        return str(int(value)) if float(value).is_integer() else str(value)
    raise invalid("the group", "a name: text or a number", value)
