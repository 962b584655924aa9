"""Tables of numbers from any source: what is read, and every mistake with its place."""

import gzip
import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from afterwit.errors import StreamError
from afterwit.streams.batch import ROWS_TO_LOOK_AT
from afterwit.streams.sources import Dialect
from afterwit.streams.table import BLOCK, TableFile, read_table


@pytest.fixture
def table(tmp_path):
    def read(text, columns=None, texts=()):
        (tmp_path / "t").write_bytes(text.encode() if isinstance(text, str) else text)
        return read_table(tmp_path / "t", columns, texts)

    return read


def test_columns_of_numbers_are_found_and_the_others_named(table):
    read = table('day,a,b,note\n"1, Jan",1.5,-2e3,x\n2 Jan, 7 ,NA,\n')
    assert read.names == ("a", "b")
    assert read.skipped == ("day", "note")
    np.testing.assert_array_equal(read.values, [[1.5, -2000.0], [7.0, np.nan]])
    np.testing.assert_array_equal(read.column("b"), [-2000.0, np.nan])


@pytest.mark.parametrize("missing", ["", " ", "NA", "nan", "NaN", "null", "None"])
def test_a_missing_cell_is_nan(table, missing):
    assert np.isnan(table(f"a,b\n1,{missing}\n2,3\n").values[0, 1])


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1;2\n",
        "a\tb\n1\t2\n",
        "a,b\r\n1,2\r\n",
        "a,b\r1,2\r",
        "\ufeffa,b\n1,2\n",
        "a,b\n\n1,2",
        'a, "b"\n1,2',
    ],
)
def test_other_separators_ends_of_line_and_a_byte_order_mark(table, text):
    read = table(text)
    assert read.names == ("a", "b")
    np.testing.assert_array_equal(read.values, [[1.0, 2.0]])


def test_blank_lines_before_the_header_are_passed_over_and_counted(table):
    assert table("\n \na;b\n1;2\n").values.tolist() == [[1.0, 2.0]]
    with pytest.raises(StreamError, match=r"occurs twice") as caught:
        table("\n\na,a\n1,2\n")
    assert caught.value.line == 3


def test_a_column_that_is_needed_is_not_passed_over(table):
    with pytest.raises(StreamError, match=r"column b: a finite number was expected, .*; found '1,5'") as caught:
        table("a;b\n1;2\n2;1,5\n", ["b"])
    assert caught.value.line == 3
    assert np.isnan(table("a,b\n1,\n", ["b"]).column("b")).all()


def test_a_cell_may_hold_line_ends_and_counts_them(table):
    read = table('"a\nb",c\n1,2\n')
    assert read.names == ("a\nb", "c")
    with pytest.raises(StreamError, match=r"2 cells were expected") as caught:
        table('"a\r\nb\rc",d\n1\n')
    assert caught.value.line == 4


def test_a_blank_line_is_no_round_and_a_missing_cell_is_one(table):
    assert np.isnan(table("a\n1\nNA\n\n3\n").values[:, 0]).tolist() == [False, True, False]


def test_gzip_is_known_by_its_content(table):
    assert table(gzip.compress(b"a\n1\n2\n")).values.tolist() == [[1.0], [2.0]]


def test_columns_may_be_chosen_in_any_order(table):
    read = table("a,b,c\n1,x,3\n", ["c", "a"])
    assert read.names == ("c", "a")
    assert read.values.tolist() == [[3.0, 1.0]]
    assert read.skipped == ("b",)


def test_a_long_file_is_judged_by_its_beginning(table):
    rows = "".join(f"{i},{i / 2}\n" for i in range(ROWS_TO_LOOK_AT + 5))
    read = table("a,b\n" + rows)
    assert read.values.shape == (ROWS_TO_LOOK_AT + 5, 2)
    assert read.values[-1].tolist() == [ROWS_TO_LOOK_AT + 4, (ROWS_TO_LOOK_AT + 4) / 2]


@pytest.mark.parametrize(
    ("text", "columns", "line", "message"),
    [
        ("", None, None, "no examples were found"),
        ("a,a\n1,2\n", None, 1, "the column 'a' occurs twice"),
        ("a,b\n1,2\n", ["z"], None, "there is no column 'z'; the columns are a, b"),
        ("a,b\n1,2\n3\n", None, 3, "2 cells were expected, as in the header; found 1"),
        (
            "a,b\n1,2\n3,x\n",
            ["a", "b"],
            3,
            "column b: a finite number was expected, or nothing, NA, N/A, NaN, null or None for a missing one; found 'x'",
        ),
        (
            "a,b\n1,inf\n",
            ["b"],
            2,
            "a finite number was expected, or nothing, NA, N/A, NaN, null or None for a missing one; found 'inf'",
        ),
        (
            "a,b\n1,1_000\n",
            ["b"],
            2,
            "a finite number was expected, or nothing, NA, N/A, NaN, null or None for a missing one; found '1_000'",
        ),
        ("a\n" + "1\n" * ROWS_TO_LOOK_AT + "x\n", None, ROWS_TO_LOOK_AT + 2, "found 'x'"),
        ('a,b\n1,"2\n', None, 2, "column b: a quoted cell begins here and does not end"),
        (b"a\n1\n\xff\n", None, 3, "UTF-8 text was expected, found other bytes"),
    ],
)
def test_mistakes_name_the_line(table, text, columns, line, message):
    with pytest.raises(StreamError) as caught:
        table(text, columns)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_delimiters_inside_quotes_do_not_count(table):
    read = table('"a;b;c;d",y,x\n1,2,3\n')
    assert read.names == ("a;b;c;d", "y", "x")
    assert read.values.tolist() == [[1.0, 2.0, 3.0]]


def test_a_table_knows_the_lines_of_its_rows(table):
    read = table('y,"two\nlines"\n\n1,2\n"3",4\n5,6\n')
    assert [read.place(row) for row in range(3)] == [{"path": read.name, "line": line} for line in (4, 5, 6)]


def test_cells_may_be_kept_as_they_are_written(table):
    read = table('id,day,y\n007,"1, Jan",1\n,,2\n010,x ,3\n', ["y", "id"], ["id", "day"])
    assert read.texts == {"id": ["007", "", "010"], "day": ["1, Jan", "", "x"]}
    np.testing.assert_array_equal(read.values, [[1, 7], [2, np.nan], [3, 10]])
    with pytest.raises(StreamError, match=r"column day: a finite number was expected, .*; found '1, Jan'") as caught:
        table('id,day,y\n007,"1, Jan",1\n', ["day"], ["day"])
    assert caught.value.line == 2


def test_a_header_may_have_numbers_and_a_cell_for_row_names(table):
    """As pandas and R write them."""
    read = table('"",1,2,y\na,1.5,2,3\nb,2.5,3,4\n', texts=["column 1 without a name"])
    assert read.names == ("1", "2", "y")
    assert read.texts == {"column 1 without a name": ["a", "b"]}


def test_what_spoils_a_column_of_numbers_is_told(table):
    read = table("a,b,c\n1,1,x\n2,oops,1\n3,2,y\n")
    assert (read.names, read.skipped) == (("a",), ("b", "c"))
    assert read.spoilt == {"b": ("line 3", "oops")}


FRAME = pd.DataFrame(
    {
        "day": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
        "at": pd.to_datetime(["2024-01-01 10:00", None, "2024-01-02 11:30"]),
        "site": ["n", None, "s"],
        "vote": [True, None, False],
        "count": [1, 2, 3],
        "y": [1.5, None, -2.0],
        "none": [None, None, None],
    }
).astype({"vote": "boolean", "none": "float64"})


@pytest.mark.parametrize("form", ["parquet", "sql"])
def test_tables_with_types(tmp_path, form):
    path = tmp_path / "t.parquet"
    duckdb.from_df(FRAME).write_parquet(str(path))
    source = path if form == "parquet" else f"SELECT * FROM '{path}'"
    read = read_table(source, texts=["day", "at", "site", "vote", "count", "y"])
    assert read.names == ("vote", "count", "y")
    assert read.skipped == ("day", "at", "site", "none")
    np.testing.assert_array_equal(read.values, [[1, 1, 1.5], [np.nan, 2, np.nan], [0, 3, -2]])
    assert read.texts == {
        "day": ["2024-01-01", "2024-01-02", ""],
        "at": ["2024-01-01T10:00:00", "", "2024-01-02T11:30:00"],
        "site": ["n", "", "s"],
        "vote": ["true", "", "false"],
        "count": ["1", "2", "3"],
        "y": ["1.5", "", "-2"],
    }
    assert np.isnan(read_table(source, ["none"]).values).all()
    with pytest.raises(StreamError, match=r", row 1: column site: a finite number was expected, .*; found 'n'"):
        read_table(source, ["site"])
    with pytest.raises(StreamError, match=r"column day: a finite number was expected, .*; found a time"):
        read_table(source, ["day"])


def test_infinity_is_no_number_in_any_format(tmp_path):
    path = tmp_path / "t.parquet"
    duckdb.from_df(pd.DataFrame({"y": [1.0, np.inf]})).write_parquet(str(path))
    with pytest.raises(
        StreamError, match=r"row 2: column 'y': a finite number or nothing was expected, and infinity was found"
    ):
        read_table(path)


def test_json_lines_and_several_files(tmp_path):
    rows = [{"site": "n", "y": 1.5}, {"y": None, "site": "s"}, {"site": "w"}]
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_table(tmp_path / "*.jsonl", texts=["site"])
    assert read.texts["site"] == ["n", "s", "w"] * 2
    assert np.isnan(read.values[:, 0]).tolist() == [False, True, True] * 2
    assert read.place(4) == {"path": str(tmp_path / "b.jsonl"), "line": 2}


def test_a_file_that_is_longer_than_a_block(table):
    rows = "".join(f"{i},{i % 7}\n" for i in range(2 * BLOCK + 3))
    read = table("a,b\n" + rows, ["b"], ["a"])
    assert read.values[:, 0].tolist() == [i % 7 for i in range(2 * BLOCK + 3)]
    assert read.texts["a"][-1] == str(2 * BLOCK + 2)
    assert [read.place(row)["line"] for row in (0, BLOCK, 2 * BLOCK + 2)] == [2, BLOCK + 2, 2 * BLOCK + 4]


def test_only_the_first_rows_and_not_those_that_cannot_be_read(tmp_path):
    (tmp_path / "t").write_text("a,b\n1,2\n3\n4,5\n6,7\n")
    with TableFile(tmp_path / "t", dialect=Dialect(on_error="skip")) as opened:
        read = opened.read(["b"], limit=2)
    assert read.values.tolist() == [[2.0], [5.0]]
    assert read.left_out.count == 1
    assert len(read) == 2


def test_whatever_text_looks_like_a_table_is_wanted(table, tmp_path):
    """The first line of this one could be Vowpal Wabbit text."""
    assert table("|a|y\n|1|2\n").names == ("a", "y")
    (tmp_path / "t.svm").write_text("1 1:2\n")
    with pytest.raises(StreamError, match=r"a table with columns was expected; this is libsvm text"):
        TableFile(tmp_path / "t.svm", "libsvm")
