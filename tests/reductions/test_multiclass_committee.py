"""The committee of many classes: by its oracle, by its contract, by its theorems; any members, any weighting."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_committee
from afterwit import kernels
from afterwit.core.certificate import Verdict
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError, LabelError
from problems import FORMS, as_dense, one_by_one

LABELS = ["cat", 7, None, (1, "b")]
SMALL = {"plain": aw.MulticlassPerceptron(), "near": aw.NearestNeighbours(1), "last": aw.RepeatLastLabel()}
#: The names of members that read examples in ways of their own.
MIXED = [
    aw.OneVsRest(aw.KernelPerceptron(kernels.polynomial(2), budget=5)),
    aw.Standardize(aw.Perceptron()),
    aw.MulticlassCommittee(["multiclass-perceptron", aw.NearestNeighbours]),
    aw.SoftmaxAdaGrad,
    "sgd",
]
ORACLES = {"fixed-share": naive_committee.NaiveFixedShare, "adahedge": naive_committee.NaiveAdaHedge}


def stream(seed, rows=60, width=3, classes=4):
    """Half a linear rule, half runs of the same label."""
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(rows, width)).astype(float)
    y = np.argmax(X @ random.standard_normal((width, classes)), axis=1)
    y[rows // 2 :] = np.repeat(random.integers(0, classes, rows), 5)[: rows - rows // 2]
    return X, y.tolist()


problems = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(st.integers(-2, 2), min_size=width, max_size=width), st.sampled_from(LABELS)),
        min_size=1,
        max_size=12,
    ).map(lambda examples: ([x for x, _ in examples], [y for _, y in examples]))
)


def alone(members, X, y, labels=None):
    """What each member says when it learns by itself."""
    found = []
    for member in members.values():
        member = member if member.many_labels else aw.OneVsRest(member)
        twin = type(member)(**{**member.parameters, "labels": labels})
        found.append(twin.learn_many(X, y).tolist())
    return found


# ---------------------------------------------------------------------- what it does


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20)
@given(problem=problems, weighting=st.sampled_from(sorted(ORACLES)), named=st.booleans())
def test_it_does_what_the_oracle_does(form, problem, weighting, named):
    X, y = problem
    labels = LABELS[::-1] if named else None
    said = alone(SMALL, form(X), y, labels)
    predictions, expected, weights = naive_committee.plurality(said, y, ORACLES[weighting], labels)
    committee, singly = (aw.MulticlassCommittee(SMALL, weighting, labels) for _ in range(2))
    assert committee.learn_many(form(X), y).tolist() == predictions
    assert committee.classes == (tuple(labels) if named else tuple(dict.fromkeys(y)))
    assert committee.mistakes == sum(guess != label for guess, label in zip(predictions, y, strict=True))
    wrong = [sum(guess != label for guess, label in zip(each, y, strict=True)) for each in said]
    assert list(committee.member_mistakes.values()) == wrong
    assert committee.expected_mistakes == pytest.approx(expected, abs=1e-9)
    assert list(committee.weights.values()) == pytest.approx(weights, abs=1e-9)
    rows = one_by_one(form, X)
    assert [singly.learn_one(x, label) for x, label in zip(rows, y, strict=True)] == predictions
    assert singly == committee
    assert committee.predict_many(form(X)).tolist() == [committee.predict_one(x) for x in rows]
    scores = committee.score_many(form(X))
    assert scores.tolist() == [list(committee.score_one(x).values()) for x in rows]
    assert scores.sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_members_learn_what_they_would_alone():
    X, y = stream(5)
    committee = aw.MulticlassCommittee()
    committee.learn_many(X, y)
    assert len(committee.members) <= 10
    for name, member in committee.members.items():
        twin = type(member)(**member.parameters)
        twin.learn_many(X, y)
        assert twin == member, name
        assert twin.mistakes == committee.member_mistakes[name]
    assert committee.best_member == min(committee.member_mistakes, key=committee.member_mistakes.get)
    assert committee.features == 3
    assert (committee.rounds, committee.updates) == (60, 60)
    for name, mistakes in committee.member_mistakes.items():
        assert f"{name} " in str(committee)
        assert f"{mistakes:,}" in str(committee)


def test_a_tie_goes_to_the_class_that_came_first():
    members = {"a": aw.MulticlassPerceptron(), "b": aw.OneVsRest(aw.RepeatLastLabel())}
    committee = aw.MulticlassCommittee(members, labels=("x", "y", "z"))
    committee.learn_one([1.0], "z")
    committee.learn_one([-1.0], "y")
    # One says z, the other y; both have been wrong twice.
    assert committee.score_one([1.0]) == {"x": 0.0, "y": 0.5, "z": 0.5}
    assert committee.predict_one([1.0]) == "y"


@pytest.mark.parametrize("weighting", ["fixed-share", "mlpol"])
def test_members_of_every_kind(weighting):
    X, y = stream(7)
    at_once, singly, rows, mixed = (aw.MulticlassCommittee(MIXED, weighting) for _ in range(4))
    predicted = at_once.learn_many(X, y).tolist()
    assert [singly.learn_one(x, label) for x, label in zip(X, y, strict=True)] == predicted
    assert singly == at_once
    half = mixed.learn_many(sparse.csr_array(X[:30]), y[:30]).tolist()
    half += [mixed.learn_one(sparse.csr_array(X[[t]]), y[t]) for t in range(30, 60)]
    assert half == rows.learn_many(sparse.csr_array(X), y).tolist()
    assert mixed == rows
    assert mixed.predict_one(sparse.csr_array(X[[3]])) == rows.predict_many(sparse.csr_array(X[[3]]))[0]
    assert at_once.certificate(X, y).verdict is Verdict.HOLDS
    assert "SoftmaxAdaGrad" in at_once.members
    assert "OneVsRest(SGD)" in at_once.members


def test_nothing_predicted_is_right_if_the_label_is_none():
    one, many = aw.MulticlassCommittee(SMALL), aw.MulticlassCommittee(SMALL)
    assert one.learn_one([1.0], None) is None
    many.learn_many([[1.0]], [None])
    assert (one.rounds, one.mistakes) == (1, 0)
    assert one == many
    one.learn_one([1.0], "a")
    assert one.mistakes == 1
    assert one.certificate([[1.0], [1.0]], [None, "a"]).verdict is not Verdict.NOT_APPLICABLE


# ---------------------------------------------------------------------- the theorems


@settings(max_examples=25)
@given(problem=problems, weighting=st.sampled_from(["fixed-share", "adahedge", "boa", "mlpol"]))
def test_no_sequence_breaks_a_bound(problem, weighting):
    X, y = problem
    committee = aw.MulticlassCommittee(SMALL, weighting)
    committee.learn_many(as_dense(X), y)
    vote = committee.certificate(as_dense(X), y)
    best = min(committee.member_mistakes.values())
    for made in (vote, *vote.others):
        assert made.verdict is Verdict.HOLDS
        assert made.hindsight.value <= best
    assert {made.quantity for made in (vote, *vote.others)} == {"mistakes", "expected mistakes"}
    assert committee.mistakes <= 2 * committee.expected_mistakes + 1e-9


def test_a_wrong_vote_has_at_least_half_of_the_weight_against_the_label():
    """With as many classes as members, each alone with its own: the vote is wrong, and two thirds of the weight are."""
    members = {name: aw.OneVsRest(aw.RepeatLastLabel()) for name in "abc"}
    members["b"], members["c"] = aw.MulticlassPerceptron(), aw.NearestNeighbours(1)
    X, y = stream(9, 200)
    committee, before = aw.MulticlassCommittee(members), 0.0
    for x, label in zip(X, y, strict=True):
        wrong = committee.learn_one(x, label) != label
        cost = committee.expected_mistakes - before
        before = committee.expected_mistakes
        assert not wrong or cost >= 0.5 - 1e-12


def test_other_rounds_than_those_it_learned_are_noticed():
    X, y = stream(3)
    committee = aw.MulticlassCommittee(SMALL)
    committee.learn_many(X, y)
    assert committee.certificate().verdict is Verdict.HOLDS
    assert committee.certificate(X, y).verdict is Verdict.HOLDS
    assert committee.certificate(X[::-1], y[::-1]).verdict is Verdict.NOT_APPLICABLE
    assert committee.certificate(X[:-1], y[:-1]).verdict is Verdict.NOT_APPLICABLE
    with pytest.raises(InputError, match="y must be given with X, unless X is the path"):
        committee.certificate(X)
    state = committee.state()
    state["members"][0]["mistakes"] -= 1
    committee.restore(state)
    assert committee.certificate().verdict is Verdict.NOT_APPLICABLE


# ---------------------------------------------------------------------- what is refused; copies, files


class Refusing(aw.MulticlassPerceptron):
    """Refuses a round that it has predicted."""

    at = 3

    def learn_one(self, x, y):
        if self.rounds == self.at:
            raise InputError("x must be another; received this one")
        return super().learn_one(x, y)

    def _learn(self, rows, codes, new):
        if self.rounds <= self.at < self.rounds + rows.count:
            raise InputError("x must be another; received this one")
        return super()._learn(rows, codes, new)

    def _is_steady(self):
        return False


class Accepting(Refusing):
    """Might refuse a round, and does not."""

    at = 10**9


@pytest.mark.parametrize("others", [[], [Accepting()]], ids=["one at risk", "two"])
def test_a_round_that_a_member_refuses_changes_none(others):
    X, y = stream(2, 8)
    members = [aw.NearestNeighbours(1), *others, Refusing()]
    committee = aw.MulticlassCommittee(members, labels=(0, 1, 2, 3))
    committee.learn_many(X[:3], y[:3])
    before = committee.state()
    with pytest.raises(InputError, match="x must be another"):
        committee.learn_one(X[3], y[3])
    assert same_value(committee.state(), before)
    with pytest.raises(InputError, match="x must be another"):
        committee.learn_one(sparse.csr_array(X[[3]]), y[3])
    assert same_value(committee.state(), before)
    with pytest.raises(InputError, match="x must be another"):
        committee.learn_many(X[3:], y[3:])
    assert same_value(committee.state(), before)


def test_rounds_before_a_member_diverges_stay_learned():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.7e308, 1.7e308], [1.7e308, 1.7e308], [-1.7e308, 1.7e308]])
    y = ["a", "b", "a", "c", "a", "b"]
    block, singly = (aw.MulticlassCommittee(["multiclass-perceptron", "softmax-adagrad"]) for _ in range(2))
    with pytest.raises(DivergenceError):
        block.learn_many(X, y)
    assert 3 <= block.rounds < 6
    for x, label in zip(X[: block.rounds], y, strict=False):
        singly.learn_one(x, label)
    assert singly == block
    with pytest.raises((DivergenceError, InputError)):
        singly.learn_one(X[block.rounds], y[block.rounds])
    assert singly == block


def test_bad_rows_and_labels_change_nothing():
    committee = aw.MulticlassCommittee(SMALL)
    committee.learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    before = committee.state()
    for bad in ({"a": float("nan")}, {"a": "3"}, [1.0, 2.0]):
        with pytest.raises(InputError):
            committee.learn_one(bad, "z")
    with pytest.raises(InputError):
        committee.learn_many([{"a": 1.0}, {"a": float("inf")}], ["z", "x"])
    with pytest.raises(LabelError):
        committee.learn_one({"a": 1.0}, [1])
    with pytest.raises(InputError, match="y must be as long as X"):
        committee.learn_many([{"a": 1.0}], ["x", "y"])
    assert same_value(committee.state(), before)
    assert committee.classes == ("x", "y")


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ([], "learners must be at least one"),
        ([3], "learners must be learners of many labels, or of two labels with scores"),
        (["nothing"], "learners must be one of"),
        ({1: aw.Perceptron()}, "the names of learners must be strings"),
        ("perceptron", "learners must be learners of many labels"),
        ([aw.WinnowDisjunction], "a class must need no arguments"),
        ([aw.MLpol(3)], "learners must be learners of many labels"),
    ],
)
def test_members_are_checked(learners, message):
    with pytest.raises(InputError, match=message):
        aw.MulticlassCommittee(learners)


def test_two_labels_name_the_committee_of_many():
    with pytest.raises(InputError, match=r"labels must be two labels; for more there is MulticlassCommittee; received"):
        aw.Committee(labels=("a", "b", "c"))
    for learners in ([aw.MulticlassPerceptron()], {"many": aw.OneVsRest}):
        with pytest.raises(InputError, match="for learners of many labels there is MulticlassCommittee; received"):
            aw.Committee(learners)
    with pytest.raises(InputError, match="labels must be two or more different labels"):
        aw.MulticlassCommittee(labels=("a",))


@pytest.mark.parametrize("labels", [None, (3, 2, 1, 0)])
def test_the_default_pool_goes_on_from_its_file(labels, tmp_path):
    X, y = stream(4, 40)
    whole, committee = aw.MulticlassCommittee(labels=labels), aw.MulticlassCommittee(labels=labels)
    whole.learn_many(X, y)
    committee.learn_many(X[:20], y[:20])
    aw.save(committee, tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again == committee.copy() == committee
    again.learn_many(X[20:], y[20:])
    assert again == whole


def test_a_used_committee_goes_on_from_its_file(tmp_path):
    X, y = stream(4, 90)
    whole, committee = aw.MulticlassCommittee(MIXED), aw.MulticlassCommittee(MIXED)
    whole.learn_many(X, y)
    committee.learn_many(X[:40], y[:40])
    for twin in (committee.copy(), pickle.loads(pickle.dumps(committee)), committee.clone(include_attributes=True)):
        assert twin == committee
    aw.save(committee, tmp_path / "model")
    again = aw.load(tmp_path / "model")
    assert again == committee
    again.learn_many(X[40:], y[40:])
    assert again == whole
    assert committee.clone() == aw.MulticlassCommittee(MIXED)
    assert repr(committee).startswith("MulticlassCommittee(5 learners): 40 rounds")


def test_a_broken_state_is_refused_and_changes_nothing():
    X, y = stream(6, 20)
    committee = aw.MulticlassCommittee(SMALL)
    committee.learn_many(X, y)
    before = committee.state()
    members = before["members"]
    broken = {
        "a member too few": {**before, "members": members[1:]},
        "no members": {**before, "members": None},
        "another member": {**before, "members": [members[1], *members[1:]]},
        "a used member": {**before, "members": [{**members[0], "rounds": 21}, *members[1:]]},
        "other classes": {**before, "classes": before["classes"][::-1]},
        "a class too many": {**before, "classes": [*before["classes"], "more"]},
        "no weighting": {**before, "weighting": None},
        "other updates": {**before, "updates": 3},
        "more mistakes": {**before, "mistakes": 21},
    }
    for name, state in broken.items():
        with pytest.raises(InputError):
            committee.restore(state)
        assert same_value(committee.state(), before), name
    for key in before:
        with pytest.raises(InputError):
            committee.restore({other: value for other, value in before.items() if other != key})
