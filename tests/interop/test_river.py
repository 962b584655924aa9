"""The learners inside River: unchanged, by River's own checks, with the same counts as `play`."""

import copy
import inspect
import math
import random
import subprocess
import sys

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.registry import learner_names
from afterwit.interop.river import SKIPPED_CHECKS, SKIPPED_WITHOUT_PROBABILITIES, skipped_checks
from conftest import environment
from engines import ONE_OF_EACH

river = pytest.importorskip("river")
from river import base, checks, compose, datasets, evaluate, metrics, preprocessing, utils  # noqa: E402

BINARY = list(learner_names().values())

MODELS = {
    **{name: lambda name=name: getattr(aw, learner_names()[name])(labels=(False, True)) for name in ONE_OF_EACH},
    "OneVsRest": aw.OneVsRest,
    "OneVsRest with probabilities": lambda: aw.OneVsRest(aw.AdaGrad()),
    "OneVsRest with an intercept": lambda: aw.OneVsRest(aw.Perceptron(intercept=True)),
    "MulticlassPerceptron": aw.MulticlassPerceptron,
    "SoftmaxAdaGrad": aw.SoftmaxAdaGrad,
    "NearestNeighbours": aw.NearestNeighbours,
    "MulticlassCommittee": lambda: aw.MulticlassCommittee(["softmax-adagrad", "nearest-neighbours", "perceptron"]),
    "AveragedMulticlassPerceptron with an intercept": lambda: aw.AveragedMulticlassPerceptron(intercept=True),
    "pipeline": lambda: preprocessing.StandardScaler() | aw.Perceptron(labels=(False, True)),
    "pipeline with probabilities": lambda: preprocessing.StandardScaler() | aw.AdaGrad(labels=(False, True)),
    "pipeline for many labels": lambda: preprocessing.StandardScaler() | aw.OneVsRest(),
}


def of_built_in_types(model):
    """River wants defaults to be of these types; an immutable object of this package is as good."""
    allowed = (type(None), float, int, tuple, str, bool, type, type(inspect.Parameter.empty))
    return all(isinstance(each.default, allowed) for each in inspect.signature(type(model)).parameters.values())


@pytest.mark.parametrize("name", MODELS)
def test_the_checks_of_river(name):
    model = MODELS[name]()
    skipped = skipped_checks(model[-1] if name.startswith("pipeline") else model)
    ran = set()
    for check in checks.yield_checks(model):
        if check.__name__ in skipped:
            continue
        if check.__name__ == "check_init_default_params_are_not_mutable" and not of_built_in_types(model):
            continue
        random.seed(20)
        check(model.clone())
        ran.add(check.__name__)
    assert len(ran) >= 24
    assert "check_bounded_memory_growth" in ran
    assert set(model._unit_test_skips()) == skipped
    assert ("check_debug_one" in ran) == (name == "pipeline with probabilities")


def test_the_order_of_features_where_sums_are_exact():
    """The check that is skipped because of rounding: these features are multiples of one half."""
    from river.checks.common import check_shuffle_features_no_impact

    random.seed(1)
    check_shuffle_features_no_impact(aw.Perceptron(labels=(False, True)), phishing(500))


def test_it_passes_as_river_runs_it():
    random.seed(3)
    checks.check_estimator(aw.Perceptron(labels=(False, True)))


def test_river_knows_what_it_is():
    for model in (aw.Perceptron(), aw.OneVsRest(), MODELS["pipeline"]()):
        assert isinstance(model, base.Classifier)
        assert isinstance(model, base.Estimator)
        assert not isinstance(model, (base.Transformer, base.Regressor, base.Clusterer, base.AnomalyDetector))
    assert (aw.Perceptron()._multiclass, aw.OneVsRest()._multiclass) == (False, True)


def test_whichever_is_imported_first_and_never_by_us():
    code = (
        "import sys, afterwit as aw; learner = aw.Perceptron(labels=(False, True)); learner.learn_one({'a': 1}, True);"
        "assert not hasattr(learner, '_last_step');"
        "assert not any(name.partition('.')[0] == 'river' for name in sys.modules);"
        "from river import metrics; print(metrics.Accuracy().works_with(learner))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert result.stdout == "True\n"


def phishing(rounds=1250):
    return list(datasets.Phishing().take(rounds))


@pytest.mark.parametrize("delay", [None, 1, 2, 7, 40])
def test_progressive_validation_counts_what_play_counts(delay):
    """River reveals a label before the prediction of round t + d, `play` after it: its d is our d - 1.

    River learns as of arrival, and so does a learner that says so.
    """
    assert aw.AveragedPerceptron.late == "arrival"
    ours, theirs = aw.AveragedPerceptron(labels=(False, True)), aw.AveragedPerceptron(labels=(False, True))
    record = aw.play(ours, phishing(), delay=0 if delay is None else delay - 1)
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(phishing(), theirs, metric, delay=delay)
    assert metric.cm.n_samples == record.rounds == 1250
    assert round((1 - metric.get()) * 1250) == record.mistakes
    assert theirs == ours


@pytest.mark.parametrize("name", BINARY)
def test_step_by_step(name):
    stream = phishing(300)
    learner = getattr(aw, name)(labels=(False, True))
    record = aw.play(learner.clone(), stream, predictions=True)
    steps = list(
        evaluate.iter_progressive_val_score(
            stream, learner, metrics.Accuracy(), step=1, yield_predictions=True, measure_memory=True, measure_time=True
        )
    )
    assert [step["Prediction"] for step in steps] == record.predictions.tolist()
    assert round((1 - steps[-1]["Accuracy"].get()) * 300) == record.mistakes
    assert 0 < steps[0]["Memory"] <= steps[-1]["Memory"] < 10**6


def test_many_labels():
    """River passes over the first round, where nothing can be predicted; play counts it as a mistake."""
    stream = list(datasets.ImageSegments().take(400))
    ours, theirs = aw.OneVsRest(), aw.OneVsRest()
    record = aw.play(ours, stream)
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(stream, theirs, metric)
    assert theirs == ours
    assert metric.cm.n_samples == 399
    assert round((1 - metric.get()) * 399) == record.mistakes - 1 == ours.mistakes - 1
    assert len(ours.classes) == 7


def test_a_pipeline_learns_what_the_learner_would():
    stream = phishing(400)
    scaler, expected = preprocessing.StandardScaler(), aw.Perceptron(labels=(False, True))
    predictions = []
    for x, y in stream:
        predictions.append(expected.predict_one(scaler.transform_one(x)))
        scaler.learn_one(x)
        expected.learn_one(scaler.transform_one(x), y)
    for pipeline in (
        preprocessing.StandardScaler() | aw.Perceptron(labels=(False, True)),
        compose.Pipeline(preprocessing.StandardScaler(), ("last", aw.Perceptron(labels=(False, True)))),
    ):
        found = []
        for x, y in stream:
            found.append(pipeline.predict_one(x))
            pipeline.learn_one(x, y)
        assert found == predictions
        assert pipeline[-1] == expected
        assert copy.deepcopy(pipeline)[-1] == expected
        assert pipeline.clone()[-1] == aw.Perceptron(labels=(False, True))
        assert pipeline.score_one(stream[0][0]) == expected.score_one(scaler.transform_one(stream[0][0]))
        assert "Perceptron" in repr(pipeline)
        assert "Perceptron" in pipeline._repr_html_()


def test_mini_batches_of_a_pipeline():
    import pandas

    stream = phishing(200)
    X, y = pandas.DataFrame([x for x, _ in stream]), pandas.Series([label for _, label in stream])
    pipeline = preprocessing.StandardScaler() | aw.Perceptron(labels=(False, True))
    pipeline.learn_many(X, y)
    assert pipeline[-1].rounds == 200
    assert np.mean(pipeline.predict_many(X) == y) > 0.8


def test_a_clone_with_other_parameters():
    learner = aw.Perceptron(rate=2.0, intercept=True, labels=("a", "b"))
    learner.learn_one({"x": 1}, "a")
    fresh = learner.clone({"rate": 0.5})
    assert fresh == aw.Perceptron(rate=0.5, intercept=True, labels=("a", "b"))
    assert learner.clone(include_attributes=True) == learner
    assert (learner.rate, learner.intercept, learner.labels) == (2.0, True, ("a", "b"))
    many = aw.OneVsRest(learner, labels=(1, 2))
    assert many.clone({"labels": None}) == aw.OneVsRest(learner)
    pipeline = preprocessing.StandardScaler() | learner
    assert pipeline.clone({"Perceptron": {"rate": 7.0}})[-1].rate == 7.0
    grid = utils.expand_param_grid(learner, {"rate": [1.0, 3.0]})
    assert [each.rate for each in grid] == [1.0, 3.0]


def test_no_probabilities():
    with pytest.raises(NotImplementedError, match="Perceptron gives no probabilities"):
        evaluate.progressive_val_score(phishing(5), aw.Perceptron(labels=(False, True)), metrics.LogLoss())


def test_only_what_does_not_apply_is_skipped():
    without = {*SKIPPED_CHECKS, *SKIPPED_WITHOUT_PROBABILITIES}
    assert skipped_checks(aw.AdaGrad()) == skipped_checks(aw.OneVsRest(aw.SGD())) == set(SKIPPED_CHECKS)
    assert skipped_checks(aw.Perceptron()) == skipped_checks(aw.AdaGrad(loss="hinge")) == without


def test_metrics_of_probabilities():
    """River's log loss and area under the curve are those of the probabilities that the learner gave."""
    twin, losses = aw.AdaGrad(labels=(False, True)), 0.0
    for x, y in phishing():
        losses -= math.log(twin.predict_proba_one(x)[y])
        twin.learn_one(x, y)
    metric = metrics.LogLoss() + metrics.ROCAUC() + metrics.Accuracy()
    learner = aw.AdaGrad(labels=(False, True))
    evaluate.progressive_val_score(phishing(), learner, metric)
    assert metric[0].get() == pytest.approx(losses / 1250, rel=1e-12)
    assert 0.9 < metric[1].get() <= 1
    assert learner == twin


def test_ensembles_of_river():
    """Each takes probabilities of its members; what they add up to is theirs."""
    from river import ensemble, multiclass

    for kind in (ensemble.BaggingClassifier, ensemble.ADWINBaggingClassifier):
        model = kind(preprocessing.StandardScaler() | aw.AdaGrad(labels=(False, True)), n_models=3, seed=1)
        metric = metrics.Accuracy()
        evaluate.progressive_val_score(phishing(300), model, metric)
        # Its members share the scores of River's ensemble, which adds up their probabilities.
        x = phishing(1)[0][0]
        expected = sum(member.predict_proba_one(x)[True] for member in model) / 3
        assert model.predict_proba_one(x)[True] == pytest.approx(expected, rel=1e-12)
        assert metric.get() > 0.8
    many = multiclass.OneVsRestClassifier(preprocessing.StandardScaler() | aw.AdaGrad(labels=(False, True)))
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(datasets.ImageSegments().take(400), many, metric)
    assert metric.get() > 0.5
    assert len(many.classifiers) == 7


def test_an_attribute_that_is_none():
    with pytest.raises(AttributeError, match="'Perceptron' object has no attribute 'nonsense'"):
        _ = aw.Perceptron().nonsense
    assert not aw.Perceptron()._is_stochastic
    assert aw.Perceptron()._memory_usage.endswith(" B")


def test_a_clone_with_an_unknown_option_is_refused():
    with pytest.raises(
        aw.errors.InputError, match=r"^new_params must be some of rate, start, intercept, labels; received 'speed'"
    ):
        aw.Perceptron().clone({"speed": 1})
