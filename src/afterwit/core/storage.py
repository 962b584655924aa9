"""Saving a learner and loading it back: one file, arrays and JSON, never pickle.

The file is a zip archive with two kinds of member: ``learner.json`` (format, version, class, parameters, state)
and ``<name>.npy`` for every array. Equal learners make equal bytes. It is written beside the target and moved into
place when it is complete, so that a failure leaves nothing half-written. Reading runs no code from the file.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from afterwit.core import registry
from afterwit.core.version import VERSION as PACKAGE
from afterwit.errors import InputError, ModelFileError, invalid, shorten

FORMAT = "afterwit learner"
VERSION = 1
HEADER = "learner.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
#: What a class must have to be saved and loaded.
LEARNER_PARTS = ("parameters", "state", "restore")
#: What is saved and loaded like a learner, but does not learn, and where it is.
NOT_LEARNERS = {"FrozenPredictor": "afterwit.batch.frozen"}
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


def load(path: str | os.PathLike[str]) -> Any:
    """Read a learner back, exactly as it was saved."""
    where = os.fspath(path)
    try:
        with zipfile.ZipFile(where) as archive:
            header = json.loads(archive.read(HEADER))
            arrays = {
                name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
    except FileNotFoundError:
        raise ModelFileError(f"{where}: there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"{where}: cannot be read ({error.strerror or error})") from None
    except KeyError:
        raise ModelFileError(f"{where}: is not an afterwit model file (it has no {HEADER})") from None
    except Exception:  # zipfile, zlib, json and numpy each have their own ways to say "corrupt"
        reason = "it is truncated, corrupt, or another kind of file"
        raise ModelFileError(f"{where}: is not a readable afterwit model file ({reason})") from None
    return _rebuild(header, arrays, where)


def _rebuild(header: Any, arrays: dict[str, Any], where: str) -> Any:
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
        kind = _class_named(header.get("learner"))
    except InputError as error:
        raise ModelFileError(f"{where}: {error}") from None
    try:
        learner = _made(kind, header, arrays)
    except Exception as error:  # whatever a damaged file can make a constructor trip over
        raise ModelFileError(f"{where}: the contents are damaged ({shorten(str(error))})") from None
    return learner


def _made(kind: Any, content: dict[str, Any], arrays: dict[str, Any]) -> Any:
    learner = kind(**_decode(content["parameters"], arrays))
    learner.restore(_decode(content["state"], arrays))
    return learner


class _TargetFile(io.FileIO):
    """A file whose write errors name the file it is to become."""

    target: Path

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            raise _unwritable(self.target, error) from None


@contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes its place only when it is complete: at every moment the old one or the whole new one."""
    target = Path(path)
    try:
        target = target.resolve()
        mode = _mode_for(target)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".afterwit-")
    except (OSError, RuntimeError, ValueError) as error:  # the last two: links in a circle, a name with a null byte
        raise _unwritable(Path(path), error) from None
    temporary = Path(name)
    try:
        raw = _TargetFile(descriptor, "r+b")
        raw.target = Path(path)
        with io.BufferedRandom(raw) as file:
            yield file
        try:
            temporary.chmod(mode)
            temporary.replace(target)
        except OSError as error:
            raise _unwritable(Path(path), error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _mode_for(target: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if target.exists():
        if not target.is_file():
            raise OSError(0, "it is not a regular file")
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _unwritable(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})")


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


def _fetch(stored: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if "length" not in stored:
        return arrays[stored["name"]]
    positions, values = arrays[f"{stored['name']}.positions"], arrays[f"{stored['name']}.values"]
    if positions.dtype != np.int64 or values.dtype != np.float64 or len(positions) != len(values):
        raise ModelFileError("an array that does not fit together")
    array = np.zeros(stored["length"])
    array[positions] = values
    return array


def _decode(value: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        if kind == "$tuple":
            return tuple(_decode(item, arrays) for item in content)
        if kind == "$dict":
            return {_decode(key, arrays): _decode(item, arrays) for key, item in content}
        if kind == "$array":
            return _fetch(content, arrays)
        if kind == "$learner":
            return _made(_class_named(content["learner"]), content, arrays)
        if kind in DATA_FORMS:
            module, _, made_of = DATA_FORMS[kind][1].partition(":")
            return getattr(importlib.import_module(module), made_of)(_decode(content, arrays))
        raise ModelFileError(f"unknown entry {kind!r}")
    return value
