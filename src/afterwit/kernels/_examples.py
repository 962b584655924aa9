"""Reading examples for kernels: vectors as all learners read them, and sets, strings, or anything at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import rows as _rows
from afterwit.data.room import require_room
from afterwit.data.rows import Rows, as_mapping, is_matrix_or_frame, members_as_features, number
from afterwit.errors import Words, invalid

MANY_STRINGS = "a sequence or a 1-D array of strings"


@dataclass(frozen=True)
class KernelExamples:
    """Checked examples: rows of features, for every kind of feature; and, if a function needs them, the examples.

    ``form`` is dense or sparse (features by position), named, texts or objects.
    """

    count: int
    form: str
    #: Rows of features; those of vectors under None, those of strings under the length of the substrings.
    parts: dict[int | None, Rows] = field(default_factory=dict)
    objects: list[Any] | None = None
    first: int = 0
    single: bool = False

    def part(self, begin: int, end: int) -> KernelExamples:
        return replace(
            self,
            count=end - begin,
            parts={kind: rows.part(begin, end) for kind, rows in self.parts.items()},
            objects=None if self.objects is None else self.objects[begin:end],
            first=self.first + begin,
        )

    def place(self, i: int) -> str:
        return "x" if self.single else f"X[{self.first + i}]"


class ExampleMatrices:
    """Examples as matrices of numpy and scipy: what the second evaluation of a kernel works on."""

    def __init__(self, examples: KernelExamples) -> None:
        self.examples = examples
        self._matrices: dict[int | None, Any] = {}

    def features(self, part: int | None = None) -> Any:
        if part not in self._matrices:
            self._matrices[part] = self.examples.parts[part].matrix()
        return self._matrices[part]

    def objects(self, at: Any) -> list[Any]:
        return list(self._objects[at])

    @cached_property
    def _objects(self) -> npt.NDArray[Any]:
        assert self.examples.objects is not None
        array = np.empty(self.examples.count, dtype=object)
        for i, each in enumerate(self.examples.objects):
            array[i] = each
        return array


def inner_products(a: Any, b: Any) -> npt.NDArray[np.float64]:
    products = a @ b.T
    dense: npt.NDArray[np.float64] = products.toarray() if hasattr(products, "toarray") else products
    return dense


def squared_distances(a: Any, b: Any) -> Any:
    if not hasattr(a, "indptr"):
        from scipy.spatial.distance import cdist

        return cdist(a, b, "sqeuclidean") if a.shape[1] else np.zeros((a.shape[0], b.shape[0]))
    squares = [np.asarray(each.multiply(each).sum(axis=1)).reshape(-1) for each in (a, b)]
    return np.maximum(0.0, squares[0][:, None] + squares[1][None, :] - 2.0 * inner_products(a, b))


# ---------------------------------------------------------------------- reading


def read_many(kernel: Any, X: Any) -> KernelExamples:
    """Check many examples for a kernel; nothing is left to be checked later."""
    if isinstance(X, KernelExamples):
        return X
    if kernel.takes == "strings":
        return texts(kernel, _strings(X))
    if kernel.takes == "anything":
        return _anything(X)
    if isinstance(X, Sequence) and not isinstance(X, (str, bytes)) and any(isinstance(x, (set, frozenset)) for x in X):
        X = [members_as_features(x) if isinstance(x, (set, frozenset)) else x for x in X]
    return vectors(kernel, _rows.read_many(X))


def read_one(kernel: Any, x: Any) -> KernelExamples:
    """One example in the same form."""
    if isinstance(x, KernelExamples):
        return x
    if kernel.takes == "strings":
        if not isinstance(x, str):
            raise invalid("x", "a string", x)
        return replace(texts(kernel, [str(x)]), single=True)
    if kernel.takes == "anything":
        return KernelExamples(1, "objects", objects=[x], single=True)
    x = members_as_features(x) if isinstance(x, (set, frozenset)) else as_mapping(x)
    if not isinstance(x, dict):
        return vectors(kernel, _rows.read_one(x))
    values = np.array([number(f"x[{name!r}]", value) for name, value in x.items()], dtype=np.float64)
    columns, starts = np.arange(len(x), dtype=np.int32), np.array([0, len(x)], dtype=np.int64)
    return vectors(kernel, Rows(1, len(x), values, columns, starts, names=list(x), single=True))


def vectors(kernel: Any, rows: Rows) -> KernelExamples:
    """Rows of numbers as examples."""
    rows.require_finite()
    objects = [rows.row(i) for i in range(rows.count)] if kernel.functions else None
    form = "named" if rows.names is not None else "dense" if rows.starts is None else "sparse"
    return KernelExamples(rows.count, form, {None: rows}, objects, rows.first, rows.single)


def texts(kernel: Any, strings: list[str]) -> KernelExamples:
    """Strings as examples: for every length the kernel asks for, the substrings of each."""
    parts: dict[int | None, Rows] = {length: _substrings(strings, length) for length in kernel.lengths}
    return KernelExamples(len(strings), "texts", parts, strings)


def _substrings(strings: list[str], length: int) -> Rows:
    require_room("support", sum(length * max(0, len(text) - length + 1) for text in strings))
    positions: dict[str, int] = {}
    columns: list[int] = []
    starts = [0]
    for text in strings:
        different = dict.fromkeys(text[i : i + length] for i in range(len(text) - length + 1))
        columns += [positions.setdefault(part, len(positions)) for part in different]
        starts.append(len(columns))
    return Rows(
        len(strings),
        len(positions),
        np.ones(len(columns)),
        np.array(columns, dtype=np.int32),
        np.array(starts, dtype=np.int64),
        names=list(positions),
    )


def _strings(X: Any) -> list[str]:
    if isinstance(X, (str, bytes)):
        raise invalid("X", MANY_STRINGS, X)
    if hasattr(X, "to_pylist"):  # pyarrow
        X = X.to_pylist()
    elif isinstance(X, np.ndarray) or hasattr(X, "to_numpy"):
        if getattr(X, "ndim", 1) != 1:
            raise invalid("X", MANY_STRINGS, Words(f"an array of shape {X.shape}"))
        X = X.tolist() if isinstance(X, np.ndarray) else X.to_list()
    if not isinstance(X, Sequence):
        raise invalid("X", MANY_STRINGS, X)
    for i, text in enumerate(X):
        if not isinstance(text, str):
            raise invalid(f"X[{i}]", "a string", text)
    return [str(text) for text in X]


def _anything(X: Any) -> KernelExamples:
    if isinstance(X, Rows) or is_matrix_or_frame(X):
        rows = _rows.read_many(X)
        return KernelExamples(rows.count, "objects", objects=[rows.row(i) for i in range(rows.count)], first=rows.first)
    if isinstance(X, np.ndarray) and X.ndim > 0:
        return KernelExamples(len(X), "objects", objects=list(X))
    if not isinstance(X, Sequence) or isinstance(X, (str, bytes)):
        raise invalid("X", "a sequence or an array of examples", X)
    return KernelExamples(len(X), "objects", objects=list(X))
