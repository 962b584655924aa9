"""Labels that come late: a ticket carries what a learner served until the label is known.

``prediction, ticket = learner.serve_one(x)`` changes nothing in the learner. The ticket is plain data, ready for JSON:
the kind of the learner, how many rounds and updates it had, the example, and what it served.
``learner.learn_late(ticket, y)`` learns the example when its label has come: from the same learner, from a copy, or in
another process from a file.

What a learner does with the label, its class says as ``late``:

served    it decides by what it served: its counters count that, and its update is the one that this prediction asks for
arrival   it learns as ``learn_one`` does when the label arrives, and counts what it would have predicted then

A learner has constant memory and cannot know whether a ticket was used before: whoever keeps the tickets does. A ticket
of another kind of learner, or from a moment that the learner has not reached, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from afterwit.data.checks import whole_number
from afterwit.data.labels import listed
from afterwit.data.rows import (
    LARGEST_POSITION,
    IdRow,
    Rows,
    SparseRow,
    as_mapping,
    members_as_features,
    number,
    read_many,
    read_one,
    stack,
)
from afterwit.errors import InputError, Words, counted, invalid, shorten

#: What a ticket always has, before what the learner served.
ABOUT = ("ticket", "rounds", "updates", "x")
#: Names and labels that a ticket can carry.
PLAIN = "a number, a string, a boolean, None or a tuple of these"
FEATURE = "the name of a feature"
#: What JSON has one kind of, by its name on a ticket.
KINDS: dict[str, Any] = {"tuple": tuple, "list": list, "array": np.array}


# ---------------------------------------------------------------------- plain data


def plain(value: Any, what: str) -> Any:
    """A name, a label or a point as plain data."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    if type(value) is tuple:
        return {"tuple": [plain(each, what) for each in value]}
    if type(value) is list:
        return {"list": [plain(each, what) for each in value]}
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuf":
        return {"array": [plain(each, what) for each in value.tolist()]}
    raise invalid(what, f"{PLAIN}, to be written on a ticket", value)


def from_plain(value: Any) -> Any:
    """What ``plain`` wrote down."""
    if not isinstance(value, dict):
        return value
    (kind, parts), *others = value.items() or [("", None)]
    if others or kind not in KINDS or not isinstance(parts, list):
        raise ValueError
    return KINDS[kind]([from_plain(each) for each in parts])


def is_plain_row(learner: Any) -> bool:
    """Whether its examples are rows of numbers."""
    kernel = getattr(learner, "kernel", None)
    return learner.takes != "points" and getattr(kernel, "takes", "vectors") == "vectors"


def plain_row(x: Any) -> dict[str, Any]:
    """One row of numbers as plain data, from which the same row can be made."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64:
        return {"values": x.tolist()}
    x = members_as_features(x) if isinstance(x, (set, frozenset)) else as_mapping(x)
    if isinstance(x, dict):
        values = [value if type(value) is float else number(f"x[{name!r}]", value) for name, value in x.items()]
        return {"names": [name if type(name) is str else plain(name, FEATURE) for name in x], "values": values}
    return plain_rows(read_one(x))[0]


def plain_rows(rows: Rows) -> list[dict[str, Any]]:
    """Every row of a block as plain data."""
    values = rows.values.tolist()
    if rows.starts is None:
        parts = [values[i * rows.width : (i + 1) * rows.width] for i in range(rows.count)]
        if rows.names is None:
            return [{"values": part} for part in parts]
        assert rows.columns is not None
        names = [plain(rows.names[j], FEATURE) for j in rows.columns.tolist()]
        return [{"names": list(names), "values": part} for part in parts]
    assert rows.columns is not None
    columns, starts = rows.columns.tolist(), rows.starts.tolist()
    spans = [slice(begin, end) for begin, end in pairwise(starts)]
    if rows.names is None:
        about = {"width": rows.width, "ids": rows.ids}
        if rows.ragged:
            widths = [columns[span][-1] + 1 if span.stop > span.start else 0 for span in spans]
            return [
                {"columns": columns[span], "values": values[span], **about, "width": width}
                for span, width in zip(spans, widths, strict=True)
            ]
        return [{"columns": columns[span], "values": values[span], **about} for span in spans]
    every = [plain(name, FEATURE) for name in rows.names]
    return [{"names": [every[j] for j in columns[span]], "values": values[span]} for span in spans]


def rows_of(examples: Sequence[Any]) -> Rows:
    """The rows that were written down, as one block. They are features by name, or by position, not both."""
    if all(set(x) == {"names", "values"} for x in examples):
        return read_many([_named(x) for x in examples])
    if all(set(x) == {"values"} for x in examples):
        widths = {len(_values(x)) for x in examples}
        if len(widths) == 1:
            return read_many(np.array([x["values"] for x in examples], dtype=np.float64).reshape(len(examples), -1))
    return stack([_sparse(x) for x in examples])


def _values(x: Any) -> list[float]:
    values = x["values"]
    if type(values) is not list or not all(type(value) is float and value - value == 0 for value in values):
        raise ValueError
    return values


def _named(x: Any) -> dict[Any, float]:
    names = [name if type(name) is str else from_plain(name) for name in x["names"]]
    row = dict(zip(names, _values(x), strict=True))
    if len(row) != len(names):
        raise ValueError
    return row


def _sparse(x: Any) -> Rows:
    """A row by position as a block of its own; of a dense one, every value is stored."""
    values = _values(x)
    if set(x) == {"values"}:
        return replace(read_one(SparseRow(np.arange(len(values)), values)), width=len(values), ids=False)
    if set(x) != {"columns", "values", "width", "ids"} or not (x["ids"] is None or type(x["ids"]) is bool):
        raise ValueError
    columns = x["columns"]
    if type(columns) is not list or not all(type(column) is int for column in columns):
        raise ValueError
    if any(one >= other for one, other in pairwise(columns)):
        raise ValueError
    rows = read_one((IdRow if x["ids"] else SparseRow)(np.array(columns, dtype=np.int64), values))
    return replace(
        rows, width=max(rows.width, whole_number("width", x["width"], 0, LARGEST_POSITION + 1)), ids=x["ids"]
    )


# ---------------------------------------------------------------------- tickets


def kind_of(learner: Any) -> str:
    """What tickets call the kind of a learner; the weights of a regressor go by its name."""
    called = getattr(learner, "_called", "")
    return called if isinstance(called, str) and called else type(learner).__name__


def new_ticket(learner: Any, moment: tuple[int, int], x: Any, served: dict[str, Any]) -> dict[str, Any]:
    """A ticket for an example, as plain data, that was served at this moment: after so many rounds and updates."""
    rounds, updates = moment
    return {"ticket": kind_of(learner), "rounds": rounds, "updates": updates, "x": x, **served}


def require_ticket(learner: Any, given: Any, fields: Iterable[str], where: str = "ticket") -> None:
    """Refuse what is no ticket of this kind of learner, or one from a moment that this learner has not reached."""
    called = kind_of(learner)
    allowed = f"what serve_one of {called} returned"
    if not isinstance(given, dict) or set(given) != {*ABOUT, *fields}:
        kind = given.get("ticket") if isinstance(given, dict) else None
        other = isinstance(kind, str) and kind != called
        raise invalid(where, allowed, Words(f"a ticket of {shorten(kind)}") if other else given)
    if given["ticket"] != called:
        raise invalid(where, allowed, Words(f"a ticket of {shorten(given['ticket'])}"))
    rounds, updates = given["rounds"], given["updates"]
    if type(rounds) is not int or type(updates) is not int or not 0 <= updates <= rounds:
        raise invalid(where, allowed, Words(f"one of {shorten(rounds)} rounds and {shorten(updates)} updates"))
    had = moment_of(learner)
    if rounds > had[0] or updates > had[1] or had[1] - updates > had[0] - rounds:
        remedy = "load the learner's newest file"
        allowed = f"from a moment this learner has passed, in its {counted(had[0], 'round')} with {had[1]:,} updates"
        moment = f"one from round {rounds:,} with {updates:,} updates; {remedy}"
        raise invalid(where, allowed, Words(moment))


def read_rows(learner: Any, tickets: Sequence[Any], where: Sequence[str]) -> Rows:
    """The rows of numbers of tickets, as one block; refused if one is none, or does not fit to the others."""
    try:
        rows = rows_of([each["x"] for each in tickets])
    except (ValueError, TypeError, KeyError, OverflowError):
        for each, name in zip(tickets, where, strict=True):
            try:
                rows_of([each["x"]])
            except (ValueError, TypeError, KeyError, OverflowError):
                raise unreadable(name, learner, each["x"]) from None
        raise invalid("tickets", "all with features by name, or all by position", Words("both")) from None
    return replace(rows, single=where[0] == "ticket")


def places(tickets: Sequence[Any]) -> list[str]:
    """What messages call many tickets."""
    return [f"tickets[{i}]" for i in range(len(tickets))]


def require_as_many(labels: Any, tickets: Sequence[Any]) -> None:
    """Refuse labels that are not one for each ticket."""
    if len(labels) != len(tickets):
        raise invalid(
            "y", f"as long as tickets ({counted(len(tickets), 'ticket')})", Words(counted(len(labels), "label"))
        )


def unreadable(where: str, learner: Any, x: Any) -> InputError:
    """What to raise for a ticket whose example is none."""
    return invalid(f"x of the {where}", f"an example as serve_one of {kind_of(learner)} writes it", x)


def moment_of(learner: Any) -> tuple[int, int]:
    """How many rounds and updates a learner has now; one that does not count updates changes in every round."""
    rounds = learner.rounds
    return rounds, getattr(learner, "updates", rounds)


# ---------------------------------------------------------------------- learners that learn as of arrival


def serve_one(learner: Any, x: Any) -> tuple[Any, dict[str, Any]]:
    """The prediction for x, and a ticket for ``learn_late``, which is plain data. Nothing changes."""
    moment = moment_of(learner)
    prediction = learner.predict_one(x)
    written = plain_row(x) if is_plain_row(learner) else {"point": plain(x, "x")}
    return prediction, new_ticket(learner, moment, written, {"prediction": plain(prediction, "the prediction")})


def serve_many(learner: Any, X: Any) -> tuple[Any, list[dict[str, Any]]]:
    """``serve_one`` for every row of X: the predictions as an array, and a list of tickets."""
    moment = moment_of(learner)
    predictions = learner.predict_many(X)
    written = plain_rows(_read(X)) if is_plain_row(learner) else [{"point": plain(x, "x")} for x in X]
    served = [{"prediction": plain(each, "the prediction")} for each in predictions.tolist()]
    return predictions, [new_ticket(learner, moment, *pair) for pair in zip(written, served, strict=True)]


def learn_late(learner: Any, ticket: Any, y: Any) -> Any:
    """Learn the example of a ticket, whose label has come. Returns the prediction that was served."""
    require_ticket(learner, ticket, ("prediction",), "ticket")
    prediction = _served(ticket, "ticket")
    if not is_plain_row(learner):
        learner.learn_one(_point(learner, ticket, "ticket"), y)
        return prediction
    rows = read_rows(learner, [ticket], ["ticket"])
    if rows.starts is None or rows.names is not None:
        learner.learn_one(rows.row(0), y)
    else:
        # A sparse row, taken alone, does not say how wide it is.
        learner.learn_many(rows, [y])
    return prediction


def learn_late_many(learner: Any, tickets: Any, y: Any) -> Any:
    """``learn_late`` for every ticket in order. Returns the predictions that were served."""
    tickets = list(tickets)
    labels = listed(y)
    require_as_many(labels, tickets)
    where = places(tickets)
    for each, place in zip(tickets, where, strict=True):
        require_ticket(learner, each, ("prediction",), place)
    served = [_served(*pair) for pair in zip(tickets, where, strict=True)]
    if tickets and is_plain_row(learner):
        learner.learn_many(read_rows(learner, tickets, where), labels)
    elif tickets:
        learner.learn_many([_point(learner, *pair) for pair in zip(tickets, where, strict=True)], labels)
    return as_array(served)


def _read(X: Any) -> Rows:
    if isinstance(X, Sequence) and any(isinstance(x, (set, frozenset)) for x in X):
        X = [members_as_features(x) if isinstance(x, (set, frozenset)) else x for x in X]
    return read_many(X)


def _served(given: Any, where: str) -> Any:
    try:
        return from_plain(given["prediction"])
    except ValueError:
        raise invalid(f"prediction of {where}", "a label as serve_one writes it", given["prediction"]) from None


def _point(learner: Any, given: Any, where: str) -> Any:
    try:
        return from_plain(given["x"]["point"])
    except (ValueError, TypeError, KeyError):
        raise unreadable(where, learner, given["x"]) from None


def as_array(values: list[Any]) -> Any:
    """Many predictions as ``predict_many`` has them: numbers if all are of one kind, otherwise objects."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
