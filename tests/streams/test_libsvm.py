"""The libsvm reader against the naive parser, bit for bit, whatever the blocks."""

import gzip
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from afterwit.errors import InputError, StreamError
from afterwit.streams import LibsvmStream, _lines, read_libsvm
from afterwit.streams.libsvm import LibsvmReader


def read(content, take=10**9, **options):
    if isinstance(content, str):
        content = content.encode()
    rows = []
    with LibsvmReader(io.BytesIO(content), **options) as reader:
        while (block := reader.take(take)) is not None:
            X, y = block
            assert 1 <= len(y) <= take
            for i, label in enumerate(y.tolist()):
                span = slice(X.starts[i], X.starts[i + 1])
                rows.append((label, dict(zip(X.columns[span].tolist(), X.values[span].tolist(), strict=True))))
    return rows


def bits(examples):
    return [(struct.pack("d", label + 0.0), [(k, struct.pack("d", v)) for k, v in x.items()]) for label, x in examples]


decimals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(r"[+-]?[0-9]{1,24}(\.[0-9]{0,24})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,24}([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)
spaces = st.sampled_from([" ", "  ", "\t", " \t "])
lines = st.one_of(
    st.sampled_from(["", "   ", "# nothing but a comment", "\t#1 2:3"]),
    st.tuples(
        decimals,
        st.dictionaries(st.integers(0, 3000), decimals, max_size=6),
        spaces,
        st.sampled_from(["", " ", "\r", " # 5:7", "#x"]),
    ).map(lambda t: t[0] + "".join(f"{t[2]}{k}:{v}" for k, v in t[1].items()) + t[3]),
)


@given(st.lists(lines, max_size=12), st.booleans(), st.integers(1, 5))
def test_every_number_is_read_exactly_whatever_the_blocks(text_lines, final_newline, take):
    text = "\n".join(text_lines) + ("\n" if final_newline else "")
    expected = naive.parse_libsvm(text)
    assert bits(read(text)) == bits(expected)
    assert bits(read(text, take)) == bits(expected)


@pytest.mark.parametrize("buffer", [1, 2, 7, 64])
@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_small_buffer_changes_nothing(buffer, workers):
    text = "1 1:0.5 22:-3e-2\n\n# c\n-1 3:4\n+1\n0 7:1e5 9:123456789.123456789"
    options = {"block_size": buffer, "workers": workers}
    assert bits(read(text, **options)) == bits(naive.parse_libsvm(text))
    with LibsvmReader(io.BytesIO(text.encode()), **options) as reader:
        lines = []
        while reader.take(1) is not None:
            lines += reader.row_lines.tolist()
    assert lines == [1, 4, 5, 6]


def test_ids_keep_their_positions_and_need_not_ascend():
    assert read("1 9:1 0:2 4:3\n") == [(1.0, {9: 1.0, 0: 2.0, 4: 3.0})]


def test_a_byte_order_mark_is_passed_over():
    assert read(b"\xef\xbb\xbf1 2:3\n") == [(1.0, {2: 3.0})]


def test_distinct_features_are_counted():
    with LibsvmStream(io.BytesIO(b"1 1:1 5:1\n1 5:0\n1 70000:1\n")).reader() as reader:
        counts = []
        while reader.take(1) is not None:
            counts.append(reader.features)
    assert counts == [2, 2, 3]


def test_gzip_is_known_by_its_content(tmp_path):
    text = b"1 1:2\n-1 3:4\n"
    for name, content in (
        ("a.gz", gzip.compress(text)),
        ("b", gzip.compress(text[:6]) + gzip.compress(text[6:])),
        ("c.gz", text),
    ):
        (tmp_path / name).write_bytes(content)
        stream = LibsvmStream(tmp_path / name)
        for _ in range(2):
            assert [(y, x.columns.tolist(), x.values.tolist()) for x, y in stream] == [
                (1, [1], [2.0]),
                (-1, [3], [4.0]),
            ]


def test_gzip_in_memory_and_files_opened_for_text():
    assert read(gzip.compress(b"1 2:3\n")) == [(1.0, {2: 3.0})]
    with pytest.raises(StreamError, match="opened for bytes was expected"):
        list(LibsvmStream(io.StringIO("1 2:3\n")))


def test_what_can_be_read_only_once_says_so():
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.rest = b"1 1:1\n"

        def readable(self):
            return True

        def seekable(self):
            return False

        def read(self, size=-1):
            taken, self.rest = self.rest, b""
            return taken

    stream = LibsvmStream(Pipe())
    assert [y for _, y in stream] == [1]
    with pytest.raises(StreamError, match="it can be read only once"):
        list(stream)


def test_labels_come_as_they_were_written():
    labels = [y for _, y in LibsvmStream(io.BytesIO(b"+1 1:1\n-1.0 1:1\n0.5 1:1\n"))]
    assert labels == [1, -1, 0.5]
    assert [type(y) for y in labels] == [int, int, float]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x 1:2", "found 'x' where a label (a number) was expected"),
        ("1,2 1:2", "found '1,2' where a label (a number) was expected"),
        ("1:2 3:4", "found '1:2' where a label (a number) was expected"),
        ("nan 1:2", "found 'nan' where a label"),
        ("- 1:2", "found '-' where a label"),
        ("1 2", "found '2' where a feature as id:value was expected"),
        ("1 a:2", "found 'a:2' where a feature as id:value (ids are whole numbers from 0 on) was expected"),
        ("1 -3:2", "found '-3:2' where a feature as id:value (ids are whole numbers from 0 on) was expected"),
        ("1 qid:5 3:2", "found 'qid:5' where a feature as id:value (ids are whole numbers from 0 on) was expected"),
        ("1 1.5:2", "found '1.5:2' where a feature as id:value was expected"),
        ("1 3:", "found '3:' where a feature as id:value with a number for the value was expected"),
        ("1 3: 5", "found '3:' where a feature as id:value with a number"),
        ("1 3:x", "found '3:x' where a feature as id:value with a number"),
        ("1 3:nan", "found '3:nan' where a feature as id:value with a number"),
        ("1 3:inf", "found '3:inf' where a feature as id:value with a number"),
        ("1 3:1e", "found '3:1e' where a feature as id:value with a number"),
        ("1 3:0x10", "found '3:0x10' where a feature as id:value with a number"),
        ("1 3:1_000", "found '3:1_000' where a feature as id:value with a number"),
        ("1 3:1,5", "found '3:1,5' where a feature as id:value with a number"),
        ("1 3:.", "found '3:.' where a feature as id:value with a number"),
        ("1 3:1e999", "found '3:1e999' where a finite number was expected"),
        ("1e999 3:1", "found '1e999' where a finite number was expected"),
        ("1 3:1 3:2", "found the id 3 twice where every id at most once in a line was expected"),
        ("1 5:1 3:1 5:2 7:1", "found the id 5 twice where every id at most once in a line was expected"),
        ("1 268435456:1", "found '268435456:1' where an id of at most 268,435,455 was expected"),
        ("1 99999999999999999999999:1", "where an id of at most 268,435,455 was expected"),
        ("1 \x00:1", "where a feature as id:value (ids"),
    ],
)
@pytest.mark.parametrize("before", ["", "1 1:1\n\n# comment\n-1 2:2\n"])
def test_bad_lines_are_named(line, message, before):
    with pytest.raises(StreamError) as caught:
        read(before + line + "\n1 1:1\n")
    number = before.count("\n") + 1
    assert str(caught.value).startswith(f"<stream>, line {number}: found ")
    assert message in str(caught.value)
    assert caught.value.line == number


def test_rows_before_a_bad_line_are_handed_over_first():
    with LibsvmStream(io.BytesIO(b"1 1:1\n-1 2:2\nbad\n")).reader() as reader:
        assert len(reader.take(100)[1]) == 2
        with pytest.raises(StreamError, match="line 3"):
            reader.take(100)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(StreamError, match="nothing: there is no such file"):
        LibsvmStream(tmp_path / "nothing").reader()
    with pytest.raises(StreamError, match="cannot be read"):
        LibsvmStream(tmp_path).reader()
    whole = gzip.compress(b"1 1:1\n" * 100_000)
    for content in (
        whole[: len(whole) // 2],
        whole[:-8] + b"\0\0\0\0\0\0\0\0",
        whole[:100] + b"\xff" * 50 + whole[150:],
    ):
        (tmp_path / "z.gz").write_bytes(content)
        with pytest.raises(StreamError, match="the gzip data is truncated or corrupt"):
            list(LibsvmStream(tmp_path / "z.gz"))


def test_a_file_object_is_read_again_from_where_it_stood():
    file = io.BytesIO(b"skipped\n1 1:1\n-1 2:1\n")
    file.readline()
    stream = LibsvmStream(file)
    assert [y for _, y in stream] == [y for _, y in stream] == [1, -1]


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(_lines, "LONGEST_LINE", 1000)
    for size, workers in ((1 << 20, 0), (100, 0), (100, 2)):
        with pytest.raises(StreamError, match=r"line 2: found a line longer than 1,000 bytes"):
            read(b"1 1:1\n1 " + b"1" * 5000, block_size=size, workers=workers)


def test_very_long_lines():
    text = "1 " + " ".join(f"{k}:{k}" for k in range(1, 300_000)) + "\n-1 1:1\n"
    rows = read(text)
    assert len(rows[0][1]) == 299_999
    assert rows[1] == (-1.0, {1: 1.0})


def test_errors_travel():
    import pickle

    error = pickle.loads(pickle.dumps(StreamError("found x", path="f", line=3)))
    assert str(error) == "f, line 3: found x"
    assert str(StreamError("is gone", path="f")) == "f: is gone"


def test_scikit_learn_reads_the_same(tmp_path):
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    random = np.random.default_rng(0)
    X = random.standard_normal((50, 20)) * (random.random((50, 20)) < 0.3)
    y = random.choice([-1, 1], size=50)
    dump_svmlight_file(X, y, str(tmp_path / "f"), zero_based=True)
    theirs, labels = load_svmlight_file(str(tmp_path / "f"), n_features=20, zero_based=True)
    with LibsvmStream(tmp_path / "f").reader() as reader:
        rows, ours = reader.take(100)
    assert ours.tolist() == labels.tolist()
    matrix = rows.matrix()
    matrix.resize((50, 20))
    assert (matrix.toarray() == theirs.toarray()).all()


@pytest.mark.parametrize(
    "text",
    [
        f"0.{'0' * 123_455}1e1234567",  # the exponent used to be counted to 123456 and met the zeros
        f"1{'0' * 123_456}e-1234567",
        f"0.{'0' * 123_450}1e-99999999999999999999",
        f"0.{'0' * 99_999}1e100000",
        f"0.{'0' * 999_999}1e1000000",
        f"{'0' * 200_000}7e1",
        f"{'9' * 200_000}e-199999",
        f"0.{'0' * 300}{'3' * 300}",
        "0e99999999999999999999",
        "1e-99999999999999999999",
        "1e0000000000000000000000001",
        "1e99999999999999999999",
        "-1e99999999999999999999",
    ],
    ids=lambda text: f"{text[:6]}...{text[-12:]}",
)
def test_exponents_beyond_any_counter_are_read_as_python_reads_them(text):
    expected = float(text)
    if np.isfinite(expected):
        assert bits(read(f"1 1:{text}\n")) == bits([(1.0, {1: expected})])
        return
    with pytest.raises(StreamError, match=r"line 1: found .* where a finite number was expected"):
        read(f"1 1:{text}\n")


@pytest.mark.parametrize("source", [3, None, [b"1 1:1"]])
def test_what_is_no_source_is_refused_in_a_sentence(source):
    with pytest.raises(InputError, match=r'^source must be a path, "-" for standard input, or a file opened for bytes'):
        read_libsvm(source)
