"""What the pictures of a run of experts have in common: names, the best, and what was promised at each moment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, Verdict, shown_number
from afterwit.core.envelope import Floats
from afterwit.errors import counted
from afterwit.experts import regrets
from afterwit.pictures._bars import short

#: Regrets that are never below the one to the best expert, so that bounds on them are bounds on it.
ABOVE_REGRET = ("regret", "largest regret", "swap regret")
#: As many experts have colours of their own.
NAMED = 8


@dataclass(frozen=True)
class Promise:
    """The bound on the regret at one moment."""

    rounds: int
    bound: float
    vacuous: bool = False
    #: Where the bound does not hold for certain: "on average over the learner's own draws".
    chance: str = ""


class Run:
    """A record as its pictures look at it; what several of them need is computed once."""

    def __init__(self, record: Any) -> None:
        self.record = record
        self.learner = short(record.learner, 48)
        self.rounds: int = record.rounds
        self.count = len(record.experts)
        #: The experts as tables name them, and as there is room for in a picture.
        self.names = [_name(name, place) for place, name in enumerate(record.experts)]
        self.short = [short(name) for name in self.names]

    @cached_property
    def regrets(self) -> Floats:
        """After each round, to each expert; minus infinity to those that have not been awake."""
        return regrets.to_the_awake(self.record.regret_curves, self.record.expert_losses)

    @cached_property
    def best_so_far(self) -> npt.NDArray[np.int64]:
        return np.asarray(self.regrets.argmax(axis=1), dtype=np.int64)

    @cached_property
    def regret_curve(self) -> Floats:
        return np.asarray(self.regrets.max(axis=1))

    @cached_property
    def best(self) -> int:
        """The best expert of all rounds."""
        return int(self.best_so_far[-1]) if self.rounds else 0

    @cached_property
    def by_regret(self) -> list[int]:
        """All experts that have been awake, the best first."""
        if not self.rounds:
            return []
        awake = ~np.isnan(self.record.expert_losses).all(axis=0)
        return [i for i in np.argsort(-self.regrets[-1], kind="stable").tolist() if awake[i]]

    @cached_property
    def asleep(self) -> bool:
        """Whether anybody slept in any round."""
        return bool(np.isnan(self.record.expert_losses).any())

    @property
    def squares(self) -> bool:
        """Whether losses are squared errors, whose mean people know by its root."""
        return self.record.forecasts is not None and bool(self.record.certificate.squares)

    def rated(self, means: Any) -> Any:
        """Mean losses as pictures show them."""
        return np.sqrt(np.maximum(means, 0.0)) if self.squares else means

    @property
    def rate(self) -> str:
        return "root mean squared error" if self.squares else "mean loss"

    @property
    def rate_in_short(self) -> str:
        return "RMSE" if self.squares else "Mean loss"

    @property
    def adds_up(self) -> bool:
        """Whether forecasts are numbers that are means of the advice by the shares."""
        record = self.record
        return record.follows_the_mean and record.shares is not None and not record.kinds

    # ------------------------------------------------------------------ what was promised

    @cached_property
    def promises(self) -> list[Promise]:
        """The bound on the regret at every moment at which there is one."""
        record = self.record
        if record.earlier or record.run is None or not self.rounds:
            return []
        made = record.moments()
        if not made and record.bound_curve is not None:
            return [Promise(t + 1, float(bound)) for t, bound in enumerate(record.bound_curve) if math.isfinite(bound)]
        if not made or made[-1].rounds < self.rounds:
            made = [*made, record.certificate]
        found = [promise_of(each) for each in made]
        return [each for each in found if each is not None and math.isfinite(each.bound)]

    @property
    def why_no_promise(self) -> str:
        """Why there is no bound at the end, as a sentence."""
        record = self.record
        if record.earlier:
            before = counted(record.earlier, "round")
            return f"The learner had learned {before} before, which its bound is about as well: none is drawn."
        made = record.certificate
        if made.verdict is Verdict.NOT_APPLICABLE:
            return f"No bound applies: {'; '.join(made.why_not())}."
        if made.bound is not None and made.quantity not in ABOVE_REGRET:
            return f"The bound is on the {made.quantity}, at most {shown_number(made.bound)}, and not on this regret."
        return "No bound on this regret is known."

    def said_of_experts(self) -> str:
        return " An expert that slept is judged on the rounds in which it was awake." if self.asleep else ""

    # ------------------------------------------------------------------ choosing

    def largest(self, sizes: Floats) -> tuple[list[int], list[int]]:
        """The experts with names of their own in a picture, the largest first; and all others."""
        order = np.argsort(-sizes, kind="stable").tolist()
        most = NAMED if self.count <= NAMED else NAMED - 1
        return order[:most], order[most:]


def promise_of(made: Certificate) -> Promise | None:
    """The tightest bound on the regret to the best expert among this certificate and those beside it."""
    applicable = [each for each in (made, *made.others) if each.verdict is not Verdict.NOT_APPLICABLE]
    found = [(each.bound, each) for each in applicable if each.quantity in ABOVE_REGRET]
    if not found:
        # What bounds the loss, or the mistakes, bounds the regret when what the best one lost is taken off.
        found = [
            (each.bound - each.hindsight.value, each)
            for each in applicable
            if each.bound is not None and each.quantity in ("loss", "mistakes") and each.hindsight is not None
        ]
    if not found:
        return None
    bound, tightest = min(found, key=lambda pair: float(pair[0] or 0.0))
    assert bound is not None
    return Promise(made.rounds, float(bound), tightest.vacuous, tightest.theorem.chance)


def _name(name: Any, place: int) -> str:
    if name is None or isinstance(name, int):
        return f"expert {place if name is None else name}"
    return "".join(letter if letter.isprintable() else " " for letter in str(name)).strip() or f"expert {place}"
