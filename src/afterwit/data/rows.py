"""Reading examples: whatever the user has, as flat arrays the engine can run over.

A block of examples is held as one flat array of values and, unless the rows are dense and their features are
positions, an array of columns beside it:

    dense       2-D array: values row after row; feature j is position j
    sparse      scipy sparse rows, `SparseRow`: row i is values[starts[i]:starts[i+1]] in columns[...]
    named       DataFrame (values dense, one column map for all rows) or a list of dicts (sparse over local names)

Positions of a sparse row ascend. One that was there more than once has the sum of its values, as in scipy.

Shapes, types and positions are checked here. That all values are finite is checked by ``Rows.require_finite``,
which the caller runs when it suits: it costs a pass over the data.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from afterwit.data._arrays import are_ascending, finite_row, float_row
from afterwit.data.labels import Labels, Signs
from afterwit.data.values import is_masked_array
from afterwit.errors import InputError, Words, counted, invalid

Floats = npt.NDArray[np.float64]
Columns = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]

MANY = "a 2-D array, a scipy sparse matrix, a DataFrame or a sequence of dicts"
#: A weight vector over all positions up to this one takes 2 GiB.
LARGEST_POSITION = 2**28 - 1
INT32 = np.dtype(np.int32)
FRAME_LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf", "ibis", "duckdb")


class SparseRow(NamedTuple):
    """One example by its non-zero positions: ``SparseRow(columns, values)``."""

    columns: Any
    values: Any


class IdRow(SparseRow):
    """A sparse row of libsvm text, whose columns are the ids in the file."""

    __slots__ = ()


@dataclass(frozen=True)
class Rows:
    """Examples as flat arrays: float64 values, positions in range."""

    count: int
    width: int
    values: Floats
    columns: Columns | None = None
    starts: Starts | None = None
    names: list[Any] | None = field(default=None, repr=False)
    single: bool = False
    #: The number of the first row, where these are part of more.
    first: int = 0
    #: Each row ends at its own last position, and ``width`` is that of the widest.
    ragged: bool = False
    #: Whether columns are the ids of libsvm text, or positions in an array; None where it is left to the caller.
    ids: bool | None = False
    #: Whose each row is, where they have groups: an array of names.
    groups: Any = field(default=None, repr=False)

    def require_finite(self) -> None:
        """Refuse NaN and infinity, naming the first one's place."""
        if len(self.values) < 256 and finite_row(self.values) is not None:
            return
        # One fast pass decides nearly always; a sum that overflows falls through to the exact test.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(self.values.sum()) or np.isfinite(self.values).all():
                return
        raise self.refusal(int(np.argmin(np.isfinite(self.values))), "a finite number")

    def are_moderate(self, most: float) -> bool:
        """Whether all values are finite and at most so large."""
        return bool(self.values.max(initial=0.0) <= most and self.values.min(initial=0.0) >= -most)

    def refusal(self, at: int, allowed: str) -> InputError:
        """What to raise for the value at a position of ``values`` that is not what is allowed."""
        if self.starts is None:
            i, k = divmod(at, self.width)
            j = k if self.columns is None else int(self.columns[k])
        else:
            assert self.columns is not None
            i = int(np.searchsorted(self.starts, at, side="right")) - 1
            j = int(self.columns[at])
        return invalid(self.place(i, j), allowed, float(self.values[at]))

    def place(self, i: int, j: int) -> str:
        """Feature j of row i, as messages call it."""
        feature = j if self.names is None else self.names[j]
        return f"x[{feature!r}]" if self.single else f"X[{self.first + i}, {feature!r}]"

    def part(self, begin: int, end: int) -> Rows:
        """Rows begin to end, without copying their values."""
        groups = None if self.groups is None else self.groups[begin:end]
        if self.starts is None:
            values = self.values[begin * self.width : end * self.width]
            return replace(self, count=end - begin, values=values, first=self.first + begin, groups=groups)
        assert self.columns is not None
        first, last = int(self.starts[begin]), int(self.starts[end])
        columns, names, width = self.columns[first:last], self.names, self.width
        if names is not None:
            # Only the names that occur here, in the order in which they do.
            present, firsts, codes = np.unique(columns, return_index=True, return_inverse=True)
            order = np.argsort(firsts)
            ranks = np.empty(len(order), dtype=np.int32)
            ranks[order] = np.arange(len(order), dtype=np.int32)
            names, columns, width = [names[j] for j in present[order].tolist()], ranks[codes], len(order)
        elif self.ragged:
            width = int(columns.max()) + 1 if len(columns) else 0
        return replace(
            self,
            count=end - begin,
            width=width,
            values=self.values[first:last],
            columns=columns,
            starts=self.starts[begin : end + 1] - first,
            names=names,
            first=self.first + begin,
            groups=groups,
        )

    def at(self, index: npt.NDArray[np.intp]) -> Rows:
        """These rows, in this order; some perhaps more than once."""
        groups = None if self.groups is None else self.groups[index]
        if self.starts is None:
            values = self.values.reshape(self.count, self.width)[index].reshape(-1)
            return replace(self, count=len(index), values=values, groups=groups)
        assert self.columns is not None
        lengths = np.diff(self.starts)[index]
        starts = np.append(0, np.cumsum(lengths)).astype(np.int64)
        entries = np.arange(starts[-1]) + np.repeat(self.starts[:-1][index] - starts[:-1], lengths)
        chosen = {"values": self.values[entries], "columns": self.columns[entries], "starts": starts}
        picked = replace(self, count=len(index), **chosen, groups=groups)
        return replace(picked.part(0, len(index)), first=self.first)

    def row(self, i: int) -> Any:
        """Row i as ``learn_one`` takes it: a dict if there are names, an array if dense, else a `SparseRow`."""
        part = self.part(i, i + 1)
        if self.names is not None:
            assert part.columns is not None
            assert part.names is not None
            return {part.names[j]: value for j, value in zip(part.columns, part.values.tolist(), strict=True)}
        if part.starts is None:
            return part.values
        return (IdRow if self.ids else SparseRow)(part.columns, part.values)

    def matrix(self) -> Any:
        """The same examples as a scipy CSR array or a 2-D numpy array, features in this block's own order."""
        if self.starts is None:
            return self.values.reshape(self.count, self.width)
        from scipy.sparse import csr_array

        matrix = csr_array((self.values, self.columns, self.starts), shape=(self.count, self.width))
        if not matrix.has_canonical_format:
            # The features of dicts come in any order.
            matrix = matrix.copy()
            matrix.sort_indices()
        return matrix


def is_matrix(X: Any) -> bool:
    """Whether it is an array, a sparse matrix or a DataFrame: examples without their labels."""
    return isinstance(X, np.ndarray) or _is_scipy_sparse(X) or _is_frame(X)


def _is_frame(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in FRAME_LIBRARIES


def read_many(X: Any) -> Rows:
    """Check and flatten many examples."""
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.ndarray):
        return _read_dense(X, "X")
    if _is_scipy_sparse(X):
        return _read_scipy(X, "X", _columns_are_ids(X))
    if _is_frame(X):
        return _read_frame(X)
    if isinstance(X, Sequence) and not isinstance(X, (str, bytes, SparseRow)):
        if len(X) and all(isinstance(row, Mapping) or _is_series(row) for row in X):
            return _read_dicts([as_mapping(row) for row in X])
        if len(X) and all(isinstance(row, SparseRow) for row in X):
            return stack([_read_sparse_row(row, f"X[{i}]") for i, row in enumerate(X)])
        return _read_dense(_as_array(X, "X", MANY), "X")
    if hasattr(X, "__array__"):
        return _read_dense(_as_array(X, "X", MANY), "X")
    raise invalid("X", MANY, X)


def read_examples(X: Any, y: Any, labels: Any) -> tuple[Rows, Signs]:
    """Checked rows and signs."""
    rows = read_many(X)
    rows.require_finite()
    signs = Labels(labels).signs(y)
    if len(signs) != rows.count:
        raise invalid("y", f"as long as X ({counted(rows.count, 'row')})", Words(counted(len(signs), "label")))
    return rows, signs


def read_one(x: Any) -> Rows:
    """Check and flatten one example that is not a dict."""
    allowed = "a dict, a 1-D array or a sparse row"
    if isinstance(x, SparseRow):
        return _read_sparse_row(x, "x")
    if _is_scipy_sparse(x):
        ids = _columns_are_ids(x)
        if x.ndim == 1:
            x = x.reshape(1, -1)
        if x.shape[0] != 1:
            raise invalid("x", "one sparse row", Words(f"a sparse matrix of {x.shape[0]} rows"))
        return _read_scipy(x, "x", ids)
    if isinstance(x, (str, bytes, Mapping, set, frozenset)) or not (hasattr(x, "__array__") or isinstance(x, Sequence)):
        raise invalid("x", allowed, x)
    array = _as_array(x, "x", allowed)
    if array.ndim != 1:
        raise invalid("x", "one-dimensional", Words(f"an array of shape {array.shape}"))
    return _read_dense(array.reshape(1, -1), "x")


def sparse_row(x: Any) -> Any:
    """Columns (int32), values (float64) and width of one sparse row as it is stored; None if that needs more of a look.

    That columns are in range and values finite is left to the caller. A `SparseRow` is as wide as its last column says:
    None.
    """
    if type(x) is SparseRow:
        return _stored(x.columns, x.values, None)
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or type(x) not in (sparse.csr_matrix, sparse.csr_array):
        return None
    shape, starts, values = x.shape, x.indptr, x.data
    if len(shape) != 2 or shape[0] != 1 or shape[1] > LARGEST_POSITION or starts.tolist() != [0, len(values)]:
        return None
    return _stored(x.indices, values, shape[1])


def _stored(columns: Any, values: Any, width: Any) -> Any:
    values = float_row(values)
    if values is None or type(columns) is not np.ndarray or columns.dtype is not INT32 or columns.ndim != 1:
        return None
    return (columns, values, width) if len(columns) == len(values) else None


def as_mapping(x: Any) -> Any:
    """A Series or any Mapping as a dict; everything else as it came."""
    if type(x) is np.ndarray:  # the most frequent, and what follows is slow
        return x
    if isinstance(x, Mapping):
        return dict(x)
    if _is_series(x):
        if not x.index.is_unique:
            raise invalid("x", "a Series whose names are all different", Words("repeated names"))
        return x.to_dict()
    return x


def _is_series(x: Any) -> bool:
    """A row of a pandas DataFrame: names with values."""
    return type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "to_dict") and hasattr(x, "index")


def members_as_features(x: Any) -> dict[Any, float]:
    """A set as features of value 1; sorted, because the order of a set of strings differs from run to run."""
    return dict.fromkeys(sorted(x, key=lambda member: (type(member).__name__, repr(member))), 1.0)


def plain_name(name: Any) -> Any:
    """A feature's name as a Python object, also where it came as a scalar of numpy."""
    return name.item() if isinstance(name, np.generic) else name


def number(where: str, value: Any) -> float:
    """A feature's value as a float; strings, None and other non-numbers are refused, never parsed."""
    if not isinstance(value, (str, bytes, bytearray)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise invalid(where, "a finite number", value)


def wrong_space(learned: str, received: str) -> InputError:
    """What to raise for features by name where a learner has learned positions, and the other way round."""
    allowed = {
        "positions": "an array or sparse rows, because this learner has learned features by position",
        "names": "a dict, a DataFrame or a sequence of dicts, because this learner has learned features by name",
        "ids": "what aw.read_libsvm(path) or streams.as_ids(X, first_id) returns, because this learner has learned the "
        "ids of libsvm text",
        "columns": "an array or sparse rows with columns counted from 0, such as aw.read_libsvm(path, first_id=1) "
        "returns, because this learner has learned such columns",
    }
    return invalid("x", allowed[learned], Words(received))


def require_columns(rows: Rows) -> None:
    """Refuse rows by id, for learners that know nothing but columns counted from 0."""
    if rows.ids:
        allowed = (
            "an array or sparse rows with columns counted from 0, such as aw.read_libsvm(path, first_id=1) returns"
        )
        raise invalid("X", allowed, Words("the ids of libsvm text"))


def _is_scipy_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def is_matrix_or_frame(X: Any) -> bool:
    """Whether it is a sparse matrix of scipy or a DataFrame."""
    return _is_scipy_sparse(X) or type(X).__module__.partition(".")[0] in FRAME_LIBRARIES


def _as_array(X: Any, parameter: str, allowed: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(X)
    except (TypeError, ValueError):
        raise invalid(parameter, allowed, X) from None


def _read_dense(X: npt.NDArray[Any], parameter: str) -> Rows:
    if is_masked_array(X) and np.ma.is_masked(X):
        raise invalid(parameter, "without masked entries", Words("a masked array"))
    if X.ndim != 2:
        if X.size == 0 and X.ndim == 1:
            X = X.reshape(0, 0).astype(np.float64)
        else:
            raise invalid(parameter, "two-dimensional", Words(f"an array of shape {X.shape}"))
    if X.dtype.kind not in "biuf":
        raise invalid(parameter, "an array of numbers", Words(f"an array of dtype {X.dtype}"))
    values = np.ascontiguousarray(X, dtype=np.float64).reshape(-1)
    return Rows(X.shape[0], X.shape[1], values, single=parameter == "x")


def _columns_are_ids(X: Any) -> bool:
    """Whether it is a matrix, or a row, of `read_libsvm`."""
    return bool(getattr(X, "columns_are_ids", False))


def _read_scipy(X: Any, parameter: str, ids: bool) -> Rows:
    allowed = "a well-formed sparse matrix"
    if X.ndim != 2:
        raise invalid(parameter, "two-dimensional", Words(f"a sparse array of shape {X.shape}"))
    if X.format in ("csc", "bsr"):
        # Converting a malformed one could crash scipy.
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise invalid(parameter, allowed, Words(f"{X.format}: {error}")) from None
    X = X.tocsr()
    if X.data.dtype.kind not in "biuf":
        raise invalid(parameter, "a sparse matrix of numbers", Words(f"a sparse matrix of dtype {X.data.dtype}"))
    count, width = X.shape
    parts = (X.indptr, X.indices, X.data)
    if any(part.ndim != 1 for part in parts) or any(part.dtype.kind not in "iu" for part in parts[:2]):
        raise invalid(parameter, allowed, Words("row pointers or columns that are not whole numbers"))
    starts = np.array(X.indptr, dtype=np.int64)
    if len(starts) != count + 1:
        raise invalid(parameter, allowed, Words(f"{len(starts)} row pointers for {counted(count, 'row')}"))
    stored = int(starts[-1])
    if starts[0] != 0 or stored > len(X.data) or stored > len(X.indices) or (starts[1:] < starts[:-1]).any():
        raise invalid(parameter, allowed, Words("row pointers that do not ascend"))
    indices = X.indices[:stored]
    if stored and indices.dtype.itemsize == 8 and not 0 <= indices.min() <= indices.max() <= LARGEST_POSITION:
        raise invalid(parameter, f"{allowed} with columns from 0 to {LARGEST_POSITION:,}", Words("others"))
    # A copy: the loops take it without looking, and another thread may write to the caller's array.
    columns = np.array(indices, dtype=np.int32)
    # Seen as unsigned, a negative position is huge: one pass checks both ends.
    if stored and int(columns.view(np.uint32).max()) >= width:
        raise invalid(parameter, allowed, Words(f"a column outside 0..{width - 1}"))
    values = np.ascontiguousarray(X.data[:stored], dtype=np.float64)
    columns, values, starts = ascending(columns, values, starts)
    return Rows(count, min(width, LARGEST_POSITION + 1), values, columns, starts, single=parameter == "x", ids=ids)


def ascending(columns: Columns, values: Floats, starts: Starts) -> tuple[Columns, Floats, Starts]:
    """The same sparse rows, whose positions ascend; one that is there more than once has the sum of its values."""
    if are_ascending(columns, starts):
        return columns, values, starts
    row_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((columns, row_of))
    columns, values = columns[order], values[order]
    first = np.append(True, (columns[1:] != columns[:-1]) | (row_of[1:] != row_of[:-1]))
    sums = np.zeros(np.count_nonzero(first))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with its place
        np.add.at(sums, np.cumsum(first) - 1, values)
    lengths = np.bincount(row_of[first], minlength=len(starts) - 1)
    return columns[first], sums, np.append(0, np.cumsum(lengths)).astype(np.int64)


def _read_sparse_row(x: SparseRow, parameter: str) -> Rows:
    columns = _as_array(x.columns, f"{parameter}.columns", "a 1-D array of positions")
    values = _as_array(x.values, f"{parameter}.values", "a 1-D array of numbers")
    if columns.ndim != 1 or values.ndim != 1 or len(columns) != len(values):
        shapes = f"columns of shape {columns.shape} and values of shape {values.shape}"
        raise invalid(parameter, "a sparse row with one value per column", Words(shapes))
    # A copy: the loops take it without looking, and another thread may write to the caller's array.
    columns = columns.astype(np.int32) if len(columns) == 0 else columns.copy()
    if columns.dtype.kind not in "iu":
        raise invalid(f"{parameter}.columns", "an array of integers", Words(f"an array of dtype {columns.dtype}"))
    if values.dtype.kind not in "biuf":
        raise invalid(f"{parameter}.values", "an array of numbers", Words(f"an array of dtype {values.dtype}"))
    if len(columns) and (columns.min() < 0 or columns.max() > LARGEST_POSITION):
        bad = columns.min() if columns.min() < 0 else columns.max()
        raise invalid(f"{parameter}.columns", f"positions from 0 to {LARGEST_POSITION:,}", int(bad))
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    width = int(columns.max()) + 1 if len(columns) else 0
    starts = np.array([0, len(columns)], dtype=np.int64)
    # Who writes down the columns one by one knows what they are.
    ids = True if isinstance(x, IdRow) else None
    columns, numbers, starts = ascending(np.ascontiguousarray(columns, dtype=np.int32), numbers, starts)
    return Rows(1, width, numbers, columns, starts, single=parameter == "x", ids=ids)


def stack(parts: list[Rows]) -> Rows:
    """Blocks of sparse rows over the same positions as one block."""
    starts = [np.zeros(1, dtype=np.int64)]
    columns = []
    stored = 0
    for part in parts:
        assert part.starts is not None
        assert part.columns is not None
        starts.append(part.starts[1:] + stored)
        columns.append(part.columns)
        stored += len(part.values)
    return Rows(
        count=sum(part.count for part in parts),
        width=max(part.width for part in parts),
        values=np.concatenate([part.values for part in parts]),
        columns=np.concatenate(columns),
        starts=np.concatenate(starts),
        ragged=True,
        ids=parts[0].ids,
    )


def open_frame(X: Any, parameter: str = "X", allowed: str = MANY) -> Any:
    """A DataFrame of any library, as narwhals sees it."""
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise invalid(parameter, "a DataFrame whose columns have different names", Words(str(error))) from None
    except TypeError:
        raise invalid(parameter, f"{allowed}, in memory", X) from None


def _read_frame(X: Any) -> Rows:
    import narwhals.stable.v2 as nw

    frame = open_frame(X)
    names = list(frame.columns)
    if any(isinstance(name, tuple) for name in names):
        raise invalid("X", "a DataFrame with one level of column names", Words("several levels"))
    values = np.empty((len(frame), len(names)))
    for j, name in enumerate(names):
        column = frame.get_column(name)
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            raise invalid(f"X[{name!r}]", "a column of numbers", Words(f"a column of {column.dtype}"))
        try:
            values[:, j] = column.cast(nw.Float64).to_numpy()
        except (TypeError, ValueError):
            raise invalid(f"X[{name!r}]", "a column of finite numbers", Words("missing values")) from None
    columns = np.arange(len(names), dtype=np.int32)
    return Rows(len(frame), len(names), values.reshape(-1), columns, names=names)


def _read_dicts(X: Sequence[Mapping[Any, Any]]) -> Rows:
    positions: dict[Any, int] = {}
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    for i, row in enumerate(X):
        for name, value in row.items():
            columns.append(positions.setdefault(name, len(positions)))
            values.append(value if type(value) is float else number(f"X[{i}, {name!r}]", value))
        starts.append(len(columns))
    numbers = np.array(values, dtype=np.float64)
    names = list(positions)
    return Rows(
        len(X), len(names), numbers, np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int64), names=names
    )
