"""The conformance suite of the learner contract: what every learner of this package does, and yours may too.

    from afterwit.testing import check_learner
    check_learner(MyLearner)

``check_learner`` raises an AssertionError that names the check. ``learner_checks`` lists the checks one by one, for
a test runner that reports each: each is a function of one argument, a callable that makes a fresh learner.

``check_expert_algorithm`` and ``expert_checks`` are the same for algorithms that follow expert advice; what makes one
is called with the number of experts, or their names.
"""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate, Verdict
from afterwit.core.theorem import Theorem
from afterwit.data.values import same_value
from afterwit.errors import InputError, LabelError
from afterwit.testing import late as _late
from afterwit.testing import twins as _twins
from afterwit.testing.examples import as_dicts, forms, numbers, separable, takes_of
from afterwit.testing.experts import SEED

Make = Callable[..., Any]
Check = Callable[[Make], None]


def check_learner(make: Make) -> None:
    """Run every check on a learner class (or any callable that makes a fresh learner and takes ``labels``).

    Unless told otherwise the labels must be -1 and +1: ``check_learner(partial(OneVsRest, labels=(-1, 1)))``. A learner
    whose examples are not any numbers says so: ``takes`` is "booleans" (0 and 1) or "points" (of its ``hypotheses``).
    """
    for check in learner_checks():
        try:
            check(make)
        except AssertionError as error:
            raise AssertionError(f"{check.__name__} (seed {SEED}): {error}") from error


def learner_checks() -> list[Check]:
    """The checks, in order."""
    return [
        check_one_is_many,
        check_predicting_changes_nothing,
        check_input_is_untouched,
        check_learn_returns_the_prediction,
        check_counters,
        check_new_and_vanishing_features,
        check_labels,
        check_bad_labels,
        check_bad_values,
        check_bad_shapes,
        check_mixed_features,
        check_empty_input,
        check_read_only_input,
        check_late_labels,
        check_copying,
        check_pickling,
        check_saving,
        check_reproducible,
        check_constructor,
        check_theorems,
    ]


# ---------------------------------------------------------------------- what the checks share


def _refused(learner: Any, what: str, method: str, *arguments: Any, kind: type[Exception] = InputError) -> None:
    """The method must raise a clear error and leave the learner as it was."""
    before = learner.state()
    try:
        getattr(learner, method)(*arguments)
    except kind as error:
        message = str(error)
    else:
        raise AssertionError(f"{what} was accepted")
    assert "must be" in message, f"{what}: the message says nothing of what is allowed: {message}"
    assert same_value(learner.state(), before), f"{what} was refused, but only after it had changed the learner"


def _many_labels(learner: Any) -> bool:
    """Whether a learner knows more than two labels."""
    return getattr(learner, "many_labels", False)


def _plain_score(score: Any) -> Any:
    """A learner of many labels gives a score for each; many rows of scores are an array."""
    return list(score.values()) if isinstance(score, dict) else score


def _learned(make: Make, **options: Any) -> Any:
    learner = make(**options)
    X, y = numbers(make)
    learner.learn_many(X, y)
    return learner


# ---------------------------------------------------------------------- checks


def check_one_is_many(make: Make) -> None:
    """``learn_many``, ``predict_many`` and ``score_many`` are the loops of their one-example forms, bit for bit."""
    for kind, many, ones, y in forms(make):
        at_once, one_by_one = make(), make()
        labels = np.asarray(y).tolist()
        predicted = at_once.learn_many(many, y)
        singly = [one_by_one.learn_one(x, label) for x, label in zip(ones, labels, strict=True)]
        assert same_value(at_once.state(), one_by_one.state()), f"{kind}: learn_many is not the loop of learn_one"
        assert predicted.tolist() == singly, f"{kind}: learn_many predicts otherwise than learn_one"
        half = len(labels) // 2
        in_parts = make()
        in_parts.learn_many(many[:half], y[:half])
        in_parts.learn_many(many[half:], y[half:])
        assert same_value(at_once.state(), in_parts.state()), f"{kind}: two halves are not the whole"
        scores = at_once.score_many(many)
        assert scores.tolist() == [_plain_score(at_once.score_one(x)) for x in ones], (
            f"{kind}: score_many is not score_one"
        )
        predictions = at_once.predict_many(many).tolist()
        assert predictions == [at_once.predict_one(x) for x in ones], f"{kind}: predict_many is not predict_one"


def check_predicting_changes_nothing(make: Make) -> None:
    """Predicting and scoring have no side effect, not even for features never seen."""
    for kind, many, ones, y in forms(make):
        learner = make()
        for trained in (False, True):
            if trained:
                learner.learn_many(many[:20], y[:20])
            before = learner.state()
            learner.predict_many(many)
            learner.score_many(many)
            learner.predict_one(ones[-1])
            learner.score_one(ones[-1])
            assert same_value(learner.state(), before), f"{kind}: predicting changed the learner"


def check_input_is_untouched(make: Make) -> None:
    """The caller's examples and labels are left exactly as they were."""
    for kind, many, ones, y in forms(make):
        before = pickle.dumps((many, ones, y))
        learner = make()
        learner.learn_many(many, y)
        learner.learn_one(ones[0], int(np.asarray(y)[0]))
        learner.predict_many(many)
        assert pickle.dumps((many, ones, y)) == before, f"{kind}: the input was changed"


def check_learn_returns_the_prediction(make: Make) -> None:
    """``learn_one`` returns what ``predict_one`` would have said just before."""
    for kind, _, ones, y in forms(make):
        learner = make()
        for x, label in zip(ones, np.asarray(y).tolist(), strict=True):
            before = learner.predict_one(x)
            assert learner.learn_one(x, label) == before, f"{kind}: learn_one returned another prediction"


def check_counters(make: Make) -> None:
    """rounds, mistakes and updates count what happened."""
    X, y = numbers(make)
    learner = make()
    assert (learner.rounds, learner.mistakes, learner.updates) == (0, 0, 0), "a fresh learner has counted something"
    predicted = learner.learn_many(X, y)
    assert learner.rounds == len(y), "rounds is not the number of examples"
    assert learner.mistakes == np.count_nonzero(predicted != y), "mistakes is not the number of wrong predictions"
    assert 0 <= learner.updates <= learner.rounds, "updates is not between 0 and rounds"


def check_new_and_vanishing_features(make: Make) -> None:
    """Features may appear and disappear: an absent feature is one whose value is 0, unless a learner says otherwise."""
    if (takes := takes_of(make)) == "points" or not getattr(make(), "zero_is_absent", True):
        return
    X, y = numbers(make)
    whole = X if takes == "booleans" else np.round(X * 8)
    full = [{f"f{j}": float(value) for j, value in enumerate(row)} for row in whole]
    bare = [{name: value for name, value in row.items() if value != 0} for row in full]
    with_zeros, without = make(), make()
    predictions = [with_zeros.learn_one(x, label) for x, label in zip(full, y.tolist(), strict=True)]
    assert predictions == [without.learn_one(x, label) for x, label in zip(bare, y.tolist(), strict=True)], (
        "a feature of value 0 is not the same as an absent one"
    )
    score = without.score_one(bare[0])
    assert without.score_one({**bare[0], "never seen": 0.0}) == score, "an unseen feature of value 0 changed a score"
    without.learn_one({"brand": 1.0, "new": 1.0}, 1)
    without.learn_one({}, 1)
    wide = make()
    wide.learn_many(X[:, :4], y)
    wide.learn_many(X, y)
    wide.learn_many(X[:, :2], y)
    assert wide.rounds == 3 * len(y), "wider and narrower arrays were not all learned"


def check_labels(make: Make) -> None:
    """Any two labels work alike."""
    X, y = numbers(make)
    plain = make()
    expected = plain.learn_many(X, y)
    for labels in ((0, 1), (False, True), ("ham", "spam"), (1, 2), (None, "x"), ((0, "a"), (1, "b"))):
        named = [labels[1] if sign > 0 else labels[0] for sign in y]
        learner = make(labels=labels)
        predicted = learner.learn_many(X, named)
        assert (np.array([label == labels[1] for label in predicted]) == (expected > 0)).all(), f"labels {labels}"
        assert learner.predict_one(X[0]) in labels, f"labels {labels}: predict_one gives another kind of label"
        state, other = learner.state(), plain.state()
        assert same_value(state, other), f"labels {labels} lead to another state than -1 and +1"


def check_bad_labels(make: Make) -> None:
    """A label that is not one of the two is refused before anything changes."""
    X, y = numbers(make)
    learner = _learned(make)
    strangers: list[Any] = [0, 2, "1", None, float("nan"), [1]]
    for bad in strangers:
        _refused(learner, f"the label {bad!r}", "learn_one", X[0], bad, kind=LabelError)
        labels = [*y.tolist()[:-1], bad]
        _refused(learner, f"the label {bad!r}", "learn_many", X, labels, kind=LabelError)
    pairs: list[Any] = [(1, 1), (1,), "ab", 5] if _many_labels(learner) else [(1, 1), (1,), (1, 2, 3), "ab", 5]
    for pair in pairs:
        try:
            make(labels=pair)
        except InputError:
            continue
        raise AssertionError(f"labels={pair!r} was accepted")


def check_bad_values(make: Make) -> None:
    """NaN, infinity and what is not a number are refused, wherever they stand, before anything changes."""
    from scipy.sparse import csr_array

    X, y = numbers(make)
    if (takes := takes_of(make)) == "points":
        _check_strange_points(make)
        return
    for bad in (float("nan"), float("inf"), float("-inf"), *((0.5, 2.0, -1.0) if takes == "booleans" else ())):
        spoiled = X.copy()
        spoiled[-1, -1] = bad
        for width in (X.shape[1], 3 * X.size):
            # Many values for few weights and few for many: the engine guards the two differently.
            learner = make()
            learner.learn_many(np.hstack([X, np.zeros((len(X), width - X.shape[1]))]), y)
            for form in (spoiled, csr_array(spoiled)):
                what = f"{bad} in a {type(form).__name__}"
                _refused(learner, what, "learn_many", form, y)
                _refused(learner, what, "predict_many", form)
            _refused(learner, f"{bad} in one array", "learn_one", spoiled[-1], 1)
        fresh = make()
        _refused(fresh, f"{bad} in a first array", "learn_many", spoiled, y)
    named = make()
    named.learn_many(as_dicts(X), y)
    values: list[Any] = [float("nan"), float("inf"), "3", None, [1.0], 1j]
    for value in values:
        _refused(named, f"the value {value!r}", "learn_one", {"f0": 1.0, "new": value}, 1)
        _refused(named, f"the value {value!r}", "predict_one", {"f0": 1.0, "new": value})
        _refused(named, f"the value {value!r}", "learn_many", [{"f0": 1.0}, {"new": value}], [1, 1])


def _check_strange_points(make: Make) -> None:
    """What is no point of the class is refused, wherever it stands."""
    X, y = numbers(make)
    learner = _learned(make)
    strangers: list[Any] = ["no such point", None, float("nan"), -1e300, (), [[1]], object(), {"f0": 1.0}]
    for stranger in strangers:
        _refused(learner, f"the point {stranger!r}", "learn_one", stranger, 1)
        _refused(learner, f"the point {stranger!r}", "predict_one", stranger)
        _refused(learner, f"the point {stranger!r}", "learn_many", [*X[:-1], stranger], y)
        _refused(learner, f"the point {stranger!r}", "score_many", [stranger])


def check_bad_shapes(make: Make) -> None:
    """Wrong lengths, dimensions and kinds are refused before anything changes."""
    X, y = numbers(make)
    learner = _learned(make)
    _refused(learner, "too few labels", "learn_many", X, y[:-1])
    _refused(learner, "two columns of labels", "learn_many", X, np.column_stack([y, y]))
    if takes_of(make) == "points":
        _refused(learner, "one point as many", "learn_many", 0, [1])
        _refused(learner, "a string", "learn_many", "abc", [1, 1, 1])
        _refused(learner, "None", "learn_many", None, [1])
        return
    _refused(learner, "one row as many", "learn_many", X[0], y[:1])
    _refused(learner, "three dimensions", "learn_many", X[None], y)
    _refused(learner, "an array of strings", "learn_many", np.full(X.shape, "a"), y)
    _refused(learner, "a string", "learn_many", "abc", [1, 1, 1])
    _refused(learner, "None", "learn_many", None, [1])
    _refused(learner, "many rows as one", "learn_one", X, 1)
    _refused(learner, "a string", "learn_one", "abc", 1)
    _refused(learner, "None", "learn_one", None, 1)
    _refused(learner, "a number", "learn_one", 1.0, 1)


def check_mixed_features(make: Make) -> None:
    """Features by name and features by position do not mix."""
    if takes_of(make) == "points":
        return
    X, y = numbers(make)
    by_position = _learned(make)
    _refused(by_position, "a dict after arrays", "learn_one", {"f0": 1.0}, 1)
    _refused(by_position, "dicts after arrays", "predict_many", as_dicts(X))
    by_name = make()
    by_name.learn_many(as_dicts(X), y)
    _refused(by_name, "arrays after dicts", "learn_many", X, y)
    _refused(by_name, "an array after dicts", "predict_one", X[0])


def check_empty_input(make: Make) -> None:
    """No rows, no change; a row without features is a row."""
    learner = _learned(make)
    before = learner.state()
    nothing: list[Any] = [np.empty((0, 9)), []]
    for empty in nothing:
        assert len(learner.learn_many(empty, [])) == 0, "learning nothing predicted something"
        assert len(learner.predict_many(empty)) == 0, "predicting nothing predicted something"
    assert same_value(learner.state(), before), "learning nothing changed the learner"
    if takes_of(make) == "points":
        return
    fresh = make()
    fresh.predict_one({})
    fresh.learn_one({}, 1)
    assert fresh.rounds == 1, "a row without features was not counted"


def check_read_only_input(make: Make) -> None:
    """Arrays that may not be written to are learned like any others."""
    from scipy.sparse import csr_array

    X, y = numbers(make)
    if takes_of(make) == "points":
        return
    expected = _learned(make).state()
    X.setflags(write=False)
    y.setflags(write=False)
    learner = make()
    learner.learn_many(X, y)
    assert same_value(learner.state(), expected), "a read-only array was learned differently"
    sparse = csr_array(X)
    for part in (sparse.data, sparse.indices, sparse.indptr):
        part.setflags(write=False)
    make().learn_many(sparse, y)


def check_late_labels(make: Make) -> None:
    """``serve_one`` and ``learn_late`` together are ``learn_one``; tickets are plain data, and go to this learner."""
    if not _late.offers_tickets(make()):
        return
    for kind, many, ones, y in forms(make):
        labels = np.asarray(y).tolist()
        _late.check_at_once(make, kind, ones, labels)
        _late.check_many(make, kind, many, ones, labels)
    X, y = numbers(make)
    _late.check_refusals(_learned(make), X[0], y.tolist()[0])


def _check_twin(make: Make, twin_of: Callable[[Any], Any], what: str) -> None:
    X, y = numbers(make)
    for examples in (X,) if takes_of(make) == "points" else (X, as_dicts(X)):
        learner = make(labels=("no", "yes"))
        answers = np.where(y > 0, "yes", "no").tolist()
        for learned in (False, True):
            if learned:
                learner.learn_many(examples, answers)
            twin = twin_of(learner)
            assert twin == learner, f"{what}: the twin is not equal"
            assert type(twin) is type(learner), f"{what}: the twin is of another class"
            assert twin.labels == learner.labels, f"{what}: the twin has other labels"
            for counter in ("rounds", "mistakes", "updates"):
                assert getattr(twin, counter) == getattr(learner, counter), f"{what}: the twin counts other {counter}"
            before = learner.state()
            twin.learn_many(examples, answers)
            assert same_value(learner.state(), before), f"{what}: the twin is not independent"
            assert twin != learner, f"{what}: learners in different states are equal"
            learner_too = twin_of(learner)
            learner_too.learn_many(examples, answers)
            assert learner_too == twin, f"{what}: twins that learned the same differ"


def check_copying(make: Make) -> None:
    """Copy, deepcopy and restore give independent, equal learners."""
    _twins.copied(partial(_check_twin, make))
    _twins.restored(_learned(make), lambda twin: twin.learn_many(*numbers(make)))


def check_pickling(make: Make) -> None:
    """A pickled learner comes back equal."""
    _twins.pickled(partial(_check_twin, make))


def check_saving(make: Make) -> None:
    """A saved learner comes back equal, and equal learners make equal files."""
    _twins.saved(partial(_check_twin, make), partial(_learned, make))


def check_reproducible(make: Make) -> None:
    """Two fresh learners that learn the same are the same."""
    for kind, many, _, y in forms(make):
        first, second = make(), make()
        assert first.learn_many(many, y).tolist() == second.learn_many(many, y).tolist(), f"{kind}: not reproducible"
        assert first == second, f"{kind}: not reproducible"


def check_constructor(make: Make) -> None:
    """Options are named, unknown ones refused, and ``parameters`` makes a fresh learner of the same kind."""
    learner = _learned(make)
    parameters = learner.parameters
    fresh = type(learner)(**parameters)
    assert same_value(fresh.parameters, parameters), "parameters do not make a learner with the same parameters"
    assert fresh.rounds == 0, "a learner made from parameters has already learned"
    declared = inspect.signature(type(learner)).parameters
    assert set(declared) == set(parameters), f"the signature names {set(declared)}, parameters {set(parameters)}"
    defaults = {name: parameter.default for name, parameter in declared.items()}
    if inspect.Parameter.empty not in defaults.values():
        assert same_value(type(learner)().parameters, defaults), "the signature shows other defaults than are used"
    try:
        make(no_such_option=1)
    except TypeError:
        return
    raise AssertionError("an unknown option was accepted")


def check_theorems(make: Make) -> None:
    """A learner has theorems that hold on its own runs, or says why no bound is known."""
    learner = make()
    if not learner.theorems:
        assert learner.no_theorem_because, "neither a theorem nor a word on why there is none"
        return
    for theorem in learner.theorems:
        assert isinstance(theorem, Theorem), f"{theorem!r} is not a Theorem"
        for part in ("name", "statement", "citation", "quantity"):
            assert getattr(theorem, part), f"{theorem!r} has no {part}"
    applicable = False
    for X, y in (numbers(make), separable(make)):
        learner = make()
        learner.learn_many(X, y)
        certificate = learner.certificate(X, y)
        assert isinstance(certificate, Certificate), "certificate() gives something else"
        for each in (certificate, *certificate.others):
            assert each.verdict is not Verdict.VIOLATED, f"a theorem is violated:\n{each}"
        json.dumps(certificate.to_dict(), allow_nan=False)
        applicable |= certificate.verdict is Verdict.HOLDS
        other = learner.certificate(X[:-1], y[:-1])
        assert other.verdict is Verdict.NOT_APPLICABLE, "a certificate was given for rounds that were not played"
    assert applicable, "no theorem applies to an ordinary run, nor to a separable one"
