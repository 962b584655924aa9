"""Many labels: the classes a learner knows, their numbers, and labels that are new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.labels import listed, plain_label
from afterwit.errors import LabelError, invalid, shorten

Codes = npt.NDArray[np.intp]


def different_labels(parameter: str, labels: Any) -> tuple[Any, ...]:
    """Two or more labels, each of which may come."""
    allowed = "two or more different labels, such as ('cat', 'dog', 'bird')"
    if isinstance(labels, (str, bytes, Mapping, set, frozenset)):
        raise invalid(parameter, allowed, labels)
    try:
        plain = tuple(plain_label(label) for label in labels)
        different = len(set(plain)) == len(plain) >= 2 and all(label == label for label in plain)
    except TypeError:
        different = False
    if not different:
        raise invalid(parameter, allowed, labels)
    return plain


class Classes:
    """The classes in the order in which they came; ``allowed`` are the only ones that may come, None if any may."""

    def __init__(self, labels: Iterable[Any], allowed: tuple[Any, ...] | None) -> None:
        self.labels = list(labels)
        self._codes = {label: code for code, label in enumerate(self.labels)}
        self._allowed = allowed

    def __len__(self) -> int:
        return len(self.labels)

    def joined(self, new: Iterable[Any]) -> Classes:
        """These and further ones."""
        return Classes([*self.labels, *new], self._allowed)

    def first(self, count: int) -> Classes:
        """Only the first of them."""
        return Classes(self.labels[:count], self._allowed)

    def code(self, label: Any) -> int | None:
        """The number of a label's class; None for a label that has to be read: it is new, or none."""
        try:
            return self._codes.get(label)
        except TypeError:
            return None

    def read(self, y: Any, first: int | None) -> tuple[Codes, dict[Any, int]]:
        """The number of every label's class, and the first position of each label that is new.

        ``first`` is the number of the first label, for messages; None for a single one.
        """
        y = listed(y)
        labels = y.tolist() if isinstance(y, np.ndarray) else y
        known = self._codes
        try:
            return np.array([known[label] for label in labels], dtype=np.intp), {}
        except (KeyError, TypeError):
            pass
        codes = np.empty(len(labels), dtype=np.intp)
        new: dict[Any, int] = {}
        order: dict[Any, int] = dict(known)
        for i, label in enumerate(labels):
            where = "y" if first is None else f"y[{first + i}]"
            try:
                code = order.get(label)
            except TypeError:
                raise invalid(where, "a hashable label", label, LabelError) from None
            if code is None:
                if self._allowed is not None:
                    raise invalid(where, f"one of {shorten(self._allowed)}", plain_label(label), LabelError)
                if label != label:
                    raise invalid(where, "a label that is equal to itself", label, LabelError)
                code = order[plain_label(label)] = len(order)
                new[plain_label(label)] = i
            codes[i] = code
        return codes, new

    def decode(self, codes: Codes) -> npt.NDArray[Any]:
        """The labels of many predictions: numbers if all classes are numbers of one kind, otherwise objects.

        The code -1, before any class is known, stands for None.
        """
        kinds = {type(label) for label in self.labels}
        if len(kinds) == 1 and kinds <= {bool, int, float} and (codes >= 0).all():
            return np.array(self.labels)[codes]
        objects = np.empty(len(self.labels) + 1, dtype=object)
        for code, label in enumerate(self.labels):
            objects[code] = label
        return objects[codes]
