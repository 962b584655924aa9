"""The rounds of an expert algorithm, computed a second time: whether they give the state that it claims to have.

A fresh learner plays them again and notes everyone's share in each. What follows from the shares is computed with
numpy, block by block, apart from the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._late_advice import PlayedLate, drifts, excesses
from afterwit.certify.expert_rounds import Floats, Rounds, in_range, not_these, own_losses, slope_gains
from afterwit.certify.replay import ROUNDING
from afterwit.core.certificate import EPSILON
from afterwit.core.delays import Moments
from afterwit.data.advice import Experts
from afterwit.errors import InputError, counted
from afterwit.experts._regret import Setting, Way
from afterwit.experts.regrets import saved_by_swapping

#: How many numbers, rounds times experts, are worked on at once.
BLOCK = 32_768


class _Sums:
    """Sums over rounds, taken block by block, and how far rounding may have moved them.

    Each term is made of up to as many parts as there are experts. To add n numbers moves their sum by at most n EPSILON
    times the sum of their sizes; both sides did so.
    """

    def __init__(self, evidence: Any, each: bool = True) -> None:
        self.parts = evidence.parts
        self.values, self.sizes = (np.zeros(evidence.n if each else ()) for _ in range(2))

    def add(self, terms: Floats, sizes: Floats) -> None:
        self.values = self.values + terms.sum(axis=0)
        self.sizes = self.sizes + sizes.sum(axis=0)

    def differ_from(self, claimed: Any) -> bool:
        near = np.abs(self.values - claimed) <= 4 * EPSILON * self.parts * self.sizes
        return not bool(np.all(near & np.isfinite(self.values)))


def check_rounds(
    learner: Any, evidence: Any, values: Floats, outcomes: Floats | None, served: Moments | None
) -> tuple[Floats, Floats] | None:
    """Refuse rounds that are not those the learner learned from, and a state that these rounds do not give.

    Returns the learner's own losses and what following each expert would have saved, where a theorem looks at them.
    """
    if len(values) != evidence.rounds:
        raise not_these(
            f"the learner counts {counted(evidence.rounds, 'round')}, these are {len(values):,} "
            "(certificate() without rounds takes the learner's own figures)"
        )
    played: list[tuple[Floats, Floats]] | None = [] if any(each.looks_at_rounds for each in learner.theorems) else None
    differing = [*_other_experts(evidence, values, outcomes)]
    differing = differing or [*_other_learner(learner, evidence, values, outcomes, served, played)]
    if differing:
        raise not_these(_are_others(differing))
    if played is None:
        return None
    nothing = np.empty(0), np.empty((0, evidence.n))
    own, gains = (np.concatenate(parts) for parts in zip(nothing, *played, strict=True))
    return own, gains


def _blocks(evidence: Any) -> Iterator[slice]:
    """The rounds in blocks that are small beside long data."""
    length = max(1, BLOCK // (evidence.n * max(1, evidence.setting.loss.kinds)))
    for begin in range(0, evidence.rounds, length):
        yield slice(begin, begin + length)


def _block(
    setting: Setting, values: Floats, outcomes: Floats | None, block: slice
) -> tuple[Floats, Floats | None, Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The rounds of a block: advice, outcomes, everyone's loss, with 0 for those who sleep, who is awake, and whose
    loss is infinite and counts as 0, too.
    """
    part, seen = values[block], None if outcomes is None else outcomes[block]
    losses = part if seen is None else setting.loss.values(part, seen[:, np.newaxis])
    awake = ~np.isnan(part[:, :, 0] if part.ndim == 3 else part)
    infinite = np.isinf(losses)
    return part, seen, np.where(awake & ~infinite, losses, 0.0), awake, infinite


def _other_experts(evidence: Any, values: Floats, outcomes: Floats | None) -> Iterator[str]:
    """What is claimed of the experts and these rounds do not give."""
    losses, asleep, without_limit = _Sums(evidence), *np.zeros((2, evidence.n), dtype=np.int64)
    # Sums that are infinite have none of what is finite; others leave out what is infinite, and count it.
    endless = np.isinf(evidence.expert_losses)
    for block in _blocks(evidence):
        _, _, lost, awake, infinite = _block(evidence.setting, values, outcomes, block)
        summed = np.where(endless, 0.0, lost)
        losses.add(summed, np.abs(summed))
        asleep += (~awake).sum(axis=0)
        without_limit += infinite.sum(axis=0)
    noted = evidence.state.get("infinite_losses", np.zeros_like(without_limit))
    if losses.differ_from(evidence.state["expert_losses"]):
        yield "the experts' losses"
    if not np.array_equal(asleep, evidence.state["asleep_rounds"]):
        yield "the rounds in which experts slept"
    if not np.array_equal(without_limit > 0, endless) if endless.any() else not np.array_equal(without_limit, noted):
        yield "the infinite losses"


def _other_learner(
    learner: Any,
    evidence: Any,
    values: Floats,
    outcomes: Floats | None,
    served: Moments | None,
    played: list[tuple[Floats, Floats]] | None,
) -> Iterator[str]:
    """What is claimed of the learner and these rounds, played again by a fresh one, do not give.

    ``played`` is filled with the learner's own losses and what following each expert would have saved, if it is there.
    """
    setting, claimed, n = evidence.setting, evidence.state, evidence.n
    own_sums, regrets, by_slopes = _Sums(evidence, each=False), _Sums(evidence), _Sums(evidence)
    swapping, saved, sizes_seen = "swap_regret" in evidence.facts, np.zeros((1, 1)), 0.0
    so_far, met, largest = np.zeros(n), np.zeros(n, dtype=bool), -np.inf
    fresh, experts = type(learner)(**learner.parameters), Experts(n, claimed["names"])
    finite = np.isfinite(evidence.expert_losses)
    discount = evidence.parameters.get("discount")
    fading = {name: _Sums(evidence) for name in (() if discount is None else ("losses", "regrets"))}
    drift, excess = _Sums(evidence, each=False), _Sums(evidence, each=False)
    late = None if served is None else PlayedLate(fresh, values, outcomes, experts, served)
    for block in _blocks(evidence):
        part, seen, lost, awake, infinite = _block(setting, values, outcomes, block)
        shares = np.empty(awake.shape)
        more = (lost, awake, block.start, so_far, infinite)
        if late is None:
            try:
                forecasts, _ = fresh._learn(part, seen, experts, shares)
            except InputError as error:
                raise _failed(learner, values, outcomes, experts, error) from None
            rounds = Rounds(setting, part, seen, forecasts, shares, *more)
            own, sizes = own_losses(rounds)
        else:
            # The forecasts follow from the shares that there were when they were served.
            rounds = Rounds(setting, part, seen, late.forecasts[block], late.then[block], *more)
            own, sizes = own_losses(rounds)
            drift.add(*drifts(rounds, late.shares[block], own, late.late[block]))
            if claimed.get("late_excess"):
                excess.add(*excesses(rounds, late.shares[block], own, late.late[block]))
        own_sums.add(own, sizes)
        counted_in = awake & finite
        gains = np.where(counted_in, own[:, np.newaxis] - lost, 0.0)
        regrets.add(gains, np.where(counted_in, sizes[:, np.newaxis] + np.abs(lost), 0.0))
        if played is not None:
            played.append((own, gains))
        if discount is not None:
            ages = evidence.rounds - 1 - np.arange(block.start, block.start + len(part), dtype=np.float64)
            faded = discount ** ages[:, np.newaxis]
            fading["losses"].add(faded * lost, faded * np.abs(lost))
            fading["regrets"].add(faded * gains, faded * (np.abs(own)[:, np.newaxis] + np.abs(lost)))
        if setting.way is Way.SUBSTITUTION:
            curve = so_far + np.cumsum(np.where(infinite, -np.inf, gains), axis=0)
            compared = met | np.logical_or.accumulate(awake, axis=0)
            largest = max(largest, float(np.where(compared, curve, -np.inf).max()))
            so_far, met = curve[-1], compared[-1]
        if setting.gradient:
            by_slopes.add(*slope_gains(rounds, own))
        if swapping:
            saved = saved + saved_by_swapping(shares, in_range(setting, lost))
            sizes_seen += float(np.abs(in_range(setting, lost)).sum())
    if late is not None and drift.differ_from(claimed.get("late_drift", 0.0)):
        yield "what lateness cost"
    if late is not None and excess.differ_from(claimed.get("late_excess", 0.0)):
        yield "what the forecasts served lost more than those at arrival"
    if own_sums.differ_from(claimed["loss"]):
        yield "the learner's loss"
    if regrets.differ_from(claimed["regrets"]):
        yield "the regrets"
    for name, sums in fading.items():
        if sums.differ_from(claimed[f"discounted_{name}"]):
            yield f"the discounted {name}"
    if setting.way is Way.SUBSTITUTION and evidence.rounds:
        tolerance = 4 * EPSILON * evidence.parts * float(regrets.sizes.max())
        if not abs(largest - claimed["largest_regret"]) <= tolerance:
            yield "the largest regret"
    if setting.gradient and by_slopes.differ_from(claimed["slope_regrets"]):
        yield "the regrets by slopes"
    if swapping and evidence.rounds:
        tolerance = 4 * EPSILON * evidence.parts * n * sizes_seen
        if abs(float(saved.max(axis=1).sum()) - evidence.facts["swap_regret"]) > tolerance:
            yield "the swap regret"
    yield from sorted(_other_state(fresh.state(), claimed))


def _failed(learner: Any, values: Floats, outcomes: Floats | None, experts: Experts, error: InputError) -> InputError:
    """What to say of rounds that a fresh learner refuses. Played at once, not in blocks, it names the row."""
    try:
        type(learner)(**learner.parameters)._learn(values, outcomes, experts)
    except InputError as of_all:
        error = of_all
    return not_these(f"played again they fail: {error}")


def _are_others(differing: list[str]) -> str:
    *first, last = differing
    named = f"{', '.join(first)} and {last}" if first else last
    return f"computed from them, {named} would be different"


def _other_state(replayed: Mapping[str, Any], claimed: Mapping[str, Any]) -> Iterator[str]:
    """The parts of the state, beyond the sums that have been compared, that the rounds do not give."""
    summed = ("loss", "expert_losses", "regrets", "slope_regrets", "asleep_rounds", "names")
    compared = (*summed, "discounted_losses", "discounted_regrets", "late_drift", "late_excess")
    for name, value in claimed.items():
        # States saved before sizes were kept have none of them.
        unknown = name in ("size", "blur", "outside") and value == 0
        if name not in compared and not unknown and not _alike(replayed.get(name), value):
            yield f"its {name.replace('_', ' ')}"


def _alike(one: Any, other: Any) -> bool:
    """Equal but for rounding, looking inside lists and dicts."""
    if isinstance(one, dict):
        return all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return all(_alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float | np.ndarray):
        size = max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0)) if np.size(one) else 0.0
        return bool(np.all(np.abs(np.subtract(one, other)) <= ROUNDING * size))
    return bool(one == other)
