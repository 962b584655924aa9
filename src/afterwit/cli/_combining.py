"""The forecasts of one target, combined: by one learner, or by one for each group; new, or resumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from afterwit.cli._advice import Floats, Groups, Mask, advice_of, forecasts_of, groups_first, require_rows
from afterwit.cli._progress import display
from afterwit.core.certificate import apply, evidence_of, require_theorems
from afterwit.core.registry import command_name, expert_algorithm_names, options_of
from afterwit.core.storage import load
from afterwit.data import losses
from afterwit.errors import InputError, ModelFileError, StreamError, Words, invalid, shorten
from afterwit.reductions.conformal_intervals import ConformalIntervals
from afterwit.reductions.per_group import PerGroup
from afterwit.streams.table import Table


@dataclass(frozen=True)
class Way:
    """How forecasts are combined: the algorithm, its loss and its options. None: as the model has it."""

    algorithm: str | None
    kind: Any
    loss: losses.Loss | None
    options: dict[str, Any]
    #: How often the outcome is to be in an interval around the forecast, if intervals are wanted.
    coverage: float | None = None

    def learner(self, experts: list[str], grouped: bool) -> Any:
        """A fresh learner for these experts."""
        loss = self.loss or losses.get("square")
        if "loss" in options_of(self.kind):
            made = self.kind(experts, loss=loss.name, **self.options)
            if getattr(made, "kinds", ()):
                raise invalid("--loss", f"square for {self.kind.__name__} without --outcome", loss.name)
        elif loss.kind != "zero-one":
            raise invalid("--loss", f"zero-one for {self.kind.__name__}", loss.name)
        else:
            made = self.kind(experts, **self.options)
        if self.coverage is not None:
            made = ConformalIntervals(made, self.coverage)
        return PerGroup(made) if grouped else made

    def of_vectors(self, experts: list[str], kinds: tuple[str, ...]) -> Any:
        """A fresh learner for these experts of probabilities of these kinds of outcomes."""
        loss = "brier" if self.loss is None else self.loss.name
        return self.kind(experts, loss=loss, outcomes=kinds, **self.options)

    def resumed(self, path: str, grouped: bool, vectors: bool = False) -> Any:
        """The learner that was saved, if it is the one that is asked for."""
        learner = load(path)
        if isinstance(learner, PerGroup) != grouped:
            what = "a learner for each group; name their column with --group" if not grouped else "no groups"
            raise ModelFileError(f"{path}: the model has {what}{'; leave out --group' if grouped else ''}")
        banded = intervals_of(learner)
        coverage = None if banded is None else banded.coverage
        if self.coverage not in (None, coverage):
            there = "the model has no intervals" if coverage is None else f"the model has intervals of {coverage:.10g}"
            raise invalid("--interval", f"left out, because {there}", f"{self.coverage:.10g}")
        made = template_of(learner)
        if command_name(type(made)) not in expert_algorithm_names():
            raise ModelFileError(f"{path}: a model of afterwit experts was expected; this is a {type(made).__name__}")
        if bool(getattr(made, "kinds", ())) != vectors:
            what = (
                "numbers: name their column with --target" if vectors else "probabilities: use --outcome and --prefix"
            )
            raise ModelFileError(f"{path}: the model forecasts {what}")
        if not isinstance(made.parameters["n_experts"], tuple):
            raise ModelFileError(f"{path}: the experts of this model have no names, so nobody knows their columns")
        if self.algorithm is not None and self.kind is not type(made):
            raise _another(path, "--algorithm", command_name(type(made)), self.algorithm)
        loss = made.parameters.get("loss", "zero-one")
        if self.loss is not None and self.loss.name != loss:
            raise _another(path, "--loss", loss, self.loss.name)
        for name, value in self.options.items():
            if made.parameters[name] != value:
                raise _another(path, f"--option {name}", made.parameters[name], value)
        return learner


def _another(path: str, option: str, there: Any, wanted: Any) -> InputError:
    return invalid(option, f"as in the model that goes on, {path}: {shorten(there, 200)}; or left out", wanted)


def template_of(learner: Any) -> Any:
    """The expert algorithm, or the one that each group begins with."""
    learner = learner.learner if isinstance(learner, PerGroup) else learner
    return learner.point_forecaster if isinstance(learner, ConformalIntervals) else learner


def intervals_of(learner: Any) -> Any:
    """The learner of intervals, or the one that each group begins with; None if there are no intervals."""
    learner = learner.learner if isinstance(learner, PerGroup) else learner
    return learner if isinstance(learner, ConformalIntervals) else None


def _point_forecasters(learner: PerGroup) -> PerGroup:
    """What makes the forecasts of each group, without the intervals."""
    made = PerGroup(template_of(learner))
    states = [learner[group].point_forecaster.state() for group in learner.groups]
    made.restore({"groups": list(learner.groups), "learners": states})
    return made


class _Banded:
    """A learner with intervals, whose forecasts have the ends of these beside them."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def learn_many(self, *rounds: Any) -> Floats:
        forecasts, intervals = self.learner.learn_intervals(*rounds)
        return np.column_stack([forecasts, intervals])

    def predict_many(self, *rows: Any) -> Floats:
        return np.column_stack([self.learner.predict_many(*rows), self.learner.interval_many(*rows)])

    def copy(self) -> _Banded:
        return _Banded(self.learner.copy())


@dataclass(frozen=True)
class Combined:
    """The rows of a table, their combined forecasts of one target, and the learner that has learned them."""

    target: str
    experts: list[str]
    learner: Any
    #: The group of each row, if there are groups.
    groups: Groups | None
    advice: Floats
    outcomes: Floats
    forecasts: Floats
    #: How many rounds the learner had learned before.
    earlier: int
    #: The lower and the upper end of the interval of each row, if there are intervals.
    intervals: Floats | None = None
    #: The learner as it was before these rows.
    before: Any = None

    @property
    def there(self) -> Mask:
        """The rows whose target is known: the rounds."""
        return ~np.isnan(self.outcomes)

    @property
    def missing(self) -> list[int]:
        """The rows without the target."""
        return np.flatnonzero(~self.there).tolist()

    @property
    def loss(self) -> str:
        return str(losses.get(template_of(self.learner).parameters.get("loss", "zero-one")))

    @property
    def algorithm(self) -> str:
        return command_name(type(template_of(self.learner)))

    def columns(self, name: str) -> dict[str, Floats]:
        """The forecasts, under that name, and the ends of the intervals, as columns."""
        if self.intervals is None:
            return {name: self.forecasts}
        return {name: self.forecasts, f"{name} low": self.intervals[:, 0], f"{name} high": self.intervals[:, 1]}

    @cached_property
    def point(self) -> Any:
        """What makes the forecasts, without the intervals."""
        if self.intervals is None:
            return self.learner
        return template_of(self.learner) if self.groups is None else _point_forecasters(self.learner)

    def certificate_of_intervals(self) -> Any:
        """About the intervals of the rounds of the table, or of all rounds where others came before them."""
        there = self.there
        rounds = [*groups_first(self.groups, there), self.advice[there], self.outcomes[there]]
        return self.learner.certificate(*([] if self.earlier else rounds))

    def certificate(self) -> tuple[Any, Any]:
        """The certificate, made once, and the best mixture in hindsight, where it was found on the way."""
        return self._certified

    @cached_property
    def _certified(self) -> tuple[Any, Any]:
        """About the rounds of the table; where others came before them, about what the learner knows of all."""
        there, learner = self.there, self.point
        rounds = [] if self.earlier else [self.advice[there], self.outcomes[there]]
        with display("computing the certificate"):
            if self.groups is not None:
                return learner.certificate(*(groups_first(self.groups, there) if rounds else ()), *rounds), None
            require_theorems(learner)
            evidence = evidence_of(learner, *rounds)
            return apply(learner.theorems, evidence), evidence.mixture

    def parts(self) -> Iterator[tuple[str, Any, Mask]]:
        """Each group with its learner and its rounds, in the order of first appearance."""
        assert self.groups is not None
        for group in dict.fromkeys(self.groups[self.there].tolist()):
            yield group, self.point[group], self.there & (self.groups == group)


def combine(table: Table, target: str, experts: list[str], learner: Any, group: str | None) -> Combined:
    """Learn a table. A row without the target is forecast by what was learned before it."""
    outcomes = _outcomes(table, target)
    advice = advice_of(table, experts)
    there = ~np.isnan(outcomes)
    nobody = there & np.isnan(advice).all(axis=1)
    if nobody.any():
        among = shorten(Words(", ".join(experts)), 100)
        reason = f"every expert's forecast is missing ({among}); remove the row, or leave its target empty"
        raise StreamError(reason, **table.place(int(np.argmax(nobody))))
    groups = None if group is None else groups_of(table, group)
    earlier, before = learner.rounds, learner.copy()
    banded = intervals_of(learner) is not None
    way = _Banded(learner) if banded else learner
    with display(f"combining the forecasts of {target}") as shown:
        shown.watch(lambda: learner.rounds - earlier)
        made = forecasts_of(table, target, way, advice, outcomes, there, np.isnan(advice), groups)
    forecasts, intervals = (np.ascontiguousarray(made[:, 0]), made[:, 1:]) if banded else (made, None)
    return Combined(target, experts, learner, groups, advice, outcomes, forecasts, earlier, intervals, before)


def groups_of(table: Table, column: str) -> Groups:
    """The group of each row; every row has one."""
    groups = np.array(table.texts[column], dtype=np.str_)
    if (groups == "").any():
        row = int(np.argmax(groups == ""))
        raise StreamError(f"column {column}: the name of a group was expected; found nothing", **table.place(row))
    return groups


def _outcomes(table: Table, target: str) -> Floats:
    require_rows(table)
    outcomes = table.column(target)
    if np.isnan(outcomes).all():
        remedy = "afterwit predict forecasts a table with a model that has learned"
        raise StreamError(f"the target {target} is missing in every row; {remedy}", path=table.name)
    return np.ascontiguousarray(outcomes)
