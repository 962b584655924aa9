# cython: boundscheck=False, wraparound=False, cdivision=True
"""Bernstein online aggregation: exponential weights that also punish how much an expert's regret moves.

Setting     N experts and any convex loss, of any size; forecast the mean of the advice by p_t.
Update      r_{t,i} is what following expert i would have saved in round t, scaled down by B_{t-1}/B_t where it is
            larger than any before, B_t the largest |r_{s,j}| so far, or the declared range; V_{t,i} sums r_{t,i}^2.
            Rates eta_{t,i} = min(1/(2 B_t), sqrt(ln N / V_{t,i})); S_{t,i} sums r_{t,i} - eta_{t-1,i} r_{t,i}^2;
            p_{t+1,i} proportional to eta_{t,i} exp(eta_{t,i} S_{t,i}).
Guarantee   on any sequence and for every expert i R_i <= C + sum_t eta_{t-1,i} r_{t,i}^2 + (ln N + ln W) / eta_{T,i},
            W = 1 + mean_j sum_t (eta_{t-1,j}/eta_{t,j} - 1) / e, C what was scaled away, at most B_T; and if a range
            M is declared R_i <= 2 sqrt(V_i ln N) + M/2 + (ln N + ln W) (2M + sqrt(V_i / ln N)), W <= 1 + (1 + 1/(4 ln
            N)) (1 + ln(1 + T)) / (2e). With the gradient trick, on by default, R_i bounds the regret to every mixture
            of the experts as well.
Source      Wintenberger 2017, section 3; rates for each expert as in Gaillard, Stoltz & van Erven 2014, whose proof
            of Theorem 3 carries over with exp(x - x^2) <= 1 + x for x >= -1/2; scaling down as in Mhammedi, Koolen &
            van Erven 2019.

>>> learner = BOA(2)
>>> learner.learn_many([[10.0, 14.0], [10.0, 14.0], [10.0, 14.0]], [13.0, 13.0, 13.0]).round(3).tolist()
[12.0, 12.0, 12.924]
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.data.values import signature
from afterwit.experts._engine import a_number, numbers, plain, view
from afterwit.experts._regret import Floats, RegretTheorem, Run, log_n

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, exp, fabs, sqrt
else:
    from math import exp, fabs, sqrt
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner


class BernsteinBound(RegretTheorem):
    name = "Bernstein bound"
    statement = "regret to i <= C + sum_t eta_{t-1,i} r_{t,i}^2 + (ln N + ln W) / eta_{T,i}"
    citation = "Wintenberger 2017; Gaillard, Stoltz & van Erven 2014, proof of Theorem 3"
    foreseeable = False

    def regret_bound(self, run: Run) -> tuple[Floats, dict[str, float | str]]:
        kept = run.kept
        growth = 1 + float(kept["growth"].mean()) / math.e
        rates = rates_of(kept["largest"], kept["squares"], log_n(run))
        bounds = kept["clipped"] + kept["penalties"] + (log_n(run) + math.log(growth)) / rates
        return bounds, {"N": run.n, "T": run.rounds, "W": growth, "C": kept["clipped"]}


class RangedBernsteinBound(RegretTheorem):
    name = "ranged Bernstein bound"
    statement = "regret <= 2 M sqrt(T ln N) + M/2 + (ln N + ln W) (2M + M sqrt(T / ln N))"
    citation = "Wintenberger 2017; Gaillard, Stoltz & van Erven 2014, Theorem 3"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]] | None:
        if not run.ranged:
            return None
        if run.n == 1:
            return 0.0, {"M": run.width, "N": 1, "T": run.rounds}
        growth = 1 + (1 + 1 / (4 * log_n(run))) * (1 + math.log1p(run.rounds)) / (2 * math.e)
        root = math.sqrt(run.rounds * log_n(run))
        last = (log_n(run) + math.log(growth)) * (2 + math.sqrt(run.rounds / log_n(run)))
        return run.width * (2 * root + 0.5 + last), {"M": run.width, "N": run.n, "T": run.rounds, "W": growth}


def rates_of(largest: float, squares: Floats, log_n: float) -> Floats:
    """The rates that belong to the largest gain and the sums of squares; infinite where there is nothing yet."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.minimum(1 / (2 * np.float64(largest)), np.where(squares > 0, np.sqrt(log_n / squares), np.inf))


@cython.cclass
class BOA(ExpertLearner):
    """Bernstein online aggregation with a rate for each expert.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts; None: if the
                loss has slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), where they are known
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _sums: cython.double[::1]
    _squares: cython.double[::1]
    _penalties: cython.double[::1]
    _growth: cython.double[::1]
    _log_n: cython.double
    _largest: cython.double
    _clipped: cython.double

    theorems = (RangedBernsteinBound(), BernsteinBound())

    __signature__ = signature(n_experts=None, loss="square", gradient=None, loss_range=None, seed=0)

    def __init__(
        self, n_experts: Any, loss: Any = "square", gradient: Any = None, loss_range: Any = None, seed: Any = 0
    ) -> None:
        ExpertLearner.__init__(self, n_experts, loss, gradient, loss_range, seed)
        self._own_in_range = True
        self._sums = view(np.zeros(self._n))
        self._squares = view(np.zeros(self._n))
        self._penalties = view(np.zeros(self._n))
        self._growth = view(np.zeros(self._n))
        self._log_n = math.log(self._n)
        self._largest = self._width if self._ranged else 0.0
        self._clipped = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rate(self, largest: cython.double, square: cython.double) -> cython.double:
        """min(1/(2 B), sqrt(ln N / V)) for a positive B."""
        if 4 * largest * largest * self._log_n < square:
            return sqrt(self._log_n / square)
        return 1 / (2 * largest)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        rate: cython.double
        best: cython.double = -INFINITY
        total: cython.double = 0.0
        if self._largest == 0 or self._n == 1:
            for i in range(self._n):
                self._shares[i] = self._awake[i]
                total += self._shares[i]
            return total
        for i in range(self._n):
            self._shares[i] = self.rate(self._largest, self._squares[i]) * self._sums[i]
            if self._awake[i] and self._shares[i] > best:
                best = self._shares[i]
        for i in range(self._n):
            # Twice the largest gain makes the rates numbers up to 1, whatever the losses' unit.
            rate = self.rate(self._largest, self._squares[i]) * 2 * self._largest
            self._shares[i] = rate * exp(self._shares[i] - best) if self._awake[i] else 0.0
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        gain: cython.double
        rate: cython.double
        largest: cython.double = self._largest
        if self._n == 1:
            return
        for i in range(self._n):
            gain = fabs(self.gain(i))
            if gain > largest:
                largest = gain
        # A gain whose square is too small for a number is none.
        if largest < 1e-150:
            return
        self._clipped += largest - self._largest
        if self._largest == 0:
            self._largest = largest
            return
        scale: cython.double = self._largest / largest
        for i in range(self._n):
            gain = scale * self.gain(i)
            rate = self.rate(self._largest, self._squares[i])
            self._sums[i] += gain - rate * gain * gain
            self._penalties[i] += rate * gain * gain
            self._squares[i] += gain * gain
            self._growth[i] += rate / self.rate(largest, self._squares[i]) - 1
        self._largest = largest

    def _kept(self) -> dict[str, Any]:
        return {
            "growth": plain(self._growth),
            "squares": plain(self._squares),
            "penalties": plain(self._penalties),
            "largest": self._largest,
            "clipped": self._clipped,
        }

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "loss": self._loss_given,
            "gradient": bool(self._linear),
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        return {**ExpertLearner._state(self), "sums": plain(self._sums), **self._kept()}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        for name in ("sums", "growth", "squares", "penalties"):
            numbers(state, name, self._n)
        a_number(state, "largest")
        a_number(state, "clipped")

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._sums = numbers(state, "sums", self._n)
        self._growth = numbers(state, "growth", self._n)
        self._squares = numbers(state, "squares", self._n)
        self._penalties = numbers(state, "penalties", self._n)
        self._largest = state["largest"]
        self._clipped = state["clipped"]
