"""Choosing a learner and its options on the command line, and predicting with what it has learned."""

import numpy as np
import pytest
from scipy import sparse

import afterwit as aw
from afterwit import adversaries
from afterwit.cli import _learners
from afterwit.core.registry import by_command_name, command_name, learner_names, makes_itself, many_label_names


@pytest.fixture
def data(tmp_path):
    stream = adversaries.label_noise(adversaries.separable(80, 5, margin=0.1, seed=4), 0.05, seed=1)
    lines = (
        f"{y} " + " ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1))
        for row, y in zip(stream.X.tolist(), stream.y.tolist(), strict=True)
    )
    (tmp_path / "data").write_text("\n".join(lines) + "\n")
    # The ids of the file begin at 1: position 0 is there and empty.
    return np.hstack([np.zeros((len(stream.X), 1)), stream.X]), stream.y


@pytest.mark.parametrize("name", sorted(learner_names()))
def test_every_learner_runs_saves_and_predicts(run_cli, data, tmp_path, name):
    X, y = data
    result = run_cli("run", "data", "--learner", name, "--model", "m", "--predictions", "p")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{name} on data")
    learner = getattr(aw, learner_names()[name])()
    predicted = learner.learn_many(X, y)
    assert (tmp_path / "p").read_text().split() == [str(label) for label in predicted]
    assert aw.load(tmp_path / "m").mistakes == learner.mistakes
    # Of a learner around another one, the certificate names both.
    inside = {"standardize": " of AdaGrad", "calibrated": " of AveragedPerceptron"}.get(name, "")
    subject = f"{type(learner).__name__}{inside}"
    told = f"{subject}, 80 rounds" if learner.theorems else "No certificate: "
    assert told in result.stdout
    result = run_cli("predict", "m", "data")
    wrong = int(np.count_nonzero(learner.predict_many(X) != y))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"80 examples, {wrong} mistakes")


@pytest.fixture
def many(tmp_path):
    """Five labels, some of which come late."""
    random = np.random.default_rng(4)
    X = random.integers(-3, 4, (120, 5)).astype(float)
    y = [int(label) for label in np.where(np.arange(120) < 40, np.argmax(X, axis=1) % 3, np.argmax(X, axis=1))]
    rows = [" ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1) if value) for row in X.tolist()]
    (tmp_path / "many").write_text("".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True)))
    return np.hstack([np.zeros((120, 1)), X]), y


@pytest.mark.parametrize("name", sorted(many_label_names()))
@pytest.mark.parametrize("labels", [None, "4,3,2,1,0"])
def test_a_learner_of_many_labels_runs_saves_and_predicts(run_cli, many, tmp_path, name, labels):
    X, y = many
    given = [] if labels is None else ["--labels", labels]
    result = run_cli("run", "many", "--learner", name, "--model", "m", "--predictions", "p", "--passes", "2", *given)
    assert (result.returncode, result.stderr) == (0, "")
    shown = "as they come" if labels is None else "4, 3, 2, 1 and 0"
    assert result.stdout.startswith(f"{name} on many, labels {shown}\n")
    learner = getattr(aw, many_label_names()[name])(labels=None if labels is None else (4, 3, 2, 1, 0))
    # As the file has them: what is not in a line is absent.
    X = sparse.csr_array(X)
    learner.learn_many(X, y)
    predicted = learner.learn_many(X, y)
    assert (tmp_path / "p").read_text().split() == [str(label) for label in predicted.tolist()]
    loaded = aw.load(tmp_path / "m")
    assert (loaded.mistakes, loaded.classes) == (learner.mistakes, learner.classes)
    told = f"{type(learner).__name__}, 240 rounds" if learner.theorems else "No certificate: "
    assert told in result.stdout
    result = run_cli("predict", "m", "many")
    wrong = int(np.count_nonzero(learner.predict_many(X) != y))
    assert result.stdout.startswith(f"120 examples, {wrong} mistakes")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("1 1:1\n2 1:2\n7 1:3\n", ["--labels", "1,2"], "f, line 3: found the label 7 where one of 1, 2 was expected"),
        ("", [], "f: no examples were found"),
        ("1 1:1\n", ["--labels", "1"], "--labels must be two different labels separated by a comma, such as"),
        ("1 1:1\n", ["--labels", "1,2,x"], "labels must be numbers, because the labels of libsvm text are numbers"),
        ("1 1:1\n", ["--labels", "1,2,1"], "--labels must be two different labels separated by a comma"),
        ("1 1:1\n", ["--labels", "1,2,nan"], "--labels must be two different labels separated by a comma"),
    ],
)
def test_labels_of_a_learner_of_many_that_may_not_come(run_cli, tmp_path, text, arguments, message):
    (tmp_path / "f").write_text(text)
    result = run_cli("run", "f", "--learner", "multiclass-perceptron", *arguments)
    assert result.returncode == 2
    assert f"afterwit: {message}" in result.stderr


def test_options_reach_the_learner(run_cli, data, tmp_path):
    options = ["loss=hinge", "rate=0.5", "ball=2", "intercept=true", "schedule=1/sqrt(t)"]
    arguments = [part for option in options for part in ("--option", option)]
    result = run_cli("run", "data", "--learner", "sgd", *arguments, "--model", "m", "--no-certificate")
    assert (result.returncode, result.stderr) == (0, "")
    expected = {"loss": "hinge", "rate": 0.5, "schedule": "1/sqrt(t)", "ball": 2.0, "intercept": True}
    assert aw.load(tmp_path / "m").parameters == {**expected, "labels": (-1, 1)}
    kernel = "kernel=gaussian(width=2) + 0.5 * linear() * polynomial(2)"
    result = run_cli("run", "data", "--learner", "kernel-perceptron", "--option", kernel, "--model", "k")
    assert (result.returncode, result.stderr) == (0, "")
    expected = aw.kernels.gaussian(width=2) + 0.5 * aw.kernels.linear() * aw.kernels.polynomial(2)
    assert aw.load(tmp_path / "k").kernel == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learner", "wisdom"], "unknown learner 'wisdom'. Known: adagrad, "),
        (["--learner", "perceptrom"], "unknown learner 'perceptrom'. Did you mean perceptron? Known: adagrad, "),
        (["--learner", "Online_SVM"], "unknown learner 'Online_SVM'. Did you mean online-svm? Known: adagrad, "),
        (["--learner", "one-vs-rest"], "unknown learner 'one-vs-rest'. Known: adagrad, "),
        (
            ["--learner", "repeat-last-label", "--option", "a=1"],
            "Unknown option 'a' of repeat-last-label. Known: none\n",
        ),
        (
            ["--learner", "perceptron", "--option", "speed=1"],
            "Unknown option 'speed' of perceptron. Known: rate, start, intercept\n",
        ),
        (
            ["--learner", "perceptron", "--option", "rate"],
            "--option must be NAME=VALUE, such as rate=0.5; received 'rate'",
        ),
        (
            ["--learner", "perceptron", "--option", "rate=1", "--option", "rate=2"],
            "--option rate must be given only once; received 'rate=2'",
        ),
        (
            ["--learner", "perceptron", "--option", "rate=fast"],
            "rate must be a positive finite number; received 'fast'",
        ),
        (["--learner", "perceptron", "--option", "intercept=1"], "intercept must be True or False; received 1"),
        (
            ["--learner", "kernel-perceptron", "--option", "kernel=open('x')"],
            "--option kernel must be an expression of linear",
        ),
        (["--learner", "kernel-perceptron", "--option", "kernel=gaussian(width=-1)"], "width must be a positive"),
    ],
)
def test_a_wrong_choice_is_one_sentence_and_leaves_nothing(run_cli, data, tmp_path, arguments, message):
    result = run_cli("run", "data", *arguments, "--model", "m")
    assert result.returncode == 2
    assert result.stderr.startswith(f"afterwit: {message}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_predicting_with_many_labels_and_with_what_is_not_numbers(run_cli, data, tmp_path):
    X, y = data
    many = aw.OneVsRest()
    many.learn_many(X, np.arange(len(y)) % 3)
    aw.save(many, tmp_path / "many")
    result = run_cli("predict", "many", "data", "--first-id", "0")
    assert (result.returncode, result.stderr) == (0, "")
    assert "with a label that is not one of the learner's\n" in result.stdout
    texts = aw.KernelPerceptron(aw.kernels.string(2))
    texts.learn_many(["abc", "bcd"], [-1, 1])
    aw.save(texts, tmp_path / "texts")
    result = run_cli("predict", "texts", "data")
    assert (result.returncode, result.stdout) == (2, "")
    assert "texts: this model takes strings, but a libsvm file has rows of numbers" in result.stderr


@pytest.mark.parametrize("name", ["adagrad", "balanced-winnow", "online-svm", "sgd", "winnow"])
@pytest.mark.parametrize("size", ["1e300", "1e-300"])
def test_numbers_near_the_ends_are_no_trouble(run_cli, tmp_path, name, size):
    (tmp_path / "f").write_text(f"1 1:{size} 2:{size}\n-1 1:{size} 2:-{size}\n-1 1:{size} 2:{size}\n")
    result = run_cli("run", "f", "--learner", name)
    if size == "1e300" and "winnow" not in name:
        assert result.returncode == 2
        assert "would make a score or a weight of " in result.stderr
        return
    assert (result.returncode, result.stderr) == (0, "")
    # With an intercept there is more than products that vanish.
    expected = "verdict    holds" if name in ("adagrad", "sgd") else "verdict    not applicable"
    assert expected in result.stdout


def test_weights_beyond_all_numbers_are_said_to_be(run_cli, tmp_path):
    lines = [f"{1 if i % 2 else -1} 1:{100 * (-1) ** (i // 2)}" for i in range(400)]
    (tmp_path / "f").write_text("\n".join(lines) + "\n")
    result = run_cli("run", "f", "--learner", "sgd", "--option", "loss=squared", "--option", "rate=5")
    assert result.returncode == 2
    assert "of SGD infinite or NaN; use a smaller rate or scale the features\n" in result.stderr


def test_a_committee_of_those_that_are_named(run_cli, data, tmp_path):
    X, y = data
    members = "learners=['adagrad', 'repeat-last-label']"
    result = run_cli(
        "run", "data", "--learner", "committee", "--option", members, "--option", "weighting=boa", "--model", "m"
    )
    assert (result.returncode, result.stderr) == (0, "")
    expected = aw.Committee(["adagrad", "repeat-last-label"], "boa")
    expected.learn_many(X, y)
    assert aw.load(tmp_path / "m").mistakes == expected.mistakes
    assert f"by {expected.best_member}, the best of 2 members" in result.stdout
    for option in ("learners=['adagrad', 'wisdom']", "learners=adagrad", "weighting=wisdom"):
        result = run_cli("run", "data", "--learner", "committee", "--option", option)
        assert result.returncode != 0
        assert f"{option.partition('=')[0]} must be " in result.stderr
        assert "Traceback" not in result.stderr


def test_every_name_is_found_without_the_others():
    for name in _learners.learner_names():
        kind = by_command_name(name)
        assert command_name(kind) == name
        assert makes_itself(kind)
    for name in ("Perceptron", "one-vs-rest", "onlinesvm", "ml-pol", "nothing", "_row"):
        kind = by_command_name(name)
        assert kind is None or not makes_itself(kind)
