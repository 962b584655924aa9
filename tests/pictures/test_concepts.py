import math

import numpy as np
import pytest

import afterwit as aw
from afterwit.concepts import FiniteClass, intervals, monotone_disjunctions, parities
from afterwit.pictures.concepts import MOST_BITS, MOST_COLUMNS, MOST_ROWS, GrowthFunction
from drawing import drawn, texts
from naive_bounds import growth
from naive_concepts import growth_function, vc_dimension


def random_class(rows, columns, seed=0):
    return FiniteClass(np.random.default_rng(seed).integers(0, 2, size=(rows, columns)))


@pytest.mark.parametrize(
    "made",
    [intervals(6), parities(3), random_class(9, 6), random_class(20, 5), FiniteClass([[1]]), FiniteClass([[0, 1]])],
)
def test_the_growth_function_beside_sauers_bound(made):
    picture = made.pictures()["growth"]
    matrix = made.matrix.astype(int).tolist()
    d = vc_dimension(matrix)
    points = range(len(made.points) + 1)
    expected = [(m, growth_function(matrix, m), growth(m, d), 2**m) for m in points]
    assert picture.table().rows == tuple(tuple(f"{value:,}" for value in row) for row in expected)
    assert f"The VC dimension is {d}," in picture.caption
    _, sauer, exact = drawn(picture).lines
    assert sauer.get_ydata() == pytest.approx([math.log2(growth(m, d)) for m in points])
    assert exact.get_ydata() == pytest.approx([math.log2(growth_function(matrix, m)) for m in points])


def test_what_takes_too_long_is_left_out():
    made = intervals(12)
    picture = GrowthFunction(made, limit=600)
    assert picture.growth == [1, 2, 4, 7]
    assert "counted exactly up to m = 3; more takes too long here" in picture.caption
    table = picture.table().rows
    assert table[4] == ("4", "", "11", "16")
    assert len(table) == 13
    assert "exact" in texts(drawn(picture))
    tiny = GrowthFunction(made, limit=1)
    assert "so there is no bound" in tiny.caption
    assert {row[2] for row in tiny.table().rows} == {""}
    drawn(tiny)


def test_the_grid_of_a_small_class():
    made = FiniteClass([[0, 0, 1], [0, 1, 1]], ["low", "middle", "high"], ["a", "b"])
    picture = made.pictures()["class"]
    ax = drawn(picture)
    assert picture.table().heads == ("hypothesis", "low", "middle", "high")
    assert picture.table().rows == (("a", "0", "0", "1"), ("b", "0", "1", "1"))
    (patch,) = ax.patches
    corners = {tuple(map(float, place)) for place in patch.get_path().vertices}
    assert corners == {(2.0, 0.0), (3.0, 0.0), (3.0, 1.0), (2.0, 1.0), (1.0, 1.0), (3.0, 2.0), (1.0, 2.0)}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["low", "middle", "high"]


def test_of_a_large_class_some_hypotheses_and_points():
    made = random_class(100, 50)
    picture = made.pictures()["class"]
    assert picture.cells.shape == (MOST_ROWS, MOST_COLUMNS)
    rows = [round(k) for k in np.linspace(0, 99, MOST_ROWS)]
    columns = [round(k) for k in np.linspace(0, 49, MOST_COLUMNS)]
    assert picture.cells.tolist() == made.matrix[np.ix_(rows, columns)].tolist()
    assert f"These are {MOST_ROWS} of 100 hypotheses and {MOST_COLUMNS} of 50 points" in picture.caption
    drawn(picture)


def test_very_large_classes_have_their_grid():
    made = monotone_disjunctions(12)
    assert len(made) * len(made.points) > MOST_BITS
    assert list(made.pictures()) == ["class"]
    drawn(made.pictures()["class"])


def test_long_names_and_vectors_as_points():
    made = FiniteClass([[0, 1], [1, 1]], [(0, 1), (1, 1)], ["a very long name of a hypothesis", "short"])
    ax = drawn(made.pictures()["class"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["01", "11"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a very long...thesis", "short"]


def test_a_class_with_no_ones():
    made = aw.concepts.FiniteClass([[0, 0]])
    assert made.plot(kind="class").ax_.patches[:] == []
