"""Vowpal Wabbit text against the naive reader, bit for bit, whatever the blocks and threads."""

import io
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import afterwit as aw
import naive_readers
from afterwit.data.rows import read_many
from afterwit.errors import InputError, StreamError
from afterwit.streams import vw
from afterwit.streams._vw import VwParser
from afterwit.streams.vw import VwReader, VwStream


def read(content, take=10**9, **options):
    """[(label, importance, tag, features)] and the line of the first mistake, or None."""
    found = []
    with VwReader(io.BytesIO(content), **options) as reader:
        while True:
            try:
                block = reader.take(take)
            except StreamError as error:
                return found, error.line
            if block is None:
                return found, None
            rows, labels = block
            assert 1 <= len(labels) == rows.count == len(reader.weights) == len(reader.tags) <= take
            assert labels.dtype == reader.weights.dtype == np.float64
            xs = dicts(rows)
            same(rows, read_many(xs))
            found += zip(labels.tolist(), reader.weights.tolist(), reader.tags, xs, strict=True)


def dicts(rows):
    spans = [slice(rows.starts[i], rows.starts[i + 1]) for i in range(rows.count)]
    return [
        {rows.names[j]: value for j, value in zip(rows.columns[span].tolist(), rows.values[span].tolist(), strict=True)}
        for span in spans
    ]


def same(rows, others):
    assert rows.names == others.names
    assert (rows.count, rows.width, rows.first, rows.ids) == (others.count, others.width, others.first, others.ids)
    for mine, theirs in ((rows.values, others.values), (rows.columns, others.columns), (rows.starts, others.starts)):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def bits(found):
    rows, line = found
    return [
        (struct.pack("dd", y, weight), tag, [(name, struct.pack("d", v)) for name, v in x.items()])
        for y, weight, tag, x in rows
    ], line


#: The kinds of lines that Vowpal Wabbit's own files have: labels of all kinds, importances, tags, namespaces with and
#: without scale, features with and without value, names that are numbers, marks or in other scripts, empty examples.
KINDS = """\
1 |features 13:3.9656971e-02 24:3.4781646e-02 69:4.6296168e-02
0 | price:.23 sqft:.25 age:.05 2006
1 2 'second_house | price:.18 sqft:.15 age:.35 1976
0 1 0.5'third| price:.53
|excuse the_dog:2 ate my homework
-1 |Word_1 don't 100% "quoted" <tag/> a=b a^b #1 & |Word_2:0.5 don't:3 x
-1.5e0 0.001 ex-7|n |m x |n y
1 |a x:1 |b x:1 |a:2 x:1 z
 'only_tag |f x
touching|f x

3 |
0.25 |\u00fcber stra\u00dfe:2 \u65e5\u672c\u8a9e \U0001f600:-0
\t 1 2 |f\tx:1\ty\t
"""


def test_lines_of_all_kinds():
    content = KINDS.encode()
    # "0.5'third" touches the bar: it is the tag.
    rows, line = read(content)
    assert line is None
    assert len(rows) == 13
    assert rows[1] == (0.0, 1.0, "", {"price": 0.23, "sqft": 0.25, "age": 0.05, "2006": 1.0})
    assert rows[2][:3] == (1.0, 2.0, "second_house")
    assert rows[3] == (0.0, 1.0, "0.5'third", {"price": 0.53})
    assert np.isnan(rows[4][0])
    assert rows[4][3] == {"excuse^the_dog": 2.0, "excuse^ate": 1.0, "excuse^my": 1.0, "excuse^homework": 1.0}
    assert rows[5][3]["Word_2^don't"] == 1.5
    assert rows[7][3] == {"a^x": 3.0, "b^x": 1.0, "a^z": 2.0}
    assert rows[10] == (3.0, 1.0, "", {})
    assert rows[11][3] == {
        "\u00fcber^stra\u00dfe": 2.0,
        "\u00fcber^\u65e5\u672c\u8a9e": 1.0,
        "\u00fcber^\U0001f600": -0.0,
    }
    assert rows[12] == (1.0, 2.0, "", {"f^x": 1.0, "f^y": 1.0})
    assert bits((rows, None)) == bits(naive_readers.vw(content))


WORDS = [
    *[" ", "\t", "\n", "\r\n", "\r", "|", "| ", " |", ":", "'", "^", "a", "b", "a b", "1", "-1", "0", "2 ", ".5", ":2", ":1e3"],
    *["1e308", ":1e308", "nan", "inf", ":x", "1 |f x:2 y\n", "-1 2 'tag |f:2 x |g x:3\n", "| a a a:2 b\n", "\u00e9", "\x00"],
    *["|ns:0.5 ", "tag|", "shared | x\n", "1:2", "a^b", "123456789012345678901234567890", "\ufeff", "e5", "#", "7" * 40],
]  # fmt: skip
fragments = st.one_of(
    st.sampled_from([word.encode() for word in WORDS]),
    st.sampled_from([b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xc0\x80", b"\xf5"]),
)
numbers = st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), st.integers(-5, 5).map(str))
others = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r:|"), min_size=1, max_size=4)
names = st.one_of(st.sampled_from("abc"), others)
valued = st.one_of(names, st.tuples(names, numbers).map(":".join))
spaces = st.one_of(st.just("| "), valued.map(lambda name: f"|{name} "))
sections = st.tuples(spaces, st.lists(valued, max_size=5).map(" ".join)).map("".join)
heads = st.sampled_from(["", "1 ", "-1 0.5 ", "1 'tag ", "0 2 'x", "it", "'it "])
lines = st.tuples(heads, st.lists(sections, min_size=1, max_size=3).map(" ".join)).map("".join).map(str.encode)
contents = st.one_of(
    st.lists(fragments, max_size=40).map(b"".join),
    st.lists(st.one_of(lines, fragments), max_size=8).map(b"\n".join),
    st.lists(lines, max_size=20).map(b"\r\n".join),
)


@given(contents, st.integers(1, 5), st.integers(1, 40), st.integers(0, 3))
@example(b"1 |a \xc3\xa9:1 \xc3\xa9:2\n|a \xc3\n", 1, 2, 1)
@example(b"x\r\r\n", 1, 1, 0)
def test_it_reads_what_the_naive_reader_reads_and_stops_where_it_stops(content, take, block_size, workers):
    expected = bits(naive_readers.vw(content))
    assert bits(read(content)) == expected
    assert bits(read(content, take, block_size=block_size, workers=workers)) == expected


@given(contents, st.integers(1, 5), st.integers(1, 40), st.integers(0, 3))
def test_lines_that_cannot_be_read_are_left_out(content, take, block_size, workers):
    kept, good, bad, rest = [], [], [], content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(rest, 1):
        rows, mistake = naive_readers.vw(b"\n" + line)
        kept += rows
        bad += [] if mistake is None else [number]
        good += [number] * len(rows)
    with VwReader(io.BytesIO(content), on_error="skip", block_size=block_size, workers=workers) as reader:
        found = []
        while (block := reader.take(take)) is not None:
            found += zip(block[1].tolist(), reader.weights.tolist(), reader.tags, dicts(block[0]), strict=True)
            # Those before its last row have been counted, and none beyond the next row.
            last = reader.row_lines[-1]
            after = min((line for line in good if line > last), default=len(rest) + 1)
            assert sum(line < last for line in bad) <= reader.skipped.count <= sum(line < after for line in bad)
    assert bits((found, None)) == bits((kept, None))
    assert reader.skipped.count == len(bad)
    assert [message.partition(":")[0] for message in reader.skipped.first] == [f"<stream>, line {n}" for n in bad[:10]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1 2 3", "found '1' where a bar before the features was expected, as in Vowpal Wabbit text: LABEL |NAMES"),
        (b"x |f a", "found 'x' where one number as the label was expected (several labels, costs, shared lines"),
        (b"shared |f a", "found 'shared' where one number as the label was expected"),
        (b"1:0.5 2:1 |f a", "found '1:0.5' where one number as the label was expected"),
        (b"1,2 |f a", "found '1,2' where one number as the label was expected"),
        (b"nan |f a", "found 'nan' where one number as the label"),
        (b"1e999 |f a", "found '1e999' where a finite number was expected"),
        (b"1 x |f a", "found 'x' where an importance, a number that is at least 0, was expected"),
        (b"1 -2 |f a", "found '-2' where an importance, a number that is at least 0, was expected"),
        (b"1 2 0.5 |f a", "found '0.5' where the bar or a tag was expected (an initial prediction is not read"),
        (b"'a 1 |f a", 'found "\'a" where one number as the label'),
        (b"7\t1 |f a", "found '7' where spaces instead of tabs were expected before the bar"),
        (b"1 |:2 a", "found '|:2' where a namespace as |name or |name:scale was expected"),
        (b"1 |f: a", "found '|f:' where a namespace as |name:scale with a number for the scale was expected"),
        (b"1 |f:1e999 a", "found '|f:1e999' where a finite number was expected"),
        (b"1 |" + b"n" * 256 + b" a", "where a namespace of at most 255 bytes was expected"),
        (b"1 |f :2", "found ':2' where a feature as name or name:value was expected"),
        (b"1 |f a:", "found 'a:' where a feature as name:value with a number for the value was expected"),
        (b"1 |f a:b", "found 'a:b' where a feature as name:value with a number for the value was expected"),
        (b"1 |f a:1:2", "found 'a:1:2' where a feature as name:value with a number"),
        (b"1 |f a:nan", "found 'a:nan' where a feature as name:value with a number"),
        (b"1 |f a:1e200:1", "found 'a:1e200:1' where a feature as name:value"),
        (b"1 |f:1e200 a:1e200", "found 'a:1e200' where a finite number was expected"),
        (b"1 |f a:1e308 a:1e308", "found 'a:1e308' where a finite number was expected"),
        (b"1 |f a\xff", "found 'a\ufffd' where UTF-8 text was expected"),
        (b"1 |\xff a", "found '|\ufffd' where UTF-8 text was expected"),
        (b"1 '\xff |f a", 'found "\'\ufffd" where UTF-8 text was expected'),
    ],
)
@pytest.mark.parametrize("before", [b"", b"1 |f a\n\n-1 |f b\r\n"])
def test_bad_lines_are_named(line, message, before):
    with pytest.raises(StreamError) as caught:
        list(VwStream(io.BytesIO(before + line + b"\n1 |f a\n")))
    number = before.count(b"\n") + 1
    assert str(caught.value).startswith(f"<stream>, line {number}: found ")
    assert message in str(caught.value)
    assert caught.value.line == number


def test_names_of_a_line_that_is_left_out_are_forgotten():
    content = b"1 |f a\n1 |f b c d e:x\n1 |f d a\n"
    with VwReader(io.BytesIO(content), on_error="skip") as reader:
        rows, _ = reader.take(10)
        assert rows.names == ["f^a", "f^d"]
        assert reader.features == 2
        assert reader.skipped.first == [
            "<stream>, line 2: found 'e:x' where a feature as name:value with a number for the value was expected"
        ]


@pytest.mark.parametrize("take", [1, 2, 3, 7])
def test_a_part_of_a_block_has_its_names_in_its_own_order(take):
    random = np.random.default_rng(0)
    words = [f"w{k}" for k in range(8)]
    lines = [f"1 |f {' '.join(random.permutation(words)[: random.integers(0, 6)])}\n" for _ in range(60)]
    content = "".join(lines).encode()
    assert bits(read(content, take)) == bits(naive_readers.vw(content))


def test_lines_are_counted_as_left_out_when_their_turn_comes():
    with VwReader(io.BytesIO(b"bad\n1 |f a\nbad\nbad\n1 |f b\n1 |f c\nbad\n"), on_error="skip") as reader:
        counts = []
        while reader.take(1) is not None:
            counts.append((reader.skipped.count, *reader.row_lines.tolist()))
        assert counts == [(3, 2), (3, 5), (4, 6)]


def test_many_names_in_one_block():
    names = [f"n{k * 7919 % 10_007}" for k in range(10_007)]
    content = "".join(f"{k % 2} |s {name} {names[k // 2]}\n" for k, name in enumerate(names)).encode()
    assert read(content, block_size=1 << 20) == naive_readers.vw(content)
    with VwReader(io.BytesIO(content)) as reader:
        assert reader.take(10**9)[0].names == [f"s^{name}" for name in names]
        assert reader.features == 10_007


def test_names_with_the_same_hash_are_told_apart(monkeypatch):
    # With this factor, the hash is that of the letters in any order, and all names meet in one place of the table.
    monkeypatch.setattr(vw, "VwParser", lambda: VwParser(factor=1))
    words = ["ab", "ba", "aab", "bab", "b", "a", "abab", "baba", "^b", "cab", "bac"]
    lines = [f"{k} |{space} {' '.join(words[k % 5 :])}" for k in range(9) for space in ("", "ab", "ba", "a", "c")]
    lines[7] += " zz az za :"
    content = "\n".join([*lines, ""]).encode()
    kept = "\n".join(lines[:7] + lines[8:]).encode()
    expected = naive_readers.vw(kept)[0]
    with VwReader(io.BytesIO(content), on_error="skip") as reader:
        assert dicts(reader.take(10**9)[0]) == [x for *_, x in expected]
        assert reader.skipped.count == 1


def test_a_stream_is_played_and_can_be_iterated_again():
    stream = VwStream(io.BytesIO(b"1 |f a b:2\n-1 |f c\n0.5 |f a\n |f b\n"))
    first, again = list(stream), list(stream)
    assert (
        [x for x, _ in first]
        == [x for x, _ in again]
        == [{"f^a": 1.0, "f^b": 2.0}, {"f^c": 1.0}, {"f^a": 1.0}, {"f^b": 1.0}]
    )
    assert [y for _, y in first][:3] == [1, -1, 0.5]
    assert [type(y) for _, y in first] == [int, int, float, float]
    assert repr(stream) == "VwStream('<stream>')"
    content = b"".join(b"%d |f a:%d b\n" % (1 if k % 3 else -1, k % 3) for k in range(300))
    in_blocks, one_by_one = aw.Perceptron(), aw.Perceptron()
    aw.play(in_blocks, VwStream(io.BytesIO(content)))
    for x, y in VwStream(io.BytesIO(content)):
        one_by_one.learn_one(x, y)
    assert in_blocks == one_by_one


def test_what_to_do_with_mistakes_is_one_of_two():
    with pytest.raises(InputError, match="on_error must be 'stop' or 'skip'; received 'ignore'"):
        VwStream("f", on_error="ignore")
