"""The progress bar, and the error over time below a table."""

import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import afterwit as aw
from afterwit.cli import _progress
from afterwit.cli._curve import MARKS, over_time, sparkline
from afterwit.cli._progress import Display, display, error_so_far
from afterwit.core.envelope import Envelope


def drawn(shown, width):
    text = io.StringIO()
    Console(file=text, width=width).print(shown.line(width))
    return text.getvalue()


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def test_the_bar_says_rows_speed_error_and_the_time_that_is_left(clock):
    shown = Display("elec2.csv", 40_000_000, steps=False)
    shown.watch(lambda: 12_345, lambda: "error 8.30%")
    assert "MB/s" not in drawn(shown, 120)
    clock[0] += 4
    shown.advance_to(10_000_000)
    line = drawn(shown, 120)
    assert line.startswith("elec2.csv  ━")
    assert line.rstrip().endswith("  12,345 rows  2.5 MB/s  error 8.30%  0:12 left")


def test_what_is_done_is_cut_only_where_the_bar_would_be_too_short(clock):
    shown = Display("computing the certificates", 8, steps=True)
    shown.advance_to(8)
    assert drawn(shown, 80).startswith("computing the certificates  ━")
    assert drawn(shown, 50).startswith("computing the certific…  ━")
    assert drawn(shown, 30).startswith("computi…  ━")


def test_what_is_of_unknown_size_says_how_long_it_has_taken(clock):
    shown = Display("standard input", None, steps=False)
    clock[0] += 3_725
    shown.watch(lambda: 1)
    assert drawn(shown, 100).rstrip().endswith("  1 row  1:02:05")


def test_steps_are_counted(clock):
    shown = Display("certificates", 8, steps=True)
    clock[0] += 6
    shown.advance_to(3)
    assert drawn(shown, 100).rstrip().endswith("  3 of 8  0:10 left")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
@pytest.mark.parametrize("name", ["a.csv", "x" * 300, "電力価格" * 20, "two\nlines"])
@pytest.mark.parametrize("total", [None, 10**15])
def test_the_bar_is_one_line_of_any_width(clock, width, name, total):
    shown = Display(name, total, steps=False)
    clock[0] += 10
    shown.advance_to(10**15 // 2)
    shown.watch(lambda: 10**12, lambda: "error 12.34%")
    line = drawn(shown, width)
    assert line.count("\n") == 1
    assert cell_len(line.rstrip("\n")) <= width
    assert "━" in line
    if width >= 60:
        assert "error 12.34%" in line
    if width >= 120:
        assert "1,000,000,000,000 rows" in line


def test_the_error_so_far_is_that_since_now():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    y = np.where(X.sum(axis=1) + generator.normal(size=200) > 0, 1, -1)
    learner = aw.Perceptron()
    learner.learn_many(X[:50], y[:50])
    said = error_so_far(learner)
    assert said() == ""
    wrong = learner.learn_many(X[50:], y[50:]) != y[50:]
    assert said() == f"error {wrong.mean():.2%}"
    regressor = aw.OnlineRidge()
    said = error_so_far(regressor)
    predicted = regressor.learn_many(X, y.astype(float))
    assert said() == f"RMSE {np.sqrt(np.mean((predicted - y) ** 2)):.4g}"
    assert error_so_far(object())() == ""


def test_nothing_is_drawn_where_nobody_sees_it(capsys):
    with display("nothing", 10) as shown:
        shown.advance_to(5)
        shown.watch(lambda: 1 / 0)
    assert capsys.readouterr() == ("", "")


# ---------------------------------------------------------------------- the error over time


@pytest.mark.parametrize("regression", [False, True])
def test_the_error_over_time_is_that_of_equal_parts(regression):
    losses = np.random.default_rng(0).uniform(size=1600)
    so_far = np.cumsum(losses) / np.arange(1, 1601)
    trace = Envelope()
    trace.extend(np.sqrt(so_far) if regression else so_far)
    means = losses.reshape(8, 200).mean(axis=1)
    np.testing.assert_allclose(over_time(trace, 8, regression), np.sqrt(means) if regression else means, rtol=1e-9)


def test_errors_that_are_too_large_are_no_marks():
    trace = Envelope()
    trace.extend([1e200, 2e200, 1e200, 1e200])
    assert not np.isfinite(over_time(trace, 4, regression=True)).any()
    assert sparkline(over_time(trace, 4, regression=True)) == " " * 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.linspace(0, 7, 8), MARKS),
        ([3.0, 3.0], "▁▁"),
        ([np.nan, 1.0, np.inf, 2.0], " ▁ █"),
        ([np.nan], " "),
        ([], ""),
        ([-1e308, 1e308], "▁█"),
    ],
)
def test_marks(values, expected):
    assert sparkline(np.array(values)) == expected
