"""What columns mean, cell by cell and as slowly as can be. Imports nothing from the package."""

import datetime
import math
import re

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def written(number):
    """A number as a word: whole ones without a point."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def of_cell(name, kind, cell, ngrams=1, binary=False, missing=False):
    """The features of one cell, as pairs in order."""
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return [(f"{name} is missing", 1.0)] if missing else []
    if kind == "number":
        return [(name, float(cell))]
    if kind == "boolean":
        return [(f"{name}=true" if cell else f"{name}=false", 1.0)]
    if kind == "category":
        return [(f"{name}={cell if isinstance(cell, str) else written(cell)}", 1.0)]
    if kind == "time":
        assert isinstance(cell, datetime.datetime)
        parts = [("hour", cell.hour), ("weekday", WEEKDAYS[cell.weekday()]), ("month", cell.month)]
        return [(f"{name}.{part}={value}", 1.0) for part, value in parts]
    words = re.findall(r"\w+", cell.lower())
    found = []
    for i in range(len(words)):
        for j in range(i + 1, min(len(words), i + ngrams) + 1):
            found.append(f"{name}^{' '.join(words[i:j])}")
    order = []
    for each in found:
        if each not in order:
            order.append(each)
    return [(each, 1.0 if binary else float(found.count(each))) for each in order]


def features(record, kinds, interactions=(), **how):
    """The features of a record, in order: ``kinds`` is column -> kind, in the order of the columns."""
    cells = {name: of_cell(name, kind, record.get(name), **how) for name, kind in kinds.items()}
    pairs = [pair for each in cells.values() for pair in each]
    for names in interactions:
        products = [("", 1.0)]
        for name in names:
            products = [(f"{a}*{b}" if a else b, x * y) for a, x in products for b, y in cells[name]]
        pairs += products
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def hashed_position(name, bits):
    """The position of a name by the documented hash."""
    import hashlib

    digest = hashlib.blake2b(name.encode("utf-8"), digest_size=8).digest()
    number = 0
    for byte in reversed(digest):
        number = number * 256 + byte
    return number % 2**bits
