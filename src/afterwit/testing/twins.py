"""The ways to make a twin of a learner, for the conformance suites: what a suite checks of one, it is given here."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from afterwit.core.storage import load, save
from afterwit.data.values import same_value

#: Checks a way to make a twin, which has a name.
CheckTwin = Callable[[Callable[[Any], Any], str], None]


def copied(check_twin: CheckTwin) -> None:
    """Twins by copying."""
    check_twin(copy.copy, "copy.copy")
    check_twin(copy.deepcopy, "copy.deepcopy")


def restored(learner: Any, learn: Callable[[Any], Any]) -> None:
    """A twin that takes back a learner's state does not go on to change it as it learns."""
    state = learner.state()
    before = copy.deepcopy(state)
    twin = type(learner)(**learner.parameters)
    twin.restore(state)
    assert twin == learner, "restore: the twin is not equal"
    learn(twin)
    assert same_value(state, before), "restore: what the twin learns changes the state it was given"


def pickled(check_twin: CheckTwin) -> None:
    """Twins by pickling."""
    check_twin(lambda learner: pickle.loads(pickle.dumps(learner)), "pickle")


def saved(check_twin: CheckTwin, learned: Callable[[], Any]) -> None:
    """Twins by saving and loading; and ``learned()``, made twice, makes the same file twice."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"

        def saved_and_loaded(learner: Any) -> Any:
            save(learner, path)
            return load(path)

        check_twin(saved_and_loaded, "save and load")
        save(learned(), path)
        first = path.read_bytes()
        save(learned(), path)
        assert path.read_bytes() == first, "equal learners made different files"
