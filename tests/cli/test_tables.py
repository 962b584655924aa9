"""run, predict, race and inspect on tables: from files as they come to models that take raw records."""

import csv
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet
import pytest

import afterwit as aw
import naive_schema
from conftest import environment


def sales(count=300, seed=0):
    chance = random.Random(seed)
    rows = []
    for i in range(count):
        colour, price = chance.choice(["red", "green", "blue"]), round(chance.uniform(1, 9), 2)
        sold = price < 5 or (colour == "red" and chance.random() < 0.8)
        rows.append({"id": i, "colour": colour, "price": price, "sold": "yes" if sold else "no"})
    return rows


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def data(tmp_path):
    return write_csv(tmp_path / "sales.csv", sales())


def expected(rows, learner=None, ignore=("id",)):
    stream = aw.read(rows, target="sold", ignore=ignore)
    model = aw.Model(stream.schema, learner or aw.Perceptron(labels=stream.labels))
    aw.play(model, stream)
    return model


def strictly(text):
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


RUN = ("run", "sales.csv", "--target", "sold", "--ignore", "id", "--learner", "perceptron")


def test_a_table_is_learned_saved_inspected_and_predicted(run_process, data, tmp_path):
    result = run_process(*RUN, "--model", "m", "--predictions", "p")
    assert (result.returncode, result.stderr) == (0, "")
    assert "labels no and yes" in result.stdout
    assert "number    price\ncategory  colour\nleft out  id (ignored)\n" in result.stdout
    assert "verdict    holds" in result.stdout
    model = aw.load(tmp_path / "m")
    own = expected(sales())
    assert model.learner == own.learner
    assert model.schema == own.schema
    assert model.kept_certificate["verdict"] == "holds"
    twin = aw.Perceptron(labels=("no", "yes"))
    record = aw.play(twin, aw.read(sales(), target="sold", ignore=["id"]), predictions=True)
    assert (tmp_path / "p").read_text().split() == record.predictions.tolist()
    shown = run_process("inspect", "m").stdout
    assert "category  colour" in shown
    assert "colour=red" in shown
    assert model.kept_certificate["text"] in shown
    again = run_process("predict", "m", "sales.csv", "--predictions", "q")
    predicted = model.predict_many(sales())
    assert (tmp_path / "q").read_text().split() == predicted.tolist()
    wrong = int(np.count_nonzero(predicted != [row["sold"] for row in sales()]))
    assert again.stdout == f"300 examples, {wrong} mistakes, error rate {wrong / 300:.2%}\n"


def test_tables_without_a_target_are_predicted(run_cli, data, tmp_path):
    run_cli(*RUN, "--model", "m")
    rows = [{name: row[name] for name in ("price", "colour")} for row in sales(20, seed=5)]
    write_csv(tmp_path / "new.csv", rows)
    result = run_cli("predict", "m", "new.csv", "--predictions", "-")
    assert result.returncode == 0, result.stderr
    model = aw.load(tmp_path / "m")
    assert result.stdout.split() == model.predict_many(rows).tolist() == [model.predict_one(row) for row in rows]
    shown = run_cli("predict", "m", "new.csv").stdout
    assert shown.splitlines()[:1] == ["without a label: 20 examples"]
    assert shown.splitlines()[2:] == [f"  {label}" for label in model.predict_many(rows).tolist()[:10]]


def test_a_model_says_which_column_is_missing_or_strange(run_cli, data, tmp_path):
    run_cli(*RUN, "--model", "m")
    write_csv(tmp_path / "new.csv", [{"colour": "red"}])
    result = run_cli("predict", "m", "new.csv")
    assert result.returncode == 2
    assert "price" in result.stderr
    assert result.stderr.count("\n") == 1
    write_csv(tmp_path / "more.csv", [{"colour": "red", "price": 3, "size": 4}])
    result = run_cli("predict", "m", "more.csv")
    assert result.returncode == 0
    assert "columns that the model does not know are not used: size" in result.stderr


@pytest.mark.parametrize("packed", ["plain", "gzip", "folder", "glob", "two", "pipe"])
def test_the_same_rows_in_other_clothes(run_cli, data, tmp_path, packed):
    run_cli(*RUN, "--model", "m", "--no-certificate")
    rows = sales()
    stdin, source = None, ["sales.csv"]
    if packed == "gzip":
        (tmp_path / "s.gz").write_bytes(gzip.compress(data.read_bytes()))
        source = ["s.gz"]
    if packed in ("folder", "glob", "two"):
        (tmp_path / "part").mkdir()
        for name, part in (("b", rows[100:]), ("a", rows[:100])):
            write_csv(tmp_path / "part" / f"{name}.csv", part)
        (tmp_path / "part" / "_notes").write_text("not data")
        source = {"folder": ["part"], "glob": ["part/*.csv"], "two": ["part/a.csv", "part/b.csv"]}[packed]
    if packed == "pipe":
        source, stdin = ["-"], data.read_text()
    result = run_cli("run", *source, *RUN[2:], "--model", "n", "--no-certificate", stdin=stdin)
    assert result.returncode == 0, result.stderr
    assert aw.load(tmp_path / "m") == aw.load(tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("command", ["run", "race", "predict"])
@pytest.mark.parametrize("where", ["second", "folder", "glob", "query"])
def test_no_input_is_overwritten_however_it_is_named(run_cli, data, tmp_path, command, where):
    (tmp_path / "part").mkdir()
    for name in ("a", "b"):
        write_csv(tmp_path / "part" / f"{name}.csv", sales(20))
    run_cli(*RUN, "--model", "m")
    source = {
        "second": ["part/a.csv", "part/b.csv"],
        "folder": ["part"],
        "glob": ["part/*.csv"],
        "query": ["--sql", f"SELECT * FROM '{tmp_path}/part/*.csv'"],
    }[where]
    before = (tmp_path / "part/b.csv").read_bytes()
    out = "--predictions" if command == "predict" else "--model"
    target = ["m"] if command == "predict" else ["--target", "sold"]
    result = run_cli(command, *target, *source, out, "part/../part/b.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"afterwit: {out} must be a different file from FILE")
    assert (tmp_path / "part/b.csv").read_bytes() == before


def test_a_first_file_without_rows(run_cli, data, tmp_path):
    (tmp_path / "part").mkdir()
    for name, rows in (("c", sales()[:100]), ("e", sales()[100:])):
        write_csv(tmp_path / "part" / f"{name}.csv", rows)
    for name in "abdf":
        (tmp_path / "part" / f"{name}.csv").write_text("id,colour,price,sold\n")
    run_cli(*RUN, "--model", "m")
    result = run_cli("run", "part", *RUN[2:], "--model", "n")
    assert result.returncode == 0, result.stderr
    assert aw.load(tmp_path / "m") == aw.load(tmp_path / "n")
    for name in "ce":
        (tmp_path / "part" / f"{name}.csv").unlink()
    result = run_cli("run", "part", *RUN[2:])
    assert (result.returncode, result.stderr) == (2, "afterwit: part (4 files): no examples were found\n")


def test_columns_without_a_name_are_left_out_unless_they_are_asked_for(run_cli, data, tmp_path):
    """pandas writes such an index, and other programs a delimiter at the end of every line."""
    head, *lines = data.read_text().splitlines()
    index = [f",{head},", *(f"{i},{line}," for i, line in enumerate(lines))]
    (tmp_path / "index.csv").write_text("\n".join(index))
    run_cli(*RUN, "--model", "m")
    result = run_cli("run", "index.csv", *RUN[2:], "--model", "n")
    assert (result.returncode, result.stderr) == (0, "")
    for place in (1, 6):
        assert f"column {place} without a name (not used unless it is asked for)" in result.stdout
    assert aw.load(tmp_path / "m").learner == aw.load(tmp_path / "n").learner
    result = run_cli("run", "index.csv", *RUN[2:], "--numeric", "column 1 without a name")
    assert "number    column 1 without a name, price" in result.stdout
    assert run_cli("predict", "n", "index.csv").stderr == ""
    assert "not used: column 1 without a name, column 6" in run_cli("predict", "m", "index.csv").stderr


def test_files_of_another_kind_than_the_model_has_learned(run_cli, data, tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2\n-1 2:1\n")
    run_cli(*RUN, "--model", "m")
    run_cli("run", "t.svm", "--model", "n")
    result = run_cli("predict", "m", "t.svm")
    assert (result.returncode, result.stdout) == (2, "")
    assert "t.svm: a table, or Vowpal Wabbit text with its names, was expected" in result.stderr
    result = run_cli("predict", "n", "sales.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith("libsvm text was expected, as the model has learned it; this is a table\n")


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"", mtime=0)])
def test_nothing_at_all_is_said_to_be_nothing(run_cli, tmp_path, content):
    (tmp_path / "t").write_bytes(content)
    result = run_cli("run", "t", "--target", "y")
    assert (result.returncode, result.stderr) == (2, "afterwit: t: no examples were found\n")


def test_text_in_another_encoding_says_how_to_convert_it(run_cli, data, tmp_path):
    (tmp_path / "wide.csv").write_bytes(data.read_text().encode("utf-16"))
    result = run_cli("run", "wide.csv", "--target", "sold")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "wide.csv: UTF-8 text was expected, found UTF-16 (iconv -f UTF-16" in result.stderr
    (tmp_path / "old.csv").write_bytes(data.read_bytes() + "301,gr\xfcn,3,yes\n".encode("latin-1"))
    result = run_cli("run", "old.csv", "--target", "sold")
    assert "old.csv, line 302: UTF-8 text was expected, found other bytes (iconv -f LATIN1" in result.stderr


def test_a_query_and_an_order(run_cli, data, tmp_path):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(sales()), tmp_path / "s.parquet")
    query = f"SELECT colour, price, sold FROM '{tmp_path / 's.parquet'}' ORDER BY price, id"
    result = run_cli("run", "--sql", query, "--target", "sold", "--learner", "perceptron", "--model", "m")
    assert result.returncode == 0, result.stderr
    ordered = sorted(sales(), key=lambda row: row["price"])
    plain = [{name: row[name] for name in ("colour", "price", "sold")} for row in ordered]
    assert aw.load(tmp_path / "m").learner == expected(plain, ignore=()).learner
    result = run_cli(*RUN, "--order-by", "price", "--model", "n")
    assert result.returncode == 0, result.stderr
    assert aw.load(tmp_path / "n").learner == expected(ordered).learner
    bracketed = f"-- those of the shop\n({query})"
    result = run_cli("run", "--sql", bracketed, "--target", "sold", "--learner", "perceptron", "--model", "m")
    assert result.returncode == 0, result.stderr
    assert aw.load(tmp_path / "m").learner == expected(plain, ignore=()).learner
    for query in ("SELECT FROM WHERE", "SELEC * FROM t", "DROP TABLE t"):
        wrong = run_cli("run", "--sql", query, "--target", "y")
        assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
        assert wrong.stderr.startswith("afterwit: the query: ")


def test_going_on_is_the_same_as_not_stopping(run_cli, data, tmp_path):
    rows = sales()
    write_csv(tmp_path / "a.csv", rows[:120])
    write_csv(tmp_path / "b.csv", rows[120:])
    run_cli(*RUN, "--model", "whole")
    run_cli("run", "a.csv", *RUN[2:], "--model", "m")
    result = run_cli("run", "b.csv", "--target", "sold", "--resume", "m", "--model", "m")
    assert result.returncode == 0, result.stderr
    assert "No certificate: the model had learned 120 rounds before this run" in result.stdout
    assert aw.load(tmp_path / "m").learner == aw.load(tmp_path / "whole").learner
    for option in (("--learner", "adagrad"), ("--text", "colour"), ("--labels", "no,yes"), ("--target", "colour")):
        refused = run_cli("run", "b.csv", "--resume", "m", *option)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "left out" in refused.stderr or "as when the model was made" in refused.stderr


def test_what_was_learned_before_is_left_out(run_cli, data, tmp_path):
    # Rows without a label are no rounds, wherever they are; the model itself says how far it had come.
    rows = [{**row, "sold": None} if i % 7 == 3 else row for i, row in enumerate(sales())]
    write_csv(tmp_path / "sales.csv", rows)
    whole = run_cli(*RUN, "--learner", "adagrad", "--model", "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    for first in (1, 4, 119):
        result = run_cli(*RUN, "--learner", "adagrad", "--limit", str(first), "--model", "m")
        assert result.returncode == 0, result.stderr
        going_on = ("run", "sales.csv", "--target", "sold", "--resume", "m", "--skip-learned", "--model", "m")
        result = run_cli(*going_on, "--limit", "60", "--json")
        assert result.returncode == 0, result.stderr
        between = strictly(result.stdout)["certificate"]
        # A row without a label that comes last is not known to have been read.
        read = first + 60 - (rows[first - 1]["sold"] is None)
        assert between["rounds"] == sum(row["sold"] is not None for row in rows[:read])
        result = run_cli(*going_on, "--json")
        assert result.returncode == 0, result.stderr
        found = strictly(result.stdout)
        assert aw.load(tmp_path / "m").learner == aw.load(tmp_path / "whole").learner
        assert found["certificate"] == strictly(whole.stdout)["certificate"]
    result = run_cli("run", "sales.csv", "--target", "sold", "--resume", "m", "--skip-learned")
    assert (result.returncode, "verdict    holds" in result.stdout) == (0, True)
    write_csv(tmp_path / "short.csv", rows[:50])
    wrong = run_cli("run", "short.csv", "--target", "sold", "--resume", "m", "--skip-learned", "--model", "m")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    rounds = sum(row["sold"] is not None for row in rows)
    assert f"it has 43 rows with a label, and the model has learned {rounds:,}" in wrong.stderr
    assert aw.load(tmp_path / "m").learner == aw.load(tmp_path / "whole").learner


def test_a_test_file_a_limit_and_json(run_cli, data, tmp_path):
    write_csv(tmp_path / "test.csv", sales(50, seed=9))
    result = run_cli(*RUN, "--limit", "100", "--test", "test.csv", "--json")
    assert result.returncode == 0, result.stderr
    found = strictly(result.stdout)
    model = expected(sales()[:100])
    rows = sales(50, seed=9)
    wrong = int(np.count_nonzero(model.predict_many(rows) != [row["sold"] for row in rows]))
    assert found["record"]["rounds"] == 100
    assert found["record"]["mistakes"] == model.mistakes
    assert found["test"] == {"rows": 50, "compared": 50, "unlabelled": 0, "mistakes": wrong, "error": wrong / 50}
    assert found["certificate"]["verdict"] == "holds"
    assert found["schema"]["target"] == "sold"
    text = run_cli(*RUN, "--limit", "100", "--test", "test.csv").stdout
    assert f"test.csv: 50 examples, {wrong} mistake{'s' * (wrong != 1)}, error rate {wrong / 50:.2%}" in text
    assert run_cli(*RUN, "--quiet").stdout == ""


def test_scores_and_probabilities_are_those_before_each_label(run_cli, data, tmp_path):
    result = run_cli(*RUN[:-1], "adagrad", "--scores", "s", "--probabilities", "q", "--predictions", "-")
    assert result.returncode == 0, result.stderr
    stream = aw.read(sales(), target="sold", ignore=["id"])
    learner = aw.AdaGrad(labels=stream.labels)
    scores, odds = [], []
    for x, y in stream:
        scores.append(learner.score_one(x))
        odds.append(learner.predict_proba_one(x))
        learner.learn_one(x, y)
    assert [float(line) for line in (tmp_path / "s").read_text().split()] == scores
    head, *lines = (tmp_path / "q").read_text().split()
    assert head == "no,yes"
    assert [list(map(float, line.split(","))) for line in lines] == [list(each.values()) for each in odds]
    assert result.stdout.split() == ["yes" if score >= 0 else "no" for score in scores]
    assert "rounds" in result.stderr
    refused = run_cli(*RUN, "--probabilities", "q")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_many_classes_and_numbers_by_the_target(run_cli, data, tmp_path):
    result = run_cli("run", "sales.csv", "--target", "colour", "--ignore", "id", "--limit", "100", "--model", "m")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("multiclass-committee on sales.csv, labels as they come")
    assert set(aw.load(tmp_path / "m").classes) == {"red", "green", "blue"}
    result = run_cli("run", "sales.csv", "--target", "price", "--ignore", "id", "--limit", "100", "--model", "n")
    assert result.stdout.startswith("regression-committee on sales.csv, predicting numbers")
    assert run_cli("predict", "n", "sales.csv").stdout.startswith("300 examples, RMSE ")
    assert "class " in run_cli("inspect", "m").stdout
    wrong = run_cli("run", "sales.csv", "--target", "price", "--learner", "perceptron")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


def test_rows_that_cannot_be_read_are_left_out_and_shown(run_cli, data, tmp_path):
    lines = data.read_text().splitlines()
    bad = [*lines[:50], "1,red", *lines[50:], "2,red,cheap,yes"]
    (tmp_path / "bad.csv").write_text("\n".join(bad))
    stopped = run_cli("run", "bad.csv", *RUN[2:])
    assert stopped.returncode == 2
    assert "bad.csv, line 51: " in stopped.stderr
    result = run_cli("run", "bad.csv", *RUN[2:], "--on-error", "skip", "--numeric", "price", "--model", "m")
    assert result.returncode == 0, result.stderr
    assert "2 rows were left out because they could not be read" in result.stderr
    assert "line 51" in result.stderr
    assert "line 303" in result.stderr
    assert "cheap" in result.stderr
    assert aw.load(tmp_path / "m").learner == expected(sales()).learner


def test_a_race_is_each_learner_alone(run_cli, data, tmp_path):
    names = ("perceptron", "adagrad", "online-svm")
    result = run_cli(
        "race",
        "sales.csv",
        "--target",
        "sold",
        "--ignore",
        "id",
        "--learners",
        ",".join(names),
        "--json",
        "--model",
        "m",
    )
    assert result.returncode == 0, result.stderr
    found = strictly(result.stdout)
    kinds = {"perceptron": aw.Perceptron, "adagrad": aw.AdaGrad, "online-svm": aw.OnlineSVM}
    models = {name: expected(sales(), kind(labels=("no", "yes"))) for name, kind in kinds.items()}
    assert {each["learner"]: each["error"] for each in found["learners"]} == {
        name: model.mistakes / 300 for name, model in models.items()
    }
    errors = [each["error"] for each in found["learners"]]
    assert errors == sorted(errors)
    stream = aw.read(sales(), target="sold", ignore=["id"])
    learner = aw.AdaGrad(labels=stream.labels)
    loss = 0.0
    for x, y in stream:
        loss -= np.log(learner.predict_proba_one(x)[y])
        learner.learn_one(x, y)
    shown = next(each for each in found["learners"] if each["learner"] == "adagrad")
    assert shown["log_loss"] == pytest.approx(loss / 300, rel=1e-9)
    assert shown["certificate"]["verdict"] == "holds"
    assert aw.load(tmp_path / "m").learner == models[found["learners"][0]["learner"]].learner
    text = run_cli("race", "sales.csv", "--target", "sold", "--ignore", "id").stdout
    assert "committee" in text
    assert "log loss" in text
    assert "time/example" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert run_cli("race", "sales.csv", "--target", "price", "--ignore", "id", "--limit", "50").returncode == 0
    without = run_cli("race", "sales.csv")
    columns = "the columns are id, colour, price, sold"
    assert without.stderr == f"afterwit: sales.csv: --target names the column to predict; {columns}\n"
    mixed = run_cli("race", "sales.csv", "--target", "sold", "--learners", "perceptron,online-ridge")
    assert (mixed.returncode, mixed.stderr.count("\n")) == (2, 1)


def test_a_committee_is_shown_in_narrow_lines(run_cli, data, tmp_path):
    run_cli("run", "sales.csv", "--target", "sold", "--model", "m", "--no-certificate")
    shown = run_cli("inspect", "m").stdout
    assert "  learners = ScaleFree; NormalizedAdaGrad; " in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if line.startswith("  "))


def test_saving_meanwhile_does_not_change_the_certificate(run_cli, data, tmp_path):
    once = run_cli(*RUN, "--model", "once")
    often = run_cli(*RUN, "--model", "often", "--save-every", "37")
    assert "verdict    holds" in once.stdout
    assert often.stdout == once.stdout
    assert aw.load(tmp_path / "often") == aw.load(tmp_path / "once")


def test_a_certificate_is_kept_until_more_is_learned(run_cli, data, tmp_path):
    run_cli(*RUN, "--model", "m")
    result = run_cli("run", "sales.csv", "--target", "sold", "--resume", "m", "--model", "more")
    assert "No certificate: " in result.stdout
    model, more = aw.load(tmp_path / "m"), aw.load(tmp_path / "more")
    assert more.rounds == 2 * model.rounds
    assert model.kept_certificate["rounds"] == model.rounds
    assert more.kept_certificate is None
    assert "verdict" not in run_cli("inspect", "more").stdout
    model.learn_one(sales()[0])
    assert model.kept_certificate is None


def test_hashed_features_report_their_collisions(run_cli, data, tmp_path):
    result = run_cli(*RUN, "--hash", "1", "--model", "m")
    names = ["price", *(f"colour={colour}" for colour in ("red", "green", "blue"))]
    positions = [naive_schema.hashed_position(name, 1) for name in names]
    shared = sum(positions.count(each) > 1 for each in set(positions))
    found = f"{len(set(positions))} of 2 positions are used; {shared} of them by more than one feature"
    assert found in result.stdout
    assert run_cli("predict", "m", "sales.csv").returncode == 0
    assert "hashed    to 2 positions (1 bits)" in run_cli("inspect", "m").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as POSIX has it")
def test_a_killed_run_leaves_the_last_model_that_was_saved(tmp_path):
    """Killed at any moment, the file is a whole model of a multiple of N rows."""
    rows = sales(4000)
    write_csv(tmp_path / "sales.csv", rows)
    command = [sys.executable, "-m", "afterwit", *RUN, "--passes", "50", "--save-every", "500", "--model", "m"]
    for delay in (0.0, 0.05, 0.2):
        (tmp_path / "m").unlink(missing_ok=True)
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            deadline = time.monotonic() + 60
            while not (tmp_path / "m").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        model = aw.load(tmp_path / "m")
        assert model.rounds % 500 == 0
        twin = aw.Perceptron(labels=("no", "yes"))
        stream = aw.read(rows, target="sold", ignore=["id"])
        done = 0
        while done < model.rounds:
            with stream.reader() as reader:
                while done < model.rounds and (block := reader.take(500)) is not None:
                    twin.learn_many(*block)
                    done += block[0].count
        assert model.learner == twin
    assert sorted(name for name in os.listdir(tmp_path) if not name.startswith(".")) == ["m", "sales.csv"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("x,y\n1,0\n2,1\n", (), "t: --target names the column to predict; the columns are x, y"),
        ("x,y\n1,0\n2,1\n", ("--target", "z"), "target: there is no column 'z'. Columns: x, y"),
        (
            "ham\thi\nspam\tbuy\n",
            ("--target", "label"),
            "Columns: ham, hi (--names A,B,... names the columns of a file",
        ),
        ("x:y\n1:0\n2:1\n", ("--target", "y"), "Columns: x:y (--delimiter gives the character that separates cells)"),
        ("x,label\n1,0\n2,1\n", ("--target", "labels"), "Did you mean 'label'? Columns: label, x\n"),
        (
            "x,y\n1,a\n2,b\n3,c\n",
            ("--target", "y", "--learner", "perceptron"),
            "such as multiclass-committee, take more",
        ),
        ("x,x\n1,0\n", ("--target", "x"), "t, line 1:"),
        ("1,2\n3,4\n", ("--target", "x"), "t, line 1:"),
        ("x,y\n1\n", ("--target", "y"), "t, line 2: "),
        ("x,y\n1,\n", ("--target", "y"), "t: column y is empty: there is nothing to learn"),
        ("y\n1\n0\n", ("--target", "y"), "there is no column to learn from"),
        ("", ("--target", "y"), "t: "),
        ('{"x": 1, "y": 0}\n{"x": 1, "y": }\n', ("--target", "y"), "t, line 2: "),
        ('{"x": [1], "y": 0}\n', ("--target", "y"), "column x holds values of the kind list"),
        ("1 |a b\n1 2 3 |a\n-1 |a b\n", (), "t, line 2: "),
        ("1 |a b\n", ("--target", "y"), "target must be left out, because vw text has its own labels and weights"),
        ("x,y\n1,0\n2,1\n", ("--target", "y", "--format", "parquet"), "t: "),
        ("x,y\n1,0\n2,1\n", ("--target", "y", "--time", "x=year"), "time must be parts among hour, weekday, month"),
        ("x,y\n1,0\ninf,1\n", ("--target", "y"), "t, line 3: column x: "),
        ("x,y\n1,0\n2,1\n", ("--target", "y", "--save-every", "2"), "--save-every must be given together with --model"),
        ("x,y\n1,0\n2,1\n", ("--target", "y", "--skip-learned"), "--skip-learned must be given together with --resume"),
    ],
)
def test_mistakes_are_one_sentence(run_cli, tmp_path, content, arguments, message):
    (tmp_path / "t").write_text(content)
    result = (
        run_cli("run", "t", *arguments, "--model", "m")
        if "--save-every" not in arguments
        else run_cli("run", "t", *arguments)
    )
    assert result.returncode == 2
    assert result.stderr.startswith("afterwit: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["t"]
