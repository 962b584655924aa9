"""States of many small learners in little room: what they look like once, and the numbers of each as bytes.

A state is a dict of numbers, arrays, names and lists. Its *form* is all of it but the numbers: names, types, lengths.
Learners of the same kind with the same features have the same form, so that a million of them need their numbers and
one form. Nothing is rounded: `unpack` gives back what was packed, to the bit and the type.

>>> form, numbers = pack({"rounds": 3, "weights": np.array([0.5, -1.0]), "names": ["a", "b"]})
>>> len(numbers), unpack(form, numbers)
(24, {'rounds': 3, 'weights': array([ 0.5, -1. ]), 'names': ['a', 'b']})
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from afterwit.data.values import is_masked_array
from afterwit.errors import InputError, Words, counted, invalid, shorten

#: What a form begins with: a number, or what others are in, or what is the same in all states of this form.
WHOLE, REAL, ARRAY, LIST, TUPLE, DICT, SAME, TEXTS = "int", "float", "array", "list", "tuple", "dict", "same", "texts"
_WHOLE, _REAL = struct.Struct("<q"), struct.Struct("<d")
#: What fits into eight bytes.
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: No learner has as deep a state.
DEEPEST = 20

Form = tuple[Any, ...]


class CannotPackError(Exception):
    """A state has something in it that is neither a number nor a name."""


def pack(state: Any) -> tuple[Form, bytes]:
    """The form of a state and its numbers; CannotPackError if it has something else in it."""
    parts: list[bytes] = []
    return _form_of(state, parts), b"".join(parts)


def _form_of(value: Any, parts: list[bytes]) -> Form:
    kind = type(value)
    if kind is int:
        if _LEAST <= value <= _MOST:
            parts.append(_WHOLE.pack(value))
            return (WHOLE,)
        return (SAME, value)
    if kind is float:
        if not math.isfinite(value):
            raise CannotPackError
        parts.append(_REAL.pack(value))
        return (REAL,)
    if kind is np.ndarray:
        if value.dtype.kind not in "biuf" or not np.isfinite(value).all():
            raise CannotPackError
        kept = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        parts.append(kept.tobytes())
        return (ARRAY, kept.dtype.str, value.shape)
    if value is None or kind in (bool, str):
        return (SAME, value)
    if kind is dict and all(type(name) is str for name in value):
        return (DICT, tuple(value), tuple([_form_of(each, parts) for each in value.values()]))
    if kind is list and value and all(type(each) is str for each in value):
        return (TEXTS, tuple(value))
    if kind in (list, tuple):
        return (LIST if kind is list else TUPLE, tuple([_form_of(each, parts) for each in value]))
    raise CannotPackError


def unpack(form: Form, numbers: Any, at: int = 0) -> Any:
    """The state with this form and these numbers, which begin at a place."""
    return _value_of(form, numbers, at)[0]


def _value_of(form: Form, numbers: Any, at: int) -> tuple[Any, int]:
    kind = form[0]
    if kind == WHOLE:
        return _WHOLE.unpack_from(numbers, at)[0], at + 8
    if kind == REAL:
        return _REAL.unpack_from(numbers, at)[0], at + 8
    if kind == ARRAY:
        count = math.prod(form[2])
        array = np.frombuffer(numbers, dtype=form[1], count=count, offset=at).reshape(form[2])
        return array.astype(array.dtype.newbyteorder("=")), at + array.nbytes
    if kind == SAME:
        return form[1], at
    if kind == TEXTS:
        return list(form[1]), at
    values = []
    for each in form[2] if kind == DICT else form[1]:
        value, at = _value_of(each, numbers, at)
        values.append(value)
    if kind == DICT:
        return dict(zip(form[1], values, strict=True)), at
    return (values if kind == LIST else tuple(values)), at


def size_of(form: Any, depth: int = 0) -> int:
    """How many bytes the numbers of a form take; anything that is no form is refused."""
    try:
        kind, *rest = form if type(form) is tuple and depth < DEEPEST else ("",)
        if kind in (WHOLE, REAL) and not rest:
            return 8
        if kind == SAME and len(rest) == 1 and (rest[0] is None or type(rest[0]) in (bool, str, int)):
            return 0
        if kind == TEXTS and all(type(each) is str for each in rest[0]) and len(rest) == 1:
            return 0
        if kind == ARRAY and _is_array(*rest):
            return int(np.dtype(rest[0]).itemsize * math.prod(rest[1]))
        if kind in (LIST, TUPLE) and len(rest) == 1:
            return sum(size_of(each, depth + 1) for each in rest[0])
        if kind == DICT and len(rest) == 2 and _are_names(rest[0], len(rest[1])):
            return sum(size_of(each, depth + 1) for each in rest[1])
    except (TypeError, ValueError, IndexError):
        pass
    raise invalid("forms", "those of states", form)


def _are_names(names: Any, count: int) -> bool:
    return all(type(name) is str for name in names) and len(set(names)) == len(names) == count


def _is_array(dtype: Any, shape: Any) -> bool:
    known = type(dtype) is str and dtype[:1] in "<|" and np.dtype(dtype).kind in "biuf" and np.dtype(dtype).str == dtype
    return known and type(shape) is tuple and all(type(each) is int and 0 <= each < 1 << 48 for each in shape)


class Forms:
    """Different forms, by their numbers."""

    def __init__(self) -> None:
        self.all: list[Form] = []
        self._numbers: dict[Form, int] = {}

    def number(self, form: Form) -> int:
        """The number of a form."""
        found = self._numbers.setdefault(form, len(self.all))
        if found == len(self.all):
            self.all.append(form)
        return found


def table_of(packed: Sequence[tuple[Form, Any]]) -> dict[str, Any]:
    """Packed states as a few arrays, which are saved fast: the same states make the same table."""
    forms = Forms()
    which = np.array([forms.number(form) for form, _ in packed], dtype=np.int64)
    numbers = np.frombuffer(b"".join([each for _, each in packed]), dtype=np.uint8)
    return {"forms": forms.all, "form": which, "numbers": numbers}


def packed_in(table: dict[str, Any], count: int) -> list[tuple[Form, bytes]]:
    """The packed states in a table; refused if it is not one of so many."""
    forms, which, numbers = table["forms"], table["form"], table["numbers"]
    if not isinstance(forms, list):
        raise invalid("forms", "a list of the forms of states", forms)
    sizes = np.array([size_of(form) for form in forms], dtype=np.int64)
    for name, array, dtype in (("form", which, np.int64), ("numbers", numbers, np.uint8)):
        if type(array) is not np.ndarray or is_masked_array(array) or array.dtype != dtype or array.ndim != 1:
            raise invalid(name, f"an array of {np.dtype(dtype).name}", Words(shorten(array)))
    if len(which) != count or not ((which >= 0) & (which < len(forms))).all():
        raise invalid("form", f"the number of a form for each of {counted(count, 'state')}", Words("others"))
    ends = np.cumsum(sizes[which])
    if len(numbers) != (int(ends[-1]) if count else 0):
        raise InputError(f"numbers must be as many bytes as the forms say; received {len(numbers):,}")
    held = numbers.tobytes()
    borders = [0, *ends.tolist()]
    return [(forms[form], held[borders[i] : borders[i + 1]]) for i, form in enumerate(which.tolist())]


def joined_tables(tables: Sequence[dict[str, Any]], order: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """States from several tables as one, in this order: the number of the table and the place in it of each."""
    states = [packed_in(table, len(table["form"])) for table in tables]
    return table_of([states[table][place] for table, place in order])
