"""The targets that read text: what they read, and where they stop, must be what the slow readers of tests/ say."""

from __future__ import annotations

import gzip
import io
import random
import struct
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zstandard

from afterwit.cli._matrix import read_matrix
from afterwit.errors import StreamError
from afterwit.streams import _csv
from afterwit.streams._bytes import GZIP_MAGIC, ZSTD_MAGIC
from afterwit.streams.csv_text import CsvReader
from afterwit.streams.json_lines import JsonLinesReader
from afterwit.streams.libsvm import LibsvmReader
from afterwit.streams.table import TableFile
from afterwit.streams.vw import VwReader
from fuzzing.mutate import mutate_bytes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests"))

import naive_readers
import naive_tables
import table_rows

PACKED = (GZIP_MAGIC, ZSTD_MAGIC)

LIBSVM_WORDS = (
    b" ", b"\t", b"\r", b"\n", b"\r\n", b"#", b":", b"0:", b"1:1", b" 7:2", b"+", b"-", b".", b"e", b"E-", b"e5",
    b"1e308", b"1e309", b"-1e-400", b"nan", b"inf", b"268435455:1", b"268435456:1", b"99999999999999999999:1",
    b"000000000001:2", b"123456789012345678", b"0.1", b"9007199254740993", b"1e22", b"1e23", b"\xef\xbb\xbf", b"\0",
    b"\xff", b"_", b"1_0", b"0" * 60, b"1" * 30, b"0x1p3", b"1:1 1:1", b"2:1 1:1", b"e99999999999999999999", b"\v",
    b"\f", b"-0", b"+1",
)  # fmt: skip
VW_WORDS = (
    b" ", b"\t", b"\r", b"\n", b"\r\n", b"|", b" | ", b"| ", b"|a", b"|a:2 ", b"|:2", b":", b":2", b":-0", b"'", b"'t",
    b"^", b"a^b", b"a", b" a b ", b"a a", b"a:1e308 a:1e308", b"1 ", b"-1 ", b"1 0.5 ", b"1 2 3 ", b"1 -1", b"nan",
    b"inf", b"1e308", b"1:2", b"shared", b"123456789012345678901", b"0.12345678901234567", b"\xef\xbb\xbf", b"\0",
    b"\xff", b"\xc3\xa9", b"\xc3", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xe2\x82", b"|" + b"n" * 255, b"n", b"#",
    b"\v", b"0x1", b"_", b"\n\n",
)  # fmt: skip
CSV_WORDS = (
    b",", b";", b"\t", b'"', b'""', b"\n", b"\r", b"\r\n", b" ", b"1", b"-1.5", b"NA", b"nan", b"inf", b"-inf", b"null",
    b"x", b"1e400", b"1_000", b"\xef\xbb\xbf", b"\0", b"\xff", b"\xc3\xa9", b"\xe2\x80\xa8", b"\xc2\x85", b"a,b\n",
    b"1,2\n", b",,", b'"a\nb"', b'" 1"', b"\xd9\xa1", b"0" * 40, b"'", b"\x1c", b"+nan", b"1,5",
)  # fmt: skip
TEXT_WORDS = (
    *CSV_WORDS, b"|", b"true", b"False", b"2024-01-31", b"2024-01-31T13:45:07.5+01:00", b"2024-02-30", b'"a""b"',
    b'"x"y',    b"\xe2\x98", b"0.1234567890123456789",
)  # fmt: skip
JSON_WORDS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"b"', b'"c"', b'{"a":1}\n', b"null", b"true", b"NaN",
    b"-Infinity", b"1e999", b"9007199254740993", b"-0.0", b"3.0", b'""', b'"2024-01-31"', b"\\ud800", b"\\u00e9",
    b"\xff", b"\r\n", b"\xef\xbb\xbf", b"\n", b"[" * 2000, b"\0", b"\v",
)  # fmt: skip


def mutate_libsvm(chance: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A changed file; at times one with a number whose zeros and exponent are both very long."""
    if chance.random() < 0.01:
        zeros = chance.choice((99_998, 99_999, 100_000, 123_455, 999_999)) + chance.randrange(-2, 3)
        exponent = chance.choice((zeros, zeros + 1, 10 * zeros, 10 * zeros + 7, 10**20)) + chance.randrange(-2, 3)
        number = chance.choice((f"0.{'0' * zeros}7e{exponent}", f"7{'0' * zeros}e-{exponent}"))
        return b"1 1:" + number.encode() + b" 2:1\n" + content
    return mutate_bytes(chance, content, LIBSVM_WORDS, others)


def mutate_vw(chance: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A changed file of Vowpal Wabbit text."""
    return mutate_bytes(chance, content, VW_WORDS, others)


def mutate_csv(chance: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A changed file; at times one with a cell that is too long."""
    if chance.random() < 0.002:
        return content + b"1" * chance.choice((131_070, 131_072, 131_073, 200_000))
    return mutate_bytes(chance, content, CSV_WORDS, others)


def mutate_csv_text(chance: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A changed file."""
    return mutate_bytes(chance, content, TEXT_WORDS, others)


def mutate_json(chance: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A changed file."""
    return mutate_bytes(chance, content, JSON_WORDS, others)


def judge_libsvm(content: bytes) -> str | None:
    """Compare the reader with the slow one, in blocks of several sizes."""
    return _compare_lines(content, naive_readers.libsvm, LibsvmReader, _libsvm_rows)


def judge_vw(content: bytes) -> str | None:
    """The same for Vowpal Wabbit text."""
    return _compare_lines(content, naive_readers.vw, VwReader, _vw_rows)


def _compare_lines(content: bytes, slow: Any, reader: Any, rows_of: Any) -> str | None:
    if content.startswith(PACKED):
        return None  # it says itself that it is packed
    expected, bad_line = slow(content)
    expected = [(float(label), *rest) for label, *rest in expected]
    for size, workers, most in ((1 << 20, None, 1 << 30), (7, 0, 2), (40, 2, 100)):
        rows: list[Any] = []
        line = None
        with reader(io.BytesIO(_packed(content)), block_size=size, workers=workers) as taking:
            try:
                while (block := taking.take(most)) is not None:
                    rows += rows_of(taking, *block)
            except StreamError as error:
                line = error.line
        if line != bad_line:
            return f"stopped at line {line} where {bad_line} was expected"
        if _bits(rows) != _bits(expected):
            return f"read {rows} where {expected} was expected"
    return None


def _libsvm_rows(_: Any, rows: Any, labels: Any) -> list[Any]:
    return [(float(y), x) for y, x in zip(labels.tolist(), _features(rows, rows.columns.tolist()), strict=True)]


def _vw_rows(reader: Any, rows: Any, labels: Any) -> list[Any]:
    features = _features(rows, [rows.names[column] for column in rows.columns.tolist()])
    return list(zip(labels.tolist(), reader.weights.tolist(), reader.tags, features, strict=True))


def _features(rows: Any, names: list[Any]) -> list[dict[Any, float]]:
    """The features of each row."""
    spans = [slice(rows.starts[i], rows.starts[i + 1]) for i in range(rows.count)]
    values = rows.values.tolist()
    return [dict(zip(names[span], values[span], strict=True)) for span in spans]


def _bits(rows: list[Any]) -> list[Any]:
    """Rows as something in which NaN is equal to itself, and 0 is not -0 except as a label."""
    return [
        (struct.pack("d", label + 0.0), rest, [(name, struct.pack("d", value)) for name, value in x.items()])
        for label, *rest, x in rows
    ]


def judge_table(content: bytes) -> str | None:
    """Compare tables of numbers: the columns taken for numbers, all their values, the names of the rest."""
    if content.startswith(PACKED):
        return None
    try:
        expected: Any = naive_tables.numbers_of(content)
    except naive_tables.Refused as refused:
        expected = refused.line
    with tempfile.NamedTemporaryFile() as file:
        file.write(_packed(content))
        file.flush()
        try:
            with TableFile(file.name, "csv") as opened:
                read = opened.read(opened.numeric)
            found: Any = list(read.names), read.values.tolist(), list(read.skipped)
        except StreamError as error:
            found = error.line
    return None if repr(found) == repr(expected) else f"read {found} where {expected} was expected"


def judge_matrix(content: bytes) -> str | None:
    """Compare payoff matrices."""
    if content.startswith(PACKED):
        return None
    try:
        expected = naive_readers.matrix(content)
    except naive_readers.Refused as refused:
        expected = refused.line
    for size in (1 << 20, 3):
        _csv.BLOCK = size
        try:
            read = read_matrix(io.BytesIO(_packed(content)), ",")
            found: Any = read.payoffs.tolist(), read.rows, read.columns
        except StreamError as error:
            found = error.line
        finally:
            _csv.BLOCK = 1 << 20
        if repr(found) != repr(expected):
            return f"read {found} where {expected} was expected"
    return None


def _packed(content: bytes) -> bytes:
    """As it is, or packed in one of two ways, as the content has it."""
    return (bytes, gzip.compress, zstandard.compress)[len(content) % 5 % 3](content)


def judge_csv_text(content: bytes) -> str | None:
    """Compare CSV text with the slow reader: forms, quotes and names as the content has it."""
    if content.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        return None
    chance = random.Random(content)
    options: dict[str, Any] = {"quotes": chance.random() < 0.8}
    if chance.random() < 0.2:
        options["names"] = ["a", "b"]
    try:
        names, _ = naive_tables.csv_table(content, {}, **options)
        forms = {name: chance.choice(FORMS) for name in names if chance.random() < 0.8}
        expected = naive_tables.csv_table(content, forms, **options)[1]
    except naive_tables.Refused as refused:
        forms, expected = {}, [refused.line]
    packed = gzip.compress(content) if len(content) % 5 == 0 else content
    return _compare_rows(CsvReader, packed, forms, expected, options)


def judge_json(content: bytes) -> str | None:
    """Compare JSON lines with the slow reader: forms as the content has it."""
    if content.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        return None
    chance = random.Random(content)
    forms = {name: chance.choice(FORMS) for name in ("a", "b")}
    try:
        expected = naive_tables.json_table(content, forms, ["c"])
    except naive_tables.Refused as refused:
        expected = [refused.line]
    packed = gzip.compress(content) if len(content) % 5 == 0 else content
    return _compare_rows(JsonLinesReader, packed, forms, expected, {"ignore": ["c"], "look": 0})


FORMS = ("number", "text", "boolean", "time")


def _compare_rows(make: Any, content: bytes, forms: Any, expected: list[Any], options: dict[str, Any]) -> str | None:
    before, line, good = table_rows.before_the_first_mistake(expected)
    for block in (1 << 20, 3):
        rows, _, error = table_rows.read(make, content, forms, count=3, block=block, **options)
        found = rows, None if error is None else error.line, error is not None
        if repr(found) != repr((before, line, len(before) < len(expected))):
            return f"read {found} where {(before, line)} was expected"
        rows, skipped, error = table_rows.read(make, content, forms, block=block, on_error="skip", **options)
        if error is None and repr((rows, skipped)) != repr((good, len(expected) - len(good))):
            return f"read {rows}, without {skipped}, where {good} was expected"
    return None
