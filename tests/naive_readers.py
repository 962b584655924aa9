"""Slow and obvious readers of libsvm text, Vowpal Wabbit text and payoff matrices.

They import nothing from the package.

Each gives what a file holds, or `Refused` with the line at which a reader has to stop (None where no line is to blame).
"""

import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST_ID = 2**28 - 1
LONGEST_NAMESPACE = 255
LONGEST_FIELD = 131072


class Refused(Exception):  # noqa: N818 - what a reader does is no error of the oracle
    def __init__(self, line):
        super().__init__(line)
        self.line = line


# ---------------------------------------------------------------------- libsvm text


def libsvm(content):
    """[(label, {id: value})], ids ascending, and the line of the first mistake, or None."""
    rows = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        tokens = [token for token in re.split(rb"[ \t\r]+", line.partition(b"#")[0]) if token]
        if tokens:
            try:
                rows.append(_libsvm_row(tokens))
            except Refused:
                return rows, number
    return rows, None


def _libsvm_row(tokens):
    label, features = _decimal(tokens[0]), {}
    for token in tokens[1:]:
        name, colon, value = token.partition(b":")
        if not colon or not re.fullmatch(rb"[0-9]+", name):
            raise Refused(None)
        digits = name.lstrip(b"0") or b"0"
        if len(digits) > 9 or int(digits) > LARGEST_ID or int(digits) in features:
            raise Refused(None)
        features[int(digits)] = _decimal(value)
    return label, dict(sorted(features.items()))


def _decimal(text):
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Refused(None)
    return float(text)


# ---------------------------------------------------------------------- Vowpal Wabbit text


def vw(content):
    """[(label or NaN, importance, tag, {name: value})] and the line of the first mistake, or None."""
    rows = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        line = line.removesuffix(b"\r")
        if line.strip(b" \t"):
            try:
                rows.append(_vw_row(line))
            except Refused:
                return rows, number
    return rows, None


def _vw_row(line):
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(None) from None
    head, bar, rest = line.partition(b"|")
    if not bar or b"\t" in head.lstrip(b" \t"):
        raise Refused(None)
    numbers, tag = _words(head), b""
    if numbers and (not head.endswith((b" ", b"\t")) or numbers[-1].startswith(b"'")):
        tag = numbers.pop().removeprefix(b"'")
    if len(numbers) > 2:
        raise Refused(None)
    numbers = [_decimal(number) for number in numbers]
    label, importance = [*numbers, *(math.nan, 1.0)[len(numbers) :]]
    if importance < 0:
        raise Refused(None)
    features = {}
    for section in rest.split(b"|"):
        space = re.match(rb"[^ \t]*", section).group()
        prefix, scale = _name_and_number(space) if space else (b"", 1.0)
        if len(prefix) > LONGEST_NAMESPACE:
            raise Refused(None)
        for word in _words(section[len(space) :]):
            name, value = _name_and_number(word)
            name = (prefix + b"^" + name if prefix else name).decode("utf-8")
            features[name] = features[name] + value * scale if name in features else value * scale
            if not math.isfinite(features[name]):
                raise Refused(None)
    return label, importance, tag.decode("utf-8"), features


def _words(text):
    return [word for word in re.split(rb"[ \t]+", text) if word]


def _name_and_number(text):
    name, colon, number = text.partition(b":")
    if not name:
        raise Refused(None)
    return name, _decimal(number) if colon else 1.0


# ---------------------------------------------------------------------- CSV


def lines_of(content):
    """(number, text) of every line, with its end; a line that is not UTF-8 is refused when its turn comes."""
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise Refused(number) from None


def csv_rows(content, delimiter=None):
    """(line, cells) of every record that is not an empty line; a quoted cell may go on in the next line."""
    lines = lines_of(content)
    waiting = []
    for number, line in lines:
        waiting.append((number, line))
        if line.strip():
            break
    if delimiter is None:
        outside, quoted = "", False
        for c in waiting[-1][1] if waiting else "":
            quoted = quoted != (c == '"')
            outside += "" if quoted else c
        delimiter = max(",;\t", key=outside.count)
    characters = ((number, c) for source in (waiting, lines) for number, line in source for c in [*line, None])
    cells, cell, state, last = [], [], "begin", 0
    for number, c in characters:
        last = number
        end = c in ("\n", "\r", None)
        if state == "quoted":
            if c == '"':
                state = "closed"
            elif c is not None:
                cell.append(c)
        elif state == "closed" and c == '"':
            cell.append(c)
            state = "quoted"
        elif end:
            if c is None and (cells or state != "begin"):
                cells.append("".join(cell))
                yield number, [each.strip() for each in cells]
                cells, cell, state = [], [], "begin"
        elif c == delimiter:
            cells.append("".join(cell))
            cell, state = [], "after"
        elif state == "closed":
            raise Refused(number)
        elif state in ("begin", "after") and c == " ":
            state = "after"
        elif state in ("begin", "after") and c == '"':
            state = "quoted"
        else:
            cell.append(c)
            state = "plain"
        if len(cell) > LONGEST_FIELD:
            raise Refused(number)
    if state == "quoted":
        raise Refused(last)


def number_in(cell):
    if "_" in cell:
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def matrix(content):
    """(payoffs, names of the rows or None, names of the columns or None), cells separated by commas."""
    records = ((line, cells) for line, cells in csv_rows(content, ",") if any(cells))
    first_line, first = next(records, (None, None))
    if first is None:
        raise Refused(None)
    words = [cell for cell in (first[1:] or first) if number_in(cell) is None]
    if words and any(number_in(cell) is not None for cell in first):
        raise Refused(first_line)
    header = first if words else None
    payoffs, rows, named, width = [], [], None, None
    for line, cells in records if header else _chain((first_line, first), records):
        if named is None:
            named = number_in(cells[0]) is None and len(cells) > 1
        if named:
            rows.append(cells[0])
            cells = cells[1:]
        if width is None:
            width = len(cells)
            if header is not None:
                header = header[1:] if named and len(header) == width + 1 else header
                if len(header) != width:
                    raise Refused(first_line)
        if len(cells) != width or not width:
            raise Refused(line)
        numbers = [number_in(cell) for cell in cells]
        if any(number is None or not math.isfinite(number) for number in numbers):
            raise Refused(line)
        payoffs.append(numbers)
    if not payoffs:
        raise Refused(first_line)
    return payoffs, rows if named else None, header


def _chain(first, rest):
    yield first
    yield from rest
