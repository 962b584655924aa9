# cython: boundscheck=False, wraparound=False, cdivision=True
"""The loop every expert algorithm shares: weigh the experts, forecast, see the outcome, count, update.

An algorithm's file holds its idea and nothing else: ``weigh`` (see `WeighedRound`) gives each expert its share, and
``update`` learns from ``_seen``, everyone's loss in this round as it is shown to the algorithm (see `JudgedRound`).

Each round is judged before anything changes, and a block in which a round fails is taken back as a whole.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import certify
from afterwit.core.learner import view
from afterwit.core.turns import SLICE, breathe
from afterwit.data import advice as _advice
from afterwit.data import losses as losses_module
from afterwit.data.checks import FLOAT_MAX
from afterwit.data.room import require_room
from afterwit.errors import counted, invalid, shorten
from afterwit.experts._declared import COUNTED
from afterwit.experts._regret import Setting, Way

if cython.compiled:
    from cython.cimports.afterwit.core.learner import Storable
    from cython.cimports.afterwit.core.turns import Lock, begin_rounds, end_rounds, seconds
    from cython.cimports.afterwit.experts._judged import JudgedRound
    from cython.cimports.libc.math import fabs
else:
    from math import fabs

    from afterwit.core.learner import Storable
    from afterwit.core.turns import Lock, begin_rounds, end_rounds, seconds
    from afterwit.experts._judged import JudgedRound


SLICE_LENGTH = cython.declare(cython.double, SLICE)
#: How many experts are weighed between two looks at the clock.
WORK_BETWEEN_LOOKS = cython.declare(cython.longlong, 50_000)


# Arrays that are arguments are borrowed. One in a variable is counted as in use, which costs as much as a short loop.
@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_losses(
    losses: cython.double[::1],
    own: cython.double,
    n: cython.Py_ssize_t,
    expert_losses: cython.double[::1],
    regrets: cython.double[::1],
) -> cython.void:
    """Add the losses of a round in which nobody sleeps."""
    i: cython.Py_ssize_t
    for i in range(n):
        expert_losses[i] += losses[i]
        regrets[i] += own - losses[i]


@cython.cclass
class ExpertLearner(JudgedRound):
    """A learner that follows expert advice. Algorithms derive from it and define ``weigh`` and ``update``."""

    role = "experts"
    checker = "experts"
    kept = COUNTED
    #: What an algorithm plays with where it has no such option.
    settled = {"gradient": False, "loss_range": None, "seed": 0}  # noqa: RUF012 - nobody changes it
    #: How it comes to its forecast where that does not follow from the loss.
    way = None
    #: Whether an expert may sleep: a forecast that is NaN, None or absent.
    sleeping = True
    #: Whether it learns from all losses, not only from that of the one it follows.
    sees_all = True

    def _begin(self) -> None:
        settings = {**self.settled, **self._options}
        loss = losses_module.get(settings["loss"])
        has_gradient = loss.has_slope and loss.convex
        gradient = has_gradient if settings["gradient"] is None else settings["gradient"]
        loss_range = settings["loss_range"]
        if gradient and not has_gradient:
            raise invalid("gradient", "False for a loss that has no gradient or is not convex", gradient)
        if gradient and loss_range is not None and not loss_range[0] <= 0 <= loss_range[1]:
            raise invalid("loss_range", "a range around 0, because it is that of slopes", loss_range)
        if "gradient" in self._options:
            self._options["gradient"] = gradient
        self._lock = Lock()
        self._experts = _advice.read_experts(self._given_experts())
        # Fewer than so many arrays with a number for each expert are made.
        require_room("n_experts", 24 * 8 * self._experts.count)
        drawing = self.way in (Way.EXPECTED, Way.DRAWN) or (self.way is None and not loss.convex)
        self._begin_weighing(self._experts.count, drawing, settings["seed"])
        self._begin_judging(loss, gradient, loss_range)
        self._cost_of_round = 4 + self._n
        self._unforecast = 0
        self._loss = 0.0
        self._size = 0.0
        self._blur = 0.0
        self._outside = 0.0
        self._expert_losses = view(np.zeros(self._n))
        self._regrets = view(np.zeros(self._n))
        self._slope_regrets = view(np.zeros(self._n if self._linear else 0))
        self._asleep_rounds = view(np.zeros(self._n, dtype=np.int64))

    def _given_experts(self) -> Any:
        """How many experts, or their names, as it was made with."""
        return self._options["n_experts"]

    # ------------------------------------------------------------------ the idea, and what it may use

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        """Learn from ``_seen``, everyone's loss, or from everyone's ``gain``. The round is not yet counted."""

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def regret_to(self, i: cython.Py_ssize_t) -> cython.double:
        """The sum of the gains."""
        return self._slope_regrets[i] if self._linear else self._regrets[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def commit(self) -> cython.void:
        """Count the round and learn from it."""
        i: cython.Py_ssize_t
        own: cython.double = self._own
        if not self._some_sleep:
            add_losses(self._losses, own, self._n, self._expert_losses, self._regrets)
        else:
            for i in range(self._n):
                if self._awake[i]:
                    self._expert_losses[i] += self._losses[i]
                    self._regrets[i] += own - self._losses[i]
                else:
                    self._asleep_rounds[i] += 1
        if self._linear:
            for i in range(self._n):
                self._slope_regrets[i] += self.gain(i)
        self._loss += own
        self._size += fabs(own) + fabs(self._low) + self._width * (self._farthest + (0.5 if self._ranged else 0.0))
        self._blur += self._moved
        self._outside += self._beyond
        self.update()
        self._rounds += 1

    # ------------------------------------------------------------------ rounds as the user has them

    def predict_one(self, advice: Any) -> float:
        """The forecast for a round with this advice. Nothing changes."""
        values, experts = _advice.read_round(advice, self._experts, self._rounds == 0)
        return self._predictions(values, experts).item()

    def predict_many(self, advice: Any) -> Any:
        """``predict_one`` for every row, each as if it came next."""
        values, experts = _advice.read_rounds(advice, self._experts, self._rounds == 0)
        return self._predictions(values, experts)

    def learn_one(self, advice: Any, outcome: Any) -> float:
        """Forecast, see the outcome, count the losses, learn. Returns the forecast."""
        values, experts = _advice.read_round(advice, self._experts, self._rounds == 0)
        outcome = outcome.item() if isinstance(outcome, np.generic) else outcome
        is_number = isinstance(outcome, Real)
        if not is_number or not -FLOAT_MAX <= outcome <= FLOAT_MAX:
            raise invalid("outcome", "a finite number", outcome)
        outcomes = np.full(1, float(outcome))
        self._loss_function.check_outcomes(outcomes, "outcome")
        return self._learn(values, outcomes, experts)[0].item()

    def learn_many(self, advice: Any, outcomes: Any) -> Any:
        """``learn_one`` for every row in order. Returns the forecasts made before each outcome was seen."""
        values, experts = _advice.read_rounds(advice, self._experts, self._rounds == 0)
        read = _advice.read_outcomes(outcomes, len(values))
        self._loss_function.check_outcomes(read)
        return self._learn(values, read, experts)[0]

    def observe(self, losses: Any) -> float:
        """A round of which only the losses are known, one for each expert. Returns the loss of the mixture."""
        values, experts = _advice.read_round(losses, self._experts, self._rounds == 0, "losses")
        return self._learn(values, None, experts)[1].item()

    def observe_many(self, losses: Any) -> Any:
        """``observe`` for every row in order."""
        values, experts = _advice.read_rounds(losses, self._experts, self._rounds == 0, "losses")
        return self._learn(values, None, experts)[1]

    def _present(self, values: Any, experts: Any, parameter: str = "advice") -> bool:
        """Refuse rounds that cannot be; whether somebody sleeps in one of them."""
        refusal = f"{type(self).__name__} does not support sleeping experts"
        return _advice.check_presence(values, experts, self.sleeping, refusal, parameter)

    def _predictions(self, values: Any, experts: Any) -> Any:
        t: cython.Py_ssize_t = 0
        until: cython.double
        work: cython.longlong
        rounds: cython.Py_ssize_t = len(values)
        n: cython.Py_ssize_t = self._n
        sleepers: cython.bint = self._present(values, experts)
        self._loss_function.check_forecasts(values, experts.name, self._takes_certainty)
        forecasts = np.empty(rounds)
        made: cython.double[::1] = view(forecasts)
        with self._lock:
            begin_rounds()
            try:
                self._values = view(values.reshape(-1))
                self.wake_all()
                self._look_for_sleepers = sleepers
                while t < rounds:
                    until, work = seconds() + SLICE_LENGTH, 0
                    with cython.nogil:
                        while t < rounds:
                            self.wake(t * n)
                            made[t] = self.predict()
                            t += 1
                            work += self._cost_of_round
                            if work > WORK_BETWEEN_LOOKS:
                                work = 0
                                if seconds() > until:
                                    break
                    if t < rounds:
                        breathe()
            finally:
                self._let_go()
                end_rounds()
        return forecasts

    def _learn(self, values: Any, outcomes: Any, experts: Any, shares: Any = None) -> Any:
        """Learn checked rows in order: the forecasts, and the losses, made before each outcome was used.

        ``shares`` may be an array to be filled with everyone's share in each round.
        """
        t: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        until: cython.double
        work: cython.longlong
        rounds: cython.Py_ssize_t = len(values)
        n: cython.Py_ssize_t = self._n
        bad: cython.int = 0
        forecasting: cython.bint = outcomes is not None
        keeping: cython.bint = shares is not None
        sleepers: cython.bint = self._present(values, experts, "advice" if forecasting else "losses")
        if forecasting:
            self._loss_function.check_forecasts(values, experts.name, self._takes_certainty)
        forecasts = np.empty(rounds)
        suffered = np.empty(rounds)
        made: cython.double[::1] = view(forecasts)
        own: cython.double[::1] = view(suffered)
        targets: cython.double[::1] = view(outcomes if forecasting else np.zeros(1))
        noted: cython.double[::1] = view(shares.reshape(-1) if keeping else np.zeros(1))
        with self._lock:
            before = self._state() if rounds > 1 else None
            known = self._experts
            begin_rounds()
            try:
                self._values = view(values.reshape(-1))
                self.wake_all()
                self._look_for_sleepers = sleepers
                if rounds:
                    self._experts = experts
                while t < rounds and not bad:
                    until, work = seconds() + SLICE_LENGTH, 0
                    with cython.nogil:
                        while t < rounds:
                            self.wake(t * n)
                            if keeping:
                                for i in range(n):
                                    noted[t * n + i] = self._shares[i] / self._total
                            if forecasting:
                                self._forecast = self.predict()
                                made[t] = self._forecast
                                bad = self.judge(targets[t])
                            else:
                                bad = self.judge_losses()
                            if bad:
                                break
                            own[t] = self._own
                            self.commit()
                            if not forecasting:
                                self._unforecast += 1
                            t += 1
                            work += self._cost_of_round
                            if work > WORK_BETWEEN_LOOKS:
                                work = 0
                                if seconds() > until:
                                    break
                    if t < rounds and not bad:
                        # Somebody may want to stop here: then the rounds before stay learned.
                        breathe()
                if bad:
                    self._let_go()
                    refusal = self._refusal(bad, t, rounds, experts)
                    if isinstance(refusal, Exception) or t == 0:
                        self._experts = known
                        if before is not None:
                            self._become(before)
                    raise refusal
            finally:
                self._let_go()
                end_rounds()
        return forecasts, suffered

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def experts(self) -> tuple[Any, ...]:
        """The experts' names, or their positions."""
        return tuple(self._experts.name(i) for i in range(self._n))

    @property
    def weights(self) -> Any:
        """The share each expert would have in the next round, if all were awake; they sum to 1."""
        with self._lock:
            with cython.nogil:
                self.everyone()
            return np.array(self._shares) / self._total

    @property
    def loss(self) -> float:
        """The learner's cumulative loss; where it follows one expert by chance, the expected loss."""
        return self._loss

    @property
    def expert_losses(self) -> Any:
        """Each expert's cumulative loss, over the rounds in which it was awake."""
        return np.array(self._expert_losses)

    @property
    def regrets(self) -> Any:
        """To each expert: the learner's loss less the expert's, over the rounds in which the expert was awake."""
        return np.array(self._regrets)

    @property
    def regret(self) -> float:
        """The largest regret to any expert."""
        return self._of_the_awake().max().item() if self._rounds else 0.0

    def _of_the_awake(self) -> Any:
        """The regrets, and minus infinity for experts that have never been awake."""
        if self._rounds == 0:
            return np.array(self._regrets)
        return np.where(np.array(self._asleep_rounds) < self._rounds, np.array(self._regrets), -np.inf)

    @property
    def awake_rounds(self) -> Any:
        """In how many rounds each expert was awake."""
        return self._rounds - np.array(self._asleep_rounds)

    @property
    def takes_losses(self) -> bool:
        """Whether losses alone are enough for it: not where it votes on labels."""
        return True

    @property
    def best_expert(self) -> Any:
        """The expert to whom the regret is largest: with nobody asleep, the one with the least loss."""
        return self._experts.name(int(np.argmax(self._of_the_awake())))

    def certificate(self, advice: Any = None, outcomes: Any = None) -> Any:
        """What theory promised, what happened and what hindsight would have given.

        advice    the advice of all rounds it learned from; the losses, where it learned all rounds by ``observe``
        outcomes  the outcomes of these rounds; None where there were none

        Without them, the losses and regrets are those in the learner's state. With them, every round is played and
        computed a second time, and a state that does not agree is an error. Hindsight is then the best mixture, for
        algorithms that follow a gradient.
        """
        return certify(self, advice, outcomes)

    def _setting(self) -> Setting:
        """How it plays, as a checker needs to know it."""
        way = self.way or (Way.EXPECTED if self._drawing else Way.MEAN)
        return Setting(
            loss=self._loss_function,
            way=way,
            gradient=bool(self._linear),
            ranged=bool(self._ranged),
            low=self._low,
            width=self._width,
            seed=self._seed,
        )

    def _snapshot(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Its state, and what its theorems need to know beyond that; both from one moment."""
        with self._lock:
            return self._state(), self._facts()

    def _facts(self) -> dict[str, Any]:
        """What the theorems need to know and neither the options nor the state say."""
        return {}

    @property
    def _range(self) -> Any:
        return (self._low, self._low + self._width) if self._ranged else None

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state()

    def restore(self, state: Any) -> None:
        self._require_state(state)
        with self._lock:
            self._become(state)

    def _check_state(self, state: Any) -> None:
        Storable._check_state(self, state)
        for name in ("unforecast", "asleep_rounds"):
            if np.max(state[name]) > state["rounds"]:
                raise invalid(name, "at most rounds", state[name])

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.parameters.items() if value is not None and value is not False}
        given = ", ".join(f"{name}={shorten(value, 40)}" for name, value in shown.items())
        happened = f"{counted(self._rounds, 'round')}, loss {self._loss:.6g}, regret {self.regret:.4g}"
        return f"{type(self).__name__}({given}): {happened}"
