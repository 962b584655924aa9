"""--json and --quiet of experts, predict and demo: the numbers are those of Python, to the last bit."""

import importlib

import numpy as np
import pytest

import afterwit as aw
from afterwit.cli import COMMANDS, afterwit_command
from conftest import only_json

NAMES = ["low", "fair", "high"]


@pytest.fixture
def data(tmp_path):
    """Three forecasts of a load in f.csv; in far.csv beside a height, which forecasts nothing."""
    generator = np.random.default_rng(7)
    outcomes = 50 + 10 * generator.random(60)
    advice = outcomes[:, np.newaxis] + generator.normal([-4, 0.5, 3], [1, 2, 1], size=(60, 3))
    lines = [",".join(map(repr, row)) for row in np.column_stack([advice, outcomes]).tolist()]
    head = f"{','.join(NAMES)},load"
    (tmp_path / "f.csv").write_text("".join(f"{line}\n" for line in [f"day,{head}", *map("day,{}".format, lines)]))
    far = [f"{head},height", *(f"{line},{900 + 7 * i}" for i, line in enumerate(lines))]
    (tmp_path / "far.csv").write_text("".join(f"{line}\n" for line in far))
    return advice, outcomes


def test_json_is_what_python_finds(run_process, data, tmp_path):
    advice, outcomes = data
    arguments = ("--top", "1", "--model", "m", "--predictions", "out.csv", "--json")
    found = only_json(run_process("experts", "f.csv", "--target", "load", *arguments))
    learner = aw.MLpol(NAMES)
    forecasts = learner.learn_many(advice, outcomes)
    assert aw.load(tmp_path / "m") == learner
    assert (tmp_path / "out.csv").read_text().count("\n") == 61
    assert found["certificate"] == learner.certificate(advice, outcomes).to_dict()
    assert found["weights"] == dict(zip(NAMES, learner.weights.tolist(), strict=True))
    told = [found[key] for key in ("source", "target", "algorithm", "loss", "rounds", "experts", "ignored", "model")]
    assert told == ["f.csv", "load", "mlpol", "square", 60, NAMES, ["day"], "m"]
    assert (found["rows_without_target"], found["forecasts"]) == ([], {"day": [], "forecast": []})
    best = aw.hindsight.best_convex_combination(advice, outcomes)
    values = {("expert", name): advice[:, i] for i, name in enumerate(NAMES)}
    values |= {("combined", "mlpol"): forecasts, ("mean", "mean of the experts"): advice.mean(axis=1)}
    values["mixture", "best mixture in hindsight"] = advice @ best.weights
    lines = {(line["kind"], line["name"]): line for line in found["leaderboard"]}
    assert lines.keys() == values.keys()
    for who, line in lines.items():
        errors = values[who] - outcomes
        squares = float(np.mean(errors**2))
        expected = {"rounds": 60, "mean_loss": squares, "loss": 60 * squares, "rmse": squares**0.5}
        expected |= {"mae": float(np.mean(abs(errors))), "mape": float(np.mean(abs(errors / outcomes)))}
        assert {key: line[key] for key in expected} == pytest.approx(expected, rel=1e-14)
    assert [line["mean_loss"] for line in found["leaderboard"]] == sorted(line["mean_loss"] for line in lines.values())
    assert lines["combined", "mlpol"]["mae"] == aw.experts.play(aw.MLpol(NAMES), advice, outcomes).mae


def test_json_of_sleepers_of_zeros_and_of_rows_to_come(run_cli, tmp_path):
    """Where there is no number there is null: a share of 0, an expert who never was awake, a row without forecasts."""
    lines = ["day,a,b,c,y", "mon,1,2,,0", "tue,2,,,2.5", "wed,2,3,,", "thu,,,,", "fri,1,2,,2"]
    (tmp_path / "f.csv").write_text("\n".join(lines) + "\n")
    arguments = ("--target", "y", "--experts", "a,b,c", "--predictions", "out.csv", "--json")
    found = only_json(run_cli("experts", "f.csv", *arguments))
    learner = aw.MLpol(["a", "b", "c"])
    nan = float("nan")
    learner.learn_many([[1.0, 2.0, nan], [2.0, nan, nan]], [0.0, 2.5])
    wednesday = learner.predict_one([2.0, 3.0, nan])
    learner.learn_one([1.0, 2.0, nan], 2.0)
    assert found["rows_without_target"] == [3, 4]
    assert found["forecasts"] == {"day": ["wed", "thu"], "forecast": [wednesday, None]}
    assert (tmp_path / "out.csv").read_text().splitlines()[3:5] == [f"wed,,{wednesday!r}", "thu,,"]
    lines = {line["name"]: line for line in found["leaderboard"]}
    assert (lines["b"]["rounds"], lines["b"]["loss"], lines["b"]["mape"]) == (2, 4.0, None)
    nobody = {"rounds": 0, "mean_loss": None, "rmse": None, "mae": None, "mape": None, "loss": None}
    assert lines["c"] == {"kind": "expert", "name": "c", **nobody}
    assert found["leaderboard"][-1] == lines["c"]
    assert found["weights"] == dict(zip("abc", learner.weights.tolist(), strict=True))


def test_json_of_votes(run_cli, tmp_path):
    (tmp_path / "v.csv").write_text("a,b,y\n1,0,1\n1,1,0\n0,1,0\n1,0,1\n")
    arguments = ("--loss", "zero-one", "--algorithm", "weighted-majority", "--json")
    found = only_json(run_cli("experts", "v.csv", "--target", "y", *arguments))
    lines = {line["name"]: line for line in found["leaderboard"]}
    assert lines["a"] == {"kind": "expert", "name": "a", "rounds": 4, "mean_loss": 0.25, "error": 0.25, "loss": 1.0}
    assert lines["b"]["error"] == 1.0
    assert "mixture" not in [line["kind"] for line in found["leaderboard"]]


def test_with_json_warnings_stay_on_standard_error(run_cli, data):
    text = run_cli("experts", "far.csv", "--target", "load")
    result = run_cli("experts", "far.csv", "--target", "load", "--json")
    assert only_json(result)["experts"] == NAMES
    assert result.stderr == text.stderr
    assert result.stderr.startswith("afterwit: warning: left out height: too far from load")


def test_quiet_writes_files_and_warnings_alone(run_cli, data, tmp_path, monkeypatch):
    arguments = ("experts", "far.csv", "--target", "load")
    loud = run_cli(*arguments, "--model", "m", "--predictions", "p.csv")
    # What nobody reads is not computed either.
    monkeypatch.setattr(importlib.import_module("afterwit.cli._told"), "leaderboard", None)
    quiet = run_cli(*arguments, "--model", "n", "--predictions", "q.csv", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", loud.stderr)
    assert aw.load(tmp_path / "n") == aw.load(tmp_path / "m")
    assert (tmp_path / "q.csv").read_text() == (tmp_path / "p.csv").read_text()


def test_forecasts_of_a_saved_model_in_json(run_cli, data, tmp_path):
    learner = aw.MLpol(NAMES)
    learner.learn_many(*data)
    aw.save(learner, tmp_path / "m")
    (tmp_path / "new.csv").write_text("when,high,fair,low\nt0,61.5,60,55\nt1,,,\nt2,70,,64\n")
    nan = float("nan")
    one, two = learner.predict_many([[55.0, 60.0, 61.5], [64.0, nan, 70.0]]).tolist()
    result = run_cli("predict", "m", "new.csv", "--json")
    assert only_json(result) == {
        "model": "m",
        "source": "new.csv",
        "learner": "MLpol",
        "rounds": 60,
        "experts": NAMES,
        "rows": 3,
        "forecasts": {"when": ["t0", "t1", "t2"], "forecast": [one, None, two]},
    }
    table = f"when,forecast\nt0,{one!r}\nt1,\nt2,{two!r}\n"
    assert run_cli("predict", "m", "new.csv", "--json", "--predictions", "out.csv") == result
    assert (tmp_path / "out.csv").read_text() == table
    assert run_cli("predict", "m", "new.csv", "--quiet").stdout == ""
    # Results on standard output drive everything else to standard error.
    both = run_cli("predict", "m", "new.csv", "--json", "--predictions", "-")
    assert (both.returncode, both.stdout, both.stderr) == (0, table, result.stdout)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.csv", "far.csv", "m", "new.csv", "out.csv"]
    wrong = run_cli("predict", "m", "f.csv", "--index", "high", "--json")
    expected = "afterwit: --index must be columns other than the experts; received high\n"
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (2, "", expected)


def test_the_demo_in_json(run_cli):
    from sklearn.datasets import load_digits

    digits = load_digits()
    runs = only_json(run_cli("demo", "--json"))["runs"]
    assert [run["digit"] for run in runs] == [0, 8]
    for run in runs:
        y = np.where(digits.target == run["digit"], 1, -1)
        learner = aw.Perceptron()
        wrong = int((learner.learn_many(digits.data, y) != y).sum())
        assert (run["record"]["mistakes"], run["record"]["error"]) == (wrong, wrong / len(y))
        assert [point["rounds"] for point in run["record"]["curve"]] == [*(2**k for k in range(11)), 1797]
        assert run["certificate"] == learner.certificate(digits.data, y).to_dict()


def test_every_command_takes_json():
    for command in COMMANDS:
        found = afterwit_command.get_command(None, command)
        for each in getattr(found, "commands", {command: found}).values():
            assert "as_json" in [parameter.name for parameter in each.params], (command, each.name)
