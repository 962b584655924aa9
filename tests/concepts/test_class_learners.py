"""Halving, generalized halving and the standard optimal algorithm: oracles, contract, theorems, empty version spaces."""

import copy
import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import afterwit as aw
import naive_concepts
from afterwit import concepts
from afterwit.concepts import FiniteClass, littlestone_dimension
from afterwit.concepts.generalized_halving import GeneralizedHalvingBound
from afterwit.concepts.halving import HalvingBound
from afterwit.concepts.littlestone import LittlestoneBound, LittlestoneLowerBound
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError, ModelFileError
from afterwit.storage import register
from afterwit.testing import check_learner, learner_checks

WORDS = FiniteClass(np.random.default_rng(3).integers(0, 2, (130, 7)), points=list("abcdefg"), sizes=[8] * 130)

LEARNERS = {
    "halving": partial(aw.Halving, concepts.monotone_disjunctions(4)),
    "halving, every example": partial(aw.Halving, WORDS, "examples"),
    "halving, a matrix": partial(aw.Halving, [[0, 1, 1], [1, 1, 0], [1, 0, 0]]),
    "generalized halving": partial(aw.GeneralizedHalving, concepts.monotone_disjunctions(5)),
    "generalized halving, sizes": partial(aw.GeneralizedHalving, WORDS, list(range(1, 131))),
    "optimal": partial(aw.StandardOptimalAlgorithm, concepts.intervals([1.5, 2.5, 3, 4, 5])),
    "optimal, words": partial(aw.StandardOptimalAlgorithm, FiniteClass(WORDS.matrix[:40], WORDS.points)),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("check", learner_checks(), ids=lambda check: check.__name__)
def test_conformance(check, name):
    check(LEARNERS[name])


# ---------------------------------------------------------------------- the oracles


@st.composite
def runs(draw, hypotheses=24, width=5, rounds=25):
    """A class, points, and labels that may or may not be those of a hypothesis."""
    matrix = draw(
        st.integers(1, width).flatmap(
            lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=hypotheses)
        )
    )
    points = draw(st.lists(st.integers(0, len(matrix[0]) - 1), max_size=rounds))
    target = draw(st.sampled_from([*matrix, None]))
    labels = [draw(st.integers(0, 1)) if target is None else target[j] for j in points]
    return matrix, points, labels, target is not None


def check_run(learner, run, expected, realizable):
    matrix, points, labels = run
    predictions, left, changes = expected
    one_by_one = learner.clone()
    assert learner.learn_many(points, labels).tolist() == predictions
    assert [one_by_one.learn_one(j, label) for j, label in zip(points, labels, strict=True)] == predictions
    assert one_by_one == learner
    assert learner.survivors() == [f"h{i}" for i in left]
    assert learner.survivors(2) == [f"h{i}" for i in left[:2]]
    assert learner.remaining == len(left)
    assert learner.updates == changes
    assert learner.mistakes == sum(p != label for p, label in zip(predictions, labels, strict=True))
    certificate = learner.certificate(points, labels)
    consistent = [row for row in matrix if all(row[j] == label for j, label in zip(points, labels, strict=True))]
    assert certificate.verdict is (Verdict.HOLDS if consistent else Verdict.NOT_APPLICABLE)
    assert not realizable or consistent
    from_state = learner.certificate()
    assert from_state.verdict is (Verdict.HOLDS if left else Verdict.NOT_APPLICABLE)
    if consistent:
        assert certificate.bound == from_state.bound
        assert certificate.hindsight.value == 0
    else:
        fewest = min(sum(row[j] != label for j, label in zip(points, labels, strict=True)) for row in matrix)
        assert certificate.hindsight.value == fewest
        assert certificate.bound is None
    return certificate


@given(runs(), st.sampled_from(["mistakes", "examples"]))
def test_halving_is_the_figure(run, drop):
    matrix, points, labels, realizable = run
    learner = aw.Halving(matrix, drop, labels=(0, 1))
    expected = naive_concepts.halving(matrix, points, labels, drop)
    certificate = check_run(learner, (matrix, points, labels), expected, realizable)
    if certificate.bound is not None:
        assert certificate.bound == math.log2(len(matrix))


@given(runs(), st.data())
def test_generalized_halving_is_the_weighted_vote(run, data):
    matrix, points, labels, realizable = run
    # Lengths of a prefix-free code: 1, 2, 3, ... bits, in any order, some of them longer still.
    sizes = data.draw(st.permutations([i + 1 for i in range(len(matrix))]))
    sizes = [size + data.draw(st.sampled_from([0, 0, 3, 2000])) for size in sizes]
    learner = aw.GeneralizedHalving(matrix, sizes, labels=(0, 1))
    expected = naive_concepts.halving(matrix, points, labels, "examples", sizes)
    certificate = check_run(learner, (matrix, points, labels), expected, realizable)
    if certificate.bound is not None:
        assert certificate.bound == min(sizes[i] for i in expected[1])
        assert learner.description_sizes.tolist() == sizes


@settings(max_examples=40)
@given(runs(hypotheses=12, rounds=12))
def test_the_standard_optimal_algorithm_compares_dimensions(run):
    matrix, points, labels, realizable = run
    learner = aw.StandardOptimalAlgorithm(matrix, labels=(0, 1))
    expected = naive_concepts.standard_optimal(matrix, points, labels)
    certificate = check_run(learner, (matrix, points, labels), expected, realizable)
    assert learner.optimal_mistakes == naive_concepts.optimal_mistakes(matrix)
    if certificate.bound is not None:
        assert certificate.bound == learner.optimal_mistakes


def test_equal_sizes_are_halving():
    made = concepts.intervals(12)
    random = np.random.default_rng(0)
    X, target = random.integers(0, 12, 60), made.matrix[37]
    plain, general = aw.Halving(made, "examples"), aw.GeneralizedHalving(made)
    y = np.where(target[X], 1, -1)
    assert plain.learn_many(X, y).tolist() == general.learn_many(X, y).tolist()
    assert plain.survivors() == general.survivors()


@pytest.mark.parametrize("sizes", [[1, 1], [2, 2, 2, 2], [1, 2, 3, 3]])
def test_the_checker_takes_a_tie_for_plus_as_the_learner_does(sizes):
    """Half of the weight on either side, in the first round of each order."""
    matrix = [[0, 1]] + [[1, 0]] * (len(sizes) - 1) if sizes[0] == 1 else [[0, 1], [1, 0], [0, 1], [1, 0]]
    for first, label in product((0, 1), (-1, 1)):
        learner = aw.GeneralizedHalving(matrix, sizes)
        X, y = [first, 1 - first], [label, -label]
        learner.learn_many(X, y)
        certificate = learner.certificate(X, y)
        assert certificate.verdict is Verdict.HOLDS, str(certificate)
        assert certificate.observed == (label < 0)


def test_weights_too_small_for_floating_point_still_vote():
    """Both sides' weights differ by 2^-3000 of the whole."""
    matrix, sizes = [[1], [0], [0]], [2, 2, 3000]
    learner = aw.GeneralizedHalving(matrix, sizes)
    assert learner.score_one(0) < 0
    assert learner.predict_one(0) == -1
    assert aw.GeneralizedHalving([[0], [1], [1]], sizes).predict_one(0) == 1
    assert aw.GeneralizedHalving([[0], [1]], [1, 1]).predict_one(0) == 1, "a tie is +1"


# ---------------------------------------------------------------------- what survives, and when nothing does


@pytest.mark.parametrize("name", LEARNERS)
def test_when_no_hypothesis_is_left_it_predicts_the_positive_label_for_ever(name, tmp_path):
    learner = LEARNERS[name]()
    x = learner.hypotheses.points[0]
    for _ in range(200):
        learner.learn_one(x, -learner.predict_one(x))
    assert learner.remaining == 0
    assert learner.survivors() == []
    rounds = learner.mistakes
    points = list(learner.hypotheses.points)
    assert learner.predict_many(points).tolist() == [1] * len(points)
    assert learner.score_many(points).tolist() == [0.0] * len(points)
    learner.learn_many(points, [-1] * len(points))
    assert learner.mistakes == rounds + len(points)
    aw.save(learner, tmp_path / "model")
    assert aw.load(tmp_path / "model") == learner == copy.deepcopy(learner)
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "none is left" in str(certificate)


def test_what_the_certificate_says_of_an_unrealizable_run():
    learner = aw.Halving(concepts.thresholds(4))
    X, y = [0, 3, 3], [1, -1, -1]
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "every hypothesis is wrong somewhere" in str(certificate)
    assert certificate.hindsight.value == 1


def test_a_certificate_in_words():
    learner = aw.Halving(concepts.thresholds(15))
    X = [7, 3, 5, 5, 4, 4, 0]
    y = [1 if x >= 5 else -1 for x in X]
    learner.learn_many(X, y)
    lines = " ".join(learner.certificate(X, y).details().split())
    assert lines == (
        "Halving, 7 rounds promised at most 4 mistakes (57.14% of the rounds) "
        "happened 2 mistakes (28.57% of the rounds) "
        "hindsight 0 mistakes (0.00% of the rounds) by the best hypothesis of the class: x >= 5 verdict holds "
        "theorem halving bound (Mohri et al. 2018, Theorem 8.1) mistakes <= ln|H| / ln(2) with |H| = 16 "
        "assumes [yes] X, y are the rounds it learned from, in order (observed on the data: played again, 1 pass) "
        "[yes] some hypothesis of the class is right in every round (observed on the data: 1 of them)"
    )
    assert lines.startswith(" ".join(str(learner.certificate(X, y)).split()))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (aw.Halving, "promised"),
        (aw.StandardOptimalAlgorithm, "promised"),
        # The size of the target is only known when the target is.
        (aw.GeneralizedHalving, "bound"),
    ],
)
def test_only_what_the_class_alone_gives_is_promised(make, word):
    learner = make(concepts.thresholds(15))
    learner.learn_many([7, 3, 5], [1, -1, 1])
    assert str(learner.certificate()).split("\n")[1].split()[0] == word


def test_formulas_by_name_are_those_of_the_certificates():
    made = concepts.thresholds(15)
    for theorem in (HalvingBound(), LittlestoneBound()):
        assert theorem(hypotheses=len(made)) == pytest.approx(aw.Halving(made).certificate().bound)
        assert theorem.values(hypotheses=[2, 16]).tolist() == pytest.approx([1, 4])
        assert theorem(log_hypotheses=math.log(1000)) == pytest.approx(math.log2(1000))
    assert LittlestoneLowerBound()(vc_dimension=3) == 3
    assert LittlestoneLowerBound().statement == "opt(H) >= d"
    assert GeneralizedHalvingBound()(bits=7) == 7


def test_certificates_of_other_rounds_and_of_other_learners_are_refused():
    made = concepts.thresholds(9)
    X = [4, 2, 7, 3]
    y = [1, -1, 1, -1]
    for kind in (partial(aw.Halving, drop="examples"), aw.GeneralizedHalving, aw.StandardOptimalAlgorithm):
        learner = kind(made)
        learner.learn_many(X, y)
        assert learner.certificate(X, y).verdict is Verdict.HOLDS
        for other_X, other_y in ((X[:-1], y[:-1]), (X, [1, 1, 1, -1]), ([4, 2, 8, 0], y)):
            certificate = learner.certificate(other_X, other_y)
            assert certificate.verdict is Verdict.NOT_APPLICABLE
            assert certificate.failed[0].statement == "X, y are the rounds it learned from, in order"
        with pytest.raises(InputError, match="X and y must be both given, or neither"):
            learner.certificate(X)
        twice = kind(made)
        twice.fit(X, y)
        assert twice.rounds > len(X)
        assert twice.certificate(X, y).verdict is Verdict.HOLDS


@register
class Stubborn(aw.Halving):
    """Keeps a hypothesis that was wrong, which only the checker can see."""

    def _drop(self, index, said):
        changed = super()._drop(index, said)
        if changed:
            alive = self._alive.copy()
            alive[0] |= np.uint64(1)
            self._keep(alive)
        return changed


def test_the_checker_is_not_fooled():
    learner = Stubborn(concepts.thresholds(9), "examples")
    X, y = [4, 2, 7, 3, 3, 0], [1, -1, 1, -1, -1, -1]
    learner.learn_many(X, y)
    assert learner.certificate(X, y).verdict is Verdict.NOT_APPLICABLE
    with pytest.raises(AssertionError, match="check_theorems"):
        check_learner(partial(Stubborn, concepts.thresholds(9), "examples"))


# ---------------------------------------------------------------------- options, limits, files


def test_bad_options():
    with pytest.raises(InputError, match="drop must be 'mistakes' or 'examples'; received 'never'"):
        aw.Halving([[0, 1]], "never")
    with pytest.raises(InputError, match="hypotheses must be a FiniteClass, or a matrix of 0 and 1"):
        aw.Halving("thresholds")
    with pytest.raises(InputError, match="sizes must be given, because the class has none; received None"):
        aw.GeneralizedHalving([[0, 1]])
    with pytest.raises(InputError, match="Kraft sum"):
        aw.GeneralizedHalving([[0, 1], [1, 1]], [0, 5])
    with pytest.raises(InputError, match="most must be a whole number"):
        aw.Halving([[0, 1]]).survivors(-1)
    with pytest.raises(InputError, match="limit must be a whole number of steps"):
        aw.StandardOptimalAlgorithm([[0, 1]], limit=0)
    with pytest.raises(InputError, match="limit must be larger: the Littlestone dimension takes more than 3 steps"):
        aw.StandardOptimalAlgorithm(concepts.intervals(9), limit=3)


class Breaks(aw.Halving):
    def _score(self, index):
        if index == 7:
            raise InputError("limit must be larger")
        return super()._score(index)


def test_what_fails_on_the_way_leaves_the_learner_as_it_was():
    learner = Breaks(concepts.intervals(9), "examples")
    with pytest.raises(InputError, match="limit must be larger"):
        learner.learn_many([0, 3, 7], [-1, 1, 1])
    assert str(learner.state()) == str(Breaks(concepts.intervals(9), "examples").state())
    assert learner.remaining == 46
    assert learner.learn_one(0, -1) == aw.Halving(concepts.intervals(9)).predict_one(0)


def test_a_limit_reached_on_the_way_leaves_the_learner_as_it_was():
    learner = aw.StandardOptimalAlgorithm(concepts.intervals(14))
    before = learner.state()
    learner._limit = 1
    learner._subclasses._known.clear()
    with pytest.raises(InputError, match="limit must be larger"):
        learner.learn_many([0, 13, 7], [-1, -1, 1])
    assert str(learner.state()) == str(before)


def test_damaged_states_are_refused(tmp_path):
    learner = aw.Halving(concepts.thresholds(70))
    state = learner.state()
    for alive in (state["alive"][:-1], state["alive"] | ~np.uint64(0), state["alive"].astype(float), None):
        with pytest.raises(InputError, match="alive must be a set of hypotheses of the class"):
            learner.restore({**state, "alive": alive})
    aw.save(learner, tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    (tmp_path / "model").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelFileError):
        aw.load(tmp_path / "model")


def test_streams_of_arrays_are_played_in_blocks():
    made = concepts.monotone_disjunctions(6)
    X = np.random.default_rng(1).integers(0, 2, (300, 6))
    y = np.where(X[:, 1] | X[:, 4], 1, -1)
    learner, again = aw.Halving(made, "examples"), aw.Halving(made, "examples")
    record = aw.play(learner, aw.streams.ArrayStream(X, y))
    assert record.mistakes == learner.mistakes <= 6
    assert aw.play(again, list(zip(X, y.tolist(), strict=True))).mistakes == record.mistakes
    assert again == learner
    assert learner.survivors() == ["x2 or x5"]
    from scipy import sparse

    third = aw.Halving(made, "examples")
    aw.play(third, aw.streams.ArrayStream(sparse.csr_array(X), y))
    assert third == learner
    with pytest.raises(InputError, match="X must be points of the class, not features by name"):
        aw.play(third, aw.streams.ArrayStream([{"a": 1.0}], [1]))


def test_a_million_hypotheses_vote():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (120, 20))
    y = np.where(X[:, 3] | X[:, 11], 1, -1)
    made = concepts.monotone_disjunctions(20, points=np.unique(X, axis=0))
    learner = aw.Halving(made, "examples")
    learner.learn_many(X, y)
    assert learner.mistakes <= 20
    kept = [j for j in range(20) if not (X[y < 0, j]).any()]
    assert "x4 or x12" in learner.survivors()
    assert learner.certificate(X, y).verdict is Verdict.HOLDS
    assert all(set(name.split(" or ")) <= {f"x{j + 1}" for j in kept} for name in learner.survivors(100))


# ---------------------------------------------------------------------- the bounds are met


@pytest.mark.parametrize("d", [1, 2, 5])
def test_halving_meets_its_bound_with_equality(d):
    made = concepts.monotone_disjunctions(d)
    learner = aw.Halving(made)
    stream = aw.adversaries.contrary_disjunction(d, learner)
    assert aw.play(learner, stream).mistakes == d == math.log2(len(made)) == learner.certificate().bound


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 7))
def test_the_mistake_tree_forces_the_optimal_bound_exactly(seed, count, width):
    made = FiniteClass(np.random.default_rng(seed).integers(0, 2, (count, width)))
    optimum = littlestone_dimension(made)
    for learner in (
        aw.StandardOptimalAlgorithm(made, labels=("no", "yes")),
        aw.Halving(made),
        aw.Halving(made, "examples"),
        aw.GeneralizedHalving(made, [max(1, (count - 1).bit_length())] * count),
        Obstinate(),
    ):
        stream = aw.adversaries.mistake_tree(made, learner)
        played = list(record_of(learner, stream))
        assert len(stream) == stream.rounds == optimum == len(played)
        assert all(prediction != y for _, y, prediction in played)
        labels = getattr(learner, "labels", (-1, 1))
        target = made.matrix[made.names.index(stream.target)]
        assert all((y == labels[1]) == target[made.index(x)] for x, y, _ in played), "the target agrees with all labels"
    learner = aw.StandardOptimalAlgorithm(made)
    record = aw.play(learner, aw.adversaries.mistake_tree(made, learner))
    assert record.mistakes == optimum == learner.certificate().bound


def record_of(learner, stream):
    for x, y in stream:
        prediction = learner.predict_one(x)
        learner.learn_one(x, y)
        yield x, y, prediction


class Obstinate:
    """A learner of another kind: it predicts by the parity of the rounds so far."""

    def __init__(self):
        self.rounds = 0

    def predict_one(self, x):
        return 1 if self.rounds % 2 else -1

    def learn_one(self, x, y):
        self.rounds += 1
