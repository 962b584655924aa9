"""Committees of regressors: members that learn alone, an expert algorithm that mixes, and all rounds or none."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
from afterwit.core.certificate import Verdict
from afterwit.errors import DivergenceError, InputError
from problems import FORMS, lists_of, one_by_one

MEMBERS = [aw.OnlineRidge(), aw.RepeatLastTarget(), aw.NormalizedAdaGradRegressor()]


def stream(seed=0, rounds=60, width=4):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rounds, width)) * 10.0 ** random.uniform(-3, 3, width)
    return X, X @ (1 / np.abs(X).max(axis=0)) + 3 + 0.1 * random.standard_normal(rounds)


@pytest.mark.parametrize("weighting", ["mlpol", "boa", "adahedge", aw.MLpol(3, loss="absolute"), aw.BOA(3)], ids=repr)
def test_it_is_its_members_and_the_expert_algorithm(weighting):
    X, y = stream()
    committee = aw.RegressionCommittee(MEMBERS, weighting=weighting)
    members = [member.copy() for member in MEMBERS]
    advice = np.column_stack([member.learn_many(X, y) for member in members])
    names = ["OnlineRidge", "RepeatLastTarget", "NormalizedAdaGradRegressor"]
    kinds = {"mlpol": aw.MLpol, "boa": aw.BOA, "adahedge": aw.AdaHedge}
    alone = kinds[weighting](names, loss="square") if isinstance(weighting, str) else weighting.copy()
    assert committee.learn_many(X, y).tolist() == alone.learn_many(advice, y).tolist()
    assert committee.weighting.expert_losses.tolist() == alone.expert_losses.tolist()
    assert list(committee.members.values()) == members
    assert list(committee.weights) == names
    assert committee.loss == pytest.approx(alone.loss)
    assert committee.rmse == pytest.approx(math.sqrt(committee.squared_errors / 60))
    assert committee.predict_one(X[0]) == alone.predict_one([member.predict_one(X[0]) for member in members])
    assert committee.member_losses == pytest.approx(dict(zip(names, alone.expert_losses, strict=True)))
    assert (committee.rounds, committee.updates, committee.features) == (60, 60, 4)
    for found in (committee.certificate(), committee.certificate(X, y)):
        assert found.verdict is Verdict.HOLDS
        assert found.observed == committee.loss
        assert found.hindsight.value <= min(committee.member_losses.values()) * (1 + 1e-9)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(problem=lists_of(st.integers(-3, 3)), cut=st.integers(0, 12))
def test_many_rounds_are_one_and_one_and_one(form, problem, cut):
    X, y = problem
    at_once, singly, parts = (aw.RegressionCommittee() for _ in range(3))
    predictions = at_once.learn_many(form(X), y).tolist()
    for x, target, wanted in zip(one_by_one(form, X), y, predictions, strict=True):
        assert singly.predict_one(x) == singly.learn_one(x, target) == wanted
    assert singly == at_once
    if 0 < cut < len(X):
        parts.learn_many(form(X)[:cut], y[:cut])
        parts.learn_many(form(X)[cut:], y[cut:])
        assert parts == at_once
    assert at_once.predict_many(form(X)).tolist() == [at_once.predict_one(x) for x in one_by_one(form, X)]


def test_the_default_pool():
    committee = aw.RegressionCommittee()
    assert list(committee.members) == [
        "NormalizedAdaGradRegressor",
        "NormalizedAdaGradRegressor(rate=1.5)",
        "ScaleFreeRegressor",
        "OnlineRidge(most_features=100)",
        "RepeatLastTarget",
    ]
    assert committee.parameters == {"learners": None, "weighting": "mlpol"}
    assert repr(committee) == "RegressionCommittee(): 0 rounds, RMSE 0"


def test_members_by_name_class_and_instance():
    given = {"a": "online-ridge", "b": aw.OnlineRidge, "c": aw.OnlineRidge()}
    X, y = stream()
    used = aw.OnlineRidge()
    used.learn_many(X, y)
    committee = aw.RegressionCommittee({**given, "d": used})
    committee.learn_many(X, y)
    assert len(set(committee.member_losses.values())) == 1
    assert used.rounds == 60
    assert list(aw.RegressionCommittee(["online-ridge", "online-ridge"]).weights) == ["OnlineRidge", "OnlineRidge #2"]
    within = aw.RegressionCommittee([aw.RegressionCommittee(MEMBERS), "repeat-last-target"])
    within.learn_many(X, y)
    assert within.certificate(X, y).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    "learners",
    [[], {}, "online-ridge", 3, ["perceptron"], [aw.Perceptron()], [aw.BOA], {1: "online-ridge"}, [object()]],
)
def test_what_is_no_member_is_refused(learners):
    with pytest.raises(InputError, match="learners"):
        aw.RegressionCommittee(learners)


def used_weighting():
    learner = aw.MLpol(3)
    learner.learn_one([1.0, 2.0, 3.0], 1.0)
    return learner


@pytest.mark.parametrize(
    "weighting",
    ["fixed-share", 3, aw.MLpol, aw.MLpol(2), used_weighting(), aw.MLpol(3, loss="log"), aw.MLpol(3, loss="zero-one")],
    ids=repr,
)
def test_what_cannot_mix_is_refused(weighting):
    with pytest.raises(InputError, match=r"^weighting must be"):
        aw.RegressionCommittee(MEMBERS, weighting=weighting)


def test_copies_and_states():
    X, y = stream()
    committee = aw.RegressionCommittee(MEMBERS, weighting="boa")
    committee.learn_many(X, y)
    for twin in (committee.copy(), pickle.loads(pickle.dumps(committee))):
        assert twin == committee
        twin.learn_one(X[0], y[0])
        assert twin != committee
    state = committee.state()
    for name, value in (("members", state["members"][1:]), ("rounds", 59), ("weighting", {}), ("members", None)):
        fresh = aw.RegressionCommittee(MEMBERS, weighting="boa")
        with pytest.raises(InputError):
            fresh.restore({**state, name: value})
        assert fresh.rounds == 0


def test_a_round_that_a_member_refuses_changes_nobody():
    X, y = stream()
    committee = aw.RegressionCommittee([aw.RepeatLastTarget(), aw.SGDRegressor(rate=1e-9), aw.OnlineRidge()])
    committee.learn_many(X, y)
    before = committee.copy()
    for x, target in ((np.full(4, 1e200), 1.0), (X[0], 1e170), (X[0], 1e100)):
        with pytest.raises((DivergenceError, InputError)):
            committee.learn_one(x, target)
        assert committee == before
        with pytest.raises((DivergenceError, InputError)):
            committee.learn_many(np.vstack([X[0], x, X[1]]), [y[0], target, y[1]])
        before.learn_one(X[0], y[0])
        assert committee == before
    for bad, message in (([math.nan] * 4, "finite"), ({"a": 1.0}, "position")):
        with pytest.raises(InputError, match=message):
            committee.learn_one(bad, 1.0)
        assert committee == before


def test_other_rounds_have_no_certificate():
    X, y = stream()
    committee = aw.RegressionCommittee(MEMBERS)
    for _ in range(2):
        committee.learn_many(X, y)
    assert committee.certificate(X, y).verdict is Verdict.HOLDS
    for other in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, y + 1)):
        assert committee.certificate(*other).verdict is Verdict.NOT_APPLICABLE
    with pytest.raises(InputError, match="y must be given with X, unless X is the path"):
        committee.certificate(X)


# ---------------------------------------------------------------------- the member that repeats


def test_it_repeats_the_last_target():
    learner, X = aw.RepeatLastTarget(), np.zeros((4, 2))
    assert learner.learn_many(X, [1.0, 4.0, 4.0, 2.0]).tolist() == [0.0, 1.0, 4.0, 4.0]
    assert (learner.loss, learner.updates, learner.predict_one([5.0, 5.0])) == (1 + 9 + 0 + 4, 3, 2.0)
    assert learner.certificate(X, [1.0, 4.0, 4.0, 2.0]).bound == 14
    assert learner.certificate(X, [1.0, 4.0, 4.0, 3.0]).verdict is Verdict.NOT_APPLICABLE
    learner.learn_many(X, [1.0, 4.0, 4.0, 2.0])
    assert learner.certificate(X, [1.0, 4.0, 4.0, 2.0]).bound == 14 + 1 + 9 + 4
    before = learner.copy()
    with pytest.raises(InputError, match="with features by position"):
        learner.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(DivergenceError, match="scale the targets"):
        learner.learn_one([0.0, 0.0], 1e200)
    assert learner == before
    for state in ({**before.state(), "space": 3}, {**before.state(), "last": math.inf}):
        with pytest.raises(InputError):
            aw.RepeatLastTarget().restore(state)
    with pytest.raises(InputError, match=r"^comparator must be left out"):
        learner.certificate(X, [1.0, 4.0, 4.0, 2.0], comparator=[1.0, 1.0])


@pytest.mark.parametrize("seed", range(4))
def test_the_rounds_never_make_the_bound_larger(seed):
    """They tell of the best mixture, to which the regret may be bounded by more than to the best member."""
    random = np.random.default_rng(seed)
    X = random.random((200, 1))
    y = 2 * X[:, 0] + random.normal(0, 0.1, 200)
    committee = aw.RegressionCommittee()
    committee.learn_many(X, y)
    alone, made = committee.certificate(), committee.certificate(X, y)
    assert made.observed <= made.bound <= alone.bound
    assert made.hindsight.value <= alone.hindsight.value
    assert made.verdict is Verdict.HOLDS
