"""CSV text: what is read, whatever the size of the blocks and the number of threads; every mistake with its line."""

import csv
import gzip
import io
import itertools
import math
import os
import struct
import threading

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import naive_tables
import table_rows
from afterwit.errors import InputError, StreamError
from afterwit.streams.csv_text import CsvReader
from table_rows import before_the_first_mistake, rows_of, values_of

BLOCKS = (1, 2, 3, 7, 1 << 20)
FORMS = ("number", "text", "boolean", "time")


def read(source, forms=None, count=1000, **options):
    return table_rows.read(CsvReader, source, forms, count=count, **options)


def expected(content, forms, **options):
    """The same from the oracle: the rows before the first that is wrong and its line; and all good rows."""
    try:
        _, rows = naive_tables.csv_table(content, forms, **options)
    except naive_tables.Refused as refused:
        return [], refused.line, None
    return before_the_first_mistake(rows)


def check(content, forms, count=1000, **options):
    """The reader against the oracle, stopping and skipping, in blocks of all sizes."""
    rows, line, good = expected(content, forms, **options)
    for block in BLOCKS:
        found, _, error = read(content, forms, count, block=block, **options)
        assert (found, error.line if error else None) == (rows, line)
        if good is not None:
            skipping = read(content, forms, count, block=block, on_error="skip", **options)
            total = naive_tables.csv_table(content, forms, **options)[1]
            assert skipping == (good, len(total) - len(good), None)


# ---------------------------------------------------------------------- what is written is read

names = st.lists(
    st.from_regex(r"[A-Za-z_é][A-Za-z_0-9 ,;|\"\té]{0,4}[a-z]", fullmatch=True), min_size=1, max_size=4, unique=True
)
cells = st.text(st.sampled_from('ab1 ,;|\t"\n\ré☃.'), max_size=6)


@given(names, st.data())
def test_what_a_csv_writer_writes_is_read(columns, data):
    delimiter = data.draw(st.sampled_from(",;\t|"))
    ends = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    rows = data.draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), max_size=6))
    # Older writers only quote those ends of lines that they write.
    strange = set("\r\n") - set(ends)
    assume(quoting == csv.QUOTE_ALL or not any(strange & set(cell) for row in rows for cell in row))
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=ends)
    writer.writerow(columns)
    writer.writerows(rows)
    content = file.getvalue().encode()
    assert list(csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=delimiter)) == [columns, *rows]
    if quoting == csv.QUOTE_ALL:
        # Nothing is stripped, and nothing is blank.
        written = [{name: cell or None for name, cell in zip(columns, row, strict=True)} for row in rows]
        for block in BLOCKS:
            found, _, error = read(content, delimiter=delimiter, block=block)
            assert error is None
            assert [row for _, row in found] == written
    check(content, dict.fromkeys(columns, "text"), 3, delimiter=delimiter)


PIECES = [
    *(",", ";", "\t", "|", '"', '""', "\n", "\r", "\r\n", " ", "a", "1", "-2.5", "1e3", "NA", "nan", "true", "FALSE"),
    *("2024-01-31", "2024-02-30", "2024-01-31T10:00Z", "é", '"x"', '"x,y"', '"\n"', ",1\n", "1,2\n", '"1"', '" 2"', "inf", "1_0"),
    *('"a""b"', 'a"b', "+.5", "1.", "1e400", "0x1", "٣"),
]  # fmt: skip
contents = st.lists(st.sampled_from(PIECES), max_size=14).map(lambda pieces: "".join(pieces).encode())
bytes_of_a_file = st.one_of(
    contents, st.tuples(contents, st.sampled_from([b"\xff", b"\xc3", b"\xe2\x98"]), contents).map(b"".join)
)


@given(
    st.sampled_from([b"a,b\n", b"\xef\xbb\xbfa,b\r\n", b"a\n", b'"a","b"\n', b"a;b;c\r", b"\n \na|b\n", b""]),
    bytes_of_a_file,
    st.tuples(*[st.sampled_from((*FORMS, None))] * 3),
    st.booleans(),
    st.integers(1, 4),
)
@example(b"a,b\n", b'"x\n1,2', ("number", "number", None), True, 1)
@example(b"a\n", b"1;2\n", ("number", None, None), True, 1)
@example(b"a,b\n", b'a"b,1\n"x\ny",2\n', ("text", "text", None), True, 1)
@example(b"a\n", b"1,5;2\n", ("number", None, None), True, 1)
@example(b"a\n", b"1 \t\n", ("number", None, None), True, 1)
@example(b"", b"\ta|b\n", (None, None, None), True, 1)
def test_damaged_files_are_read_as_the_oracle_says(header, content, forms, quotes, count):
    content = header + content
    try:
        found, _ = naive_tables.csv_table(content, {}, quotes=quotes)
    except naive_tables.Refused:
        found = []
    asked = {name: form for name, form in zip(found, forms, strict=False) if form}
    check(content, asked, count, quotes=quotes)


@given(bytes_of_a_file, st.tuples(*[st.sampled_from(FORMS)] * 2), st.booleans())
def test_files_without_a_header(content, forms, quotes):
    check(content, dict(zip("xy", forms, strict=True)), 2, quotes=quotes, names=["x", "y"])


@given(bytes_of_a_file, st.integers(1, 5), st.sampled_from(BLOCKS))
@example(b"1,2\n3,4\n5,6\n", 3, 2)
def test_looking_does_not_take(content, rows, block):
    content = b"a,b\n" + content
    plain, _, error = read(content, {"a": "text", "b": "text"})
    with CsvReader(io.BytesIO(content), block=block) as reader:
        first, found = looked_at(reader, rows)
        assert (first, found) == (plain[:rows], None) or (str(found) == str(error) and len(plain) < rows)
        assert str(looked_at(reader, rows)) == str((first, found))
        taken = []
        while found is None:
            batch, found = taken_from(reader)
            if batch is None:
                break
            taken += rows_of(batch)
    assert found is not None or taken == plain
    assert str(found) == str(error)


def looked_at(reader, rows):
    try:
        return rows_of(reader.look(rows)), None
    except StreamError as error:
        return [], error


def taken_from(reader):
    try:
        return reader.take(2), None
    except StreamError as error:
        return None, error


# ---------------------------------------------------------------------- numbers

digits = st.text("0123456789", min_size=1, max_size=25)
texts_of_numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 1).map(lambda value: f"{value:.15f}"),
    st.tuples(st.sampled_from(["", "-", "+"]), digits, st.sampled_from(["", "."]), digits).map("".join),
    st.tuples(digits, st.sampled_from("eE"), st.integers(-330, 290).map(str)).map("".join),
)


@given(st.lists(st.tuples(texts_of_numbers, texts_of_numbers), max_size=8))
def test_numbers_are_exactly_those_of_float(rows):
    rows = [row for row in rows if all(math.isfinite(float(cell)) for cell in row)]
    content = "a,b\n" + "".join(f'{a}, "{b}"\n' for a, b in rows)
    with CsvReader(io.BytesIO(content.encode())) as reader:
        reader.read_as({"a": "number", "b": "number"})
        batch = reader.take(100)
    for i, name in enumerate("ab"):
        found = [] if batch is None else batch.columns[name].values.tolist()
        assert [struct.pack("d", value) for value in found] == [struct.pack("d", float(row[i])) for row in rows]


@pytest.mark.parametrize(
    "word", ["", " ", "na", "NA", "n/a", "N/A", "NaN", "nan", "NULL", "null", "None", '" "', '"Na"']
)
def test_missing_numbers(word):
    assert read(f"a,b\n{word},1\n".encode(), {"a": "number"}) == ([(2, {"a": None})], 0, None)


@pytest.mark.parametrize(
    "word", ["n", "nana", "n.a", "n\x0fa", "\0nan", "\0na", "nil", "+nan", "-", ".", "e5", "1e", "1 2", "nul", "nonE "]
)
def test_words_that_are_neither_numbers_nor_missing(word):
    line = None if word == "nonE " else 2
    error = read(f"a,b\n{word},1\n".encode(), {"a": "number"})[2]
    assert (error and error.line) == line


def test_utf8_is_what_python_says():
    lead = [
        0x7F,
        0x80,
        0xBF,
        0xC0,
        0xC1,
        0xC2,
        0xDF,
        0xE0,
        0xE1,
        0xEC,
        0xED,
        0xEE,
        0xEF,
        0xF0,
        0xF1,
        0xF3,
        0xF4,
        0xF5,
        0xFF,
    ]
    more = [0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    found = [bytes(each) for k in range(3) for each in itertools.product(lead, *[more] * k)]
    found += [
        bytes(each)
        for each in itertools.product([0xE0, 0xED, 0xF0, 0xF1, 0xF4, 0xF5], more, more[2:], [0x7F, 0x80, 0xBF])
    ]
    good = [each.decode() for each in found if each.decode("utf-8", "ignore").encode() == each]
    assert 0 < len(good) < len(found)
    rows, skipped, error = read(b"a\n" + b"\n".join(found), {"a": "text"}, 10_000, on_error="skip", delimiter=",")
    assert (skipped, error) == (len(found) - len(good), None)
    assert [row["a"] for _, row in rows] == good


# ---------------------------------------------------------------------- threads


def large(tmp_path, rows=400, damage=None):
    lines = [f'{i},{i / 7!r},"w{i % 5}\n{i}",{"true" if i % 3 else ""}\r\n' for i in range(rows)]
    if damage is not None:
        lines[damage] = "1,2,3\n"
    path = tmp_path / "table.csv"
    path.write_bytes(("n,x,w,b\n" + "".join(lines)).encode())
    return path


@pytest.mark.parametrize("damage", [None, 0, 123, 399])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_threads_change_nothing(tmp_path, damage, on_error):
    path = large(tmp_path, damage=damage)
    forms = {"n": "number", "x": "number", "w": "text", "b": "boolean"}
    alone = read(path, forms, 7, workers=1, on_error=on_error)
    assert len(alone[0]) == (400 if damage is None else damage if on_error == "stop" else 399)
    for workers, block in ((2, 64), (3, 300), (4, 5), (8, 5000)):
        rows, skipped, error = read(path, forms, 7, workers=workers, block=block, on_error=on_error)
        assert (rows, skipped, str(error)) == (alone[0], alone[1], str(alone[2]))
    assert not threads()


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("afterwit ")]


def test_no_thread_survives(tmp_path, monkeypatch):
    reader = CsvReader(large(tmp_path), workers=2, block=100)
    reader.take(1)
    assert threads()
    reader.close()
    assert not threads()
    with pytest.raises(StreamError, match="closed"):
        reader.take(1)
    with CsvReader(large(tmp_path, damage=200), workers=2, block=100) as reader:
        with pytest.raises(StreamError, match="4 cells were expected, as in the header; found 3") as caught:
            while reader.take(3):
                pass
        assert not threads()
        with pytest.raises(StreamError) as again:
            reader.take(3)
        assert str(again.value) == str(caught.value)
    with CsvReader(large(tmp_path), workers=2, block=100) as reader:
        reader.take(1)

        def interrupt(end):
            raise KeyboardInterrupt

        monkeypatch.setattr(reader, "_pass_problems", interrupt)
        with pytest.raises(KeyboardInterrupt):
            reader.take(1)
        assert not threads()


def test_what_has_arrived_in_a_pipe_is_read():
    end, beginning = os.pipe()
    with open(end, "rb") as source, open(beginning, "wb", buffering=0) as writer:
        writer.write(b"a,b\n1,2\n3,")
        reader = CsvReader(source)
        assert rows_of(reader.take(10)) == [(2, {"a": "1", "b": "2"})]
        writer.write(b"4\n5,6\n")
        assert rows_of(reader.take(10)) == [(3, {"a": "3", "b": "4"}), (4, {"a": "5", "b": "6"})]
        writer.write(b"7,8")
        writer.close()
        assert rows_of(reader.take(10)) == [(5, {"a": "7", "b": "8"})]
        assert reader.take(10) is None
        assert reader.size is None
        reader.close()


def test_gzip_and_the_position(tmp_path):
    path = large(tmp_path)
    plain = read(path)
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read(packed) == plain
    assert read(packed, workers=2, block=500) == plain
    positions = []
    with CsvReader(path, workers=2, block=1000, on_block=positions.append) as reader:
        while reader.take(50):
            assert 0 < reader.position <= reader.size
    assert positions == sorted(positions)
    assert positions[-1] == path.stat().st_size
    packed.write_bytes(packed.read_bytes()[:-20])
    rows, _, error = read(packed, block=500)
    assert "truncated" in str(error)
    assert 0 < len(rows) <= 400
    assert rows == plain[0][: len(rows)]


# ---------------------------------------------------------------------- the protocol


def test_batches():
    content = b'day,n,ok,w\n2024-01-31,1,TRUE,"a ""b"""\n\n2024-01-31 13:45:07.5+01:00,NA,,a"b\n,-2.5,false,\n'
    with CsvReader(io.BytesIO(content)) as reader:
        assert reader.names == ["day", "n", "ok", "w"]
        assert not reader.typed
        looked = reader.look(2)
        assert (looked.count, looked.first, looked.lines.tolist()) == (2, 1, [2, 4])
        assert values_of(looked.columns["w"]) == ['a "b"', 'a"b']
        reader.read_as({"day": "time", "n": "number", "ok": "boolean"})
        one, rest = reader.take(1), reader.take(5)
        assert reader.take(5) is None
        with pytest.raises(InputError, match="before take"):
            reader.look(3)
    assert list(one.columns) == ["day", "n", "ok"]
    assert (one.first, one.count, rest.first, rest.count) == (1, 1, 2, 2)
    assert rest.place(1) == {"path": "<stream>", "line": 5}
    assert rest.columns["day"].values.dtype == np.dtype("datetime64[us]")
    assert str(rest.columns["day"].values[0]) == "2024-01-31T12:45:07.500000"
    assert np.isnat(rest.columns["day"].values[1])
    np.testing.assert_array_equal(rest.columns["n"].values, [np.nan, -2.5])
    np.testing.assert_array_equal(rest.columns["ok"].values, [np.nan, 0])


def test_words_of_a_batch_are_few():
    content = "w\n" + "".join(f"word {i}\n" for i in range(1000))
    with CsvReader(io.BytesIO(content.encode())) as reader:
        assert [reader.take(1).columns["w"].words for _ in range(3)] == [["word 0"], ["word 1"], ["word 2"]]
        assert reader.take(300).columns["w"].words == [f"word {i}" for i in range(3, 303)]


def test_a_doubled_quote_makes_no_other_word():
    with CsvReader(io.BytesIO(b'w,v\nx"y,1\n"x""y",2\n"x""""y",3\nx""y,4\n')) as reader:
        batch = reader.take(9)
    assert batch.columns["w"].codes.tolist() == [0, 0, 1, 1]
    assert batch.columns["w"].words == ['x"y', 'x""y']


def test_skipped_rows_are_counted_and_the_first_are_shown():
    content = b"a,b\n" + b"1,2\n1\n" * 20 + b'"x'
    with CsvReader(io.BytesIO(content), on_error="skip") as reader:
        reader.read_as({"a": "number", "b": "number"})
        assert reader.take(3).count == 3
        assert reader.skipped.count == 2
        firsts = [reader.take(4).first for _ in range(4)]
        assert firsts == [7, 15, 23, 31]
        assert reader.take(4).count == 1
        assert reader.take(4) is None
    assert reader.skipped.count == 21
    assert len(reader.skipped.first) == 10
    assert reader.skipped.first[0] == "<stream>, line 3: 2 cells were expected, as in the header; found 1"
    # Many words of rows that are left out, while there is a limit for rows.
    with CsvReader(
        io.BytesIO(b"a,b\nx,1\n" + b"".join(b"y%d\n" % i for i in range(500)) + b"z,2\n"), on_error="skip"
    ) as reader:
        assert reader.look(2).columns["a"].words == ["x", "z"]
    # A word of a row that was left out is none.
    with CsvReader(io.BytesIO(b"a,b\nx,1\ny\nz,2\n"), on_error="skip") as reader:
        assert reader.look(9).columns["a"].words == ["x", "z"]
        assert reader.skipped.count == 0


# ---------------------------------------------------------------------- mistakes

MISTAKES = [
    (b"1,2\n3,4\n", {}, 1, r"cell 1 of the header is the number 1; if the file has no header, .*--names a,b,c"),
    (b" ,,\n", {}, 1, "cell 1 of the header is empty; .*--names"),
    (b"\n\na,b, a\n", {}, 3, "the column 'a' occurs twice in the header; .*--names"),
    (b"", {}, 1, "a header with the names of the columns was expected"),
    (b"a,b\n1,2\n3\n", {}, 3, "2 cells were expected, as in the header; found 1$"),
    (b"a,b\n1,2\n3,4,5\n", {}, 3, "2 cells were expected, as in the header; found 3$"),
    (b"1,2\n3\n", {"names": ["a", "b"]}, 2, "2 cells were expected, as there are names; found 1"),
    (b"a,b\n1;2\n", {}, 2, "found 1; they may be separated by ';'"),
    (b"title\n\na;b\n1;2\n", {}, 3, "1 cell was expected, as in the header; found ';', which may separate more"),
    (b"a\n1,2\n", {"delimiter": ","}, 2, "1 cell was expected, as in the header; found 2"),
    (
        b'a,b\n1,"x"y\n',
        {},
        2,
        "column b: nothing was expected between the closing quote .* found '\"x\"y'; .*--no-quotes",
    ),
    (b'a,b\n1,2\n\n1,"x\n1,2\n', {}, 4, "column b: a quoted cell begins here and does not end; .*quotes=False"),
    (b"a,b\n1,\xff\n", {}, 2, "UTF-8 text was expected, found other bytes"),
    (b'a,b\n1,"\n\xff"\n', {}, 3, "UTF-8 text was expected"),
    (b"a,\xff\n", {}, 1, "UTF-8 text was expected"),
    (b'"a,b\n', {}, 1, "does not end"),
    (b'\xff,\n"a,b', {"names": ["a", "b"]}, 1, "UTF-8"),
    (b'\xff,"\na"b\n', {}, 2, "closing quote"),
]


@pytest.mark.parametrize(("content", "options", "line", "message"), MISTAKES)
def test_mistakes_are_errors_with_their_line(content, options, line, message):
    for block in BLOCKS:
        with (
            pytest.raises(StreamError, match=message) as caught,
            CsvReader(io.BytesIO(content), block=block, **options) as reader,
        ):
            reader.look(10)
        assert caught.value.line == line
        assert caught.value.path == "<stream>"


@pytest.mark.parametrize(
    ("form", "cell", "message"),
    [
        (
            "number",
            "1,5",
            "a finite number was expected, or nothing, NA, N/A, NaN, null or None .*; found '1,5'; write it with a decimal point",
        ),
        ("number", "inf", "a finite number was expected"),
        ("number", "1e400", "a finite number was expected"),
        ("number", "1_000", "a finite number was expected"),
        ("boolean", "yes", "true or false was expected; found 'yes'"),
        ("time", "31.1.2024", "a date or moment was expected, such as 2024-01-31.*; found '31.1.2024'"),
        ("time", "2024-01-31 24:00", "a date or moment"),
        ("time", "0001-01-01 00:00+01:00", "a date or moment"),
    ],
)
def test_a_cell_of_another_form_is_an_error_with_column_and_cell(form, cell, message):
    rows, _, error = read(f'x;y\n;1\n"";{cell}\n'.encode(), {"y": form} | ({"x": "number"} if form == "number" else {}))
    assert error.line == (3 if form == "number" else 2)
    if form == "number":
        assert len(rows) == 1
        assert error.message.startswith("column y: ")
    _, _, error = read(f"x;y\n;\n;{cell}\n".encode(), {"y": form})
    assert error.line == 3
    with pytest.raises(StreamError, match=message):
        raise error


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": "ab"},
        {"delimiter": "1"},
        {"delimiter": '"'},
        {"names": []},
        {"names": ["a", "a"]},
        {"names": "ab"},
        {"on_error": "go"},
    ],
)
def test_options_that_are_not_allowed(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} must be"):
        CsvReader(io.BytesIO(b"a\n"), **options)


def test_a_line_of_text_that_was_taken_for_a_header_is_not_repeated_in_full():
    content = b"ham\t" + 50 * b"words " + b'\nham\tx"y\nham\t"x"y\n'
    expected = r"line 3: column words words .{20,40}…: nothing was expected"
    with CsvReader(io.BytesIO(content)) as reader, pytest.raises(StreamError, match=expected):
        reader.look(10)


def test_columns_without_a_name_have_one_by_their_place():
    with CsvReader(io.BytesIO(b",a, \n1,2,3\n")) as reader:
        assert reader.names == ["column 1 without a name", "a", "column 3 without a name"]
        assert rows_of(reader.look(5))[0][1]["column 3 without a name"] == "3"


def test_columns_that_are_not_there():
    with CsvReader(io.BytesIO(b"a,b\n1,2\n")) as reader:
        with pytest.raises(StreamError, match="there is no column 'c'; there are a, b"):
            reader.read_as({"c": "number"})
        with pytest.raises(InputError, match="forms must be one of number"):
            reader.read_as({"a": "float"})


def test_a_row_that_does_not_end(monkeypatch):
    monkeypatch.setattr("afterwit.streams._blocks.LONGEST_LINE", 100)
    rows, _, error = read(b"a,b\n1,2\n" + b'"' + b"x\n" * 200, block=10)
    assert len(rows) == 1
    assert error.line == 3
    assert "longer than 100 bytes; if quotes are ordinary" in str(error)
    assert "without a row" in str(read(b"\n" * 200, block=10)[2])
