"""Calibrated: a scaling of the scores by the oracle of ScaleFree, whatever the learner inside; stops, storage, messages."""

import math
import pickle

import numpy as np
import pytest
from scipy import sparse

import afterwit as aw
import naive
from afterwit.core.certificate import Verdict
from afterwit.errors import DivergenceError, InputError

INSIDE = {
    "perceptron": aw.Perceptron(),
    "averaged-perceptron": aw.AveragedPerceptron(),
    "hinge": aw.SGD(loss="hinge", rate=0.1),
    "svm": aw.OnlineSVM(C=3.0, rate=0.1),
    "winnow": aw.BalancedWinnow(rate=0.3),
    "kernel": aw.KernelPerceptron(),
    "standardized": aw.Standardize(aw.Perceptron()),
    "committee": aw.Committee(["perceptron", "repeat-last-label"]),
    "last": aw.RepeatLastLabel(),
}
every_learner = pytest.mark.parametrize("name", INSIDE)
FORMS = {
    "array": lambda X: X,
    "sparse": sparse.csr_array,
    "dicts": lambda X: [{f"f{j}": value for j, value in enumerate(row)} for row in X.tolist()],
}


def data(rounds=60, width=4, seed=1, scale=1.0):
    random = np.random.default_rng(seed)
    X = scale * random.standard_normal((rounds, width))
    return X, np.where(X @ random.standard_normal(width) + scale * random.standard_normal(rounds) >= 0, 1, -1)


@every_learner
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_scaling_is_scale_free_on_the_scores_of_the_learner_alone(name, scale):
    X, y = data(scale=scale)
    learner, alone = aw.Calibrated(INSIDE[name]), INSIDE[name].copy()
    inside = alone.learn_scores(X, y)
    shown = learner.learn_scores(X, y)
    run = naive.scale_free([[1.0, s] for s in inside.tolist()], y.tolist(), 1.0, "logistic")
    assert shown.tolist() == pytest.approx(run["scores"], rel=1e-9, abs=1e-12)
    assert learner.mistakes == sum((s >= 0) != (t > 0) for s, t in zip(shown, y, strict=True))
    assert learner.uncalibrated == alone
    assert learner.updates == 60, "the slope of the logistic loss is never 0"
    assert learner.scaling.state()["money"].tolist() == pytest.approx(run["money"], rel=1e-9)
    assert learner.certificate(X, y).observed == pytest.approx(math.fsum(run["losses"]), rel=1e-9)


@every_learner
@pytest.mark.parametrize("form", FORMS)
def test_many_is_one_by_one_and_parts(name, form):
    X, y = data(40)
    rows = FORMS[form](X)
    one, many, two_parts = (aw.Calibrated(INSIDE[name]) for _ in range(3))
    expected = [one.learn_one(rows[i] if form != "sparse" else rows[[i]], label) for i, label in enumerate(y.tolist())]
    assert many.learn_many(rows, y).tolist() == expected
    two_parts.learn_many(rows[:7], y[:7])
    two_parts.learn_many(rows[7:], y[7:])
    assert one == many == two_parts
    scores = many.score_many(rows).tolist()
    assert scores == [many.score_one(rows[i] if form != "sparse" else rows[[i]]) for i in range(40)]
    chances = many.predict_proba_many(rows)
    assert chances[:, 1].tolist() == pytest.approx([1 / (1 + math.exp(-s)) for s in scores], rel=1e-12)
    assert (many.predict_many(rows) == np.where(chances[:, 1] >= 0.5, 1, -1)).all()


@every_learner
def test_the_certificate_holds_and_hindsight_is_the_best_scaling(name):
    X, y = data(200)
    learner = aw.Calibrated(INSIDE[name])
    for _ in range(2):
        learner.learn_many(X, y)
    made = learner.certificate(X, y)
    assert (made.verdict, made.quantity, made.rounds) == (Verdict.HOLDS, "loss", 400)
    assert made.subject == f"Calibrated of {type(INSIDE[name]).__name__}"
    alone = INSIDE[name].copy()
    scores = np.concatenate([alone.learn_scores(X, y) for _ in range(2)])
    for a, b in ((0.0, 0.0), (1.0, 0.0), (learner.slope, learner.offset)):
        assert made.hindsight.value <= np.logaddexp(0, -np.tile(y, 2) * (a * scores + b)).sum() * (1 + 1e-6)
    assert "by the best fixed scaling of the scores found afterwards" in made.hindsight.description
    assert made.others[0].quantity == "mistakes"
    assert made.others[0].observed == learner.mistakes


def test_other_rounds_have_no_certificate():
    X, y = data()
    learner = aw.Calibrated()
    learner.learn_many(X, y)
    X[3, 1] += 0.5
    made = learner.certificate(X, y)
    assert made.verdict is Verdict.NOT_APPLICABLE
    X, y = data()
    state = learner.state()
    state["learner"]["weights"][0] += 1.0
    learner.restore(state)
    made = learner.certificate(X, y)
    assert made.verdict is Verdict.NOT_APPLICABLE
    assert "these rows make another learner" in " ".join(made.why_not())


def test_a_learner_that_diverges_leaves_the_rounds_before():
    X = np.ones((9, 2))
    X[6:] = 1e200
    y = np.array([1, -1, 1, -1, 1, 1, -1, -1, 1])
    inside = aw.SGD(loss="squared", rate=1.0)
    learner, before = aw.Calibrated(inside), aw.Calibrated(inside)
    with pytest.raises(DivergenceError):
        learner.learn_many(X, y)
    assert 0 < learner.rounds < 9
    before.learn_many(X[: learner.rounds], y[: learner.rounds])
    assert learner == before
    with pytest.raises(DivergenceError):
        learner.learn_one(X[learner.rounds], -1)
    assert learner == before


def test_huge_scores_are_no_trouble():
    X, y = data(30)
    learner = aw.Calibrated(aw.Perceptron())
    learner.learn_many(1e90 * X, y)
    assert np.isfinite(learner.predict_proba_many(1e90 * X)).all()
    assert learner.certificate(1e40 * X, y).verdict is Verdict.NOT_APPLICABLE


def test_a_refused_round_changes_nothing():
    X, y = data(10)
    learner = aw.Calibrated(aw.Perceptron())
    learner.learn_many(X, y)
    before = learner.copy()
    X[4, 2] = np.nan
    with pytest.raises(InputError, match=r"X\[4, 2\] must be a finite number"):
        learner.learn_many(X, y)
    with pytest.raises(InputError, match="label"):
        learner.learn_one(X[0], 7)
    assert learner == before


@every_learner
def test_it_is_saved_copied_and_pickled(name, tmp_path):
    X, y = data(30)
    learner = aw.Calibrated(INSIDE[name])
    learner.learn_many(X, y)
    aw.save(learner, tmp_path / "model")
    for other in (aw.load(tmp_path / "model"), learner.copy(), pickle.loads(pickle.dumps(learner))):
        assert other == learner
        other.learn_many(X, y)
        assert other != learner
    fresh = aw.Calibrated(INSIDE[name], labels=(-1, 1))
    assert fresh == learner.clone()
    assert (fresh.slope, fresh.offset, fresh.predict_proba_one(X[0])) == (0.0, 0.0, {-1: 0.5, 1: 0.5})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: state.update(mistakes=state["mistakes"] - 1), "mistakes must be those of the scaling"),
        (lambda state: state["scaling"].update(rounds=3), "scaling must be a state after 30 rounds"),
        (lambda state: state["learner"].update(rounds=3), "learner must be a state after 30 rounds"),
        (lambda state: state.pop("scaling"), "without 'scaling'"),
    ],
)
def test_a_state_that_is_none_is_refused(change, words):
    X, y = data(30)
    learner = aw.Calibrated()
    learner.learn_many(X, y)
    before, state = learner.copy(), learner.state()
    change(state)
    with pytest.raises(InputError, match=words):
        learner.restore(state)
    assert learner == before


@pytest.mark.parametrize("learner", ["no-such", 3, aw.MulticlassPerceptron(), aw.AdaHedge(2)])
def test_what_cannot_be_calibrated(learner):
    with pytest.raises(InputError, match="learner must be"):
        aw.Calibrated(learner)


def test_labels_of_any_kind():
    learner = aw.Calibrated("perceptron", labels=("ham", "spam"))
    assert learner.learn_one({"money": 1.0}, "spam") == "spam"
    assert list(learner.predict_proba_one({"money": 1.0})) == ["ham", "spam"]
    assert aw.OneVsRest(aw.Calibrated("perceptron")).gives_probabilities
    many = aw.OneVsRest(aw.Calibrated("perceptron"))
    many.learn_many([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["a", "b", "c"])
    assert sum(many.predict_proba_one([1.0, 0.0]).values()) == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_without_a_shift_only_the_slope_is_learned(scale):
    X, y = data(scale=scale)
    alone = aw.Perceptron(labels=(-1, 1))
    inside = alone.learn_scores(X, y)
    run = naive.scale_free([[s] for s in inside.tolist()], y.tolist(), 1.0, "logistic")
    learner, singly = (aw.Calibrated("perceptron", shift=False, labels=(-1, 1)) for _ in range(2))
    assert learner.learn_scores(X, y).tolist() == pytest.approx(run["scores"], rel=1e-9, abs=1e-12)
    for x, label in zip(X, y.tolist(), strict=True):
        singly.learn_one(x, label)
    assert singly == learner
    assert learner.offset == 0
    assert learner.certificate(X, y).verdict is Verdict.HOLDS
    assert learner.copy() == learner
    with pytest.raises(InputError, match="shift must be True or False"):
        aw.Calibrated(shift=1)
