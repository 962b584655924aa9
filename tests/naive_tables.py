"""Slow and obvious readers of tables: CSV text and JSON lines; they import nothing from the package.

Each gives, in the order of the file, a row as (line, values), or the line of a row that cannot be read. Numbers are
floats, missing ones None; truth values are 1.0 and 0.0; moments are whole microseconds since 1970.
"""

import json
import math
import re
from datetime import datetime, timedelta

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
MISSING = ("", "na", "n/a", "nan", "null", "none")
LINE_END = re.compile(r"\r\n|\r|\n")
TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|([+-])(\d\d)(?::?(\d\d))?)?)?", re.ASCII
)


class Refused(Exception):  # noqa: N818 - what a reader does is no error of the oracle
    """The whole file is refused, at that line if one is to blame."""

    def __init__(self, line):
        super().__init__(line)
        self.line = line


class Bad(Exception):  # noqa: N818
    """A cell is refused."""


# ---------------------------------------------------------------------- cells


def number(text):
    if text.lower() in MISSING:
        return None
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Bad
    return float(text)


def boolean(text):
    if text.lower() in MISSING:
        return None
    if text.lower() not in ("true", "false"):
        raise Bad
    return float(text.lower() == "true")


def time(text):
    if text.lower() in MISSING:
        return None
    found = TIME.fullmatch(text)
    if not found:
        raise Bad
    year, month, day, hour, minute, second, fraction, offset, sign, hours, minutes = found.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        moment += timedelta(microseconds=int((fraction or "0").ljust(6, "0")))
        if offset and offset != "Z":
            if int(hours) > 23 or int(minutes or 0) > 59:
                raise Bad
            shift = timedelta(hours=int(hours), minutes=int(minutes or 0))
            moment += shift if sign == "-" else -shift
    except (ValueError, OverflowError):
        raise Bad from None
    return (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


FORMS = {"number": number, "boolean": boolean, "time": time}


# ---------------------------------------------------------------------- CSV text


def delimiter_of(text, quotes):
    """That which occurs most in the first line that is not blank, outside of quotes."""
    lines = [line for line in LINE_END.split(text) if line.strip(" \t")]
    outside = re.sub(r'"[^"]*("|$)', "", lines[0]) if lines and quotes else "".join(lines[:1])
    return max(",;\t|", key=outside.count)


def csv_rows(text, delimiter, quotes):
    """(line, cells or the line of what is wrong) of every row; characters are bytes."""
    space = "[ ]*" if delimiter == "\t" else "[ \t]*"
    other = f"[^{re.escape(delimiter)}\r\n]*"
    inside = '((?:[^"]|"")*+)'
    end = f"(?=[{re.escape(delimiter)}\r\n]|\\Z)"
    at = 0

    def line(place):
        return 1 + sum(found.end() <= place for found in LINE_END.finditer(text))

    while at < len(text):
        blank = re.compile(f"{space}(\r\n|\r|\n|\\Z)").match(text, at)
        if blank:
            at = blank.end()
            continue
        begin, cells, wrong = at, [], None
        while True:
            quoted = re.compile(f'{space}"{inside}"{end}').match(text, at) if quotes else None
            opened = re.compile(f'{space}"').match(text, at) if quotes else None
            if quoted:
                cells.append(quoted[1].replace('""', '"'))
                at = quoted.end()
            elif opened:
                closed = re.compile(f'{inside}"').match(text, opened.end())
                if closed:
                    wrong = wrong or line(closed.end() - 1)
                    at = re.compile(other).match(text, closed.end()).end()
                else:
                    wrong = wrong or line(opened.start())
                    at = len(text)
                cells.append(None)
            else:
                plain = re.compile(other).match(text, at)
                cells.append(plain[0].strip(" " if delimiter == "\t" else " \t"))
                at = plain.end()
            if text[at : at + 1] != delimiter:
                break
            at += 1
        if wrong is None:
            try:
                text[begin:at].encode("latin-1").decode()
            except UnicodeDecodeError as error:
                wrong = line(begin + error.start)
        if wrong is None:
            cells = [cell.encode("latin-1").decode() for cell in cells]
        yield line(begin), wrong, cells
        found = LINE_END.match(text, at)
        at = found.end() if found else len(text)


def csv_table(content, forms, delimiter=None, quotes=True, names=None, any_names=False):
    """(names, rows); a row is (line, values by name) or the line at which it is wrong."""
    text = content.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    guessed = delimiter is None
    delimiter = delimiter or delimiter_of(text, quotes)
    rows = list(csv_rows(text, delimiter, quotes))
    if names is None:
        if not rows:
            raise Refused(1 + len(LINE_END.findall(text)))
        line, wrong, names = rows.pop(0)
        if wrong:
            raise Refused(wrong)
        names = [name.strip() for name in names]
        if any(names):
            names = [name or f"column {place} without a name" for place, name in enumerate(names, 1)]
        if len(set(names)) < len(names) or any(
            not name or (NUMBER.fullmatch(name) and not any_names) for name in names
        ):
            raise Refused(line)
    if guessed and len(names) == 1 and rows:
        first = LINE_END.split(text)[rows[0][0] - 1].strip(" \t")
        outside = re.sub(r'"[^"]*("|$)', "", first) if quotes else first
        if any(each in outside for each in ",;\t|" if each != delimiter):
            raise Refused(rows[0][0])
    return names, [_row(names, *row, forms) for row in rows]


def _row(names, line, wrong, cells, forms):
    if wrong or len(cells) != len(names):
        return wrong or line
    try:
        values = {
            name: (cell or None) if forms[name] == "text" else FORMS[forms[name]](cell.strip(" \t"))
            for name, cell in zip(names, cells, strict=True)
            if name in forms
        }
    except Bad:
        return line
    return line, values


def numbers_of(content):
    """(names, rows of numbers, names of the rest): those columns that hold a number somewhere and nothing else at all.

    The first 1,000 rows decide.
    """
    names, _ = csv_table(content, {}, any_names=True)
    forms = dict.fromkeys(names, "text")
    cells = csv_table(content, forms, any_names=True)[1]
    _refuse_first(cells[:1000])
    kept = []
    for name in names:
        column = [_or_none(row[1][name] or "") for row in cells[:1000]]
        if None not in column and any(cell == cell for cell in column):
            kept.append(name)
    found = csv_table(content, dict.fromkeys(kept, "number"), any_names=True)[1]
    _refuse_first(found)
    missing = {None: math.nan}
    values = [[missing.get(row[name], row[name]) for name in kept] for _, row in found]
    return kept, values, [name for name in names if name not in kept]


def _refuse_first(rows):
    for row in rows:
        if not isinstance(row, tuple):
            raise Refused(row)


def _or_none(cell):
    """The number, NaN where it is missing, None where there is something else."""
    try:
        value = number(cell.strip(" \t"))
    except Bad:
        return None
    return math.nan if value is None else value


# ---------------------------------------------------------------------- JSON lines


class Literal:
    pass


def json_table(content, forms, known):
    """Rows of these forms; a row is (line, values by name) or the line at which it is wrong."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    blank, bracket, _ = content.partition(b"[")
    if bracket and not blank.strip(b" \t\r\n\v\f"):
        raise Refused(1 + blank.count(b"\n"))
    found = []
    for line, text in enumerate(content.split(b"\n"), 1):
        try:
            if text.strip(b" \t\r"):
                found.append((line, _json_row(text.decode().strip(" \t\r"), forms, known)))
        except (ValueError, Bad, RecursionError):
            found.append(line)
    return found


def _json_row(text, forms, known):
    row = json.loads(text, object_pairs_hook=_once, parse_constant=lambda text: Literal())
    if not isinstance(row, dict) or set(row) - set(known) - set(forms):
        raise Bad
    return {name: _json_value(row.get(name), form) for name, form in forms.items()}


def _once(pairs):
    if len({key for key, _ in pairs}) < len(pairs):
        raise Bad
    return dict(pairs)


def _json_value(value, form):
    if value is None or value == "":
        return None
    is_number = type(value) in (int, float)
    if type(value) is float and not math.isfinite(value):
        raise Bad
    if form == "number" and type(value) is int and abs(value) > 2**53:
        raise Bad
    if form == "number" and is_number:
        return float(value)
    if form == "boolean" and type(value) is bool:
        return float(value)
    if form == "text" and type(value) is bool:
        return {True: "true", False: "false"}[value]
    if form == "text" and is_number:
        return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)
    if form == "text" and type(value) is str:
        value.encode()
        return value
    if form == "number" and type(value) is str:
        return number(value.strip(" \t"))
    if form in ("boolean", "time") and type(value) is str and value.lower() not in MISSING:
        return FORMS[form](value)
    raise Bad
