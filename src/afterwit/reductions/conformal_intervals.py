"""Intervals around any forecaster, whose coverage is promised on any sequence whatever.

Setting     a forecaster gives a number f_t for x_t; then the outcome y_t comes. The interval [f_t - q_t, f_t + q_t] was
            made before. err_t is 1 if y_t is outside, else 0; alpha = 1 - coverage is how often it may be; the error
            s_t = |y_t - f_t|. The forecaster learns (x_t, y_t) as it would alone.
Adaptive    level alpha_1 = alpha, then alpha_{t+1} = alpha_t + gamma (alpha - err_t); gamma is the rate. q_t is the
            (1 - alpha_t)-quantile of the last errors, ``window`` of them: the ceil((n + 1)(1 - alpha_t))-th smallest of
            n, at most the largest. It is infinite if alpha_t <= 0 or there is no error yet; if alpha_t >= 1 there is
            no interval: the forecast alone is shown, and err_t counts as 1.
Tracking    q_{t+1} = q_t + c b_t (err_t - alpha), c is the rate and b_t the largest error so far, or the promised one
            if that is larger. The first q is the promised error; without one the first interval is infinite, and
            q_2 = s_1. If q_t < 0 the forecast alone is shown, and err_t counts as 1.
Guarantee   on any sequence, for any forecaster, after any number of rounds T:
              adaptive  uncovered rounds <= alpha T + alpha / gamma + 1 - alpha
              tracking  uncovered rounds <= alpha T + R / c + (1 - alpha)(1 + R)
            where R is the sum of 1 - b_{t-1} / b_t, over the rounds after b was first known: at most the logarithm of
            the factor by which it grew, 0 if a promise was kept, 1 more if the first error was 0. And, unless a
            forecast alone was exactly right where err_t counts as 1, or where all errors so far were 0:
              adaptive  |uncovered / T - alpha| <= (max(alpha, 1 - alpha) + gamma) / (gamma T)
              tracking  |uncovered / T - alpha| <= max(R / c + (1 - alpha)(1 + R), 1 / c + alpha (2 + R)) / T
Proof       adaptive: err_t = 1 needs alpha_t > 0, so no alpha_t is below -gamma (1 - alpha); err_t = 0 needs
            alpha_t < 1, so none is above 1 + gamma alpha. As alpha_{T+1} = alpha_1 + gamma sum (alpha - err_t), the sum
            of err_t - alpha is (alpha_1 - alpha_{T+1}) / gamma: at most alpha / gamma + 1 - alpha, and at least
            -(1 - alpha) / gamma - alpha.
            tracking: with eta_t = c b_t, the sum from round m on of err_t - alpha = (q_{t+1} - q_t) / eta_t is
            q_{T+1} / eta_T - q_m / eta_m + sum_{m<t<=T} q_t (1 / eta_{t-1} - 1 / eta_t). err_t = 1 needs q_t <= s_t,
            so q_t <= b_{t-1} (1 + c (1 - alpha)); err_t = 0 needs q_t >= 0, so q_t >= -alpha c b_{t-1}. What q_t is
            multiplied by is (1 - b_{t-1} / b_t) / (c b_{t-1}). So the sum is at most (1 / c + 1 - alpha)(1 + R') -
            q_m / eta_m, and at least -alpha (1 + R') - q_m / eta_m, where R' has the rises after round m. With a
            promise m = 1, without one m = 2 and round 1 is covered; then q_m = b_{m-1}, so q_m / eta_m = (1 - g) / c
            where g is the rise in round m, and R = R' + g. If the first errors were 0, these rounds are covered, m is
            the first with another error, q_m = 0, and R = R' + 1.
Assumes     nothing: outcomes may depend on the intervals, and the forecasts may be of any quality.
Source      adaptive: Gibbs & Candes 2021. Tracking with a constant step: Angelopoulos, Candes & Tibshirani 2023. Steps
            in units of the largest error, so that units do not matter, and the bounds from one side: proved above.

>>> learner = ConformalIntervals("repeat-last-target", coverage=0.5, rate=0.125)
>>> for temperature in (12.0, 13.0, 13.5, 11.0, 12.0, 12.5):
...     interval = learner.interval_one({})
...     same = learner.learn_one({}, temperature)
>>> interval, learner.interval_one({})
((11.0, 13.0), (12.0, 13.0))
>>> learner.covered, learner.infinite, learner.mean_width
(5, 1, 10.8)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Option
from afterwit.core.inputs import ROUNDS
from afterwit.core.real_targets import RealTargetLearner, checked_totals
from afterwit.core.sources import certify_source
from afterwit.core.theorem import Input, Theorem
from afterwit.core.turns import Rounds, parts
from afterwit.data.checks import count_of, one_of, optional, positive_number, real_number, share
from afterwit.data.quantities import NOT_NEGATIVE, POSITIVE, PROBABILITY
from afterwit.errors import DivergenceError, counted, invalid
from afterwit.reductions._binary import blank
from afterwit.reductions._forecasters import AdviceRows, Advised, forecaster_inside
from afterwit.reductions._radius import AdaptiveRadius, TrackedRadius
from afterwit.reductions.regression_committee import RegressionCommittee

Floats = npt.NDArray[np.float64]

UNCOVERED, DISTANCE = "uncovered rounds", "distance from the coverage"
MISS = Input("miss", "alpha", "how often the outcome may be outside: 1 - coverage", PROBABILITY)
RATE = Input("rate", "gamma", "the rate", POSITIVE)
STEP = Input("rate", "c", "the rate", POSITIVE)
GROWTH = Input("growth", "R", "the sum of 1 - b / b' where the largest error rises from b to b'", NOT_NEGATIVE, 0.0)
METHODS = ("adaptive", "tracking")


class AdaptiveUncoveredBound(Theorem):
    """The level of adaptive intervals never falls below that of one miss at a level of 0."""

    id = "adaptive-intervals"
    name = "adaptive intervals"
    quantity = UNCOVERED
    formula = "{miss} {rounds} + {miss} / {rate} + 1 - {miss}"
    inputs = (MISS, RATE, ROUNDS)
    needs = "each interval is made before its outcome; forecasts and outcomes may be any"
    citation = "Gibbs & Candes 2021; proved in ConformalIntervals"
    beforehand = True

    @staticmethod
    def bound(miss: Any, rate: Any, rounds: Any) -> Any:
        return miss * rounds + miss / rate + 1 - miss

    def certify(self, evidence: Any) -> Any:
        if evidence.method != "adaptive":
            return None
        inputs = {"alpha": evidence.miss, "gamma": evidence.rate, "T": evidence.rounds}
        return evidence.certificate(self, self.bound(evidence.miss, evidence.rate, evidence.rounds), inputs)


class AdaptiveCoverageBound(Theorem):
    """The same from both sides, per round."""

    id = "adaptive-coverage"
    name = "coverage of adaptive intervals"
    quantity = DISTANCE
    formula = "(max({miss}, 1 - {miss}) + {rate}) / ({rate} {rounds})"
    inputs = (MISS, RATE, ROUNDS)
    needs = "no forecast alone was exactly right where no interval was left"
    citation = "Gibbs & Candes 2021; proved in ConformalIntervals"
    beforehand = True
    beside = True

    @staticmethod
    def bound(miss: Any, rate: Any, rounds: Any) -> Any:
        return (np.maximum(miss, 1 - miss) + rate) / (rate * rounds)

    def certify(self, evidence: Any) -> Any:
        if evidence.method != "adaptive" or not evidence.rounds:
            return None
        inputs = {"alpha": evidence.miss, "gamma": evidence.rate, "T": evidence.rounds}
        bound = self.bound(evidence.miss, evidence.rate, evidence.rounds)
        return evidence.certificate(self, float(bound), inputs, evidence.never_exact())


class TrackingUncoveredBound(Theorem):
    """A radius that is tracked never passes the largest error by more than a step."""

    id = "tracking-intervals"
    name = "tracking intervals"
    quantity = UNCOVERED
    formula = "{miss} {rounds} + {growth} / {rate} + (1 - {miss}) (1 + {growth})"
    inputs = (MISS, STEP, ROUNDS, GROWTH)
    needs = "each interval is made before its outcome; forecasts and outcomes may be any"
    citation = "proved in ConformalIntervals; for constant steps Angelopoulos, Candes & Tibshirani 2023"
    foreseeable = False

    @staticmethod
    def bound(miss: Any, rate: Any, rounds: Any, growth: Any) -> Any:
        return miss * rounds + growth / rate + (1 - miss) * (1 + growth)

    def certify(self, evidence: Any) -> Any:
        if evidence.method != "tracking":
            return None
        bound = self.bound(evidence.miss, evidence.rate, evidence.rounds, evidence.growth)
        known = self.as_known(foreseeable=evidence.kept, beforehand=evidence.kept)
        return evidence.certificate(known, bound, evidence.tracking_inputs(), *evidence.promise())


class TrackingCoverageBound(Theorem):
    """The same from both sides, per round."""

    id = "tracking-coverage"
    name = "coverage of tracking intervals"
    quantity = DISTANCE
    formula = "max({growth} / {rate} + (1 - {miss}) (1 + {growth}), 1 / {rate} + {miss} (2 + {growth})) / {rounds}"
    inputs = (MISS, STEP, ROUNDS, GROWTH)
    needs = "no forecast alone was exactly right where no interval was left"
    citation = "proved in ConformalIntervals; for constant steps Angelopoulos, Candes & Tibshirani 2023"
    foreseeable = False
    beside = True

    @staticmethod
    def bound(miss: Any, rate: Any, rounds: Any, growth: Any) -> Any:
        above = growth / rate + (1 - miss) * (1 + growth)
        return np.maximum(above, 1 / rate + miss * (2 + growth)) / rounds

    def certify(self, evidence: Any) -> Any:
        if evidence.method != "tracking" or not evidence.rounds:
            return None
        bound = self.bound(evidence.miss, evidence.rate, evidence.rounds, evidence.growth)
        known = self.as_known(foreseeable=evidence.kept, beforehand=evidence.kept)
        extra = (*evidence.promise(), evidence.never_exact())
        return evidence.certificate(known, float(bound), evidence.tracking_inputs(), *extra)


def _rate(parameter: str, value: Any) -> float:
    return real_number(parameter, value, "a number above 0, at most 1", 0.0, 1.0)


class ConformalIntervals(RealTargetLearner):
    """A forecaster with intervals around its forecasts.

    forecaster  the forecaster: a regressor (an instance, which is never changed, a class, or a name such as
                "online-ridge"), an expert algorithm, or a function of x that returns a number. If not given,
                `RegressionCommittee`
    coverage    the share of the outcomes that are to be inside
    method      "adaptive": quantiles of past errors at a level that follows the misses; "tracking": a radius that grows
                with every miss and shrinks otherwise, without memory
    rate        how fast it follows, at most 1
    window      adaptive: how many past errors are kept; this is all the memory it needs
    largest     tracking: an error that will not be exceeded, if you know one; the bound is then known beforehand

    With an expert algorithm, x is advice and y the outcome. ``learn_one`` and ``learn_many`` return the forecasts, made
    before each outcome was seen, as they do in every regressor; ``learn_intervals`` returns the intervals as well.
    """

    theorems = (AdaptiveUncoveredBound(), AdaptiveCoverageBound(), TrackingUncoveredBound(), TrackingCoverageBound())
    checker = "intervals"
    options = (
        Option("forecaster", None),
        Option("coverage", 0.9, share),
        Option("method", "adaptive", one_of(METHODS)),
        Option("rate", 0.01, _rate),
        Option("window", 250, count_of("errors")),
        Option("largest", None, optional(positive_number)),
    )

    def _begin(self) -> None:
        RealTargetLearner._begin(self)
        options = self._options
        if options["method"] == "adaptive" and options["largest"] is not None:
            raise invalid("largest", "left out, unless method is 'tracking'", options["largest"])
        given = options["forecaster"]
        self._inside = forecaster_inside(RegressionCommittee() if given is None else given)
        if given is not None and self._inside.learner is not None:
            options["forecaster"] = blank(self._inside.learner)
        if self._inside.takes_advice:
            self.role = "experts"
        self._radius = self._fresh_radius()

    def _fresh_radius(self) -> AdaptiveRadius | TrackedRadius:
        options = self._options
        if options["method"] == "adaptive":
            return AdaptiveRadius(1 - options["coverage"], options["rate"], options["window"])
        return TrackedRadius(1 - options["coverage"], options["rate"], options["largest"])

    # ------------------------------------------------------------------ rounds

    def _read(self, X: Any) -> Any:
        return self._inside.read(X)

    def _read_one(self, x: Any) -> Any:
        return self._inside.read_one(x)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Floats]:
        return self._inside.checked(X, y)

    def predict_one(self, x: Any) -> float:
        with self._lock:
            return self._inside.predict_one(x)

    def predict_many(self, X: Any) -> Floats:
        """``predict_one`` for every row of X, as an array."""
        with self._lock:
            return self._inside.predict(self._read(X))

    def interval_one(self, x: Any) -> tuple[float, float]:
        """The two ends of the interval for x now. Nothing changes."""
        with self._lock:
            forecast, radius = self._inside.predict_one(x), self._radius.shown()
            return forecast - radius, forecast + radius

    def interval_many(self, X: Any) -> Floats:
        """``interval_one`` for every row of X, each as if it came next: an array with the lower and the upper ends."""
        with self._lock:
            forecasts = self.predict_many(X)
            return _intervals(forecasts, np.full(len(forecasts), self._radius.shown()))

    def learn_one(self, x: Any, y: Any) -> float:
        outcome = self._inside.read_outcome(y)
        with self._lock:
            forecast = self._inside.learn_one(x, outcome)
            self._see(forecast, outcome)
            return forecast

    def learn_intervals(self, X: Any, y: Any) -> tuple[Floats, Floats]:
        """``learn_many`` that returns the intervals as well: an array with the lower and the upper ends.

        All were made before the outcome was seen: as by a loop of ``interval_one`` and ``learn_one``.
        """
        forecasts, radii = self._learn_rounds(*self._checked(X, y))
        return forecasts, _intervals(forecasts, radii)

    def _learn(self, rows: Any, targets: Floats) -> Floats:
        return self._learn_rounds(rows, targets)[0]

    def _see(self, forecast: float, outcome: float) -> float:
        """A round that the forecaster has learned: nothing can fail any more."""
        error = forecast - outcome
        self._totals.add(error * error, error)
        return self._radius.see(forecast, outcome)

    def _learn_rounds(self, rows: Any, outcomes: Floats) -> tuple[Floats, Floats]:
        """The forecasts and the radii. All rows are learned or none; but if the forecaster diverges, or somebody wants
        to stop, the rounds before that.
        """
        forecasts, radii = np.empty(rows.count), np.empty(rows.count)
        with self._lock, Rounds():
            # Of a single round nothing has changed if it is refused.
            before = self._state() if rows.count > 1 else None
            rounds = self.rounds
            try:
                for begin, end in parts(rows.count):
                    part = rows if end - begin == rows.count else rows.part(begin, end)
                    forecasts[begin:end] = self._inside.learn(part, outcomes[begin:end])
                    self._see_many(forecasts[begin:end], outcomes[begin:end], radii[begin:end])
            except DivergenceError:
                if before is not None:
                    # What was forecast in the last rounds that were learned is lost: all are played again.
                    done = self._inside.learned_since(rounds)
                    self._become(before)
                    if done:
                        self._learn_rounds(rows.part(0, done), outcomes[:done])
                raise
            except Exception:
                if before is not None:
                    self._become(before)
                    self._inside.refuse(rows, outcomes)
                raise
        return forecasts, radii

    def _see_many(self, forecasts: Floats, outcomes: Floats, radii: Floats) -> None:
        pairs = zip(forecasts.tolist(), outcomes.tolist(), strict=True)
        radii[:] = [self._see(forecast, outcome) for forecast, outcome in pairs]

    def _learn_advice(self, rows: AdviceRows, outcomes: Floats, shares: Any) -> tuple[Floats, Floats, Floats]:
        """Learn checked rounds of advice: forecasts, the losses of the expert algorithm, intervals.

        ``shares`` may be an array to be filled with everyone's share in each round.
        """
        assert isinstance(self._inside, Advised)
        radii = np.empty(rows.count)
        with self._lock, Rounds():
            forecasts, lost = self._inside.learn_with_shares(rows, outcomes, shares)
            self._see_many(forecasts, outcomes, radii)
        return forecasts, lost, _intervals(forecasts, radii)

    # ------------------------------------------------------------------ what it knows

    @property
    def covered(self) -> int:
        """In how many rounds the outcome was in the interval."""
        return self._radius.covered

    @property
    def observed_coverage(self) -> float:
        """The share of the rounds whose outcome was in the interval; 0 before the first."""
        return self.covered / self.rounds if self.rounds else 0.0

    @property
    def infinite(self) -> int:
        """In how many rounds the interval was everything."""
        return self._radius.infinite

    @property
    def mean_width(self) -> float:
        """The mean width of the other intervals; 0 if there were none."""
        finite = self.rounds - self.infinite
        return 2 * self._radius.radii / finite if finite else 0.0

    @property
    def radius(self) -> float:
        """Half the width of the next interval; infinite if it is everything."""
        return self._radius.shown()

    @property
    def level(self) -> float | None:
        """The share of the rounds that the next interval is made to miss, if it is adaptive; None if it is tracked."""
        return self._radius.level if isinstance(self._radius, AdaptiveRadius) else None

    @property
    def point_forecaster(self) -> Any:
        """A copy of the forecaster inside, with what it has learned; a function as it is."""
        with self._lock:
            return self._inside.copy()

    @property
    def experts(self) -> Any:
        """The experts' names, or their positions, if the forecaster is an expert algorithm."""
        if not self._inside.takes_advice:
            raise AttributeError(f"{self._inside.name} has no experts")
        return self._inside.learner.experts

    @property
    def features(self) -> int:
        """How many features the forecaster knows of."""
        return self._inside.features

    def certificate(self, X: Any = None, y: Any = None) -> Certificate:  # type: ignore[override]
        """What was promised, what happened and what hindsight would have given: the narrowest constant interval.

        X and y are the examples it learned from, in order (once for each pass): the forecaster learns them again, and
        the intervals are computed a second time. X alone may be a stream or a libsvm file that fits into memory.
        Without them, what happened is what the learner itself has counted, and there is no hindsight.
        """
        if X is not None and y is None:
            return certify_source(self, X)
        if X is None and y is not None:
            raise invalid("y", "given together with X", y)
        with self._lock:
            return certify(self, *(() if X is None else self._checked(X, y)))

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        return {**self._totals.state(), **self._radius.state(), "forecaster": self._inside.state()}

    def _check_state(self, state: Any) -> None:
        rounds = checked_totals(state).rounds
        self._radius.check(state, rounds)
        self._inside.check_state(state["forecaster"], rounds)

    def _become(self, state: Any) -> None:
        self._inside.become(state["forecaster"])
        self._totals = checked_totals(state)
        self._radius = self._fresh_radius()
        self._radius.become(state, self._totals.rounds)

    def _progress(self) -> str:
        widths = f"mean width {self.mean_width:.4g}"
        if self.infinite:
            widths += f" and {self.infinite:,} infinite"
        covered = f"{self.observed_coverage:.1%} covered"
        return f"{counted(self.rounds, 'round')}, {covered}, {widths}, RMSE {self.rmse:.4g}"

    def __repr__(self) -> str:
        """The forecaster by its name, and what is not its own."""
        unused = {"forecaster", "window" if self._options["method"] == "tracking" else "largest"}
        shown = [f"{name}={value!r}" for name, value in self._options.items() if name not in unused and value]
        return f"ConformalIntervals({', '.join([self._inside.name, *shown])}): {self._progress()}"


def _intervals(forecasts: Floats, radii: Floats) -> Floats:
    return np.column_stack([forecasts - radii, forecasts + radii])
