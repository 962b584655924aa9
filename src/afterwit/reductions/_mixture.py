# cython: boundscheck=False, wraparound=False, cdivision=True
"""The weights by which a committee mixes the probabilities of its members: fixed share on log losses and mistakes.

Member i gives the label that came the probability c_{t,i}. In a round it loses -ln c_{t,i}, and 1 more if it was wrong:
a member that is right is preferred to one that only has good probabilities. With shares p_t, from the uniform ones,

    v_i = p_{t,i} exp(-(loss of i in round t) / 4),   p_{t+1,i} = (1 - alpha) v_i / sum_j v_j + alpha / N.

A member without probabilities gives its label (r + 1) / (t + 1), where it was right in r of the t - 1 rounds so far;
1/2 if that is less. No probability counts as further from 1/2 than that of the log-odds 36, where numbers end.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Count, Numbers, Option, none_negative, not_negative
from afterwit.core.learner import view
from afterwit.data.checks import count
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.core.learner import Storable
    from cython.cimports.libc.math import exp, fabs, log, log1p, sqrt
else:
    from math import exp, fabs, log, log1p, sqrt

    from afterwit.core.learner import Storable

#: What is shared out in each round.
ALPHA = 1e-3
#: By what losses are multiplied.
RATE = 0.25
SHARE = cython.declare(cython.double, ALPHA)
#: What a mistake costs beyond the log loss: exp(-RATE).
MISTAKE = cython.declare(cython.double, exp(-RATE))
#: The log-odds beyond which no probability goes.
SUREST = cython.declare(cython.double, 36.0)


def each_member(mixture: Any) -> tuple[int]:
    """The shape of an array with a number for each member."""
    return (mixture.members,)


def are_shares(shares: Any) -> bool:
    """Whether these are positive and sum to 1, but for rounding."""
    return bool((shares > 0).all() and abs(shares.sum() - 1) < 1e-6)


@cython.cclass
class Mixture(Storable):
    """What each member weighs, and what it and the mixture have lost.

    members   how many there are
    """

    _n: cython.Py_ssize_t
    _rounds = cython.declare(cython.longlong, visibility="public")
    _shares = cython.declare(cython.double[::1], visibility="public")
    # The log loss of every member, without its mistakes, which are counted beside it; and that of the mixture.
    _losses = cython.declare(cython.double[::1], visibility="public")
    _wrong = cython.declare(cython.double[::1], visibility="public")
    _loss = cython.declare(cython.double, visibility="public")
    # What every member gives the positive and the negative label in the current round.
    _positive: cython.double[::1]
    _negative: cython.double[::1]

    options = (Option("members", check=count),)
    kept = (
        Count("rounds"),
        Numbers("shares", each_member, are_shares, "positive numbers that sum to 1"),
        none_negative("losses", each_member),
        none_negative("wrong", each_member),
        not_negative("loss"),
    )

    def _begin(self) -> None:
        self._n = self._options["members"]
        self._rounds = 0
        self._shares = view(np.full(self._n, 1.0 / self._n))
        self._losses = view(np.zeros(self._n))
        self._wrong = view(np.zeros(self._n))
        self._positive = view(np.zeros(self._n))
        self._negative = view(np.zeros(self._n))
        self._loss = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def odds(self, i: cython.Py_ssize_t, score: cython.double, speaks: cython.bint) -> cython.double:
        """The log-odds that member i gives the positive label; if it has no probability, by how often it was right."""
        right: cython.double
        if speaks:
            return min(max(score, -SUREST), SUREST)
        right = self._rounds - self._wrong[i]
        if right <= self._wrong[i]:
            return 0.0
        right = log((right + 1.0) / (self._wrong[i] + 1.0))
        return right if score >= 0 else -right

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mix(self, scores: cython.double[::1], speaking: cython.schar[::1], first: cython.Py_ssize_t) -> cython.double:
        """The log-odds of the mixture of what the members say in a round; their probabilities are left in place."""
        i: cython.Py_ssize_t
        odds: cython.double
        small: cython.double
        large: cython.double
        positive: cython.double = 0.0
        negative: cython.double = 0.0
        for i in range(self._n):
            odds = self.odds(i, scores[first + i], speaking[i])
            small = exp(-fabs(odds))
            large = 1.0 / (1.0 + small)
            small *= large
            self._positive[i] = large if odds >= 0 else small
            self._negative[i] = small if odds >= 0 else large
            positive += self._shares[i] * self._positive[i]
            negative += self._shares[i] * self._negative[i]
        return log(positive / negative)

    def scores(self, scores: Any, speaking: Any) -> Any:
        """The log-odds of the mixture for rows of scores, each as if it came next."""
        t: cython.Py_ssize_t
        rounds: cython.Py_ssize_t = len(scores)
        made = np.empty(rounds)
        out: cython.double[::1] = view(made)
        given: cython.double[::1] = view(scores.reshape(-1))
        who: cython.schar[::1] = view(speaking)
        for t in range(rounds):
            out[t] = self.mix(given, who, t * self._n)
        return made

    def learn(self, scores: Any, speaking: Any, signs: Any) -> Any:
        """The same in order, with the labels: every round is weighed by those before it."""
        t: cython.Py_ssize_t
        rounds: cython.Py_ssize_t = len(scores)
        made = np.empty(rounds)
        out: cython.double[::1] = view(made)
        given: cython.double[::1] = view(scores.reshape(-1))
        who: cython.schar[::1] = view(speaking)
        labels: cython.schar[::1] = view(np.ascontiguousarray(signs, dtype=np.int8))
        with cython.nogil:
            for t in range(rounds):
                out[t] = self.mix(given, who, t * self._n)
                self.weigh(given, t * self._n, labels[t], out[t])
        return made

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(
        self, scores: cython.double[::1], first: cython.Py_ssize_t, y: cython.int, score: cython.double
    ) -> cython.void:
        """Count what everyone lost in the current round, and give everyone a new share."""
        i: cython.Py_ssize_t
        chance: cython.double
        total: cython.double = 0.0
        self._loss += log1p(exp(-y * score))
        for i in range(self._n):
            chance = self._positive[i] if y > 0 else self._negative[i]
            self._losses[i] -= log(chance)
            self._shares[i] *= sqrt(sqrt(chance))
            if (scores[first + i] >= 0) != (y > 0):
                self._wrong[i] += 1.0
                self._shares[i] *= MISTAKE
            total += self._shares[i]
        for i in range(self._n):
            self._shares[i] = (1.0 - SHARE) * self._shares[i] / total + SHARE / self._n
        self._rounds += 1

    def _check_state(self, state: Any) -> None:
        Storable._check_state(self, state)
        wrong = state["wrong"]
        if (wrong > state["rounds"]).any() or (wrong != np.floor(wrong)).any():
            raise invalid("wrong", "counts, none above rounds", wrong)

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def weights(self) -> Any:
        """The share of every member in the next round; they sum to 1."""
        return np.array(self._shares)

    @property
    def loss(self) -> float:
        """The log loss of the mixture so far."""
        return self._loss

    @property
    def member_losses(self) -> Any:
        """The log loss of every member so far."""
        return np.array(self._losses)

    @property
    def member_mistakes(self) -> Any:
        """How often every member was wrong."""
        return np.array(self._wrong)
