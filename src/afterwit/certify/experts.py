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

from afterwit.certify.replay import ROUNDING
from afterwit.core.certificate import Assumption, Basis, Ceiling, Evidence, Hindsight, shown_number
from afterwit.core.theorem import Theorem
from afterwit.data.advice import Experts, read_outcomes, read_rounds
from afterwit.errors import InputError, invalid
from afterwit.experts._regret import Setting, Way
from afterwit.experts.regrets import swap_regret

Floats = npt.NDArray[np.float64]

#: By how much, as a part of it, one number may be rounded.
EPSILON = float(np.finfo(np.float64).eps)


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
        losses: Floats = self.state["expert_losses"]
        return losses

    @property
    def regrets(self) -> Floats:
        regrets: Floats = self.state["regrets"]
        return regrets

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
        rounding = 4 * EPSILON * self.rounds * max(abs(self.loss), abs(self.rival.value))
        return 0.0 if abs(difference) <= rounding else difference

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
            return Hindsight(self.rival.value, words, "loss")
        best = self.compared
        where = f", the best of {self.n:,}; ours was"
        if self.slept:
            where = f" on the {self.awake_rounds[best]:,} rounds in which it was awake; there ours was"
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
    return replace(evidence, rival=Hindsight(found.loss, "of the best fixed mixture of the experts", "loss"))


def _assumptions(evidence: ExpertEvidence) -> Iterator[Assumption]:
    """What every theorem about this run needs."""
    setting = evidence.setting
    if setting.way is Way.VOTE:
        return
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


# ---------------------------------------------------------------------- the rounds, computed a second time


def _rounds(evidence: ExpertEvidence, advice: Any, outcomes: Any) -> tuple[Floats, Floats | None]:
    """The rounds the caller gave, as arrays: advice and outcomes, or losses."""
    experts = Experts(evidence.n, evidence.state["names"])
    unseen = evidence.state.get("unseen", 0)
    if 0 < evidence.unforecast < evidence.rounds or unseen:
        alone = evidence.unforecast or unseen
        raise InputError(
            f"the rounds cannot be checked: {evidence.subject} learned {alone:,} of its {evidence.rounds:,} rounds "
            "from losses alone, and does not know which; certificate() without rounds takes the learner's own figures"
        )
    if evidence.unforecast:
        if advice is None or outcomes is not None:
            raise invalid("outcomes", "None: these rounds were learned from losses; use certificate(losses)", outcomes)
        return read_rounds(advice, experts, fresh=False, parameter="losses")[0], None
    if advice is None or outcomes is None:
        raise invalid("outcomes", "given together with advice", outcomes)
    values = read_rounds(advice, experts, fresh=False)[0]
    return values, read_outcomes(outcomes, len(values))


@dataclass(frozen=True)
class _Sums:
    """Sums over rounds, and how far rounding may have moved them."""

    values: Any
    tolerance: Any

    def differ_from(self, claimed: Any) -> bool:
        return not bool(np.all(np.abs(self.values - claimed) <= self.tolerance))


def _sums(terms: Floats, sizes: Floats, experts: int) -> _Sums:
    """Sums over the first axis. Each term is made of up to as many parts as there are experts.

    To add n numbers moves their sum by at most n EPSILON times the sum of their sizes; both sides did so.
    """
    parts = len(terms) + experts + 16
    return _Sums(terms.sum(axis=0), 4 * EPSILON * parts * sizes.sum(axis=0))


def _check(learner: Any, evidence: ExpertEvidence, values: Floats, outcomes: Floats | None) -> None:
    """Refuse rounds that are not those the learner learned from, and a state that these rounds do not give."""
    setting, claimed = evidence.setting, evidence.state
    if len(values) != evidence.rounds:
        raise _not_these(f"the learner counts {evidence.rounds:,} rounds, these are {len(values):,}")
    losses = values if outcomes is None else setting.loss.values(values, outcomes[:, np.newaxis])
    awake = ~np.isnan(values)
    lost = np.where(awake, losses, 0.0)
    differing = []
    if _sums(lost, np.abs(lost), evidence.n).differ_from(claimed["expert_losses"]):
        differing.append("the experts' losses")
    if not np.array_equal((~awake).sum(axis=0), claimed["asleep_rounds"]):
        differing.append("the rounds in which experts slept")
    if differing:
        raise _not_these(_are_others(differing))
    fresh = type(learner)(**learner.parameters)
    shares = np.empty(values.shape)
    try:
        forecasts, _ = fresh._learn(values, outcomes, Experts(evidence.n, claimed["names"]), shares)
    except InputError as error:
        raise _not_these(f"played again they fail: {error}") from None
    own, sizes = _own_losses(setting, values, outcomes, forecasts, shares, lost, awake)
    if _sums(own, sizes, evidence.n).differ_from(claimed["loss"]):
        differing.append("the learner's loss")
    gains = np.where(awake, own[:, np.newaxis] - lost, 0.0)
    if _sums(gains, np.where(awake, sizes[:, np.newaxis] + np.abs(lost), 0.0), evidence.n).differ_from(
        claimed["regrets"]
    ):
        differing.append("the regrets")
    if setting.gradient:
        gains, sizes = _slope_gains(setting, values, outcomes, forecasts, own, lost, awake)
        if _sums(gains, sizes, evidence.n).differ_from(claimed["slope_regrets"]):
            differing.append("the regrets by slopes")
    if "swap_regret" in evidence.facts and len(values):
        seen = _in_range(setting, lost)
        tolerance = 4 * EPSILON * (len(values) + evidence.n + 16) * evidence.n * float(np.abs(seen).sum())
        if abs(swap_regret(shares, seen) - evidence.facts["swap_regret"]) > tolerance:
            differing.append("the swap regret")
    differing += sorted(_other_state(fresh.state(), claimed))
    if differing:
        raise _not_these(_are_others(differing))


def _not_these(why: str) -> InputError:
    return InputError(f"the rounds given must be the rounds the learner learned from; {why}")


def _are_others(differing: list[str]) -> str:
    *first, last = differing
    named = f"{', '.join(first)} and {last}" if first else last
    return f"computed from them, {named} would be different"


def _own_losses(
    setting: Setting,
    values: Floats,
    outcomes: Floats | None,
    forecasts: Floats,
    shares: Floats,
    lost: Floats,
    awake: npt.NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """The learner's loss in each round from everyone's share, and the size of what was added up for it."""
    seen = _in_range(setting, lost)
    if setting.way in (Way.EXPECTED, Way.DRAWN):
        drawn = _drawn(setting.seed, shares)
        if outcomes is not None and not np.array_equal(forecasts, np.take_along_axis(values, drawn, axis=1)[:, 0]):
            raise _not_these("the forecasts are not those of the experts drawn")
        if setting.way is Way.DRAWN:
            own = np.take_along_axis(seen, drawn, axis=1)[:, 0]
            return own, np.abs(own)
    if outcomes is None or setting.way is Way.EXPECTED:
        return (shares * seen).sum(axis=1), (shares * np.abs(seen)).sum(axis=1)
    if setting.way is Way.VOTE:
        _check_votes(values, shares, forecasts)
    else:
        _check_means(np.where(awake, values, 0.0), shares, forecasts)
    # Where the loss has a kink, rounding decides on which side of it the forecast is: the learner's own is judged.
    own = setting.loss.values(forecasts, outcomes)
    return own, np.abs(own)


def _in_range(setting: Setting, losses: Floats) -> Floats:
    """The losses as the algorithm sees them: what is outside the range by rounding is at its end."""
    return np.clip(losses, setting.low, setting.low + setting.width) if setting.bounded else losses


def _check_means(values: Floats, shares: Floats, forecasts: Floats) -> None:
    terms = shares * values
    tolerance = 4 * EPSILON * (values.shape[1] + 16) * np.abs(terms).sum(axis=1)
    if not (np.abs(terms.sum(axis=1) - forecasts) <= tolerance).all():
        raise _not_these("the forecasts are not the means of the advice by the shares")


def _check_votes(values: Floats, shares: Floats, forecasts: Floats) -> None:
    """Whether each forecast is a label with the largest share behind it; of equals, but for rounding, any."""
    if not len(values):
        return
    order = np.argsort(values, axis=1, kind="stable")
    labels, behind = np.take_along_axis(values, order, axis=1), np.take_along_axis(shares, order, axis=1)
    new = np.ones(labels.shape, dtype=bool)
    new[:, 1:] = labels[:, 1:] != labels[:, :-1]
    starts = np.flatnonzero(new)
    votes = np.add.reduceat(behind.reshape(-1), starts)
    row = starts // labels.shape[1]
    largest = np.maximum.reduceat(votes, np.flatnonzero(np.diff(row, prepend=-1)))
    received = (shares * (values == forecasts[:, np.newaxis])).sum(axis=1)
    if not (received >= largest - 4 * EPSILON * (values.shape[1] + 16)).all():
        raise _not_these("the forecasts are not the labels with the largest shares behind them")


def _drawn(seed: int, shares: Floats) -> npt.NDArray[np.intp]:
    """The expert drawn in each round, as a column: by splitmix64 of the seed and the round, and by the shares."""
    rounds = np.arange(1, len(shares) + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + rounds * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    uniform = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    below = np.cumsum(shares, axis=1) <= uniform[:, np.newaxis]
    # Rounding may leave the sum of all shares below 1: then the last expert that has one is drawn.
    last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0, axis=1)
    drawn: npt.NDArray[np.intp] = np.minimum(below.sum(axis=1), last)[:, np.newaxis]
    return drawn


def _slope_gains(
    setting: Setting,
    values: Floats,
    outcomes: Floats | None,
    forecasts: Floats,
    own: Floats,
    lost: Floats,
    awake: npt.NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """What following each expert would have saved by the tangent at the forecast, and the sizes behind it."""
    if outcomes is None:
        slopes, here, there = np.ones(len(lost)), own, lost
    else:
        slopes, here, there = setting.loss.slopes(forecasts, outcomes), forecasts, values
    slope, base = slopes[:, np.newaxis], here[:, np.newaxis]
    sizes = np.abs(slope) * (np.abs(base) + np.abs(there)) + abs(setting.low) + setting.width * setting.ranged
    return np.where(awake, slope * (base - there), 0.0), np.where(awake, sizes, 0.0)


def _other_state(replayed: Mapping[str, Any], claimed: Mapping[str, Any]) -> Iterator[str]:
    """The parts of the state, beyond the sums that have been compared, that the rounds do not give."""
    compared = ("loss", "expert_losses", "regrets", "slope_regrets", "asleep_rounds", "names")
    for name, value in claimed.items():
        if name not in compared and not _alike(replayed[name], value):
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
