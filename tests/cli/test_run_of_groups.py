"""afterwit run --group, on one process and on several, and what else uses the model."""

import json
from pathlib import Path

import numpy as np
import pytest

import afterwit as aw


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    random = np.random.default_rng(1)
    lines = ["shop,price,rain,sold,load"]
    for i in range(400):
        price, rain = random.standard_normal(2)
        shop = f"s{random.integers(0, 5)}"
        sold = "yes" if (price if shop in ("s1", "s2") else rain) > 0 else "no"
        lines.append(f"{shop},{price:.2f},{rain:.2f},{'' if i % 40 == 7 else sold},{price - rain:.2f}")
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def model_of(sales, learner, target="sold"):
    stream = aw.read(sales, target, group="shop")
    model = aw.Model(stream.schema, aw.PerGroup(learner))
    return model, aw.play(model, stream)


def test_a_learner_for_each_group(run_cli, tmp_path, sales):
    out = str(tmp_path / "m.aw")
    how = ("run", sales, "--target", "sold", "--group", "shop", "--learner", "perceptron")
    result = run_cli(*how, "--model", out, "--test", sales, "--predictions", str(tmp_path / "p"))
    assert result.returncode == 0, result.stderr
    model, record = model_of(sales, aw.Perceptron())
    found = aw.load(out)
    assert found.learner == model.learner
    assert f"perceptron, one for each shop on {sales}" in result.stdout
    assert "group     shop" in result.stdout
    certificates = record.certificate()
    assert str(certificates.total) in result.stdout
    assert "(--verbose shows the certificate of each group)" in result.stdout
    assert found.kept_certificate["observed"] == record.mistakes
    assert len((tmp_path / "p").read_text().splitlines()) == 400
    told = json.loads(run_cli(*how, "--json").stdout)
    assert told["certificate"] == json.loads(json.dumps(certificates.to_dict()))
    verbose = run_cli(*how, "--verbose").stdout
    assert all(f"group '{name}': Perceptron" in verbose for name in model.learner.groups)
    predicted = run_cli("predict", out, sales)
    wrong = (found.predict_many(sales) != np.array([row or "" for row in _column(sales, "sold")])).sum() - 10
    assert f"390 examples, {wrong} mistakes" in predicted.stdout
    assert "group     shop" in run_cli("inspect", out).stdout


def _column(path, name):
    rows = [line.split(",") for line in Path(path).read_text().splitlines()]
    return [row[rows[0].index(name)] for row in rows[1:]]


def test_it_goes_on_in_several_passes_and_in_the_middle(run_cli, tmp_path, sales):
    once, rest, twice = (str(tmp_path / name) for name in ("once", "rest", "twice"))
    how = ("run", sales, "--target", "sold", "--group", "shop", "--learner", "sgd", "--no-certificate")
    assert run_cli(*how, "--model", once).returncode == 0
    assert run_cli("run", sales, "--resume", once, "--model", rest, "--no-certificate").returncode == 0
    assert run_cli(*how, "--model", twice, "--passes", "2", "--save-every", "33").returncode == 0
    assert aw.load(rest) == aw.load(twice)


def test_numbers_and_the_default(run_cli, tmp_path, sales):
    out = str(tmp_path / "m")
    result = run_cli("run", sales, "--target", "load", "--group", "shop", "--ignore", "sold", "--model", out)
    assert result.returncode == 0, result.stderr
    assert isinstance(aw.load(out).learner["s1"], aw.RegressionCommittee)


@pytest.mark.installed_only
@pytest.mark.parametrize("learner", [("--group", "shop", "--learner", "perceptron"), ("--learner", "committee")])
def test_workers_make_the_same_file(run_process, tmp_path, sales, learner):
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    how = ("run", sales, "--target", "sold", *learner, "--json")
    alone = run_process(*how, "--model", one)
    together = run_process(*how, "--model", two, "--workers", "2", "--shards", "3")
    assert alone.returncode == together.returncode == 0, together.stderr
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    wanted, found = json.loads(alone.stdout), json.loads(together.stdout)
    for each in (wanted, found):
        each.pop("model")
        each.pop("skipped", None)
    assert found == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--group", "shops"), "group: there is no column 'shops'. Did you mean 'shop'"),
        (("--group", "shop", "--report", "r.html"), "--report must be left out with --group"),
        (("--group", "shop", "--scores", "s"), "--scores must be left out with --group"),
        (("--group", "shop", "--workers", "2", "--epochs", "3"), "--epochs must be left out, because each group learns"),
        (("--learner", "committee", "--workers", "2", "--mixing", "rows"), "--mixing must be left out, because the members"),
    ],
)  # fmt: skip
def test_what_is_refused_in_one_sentence(run_cli, sales, options, message):
    result = run_cli("run", sales, "--target", "sold", *options)
    assert result.returncode == 2, result.stdout
    assert message in result.stderr


def test_a_group_is_not_said_again(run_cli, tmp_path, sales):
    out = str(tmp_path / "m")
    assert (
        run_cli("run", sales, "--target", "sold", "--group", "shop", "--learner", "sgd", "--model", out).returncode == 0
    )
    result = run_cli("run", sales, "--resume", out, "--group", "shop")
    assert "--group must be left out, because --resume" in result.stderr
