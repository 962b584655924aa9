"""Counting the changes of the label again, for the learner that repeats the last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.certify.replay import same_rounds
from afterwit.core.certificate import Assumption, Basis, Evidence
from afterwit.core.theorem import Theorem
from afterwit.errors import counted


@dataclass(frozen=True, kw_only=True)
class ChangesEvidence(Evidence):
    """How often the label changed, and how often that was a mistake."""

    mistakes: int
    changes: int

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes


def gather(learner: Any, rows: Any = None, signs: Any = None) -> ChangesEvidence:
    """The learner's own count of changes or, with the rounds at hand, what they say."""
    changes = learner.changes
    if rows is None:
        same = Assumption("it counts the changes itself", Basis.ENFORCED, True)
    else:
        within = int(np.count_nonzero(signs[1:] != signs[:-1]))
        between = int(rows.count > 0 and signs[0] != signs[-1])

        def differs(passes: int) -> str:
            nonlocal changes
            changes = passes * within + (passes - 1) * between
            mistakes = changes + int(rows.count > 0 and signs[0] < 0)
            if (learner.changes, learner.mistakes) == (changes, mistakes):
                return ""
            own = f"{counted(learner.changes, 'change')} and {counted(learner.mistakes, 'mistake')}"
            return f"the learner counts {own}, these labels give {changes:,} and {mistakes:,}"

        same, _ = same_rounds(learner, rows.count, differs, "counted again")
    return ChangesEvidence(
        subject=type(learner).__name__,
        rounds=learner.rounds,
        mistakes=learner.mistakes,
        changes=changes,
        assumptions=(same,),
    )
