"""A committee of regressors: an expert algorithm mixes their predictions. Nearly as good as the best mixture of them.

Setting     N regressors, the members; y_t a number. In round t every member i predicts f_{t,i}; predict p_t . f_t,
            where p_t is what each member weighs. The loss is the square of the error, unless the expert algorithm was
            made for another one.
Update      every member learns (x_t, y_t). The expert algorithm, ML-Poly unless told otherwise, sees f_t and y_t, and
            gives p_{t+1}.
Guarantee   on any sequence and for every member i with loss L_i: loss <= L_i + B, where B is the expert algorithm's
            bound on the regret. ML-Poly and BOA learn from slopes: there L_i may be the loss of any fixed mixture of
            the members, if that is less.
Assumes     nothing about where the examples come from, nor about the members.
Source      the expert algorithm's; ML-Poly: Gaillard, Stoltz & van Erven 2014.

>>> committee = RegressionCommittee(["online-ridge", "repeat-last-target"])
>>> X = [{"hours": hours} for hours in (1.0, 2.0, 4.0, 3.0, 5.0, 2.0, 6.0, 1.0)]
>>> committee.learn_many(X, [2 * x["hours"] + 1 for x in X]).round(2).tolist()
[0.0, 2.0, 5.0, 9.0, 7.0, 11.0, 6.69, 2.27]
>>> print(committee)
                         loss    per round    weight
OnlineRidge            150.47        18.81    0.9894
RepeatLastTarget          249        31.12    0.0106
the committee          130.31        16.29
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Option
from afterwit.core.real_targets import RealTargetLearner, checked_totals
from afterwit.core.registry import regressor_class
from afterwit.core.sources import certify_source
from afterwit.core.theorem import Theorem
from afterwit.core.turns import Rounds, parts
from afterwit.data import losses
from afterwit.data.rows import Rows, as_mapping
from afterwit.data.targets import Targets, read_target
from afterwit.errors import DivergenceError, InputError, Words, counted, invalid
from afterwit.experts._engine import ExpertLearner
from afterwit.experts.adahedge import AdaHedge
from afterwit.experts.boa import BOA
from afterwit.experts.mlpol import MLpol
from afterwit.experts.repeat_last_target import RepeatLastTarget
from afterwit.linear._regressor import LinearRegressor
from afterwit.linear._row import is_harmless
from afterwit.linear._stops import MODERATE
from afterwit.linear.normalized_adagrad_regressor import NormalizedAdaGradRegressor
from afterwit.linear.online_ridge import OnlineRidge
from afterwit.linear.scale_free_regressor import ScaleFreeRegressor
from afterwit.reductions._binary import blank, require_rounds, shared_row, undone_if_refused
from afterwit.reductions._members import read_each

Floats = npt.NDArray[np.float64]

LEARNERS = "regressors, their classes or names, in a sequence or in a dict by name"
#: The algorithms that need no options.
NAMED = {"mlpol": MLpol, "boa": BOA, "adahedge": AdaHedge}
WEIGHTING = f"one of {', '.join(NAMED)}, or a fresh expert algorithm for as many experts as there are members"


class MixtureBound(Theorem):
    """The best member or mixture, and the regret."""

    name = "bound on the mixture"
    quantity = "loss"
    formula = "L + B, L the loss of the best member or mixture, B the weighting's bound on the regret"
    citation = "the weighting's own theorem"
    foreseeable = False

    @staticmethod
    def bound(promised: Any) -> Any:
        return promised

    def certify(self, evidence: Any) -> Any:
        return evidence.certificate(self, self.bound(evidence.promised), evidence.inputs)


def default_pool() -> list[Any]:
    """A few regressors that differ as much as possible, in any units of features and targets.

    `NormalizedAdaGradRegressor` and `ScaleFreeRegressor` do not depend on the units of the features; two rates, because
    the better one differs from stream to stream. `OnlineRidge` is the best where features are few and nothing changes;
    beyond the first hundred features it would take too long. `RepeatLastTarget` is hard to beat where targets change
    slowly. More members cost more in the first rounds, in which nobody knows whom to follow, than they gain.
    """
    return [
        NormalizedAdaGradRegressor(),
        NormalizedAdaGradRegressor(rate=1.5),
        ScaleFreeRegressor(),
        OnlineRidge(most_features=100),
        RepeatLastTarget(),
    ]


def _read_member(learner: Any) -> Any:
    """A fresh regressor of the same kind."""
    if isinstance(learner, str):
        learner = regressor_class(learner, "learners")
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid("learners", f"{LEARNERS}; a class must need no arguments", learner) from None
    if not isinstance(learner, RealTargetLearner) or learner.role != "regressor":
        raise invalid("learners", LEARNERS, learner)
    return blank(learner)


def _read_weighting(weighting: Any, members: tuple[str, ...]) -> Any:
    """A fresh expert algorithm for these members."""
    if isinstance(weighting, str) and weighting in NAMED:
        return NAMED[weighting](list(members), loss="square")
    if not isinstance(weighting, ExpertLearner) or "loss" not in weighting.parameters:
        raise invalid("weighting", WEIGHTING, weighting)
    if weighting.rounds:
        raise invalid("weighting", WEIGHTING, Words(f"one that has learned {counted(weighting.rounds, 'round')}"))
    loss = losses.get(weighting.parameters["loss"])
    if not loss.convex or loss.kind == "log":
        raise invalid("weighting", "an expert algorithm for a convex loss of numbers", Words(f"one for {loss} loss"))
    experts = weighting.experts
    if len(experts) != len(members) or experts not in (members, tuple(range(len(members)))):
        raise invalid("weighting", f"for the {len(members)} members", Words(f"one for {experts}"))
    return blank(weighting)


class RegressionCommittee(RealTargetLearner):
    """Regressors whose predictions are mixed, by how much each has lost.

    learners   the members: regressors (instances, which are never changed, and of which it does not matter what they
               have learned), their classes, or their names such as "online-ridge"; in a sequence, or in a dict by the
               names they are to have. If not given, five that are as different as they can be
    weighting  the expert algorithm that mixes them: "mlpol", "boa" or "adahedge" with square loss, or a fresh instance
               of another one, made for as many experts as there are members; its loss is that of the committee
    """

    theorems = (MixtureBound(),)
    checker = "regression_committee"
    options = (Option("learners", None), Option("weighting", "mlpol"))

    def _begin(self) -> None:
        RealTargetLearner._begin(self)
        given = self._options["learners"]
        members = read_each(default_pool() if given is None else given, _read_member, LEARNERS)
        weighting = _read_weighting(self._options["weighting"], tuple(members))
        if given is not None:
            self._options["learners"] = members
        if not isinstance(self._options["weighting"], str):
            self._options["weighting"] = weighting
        self._names = tuple(members)
        self._members = [blank(member) for member in members.values()]
        self._weighting = blank(weighting)
        self._loss = losses.get(weighting.parameters["loss"])

    # ------------------------------------------------------------------ one round

    def predict_one(self, x: Any) -> float:
        row = shared_row(as_mapping(x), True)
        if row is None:
            return super().predict_one(x)
        with self._lock:
            return float(self._weighting.predict_one([member.predict_one(row) for member in self._members]))

    def learn_one(self, x: Any, y: Any) -> float:
        target = read_target(y)
        row = shared_row(as_mapping(x), True)
        if row is None:
            return super().learn_one(x, target)
        with self._lock, Rounds():
            advice = [member.predict_one(row) for member in self._members]
            harmless = is_harmless(row) if isinstance(row, dict) else True
            with undone_if_refused(self._at_risk(harmless, advice, target)):
                self._make_ready(len(row), 0 if isinstance(row, dict) else len(row))
                for member in self._members:
                    member.learn_one(row, target)
                return float(self._mixed(np.array([advice]), np.full(1, target))[0])

    def _at_risk(self, harmless: bool, advice: Any, target: float) -> list[Any]:
        """Those whose state is kept before a single round, because some might refuse it after others have learned.

        Where values, the target and all predictions are moderate, no member of this package can diverge.
        """
        sizes = [abs(target), *map(abs, advice)]
        if harmless and max(sizes) <= MODERATE and all(map(_is_steady, self._members)):
            return []
        return [*self._members, self._weighting]

    def _make_ready(self, entries: int, width: int) -> None:
        """Let those who keep something for every feature make room, so that nobody fails after another has learned."""
        for member in self._members:
            if isinstance(member, LinearRegressor):
                member._engine._make_ready(entries, width)

    def _mixed(self, advice: Floats, targets: Targets) -> Targets:
        """The mixture of what the members predicted in each of these rounds; then it learns, and the rounds count."""
        try:
            predictions: Targets = self._weighting.learn_many(advice, targets)
        except InputError:
            raise DivergenceError(
                f"round {self.rounds + 1:,} would make a loss of RegressionCommittee too large for its weighting; "
                "scale the targets"
            ) from None
        each = self._loss.values(predictions, targets)
        for loss, error in zip(each.tolist(), (predictions - targets).tolist(), strict=True):
            self._totals.add(loss, error)
        return predictions

    # ------------------------------------------------------------------ many rounds

    def predict_many(self, X: Any) -> Targets:
        rows = self._read(X)
        with self._lock:
            predictions: Targets = self._weighting.predict_many(self._advice(rows))
            return predictions

    def _advice(self, rows: Rows) -> Floats:
        """What every member predicts for every row. Nothing changes."""
        advice = np.empty((rows.count, len(self._members)))
        for i, member in enumerate(self._members):
            advice[:, i] = member.predict_many(rows)
        return advice

    def _learn(self, rows: Rows, targets: Targets) -> Targets:
        with self._lock, Rounds():
            return self._learn_block(rows, targets)

    def _learn_block(self, rows: Rows, targets: Targets) -> Targets:
        """Learn all rows or none; but if a member diverges, or somebody wants to stop, the rounds before it."""
        if rows.count == 0:
            return np.empty(0)
        before = self._state()
        predictions = np.empty(rows.count)
        try:
            for begin, end in parts(rows.count):
                part = rows if end - begin == rows.count else rows.part(begin, end)
                predictions[begin:end] = self._learn_part(part, targets[begin:end])
            return predictions
        except DivergenceError as error:
            self._become(before)
            diverged = error
        except Exception:
            self._become(before)
            raise
        # Half of the rows, and so on, until it is only the round in which a member diverges that is not learned.
        half = rows.count // 2
        if half:
            with suppress(InputError):  # what a single round is refused with, whose prediction overflows
                self._learn_block(rows.part(0, half), targets[:half])
                self._learn_block(rows.part(half, rows.count), targets[half:])
        raise diverged

    def _learn_part(self, rows: Rows, targets: Targets) -> Targets:
        """Let every member learn the rows, then mix what they had predicted."""
        advice = np.empty((rows.count, len(self._members)))
        for i, member in enumerate(self._members):
            advice[:, i] = member.learn_many(rows, targets)
        return self._mixed(advice, targets)

    # ------------------------------------------------------------------ what it knows

    @property
    def members(self) -> dict[str, Any]:
        """A copy of every member, by name."""
        with self._lock:
            return {name: member.copy() for name, member in zip(self._names, self._members, strict=True)}

    @property
    def weights(self) -> dict[str, float]:
        """What each member weighs in the next round; they sum to 1."""
        with self._lock:
            return dict(zip(self._names, self._weighting.weights.tolist(), strict=True))

    @property
    def member_losses(self) -> dict[str, float]:
        """The total loss of every member, in the loss of the committee."""
        with self._lock:
            return dict(zip(self._names, self._weighting.expert_losses.tolist(), strict=True))

    @property
    def best_member(self) -> str:
        """The member that has lost least, the first of several."""
        lost = self.member_losses
        return min(lost, key=lost.__getitem__)

    @property
    def weighting(self) -> Any:
        """A copy of the expert algorithm that mixes: its experts are the members."""
        with self._lock:
            return self._weighting.copy()

    @property
    def features(self) -> int:
        """The most features that a member knows of."""
        return max(int(getattr(member, "features", 0)) for member in self._members)

    def certificate(self, X: Any = None, y: Any = None) -> Certificate:  # type: ignore[override]
        """What was promised, what happened and what hindsight would have given: the best member.

        All from the committee's own state, at any round; with the examples X, y that it learned from, in order (once
        for each pass), they are played again, and hindsight is the best mixture, where the theorem is about mixtures.
        X alone may be a stream or a libsvm file; if it is larger than memory, hindsight is the best member.
        """
        if X is not None and y is None:
            return certify_source(self, X)
        if X is None and y is not None:
            raise invalid("y", "given together with X", y)
        with self._lock:
            return certify(self, *(() if X is None else self._checked(X, y)))

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        members = [member.state() for member in self._members]
        return {**self._totals.state(), "weighting": self._weighting.state(), "members": members}

    def _check_state(self, state: Any) -> None:
        rounds, members = checked_totals(state).rounds, state["members"]
        if not isinstance(members, list) or len(members) != len(self._members):
            raise invalid("members", f"a list of the states of {len(self._members)}", members)
        require_rounds("weighting", self._weighting, state["weighting"], rounds, rounds)
        for name, member, content in zip(self._names, self._members, members, strict=True):
            require_rounds(f"members, {name}", member, content, rounds, rounds)

    def _become(self, state: Any) -> None:
        members, weighting = [blank(member) for member in self._members], blank(self._weighting)
        weighting.restore(state["weighting"])
        for member, content in zip(members, state["members"], strict=True):
            member.restore(content)
        self._members, self._weighting, self._totals = members, weighting, checked_totals(state)

    def __repr__(self) -> str:
        given = [] if self._options["learners"] is None else [counted(len(self._names), "learner")]
        weighting = self._options["weighting"]
        if weighting != "mlpol":
            given.append(f"weighting={weighting if isinstance(weighting, str) else type(weighting).__name__}")
        return f"RegressionCommittee({', '.join(given)}): {self._progress()}"

    def __str__(self) -> str:
        """Everyone's loss and weight, in a table."""
        rows = [*self.member_losses.items(), ("the committee", self.loss)]
        shown = [*(f"{weight:.4f}" for weight in self.weights.values()), ""]
        width = max(len(name) for name, _ in rows)
        lines = [f"{'':<{width}} {'loss':>12} {'per round':>12} {'weight':>9}"]
        for (name, loss), weight in zip(rows, shown, strict=True):
            each = f"{loss / self.rounds:.4g}" if self.rounds else ""
            lines.append(f"{name:<{width}} {loss:>12.5g} {each:>12} {weight:>9}".rstrip())
        return "\n".join(lines)


def _is_steady(member: Any) -> bool:
    """Whether no round of moderate numbers can make it diverge."""
    options = [value for value in member.parameters.values() if isinstance(value, float)]
    ours = isinstance(member, (LinearRegressor, RepeatLastTarget))
    return ours and all(1 / MODERATE <= abs(value) <= MODERATE for value in options if value)
