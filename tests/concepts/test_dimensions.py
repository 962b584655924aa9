"""VC dimension, growth function and Littlestone dimension: oracles, known values, Sauer's lemma, limits."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import naive_concepts
from afterwit import concepts
from afterwit.concepts import FiniteClass, growth_function, is_shattered, littlestone_dimension, vc_dimension
from afterwit.concepts._bits import pack
from afterwit.concepts.littlestone import Subclasses
from afterwit.concepts.search import search
from afterwit.errors import InputError

small = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=14)
)


@given(small)
def test_vc_dimension_is_the_oracle(matrix):
    assert vc_dimension(matrix) == naive_concepts.vc_dimension(matrix)


@given(small)
def test_littlestone_dimension_is_both_oracles(matrix):
    """The depth of the deepest mistake tree, and the value of the game between learner and adversary."""
    dimension = littlestone_dimension(matrix)
    assert dimension == naive_concepts.littlestone_dimension(matrix)
    assert dimension == naive_concepts.optimal_mistakes(matrix)


@given(small, st.data())
def test_growth_and_shattering_are_the_oracles(matrix, data):
    width = len(matrix[0])
    m = data.draw(st.integers(0, width))
    assert growth_function(matrix, m) == naive_concepts.growth_function(matrix, m)
    points = data.draw(st.lists(st.integers(0, width - 1), max_size=4))
    assert is_shattered(matrix, points) == naive_concepts.is_shattered(matrix, points)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
def test_what_must_hold_between_them(seed, count, width):
    """VCdim <= opt <= log2 |H| (Theorem 8.2), and Sauer's lemma, with 2^m below the dimension."""
    made = FiniteClass(np.random.default_rng(seed).integers(0, 2, (count, width)))
    d = vc_dimension(made)
    assert d <= littlestone_dimension(made) <= math.log2(len({row.tobytes() for row in made.matrix}))
    for m in range(width + 1):
        growth = growth_function(made, m)
        assert growth <= sum(math.comb(m, i) for i in range(d + 1))
        assert (growth == 2**m) == (m <= d)


@given(small, st.data())
def test_whatever_is_asked_first_the_answers_are_the_same(matrix, data):
    """What is remembered of a version space helps with every later question about it, and misleads with none."""
    made = FiniteClass(matrix)
    subclasses = Subclasses(made)
    width = len(matrix[0])
    with search("a test", 10**6, False) as steps:
        for _ in range(6):
            point, said = data.draw(st.integers(0, width - 1)), data.draw(st.sampled_from([0, 1, None]))
            left = [i for i, row in enumerate(matrix) if said is None or row[point] == said]
            alive = pack(np.isin(np.arange(len(matrix)), left))
            expected = naive_concepts.littlestone_dimension([matrix[i] for i in left])
            V = subclasses._different.reduced(alive)
            depth = data.draw(st.integers(0, 4))
            assert subclasses._at_least(V, depth, subclasses._columns, steps) == (expected >= depth)
            if data.draw(st.booleans()):
                assert subclasses.dimension(alive, steps) == expected


def test_after_a_no_the_next_question_is_still_open():
    """At most two of five points: 16 hypotheses, of dimension 2. "At least 3?" comes before "at least 2?"."""
    made = FiniteClass([row for row in product((0, 1), repeat=5) if sum(row) <= 2])
    subclasses = Subclasses(made)
    V = subclasses._different.reduced(made.everything())
    with search("a test", 10**6, False) as steps:
        answers = [subclasses._at_least(V, depth, subclasses._columns, steps) for depth in (3, 2, 3, 1, 4)]
    assert answers == [False, True, False, True, False]


def test_there_is_no_root_of_a_tree_that_is_too_deep():
    made = concepts.thresholds(7)
    with search("a test", 10**6, False) as steps:
        assert Subclasses(made).root(made.everything(), 3, steps) == 3
        with pytest.raises(ValueError, match="no mistake tree of that depth"):
            Subclasses(made).root(made.everything(), 4, steps)


# ---------------------------------------------------------------------- known values


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 7, 8, 15, 31, 100, 255])
def test_thresholds(n):
    made = concepts.thresholds(n)
    assert vc_dimension(made) == 1
    assert littlestone_dimension(made) == math.floor(math.log2(n + 1))
    if n <= 15:
        assert [growth_function(made, m) for m in range(n + 1)] == [m + 1 for m in range(n + 1)]


def test_thresholds_without_the_last_one():
    """One hypothesis fewer: n over n points."""
    for n in (1, 2, 3, 4, 7, 8, 9):
        made = FiniteClass(concepts.thresholds(n).matrix[:-1])
        assert littlestone_dimension(made) == math.floor(math.log2(n))


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (2, 2), (3, 2), (12, 2)])
def test_intervals(n, expected):
    made = concepts.intervals(n)
    assert vc_dimension(made) == expected
    assert [growth_function(made, m) for m in range(n + 1)] == [1 + m * (m + 1) // 2 for m in range(n + 1)]


def test_boxes_and_parities_and_others():
    assert vc_dimension(concepts.boxes((3, 3))) == 4
    assert vc_dimension(concepts.boxes((2, 2))) == 2
    assert vc_dimension(concepts.boxes((3, 3, 3))) == 6
    for d in (1, 2, 3, 5):
        assert vc_dimension(concepts.parities(d)) == littlestone_dimension(concepts.parities(d)) == d
        assert vc_dimension(concepts.monotone_disjunctions(d)) == d
        assert littlestone_dimension(concepts.monotone_disjunctions(d)) == d
        assert littlestone_dimension(concepts.monotone_conjunctions(d)) == d
        everything = FiniteClass(list(product((0, 1), repeat=d)))
        assert vc_dimension(everything) == littlestone_dimension(everything) == d
        assert growth_function(everything, d) == 2**d
    singletons = FiniteClass(np.eye(20, dtype=int))
    assert vc_dimension(singletons) == littlestone_dimension(singletons) == 1
    assert vc_dimension([[1, 0]]) == littlestone_dimension([[1, 0]]) == 0
    assert vc_dimension([[1, 0], [1, 0]]) == littlestone_dimension([[1, 0], [1, 0]]) == 0


def separable(points, signs):
    """Whether some halfspace, not necessarily through the origin, has these signs strictly."""
    rows = -np.array(signs)[:, None] * np.hstack([points, np.ones((len(points), 1))])
    found = linprog(np.zeros(points.shape[1] + 1), A_ub=rows, b_ub=-np.ones(len(points)), bounds=(None, None))
    return found.status == 0


@pytest.mark.parametrize("d", [1, 2, 3])
def test_linear_separators_have_vc_dimension_d_plus_one(d):
    """All sign patterns that halfspaces make on d + 3 random points; by Cover there are 2 sum C(n - 1, i), i <= d."""
    n = d + 3
    points = np.random.default_rng(d).standard_normal((n, d))
    patterns = [signs for signs in product((-1, 1), repeat=n) if separable(points, signs)]
    made = FiniteClass((np.array(patterns) > 0).astype(int))
    assert len(made) == 2 * sum(math.comb(n - 1, i) for i in range(d + 1))
    assert vc_dimension(made) == d + 1
    assert littlestone_dimension(made) >= d + 1


def test_many_equal_hypotheses_and_points_change_nothing():
    made = concepts.intervals(9).matrix
    blown_up = FiniteClass(np.repeat(np.repeat(made, 3, axis=0), 2, axis=1))
    assert vc_dimension(blown_up) == 2
    assert littlestone_dimension(blown_up) == littlestone_dimension(made)
    assert growth_function(blown_up, 18) == growth_function(made, 9) == 46
    complemented = FiniteClass(np.hstack([made, ~made]))
    assert littlestone_dimension(complemented) == littlestone_dimension(made)


def test_words_of_many_blocks():
    """More hypotheses than are turned from columns to rows at once."""
    random = np.random.default_rng(1)
    matrix = random.integers(0, 2, (65_536 + 77, 5))
    assert vc_dimension(matrix) == littlestone_dimension(matrix) == 5
    matrix[:, 4] = matrix[:, 3]
    assert vc_dimension(matrix) == 4


# ---------------------------------------------------------------------- limits and messages


def test_a_limit_is_kept_and_what_is_known_is_said():
    matrix = np.random.default_rng(0).integers(0, 2, (200, 16))
    with pytest.raises(InputError, match=r"^limit must be larger: vc_dimension takes more than 100 steps here"):
        vc_dimension(matrix, limit=100)
    with pytest.raises(InputError, match=r"more than 300 steps here, by then at least \d; received 300"):
        vc_dimension(matrix, limit=300)
    with pytest.raises(InputError, match=r"^limit must be larger: littlestone_dimension takes more than 20 steps"):
        littlestone_dimension(matrix, limit=20)
    with pytest.raises(InputError, match=r"^limit must be larger: growth_function takes more than 50 steps"):
        growth_function(matrix, 8, limit=50)


@pytest.mark.parametrize("dimension", [vc_dimension, littlestone_dimension, lambda H, **o: growth_function(H, 1, **o)])
def test_bad_parameters(dimension):
    for limit in (0, 1.5, True, "many"):
        with pytest.raises(InputError, match="limit must be a whole number of steps, at least 1"):
            dimension([[0, 1]], limit=limit)
    with pytest.raises(InputError, match="progress must be True, False or None; received 3"):
        dimension([[0, 1]], progress=3)
    with pytest.raises(InputError, match="hypotheses must be a FiniteClass, or a matrix"):
        dimension("abc")


def test_bad_numbers_of_points():
    for m in (-1, 3, 1.0, True):
        with pytest.raises(InputError, match="m must be a number of points, from 0 to 2"):
            growth_function([[0, 1]], m)
    with pytest.raises(InputError, match=r"X\[0\] must be a point of the class"):
        is_shattered([[0, 1]], [2])


def test_a_progress_bar_is_drawn_where_someone_can_see_it(capfd, monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 2, (200, 14))
    plain = vc_dimension(matrix, progress=False)
    assert vc_dimension(matrix, progress=True) == vc_dimension(matrix) == plain
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert vc_dimension(matrix, progress=True) == plain
    assert "vc_dimension: searching" in capfd.readouterr().err
    assert vc_dimension(matrix, progress=False) == plain
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_alone(terminal, monkeypatch):
    """``progress=True`` asks for one, but a file that takes what a terminal would show is no place for it."""
    monkeypatch.setenv("FORCE_COLOR" if terminal else "NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with search("a test", 10**6, True) as steps:
        assert (steps._bar is not None) is terminal
