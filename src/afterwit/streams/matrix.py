r"""libsvm text as a sparse matrix, in memory.

>>> import io
>>> X, y = read_libsvm(io.BytesIO(b"+1 1:0.5 3:2\n-1 2:1\n"))
>>> X.toarray().tolist(), y.tolist()
([[0.0, 0.5, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0]], [1, -1])

Column j is the feature with the id j, as in a model of ``afterwit run``. scikit-learn's loader counts columns from 0
where the file counts from 1; this is the same with ``first_id=1``:

>>> X, y = read_libsvm(io.BytesIO(b"+1 1:0.5 3:2\n-1 2:1\n"), first_id=1)
>>> X.toarray().tolist()
[[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from afterwit.data.rows import LARGEST_POSITION, read_many, stack
from afterwit.errors import StreamError, Words, invalid
from afterwit.streams.libsvm import LibsvmStream, checked_first_id

#: How many rows are read at once.
BLOCK = 1 << 16


class LibsvmMatrix(csr_array):
    """A CSR matrix whose columns are the ids of libsvm text.

    A learner that has learned ids takes it, and refuses other matrices: their columns may be counted in another way.
    Its rows, one or some, are of this kind too. Some of its columns, products with it, and what it is converted to
    (such as ``X.tocsc()`` or ``X.toarray()``) are ordinary.
    """

    columns_are_ids = True

    def __getitem__(self, key: Any) -> Any:
        found = csr_array(self)[key]
        last = key[-1] if isinstance(key, tuple) and len(key) > 1 else ...
        rows_only = last is ... or (isinstance(last, slice) and last == slice(None))
        # A mask of the whole matrix, and what is taken from a row, are no rows.
        rows_only = rows_only and self.ndim == 2 and getattr(key, "ndim", 0) < 2 and issparse(found)
        return LibsvmMatrix(found) if rows_only and found.shape[-1:] == self.shape[-1:] else found

    def __matmul__(self, other: Any) -> Any:
        return csr_array(self) @ other


def read_libsvm(source: Any, first_id: Any = None) -> tuple[Any, npt.NDArray[Any]]:
    """All examples of a libsvm file: a sparse matrix X and the labels y.

    source    a path (plain, gzip or zstd), "-" for standard input, or a binary file object
    first_id  the id of the first column, 0 or 1: X is then an ordinary matrix whose columns are counted from 0. If not
              given, column j is the feature with the id j, and X is a `LibsvmMatrix`, as models of ``afterwit run``
              and learners of a `LibsvmStream` take it.
    """
    blocks = []
    stream = LibsvmStream(source, first_id)
    with stream.reader(kept=True) as reader:
        while (block := reader.take(BLOCK)) is not None:
            blocks.append(block)
    if not blocks:
        raise StreamError("no examples were found", path=stream.name)
    rows = stack([rows for rows, _ in blocks])
    kind = csr_array if stream.first_id is not None else LibsvmMatrix
    X = kind((rows.values, rows.columns, rows.starts), shape=(rows.count, rows.width))
    X.sort_indices()
    kinds = {labels.dtype for _, labels in blocks}
    y = np.concatenate([labels if len(kinds) == 1 else labels.astype(object) for _, labels in blocks])
    return X, y


def as_ids(X: Any, first_id: Any) -> LibsvmMatrix:
    """A matrix whose columns are counted from 0 as one by ids: column j becomes the id ``first_id + j``.

    X is anything by position that learners take. Use it to predict with a model of ``afterwit run``.
    """
    first = checked_first_id("first_id", first_id)
    rows = read_many(X)
    if rows.names is not None or rows.ids:
        raise invalid("X", "a matrix whose columns are counted from 0", Words("names" if rows.names else "ids"))
    matrix = csr_array(rows.matrix())
    if matrix.shape[1] > LARGEST_POSITION + 1 - first:
        raise invalid("X", f"of at most {LARGEST_POSITION:,} columns", Words(f"{matrix.shape[1]:,}"))
    shape = (matrix.shape[0], matrix.shape[1] + first)
    return LibsvmMatrix((matrix.data, matrix.indices + first, matrix.indptr), shape=shape)
