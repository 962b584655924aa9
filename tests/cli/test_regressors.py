"""Regressors on the command line: the label of a line is the number to predict."""

import math
import re

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.registry import regressor_names


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(1)
    X = random.integers(-3, 4, (90, 4)) / 4
    y = X @ [1.0, -2.0, 0.5, 0.0] + 3 + 0.1 * random.standard_normal(90)
    rows = [" ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1) if value) for row in X.tolist()]
    lines = [f"{target!r} {row}" for target, row in zip(y.tolist(), rows, strict=True)]
    (tmp_path / "data").write_text("\n".join(lines) + "\n")
    return aw.read_libsvm(tmp_path / "data")


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("name", sorted(regressor_names()))
def test_every_regressor_runs_saves_and_predicts(run_cli, data, tmp_path, name, passes):
    X, y = data
    result = run_cli("run", "data", "--learner", name, "--model", "m", "--predictions", "p", "--passes", str(passes))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{name} on data, predicting numbers\n")
    learner = getattr(aw, regressor_names()[name])()
    for _ in range(passes):
        predicted = learner.learn_many(X, y)
    assert (tmp_path / "p").read_text().split() == [str(number) for number in predicted.tolist()]
    assert aw.load(tmp_path / "m") == learner
    assert "RMSE so far" in result.stdout
    assert "mistakes" not in result.stdout
    table = [line.split() for line in result.stdout.splitlines() if re.fullmatch(r"[\d.e+\s,-]+", line)]
    assert [row[0] for row in table][-1] == str(90 * passes)
    assert float(table[-1][2]) == pytest.approx(learner.rmse, rel=1e-5)
    if learner.theorems:
        assert re.search(rf"^{type(learner).__name__}( of \w+)?, {90 * passes} rounds$", result.stdout, re.MULTILINE)
        assert "verdict    holds" in result.stdout
        assert ("(RMSE " in result.stdout) == any(theorem.quantity == "loss" for theorem in learner.theorems)
    else:
        assert "No certificate: " in result.stdout
    result = run_cli("predict", "m", "data", "--predictions", "q")
    errors = learner.predict_many(X) - y
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "q").read_text().split() == [str(number) for number in learner.predict_many(X).tolist()]
    head, rmse, mean = result.stdout.strip().split(", ")
    assert head == "90 examples"
    assert float(rmse.removeprefix("RMSE ")) == pytest.approx(math.sqrt((errors**2).mean()), rel=1e-3)
    assert float(mean.removeprefix("mean absolute error ")) == pytest.approx(np.abs(errors).mean(), rel=1e-3)


def test_options_and_standard_input(run_cli, data, tmp_path):
    X, y = data
    options = ("--option", "penalty=0.5", "--option", "intercept=false")
    text = (tmp_path / "data").read_bytes().decode()
    result = run_cli("run", "-", "--learner", "online-ridge", *options, "--model", "m", stdin=text)
    assert (result.returncode, result.stderr) == (0, "")
    learner = aw.OnlineRidge(penalty=0.5, intercept=False)
    learner.learn_many(X, y)
    assert aw.load(tmp_path / "m") == learner


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--labels", "0,1"), "--labels must be left out, because online-ridge predicts numbers; received '0,1'"),
        (("--option", "rate=1"), "Unknown option 'rate' of online-ridge. Known: penalty, most_features, intercept"),
        (("--option", "penalty=-1"), "penalty must be a positive finite number; received -1"),
    ],
)
def test_what_is_refused(run_cli, data, arguments, message):
    result = run_cli("run", "data", "--learner", "online-ridge", *arguments)
    assert result.returncode != 0
    assert message in result.stderr


def test_numbers_have_no_probabilities_and_an_empty_file_none_at_all(run_cli, data, tmp_path):
    assert run_cli("run", "data", "--learner", "online-ridge", "--model", "m").returncode == 0
    result = run_cli("predict", "m", "data", "--probabilities", "p")
    assert "--probabilities must be left out, because the model predicts numbers; received" in result.stderr
    (tmp_path / "empty").write_text("")
    for command in (("run", "empty", "--learner", "online-ridge"), ("predict", "m", "empty")):
        result = run_cli(*command)
        assert result.returncode != 0
        assert "no examples were found" in result.stderr
