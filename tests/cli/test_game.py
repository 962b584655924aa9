"""afterwit game: strategies, bracket and certificate."""

import csv
import gzip
import re

import numpy as np
import pytest

import afterwit as aw
from afterwit.cli._matrix import read_matrix
from afterwit.errors import StreamError
from conftest import only_json

NAMED = ",rock,paper,scissors\nrock,0,1,-1\npaper,-1,0,1\nscissors,1,-1,1\n"


def numbers(output):
    lower, upper = re.search(r"value +between (\S+) and (\S+)", output).groups()
    return float(lower), float(upper)


@pytest.mark.parametrize("method", ["predictive-regret-matching+", "regret-matching+", "exponential-weights", "lp"])
def test_names_supports_and_bracket(run_cli, tmp_path, method):
    (tmp_path / "game.csv").write_text(NAMED)
    result = run_cli("game", "game.csv", "--method", method, "--gap", "0.01", "--top", "2")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"zero-sum game of 3 x 3, {method}\n")
    lower, upper = numbers(result.stdout)
    assert lower <= 1 / 9 + 1e-8
    assert upper >= 1 / 9 - 1e-8
    assert upper - lower <= 0.0101
    assert "wanted 0.01: reached" in result.stdout
    assert re.search(r"column +maximizes with paper: 0\.4\d*, \w+: 0\.\d+, \.\.\. \(3 of 3 are played\)", result.stdout)
    # After very few rounds the bound is wider than any gap could be, and the verdict says so.
    vacuous = "(, but the bound says nothing here: no gap is above the spread of the payoffs)?"
    verdict = rf" verdict holds{vacuous} \(--verbose shows the theorem"
    assert bool(re.search(verdict, " ".join(result.stdout.split()))) == (method != "lp")
    assert ("\n\nNo certificate: " in result.stdout) == (method == "lp")


def test_the_full_certificate_on_request(run_cli):
    result = run_cli("game", "-", "--verbose", stdin=NAMED)
    assert "  theorem    regret bound of predictive regret matching+" in result.stdout
    assert "(--verbose shows" not in result.stdout


def test_gzip_standard_input_and_other_delimiters(run_cli, run_process, tmp_path):
    (tmp_path / "game.csv.gz").write_bytes(gzip.compress(NAMED.encode()))
    expected = run_cli("game", "game.csv.gz", "--gap", "1e-9").stdout
    assert "paper" in expected

    def same(output):
        return numbers(output) == numbers(expected)

    assert same(run_process("game", "-", "--gap", "1e-9", stdin="\ufeff" + NAMED.replace("\n", "\r\n\r\n")).stdout)
    assert same(run_cli("game", "-", "--gap", "1e-9", "--delimiter", "tab", stdin=NAMED.replace(",", "\t")).stdout)


def test_names_that_are_numbers(run_cli):
    text = "1,2,3\n1,5,3\n2,4,6\n"
    result = run_cli("game", "-", "--header", "--row-names", stdin=text)
    assert result.stdout.startswith("zero-sum game of 2 x 2")
    assert "row       minimizes with 1: 0.5, 2: 0.5" in result.stdout
    assert "column    maximizes with 2: 0.75, 3: 0.25" in result.stdout
    assert run_cli("game", "-", "--no-header", "--no-row-names", stdin=text).stdout.startswith("zero-sum game of 3 x 3")


def test_who_maximizes(run_cli):
    text = "3,1\n0,2\n"
    pays, receives = (run_cli("game", "-", "--gap", "1e-9", *more, stdin=text).stdout for more in ([], ["--maximize"]))
    assert "row       minimizes with 0: 0.5, 1: 0.5" in pays
    assert "column    maximizes with" in pays
    assert "row       maximizes with 0: 0.5, 1: 0.5" in receives
    assert "column    minimizes with 1: 0.75, 0: 0.25" in receives


def test_all_strategies_in_a_file(run_cli, tmp_path):
    result = run_cli("game", "-", "--strategies", "out.csv", "--gap", "1e-9", stdin=NAMED.replace("rock", '"a, b"'))
    assert (result.returncode, result.stderr) == (0, "")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["player"] for row in rows] == ["row"] * 3 + ["column"] * 3
    assert rows[0]["choice"] == "a, b"
    assert sum(float(row["probability"]) for row in rows) == pytest.approx(2.0)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("method", ["predictive-regret-matching+", "lp"])
def test_json_is_the_solution_of_python(run_cli, tmp_path, method, maximize):
    M = np.random.default_rng(1).standard_normal((7, 12))
    np.savetxt(tmp_path / "game.csv", M, delimiter=",", fmt="%.17g")
    arguments = ["--method", method, "--json", "--strategies", "out.csv", "--top", "1", *["--maximize"] * maximize]
    found = only_json(run_cli("game", "game.csv", *arguments))
    solution = aw.solve_game(M, method=method, maximize=maximize)
    certificate, why = found.pop("certificate", None), found.pop("no_certificate", None)
    if method == "lp":
        assert (certificate, why) == (None, solution.no_theorem_because)
    else:
        assert (certificate, why) == (solution.certificate(M).to_dict(), None)
    names = {"source": "game.csv", "row_names": None, "column_names": None}
    # The time is not the same twice.
    assert {**found, "seconds": None} == {**solution.to_dict(), **names, "seconds": None}
    with (tmp_path / "out.csv").open() as file:
        written = {(row["player"], int(row["choice"])): float(row["probability"]) for row in csv.DictReader(file)}
    for player in ("row", "column"):
        strategy = enumerate(found[f"{player}_strategy"])
        assert {i: p for i, p in strategy if p} == {i: p for (who, i), p in written.items() if who == player}


def test_json_has_the_names_and_null_for_a_bound_that_is_none(run_process):
    """The gap was reached before the first round: the certificate has no bound."""
    found = only_json(run_process("game", "-", "--json", stdin="x,left,right\nup,0,1\ndown,-1,0.5\n"))
    assert (found["source"], found["value"]) == ("standard input", 0.5)
    assert (found["row_names"], found["column_names"]) == (["up", "down"], ["left", "right"])
    assert (found["certificate"]["bound"], found["certificate"]["verdict"]) == (None, "not applicable")


def test_quiet(run_cli, tmp_path):
    result = run_cli("game", "-", "--quiet", "--strategies", "out.csv", stdin=NAMED)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / "out.csv").read_text().startswith("player,choice,probability\nrow,")
    assert "found 'x'" in run_cli("game", "-", "--quiet", stdin="1,2\n3,x\n").stderr


def test_limits_are_said(run_cli, tmp_path):
    M = np.random.default_rng(0).standard_normal((30, 30))
    np.savetxt(tmp_path / "game.csv", M, delimiter=",")
    rounds = run_cli("game", "game.csv", "--gap", "1e-12", "--max-rounds", "3")
    assert (rounds.returncode, rounds.stderr) == (0, "")
    assert "not reached, the rounds ran out" in rounds.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,x\n", "game.csv, line 2: a finite number was expected in cell 2; found 'x'"),
        ("a,b\n\n1,2\n3,nan\n", "game.csv, line 4: a finite number was expected in cell 2; found 'nan'"),
        ("1,2\n3,1_0\n", "game.csv, line 2: a finite number was expected in cell 2; found '1_0'"),
        ("r,1,2\ns,3\n", "game.csv, line 2: 2 payoffs were expected, as in the lines before; found 1"),
        ("r,1,2\n3,4,5\nx\n", "game.csv, line 3: 2 payoffs were expected, as in the lines before; found 0"),
        ("a,b,c\n1,2\n", "game.csv, line 1: 2 names of columns were expected; found 3"),
        (
            "1,2,o.5\n3,4,5\n",
            "game.csv, line 1: names alone or payoffs alone were expected; found '1' and 'o.5'; "
            "--header or --no-header says which",
        ),
        (
            "1,,2\n3,4,5\n",
            "game.csv, line 1: names alone or payoffs alone were expected; found '1' and ''; "
            "--header or --no-header says which",
        ),
        ("a,b\n", "game.csv, line 1: a line of payoffs was expected after the names"),
        ("", "game.csv: a matrix of payoffs was expected, the file is empty"),
        ('1,2\n3,"4\n', "game.csv, line 2: CSV text was expected (unexpected end of data)"),
    ],
)
def test_what_is_no_matrix(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.csv").write_text(text)
    with pytest.raises(StreamError) as caught:
        read_matrix("game.csv")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        (NAMED, ["rock", "paper", "scissors"], ["rock", "paper", "scissors"]),
        (NAMED.split("\n", 1)[1], ["rock", "paper", "scissors"], None),
        ("rock,paper,scissors\n0,1,-1\n-1,0,1\n1,-1,1\n", None, ["rock", "paper", "scissors"]),
        ("0,1,-1\n\n-1, 0 ,1\n , ,\n1,-1,1", None, None),
        ('x,y,z\n"a, b",0,1,-1\nb,-1,0,1\nc,1,-1,1\n', ["a, b", "b", "c"], ["x", "y", "z"]),
    ],
)
def test_names_are_found(tmp_path, text, rows, columns):
    (tmp_path / "game.csv").write_text(text)
    matrix = read_matrix(str(tmp_path / "game.csv"))
    assert matrix.payoffs.tolist() == [[0, 1, -1], [-1, 0, 1], [1, -1, 1]]
    assert (matrix.rows, matrix.columns) == (rows, columns)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "standard input, line 2: 2 payoffs were expected, as in the lines before; found 1"),
        (["--gap", "-1"], "--gap must be a finite number, at least 0; received -1.0"),
        (["--method", "magic"], "unknown method 'magic'. Known: predictive-regret-matching+, regret-matching+, "),
        (["--max-rounds", "0"], "--max-rounds must be a whole number, at least 1; received 0"),
        (["--delimiter", "ab"], "--delimiter must be one character such as ; or |, or tab; received 'ab'"),
        (["--strategies", "no/where"], "no/where: cannot be written"),
    ],
)
def test_mistakes_are_one_sentence(run_cli, arguments, message):
    result = run_cli("game", "-", *arguments, stdin="1,2\n3\n")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"afterwit: {message}")
    assert result.stderr.count("\n") == 1
    assert run_cli("game", "-", *arguments, "--json", stdin="1,2\n3\n") == result


def test_files_that_cannot_be_read(run_cli, tmp_path):
    assert run_cli("game", "none.csv").stderr == "afterwit: none.csv: there is no such file\n"
    (tmp_path / "bytes.csv").write_bytes(b"1,2\n\xff\xfe,3\n")
    expected = "afterwit: bytes.csv, line 2: UTF-8 text was expected, found other bytes\n"
    assert run_cli("game", "bytes.csv").stderr == expected
    (tmp_path / "game.csv").write_text("1,2\n")
    result = run_cli("game", "game.csv", "--strategies", "game.csv")
    assert result.stderr.startswith("afterwit: --strategies must be a different file from FILE")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_detected(run_process, tmp_path, delimiter):
    (tmp_path / "game.csv").write_text("x,left,right\nup,1,2\ndown,3,0\n".replace(",", delimiter))
    result = run_process("game", "game.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert "  value     between 1.5 and 1.5\n" in result.stdout
    assert "minimizes with up: 0.75, down: 0.25" in result.stdout
