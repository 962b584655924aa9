"""The committee: by its oracle, by its contract, by its theorems; any members, any weighting, any labels."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_committee
from afterwit import kernels
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError, LabelError
from afterwit.reductions.committee import ExpectedMistakesBound, MixtureLossBound, MixtureMistakesBound, VoteBound
from afterwit.storage import register
from afterwit.testing import learners as testing
from problems import FORMS, as_dicts, one_by_one, small_integers

CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "models"
SMALL = {"plain": aw.Perceptron(), "shifted": aw.Perceptron(intercept=True), "last": aw.RepeatLastLabel()}


def stream(seed, rows=40, width=3):
    """Half a linear rule, half runs of the same label."""
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(rows, width)).astype(float)
    y = np.where(X @ random.standard_normal(width) >= 0, 1, -1)
    y[rows // 2 :] = np.repeat(random.choice([-1, 1], size=rows), 5)[: rows - rows // 2]
    return X, y


@register
class StubbornMember:
    """A learner of nobody's family: always the negative label, unless it is told to refuse a round."""

    def __init__(self, refuses=None, labels=(-1, 1)):
        self.refuses, self.labels = refuses, labels
        self.rounds = self.mistakes = self.updates = 0

    def predict_one(self, x):
        return self.labels[0]

    def learn_one(self, x, y):
        if self.rounds == self.refuses:
            raise InputError("x must be another; received this one")
        self.rounds += 1
        self.mistakes += y != self.labels[0]
        return self.labels[0]

    @property
    def parameters(self):
        return {"refuses": self.refuses, "labels": self.labels}

    def state(self):
        return {"rounds": self.rounds, "mistakes": self.mistakes}

    def restore(self, state):
        self.rounds, self.mistakes = state["rounds"], state["mistakes"]

    def copy(self):
        twin = StubbornMember(**self.parameters)
        twin.restore(self.state())
        return twin

    def __eq__(self, other):
        return type(other) is StubbornMember and (self.parameters, self.state()) == (other.parameters, other.state())

    __hash__ = None


# ---------------------------------------------------------------------- the contract


MIXED = [aw.KernelPerceptron, aw.DualPerceptron(budget=3), "sgd", aw.Committee(["perceptron"], "boa"), StubbornMember]


@pytest.mark.parametrize(
    "check",
    [testing.check_one_is_many, testing.check_labels, testing.check_mixed_features, testing.check_saving],
    ids=lambda check: check.__name__,
)
def test_the_contract_with_other_members(check):
    check(partial(aw.Committee, MIXED, "mlpol"))


# ---------------------------------------------------------------------- what it does


ORACLES = {"fixed-share": naive_committee.NaiveFixedShare, "adahedge": naive_committee.NaiveAdaHedge}


def naive_members():
    return [naive_committee.NaivePerceptron(), naive_committee.NaivePerceptron(True), naive_committee.NaiveRepeat()]


@settings(max_examples=40)
@given(small_integers, st.sampled_from(FORMS), st.sampled_from(sorted(ORACLES)))
def test_it_does_what_the_oracle_does(problem, form, weighting):
    X, y = problem
    found = naive_committee.committee(naive_members(), X, y, ORACLES[weighting])
    scores, _, member_mistakes, expected, weights = found
    committee = aw.Committee(SMALL, weighting=weighting)
    found = committee.learn_scores(form(X), y)
    assert found.tolist() == pytest.approx(scores, abs=1e-9)
    assert list(committee.member_mistakes.values()) == member_mistakes
    assert committee.expected_mistakes == pytest.approx(expected, abs=1e-9)
    assert list(committee.weights.values()) == pytest.approx(weights, abs=1e-9)
    assert committee.mistakes == sum((1 if score >= 0 else -1) != label for score, label in zip(found, y, strict=True))
    singly = aw.Committee(SMALL, weighting=weighting)
    for x, label in zip(one_by_one(form, X), y, strict=True):
        singly.learn_one(x, label)
    assert singly == committee


def test_a_longer_run_by_the_oracle():
    X, y = stream(3, rows=400)
    found = naive_committee.committee(naive_members(), X.astype(int).tolist(), y)
    scores, mistakes, member_mistakes, expected, weights = found
    committee = aw.Committee(SMALL, "fixed-share")
    assert committee.learn_scores(X, y).tolist() == pytest.approx(scores, abs=1e-9)
    assert committee.mistakes == mistakes
    assert committee.member_mistakes == dict(zip(SMALL, member_mistakes, strict=True))
    assert committee.expected_mistakes == pytest.approx(expected, rel=1e-9)
    assert list(committee.weights.values()) == pytest.approx(weights, abs=1e-9)
    assert committee.best_member == min(SMALL, key=committee.member_mistakes.__getitem__)


def mixture_by_the_oracle(committee, X, y):
    """What the oracle makes of the scores that members of these kinds have alone."""
    alone = {name: type(member)(**member.parameters) for name, member in committee.members.items()}
    said = np.column_stack([member.learn_scores(X, y) for member in alone.values()])
    speaks = [member.gives_probabilities for member in alone.values()]
    return naive_committee.mixture(said.tolist(), speaks, [int(label) for label in y])


@settings(max_examples=40)
@given(small_integers, st.sampled_from(FORMS))
def test_the_mixture_is_the_oracle(problem, form):
    X, y = problem
    pool = [aw.SGD(rate=3.0), "perceptron", aw.RepeatLastLabel, aw.Calibrated("perceptron"), aw.AdaGrad(rate=2.0)]
    committee, singly = aw.Committee(pool), aw.Committee(pool)
    run = mixture_by_the_oracle(committee, form(X), y)
    assert committee.learn_scores(form(X), y).tolist() == pytest.approx(run["scores"], rel=1e-9, abs=1e-9)
    assert list(committee.weights.values()) == pytest.approx(run["weights"], rel=1e-9)
    assert list(committee.member_losses.values()) == pytest.approx(run["losses"], rel=1e-9)
    assert list(committee.member_mistakes.values()) == run["wrong"]
    assert committee.log_loss == pytest.approx(run["loss"], rel=1e-9)
    for x, label in zip(one_by_one(form, X), y, strict=True):
        probabilities, score, said = singly.predict_proba_one(x), singly.score_one(x), singly.predict_one(x)
        assert probabilities[1] + probabilities[-1] == pytest.approx(1)
        assert (said == 1) == (probabilities[1] >= 0.5) == (score >= 0)
        assert singly.learn_one(x, label) == said
    assert singly == committee
    assert committee.certificate(form(X), y).verdict is Verdict.HOLDS


def test_a_longer_mixture_is_the_oracle():
    X, y = stream(3, rows=600)
    committee = aw.Committee()
    run = mixture_by_the_oracle(committee, X, y)
    assert committee.learn_scores(X, y).tolist() == pytest.approx(run["scores"], rel=1e-8, abs=1e-8)
    assert list(committee.weights.values()) == pytest.approx(run["weights"], rel=1e-8)
    assert committee.log_loss == pytest.approx(run["loss"], rel=1e-9)
    many = committee.predict_proba_many(X)
    assert many.tolist() == [list(committee.predict_proba_one(x).values()) for x in X]
    assert committee.gives_probabilities
    assert committee.expected_mistakes is None


def test_scores_of_any_size_count_as_numbers_do():
    """A score of 1e6 is no surer than one of 36: what it loses where it is wrong is finite."""
    committee = aw.Committee([aw.SGD(rate=1e6), "repeat-last-label"])
    committee.learn_many([[1.0], [1.0]], [1, -1])
    assert committee.member_losses["SGD(rate=1000000.0)"] == pytest.approx(np.log(2) + 36)
    assert np.isfinite(committee.score_one([-1e3]))


def test_members_without_probabilities_speak_by_how_often_they_were_right():
    committee = aw.Committee({"never": StubbornMember})
    odds = []
    for label in (-1, -1, -1, 1, 1, 1, 1):
        odds.append(committee.score_one([1.0]))
        committee.learn_one([1.0], label)
    assert odds == pytest.approx([0.0, *(-np.log([2, 3, 4, 2, 4 / 3])), 0.0])
    # As often wrong as right, or more often: nothing is known, and a tie is positive.
    assert committee.score_one([1.0]) == 0.0
    assert committee.predict_one([1.0]) == 1


def test_members_that_vote_have_no_probabilities():
    committee = aw.Committee(SMALL, "adahedge")
    assert not committee.gives_probabilities
    assert committee.log_loss is None
    assert committee.member_losses is None
    with pytest.raises(NotImplementedError, match="Committee gives no probabilities"):
        committee.predict_proba_one([1.0])


def test_members_learn_what_they_would_alone():
    X, y = stream(5)
    labels = ("no", "yes")
    answers = np.array(labels)[(y > 0).astype(int)]
    committee = aw.Committee(labels=labels)
    committee.learn_many(X, answers)
    assert len(committee.members) == 10
    for name, member in committee.members.items():
        alone = type(member)(**member.parameters)
        alone.learn_many(X, answers)
        assert alone == member, name
        assert alone.mistakes == committee.member_mistakes[name]
    assert committee.features == 3
    committee.members["ScaleFree"].learn_one(X[0], "no")  # a copy: nothing changes
    assert committee.members["ScaleFree"].rounds == 40


def test_the_default_members():
    assert list(aw.Committee().members) == [
        "ScaleFree",
        "NormalizedAdaGrad",
        "NormalizedAdaGrad, rate 1.5",
        "NormalizedAdaGrad, squared",
        "NormalizedAdaGrad, hinge",
        "AdaGrad",
        "standardized AdaGrad",
        "standardized ScaleFree",
        "standardized PassiveAggressive",
        "RepeatLastLabel",
    ]
    assert list(aw.Committee(weighting="boa").members) == [
        "ScaleFree",
        "ScaleFree(epsilon=0.1)",
        "NormalizedAdaGrad",
        "NormalizedAdaGrad(rate=1.5)",
        "NormalizedAdaGrad(loss='squared')",
        "AdaGrad",
        "Standardize(AdaGrad)",
        "Standardize(ScaleFree)",
        "Standardize(SGD(rate=1.0))",
        "RepeatLastLabel",
    ]


def test_a_tie_is_positive_and_scores_stay_in_range():
    committee = aw.Committee([StubbornMember, aw.RepeatLastLabel], labels=("a", "b"))
    assert committee.score_one({}) == 0.0
    assert committee.predict_one({}) == "b"
    X, y = stream(1)
    other = aw.Committee(weighting="fixed-share")
    assert (np.abs(other.learn_scores(X, y)) <= 1).all()
    assert (np.abs(other.score_many(X)) <= 1).all()


def test_one_that_follows_whoever_is_right():
    """Two members that are always right in turn: the weight moves to the one that has been right longer."""
    committee = aw.Committee({"never": StubbornMember, "last": aw.RepeatLastLabel})
    committee.learn_many([{}] * 40, [1] * 40)
    assert committee.mistakes == 0
    assert committee.weights["last"] > 0.99
    assert committee.certificate().hindsight.value == 0


def test_names():
    committee = aw.Committee([aw.AdaGrad(rate=2.0), aw.AdaGrad, "adagrad", aw.AdaGrad(rate=2.0, intercept=True)])
    assert list(committee.members) == ["AdaGrad(rate=2.0)", "AdaGrad", "AdaGrad #2", "AdaGrad(rate=2.0) #2"]
    started = aw.Committee([aw.Perceptron(start=np.array([1.0, 2.0])), aw.KernelPerceptron(kernels.gaussian(2.0))])
    assert [name.partition("(")[0] for name in started.weights] == ["Perceptron", "KernelPerceptron"]
    assert list(aw.Committee({"quick": aw.SGD, "slow": "sgd"}).weights) == ["quick", "slow"]


def test_passes_until_no_mistake():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    training = aw.Committee().fit(X, [1, -1], max_passes=50)
    assert training.converged
    assert training.mistakes_per_pass[-1] == 0


def test_strings_for_members_that_take_strings():
    committee = aw.Committee([aw.KernelPerceptron(kernels.string(2)), aw.KernelPerceptron(kernels.string(3))])
    texts, y = ["cheap pills", "lunch?", "lunches", "pills"], [1, -1, -1, 1]
    committee.learn_many(texts, y)
    singly = aw.Committee([aw.KernelPerceptron(kernels.string(2)), aw.KernelPerceptron(kernels.string(3))])
    assert [singly.learn_one(text, label) for text, label in zip(texts, y, strict=True)] == [1, 1, 1, 1]
    assert singly == committee
    with pytest.raises(InputError, match="X must be"):
        aw.Committee([aw.KernelPerceptron(kernels.string(2)), "perceptron"]).learn_many(texts, y)


def test_votes_do_not_rank_classes():
    for learner in (aw.Committee(weighting="boa"), aw.Committee(["perceptron", "repeat-last-label"], "fixed-share")):
        with pytest.raises(InputError, match="a committee of many classes is MulticlassCommittee; received"):
            aw.OneVsRest(learner)
    # Log-odds do.
    assert aw.OneVsRest(aw.Committee).gives_probabilities


# ---------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learners": []}, "learners must be at least one"),
        ({"learners": {}}, "learners must be at least one"),
        ({"learners": "perceptron"}, "learners must be learners of two labels"),
        ({"learners": 3}, "learners must be learners of two labels"),
        ({"learners": [3]}, "learners must be learners of two labels"),
        ({"learners": [aw.OneVsRest]}, "learners must be learners of two labels"),
        ({"learners": [aw.MLpol(3)]}, "learners must be learners of two labels"),
        ({"learners": ["perceptrom"]}, "learners must be one of .*perceptron"),
        ({"learners": [aw.AdaHedge]}, "a class must need no arguments"),
        ({"learners": {1: aw.Perceptron}}, "the names of learners must be strings"),
        ({"weighting": "hedge"}, "weighting must be one of mixture, fixed-share, adahedge, boa, mlpol"),
        ({"weighting": aw.AdaHedge}, "weighting must be one of"),
        ({"weighting": aw.WeightedMajority(7)}, "weighting must be an expert algorithm that learns from losses alone"),
        ({"weighting": aw.Exp3(7)}, "weighting must be an expert algorithm that sees the losses of all"),
        ({"weighting": aw.AdaHedge(3, loss="zero-one")}, "weighting must be for the 10 members; received one for"),
        ({"weighting": aw.AdaHedge(list("abcdefghij"), loss="zero-one")}, "weighting must be for the 10 members"),
        ({"weighting": aw.RandomizedWeightedMajority(10, beta=0.5, loss_range=(0, 0.5))}, "for losses of 0 and 1"),
        ({"labels": (1, 1)}, "labels must be"),
    ],
    ids=str,
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        aw.Committee(**options)


def test_a_weighting_that_has_learned_is_refused():
    weighting = aw.AdaHedge(7, loss="zero-one")
    weighting.observe([0.0] * 7)
    with pytest.raises(InputError, match="received one that has learned 1 round"):
        aw.Committee(weighting=weighting)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, as_dicts], ids=["dense", "sparse", "names"])
@pytest.mark.parametrize(
    "pool", [["perceptron", StubbornMember(refuses=6)], [StubbornMember, "perceptron", StubbornMember(refuses=6)]]
)
def test_what_one_member_refuses_changes_no_member(form, pool):
    X, y = stream(4, rows=10)
    X = form(X)
    committee = aw.Committee([*pool, aw.KernelPerceptron])
    before = committee.copy()
    with pytest.raises(InputError, match="x must be another"):
        committee.learn_many(X, y)
    assert committee == before
    committee.learn_many(X[:6], y[:6])
    before = committee.copy()
    with pytest.raises(InputError, match="x must be another"):
        committee.learn_one(X[[6]] if form is sparse.csr_array else X[6], y[6])
    assert committee == before


def test_members_that_begin_by_name_and_by_position():
    committee = aw.Committee([aw.RepeatLastLabel, aw.Perceptron(start=[1.0]), aw.Perceptron(start={"a": 1.0})])
    before = committee.copy()
    for examples in ([{"a": 1.0}], [{"a": 1.0}] * 2, np.ones((1, 1)), np.ones((2, 1))):
        with pytest.raises(InputError, match="x must be"):
            committee.learn_many(examples, [1] * len(examples))
        with pytest.raises(InputError, match="x must be"):
            committee.learn_one(examples[0], 1)
    assert committee == before


def test_a_label_that_is_none():
    committee = aw.Committee(labels=("a", "b"))
    with pytest.raises(LabelError, match="y must be 'a' or 'b'; received 'c'"):
        committee.learn_one({"x": 1.0}, "c")
    assert committee.rounds == 0


# ---------------------------------------------------------------------- certificates

WEIGHTINGS = {
    "fixed-share": "fixed-share",
    "adahedge": "adahedge",
    "boa": "boa",
    "mlpol": "mlpol",
    "exponential": aw.ExponentialWeights(3, loss="zero-one", rate=0.5),
    "fixed share": aw.FixedShare(3, loss="zero-one", share=0.05, rate=0.5, shifts=2),
    "majority": aw.RandomizedWeightedMajority(3, beta=0.7),
    "polynomial": aw.PolynomialWeights(3, loss="zero-one"),
    "second order": aw.SecondOrderWeights(3, beta=0.7),
    "sleeping": aw.SleepingExperts(3, epsilon=0.3),
    "swap": aw.SwapRegret(aw.ExponentialWeights(3, horizon=40)),
    "a wider range": aw.RandomizedWeightedMajority(3, beta=0.7, loss_range=(-1, 2)),
}


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_the_bounds_of_every_weighting(weighting, tmp_path):
    for seed in range(4):
        X, y = stream(seed)
        committee = aw.Committee(SMALL, WEIGHTINGS[weighting])
        committee.learn_many(X, y)
        certificate = committee.certificate(X, y)
        assert certificate.verdict is Verdict.HOLDS
        assert certificate.observed == committee.mistakes
        (expected,) = certificate.others
        assert expected.verdict is Verdict.HOLDS
        assert expected.observed == pytest.approx(committee.expected_mistakes)
        assert certificate.bound == 2 * expected.bound
        assert certificate.hindsight.value <= min(committee.member_mistakes.values()) <= expected.bound
        # The step from the one to the other, on what happened.
        assert committee.mistakes <= 2 * committee.expected_mistakes + 1e-9
        assert expected.bound == pytest.approx(_promised(committee.weighting))
        state = committee.certificate()
        assert (state.bound, state.observed) == (certificate.bound, certificate.observed)
    aw.save(committee, tmp_path / "m")
    assert aw.load(tmp_path / "m") == committee


def _promised(weighting):
    """The weighting's own certificate, read as a bound on its loss."""
    own = weighting.certificate()
    bounds = [
        each.bound if each.quantity == "loss" else each.bound + each.hindsight.value
        for each in (own, *own.others)
        if each.verdict is Verdict.HOLDS
    ]
    return min(bounds)


def test_adahedge_bound_in_closed_form():
    X, y = stream(8, rows=200)
    committee = aw.Committee(SMALL, weighting="adahedge")
    twins = {name: learner.copy() for name, learner in SMALL.items()}
    said = np.column_stack([twin.learn_many(X, y) for twin in twins.values()])
    committee.learn_many(X, y)
    disagreed = np.count_nonzero((said != said[:, :1]).any(axis=1))
    regret = np.sqrt(disagreed * np.log(3)) + 4 / 3 * np.log(3) + 2
    least = (said != y[:, None]).sum(axis=0).min()
    certificate = committee.certificate()
    assert certificate.bound == pytest.approx(2 * (least + regret))
    assert certificate.inputs["M"] == least
    assert certificate.hindsight.description == f"by {committee.best_member}, the best of 3 members"


def test_the_bound_of_fixed_share_in_closed_form():
    X, y = stream(8, rows=200)
    committee = aw.Committee(SMALL, "fixed-share")
    committee.learn_many(X, y)
    least = min(committee.member_mistakes.values())
    cost = np.log(3) - 199 * np.log(0.999)
    certificate = committee.certificate()
    by_losses, by_rounds = (0.5 * least + cost) / (1 - np.exp(-0.5)), least + cost / 0.5 + 0.5 * 200 / 8
    assert certificate.bound == pytest.approx(2 * min(by_losses, by_rounds))
    assert certificate.inputs["M"] == least
    assert certificate.verdict is Verdict.HOLDS


def test_half_of_the_weight_is_enough_for_a_mistake():
    """The factor 2 is needed: one of two members is right in every round, and the tie goes the wrong way."""
    committee = aw.Committee({"never": StubbornMember, "always": aw.Perceptron()}, "fixed-share")
    assert committee.learn_one({}, -1) == 1
    assert committee.mistakes == 1 == 2 * committee.expected_mistakes


@pytest.mark.parametrize("seed", range(3))
def test_the_vote_against_an_adversary(seed):
    """Every label is the one the committee does not say: the bound holds where it hurts most."""
    random = np.random.default_rng(seed)
    committee = aw.Committee(["perceptron", "repeat-last-label", aw.AdaGrad, StubbornMember], "fixed-share")
    X = random.integers(-2, 3, size=(300, 4)).astype(float)
    for x in X:
        committee.learn_one(x, -committee.predict_one(x))
    certificate = committee.certificate()
    assert committee.mistakes == 300
    assert committee.expected_mistakes >= 150 - 1e-9
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.others[0].verdict is Verdict.HOLDS


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_mixture_against_an_adversary(seed, scale):
    """Every label is the one that the committee gives less, at any scale, also after rounds of another kind."""
    random = np.random.default_rng(seed)
    committee = aw.Committee(labels=(-1, 1))
    X = scale * random.integers(-2, 3, size=(200, 4)).astype(float)
    committee.learn_many(X[:50], np.where(X[:50, 0] >= 0, 1, -1))
    before = committee.mistakes
    for x in X[50:]:
        committee.learn_one(x, -committee.predict_one(x))
    mistakes, loss = committee.certificate(), committee.certificate().others[0]
    assert committee.mistakes == before + 150
    assert committee.log_loss >= 150 * np.log(2) - 1e-9
    assert (mistakes.verdict, loss.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
    assert (loss.quantity, loss.observed) == ("log loss", committee.log_loss)
    # The step from the one to the other, and the bound against every member.
    assert committee.mistakes <= committee.log_loss / np.log(2)
    cost = 4 * (np.log(10) - 199 * np.log(0.999))
    for name, own in committee.member_losses.items():
        assert committee.log_loss <= own + committee.member_mistakes[name] + cost
        assert loss.bound <= own + committee.member_mistakes[name] + cost + 1e-6


def test_the_bound_of_a_mixture_in_closed_form():
    X, y = stream(8, rows=200)
    committee = aw.Committee(SMALL)
    committee.learn_many(X, y)
    losses, mistakes = committee.member_losses, committee.member_mistakes
    least = min(losses[name] + mistakes[name] for name in losses)
    certificate = committee.certificate(X, y)
    (loss,) = certificate.others
    assert loss.bound == pytest.approx(least + 4 * (np.log(3) - 199 * np.log(0.999)))
    assert certificate.bound == pytest.approx(loss.bound / np.log(2))
    assert loss.hindsight.value == min(losses.values())
    assert certificate.hindsight.value == min(mistakes.values())
    assert MixtureLossBound.bound(7.0, 3, 1, 1, 0.001) == 10


def test_log_losses_that_were_tampered_with_get_no_certificate():
    X, y = stream(7)
    committee = aw.Committee(SMALL)
    committee.learn_many(X, y)
    state = committee.state()
    state["weighting"]["losses"] = state["weighting"]["losses"] * 0.9
    committee.restore(state)
    certificate = committee.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "plain has the log loss" in certificate.failed[0].detail


def test_several_passes_and_no_rounds_at_all():
    X, y = stream(6)
    committee = aw.Committee()
    empty = committee.certificate()
    assert (empty.verdict, empty.rounds, empty.hindsight) == (Verdict.HOLDS, 0, None)
    for _ in range(3):
        committee.learn_many(X, y)
    certificate = committee.certificate(X, y)
    assert (certificate.verdict, certificate.rounds) == (Verdict.HOLDS, 120)
    assert "played again, 3 passes" in " ".join(certificate.details().split())


def test_other_rounds_get_no_certificate():
    X, y = stream(7)
    committee = aw.Committee()
    committee.learn_many(X, y)
    for other in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, -y)):
        certificate = committee.certificate(*other)
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert certificate.bound is None
    with pytest.raises(InputError, match="y must be given with X, unless X is the path"):
        committee.certificate(X)


def test_counts_that_were_tampered_with_get_no_certificate():
    X, y = stream(7)
    committee = aw.Committee(SMALL)
    committee.learn_many(X, y)
    state = committee.state()
    state["members"][0]["mistakes"] -= 1
    committee.restore(state)
    certificate = committee.certificate()
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "plain counts" in certificate.failed[0].detail
    assert "its weight is based on another number" in certificate.failed[0].detail


def test_a_weighting_whose_theorem_does_not_apply():
    X, y = stream(7)
    committee = aw.Committee(SMALL, aw.RandomizedWeightedMajority(3, beta=0.2))
    committee.learn_many(X, y)
    certificate = committee.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "beta is 0.2" in str(certificate)
    assert certificate.others[0].verdict is Verdict.NOT_APPLICABLE


def test_the_theorems_say_what_they_are():
    kinds = [type(theorem) for theorem in aw.Committee.theorems]
    assert kinds == [MixtureMistakesBound, MixtureLossBound, VoteBound, ExpectedMistakesBound]
    assert VoteBound.bound(7.5) == 15
    assert ExpectedMistakesBound.bound(7.5) == 7.5


# ---------------------------------------------------------------------- copying, saving, showing


def test_a_saved_pool_comes_back(tmp_path):
    X, y = stream(9)
    labels = (None, ("x", 2))
    answers = [labels[int(sign > 0)] for sign in y]
    committee = aw.Committee(
        {
            "mine": StubbornMember(refuses=99),
            "kernel": aw.KernelPerceptron(budget=5),
            "inner": aw.Committee(["winnow"]),
        },
        aw.FixedShare(3, loss="zero-one", share=0.1, rate=0.5),
        labels,
    )
    committee.learn_many(as_dicts(X.tolist()), answers)
    aw.save(committee, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == committee
    assert list(again.members) == ["mine", "kernel", "inner"]
    assert again.members["kernel"].labels == labels
    x = {"f0": 1.0}
    assert again.learn_one(x, None) == committee.learn_one(x, None)
    assert again == committee


def test_a_committee_that_was_saved_without_the_names_of_its_members_still_votes():
    """Made by a version whose default was the vote of ten, and whose files did not say which ten."""
    learner = aw.load(CORPUS / "Committee-voters.model")
    assert list(learner.members) == list(aw.Committee(weighting="fixed-share").members)
    assert (learner.rounds, learner.mistakes, learner.gives_probabilities) == (40, 6, False)
    assert learner.certificate().verdict is Verdict.HOLDS
    mixture = aw.load(CORPUS / "Committee-mixture.model")
    assert (mixture.rounds, mixture.gives_probabilities) == (50, True)
    assert mixture.certificate().verdict is Verdict.HOLDS


def test_other_default_members_do_not_change_a_saved_model(tmp_path, monkeypatch):
    X, y = stream(9)
    committee = aw.Committee()
    committee.learn_many(X, y)
    aw.save(committee, tmp_path / "m")
    monkeypatch.setattr("afterwit.reductions._members.default_pool", lambda: {"other": aw.Perceptron()})
    assert aw.load(tmp_path / "m") == committee


def test_a_member_that_cannot_be_saved_is_refused(tmp_path):
    class Mine(aw.Perceptron):
        pass

    with pytest.raises(InputError, match="learner must be one of"):
        aw.save(aw.Committee([Mine]), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("part", ["members", "weighting", "rounds", "inside"])
def test_a_state_that_is_none_is_refused(part):
    X, y = stream(9)
    committee = aw.Committee(SMALL)
    committee.learn_many(X, y)
    before, state = committee.copy(), committee.state()
    if part == "members":
        state["members"] = state["members"][:2]
    elif part == "weighting":
        state["weighting"]["rounds"] = 3
    elif part == "rounds":
        state["mistakes"] = 41
    else:
        state["members"][2]["last"] = 5
    with pytest.raises(InputError):
        committee.restore(state)
    assert committee == before


def test_options_can_be_read_and_changed():
    learner = aw.AdaGrad(rate=2.0)
    learner.learn_one({"a": 1}, 1)
    committee = aw.Committee([learner, "perceptron"], labels=(0, 1))
    assert learner.rounds == 1
    assert committee.members["AdaGrad(rate=2.0)"].rounds == 0
    assert committee.labels == (0, 1)
    assert committee.clone({"weighting": "boa"}).parameters["weighting"] == "boa"
    assert type(committee.clone({"weighting": "boa"}).weighting) is aw.BOA
    used = aw.Committee()
    assert used.parameters == {"learners": None, "weighting": "mixture", "labels": None}
    used.learn_one([1.0], 1)
    # From now on another version's choice of members does not matter.
    assert list(used.parameters["learners"]) == list(aw.Committee().members)
    assert [member.rounds for member in used.parameters["learners"].values()] == [0] * 10


def test_what_it_looks_like():
    committee = aw.Committee({"plain": aw.Perceptron, "last": aw.RepeatLastLabel}, labels=("a", "b"))
    assert "mistakes" in str(committee)
    committee.learn_many([{}, {}, {}, {}], ["a", "b", "b", "b"])
    assert repr(committee) == "Committee(2 learners, labels=('a', 'b')): 4 rounds, 1 mistake"
    assert str(committee).splitlines() == [
        "                  mistakes     error    weight",
        "plain                    1    25.00%    0.5732",
        "last                     2    50.00%    0.4268",
        "the committee            1    25.00%",
    ]
    assert repr(aw.Committee(weighting="boa")).startswith("Committee(weighting=boa, labels=(-1, 1))")
    shared = aw.FixedShare(10, loss="zero-one", share=0.1, rate=0.5)
    assert "weighting=FixedShare" in repr(aw.Committee(weighting=shared))


def test_threads_may_share_it():
    from concurrent.futures import ThreadPoolExecutor

    committee = aw.Committee(SMALL)
    X, y = stream(1, rows=30)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: (committee.learn_many(X, y), committee.predict_many(X)), range(20)))
    assert committee.rounds == 600
    assert all(member.rounds == 600 for member in committee.members.values())
    assert committee.certificate().verdict is Verdict.HOLDS
