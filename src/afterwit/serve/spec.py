"""What a model is made of: a learner of the catalogue with options and a schema, or a model file."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from afterwit.core import registry
from afterwit.core.storage import load, write_model
from afterwit.data.room import limited_room
from afterwit.errors import AfterwitError, ServiceError, Words, counted, invalid, shorten, unknown_option
from afterwit.kernels._written import written_kernel
from afterwit.streams.model import Model
from afterwit.streams.schema import schema_from

#: What can be served: what is asked for a label or a number, and told the truth later.
ROLES = ("classifier", "regressor", "experts")
#: How many bytes a model may take that the service has made itself.
ROOM = 1 << 40
#: What a schema has where nothing is said.
SCHEMA: dict[str, Any] = {
    "columns": None,
    "target": None,
    "weight": None,
    "left_out": {},
    "interactions": [],
    "hash_bits": None,
}
#: How many learners a committee has at most.
MOST_MEMBERS = 100
#: Options that are tuples, which JSON does not have.
TUPLES = ("labels", "gates", "loss_range")


def catalogue() -> dict[str, Any]:
    """Every learner that can be served, by the name with which it is asked for."""
    return {registry.command_name(kind): kind for kind in registry.classes(*ROLES).values()}


def kind_named(name: Any, parameter: str = "learner") -> Any:
    """The class of that name, as "online-svm" or "OnlineSVM"."""
    kind = (registry.by_command_name(name) or registry.find(name)) if isinstance(name, str) else None
    if kind is None or getattr(kind, "role", "") not in ROLES:
        raise invalid(parameter, f"one of {', '.join(sorted(catalogue()))}", name)
    return kind


def make(learner: Any, options: Any, schema: Any = None, room: int = ROOM) -> Any:
    """A fresh model as a request describes it, in so many bytes; what is wrong is refused with one sentence."""
    with limited_room(room):
        made = _learner(learner, options, "options")
    if schema is None:
        return made
    if not isinstance(schema, dict):
        raise invalid("schema", "an object with columns, or null", schema)
    for name in schema:
        if name not in SCHEMA:
            raise unknown_option("schema", name, SCHEMA)
    return checked(Model(schema_from({**SCHEMA, **schema}), made))


def _learner(name: Any, options: Any, where: str) -> Any:
    kind = kind_named(name)
    if not isinstance(options, dict):
        raise invalid(where, "an object of options by name", options)
    return kind(**{key: _option(key, value, f"{where}.{key}") for key, value in options.items()})


def _option(name: str, value: Any, where: str) -> Any:
    """The value of an option: learners inside are objects, kernels are written as in Python, as on the command line."""
    if isinstance(value, dict) and "learner" in value and set(value) <= {"learner", "options"}:
        return _learner(value["learner"], value.get("options", {}), f"{where}.options")
    if name == "learners" and isinstance(value, (dict, list)) and len(value) > MOST_MEMBERS:
        raise invalid(where, f"at most {MOST_MEMBERS:,} learners", Words(counted(len(value), "learner")))
    if name == "learners":
        if isinstance(value, dict):
            return {each: _option("learner", inside, f"{where}.{each}") for each, inside in value.items()}
        if isinstance(value, list):
            return [_option("learner", inside, f"{where}[{i}]") for i, inside in enumerate(value)]
    if name in ("learner", "base") and isinstance(value, str):
        return _learner(value, {}, where)
    if name == "kernel" and isinstance(value, str):
        return written_kernel(value, where)
    if name in TUPLES and isinstance(value, list):
        return tuple(value)
    return value


def checked(model: Any) -> Any:
    """A model that can be served, or a refusal."""
    learner = model.learner if isinstance(model, Model) else model
    if getattr(learner, "role", "") not in ROLES or not hasattr(learner, "learn_one"):
        raise invalid("model", f"a learner that is told the truth after each example: {', '.join(ROLES)}", learner)
    if isinstance(model, Model) and model.schema.weight is not None:
        raise invalid("schema", "without a weight, because a label is learned once", Words(model.schema.weight))
    return model


def from_file(content: bytes, room: int = ROOM) -> Any:
    """The model of a file, which may take so many bytes of memory. Nothing in it is run."""
    # `load` reads from the disk only what it needs, and never more than fits.
    with tempfile.TemporaryDirectory(prefix="afterwit-") as folder:
        path = Path(folder, "model.aw")
        path.write_bytes(content)
        try:
            return checked(load(path, room))
        except AfterwitError as error:
            message = str(error).replace(f"{path}: ", "").replace(str(path), "the file")
            raise ServiceError(422, f"the model file: {message}") from None


def to_file(model: Any) -> bytes:
    """A model as the bytes of a model file."""
    file = io.BytesIO()
    write_model(model, file)
    return file.getvalue()


def described(model: Any) -> dict[str, Any]:
    """The learner and its options as plain data."""
    learner = model.learner if isinstance(model, Model) else model
    options = {name: _plain(value) for name, value in learner.parameters.items()}
    return {
        "learner": registry.command_name(type(learner)),
        "role": learner.role,
        "options": options,
        "schema": model.schema.as_data() if isinstance(model, Model) else None,
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if hasattr(value, "parameters") and hasattr(type(value), "role"):
        return {"learner": registry.command_name(type(value)), "options": _plain(value.parameters)}
    return shorten(Words(value), 200)
