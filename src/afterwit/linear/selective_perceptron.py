# cython: boundscheck=False, wraparound=False, cdivision=True
"""The selective perceptron: ask for the label only if the score is near 0, the more likely the nearer.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(s_t), s_t = w_t . x_t, sgn(0) = +1. The label y_t costs something,
            and is seen only in the rounds in which the learner asks for it.
Update      ask with probability b / (b + |s_t|); if it asked and was wrong: w_{t+1} = w_t + y_t x_t, from w_1 = 0. The
            draw depends on the seed and the number of the round alone.
Guarantee   let M be the mistakes of all rounds, asked or not, and N the sum of 1 + |s_t| / b over the rounds with an
            update, which needs no label but those that were asked for. On average over the draws N is M. On every
            run, for every comparator u with hinge loss L at margin 1 in the rounds with an update:
            N <= (1 + R^2/(2b)) L + |u|^2 (2b + R^2)^2 / (8b). Where b is at least R^2/2 and the data is separable with
            margin gamma, N <= (R/gamma)^2 as well, so that the mean of M is at most the bound of the perceptron, which
            sees every label. Of how many labels it asks for, nothing is proved.
Assumes     |x_t| <= R. For the mean of M: the examples and labels do not depend on the draws.
Source      Cesa-Bianchi, Gentile & Zaniboni 2006, Worst-case analysis of selective sampling for linear classification,
            Theorem 1. `SelectiveBound` and `SharperSelectiveBound` have the proofs.

With ``learn_one`` and ``learn_many`` every label is given, and the learner looks at those it asks for. Where labels are
not at hand, ``asks(x)`` tells whether the label of x is wanted: go on with ``learn_one(x, y)`` if it is, and with
``skip(x)`` if it is not. Both ways lead to the same weights.

>>> learner = SelectivePerceptron(b=1.0, seed=3, labels=("ham", "spam"))
>>> learner.asks({"lunch": 1, "today": 1})  # the score is 0: it asks for certain
True
>>> learner.learn_one({"lunch": 1, "today": 1}, "ham")
'spam'
>>> learner.asks({"lunch": 1, "today": 1})
False
>>> learner.skip({"lunch": 1, "today": 1})  # its prediction; nobody told the label
'ham'
>>> learner.rounds, learner.asked, learner.estimated_mistakes
(2, 1, 1.0)
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import Count, Option, not_negative
from afterwit.core.inputs import HINGE_LOSS, NORM, RADIUS
from afterwit.core.learner import view
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import positive_number, seed
from afterwit.data.draws import AT_ONCE, Draws
from afterwit.data.quantities import NOT_NEGATIVE, POSITIVE
from afterwit.errors import Words, invalid
from afterwit.linear._engine import SHARED
from afterwit.linear._stops import Stop
from afterwit.linear.perceptron import RootHingeBound, perceptron_bounds

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.libc.math import fabs
else:
    from math import fabs

    from afterwit.linear._engine import LinearLearner

GOING_ON = cython.declare(cython.int, Stop.GOING_ON)
NO_ROOM = cython.declare(cython.int, Stop.NO_ROOM)
LABEL_WANTED = cython.declare(cython.int, Stop.LABEL_WANTED)
#: The sign of a label that nobody has told.
UNKNOWN = cython.declare(cython.int, 0)
#: How many random numbers are drawn at once, each for a round.
DRAWN_AHEAD = 4096
#: The most that a round can add to the estimate: with a smaller probability it never asks.
MOST_IN_A_ROUND = 2.0**53

SMOOTHING = Input("b", "b", "the option b of the learner", POSITIVE)
#: What a mistake of a round counts on average over the draws: 1.
ESTIMATED = "estimated mistakes"
FIXED = "w starts at 0; the examples and labels do not depend on the learner's draws"


class SelectiveBound(Theorem):
    """Any sequence: the hinge loss of a comparator over all rounds, and its squared length.

    The proof. Let u be any comparator, l_t = max(0, 1 - y_t (u . x_t)) and c > 0. In a round with an update
    y_t s_t = -|s_t|, so |c u - w_t|^2 - |c u - w_{t+1}|^2 = 2 c y_t (u . x_t) + 2 |s_t| - |x_t|^2, which is at least
    2 c (1 - l_t) + 2 |s_t| - R^2. Summed over the k rounds with an update, from w_1 = 0:

        (1)   k (c - R^2/2) + sum |s_t|  <=  c L + c^2 |u|^2 / 2,    L the sum of the l_t there.

    With c = b + R^2/2 the left side is b N, where N is the sum of 1 + |s_t| / b. That is the bound on N, for certain.
    A round in which the learner errs adds 1 + |s_t| / b to N with probability b / (b + |s_t|), given all draws before:
    1 on average. So the mean of N is that of the mistakes. As u may be any vector, the margin is 1 here; with a margin
    gamma in its place, L and u are divided by it. Losses of all rounds are never less than those of the updates.
    """

    id = "selective-perceptron"
    name = "selective sampling bound"
    quantity = "mistakes"
    formula = "(1 + {radius}^2 / (2 {b})) {hinge_loss} + {norm}^2 (2 {b} + {radius}^2)^2 / (8 {b})"
    inputs = (RADIUS, SMOOTHING, NORM, HINGE_LOSS)
    needs = FIXED
    citation = "Cesa-Bianchi, Gentile & Zaniboni 2006, Theorem 1"
    chance = "on average over the learner's own draws"

    def __init__(self, estimated: bool = False) -> None:
        if estimated:
            self.quantity = ESTIMATED
            self.chance = ""

    @staticmethod
    def bound(radius: Any, b: Any, norm: Any, hinge_loss: Any) -> Any:
        half = radius * radius / 2
        return (1 + half / b) * hinge_loss + norm * norm * (1 + half / b) * (b + half) / 2

    def certify(self, evidence: Any) -> Any:
        best = evidence.best(lambda u: self.bound(evidence.radius, evidence.b, u.norm, u.hinge))
        return self.with_comparator(evidence, best)

    def with_comparator(self, evidence: Any, chosen: Any) -> Any:
        """The certificate with the hinge losses of one comparator."""
        unit = evidence.unit
        *_, loss = self.inputs
        inputs = {
            "R": unit * evidence.radius,
            "b": evidence.given_b,
            "|u|": chosen.norm / unit,
            loss.symbol: chosen.hinge,
            "comparator": chosen.source,
        }
        bound = self.bound(evidence.radius, evidence.b, chosen.norm, chosen.hinge)
        if not self.chance:
            return evidence.certificate(self, bound, inputs)
        fixed = Assumption("examples and labels do not depend on the learner's draws", Basis.PROMISED, None)
        return evidence.certificate(self, bound, inputs, fixed)


class SharperSelectiveBound(SelectiveBound):
    """The same with the best c; from b = R sqrt(R^2 + 4 L / |u|^2) / 2 on it is the perceptron's sharper hinge bound.

    Let K be that bound: K = L + R |u| sqrt(K). The updates are those of a perceptron that plays the rounds in which it
    asked, so k <= K. As N = k + sum |s_t| / b, (1) says N <= k (1 - (c - R^2/2) / b) + (c L + c^2 |u|^2 / 2) / b. If c
    is at most b + R^2/2 the factor of k is not negative, and K may stand for k. This is a parabola in c, whose least
    value is K, at c = R sqrt(K) / |u|. Where that c is too large by d, the value at b + R^2/2 is K + (d |u|)^2 / (2 b),
    and d |u| = R sqrt((R |u|)^2 + 4 L) / 2 - b |u|. It is then the bound of the source, and never above it.
    """

    id = "selective-perceptron-sharper"
    name = "sharper selective sampling bound"
    formula = (
        "(({radius} {norm} + sqrt(({radius} {norm})^2 + 4 {hinge_loss})) / 2)^2 + "
        "max(0, {radius} sqrt(({radius} {norm})^2 + 4 {hinge_loss}) / 2 - {b} {norm})^2 / (2 {b})"
    )
    citation = "after Cesa-Bianchi, Gentile & Zaniboni 2006, Theorem 1, and Mohri et al. 2018, Theorem 8.11"

    @staticmethod
    def bound(radius: Any, b: Any, norm: Any, hinge_loss: Any) -> Any:
        length = radius * norm
        beyond = max(0.0, radius * math.sqrt(length * length + 4 * hinge_loss) / 2 - b * norm)
        return RootHingeBound.bound(radius, norm, hinge_loss) + beyond / (2 * b) * beyond


class SelectiveUpdateBound(SelectiveBound):
    """The bound of the source to the letter: with the hinge losses of the rounds with an update only.

    The comparator is that of the sharper bound, chosen without a look at the updates. The losses that are meant are
    those of this run; so it bounds the estimate, and not the mean of the mistakes.
    """

    id = "selective-perceptron-updates"
    name = "selective sampling bound on update rounds"
    quantity = ESTIMATED
    chance = ""
    formula = "(1 + {radius}^2 / (2 {b})) {loss} + {norm}^2 (2 {b} + {radius}^2)^2 / (8 {b})"
    inputs = (
        RADIUS,
        SMOOTHING,
        NORM,
        Input("loss", "L_U", "the hinge loss of u in the rounds with an update", NOT_NEGATIVE),
    )
    needs = "w starts at 0; the losses are those of the rounds with an update"
    foreseeable = False

    @staticmethod
    def bound(radius: Any, b: Any, norm: Any, loss: Any) -> Any:
        return SelectiveBound.bound(radius, b, norm, loss)

    def certify(self, evidence: Any) -> Any:
        chosen = evidence.best(lambda u: SharperSelectiveBound.bound(evidence.radius, evidence.b, u.norm, u.hinge))
        return self.with_comparator(evidence, evidence.losses_on_updates(chosen))


@cython.cclass
class SelectivePerceptron(LinearLearner):
    """The selective sampling perceptron.

    b          the larger, the more labels it asks for; half the squared length of the longest example gives the
               mistakes the bound of the perceptron. In the unit of a score: b = 1 is for examples of length about 1
    seed       what the draws depend on
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label

    ``asked`` counts the labels it asked for, ``mistakes`` the mistakes in rounds whose label was given, asked for or
    not, and ``estimated_mistakes`` is an estimate for all rounds from the labels it asked for.
    """

    _b: cython.double
    _asked = cython.declare(cython.longlong, visibility="public")
    _unlabelled = cython.declare(cython.longlong, visibility="public")
    _estimated_mistakes = cython.declare(cython.double, visibility="public")
    # Numbers above 0 and up to 1: for the round with this number (from 0) and for those after it.
    _drawn: cython.double[::1]
    _drawn_from: cython.longlong
    _draws = cython.declare(object)

    theorems = (
        SharperSelectiveBound(),
        SelectiveBound(),
        SharperSelectiveBound(estimated=True),
        SelectiveUpdateBound(),
        *perceptron_bounds("updates"),
    )
    checker = "selective"
    # Rounds without an update differ all the same, by their draws.
    _rests = False
    converges_without = "mistakes"

    options = (Option("b", 1.0, positive_number), Option("seed", 0, seed), *SHARED)
    kept = (
        Count("asked"),
        Count("unlabelled"),
        not_negative("estimated_mistakes"),
    )

    def _begin(self) -> None:
        LinearLearner._begin(self)
        self._b = self._options["b"]
        self._asked = 0
        self._unlabelled = 0
        self._estimated_mistakes = 0.0
        self._draws = Draws(self._options["seed"])
        self._drawn = view(np.empty(0))
        self._drawn_from = 0
        # It stops for new draws, and after a stop all values would be looked at again.
        self._bad_values_show = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        place: cython.Py_ssize_t = self._rounds - 1 - self._drawn_from
        weight: cython.double = 1.0 + fabs(score) / self._b
        if not 0 <= place < self._drawn.shape[0]:
            self._stopped = NO_ROOM
            return False
        if self._drawn[place] * weight > 1:
            if y == UNKNOWN:
                # The engine has taken it for -1.
                self._mistakes -= score >= 0
                self._unlabelled += 1
            return False
        if y == UNKNOWN:
            self._stopped = LABEL_WANTED
            return False
        self._asked += 1
        prediction: cython.int = 1 if score >= 0 else -1
        if prediction == y:
            return False
        self._estimated_mistakes += weight
        self.add(y)
        return True

    def _make_room(self, entries: int) -> None:
        """Draw for the rounds that come next."""
        if not 0 <= self._rounds - self._drawn_from < self._drawn.shape[0]:
            block = self._rounds // AT_ONCE
            drawn = 1 - self._draws.uniforms(block, DRAWN_AHEAD // AT_ONCE, AT_ONCE).reshape(-1)
            self._drawn = view(drawn)
            self._drawn_from = block * AT_ONCE

    def _go_on(self) -> None:
        if self._stopped == LABEL_WANTED:
            self._stopped = GOING_ON
            remedy = "learn_one(x, y) takes the label"
            raise invalid("x", "an example whose label is not wanted", Words(f"one whose label is; {remedy}"))
        LinearLearner._go_on(self)

    def asks(self, x: Any) -> bool:
        """Whether the label of x is wanted, if x comes next. Nothing changes."""
        score: cython.double = self._score(x)
        with self._lock:
            self._make_room(0)
            return self._drawn[self._rounds - self._drawn_from] * (1.0 + fabs(score) / self._b) <= 1

    def skip(self, x: Any) -> Any:
        """Count a round whose label was not wanted and is not known. Returns the prediction."""
        score: cython.double = self._learn_example(x, UNKNOWN)
        return self._labels.positive if score >= 0 else self._labels.negative

    @property
    def asked(self) -> int:
        """How many labels it asked for."""
        return self._asked

    @property
    def unlabelled(self) -> int:
        """In how many rounds no label was given."""
        return self._unlabelled

    @property
    def estimated_mistakes(self) -> float:
        """The mistakes of all rounds, estimated from the labels it asked for; right on average over its draws."""
        return self._estimated_mistakes

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        rounds, updates, asked, unlabelled = (state[name] for name in ("rounds", "updates", "asked", "unlabelled"))
        if not updates <= asked <= rounds:
            raise invalid("asked", f"at least updates, {updates:,}, and at most rounds, {rounds:,}", asked)
        if unlabelled > rounds - max(asked, state["mistakes"]):
            raise invalid("unlabelled", "at most the rounds without a question, none of them a mistake", unlabelled)
        if not updates <= state["estimated_mistakes"] <= updates * MOST_IN_A_ROUND:
            allowed = f"at least 1 and at most 2^53 for each of {updates:,} updates"
            raise invalid("estimated_mistakes", allowed, state["estimated_mistakes"])
