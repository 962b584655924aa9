"""Playing an expert algorithm over many rounds, and the record of what happened in each.

>>> from afterwit import ExponentialWeights
>>> advice, outcomes = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [1.0, 1.0, 0.0]
>>> record = play(ExponentialWeights(2, horizon=3), advice, outcomes)
>>> record.losses.round(3).tolist(), record.regret_curve.round(3).tolist()
([0.25, 0.042, 0.88], [0.25, 0.292, 0.172])
>>> record.shares.round(3).tolist(), record.bound_curve.round(3).tolist()
([[0.5, 0.5], [0.204, 0.796], [0.062, 0.938]], [0.68, 0.85, 1.02])
>>> print(record)
ExponentialWeights over 3 rounds with 2 experts: loss 1.17186
  best expert 1: regret 0.1719
  root mean square error 0.625, mean absolute error 0.5475
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core import html
from afterwit.core.certificate import Certificate, Verdict, evidence_of
from afterwit.core.pictured import Pictured
from afterwit.data.advice import Experts, read_rounds
from afterwit.data.checks import flag
from afterwit.errors import InputError, counted, invalid
from afterwit.experts import regrets
from afterwit.experts._played import Played
from afterwit.experts._regret import Floats, RegretTheorem, Way


@dataclass(frozen=True, eq=False)
class ExpertRecord(Pictured):
    """What happened in each round: rows are rounds, columns experts; NaN where an expert slept."""

    learner: str
    #: The experts' names, or their positions.
    experts: tuple[Any, ...]
    #: The learner's loss in each round: as it counts it itself, so the expected one where it follows one by chance.
    losses: Floats = field(repr=False)
    expert_losses: Floats = field(repr=False)
    #: The learner's own certificate after the last round; it speaks of all the rounds the learner ever learned from.
    certificate: Certificate = field(repr=False)
    #: None where only losses were known. Of probability vectors, a column for each kind of outcome.
    forecasts: Floats | None = field(default=None, repr=False)
    #: Of probability vectors, the position in ``kinds`` of what happened.
    outcomes: Floats | None = field(default=None, repr=False)
    #: Each expert's share in each round; None if they were not kept.
    shares: Floats | None = field(default=None, repr=False)
    #: The lower and the upper end of each interval, where `ConformalIntervals` played.
    intervals: Floats | None = field(default=None, repr=False)
    #: The evidence for its theorems afterwards, if the rounds played are all it knows.
    run: Any = field(default=None, repr=False)
    #: The kinds of outcomes, where forecasts are probability vectors.
    kinds: tuple[Any, ...] = ()
    #: How many rounds the learner had learned before these.
    earlier: int = 0
    #: The certificate of the intervals after the last round.
    interval_certificate: Certificate | None = field(default=None, repr=False)

    #: What was played, as long as the record stays in this process; not part of what happened.
    _played: Played | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_played"}

    @property
    def advice(self) -> Floats | None:
        """The advice that was played, NaN where an expert slept. None where only losses were known, and once the record
        has left its process.
        """
        return None if self._played is None else self._played.advice

    @property
    def follows_the_mean(self) -> bool:
        """Whether each forecast is known to be the mean of the advice by the shares."""
        return self.advice is not None and self._played is not None and self._played.way is Way.MEAN

    @property
    def has_residuals(self) -> bool:
        """Whether forecast and outcome are numbers whose difference says something: not of labels and vectors."""
        of_labels = self._played is not None and self._played.loss.kind == "zero-one"
        return self.forecasts is not None and not self.kinds and not of_labels

    def moments(self) -> list[Certificate]:
        """The certificates after 1, 2, 4, 8, ... rounds, at up to 400 moments between these and at the end: what was
        promised over time.

        The rounds are played again. Of more than four million losses, the moments are those within the first four
        million. `SwapRegret`, which has a learner for each expert, is looked at after 1, 2, 4, 8, ... rounds alone, and
        with more than 100 experts not at all. There are none where the learner had learned before.
        """
        return [] if self._played is None else self._played.moments

    def coverage_moments(self) -> list[Certificate]:
        """The same of the intervals, within the first 100,000 rounds; none where there are no intervals."""
        return [] if self._played is None or self.intervals is None else self._played.coverage_moments

    @property
    def uniform_losses(self) -> Floats | None:
        """In each round, the loss of the mean of the experts that were awake; the mean of their losses where no mean of
        forecasts is known, or where a loss is not convex.
        """
        found = None if self._played is None else self._played.uniform_losses
        if found is not None or not self.rounds:
            return found
        awake = ~np.isnan(self.expert_losses)
        sums: Floats = np.where(awake, self.expert_losses, 0.0).sum(axis=1)
        return sums / awake.sum(axis=1)

    @property
    def best_mixture(self) -> Any:
        """The best fixed mixture of the experts in hindsight, as `afterwit.hindsight.best_convex_combination` finds it.

        None where there is none, as with sleepers, where the advice is not known, and where there is so much of it that
        looking would take seconds.
        """
        return None if self._played is None else self._played.mixture

    @property
    def mixture_losses(self) -> Floats | None:
        """The loss of that mixture in each round."""
        return None if self._played is None else self._played.mixture_losses

    @property
    def rounds(self) -> int:
        return len(self.losses)

    @property
    def loss(self) -> float:
        return float(self.losses.sum())

    @cached_property
    def regret_curves(self) -> Floats:
        """After each round, the regret to each expert, over the rounds in which it was awake; a column for each."""
        found = regrets.regrets_by_expert(self.losses, self.expert_losses)
        found.setflags(write=False)
        return found

    @cached_property
    def _last(self) -> Floats:
        """The regrets at the end, and minus infinity for experts that have never been awake."""
        never = np.isnan(self.expert_losses).all(axis=0)
        return np.where(never, -np.inf, self.regret_curves[-1])

    @property
    def regret_curve(self) -> Floats:
        """After each round, the largest regret to any expert: the loss so far less that of the best so far."""
        return np.asarray(regrets.to_the_awake(self.regret_curves, self.expert_losses).max(axis=1))

    def regret_curve_to(self, expert: Any) -> Floats:
        """After each round, the regret to one expert, over the rounds in which it was awake."""
        if expert not in self.experts:
            shown = ", ".join(repr(name) for name in self.experts[:5]) + (", ..." if len(self.experts) > 5 else "")
            raise invalid("expert", f"one of {shown}", expert)
        return self.regret_curves[:, self.experts.index(expert)].copy()

    @property
    def regret(self) -> float:
        """The largest regret to any expert, over all rounds."""
        return float(self._last.max()) if self.rounds else 0.0

    @property
    def best_expert(self) -> Any:
        """The expert to whom the regret is largest: with nobody asleep, the one with the least loss."""
        return self.experts[int(np.argmax(self._last))] if self.rounds else self.experts[0]

    @property
    def internal_regret(self) -> float:
        """What playing j wherever i was played would have saved, at most; losses are those of the experts."""
        return regrets.internal_regret(self._kept_shares(), self.expert_losses)

    @property
    def swap_regret(self) -> float:
        """What the best way of replacing every expert would have saved; losses are those of the experts."""
        return regrets.swap_regret(self._kept_shares(), self.expert_losses)

    @property
    def rmse(self) -> float:
        """The root of the mean square error of the forecasts; not a number where there are none."""
        errors = self._errors()
        return math.sqrt(float(np.mean(errors * errors))) if len(errors) else math.nan

    @property
    def mae(self) -> float:
        """The mean absolute error of the forecasts; not a number where there are none."""
        errors = self._errors()
        return float(np.mean(np.abs(errors))) if len(errors) else math.nan

    @property
    def mape(self) -> float:
        """The mean absolute error as a part of the outcome; not a number where an outcome is 0."""
        errors = self._errors()
        if self.outcomes is None or not len(errors) or not self.outcomes.all():
            return math.nan
        return float(np.mean(np.abs(errors / self.outcomes)))

    @cached_property
    def bound_curve(self) -> Floats | None:
        """After each round, what theory promised about the regret.

        None if none of the algorithm's bounds on the regret to an expert was known beforehand, or if the learner had
        learned before.
        """
        if self.run is None or self.run.rival is not None:
            return None
        for made in (self.certificate, *self.certificate.others):
            theorem, applies = made.theorem, made.verdict is not Verdict.NOT_APPLICABLE
            if isinstance(theorem, RegretTheorem) and theorem.beforehand and applies:
                found = [theorem.regret_bound(replace(self.run, rounds=t + 1)) for t in range(self.rounds)]
                return np.array([np.nan if bound is None else bound[0] for bound in found], dtype=np.float64)
        return None

    @property
    def coverage(self) -> float:
        """The share of the rounds whose outcome was in its interval; not a number where there are no intervals."""
        if self.intervals is None or self.outcomes is None or not self.rounds:
            return math.nan
        low, high = self.intervals.T
        return float(np.mean((low <= self.outcomes) & (self.outcomes <= high)))

    def _kept_shares(self) -> Floats:
        if self.shares is None:
            raise InputError("the shares were not kept: play with keep_shares=True")
        return self.shares

    def _errors(self) -> Floats:
        if self.kinds:
            # A vector of probabilities and a kind have no difference.
            return np.empty(0)
        if self.forecasts is None or self.outcomes is None:
            return np.empty(0)
        return self.forecasts - self.outcomes

    def to_dict(self) -> dict[str, Any]:
        """The totals as plain numbers and strings: ready for JSON."""
        errors = {"rmse": self.rmse, "mae": self.mae, "mape": self.mape}
        return {
            "learner": self.learner,
            "rounds": self.rounds,
            "experts": list(self.experts),
            "loss": self.loss,
            "best_expert": self.best_expert,
            "regret": self.regret,
            **{name: None if math.isnan(value) else value for name, value in errors.items()},
            **({} if self.intervals is None else {"coverage": self.coverage}),
            "certificate": self.certificate.to_dict(),
        }

    def _repr_html_(self) -> str:
        """What notebooks show: the record, then the certificate."""
        title, *lines = str(self).splitlines()
        return html.block(title, [("happened", [line.strip() for line in lines])], self.certificate._repr_html_())

    def __str__(self) -> str:
        size = f"{counted(self.rounds, 'round')} with {counted(len(self.experts), 'expert')}"
        head = f"{self.learner} over {size}: loss {self.loss:.6g}"
        lines = [head, f"  best expert {self.best_expert!r}: regret {self.regret:.4g}"]
        if len(self._errors()):
            errors = f"  root mean square error {self.rmse:.4g}, mean absolute error {self.mae:.4g}"
            lines.append(errors if math.isnan(self.mape) else f"{errors} ({self.mape:.2%})")
        if self.intervals is not None:
            lines.append(f"  intervals covered {self.coverage:.2%} of the outcomes")
        return "\n".join(lines)


def play(learner: Any, advice: Any, outcomes: Any, *, keep_shares: bool = True) -> ExpertRecord:
    """Let an expert algorithm play these rounds, in order, and keep the record.

    learner      an expert algorithm of this package, or `ConformalIntervals` around one; it learns, as by
                 ``learn_many``. The record is that of the expert algorithm, with the intervals
    advice       a 2-D array, a DataFrame or a sequence of dicts, a row for each round; of probability vectors, a 3-D
                  array or dicts of vectors
    outcomes     one number for each round, or one kind
    keep_shares  whether to keep every expert's share in every round: as large as the advice
    """
    if hasattr(learner, "_learn_advice") and learner.role == "experts":
        rows, read = learner._checked(advice, outcomes)
        values, experts = rows.values, rows.experts
        shares = np.empty(values.shape[:2]) if flag("keep_shares", keep_shares) else None
        earlier, before = learner.rounds, _as_it_was(learner)
        forecasts, suffered, intervals = learner._learn_advice(rows, read, shares)
        algorithm = learner.point_forecaster
        intervals.setflags(write=False)
        with_intervals = {
            "learner": f"ConformalIntervals of {type(algorithm).__name__}",
            "intervals": intervals,
            "interval_certificate": learner.certificate() if learner.rounds else None,
        }
    else:
        experts = _experts(learner, keep_shares)
        values, experts = learner._read_rounds(advice, experts, learner.rounds == 0)
        read = learner._read_outcomes(outcomes, len(values))
        shares = np.empty(values.shape[:2]) if keep_shares else None
        earlier, before = learner.rounds, _as_it_was(learner)
        forecasts, suffered = learner._learn(values, read, experts, shares)
        algorithm, with_intervals = learner, {}
    setting = algorithm._setting()
    played = Played(before, setting.loss, setting.way, experts, values, read)
    lost = setting.loss.values(values, read[:, np.newaxis])
    return _record(algorithm, played, suffered, lost, forecasts, shares, earlier, **with_intervals)


def play_losses(learner: Any, losses: Any, *, keep_shares: bool = True) -> ExpertRecord:
    """The same where only everyone's losses are known, as with ``observe``: there are no forecasts.

    learner      an expert algorithm of this package that takes losses; it learns, as by ``observe_many``
    losses       a 2-D array, a DataFrame or a sequence of dicts, a row for each round
    keep_shares  whether to keep every expert's share in every round: as large as the losses
    """
    experts = _experts(learner, keep_shares)
    if not learner.takes_losses:
        raise invalid(
            "learner", "one that learns from losses alone; this one needs play(learner, advice, outcomes)", learner
        )
    values, experts = read_rounds(losses, experts, learner.rounds == 0, "losses")
    shares = np.empty(values.shape) if keep_shares else None
    earlier, before = learner.rounds, _as_it_was(learner)
    _, suffered = learner._learn(values, None, experts, shares)
    setting = learner._setting()
    played = Played(before, setting.loss, setting.way, experts, values, None)
    return _record(learner, played, suffered, values.copy(), None, shares, earlier)


def _experts(learner: Any, keep_shares: Any) -> Experts:
    from afterwit.experts._engine import ExpertLearner

    if not isinstance(learner, ExpertLearner):
        raise invalid("learner", "an expert algorithm, such as afterwit.MLpol(n_experts)", learner)
    flag("keep_shares", keep_shares)
    return Experts(len(learner.experts), learner.state()["names"])


def _as_it_was(learner: Any) -> Any:
    """A copy of a learner that has not learned yet, so that its rounds can be played again."""
    return learner.copy() if learner.rounds == 0 else None


def _record(
    algorithm: Any,
    played: Played,
    losses: Floats,
    expert_losses: Floats,
    forecasts: Floats | None,
    shares: Floats | None,
    earlier: int,
    **with_intervals: Any,
) -> ExpertRecord:
    outcomes = None if played.outcomes is None else played.outcomes.copy()
    for array in (losses, expert_losses, forecasts, outcomes, shares):
        if array is not None:
            array.setflags(write=False)
    made = {
        "learner": type(algorithm).__name__,
        "experts": algorithm.experts,
        "losses": losses,
        "expert_losses": expert_losses,
        "certificate": algorithm.certificate(),
        "forecasts": forecasts,
        "outcomes": outcomes,
        "shares": shares,
        "run": None if earlier else evidence_of(algorithm),
        "kinds": algorithm.kinds,
        "earlier": earlier,
        "_played": played,
    }
    return ExpertRecord(**{**made, **with_intervals})
