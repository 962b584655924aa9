"""afterwit experts: what it learns is what the library learns, and what it prints is true."""

import csv
import gzip

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import shown_number
from afterwit.core.registry import expert_algorithm_names

NAMES = ["low", "fair", "high"]


@pytest.fixture
def data(tmp_path):
    generator = np.random.default_rng(7)
    outcomes = 50 + 10 * generator.random(60)
    advice = outcomes[:, np.newaxis] + generator.normal([-4, 0.5, 3], [1, 2, 1], size=(60, 3))
    write(tmp_path / "f.csv", advice, outcomes)
    return advice, outcomes


def write(path, advice, outcomes, names=NAMES):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["day", *names, "load"])
        for day, (row, outcome) in enumerate(zip(advice, outcomes, strict=True)):
            rows.writerow(
                [
                    f"day {day}",
                    *("" if np.isnan(value) else repr(value) for value in row.tolist()),
                    repr(float(outcome)),
                ]
            )


def told(result, who):
    (line,) = [line for line in result.stdout.splitlines() if line.startswith(who)]
    return line


def test_the_default_run(run_process, data, tmp_path):
    advice, outcomes = data
    result = run_process("experts", "f.csv", "--target", "load", "--predictions", "out.csv", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    learner = aw.MLpol(NAMES)
    forecasts = learner.learn_many(advice, outcomes)
    assert result.stdout.startswith("mlpol on f.csv: forecasts of load by 3 experts, 60 rounds, square loss\n")
    assert "ignored columns that are not numeric: day\n" in result.stdout
    with (tmp_path / "out.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["load", "forecast"]
    assert [[float(cell) for cell in row] for row in rows] == list(map(list, zip(outcomes, forecasts, strict=True)))
    assert aw.load(tmp_path / "m") == learner
    for who, values in [
        ("* mlpol, the combined forecast", forecasts),
        ("low", advice[:, 0]),
        ("- mean of the experts", advice.mean(axis=1)),
    ]:
        difference = values - outcomes
        rmse, mae = np.sqrt(np.mean(difference**2)), np.mean(np.abs(difference))
        mape = np.mean(np.abs(difference / outcomes))
        total = shown_number(float(np.sum(difference**2)))
        assert told(result, who).split()[-4:] == [f"{rmse:,.4f}", f"{mae:,.4f}", f"{mape:.3%}", total]
    best = aw.hindsight.best_convex_combination(advice, outcomes)
    assert told(result, "- best mixture in hindsight").split()[-4] == f"{np.sqrt(best.loss / 60):,.4f}"
    assert f"\n\n{learner.certificate(advice, outcomes)}\n(--verbose shows the theorem" in result.stdout
    heaviest = NAMES[int(np.argmax(learner.weights))]
    assert told(result, "final weights: ").startswith(f"final weights: {heaviest} {learner.weights.max():.3f}")


def test_gzip_a_choice_of_experts_and_options(run_cli, data, tmp_path):
    advice, outcomes = data
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress((tmp_path / "f.csv").read_bytes()))
    arguments = ["--experts", "high,low", "--loss", "absolute", "--algorithm", "exponential-weights"]
    options = ["--option", "loss_range=(0,20)", "--option", "schedule=doubling"]
    result = run_cli("experts", "f.csv.gz", "--target", "load", *arguments, *options, "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    learner = aw.ExponentialWeights(["high", "low"], loss="absolute", loss_range=(0, 20), schedule="doubling")
    learner.learn_many(advice[:, [2, 0]], outcomes)
    assert aw.load(tmp_path / "m") == learner
    assert "doubling bound" in run_cli("experts", "f.csv.gz", "--target", "load", *arguments, *options, "-v").stdout


def test_sleeping_experts_are_counted_where_they_are_awake(run_cli, data, tmp_path):
    advice, outcomes = data
    advice = advice.copy()
    advice[10:30, 1] = np.nan
    write(tmp_path / "s.csv", advice, outcomes)
    result = run_cli("experts", "s.csv", "--target", "load")
    assert (result.returncode, result.stderr) == (0, "")
    awake = ~np.isnan(advice[:, 1])
    rmse = np.sqrt(np.mean((advice[awake, 1] - outcomes[awake]) ** 2))
    assert told(result, "fair").split()[1] == f"{rmse:,.4f}"
    assert told(result, "fair").split()[-1] == "40"
    assert "best mixture" not in result.stdout
    assert "rounds in which it was awake" in result.stdout or "of expert" in result.stdout


@pytest.mark.parametrize("name", sorted(expert_algorithm_names()))
def test_every_algorithm_runs(run_cli, tmp_path, name):
    generator = np.random.default_rng(3)
    outcomes = generator.integers(0, 2, 40).astype(float)
    advice = np.where(generator.random((40, 3)) < [0.1, 0.3, 0.5], 1 - outcomes[:, np.newaxis], outcomes[:, np.newaxis])
    write(tmp_path / "votes.csv", advice, outcomes)
    options = {
        "randomized-weighted-majority": ["beta=0.7"],
        "second-order-weights": ["horizon=40"],
        "fixed-share": ["horizon=40", "shifts=2"],
    }
    arguments = [part for option in options.get(name, []) for part in ("--option", option)]
    result = run_cli("experts", "votes.csv", "--target", "load", "--loss", "zero-one", "--algorithm", name, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"* {name}, the combined forecast" in result.stdout
    assert f"{getattr(aw, expert_algorithm_names()[name]).__name__}, 40 rounds" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--algorithm", "exponential-weights"],
            "s.csv: the loss of expert 'low' in round 1 must be within loss_range",
        ),
        (["--loss", "zero-one", "--algorithm", "weighted-majority"], "s.csv: round 11: 'fair' is missing; Weighted"),
        (["--loss", "log"], "s.csv: outcomes[0] must be 0 or 1"),
    ],
)
def test_what_is_wrong_with_a_round_names_the_file_and_the_round(run_cli, data, tmp_path, arguments, message):
    advice, outcomes = data
    advice = advice.copy()
    advice[10, 1] = np.nan
    write(tmp_path / "s.csv", advice, outcomes)
    result = run_cli("experts", "s.csv", "--target", "load", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_the_list_of_experts_can_be_cut(run_cli, data):
    result = run_cli("experts", "f.csv", "--target", "load", "--top", "1")
    assert "and 2 more experts (--top 3 lists all)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "--target", "load"], "none.csv: there is no such file"),
        (["f.csv"], "Missing option '--target' (see --help)"),
        (["f.csv", "--target", "day"], "f.csv, line 2: column day: a number or nothing was expected; found 'day 0'"),
        (["f.csv", "--target", "z"], "f.csv: there is no column 'z'; the columns are low, fair, high, load, day"),
        (["f.csv", "--target", "load", "--experts", "low,z"], "f.csv, line 1: there is no column 'z'"),
        (
            ["f.csv", "--target", "load", "--experts", "low,low"],
            "--experts must be different column names separated by commas",
        ),
        (
            ["f.csv", "--target", "load", "--experts", "low,load"],
            "--experts must be columns other than the target load",
        ),
        (["f.csv", "--target", "load", "--algorithm", "wisdom"], "unknown algorithm 'wisdom'. Known: adahedge, boa, "),
        (["f.csv", "--target", "load", "--loss", "pain"], "--loss must be 'square', 'absolute'"),
        (["f.csv", "--target", "load", "--loss", "pinball(2)"], "--loss must be pinball(q)"),
        (["f.csv", "--target", "load", "--option", "speed=1"], "--option must be gradient=VALUE or loss_range=VALUE"),
        (["f.csv", "--target", "load", "--algorithm", "weighted-majority"], "--loss must be zero-one"),
        (
            ["f.csv", "--target", "load", "--algorithm", "exponential-weights"],
            "must be within loss_range (0, 1); AdaHedge",
        ),
        (["f.csv", "--target", "load", "--predictions", "f.csv"], "--predictions must be a different file from FILE"),
        (["empty.csv", "--target", "load"], "empty.csv: no rows were found after the header"),
    ],
)
def test_mistakes_are_one_sentence(run_cli, data, tmp_path, arguments, message):
    (tmp_path / "empty.csv").write_text("low,load\n")
    before = sorted(tmp_path.iterdir())
    result = run_cli("experts", *arguments, "--model", "m")
    assert result.returncode == 2
    assert result.stderr.startswith("afterwit: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_single_expert_with_large_losses(run_cli, tmp_path):
    """The best mixture of one is that one: what rounding leaves between two sums of its losses is no regret."""
    random = np.random.default_rng(0)
    outcomes = 1e9 * random.normal(size=500)
    write(tmp_path / "one.csv", (outcomes + 1e9 * random.normal(size=500))[:, np.newaxis], outcomes, ["only"])
    result = run_cli("experts", "one.csv", "--target", "load")
    assert (result.returncode, result.stderr) == (0, "")
    assert "  happened   regret 0 (0 per round)\n" in result.stdout
    assert "  verdict    holds\n" in result.stdout


def test_a_round_without_forecasts_is_named(run_cli, tmp_path):
    (tmp_path / "gap.csv").write_text("load,a,b\n1,2,3\n2,,\n3,4,5\n")
    result = run_cli("experts", "gap.csv", "--target", "load", "--predictions", "out.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "afterwit: gap.csv: round 2: every expert's forecast is missing\n"
    assert not (tmp_path / "out.csv").exists()
