# cython: boundscheck=False, wraparound=False, cdivision=True
"""Swap regret: no regret even for not having played j wherever you played i.

Setting     N experts, losses in [0, 1] (or another range, declared). The swap regret compares with every way of
            replacing experts, i by F(i), throughout, and is at least the ordinary regret; the internal regret with
            replacing one by another.
Update      N copies of a base algorithm; row i of the matrix Q_t is what copy i proposes. Play the p_t with p_t = p_t
            Q_t, and show copy i the losses p_{t,i} l_t.
Guarantee   on any sequence: swap regret <= the sum of the N copies' own bounds.
Source      Blum & Mansour 2007, Theorem 5.

>>> from afterwit import ExponentialWeights
>>> learner = SwapRegret(ExponentialWeights(3, horizon=50))
>>> for t in range(50):
...     loss = learner.observe([t % 3 == 0, t % 3 == 1, t % 3 == 2])
>>> round(learner.swap_regret, 3), round(learner.internal_regret, 3), round(learner.certificate().bound, 1)
(1.567, 0.832, 15.7)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis, Certificate, Verdict
from afterwit.core.theorem import Theorem
from afterwit.data.values import signature
from afterwit.errors import Words, invalid
from afterwit.experts._engine import view
from afterwit.experts._regret import Run, certificate_of

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class SumOfBaseBounds(Theorem):
    name = "sum of the base bounds"
    statement = "swap regret <= the sum over i of the bound of copy i on the losses p_{t,i} l_t"
    citation = "Blum & Mansour 2007, Theorem 5"
    quantity = "swap regret"

    def certify(self, evidence: Run) -> Certificate:
        parts: list[Certificate] = evidence.kept["certificates"]
        applicable = all(part.verdict is not Verdict.NOT_APPLICABLE for part in parts)
        detail = "" if applicable else "; ".join(sorted({part.line() for part in parts if part.failed}))
        assumptions = (
            *evidence.given,
            Assumption(f"each copy obeys its own bound: {parts[0].theorem.name}", Basis.ENFORCED, applicable, detail),
        )
        bound = evidence.width * sum(part.bound or 0.0 for part in parts) if applicable else None
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=evidence.rounds,
            observed=evidence.kept["swap_regret"],
            bound=bound,
            assumptions=assumptions,
            hindsight=evidence.hindsight() if evidence.rounds else None,
            inputs={"N": evidence.n, "T": evidence.rounds, "base": parts[0].subject},
        )


@cython.cclass
class SwapRegret(ExpertLearner):
    """Blum and Mansour's reduction from swap regret to the ordinary one.

    base        a fresh expert algorithm that learns from all losses, in [0, 1]; copies of it are made
    loss        "zero-one", "square", "absolute", "percentage", "pinball(q)", "log" or one of `afterwit.losses`
    loss_range  the least and the greatest loss
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _base: object
    _copies: list[Any]
    _matrix: cython.double[::1]

    theorems = (SumOfBaseBounds(),)
    sleeping = False

    __signature__ = signature(base=None, loss="zero-one", loss_range=(0.0, 1.0), seed=0)

    def __init__(self, base: Any, loss: Any = "zero-one", loss_range: Any = (0.0, 1.0), seed: Any = 0) -> None:
        allowed = "a fresh expert algorithm that learns from all losses, in [0, 1]"
        if not isinstance(base, ExpertLearner) or not base.takes_losses or not base.sees_all:
            raise invalid("base", allowed, base)
        if base.rounds:
            raise invalid("base", allowed, Words(f"one that has learned {base.rounds:,} rounds"))
        n_experts = base.parameters.get("n_experts")
        if n_experts is None or base._range not in (None, (0.0, 1.0)):
            raise invalid("base", allowed, base)
        given = (0.0, 1.0) if loss_range is None else loss_range
        ExpertLearner.__init__(self, n_experts, loss, False, given, seed)
        self._base = base.copy()
        self._copies = [base.copy() for _ in range(self._n)]
        self._matrix = view(np.zeros(self._n * self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        self.ask()
        return self.stationary()

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(check=False)
    def ask(self) -> cython.void:
        """What each copy proposes, a row of the matrix for each."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        copy: ExpertLearner
        for i in range(self._n):
            copy = self._copies[i]
            copy.everyone()
            for j in range(self._n):
                self._matrix[i * self._n + j] = copy._shares[j] / copy._total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stationary(self) -> cython.double:
        """The p with p = p Q, by elimination without subtraction (Grassmann, Taksar & Heyman 1985)."""
        n: cython.Py_ssize_t = self._n
        matrix: cython.double[::1] = self._matrix
        shares: cython.double[::1] = self._shares
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        factor: cython.double
        start: cython.Py_ssize_t = 0
        out: cython.double
        total: cython.double
        for k in range(n - 1, 0, -1):
            out = 0.0
            for j in range(k):
                out += matrix[k * n + j]
            if not out > 1e-150:
                # Nothing leads from k to those below it, or nothing that counts: all may stay at k.
                start = k
                break
            for i in range(k):
                factor = matrix[i * n + k] / out
                matrix[i * n + k] = factor
                for j in range(k):
                    matrix[i * n + j] += factor * matrix[k * n + j]
        for k in range(start):
            shares[k] = 0.0
        shares[start] = 1.0
        total = 1.0
        for k in range(start + 1, n):
            out = 0.0
            for j in range(start, k):
                out += shares[j] * matrix[j * n + k]
            shares[k] = out
            total += out
            if total > 1e150:
                for j in range(k + 1):
                    shares[j] /= total
                total = 1.0
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        self.tell()

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(check=False)
    def tell(self) -> cython.void:
        """Show each copy its part of the losses."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        share: cython.double
        copy: ExpertLearner
        for i in range(self._n):
            copy = self._copies[i]
            share = self._shares[i] / self._total
            for j in range(self._n):
                copy._losses[j] = share * self._seen[j]
            copy.show_losses()
            copy.commit()
            copy._unforecast += 1

    def _swapped(self) -> Any:
        """In row i and column j, what playing j wherever i was played would have saved."""
        lost = np.array([copy.expert_losses for copy in self._copies])
        return self._width * (np.diag(lost)[:, np.newaxis] - lost)

    @property
    def swap_regret(self) -> float:
        """The regret to the best way of replacing every expert by another."""
        return float(self._swapped().max(axis=1).sum())

    @property
    def internal_regret(self) -> float:
        """The regret to the best way of replacing one expert by another."""
        return float(self._swapped().max())

    def _kept(self) -> dict[str, Any]:
        return {
            "certificates": [_largest_regret(copy) for copy in self._copies],
            "swap_regret": self.swap_regret,
        }

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "base": self._base,
            "loss": self._loss_given,
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        return {**ExpertLearner._state(self), "copies": [copy.state() for copy in self._copies]}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        if not isinstance(state["copies"], list) or len(state["copies"]) != self._n:
            raise invalid("copies", f"{self._n} states", state["copies"])
        base: Any = self._base
        for copy in state["copies"]:
            base._check_state(copy)

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        for copy, content in zip(self._copies, state["copies"], strict=True):
            copy.restore(content)


def _largest_regret(copy: Any) -> Certificate:
    """A copy's certificate for the expert to whom its regret is largest: the one to be played in its place."""
    run = copy._evidence()
    return certificate_of(copy, replace(run, expert=run.worst))
