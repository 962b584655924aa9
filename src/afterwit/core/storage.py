"""Saving a learner and loading it back: one file, arrays and JSON, never pickle.

The file is a zip archive with two kinds of member: ``learner.json`` (format, version, class, parameters, state)
and ``<name>.npy`` for every array. Equal learners make equal bytes. A failure leaves nothing half-written (`new_file`).
Reading runs no code from the file, reads only what the learner needs, within limits (`Archive`), and checks all of it.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import zipfile
from typing import Any, BinaryIO

import numpy as np

from afterwit.core import registry
from afterwit.core.archive import Archive
from afterwit.core.files import new_file
from afterwit.core.version import VERSION as PACKAGE
from afterwit.data import checks
from afterwit.data.room import limited_room
from afterwit.data.values import is_hashable
from afterwit.errors import InputError, ModelFileError, Words, invalid, shorten

FORMAT = "afterwit learner"
VERSION = 1
HEADER = "learner.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
#: What a class must have to be saved and loaded.
LEARNER_PARTS = ("parameters", "state", "restore")
#: What is saved and loaded like a learner, but is not one by the contract, and where it is.
NOT_LEARNERS = {
    "FrozenPredictor": "afterwit.batch.frozen",
    "Model": "afterwit.streams.model",
    "PerGroup": "afterwit.reductions.per_group",
}
#: What is neither plain data nor a learner, by its tag: the method that gives its data, and what makes it of them.
DATA_FORMS = {
    "$kernel": ("as_data", "afterwit.kernels._kernel:from_data"),
    "$class": ("as_class_data", "afterwit.concepts.finite_class:from_data"),
}
#: JSON readers refuse longer whole numbers.
TOO_LONG = 10**4000


_registered: dict[str, Any] = {}


def register(kind: Any) -> Any:
    """Let `save` and `load` handle a learner class of your own (with ``parameters``, ``state``, ``restore``).

    Usable as a class decorator. Loading builds only registered classes and those of this package, by name.
    """
    name = kind.__name__
    missing = [part for part in LEARNER_PARTS if not hasattr(kind, part)]
    if missing or _of_the_package(name) is not None or _registered.get(name, kind) is not kind:
        raise invalid("kind", "a learner class with parameters, state and restore, and a name not yet taken", kind)
    _registered[name] = kind
    return kind


def _of_the_package(name: str) -> Any:
    """The class of this package with that name, or None."""
    if name in NOT_LEARNERS:
        return getattr(importlib.import_module(NOT_LEARNERS[name]), name)
    return registry.find(name)


def _class_named(name: Any, expected: Any = None) -> Any:
    """The class of that name that may be saved and loaded."""
    kind = (_of_the_package(name) or _registered.get(name)) if isinstance(name, str) else None
    if kind is None or (expected is not None and kind is not expected):
        known = ", ".join((*registry.classes(*registry.ROLES), *NOT_LEARNERS, *_registered))
        raise invalid("learner", f"one of {known} (see afterwit.storage.register)", name)
    return kind


def save(learner: Any, path: str | os.PathLike[str]) -> None:
    """Write a learner to one file. An existing file is replaced only when the new one is complete."""
    _class_named(type(learner).__name__, type(learner))
    with new_file(path) as file:
        write_model(learner, file)


def write_model(learner: Any, file: BinaryIO) -> None:
    """Write a learner to an open binary file."""
    arrays: dict[str, Any] = {}
    about = {"format": FORMAT, "version": VERSION, "package": PACKAGE}
    header = {**about, **_described(learner, arrays)}
    with zipfile.ZipFile(file, "w") as archive:
        text = json.dumps(header, allow_nan=False, separators=(",", ":"))
        archive.writestr(zipfile.ZipInfo(HEADER, EPOCH), text, zipfile.ZIP_DEFLATED)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", EPOCH), member.getvalue(), zipfile.ZIP_DEFLATED, 1)


def _described(learner: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        "learner": type(learner).__name__,
        "parameters": _encode(learner.parameters, arrays),
        "state": _encode(learner.state(), arrays),
    }


def load(path: str | os.PathLike[str], max_bytes: Any = None) -> Any:
    """Read a learner back, exactly as it was saved. Everything in the file is checked, and none of it is run.

    max_bytes  the most memory that the numbers of the learner may take; if not given, 256 MiB or a hundred times the
               size of the file, whichever is more. A file that asks for more is refused before the memory is used.
    """
    where = os.fspath(path)
    with Archive(where, None if max_bytes is None else checks.count("max_bytes", max_bytes)) as archive:
        header = archive.text(HEADER)
        kind = _kind_of(header, where)
        try:
            with limited_room(archive.room):
                return _made(kind, header, archive)
        except ModelFileError:
            raise
        except RecursionError:
            raise ModelFileError(f"{where}: the contents are damaged (nested too deeply)") from None
        except Exception as error:  # whatever a damaged file can make a constructor trip over
            raise ModelFileError(f"{where}: the contents are damaged ({shorten(Words(error), 300)})") from None


def _kind_of(header: Any, where: str) -> Any:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{where}: is not an afterwit model file")
    version = header.get("version")
    if type(version) is not int or version != VERSION:
        made_by = shorten(header.get("package"))
        raise ModelFileError(
            f"{where}: has format version {shorten(version)}, written by afterwit {made_by}; "
            f"this is afterwit {PACKAGE}, which reads version {VERSION}"
        )
    try:
        return _class_named(header.get("learner"))
    except InputError as error:
        raise ModelFileError(f"{where}: {error}") from None


def _made(kind: Any, content: dict[str, Any], archive: Archive) -> Any:
    parts = []
    for part in ("parameters", "state"):
        if part not in content:
            raise InputError(f"{kind.__name__} has no {part}")
        parts.append(_decode(content[part], archive, part))
        if not isinstance(parts[-1], dict) or not all(isinstance(name, str) for name in parts[-1]):
            raise invalid(part, f"those of {kind.__name__}, by name", parts[-1])
    learner = kind(**parts[0])
    learner.restore(parts[1])
    return learner


def _encode(value: Any, arrays: dict[str, Any]) -> Any:
    """JSON for a value; what JSON lacks is an object with one key that starts with '$'."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if abs(value) >= TOO_LONG:
            raise InputError("a learner with a whole number of more than 4,000 digits in it cannot be saved")
        return value
    if isinstance(value, float):
        if value - value != 0:
            raise InputError(f"a learner with the number {value!r} in it cannot be saved")
        return value
    if isinstance(value, np.generic):
        return _encode(value.item(), arrays)
    if isinstance(value, list):
        return [_encode(item, arrays) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"$dict": [[_encode(key, arrays), _encode(item, arrays)] for key, item in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        if not np.isfinite(value).all():
            number = value[~np.isfinite(value)][0].item()
            raise InputError(f"a learner with the number {number!r} in it cannot be saved")
        name = f"array{len(arrays)}"
        return {"$array": _store(name, value, arrays)}
    if all(hasattr(value, part) for part in LEARNER_PARTS) and not isinstance(value, type):
        _class_named(type(value).__name__, type(value))
        return {"$learner": _described(value, arrays)}
    for tag, (as_data, _) in DATA_FORMS.items():
        if hasattr(value, as_data):
            return {tag: _encode(getattr(value, as_data)(), arrays)}
    allowed = "numbers, strings, booleans, None and tuples of these"
    raise InputError(
        f"a learner can be saved if its labels and feature names are {allowed}; "
        f"found {shorten(value)} of type {type(value).__name__}"
    )


def _store(name: str, array: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """Keep an array, or only what is not zero of a long and mostly zero one (by bits, so that -0.0 survives)."""
    if array.ndim == 1 and array.dtype == np.float64 and len(array) > 64:
        kept = np.flatnonzero(array.view(np.uint64))
        if len(kept) < len(array) // 3:
            arrays[f"{name}.positions"] = kept
            arrays[f"{name}.values"] = array[kept]
            return {"name": name, "length": len(array)}
    arrays[name] = np.ascontiguousarray(array)
    return {"name": name}


def _fetch(stored: Any, archive: Archive, field: str) -> Any:
    if not isinstance(stored, dict) or not isinstance(stored.get("name"), str):
        raise invalid(field, "an array by its name", stored)
    name = stored["name"]
    if "length" not in stored:
        return archive.array(name, field)
    length = stored["length"]
    if type(length) is not int or length < 0:
        raise invalid(f"{field}: length", "a whole number, at least 0", length)
    positions, values = archive.array(f"{name}.positions", field), archive.array(f"{name}.values", field)
    if positions.dtype != np.int64 or values.dtype != np.float64 or not positions.ndim == values.ndim == 1:
        raise invalid(field, "positions and the numbers there", Words("other arrays"))
    ascending = len(positions) == len(values) and (positions[1:] > positions[:-1]).all()
    if not ascending or (len(positions) and not 0 <= positions[0] <= positions[-1] < length):
        raise invalid(field, f"numbers at ascending positions below its length of {length:,}", Words("others"))
    archive.take(field, 8 * length)
    array = np.zeros(length)
    array[positions] = values
    return array


def _decode(value: Any, archive: Archive, field: str) -> Any:
    """The value that was encoded; ``field`` is what it is, in messages."""
    if isinstance(value, list):
        return [_decode(item, archive, field) for item in value]
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items())) if len(value) == 1 else ("", None)
    if kind == "$tuple" and isinstance(content, list):
        return tuple([_decode(item, archive, field) for item in content])
    if kind == "$dict" and isinstance(content, list):
        return _decoded_dict(content, archive, field)
    if kind == "$array":
        return _fetch(content, archive, field)
    if kind == "$learner" and isinstance(content, dict):
        return _made(_class_named(content.get("learner")), content, archive)
    if kind in DATA_FORMS:
        module, _, made_of = DATA_FORMS[kind][1].partition(":")
        return getattr(importlib.import_module(module), made_of)(_decode(content, archive, field))
    raise invalid(field, "a value as `save` writes it", value)


def _decoded_dict(pairs: list[Any], archive: Archive, field: str) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise invalid(field, "pairs of a key and a value", pair)
        key = _decode(pair[0], archive, field)
        if not is_hashable(key) or key in found:
            raise invalid(field, "a dict of different keys", key)
        found[key] = _decode(pair[1], archive, key if isinstance(key, str) else field)
    return found
