"""Which files a source names, and the format of a file: by its content first, by its name where that leaves a doubt."""

from __future__ import annotations

import glob
import os
import re
import zlib
from pathlib import Path
from typing import Any

from afterwit.errors import StreamError, Words, invalid, shorten
from afterwit.streams._bytes import (
    GZIP_MAGIC,
    ZSTD_MAGIC,
    Beginning,
    ByteSource,
    beginning_of_zstd,
    source_name,
    standard_input,
)

#: Text with a line for each example, whose features have names or ids already.
LINES = ("libsvm", "vw")
TABLES = ("csv", "json", "parquet", "arrow")
FORMATS = (*LINES, *TABLES)
BY_NAME = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".psv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".vw": "vw",
}
PACKED = (".gz", ".zst", ".zstd")
#: How much of a file is looked at.
HEAD = 1 << 16
#: How much of what is packed is looked at: a block of zstd data is at most 128 KiB long.
MOST_PACKED = 1 << 18
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
UTF16 = (b"\xff\xfe", b"\xfe\xff")
NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
#: A bar at the beginning, after a label, or after a tag in single quotes.
VW_LINE = re.compile(rb"\s*(?:" + NUMBER + rb"(?:\s+" + NUMBER + rb")*\s+)?(?:'[^\s|]*\s*)?\|")
#: A label with features as id:value, or nothing but features, which lack their label.
LIBSVM_LINE = re.compile(rb"\s*(?:[^\s,;|]+\s+)?\d+:[^\s,;|]+(?:\s|$)")
FEATURE = re.compile(rb"(?:^|\s)\d+:")
PLAIN_LABEL = re.compile(rb"\s*" + NUMBER + rb"\s*(?:#.*)?$")


def paths_of(source: Any) -> list[str]:
    """The files of a path, a glob pattern or a folder, sorted by name; "-" is standard input."""
    path = os.fspath(source)
    if path == "-" or os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        found = sorted(str(file) for file in Path(path).rglob("*") if file.is_file() and _is_data(file, path))
        if not found:
            raise StreamError("the folder holds no file", path=path)
        return found
    if not os.path.exists(path) and glob.has_magic(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
        if not found:
            raise StreamError("no file has a name like that", path=path)
        return found
    return [path]


def _is_data(file: Path, folder: str) -> bool:
    """Whether no part of its path below the folder is hidden: notes of other programs begin with a point or _."""
    return not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def checked_format(parameter: str, name: Any) -> str | None:
    """One of the formats, or None to find out."""
    if name is not None and name not in FORMATS:
        raise invalid(parameter, f"one of {', '.join(FORMATS)}", name)
    return None if name is None else str(name)


def format_of(source: Any) -> str:
    """The format of a file, or of what standard input begins with."""
    name = source_name(source)
    head = head_of(source)
    for magic, found in MAGIC.items():
        if head.startswith(magic):
            return found
    by_content = _format_of_text(head.removeprefix(b"\xef\xbb\xbf"))
    if head.startswith(UTF16):
        reason = "UTF-8 text was expected, found UTF-16 (iconv -f UTF-16 -t UTF-8 FILE > NEW converts it)"
        raise StreamError(reason, path=name)
    by_name = _format_of_name(name)
    if by_content is None and by_name not in (None, "csv") and _is_a_table(head):
        by_content = "csv"
    likely = by_content or by_name
    if likely is None and not head.strip():
        raise StreamError("no examples were found", path=name)
    return likely or "csv"


def _format_of_text(head: bytes) -> str | None:
    """The format of text, None if its first lines leave a doubt."""
    lines = [line for line in head.splitlines()[:20] if line.strip()]
    content = [line for line in lines if not line.lstrip().startswith(b"#")]
    if not content:
        # Where there is nothing but comments, there are no examples; only libsvm text has comments.
        return "libsvm" if lines else None
    first = lines[0].lstrip()
    if first[:1] == b"{":
        return "json"
    if VW_LINE.match(first):
        return "vw"
    plain = [line for line in content if PLAIN_LABEL.match(line)]
    if len(plain) < len(content) and LIBSVM_LINE.match(next(each for each in content if each not in plain)):
        return "libsvm"
    return None


def _is_a_table(head: bytes) -> bool:
    """Whether the first lines have cells, as many in each as in the first, and no features."""
    *lines, _ = head.split(b"\n")
    lines = [line for line in lines[:20] if line.strip()]
    if len(lines) < 2 or b"\0" in head or lines[0].lstrip()[:1] in (b"[", b"]", b"#"):
        return False
    if any(b"|" in line or FEATURE.search(line) for line in lines):
        return False
    return any(lines[0].count(mark) and len({line.count(mark) for line in lines}) == 1 for mark in (b",", b";", b"\t"))


def _suffix(name: str) -> str:
    """The end of a name, without what it is packed with."""
    path = Path(name)
    while path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    return path.suffix.lower()


def _format_of_name(name: str) -> str | None:
    return BY_NAME.get(_suffix(name))


def delimiter_of_name(name: str) -> str | None:
    """What separates cells, if the name of the file says it."""
    return {".tsv": "\t", ".tab": "\t", ".psv": "|"}.get(_suffix(name))


def head_of(source: Any) -> bytes:
    """How a file begins, unpacked; nothing is taken from standard input."""
    if source != "-":
        with ByteSource(source) as file:
            return file.read(HEAD)
    raw = standard_input()
    try:
        if isinstance(raw, Beginning):
            return _head_of_pipe(raw)
        beginning = raw.tell()
        head: bytes = raw.read(MOST_PACKED)
        raw.seek(beginning)
    except OSError as error:
        raise StreamError(f"cannot be read ({error.strerror or error})", path=source_name(source)) from None
    unpacked = _unpacked(head)
    return head if unpacked is None else unpacked


def _head_of_pipe(pipe: Beginning) -> bytes:
    """What has arrived, as soon as it has a whole line: what comes slowly is not waited for any longer."""
    packed = pipe.seen(len(ZSTD_MAGIC))
    while True:
        head = _unpacked(packed)
        line = (head or b"").lstrip()
        if b"\n" in line or b"\r" in line or len(line) >= HEAD:
            break
        before, packed = len(packed), pipe.seen(len(packed) + 1)
        if not before < len(packed) <= MOST_PACKED:
            break
    return packed if head is None else head


def _unpacked(packed: bytes) -> bytes | None:
    """The beginning of what was packed, as far as it goes; None if that is nothing, for the reader to say why."""
    if packed.startswith(GZIP_MAGIC):
        gzip = zlib.decompressobj(wbits=31)
        try:
            found = gzip.decompress(packed, HEAD)
        except zlib.error:
            return None
        return found if found or gzip.eof else None
    if packed.startswith(ZSTD_MAGIC):
        return beginning_of_zstd(packed, HEAD)
    return packed


def looks_like_a_query(source: str) -> bool:
    """Whether a string is SQL rather than a path."""
    words = source.split(None, 1)
    begins = len(words) == 2 and words[0].lower() in ("select", "with", "from")
    return begins and not os.path.exists(source)


def refuse_mixture(paths: list[str], formats: list[str]) -> None:
    """Refuse files of different formats in one source."""
    for path, found in zip(paths, formats, strict=True):
        if found != formats[0]:
            reason = (
                f"it is {found}, but {shorten(Words(paths[0]), 60)} is {formats[0]}; files of one format are expected"
            )
            raise StreamError(reason, path=path)
