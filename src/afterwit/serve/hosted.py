"""A model in memory: what it says to an example, and the one way in which it changes: an event of its log.

Live, after a restart and in a replay the same events come in the same order, so the state is the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import scipy.sparse as sp

from afterwit.core import late
from afterwit.core.learner import BinaryLearner
from afterwit.core.probabilities import logistic
from afterwit.data.losses import get
from afterwit.data.targets import read_target
from afterwit.errors import AfterwitError, DivergenceError, InputError, invalid, shorten
from afterwit.serve.log import Event, Served
from afterwit.serve.progress import Progress
from afterwit.streams.model import Model

#: What x is, for a learner of the role.
EXAMPLE = "an object of values by name, or a list of numbers"
RECORD = "an object of values by column"
ADVICE = "an object of forecasts by expert, or a list of forecasts; null for an expert that sleeps"

Resolve = Callable[[Event], Served]


class Hosted:
    """A model that is being served.

    model    the learner, or a `Model` with its schema
    digest   the SHA-256 of its file before its first event
    n        how many events of its log it has seen
    at       when the last one was
    """

    def __init__(self, model_id: int, name: str, model: Any, digest: str) -> None:
        self.model_id = model_id
        self.name = name
        self.model = model
        self.digest = digest
        self.schema = model.schema if isinstance(model, Model) else None
        self.learner = model.learner if isinstance(model, Model) else model
        self.role: str = self.learner.role
        #: How many rounds it had learned before the first event.
        self.before: int = self.learner.rounds
        self.n = 0
        self.at = 0
        #: When it was made.
        self.created = 0
        self.frozen = False
        self.progress = Progress(None if self.role == "classifier" else _loss_of(self.learner))
        self._by_what_it_served = getattr(self.learner, "late", "arrival") == "served"
        self._by_score = isinstance(self.learner, BinaryLearner)
        self._takes_points = self.role != "experts" and not late.is_plain_row(self.learner)
        self._asks = getattr(self.learner, "asks", None)
        self._has_intervals = hasattr(self.learner, "interval_one")

    # ------------------------------------------------------------------ what it says

    def read(self, x: Any) -> Any:
        """An example of a request as the learner takes it."""
        if self.schema is not None:
            if not isinstance(x, dict):
                raise invalid("x", RECORD, x)
            return self.model.features(x)
        if self.role == "experts":
            if not isinstance(x, (dict, list)):
                raise invalid("x", ADVICE, x)
            return x
        if self._takes_points:
            return _as_point(x)
        if isinstance(x, dict):
            return x
        if not isinstance(x, list):
            raise invalid("x", EXAMPLE, x)
        return _as_row(x)

    def serve(self, x: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the caller is told of x, and what its ticket has besides. Nothing changes."""
        learner, example = self.learner, self.read(x)
        more: dict[str, Any] = {}
        said: dict[str, Any] = {}
        if self.role == "classifier":
            if self._by_score:
                score = learner.score_one(example)
                said["label"] = learner.labels[score >= 0]
                said["score"] = score
                if learner.gives_probabilities:
                    negative, positive = learner.labels
                    said["probabilities"] = {str(negative): logistic(-score), str(positive): logistic(score)}
            else:
                said["label"] = late.plain(learner.predict_one(example), "the prediction")
                if getattr(learner, "gives_probabilities", False):
                    chances = learner.predict_proba_one(example)
                    said["probabilities"] = {str(label): float(chance) for label, chance in chances.items()}
            if getattr(learner, "_undecided", False):
                more["undecided"] = True
        elif self._by_what_it_served and self.role == "experts":
            forecast, ticket = learner.serve_one(example)
            said["forecast"], more["complement"] = forecast, ticket["complement"]
        else:
            forecast = learner.predict_one(example)
            said["forecast"] = forecast.tolist() if isinstance(forecast, (np.ndarray, np.generic)) else forecast
        if self._has_intervals:
            said["interval"] = [end if math.isfinite(end) else None for end in learner.interval_one(example)]
        if self._by_what_it_served and self.role != "experts":
            more["updates"] = learner.updates
        if self._asks is not None:
            said["asks"] = bool(self._asks(example))
        said["rounds"] = learner.rounds
        return said, more

    def check_example(self, x: Any) -> None:
        """Refuse what is no example now. Nothing changes."""
        self.learner.predict_one(self.read(x))

    def check_label(self, y: Any) -> None:
        """Refuse what is no label now. Nothing changes."""
        learner = self.learner
        if self.role == "experts":
            (learner._inside.read_outcome if self._has_intervals else learner._read_outcome)(y)
        elif self.role == "regressor":
            read_target(y)
        elif not learner.many_labels:
            learner._sign(y)
        elif type(y) not in (bool, int, float, str) or y != y:
            raise invalid("y", "a number, a string or a boolean", y)
        elif learner.labels is not None and y not in learner.labels:
            raise invalid("y", f"one of {', '.join(map(repr, learner.labels))}", y)

    # ------------------------------------------------------------------ how it changes

    def apply(self, events: Sequence[Event], resolve: Resolve) -> None:
        """See further events of the log, in order; ``resolve`` finds what a label is about."""
        for kind, group in groupby(events, lambda event: event.kind):
            part = list(group)
            if part[0].n != self.n + 1:
                raise InputError(f"the log of {self.name} has no event {self.n + 1:,}")
            done, error = self.take(kind, part, resolve)
            if done < len(part):
                raise InputError(f"the log of {self.name} cannot be played again at event {part[done].n:,}: {error}")

    def take(self, kind: str, events: Sequence[Event], resolve: Resolve) -> tuple[int, AfterwitError | None]:
        """See events of one kind: how many of them could be seen, and what was wrong with the next one."""
        if kind in ("label", "learn"):
            served = [resolve(event) for event in events]
            before = self.learner.rounds
            error = self._learn(kind, served, [event.body["y"] for event in events])
            done = self.learner.rounds - before if error is not None else len(events)
            for i, (event, each) in enumerate(zip(events[:done], served, strict=False)):
                each.settle(event)
                self.progress.see(each, event.body["y"], event.at, before + i)
        else:
            done, error = len(events), None
            for event in events:
                self._see(event)
        if done:
            self.n, self.at = events[done - 1].n, events[done - 1].at
        return done, error

    def _see(self, event: Event) -> None:
        if event.kind == "predict":
            self.progress.predictions += 1
            if event.body["said"].get("asks") is False:
                self.learner.skip(self.read(event.body["x"]))
                self.progress.unasked += 1
        elif event.kind == "expire":
            self.progress.expired += 1
        elif event.kind == "create":
            self.created = event.at
        elif event.kind in ("freeze", "unfreeze"):
            self.frozen = event.kind == "freeze"

    def _learn(self, kind: str, served: Sequence[Served], labels: list[Any]) -> AfterwitError | None:
        """Learn examples in order. If one is refused, those before it have been learned, and no other."""
        before = self.learner.rounds
        try:
            if kind == "label" and self._by_what_it_served:
                self._learn_late(served, labels)
            else:
                self._learn_now([self.read(each.x) for each in served], labels)
        except DivergenceError as error:
            return error
        except InputError as error:
            if self.learner.rounds != before:
                raise RuntimeError(f"{self.name} has learned rounds that it refused") from error
            return error
        return None

    def _learn_late(self, served: Sequence[Served], labels: list[Any]) -> None:
        tickets = [self._ticket(each) for each in served]
        if len(tickets) == 1:
            self.learner.learn_late(tickets[0], labels[0])
        else:
            self.learner.learn_late_many(tickets, labels)

    def _ticket(self, served: Served) -> dict[str, Any]:
        """The ticket of an example, made again of the record and of what was said."""
        said, more = served.said, served.more
        if self.role == "experts":
            x = _plain_advice(served.x)
            told = {"forecast": said["forecast"], "complement": more["complement"]}
            return late.new_ticket(self.learner, (said["rounds"], said["rounds"]), x, told)
        x = late.plain_row(self.read(served.x))
        # A regressor is served by its forecast.
        score = said["score"] if "score" in said else said["forecast"]
        return late.new_ticket(self.learner, (said["rounds"], more["updates"]), x, {"score": score})

    def _learn_now(self, examples: list[Any], labels: list[Any]) -> None:
        if len(examples) == 1:
            self.learner.learn_one(examples[0], labels[0])
            return
        kinds = {type(each) for each in examples}
        if len(kinds) == 1 and kinds <= {sp.csr_array}:
            self.learner.learn_many(sp.vstack(examples, format="csr"), labels)
        else:
            self.learner.learn_many(examples, labels)


def _loss_of(learner: Any) -> Any:
    """What a forecast of it loses."""
    return get(learner.parameters.get("loss", "square"))


def _as_point(x: Any) -> Any:
    """A point of a class: lists are tuples."""
    return tuple(_as_point(each) for each in x) if isinstance(x, list) else x


def _as_row(x: list[Any]) -> Any:
    if not all(type(value) in (float, int) for value in x):
        wrong = next(i for i, value in enumerate(x) if type(value) not in (float, int))
        raise invalid(f"x[{wrong}]", "a finite number", x[wrong])
    try:
        return np.array(x, dtype=np.float64)
    except OverflowError:
        raise invalid("x", "finite numbers", shorten(x)) from None


def _plain_advice(x: Any) -> dict[str, Any]:
    """Advice as tickets have it."""
    values = list(x.values()) if isinstance(x, dict) else x
    plain = [None if value is None else float(value) for value in values]
    return {"values": plain, "names": list(x)} if isinstance(x, dict) else {"values": plain}
