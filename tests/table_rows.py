"""What a reader of tables hands over, in the form in which tests/naive_tables.py has it."""

import io
import math

import numpy as np

from afterwit.errors import StreamError
from afterwit.streams.batch import Booleans, Numbers, Texts, Times


def values_of(column):
    """The values of a column, None for missing ones."""
    if isinstance(column, Texts):
        assert len(set(column.words)) == len(column.words)
        return [None if code < 0 else column.words[code] for code in column.codes.tolist()]
    if isinstance(column, Times):
        return [None if np.isnat(value) else int(value.astype(np.int64)) for value in column.values]
    assert isinstance(column, (Numbers, Booleans))
    return [None if math.isnan(value) else value for value in column.values.tolist()]


def rows_of(batch):
    """The rows of a batch: (line, values by name)."""
    columns = {name: values_of(column) for name, column in batch.columns.items()}
    assert batch.count == len(batch.lines)
    assert all(len(column) == batch.count for column in columns.values())
    return [(int(line), {name: column[i] for name, column in columns.items()}) for i, line in enumerate(batch.lines)]


def read(make, source, forms=None, look=None, count=1000, **options):
    """The rows before the first mistake, how many were skipped, and the mistake."""
    rows = []
    source = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        with make(source, **options) as reader:
            try:
                if look is not None:
                    reader.look(look)
                if forms is not None:
                    reader.read_as(forms)
                while (batch := reader.take(count)) is not None:
                    assert 1 <= batch.count <= count
                    rows += rows_of(batch)
            except StreamError as error:
                return rows, reader.skipped.count, error
            return rows, reader.skipped.count, None
    except StreamError as error:
        return rows, 0, error


def before_the_first_mistake(rows):
    """The rows of an oracle before one that is wrong, and its line or None; and all good rows."""
    bad = next((i for i, row in enumerate(rows) if isinstance(row, int)), len(rows))
    return rows[:bad], rows[bad] if bad < len(rows) else None, [row for row in rows if not isinstance(row, int)]
