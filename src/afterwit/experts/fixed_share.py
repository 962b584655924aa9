# cython: boundscheck=False, wraparound=False, cdivision=True
"""Fixed share: exponential weights in which everyone keeps a small share, so that the best may change.

Setting     N experts, a convex loss in [0, 1] (or another range, declared); forecast the mean of the advice by p_t.
            The comparator is a sequence of experts that shifts from one to another at most m times.
Update      v_i = p_{t,i} exp(-eta l_{t,i}) / sum_j p_{t,j} exp(-eta l_{t,j}); p_{t+1,i} = (1 - alpha) v_i + alpha /
            N, from p_1 uniform. For a horizon of T rounds with m shifts: alpha = m/(T - 1), eta = sqrt(8/T ((m + 1)
            ln N + (T - 1) H(alpha))), with H(a) = -a ln a - (1 - a) ln(1 - a).
Guarantee   on any sequence and for every m, the regret to the best sequence of experts with at most m shifts is at
            most ((m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha))) / eta + eta T / 8.
Source      Herbster & Warmuth 1998; Cesa-Bianchi & Lugosi 2006, Theorem 5.2.

>>> learner = FixedShare(2, share=0.1, rate=2.0)
>>> learner.learn_many([[0.0, 1.0]] * 4, [1.0, 1.0, 0.0, 0.0]).round(3).tolist()
[0.5, 0.843, 0.928, 0.622]
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import cython
import numpy as np

from afterwit.data.checks import positive_number
from afterwit.data.values import signature
from afterwit.errors import invalid
from afterwit.experts._engine import at_least, between, numbers, plain, view
from afterwit.experts._regret import Comparator, RegretTheorem, Run, log_n

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, exp
else:
    from math import exp
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner


class TrackingBound(RegretTheorem):
    name = "tracking bound"
    statement = "regret <= ((m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha))) / eta + eta T / 8"
    citation = "Cesa-Bianchi & Lugosi 2006, Theorem 5.2"

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]]:
        rate, share, shifts = run.kept["rate"], run.kept["share"], run.kept["shifts"]
        stays = max(run.rounds - shifts - 1, 0)
        cost = (shifts + 1) * log_n(run) - shifts * math.log(share) - stays * math.log1p(-share)
        bound = cost / rate + rate * run.rounds / 8
        inputs = {"N": run.n, "m": shifts, "alpha": share, "eta": rate, "T": run.rounds, "range": run.width}
        return run.width * bound, inputs


@cython.cclass
class FixedShare(ExpertLearner):
    """Fixed share. Give the share and the rate, or the horizon and the number of shifts to choose them for.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    share       alpha, what is shared out in each round, between 0 and 1
    rate        eta, for losses scaled to [0, 1]
    horizon     the number of rounds
    shifts      how often the best expert may change; the learner follows the best such sequence for its certificate
    gradient    whether to learn from slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these)
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _share: cython.double
    _rate: cython.double
    _horizon: object
    _shifts: object
    _levels: cython.Py_ssize_t
    _probabilities: cython.double[::1]
    _paths: cython.double[::1]

    theorems = (TrackingBound(),)

    __signature__ = signature(
        n_experts=None,
        loss="square",
        share=None,
        rate=None,
        horizon=None,
        shifts=None,
        gradient=False,
        loss_range=(0.0, 1.0),
        seed=0,
    )

    def __init__(
        self,
        n_experts: Any,
        loss: Any = "square",
        share: Any = None,
        rate: Any = None,
        horizon: Any = None,
        shifts: Any = None,
        gradient: Any = False,
        loss_range: Any = (0.0, 1.0),
        seed: Any = 0,
    ) -> None:
        ExpertLearner.__init__(self, n_experts, loss, gradient, (0.0, 1.0) if loss_range is None else loss_range, seed)
        given = tuple(option is not None for option in (share, rate, horizon, shifts))
        if given not in ((True, True, False, False), (False, False, True, True), (True, True, False, True)):
            received = (share, rate, horizon, shifts)
            raise invalid("share, rate, horizon, shifts", "share and rate, or horizon and shifts", received)
        changes = 0 if shifts is None else at_least("shifts", shifts, 0)
        rounds = 0 if horizon is None else at_least("horizon", horizon, 3)
        self._shifts = None if shifts is None else changes
        self._horizon = None if horizon is None else rounds
        if horizon is None:
            self._share = between("share", share, 1e-300, 1, "a number between 0 and 1, above 1e-300")
            self._rate = positive_number("rate", rate)
        else:
            if not 1 <= changes < rounds - 1:
                raise invalid("shifts", f"from 1 to {rounds - 2}, for a horizon of {rounds}", shifts)
            self._share = changes / (rounds - 1)
            entropy = -self._share * math.log(self._share) - (1 - self._share) * math.log1p(-self._share)
            cost = (changes + 1) * math.log(self._n) + (rounds - 1) * entropy
            self._rate = math.sqrt(8 * cost / rounds)
        self._levels = 1 + changes
        self._probabilities = view(np.full(self._n, 1.0 / self._n))
        self._paths = view(np.zeros(self._levels * self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        for i in range(self._n):
            self._shares[i] = self._probabilities[i] if self._awake[i] else 0.0
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        low: cython.double = INFINITY
        for i in range(self._n):
            if self._seen[i] < low:
                low = self._seen[i]
        for i in range(self._n):
            self._probabilities[i] *= exp(-self._rate * (self._seen[i] - low))
            total += self._probabilities[i]
        for i in range(self._n):
            self._probabilities[i] = (1 - self._share) * self._probabilities[i] / total + self._share / self._n
        self.follow_paths()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def follow_paths(self) -> cython.void:
        """The least loss of a sequence of experts with at most k shifts that is now at i; a sleeper's is our own."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        best: cython.double
        loss: cython.double
        for k in range(self._levels - 1, -1, -1):
            best = INFINITY
            if k > 0:
                for i in range(self._n):
                    if self._paths[(k - 1) * self._n + i] < best:
                        best = self._paths[(k - 1) * self._n + i]
            for i in range(self._n):
                loss = self._losses[i] if self._awake[i] else self._own
                if best < self._paths[k * self._n + i]:
                    self._paths[k * self._n + i] = best
                self._paths[k * self._n + i] += loss

    def _evidence(self) -> Run:
        run = ExpertLearner._evidence(self)
        shifts = self._levels - 1
        if shifts == 0 or run.rounds == 0:
            return run
        description = f"of the best sequence of experts with at most {shifts} shifts"
        return replace(run, comparator=Comparator(float(np.min(plain(self._paths))), description))

    def _comparator(self, run: Run, values: Any, outcomes: Any) -> Any:
        return run.comparator

    def _kept(self) -> dict[str, Any]:
        return {"rate": self._rate, "share": self._share, "shifts": self._levels - 1}

    @property
    def parameters(self) -> dict[str, Any]:
        chosen = self._horizon is not None
        return {
            "n_experts": self._given_experts,
            "loss": self._loss_given,
            "share": None if chosen else self._share,
            "rate": None if chosen else self._rate,
            "horizon": self._horizon,
            "shifts": self._shifts,
            "gradient": bool(self._linear),
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        return {
            **ExpertLearner._state(self),
            "probabilities": plain(self._probabilities),
            "paths": plain(self._paths, self._levels, self._n),
        }

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        numbers(state, "probabilities", self._n)
        numbers(state, "paths", self._levels, self._n)
        if (state["probabilities"] <= 0).any():
            raise invalid("probabilities", "positive", state["probabilities"])

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._probabilities = numbers(state, "probabilities", self._n)
        self._paths = numbers(state, "paths", self._levels, self._n)
