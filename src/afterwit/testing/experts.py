"""The conformance suite of expert algorithms; `afterwit.testing` offers it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate, Verdict
from afterwit.core.theorem import Theorem
from afterwit.data.losses import get
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.testing import late as _late
from afterwit.testing import twins as _twins

#: The suite's data is drawn from this seed; a failure names it.
SEED = 20_240_229
EXPERTS = 4

Make = Callable[..., Any]
Check = Callable[[Make], None]


def check_expert_algorithm(make: Make) -> None:
    """Run every check on an expert algorithm: a class, or any callable that makes a fresh one.

    It is called with the number of experts or a list of their names: ``check_expert_algorithm(BOA)``,
    ``check_expert_algorithm(partial(SecondOrderWeights, beta=0.5))``. Losses between 0 and 1 must be in its range.
    """
    for check in expert_checks():
        try:
            check(make)
        except AssertionError as error:
            raise AssertionError(f"{check.__name__} (seed {SEED}): {error}") from error


def expert_checks() -> list[Check]:
    """The checks of an expert algorithm, in order."""
    return [
        check_expert_one_is_many,
        check_expert_losses_one_is_many,
        check_expert_looking_changes_nothing,
        check_expert_input_is_untouched,
        check_expert_weights,
        check_expert_counters,
        check_expert_forms,
        check_expert_names,
        check_expert_sleepers,
        check_expert_bad_values,
        check_expert_bad_shapes,
        check_expert_empty_input,
        check_expert_late_outcomes,
        check_expert_copying,
        check_expert_pickling,
        check_expert_saving,
        check_expert_reproducible,
        check_expert_constructor,
        check_expert_theorems,
    ]


# ---------------------------------------------------------------------- data


def _loss_of(learner: Any) -> Any:
    return replace(get(learner.parameters.get("loss", "zero-one")), kinds=len(learner.kinds))


def _rounds(learner: Any, rounds: int = 30, asleep: float = 0.0) -> tuple[Any, Any]:
    """Advice and outcomes the learner's loss is defined for; the last expert is often right.

    Where the learner takes probability vectors, the first two kinds of outcomes happen.
    """
    random = np.random.default_rng(SEED)
    outcomes = random.integers(0, 2, rounds).astype(np.float64)
    advice = random.choice([0.0, 0.25, 1.0], (rounds, EXPERTS))
    right = random.random(rounds) < 0.8
    advice[right, -1] = outcomes[right]
    kind = _loss_of(learner).kind
    if kind == "log":
        advice = 0.1 + 0.8 * advice
    elif kind == "percentage":
        outcomes = 0.5 + 0.5 * outcomes
    sleepers = random.random(advice.shape) < asleep
    sleepers[np.arange(rounds), random.integers(0, EXPERTS, rounds)] = False
    advice = np.where(sleepers, np.nan, advice)
    if learner.kinds:
        happened = np.array([learner.kinds[int(outcome)] for outcome in outcomes])
        others = np.where(sleepers, np.nan, 0.0)
        return np.stack([1 - advice, advice, *[others] * (len(learner.kinds) - 2)], axis=2), happened
    return advice, outcomes


def _places(learner: Any, outcomes: Any) -> Any:
    """Outcomes as the loss takes them: of kinds, their positions."""
    return np.array([learner.kinds.index(outcome) for outcome in outcomes]) if learner.kinds else outcomes


def _missing(learner: Any, advice: Any) -> Any:
    """Who sleeps."""
    return np.isnan(advice[..., 0] if learner.kinds else advice)


def _plain(forecast: Any) -> Any:
    """A forecast as a number or a list."""
    return np.asarray(forecast).tolist()


def _losses(rounds: int = 30) -> Any:
    """Losses of a round, where only these are known."""
    return np.random.default_rng(SEED).choice([0.0, 0.25, 0.7, 1.0], (rounds, EXPERTS))


def _asleep(learner: Any) -> float:
    return 0.3 if learner.sleeping else 0.0


def _learned(make: Make) -> Any:
    learner = make(EXPERTS)
    learner.learn_many(*_rounds(learner))
    return learner


def _refused(learner: Any, what: str, method: str, *arguments: Any) -> str:
    """The method must raise a clear error and leave the learner as it was."""
    before = learner.state()
    try:
        getattr(learner, method)(*arguments)
    except InputError as error:
        message = str(error)
    else:
        raise AssertionError(f"{what} was accepted")
    assert same_value(learner.state(), before), f"{what} was refused, but only after it had changed the learner"
    return message


# ---------------------------------------------------------------------- checks


def check_expert_one_is_many(make: Make) -> None:
    """``learn_many`` and ``predict_many`` are the loops of their one-round forms, bit for bit."""
    for asleep in {0.0, _asleep(make(EXPERTS))}:
        at_once, one_by_one, in_parts = make(EXPERTS), make(EXPERTS), make(EXPERTS)
        advice, outcomes = _rounds(at_once, asleep=asleep)
        forecasts = at_once.learn_many(advice, outcomes).tolist()
        for row, outcome, forecast in zip(advice, outcomes.tolist(), forecasts, strict=True):
            foreseen = _plain(one_by_one.predict_one(row))
            assert _plain(one_by_one.learn_one(row, outcome)) == foreseen, (
                "learn_one returned another forecast than predict_one"
            )
            assert foreseen == forecast, "learn_many forecasts otherwise than learn_one"
        assert same_value(at_once.state(), one_by_one.state()), "learn_many is not the loop of learn_one"
        in_parts.learn_many(advice[:20], outcomes[:20])
        in_parts.learn_many(advice[20:], outcomes[20:])
        assert same_value(at_once.state(), in_parts.state()), "two parts are not the whole"
        singly = [_plain(at_once.predict_one(row)) for row in advice]
        assert at_once.predict_many(advice).tolist() == singly, "predict_many is not the loop of predict_one"


def check_expert_losses_one_is_many(make: Make) -> None:
    """``observe_many`` is the loop of ``observe``; an algorithm that does not take losses alone refuses them."""
    at_once, one_by_one = make(EXPERTS), make(EXPERTS)
    if not at_once.takes_losses:
        _refused(at_once, "a round of losses alone", "observe", _losses()[0])
        _refused(at_once, "rounds of losses alone", "observe_many", _losses())
        return
    own = at_once.observe_many(_losses()).tolist()
    assert own == [one_by_one.observe(row) for row in _losses()], "observe_many gives other losses than observe"
    assert same_value(at_once.state(), one_by_one.state()), "observe_many is not the loop of observe"
    lowest, highest = _losses().min(axis=1), _losses().max(axis=1)
    assert ((lowest - 1e-9 <= own) & (own <= highest + 1e-9)).all(), "the mixture lost more or less than every expert"


def check_expert_looking_changes_nothing(make: Make) -> None:
    """Predicting, weights, regrets and certificates have no side effect."""
    learner = make(EXPERTS)
    for _ in range(2):
        before = learner.state()
        learner.predict_many(_rounds(learner, asleep=_asleep(learner))[0])
        learner.predict_one(_rounds(learner)[0][0])
        for what in ("weights", "loss", "expert_losses", "regrets", "regret", "awake_rounds", "best_expert", "experts"):
            getattr(learner, what)
        if learner.theorems:
            learner.certificate()
        repr(learner)
        assert same_value(learner.state(), before), "looking at the learner changed it"
        learner.learn_many(*_rounds(learner))


def check_expert_input_is_untouched(make: Make) -> None:
    """The caller's advice and outcomes are left as they were, and may be read-only."""
    learner = make(EXPERTS)
    advice, outcomes = _rounds(learner)
    before = advice.tobytes(), outcomes.tobytes()
    for writeable in (True, False):
        advice.setflags(write=writeable)
        outcomes.setflags(write=writeable)
        learner.learn_many(advice, outcomes)
        learner.learn_one(advice[0], outcomes[0])
        assert (advice.tobytes(), outcomes.tobytes()) == before, "the input was changed"


def check_expert_weights(make: Make) -> None:
    """Weights are shares: not negative, and they sum to one; forecasts stay between the advice."""
    for n_experts in (1, EXPERTS):
        learner = make(n_experts)
        advice, outcomes = _rounds(learner)
        advice = advice[:, :n_experts]
        for row, outcome in zip(advice, outcomes, strict=True):
            weights = learner.weights
            assert weights.shape == (n_experts,), "not one weight for each expert"
            assert np.isfinite(weights).all(), f"weights that are no numbers: {weights}"
            assert (weights >= 0).all(), f"negative weights: {weights}"
            assert abs(weights.sum() - 1) < 1e-9, f"the weights sum to {weights.sum()}"
            forecast = learner.learn_one(row, outcome)
            assert np.min(row) <= np.min(forecast), "a forecast below all advice"
            assert np.max(forecast) <= np.max(row), "a forecast above all advice"
            assert not learner.kinds or abs(np.sum(forecast) - 1) < 1e-9, f"the probabilities sum to {np.sum(forecast)}"


def check_expert_counters(make: Make) -> None:
    """rounds, losses and regrets are what happened."""
    learner = make(EXPERTS)
    assert learner.rounds == 0 == learner.loss == learner.regret, "a fresh learner has counted something"
    advice, outcomes = _rounds(learner, asleep=_asleep(learner))
    loss = _loss_of(learner)
    losses = loss.values(advice, _places(learner, outcomes)[:, np.newaxis])
    missing = _missing(learner, advice)
    own, ours = [], np.zeros(EXPERTS)
    for t, (row, outcome) in enumerate(zip(advice, outcomes, strict=True)):
        before = learner.loss
        learner.learn_one(row, outcome)
        own.append(learner.loss - before)
        ours += np.where(missing[t], 0, own[-1])
        assert np.nanmin(losses[t]) - 1e-9 <= own[-1] <= np.nanmax(losses[t]) + 1e-9 or loss.convex, (
            "it lost more or less than every expert"
        )
    assert learner.rounds == len(outcomes), "rounds is not the number of rounds"
    expected = np.nansum(losses, axis=0)
    assert np.allclose(learner.expert_losses, expected), "expert_losses are not the sums of the experts' losses"
    assert np.allclose(learner.regrets, ours - expected), "regrets are not the learner's losses less the experts'"
    assert np.isclose(learner.regret, (ours - expected).max()), "regret is not the largest of the regrets"
    assert learner.awake_rounds.tolist() == (~missing).sum(axis=0).tolist(), "awake_rounds counts otherwise"
    assert learner.best_expert == int(np.argmax(learner.regrets)), "best_expert is another one"


def _forms(advice: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    """The same rounds as every kind of input that knows names."""
    rows = [{name: v for name, v in zip(names, row, strict=True) if np.all(np.equal(v, v))} for row in advice.tolist()]
    yield "dicts", rows
    yield "dicts with None", [{name: row.get(name) for name in names} for row in rows]
    if advice.ndim == 3:
        return
    try:
        import pandas
    except ImportError:
        return
    frame = pandas.DataFrame(advice, columns=names)
    yield "data frame", frame
    yield "data frame in another order", frame[names[::-1]]


def check_expert_forms(make: Make) -> None:
    """Arrays, lists, dicts and DataFrames of the same rounds teach the same."""
    names = ["a", "b", "c", "d"]
    learner = make(names)
    advice, outcomes = _rounds(learner, asleep=_asleep(learner))
    forecasts = learner.learn_many(advice, outcomes).tolist()
    lists = [[v if np.all(np.equal(v, v)) else None for v in row] for row in advice.tolist()]
    for kind, form in (("lists", lists), *_forms(advice, names)):
        other = make(names)
        assert other.learn_many(form, outcomes.tolist()).tolist() == forecasts, (
            f"{kind}: other forecasts than of an array"
        )
        assert same_value(other.state(), learner.state()), f"{kind} teach otherwise than an array"


def check_expert_names(make: Make) -> None:
    """Experts have the names they were given, and no others."""
    names = ["a", "b", "c", "d"]
    learner = make(names)
    assert learner.experts == tuple(names), "experts are not the names that were given"
    assert make(EXPERTS).experts == tuple(range(EXPERTS)), "experts without names are not their positions"
    advice, outcomes = _rounds(learner)
    row = dict(zip(names, advice[0].tolist(), strict=True))
    _refused(learner, "an unknown expert", "learn_one", {**row, "nobody": row["a"]}, outcomes[0])
    by_position = _learned(make)
    _refused(by_position, "names after positions", "learn_one", row, outcomes[0])


def check_expert_sleepers(make: Make) -> None:
    """An expert without advice sleeps, or is refused by an algorithm that says it knows no sleepers."""
    learner = _learned(make)
    advice, outcomes = _rounds(learner)
    row = advice[0].copy()
    row[1] = np.nan
    if not learner.sleeping:
        message = _refused(learner, "a sleeping expert", "learn_one", row, outcomes[0])
        assert "sleep" in message, f"a refusal that does not say why: {message}"
        return
    before = learner.regrets, learner.expert_losses, learner.awake_rounds
    learner.learn_one(row, outcomes[0])
    after = learner.regrets, learner.expert_losses, learner.awake_rounds
    assert all(a[1] == b[1] for a, b in zip(before, after, strict=True)), "a round was counted for a sleeper"
    assert after[2][0] == before[2][0] + 1, "a round was not counted for one who was awake"
    _refused(learner, "a round in which all sleep", "learn_one", np.full(row.shape, np.nan), outcomes[0])


def check_expert_bad_values(make: Make) -> None:
    """Infinities and what is not a number are refused, wherever they stand, before anything changes."""
    learner = _learned(make)
    advice, outcomes = _rounds(learner)
    for bad in (np.inf, -np.inf):
        spoiled = advice.copy()
        spoiled[-1, -1] = bad
        _refused(learner, f"the forecast {bad}", "learn_many", spoiled, outcomes)
        _refused(learner, f"the forecast {bad}", "predict_many", spoiled)
        _refused(learner, f"the forecast {bad}", "learn_one", spoiled[-1], outcomes[-1])
    for bad in (np.nan, np.inf):
        _refused(learner, f"the outcome {bad}", "learn_many", advice, [*outcomes[:-1], bad])
    values: list[Any] = [np.nan, np.inf, "1", None, [1.0]]
    for value in values:
        _refused(learner, f"the outcome {value!r}", "learn_one", advice[0], value)


def check_expert_bad_shapes(make: Make) -> None:
    """Wrong lengths, dimensions and kinds are refused before anything changes."""
    learner = _learned(make)
    advice, outcomes = _rounds(learner)
    many: list[Any] = [advice[:, :-1], advice[0], advice[np.newaxis], np.full(advice.shape, "a"), "abc", None, 1.0]
    for bad in many:
        _refused(learner, "advice of another shape", "learn_many", bad, outcomes)
        _refused(learner, "advice of another shape", "predict_many", bad)
    one: list[Any] = [advice[0, :-1], advice, "abc", None, 1.0]
    for bad in one:
        _refused(learner, "a round of another shape", "learn_one", bad, outcomes[0])
    _refused(learner, "too few outcomes", "learn_many", advice, outcomes[:-1])
    _refused(learner, "two columns of outcomes", "learn_many", advice, np.column_stack([outcomes, outcomes]))


def check_expert_empty_input(make: Make) -> None:
    """No rounds, no change."""
    learner = _learned(make)
    before = learner.state()
    nothing: list[Any] = [[], np.empty((0, EXPERTS))]
    for empty in nothing:
        assert len(learner.learn_many(empty, [])) == 0, "learning nothing forecast something"
        assert len(learner.predict_many(empty)) == 0, "predicting nothing forecast something"
    assert same_value(learner.state(), before), "learning nothing changed the learner"


def _check_twin(make: Make, twin_of: Callable[[Any], Any], what: str) -> None:
    for n_experts in (EXPERTS, ["a", "b", "c", "d"]):
        learner = make(n_experts)
        advice, outcomes = _rounds(learner, asleep=_asleep(learner))
        for learned in (False, True):
            if learned:
                learner.learn_many(advice, outcomes)
            twin = twin_of(learner)
            assert type(twin) is type(learner), f"{what}: the twin is of another class"
            assert twin == learner, f"{what}: the twin is not equal"
            assert twin.experts == learner.experts, f"{what}: the twin has other experts"
            assert (twin.rounds, twin.loss) == (learner.rounds, learner.loss), f"{what}: the twin has counted otherwise"
            before = learner.state()
            forecasts = twin.learn_many(advice, outcomes).tolist()
            assert same_value(learner.state(), before), f"{what}: the twin is not independent"
            assert twin != learner, f"{what}: learners in different states are equal"
            second = twin_of(learner)
            assert second.learn_many(advice, outcomes).tolist() == forecasts, f"{what}: twins forecast differently"
            assert second == twin, f"{what}: twins that learned the same differ"


def check_expert_late_outcomes(make: Make) -> None:
    """``serve_one`` and ``learn_late`` together are ``learn_one``; tickets are plain data, and go to this algorithm."""
    if not _late.offers_tickets(make(EXPERTS)) or make(EXPERTS).kinds:
        return
    for asleep in {0.0, _asleep(make(EXPERTS))}:
        advice, outcomes = _rounds(make(EXPERTS), asleep=asleep)
        results = outcomes.tolist()
        _late.check_at_once(partial(make, EXPERTS), "an array", list(advice), results)
        _late.check_many(partial(make, EXPERTS), "an array", advice, list(advice), results)
        names = [f"e{i}" for i in range(EXPERTS)]
        named = [dict(zip(names, row, strict=True)) for row in advice.tolist()]
        _late.check_at_once(partial(make, names), "names", named, results)
        _late.check_many(partial(make, names), "names", named, named, results)
    learner = _learned(make)
    _late.check_refusals(learner, advice[0], results[0])


def check_expert_copying(make: Make) -> None:
    """Copy, deepcopy and restore give independent, equal learners."""
    _twins.copied(partial(_check_twin, make))
    _twins.restored(_learned(make), lambda twin: twin.learn_many(*_rounds(twin)))


def check_expert_pickling(make: Make) -> None:
    """A pickled learner comes back equal."""
    _twins.pickled(partial(_check_twin, make))


def check_expert_saving(make: Make) -> None:
    """A saved learner comes back equal, and equal learners make equal files."""
    _twins.saved(partial(_check_twin, make), partial(_learned, make))


def check_expert_reproducible(make: Make) -> None:
    """Two fresh learners that learn the same are the same, draws and all."""
    first, second = make(EXPERTS), make(EXPERTS)
    assert first == second, "two fresh learners differ"
    advice, outcomes = _rounds(first)
    assert first.learn_many(advice, outcomes).tolist() == second.learn_many(advice, outcomes).tolist(), (
        "not reproducible: other forecasts"
    )
    assert first == second, "not reproducible"


def check_expert_constructor(make: Make) -> None:
    """Options are named, unknown ones refused, and ``parameters`` makes a fresh learner of the same kind."""
    learner = _learned(make)
    parameters = learner.parameters
    fresh = type(learner)(**parameters)
    assert same_value(fresh.parameters, parameters), "parameters do not make a learner with the same parameters"
    assert fresh.rounds == 0, "a learner made from parameters has already learned"
    declared = inspect.signature(type(learner)).parameters
    assert set(declared) == set(parameters), f"the signature names {set(declared)}, parameters {set(parameters)}"
    try:
        type(learner)(**parameters, no_such_option=1)
    except TypeError:
        return
    raise AssertionError("an unknown option was accepted")


def check_expert_theorems(make: Make) -> None:
    """An algorithm has theorems that hold on its own runs, or says why no bound is known."""
    learner = make(EXPERTS)
    if not learner.theorems:
        assert learner.no_theorem_because, "neither a theorem nor a word on why there is none"
        return
    for theorem in learner.theorems:
        assert isinstance(theorem, Theorem), f"{theorem!r} is not a Theorem"
        for part in ("name", "statement", "citation", "quantity"):
            assert getattr(theorem, part), f"{theorem!r} has no {part}"
    for rounds in (0, 1, 2, 60):
        learner = make(EXPERTS)
        learner.learn_many(*_rounds(learner, rounds))
        _check_certificate(learner, applies=True)
    # The outcome contradicts the forecast; then the one with the largest weight is wrong.
    contrary = make(EXPERTS)
    advice, outcomes = _rounds(contrary, 40)
    for row in advice:
        forecast = contrary.predict_one(row)
        if contrary.kinds:
            far = contrary.kinds[int(np.argmin(forecast[:2]))]
        else:
            far = outcomes[np.argmax(np.abs(outcomes - forecast))]
        contrary.learn_one(row, far)
    _check_certificate(contrary)
    if contrary.takes_losses:
        envied = make(EXPERTS)
        for _ in range(40):
            envied.observe((np.arange(EXPERTS) == np.argmax(envied.weights)).astype(np.float64))
        _check_certificate(envied)


def _check_certificate(learner: Any, applies: bool = False) -> None:
    certificate = learner.certificate()
    assert isinstance(certificate, Certificate), "certificate() gives something else"
    for each in (certificate, *certificate.others):
        assert each.verdict is not Verdict.VIOLATED, f"a theorem is violated:\n{each}"
        assert each.rounds == learner.rounds, "a certificate of another number of rounds"
    json.dumps(certificate.to_dict(), allow_nan=False)
    assert not applies or certificate.verdict is not Verdict.NOT_APPLICABLE or not learner.sleeping, (
        "no theorem applies to an ordinary run"
    )
