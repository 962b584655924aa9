"""The conformance suite of expert algorithms must fail where it should: each mutant breaks one promise."""

import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.errors import AfterwitError
from afterwit.storage import register
from afterwit.testing import check_expert_algorithm

# ---------------------------------------------------------------------- mutants


@register
class LearnsInBlocksOtherwise(aw.MLpol):
    def learn_many(self, advice, outcomes):
        forecasts = super().learn_many(advice, outcomes)
        return np.zeros_like(forecasts)


@register
class ForecastsAndLearns(aw.MLpol):
    def predict_one(self, advice):
        forecast = super().predict_one(advice)
        super().learn_one(advice, forecast)
        return forecast


@register
class ReturnsNoForecast(aw.MLpol):
    def learn_one(self, advice, outcome):
        super().learn_one(advice, outcome)


@register
class LooksAndForgets(aw.MLpol):
    @property
    def weights(self):
        self.restore({**self.state(), "loss": 0.0})
        return super().weights


@register
class SortsItsInputOfExperts(aw.MLpol):
    def learn_many(self, advice, outcomes):
        if isinstance(advice, np.ndarray) and advice.flags.writeable:
            advice.sort(axis=0)
        return super().learn_many(advice, outcomes)


@register
class WeighsTooMuch(aw.MLpol):
    @property
    def weights(self):
        return super().weights * 2


@register
class CountsTwice(aw.MLpol):
    @property
    def expert_losses(self):
        return super().expert_losses * 2


@register
class FlattersItself(aw.MLpol):
    @property
    def regrets(self):
        return super().regrets / 2

    @property
    def regret(self):
        return super().regret / 2


@register
class ForgetsNames(aw.MLpol):
    @property
    def experts(self):
        return tuple(range(len(super().experts)))


@register
class TakesNoneForNought(aw.MLpol):
    def learn_many(self, advice, outcomes):
        if isinstance(advice, list) and advice and isinstance(advice[0], dict):
            advice = [{name: value or 0.0 for name, value in row.items()} for row in advice]
        return super().learn_many(advice, outcomes)


@register
class SaysItHasNoSleepers(aw.MLpol):
    sleeping = False

    def _present(self, values, experts, parameter="advice"):
        return None


@register
class TakesAnyOutcome(aw.MLpol):
    def learn_one(self, advice, outcome):
        known = isinstance(outcome, float) and math.isfinite(outcome)
        return super().learn_one(advice, outcome if known else 0.0)


@register
class LearnsBeforeItChecksOfExperts(aw.MLpol):
    def learn_many(self, advice, outcomes):
        if isinstance(advice, np.ndarray) and advice.ndim == 2 and len(advice) > 1 and len(outcomes) > 1:
            first = [super().learn_one(advice[0], float(np.ravel(outcomes)[0]))]
            return np.append(first, super().learn_many(advice[1:], outcomes[1:]))
        return super().learn_many(advice, outcomes)


@register
class SharesItsCopyOfExperts(aw.MLpol):
    def __deepcopy__(self, memo):
        return self


@register
class PicklesEmptyOfExperts(aw.MLpol):
    def __reduce__(self):
        return (PicklesEmptyOfExperts, (4,), None)


@register
class RestoresHalf(aw.MLpol):
    def restore(self, state):
        super().restore({**state, "squares": state["squares"] / 2})


@register
class DrawsAnew(aw.MLpol):
    count = 0

    def learn_many(self, advice, outcomes):
        type(self).count += 1
        return super().learn_many(advice, outcomes) + type(self).count


@register
class SwallowsTyposOfExperts(aw.MLpol):
    def __init__(self, n_experts, loss="square", gradient=None, loss_range=None, seed=0, **typos):
        super().__init__(n_experts, loss, gradient, loss_range, seed)


@register
class HasNoTheoremOfExperts(aw.MLpol):
    theorems = ()


class TooGood(aw.Theorem):
    name = "too good to be true"
    statement = "regret <= 0"
    citation = "nobody"
    quantity = "regret"

    def certify(self, evidence):
        return aw.Certificate(
            self, evidence.subject, evidence.rounds, evidence.regret, -1e6 * (evidence.rounds > 0), ()
        )


@register
class PromisesTooMuch(aw.MLpol):
    theorems = (TooGood(),)


@register
class UntouchedOfExperts(aw.MLpol):
    pass


@register
class HonestOfExperts(aw.MLpol):
    theorems = ()
    no_theorem_because = "nobody has proved one"


MUTANTS = [
    LearnsInBlocksOtherwise,
    ForecastsAndLearns,
    ReturnsNoForecast,
    LooksAndForgets,
    SortsItsInputOfExperts,
    WeighsTooMuch,
    CountsTwice,
    FlattersItself,
    ForgetsNames,
    TakesNoneForNought,
    SaysItHasNoSleepers,
    TakesAnyOutcome,
    LearnsBeforeItChecksOfExperts,
    SharesItsCopyOfExperts,
    PicklesEmptyOfExperts,
    RestoresHalf,
    DrawsAnew,
    SwallowsTyposOfExperts,
    HasNoTheoremOfExperts,
    PromisesTooMuch,
]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant):
    with pytest.raises((AssertionError, AfterwitError, TypeError)):
        check_expert_algorithm(mutant)


def test_a_failure_names_the_check_and_the_seed():
    with pytest.raises(AssertionError, match=r"check_expert_theorems \(seed \d+\): neither a theorem nor a word"):
        check_expert_algorithm(HasNoTheoremOfExperts)
    with pytest.raises(AssertionError, match=r"check_expert_weights \(seed \d+\): the weights sum to 2"):
        check_expert_algorithm(WeighsTooMuch)


def test_an_algorithm_without_a_theorem_says_why_it_has_no_certificate():
    with pytest.raises(AfterwitError, match="HonestOfExperts has no certificate: nobody has proved one"):
        HonestOfExperts(2).certificate()


@pytest.mark.parametrize("kind", [UntouchedOfExperts, HonestOfExperts])
def test_the_suite_passes_what_breaks_no_promise(kind):
    check_expert_algorithm(kind)
