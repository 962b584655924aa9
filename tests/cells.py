"""Batches of tables as plain Python, for comparison with the oracles."""

import numpy as np

from afterwit.streams.batch import Booleans, Numbers, Other, Texts


def kind_of(column):
    if isinstance(column, Numbers):
        return "whole numbers" if column.whole else "numbers"
    return column.kind if isinstance(column, Other) else type(column).__name__.lower()


def cells_of(column):
    """None for a missing cell; None for all of them of a column that is no feature."""
    if isinstance(column, Other):
        return None
    if isinstance(column, Texts):
        assert column.codes.dtype == np.int32
        assert len(set(column.words)) == len(column.words)
        # The words that occur, in the order of their first occurrence.
        assert list(dict.fromkeys(column.codes[column.codes >= 0].tolist())) == list(range(len(column.words)))
        return [None if code < 0 else column.words[code] for code in column.codes.tolist()]
    if isinstance(column, Numbers | Booleans):
        assert column.values.dtype == np.float64
        return [None if np.isnan(value) else float(value) for value in column.values]
    assert column.values.dtype == np.dtype("datetime64[us]")
    return [None if np.isnat(value) else int(value.astype(np.int64)) for value in column.values]


def plain(batch):
    found = {name: (kind_of(column), cells_of(column)) for name, column in batch.columns.items()}
    assert all(cells is None or len(cells) == batch.count for _, cells in found.values())
    return found


def read_all(reader, count, forms=None):
    """Everything a reader hands over, in blocks of that size: name -> kind and cells; and the place of each row."""
    if forms is not None:
        reader.read_as(forms)
    found, places = {}, []
    while (batch := reader.take(count)) is not None:
        assert 1 <= batch.count <= count
        for name, (kind, cells) in plain(batch).items():
            before = found.setdefault(name, (kind, None if cells is None else []))
            assert before[0] == kind
            if cells is not None:
                before[1].extend(cells)
        places += [batch.place(i) for i in range(batch.count)]
    assert reader.take(count) is None
    reader.close()
    return found, places
