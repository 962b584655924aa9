"""The conformance suite of regressors: what every regressor of this package does, and yours may too.

    from afterwit.testing import check_regressor
    check_regressor(MyRegressor)

``check_regressor`` raises an AssertionError that names the check. ``regressor_checks`` lists the checks one by one, for
a test runner that reports each: each is a function of one argument, a callable that makes a fresh regressor.
"""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate, Verdict
from afterwit.core.theorem import Theorem
from afterwit.data.values import same_value
from afterwit.errors import InputError
from afterwit.testing import late as _late
from afterwit.testing import twins as _twins
from afterwit.testing.examples import as_dicts, forms, numbers
from afterwit.testing.experts import SEED
from afterwit.testing.learners import (
    _refused,
    check_bad_values,
    check_constructor,
    check_empty_input,
    check_mixed_features,
    check_read_only_input,
    check_reproducible,
)

Make = Callable[..., Any]
Check = Callable[[Make], None]


def check_regressor(make: Make) -> None:
    """Run every check on a regressor class, or on any callable that makes a fresh regressor."""
    for check in regressor_checks():
        try:
            check(make)
        except AssertionError as error:
            raise AssertionError(f"{check.__name__} (seed {SEED}): {error}") from error


def regressor_checks() -> list[Check]:
    """The checks, in order."""
    return [
        check_one_is_many,
        check_predicting_changes_nothing,
        check_input_is_untouched,
        check_learn_returns_the_prediction,
        check_totals,
        check_new_and_vanishing_features,
        check_targets,
        check_bad_targets,
        check_bad_values,
        check_bad_shapes,
        check_mixed_features,
        check_empty_input,
        check_read_only_input,
        check_late_targets,
        check_copying,
        check_pickling,
        check_saving,
        check_reproducible,
        check_constructor,
        check_theorems,
    ]


def _examples(make: Make, rows: int = 60) -> tuple[Any, Any]:
    """Examples, and targets that some weights predict but for a little noise; not exact in binary."""
    X, _ = numbers(make, rows)
    random = np.random.default_rng(SEED)
    return X, np.round(X @ random.standard_normal(X.shape[1]) + 0.3 * random.standard_normal(rows) + 0.7, 3)


def _forms(make: Make) -> Iterator[tuple[str, Any, list[Any], Any]]:
    """The same examples as every kind of input: (kind, many, one by one, y)."""
    _, y = _examples(make)
    for kind, many, ones, labels in forms(make):
        targets: Any = y
        if kind == "data frame":
            targets = type(labels)(y)
        elif kind == "list of lists":
            targets = y.tolist()
        yield kind, many, ones, targets


def _learned(make: Make) -> Any:
    learner = make()
    learner.learn_many(*_examples(make))
    return learner


# ---------------------------------------------------------------------- checks


def check_one_is_many(make: Make) -> None:
    """``learn_many`` and ``predict_many`` are the loops of their one-example forms, bit for bit."""
    for kind, many, ones, y in _forms(make):
        at_once, one_by_one = make(), make()
        targets = np.asarray(y).tolist()
        predicted = at_once.learn_many(many, y)
        singly = [one_by_one.learn_one(x, target) for x, target in zip(ones, targets, strict=True)]
        assert same_value(at_once.state(), one_by_one.state()), f"{kind}: learn_many is not the loop of learn_one"
        assert predicted.dtype == np.float64, f"{kind}: learn_many does not give an array of float64"
        assert predicted.tolist() == singly, f"{kind}: learn_many predicts otherwise than learn_one"
        assert all(type(each) is float for each in singly), f"{kind}: learn_one does not give a float"
        half = len(targets) // 2
        in_parts = make()
        in_parts.learn_many(many[:half], y[:half])
        in_parts.learn_many(many[half:], y[half:])
        assert same_value(at_once.state(), in_parts.state()), f"{kind}: two halves are not the whole"
        predictions = at_once.predict_many(many)
        assert predictions.dtype == np.float64, f"{kind}: predict_many does not give an array of float64"
        assert predictions.tolist() == [at_once.predict_one(x) for x in ones], (
            f"{kind}: predict_many is not predict_one"
        )


def check_predicting_changes_nothing(make: Make) -> None:
    """Predicting has no side effect, not even for features never seen."""
    for kind, many, ones, y in _forms(make):
        learner = make()
        for trained in (False, True):
            if trained:
                learner.learn_many(many[:20], y[:20])
            before = learner.state()
            learner.predict_many(many)
            learner.predict_one(ones[-1])
            assert same_value(learner.state(), before), f"{kind}: predicting changed the learner"


def check_input_is_untouched(make: Make) -> None:
    """The caller's examples and targets are left exactly as they were."""
    for kind, many, ones, y in _forms(make):
        before = pickle.dumps((many, ones, y))
        learner = make()
        learner.learn_many(many, y)
        learner.learn_one(ones[0], 2.5)
        learner.predict_many(many)
        assert pickle.dumps((many, ones, y)) == before, f"{kind}: the input was changed"


def check_learn_returns_the_prediction(make: Make) -> None:
    """``learn_one`` returns what ``predict_one`` would have said just before."""
    for kind, _, ones, y in _forms(make):
        learner = make()
        for x, target in zip(ones, np.asarray(y).tolist(), strict=True):
            before = learner.predict_one(x)
            assert learner.learn_one(x, target) == before, f"{kind}: learn_one returned another prediction"


def check_totals(make: Make) -> None:
    """rounds, updates, loss and rmse count what happened; there are no mistakes."""
    X, y = _examples(make)
    learner = make()
    assert (learner.rounds, learner.updates, learner.loss, learner.rmse) == (0, 0, 0.0, 0.0), (
        "a fresh regressor has counted something"
    )
    predicted = learner.learn_many(X, y)
    assert learner.rounds == len(y), "rounds is not the number of examples"
    assert 0 <= learner.updates <= learner.rounds, "updates is not between 0 and rounds"
    squares = 0.0
    for error in (predicted - y).tolist():
        squares += error * error
    assert learner.rmse == math.sqrt(squares / len(y)), "rmse is not the root of the mean squared error"
    assert learner.loss >= 0, "the total loss is negative"
    try:
        count = learner.mistakes
    except NotImplementedError:
        count = None
    assert count is None, "a regressor has no mistakes"
    assert "RMSE" in repr(learner), "repr does not say the RMSE"


def check_new_and_vanishing_features(make: Make) -> None:
    """Features may appear and disappear: an absent feature is one whose value is 0, unless a learner says otherwise."""
    if not getattr(make(), "zero_is_absent", True):
        return
    X, y = _examples(make)
    full = [{f"f{j}": float(value) for j, value in enumerate(row)} for row in np.round(X * 8)]
    bare = [{name: value for name, value in row.items() if value != 0} for row in full]
    with_zeros, without = make(), make()
    predictions = [with_zeros.learn_one(x, target) for x, target in zip(full, y.tolist(), strict=True)]
    others = [without.learn_one(x, target) for x, target in zip(bare, y.tolist(), strict=True)]
    # The order of the sums is another.
    assert np.allclose(predictions, others, rtol=1e-6, atol=1e-9), (
        "a feature of value 0 is not the same as an absent one"
    )
    score = without.predict_one(bare[0])
    assert without.predict_one({**bare[0], "never seen": 0.0}) == score, (
        "an unseen feature of value 0 changed a prediction"
    )
    without.learn_one({"brand": 1.0, "new": 1.0}, 1)
    without.learn_one({}, 1)
    wide = make()
    wide.learn_many(X[:, :4], y)
    wide.learn_many(X, y)
    wide.learn_many(X[:, :2], y)
    assert wide.rounds == 3 * len(y), "wider and narrower arrays were not all learned"


def check_targets(make: Make) -> None:
    """Targets of every kind of number are the same targets."""
    X, _ = _examples(make)
    y = np.arange(len(X)) % 7 - 3
    expected = make()
    expected.learn_many(X, y.astype(np.float64))
    for targets in (y, y.tolist(), y.astype(np.float32), y.astype(np.int8), list(y), y.astype(object)):
        learner = make()
        learner.learn_many(X, targets)
        assert learner == expected, f"targets as {type(targets).__name__} were learned differently"
    one_by_one = make()
    for x, target in zip(X, y, strict=True):
        one_by_one.learn_one(x, target)
    assert one_by_one == expected, "numpy's numbers were learned differently"


def check_bad_targets(make: Make) -> None:
    """What is not a finite number is refused before anything changes."""
    X, y = _examples(make)
    learner = _learned(make)
    strangers: list[Any] = [True, np.False_, "1", None, float("nan"), float("inf"), 10**400, [1.0], 1j]
    for bad in strangers:
        _refused(learner, f"the target {bad!r}", "learn_one", X[0], bad)
        _refused(learner, f"the target {bad!r}", "learn_many", X, [*y.tolist()[:-1], bad])
    for array in (y > 0, np.where(y > 0, np.nan, y), np.full(len(y), "a")):
        _refused(learner, f"targets of dtype {array.dtype}", "learn_many", X, array)
    message = ""
    try:
        learner.learn_many(X, [*y.tolist()[:-1], None])
    except InputError as error:
        message = str(error)
    assert f"y[{len(y) - 1}]" in message, f"the message does not say where the bad target is: {message}"


def check_bad_shapes(make: Make) -> None:
    """Wrong lengths, dimensions and kinds are refused before anything changes."""
    X, y = _examples(make)
    learner = _learned(make)
    _refused(learner, "too few targets", "learn_many", X, y[:-1])
    _refused(learner, "two columns of targets", "learn_many", X, np.column_stack([y, y]))
    _refused(learner, "one row as many", "learn_many", X[0], y[:1])
    _refused(learner, "three dimensions", "learn_many", X[None], y)
    _refused(learner, "an array of strings", "learn_many", np.full(X.shape, "a"), y)
    _refused(learner, "a string", "learn_many", "abc", [1, 1, 1])
    _refused(learner, "None", "learn_many", None, [1])
    _refused(learner, "many rows as one", "learn_one", X, 1)
    _refused(learner, "a string", "learn_one", "abc", 1)
    _refused(learner, "None", "learn_one", None, 1)
    _refused(learner, "a number", "learn_one", 1.0, 1)


def check_late_targets(make: Make) -> None:
    """``serve_one`` and ``learn_late`` together are ``learn_one``; tickets are plain data, and go to this learner."""
    if not _late.offers_tickets(make()):
        return
    for kind, many, ones, y in _forms(make):
        targets = np.asarray(y).tolist()
        _late.check_at_once(make, kind, ones, targets)
        _late.check_many(make, kind, many, ones, targets)
    X, y = _examples(make)
    _late.check_refusals(_learned(make), X[0], y.tolist()[0])


def _check_twin(make: Make, twin_of: Callable[[Any], Any], what: str) -> None:
    X, y = _examples(make)
    for examples in (X, as_dicts(X)):
        learner = make()
        for learned in (False, True):
            if learned:
                learner.learn_many(examples, y)
            twin = twin_of(learner)
            assert twin == learner, f"{what}: the twin is not equal"
            assert type(twin) is type(learner), f"{what}: the twin is of another class"
            for counter in ("rounds", "updates", "loss", "rmse"):
                assert getattr(twin, counter) == getattr(learner, counter), f"{what}: the twin counts other {counter}"
            before = learner.state()
            twin.learn_many(examples, y)
            assert same_value(learner.state(), before), f"{what}: the twin is not independent"
            assert twin != learner, f"{what}: regressors in different states are equal"
            learner_too = twin_of(learner)
            learner_too.learn_many(examples, y)
            assert learner_too == twin, f"{what}: twins that learned the same differ"


def check_copying(make: Make) -> None:
    """Copy, deepcopy and restore give independent, equal regressors."""
    _twins.copied(partial(_check_twin, make))
    _twins.restored(_learned(make), lambda twin: twin.learn_many(*_examples(make)))


def check_pickling(make: Make) -> None:
    """A pickled regressor comes back equal."""
    _twins.pickled(partial(_check_twin, make))


def check_saving(make: Make) -> None:
    """A saved regressor comes back equal, and equal regressors make equal files."""
    _twins.saved(partial(_check_twin, make), partial(_learned, make))


def check_theorems(make: Make) -> None:
    """A regressor has theorems that hold on its own runs, or says why no bound is known."""
    learner = make()
    if not learner.theorems:
        assert learner.no_theorem_because, "neither a theorem nor a word on why there is none"
        return
    for theorem in learner.theorems:
        assert isinstance(theorem, Theorem), f"{theorem!r} is not a Theorem"
        for part in ("name", "statement", "citation", "quantity"):
            assert getattr(theorem, part), f"{theorem!r} has no {part}"
    X, y = _examples(make)
    learner = _learned(make)
    certificate = learner.certificate(X, y)
    assert isinstance(certificate, Certificate), "certificate() gives something else"
    for each in (certificate, *certificate.others):
        assert each.verdict is not Verdict.VIOLATED, f"a theorem is violated:\n{each}"
    json.dumps(certificate.to_dict(), allow_nan=False)
    assert certificate.verdict is Verdict.HOLDS, "no theorem applies to an ordinary run"
    other = learner.certificate(X[:-1], y[:-1])
    assert other.verdict is Verdict.NOT_APPLICABLE, "a certificate was given for rounds that were not played"
