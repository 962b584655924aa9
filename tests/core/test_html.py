"""What notebooks show."""

import re

import html5lib
import numpy as np
import pytest

import afterwit as aw
from browser import DESKTOP, PHONE

HOSTILE = "<script>alert('x')</script>\"'&amp;"


def examples(count=50):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(count, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] > 0, 1, -1)


def learned():
    learner = aw.Perceptron(rate=0.5, labels=(HOSTILE, "b"))
    learner.learn_one({HOSTILE: 3.0, "b": 4.0}, HOSTILE)
    learner.learn_one({HOSTILE: 3.0, "b": -1.0}, "b")
    return learner


def groups():
    advice = np.random.default_rng(1).random((20, 2))
    learner = aw.PerGroup(aw.MLpol(["a", "b"]))
    rounds = (["x", HOSTILE] * 10, advice, advice.mean(axis=1))
    learner.learn_many(*rounds)
    return learner.certificate(*rounds)


def expert_record():
    advice = np.random.default_rng(1).random((20, 2))
    return aw.experts.play(aw.MLpol([HOSTILE, "b"]), advice, advice[:, 0])


def race(count):
    return aw.race(examples()[0], {f"{HOSTILE}{i}": "perceptron" for i in range(count)}, y=examples()[1])


def hostile_game():
    return aw.solve_game([[3.0, -1.0], [-2.0, 1.0]])


SHOWN = {
    "fresh learner": aw.Perceptron,
    "learner": learned,
    "committee": lambda: aw.play(aw.Committee(), *examples())._played.learner,
    "experts": lambda: aw.MLpol([HOSTILE, "b"]),
    "stump": aw.DecisionStump,
    "record": lambda: aw.play(aw.Perceptron(), *examples()),
    "record of no rounds": lambda: aw.play(aw.Perceptron(), []),
    "regression record": lambda: aw.play(aw.OnlineRidge(), *examples()),
    "certificate": lambda: aw.play(aw.Perceptron(), *examples()).certificate(),
    "expert record": expert_record,
    "groups": groups,
    "game": hostile_game,
    "race": lambda: race(3),
    "large race": lambda: race(30),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_notebooks_show_is_small_valid_and_of_the_notebooks_colours(name):
    text = SHOWN[name]()._repr_html_()
    html5lib.HTMLParser(strict=True).parseFragment(text)
    assert len(text) < 6000
    assert "<script" not in text
    # Nothing that would be wrong on a dark ground.
    assert set(re.findall(r"(?:color|background)[\w-]*:([^;\"]*)", text)) <= {"inherit", "currentColor"}
    assert not re.search(r"#[0-9a-fA-F]{3}|rgb|<style|class=", text)


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_nothing_overflows(browser, tmp_path, width):
    path = tmp_path / "notebook.html"
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>x</title>'
    path.write_text(f"{head}<body>{''.join(make()._repr_html_() for make in SHOWN.values())}")
    seen = browser.look(path, width)
    assert (seen.faults, seen.requests) == ([], [])


def cells(text):
    root = html5lib.parse(text, namespaceHTMLElements=False)
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


def test_a_learner_shows_its_options_its_rounds_and_its_heaviest_features():
    assert cells(learned()._repr_html_()) == [
        ["options", f"rate=0.5, labels={(HOSTILE, 'b')!r}"],
        ["so far", "2 rounds, 2 mistakes"],
        ["b", "-2.5", ""],
    ]
    assert cells(aw.Perceptron()._repr_html_()) == [["options", "as usual"], ["so far", "0 rounds, 0 mistakes"]]


def test_an_expert_algorithm_shows_its_experts_by_name():
    learner = aw.MLpol([HOSTILE, "b"])
    learner.learn_many([[0.0, 1.0]] * 5, [1.0] * 5)
    assert [row[0] for row in cells(learner._repr_html_())[-2:]] == ["b", HOSTILE]


def test_a_record_shows_its_totals_and_its_curve():
    record = aw.play(aw.Perceptron(), *examples())
    found = cells(record._repr_html_())
    assert found[0] == ["happened", f"{record.mistakes} mistakes, error {record.error:.2%}"]
    assert found[1] == ["rounds", "mistakes", "error so far", "since last row"]
    assert [row[0] for row in found[2:]] == ["1", "2", "4", "8", "16", "32", "50"]


def test_a_race_shows_its_best_learners():
    made = race(3)
    _, *rows = made.rows()
    assert cells(made._repr_html_()) == [[name, f"error {error}, time/example {took}"] for name, error, took in rows]
    assert cells(race(30)._repr_html_())[-1] == ["", "and 18 more"]
