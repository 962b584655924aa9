"""Observed beside bound: what is within it, what is shown, and what is said."""

import math

import matplotlib
import numpy as np
import pytest

import afterwit as aw
from afterwit.errors import InputError
from afterwit.pictures import Comparison

matplotlib.use("Agg")


def drawn(picture):
    """The axes on which it is drawn."""
    from matplotlib.figure import Figure

    return picture.plot(Figure().subplots()).ax_


def words(picture):
    return [text.get_text() for text in drawn(picture).texts]


def test_a_run_holds_if_it_is_nowhere_above_the_bound():
    assert Comparison([1, 2], [1.0, 2.0], [1.0, 2.0], of="loss").holds
    assert Comparison([1, 2], [1.0, 2.0 + 1e-12], [1.0, 2.0], of="loss").holds
    assert not Comparison([1, 2], [1.0, 2.1], [1.0, 2.0], of="loss").holds
    assert not Comparison([1, 2], [1.0, 2.0], {"one": [1.0, 2.0], "two": [0.9, 2.0]}, of="loss").holds


def test_a_run_holds_if_it_is_nowhere_below_a_floor():
    assert Comparison([1, 2], [1.0, 2.0], floors=[1.0, 1.5], of="regret").holds
    assert not Comparison([1, 2], [0.9, 2.0], floors=[1.0, 1.5], of="regret").holds


def test_a_bound_on_the_average_is_judged_by_the_mean():
    runs = [[0.0, 3.0], [2.0, 1.0]]
    assert Comparison([1, 2], runs, [1.0, 2.0], of="loss", average=True).holds
    assert not Comparison([1, 2], runs, [1.0, 2.0], of="loss").holds
    assert not Comparison([1, 2], runs, [0.9, 2.0], of="loss", average=True).holds
    assert Comparison([1, 2], runs, [1.0, 4.0], of="loss", average=True).closest == 1.0
    assert Comparison([1, 2], runs, [1.0, 4.0], of="loss").closest == 2.0


def test_a_bound_with_probability_is_judged_by_how_many_runs_are_above_it():
    runs = np.zeros((10, 2))
    runs[0] = 1.0
    runs[1, 1] = 1.0
    assert Comparison([1, 2], runs, 0.5, of="error", delta=0.2).holds
    assert not Comparison([1, 2], runs, 0.5, of="error", delta=0.1).holds
    shown = Comparison([1, 2], runs, 0.5, of="error", delta=0.25)
    assert shown.caption.endswith("At any point at most 0.2 of the runs are above it; a part of 0.25 may be.")


def test_what_is_meant_to_be_attained_has_to_be_equal():
    assert Comparison([1, 2], [1.0, 2.0], [1.0, 2.0], of="loss", tight=True).holds
    assert not Comparison([1, 2], [1.0, 1.99], [1.0, 2.0], of="loss", tight=True).holds


def test_certificates_over_time_are_those_of_the_moments():
    record = aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(8))
    moments = record.moments()
    shown = Comparison.certified(moments, "margin bound", tight=True)
    assert shown.x.tolist() == [made.rounds for made in moments] == [1, 2, 4, 8]
    assert shown.runs.tolist() == [[1, 2, 4, 8]]
    assert np.allclose(shown.bounds["bound"], [1, 2, 4, 8])
    assert shown.holds
    assert [made.theorem.name for made in shown.certificates] == ["margin bound"]
    assert shown.title == "Mistakes over time, Perceptron"
    assert shown.hindsight["hindsight"].tolist() == [0, 0, 0, 0]


def test_certificates_of_several_runs_stand_over_what_was_varied():
    sizes = [2, 4]
    found = [aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(n)).certificate() for n in sizes]
    shown = Comparison.certified(found, "margin bound", "hinge bound", x=sizes, over="vectors")
    assert list(shown.bounds) == ["margin bound", "hinge bound"]
    assert shown.x.tolist() == [2, 4]
    assert shown.title == "Mistakes over vectors"


def test_certificates_that_do_not_apply_have_no_place():
    inseparable = aw.play(aw.Perceptron(), [[1.0], [1.0]], [1, -1]).certificate()
    separable = aw.play(aw.Perceptron(), [[1.0], [1.0]], [1, 1]).certificate()
    shown = Comparison.certified([inseparable, separable], "margin bound", x=[1, 2])
    assert shown.x.tolist() == [2]
    with pytest.raises(InputError, match=r"none of the 1 certificates applies 'margin bound'"):
        Comparison.certified([inseparable], "margin bound")
    with pytest.raises(InputError, match=r"none of the 0 certificates applies"):
        Comparison.certified([])


def test_theorems_on_different_quantities_do_not_share_a_picture():
    learner = aw.WinnowDisjunction(4)
    X, y = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [1, -1, -1]
    made = aw.play(learner, X, y).certificate()
    names = [each.theorem.name for each in (made, *made.others)]
    with pytest.raises(InputError, match=r"names must be theorems about one quantity"):
        Comparison.certified([made], *names)


def test_lines_are_labelled_where_they_end():
    shown = Comparison([1, 2], [1, 1], {"one": [2, 3], "two": [3, 4]}, hindsight=[0, 0], of="mistakes")
    assert words(shown) == ["observed", "one", "two", "hindsight"]
    assert words(Comparison([1, 2], [[1, 1], [0, 0]], [2, 3], of="mistakes")) == ["mean of 2 runs", "bound"]


def test_long_labels_have_several_lines_and_room_for_them():
    long = "a bound that has a name of more than one line"
    shown = Comparison([1, 2], [1, 1], {long: [2, 3], "short": [2, 3]}, of="mistakes")
    ax = drawn(shown)
    assert [text.get_text() for text in ax.texts] == [
        "observed",
        "a bound that has a name of\nmore than one line",
        "short",
    ]
    _, *bounds = [text.get_position()[1] for text in ax.texts]
    ax.figure.canvas.draw()
    line = 10 / (72 * ax.figure.get_size_inches()[1] * ax.get_position().height)
    assert abs(bounds[0] - bounds[1]) > 2 * line


def test_few_runs_are_dots_and_many_are_a_band():
    few, many = np.zeros((10, 3)), np.zeros((1000, 3))
    assert len(drawn(Comparison([1, 2, 3], few, 1.0, of="loss")).collections) == 0
    assert len(drawn(Comparison([1, 2, 3], many, 1.0, of="loss")).collections) == 1
    assert "The band has 90% of the runs." in Comparison([1, 2, 3], many, 1.0, of="loss").caption


def test_axes_say_where_they_are_logarithms():
    ax = drawn(Comparison([1, 10, 100, 1000], [1, 1, 1, 1], [100, 100, 100, 100], of="loss"))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rounds (log scale)", "loss (log scale)")
    ax = drawn(Comparison([1, 2, 3], [0, 1, 1], [100, 100, 100], of="loss"))
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    assert ax.get_ylim()[0] < 0 < 100 < ax.get_ylim()[1]


@pytest.mark.parametrize(
    ("x", "observed", "bounds"),
    [
        ([], [], []),
        ([1], [0], [0]),
        ([1, 2], [math.nan, 1], [math.inf, 2]),
        ([1e-300, 1e300], [-1e300, 1e-300], [1e300, 1e300]),
        (range(1000), [1e-12] * 1000, [1e-9] * 1000),
    ],
)
def test_strange_numbers_are_drawn(x, observed, bounds):
    shown = Comparison(x, observed, bounds, of="loss", over="what was varied, " + 20 * "at length ")
    assert shown.svg().startswith("<svg")
    assert len(shown.table().rows) == min(12, len(x))
    assert shown.holds == (math.nan not in observed)


def test_the_table_has_every_line():
    shown = Comparison([1, 2], [[1, 2], [3, 4]], [5, 6], floors=[0, 0], of="loss", over="n")
    assert shown.table().heads == ("n", "mean", "largest", "bound", "bound from below")
    assert shown.table().rows[1] == ("2", "3", "4", "6", "0")


def test_symbols_keep_their_letters_where_a_sentence_begins():
    assert Comparison([1], [1], [1], of="ln H[m]", over="m").title == "ln H[m] over m"
    assert Comparison([1], [1], [1], of="error on new data", over="n").title == "Error on new data over n"


def test_numbers_that_do_not_fit_together_are_refused():
    with pytest.raises(InputError, match=r"observed must be one number for each of the 2 x"):
        Comparison([1, 2], [1], [1, 2], of="loss")
    with pytest.raises(InputError, match=r"bounds must be one number for each of the 2 x"):
        Comparison([1, 2], [1, 2], [1, 2, 3], of="loss")
    with pytest.raises(InputError, match=r"x must be numbers in one dimension"):
        Comparison([[1], [2]], [1, 2], [1, 2], of="loss")


def test_certificates_of_parts_are_not_those_of_the_whole():
    """One against the rest has those of its binary learners beside its own, which are about something else."""
    made = aw.play(aw.OneVsRest(labels=("a", "b")), [[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).certificate()
    assert "margin bound" in [each.theorem.name for each in made.others]
    with pytest.raises(InputError, match=r"none of the 1 certificates applies 'margin bound'"):
        Comparison.certified([made], "margin bound")
