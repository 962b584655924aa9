"""afterwit experts with groups, several targets, models that go on, and tables of any format."""

import csv
import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import afterwit as aw
from afterwit.core.certificate import shown_number

MODELS = ("arima", "gam", "lgbm")
TARGETS = ("load_1h", "load_24h")


def table(rounds=80, regions=("north", "south", "east"), to_come=3):
    """Forecasts of two horizons for each region. The last rows have no outcomes yet."""
    generator = np.random.default_rng(4)
    columns = {"time": [f"2024-01-{1 + i // 24:02d} {i % 24:02d}:00" for i in range(rounds)], "zone": [7] * rounds}
    columns["region"] = generator.choice(regions, rounds)
    for target in TARGETS:
        y = 50 + 5 * generator.normal(size=rounds)
        for i, model in enumerate(MODELS):
            columns[f"{model}_{target}"] = y + generator.normal(i - 1, 1 + i, rounds)
        columns[target] = y
    frame = pd.DataFrame(columns)
    frame["note"] = "x"
    frame.loc[rounds - to_come :, list(TARGETS)] = np.nan
    frame.loc[10:11, "load_24h"] = np.nan
    frame.loc[5:30, "gam_load_1h"] = np.nan
    return frame


def experts(target):
    return [f"{model}_{target}" for model in MODELS]


def slowly(frame, target, names, grouped=True, learners=None):
    """A dict of learners, row after row: the forecasts of all rows."""
    learners = {} if learners is None else learners
    forecasts = []
    for row in frame.to_dict("records"):
        learner = learners.setdefault(row["region"] if grouped else "", aw.MLpol(names))
        advice = [row[name] for name in names]
        if np.isnan(row[target]):
            forecasts.append(learner.predict_one(advice))
        else:
            forecasts.append(learner.learn_one(advice, row[target]))
    return forecasts, learners


@pytest.fixture
def data(tmp_path):
    frame = table()
    frame.to_csv(tmp_path / "h.csv", index=False)
    frame[:45].to_csv(tmp_path / "h1.csv", index=False)
    frame[45:].to_csv(tmp_path / "h2.csv", index=False)
    return frame


def written(path):
    with path.open() as file:
        header, *rows = csv.reader(file)
    return header, {name: [row[i] for row in rows] for i, name in enumerate(header)}


def test_a_learner_for_each_group(run_process, data, tmp_path):
    names = experts("load_1h")
    arguments = ("--target", "load_1h", "--group", "region", "--experts", ",".join(names))
    result = run_process("experts", "h.csv", *arguments, "--predictions", "out.csv", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    forecasts, learners = slowly(data, "load_1h", names)
    header, columns = written(tmp_path / "out.csv")
    assert header == ["time", "region", "note", "load_1h", "forecast"]
    assert [float(cell) for cell in columns["forecast"]] == forecasts
    assert columns["region"] == data["region"].tolist()
    assert columns["load_1h"][-3:] == ["", "", ""]
    learner = aw.load(tmp_path / "m")
    assert {group: learner[group] for group in learner} == learners
    assert result.stdout.startswith("mlpol on h.csv: forecasts of load_1h by 3 experts, 77 rounds, square loss\n")
    known = data[:77]
    for group in ("north", "south", "east"):
        (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"{group} ")]
        mine = known["region"] == group
        outcomes = known["load_1h"][mine]
        made = np.array(forecasts)[:77][mine]
        errors = [np.sqrt(np.mean((known[name] - known["load_1h"])[mine] ** 2)) for name in names]
        mean = np.sqrt(np.mean((known.loc[mine, names].mean(axis=1) - outcomes) ** 2))
        rmses = [np.sqrt(np.mean((made - outcomes) ** 2)), min(errors), mean]
        certificate = learners[group].certificate(known.loc[mine, names].to_numpy(), outcomes.to_numpy())
        cells = [f"{mine.sum():,}", *(f"{rmse:,.4f}" for rmse in rmses), shown_number(certificate.observed), "holds"]
        assert line.split()[1:] == cells
    certificates = learner.certificate(known["region"].tolist(), known[names].to_numpy(), known["load_1h"].to_numpy())
    assert f"\n\n{certificates}\n(--verbose shows the certificate of every region)\n" in result.stdout
    assert f"  2024-01-04 07:00, {data['region'].iloc[-1]}, x  {forecasts[-1]:,.4f}\n" in result.stdout
    assert "final weights" not in result.stdout
    detailed = run_process("experts", "h.csv", *arguments, "--verbose").stdout
    assert certificates.details() in detailed
    assert detailed.count("\nfinal weights: ") == 3
    listed = run_process("experts", "h.csv", *arguments, "--top", "1").stdout
    assert listed.count("and 2 more experts (--top 3 lists all)") == 3
    assert "\ngroup north, " in listed


def test_all_in_one_json_object(run_cli, data):
    arguments = ("--target", "load_1h,load_24h", "--group", "region", "--json")
    found = json.loads(run_cli("experts", "h.csv", *arguments).stdout)
    assert (found["algorithm"], found["loss"], found["source"]) == ("mlpol", "square", "h.csv")
    for target, each in zip(TARGETS, found["targets"], strict=True):
        forecasts, learners = slowly(data, target, experts(target))
        assert (each["target"], each["group"], each["experts"]) == (target, "region", experts(target))
        assert [group["group"] for group in each["groups"]] == list(learners)
        for group in each["groups"]:
            learner = learners[group["group"]]
            assert group["rounds"] == learner.rounds
            assert group["weights"] == dict(zip(experts(target), learner.weights.tolist(), strict=True))
            assert {line["kind"] for line in group["leaderboard"]} == {"expert", "combined", "mean"}
        missing = np.flatnonzero(data[target].isna())
        assert each["rows_without_target"] == (missing + 1).tolist()
        assert each["forecasts"]["forecast"] == [forecasts[row] for row in missing]
        assert each["forecasts"]["region"] == data["region"][missing].tolist()
        assert each["rounds"] == each["certificate"]["total"]["rounds"] == 80 - len(missing)
    single = json.loads(run_cli("experts", "h.csv", "--target", "load_1h,load_24h", "--json").stdout)
    assert [list(each["weights"]) for each in single["targets"]] == [experts(target) for target in TARGETS]


@pytest.mark.parametrize("grouped", [True, False])
def test_each_target_has_its_own_learner(run_process, data, tmp_path, grouped):
    arguments = ["--target", "load_1h,load_24h", *(("--group", "region") if grouped else ())]
    result = run_process("experts", "h.csv", *arguments, "--predictions", "out.csv", "--model", "{target}.model")
    assert (result.returncode, result.stderr) == (0, "")
    header, columns = written(tmp_path / "out.csv")
    assert header == ["time", "region", "note", *TARGETS, "forecast load_1h", "forecast load_24h"]
    for target in TARGETS:
        forecasts, learners = slowly(data, target, experts(target), grouped)
        assert [float(cell) for cell in columns[f"forecast {target}"]] == forecasts
        learner = aw.load(tmp_path / f"{target}.model")
        assert ({group: learner[group] for group in learner} if grouped else {"": learner}) == learners
        assert f"\nmlpol on h.csv: forecasts of {target} by 3 experts" in "\n" + result.stdout
        rows = 3 if target == "load_1h" else 5
        assert f"forecasts for {rows} rows without {target}:" in result.stdout


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("arima_{target},lgbm_{target}", ["arima_load_1h", "lgbm_load_1h"]),
        ("lgbm_{target},*_{target}", ["lgbm_load_1h", "arima_load_1h", "gam_load_1h"]),
        ("gam_{target},arima_load_1h", ["gam_load_1h", "arima_load_1h"]),
    ],
)
def test_experts_by_pattern(run_cli, data, tmp_path, wanted, found):
    result = run_cli("experts", "h.csv", "--target", "load_1h,load_24h", "--experts", wanted, "--model", "{target}.m")
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "load_1h.m").experts == tuple(found)
    one = run_cli("experts", "h.csv", "--target", "load_1h", "--experts", wanted, "--model", "m")
    assert (one.returncode, one.stderr) == (0, "")
    assert aw.load(tmp_path / "m").experts == tuple(found)


def test_a_pattern_and_what_it_leaves_out(run_cli, data, tmp_path):
    arguments = ("--experts", "*_load_1h", "--exclude", "gam_load_1h", "--model", "m")
    assert run_cli("experts", "h.csv", "--target", "load_1h", *arguments).returncode == 0
    assert aw.load(tmp_path / "m").experts == ("arima_load_1h", "lgbm_load_1h")


def test_a_cell_that_spoils_an_expert_is_named(run_cli, tmp_path):
    (tmp_path / "f.csv").write_text("day,a,a_x,b_x,x,c_y,y\nmon,1,1,1,1,2,2\ntue,1,1,oops,1,2,2\nwed,1,1,1,1,2,2\n")
    result = run_cli("experts", "f.csv", "--target", "x,y")
    assert result.returncode == 0
    assert result.stderr == (
        "afterwit: warning: left out b_x: line 3 has 'oops' where a number was expected "
        "(correct it, or leave the cell empty)\n"
    )
    named = run_cli("experts", "f.csv", "--target", "x,y", "--experts", "*_{target}")
    assert named.stderr.startswith("afterwit: f.csv, line 3: column b_x: a finite number was expected, ")
    # A star stands for columns of numbers.
    result = run_cli("experts", "f.csv", "--target", "x", "--experts", "a*,*y", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "m").experts == ("a", "a_x", "c_y", "y")


def test_a_column_without_a_name(run_cli, tmp_path):
    """The index that pandas writes names the rows; what is behind the last delimiter is nothing."""
    (tmp_path / "f.csv").write_text(",a,b,y,\n0,1,3,1,\n1,2,4,2,\n2,1,2,2,\n")
    result = run_cli("experts", "f.csv", "--target", "y", "--model", "m", "--predictions", "out.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "m").experts == ("a", "b")
    assert written(tmp_path / "out.csv")[0] == ["column 1 without a name", "y", "forecast"]


def test_numbers_may_name_groups(run_cli, tmp_path):
    (tmp_path / "f.csv").write_text("shop,y,a,b\n007,1,1,3\n010,2,2,4\n007,2,1,2\n")
    result = run_cli("experts", "f.csv", "--target", "y", "--group", "shop", "--model", "m")
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "m").groups == ("007", "010")
    assert aw.load(tmp_path / "m")["007"].experts == ("a", "b")


def test_a_column_belongs_to_the_longest_target_that_fits(run_cli, tmp_path):
    frame = pd.DataFrame({"a_load": [1.0, 2], "load": [1.0, 2], "load_24h": [2.0, 3], "a_load_24h": [2.0, 3]})
    frame["load_24h_b"] = 2.5
    frame.to_csv(tmp_path / "f.csv", index=False)
    result = run_cli("experts", "f.csv", "--target", "load,load_24h", "--model", "{target}.m")
    assert (result.returncode, result.stderr) == (0, "")
    assert aw.load(tmp_path / "load.m").experts == ("a_load",)
    assert aw.load(tmp_path / "load_24h.m").experts == ("a_load_24h", "load_24h_b")
    frame["load_24h_load"] = frame["temp_load"] = frame["temp"] = 1.0
    frame.to_csv(tmp_path / "f.csv", index=False)
    doubtful = run_cli("experts", "f.csv", "--target", "load,temp")
    assert doubtful.returncode == 2
    assert "f.csv: the column temp_load may be a forecast of load and of temp; name them with --exp" in doubtful.stderr


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("grouped", [True, False])
def test_to_go_on_is_the_same_as_one_run(run_process, data, tmp_path, grouped):
    arguments = ["--target", "load_1h,load_24h", *(("--group", "region") if grouped else ())]
    assert run_process("experts", "h.csv", *arguments, "--model", "all_{target}", "--predictions", "all.csv").stdout
    assert run_process("experts", "h1.csv", *arguments, "--model", "a_{target}").returncode == 0
    # The columns may come in any order.
    rest = pd.read_csv(tmp_path / "h2.csv", dtype=str)
    rest[rest.columns[::-1]].to_csv(tmp_path / "h2.csv", index=False)
    going_on = ("--resume", "a_{target}", "--model", "a_{target}", "--predictions", "b.csv")
    result = run_process("experts", "h2.csv", *arguments, *going_on)
    assert (result.returncode, result.stderr) == (0, "")
    _, whole = written(tmp_path / "all.csv")
    _, later = written(tmp_path / "b.csv")
    for target in TARGETS:
        learner = aw.load(tmp_path / f"a_{target}")
        assert learner == aw.load(tmp_path / f"all_{target}")
        assert later[f"forecast {target}"] == whole[f"forecast {target}"][45:]
        assert f"\n{learner.certificate()}\n" in result.stdout
    assert "by 3 experts, 32 rounds after 45 earlier ones, square loss\n" in result.stdout
    assert "about all rounds, with the 45 before these, as the learner has counted them:\n" in result.stdout
    found = json.loads(run_process("experts", "h2.csv", *arguments, "--resume", "all_{target}", "--json").stdout)
    assert found["targets"][0]["earlier_rounds"] == 77


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--loss", "absolute"], "--loss must be as in the model that goes on, m: 'square'; or left out; received"),
        (["--algorithm", "boa"], "--algorithm must be as in the model that goes on, m: 'mlpol'; or left out; received"),
        (
            ["--algorithm", "mlpol", "--option", "seed=7"],
            "--option seed must be as in the model that goes on, m: 0; or left out; received 7",
        ),
        (["--option", "seed=7"], "--option must be left out, because --resume m goes on with its own options"),
        (["--experts", "gam_load_1h"], "--experts must be the experts of the model that goes on, arima_load_1h, gam_"),
        (["--group", "region"], "m: the model has no groups; leave out --group"),
        (["--resume", "n"], "n: the experts of this model have no names, so nobody knows their columns"),
        (["--resume", "p"], "p: a model of afterwit experts was expected; this is a Perceptron"),
        (["--resume", "q"], "q: the model has a learner for each group; name their column with --group"),
        (["--resume", "none"], "none: there is no such file"),
        (["--target", "load_24h", "--resume", "o"], "h.csv: there is no column 'other'; the columns are time, zone,"),
    ],
)
def test_another_model_cannot_go_on(run_cli, data, tmp_path, arguments, message):
    assert run_cli("experts", "h.csv", "--target", "load_1h", "--experts", "*_load_1h", "--model", "m").returncode == 0
    aw.save(aw.MLpol(3), tmp_path / "n")
    aw.save(aw.MLpol(["other"]), tmp_path / "o")
    aw.save(aw.Perceptron(), tmp_path / "p")
    aw.save(aw.PerGroup(aw.MLpol(["a"])), tmp_path / "q")
    before = (tmp_path / "m").read_bytes()
    result = run_cli("experts", "h.csv", "--target", "load_1h", "--resume", "m", *arguments, "--model", "m")
    assert result.returncode == 2
    assert message in result.stderr
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    assert (tmp_path / "m").read_bytes() == before


def test_what_is_said_again_may_be_said(run_cli, data, tmp_path):
    assert run_cli("experts", "h1.csv", "--target", "load_1h", "--experts", "*_load_1h", "--model", "m").returncode == 0
    again = ["--loss", "square", "--algorithm", "mlpol", "--experts", "lgbm_{target},gam_{target},arima_{target}"]
    result = run_cli("experts", "h2.csv", "--target", "load_1h", "--resume", "m", *again)
    assert (result.returncode, result.stderr) == (0, "")


# ---------------------------------------------------------------------- any format, any index


def test_the_same_table_in_any_format(run_process, data, tmp_path):
    arguments = ("--target", "load_1h,load_24h", "--group", "region")
    duckdb.from_df(data).write_parquet(str(tmp_path / "h.parquet"))
    rows = json.loads(data.to_json(orient="records", double_precision=15))
    exact = data.replace({np.nan: None}).to_dict("records")
    assert len(rows) == len(exact)
    (tmp_path / "h.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exact))
    assert run_process("experts", "h.csv", *arguments, "--predictions", "csv.csv").returncode == 0
    expected = (tmp_path / "csv.csv").read_text()
    sources = (["h.parquet"], ["h.jsonl"], ["--sql", "SELECT * FROM 'h.parquet'"], ["h1.csv", "h2.csv"])
    for source in sources:
        result = run_process("experts", *source, *arguments, "--predictions", "out.csv")
        assert (result.returncode, result.stderr) == (0, "")
        assert (tmp_path / "out.csv").read_text() == expected
    few = run_process("experts", "h.csv", *arguments, "--limit", "20", "--predictions", "out.csv")
    assert few.returncode == 0
    assert (tmp_path / "out.csv").read_text().splitlines() == expected.splitlines()[:21]
    piped = run_process("experts", "-", *arguments, "--predictions", "out.csv", stdin=(tmp_path / "h.csv").read_bytes())
    assert (piped.returncode, (tmp_path / "out.csv").read_text()) == (0, expected)


def test_rows_that_cannot_be_read_may_be_skipped(run_cli, tmp_path):
    (tmp_path / "f.csv").write_text("y,a,b\n1,1,2\n1,oops\n2,2,3\n")
    refused = run_cli("experts", "f.csv", "--target", "y")
    assert refused.stderr == "afterwit: f.csv, line 3: 3 cells were expected, as in the header; found 2\n"
    result = run_cli("experts", "f.csv", "--target", "y", "--on-error", "skip")
    assert result.returncode == 0
    assert result.stderr.startswith("afterwit: warning: 1 row was left out because it could not be read:\n")
    assert "2 experts, 2 rounds" in result.stdout


@pytest.mark.parametrize(
    ("index", "header"),
    [
        ([], ["time", "region", "note", "load_1h", "forecast"]),
        (["--index", "note,zone"], ["zone", "note", "load_1h", "forecast"]),
        (["--index", "zone", "--group", "region"], ["zone", "region", "load_1h", "forecast"]),
        (["--exclude", "note"], ["time", "region", "load_1h", "forecast"]),
    ],
)
def test_every_index_column_is_kept_in_the_order_of_the_file(run_cli, data, tmp_path, index, header):
    arguments = ("--target", "load_1h", "--experts", "*_{target}", "--predictions", "out.csv")
    if "--exclude" in index:
        data[["time", "zone", "region", "note", *experts("load_1h"), "load_1h"]].to_csv(tmp_path / "h.csv", index=False)
        arguments = ("--target", "load_1h", "--predictions", "out.csv")
        index = ["--exclude", "note,zone"]
    result = run_cli("experts", "h.csv", *arguments, *index)
    assert (result.returncode, result.stderr) == (0, "")
    assert written(tmp_path / "out.csv")[0] == header


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "load_1h", "--group", "place"], "h.csv: there is no column 'place'; the columns are time, zone,"),
        (["--target", "load_1h", "--group", "load_1h"], "--group must be a column other than the targets, the experts"),
        (["--target", "load_1h,load_1h"], "--target must be different column names separated by commas"),
        (["--target", "load_1h,load_24h", "--model", "m"], "--model must be a file name with {target} in it"),
        (["--target", "load_1h,load_24h", "--resume", "m"], "--resume must be a file name with {target} in it"),
        (["--target", "load_1h,zone"], "h.csv: no column of numbers is named EXPERT_zone or zone_EXPERT, as forecasts"),
        (
            ["--target", "load_1h", "--experts", "*_{target}h"],
            "h.csv: no column of numbers is named *_load_1hh; the columns are",
        ),
        (["--target", "load_1h", "--sql", "SELECT 1"], "FILE and --sql exclude each other"),
        (["--target", "load_1h", "--format", "vw"], "h.csv: a table with columns was expected; this is vw text"),
    ],
)
def test_mistakes_are_one_sentence(run_cli, data, tmp_path, arguments, message):
    before = sorted(tmp_path.iterdir())
    result = run_cli("experts", "h.csv", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_without_a_file_or_a_query(run_cli):
    assert run_cli("experts", "--target", "y").stderr == "afterwit: FILE is missing: name files, or use --sql\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "site,y,a,b\nn,1,2,3\n,1,2,3\n",
            "f.csv, line 3: column site: the name of a group was expected; found nothing",
        ),
        (
            "site,y,a,b\nn,1,0.5,0.5\ns,1,0.5,0.5\nn,1,0.5,1.0\n",
            "f.csv, line 4: group 'n': column b must be strictly between 0 and 1",
        ),
        (
            "site,y,a,b\nn,1,0.5,0.5\ns,0.5,0.5,0.5\n",
            "f.csv, line 3: group 's': the target y must be 0 or 1, because the loss is log",
        ),
        ("site,y,a,b\nn,1,0.5,0.5\nit's,,1,0.5\n", 'f.csv, line 3: group "it\'s": column a must be strictly between'),
    ],
)
def test_what_is_wrong_with_a_group_names_the_line(run_cli, tmp_path, content, message):
    (tmp_path / "f.csv").write_text(content)
    result = run_cli("experts", "f.csv", "--target", "y", "--group", "site", "--loss", "log", "--model", "m")
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr
    assert not (tmp_path / "m").exists()


def test_many_groups_are_listed_by_their_regret(run_cli, tmp_path):
    generator = np.random.default_rng(0)
    y = generator.random(200)
    frame = pd.DataFrame({"site": [f"s{i % 40}" for i in range(200)], "y": y})
    frame["a"], frame["b"] = y + generator.normal(0, 0.3, 200), generator.random(200)
    frame.to_csv(tmp_path / "f.csv", index=False)
    arguments = ("experts", "f.csv", "--target", "y", "--group", "site")
    result = run_cli(*arguments)
    assert "and 10 more groups; these have the largest regret (--verbose lists all)\n" in result.stdout
    learner = aw.PerGroup(aw.MLpol(["a", "b"]))
    learner.learn_many(frame["site"].tolist(), frame[["a", "b"]].to_numpy(), y)
    certificates = learner.certificate(frame["site"].tolist(), frame[["a", "b"]].to_numpy(), y)
    least = sorted(certificates, key=lambda group: certificates[group].observed)[:10]
    listed = {line.split()[0] for line in result.stdout.splitlines() if line[:1] == "s"} - {"site"}
    assert listed == set(certificates) - set(least)
    assert len([line for line in run_cli(*arguments, "--verbose").stdout.splitlines() if line[:1] == "s"]) == 41


def test_a_group_that_has_only_rows_to_come(run_cli, tmp_path):
    (tmp_path / "f.csv").write_text("site,y,a,b\nn,1,1,3\ns,,2,4\nn,2,1,2\n")
    result = run_cli("experts", "f.csv", "--target", "y", "--group", "site", "--predictions", "out.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert written(tmp_path / "out.csv")[1]["forecast"][1] == "3.0"
    assert "\n  s  3.0000\n" in result.stdout
    assert "PerGroup(MLpol), 1 group, 2 rounds\n" in result.stdout


@pytest.mark.parametrize("name", ["weighted-majority", "sleeping-experts", "adahedge"])
def test_other_algorithms_have_other_quantities(run_cli, tmp_path, name):
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"site": ["n", "s"] * 30, "y": generator.integers(0, 2, 60)})
    frame["a"], frame["b"] = generator.integers(0, 2, 60), generator.integers(0, 2, 60)
    frame.to_csv(tmp_path / "f.csv", index=False)
    arguments = ("--target", "y", "--group", "site", "--loss", "zero-one", "--algorithm", name)
    result = run_cli("experts", "f.csv", *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    quantity = {"weighted-majority": "mistakes", "sleeping-experts": "loss"}.get(name, "regret")
    head = next(line for line in result.stdout.splitlines() if line.startswith("site "))
    assert head.split()[-2:] == [quantity, "verdict"]
    assert "\nerror rate by site:\n" in result.stdout


# ---------------------------------------------------------------------- afterwit predict


def test_a_saved_model_of_groups_forecasts_a_new_table(run_process, data, tmp_path):
    names = experts("load_1h")
    arguments = ("--target", "load_1h", "--experts", "*_{target}", "--group", "region")
    assert run_process("experts", "h1.csv", *arguments, "--model", "m").returncode == 0
    _, learners = slowly(data[:45], "load_1h", names)
    expected = [
        learners[row["region"]].predict_one([row[name] for name in names]) for row in data[45:].to_dict("records")
    ]
    duckdb.from_df(data[45:]).write_parquet(str(tmp_path / "new.parquet"))
    for file in ("h2.csv", "new.parquet"):
        result = run_process("predict", "m", file, "--group", "region", "--predictions", "out.csv")
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout == "35 forecasts by MLpol, which has learned 45 rounds of 3 experts in 3 groups\n"
        header, columns = written(tmp_path / "out.csv")
        assert header == ["time", "region", "note", "forecast"]
        assert [float(cell) for cell in columns["forecast"]] == expected
    first = run_process("predict", "m", "h2.csv", "--group", "region", "--limit", "2").stdout.splitlines()
    assert len(first) == 3
    without = run_process("predict", "m", "h2.csv")
    assert "--group must be the column with the names of the groups, because the model has a" in without.stderr
    aw.save(aw.MLpol(names), tmp_path / "n")
    assert (
        "--group must be left out, because the model has no groups"
        in run_process("predict", "n", "h2.csv", "--group", "region").stderr
    )
    aw.save(aw.PerGroup(aw.Perceptron), tmp_path / "p")
    assert "p: a learner for each group is used in Python" in run_process("predict", "p", "h2.csv").stderr
    aw.save(aw.Perceptron(), tmp_path / "c")
    refused = run_process("predict", "c", "h2.csv", "--group", "region")
    assert "--group must be left out, because the model does not make forecasts" in refused.stderr


def test_intervals_of_every_group(run_cli, data, tmp_path):
    """Row after row, each region by a learner of intervals of its own; then the second half by the saved model."""
    target, names = "load_1h", experts("load_1h")
    learners, made = {}, []
    for row in data.to_dict("records"):
        learner = learners.setdefault(row["region"], aw.ConformalIntervals(aw.MLpol(names), 0.8))
        advice = [row[name] for name in names]
        made.append([learner.predict_one(advice), *learner.interval_one(advice)])
        if not np.isnan(row[target]):
            learner.learn_one(advice, row[target])
    options = ("--target", target, "--experts", "*_{target}", "--group", "region", "--interval", "80%")
    whole = run_cli("experts", "h.csv", *options, "--model", "m", "--predictions", "o.csv", "--json")
    assert whole.returncode == 0, whole.stderr
    with (tmp_path / "o.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header[-3:] == ["forecast", "forecast low", "forecast high"]
    assert [[float(cell) for cell in row[-3:]] for row in rows] == made
    saved = aw.load(tmp_path / "m")
    assert saved.groups == tuple(learners)
    assert all(saved[region] == learner for region, learner in learners.items())
    found = json.loads(whole.stdout)
    rounds = data[data[target].notna()]
    certificate = saved.certificate(rounds["region"], rounds[names].to_numpy(), rounds[target].to_numpy())
    assert found["intervals"]["certificate"] == certificate.to_dict()
    assert found["intervals"]["covered"] == sum(learner.covered for learner in learners.values())
    assert [each["mean_width"] for each in found["intervals"]["groups"]] == [
        learner.mean_width for learner in learners.values()
    ]
    points = {region: learner.point_forecaster for region, learner in learners.items()}
    assert {each["group"]: each["weights"] for each in found["groups"]} == {
        region: dict(zip(names, point.weights.tolist(), strict=True)) for region, point in points.items()
    }
    shown = run_cli("experts", "h.csv", *options)
    assert f"intervals of 80%: they covered {found['intervals']['covered']} of 77 outcomes" in shown.stdout
    assert certificate.total.hindsight is None
    # In two parts, and forecast by the model.
    assert run_cli("experts", "h1.csv", *options, "--model", "n").returncode == 0
    again = run_cli("experts", "h2.csv", *options[:-2], "--resume", "n", "--model", "n")
    assert again.returncode == 0, again.stderr
    assert aw.load(tmp_path / "n") == saved
    ahead = run_cli("predict", "m", "h2.csv", "--group", "region", "--json")
    wanted = saved.interval_many(data["region"][45:], data[names].to_numpy()[45:])
    assert json.loads(ahead.stdout)["forecasts"]["forecast low"] == wanted[:, 0].tolist()
    other = run_cli("experts", "h2.csv", *options[:-1], "90%", "--resume", "m")
    assert "--interval must be left out, because the model has intervals of 0.8" in other.stderr


def test_a_group_of_one_row_has_an_interval_without_ends(run_cli, data, tmp_path):
    data[:4].assign(region=["a", "b", "c", "d"]).to_csv(tmp_path / "one.csv", index=False)
    options = ("--target", "load_1h", "--experts", "*_{target}", "--group", "region", "--interval", "0.9")
    shown = run_cli("experts", "one.csv", *options)
    assert shown.returncode == 0, shown.stderr
    assert "they covered 4 of 4 outcomes (100.00%); none has two ends, 4 without ends" in shown.stdout
