"""JSON lines: what is read, whatever the size of the blocks; every mistake with its line and key."""

import gzip
import io
import json
import os

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive_tables
import table_rows
from afterwit.errors import InputError, StreamError
from afterwit.streams._cells import boolean_of, number_as_text, time_of
from afterwit.streams.batch import Booleans, Numbers, Other, Texts
from afterwit.streams.json_lines import JsonLinesReader
from table_rows import before_the_first_mistake, rows_of, values_of

BLOCKS = (1, 2, 3, 7, 1 << 20)
FORMS = ("number", "text", "boolean", "time")


def read(source, forms=None, count=1000, look=0, **options):
    return table_rows.read(JsonLinesReader, source, forms, look, count, **options)


def check(content, forms, ignore, count=1000):
    """The reader against the oracle, stopping and skipping, in blocks of all sizes."""
    try:
        found = naive_tables.json_table(content, forms, ignore)
    except naive_tables.Refused as refused:
        found = refused.line
    if isinstance(found, int):
        for block in BLOCKS:
            error = read(content, forms, block=block, ignore=ignore)[2]
            assert ("found an array" in error.message, error.line) == (True, found)
        return
    rows, line, good = before_the_first_mistake(found)
    for block in BLOCKS:
        stopped, _, error = read(content, forms, count, block=block, ignore=ignore)
        assert (stopped, error.line if error else None) == (rows, line)
        skipping = read(content, forms, count, block=block, ignore=ignore, on_error="skip")
        assert skipping == (good, len(found) - len(good), None)


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        [
            2**53,
            2**53 + 1,
            -(2**53) - 1,
            10**400,
            1e20,
            3.0,
            -0.0,
            1e16,
            "",
            "NA",
            "2024-01-31",
            "2024-01-31T10:00Z",
            "x",
        ]
    ),
    st.floats(),
    st.text(st.characters(), max_size=3),
    st.lists(st.integers(), max_size=1),
    st.dictionaries(st.sampled_from("ab"), st.none(), max_size=1),
)
rows = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), values, max_size=3), max_size=5)
some_forms = st.tuples(st.sampled_from(FORMS), st.sampled_from(FORMS))


@given(rows, some_forms, st.booleans(), st.integers(1, 3))
@example([{"a": "\ud800"}, {"a": "x"}], ("text", "text"), True, 1)
def test_what_json_writes_is_read_as_the_oracle_says(written, forms, ascii_only, count):
    lines = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in written)
    check(lines.encode("utf-8", "surrogatepass"), dict(zip("ab", forms, strict=True)), ["c"], count)


PIECES = [
    *("{", "}", "[", "]", ",", ":", '"a"', '"b"', '"c"', "1", "2.5", "NaN", "-Infinity", "null", "true", "\n", "\r\n", " ", "\t"),
    *('{"a":1}', '{"a":1}\n', '{"b":"x","a":2}\n', '{"a":1,"a":2}\n', '{"d":1}\n', '{"a":{"b":1,"b":2}}\n', '"', "1e999", "\\ud800", "\v"),
    *('{"a":"2024-01-31"}\n', "\ufeff", '{"c":[NaN]}\n', "3\n", "é"),
]  # fmt: skip


@given(
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\n \n", b'{"a":3}\n']),
    st.lists(st.sampled_from(PIECES), max_size=8).map(lambda pieces: "".join(pieces).encode()),
    st.sampled_from([b"", b"\xff", b"\xe2\x98"]),
    some_forms,
    st.integers(1, 3),
)
def test_damaged_files_are_read_as_the_oracle_says(beginning, content, end, forms, count):
    check(beginning + content + end, dict(zip("ab", forms, strict=True)), ["c"], count)


def test_looking_says_what_the_values_are():
    content = b"""{"i": 1, "f": 1, "t": "x", "b": true, "m": 3, "l": [1], "n": null, "e": ""}
{"f": 2.5, "b": null, "m": "3", "t": "", "l": 3, "o": {}, "e": 4}

{"i": -2, "m": 2.0, "t": "y", "later": 1, "x": true, "m": 1.5}
""".replace(b', "m": 1.5', b"")
    for block in BLOCKS:
        with JsonLinesReader(io.BytesIO(content), block=block, ignore=["x"]) as reader:
            assert reader.typed
            batch = reader.look(1000)
            assert reader.names == ["i", "f", "t", "b", "m", "l", "n", "e", "o", "later"]
            assert list(batch.columns) == reader.names
            assert batch.lines.tolist() == [1, 2, 4]
            kinds = {"i": Numbers, "f": Numbers, "t": Texts, "b": Booleans, "m": Texts, "n": Texts, "e": Numbers}
            assert {name: type(batch.columns[name]) for name in kinds} == kinds
            assert (batch.columns["l"], batch.columns["o"]) == (Other("list"), Other("object"))
            assert [batch.columns[name].whole for name in ("i", "f", "e")] == [True, False, True]
            assert values_of(batch.columns["m"]) == ["3", "3", "2"]
            assert values_of(batch.columns["t"]) == ["x", None, "y"]
            assert values_of(batch.columns["i"]) == [1, None, -2]
            # Nobody has said how to read: as it has looked.
            taken = reader.take(2)
            assert "l" not in taken.columns
            assert values_of(taken.columns["m"]) == ["3", "3"][: taken.count]


def test_names_are_those_of_the_rows_that_were_looked_at():
    content = b'{"a": 1}\n{"a": 2, "b": 3}\n'
    with JsonLinesReader(io.BytesIO(content)) as reader:
        assert rows_of(reader.look(1)) == [(1, {"a": 1})]
        assert reader.names == ["a"]
        assert rows_of(reader.take(5)) == [(1, {"a": 1})]
        with pytest.raises(
            StreamError, match=r"line 2: the key 'b' is in none of the first rows; leave it out with --ignore b"
        ):
            reader.take(5)
    assert read(content, {"a": "number", "b": "text"}, look=1)[0][1] == (2, {"a": 2, "b": "3"})
    assert read(content, {"a": "number"}, look=1, ignore=["b"])[0][1] == (2, {"a": 2})
    assert read(content)[0] == []
    with JsonLinesReader(io.BytesIO(content)) as reader:
        assert [row for _, row in rows_of(reader.take(5))] == [{"a": 1, "b": None}, {"a": 2, "b": 3}]
        assert reader.names == ["a", "b"]


MISTAKES = [
    (b'\n [{"a": 1}]', 2, "one JSON object a line was expected; found an array .*jq"),
    (b'{"a": 1}\n{"a": 1} {"a": 2}\n', 2, "found more behind it"),
    (b'{"a": 1}\n\n{"a": }\n', 3, "one JSON object a line was expected; found something else at character 7"),
    (b'{"a": 1}\n3\n', 2, "one JSON object a line was expected; found '3'"),
    (b'{"a": 1, "b": 2, "a": 3}\n', 1, "every key was expected at most once in an object; found 'a' twice"),
    (b'{"a": 1}\n{"a": NaN}\n', 2, "key a: a finite number was expected, .*; found NaN"),
    (b'{"a": 1}\n{"a": -Infinity}\n', 2, "key a: .*; found -Infinity"),
    (b'{"a": 1e999}\n', 1, "key a: a finite number"),
    (b'{"a": 1}\n{"a": "\xff"}\n', 2, "UTF-8 text was expected, found other bytes"),
    (b'{"a": "\\ud800"}\n', 1, r"key a: a text, .*; found '\\ud800'"),
    (b'{"\\ud800": 1}\n', None, r"every key was expected to be text; found '\\ud800'"),
    (b'{"a": ' + b"[" * 100_000, 1, "too many objects within each other"),
    (b'{"a": NaN}\n{"a": }\n', 1, "found NaN"),
]


@pytest.mark.parametrize(("content", "line", "message"), MISTAKES)
def test_mistakes_are_errors_with_their_line(content, line, message):
    for block in (3, 1 << 20):
        with (
            pytest.raises(StreamError, match=message) as caught,
            JsonLinesReader(io.BytesIO(content), block=block) as reader,
        ):
            reader.look(10)
        assert caught.value.line == line


@pytest.mark.parametrize(
    ("form", "value", "message"),
    [
        ("number", '"three"', "key a: a finite number was expected, .*; found 'three'"),
        ("number", '"1e400"', "found '1e400'"),
        ("number", "true", "; found true"),
        (
            "number",
            "9007199254740993",
            "key a: .*at most 9,007,199,254,740,992.*; found 9007199254740993.*--categorical",
        ),
        ("boolean", "1", 'key a: true or false was expected, or null or "" for a missing one; found 1'),
        ("boolean", '"yes"', "found 'yes'"),
        ("text", "[1, 2]", r"key a: a text, .*; found \[1, 2\]"),
        ("time", "5", "key a: a date or moment was expected, such as 2024-01-31.*; found 5"),
        ("time", '"5"', "key a: a date or moment was expected"),
    ],
)
def test_a_value_of_another_form_is_an_error_with_its_key(form, value, message):
    rows, _, error = read(b'{}\n{"a": ' + value.encode() + b"}\n", {"a": form})
    assert rows == [(1, {"a": None})]
    assert error.line == 2
    with pytest.raises(StreamError, match=message):
        raise error


def test_gzip_a_pipe_and_a_long_line(tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 50))
    with JsonLinesReader(path, block=20) as reader:
        reader.look(10)
        assert sum(reader.take(7).count for _ in range(5)) > 5
        assert reader.position <= reader.size == path.stat().st_size
    assert len(read(path, block=20, look=1)[0]) == 50
    end, beginning = os.pipe()
    with open(end, "rb") as source, open(beginning, "wb", buffering=0) as writer:
        writer.write(b'{"a": 1}\n{"a"')
        with JsonLinesReader(source) as reader:
            reader.look(1)
            assert reader.take(9).count == 1
            writer.write(b": 2}\n")
            assert rows_of(reader.take(9)) == [(2, {"a": 2})]
            writer.close()
            assert reader.take(9) is None
    monkeypatch.setattr("afterwit.streams._blocks.LONGEST_LINE", 100)
    assert "longer than 100 bytes" in str(read(b'{"a": "' + b"x" * 200, block=30)[2])


def test_options_that_are_not_allowed():
    with pytest.raises(InputError, match="ignore must be a list of keys"):
        JsonLinesReader(io.BytesIO(b""), ignore="ab")
    with pytest.raises(InputError, match="on_error must be"):
        JsonLinesReader(io.BytesIO(b""), on_error="go")
    with JsonLinesReader(io.BytesIO(b"")) as reader, pytest.raises(InputError, match="forms must be one of"):
        reader.read_as({"a": "float"})


# ---------------------------------------------------------------------- cells


def test_one_word_for_equal_numbers():
    same = [3, 3.0, np.int64(3), np.float32(3)]
    assert {number_as_text(value) for value in same} == {"3"}
    assert [number_as_text(value) for value in (0.0, -0.0, 2.5, 1e300, 2.0**53)] == [
        "0",
        "0",
        "2.5",
        "1e+300",
        str(2**53),
    ]


def test_truth_values_and_times():
    assert [boolean_of(text) for text in ("TRUE", "false", "1", "")] == [True, False, None, None]
    assert time_of("2024-02-29 23:59:59.5-00:30") == np.datetime64("2024-03-01T00:29:59.5")
    assert time_of("2024-01-31").dtype == np.dtype("datetime64[us]")
    wrong = (
        "2023-02-29",
        "2024",
        "2024-01-31 24:00",
        "2024-01-31 10:60",
        "2024-01-31  10:00",
        "2024-01-31 10:00:60",
        "NaT",
        "now",
    )
    assert [time_of(text) for text in wrong] == [None] * len(wrong)
