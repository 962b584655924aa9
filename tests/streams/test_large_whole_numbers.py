"""Whole numbers beyond 2^53, such as ids: as names to the last digit, as numbers an error, and never missing."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import afterwit as aw
from afterwit.errors import StreamError

RECORDS = [{"id": 2**60 + i % 3, "a": float(i), "y": i % 2} for i in range(30)]
FORMATS = ["records", "csv", "jsonl", "parquet", "polars", "pandas", "pandas of Arrow"]


def source_of(folder, form, records=RECORDS):
    table = pa.Table.from_pylist(records)
    path = folder / f"t.{form}"
    if form == "records":
        return records
    if form == "csv":
        table.to_pandas().to_csv(path, index=False)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif form == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif form == "polars":
        return pl.from_arrow(table)
    else:
        return table.to_pandas(types_mapper=pd.ArrowDtype if form == "pandas of Arrow" else None)
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_as_categories_they_are_names_to_the_last_digit(tmp_path, form):
    stream = aw.read(source_of(tmp_path, form), target="y", categorical=["id"])
    expected = [{"a": float(i), f"id={2**60 + i % 3}": 1.0} for i in range(30)]
    assert [x for x, _ in stream] == expected
    assert [stream.schema.features(record) for record in RECORDS] == expected


@pytest.mark.parametrize("form", ["jsonl", "parquet", "polars", "pandas", "pandas of Arrow"])
def test_as_numbers_they_are_an_error_that_says_what_to_do(tmp_path, form):
    stream = aw.read(source_of(tmp_path, form), target="y")
    assert stream.schema.describe() == "target    y\nnumber    id, a"
    with pytest.raises(StreamError, match=r"(line|row) 1: .*1152921504606846976.*--categorical.*--ignore"):
        list(stream)
    with pytest.raises(StreamError, match="1152921504606846976"):
        list(aw.read(source_of(tmp_path, form), target="id"))


def test_a_column_that_begins_with_infinities_is_not_empty(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [float("inf")] * 3, "y": [0, 1, 0]}), path)
    with pytest.raises(StreamError, match=r"row 1: column 'a': .*infinity was found"):
        list(aw.read([path, path], target="y"))
