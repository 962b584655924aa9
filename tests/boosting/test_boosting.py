"""Boosting and its stumps: the algorithm of the book, its bounds, and the game behind it."""

import math
import pickle
from fractions import Fraction

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import afterwit as aw
import naive_games as naive
from afterwit.boosting import minimax_margin
from afterwit.boosting._bounds import (
    ObservedErrorsBound,
    RoundsNeeded,
    SharperTrainingMistakesBound,
    TrainingMistakesBound,
    WrongVotesBound,
)
from afterwit.certify.boosting import evidence_of
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError, ModelFileError
from afterwit.games import all_stumps, rounds_needed

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
INSIDE = [-1, 1, 1, 1, -1, 1]

tables = st.tuples(st.integers(1, 9), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        npst.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)),
        npst.arrays(np.int64, shape[0], elements=st.sampled_from([-1, 1])),
        npst.arrays(np.int64, shape[0], elements=st.integers(0, 7)),
    )
)


class Fixed:
    """A hypothesis, and a weak learner that gives the next of a fixed list of predictions."""

    def __init__(self, choose):
        self.choose = choose

    def fit(self, X, y, sample_weight=None):
        self.said = self.choose(np.asarray(y), sample_weight)

    def predict(self, X):
        return self.said


def least_helpful(gamma):
    """Wrong on the heaviest rows, as long as the weak-learning assumption allows it."""

    def choose(y, weights):
        said, spent = y.copy(), 0.0
        for i in np.argsort(-weights, kind="stable"):
            if spent + weights[i] <= (0.5 - gamma) * weights.sum():
                said[i], spent = -y[i], spent + weights[i]
        return said

    return choose


# ---------------------------------------------------------------------- stumps


@given(table=tables)
def test_no_stump_has_less_weighted_error(table):
    X, y, weights = table
    stump = aw.DecisionStump().fit(X, y, sample_weight=weights)
    said = stump.predict_many(X).tolist()
    assert naive.weighted_error(said, y.tolist(), weights.tolist()) == naive.least_stump_error(
        X.tolist(), y.tolist(), weights.tolist()
    )
    assert [stump.predict_one(x) for x in X] == said


@given(table=tables)
def test_all_stumps_are_all_stumps(table):
    X, _, _ = table
    ours = {tuple(stump.predict_many(X).tolist()) for stump in all_stumps(X)}
    theirs = {tuple(naive.stump_says(stump, x) for x in X.tolist()) for stump in naive.every_stump(X.tolist())}
    assert ours == theirs


def test_a_threshold_lies_between_two_values():
    low, high = 1.0, math.nextafter(1.0, 2.0)
    for X in ([[low], [high]], [[-1.7e308], [1.7e308]], [[0.0], [5e-324]]):
        stump = aw.DecisionStump().fit(X, [-1, 1])
        assert stump.predict_many(X).tolist() == [-1, 1]
        assert X[0][0] <= stump.threshold < X[1][0]


def test_among_equal_stumps_the_first():
    assert aw.DecisionStump().fit([[0.0, 0.0], [1.0, 1.0]], [1, 1]).feature is None
    both = aw.DecisionStump().fit([[0.0, 0.0], [1.0, 1.0]], [1, -1])
    assert (both.feature, both.threshold, both.sign) == (0, 0.5, -1)
    assert repr(both) == "DecisionStump: -1 if x[0] > 0.5 else 1"
    assert repr(aw.DecisionStump(labels=("a", "b")).fit([[1.0]], ["b"])) == "DecisionStump: always 'b'"
    assert repr(aw.DecisionStump()) == "DecisionStump(labels=(-1, 1)): not fitted"


def test_stumps_know_features_by_name():
    frame = pd.DataFrame({"height": [1.0, 2.0, 3.0, 4.0], "age": [9.0, 3.0, 7.0, 5.0]})
    stump = aw.DecisionStump(labels=("no", "yes")).fit(frame, ["no", "no", "yes", "yes"])
    assert stump.feature == "height"
    assert stump.predict_one({"age": 1.0, "height": 2.6}) == "yes"
    assert stump.predict_many(frame[["age", "height"]]).tolist() == ["no", "no", "yes", "yes"]
    assert stump.predict_many([{"height": 9}, {"age": 9, "weight": 3}]).tolist() == ["yes", "no"]
    with pytest.raises(InputError, match="X must be with feature names; received otherwise"):
        stump.predict_many([[1.0, 2.0]])
    with pytest.raises(InputError, match="X must be of 2 columns"):
        aw.DecisionStump().fit([[1.0, 2.0]], [1]).predict_many([[1.0]])


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([[1.0], [2.0]], [1, -1], [1.0], "sample_weight must be 2 finite numbers, none below 0"),
        ([[1.0], [2.0]], [1, -1], [1.0, -1.0], "sample_weight must be 2 finite numbers, none below 0"),
        ([[1.0], [2.0]], [1, -1], ["a", "b"], "sample_weight must be 2 finite numbers, none below 0"),
        ([[1.0], [math.nan]], [1, -1], None, r"X\[1, 0\] must be a finite number; received nan"),
        ([[1.0], [2.0]], [1, 0], None, r"y\[1\] must be -1 or 1; received 0"),
        ([[1.0], [2.0]], [1], None, r"y must be as long as X \(2 rows\)"),
        (np.zeros((0, 2)), [], None, "X must be at least one row of at least one feature"),
        (sp.csr_array([[1.0], [2.0]]), [1, -1], None, "X must be dense for decision stumps"),
    ],
)
def test_what_a_stump_refuses(X, y, weights, message):
    with pytest.raises(InputError, match=message):
        aw.DecisionStump().fit(X, y, sample_weight=weights)
    with pytest.raises(InputError, match="a DecisionStump has to be fitted before it predicts"):
        aw.DecisionStump().predict_many([[1.0]])


# ---------------------------------------------------------------------- boosting


@given(table=tables, gamma=st.sampled_from(["1/4", "1/8", "1/50", "3/8"]), rounds=st.integers(1, 12))
def test_the_algorithm_of_the_book(table, gamma, rounds):
    X, y, _ = table
    booster = aw.Boosting(gamma=float(Fraction(gamma)), rounds=rounds)
    record = booster.fit(X, y)
    said = iter([h.predict_many(X).tolist() for h in booster.hypotheses])
    seen = []

    def weak(weights):
        seen.append(weights)
        chosen = next(said, None)
        if chosen is None:  # the one that ended the training has no vote: any that is as good stands for it
            best = naive.least_stump_error(X.tolist(), y.tolist(), weights)
            return next(
                guess
                for guess in ([naive.stump_says(s, x) for x in X.tolist()] for s in naive.every_stump(X.tolist()))
                if naive.weighted_error(guess, y.tolist(), weights) == best
            )
        return chosen

    votes, errors = naive.boost(X.tolist(), y.tolist(), gamma, rounds, weak)
    assert len(votes) == record.rounds == booster.rounds
    assert record.complete == (len(votes) == rounds)
    assert record.errors == pytest.approx([float(error) for error in errors], abs=1e-12)
    for weights, error in zip(seen, errors, strict=True):
        least = naive.least_stump_error(X.tolist(), y.tolist(), weights) / sum(weights)
        assert float(error) == pytest.approx(float(least), abs=1e-12)
    totals = np.sum(votes, axis=0) if votes else np.zeros(len(y))
    assert booster.predict_many(X).tolist() == np.where(totals >= 0, 1, -1).tolist()
    assert booster.score_many(X).tolist() == (totals / max(1, len(votes))).tolist()
    assert record.mistakes == np.count_nonzero(np.where(totals >= 0, 1, -1) != y)


@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.2, 0.35])
@pytest.mark.parametrize("rounds", [1, 2, 15, None])
def test_the_bounds_hold_against_the_least_helpful_weak_learner(gamma, rounds):
    n = 101
    y = np.where(np.arange(n) % 3 == 0, 1, -1)
    X = np.arange(n).reshape(-1, 1)
    booster = aw.Boosting(Fixed(least_helpful(gamma)), gamma=gamma, rounds=rounds)
    record = booster.fit(X, y)
    assert record.complete
    certificate = booster.certificate(X, y)
    assert [one.verdict for one in (certificate, *certificate.others)] == [Verdict.HOLDS] * 4
    assert certificate.observed == record.mistakes
    T = record.rounds
    assert certificate.bound == pytest.approx(n * (1 - 4 * gamma**2) ** (T / 2))
    bounds = {type(one.theorem): one.bound for one in certificate.others}
    assert bounds[TrainingMistakesBound] == pytest.approx(n * math.exp(-2 * T * gamma**2))
    assert bounds[ObservedErrorsBound] <= certificate.bound * (1 + 1e-12)
    observed = next(one for one in certificate.others if isinstance(one.theorem, ObservedErrorsBound))
    assert observed.inputs["mean epsilon"] == pytest.approx(sum(record.errors) / T)
    if rounds is None:
        assert rounds_needed(n, gamma) == T
        assert record.mistakes == 0
    elif rounds == 15 and gamma <= 0.1:
        assert record.mistakes > 0


@pytest.mark.parametrize("gamma", [0.01, 0.2, 0.49])
def test_the_bound_by_errors_is_met_with_equality(gamma):
    """Every row of -1 is wrong in one of two rounds: all are tied, all are mistakes, and the weights say just that."""
    y, half = np.full(6, -1), np.array([1, 1, 1, -1, -1, -1])
    evidence = evidence_of([half, -half], y, gamma)
    assert evidence.mistakes == 6
    assert evidence.largest_share == 0.5
    assert evidence.errors == pytest.approx((0.5, 0.5 - gamma))
    assert not evidence.weak_learning().holds
    assert "it was 0.5 in round 1" in str(evidence.weak_learning())
    assert evidence_of([half], half, gamma).weak_learning().holds
    assert ObservedErrorsBound.bound(6, evidence.factor, evidence.errors) == pytest.approx(6, rel=1e-12)


def test_the_weak_learning_assumption_is_looked_at():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [1, -1, 1, -1]
    booster = aw.Boosting(gamma=0.3)
    record = booster.fit(X, y)
    assert (record.rounds, record.complete, record.errors) == (0, False, (0.25,))
    assert "stopped after 0 of" in str(record)
    assert str(record).endswith("the next hypothesis has a weighted error of 0.25, and 1/2 - gamma is 0.2")
    assert booster.predict_many(X).tolist() == [booster.predict_one(x) for x in X] == [1, 1, 1, 1]
    with pytest.raises(InputError, match="Boosting has no certificate before a hypothesis has a vote"):
        booster.certificate(X, y)
    # On other rows than it learned from the assumption fails, and no bound is claimed.
    trained = aw.Boosting(gamma=0.1)
    trained.fit(SQUARE, INSIDE)
    other = trained.certificate(SQUARE, [-label for label in INSIDE])
    assert other.verdict is Verdict.NOT_APPLICABLE
    assert "in round" in str(other)


def test_formulas():
    assert TrainingMistakesBound.bound(100, 50, 0.2) == pytest.approx(100 * math.exp(-4))
    assert SharperTrainingMistakesBound.bound(100, 50, 0.2) == pytest.approx(100 * 0.84**25)
    assert WrongVotesBound.bound(100, 50, 0.2) == pytest.approx(
        0.3 + math.log(100) / (50 * math.log(7 / 3)) + math.log(7 / 3) / 8
    )
    assert rounds_needed(1, 0.1) == 1
    assert rounds_needed(100, 0.1) == 231
    assert [rounds_needed(n, 0.25) % 2 for n in range(1, 30)] == [1] * 29
    assert all(n * math.exp(-2 * rounds_needed(n, 0.25) / 16) < 1 for n in range(1, 300))


@given(st.integers(1, 2000), st.floats(0.02, 0.49))
def test_after_so_many_rounds_no_mistake_is_left(n, gamma):
    rounds = RoundsNeeded()(samples=n, gamma=gamma)
    bound = TrainingMistakesBound()
    assert bound(samples=n, gamma=gamma, rounds=rounds) < 1
    assert rounds == 1 or bound(samples=n, gamma=gamma, rounds=rounds - 1) >= 1 - 1e-9
    assert rounds_needed(n, gamma) in (rounds, rounds + 1)
    assert RoundsNeeded().values(samples=[1, 1000], gamma=0.1).tolist() == [1, 346]
    assert isinstance(bound.values(samples=10, gamma=0.1, rounds=5), float)


def test_a_bound_that_says_nothing_is_marked():
    booster = aw.Boosting(gamma=0.01, rounds=1)
    booster.fit(SQUARE, INSIDE)
    certificate = booster.certificate(SQUARE, INSIDE)
    shares = next(one for one in certificate.others if isinstance(one.theorem, WrongVotesBound))
    assert shares.bound > 1
    assert shares.vacuous
    assert not certificate.vacuous
    assert "promised" in str(certificate)


def test_weights_that_no_float_could_hold():
    """A row that is wrong 5,000 times has the weight alpha^5000: beyond all numbers, and no trouble."""
    y = np.array([1, 1, 1, -1] * 5)
    X = np.zeros((20, 1))
    always_right_but_one = Fixed(lambda y, weights: np.where(weights == weights.min(), -y, y))
    booster = aw.Boosting(always_right_but_one, gamma=0.49, rounds=5001)
    record = booster.fit(X, y)
    assert all(math.isfinite(error) for error in record.errors)


@pytest.mark.parametrize(
    "weak",
    [DecisionTreeClassifier(max_depth=2), LogisticRegression(), GaussianNB()],
    ids=lambda weak: type(weak).__name__,
)
def test_classifiers_of_scikit_learn(weak):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    booster = aw.Boosting(weak, gamma=0.05, rounds=9, labels=(0, 1))
    record = booster.fit(X, y)
    assert record.rounds > 0
    assert not hasattr(weak, "classes_")
    assert booster.certificate(X, y).verdict is Verdict.HOLDS
    assert (booster.margins(X, y) < 0).sum() == record.mistakes
    with pytest.raises(InputError, match="a learner can be saved if"):
        aw.save(booster, "nowhere")


def test_sparse_rows_for_those_who_take_them():
    X = sp.random(60, 8, density=0.3, random_state=0, format="csr")
    y = np.where(X.toarray().sum(axis=1) > 0.8, 1, -1)
    booster = aw.Boosting(DecisionTreeClassifier(max_depth=3, random_state=0), gamma=0.05, rounds=5)
    assert booster.fit(X, y).rounds > 0
    np.testing.assert_array_equal(booster.predict_many(X), booster.predict_many(X.toarray()))
    with pytest.raises(InputError, match="X must be dense for decision stumps"):
        aw.Boosting().fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0}, "gamma must be a number above 0 and below 1/2; received 0"),
        ({"gamma": 0.5}, "gamma must be a number above 0 and below 1/2; received 0.5"),
        ({"rounds": 0}, "rounds must be a whole number, at least 1; received 0"),
        ({"rounds": True}, "rounds must be a whole number, at least 1; received True"),
        ({"rounds": 2.0}, "rounds must be a whole number, at least 1; received 2.0"),
        ({"labels": (1, 1)}, "labels must be a pair of two different labels"),
        (
            {"weak_learner": KNeighborsClassifier()},
            "weak_learner must be a DecisionStump or a classifier whose fit takes",
        ),
        (
            {"weak_learner": DecisionTreeClassifier},
            "weak_learner must be a DecisionStump or a classifier whose fit takes",
        ),
        ({"weak_learner": 3}, "weak_learner must be a DecisionStump or a classifier whose fit takes"),
    ],
)
def test_what_boosting_refuses(options, message):
    with pytest.raises(InputError, match=message):
        aw.Boosting(**options)


def test_numpy_numbers_are_numbers():
    booster = aw.Boosting(gamma=np.float32(0.25), rounds=np.int64(3))
    assert booster.parameters["rounds"] == 3
    assert type(booster.parameters["rounds"]) is int
    assert booster.gamma == 0.25
    assert booster.fit(SQUARE, INSIDE).wanted == 3


def test_a_weak_learner_that_says_something_else():
    booster = aw.Boosting(Fixed(lambda y, weights: np.zeros(len(y))), gamma=0.1)
    with pytest.raises(InputError, match=r"what weak_learner predicts must be -1 or \+1 for every row"):
        booster.fit(SQUARE, INSIDE)
    with pytest.raises(InputError, match="Boosting has to be fitted before it predicts"):
        booster.predict_many(SQUARE)


def test_a_failed_fit_leaves_what_was_learned():
    booster = aw.Boosting(gamma=0.1)
    booster.fit(SQUARE, INSIDE)
    before = booster.copy()
    with pytest.raises(InputError):
        booster.fit(SQUARE, [0] * 6)
    assert booster == before


@pytest.mark.parametrize("labels", [(-1, 1), ("out", "in"), (False, True)])
def test_saved_copied_and_pickled(labels, tmp_path):
    y = [labels[(label + 1) // 2] for label in INSIDE]
    for rows in (SQUARE, pd.DataFrame(SQUARE, columns=["a", "b"]), [{"a": a, "b": b} for a, b in SQUARE]):
        booster = aw.Boosting(gamma=0.1, labels=labels)
        booster.fit(rows, y)
        assert booster.predict_many(rows).tolist() == y
        aw.save(booster, tmp_path / "model")
        for twin in (aw.load(tmp_path / "model"), pickle.loads(pickle.dumps(booster)), booster.copy()):
            assert twin == booster
            assert twin.predict_many(rows).tolist() == y
            assert twin.hypotheses == booster.hypotheses
    assert [booster.predict_one({"a": a, "b": b}) for a, b in SQUARE] == y
    fresh = booster.clone({"gamma": 0.05})
    assert (fresh.gamma, fresh.rounds, booster.rounds) == (0.05, 0, rounds_needed(6, 0.1))
    stump = aw.DecisionStump(labels=labels).fit(SQUARE, y)
    aw.save(stump, tmp_path / "stump")
    assert aw.load(tmp_path / "stump") == stump
    assert not hasattr(stump, "rounds")
    assert not hasattr(booster, "mistakes")
    assert repr(booster) == "Boosting(weak_learner=DecisionStump, gamma=0.1): 91 rounds"


def test_a_damaged_file_is_refused(tmp_path):
    stump = aw.DecisionStump().fit([[0.0], [1.0]], [-1, 1])
    stump._stump = (3, 0.5, 1)
    aw.save(stump, tmp_path / "model")
    with pytest.raises(ModelFileError, match="the contents are damaged"):
        aw.load(tmp_path / "model")


# ---------------------------------------------------------------------- the game


@given(table=tables)
def test_the_value_of_the_game_is_the_margin_and_the_edge(table):
    X, y, weights = table
    stumps = all_stumps(X)
    game = minimax_margin(stumps, X, y, gap=1e-9)
    assert game.reached
    votes = np.array([stump.predict_many(X) for stump in stumps]).T
    payoffs = votes * y[:, None]
    assert game.value == pytest.approx(naive.lp_value(payoffs), abs=1e-7)
    # One side: this weighting of the stumps has the margin on every row.
    assert (payoffs @ game.column_strategy).min() >= game.lower - 1e-12
    # The other: whatever the weights, the best stump is that much better than a coin; these leave no more.
    for w in (weights, np.ones(len(y)), game.row_strategy):
        if w.sum() > 0:
            edge = 0.5 - naive.least_stump_error(X.tolist(), y.tolist(), w.tolist()) / w.sum()
            assert 2 * edge >= game.lower - 1e-9
    hardest = naive.least_stump_error(X.tolist(), y.tolist(), game.row_strategy.tolist())
    assert 1 - 2 * hardest <= game.upper + 1e-9


def test_boosting_goes_on_below_the_value_of_the_game():
    value = minimax_margin(all_stumps(SQUARE), SQUARE, INSIDE, gap=1e-9).value
    assert value == pytest.approx(1 / 3)
    booster = aw.Boosting(gamma=0.99 * value / 2, rounds=2001)
    assert booster.fit(SQUARE, INSIDE).complete
    margin = booster.margins(SQUARE, INSIDE).min()
    share = WrongVotesBound.bound(6, 2001, 0.99 * value / 2)
    assert 1 - 2 * share <= margin <= value + 1e-9
    own = booster.minimax_margin(SQUARE, INSIDE, gap=1e-9)
    assert margin <= own.upper
    assert own.value == pytest.approx(value, abs=1e-8)
    assert len(booster.distinct_hypotheses) == len(own.column_strategy)
    assert not aw.Boosting(gamma=0.45, rounds=2001).fit(SQUARE, INSIDE).complete


def test_the_margin_of_the_boosters_own_hypotheses():
    X, y = load_breast_cancer(return_X_y=True)
    booster = aw.Boosting(gamma=0.1, rounds=41, labels=(0, 1))
    booster.fit(X, y)
    payoffs = np.array([h.predict_many(X) for h in booster.distinct_hypotheses]).T * (2 * y - 1)[:, None]
    game = booster.minimax_margin(X, y, gap=1e-4)
    assert game.reached
    assert game.lower - 1e-7 <= naive.lp_value(payoffs) <= game.upper + 1e-7
    assert booster.margins(X, y).min() <= game.upper


def test_what_minimax_margin_refuses():
    with pytest.raises(InputError, match="hypotheses must be at least one classifier; received none"):
        minimax_margin([], SQUARE, INSIDE)
    with pytest.raises(InputError, match=r"hypotheses\[0\] must be a classifier with predict_many or predict"):
        minimax_margin([3], SQUARE, INSIDE)
    with pytest.raises(InputError, match="Boosting has no margin before"):
        booster = aw.Boosting(gamma=0.49)
        booster.fit(SQUARE, INSIDE)
        booster.minimax_margin(SQUARE, INSIDE)


def test_certificates_and_margins_take_sparse_rows_as_predictions_do():
    # Sparse rows used to end with numpy's own error.
    X = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    y = [1, -1, 1, -1]
    learner = aw.Boosting(rounds=3)
    learner.fit(X, y)
    assert learner.certificate(sp.csr_array(X), y) == learner.certificate(X, y)
    assert learner.minimax_margin(sp.csr_array(X), y).value == learner.minimax_margin(X, y).value
    np.testing.assert_array_equal(learner.margins(sp.csr_array(X), y), learner.margins(X, y))
