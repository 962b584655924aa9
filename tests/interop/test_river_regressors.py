"""The regressors inside River: by River's own checks, in its metrics, pipelines and ensembles."""

import math
import random

import pytest

import afterwit as aw
from afterwit.core.registry import regressor_names
from afterwit.interop.river import SKIPPED_CHECKS, skipped_checks

river = pytest.importorskip("river")
from river import base, checks, datasets, ensemble, evaluate, metrics, preprocessing  # noqa: E402

#: In raw units, as River's checks have them, SGD diverges.
NAMES = [name for name in regressor_names().values() if name != "SGDRegressor"]
MODELS = {
    **{name: lambda name=name: getattr(aw, name)() for name in NAMES},
    "pipeline": lambda: preprocessing.StandardScaler() | aw.OnlineRidge(),
    "pipeline of SGDRegressor": lambda: preprocessing.StandardScaler() | aw.SGDRegressor(),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_checks_of_river(name):
    model = MODELS[name]()
    skipped = skipped_checks(model[-1] if name.startswith("pipeline") else model)
    assert skipped == set(SKIPPED_CHECKS)
    ran = set()
    for check in checks.yield_checks(model):
        if check.__name__ not in skipped:
            random.seed(20)
            check(model.clone())
            ran.add(check.__name__)
    assert len(ran) >= 23
    assert {"check_learn_one", "check_predict_one_pure", "check_bounded_memory_growth"} <= ran
    assert ("check_debug_one" in ran) == name.startswith("pipeline")


def test_river_knows_what_it_is():
    for model in (aw.OnlineRidge(), MODELS["pipeline"]()):
        assert isinstance(model, base.Regressor)
        assert not isinstance(model, (base.Classifier, base.Transformer))
        assert metrics.RMSE().works_with(model)
        assert not metrics.Accuracy().works_with(model)
    assert isinstance(aw.Perceptron(), base.Classifier)
    assert not isinstance(aw.Perceptron(), base.Regressor)


def approval(rounds=400):
    return list(datasets.TrumpApproval().take(rounds))


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_those_of_the_learner(name):
    learner, twin = MODELS[name](), MODELS[name]()
    errors = [twin.learn_one(x, y) - y for x, y in approval()]
    metric = metrics.MAE() + metrics.RMSE()
    evaluate.progressive_val_score(approval(), learner, metric)
    assert learner == twin
    assert metric[0].get() == pytest.approx(sum(map(abs, errors)) / 400)
    assert metric[1].get() == pytest.approx(learner.rmse)
    assert learner.rmse == pytest.approx(math.sqrt(sum(e * e for e in errors) / 400))


def test_a_pipeline_learns_what_the_learner_would():
    scaler, expected = preprocessing.StandardScaler(), aw.OnlineRidge()
    pipeline = MODELS["pipeline"]()
    for x, y in approval():
        found = pipeline.predict_one(x)
        assert found == expected.predict_one(scaler.transform_one(x))
        pipeline.learn_one(x, y)
        scaler.learn_one(x)
        expected.learn_one(scaler.transform_one(x), y)
    assert pipeline[-1] == expected


def test_ensembles_of_river():
    """What the members say is added up by River."""
    bagged = ensemble.BaggingRegressor(MODELS["pipeline"](), n_models=3, seed=1)
    mixed = ensemble.EWARegressor([aw.OnlineRidge(), aw.OnlineRidge(penalty=100.0)], learning_rate=0.001)
    for model in (bagged, mixed):
        metric = metrics.RMSE()
        evaluate.progressive_val_score(approval(), model, metric)
        assert metric.get() < 10
    x = approval(1)[0][0]
    assert bagged.predict_one(x) == pytest.approx(sum(member.predict_one(x) for member in bagged) / 3)
