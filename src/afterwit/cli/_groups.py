"""How well each group was forecast: a table with a line for each, and a line for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.cli._combining import Combined, template_of
from afterwit.cli._leaderboard import (
    COMBINED,
    EXPERT,
    MEAN,
    Line,
    best_first,
    lines_of,
    mean_loss_name,
    shorten_name,
    show_leaderboard,
    show_weights,
    shown_cell,
)
from afterwit.cli._said import Voice
from afterwit.core.certificate import Certificate, shown_number
from afterwit.data import losses
from afterwit.errors import counted
from afterwit.reductions._group_certificates import GroupCertificates

#: How many groups are listed, and how wide the columns are at least.
MOST_GROUPS = 30
NARROW = 7


@dataclass(frozen=True)
class Group:
    """A group, how well its rounds were forecast by everyone, and its learner."""

    name: str
    rounds: int
    lines: list[Line]
    learner: Any

    def mean_loss(self, kind: str) -> float:
        """Of the first line of that kind; they are sorted, so it is the best one."""
        return next((line.mean_loss for line in self.lines if line.kind == kind), math.nan)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        weights = dict(zip(self.learner.experts, self.learner.weights.tolist(), strict=True))
        lines = [line.to_dict() for line in self.lines]
        return {"group": self.name, "rounds": self.rounds, "leaderboard": lines, "weights": weights}


def groups_in(combined: Combined) -> list[Group]:
    """The groups in the order of first appearance."""
    found = []
    for name, learner, rows in combined.parts():
        said = (combined.advice[rows], combined.outcomes[rows], combined.forecasts[rows])
        lines = best_first(lines_of(learner, combined.algorithm, *said))
        found.append(Group(name, int(np.count_nonzero(rows)), lines, learner))
    return found


def show_groups(
    column: str, groups: Sequence[Group], combined: Combined, certificates: GroupCertificates, every: bool, voice: Voice
) -> None:
    """A line for each group, and one for all. If there are many, those with the largest regret."""
    parts = certificates.parts
    loss = losses.get(template_of(combined.learner).parameters.get("loss", "zero-one"))
    listed = list(groups)
    if len(groups) > MOST_GROUPS and not every:
        worst = sorted(groups, key=lambda group: -parts[group.name].observed)[:MOST_GROUPS]
        names = {group.name for group in worst}
        listed = [group for group in groups if group.name in names]
    kinds = {COMBINED: "combined", EXPERT: "best expert", MEAN: "mean"}
    total = certificates.total
    rows = [
        [shorten_name(group.name), f"{group.rounds:,}"]
        + [_shown(loss, group.mean_loss(kind)) for kind in kinds]
        + _judged(parts[group.name])
        for group in listed
    ]
    rounds = [group.rounds for group in groups]
    means = [
        _shown(loss, float(np.average([group.mean_loss(kind) for group in groups], weights=rounds))) for kind in kinds
    ]
    rows.append(["all", f"{sum(rounds):,}", *means, *_judged(total, str(certificates.verdict))])
    titles = [column, "rounds", *kinds.values(), total.quantity, "verdict"]
    over = f" ({total.quantity} over all {total.rounds:,} rounds)" if combined.earlier else ""
    voice.say(f"\n{mean_loss_name(loss)} by {shorten_name(column)}{over}:")
    voice.say_table([titles, *rows], NARROW, [*("" for _ in listed), "bold"])
    if len(listed) < len(groups):
        more = counted(len(groups) - len(listed), "more group")
        most = "most mistakes" if total.quantity == "mistakes" else f"largest {total.quantity}"
        voice.say(f"and {more}; these have the {most} (--verbose lists all)")


def show_experts_of_groups(groups: Sequence[Group], top: int, voice: Voice) -> None:
    """The leaderboard and the weights of every group."""
    for group in groups:
        voice.say(f"\ngroup {group.name}, {counted(group.rounds, 'round')}:")
        show_leaderboard(group.lines, group.rounds, top, voice)
        show_weights(group.learner, voice)


def _judged(certificate: Certificate, verdict: str = "") -> list[str]:
    return [shown_number(certificate.observed), verdict or str(certificate.verdict)]


def _shown(loss: losses.Loss, mean_loss: float) -> str:
    """A mean loss in the unit of the data."""
    return shown_cell(mean_loss_name(loss), math.sqrt(mean_loss) if loss.kind == "square" else mean_loss)
