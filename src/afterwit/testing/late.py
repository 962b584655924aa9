"""The conformance suite of labels that come late; `afterwit.testing` runs it with the others."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from afterwit.data.values import same_value
from afterwit.errors import InputError

#: How many examples wait at once for their labels.
WAITING = 7


def offers_tickets(learner: Any) -> bool:
    """Whether it takes labels that come late at all."""
    return hasattr(learner, "serve_one")


def check_at_once(make: Callable[[], Any], what: str, ones: list[Any], labels: list[Any]) -> None:
    """A label that comes before anything else is served teaches what ``learn_one`` does, bit for bit."""
    at_once, late = make(), make()
    for x, label in zip(ones, labels, strict=True):
        before = late.state()
        prediction, ticket = late.serve_one(x)
        assert same_value(late.state(), before), f"{what}: serving changed the learner"
        assert same_value(_through_json(ticket), ticket), f"{what}: a ticket is not plain data"
        expected = at_once.learn_one(x, label)
        assert same_value(prediction, late.predict_one(x)), f"{what}: serve_one is not predict_one"
        assert same_value(late.learn_late(_through_json(ticket), label), expected), (
            f"{what}: learn_late returned another prediction than learn_one"
        )
    assert late == at_once, f"{what}: serve_one and learn_late are not learn_one"


def check_many(make: Callable[[], Any], what: str, many: Any, ones: list[Any], labels: list[Any]) -> None:
    """``serve_many`` and ``learn_late_many`` are loops; what served may be a copy, a file or another process."""
    one, together = make(), make()
    predictions, tickets = together.serve_many(many)
    served = [one.serve_one(x) for x in ones]
    assert same_value(np.asarray(predictions).tolist(), [prediction for prediction, _ in served]), (
        f"{what}: serve_many is not a loop of serve_one"
    )
    assert same_value(tickets, [ticket for _, ticket in served]), f"{what}: serve_many makes other tickets"
    for begin in range(0, len(labels), WAITING):
        span = slice(begin, begin + WAITING)
        together = pickle.loads(pickle.dumps(together)) if begin % 2 else together.copy()
        returned = together.learn_late_many([_through_json(ticket) for ticket in tickets[span]], labels[span])
        singly = [one.learn_late(ticket, y) for ticket, y in zip(tickets[span], labels[span], strict=True)]
        assert same_value(np.asarray(returned).tolist(), singly), f"{what}: learn_late_many is not a loop of learn_late"
    assert together == one, f"{what}: learn_late_many is not a loop of learn_late"
    assert one.rounds == len(labels), f"{what}: a label that came late was not counted"


def check_refusals(learner: Any, x: Any, label: Any) -> None:
    """What is no ticket of the learner is refused before anything changes."""
    before = learner.state()
    ticket = learner.serve_one(x)[1]
    learner_later = learner.copy()
    learner_later.learn_one(x, label)
    later = learner_later.serve_one(x)[1]
    strangers: list[Any] = [None, [], {}, "ticket", {**ticket, "ticket": "another"}, {**ticket, "x": 1}, later]
    for stranger in strangers:
        for method, given in (
            ("learn_late", (stranger, label)),
            ("learn_late_many", ([ticket, stranger], [label] * 2)),
        ):
            try:
                getattr(learner, method)(*given)
            except InputError as error:
                message = str(error)
            else:
                raise AssertionError(f"{method} took {stranger!r}")
            assert "must be" in message, f"the message says nothing of what is allowed: {message}"
            assert same_value(learner.state(), before), (
                "a ticket was refused, but only after it had changed the learner"
            )


def _through_json(ticket: Any) -> Any:
    return json.loads(json.dumps(ticket, allow_nan=False))
