"""A finite class of hypotheses over a finite domain: a matrix of 0 and 1, held as bits.

Setting     a hypothesis h says 0 or 1 of every point x of a domain. The class H is the matrix with a row for each
            hypothesis and a column for each point, packed along the hypotheses: the votes on a point are one row of
            words, and a vote of 2^20 hypotheses takes microseconds.

Points are numbers, strings, tuples or other hashable values; a list or a 1-D array stands for the tuple of its
entries. Without ``points`` they are 0, 1, 2, ... Hypotheses have names, which show which ones survive.

>>> hypotheses = FiniteClass([[0, 0, 1], [0, 1, 1], [1, 1, 1]], points=["low", "middle", "high"])
>>> hypotheses
<3 hypotheses, 3 points>
>>> hypotheses("middle").tolist()  # what each says of a point
[False, True, True]
>>> even_or_large = FiniteClass.from_functions([lambda x: x % 2 == 0, lambda x: x > 4], range(8), ["even", "large"])
>>> even_or_large.matrix.astype(int).tolist()
[[1, 0, 1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1, 1]]
>>> even_or_large.consistent([6, 2], [1, 1])  # which hypotheses say so
['even']
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._bits import WORD, Words64, count_bits, full, pack, unpack, words_for
from afterwit.core.pictured import Pictured
from afterwit.data.room import require_room
from afterwit.data.rows import Rows
from afterwit.data.values import same_value
from afterwit.errors import Words, counted, invalid, shorten

#: A class with more bits than these, which take 2 GiB, is refused.
MOST_BITS = 2**34
#: A class with more hypotheses than these is refused: more than bits is kept of each, such as its size.
MOST_HYPOTHESES = 2**26

Indices = npt.NDArray[np.intp]
#: How a class is made again: the name of a function of `afterwit.concepts`, and its arguments.
Recipe = tuple[str, dict[str, Any]]


class FiniteClass(Pictured):
    """A finite class of hypotheses. It cannot be changed; equal classes compare equal.

    matrix  what the hypotheses say of the points: a row of 0 and 1 for each hypothesis
    points  the points, all different; their positions 0, 1, 2, ... if not given
    names   what the hypotheses are called; "h0", "h1", ... if not given
    sizes   how many bits describe each hypothesis, in some prefix-free language; for `GeneralizedHalving`
    """

    def __init__(self, matrix: Any, points: Any = None, names: Any = None, sizes: Any = None) -> None:
        table = _checked_matrix(matrix)
        count, width = table.shape
        self._become(
            checked_size(count, width),
            pack(table.T),
            checked_points(range(width) if points is None else points, width),
            None if names is None else _checked_names(names, count),
            None if sizes is None else checked_sizes(sizes, count),
            None,
        )

    def _become(
        self,
        count: int,
        bits: Words64,
        points: tuple[Any, ...],
        names: tuple[str, ...] | Callable[[int], str] | None,
        sizes: npt.NDArray[np.int64] | None,
        recipe: Recipe | None,
    ) -> None:
        self._count = count
        self._bits = bits
        self._points = points
        self._names = names
        self._sizes = sizes
        self._recipe = recipe
        self._bits.setflags(write=False)
        if sizes is not None:
            sizes.setflags(write=False)
        self._at = {point: j for j, point in enumerate(points)}
        self._positions = points == tuple(range(len(points)))

    @classmethod
    def from_functions(
        cls, functions: Iterable[Callable[[Any], Any]], points: Iterable[Any], names: Any = None, sizes: Any = None
    ) -> FiniteClass:
        """The class of some functions of a point, each giving 0 or 1 (or False or True)."""
        functions, points = list(functions), list(points)
        for i, function in enumerate(functions):
            if not callable(function):
                raise invalid(f"functions[{i}]", "a function of a point", function)
        matrix = np.empty((len(functions), len(points)), dtype=np.bool_)
        for i, function in enumerate(functions):
            for j, point in enumerate(points):
                said = function(point)
                if isinstance(said, np.generic):
                    said = said.item()
                if not isinstance(said, (bool, int, float)) or said not in (0, 1):
                    raise invalid(f"functions[{i}]({shorten(point)})", "0 or 1", said)
                matrix[i, j] = said
        return cls(matrix, points, names, sizes)

    @classmethod
    def _made(
        cls, count: int, bits: Words64, points: tuple[Any, ...], names: Any, sizes: Any, recipe: Recipe
    ) -> FiniteClass:
        """A class built from bits by a function of this package."""
        made = cls.__new__(cls)
        made._become(count, bits, points, names, sizes, recipe)
        return made

    # ------------------------------------------------------------------ what it holds

    def __len__(self) -> int:
        """The number of hypotheses."""
        return self._count

    @property
    def points(self) -> tuple[Any, ...]:
        """The points of the domain."""
        return self._points

    @property
    def matrix(self) -> npt.NDArray[np.bool_]:
        """The matrix, hypotheses x points, unpacked."""
        return unpack(self._bits, self._count).T

    @property
    def sizes(self) -> npt.NDArray[np.int64] | None:
        """The description lengths of the hypotheses in bits, if they have any."""
        return self._sizes

    @property
    def names(self) -> list[str]:
        """What the hypotheses are called."""
        return [self.name(i) for i in range(self._count)]

    def name(self, hypothesis: int) -> str:
        """What one hypothesis is called, by its position."""
        if not 0 <= hypothesis < self._count:
            raise invalid("hypothesis", f"a position from 0 to {self._count - 1:,}", hypothesis)
        if self._names is None:
            return f"h{hypothesis}"
        return self._names(hypothesis) if callable(self._names) else self._names[hypothesis]

    def __call__(self, x: Any) -> npt.NDArray[np.bool_]:
        """What every hypothesis says of a point."""
        return unpack(self._bits[self.index(x)], self._count)

    def consistent(self, X: Any, labels: Any) -> list[str]:
        """The names of the hypotheses that say ``labels`` (0 or 1) of the points X."""
        at = self.indices(X)
        wanted = _booleans("labels", labels)
        if wanted.shape != at.shape:
            raise invalid("labels", f"as many as there are points ({len(at)})", Words(f"{len(wanted)}"))
        alive = self.everything()
        for index, said in zip(at.tolist(), wanted.tolist(), strict=True):
            alive &= self._bits[index] if said else ~self._bits[index]
        return [self.name(i) for i in self.members(alive).tolist()]

    # ------------------------------------------------------------------ points

    def index(self, x: Any) -> int:
        """Which point of the domain x is."""
        try:
            return self._at[plain_point(x)]
        except (KeyError, TypeError):
            raise self._stranger("x", x) from None

    def indices(self, X: Any) -> Indices:
        """Which points of the domain the entries of X are: a sequence of points, or an array of them."""
        first = 0
        if isinstance(X, Rows):
            first, X = X.first, self._vectors(X)
        if isinstance(X, np.ndarray):
            if X.ndim == 0:
                raise invalid("X", "a sequence of points", X)
            if self._positions and X.ndim == 1 and X.dtype.kind in "iu":
                return self._checked_positions(X)
            X = list(map(tuple, X.tolist())) if X.ndim == 2 else X.tolist()
        elif hasattr(X, "to_numpy") and getattr(X, "ndim", 2) == 1:  # a column of a DataFrame library
            return self.indices(X.to_numpy())
        elif not isinstance(X, Sequence) or isinstance(X, (str, bytes)):
            raise invalid("X", "a sequence of points", X)
        found = np.empty(len(X), dtype=np.intp)
        for i, x in enumerate(X):
            try:
                found[i] = self._at[plain_point(x)]
            except (KeyError, TypeError):
                raise self._stranger(f"X[{first + i}]", x) from None
        return found

    def _vectors(self, rows: Rows) -> npt.NDArray[Any]:
        """Rows of a stream as vectors; sparse rows may end before the last entry of a point."""
        if rows.names is not None:
            raise invalid("X", "points of the class, not features by name", Words("named features"))
        matrix = rows.matrix()
        if not hasattr(matrix, "toarray"):
            return np.asarray(matrix)
        first = self._points[0]
        missing = len(first) - rows.width if isinstance(first, tuple) else 0
        return np.hstack([matrix.toarray(), np.zeros((rows.count, max(0, missing)))])

    def _checked_positions(self, X: npt.NDArray[Any]) -> Indices:
        wrong = (X < 0) | (len(self._points) <= X)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise self._stranger(f"X[{at}]", int(X[at]))
        return X.astype(np.intp)

    def _stranger(self, where: str, x: Any) -> Exception:
        shown = ", ".join(shorten(point, 30) for point in self._points[:3])
        more = f", ... ({len(self._points):,} in all)" if len(self._points) > 3 else ""
        return invalid(where, f"a point of the class: {shown}{more}", x)

    # ------------------------------------------------------------------ sets of hypotheses, as words

    def votes(self, index: int) -> Words64:
        """The hypotheses that say 1 of a point, by its index, as words."""
        votes: Words64 = self._bits[index]
        return votes

    def everything(self) -> Words64:
        """The set of all hypotheses, as words."""
        return full(self._count)

    def members(self, alive: Words64) -> Indices:
        """The hypotheses in a set of words."""
        return np.flatnonzero(unpack(alive, self._count))

    def is_set(self, words: Any) -> bool:
        """Whether this is a set of hypotheses of this class, as words."""
        return (
            isinstance(words, np.ndarray)
            and words.dtype == WORD
            and words.shape == (words_for(self._count),)
            and count_bits(words & ~self.everything()) == 0
        )

    # ------------------------------------------------------------------ comparing, saving

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, FiniteClass) or (self._count, self._points) != (other._count, other._points):
            return False
        if self._recipe is not None and self._recipe == other._recipe:
            return True
        same_sizes = same_value(self._sizes, other._sizes)
        return bool(same_sizes and np.array_equal(self._bits, other._bits) and self.names == other.names)

    def __hash__(self) -> int:
        return hash((self._count, self._points))

    def __deepcopy__(self, memo: Any) -> FiniteClass:
        return self

    def __reduce__(self) -> Any:
        return from_data, (self.as_class_data(),)

    def __repr__(self) -> str:
        return f"<{_number_of(self._count, 'hypothesis', 'hypotheses')}, {_number_of(len(self._points), 'point')}>"

    def as_class_data(self) -> dict[str, Any]:
        """What `from_data` makes it again from: how it was made, if a function of this package made it."""
        if self._recipe is not None:
            name, arguments = self._recipe
            return {"made_by": name, "arguments": arguments}
        names = None if self._names is None else self.names
        return {
            "count": self._count,
            "bits": self._bits,
            "points": None if self._positions else list(self._points),
            "names": names,
            "sizes": self._sizes,
        }


def from_data(data: Any) -> FiniteClass:
    """The class that `FiniteClass.as_class_data` describes; everything is checked, because it may come from a file."""
    if not isinstance(data, dict):
        raise invalid("hypotheses", "a class as data", data)
    if "made_by" in data:
        from afterwit import concepts

        name: Any = data["made_by"]
        arguments: Any = data.get("arguments")
        if not isinstance(name, str) or name not in concepts.READY:
            raise invalid("made_by", f"one of {', '.join(concepts.READY)}", name)
        function = getattr(concepts, name)
        try:
            given = inspect.signature(function).bind(**arguments)
        except TypeError:
            raise invalid("arguments", f"those of {name}", arguments) from None
        made: FiniteClass = function(*given.args, **given.kwargs)
        return made
    missing = [part for part in ("count", "bits", "points", "names", "sizes") if part not in data]
    if missing:
        raise invalid("hypotheses", "a class as data", Words(f"one without {missing[0]}"))
    count, bits = data["count"], data["bits"]
    shaped = isinstance(bits, np.ndarray) and bits.dtype == WORD and bits.ndim == 2
    if type(count) is not int or count < 1 or not shaped or bits.shape[1] != words_for(count):
        raise invalid("bits", "the packed bits of a class", Words("others"))
    require_room("bits", count * len(bits))
    return FiniteClass(unpack(bits, count).T, data["points"], data["names"], data["sizes"])


def as_class(hypotheses: Any) -> FiniteClass:
    """A class as it is; a matrix of 0 and 1 as the class that it is."""
    if isinstance(hypotheses, FiniteClass):
        return hypotheses
    if not isinstance(hypotheses, (np.ndarray, list, tuple)):
        raise invalid("hypotheses", "a FiniteClass, or a matrix of 0 and 1 (hypotheses x points)", hypotheses)
    return FiniteClass(hypotheses)


def plain_point(x: Any) -> Any:
    """A point as it is looked up: lists and arrays as tuples, numbers of numpy as Python's."""
    if isinstance(x, (list, np.ndarray)):
        return tuple(x.tolist()) if isinstance(x, np.ndarray) and x.ndim == 1 else tuple(x)
    return x.item() if isinstance(x, np.generic) else x


def checked_sizes(sizes: Any, count: int) -> npt.NDArray[np.int64]:
    """Description lengths: whole numbers, not negative, whose Kraft sum is at most 1."""
    try:
        array = np.asarray(sizes)
    except ValueError:
        array = np.empty(0)
    if array.shape != (count,) or array.dtype.kind not in "iu" or (array < 0).any() or (array > 2**20).any():
        raise invalid("sizes", f"a whole number of bits for each of the {count:,} hypotheses", sizes)
    lengths, each = np.unique(array.astype(np.int64), return_counts=True)
    longest = int(lengths[-1])
    kraft = sum(number << (longest - length) for length, number in zip(lengths.tolist(), each.tolist(), strict=True))
    if kraft > 1 << longest:
        what = "lengths of a prefix-free code, whose Kraft sum of 2^-size is at most 1"
        total = Words(f"{kraft / (1 << longest):.6g}" if longest < 1000 else "more than 1")
        raise invalid("sizes", what, total)
    return array.astype(np.int64)


def _checked_matrix(matrix: Any) -> npt.NDArray[np.bool_]:
    table = _booleans("matrix", matrix)
    if table.ndim != 2 or 0 in table.shape:
        what = "2-D, hypotheses x points, at least one of each"
        raise invalid("matrix", what, Words(f"an array of shape {table.shape}"))
    return table


def _booleans(parameter: str, values: Any) -> npt.NDArray[np.bool_]:
    """0 and 1, in any numeric type, as booleans."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise invalid(parameter, "rows of one length", values) from None
    if array.dtype == np.bool_:
        return array
    if array.size and array.dtype.kind not in "iuf":
        raise invalid(parameter, "of 0 and 1", values)
    set_: npt.NDArray[np.bool_] = array == 1
    known = set_ | (array == 0)
    if not known.all():
        raise invalid(parameter, "of 0 and 1", array[~known][0].item())
    return set_


def checked_size(count: int, points: int) -> int:
    if count > MOST_HYPOTHESES:
        raise invalid("the class", f"of at most {MOST_HYPOTHESES:,} hypotheses", Words(f"{count:,}"))
    if count * points > MOST_BITS:
        what = f"at most {MOST_BITS:,} bits, hypotheses times points"
        raise invalid("the class", what, Words(f"{count:,} hypotheses over {counted(points, 'point')}"))
    require_room("the class", count * points // 8 + 8 * count)
    return count


def checked_points(points: Any, width: int | None = None) -> tuple[Any, ...]:
    """Points, all different, hashable and equal to themselves."""
    if isinstance(points, (str, bytes)) or not isinstance(points, Iterable):
        raise invalid("points", "a sequence of points", points)
    plain = tuple(plain_point(point) for point in points)
    if width is not None and len(plain) != width:
        raise invalid("points", f"one for each of the {width} columns", Words(counted(len(plain), "point")))
    seen = set()
    for point in plain:
        try:
            known = point in seen or point != point
            seen.add(point)
        except TypeError:
            raise invalid("points", "hashable", point) from None
        if known:
            raise invalid("points", "all different", Words(f"{shorten(point)} twice, or unequal to itself"))
    return plain


def _checked_names(names: Any, count: int) -> tuple[str, ...]:
    found = tuple(names) if isinstance(names, Iterable) and not isinstance(names, (str, bytes)) else ()
    if len(found) != count or not all(isinstance(name, str) for name in found):
        raise invalid("names", f"a string for each of the {count:,} hypotheses", names)
    return found


def _number_of(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
