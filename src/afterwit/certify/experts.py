"""Gathering the evidence for the theorems of expert algorithms.

Without the rounds, evidence is what the learner's state says. Given the rounds, a fresh learner plays them again and
notes everyone's share in each; forecasts, losses and regrets are then computed from these shares with numpy, apart from
the engine, and everything the learner claims has to agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.expert_rounds import Floats, Rounds, in_range, not_these, own_losses, slope_gains
from afterwit.certify.replay import ROUNDING
from afterwit.core.certificate import EPSILON, Assumption, Basis, Ceiling, Evidence, Hindsight, shown_number
from afterwit.core.theorem import Theorem
from afterwit.data.advice import Experts, read_outcomes, read_rounds
from afterwit.errors import InputError, Words, counted, invalid, shorten
from afterwit.experts._declared import INFINITE_SUMS, LEAST_GAIN
from afterwit.experts._regret import Setting, Way
from afterwit.experts.regrets import saved_by_swapping

#: Where rounding may have moved more than this part of the losses, nothing can be said about them.
LOST = 0.01
#: How many numbers, rounds times experts, are worked on at once.
BLOCK = 32_768


@dataclass(frozen=True, kw_only=True)
class ExpertEvidence(Evidence):
    """A run of an expert algorithm."""

    names: tuple[Any, ...]
    setting: Setting
    parameters: Mapping[str, Any] = field(repr=False)
    state: Mapping[str, Any] = field(repr=False)
    #: What the theorems need to know and neither the options nor the state say.
    facts: Mapping[str, Any] = field(repr=False)
    #: What the learner is compared with, where that is not one expert: the best mixture, the best sequence.
    rival: Hindsight | None = None
    #: The best mixture itself (`afterwit.hindsight.Mixture`), where the rounds are known and it is the rival.
    mixture: Any = field(default=None, repr=False)
    #: The expert it is compared with, where that is decided.
    expert: int | None = None

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def log_n(self) -> float:
        return math.log(self.n)

    @property
    def width(self) -> float:
        """The width of the range of the losses."""
        return self.setting.width

    @property
    def loss(self) -> float:
        return float(self.state["loss"])

    @property
    def expert_losses(self) -> Floats:
        return with_infinite(self.state, "expert_losses")

    @property
    def regrets(self) -> Floats:
        return with_infinite(self.state, "regrets")

    @property
    def awake_rounds(self) -> npt.NDArray[np.int64]:
        rounds: npt.NDArray[np.int64] = self.rounds - self.state["asleep_rounds"]
        return rounds

    @property
    def unforecast(self) -> int:
        """In how many rounds only the losses were known: there the mixture's loss is counted."""
        return int(self.state["unforecast"])

    @property
    def slept(self) -> bool:
        return bool((self.awake_rounds < self.rounds).any())

    @property
    def regrets_to_the_awake(self) -> Floats:
        """The regrets, and minus infinity for experts that have never been awake."""
        return self.regrets if self.rounds == 0 else np.where(self.awake_rounds > 0, self.regrets, -np.inf)

    @property
    def compared(self) -> int:
        """The expert it is compared with: the one decided on, or the one to whom the regret is largest."""
        return int(np.argmax(self.regrets_to_the_awake)) if self.expert is None else self.expert

    def against_one(self, theorem: Theorem, observed: Floats, bounds: Floats) -> ExpertEvidence:
        """The same, compared with one expert, where a theorem has a bound for each.

        That is the best one, as ever; but another if the bound for that one is broken: every bound is judged.
        """
        if self.expert is not None:
            return self
        ever_awake = self.awake_rounds > 0
        excess = np.where(ever_awake, observed - bounds, -np.inf)
        worst = int(np.argmax(excess))
        broken = excess[worst] > 0 and excess[worst] > replace(self, expert=worst).rounding(theorem, bounds[worst])
        return replace(self, expert=worst if broken else self.compared)

    @property
    def regret(self) -> float:
        if not self.rounds:
            return 0.0
        if not self.all_losses_are_known:
            return math.nan
        if self.rival is None:
            return float(self.regrets[self.compared])
        difference = self.loss - self.rival.value
        # Of two sums of so many losses, what rounding alone may have left between them is no regret.
        return 0.0 if abs(difference) <= self.sum_rounding else difference

    @property
    def sizes(self) -> float:
        """The sizes of all losses that were added up for the learner and what it is compared with."""
        if not self.losses_are_not_negative and self.state["size"]:
            return float(self.state["size"])
        rival = self.expert_losses[self.compared] if self.rival is None else self.rival.value
        return abs(self.loss) + abs(float(rival))

    @property
    def sum_rounding(self) -> float:
        """By how much rounding may have moved the sums of the losses against each other.

        The losses as they were shown are rounded too, relative to the low end of a range, and so are the weights that
        follow from their sums: as if every loss had been a little different. With slopes, what is shown is at most
        three times as large as the losses of a round. Last, the mean of the advice is rounded, relative to its own
        size, which costs as much as the slope says. Gains whose squares would be no numbers count as none.

        The log loss is as exact as its own size, because it is computed from the smaller of f and 1 - f.
        """
        setting = self.setting
        sizes = 3 * self.sizes + 2 * self.rounds * abs(setting.low) * setting.ranged
        means = 0.0 if setting.loss.kind == "log" else (self.n + 4) * float(self.state["blur"])
        return EPSILON * (2 * self.parts * sizes + means) + self.rounds * LEAST_GAIN

    @property
    def parts(self) -> int:
        """How many numbers are added up, at most, for one of the sums; each is made of as many parts as experts."""
        return self.rounds + self.n + 16

    @property
    def lost_in_rounding(self) -> bool:
        """Whether rounding may have moved so much that nothing can be said."""
        if not self.rounds or not self.all_losses_are_known:
            return False
        return self.sum_rounding > LOST * self.sizes + self.rounds * LEAST_GAIN

    def rounding(self, theorem: Theorem, bound: float) -> float:
        of_sums = self.sum_rounding * (self.n if theorem.quantity == "swap regret" else 1)
        if self.setting.gradient and self.setting.loss.kind == "log":
            # The slopes, which no losses bound, are rounded before the bound is computed from them.
            of_sums += 2 * EPSILON * self.parts * float(self.state["blur"])
        # Losses that are outside their range by next to nothing are counted as they are, and shown at its end.
        outside = 4 * float(self.state["outside"])
        outside *= max(1.0, abs(bound) / self.width) if outside else 1.0
        return super().rounding(theorem, bound) + of_sums + outside

    @property
    def all_losses_are_known(self) -> bool:
        """Not where a bandit was told the loss of the one it chose, and no other."""
        return not self.state.get("unseen")

    @property
    def loss_there(self) -> float:
        """The learner's loss on the rounds in which the expert it is compared with was awake."""
        return float(self.expert_losses[self.compared] + self.regrets[self.compared])

    @property
    def counted(self) -> int:
        if self.expert is None or self.rival is not None:
            return self.rounds
        return int(self.awake_rounds[self.expert])

    @property
    def squares(self) -> bool:
        return self.setting.loss.kind == "square" and self.unforecast == 0

    def of_copy(self, copy: Any) -> ExpertEvidence:
        """What is known of one of the algorithms this one is built of, compared with the best of its experts."""
        found = gather(copy)
        return replace(found, expert=found.compared)

    def observed(self, theorem: Theorem) -> float:
        if theorem.quantity == "swap regret":
            return float(self.facts["swap_regret"])
        if theorem.quantity == "regret":
            return self.regret
        return self.loss if self.expert is None else self.loss_there

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        if not self.rounds or not self.all_losses_are_known:
            return None
        if self.rival is not None:
            words = f"{self.rival.description}; ours was {shown_number(self.loss)}"
            return Hindsight(self.rival.value, words, "loss", self.rival.gap)
        best = self.compared
        is_best = best == replace(self, expert=None).compared
        where = f", the best of {self.n:,}; ours was" if is_best else "; ours was"
        if self.slept:
            where = f" on the {counted(self.awake_rounds[best], 'round')} in which it was awake; there ours was"
        words = f"of expert {self.names[best]!r}{where} {shown_number(self.loss_there)}"
        return Hindsight(float(self.expert_losses[best]), words, "loss")

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        setting, rounds = self.setting, self.counted
        limits = []
        if theorem.quantity == "loss" and setting.bounded:
            most = setting.low + setting.width
            limits.append(Ceiling(most * rounds, f"no loss is above {shown_number(most)} in a round"))
        elif theorem.quantity in ("regret", "swap regret"):
            if setting.bounded:
                width = shown_number(setting.width)
                limits.append(Ceiling(setting.width * rounds, f"no round adds more than {width} to it"))
            # The swap regret is measured in losses of the mixture, below which the loss of a mean forecast may be.
            counts_the_mixture = setting.way is not Way.MEAN or self.unforecast == self.rounds
            if self.losses_are_not_negative and (theorem.quantity == "regret" or counts_the_mixture):
                own = self.loss if rounds == self.rounds else self.loss_there
                limits.append(Ceiling(own, "losses are not negative, so the regret is at most the loss itself"))
        return min(limits, key=lambda limit: limit.value, default=super().ceiling(theorem))

    @property
    def losses_are_not_negative(self) -> bool:
        if self.setting.bounded and self.setting.low >= 0:
            return True
        return self.setting.loss.kind != "function" and self.unforecast == 0


def with_infinite(state: Mapping[str, Any], name: str) -> Floats:
    """Sums of a state as they are: those of experts whose loss has been infinite are counted in it, not added up."""
    sums: Floats = state[name]
    gone = state.get("infinite")
    return sums if gone is None or not gone.any() else np.where(gone > 0, INFINITE_SUMS[name], sums)


def gather(learner: Any, advice: Any = None, outcomes: Any = None) -> ExpertEvidence:
    """What is known of the rounds of an expert algorithm."""
    state, facts = learner._snapshot()
    evidence = ExpertEvidence(
        subject=type(learner).__name__,
        rounds=state["rounds"],
        names=learner.experts,
        setting=learner._setting(),
        parameters=learner.parameters,
        state=state,
        facts=facts,
        rival=facts.get("rival"),
    )
    evidence = replace(evidence, assumptions=tuple(_assumptions(evidence)))
    if advice is None and outcomes is None:
        return evidence
    values, read = _rounds(evidence, advice, outcomes)
    _check(learner, evidence, values, read)
    if "rival" in facts or read is None or not evidence.setting.gradient or evidence.slept:
        return evidence
    from afterwit.hindsight import best_convex_combination

    found = best_convex_combination(values, read, loss=evidence.setting.loss)
    rival = Hindsight(found.loss, "of the best fixed mixture of the experts", "loss", found.gap)
    return replace(evidence, rival=rival, mixture=found)


def _assumptions(evidence: ExpertEvidence) -> Iterator[Assumption]:
    """What every theorem about this run needs."""
    setting = evidence.setting
    if setting.way is Way.VOTE:
        return
    gone = np.flatnonzero(np.isinf(evidence.expert_losses))
    if len(gone):
        named = ", ".join(repr(evidence.names[i]) for i in gone)
        detail = f"the loss of {shorten(Words(named), 200)} is infinite"
        yield Assumption("an expert that gave no chance to what happened has no share", Basis.ENFORCED, True, detail)
    if evidence.lost_in_rounding:
        yield _lost_in_rounding(evidence)
    if setting.ranged:
        what = "slope * (advice - forecast)" if setting.gradient else "loss"
        statement = f"every {what} is in [{setting.low:g}, {setting.low + setting.width:g}]"
        yield Assumption(statement, Basis.ENFORCED, True)
    if setting.way is Way.DRAWN:
        return
    if evidence.unforecast:
        statement = "where only losses are known, the loss counted is that of the mixture"
        yield Assumption(statement, Basis.ENFORCED, True)
    if evidence.unforecast == evidence.rounds > 0:
        return
    if setting.way is Way.EXPECTED:
        statement = "one expert is followed by chance, and the loss counted is the expected one"
        yield Assumption(statement, Basis.ENFORCED, True)
    elif setting.loss.kind == "function":
        statement = f"the loss {setting.loss} is convex in the forecast"
        statement += ", and the gradient given is its derivative" if setting.gradient else ""
        yield Assumption(statement, Basis.PROMISED, None)
    else:
        yield Assumption(f"the loss ({setting.loss}) is convex in the forecast", Basis.ENFORCED, True)


def _lost_in_rounding(evidence: ExpertEvidence) -> Assumption:
    detail = (
        f"rounding may have moved the sums by {evidence.sum_rounding:.2g}, and the losses are {evidence.sizes:.2g} in "
        "all; subtract a common number from advice and outcomes"
    )
    statement = "the advice differs by more than rounding"
    return Assumption(statement, Basis.OBSERVED, False, detail)


# ---------------------------------------------------------------------- the rounds, computed a second time


def _rounds(evidence: ExpertEvidence, advice: Any, outcomes: Any) -> tuple[Floats, Floats | None]:
    """The rounds the caller gave, as arrays: advice and outcomes, or losses."""
    experts = Experts(evidence.n, evidence.state["names"])
    unseen = evidence.state.get("unseen", 0)
    if 0 < evidence.unforecast < evidence.rounds or unseen:
        alone = evidence.unforecast or unseen
        raise InputError(
            f"the rounds cannot be checked: {evidence.subject} learned {alone:,} of its "
            f"{counted(evidence.rounds, 'round')} from losses alone, and does not know which; certificate() without "
            "rounds takes the learner's own figures"
        )
    if evidence.unforecast:
        if advice is None or outcomes is not None:
            raise invalid("outcomes", "None: these rounds were learned from losses; use certificate(losses)", outcomes)
        return read_rounds(advice, experts, fresh=False, parameter="losses")[0], None
    if advice is None or outcomes is None:
        raise invalid("outcomes", "given together with advice", outcomes)
    values = read_rounds(advice, experts, fresh=False)[0]
    return values, read_outcomes(outcomes, len(values))


class _Sums:
    """Sums over rounds, taken block by block, and how far rounding may have moved them.

    Each term is made of up to as many parts as there are experts. To add n numbers moves their sum by at most n EPSILON
    times the sum of their sizes; both sides did so.
    """

    def __init__(self, evidence: ExpertEvidence, each: bool = True) -> None:
        self.parts = evidence.parts
        self.values, self.sizes = (np.zeros(evidence.n if each else ()) for _ in range(2))

    def add(self, terms: Floats, sizes: Floats) -> None:
        self.values = self.values + terms.sum(axis=0)
        self.sizes = self.sizes + sizes.sum(axis=0)

    def differ_from(self, claimed: Any) -> bool:
        return not bool(np.all(np.abs(self.values - claimed) <= 4 * EPSILON * self.parts * self.sizes))


def _check(learner: Any, evidence: ExpertEvidence, values: Floats, outcomes: Floats | None) -> None:
    """Refuse rounds that are not those the learner learned from, and a state that these rounds do not give."""
    if len(values) != evidence.rounds:
        raise not_these(
            f"the learner counts {counted(evidence.rounds, 'round')}, these are {len(values):,} "
            "(certificate() without rounds takes the learner's own figures)"
        )
    differing = [*_other_experts(evidence, values, outcomes)] or [*_other_learner(learner, evidence, values, outcomes)]
    if differing:
        raise not_these(_are_others(differing))


def _blocks(evidence: ExpertEvidence) -> Iterator[slice]:
    """The rounds in blocks that are small beside long data."""
    length = max(1, BLOCK // evidence.n)
    for begin in range(0, evidence.rounds, length):
        yield slice(begin, begin + length)


def _block(
    setting: Setting, values: Floats, outcomes: Floats | None, block: slice
) -> tuple[Floats, Floats | None, Floats, npt.NDArray[np.bool_]]:
    """The rounds of a block: advice, outcomes, everyone's loss, with 0 for those who sleep, and who is awake."""
    part, seen = values[block], None if outcomes is None else outcomes[block]
    losses = part if seen is None else setting.loss.values(part, seen[:, np.newaxis])
    awake = ~np.isnan(part)
    return part, seen, np.where(awake, losses, 0.0), awake


def _other_experts(evidence: ExpertEvidence, values: Floats, outcomes: Floats | None) -> Iterator[str]:
    """What is claimed of the experts and these rounds do not give."""
    losses, asleep = _Sums(evidence), np.zeros(evidence.n, dtype=np.int64)
    # A sum with an infinite loss in it is one for both or for none.
    infinite, gone = np.isinf(evidence.expert_losses), np.zeros(evidence.n, dtype=bool)
    for block in _blocks(evidence):
        _, _, lost, awake = _block(evidence.setting, values, outcomes, block)
        gone |= np.isinf(lost).any(axis=0)
        finite = np.where(infinite | np.isinf(lost), 0.0, lost)
        losses.add(finite, np.abs(finite))
        asleep += (~awake).sum(axis=0)
    if not np.array_equal(gone, infinite) or losses.differ_from(evidence.state["expert_losses"]):
        yield "the experts' losses"
    if not np.array_equal(asleep, evidence.state["asleep_rounds"]):
        yield "the rounds in which experts slept"


def _other_learner(learner: Any, evidence: ExpertEvidence, values: Floats, outcomes: Floats | None) -> Iterator[str]:
    """What is claimed of the learner and these rounds, played again by a fresh one, do not give."""
    setting, claimed, n = evidence.setting, evidence.state, evidence.n
    own_sums, regrets, by_slopes = _Sums(evidence, each=False), _Sums(evidence), _Sums(evidence)
    swapping, saved, sizes_seen = "swap_regret" in evidence.facts, np.zeros((1, 1)), 0.0
    fresh, experts = type(learner)(**learner.parameters), Experts(n, claimed["names"])
    finite = np.isfinite(evidence.expert_losses)
    for block in _blocks(evidence):
        part, seen, lost, awake = _block(setting, values, outcomes, block)
        shares = np.empty(part.shape)
        try:
            forecasts, _ = fresh._learn(part, seen, experts, shares)
        except InputError as error:
            raise _failed(learner, values, outcomes, experts, error) from None
        rounds = Rounds(setting, part, seen, forecasts, shares, lost, awake, block.start)
        own, sizes = own_losses(rounds)
        own_sums.add(own, sizes)
        counted_in = awake & finite
        gains = np.where(counted_in, own[:, np.newaxis] - lost, 0.0)
        regrets.add(gains, np.where(counted_in, sizes[:, np.newaxis] + np.abs(lost), 0.0))
        if setting.gradient:
            by_slopes.add(*slope_gains(rounds, own))
        if swapping:
            saved = saved + saved_by_swapping(shares, in_range(setting, lost))
            sizes_seen += float(np.abs(in_range(setting, lost)).sum())
    if own_sums.differ_from(claimed["loss"]):
        yield "the learner's loss"
    if regrets.differ_from(claimed["regrets"]):
        yield "the regrets"
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
    compared = ("loss", "expert_losses", "regrets", "slope_regrets", "asleep_rounds", "names")
    for name, value in claimed.items():
        # States saved before sizes were kept have none of them.
        unknown = name in ("size", "blur", "outside") and value == 0
        if name not in compared and not unknown and not _alike(replayed[name], value):
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
