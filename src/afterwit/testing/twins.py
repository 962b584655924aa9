"""The ways to make a twin of a learner, for the conformance suites: what a suite checks of one, it is given here."""

from __future__ import annotations

import copy
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from afterwit.core.storage import load, save

#: Checks a way to make a twin, which has a name.
CheckTwin = Callable[[Callable[[Any], Any], str], None]


def copied(check_twin: CheckTwin) -> None:
    """Twins by copying."""
    check_twin(copy.copy, "copy.copy")
    check_twin(copy.deepcopy, "copy.deepcopy")


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
