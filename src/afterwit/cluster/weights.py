"""What learners give to be mixed, and take back: numbers for every feature, by name, and what is counted.

A `Part` is what one shard gives, or several together. Features that only one of them has met have the weight 0 in the
others. New names come in the order of the shards, after those that all of them began with. What is kept beside the
weights is mixed so that the learner is one of its kind again, and so that a single shard gives what it has, to the bit:

    Perceptron, MulticlassPerceptron    the weights
    Averaged...                         the weights of the perceptron inside; its average is over all rounds of all
    MarginPerceptron                    the weights; their length is measured anew
    SGD, OnlineSVM                      the weights; their scale is multiplied in
    AdaGrad, SoftmaxAdaGrad             the weights, and the sums of squared gradients
    NormalizedAdaGrad                   the weights, and these sums; the largest values are the largest of any shard
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core import registry
from afterwit.errors import DivergenceError, InputError

Floats = npt.NDArray[np.float64]
State = dict[str, Any]

#: What is in units of the largest value, and how it changes as that grows.
POWERS = {"normalized": 1, "squares": -2}
#: What counts rounds, and what each shard adds to.
COUNTERS = ("rounds", "mistakes", "updates")


@dataclass(frozen=True)
class Part:
    """Weights of one or more shards.

    known   how many features all shards began with, the intercept's first
    names   the names of further ones; None if features have positions
    classes the labels that have columns, of learners of many labels; None for others
    mixed   what is averaged: a row for every feature, multiplied by the counts of the shards
    summed  what is added up as it is
    largest by which every feature is divided, if it is
    numbers numbers that are added up
    by_id   whether features are the ids of libsvm text
    """

    known: int
    names: tuple[Any, ...] | None
    classes: tuple[Any, ...] | None
    mixed: dict[str, Floats]
    summed: dict[str, Floats]
    largest: Floats | None
    numbers: dict[str, float]
    by_id: bool = False

    @property
    def nbytes(self) -> int:
        """How many bytes its numbers take."""
        arrays = [*self.mixed.values(), *self.summed.values(), *([] if self.largest is None else [self.largest])]
        return sum(each.nbytes for each in arrays)


@dataclass(frozen=True)
class Form:
    """How the state of a kind of learner becomes a part, and a part a state again.

    mixed   the names in the state of what is averaged
    take    changes a state before that: what it has now, and what it began with
    give    the same on the way back: the new state, what the shards began with, and the part
    """

    mixed: tuple[str, ...] = ("weights",)
    take: Callable[[State, State], State] = lambda state, _: state
    give: Callable[[State, State, Part], State] = lambda state, *_: state
    summed: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    divided: bool = False


# ---------------------------------------------------------------------- the kinds of learners


def _average(state: State) -> Floats:
    """The sum of the hypotheses after each round: T times the average."""
    return np.asarray((state["rounds"] + 1) * state["weights"] - state["moments"])


def _take_average(state: State, began: State) -> State:
    """What the rounds of this shard have added to the sum of the hypotheses."""
    total = _average(state)
    return {**state, "average": total - _padded(_average(began), total.shape)}


def _give_average(state: State, began: State, part: Part) -> State:
    added = part.summed["average"]
    total = added + _padded(_average(began), added.shape)
    return {**state, "moments": (state["rounds"] + 1) * state["weights"] - total}


def _unscaled(state: State, _: State) -> State:
    return {**state, "weights": state["scale"] * state["weights"]}


def _scaled(state: State, *_: Any) -> State:
    return {**state, "scale": 1.0}


_AVERAGED = Form(take=_take_average, give=_give_average, summed=("average",))
FORMS = {
    "Perceptron": Form(),
    "AveragedPerceptron": _AVERAGED,
    "MarginPerceptron": Form(),
    "SGD": Form(take=_unscaled, give=_scaled),
    "OnlineSVM": Form(take=_unscaled, give=_scaled),
    "AdaGrad": Form(("weights", "squares")),
    "NormalizedAdaGrad": Form(("normalized", "squares"), numbers=("norms",), divided=True),
    "MulticlassPerceptron": Form(),
    "AveragedMulticlassPerceptron": _AVERAGED,
    "SoftmaxAdaGrad": Form(("weights", "squares")),
}
#: Why the weights of others are not averaged.
WHY_NOT = {
    "Winnow": "its weights are products of factors, whose average is no state that its factors lead to",
    "BalancedWinnow": "its weights are products of factors, whose average is no state that its factors lead to",
    "VotedPerceptron": "it predicts by a vote of all that it ever was, and a vote has no weights",
    "SelectivePerceptron": "which labels it asks for is drawn in the order of the rounds, and shards have none",
    "ScaleFree": "its weights follow from what it has won so far, and an average of weights does not say what that was",
    "PassiveAggressive": "its steps are for one sequence, and we know of no result about their average",
}
FAMILIES_WHY_NOT = {
    "kernels": "it keeps examples, not weights",
    "reductions": "it is made of other learners; mix one of these",
    "concepts": "it keeps rules, not weights",
    "experts": "it weighs forecasts, whose order matters",
}


def form_of(learner: Any) -> Form:
    """How the weights of a learner are mixed; a refusal that says why they are not."""
    name = type(learner).__name__
    if name in FORMS and registry.find(name) is type(learner):
        return FORMS[name]
    family = type(learner).__module__.split(".")[1:2]
    why = WHY_NOT.get(name) or next((FAMILIES_WHY_NOT[each] for each in family if each in FAMILIES_WHY_NOT), "")
    if not why and getattr(learner, "role", "") == "regressor":
        why = "mixing is for learners of labels"
    why = why or "it has no weights that may be averaged"
    raise InputError(f"the weights of a {name} are not mixed: {why}. Learners whose weights are: {', '.join(FORMS)}")


# ---------------------------------------------------------------------- taking and giving


def taken(learner: Any, began: State) -> Part:
    """What a learner gives to be mixed, which began with that state."""
    form = form_of(learner)
    state = learner.state()
    _require_same_numbering(state, began)
    known = len(began[form.mixed[0]])
    names = None if state["names"] is None else tuple(state["names"][known - _reserved(learner) :])
    classes = state.get("classes")
    shown = form.take(state, began)
    return Part(
        known=known,
        names=names,
        classes=None if classes is None else tuple(classes),
        mixed={name: np.array(shown[name]) for name in form.mixed},
        summed={name: shown[name] for name in form.summed},
        largest=state["largest"] if form.divided else None,
        numbers={name: state[name] - began[name] for name in form.numbers},
        by_id=bool(state.get("by_id")),
    )


def given(learner: Any, began: State, part: Part, total: int, counts: dict[str, int]) -> State:
    """The state of the learner with mixed weights: the part divided by the total of its counts.

    total   0 if no shard counts: then the weights stay
    counts  the rounds, mistakes and updates of all shards in this epoch
    """
    form = form_of(learner)
    names = None if part.names is None else [*(began["names"] or ()), *part.names]
    state = {**began, "names": names, **{name: began[name] + counts[name] for name in COUNTERS}}
    if part.by_id:
        state["by_id"] = True
    if part.classes is not None:
        state["classes"] = list(part.classes)
    ratio: Any = 1.0
    base = form.take(began, began)
    if part.largest is not None and not total:
        # The weights stay, in units that may be larger now.
        before = _padded(began["largest"], part.largest.shape)
        ratio = np.divide(part.largest, before, out=np.ones_like(before), where=before > 0)
    for name, numbers in part.mixed.items():
        if total and (counts["updates"] or form.divided):
            state[name] = numbers / total
        else:
            # An average of equal numbers may be another number, by rounding.
            state[name] = _padded(base[name], numbers.shape) * ratio ** POWERS.get(name, 0)
    state |= {name: began[name] + number for name, number in part.numbers.items()}
    if part.largest is not None:
        state["largest"] = part.largest
    state = form.give(state, began, part)
    if "peak" in state or learner.parameters.get("ball"):
        # They follow the length of their weights.
        with np.errstate(over="ignore"):
            state["square"] = math.fsum((state["weights"] ** 2).tolist())
        state |= {"peak": state["square"]} if "peak" in state else {}
    if not all(np.isfinite(value).all() for value in state.values() if isinstance(value, (np.ndarray, float))):
        raise DivergenceError(f"the mixed weights of {type(learner).__name__} are infinite or NaN; scale the features")
    return state


def _padded(numbers: Floats, shape: tuple[int, ...]) -> Floats:
    """With 0 for what is new."""
    found = np.zeros(shape)
    found[tuple(slice(0, length) for length in numbers.shape)] = numbers
    return found


def _reserved(learner: Any) -> int:
    return int(bool(learner.parameters.get("intercept")))


def _require_same_numbering(state: State, began: State) -> None:
    if began["rounds"] and (state["names"] is None) != (began["names"] is None) and len(began.get("weights", ())):
        raise InputError("the shards name their features in different ways: by name and by position")


# ---------------------------------------------------------------------- adding


def added(one: Part, other: Part) -> Part:
    """Two parts as one; the features and classes of the first come first."""
    if (one.names is None) != (other.names is None):
        empty = next((each for each in (one, other) if _length(each) == each.known and not each.names), None)
        if empty is None:
            raise InputError("the shards name their features in different ways: by name and by position")
        one, other = (replace(each, names=each.names or ()) for each in (one, other))
    names, places = _merged(one.names, other.names)
    classes, columns = _merged(one.classes, other.classes)
    length = max(_length(one), _length(other)) if names is None else one.known + len(names)
    width = None if classes is None else len(classes)

    def whole(numbers: Floats, at: Any, across: Any) -> Floats:
        shape = (length, *((width,) if width is not None else numbers.shape[1:]))
        found = np.zeros(shape)
        rows = slice(0, len(numbers)) if at is None else at[: len(numbers)]
        if across is None or width is None:
            found[(rows, *(slice(0, each) for each in numbers.shape[1:]))] = numbers
        else:
            found[np.ix_(np.arange(length)[rows] if isinstance(rows, slice) else rows, across)] = numbers
        return found

    at = None if places is None else np.concatenate([np.arange(one.known), one.known + places])

    def both(ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
        return whole(ours, None, None), whole(theirs, at, columns)

    mixed = {name: both(one.mixed[name], other.mixed[name]) for name in one.mixed}
    largest = None
    if one.largest is not None and other.largest is not None:
        pair = both(one.largest, other.largest)
        largest = np.maximum(*pair)
        # In the units of the larger: weights by the value grow as the value does, sums of squares shrink.
        with np.errstate(over="ignore", invalid="ignore"):
            for place, each in enumerate(pair):
                ratio = np.divide(largest, each, out=np.ones_like(largest), where=each > 0)
                for name, power in POWERS.items():
                    mixed[name] = tuple(  # type: ignore[assignment]
                        numbers * ratio**power if k == place else numbers for k, numbers in enumerate(mixed[name])
                    )
    summed = {name: np.add(*both(one.summed[name], other.summed[name])) for name in one.summed}
    numbers = {name: one.numbers[name] + other.numbers[name] for name in one.numbers}
    averaged = {name: np.add(*pair) for name, pair in mixed.items()}
    return Part(one.known, names, classes, averaged, summed, largest, numbers, one.by_id or other.by_id)


def multiplied(part: Part, count: int) -> Part:
    """What is averaged, as often as the shard counts."""
    return part if count == 1 else replace(part, mixed={name: count * each for name, each in part.mixed.items()})


def _length(part: Part) -> int:
    return len(next(iter(part.mixed.values())))


def _merged(ours: tuple[Any, ...] | None, theirs: tuple[Any, ...] | None) -> tuple[tuple[Any, ...] | None, Any]:
    """The names of both, ours first; and where theirs are among them."""
    if ours is None or theirs is None:
        return ours, None
    if ours == theirs:
        return ours, np.arange(len(ours))
    known = {name: place for place, name in enumerate(ours)}
    places = np.array([known.setdefault(name, len(known)) for name in theirs], dtype=np.intp)
    return tuple(known), places
