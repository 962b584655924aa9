"""The target `load`: a file that it takes must be a learner that works, as long as it is used as learners are."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import afterwit as aw
from afterwit.errors import AfterwitError, ModelFileError

#: What learners say that do not offer something, or have not been fitted yet.
NOT_OFFERED = (AfterwitError, NotImplementedError, AttributeError)
#: Python's own words: a message that has them does not say which field is wrong.
UNCLEAR = (
    "object is not", "object has no", "unhashable", "unsupported operand", "not supported between", "list index",
    "out of range", "invalid literal", "could not convert", "not enough values", "too many values", "cannot unpack",
    "broadcast", "not iterable", "must be str, not", "indices must be", "maximum recursion", "argument must be",
    "setting an array", "ambiguous", "Buffer dtype", "division by zero", "math domain", "too large to convert",
)  # fmt: skip


def judge(content: bytes) -> str | None:
    """What is wrong with how a model file was treated; None if nothing is."""
    with tempfile.NamedTemporaryFile(suffix=".model") as file:
        file.write(content)
        file.flush()
        try:
            learner = aw.load(file.name)
        except ModelFileError as error:
            message = str(error)
            if file.name not in message or "\n" in message:
                return f"the message does not name the file in one line: {message}"
            unclear = next((words for words in UNCLEAR if words in message), None)
            return f"the message has Python's words: {message}" if unclear else None
        try:
            return _used(learner, file.name)
        except NOT_OFFERED as error:
            return f"after loading: {type(error).__name__}: {error}"


def _used(learner: Any, path: str) -> str | None:
    """Use a learner in every way there is."""
    repr(learner)
    for each in (learner, *_parts(learner)):
        str(each)
    same = pickle.loads(pickle.dumps(learner))
    if same != learner or copy.deepcopy(learner) != learner:
        return "a copy differs"
    try:
        aw.save(learner, path)
    except AfterwitError as error:
        return f"what was loaded cannot be saved: {error}"
    if aw.load(path) != learner:
        return "it differs after it was saved and loaded again"
    for use in (*_looks(learner), *_uses(learner.copy() if hasattr(learner, "copy") else learner)):
        try:
            use()
        except NOT_OFFERED as error:
            if "NoneType" in str(error):
                raise
            continue
        except TypeError as error:
            # Not every certificate asks for the rounds, and that of a predictor is an attribute.
            if "positional argument" not in str(error) and "'Certificate' object is not callable" not in str(error):
                raise
            continue
    return None


ATTRIBUTES = (
    "weights", "rounds", "mistakes", "updates", "labels", "classes", "features", "description", "last_weights",
    "regret", "regrets", "best_expert", "expert_losses", "flow", "member_mistakes", "best_member", "feature",
    "hypotheses", "swap_regret",
)  # fmt: skip
METHODS = ("survivors", "best_path", "to_text", "to_dot", "margins")


def _looks(learner: Any) -> Iterator[Callable[[], Any]]:
    for name in ATTRIBUTES:
        yield lambda name=name: getattr(learner, name)
    for name in METHODS:
        yield lambda name=name: str(getattr(learner, name)())


def _parts(learner: Any) -> Iterator[Any]:
    for name in ("learners", "members"):
        try:
            found = getattr(learner, name)
        except NOT_OFFERED:
            continue
        if isinstance(found, dict):
            yield from found.values()


EXAMPLES: tuple[Any, ...] = (
    {"a": 1.0, "b": -0.5},
    {},
    [1.0, 0.0, 1.0],
    [0.5, -2.0, 3.0, 1.0, 0.0],
    aw.SparseRow([0, 3], [1.0, 2.0]),
    "abracadabra",
    {"a", "f0"},
    1,
)
MATRICES: tuple[Any, ...] = (
    np.array([[1.0, 0.0, 1.0], [0.5, -2.0, 3.0]]),
    np.array([[1.0, 0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 0.0]]),
    csr_array(np.array([[0.0, 2.0, 1.0], [0.5, 0.0, 0.0]])),
    [{"a": 1.0}, {"b": 2.0}],
    ["abra", "cadabra"],
)


def _uses(learner: Any) -> Iterator[Callable[[], Any]]:
    known = getattr(learner, "labels", None) or getattr(learner, "classes", None) or (-1, 1)
    first, last = known[0], known[-1]
    for x in EXAMPLES:
        yield lambda x=x: learner.predict_one(x) and None
        yield lambda x=x: learner.score_one(x)
        yield lambda x=x: learner.learn_one(x, last) and None
        yield lambda x=x: learner.learn_one(x, first) and None
        yield lambda x=x: learner.score_one(x)
    for X in MATRICES:
        yield lambda X=X: learner.score_many(X)
        yield lambda X=X: learner.predict_many(X) is None
        yield lambda X=X: learner.learn_many(X, [first, last]) is None
        # The rounds are played again as often as the learner says that it has learned them.
        if _rounds(learner) < 10**4:
            yield lambda X=X: learner.certificate(X, [first, last])
    n = len(getattr(learner, "experts", ())) if not hasattr(learner, "graph") else 0
    if n and n < 1000:
        advice = np.linspace(0.1, 0.9, n)
        for outcome in (0.0, 1.0, 0.4):
            yield lambda: learner.predict_one(advice)
            yield lambda outcome=outcome: learner.learn_one(advice, outcome)
        yield lambda: learner.learn_many(np.tile(advice, (3, 1)), np.array([0.0, 1.0, 1.0]))
        yield lambda: learner.observe(advice)
        yield lambda: learner.choose() and None
        yield lambda: learner.receive(0.5)
    if hasattr(learner, "graph"):
        costs = np.linspace(0.1, 0.9, len(learner.graph.edges))
        yield lambda: learner.learn_one(costs)
        yield lambda: learner.observe(costs)
    yield lambda: str(learner.certificate())


def _rounds(learner: Any) -> int:
    try:
        return int(learner.rounds)
    except NOT_OFFERED:
        return 0
