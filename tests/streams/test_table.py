"""Numbers from CSV: what is read, and every mistake with its line."""

import gzip
import io

import numpy as np
import pytest

from afterwit.errors import StreamError
from afterwit.streams.table import ROWS_TO_LOOK_AT, read_table


def table(text, columns=None):
    return read_table(io.BytesIO(text.encode() if isinstance(text, str) else text), columns)


def test_columns_of_numbers_are_found_and_the_others_named():
    read = table('day,a,b,note\n"1, Jan",1.5,-2e3,x\n2 Jan, 7 ,NA,\n')
    assert read.names == ("a", "b")
    assert read.skipped == ("day", "note")
    np.testing.assert_array_equal(read.values, [[1.5, -2000.0], [7.0, np.nan]])
    np.testing.assert_array_equal(read.column("b"), [-2000.0, np.nan])


@pytest.mark.parametrize("missing", ["", " ", "NA", "nan", "NaN", "null", "None"])
def test_a_missing_cell_is_nan(missing):
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
def test_other_separators_ends_of_line_and_a_byte_order_mark(text):
    read = table(text)
    assert read.names == ("a", "b")
    np.testing.assert_array_equal(read.values, [[1.0, 2.0]])


def test_blank_lines_before_the_header_are_passed_over_and_counted():
    assert table("\n \na;b\n1;2\n").values.tolist() == [[1.0, 2.0]]
    with pytest.raises(StreamError, match="occurs twice") as caught:
        table("\n\na,a\n1,2\n")
    assert caught.value.line == 3


def test_a_column_that_is_needed_is_not_passed_over():
    with pytest.raises(StreamError, match="column b: a number or nothing was expected; found '1,5'") as caught:
        read_table(io.BytesIO(b"a;b\n1;2\n2;1,5\n"), needed="b")
    assert caught.value.line == 3
    assert np.isnan(read_table(io.BytesIO(b"a,b\n1,\n"), needed="b").column("b")).all()


def test_a_cell_may_hold_line_ends_and_counts_them():
    read = table('"a\nb",c\n1,2\n')
    assert read.names == ("a\nb", "c")
    with pytest.raises(StreamError, match="2 cells were expected") as caught:
        table('"a\r\nb\rc",d\n1\n')
    assert caught.value.line == 4


def test_an_empty_cell_of_the_only_column_is_a_round():
    assert np.isnan(table("a\n1\n \n3\n").values[1, 0])


def test_gzip_is_known_by_its_content():
    assert table(gzip.compress(b"a\n1\n2\n")).values.tolist() == [[1.0], [2.0]]


def test_columns_may_be_chosen_in_any_order():
    read = table("a,b,c\n1,x,3\n", ["c", "a"])
    assert read.names == ("c", "a")
    assert read.values.tolist() == [[3.0, 1.0]]
    assert read.skipped == ()


def test_a_long_file_is_judged_by_its_beginning():
    rows = "".join(f"{i},{i / 2}\n" for i in range(ROWS_TO_LOOK_AT + 5))
    read = table("a,b\n" + rows)
    assert read.values.shape == (ROWS_TO_LOOK_AT + 5, 2)
    assert read.values[-1].tolist() == [ROWS_TO_LOOK_AT + 4, (ROWS_TO_LOOK_AT + 4) / 2]


@pytest.mark.parametrize(
    ("text", "columns", "line", "message"),
    [
        ("", None, 1, "a header with the names of the columns was expected"),
        ("a,a\n1,2\n", None, 1, "the column 'a' occurs twice"),
        ("a,b\n1,2\n", ["z"], 1, "there is no column 'z'; there are a, b"),
        ("a,b\n1,2\n3\n", None, 3, "2 cells were expected, as in the header; found 1"),
        ("a,b\n1,2\n3,x\n", ["a", "b"], 3, "column b: a number or nothing was expected; found 'x'"),
        ("a,b\n1,inf\n", ["b"], 2, "a number or nothing was expected; found 'inf'"),
        ("a,b\n1,1_000\n", ["b"], 2, "a number or nothing was expected; found '1_000'"),
        ("a\n" + "1\n" * ROWS_TO_LOOK_AT + "x\n", None, ROWS_TO_LOOK_AT + 2, "found 'x'"),
        ('a,b\n1,"2\n', None, 2, "CSV text was expected (unexpected end of data)"),
        (b"a\n1\n\xff\n", None, 3, "UTF-8 text was expected, found other bytes"),
    ],
)
def test_mistakes_name_the_line(text, columns, line, message):
    with pytest.raises(StreamError) as caught:
        table(text, columns)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_delimiters_inside_quotes_do_not_count():
    read = read_table(io.BytesIO(b'"a;b;c;d",y,x\n1,2,3\n'))
    assert read.names == ("a;b;c;d", "y", "x")
    assert read.values.tolist() == [[1.0, 2.0, 3.0]]


def test_a_table_knows_the_lines_of_its_rows():
    read = read_table(io.BytesIO(b'y,"two\nlines"\n\n1,2\n"3\n",4\n5,6\n'))
    assert read.lines == [4, 6, 7]
