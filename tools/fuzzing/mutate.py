"""Mutations: small random changes of inputs that are known to be interesting."""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

HEADER = "learner.json"

#: What numbers, names and lists are replaced by.
VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**53, 2**62, 2**63, 2**70, -(2**63),
    0.0, -0.0, 0.5, 1.0, -1.5, 5e-324, 1e-300, 1e154, 1e300, 1.7976931348623157e308,
    "", "x", "positions", "names", "square", "zero-one", "é\0", None, True, False, [], [[]], {}, [0], ["x", "x"],
    {"$tuple": []}, {"$tuple": [0, 1]}, {"$dict": []}, {"$dict": [["a", 1]]}, {"$array": {"name": "array0"}},
    {"$array": {"name": "array1", "length": 3}}, {"$learner": {}}, {"$kernel": ["linear"]}, {"$class": {"$dict": []}},
)  # fmt: skip
#: What the entries of arrays are replaced by.
NUMBERS = (0, 1, -1, 2, 3, 1e9, -1e9, 2.0**31, 2.0**62, 1e-300, 1e300, 1.7e308, -1.7e308, np.nan, np.inf, -np.inf)


def mutate_bytes(chance: random.Random, content: bytes, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """Change a few places of a text: bytes, words of its language, parts of itself, parts of another text."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 8))):
        at = chance.randrange(len(data) + 1)
        length = min(chance.choice((1, 1, 1, 2, 3, 5, 8, 20)), len(data) - at)
        way = chance.randrange(8)
        if way == 0:
            del data[at : at + length]
        elif way == 1 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif way == 2 and at < len(data):
            data[at] = chance.randrange(256)
        elif way == 3:
            data[at:at] = chance.choice(words)
        elif way == 4:
            data[at : at + length] = chance.choice(words)
        elif way == 5:
            data[at:at] = data[at : at + length] * chance.choice((1, 2, 3, 17))
        elif way == 6:
            begin = chance.randrange(len(data) + 1)
            data[at:at] = data[begin : begin + chance.randrange(40)]
        elif others:
            other = chance.choice(others)
            begin = chance.randrange(len(other) + 1)
            data[at : at + length] = other[begin : begin + chance.randrange(60)]
    return bytes(data[: 1 << 16])


# ---------------------------------------------------------------------- model files


def mutate_model(chance: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """Change a model file: mostly a value in its header or a number in an array, at times its bytes."""
    if chance.random() < 0.1:
        return mutate_bytes(chance, content, (b"PK", b"\0", b"\xff\xff\xff\xff", b"NUMPY"), others)
    header, arrays = unpacked(content)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if arrays and chance.random() < 0.4:
            name = chance.choice(sorted(arrays))
            arrays[name] = _changed_array(chance, arrays[name])
        else:
            _change_header(chance, header, unpacked(chance.choice(others))[0] if others else header)
    return packed(header, arrays, chance.random() < 0.5)


def unpacked(content: bytes) -> tuple[Any, dict[str, Any]]:
    """The header and the arrays of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read(HEADER))
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    return header, arrays


def packed(header: Any, arrays: dict[str, Any], compressed: bool = True) -> bytes:
    """A model file of these."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        # Members have a date of their own: with that of the moment no two runs would write the same bytes.
        archive.writestr(zipfile.ZipInfo(HEADER), json.dumps(header), archive.compression)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), archive.compression)
    return file.getvalue()


def _changed_array(chance: random.Random, array: Any) -> Any:
    way = chance.randrange(8)
    if way <= 3 and array.size:
        changed = array.copy()
        near = float(changed.flat[0]) + chance.choice((1, -1, 0.5))
        number = chance.choice(NUMBERS) if chance.random() < 0.7 else near
        with np.errstate(all="ignore"):
            changed.flat[chance.randrange(array.size)] = np.array(number).astype(array.dtype)
        return changed
    if way == 4:
        return array[: chance.randrange(len(array) + 1)] if array.ndim else array.reshape(1)
    if way == 5:
        return np.concatenate([array, array[:1]]) if array.ndim and len(array) else np.zeros(1, array.dtype)
    if way == 6:
        with np.errstate(all="ignore"):
            return array.astype(chance.choice(("f8", "i8", "i4", "f4", "u8", "?", ">f8")))
    return chance.choice((array.reshape(1, -1), array.reshape(-1), array[::-1] if array.ndim else array))


def _change_header(chance: random.Random, header: Any, other: Any) -> None:
    places = list(_places(header))
    parent, key = chance.choice(places)
    way = chance.randrange(6)
    if way <= 1:
        parent[key] = copy.deepcopy(chance.choice(VALUES))
    elif way == 2:
        theirs, at = chance.choice(list(_places(other)))
        parent[key] = copy.deepcopy(theirs[at])
    elif way == 3:
        mine, at = chance.choice(places)
        parent[key] = copy.deepcopy(mine[at])
    elif way == 4 and type(parent[key]) in (int, float):
        parent[key] += chance.choice((1, -1, 2, 0.25, -1e-9))
    elif isinstance(parent, list):
        if chance.random() < 0.5:
            del parent[key]
        else:
            parent.insert(key, copy.deepcopy(parent[key]))
    else:
        del parent[key]


def _places(value: Any) -> Any:
    """Every place in nested dicts and lists, as the container and the key."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(each, dict | list):
            yield from _places(each)
