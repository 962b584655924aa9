"""What the commands show on a terminal: it fits, has few colours, and says what a pipe says."""

import csv
import io
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import afterwit as aw
from afterwit.cli import main
from afterwit.cli._curve import CurveTable
from afterwit.cli._said import Voice
from afterwit.cli._terminal import Terminal, _rejoined, _widths, wrapped
from afterwit.core.record import Point
from afterwit.pictures._style import TERMINAL
from terminals import Session, Tty, without_colours

NAMES = ("a" * 200, "電力価格の予測" * 3, "سعر الكهرباء", "🙂🙃 prices", "plain")


@pytest.fixture
def on_terminal(tmp_path, monkeypatch):
    """Run a command in this process on streams that say they are terminals."""

    def run(*arguments, width=80, **env):
        streams = {"stdout": Tty(), "stderr": Tty()}
        with monkeypatch.context() as patches:
            patches.chdir(tmp_path)
            patches.setattr("afterwit.cli.signal.signal", lambda *_: None)
            for name in ("NO_COLOR", "FORCE_COLOR", "LINES"):
                patches.delenv(name, raising=False)
            for name, value in {
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "COLUMNS": str(width),
                **env,
            }.items():
                patches.setenv(name, value)
            patches.setattr("afterwit.cli._progress.is_terminal", lambda _: False)
            for name, stream in streams.items():
                patches.setattr(sys, name, stream)
            code = 0
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as stopped:
                code = stopped.code or 0
        return code, streams["stdout"], streams["stderr"]

    return run


@pytest.fixture
def data(tmp_path):
    """A table with names of all kinds, and one of forecasts."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, len(NAMES)))
    label = np.where(X @ np.arange(1, 1 + len(NAMES)) > 0, "yes", "no")
    with open(tmp_path / "names.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES, "sold"])
        writer.writerows([*row, y] for row, y in zip(X.round(3).tolist(), label.tolist(), strict=True))
    outcome = generator.normal(1e6, 1e5, size=60)
    with open(tmp_path / "forecasts.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES, "load"])
        for value in outcome:
            writer.writerow([*(value + generator.normal(0, 1e4, size=len(NAMES))).round(1).tolist(), round(value, 1)])
    with open(tmp_path / "game.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["", *NAMES], *([name, *generator.normal(size=5).round(2)] for name in NAMES)])
    return tmp_path


COMMANDS = (
    ("run", "names.csv", "--target", "sold", "--model", "m"),
    ("run", "names.csv", "--target", "sold", "--learner", "perceptron", "--verbose"),
    ("run", "names.csv", "--target", "plain", "--learner", "online-ridge", "--ignore", "sold"),
    ("race", "names.csv", "--target", "sold", "--learners", "perceptron,sgd"),
    ("experts", "forecasts.csv", "--target", "load"),
    ("game", "game.csv"),
    ("demo",),
)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("command", COMMANDS, ids=[f"{i}-{command[0]}" for i, command in enumerate(COMMANDS)])
def test_everything_fits_and_no_number_is_broken(on_terminal, run_cli, data, command, width):
    code, out, _ = on_terminal(*command, width=width)
    assert code == 0
    lines = out.text.split("\n")
    assert max(map(cell_len, lines)) <= width
    # All numbers of the plain text are there as they are, but for those of columns for which there is no room.
    plain = run_cli(*command).stdout
    if width >= 80:
        numbers = lambda text: set(re.findall(r"(?<![\w.])\d[\d,.]*%?(?![\w])", text))  # noqa: E731
        timed = numbers(" ".join(re.findall(r"[\d.,]+ (?:µs|s)\b", plain)))
        assert numbers(plain) - timed <= numbers(out.text)


@pytest.mark.parametrize("width", [60, 80])
def test_a_model_is_shown_in_that_width(on_terminal, data, width):
    on_terminal(*COMMANDS[0])
    code, out, _ = on_terminal("inspect", "m", width=width)
    assert code == 0
    assert max(map(cell_len, out.text.split("\n"))) <= width
    assert "happened" in out.text
    code, out, _ = on_terminal("predict", "m", "names.csv", width=width)
    assert out.text.startswith("300 examples, ")


def test_colours_are_those_of_the_pictures_and_few(on_terminal, data):
    _, out, _ = on_terminal(*COMMANDS[0])

    def code(name):
        red, green, blue = (int(TERMINAL[name][i : i + 2], 16) for i in (1, 3, 5))
        return f"\x1b[38;2;{red};{green};{blue}m"

    for name in ("bound", "happened", "hindsight"):
        assert f"  {code(name)}{name}\x1b[0m" in out.raw_text
    assert "\x1b[32mholds\x1b[0m" in out.raw_text
    assert len(set(re.findall(r"\x1b\[[^m]*m", out.raw_text))) <= 8


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_the_text_is_the_same(on_terminal, data, env):
    _, coloured, _ = on_terminal(*COMMANDS[1])
    _, plain, _ = on_terminal(*COMMANDS[1], **env)
    assert plain.text == coloured.text
    assert re.findall(r"\x1b\[[^m]*m", plain.raw_text) == [] or set(re.findall(r"\x1b\[([^m]*)m", plain.raw_text)) <= {
        "0",
        "1",
        "2",
    }
    if "TERM" in env:
        assert "\x1b" not in plain.raw_text


def test_in_a_pipe_there_are_no_colours_and_no_marks(run_cli, data, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    for command in COMMANDS:
        result = run_cli(*command)
        assert "\x1b" not in result.stdout + result.stderr
        assert not set(result.stdout) & set("▁▂▃▄▅▆▇█━")


def test_errors_and_warnings_begin_with_a_colour(on_terminal, data):
    code, _, err = on_terminal("run", "nothing.csv", width=30)
    assert code == 2
    assert err.raw_text.startswith("\x1b[1;31mafterwit:\x1b[0m nothing.csv: ")
    assert err.text == "afterwit: nothing.csv: there\n  is no such file\n"
    (data / "bad.csv").write_text("a,y\n1,0\nx,1\n2,1\n3,0\n")
    code, _, err = on_terminal("run", "bad.csv", "--target", "y", "--numeric", "a", "--on-error", "skip", width=60)
    assert code == 0
    assert err.raw_text.startswith("\x1b[33mafterwit: warning:\x1b[0m 1 row was left out")
    assert max(map(cell_len, err.text.split("\n"))) <= 60


def test_json_and_quiet_have_no_colours(on_terminal, data):
    _, out, _ = on_terminal(*COMMANDS[0], "--json")
    assert "\x1b" not in out.raw_text
    assert out.raw_text.startswith("{")
    _, out, err = on_terminal(*COMMANDS[0], "--quiet")
    assert out.raw_text == err.raw_text == ""


# ---------------------------------------------------------------------- the parts


@given(st.text(st.sampled_from(list("ab1,.% -電🙂é")), max_size=120), st.integers(20, 90))
def test_wrapping_keeps_every_word_and_the_width(text, width):
    parts = wrapped(text, width)
    assert max(map(cell_len, parts)) <= width
    words = [word for word in text.split(" ") if word]
    if all(cell_len(word) <= width // 2 for word in words):
        assert [word for part in parts for word in part.split(" ") if word] == words
    else:
        assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_what_goes_on_is_indented():
    assert wrapped("short", 20) == ["short"]
    assert wrapped("  happened   one two three four five six", 30) == [
        "  happened   one two three",
        "               four five six",
    ]
    assert wrapped("one two three four five", 12) == ["one two", "  three four", "  five"]


def test_certificates_are_broken_anew():
    certificate = aw.play(aw.SGD(), aw.adversaries.unit_vectors(40)).certificate()
    for text in (str(certificate), certificate.details()):
        texts = [line.split() for line in _rejoined(text).split("\n")]
        assert [word for line in texts for word in line] == [
            word for line in text.replace("-\n" + " " * 15, "-").split("\n") for word in line.split()
        ]
        assert not any(line.startswith(" " * 14) for line in _rejoined(text).split("\n"))


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, [20, 12, 12]),
        (45, [20, 8, 6]),
        (38, [20, 8, 6]),
        (32, [14, 8, 6]),
        (30, [12, 8, 6]),
        (29, [19, 8]),
        (5, [12, 8]),
    ],
)
def test_columns_give_way(width, expected):
    rows = [("learner" + "x" * 13, "12345678", "123456")]
    assert _widths(rows, width, 12) == expected


def test_a_table_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    stream = Tty()
    monkeypatch.setattr(sys, "stdout", stream)
    Terminal().table([("name", "first", "second"), ("電力価格の予測です", "1,234,567", "1,234,567.89")], 4)
    assert stream.text.split("\n")[:3] == [
        "name                    first",
        "電力価格の予測です  1,234,567",
        "(in a wider terminal: second)",
    ]


@pytest.mark.parametrize("width", [60, 80])
def test_a_million_times_a_million_rounds_stay_in_their_columns(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Tty()
    monkeypatch.setattr(sys, "stdout", stream)
    table = CurveTable(Voice(), regression=False)
    table.head()
    table.point(Point(1, 1, 1.0, 1.0, 7))
    table.point(Point(10**12, 999_999_999_999, 0.999999, 0.5, 7))
    lines = stream.text.rstrip("\n").split("\n")
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= width
    assert lines[2].split()[:2] == ["1,000,000,000,000", "999,999,999,999"]


# ---------------------------------------------------------------------- real terminals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals are those of POSIX")


@pytest.fixture
def long_table(tmp_path):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(20_000, 3)).round(3)
    y = (X.sum(axis=1) > 0).astype(int)
    text = io.StringIO()
    text.write("a,b,c,y\n")
    np.savetxt(text, np.column_stack([X, y]), delimiter=",", fmt="%g")
    (tmp_path / "long.csv").write_text(text.getvalue())
    return tmp_path


@pytest.mark.parametrize("width", [60, 100])
def test_the_bar_says_how_far_it_is_and_goes_away(long_table, width):
    session = Session(["run", "long.csv", "--target", "y", "--passes", "20", "--no-certificate"], long_table, width)
    code = session.finish()
    assert code == 0
    drawn = without_colours(session.output.decode())
    assert "━" in drawn
    assert re.search(r"[\d,]+ rows", drawn) or width == 60
    assert re.search(r"error \d+\.\d\d%", drawn)
    assert re.search(r"\d\.\d MB/s", drawn) or width == 60
    lines = session.lines
    assert not any("━" in line for line in lines)
    assert not session.screen().cursor.hidden
    assert max(map(cell_len, lines)) <= width
    plain = [line for line in lines if line]
    assert plain[0].startswith("committee on long.csv")
    assert [line.split()[0] for line in plain if re.match(r" +400,000 ", line)] == ["400,000"]


def test_ctrl_c_leaves_a_clean_terminal(tmp_path):
    """Standard input stays open: the run waits for more rows, with its bar, until it is interrupted."""
    session = Session(["run", "-", "--target", "y", "--format", "csv"], tmp_path, stdin=subprocess.PIPE)
    session.process.stdin.write(b"a,y\n" + b"1,0\n2,1\n" * 2000)
    session.process.stdin.flush()
    session.read_until("━")
    session.process.send_signal(signal.SIGINT)
    assert session.finish() == 130
    session.process.stdin.close()
    screen = session.screen()
    assert not screen.cursor.hidden
    lines = [line for line in session.lines if line]
    assert lines[-1] == "afterwit: interrupted"
    assert not any("━" in line for line in lines)


def test_a_bar_beside_output_to_a_file(long_table):
    """The text goes to the file without a mark; the bar goes to the terminal, and nothing is left of it."""
    with open(long_table / "out", "wb") as out:
        command = ["run", "long.csv", "--target", "y", "--passes", "10", "--no-certificate"]
        session = Session(command, long_table, stdout=out)
        assert session.finish() == 0
    assert "━" in session.output.decode()
    assert [line for line in session.lines if line] == []
    written = (long_table / "out").read_text()
    assert written.startswith("committee on long.csv, labels 0 and 1\n\n")
    assert "\x1b" not in written
    assert "     200,000 " in written


def test_quiet_is_quiet_on_a_terminal(long_table):
    session = Session(["run", "long.csv", "--target", "y", "--passes", "5", "--quiet"], long_table)
    assert session.finish() == 0
    assert session.output == b""
