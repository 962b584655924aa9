"""DataFrames in memory - pandas, polars, pyarrow, and others that narwhals knows - and relations of DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals.stable.v2 as nw

from afterwit.errors import StreamError, invalid, shorten
from afterwit.streams._database import reason
from afterwit.streams._pandas import PandasPart
from afterwit.streams._parts import Part, PartsReader
from afterwit.streams.arrow import ArrowParts

NAME = "the DataFrame"
ALLOWED = "a DataFrame (pandas, polars, pyarrow or another one that narwhals knows), or a relation of DuckDB"


class FrameReader(PartsReader):
    """A `TableReader` of a DataFrame. What is lazy is collected; of a relation, the rows come as DuckDB finds them."""

    def __init__(self, frame: Any) -> None:
        self.name = NAME
        self._stream: ArrowParts | None = None
        self._whole: PandasPart | None = None
        native = _native(frame)
        if _is_like_pandas(native):
            self._whole = PandasPart(native)
            super().__init__(NAME, self._whole.columns())
        else:
            self._stream = ArrowParts(NAME, native, _explain)
            super().__init__(NAME, self._stream.columns())

    def close(self) -> None:
        super().close()
        self._whole = None
        if self._stream is not None:
            self._stream.close()

    def _parts(self) -> Iterator[Part]:
        return iter([self._whole] if self._whole is not None else self._stream or ())


def _native(frame: Any) -> Any:
    """What has the rows: like pandas, or with a stream of Arrow data."""
    try:
        known = nw.from_native(frame, pass_through=True, allow_series=True)
        if isinstance(known, nw.LazyFrame) and not hasattr(nw.to_native(known), "__arrow_c_stream__"):
            known = known.collect()
    except nw.exceptions.DuplicateError:
        names = list(getattr(frame, "columns", ()))
        repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
        found = "" if repeated is None else f"; {shorten(repeated)} occurs twice"
        raise StreamError(f"its columns must have different names{found}", path=NAME) from None
    except Exception as error:
        raise _explain(error) from None
    native = nw.to_native(known, pass_through=True)
    is_frame = isinstance(known, nw.DataFrame | nw.LazyFrame)
    if isinstance(known, nw.Series) or not (is_frame or hasattr(native, "__arrow_c_stream__")):
        raise invalid("the table", f"{ALLOWED}; or a path, a query or a list of dicts", frame)
    return native


def _is_like_pandas(native: Any) -> bool:
    known = nw.from_native(native, pass_through=True)
    return isinstance(known, nw.DataFrame) and known.implementation.is_pandas_like()


def _explain(error: Exception) -> StreamError:
    return StreamError(f"it cannot be read ({reason(error)})", path=NAME)
