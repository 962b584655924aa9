import matplotlib
import numpy as np
import pytest

import afterwit as aw
from afterwit.errors import InputError
from afterwit.pictures.races import COLOURED, MOST_BARS, MOST_LABELS, Board, Lines

matplotlib.use("Agg")


def rounds(count, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + generator.normal(size=count) > 0, 1, -1)


def words(shown):
    return [text.get_text() for text in shown.ax_.texts]


@pytest.fixture(scope="module")
def race():
    X, y = rounds(600)
    return aw.race(X, ["perceptron", "adagrad", "sgd", "normalized-adagrad"], y=y)


def test_a_race_has_three_pictures(race):
    assert list(race.pictures()) == ["race", "board", "speed"]
    with pytest.raises(InputError, match="kind must be one of 'race', 'board', 'speed'; received 'error'"):
        race.plot(kind="error")


def test_the_lines_are_the_curves_of_the_records(race):
    shown = race.plot()
    assert len(shown.ax_.lines) == 4
    # The best one is drawn last.
    for line, entry in zip(shown.ax_.lines, reversed(race.entries), strict=True):
        trace = entry.record.trace
        assert line.get_xdata()[-len(trace) :].tolist() == trace.ends.tolist()
        assert line.get_ydata()[-len(trace) :].tolist() == trace.last.tolist()
        assert line.get_ydata()[-1] == entry.error
    assert words(shown) == [f"{entry.name} {entry.error:.2%}" for entry in race.entries]
    assert shown.ax_.get_xscale() == "log"


def test_the_table_of_the_lines_has_every_curve(race):
    table = race.pictures()["race"].table()
    assert table.heads == ("rounds", *(entry.name for entry in race.entries))
    for place, entry in enumerate(race.entries, 1):
        assert [row[place] for row in table.rows] == [f"{point.error:.2%}" for point in entry.record.curve]


def test_the_board_has_the_three_numbers(race):
    board = race.pictures()["board"]
    assert board.table().heads == ("learner", "Error", "bound", "hindsight")
    for row, entry in zip(board.table().rows, race.entries, strict=True):
        assert row[:2] == (entry.name, f"{entry.error:.2%}")
    by_name = {row[0]: row for row in board.table().rows}
    made = next(entry.certificate for entry in race.entries if entry.name == "perceptron")
    assert by_name["perceptron"][2:] == (f"{int(made.bound) / 600:.2%}", f"{made.hindsight.value / 600:.2%}")
    assert by_name["normalized-adagrad"][2:] == ("", "")
    shown = race.plot(kind="board")
    assert [bar.get_width() for bar in shown.ax_.patches] == [entry.error for entry in race.entries]


def test_without_certificates_the_board_has_no_marks():
    X, y = rounds(50)
    shown = aw.race(X, ["perceptron", "sgd"], y=y, certificates=False).plot(kind="board")
    assert len(shown.ax_.lines) == 0
    assert not [text for text in words(shown) if "bound" in text]


def test_speed_names_those_that_are_beaten_by_none(race):
    picture = race.pictures()["speed"]
    best = min(picture.points, key=lambda point: (point[1], point[0]))
    assert not picture._is_beaten(best)
    worst = max(picture.points, key=lambda point: point[1])
    assert picture._is_beaten((2 * worst[0], *worst[1:]))
    assert len(race.plot(kind="speed").ax_.lines) == 4


def test_many_learners_leave_room():
    X, y = rounds(40)
    found = aw.race(X, [aw.SGD(rate=0.01 * (i + 1)) for i in range(60)], y=y, certificates=False)
    shown = found.plot()
    labels = words(shown)
    assert len(labels) == MOST_LABELS
    assert labels[-1] == f"and {60 - MOST_LABELS + 1} more"
    assert len(shown.ax_.collections) == COLOURED
    assert len(found.plot(kind="board").ax_.patches) == MOST_BARS
    assert found.pictures()["board"].caption.endswith(f"The best {MOST_BARS} are shown.")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_races_of_hardly_any_rounds(count):
    X, y = rounds(count)
    found = aw.race(X, {"a" * 200: "perceptron", "b": "sgd"}, y=y)
    for picture in found.pictures().values():
        assert "<svg" in picture.svg()
        assert picture.table().heads


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_learner_that_stopped_is_drawn_up_to_there():
    X, y = np.full((40, 1), 1e150), np.ones(40)
    X[:8] = 1.0
    found = aw.race(X, ["sgd-regressor", "online-ridge"], y=y)
    stopped = found.entries[-1]
    assert (stopped.name, stopped.record.rounds) == ("sgd-regressor", 8)
    for picture in found.pictures().values():
        assert "<svg" in picture.svg()
    assert any(text.startswith("sgd-regressor stopped") for text in words(Lines(found).plot()))
    assert [row[0] for row in Board(found).table().rows] == ["online-ridge"]
