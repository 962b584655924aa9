"""Every learner in the registry keeps the contract of its role, in one or more settings."""

from functools import partial

import html5lib
import pytest

import afterwit as aw
from afterwit import concepts
from afterwit.core.registry import classes
from afterwit.testing import expert_checks, learner_checks, regressor_checks

# Interpreted, three members are enough of a committee: the rows are as long as for all.
MEMBERS = {} if aw.compiled else {"learners": ["adagrad", "perceptron", "repeat-last-label"]}

#: The settings of a learner that has others worth a run than its defaults, or that needs options.
CLASSIFIERS = {
    "AdaGrad": (
        {},
        {"loss": "hinge", "rate": 0.5, "delta": 0, "box": 0.3},
        {"loss": "squared", "delta": 1.0},
        {"loss": "perceptron", "box": 1.0},
    ),
    "Committee": (MEMBERS,),
    "GeneralizedHalving": ({"hypotheses": concepts.monotone_disjunctions(5)},),
    "Halving": ({"hypotheses": concepts.monotone_disjunctions(4)},),
    "MarginPerceptron": ({}, {"margin": 0.02}),
    "PassiveAggressive": ({}, {"C": 0.1}),
    # Unless they are named, other labels than those of the suite might come.
    "AveragedMulticlassPerceptron": ({"labels": (-1, 1)}, {"labels": (-1, 1), "intercept": True}),
    "MulticlassPerceptron": ({"labels": (-1, 1)}, {"labels": (-1, 1), "intercept": True}),
    "MulticlassCommittee": ({"labels": (-1, 1), "learners": ["multiclass-perceptron", "nearest-neighbours", "sgd"]},),
    "MulticlassStandardize": ({"labels": (-1, 1)},),
    "NearestNeighbours": ({"labels": (-1, 1)}, {"labels": (-1, 1), "neighbours": 1, "window": 7}),
    "OneVsRest": ({"labels": (-1, 1)},),
    "SoftmaxAdaGrad": ({"labels": (-1, 1)}, {"labels": (-1, 1), "rate": 2.0, "delta": 0, "intercept": False}),
    "NormalizedAdaGrad": ({}, {"loss": "hinge", "rate": 0.1}, {"loss": "squared"}, {"invariant": True}),
    "OnlineSVM": ({}, {"C": 0.5, "rate": 0.3}),
    "SGD": (
        {},
        {"loss": "hinge", "rate": 0.5, "schedule": "1/sqrt(t)", "ball": 3.0},
        {"loss": "squared", "rate": 0.05, "ball": 0.5},
        {"loss": "perceptron", "rate": 1.0},
    ),
    "SelectivePerceptron": ({}, {"b": 20.0, "seed": 5}),
    "SoftThresholdNetwork": ({}, {"gates": (3, 2)}),
    "StandardOptimalAlgorithm": ({"hypotheses": concepts.intervals([1.5, 2.5, 3, 4, 5])},),
    # Wide enough for the widest examples of the suite, and narrow enough for something to happen.
    "WinnowDisjunction": ({"n_variables": 1620},),
}
REGRESSORS = {
    "AdaGradRegressor": ({}, {"loss": "absolute", "rate": 0.5, "delta": 0, "box": 0.3}, {"loss": "huber(0.5)"}),
    "ConformalIntervals": (
        {"window": 20},
        {"forecaster": "online-ridge", "method": "tracking", "rate": 0.1, "coverage": 0.5},
        {"forecaster": "repeat-last-target", "method": "tracking", "largest": 3.0},
    ),
    "NormalizedAdaGradRegressor": ({}, {"loss": "pinball(0.9)", "intercept": False}),
    "OnlineRidge": ({}, {"penalty": 0.01, "intercept": False}, {"most_features": 2}),
    "RegressionCommittee": ({}, {"learners": ["online-ridge", "repeat-last-target"], "weighting": "boa"}),
    "ScaleFreeRegressor": ({}, {"loss": "pinball(0.1)"}, {"loss": "huber(0.5)", "epsilon": 0.1}),
    "SGDRegressor": ({}, {"loss": "absolute", "schedule": "1/sqrt(t)", "ball": 0.5}),
}
EXPERTS = {
    "AggregatingAlgorithm": ({}, {"loss": "log", "outcomes": ("a", "b", "c")}, {"loss": "square"}),
    "RandomizedWeightedMajority": ({"beta": 0.6}, {"horizon": 60}),
    "SecondOrderWeights": ({"beta": 0.6}, {"horizon": 60, "loss": "square"}),
    "FixedShare": ({"share": 0.1, "rate": 1.0}, {"horizon": 60, "shifts": 3}, {}, {"loss": "log", "shifts": 2}),
    "ExponentialWeights": ({}, {"loss": "log"}, {"loss": "zero-one", "seed": 3}),
    "AdaHedge": ({}, {"gradient": False, "loss": "percentage"}),
    "BOA": ({}, {"loss": "pinball(0.2)"}),
    "MLpol": (
        {},
        {"loss": "absolute", "gradient": False},
        {"discount": 0.9},
        {"loss": "brier", "outcomes": 3},
    ),
}


def over_exponential_weights(n_experts, **options):
    return aw.SwapRegret(aw.ExponentialWeights(n_experts, **options))


def settings(role, table):
    """Each learner of a role in each of its settings: what makes a fresh one."""
    for name, kind in classes(role).items():
        for number, options in enumerate(table.get(name, ({},))):
            make = over_exponential_weights if name == "SwapRegret" else kind
            yield pytest.param(partial(make, **options) if options else make, id=f"{name}{number or ''}")


@pytest.mark.parametrize("make", [*settings("classifier", CLASSIFIERS)])
@pytest.mark.parametrize("check", learner_checks(), ids=lambda check: check.__name__)
def test_every_classifier_passes_every_check(make, check):
    check(make)


@pytest.mark.parametrize("make", [*settings("regressor", REGRESSORS)])
@pytest.mark.parametrize("check", regressor_checks(), ids=lambda check: check.__name__)
def test_every_regressor_passes_every_check(make, check):
    check(make)


@pytest.mark.parametrize("make", [*settings("experts", EXPERTS)])
@pytest.mark.parametrize("check", expert_checks(), ids=lambda check: check.__name__)
def test_every_expert_algorithm_passes_every_check(make, check):
    check(make)


@pytest.mark.parametrize(
    "make",
    [*settings("classifier", CLASSIFIERS), *settings("regressor", REGRESSORS)]
    + [pytest.param(partial(each.values[0], 2), id=each.id) for each in settings("experts", EXPERTS)],
)
def test_a_notebook_shows_every_learner(make):
    shown = make()._repr_html_()
    html5lib.HTMLParser(strict=True).parseFragment(shown)
    assert type(make()).__name__ in shown
    assert len(shown) < 6000


@pytest.mark.parametrize(
    ("role", "table"), [("classifier", CLASSIFIERS), ("regressor", REGRESSORS), ("experts", EXPERTS)]
)
def test_no_settings_of_learners_that_are_gone(role, table):
    assert set(table) <= set(classes(role))
