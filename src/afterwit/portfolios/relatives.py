"""From prices to price relatives: the price after a round over the price before it.

>>> relatives([[100.0, 50.0], [110.0, 50.0], [99.0, 60.0]]).round(3).tolist()
[[1.1, 1.0], [0.9, 1.2]]
"""

from __future__ import annotations

from typing import Any

from afterwit.data.prices import refuse_all_but
from afterwit.data.rows import FRAME_LIBRARIES, open_frame
from afterwit.errors import Words, counted, invalid
from afterwit.hindsight._rounds import read_matrix

#: No price is further from 1, so that its ratio to another is a number.
LOW, HIGH = 1e-150, 1e150


def relatives(prices: Any) -> Any:
    """The price relatives of prices at one time after another: one row less.

    prices    a 2-D array, a DataFrame or a sequence of dicts, a row for each time and an asset in each column

    Returns an array; of a DataFrame, one of the same library; of dicts, a list of dicts.
    """
    values, assets = read_matrix(prices, "prices", "asset")
    refuse_all_but(values, assets, "prices", f"a number from {LOW:g} to {HIGH:g}", LOW, HIGH)
    if len(values) < 2:
        raise invalid("prices", "rows for at least two times", Words(counted(len(values), "row")))
    found = values[1:] / values[:-1]
    if type(prices).__module__.partition(".")[0] in FRAME_LIBRARIES:
        import narwhals.stable.v2 as nw

        frame = open_frame(prices, "prices", "a DataFrame")
        columns = {name: found[:, assets.places[name]] for name in frame.columns}
        return nw.from_dict(columns, backend=frame.implementation).to_native()
    return [dict(zip(assets.names, row, strict=True)) for row in found.tolist()] if assets.names else found
