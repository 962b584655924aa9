"""What all pictures have in common."""

import re
import sys
import warnings
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

import afterwit as aw
from afterwit.errors import InputError, MissingExtraError
from afterwit.pictures._curve import percent
from afterwit.pictures._labels import apart
from afterwit.pictures._style import COLOURS, SERIES, variables

matplotlib.use("Agg")


@pytest.fixture
def record():
    return aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(20))


def lightness(colour):
    """CIE lightness, from 0 to 100: what is left of a colour in print without colour."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


@pytest.mark.parametrize("dark", [False, True])
def test_the_three_numbers_differ_in_lightness(dark):
    shades = sorted(lightness(COLOURS[name][dark]) for name in ("happened", "bound", "hindsight"))
    assert min(np.diff(shades)) > 6


@pytest.mark.parametrize("dark", [False, True])
def test_neighbours_in_a_series_differ_in_lightness(dark):
    shades = [lightness(pair[dark]) for pair in SERIES]
    assert min(abs(np.diff(shades))) > 10


@pytest.mark.parametrize("dark", [False, True])
def test_every_colour_can_be_seen_on_its_ground(dark):
    ground = 0 if dark else 100
    shades = {name: lightness(value) for name, value in variables(dark).items() if name != "--aw-grid"}
    assert min(abs(shade - ground) for shade in shades.values()) > 20


@pytest.mark.parametrize("dark", [False, True])
def test_no_two_variables_have_one_value(dark):
    values = variables(dark)
    assert len(set(values.values())) == len(values)


def test_plot_makes_a_figure_and_says_what_it_is(record):
    shown = record.plot()
    assert shown.figure_ is shown.ax_.figure
    assert shown.ax_.get_title(loc="left") == "Error over time, Perceptron"
    assert repr(shown) == "<picture: Error over time, Perceptron>"


def test_plot_draws_on_the_axes_that_it_is_given(record):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert record.plot(ax).ax_ is ax
    assert ax.lines


def test_the_users_settings_stay(record):
    before = dict(matplotlib.rcParams)
    record.plot()
    record.plot().svg()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("interactive", [True, False])
def test_a_backend_that_is_loaded_while_drawing_stays_interactive(record, monkeypatch, interactive):
    """As the backend of notebooks does: the first figure makes it say that figures are to be shown."""
    monkeypatch.setitem(matplotlib.rcParams, "interactive", not interactive)
    picture = record.pictures()["error"]
    monkeypatch.setattr(type(picture), "draw", lambda self, ax: matplotlib.interactive(interactive))
    picture.plot()
    assert matplotlib.is_interactive() is interactive


def test_an_unknown_kind_lists_the_known_ones(record):
    with pytest.raises(InputError, match=r"kind must be one of 'error', 'confidence', 'features'; received 'errors'"):
        record.plot(kind="errors")


def test_without_matplotlib_there_is_one_sentence(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = r"pictures and reports need matplotlib, which is not installed: pip install 'afterwit\[plot\]'"
    with pytest.raises(MissingExtraError, match=said):
        record.plot()
    with pytest.raises(ImportError, match=said):
        record.pictures()["error"].svg()


def test_an_svg_is_the_same_twice_and_stands_on_its_own(record):
    picture = record.pictures()["error"]
    text = picture.svg("first")
    assert text == record.pictures()["error"].svg("first")
    root = ElementTree.fromstring(text)
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(set(ids)) == len(ids)
    assert all(each.startswith("first-") for each in ids)
    used = re.findall(r"(?:url\(|href=\")#([\w.-]+)", text)
    assert set(used) <= set(ids)
    words = [each.text for each in root.iter() if each.tag.endswith("text")]
    assert {"rounds", "mistakes per round", "so far", "hindsight", "bound"} <= set(words)
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", text)


def test_colours_of_an_svg_are_variables(record):
    text = record.pictures()["error"].svg()
    assert set(re.findall(r"(?<!, )#[0-9a-f]{6}", text)) == set()
    assert "var(--aw-happened, #0b5394)" in text


def test_names_that_look_like_markup_are_written_as_they_are():
    """What is made shorter is within tags, never in what people read."""
    names = [
        '<g id="a">',
        'x="1.0000"',
        'style="fill: none"',
        "#0b5394",
        "url(#x)",
        'transform="rotate(-0 1 2)"',
        "<g/>",
    ]
    record = aw.play(aw.Perceptron(), [(dict.fromkeys(names, 1.0), -1)] * 2)
    text = record.pictures()["features"].svg("a")
    words = [each.text for each in ElementTree.fromstring(text).iter() if each.tag.endswith("text")]
    assert set(names) <= set(words)


def test_names_in_any_script_are_text_without_a_warning():
    name = "\u65e5\u672c"
    record = aw.play(aw.Perceptron(), [({name: 1.0}, -1)] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = record.pictures()["features"].svg("a")
    assert f">{name}</text>" in text


@pytest.mark.parametrize("rounds", [1, 2, 3, 9, 10])
def test_axes_of_a_few_rounds_have_plain_numbers(rounds):
    X = np.ones((rounds, 1))
    y = np.tile([-1, 1], rounds)[:rounds]
    found = [aw.play(aw.Perceptron(), X, y), aw.play(aw.SelectivePerceptron(), X, y)]
    found.append(aw.race(X, ["perceptron", "sgd"], y=y))
    for picture in (each for thing in found for each in thing.pictures().values()):
        shown = picture.plot()
        ax = shown.ax_
        shown.figure_.canvas.draw()
        low, high = ax.get_xlim()
        ticks = [*ax.xaxis.get_major_ticks(), *ax.xaxis.get_minor_ticks(), *ax.yaxis.get_major_ticks()]
        assert not [each.label1.get_text() for each in ticks if "$" in each.label1.get_text()], picture.kind
        if ax.get_xlabel() == "rounds":
            seen = [
                each.label1.get_text()
                for each in ticks[: -len(ax.yaxis.get_major_ticks())]
                if low <= each.get_loc() <= high
            ]
            seen = [each for each in seen if each]
            assert len(seen) == len(set(seen)) >= 1, picture.kind
        pyplot.close(shown.figure_)


@pytest.mark.parametrize(
    ("value", "written"), [(0.0, "0"), (0.125, "12.5%"), (0.07, "7%"), (0.0002, "0.02%"), (12.0, "1,200%")]
)
def test_shares_along_an_axis(value, written):
    assert percent(value) == written


@pytest.mark.parametrize("heights", [[0.5, 0.5, 0.5], [0.0, 0.01, 1.0, 0.99], [0.2], []])
def test_labels_do_not_cover_each_other(heights):
    placed = apart(heights, 0.1)
    assert [np.argsort(heights, kind="stable").tolist()] == [np.argsort(placed, kind="stable").tolist()]
    assert all(gap >= 0.1 - 1e-12 for gap in np.diff(sorted(placed)))
    assert all(0 <= height <= 1 for height in placed)
