"""Finite classes: what they hold, the ready ones against their definitions, points, names, saving."""

import copy
import math
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
import naive_concepts
from afterwit import concepts
from afterwit.concepts import FiniteClass
from afterwit.concepts._bits import count_bits, count_by_table, full, pack, unpack
from afterwit.errors import InputError

matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=70)
)


def rows(made):
    return made.matrix.astype(int).tolist()


# ---------------------------------------------------------------------- bits


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_bits_are_the_booleans(values):
    words = pack(np.array(values))
    assert unpack(words, len(values)).tolist() == values
    assert count_bits(words) == count_by_table(words) == sum(values)
    assert unpack(full(len(values)), 64 * len(words)).tolist() == [True] * len(values) + [False] * (
        64 * len(words) - len(values)
    )


# ---------------------------------------------------------------------- any class


@given(matrices)
def test_a_class_is_its_matrix(matrix):
    made = FiniteClass(matrix)
    assert rows(made) == matrix
    assert len(made) == len(matrix)
    assert made.points == tuple(range(len(matrix[0])))
    assert made.names == [f"h{i}" for i in range(len(matrix))]
    for j in range(len(matrix[0])):
        assert made(j).tolist() == [row[j] == 1 for row in matrix]
    points = list(range(len(matrix[0])))
    assert made.consistent(points, matrix[-1]) == [f"h{i}" for i, row in enumerate(matrix) if row == matrix[-1]]
    assert made == FiniteClass(np.array(matrix, dtype=bool)) == pickle.loads(pickle.dumps(made))
    assert copy.deepcopy(made) is made
    assert hash(made) == hash(FiniteClass(matrix))


def test_classes_that_differ_are_not_equal():
    made = FiniteClass([[0, 1], [1, 1]])
    for other in (
        FiniteClass([[0, 1], [1, 0]]),
        FiniteClass([[0, 1], [1, 1]], points=["a", "b"]),
        FiniteClass([[0, 1], [1, 1]], names=["a", "b"]),
        FiniteClass([[0, 1], [1, 1]], sizes=[1, 1]),
        FiniteClass([[0, 1]]),
        "another",
    ):
        assert made != other
    assert concepts.thresholds(3) == concepts.thresholds([0, 1, 2])
    assert concepts.thresholds(3) != FiniteClass(concepts.thresholds(3).matrix)
    assert repr(FiniteClass([[1]])) == "<1 hypothesis, 1 point>"


def test_functions():
    made = FiniteClass.from_functions([lambda x: x == "a", lambda x: np.int64(1), lambda x: 0.0], ["a", "b"])
    assert rows(made) == [[1, 0], [1, 1], [0, 0]]
    with pytest.raises(InputError, match=r"functions\[0\]\('a'\) must be 0 or 1; received 2"):
        FiniteClass.from_functions([lambda x: 2], ["a"])
    with pytest.raises(InputError, match=r"functions\[1\] must be a function of a point; received 3"):
        FiniteClass.from_functions([lambda x: 1, 3], ["a"])


def test_points_in_every_form():
    made = FiniteClass([[0, 1, 1]], points=[(0, 1), (1, 0), (1, 1)])
    for x in ((1, 0), [1, 0], np.array([1, 0]), np.array([1.0, 0.0]), (True, False)):
        assert made.index(x) == 1
    for X in ([(0, 1), [1, 1]], np.array([[0, 1], [1, 1]]), [np.array([0, 1]), (1, 1)]):
        assert made.indices(X).tolist() == [0, 2]
    arrays = FiniteClass([[0, 1, 1]], points=[np.array([0, 1]), np.array([1, 0]), np.array([1, 1])])
    assert repr(arrays.points) == repr(made.points)
    numbers = FiniteClass([[0, 1, 1]])
    assert numbers.indices(np.array([2, 0], dtype=np.uint8)).tolist() == [2, 0]
    assert numbers.indices(np.array([2.0, 0.0])).tolist() == [2, 0]
    assert numbers.indices(range(3)).tolist() == [0, 1, 2]
    assert numbers.indices([]).tolist() == []
    pandas = pytest.importorskip("pandas")
    words = FiniteClass([[0, 1]], points=["a", "b"])
    assert words.indices(pandas.Series(["b", "a"])).tolist() == [1, 0]
    assert words.indices(np.array(["b", "a"])).tolist() == [1, 0]
    for X in (np.array([0, 3]), [0, 3], np.array([0, -1])):
        with pytest.raises(InputError, match=r"X\[1\] must be a point of the class: 0, 1, 2; received"):
            numbers.indices(X)
    with pytest.raises(InputError, match=r"x must be a point of the class: 0, 1, 2, \.\.\. \(5 in all\); received 7"):
        concepts.thresholds(5).index(7)
    for X in (np.array(3), pandas.DataFrame({"x": [0, 1]})):
        with pytest.raises(InputError, match="X must be a sequence of points; received"):
            numbers.indices(X)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: FiniteClass([[0, 2]]), "matrix"),
        (lambda: FiniteClass([[0, float("nan")]]), "matrix"),
        (lambda: FiniteClass([["0", "1"]]), "matrix"),
        (lambda: FiniteClass([[0, 1], [1]]), "matrix"),
        (lambda: FiniteClass([0, 1]), "matrix"),
        (lambda: FiniteClass([]), "matrix"),
        (lambda: FiniteClass([[]]), "matrix"),
        (lambda: FiniteClass([[0, 1]], points=["a"]), "points"),
        (lambda: FiniteClass([[0, 1]], points=["a", "a"]), "points"),
        (lambda: FiniteClass([[0, 1]], points=[1, 1.0]), "points"),
        (lambda: FiniteClass([[0, 1]], points=[float("nan"), 1]), "points"),
        (lambda: FiniteClass([[0, 1]], points=[{}, 1]), "points"),
        (lambda: FiniteClass([[0, 1]], points="ab"), "points"),
        (lambda: FiniteClass([[0, 1]], points=5), "points"),
        (lambda: FiniteClass([[0, 1]], names=["a", "b"]), "names"),
        (lambda: FiniteClass([[0, 1]], names=[5]), "names"),
        (lambda: FiniteClass([[0, 1]], names="a"), "names"),
        (lambda: FiniteClass([[0, 1]], sizes=[0.5]), "sizes"),
        (lambda: FiniteClass([[0, 1]], sizes=[-1]), "sizes"),
        (lambda: FiniteClass([[0, 1]], sizes=[1, 1]), "sizes"),
        (lambda: FiniteClass([[0, 1]], sizes=[[1], [1, 2]]), "sizes"),
        (lambda: FiniteClass([[0], [1], [1]], sizes=[1, 1, 40]), "sizes"),
        (lambda: FiniteClass([[0], [1], [1]], sizes=[5, 0, 1]), "sizes"),
        (lambda: FiniteClass([[0, 1]]).consistent([0], [0, 1]), "labels"),
        (lambda: FiniteClass([[0, 1]]).consistent([0], [3]), "labels"),
        (lambda: concepts.thresholds(0), "points"),
        (lambda: concepts.thresholds(True), "points"),
        (lambda: concepts.thresholds([2, 1]), "points"),
        (lambda: concepts.thresholds([1, "a"]), "points"),
        (lambda: concepts.thresholds([]), "points"),
        (lambda: concepts.thresholds("abc"), "points"),
        (lambda: concepts.thresholds(10**6), "the class"),
        (lambda: concepts.thresholds(10**30), "the class"),
        (lambda: concepts.intervals([2, 2]), "points"),
        (lambda: concepts.boxes(3), "grid"),
        (lambda: concepts.boxes([]), "grid"),
        (lambda: concepts.boxes((3, 0)), r"grid\[1\]"),
        (lambda: concepts.boxes((300, 300)), "the class"),
        (lambda: concepts.parities(0), "variables"),
        (lambda: concepts.parities(["a", "a"]), "variables"),
        (lambda: concepts.parities([1, 2]), "variables"),
        (lambda: concepts.parities("abc"), "variables"),
        (lambda: concepts.parities(3, -1), "size"),
        (lambda: concepts.parities(3, 1.5), "size"),
        (lambda: concepts.parities(17), "points"),
        (lambda: concepts.parities(3, points=[]), "points"),
        (lambda: concepts.parities(3, points=[(0, 1)]), "points"),
        (lambda: concepts.parities(3, points=[(0, 1, 2)]), "points"),
        (lambda: concepts.parities(40, points=[(0,) * 40]), "the class"),
        (lambda: concepts.decision_lists(3, -1), "rules"),
        (lambda: concepts.decision_lists(17, 1), "points"),
        (lambda: concepts.decision_lists(16, 4), "rules"),
    ],
)
def test_bad_parameters_are_named(make, parameter):
    with pytest.raises(InputError, match=f"^{parameter} must be"):
        make()


def test_the_kraft_sum_is_exact():
    assert len(FiniteClass([[0], [1], [1]], sizes=[1, 2, 2])) == 3
    message = "sizes must be lengths of a prefix-free code, whose Kraft sum of 2^-size is at most 1; received 1.25"
    with pytest.raises(InputError, match=message.replace("^", r"\^")):
        FiniteClass([[0], [1], [1]], sizes=[1, 1, 2])
    # By a hair that floating point does not see.
    with pytest.raises(InputError, match="Kraft sum"):
        FiniteClass([[0], [1], [1]], sizes=[1, 1, 2000])


# ---------------------------------------------------------------------- the ready classes

BOOLEAN = {
    "monotone_disjunctions": ("or", False),
    "disjunctions": ("or", True),
    "monotone_conjunctions": ("and", False),
    "conjunctions": ("and", True),
    "parities": ("xor", False),
}


@pytest.mark.parametrize("name", BOOLEAN)
@pytest.mark.parametrize(("n", "size"), [(1, None), (3, None), (4, 0), (4, 1), (4, 2), (3, 7)])
def test_boolean_classes_are_all_their_hypotheses(name, n, size):
    kind, signed = BOOLEAN[name]
    made = getattr(concepts, name)(n, size)
    points = naive_concepts.vectors(n)
    expected = naive_concepts.boolean_class(kind, n, n if size is None else min(n, size), signed, points)
    word = f" {kind} "
    empty = "always" if kind == "and" else "never"
    named = {
        word.join(f"{'' if sign else 'not '}x{j + 1}" for j, sign in literals) or empty: values
        for literals, values in expected.items()
    }
    assert made.points == tuple(points)
    assert dict(zip(made.names, map(tuple, rows(made)), strict=True)) == named
    assert len(made) == len(named)
    lengths = {
        word.join(f"{'' if sign else 'not '}x{j + 1}" for j, sign in literals) or empty: len(literals)
        for literals in expected
    }
    for hypothesis, bits in zip(made.names, made.sizes.tolist(), strict=True):
        s = lengths[hypothesis]
        assert bits == s + 1 + math.ceil(math.log2(math.comb(n, s))) + (s if signed else 0)
    assert sum(2.0**-bits for bits in made.sizes.tolist()) <= 1


def test_variables_and_points_of_choice():
    made = concepts.conjunctions(["sun", "wind"], 1, points=[[1, 0], [0, 0]])
    assert made.names == ["always", "sun", "not sun", "wind", "not wind"]
    assert made.points == ((1, 0), (0, 0))
    assert rows(made) == [[1, 1], [1, 0], [0, 1], [0, 0], [1, 1]]
    assert made == concepts.conjunctions(["sun", "wind"], 1, points=np.array([[1, 0], [0, 0]]))
    with pytest.raises(InputError, match=r"x must be a point of the class: \(1, 0\), \(0, 0\); received \(1, 1\)"):
        made.index((1, 1))


def test_thresholds_and_intervals():
    made = concepts.thresholds([10, 20, 30])
    assert rows(made) == [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert made.sizes.tolist() == [2] * 4
    made = concepts.intervals(["a", "b", "c"])
    assert dict(zip(made.names, rows(made), strict=True)) == {
        "'a' <= x <= 'a'": [1, 0, 0],
        "'a' <= x <= 'b'": [1, 1, 0],
        "'a' <= x <= 'c'": [1, 1, 1],
        "'b' <= x <= 'b'": [0, 1, 0],
        "'b' <= x <= 'c'": [0, 1, 1],
        "'c' <= x <= 'c'": [0, 0, 1],
        "never": [0, 0, 0],
    }


@pytest.mark.parametrize("points", range(1, 20))
def test_the_sizes_of_ordered_classes_are_those_of_a_language(points):
    """As many bits as tell all hypotheses apart, and not one fewer: bounds by size rest on the inequality of Kraft."""
    for made in (concepts.thresholds(points), concepts.intervals(points), concepts.boxes((points, 2))):
        assert set(made.sizes.tolist()) == {math.ceil(math.log2(len(made)))}
        assert sum(2.0**-bits for bits in made.sizes.tolist()) <= 1


@pytest.mark.parametrize("grid", [(7,), (2, 3), (5, 4), (3, 1, 2), ([1, 5], [0.5, 0.75, 2])])
def test_boxes(grid):
    made = concepts.boxes(grid)
    sides = [list(range(side)) if isinstance(side, int) else side for side in grid]
    assert made.points == tuple(product(*sides))
    expected = {"never": [0] * len(made.points)}
    for bounds in product(*[[(a, b) for a in side for b in side if a <= b] for side in sides]):
        name = " and ".join(f"{a} <= x{k + 1} <= {b}" for k, (a, b) in enumerate(bounds))
        inside = [int(all(a <= v <= b for v, (a, b) in zip(x, bounds, strict=True))) for x in made.points]
        expected[name] = inside
    assert dict(zip(made.names, rows(made), strict=True)) == expected
    assert len(made) == len(expected)


@pytest.mark.parametrize(("n", "rules"), [(1, 0), (2, 1), (2, 2), (3, 1), (3, 2)])
def test_decision_lists(n, rules):
    made = concepts.decision_lists(n, rules)
    expected = naive_concepts.decision_list_functions(n, rules, naive_concepts.vectors(n))
    assert {tuple(row) for row in rows_of(made)} == set(expected)
    assert len(made) == len(expected)
    cost = [r + 1 + r * (math.ceil(math.log2(n)) + 2) + 1 for r in range(rules + 1)]
    assert made.sizes.tolist() == [cost[expected[tuple(row)]] for row in rows_of(made)]
    assert sum(2.0**-bits for bits in made.sizes.tolist()) <= 1


def rows_of(made):
    return made.matrix.astype(int).tolist()


READY = [
    concepts.boxes((2, [1, 4])),
    concepts.conjunctions(3),
    concepts.decision_lists(["a", "b"], 2, points=[(0, 1), (1, 1)]),
    concepts.disjunctions(["a", "b", "c"], 1),
    concepts.intervals([1.5, 2.5]),
    concepts.monotone_conjunctions(4, 2),
    concepts.monotone_disjunctions(4, points=[(0, 1, 1, 0)]),
    concepts.parities(70, 2, points=[(0, 1) * 35]),
    concepts.thresholds(["a", "b", "d"]),
    FiniteClass([[0, 1, 1]] * 70, [None, (1, "a"), 2.5], [str(i) for i in range(70)], [7] * 70),
    FiniteClass([[0, 1, 1]]),
]


@pytest.mark.parametrize("made", READY, ids=repr)
def test_a_class_is_saved_with_its_learner(made, tmp_path):
    learner = aw.Halving(made)
    learner.learn_one(made.points[0], 1)
    aw.save(learner, tmp_path / "model")
    loaded = aw.load(tmp_path / "model")
    assert loaded == learner
    assert loaded.hypotheses == made
    assert loaded.hypotheses.names == made.names
    assert rows_of(loaded.hypotheses) == rows_of(made)
    assert loaded.survivors() == learner.survivors()
    assert pickle.loads(pickle.dumps(made)).names == made.names
    if made._recipe is not None:
        assert (tmp_path / "model").stat().st_size < 1500, "a ready class is saved by how it was made"


def test_every_ready_class_can_be_made_again():
    assert {made._recipe[0] for made in READY if made._recipe} == set(concepts.READY)


def test_a_damaged_class_is_refused(tmp_path):
    from afterwit.concepts.finite_class import from_data

    with pytest.raises(InputError, match="made_by must be one of boxes"):
        from_data({"made_by": "eval", "arguments": {}})
    data = FiniteClass([[0, 1]]).as_class_data()
    for damage in ({"count": 65}, {"count": 0}, {"count": "1"}, {"bits": [1]}, {"bits": np.zeros((2, 1))}):
        with pytest.raises(InputError, match="bits must be"):
            from_data({**data, **damage})


def test_a_million_hypotheses():
    random = np.random.default_rng(5)
    points = np.unique(random.integers(0, 2, (40, 20)), axis=0)
    made = concepts.monotone_disjunctions(20, points=points)
    assert len(made) == 2**20
    for h in random.integers(0, 2**20, 50).tolist():
        said = [bool(sum(int(v) << j for j, v in enumerate(x)) & h) for x in points.tolist()]
        assert [bool(made(x)[h]) for x in points[:3]] == said[:3]
    assert made.name(0b1011) == "x1 or x2 or x4"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: concepts.thresholds(10**12), "of at most 67,108,864 hypotheses; received 1,000,000,000,001"),
        (lambda: concepts.thresholds(200_000), "at most 17,179,869,184 bits.* 200,001 hypotheses over 200,000 points"),
        (lambda: concepts.intervals(10**12), "of at most 67,108,864 hypotheses"),
        (lambda: concepts.boxes((10**5, 10**5)), "of at most 67,108,864 hypotheses|at most 17,179,869,184 bits"),
        (lambda: concepts.boxes((100, 100, 100, 100)), "of at most 67,108,864 hypotheses"),
        (lambda: concepts.monotone_disjunctions(27, points=[[0] * 27]), "of at most .* received 134,217,728"),
        (lambda: concepts.parities(100, 5, points=[[0] * 100]), "of at most .* received 79,375,496"),
    ],
)
def test_a_class_too_large_is_refused_before_anything_is_made(make, message):
    with pytest.raises(InputError, match=f"the class must be ({message})"):
        make()


def test_decision_lists_are_refused_as_soon_as_they_are_too_many(monkeypatch):
    from afterwit.concepts import finite_class

    monkeypatch.setattr(finite_class, "MOST_BITS", 100)
    with pytest.raises(InputError, match="received 7 hypotheses over 16 points"):
        concepts.decision_lists(4, 2)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("size", [2, None])
def test_blocks_of_hypotheses_do_not_show(monkeypatch, signed, size):
    from afterwit.concepts import boolean_classes

    make = concepts.disjunctions if signed else concepts.monotone_disjunctions
    n = 5 if signed else 8
    whole = make(n, size)
    monkeypatch.setattr(boolean_classes, "BLOCK", 64)
    # The recipes are the same, so that what was made is compared and not how.
    parted = make(n, size)
    assert rows(parted) == rows(whole)
    assert parted.names == whole.names
    assert parted.sizes.tolist() == whole.sizes.tolist()


def test_whole_numbers_of_numpy_are_whole_numbers():
    number = np.int64
    assert concepts.thresholds(number(5)) == concepts.thresholds(5)
    assert concepts.boxes(np.array([2, 3])) == concepts.boxes((2, 3))
    assert concepts.monotone_disjunctions(number(4), number(2)) == concepts.monotone_disjunctions(4, 2)
    assert concepts.decision_lists(number(2), number(1)) == concepts.decision_lists(2, 1)
    assert concepts.growth_function(concepts.thresholds(5), number(3), limit=number(100)) == 4
    learner = aw.StandardOptimalAlgorithm(concepts.thresholds(number(5)), limit=number(1000))
    assert learner.survivors(number(1)) == ["x >= 0"]
    assert pickle.loads(pickle.dumps(learner)) == learner
    assert type(learner.limit) is int


def test_a_hypothesis_that_is_none_has_no_name():
    for made in (concepts.thresholds(5), FiniteClass([[0, 1]] * 6), concepts.parities(2, 1)):
        for position in (-1, len(made)):
            with pytest.raises(InputError, match=f"hypothesis must be a position from 0 to {len(made) - 1}"):
                made.name(position)


def test_an_array_is_no_option():
    with pytest.raises(InputError, match="drop must be 'mistakes' or 'examples'"):
        aw.Halving([[0, 1]], drop=np.array(["mistakes", "examples"]))
    with pytest.raises(InputError, match="progress must be True, False or None"):
        concepts.vc_dimension([[0, 1]], progress=np.array([True, False]))
