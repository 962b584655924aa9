"""Reading advice that is a probability vector for each expert and round; a vector of NaN where an expert sleeps.

What can happen is of K >= 2 kinds, and a vector has a probability for each of them. An array has the rounds along its
first axis, the experts along the second and the kinds along the third. Dicts have names: expert -> vector, or expert ->
{kind: probability}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data._arrays import SOME_MISSING, first_wrong_vector
from afterwit.data.advice import Experts
from afterwit.data.checks import is_whole
from afterwit.data.classes import different_labels
from afterwit.data.labels import listed, plain_label
from afterwit.data.rows import FRAME_LIBRARIES, as_mapping, number, plain_name
from afterwit.data.values import is_masked_array
from afterwit.errors import InputError, Words, counted, invalid, shorten

Floats = npt.NDArray[np.float64]

ONE = "a 2-D array (experts, kinds) or a dict of expert -> probabilities"
MANY = "a 3-D array (rounds, experts, kinds) or a sequence of dicts of expert -> probabilities, one for each round"
#: More kinds than this are a mistake.
MOST_KINDS = 1_000_000


class Kinds:
    """The kinds of outcomes, by their names, or 0, 1, 2, ... where only their number was given."""

    def __init__(self, given: Any) -> None:
        self.named = not isinstance(given, int)
        self.names: tuple[Any, ...] = tuple(given) if self.named else tuple(range(given))
        self.places = {name: k for k, name in enumerate(self.names)}

    @property
    def count(self) -> int:
        return len(self.names)

    def read_one(self, outcome: Any, where: str = "outcome") -> Floats:
        """The position of what happened, as an array of one number."""
        outcome = plain_label(outcome)
        try:
            return np.full(1, float(self.places[outcome]))
        except (KeyError, TypeError):
            raise invalid(where, f"one of {shorten(self.names)}", outcome) from None

    def read(self, outcomes: Any, rounds: int) -> Floats:
        """The position of what happened in each round."""
        if type(outcomes).__module__.partition(".")[0] in FRAME_LIBRARIES and hasattr(outcomes, "to_numpy"):
            outcomes = outcomes.to_numpy()
        if isinstance(outcomes, np.ndarray) and outcomes.ndim != 1:
            raise invalid("outcomes", "a 1-D array", Words(f"an array of shape {outcomes.shape}"))
        labels = listed(outcomes, "outcomes")
        if len(labels) != rounds:
            allowed = f"as long as advice ({counted(rounds, 'round')})"
            raise invalid("outcomes", allowed, Words(counted(len(labels), "outcome")))
        if isinstance(labels, np.ndarray):
            if not self.named and labels.dtype.kind in "biuf" and np.isin(labels, self.names).all():
                return labels.astype(np.float64)
            labels = labels.tolist()
        try:
            return np.array([self.places[label] for label in labels], dtype=np.float64)
        except (KeyError, TypeError):
            return np.concatenate([self.read_one(label, f"outcomes[{t}]") for t, label in enumerate(labels)])


def kinds_given(parameter: str, value: Any) -> Any:
    """How many kinds of outcomes, or a tuple of their names."""
    if is_whole(value):
        if 2 <= int(value) <= MOST_KINDS:
            return int(value)
        allowed = f"a whole number, at least 2 and at most {MOST_KINDS:,}, or the names of the kinds of outcomes"
        raise invalid(parameter, allowed, value)
    return different_labels(parameter, value)


def read_round(advice: Any, experts: Experts, kinds: Kinds, fresh: bool) -> tuple[Floats, Experts]:
    """One round as an array of shape (1, experts, kinds)."""
    if isinstance(advice, Mapping):
        return _from_dicts([advice], experts, kinds, fresh, single=True)
    values = _array(advice, ONE, kinds.count, 2)
    if values.shape != (experts.count, kinds.count):
        raise invalid("advice", _of_shape(experts, kinds, ""), Words(f"an array of shape {values.shape}"))
    return values[np.newaxis], experts


def read_rounds(advice: Any, experts: Experts, kinds: Kinds, fresh: bool) -> tuple[Floats, Experts]:
    """Many rounds as an array of shape (rounds, experts, kinds)."""
    if isinstance(advice, Sequence) and len(advice) and all(isinstance(row, Mapping) for row in advice):
        return _from_dicts(advice, experts, kinds, fresh)
    values = _array(advice, MANY, kinds.count, 3)
    if values.size == 0 and len(values) == 0:
        values = values.reshape(0, experts.count, kinds.count)
    if values.shape[1:] != (experts.count, kinds.count) or values.ndim != 3:
        raise invalid("advice", _of_shape(experts, kinds, "rounds, "), Words(f"an array of shape {values.shape}"))
    return values, experts


def _of_shape(experts: Experts, kinds: Kinds, rounds: str) -> str:
    return f"an array of shape ({rounds}{counted(experts.count, 'expert')}, {counted(kinds.count, 'kind')})"


def _array(advice: Any, allowed: str, kinds: int, dimensions: int) -> Floats:
    """Numbers as a C array that may be written to, as the compiled loops want them; None stands for a sleeper."""
    if isinstance(advice, (str, bytes)) or not (hasattr(advice, "__array__") or isinstance(advice, Sequence)):
        raise invalid("advice", allowed, advice)
    if type(advice).__module__.partition(".")[0] in FRAME_LIBRARIES:
        raise invalid("advice", allowed, Words("a table, in which a cell has room for one number"))
    if is_masked_array(advice):
        advice = np.ma.filled(advice.astype(np.float64), np.nan)
    try:
        array = np.asarray(advice if isinstance(advice, np.ndarray) else _awake(advice, kinds, dimensions))
        if array.dtype.kind not in "biuf" and array.size:
            raise invalid("advice", "an array of numbers", Words(f"an array of dtype {array.dtype}"))
        return np.require(array, np.float64, ["C", "W"])
    except InputError:
        raise
    except (TypeError, ValueError):
        raise invalid("advice", allowed, advice) from None


def _awake(advice: Any, kinds: int, dimensions: int) -> Any:
    """Nested sequences with NaN for all probabilities of an expert that is None."""
    if dimensions == 1 or isinstance(advice, np.ndarray):
        return advice
    return [
        [np.nan] * kinds if row is None and dimensions == 2 else _awake(row, kinds, dimensions - 1) for row in advice
    ]


def _from_dicts(
    rows: Sequence[Mapping[Any, Any]], experts: Experts, kinds: Kinds, fresh: bool, single: bool = False
) -> tuple[Floats, Experts]:
    experts = experts.named(list(dict.fromkeys(name for row in rows for name in row)), fresh, "advice")
    values = np.full((len(rows), experts.count, kinds.count), np.nan)
    for t, row in enumerate(rows):
        for name, vector in row.items():
            if vector is not None:
                where = f"advice[{name!r}]" if single else f"advice[{t}, {name!r}]"
                values[t, experts.places[plain_name(name)]] = _vector(where, vector, kinds)
    return values, experts


def _vector(where: str, vector: Any, kinds: Kinds) -> list[float]:
    """The probabilities of one expert, in the order of the kinds."""
    vector = as_mapping(vector)
    if isinstance(vector, Mapping):
        known = {plain_name(name): value for name, value in vector.items()}
        if set(known) != set(kinds.places):
            raise invalid(where, f"a probability for each of {shorten(kinds.names)}", vector)
        return [number(f"{where}[{name!r}]", known[name]) for name in kinds.names]
    if isinstance(vector, (str, bytes)) or not isinstance(vector, (Iterable, np.ndarray)):
        raise invalid(where, f"a probability for each of {shorten(kinds.names)}", vector)
    listed_vector = list(vector)
    if len(listed_vector) != kinds.count:
        raise invalid(where, f"a probability for each of {shorten(kinds.names)}", vector)
    return [number(f"{where}[{k}]", value) for k, value in enumerate(listed_vector)]


def check_vectors(values: Floats, parameter: str = "advice", name: Callable[[int], Any] = int) -> bool:
    """Refuse vectors, of an array (rounds, experts, kinds), that are no probabilities; say whether any is missing."""
    wrong = first_wrong_vector(values.reshape(-1), values.shape[-1])
    if wrong >= 0:
        t, i = divmod(wrong, values.shape[1])
        vector = values[t, i]
        place = f"{parameter}[{name(i)!r}]" if len(values) == 1 else f"{parameter}[{t}, {name(i)!r}]"
        if np.isnan(vector).any():
            allowed = "a probability for each kind, or NaN for all if the expert sleeps"
        elif (vector >= 1).all():
            allowed = "probabilities that sum to 1; to make them of odds, divide each 1 / odds by the sum of these"
        elif ((vector >= 0) & (vector <= 1)).all() and vector.sum() > 0:
            allowed = f"probabilities that sum to 1, not to {vector.sum():.9g}; divide each by their sum"
        else:
            allowed = "probabilities from 0 to 1 that sum to 1"
        raise invalid(place, allowed, vector.tolist())
    return wrong == SOME_MISSING


def check_presence(values: Floats, experts: Experts, sleeping: bool, refusal: str) -> bool:
    """The same for advice; refuse rounds in which all sleep and, for algorithms that do not allow it, any sleeper."""
    if not check_vectors(values, "advice", experts.name):
        return False
    asleep = np.isnan(values[:, :, 0])
    if not sleeping:
        t, i = np.argwhere(asleep)[0].tolist()
        raise InputError(f"the advice of expert {experts.name(i)!r} in row {t} is missing; {refusal}")
    if asleep.all(axis=1).any():
        where = "" if len(values) == 1 else f" in row {int(np.argmax(asleep.all(axis=1)))}"
        raise invalid("advice", "from at least one expert in every round", Words(f"none{where}: all sleep"))
    return True
