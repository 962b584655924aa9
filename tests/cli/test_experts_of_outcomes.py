"""afterwit experts --outcome: what it learns is what the library learns, and what it prints is true."""

import csv
import gzip
import json

import numpy as np
import pytest

import afterwit as aw
from afterwit.experts import regrets
from afterwit.hindsight import best_convex_combination

KINDS, BOOKS = ("home", "draw", "away"), ["x_", "y_", "z_"]


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(7)
    chances = random.dirichlet([2, 1, 2], 50)
    outcomes = [KINDS[random.choice(3, p=p)] for p in chances]
    advice = np.stack([random.dirichlet(50 * p + 0.5) for p in np.repeat(chances, 3, axis=0)]).reshape(50, 3, 3)
    advice = np.round(advice, 6)
    advice[:, :, 2] = 1 - advice[:, :, 0] - advice[:, :, 1]
    write(tmp_path / "f.csv", advice, outcomes)
    return advice, outcomes


def write(path, advice, outcomes, kinds=KINDS, books=BOOKS, open_file=None):
    with (open_file or path.open)("w") if open_file is None else open_file(path, "wt") as file:
        rows = csv.writer(file)
        rows.writerow(["match", "result", "attendance", *(book + kind for book in books for kind in kinds)])
        for t, (row, outcome) in enumerate(zip(advice, outcomes, strict=True)):
            cells = ["" if p != p else repr(p) for p in row.reshape(-1).tolist()]
            rows.writerow([f"match {t}", outcome or "", 1000 + t, *cells])


ARGUMENTS = ("--outcome", "result", "--prefix", "x_,y_,z_")


def test_the_default_run(run_process, data, tmp_path):
    advice, outcomes = data
    result = run_process("experts", "f.csv", *ARGUMENTS, "--predictions", "out.csv", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    learner = aw.AggregatingAlgorithm(BOOKS, outcomes=KINDS)
    forecasts = learner.learn_many(advice, outcomes)
    first, second, *_ = result.stdout.splitlines()
    assert first == "aggregating-algorithm on f.csv: probabilities of result by 3 experts, 50 rounds, brier loss"
    assert second == "outcomes: home, draw, away"
    with (tmp_path / "out.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["match", "result", "forecast home", "forecast draw", "forecast away"]
    assert [row[:2] for row in rows] == [[f"match {t}", outcome] for t, outcome in enumerate(outcomes)]
    assert [[float(cell) for cell in row[2:]] for row in rows] == forecasts.tolist()
    assert aw.load(tmp_path / "m") == learner
    after = learner.largest_regret_after
    to = BOOKS[learner.state()["largest_to"]]
    line = f"largest regret over time: {learner.largest_regret:.4f}, after {after} rounds (row {after}), to {to}"
    assert line.replace("1 rounds", "1 round") in result.stdout
    assert "promised   largest regret at most 1.099" in result.stdout


def test_json_has_the_numbers_of_python(run_cli, data, tmp_path):
    advice, outcomes = data
    found = json.loads(run_cli("experts", "f.csv", *ARGUMENTS, "--loss", "log", "--algorithm", "boa", "--json").stdout)
    learner = aw.BOA(BOOKS, loss="log", outcomes=KINDS)
    forecasts = learner.learn_many(advice, outcomes)
    places = np.array([KINDS.index(outcome) for outcome in outcomes])
    assert (found["kinds"], found["experts"], found["loss"]) == (list(KINDS), BOOKS, "log")
    assert found["weights"] == dict(zip(BOOKS, learner.weights.tolist(), strict=True))
    lines = {line["name"]: line["mean_loss"] for line in found["leaderboard"]}
    own = -np.log(forecasts[np.arange(50), places])
    lost = -np.log(np.take_along_axis(advice, places[:, None, None], axis=2)[:, :, 0])
    assert lines["boa"] == pytest.approx(own.mean())
    assert [lines[book] for book in BOOKS] == pytest.approx(lost.mean(axis=0).tolist())
    mean = -np.log(advice.mean(axis=1)[np.arange(50), places])
    assert lines["mean of the experts"] == pytest.approx(mean.mean())
    assert lines["best mixture in hindsight"] == pytest.approx(best_convex_combination(advice, places, "log").loss / 50)
    assert found["leaderboard"] == sorted(found["leaderboard"], key=lambda line: line["mean_loss"])
    curve = regrets.regret_curve(own, lost)
    assert found["largest_regret"]["regret"] == pytest.approx(curve.max())
    assert found["largest_regret"]["rounds"] == int(np.argmax(curve)) + 1
    assert found["rows_without_outcome"] == []
    assert found["certificate"]["verdict"] == "holds"


def test_rows_without_an_outcome_are_forecast_by_what_came_before(run_cli, data, tmp_path):
    advice, outcomes = data
    outcomes[20], outcomes[48], outcomes[49] = None, None, None
    advice[49] = np.nan
    advice[3, 1] = np.nan
    write(tmp_path / "f.csv", advice, outcomes)
    learner = aw.AggregatingAlgorithm(BOOKS, outcomes=KINDS)
    learner.learn_many(advice[:20], outcomes[:20])
    wanted = [learner.predict_one(advice[20]).tolist()]
    learner.learn_many(advice[21:48], outcomes[21:48])
    wanted += [learner.predict_one(advice[48]).tolist(), [None] * 3]
    text = run_cli("experts", "f.csv", *ARGUMENTS, "--index", "match,attendance", "--predictions", "out.csv").stdout
    shown = ", ".join(f"{kind} {p:.4f}" for kind, p in zip(KINDS, wanted[1], strict=True))
    assert "forecasts for 3 rows without result:" in text
    assert f"  match 48, 1048  {shown}\n" in text
    assert "  match 49, 1049  -\n" in text
    awake = next(line for line in text.splitlines() if line.startswith("y_"))
    assert awake.split()[-1] == "46"
    found = json.loads(run_cli("experts", "f.csv", *ARGUMENTS, "--json").stdout)
    assert found["rows_without_outcome"] == [21, 49, 50]
    assert list(found["forecasts"]) == ["match", "forecast home", "forecast draw", "forecast away"]
    columns = [found["forecasts"][f"forecast {kind}"] for kind in KINDS]
    assert [list(row) for row in zip(*columns, strict=True)] == wanted
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["match", "attendance", "result"]
    assert rows[50][2:] == ["", "", "", ""]
    assert [float(cell) for cell in rows[21][3:]] == wanted[0]


def test_a_saved_model_forecasts_a_new_table(run_cli, data, tmp_path):
    advice, _ = data
    run_cli("experts", "f.csv", *ARGUMENTS, "--model", "m", "--quiet")
    new = advice[:3].copy()
    new[1] = np.nan
    new[2, 0] = np.nan
    write(tmp_path / "new.csv", new[:, ::-1], [None] * 3, books=BOOKS[::-1])
    learner = aw.load(tmp_path / "m")
    found = json.loads(run_cli("predict", "m", "new.csv", "--json").stdout)
    wanted = [learner.predict_one(new[0]).tolist(), [None] * 3, learner.predict_one(new[2]).tolist()]
    columns = [found["forecasts"][f"forecast {kind}"] for kind in KINDS]
    assert [list(row) for row in zip(*columns, strict=True)] == wanted
    assert (found["experts"], found["kinds"], found["rounds"]) == (BOOKS, list(KINDS), 50)
    text = run_cli("predict", "m", "new.csv")
    assert text.stdout.startswith("3 forecasts by AggregatingAlgorithm, which has learned 50 rounds of 3 experts\n")
    assert "match 1  -\n" in text.stdout
    run_cli("predict", "m", "new.csv", "--predictions", "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "match,forecast home,forecast draw,forecast away"
    assert run_cli("predict", "m", "new.csv", "--predictions", "-").stdout.startswith("match,forecast home")
    refused = run_cli("predict", "m", "new.csv", "--index", "x_home").stderr
    assert "--index must be columns other than those of the experts" in refused
    write(tmp_path / "less.csv", new[:, :2], [None] * 3, books=BOOKS[:2])
    assert "less.csv: there is no column 'z_home'" in run_cli("predict", "m", "less.csv").stderr


@pytest.mark.parametrize("algorithm", ["aggregating-algorithm", "boa"])
def test_going_on_is_the_same_as_not_stopping(run_cli, data, tmp_path, algorithm):
    advice, outcomes = data
    how = () if algorithm == "aggregating-algorithm" else ("--algorithm", algorithm, "--loss", "log")
    write(tmp_path / "a.csv", advice[:30], outcomes[:30])
    # The second half has only two of the kinds, and its columns are in another order.
    later = [t for t in range(30, 50) if outcomes[t] != "draw"]
    write(tmp_path / "b.csv", advice[later][:, ::-1], [outcomes[t] for t in later], books=BOOKS[::-1])
    run_cli("experts", "a.csv", *ARGUMENTS, *how, "--model", "m")
    resumed = ("experts", "b.csv", "--outcome", "result", "--prefix", "z_,x_,y_", "--resume", "m", "--model", "m")
    result = run_cli(*resumed, "--predictions", "out.csv")
    assert (result.returncode, result.stderr) == (0, "")
    kind = aw.AggregatingAlgorithm if algorithm == "aggregating-algorithm" else aw.BOA
    learner = kind(BOOKS, loss="brier" if not how else "log", outcomes=KINDS)
    learner.learn_many(advice[:30], outcomes[:30])
    made = learner.learn_many(advice[later], [outcomes[t] for t in later])
    assert aw.load(tmp_path / "m") == learner
    with (tmp_path / "out.csv").open() as file:
        assert [[float(cell) for cell in row[2:]] for row in list(csv.reader(file))[1:]] == made.tolist()
    assert f"{len(later)} rounds after 30 earlier ones" in result.stdout
    assert str(learner.certificate()).splitlines()[1] in result.stdout
    assert "largest regret over time" not in result.stdout
    found = json.loads(run_cli(*resumed[:-2], "--json").stdout)
    assert (found["earlier_rounds"], found["largest_regret"]) == (30 + len(later), None)


def test_models_that_do_not_go_on(run_cli, data, tmp_path):
    advice, outcomes = data
    run_cli("experts", "f.csv", *ARGUMENTS, "--model", "m", "--quiet")
    resumed = ("--resume", "m")
    write(tmp_path / "g.csv", advice[:3], [*outcomes[:2], "abandoned"], kinds=KINDS)
    refused = run_cli("experts", "g.csv", *ARGUMENTS, *resumed).stderr
    assert refused == (
        "afterwit: g.csv, line 4: the outcome 'abandoned' is none of those of the model that goes on: home, draw, away\n"
    )
    assert "--prefix must be the experts" in run_cli("experts", "f.csv", *ARGUMENTS[:3], "x_,y_", *resumed).stderr
    assert "--loss must be as in" in run_cli("experts", "f.csv", *ARGUMENTS, *resumed, "--loss", "log").stderr
    assert "use --outcome and --prefix" in run_cli("experts", "f.csv", "--target", "attendance", *resumed).stderr
    run_cli("experts", "f.csv", "--target", "attendance", "--model", "numbers", "--quiet")
    assert "name their column with --target" in run_cli("experts", "f.csv", *ARGUMENTS, "--resume", "numbers").stderr
    aw.save(aw.AggregatingAlgorithm(BOOKS, outcomes=3), tmp_path / "unnamed")
    assert "of the model are numbers, 0, 1, 2" in run_cli("experts", "f.csv", *ARGUMENTS, "--resume", "unnamed").stderr


def test_the_first_column_names_the_rows_also_if_it_holds_numbers(run_cli, data, tmp_path):
    lines = (tmp_path / "f.csv").read_text().splitlines()
    (tmp_path / "n.csv").write_text("\n".join(line.removeprefix("match ") for line in lines))
    run_cli("experts", "n.csv", *ARGUMENTS, "--predictions", "out.csv", "--model", "m")
    header, first, *_ = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "match,result,forecast home,forecast draw,forecast away"
    assert first.startswith(f"0,{data[1][0]},")
    run_cli("predict", "m", "n.csv", "--predictions", "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith("0,")


def test_an_expert_may_sleep_in_all_rows_that_are_looked_at(run_cli, data, tmp_path):
    advice, outcomes = data
    asleep = np.concatenate([advice] * 21)
    asleep[:1010, 1] = np.nan
    write(tmp_path / "f.csv", asleep, outcomes * 21)
    result = run_cli("experts", "f.csv", *ARGUMENTS, "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "m").awake_rounds.tolist() == [1050, 40, 1050]


def test_packed_files_and_standard_input(run_cli, data, tmp_path):
    advice, outcomes = data
    write(tmp_path / "f.csv.gz", advice, outcomes, open_file=gzip.open)
    wanted = run_cli("experts", "f.csv", *ARGUMENTS).stdout.partition("\n")[2]
    assert run_cli("experts", "f.csv.gz", *ARGUMENTS).stdout.partition("\n")[2] == wanted
    text = (tmp_path / "f.csv").read_text()
    assert run_cli("experts", "-", *ARGUMENTS, stdin=text).stdout.partition("\n")[2] == wanted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--target or --outcome must be given, and not both; received neither"),
        (("--target", "attendance", *ARGUMENTS), "--target or --outcome must be given, and not both; received both"),
        (("--outcome", "result"), "--prefix must be given with --outcome, and only then"),
        (("--target", "attendance", "--prefix", "x_"), "--prefix must be given with --outcome, and only then"),
        ((*ARGUMENTS, "--experts", "x_home"), "--experts must be left out with --outcome"),
        ((*ARGUMENTS, "--exclude", "x_home"), "--exclude must be left out with --outcome"),
        ((*ARGUMENTS, "--loss", "square"), "--loss must be brier or log for probabilities of outcomes"),
        ((*ARGUMENTS, "--algorithm", "weighted-majority"), "--algorithm must be one that takes probabilities"),
        ((*ARGUMENTS, "--index", "result"), "--index must be columns other than the target result"),
        (("--outcome", "nothing", "--prefix", "x_"), "there is no column 'nothing'"),
        (("--outcome", "result", "--prefix", "x_,w_"), "the column w_"),
        (
            ("--outcome", "match", "--prefix", "x_"),
            "the column x_match 0, for the outcome 'match 0' of expert x_, is not",
        ),
        (("--target", "attendance", "--loss", "brier"), "--loss must be a loss of numbers; brier is for --outcome"),
        (
            ("--target", "attendance", "--algorithm", "aggregating-algorithm", "--loss", "log"),
            "--loss must be square for AggregatingAlgorithm without --outcome",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(run_cli, data, arguments, message):
    result = run_cli("experts", "f.csv", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("afterwit: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_bad_probabilities_are_named_with_their_line(run_cli, data, tmp_path):
    advice, outcomes = data
    good = advice.copy()
    for value, message in (
        ([0.5, 0.4, 0.2], "line 12: the probabilities of y_ must be probabilities that sum to 1, not to 1.1"),
        ([2.0, 4.0, 3.0], "line 12: the probabilities of y_ must be probabilities that sum to 1; to make them of odds"),
        ([0.5, np.nan, 0.5], "line 12: the probabilities of y_ must be a probability for each kind"),
    ):
        advice[10, 1] = value
        write(tmp_path / "f.csv", advice, outcomes)
        result = run_cli("experts", "f.csv", *ARGUMENTS, "--model", "m", "--predictions", "out.csv")
        assert result.returncode == 2
        assert message in result.stderr
        assert not (tmp_path / "m").exists()
        assert not (tmp_path / "out.csv").exists()
    good[10] = np.nan
    write(tmp_path / "f.csv", good, outcomes)
    assert "line 12: every expert's forecast is missing" in run_cli("experts", "f.csv", *ARGUMENTS).stderr
    write(tmp_path / "f.csv", good, ["home"] * 50)
    assert (
        "two or more kinds of outcomes were expected in result; found only 'home'"
        in run_cli("experts", "f.csv", *ARGUMENTS).stderr
    )
    text = (tmp_path / "f.csv").read_text().replace("match 4,home,1004,", "match 4,home,1004,x")
    (tmp_path / "f.csv").write_text(text.replace("match 7,home", "match 7,away"))
    stderr = run_cli("experts", "f.csv", *ARGUMENTS).stderr
    assert "the column x_home, for the outcome 'home' of expert x_, holds something else than numbers" in stderr


def test_the_square_loss_on_an_interval(run_cli, data, tmp_path):
    with (tmp_path / "g.csv").open("w") as file:
        file.write("day,load,a,b\n1,5,4,6\n2,7,6,8\n3,6,5,6\n4,,5,7\n")
    arguments = ("experts", "g.csv", "--target", "load", "--algorithm", "aggregating-algorithm")
    result = run_cli(*arguments, "--option", "outcomes=(0,10)")
    assert "promised   largest regret at most 34.66" in result.stdout
    assert "a number from 0 to 1; outcomes=(low, high) declares another interval" in run_cli(*arguments).stderr
