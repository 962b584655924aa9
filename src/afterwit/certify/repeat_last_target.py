"""Summing up the changes of the target again, for the regressor that repeats the last one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.certify.replay import same_rounds
from afterwit.core.certificate import Evidence
from afterwit.core.theorem import Theorem
from afterwit.data.rows import Rows
from afterwit.data.targets import Targets
from afterwit.errors import Words, invalid


@dataclass(frozen=True, kw_only=True)
class SquaredChangesEvidence(Evidence):
    """What the changes of the target sum up to, and what was lost."""

    loss: float
    changes: float

    def observed(self, theorem: Theorem) -> float:
        return self.loss

    @property
    def squares(self) -> bool:
        return True


def gather(learner: Any, rows: Rows, targets: Targets, comparator: Any = None) -> SquaredChangesEvidence:
    """What the targets say, and whether the learner says the same."""
    if comparator is not None:
        raise invalid("comparator", "left out, because RepeatLastTarget has no weights", Words("weights"))
    changes = math.nan

    def differs(passes: int) -> str:
        nonlocal changes
        repeated = np.tile(targets, passes)
        changes = math.fsum((np.diff(repeated, prepend=0.0) ** 2).tolist())
        same = math.isclose(learner.loss, changes, rel_tol=1e-9) and (
            not len(repeated) or learner.state()["last"] == repeated[-1]
        )
        return "" if same else f"the learner lost {learner.loss:.6g}, these targets give {changes:.6g}"

    same, _ = same_rounds(learner, rows.count, differs, "summed up again")
    return SquaredChangesEvidence(
        subject=type(learner).__name__, rounds=learner.rounds, loss=learner.loss, changes=changes, assumptions=(same,)
    )
