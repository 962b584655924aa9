"""Learners of two labels inside another learner: fresh ones, what they say, what they learn.

Those of this package (`BinaryLearner`) take a whole block at once, each with its own compiled loop; others are asked
row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.learner import BinaryLearner, Storable
from afterwit.data._arrays import finite_row
from afterwit.data.rows import as_mapping, read_many, read_one
from afterwit.errors import InputError, Words, invalid
from afterwit.linear._row import as_floats, plain_values
from afterwit.linear._stops import MODERATE

#: What every learner inside another must have; ``predict_one`` or ``score_one`` comes on top.
NEEDED = ("learn_one", "updates", "parameters", "state", "restore", "copy")

Floats = npt.NDArray[np.float64]
#: What a learner that is not of this package says to one example: a score, or its sign.
Ask = Callable[[Any], float]


def fresh(parameter: str, learner: Any, labels: Any, needed: Sequence[str], allowed: str) -> Any:
    """A learner of the same kind with these labels that has learned nothing; a class is as good as an instance."""
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid(parameter, f"{allowed}; a class must need no arguments", learner) from None
    if not all(_has(learner, part) for part in (*NEEDED, *needed)) or getattr(learner, "many_labels", False):
        raise invalid(parameter, allowed, learner)
    return type(learner)(**{**learner.parameters, "labels": labels})


def _has(learner: Any, part: str) -> bool:
    """Whether the learner has that part: an expert algorithm has a place for mistakes, and counts none."""
    try:
        return hasattr(learner, part)
    except NotImplementedError:
        return False


def blank(learner: Any) -> Any:
    """A fresh one, made with the same options."""
    return type(learner)(**learner.parameters)


def require_rounds(name: str, learner: Any, state: Any, least: int, most: int) -> None:
    """Refuse the state of a learner inside another that has not learned so many rounds; others keep what they like."""
    if isinstance(learner, Storable):
        rounds = state.get("rounds") if isinstance(state, dict) else None
        if type(rounds) is not int or not least <= rounds <= most:
            after = f"{most:,} rounds" if least == most else f"at most {most:,} rounds"
            raise invalid(name, f"a state after {after}", Words(f"{rounds}"))


def reads_rows(learner: Any) -> bool:
    """Whether it takes rows of numbers and no other examples; those from elsewhere are handed rows."""
    return not isinstance(learner, BinaryLearner) or type(learner)._read is BinaryLearner._read


def is_steady(learner: Any) -> bool:
    """Whether it cannot diverge, whatever it has learned, as long as values are moderate."""
    return hasattr(learner, "_is_steady") and bool(learner._is_steady())


def make_ready(learner: Any, entries: int, width: int) -> None:
    """Let a learner that keeps something for every feature make room for one more example."""
    if hasattr(learner, "_make_ready"):
        learner._make_ready(entries, width)


def one_row(x: Any) -> Any:
    """One example, a dict or not, as rows."""
    x = as_mapping(x)
    return replace(read_many([as_floats(x)]), single=True) if isinstance(x, dict) else read_one(x)


def shared_row(x: Any, all_read_rows: bool) -> Any:
    """A dict of numbers, or an array of numbers none of which is huge, that several learners may be handed as it is.

    None for all else.
    """
    if isinstance(x, dict):
        return plain_values(x)
    if not all_read_rows:
        return None
    if type(x) is list:
        try:
            x = np.asarray(x)
        except (TypeError, ValueError):
            return None
    return finite_row(x, MODERATE)


def score_rows(learner: Any, rows: Any, ask: Ask) -> Floats:
    """What the learner says to every row. Nothing changes."""
    if isinstance(learner, BinaryLearner):
        scores: Floats = learner.score_many(rows)
        return scores
    return np.array([ask(rows.row(i)) for i in range(rows.count)], dtype=np.float64)


def learn_rows(
    learner: Any, rows: Any, signs: Any, ask: Ask, labels: tuple[Any, Any] = (-1, 1), guarded: bool = False
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Learn the rows in order: what the learner said before each label was used, and where it changed.

    ``guarded``: if anything is raised, the caller puts the learner back into its state.
    """
    updated = np.zeros(rows.count, dtype=np.int8)
    if isinstance(learner, BinaryLearner):
        learn = getattr(learner, "_learn_unguarded", learner._learn) if guarded else learner._learn
        return learn(rows, signs, updated), updated.view(bool)
    said = np.empty(rows.count)
    for i, sign in enumerate(signs.tolist()):
        x, before = rows.row(i), learner.updates
        said[i] = ask(x)
        learner.learn_one(x, labels[sign > 0])
        updated[i] = learner.updates != before
    return said, updated.astype(bool)


@contextmanager
def undone_if_refused(learners: Sequence[Any]) -> Iterator[None]:
    """Put these back into their state if anything is raised."""
    before = [(learner, learner.state()) for learner in learners]
    try:
        yield
    except BaseException:
        for learner, state in before:
            learner.restore(state)
        raise
