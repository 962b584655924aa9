"""A model: a schema and a learner. It takes raw records, and is what is saved.

>>> from afterwit import Perceptron
>>> from afterwit.core.protocol import play
>>> from afterwit.streams.read import read
>>> sales = [{"colour": "red", "price": 3, "sold": "yes"}, {"colour": "blue", "price": 9, "sold": "no"}]
>>> stream = read(sales * 20, target="sold")
>>> model = Model(stream.schema, Perceptron(labels=stream.labels))
>>> play(model, stream).rounds
40
>>> model.predict_one({"colour": "red", "price": 3})
'yes'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from afterwit.data.rows import Rows, as_mapping
from afterwit.data.values import same_value
from afterwit.errors import InputError, Words, counted, invalid
from afterwit.streams._groups import group_name
from afterwit.streams.read import read
from afterwit.streams.schema import Schema, schema_from
from afterwit.streams.stream import Stream

RECORD = "a record: a dict of values by column"
NO_ROWS = Rows(0, 0, np.empty(0), np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))


class Model:
    """A learner that takes raw records, by a schema that was decided once.

    schema   how columns become features, as ``read(...).schema`` has it
    learner  the learner; it is used, not copied

    A record is a dict of values by column. Many records are a list of dicts, a DataFrame, or anything else that `read`
    takes: the path of a file, for example. What is not here is what the learner has: ``rounds``, ``mistakes``,
    ``weights``, ``labels``, ...
    """

    learns_blocks = True

    def __init__(self, schema: Any, learner: Any, certificate: Any = None) -> None:
        self.schema: Schema = schema if isinstance(schema, Schema) else schema_from(schema)
        if isinstance(learner, (type, Model)) or not hasattr(learner, "predict_one"):
            raise invalid("learner", "a learner, with predict_one", learner)
        if getattr(learner, "takes", "numbers") != "numbers" or getattr(learner, "role", "") in (
            "experts",
            "decisions",
            "portfolios",
        ):
            raise invalid("learner", "one that takes rows of numbers", learner)
        if (self.schema.group is not None) != getattr(learner, "by_group", False):
            allowed = "PerGroup, because the schema has groups" if self.schema.group else "one without groups"
            raise invalid("learner", allowed, learner)
        self.learner = learner
        self._kept_certificate: Any = certificate

    @property
    def kept_certificate(self) -> Any:
        """What the certificate of the run that made it said, if it was kept and nothing has been learned since."""
        kept = self._kept_certificate
        return kept if isinstance(kept, Mapping) and kept.get("rounds") == self.rounds else None

    @kept_certificate.setter
    def kept_certificate(self, certificate: Any) -> None:
        self._kept_certificate = certificate

    # ------------------------------------------------------------------ one record

    def features(self, record: Any) -> Any:
        """The features that the learner sees of a record."""
        plain = as_mapping(record)
        if not isinstance(plain, Mapping):
            raise invalid("x", RECORD, record)
        return self.schema.features(plain)

    def _asked(self, x: Any) -> tuple[Any, ...]:
        """What the learner is asked about a record: its features, with the group before them if there are groups."""
        name = self.schema.group
        if name is None:
            return (self.features(x),)
        features = self.features(x)
        return group_name(as_mapping(x).get(name)), features

    def predict_one(self, x: Any) -> Any:
        """The prediction for a record. Nothing changes."""
        return self.learner.predict_one(*self._asked(x))

    def predict_proba_one(self, x: Any) -> Any:
        """The probability of every label for a record."""
        return self.learner.predict_proba_one(*self._asked(x))

    def score_one(self, x: Any) -> Any:
        """The score behind the prediction."""
        return self.learner.score_one(*self._asked(x))

    def learn_one(self, x: Any, y: Any = None) -> Any:
        """Predict a record, then learn it. Its label is y or, if that is left out, the value of the target's column.

        It is learned as often as the column of the weight says, if it is there.
        """
        if y is None:
            target = self.schema.target
            y = x.get(target) if target is not None and isinstance(x, Mapping) else None
            if y is None:
                raise invalid("y", f"given, or there as {target!r} in the record" if target else "given", None)
        asked, weight = self._asked(x), self._weight_of(x)
        if not weight:
            return self.learner.predict_one(*asked)
        prediction = self.learner.learn_one(*asked, y)
        for _ in range(weight - 1):
            self.learner.learn_one(*asked, y)
        return prediction

    def _weight_of(self, record: Any) -> int:
        """How often a record is learned."""
        name = self.schema.weight
        if name is None or name not in as_mapping(record):
            return 1
        weight = as_mapping(record)[name]
        try:
            whole = int(weight)
            if isinstance(weight, str) or whole != weight or whole < 0:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            allowed = "a whole number, how often the record is learned"
            raise invalid(f"the value of {name}", allowed, weight) from None
        return whole

    def serve_one(self, x: Any) -> Any:
        """The prediction for a record, and a ticket for ``learn_late``, which is plain data. Nothing changes."""
        return self.learner.serve_one(*self._asked(x))

    def learn_late(self, ticket: Any, y: Any) -> Any:
        """Learn the record of a ticket, whose label has come. Returns the prediction that was served."""
        return self.learner.learn_late(ticket, y)

    # ------------------------------------------------------------------ many records

    def serve_many(self, X: Any) -> Any:
        """The predictions for many records, as an array, and a list of tickets for ``learn_late_many``."""
        tickets: list[Any] = []

        def serve(rows: Any) -> Any:
            predictions, more = self.learner.serve_many(rows)
            tickets.extend(more)
            return predictions

        return self._for_all(X, serve), tickets

    def learn_late_many(self, tickets: Any, y: Any) -> Any:
        """Learn many records whose labels have come, in this order. Returns the predictions that were served."""
        return self.learner.learn_late_many(tickets, y)

    def predict_many(self, X: Any) -> Any:
        """The predictions for many records, as an array."""
        return self._for_all(X, self.learner.predict_many)

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of the labels for many records."""
        return self._for_all(X, self.learner.predict_proba_many)

    def score_many(self, X: Any) -> Any:
        """The scores for many records."""
        return self._for_all(X, self.learner.score_many)

    def learn_many(self, X: Any, y: Any = None) -> Any:
        """Learn many records in order; the predictions made before each was learned.

        Their labels are y or, if that is left out, in the column of the target; a record without a label is predicted.
        A record of weight 3 is three rounds, and has three predictions.
        """
        if isinstance(X, Rows):
            return self.learner.learn_many(X, y)
        if y is not None:
            return self._learn_with(X, y)
        if self.schema.target is None:
            raise invalid("y", "given, because the schema has no target", None)
        return _joined(
            [
                self.learner.predict_many(rows) if labels is None else self.learner.learn_many(rows, labels)
                for rows, labels in self._blocks(X)
            ]
        )

    def _learn_with(self, X: Any, y: Any) -> Any:
        """Learn records whose labels are given: one for each, whatever is in the column of the target."""
        if self.schema.weight is not None:
            allowed = f"left out, because a record is learned as often as its {self.schema.weight} says"
            raise invalid("y", f"{allowed}; give the labels in a column {self.schema.target}", Words("labels"))
        done = 0
        predicted = []
        with self.stream_to_predict(X) as stream, stream.reader() as reader:
            records = _length(X)
            if records is not None and records != len(y):
                raise invalid("y", f"a label for each of {counted(records, 'record')}", Words(counted(len(y), "label")))
            while (block := reader.take(1 << 16)) is not None:
                rows = block[0]
                predicted.append(self.learner.learn_many(rows, y[done : done + rows.count]))
                done += rows.count
        return _joined(predicted)

    def _for_all(self, X: Any, do: Any) -> Any:
        if isinstance(X, Rows):
            return do(X)
        if _length(X) == 0:
            nobody = None if self.schema.group is None else np.empty(0, dtype=object)
            return do(replace(NO_ROWS, names=None if self.schema.hash else [], groups=nobody))
        with self.stream_to_predict(X) as stream, stream.reader() as reader:
            parts = []
            while (block := reader.take(1 << 16)) is not None:
                parts.append(do(block[0]))
            return _joined(parts)

    def _blocks(self, X: Any) -> Any:
        """The rows of many records, block after block, with their labels where they have some."""
        with self.stream(X) as stream, stream.reader() as reader:
            while (block := reader.take(1 << 16)) is not None:
                yield block

    def stream(self, source: Any, **options: Any) -> Stream:
        """Anything that `read` takes as a stream of this model's features; ``options`` are those of `read`."""
        if isinstance(source, Stream):
            if source.schema != self.schema:
                raise invalid(
                    "source", "read with this model's schema: read(..., schema=model.schema)", Words("another")
                )
            return source
        role = getattr(self.learner, "role", "classifier")
        if role == "regressor":
            options = {"task": "regression", **options}
        elif getattr(self.learner, "many_labels", False):
            options = {"task": "classes", "labels": self.learner.labels, **options}
        else:
            options = {"labels": self.learner.labels, **options}
        return read(source, schema=self.schema, **options)

    def stream_to_predict(self, source: Any, **options: Any) -> Stream:
        """The same where nothing is learned: the target may be missing, and any label may come."""
        regression = getattr(self.learner, "role", "") == "regressor"
        options = {"task": "regression" if regression else "classes", **options}
        stream = read(source, schema=self.schema.without_weight(), **options)
        stream.weighted = False
        return stream

    def for_play(self, source: Any, y: Any) -> tuple[Any, Stream]:
        """The learner, and the source as it takes it: for `play`."""
        if y is not None:
            raise invalid(
                "y", "left out, because a model takes its labels from the column of its target", Words("labels")
            )
        return self.learner, self.stream(source)

    def certificate(self, *rounds: Any, **how: Any) -> Any:
        """The certificate of the learner; the rounds are a source as `read` takes it, or a `Stream`."""
        if len(rounds) == 1:
            return self.learner.certificate(self.stream(rounds[0]), **how)
        return self.learner.certificate(*rounds, **how)

    # ------------------------------------------------------------------ what the learner knows

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "learner" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.learner, name)

    # ------------------------------------------------------------------ copying, comparing, saving

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema, a fresh learner of the same kind, and the certificate, for `save`."""
        if not all(hasattr(self.learner, part) for part in ("parameters", "state", "restore")):
            raise InputError(f"{type(self.learner).__name__} cannot be saved: it has no parameters, state and restore")
        fresh = type(self.learner)(**self.learner.parameters)
        return {"schema": self.schema.as_data(), "learner": fresh, "certificate": self.kept_certificate}

    def state(self) -> dict[str, Any]:
        """All that the learner has learned."""
        state: dict[str, Any] = self.learner.state()
        return state

    def restore(self, state: Any) -> None:
        """Become the model whose ``state()`` this was; for `load`."""
        self.learner.restore(state)

    def copy(self) -> Model:
        """An independent model in the same state."""
        return Model(self.schema, self.learner.copy(), self.kept_certificate)

    def __reduce__(self) -> Any:
        return Model, (self.schema.as_data(), self.learner, self.kept_certificate)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Model)
            and self.schema == other.schema
            and same_value(self.learner, other.learner)
            and same_value(self.kept_certificate, other.kept_certificate)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        columns = "features by name" if self.schema.columns is None else f"{len(self.schema.columns):,} columns"
        return f"Model({columns}, {self.learner!r})"


def _length(X: Any) -> int | None:
    """How many records there are, where it is known before they are read."""
    try:
        return None if isinstance(X, str) else len(X)
    except TypeError:  # scipy's sparse arrays have a length in name only
        return None


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0)
