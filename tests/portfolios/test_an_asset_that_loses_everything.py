"""An asset that loses all its value: what the messages say to do works, and the bounds hold."""

import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.errors import InputError


def test_the_message_says_what_its_relative_is():
    with pytest.raises(InputError, match=r"relatives\['b'\] .*of an asset that lost all its value it is 1e-50"):
        aw.UniversalPortfolio(["a", "b"]).learn_one({"a": 1.0, "b": 0.0})


@pytest.mark.parametrize("samples", [None, 20])
def test_the_bound_of_the_universal_portfolio_is_met_nearly_with_equality(samples):
    rounds = np.array([[1.0, 1e-50]] * 30)
    learner = aw.UniversalPortfolio(2, samples=samples)
    learner.learn_many(rounds)
    certificate = learner.certificate(rounds)
    if samples is None:
        # The mean of b^30 over all portfolios is 1/31.
        assert certificate.bound == math.log(31)
        assert certificate.observed == pytest.approx(math.log(31), abs=1e-12)
    assert certificate.observed <= certificate.bound
    assert certificate.verdict.value == "holds"


def test_it_may_be_worth_nothing_from_then_on():
    rounds = np.array([[1.1, 0.9, 1e-50], [1.2, 1.0, 1.0], [0.9, 1.1, 1.0]])
    for learner in (aw.UniversalPortfolio(3), aw.ExponentiatedGradientPortfolio(3)):
        learner.learn_many(rounds)
        assert learner.wealth == pytest.approx(math.exp(learner.log_wealth))
        assert learner.certificate(rounds).verdict.value == "holds"
