"""The one place where the user's labels become −1/+1 and back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.values import is_masked_array
from afterwit.errors import InputError, LabelError, Words, invalid

Signs = npt.NDArray[np.int8]

#: The labels where nothing says otherwise.
PLAIN = (-1, 1)


class Labels:
    """Two distinct labels, the negative one first.

    >>> labels = Labels(("ham", "spam"))
    >>> labels.signs(["ham", "spam", "spam"])
    array([-1,  1,  1], dtype=int8)
    >>> labels.decode(labels.signs(["ham", "spam"])).tolist()
    ['ham', 'spam']
    >>> labels.signs(["ham", "eggs"])
    Traceback (most recent call last):
        ...
    afterwit.errors.LabelError: y[1] must be 'ham' or 'spam'; received 'eggs' (for more than two labels, use OneVsRest)
    """

    __slots__ = ("_array", "_signs", "negative", "positive")

    def __init__(self, labels: Any) -> None:
        pair = labels.pair if isinstance(labels, Labels) else labels
        allowed = "a pair of two different labels, the negative one first, such as (0, 1) or ('ham', 'spam')"
        if isinstance(pair, (str, bytes, Mapping, set, frozenset)):
            raise invalid("labels", allowed, labels)
        try:
            negative, positive = (plain_label(label) for label in pair)
            signs: dict[Hashable, int] = {negative: -1, positive: +1}
        except (TypeError, ValueError):
            raise invalid("labels", allowed, labels) from None
        if len(signs) != 2 or negative != negative or positive != positive:
            raise invalid("labels", allowed, labels)
        self.negative = negative
        self.positive = positive
        self._signs = signs
        # Other labels than two numbers keep their types in an array of objects; numpy would turn them into strings.
        numbers = type(negative) is type(positive) and isinstance(negative, (bool, int, float))
        array = np.array([negative, positive]) if numbers else np.empty(2, dtype=object)
        array[:] = negative, positive
        self._array = array

    @property
    def pair(self) -> tuple[Any, Any]:
        return (self.negative, self.positive)

    @property
    def lookup(self) -> Mapping[Hashable, int]:
        """Label -> −1 or +1."""
        return MappingProxyType(self._signs)

    def refusal(self, label: Any, position: int | None = None) -> InputError:
        where = "y" if position is None else f"y[{position}]"
        label = plain_label(label)
        problem = invalid(where, f"{self.negative!r} or {self.positive!r}", label)
        others = certain_pair(label)
        if self.pair != PLAIN:
            remedy = "for more than two labels, use OneVsRest"
        elif others:
            remedy = f"for these labels, use labels={others}"
        else:
            remedy = "for other labels, use labels=(negative, positive); for more than two, OneVsRest"
        return LabelError(f"{problem} ({remedy})")

    def signs(self, labels: Any, first: int = 0) -> Signs:
        """−1 and +1 for many labels (a sequence, an array, or a column of any DataFrame library).

        ``first`` is the number of the first label, for messages about part of a longer sequence.
        """
        labels = listed(labels)
        if not isinstance(labels, np.ndarray):
            return self._signs_of_objects(labels, first)
        numbers = isinstance(self.negative, (int, float)) and isinstance(self.positive, (int, float))
        if not (labels.dtype.kind in "biuf" and numbers):
            return self._signs_of_objects(labels.tolist(), first)
        positive = labels == self.positive
        known = positive | (labels == self.negative)
        if not known.all():
            position = int(np.argmin(known))
            raise self.refusal(labels[position], first + position)
        signs: Signs = 2 * positive.view(np.int8) - np.int8(1)
        return signs

    def _signs_of_objects(self, labels: Any, first: int) -> Signs:
        try:
            return np.array([self._signs[label] for label in labels], dtype=np.int8)
        except (KeyError, TypeError):
            for position, label in enumerate(labels):
                try:
                    self._signs[label]
                except (KeyError, TypeError):
                    raise self.refusal(label, first + position) from None
            raise

    def decode(self, signs: Signs) -> npt.NDArray[Any]:
        """The user's labels for an array of −1 and +1."""
        if self._array.dtype == object:
            return self._array[(signs > 0).astype(np.intp)]
        decoded: npt.NDArray[Any] = np.where(signs > 0, self._array[1], self._array[0])
        return decoded

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self.pair == other.pair

    def __hash__(self) -> int:
        return hash(self.pair)

    def __repr__(self) -> str:
        return f"Labels({self.pair!r})"


def certain_pair(label: Any) -> tuple[Any, Any] | None:
    """The two labels of which this is certainly one: booleans, 0 and 1, or -1 and 1. 1 alone may be of two kinds."""
    label = plain_label(label)
    if isinstance(label, bool):
        return (False, True)
    if isinstance(label, (int, float)):
        return {0.0: (0, 1), -1.0: PLAIN}.get(label)
    return None


def labels_of(y: Any) -> Labels:
    """The labels of a learner that was made without: by the first in y that leaves no doubt, or else -1 and 1."""
    return Labels(first_certain_pair(y) or PLAIN)


def first_certain_pair(y: Any) -> tuple[Any, Any] | None:
    """The labels by the first in y that leaves no doubt; None if there is none."""
    y = listed(y)
    if isinstance(y, np.ndarray) and y.dtype.kind in "iuf" and len(y):
        # Nothing but the first label that is not 1 can tell.
        y = y[int(np.argmax(y != 1)) :][:1]
    found = (certain_pair(label) for label in y)
    return next((pair for pair in found if pair is not None), None)


def listed(labels: Any, what: str = "labels") -> Any:
    """Many labels, or what else y may be, as a sequence or a 1-D array, whatever they came as."""
    if isinstance(labels, Sequence) and not isinstance(labels, (str, bytes)):
        return labels
    if hasattr(labels, "to_pylist"):  # pyarrow, whose strings have no numpy form
        return labels.to_pylist()
    if not isinstance(labels, np.ndarray):
        if not hasattr(labels, "to_numpy"):
            raise invalid("y", f"a sequence or a 1-D array of {what}", labels)
        labels = labels.to_numpy()
    if is_masked_array(labels):
        raise invalid("y", "without a mask", Words("a masked array"))
    if labels.ndim != 1:
        raise invalid("y", "one-dimensional", Words(f"an array of shape {labels.shape}"))
    return labels


def plain_label(label: Any) -> Any:
    """A numpy scalar as the Python object it stands for, and -0.0 as 0.0, which is the same label."""
    label = label.item() if isinstance(label, np.generic) else label
    return 0.0 if type(label) is float and label == 0 else label
