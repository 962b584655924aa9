"""What `afterwit experts` says of the forecasts of one target, as text and as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from afterwit.cli._advice import show_forecasts, with_forecasts
from afterwit.cli._combining import Combined, intervals_of
from afterwit.cli._groups import groups_in, show_experts_of_groups, show_groups
from afterwit.cli._leaderboard import leaderboard, show_leaderboard, show_weights
from afterwit.cli._said import Voice
from afterwit.cli._shown import certificate_text
from afterwit.errors import counted

#: How many experts are listed.
USUAL_TOP = 10


def tell(
    combined: Combined, column: str | None, rows: Mapping[str, list[str]], top: int | None, verbose: bool, voice: Voice
) -> dict[str, Any]:
    """Print how well a target was forecast, and return it as plain data. ``column`` has the groups, if there are."""
    found: dict[str, Any] = {
        "target": combined.target,
        "rounds": int(combined.there.sum()),
        "experts": combined.experts,
    }
    if combined.earlier:
        found["earlier_rounds"] = combined.earlier
    certificate, mixture = combined.certificate()
    if column is None:
        found |= _tell_of_experts(combined, mixture, top, voice)
    else:
        found |= _tell_of_groups(combined, column, certificate, top, verbose, voice)
    missing = combined.missing
    if missing:
        voice.say(f"\nforecasts for {counted(len(missing), 'row')} without {combined.target}:")
        show_forecasts(rows, missing, combined.forecasts, voice, combined.intervals)
    voice.say()
    if combined.earlier:
        voice.say(about_all_rounds(combined.earlier))
    voice.say_section(_certificate_text(certificate, verbose, column))
    if combined.intervals is not None:
        found["intervals"] = _tell_of_intervals(combined, column, verbose, voice)
    there = {name: [cells[row] for row in missing] for name, cells in rows.items()}
    return {
        **found,
        "rows_without_target": [row + 1 for row in missing],
        "forecasts": with_forecasts(
            there, {name: made[missing] for name, made in combined.columns("forecast").items()}
        ),
        "certificate": certificate.to_dict(),
    }


def about_all_rounds(earlier: int) -> str:
    """The line above the certificate of a learner that has gone on."""
    return f"about all rounds, with the {earlier:,} before these, as the learner has counted them:"


def headline(combined: Combined, source: str) -> str:
    """What was combined."""
    rounds = counted(int(combined.there.sum()), "round")
    after = f" after {combined.earlier:,} earlier ones" if combined.earlier else ""
    experts = counted(len(combined.experts), "expert")
    what = f"forecasts of {combined.target} by {experts}, {rounds}{after}, {combined.loss} loss"
    return f"{combined.algorithm} on {source}: {what}"


def _tell_of_experts(combined: Combined, mixture: Any, top: int | None, voice: Voice) -> dict[str, Any]:
    there = combined.there
    said = (combined.advice[there], combined.outcomes[there], combined.forecasts[there])
    point = combined.point
    lines = leaderboard(point, combined.algorithm, *said, mixture)
    show_leaderboard(lines, int(there.sum()), USUAL_TOP if top is None else top, voice)
    show_weights(point, voice)
    weights = dict(zip(combined.experts, point.weights.tolist(), strict=True))
    return {"leaderboard": [line.to_dict() for line in lines], "weights": weights}


def _tell_of_intervals(combined: Combined, column: str | None, verbose: bool, voice: Voice) -> dict[str, Any]:
    """How often the outcome was in its interval, and how wide the intervals were, in all groups if there are."""
    learner, groups = combined.learner, []
    if column is None:
        found = _counts(learner)
    else:
        groups = [{"group": group, **_counts(learner[group])} for group in learner.groups]
        found = {name: sum(each[name] for each in groups) for name in ("rounds", "covered", "infinite")}
        widths = math.fsum(each["mean_width"] * (each["rounds"] - each["infinite"]) for each in groups)
        found["mean_width"] = widths / max(found["rounds"] - found["infinite"], 1)
    rounds, coverage = found["rounds"], intervals_of(learner).coverage
    wide = f"mean width {found['mean_width']:,.6g}" if rounds > found["infinite"] else "none has two ends"
    infinite = f", {found['infinite']:,} without ends" if found["infinite"] else ""
    covered = f"{found['covered']:,} of {counted(rounds, 'outcome')} ({found['covered'] / rounds:.2%})"
    voice.say(f"\nintervals of {100 * coverage:.6g}%: they covered {covered}; {wide}{infinite}")
    certificate = combined.certificate_of_intervals()
    voice.say_section(_certificate_text(certificate, verbose, column))
    by_group = {"groups": groups} if groups else {}
    return {"coverage": coverage, **found, **by_group, "certificate": certificate.to_dict()}


def _counts(learner: Any) -> dict[str, Any]:
    """What intervals have done."""
    return {name: getattr(learner, name) for name in ("rounds", "covered", "infinite", "mean_width")}


def _tell_of_groups(
    combined: Combined, column: str, certificates: Any, top: int | None, verbose: bool, voice: Voice
) -> dict[str, Any]:
    groups = groups_in(combined)
    show_groups(column, groups, combined, certificates, verbose, voice)
    if verbose or top is not None:
        show_experts_of_groups(groups, USUAL_TOP if top is None else top, voice)
    return {"group": column, "groups": [group.to_dict() for group in groups]}


def _certificate_text(certificate: Any, verbose: bool, column: str | None) -> str:
    if column is None:
        return certificate_text(certificate, verbose)
    return certificate.details() if verbose else f"{certificate}\n(--verbose shows the certificate of every {column})"
