"""afterwit experts: what it learns is what the library learns, and what it prints is true."""

import csv
import gzip
import json
import re
import sys

import numpy as np
import pytest
from rich.cells import cell_len

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
    assert header == ["day", "load", "forecast"]
    assert [row[0] for row in rows] == [f"day {day}" for day in range(60)]
    assert [[float(cell) for cell in row[1:]] for row in rows] == list(map(list, zip(outcomes, forecasts, strict=True)))
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


@pytest.mark.parametrize(
    ("algorithm", "mixtures"), [("mlpol", 1), ("exponential-weights", 1), ("weighted-majority", 0)]
)
def test_the_best_mixture_is_found_once(run_cli, data, monkeypatch, algorithm, mixtures):
    module = sys.modules["afterwit.hindsight.best_convex_combination"]
    found = []
    monkeypatch.setattr(module, "_square", lambda read, find=module._square: found.append(read) or find(read))
    range_given = ["--option", "loss_range=(0,10000)"] if algorithm == "exponential-weights" else []
    voting = ["--loss", "zero-one"] if algorithm == "weighted-majority" else []
    result = run_cli("experts", "f.csv", "--target", "load", "--algorithm", algorithm, *range_given, *voting)
    assert (result.returncode, len(found)) == (0, mixtures), result.stderr
    assert ("best mixture in hindsight" in result.stdout) == bool(mixtures)


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


def test_exponential_weights_need_no_range(run_cli, data, tmp_path):
    advice, outcomes = data
    result = run_cli("experts", "f.csv", "--target", "load", "--algorithm", "exponential-weights", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    learner = aw.ExponentialWeights(NAMES)
    learner.learn_many(advice, outcomes)
    assert aw.load(tmp_path / "m") == learner
    assert str(learner.certificate(advice, outcomes)) in result.stdout


def test_an_expert_that_was_certain_and_wrong_has_an_infinite_loss(run_cli, tmp_path):
    generator = np.random.default_rng(4)
    outcomes = generator.integers(0, 2, 30).astype(float)
    sure = np.where(np.arange(30) < 25, outcomes, 1 - outcomes)
    advice = np.column_stack([np.where(outcomes == 1, 0.8, 0.3), sure, np.full(30, 0.5)])
    write(tmp_path / "p.csv", advice, outcomes)
    arguments = ["experts", "p.csv", "--target", "load", "--loss", "log", "--algorithm", "exponential-weights"]
    result = run_cli(*arguments, "--verbose", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    assert told(result, "fair").split()[-2:] == ["infinity", "infinity"]
    assert "- best mixture in hindsight" in result.stdout
    assert "the loss of 'fair' is infinite" in result.stdout
    assert np.isinf(aw.load(tmp_path / "m").expert_losses).tolist() == [False, True, False]
    answer = json.loads(run_cli(*arguments, "--json").stdout)
    (line,) = [line for line in answer["leaderboard"] if line["name"] == "fair"]
    assert (line["mean_loss"], line["loss"]) == (None, None)
    assert answer["leaderboard"][-1] == line
    assert answer["certificate"]["verdict"] == "holds"
    others = run_cli("experts", "p.csv", "--target", "load", "--loss", "log")
    assert others.returncode != 0
    assert "p.csv, line 2" in others.stderr
    assert "ExponentialWeights takes 0 and 1" in others.stderr


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
    loss = "square" if name == "aggregating-algorithm" else "zero-one"
    result = run_cli("experts", "votes.csv", "--target", "load", "--loss", loss, "--algorithm", name, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"* {name}, the combined forecast" in result.stdout
    assert f"{getattr(aw, expert_algorithm_names()[name]).__name__}, 40 rounds" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--algorithm", "fixed-share", "--option", "share=0.1", "--option", "rate=1"],
            "s.csv, line 2: the loss of expert 'low' must be within loss_range",
        ),
        (
            ["--loss", "zero-one", "--algorithm", "weighted-majority"],
            "s.csv, line 12: column fair is missing; WeightedMajority does not",
        ),
        (["--loss", "log"], "s.csv, line 2: the target load must be 0 or 1"),
    ],
)
def test_what_is_wrong_with_a_round_names_the_file_and_the_line(run_cli, data, tmp_path, arguments, message):
    advice, outcomes = data
    advice = advice.copy()
    advice[10, 1] = np.nan
    write(tmp_path / "s.csv", advice, outcomes)
    result = run_cli("experts", "s.csv", "--target", "load", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_the_list_of_experts_can_be_cut(run_cli, data):
    advice, outcomes = data
    best, *others = np.argsort(np.abs(advice - outcomes[:, np.newaxis]).mean(axis=0))
    result = run_cli("experts", "f.csv", "--target", "load", "--loss", "absolute", "--top", "1")
    listed = {line.split()[0] for line in result.stdout.split("\n\n")[1].splitlines()}
    assert NAMES[best] in listed
    assert listed.isdisjoint(NAMES[each] for each in others)
    assert "and 2 more experts (--top 3 lists all)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "--target", "load"], "none.csv: there is no such file"),
        (["f.csv"], "--target or --outcome must be given, and not both; received neither"),
        (["f.csv", "--target", "day"], "f.csv, line 2: column day: a finite number was expected, or nothing, NA"),
        (["f.csv", "--target", "z"], "f.csv: there is no column 'z'; the columns are day, low, fair, high, load"),
        (["f.csv", "--target", "load", "--experts", "low,z"], "f.csv: there is no column 'z'"),
        (
            ["f.csv", "--target", "load", "--experts", "low,low"],
            "--experts must be different column names separated by commas",
        ),
        (
            ["f.csv", "--target", "load", "--experts", "low,load"],
            "--experts must be columns other than the target load",
        ),
        (
            ["f.csv", "--target", "load", "--experts", "low", "--exclude", "high"],
            "--exclude must be left out if --experts chooses the columns; received 'high'",
        ),
        (
            ["f.csv", "--target", "load", "--exclude", "lo"],
            "f.csv: there is no column 'lo'; the columns are day, low",
        ),
        (["f.csv", "--target", "load", "--exclude", "low,fair,high"], "f.csv: no numeric column was found besides"),
        (["f.csv", "--target", "load", "--experts", "low", "--index", "low"], "--index must be columns other than the"),
        (["hope.csv", "--target", "load"], "hope.csv: the target load is missing in every row; afterwit predict"),
        (
            ["f.csv", "--target", "load", "--algorithm", "wisdom"],
            "unknown algorithm 'wisdom'. Known: adahedge, aggregating-algorithm, boa, ",
        ),
        (["f.csv", "--target", "load", "--loss", "pain"], "--loss must be 'square', 'absolute'"),
        (["f.csv", "--target", "load", "--loss", "pinball(2)"], "--loss must be pinball(q)"),
        (
            ["f.csv", "--target", "load", "--option", "speed=1"],
            "Unknown option 'speed' of mlpol. Did you mean 'seed'? Known: gradient",
        ),
        (["f.csv", "--target", "load", "--algorithm", "weighted-majority"], "--loss must be zero-one"),
        (
            ["f.csv", "--target", "load", "--algorithm", "sleeping-experts"],
            "must be within loss_range (0, 1); AdaHedge",
        ),
        (["f.csv", "--target", "load", "--predictions", "f.csv"], "--predictions must be a different file from FILE"),
        (["empty.csv", "--target", "load"], "empty.csv: no rows were found after the header"),
    ],
)
def test_mistakes_are_one_sentence(run_cli, data, tmp_path, arguments, message):
    (tmp_path / "empty.csv").write_text("low,load\n")
    (tmp_path / "hope.csv").write_text("low,load\n1,\n2,NA\n")
    before = sorted(tmp_path.iterdir())
    result = run_cli("experts", *arguments, "--model", "m")
    assert result.returncode == 2
    assert result.stderr.startswith("afterwit: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert run_cli("experts", *arguments, "--model", "m", "--json") == result
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
    remedy = "remove the row, or leave its target empty"
    assert result.stderr == f"afterwit: gap.csv, line 3: every expert's forecast is missing (a, b); {remedy}\n"
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("win,a,b\n1,0.5,0.5\n\n0,0.5,1.0\n", "f.csv, line 4: column b must be strictly between 0 and 1, because"),
        ("win,a,b\n1,0.5,1.0\n", "f.csv, line 2: column b must be strictly between 0 and 1, because the loss is log"),
        ("win,a,b\n2,0.5,0.5\n", "f.csv, line 2: the target win must be 0 or 1, because the loss is log"),
        ("win,a,b\n,0.5,0\n1,0.5,0.5\n", "f.csv, line 2: column b must be strictly between 0 and 1, because"),
    ],
)
def test_what_a_loss_does_not_allow_is_named_by_line_and_column(run_cli, tmp_path, content, message):
    (tmp_path / "f.csv").write_text(content)
    result = run_cli("experts", "f.csv", "--target", "win", "--loss", "log")
    assert result.returncode == 2
    assert message in result.stderr


def test_a_cell_that_spoils_a_column_of_numbers_is_named(run_cli, tmp_path):
    (tmp_path / "f.csv").write_text("y,a,b,c,\n1,2,1,x,\n2,1,oops,y,\n3,2,n/a,z,\n4,3,5,5,\n")
    result = run_cli("experts", "f.csv", "--target", "y")
    assert result.returncode == 0
    assert result.stderr == (
        "afterwit: warning: left out b: line 3 has 'oops' where a number was expected "
        "(correct it, or leave the cell empty)\n"
    )
    assert "ignored columns that are not numeric: c\n" in result.stdout


def test_numbers_in_a_small_unit_are_shown_to_their_first_digits(run_cli, tmp_path):
    rows = [[1e-12 * each for each in (t % 7 + 1, t % 7 + 1.5, t % 5 + 1)] for t in range(40)]
    lines = [f"{day},{y!r},{a!r},{b!r}" for day, (y, a, b) in enumerate(rows)]
    lines[-1] = f"40,,{rows[-1][1]!r},{rows[-1][2]!r}"
    (tmp_path / "f.csv").write_text("\n".join(["day,y,a,b", *lines]))
    shown = run_cli("experts", "f.csv", "--target", "y", "--experts", "a,b", "--interval", "80%").stdout
    found = json.loads(run_cli("experts", "f.csv", "--target", "y", "--experts", "a,b", "--json").stdout)
    assert f"{found['forecasts']['forecast'][0]:.4g}  from " in shown
    for name in ("a", "b"):
        wanted = next(line for line in found["leaderboard"] if line["name"] == name)
        row = next(each for each in shown.splitlines() if each.startswith(f"{name} "))
        assert row.split()[1:3] == [f"{wanted['rmse']:.4g}", f"{wanted['mae']:.4g}"]


def test_an_expert_that_begins_late_is_named_or_left_out_with_a_warning(run_cli, tmp_path):
    rows = [f"{t},{t % 7},{t % 7 + 1},{t % 5 if t >= 1000 else ''}" for t in range(1100)]
    (tmp_path / "f.csv").write_text("\n".join(["day,y,a,late", *rows]))
    result = run_cli("experts", "f.csv", "--target", "y", "--exclude", "day", "--json")
    assert result.stderr == (
        "afterwit: warning: left out late: empty in the first 1,000 rows (--experts A,B,... chooses the columns)\n"
    )
    assert json.loads(result.stdout)["ignored"] == ["late"]
    result = run_cli("experts", "f.csv", "--target", "y", "--experts", "a,late", "--json")
    found = json.loads(result.stdout)
    assert (result.stderr, found["ignored"], found["experts"]) == ("", [], ["a", "late"])


def test_a_column_named_forecast_is_kept_beside_the_forecast(run_cli, tmp_path):
    (tmp_path / "f.csv").write_text("forecast,y,a,b\nmon,1,2,3\ntue,2,2,4\n")
    (tmp_path / "g.csv").write_text("day,forecast,a,b\nmon,1,2,3\ntue,2,2,4\n")
    for name, target, header in (("f", "y", "forecast,y"), ("g", "forecast", "day,forecast")):
        arguments = ("--experts", "a,b", "--target", target, "--predictions", "out.csv")
        assert run_cli("experts", f"{name}.csv", *arguments).returncode == 0
        written = (tmp_path / "out.csv").read_text().splitlines()
        assert written[0] == f"{header},combined forecast"
        assert [line.split(",")[:2] for line in written[1:]] == [["mon", "1.0"], ["tue", "2.0"]]


@pytest.fixture
def weather(tmp_path):
    """Three forecasts of a temperature in kelvin, beside a date, a place and a height that forecast nothing."""
    generator = np.random.default_rng(5)
    outcomes = 280 + generator.normal(0, 5, 200)
    advice = outcomes[:, np.newaxis] + generator.normal([0, 1, -1], 2, size=(200, 3))
    others = np.column_stack([2004010100 + np.arange(200), np.full(200, 48.55), generator.uniform(0, 1500, 200)])
    lines = ["number,one,two,three,observation,date,latitude,elevation,station"]
    rows = np.column_stack([advice, outcomes, others]).tolist()
    lines += [f"{i},{','.join(map(repr, row))},K{i % 3}" for i, row in enumerate(rows, 1)]
    (tmp_path / "w.csv").write_text("\n".join(lines) + "\n")
    return advice, outcomes


def test_columns_that_are_no_forecasts_are_left_out_and_named(run_process, weather, tmp_path):
    """A date taken for an expert of a temperature gave an error of 870,244 where 3.18 was right."""
    advice, outcomes = weather
    result = run_process("experts", "w.csv", "--target", "observation", "--model", "m", "--predictions", "out.csv")
    assert result.returncode == 0
    assert result.stderr.splitlines() == [
        "afterwit: warning: left out date, latitude, elevation: too far from observation to be forecasts of it "
        "(--experts A,B,... chooses the columns)",
        "afterwit: warning: left out number: it counts the rows (--experts A,B,... chooses the columns)",
    ]
    learner = aw.MLpol(["one", "two", "three"])
    learner.learn_many(advice, outcomes)
    assert aw.load(tmp_path / "m") == learner
    assert (tmp_path / "out.csv").read_text().startswith("number,station,observation,forecast\n1,K1,")
    chosen = run_process("experts", "w.csv", "--target", "observation", "--experts", "one,latitude", "--model", "n")
    assert (chosen.returncode, chosen.stderr) == (0, "")
    assert aw.load(tmp_path / "n").experts == ("one", "latitude")


def test_excluded_columns_and_the_index_are_not_experts(run_cli, weather, tmp_path):
    without = ["--exclude", "date,latitude,elevation,two", "--index", "number,station"]
    arguments = ["--target", "observation", *without, "--model", "m", "--predictions", "out.csv"]
    result = run_cli("experts", "w.csv", *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "m").experts == ("one", "three")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "number,station,observation,forecast"
    assert (tmp_path / "out.csv").read_text().splitlines()[2].startswith("2,K2,")


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("outcomes", "far", "near"),
    [
        ([10, 12, 14, 11, 13], [1000, 1000, 1000, 1000, 1000], [9, 15, 20, 4, 12]),
        ([0, 0, 0, 0, 1], [20, 20, 20, 20, 20], [0.5, 0.5, 0.5, 0.5, 0.5]),
        # A steady target: the experts' own errors tell how far is far.
        ([100, 100.001, 100, 100.001, 100], [400, 400, 400, 400, 400], [101, 102, 99, 98, 103]),
    ],
)
def test_what_is_far_depends_on_the_spread_of_the_target(run_cli, tmp_path, outcomes, far, near, scale):
    rows = [
        f"{a * scale!r},{b * scale!r},{c * scale!r}\n"
        for a, b, c in zip(map(float, far), map(float, near), map(float, outcomes), strict=True)
    ]
    (tmp_path / "t.csv").write_text("far,near,y\n" + "".join(rows))
    result = run_cli("experts", "t.csv", "--target", "y", "--model", "m")
    assert result.returncode == 0
    assert "left out far: too far from y" in result.stderr
    assert aw.load(tmp_path / "m").experts == ("near",)


def test_a_constant_target_leaves_nothing_out(run_cli, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n5,1000,5\n5,1000,5\n")
    result = run_cli("experts", "t.csv", "--target", "y")
    assert (result.returncode, result.stderr) == (0, "")
    assert "by 2 experts" in result.stdout


def test_rows_without_the_target_are_forecast_by_what_was_learned_before(run_process, data, tmp_path):
    """Tomorrow's row has no outcome yet: it needs a forecast, not an error."""
    advice, outcomes = data
    some = outcomes.copy()
    some[[20, 40, 41, 59]] = np.nan
    advice = advice.copy()
    advice[41] = np.nan
    write(tmp_path / "t.csv", advice, some)
    result = run_process("experts", "t.csv", "--target", "load", "--predictions", "out.csv", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    learner, expected = aw.MLpol(NAMES), []
    for row, outcome in zip(advice, some, strict=True):
        if not np.isnan(outcome):
            expected.append(learner.learn_one(row, outcome))
        else:
            expected.append(None if np.isnan(row).all() else learner.predict_one(row))
    assert aw.load(tmp_path / "m") == learner
    with (tmp_path / "out.csv").open() as file:
        _, *rows = csv.reader(file)
    assert [float(row[2]) if row[2] else None for row in rows] == expected
    assert [row[:2] for row in rows[58:]] == [["day 58", repr(float(some[58]))], ["day 59", ""]]
    assert "by 3 experts, 56 rounds, square loss" in result.stdout
    assert f"forecasts for 4 rows without load:\n  day 20  {expected[20]:,.4f}\n" in result.stdout
    assert f"  day 41        -\n  day 59  {expected[59]:,.4f}\n\nMLpol, 56 rounds" in result.stdout


def test_a_saved_model_forecasts_a_new_table(run_process, data, tmp_path):
    advice, _ = data
    assert run_process("experts", "f.csv", "--target", "load", "--model", "m").returncode == 0
    new = advice[:3] + 1
    new[1] = np.nan
    lines = [",".join(["" if np.isnan(value) else repr(value) for value in row]) for row in new[:, ::-1].tolist()]
    (tmp_path / "new.csv").write_text("when,high,fair,low\n" + "".join(f"t{i},{x}\n" for i, x in enumerate(lines)))
    learner = aw.load(tmp_path / "m")
    expected = learner.predict_many(new[[0, 2]]).tolist()
    shown = run_process("predict", "m", "new.csv")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        "3 forecasts by MLpol, which has learned 60 rounds of 3 experts",
        f"  t0  {expected[0]:,.4f}",
        "  t1        -",
        f"  t2  {expected[1]:,.4f}",
    ]
    written = run_process("predict", "m", "new.csv", "--predictions", "out.csv")
    assert written.stdout.count("\n") == 1
    assert (tmp_path / "out.csv").read_text() == f"when,forecast\nt0,{expected[0]!r}\nt1,\nt2,{expected[1]!r}\n"
    assert aw.load(tmp_path / "m") == learner
    missing = run_process("predict", "m", "f.csv", "--index", "high")
    assert missing.stderr == "afterwit: --index must be columns other than the experts; received high\n"
    (tmp_path / "short.csv").write_text("when,low\n1,2\n")
    missing = run_process("predict", "m", "short.csv")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "afterwit: short.csv: there is no column 'fair'; the columns are when, low\n"


def test_a_model_whose_experts_have_no_names(run_cli, tmp_path):
    learner = aw.MLpol(2)
    learner.learn_many([[1.0, 2.0], [2.0, 3.0]], [1.0, 2.5])
    aw.save(learner, tmp_path / "m")
    (tmp_path / "new.csv").write_text("when,a,b\nnow,1,2\n")
    assert f"  now  {learner.predict_one([1.0, 2.0]):,.4f}\n" in run_cli("predict", "m", "new.csv").stdout
    (tmp_path / "new.csv").write_text("when,a\nnow,1\n")
    refused = run_cli("predict", "m", "new.csv").stderr
    assert "new.csv: a table with 2 numeric columns, one for each expert of m, was expected; found 1: a\n" in refused
    aw.save(aw.OnlineShortestPath([("a", "b")], "a", "b"), tmp_path / "p")
    assert "this OnlineShortestPath chooses paths" in run_cli("predict", "p", "new.csv").stderr


def test_the_columns_of_the_leaderboard_never_touch(run_cli, tmp_path):
    """Long names and long numbers, also in scripts whose letters take two places."""
    generator = np.random.default_rng(1)
    outcomes = 1e12 * generator.random(5)
    names = ["東京の天気予報" * 6, "y" * 100]
    write(tmp_path / "long.csv", outcomes[:, np.newaxis] * [1.5, 0.5], outcomes, names)
    result = run_cli("experts", "long.csv", "--target", "load", "--loss", "pinball(0.123456789)")
    assert (result.returncode, result.stderr) == (0, "")
    head, *lines = result.stdout.split("\n\n")[1].splitlines()
    assert re.split(r"\s{2,}", head) == ["", "mean pinball(0.123456789)", "RMSE", "MAE", "MAPE", "total loss"]
    assert [len(re.split(r"\s{2,}", line)) for line in lines] == [6] * 5
    assert len({cell_len(line) for line in [head, *lines]}) == 1


def test_intervals_around_the_forecasts(run_cli, data, tmp_path):
    advice, outcomes = data
    ahead = np.array([[49.0, 50.0, 52.0], [48.0, np.nan, 51.0]])
    write(tmp_path / "g.csv", np.vstack([advice, ahead]), [*outcomes, np.nan, np.nan])
    text = (tmp_path / "g.csv").read_text().replace("nan", "")
    (tmp_path / "g.csv").write_text(text)
    command = ("experts", "g.csv", "--target", "load", "--interval", "75%", "--predictions", "o.csv", "--model", "m")
    result = run_cli(*command, "--json")
    assert result.returncode == 0, result.stderr
    learner = aw.ConformalIntervals(aw.MLpol(NAMES), 0.75)
    forecasts, intervals = learner.learn_intervals(advice, outcomes)
    assert aw.load(tmp_path / "m") == learner
    found = json.loads(result.stdout)
    assert found["intervals"]["covered"] == learner.covered
    assert found["intervals"]["mean_width"] == learner.mean_width
    assert found["intervals"]["certificate"] == learner.certificate(advice, outcomes).to_dict()
    assert found["certificate"] == learner.point_forecaster.certificate(advice, outcomes).to_dict()
    coming, between = learner.predict_many(ahead), learner.interval_many(ahead)
    assert found["forecasts"]["forecast low"] == between[:, 0].tolist()
    with (tmp_path / "o.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["day", "load", "forecast", "forecast low", "forecast high"]
    made = np.column_stack([np.append(forecasts, coming), np.vstack([intervals, between])])
    assert [[float(cell) for cell in row[2:]] for row in rows] == made.tolist()
    shown = run_cli(*command)
    assert f"intervals of 75%: they covered {learner.covered} of 60 outcomes" in shown.stdout
    assert f"  from {between[0, 0]:,.4f} to {between[0, 1]:,.4f}" in shown.stdout
    # Going on, by the intervals of the model.
    write(tmp_path / "h.csv", advice[:20] + 1, outcomes[:20] + 1)
    again = run_cli("experts", "h.csv", "--target", "load", "--resume", "m", "--model", "n")
    assert again.returncode == 0, again.stderr
    learner.learn_many(advice[:20] + 1, outcomes[:20] + 1)
    assert aw.load(tmp_path / "n") == learner
    for option, message in (
        (("--interval", "90"), "--interval must be a share between 0 and 1, such as 90% or 0.9; received '90'"),
        (("--interval", "x%"), "--interval must be a share between 0 and 1"),
        (("--interval", "9/0"), "--interval must be a share between 0 and 1"),
        (
            ("--interval", "0.9", "--resume", "m"),
            "--interval must be left out, because the model has intervals of 0.75",
        ),
    ):
        wrong = run_cli("experts", "h.csv", "--target", "load", *option)
        assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
        assert message in wrong.stderr
