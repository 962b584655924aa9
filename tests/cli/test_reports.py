"""The reports of the commands."""

import json
import re

import html5lib
import numpy as np
import pytest

from afterwit.core.certificate import shown_number
from browser import DESKTOP, PHONE
from conftest import only_json

HOSTILE = "<script>alert('x')</script>"


@pytest.fixture
def tables(tmp_path):
    """Small tables of every kind that a command reads, in the folder in which it runs."""
    generator = np.random.default_rng(3)
    load = generator.random(60).round(3)
    rows = [f"day,region,load,low,high,{HOSTILE}"]
    for t, value in enumerate(load.tolist()):
        advice = ",".join(f"{each:.3f}" for each in (value + generator.normal(size=3) / 4).tolist())
        rows.append(f"d{t},{'north' if t % 3 else '<south>'},{value},{advice}")
    (tmp_path / "load.csv").write_text("\n".join(rows))
    two = [
        f"{line},{value}" for line, value in zip(rows, ["load_2", *generator.random(60).round(3).tolist()], strict=True)
    ]
    (tmp_path / "two.csv").write_text("\n".join(line.replace("load,low,high", "load_1,low,high") for line in two))
    odds = ["winner,x_a,x_b,y_a,y_b"]
    for _ in range(40):
        p, q = generator.uniform(0.1, 0.9, size=2).round(3).tolist()
        odds.append(f"{'ab'[int(generator.random() > p)]},{p},{1 - p:.3f},{q},{1 - q:.3f}")
    (tmp_path / "odds.csv").write_text("\n".join(odds))
    X = generator.normal(size=(200, 3)).round(3)
    people = [f'"{HOSTILE}","size, in m",colour,"is ""it"""']
    people += [f"{a},{b},{'red' if c > 0 else 'blue'},{'yes' if a + b > 0 else 'no'}" for a, b, c in X.tolist()]
    (tmp_path / "people.csv").write_text("\n".join(people))
    (tmp_path / "game.csv").write_text(f"move,<b>,paper\n{HOSTILE},3,-1\nrock,-2,1\n")
    return tmp_path


COMMANDS = {
    "run": ["run", "people.csv", "--target", 'is "it"'],
    "run, one learner": ["run", "people.csv", "--target", 'is "it"', "--learner", "perceptron", "--passes", "2"],
    "run, regression": ["run", "people.csv", "--target", HOSTILE],
    "run, no certificate": ["run", "people.csv", "--target", 'is "it"', "--no-certificate"],
    "run, tested": ["run", "people.csv", "--target", 'is "it"', "--test", "people.csv", "--scores", "s.txt"],
    "experts": ["experts", "load.csv", "--target", "load", "--index", "day,region"],
    "experts, intervals": ["experts", "load.csv", "--target", "load", "--index", "day,region", "--interval", "80%"],
    "experts, groups": ["experts", "load.csv", "--target", "load", "--group", "region"],
    "experts, targets": ["experts", "two.csv", "--target", "load_1,load_2", "--experts", "low,high"],
    "experts, outcomes": ["experts", "odds.csv", "--outcome", "winner", "--prefix", "x_,y_"],
    "game": ["game", "game.csv"],
    "game, lp": ["game", "game.csv", "--method", "lp", "--maximize"],
    "race": ["race", "people.csv", "--target", 'is "it"', "--learners", "committee,perceptron,sgd"],
    "race, regression": ["race", "people.csv", "--target", HOSTILE, "--no-certificate"],
    "demo": ["demo"],
}


def text_of(path):
    root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(path.read_text(encoding="utf-8"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("style", "{http://www.w3.org/2000/svg}svg"):
                parent.remove(child)
    return " ".join(" ".join(root.itertext()).split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_report_that_is_right_in_a_browser(run_cli, browser, tables, name):
    done = run_cli(*COMMANDS[name], "--report", "out.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\nreport: out.html\n")
    path = tables / "out.html"
    assert path.stat().st_size < 300_000
    assert "<script" not in path.read_text()
    assert "Reproduce it afterwit " + COMMANDS[name][0] in text_of(path)
    for width, dark in ((DESKTOP, False), (PHONE, True)):
        seen = browser.look(path, width, dark)
        assert (seen.faults, seen.requests) == ([], [])


@pytest.mark.parametrize("name", ["run", "experts, intervals", "experts, groups", "experts, outcomes", "game"])
def test_a_report_has_the_same_bytes_twice(run_cli, tables, name):
    made = [
        (run_cli(*COMMANDS[name], "--report", "out.html").stderr, (tables / "out.html").read_bytes()) for _ in range(2)
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize("name", ["run", "experts", "experts, outcomes", "game", "demo"])
def test_the_json_names_the_report_and_quiet_writes_it(run_cli, tables, name):
    found = only_json(run_cli(*COMMANDS[name], "--report", "out.html", "--json"))
    assert found["report"] == "out.html"
    if name != "demo":
        (tables / "out.html").unlink()
        quiet = run_cli(*COMMANDS[name], "--report", "out.html", "--quiet")
        assert (quiet.returncode, quiet.stdout) == (0, "")
        assert (tables / "out.html").exists()


def test_a_report_of_a_run_says_what_the_terminal_says(run_cli, tables):
    command = [*COMMANDS["run, one learner"], "--option", "rate=0.5", "--report", "out.html"]
    found = only_json(run_cli(*command, "--json"))
    text = text_of(tables / "out.html")
    record, certificate = found["record"], found["certificate"]
    assert f"400 rounds, {record['mistakes']} mistakes, error {record['error']:.2%}" in text
    assert f"≤ at most {int(certificate['bound']):,} mistakes" in text
    assert certificate["theorem"]["citation"] in text
    assert "Data source people.csv predicts labels no, yes" in text
    assert "learner Perceptron rate 0.5 labels ('no', 'yes') passes 2" in text
    assert f"""number {HOSTILE}, size, in m category colour""" in text
    assert """afterwit run people.csv --target 'is "it"' --learner perceptron --passes 2 --option rate=0.5""" in text


def test_without_a_certificate_the_rounds_are_not_played_again(run_cli, tables, monkeypatch):
    monkeypatch.setattr("afterwit.core.moments.Past.certificate", lambda past: pytest.fail("a certificate was made"))
    assert run_cli(*COMMANDS["run, no certificate"], "--report", "out.html").returncode == 0
    assert "No certificate: it was not asked for." in text_of(tables / "out.html")


def test_the_parts_of_groups_are_those_in_which_most_happened(run_cli, tables):
    found = only_json(run_cli(*COMMANDS["experts, groups"], "--report", "out.html", "--json"))
    text = text_of(tables / "out.html")
    regrets = {each["group"]: each["certificate"]["observed"] for each in found["certificate"]["groups"]}
    titles = re.findall(r"region (<south>|north) \d+ rounds", text)
    assert titles == sorted(regrets, key=lambda group: -regrets[group])


def test_forecasts_that_go_on_are_those_of_the_report(run_cli, tables):
    assert run_cli(*COMMANDS["experts"], "--model", "m.afterwit").returncode == 0
    found = only_json(run_cli(*COMMANDS["experts"], "--resume", "m.afterwit", "--report", "out.html", "--json"))
    (combined,) = (line["mean_loss"] for line in found["leaderboard"] if line["kind"] == "combined")
    assert f"MLpol (all together) 60 {shown_number(combined)}" in text_of(tables / "out.html")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "people.csv", "--target", "colour", "--report", "people.csv"], "a different file from FILE"),
        (["run", "people.csv", "--target", "colour", "--model", "x", "--report", "x"], "a different file from --model"),
        (["game", "game.csv", "--report", "-"], "--report must be a file name"),
        (["demo", "--report", "missing/out.html"], "missing/out.html: cannot be written"),
        (["experts", "load.csv", "--target", "load", "--report", "load.csv"], "a different file from FILE"),
    ],
)
def test_a_report_is_an_output_like_every_other(run_cli, tables, arguments, said):
    before = {each.name: each.read_bytes() for each in tables.iterdir()}
    done = run_cli(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert {each.name: each.read_bytes() for each in tables.iterdir()} == before


def test_a_command_that_fails_leaves_the_old_report(run_cli, tables):
    (tables / "out.html").write_text("old")
    names = sorted(each.name for each in tables.iterdir())
    assert run_cli("run", "people.csv", "--target", "none", "--report", "out.html").returncode == 2
    assert (tables / "out.html").read_text() == "old"
    assert sorted(each.name for each in tables.iterdir()) == names


def test_without_matplotlib_nothing_is_done(run_cli, tables, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    done = run_cli(*COMMANDS["run"], "--model", "m.afterwit", "--report", "out.html")
    assert done.returncode == 2
    assert "pip install 'afterwit[plot]'" in done.stderr
    assert not (tables / "m.afterwit").exists()


def test_the_report_of_the_demo_has_both_questions(run_cli, tables):
    found = json.loads(run_cli("demo", "--report", "out.html", "--json").stdout)
    text = text_of(tables / "out.html")
    for run, question in zip(found["runs"], ("Is this scanned digit a 0?", "Is this scanned digit an 8?"), strict=True):
        record = run["record"]
        assert f"{question} 1,797 rounds, {record['mistakes']} mistakes, error {record['error']:.2%}" in text
