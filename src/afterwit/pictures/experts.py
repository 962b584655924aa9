"""Pictures of a run of experts: the regret against its bound, the weights, the losses, and intervals."""

from __future__ import annotations

from typing import Any

from afterwit.pictures._expert_intervals import Coverage, Intervals
from afterwit.pictures._expert_losses import LossOverTime, MeanLosses, Residuals
from afterwit.pictures._expert_regret import Regret
from afterwit.pictures._expert_run import Run
from afterwit.pictures._expert_shares import Shares
from afterwit.pictures._expert_weights import Contributions, Leaders, Weights
from afterwit.pictures._picture import Picture


def pictures(record: Any) -> list[Picture]:
    """The pictures of a record of `afterwit.experts.play`, those that make sense for it."""
    run = Run(record)
    made: list[Picture] = [Regret(run)]
    if not run.rounds:
        return made
    if record.intervals is not None:
        made += [Coverage(run), Intervals(run)]
    made += [MeanLosses(run), LossOverTime(run)]
    if record.shares is not None:
        made += [Weights(run), Leaders(run), Shares(run)]
    if run.adds_up:
        made.append(Contributions(run))
    if record.has_residuals:
        made.append(Residuals(run))
    return made
