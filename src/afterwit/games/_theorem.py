"""What the bounds on a game's gap share: one formula of rows, columns, rounds and the payoffs' spread."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Evidence, Hindsight
from afterwit.core.theorem import Theorem


@dataclass(frozen=True, kw_only=True)
class GameEvidence(Evidence):
    """A solved game, with the gap computed anew from the matrix."""

    rows: int
    columns: int
    spread: float
    gap: float
    value: float
    #: By how much rounding may have moved the gap.
    payoff_rounding: float
    #: What it cost, on the weighted average, that the column player answers p_{t+1} instead of p_t.
    cost_of_turns: float
    #: The largest entries of Q_T and Q'_T, added.
    regrets: float

    def observed(self, theorem: Theorem) -> float:
        del theorem
        return self.gap

    def hindsight(self, theorem: Theorem) -> Hindsight:
        del theorem
        return Hindsight(self.value, "of the game, give or take half the gap", "value")

    def rounding(self, theorem: Theorem, bound: float) -> float:
        return super().rounding(theorem, bound) + self.payoff_rounding

    def ceiling(self, theorem: Theorem) -> Ceiling:
        del theorem
        return Ceiling(self.spread, "no gap is above the spread of the payoffs")


class GapBound(Theorem):
    """Two players with small regret: their average strategies have a small gap."""

    quantity = "gap"
    beforehand = True
    #: What the theorem is about, as an assumption that the code enforces.
    played: str
    #: That taking turns does not hurt is proved for regret matching+; elsewhere it has to be observed.
    turns_are_observed = False

    @abstractmethod
    def bound(self, rows: int, columns: int, rounds: int, spread: float) -> float:
        """The largest gap after so many rounds."""

    def certify(self, evidence: Any) -> Certificate:
        why_not = "" if evidence.rounds else "the gap was reached before the first round"
        assumptions = [Assumption(self.played, Basis.ENFORCED, evidence.rounds > 0, why_not)]
        if self.turns_are_observed:
            hurt = not evidence.cost_of_turns <= evidence.payoff_rounding
            detail = f"they cost {evidence.cost_of_turns:.3g} on average" if hurt else ""
            assumptions.append(Assumption("taking turns did not hurt", Basis.OBSERVED, not hurt, detail))
        shape = (evidence.rows, evidence.columns, evidence.rounds, evidence.spread)
        bound = self.bound(*shape) if evidence.rounds else None
        inputs = dict(zip(("m", "n", "T", "Delta"), shape, strict=True))
        certificate: Certificate = evidence.certificate(self, bound, inputs, *assumptions)
        return certificate
