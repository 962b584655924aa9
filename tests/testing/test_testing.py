"""The conformance suite must fail where it should: each mutant breaks one promise."""

import numpy as np
import pytest

import afterwit as aw
from afterwit.errors import AfterwitError
from afterwit.storage import register
from afterwit.testing import check_learner


@register
class ForgetsToCount(aw.Perceptron):
    def learn_many(self, X, y):
        twin = aw.Perceptron(**self.parameters)
        twin.restore(self.state())
        return twin.learn_many(X, y)


@register
class PredictsAndLearns(aw.Perceptron):
    def predict_one(self, x):
        prediction = super().predict_one(x)
        super().learn_one(x, prediction)
        return prediction


@register
class ReturnsNothing(aw.Perceptron):
    def learn_one(self, x, y):
        super().learn_one(x, y)


@register
class SortsItsInput(aw.Perceptron):
    def learn_many(self, X, y):
        if isinstance(X, np.ndarray):
            X.sort(axis=0)
        return super().learn_many(X, y)


@register
class AcceptsAnyLabel(aw.Perceptron):
    def learn_one(self, x, y):
        return super().learn_one(x, 1 if y in (1, True, "yes", "spam", 2) else -1)


@register
class LearnsBeforeItChecks(aw.Perceptron):
    def learn_many(self, X, y):
        if (
            len(y) == len(X if isinstance(X, (list, np.ndarray)) else y) > 0
            and isinstance(X, np.ndarray)
            and X.ndim == 2
        ):
            super().learn_one(X[0], int(y[0]))
            return np.append(y[:1], super().learn_many(X[1:], y[1:]))
        return super().learn_many(X, y)


@register
class SharesItsCopy(aw.Perceptron):
    def __deepcopy__(self, memo):
        return self


@register
class PicklesEmpty(aw.Perceptron):
    def __reduce__(self):
        return (PicklesEmpty, (), None)


@register
class SavesAnother(aw.Perceptron):
    def state(self):
        return {**super().state(), "rounds": 10**6}


@register
class SwallowsTypos(aw.Perceptron):
    def __init__(self, rate=1.0, start=None, labels=(-1, 1), **typos):
        super().__init__(rate, start, labels)


@register
class HasNoTheorem(aw.Perceptron):
    theorems = ()


@register
class Untouched(aw.Perceptron):
    pass


@register
class Honest(aw.Perceptron):
    theorems = ()
    no_theorem_because = "nobody has proved one"


@register
class UpdatesWrongly(aw.Perceptron):
    """Adds twice what it should, which only a theorem's checker can see from outside."""

    def learn_many(self, X, y):
        predictions = super().learn_many(X, y)
        state = self.state()
        state["weights"] = state["weights"] * 2
        self.restore(state)
        return predictions


MUTANTS = [
    ForgetsToCount,
    PredictsAndLearns,
    ReturnsNothing,
    SortsItsInput,
    AcceptsAnyLabel,
    LearnsBeforeItChecks,
    SharesItsCopy,
    PicklesEmpty,
    SavesAnother,
    SwallowsTypos,
    HasNoTheorem,
    UpdatesWrongly,
]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant):
    with pytest.raises((AssertionError, AfterwitError, TypeError)):
        check_learner(mutant)


def test_a_failure_names_the_check_and_the_seed():
    with pytest.raises(AssertionError, match=r"check_theorems \(seed \d+\): neither a theorem nor a word"):
        check_learner(HasNoTheorem)


def test_a_learner_that_says_why_there_is_no_bound_passes():
    check_learner(Honest)


def test_the_suite_passes_an_untouched_subclass():
    check_learner(Untouched)
